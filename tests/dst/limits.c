/* SPDX-License-Identifier: Apache-2.0 */
#include "limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assoc/assoc.h"
#include "base/alloc.h"
#include "check.h"
#include "core/resize.h"
#include "model/account.h"
#include "model/course.h"

struct charge {
    uint32_t assoc_id, cpus;
};

/* ---- the book ---- */

static const struct assoc *assoc_named(const struct limits *limits, const char *account,
                                       const char *user) {
    size_t at = 0;
    uint64_t id;
    const struct assoc *assoc;
    while ((assoc = map_next(&limits->assocs, &at, &id)) != NULL) {
        if (str_equal(assoc->account, account) && str_equal(assoc->user, user))
            return assoc;
    }
    return NULL;
}

bool limits_know(const struct limits *limits, const char *account, const char *user) {
    return assoc_named(limits, account, user) != NULL;
}

/* From a user's association to the account's own, and on to the one above it. */
static const struct assoc *above(const struct limits *limits, const struct assoc *assoc) {
    const char *name = assoc->user != NULL ? assoc->account : assoc->parent;
    return name != NULL ? assoc_named(limits, name, NULL) : NULL;
}

static bool is_below(const struct limits *limits, uint32_t id, const struct assoc *top) {
    const struct assoc *assoc = map_get(&limits->assocs, id);
    while (assoc != NULL && assoc != top)
        assoc = above(limits, assoc);
    return assoc != NULL;
}

/* ---- records ---- */

static void put(struct map *map, const struct record *record, uint64_t id, struct bytes body) {
    union {
        struct assoc assoc;
        struct assoc_usage usage;
    } read;
    struct arena arena;
    record_free(record, map_remove(map, id));
    if (body.size == 0)
        return;
    arena_init(&arena, 0);
    if (wire_decode(record, body, &arena, &read, NULL) == 0)
        map_put(map, id, record_dup(record, &read));
    arena_done(&arena);
}

static void put_assoc(void *context, uint64_t id, struct bytes body) {
    put(&((struct check *) context)->limits.assocs, &record_assoc, id, body);
}

static void put_usage(void *context, uint64_t id, struct bytes body) {
    if (id >> 32 == ASSOC_ASSOC)
        put(&((struct check *) context)->limits.usage, &record_assoc_usage, (uint32_t) id, body);
}

static void forget(struct map *map, const struct record *record) {
    size_t at = 0;
    uint64_t id;
    void *item;
    while ((item = map_next(map, &at, &id)) != NULL) {
        if (record != NULL)
            record_free(record, item);
        else
            free(item);
    }
    map_done(map);
    *map = (struct map) MAP_INIT;
}

void limits_restored(struct check *check) {
    forget(&check->limits.assocs, &record_assoc);
    forget(&check->limits.usage, &record_assoc_usage);
    vec_reset(&check->limits.started);
    sim_cluster_stored(check->cluster, STORE_ASSOC, put_assoc, check);
    sim_cluster_stored(check->cluster, STORE_USAGE, put_usage, check);
}

void limits_effect(struct check *check, const struct effect *effect) {
    struct bytes body = effect->kind == EFFECT_PUT ? effect->body : (struct bytes) {NULL, 0};
    if (effect->kind != EFFECT_PUT && effect->kind != EFFECT_DELETE)
        return;
    if (effect->store_kind == STORE_ASSOC)
        put_assoc(check, effect->id, body);
    else if (effect->store_kind == STORE_USAGE)
        put_usage(check, effect->id, body);
}

/* ---- jobs ---- */

void limits_job_left(struct check *check, uint32_t job_id) {
    free(map_remove(&check->limits.jobs, job_id));
    map_remove(&check->limits.waiting, job_id);
}

void limits_job(struct check *check, const struct job *job, bool started) {
    struct limits *limits = &check->limits;
    limits_job_left(check, job->job_id);
    if (job->state == JOB_PENDING)
        map_put(&limits->waiting, job->job_id, limits);
    if (!limits->enforced || job->usage_since == 0)
        return;
    struct charge *charge = zalloc(struct charge);
    charge->assoc_id = job->assoc_id;
    for (uint32_t i = 0; i < job_n_entries(job); i++) {
        if (!job_entry(job, i)->released)
            charge->cpus += job_entry(job, i)->cpus;
    }
    map_put(&limits->jobs, job->job_id, charge);
    if (started)
        vec_push(&limits->started, job->job_id);
}

/* ---- what runs ---- */

struct running {
    uint32_t jobs;
    uint64_t cpus;
};

static struct running running_below(const struct limits *limits, const struct assoc *top) {
    struct running sum = {0, 0};
    size_t at = 0;
    uint64_t id;
    const struct charge *charge;
    while ((charge = map_next(&limits->jobs, &at, &id)) != NULL) {
        if (is_below(limits, charge->assoc_id, top)) {
            sum.jobs++;
            sum.cpus += charge->cpus;
        }
    }
    return sum;
}

