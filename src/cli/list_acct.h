/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs and steps sacct shows: its window of time, states, ids and ranges. */
#ifndef SLUICE_CLI_LIST_ACCT_H
#define SLUICE_CLI_LIST_ACCT_H

#include "cli/columns_acct.h"
#include "cli/list.h"
#include "text/hostlist.h"

struct acct_range {
    uint64_t low, high;
    bool given;
};

struct acct_filter {
    struct strs ids; /* "12", "12_3", "12_[1-3]", "12.batch" */
    struct u32s uids, assocs;
    bool all_users;
    struct strs accounts, partitions, names, qos, groups, reasons, wckeys, constraints;
    struct hostlist nodes;
    struct job_states states;
    bool by_state;
    int64_t start, end; /* the window */
    bool start_given, end_given;
    bool het_alone; /* the number of a first component does not mean the others */
    bool allocations, duplicates, unfold, truncate;
    bool want_script, want_environment;
    uint32_t flags; /* enum acct_flag, 0 = any */
    struct acct_range nnodes, ncpus, minutes;
};
void acct_filter_done(struct acct_filter *filter);

/* Adds the states of a comma list, in the words of sacct. */
must_check int acct_states_parse(struct acct_filter *filter, const char *text, struct error *err);
/* The window is one instant, which surprises: states with a start and no end. */
static inline bool acct_window_is_instant(const struct acct_filter *filter) {
    return filter->by_state && filter->start_given && !filter->end_given;
}
/* "Jobs Eligible in the time window from Epoch 0 to Mon Nov 30 12:16:12 2026" */
void acct_window_print(const struct acct_filter *filter, struct str *out);
/* `N` or `N-M`. */
bool acct_range_parse(const char *text, struct acct_range *ret);
bool acct_id_is_valid(const char *text);
/* The window when not all of it was given: see the table in the manual. midnight: of today. */
void acct_window_set(struct acct_filter *filter, int64_t now, int64_t midnight);
/* Borrows from the filter. */
void acct_query_make(const struct acct_filter *filter, struct acct_query *ret);

/* Leaves those that match, in order. */
void acct_jobs_choose(const struct acct_filter *filter, struct rows *jobs);
/* From jobs with steps (struct acct_job) to rows (struct acct_row, in the arena): filtered, in
 * order, each job before its steps. */
void acct_rows_build(const struct acct_filter *filter, struct rows *jobs, struct arena *arena,
                     struct rows *ret_rows);

#endif
