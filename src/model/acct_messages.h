/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages about the accounting beside jobs: the book as a file, who changed what in it,
 * and what controllers and slurmdbd tell each other.
 */
#ifndef SLUICE_MODEL_ACCT_MESSAGES_H
#define SLUICE_MODEL_ACCT_MESSAGES_H

#include "model/acct_events.h"
#include "schema/schema.h"

/* The book as a file (assoc/file.h): asked for, answered, and to be loaded. */
#define ASSOC_FILE_FIELDS(X)                                                                       \
    X(1, STR, cluster, 0) /* whose; NULL: the file's own */                                        \
    X(2, STR, text, 0)                                                                             \
    X(3, BOOL, clean, 0)                                                                           \
    X(4, BOOL, commit, 0) /* do it; else only say what would be done */
RECORD_DECLARE(assoc_file, ASSOC_FILE_FIELDS)

#define CHANGE_LIST_FIELDS(X) X(1, RECS, items, acct_transaction)
RECORD_DECLARE(change_list, CHANGE_LIST_FIELDS)
/* A list without words leaves its condition open. */
#define CHANGE_QUERY_FIELDS(X)                                                                     \
    X(1, I64, start, 0) /* window; 0 = open */                                                     \
    X(2, I64, end, 0)                                                                              \
    X(3, STRS, actions, 0)                                                                         \
    X(4, STRS, actors, 0)                                                                          \
    X(5, STRS, clusters, 0)                                                                        \
    X(6, STRS, objects, 0) /* words that the object or the information has */
RECORD_DECLARE(change_query, CHANGE_QUERY_FIELDS)

/* Outages of nodes (acct_events.h). Lists without words leave their condition open. */
#define EVENT_QUERY_FIELDS(X)                                                                      \
    X(1, I64, start, 0) /* open at some time in [start, end]; 0 = open */                          \
    X(2, I64, end, 0)                                                                              \
    X(3, STRS, nodes, 0)                                                                           \
    X(4, STRS, clusters, 0)                                                                        \
    X(5, STRS, states, 0)                                                                          \
    X(6, STRS, reasons, 0)                                                                         \
    X(7, STRS, users, 0)                                                                           \
    X(8, BOOL, only_open, 0)
RECORD_DECLARE(event_query, EVENT_QUERY_FIELDS)
#define EVENT_LIST_FIELDS(X) X(1, RECS, items, acct_outage)
RECORD_DECLARE(event_list, EVENT_LIST_FIELDS)

/* ---- usage, summed up ---- */
/* What a cluster has had, in the order of their starts; each is there until the next. */
#define CAPACITY_LIST_FIELDS(X) X(1, RECS, items, acct_capacity)
RECORD_DECLARE(capacity_list, CAPACITY_LIST_FIELDS)

/* What rows are told apart by; the numbers are sent. */
enum usage_by {
    USAGE_BY_ACCOUNT = 1,
    USAGE_BY_USER = 2,
    USAGE_BY_QOS = 4,
    USAGE_BY_WCKEY = 8,
};
/* [start, end) of full hours, as far as they are summed up. Lists without words leave their
 * condition open. */
#define USAGE_QUERY_FIELDS(X)                                                                      \
    X(1, I64, start, 0)                                                                            \
    X(2, I64, end, 0) /* 0 = open */                                                               \
    X(3, STRS, clusters, 0)                                                                        \
    X(4, STRS, users, 0)                                                                           \
    X(5, STRS, wckeys, 0)                                                                          \
    X(6, U32, by, 0) /* enum usage_by */
RECORD_DECLARE(usage_query, USAGE_QUERY_FIELDS)
#define USAGE_ROW_FIELDS(X)                                                                        \
    X(1, STR, cluster, 0)                                                                          \
    X(2, STR, account, 0) /* what rows are not told apart by is NULL */                            \
    X(3, STR, user, 0)                                                                             \
    X(4, STR, qos, 0)                                                                              \
    X(5, STR, wckey, 0)                                                                            \
    X(6, STR, tres, 0)    /* "cpu", "gres/gpu:a100" */                                             \
    X(7, I64, seconds, 0) /* times the TRES, memory in MiB */
RECORD_DECLARE(usage_row, USAGE_ROW_FIELDS)
#define USAGE_LIST_FIELDS(X) X(1, RECS, items, usage_row)
RECORD_DECLARE(usage_list, USAGE_LIST_FIELDS)

/* What became of a cluster's capacity, in seconds times the TRES: allocated + down + planned_down +
 * planned + idle = reported, and `over` more than that was allocated. */
#define CLUSTER_USE_FIELDS(X)                                                                      \
    X(1, STR, cluster, 0)                                                                          \
    X(2, STR, tres, 0)                                                                             \
    X(3, I64, reported, 0)                                                                         \
    X(4, I64, allocated, 0)                                                                        \
    X(5, I64, down, 0)                                                                             \
    X(6, I64, planned_down, 0)                                                                     \
    X(7, I64, planned, 0) /* what waiting jobs could have used */                                  \
    X(8, I64, idle, 0)                                                                             \
    X(9, I64, over, 0)
RECORD_DECLARE(cluster_use, CLUSTER_USE_FIELDS)
#define CLUSTER_USE_LIST_FIELDS(X) X(1, RECS, items, cluster_use)
RECORD_DECLARE(cluster_use_list, CLUSTER_USE_LIST_FIELDS)

/* ---- controller <-> slurmdbd ---- */
/* A controller registers with an acct_cluster (acct_events.h); one without a key has a new state
 * and gets a key. */
#define DBD_WELCOME_FIELDS(X)                                                                      \
    X(1, U64, last_seq, 0) /* events up to here are stored */                                      \
    X(2, BLOB, key, 0)     /* to be kept, and shown the next time */
RECORD_DECLARE(dbd_welcome, DBD_WELCOME_FIELDS)
#define DBD_EVENTS_FIELDS(X) X(1, RECS, items, acct_event) /* by ascending number */
RECORD_DECLARE(dbd_events, DBD_EVENTS_FIELDS)
#define DBD_ACK_FIELDS(X) X(1, U64, last_seq, 0) /* events up to here are stored */
RECORD_DECLARE(dbd_ack, DBD_ACK_FIELDS)
#define CLUSTER_LIST_FIELDS(X) X(1, RECS, items, acct_cluster)
RECORD_DECLARE(cluster_list, CLUSTER_LIST_FIELDS)

#endif
