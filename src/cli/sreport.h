/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sreport counts: the use of jobs within a window of time, and what became of the clusters'
 * capacity. Pure: records go in one by one, rows come out. What goes in are either sums of
 * slurmdbd, or the jobs, capacities and outages of the controller's own history, from which the
 * same sums are made by the same arithmetic (model/course.h). Times are seconds, multiplied by the
 * TRES (memory in MiB).
 */
#ifndef SLUICE_CLI_SREPORT_H
#define SLUICE_CLI_SREPORT_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/messages.h"
#include "schema/columns.h"

#define SREPORT_TRES_MAX 64
#define SREPORT_GROUPS_MAX 64

/* One line of a report; what a report does not tell is NULL or 0. */
struct sreport_row {
    const char *cluster, *account, *login, *proper, *wckey, *tres;
    double used;  /* seconds times the TRES */
    double total; /* of the cluster in the window, for percentages */
    double allocated, down, planned_down, idle, planned, over, reported;
    uint64_t tres_count;              /* on the average */
    double sizes[SREPORT_GROUPS_MAX]; /* by groups of CPUs: seconds, or numbers of jobs */
};

enum sreport_unit { /* bits: a share may stand behind a time */
                    SREPORT_SECONDS = 1,
                    SREPORT_MINUTES = 2,
                    SREPORT_HOURS = 4,
                    SREPORT_PERCENT = 8,
};

enum sreport_kind {
    SREPORT_ACCOUNT_BY_USER,
    SREPORT_USER_BY_ACCOUNT,
    SREPORT_USER_BY_WCKEY,
    SREPORT_WCKEY_BY_USER,
    SREPORT_UTILIZATION,
    SREPORT_TOP,
    SREPORT_SIZES_BY_ACCOUNT,
    SREPORT_SIZES_BY_WCKEY,
    SREPORT_SIZES_BY_BOTH,
};

struct sreport_question {
    enum sreport_kind kind;
    int64_t start, end; /* [start, end), full hours */
    int64_t now;
    const char *cluster; /* of history */
    struct strs tres;    /* "cpu", "gres/gpu"; the first one sorts */
    bool all_tres;
    struct strs accounts, users, wckeys, partitions;
    bool tree, group, flat, count_jobs;
    uint32_t top;
    uint32_t groups[SREPORT_GROUPS_MAX]; /* first size of each group of CPUs but the first */
    size_t n_groups;
};

/* Owned: names are copies. */
struct sreport;
struct sreport *sreport_new(const struct sreport_question *question); /* borrowed */
void sreport_free(struct sreport *report);
/* First of all: the tree of a cluster's accounts. */
void sreport_accounts(struct sreport *report, const struct assoc_list *accounts);
/* Sums of slurmdbd. */
void sreport_usage(struct sreport *report, const struct usage_row *row);
void sreport_cluster_use(struct sreport *report, const struct cluster_use *use);
/* History: what there was, each until the next; outages; then jobs. */
void sreport_capacities(struct sreport *report, const struct acct_capacity *const *list, size_t n);
void sreport_outage(struct sreport *report, const struct acct_outage *outage);
void sreport_job(struct sreport *report, const struct acct_job *acct);
/* The lines, in order, owned by the report. */
struct sreport_row *const *sreport_rows(struct sreport *report, size_t *ret_n);

/* To the nearest full hours of the local calendar; a window has one at least. */
void sreport_window(int64_t *start, int64_t *end);

/* Columns; their env->data is a struct sreport_look. */
struct sreport_look {
    uint32_t unit; /* enum sreport_unit, one time and perhaps SREPORT_PERCENT */
};
extern const struct column_table columns_sreport;
/* "12(3.45%)": seconds in the unit, with their share of the total. */
void sreport_time_print(double seconds, double total, uint32_t unit, struct str *out);

#endif
