/* SPDX-License-Identifier: Apache-2.0 */
/* --export: which variables reach the job. */
#include "cli/environ.h"

#include <string.h>

#include "base/alloc.h"
#include "unit.h"

/* Entries of the block, blanks between them. */
static const char *entries(const struct str *block) {
    static struct str out;
    str_reset(&out);
    for (size_t at = 0; at < block->length; at += strlen(block->data + at) + 1)
        str_join(&out, " ", block->data + at);
    return str_cstr(&out);
}

static const char *capture(const char *const *envp, const char *export) {
    cleanup_str struct str block = STR_INIT;
    environ_capture((char *const *) envp, export, &block);
    return entries(&block);
}

static const char *plain[] = {"A=1", "B=2", "SLURM_CONF=/x", "BASH_FUNC_f%%=() { :; }", NULL};

TEST(everything_goes_along_unless_told_otherwise) {
    const char *all = "A=1 B=2 SLURM_CONF=/x BASH_FUNC_f%%=() { :; }";
    assert_string_equal(capture(plain, NULL), all);
    assert_string_equal(capture(plain, "ALL"), all);
    assert_string_equal(capture(plain, "all"), all);
}

TEST(none_and_nil_leave_only_slurms_own) {
    assert_string_equal(capture(plain, "NONE"), "SLURM_CONF=/x");
    assert_string_equal(capture(plain, "NIL"), "SLURM_CONF=/x");
    assert_string_equal(capture(plain, "none"), "SLURM_CONF=/x");
}

TEST(lists_name_variables_and_set_values) {
    assert_string_equal(capture(plain, "A,C=3"), "SLURM_CONF=/x A=1 C=3");
    assert_string_equal(capture(plain, "MISSING"), "SLURM_CONF=/x");
    assert_string_equal(capture(plain, "X=a=b"), "SLURM_CONF=/x X=a=b");
}

TEST(later_words_of_a_list_win) {
    assert_string_equal(capture(plain, "ALL,B=9"), "A=1 SLURM_CONF=/x BASH_FUNC_f%%=() { :; } B=9");
    assert_string_equal(capture(plain, "B=9,ALL"), "A=1 B=2 SLURM_CONF=/x BASH_FUNC_f%%=() { :; }");
}

TEST(quotes_protect_commas_and_stay) {
    assert_string_equal(capture(plain, "F='a,b',A"), "SLURM_CONF=/x F='a,b' A=1");
}

TEST(the_shape_of_an_outer_job_stays_behind) {
    const char *inside[] = {"A=1",           "SLURM_JOB_ID=7",        "SLURM_NTASKS=4",
                            "SLURM_CONF=/x", "SLURM_CPUS_PER_TASK=2", "SLURMD_NODENAME=n1",
                            "PMI_RANK=0",    "SLURM_TIME_FORMAT=%s",  NULL};
    assert_string_equal(capture(inside, NULL), "A=1 SLURM_CONF=/x SLURM_TIME_FORMAT=%s");
    assert_string_equal(capture(inside, "NONE"), "SLURM_CONF=/x SLURM_TIME_FORMAT=%s");
}

TEST(tokens_never_leave) {
    const char *envp[] = {"SLURM_JWT=secret", "A=1", NULL};
    assert_string_equal(capture(envp, NULL), "A=1");
    assert_string_equal(capture(envp, "SLURM_JWT"), "");
}

TEST(only_none_and_lists_without_all_want_the_login_environment) {
    assert_false(environ_wants_login(NULL));
    assert_false(environ_wants_login("ALL"));
    assert_false(environ_wants_login("NIL"));
    assert_false(environ_wants_login("ALL,A=1"));
    assert_true(environ_wants_login("NONE"));
    assert_true(environ_wants_login("A,B=2"));
}

TEST(set_replaces_and_unset_removes) {
    cleanup_str struct str block = STR_INIT;
    environ_set(&block, "A", "1");
    environ_set(&block, "AB", "2");
    environ_set(&block, "A", "3");
    assert_string_equal(entries(&block), "AB=2 A=3");
    assert_string_equal(environ_get(&block, "A"), "3");
    environ_unset(&block, "AB");
    assert_null(environ_get(&block, "AB"));
    assert_string_equal(entries(&block), "A=3");
}

TEST(a_file_of_variables_is_separated_by_nul) {
    cleanup_str struct str block = STR_INIT;
    static const char text[] = "A=1\0junk\0=x\0B=two words";
    environ_from_file((struct bytes) {(const uint8_t *) text, sizeof(text) - 1}, &block);
    assert_string_equal(entries(&block), "A=1 B=two words");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_goes_along_unless_told_otherwise),
        cmocka_unit_test(none_and_nil_leave_only_slurms_own),
        cmocka_unit_test(lists_name_variables_and_set_values),
        cmocka_unit_test(later_words_of_a_list_win),
        cmocka_unit_test(quotes_protect_commas_and_stay),
        cmocka_unit_test(the_shape_of_an_outer_job_stays_behind),
        cmocka_unit_test(tokens_never_leave),
        cmocka_unit_test(only_none_and_lists_without_all_want_the_login_environment),
        cmocka_unit_test(set_replaces_and_unset_removes),
        cmocka_unit_test(a_file_of_variables_is_separated_by_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
