/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is too old goes, after it has been written to an archive where that is wanted: a SQLite file
 * with the same tables, complete under its name before anything is deleted. An archive can be
 * loaded into any database; what is there already stays as it is, so loading twice is loading once.
 *
 * Sums stay right: what has not been summed up yet is not purged, nor hours whose month has not
 * been; and cluster.kept_from says from when on hours may be summed up anew.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "acct/copy.h"
#include "base/map.h"
#include "text/calendar.h"
#include "text/timestamp.h"

#define SAME_NAME_MAX 1000 /* archives of the same rows' times */

/* How far rows may go: as far as any; as they are summed up; as their months are. */
enum bound { BOUND_NONE, BOUND_SUMMED, BOUND_MONTHS };

static const struct object {
    enum acct_object object;
    const char *name; /* in an archive's name */
    const struct db_table *table;
    const char *age; /* the column that says how old a row is */
    enum bound bound;
} objects[] = {
    {ACCT_OBJECT_JOB, "job", &table_job, "end_time", BOUND_SUMMED},
    {ACCT_OBJECT_EVENT, "event", &table_outage, "end_time", BOUND_SUMMED},
    {ACCT_OBJECT_RESERVATION, "resv", &table_reservation, "end_time", BOUND_NONE},
    {ACCT_OBJECT_TRANSACTION, "txn", &table_txn, "done_time", BOUND_NONE},
    {ACCT_OBJECT_USAGE, "usage", &table_used, "start_time", BOUND_MONTHS},
    {ACCT_OBJECT_SCRIPT, "script", &table_script, "submit_time", BOUND_NONE},
    {ACCT_OBJECT_CLUSTER_USAGE, "cluster_usage", &table_cluster_used, "start_time", BOUND_MONTHS},
};

static const struct object *object_find(enum acct_object wanted) {
    for (size_t i = 0; i < countof(objects); i++)
        if (objects[i].object == wanted)
            return &objects[i];
    return NULL;
}

struct purge {
    const char *cluster; /* "": changes, which are of all */
    const char *archive_dir;
    const struct object *object;
    int64_t cluster_id, before, begin, last;
    uint64_t limit; /* rows at once, 0 = all */
    uint64_t n;
};

static void add_which(struct filter *filter, const struct purge *purge) {
    struct str older cleanup_str = STR_INIT;
    str_printf(&older, "%s < ?", purge->object->age);
    if (*purge->cluster)
        filter_add(filter, "cluster_id = ?", db_int(purge->cluster_id));
    if (purge->object->bound == BOUND_MONTHS)
        filter_text(filter, "span = 1"); /* hours; days and months are few */
    filter_add(filter, str_cstr(&older), db_int(purge->before));
}

static int extent_find(struct acct *acct, struct purge *purge, struct error *err) {
    struct filter filter cleanup_filter = {0};
    struct str sql cleanup_str = STR_INIT;
    add_which(&filter, purge);
    str_printf(&sql,
               "SELECT CAST(MIN(%s) AS {cast}), CAST(MAX(%s) AS {cast}), COUNT(*) FROM %s WHERE "
               "1 = 1%s",
               purge->object->age, purge->object->age, purge->object->table->name,
               str_cstr(&filter.sql));
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(acct->db, str_cstr(&sql), filter_values(&filter), &rows, err);
    if (r == 0)
        r = db_next(rows, err);
    if (r > 0) {
        purge->begin = db_column_int(rows, 0);
        purge->last = db_column_int(rows, 1);
        purge->n = (uint64_t) db_column_int(rows, 2);
    }
    return r < 0 ? r : 0;
}

static int changed_meanwhile(const struct acct *acct, struct error *err) {
    return error_set(err, ERR_STORE,
                     "%s has been changed while it was purged; nothing has been "
                     "removed, and it may be tried again",
                     acct_name(acct));
}

/* ---- archives ---- */

