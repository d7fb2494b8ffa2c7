/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces through the real core, planner and agents. Covers: replay.c, fit.c, history.c, compare.c,
 * conf_edit.c.
 */
#include "sim/replay.h"

#include "archive.h"
#include "sample.h"
#include "sim/compare.h"
#include "sim/conf_edit.h"
#include "sim/history.h"
#include "sim/policy.h"
#include "sim_conf.h"

/* One node, so that what is free is one number; one reservation, without the guard of long waits.
 */
#define PLAIN(procs)                                                                               \
    "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nMaxJobCount=1000000\n"              \
    "SchedulerParameters=sluice_guard_time=0\n"                                                    \
    "NodeName=pool CPUs=" procs " Sockets=1 CoresPerSocket=" procs " RealMemory=1000\n"            \
    "PartitionName=all Nodes=pool Default=YES MaxTime=INFINITE\n"

struct run {
    struct conf *conf;
    struct sim_result result;
    struct sim_notes notes;
};

static void run(struct run *r, const struct trace *trace, const char *conf) {
    struct error err = ERROR_INIT;
    *r = (struct run) {.conf = sim_conf(conf)};
    sim_result_init(&r->result, trace);
    if (sim_replay_conf(trace, r->conf, NULL, &r->result, &r->notes, &err) < 0)
        fail_msg("%s", err.text);
}

static void run_done(struct run *r) {
    sim_notes_done(&r->notes);
    sim_result_done(&r->result);
    conf_free(r->conf);
}

/* Limits of requests are minutes. */
static void round_limits(struct trace *trace) {
    vec_each (&trace->jobs, job) {
        job->est = (job->est + 59) / 60 * 60;
    }
}

static void is_easy(struct trace *trace, const char *conf) {
    struct run r;
    struct sim_result reference;
    round_limits(trace);
    run(&r, trace, conf);
    sim_result_init(&reference, trace);
    sim_replay_policy(trace, &(struct sim_policy) {SIM_EASY}, trace->max_procs, NULL, &reference);
    for (size_t at = 0; at < trace->jobs.n; at++)
        if (r.result.starts[at] != reference.starts[at])
            fail_msg("job %llu starts at %lld instead of %lld",
                     (unsigned long long) trace->jobs.items[at].id, (long long) r.result.starts[at],
                     (long long) reference.starts[at]);
    assert_int_equal(r.notes.items.n, 0);
    assert_int_equal(r.result.procs, trace->max_procs);
    sim_result_done(&reference);
    run_done(&r);
}

TEST(a_made_up_workload_starts_as_under_easy) {
    struct trace trace;
    struct error err = ERROR_INIT;
    trace_init(&trace);
    assert_int_equal(
        trace_generate(&trace, "generate:jobs=1000,procs=96,load=0.9,seed=7,users=30", &err), 0);
    is_easy(&trace, PLAIN("96"));
    trace_done(&trace);
}

TEST(kth_sp2_starts_as_under_easy) {
    struct trace trace;
    if (!archive_read(&trace, "KTH-SP2.swf.gz"))
        return;
    is_easy(&trace, PLAIN("100"));
    trace_done(&trace);
}

TEST(sdsc_sp2_starts_as_under_easy) {
    struct trace trace;
    if (!archive_read(&trace, "SDSC-SP2.swf.gz"))
        return;
    is_easy(&trace, PLAIN("128"));
    trace_done(&trace);
}

/* ---- requests from elsewhere ---- */

#define SMALL                                                                                      \
    "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\n"            \
    "NodeName=n[1-2] CPUs=4 RealMemory=1000 Feature=fast Gres=gpu:nvidia_a100:2\n"                 \
    "PartitionName=main Nodes=n[1-2] Default=YES MaxTime=60 AllowQos=good,best DefMemPerCPU=100\n" \
    "PartitionName=small Nodes=n1 MaxTime=10\n"
#define EVENT(seconds, run, options)                                                               \
    "-dt " seconds " -e submit_batch_job | -sim-walltime " run " --uid=ann " options " x.job\n"

static void has_note(struct run *r, const char *line) {
    struct str text cleanup_str = STR_INIT;
    sim_notes_print(&r->notes, &text);
    if (!strstr(str_cstr(&text), line))
        fail_msg("no \"%s\" in:\n%s", line, str_cstr(&text));
}

