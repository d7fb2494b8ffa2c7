/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States, reasons and other enumerations with their names. The numbers of stored enums are frozen
 * by tests/golden/schema.lock; names are what users read and write.
 */
#ifndef SLUICE_MODEL_ENUMS_H
#define SLUICE_MODEL_ENUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/schema.h"

/* ---- jobs: base state and flags (spec job-states) ---- */
#define JOB_STATE_TABLE(X)                                                                         \
    X(PENDING, 0, "PD")                                                                            \
    X(RUNNING, 1, "R")                                                                             \
    X(SUSPENDED, 2, "S")                                                                           \
    X(COMPLETED, 3, "CD")                                                                          \
    X(CANCELLED, 4, "CA")                                                                          \
    X(FAILED, 5, "F")                                                                              \
    X(TIMEOUT, 6, "TO")                                                                            \
    X(NODE_FAIL, 7, "NF")                                                                          \
    X(PREEMPTED, 8, "PR")                                                                          \
    X(BOOT_FAIL, 9, "BF")                                                                          \
    X(DEADLINE, 10, "DL")                                                                          \
    X(OUT_OF_MEMORY, 11, "OOM")
enum job_state {
#define X(name, value, compact) JOB_##name = value,
    JOB_STATE_TABLE(X)
#undef X
};
NAMES_DECLARE(job_state);

/* Shown instead of the base state; the first that is set in this order wins. */
#define JOB_FLAG_TABLE(X)                                                                          \
    X(COMPLETING, 0, "CG")                                                                         \
    X(STAGE_OUT, 1, "SO")                                                                          \
    X(CONFIGURING, 2, "CF")                                                                        \
    X(RESIZING, 3, "RS")                                                                           \
    X(REQUEUED, 4, "RQ")                                                                           \
    X(REQUEUE_FED, 5, "RF")                                                                        \
    X(REQUEUE_HOLD, 6, "RH")                                                                       \
    X(SPECIAL_EXIT, 7, "SE")                                                                       \
    X(STOPPED, 8, "ST")                                                                            \
    X(REVOKED, 9, "RV")                                                                            \
    X(RESV_DEL_HOLD, 10, "RD")                                                                     \
    X(SIGNALING, 11, "SI")
enum job_flag {
#define X(name, bit, compact) JOB_FLAG_##name = 1u << (bit),
    JOB_FLAG_TABLE(X)
#undef X
};
/* Rows of value 1u << bit. */
NAMES_DECLARE(job_flag);

static inline bool job_state_is_final(uint32_t state) {
    return state >= JOB_COMPLETED;
}
/* What %T and %t show. */
const char *job_state_text(uint32_t state, uint32_t flags);
const char *job_state_compact(uint32_t state, uint32_t flags);

