/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a cluster, each counted once: their numbers and what they change are stored in one
 * transaction. An event that cannot be read is kept apart, so that it neither is lost nor holds up
 * those behind it. What changes the past lowers the time up to which usage is summed up.
 */
#include "acct/acct_internal.h"
#include "model/course.h"
#include "model/messages.h"

#define JOBS_AT_ONCE 256
#define MEMORY_FULL (64u << 20) /* bytes of records: what is collected is stored */
#define DECODE_MAX (256u << 20) /* what one event may take more: 192 MiB */

struct ingest {
    struct acct *acct;
    const char *cluster;
    const struct acct_event *events;
    size_t n;
    int64_t cluster_id, roll_from, kept_from;
    int64_t past; /* the earliest time whose usage has changed */
    struct acct_ingested result;
    /* jobs that are to be stored together, the last of each run */
    vec(struct db_value) rows;
    vec(uint64_t) runs;
    struct arena memory; /* what rows borrow from */
};

/* ---- jobs ---- */

static void job_row(struct ingest *in, const struct acct_job *record, struct bytes body,
                    struct db_value *v) {
    const struct job *job = record->job;
    struct job_course course = job_course_of(job, record->superseded);
    bool is_task = job->array_task_id != UNSET32;
    v[JOB_COLUMN_cluster_id] = db_int(in->cluster_id);
    v[JOB_COLUMN_db_index] = db_int((int64_t) job->db_index);
    v[JOB_COLUMN_job_id] = db_int(job->job_id);
    /* Components of one job are found like tasks of one array. */
    v[JOB_COLUMN_array_job_id] = db_int(job->array_job_id ? job->array_job_id : job->het_job_id);
    v[JOB_COLUMN_array_task_id] = db_int(is_task ? (int64_t) job->array_task_id : -1);
    v[JOB_COLUMN_uid] = db_int(job->uid);
    v[JOB_COLUMN_gid] = db_int(job->gid);
    v[JOB_COLUMN_user_name] = db_key(job->user_name);
    v[JOB_COLUMN_account] = db_key(job->account);
    v[JOB_COLUMN_qos] = db_key(job->qos);
    v[JOB_COLUMN_partition_name] = db_key(job->partition);
    v[JOB_COLUMN_job_name] = db_key(job->name);
    v[JOB_COLUMN_wckey] = db_key(job->wckey);
    v[JOB_COLUMN_reservation] = db_key(job->reservation);
    v[JOB_COLUMN_state] = db_int(job->state);
    v[JOB_COLUMN_superseded] = db_int(record->superseded);
    v[JOB_COLUMN_submit_time] = db_int(job->submit_time);
    v[JOB_COLUMN_eligible_time] = db_int(job->eligible_time);
    v[JOB_COLUMN_start_time] = db_int(course.start);
    v[JOB_COLUMN_end_time] = db_int(course.end);
    v[JOB_COLUMN_paused_seconds] = db_int(course.paused_seconds);
    v[JOB_COLUMN_paused_since] = db_int(course.paused_since);
    v[JOB_COLUMN_n_nodes] = db_int(job->num_nodes);
    v[JOB_COLUMN_n_cpus] = db_int(job->num_cpus);
    v[JOB_COLUMN_tres_req] = db_text(job->tres_req);
    v[JOB_COLUMN_tres_alloc] = db_text(job->tres_alloc);
    v[JOB_COLUMN_nodes] = db_text(course.start ? job->nodes : NULL);
    v[JOB_COLUMN_record] = db_blob(body);
}

static void past_changed(struct ingest *in, int64_t time) {
    if (time != 0 && time < in->past)
        in->past = time;
}

/* When the earliest of what is summed up of a job begins. */
static int64_t job_begin(const struct db_value *v) {
    int64_t eligible = v[JOB_COLUMN_eligible_time].number, start = v[JOB_COLUMN_start_time].number;
    return eligible != 0 && (start == 0 || eligible < start) ? eligible : start;
}

