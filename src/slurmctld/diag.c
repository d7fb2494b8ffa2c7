/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters for sdiag: of requests by type and user, of planning, of the store. Times are measured
 * here, since the core has no clock. Everything counts from the start of the daemon.
 */
#include <stdio.h>
#include <string.h>

#include "slurmctld/ctld.h"

void diag_count_call(struct ctld *ctld, uint16_t type, uint32_t uid, uint64_t usec) {
    if (type < CALL_TYPES) {
        ctld->calls[type].n++;
        ctld->calls[type].usec += usec;
    }
    struct user_calls *user = map_get(&ctld->user_calls, uid);
    if (user == NULL && ctld->user_calls.n < CALL_USERS_MAX) {
        user = zalloc(struct user_calls);
        user->uid = uid;
        map_put(&ctld->user_calls, uid, user);
    }
    if (user != NULL) {
        user->calls.n++;
        user->calls.usec += usec;
    }
}

void diag_count_turn(struct ctld *ctld, uint64_t usec) {
    struct cycle_counts *cycles = &ctld->cycles;
    uint64_t passes, candidates;
    core_work(ctld->core, &passes, &candidates);
    if (passes == cycles->passes_seen)
        return;
    cycles->n++;
    cycles->usec_last = usec;
    cycles->usec_max = max_of(cycles->usec_max, usec);
    cycles->usec_total += usec;
    cycles->depth_last = candidates - cycles->candidates_seen;
    cycles->last_when = ctld_now(ctld);
    cycles->passes_seen = passes;
    cycles->candidates_seen = candidates;
}

/* ---- the answer ---- */

struct rows {
    struct arena *memory;
    struct diag diag;
};

static void row_add(struct rows *rows, const char *key, const char *value) {
    struct key_value *row = &rows->diag.items.items[rows->diag.items.n++];
    record_init(&record_key_value, row);
    row->key = arena_strdup(rows->memory, key);
    row->value = arena_strdup(rows->memory, value);
}

static void number_add(struct rows *rows, const char *key, uint64_t value) {
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long) value);
    row_add(rows, key, text);
}

/* "rpc LIST_JOBS 32" = "31 25629": count and microseconds. */
static void call_add(struct rows *rows, const char *kind, const char *name, uint32_t number,
                     const struct call_count *calls) {
    cleanup_free char *key = xasprintf("%s %s %u", kind, name, number);
    cleanup_free char *value =
        xasprintf("%llu %llu", (unsigned long long) calls->n, (unsigned long long) calls->usec);
    row_add(rows, key, value);
}

static void add_jobs(struct rows *rows, const struct core_counters *counters) {
    number_add(rows, "jobs_submitted", counters->submitted);
    number_add(rows, "jobs_started", counters->started);
    number_add(rows, "jobs_ended", counters->ended);
    number_add(rows, "jobs_cancelled", counters->cancelled);
    number_add(rows, "jobs_failed", counters->failed);
    number_add(rows, "jobs_pending", counters->pending);
    number_add(rows, "jobs_running", counters->running);
    number_add(rows, "backfilled", counters->backfilled);
    number_add(rows, "promises_broken", counters->promises_broken);
}

static void add_cycles(struct rows *rows, const struct ctld *ctld,
                       const struct core_counters *counters, int64_t now) {
    const struct cycle_counts *cycles = &ctld->cycles;
    uint64_t n = max_of(cycles->n, (uint64_t) 1);
    uint64_t seconds = (uint64_t) max_of(now - ctld->start_time, (int64_t) 1);
    number_add(rows, "planner_passes", cycles->n);
    number_add(rows, "planner_candidates", counters->candidates);
    number_add(rows, "planner_usec_last", cycles->usec_last);
    number_add(rows, "planner_usec_max", cycles->usec_max);
    number_add(rows, "planner_usec_mean", cycles->usec_total / n);
    number_add(rows, "planner_depth_last", cycles->depth_last);
    number_add(rows, "planner_depth_mean", counters->candidates / n);
    number_add(rows, "planner_per_minute", cycles->n * 60 / seconds);
    number_add(rows, "planner_last", (uint64_t) cycles->last_when);
}

static void add_store(struct rows *rows, const struct ctld *ctld) {
    struct store_stats stats;
    store_stats(ctld->store, &stats);
    number_add(rows, "store_commits", stats.n_commits);
    number_add(rows, "store_batches", stats.n_batches);
    number_add(rows, "store_commit_usec_max", stats.commit_usec_max);
    number_add(rows, "store_commit_usec_total", stats.commit_usec_total);
}

static void add_delivery(struct rows *rows, const struct ctld *ctld) {
    struct deliver_state state;
    if (!deliver_state(ctld, &state))
        return;
    row_add(rows, "dbd_host", state.host);
    number_add(rows, "dbd_port", state.port);
    number_add(rows, "dbd_connected", state.connected);
    number_add(rows, "dbd_agent_queue_size", state.n_waiting);
    number_add(rows, "dbd_since", (uint64_t) state.since);
    row_add(rows, "dbd_problem", state.problem);
}

static void add_calls(struct rows *rows, struct ctld *ctld) {
    for (uint16_t type = 0; type < CALL_TYPES; type++) {
        if (ctld->calls[type].n > 0)
            call_add(rows, "rpc", message_name(type), type, &ctld->calls[type]);
    }
    size_t at = 0;
    uint64_t uid;
    struct user_calls *user;
    while ((user = map_next(&ctld->user_calls, &at, &uid)) != NULL)
        call_add(rows, "user", userdb_user_name(ctld->users, user->uid), user->uid, &user->calls);
}

#define ROWS_MAX (CALL_TYPES + CALL_USERS_MAX + 64)

void diag_answer(struct client *client, uint32_t seq) {
    struct ctld *ctld = client->ctld;
    struct rows rows = {.memory = &ctld->request_memory};
    struct core_counters counters;
    int64_t now = ctld_now(ctld);
    record_init(&record_diag, &rows.diag);
    rows.diag.items.items = arena_alloc(rows.memory, ROWS_MAX * sizeof(struct key_value));
    core_counters(ctld->core, &counters);
    number_add(&rows, "server_start", (uint64_t) ctld->start_time);
    number_add(&rows, "now", (uint64_t) now);
    number_add(&rows, "requests", ctld->n_requests);
    number_add(&rows, "connections", ctld->clients.n);
    add_jobs(&rows, &counters);
    add_cycles(&rows, ctld, &counters, now);
    add_store(&rows, ctld);
    add_delivery(&rows, ctld);
    add_calls(&rows, ctld);
    reply_record(client, MSG_DIAG_REPLY, seq, &rows.diag);
}

void diag_free(struct ctld *ctld) {
    size_t at = 0;
    uint64_t uid;
    struct user_calls *user;
    while ((user = map_next(&ctld->user_calls, &at, &uid)) != NULL)
        free(user);
    map_done(&ctld->user_calls);
}
