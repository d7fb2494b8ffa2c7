/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "aftercorr" between arrays: task i waits for task i of the other array. While all wait they stay
 * one record; a task whose counterpart has ended leaves it.
 */
#include "core/state.h"

/* What has become of a group's counterparts; those without one have nothing to wait for. */
struct corr {
    struct idset met, failed, open;
};

static void corr_done(struct corr *corr) {
    idset_done(&corr->met);
    idset_done(&corr->failed);
    idset_done(&corr->open);
}

/* Moves what `tasks` says from met to the set of the verdict. */
static void corr_sort(struct corr *corr, const struct idset *tasks, enum depend_state verdict) {
    struct idset found cleanup_idset = IDSET_INIT;
    uint32_t task = 0;
    if (verdict == DEPEND_MET)
        return;
    struct idset *target = verdict == DEPEND_OPEN ? &corr->open : &corr->failed;
    idset_divide(&corr->met, tasks, &found, &corr->met);
    if (target->n == 0) {
        idset_copy(target, &found);
        return;
    }
    for (bool more = idset_next(&found, 0, &task); more; more = idset_next(&found, task + 1, &task))
        idset_add(target, task);
}

static void corr_look(struct core *core, const struct depend *depend,
                      const struct core_array *array, const struct core_job *group,
                      struct corr *ret) {
    *ret = (struct corr) {0};
    idset_copy(&ret->met, &group->tasks);
    const struct bygone_job *bygone = bygone_find(core, depend);
    if (bygone != NULL)
        corr_sort(ret, &bygone->tasks_failed, DEPEND_FAILED);
    for (size_t i = 0; array != NULL && i < array->groups.n; i++) {
        const struct core_job *other = array->groups.items[i];
        corr_sort(ret, &other->tasks, depend_job_verdict(core, depend, other));
    }
    array_each(array, other) {
        enum depend_state verdict = depend_job_verdict(core, depend, other);
        uint32_t task = other->rec.array_task_id;
        if (task == UNSET32 || verdict == DEPEND_MET || !idset_remove(&ret->met, task))
            continue;
        idset_add(verdict == DEPEND_OPEN ? &ret->open : &ret->failed, task);
    }
}

/* It may wait on, and then by the clock of its group. */
static void waits_apart(struct core *core, struct core_job *job) {
    job_arm(core, job);
    depend_note_itself(core, job);
}

static void take_apart(struct core *core, struct core_job *group, const struct idset *tasks) {
    struct core_job *job = array_take_set(core, group, tasks);
    job->corr_wanted = true;
    waits_apart(core, job);
}

/* Those that differ get records of their own, which are looked at next. */
static void corr_part(struct core *core, struct core_job *group, struct depend *depend,
                      const struct corr *corr) {
    uint64_t all = idset_count(&group->tasks);
    if (idset_count(&corr->open) == all)
        return;
    if (idset_count(&corr->met) == all || idset_count(&corr->failed) == all) {
        depend->state = corr->met.n > 0 ? DEPEND_MET : DEPEND_FAILED;
        return;
    }
    if (corr->failed.n > 0)
        take_apart(core, group, &corr->failed);
    if (corr->met.n > 0 && corr->open.n > 0)
        take_apart(core, group, &corr->met);
    else if (group->rec.array_tasks != NULL && corr->open.n == 0)
        depend->state = DEPEND_MET;
}

void corr_divide(struct core *core, struct core_job *group) {
    group->corr_wanted = false;
    for (size_t i = 0; i < group->n_depends && group->rec.array_tasks != NULL; i++) {
        struct depend *depend = &group->depends[i];
        if (depend->kind != DEPEND_CORR || depend->state != DEPEND_OPEN || depend->task != UNSET32)
            continue;
        const struct core_array *array = depend->unknown ? NULL : array_find(core, depend->job_id);
        if (array == NULL && bygone_find(core, depend) == NULL)
            continue;
        struct corr corr;
        corr_look(core, depend, array, group, &corr);
        corr_part(core, group, depend, &corr);
        corr_done(&corr);
    }
}

void corr_task_changed(struct core *core, struct core_job *group, uint32_t array_id,
                       uint32_t task) {
    const struct core_array *array = array_find(core, array_id);
    const struct core_job *counterpart = array_task(array, task);
    bool ended = counterpart != NULL && depend_has_ended(counterpart);
    if (task == UNSET32) {
        group->corr_wanted = true;
        depend_note_itself(core, group);
    } else if (ended && idset_contains(&group->tasks, task)) {
        waits_apart(core, array_take(core, group, task));
    }
}
