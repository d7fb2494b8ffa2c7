/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner beside the reference policies, which share nothing with it: on P processors that are
 * all alike, with one reservation it is EASY, and with plans that are forgotten before every pass
 * it is replanning; start for start. So it is with WFP3 as the order and with those that backfill
 * tried shortest first, by limits or by predictions. Covers: src/sched as a whole.
 *
 * The machine is one node of P CPUs: then what is free is one number, as it is for the policies,
 * and no plan is bound to one processor among equals. (P nodes of one CPU give the same starts; the
 * planner binds what comes free last and loses nothing by it.)
 */
#include "sched/sched.h"

#include <stdlib.h>

#include "archive.h"
#include "base/heap.h"
#include "base/map.h"
#include "sim/policy.h"
#include "text/duration.h"

#define EPOCH 1000000000 /* added to the trace's times: the planner is told real dates */

struct machine {
    const struct trace *trace;
    struct sched *sched;
    struct sim_result result;
    struct heap ends;
    struct heap_node *nodes; /* per job */
    size_t submitted, first_waiting;
    bool forgetful; /* plans do not outlive a pass */
    bool one_cpu_nodes;
    uint32_t order, candidates; /* as in struct sim_policy */
    struct smap users;          /* name -> struct past */
    size_t n_begun;
};

/* Run times of a user's last two jobs that ended, -1 = none. */
struct past {
    int64_t last, before;
};

static void machine_init(struct machine *m, const struct trace *trace, uint32_t reservations) {
    uint32_t n = m->one_cpu_nodes ? trace->max_procs : 1;
    uint32_t cpus = trace->max_procs / n;
    struct sched_settings settings = {.backfill = true,
                                      .cpus_consumable = true,
                                      .reservations = reservations,
                                      .default_limit = 86400,
                                      .short_first = m->candidates != SIM_SAME,
                                      .pack_nodes = true};
    struct sched_node_spec *nodes = xcalloc(n, sizeof(*nodes));
    uint32_t *all = xcalloc(n, sizeof(*all));
    for (uint32_t i = 0; i < n; i++) {
        nodes[i] = (struct sched_node_spec) {.name = "n",
                                             .cpus = cpus,
                                             .sockets = 1,
                                             .cores_per_socket = cpus,
                                             .threads_per_core = 1,
                                             .mem = 1,
                                             .weight = 1};
        all[i] = i;
    }
    struct sched_partition_spec partition = {.name = "all",
                                             .nodes = all,
                                             .n_nodes = n,
                                             .tier = 1,
                                             .max_nodes = UINT32_MAX,
                                             .min_nodes = 1,
                                             .max_time = MINUTES_INFINITE,
                                             .max_cpus_per_node = UINT32_MAX,
                                             .oversubscribe = 1,
                                             .schedulable = true};
    m->trace = trace;
    m->sched = sched_new(&settings);
    m->nodes = xcalloc(trace->jobs.n, sizeof(*m->nodes));
    sim_result_init(&m->result, trace);
    m->result.procs = trace->max_procs;
    sched_configure(m->sched, &settings, NULL, 0, nodes, n, &partition, 1);
    for (uint32_t i = 0; i < n; i++)
        sched_node_usable(m->sched, i, true);
    free(nodes);
    free(all);
}

static void machine_done(struct machine *m) {
    vec_each (&m->trace->jobs, job) {
        free(smap_remove(&m->users, job->user));
    }
    smap_done(&m->users);
    sched_free(m->sched);
    heap_done(&m->ends);
    free(m->nodes);
    sim_result_done(&m->result);
}

static struct past *past_of(struct machine *m, const struct trace_job *job) {
    struct past *past = smap_get(&m->users, job->user);
    if (!past) {
        past = zalloc(struct past);
        *past = (struct past) {-1, -1};
        smap_put(&m->users, job->user, past);
    }
    return past;
}

static int64_t expected(struct machine *m, const struct trace_job *job) {
    const struct past *past = past_of(m, job);
    bool known = m->candidates == SIM_PREDICTED && past->before >= 0;
    return known ? max_of((past->last + past->before) / 2, (int64_t) 1) : 0;
}

