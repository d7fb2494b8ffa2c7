/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the Standard Workload Format, and what all readers share. Covers: trace_swf.c. */
#include "sim/trace.h"

#include "base/alloc.h"
#include "base/str.h"
#include "sample.h"

#define REST " -1 -1 -1 -1 -1 -1\n"

TEST(a_line_gives_a_job) {
    struct trace trace;
    sample_read(&trace, "; MaxProcs: 64\n7 100 5 60 4 -1 -1 8 120 -1 1 33" REST, 0);
    assert_int_equal(trace.jobs.n, 1);
    assert_int_equal(trace.max_procs, 64);
    const struct trace_job *job = &trace.jobs.items[0];
    assert_int_equal(job->id, 7);
    assert_int_equal(job->submit, 100);
    assert_int_equal(job->run, 60);
    assert_int_equal(job->est, 120);
    assert_int_equal(job->procs, 8);
    assert_int_equal(job->line, 2);
    assert_string_equal(job->user, "33");
    assert_null(job->request);
    assert_int_equal(trace.notes.n, 0);
    trace_done(&trace);
}

TEST(processors_given_stand_in_for_those_not_asked_for) {
    struct trace trace;
    sample_read(&trace, "1 0 5 60 4 -1 -1 -1 120 -1 1 1" REST, 64);
    assert_int_equal(trace.jobs.items[0].procs, 4);
    trace_done(&trace);
}

TEST(a_job_is_killed_at_its_limit_and_fractions_are_cut_off) {
    struct trace trace;
    sample_read(&trace, "1 0.9 5 200.7 4 -1 -1 4 120.5 -1 1 1" REST, 64);
    assert_int_equal(trace.jobs.items[0].submit, 0);
    assert_int_equal(trace.jobs.items[0].run, 120);
    assert_int_equal(trace.jobs.items[0].est, 120);
    trace_done(&trace);
}

TEST(jobs_are_sorted_by_submission_then_by_number) {
    struct trace trace;
    sample_read(&trace,
                "9 50 5 1 1 -1 -1 1 1 -1 1 1" REST "8 50 5 1 1 -1 -1 1 1 -1 1 1" REST
                "10 20 5 1 1 -1 -1 1 1 -1 1 2" REST,
                64);
    assert_int_equal(trace.jobs.items[0].id, 10);
    assert_int_equal(trace.jobs.items[1].id, 8);
    assert_int_equal(trace.jobs.items[2].id, 9);
    assert_ptr_equal(trace.jobs.items[1].user, trace.jobs.items[2].user);
    trace_done(&trace);
}

TEST(what_is_left_out_is_counted_by_kind_with_the_first_line) {
    struct trace trace;
    sample_read(&trace,
                "; a comment\n"
                "1 0 5 60 4 -1 -1 4 120 -1 1 1" REST                   /* good */
                "2 0 5 0 4 -1 -1 4 120 -1 1 1" REST                    /* 3: never ran */
                "3 0 5 60 4 -1 -1 500 120 -1 1 1" REST                 /* 4: too wide */
                "4 0 5 60 4 -1 -1 500 120 -1 1 1" REST                 /* 5 */
                "5 -3 5 60 4 -1 -1 4 120 -1 1 1" REST                  /* 6: negative submission */
                "6 0 5 60 4 -1 -1 4 -1 -1 1 1" REST                    /* 7: no limit */
                "7 0 5 60 0 -1 -1 0 120 -1 1 1" REST                   /* 8: no processors */
                "8 0 5 60\n"                                           /* 9: fields missing */
                "9 0 5 sixty 4 -1 -1 4 120 -1 1 1" REST                /* 10: no number */
                "10 0 5 9e99 4 -1 -1 4 120 -1 1 1" REST                /* 11 */
                "11 0 5 9999999999999999999 4 -1 -1 4 120 -1 1 1" REST /* 12 */
                "; MaxProcs: 100\n",
                0);
    assert_int_equal(trace.jobs.n, 1);
    assert_int_equal(trace.n_read, 11);
    assert_int_equal(trace.n_dropped, 10);
    sample_has_note(&trace, "1 job that never ran, line 3");
    sample_has_note(&trace, "2 jobs that can never fit: more processors than the machine has, "
                            "first in line 4");
    sample_has_note(&trace, "1 job submitted at a negative or unknown time, line 6");
    sample_has_note(&trace, "1 job without a requested time, line 7");
    sample_has_note(&trace, "1 job that asked for no processors, line 8");
    sample_has_note(&trace, "1 line with another number of fields than the format has, line 9");
    sample_has_note(&trace, "3 lines with a field that is no number where one must be, first in "
                            "line 10: field 4 is \"sixty\"");
    trace_done(&trace);
}

