/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs from what sacct -P prints. */
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/str.h"
#include "sample.h"

#define HEADER "JobIDRaw|User|Submit|Start|End|ElapsedRaw|Timelimit|ReqTRES|Partition|QOS\n"
#define TIMES "2026-03-01T10:00:00|2026-03-01T10:05:00|2026-03-01T10:15:00|600|01:00:00|"

static int utc(void **state) {
    setenv("TZ", "UTC", 1);
    tzset();
    return 0;
}

TEST(a_row_gives_a_job_with_its_request) {
    struct trace trace;
    sample_read(&trace,
                HEADER "17|ada|" TIMES
                       "billing=8,cpu=8,gres/gpu=4,gres/gpu:a100=4,mem=64G,node=2|long|normal\n",
                0);
    const struct trace_job *job = &trace.jobs.items[0];
    assert_int_equal(job->id, 17);
    assert_int_equal(job->submit, 1772359200);
    assert_int_equal(job->run, 600);
    assert_int_equal(job->est, 3600);
    assert_int_equal(job->procs, 8);
    assert_string_equal(job->user, "ada");
    assert_int_equal(job->request->min_nodes, 2);
    assert_int_equal(job->request->ntasks, 8);
    assert_int_equal(job->request->mem_per_node, 32 * 1024);
    assert_string_equal(job->request->tres_per_job, "gres/gpu:a100:4");
    assert_string_equal(job->request->partition, "long");
    assert_string_equal(job->request->qos, "normal");
    trace_done(&trace);
}

TEST(other_columns_say_the_same) {
    struct trace trace;
    sample_read(&trace,
                "Submit|Elapsed|TimelimitRaw|AllocCPUS|NNodes|ReqMem|JobID|User\n"
                "1000|1-00:00:10|2880|12|3|6000M|5|eve\n"
                "1000|1-00:00:10|2880|12|3|1.50G|6|eve\n",
                0);
    const struct trace_job *job = &trace.jobs.items[0];
    assert_int_equal(job->id, 5);
    assert_int_equal(job->submit, 1000);
    assert_int_equal(job->run, 86410);
    assert_int_equal(job->est, 2 * 86400);
    assert_int_equal(job->procs, 12);
    assert_int_equal(job->request->mem_per_node, 2000);
    assert_int_equal(trace.jobs.items[1].request->mem_per_node, 512);
    trace_done(&trace);
}

TEST(steps_are_passed_over_and_what_has_no_end_is_noted) {
    struct trace trace;
    sample_read(&trace,
                HEADER "1|ada|" TIMES "cpu=1|p|q\n"
                       "1.batch||" TIMES "cpu=1||\n"
                       "1.0||" TIMES "cpu=1||\n"
                       "2|ada|2026-03-01T10:00:00|2026-03-01T10:05:00|Unknown|600|01:00:00|cpu=1|"
                       "p|q\n"
                       "3|ada|2026-03-01T10:00:00|None|2026-03-01T10:05:00|0|01:00:00|cpu=1|p|q\n"
                       "4|ada|2026-03-01T10:00:00|2026-03-01T10:05:00\n"
                       "x|ada|" TIMES "cpu=1|p|q\n"
                       "6|ada|Unknown|Unknown|2026-03-01T10:05:00|5|01:00:00|cpu=1|p|q\n",
                0);
    assert_int_equal(trace.jobs.n, 1);
    assert_int_equal(trace.n_read, 6);
    assert_int_equal(trace.n_dropped, 5);
    sample_has_note(&trace, "1 job whose end is not known, line 5");
    sample_has_note(&trace, "1 job that never ran, line 6");
    sample_has_note(&trace, "1 line with another number of fields than the format has, line 7");
    sample_has_note(&trace, "1 job submitted at a negative or unknown time, line 9");
    trace_done(&trace);
}

TEST(tasks_of_arrays_share_a_number_without_the_raw_column) {
    struct trace trace;
    sample_read(&trace,
                "JobID|User|Submit|ElapsedRaw|Timelimit|ReqCPUS\n"
                "12_1|a|5|60|5|1\n12_2|a|5|60|Partition_Limit|1\n",
                0);
    assert_int_equal(trace.jobs.n, 2);
    assert_int_equal(trace.jobs.items[1].id, 12);
    assert_int_equal(trace.jobs.items[1].est, TRACE_NO_LIMIT);
    sample_has_note(&trace, "2 tasks of arrays known by the array's number (add the column "
                            "JobIDRaw), first in line 2");
    trace_done(&trace);
}

TEST(a_missing_column_is_named_with_a_command_that_prints_it) {
    sample_is_refused("JobID|User|Submit|Timelimit|ReqCPUS\n1|a|5|5|1\n",
                      "sample:1: the line of column names has no column ElapsedRaw; this gives all "
                      "that is wanted: sacct ");
    sample_is_refused("State|User|Submit|Elapsed|Timelimit|ReqCPUS\n", "has no column JobID;");
}

TEST(gres_other_than_gpus_are_divided_over_the_nodes) {
    struct trace trace;
    sample_read(&trace, HEADER "17|ada|" TIMES "cpu=8,gres/shard=6,node=2|long|normal\n", 0);
    assert_string_equal(trace.jobs.items[0].request->tres_per_node, "gres/shard:3");
    trace_done(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_gives_a_job_with_its_request),
        cmocka_unit_test(other_columns_say_the_same),
        cmocka_unit_test(steps_are_passed_over_and_what_has_no_end_is_noted),
        cmocka_unit_test(tasks_of_arrays_share_a_number_without_the_raw_column),
        cmocka_unit_test(a_missing_column_is_named_with_a_command_that_prints_it),
        cmocka_unit_test(gres_other_than_gpus_are_divided_over_the_nodes),
    };
    return cmocka_run_group_tests(tests, utc, NULL);
}
