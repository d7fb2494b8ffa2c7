/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has how much now of what limits count, whether there is a limit or not: every association,
 * every QOS, and what each user and each account has of a QOS. One pass over the jobs for each
 * listing; nothing is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"

struct count {
    struct limit_count rec; /* borrows; its texts are made at the end */
    const char *account;    /* who may see it: what belongs to it */
};
struct counting {
    struct core *core;
    vec(struct count) rows; /* those of core_shares first, then those of QOS in the book's order */
    struct map qos;         /* its id -> row + 1 */
    struct smap parts;      /* of a QOS: user or account -> row + 1 */
    struct tres_sums sums;  /* a place for each row */
};
typedef vec(const struct qos *) qos_list;

/* ---- which rows a job counts in ---- */

static void qos_add(qos_list *list, const struct qos *qos) {
    vec_each (list, other) {
        if (*other == qos)
            return;
    }
    if (qos != NULL)
        vec_push(list, qos);
}

/* Its own, and those of all partitions that it may run in. */
static void qos_of_job(struct core *core, const struct job *job, qos_list *ret) {
    qos_add(ret, book_qos_find(&core->book, job->qos));
    words_each (job->partition, ",", name) {
        const struct core_partition *part = partition_find(core, name, NULL);
        if (part != NULL)
            qos_add(ret, book_qos_find(&core->book, part->rec.qos));
    }
}

static uint32_t row_add(struct counting *counting, uint32_t kind, uint32_t id,
                        const char *account) {
    struct count row = {.account = account};
    record_init(&record_limit_count, &row.rec);
    row.rec.kind = kind;
    row.rec.id = id;
    vec_push(&counting->rows, row);
    return (uint32_t) counting->rows.n - 1;
}

/* The row of what the job's user, or else his account, has of the QOS. */
static uint32_t part_row(struct counting *counting, const struct qos *qos, const struct job *job,
                         bool of_user) {
    cleanup_free char *key = xasprintf("%u %c %s", qos->id, of_user ? 'u' : 'a',
                                       of_user ? job->user_name : job->account);
    uintptr_t place = (uintptr_t) smap_get(&counting->parts, key);
    if (place != 0)
        return (uint32_t) place - 1;
    uint32_t row = row_add(counting, ASSOC_QOS, qos->id, job->account);
    struct limit_count *rec = &counting->rows.items[row].rec;
    if (of_user) {
        rec->user = job->user_name;
        rec->uid = job->uid;
    } else {
        rec->account = job->account;
    }
    smap_put(&counting->parts, arena_strdup(&counting->core->out->memory, key),
             (void *) (uintptr_t) (row + 1));
    return row;
}

static bool has_nodes(const struct job *job) {
    return job->state == JOB_RUNNING || job->state == JOB_SUSPENDED;
}

/* What has nodes is charged to what it has started with. */
static const struct assoc *assoc_of(struct core *core, const struct job *job) {
    return has_nodes(job) && job->assoc_id != 0 ? shares_assoc(core, job->assoc_id)
                                                : assoc_for_job(core, job);
}

typedef vec(uint32_t) row_list;
static void rows_of_job(struct counting *counting, const struct job *job, row_list *ret) {
    struct core *core = counting->core;
    const struct assoc *assoc = assoc_of(core, job);
    qos_list qos = {0};
    uint32_t place =
        assoc != NULL ? (uint32_t) (uintptr_t) map_get(&core->usage.shares.index, assoc->id) : 0;
    if (place > 0)
        vec_push(ret, place - 1);
    qos_of_job(core, job, &qos);
    vec_each (&qos, one) {
        vec_push(ret, (uint32_t) (uintptr_t) map_get(&counting->qos, (*one)->id) - 1);
        if (job->user_name != NULL)
            vec_push(ret, part_row(counting, *one, job, true));
        if (job->account != NULL)
            vec_push(ret, part_row(counting, *one, job, false));
    }
    vec_done(&qos);
}

/* ---- counting ---- */

static void count_run(struct counting *counting, uint32_t row, const struct job *job) {
    const struct core *core = counting->core;
    struct limit_count *rec = &counting->rows.items[row].rec;
    int64_t from = usage_charged_from(core, job);
    double factor = usage_factor(core, job), seconds = 0;
    if (from > 0 && from < core->now)
        seconds =
            factor * usage_accrued(1, core->now - from, usage_half_life(core, rec->kind, rec->id));
    rec->usage += job->billing * seconds;
    rec->wall_used += seconds;
    tres_sums_job(&counting->sums, row, job, seconds,
                  from > 0 ? factor * tres_seconds_left(core, job) : 0);
}

