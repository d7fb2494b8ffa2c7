/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage summed up by hours, days and months. A piece of time of a few days is summed up at once and
 * stored with the time that has been reached in one transaction, so that an interruption costs one
 * piece. Days and months are sums of hours and are there when they are over. What changes later is
 * summed up anew: cluster.roll_from goes back then, see ingest.c; the older sums stay until that.
 */
#include <string.h>

#include "acct/acct_internal.h"
#include "acct/tres_ids.h"
#include "base/map.h"
#include "model/course.h"
#include "text/calendar.h"

#define PIECE_DAYS 7
#define HOURS_MAX (PIECE_DAYS * 26)

/* Tables by span. The sums of a cluster's jobs by who and for what, and of the cluster: places of
 * members of struct cluster_sum. */
#define AT(member) offsetof(struct cluster_sum, member)

struct rollup {
    struct acct *acct;
    int64_t cluster_id, from, until, reached;
    int64_t rolled_until; /* hours up to here are there already, if only in an older version */
    int64_t kept_from;    /* what is older has been purged, so its sums stay as they are */
    int64_t hours[HOURS_MAX + 1]; /* where each begins, and where the last ends */
    size_t n_hours;
    struct tres_ids tres;
    struct smap keys;        /* "account\x1fuser\x1fqos\x1fwckey" -> struct usage_key */
    struct map used;         /* hour, key, TRES -> int64_t */
    struct map cluster_sums; /* hour, TRES -> struct cluster_sum */
    struct arena memory;
};

struct usage_key {
    char *text;
    int64_t id;
};

/* ---- who ---- */

static int keys_load(struct rollup *roll, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r =
        db_query(roll->acct->db,
                 "SELECT id, account, user_name, qos, wckey FROM usage_key WHERE cluster_id = ?",
                 DB_VALUES(db_int(roll->cluster_id)), &rows, err);
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        struct usage_key *key = arena_alloc(&roll->memory, sizeof(*key));
        struct str text cleanup_str = STR_INIT;
        for (unsigned i = 1; i <= 4; i++)
            str_printf(&text, "%s\x1f", db_column_text(rows, i));
        key->id = db_column_int(rows, 0);
        key->text = arena_strndup(&roll->memory, str_cstr(&text), text.length);
        smap_put(&roll->keys, key->text, key);
        r = 0;
    }
    return r;
}

static int key_id(struct rollup *roll, const char *const names[4], int64_t *ret,
                  struct error *err) {
    struct str text cleanup_str = STR_INIT;
    for (unsigned i = 0; i < 4; i++)
        str_printf(&text, "%s\x1f", names[i]);
    struct usage_key *key = smap_get(&roll->keys, str_cstr(&text));
    if (!key) {
        key = arena_alloc(&roll->memory, sizeof(*key));
        key->text = arena_strndup(&roll->memory, str_cstr(&text), text.length);
        int r = number_next(roll->acct, "last_usage_key", 1, &key->id, err);
        const struct db_value row[] = {db_int(key->id),  db_int(roll->cluster_id),
                                       db_key(names[0]), db_key(names[1]),
                                       db_key(names[2]), db_key(names[3])};
        if (r == 0)
            r = db_put(roll->acct->db, &table_usage_key, row, 1, err);
        if (r < 0)
            return r;
        smap_put(&roll->keys, key->text, key);
    }
    *ret = key->id;
    return 0;
}

/* ---- sums ---- */

/* Places: 8 bits for the hour, 40 for who, 16 for the number among the TRES that are in use. */
static uint64_t place(size_t hour, int64_t key, size_t tres) {
    return (uint64_t) hour << 56 | (uint64_t) key << 16 | tres;
}

static void used_add(struct rollup *roll, size_t hour, int64_t key, size_t tres, int64_t amount) {
    uint64_t at = place(hour, key, tres);
    int64_t *sum = map_get(&roll->used, at);
    if (!sum) {
        sum = arena_alloc(&roll->memory, sizeof(*sum));
        map_put(&roll->used, at, sum);
    }
    *sum += amount;
}

static void cluster_add(struct rollup *roll, size_t hour, size_t tres, size_t member,
                        int64_t amount) {
    uint64_t at = place(hour, 1, tres);
    struct cluster_sum *sum = map_get(&roll->cluster_sums, at);
    if (!sum) {
        sum = arena_alloc(&roll->memory, sizeof(*sum));
        map_put(&roll->cluster_sums, at, sum);
    }
    *(int64_t *) ((char *) sum + member) += amount;
}

/* The hours that [from, to) touches. */
static void hours_touched(const struct rollup *roll, int64_t from, int64_t to, size_t *ret_first,
                          size_t *ret_end) {
    size_t first = 0, end = roll->n_hours;
    while (first < end && roll->hours[first + 1] <= from)
        first++;
    while (end > first && roll->hours[end - 1] >= to)
        end--;
    *ret_first = first;
    *ret_end = end;
}

