/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cluster has by name besides nodes and partitions: kinds of generic resources, features,
 * licences. Here names become indexes, and a name that nobody has is refused with those that exist.
 */
#include <assert.h>
#include <string.h>

#include "core/state.h"
#include "model/conf.h"
#include "text/constraint.h"
#include "text/tres.h"

/* ---- kinds of GRES ---- */

size_t gres_kind_find(const struct core *core, const char *name, const char *type) {
    size_t k = 0;
    while (k < core->n_kinds && !(str_equal_nocase(core->kinds[k].name, name) &&
                                  str_equal_nocase(core->kinds[k].type, type != NULL ? type : "")))
        k++;
    return k;
}

size_t gres_kind_add(struct core *core, const char *name, const char *type) {
    size_t k = gres_kind_find(core, name, type);
    if (k < core->n_kinds)
        return k;
    assert(k < SCHED_GRES_KINDS); /* gres_kinds_check */
    core->kinds[k] = (struct gres_kind) {xstrdup(name), xstrdup(type != NULL ? type : "")};
    return core->n_kinds++;
}

int gres_kinds_check(const struct conf *conf, struct error *err) {
    const struct gres_item *seen[SCHED_GRES_KINDS];
    size_t n = 0;
    for (size_t i = 0; i < conf->n_nodes; i++) {
        const struct gres_list *list = conf->nodes[i].gres;
        for (size_t k = 0; list != NULL && k < list->n; k++) {
            const struct gres_item *item = &list->items[k];
            size_t at = 0;
            while (at < n && !(str_equal_nocase(seen[at]->name, item->name) &&
                               str_equal_nocase(seen[at]->type, item->type)))
                at++;
            if (at < n)
                continue;
            if (n == SCHED_GRES_KINDS)
                return error_set(err, ERR_LIMIT,
                                 "more than %d different generic resources (name and type) are "
                                 "configured",
                                 SCHED_GRES_KINDS);
            seen[n++] = item;
        }
    }
    return 0;
}

bool gres_kind_is_gpu(const struct core *core, size_t kind) {
    return str_equal_nocase(core->kinds[kind].name, "gpu");
}

bool gres_kind_is_share(const struct core *core, size_t kind) {
    return gres_is_share(core->kinds[kind].name);
}

void gres_kind_print(const struct gres_kind *kind, uint64_t count, struct str *out) {
    str_printf(out, "%s%s%s%s:%llu", out->length > 0 ? "," : "", kind->name,
               kind->type[0] != '\0' ? ":" : "", kind->type, (unsigned long long) count);
}

static uint64_t sum_of_name(const struct core *core, const uint64_t *totals, size_t kind) {
    uint64_t sum = 0;
    for (size_t k = 0; k < core->n_kinds; k++)
        sum += str_equal(core->kinds[k].name, core->kinds[kind].name) ? totals[k] : 0;
    return sum;
}

static bool is_first_of_name(const struct core *core, size_t kind) {
    size_t k = 0;
    while (!str_equal(core->kinds[k].name, core->kinds[kind].name))
        k++;
    return k == kind;
}

void gres_sums_print(const struct core *core, const uint64_t *totals, struct str *out) {
    for (size_t k = 0; k < core->n_kinds; k++) {
        uint64_t sum = is_first_of_name(core, k) ? sum_of_name(core, totals, k) : 0;
        if (sum > 0)
            str_printf(out, "%sgres/%s=%llu", out->length > 0 ? "," : "", core->kinds[k].name,
                       (unsigned long long) sum);
    }
}

void gres_accounts_print(const struct core *core, const uint64_t *totals, struct str *out) {
    for (size_t k = 0; k < core->n_kinds; k++) {
        const char *name = core->kinds[k].name, *type = core->kinds[k].type;
        uint64_t sum = is_first_of_name(core, k) ? sum_of_name(core, totals, k) : 0;
        if (sum > 0 && gres_is_tracked(core, name, NULL))
            str_printf(out, "%sgres/%s=%llu", out->length > 0 ? "," : "", name,
                       (unsigned long long) sum);
        if (totals[k] > 0 && type[0] != '\0' && gres_is_tracked(core, name, type))
            str_printf(out, "%sgres/%s:%s=%llu", out->length > 0 ? "," : "", name, type,
                       (unsigned long long) totals[k]);
    }
}

bool gres_is_tracked(const struct core *core, const char *name, const char *type) {
    const char *list = core->conf->accounting_storage_tres;
    cleanup_free char *wanted =
        type != NULL ? xasprintf("gres/%s:%s", name, type) : xasprintf("gres/%s", name);
    bool any = false;
    words_each (list, ", ", word) {
        if (str_equal_nocase(word, wanted))
            return true;
        any |= str_starts_nocase(word, "gres/");
    }
    return !any;
}

