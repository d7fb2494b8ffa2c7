/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out what the planner has chosen: see preempt.h. */
#include <signal.h>
#include <string.h>

#include "core/state.h"

static const char *text_of(const char *text) {
    return text != NULL ? text : "";
}

/* ---- for whom others go ---- */

static struct preemptor *preemptor_find(const struct core *core, uint32_t job_id) {
    vec_each (&core->preemptors, preemptor) {
        if (preemptor->job_id == job_id)
            return preemptor;
    }
    return NULL;
}

bool preempt_waits(const struct core *core, uint32_t job_id) {
    return preemptor_find(core, job_id) != NULL;
}

static struct preemptor *preemptor_add(struct core *core, uint32_t job_id) {
    struct preemptor *preemptor = preemptor_find(core, job_id);

    if (preemptor == NULL) {
        preemptor = vec_add(&core->preemptors);
        preemptor->job_id = job_id;
    }
    preemptor->idle = false;
    return preemptor;
}

static void victim_note(struct preemptor *preemptor, const struct core_job *victim) {
    preemptor->victims =
        xreallocarray(preemptor->victims, preemptor->n_victims + 1, sizeof(*preemptor->victims));
    preemptor->victims[preemptor->n_victims++] = victim->rec.job_id;
    for (uint32_t i = 0; i < victim->rec.allocation.n; i++)
        vec_push(&preemptor->nodes, victim->rec.allocation.items[i].node);
}

/* Not only victims leave: others there may have ended just before, and what the victims gave back
 * is kept until those have gone, too. (Another configuration may have numbered the nodes anew; then
 * it may wait for the wrong ones, but never longer than `until`.) */
static bool nodes_are_left(const struct core *core, const struct preemptor *preemptor) {
    vec_each (&preemptor->nodes, node) {
        if (*node < core->n_nodes && core->nodes[*node].n_completing > 0)
            return true;
    }
    return false;
}

static void preemptor_done(struct preemptor *preemptor) {
    free(preemptor->victims);
    vec_done(&preemptor->nodes);
    vec_done(&preemptor->awaited);
}

/* Chosen, and not gone yet. */
static bool victim_goes(const struct core_job *victim, uint32_t preemptor) {
    return victim != NULL && victim->rec.preempted_by == preemptor &&
           (victim->rec.preempt_end > 0 || (victim->rec.flags & JOB_FLAG_COMPLETING));
}

static bool others_are_left(const struct core *core, const struct preemptor *preemptor) {
    vec_each (&preemptor->awaited, id) {
        const struct core_job *job = job_find(core, *id);
        if (job != NULL &&
            (job->rec.preempt_end > 0 || (job->rec.flags & JOB_FLAG_COMPLETING) != 0))
            return true;
    }
    return false;
}

struct core_job *preempt_next_victim(struct core *core, uint32_t job_id, size_t *at) {
    const struct preemptor *preemptor = preemptor_find(core, job_id);

    while (preemptor != NULL && *at < preemptor->n_victims) {
        struct core_job *victim = job_find(core, preemptor->victims[(*at)++]);
        if (victim_goes(victim, job_id))
            return victim;
    }
    return NULL;
}

/* Its grace was for a job that no longer needs it. */
static void victim_let_off(struct core *core, struct core_job *victim) {
    struct str text cleanup_str = STR_INIT;

    if (victim->rec.preempt_end == 0 || !job_has_nodes(victim))
        return;
    str_printf(&text, "%s, which then did not need it", text_of(victim->rec.provenance));
    string_set(&victim->rec.provenance, text.data);
    victim->rec.end_time = victim->rec.end_before_preempt;
    victim->rec.preempt_end = 0;
    victim->rec.preempted_by = 0;
    sched_run_leaving(core->sched, victim->rec.job_id, false,
                      victim->rec.end_time > 0 ? victim->rec.end_time : SCHED_FOREVER);
    job_touch(core, victim);
    job_arm(core, victim);
}

static void preemptor_drop(struct core *core, size_t at) {
    struct preemptor gone = core->preemptors.items[at];

    vec_remove(&core->preemptors, at);
    sched_job_preempting(core->sched, gone.job_id, false);
    for (size_t i = 0; i < gone.n_victims; i++) {
        struct core_job *victim = job_find(core, gone.victims[i]);
        if (victim_goes(victim, gone.job_id))
            victim_let_off(core, victim);
    }
    preemptor_done(&gone);
    core->plan_wanted = true;
}

void preempt_started(struct core *core, uint32_t job_id) {
    const struct preemptor *preemptor = preemptor_find(core, job_id);

    if (preemptor != NULL)
        preemptor_drop(core, (size_t) (preemptor - core->preemptors.items));
}

/* ---- the victim ---- */

static void victim_warn(struct core *core, struct core_job *job, int64_t grace) {
    job->rec.preempt_end = core->now + grace;
    job->rec.end_before_preempt = job->rec.end_time;
    if (job->rec.end_time == 0 || job->rec.end_time > job->rec.preempt_end)
        job->rec.end_time = job->rec.preempt_end;
    job_signal(core, job, SIGCONT, 0);
    if (core->preempt.user_signal && job->rec.signal != 0 && !job->rec.warned)
        job_warn(core, job);
    else
        job_signal(core, job, SIGTERM, 0);
    sched_run_leaving(core->sched, job->rec.job_id, true, job->rec.preempt_end);
    job_arm(core, job);
}