static void submit(struct machine *m, size_t at) {
    static const uint32_t partition = 0;
    const struct trace_job *job = &m->trace->jobs.items[at];
    struct sched_job_spec spec = {.job_id = (uint32_t) at + 1,
                                  .n_tasks_of_array = 1,
                                  .max_starts = UINT32_MAX,
                                  .priority = 1,
                                  .submit_time = job->submit + EPOCH,
                                  .limit = job->est,
                                  .expected = expected(m, job),
                                  .partitions = &partition,
                                  .n_partitions = 1,
                                  .min_nodes = m->one_cpu_nodes ? job->procs : 1,
                                  .max_nodes = m->one_cpu_nodes ? job->procs : 1,
                                  .ntasks = job->procs,
                                  .ntasks_per_node = m->one_cpu_nodes ? 1 : 0,
                                  .cpus_per_task = 1,
                                  .mem_per_node = UINT64_MAX,
                                  .mem_per_cpu = UINT64_MAX,
                                  .mem_per_gpu = UINT64_MAX};
    sched_job_add(m->sched, &spec);
}

static void forget_plans(struct machine *m) {
    while (m->first_waiting < m->submitted && m->result.starts[m->first_waiting] != SIM_NEVER)
        m->first_waiting++;
    for (size_t at = m->first_waiting; m->forgetful && at < m->submitted; at++) {
        if (m->result.starts[at] != SIM_NEVER)
            continue;
        sched_job_remove(m->sched, (uint32_t) at + 1);
        submit(m, at);
    }
}

struct ranked {
    double key;
    size_t at;
};

static int by_key(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return x->key < y->key || (x->key == y->key && x->at < y->at) ? -1 : 1;
}

/* WFP3 as priorities. */
static void rank(struct machine *m, int64_t now) {
    vec(struct ranked) waiting = {0};
    for (size_t at = m->first_waiting; at < m->submitted; at++) {
        const struct trace_job *job = &m->trace->jobs.items[at];
        double x = (double) (now - job->submit) / (double) job->est;
        if (m->result.starts[at] == SIM_NEVER)
            vec_push(&waiting, ((struct ranked) {-(x * x * x) * (double) job->procs, at}));
    }
    if (waiting.n > 1)
        qsort(waiting.items, waiting.n, sizeof(struct ranked), by_key);
    for (size_t i = 0; i < waiting.n; i++)
        sched_job_priority(m->sched, (uint32_t) waiting.items[i].at + 1, (uint32_t) (1000000 - i));
    vec_done(&waiting);
}

static void pass(struct machine *m, int64_t now) {
    struct sched_plan plan;
    forget_plans(m);
    if (m->order == SIM_ORDER_WFP3)
        rank(m, now);
    sched_pass(m->sched, now + EPOCH, 0, &plan);
    for (size_t i = 0; i < plan.n_starts; i++) {
        const struct sched_start *start = &plan.starts[i];
        size_t at = start->job_id - 1;
        const struct trace_job *job = &m->trace->jobs.items[at];
        m->result.starts[at] = now;
        m->result.ends[at] = now + job->run;
        sched_job_remove(m->sched, start->job_id);
        sched_run_add(m->sched, start->job_id, 0, false, 0, now + EPOCH, now + EPOCH + job->est,
                      start->allocs, start->n_allocs, NULL, NULL, 0);
        heap_push(&m->ends, &m->nodes[at], now + job->run, m->n_begun++);
    }
    sched_plan_done(&plan);
}

static void run(struct machine *m) {
    struct heap_node *end;
    while ((end = heap_min(&m->ends)) || m->submitted < m->trace->jobs.n) {
        const struct trace_job *next = &m->trace->jobs.items[m->submitted];
        bool more = m->submitted < m->trace->jobs.n;
        int64_t now = !end ? next->submit : more ? min_of(end->key, next->submit) : end->key;
        while ((end = heap_min(&m->ends)) && end->key == now) {
            struct past *past = past_of(m, &m->trace->jobs.items[end - m->nodes]);
            past->before = past->last;
            past->last = m->trace->jobs.items[end - m->nodes].run;
            heap_remove(&m->ends, end);
            sched_run_remove(m->sched, (uint32_t) (end - m->nodes) + 1);
        }
        while (m->submitted < m->trace->jobs.n && m->trace->jobs.items[m->submitted].submit == now)
            submit(m, m->submitted++);
        pass(m, now);
    }
}

/* Names the first job that starts at another time. */
static void is_same(const struct trace *trace, const struct sim_result *result,
                    struct sim_policy policy) {
    struct sim_result reference;
    sim_result_init(&reference, trace);
    sim_replay_policy(trace, &policy, trace->max_procs, NULL, &reference);
    for (size_t at = 0; at < trace->jobs.n; at++)
        if (result->starts[at] != reference.starts[at])
            fail_msg("job %llu starts at %lld instead of %lld",
                     (unsigned long long) trace->jobs.items[at].id, (long long) result->starts[at],
                     (long long) reference.starts[at]);
    sim_result_done(&reference);
}

static void planner_is(const struct trace *trace, struct machine settings, uint32_t reservations,
                       struct sim_policy policy) {
    machine_init(&settings, trace, reservations);
    run(&settings);
    is_same(trace, &settings.result, policy);
    machine_done(&settings);
}

