/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of jobs, tasks and steps as people write them. */
#include "model/job_ref.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "text/idset.h"

bool job_ref_parse(const char *text, struct job_ref *ret) {
    char *end;
    if (!isdigit((unsigned char) *text))
        return false;
    unsigned long id = strtoul(text, &end, 10);
    if (id == 0 || id >= UINT32_MAX)
        return false;
    *ret = (struct job_ref) {(uint32_t) id, *end == '_' ? end + 1 : NULL, NULL, UNSET32};
    if (str_equal(ret->tasks, "*"))
        ret->tasks = NULL; /* all of them */
    if (*end == '+') {
        unsigned long component = strtoul(end + 1, &end, 10);
        if (component >= HET_COMPONENTS_MAX)
            return false;
        ret->component = (uint32_t) component;
    }
    const char *dot = strchr(end, '.');
    ret->step = dot ? dot + 1 : NULL;
    return true;
}

bool job_ref_tasks(const struct job_ref *ref, struct idset *set) {
    if (!ref->tasks)
        return false;
    cleanup_free char *text = xstrndup(ref->tasks, strcspn(ref->tasks, "."));
    uint32_t limit;
    return idset_parse(set, text, UINT32_MAX, &limit, NULL) == 0;
}

/* Whether one of the sets has the job's task, or one of its waiting tasks. What people write may
 * reach to 2^32: no walk over its members. */
static bool tasks_meet(const struct idset *sets, size_t n, const struct job *job) {
    struct idset waiting cleanup_idset = IDSET_INIT;
    uint32_t limit;
    bool group = job->array_task_id == UNSET32;
    if (group && (!job->array_tasks ||
                  idset_parse(&waiting, job->array_tasks, UINT32_MAX, &limit, NULL) < 0))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct idset inside cleanup_idset = IDSET_INIT, rest cleanup_idset = IDSET_INIT;
        if (group)
            idset_divide(&waiting, &sets[i], &inside, &rest);
        if (group ? inside.n > 0 : idset_contains(&sets[i], job->array_task_id))
            return true;
    }
    return false;
}

bool job_ref_match(const struct job_ref *ref, const struct job *job) {
    if (ref->component != UNSET32)
        return ref->job_id == job->het_job_id && ref->component == job->het_offset;
    if (!ref->tasks)
        return ref->job_id == job->job_id || ref->job_id == job->array_job_id ||
               ref->job_id == job->het_job_id;
    struct idset wanted cleanup_idset = IDSET_INIT;
    return ref->job_id == job->array_job_id && job_ref_tasks(ref, &wanted) &&
           tasks_meet(&wanted, 1, job);
}

/* ---- many ---- */

static int ref_order(const void *a, const void *b) {
    const struct job_ref *x = a, *y = b;
    return x->job_id < y->job_id ? -1 : x->job_id > y->job_id;
}

/* The tasks of references to one array, as one set where that can be. */
static void tasks_take(struct job_tasks *tasks, const struct job_ref *refs, size_t n,
                       bool with_steps) {
    struct str text cleanup_str = STR_INIT;
    struct idset merged cleanup_idset = IDSET_INIT;
    for (size_t i = 0; i < n; i++) {
        struct idset set = IDSET_INIT;
        if (refs[i].step && !with_steps)
            continue;
        uint32_t component = refs[i].component;
        if (component != UNSET32)
            tasks->components[component / 64] |= (uint64_t) 1 << component % 64;
        tasks->all |= !refs[i].tasks && component == UNSET32;
        if (!job_ref_tasks(&refs[i], &set))
            continue;
        const char *written = refs[i].tasks + (*refs[i].tasks == '[');
        str_append_char(&text, ',');
        str_append_bytes(&text, written, strcspn(written, "]%."));
        vec_push(&tasks->sets, set);
    }
    if (tasks->sets.n < 2 || idset_parse(&merged, str_cstr(&text), UINT32_MAX, NULL, NULL) < 0)
        return;
    vec_each (&tasks->sets, set)
        idset_done(set);
    vec_reset(&tasks->sets);
    vec_push(&tasks->sets, merged);
    merged = (struct idset) IDSET_INIT;
}