/* <cluster>_<what>_archive_<begin>_<end>; a number behind it where that is taken. */
static char *archive_name(const struct purge *purge, unsigned again) {
    struct str out = STR_INIT;
    str_printf(&out, "%s/", purge->archive_dir);
    for (const char *at = *purge->cluster ? purge->cluster : "all"; *at; at++)
        str_append_char(&out, *at == '/' ? '_' : *at);
    str_printf(&out, "_%s_archive_", purge->object->name);
    timestamp_print(purge->begin, NULL, 0, &out);
    str_append_char(&out, '_');
    timestamp_print(purge->last, NULL, 0, &out);
    if (again > 0)
        str_printf(&out, ".%u", again);
    return str_take(&out);
}

static int table_archive(struct acct *acct, struct acct *file, const struct db_table *table,
                         const struct filter *which, uint64_t *ret_n, struct error *err) {
    struct copy copy = {.from = acct->db, .to = file->db, .table = table, .which = which};
    int r = copy_table(&copy, err);
    *ret_n = copy.n_rows;
    return r;
}

/* The rows, and what their numbers stand for. */
static int archive_fill(struct acct *acct, struct acct *file, const struct purge *purge,
                        struct error *err) {
    struct filter which cleanup_filter = {0}, own cleanup_filter = {0};
    uint64_t n = 0, n_names;
    add_which(&which, purge);
    filter_add(&own, "cluster_id = ?", db_int(purge->cluster_id));
    int r = table_archive(acct, file, purge->object->table, &which, &n, err);
    if (r == 0 && n != purge->n)
        r = changed_meanwhile(acct, err);
    if (r < 0 || !*purge->cluster)
        return r;
    int64_t made = db_exec(file->db, "INSERT INTO cluster (id, name) VALUES (?, ?)",
                           DB_VALUES(db_int(purge->cluster_id), db_key(purge->cluster)), err);
    if (made >= 0 && purge->object->bound == BOUND_MONTHS) {
        r = table_archive(acct, file, &table_tres, NULL, &n_names, err);
        if (r == 0)
            r = table_archive(acct, file, &table_usage_key, &own, &n_names, err);
    }
    return made < 0 ? (int) made : r;
}

/* A file of its own, complete and closed. */
static int archive_write(struct acct *acct, const struct purge *purge, const char *path,
                         struct error *err) {
    struct acct_location at = {.backend = ACCT_SQLITE, .path = (char *) (uintptr_t) path};
    struct acct *file = NULL;
    int r = acct_open(&at, &file, err);
    if (r < 0)
        return r;
    r = db_begin(file->db, err);
    if (r == 0)
        r = archive_fill(acct, file, purge, err);
    if (r == 0)
        r = db_commit(file->db, err);
    else
        db_rollback(file->db);
    acct_close(file);
    return r < 0 ? r : acct_file_check(path, err);
}

static int directory_sync(const char *dir, struct error *err) {
    cleanup_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return error_errno(err, errno, "cannot make sure that %s (ArchiveDir) is on disk", dir);
    return 0;
}

/* Gives it its name, never that of a file which is there. */
static int archive_place(const struct purge *purge, const char *path, struct error *err) {
    for (unsigned again = 0; again < SAME_NAME_MAX; again++) {
        cleanup_free char *name = archive_name(purge, again);
        if (link(path, name) == 0)
            return directory_sync(purge->archive_dir, err);
        if (errno != EEXIST)
            return error_errno(err, errno, "cannot give the archive %s its name", name);
    }
    cleanup_free char *name = archive_name(purge, 0);
    return error_set(err, ERR_EXISTS, "%s and %d more with numbers are there; move some away", name,
                     SAME_NAME_MAX - 1);
}

/* It is written in a directory of its own, so that nobody else can put a file there first, and what
 * an interruption leaves is not taken for an archive. */
