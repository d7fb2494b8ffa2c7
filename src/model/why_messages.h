/* SPDX-License-Identifier: Apache-2.0 */
/* What `sluice why` asks and hears. The rows stand in messages.h. */
#ifndef SLUICE_MODEL_WHY_MESSAGES_H
#define SLUICE_MODEL_WHY_MESSAGES_H

#include "model/job.h"
#include "schema/schema.h"

#define WHY_FIELDS(X) X(1, STR, job, 0) /* "12", "12_3" */
RECORD_DECLARE(why, WHY_FIELDS)
/* Nodes that could do something for the job, in the same situation. */
enum why_node_state { WHY_NODE_FREE = 1, WHY_NODE_PROMISED, WHY_NODE_BUSY, WHY_NODE_AWAY };
#define WHY_NODES_FIELDS(X)                                                                        \
    X(1, STR, nodes, 0) /* folded */                                                               \
    X(2, U32, n, 0)                                                                                \
    X(3, U32, state, 0)  /* enum why_node_state */                                                 \
    X(4, STR, what, 0)   /* away: "DOWN", "IDLE+DRAIN" */                                          \
    X(5, STR, reason, 0) /* away: that somebody gave */                                            \
    X(6, STR, by, 0)     /* away: who */                                                           \
    X(7, I64, since, 0)
RECORD_DECLARE(why_nodes, WHY_NODES_FIELDS)
/* A job that holds what this one needs, or is ahead of it. */
enum why_cause { WHY_TIER = 1, WHY_PRIORITY, WHY_EARLIER };
#define WHY_JOB_FIELDS(X)                                                                          \
    X(1, STR, job, 0)                                                                              \
    X(2, STR, user, 0)                                                                             \
    X(3, STR, nodes, 0) /* those of them that this job could use */                                \
    X(4, U32, cpus, 0)                                                                             \
    X(5, STR, tres, 0)                                                                             \
    X(6, I64, time, 0)  /* holds: until; ahead: its expected start; 0 = unknown */                 \
    X(7, U32, cause, 0) /* ahead: enum why_cause */                                                \
    X(8, U32, priority, 0)                                                                         \
    X(9, STR, partition, 0)
RECORD_DECLARE(why_job, WHY_JOB_FIELDS)
/* A limit that keeps the job back. */
#define WHY_LIMIT_FIELDS(X)                                                                        \
    X(1, STR, name, 0) /* "licence matlab", "MaxTime of partition short" */                        \
    X(2, STR, unit, 0) /* "minutes", "" */                                                         \
    X(3, U64, asked, 0)                                                                            \
    X(4, U64, limit, 0)                                                                            \
    X(5, U64, used, 0)                                                                             \
    X(6, STR, used_by, 0) /* "job 12 of alice (2)" */                                              \
    X(7, I64, until, 0)   /* when the first of it comes free, 0 = not by itself */                 \
    X(8, STR, cure, 0)    /* one sentence */
RECORD_DECLARE(why_limit, WHY_LIMIT_FIELDS)
/* A change that would start the job sooner; it has been planned. */
#define WHY_CHANGE_FIELDS(X)                                                                       \
    X(1, STR, option, 0) /* "--time=30" */                                                         \
    X(2, STR, update, 0) /* "TimeLimit=30" for scontrol update; NULL: not for a job that waits */  \
    X(3, I64, start, 0)                                                                            \
    X(4, STR, nodes, 0)
RECORD_DECLARE(why_change, WHY_CHANGE_FIELDS)
#define WHY_REPLY_FIELDS(X)                                                                        \
    X(1, REC, job, job)                                                                            \
    X(2, STR, id, 0) /* as displayed */                                                            \
    X(3, I64, now, 0)                                                                              \
    X(4, I64, expected, 0) /* start; 0 = nobody knows */                                           \
    X(5, I64, earliest, 0) /* when running jobs end as their users' jobs usually do */             \
    X(6, I64, latest, 0)   /* when all run to their limits and nobody overtakes */                 \
    X(7, BOOL, exact, 0)   /* planned to the end, no estimate */                                   \
    X(8, STR, nodes, 0)    /* of the expected start */                                             \
    X(9, STR, partition, 0)                                                                        \
    X(10, RECS, fits, why_nodes)                                                                   \
    X(11, RECS, holders, why_job)                                                                  \
    X(12, U32, holders_total, 0)                                                                   \
    X(13, U64, free_cpus, 0) /* on usable nodes that could do something for it */                  \
    X(14, U64, free_mem, 0)                                                                        \
    X(15, STR, free_gres, 0) /* "gpu:a100:2" */                                                    \
    X(16, RECS, ahead, why_job)                                                                    \
    X(17, U32, ahead_total, 0)                                                                     \
    X(18, U32, ahead_by_tier, 0)                                                                   \
    X(19, U32, ahead_by_priority, 0)                                                               \
    X(20, U32, ahead_by_age, 0)                                                                    \
    X(21, RECS, depends, why_job) /* what it waits for; job: "afterok:12" */                       \
    X(22, RECS, limits, why_limit)                                                                 \
    X(23, RECS, changes, why_change)                                                               \
    X(24, U32, n_tried, 0)                                                                         \
    X(25, BOOL, may_update, 0)                                                                     \
    X(26, STR, reservation, 0)    /* a sentence: which one is in the way, and what would fit */    \
    X(27, RECS, leaving, why_job) /* preempted for it; time: until then at most, 0 = at once */    \
    X(28, BOOL, preemption, 0)    /* PreemptType is set: jobs may overtake, and be preempted */    \
    X(29, STR, share, 0)          /* where others go first: whose use has lowered its fair share */
RECORD_DECLARE(why_reply, WHY_REPLY_FIELDS)

#endif
