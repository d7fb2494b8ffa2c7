/* SPDX-License-Identifier: Apache-2.0 */
/* What has been charged to whom: entries, their decay, resets and storing. See usage.h. */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "model/conf.h"
#include "text/calendar.h"

static uint64_t entry_key(uint32_t kind, uint32_t id) {
    return (uint64_t) kind << 32 | id;
}

static struct usage_entry *entry_find(const struct core *core, uint32_t kind, uint32_t id) {
    return map_get(&core->usage.entries, entry_key(kind, id));
}

static struct usage_entry *entry_add(struct core *core, struct assoc_usage rec) {
    struct usage_entry *entry = zalloc(struct usage_entry);
    entry->rec = rec;
    list_init(&entry->dirty);
    map_put(&core->usage.entries, entry_key(rec.kind, rec.id), entry);
    return entry;
}

static struct usage_entry *entry_of(struct core *core, uint32_t kind, uint32_t id) {
    struct usage_entry *entry = entry_find(core, kind, id);
    if (entry != NULL)
        return entry;
    struct assoc_usage rec;
    record_init(&record_assoc_usage, &rec);
    rec.kind = kind;
    rec.id = id;
    rec.time = core->now;
    return entry_add(core, rec);
}

static void entry_touch(struct core *core, struct usage_entry *entry) {
    if (list_is_empty(&entry->dirty))
        list_append(&core->usage.dirty, &entry->dirty);
}

static void entry_free(struct usage_entry *entry) {
    list_remove(&entry->dirty);
    record_done(&record_assoc_usage, &entry->rec);
    free(entry);
}

static void entry_drop(struct core *core, uint32_t kind, uint32_t id) {
    struct usage_entry *entry = map_remove(&core->usage.entries, entry_key(kind, id));
    if (entry == NULL)
        return;
    entry_free(entry);
    emit_delete(core, STORE_USAGE, entry_key(kind, id));
}

/* ---- decay ---- */

static const struct qos *qos_of_id(const struct core *core, uint32_t id) {
    for (uint32_t i = 0; i < qos_count(core); i++) {
        if (qos_at(core, i)->id == id)
            return qos_at(core, i);
    }
    return NULL;
}

int64_t usage_half_life(const struct core *core, uint32_t kind, uint32_t id) {
    const struct qos *qos = kind == ASSOC_QOS ? qos_of_id(core, id) : NULL;
    return qos != NULL && (qos->flags & QOS_FLAG_NO_DECAY) ? 0 : core->usage.half_life;
}

/* As of another time; one that lies before (the clock of an earlier life was ahead) changes
 * nothing. */
static void entry_age(const struct core *core, struct usage_entry *entry, int64_t time) {
    struct assoc_usage *rec = &entry->rec;
    if (time <= rec->time)
        return;
    int64_t half_life = usage_half_life(core, rec->kind, rec->id);
    double left = usage_decayed(1, time - rec->time, half_life);
    rec->billing *= left;
    rec->wall *= left;
    for (uint32_t i = 0; i < rec->tres.n; i++)
        rec->tres.items[i].seconds *= left;
    rec->time = time;
}

static void entry_add_tres(struct usage_entry *entry, const char *name, double seconds) {
    struct assoc_usage *rec = &entry->rec;
    uint32_t i = 0;
    while (i < rec->tres.n && !str_equal(rec->tres.items[i].name, name))
        i++;
    if (i == rec->tres.n) {
        rec->tres.items = xreallocarray(rec->tres.items, i + 1, sizeof(*rec->tres.items));
        record_init(&record_usage_tres, &rec->tres.items[i]);
        string_set(&rec->tres.items[i].name, name);
        rec->tres.n++;
    }
    rec->tres.items[i].seconds += seconds;
}

const struct assoc_usage *usage_find(const struct core *core, uint32_t kind, uint32_t id) {
    const struct usage_entry *entry = entry_find(core, kind, id);
    return entry != NULL ? &entry->rec : NULL;
}

double usage_settled(const struct core *core, uint32_t kind, uint32_t id) {
    const struct usage_entry *entry = entry_find(core, kind, id);
    return entry == NULL ? 0
                         : usage_decayed(entry->rec.billing, core->now - entry->rec.time,
                                         usage_half_life(core, kind, id));
}

/* ---- runs ---- */

static double factor_of(const struct qos *qos) {
    return qos != NULL && qos->usage_factor != NULL ? strtod(qos->usage_factor, NULL) : 1;
}

double usage_factor(const struct core *core, const struct job *job) {
    return factor_of(book_qos_find(&core->book, job->qos));
}

