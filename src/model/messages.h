/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every message between commands and daemons, one row each: number, name, body record. The numbers
 * are wire format. Conventions:
 *   - MSG_ERROR answers any request that fails as a whole (body: reply_error).
 *   - A listing streams one or more list messages; the last has RPC_LAST (it may be empty).
 *   - Unasked messages (seq 0) are marked "notice".
 */
#ifndef SLUICE_MODEL_MESSAGES_H
#define SLUICE_MODEL_MESSAGES_H

#include "model/account.h"
#include "model/job.h"
#include "model/node.h"
#include "model/qos.h"
#include "model/reservation.h"
#include "schema/schema.h"

#define EMPTY_FIELDS(X) X(1, BOOL, unused, 0)
RECORD_DECLARE(empty, EMPTY_FIELDS)

/* Several lines may accompany an error or a success: each is printed by the command as
 * "<cmd>: error: line" before the final reason ("Memory specification can not be satisfied"), or as
 * an information. */
#define REPLY_ERROR_FIELDS(X)                                                                      \
    X(1, U32, code, 0)    /* positive enum err; error_text(code) is what scripts match */          \
    X(2, STR, detail, 0)  /* one sentence: what was asked, what exists, what would work */         \
    X(3, STRS, before, 0) /* lines that precede the reason, scripts match them too */              \
    X(4, STRS, infos, 0)
RECORD_DECLARE(reply_error, REPLY_ERROR_FIELDS)

/* ---- submission ---- */
#define SUBMIT_FIELDS(X)                                                                           \
    X(1, REC, job, job_request)                                                                    \
    X(2, BOOL, test_only, 0)                                                                       \
    X(3, BOOL, wait, 0)           /* answer a second time (job_end) when the job has ended */      \
    X(4, REC, step, step_request) /* srun: create the first step with the allocation */
/* What srun wants of a step inside a job. */
#define STEP_REQUEST_FIELDS(X)                                                                     \
    X(1, U32, job_id, 0)                                                                           \
    X(2, STR, name, 0)                                                                             \
    X(3, U32, min_nodes, 0)                                                                        \
    X(4, U32, max_nodes, 0)                                                                        \
    X(5, U32, ntasks, 0)                                                                           \
    X(6, U32, cpus_per_task, 0)                                                                    \
    X(7, U32, ntasks_per_node, 0)                                                                  \
    X(8, OPT64, mem_per_node, 0)                                                                   \
    X(9, OPT64, mem_per_cpu, 0)                                                                    \
    X(10, STR, tres_per_node, 0) /* NULL: all of the job's; "none" */                              \
    X(11, STR, tres_per_task, 0)                                                                   \
    X(12, STR, tres_per_step, 0)                                                                   \
    X(13, STR, nodelist, 0)                                                                        \
    X(14, STR, exclude, 0)                                                                         \
    X(15, OPT32, relative, 0)                                                                      \
    X(16, BOOL, exact, 0)                                                                          \
    X(17, BOOL, overlap, 0)                                                                        \
    X(18, BOOL, overcommit, 0)                                                                     \
    X(19, ENUM, distribution, task_dist)                                                           \
    X(20, U32, plane_size, 0)                                                                      \
    X(21, OPT32, time_limit, 0)                                                                    \
    X(22, BOOL, immediate, 0)                                                                      \
    X(23, STR, srun_host, 0)                                                                       \
    X(24, U32, srun_pid, 0)                                                                        \
    X(25, BOOL, interactive, 0) /* the interactive step of salloc */                               \
    X(26, STR, submit_line, 0)                                                                     \
    X(27, BOOL, no_kill, 0)                                                                        \
    X(28, BOOL, kill_on_bad_exit, 0)                                                               \
    X(29, STR, work_dir, 0)                                                                        \
    X(30, U32, threads_per_core, 0)                                                                \
    X(31, STR, arbitrary_hosts, 0) /* one name per task, for DIST_ARBITRARY */                     \
    X(32, STR, std_out, 0)                                                                         \
    X(33, STR, std_err, 0)                                                                         \
    X(34, STR, std_in, 0)                                                                          \
    X(35, STR, job_text, 0)       /* "12_3": the job of a task; job_id then counts for nothing */  \
    X(36, BOOL, mem_inherited, 0) /* the memory is what the job asked for, not this step */        \
    X(37, OPT64, mem_per_gpu, 0)                                                                   \
    X(38, U32, ntasks_per_core, 0)                                                                 \
    X(39, U32, ntasks_per_socket, 0)                                                               \
    X(40, BOOL, pack, 0) /* -m …,Pack: on few nodes rather than evenly */
