/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors as values. A function that can fail returns 0 or a negative `enum err` and, where it
 * takes a `struct error`, fills it with one sentence that names the object and the cure.
 * Out-parameters are untouched on failure. A caller either handles an error or passes it on
 * unchanged; error_prefix() adds context in front.
 *
 * The codes are a wire format: numbers are never reused. Their texts (error_text) are the strings
 * that scripts match ("Invalid partition name specified"); the sentence is for people.
 */
#ifndef SLUICE_BASE_ERROR_H
#define SLUICE_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

#define must_check __attribute__((warn_unused_result))
#define printf_like(fmt_index, first_arg) __attribute__((format(printf, fmt_index, first_arg)))

#define ERROR_TEXT_MAX 1024

/* X(NAME, number, text that commands print) */
#define ERR_TABLE(X)                                                                               \
    X(OK, 0, "No error")                                                                           \
    X(GENERIC, 1, "Unspecified error")                                                             \
    X(SYSTEM, 2, "System call failed")                                                             \
    X(INVALID, 3, "Invalid argument")                                                              \
    X(NOT_FOUND, 4, "No such object")                                                              \
    X(LIMIT, 5, "Limit exceeded")                                                                  \
    X(PROTOCOL, 6, "Malformed message")                                                            \
    X(VERSION, 7, "Incompatible version")                                                          \
    X(CONNECT, 8, "Unable to contact slurm controller (connect failure)")                          \
    X(AUTH, 9, "Protocol authentication error")                                                    \
    X(TIMEOUT, 10, "Socket timed out on send/recv operation")                                      \
    X(CLOSED, 11, "Zero Bytes were transmitted or received")                                       \
    X(BUSY, 12, "Resource temporarily unavailable")                                                \
    X(CONFIG, 13, "Unable to process configuration file")                                          \
    X(STORE, 14, "State storage failure")                                                          \
    X(EXISTS, 15, "Object already exists")                                                         \
    X(NOT_SUPPORTED, 16, "Requested operation not supported on this system")                       \
    X(CORRUPT, 17, "State storage is corrupt")                                                     \
    X(USER_ID, 100, "Invalid user id")                                                             \
    X(ACCESS_DENIED, 101, "Access/permission denied")                                              \
    X(INVALID_JOB_ID, 102, "Invalid job id specified")                                             \
    X(ALREADY_DONE, 103, "Job/step already completing or completed")                               \
    X(JOB_FINISHED, 104, "Job has already finished")                                               \
    X(JOB_NOT_PENDING, 105, "Job is no longer pending execution")                                  \
    X(JOB_PENDING, 106, "Job is pending execution")                                                \
    X(JOB_HELD, 107, "Job is in held state, pending scheduler release")                            \
    X(DISABLED, 108, "Requested operation is presently disabled")                                  \
    X(BATCH_ONLY, 109, "Only batch jobs are accepted or processed")                                \
    X(INVALID_PARTITION, 110, "Invalid partition name specified")                                  \
    X(NO_PARTITION, 111, "No partition specified or system default partition")                     \
    X(INVALID_ACCOUNT, 112, "Invalid account or account/partition combination specified")          \
    X(INVALID_QOS, 113, "Invalid qos specification")                                               \
    X(INVALID_FEATURE, 114, "Invalid feature specification")                                       \
    X(INVALID_NODE, 115, "Invalid node name specified")                                            \
    X(NODES_NOT_IN_PARTITION, 116, "Requested nodes not in this partition")                        \
    X(NODE_COUNT, 117, "Node count specification invalid")                                         \
    X(TOO_MANY_CPUS, 118, "More processors requested than permitted")                              \
    X(NODE_CONFIG, 119, "Requested node configuration is not available")                           \
    X(PARTITION_CONFIG, 120, "Requested partition configuration not available now")                \
    X(NODE_NOT_AVAIL, 121, "Required node not available (down, drained or reserved)")              \
    X(NODES_BUSY, 122, "Requested nodes are busy")                                                 \
    X(TIME_LIMIT, 123, "Requested time limit is invalid (missing or exceeds some limit)")          \
    X(TIME_MIN, 124, "Invalid time-min specification (exceeds job's time or other limits)")        \
    X(DEPENDENCY, 125, "Job dependency problem")                                                   \
    X(INVALID_ARRAY, 126, "Invalid job array specification")                                       \
    X(INVALID_LICENSE, 127, "Invalid license specification")                                       \
    X(INVALID_GRES, 128, "Invalid generic resource (gres) specification")                          \
    X(INVALID_RESERVATION, 129, "Requested reservation is invalid")                                \
    X(RESERVATION_ACCESS, 130, "Access denied to requested reservation")                           \
    X(RESERVATION_NOT_USABLE, 131, "Requested reservation not usable now")                         \
    X(POLICY, 132,                                                                                 \
      "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)")     \
    X(GROUP, 133, "User's group not permitted to use this partition")                              \
    X(NICE, 134, "Invalid --nice value")                                                           \
    X(PARTITION_AVAIL, 135, "Required partition not available (inactive or drain)")                \
    X(JOB_COUNT, 136, "MaxJobCount limit reached")                                                 \
    X(CPU_COUNT, 137, "CPU count specification invalid")                                           \
    X(TASK_MEMORY, 138, "Memory required by task is not available")                                \
    X(INVALID_WCKEY, 139, "Invalid wckey specification")                                           \
    X(GRES_MIXED, 140, "Invalid GRES specification (with and without type identification)")        \
    X(NODE_STATE, 141, "Invalid node state transition")                                            \
    X(STEP_NOT_FOUND, 142, "Invalid job step id specified")                                        \
    X(JOB_SCRIPT_MISSING, 143, "Job script not available")                                         \
    X(SCRIPT_TOO_LARGE, 144, "Job script exceeds the size limit")                                  \
    X(DUPLICATE_JOB_ID, 145, "Duplicate job id")                                                   \
    X(ACCOUNTING_DISABLED, 146, "Slurm accounting storage is disabled")                            \
    X(STALE, 147, "The object has changed in the meantime")                                        \
    X(JOB_EXPIRED, 148, "Job credential expired")                                                  \
    X(DISK_FULL, 149, "No space left on the controller's state storage")                           \
    X(DEADLINE, 150, "Requested time limit is invalid (missing or exceeds some limit)")            \
    X(BURST_BUFFER, 151, "Burst buffer request invalid")                                           \
    X(NOT_RUNNING, 152, "Job is not running")                                                      \
    X(UPDATE_KEY, 153, "Update of this parameter is not supported")                                \
    X(PARTITION_IN_USE, 154, "Partition is in use")                                                \
    X(NOT_SUSPENDED, 155, "Job is not suspended")                                                  \
    X(CPU_BIND, 160, "Unable to satisfy cpu bind request")                                         \
    X(RESERVATION_OVERLAP, 170, "Requested reservation overlaps with another reservation")         \
    X(RESERVATION_DUPLICATE, 171, "Duplicate reservation name")                                    \
    X(RESERVATION_IN_USE, 172, "Requested reservation is in use")                                  \
    X(RESERVATION_EMPTY, 173, "Reservation request lacks users, groups or accounts")               \
    X(INVALID_TIME, 174, "Invalid time specified")                                                 \
    X(CRON_CANCEL, 175, "Cannot cancel scrontab jobs without --cron flag.")                        \
    X(CRON_UPDATE, 176, "Cannot modify scrontab jobs through scontrol")                            \
    X(TRIGGER_DUPLICATE, 177, "Duplicate event trigger")                                           \
    X(TRIGGER_UNKNOWN, 178, "No such process")                                                     \
    X(PROLOG, 180, "Job prolog failed")                                                            \
    X(HET_COMPONENT, 190, "Operation not permitted on individual component of heterogeneous job")  \
    X(HET_LEADER, 191, "Job not heterogeneous job leader")                                         \
    X(ACTIVE_FEATURES, 232, "Active features not subset of available features")                    \
    X(GROUP_ID, 233, "Invalid group id")