TEST(names_that_are_not_here_are_mapped_and_counted) {
    struct trace trace;
    struct run r;
    sample_read(&trace,
                EVENT("1", "10", "-n 1 -t 5 -p huge -q odd")
                    EVENT("2", "10", "-n 1 -t 5 -q good -C slow")
                        EVENT("3", "10", "-n 1 -t 5 -q best --gres=tpu:1,gpu:v100:1 -w n7")
                            EVENT("4", "10", "-n 1 -t 5 -q best -d afterok:99"),
                0);
    run(&r, &trace, SMALL);
    has_note(&r, "changed: 1 job (1 of ann): there is no partition huge: main is taken\n");
    has_note(&r, "partition main does not take QOS odd: good is taken\n");
    has_note(&r, "no node has the feature slow: --constraint=slow is left out\n");
    has_note(&r, "no node has tpu: ");
    has_note(&r, "no node has gpu:v100: any gpu is taken\n");
    has_note(&r, "--nodelist=n7 names nodes that are not here: left out\n");
    has_note(&r, "a dependency on a job that is not in the trace before it is left out\n");
    for (size_t i = 0; i < trace.jobs.n; i++)
        assert_int_equal(r.result.starts[i], trace.jobs.items[i].submit);
    run_done(&r);
    trace_done(&trace);
}

TEST(a_dependency_within_the_trace_is_kept) {
    struct trace trace;
    struct run r;
    sample_read(&trace,
                EVENT("1", "50", "-n 1 -t 5 -q best")
                    EVENT("2", "10", "-n 1 -t 5 -q best -d afterok:1"),
                0);
    run(&r, &trace, SMALL);
    assert_int_equal(r.result.starts[1], 51);
    run_done(&r);
    trace_done(&trace);
}

TEST(a_job_that_can_never_run_is_refused_with_its_reason) {
    struct trace trace;
    struct run r;
    sample_read(
        &trace,
        EVENT("1", "10", "-n 9 -t 5 -q best") EVENT("2", "10", "-n 1 -t 5 -q best --mem=900G"), 0);
    run(&r, &trace, SMALL);
    assert_int_equal(r.result.n_refused, 2);
    assert_int_equal(r.notes.n_refused, 2);
    assert_true(r.result.starts[0] == SIM_NEVER);
    has_note(&r, "refused: 1 job (1 of ann): ");
    run_done(&r);
    trace_done(&trace);
}

TEST(a_job_above_the_limit_of_its_partition_waits_for_ever_and_the_replay_ends) {
    struct trace trace;
    struct run r;
    sample_read(&trace,
                EVENT("1", "10", "-n 1 -t 30 -p small") EVENT("2", "10", "-n 1 -t 5 -p small"), 0);
    run(&r, &trace, SMALL);
    assert_true(r.result.starts[0] == SIM_NEVER);
    assert_int_equal(r.result.starts[1], 2);
    assert_int_equal(r.notes.n_waiting, 1);
    has_note(&r,
             "never: 1 job (1 of ann): waits for ever in partition small: PartitionTimeLimit\n");
    run_done(&r);
    trace_done(&trace);
}

TEST(a_job_is_ended_at_its_limit) {
    struct trace trace;
    struct run r;
    sample_read(&trace, EVENT("1", "4000", "-n 1 -t 5 -q best"), 0);
    run(&r, &trace, SMALL);
    assert_int_equal(r.result.ends[0], 1 + 300);
    run_done(&r);
    trace_done(&trace);
}

/* ---- nodes more or less ---- */

static void edit(struct conf *conf, const char *change, struct arena *memory,
                 const char *complaint) {
    struct error err = ERROR_INIT;
    int code = sim_conf_edit_nodes(conf, change, memory, &err);
    assert_true((code < 0) == (complaint != NULL));
    if (complaint && !strstr(err.text, complaint))
        fail_msg("\"%s\" has no \"%s\"", err.text, complaint);
}

TEST(nodes_can_be_added_and_taken_away) {
    struct conf *conf = sim_conf(SMALL);
    struct arena memory;
    arena_init(&memory, 0);
    assert_int_equal(sim_conf_cpus(conf), 8);
    edit(conf, "+3*n2", &memory, NULL);
    assert_int_equal(sim_conf_cpus(conf), 20);
    assert_string_equal(conf->nodes[4].name, "n2-new5");
    assert_ptr_equal(conf_node_find(conf, "n2-new5"), &conf->nodes[4]);
    assert_ptr_equal(conf_node_find(conf, "n1"), &conf->nodes[0]);
    assert_int_equal(bits_count(&conf_partition_find(conf, "main")->nodes), 5);
    assert_int_equal(bits_count(&conf_partition_find(conf, "small")->nodes), 1);
    edit(conf, "-n[1-2]", &memory, NULL);
    assert_int_equal(sim_conf_cpus(conf), 12);
    edit(conf, "-n9", &memory, "there is no node n9");
    edit(conf, "+2*n9", &memory, "there is no node n9");
    edit(conf, "4", &memory, "+N*NODE");
    edit(conf, "+0*n1", &memory, "+N*NODE");
    conf_free(conf);
    arena_done(&memory);
}

