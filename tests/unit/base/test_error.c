/* SPDX-License-Identifier: Apache-2.0 */
/* struct error: codes, sentences, what does not fit. */
#include "base/error.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "unit.h"

TEST(set_fills_the_sentence_and_returns_the_negative_code) {
    struct error err = ERROR_INIT;
    assert_int_equal(error_set(&err, ERR_NOT_FOUND, "no node %s", "c7"), -ERR_NOT_FOUND);
    assert_int_equal(err.code, -ERR_NOT_FOUND);
    assert_string_equal(err.text, "no node c7");
}

TEST(without_an_error_only_the_code_is_returned) {
    assert_int_equal(error_set(NULL, ERR_LIMIT, "x"), -ERR_LIMIT);
    assert_int_equal(error_errno(NULL, ENOENT, "x"), -ERR_SYSTEM);
    assert_true(error_prefix(NULL, "x") < 0);
}

TEST(errno_text_is_appended) {
    struct error err = ERROR_INIT;
    assert_int_equal(error_errno(&err, ENOENT, "cannot open %s", "slurm.conf"), -ERR_SYSTEM);
    assert_string_equal(err.text, "cannot open slurm.conf: No such file or directory");
}

TEST(prefix_keeps_code_and_sentence) {
    struct error err = ERROR_INIT;
    error_set(&err, ERR_CONFIG, "unknown key Foo");
    assert_int_equal(error_prefix(&err, "%s:%d: ", "slurm.conf", 3), -ERR_CONFIG);
    assert_string_equal(err.text, "slurm.conf:3: unknown key Foo");
}

TEST(the_old_sentence_may_be_part_of_the_new_one) {
    struct error err = ERROR_INIT;
    error_set(&err, ERR_INVALID, "inner");
    error_set(&err, ERR_CONFIG, "outer (%s)", err.text);
    assert_string_equal(err.text, "outer (inner)");
}

TEST(a_sentence_that_does_not_fit_ends_with_dots) {
    char text[3 * ERROR_TEXT_MAX];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    struct error err = ERROR_INIT;
    error_set(&err, ERR_INVALID, "%s", text);
    assert_int_equal(strlen(err.text), ERROR_TEXT_MAX - 1);
    assert_string_equal(err.text + ERROR_TEXT_MAX - 4, "...");
    error_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.text), ERROR_TEXT_MAX - 1);
    error_errno(&err, ENOENT, "%s", text);
    assert_non_null(strstr(err.text, "xx: No such file"));
}

TEST(every_code_has_its_text_with_either_sign) {
    assert_string_equal(error_text(ERR_INVALID_PARTITION), "Invalid partition name specified");
    assert_string_equal(error_text(-ERR_INVALID_JOB_ID), "Invalid job id specified");
    assert_string_equal(error_text(99999), "Unspecified error");
    assert_string_equal(error_text(INT32_MIN), "Unspecified error");
}

TEST(numbers_and_names_are_unique) {
    static const int numbers[] = {
#define X(name, number, text) number,
        ERR_TABLE(X)
#undef X
    };
    for (size_t i = 0; i < countof(numbers); i++) {
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(numbers[i], numbers[j]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_fills_the_sentence_and_returns_the_negative_code),
        cmocka_unit_test(without_an_error_only_the_code_is_returned),
        cmocka_unit_test(errno_text_is_appended),
        cmocka_unit_test(prefix_keeps_code_and_sentence),
        cmocka_unit_test(the_old_sentence_may_be_part_of_the_new_one),
        cmocka_unit_test(a_sentence_that_does_not_fit_ends_with_dots),
        cmocka_unit_test(every_code_has_its_text_with_either_sign),
        cmocka_unit_test(numbers_and_names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
