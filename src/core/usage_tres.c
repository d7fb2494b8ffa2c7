/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each resource has been used for, and what the running jobs may still use of it until the
 * ends of their limits, of every association with all below it. Listings and limits in minutes ask
 * for it; nothing is kept.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"

static void name_add(struct tres_sums *sums, char *name) {
    sums->names = xreallocarray(sums->names, sums->n + 1, sizeof(*sums->names));
    sums->names[sums->n++] = name;
}

static size_t name_find(const struct tres_sums *sums, const char *name) {
    size_t i = 0;
    while (i < sums->n && !str_equal_nocase(sums->names[i], name))
        i++;
    return i;
}

/* The standard ones, then GRES that accounts have, each name before its types. */
static void names_make(const struct core *core, struct tres_sums *sums) {
    for (size_t i = 0; i < TRES_STANDARD; i++)
        name_add(sums, xstrdup(tres_standard[i]));
    for (size_t k = 0; k < core->n_kinds; k++) {
        const struct gres_kind *kind = &core->kinds[k];
        cleanup_free char *plain = xasprintf("gres/%s", kind->name);
        if (gres_is_tracked(core, kind->name, NULL) && name_find(sums, plain) == sums->n)
            name_add(sums, xstrdup(plain));
        if (kind->type[0] != '\0' && gres_is_tracked(core, kind->name, kind->type))
            name_add(sums, xasprintf("gres/%s:%s", kind->name, kind->type));
    }
}

void tres_sums_entry(const struct core *core, struct tres_sums *sums, uint32_t place, uint32_t kind,
                     uint32_t id) {
    const struct assoc_usage *rec = usage_find(core, kind, id);
    for (uint32_t i = 0; rec != NULL && i < rec->tres.n; i++) {
        size_t at = name_find(sums, rec->tres.items[i].name);
        if (at < sums->n)
            sums->used[place * sums->n + at] += usage_decayed(
                rec->tres.items[i].seconds, core->now - rec->time, usage_half_life(core, kind, id));
    }
}

void tres_sums_job(struct tres_sums *sums, uint32_t place, const struct job *job, double used,
                   double left) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    if (job->tres_alloc == NULL || tres_parse(job->tres_alloc, &list, NULL) < 0)
        return;
    vec_each (&list, item) {
        cleanup_free char *name =
            item->type != NULL ? xasprintf("%s:%s", item->name, item->type) : xstrdup(item->name);
        size_t at = name_find(sums, name);
        if (at == sums->n)
            continue;
        double amount = usage_amount(job, name, item->count);
        sums->held[place * sums->n + at] += amount;
        sums->used[place * sums->n + at] += amount * used;
        sums->run[place * sums->n + at] += amount * left;
    }
}

void tres_sums_init(const struct core *core, size_t n_places, struct tres_sums *ret) {
    *ret = (struct tres_sums) {.n = 0};
    names_make(core, ret);
    ret->held = xcalloc(n_places * ret->n + 1, sizeof(*ret->held));
    ret->used = xcalloc(n_places * ret->n + 1, sizeof(*ret->used));
    ret->run = xcalloc(n_places * ret->n + 1, sizeof(*ret->run));
}

/* A job without a time limit has no end that could be told: it counts as used, not as to come. */
double tres_seconds_left(const struct core *core, const struct job *job) {
    return job->end_time > core->now ? (double) (job->end_time - core->now) : 0;
}

void tres_sums_roll_up(const struct core *core, struct tres_sums *sums) {
    const struct core_shares *shares = &core->usage.shares;
    for (uint32_t i = shares->n; i-- > 1;) {
        for (size_t k = 0; k < sums->n; k++) {
            size_t above = shares->nodes[i].parent * sums->n + k;
            sums->held[above] += sums->held[i * sums->n + k];
            sums->used[above] += sums->used[i * sums->n + k];
            sums->run[above] += sums->run[i * sums->n + k];
        }
    }
}

void tres_sums_make(struct core *core, struct tres_sums *ret) {
    const struct core_shares *shares = &core->usage.shares;
    tres_sums_init(core, shares->n, ret);
    for (uint32_t i = 0; i < shares->n; i++)
        tres_sums_entry(core, ret, i, ASSOC_ASSOC, shares->assocs[i]->id);
    list_each (&core->placed, at) {
        const struct job *job = &list_entry(at, struct core_job, placed)->rec;
        uintptr_t place = (uintptr_t) map_get(&shares->index, job->assoc_id);
        if (job->usage_since > 0 && place > 0)
            tres_sums_job(ret, (uint32_t) place - 1, job, usage_unsettled_seconds(core, job),
                          tres_seconds_left(core, job));
    }
    tres_sums_roll_up(core, ret);
}

void tres_sums_done(struct tres_sums *sums) {
    for (size_t i = 0; i < sums->n; i++)
        free(sums->names[i]);
    free(sums->names);
    free(sums->held);
    free(sums->used);
    free(sums->run);
}

void tres_sums_print(const struct tres_sums *sums, uint32_t place, enum tres_sum which,
                     struct str *out) {
    const double *all = which == TRES_HELD   ? sums->held
                        : which == TRES_USED ? sums->used
                                             : sums->run;
    for (size_t i = 0; i < sums->n; i++)
        str_printf(out, "%s%s=%llu", i > 0 ? "," : "", sums->names[i],
                   (unsigned long long) (all[place * sums->n + i] / (which == TRES_HELD ? 1 : 60)));
}