static int archive_make(struct acct *acct, const struct purge *purge, struct error *err) {
    cleanup_free char *dir = xasprintf("%s/.unfinished-XXXXXX", purge->archive_dir);
    if (!mkdtemp(dir))
        return error_errno(err, errno,
                           "cannot write an archive to %s (ArchiveDir), which must be a directory "
                           "that the daemon's user may write",
                           purge->archive_dir);
    cleanup_free char *path = xasprintf("%s/archive", dir);
    int r = archive_write(acct, purge, path, err);
    if (r == 0)
        r = archive_place(purge, path, err);
    acct_file_unlink(path);
    rmdir(dir);
    return r;
}

/* ---- purging ---- */

static int rows_delete(struct acct *acct, const struct purge *purge, struct error *err) {
    struct filter filter cleanup_filter = {0};
    struct str sql cleanup_str = STR_INIT;
    add_which(&filter, purge);
    str_printf(&sql, "DELETE FROM %s WHERE 1 = 1%s", purge->object->table->name,
               str_cstr(&filter.sql));
    int64_t n = db_exec(acct->db, str_cstr(&sql), filter_values(&filter), err);
    if (n >= 0 && (uint64_t) n != purge->n)
        return changed_meanwhile(acct, err);
    if (n >= 0 && purge->object->bound != BOUND_NONE)
        n = db_exec(
            acct->db, "UPDATE cluster SET kept_from = ? WHERE id = ? AND kept_from < ?",
            DB_VALUES(db_int(purge->before), db_int(purge->cluster_id), db_int(purge->before)),
            err);
    return n < 0 ? (int) n : 0;
}

static enum calendar_span span_of(const struct purge *purge) {
    return purge->object->bound == BOUND_MONTHS ? CALENDAR_MONTH : CALENDAR_HOUR;
}

/* The cluster's row is locked, as by events that come in and by summing up. */
static int cluster_lock(struct acct *acct, struct purge *purge, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int64_t summed = 0;
    int r = db_query(acct->db, "SELECT id, roll_from FROM cluster WHERE name = ?{for_update}",
                     DB_VALUES(db_key(purge->cluster)), &rows, err);
    if (r == 0)
        r = db_next(rows, err);
    if (r == 0)
        r = error_set(err, ERR_NOT_FOUND, "there is no cluster %s in %s", purge->cluster,
                      acct_name(acct));
    if (r < 0)
        return r;
    purge->cluster_id = db_column_int(rows, 0);
    summed = db_column_int(rows, 1);
    if (purge->object->bound != BOUND_NONE)
        purge->before = calendar_span_start(span_of(purge), min_of(purge->before, summed));
    return 0;
}

/* No further than about `limit` rows: where time is cut into spans, whole ones. */
static int extent_limit(struct acct *acct, struct purge *purge, struct error *err) {
    struct filter filter cleanup_filter = {0};
    struct str sql cleanup_str = STR_INIT;
    int64_t last = INT64_MIN;
    if (purge->limit == 0)
        return 0;
    add_which(&filter, purge);
    str_printf(&sql, "SELECT %s FROM %s WHERE 1 = 1%s ORDER BY %s LIMIT 1 OFFSET %llu",
               purge->object->age, purge->object->table->name, str_cstr(&filter.sql),
               purge->object->age, (unsigned long long) purge->limit - 1);
    int r = db_number(acct->db, str_cstr(&sql), filter_values(&filter), INT64_MIN, &last, err);
    if (r == 0 && last != INT64_MIN)
        purge->before = min_of(purge->before, purge->object->bound == BOUND_NONE
                                                  ? last + 1
                                                  : calendar_span_next(span_of(purge), last));
    return r;
}

static int purge_locked(struct acct *acct, void *context, struct error *err) {
    struct purge *purge = context;
    int r = *purge->cluster ? cluster_lock(acct, purge, err) : 0;
    if (r == 0)
        r = extent_limit(acct, purge, err);
    if (r == 0)
        r = extent_find(acct, purge, err);
    if (r < 0 || purge->n == 0)
        return r;
    if (purge->archive_dir)
        r = archive_make(acct, purge, err);
    return r < 0 ? r : rows_delete(acct, purge, err);
}

