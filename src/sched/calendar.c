/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reservations: who may use a node when. A reservation holds amounts of nodes (and licences) during
 * its windows. Whoever does not run in it sees what it holds as taken, less what its own jobs use,
 * for that is theirs; whoever does sees at most what it holds, and nothing outside its windows.
 *
 * Seen by others, what is free shrinks at the start of a window and grows at its end; seen by jobs
 * of the reservation it is the other way round. The rest of the future is in profile.c.
 *
 * After the last known window of a recurring reservation more will follow: what it holds is closed
 * to others from there on, so that no start is promised that the next window would take back.
 */
#include <assert.h>

#include "sched/internal.h"

void calendar_clear(struct sched *s) {
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        vec_each (&s->nodes[i].reserved, hold) {
            free(hold->amounts);
        }
        vec_done(&s->nodes[i].reserved);
        bits_unset(&s->reserved, i);
    }
    for (uint32_t i = 0; i < s->n_calendar; i++) {
        free(s->calendar[i].windows);
        free(s->calendar[i].licenses);
    }
    free(s->calendar);
    s->calendar = NULL;
    s->n_calendar = 0;
}

static void hold_add(struct sched *s, const struct reservation *r,
                     const struct sched_reserved *reserved) {
    uint32_t i = s->inner[reserved->node];
    int64_t *amounts = xmemdup(node_total(s, i), s->n_dims * sizeof(*amounts));

    if (!reserved->whole) {
        amounts[DIM_CPU] = reserved->cpus;
        amounts[DIM_MEM] = reserved->mem;
        for (uint32_t k = 0; k < s->n_kinds; k++)
            amounts[DIM_GRES + k] = reserved->gres[k];
        memset(amount_cards(s, amounts), 0, s->n_cards * sizeof(*amounts)); /* no certain ones */
        amount_sum(s, amounts);
    }
    if (!s->settings.mem_consumable)
        amounts[DIM_MEM] = 0;
    vec_push(&s->nodes[i].reserved, ((struct reserved_hold) {r, amounts}));
    bits_set(&s->reserved, i);
}

static void reservation_set(struct sched *s, struct reservation *r,
                            const struct sched_reservation_spec *spec) {
    assert(spec->id != 0);
    r->id = spec->id;
    r->maint = spec->maint;
    r->flex = spec->flex;
    r->any_nodes = spec->any_nodes;
    r->recurring = spec->recurring;
    r->n_windows = spec->n_windows;
    r->windows = xcalloc(spec->n_windows + 1, sizeof(*r->windows));
    for (size_t i = 0; i < spec->n_windows; i++)
        r->windows[i] = spec->windows[i];
    r->n_licenses = spec->n_licenses;
    r->licenses = licenses_new(spec->license_ids, spec->license_counts, spec->n_licenses);
    for (size_t i = 0; i < spec->n_nodes; i++) {
        assert(spec->nodes[i].node < s->n_nodes);
        hold_add(s, r, &spec->nodes[i]);
    }
}

void sched_set_reservations(struct sched *s, const struct sched_reservation_spec *specs, size_t n) {
    if (n == 0 && s->n_calendar == 0)
        return;
    calendar_clear(s);
    s->calendar = xcalloc(n + 1, sizeof(*s->calendar));
    s->n_calendar = n;
    for (size_t i = 0; i < n; i++)
        reservation_set(s, &s->calendar[i], &specs[i]);
    /* What was planned may collide now: every plan is searched again. */
    sched_cause_note(s, SCHED_CAUSE_CALENDAR, 0);
    sched_statics(s);
}

struct reservation *calendar_find(const struct sched *s, uint32_t id) {
    for (uint32_t i = 0; id && i < s->n_calendar; i++) {
        if (s->calendar[i].id == id)
            return &s->calendar[i];
    }
    return NULL;
}

/* ---- windows ---- */

/* The first that ends after `when`; n_windows = none. */
static size_t window_at(const struct reservation *r, int64_t when) {
    size_t low = 0, high = r->n_windows;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->windows[middle].end > when)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool is_open(const struct reservation *r, int64_t when) {
    size_t at = window_at(r, when);
    return at < r->n_windows && r->windows[at].start <= when;
}

