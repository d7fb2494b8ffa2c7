/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has had less than is due to them: shares and usage of a tree of accounts and users come to a
 * factor between 0 and 1 for each user.
 *
 * Fair Tree (the default): among siblings the level share is S / U, with S the share of the
 * siblings' shares and U the share of their usage. The tree is walked depth first, the highest
 * level share first, and users are ranked in the order in which they are met; the factor is the
 * rank over the number of users, so that the first has 1. Users with equal level shares have equal
 * ranks, the children of accounts with equal level shares are sorted together, and a user who
 * stands level with an account has the rank of the first below it. So a user of an account that is
 * owed more always goes before a user of one that is owed less.
 *
 * Classic (PriorityFlags=NO_FAIR_TREE): 2^(-(U / S) / dampening), with U the usage of a child in
 * the whole tree, drawn towards that of its parent.
 */
#ifndef SLUICE_SCHED_FAIRSHARE_H
#define SLUICE_SCHED_FAIRSHARE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAIRSHARE_NO_PARENT UINT32_MAX
/* Fairshare=parent, no share of its own: a user goes before those siblings who have used anything,
 * what is below an account stands beside it. */
#define FAIRSHARE_PARENT UINT32_MAX

struct fairshare_node {
    uint32_t parent; /* its index, below this one's; FAIRSHARE_NO_PARENT for the root alone */
    uint32_t shares; /* raw, or FAIRSHARE_PARENT */
    double usage;    /* decayed, of itself and all below it; >= 0 */
    bool is_user;    /* a leaf that jobs belong to */
    /* filled in */
    double norm_shares;     /* of the siblings, 0 to 1 */
    double effective_usage; /* of the siblings (Fair Tree) or of the tree (classic), 0 to 1 */
    double level;           /* S / U; INFINITY without usage */
    double factor;          /* users: 0 to 1 */
};

/* nodes[0] is the root; parents stand before their children. */
void fairshare_tree(struct fairshare_node *nodes, uint32_t n);
void fairshare_classic(struct fairshare_node *nodes, uint32_t n, uint32_t dampening);

/* What is left of a usage after some seconds; half_life 0: it does not decay. */
double usage_decayed(double usage, int64_t seconds, int64_t half_life);
/* What some seconds of steady use come to at their end, decay within them included. */
double usage_accrued(double rate, int64_t seconds, int64_t half_life);

/* One among siblings, its usage and rate of use (a second) beside those of all of them. */
struct fairshare_outlook {
    double norm_shares, usage, rate, all_usage, all_rate;
};
/* Seconds after which the part of the usage of one who is over its share has come down to it, if
 * all go on as now; 0: it is not over; -1: never. */
int64_t fairshare_even_in(const struct fairshare_outlook *outlook, int64_t half_life);

#endif
