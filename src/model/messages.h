/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every message between commands and daemons, one row each: number, name, body record. The numbers
 * are wire format. Bodies of commands' messages stand here, those of nodes, of steps and of
 * `sluice why` in headers of their own. Conventions:
 *   - MSG_ERROR answers any request that fails as a whole (body: reply_error).
 *   - A listing streams one or more list messages; the last has RPC_LAST (it may be empty).
 *   - Unasked messages (seq 0) are marked "notice".
 */
#ifndef SLUICE_MODEL_MESSAGES_H
#define SLUICE_MODEL_MESSAGES_H

#include "model/account.h"
#include "model/acct_messages.h"
#include "model/job.h"
#include "model/node.h"
#include "model/node_messages.h"
#include "model/qos.h"
#include "model/reservation.h"
#include "model/step_messages.h"
#include "model/trigger.h"
#include "model/why_messages.h"
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
/* What the submitter wants to be told about the request, and how it was written. */
enum submit_advice {
    ADVICE_WANTED = 1,
    ADVICE_BARE_MEM = 2, /* the number of --mem had no unit */
    ADVICE_BARE_MEM_PER_CPU = 4,
    ADVICE_BARE_MEM_PER_GPU = 8,
    ADVICE_KOREAN = 16, /* the language of the submitter (text/language.h), else English */
};
/* A field of a request that somebody else than the user has set. Values as sluice prints records;
 * NULL = not set. */
#define REQUEST_CHANGE_FIELDS(X)                                                                   \
    X(1, STR, field, 0) /* of job_request */                                                       \
    X(2, STR, before, 0)                                                                           \
    X(3, STR, after, 0)                                                                            \
    X(4, STR, by, 0) /* "job_submit.lua", "the controller" */
RECORD_DECLARE(request_change, REQUEST_CHANGE_FIELDS)

#define SUBMIT_FIELDS(X)                                                                           \
    X(1, REC, job, job_request)                                                                    \
    X(2, BOOL, test_only, 0)                                                                       \
    X(3, BOOL, wait, 0)           /* answer a second time (job_end) when the job has ended */      \
    X(4, REC, step, step_request) /* srun: create the first step with the allocation */            \
    X(5, U32, advice, 0)          /* enum submit_advice */                                         \
    X(6, BOOL, explain, 0)        /* answer with what filters and defaults have changed */         \
    /* added by the controller's shell, which runs the site's filter before the core sees it */    \
    X(7, STRS, told, 0) /* lines that the filter has for the user */                               \
    X(8, RECS, changes, request_change)                                                            \
    /* of a heterogeneous job: its components after the first, which is `job` */                   \
    X(9, RECS, components, job_request)
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
    X(40, BOOL, pack, 0) /* -m …,Pack: on few nodes rather than evenly */                        \
    /* number of the step; UNSET32 = the next. Of a part of a step that has begun in another       \
       component of the same job. */                                                               \
    X(41, OPT32, step_id, 0)
RECORD_DECLARE(step_request, STEP_REQUEST_FIELDS)
RECORD_DECLARE(submit, SUBMIT_FIELDS)

/* ---- scrontab ---- */
#define CRON_ENTRY_FIELDS(X)                                                                       \
    X(1, U32, first_line, 0) /* in the text: its first line of options, or itself */               \
    X(2, U32, last_line, 0)  /* from 1 */                                                          \
    X(3, STR, spec, 0)       /* when; text/cronspec.h */                                           \
    X(4, REC, job, job_request)
RECORD_DECLARE(cron_entry, CRON_ENTRY_FIELDS)
/* A user's crontab takes the place of the one before, with all its jobs; the answer is
 * CRONTAB_REPLY or an error that names the line. An empty text is no crontab. */
#define CRONTAB_SET_FIELDS(X)                                                                      \
    X(1, OPT32, uid, 0) /* another user's: root only */                                            \
    X(2, STR, text, 0)                                                                             \
    X(3, RECS, entries, cron_entry)                                                                \
    X(4, OPT32, gid, 0)
RECORD_DECLARE(crontab_set, CRONTAB_SET_FIELDS)
#define CRONTAB_REPLY_FIELDS(X)                                                                    \
    X(1, U32S, job_ids, 0) /* of the entries in their order */                                     \
    X(2, STRS, infos, 0)   /* lines for stderr */                                                  \
    X(3, STRS, warnings, 0)
RECORD_DECLARE(crontab_reply, CRONTAB_REPLY_FIELDS)
/* As it is stored; and the question for it, which is answered with the same, text NULL = none. */
#define CRONTAB_FIELDS(X)                                                                          \
    X(1, OPT32, uid, 0)                                                                            \
    X(2, STR, user, 0)                                                                             \
    X(3, STR, text, 0)