static void tasks_done(struct job_tasks *tasks) {
    vec_each (&tasks->sets, set)
        idset_done(set);
    vec_done(&tasks->sets);
}

void job_refs_init(struct job_refs *refs, const struct strs *ids) {
    vec(struct job_ref) all = {0};
    *refs = (struct job_refs) {.any = ids->n == 0};
    for (uint32_t i = 0; i < ids->n; i++) {
        struct job_ref ref;
        if (job_ref_parse(ids->items[i], &ref))
            vec_push(&all, ref);
    }
    if (all.n > 0)
        qsort(all.items, all.n, sizeof(*all.items), ref_order);
    for (size_t i = 0, end; i < all.n; i = end) {
        for (end = i + 1; end < all.n && all.items[end].job_id == all.items[i].job_id; end++)
            ;
        struct job_wanted *wanted = vec_add(&refs->items);
        wanted->job_id = all.items[i].job_id;
        tasks_take(&wanted->tasks, &all.items[i], end - i, true);
        tasks_take(&wanted->whole, &all.items[i], end - i, false);
        for (size_t k = i; k < end; k++) {
            if (all.items[k].step)
                vec_push(&wanted->with_step, all.items[k]);
        }
    }
    vec_done(&all);
}

void job_refs_done(struct job_refs *refs) {
    vec_each (&refs->items, wanted) {
        tasks_done(&wanted->tasks);
        tasks_done(&wanted->whole);
        vec_done(&wanted->with_step);
    }
    vec_done(&refs->items);
}

static int wanted_order(const void *key, const void *element) {
    const uint32_t *job_id = key;
    const struct job_wanted *wanted = element;
    return *job_id < wanted->job_id ? -1 : *job_id > wanted->job_id;
}

static const struct job_wanted *wanted_find(const struct job_refs *refs, uint32_t job_id) {
    if (job_id == 0 || refs->items.n == 0)
        return NULL;
    return bsearch(&job_id, refs->items.items, refs->items.n, sizeof(*refs->items.items),
                   wanted_order);
}

/* By the number of its array, or of the first component of its job. */
static const struct job_wanted *wanted_whole(const struct job_refs *refs, const struct job *job) {
    return wanted_find(refs, job->array_job_id ? job->array_job_id : job->het_job_id);
}

static bool is_among(const struct job_tasks *tasks, const struct job *job, bool alone) {
    uint32_t component = job->het_offset % HET_COMPONENTS_MAX;
    if (!job->het_job_id)
        return tasks->all || tasks_meet(tasks->sets.items, tasks->sets.n, job);
    return (tasks->all && !alone) || tasks->components[component / 64] >> component % 64 & 1;
}

bool job_refs_match(const struct job_refs *refs, const struct job *job) {
    const struct job_wanted *self = wanted_find(refs, job->job_id);
    const struct job_wanted *whole = wanted_whole(refs, job);
    return refs->any || (self && self->tasks.all) ||
           (whole && is_among(&whole->tasks, job, refs->alone));
}

static bool step_in(const struct job_wanted *wanted, const struct job *job, const char *step) {
    vec_each (&wanted->with_step, ref) {
        if (!strcasecmp(ref->step, step) && job_ref_match(ref, job))
            return true;
    }
    return false;
}

bool job_refs_match_step(const struct job_refs *refs, const struct job *job, const char *step) {
    const struct job_wanted *self = wanted_find(refs, job->job_id);
    const struct job_wanted *whole = wanted_whole(refs, job);
    if (refs->any || (self && self->whole.all) ||
        (whole && is_among(&whole->whole, job, refs->alone)))
        return true;
    return step && ((self && step_in(self, job, step)) ||
                    (whole && whole != self && step_in(whole, job, step)));
}
