/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What slurmd and its slurmstepds say to each other: records in wire encoding, in the frames of
 * os/frame.h, over a Unix socket. The first two bytes of a frame (little endian) are an enum
 * step_frame, the rest is that record.
 *
 *   slurmd      → slurmstepd   STEP_ORDER once, first, over the inherited socket; STEP_COMMAND;
 *                              STEP_WATCHER with the connection of an sattach
 *   slurmstepd  → slurmd       STEP_REPORT: at every change, and first on every new connection
 *
 * A slurmstepd listens on its own socket too (SlurmdSpoolDir/step/JOB.STEP.ATTEMPT), where a
 * restarted slurmd finds it. It keeps its result until STEP_COMMAND_FORGET.
 */
#ifndef SLUICE_AGENT_STEP_WIRE_H
#define SLUICE_AGENT_STEP_WIRE_H

#include "agent/cpu_map.h"
#include "model/messages.h"
#include "schema/schema.h"

#define STEP_ORDER_FD 3 /* the inherited socket, in a slurmstepd */
/* Bytes of a frame: an order carries the body of a launch, which may fill a message of rpc/rpc.h.
 */
#define STEP_FRAME_MAX (65u << 20)

enum step_frame {
    STEP_FRAME_ORDER = 1,
    STEP_FRAME_COMMAND = 2,
    STEP_FRAME_REPORT = 3,
    STEP_FRAME_WATCHER = 4,
};

/* What a job or a step may use of this node, in the machine's own terms. Unset = no limit. */
#define FENCE_FIELDS(X)                                                                            \
    X(1, STR, cpus, 0)     /* hardware threads, "0-3,8"; NULL = all */                             \
    X(2, OPT64, memory, 0) /* bytes */                                                             \
    X(3, OPT64, swap, 0)   /* bytes, on top of memory */                                           \
    X(4, OPT64, swappiness, 0)                                                                     \
    X(5, OPT64, pids, 0)                                                                           \
    X(6, STRS, devices, 0) /* that are denied: "c 195:0" */
RECORD_DECLARE(fence, FENCE_FIELDS)

/* The descriptor of srun's connection travels with the frame that carries the order. */
#define STEP_ORDER_FIELDS(X)                                                                       \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, step_id, 0)                                                                          \
    X(3, U32, attempt, 0)                                                                          \
    X(4, U32, uid, 0)                                                                              \
    X(5, U32, gid, 0)                                                                              \
    X(6, U32S, groups, 0) /* supplementary, already looked up */                                   \
    X(7, STR, user_name, 0)                                                                        \
    X(8, STR, home, 0)                                                                             \
    X(9, STR, shell, 0)                                                                            \
    X(10, STR, node_name, 0)                                                                       \
    X(11, STR, cluster, 0)                                                                         \
    X(12, STR, spool_dir, 0)                                                                       \
    X(13, BLOB, launch, 0)                  /* body of MSG_LAUNCH: a batch script */               \
    X(14, BLOB, step_launch, 0)             /* body of MSG_STEP_LAUNCH: a step of srun */          \
    X(15, REC, credential, step_credential) /* of that step, verified */                           \
    X(16, BLOB, channel, 0)                 /* exported state of srun's connection */              \
    X(17, U32, kill_wait, 0)                /* seconds, when a step must end on its own account */ \
    X(18, U32, unkillable_seconds, 0)                                                              \
    X(19, STR, conf_path, 0)                                                                       \
    X(20, U32S, gpu_numbers, 0)    /* by GPU index here: number of its device file */              \
    X(21, BOOL, devices_fenced, 0) /* the job sees only its own devices, numbered from 0 */        \
    X(22, BOOL, use_cgroup, 0)                                                                     \
    X(23, U32, log_level, 0)                                                                       \
    X(24, STR, task_prolog, 0)                                                                     \
    X(25, STR, task_epilog, 0)                                                                     \
    X(26, BOOL, append_output, 0) /* JobFileAppend */                                              \
    X(27, STR, log_file, 0)                                                                        \
    X(28, STR, cgroup, 0)            /* of this step: a path below the base of cgroup_tree */      \
    X(29, U32, gather_seconds, 0)    /* how often use is looked at; 0 = only when asked */         \
    X(30, OPT64, def_mem_per_cpu, 0) /* MiB: what a job that asked for nothing has got */          \
    X(31, OPT64, def_mem_per_node, 0)                                                              \
    X(32, STR, topology_addr, 0) /* "s3.s0.c01"; NULL: the node */                                 \
    X(33, STR, topology_pattern, 0)                                                                \
    X(34, REC, cpus, cpu_map)                                                                      \
    X(35, OPT32, gpu_env, 0) /* enum gpu_env: variables that name a program's GPUs; unset: all */  \
    X(36, U64, gather_params, 0) /* CONF_GATHER_..., JobAcctGatherParams */                        \
    X(37, BOOL, oom_kill_step, 0)                                                                  \
    X(40, STR, cgroup_tree, 0)  /* cgroup_tree_print(): where groups are made */                   \
    X(41, U32, cgroup_parts, 0) /* of each group: enum cgroup_part */                              \
    X(42, REC, job_fence, fence)                                                                   \
    X(43, REC, step_fence, fence)                                                                  \
    X(44, BOOL, signal_children, 0) /* SignalChildrenProcesses */                                  \
    X(45, STR, cpu_bind, 0)         /* by configuration; words of --cpu-bind */                    \
    X(46, STR, autobind, 0)         /* "threads", "cores", "sockets"; see slurmstepd/bind.h */     \
    X(47, STRS, gpu_cores, 0)       /* by GPU index here: cores near it, "0-7"; "" = unknown */    \
    X(59, STR, node_cpu_bind, 0) /* CpuBind of the node: counts for more than its partition's */   \
    X(60, BLOB, file_open, 0)    /* body of MSG_FILE_OPEN: no step, a file to be written */        \
    X(61, STR, munge_socket, 0)                                                                    \
    X(62, BOOL, x11, 0)        /* PrologFlags=X11 */                                               \
    X(70, STR, places, 0)      /* directory of the job's private ones; see slurmstepd/places.h */  \
    X(71, STRS, place_dirs, 0) /* which are private; the rest is for the extern step alone */      \
    X(72, BOOL, places_shared, 0)                                                                  \
    X(73, STR, places_init, 0)    /* InitScript, */                                                \
    X(74, STR, places_script, 0)  /* CloneNSScript */                                              \
    X(75, U32, propagate_prio, 0) /* PropagatePrioProcess */                                       \
    X(76, U32S, gpu_mps, 0)       /* by GPU index here: its shares of gres/mps */
