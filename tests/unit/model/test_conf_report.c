/* SPDX-License-Identifier: Apache-2.0 */
/* What a reading found: ordering, printing, the bound. */
#include "unit.h"

#include "base/alloc.h"
#include "model/conf_report.h"

static void assert_printed(const struct conf_report *report, const char *expected) {
    cleanup_str struct str text = STR_INIT;
    conf_report_print(report, &text);
    assert_string_equal(str_cstr(&text), expected);
}

TEST(a_finding_is_printed_with_file_line_and_severity) {
    cleanup_conf_report struct conf_report report = CONF_REPORT_INIT;
    conf_report_add(&report, CONF_SEVERITY_ERROR, "/e/slurm.conf", 7, "bad %s", "thing");
    conf_report_add(&report, CONF_SEVERITY_NOTICE, "/e/slurm.conf", 0, "whole");
    conf_report_add(&report, CONF_SEVERITY_NOTICE, NULL, 0, "nowhere");
    assert_printed(&report, "/e/slurm.conf:7: error: bad thing\n"
                            "/e/slurm.conf: notice: whole\n"
                            "notice: nowhere\n");
    assert_int_equal(report.n_errors, 1);
}

TEST(findings_are_sorted_by_file_then_line_and_stay_in_order_on_a_line) {
    const char *files[] = {"main", "second"};
    cleanup_conf_report struct conf_report report = CONF_REPORT_INIT;
    conf_report_add(&report, CONF_SEVERITY_NOTICE, "other", 1, "o1");
    conf_report_add(&report, CONF_SEVERITY_NOTICE, "second", 5, "s5");
    conf_report_add(&report, CONF_SEVERITY_NOTICE, "main", 0, "m");
    conf_report_add(&report, CONF_SEVERITY_NOTICE, "main", 9, "m9 first");
    conf_report_add(&report, CONF_SEVERITY_NOTICE, "second", 2, "s2");
    conf_report_add(&report, CONF_SEVERITY_NOTICE, "main", 9, "m9 second");
    conf_report_add(&report, CONF_SEVERITY_NOTICE, "main", 3, "m3");
    conf_report_sort(&report, files, 2);
    assert_printed(&report, "main:3: notice: m3\n"
                            "main:9: notice: m9 first\n"
                            "main:9: notice: m9 second\n"
                            "main: notice: m\n"
                            "second:2: notice: s2\n"
                            "second:5: notice: s5\n"
                            "other:1: notice: o1\n");
}

TEST(a_report_is_cut_at_its_bound_and_says_so) {
    cleanup_conf_report struct conf_report report = CONF_REPORT_INIT;
    for (unsigned i = 0; i < CONF_REPORT_MAX + 5; i++)
        conf_report_add(&report, CONF_SEVERITY_ERROR, "f", i + 1, "x");
    assert_int_equal(report.n, CONF_REPORT_MAX);
    assert_int_equal(report.n_errors, CONF_REPORT_MAX + 5);
    assert_true(report.cut);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_is_printed_with_file_line_and_severity),
        cmocka_unit_test(findings_are_sorted_by_file_then_line_and_stay_in_order_on_a_line),
        cmocka_unit_test(a_report_is_cut_at_its_bound_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
