/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole database into an empty one, of whatever kinds the two are: how a site goes from one to
 * another, and what `sluice acct export` makes (a SQLite file with the same tables).
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "acct/copy.h"

/* Numbers that are counted on go along; the version is the target's own. */
static int meta_copy(struct acct *from, struct acct *to, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(from->db, "SELECT name, value FROM sluice_meta WHERE name <> 'version'",
                     DB_NO_VALUES, &rows, err);
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        const struct db_value row[] = {db_key(db_column_text(rows, 0)),
                                       db_int(db_column_int(rows, 1))};
        r = db_put(to->db, &table_meta, row, 1, err);
    }
    return r;
}

static int empty_check(struct acct *to, struct error *err) {
    for (size_t i = 0; i < N_TABLES; i++) {
        int64_t n = 0;
        struct str sql cleanup_str = STR_INIT;
        str_printf(&sql, "SELECT COUNT(*) FROM %s", acct_tables[i]->name);
        int r = db_number(to->db, str_cstr(&sql), DB_NO_VALUES, 0, &n, err);
        if (r < 0)
            return r;
        if (n > 0)
            return error_set(err, ERR_EXISTS,
                             "%s is not empty: its table %s has %lld rows; name an empty database, "
                             "or a new file",
                             acct_name(to), acct_tables[i]->name, (long long) n);
    }
    return 0;
}

struct transfer {
    struct acct *from;
    uint64_t n_rows;
};

static int transfer(struct acct *to, void *context, struct error *err) {
    struct transfer *transfer = context;
    int r = empty_check(to, err);
    for (size_t i = 0; r == 0 && i < N_TABLES; i++) {
        struct copy copy = {.from = transfer->from->db, .to = to->db, .table = acct_tables[i]};
        r = copy_table(&copy, err);
        transfer->n_rows += copy.n_rows;
    }
    return r < 0 ? r : meta_copy(transfer->from, to, err);
}

int acct_copy(struct acct *from, struct acct *to, uint64_t *ret_rows, struct error *err) {
    struct transfer all = {.from = from};
    int r = db_begin_snapshot(from->db, err);
    if (r < 0)
        return r;
    r = in_transaction(to, transfer, &all, err);
    db_rollback(from->db); /* nothing was changed there */
    if (r == 0)
        *ret_rows = all.n_rows;
    return r;
}

/* ---- files ---- */

/* What SQLite may have beside a file; the file itself goes last. */
static const char *const parts[] = {"-wal", "-shm", "-journal", ""};

void acct_file_unlink(const char *path) {
    for (size_t i = 0; i < countof(parts); i++) {
        cleanup_free char *part = xasprintf("%s%s", path, parts[i]);
        unlink(part);
    }
}

int acct_file_make(const char *path, struct error *err) {
    for (size_t i = 0; i < countof(parts); i++) {
        cleanup_free char *part = xasprintf("%s%s", path, parts[i]);
        if (access(part, F_OK) == 0)
            return error_set(err, ERR_EXISTS, "%s is there already; name a new file", part);
    }
    cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 ? error_errno(err, errno, "cannot make %s", path) : 0;
}

/* SQLite folds its log into the file when that is closed, without a word where it cannot. */
int acct_file_check(const char *path, struct error *err) {
    cleanup_free char *log = xasprintf("%s-wal", path);
    if (access(log, F_OK) < 0 && errno == ENOENT)
        return 0;
    return error_set(err, ERR_STORE,
                     "%s could not be finished: its log is not in it (is the disk full, or does "
                     "another process read it?)",
                     path);
}
