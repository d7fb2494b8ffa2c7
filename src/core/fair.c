/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares: the book of associations and what all have used as the tree of sched/fairshare.h, which
 * gives each user's part of PriorityWeightFairshare, and the listing of it.
 */
#include <stdlib.h>
#include <string.h>

#include "assoc/list.h"
#include "core/state.h"
#include "model/conf.h"

/* ---- the tree ---- */

void shares_outdate(struct core *core) {
    core->usage.shares.n = 0;
}

void shares_free(struct core *core) {
    struct core_shares *shares = &core->usage.shares;
    free(shares->assocs);
    free(shares->nodes);
    free(shares->rates);
    map_done(&shares->index);
    *shares = (struct core_shares) {.n = 0};
}

static uint32_t shares_place(const struct core_shares *shares, uint32_t assoc_id) {
    return (uint32_t) (uintptr_t) map_get(&shares->index, assoc_id);
}

static void shares_build(struct core *core) {
    struct core_shares *shares = &core->usage.shares;
    size_t room = core->book.entries[ASSOC_ASSOC].n;
    shares_free(core);
    shares->assocs = xcalloc(room + 1, sizeof(*shares->assocs));
    shares->n = (uint32_t) assoc_tree_walk(&core->book, shares->assocs);
    shares->nodes = xcalloc(room + 1, sizeof(*shares->nodes));
    shares->rates = xcalloc(room + 1, sizeof(*shares->rates));
    for (uint32_t i = 0; i < shares->n; i++) {
        const struct assoc *assoc = shares->assocs[i];
        const struct assoc *above = assoc_parent(&core->book, assoc);
        map_put(&shares->index, assoc->id, (void *) (uintptr_t) (i + 1));
        shares->nodes[i] = (struct fairshare_node) {
            .parent = above != NULL ? shares_place(shares, above->id) - 1 : FAIRSHARE_NO_PARENT,
            .shares = assoc->shares == SHARES_PARENT ? FAIRSHARE_PARENT
                      : assoc->shares == UNSET32     ? 1
                                                     : assoc->shares,
            .is_user = assoc->user != NULL};
    }
}

static void shares_sum(struct core *core) {
    struct core_shares *shares = &core->usage.shares;
    for (uint32_t i = 0; i < shares->n; i++) {
        shares->nodes[i].usage = usage_settled(core, ASSOC_ASSOC, shares->assocs[i]->id);
        shares->rates[i] = 0;
    }
    list_each (&core->placed, at) {
        const struct job *job = &list_entry(at, struct core_job, placed)->rec;
        uint32_t place = job->usage_since > 0 ? shares_place(shares, job->assoc_id) : 0;
        if (place == 0)
            continue;
        shares->nodes[place - 1].usage += usage_unsettled(core, job);
        shares->rates[place - 1] += usage_rate(core, job);
    }
    for (uint32_t i = shares->n; i-- > 1;) {
        shares->nodes[shares->nodes[i].parent].usage += shares->nodes[i].usage;
        shares->rates[shares->nodes[i].parent] += shares->rates[i];
    }
}

const struct assoc *shares_assoc(struct core *core, uint32_t assoc_id) {
    if (core->usage.shares.n == 0)
        shares_update(core);
    uint32_t place = shares_place(&core->usage.shares, assoc_id);
    return place > 0 ? core->usage.shares.assocs[place - 1] : NULL;
}

void shares_update(struct core *core) {
    struct core_shares *shares = &core->usage.shares;
    if (shares->n == 0)
        shares_build(core);
    shares_sum(core);
    if (core->usage.classic)
        fairshare_classic(shares->nodes, shares->n, core->usage.dampening);
    else
        fairshare_tree(shares->nodes, shares->n);
}

uint64_t shares_factor(struct core *core, const struct job *job) {
    const struct core_shares *shares = &core->usage.shares;
    if (shares->n == 0)
        shares_update(core);
    const struct assoc *assoc = assoc_for_job(core, job);
    uint32_t place = assoc != NULL ? shares_place(shares, assoc->id) : 0;
    return place == 0 ? 0
                      : (uint64_t) (shares->nodes[place - 1].factor * (double) PRIORITY_ONE + 0.5);
}

/* ---- listing ---- */

/* Among its siblings, or with the classic formula in the whole tree. */
static int64_t even_in(const struct core *core, uint32_t at) {
    const struct core_shares *shares = &core->usage.shares;
    const struct fairshare_node *node = &shares->nodes[at];
    uint32_t whole = core->usage.classic ? 0 : node->parent;
    if (at == 0 || node->shares == FAIRSHARE_PARENT || node->effective_usage <= 0)
        return 0;
    struct fairshare_outlook outlook = {.norm_shares = node->norm_shares,
                                        .usage = node->usage,
                                        .rate = shares->rates[at],
                                        .all_usage = node->usage / node->effective_usage,
                                        .all_rate = shares->rates[whole]};
    return fairshare_even_in(&outlook, core->usage.half_life);
}