RECORD_DECLARE(step_request, STEP_REQUEST_FIELDS)
RECORD_DECLARE(submit, SUBMIT_FIELDS)

#define SUBMIT_REPLY_FIELDS(X)                                                                     \
    X(1, U32, job_id, 0)                                                                           \
    X(2, STR, cluster, 0)                                                                          \
    X(3, STRS, infos, 0)     /* lines for stderr */                                                \
    X(4, I64, start_time, 0) /* test_only: expected start */                                       \
    X(5, STR, nodes, 0)      /* test_only */                                                       \
    X(6, U32, cpus, 0)       /* test_only */                                                       \
    X(7, STR, partition, 0)  /* test_only */                                                       \
    X(8, BOOL, pending, 0)   /* allocation requests: queued; alloc_granted follows */              \
    X(9, STRS, warnings, 0)
RECORD_DECLARE(submit_reply, SUBMIT_REPLY_FIELDS)

/* ---- allocations (salloc, srun): the connection that asked gets these as they happen ---- */
#define ALLOC_GRANTED_FIELDS(X)                                                                    \
    X(1, REC, job, job)          /* with allocation; without environment and script */             \
    X(2, REC, step, step_layout) /* when the submission asked for a step */                        \
    X(3, STRS, warnings, 0)                                                                        \
    X(4, U32, step_code, 0) /* enum err: why there is none */                                      \
    X(5, STR, step_detail, 0)
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
    X(26, STR, cpu_bind, 0) /* CpuBind of the partition */
RECORD_DECLARE(step_layout, STEP_LAYOUT_FIELDS)
RECORD_DECLARE(alloc_granted, ALLOC_GRANTED_FIELDS)

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

/* Notice to the owner's salloc or srun. */
#define ALLOC_NOTICE_FIELDS(X)                                                                     \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, what, 0) /* enum alloc_notice_kind */                                                \
    X(3, STR, text, 0)                                                                             \
    X(4, U32, signal, 0)
enum alloc_notice_kind {
    ALLOC_REVOKED = 1, /* cancelled, or ended otherwise */
    ALLOC_TIMEOUT = 2,
    ALLOC_SIGNAL = 3,    /* deliver this signal to the command */
    ALLOC_NODE_FAIL = 4, /* text: the node */
    ALLOC_MESSAGE = 5,   /* scontrol notify */
    ALLOC_SUSPENDED = 6,
    ALLOC_RESUMED = 7,
};
RECORD_DECLARE(alloc_notice, ALLOC_NOTICE_FIELDS)

/* The command of an allocation has ended (salloc, srun): give it back. Also re-attaches the
 * connection's notices after a controller restart (attach). */
#define ALLOC_END_FIELDS(X)                                                                        \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, exit_status, 0)                                                                      \
    X(3, BOOL, attach, 0)
RECORD_DECLARE(alloc_end, ALLOC_END_FIELDS)

#define JOB_END_FIELDS(X)                                                                          \
    X(1, U32, job_id, 0)                                                                           \
    X(2, ENUM, state, job_state)                                                                   \
    X(3, U32, exit_status, 0)
RECORD_DECLARE(job_end, JOB_END_FIELDS)

/* ---- steps ---- */
#define STEP_REPLY_FIELDS(X)                                                                       \
    X(1, BOOL, waiting, 0) /* busy: step_layout follows on this connection when it can start */    \
    X(2, STR, reason, 0)   /* "Requested nodes are busy" */                                        \
    X(3, REC, layout, step_layout)
RECORD_DECLARE(step_reply, STEP_REPLY_FIELDS)

/* ---- verbs on jobs ---- */
enum job_verb {
    VERB_HOLD = 1,
    VERB_UHOLD,
    VERB_RELEASE,
    VERB_REQUEUE,
    VERB_REQUEUE_HOLD,
    VERB_SUSPEND,
    VERB_RESUME,
    VERB_TOP,
    VERB_NOTIFY,
};
/* Which jobs: ids as users write them ("12", "12_3", "12_[1-5]", "12.0"), or filters (scancel). All
 * given filters must match; with no id the filters choose among all live jobs. */