int acct_purge(struct acct *acct, const char *cluster, enum acct_object object, int64_t before,
               const char *archive_dir, uint64_t limit, uint64_t *ret_n, struct error *err) {
    struct purge purge = {.cluster = object == ACCT_OBJECT_TRANSACTION ? "" : cluster,
                          .object = object_find(object),
                          .before = before,
                          .archive_dir = archive_dir,
                          .limit = limit};
    assert(purge.object);
    int r = in_transaction(acct, purge_locked, &purge, err);
    if (r == 0)
        *ret_n = purge.n;
    return r;
}

/* ---- loading ---- */

/* Numbers of the archive's database -> those of this one, by what they stand for. */
struct load {
    struct acct *acct, *file;
    struct map clusters, keys, tres; /* to a number in memory */
    struct arena memory;
    uint64_t n_rows;
};

static void renumber(struct load *load, struct map *map, int64_t from, int64_t to) {
    int64_t *at = arena_alloc(&load->memory, sizeof(*at));
    *at = to;
    map_put(map, (uint64_t) from, at);
}

static int clusters_match(struct load *load, struct error *err) {
    struct cluster_names names cleanup(cluster_names_done) = {0};
    int r = cluster_names_load(load->file, &names, err);
    for (size_t i = 0; r == 0 && i < names.items.n; i++) {
        int64_t id = 0;
        r = cluster_id_make(load->acct, names.items.items[i].text, &id, err);
        renumber(load, &load->clusters, names.items.items[i].id, id);
    }
    return r;
}

/* The number of a row of names in this database; one that is new gets one. */
static int number_match(struct load *load, const char *select, const struct db_table *table,
                        const char *counter, struct db_value *row, struct error *err) {
    int64_t id = 0;
    struct db_values names = {row + 1, table->n_columns - 1};
    int r = db_number(load->acct->db, select, names, 0, &id, err);
    if (r == 0 && id == 0) {
        r = number_next(load->acct, counter, 1, &id, err);
        row[0] = db_int(id);
        if (r == 0)
            r = db_put(load->acct->db, table, row, 1, err);
    }
    row[0] = db_int(id);
    return r;
}

static int tres_match(struct load *load, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(load->file->db, "SELECT id, name FROM tres", DB_NO_VALUES, &rows, err);
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        struct db_value row[] = {db_int(0), db_key(db_column_text(rows, 1))};
        r = number_match(load, "SELECT id FROM tres WHERE name = ?", &table_tres, "last_tres", row,
                         err);
        renumber(load, &load->tres, db_column_int(rows, 0), row[0].number);
    }
    return r;
}

static int renumbered(const struct load *load, const struct map *map, int64_t from, int64_t *ret,
                      struct error *err) {
    const int64_t *to = map_get(map, (uint64_t) from);
    if (!to)
        return error_set(err, ERR_CORRUPT,
                         "%s does not say what number %lld in it stands for; it is damaged, or no "
                         "archive",
                         acct_name(load->file), (long long) from);
    *ret = *to;
    return 0;
}

static int keys_match(struct load *load, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(load->file->db,
                     "SELECT id, cluster_id, account, user_name, qos, wckey FROM usage_key",
                     DB_NO_VALUES, &rows, err);
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        int64_t cluster = 0;
        r = renumbered(load, &load->clusters, db_column_int(rows, 1), &cluster, err);
        if (r < 0)
            break;
        struct db_value row[] = {
            db_int(0),
            db_int(cluster),
            db_key(db_column_text(rows, 2)),
            db_key(db_column_text(rows, 3)),
            db_key(db_column_text(rows, 4)),
            db_key(db_column_text(rows, 5)),
        };
        r = number_match(load,
                         "SELECT id FROM usage_key WHERE cluster_id = ? AND account = ? AND "
                         "user_name = ? AND qos = ? AND wckey = ?",
                         &table_usage_key, "last_usage_key", row, err);
        renumber(load, &load->keys, db_column_int(rows, 0), row[0].number);
    }
    return r;
}

