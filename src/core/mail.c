/* SPDX-License-Identifier: Apache-2.0 */
/* Mail to the owner: which events are told, and in which words. Sending is the shell's business. */
#include <string.h>

#include "core/state.h"

static void put_status(const struct core_job *job, struct str *out) {
    str_printf(out, ", %s", names_text(&names_job_state, job->rec.state));
    if (job->rec.state == JOB_COMPLETED || job->rec.state == JOB_FAILED) {
        if (job->rec.exit_status & 0x7f)
            str_printf(out, ", Term Sig %u", job->rec.exit_status & 0x7f);
        else
            str_printf(out, ", ExitCode %u", (job->rec.exit_status >> 8) & 0xff);
    }
}

/* To the address of the job. */
static void post(struct core *core, const struct core_job *job, const struct str *subject) {
    cleanup_free char *with_domain = NULL;
    const char *address = job->rec.mail_user;
    if (address == NULL && core->settings.mail_domain != NULL)
        address = with_domain = xasprintf("%s@%s", job->rec.user_name, core->settings.mail_domain);
    if (address == NULL)
        address = job->rec.user_name;
    struct effect *effect = emit(core, EFFECT_MAIL);
    effect->id = job->rec.job_id;
    effect->text = arena_strndup(&core->out->memory, subject->data, subject->length);
    effect->body = (struct bytes) {(const uint8_t *) arena_strdup(&core->out->memory, address),
                                   strlen(address)};
}

static void send(struct core *core, const struct core_job *job, const char *word,
                 const char *span_name, int64_t span, bool with_status) {
    struct str subject cleanup_str = STR_INIT;
    if (job->array != NULL)
        str_printf(&subject, "Slurm Array Task Job_id=%u_%u (%u) Name=%s %s", job->rec.array_job_id,
                   job->rec.array_task_id, job->rec.job_id, job->rec.name, word);
    else
        str_printf(&subject, "Slurm Job_id=%u Name=%s %s", job->rec.job_id, job->rec.name, word);
    if (span_name != NULL) {
        str_printf(&subject, ", %s ", span_name);
        duration_print_long(max_of(span, (int64_t) 0), &subject);
    }
    if (with_status)
        put_status(job, &subject);
    post(core, job, &subject);
}

/* Of an array as a whole. */
static void send_summary(struct core *core, const struct core_job *job, const char *word,
                         const char *status) {
    struct str subject cleanup_str = STR_INIT;
    str_printf(&subject, "Slurm Array Summary Job_id=%u_* (%u) Name=%s %s%s", job->rec.array_job_id,
               job->rec.array_job_id, job->rec.name, word, status);
    post(core, job, &subject);
}
/* Tasks are told of one by one only when that is asked for. */
static bool tells_as_a_whole(const struct core_job *job) {
    return job->array != NULL && !(job->rec.mail_type & MAIL_ARRAY_TASKS);
}

static bool is_first_start(const struct core_job *job) {
    const struct core_array *array = job->array;
    return array->past == 0 && job->rec.restarts == 0 && array->n[ARRAY_RUNS] == 1 &&
           array->n[ARRAY_WAITS_AGAIN] + array->n[ARRAY_ENDS] + array->n[ARRAY_OK] +
                   array->n[ARRAY_FAILED] ==
               0;
}

/* The last of its tasks has ended: what became of those that are still known. */
static void array_end(struct core *core, const struct core_job *job) {
    const struct core_array *array = job->array;
    uint32_t low = UINT32_MAX, high = 0, number = 0;
    bool failed = array->past & ARRAY_PAST_FAILED, ok = array->past & ARRAY_PAST_OK;
    if (array->n[ARRAY_WAITS] + array->n[ARRAY_WAITS_AGAIN] + array->n[ARRAY_RUNS] > 0)
        return;
    array_each(array, other) {
        uint32_t code = (other->rec.exit_status >> 8) & 0xff;
        ok |= other->rec.state == JOB_COMPLETED;
        failed |= other->rec.state != JOB_COMPLETED;
        number = max_of(number, other->rec.exit_status & 0x7f);
        low = min_of(low, code);
        high = max_of(high, code);
    }
    bool wanted = job->rec.mail_type & (failed ? MAIL_END | MAIL_FAIL : MAIL_END);
    struct str status cleanup_str = STR_INIT;
    str_printf(&status, ", %s", failed && ok ? "Mixed" : failed ? "FAILED" : "COMPLETED");
    if (number > 0)
        str_printf(&status, ", MaxSignal [%u]", number);
    else
        str_printf(&status, ", ExitCode [%u-%u]", low, high);
    if (wanted)
        send_summary(core, job, failed && (job->rec.mail_type & MAIL_FAIL) ? "Failed" : "Ended",
                     str_cstr(&status));
}