/* ---- reasons (spec reasons; exact spelling). Numbers are stored. ---- */
#define JOB_REASON_TABLE(X)                                                                        \
    X(NONE, 0, "None")                                                                             \
    X(PRIORITY, 1, "Priority")                                                                     \
    X(RESOURCES, 2, "Resources")                                                                   \
    X(DEPENDENCY, 3, "Dependency")                                                                 \
    X(DEPENDENCY_NEVER, 4, "DependencyNeverSatisfied")                                             \
    X(BEGIN_TIME, 5, "BeginTime")                                                                  \
    X(HELD_USER, 6, "JobHeldUser")                                                                 \
    X(HELD_ADMIN, 7, "JobHeldAdmin")                                                               \
    X(MAX_REQUEUE, 8, "JobHoldMaxRequeue")                                                         \
    X(ARRAY_TASK_LIMIT, 9, "JobArrayTaskLimit")                                                    \
    X(LICENSES, 10, "Licenses")                                                                    \
    X(REQ_NODE_NOT_AVAIL, 11, "ReqNodeNotAvail")                                                   \
    X(RESERVATION, 12, "Reservation")                                                              \
    X(RESERVATION_DELETED, 13, "ReservationDeleted")                                               \
    X(PARTITION_DOWN, 14, "PartitionDown")                                                         \
    X(PARTITION_INACTIVE, 15, "PartitionInactive")                                                 \
    X(PARTITION_NODE_LIMIT, 16, "PartitionNodeLimit")                                              \
    X(PARTITION_TIME_LIMIT, 17, "PartitionTimeLimit")                                              \
    X(PARTITION_CONFIG, 18, "PartitionConfig")                                                     \
    X(BAD_CONSTRAINTS, 19, "BadConstraints")                                                       \
    X(NODE_DOWN, 20, "NodeDown")                                                                   \
    X(ACCOUNT_NOT_ALLOWED, 21, "AccountNotAllowed")                                                \
    X(QOS_NOT_ALLOWED, 22, "QOSNotAllowed")                                                        \
    X(INVALID_ACCOUNT, 23, "InvalidAccount")                                                       \
    X(INVALID_QOS, 24, "InvalidQOS")                                                               \
    X(ACCOUNTING_POLICY, 25, "AccountingPolicy")                                                   \
    X(PROLOG, 26, "Prolog")                                                                        \
    X(CLEANING, 27, "Cleaning")                                                                    \
    X(DEADLINE, 28, "DeadLine")                                                                    \
    X(MAX_MEM_PER_LIMIT, 29, "MaxMemPerLimit")                                                     \
    X(NON_ZERO_EXIT, 30, "NonZeroExitCode")                                                        \
    X(RAISED_SIGNAL, 31, "RaisedSignal")                                                           \
    X(TIME_LIMIT, 32, "TimeLimit")                                                                 \
    X(OUT_OF_MEMORY, 33, "OutOfMemory")                                                            \
    X(INACTIVE_LIMIT, 34, "InactiveLimit")                                                         \
    X(LAUNCH_FAILURE, 35, "JobLaunchFailure")                                                      \
    X(SYSTEM_FAILURE, 36, "SystemFailure")                                                         \
    X(SCHED_DEFER, 37, "SchedDefer")                                                               \
    X(CONSTRAINTS, 38, "Constraints")                                                              \
    X(RESERVATION_INVALID, 39, "ReservationInvalid")                                               \
    X(NODES_UNAVAILABLE, 40,                                                                       \
      "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority "          \
      "partitions")                                                                                \
    X(ASSOC_GRP_CPU, 41, "AssocGrpCpuLimit")                                                       \
    X(ASSOC_GRP_JOBS, 42, "AssocGrpJobsLimit")                                                     \
    X(ASSOC_GRP_CPU_MINUTES, 43, "AssocGrpCPUMinutesLimit")                                        \
    X(QOS_MAX_JOBS_PER_USER, 44, "QOSMaxJobsPerUserLimit")                                         \
    X(LAUNCH_HELD, 45, "launch failed requeued held")                                              \
    X(REQUEUED_HELD, 46, "job requeued in held state")                                             \
    X(ASSOC_GRP_MEM, 60, "AssocGrpMemLimit")                                                       \
    X(ASSOC_GRP_NODE, 61, "AssocGrpNodeLimit")                                                     \
    X(ASSOC_GRP_GRES, 62, "AssocGrpGRES")                                                          \
    X(ASSOC_GRP_LICENSE, 63, "AssocGrpLicense")                                                    \
    X(ASSOC_GRP_BILLING, 64, "AssocGrpBilling")                                                    \
    X(QOS_GRP_JOBS, 65, "QOSGrpJobsLimit")                                                         \
    X(QOS_GRP_CPU, 66, "QOSGrpCpuLimit")                                                           \
    X(QOS_GRP_MEM, 67, "QOSGrpMemLimit")                                                           \
    X(QOS_GRP_NODE, 68, "QOSGrpNodeLimit")                                                         \
    X(QOS_GRP_GRES, 69, "QOSGrpGRES")                                                              \
    X(QOS_GRP_LICENSE, 70, "QOSGrpLicense")                                                        \
    X(QOS_GRP_BILLING, 71, "QOSGrpBilling")                                                        \
    X(ASSOC_GRP_SUBMIT, 72, "AssocGrpSubmitJobsLimit")                                             \
    X(QOS_GRP_SUBMIT, 73, "QOSGrpSubmitJobsLimit")                                                 \
    X(ASSOC_MAX_JOBS, 74, "AssocMaxJobsLimit")                                                     \
    X(MAX_JOBS_PER_ACCOUNT, 75, "MaxJobsPerAccount")                                               \
    X(ASSOC_MAX_SUBMIT, 76, "AssocMaxSubmitJobLimit")                                              \
    X(QOS_MAX_SUBMIT_PER_USER, 77, "QOSMaxSubmitJobPerUserLimit")                                  \
    X(MAX_SUBMIT_PER_ACCOUNT, 78, "MaxSubmitJobsPerAccount")                                       \
    X(QOS_MAX_CPU_PER_USER, 79, "QOSMaxCpuPerUserLimit")                                           \
    X(QOS_MAX_MEM_PER_USER, 80, "QOSMaxMemoryPerUser")                                             \
    X(QOS_MAX_NODE_PER_USER, 81, "QOSMaxNodePerUserLimit")                                         \
    X(QOS_MAX_GRES_PER_USER, 82, "QOSMaxGRESPerUser")                                              \
    X(QOS_MAX_LICENSE_PER_USER, 83, "QOSMaxLicensePerUser")                                        \
    X(QOS_MAX_BILLING_PER_USER, 84, "QOSMaxBillingPerUser")                                        \
    X(MAX_CPU_PER_ACCOUNT, 85, "MaxCpuPerAccount")                                                 \
    X(MAX_MEM_PER_ACCOUNT, 86, "MaxMemoryPerAccount")                                              \
    X(MAX_NODE_PER_ACCOUNT, 87, "MaxNodePerAccount")                                               \
    X(MAX_GRES_PER_ACCOUNT, 88, "MaxGRESPerAccount")                                               \
    X(MAX_LICENSE_PER_ACCOUNT, 89, "MaxLicensePerAccount")                                         \
    X(MAX_BILLING_PER_ACCOUNT, 90, "MaxBillingPerAccount")                                         \
    X(ASSOC_MAX_CPU_PER_JOB, 91, "AssocMaxCpuPerJobLimit")                                         \
    X(ASSOC_MAX_MEM_PER_JOB, 92, "AssocMaxMemPerJob")                                              \
    X(ASSOC_MAX_NODE_PER_JOB, 93, "AssocMaxNodePerJobLimit")                                       \
    X(ASSOC_MAX_GRES_PER_JOB, 94, "AssocMaxGRESPerJob")                                            \
    X(ASSOC_MAX_LICENSE_PER_JOB, 95, "AssocMaxLicensePerJob")                                      \
    X(ASSOC_MAX_BILLING_PER_JOB, 96, "AssocMaxBillingPerJob")                                      \
    X(QOS_MAX_CPU_PER_JOB, 97, "QOSMaxCpuPerJobLimit")                                             \
    X(QOS_MAX_MEM_PER_JOB, 98, "QOSMaxMemoryPerJob")                                               \
    X(QOS_MAX_NODE_PER_JOB, 99, "QOSMaxNodePerJobLimit")                                           \
    X(QOS_MAX_GRES_PER_JOB, 100, "QOSMaxGRESPerJob")                                               \
    X(QOS_MAX_LICENSE_PER_JOB, 101, "QOSMaxLicensePerJob")                                         \
    X(QOS_MAX_BILLING_PER_JOB, 102, "QOSMaxBillingPerJob")                                         \
    X(ASSOC_MAX_CPU_PER_NODE, 103, "AssocMaxCpuPerNode")                                           \
    X(ASSOC_MAX_MEM_PER_NODE, 104, "AssocMaxMemPerNode")                                           \
    X(ASSOC_MAX_GRES_PER_NODE, 105, "AssocMaxGRESPerNode")                                         \
    X(ASSOC_MAX_BILLING_PER_NODE, 106, "AssocMaxBillingPerNode")                                   \
    X(QOS_MAX_CPU_PER_NODE, 107, "QOSMaxCpuPerNode")                                               \
    X(QOS_MAX_MEM_PER_NODE, 108, "QOSMaxMemoryPerNode")                                            \
    X(QOS_MAX_GRES_PER_NODE, 109, "QOSMaxGRESPerNode")                                             \
    X(QOS_MAX_BILLING_PER_NODE, 110, "QOSMaxBillingPerNode")                                       \
    X(ASSOC_MAX_CPU_MINS, 111, "AssocMaxCpuMinutesPerJobLimit")                                    \
    X(ASSOC_MAX_MEM_MINS, 112, "AssocMaxMemMinutesPerJob")                                         \
    X(ASSOC_MAX_NODE_MINS, 113, "AssocMaxNodeMinutesPerJob")                                       \
    X(ASSOC_MAX_GRES_MINS, 114, "AssocMaxGRESMinutesPerJob")                                       \
    X(ASSOC_MAX_LICENSE_MINS, 115, "AssocMaxLicenseMinutesPerJob")                                 \
    X(ASSOC_MAX_BILLING_MINS, 116, "AssocMaxBillingMinutesPerJob")                                 \
    X(QOS_MAX_CPU_MINS, 117, "QOSMaxCpuMinutesPerJobLimit")                                        \
    X(QOS_MAX_MEM_MINS, 118, "QOSMaxMemoryMinutesPerJob")                                          \
    X(QOS_MAX_NODE_MINS, 119, "QOSMaxNodeMinutesPerJob")                                           \
    X(QOS_MAX_GRES_MINS, 120, "QOSMaxGRESMinutesPerJob")                                           \
    X(QOS_MAX_LICENSE_MINS, 121, "QOSMaxLicenseMinutesPerJob")                                     \
    X(QOS_MAX_BILLING_MINS, 122, "QOSMaxBillingMinutesPerJob")                                     \
    X(ASSOC_MAX_WALL, 123, "AssocMaxWallDurationPerJobLimit")                                      \
    X(QOS_MAX_WALL, 124, "QOSMaxWallDurationPerJobLimit")                                          \
    X(QOS_MIN_CPU, 125, "QOSMinCpuNotSatisfied")                                                   \
    X(QOS_MIN_MEM, 126, "QOSMinMemory")                                                            \
    X(QOS_MIN_NODE, 127, "QOSMinNode")                                                             \
    X(QOS_MIN_GRES, 128, "QOSMinGRES")                                                             \
    X(QOS_MIN_LICENSE, 129, "QOSMinLicense")                                                       \
    X(QOS_MIN_BILLING, 130, "QOSMinBilling")                                                       \
    X(ASSOC_GRP_MEM_MINUTES, 131, "AssocGrpMemMinutes")                                            \
    X(ASSOC_GRP_NODE_MINUTES, 132, "AssocGrpNodeMinutes")                                          \
    X(ASSOC_GRP_GRES_MINUTES, 133, "AssocGrpGRESMinutes")                                          \
    X(ASSOC_GRP_LICENSE_MINUTES, 134, "AssocGrpLicenseMinutes")                                    \
    X(ASSOC_GRP_BILLING_MINUTES, 135, "AssocGrpBillingMinutes")                                    \
    X(ASSOC_GRP_CPU_RUN_MINUTES, 136, "AssocGrpCPURunMinutesLimit")                                \
    X(ASSOC_GRP_MEM_RUN_MINUTES, 137, "AssocGrpMemRunMinutes")                                     \
    X(ASSOC_GRP_NODE_RUN_MINUTES, 138, "AssocGrpNodeRunMinutes")                                   \
    X(ASSOC_GRP_GRES_RUN_MINUTES, 139, "AssocGrpGRESRunMinutes")                                   \
    X(ASSOC_GRP_LICENSE_RUN_MINUTES, 140, "AssocGrpLicenseRunMinutes")                             \
    X(ASSOC_GRP_BILLING_RUN_MINUTES, 141, "AssocGrpBillingRunMinutes")                             \
    X(QOS_GRP_CPU_MINUTES, 142, "QOSGrpCPUMinutesLimit")                                           \
    X(QOS_GRP_MEM_MINUTES, 143, "QOSGrpMemoryMinutes")                                             \
    X(QOS_GRP_NODE_MINUTES, 144, "QOSGrpNodeMinutes")                                              \
    X(QOS_GRP_GRES_MINUTES, 145, "QOSGrpGRESMinutes")                                              \
    X(QOS_GRP_LICENSE_MINUTES, 146, "QOSGrpLicenseMinutes")                                        \
    X(QOS_GRP_BILLING_MINUTES, 147, "QOSGrpBillingMinutes")                                        \
    X(QOS_GRP_CPU_RUN_MINUTES, 148, "QOSGrpCPURunMinutesLimit")                                    \
    X(QOS_GRP_MEM_RUN_MINUTES, 149, "QOSGrpMemoryRunMinutes")                                      \
    X(QOS_GRP_NODE_RUN_MINUTES, 150, "QOSGrpNodeRunMinutes")                                       \
    X(QOS_GRP_GRES_RUN_MINUTES, 151, "QOSGrpGRESRunMinutes")                                       \
    X(QOS_GRP_LICENSE_RUN_MINUTES, 152, "QOSGrpLicenseRunMinutes")                                 \
    X(QOS_GRP_BILLING_RUN_MINUTES, 153, "QOSGrpBillingRunMinutes")                                 \
    X(ASSOC_GRP_WALL, 154, "AssocGrpWallLimit")                                                    \
    X(QOS_GRP_WALL, 155, "QOSGrpWallLimit")                                                        \
    X(MAX_CPU_RUN_MINS_PER_ACCOUNT, 156, "MaxCpuRunMinsPerAccount")                                \
    X(MAX_MEM_RUN_MINS_PER_ACCOUNT, 157, "MaxMemoryRunMinsPerAccount")                             \
    X(MAX_NODE_RUN_MINS_PER_ACCOUNT, 158, "MaxNodeRunMinsPerAccount")                              \
    X(MAX_GRES_RUN_MINS_PER_ACCOUNT, 159, "MaxGRESRunMinsPerAccount")                              \
    X(MAX_LICENSE_RUN_MINS_PER_ACCOUNT, 160, "MaxLicenseRunMinsPerAccount")                        \
    X(MAX_BILLING_RUN_MINS_PER_ACCOUNT, 161, "MaxBillingRunMinsPerAccount")                        \
    X(MAX_CPU_RUN_MINS_PER_USER, 162, "MaxCpuRunMinsPerUser")                                      \
    X(MAX_MEM_RUN_MINS_PER_USER, 163, "MaxMemoryRunMinsPerUser")                                   \
    X(MAX_NODE_RUN_MINS_PER_USER, 164, "MaxNodeRunMinsPerUser")                                    \
    X(MAX_GRES_RUN_MINS_PER_USER, 165, "MaxGRESRunMinsPerUser")                                    \
    X(MAX_LICENSE_RUN_MINS_PER_USER, 166, "MaxLicenseRunMinsPerUser")                              \
    X(MAX_BILLING_RUN_MINS_PER_USER, 167, "MaxBillingRunMinsPerUser")
