/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reservations over time: they begin, come again, end, and give way when nobody uses them. Here the
 * planner is told, and nodes show that they are reserved.
 */
#include <string.h>

#include "core/reservation.h"
#include "model/conf.h"
#include "text/tres.h"

/* Occurrences that the planner knows in advance. */
#define WINDOWS_AHEAD 64

void reservation_touch(struct core *core, struct core_reservation *resv) {
    if (list_is_empty(&resv->dirty))
        list_append(&core->dirty_reservations, &resv->dirty);
}

struct core_reservation *reservation_find(const struct core *core, const char *name) {
    vec_each (&core->reservations, resv) {
        if (str_equal((*resv)->rec.name, name))
            return *resv;
    }
    return NULL;
}

struct core_reservation *reservation_find_id(const struct core *core, uint32_t id) {
    vec_each (&core->reservations, resv) {
        if ((*resv)->rec.id == id)
            return *resv;
    }
    return NULL;
}

struct core_reservation *reservation_add(struct core *core, struct reservation *rec) {
    struct core_reservation *resv = zalloc(struct core_reservation);
    resv->rec = *rec;
    record_init(&record_reservation, rec);
    list_init(&resv->dirty);
    vec_push(&core->reservations, resv);
    return resv;
}

static void reservation_free(struct core_reservation *resv) {
    list_remove(&resv->dirty);
    record_done(&record_reservation, &resv->rec);
    free(resv);
}

void reservations_free(struct core *core) {
    vec_each (&core->reservations, resv) {
        reservation_free(*resv);
    }
    vec_done(&core->reservations);
}

void reservations_write(struct core *core) {
    list_each (&core->dirty_reservations, at) {
        struct core_reservation *resv = list_entry(at, struct core_reservation, dirty);
        list_remove(&resv->dirty);
        emit_put(core, STORE_RESERVATION, resv->rec.id, &record_reservation, &resv->rec);
    }
}

void reservation_restore(struct core *core, struct reservation *stored) {
    const struct core_reservation *resv = reservation_add(core, stored);
    core->reservations_magnetic |= (resv->rec.flags & RESERVATION_MAGNETIC) != 0;
}

/* ---- the planner ---- */

static size_t windows_of(const struct reservation *rec, struct arena *arena,
                         struct sched_window **ret) {
    int64_t start = rec->start_time, length = rec->end_time - rec->start_time;
    size_t n = 0;
    *ret = arena_alloc(arena, WINDOWS_AHEAD * sizeof(**ret));
    for (; start > 0 && n < WINDOWS_AHEAD; start = reservation_next_start(start, rec->flags)) {
        if (n > 0 && start < (*ret)[n - 1].end)
            (*ret)[n - 1].end = start; /* longer than its period: one follows the other */
        (*ret)[n++] = (struct sched_window) {start, start + length};
    }
    return n;
}

static size_t parts_of(struct core *core, const struct reservation *rec, struct arena *arena,
                       struct sched_reserved **ret) {
    size_t n = 0;
    *ret = arena_alloc(arena, (rec->parts.n + 1) * sizeof(**ret));
    for (uint32_t i = 0; i < rec->parts.n; i++) {
        const struct reservation_part *part = &rec->parts.items[i];
        struct sched_reserved *to = &(*ret)[n];
        uint32_t node = core_node_find(core, part->node);
        if (node == UINT32_MAX)
            continue; /* it has left the configuration */
        *to = (struct sched_reserved) {
            .node = node, .whole = part->whole, .cpus = part->cpus, .mem = part->mem};
        struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
        if (part->gres != NULL && gres_parse(part->gres, &list, NULL) == 0) {
            vec_each (&list, item) {
                size_t k = gres_kind_find(core, item->name, item->type);
                if (k < core->n_kinds)
                    to->gres[k] += (uint32_t) item->count;
            }
        }
        n++;
    }
    return n;
}

/* ---- what nodes show ---- */

static void mark_nodes(struct core *core) {
    const uint32_t both = NODE_FLAG_RESERVED | NODE_FLAG_MAINTENANCE;
    for (size_t i = 0; i < core->n_nodes; i++) {
        core->nodes[i].rec.flags &= ~both;
        string_set(&core->nodes[i].rec.reservation, NULL);
    }
    vec_each (&core->reservations, resv) {
        const struct reservation *rec = &(*resv)->rec;
        bool maint = rec->flags & RESERVATION_MAINT;
        for (uint32_t p = 0; reservation_is_active(rec, core->now) && p < rec->parts.n; p++) {
            uint32_t index = core_node_find(core, rec->parts.items[p].node);
            if (index == UINT32_MAX)
                continue;
            struct node *node = &core->nodes[index].rec;
            if (node->reservation == NULL || maint)
                string_set(&node->reservation, rec->name);
            if (rec->parts.items[p].whole)
                node->flags |= maint ? both : NODE_FLAG_RESERVED;
        }
    }
}