enum err {
#define X(name, number, text) ERR_##name = number,
    ERR_TABLE(X)
#undef X
};

struct error {
    int code; /* negative enum err, 0 = no error */
    char text[ERROR_TEXT_MAX];
};

#define ERROR_INIT                                                                                 \
    { 0 }

/* Sets *err (may be NULL) and returns -code: `return error_set(err, ERR_X, "...")`. */
int error_set(struct error *err, enum err code, const char *fmt, ...) printf_like(3, 4);
/* As error_set with ": " and strerror(errnum) appended; code is ERR_SYSTEM unless given. */
int error_errno(struct error *err, int errnum, const char *fmt, ...) printf_like(3, 4);
/* Puts text in front of the sentence; returns err->code for `return error_prefix(...)`. */
int error_prefix(struct error *err, const char *fmt, ...) printf_like(2, 3);
/* Table text for a code (positive or negative); never NULL. */
const char *error_text(int code);

/* Lets compilers and analysers see that an error is never 0: without it each `if (r < 0) return r;`
 * behind a call leaves them a path on which nothing failed and nothing was set. */
static inline int error_negative(int code) {
    return code < 0 ? code : -ERR_GENERIC;
}
#define error_set(err, code, ...) error_negative(error_set(err, code, __VA_ARGS__))
#define error_errno(err, errnum, ...) error_negative(error_errno(err, errnum, __VA_ARGS__))

#endif
