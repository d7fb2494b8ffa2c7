/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the listing commands share: buffered output, messages with the command's name in front,
 * comma lists, names of states, asking the controller for records.
 */
#ifndef SLUICE_CLI_LIST_H
#define SLUICE_CLI_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "cli/connect.h"
#include "model/messages.h"
#include "schema/columns.h"
#include "text/hostlist.h"

/* ---- output: one buffer, written to stdout in pieces of 64 KiB ---- */
#define LIST_OUTPUT_PIECE (64u << 10)
/* Writes the buffer when it holds a piece. A reader that has gone ends the command quietly. */
void list_output(struct str *out);
void list_output_all(struct str *out);

/* "squeue: error: …" on stderr. */
void list_error(const char *fmt, ...) printf_like(1, 2);
/* The same, then exit(1). */
_Noreturn void list_fail(const char *fmt, ...) printf_like(1, 2);

/* ---- environment ---- */
/* SLURM_TIME_FORMAT, SLURM_BITSTR_LEN, the present time. */
void list_env_init(struct column_env *env, const char *cluster);
/* "Mon Nov 30 12:16:12 2026" and a newline. */
void list_date_print(int64_t now, struct str *out);

/* ---- lists ---- */
struct rows {
    const void **items;
    size_t n, capacity;
};
void rows_push(struct rows *rows, const void *row);
void rows_done(struct rows *rows);
/* Of rows that are nodes: the one of this name; NULL when there is none. */
const struct node *rows_find_node(const struct rows *rows, const char *name);
/* Sorted lines, written to stdout behind what `out` holds. */
void lines_print(const struct line_table *lines, struct str *out);
/* All rows as lines, written as they fill the buffer. */
void rows_print(const struct rows *rows, const struct format *format, struct column_env *env,
                struct str *out);

/* Appends the words of a comma list; strings belong to the list. */
void strs_split(struct strs *list, const char *text);

void u32s_push(struct u32s *list, uint32_t value);

/* A user by name or, where none is called so, by number. */
bool list_user_find(const char *text, uint32_t *ret_uid);

/* True if any name of the host list `text` (NULL: none) is one of nodes. */
bool list_nodes_match(const char *text, const struct hostlist *nodes);

/* Whether the invoking user is in one of the groups of a partition's AllowGroups (root and "ALL"
 * always are): the others' partitions are shown on request only. */
bool list_groups_allow(const char *allow_groups);

/* ---- job states ---- */
struct job_states {
    uint64_t states; /* bit per base state: exactly this one, without flags */
    uint32_t flags;  /* or any of these flags */
    bool all;
    bool active; /* squeue's default: any PENDING, RUNNING, SUSPENDED; or COMPLETING */
};
/* Adds the states of a comma list. */
must_check int job_states_parse(struct job_states *states, const char *text, struct error *err);
bool job_states_match(const struct job_states *states, uint32_t state, uint32_t flags);
/* Every name, in the order that error messages list them. */
void job_states_names(struct str *out);

/* ---- asking the controller ---- */
/* One command's configuration and connection. Records of all lists stay until the session is
 * closed; it may be used again afterwards. */
struct list_session {
    struct cli cli;
    const struct conf *conf; /* list_session_conf() */
    struct cli_link link, dbd_link;
    bool open, dbd_open;
    bool partial; /* slurmdbd or the controller did not answer: something may be missing */
};
void list_session_init(struct list_session *session, const char *name);
/* The configuration, read when it is first needed; ends the command when there is none. */
const struct conf *list_session_conf(struct list_session *session);
void list_session_close(struct list_session *session);
/* -M: our own cluster's name, or "all". Ends the command for any other. */
void list_clusters_check(struct list_session *session, const char *names);
/* "slurm_load_jobs error: Invalid job id specified" on stderr, then what else is known. */
void list_load_error(const char *what, const struct error *err);
/* What is known beyond the error's own text, if anything: "scontrol: note: …", as which node is not
 * there, or host, port and the cure where the controller could not be asked. */
