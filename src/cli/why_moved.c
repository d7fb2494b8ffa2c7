/* SPDX-License-Identifier: Apache-2.0 */
/* What others did to a job: starts that were put off, and preemption. */
#include <string.h>

#include "cli/why.h"
#include "text/timestamp.h"

void why_time(int64_t time, int64_t now, enum language language, struct str *out) {
    if (time > 0)
        timestamp_print(time, NULL, now, out);
    else
        str_append(out, phrase(language, PHRASE_WHY_UNKNOWN_TIME));
}

void why_delay(const struct job *job, int64_t now, enum language language, struct str *out) {
    struct str promised cleanup_str = STR_INIT, next cleanup_str = STR_INIT;
    struct str at cleanup_str = STR_INIT, times cleanup_str = STR_INIT;
    int64_t start = job->start_time > 0 ? job->start_time : job->delayed_to;
    /* As early as promised after all: that is of no interest any more. */
    if (job->n_delays == 0 || (start > 0 && start <= job->promised_start))
        return;
    why_time(job->promised_start, now, language, &promised);
    why_time(start, now, language, &next);
    why_time(job->delay_time, now, language, &at);
    if (job->n_delays > 1)
        str_printf(&times, phrase(language, PHRASE_WHY_DELAYED_TIMES), job->n_delays);
    str_printf(out,
               phrase(language,
                      job->state == JOB_PENDING ? PHRASE_WHY_DELAYED : PHRASE_WHY_DELAYED_STARTED),
               str_cstr(&promised), str_cstr(&next),
               job->delay_cause ? job->delay_cause : phrase(language, PHRASE_WHY_SOMETHING),
               str_cstr(&at), str_cstr(&times));
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

void why_preempted(const struct job *job, int64_t now, enum language language, struct str *out) {
    struct str at cleanup_str = STR_INIT, time cleanup_str = STR_INIT;
    const char *what = preemption_of(job);
    if (what == NULL)
        return;
    bool let_off = strchr(what, ',') != NULL; /* ", which then did not need it" */
    if (job->preempt_time > 0 && !let_off) {
        why_time(job->preempt_time, now, language, &time);
        str_printf(&at, phrase(language, PHRASE_WHY_AT), str_cstr(&time));
    }
    bool goes_on = job->state == JOB_RUNNING && job->preempt_end > 0;
    str_printf(
        out,
        phrase(language, job->state == JOB_PENDING ? PHRASE_WHY_LAST_RUN_WAS : PHRASE_WHY_IT_WAS),
        what, str_cstr(&at), goes_on ? phrase(language, PHRASE_WHY_GRACE_GOES_ON) : "");
}
