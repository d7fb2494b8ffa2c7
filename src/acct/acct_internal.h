/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the accounting library: the connection, the tables, what is remembered. */
#ifndef SLUICE_ACCT_ACCT_INTERNAL_H
#define SLUICE_ACCT_ACCT_INTERNAL_H

#include "acct/acct.h"
#include "acct/db.h"
#include "base/alloc.h"
#include "base/vec.h"

/* In place of an end that has not come: so "ended behind T" is one comparison. */
#define NOT_ENDED INT64_MAX

struct acct {
    struct db *db;
};

/* ---- tables (tables.c) ---- */
#define SCHEMA_VERSION 4

#define JOB_COLUMNS(X)                                                                             \
    X(cluster_id, DB_INT, false)                                                                   \
    X(db_index, DB_INT, false)                                                                     \
    X(job_id, DB_INT, false)                                                                       \
    X(array_job_id, DB_INT, false)                                                                 \
    X(array_task_id, DB_INT, false) /* -1: none */                                                 \
    X(uid, DB_INT, false)                                                                          \
    X(gid, DB_INT, false)                                                                          \
    X(user_name, DB_TEXT, true)                                                                    \
    X(account, DB_TEXT, true)                                                                      \
    X(qos, DB_TEXT, true)                                                                          \
    X(partition_name, DB_TEXT, true)                                                               \
    X(job_name, DB_TEXT, true)                                                                     \
    X(wckey, DB_TEXT, true)                                                                        \
    X(reservation, DB_TEXT, true)                                                                  \
    X(state, DB_INT, false)                                                                        \
    X(superseded, DB_INT, false) /* 1: an earlier run of a requeued job */                         \
    X(submit_time, DB_INT, false)                                                                  \
    X(eligible_time, DB_INT, false)  /* 0: never */                                                \
    X(start_time, DB_INT, false)     /* 0: never */                                                \
    X(end_time, DB_INT, false)       /* NOT_ENDED */                                               \
    X(paused_seconds, DB_INT, false) /* of suspensions, up to the one that lasts */                \
    X(paused_since, DB_INT, false)   /* of the one that lasts; 0: none does */                     \
    X(n_nodes, DB_INT, false)                                                                      \
    X(n_cpus, DB_INT, false)                                                                       \
    X(tres_req, DB_TEXT, false)                                                                    \
    X(tres_alloc, DB_TEXT, false)                                                                  \
    X(nodes, DB_TEXT, false)                                                                       \
    X(record, DB_BLOB, false)
enum job_column {
#define X(name, type, is_key) JOB_COLUMN_##name,
    JOB_COLUMNS(X)
#undef X
        JOB_N_COLUMNS,
};

extern const struct db_table table_meta, table_cluster, table_job, table_outage, table_capacity,
    table_txn, table_reservation, table_book, table_rejected, table_tres, table_usage_key,
    table_used, table_cluster_used, table_script;
/* The numbers of cluster_used, as its rows have them. */
#define CLUSTER_USED_SUMS                                                                          \
    "CAST(SUM(capacity_seconds) AS {cast}), CAST(SUM(allocated) AS {cast}), CAST(SUM(down) AS "    \
    "{cast}), CAST(SUM(planned_down) AS {cast}), CAST(SUM(idle) AS {cast}), CAST(SUM(planned) AS " \
    "{cast}), CAST(SUM(over_committed) AS {cast})"
/* In the order in which they are made, exported and imported; table_meta is not among them. */
#define N_TABLES 13
extern const struct db_table *const acct_tables[N_TABLES];
must_check int schema_open(struct db *db, struct error *err);

/* ---- clusters (cluster.c) ---- */
/* The number of a cluster; 0 = there is none. */
must_check int cluster_id(struct acct *acct, const char *name, int64_t *ret, struct error *err);
/* Within a transaction: one that is new is added. */
must_check int cluster_id_make(struct acct *acct, const char *name, int64_t *ret,
                               struct error *err);
/* Within a transaction: n numbers of a row, the first of them. */
must_check int number_next(struct acct *acct, const char *name, int64_t n, int64_t *ret,
                           struct error *err);
struct cluster_name {
    int64_t id;
    char *text;
};
struct cluster_names {
    vec(struct cluster_name) items;
};
must_check int cluster_names_load(struct acct *acct, struct cluster_names *ret, struct error *err);
/* NULL for a number that is unknown. */
const char *cluster_names_get(const struct cluster_names *names, int64_t id);
void cluster_names_done(struct cluster_names *names);

/* Within a transaction: appends transactions (events.c). */
must_check int transactions_put(struct acct *acct, const struct acct_transaction *transactions,
                                size_t n, struct error *err);

/* ---- searching (filter.c) ---- */
/* A condition that is put together: text and values side by side. Texts are borrowed. */
struct filter {
    struct str sql;
    bool any; /* one of the conditions is enough; else all have to hold */
    vec(struct db_value) values;
};
void filter_done(struct filter *filter);
#define cleanup_filter __attribute__((__cleanup__(filter_done)))
/* "… AND column = ?" and the value. */
void filter_add(struct filter *filter, const char *condition, struct db_value value);
void filter_text(struct filter *filter, const char *condition);
/* A condition with several values. */
void filter_add_all(struct filter *filter, const char *condition, struct db_values values);
/* What a filter of its own says, as one condition. */
void filter_part(struct filter *filter, const struct filter *part);
/* "… AND column IN (?, …)"; an empty list lets everything pass. */
void filter_strs(struct filter *filter, const char *column, const struct strs *list);
void filter_u32s(struct filter *filter, const char *column, const struct u32s *list);
void filter_ints(struct filter *filter, const char *column, const int64_t *list, size_t n);
/* Clusters by name; *ret_none: none of those that are named is there. */
must_check int filter_clusters(struct acct *acct, struct filter *filter, const struct strs *names,
                               bool *ret_none, struct error *err);
struct db_values filter_values(const struct filter *filter);
/* The names of a host list; NULL: none. Then whether a host list has one of them; none: yes. */
must_check int nodes_wanted(const char *text, struct strs *ret, struct error *err);
bool nodes_meet(const struct strs *wanted, const char *nodes);

/* Runs `change` in a transaction. */
must_check int in_transaction(struct acct *acct,
                              int (*change)(struct acct *acct, void *context, struct error *err),
                              void *context, struct error *err);

#endif
