/* SPDX-License-Identifier: Apache-2.0 */
/* How a job has ended, and what reasons and exit codes mean. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "cli/why.h"
#include "text/duration.h"

static const struct {
    uint32_t reason;
    enum phrase_id phrase;
} reasons[] = {
    {REASON_NONE, PHRASE_WHY_NONE},
    {REASON_PRIORITY, PHRASE_WHY_PRIORITY},
    {REASON_RESOURCES, PHRASE_WHY_RESOURCES},
    {REASON_DEPENDENCY, PHRASE_WHY_DEPENDENCY},
    {REASON_DEPENDENCY_NEVER, PHRASE_WHY_DEPENDENCY_NEVER},
    {REASON_BEGIN_TIME, PHRASE_WHY_BEGIN_TIME},
    {REASON_HELD_USER, PHRASE_WHY_HELD_USER},
    {REASON_HELD_ADMIN, PHRASE_WHY_HELD_ADMIN},
    {REASON_MAX_REQUEUE, PHRASE_WHY_MAX_REQUEUE},
    {REASON_ARRAY_TASK_LIMIT, PHRASE_WHY_ARRAY_TASK_LIMIT},
    {REASON_LICENSES, PHRASE_WHY_LICENSES},
    {REASON_REQ_NODE_NOT_AVAIL, PHRASE_WHY_REQ_NODE_NOT_AVAIL},
    {REASON_RESERVATION, PHRASE_WHY_RESERVATION},
    {REASON_RESERVATION_DELETED, PHRASE_WHY_RESERVATION_DELETED},
    {REASON_PARTITION_DOWN, PHRASE_WHY_PARTITION_DOWN},
    {REASON_PARTITION_INACTIVE, PHRASE_WHY_PARTITION_INACTIVE},
    {REASON_PARTITION_NODE_LIMIT, PHRASE_WHY_PARTITION_NODES},
    {REASON_PARTITION_TIME_LIMIT, PHRASE_WHY_PARTITION_TIME},
    {REASON_PARTITION_CONFIG, PHRASE_WHY_PARTITION_CONFIG},
    {REASON_NODES_UNAVAILABLE, PHRASE_WHY_NODES_UNAVAILABLE},
    {REASON_BAD_CONSTRAINTS, PHRASE_WHY_BAD_CONSTRAINTS},
    {REASON_DEADLINE, PHRASE_WHY_DEADLINE},
    {REASON_CLEANING, PHRASE_WHY_CLEANING},
    {REASON_LAUNCH_HELD, PHRASE_WHY_LAUNCH_HELD},
    {REASON_REQUEUED_HELD, PHRASE_WHY_REQUEUED_HELD},
};

const char *why_reason(uint32_t reason, enum language language) {
    for (size_t i = 0; i < countof(reasons); i++) {
        if (reasons[i].reason == reason)
            return phrase(language, reasons[i].phrase);
    }
    return NULL;
}

/* Codes that shells and the C library give a meaning, and signals that tell something. */
struct meaning {
    int number;
    enum phrase_id phrase;
};
static const struct meaning codes[] = {
    {1, PHRASE_WHY_CODE_1},     {2, PHRASE_WHY_CODE_2},     {126, PHRASE_WHY_CODE_126},
    {127, PHRASE_WHY_CODE_127}, {255, PHRASE_WHY_CODE_255},
};
static const struct meaning signals[] = {
    {SIGSEGV, PHRASE_WHY_SIGNAL_SEGV},
    {SIGKILL, PHRASE_WHY_SIGNAL_KILL},
    {SIGBUS, PHRASE_WHY_SIGNAL_BUS},
    {SIGTERM, PHRASE_WHY_SIGNAL_TERM},
};

/* NULL: it says nothing more. */
static const char *meaning_of(const struct meaning *meanings, size_t n, int number,
                              enum language language) {
    for (size_t i = 0; i < n; i++) {
        if (meanings[i].number == number)
            return phrase(language, meanings[i].phrase);
    }
    return NULL;
}

static void exit_print(int status, enum language language, struct str *out) {
    int code = WEXITSTATUS(status), number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == 0 && code > 128 && code < 128 + 65)
        number = code - 128;
    if (number > 0) {
        const char *what = sigdescr_np(number);
        const char *meaning = meaning_of(signals, countof(signals), number, language);
        str_printf(out, phrase(language, PHRASE_WHY_END_SIGNAL), number, what ? what : "?",
                   meaning ? meaning : "");
        return;
    }
    const char *meaning = meaning_of(codes, countof(codes), code, language);
    str_printf(out, phrase(language, PHRASE_WHY_END_CODE), code);
    if (meaning)
        str_printf(out, " (%s)", meaning);
    str_append_char(out, '.');
}

static void timeout_print(const struct job *job, enum language language, struct str *out) {
    struct str limit cleanup_str = STR_INIT;
    minutes_print_long(job->time_limit, "UNLIMITED", &limit);
    str_printf(out, phrase(language, PHRASE_WHY_END_TIMEOUT), str_cstr(&limit));
}

static void memory_print(const struct job *job, enum language language, struct str *out) {
    str_append(out, phrase(language, PHRASE_WHY_END_MEMORY));
    if (job->tres_req)
        str_printf(out, " (%s)", job->tres_req);
    if (job->max_rss_kib > 0)
        str_printf(out, phrase(language, PHRASE_WHY_END_MEMORY_HAD),
                   (unsigned long long) (job->max_rss_kib / 1024));
    str_append(out, phrase(language, PHRASE_WHY_END_MEMORY_CURE));
}

static void cancelled_print(const struct job *job, enum language language, struct str *out) {
    if (job->cancel_uid == UNSET32)
        str_append(out, phrase(language, PHRASE_WHY_END_CANCELLED));
    else
        str_printf(out,
                   phrase(language, job->cancel_uid == job->uid ? PHRASE_WHY_END_CANCELLED_OWN
                                                                : PHRASE_WHY_END_CANCELLED_BY),
                   job->cancel_uid);
}

void why_end(const struct job *job, enum language language, struct str *out) {
    switch ((enum job_state) job->state) {
    case JOB_COMPLETED:
        str_append(out, phrase(language, PHRASE_WHY_END_WELL));
        break;
    case JOB_TIMEOUT:
        timeout_print(job, language, out);
        break;
    case JOB_OUT_OF_MEMORY:
        memory_print(job, language, out);
        break;
    case JOB_NODE_FAIL:
        str_printf(out, phrase(language, PHRASE_WHY_END_NODE),
                   job->failed_node ? job->failed_node
                   : job->nodes     ? job->nodes
                                    : "?");
        break;
    case JOB_PREEMPTED:
        str_append(out, phrase(language, PHRASE_WHY_END_PREEMPTED));
        break;
    case JOB_CANCELLED:
        cancelled_print(job, language, out);
        break;
    case JOB_DEADLINE:
        str_append(out, phrase(language, PHRASE_WHY_END_DEADLINE));
        break;
    case JOB_BOOT_FAIL:
        str_append(out, phrase(language, PHRASE_WHY_END_BOOT));
        break;
    default:
        exit_print((int) job->exit_status, language, out);
        break;
    }
    if (job->state_desc && job->state == JOB_FAILED && job->exit_status != 0 &&
        !WIFSIGNALED((int) job->exit_status))
        str_printf(out, " %s.", job->state_desc);
}