/* From when on a run counts in another way than it was stored. */
static void past_compare(struct ingest *in, const struct db_value *v, struct db_rows *old) {
    int64_t start = db_column_int(old, 2), end = db_column_int(old, 3);
    int64_t new_end = v[JOB_COLUMN_end_time].number;
    bool same_course =
        start == v[JOB_COLUMN_start_time].number &&
        db_column_int(old, 1) == v[JOB_COLUMN_eligible_time].number &&
        db_column_int(old, 4) == v[JOB_COLUMN_paused_seconds].number &&
        db_column_int(old, 5) == v[JOB_COLUMN_paused_since].number &&
        str_equal(db_column_text(old, 6),
                  v[JOB_COLUMN_tres_alloc].text ? v[JOB_COLUMN_tres_alloc].text : "");
    bool stretched = v[JOB_COLUMN_paused_seconds].number != 0 && end != new_end;
    if (!same_course || stretched)
        past_changed(in, min_of(job_begin(v), start ? start : INT64_MAX));
    else if (end != new_end)
        past_changed(in, min_of(end, new_end));
}

/* A job that has begun before what is summed up already: is that still right? */
static int past_check(struct ingest *in, const struct db_value *v, struct error *err) {
    int64_t begin = job_begin(v);
    if (begin == 0 || begin >= in->roll_from)
        return 0;
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(in->acct->db,
                     "SELECT db_index, eligible_time, start_time, end_time, paused_seconds, "
                     "paused_since, tres_alloc FROM job WHERE cluster_id = ? AND db_index = ?",
                     DB_VALUES(v[JOB_COLUMN_cluster_id], v[JOB_COLUMN_db_index]), &rows, err);
    if (r == 0)
        r = db_next(rows, err);
    if (r > 0)
        past_compare(in, v, rows);
    else if (r == 0)
        past_changed(in, begin);
    return r < 0 ? r : 0;
}

static int jobs_flush(struct ingest *in, struct error *err) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < in->runs.n; i++)
        r = past_check(in, &in->rows.items[i * JOB_N_COLUMNS], err);
    if (r == 0)
        r = db_put(in->acct->db, &table_job, in->rows.items, in->runs.n, err);
    vec_reset(&in->rows);
    vec_reset(&in->runs);
    arena_done(&in->memory);
    arena_init(&in->memory, DECODE_MAX);
    return r;
}

static int take_job(struct ingest *in, struct bytes body, struct error *err) {
    struct acct_job record;
    int r = wire_decode(&record_acct_job, body, &in->memory, &record, err);
    if (r == 0 && (!record.job || record.job->db_index == 0))
        r = error_set(err, ERR_PROTOCOL, "a job without the number of its run");
    if (r < 0)
        return r;
    size_t at = 0;
    while (at < in->runs.n && in->runs.items[at] != record.job->db_index)
        at++;
    if (at == in->runs.n) {
        vec_push(&in->runs, record.job->db_index);
        vec_reserve(&in->rows, JOB_N_COLUMNS);
        in->rows.n += JOB_N_COLUMNS;
    }
    job_row(in, &record, body, &in->rows.items[at * JOB_N_COLUMNS]);
    return 0;
}

/* ---- what is open until the next of its kind ---- */

static int end_open(struct ingest *in, const char *sql, int64_t end, struct db_value key,
                    struct error *err) {
    int64_t n = db_exec(
        in->acct->db, sql,
        DB_VALUES(db_int(end), db_int(in->cluster_id), key, db_int(NOT_ENDED), db_int(end)), err);
    return n < 0 ? (int) n : 0;
}