/* The user below a node who has used most; 0: it is a user itself, or nobody has. */
static uint32_t most_used_below(const struct core_shares *shares, uint32_t at) {
    uint32_t most = 0;
    for (uint32_t i = at + 1; i < shares->n && !shares->nodes[at].is_user; i++) {
        uint32_t above = i;
        while (above > at)
            above = shares->nodes[above].parent;
        if (above == at && shares->nodes[i].is_user && shares->nodes[i].usage > 0 &&
            (most == 0 || shares->nodes[i].usage > shares->nodes[most].usage))
            most = i;
    }
    return most;
}

static void explain_level(const struct core *core, uint32_t at, struct str *out) {
    const struct core_shares *shares = &core->usage.shares;
    const struct fairshare_node *node = &shares->nodes[at];
    const struct assoc *assoc = shares->assocs[at];
    const struct assoc *above = shares->assocs[core->usage.classic ? 0 : node->parent];
    uint32_t most = most_used_below(shares, at);
    int64_t even = even_in(core, at);
    str_printf(out, "%s%s %s has %.1f %% of the shares below account %s, and %.1f %% of the usage",
               out->length > 0 ? "; " : "", assoc->user != NULL ? "user" : "account",
               assoc->user != NULL ? assoc->user : assoc->account, 100 * node->norm_shares,
               above->account, 100 * node->effective_usage);
    if (most > 0)
        str_printf(out, " (most of it by %s, %.1f %%)", shares->assocs[most]->user,
                   100 * shares->nodes[most].usage / node->usage);
    if (even < 0) {
        str_append(out, ", even again only once the others use more than now");
    } else if (even > 0) {
        str_append(out, ", even again in ");
        duration_print_long(even, out);
        str_append(out, " if all go on as now");
    }
}

void shares_explain(struct core *core, const struct job *job, struct str *out) {
    const struct core_shares *shares = &core->usage.shares;
    shares_update(core);
    const struct assoc *assoc = assoc_for_job(core, job);
    uint32_t place = assoc != NULL ? shares_place(shares, assoc->id) : 0;
    uint32_t path[8], n = 0;
    for (uint32_t at = place; at > 1 && n < countof(path); at = shares->nodes[at - 1].parent + 1)
        path[n++] = at - 1;
    while (n-- > 0) { /* what is decided above goes first */
        const struct fairshare_node *node = &shares->nodes[path[n]];
        if (node->shares != FAIRSHARE_PARENT && node->effective_usage > node->norm_shares)
            explain_level(core, path[n], out);
    }
}

static char *tres_mins(struct core *core, const struct tres_sums *sums, uint32_t at,
                       enum tres_sum which) {
    struct str text cleanup_str = STR_INIT;
    tres_sums_print(sums, at, which, &text);
    return arena_strndup(&core->out->memory, str_cstr(&text), text.length);
}

static void share_fill(struct core *core, const struct tres_sums *sums, uint32_t at,
                       struct share *row) {
    const struct core_shares *shares = &core->usage.shares;
    const struct fairshare_node *node = &shares->nodes[at];
    const struct assoc *assoc = shares->assocs[at];
    double all = shares->nodes[0].usage;
    record_init(&record_share, row);
    row->account = assoc->account;
    row->user = assoc->user;
    row->partition = assoc->partition;
    row->parent = assoc->parent;
    row->assoc_id = assoc->id;
    row->shares = node->shares == FAIRSHARE_PARENT ? SHARES_PARENT : node->shares;
    row->norm_shares = node->norm_shares;
    row->usage = node->usage;
    row->norm_usage = all > 0 ? node->usage / all : 0;
    row->effective_usage = node->effective_usage;
    row->factor = node->factor;
    row->level = node->level;
    row->rate = shares->rates[at];
    row->even_in = even_in(core, at);
    row->grp_tres_mins = assoc->grp_tres_mins;
    row->tres_used_mins = tres_mins(core, sums, at, TRES_USED);
    row->tres_run_mins = tres_mins(core, sums, at, TRES_RUN);
}

void handle_shares(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                   void *body) {
    struct share_list list = {.fair_tree = !core->usage.classic,
                              .multifactor = core->settings.priority_multifactor,
                              .half_life = core->usage.half_life,
                              .cluster = core->settings.cluster,
                              .reset_time = core->usage.reset_next};
    struct tres_sums sums;
    shares_update(core);
    tres_sums_make(core, &sums);
    const struct core_shares *shares = &core->usage.shares;
    list.items.items = arena_alloc(&core->out->memory, (shares->n + 1) * sizeof(*list.items.items));
    for (uint32_t i = 0; i < shares->n; i++) {
        const struct assoc *assoc = shares->assocs[i];
        if (core_sees_assoc(core, user, assoc->user, assoc->account))
            share_fill(core, &sums, i, &list.items.items[list.items.n++]);
    }
    tres_sums_done(&sums);
    emit_reply(core, client, MSG_SHARE_LIST, 1, seq, &list);
}
