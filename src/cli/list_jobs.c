/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs and steps a listing shows. */
#include "cli/list_jobs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "text/idset.h"
#include "text/tres.h"

void job_query_done(struct job_query *query) {
    strs_done(&query->ids);
    strs_done(&query->users);
    strs_done(&query->partitions);
    strs_done(&query->accounts);
    strs_done(&query->qos);
    strs_done(&query->names);
    strs_done(&query->licenses);
    free(query->uids.items);
}

/* ---- ids ---- */
bool job_id_is_valid(const char *text) {
    struct job_ref ref;
    return job_ref_parse(text, &ref);
}

/* ---- users ---- */
void job_query_users(struct job_query *query, struct str *unknown) {
    query->by_user = query->by_user || query->users.n > 0;
    for (uint32_t i = 0; i < query->users.n; i++) {
        const char *user = query->users.items[i];
        uint32_t uid;
        if (list_user_find(user, &uid)) {
            u32s_push(&query->uids, uid);
        } else {
            str_append(unknown, user);
            str_append_char(unknown, '\n');
        }
    }
}

/* ---- the request ---- */
void job_query_fields(struct field_mask *mask) {
    static const char *const members[] = {
        "job_id", "array_job_id", "array_task_id", "array_tasks", "array_limit", "state",
        "flags",  "het_job_id",   "het_offset",    "uid",         "partition",   "account",
        "qos",    "name",         "licenses",      "reservation", "nodes",       "num_nodes",
    };
    for (size_t i = 0; i < countof(members); i++)
        field_mask_add(mask, record_field(&record_job, members[i])->number);
}

void job_query_request(const struct job_query *query, const struct field_mask *fields,
                       struct list_request *ret) {
    record_init(&record_list_request, ret);
    if (fields)
        ret->fields = (struct blob) {(uint8_t *) (uintptr_t) fields, sizeof(*fields)};
    ret->job_ids = query->ids;
    ret->all = query->all;
    /* An unknown id is told from a filtered one only if a single id is asked for by itself. */
    if (query->ids.n == 1)
        return;
    if (query->by_user && !query->not_users)
        ret->uids = query->uids;
    ret->partitions = query->partitions;
    ret->accounts = query->accounts;
    ret->qos = query->qos;
    ret->names = query->names;
    if (query->states.active) {
        ret->states = 1u << JOB_PENDING | 1u << JOB_RUNNING | 1u << JOB_SUSPENDED;
        ret->flags = JOB_FLAG_COMPLETING | JOB_FLAG_STAGE_OUT;
    } else if (!query->states.all) {
        ret->states = query->states.states;
        ret->flags = query->states.flags;
    }
}

/* ---- checks ---- */
/* Licenses are written name[@server][:count]. */
static bool licenses_match(const struct strs *wanted, const char *text) {
    cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
    if (!text || licenses_parse(text, &list, NULL) < 0)
        return false;
    vec_each (&list, license) {
        license->name[strcspn(license->name, "@")] = '\0';
        if (strs_has(wanted, license->name))
            return true;
    }
    return false;
}

/* Do two comma lists have a word in common? */
static bool lists_meet(const char *list, const char *other) {
    cleanup_free char *copy = xstrdup(list);
    char *cursor = copy;
    for (char *word = str_next_word(&cursor, ","); word; word = str_next_word(&cursor, ",")) {
        if (str_has_word(other, word, ","))
            return true;
    }
    return false;
}

static bool job_matches(const struct job_query *query, const struct job_refs *refs,
                        const struct job *job, const struct hostlist *nodes) {
    if (query->by_user && u32s_has(&query->uids, job->uid) == query->not_users)
        return false;
    if (!job_states_match(&query->states, job->state, job->flags))
        return false;
    if (!job_refs_match(refs, job))
        return false;
    if (query->partitions.n && !strs_has_word(&query->partitions, job->partition))
        return false;
    if (query->accounts.n && !strs_has_nocase(&query->accounts, job->account))
        return false;
    if (query->qos.n && !strs_has_nocase(&query->qos, job->qos))
        return false;
    if (query->names.n && !strs_has(&query->names, job->name))
        return false;
    if (query->licenses.n && !licenses_match(&query->licenses, job->licenses))
        return false;
    if (query->reservation && !lists_meet(query->reservation, job->reservation))
        return false;
    return !nodes || list_nodes_match(job->nodes, nodes);
}

void job_query_choose(const struct job_query *query, const struct hostlist *nodes,
                      struct rows *jobs) {
    struct job_refs refs cleanup_job_refs;
    size_t n = 0;
    job_refs_init(&refs, &query->ids);
    for (size_t i = 0; i < jobs->n; i++) {
        if (job_matches(query, &refs, jobs->items[i], nodes))
            jobs->items[n++] = jobs->items[i];
    }
    jobs->n = n;
}

