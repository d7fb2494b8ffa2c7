/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fuzz targets share. A target defines fuzz_text(): it gets the input as NUL-terminated text
 * in memory of exactly that size, so that a read beyond its end is seen, and checks properties
 * with require(), which stays on in every build.
 */
#ifndef SLUICE_FUZZ_H
#define SLUICE_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define require(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_TEXT(name)                                                                            \
    static void fuzz_text(const char *name);                                                       \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {                                 \
        char *copy = malloc(size + 1);                                                             \
        if (!copy)                                                                                 \
            abort();                                                                               \
        if (size)                                                                                  \
            memcpy(copy, data, size);                                                              \
        copy[size] = '\0';                                                                         \
        fuzz_text(copy);                                                                           \
        free(copy);                                                                                \
        return 0;                                                                                  \
    }                                                                                              \
    static void fuzz_text(const char *name)

#endif
