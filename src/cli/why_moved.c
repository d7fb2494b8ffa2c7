/* SPDX-License-Identifier: Apache-2.0 */
/* What others did to a job: starts that were put off, and preemption. */
#include <string.h>

#include "cli/why.h"
#include "text/timestamp.h"

void why_time(int64_t time, int64_t now, struct str *out) {
    if (time > 0)
        timestamp_print(time, NULL, now, out);
    else
        str_append(out, "an unknown time");
}

void why_delay(const struct job *job, int64_t now, struct str *out) {
    int64_t start = job->start_time > 0 ? job->start_time : job->delayed_to;
    /* As early as promised after all: that is of no interest any more. */
    if (job->n_delays == 0 || (start > 0 && start <= job->promised_start))
        return;
    str_append(out, "It had been expected at ");
    why_time(job->promised_start, now, out);
    str_append(out, job->state == JOB_PENDING ? ", now " : ", and started at ");
    why_time(start, now, out);
    str_printf(out, ": %s (at ", job->delay_cause ? job->delay_cause : "something changed");
    why_time(job->delay_time, now, out);
    if (job->n_delays > 1)
        str_printf(out, ", the last of %u times that it was put off", job->n_delays);
    str_append(out, ").\n");
}

static const char preempted[] = "; preempted by job ";

/* The last preemption of its run, without the separator; NULL = none is told. */
static const char *preemption_of(const struct job *job) {
    const char *found = NULL, *next = job->provenance;
    while (next && (next = strstr(next, preempted)) != NULL) {
        found = next + strlen("; ");
        next = found;
    }
    return found;
}

int why_started_length(const struct job *job) {
    if (job->provenance == NULL)
        return 0;
    const char *end = strstr(job->provenance, preempted);
    return (int) (end ? (size_t) (end - job->provenance) : strlen(job->provenance));
}

void why_preempted(const struct job *job, int64_t now, struct str *out) {
    const char *what = preemption_of(job);
    if (what == NULL)
        return;
    str_printf(out, job->state == JOB_PENDING ? "Its last run was %s" : "It was %s", what);
    bool let_off = strchr(what, ',') != NULL; /* ", which then did not need it" */
    if (job->preempt_time > 0 && !let_off) {
        str_append(out, " at ");
        why_time(job->preempt_time, now, out);
    }
    if (job->state == JOB_RUNNING && job->preempt_end > 0)
        str_append(out, "; it may run on for its grace time");
    str_append(out, ".\n");
}
