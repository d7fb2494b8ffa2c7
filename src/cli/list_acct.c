/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs and steps sacct shows. */
#include "cli/list_acct.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cli/list_jobs.h"
#include "text/duration.h"
#include "text/idset.h"

void acct_filter_done(struct acct_filter *filter) {
    strs_done(&filter->ids);
    strs_done(&filter->accounts);
    strs_done(&filter->partitions);
    strs_done(&filter->names);
    strs_done(&filter->qos);
    strs_done(&filter->groups);
    strs_done(&filter->reasons);
    strs_done(&filter->wckeys);
    strs_done(&filter->constraints);
    hostlist_done(&filter->nodes);
    free(filter->uids.items);
    free(filter->assocs.items);
}

int acct_states_parse(struct acct_filter *filter, const char *text, struct error *err) {
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy, *word;
    filter->by_state = true;
    while ((word = str_next_word(&cursor, ","))) {
        struct job_states one = {0};
        if (job_states_parse(&one, word, NULL) < 0)
            return error_set(err, ERR_INVALID, "unrecognized job state value '%s'", word);
        filter->states.states |= one.states;
        filter->states.flags |= one.flags;
        filter->states.all |= one.all;
    }
    return 0;
}

bool acct_range_parse(const char *text, struct acct_range *ret) {
    cleanup_free char *low = xstrdup(text);
    char *dash = strchr(low, '-');
    if (dash)
        *dash = '\0';
    ret->given = true;
    if (!str_to_u64(low, &ret->low))
        return false;
    ret->high = ret->low;
    return !dash || str_to_u64(dash + 1, &ret->high);
}

bool acct_id_is_valid(const char *text) {
    char *end;
    if (!isdigit((unsigned char) *text))
        return false;
    unsigned long id = strtoul(text, &end, 10);
    return id > 0 && id < UINT32_MAX && (!*end || strchr("_.+", *end));
}

void acct_window_set(struct acct_filter *filter, int64_t now, int64_t midnight) {
    bool by_id = filter->ids.n > 0;
    if (!filter->start_given)
        filter->start = by_id ? 0 : filter->by_state && !filter->end_given ? now : midnight;
    if (!filter->end_given)
        filter->end = acct_window_is_instant(filter) ? filter->start : now;
}

static void window_end_print(int64_t time, struct str *out) {
    struct str date cleanup_str = STR_INIT;
    if (time == 0) {
        str_append(out, "Epoch 0");
        return;
    }
    list_date_print(time, &date);
    str_append_bytes(out, date.data, date.length - 1); /* its newline is left out */
}

void acct_window_print(const struct acct_filter *filter, struct str *out) {
    str_append(out, "Jobs ");
    size_t start = out->length;
    for (uint32_t state = 0; filter->by_state && state < 64; state++) {
        const char *name = names_text(&names_job_state, state);
        if (name && (filter->states.states >> state) & 1)
            str_printf(out, "%s%s", out->length > start ? "," : "", name);
    }
    if (out->length == start)
        str_append(out, "Eligible");
    str_append(out, " in the time window from ");
    window_end_print(filter->start, out);
    str_append(out, " to ");
    window_end_print(filter->end, out);
}

void acct_query_make(const struct acct_filter *filter, struct acct_query *ret) {
    record_init(&record_acct_query, ret);
    ret->ids = filter->ids;
    ret->uids = filter->uids;
    ret->all_users = filter->all_users;
    ret->start = filter->start;
    /* The newest jobs may carry the time of a clock that is a little ahead of ours. */
    ret->end = filter->end_given || acct_window_is_instant(filter) ? filter->end : 0;
    ret->accounts = filter->accounts;
    ret->partitions = filter->partitions;
    ret->names = filter->names;
    ret->qos = filter->qos;
    ret->duplicates = filter->duplicates;
    ret->no_steps = filter->allocations;
    ret->want_script = filter->want_script;
    ret->want_environment = filter->want_environment;
    /* A state that was passed through is not in the record any more; only endings can be chosen
     * there. */
    if (filter->by_state && !filter->states.all && !filter->states.flags &&
        !(filter->states.states & ((1u << JOB_COMPLETED) - 1)))
        ret->states = filter->states.states;
}

/* ---- window and states ---- */
static bool in_window(int64_t from, int64_t to, const struct acct_filter *filter) {
    return from <= filter->end && (to == 0 || to >= filter->start);
}

static int64_t job_end(const struct job *job) {
    return job_state_is_final(job->state) ? job->end_time : 0;
}

