/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <string.h>

#include "check.h"
#include "model/reservation.h"

/* Above the core's patience with victims that do not go. */
#define PATIENCE 300

/* ---- reservations ---- */

static void forget_one(void *record) {
    record_free(&record_reservation, record);
}

static void forget_all(struct rules *rules) {
    size_t at = 0;
    uint64_t id;
    void *record;
    while ((record = map_next(&rules->reservations, &at, &id)) != NULL)
        forget_one(record);
    map_done(&rules->reservations);
    rules->reservations = (struct map) MAP_INIT;
}

void rules_reservation(struct check *check, uint64_t id, struct bytes body) {
    struct map *map = &check->rules.reservations;
    struct reservation read;
    struct arena arena;
    forget_one(map_remove(map, id));
    if (body.size == 0)
        return;
    arena_init(&arena, 0);
    if (wire_decode(&record_reservation, body, &arena, &read, NULL) == 0)
        map_put(map, id, record_dup(&record_reservation, &read));
    arena_done(&arena);
}

static void stored_one(void *context, uint64_t id, struct bytes body) {
    rules_reservation(context, id, body);
}

void rules_restored(struct check *check) {
    forget_all(&check->rules);
    map_done(&check->rules.awaited);
    check->rules.awaited = (struct map) MAP_INIT;
    sim_cluster_stored(check->cluster, STORE_RESERVATION, stored_one, check);
}

static bool names(const char *list, const char *name) {
    return list != NULL && str_has_word(list, name, ",");
}

static const struct reservation_part *part_on(const struct reservation *rec, const char *node) {
    for (uint32_t i = 0; i < rec->parts.n; i++) {
        if (str_equal(rec->parts.items[i].node, node))
            return &rec->parts.items[i];
    }
    return NULL;
}

static void verify_inside(struct check *check, const struct job *job,
                          const struct reservation *rec) {
    bool flex = rec->flags & RESERVATION_FLEX;
    check->rules.n_reserved++;
    if (!names(rec->users, job->user_name))
        check_fail(check, "job %u of %s has started in %s, which is for %s", job->job_id,
                   job->user_name, rec->name, rec->users);
    if (!flex && rec->start_time > job->start_time)
        check_fail(check, "job %u has started in %s before it begins", job->job_id, rec->name);
    for (uint32_t i = 0; i < job->allocation.n && !flex; i++) {
        if (part_on(rec, job->allocation.items[i].name) == NULL)
            check_fail(check, "job %u in %s has started on %s, which is outside", job->job_id,
                       rec->name, job->allocation.items[i].name);
    }
}

static void verify_outside(struct check *check, const struct job *job,
                           const struct reservation *rec) {
    bool meet =
        rec->end_time > job->start_time && (job->end_time == 0 || rec->start_time < job->end_time);
    for (uint32_t i = 0; i < job->allocation.n && meet; i++) {
        const struct reservation_part *part = part_on(rec, job->allocation.items[i].name);
        if (part != NULL && part->whole)
            check_fail(check, "job %u has started on %s, which is reserved as %s from %lld on",
                       job->job_id, part->node, rec->name, (long long) rec->start_time);
    }
}

void rules_started(struct check *check, const struct job *job) {
    size_t at = 0;
    uint64_t id;
    const struct reservation *rec;
    while ((rec = map_next(&check->rules.reservations, &at, &id)) != NULL) {
        if (names(job->reservation, rec->name))
            verify_inside(check, job, rec);
        else if (job->reservation == NULL) /* with MAINT one overlaps another */
            verify_outside(check, job, rec);
    }
}

/* ---- preemption ---- */

static const struct conf_partition *partition_of(const struct check *check, const struct job *job) {
    return conf_partition_find(check->cluster->conf, job->partition);
}

static uint32_t highest_tier(const struct check *check, const char *partitions) {
    cleanup_free char *copy = xstrdup(partitions);
    char *cursor = copy;
    uint32_t tier = 0;
    for (char *name = str_next_word(&cursor, ","); name != NULL;
         name = str_next_word(&cursor, ",")) {
        const struct conf_partition *part = conf_partition_find(check->cluster->conf, name);
        tier = part != NULL ? max_of(tier, part->priority_tier) : tier;
    }
    return tier;
}

/* Whoever has started is in one partition only. */
static void note_partitions(struct rules *rules, const struct job *job) {
    if (job->state == JOB_PENDING && job->partition != NULL &&
        !str_equal(map_get(&rules->partitions, job->job_id), job->partition)) {
        free(map_remove(&rules->partitions, job->job_id));
        map_put(&rules->partitions, job->job_id, xstrdup(job->partition));
    }
}