void list_why_note(const struct error *err);
/* "<cmd>: note: TEXT" on stderr: a cure beside the classic words. */
void list_note(const char *text);
/* Who we are, "" for a user without a name. */
const char *list_own_name(void);

/* One request, one reply, in the session's arena; err->code is the controller's. */
must_check int list_ask(struct list_session *session, uint16_t type, const void *body,
                        uint16_t reply_type, const void **ret_reply, struct error *err);
/* The same of slurmdbd, ERR_ACCOUNTING_DISABLED where there is none; and of whoever keeps the
 * accounts: slurmdbd, where it is configured, else the controller. */
must_check int list_ask_dbd(struct list_session *session, uint16_t type, const void *body,
                            uint16_t reply_type, const void **ret_reply, struct error *err);
must_check int list_ask_book(struct list_session *session, uint16_t type, const void *body,
                             uint16_t reply_type, const void **ret_reply, struct error *err);
/* The accounts of all clusters, a struct assoc_list each. */
must_check int list_books(struct list_session *session, struct rows *rows, struct error *err);
/* What the user may see of the shares; NULL after saying why there is nothing. */
const struct share_list *list_shares(struct list_session *session);
/* Likewise what counts against limits. */
const struct limit_counts *list_limit_counts(struct list_session *session);
/* The value of a key of slurm.conf as the controller knows it, or NULL. */
const char *config_value(const struct config_list *list, const char *key);
/* Sends a list request and appends the items of all its replies to rows. */
must_check int list_jobs(struct list_session *session, const struct list_request *request,
                         struct rows *rows, struct error *err);
/* Likewise, but hands over the items as they arrive; they go away when on_rows() returns. It is
 * called at least once when the request succeeds, maybe with no rows. */
typedef void (*list_take)(void *context, struct rows *rows);
must_check int list_jobs_each(struct list_session *session, const struct list_request *request,
                              list_take on_rows, void *context, struct error *err);
must_check int list_steps_each(struct list_session *session, const struct list_request *request,
                               list_take on_rows, void *context, struct error *err);
/* An id like 12_3 or 12.0 names nothing: is it the task or step that is missing, or job 12? */
bool list_job_exists(struct list_session *session, const char *id);
must_check int list_steps(struct list_session *session, const struct list_request *request,
                          struct rows *rows, struct error *err);
must_check int list_nodes(struct list_session *session, const struct list_request *request,
                          struct rows *rows, struct error *err);
must_check int list_partitions(struct list_session *session, const struct list_request *request,
                               struct rows *rows, struct error *err);
must_check int list_reservations(struct list_session *session, const struct list_request *request,
                                 struct rows *rows, struct error *err);
must_check int list_gpus(struct list_session *session, const struct list_request *request,
                         struct rows *rows, struct error *err);
/* What the cluster has had, of the controller. */
must_check int list_capacities(struct list_session *session, struct rows *rows, struct error *err);
/* What slurmdbd has summed up; struct usage_row, struct cluster_use. */
must_check int list_usage(struct list_session *session, const struct usage_query *query,
                          struct rows *rows, struct error *err);
must_check int list_cluster_use(struct list_session *session, const struct usage_query *query,
                                struct rows *rows, struct error *err);
must_check int list_events(struct list_session *session, const struct event_query *query,
                           struct rows *rows, struct error *err);
must_check int list_changes(struct list_session *session, const struct change_query *query,
                            struct rows *rows, struct error *err);
/* From the controller and, where it is configured, from slurmdbd. One of the two that does not
 * answer is told on stderr and in session->partial. query->clusters ("all": all) is for slurmdbd;
 * without it our own is meant. */
must_check int list_accounting(struct list_session *session, const struct acct_query *query,
                               struct rows *rows, struct error *err);

#endif
