/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every unit test includes: cmocka with the headers that it needs first, and the shape of a
 * test file:
 *
 *     TEST(pop_yields_the_smallest_key) { … assert_int_equal(…); }
 *     int main(void) {
 *         const struct CMUnitTest tests[] = {cmocka_unit_test(pop_yields_the_smallest_key), …};
 *         return cmocka_run_group_tests(tests, NULL, NULL);
 *     }
 */
#ifndef SLUICE_UNIT_H
#define SLUICE_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST(name) static void name(void **state)

/* A constant for a record's member that owns its text where it is not a test's. */
static inline char *text_of(const char *text) {
    return (char *) (uintptr_t) text;
}

/* For what this machine or user does not have. (cmocka's skip() prints "not ok", which fails.) */
#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_message("# skipped: needs " #condition "\n");                                    \
            return;                                                                                \
        }                                                                                          \
    } while (0)

#endif
