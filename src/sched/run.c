/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds what: jobs that run, and while a pass is in progress the starts that it has already
 * proposed. A run's amounts are what it takes from the nodes' `free`; an exclusive run takes all.
 */
#include <assert.h>

#include "sched/internal.h"

static void hold_insert(struct node *node, struct hold hold) {
    size_t at = node->runs.n;

    vec_push(&node->runs, hold);
    for (; at > 0 && node->runs.items[at - 1].end > hold.end; at--)
        node->runs.items[at] = node->runs.items[at - 1];
    node->runs.items[at] = hold;
}

static void hold_delete(struct node *node, const struct run *run) {
    for (size_t i = 0; i < node->runs.n; i++) {
        if (node->runs.items[i].run == run) {
            vec_remove(&node->runs, i);
            return;
        }
    }
}

static void free_add(struct sched *s, uint32_t node, const int64_t *amount, int sign) {
    int64_t *have = node_free(s, node);

    for (uint32_t d = 0; d < s->n_dims; d++)
        have[d] += sign * amount[d];
    if (s->nodes[node].cards)
        have_sum(s, node, have);
}

struct license_use *licenses_new(const uint32_t *ids, const uint32_t *counts, size_t n) {
    struct license_use *licenses = xcalloc(n + 1, sizeof(*licenses));

    for (size_t i = 0; i < n; i++)
        licenses[i] = (struct license_use) {ids[i], counts[i]};
    return licenses;
}

static void licenses_add(struct sched *s, const struct run *run, int sign) {
    for (size_t i = 0; i < run->n_licenses; i++) {
        if (run->licenses[i].id < s->n_licenses)
            s->license_used[run->licenses[i].id] += sign * (int64_t) run->licenses[i].count;
    }
}

static void licenses_take(struct sched *s, struct run *run) {
    if (run->n_licenses == 0)
        return;
    licenses_add(s, run, 1);
    run->licensed_at = s->licensed.n;
    vec_push(&s->licensed, run);
}

static void licenses_give(struct sched *s, struct run *run) {
    if (run->n_licenses == 0)
        return;
    licenses_add(s, run, -1);
    assert(s->licensed.items[run->licensed_at] == run);
    vec_remove_swap(&s->licensed, run->licensed_at);
    if (run->licensed_at < s->licensed.n)
        s->licensed.items[run->licensed_at]->licensed_at = run->licensed_at;
}

struct run *run_take(struct sched *s, uint32_t job_id, uint32_t partition, bool exclusive,
                     uint32_t uid, int64_t start, int64_t end, uint32_t n, const uint32_t *nodes,
                     const int64_t *amounts, const struct license_use *licenses,
                     size_t n_licenses) {
    struct run *run = zalloc(struct run);

    run->job_id = job_id;
    run->partition = partition;
    run->exclusive = exclusive;
    run->uid = uid;
    run->start = start;
    run->end = end == SCHED_FOREVER ? time_after(start, s->settings.default_limit) : end;
    run->n = run->n_held = n;
    run->nodes = xmemdup(nodes, (n + 1) * sizeof(*nodes));
    run->amounts = xmemdup(amounts, (size_t) n * s->n_dims * sizeof(*amounts));
    run->licenses = n_licenses ? xmemdup(licenses, n_licenses * sizeof(*licenses)) : NULL;
    run->n_licenses = n_licenses;
    licenses_take(s, run);
    for (uint32_t i = 0; i < n; i++) {
        int64_t *amount = run->amounts + (size_t) i * s->n_dims;

        if (exclusive)
            memcpy(amount, node_total(s, nodes[i]), s->n_dims * sizeof(*amount));
        if (!s->settings.mem_consumable)
            amount[DIM_MEM] = 0;
        free_add(s, nodes[i], amount, -1);
        hold_insert(&s->nodes[nodes[i]], (struct hold) {run->end, run, i});
        node_changed(s, nodes[i]);
        node_taken(s, nodes[i]);
    }
    popular_take(s, run);
    return run;
}

static void run_give_back(struct sched *s, struct run *run, uint32_t slot) {
    uint32_t node = run->nodes[slot];

    if (node == SCHED_NO_NODE)
        return;
    run->nodes[slot] = SCHED_NO_NODE;
    run->n_held--;
    free_add(s, node, run->amounts + (size_t) slot * s->n_dims, 1);
    hold_delete(&s->nodes[node], run);
    node_changed(s, node);
}

