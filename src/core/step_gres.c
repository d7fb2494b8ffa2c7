/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices and memory of a step. One that asks gets its own and nobody else has them meanwhile,
 * unless it overlaps; one that does not ask shares what the job has. (In Slurm such a step keeps
 * everything to itself, and the next one waits for no reason that its user could see.)
 */
#include <stdio.h>
#include <string.h>

#include "core/state.h"
#include "text/tres.h"

int step_refuse(struct error *err, enum err code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    cleanup_free char *text = xvasprintf(fmt, args);
    va_end(args);
    return error_set(err, code, "%s", text);
}

/* ---- devices ---- */

static bool same_kind(const struct gres_item *a, const struct gres_item *b) {
    return str_equal_nocase(a->name, b->name) && str_equal_nocase(a->type, b->type);
}

/* Takes out of `part` what other steps of the job hold on this node by having asked for it. */
static void remove_held(struct core_job *job, const char *node, struct gres_given *part) {
    list_each (&job->steps, at) {
        const struct core_step *step = list_entry(at, struct core_step, link);
        if (job_state_is_final(step->rec.state) || step->rec.overlap || !step->rec.owns_gres)
            continue;
        for (uint32_t i = 0; i < step->rec.allocation.n; i++) {
            const struct job_node *entry = &step->rec.allocation.items[i];
            struct gres_given held;
            const char *text = entry->gres;
            if (!str_equal(entry->name, node))
                continue;
            while (gres_given_next(&text, &held)) {
                uint32_t id = 0;
                bool same = same_kind(&held.item, &part->item);
                if (same && gres_is_share(part->item.name)) { /* counted, on each card */
                    bool there = idset_next(&held.ids, 0, &id) ? idset_contains(&part->ids, id)
                                                               : part->ids.n == 0;
                    if (there)
                        part->item.count -= min_of(part->item.count, held.item.count);
                    same = false;
                }
                for (bool more = same && idset_next(&held.ids, 0, &id); more;
                     more = idset_next(&held.ids, id + 1, &id))
                    idset_remove(&part->ids, id);
                gres_given_done(&held);
            }
        }
    }
}

/* Moves up to the counts still wanted from `part` to the step's text. */
static void take_devices(struct gres_list *wanted, const struct gres_given *part, struct str *out) {
    const struct gres_item *have = &part->item;
    struct idset chosen cleanup_idset = IDSET_INIT;
    uint64_t plain = 0;
    uint32_t id = 0;
    bool more = idset_next(&part->ids, 0, &id);
    bool is_counted = part->ids.n == 0 || gres_is_share(have->name);
    for (size_t i = 0; i < wanted->n; i++) {
        struct gres_item *item = &wanted->items[i];
        if (!str_equal_nocase(item->name, have->name) ||
            (item->type != NULL && !str_equal_nocase(item->type, have->type)))
            continue;
        if (is_counted && part->item.count > 0) {
            plain = min_of(item->count, have->count);
            item->count -= plain;
        }
        for (; more && !is_counted && item->count > 0; item->count--) {
            idset_add(&chosen, id);
            more = idset_next(&part->ids, id + 1, &id);
        }
    }
    uint64_t n = plain + idset_count(&chosen);
    if (n == 0)
        return;
    struct str numbers cleanup_str = STR_INIT;
    idset_print(is_counted ? &part->ids : &chosen, &numbers, 0);
    str_printf(out, "%s%s%s%s:%llu(IDX:%s)", out->length > 0 ? "," : "", have->name,
               have->type != NULL ? ":" : "", have->type != NULL ? have->type : "",
               (unsigned long long) n, str_cstr(&numbers));
}

/* The wanted devices of one node. `job` NULL: whatever other steps hold. False: not enough. */
static bool devices_of(struct core_job *job, const struct job_node *entry,
                       const struct gres_list *asked, struct str *out) {
    struct gres_list wanted cleanup_gres_list = GRES_LIST_INIT;
    wanted.items = xcalloc(asked->n + 1, sizeof(struct gres_item));
    wanted.capacity = asked->n + 1;
    for (; wanted.n < asked->n; wanted.n++) {
        const struct gres_item *item = &asked->items[wanted.n];
        wanted.items[wanted.n] =
            (struct gres_item) {xstrdup(item->name), xstrdup_null(item->type), item->count};
    }
    struct gres_given part;
    const char *at = entry->gres;
    while (gres_given_next(&at, &part)) {
        bool numbered = part.ids.n > 0;
        if (job != NULL)
            remove_held(job, entry->name, &part);
        if (!numbered || part.ids.n > 0)
            take_devices(&wanted, &part, out);
        gres_given_done(&part);
    }
    for (size_t i = 0; i < wanted.n; i++) {
        if (wanted.items[i].count > 0)
            return false;
    }
    return true;
}

