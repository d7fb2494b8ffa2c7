/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job record. JOB_REQUEST_FIELDS is what a user asks for and is shared by `struct job_request`
 * (submission) and `struct job` (the controller's record); JOB_STATE_FIELDS is what the controller
 * adds. Request numbers start at 100 so that the two never collide.
 *
 * Units: memory MiB, time limits minutes, points in time seconds since the epoch, CPUs are the
 * schedulable units of slurm.conf (hardware threads unless configured as cores).
 * 0 or NULL means "not asked" unless the type is OPT32/OPT64.
 */
#ifndef SLUICE_MODEL_JOB_H
#define SLUICE_MODEL_JOB_H

#include "model/enums.h"
#include "schema/schema.h"

/* One resource limit to propagate: RLIMIT_* number, soft value (UINT64_MAX = unlimited). */
#define RLIMIT_FIELDS(X)                                                                           \
    X(1, U32, resource, 0)                                                                         \
    X(2, U64, soft, 0)
RECORD_DECLARE(rlimit_value, RLIMIT_FIELDS)

#define JOB_REQUEST_FIELDS(X)                                                                      \
    /* identity, queue, time */                                                                    \
    X(100, STR, name, 0)                                                                           \
    X(101, STR, account, 0)                                                                        \
    X(102, STR, partition, 0) /* comma list while pending, the chosen one once started */          \
    X(103, STR, qos, 0)                                                                            \
    X(104, STR, reservation, 0)                                                                    \
    X(105, OPT32, time_limit, 0) /* minutes; MINUTES_INFINITE */                                   \
    X(106, OPT32, time_min, 0)                                                                     \
    X(107, I64, begin_time, 0)                                                                     \
    X(108, I64, deadline, 0)                                                                       \
    X(109, STR, dependency, 0)                                                                     \
    X(110, BOOL, hold, 0)                                                                          \
    X(111, I32, nice, 0)                                                                           \
    X(112, OPT32, requested_priority, 0)                                                           \
    X(113, ENUM, requeue, tristate)                                                                \
    X(114, STR, comment, 0)                                                                        \
    X(115, STR, wckey, 0)                                                                          \
    X(116, STR, licenses, 0)                                                                       \
    X(117, STR, array_spec, 0)                                                                     \
    X(118, U32, mail_type, 0)                                                                      \
    X(119, STR, mail_user, 0)                                                                      \
    X(120, ENUM, kill_on_invalid_dep, tristate)                                                    \
    X(121, OPT32, immediate, 0) /* seconds to wait at most */                                      \
    X(122, STR, clusters, 0)                                                                       \
    X(123, STR, extra, 0)                                                                          \
    X(124, STR, mcs_label, 0)                                                                      \
    /* sizes */                                                                                    \
    X(130, U32, min_nodes, 0)                                                                      \
    X(131, U32, max_nodes, 0)                                                                      \
    X(132, STR, node_counts, 0) /* --nodes=1,5,9 or 1-15:4, else NULL */                           \
    X(133, U32, ntasks, 0)                                                                         \
    X(134, U32, ntasks_per_node, 0)                                                                \
    X(135, U32, ntasks_per_socket, 0)                                                              \
    X(136, U32, ntasks_per_core, 0)                                                                \
    X(137, U32, ntasks_per_gpu, 0)                                                                 \
    X(138, U32, cpus_per_task, 0)                                                                  \
    X(139, U32, cpus_per_gpu, 0)                                                                   \
    X(140, U32, min_cpus_per_node, 0)                                                              \
    X(141, OPT64, mem_per_node, 0) /* 0 = all of the node */                                       \
    X(142, OPT64, mem_per_cpu, 0)                                                                  \
    X(143, OPT64, mem_per_gpu, 0)                                                                  \
    X(144, U64, tmp_disk, 0)                                                                       \
    X(145, STR, tres_per_node,                                                                     \
      0) /* "gres/gpu:a100:2,gres/shard:1"; from --gres, --gpus-per-node */                        \
    X(146, STR, tres_per_job, 0)    /* from --gpus */                                              \
    X(147, STR, tres_per_task, 0)   /* from --gpus-per-task, --tres-per-task */                    \
    X(148, STR, tres_per_socket, 0) /* from --gpus-per-socket */                                   \
    X(149, STR, gres_flags, 0)                                                                     \
    X(150, ENUM, exclusive, exclusive)                                                             \
    X(151, ENUM, oversubscribe, oversubscribe)                                                     \
    X(152, BOOL, overcommit, 0)                                                                    \
    X(153, OPT32, core_spec, 0)                                                                    \
    X(154, OPT32, thread_spec, 0)                                                                  \
    /* node choice and layout */                                                                   \
    X(160, STR, req_nodes, 0)                                                                      \
    X(161, STR, exc_nodes, 0)                                                                      \
    X(162, STR, features, 0)                                                                       \
    X(163, STR, prefer, 0)                                                                         \
    X(164, STR, batch_features, 0)                                                                 \
    X(165, BOOL, contiguous, 0)                                                                    \
    X(166, ENUM, distribution, task_dist)                                                          \
    X(167, U32, plane_size, 0)                                                                     \
    X(168, STR, distribution_text, 0) /* as given, for the environment */                          \
    X(169, U32, sockets_per_node, 0)                                                               \
    X(170, U32, cores_per_socket, 0)                                                               \
    X(171, U32, threads_per_core, 0)                                                               \
    X(172, STR, hint, 0)                                                                           \
    X(173, STR, switches, 0)                                                                       \
    X(174, STR, cpu_bind, 0)                                                                       \
    X(175, STR, mem_bind, 0)                                                                       \
    X(176, STR, tres_bind, 0)                                                                      \
    X(177, STR, tres_freq, 0)                                                                      \
    X(178, STR, cpu_freq, 0)                                                                       \
    X(179, STR, network, 0)                                                                        \
    X(180, BOOL, spread_job, 0)                                                                    \
    X(181, BOOL, use_min_nodes, 0)                                                                 \
    /* batch and I/O */                                                                            \
    X(190, ENUM, kind, job_kind)                                                                   \
    X(191, STR, work_dir, 0)                                                                       \
    X(192, STR, std_out, 0) /* patterns as given, NULL = default */                                \
    X(193, STR, std_err, 0)                                                                        \
    X(194, STR, std_in, 0)                                                                         \
    X(195, ENUM, open_mode, open_mode)                                                             \
    X(196, STR, export_env, 0)   /* literal --export value */                                      \
    X(197, STR, command, 0)      /* script path with arguments, or the command */                  \
    X(198, STRS, argv, 0)        /* script arguments ($1…) */                                    \
    X(199, BLOB, environment, 0) /* NAME=value, each ended by NUL; never listed to others */       \
    X(200, BLOB, script, 0)      /* never listed; stored apart from the record */                  \
    X(201, RECS, rlimits, rlimit_value)                                                            \
    X(202, U32, umask, 0)                                                                          \
    X(203, BOOL, no_kill, 0)                                                                       \
    X(204, U32, signal, 0) /* --signal: number */                                                  \
    X(205, U32, signal_seconds, 0)                                                                 \
    X(206, U32, signal_flags, 0) /* enum warn_flag */                                              \
    X(207, BOOL, get_user_env, 0)                                                                  \
    X(208, STR, alloc_node, 0) /* submit host */                                                   \
    X(209, U32, alloc_sid, 0)                                                                      \
    X(210, STR, submit_line, 0)                                                                    \
    X(211, STR, burst_buffer, 0)                                                                   \
    X(212, STR, container, 0)                                                                      \
    X(213, STR, acctg_freq, 0)                                                                     \
    X(214, STR, profile, 0)                                                                        \
    X(215, OPT32, wait_all_nodes, 0)                                                               \
    X(216, BOOL, reboot, 0)                                                                        \
    X(217, STR, x11, 0)                                                                            \
    X(218, OPT32, run_as_uid, 0) /* --uid, root only */                                            \
    X(219, OPT32, run_as_gid, 0)                                                                   \
    X(220, BOOL, no_shell, 0) /* salloc --no-shell: nobody waits on the allocation */              \
    X(221, OPT32, oom_kill_step,                                                                   \
      0)                       /* 0 or 1: a step ends as a whole when a task runs out of memory */ \
    X(222, BOOL, time_auto, 0) /* --time=auto: the limit follows from earlier runs */

enum warn_flag { WARN_BATCH_ONLY = 1, WARN_RESERVATION = 2 };

RECORD_DECLARE(job_request, JOB_REQUEST_FIELDS)

/* What a job holds on one node. Core and GRES numbers are indexes on that node (abstract,
 * block-numbered), as idset text. */
#define JOB_NODE_FIELDS(X)                                                                         \
    X(1, STR, name, 0)                                                                             \
    X(2, U32, node, 0) /* index in the configuration; valid in one run of the controller only */   \
    X(3, U32, cpus, 0)                                                                             \
    X(4, U64, mem, 0)                                                                              \
    X(5, U32, ntasks, 0)                                                                           \
    X(6, STR, cores, 0)      /* "0-3,8" */                                                         \
    X(7, STR, gres, 0)       /* "gpu:a100:2(IDX:0-1)", comma list */                               \
    X(8, BOOL, released, 0)  /* clean, given back while others complete */                         \
    X(9, BOOL, accepted, 0)  /* the node has confirmed the launch */                               \
    X(10, BOOL, prepared, 0) /* the node is ready for the job: its Prolog has run */
RECORD_DECLARE(job_node, JOB_NODE_FIELDS)

/* The priority 1 in what priorities are made of; those are rounded to the nearest for display. */
#define PRIORITY_SUM_ONE ((uint64_t) 1 << 20)
static inline uint64_t priority_rounded(uint64_t weighted) {
    return (weighted + PRIORITY_SUM_ONE / 2) / PRIORITY_SUM_ONE;
}

/* What differs between the partitions of one job. */
#define PARTITION_PRIORITY_FIELDS(X)                                                               \
    X(1, STR, partition, 0)                                                                        \
    X(2, U32, priority, 0)                                                                         \
    X(3, U64, prio_partition, 0)                                                                   \
    X(4, STR, prio_tres, 0)
RECORD_DECLARE(partition_priority, PARTITION_PRIORITY_FIELDS)

/* When a job has started that another waits for with "after:ID+minutes". */
#define DEPEND_START_FIELDS(X)                                                                     \
    X(1, U32, job_id, 0)                                                                           \
    X(2, OPT32, task, 0)                                                                           \
    X(3, I64, start, 0)
RECORD_DECLARE(depend_start, DEPEND_START_FIELDS)

/* What has gone wrong with a job before, and what follows; see core/failure.h. */
#define JOB_TROUBLE_FIELDS(X)                                                                      \
    X(1, STRS, failed_nodes, 0) /* that failed it, the first first */                              \
    X(2, I64, avoid_until, 0)   /* it keeps away from them until then */                           \
    X(3, U32, losses, 0)        /* runs in which a node went down */                               \
    X(4, U32, quick, 0)         /* requeues in a row after runs of less than a minute */
RECORD_DECLARE(job_trouble, JOB_TROUBLE_FIELDS)

#define JOB_STATE_FIELDS(X)                                                                        \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, array_job_id, 0)                                                                     \
    X(3, OPT32, array_task_id, 0)                                                                  \
    X(4, STR, array_tasks, 0) /* unstarted tasks of an array record, idset text */                 \
    X(5, U32, array_limit, 0) /* %N */                                                             \
    X(6, STR, array_all, 0)   /* the whole array as submitted */                                   \
    X(7, ENUM, state, job_state)                                                                   \
    X(8, U32, flags, 0) /* enum job_flag */                                                        \
    X(9, ENUM, reason, job_reason)                                                                 \
    X(10, STR, state_desc, 0) /* free text instead of the reason's name */                         \
    X(11, U32, uid, 0)                                                                             \
    X(12, U32, gid, 0)                                                                             \
    X(13, STR, user_name, 0)                                                                       \
    X(14, STR, group_name, 0)                                                                      \
    X(15, I64, submit_time, 0)                                                                     \
    X(16, I64, eligible_time, 0)                                                                   \
    X(17, I64, accrue_time, 0)                                                                     \
    X(18, I64, start_time, 0) /* pending: expected start, 0 unknown */                             \
    X(19, I64, end_time, 0)   /* running: expected end, 0 unknown */                               \
    X(20, I64, suspend_time, 0)                                                                    \
    X(21, I64, pre_suspend_seconds, 0) /* seconds run before the last suspension */                \
    X(22, U32, exit_status, 0)         /* as wait(): code << 8 | signal */                         \
    X(23, U32, derived_exit, 0)                                                                    \
    X(24, U32, priority, 0)                                                                        \
    X(25, U32, restarts, 0)                                                                        \
    X(26, STR, nodes, 0) /* allocated host list, folded */                                         \
    X(27, STR, batch_host, 0)                                                                      \
    X(28, U32, num_nodes, 0) /* allocated, or the minimum while pending */                         \
    X(29, U32, num_cpus, 0)                                                                        \
    X(30, RECS, allocation, job_node)                                                              \
    X(31, STR, sched_nodes, 0)                                                                     \
    X(32, I64, last_sched_eval, 0)                                                                 \
    X(33, STR, scheduler, 0) /* Main, Backfill */                                                  \
    X(34, U32, attempt, 0)   /* counts launches; reports of an older attempt change nothing */     \
    X(35, U32, next_step, 0)                                                                       \
    X(36, STR, tres_req, 0) /* "cpu=1,mem=100M,node=1,billing=1" */                                \
    X(37, STR, tres_alloc, 0)                                                                      \
    X(38, STR, failed_node, 0)                                                                     \
    X(39, STR, nodes_completing, 0)                                                                \
    X(40, I64, resize_time, 0)                                                                     \
    X(41, I64, preempt_time, 0)                                                                    \
    X(42, STR, admin_comment, 0)                                                                   \
    X(43, STR, system_comment, 0)                                                                  \
    X(44, OPT32, cancel_uid, 0) /* who cancelled it */                                             \
    X(45, U64, db_index, 0)     /* history row of this run */                                      \
    X(46, I64, site_factor, 0)                                                                     \
    X(47, STR, provenance, 0) /* why it started when it did */                                     \
    X(48, BOOL, term_sent, 0) /* the end has been signalled; end_deadline tells until when */      \
    X(49, I64, kill_time, 0)  /* when SIGKILL follows */                                           \
    X(50, BOOL, warned, 0)    /* --signal was sent */                                              \
    X(51, STR, cluster, 0)                                                                         \
    X(52, U64, max_rss_kib, 0)                                                                     \
    X(53, U64, user_usec, 0)                                                                       \
    X(54, U64, system_usec, 0)                                                                     \
    X(55, U32, ntasks_total, 0) /* tasks of the allocation */                                      \
    X(56, U32, launch_failures, 0)                                                                 \
    X(57, U64, generation, 0) /* controller-wide change counter, for pollers */                    \
    /* 58 to 60 were whole numbers. What its priority is made of, weighted, in units of            \
       PRIORITY_SUM_ONE. */                                                                        \
    X(61, U64, prio_assoc, 0)                                                                      \
    X(62, U64, prio_fairshare, 0)                                                                  \
    X(63, U64, prio_qos, 0)                                                                        \
    X(64, STR, prio_tres, 0)                    /* "cpu=31,mem=500" */                             \
    X(65, RECS, priorities, partition_priority) /* of a job with several partitions */             \
    X(66, U64, prio_age, 0)                                                                        \
    X(67, U64, prio_size, 0)                                                                       \
    X(68, U64, prio_partition, 0)                                                                  \
    X(69, RECS, leaving, job_node)    /* given back by the running job, not clean yet */           \
    X(70, U32, preempted_by, 0)       /* job for which it had to go, of its present run */         \
    X(71, I64, preempt_end, 0)        /* chosen, and runs on until then at most; 0 = not */        \
    X(72, I64, end_before_preempt, 0) /* end_time when it was chosen */                            \
    X(73, I64, preempt_eligible, 0)   /* from when on it may be preempted; 0 = never */            \
    X(74, BOOL, queue_head, 0)        /* waits before all others of its tier */                    \
    X(75, BOOL, paused, 0)            /* suspended by the controller, which lets it go on */       \
    X(76, BOOL, cpus_given, 0)        /* suspended: its CPUs are for others */                     \
    X(77, I64, run_before_resize, 0)  /* seconds that it had run when its size last changed */     \
    X(78, BOOL, magnetic, 0)          /* it has not asked for the reservation that it runs in */   \
    X(79, REC, trouble, job_trouble)  /* NULL: nothing has gone wrong yet */                       \
    X(80, I64, promised_start, 0) /* the last time it turned out that it starts later: what it */  \
    X(81, I64, delayed_to, 0)     /* had been told, what it was told then (0: nobody knows), */    \
    X(82, I64, delay_time, 0)     /* when that was, */                                             \
    X(83, STR, delay_cause, 0)    /* and why: "node c03 went down" */                              \
    X(84, U32, n_delays, 0)                                                                        \
    X(85, I64, switches_since, 0) /* when its wish for few switches was changed, 0 */              \
    X(86, I64, gpu_keep_until, 0) /* its idle GPUs count from then on only (sluice keep), 0 */     \
    X(87, I64, gpu_warned, 0) /* when its owner was told of idle GPUs, 0 = not, or they work */    \
    /* Of its GPUs while it ran: their use in percent, added up over so many looks at one of them, \
       and the most memory that one of them had in use, MiB. */                                    \
    X(88, U64, gpu_percent_sum, 0)                                                                 \
    X(89, U32, gpu_looks, 0)                                                                       \
    X(90, U64, gpu_mem_max, 0)                                                                     \
    X(91, U64, prio_accuracy, 0) /* as prio_age */                                                 \
    X(92, U32, assoc_id, 0)      /* whom its present run is charged to; 0 = no association */      \
    X(93, F64, billing, 0)       /* what a second of it costs, before the QOS's UsageFactor */     \
    X(94, I64, usage_since, 0)   /* it runs, and has been charged up to then; 0 = it does not */   \
    X(95, U32, scripts, 0)       /* enum job_script_flag */                                        \
    X(97, U32, mail_told, 0)     /* enum mail_type: the parts of its limit that were told */       \
    X(98, U32, array_past, 0)    /* enum array_past of tasks whose records have left */            \
    X(99, STR, depend_cause, 0)  /* why its dependency can never come true */

/* The components of one job. */
#define HET_COMPONENTS_MAX 128
/* What of the programs around a job runs or is still to run. */
enum job_script_flag {
    JOB_SCRIPT_PROLOG = 1,     /* PrologSlurmctld runs; the job waits for it */
    JOB_SCRIPT_NODES = 2,      /* nodes are making ready (PrologFlags=Alloc); it waits for them */
    JOB_SCRIPT_EPILOG = 4,     /* EpilogSlurmctld runs; the job is COMPLETING as long */
    JOB_SCRIPT_EPILOG_DUE = 8, /* it runs when PrologSlurmctld has ended */
};

/* More of its state: numbers ascend in a record, and those below the request's are used up. */
#define JOB_STATE_MORE_FIELDS(X)                                                                   \
    X(310, RECS, depend_starts, depend_start)                                                      \
    X(311, STR, cron_spec, 0)      /* of a recurring job: when; NULL = it comes once */            \
    X(312, U64, cron_hash, 0)      /* what its entry of the crontab says */                        \
    X(313, U32, cron_line, 0)      /* where that begins */                                         \
    X(314, U32, cron_last_line, 0) /* and ends */                                                  \
    X(315, U32, wckey_id, 0)       /* of the user's key; 0: none, or not known */                  \
    X(316, U32, reservation_id, 0) /* that it runs, or has run in; 0 = in none */                  \
    X(340, STR, suspended_by, 0)   /* the user whose scontrol suspend it was; NULL: no one's */

/* The controller's again. Of a component of a heterogeneous job: the id of the first one (0: it is
 * none), which of them it is, how many there are. Their ids follow each other. */
#define JOB_HET_FIELDS(X)                                                                          \
    X(250, U32, het_job_id, 0)                                                                     \
    X(251, U32, het_offset, 0)                                                                     \
    X(252, U32, het_size, 0)

#define JOB_FIELDS(X)                                                                              \
    JOB_STATE_FIELDS(X) JOB_REQUEST_FIELDS(X) JOB_HET_FIELDS(X) JOB_STATE_MORE_FIELDS(X)
RECORD_DECLARE(job, JOB_FIELDS)

/* One thing that is measured of every task: the highest and the lowest of them, and their sum, from
 * which the average comes. */
#define USAGE_MEASURE_FIELDS(X)                                                                    \
    X(1, U32, kind, 0) /* enum usage_kind */                                                       \
    X(2, U64, max, 0)                                                                              \
    X(3, U32, max_task, 0)                                                                         \
    X(4, STR, max_node, 0)                                                                         \
    X(5, U64, min, 0)                                                                              \
    X(6, U32, min_task, 0)                                                                         \
    X(7, STR, min_node, 0)                                                                         \
    X(8, U64, sum, 0)
RECORD_DECLARE(usage_measure, USAGE_MEASURE_FIELDS)

/* What a step used, on one node or on all of them; see model/usage.h. */
#define USAGE_FIELDS(X)                                                                            \
    /* 1, 2 and 5 to 11 were single figures without minimum and whereabouts */                     \
    X(3, U64, user_usec, 0)                                                                        \
    X(4, U64, system_usec, 0)                                                                      \
    X(12, U32, oom_kills, 0)                                                                       \
    X(13, RECS, measures, usage_measure)
RECORD_DECLARE(usage, USAGE_FIELDS)

#define STEP_FIELDS(X)                                                                             \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, step_id, 0) /* STEP_BATCH and its kin are special */                                 \
    X(3, STR, name, 0)                                                                             \
    X(4, ENUM, state, job_state)                                                                   \
    X(5, I64, start_time, 0)                                                                       \
    X(6, I64, end_time, 0)                                                                         \
    X(7, STR, nodes, 0)                                                                            \
    X(8, U32, num_nodes, 0)                                                                        \
    X(9, U32, ntasks, 0)                                                                           \
    X(10, U32, num_cpus, 0)                                                                        \
    X(11, U64, mem, 0) /* MiB per node */                                                          \
    X(12, U32, exit_status, 0)                                                                     \
    X(13, OPT32, time_limit, 0)                                                                    \
    X(14, STR, srun_host, 0)                                                                       \
    X(15, U32, srun_pid, 0)                                                                        \
    X(16, REC, usage, usage)                                                                       \
    X(17, STR, tres_alloc, 0)                                                                      \
    X(18, U32, uid, 0)                                                                             \
    X(19, STR, partition, 0)                                                                       \
    X(20, U32, array_job_id, 0)                                                                    \
    X(21, OPT32, array_task_id, 0)                                                                 \
    X(22, STR, std_out, 0)                                                                         \
    X(23, STR, std_err, 0)                                                                         \
    X(24, STR, std_in, 0)                                                                          \
    X(25, STR, submit_line, 0)                                                                     \
    X(26, RECS, allocation, job_node) /* what the step holds */                                    \
    X(27, U32, attempt, 0)                                                                         \
    X(28, STR, user_name, 0)                                                                       \
    X(29, STR, tasks_per_node, 0) /* counted list "2(x3),1" */                                     \
    X(30, U32, nodes_left, 0)     /* nodes that have not yet reported the end */                   \
    X(31, OPT32, cancel_uid, 0)                                                                    \
    X(32, BOOL, overlap, 0)                                                                        \
    X(33, STR, account, 0)                                                                         \
    X(34, I64, submit_time, 0)                                                                     \
    X(35, STR, cluster, 0)                                                                         \
    X(36, STR, work_dir, 0)                                                                        \
    X(37, STR, nodes_out, 0)             /* hosts that still run it */                             \
    X(38, ENUM, distribution, task_dist) /* that was used; DIST_DEFAULT: tells nothing */          \
    X(39, BOOL, owns_gres, 0)            /* asked for its devices: no other step gets them */      \
    X(40, BOOL, owns_mem, 0)             /* likewise its memory */
RECORD_DECLARE(step, STEP_FIELDS)

/* The exit status of what ran out of memory, "0:125": no signal has this number. */
#define STATUS_OOM 125u
/* Exit status words "3:0" / "0:9" of scontrol and sacct. */
void exit_status_print(uint32_t status, struct str *out);
/* In accounting a job that was cancelled or ran out of time has 0:0; what its script made of that
 * stands at the batch step, and in the job's record as long as the controller has it. */
uint32_t job_accounted_exit(const struct job *job);
/* "123", "123_4", "123_[5-9%2]", "123+1": squeue's %i. max_bytes as idset_print. */
void job_id_print(const struct job *job, size_t max_bytes, struct str *out);
/* The ids of all components of a heterogeneous job: "123-125". */
void het_ids_print(const struct job *job, struct str *out);
/* --switches "N" or "N@TIME": at most N leaf switches, for so many seconds; -1 without a time. */
bool switches_parse(const char *text, uint32_t *ret_count, int64_t *ret_seconds);
/* Those of a job's record; 0 and 0 when it does not care. */
void job_switches(const struct job *job, uint32_t *ret_count, int64_t *ret_seconds);
/* Counted list: {2,2,2,1} -> "2(x3),1". */
void counted_list_print(const uint32_t *counts, size_t n, struct str *out);
/* The step that an --array was written with: 2 of "1-9:2"; 1 without one. `all`: what is listed of
 * it, where that is all that is known (spec NULL). */
uint32_t job_array_step(const char *spec, const char *all);
/* Seconds the job has run, suspensions left out. */
int64_t job_run_seconds(const struct job *job, int64_t now);
/* The CPUs that a job holds on its nodes, as a counted list. */
void job_cpus_per_node(const struct job *job, struct str *out);

/* The indexes of "gpu" devices in a GRES text "gpu:a100:2(IDX:0,2-3),shard:1"; malloc, *ret_n. */
uint32_t *gres_gpu_indexes(const char *gres, size_t *ret_n);
/* The same, or where it has no GPUs as a whole, those of which it has shares. */
uint32_t *gres_card_indexes(const char *gres, size_t *ret_n);
/* Variables that name a program's GPUs, in the order of the bits of enum gpu_env (slurmd/gres.h).
 */
#define GPU_VISIBLE_NAMES 4
extern const char *const gpu_visible_names[GPU_VISIBLE_NAMES];

/* Output file names: expands %j %A %a %J %N %n %s %t %u %x %b %r %% with zero padding; a backslash
 * anywhere switches expansion off. Relative results are put under work_dir. */
struct path_names {
    uint32_t job_id, array_job_id, array_task_id, step_id, task_id, node_index, restarts;
    const char *node_name, *user_name, *job_name, *work_dir;
    bool leave_node_parts; /* scontrol's view: %N %n %t %J and padded forms stay as written */
};
void output_path_expand(const char *pattern, const struct path_names *names, struct str *out);

#endif
