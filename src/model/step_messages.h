/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step as srun and the nodes see it: where it is, what allows it, and what srun, sattach, sstat
 * and sbcast say to slurmd and slurmstepd. The rows stand in messages.h.
 */
#ifndef SLUICE_MODEL_STEP_MESSAGES_H
#define SLUICE_MODEL_STEP_MESSAGES_H

#include "model/job.h"
#include "schema/schema.h"

/* ---- where it is, and what allows it ---- */
/* One node of a step. */
#define STEP_NODE_FIELDS(X)                                                                        \
    X(1, STR, name, 0)                                                                             \
    X(2, STR, address, 0) /* where its slurmd listens */                                           \
    X(3, U32, port, 0)                                                                             \
    X(4, U32S, ranks, 0)                                                                           \
    X(5, U32, cpus, 0)                                                                             \
    X(6, STR, cores, 0)                                                                            \
    X(7, STR, gres, 0)                                                                             \
    X(8, U64, mem, 0)                                                                              \
    X(9, U32, job_cpus, 0) /* of the whole job on this node, as the three that follow */           \
    X(10, STR, job_cores, 0)                                                                       \
    X(11, STR, job_gres, 0)                                                                        \
    X(12, U64, job_mem, 0)
RECORD_DECLARE(step_node, STEP_NODE_FIELDS)
/* `credential`: a MUNGE credential only slurmd's user can read; its payload is a step_credential.
 */
#define STEP_LAYOUT_FIELDS(X)                                                                      \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, step_id, 0)                                                                          \
    X(3, U32, attempt, 0)                                                                          \
    X(4, RECS, nodes, step_node)                                                                   \
    X(5, U32, ntasks, 0)                                                                           \
    X(6, U32, cpus_per_task, 0)                                                                    \
    X(7, STR, credential, 0)                                                                       \
    X(8, STR, nodelist, 0)                                                                         \
    X(9, ENUM, distribution, task_dist)                                                            \
    X(10, STR, job_nodelist, 0)                                                                    \
    X(11, STR, job_cpus_per_node, 0) /* counted list */                                            \
    X(12, STR, job_name, 0)                                                                        \
    X(13, U32, kill_wait, 0) /* seconds */                                                         \
    X(14, STR, partition, 0)                                                                       \
    X(15, STR, cluster, 0)                                                                         \
    X(16, STR, user_name, 0)                                                                       \
    X(17, STR, tasks_per_node, 0)                                                                  \
    X(18, U32, job_num_nodes, 0)                                                                   \
    X(19, STR, account, 0)                                                                         \
    X(20, STR, qos, 0)                                                                             \
    X(21, U32, restarts, 0)                                                                        \
    X(22, U32, array_job_id, 0)                                                                    \
    X(23, OPT32, array_task_id, 0)                                                                 \
    X(24, I64, job_start_time, 0)                                                                  \
    X(25, I64, job_end_time, 0)                                                                    \
    X(26, STR, cpu_bind, 0)   /* CpuBind of the partition */                                       \
    X(27, U32, het_job_id, 0) /* its first component's id, by which tasks know the job; 0 */
RECORD_DECLARE(step_layout, STEP_LAYOUT_FIELDS)

/* What slurmd may launch, and nothing beyond it. */
#define STEP_CREDENTIAL_FIELDS(X)                                                                  \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, step_id, 0)                                                                          \
    X(3, U32, attempt, 0)                                                                          \
    X(4, U32, uid, 0)                                                                              \
    X(5, U32, gid, 0)                                                                              \
    X(6, RECS, nodes, step_node)                                                                   \
    X(7, I64, expires, 0)                                                                          \
    X(8, STR, user_name, 0)                                                                        \
    X(9, U32, ntasks, 0)                                                                           \
    X(10, STR, job_nodelist, 0)                                                                    \
    X(11, STR, job_gres, 0)                                                                        \
    X(12, U32, cpus_per_task, 0)                                                                   \
    X(13, OPT32, time_limit, 0)                                                                    \
    X(20, BOOL, files, 0) /* to write files as the user; it starts nothing */                      \
    X(30, REC, job, job)  /* as in job_prepare, for a node that has not prepared for it yet */
RECORD_DECLARE(step_credential, STEP_CREDENTIAL_FIELDS)

