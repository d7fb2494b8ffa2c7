/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a controller tells the accounting database: a stream of numbered events, one stream per
 * cluster. Numbers ascend; an event that comes again under its number counts once.
 *
 * Times are seconds since the epoch; 0 = not yet, or never. TRES in text: "cpu=8,mem=64000,node=2",
 * memory in MiB or with a unit.
 */
#ifndef SLUICE_MODEL_ACCT_EVENTS_H
#define SLUICE_MODEL_ACCT_EVENTS_H

#include "model/enums.h"
#include "schema/schema.h"

/* What body holds. The numbers are stored and sent. */
enum acct_event_kind {
    ACCT_EVENT_JOB = 1,         /* record_acct_job (messages.h): a job as it is now */
    ACCT_EVENT_OUTAGE = 2,      /* record_acct_outage */
    ACCT_EVENT_CAPACITY = 3,    /* record_acct_capacity */
    ACCT_EVENT_TRANSACTION = 4, /* record_acct_transaction */
    ACCT_EVENT_RESERVATION = 5, /* record_acct_reservation */
    ACCT_EVENT_SCRIPT = 6,      /* record_job_script (messages.h): what is kept of a submission */
};
#define ACCT_EVENT_FIELDS(X)                                                                       \
    X(1, U64, seq, 0)                                                                              \
    X(2, U32, kind, 0) /* enum acct_event_kind */                                                  \
    X(3, BLOB, body, 0)
RECORD_DECLARE(acct_event, ACCT_EVENT_FIELDS)

/* A node, or the whole cluster, is not (fully) in service from start on. What was open for the node
 * ends then; `up` only ends it. */
#define ACCT_OUTAGE_FIELDS(X)                                                                      \
    X(1, STR, cluster, 0) /* in answers */                                                         \
    X(2, STR, node, 0)    /* NULL: the cluster */                                                  \
    X(3, I64, start, 0)                                                                            \
    X(4, I64, end, 0)   /* in answers; 0 = it goes on */                                           \
    X(5, BOOL, up, 0)   /* it is in service again */                                               \
    X(6, STR, state, 0) /* as shown: "DOWN*", "DRAINED" */                                         \
    X(7, STR, reason, 0)                                                                           \
    X(8, STR, user, 0)      /* who has said the reason */                                          \
    X(9, STR, tres, 0)      /* what is out of service */                                           \
    X(10, BOOL, planned, 0) /* by a reservation for maintenance */
RECORD_DECLARE(acct_outage, ACCT_OUTAGE_FIELDS)

/* What a cluster has from start on, in or out of service. */
#define ACCT_CAPACITY_FIELDS(X)                                                                    \
    X(1, STR, cluster, 0) /* in answers */                                                         \
    X(2, I64, start, 0)                                                                            \
    X(3, I64, end, 0) /* in answers */                                                             \
    X(4, STR, nodes, 0)                                                                            \
    X(5, STR, tres, 0)
RECORD_DECLARE(acct_capacity, ACCT_CAPACITY_FIELDS)

/* A change of accounts, users, associations or QOS: who did what. */
#define ACCT_TRANSACTION_FIELDS(X)                                                                 \
    X(1, U64, id, 0) /* in answers: ascending */                                                   \
    X(2, I64, time, 0)                                                                             \
    X(3, STR, actor, 0)                                                                            \
    X(4, STR, action, 0)  /* "Add Users" */                                                        \
    X(5, STR, subject, 0) /* what was changed: "where" of sacctmgr */                              \
    X(6, STR, info, 0)    /* what was set */                                                       \
    X(7, STR, cluster, 0) /* NULL: all */
RECORD_DECLARE(acct_transaction, ACCT_TRANSACTION_FIELDS)

/* An occurrence of a reservation as it is from start on; the one of this id that was open ends
 * then. */
#define ACCT_RESERVATION_FIELDS(X)                                                                 \
    X(1, STR, cluster, 0) /* in answers */                                                         \
    X(2, U32, id, 0)                                                                               \
    X(3, STR, name, 0)                                                                             \
    X(4, I64, start, 0)                                                                            \
    X(5, I64, end, 0)                                                                              \
    X(6, STR, nodes, 0)                                                                            \
    X(7, STR, tres, 0)                                                                             \
    X(8, STR, accounts, 0)                                                                         \
    X(9, STR, users, 0)                                                                            \
    X(10, U32, flags, 0) /* enum reservation_flag */
RECORD_DECLARE(acct_reservation, ACCT_RESERVATION_FIELDS)

/* A cluster as the database knows it. */
#define ACCT_CLUSTER_FIELDS(X)                                                                     \
    X(1, STR, name, 0)                                                                             \
    X(2, STR, control_host, 0) /* NULL: it is not registered at present */                         \
    X(3, U32, control_port, 0)                                                                     \
    X(4, U32, rpc_version, 0)                                                                      \
    X(5, I64, created, 0)                                                                          \
    X(6, I64, registered, 0) /* when it was heard of last */                                       \
    X(7, U64, last_seq, 0)   /* of the events that are stored */                                   \
    X(8, STR, tres, 0)                                                                             \
    X(9, STR, nodes, 0)                                                                            \
    X(10, STR, classification, 0)                                                                  \
    X(11, BLOB, key, 0) /* tells this controller from another one of the same name */
RECORD_DECLARE(acct_cluster, ACCT_CLUSTER_FIELDS)

#endif
