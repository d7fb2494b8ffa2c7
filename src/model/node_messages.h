/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller and its nodes tell each other, on the standing connection that slurmd dials.
 * The rows stand in messages.h.
 */
#ifndef SLUICE_MODEL_NODE_MESSAGES_H
#define SLUICE_MODEL_NODE_MESSAGES_H

#include "model/job.h"
#include "model/node.h"
#include "schema/schema.h"

/* ---- the node itself ---- */
/* step_id UNSET32: the node has made ready for the job, or is about to, or still cleans up. */
#define NODE_STEP_FIELDS(X)                                                                        \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, step_id, 0)                                                                          \
    X(3, U32, attempt, 0)                                                                          \
    X(4, BOOL, ended, 0) /* exit status known, not yet acknowledged */                             \
    X(5, U32, exit_status, 0)                                                                      \
    X(8, BOOL, waits, 0) /* not started: the node is still making ready for the job */
RECORD_DECLARE(node_step, NODE_STEP_FIELDS)
/* Where a device of a node is. */
#define GRES_PLACE_FIELDS(X)                                                                       \
    X(1, STR, name, 0)                                                                             \
    X(2, U32, index, 0) /* as in (IDX:…) */                                                      \
    X(3, STR, cores, 0) /* near it, "0-7"; NULL = unknown */                                       \
    X(4, STR, links, 0) /* "-1,12,0", as in gres.conf */
RECORD_DECLARE(gres_place, GRES_PLACE_FIELDS)
#define NODE_REGISTER_FIELDS(X)                                                                    \
    X(1, STR, name, 0)                                                                             \
    X(2, STR, version, 0)                                                                          \
    X(3, REC, node,                                                                                \
      node) /* what the hardware has: cpus sockets cores threads memory tmp_disk os                \
               arch boot_time boot_id slurmd_start_time gres cpu_load free_mem port */             \
    X(4, RECS, steps, node_step) /* what runs here */                                              \
    X(5, U64, conf_hash, 0)                                                                        \
    X(6, STR, problem, 0)          /* why this node cannot serve (health), NULL = fine */          \
    X(7, RECS, places, gres_place) /* of devices of which the node knows more than gres.conf */
RECORD_DECLARE(node_register, NODE_REGISTER_FIELDS)
#define NODE_WELCOME_FIELDS(X)                                                                     \
    X(1, BOOL, accepted, 0)                                                                        \
    X(2, STR, text, 0)          /* why not, or a warning */                                        \
    X(3, U32, heartbeat, 0)     /* seconds between node_status messages */                         \
    X(4, RECS, kill, node_step) /* steps that must not run: end them */                            \
    X(5, U32, kill_wait, 0)
RECORD_DECLARE(node_welcome, NODE_WELCOME_FIELDS)
/* A process on a GPU that belongs to no job. */
#define GPU_STRAY_FIELDS(X)                                                                        \
    X(1, U32, pid, 0)                                                                              \
    X(2, U32, uid, 0)                                                                              \
    X(3, STR, user, 0)                                                                             \
    X(4, STR, command, 0)                                                                          \
    X(5, OPT64, memory, 0) /* MiB */
RECORD_DECLARE(gpu_stray, GPU_STRAY_FIELDS)
/* What a card does, as far as the vendor's library tells. Ages and not times, because clocks of
 * nodes differ. */
#define GPU_STATUS_FIELDS(X)                                                                       \
    X(1, U32, index, 0)        /* as in (IDX:…) */                                               \
    X(2, OPT32, use, 0)        /* percent, mean of the last 15 minutes */                          \
    X(3, OPT32, use_now, 0)    /* percent */                                                       \
    X(4, OPT64, memory, 0)     /* MiB in use */                                                    \
    X(5, U64, memory_total, 0) /* MiB */                                                           \
    X(6, OPT32, idle, 0)       /* seconds since it was last seen at work; unset: never seen so */  \
    X(7, U32, watched, 0)      /* seconds since slurmd began to look */                            \
    X(8, STR, product, 0)                                                                          \
    X(9, STR, uuid, 0)                                                                             \
    X(10, STR, problem, 0) /* the last critical error, NULL = none */                              \
    X(11, RECS, strays, gpu_stray)
RECORD_DECLARE(gpu_status, GPU_STATUS_FIELDS)
/* Also the heartbeat; answers MSG_NODE_PING. */
#define NODE_STATUS_FIELDS(X)                                                                      \
    X(1, OPT32, cpu_load, 0)                                                                       \
    X(2, OPT64, free_mem, 0)                                                                       \
    X(3, STR, problem, 0)        /* what its checks find wrong now, parts joined by "; " */        \
    X(4, RECS, gpus, gpu_status) /* empty where no library tells of them */                        \
    X(5, BOOL, checked, 0)       /* they have just been made, as NODE_CHECK asked */
RECORD_DECLARE(node_status, NODE_STATUS_FIELDS)
/* Controller -> node: look what is wrong. */
#define NODE_CHECK_FIELDS(X)                                                                       \
    X(1, BOOL, now, 0)     /* make the built-in checks at once, answer with NODE_STATUS */         \
    X(2, BOOL, program, 0) /* run HealthCheckProgram */