/* A TRES list, held or wanted from `from` to `to`. */
static void cluster_add_list(struct rollup *roll, const struct tres_counts *counts, int64_t from,
                             int64_t to, size_t member) {
    size_t first, end;
    hours_touched(roll, from, to, &first, &end);
    for (size_t hour = first; hour < end; hour++) {
        int64_t seconds = min_of(to, roll->hours[hour + 1]) - max_of(from, roll->hours[hour]);
        for (size_t i = 0; i < counts->n && seconds > 0; i++)
            cluster_add(roll, hour, counts->items[i].at, member,
                        (int64_t) counts->items[i].count * seconds);
    }
}

/* ---- jobs ---- */

static void job_add(struct rollup *roll, const struct job_course *course, int64_t key,
                    const struct tres_counts *counts) {
    size_t first, end;
    hours_touched(roll, course->start, course->end, &first, &end);
    for (size_t hour = first; hour < end; hour++) {
        int64_t seconds = course_seconds(course, roll->hours[hour], roll->hours[hour + 1]);
        for (size_t i = 0; i < counts->n && seconds > 0; i++) {
            int64_t amount = (int64_t) counts->items[i].count * seconds;
            used_add(roll, hour, key, counts->items[i].at, amount);
            cluster_add(roll, hour, counts->items[i].at, AT(allocated), amount);
        }
    }
}

#define JOBS_SELECT                                                                                \
    "SELECT account, user_name, qos, wckey, eligible_time, start_time, end_time, paused_seconds, " \
    "paused_since, tres_alloc, tres_req FROM job WHERE cluster_id = ? AND end_time > ? AND "       \
    "submit_time < ?"

static int jobs_sum(struct rollup *roll, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(roll->acct->db, JOBS_SELECT,
                     DB_VALUES(db_int(roll->cluster_id), db_int(roll->from), db_int(roll->reached)),
                     &rows, err);
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        struct tres_counts counts = {0};
        const char *const names[4] = {db_column_text(rows, 0), db_column_text(rows, 1),
                                      db_column_text(rows, 2), db_column_text(rows, 3)};
        struct job_course course = {.start = db_column_int(rows, 5),
                                    .end = db_column_int(rows, 6),
                                    .paused_seconds = db_column_int(rows, 7),
                                    .paused_since = db_column_int(rows, 8)};
        int64_t eligible = db_column_int(rows, 4), key = 0;
        int64_t waited_until = course_waited_until(&course);
        r = 0;
        if (course.start) {
            r = key_id(roll, names, &key, err);
            if (r == 0)
                r = tres_counts_read(roll->acct, &roll->tres, db_column_text(rows, 9), &counts,
                                     err);
            if (r == 0)
                job_add(roll, &course, key, &counts);
        }
        if (r == 0 && eligible && eligible < waited_until) {
            r = tres_counts_read(roll->acct, &roll->tres, db_column_text(rows, 10), &counts, err);
            if (r == 0)
                cluster_add_list(roll, &counts, eligible, waited_until, AT(waiting));
        }
    }
    return r;
}

/* ---- the cluster ---- */

static int periods_sum(struct rollup *roll, const char *sql, size_t member, size_t planned,
                       struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(roll->acct->db, sql,
                     DB_VALUES(db_int(roll->cluster_id), db_int(roll->from), db_int(roll->reached)),
                     &rows, err);
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        struct tres_counts counts = {0};
        r = tres_counts_read(roll->acct, &roll->tres, db_column_text(rows, 2), &counts, err);
        if (r == 0)
            cluster_add_list(roll, &counts, db_column_int(rows, 0), db_column_int(rows, 1),
                             db_column_int(rows, 3) ? planned : member);
    }
    return r;
}

static int cluster_sum(struct rollup *roll, struct error *err) {
    int r = periods_sum(roll,
                        "SELECT start_time, end_time, tres, 0 FROM capacity WHERE cluster_id = ? "
                        "AND end_time > ? AND start_time < ?",
                        AT(capacity), AT(capacity), err);
    if (r == 0)
        r = periods_sum(roll,
                        "SELECT start_time, end_time, tres, planned FROM outage WHERE cluster_id = "
                        "? AND end_time > ? AND start_time < ?",
                        AT(down), AT(planned_down), err);
    return r;
}

/* ---- storing ---- */

static int rows_delete(struct rollup *roll, const struct db_table *table, enum calendar_span span,
                       int64_t from, int64_t until, struct error *err) {
    struct str sql cleanup_str = STR_INIT;
    str_printf(&sql,
               "DELETE FROM %s WHERE cluster_id = ? AND span = ? AND start_time >= ? AND "
               "start_time < ?",
               table->name);
    int64_t n = db_exec(
        roll->acct->db, str_cstr(&sql),
        DB_VALUES(db_int(roll->cluster_id), db_int(span), db_int(from), db_int(until)), err);
    return n < 0 ? (int) n : 0;
}