/* How many of what is asked a node has in all. */
static uint64_t devices_there(const struct job_node *entry, const struct gres_item *asked) {
    const char *at = entry->gres;
    struct gres_given part;
    uint64_t n = 0;
    while (gres_given_next(&at, &part)) {
        const struct gres_item *have = &part.item;
        if (str_equal_nocase(have->name, asked->name) &&
            (asked->type == NULL || str_equal_nocase(have->type, asked->type)))
            n += have->count;
        gres_given_done(&part);
    }
    return n;
}

/* A count for the whole step: evenly, then wherever there is more. */
static void share_out(const struct core_job *job, const struct step_plan *plan,
                      const struct gres_item *total, size_t item, struct gres_list *asked) {
    uint64_t left = total->count;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < plan->n && left > 0; i++) {
            const struct job_node *entry = &job->rec.allocation.items[plan->entries[i]];
            uint64_t have = devices_there(entry, total), *count = &asked[i].items[item].count;
            uint64_t share = pass == 0 ? (left + plan->n - i - 1) / (plan->n - i) : left;
            uint64_t more = min_of(share, have - min_of(have, *count));
            *count += more;
            left -= more;
        }
    }
    if (left > 0) /* too many: the refusal names a node */
        asked[0].items[item].count += min_of(left, UINT64_MAX - asked[0].items[item].count);
}

/* What the request asks for on each node of the plan; *ret_given is false when it asks for nothing.
 */
static int asked_gres(const struct core_job *job, const struct step_request *request,
                      const struct step_plan *plan, struct gres_list *ret, bool *ret_given,
                      struct error *err) {
    const char *text = request->tres_per_node != NULL   ? request->tres_per_node
                       : request->tres_per_step != NULL ? request->tres_per_step
                                                        : request->tres_per_task;
    bool total = text == request->tres_per_step, per_task = text == request->tres_per_task;
    struct error why = ERROR_INIT;
    *ret_given = text != NULL;
    if (text == NULL)
        return 0;
    for (uint32_t i = 0; i < plan->n; i++) {
        if (gres_request_parse(text, &ret[i], &why) < 0)
            return step_refuse(err, ERR_INVALID_GRES, "%s", why.text);
        for (size_t k = 0; k < ret[i].n; k++) {
            uint64_t *count = &ret[i].items[k].count;
            if (per_task && __builtin_mul_overflow(*count, (uint64_t) plan->counts[i], count))
                *count = UINT64_MAX;
            else if (total)
                *count = 0;
        }
    }
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    if (total && plan->n > 0 && gres_request_parse(text, &list, NULL) == 0) {
        for (size_t k = 0; k < list.n; k++)
            share_out(job, plan, &list.items[k], k, ret);
    }
    return 0;
}

static int node_gres(struct core_job *job, struct step_plan *plan, uint32_t i,
                     const struct gres_list *asked, bool ignore_use, bool *ret_busy,
                     struct error *err) {
    const struct job_node *entry = &job->rec.allocation.items[plan->entries[i]];
    struct str most cleanup_str = STR_INIT, out cleanup_str = STR_INIT;
    if (!devices_of(NULL, entry, asked, &most))
        return step_refuse(err, ERR_INVALID_GRES, "the job has %s on node %s",
                           entry->gres != NULL ? entry->gres : "no generic resources", entry->name);
    bool free_now = devices_of(ignore_use ? NULL : job, entry, asked, &out);
    struct str *taken = free_now ? &out : &most; /* a plan that must wait is checked to the end */
    *ret_busy |= !free_now;
    plan->gres[i] = taken->length > 0 ? str_take(taken) : NULL;
    return 0;
}

