/* SPDX-License-Identifier: Apache-2.0 */
/* How long the last jobs of each user have run. */
#include "core/habit.h"

#include <stdlib.h>
#include <string.h>

#include "model/conf.h"

static uint64_t key_of(uint32_t uid, const char *name) {
    uint64_t key = hash_bytes(&uid, sizeof(uid), name ? 3 : 4);
    if (name)
        key = hash_bytes(name, strlen(name), key);
    key &= INT64_MAX; /* numbers of stored records are signed */
    return key ? key : 1;
}

static bool is_of(const struct habit *habit, uint32_t uid, const char *name) {
    return habit->uid == uid && str_equal(habit->name, name);
}

static struct core_habit *entry_find(const struct core *core, uint32_t uid, const char *name) {
    struct core_habit *entry = map_get(&core->habits, key_of(uid, name));
    return entry && is_of(&entry->rec, uid, name) ? entry : NULL;
}

const struct habit *habit_find(const struct core *core, uint32_t uid, const char *name) {
    const struct core_habit *entry = entry_find(core, uid, name);
    return entry ? &entry->rec : NULL;
}

bool habit_may_advise(struct core *core, uint32_t uid, const char *name, int64_t again_after) {
    struct core_habit *entry = entry_find(core, uid, name);
    if (!entry || (entry->advised && core->now - entry->advised < again_after))
        return false;
    entry->advised = core->now;
    return true;
}

static void entry_free(struct core *core, struct core_habit *entry) {
    map_remove(&core->habits, key_of(entry->rec.uid, entry->rec.name));
    list_remove(&entry->link);
    record_done(&record_habit, &entry->rec);
    free(entry);
    core->n_habits--;
}

static struct core_habit *entry_add(struct core *core, uint64_t key) {
    struct core_habit *entry = zalloc(struct core_habit);
    record_init(&record_habit, &entry->rec);
    list_init(&entry->link);
    map_put(&core->habits, key, entry);
    list_append(&core->habit_order, &entry->link);
    core->n_habits++;
    return entry;
}

/* The one that was used longest ago goes. */
static void make_room(struct core *core) {
    if (core->n_habits < HABITS_MAX)
        return;
    struct core_habit *oldest = list_entry(core->habit_order.next, struct core_habit, link);
    emit_delete(core, STORE_HABIT, key_of(oldest->rec.uid, oldest->rec.name));
    entry_free(core, oldest);
}

static struct core_habit *entry_get(struct core *core, uint32_t uid, const char *name) {
    uint64_t key = key_of(uid, name);
    struct core_habit *entry = map_get(&core->habits, key);
    if (entry && !is_of(&entry->rec, uid, name)) { /* two with one key */
        entry_free(core, entry);
        entry = NULL;
    }
    if (!entry) {
        make_room(core);
        entry = entry_add(core, key);
        entry->rec.uid = uid;
        string_set(&entry->rec.name, name);
    }
    list_remove(&entry->link);
    list_append(&core->habit_order, &entry->link);
    return entry;
}

static void learn(struct core *core, const struct job *job, const char *name, uint32_t seconds) {
    struct habit *habit = &entry_get(core, job->uid, name)->rec;
    habit->last_end = job->end_time;
    habit_add(habit, seconds, job->time_limit, job->state == JOB_TIMEOUT);
    emit_put(core, STORE_HABIT, key_of(job->uid, name), &record_habit, habit);
}

void habit_learn(struct core *core, const struct job *job) {
    int64_t since = job->suspend_time > 0 ? job->suspend_time : job->start_time;
    int64_t seconds = job->pre_suspend_seconds + job->end_time - since;
    bool tells = job->state == JOB_COMPLETED || job->state == JOB_TIMEOUT;

    if (!tells || job->start_time == 0 || job->allocation.n == 0 || seconds < 0)
        return;
    uint32_t kept = (uint32_t) min_of(seconds, (int64_t) INT32_MAX);
    if (job->name)
        learn(core, job, job->name, kept);
    if (core->settings.weights.factor[PRIORITY_ACCURACY])
        learn(core, job, NULL, kept);
}

void habit_restore(struct core *core, struct habit *habit) {
    uint64_t key = key_of(habit->uid, habit->name);
    if (map_get(&core->habits, key) == NULL)
        record_copy(&record_habit, &entry_add(core, key)->rec, habit);
}

static int by_end(const void *a, const void *b) {
    const struct habit *x = &(*(struct core_habit *const *) a)->rec;
    const struct habit *y = &(*(struct core_habit *const *) b)->rec;
    if (x->last_end != y->last_end)
        return x->last_end < y->last_end ? -1 : 1;
    uint64_t kx = key_of(x->uid, x->name), ky = key_of(y->uid, y->name);
    return (kx > ky) - (kx < ky);
}

void habits_restored(struct core *core) {
    vec(struct core_habit *) all = {0};
    list_each (&core->habit_order, at)
        vec_push(&all, list_entry(at, struct core_habit, link));
    if (all.n > 1)
        qsort(all.items, all.n, sizeof(*all.items), by_end);
    vec_each (&all, entry) {
        list_remove(&(*entry)->link);
        list_append(&core->habit_order, &(*entry)->link);
    }
    vec_done(&all);
}

void habits_free(struct core *core) {
    while (!list_is_empty(&core->habit_order))
        entry_free(core, list_entry(core->habit_order.next, struct core_habit, link));
    map_done(&core->habits);
}
