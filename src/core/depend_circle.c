/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Circles of jobs that wait for each other. What waits is a record: a job, a task, or the tasks of
 * an array that have not parted yet; who waits for a whole array waits for all of its records.
 */
#include "core/state.h"

/* How much of a circle is named. */
#define CIRCLE_NAMED 8

/* A walk over open dependencies: from whom each record was reached. */
struct walk {
    struct map from;   /* job id -> the id that waits for it, as pointer */
    struct map arrays; /* ids of those whose records have all been reached */
    vec(uint32_t) todo;
};

static void walk_reach(struct walk *walk, uint32_t from, const struct core_job *job) {
    if (job == NULL || map_get(&walk->from, job->rec.job_id) != NULL)
        return;
    map_put(&walk->from, job->rec.job_id, (void *) (uintptr_t) from);
    vec_push(&walk->todo, job->rec.job_id);
}

static void walk_follow(const struct core *core, struct walk *walk, uint32_t from,
                        const struct depend *depend) {
    if (depend->kind == DEPEND_SINGLETON || depend->state != DEPEND_OPEN || depend->unknown)
        return;
    struct core_array *array = array_find(core, depend->job_id);
    if (array == NULL) {
        walk_reach(walk, from, job_find(core, depend->job_id));
    } else if (depend->task != UNSET32) {
        walk_reach(walk, from, array_task(array, depend->task));
    } else if (map_get(&walk->arrays, array->id) == NULL) {
        map_put(&walk->arrays, array->id, array);
        array_each(array, record) walk_reach(walk, from, record);
    }
}

static void id_print(const struct core *core, uint32_t id, struct str *out) {
    const struct core_job *job = job_find(core, id);
    if (job->rec.array_job_id == 0)
        str_printf(out, "%u", id);
    else if (job->rec.array_task_id == UNSET32)
        str_printf(out, "%u", job->rec.array_job_id);
    else
        str_printf(out, "%u_%u", job->rec.array_job_id, job->rec.array_task_id);
}

/* "9 waits for 7, 7 for 8, 8 for 9", read back from the end of the walk. */
static void circle_print(const struct core *core, const struct walk *walk, uint32_t start,
                         struct str *out) {
    vec(uint32_t) way = {0};
    uint32_t id = start;
    do {
        vec_push(&way, id);
        id = (uint32_t) (uintptr_t) map_get(&walk->from, id);
    } while (id != start && id != 0);
    vec_push(&way, start);
    for (size_t i = way.n - 1; i > 0; i--) {
        size_t said = way.n - 1 - i;
        if (said == CIRCLE_NAMED && i > 1) {
            str_printf(out, ", … (%zu more)", i - 1);
            i = 1;
        }
        str_append(out, said > 0 ? ", " : "");
        id_print(core, way.items[i], out);
        str_append(out, said > 0 ? " for " : " waits for ");
        id_print(core, way.items[i - 1], out);
    }
    vec_done(&way);
}

bool depend_circle(const struct core *core, const struct core_job *job,
                   const struct depend *depends, size_t n, struct str *ret) {
    struct walk walk = {MAP_INIT, MAP_INIT, {0}};
    bool found = false;
    for (size_t i = 0; i < n; i++)
        walk_follow(core, &walk, job->rec.job_id, &depends[i]);
    while (walk.todo.n > 0 && !found) {
        const struct core_job *other = job_find(core, walk.todo.items[--walk.todo.n]);
        found = other == job;
        for (size_t i = 0; i < other->n_depends && !found; i++)
            walk_follow(core, &walk, other->rec.job_id, &other->depends[i]);
    }
    if (found)
        circle_print(core, &walk, job->rec.job_id, ret);
    map_done(&walk.from);
    map_done(&walk.arrays);
    vec_done(&walk.todo);
    return found;
}
