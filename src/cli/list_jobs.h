/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which jobs and steps a listing shows: the filters of squeue, as a request to the controller and
 * as a check of what came back (the controller may send more than was asked for), and the unfolding
 * of array records.
 */
#ifndef SLUICE_CLI_LIST_JOBS_H
#define SLUICE_CLI_LIST_JOBS_H

#include "base/arena.h"
#include "cli/list.h"
#include "model/job_ref.h"
#include "model/messages.h"
#include "text/hostlist.h"

struct job_query {
    struct strs ids;   /* "12", "12_3", "12_[1-3]"; with steps "12.0" */
    struct strs users; /* names or uids, as given */
    struct u32s uids;  /* what they mean */
    bool by_user;      /* users were given, though perhaps none exists */
    bool not_users;    /* --notme */
    struct strs partitions, accounts, qos, names, licenses;
    const char *reservation;
    const char *nodelist;
    struct job_states states;
    bool all;           /* hidden partitions too */
    bool unfold;        /* one row for each waiting task of an array */
    bool per_partition; /* one row for each partition of a waiting job */
};
void job_query_done(struct job_query *query);

/* "12", "12_3", "12_[1-3]", "12.0", "12.batch". */
bool job_id_is_valid(const char *text);
/* Fills uids from names; unknown ones are appended to `unknown`, one a line. */
void job_query_users(struct job_query *query, struct str *unknown);

/* The request for these jobs with the given fields; it borrows from the query and the mask. */
void job_query_request(const struct job_query *query, const struct field_mask *fields,
                       struct list_request *ret);
/* Fields that job_query_choose reads. */
void job_query_fields(struct field_mask *mask);
/* Leaves the jobs that match; nodes: NULL, or on one of these. */
void job_query_choose(const struct job_query *query, const struct hostlist *nodes,
                      struct rows *jobs);
bool job_query_match_step(const struct job_query *query, const struct step *step,
                          const struct hostlist *nodes);

/* Calls fn for each row that a record stands for: the tasks of an array that wait (query->unfold,
 * or those that ids like 12_3 name), and each partition (per_partition). A row is there during the
 * call. */
typedef void (*job_row_fn)(const struct job *row, void *context);
void job_rows_each(const struct job_query *query, const struct job *job, job_row_fn fn,
                   void *context);
/* Replaces the records by such rows, which live in the arena. */
void rows_unfold(struct rows *rows, const struct job_query *query, struct arena *arena);

#endif