static void cluster_row(const struct rollup *roll, size_t hour, size_t tres,
                        const struct cluster_sum *sum, struct db_value *ret) {
    struct cluster_use use;
    cluster_use_of(sum, &use);
    const struct db_value row[] = {
        db_int(roll->cluster_id),  db_int(CALENDAR_HOUR),
        db_int(roll->hours[hour]), db_int(roll->tres.ids.items[tres]),
        db_int(use.reported),      db_int(use.allocated),
        db_int(use.down),          db_int(use.planned_down),
        db_int(use.idle),          db_int(use.planned),
        db_int(use.over),
    };
    memcpy(ret, row, sizeof(row));
}

static int sums_store(struct rollup *roll, struct error *err) {
    vec(struct db_value) rows = {0};
    size_t at = 0, n = 0;
    uint64_t where;
    int64_t *amount;
    while ((amount = map_next(&roll->used, &at, &where)) != NULL) {
        const struct db_value row[] = {
            db_int(roll->cluster_id),
            db_int(CALENDAR_HOUR),
            db_int(roll->hours[where >> 56]),
            db_int((int64_t) ((where & 0xffffffffffffff) >> 16)),
            db_int(roll->tres.ids.items[where & 0xffff]),
            db_int(*amount),
        };
        for (size_t i = 0; i < countof(row); i++)
            vec_push(&rows, row[i]);
        n++;
    }
    int r = db_put(roll->acct->db, &table_used, rows.items, n, err);
    vec_reset(&rows);
    struct cluster_sum *sum;
    at = n = 0;
    while (r == 0 && (sum = map_next(&roll->cluster_sums, &at, &where)) != NULL) {
        vec_reserve(&rows, table_cluster_used.n_columns);
        cluster_row(roll, where >> 56, where & 0xffff, sum, &rows.items[rows.n]);
        rows.n += table_cluster_used.n_columns;
        n++;
    }
    if (r == 0)
        r = db_put(roll->acct->db, &table_cluster_used, rows.items, n, err);
    vec_done(&rows);
    return r;
}

/* ---- days and months ---- */

static int span_sum(struct rollup *roll, enum calendar_span span, int64_t start, int64_t next,
                    struct error *err) {
    const struct db_value values[] = {db_int(span),     db_int(start), db_int(roll->cluster_id),
                                      db_int(span - 1), db_int(start), db_int(next)};
    struct db_values bound = {values, countof(values)};
    int64_t n = db_exec(roll->acct->db,
                        "INSERT INTO used (cluster_id, span, start_time, key_id, tres_id, seconds) "
                        "SELECT cluster_id, ?, ?, key_id, tres_id, CAST(SUM(seconds) AS {cast}) "
                        "FROM used WHERE cluster_id = ? AND span = ? AND start_time >= ? AND "
                        "start_time < ? GROUP BY cluster_id, key_id, tres_id",
                        bound, err);
    if (n >= 0)
        n = db_exec(roll->acct->db,
                    "INSERT INTO cluster_used (cluster_id, span, start_time, tres_id, "
                    "capacity_seconds, allocated, down, planned_down, idle, planned, "
                    "over_committed) SELECT cluster_id, ?, ?, tres_id, " CLUSTER_USED_SUMS
                    " FROM cluster_used WHERE cluster_id = ? AND span = ? AND start_time >= ? AND "
                    "start_time < ? GROUP BY cluster_id, tres_id",
                    bound, err);
    return n < 0 ? (int) n : 0;
}

/* Those that the piece of time has a part in: gone, and made again if they are over. */
static int spans_renew(struct rollup *roll, enum calendar_span span, struct error *err) {
    int64_t start = calendar_span_start(span, roll->from);
    int r = rows_delete(roll, &table_used, span, start, roll->reached, err);
    if (r == 0)
        r = rows_delete(roll, &table_cluster_used, span, start, roll->reached, err);
    int64_t known = max_of(roll->reached, roll->rolled_until);
    for (; r == 0 && start < roll->reached && calendar_span_next(span, start) <= known;
         start = calendar_span_next(span, start))
        r = span_sum(roll, span, start, calendar_span_next(span, start), err);
    return r;
}

/* ---- pieces ---- */

static void piece_choose(struct rollup *roll) {
    int64_t hour = roll->from;
    int64_t most = calendar_span_start(CALENDAR_DAY, hour + (int64_t) PIECE_DAYS * 86400);
    int64_t end = min_of(roll->until, most);
    roll->n_hours = 0;
    for (; hour < end && roll->n_hours < HOURS_MAX; hour = calendar_span_next(CALENDAR_HOUR, hour))
        roll->hours[roll->n_hours++] = hour;
    roll->hours[roll->n_hours] = hour;
    roll->reached = hour;
}