static int is_there(struct load *load, const struct db_table *table, const struct db_value *row,
                    bool *ret, struct error *err) {
    struct str sql cleanup_str = STR_INIT;
    int64_t n = 0;
    str_printf(&sql, "SELECT COUNT(*) FROM %s WHERE %s = ?", table->name, table->columns[0].name);
    for (size_t i = 1; i < table->n_keys; i++)
        str_printf(&sql, " AND %s = ?", table->columns[i].name);
    int r = db_number(load->acct->db, str_cstr(&sql), (struct db_values) {row, table->n_keys}, 0,
                      &n, err);
    *ret = n > 0;
    return r;
}

/* Numbers of changes are each database's own: one that is new here gets the next. */
static int transaction_adapt(struct load *load, struct db_value *row, bool *ret_keep,
                             struct error *err) {
    int64_t n = 0, id = 0;
    int r = db_number(load->acct->db,
                      "SELECT COUNT(*) FROM txn WHERE done_time = ? AND actor = ? AND action = ? "
                      "AND subject = ? AND info = ? AND cluster_name = ?",
                      (struct db_values) {row + 1, table_txn.n_columns - 1}, 0, &n, err);
    *ret_keep = n == 0;
    if (r < 0 || n > 0)
        return r;
    r = number_next(load->acct, "last_txn", 1, &id, err);
    row[0] = db_int(id);
    return r;
}

static int row_adapt(void *context, const struct db_table *table, struct db_value *row,
                     bool *ret_keep, struct error *err) {
    struct load *load = context;
    static const struct {
        const char *column;
        size_t map;
    } numbers[] = {{"cluster_id", offsetof(struct load, clusters)},
                   {"key_id", offsetof(struct load, keys)},
                   {"tres_id", offsetof(struct load, tres)}};
    for (size_t i = 0; i < countof(numbers); i++) {
        int at = table_column(table, numbers[i].column);
        const struct map *map = (const struct map *) ((const char *) load + numbers[i].map);
        int r = at >= 0 ? renumbered(load, map, row[at].number, &row[at].number, err) : 0;
        if (r < 0)
            return r;
    }
    if (table == &table_txn)
        return transaction_adapt(load, row, ret_keep, err);
    bool there = false;
    int r = is_there(load, table, row, &there, err);
    *ret_keep = !there;
    return r;
}

static int archive_take(struct acct *acct, void *context, struct error *err) {
    struct load *load = context;
    int r = clusters_match(load, err);
    if (r == 0)
        r = tres_match(load, err);
    if (r == 0)
        r = keys_match(load, err);
    for (size_t i = 0; r == 0 && i < countof(objects); i++) {
        struct copy copy = {.from = load->file->db,
                            .to = acct->db,
                            .table = objects[i].table,
                            .adapt = row_adapt,
                            .context = load};
        r = copy_table(&copy, err);
        load->n_rows += copy.n_rows;
    }
    return r;
}

int acct_archive_load(struct acct *acct, const char *path, uint64_t *ret_n, struct error *err) {
    struct load load = {.acct = acct};
    struct acct_location at = {.backend = ACCT_SQLITE, .path = (char *) (uintptr_t) path};
    if (access(path, R_OK) < 0)
        return error_errno(err, errno, "cannot read the archive %s", path);
    int r = acct_open(&at, &load.file, err);
    if (r < 0)
        return r;
    arena_init(&load.memory, 0);
    r = in_transaction(acct, archive_take, &load, err);
    if (r == 0)
        *ret_n = load.n_rows;
    acct_close(load.file);
    map_done(&load.clusters);
    map_done(&load.keys);
    map_done(&load.tres);
    arena_done(&load.memory);
    return r;
}