/* CPU seconds that are settled; what runs comes to it. */
static double used_below(const struct limits *limits, const struct assoc *top) {
    size_t at = 0;
    uint64_t id;
    double sum = 0;
    const struct assoc_usage *usage;
    while ((usage = map_next(&limits->usage, &at, &id)) != NULL) {
        for (uint32_t i = 0; i < usage->tres.n && is_below(limits, (uint32_t) id, top); i++)
            sum += str_equal(usage->tres.items[i].name, "cpu") ? usage->tres.items[i].seconds : 0;
    }
    return sum;
}

/* "cpu=N" of a list that knows nothing else; UINT64_MAX: no limit. */
static uint64_t cpus_of(const char *tres) {
    uint64_t n = UINT64_MAX;
    if (tres != NULL && str_starts(tres, "cpu="))
        (void) !str_to_u64(tres + 4, &n);
    return n;
}

static void verify_group(struct check *check, uint32_t job_id, const struct assoc *assoc) {
    struct running now = running_below(&check->limits, assoc);
    const char *whose = assoc->user != NULL ? assoc->user : assoc->account;
    uint64_t cpus = cpus_of(assoc->grp_tres), minutes = cpus_of(assoc->grp_tres_mins);
    check->limits.n_limited +=
        assoc->grp_jobs != UNSET32 || cpus != UINT64_MAX || minutes != UINT64_MAX;
    if (assoc->grp_jobs != UNSET32 && now.jobs > assoc->grp_jobs)
        check_fail(check, "job %u has started: %u jobs of %s run, GrpJobs=%u", job_id, now.jobs,
                   whose, assoc->grp_jobs);
    if (now.cpus > cpus)
        check_fail(check, "job %u has started: jobs of %s have %llu CPUs, GrpTRES=cpu=%llu", job_id,
                   whose, (unsigned long long) now.cpus, (unsigned long long) cpus);
    double used = used_below(&check->limits, assoc) / 60;
    if (check->limits.sums && minutes != UINT64_MAX && used >= (double) minutes)
        check_fail(check, "job %u has started: %s has used %.1f CPU minutes, GrpTRESMins=cpu=%llu",
                   job_id, whose, used, (unsigned long long) minutes);
}

static void verify_start(struct check *check, uint32_t job_id) {
    const struct charge *charge = map_get(&check->limits.jobs, job_id);
    if (charge == NULL)
        return; /* it has ended at once */
    const struct assoc *own = map_get(&check->limits.assocs, charge->assoc_id), *at = own;
    if (own == NULL) {
        check_fail(check, "job %u has started on no account", job_id);
        return;
    }
    while (at != NULL && at->max_jobs == UNSET32)
        at = above(&check->limits, at);
    if (at != NULL && running_below(&check->limits, own).jobs > at->max_jobs)
        check_fail(check, "job %u has started: %u jobs of %s run, MaxJobs=%u", job_id,
                   running_below(&check->limits, own).jobs, own->user, at->max_jobs);
    for (at = own; at != NULL; at = above(&check->limits, at))
        verify_group(check, job_id, at);
}

void limits_turn(struct check *check) {
    vec_each (&check->limits.started, job_id) {
        verify_start(check, *job_id);
    }
    vec_reset(&check->limits.started);
}

/* ---- the end ---- */

void limits_row(struct check *check, const struct job *job, bool superseded) {
    struct job_course course = job_course_of(job, superseded);
    if (check->limits.enforced && course.start > 0)
        check->limits.rows_seconds += (double) course_seconds(&course, 0, INT64_MAX);
}

void limits_lifted(struct check *check) {
    size_t at = 0;
    uint64_t id;
    if (!check->limits.enforced || check->cluster->core == NULL)
        return;
    while (map_next(&check->limits.waiting, &at, &id) != NULL) {
        const struct job *job = core_job(check->cluster->core, (uint32_t) id);
        const char *reason = job != NULL ? names_text(&names_job_reason, job->reason) : NULL;
        if (reason != NULL && str_starts(reason, "Assoc"))
            check_fail(check, "job %u waits for %s, and there is no limit", job->job_id, reason);
    }
}

void limits_end(struct check *check) {
    struct limits *limits = &check->limits;
    double used = 0;
    size_t at = 0;
    uint64_t id;
    const struct assoc_usage *usage;
    while ((usage = map_next(&limits->usage, &at, &id)) != NULL)
        used += usage->wall;
    if (limits->enforced && limits->sums && fabs(used - limits->rows_seconds) > 0.5)
        check_fail(check, "jobs have run for %.0f s by their rows, %.0f s are stored as used",
                   limits->rows_seconds, used);
}

void limits_done(struct limits *limits) {
    forget(&limits->assocs, &record_assoc);
    forget(&limits->usage, &record_assoc_usage);
    forget(&limits->jobs, NULL);
    map_done(&limits->waiting);
    vec_done(&limits->started);
}
