/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm-style event files and the options in them. Covers: trace_request.c. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"
#include "sample.h"
#include "text/duration.h"

#define EVENT "-dt 10.50 -e submit_batch_job | -sim-walltime 2009.00 "

TEST(an_event_gives_a_job_with_its_request) {
    struct trace trace;
    sample_read(&trace,
                EVENT "--uid=user003 -J jobid_00003 -N    2 -n     18 -t 3-00:00:00 "
                      "-q general-compute -p debug --mem=250G --gres=gpu:2 "
                      "--constraint=CPU-Gold-6230 --exclusive pseudo.job\n",
                0);
    const struct trace_job *job = &trace.jobs.items[0];
    assert_int_equal(job->id, 1);
    assert_int_equal(job->submit, 10);
    assert_int_equal(job->run, 2009);
    assert_int_equal(job->est, 3 * 86400);
    assert_int_equal(job->procs, 18);
    assert_string_equal(job->user, "user003");
    const struct job_request *request = job->request;
    assert_non_null(request);
    assert_string_equal(request->name, "jobid_00003");
    assert_string_equal(request->qos, "general-compute");
    assert_string_equal(request->partition, "debug");
    assert_string_equal(request->features, "CPU-Gold-6230");
    assert_string_equal(request->tres_per_node, "gres/gpu:2");
    assert_int_equal(request->min_nodes, 2);
    assert_int_equal(request->ntasks, 18);
    assert_int_equal(request->mem_per_node, 250 * 1024);
    assert_int_equal(request->time_limit, 3 * 1440);
    assert_int_equal(request->exclusive, EXCLUSIVE_NODE);
    assert_int_equal(request->run_as_uid, UNSET32);
    trace_done(&trace);
}

TEST(processors_are_tasks_times_cpus_and_at_least_one_a_node) {
    static const struct {
        const char *options;
        uint32_t procs;
    } rows[] = {
        {"-t 5 x", 1},
        {"-N 3 -t 5 x", 3},
        {"-n 4 -c 2 -t 5 x", 8},
        {"-N 2 --ntasks-per-node=3 -t 5 x", 6},
        {"-N 2 --mincpus=16 -t 5 x", 32},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct trace trace;
        cleanup_free char *line = xasprintf(EVENT "%s\n", rows[i].options);
        sample_read(&trace, line, 0);
        assert_int_equal(trace.jobs.items[0].procs, rows[i].procs);
        trace_done(&trace);
    }
}

TEST(a_request_without_limit_counts_as_a_year_and_is_noted) {
    struct trace trace;
    sample_read(&trace, EVENT "-n 1 x\n" EVENT "-n 1 -t INFINITE x\n", 0);
    assert_int_equal(trace.jobs.items[0].est, TRACE_NO_LIMIT);
    assert_int_equal(trace.jobs.items[1].est, TRACE_NO_LIMIT);
    assert_int_equal(trace.jobs.items[1].request->time_limit, MINUTES_INFINITE);
    assert_int_equal(trace.n_dropped, 0);
    sample_has_note(&trace, "2 jobs without a time limit: taken as 365 days, first in line 1");
    trace_done(&trace);
}

TEST(events_that_are_not_understood_are_counted_with_the_complaint) {
    struct trace trace;
    sample_read(&trace,
                EVENT "-n 1 -t 5 x\n"
                      "-dt 11 -e cancel_job | -jobid 3\n" EVENT "--frobnicate x\n" EVENT
                      "-n many x\n" EVENT "-F /etc/hostname x\n"
                      "-dt 12 -e submit_batch_job | -n 1 x\n"
                      "-dt soon -e submit_batch_job | -sim-walltime 1 -n 1 x\n"
                      "-dt 12 submit_batch_job -n 1 x\n"
                      "-dt 12 -e submit_batch_job | -sim-walltime 1 -n \"1 x\n",
                0);
    assert_int_equal(trace.jobs.n, 1);
    assert_int_equal(trace.n_read, 9);
    assert_int_equal(trace.n_dropped, 8);
    sample_has_note(&trace, "1 event other than submit_batch_job, line 2: cancel_job");
    sample_has_note(&trace, "3 jobs whose options are not understood, first in line 3: sbatch: "
                            "unrecognized option '--frobnicate'");
    sample_has_note(&trace, "1 line with a field that is no number where one must be, line 7");
    trace_done(&trace);
}

/* The real week, when it is beside the checkout or where SLUICE_TRACES says. */
TEST(every_request_of_the_recorded_week_is_understood) {
    const char *folder = getenv("SLUICE_TRACES");
    cleanup_free char *path = xasprintf("%s/ubhpc/ubhpc-workload_week.events.xz",
                                        folder ? folder : SOURCE_DIR "/../shared/traces");
    struct trace trace;
    struct error err = ERROR_INIT;
    trace_init(&trace);
    if (trace_read(&trace, path, TRACE_GUESS, 0, &err) < 0) {
        print_message("# skipped: needs the traces in SLUICE_TRACES: %s\n", err.text);
        trace_done(&trace);
        return;
    }
    assert_int_equal(trace.n_read, 19579);
    assert_int_equal(trace.n_dropped, 27);
    assert_int_equal(trace.notes.n, 1);
    sample_has_note(&trace, "27 jobs that never ran, first in line 249");
    trace_done(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_gives_a_job_with_its_request),
        cmocka_unit_test(processors_are_tasks_times_cpus_and_at_least_one_a_node),
        cmocka_unit_test(a_request_without_limit_counts_as_a_year_and_is_noted),
        cmocka_unit_test(events_that_are_not_understood_are_counted_with_the_complaint),
        cmocka_unit_test(every_request_of_the_recorded_week_is_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
