/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `sluice why`: everything that the controller knows about why a job waits, as one record. Nothing
 * is changed; the work is bounded by the number of forecasts and the work of each.
 */
#include "core/why.h"

#include <stdarg.h>
#include <string.h>

#include "text/tres.h"

char *why_format(struct why_work *w, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    cleanup_free char *text = xvasprintf(fmt, args);
    va_end(args);
    return arena_strdup(&w->memory, text);
}

char *why_copy(struct why_work *w, const char *text) {
    return text != NULL ? arena_strdup(&w->memory, text) : NULL;
}

static const char *user_of(const struct core_job *job) {
    return job->rec.user_name != NULL ? job->rec.user_name : "?";
}

/* ---- the start ---- */

bool why_forecast(struct why_work *w, const struct job *form, int64_t until, bool predicted,
                  struct forecast_start *ret) {
    const struct forecast_options options = {
        .predicted = predicted, .without = form->job_id, .until = until};
    struct job_spec spec cleanup(job_spec_done);
    memset(ret, 0, sizeof(*ret));
    if (job_spec_build(w->core, form, &spec, NULL) < 0)
        return false;
    struct forecast *forecast = forecast_new(w->core, &options);
    forecast_add(forecast, &spec.sched, w->job);
    forecast_run(forecast, form->job_id, &w->memory, ret);
    forecast_free(forecast);
    return ret->known;
}

static void fill_start(struct why_work *w, bool predicted) {
    struct why_reply *reply = &w->reply;
    struct forecast_start start;
    struct job form = w->job->rec; /* its members are borrowed */
    if (form.priority == 0)        /* as if it were released now */
        form.priority = priority_compute(w->core, w->job);
    if (predicted) {
        if (reply->expected > w->core->now && why_forecast(w, &form, reply->expected, true, &start))
            reply->earliest = min_of(start.time, reply->expected);
        return;
    }
    if (!why_forecast(w, &form, 0, false, &start))
        return;
    reply->expected = reply->latest = reply->earliest = start.time;
    reply->exact = start.exact;
    reply->nodes = start.nodes;
    reply->partition = why_copy(w, w->core->partitions[start.partition].rec.name);
}

/* ---- nodes ---- */

struct group {
    struct hostlist names;
    uint32_t state, first; /* index of its first node */
};

static uint32_t node_state(const struct core_node *node, uint8_t fit) {
    return !node_is_usable(node)       ? WHY_NODE_AWAY
           : fit == SCHED_FIT_FREE     ? WHY_NODE_FREE
           : fit == SCHED_FIT_PROMISED ? WHY_NODE_PROMISED
                                       : WHY_NODE_BUSY;
}

static bool same_group(const struct core *core, const struct group *group, uint32_t state,
                       uint32_t node) {
    const struct node *a = &core->nodes[group->first].rec, *b = &core->nodes[node].rec;
    if (group->state != state)
        return false;
    return state != WHY_NODE_AWAY ||
           (a->state == b->state && a->flags == b->flags && str_equal(a->reason, b->reason));
}

static void group_print(struct why_work *w, struct group *group, struct why_nodes *ret) {
    struct str text cleanup_str = STR_INIT;
    record_init(&record_why_nodes, ret);
    ret->n = (uint32_t) group->names.n;
    ret->state = group->state;
    hostlist_sort(&group->names);
    hostlist_fold(&group->names, &text);
    ret->nodes = why_copy(w, str_cstr(&text));
    if (group->state != WHY_NODE_AWAY)
        return;
    const struct node *node = &w->core->nodes[group->first].rec;
    str_reset(&text);
    node_state_print_complete(node->state, node->flags, &text);
    ret->what = why_copy(w, str_cstr(&text));
    ret->reason = why_copy(w, node->reason);
    ret->by = why_copy(w, node->reason_user);
    ret->since = node->reason_time;
}