TEST(a_number_of_a_job_may_have_all_64_bits) {
    struct trace trace;
    sample_read(&trace,
                "18446744073709551615 0 5 60 4 -1 -1 4 120 -1 1 1" REST
                "-5 0 5 60 4 -1 -1 4 120 -1 1 1" REST,
                8);
    assert_int_equal(trace.jobs.n, 1);
    assert_true(trace.jobs.items[0].id == UINT64_MAX);
    sample_has_note(&trace, "1 line with a field that is no number where one must be, line 2: the "
                            "job's number is \"-5\"");
    trace_done(&trace);
}

TEST(processors_asked_for_by_the_caller_win_over_the_header) {
    struct trace trace;
    sample_read(&trace,
                "; MaxProcs: 100\n1 0 5 60 4 -1 -1 4 120 -1 1 1" REST
                "2 0 5 60 4 -1 -1 80 120 -1 1 1" REST,
                50);
    assert_int_equal(trace.jobs.n, 1);
    assert_int_equal(trace.max_procs, 50);
    trace_done(&trace);
}

TEST(a_file_without_a_job_is_an_error_that_says_why) {
    sample_is_refused("", "sample: there is no job in it");
    sample_is_refused("; MaxProcs: 3\n\n", "sample: there is no job in it");
    sample_is_refused("hello world\n", "none of 1 jobs can be replayed: 1 line with another");
    sample_is_refused("1 0 5 0 4 -1 -1 4 120 -1 1 1" REST, "1 job that never ran, line 1");
}

TEST(a_header_without_sense_is_passed_over) {
    struct trace trace;
    sample_read(&trace,
                "; MaxProcs:\n; MaxProcs: many\n; MaxProcs: 99999999999999999999\n"
                "1 0 5 60 4 -1 -1 4 120 -1 1 1" REST,
                0);
    assert_int_equal(trace.max_procs, 0);
    trace_done(&trace);
}

TEST(what_is_written_reads_the_same) {
    struct trace trace, again;
    cleanup_str struct str text = STR_INIT;
    sample_read(&trace,
                "; MaxProcs: 100\n5 9 5 60 4 -1 -1 4 120 -1 1 x" REST
                "2 0 5 60 4 -1 -1 80 120 -1 1 y" REST,
                0);
    trace_write_swf(&trace, &text);
    sample_read(&again, text.data, 0);
    assert_int_equal(again.max_procs, 100);
    assert_int_equal(again.jobs.n, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct trace_job *a = &trace.jobs.items[i], *b = &again.jobs.items[i];
        assert_true(a->id == b->id && a->submit == b->submit && a->run == b->run);
        assert_true(a->est == b->est && a->procs == b->procs);
    }
    trace_done(&trace);
    trace_done(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_gives_a_job),
        cmocka_unit_test(processors_given_stand_in_for_those_not_asked_for),
        cmocka_unit_test(a_job_is_killed_at_its_limit_and_fractions_are_cut_off),
        cmocka_unit_test(jobs_are_sorted_by_submission_then_by_number),
        cmocka_unit_test(what_is_left_out_is_counted_by_kind_with_the_first_line),
        cmocka_unit_test(a_number_of_a_job_may_have_all_64_bits),
        cmocka_unit_test(processors_asked_for_by_the_caller_win_over_the_header),
        cmocka_unit_test(a_file_without_a_job_is_an_error_that_says_why),
        cmocka_unit_test(a_header_without_sense_is_passed_over),
        cmocka_unit_test(what_is_written_reads_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