void usage_qos(const struct core *core, const struct job *job, const struct qos **ret_own,
               const struct qos **ret_partition) {
    const struct core_partition *part =
        partition_find((struct core *) (uintptr_t) core, job->partition, NULL);
    *ret_own = book_qos_find(&core->book, job->qos);
    *ret_partition =
        part != NULL && part->rec.qos != NULL ? book_qos_find(&core->book, part->rec.qos) : NULL;
    if (*ret_partition == *ret_own)
        *ret_partition = NULL;
}

int64_t usage_charged_from(const struct core *core, const struct job *job) {
    return job->usage_since > 0 ? max_of(job->usage_since, core->meta.usage_reset) : 0;
}

double usage_amount(const struct job *job, const char *name, uint64_t count) {
    return str_equal(name, "billing") ? job->billing : (double) count;
}

static void charge_one(struct core *core, uint32_t kind, uint32_t id, const struct job *job,
                       int64_t from, int64_t to, double factor) {
    struct usage_entry *entry = entry_of(core, kind, id);
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    double seconds = factor * usage_accrued(1, to - from, usage_half_life(core, kind, id));
    entry_age(core, entry, to);
    entry->rec.billing += job->billing * seconds;
    entry->rec.wall += seconds;
    if (job->tres_alloc != NULL && tres_parse(job->tres_alloc, &list, NULL) == 0) {
        vec_each (&list, item) {
            cleanup_free char *name = item->type != NULL
                                          ? xasprintf("%s:%s", item->name, item->type)
                                          : xstrdup(item->name);
            entry_add_tres(entry, name, usage_amount(job, name, item->count) * seconds);
        }
    }
    for (size_t i = 0; job->licenses != NULL && i < core->n_licenses; i++) {
        uint64_t count = license_count(job->licenses, core->licenses[i]);
        cleanup_free char *name = xasprintf("license/%s", core->licenses[i]);
        if (count > 0)
            entry_add_tres(entry, name, (double) count * seconds);
    }
    entry_touch(core, entry);
}

void usage_run_begins(struct core *core, struct core_job *job) {
    job->rec.usage_since = core->now;
    limits_charge(core, &job->rec, true);
    job_touch(core, job);
}

void usage_run_ends(struct core *core, struct core_job *job, int64_t end) {
    const struct qos *own, *of_partition;
    double factor = usage_factor(core, &job->rec);
    int64_t from = usage_charged_from(core, &job->rec);
    usage_qos(core, &job->rec, &own, &of_partition);
    if (from > 0 && end > from && factor > 0) {
        if (job->rec.assoc_id != 0)
            charge_one(core, ASSOC_ASSOC, job->rec.assoc_id, &job->rec, from, end, factor);
        if (own != NULL)
            charge_one(core, ASSOC_QOS, own->id, &job->rec, from, end, factor);
        if (of_partition != NULL)
            charge_one(core, ASSOC_QOS, of_partition->id, &job->rec, from, end, factor);
    }
    if (from > 0)
        limits_charge(core, &job->rec, false);
    job->rec.usage_since = 0;
    job_touch(core, job);
}

double usage_rate(const struct core *core, const struct job *job) {
    return job->usage_since > 0 ? job->billing * usage_factor(core, job) : 0;
}

double usage_unsettled_seconds(const struct core *core, const struct job *job) {
    int64_t from = usage_charged_from(core, job);
    return from == 0 ? 0
                     : usage_factor(core, job) *
                           usage_accrued(1, core->now - from, core->usage.half_life);
}

double usage_unsettled(const struct core *core, const struct job *job) {
    return job->billing * usage_unsettled_seconds(core, job);
}

/* ---- resets ---- */

static void entry_forget(struct core *core, uint32_t kind, uint32_t id) {
    struct usage_entry *entry = entry_find(core, kind, id);
    if (entry == NULL)
        return;
    struct assoc_usage rec;
    record_init(&record_assoc_usage, &rec);
    rec.kind = kind;
    rec.id = id;
    rec.time = core->now;
    record_done(&record_assoc_usage, &entry->rec);
    entry->rec = rec;
    entry_touch(core, entry);
}

static int64_t reset_after(uint32_t period, int64_t time) {
    switch (period) {
    case CONF_RESET_DAILY:
        return calendar_span_next(CALENDAR_DAY, time);
    case CONF_RESET_WEEKLY:
        return calendar_next_week(time);
    case CONF_RESET_MONTHLY:
        return calendar_next_months(time, 1);
    case CONF_RESET_QUARTERLY:
        return calendar_next_months(time, 3);
    case CONF_RESET_YEARLY:
        return calendar_next_months(time, 12);
    default:
        return 0;
    }
}

