/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts, users and the associations between them: who may have jobs on whose account, and how
 * much. An association without a user is the account itself; its limits and shares are those of all
 * below it. Unset = no limit of its own.
 */
#ifndef SLUICE_MODEL_ACCOUNT_H
#define SLUICE_MODEL_ACCOUNT_H

#include "model/enums.h"
#include "schema/schema.h"

#define ROOT_ACCOUNT "root"

#define ACCOUNT_FIELDS(X)                                                                          \
    X(1, STR, name, 0)                                                                             \
    X(2, STR, description, 0)                                                                      \
    X(3, STR, organization, 0)                                                                     \
    X(4, STRS, coordinators, 0) /* users who may manage it and what is below it */
RECORD_DECLARE(account, ACCOUNT_FIELDS)

/* A workload characterisation key that a user may name for jobs. */
#define USER_WCKEY_FIELDS(X)                                                                       \
    X(1, U32, id, 0) /* no other key of the cluster has it */                                      \
    X(2, STR, name, 0)
RECORD_DECLARE(user_wckey, USER_WCKEY_FIELDS)

#define ACCT_USER_FIELDS(X)                                                                        \
    X(1, STR, name, 0)                                                                             \
    X(2, ENUM, admin_level, admin_level)                                                           \
    X(3, STR, default_account, 0)                                                                  \
    X(4, STR, default_wckey, 0)    /* one of them; NULL */                                         \
    X(5, RECS, wckeys, user_wckey) /* by name */
RECORD_DECLARE(acct_user, ACCT_USER_FIELDS)

#define SHARES_PARENT 0x7fffffffu /* Fairshare=parent */

#define ASSOC_FIELDS(X)                                                                            \
    X(1, U32, id, 0)                                                                               \
    X(2, STR, account, 0)                                                                          \
    X(3, STR, user, 0)      /* NULL: the account's own */                                          \
    X(4, STR, partition, 0) /* only for jobs there */                                              \
    X(5, STR, parent, 0)    /* the account above; NULL for users and root */                       \
    X(6, OPT32, shares, 0)  /* unset: 1 */                                                         \
    X(7, OPT32, priority, 0)                                                                       \
    X(8, STR, qos, 0) /* comma list of those that may be used; NULL: as the account above */       \
    X(9, STR, default_qos, 0)                                                                      \
    X(10, STR, comment, 0)                                                                         \
    X(11, STR, grp_tres, 0)                                                                        \
    X(12, STR, grp_tres_mins, 0)                                                                   \
    X(13, STR, grp_tres_run_mins, 0)                                                               \
    X(14, OPT32, grp_jobs, 0)                                                                      \
    X(15, OPT32, grp_jobs_accrue, 0)                                                               \
    X(16, OPT32, grp_submit_jobs, 0)                                                               \
    X(17, OPT32, grp_wall, 0) /* minutes */                                                        \
    X(18, STR, max_tres, 0)                                                                        \
    X(19, STR, max_tres_per_node, 0)                                                               \
    X(20, STR, max_tres_mins, 0)                                                                   \
    X(21, STR, max_tres_run_mins, 0)                                                               \
    X(22, OPT32, max_jobs, 0)                                                                      \
    X(23, OPT32, max_jobs_accrue, 0)                                                               \
    X(24, OPT32, max_submit_jobs, 0)                                                               \
    X(25, OPT32, max_wall, 0) /* minutes */                                                        \
    X(26, OPT32, min_prio_threshold, 0)                                                            \
    X(27, U32, usage_resets, 0) /* how often RawUsage was set to 0 */
RECORD_DECLARE(assoc, ASSOC_FIELDS)

/* What an association, or a QOS, has been charged for, decayed as of `time`: of its own jobs, those
 * of associations below it have entries of their own. What still runs is not in it before it stops:
 * that follows from the records of jobs. */
#define USAGE_TRES_FIELDS(X)                                                                       \
    X(1, STR, name, 0) /* "cpu", "gres/gpu" */                                                     \
    X(2, F64, seconds, 0)
RECORD_DECLARE(usage_tres, USAGE_TRES_FIELDS)
#define ASSOC_USAGE_FIELDS(X)                                                                      \
    X(1, U32, kind, 0) /* enum assoc_kind */                                                       \
    X(2, U32, id, 0)                                                                               \
    X(3, I64, time, 0)                                                                             \
    X(4, F64, billing, 0) /* billing units times seconds */                                        \
    X(5, F64, wall, 0)    /* seconds of jobs */                                                    \
    X(6, RECS, tres, usage_tres)
RECORD_DECLARE(assoc_usage, ASSOC_USAGE_FIELDS)

#endif