int step_place_gres(struct core_job *job, const struct step_request *request,
                    struct step_plan *plan, bool ignore_use, bool *ret_busy, struct error *err) {
    struct gres_list *asked = xcalloc(plan->n + 1, sizeof(*asked));
    plan->gres = xcalloc(plan->n + 1, sizeof(char *));
    int r = asked_gres(job, request, plan, asked, &plan->owns_gres, err);
    for (uint32_t i = 0; i < plan->n && r == 0; i++) {
        const struct job_node *entry = &job->rec.allocation.items[plan->entries[i]];
        if (plan->owns_gres)
            r = node_gres(job, plan, i, &asked[i], ignore_use, ret_busy, err);
        else
            plan->gres[i] = xstrdup_null(entry->gres);
    }
    for (uint32_t i = 0; i < plan->n; i++)
        gres_list_done(&asked[i]);
    free(asked);
    return r;
}

char *step_gres_tres(const struct core *core, const struct step_plan *plan) {
    uint64_t totals[SCHED_GRES_KINDS] = {0};
    struct str out = STR_INIT;
    for (uint32_t i = 0; i < plan->n; i++) {
        const char *at = plan->gres[i];
        struct gres_given part;
        while (gres_given_next(&at, &part)) {
            const struct gres_item *item = &part.item;
            size_t kind = gres_kind_find(core, item->name, item->type);
            if (kind < core->n_kinds)
                totals[kind] += item->count;
            gres_given_done(&part);
        }
    }
    gres_accounts_print(core, totals, &out);
    return str_take(&out);
}

/* ---- memory ---- */

/* MiB on a node that other steps have asked for. */
static uint64_t mem_in_use(struct core_job *job, const char *node) {
    uint64_t used = 0;
    list_each (&job->steps, at) {
        const struct core_step *step = list_entry(at, struct core_step, link);
        if (job_state_is_final(step->rec.state) || step->rec.overlap || !step->rec.owns_mem)
            continue;
        for (uint32_t i = 0; i < step->rec.allocation.n; i++) {
            if (str_equal(step->rec.allocation.items[i].name, node))
                used += step->rec.allocation.items[i].mem;
        }
    }
    return used;
}

static uint64_t gpus_of(const char *gres) {
    static const struct gres_item gpu = {(char *) "gpu", NULL, 0};
    struct job_node entry = {.gres = (char *) (uintptr_t) gres};
    return devices_there(&entry, &gpu);
}

/* MiB for the step on a node of the plan; 0: all that the job has there. */
static uint64_t asked_mem(const struct step_request *request, const struct step_plan *plan,
                          uint32_t i) {
    uint64_t units = 1, each = request->mem_per_node;
    if (request->mem_per_cpu != UNSET64) {
        each = request->mem_per_cpu;
        units = plan->cpus[i];
        if (!plan->exact && !request->mem_inherited)
            units = (uint64_t) plan->counts[i] * max_of(request->cpus_per_task, 1u);
    } else if (request->mem_per_gpu != UNSET64) {
        each = request->mem_per_gpu;
        units = gpus_of(plan->gres[i]);
    }
    uint64_t mem = 0;
    if (each == UNSET64)
        return 0;
    return __builtin_mul_overflow(each, units, &mem) ? UINT64_MAX : mem;
}

int step_place_mem(struct core_job *job, const struct step_request *request, struct step_plan *plan,
                   bool ignore_use, bool *ret_busy, struct error *err) {
    plan->owns_mem = false;
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[plan->entries[i]];
        uint64_t asked = asked_mem(request, plan, i);
        bool tracked = entry->mem > 0;
        if (asked == 0 || (tracked && request->mem_inherited)) {
            plan->mem[i] = asked == 0 ? entry->mem : min_of(asked, entry->mem);
            continue;
        }
        if (tracked && asked > entry->mem)
            return step_refuse(
                err, ERR_TASK_MEMORY, "%llu MiB asked for, the job has %llu on node %s",
                (unsigned long long) asked, (unsigned long long) entry->mem, entry->name);
        uint64_t used = ignore_use || !tracked ? 0 : mem_in_use(job, entry->name);
        *ret_busy |= tracked && asked > entry->mem - min_of(entry->mem, used);
        plan->mem[i] = asked;
        plan->owns_mem = true;
    }
    return 0;
}
