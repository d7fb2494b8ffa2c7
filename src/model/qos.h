/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Qualities of service: what a job may name with --qos, and what follows for whom it may preempt
 * and who may preempt it. Limits and usage factors join this record with accounting.
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
    X(7, OPT32, exempt_time, 0) /* seconds; unset: PreemptExemptTime */
RECORD_DECLARE(qos, QOS_FIELDS)

#endif
