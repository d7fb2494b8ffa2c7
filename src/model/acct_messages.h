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
