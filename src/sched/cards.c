/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/cards.h"

#include "base/alloc.h"

int64_t cards_whole_room(const struct sched_cards *cards, uint32_t kind, const int64_t *have) {
    int64_t room = 0;

    for (uint32_t i = 0; i < cards->n; i++)
        room += cards->kind[i] == kind && have[i] == cards->whole[i];
    return room;
}

/* The card that is used in shares, of those where that is only one; cards->n: none is. More than
 * one can look used where `have` is the least over some time: then no card will do. */
static bool may_share(const struct sched_cards *cards, const struct sched_share_kind *share,
                      const int64_t *have, uint32_t card) {
    for (uint32_t i = 0; share->one_card && i < cards->n; i++) {
        if (i != card && have[i] > 0 && have[i] < cards->whole[i])
            return false;
    }
    return share->units[card] > 0;
}

/* Shares that are free of one card. */
static int64_t card_room(const struct sched_cards *cards, const struct sched_share_kind *share,
                         const int64_t *have, uint32_t card) {
    if (have[card] <= 1 || !may_share(cards, share, have, card))
        return 0;
    return (have[card] - 1) / share->units[card];
}

int64_t cards_share_room(const struct sched_cards *cards, const struct sched_share_kind *share,
                         const int64_t *have) {
    int64_t most = 0, sum = 0;

    for (uint32_t i = 0; i < cards->n; i++) {
        int64_t room = card_room(cards, share, have, i);
        most = max_of(most, room);
        sum += room;
    }
    return cards->several && !share->one_card ? sum : most;
}

const struct sched_share_kind *cards_share_find(const struct sched_cards *cards, uint32_t kind) {
    for (uint32_t i = 0; i < cards->n_shares; i++) {
        if (cards->shares[i].kind == kind)
            return &cards->shares[i];
    }
    return NULL;
}

bool cards_take_whole(const struct sched_cards *cards, uint32_t kind, int64_t count,
                      const int64_t *have, int64_t *take) {
    for (uint32_t i = 0; i < cards->n && count > 0; i++) {
        if (cards->kind[i] != kind || have[i] != cards->whole[i] || take[i] > 0)
            continue;
        take[i] += cards->whole[i];
        count--;
    }
    return count == 0;
}

struct offer {
    uint32_t card;
    int64_t room; /* shares */
    bool is_idle;
};

/* Which card is better for so many shares: one that they all fit on, in use before idle, with the
 * least (or most) room. */
static bool is_better(const struct sched_cards *cards, int64_t count, const struct offer *a,
                      const struct offer *b) {
    if ((a->room >= count) != (b->room >= count))
        return a->room >= count;
    if (a->room < count || cards->least_first)
        return a->room > b->room;
    return a->is_idle != b->is_idle ? b->is_idle : a->room < b->room;
}

bool cards_take_shares(const struct sched_cards *cards, const struct sched_share_kind *share,
                       int64_t count, const int64_t *have, int64_t *take) {
    while (count > 0) {
        struct offer best = {0};

        for (uint32_t i = 0; i < cards->n; i++) {
            struct offer offer = {i, 0, have[i] == cards->whole[i]};
            offer.room = take[i] > 0 ? 0 : card_room(cards, share, have, i);
            if (offer.room > 0 && (best.room == 0 || is_better(cards, count, &offer, &best)))
                best = offer;
        }
        bool all_or_none = !cards->several || share->one_card;
        if (best.room == 0 || (all_or_none && best.room < count))
            return false;
        int64_t n = min_of(count, best.room);
        take[best.card] += n * share->units[best.card];
        count -= n;
    }
    return true;
}