static int take_outage(struct ingest *in, struct bytes body, struct error *err) {
    struct acct_outage o;
    int r = wire_decode(&record_acct_outage, body, &in->memory, &o, err);
    if (r < 0)
        return r;
    past_changed(in, o.start);
    r = end_open(in,
                 "UPDATE outage SET end_time = ? WHERE cluster_id = ? AND node = ? AND "
                 "end_time = ? AND start_time <= ?",
                 o.start, db_key(o.node), err);
    if (r < 0 || o.up)
        return r;
    const struct db_value row[] = {
        db_int(in->cluster_id), db_key(o.node), db_int(o.start), db_int(NOT_ENDED), db_key(o.state),
        db_text(o.reason),      db_key(o.user), db_text(o.tres), db_int(o.planned),
    };
    return db_put(in->acct->db, &table_outage, row, 1, err);
}

static int take_capacity(struct ingest *in, struct bytes body, struct error *err) {
    struct acct_capacity c;
    int r = wire_decode(&record_acct_capacity, body, &in->memory, &c, err);
    if (r < 0)
        return r;
    past_changed(in, c.start);
    int64_t n = db_exec(
        in->acct->db,
        "UPDATE capacity SET end_time = ? WHERE cluster_id = ? AND end_time = ? AND "
        "start_time <= ?",
        DB_VALUES(db_int(c.start), db_int(in->cluster_id), db_int(NOT_ENDED), db_int(c.start)),
        err);
    const struct db_value row[] = {
        db_int(in->cluster_id), db_int(c.start), db_int(NOT_ENDED),
        db_text(c.nodes),       db_text(c.tres),
    };
    r = n < 0 ? (int) n : db_put(in->acct->db, &table_capacity, row, 1, err);
    if (r == 0)
        n = db_exec(in->acct->db, "UPDATE cluster SET nodes = ?, tres = ? WHERE id = ?",
                    DB_VALUES(db_text(c.nodes), db_text(c.tres), db_int(in->cluster_id)), err);
    return r == 0 && n < 0 ? (int) n : r;
}

static int take_reservation(struct ingest *in, struct bytes body, struct error *err) {
    struct acct_reservation rec;
    int r = wire_decode(&record_acct_reservation, body, &in->memory, &rec, err);
    if (r < 0)
        return r;
    past_changed(in, rec.start);
    int64_t n = db_exec(in->acct->db,
                        "UPDATE reservation SET end_time = ? WHERE cluster_id = ? AND id = ? AND "
                        "end_time > ? AND start_time <= ?",
                        DB_VALUES(db_int(rec.start), db_int(in->cluster_id), db_int(rec.id),
                                  db_int(rec.start), db_int(rec.start)),
                        err);
    if (n < 0)
        return (int) n;
    const struct db_value row[] = {
        db_int(in->cluster_id), db_int(rec.id),     db_int(rec.start), db_int(rec.end),
        db_key(rec.name),       db_text(rec.nodes), db_text(rec.tres), db_text(rec.accounts),
        db_text(rec.users),     db_int(rec.flags),
    };
    return db_put(in->acct->db, &table_reservation, row, 1, err);
}

static int take_transaction(struct ingest *in, struct bytes body, struct error *err) {
    struct acct_transaction t;
    int r = wire_decode(&record_acct_transaction, body, &in->memory, &t, err);
    if (r < 0)
        return r;
    if (!t.cluster)
        t.cluster = (char *) (uintptr_t) in->cluster;
    return transactions_put(in->acct, &t, 1, err);
}

static int take_script(struct ingest *in, struct bytes body, struct error *err) {
    struct job_script script;
    int r = wire_decode(&record_job_script, body, &in->memory, &script, err);
    if (r < 0)
        return r;
    const struct db_value row[] = {db_int(in->cluster_id), db_int(script.job_id),
                                   db_int(script.submit_time), db_blob(body)};
    return db_put(in->acct->db, &table_script, row, 1, err);
}

/* ---- the stream ---- */