static bool ref_match_step(const struct job_ref *ref, const struct step *step) {
    if (ref->component != UNSET32) { /* its number follows that of the first */
        if (ref->job_id + ref->component != step->job_id)
            return false;
    } else if (ref->tasks) {
        struct idset wanted cleanup_idset = IDSET_INIT;
        if (ref->job_id != step->array_job_id || !job_ref_tasks(ref, &wanted) ||
            !idset_contains(&wanted, step->array_task_id))
            return false;
    } else if (ref->job_id != step->job_id && ref->job_id != step->array_job_id) {
        return false;
    }
    if (!ref->step)
        return true;
    struct str name cleanup_str = STR_INIT;
    step_id_print(step->step_id, &name);
    return !strcmp(str_cstr(&name), ref->step);
}

bool job_query_match_step(const struct job_query *query, const struct step *step,
                          const struct hostlist *nodes) {
    if (query->by_user && u32s_has(&query->uids, step->uid) == query->not_users)
        return false;
    bool named = query->ids.n == 0;
    for (uint32_t i = 0; !named && i < query->ids.n; i++) {
        struct job_ref ref;
        named = job_ref_parse(query->ids.items[i], &ref) && ref_match_step(&ref, step);
    }
    if (!named)
        return false;
    if (query->partitions.n && !strs_has(&query->partitions, step->partition))
        return false;
    if (query->names.n && !strs_has(&query->names, step->name))
        return false;
    return !nodes || list_nodes_match(step->nodes, nodes);
}

/* ---- unfolding ---- */
static bool job_is_folded(const struct job *job) {
    return job->array_tasks && *job->array_tasks && job->array_task_id == UNSET32;
}

static void parts_each(const struct job *job, job_row_fn fn, void *context) {
    if (job->state != JOB_PENDING || !job->partition || !strchr(job->partition, ',')) {
        fn(job, context);
        return;
    }
    struct job row = *job;
    words_each (job->partition, ",", word) {
        row.partition = word;
        fn(&row, context);
    }
}

static void row_give(const struct job_query *query, const struct job *row, job_row_fn fn,
                     void *context) {
    if (query->per_partition)
        parts_each(row, fn, context);
    else
        fn(row, context);
}

/* The waiting tasks that the ids name; false when an id names the whole record. */
static bool tasks_named(const struct job_query *query, const struct job *job,
                        const struct idset *waiting, struct idset *ret_tasks) {
    for (uint32_t i = 0; i < query->ids.n; i++) {
        struct job_ref ref;
        struct idset wanted cleanup_idset = IDSET_INIT, rest cleanup_idset = IDSET_INIT;
        if (!job_ref_parse(query->ids.items[i], &ref) || !job_ref_match(&ref, job))
            continue;
        if (!job_ref_tasks(&ref, &wanted))
            return false;
        idset_divide(waiting, &wanted, &wanted, &rest);
        uint32_t task = 0;
        while (idset_next(&wanted, task, &task)) {
            idset_add(ret_tasks, task);
            if (task++ == UINT32_MAX)
                break;
        }
    }
    return query->ids.n > 0;
}

void job_rows_each(const struct job_query *query, const struct job *job, job_row_fn fn,
                   void *context) {
    struct idset waiting cleanup_idset = IDSET_INIT, named cleanup_idset = IDSET_INIT;
    uint32_t limit, task = 0;
    if ((query->ids.n == 0 && !query->unfold) || !job_is_folded(job) ||
        idset_parse(&waiting, job->array_tasks, UINT32_MAX, &limit, NULL) < 0) {
        row_give(query, job, fn, context);
        return;
    }
    const struct idset *tasks = tasks_named(query, job, &waiting, &named) ? &named
                                : query->unfold                           ? &waiting
                                                                          : NULL;
    if (!tasks) {
        row_give(query, job, fn, context);
        return;
    }
    /* One record for all: copies of a million tasks would cost more than their lines. */
    struct job row = *job;
    row.array_tasks = NULL;
    while (idset_next(tasks, task, &task)) {
        row.array_task_id = task;
        row_give(query, &row, fn, context);
        if (task++ == UINT32_MAX)
            break;
    }
}

struct unfolded {
    struct rows rows;
    struct arena *arena;
};

static void row_keep(const struct job *job, void *context) {
    struct unfolded *unfolded = context;
    struct job *row = arena_alloc(unfolded->arena, sizeof(*row));
    *row = *job;
    if (job->partition)
        row->partition = arena_strdup(unfolded->arena, job->partition);
    rows_push(&unfolded->rows, row);
}

void rows_unfold(struct rows *rows, const struct job_query *query, struct arena *arena) {
    struct unfolded result = {.arena = arena};
    for (size_t i = 0; i < rows->n; i++)
        job_rows_each(query, rows->items[i], row_keep, &result);
    rows_done(rows);
    *rows = result.rows;
}
