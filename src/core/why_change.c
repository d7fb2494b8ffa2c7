/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would start a waiting job sooner: one thing of its request is changed at a time, the changed
 * form is checked as an update would be and its start is planned. Only what is found to be sooner
 * is said, the best of each kind, at most three.
 */
#include <string.h>

#include "core/why.h"
#include "text/tres.h"

/* Sooner by less is no reason to change anything (seconds). */
#define WORTH_SECONDS 60
/* No limit shorter than this part of the one asked for is proposed. */
#define LIMIT_PARTS 8

static void form_init(const struct why_work *w, struct job *form) {
    record_copy(&record_job, form, &w->job->rec);
}

/* Whose rights count: an administrator may ask about any job, but that says nothing of its owner.
 */
static struct core_user form_user(const struct why_work *w, const struct job *form) {
    if (form->uid == w->user.uid)
        return w->user;
    return (struct core_user) {.uid = form->uid,
                               .gid = form->gid,
                               .name = form->user_name != NULL ? form->user_name : "?",
                               .group = form->group_name != NULL ? form->group_name : "?"};
}

/* Takes the form; keeps it if it would be accepted. */
static void form_add(struct why_work *w, enum why_kind kind, struct job *form, const char *option,
                     const char *update) {
    struct reply_error refusal;
    const struct core_user user = form_user(w, form);
    record_init(&record_reply_error, &refusal);
    if (w->forms.n == WHY_TRIES || job_check(w->core, form, &user, &refusal) < 0) {
        record_done(&record_job, form);
        return;
    }
    struct why_form *added = vec_add(&w->forms);
    added->kind = kind;
    added->job = *form;
    added->option = why_copy(w, option);
    added->update = why_copy(w, update);
}

void why_form_try(struct why_work *w, const struct why_form *form) {
    struct why_change *best = &w->best[form->kind];
    struct forecast_start start;
    int64_t until = best->start > 0 ? best->start : w->reply.expected;
    w->reply.n_tried++;
    if (!why_forecast(w, &form->job, until, false, &start) || !start.exact ||
        (until > 0 && start.time + WORTH_SECONDS > until))
        return;
    record_init(&record_why_change, best);
    best->option = form->option;
    best->update = form->update;
    best->start = start.time;
    best->nodes = start.nodes;
}

/* ---- the limit ---- */

static void try_limits(struct why_work *w) {
    uint32_t minutes = w->job->rec.time_limit;
    if (minutes == MINUTES_UNSET || minutes == MINUTES_INFINITE)
        return;
    for (uint32_t part = 2; part <= LIMIT_PARTS && minutes / part >= 1; part *= 2) {
        struct job form;
        struct str limit cleanup_str = STR_INIT;
        form_init(w, &form);
        form.time_limit = minutes / part;
        if (form.time_min != UNSET32 && form.time_min > form.time_limit)
            form.time_min = form.time_limit;
        minutes_print_long(form.time_limit, "UNLIMITED", &limit);
        cleanup_free char *option = xasprintf("--time=%s", str_cstr(&limit));
        cleanup_free char *update = xasprintf("TimeLimit=%s", str_cstr(&limit));
        form_add(w, WHY_KIND_LIMIT, &form, option, update);
    }
}

/* ---- sizes ---- */

static void try_nodes(struct why_work *w) {
    const struct job *rec = &w->job->rec;
    if (rec->min_nodes < 2)
        return;
    struct job form;
    form_init(w, &form);
    form.min_nodes = form.max_nodes = rec->min_nodes / 2;
    cleanup_free char *option = xasprintf("--nodes=%u", form.min_nodes);
    cleanup_free char *update = xasprintf("NumNodes=%u", form.min_nodes);
    form_add(w, WHY_KIND_NODES, &form, option, update);
}

/* The list with half of its GPUs, or with GPUs of any type; false: nothing to change. */
static bool gpus_change(const char *text, bool any_type, struct str *out) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    bool changed = false;
    if (text == NULL || gres_parse(text, &list, NULL) < 0)
        return false;
    for (size_t i = 0; i < list.n; i++) {
        struct gres_item *item = &list.items[i];
        bool gpu = str_equal_nocase(item->name, "gpu");
        uint64_t count = gpu && !any_type && item->count > 1 ? item->count / 2 : item->count;
        bool typed = item->type != NULL && !(gpu && any_type);
        changed |= count != item->count || typed != (item->type != NULL);
        str_printf(out, "%sgres/%s%s%s:%llu", out->length > 0 ? "," : "", item->name,
                   typed ? ":" : "", typed ? item->type : "", (unsigned long long) count);
    }
    return changed;
}