RECORD_DECLARE(crontab, CRONTAB_FIELDS)

#define SUBMIT_REPLY_FIELDS(X)                                                                     \
    X(1, U32, job_id, 0)                                                                           \
    X(2, STR, cluster, 0)                                                                          \
    X(3, STRS, infos, 0)     /* lines for stderr */                                                \
    X(4, I64, start_time, 0) /* test_only: expected start */                                       \
    X(5, STR, nodes, 0)      /* test_only */                                                       \
    X(6, U32, cpus, 0)       /* test_only */                                                       \
    X(7, STR, partition, 0)  /* test_only */                                                       \
    X(8, BOOL, pending, 0)   /* allocation requests: queued; alloc_granted follows */              \
    X(9, STRS, warnings, 0)                                                                        \
    X(10, RECS, changes, request_change) /* of what submit.explain asked for */
RECORD_DECLARE(submit_reply, SUBMIT_REPLY_FIELDS)

/* ---- allocations (salloc, srun): the connection that asked gets these as they happen ---- */
#define ALLOC_GRANTED_FIELDS(X)                                                                    \
    X(1, REC, job, job)          /* with allocation; without environment and script */             \
    X(2, REC, step, step_layout) /* when the submission asked for a step */                        \
    X(3, STRS, warnings, 0)                                                                        \
    X(4, U32, step_code, 0) /* enum err: why there is none */                                      \
    X(5, STR, step_detail, 0)                                                                      \
    X(6, RECS, components, job) /* of a heterogeneous job: all of it in order, `job` too */
RECORD_DECLARE(alloc_granted, ALLOC_GRANTED_FIELDS)

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
    X(4, BOOL, full, 0)       /* scancel --full: steps and batch shell */                          \
    X(6, BOOL, cron, 0)       /* scancel --cron: recurring jobs are meant, too */
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
    X(15, BOOL, want_environment, 0)                                                               \
    X(16, STRS, clusters, 0) /* slurmdbd: only these */
RECORD_DECLARE(acct_query, ACCT_QUERY_FIELDS)
#define ACCT_JOB_FIELDS(X)                                                                         \
    X(1, REC, job, job)                                                                            \
    X(2, RECS, steps, step)                                                                        \
    X(3, BOOL, superseded, 0) /* an earlier run of a requeued job */                               \
    X(4, U32, qos_id, 0)      /* the number of the job's QOS when this was written, 0 = none */
RECORD_DECLARE(acct_job, ACCT_JOB_FIELDS)
#define ACCT_LIST_FIELDS(X) X(1, RECS, items, acct_job)
RECORD_DECLARE(acct_list, ACCT_LIST_FIELDS)

#define JOB_SCRIPT_FIELDS(X)                                                                       \
    X(1, U32, job_id, 0)                                                                           \
    X(2, BLOB, script, 0)                                                                          \
    X(3, BLOB, environment, 0)                                                                     \
    X(4, I64, submit_time, 0) /* of what AccountingStoreFlags keeps */
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
#define ASSOC_LIST_FIELDS(X)                                                                       \
    X(1, STR, cluster, 0)                                                                          \
    X(2, RECS, accounts, account)                                                                  \
    X(3, RECS, users, acct_user)                                                                   \
    X(4, RECS, assocs, assoc) /* parents before children, accounts before their users */           \
    X(5, RECS, qos, qos)                                                                           \
    X(6, STR, control_host, 0)                                                                     \
    X(7, U32, control_port, 0)
RECORD_DECLARE(assoc_list, ASSOC_LIST_FIELDS)
#define ASSOC_CHANGED_FIELDS(X)                                                                    \
    X(1, STR, text, 0) /* what is (to be) done, for stdout; NULL: nothing to do */                 \
    X(2, STRS, notes, 0)                                                                           \
    X(3, REC, added, assoc_list) /* of a file: what is new */
RECORD_DECLARE(assoc_changed, ASSOC_CHANGED_FIELDS)
/* The book of a cluster between its controller and slurmdbd, which keeps it. */
#define DBD_BOOK_FIELDS(X)                                                                         \
    X(1, U64, version, 0) /* slurmdbd's number of it; 0: the controller has kept it by itself */   \
    X(2, REC, book, assoc_list)
RECORD_DECLARE(dbd_book, DBD_BOOK_FIELDS)
#define DBD_RUN_FIELDS(X) X(1, U64, run, 0) /* its number, db_index of a job */
RECORD_DECLARE(dbd_run, DBD_RUN_FIELDS)
#define DBD_RUNS_FIELDS(X) X(1, RECS, items, dbd_run)
RECORD_DECLARE(dbd_runs, DBD_RUNS_FIELDS)
#define DBD_ANSWER_FIELDS(X)                                                                       \
    X(1, STR, problem, 0) /* NULL: taken, or nothing against it */                                 \
    X(2, RECS, unknown, dbd_run)