#define JOB_SELECT_FIELDS(X)                                                                       \
    X(1, STRS, ids, 0)                                                                             \
    X(2, OPT32, uid, 0)                                                                            \
    X(3, STR, partition, 0)                                                                        \
    X(4, STR, account, 0)                                                                          \
    X(5, STR, qos, 0)                                                                              \
    X(6, STR, name, 0)                                                                             \
    X(7, STR, nodelist, 0)                                                                         \
    X(8, STR, reservation, 0)                                                                      \
    X(9, STR, wckey, 0)                                                                            \
    X(10, U64, states, 0) /* bit per base state; 0 = any */
RECORD_DECLARE(job_select, JOB_SELECT_FIELDS)

#define JOB_VERB_FIELDS(X)                                                                         \
    X(1, U32, verb, 0)                                                                             \
    X(2, REC, select, job_select)                                                                  \
    X(3, STR, text, 0)    /* notify */                                                             \
    X(4, STR, options, 0) /* "incomplete", "specialexit" */
RECORD_DECLARE(job_verb_request, JOB_VERB_FIELDS)

#define JOB_KILL_FIELDS(X)                                                                         \
    X(1, REC, select, job_select)                                                                  \
    X(2, U32, signal, 0)      /* 0 = end the job: CONT, TERM, KillWait, KILL */                    \
    X(3, BOOL, batch_only, 0) /* scancel --batch */                                                \
    X(4, BOOL, full, 0)       /* scancel --full: steps and batch shell */
RECORD_DECLARE(job_kill, JOB_KILL_FIELDS)

#define JOB_RESULT_FIELDS(X)                                                                       \
    X(1, STR, id, 0)   /* as displayed: "12", "12_3" */                                            \
    X(2, U32, code, 0) /* positive enum err, 0 = done */                                           \
    X(3, STR, detail, 0)                                                                           \
    X(4, U32, job_id, 0)
RECORD_DECLARE(job_result, JOB_RESULT_FIELDS)
#define JOB_RESULTS_FIELDS(X)                                                                      \
    X(1, RECS, items, job_result)                                                                  \
    X(2, U32, n_matched, 0)
RECORD_DECLARE(job_results, JOB_RESULTS_FIELDS)

/* scontrol update: the keys as written; the controller's tables parse and check them. entity: job,
 * step, node, partition, reservation. `create` makes a new one, `remove` deletes it. Keys of a
 * reservation end in + or - where what they name is added or taken away; the answer to its creation
 * is RESERVATION_LIST with what was made. */
#define UPDATE_FIELDS(X)                                                                           \
    X(1, STR, entity, 0)                                                                           \
    X(2, STR, target, 0) /* job ids, node list, partition name */                                  \
    X(3, RECS, changes, key_value)                                                                 \
    X(4, BOOL, create, 0)                                                                          \
    X(5, BOOL, remove, 0)
RECORD_DECLARE(update, UPDATE_FIELDS)

/* ---- listings ---- */
#define LIST_FIELDS(X)                                                                             \
    X(1, BLOB, fields, 0) /* struct field_mask: only these; empty = all that may be seen */        \
    X(2, REC, select, job_select)                                                                  \
    X(3, STRS, users, 0) /* names or uids; unknown ones are the client's business */               \
    X(4, STRS, partitions, 0)                                                                      \
    X(5, STRS, accounts, 0)                                                                        \
    X(6, STRS, qos, 0)                                                                             \
    X(7, STRS, names, 0)                                                                           \
    X(8, STR, nodelist, 0)                                                                         \
    X(9, U32S, uids, 0)                                                                            \
    X(10, U64, states, 0)   /* bit per base state */                                               \
    X(11, U32, flags, 0)    /* or any of these job_flag bits */                                    \
    X(12, BOOL, all, 0)     /* hidden partitions too; every state */                               \
    X(13, U64, since, 0)    /* only what changed after this generation */                          \
    X(14, STRS, job_ids, 0) /* "12", "12_3" */                                                     \
    X(15, BOOL, detail, 0)
