/* SPDX-License-Identifier: Apache-2.0 */
/* What has happened to a job: starts that were put off, preemption, failures before. */
#include <string.h>

#include "base/alloc.h"
#include "cli/why.h"
#include "text/hostlist.h"
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

/* The nodes that it avoids, folded; NULL when it does not avoid any now. */
static char *avoided(const struct job *job, int64_t now) {
    const struct job_trouble *trouble = job->trouble;
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    struct str out = STR_INIT;
    if (trouble == NULL || trouble->avoid_until <= now || trouble->failed_nodes.n == 0)
        return NULL;
    for (uint32_t i = 0; i < trouble->failed_nodes.n; i++)
        hostlist_push(&names, trouble->failed_nodes.items[i]);
    hostlist_fold(&names, &out);
    return str_take(&out);
}

void why_trouble(const struct job *job, int64_t now, enum language language, struct str *out) {
    const struct job_trouble *trouble = job->trouble;
    cleanup_free char *nodes = avoided(job, now);
    if (job->launch_failures > 0)
        str_printf(out, phrase(language, PHRASE_WHY_NOT_LAUNCHED), job->launch_failures,
                   job->failed_node != NULL ? job->failed_node : "?");
    if (trouble != NULL && trouble->losses > 0)
        str_printf(out, phrase(language, PHRASE_WHY_NODE_LOSSES), trouble->losses);
    if (trouble != NULL && trouble->quick > 1)
        str_printf(out, phrase(language, PHRASE_WHY_QUICK), trouble->quick);
    if (nodes != NULL) {
        struct str until cleanup_str = STR_INIT;
        why_time(trouble->avoid_until, now, language, &until);
        str_printf(out, phrase(language, PHRASE_WHY_AVOIDS), nodes, str_cstr(&until));
    }
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