/* ---- requests for GRES ---- */

static int unknown_gres(const struct core *core, const struct gres_item *item, bool name_known,
                        struct error *err) {
    struct str have cleanup_str = STR_INIT;
    for (size_t k = 0; k < core->n_kinds; k++) {
        if (name_known && !str_equal_nocase(core->kinds[k].name, item->name))
            continue;
        str_printf(&have, "%s%s%s%s", have.length > 0 ? ", " : "", core->kinds[k].name,
                   core->kinds[k].type[0] != '\0' ? ":" : "", core->kinds[k].type);
    }
    return error_set(err, ERR_INVALID_GRES, "no node has %s%s%s; this cluster has %s", item->name,
                     item->type != NULL ? ":" : "", item->type != NULL ? item->type : "",
                     have.length > 0 ? have.data : "no generic resources");
}

/* The vendor's name often has what users type: a100 stands for nvidia_a100-sxm4-80gb. */
static int kind_asked_for(const struct core *core, const struct gres_item *item) {
    size_t exact = gres_kind_find(core, item->name, item->type);
    for (size_t k = 0; k < core->n_kinds && exact == core->n_kinds; k++) {
        if (str_equal_nocase(core->kinds[k].name, item->name) &&
            strcasestr(core->kinds[k].type, item->type) != NULL)
            return (int) k;
    }
    return exact < core->n_kinds ? (int) exact : -1;
}

static void request_add(struct gres_list *list, const struct gres_item *item) {
    for (size_t i = 0; i < list->n; i++) {
        struct gres_item *known = &list->items[i];
        if (str_equal_nocase(known->name, item->name) &&
            str_equal_nocase(known->type, item->type)) {
            known->count = max_of(known->count, item->count);
            return;
        }
    }
    struct gres_item copy = {xstrdup(item->name), xstrdup_null(item->type), item->count};
    vec_push(list, copy);
}

int gres_request_parse(const char *text, struct gres_list *ret, struct error *err) {
    words_each (text, ",", word) {
        struct gres_list one cleanup_gres_list = GRES_LIST_INIT;
        int r = gres_parse(word, &one, err);
        if (r < 0)
            return r;
        for (size_t i = 0; i < one.n; i++)
            request_add(ret, &one.items[i]);
    }
    return 0;
}

static const char *part_text(const struct job *job, enum gres_part part) {
    const char *texts[GRES_PARTS] = {[GRES_PER_NODE] = job->tres_per_node,
                                     [GRES_PER_TASK] = job->tres_per_task,
                                     [GRES_PER_JOB] = job->tres_per_job,
                                     [GRES_PER_SOCKET] = job->tres_per_socket};
    return texts[part] != NULL ? texts[part] : "";
}

static void drop_named(struct gres_list *list, const struct gres_list *names) {
    for (size_t i = 0; i < names->n; i++) {
        for (size_t k = list->n; k-- > 0;) {
            if (!str_equal_nocase(list->items[k].name, names->items[i].name))
                continue;
            free(list->items[k].name);
            free(list->items[k].type);
            vec_remove(list, k);
        }
    }
}

int gres_part_parse(const struct job *job, enum gres_part part, struct gres_list *ret,
                    struct error *err) {
    int r = gres_request_parse(part_text(job, part), ret, err);
    size_t n_before = part == GRES_PER_TASK ? 1 : part == GRES_PER_JOB ? 2 : 0;
    for (size_t before = 0; r == 0 && before < n_before; before++) {
        struct gres_list names cleanup_gres_list = GRES_LIST_INIT;
        if (gres_request_parse(part_text(job, (enum gres_part) before), &names, NULL) == 0)
            drop_named(ret, &names);
    }
    return r;
}

int gres_resolve(const struct core *core, const struct gres_item *item,
                 struct sched_gres_request *ret, struct error *err) {
    int name_of = -1, kind = item->type != NULL ? kind_asked_for(core, item) : -1;
    for (size_t k = 0; k < core->n_kinds && name_of < 0; k++) {
        if (str_equal_nocase(core->kinds[k].name, item->name))
            name_of = (int) k;
    }
    if (name_of < 0 || (item->type != NULL && kind < 0))
        return unknown_gres(core, item, name_of >= 0, err);
    if (item->count > UINT32_MAX)
        return error_set(err, ERR_INVALID_GRES, "%s: the count is too large", item->name);
    ret->kind = (int16_t) kind;
    ret->name_of = (int16_t) name_of;
    ret->count = (uint32_t) item->count;
    return 0;
}

/* ---- features ---- */

void features_collect(struct core *core) {
    for (size_t i = 0; i < core->n_nodes; i++) {
        words_each (core->nodes[i].rec.features, ",", name) {
            if (smap_get(&core->features, name) == NULL) {
                char *key = xstrdup(name);
                smap_put(&core->features, key, key);
            }
        }
    }
}