RECORD_DECLARE(list_request, LIST_FIELDS)

#define JOB_LIST_FIELDS(X)                                                                         \
    X(1, RECS, items, job)                                                                         \
    X(2, U64, generation, 0)
RECORD_DECLARE(job_list, JOB_LIST_FIELDS)
#define STEP_LIST_FIELDS(X) X(1, RECS, items, step)
RECORD_DECLARE(step_list, STEP_LIST_FIELDS)
#define NODE_LIST_FIELDS(X) X(1, RECS, items, node)
RECORD_DECLARE(node_list, NODE_LIST_FIELDS)
#define PARTITION_LIST_FIELDS(X) X(1, RECS, items, partition)
RECORD_DECLARE(partition_list, PARTITION_LIST_FIELDS)
#define RESERVATION_LIST_FIELDS(X) X(1, RECS, items, reservation)
RECORD_DECLARE(reservation_list, RESERVATION_LIST_FIELDS)
/* A switch, as scontrol show topology lists it. */
#define SWITCH_FIELDS(X)                                                                           \
    X(1, STR, name, 0)                                                                             \
    X(2, U32, level, 0) /* 0 for a leaf */                                                         \
    X(3, U32, link_speed, 0)                                                                       \
    X(4, STR, nodes, 0)    /* all below it */                                                      \
    X(5, STR, switches, 0) /* right below it */
RECORD_DECLARE(switch_item, SWITCH_FIELDS)
#define TOPOLOGY_LIST_FIELDS(X) X(1, RECS, items, switch_item)
RECORD_DECLARE(topology_list, TOPOLOGY_LIST_FIELDS)
#define CONFIG_LIST_FIELDS(X)                                                                      \
    X(1, RECS, items, key_value)                                                                   \
    X(2, I64, boot_time, 0)
RECORD_DECLARE(config_list, CONFIG_LIST_FIELDS)

/* ---- accounting (sacct): jobs with their steps ---- */
#define ACCT_QUERY_FIELDS(X)                                                                       \
    X(1, STRS, ids, 0) /* "12", "12_3", "12.0", "12.batch" */                                      \
    X(2, U32S, uids, 0)                                                                            \
    X(3, BOOL, all_users, 0)                                                                       \
    X(4, I64, start, 0) /* window; 0 = open */                                                     \
    X(5, I64, end, 0)                                                                              \
    X(6, U64, states, 0) /* bit per base state; 0 = any */                                         \
    X(7, STRS, accounts, 0)                                                                        \
    X(8, STRS, partitions, 0)                                                                      \
    X(9, STRS, names, 0)                                                                           \
    X(10, STR, nodelist, 0)                                                                        \
    X(11, BOOL, duplicates, 0)                                                                     \
    X(12, BOOL, no_steps, 0)                                                                       \
    X(13, STRS, qos, 0)                                                                            \
    X(14, BOOL, want_script, 0)                                                                    \
    X(15, BOOL, want_environment, 0)
RECORD_DECLARE(acct_query, ACCT_QUERY_FIELDS)
#define ACCT_JOB_FIELDS(X)                                                                         \
    X(1, REC, job, job)                                                                            \
    X(2, RECS, steps, step)                                                                        \
    X(3, BOOL, superseded, 0) /* an earlier run of a requeued job */
RECORD_DECLARE(acct_job, ACCT_JOB_FIELDS)
#define ACCT_LIST_FIELDS(X) X(1, RECS, items, acct_job)
RECORD_DECLARE(acct_list, ACCT_LIST_FIELDS)

#define JOB_SCRIPT_FIELDS(X)                                                                       \
    X(1, U32, job_id, 0)                                                                           \
    X(2, BLOB, script, 0)                                                                          \
    X(3, BLOB, environment, 0)
RECORD_DECLARE(job_script, JOB_SCRIPT_FIELDS)

/* Core -> its shell: run PrologSlurmctld or EpilogSlurmctld of a job. Not stored, not sent. */
#define JOB_SCRIPT_ORDER_FIELDS(X)                                                                 \
    X(1, REC, job, job)                                                                            \
    X(2, STR, cpus_per_node, 0) /* counted list */                                                 \
    X(3, BOOL, epilog, 0)