enum job_reason {
#define X(name, value, text) REASON_##name = value,
    JOB_REASON_TABLE(X)
#undef X
};
NAMES_DECLARE(job_reason);

/* ---- nodes (spec node-states) ---- */
#define NODE_STATE_TABLE(X)                                                                        \
    X(UNKNOWN, 0, "unk")                                                                           \
    X(IDLE, 1, "idle")                                                                             \
    X(ALLOCATED, 2, "alloc")                                                                       \
    X(MIXED, 3, "mix")                                                                             \
    X(DOWN, 4, "down")                                                                             \
    X(FUTURE, 5, "futr")                                                                           \
    X(ERROR, 6, "err")
enum node_state {
#define X(name, value, compact) NODE_##name = value,
    NODE_STATE_TABLE(X)
#undef X
};
NAMES_DECLARE(node_state);

#define NODE_FLAG_TABLE(X)                                                                         \
    X(DRAIN, 0)                                                                                    \
    X(COMPLETING, 1)                                                                               \
    X(NOT_RESPONDING, 2)                                                                           \
    X(FAIL, 3)                                                                                     \
    X(MAINTENANCE, 4)                                                                              \
    X(RESERVED, 5)                                                                                 \
    X(PLANNED, 6)                                                                                  \
    X(INVALID_REG, 7)                                                                              \
    X(REBOOT_REQUESTED, 8)                                                                         \
    X(REBOOT_ISSUED, 9)                                                                            \
    X(POWER_DOWN, 10)                                                                              \
    X(POWERING_DOWN, 11)                                                                           \
    X(POWERED_DOWN, 12)                                                                            \
    X(POWERING_UP, 13)                                                                             \
    X(POWER_UP, 14)                                                                                \
    X(CLOUD, 15)
