/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs of which jobs may have shares: what each card is worth (sched/cards.h), which shares of it
 * are in use, and which card a job's shares are of. The planner has chosen cards, too; its choice
 * is taken where it still holds. `gres_use` of a card counts the whole job or the shares on it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "model/conf.h"
#include "text/tres.h"

static_assert(CONF_SHARED_GPUS_MAX == SCHED_CARDS, "what is told is what is done");

/* Least common multiples above it are too fine: the kind then has no part of the card. */
#define UNITS_MAX (UINT32_MAX / 4)

static uint64_t common_multiple(uint64_t a, uint64_t b) {
    uint64_t x = a, y = b;
    while (y != 0) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* In: shares of each card. Out: the units of one of them, and of the card. */
static void units_set(struct sched_cards *cards, uint64_t shares[][SCHED_CARDS]) {
    for (uint32_t c = 0; c < cards->n; c++) {
        uint64_t units = 1;
        bool any = false;
        for (uint32_t k = 0; k < cards->n_shares; k++) {
            uint64_t n = shares[k][c];
            if (n > UNITS_MAX || (n > 0 && common_multiple(units, n) > UNITS_MAX))
                shares[k][c] = 0;
            else if (n > 0)
                units = common_multiple(units, n);
            any |= shares[k][c] > 0;
        }
        cards->whole[c] = (uint32_t) units + any;
        for (uint32_t k = 0; k < cards->n_shares; k++)
            cards->shares[k].units[c] = shares[k][c] > 0 ? (uint32_t) (units / shares[k][c]) : 0;
    }
}

static uint32_t count_gpus(const struct core *core, const struct core_node *node) {
    uint64_t n = 0;
    for (size_t k = 0; k < core->n_kinds; k++)
        n += gres_kind_is_gpu(core, k) ? node->gres_total[k] : 0;
    return (uint32_t) min_of(n, (uint64_t) UINT32_MAX);
}

void cards_make(struct core *core, struct core_node *node, const struct conf *conf,
                const struct conf_node *line) {
    struct sched_cards cards = {.n = count_gpus(core, node)};
    uint64_t shares[SCHED_SHARE_KINDS][SCHED_CARDS] = {{0}};
    if (cards.n == 0 || cards.n > SCHED_CARDS)
        return;
    for (size_t k = 0; k < core->n_kinds; k++) {
        const struct gres_item item = {core->kinds[k].name,
                                       core->kinds[k].type[0] ? core->kinds[k].type : NULL,
                                       node->gres_total[k]};
        for (uint32_t i = 0; gres_kind_is_gpu(core, k) && i < node->gres_total[k]; i++)
            cards.kind[node->gres_first[k] + i] = (uint8_t) k;
        if (node->gres_total[k] == 0 || !gres_is_share(item.name) ||
            cards.n_shares == SCHED_SHARE_KINDS)
            continue;
        conf_gres_shares(conf, line, &item, shares[cards.n_shares], cards.n);
        cards.shares[cards.n_shares++] = (struct sched_share_kind) {
            .kind = (uint8_t) k, .one_card = conf_gres_shares_one(conf, line, &item)};
    }
    if (cards.n_shares == 0)
        return;
    units_set(&cards, shares);
    cards.several = conf->select_type_parameters & CONF_CR_MULTIPLE_SHARING_GRES_PJ;
    cards.least_first = conf->select_type_parameters & CONF_CR_LL_SHARED_GRES;
    node->cards = xmemdup(&cards, sizeof(cards));
    cards_clear(node);
}

void cards_clear(struct core_node *node) {
    memset(node->card_shares, 0, sizeof(node->card_shares));
    for (uint32_t c = 0; node->cards != NULL && c < node->cards->n; c++)
        node->card_free[c] = node->cards->whole[c];
}

static const struct sched_share_kind *share_of(const struct core_node *node, size_t kind) {
    return node->cards != NULL ? cards_share_find(node->cards, (uint32_t) kind) : NULL;
}

bool cards_are_shared_as(const struct core_node *node, size_t kind) {
    return share_of(node, kind) != NULL;
}

bool cards_are_of(const struct core_node *node, size_t kind) {
    for (uint32_t c = 0; node->cards != NULL && c < node->cards->n; c++) {
        if (node->cards->kind[c] == kind)
            return true;
    }
    return false;
}

/* What the planner has chosen, as far as it is one of these shares; false: it does not fit. */
static bool take_as_planned(const struct core_node *node, const struct sched_share_kind *share,
                            const struct sched_alloc *alloc, size_t kind, int64_t *take) {
    uint64_t count = 0;
    for (uint32_t c = 0; c < node->cards->n; c++) {
        if (alloc->cards[c] == 0 || share->units[c] == 0)
            continue;
        if (alloc->cards[c] % share->units[c] != 0 || alloc->cards[c] >= node->card_free[c])
            return false;
        take[c] = alloc->cards[c];
        count += alloc->cards[c] / share->units[c];
    }
    return count == alloc->gres[kind];
}

static bool choose(const struct core_node *node, const struct sched_alloc *alloc, size_t kind,
                   int64_t *take) {
    const struct sched_share_kind *share = share_of(node, kind);
    if (take_as_planned(node, share, alloc, kind, take))
        return true;
    memset(take, 0, SCHED_CARDS * sizeof(*take));
    return cards_take_shares(node->cards, share, alloc->gres[kind], node->card_free, take);
}

/* Then its shares are of those, and of no card that somebody else has a part of. */
static bool has_whole_cards(const struct core_node *node, const struct sched_alloc *alloc) {
    for (uint32_t c = 0; c < node->cards->n; c++) {
        if (alloc->cards[c] == node->cards->whole[c])
            return true;
    }
    return false;
}

bool cards_allow(const struct core *core, const struct sched_alloc *alloc) {
    const struct core_node *node = &core->nodes[alloc->node];
    for (size_t k = 0; node->cards != NULL && k < core->n_kinds; k++) {
        int64_t take[SCHED_CARDS] = {0};
        if (alloc->gres[k] == 0)
            continue;
        if (gres_kind_is_gpu(core, k) &&
            cards_whole_room(node->cards, (uint32_t) k, node->card_free) < alloc->gres[k])
            return false;
        if (share_of(node, k) != NULL && !has_whole_cards(node, alloc) &&
            !choose(node, alloc, k, take))
            return false;
    }
    return true;
}

void cards_taken(const struct core *core, const struct job_node *entry, struct sched_alloc *alloc) {
    struct sched_alloc taken;
    if (core->nodes[entry->node].cards == NULL)
        return;
    alloc_from_entry(core, entry, &taken);
    memcpy(alloc->cards, taken.cards, sizeof(alloc->cards));
}

void cards_take_share(struct core *core, struct core_node *node, const struct sched_alloc *alloc,
                      size_t kind, struct str *out) {
    const struct sched_share_kind *share = share_of(node, kind);
    int64_t take[SCHED_CARDS] = {0};
    if (has_whole_cards(node, alloc) || !choose(node, alloc, kind, take)) {
        gres_kind_print(&core->kinds[kind], alloc->gres[kind], out);
        str_append(out, "(IDX:)");
        return;
    }
    for (uint32_t c = 0; c < node->cards->n; c++) {
        if (take[c] == 0)
            continue;
        gres_kind_print(&core->kinds[kind], (uint64_t) take[c] / share->units[c], out);
        str_printf(out, "(IDX:%u)", c);
    }
}

void cards_change(struct core_node *node, size_t kind, const struct gres_given *given, bool take) {
    const struct sched_share_kind *share = share_of(node, kind);
    uint32_t id = 0;
    if (share == NULL && !cards_are_of(node, kind))
        return; /* other devices have numbers, too */
    for (bool more = idset_next(&given->ids, 0, &id); more && id < node->cards->n;
         more = idset_next(&given->ids, id + 1, &id)) {
        uint64_t units =
            share != NULL ? given->item.count * share->units[id] : node->cards->whole[id];
        node->card_free[id] += (take ? -1 : 1) * (int64_t) units;
        uint8_t *use = node->gres_use[node->cards->kind[id]];
        uint32_t slot = id - node->gres_first[node->cards->kind[id]];
        if (share == NULL)
            continue;
        size_t which = (size_t) (share - node->cards->shares);
        node->card_shares[which][id] += (uint32_t) (take ? given->item.count : -given->item.count);
        if (use != NULL && (take || use[slot] > 0))
            use[slot] = (uint8_t) (use[slot] + (take ? 1 : -1));
    }
}

void cards_units(const struct core_node *node, size_t kind, const struct gres_given *given,
                 struct sched_alloc *alloc) {
    const struct sched_share_kind *share = share_of(node, kind);
    uint32_t id = 0;
    if (share == NULL && !cards_are_of(node, kind))
        return;
    for (bool more = idset_next(&given->ids, 0, &id); more && id < node->cards->n;
         more = idset_next(&given->ids, id + 1, &id))
        alloc->cards[id] += share != NULL ? (uint32_t) given->item.count * share->units[id]
                                          : node->cards->whole[id];
}

/* "2/4,0/4": of each card, what is in use and what there is. */
uint64_t cards_use_print(const struct core_node *node, size_t kind, struct str *out) {
    const struct sched_share_kind *share = share_of(node, kind);
    const uint32_t *used = node->card_shares[share - node->cards->shares];
    uint64_t sum = 0;
    for (uint32_t c = 0; c < node->cards->n; c++) {
        uint32_t all = share->units[c] > 0 ? (node->cards->whole[c] - 1) / share->units[c] : 0;
        if (out != NULL)
            str_printf(out, "%s%u/%u", c > 0 ? "," : "", used[c], all);
        sum += used[c];
    }
    return sum;
}

bool cards_is_whole(const struct core_node *node, size_t kind, uint32_t slot) {
    return node->cards == NULL || node->card_free[node->gres_first[kind] + slot] <= 0;
}