static void add_free(struct why_work *w, uint32_t node, uint64_t *gres) {
    uint32_t cpus;
    uint64_t mem, have[SCHED_GRES_KINDS];
    sched_node_free(w->core->sched, node, &cpus, &mem, have);
    w->reply.free_cpus += cpus;
    w->reply.free_mem += mem;
    for (size_t k = 0; k < w->core->n_kinds; k++)
        gres[k] += have[k];
}

static void print_free_gres(struct why_work *w, const uint64_t *gres) {
    struct str text cleanup_str = STR_INIT;
    for (size_t k = 0; k < w->core->n_kinds; k++)
        gres_kind_print(&w->core->kinds[k], gres[k], &text);
    w->reply.free_gres = text.length > 0 ? why_copy(w, str_cstr(&text)) : NULL;
}

static void fill_nodes(struct why_work *w, const uint8_t *fits) {
    struct core *core = w->core;
    vec(struct group) groups = {0};
    uint64_t gres[SCHED_GRES_KINDS] = {0};
    for (uint32_t i = 0; i < core->n_nodes; i++) {
        if (fits[i] == SCHED_FIT_NEVER)
            continue;
        uint32_t state = node_state(&core->nodes[i], fits[i]);
        struct group *found = NULL;
        vec_each (&groups, group) {
            if (same_group(core, group, state, i))
                found = group;
        }
        if (found == NULL) {
            found = vec_add(&groups);
            *found = (struct group) {HOSTLIST_INIT, state, i};
        }
        hostlist_push(&found->names, core->nodes[i].rec.name);
        if (state != WHY_NODE_AWAY)
            add_free(w, i, gres);
    }
    struct why_nodes *rows = arena_alloc(&w->memory, (groups.n + 1) * sizeof(*rows));
    uint32_t n = 0;
    for (uint32_t state = WHY_NODE_FREE; state <= WHY_NODE_AWAY; state++) {
        vec_each (&groups, group) {
            if (group->state == state)
                group_print(w, group, &rows[n++]);
        }
    }
    w->reply.fits.items = rows;
    w->reply.fits.n = n;
    print_free_gres(w, gres);
    vec_each (&groups, group)
        hostlist_done(&group->names);
    vec_done(&groups);
}

/* ---- who holds them ---- */

static bool holds_any(const struct core_job *job, const uint8_t *fits, struct hostlist *ret,
                      uint32_t *ret_cpus) {
    *ret_cpus = 0;
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[i];
        if (entry->released || fits[entry->node] == SCHED_FIT_NEVER)
            continue;
        hostlist_push(ret, entry->name);
        *ret_cpus += entry->cpus;
    }
    return ret->n > 0;
}

static int64_t end_of(const struct core_job *job) {
    return job->rec.end_time > 0 ? job->rec.end_time : INT64_MAX;
}