/* ---- srun -> slurmd (handed on to slurmstepd) ---- */
#define STEP_LAUNCH_FIELDS(X)                                                                      \
    X(1, STR, credential, 0)                                                                       \
    X(2, STR, node_name, 0) /* which of the layout's nodes is meant */                             \
    X(3, STRS, argv, 0)                                                                            \
    X(4, BLOB, environment, 0)                                                                     \
    X(5, STR, work_dir, 0)                                                                         \
    X(6, STR, std_out, 0) /* NULL = stream to srun; "none"; "all"; patterns expand per task */     \
    X(7, STR, std_err, 0) /* NULL = as std_out's mode; separate stream */                          \
    X(8, STR, std_in, 0)  /* NULL or "all" = from srun to all; "none"; "<rank>"; a file */         \
    X(9, ENUM, open_mode, open_mode)                                                               \
    X(10, BOOL, pty, 0)                                                                            \
    X(11, U32, pty_rows, 0)                                                                        \
    X(12, U32, pty_cols, 0)                                                                        \
    X(13, BOOL, unbuffered, 0)                                                                     \
    X(14, BOOL, label, 0)                                                                          \
    X(15, RECS, rlimits, rlimit_value)                                                             \
    X(16, U32, umask, 0)                                                                           \
    X(17, STR, cpu_bind, 0)                                                                        \
    X(18, BLOB, multi_prog, 0) /* the configuration file's text */                                 \
    X(19, STR, task_prolog, 0)                                                                     \
    X(20, STR, task_epilog, 0)                                                                     \
    X(21, STR, mpi, 0)                                                                             \
    X(22, REC, layout, step_layout) /* without credential: shape for the environment */            \
    X(23, STR, std_err_mode, 0)                                                                    \
    X(24, BOOL, own_job, 0) /* the job is this step alone: its end is told by srun */              \
    X(25, STR, gpu_bind, 0) /* which GPUs a task sees, "per_task:1"; NULL = all of the step's */   \
    X(26, BOOL, preserve_env, 0) /* numbers of nodes and tasks in the environment stay */          \
    X(27, STR, acctg_freq, 0)                                                                      \
    /* what the binding of its tasks to CPUs depends on, as the options were written */            \
    X(28, STR, distribution, 0)                                                                    \
    X(29, STR, hint, 0)                                                                            \
    X(30, U32, threads_per_core, 0)                                                                \
    X(31, U32, ntasks_per_core, 0)                                                                 \
    X(32, U32, ntasks_per_socket, 0)                                                               \
    X(33, OPT32, oom_kill_step, 0) /* as in the job */                                             \
    X(34, STR, mem_bind, 0)                                                                        \
    /* of a step in several components: what the credential's first rank and node are in all of    \
       it, which is in the layout */                                                               \
    X(35, U32, first_rank, 0)                                                                      \
    X(36, U32, first_node, 0)                                                                      \
    X(40, BLOB, x11_cookie, 0) /* that tasks here shall use for X11; empty = no forwarding */
RECORD_DECLARE(step_launch, STEP_LAUNCH_FIELDS)
/* Streams of a step, both directions. */
#define STEP_IO_FIELDS(X)                                                                          \
    X(1, U32, rank, 0)                                                                             \
    X(2, U32, stream, 0) /* 0 stdin, 1 stdout, 2 stderr */                                         \
    X(3, BLOB, data, 0)                                                                            \
    X(4, BOOL, eof, 0)                                                                             \
    X(5, BOOL, all, 0)  /* stdin: to every task on this node */                                    \
    X(6, U64, taken, 0) /* slurmstepd, stream 0: stdin bytes that every task has taken so far */
RECORD_DECLARE(step_io, STEP_IO_FIELDS)
/* slurmstepd -> srun */
#define STEP_TASKS_FIELDS(X)                                                                       \
    X(1, STR, node_name, 0)                                                                        \
    X(2, U32S, ranks, 0)                                                                           \
    X(3, U32S, pids, 0)        /* started */                                                       \
    X(4, U32S, exit_status, 0) /* ended: one status per rank */                                    \
    X(5, U32, code, 0)         /* launch failed: enum err */                                       \
    X(6, STR, detail, 0)                                                                           \
    X(7, BOOL, oom, 0)
RECORD_DECLARE(step_tasks, STEP_TASKS_FIELDS)
/* sstat -> slurmd: what a step uses here at this moment; answers STEP_STAT_REPLY. For its owner and
 * administrators. */
#define STEP_STAT_FIELDS(X)                                                                        \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, step_id, 0)
RECORD_DECLARE(step_stat, STEP_STAT_FIELDS)
#define STEP_STAT_REPLY_FIELDS(X)                                                                  \
    X(1, REC, usage, usage)                                                                        \
    X(2, U32S, pids, 0)
RECORD_DECLARE(step_stat_reply, STEP_STAT_REPLY_FIELDS)

