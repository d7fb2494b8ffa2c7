/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing devices: every subset is looked at while there are few, else one is added at a time. */
#include "core/affinity.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/conf.h"
#include "model/messages.h"

#define EXACT_FREE 12 /* free devices up to which every subset is tried: at most 924 of them */

struct affinity {
    uint32_t n;
    int32_t links[AFFINITY_DEVICES_MAX][AFFINITY_DEVICES_MAX];
    struct idset cores[AFFINITY_DEVICES_MAX];
};

/* ---- from gres.conf ---- */

static bool line_is_of(const struct conf_gres *line, const char *node, const char *name,
                       const char *type) {
    return line->name != NULL && str_equal_nocase(line->name, name) &&
           str_equal_nocase(line->type != NULL ? line->type : "", type) &&
           conf_gres_applies(line, node);
}

/* "-1,16,16,0": to the devices of the name, in their order; -1 is the device itself. */
static void links_read(struct affinity *affinity, uint32_t device, const char *text,
                       uint32_t offset) {
    uint32_t at = 0;
    words_each (text, ", ", word) {
        long value = strtol(word, NULL, 10);
        if (at >= offset && at - offset < affinity->n && value > 0)
            affinity->links[device][at - offset] = (int32_t) (value < 1000 ? value : 1000);
        at++;
    }
}

static bool place_read(struct affinity *affinity, uint32_t device, const char *cores,
                       const char *links, uint32_t offset) {
    if (links != NULL)
        links_read(affinity, device, links, offset);
    if (cores != NULL)
        (void) !idset_parse(&affinity->cores[device], cores, UINT32_MAX - 2, NULL, NULL);
    return links != NULL || cores != NULL;
}

static bool same_cores(const struct idset *a, const struct idset *b) {
    uint32_t first = 0, other = 0;
    return idset_next(a, 0, &first) && idset_next(b, 0, &other) && first == other &&
           idset_count(a) == idset_count(b);
}

/* Without links, devices near the same cores are taken to be linked. */
static void links_from_cores(struct affinity *affinity) {
    for (uint32_t i = 0; i < affinity->n; i++) {
        for (uint32_t j = 0; j < affinity->n; j++) {
            if (affinity->links[i][j] > 0 || affinity->links[j][i] > 0)
                return;
        }
    }
    for (uint32_t i = 0; i < affinity->n; i++) {
        for (uint32_t j = 0; j < affinity->n; j++)
            affinity->links[i][j] = i != j && same_cores(&affinity->cores[i], &affinity->cores[j]);
    }
}

struct affinity *affinity_new(const struct conf *conf, const char *node, const char *name,
                              const char *type, uint32_t n, uint32_t offset) {
    if (n == 0 || n > AFFINITY_DEVICES_MAX)
        return NULL;
    struct affinity *affinity = zalloc(struct affinity);
    uint32_t device = 0;
    bool any = false;
    affinity->n = n;
    for (size_t i = 0; i < conf->n_gres; i++) {
        const struct conf_gres *line = &conf->gres[i];
        if (!line_is_of(line, node, name, type))
            continue;
        for (uint64_t k = 0; k < line->count && device < n; k++)
            any |= place_read(affinity, device++, line->cores, line->links, offset);
    }
    if (!any) {
        affinity_free(affinity);
        return NULL;
    }
    links_from_cores(affinity);
    return affinity;
}

struct affinity *affinity_found(const struct gres_place *places, size_t n_places, const char *name,
                                uint32_t n, uint32_t offset) {
    if (n == 0 || n > AFFINITY_DEVICES_MAX)
        return NULL;
    struct affinity *affinity = zalloc(struct affinity);
    bool any = false;
    affinity->n = n;
    for (size_t i = 0; i < n_places; i++) {
        const struct gres_place *place = &places[i];
        if (str_equal_nocase(place->name, name) && place->index >= offset &&
            place->index - offset < n)
            any |= place_read(affinity, place->index - offset, place->cores, place->links, offset);
    }
    if (!any) {
        affinity_free(affinity);
        return NULL;
    }
    links_from_cores(affinity);
    return affinity;
}

void affinity_free(struct affinity *affinity) {
    if (affinity == NULL)
        return;
    for (uint32_t i = 0; i < affinity->n; i++)
        idset_done(&affinity->cores[i]);
    free(affinity);
}

/* ---- choosing ---- */

/* How well the devices of a set are linked among each other. */
static int64_t set_links(const struct affinity *affinity, uint32_t set) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < affinity->n; i++) {
        for (uint32_t j = i + 1; j < affinity->n; j++) {
            if (set >> i & 1 && set >> j & 1)
                sum += affinity->links[i][j] + affinity->links[j][i];
        }
    }
    return sum;
}

struct choice {
    uint32_t set;
    int64_t inside, left;
};

static void choice_consider(const struct affinity *affinity, uint32_t set, uint32_t free_set,
                            struct choice *best) {
    struct choice choice = {set, set_links(affinity, set), set_links(affinity, free_set & ~set)};
    if (choice.inside > best->inside || (choice.inside == best->inside && choice.left > best->left))
        *best = choice;
}

/* Subsets in the order of their numbers, so that the first of equals has the lowest devices. */
static void choose_exactly(const struct affinity *affinity, uint32_t set, uint32_t from,
                           uint32_t free_set, uint32_t count, struct choice *best) {
    if (count == 0) {
        choice_consider(affinity, set, free_set, best);
        return;
    }
    for (uint32_t i = from; i < affinity->n; i++) {
        if (free_set >> i & 1)
            choose_exactly(affinity, set | 1u << i, i + 1, free_set, count - 1, best);
    }
}

static uint32_t choose_next(const struct affinity *affinity, uint32_t set, uint32_t free_set) {
    struct choice best = {0, -1, -1};
    for (uint32_t i = 0; i < affinity->n; i++) {
        if (free_set & ~set & 1u << i)
            choice_consider(affinity, set | 1u << i, free_set, &best);
    }
    return best.set;
}

static void choose_greedily(const struct affinity *affinity, uint32_t free_set, uint32_t count,
                            struct choice *best) {
    for (uint32_t i = 0; i < affinity->n; i++) {
        if (!(free_set >> i & 1))
            continue;
        uint32_t set = 1u << i;
        for (uint32_t k = 1; k < count; k++)
            set = choose_next(affinity, set, free_set);
        choice_consider(affinity, set, free_set, best);
    }
}

uint32_t affinity_choose(const struct affinity *affinity, uint32_t free_set, uint32_t count) {
    struct choice best = {0, -1, -1};
    if (count == 0)
        return 0;
    if (__builtin_popcount(free_set) <= EXACT_FREE)
        choose_exactly(affinity, 0, 0, free_set, count, &best);
    else
        choose_greedily(affinity, free_set, count, &best);
    return best.set;
}

void affinity_cores(const struct affinity *affinity, uint32_t devices, struct idset *cores) {
    for (uint32_t i = 0; i < affinity->n; i++) {
        uint32_t id = 0;
        const struct idset *near = &affinity->cores[i];
        for (bool more = devices >> i & 1 && idset_next(near, 0, &id); more;
             more = idset_next(near, id + 1, &id))
            idset_add(cores, id);
    }
}