static void fill_holders(struct why_work *w, const uint8_t *fits) {
    struct core *core = w->core;
    struct why_job *rows = arena_alloc(&w->memory, (WHY_HOLDERS + 1) * sizeof(*rows));
    const struct core_job *best[WHY_HOLDERS + 1];
    uint32_t n = 0;
    jobs_each (core, job) {
        struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
        uint32_t cpus;
        if (!(job_has_nodes(job) || (job->rec.flags & JOB_FLAG_COMPLETING)) ||
            !holds_any(job, fits, &names, &cpus))
            continue;
        w->reply.holders_total++;
        uint32_t at = n < WHY_HOLDERS ? n++ : n; /* those that end first */
        best[at] = job;
        for (; at > 0 && end_of(best[at]) < end_of(best[at - 1]); at--) {
            const struct core_job *t = best[at];
            best[at] = best[at - 1];
            best[at - 1] = t;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
        struct str folded cleanup_str = STR_INIT;
        record_init(&record_why_job, &rows[i]);
        (void) holds_any(best[i], fits, &names, &rows[i].cpus);
        hostlist_fold(&names, &folded);
        rows[i].job = why_copy(w, job_display_id(core, best[i]));
        rows[i].user = why_copy(w, user_of(best[i]));
        rows[i].nodes = why_copy(w, str_cstr(&folded));
        rows[i].tres = why_copy(w, best[i]->rec.tres_alloc);
        rows[i].time = best[i]->rec.end_time;
        rows[i].partition = why_copy(w, best[i]->rec.partition);
    }
    w->reply.holders.items = rows;
    w->reply.holders.n = n;
}

/* ---- who is ahead ---- */

static void fill_ahead(struct why_work *w) {
    struct sched_ahead ahead;
    if (!w->job->in_sched || !sched_jobs_ahead(w->core->sched, w->job->rec.job_id, &ahead))
        return;
    struct why_job *rows = arena_alloc(&w->memory, (ahead.n_first + 1) * sizeof(*rows));
    for (size_t i = 0; i < ahead.n_first; i++) {
        struct core_job *job = job_find(w->core, ahead.first[i]);
        record_init(&record_why_job, &rows[i]);
        rows[i].job = why_copy(w, job_display_id(w->core, job));
        rows[i].user = why_copy(w, user_of(job));
        rows[i].cpus = job->rec.num_cpus;
        rows[i].tres = why_copy(w, job->rec.tres_req);
        rows[i].time = job_expected_start(w->core, job);
        rows[i].priority = job->rec.priority;
        rows[i].partition = why_copy(w, job->rec.partition);
        rows[i].cause = job->rec.priority == w->job->rec.priority  ? WHY_EARLIER
                        : job->rec.priority > w->job->rec.priority ? WHY_PRIORITY
                                                                   : WHY_TIER;
    }
    w->reply.ahead.items = rows;
    w->reply.ahead.n = (uint32_t) ahead.n_first;
    w->reply.ahead_total = ahead.n_jobs;
    w->reply.ahead_by_tier = ahead.by_tier;
    w->reply.ahead_by_priority = ahead.by_priority;
    w->reply.ahead_by_age = ahead.by_age;
}

/* ---- dependencies ---- */

static void fill_depends(struct why_work *w) {
    const struct core_job *job = w->job;
    struct why_job *rows = arena_alloc(&w->memory, (job->n_depends + 1) * sizeof(*rows));
    uint32_t n = 0;
    for (size_t i = 0; i < job->n_depends && n < 20; i++) {
        const struct depend *depend = &job->depends[i];
        if (depend->state == DEPEND_MET)
            continue;
        record_init(&record_why_job, &rows[n]);
        const struct core_job *target = job_find(w->core, depend->job_id);
        struct str text cleanup_str = STR_INIT;
        depend_print(depend, &text);
        rows[n].job = why_copy(w, str_cstr(&text));
        if (target != NULL) {
            rows[n].user = why_copy(w, user_of(target));
            rows[n].time = job_has_nodes(target) ? target->rec.end_time : 0;
            rows[n].tres = why_copy(w, job_state_text(target->rec.state, target->rec.flags));
        }
        n++;
    }
    w->reply.depends.items = rows;
    w->reply.depends.n = n;
}

/* ---- limits ---- */

static struct why_limit *limit_add(struct why_work *w, struct why_limit *rows) {
    struct why_limit *row = &rows[w->reply.limits.n++];
    record_init(&record_why_limit, row);
    return row;
}

static void limit_license(struct why_work *w, struct why_limit *row, const char *name) {
    struct core *core = w->core;
    struct str by cleanup_str = STR_INIT;
    size_t named = 0, at = license_find(core, name);
    if (at < core->n_licenses)
        row->limit = core->license_totals[at];
    jobs_each (core, job) {
        uint64_t count = job_has_nodes(job) ? license_count(job->rec.licenses, name) : 0;
        if (count == 0)
            continue;
        row->used += count;
        if (named++ < WHY_HOLDERS)
            str_printf(&by, "%sjob %s of %s (%llu)", by.length > 0 ? ", " : "",
                       job_display_id(core, job), user_of(job), (unsigned long long) count);
        if (job->rec.end_time > 0 && (row->until == 0 || job->rec.end_time < row->until))
            row->until = job->rec.end_time;
    }
    row->name = why_format(w, "licence %s", name);
    row->used_by = by.length > 0 ? why_copy(w, str_cstr(&by)) : NULL;
    row->cure = why_format(w, "it starts when jobs that hold the licence end");
}

static void limit_array(struct why_work *w, struct why_limit *row) {
    const struct job *rec = &w->job->rec;
    uint32_t slots = array_slots(w->job);
    row->name =
        why_format(w, "tasks of array %u at a time (%%%u)", rec->array_job_id, rec->array_limit);
    row->limit = rec->array_limit;
    row->used = rec->array_limit - min_of(slots, rec->array_limit);
    row->asked = 1;
    row->until = job_expected_start(w->core, w->job);
    row->used_by = why_format(w, "this array");
    row->cure =
        why_format(w, "a task ends, or scontrol update JobId=%u ArrayTaskThrottle=N raises it",
                   rec->array_job_id);
}

static void limit_partition(struct why_work *w, struct why_limit *row, const struct partition *part,
                            bool time) {
    const struct job *rec = &w->job->rec;
    if (time) {
        row->name = why_format(w, "MaxTime of partition %s", part->name);
        row->unit = why_format(w, "minutes");
        row->limit = part->max_time;
        row->asked = rec->time_limit;
        row->cure = why_format(w, "scontrol update JobId=%u TimeLimit=%u, or another partition",
                               rec->job_id, part->max_time);
        return;
    }
    bool below = rec->max_nodes > 0 && rec->max_nodes < part->min_nodes;
    row->name = why_format(w, "%s of partition %s", below ? "MinNodes" : "MaxNodes", part->name);
    row->unit = why_format(w, "nodes");
    row->limit = below ? part->min_nodes : part->max_nodes;
    row->asked = below ? rec->max_nodes : rec->min_nodes;
    row->cure = why_format(w, "scontrol update JobId=%u NumNodes=%llu, or another partition",
                           rec->job_id, (unsigned long long) row->limit);
}

static void fill_limits(struct why_work *w) {
    const struct job *rec = &w->job->rec;
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    if (rec->licenses != NULL)
        (void) !licenses_parse(rec->licenses, &list, NULL);
    struct why_limit *rows = arena_alloc(&w->memory, (list.n + 8) * sizeof(*rows));
    w->reply.limits.items = rows;
    for (size_t i = 0; i < list.n && rec->reason == REASON_LICENSES; i++) {
        struct why_limit *row = limit_add(w, rows);
        row->asked = list.items[i].count;
        limit_license(w, row, list.items[i].name);
    }
    if (rec->reason == REASON_ARRAY_TASK_LIMIT)
        limit_array(w, limit_add(w, rows));
    w->reply.limits.n += why_limits(w, rows + w->reply.limits.n, 4);
    words_each (rec->partition, ",", name) {
        if (w->reply.limits.n >= 6)
            break;
        const struct core_partition *part = partition_find(w->core, name, NULL);
        if (part != NULL && (rec->reason == REASON_PARTITION_TIME_LIMIT ||
                             rec->reason == REASON_PARTITION_NODE_LIMIT))
            limit_partition(w, limit_add(w, rows), &part->rec,
                            rec->reason == REASON_PARTITION_TIME_LIMIT);
    }
}

/* ---- the share that is due ---- */

static void fill_share(struct why_work *w) {
    struct str text cleanup_str = STR_INIT;
    if (w->reply.ahead_by_priority == 0 ||
        w->core->settings.weights.factor[PRIORITY_FAIRSHARE] == 0)
        return;
    shares_explain(w->core, &w->job->rec, &text);
    if (text.length > 0)
        w->reply.share = why_copy(w, text.data);
}

/* ---- reservations and preemption ---- */

static void fill_reservation(struct why_work *w) {
    struct str text cleanup_str = STR_INIT;
    if (job_reservation_hint(w->core, w->job, &text))
        w->reply.reservation = why_copy(w, str_cstr(&text));
}

static void fill_leaving(struct why_work *w) {
    const uint32_t id = w->job->rec.job_id;
    const struct core_job *victim;
    size_t at = 0, n = 0;
    w->reply.preemption = w->core->preempt.on;
    while (preempt_next_victim(w->core, id, &at) != NULL)
        n++;
    if (n == 0)
        return;
    struct why_job *rows = arena_alloc(&w->memory, n * sizeof(*rows));
    at = n = 0;
    while ((victim = preempt_next_victim(w->core, id, &at)) != NULL) {
        struct why_job *row = &rows[n++];
        record_init(&record_why_job, row);
        row->job = why_copy(w, job_display_id(w->core, victim));
        row->user = why_copy(w, user_of(victim));
        row->nodes = why_copy(w, victim->rec.nodes);
        row->cpus = victim->rec.num_cpus;
        row->tres = why_copy(w, victim->rec.tres_alloc);
        row->time = victim->rec.preempt_end > 0 ? victim->rec.end_time : 0;
        row->partition = why_copy(w, victim->rec.partition);
    }
    w->reply.leaving.items = rows;
    w->reply.leaving.n = (uint32_t) n;
}

/* ---- the answer ---- */

static void fill_waiting(struct why_work *w) {
    struct job_spec spec cleanup(job_spec_done);
    uint8_t *fits = arena_alloc(&w->memory, w->core->n_nodes + 1);
    if (job_spec_build(w->core, &w->job->rec, &spec, NULL) == 0) {
        sched_fits(w->core->sched, &spec.sched, w->core->now, fits);
        fill_nodes(w, fits);
        fill_holders(w, fits);
    }
    fill_ahead(w);
    fill_depends(w);
    fill_limits(w);
    fill_reservation(w);
    fill_share(w);
    fill_leaving(w);
}

/* One forecast; true while there is more to do. */
static bool why_step(struct why_work *w) {
    unsigned stage = w->stage++;
    w->job = job_find(w->core, w->asked.job_id);
    if (w->job == NULL || !job_is_pending(w->job))
        return false; /* it has started or gone meanwhile */
    if (stage < 2)
        fill_start(w, stage == 1);
    if (stage == 1)
        why_forms_make(w);
    if (stage >= 2 && stage - 2 < w->forms.n)
        why_form_try(w, &w->forms.items[stage - 2]);
    return stage < 1 + w->forms.n;
}

static void why_answer(struct why_work *w) {
    why_forms_report(w);
    w->asked.start_time = w->asked.state == JOB_PENDING ? w->reply.expected : w->asked.start_time;
    emit_reply(w->core, w->client, MSG_WHY_REPLY, 1, w->seq, &w->reply);
}

static void why_free(struct why_work *w) {
    list_remove(&w->link);
    vec_each (&w->forms, form)
        record_done(&record_job, &form->job);
    vec_done(&w->forms);
    record_done(&record_job, &w->asked);
    arena_done(&w->memory);
    w->core->n_questions--;
    free(w);
}

void why_go_on(struct core *core) {
    struct why_work *w = list_entry(core->questions.next, struct why_work, link);
    if (list_is_empty(&core->questions) || why_step(w))
        return;
    why_answer(w);
    why_free(w);
}

void why_free_all(struct core *core) {
    while (!list_is_empty(&core->questions))
        why_free(list_entry(core->questions.next, struct why_work, link));
}

/* Of an array the record that waits says most, then one that runs. */
static struct core_job *record_meant(const job_ptrs *jobs) {
    struct core_job *best = NULL;
    int best_rank = -1;
    for (size_t i = 0; i < jobs->n; i++) {
        const struct core_job *job = jobs->items[i];
        int rank = job->rec.array_tasks != NULL ? 3
                   : job_is_pending(job)        ? 2
                   : job_has_nodes(job)         ? 1
                                                : 0;
        if (rank > best_rank) {
            best = jobs->items[i];
            best_rank = rank;
        }
    }
    return best;
}

static bool may_see(const struct core *core, const struct core_job *job,
                    const struct core_user *user) {
    return !core->settings.private_jobs || job->rec.uid == user->uid ||
           core_is_admin(core, user->uid);
}

static void answer_unknown(struct core *core, uint64_t client, uint32_t seq, const char *id,
                           const struct core_user *user) {
    struct str mine cleanup_str = STR_INIT;
    size_t n = 0;
    for (size_t i = core->job_order.n; i-- > 0;) {
        const struct core_job *job = core->job_order.items[i];
        if (job == NULL || job->rec.uid != user->uid || n++ >= 10)
            continue;
        str_printf(&mine, "%s%s", mine.length > 0 ? ", " : "", job_display_id(core, job));
    }
    cleanup_free char *text =
        n > 0 ? xasprintf("job %s is not known here (any more); your jobs are %s%s", id,
                          str_cstr(&mine), n > 10 ? ", ..." : "")
              : xasprintf("job %s is not known here (any more); you have no jobs here", id);
    emit_error(core, client, seq, -ERR_INVALID_JOB_ID, text);
}

static struct core_user user_copy(struct why_work *w, const struct core_user *user) {
    const char **groups = arena_alloc(&w->memory, (user->n_groups + 1) * sizeof(char *));
    for (size_t i = 0; i < user->n_groups; i++)
        groups[i] = why_copy(w, user->groups[i]);
    return (struct core_user) {.uid = user->uid,
                               .gid = user->gid,
                               .name = why_copy(w, user->name),
                               .group = why_copy(w, user->group),
                               .groups = groups,
                               .n_groups = user->n_groups};
}

static struct why_work *why_new(struct core *core, uint64_t client, uint32_t seq,
                                const struct core_user *user, struct core_job *job) {
    struct why_work *w = zalloc(struct why_work);
    list_init(&w->link);
    list_append(&core->questions, &w->link);
    core->n_questions++;
    w->core = core;
    w->client = client;
    w->seq = seq;
    w->job = job;
    arena_init(&w->memory, 0);
    w->user = user_copy(w, user);
    record_copy(&record_job, &w->asked, &job->rec);
    record_init(&record_why_reply, &w->reply);
    w->reply.job = &w->asked;
    w->reply.id = why_copy(w, job_display_id(core, job));
    w->reply.now = core->now;
    w->reply.may_update = job_user_may(core, job, user->uid);
    if (!w->reply.may_update)
        string_set(&w->asked.submit_line, NULL);
    return w;
}

void handle_why(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                void *body) {
    const struct why *request = body;
    const char *id = request->job != NULL ? request->job : "";
    job_ptrs jobs = {0};
    struct core_job *job = NULL;
    if (job_select_id(core, id, NULL, &jobs) == 0)
        job = record_meant(&jobs);
    vec_done(&jobs);
    if (job == NULL || !may_see(core, job, user)) {
        answer_unknown(core, client, seq, id, user);
        return;
    }
    if (core->n_questions >= WHY_QUESTIONS) {
        emit_error(core, client, seq, -ERR_BUSY, "too many such questions are being answered");
        return;
    }
    struct why_work *w = why_new(core, client, seq, user, job);
    if (job_is_pending(job)) {
        fill_waiting(w);
        if (core->job_order.n > WHY_AT_ONCE)
            return; /* why_go_on() does the rest */
        while (why_step(w))
            ;
    }
    why_answer(w);
    why_free(w);
}