static void count_job(struct counting *counting, const struct core_job *job, const row_list *rows) {
    const struct job *rec = &job->rec;
    uint64_t n = max_of(idset_count(&job->tasks), (uint64_t) 1);
    bool accrues = rec->state == JOB_PENDING && !job_is_held(job) && rec->accrue_time > 0 &&
                   rec->accrue_time <= counting->core->now;
    vec_each (rows, row) {
        struct limit_count *count = &counting->rows.items[*row].rec;
        count->jobs += has_nodes(rec) ? n : 0;
        count->submitted += n;
        count->accruing += !accrues ? 0 : counting->core->limits.ages ? 1 : n;
        if (has_nodes(rec))
            count_run(counting, *row, rec);
    }
}

/* What jobs that have ended have left. */
static void count_entry(struct counting *counting, uint32_t row) {
    const struct core *core = counting->core;
    struct limit_count *rec = &counting->rows.items[row].rec;
    const struct assoc_usage *entry = usage_find(core, rec->kind, rec->id);
    if (entry == NULL)
        return;
    rec->usage = usage_settled(core, rec->kind, rec->id);
    rec->wall_used = usage_decayed(entry->wall, core->now - entry->time,
                                   usage_half_life(core, rec->kind, rec->id));
    tres_sums_entry(core, &counting->sums, row, rec->kind, rec->id);
}

/* Accounts have what is below them. */
static void roll_up(struct counting *counting) {
    const struct core_shares *shares = &counting->core->usage.shares;
    for (uint32_t i = shares->n; i-- > 1;) {
        const struct limit_count *from = &counting->rows.items[i].rec;
        struct limit_count *to = &counting->rows.items[shares->nodes[i].parent].rec;
        to->jobs += from->jobs;
        to->submitted += from->submitted;
        to->accruing += from->accruing;
        to->usage += from->usage;
        to->wall_used += from->wall_used;
    }
    tres_sums_roll_up(counting->core, &counting->sums);
}

static void count_all(struct counting *counting) {
    struct core *core = counting->core;
    const struct core_shares *shares = &core->usage.shares;
    row_list rows = {0};
    for (uint32_t i = 0; i < shares->n; i++)
        row_add(counting, ASSOC_ASSOC, shares->assocs[i]->id, shares->assocs[i]->account);
    for (uint32_t i = 0; i < qos_count(core); i++) {
        uint32_t row = row_add(counting, ASSOC_QOS, qos_at(core, i)->id, NULL);
        map_put(&counting->qos, qos_at(core, i)->id, (void *) (uintptr_t) (row + 1));
    }
    size_t n_whole = counting->rows.n;
    jobs_each (core, job) { /* how many rows there are is known before their sums are made */
        rows.n = 0;
        if (!job_state_is_final(job->rec.state))
            rows_of_job(counting, &job->rec, &rows);
    }
    tres_sums_init(core, counting->rows.n, &counting->sums);
    for (uint32_t i = 0; i < n_whole; i++)
        count_entry(counting, i);
    jobs_each (core, job) {
        rows.n = 0;
        if (job_state_is_final(job->rec.state))
            continue;
        rows_of_job(counting, &job->rec, &rows);
        count_job(counting, job, &rows);
    }
    roll_up(counting);
    vec_done(&rows);
}

/* ---- the listing ---- */

static char *sum_text(struct counting *counting, uint32_t row, enum tres_sum which) {
    struct str text cleanup_str = STR_INIT;
    tres_sums_print(&counting->sums, row, which, &text);
    return arena_strndup(&counting->core->out->memory, str_cstr(&text), text.length);
}

/* That a QOS is there everybody may know, and how much of it is in use. */
static bool is_visible(const struct counting *counting, const struct core_user *user,
                       uint32_t row) {
    const struct core *core = counting->core;
    const struct count *count = &counting->rows.items[row];
    if (row < core->usage.shares.n)
        return core_sees_assoc(core, user, core->usage.shares.assocs[row]->user, count->account);
    return (count->rec.user == NULL && count->rec.account == NULL) ||
           core_sees_assoc(core, user, count->rec.user, count->account);
}

void handle_limit_counts(struct core *core, uint64_t client, uint32_t seq,
                         const struct core_user *user, void *body) {
    struct counting counting = {.core = core, .qos = MAP_INIT, .parts = SMAP_INIT};
    struct limit_counts list;
    record_init(&record_limit_counts, &list);
    shares_update(core);
    count_all(&counting);
    list.items.items =
        arena_alloc(&core->out->memory, (counting.rows.n + 1) * sizeof(*list.items.items));
    for (uint32_t i = 0; i < counting.rows.n; i++) {
        if (!is_visible(&counting, user, i))
            continue;
        struct limit_count *rec = &list.items.items[list.items.n++];
        *rec = counting.rows.items[i].rec;
        rec->tres = sum_text(&counting, i, TRES_HELD);
        rec->used_mins = sum_text(&counting, i, TRES_USED);
        rec->ahead_mins = sum_text(&counting, i, TRES_RUN);
    }
    emit_reply(core, client, MSG_LIMIT_COUNTS, 1, seq, &list);
    tres_sums_done(&counting.sums);
    map_done(&counting.qos);
    smap_done(&counting.parts);
    vec_done(&counting.rows);
}
