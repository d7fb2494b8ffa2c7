/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about outages, capacities, reservations and changes. */
#include "acct/acct_internal.h"

struct query {
    struct filter filter;
    struct cluster_names clusters;
    struct strs nodes;
    struct db_rows *rows;
    bool none;
};

static void query_done(struct query *query) {
    db_rows_done(&query->rows);
    filter_done(&query->filter);
    cluster_names_done(&query->clusters);
    strs_done(&query->nodes);
}

static void add_times(struct filter *filter, const struct acct_event_filter *wanted) {
    if (wanted->only_open)
        filter_add(filter, "end_time = ?", db_int(NOT_ENDED));
    if (wanted->start)
        filter_add(filter, "end_time >= ?", db_int(wanted->start));
    if (wanted->end)
        filter_add(filter, "start_time <= ?", db_int(wanted->end));
}

/* Of a table with cluster_id, start_time and end_time. */
static int query_begin(struct acct *acct, struct query *query, const char *select,
                       const struct acct_event_filter *wanted, const char *order,
                       struct error *err) {
    int r = nodes_wanted(wanted->nodes, &query->nodes, err);
    if (r == 0)
        r = cluster_names_load(acct, &query->clusters, err);
    if (r == 0)
        r = filter_clusters(acct, &query->filter, &wanted->clusters, &query->none, err);
    if (r < 0)
        return r;
    add_times(&query->filter, wanted);
    struct str sql cleanup_str = STR_INIT;
    str_printf(&sql, "%s WHERE 1 = 1%s ORDER BY %s", select, str_cstr(&query->filter.sql), order);
    return db_query(acct->db, str_cstr(&sql), filter_values(&query->filter), &query->rows, err);
}

static int query_next(struct query *query, struct error *err) {
    return query->none ? 0 : db_next(query->rows, err);
}

static char *text(struct query *query, unsigned column) {
    const char *value = db_column_text(query->rows, column);
    return *value ? (char *) (uintptr_t) value : NULL;
}

static char *cluster(struct query *query, unsigned column) {
    int64_t id = db_column_int(query->rows, column);
    return (char *) (uintptr_t) cluster_names_get(&query->clusters, id);
}

static int64_t end_time(struct query *query, unsigned column) {
    int64_t end = db_column_int(query->rows, column);
    return end == NOT_ENDED ? 0 : end;
}

int acct_outages(struct acct *acct, const struct acct_event_filter *wanted,
                 int (*fn)(const struct acct_outage *outage, void *context, struct error *err),
                 void *context, struct error *err) {
    struct query query cleanup(query_done) = {0};
    int r = query_begin(acct, &query,
                        "SELECT cluster_id, node, start_time, end_time, state, reason, user_name, "
                        "tres, planned FROM outage",
                        wanted, "start_time, cluster_id, node", err);
    while (r >= 0 && (r = query_next(&query, err)) > 0) {
        struct acct_outage outage = {.cluster = cluster(&query, 0),
                                     .node = text(&query, 1),
                                     .start = db_column_int(query.rows, 2),
                                     .end = end_time(&query, 3),
                                     .state = text(&query, 4),
                                     .reason = text(&query, 5),
                                     .user = text(&query, 6),
                                     .tres = text(&query, 7),
                                     .planned = db_column_int(query.rows, 8) != 0};
        bool wants = strs_pass(&wanted->users, outage.user) &&
                     strs_pass(&wanted->reasons, outage.reason) &&
                     (query.nodes.n == 0 || (outage.node && strs_has(&query.nodes, outage.node)));
        r = wants ? fn(&outage, context, err) : 0;
    }
    return r < 0 ? r : 0;
}

int acct_capacities(struct acct *acct, const struct acct_event_filter *wanted,
                    int (*fn)(const struct acct_capacity *capacity, void *context,
                              struct error *err),
                    void *context, struct error *err) {
    struct query query cleanup(query_done) = {0};
    int r = query_begin(acct, &query,
                        "SELECT cluster_id, start_time, end_time, nodes, tres FROM capacity",
                        wanted, "start_time, cluster_id", err);
    while (r >= 0 && (r = query_next(&query, err)) > 0) {
        struct acct_capacity capacity = {.cluster = cluster(&query, 0),
                                         .start = db_column_int(query.rows, 1),
                                         .end = end_time(&query, 2),
                                         .nodes = text(&query, 3),
                                         .tres = text(&query, 4)};
        r = fn(&capacity, context, err);
    }
    return r < 0 ? r : 0;
}