RECORD_DECLARE(job_script_order, JOB_SCRIPT_ORDER_FIELDS)

#define PING_REPLY_FIELDS(X)                                                                       \
    X(1, STR, host, 0)                                                                             \
    X(2, STR, mode, 0) /* "primary" */                                                             \
    X(3, STR, version, 0)                                                                          \
    X(4, I64, now, 0)                                                                              \
    X(5, STR, cluster, 0)
RECORD_DECLARE(ping_reply, PING_REPLY_FIELDS)

/* ---- accounts, users, associations, QOS (sacctmgr) ---- */
enum assoc_verb { ASSOC_VERB_ADD = 1, ASSOC_VERB_MODIFY, ASSOC_VERB_DELETE };
enum assoc_entity {
    ASSOC_ENTITY_ACCOUNT = 1,
    ASSOC_ENTITY_USER,
    ASSOC_ENTITY_QOS,
    ASSOC_ENTITY_CLUSTER,
    ASSOC_ENTITY_COORDINATOR,
};
/* A change in sacctmgr's words. A bare word has the key "". A key that ends in + or - adds to a
 * list or takes from it. Adding, all words stand in `set`. */
#define ASSOC_CHANGE_FIELDS(X)                                                                     \
    X(1, U32, verb, 0)                                                                             \
    X(2, U32, entity, 0)                                                                           \
    X(3, RECS, where, key_value)                                                                   \
    X(4, RECS, set, key_value)                                                                     \
    X(5, BOOL, commit, 0) /* do it; else only say what would be done */
RECORD_DECLARE(assoc_change, ASSOC_CHANGE_FIELDS)
#define ASSOC_CHANGED_FIELDS(X)                                                                    \
    X(1, STR, text, 0) /* what is (to be) done, for stdout; NULL: nothing to do */                 \
    X(2, STRS, notes, 0)
RECORD_DECLARE(assoc_changed, ASSOC_CHANGED_FIELDS)
#define ASSOC_LIST_FIELDS(X)                                                                       \
    X(1, STR, cluster, 0)                                                                          \
    X(2, RECS, accounts, account)                                                                  \
    X(3, RECS, users, acct_user)                                                                   \
    X(4, RECS, assocs, assoc) /* parents before children, accounts before their users */           \
    X(5, RECS, qos, qos)                                                                           \
    X(6, STR, control_host, 0)                                                                     \
    X(7, U32, control_port, 0)
RECORD_DECLARE(assoc_list, ASSOC_LIST_FIELDS)

/* Counters of sdiag, as rows. */
#define DIAG_FIELDS(X) X(1, RECS, items, key_value)
RECORD_DECLARE(diag, DIAG_FIELDS)

/* ---- controller <-> node (the standing connection that slurmd dials) ---- */
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
/* Answers an UPDATE of nodes. */
#define NODES_UPDATED_FIELDS(X)                                                                    \
    X(1, STRS, infos, 0) /* what is to be known about it, one sentence each */
RECORD_DECLARE(nodes_updated, NODES_UPDATED_FIELDS)
/* scontrol reboot */
#define REBOOT_FIELDS(X)                                                                           \
    X(1, STR, nodes, 0)                /* host list or ALL */                                      \
    X(2, BOOL, asap, 0)                /* drain them until it is done */                           \
    X(3, ENUM, next_state, node_state) /* IDLE, DOWN; UNKNOWN = as they were */                    \
    X(4, STR, reason, 0)
RECORD_DECLARE(reboot, REBOOT_FIELDS)

/* A card as the controller lists it. */
#define GPU_FIELDS(X)                                                                              \
    X(1, STR, node, 0)                                                                             \
    X(2, U32, index, 0)                                                                            \
    X(3, STR, type, 0)            /* NULL = untyped */                                             \
    X(4, STR, job, 0)             /* "12_3"; NULL = free */                                        \
    X(5, STR, user, 0)            /* of the job */                                                 \
    X(6, REC, status, gpu_status) /* NULL = nobody tells */                                        \
    X(7, I64, idle_since, 0)      /* within the job, where there is one; 0 = it works, unknown */  \
    X(8, I64, idle_end, 0)        /* when GpuIdleTime ends the job unless it works, 0 = never */   \
    X(9, STR, idle_action, 0)     /* "requeue", "cancel" */                                        \
    X(10, I64, keep_until, 0)     /* sluice keep; 0 = no */                                        \
    X(11, BOOL, available, 0)     /* jobs can start on the node */