enum node_flag {
#define X(name, bit) NODE_FLAG_##name = 1u << (bit),
    NODE_FLAG_TABLE(X)
#undef X
};
NAMES_DECLARE(node_flag);

/* sinfo's %t and %T by the display rules (first match wins) with suffix character. */
void node_state_print(uint32_t state, uint32_t flags, bool compact, struct str *out);
/* "IDLE+DRAIN" of scontrol show node. */
void node_state_print_complete(uint32_t state, uint32_t flags, struct str *out);

/* ---- small enumerations of requests ---- */
enum tristate { TRI_UNSET, TRI_NO, TRI_YES };
NAMES_DECLARE(tristate);
enum exclusive { EXCLUSIVE_NO, EXCLUSIVE_NODE, EXCLUSIVE_USER, EXCLUSIVE_MCS, EXCLUSIVE_TOPO };
NAMES_DECLARE(exclusive);
enum open_mode { OPEN_DEFAULT, OPEN_TRUNCATE, OPEN_APPEND };
NAMES_DECLARE(open_mode);
enum oversubscribe { OVERSUB_DEFAULT, OVERSUB_NO, OVERSUB_YES };
NAMES_DECLARE(oversubscribe);
enum job_kind {
    JOB_KIND_BATCH,
    JOB_KIND_SALLOC, /* interactive allocation: salloc */
    JOB_KIND_SRUN,   /* srun outside an allocation: the job is its one step */
};
NAMES_DECLARE(job_kind);
enum task_dist { DIST_DEFAULT, DIST_BLOCK, DIST_CYCLIC, DIST_PLANE, DIST_ARBITRARY };
NAMES_DECLARE(task_dist);