/* As others see it. */
static bool is_closed(const struct reservation *r, int64_t when) {
    bool beyond = r->recurring && r->n_windows > 0 && when >= r->windows[r->n_windows - 1].start;
    return beyond || is_open(r, when);
}

/* When the first window that others meet in [start, end) begins; SCHED_FOREVER = none. */
static int64_t meets(const struct reservation *r, int64_t start, int64_t end) {
    size_t at = window_at(r, start);

    if (at == r->n_windows && r->recurring && at > 0)
        at--;
    return at < r->n_windows && r->windows[at].start < end ? r->windows[at].start : SCHED_FOREVER;
}

static int64_t next_edge(const struct reservation *r, int64_t after) {
    size_t at = window_at(r, after);

    if (at == r->n_windows)
        return SCHED_FOREVER;
    return r->windows[at].start > after ? r->windows[at].start : r->windows[at].end;
}

int64_t calendar_next(const struct sched *s, const struct alternative *alt, uint32_t node,
                      int64_t after) {
    int64_t next = SCHED_FOREVER;

    if (alt->blind || (s->nodes[node].reserved.n == 0 && !alt->reservation))
        return next;
    vec_each (&s->nodes[node].reserved, hold) {
        next = min_of(next, next_edge(hold->reservation, after));
    }
    const struct reservation *own = calendar_find(s, alt->reservation);
    return own && own->any_nodes ? min_of(next, next_edge(own, after)) : next;
}

int64_t calendar_next_any(const struct sched *s, int64_t after) {
    int64_t next = SCHED_FOREVER;

    for (uint32_t i = 0; i < s->n_calendar; i++)
        next = min_of(next, next_edge(&s->calendar[i], after));
    return next;
}

void calendar_pass(struct sched *s, int64_t now) {
    for (uint32_t i = 0; i < s->n_calendar; i++)
        s->calendar[i].n_kept = 0;
    if (calendar_next_any(s, s->calendar_until) <= now)
        sched_released(s);
    s->calendar_until = now;
}

/* ---- amounts ---- */

/* What jobs of a reservation use of a node at an instant. */
static int64_t used_at(const struct sched *s, uint32_t id, const struct node *node, int64_t when,
                       uint32_t dim) {
    int64_t used = 0;

    vec_each (&node->runs, hold) {
        if (hold->run->reservation == id && run_is_there(s, hold->run, when))
            used += hold->run->amounts[(size_t) hold->slot * s->n_dims + dim];
    }
    vec_each (&node->plans, hold) {
        const struct plan *plan = hold->plan;
        if (plan->alt->reservation == id && plan_is_there(plan, when))
            used += plan->amounts[(size_t) hold->slot * s->n_dims + dim];
    }
    return used;
}

static void close_node(const struct sched *s, int64_t *have) {
    for (uint32_t d = 0; d < s->n_base; d++)
        have[d] = -1;
}

void calendar_subtract(const struct sched *s, const struct alternative *alt, uint32_t i,
                       int64_t when, int64_t *have) {
    const struct node *node = &s->nodes[i];
    const struct reservation *own = calendar_find(s, alt->reservation);
    const int64_t *mine = NULL;

    if (alt->blind)
        return;
    vec_each (&node->reserved, hold) {
        if (own && hold->reservation == own && is_open(own, when))
            mine = hold->amounts;
    }
    vec_each (&node->reserved, hold) {
        const struct reservation *r = hold->reservation;
        if (r == own || !is_closed(r, when) || (mine && (!r->maint || own->maint)))
            continue;
        for (uint32_t d = 0; d < s->n_base; d++) {
            if (hold->amounts[d] > 0)
                have[d] -= max_of(hold->amounts[d] - used_at(s, r->id, node, when, d), (int64_t) 0);
        }
    }
    if (!alt->reservation || (own && own->flex))
        return;
    bool open = own && own->any_nodes ? is_open(own, when) : mine != NULL;
    if (!open)
        close_node(s, have);
    for (uint32_t d = 0; open && mine && d < s->n_base; d++) {
        if (mine[d] > 0)
            have[d] = min_of(have[d], mine[d] - used_at(s, own->id, node, when, d));
    }
}