static void arm(struct core *core) {
    int64_t next = 0;
    vec_each (&core->reservations, resv) {
        const struct reservation *rec = &(*resv)->rec;
        int64_t due = rec->begun ? rec->end_time : rec->start_time;
        if (rec->idle_since > 0)
            due = min_of(due, rec->idle_since + rec->purge_after);
        next = next == 0 ? due : min_of(next, due);
    }
    core->reservations_next = next;
}

void reservations_to_sched(struct core *core) {
    struct arena arena;
    arena_init(&arena, 0);
    struct sched_reservation_spec *specs =
        arena_alloc(&arena, (core->reservations.n + 1) * sizeof(*specs));
    for (size_t i = 0; i < core->reservations.n; i++) {
        const struct reservation *rec = &core->reservations.items[i]->rec;
        struct sched_window *windows;
        struct sched_reserved *nodes;
        uint32_t *ids, *counts;
        specs[i] = (struct sched_reservation_spec) {
            .id = rec->id,
            .recurring = (rec->flags & RESERVATION_RECURRING) != 0,
            .maint = (rec->flags & RESERVATION_MAINT) != 0,
            .flex = (rec->flags & RESERVATION_FLEX) != 0,
            .any_nodes = (rec->flags & RESERVATION_ANY_NODES) != 0,
        };
        specs[i].n_windows = windows_of(rec, &arena, &windows);
        specs[i].windows = windows;
        specs[i].n_nodes = parts_of(core, rec, &arena, &nodes);
        specs[i].nodes = nodes;
        specs[i].n_licenses = licenses_resolve(core, rec->licenses, &arena, &ids, &counts);
        specs[i].license_ids = ids;
        specs[i].license_counts = counts;
    }
    sched_set_reservations(core->sched, specs, core->reservations.n);
    arena_done(&arena);
}

void reservations_show(struct core *core) {
    mark_nodes(core);
    arm(core);
}

static void resync_jobs(struct core *core) {
    jobs_each (core, job) {
        if (job->in_sched && job_is_pending(job))
            sched_sync(core, job);
    }
}

void reservations_changed(struct core *core) {
    reservations_show(core);
    reservations_to_sched(core);
    core->plan_wanted = true;
    bool magnetic = false;
    vec_each (&core->reservations, resv) {
        magnetic |= ((*resv)->rec.flags & RESERVATION_MAGNETIC) != 0;
    }
    /* Jobs that name none may be drawn into one, or no longer. */
    if (magnetic || core->reservations_magnetic)
        resync_jobs(core);
    core->reservations_magnetic = magnetic;
}

/* ---- the end ---- */

/* Jobs that still run in it have ResvOverRun left. */
static void runs_end(struct core *core, const struct reservation *rec) {
    uint32_t over = core->conf->resv_over_run;
    if ((rec->flags & RESERVATION_FLEX) || over == CONF_INFINITE)
        return;
    jobs_each (core, job) {
        if (!job_has_nodes(job) || !job_in_reservation(job, rec->name))
            continue;
        job->reservation_deadline = max_of(core->now, rec->end_time) + (int64_t) over * 60;
        job_arm(core, job);
    }
}

static void waiting_job_loses(struct core *core, struct core_job *job,
                              const struct reservation *rec) {
    list_without(&job->rec.reservation, rec->name, false);
    if (job->rec.reservation != NULL || (rec->flags & RESERVATION_NO_HOLD_JOBS)) {
        sched_sync(core, job);
        job_touch(core, job);
        return;
    }
    job->rec.flags |= JOB_FLAG_RESV_DEL_HOLD;
    job_hold(core, job, REASON_RESERVATION_DELETED);
}

static void waiting_jobs_lose(struct core *core, const struct reservation *rec) {
    jobs_each (core, job) {
        if (job_is_pending(job) && job_in_reservation(job, rec->name))
            waiting_job_loses(core, job, rec);
    }
}