RECORD_DECLARE(node_check, NODE_CHECK_FIELDS)
/* ---- jobs and steps on it ---- */
/* Batch launch. The credential of a batch script is the controller's authenticated connection. */
#define LAUNCH_FIELDS(X)                                                                           \
    X(1, REC, job, job) /* allocation included; script and environment set */                      \
    X(2, U32, attempt, 0)                                                                          \
    X(3, STR, job_cpus_per_node, 0)                                                                \
    X(4, STR, tasks_per_node, 0)                                                                   \
    X(5, U32, node_index, 0)                                                                       \
    X(6, RECS, components, job) /* of a heterogeneous job: all of them, in order, in brief */
RECORD_DECLARE(launch, LAUNCH_FIELDS)
/* Node -> controller: accepted or why not. */
#define LAUNCH_RESULT_FIELDS(X)                                                                    \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, step_id, 0)                                                                          \
    X(3, U32, attempt, 0)                                                                          \
    X(4, U32, code, 0) /* 0 = running */                                                           \
    X(5, STR, detail, 0)
RECORD_DECLARE(launch_result, LAUNCH_RESULT_FIELDS)
/* Node -> controller: a step has ended on this node; repeated until acknowledged. */
#define STEP_DONE_FIELDS(X)                                                                        \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, step_id, 0)                                                                          \
    X(3, U32, attempt, 0)                                                                          \
    X(4, U32, exit_status, 0) /* highest of its tasks here */                                      \
    X(5, REC, usage, usage)                                                                        \
    X(6, U32, code, 0) /* enum err when the step could not run as asked */                         \
    X(7, STR, detail, 0)                                                                           \
    X(8, I64, end_time, 0)                                                                         \
    X(9, BOOL, oom, 0)                                                                             \
    X(10, BOOL, output_failed, 0) /* stdout/stderr could not be opened: exit code 0:53 */          \
    X(11, BOOL, timed_out, 0)     /* the step's own time limit ended it */                         \
    X(16, BOOL, stuck, 0)         /* some process does not die, as detail says */
RECORD_DECLARE(step_done, STEP_DONE_FIELDS)
/* Controller -> node: acknowledges step_done / job_clean so that the node may forget. */
#define STEP_REF_FIELDS(X)                                                                         \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, step_id, 0)                                                                          \
    X(3, U32, attempt, 0)
RECORD_DECLARE(step_ref, STEP_REF_FIELDS)
/* Controller -> node: signal what runs of a job. step_id UNSET32 = the whole job. */
#define NODE_SIGNAL_FIELDS(X)                                                                      \
    X(1, U32, job_id, 0)                                                                           \
    X(2, OPT32, step_id, 0)                                                                        \
    X(3, U32, attempt, 0)                                                                          \
    X(4, U32, signal, 0)                                                                           \
    X(5, U32, flags, 0)   /* enum node_signal_flag */                                              \
    X(6, STR, message, 0) /* line for the job's stderr: "CANCELLED AT … DUE TO TIME LIMIT" */    \
    X(7, OPT32, time_limit, 0) /* instead of a signal: the step's new one, in minutes */
enum node_signal_flag {
    NODE_SIGNAL_BATCH = 1,      /* the batch shell too */
    NODE_SIGNAL_BATCH_ONLY = 2, /* only the batch shell */
    NODE_SIGNAL_GROUP = 4,      /* every process of the step, not only its tasks */
    NODE_SIGNAL_END = 8,        /* the step is to end: TERM, and after KillWait KILL */
};
RECORD_DECLARE(node_signal, NODE_SIGNAL_FIELDS)
/* Controller -> node: end the job here for good: TERM (with CONT), after kill_wait KILL, then
 * clean up and answer job_clean. kill_wait 0 = KILL now. Idempotent. */
#define JOB_TERMINATE_FIELDS(X)                                                                    \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, attempt, 0)                                                                          \
    X(3, U32, kill_wait, 0)                                                                        \
    X(4, STR, message, 0)                                                                          \
    X(5, U32, uid, 0)                                                                              \
    X(6, REC, job, job) /* as in job_prepare: what Epilog is told */                               \
    X(7, STR, cpus_per_node, 0)
RECORD_DECLARE(job_terminate, JOB_TERMINATE_FIELDS)
/* Controller -> node: a job has been given this node, which is to make ready for it (Prolog, the
 * extern step) and to answer JOB_PREPARED. Sent again when the answer may have been lost. */
#define JOB_PREPARE_FIELDS(X)                                                                      \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, attempt, 0)                                                                          \
    X(3, U32, uid, 0)                                                                              \
    X(4, REC, job, job) /* without script, environment and the allocation of other nodes */        \
    X(5, STR, cpus_per_node, 0)
RECORD_DECLARE(job_prepare, JOB_PREPARE_FIELDS)
/* Node -> controller: it is ready, or why it cannot be (ERR_PROLOG). */
#define JOB_PREPARED_FIELDS(X)                                                                     \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, attempt, 0)                                                                          \
    X(3, U32, code, 0)                                                                             \
    X(4, STR, detail, 0)
RECORD_DECLARE(job_prepared, JOB_PREPARED_FIELDS)
/* Node -> controller: nothing of this job is left here; its resources are free. */
#define JOB_CLEAN_FIELDS(X)                                                                        \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, attempt, 0)                                                                          \
    X(3, STR, problem, 0) /* "Kill task failed": what is stuck */
RECORD_DECLARE(job_clean, JOB_CLEAN_FIELDS)

#endif
