/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of sreport share: sreport.c, users and their jobs; sreport_hours.c, the capacity.
 */
#ifndef SLUICE_CLI_SREPORT_INTERNAL_H
#define SLUICE_CLI_SREPORT_INTERNAL_H

#include "cli/sreport.h"
#include "model/course.h"

struct sreport_who {
    const char *cluster, *account, *login, *wckey; /* what a line does not tell is NULL */
};

struct sreport {
    const struct sreport_question *question;
    struct arena memory;
    char *tres[SREPORT_TRES_MAX]; /* names, as they come up */
    size_t n_tres;
    struct smap index;   /* what tells a row apart -> struct sreport_row */
    struct smap parents; /* account of a cluster -> the one above it */
    vec(struct sreport_row *) rows;
    vec(struct cluster_use) clusters; /* one of each cluster and TRES; texts in memory */
    struct map hours;                 /* of history: hour's start and TRES -> struct cluster_sum */
};

/* The place of a TRES; SREPORT_TRES_MAX: there are too many. */
size_t tres_at(struct sreport *report, const char *name);
/* Calls fn for each item of a list that the report is about. */
void tres_each(struct sreport *report, const char *list,
               void (*fn)(struct sreport *report, size_t at, uint64_t count, void *context),
               void *context);
/* What the job held and waited for, hour by hour. */
void hours_job(struct sreport *report, const struct job *job, const struct job_course *course);
/* The hours' sums, into clusters. */
void hours_sum(struct sreport *report);

#endif