void preempt_finish(struct core *core, struct core_job *job) {
    int64_t grace, exempt;
    uint32_t mode = preempt_mode_of(core, job, &grace, &exempt);

    job->rec.preempt_end = 0;
    if (mode != PREEMPT_REQUEUE || job->rec.kind != JOB_KIND_BATCH || job->rec.requeue != TRI_YES) {
        job_finish(core, job, JOB_PREEMPTED, REASON_NONE, 0, "DUE TO PREEMPTION");
        return;
    }
    job->rec.queue_head = core->preempt.to_head;
    job_requeue(core, job, false, JOB_PREEMPTED, "DUE TO PREEMPTION", REASON_NONE);
}

void preempt_ends(struct core *core, struct core_job *job) {
    job->rec.preempt_end = 0;
    if (core->preempt.on || core->preempt.gang)
        sched_run_leaving(core->sched, job->rec.job_id, true, core->now);
}

/* "in order; preempted by job 12 under partition tiers"; the latter half also where users see it,
 * unless an administrator has written something there. */
static void note_provenance(struct core *core, struct core_job *job, uint32_t by) {
    struct str text cleanup_str = STR_INIT, what cleanup_str = STR_INIT;
    static const char word[] = "preempted by job ";

    str_printf(&what, "%s%u under %s", word, by,
               core->preempt.by_qos ? "QOS rules" : "partition tiers");
    str_printf(&text, "%s; %s", text_of(job->rec.provenance), what.data);
    string_set(&job->rec.provenance, text.data);
    if (job->rec.system_comment == NULL || str_starts(job->rec.system_comment, word))
        string_set(&job->rec.system_comment, what.data);
}

static void victim_take(struct core *core, struct core_job *job, uint32_t by, bool turn) {
    int64_t grace, exempt;
    uint32_t mode = preempt_mode_of(core, job, &grace, &exempt);

    if (turn) { /* the next one's, of the same partition: that is no preemption */
        job_pause(core, job);
        gang_wait(core);
        core->plan_again = true;
        return;
    }
    job->rec.preempt_time = core->now;
    job->rec.preempted_by = by;
    note_provenance(core, job, by);
    job_touch(core, job);
    if (mode == PREEMPT_SUSPEND) {
        job_pause(core, job);
        core->plan_again = true;
        return;
    }
    if (grace > 0)
        victim_warn(core, job, grace);
    else
        preempt_finish(core, job);
}

/* ---- with the planner ---- */

bool preempt_is_turn(const struct core *core, const struct sched_preempt *chosen,
                     const struct core_job *victim) {
    return !core->preempt.by_qos &&
           str_equal(victim->rec.partition, core->partitions[chosen->partition].rec.name);
}

void preempt_commit(struct core *core, const struct sched_preempt *chosen) {
    struct core_job *job = job_find(core, chosen->job_id);

    if (job == NULL || !job_is_pending(job) || !job->in_sched) {
        sched_job_preempting(core->sched, chosen->job_id, false);
        return;
    }
    struct preemptor *preemptor = preemptor_add(core, chosen->job_id);
    preemptor->until = core->now + core->settings.kill_wait + PREEMPT_PATIENCE;
    for (size_t i = 0; i < chosen->n_awaited; i++)
        vec_push(&preemptor->awaited, chosen->awaited[i]);
    for (size_t i = 0; i < chosen->n_victims; i++) {
        struct core_job *victim = job_find(core, chosen->victims[i]);
        int64_t grace, exempt;
        if (victim == NULL || !job_has_nodes(victim) || victim->rec.preempt_end > 0)
            continue;
        (void) preempt_mode_of(core, victim, &grace, &exempt);
        preemptor->until = max_of(preemptor->until,
                                  core->now + grace + core->settings.kill_wait + PREEMPT_PATIENCE);
        victim_note(preemptor, victim);
        victim_take(core, victim, chosen->job_id, preempt_is_turn(core, chosen, victim));
    }
    core->plan_wanted = true;
}

void preempt_before_pass(struct core *core) {
    vec_each (&core->preemptors, preemptor) {
        preemptor->idle = !nodes_are_left(core, preemptor) && !others_are_left(core, preemptor);
        for (size_t i = 0; i < preemptor->n_victims; i++) {
            if (victim_goes(job_find(core, preemptor->victims[i]), preemptor->job_id))
                preemptor->idle = false;
        }
    }
}

/* Whoever waits no longer needs no victims. One for whom all have gone, or should have, and who
 * still did not start (a node was lost, say) is a job like any other again. */
void preempt_after_pass(struct core *core) {
    for (size_t i = 0; i < core->preemptors.n;) {
        const struct preemptor *preemptor = &core->preemptors.items[i];
        const struct core_job *job = job_find(core, preemptor->job_id);
        bool waits = job != NULL && job_is_pending(job) && job->in_sched;
        if (!waits || preemptor->idle || core->now >= preemptor->until)
            preemptor_drop(core, i);
        else
            i++;
    }
}

int64_t preempt_next(const struct core *core) {
    int64_t next = INT64_MAX;

    vec_each (&core->preemptors, preemptor) {
        next = min_of(next, preemptor->until);
    }
    return next;
}

/* ---- after a restart ---- */

void preempt_restored(struct core *core) {
    jobs_each (core, job) {
        if (job->rec.preempted_by == 0 || !victim_goes(job, job->rec.preempted_by))
            continue;
        struct preemptor *preemptor = preemptor_add(core, job->rec.preempted_by);
        preemptor->until =
            max_of(preemptor->until, max_of(job->rec.preempt_end, core->now) +
                                         core->settings.kill_wait + PREEMPT_PATIENCE);
        victim_note(preemptor, job);
    }
}

void preempt_free_all(struct core *core) {
    vec_each (&core->preemptors, preemptor) {
        preemptor_done(preemptor);
    }
    vec_done(&core->preemptors);
}