static void run_free(struct run *run) {
    free(run->nodes);
    free(run->amounts);
    free(run->licenses);
    free(run->cpus_aside);
    free(run->shares_of);
    free(run);
}

/* What it holds, or held until now, may be somebody else's. */
static void run_released(struct sched *s, const struct run *run) {
    s->release_version++;
    sched_touched(s);
    for (uint32_t i = 0; i < run->n; i++) {
        if (run->nodes[i] != SCHED_NO_NODE)
            node_released(s, run->nodes[i]);
    }
}

void run_drop(struct sched *s, struct run *run) {
    for (uint32_t i = 0; i < run->n; i++)
        run_give_back(s, run, i);
    licenses_give(s, run);
    popular_give(s, run);
    run_unspend(s, run);
    run_free(run);
}

void runs_clear(struct sched *s) {
    size_t at = 0;
    uint64_t key;
    struct run *run;

    while ((run = map_next(&s->runs, &at, &key)))
        run_free(run);
    map_clear(&s->runs);
    vec_reset(&s->licensed);
    budgets_empty(s);
    proposals_forget(s);
    for (size_t i = 0; i < s->n_licenses; i++)
        s->license_used[i] = 0;
}

uint64_t start_hash(const struct sched *s, const struct sched_alloc *allocs, size_t n) {
    uint64_t hash = n;

    for (size_t i = 0; i < n; i++) {
        hash = hash_u64(hash ^ ((uint64_t) allocs[i].node << 32 | allocs[i].cpus)) + 1;
        if (s->n_cards > 0)
            hash = hash_bytes(allocs[i].cards, sizeof(allocs[i].cards), hash);
    }
    return hash ? hash : 1;
}

/* Equal starts (several jobs of one size on one node) are numbered. The value is the end, shifted
 * so that it is never NULL. */
static void *end_value(int64_t end) {
    return (void *) (uintptr_t) ((uint64_t) end | (uint64_t) 1 << 63);
}

void proposal_add(struct sched *s, uint64_t hash, int64_t end) {
    while (map_get(&s->unconfirmed, hash))
        hash = hash_u64(hash) + 1;
    map_put(&s->unconfirmed, hash, end_value(end));
}

void proposals_forget(struct sched *s) {
    if (s->unconfirmed.n + s->unconfirmed.n_tombs > 0)
        map_clear(&s->unconfirmed);
}

/* The start that the last pass proposed, as proposed: what has been planned around it holds. */
static bool run_was_proposed(struct sched *s, const struct sched_alloc *allocs, size_t n,
                             int64_t end) {
    uint64_t hash = n ? start_hash(s, allocs, n) : 0;
    void *last = NULL;
    uint64_t last_hash = hash;

    for (void *value; n && (value = map_get(&s->unconfirmed, hash)); hash = hash_u64(hash) + 1) {
        last = value;
        last_hash = hash;
    }
    if (!last)
        return false;
    map_remove(&s->unconfirmed, last_hash);
    return end_value(end) == last;
}

void sched_run_add(struct sched *s, uint32_t job_id, uint32_t partition, bool exclusive,
                   uint32_t uid, int64_t start, int64_t end, const struct sched_alloc *allocs,
                   size_t n, const uint32_t *license_ids, const uint32_t *license_counts,
                   size_t n_licenses) {
    uint32_t *nodes = xcalloc(n + 1, sizeof(*nodes));
    int64_t *amounts = xcalloc(n + 1, s->n_dims * sizeof(*amounts));
    struct license_use *licenses = licenses_new(license_ids, license_counts, n_licenses);

    assert(partition < s->n_partitions);
    sched_run_remove(s, job_id);
    exclusive = exclusive || s->partitions[partition].exclusive || !s->settings.cpus_consumable;
    for (size_t i = 0; i < n; i++) {
        int64_t *amount = amounts + i * s->n_dims;

        assert(allocs[i].node < s->n_nodes);
        nodes[i] = s->inner[allocs[i].node];
        amount[DIM_CPU] = allocs[i].cpus;
        amount[DIM_MEM] = allocs[i].mem;
        for (uint32_t k = 0; k < s->n_kinds; k++)
            amount[DIM_GRES + k] = allocs[i].gres[k];
        for (uint32_t c = 0; c < s->n_cards; c++)
            amount_cards(s, amount)[c] = allocs[i].cards[c];
        amount_sum(s, amount);
    }
    struct run *run = run_take(s, job_id, partition, exclusive, uid, start, end, n, nodes, amounts,
                               licenses, n_licenses);
    const struct job *job = map_get(&s->jobs, job_id);
    run->user_only = job && job->shape->user_only;
    run->shares = shares_cpus(s, partition, job && job->shape->oversubscribe, exclusive);
    map_put(&s->runs, job_id, run);
    if (!run_was_proposed(s, allocs, n, run->end))
        run_released(s, run); /* plans may collide with it; it may end earlier than proposed */
    sched_touched(s);
    free(nodes);
    free(amounts);
    free(licenses);
}