void mail_event(struct core *core, const struct core_job *job, uint32_t event) {
    if (!(job->rec.mail_type & event))
        return;
    if (tells_as_a_whole(job)) {
        if (event == MAIL_BEGIN && is_first_start(job))
            send_summary(core, job, "Began", "");
        return;
    }
    int64_t run = core->now - job->rec.start_time;
    switch (event) {
    case MAIL_BEGIN:
        send(core, job, "Began", "Queued time", core->now - job->rec.submit_time, false);
        break;
    case MAIL_END:
        send(core, job, "Ended", "Run time", run, true);
        break;
    case MAIL_FAIL:
        send(core, job, "Failed", "Run time", run, true);
        break;
    case MAIL_REQUEUE:
        send(core, job, "Requeued", NULL, 0, false);
        break;
    case MAIL_TIME_LIMIT:
        send(core, job, "Reached time limit", "Run time", run, false);
        break;
    case MAIL_INVALID_DEPEND:
        send(core, job, "Invalid dependency", NULL, 0, false);
        break;
    default:
        break;
    }
}

/* ---- parts of the time limit ---- */

static const struct {
    uint32_t event, per_cent;
    const char *word;
} parts[] = {
    {MAIL_TIME_50, 50, "Reached 50% of time limit"},
    {MAIL_TIME_80, 80, "Reached 80% of time limit"},
    {MAIL_TIME_90, 90, "Reached 90% of time limit"},
};

/* When the job has run for so much of its limit; a suspension moves its end and this. */
static int64_t part_due(const struct core_job *job, uint32_t per_cent) {
    int64_t limit = (int64_t) job->rec.time_limit * 60;
    return max_of(job->rec.end_time - limit * (100 - per_cent) / 100, (int64_t) 1);
}

static bool part_is_open(const struct core_job *job, size_t part) {
    return job->rec.end_time > 0 && job->rec.time_limit < MINUTES_INFINITE &&
           (job->rec.mail_type & ~job->rec.mail_told & parts[part].event) && !tells_as_a_whole(job);
}

int64_t mail_due(const struct core_job *job) {
    for (size_t i = 0; i < countof(parts); i++) {
        if (part_is_open(job, i))
            return part_due(job, parts[i].per_cent);
    }
    return 0;
}

void mail_parts(struct core *core, struct core_job *job) {
    for (size_t i = 0; i < countof(parts); i++) {
        if (!part_is_open(job, i) || core->now < part_due(job, parts[i].per_cent))
            continue;
        job->rec.mail_told |= parts[i].event;
        send(core, job, parts[i].word, "Run time", core->now - job->rec.start_time, false);
        job_touch(core, job);
    }
}

void mail_gpu_idle(struct core *core, const struct core_job *job, int64_t idle_seconds) {
    if (job->rec.mail_type & (MAIL_FAIL | MAIL_TIME_LIMIT))
        send(core, job, "GPUs idle", "Idle time", idle_seconds, false);
}

/* The end is told once: as a failure if that is asked for and it was one. */
void mail_end(struct core *core, const struct core_job *job) {
    bool failed = job->rec.state != JOB_COMPLETED;
    if (tells_as_a_whole(job)) {
        array_end(core, job);
        return;
    }
    if (job->rec.state == JOB_TIMEOUT)
        mail_event(core, job, MAIL_TIME_LIMIT);
    if (failed && (job->rec.mail_type & MAIL_FAIL))
        mail_event(core, job, MAIL_FAIL);
    else
        mail_event(core, job, MAIL_END);
}