int acct_reservations(struct acct *acct, const struct acct_event_filter *wanted,
                      int (*fn)(const struct acct_reservation *reservation, void *context,
                                struct error *err),
                      void *context, struct error *err) {
    struct query query cleanup(query_done) = {0};
    int r = query_begin(acct, &query,
                        "SELECT cluster_id, id, name, start_time, end_time, nodes, tres, accounts, "
                        "users, flags FROM reservation",
                        wanted, "start_time, cluster_id, id", err);
    while (r >= 0 && (r = query_next(&query, err)) > 0) {
        struct acct_reservation reservation = {.cluster = cluster(&query, 0),
                                               .id = (uint32_t) db_column_int(query.rows, 1),
                                               .name = text(&query, 2),
                                               .start = db_column_int(query.rows, 3),
                                               .end = end_time(&query, 4),
                                               .nodes = text(&query, 5),
                                               .tres = text(&query, 6),
                                               .accounts = text(&query, 7),
                                               .users = text(&query, 8),
                                               .flags = (uint32_t) db_column_int(query.rows, 9)};
        if (nodes_meet(&query.nodes, reservation.nodes ? reservation.nodes : ""))
            r = fn(&reservation, context, err);
    }
    return r < 0 ? r : 0;
}

/* ---- changes ---- */

int transactions_put(struct acct *acct, const struct acct_transaction *transactions, size_t n,
                     struct error *err) {
    int64_t id = 0;
    int r = n > 0 ? number_next(acct, "last_txn", (int64_t) n, &id, err) : 0;
    if (r < 0)
        return r;
    cleanup_free struct db_value *rows = xcalloc(n * table_txn.n_columns + 1, sizeof(*rows));
    for (size_t i = 0; i < n; i++) {
        const struct acct_transaction *t = &transactions[i];
        const struct db_value row[] = {
            db_int(id + (int64_t) i), db_int(t->time),  db_key(t->actor),   db_key(t->action),
            db_text(t->subject),      db_text(t->info), db_key(t->cluster),
        };
        memcpy(&rows[i * countof(row)], row, sizeof(row));
    }
    return db_put(acct->db, &table_txn, rows, n, err);
}

int acct_transactions(struct acct *acct, const struct acct_event_filter *wanted,
                      int (*fn)(const struct acct_transaction *transaction, void *context,
                                struct error *err),
                      void *context, struct error *err) {
    struct query query cleanup(query_done) = {0};
    if (wanted->start)
        filter_add(&query.filter, "done_time >= ?", db_int(wanted->start));
    if (wanted->end)
        filter_add(&query.filter, "done_time <= ?", db_int(wanted->end));
    filter_strs(&query.filter, "actor", &wanted->users);
    filter_strs(&query.filter, "action", &wanted->actions);
    filter_strs(&query.filter, "cluster_name", &wanted->clusters);
    struct str sql cleanup_str = STR_INIT;
    str_printf(&sql,
               "SELECT id, done_time, actor, action, subject, info, cluster_name FROM txn WHERE "
               "1 = 1%s ORDER BY id",
               str_cstr(&query.filter.sql));
    int r = db_query(acct->db, str_cstr(&sql), filter_values(&query.filter), &query.rows, err);
    while (r >= 0 && (r = db_next(query.rows, err)) > 0) {
        struct acct_transaction t = {.id = (uint64_t) db_column_int(query.rows, 0),
                                     .time = db_column_int(query.rows, 1),
                                     .actor = text(&query, 2),
                                     .action = text(&query, 3),
                                     .subject = text(&query, 4),
                                     .info = text(&query, 5),
                                     .cluster = text(&query, 6)};
        r = fn(&t, context, err);
    }
    return r < 0 ? r : 0;
}