const int64_t *calendar_ever(const struct sched *s, const struct alternative *alt, uint32_t node,
                             int64_t *scratch) {
    const int64_t *total = node_total(s, node);
    const struct reservation *own = calendar_find(s, alt->reservation);

    if (!alt->reservation || (own && (own->flex || own->any_nodes)))
        return total;
    vec_each (&s->nodes[node].reserved, hold) {
        if (hold->reservation != own)
            continue;
        for (uint32_t d = 0; d < s->n_dims; d++)
            scratch[d] = hold->amounts[d] > 0 ? hold->amounts[d] : total[d];
        return scratch;
    }
    return NULL;
}

/* Licences of one name that jobs of a reservation use at an instant. */
static uint64_t licenses_used(const struct sched *s, uint32_t reservation, uint32_t id,
                              int64_t when) {
    uint64_t used = 0;

    vec_each (&s->licensed, run) {
        if ((*run)->reservation == reservation && run_is_there(s, *run, when))
            used += run_license(*run, id);
    }
    plans_each (s, plan) {
        if ((*plan)->alt->reservation == reservation && plan_is_there(*plan, when))
            used += plan_license(*plan, id);
    }
    return used;
}

uint64_t calendar_licenses(const struct sched *s, const struct alternative *alt, uint32_t id,
                           int64_t when) {
    uint64_t held = 0;

    for (uint32_t i = 0; !alt->blind && i < s->n_calendar; i++) {
        const struct reservation *r = &s->calendar[i];
        if (r->id == alt->reservation || r->n_licenses == 0 || !is_closed(r, when))
            continue;
        uint64_t used = licenses_used(s, r->id, id, when);
        for (size_t l = 0; l < r->n_licenses; l++) {
            if (r->licenses[l].id == id && r->licenses[l].count > used)
                held += r->licenses[l].count - used;
        }
    }
    return held;
}

struct head *alternative_head(const struct sched *s, const struct alternative *alt) {
    struct reservation *r = calendar_find(s, alt->reservation);
    return r ? &r->head : &s->partitions[alt->partition].head;
}

uint32_t *calendar_quota(const struct sched *s, const struct alternative *alt) {
    struct reservation *r = calendar_find(s, alt->reservation);
    return r ? &r->n_kept : &alternative_pool(s, alt)->n_kept;
}

/* ---- who is kept from starting, and what would fit ---- */

int64_t calendar_gap(const struct sched *s, const struct alternative *alt, int64_t below) {
    int64_t gap = 0;

    for (uint32_t i = 0; i < s->n_calendar; i++) {
        const struct reservation *r = &s->calendar[i];
        for (size_t w = window_at(r, s->now); w < r->n_windows; w++) {
            int64_t edge = r->id == alt->reservation ? r->windows[w].end : r->windows[w].start;
            if (edge - s->now >= below)
                break;
            gap = max_of(gap, edge - s->now);
        }
    }
    return gap;
}

/* Is there a window of its own reservation that is open now for at least as long? */
static bool own_is_open(const struct sched *s, const struct alternative *alt) {
    const struct reservation *own = calendar_find(s, alt->reservation);

    if (!own || own->flex)
        return own != NULL;
    size_t at = window_at(own, s->now);
    return at < own->n_windows && own->windows[at].start <= s->now &&
           time_after(s->now, alt->limit) <= own->windows[at].end;
}

/* The reservation that the picked nodes, or the licences, meet first. */
static const struct reservation *first_met(const struct sched *s, const struct shape *shape,
                                           const struct alternative *alt, int64_t *ret_start) {
    const struct reservation *met = NULL;
    int64_t end = time_after(s->now, alt->limit);

    *ret_start = SCHED_FOREVER;
    vec_each (&s->placement.picks, pick) {
        vec_each (&s->nodes[pick->node].reserved, hold) {
            int64_t start = meets(hold->reservation, s->now, end);
            if (hold->reservation->id != alt->reservation && start < *ret_start) {
                *ret_start = start;
                met = hold->reservation;
            }
        }
    }
    for (uint32_t i = 0; !met && shape->n_licenses > 0 && i < s->n_calendar; i++) {
        int64_t start = meets(&s->calendar[i], s->now, end);
        if (s->calendar[i].n_licenses > 0 && start < SCHED_FOREVER) {
            *ret_start = start;
            met = &s->calendar[i];
        }
    }
    return met;
}

