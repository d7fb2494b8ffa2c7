/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --dependency=singleton: of the jobs with one name and user only one runs at a time, in the order
 * of their ids. The jobs of a name are listed once the first of them asks to be the only one.
 */
#include <string.h>

#include "core/state.h"

/* Jobs that have not ended, by their ids. */
struct namesakes {
    char *key;
    job_ptrs jobs;
};

static char *key_of(const struct core_job *job) {
    return xasprintf("%u:%s", job->rec.uid, job->rec.name != NULL ? job->rec.name : "");
}

static struct namesakes *namesakes_of(const struct core *core, const struct core_job *job) {
    if (core->namesakes.n == 0)
        return NULL;
    cleanup_free char *key = key_of(job);
    return smap_get(&core->namesakes, key);
}

/* Where a job is, or belongs. */
static size_t place_of(const struct namesakes *names, uint32_t job_id) {
    size_t low = 0, high = names->jobs.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names->jobs.items[middle]->rec.job_id < job_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct namesakes *names, struct core_job *job) {
    size_t at = place_of(names, job->rec.job_id);
    if (at < names->jobs.n && names->jobs.items[at] == job)
        return;
    vec_push(&names->jobs, job);
    memmove(&names->jobs.items[at + 1], &names->jobs.items[at],
            (names->jobs.n - 1 - at) * sizeof(*names->jobs.items));
    names->jobs.items[at] = job;
}

static void namesakes_free(struct core *core, struct namesakes *names) {
    smap_remove(&core->namesakes, names->key);
    vec_done(&names->jobs);
    free(names->key);
    free(names);
}

void singletons_free(struct core *core) {
    size_t at = 0;
    const char *key;
    struct namesakes *names;
    while ((names = smap_next(&core->namesakes, &at, &key)) != NULL)
        namesakes_free(core, names);
    smap_done(&core->namesakes);
}

static struct namesakes *namesakes_make(struct core *core, const struct core_job *job) {
    struct namesakes *names = zalloc(struct namesakes);
    names->key = key_of(job);
    jobs_each (core, other) {
        if (!depend_has_ended(other) && other->rec.uid == job->rec.uid &&
            str_equal(other->rec.name, job->rec.name))
            insert(names, other);
    }
    smap_put(&core->namesakes, names->key, names);
    return names;
}

/* Tasks of one array, or components of one job. */
static bool belong_together(const struct core_job *a, const struct core_job *b) {
    return (a->rec.array_job_id != 0 && a->rec.array_job_id == b->rec.array_job_id) ||
           (a->rec.het_job_id != 0 && a->rec.het_job_id == b->rec.het_job_id);
}

bool singleton_may_go(struct core *core, const struct core_job *job) {
    struct namesakes *names = namesakes_of(core, job);
    if (names == NULL)
        names = namesakes_make(core, job);
    vec_each (&names->jobs, at) {
        const struct core_job *other = *at;
        if (other == job || belong_together(job, other))
            continue;
        if (other->rec.job_id < job->rec.job_id || job_has_nodes(other) ||
            (other->rec.flags & JOB_FLAG_COMPLETING))
            return false;
    }
    return true;
}

/* Behind the first that has not ended nobody may go but the tasks of its own array. */
static void look(struct core *core, const struct namesakes *names) {
    const struct core_job *first = NULL;
    vec_each (&names->jobs, at) {
        const struct core_job *job = *at;
        if (first != NULL && !belong_together(first, job))
            return;
        if (job_is_pending(job) && !list_is_empty(&job->depending))
            depend_note_itself(core, job);
        first = first != NULL ? first : job;
    }
}

void singleton_joins(struct core *core, struct core_job *job) {
    struct namesakes *names = namesakes_of(core, job);
    if (names != NULL && !depend_has_ended(job))
        insert(names, job);
}

void singleton_leaves(struct core *core, struct core_job *job) {
    struct namesakes *names = namesakes_of(core, job);
    if (names == NULL)
        return;
    size_t at = place_of(names, job->rec.job_id);
    if (at < names->jobs.n && names->jobs.items[at] == job) {
        memmove(&names->jobs.items[at], &names->jobs.items[at + 1],
                (names->jobs.n - 1 - at) * sizeof(*names->jobs.items));
        names->jobs.n--;
    }
    if (names->jobs.n == 0)
        namesakes_free(core, names);
    else
        look(core, names);
}

void singleton_ended(struct core *core, struct core_job *job) {
    if (core->namesakes.n > 0 && depend_has_ended(job))
        singleton_leaves(core, job);
}