static void try_gpus(struct why_work *w, bool any_type) {
    static const struct {
        const char *option, *key;
        size_t member;
    } lists[] = {{"--gres", "TresPerNode", offsetof(struct job, tres_per_node)},
                 {"--gpus", "TresPerJob", offsetof(struct job, tres_per_job)},
                 {"--gpus-per-task", NULL, offsetof(struct job, tres_per_task)}};
    for (size_t i = 0; i < countof(lists); i++) {
        struct job form;
        struct str text cleanup_str = STR_INIT;
        form_init(w, &form);
        char **member = (char **) ((char *) &form + lists[i].member);
        if (!gpus_change(*member, any_type, &text)) {
            record_done(&record_job, &form);
            continue;
        }
        string_set(member, str_cstr(&text));
        const char *value = str_cstr(&text);
        bool one = strchr(value, ',') == NULL;
        /* --gpus takes "a100:2", --gres "gpu:a100:2". */
        const char *short_value = !one ? value : i > 0 ? value + strlen("gres/gpu:") : value + 5;
        cleanup_free char *option = xasprintf("%s=%s", lists[i].option, short_value);
        cleanup_free char *update =
            lists[i].key != NULL ? xasprintf("%s=%s", lists[i].key, value) : NULL;
        form_add(w, any_type ? WHY_KIND_TYPE : WHY_KIND_GPUS, &form, option, update);
    }
}

/* ---- where ---- */

static void try_partitions(struct why_work *w) {
    struct core *core = w->core;
    const struct job *rec = &w->job->rec;
    for (size_t p = 0; p < core->n_partitions; p++) {
        const struct partition *part = &core->partitions[p].rec;
        bool too_long = part->max_time != MINUTES_INFINITE && rec->time_limit > part->max_time;
        if (str_has_word(rec->partition != NULL ? rec->partition : "", part->name, ",") ||
            part->hidden || too_long)
            continue;
        struct job form;
        form_init(w, &form);
        string_set(&form.partition, part->name);
        cleanup_free char *option = xasprintf("--partition=%s", part->name);
        cleanup_free char *update = xasprintf("Partition=%s", part->name);
        form_add(w, WHY_KIND_PARTITION, &form, option, update);
    }
}

static void try_without(struct why_work *w) {
    const struct job *rec = &w->job->rec;
    struct job form;
    if (rec->req_nodes != NULL) {
        form_init(w, &form);
        string_set(&form.req_nodes, NULL);
        form_add(w, WHY_KIND_ANY_NODE, &form, "no --nodelist", "ReqNodeList=");
    }
    if (rec->exclusive == EXCLUSIVE_NODE) {
        form_init(w, &form);
        form.exclusive = EXCLUSIVE_NO;
        form.oversubscribe = OVERSUB_YES;
        form_add(w, WHY_KIND_SHARED, &form, "no --exclusive", "OverSubscribe=YES");
    }
    if (rec->features != NULL) {
        form_init(w, &form);
        string_set(&form.features, NULL);
        form_add(w, WHY_KIND_FEATURES, &form, "no --constraint", "Features=");
    }
}

/* The soonest first. */
void why_forms_report(struct why_work *w) {
    struct why_change *rows = arena_alloc(&w->memory, WHY_CHANGES * sizeof(*rows));
    while (w->reply.changes.n < WHY_CHANGES) {
        struct why_change *first = NULL;
        for (size_t i = 0; i < WHY_KINDS; i++) {
            if (w->best[i].start > 0 && (first == NULL || w->best[i].start < first->start))
                first = &w->best[i];
        }
        if (first == NULL)
            break;
        rows[w->reply.changes.n++] = *first;
        first->start = 0;
    }
    w->reply.changes.items = rows;
}

void why_forms_make(struct why_work *w) {
    const struct job *rec = &w->job->rec;
    /* What is held or waits for others has its reason there, not in its request. */
    if (rec->priority == 0 || rec->reason == REASON_DEPENDENCY ||
        rec->reason == REASON_DEPENDENCY_NEVER || rec->reason == REASON_ARRAY_TASK_LIMIT ||
        rec->begin_time > w->core->now)
        return;
    if (w->reply.expected > 0 && w->reply.expected <= w->core->now + WORTH_SECONDS)
        return;
    try_without(w);
    try_limits(w);
    try_nodes(w);
    try_gpus(w, true);
    try_gpus(w, false);
    try_partitions(w);
}
