/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Qualities of service: what a job may name with --qos, what follows for whom it may preempt and
 * who may preempt it, and how much its jobs may have. Unset = no limit.
 */
#ifndef SLUICE_MODEL_QOS_H
#define SLUICE_MODEL_QOS_H

#include "model/enums.h"
#include "schema/schema.h"

#define QOS_FIELDS(X)                                                                              \
    X(1, STR, name, 0)                                                                             \
    X(2, U32, priority, 0)                                                                         \
    X(3, STR, preempt, 0) /* comma list of the QOS whose jobs its jobs may preempt */              \
    X(4, ENUM, preempt_mode, preempt_mode) /* what happens to its jobs */                          \
    X(5, BOOL, within, 0)       /* its jobs may preempt others of it that have less priority */    \
    X(6, OPT32, grace_time, 0)  /* seconds */                                                      \
    X(7, OPT32, exempt_time, 0) /* seconds; unset: PreemptExemptTime */                            \
    X(8, U32, id, 0)                                                                               \
    X(9, STR, description, 0)                                                                      \
    X(10, U32, flags, 0)           /* enum qos_flag */                                             \
    X(11, STR, usage_factor, 0)    /* decimal, NULL: 1 */                                          \
    X(12, STR, usage_threshold, 0) /* decimal */                                                   \
    X(13, STR, limit_factor, 0)    /* decimal */                                                   \
    X(14, STR, grp_tres, 0)        /* as typed: "cpu=10,mem=4096,gres/gpu=2", memory in MiB */     \
    X(15, STR, grp_tres_mins, 0)                                                                   \
    X(16, STR, grp_tres_run_mins, 0)                                                               \
    X(17, OPT32, grp_jobs, 0)                                                                      \
    X(18, OPT32, grp_jobs_accrue, 0)                                                               \
    X(19, OPT32, grp_submit_jobs, 0)                                                               \
    X(20, OPT32, grp_wall, 0) /* minutes */                                                        \
    X(21, STR, max_tres, 0)                                                                        \
    X(22, STR, max_tres_per_node, 0)                                                               \
    X(23, STR, max_tres_mins, 0)                                                                   \
    X(24, OPT32, max_wall, 0) /* minutes */                                                        \
    X(25, STR, max_tres_pu, 0)                                                                     \
    X(26, OPT32, max_jobs_pu, 0)                                                                   \
    X(27, OPT32, max_jobs_accrue_pu, 0)                                                            \
    X(28, OPT32, max_submit_jobs_pu, 0)                                                            \
    X(29, STR, max_tres_pa, 0)                                                                     \
    X(30, OPT32, max_jobs_pa, 0)                                                                   \
    X(31, OPT32, max_jobs_accrue_pa, 0)                                                            \
    X(32, OPT32, max_submit_jobs_pa, 0)                                                            \
    X(33, STR, max_tres_run_mins_pu, 0)                                                            \
    X(34, STR, max_tres_run_mins_pa, 0)                                                            \
    X(35, STR, min_tres, 0)                                                                        \
    X(36, OPT32, min_prio_threshold, 0)                                                            \
    X(50, OPT32, gpu_idle_warn, 0) /* seconds, as of a partition; unset: as the partition says */  \
    X(51, OPT32, gpu_idle_time, 0)                                                                 \
    X(52, STR, gpu_idle_action, 0) /* REQUEUE CANCEL, NULL */                                      \
    X(53, U32, usage_resets, 0)    /* how often RawUsage was set to 0 */
RECORD_DECLARE(qos, QOS_FIELDS)

#endif