RECORD_DECLARE(dbd_answer, DBD_ANSWER_FIELDS)
/* Runs of a cluster that have no end in slurmdbd and that its controller does not know. */
#define RUNAWAY_QUERY_FIELDS(X)                                                                    \
    X(1, STR, cluster, 0)                                                                          \
    X(2, BOOL, fix, 0) /* end them, as completed and without use */
RECORD_DECLARE(runaway_query, RUNAWAY_QUERY_FIELDS)
/* sacctmgr archive. Ages as slurmdbd.conf has them: "12months"; NULL: slurmdbd.conf's. */
#define ARCHIVE_REQUEST_FIELDS(X)                                                                  \
    X(1, STR, file, 0)           /* load it; NULL: dump */                                         \
    X(2, STR, directory, 0)      /* NULL: ArchiveDir */                                            \
    X(3, RECS, kinds, key_value) /* "jobs" -> age, or NULL; none: those of slurmdbd.conf */
RECORD_DECLARE(archive_request, ARCHIVE_REQUEST_FIELDS)

/* An association with its share and what it has used (sshare). */
#define SHARE_FIELDS(X)                                                                            \
    X(1, STR, account, 0)                                                                          \
    X(2, STR, user, 0) /* NULL: the account's own */                                               \
    X(3, STR, partition, 0)                                                                        \
    X(4, STR, parent, 0) /* the account above an account */                                        \
    X(5, U32, assoc_id, 0)                                                                         \
    X(6, U32, shares, 0)      /* or SHARES_PARENT */                                               \
    X(7, F64, norm_shares, 0) /* of its siblings (Fair Tree) or of all (classic) */                \
    X(8, F64, usage, 0)       /* decayed billing units times seconds, of all below it, too */      \
    X(9, F64, norm_usage, 0)  /* of all usage */                                                   \
    X(10, F64, effective_usage, 0)                                                                 \
    X(11, F64, factor, 0) /* users: 0 to 1 */                                                      \
    X(12, F64, level, 0)  /* shares over usage; infinite without usage */                          \
    X(13, F64, rate, 0)   /* what runs now adds to usage a second */                               \
    X(14, STR, grp_tres_mins, 0)                                                                   \
    X(15, STR, tres_run_mins, 0) /* of what runs, until the ends of its limits */                  \
    X(16, STR, tres_used_mins, 0)                                                                  \
    X(17, I64, even_in, 0) /* seconds until its part of the usage is down to its share, if all go  \
                              on as now; 0: it is; -1: never */
RECORD_DECLARE(share, SHARE_FIELDS)
#define SHARE_LIST_FIELDS(X)                                                                       \
    X(1, STR, cluster, 0)                                                                          \
    X(2, BOOL, multifactor, 0) /* PriorityType: without it shares order nobody */                  \
    X(3, BOOL, fair_tree, 0)                                                                       \
    X(4, I64, half_life, 0)  /* seconds; 0 = no decay */                                           \
    X(5, I64, reset_time, 0) /* when all usage is forgotten next, 0 = never */                     \
    X(6, RECS, items, share) /* accounts before their users and those below them */
RECORD_DECLARE(share_list, SHARE_LIST_FIELDS)
/* What counts against limits now (scontrol show assoc_mgr): of an association with all below it, of
 * a QOS, or of what one user or one account has of a QOS. */
#define LIMIT_COUNT_FIELDS(X)                                                                      \
    X(1, U32, kind, 0) /* enum assoc_kind: ASSOC_ASSOC, ASSOC_QOS */                               \
    X(2, U32, id, 0)                                                                               \
    X(3, STR, user, 0)    /* of a QOS: what he has of it */                                        \
    X(4, STR, account, 0) /* likewise; both NULL: the whole */                                     \
    X(5, U64, jobs, 0)    /* that have nodes */                                                    \
    X(6, U64, submitted, 0)                                                                        \
    X(7, U64, accruing, 0)    /* that wait and gain priority by it */                              \
    X(8, F64, usage, 0)       /* decayed billing units times seconds, with what runs */            \
    X(9, F64, wall_used, 0)   /* seconds of jobs, likewise */                                      \
    X(10, STR, tres, 0)       /* in use: "cpu=2,mem=200,..." */                                    \
    X(11, STR, used_mins, 0)  /* of TRES; decayed, with what runs */                               \
    X(12, STR, ahead_mins, 0) /* of what runs, until the ends of its limits */                     \
    X(13, U32, uid, 0)        /* of user */