/* Was the job in one of the states within the window? */
static bool states_match(const struct acct_filter *filter, const struct job *job) {
    const struct job_states *states = &filter->states;
    if (states->all)
        return in_window(job->submit_time, job_end(job), filter);
    if (((states->states >> JOB_PENDING) & 1) && job->eligible_time) {
        int64_t until = job->state == JOB_PENDING ? 0
                        : job->start_time         ? job->start_time
                                                  : job->end_time;
        if (in_window(job->eligible_time, until, filter))
            return true;
    }
    if (((states->states >> JOB_RUNNING) & 1) && job->state != JOB_PENDING && job->start_time &&
        job->nodes && job->start_time <= filter->end &&
        (job_end(job) == 0 || job_end(job) > filter->start))
        return true; /* what ended at an instant did not run any more then */
    if (((states->states >> JOB_SUSPENDED) & 1) && job->state == JOB_SUSPENDED)
        return true;
    if (job->flags & states->flags)
        return true;
    return job_state_is_final(job->state) && ((states->states >> job->state) & 1) &&
           in_window(job->end_time, job->end_time, filter);
}

static bool time_match(const struct acct_filter *filter, const struct job *job) {
    if (filter->by_state)
        return states_match(filter, job);
    if (filter->ids.n && !filter->start_given && !filter->end_given)
        return true;
    int64_t from = job->eligible_time ? job->eligible_time : job->submit_time;
    return in_window(from, job_end(job), filter);
}

/* Held, or waiting for another, and never asked for by id: of no interest yet. */
static bool never_eligible(const struct job *job) {
    bool held = job->state == JOB_PENDING && job->priority == 0;
    return !job->start_time && (held || !job->eligible_time) &&
           (job->state == JOB_PENDING || !job->nodes);
}

/* ---- the rest ---- */
static bool range_match(const struct acct_range *range, uint64_t value) {
    return !range->given || (value >= range->low && value <= range->high);
}

static bool group_match(const struct acct_filter *filter, const struct job *job) {
    if (filter->groups.n == 0 || strs_has(&filter->groups, job->group_name))
        return true;
    for (uint32_t i = 0; i < filter->groups.n; i++) {
        uint64_t gid;
        if (str_to_u64(filter->groups.items[i], &gid) && gid == job->gid)
            return true;
    }
    return false;
}

static bool uid_match(const struct acct_filter *filter, const struct job *job) {
    return filter->all_users || u32s_pass(&filter->uids, job->uid);
}

static bool acct_match(const struct acct_filter *filter, const struct job_refs *refs,
                       const struct acct_job *acct) {
    const struct job *job = acct->job;
    if (!job || (acct->superseded && !filter->duplicates))
        return false;
    if (!job_refs_match(refs, job) || !time_match(filter, job) || !uid_match(filter, job))
        return false;
    if (filter->ids.n == 0 && never_eligible(job))
        return false;
    if (filter->partitions.n && !strs_has_word(&filter->partitions, job->partition))
        return false;
    if (filter->accounts.n && !strs_has_nocase(&filter->accounts, job->account))
        return false;
    if (filter->names.n && !strs_has(&filter->names, job->name))
        return false;
    if (filter->qos.n && !strs_has_nocase(&filter->qos, job->qos))
        return false;
    if (!u32s_pass(&filter->assocs, job->assoc_id))
        return false;
    if (filter->wckeys.n && !strs_has(&filter->wckeys, job->wckey))
        return false;
    if (filter->constraints.n && !strs_has_word(&filter->constraints, job->features))
        return false;
    if (filter->reasons.n &&
        !strs_has_nocase(&filter->reasons, names_text(&names_job_reason, job->reason)))
        return false;
    return group_match(filter, job) &&
           (filter->nodes.n == 0 || list_nodes_match(job->nodes, &filter->nodes)) &&
           range_match(&filter->nnodes, job->num_nodes) &&
           range_match(&filter->ncpus, job->num_cpus) &&
           range_match(&filter->minutes, job->time_limit) &&
           (filter->flags == 0 || (acct_job_flags(job) & filter->flags));
}

/* ---- rows ---- */
static void *arena_copy(struct arena *arena, const void *data, size_t size) {
    return memcpy(arena_alloc(arena, size), data, size);
}

/* -T: no time outside of the window. */
static void times_truncate(const struct acct_filter *filter, int64_t *start, int64_t *end) {
    if (*start && *start < filter->start)
        *start = filter->start;
    if (*end > filter->end || (*end == 0 && *start && filter->end_given))
        *end = filter->end;
}

static const struct acct_job *acct_truncated(const struct acct_filter *filter,
                                             const struct acct_job *acct, struct arena *arena) {
    struct acct_job *copy = arena_copy(arena, acct, sizeof(*acct));
    copy->job = arena_copy(arena, acct->job, sizeof(*acct->job));
    times_truncate(filter, &copy->job->start_time, &copy->job->end_time);
    if (acct->steps.n)
        copy->steps.items =
            arena_copy(arena, acct->steps.items, acct->steps.n * sizeof(*acct->steps.items));
    for (uint32_t i = 0; i < acct->steps.n; i++)
        times_truncate(filter, &copy->steps.items[i].start_time, &copy->steps.items[i].end_time);
    return copy;
}

