/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What slurmctld and the process that runs job_submit.lua say to each other, over a socket pair, in
 * frames (os/frame.h) whose first byte is an enum filter_frame. Both are the same program of the
 * same build: these numbers may change.
 *
 *   controller                              filter process
 *   FILTER_PARTITIONS (any number)    →     pieces of a partition_list
 *   FILTER_CALL                       →     runs the script
 *                                     ←     FILTER_ASK_JOBS, FILTER_ASK_RESERVATIONS
 *   FILTER_PIECE…, FILTER_LAST        →     pieces of a job_list, reservation_list
 *                                     ←     FILTER_ANSWER
 */
#ifndef SLUICE_LUA_FILTER_WIRE_H
#define SLUICE_LUA_FILTER_WIRE_H

#include "model/messages.h"

enum filter_frame {
    FILTER_PARTITIONS = 1,
    FILTER_CALL,
    FILTER_ASK_JOBS,
    FILTER_ASK_RESERVATIONS,
    FILTER_PIECE,
    FILTER_LAST,
    FILTER_ANSWER,
};
#define FILTER_FRAME_MAX (96u << 20) /* bytes: a submission's 64 MiB and what comes with it */

#define FILTER_CALL_FIELDS(X)                                                                      \
    X(1, BOOL, modify, 0)                                                                          \
    X(2, U32, uid, 0) /* who asks */                                                               \
    X(3, U32, gid, 0)                                                                              \
    X(4, STR, user_name, 0)                                                                        \
    X(5, REC, job, job_request)    /* a submission */                                              \
    X(6, REC, record, job)         /* the job that is to be changed ... */                         \
    X(7, RECS, changes, key_value) /* ... and how */
RECORD_DECLARE(filter_call, FILTER_CALL_FIELDS)

#define FILTER_LINE_FIELDS(X)                                                                      \
    X(1, I32, level, 0) /* as lua_box_output has it */                                             \
    X(2, STR, text, 0)
RECORD_DECLARE(filter_line, FILTER_LINE_FIELDS)

#define FILTER_ANSWER_FIELDS(X)                                                                    \
    X(1, U32, code, 0) /* enum err with which the script refuses, 0 = go on */                     \
    X(2, ENUM, problem, filter_problem)                                                            \
    X(3, STR, detail, 0) /* the problem in a sentence, with file and line */                       \
    X(4, STRS, told, 0)  /* log_user */                                                            \
    X(5, RECS, lines, filter_line)                                                                 \
    X(6, REC, job, job_request)    /* as the script has left it */                                 \
    X(7, RECS, changes, key_value) /* of a modification */
enum filter_problem {
    FILTER_FINE,
    FILTER_FAILED, /* the script has an error */
    FILTER_LIMIT,  /* it was ended for its time or its memory */
    FILTER_ABSENT, /* there is no script that could be run */
};
NAMES_DECLARE(filter_problem);
RECORD_DECLARE(filter_answer, FILTER_ANSWER_FIELDS)

#endif