/* srun -> slurmstepd; back only with terminate: somebody has cancelled the step */
#define STEP_CONTROL_FIELDS(X)                                                                     \
    X(1, U32, signal, 0)                                                                           \
    X(2, U32, pty_rows, 0) /* window size when not 0 */                                            \
    X(3, U32, pty_cols, 0)                                                                         \
    X(4, BOOL, terminate, 0) /* end the step: KILL */                                              \
    X(5, STR, message, 0)
RECORD_DECLARE(step_control, STEP_CONTROL_FIELDS)

/* A program's connection to the X server at srun's end, both directions. slurmstepd begins with
 * `open`; each side ends with `close`, and sends no more than RELAY_WINDOW bytes (rpc/relay.h) that
 * the other has not taken. */
#define STEP_X11_FIELDS(X)                                                                         \
    X(1, U32, id, 0) /* of one slurmstepd */                                                       \
    X(2, BOOL, open, 0)                                                                            \
    X(3, BLOB, data, 0)                                                                            \
    X(4, BOOL, close, 0)                                                                           \
    X(5, U64, taken, 0) /* bytes that have been written so far; 0 = no news */
RECORD_DECLARE(step_x11, STEP_X11_FIELDS)

/* sattach -> slurmd: look at a step that runs. The slurmstepd answers STEP_STARTED, and sends what
 * it sends to srun from then on; STEP_IO with input is for its tasks. */
#define STEP_ATTACH_FIELDS(X)                                                                      \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, step_id, 0)
RECORD_DECLARE(step_attach, STEP_ATTACH_FIELDS)

/* slurmstepd <-> srun: what the MPI servers on the nodes of a step tell each other. Without `to`
 * each of `nodes` (none: all) sends one part under the same tag, and gets the parts of all. */
#define STEP_PART_FIELDS(X)                                                                        \
    X(1, U32, node, 0) /* index in the step */                                                     \
    X(2, BLOB, data, 0)
RECORD_DECLARE(step_part, STEP_PART_FIELDS)
#define STEP_EXCHANGE_FIELDS(X)                                                                    \
    X(1, STR, tag, 0)                                                                              \
    X(2, RECS, parts, step_part)                                                                   \
    X(3, U32S, nodes, 0)                                                                           \
    X(4, OPT32, to, 0)   /* for this node alone */                                                 \
    X(5, U32, from, 0)   /* then: whose it is */                                                   \
    X(6, BOOL, abort, 0) /* end the step */                                                        \
    X(7, STR, message, 0)
RECORD_DECLARE(step_exchange, STEP_EXCHANGE_FIELDS)

/* ---- sbcast, srun --bcast: a file to all nodes of a job ---- */
/* To the controller, which answers STEP_REPLY: the nodes with a credential for files. */
#define FILE_GRANT_FIELDS(X)                                                                       \
    X(1, STR, job, 0)       /* "12", "12_3" */                                                     \
    X(2, OPT32, step_id, 0) /* the nodes of this step only */
RECORD_DECLARE(file_grant, FILE_GRANT_FIELDS)
/* To slurmd, handed on to a process that writes as the user and passes on to `children`, which it
 * divides among at most `fanout` connections. */
#define FILE_OPEN_FIELDS(X)                                                                        \
    X(1, STR, credential, 0)                                                                       \
    X(2, STR, path, 0) /* absolute */                                                              \
    X(3, BOOL, force, 0)                                                                           \
    X(4, U32, mode, 0)                                                                             \
    X(5, I64, mtime, 0) /* seconds, with atime; 0 = now */                                         \
    X(6, I64, atime, 0)                                                                            \
    X(7, U32, fanout, 0)                                                                           \
    X(8, RECS, children, step_node)                                                                \
    X(9, U32, silence, 0) /* seconds without an answer, then a child is given up */
RECORD_DECLARE(file_open, FILE_OPEN_FIELDS)
#define FILE_DATA_FIELDS(X)                                                                        \
    X(1, BLOB, data, 0)                                                                            \
    X(2, U32, raw_size, 0) /* of data that zlib has compressed; 0 = as it is */                    \
    X(3, BOOL, last, 0)    /* the file is complete */
RECORD_DECLARE(file_data, FILE_DATA_FIELDS)
#define FILE_FAILURE_FIELDS(X)                                                                     \
    X(1, STR, node, 0)                                                                             \
    X(2, U32, number, 0) /* errno */                                                               \
    X(3, STR, text, 0)
RECORD_DECLARE(file_failure, FILE_FAILURE_FIELDS)
/* Back, twice: when all below are ready for data, and when all have ended. */
#define FILE_RESULT_FIELDS(X)                                                                      \
    X(1, BOOL, over, 0)                                                                            \
    X(2, RECS, failures, file_failure) /* since the last one */
RECORD_DECLARE(file_result, FILE_RESULT_FIELDS)

#endif