/* What happens to a job that is preempted. */
enum preempt_mode {
    PREEMPT_CLUSTER, /* as PreemptMode says for the cluster */
    PREEMPT_OFF,
    PREEMPT_CANCEL,
    PREEMPT_REQUEUE,
    PREEMPT_SUSPEND,
};
NAMES_DECLARE(preempt_mode);

/* Bits of --mail-type. */
enum mail_type {
    MAIL_BEGIN = 1,
    MAIL_END = 2,
    MAIL_FAIL = 4,
    MAIL_REQUEUE = 8,
    MAIL_TIME_LIMIT = 16,
    MAIL_TIME_90 = 32,
    MAIL_TIME_80 = 64,
    MAIL_TIME_50 = 128,
    MAIL_STAGE_OUT = 256,
    MAIL_ARRAY_TASKS = 512,
    MAIL_INVALID_DEPEND = 1024,
};
NAMES_DECLARE(mail_type);
/* "END,FAIL", "ALL", "NONE"; unknown words are passed over. False when there is no known one. */
bool mail_types_parse(const char *text, uint32_t *ret);

/* ---- steps ---- */
#define STEP_BATCH 0xfffffffbu
#define STEP_EXTERN 0xfffffffcu
#define STEP_INTERACTIVE 0xfffffffau
#define STEP_PENDING 0xfffffffdu
/* "0", "batch", "extern", "interactive", "TBD". */
void step_id_print(uint32_t step_id, struct str *out);
/* Back to the number, names in any case; false for what is no step, "TBD" among it. */
bool step_id_parse(const char *text, uint32_t *ret_step_id);