static void generate(struct trace *trace, const char *text) {
    struct error err = ERROR_INIT;
    trace_init(trace);
    if (trace_generate(trace, text, &err) < 0)
        fail_msg("%s", err.text);
}

static void all_are_same(const struct trace *trace) {
    struct machine kept = {0}, forgetful = {.forgetful = true};
    planner_is(trace, kept, 1, (struct sim_policy) {SIM_EASY});
    planner_is(trace, forgetful, 1, (struct sim_policy) {SIM_EASY});
    planner_is(trace, forgetful, 4, (struct sim_policy) {SIM_REPLAN, .reserve = 4});
    planner_is(trace, forgetful, UINT32_MAX, (struct sim_policy) {SIM_REPLAN});
    planner_is(trace, (struct machine) {.one_cpu_nodes = true}, 1, (struct sim_policy) {SIM_EASY});
}

static void backfills_alike(const struct trace *trace, uint32_t order) {
    static const uint32_t candidates[] = {SIM_SAME, SIM_SHORTEST, SIM_PREDICTED};
    for (size_t i = 0; i < countof(candidates); i++) {
        struct machine settings = {.order = order, .candidates = candidates[i]};
        planner_is(trace, settings, 1,
                   (struct sim_policy) {SIM_EASY, .order = order, .candidates = candidates[i]});
    }
}

TEST(on_made_up_workloads_the_planner_is_easy_and_replanning) {
    static const char *const workloads[] = {
        "generate:jobs=300,procs=96,load=0.8,seed=7,users=30",
        "generate:jobs=200,procs=16,load=0.8,seed=1,users=5",
        "generate:jobs=300,procs=200,load=0.7,seed=2,users=50",
    };
    for (size_t i = 0; i < countof(workloads); i++) {
        struct trace trace;
        generate(&trace, workloads[i]);
        all_are_same(&trace);
        backfills_alike(&trace, SIM_ORDER_FCFS);
        backfills_alike(&trace, SIM_ORDER_WFP3);
        trace_done(&trace);
    }
}

TEST(on_kth_sp2_the_planner_is_easy) {
    struct trace trace;
    if (!archive_read(&trace, "KTH-SP2.swf.gz"))
        return;
    planner_is(&trace, (struct machine) {0}, 1, (struct sim_policy) {SIM_EASY});
    trace_done(&trace);
}

TEST(on_kth_sp2_the_planner_backfills_by_predictions_as_easy_does) {
    struct trace trace;
    if (!archive_read(&trace, "KTH-SP2.swf.gz"))
        return;
    planner_is(&trace, (struct machine) {.candidates = SIM_PREDICTED}, 1,
               (struct sim_policy) {SIM_EASY, .candidates = SIM_PREDICTED});
    trace_done(&trace);
}

TEST(on_sdsc_sp2_the_planner_is_easy) {
    struct trace trace;
    if (!archive_read(&trace, "SDSC-SP2.swf.gz"))
        return;
    planner_is(&trace, (struct machine) {0}, 1, (struct sim_policy) {SIM_EASY});
    trace_done(&trace);
}

/* Conservative backfilling compresses once after each end. The planner looks again also when a plan
 * comes due or a job arrives after something moved, so its plans are earlier at times, and its
 * starts others: on the whole no later. Nobody is promised less. */
TEST(with_plans_for_all_the_mean_wait_is_no_longer_than_under_conservative_backfilling) {
    struct trace trace;
    struct machine m = {0};
    struct sim_result reference;
    struct sim_figures ours, theirs;
    generate(&trace, "generate:jobs=300,procs=96,load=0.8,seed=7,users=30");
    machine_init(&m, &trace, UINT32_MAX);
    run(&m);
    sim_result_init(&reference, &trace);
    sim_replay_policy(&trace, &(struct sim_policy) {SIM_CONS}, trace.max_procs, NULL, &reference);
    sim_figures(&trace, &m.result, &ours);
    sim_figures(&trace, &reference, &theirs);
    assert_true(ours.mean_wait <= theirs.mean_wait);
    sim_result_done(&reference);
    machine_done(&m);
    trace_done(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_made_up_workloads_the_planner_is_easy_and_replanning),
        cmocka_unit_test(on_kth_sp2_the_planner_is_easy),
        cmocka_unit_test(on_kth_sp2_the_planner_backfills_by_predictions_as_easy_does),
        cmocka_unit_test(on_sdsc_sp2_the_planner_is_easy),
        cmocka_unit_test(
            with_plans_for_all_the_mean_wait_is_no_longer_than_under_conservative_backfilling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