/* Who keeps an alternative that cannot start from starting? NULL: what it needs is not free. */
static const struct reservation *held_by(struct sched *s, struct shape *shape,
                                         struct alternative *alt, int64_t *ret_start) {
    int64_t end = time_after(s->now, alt->limit);
    bool met = false;

    if (alt->reservation && !own_is_open(s, alt)) {
        *ret_start = SCHED_FOREVER;
        return calendar_find(s, alt->reservation);
    }
    for (uint32_t i = 0; i < s->n_calendar && !met; i++) {
        const struct reservation *r = &s->calendar[i];
        met = r->id != alt->reservation && meets(r, s->now, end) < SCHED_FOREVER;
    }
    if (!met)
        return NULL;
    alt->blind = true;
    bool fits = could_start(s, shape, alt, alt->limit, &s->placement);
    alt->blind = false;
    return fits ? first_met(s, shape, alt, ret_start) : NULL;
}

void calendar_explain(struct sched *s, struct shape *shape) {
    const struct reservation *first = NULL;
    bool own = false;

    for (size_t i = 0; s->n_calendar > 0 && i < shape->n_alternatives; i++) {
        struct alternative *alt = &shape->alternatives[i];
        int64_t start;
        if (alt->reason)
            continue;
        const struct reservation *by = held_by(s, shape, alt, &start);
        if (!by) {
            first = NULL;
            break;
        }
        own = first ? own : by->id == alt->reservation;
        first = first ? first : by;
    }
    shape->held_reason = !first ? REASON_NONE
                         : own  ? REASON_RESERVATION
                                : REASON_REQ_NODE_NOT_AVAIL;
    if (!shape->blocked_reason && (first || shape->detail))
        shape_detail_set(s, shape,
                         !first || own ? NULL
                         : first->maint
                             ? xstrdup("ReqNodeNotAvail, Reserved for maintenance")
                             : xstrdup("ReqNodeNotAvail, May be reserved for other job"));
}

/* The longest limit up to which it could start at once. */
static int64_t limit_that_fits(struct sched *s, struct shape *shape, struct alternative *alt) {
    int64_t gap = alt->limit;

    while ((gap = calendar_gap(s, alt, gap)) > 0) {
        if (could_start(s, shape, alt, gap, &s->placement))
            return gap;
    }
    return 0;
}

static void blocker_fill(struct sched *s, struct shape *shape, struct alternative *alt,
                         const struct reservation *by, struct sched_blocker *ret) {
    size_t at = window_at(by, s->now);

    ret->reservation = by->id;
    ret->own = by->id == alt->reservation;
    if (ret->own && at < by->n_windows && by->windows[at].start <= s->now)
        at++; /* the present one is too short */
    if (!ret->own && at == by->n_windows && at > 0)
        at--;
    ret->start = at < by->n_windows ? by->windows[at].start : 0;
    ret->end = at < by->n_windows ? by->windows[at].end : 0;
    ret->limit = limit_that_fits(s, shape, alt);
}

bool sched_blocked_by(struct sched *s, int64_t now, uint32_t job_id, struct sched_blocker *ret) {
    struct job *job = map_get(&s->jobs, job_id);
    int64_t kept_now = s->now, met_at;
    bool kept_naive = s->naive, found = false;

    if (!job || job->place != PLACE_LIVE || s->n_calendar == 0)
        return false;
    /* Its own plan is not in its way. Without shortcuts nothing else remembers the plan. */
    struct plan aside = job->plan ? *job->plan : (struct plan) {0};
    if (job->plan)
        job->plan->start = job->plan->end = SCHED_FOREVER;
    s->naive = true;
    s->now = now;
    *ret = (struct sched_blocker) {0};
    for (size_t i = 0; i < job->shape->n_alternatives && !found; i++) {
        struct alternative *alt = &job->shape->alternatives[i];
        if (alt->reason || could_start(s, job->shape, alt, alt->limit, &s->placement))
            continue;
        const struct reservation *by = held_by(s, job->shape, alt, &met_at);
        if (by)
            blocker_fill(s, job->shape, alt, by, ret);
        found = by != NULL;
    }
    s->now = kept_now;
    s->naive = kept_naive;
    if (job->plan)
        *job->plan = aside;
    return found;
}