static int (*const takers[])(struct ingest *in, struct bytes body, struct error *err) = {
    [ACCT_EVENT_JOB] = take_job,
    [ACCT_EVENT_OUTAGE] = take_outage,
    [ACCT_EVENT_CAPACITY] = take_capacity,
    [ACCT_EVENT_TRANSACTION] = take_transaction,
    [ACCT_EVENT_RESERVATION] = take_reservation,
    [ACCT_EVENT_SCRIPT] = take_script,
};

static int reject(struct ingest *in, const struct acct_event *event, struct bytes body,
                  const char *reason, struct error *err) {
    const struct db_value row[] = {db_int(in->cluster_id), db_int((int64_t) event->seq),
                                   db_int(event->kind), db_text(reason), db_blob(body)};
    in->result.n_rejected++;
    return db_put(in->acct->db, &table_rejected, row, 1, err);
}

/* Whether the event's content is to blame, not the database. */
static bool is_unreadable(int r) {
    return r == -ERR_PROTOCOL || r == -ERR_LIMIT || r == -ERR_INVALID;
}

static int take_event(struct ingest *in, const struct acct_event *event, struct error *err) {
    struct bytes body = {event->body.data, event->body.size};
    if (event->kind >= countof(takers) || !takers[event->kind])
        return reject(in, event, body, "an event of a kind that this release does not know", err);
    struct error own = ERROR_INIT;
    int r = takers[event->kind](in, body, &own);
    if (r < 0 && is_unreadable(r))
        return reject(in, event, body, own.text, err);
    if (r < 0 && err)
        *err = own;
    return r;
}

static int stream_begin(struct ingest *in, struct error *err) {
    int r = cluster_id_make(in->acct, in->cluster, &in->cluster_id, err);
    if (r < 0)
        return r;
    struct db_rows *rows cleanup_rows = NULL;
    r = db_query(in->acct->db,
                 "SELECT last_seq, roll_from, kept_from FROM cluster WHERE id = ?{for_update}",
                 DB_VALUES(db_int(in->cluster_id)), &rows, err);
    if (r == 0)
        r = db_next(rows, err);
    if (r > 0) {
        in->result.last_seq = (uint64_t) db_column_int(rows, 0);
        in->roll_from = db_column_int(rows, 1);
        in->kept_from = db_column_int(rows, 2);
    }
    return r < 0 ? r : 0;
}

/* What has been purged cannot be summed up again. */
static int past_store(struct ingest *in, struct error *err) {
    int64_t past = max_of(in->past, in->kept_from);
    if (past >= in->roll_from)
        return 0;
    int64_t n = db_exec(in->acct->db, "UPDATE cluster SET roll_from = ? WHERE id = ?",
                        DB_VALUES(db_int(past), db_int(in->cluster_id)), err);
    return n < 0 ? (int) n : 0;
}

static int stream_end(struct ingest *in, struct error *err) {
    int64_t n =
        db_exec(in->acct->db, "UPDATE cluster SET last_seq = ? WHERE id = ?",
                DB_VALUES(db_int((int64_t) in->result.last_seq), db_int(in->cluster_id)), err);
    return n < 0 ? (int) n : past_store(in, err);
}

static int ingest(struct acct *acct, void *context, struct error *err) {
    struct ingest *in = context;
    int r = stream_begin(in, err);
    for (size_t i = 0; r == 0 && i < in->n; i++) {
        const struct acct_event *event = &in->events[i];
        if (event->seq <= in->result.last_seq)
            continue;
        r = take_event(in, event, err);
        in->result.last_seq = event->seq;
        in->result.n_new++;
        if (r == 0 && (in->runs.n >= JOBS_AT_ONCE || in->memory.used > MEMORY_FULL))
            r = jobs_flush(in, err);
    }
    if (r == 0)
        r = jobs_flush(in, err);
    if (r == 0 && in->result.n_new > 0)
        r = stream_end(in, err);
    return r;
}