/* Signals: "KILL", "SIGKILL", "9" -> number. False when unknown. */
bool signal_number(const char *text, int *ret_signal);
const char *signal_name(int signal); /* "KILL"; NULL when unknown */

/* ---- accounting ---- */
enum admin_level { ADMIN_NONE, ADMIN_OPERATOR, ADMIN_ADMINISTRATOR };
NAMES_DECLARE(admin_level);

#define QOS_FLAG_TABLE(X)                                                                          \
    X(DENY_ON_LIMIT, 0, "DenyOnLimit")                                                             \
    X(ENFORCE_THRESHOLD, 1, "EnforceUsageThreshold")                                               \
    X(NO_RESERVE, 2, "NoReserve")                                                                  \
    X(PART_MAX_NODES, 3, "PartitionMaxNodes")                                                      \
    X(PART_MIN_NODES, 4, "PartitionMinNodes")                                                      \
    X(OVER_PART_QOS, 5, "OverPartQOS")                                                             \
    X(PART_TIME_LIMIT, 6, "PartitionTimeLimit")                                                    \
    X(REQ_RESV, 7, "RequiresReservation")                                                          \
    X(NO_DECAY, 8, "NoDecay")                                                                      \
    X(USAGE_FACTOR_SAFE, 9, "UsageFactorSafe")                                                     \
    X(RELATIVE, 10, "Relative")
enum qos_flag {
#define X(name, bit, text) QOS_FLAG_##name = 1u << (bit),
    QOS_FLAG_TABLE(X)
#undef X
};
NAMES_DECLARE(qos_flag);

#endif