/* All usage of before `time` is forgotten; what runs counts from then on. */
static void usage_reset_all(struct core *core, int64_t time) {
    size_t at = 0;
    uint64_t key;
    const struct usage_entry *entry;
    while ((entry = map_next(&core->usage.entries, &at, &key)) != NULL)
        entry_forget(core, entry->rec.kind, entry->rec.id);
    core->meta.usage_reset = time;
    core->meta_dirty = true;
    limits_used_renew(core);
    core->plan_wanted = true;
}

static void reset_arm(struct core *core) {
    core->usage.reset_next = reset_after(core->usage.reset, core->meta.usage_reset);
}

void usage_reset_tick(struct core *core) {
    int64_t due = core->usage.reset_next;
    if (due == 0 || due > core->now)
        return;
    for (int64_t next = due; next <= core->now && next > 0;
         next = reset_after(core->usage.reset, next))
        due = next;
    usage_reset_all(core, due);
    emit_log(core, EFFECT_INFO, "usage begins again at nothing: PriorityUsageResetPeriod");
    reset_arm(core);
}

/* ---- changes of the book ---- */

static bool plan_removes(const struct core *core, const struct assoc_plan *plan,
                         const struct assoc *assoc) {
    vec_each (&plan->edits, edit) {
        if (edit->kind == ASSOC_ASSOC && edit->next == NULL && edit->at != SIZE_MAX &&
            core->book.entries[ASSOC_ASSOC].items[edit->at] == assoc)
            return true;
    }
    return false;
}

/* An account goes on having used what those used who have left it. */
static void usage_bequeath(struct core *core, const struct assoc_plan *plan,
                           const struct assoc *assoc) {
    struct usage_entry *from = entry_find(core, ASSOC_ASSOC, assoc->id);
    const struct assoc *heir = assoc_parent(&core->book, assoc);
    while (heir != NULL && plan_removes(core, plan, heir))
        heir = assoc_parent(&core->book, heir);
    if (from != NULL && heir != NULL) {
        struct usage_entry *to = entry_of(core, ASSOC_ASSOC, heir->id);
        entry_age(core, from, core->now);
        entry_age(core, to, core->now);
        to->rec.billing += from->rec.billing;
        to->rec.wall += from->rec.wall;
        for (uint32_t i = 0; i < from->rec.tres.n; i++)
            entry_add_tres(to, from->rec.tres.items[i].name, from->rec.tres.items[i].seconds);
        entry_touch(core, to);
    }
    entry_drop(core, ASSOC_ASSOC, assoc->id);
}

static bool assoc_is_below(const struct core *core, const struct assoc *assoc,
                           const struct assoc *above) {
    return above->user != NULL ? assoc == above
                               : account_is_below(&core->book, assoc->account, above->account);
}

/* Whoever runs is charged, for that to be forgotten, and counts from now on. */
static void usage_forget(struct core *core, const struct assoc *above, const struct qos *qos) {
    struct map gone = MAP_INIT;
    vec_each (&core->book.entries[ASSOC_ASSOC], at) {
        const struct assoc *assoc = *at;
        if (above != NULL && assoc_is_below(core, assoc, above))
            map_put(&gone, assoc->id, *at);
    }
    list_each (&core->placed, at) {
        struct core_job *job = list_entry(at, struct core_job, placed);
        bool counts = qos != NULL ? str_equal_nocase(job->rec.qos, qos->name)
                                  : map_get(&gone, job->rec.assoc_id) != NULL;
        if (!counts || job->rec.usage_since == 0)
            continue;
        usage_run_ends(core, job, core->now);
        usage_run_begins(core, job);
    }
    size_t at = 0;
    uint64_t id;
    while (map_next(&gone, &at, &id) != NULL)
        entry_forget(core, ASSOC_ASSOC, (uint32_t) id);
    if (qos != NULL)
        entry_forget(core, ASSOC_QOS, qos->id);
    map_done(&gone);
}

/* Another NoDecay counts from now on, after a restart as well. */
static void usage_follow_decay(struct core *core, const struct qos *old, const struct qos *next) {
    struct usage_entry *entry = entry_find(core, ASSOC_QOS, old->id);
    if (entry == NULL || !((old->flags ^ next->flags) & QOS_FLAG_NO_DECAY))
        return;
    entry_age(core, entry, core->now);
    entry_touch(core, entry);
}

