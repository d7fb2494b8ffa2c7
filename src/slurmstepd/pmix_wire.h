/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between slurmstepd and the process that runs the PMIx server library for it (pmix_server.c), over
 * an inherited socket: frames of os/frame.h, whose first byte is an enum pmix_frame and the rest a
 * record in wire encoding.
 *
 * A process of its own, as the user: the library has threads, allocates as its clients wish and is
 * linked dynamically, and slurmstepd is none of that.
 */
#ifndef SLUICE_SLURMSTEPD_PMIX_WIRE_H
#define SLUICE_SLURMSTEPD_PMIX_WIRE_H

#include "model/messages.h"

#define PMIX_FRAME_BYTES_MAX (65u << 20)

enum pmix_frame {
    PMIX_FRAME_SETUP = 1,    /* slurmstepd → server, once: pmix_setup */
    PMIX_FRAME_READY = 2,    /* server → slurmstepd, once: pmix_ready */
    PMIX_FRAME_EXCHANGE = 3, /* both: step_exchange, to the servers of other nodes and from there */
};

#define PMIX_SETUP_FIELDS(X)                                                                       \
    X(1, STR, nspace, 0)                                                                           \
    X(2, U32, uid, 0)                                                                              \
    X(3, U32, gid, 0)                                                                              \
    X(4, REC, layout, step_layout)                                                                 \
    X(5, U32, node_index, 0)                                                                       \
    X(6, STR, directory, 0) /* the user's, for sockets and shared memory */                        \
    X(7, STR, job, 0)
RECORD_DECLARE(pmix_setup, PMIX_SETUP_FIELDS)
#define PMIX_TASK_FIELDS(X) X(1, STRS, variables, 0) /* "NAME=value", more than all tasks have */
RECORD_DECLARE(pmix_task, PMIX_TASK_FIELDS)
#define PMIX_READY_FIELDS(X)                                                                       \
    X(1, RECS, tasks, pmix_task) /* by local id */                                                 \
    X(2, STR, problem, 0)        /* it cannot serve */
RECORD_DECLARE(pmix_ready, PMIX_READY_FIELDS)

#endif
