/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about usage that has been summed up. A time is put together from whole months, whole
 * days and hours, so that a year costs a dozen rows of each sum and not thousands.
 */
#include <string.h>

#include "acct/acct_internal.h"
#include "acct/tres_ids.h"
#include "text/calendar.h"

/* ---- which rows ---- */

struct stretch {
    enum calendar_span span;
    int64_t from, to;
};
#define STRETCHES_MAX 5 /* hours, days, months, days, hours */
struct stretches {
    struct stretch items[STRETCHES_MAX];
    size_t n;
};

static void stretch_add(struct stretches *list, enum calendar_span span, int64_t from, int64_t to) {
    struct stretch *last = list->n > 0 ? &list->items[list->n - 1] : NULL;
    if (last && last->span == span && last->to == from)
        last->to = to;
    else if (list->n < STRETCHES_MAX)
        list->items[list->n++] = (struct stretch) {span, from, to};
}

/* The longest spans that fit, one behind the other. */
static void stretches_make(int64_t from, int64_t to, struct stretches *ret) {
    ret->n = 0;
    from = calendar_span_start(CALENDAR_HOUR, from);
    while (from < to) {
        enum calendar_span span = CALENDAR_MONTH;
        int64_t next = 0;
        for (;; span--) {
            next = calendar_span_next(span, from);
            if (span == CALENDAR_HOUR || (calendar_span_start(span, from) == from && next <= to))
                break;
        }
        stretch_add(ret, span, from, next);
        from = next;
    }
}

/* What of a time is summed up for a cluster: days and months are there when they are over, and stay
 * when their hours have been purged. */
static int window_fit(struct acct *acct, int64_t cluster, int64_t start, int64_t end,
                      struct stretches *ret, struct error *err) {
    int64_t rolled = 0, first = 0;
    int r = db_number(acct->db, "SELECT rolled_until FROM cluster WHERE id = ?",
                      DB_VALUES(db_int(cluster)), 0, &rolled, err);
    if (r == 0)
        r = db_number(acct->db,
                      "SELECT CAST(MIN(first) AS {cast}) FROM (SELECT MIN(start_time) AS first "
                      "FROM cluster_used WHERE cluster_id = ? AND span = ? UNION ALL SELECT "
                      "MIN(start_time) FROM cluster_used WHERE cluster_id = ? AND span = ?) AS "
                      "firsts",
                      DB_VALUES(db_int(cluster), db_int(CALENDAR_HOUR), db_int(cluster),
                                db_int(CALENDAR_MONTH)),
                      0, &first, err);
    if (r == 0)
        stretches_make(max_of(start, first), min_of(end ? end : INT64_MAX, rolled), ret);
    return r;
}

/* ---- sums of rows that belong together ---- */

#define NUMBERS_MAX 7
struct line {
    char *texts; /* what it is of: texts with \0 between */
    size_t length;
    int64_t numbers[NUMBERS_MAX];
};
struct lines {
    vec(struct line) items;
};

static void lines_done(struct lines *lines) {
    vec_each (&lines->items, line)
        free(line->texts);
    vec_done(&lines->items);
}
static int line_compare(const void *va, const void *vb) {
    const struct line *a = va, *b = vb;
    int r = memcmp(a->texts, b->texts, min_of(a->length, b->length));
    return r ? r : (a->length > b->length) - (a->length < b->length);
}

static bool same_line(const struct line *a, const struct line *b) {
    return a->length == b->length && memcmp(a->texts, b->texts, a->length) == 0;
}

/* Sorts, and adds up those that are of the same. */
static void lines_merge(struct lines *lines) {
    if (lines->items.n == 0)
        return;
    qsort(lines->items.items, lines->items.n, sizeof(struct line), line_compare);
    size_t kept = 0;
    for (size_t i = 1; i < lines->items.n; i++) {
        struct line *line = &lines->items.items[i], *last = &lines->items.items[kept];
        if (!same_line(line, last)) {
            lines->items.items[++kept] = *line;
            continue;
        }
        for (size_t n = 0; n < NUMBERS_MAX; n++)
            last->numbers[n] += line->numbers[n];
        free(line->texts);
    }
    lines->items.n = kept + 1;
}

static char *line_text(const struct line *line, unsigned n) {
    char *at = line->texts;
    while (n-- > 0)
        at += strlen(at) + 1;
    return at;
}

static void line_add_text(struct str *texts, const char *text) {
    str_append_bytes(texts, text ? text : "", strlen(text ? text : "") + 1);
}

/* ---- usage by who ---- */

struct asked {
    struct acct *acct;
    const struct acct_usage_filter *usage; /* NULL: utilization */
    struct tres_ids tres;
    struct lines lines;
};