struct feature_check {
    const struct core *core;
    struct str unknown; /* the first of them */
};

static void check_feature(const char *name, void *context) {
    struct feature_check *check = context;
    if (smap_get(&check->core->features, name) == NULL && check->unknown.length == 0)
        str_append(&check->unknown, name);
}

static int unknown_feature(const struct core *core, const char *name, struct error *err) {
    struct str have cleanup_str = STR_INIT;
    size_t at = 0;
    const char *known;
    while (smap_next(&core->features, &at, &known) != NULL)
        str_join(&have, ", ", known);
    return error_set(err, ERR_INVALID_FEATURE, "no node has the feature %s; there %s %s", name,
                     have.length > 0 ? "are" : "is",
                     have.length > 0 ? have.data : "none in this cluster");
}

int features_check(const struct core *core, const char *text, struct error *err) {
    struct constraint *constraint = NULL;
    if (constraint_parse(text, &constraint, err) < 0)
        return -ERR_INVALID_FEATURE;
    struct feature_check check = {core, STR_INIT};
    constraint_names(constraint, check_feature, &check);
    constraint_free(constraint);
    int r = check.unknown.length > 0 ? unknown_feature(core, check.unknown.data, err) : 0;
    str_done(&check.unknown);
    return r;
}

/* ---- licences ---- */

void licenses_take(struct core *core, const struct conf *conf) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    if (conf->licenses == NULL || licenses_parse(conf->licenses, &list, NULL) < 0)
        return;
    core->licenses = xcalloc(list.n + 1, sizeof(char *));
    core->license_totals = xcalloc(list.n + 1, sizeof(uint64_t));
    for (size_t i = 0; i < list.n; i++) {
        core->licenses[i] = xstrdup(list.items[i].name);
        core->license_totals[i] = list.items[i].count;
    }
    core->n_licenses = list.n;
}

size_t license_find(const struct core *core, const char *name) {
    size_t at = 0;
    while (at < core->n_licenses && !str_equal(core->licenses[at], name))
        at++;
    return at;
}

uint64_t license_count(const char *text, const char *name) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    if (text == NULL || licenses_parse(text, &list, NULL) < 0)
        return 0;
    vec_each (&list, item) {
        if (str_equal(item->name, name))
            return item->count;
    }
    return 0;
}

int licenses_check(const struct core *core, const char *text, bool none_may_come,
                   struct error *err) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    if (text == NULL)
        return 0;
    int r = licenses_parse(text, &list, err);
    if (r < 0)
        return r;
    vec_each (&list, item) {
        size_t at = license_find(core, item->name);
        uint64_t total = at < core->n_licenses ? core->license_totals[at] : 0;
        bool waits = at < core->n_licenses && total == 0 && none_may_come;
        if (at == core->n_licenses || (item->count > total && !waits))
            return error_set(err, ERR_INVALID_LICENSE, "license %s: %llu asked, %llu exist",
                             item->name, (unsigned long long) item->count,
                             (unsigned long long) total);
    }
    return 0;
}

size_t licenses_resolve(const struct core *core, const char *text, struct arena *arena,
                        uint32_t **ret_ids, uint32_t **ret_counts) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    size_t n = 0;
    *ret_ids = *ret_counts = NULL;
    if (text == NULL || licenses_parse(text, &list, NULL) < 0)
        return 0;
    *ret_ids = arena_alloc(arena, (list.n + 1) * sizeof(uint32_t));
    *ret_counts = arena_alloc(arena, (list.n + 1) * sizeof(uint32_t));
    vec_each (&list, item) {
        size_t at = license_find(core, item->name);
        if (at == core->n_licenses)
            continue;
        (*ret_ids)[n] = (uint32_t) at;
        (*ret_counts)[n++] = (uint32_t) min_of(item->count, (uint64_t) UINT32_MAX);
    }
    return n;
}

/* ---- the end ---- */

void resources_forget(struct core *core) {
    for (size_t k = 0; k < core->n_kinds; k++) {
        free(core->kinds[k].name);
        free(core->kinds[k].type);
    }
    core->n_kinds = 0;
    size_t at = 0;
    const char *name;
    for (void *key = smap_next(&core->features, &at, &name); key != NULL;
         key = smap_next(&core->features, &at, &name))
        free(key);
    smap_done(&core->features);
    core->features = (struct smap) SMAP_INIT;
    for (size_t i = 0; i < core->n_licenses; i++)
        free(core->licenses[i]);
    free(core->licenses);
    free(core->license_totals);
    core->licenses = NULL;
    core->license_totals = NULL;
    core->n_licenses = 0;
}
