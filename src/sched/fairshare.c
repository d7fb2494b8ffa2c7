/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/fairshare.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Children of one node after another: items[first[i], first[i + 1]). */
struct family {
    uint32_t *first, *items;
};

static bool has_parents_shares(const struct fairshare_node *node) {
    return node->shares == FAIRSHARE_PARENT && node->parent != FAIRSHARE_NO_PARENT;
}

/* An account with Fairshare=parent has no share of its own: what is below it stands beside it. */
static uint32_t counted_under(const struct fairshare_node *nodes, uint32_t i) {
    uint32_t parent = nodes[i].parent;
    while (has_parents_shares(&nodes[parent]))
        parent = nodes[parent].parent;
    return parent;
}

/* Is it one among the siblings? */
static bool is_counted(const struct fairshare_node *node) {
    return node->is_user || !has_parents_shares(node);
}

static void family_make(const struct fairshare_node *nodes, uint32_t n, struct family *family) {
    uint32_t *fill = xcalloc(n + 1, sizeof(*fill));
    family->first = xcalloc((size_t) n + 2, sizeof(*family->first));
    family->items = xcalloc((size_t) n + 1, sizeof(*family->items));
    for (uint32_t i = 1; i < n; i++)
        family->first[counted_under(nodes, i) + 1] += is_counted(&nodes[i]);
    for (uint32_t i = 0; i < n; i++)
        family->first[i + 1] += family->first[i];
    for (uint32_t i = 1; i < n; i++) {
        uint32_t parent = counted_under(nodes, i);
        if (is_counted(&nodes[i]))
            family->items[family->first[parent] + fill[parent]++] = i;
    }
    free(fill);
}

static void family_done(struct family *family) {
    free(family->first);
    free(family->items);
}

/* Those of siblings that have some of their own. */
static double shares_sum(const struct fairshare_node *nodes, const struct family *family,
                         uint32_t parent) {
    double sum = 0;
    for (uint32_t k = family->first[parent]; k < family->first[parent + 1]; k++) {
        const struct fairshare_node *node = &nodes[family->items[k]];
        sum += has_parents_shares(node) ? 0 : node->shares;
    }
    return sum;
}

/* Without shares nothing is owed, whatever has been used. */
static double level_of(const struct fairshare_node *node) {
    if (node->norm_shares <= 0)
        return 0;
    return node->effective_usage > 0 ? node->norm_shares / node->effective_usage : INFINITY;
}

static void levels_make(struct fairshare_node *nodes, const struct family *family,
                        uint32_t parent) {
    double shares = shares_sum(nodes, family, parent), usage = 0;
    for (uint32_t k = family->first[parent]; k < family->first[parent + 1]; k++)
        usage += nodes[family->items[k]].usage;
    for (uint32_t k = family->first[parent]; k < family->first[parent + 1]; k++) {
        struct fairshare_node *node = &nodes[family->items[k]];
        node->effective_usage = usage > 0 ? node->usage / usage : 0;
        if (has_parents_shares(node)) {
            node->norm_shares = nodes[node->parent].norm_shares;
            node->level = INFINITY;
        } else {
            node->norm_shares = shares > 0 ? node->shares / shares : 0;
            node->level = level_of(node);
        }
    }
}

struct ranking {
    struct fairshare_node *nodes;
    const struct family *family;
    uint32_t n_users, next; /* the rank of the next user */
};

static int level_compare(const void *a, const void *b, void *context) {
    const struct fairshare_node *nodes = context;
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    if (nodes[x].level != nodes[y].level)
        return nodes[x].level > nodes[y].level ? -1 : 1;
    if (nodes[x].is_user != nodes[y].is_user)
        return nodes[x].is_user ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void rank_list(struct ranking *r, uint32_t *list, uint32_t n, uint32_t tied);

/* Nodes of one level share: the users have one rank, and so has whoever comes first among all
 * children of the accounts. `tied` users have that rank already. */
static void rank_equals(struct ranking *r, const uint32_t *list, uint32_t n, uint32_t tied) {
    uint32_t users = tied, below = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct fairshare_node *node = &r->nodes[list[i]];
        users += node->is_user;
        below += r->family->first[list[i] + 1] - r->family->first[list[i]];
        if (node->is_user)
            r->nodes[list[i]].factor = (double) r->next / r->n_users;
    }
    if (below == 0) {
        r->next -= users;
        return;
    }
    uint32_t *children = xcalloc(below, sizeof(*children)), at = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = r->family->first[list[i]]; k < r->family->first[list[i] + 1]; k++)
            children[at++] = r->family->items[k];
    }
    rank_list(r, children, below, users);
    free(children);
}