static int piece_store(struct rollup *roll, struct error *err) {
    int r = rows_delete(roll, &table_used, CALENDAR_HOUR, roll->from, roll->reached, err);
    if (r == 0)
        r = rows_delete(roll, &table_cluster_used, CALENDAR_HOUR, roll->from, roll->reached, err);
    if (r == 0)
        r = sums_store(roll, err);
    if (r == 0)
        r = spans_renew(roll, CALENDAR_DAY, err);
    if (r == 0)
        r = spans_renew(roll, CALENDAR_MONTH, err);
    int64_t n = r;
    if (r == 0)
        n = db_exec(
            roll->acct->db, "UPDATE cluster SET roll_from = ?, rolled_until = ? WHERE id = ?",
            DB_VALUES(db_int(roll->reached), db_int(max_of(roll->reached, roll->rolled_until)),
                      db_int(roll->cluster_id)),
            err);
    return n < 0 ? (int) n : 0;
}

/* The row of the cluster is locked, so that no event comes in between. */
static int place_read(struct rollup *roll, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(roll->acct->db,
                     "SELECT roll_from, rolled_until, kept_from FROM cluster WHERE id = "
                     "?{for_update}",
                     DB_VALUES(db_int(roll->cluster_id)), &rows, err);
    if (r == 0)
        r = db_next(rows, err);
    if (r > 0) {
        roll->from = db_column_int(rows, 0);
        roll->rolled_until = db_column_int(rows, 1);
        roll->kept_from = db_column_int(rows, 2);
    }
    return r < 0 ? r : 0;
}

/* Where the first piece begins: with what is known first. */
static int first_find(struct rollup *roll, struct error *err) {
    return db_number(roll->acct->db,
                     "SELECT CAST(MIN(first) AS {cast}) FROM (SELECT MIN(submit_time) AS first "
                     "FROM job WHERE cluster_id = ? UNION ALL SELECT MIN(start_time) FROM capacity "
                     "WHERE cluster_id = ?) AS firsts WHERE first > 0",
                     DB_VALUES(db_int(roll->cluster_id), db_int(roll->cluster_id)), 0, &roll->from,
                     err);
}

static void from_fit(struct rollup *roll) {
    if (roll->from == 0 || (roll->rolled_until == 0 && roll->from > roll->until)) {
        roll->from = roll->until; /* there is nothing yet */
        return;
    }
    roll->from = calendar_span_start(CALENDAR_HOUR, roll->from);
    if (roll->from < roll->kept_from) {
        int64_t start = calendar_span_start(CALENDAR_HOUR, roll->kept_from);
        bool whole = start == roll->kept_from;
        roll->from = whole ? start : calendar_span_next(CALENDAR_HOUR, start);
    }
}

static int piece(struct acct *acct, void *context, struct error *err) {
    struct rollup *roll = context;
    int r = place_read(roll, err);
    if (r == 0 && roll->from == 0)
        r = first_find(roll, err);
    if (r < 0)
        return r;
    from_fit(roll);
    roll->reached = roll->from;
    if (roll->from >= roll->until)
        return 0;
    piece_choose(roll);
    r = tres_ids_load(acct, &roll->tres, err);
    if (r == 0)
        r = keys_load(roll, err);
    if (r == 0)
        r = cluster_sum(roll, err);
    if (r == 0)
        r = jobs_sum(roll, err);
    return r < 0 ? r : piece_store(roll, err);
}

static void piece_done(struct rollup *roll) {
    tres_ids_done(&roll->tres);
    smap_done(&roll->keys);
    map_done(&roll->used);
    map_done(&roll->cluster_sums);
    arena_done(&roll->memory);
}

int acct_rollup(struct acct *acct, const char *cluster, int64_t now, int64_t *ret_until,
                struct error *err) {
    struct rollup roll = {.acct = acct, .until = calendar_span_start(CALENDAR_HOUR, now)};
    int r = cluster_id(acct, cluster, &roll.cluster_id, err);
    if (r == 0 && roll.cluster_id == 0)
        r = error_set(err, ERR_NOT_FOUND, "there is no cluster %s in %s", cluster, acct_name(acct));
    do {
        if (r < 0)
            return r;
        arena_init(&roll.memory, 0);
        r = in_transaction(acct, piece, &roll, err);
        piece_done(&roll);
        roll.tres = (struct tres_ids) {0};
        roll.keys = (struct smap) SMAP_INIT;
        roll.used = roll.cluster_sums = (struct map) MAP_INIT;
    } while (r < 0 || roll.reached < roll.until);
    *ret_until = roll.reached;
    return 0;
}