RECORD_DECLARE(gpu, GPU_FIELDS)
#define GPU_LIST_FIELDS(X) X(1, RECS, items, gpu)
RECORD_DECLARE(gpu_list, GPU_LIST_FIELDS)

/* Batch launch. The credential of a batch script is the controller's authenticated connection. */
#define LAUNCH_FIELDS(X)                                                                           \
    X(1, REC, job, job) /* allocation included; script and environment set */                      \
    X(2, U32, attempt, 0)                                                                          \
    X(3, STR, job_cpus_per_node, 0)                                                                \
    X(4, STR, tasks_per_node, 0)                                                                   \
    X(5, U32, node_index, 0)
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
    X(40, BLOB, x11_cookie, 0)     /* that tasks here shall use for X11; empty = no forwarding */
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

/* ---- sluice why ---- */
#define WHY_FIELDS(X) X(1, STR, job, 0) /* "12", "12_3" */
RECORD_DECLARE(why, WHY_FIELDS)
/* Nodes that could do something for the job, in the same situation. */
enum why_node_state { WHY_NODE_FREE = 1, WHY_NODE_PROMISED, WHY_NODE_BUSY, WHY_NODE_AWAY };
#define WHY_NODES_FIELDS(X)                                                                        \
    X(1, STR, nodes, 0) /* folded */                                                               \
    X(2, U32, n, 0)                                                                                \
    X(3, U32, state, 0)  /* enum why_node_state */                                                 \
    X(4, STR, what, 0)   /* away: "DOWN", "IDLE+DRAIN" */                                          \
    X(5, STR, reason, 0) /* away: that somebody gave */                                            \
    X(6, STR, by, 0)     /* away: who */                                                           \
    X(7, I64, since, 0)
RECORD_DECLARE(why_nodes, WHY_NODES_FIELDS)
/* A job that holds what this one needs, or is ahead of it. */
enum why_cause { WHY_TIER = 1, WHY_PRIORITY, WHY_EARLIER };
#define WHY_JOB_FIELDS(X)                                                                          \
    X(1, STR, job, 0)                                                                              \
    X(2, STR, user, 0)                                                                             \
    X(3, STR, nodes, 0) /* those of them that this job could use */                                \
    X(4, U32, cpus, 0)                                                                             \
    X(5, STR, tres, 0)                                                                             \
    X(6, I64, time, 0)  /* holds: until; ahead: its expected start; 0 = unknown */                 \
    X(7, U32, cause, 0) /* ahead: enum why_cause */                                                \
    X(8, U32, priority, 0)                                                                         \
    X(9, STR, partition, 0)
RECORD_DECLARE(why_job, WHY_JOB_FIELDS)
/* A limit that keeps the job back. */
#define WHY_LIMIT_FIELDS(X)                                                                        \
    X(1, STR, name, 0) /* "licence matlab", "MaxTime of partition short" */                        \
    X(2, STR, unit, 0) /* "minutes", "" */                                                         \
    X(3, U64, asked, 0)                                                                            \
    X(4, U64, limit, 0)                                                                            \
    X(5, U64, used, 0)                                                                             \
    X(6, STR, used_by, 0) /* "job 12 of alice (2)" */                                              \
    X(7, I64, until, 0)   /* when the first of it comes free, 0 = not by itself */                 \
    X(8, STR, cure, 0)    /* one sentence */
RECORD_DECLARE(why_limit, WHY_LIMIT_FIELDS)
/* A change that would start the job sooner; it has been planned. */
#define WHY_CHANGE_FIELDS(X)                                                                       \
    X(1, STR, option, 0) /* "--time=30" */                                                         \
    X(2, STR, update, 0) /* "TimeLimit=30" for scontrol update; NULL: not for a job that waits */  \
    X(3, I64, start, 0)                                                                            \
    X(4, STR, nodes, 0)
