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

static void add_entry(const struct core *core, struct tres_sums *sums, uint32_t place,
                      uint32_t assoc_id) {
    const struct assoc_usage *rec = usage_find(core, ASSOC_ASSOC, assoc_id);
    for (uint32_t i = 0; rec != NULL && i < rec->tres.n; i++) {
        size_t at = name_find(sums, rec->tres.items[i].name);
        if (at < sums->n)
            sums->used[place * sums->n + at] += usage_decayed(
                rec->tres.items[i].seconds, core->now - rec->time, core->usage.half_life);
    }
}

/* A job without a time limit has no end that could be told: it counts as used, not as to come. */
static void add_job(const struct core *core, struct tres_sums *sums, uint32_t place,
                    const struct job *job) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    double used = usage_unsettled_seconds(core, job);
    double left = job->end_time > core->now ? (double) (job->end_time - core->now) : 0;
    if (job->tres_alloc == NULL || tres_parse(job->tres_alloc, &list, NULL) < 0)
        return;
    vec_each (&list, item) {
        cleanup_free char *name =
            item->type != NULL ? xasprintf("%s:%s", item->name, item->type) : xstrdup(item->name);
        size_t at = name_find(sums, name);
        if (at == sums->n)
            continue;
        double amount = usage_amount(job, name, item->count);
        sums->used[place * sums->n + at] += amount * used;
        sums->run[place * sums->n + at] += amount * left;
    }
}

void tres_sums_make(struct core *core, struct tres_sums *ret) {
    const struct core_shares *shares = &core->usage.shares;
    *ret = (struct tres_sums) {.n = 0};
    names_make(core, ret);
    ret->used = xcalloc(shares->n * ret->n + 1, sizeof(*ret->used));
    ret->run = xcalloc(shares->n * ret->n + 1, sizeof(*ret->run));
    for (uint32_t i = 0; i < shares->n; i++)
        add_entry(core, ret, i, shares->assocs[i]->id);
    list_each (&core->placed, at) {
        const struct job *job = &list_entry(at, struct core_job, placed)->rec;
        uintptr_t place = (uintptr_t) map_get(&shares->index, job->assoc_id);
        if (job->usage_since > 0 && place > 0)
            add_job(core, ret, (uint32_t) place - 1, job);
    }
    for (uint32_t i = shares->n; i-- > 1;) {
        for (size_t k = 0; k < ret->n; k++) {
            size_t above = shares->nodes[i].parent * ret->n + k;
            ret->used[above] += ret->used[i * ret->n + k];
            ret->run[above] += ret->run[i * ret->n + k];
        }
    }
}

void tres_sums_done(struct tres_sums *sums) {
    for (size_t i = 0; i < sums->n; i++)
        free(sums->names[i]);
    free(sums->names);
    free(sums->used);
    free(sums->run);
}

void tres_sums_print(const struct tres_sums *sums, uint32_t place, bool run, struct str *out) {
    const double *seconds = (run ? sums->run : sums->used) + place * sums->n;
    for (size_t i = 0; i < sums->n; i++)
        str_printf(out, "%s%s=%llu", i > 0 ? "," : "", sums->names[i],
                   (unsigned long long) (seconds[i] / 60));
}