int acct_ingest(struct acct *acct, const char *cluster, const struct acct_event *events, size_t n,
                struct acct_ingested *ret, struct error *err) {
    struct ingest in = {
        .acct = acct, .cluster = cluster, .events = events, .n = n, .past = INT64_MAX};
    arena_init(&in.memory, DECODE_MAX);
    int r = in_transaction(acct, ingest, &in, err);
    if (r == 0)
        *ret = in.result;
    arena_done(&in.memory);
    vec_done(&in.rows);
    vec_done(&in.runs);
    return r;
}

/* ---- runs that nobody will tell the end of ---- */

struct closing {
    const uint64_t *runs;
    size_t n;
    bool all;
    uint32_t state;
    int64_t end;
    const char *cluster;
    vec(struct str) bodies; /* of a page */
};

static int run_order(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return x < y ? -1 : x > y;
}

static void job_end(const struct closing *closing, struct acct_job *record) {
    struct job *job = record->job;
    int64_t known = max_of(max_of(job->submit_time, job->eligible_time), job->start_time);
    job->end_time = closing->end != 0 ? max_of(closing->end, job->start_time) : known;
    job->state = closing->state;
    job->reason = REASON_NONE;
    for (uint32_t i = 0; i < record->steps.n; i++) {
        struct step *step = &record->steps.items[i];
        if (step->end_time != 0)
            continue;
        step->end_time = max_of(job->end_time, step->start_time);
        step->state = closing->state;
    }
}

static int close_job(const struct acct_job_row *row, void *context, struct error *err) {
    struct closing *closing = context;
    struct acct_job record;
    struct arena memory;
    if (!closing->all &&
        bsearch(&row->db_index, closing->runs, closing->n, sizeof(uint64_t), run_order) == NULL)
        return 0;
    arena_init(&memory, DECODE_MAX);
    int r = wire_decode(&record_acct_job, row->record, &memory, &record, err);
    if (r == 0 && record.job != NULL) {
        struct str *body = vec_add(&closing->bodies);
        *body = (struct str) STR_INIT;
        job_end(closing, &record);
        wire_encode(&record_acct_job, &record, NULL, body);
    }
    arena_done(&memory);
    return r;
}

static int close_page(struct acct *acct, void *context, struct error *err) {
    const struct closing *closing = context;
    struct ingest in = {.acct = acct, .cluster = closing->cluster, .past = INT64_MAX};
    arena_init(&in.memory, DECODE_MAX);
    int r = stream_begin(&in, err);
    vec_each (&closing->bodies, body) {
        if (r == 0)
            r = take_job(&in, str_bytes(body), err);
    }
    if (r == 0)
        r = jobs_flush(&in, err);
    if (r == 0)
        r = past_store(&in, err);
    arena_done(&in.memory);
    vec_done(&in.rows);
    vec_done(&in.runs);
    return r;
}

int acct_runs_close(struct acct *acct, const char *cluster, const uint64_t *runs, size_t n,
                    bool all, uint32_t state, int64_t end, uint64_t *ret_n, struct error *err) {
    struct closing closing = {runs, n, all, state, end, cluster, {NULL, 0, 0}};
    struct acct_job_list *list = NULL;
    uint64_t closed = 0;
    int64_t left = acct_runaways(acct, cluster, NULL, 0, &list, err);
    bool more = left == 0;
    while (more) {
        left = acct_jobs_next(list, JOBS_AT_ONCE, close_job, &closing, err);
        if (left >= 0 && closing.bodies.n > 0) {
            int r = in_transaction(acct, close_page, &closing, err);
            left = r < 0 ? r : left;
            closed += r < 0 ? 0 : closing.bodies.n;
        }
        vec_each (&closing.bodies, body)
            str_done(body);
        vec_reset(&closing.bodies);
        more = left > 0;
    }
    vec_done(&closing.bodies);
    acct_jobs_done(list);
    if (left == 0)
        *ret_n = closed;
    return (int) left;
}