RECORD_DECLARE(why_change, WHY_CHANGE_FIELDS)
#define WHY_REPLY_FIELDS(X)                                                                        \
    X(1, REC, job, job)                                                                            \
    X(2, STR, id, 0) /* as displayed */                                                            \
    X(3, I64, now, 0)                                                                              \
    X(4, I64, expected, 0) /* start; 0 = nobody knows */                                           \
    X(5, I64, earliest, 0) /* when running jobs end as their users' jobs usually do */             \
    X(6, I64, latest, 0)   /* when all run to their limits and nobody overtakes */                 \
    X(7, BOOL, exact, 0)   /* planned to the end, no estimate */                                   \
    X(8, STR, nodes, 0)    /* of the expected start */                                             \
    X(9, STR, partition, 0)                                                                        \
    X(10, RECS, fits, why_nodes)                                                                   \
    X(11, RECS, holders, why_job)                                                                  \
    X(12, U32, holders_total, 0)                                                                   \
    X(13, U64, free_cpus, 0) /* on usable nodes that could do something for it */                  \
    X(14, U64, free_mem, 0)                                                                        \
    X(15, STR, free_gres, 0) /* "gpu:a100:2" */                                                    \
    X(16, RECS, ahead, why_job)                                                                    \
    X(17, U32, ahead_total, 0)                                                                     \
    X(18, U32, ahead_by_tier, 0)                                                                   \
    X(19, U32, ahead_by_priority, 0)                                                               \
    X(20, U32, ahead_by_age, 0)                                                                    \
    X(21, RECS, depends, why_job) /* what it waits for; job: "afterok:12" */                       \
    X(22, RECS, limits, why_limit)                                                                 \
    X(23, RECS, changes, why_change)                                                               \
    X(24, U32, n_tried, 0)                                                                         \
    X(25, BOOL, may_update, 0)                                                                     \
    X(26, STR, reservation, 0)    /* a sentence: which one is in the way, and what would fit */    \
    X(27, RECS, leaving, why_job) /* preempted for it; time: until then at most, 0 = at once */    \
    X(28, BOOL, preemption, 0)    /* PreemptType is set: jobs may overtake, and be preempted */
RECORD_DECLARE(why_reply, WHY_REPLY_FIELDS)