/* Others may go for it in one partition, and what they leave let it start in another one. */
static uint32_t tier_of(const struct check *check, const struct job *job) {
    const char *own = map_get(&check->rules.partitions, job->job_id);
    const char *array = map_get(&check->rules.partitions, job->array_job_id);
    if (own == NULL && array == NULL)
        return UINT32_MAX; /* came and started in this turn */
    uint32_t tier = highest_tier(check, job->partition);
    tier = own != NULL ? max_of(tier, highest_tier(check, own)) : tier;
    return array != NULL ? max_of(tier, highest_tier(check, array)) : tier;
}

void rules_job(struct check *check, const struct job *job, int64_t preempt_time) {
    struct rules *rules = &check->rules;
    note_partitions(rules, job);
    int64_t clock = sim_core_now(check->cluster);
    if (job->attempt > 0) { /* or a task of the array */
        map_remove(&rules->awaited, job->job_id);
        map_remove(&rules->awaited, job->array_job_id);
    }
    if (job->preempted_by == 0 || job->preempt_time == preempt_time || job->preempt_time != clock)
        return;
    rules->n_preempted++;
    vec_push(&rules->went, job->job_id);
    vec_push(&rules->went, job->preempted_by);
}

/* Is there a reservation of that name, into which it could not be drawn without asking for it? */
static bool is_kept_out(const struct check *check, const struct job *job, const char *name) {
    size_t at = 0;
    uint64_t id;
    const struct reservation *rec;
    while ((rec = map_next(&check->rules.reservations, &at, &id)) != NULL) {
        if (str_equal(rec->name, name))
            return !(rec->flags & RESERVATION_MAGNETIC) || !names(rec->users, job->user_name);
    }
    return false;
}

static void verify_went(struct check *check, uint32_t victim_id, uint32_t preemptor_id) {
    const struct job *victim = core_job(check->cluster->core, victim_id);
    const struct job *preemptor = core_job(check->cluster->core, preemptor_id);
    int64_t clock = sim_core_now(check->cluster);
    if (preemptor == NULL || (preemptor->state != JOB_PENDING && preemptor->start_time != clock)) {
        check_fail(check, "job %u had to go for job %u, which does not wait", victim_id,
                   preemptor_id);
        return;
    }
    if (victim == NULL)
        return;
    const struct conf_partition *part = partition_of(check, victim);
    uint32_t grace = part != NULL ? part->grace_time : 0;
    if (part != NULL && part->priority_tier >= tier_of(check, preemptor))
        check_fail(check, "job %u in %s had to go for job %u in %s", victim_id, victim->partition,
                   preemptor_id, preemptor->partition);
    if (victim->reservation != NULL && preemptor->reservation == NULL &&
        victim->state != JOB_PENDING && is_kept_out(check, preemptor, victim->reservation))
        check_fail(check, "job %u in reservation %s had to go for job %u, which is in none",
                   victim_id, victim->reservation, preemptor_id);
    if (grace > 0 && victim->state == JOB_PREEMPTED)
        check_fail(check, "job %u had to go at once, the grace is %u s", victim_id, grace);
    if (preemptor->state == JOB_PENDING)
        map_put(&check->rules.awaited, preemptor_id,
                (void *) (uintptr_t) (clock + grace + PATIENCE));
}

void rules_turn(struct check *check) {
    struct rules *rules = &check->rules;
    size_t at = 0;
    uint64_t id;
    void *due;
    for (size_t i = 0; i < rules->went.n; i += 2)
        verify_went(check, rules->went.items[i], rules->went.items[i + 1]);
    vec_reset(&rules->went);
    while (rules->calm && (due = map_next(&rules->awaited, &at, &id)) != NULL) {
        const struct job *job = core_job(check->cluster->core, (uint32_t) id);
        bool waits = job != NULL && job->state == JOB_PENDING;
        if (waits && sim_core_now(check->cluster) <= (int64_t) (uintptr_t) due)
            continue;
        rules->n_unserved += waits;
        map_remove(&rules->awaited, id);
        at = 0;
    }
}

void rules_done(struct rules *rules) {
    size_t at = 0;
    uint64_t id;
    void *partitions;
    forget_all(rules);
    while ((partitions = map_next(&rules->partitions, &at, &id)) != NULL)
        free(partitions);
    map_done(&rules->partitions);
    map_done(&rules->reservations);
    map_done(&rules->awaited);
    vec_done(&rules->went);
}