static int usage_read(struct asked *asked, const struct cluster_name *cluster,
                      const struct stretch *stretch, struct error *err) {
    const struct acct_usage_filter *wanted = asked->usage;
    struct filter filter cleanup_filter = {0};
    filter_add(&filter, "u.cluster_id = ?", db_int(cluster->id));
    filter_add(&filter, "u.span = ?", db_int(stretch->span));
    filter_add(&filter, "u.start_time >= ?", db_int(stretch->from));
    filter_add(&filter, "u.start_time < ?", db_int(stretch->to));
    filter_strs(&filter, "k.account", &wanted->accounts);
    filter_strs(&filter, "k.user_name", &wanted->users);
    filter_strs(&filter, "k.qos", &wanted->qos);
    filter_strs(&filter, "k.wckey", &wanted->wckeys);
    struct str sql cleanup_str = STR_INIT;
    str_printf(&sql,
               "SELECT u.tres_id, k.account, k.user_name, k.qos, k.wckey, "
               "CAST(SUM(u.seconds) AS {cast}) FROM used u JOIN usage_key k ON k.id = u.key_id "
               "WHERE 1 = 1%s GROUP BY u.tres_id, k.account, k.user_name, k.qos, "
               "k.wckey",
               str_cstr(&filter.sql));
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(asked->acct->db, str_cstr(&sql), filter_values(&filter), &rows, err);
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        struct str texts = STR_INIT;
        line_add_text(&texts, cluster->text);
        for (unsigned i = 0; i < 4; i++)
            line_add_text(&texts, (wanted->by >> i) & 1 ? db_column_text(rows, 1 + i) : "");
        line_add_text(&texts, tres_ids_name(&asked->tres, db_column_int(rows, 0)));
        struct line line = {.length = texts.length, .numbers = {db_column_int(rows, 5)}};
        line.texts = str_take(&texts);
        vec_push(&asked->lines.items, line);
        r = 0;
    }
    return r;
}

static int usage_give(const struct lines *lines,
                      int (*fn)(const struct usage_row *row, void *context, struct error *err),
                      void *context, struct error *err) {
    int r = 0;
    for (size_t i = 0; r >= 0 && i < lines->items.n; i++) {
        const struct line *line = &lines->items.items[i];
        struct usage_row row = {.cluster = line_text(line, 0),
                                .account = line_text(line, 1),
                                .user = line_text(line, 2),
                                .qos = line_text(line, 3),
                                .wckey = line_text(line, 4),
                                .tres = line_text(line, 5),
                                .seconds = line->numbers[0]};
        r = fn(&row, context, err);
    }
    return r < 0 ? r : 0;
}

/* ---- utilization of clusters ---- */

static int utilization_read(struct asked *asked, const struct cluster_name *cluster,
                            const struct stretch *stretch, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(asked->acct->db,
                     "SELECT tres_id, " CLUSTER_USED_SUMS
                     " FROM cluster_used WHERE cluster_id = ? AND span = ? AND start_time >= ? AND "
                     "start_time < ? GROUP BY tres_id",
                     DB_VALUES(db_int(cluster->id), db_int(stretch->span), db_int(stretch->from),
                               db_int(stretch->to)),
                     &rows, err);
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        struct str texts = STR_INIT;
        struct line line = {0};
        line_add_text(&texts, cluster->text);
        line_add_text(&texts, tres_ids_name(&asked->tres, db_column_int(rows, 0)));
        for (unsigned i = 0; i < NUMBERS_MAX; i++)
            line.numbers[i] = db_column_int(rows, 1 + i);
        line.length = texts.length;
        line.texts = str_take(&texts);
        vec_push(&asked->lines.items, line);
        r = 0;
    }
    return r;
}

/* ---- asking, cluster by cluster: each is summed up to a time of its own ---- */

static void asked_done(struct asked *asked) {
    lines_done(&asked->lines);
    tres_ids_done(&asked->tres);
}

static int ask_cluster(struct asked *asked, const struct cluster_name *cluster, int64_t start,
                       int64_t end, struct error *err) {
    struct stretches stretches = {0};
    int r = window_fit(asked->acct, cluster->id, start, end, &stretches, err);
    for (size_t i = 0; r == 0 && i < stretches.n; i++)
        r = asked->usage ? usage_read(asked, cluster, &stretches.items[i], err)
                         : utilization_read(asked, cluster, &stretches.items[i], err);
    return r;
}

static int ask(struct asked *asked, const struct strs *wanted, int64_t start, int64_t end,
               struct error *err) {
    struct cluster_names clusters cleanup(cluster_names_done) = {0};
    int r = cluster_names_load(asked->acct, &clusters, err);
    if (r == 0)
        r = tres_ids_load(asked->acct, &asked->tres, err);
    for (size_t i = 0; r == 0 && i < clusters.items.n; i++)
        if (strs_pass(wanted, clusters.items.items[i].text))
            r = ask_cluster(asked, &clusters.items.items[i], start, end, err);
    lines_merge(&asked->lines);
    return r;
}

int acct_usage(struct acct *acct, const struct acct_usage_filter *wanted,
               int (*fn)(const struct usage_row *row, void *context, struct error *err),
               void *context, struct error *err) {
    struct asked asked cleanup(asked_done) = {.acct = acct, .usage = wanted};
    int r = ask(&asked, &wanted->clusters, wanted->start, wanted->end, err);
    return r < 0 ? r : usage_give(&asked.lines, fn, context, err);
}

int acct_utilization(struct acct *acct, const struct strs *clusters, int64_t start, int64_t end,
                     int (*fn)(const struct cluster_use *row, void *context, struct error *err),
                     void *context, struct error *err) {
    struct asked asked cleanup(asked_done) = {.acct = acct};
    int r = ask(&asked, clusters, start, end, err);
    for (size_t i = 0; r >= 0 && i < asked.lines.items.n; i++) {
        const struct line *line = &asked.lines.items.items[i];
        struct cluster_use row = {.cluster = line_text(line, 0),
                                  .tres = line_text(line, 1),
                                  .reported = line->numbers[0],
                                  .allocated = line->numbers[1],
                                  .down = line->numbers[2],
                                  .planned_down = line->numbers[3],
                                  .idle = line->numbers[4],
                                  .planned = line->numbers[5],
                                  .over = line->numbers[6]};
        r = fn(&row, context, err);
    }
    return r < 0 ? r : 0;
}
