/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a trace to a cluster in virtual time, and notes when its jobs start and end. */
#include "sim/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/cluster.h"

/* Times before this are no dates: a trace that counts from 0 is moved up to it. */
#define DATES_BEGIN ((int64_t) 1000000000)
/* With nothing running and nobody more to come: how long waiting jobs are given to start. */
#define IDLE_SECONDS 3600
#define PROGRESS_EVERY 256

struct replay {
    const struct trace *trace;
    const struct sim_watch *watch;
    struct sim_result *result;
    struct sim_notes *notes;
    struct sim_fit fit;
    struct sim_cluster *cluster;
    struct map positions; /* id here -> 1 + position in the trace */
    struct map ids;       /* id in the trace -> id here */
    int64_t offset;       /* added to the trace's times */
    int64_t last_begin;   /* of the jobs submitted so far */
    int64_t changed;      /* when a job last started or ended */
    uint64_t n_taken, n_ended, n_running;
};

static size_t position_of(const struct replay *r, uint32_t job_id) {
    uintptr_t at = (uintptr_t) map_get(&r->positions, job_id);
    return at == 0 ? SIZE_MAX : at - 1;
}

static void on_started(void *context, uint32_t job_id, int64_t when, const struct job *job) {
    struct replay *r = context;
    size_t at = position_of(r, job_id);
    (void) job;
    r->changed = when;
    r->n_running++;
    /* A requeued job counts with its first start: that ended its wait. */
    if (at != SIZE_MAX && r->result->starts[at] == SIM_NEVER)
        r->result->starts[at] = when - r->offset;
}

static void on_ended(void *context, uint32_t job_id, int64_t when, const struct job *job) {
    struct replay *r = context;
    size_t at = position_of(r, job_id);
    (void) job;
    r->changed = when;
    r->n_ended++;
    r->n_running -= r->n_running > 0;
    if (at == SIZE_MAX)
        return;
    if (r->result->starts[at] != SIM_NEVER)
        r->result->ends[at] = when - r->offset;
    if (r->watch != NULL && r->watch->progress != NULL && r->n_ended % PROGRESS_EVERY == 0)
        r->watch->progress(r->watch->context, r->n_ended, r->trace->jobs.n);
}

static void submit(struct replay *r, size_t at) {
    const struct trace_job *job = &r->trace->jobs.items[at];
    struct error err = ERROR_INIT;
    struct job_request *request = sim_fit_request(&r->fit, job, &r->ids, r->offset);
    uint32_t id = sim_cluster_submit(r->cluster, request, job->user, job->run, &err);
    if (id != 0) {
        map_put(&r->positions, id, (void *) (uintptr_t) (at + 1));
        map_put(&r->ids, job->id, (void *) (uintptr_t) id);
        r->last_begin = max_of(r->last_begin, request->begin_time);
        r->n_taken++;
    } else {
        r->result->n_refused++;
        sim_notes_add(r->notes, SIM_NOTE_REFUSED, job, "%s", err.text);
    }
    record_free(&record_job_request, request);
}

static void submit_all(struct replay *r) {
    size_t n = r->trace->jobs.n;
    for (size_t at = 0; at < n;) {
        int64_t when = r->trace->jobs.items[at].submit;
        sim_cluster_advance(r->cluster, when + r->offset);
        for (; at < n && r->trace->jobs.items[at].submit == when; at++)
            submit(r, at);
    }
}

static void run_out(struct replay *r) {
    while (r->n_ended < r->n_taken) {
        int64_t next = sim_cluster_next(r->cluster);
        int64_t hope = max_of(max_of(r->changed, r->last_begin), sim_cluster_now(r->cluster));
        if (next == INT64_MAX)
            return;
        if (r->n_running == 0 && next > max_of(r->changed, r->last_begin) + IDLE_SECONDS &&
            next > hope)
            return;
        sim_cluster_advance(r->cluster, next);
    }
}

/* ---- who never started ---- */

static void note_waiting(void *context, uint32_t job_id, struct bytes body) {
    struct replay *r = context;
    struct arena memory;
    struct acct_job found;
    size_t at = position_of(r, job_id);
    arena_init(&memory, 0);
    if (at != SIZE_MAX && r->result->starts[at] == SIM_NEVER &&
        wire_decode(&record_acct_job, body, &memory, &found, NULL) == 0 && found.job != NULL) {
        const char *reason = names_text(&names_job_reason, found.job->reason);
        sim_notes_add(r->notes, SIM_NOTE_WAITS, &r->trace->jobs.items[at],
                      "waits for ever in partition %s: %s", found.job->partition,
                      reason != NULL ? reason : "no reason known");
    }
    arena_done(&memory);
}

static void note_all_waiting(struct replay *r) {
    const struct core_user root = {.name = "root", .group = "root"};
    struct acct_query query;
    record_init(&record_acct_query, &query);
    query.all_users = query.no_steps = true;
    if (r->n_ended < r->n_taken)
        core_acct_live(sim_cluster_core(r->cluster), sim_cluster_now(r->cluster), &root, &query,
                       note_waiting, r);
}

int sim_replay_conf(const struct trace *trace, const struct conf *conf,
                    const struct sim_watch *watch, struct sim_result *result,
                    struct sim_notes *notes, struct error *err) {
    struct replay r = {.trace = trace, .watch = watch, .result = result, .notes = notes};
    const struct sim_hooks hooks = {&r, on_started, on_ended};
    int64_t first = trace->jobs.n > 0 ? trace->jobs.items[0].submit : 0;
    r.offset = first < DATES_BEGIN ? DATES_BEGIN : 0;
    int code = sim_cluster_new(conf, first + r.offset, 1, &hooks, &r.cluster, err);
    if (code < 0)
        return code;
    sim_fit_init(&r.fit, conf, notes);
    submit_all(&r);
    run_out(&r);
    note_all_waiting(&r);
    struct core_counters counters;
    core_counters(sim_cluster_core(r.cluster), &counters);
    result->n_passes = counters.passes;
    result->procs = sim_conf_cpus(conf);
    if (watch != NULL && watch->progress != NULL)
        watch->progress(watch->context, trace->jobs.n, trace->jobs.n);
    sim_cluster_free(r.cluster);
    sim_fit_done(&r.fit);
    map_done(&r.positions);
    map_done(&r.ids);
    return 0;
}