#define MESSAGE_TABLE(X)                                                                           \
    /* general */                                                                                  \
    X(1, ERROR, reply_error)                                                                       \
    X(2, OK, empty)                                                                                \
    X(3, PING, empty)                                                                              \
    X(4, PING_REPLY, ping_reply)                                                                   \
    /* commands -> controller */                                                                   \
    X(20, SUBMIT, submit) /* batch, salloc and srun by job.kind; answers SUBMIT_REPLY */           \
    X(21, SUBMIT_REPLY, submit_reply)                                                              \
    X(22, ALLOC_GRANTED, alloc_granted) /* same seq as SUBMIT, RPC_LAST */                         \
    X(23, ALLOC_NOTICE, alloc_notice)   /* notice */                                               \
    X(24, ALLOC_END, alloc_end)                                                                    \
    X(25, JOB_END, job_end) /* SUBMIT with wait: same seq, RPC_LAST */                             \
    X(26, STEP_CREATE, step_request)                                                               \
    X(27, STEP_REPLY, step_reply)                                                                  \
    X(28, JOB_VERB, job_verb_request)                                                              \
    X(29, JOB_KILL, job_kill)                                                                      \
    X(30, JOB_RESULTS, job_results)                                                                \
    X(31, UPDATE, update) /* answers JOB_RESULTS, NODES_UPDATED, OK by what is updated */          \
    X(32, LIST_JOBS, list_request)                                                                 \
    X(33, JOB_LIST, job_list)                                                                      \
    X(34, LIST_STEPS, list_request)                                                                \
    X(35, STEP_LIST, step_list)                                                                    \
    X(36, LIST_NODES, list_request)                                                                \
    X(37, NODE_LIST, node_list)                                                                    \
    X(56, LIST_RESERVATIONS, list_request) /* filter: names */                                     \
    X(57, RESERVATION_LIST, reservation_list)                                                      \
    X(38, LIST_PARTITIONS, list_request)                                                           \
    X(39, PARTITION_LIST, partition_list)                                                          \
    X(40, LIST_CONFIG, empty)                                                                      \
    X(41, CONFIG_LIST, config_list)                                                                \
    X(58, LIST_TOPOLOGY, empty)                                                                    \
    X(59, TOPOLOGY_LIST, topology_list)                                                            \
    X(53, LIST_GPUS, list_request) /* filter: nodelist, partitions */                              \
    X(54, GPU_LIST, gpu_list)                                                                      \
    X(42, ACCT_QUERY, acct_query)                                                                  \
    X(43, ACCT_LIST, acct_list)                                                                    \
    X(44, GET_SCRIPT, job_script)                                                                  \
    X(45, JOB_SCRIPT, job_script)                                                                  \
    X(46, RECONFIGURE, empty)                                                                      \
    X(47, SHUTDOWN, empty)                                                                         \
    X(48, DIAG, empty)                                                                             \
    X(49, DIAG_REPLY, diag)                                                                        \
    X(50, STEP_KILL, node_signal) /* srun/scancel of one step */                                   \
    X(51, ALLOC_ATTACH,                                                                            \
      alloc_end) /* srun --jobid / salloc: describe my running job: answers ALLOC_GRANTED */       \
    X(52, JOB_WAIT, alloc_end) /* answers JOB_END when job_id has ended */                         \
    X(60, REBOOT, reboot)      /* answers OK */                                                    \
    X(61, NODES_UPDATED, nodes_updated)                                                            \
    X(10, ASSOC_CHANGE, assoc_change)                                                              \
    X(11, ASSOC_CHANGED, assoc_changed)                                                            \
    X(12, LIST_ASSOC, empty) /* all that the user may see */                                       \
    X(13, ASSOC_LIST, assoc_list)                                                                  \
    X(65, WHY, why)                                                                                \
    X(66, WHY_REPLY, why_reply)                                                                    \
    /* node -> controller */                                                                       \
    X(70, NODE_REGISTER, node_register)                                                            \
    X(71, NODE_STATUS, node_status)                                                                \
    X(72, LAUNCH_RESULT, launch_result)                                                            \
    X(73, STEP_DONE, step_done)                                                                    \
    X(74, JOB_CLEAN, job_clean)                                                                    \
    X(76, JOB_PREPARED, job_prepared)                                                              \
    /* controller -> node */                                                                       \
    X(80, NODE_WELCOME, node_welcome)                                                              \
    X(81, NODE_PING, empty)                                                                        \
    X(82, LAUNCH, launch)                                                                          \
    X(83, STEP_ACK, step_ref)                                                                      \
    X(84, NODE_SIGNAL, node_signal)                                                                \
    X(85, JOB_TERMINATE, job_terminate)                                                            \
    X(86, NODE_SHUTDOWN, empty)                                                                    \
    X(87, NODE_RECONFIGURE, empty)                                                                 \
    X(92, NODE_REBOOT, empty)                                                                      \
    X(93, NODE_CHECK, node_check)                                                                  \
    X(89, JOB_PREPARE, job_prepare)                                                                \
    /* srun <-> slurmd, slurmstepd */                                                              \
    X(100, STEP_LAUNCH, step_launch)                                                               \
    X(101, STEP_STARTED, step_tasks)                                                               \
    X(102, STEP_EXITED, step_tasks)                                                                \
    X(103, STEP_IO, step_io)                                                                       \
    X(104, STEP_CONTROL, step_control)                                                             \
    X(105, STEP_FINISHED, step_done) /* RPC_LAST: nothing more comes from this node */             \
    /* sstat <-> slurmd */                                                                         \
    X(106, STEP_STAT, step_stat)                                                                   \
    X(107, STEP_STAT_REPLY, step_stat_reply)                                                       \
    X(108, STEP_ATTACH, step_attach)                                                               \
    X(109, STEP_EXCHANGE, step_exchange)                                                           \
    X(110, STEP_X11, step_x11)                                                                     \
    /* files */                                                                                    \
    X(112, FILE_GRANT, file_grant)                                                                 \
    X(113, FILE_OPEN, file_open)                                                                   \
    X(114, FILE_DATA, file_data)                                                                   \
    X(115, FILE_RESULT, file_result)

enum msg {
#define X(number, name, record) MSG_##name = number,
    MESSAGE_TABLE(X)
#undef X
};
/* NULL for an unknown number. */
const struct record *message_record(uint16_t type);
const char *message_name(uint16_t type);

#endif