void sched_run_share(struct sched *s, uint32_t job_id, bool user_only, bool oversubscribe) {
    struct run *run = map_get(&s->runs, job_id);

    if (run) {
        run->user_only = user_only;
        run->shares = shares_cpus(s, run->partition, oversubscribe, run->exclusive);
    }
    s->any_user_only = s->any_user_only || user_only;
}

void sched_run_reserve(struct sched *s, uint32_t job_id, uint32_t reservation) {
    struct run *run = map_get(&s->runs, job_id);

    if (run)
        run->reservation = reservation;
}

void sched_run_end_time(struct sched *s, uint32_t job_id, int64_t end) {
    struct run *run = map_get(&s->runs, job_id);

    if (!run)
        return;
    if (end > run->end)
        sched_cause_note(s, SCHED_CAUSE_EXTENDED, job_id);
    end = end == SCHED_FOREVER ? time_after(run->start, s->settings.default_limit) : end;
    run_spend_until(s, run, end);
    run->end = end;
    for (uint32_t i = 0; i < run->n; i++) {
        if (run->nodes[i] == SCHED_NO_NODE)
            continue;
        struct node *node = &s->nodes[run->nodes[i]];
        hold_delete(node, run);
        hold_insert(node, (struct hold) {run->end, run, i});
        node_changed(s, run->nodes[i]);
    }
    run_released(s, run);
}

void sched_run_victim(struct sched *s, uint32_t job_id, const struct sched_victim *victim) {
    struct run *run = map_get(&s->runs, job_id);

    if (run)
        run->victim = *victim;
    sched_touched(s);
}

void sched_run_leaving(struct sched *s, uint32_t job_id, bool leaving, int64_t end) {
    struct run *run = map_get(&s->runs, job_id);

    if (!run)
        return;
    run->leaving = leaving;
    sched_run_end_time(s, job_id, end);
}

void sched_run_release_node(struct sched *s, uint32_t job_id, uint32_t outer) {
    struct run *run = map_get(&s->runs, job_id);

    if (!run || outer >= s->n_nodes)
        return;
    for (uint32_t i = 0; i < run->n; i++) {
        if (run->nodes[i] != s->inner[outer])
            continue;
        promise_run_leaves(s, run, run->nodes[i]);
        run_give_back(s, run, i);
    }
    node_released(s, s->inner[outer]);
    if (run->n_held == 0)
        sched_run_remove(s, job_id);
}

void sched_run_remove(struct sched *s, uint32_t job_id) {
    struct run *run = map_remove(&s->runs, job_id);

    if (!run)
        return;
    run_released(s, run);
    promise_run_leaves(s, run, SCHED_NO_NODE);
    run_drop(s, run);
}

void run_lift(struct sched *s, struct run *run, bool licenses) {
    for (uint32_t i = 0; i < run->n; i++) {
        if (run->nodes[i] == SCHED_NO_NODE)
            continue;
        free_add(s, run->nodes[i], run->amounts + (size_t) i * s->n_dims, 1);
        hold_delete(&s->nodes[run->nodes[i]], run);
        node_changed(s, run->nodes[i]);
    }
    if (licenses)
        licenses_give(s, run);
}

void run_put(struct sched *s, struct run *run, bool licenses) {
    for (uint32_t i = 0; i < run->n; i++) {
        if (run->nodes[i] == SCHED_NO_NODE)
            continue;
        free_add(s, run->nodes[i], run->amounts + (size_t) i * s->n_dims, -1);
        hold_insert(&s->nodes[run->nodes[i]], (struct hold) {run->end, run, i});
        node_changed(s, run->nodes[i]);
    }
    if (licenses)
        licenses_take(s, run);
}

