/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison with the files of tests/golden. With GOLDEN_UPDATE set in the environment the file is
 * written instead, to be read by whoever commits it. */
#ifndef SLUICE_UNIT_GOLDEN_H
#define SLUICE_UNIT_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "unit.h"

static inline void golden_read(const char *path, struct str *out) {
    FILE *file = fopen(path, "r");
    char piece[4096];
    size_t n;
    if (!file)
        fail_msg("%s is missing", path);
    while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
        str_append_bytes(out, piece, n);
    fclose(file);
}

static inline void golden_check(const char *name, const struct str *actual) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIR, name);
    if (getenv("GOLDEN_UPDATE")) {
        FILE *file = fopen(path, "w");
        if (!file)
            fail_msg("cannot write %s", path);
        fwrite(str_cstr(actual), 1, actual->length, file);
        fclose(file);
        return;
    }
    struct str expected cleanup_str = STR_INIT;
    golden_read(path, &expected);
    if (!str_equal(str_cstr(&expected), str_cstr(actual)))
        fail_msg("%s differs; now:\n%s", name, str_cstr(actual));
}

/* The page of doc/man with its escapes undone, to look for names in. */
static inline void manual_read(const char *page, struct str *out) {
    char path[4096];
    struct str text cleanup_str = STR_INIT;
    snprintf(path, sizeof(path), "%s/../../doc/man/%s", GOLDEN_DIR, page);
    golden_read(path, &text);
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] != '\\')
            str_append_char(out, text.data[i]);
    }
}

#endif