/* ---- two replays side by side ---- */

TEST(a_comparison_says_who_gains_and_who_loses) {
    struct trace trace;
    struct run before, after;
    struct sim_comparison c;
    struct str text cleanup_str = STR_INIT;
    struct arena memory;
    struct error err = ERROR_INIT;
    arena_init(&memory, 0);
    sample_read(&trace,
                EVENT("1", "100", "-N 2 -n 8 -t 5 -q best")
                    EVENT("2", "100", "-N 1 -n 4 -t 5 -q best")
                        EVENT("3", "100", "-n 1 -t 5 -p small"),
                0);
    run(&before, &trace, SMALL);
    after = (struct run) {.conf = sim_conf(SMALL)};
    edit(after.conf, "+1*n2", &memory, NULL);
    edit(after.conf, "-n1", &memory, NULL);
    sim_result_init(&after.result, &trace);
    assert_int_equal(sim_replay_conf(&trace, after.conf, NULL, &after.result, &after.notes, &err),
                     0);
    sim_compare(&trace, &before.result, &after.result, &c);
    assert_int_equal(c.figures_before.n_started, 3);
    assert_int_equal(c.figures_after.n_started, 2); /* small has no nodes any more */
    assert_int_equal(c.partitions.n, 2);
    assert_string_equal(c.partitions.items[1].name, "small");
    assert_int_equal(c.partitions.items[1].n_lost, 1);
    assert_int_equal(c.jobs[0], 2); /* what never starts has changed most */
    sim_comparison_print(&c, "present", "new", &text);
    assert_non_null(strstr(text.data, "1 never start"));
    sim_comparison_done(&c);
    run_done(&before);
    run_done(&after);
    trace_done(&trace);
    arena_done(&memory);
}

/* ---- a cluster's own history ---- */

TEST(history_counts_from_when_a_job_was_eligible_and_leaves_out_what_did_not_end) {
    struct trace trace;
    struct error err = ERROR_INIT;
    struct job jobs[3];
    struct acct_job records[3];
    const void *rows[3];
    trace_init(&trace);
    for (size_t i = 0; i < 3; i++) {
        record_init(&record_job, &jobs[i]);
        record_init(&record_acct_job, &records[i]);
        jobs[i].job_id = 7 - (uint32_t) i;
        jobs[i].user_name = (char *) "ann";
        jobs[i].state = i == 2 ? JOB_RUNNING : JOB_COMPLETED;
        jobs[i].submit_time = 1000;
        jobs[i].eligible_time = i == 0 ? 1500 : 1000;
        jobs[i].start_time = 2000;
        jobs[i].end_time = 2090;
        jobs[i].time_limit = 5;
        jobs[i].num_cpus = 4;
        jobs[i].ntasks = 4;
        jobs[i].array_spec = (char *) "1-3";
        records[i].job = &jobs[i];
        rows[i] = &records[i];
    }
    assert_int_equal(sim_history_read(&trace, rows, 3, &err), 0);
    assert_int_equal(trace.jobs.n, 2);
    assert_int_equal(trace.jobs.items[0].id, 6);
    assert_int_equal(trace.jobs.items[1].submit, 1500);
    assert_int_equal(trace.jobs.items[1].run, 90);
    assert_int_equal(trace.jobs.items[1].est, 300);
    assert_int_equal(trace.jobs.items[1].request->ntasks, 4);
    assert_null(trace.jobs.items[1].request->array_spec);
    sample_has_note(&trace, "left out: 1 that still run (first: job 5)");
    trace_done(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_made_up_workload_starts_as_under_easy),
        cmocka_unit_test(kth_sp2_starts_as_under_easy),
        cmocka_unit_test(sdsc_sp2_starts_as_under_easy),
        cmocka_unit_test(names_that_are_not_here_are_mapped_and_counted),
        cmocka_unit_test(a_dependency_within_the_trace_is_kept),
        cmocka_unit_test(a_job_that_can_never_run_is_refused_with_its_reason),
        cmocka_unit_test(a_job_above_the_limit_of_its_partition_waits_for_ever_and_the_replay_ends),
        cmocka_unit_test(a_job_is_ended_at_its_limit),
        cmocka_unit_test(nodes_can_be_added_and_taken_away),
        cmocka_unit_test(a_comparison_says_who_gains_and_who_loses),
        cmocka_unit_test(
            history_counts_from_when_a_job_was_eligible_and_leaves_out_what_did_not_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
