/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs that jobs may also have shares of (GRES shard and mps). A card is given whole, or in shares
 * to several jobs, never both: a card with a share in use is no whole card, and a whole one has no
 * shares.
 *
 * What is free of a card is counted in units. A card that nobody uses has `whole` of them, and a
 * job that gets it takes them all. Shares take at most whole - 1 together, so that 0 free units
 * always mean that one job has the card. Pure arithmetic, for the planner and for the core.
 */
#ifndef SLUICE_SCHED_CARDS_H
#define SLUICE_SCHED_CARDS_H

#include <stdbool.h>
#include <stdint.h>

#define SCHED_CARDS 16      /* of a node that has shares */
#define SCHED_SHARE_KINDS 4 /* GRES kinds of shares on one node */

struct sched_share_kind {
    uint8_t kind;                /* index of the GRES kind */
    bool one_card;               /* only one card of the node at a time is used in shares */
    uint32_t units[SCHED_CARDS]; /* that a share of the card takes; 0 = it has none of this kind */
};
struct sched_cards {
    uint32_t n;
    uint8_t kind[SCHED_CARDS];   /* index of the GRES kind of each card */
    uint32_t whole[SCHED_CARDS]; /* units, >= 1 */
    struct sched_share_kind shares[SCHED_SHARE_KINDS];
    uint32_t n_shares;
    bool several;     /* a job may have shares of several cards of the node */
    bool least_first; /* shares go to the card with most room, not to the fullest */
};

/* Cards of a GRES kind that nobody uses. `have`: free units per card. */
int64_t cards_whole_room(const struct sched_cards *cards, uint32_t kind, const int64_t *have);
/* Shares that one job could have now. */
int64_t cards_share_room(const struct sched_cards *cards, const struct sched_share_kind *share,
                         const int64_t *have);
/* NULL: the kind is none of shares. */
const struct sched_share_kind *cards_share_find(const struct sched_cards *cards, uint32_t kind);
/* Chooses whole cards of a kind, or those that the shares are of, and adds their units to `take`,
 * beside what it has of others. False: there are not enough, and `take` is of no use. */
bool cards_take_whole(const struct sched_cards *cards, uint32_t kind, int64_t count,
                      const int64_t *have, int64_t *take);
bool cards_take_shares(const struct sched_cards *cards, const struct sched_share_kind *share,
                       int64_t count, const int64_t *have, int64_t *take);

#endif