RECORD_DECLARE(limit_count, LIMIT_COUNT_FIELDS)
/* Associations as in SHARE_LIST, QOS, then parts of QOS in the order in which jobs were found. */
#define LIMIT_COUNTS_FIELDS(X) X(1, RECS, items, limit_count)
RECORD_DECLARE(limit_counts, LIMIT_COUNTS_FIELDS)

/* Counters of sdiag, as rows. */
#define DIAG_FIELDS(X) X(1, RECS, items, key_value)
RECORD_DECLARE(diag, DIAG_FIELDS)

/* ---- nodes and their GPUs ---- */
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
    X(14, ASSOC_DUMP, assoc_file) /* answers ASSOC_FILE */                                         \
    X(15, ASSOC_FILE, assoc_file)                                                                  \
    X(16, ASSOC_LOAD, assoc_file) /* answers ASSOC_CHANGED */                                      \
    X(17, LIST_CHANGES, change_query)                                                              \
    X(18, CHANGE_LIST, change_list)                                                                \
    X(62, LIST_SHARES, empty) /* all that the user may see */                                      \
    X(63, SHARE_LIST, share_list)                                                                  \
    X(67, LIST_LIMIT_COUNTS, empty) /* all that the user may see */                                \
    X(68, LIMIT_COUNTS, limit_counts)                                                              \
    X(140, CRONTAB_SET, crontab_set)                                                               \
    X(141, CRONTAB_GET, crontab)                                                                   \
    X(69, CRONTAB, crontab)                                                                        \
    X(95, TRIGGER_SET, trigger)                                                                    \
    X(96, TRIGGER_GET, empty) /* answers TRIGGER_LIST */                                           \
    X(97, TRIGGER_LIST, trigger_list)                                                              \
    X(98, TRIGGER_CLEAR, trigger) /* by id, job_id, uid: what is given */                          \
    X(94, CRONTAB_REPLY, crontab_reply)                                                            \
    X(65, WHY, why)                                                                                \
    X(66, WHY_REPLY, why_reply)                                                                    \
    /* node -> controller: 70 to 79, and nobody else (is_node_message()) */                        \
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
    X(115, FILE_RESULT, file_result)                                                               \
    /* controller <-> slurmdbd, commands -> slurmdbd */                                            \
    X(116, DBD_REGISTER, acct_cluster) /* answers DBD_WELCOME */                                   \
    X(117, DBD_WELCOME, dbd_welcome)                                                               \
    X(118, DBD_EVENTS, dbd_events) /* answers DBD_ACK */                                           \
    X(119, DBD_ACK, dbd_ack)                                                                       \
    X(120, LIST_CLUSTERS, empty)                                                                   \
    X(121, CLUSTER_LIST, cluster_list)                                                             \
    /* commands -> controller, slurmdbd */                                                         \
    X(122, LIST_EVENTS, event_query)                                                               \
    X(123, EVENT_LIST, event_list)                                                                 \
    /* usage: a controller tells what the cluster has had, slurmdbd its sums */                    \
    X(124, LIST_CAPACITIES, empty)                                                                 \
    X(125, CAPACITY_LIST, capacity_list)                                                           \
    X(126, LIST_USAGE, usage_query)                                                                \
    X(127, USAGE_LIST, usage_list)                                                                 \
    X(128, LIST_CLUSTER_USE, usage_query)                                                          \
    X(129, CLUSTER_USE_LIST, cluster_use_list)                                                     \
    /* the book: a controller says what it has, slurmdbd what counts, and what is to go */         \
    X(132, DBD_BOOK_MINE, dbd_book)                                                                \
    X(133, DBD_BOOK, dbd_book)      /* answers DBD_ANSWER */                                       \
    X(134, DBD_BOOK_TEST, dbd_book) /* entries that would go; answers DBD_ANSWER */                \
    X(135, DBD_ANSWER, dbd_answer)                                                                 \
    X(136, DBD_RUNS, dbd_runs)           /* to a controller: runs without end; DBD_ANSWER */       \
    X(137, LIST_RUNAWAYS, runaway_query) /* answers ACCT_LIST */                                   \
    X(138, ARCHIVE, archive_request)     /* answers ASSOC_CHANGED */                               \
    X(139, CLEAR_STATS, empty)

enum msg {
#define X(number, name, record) MSG_##name = number,
    MESSAGE_TABLE(X)
#undef X
};
/* NULL for an unknown number. */
const struct record *message_record(uint16_t type);
const char *message_name(uint16_t type);

#endif