RECORD_DECLARE(step_order, STEP_ORDER_FIELDS)

enum step_command_kind {
    STEP_COMMAND_SIGNAL = 1,    /* signal, flags (enum node_signal_flag), message */
    STEP_COMMAND_TERMINATE = 2, /* TERM and CONT, after kill_wait seconds KILL; message */
    STEP_COMMAND_FORGET = 3,    /* the result has arrived for good: exit */
    STEP_COMMAND_REPORT = 4,    /* send a report with usage */
    STEP_COMMAND_LIMIT = 5,     /* another time limit */
    STEP_COMMAND_ADOPT = 8,     /* extern step: pid; a report answers */
};
#define STEP_COMMAND_FIELDS(X)                                                                     \
    X(1, U32, kind, 0)                                                                             \
    X(2, U32, signal, 0)                                                                           \
    X(3, U32, flags, 0)                                                                            \
    X(4, U32, kill_wait, 0)                                                                        \
    X(5, STR, message, 0)                                                                          \
    X(6, OPT32, time_limit, 0) /* minutes since the step's start */                                \
    X(10, U32, pid, 0)
RECORD_DECLARE(step_command, STEP_COMMAND_FIELDS)

#define STEP_REPORT_FIELDS(X)                                                                      \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, step_id, 0)                                                                          \
    X(3, U32, attempt, 0)                                                                          \
    X(4, U32, uid, 0)                                                                              \
    X(5, U32, pid, 0)                                                                              \
    X(6, BOOL, running, 0)        /* its tasks have been started */                                \
    X(7, REC, done, step_done)    /* set once: it has ended and nothing of it is left */           \
    X(8, STR, stuck, 0)           /* what does not die of SIGKILL */                               \
    X(9, REC, usage, usage)       /* so far; only behind STEP_COMMAND_REPORT */                    \
    X(10, BOOL, by_controller, 0) /* a batch script: the launch is answered to the controller */   \
    X(11, U32S, pids, 0)          /* with usage: what runs here */                                 \
    X(20, U32, adopted, 0)        /* what STEP_COMMAND_ADOPT was about */                          \
    X(21, STR, refused, 0)        /* why it was not done */                                        \
    X(22, STR, places, 0)         /* of the job, as in step_order */
RECORD_DECLARE(step_report, STEP_REPORT_FIELDS)

/* The descriptor travels with the frame. */
#define STEP_WATCHER_FIELDS(X) X(1, BLOB, channel, 0) /* exported state of sattach's connection */
RECORD_DECLARE(step_watcher, STEP_WATCHER_FIELDS)

/* The few fields of MSG_LAUNCH that slurmd reads itself: the same numbers as in the full record, so
 * that a script and an environment pass through unlooked at. */
#define LAUNCH_HEAD_JOB_FIELDS(X)                                                                  \
    X(1, U32, job_id, 0)                                                                           \
    X(11, U32, uid, 0)                                                                             \
    X(12, U32, gid, 0)                                                                             \
    X(13, STR, user_name, 0)                                                                       \
    X(30, RECS, allocation, job_node)                                                              \
    X(102, STR, partition, 0)
RECORD_DECLARE(launch_head_job, LAUNCH_HEAD_JOB_FIELDS)
#define LAUNCH_HEAD_FIELDS(X)                                                                      \
    X(1, REC, job, launch_head_job)                                                                \
    X(2, U32, attempt, 0)
RECORD_DECLARE(launch_head, LAUNCH_HEAD_FIELDS)

/* Appends a frame's content. */
void step_frame_encode(enum step_frame type, const struct record *record, const void *object,
                       struct str *out);
/* Decodes into one of the records by the type that the frame carries: *ret_type tells which
 * member of *ret was filled; memory is the arena's. */
struct step_frame_any {
    struct step_order order;
    struct step_command command;
    struct step_report report;
    struct step_watcher watcher;
};
must_check int step_frame_decode(struct bytes content, struct arena *arena,
                                 enum step_frame *ret_type, struct step_frame_any *ret,
                                 struct error *err);
/* "12.batch.1": the name of a step's socket; and back. */
void step_socket_name(uint32_t job_id, uint32_t step_id, uint32_t attempt, struct str *out);
bool step_socket_parse(const char *name, uint32_t *ret_job_id, uint32_t *ret_step_id,
                       uint32_t *ret_attempt);

#endif