void reservation_end(struct core *core, struct core_reservation *resv) {
    runs_end(core, &resv->rec);
    size_t at = 0;
    while (core->reservations.items[at] != resv)
        at++;
    vec_remove(&core->reservations, at);
    waiting_jobs_lose(core, &resv->rec);
    emit_delete(core, STORE_RESERVATION, resv->rec.id);
    emit_log(core, EFFECT_INFO, "reservation %s is over", resv->rec.name);
    reservation_free(resv);
}

void reservation_next(struct reservation *rec) {
    int64_t length = rec->end_time - rec->start_time;
    rec->start_time = reservation_next_start(rec->start_time, rec->flags);
    rec->end_time = rec->start_time + length;
}

/* Goes on to the first occurrence that ends after now. */
static void reservation_advance(struct core *core, struct core_reservation *resv) {
    do {
        reservation_next(&resv->rec);
    } while (resv->rec.end_time <= core->now);
    resv->rec.begun = false;
    resv->rec.idle_since = 0;
    reservation_touch(core, resv);
}

static bool is_used(const struct core *core, const struct reservation *rec) {
    jobs_each (core, job) {
        if (!job_state_is_final(job->rec.state) && job_in_reservation(job, rec->name))
            return true;
    }
    return false;
}

/* PURGE_COMP: nobody has used it for long enough. */
static bool is_purged(struct core *core, struct core_reservation *resv) {
    struct reservation *rec = &resv->rec;
    if (!(rec->flags & RESERVATION_PURGE_COMP) || !rec->begun)
        return false;
    int64_t since = is_used(core, rec) ? 0 : rec->idle_since > 0 ? rec->idle_since : core->now;
    if (since != rec->idle_since)
        reservation_touch(core, resv);
    rec->idle_since = since;
    return since > 0 && core->now >= since + rec->purge_after;
}

/* True when it has changed. The record may be gone then. */
static bool reservation_step(struct core *core, struct core_reservation *resv) {
    struct reservation *rec = &resv->rec;
    bool changed = false;
    if (!rec->begun && rec->start_time <= core->now) {
        rec->begun = changed = true;
        reservation_touch(core, resv);
        emit_log(core, EFFECT_INFO, "reservation %s begins", rec->name);
    }
    if (rec->end_time > core->now && !is_purged(core, resv))
        return changed;
    if (rec->flags & RESERVATION_RECURRING) {
        runs_end(core, rec);
        reservation_advance(core, resv);
    } else {
        reservation_end(core, resv);
    }
    return true;
}

void reservations_tick(struct core *core) {
    bool changed = false;
    core->reservations_check = false;
    for (size_t i = core->reservations.n; i-- > 0;)
        changed |= reservation_step(core, core->reservations.items[i]);
    if (changed)
        reservations_changed(core);
    else
        arm(core);
}

/* ---- nodes that fail ---- */

/* A reservation that asked for a number of nodes gets others in place of those that are down. */
void reservations_repair(struct core *core) {
    bool changed = false;
    core->reservations_repair = false;
    vec_each (&core->reservations, at) {
        struct core_reservation *resv = *at;
        struct reservation next;
        bool lacks = false;
        bool follows = resv->rec.flags & RESERVATION_PART_NODES;
        if (!follows &&
            (resv->rec.flags & (RESERVATION_STATIC | RESERVATION_SPEC_NODES | RESERVATION_MAINT)))
            continue;
        lacks = follows; /* of whatever the partition has by now */
        for (uint32_t p = 0; p < resv->rec.parts.n && !lacks; p++) {
            uint32_t node = core_node_find(core, resv->rec.parts.items[p].node);
            lacks = node == UINT32_MAX || core->nodes[node].rec.state == NODE_DOWN ||
                    (core->nodes[node].rec.flags & (NODE_FLAG_DRAIN | NODE_FLAG_FAIL));
        }
        if (!lacks)
            continue;
        record_copy(&record_reservation, &next, &resv->rec);
        if (reservation_choose(core, &next, resv, NULL) < 0 ||
            reservation_check(core, &next, resv, NULL) < 0 ||
            str_equal(next.nodes, resv->rec.nodes)) {
            record_done(&record_reservation, &next);
            continue;
        }
        emit_log(core, EFFECT_INFO, "reservation %s: %s in place of %s", next.name, next.nodes,
                 resv->rec.nodes);
        record_done(&record_reservation, &resv->rec);
        resv->rec = next;
        reservation_touch(core, resv);
        changed = true;
    }
    if (changed)
        reservations_changed(core);
}