void run_swap_cpus(struct sched *s, struct run *run) {
    if (!run->cpus_aside)
        run->cpus_aside = xcalloc(run->n + 1, sizeof(*run->cpus_aside));
    for (uint32_t i = 0; i < run->n; i++) {
        int64_t *amount = run->amounts + (size_t) i * s->n_dims;
        int64_t swapped = amount[DIM_CPU];

        amount[DIM_CPU] = run->cpus_aside[i];
        run->cpus_aside[i] = swapped;
        if (run->nodes[i] == SCHED_NO_NODE)
            continue;
        node_free(s, run->nodes[i])[DIM_CPU] += swapped - amount[DIM_CPU];
        node_changed(s, run->nodes[i]);
    }
}

/* A suspended job gives back its CPUs and keeps the rest. */
void sched_run_suspend(struct sched *s, uint32_t job_id, bool suspended) {
    struct run *run = map_get(&s->runs, job_id);

    if (!run || run->suspended == suspended)
        return;
    run->suspended = suspended;
    if (!suspended)
        sched_cause_note(s, SCHED_CAUSE_RESUMED, job_id);
    run_swap_cpus(s, run);
    run_released(s, run);
}

/* For a run, NULL for anybody. */
static int64_t open_cpus(const struct sched *s, const struct run *run, uint32_t node) {
    int64_t cpus = node_free(s, node)[DIM_CPU] + (run ? run_shared_more(s, run, node) : 0);

    vec_each (&s->nodes[node].plans, hold) {
        if (hold->plan->pinned)
            cpus -= hold->plan->amounts[(size_t) hold->slot * s->n_dims + DIM_CPU];
    }
    return max_of(cpus, (int64_t) 0);
}

uint32_t sched_node_open_cpus(const struct sched *s, uint32_t outer) {
    return (uint32_t) open_cpus(s, NULL, s->inner[outer]);
}

bool sched_run_may_resume(const struct sched *s, uint32_t job_id) {
    const struct run *run = map_get(&s->runs, job_id);

    if (!run || !run->suspended)
        return false;
    for (uint32_t i = 0; i < run->n; i++) {
        if (run->nodes[i] != SCHED_NO_NODE && open_cpus(s, run, run->nodes[i]) < run->cpus_aside[i])
            return false;
    }
    return true;
}

static uint64_t licenses_of(const struct license_use *licenses, size_t n, uint32_t id) {
    for (size_t i = 0; i < n; i++) {
        if (licenses[i].id == id)
            return licenses[i].count;
    }
    return 0;
}

uint64_t run_license(const struct run *run, uint32_t id) {
    return licenses_of(run->licenses, run->n_licenses, id);
}

uint64_t plan_license(const struct plan *plan, uint32_t id) {
    return licenses_of(plan->job->shape->licenses, plan->job->shape->n_licenses, id);
}

/* Licences of one name that are taken at an instant. */
static uint64_t license_used_at(const struct sched *s, const struct alternative *alt, uint32_t id,
                                int64_t when) {
    uint64_t used = s->license_used[id];

    /* What has ended by then; a run past its end is expected to end in the next second. */
    for (size_t i = 0; when > s->now && i < s->licensed.n; i++) {
        if (s->licensed.items[i]->end <= when)
            used -= run_license(s->licensed.items[i], id);
    }
    plans_each (s, plan) {
        if (plan_is_there(*plan, when))
            used += plan_license(*plan, id);
    }
    return used + calendar_licenses(s, alt, id, when);
}

static bool license_free_at(const struct sched *s, const struct alternative *alt,
                            const struct license_use *use, int64_t when) {
    return license_used_at(s, alt, use->id, when) + use->count <= s->license_total[use->id];
}

bool licenses_free_at(const struct sched *s, const struct shape *shape,
                      const struct alternative *alt, int64_t start, int64_t end) {
    for (size_t i = 0; i < shape->n_licenses; i++) {
        const struct license_use *use = &shape->licenses[i];

        if (use->id >= s->n_licenses || !license_free_at(s, alt, use, start))
            return false;
        plans_each (s, plan) {
            int64_t when = (*plan)->start;
            if (when > start && when < end && !license_free_at(s, alt, use, when))
                return false;
        }
        for (int64_t when = start; (when = calendar_next_any(s, when)) < end;) {
            if (!license_free_at(s, alt, use, when))
                return false;
        }
    }
    return true;
}