static void rank_list(struct ranking *r, uint32_t *list, uint32_t n, uint32_t tied) {
    if (n > 1)
        qsort_r(list, n, sizeof(*list), level_compare, r->nodes);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && r->nodes[list[end]].level == r->nodes[list[i]].level; end++)
            ;
        rank_equals(r, list + i, end - i, i == 0 ? tied : 0);
    }
}

void fairshare_tree(struct fairshare_node *nodes, uint32_t n) {
    struct family family;
    if (n == 0)
        return;
    family_make(nodes, n, &family);
    struct ranking ranking = {.nodes = nodes, .family = &family};
    nodes[0].norm_shares = nodes[0].effective_usage = nodes[0].level = 1;
    for (uint32_t i = 0; i < n; i++) {
        nodes[i].factor = 0;
        ranking.n_users += nodes[i].is_user;
        if (!is_counted(&nodes[i])) /* its parent stands before it */
            nodes[i].norm_shares = nodes[nodes[i].parent].norm_shares;
        levels_make(nodes, &family, i);
    }
    ranking.next = ranking.n_users;
    uint32_t root = 0;
    rank_list(&ranking, &root, 1, 0);
    family_done(&family);
}

void fairshare_classic(struct fairshare_node *nodes, uint32_t n, uint32_t dampening) {
    struct family family;
    if (n == 0)
        return;
    family_make(nodes, n, &family);
    double all = nodes[0].usage, *sums = xcalloc(n, sizeof(*sums));
    for (uint32_t i = 0; i < n; i++)
        sums[i] = shares_sum(nodes, &family, i);
    nodes[0].norm_shares = 1;
    nodes[0].effective_usage = all > 0 ? 1 : 0;
    for (uint32_t i = 1; i < n; i++) {
        struct fairshare_node *node = &nodes[i];
        const struct fairshare_node *parent = &nodes[node->parent];
        if (has_parents_shares(node)) {
            node->norm_shares = parent->norm_shares;
            node->effective_usage = parent->effective_usage;
        } else {
            double siblings = sums[counted_under(nodes, i)];
            double part = siblings > 0 ? node->shares / siblings : 0;
            double actual = all > 0 ? node->usage / all : 0;
            node->norm_shares = parent->norm_shares * part;
            node->effective_usage = actual + (parent->effective_usage - actual) * part;
        }
        node->level = level_of(node);
        node->factor = node->level > 0 ? exp2(-1 / node->level / (dampening ? dampening : 1)) : 0;
    }
    free(sums);
    family_done(&family);
}

double usage_decayed(double usage, int64_t seconds, int64_t half_life) {
    if (half_life <= 0 || seconds <= 0)
        return usage;
    return usage * exp2(-(double) seconds / (double) half_life);
}

double usage_accrued(double rate, int64_t seconds, int64_t half_life) {
    if (seconds <= 0)
        return 0;
    if (half_life <= 0)
        return rate * (double) seconds;
    double mean_life = (double) half_life / M_LN2;
    return rate * mean_life * -expm1(-(double) seconds / mean_life);
}

/*
 * With x = 2^(-t/h), usage u, rate r and k = h / ln 2, usage after t is u x + r k (1 - x). Of one
 * and of all of them (U, R), the part is the share s when
 *     u x + r k (1 - x) = s (U x + R k (1 - x)).
 * Without decay u + r t = s (U + R t).
 */
int64_t fairshare_even_in(const struct fairshare_outlook *o, int64_t half_life) {
    double over = o->usage - o->norm_shares * o->all_usage;
    double gain = o->norm_shares * o->all_rate - o->rate; /* a second */
    if (over <= 0)
        return 0;
    if (gain <= 0)
        return -1;
    if (half_life <= 0)
        return (int64_t) ceil(min_of(over / gain, 1e15));
    double mean_life = (double) half_life / M_LN2;
    return (int64_t) ceil(min_of(mean_life * log1p(over / (gain * mean_life)), 1e15));
}
