/* SPDX-License-Identifier: Apache-2.0 */
/* Mail to the owner: which events are told, and in which words. Sending is the shell's business. */
#include <string.h>

#include "core/state.h"

static bool is_first_of_array(const struct core_job *job) {
    return job->rec.array_job_id == 0 || (job->rec.mail_type & MAIL_ARRAY_TASKS) != 0;
}

static void put_status(const struct core_job *job, struct str *out) {
    str_printf(out, ", %s", names_text(&names_job_state, job->rec.state));
    if (job->rec.state == JOB_COMPLETED || job->rec.state == JOB_FAILED) {
        if (job->rec.exit_status & 0x7f)
            str_printf(out, ", Term Sig %u", job->rec.exit_status & 0x7f);
        else
            str_printf(out, ", ExitCode %u", (job->rec.exit_status >> 8) & 0xff);
    }
}

static void send(struct core *core, const struct core_job *job, const char *word,
                 const char *span_name, int64_t span, bool with_status) {
    struct str subject cleanup_str = STR_INIT;
    str_printf(&subject, "Slurm Job_id=%u Name=%s %s", job->rec.job_id, job->rec.name, word);
    if (span_name != NULL) {
        str_printf(&subject, ", %s ", span_name);
        duration_print_long(max_of(span, (int64_t) 0), &subject);
    }
    if (with_status)
        put_status(job, &subject);
    cleanup_free char *with_domain = NULL;
    const char *address = job->rec.mail_user;
    if (address == NULL && core->settings.mail_domain != NULL)
        address = with_domain = xasprintf("%s@%s", job->rec.user_name, core->settings.mail_domain);
    if (address == NULL)
        address = job->rec.user_name;
    struct effect *effect = emit(core, EFFECT_MAIL);
    effect->id = job->rec.job_id;
    effect->text = arena_strndup(&core->out->memory, subject.data, subject.length);
    effect->body = (struct bytes) {
        (const uint8_t *) arena_strndup(&core->out->memory, address, strlen(address)),
        strlen(address)};
}

void mail_event(struct core *core, const struct core_job *job, uint32_t event) {
    if (!(job->rec.mail_type & event) || !is_first_of_array(job))
        return;
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

void mail_gpu_idle(struct core *core, const struct core_job *job, int64_t idle_seconds) {
    if (job->rec.mail_type & (MAIL_FAIL | MAIL_TIME_LIMIT))
        send(core, job, "GPUs idle", "Idle time", idle_seconds, false);
}

/* The end is told once: as a failure if that is asked for and it was one. */
void mail_end(struct core *core, const struct core_job *job) {
    bool failed = job->rec.state != JOB_COMPLETED;
    if (job->rec.state == JOB_TIMEOUT)
        mail_event(core, job, MAIL_TIME_LIMIT);
    if (failed && (job->rec.mail_type & MAIL_FAIL))
        mail_event(core, job, MAIL_FAIL);
    else
        mail_event(core, job, MAIL_END);
}