void usage_follow_plan(struct core *core, const struct assoc_plan *plan) {
    vec_each (&plan->edits, edit) {
        if (edit->at == SIZE_MAX || (edit->kind != ASSOC_ASSOC && edit->kind != ASSOC_QOS))
            continue;
        const void *old = core->book.entries[edit->kind].items[edit->at];
        const struct assoc *assoc = edit->kind == ASSOC_ASSOC ? old : NULL;
        const struct qos *qos = edit->kind == ASSOC_QOS ? old : NULL;
        if (qos != NULL && edit->next != NULL)
            usage_follow_decay(core, qos, edit->next);
        if (edit->next == NULL && assoc != NULL)
            usage_bequeath(core, plan, assoc);
        else if (edit->next == NULL)
            entry_drop(core, ASSOC_QOS, qos->id);
        else if (assoc != NULL
                     ? ((const struct assoc *) edit->next)->usage_resets != assoc->usage_resets
                     : ((const struct qos *) edit->next)->usage_resets != qos->usage_resets)
            usage_forget(core, assoc, qos);
    }
}

void usage_renumber(struct core *core, const struct assoc_plan *plan) {
    struct map moves = MAP_INIT;   /* key of old -> what is charged under it */
    struct map numbers = MAP_INIT; /* old number of an association -> the new one */
    vec_each (&plan->edits, edit) {
        if (edit->at == SIZE_MAX || edit->next == NULL ||
            (edit->kind != ASSOC_ASSOC && edit->kind != ASSOC_QOS))
            continue;
        uint32_t old = *assoc_entry_id(edit->kind, core->book.entries[edit->kind].items[edit->at]);
        uint32_t next = *assoc_entry_id(edit->kind, edit->next);
        struct usage_entry *entry =
            old != next ? map_remove(&core->usage.entries, entry_key(edit->kind, old)) : NULL;
        if (old != next && edit->kind == ASSOC_ASSOC)
            map_put(&numbers, old, (void *) (uintptr_t) next);
        if (entry == NULL)
            continue;
        emit_delete(core, STORE_USAGE, entry_key(edit->kind, old));
        entry->rec.id = next;
        map_put(&moves, entry_key(edit->kind, next), entry);
    }
    size_t at = 0;
    uint64_t key;
    struct usage_entry *entry;
    while ((entry = map_next(&moves, &at, &key)) != NULL) {
        map_put(&core->usage.entries, key, entry);
        entry_touch(core, entry);
    }
    jobs_each (core, job) {
        uint32_t next = (uint32_t) (uintptr_t) map_get(&numbers, job->rec.assoc_id);
        if (next == 0)
            continue;
        job->rec.assoc_id = next;
        job_touch(core, job);
    }
    map_done(&moves);
    map_done(&numbers);
}

/* ---- life ---- */

void usage_init(struct core *core) {
    list_init(&core->usage.dirty);
}

void usage_free(struct core *core) {
    size_t at = 0;
    uint64_t key;
    struct usage_entry *entry;
    while ((entry = map_next(&core->usage.entries, &at, &key)) != NULL)
        entry_free(entry);
    map_done(&core->usage.entries);
    shares_free(core);
}

void usage_configure(struct core *core, const struct conf *conf) {
    struct core_usage *usage = &core->usage;
    int64_t half_life =
        (int64_t) min_of((uint64_t) conf->priority_decay_half_life, (uint64_t) TIME_LATEST);
    size_t at = 0;
    uint64_t key;
    struct usage_entry *entry;
    while (half_life != usage->half_life && !core->restoring &&
           (entry = map_next(&usage->entries, &at, &key)) != NULL)
        entry_age(core, entry, core->now); /* by the old one, and kept so */
    at = 0;
    while (half_life != usage->half_life && !core->restoring &&
           (entry = map_next(&usage->entries, &at, &key)) != NULL)
        entry_touch(core, entry);
    usage->half_life = half_life;
    usage->classic = conf->priority_flags & CONF_PRIORITY_NO_FAIR_TREE;
    usage->dampening = conf->fair_share_dampening_factor;
    usage->reset = conf->priority_usage_reset_period;
    shares_outdate(core);
    if (!core->restoring)
        usage_restored(core);
}

void usage_restore(struct core *core, struct assoc_usage *stored) {
    struct usage_entry *old = map_remove(&core->usage.entries, entry_key(stored->kind, stored->id));
    if (old != NULL)
        entry_free(old);
    entry_add(core, *stored);
}

void usage_restored(struct core *core) {
    if (core->usage.reset == CONF_RESET_NOW) {
        usage_reset_all(core, core->now);
    } else if (core->usage.reset != CONF_RESET_NONE && core->meta.usage_reset == 0) {
        core->meta.usage_reset = core->now; /* the first period has begun */
        core->meta_dirty = true;
    }
    reset_arm(core);
    usage_reset_tick(core);
}

void usage_write(struct core *core) {
    list_each (&core->usage.dirty, at) {
        struct usage_entry *entry = list_entry(at, struct usage_entry, dirty);
        list_remove(&entry->dirty);
        emit_put(core, STORE_USAGE, entry_key(entry->rec.kind, entry->rec.id), &record_assoc_usage,
                 &entry->rec);
    }
}
