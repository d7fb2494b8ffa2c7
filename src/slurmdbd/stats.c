/* SPDX-License-Identifier: Apache-2.0 */
/* Counters since the start, or since they were cleared: sacctmgr show stats. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "slurmdbd/dbd.h"

#define STATS_USERS_MAX 10000

void stats_count(struct dbd *dbd, uint16_t type, uid_t uid) {
    struct dbd_stats *stats = &dbd->stats;
    if (type < STATS_TYPES)
        stats->by_type[type]++;
    uint64_t *n = map_get(&stats->by_user, uid);
    if (n == NULL && stats->by_user.n < STATS_USERS_MAX) {
        n = zalloc(uint64_t);
        map_put(&stats->by_user, uid, n);
    }
    if (n != NULL)
        ++*n;
}

void stats_count_rollup(struct dbd *dbd, uint64_t usec) {
    struct dbd_stats *stats = &dbd->stats;
    stats->n_rollups++;
    stats->rollup_usec += usec;
    stats->rollup_usec_max = max_of(stats->rollup_usec_max, usec);
}

void stats_free(struct dbd *dbd) {
    size_t at = 0;
    uint64_t uid, *n;
    while ((n = map_next(&dbd->stats.by_user, &at, &uid)) != NULL)
        free(n);
    map_done(&dbd->stats.by_user);
}

void stats_clear(struct dbd *dbd) {
    stats_free(dbd);
    dbd->stats = (struct dbd_stats) {.since = dbd_now(), .by_user = MAP_INIT};
}

/* ---- the answer ---- */

struct rows {
    struct arena *memory;
    vec(struct key_value) items;
};

static void row(struct rows *rows, char *key, uint64_t value) {
    cleanup_free char *name = key;
    cleanup_free char *text = xasprintf("%llu", (unsigned long long) value);
    struct key_value item = {.key = arena_strdup(rows->memory, name),
                             .value = arena_strdup(rows->memory, text)};
    vec_push(&rows->items, item);
}

static void rows_of_dbd(struct rows *rows, struct dbd *dbd) {
    const struct dbd_stats *stats = &dbd->stats;
    const struct {
        const char *key;
        uint64_t value;
    } all[] = {{"server_start", (uint64_t) dbd->start_time},
               {"now", (uint64_t) dbd_now()},
               {"since", (uint64_t) (stats->since != 0 ? stats->since : dbd->start_time)},
               {"requests", dbd->n_requests},
               {"connections", dbd->clients.n},
               {"events_stored", dbd->n_events},
               {"events_repeated", dbd->n_events_before},
               {"events_rejected", dbd->n_rejected},
               {"writes_waiting", worker_queued(dbd->writer)},
               {"questions_waiting", worker_queued(dbd->reader)},
               {"changes_waiting", worker_queued(dbd->keeper)},
               {"database_away", dbd->db_away},
               {"rollups", stats->n_rollups},
               {"rollup_usec", stats->rollup_usec},
               {"rollup_usec_max", stats->rollup_usec_max}};
    for (size_t i = 0; i < countof(all); i++)
        row(rows, xstrdup(all[i].key), all[i].value);
}

void stats_answer(struct client *client, uint32_t seq) {
    struct dbd *dbd = client->dbd;
    struct rows rows = {&dbd->request_memory, {NULL, 0, 0}};
    struct diag reply;
    size_t at = 0;
    uint64_t uid, *n;
    rows_of_dbd(&rows, dbd);
    for (uint16_t type = 0; type < STATS_TYPES; type++) {
        if (dbd->stats.by_type[type] > 0)
            row(&rows, xasprintf("rpc %s %u", message_name(type), type), dbd->stats.by_type[type]);
    }
    while ((n = map_next(&dbd->stats.by_user, &at, &uid)) != NULL)
        row(&rows,
            xasprintf("user %s %llu", userdb_user_name(dbd->users, (uid_t) uid),
                      (unsigned long long) uid),
            *n);
    record_init(&record_diag, &reply);
    reply.items.items = rows.items.items;
    reply.items.n = (uint32_t) rows.items.n;
    reply_record(client, MSG_DIAG_REPLY, seq, &reply);
    vec_done(&rows.items);
}