static void row_push(struct rows *rows, struct arena *arena, const struct acct_job *acct,
                     const struct job *job, const struct step *step) {
    struct acct_row *row = arena_alloc(arena, sizeof(*row));
    *row = (struct acct_row) {acct, job, step};
    rows_push(rows, row);
}

/* --array: one row a waiting task. */
static bool tasks_push(struct rows *rows, struct arena *arena, const struct acct_job *acct) {
    struct idset tasks cleanup_idset = IDSET_INIT;
    uint32_t limit, task = 0;
    if (!acct->job->array_tasks || acct->job->array_task_id != UNSET32 ||
        idset_parse(&tasks, acct->job->array_tasks, UINT32_MAX, &limit, NULL) < 0)
        return false;
    while (idset_next(&tasks, task, &task)) {
        struct job *job = arena_copy(arena, acct->job, sizeof(*acct->job));
        job->array_task_id = task;
        job->array_tasks = NULL;
        row_push(rows, arena, acct, job, NULL);
        if (task++ == UINT32_MAX)
            break;
    }
    return true;
}

/* With no step, all of the job is meant. */
static bool step_is_named(const struct job_refs *refs, const struct job *job,
                          const struct step *step) {
    struct str name cleanup_str = STR_INIT;
    step_id_print(step->step_id, &name);
    return job_refs_match_step(refs, job, str_cstr(&name));
}

static void acct_rows_push(const struct acct_filter *filter, const struct job_refs *refs,
                           const struct acct_job *acct, struct arena *arena, struct rows *rows) {
    if (job_refs_match_step(refs, acct->job, NULL) &&
        !(filter->unfold && tasks_push(rows, arena, acct)))
        row_push(rows, arena, acct, acct->job, NULL);
    if (filter->allocations || acct->steps.n == 0)
        return;
    struct step *steps =
        arena_copy(arena, acct->steps.items, acct->steps.n * sizeof(*acct->steps.items));
    qsort(steps, acct->steps.n, sizeof(*steps), acct_step_order);
    for (uint32_t i = 0; i < acct->steps.n; i++) {
        if (step_is_named(refs, acct->job, &steps[i]))
            row_push(rows, arena, acct, acct->job, &steps[i]);
    }
}

static uint32_t whole_id(const struct job *job) {
    return job->array_job_id ? job->array_job_id : job->het_job_id ? job->het_job_id : job->job_id;
}

/* By array, then task, the waiting rest last; runs of one job by their submission. */
static int acct_order(const void *a, const void *b) {
    const struct acct_job *run_x = *(const struct acct_job *const *) a;
    const struct acct_job *run_y = *(const struct acct_job *const *) b;
    const struct job *x = run_x->job, *y = run_y->job;
    uint32_t bx = whole_id(x), by = whole_id(y);
    if (bx != by)
        return bx < by ? -1 : 1;
    if (x->het_offset != y->het_offset)
        return x->het_offset < y->het_offset ? -1 : 1;
    if (x->array_task_id != y->array_task_id)
        return x->array_task_id < y->array_task_id ? -1 : 1;
    int64_t tx = x->start_time ? x->start_time : INT64_MAX;
    int64_t ty = y->start_time ? y->start_time : INT64_MAX;
    if (tx != ty)
        return tx < ty ? -1 : 1;
    if (x->db_index != y->db_index && x->resize_time + y->resize_time > 0) /* sizes of one run */
        return x->db_index < y->db_index ? -1 : 1;
    return (int) run_y->superseded - (int) run_x->superseded;
}

static void jobs_choose(const struct acct_filter *filter, const struct job_refs *refs,
                        struct rows *jobs) {
    size_t n = 0;
    for (size_t i = 0; i < jobs->n; i++) {
        if (acct_match(filter, refs, jobs->items[i]))
            jobs->items[n++] = jobs->items[i];
    }
    jobs->n = n;
    if (n)
        qsort(jobs->items, n, sizeof(*jobs->items), acct_order);
}

void acct_jobs_choose(const struct acct_filter *filter, struct rows *jobs) {
    struct job_refs refs cleanup_job_refs;
    job_refs_init(&refs, &filter->ids);
    refs.alone = filter->het_alone;
    jobs_choose(filter, &refs, jobs);
}

void acct_rows_build(const struct acct_filter *filter, struct rows *jobs, struct arena *arena,
                     struct rows *ret_rows) {
    struct job_refs refs cleanup_job_refs;
    job_refs_init(&refs, &filter->ids);
    refs.alone = filter->het_alone;
    jobs_choose(filter, &refs, jobs);
    for (size_t i = 0; i < jobs->n; i++) {
        const struct acct_job *acct = jobs->items[i];
        if (filter->truncate)
            acct = acct_truncated(filter, acct, arena);
        acct_rows_push(filter, &refs, acct, arena, ret_rows);
    }
}
