/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, locking and reading the store; see store.h. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/store_internal.h"

#define APPLICATION_ID 0x534c5543 /* "SLUC": `file` and we recognise the format */

/* ---- errors ---- */

static bool is_full(sqlite3 *db, int code) {
    if ((code & 0xff) == SQLITE_FULL)
        return true;
    int errnum = db ? sqlite3_system_errno(db) : 0;
    return (code & 0xff) == SQLITE_IOERR && (errnum == ENOSPC || errnum == EDQUOT);
}

int store_error(sqlite3 *db, int code, const char *path, const char *what, struct error *err) {
    const char *detail = db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
    if (is_full(db, code))
        return error_set(err, ERR_DISK_FULL,
                         "cannot %s %s: the file system is full or a quota is reached; free space "
                         "there, nothing stored before is lost",
                         what, path);
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return error_set(err, ERR_CORRUPT,
                         "cannot %s %s: it is damaged or not a state file (%s); restore it from a "
                         "backup, or save what can be read with `sqlite3 %s .recover | sqlite3 "
                         "recovered.db`, or move it away to start with no jobs",
                         what, path, detail, path);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
        return error_set(err, ERR_STORE,
                         "cannot %s %s: %s; the file and its directory must be writable for the "
                         "user that the daemon runs as",
                         what, path, detail);
    default: {
        int errnum = db ? sqlite3_system_errno(db) : 0;
        return error_set(err, ERR_STORE, "cannot %s %s: %s%s%s", what, path, detail,
                         errnum ? ": " : "", errnum ? strerror(errnum) : "");
    }
    }
}

int store_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **ret,
                  struct error *err) {
    int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
    return code == SQLITE_OK ? 0 : store_error(db, code, path, "use", err);
}

int store_thread(pthread_t *ret, void *(*run)(void *), void *argument, struct error *err) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int errnum = pthread_create(ret, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return errnum == 0 ? 0 : error_errno(err, errnum, "cannot start a thread for the state file");
}

/* ---- one owner at a time ---- */

static void holder_name(pid_t pid, char *ret, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/comm", (int) pid);
    *ret = '\0';
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);
    ret[n > 0 ? (size_t) n : 0] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
}

static int file_open(const char *path, int *ret_fd, struct error *err) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, errno,
                           "cannot create %s: the directory must exist and be writable "
                           "for the user that the daemon runs as",
                           path);
    *ret_fd = fd;
    return 0;
}

/* A lock of the open file description: unlike a POSIX lock it does not vanish when some library
 * opens and closes the file. Who holds it stands in the file, because F_GETLK cannot tell. */
static int lock_take(struct store *store, struct error *err) {
    cleanup_free char *path = xasprintf("%s.lock", store->path);
    cleanup_fd int fd = -1;
    int r = file_open(path, &fd, err);
    if (r < 0)
        return r;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
        if (errno != EAGAIN && errno != EACCES)
            return error_errno(err, errno, "cannot lock %s", path);
        char text[32] = "", name[64];
        ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
        pid_t pid = n > 0 ? (pid_t) atol(text) : 0;
        holder_name(pid, name, sizeof(name));
        return error_set(err, ERR_BUSY,
                         "%s is in use by process %d (%s): two controllers must not share a state "
                         "directory; stop that one first, or set another StateSaveLocation",
                         store->path, (int) pid, *name ? name : "on another host?");
    }
    char text[32];
    int length = snprintf(text, sizeof(text), "%d\n", (int) getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t) length, 0) != length) {
        /* Without room for the number the lock still holds; only its holder goes unnamed. */
    }
    store->lock_fd = take_fd(&fd);
    return 0;
}

/* ---- opening ---- */

int store_connect(const char *path, bool is_writer, sqlite3 **ret, struct error *err) {
    sqlite3 *db = NULL;
    /* Each connection belongs to one thread. Readers need write access for the WAL's index. */
    int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        sqlite3_busy_timeout(db, 10000);
        code = sqlite3_exec(db,
                            is_writer ? "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                                        "PRAGMA journal_size_limit=67108864; "
                                        "PRAGMA temp_store=MEMORY"
                                      : "PRAGMA query_only=1; PRAGMA temp_store=MEMORY",
                            NULL, NULL, NULL);
    }
    if (code != SQLITE_OK) {
        int r = store_error(db, code, path, "open", err);
        sqlite3_close(db);
        return r;
    }
    *ret = db;
    return 0;
}

static int read_number(struct store *store, const char *sql, int64_t *ret, struct error *err) {
    sqlite3_stmt *statement = NULL;
    int r = store_prepare(store->writer.db, store->path, sql, &statement, err);
    if (r < 0)
        return r;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *ret = sqlite3_column_int64(statement, 0);
    else
        r = store_error(store->writer.db, code, store->path, "read", err);
    sqlite3_finalize(statement);
    return r;
}

static const char schema_sql[] =
    "CREATE TABLE IF NOT EXISTS record (kind INTEGER NOT NULL, id INTEGER NOT NULL, data BLOB,"
    " PRIMARY KEY (kind, id)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS history (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " job_id INTEGER NOT NULL, uid INTEGER NOT NULL, submit INTEGER NOT NULL,"
    " start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, state INTEGER NOT NULL,"
    " kind INTEGER NOT NULL, data BLOB, array_id INTEGER);"
    "CREATE INDEX IF NOT EXISTS history_job ON history (job_id);"
    "CREATE INDEX IF NOT EXISTS history_uid_end ON history (uid, \"end\");"
    "CREATE INDEX IF NOT EXISTS history_end ON history (\"end\");";

/* What came later than files of the same version: they can still be opened by the releases that
 * wrote them, whose rows have no array_id. */
static int schema_extend(struct store *store, struct error *err) {
    int64_t has_array = 0;
    int r = read_number(store,
                        "SELECT count(*) FROM pragma_table_info('history') WHERE name='array_id'",
                        &has_array, err);
    if (r < 0)
        return r;
    int code = SQLITE_OK;
    if (!has_array)
        code = sqlite3_exec(store->writer.db, "ALTER TABLE history ADD COLUMN array_id INTEGER",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(store->writer.db,
                            "CREATE INDEX IF NOT EXISTS history_array ON history (array_id);"
                            "CREATE INDEX IF NOT EXISTS history_span ON history "
                            "(\"end\" - submit);"
                            "CREATE INDEX IF NOT EXISTS history_few ON history (kind) "
                            "WHERE kind > " STORE_KIND_JOBS_TEXT,
                            NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : store_error(store->writer.db, code, store->path, "extend", err);
}

static int schema_check(struct store *store, unsigned schema_version, struct error *err) {
    int64_t found = 0, application = 0, n_tables = 0;
    int r = read_number(store, "PRAGMA user_version", &found, err);
    if (r == 0)
        r = read_number(store, "PRAGMA application_id", &application, err);
    if (r == 0)
        r = read_number(store, "SELECT count(*) FROM sqlite_schema", &n_tables, err);
    if (r < 0)
        return r;
    if (application != APPLICATION_ID && (n_tables > 0 || application != 0))
        return error_set(err, ERR_CORRUPT,
                         "%s is a database of another program; set another StateSaveLocation or "
                         "move it away",
                         store->path);
    if (found > (int64_t) schema_version)
        return error_set(
            err, ERR_VERSION,
            "%s was written by a newer release (state version %d, this one knows %u); "
            "install that release again, or restore the state saved before the upgrade",
            store->path, (int) found, schema_version);
    store->found_version = (unsigned) found;
    if (found == (int64_t) schema_version && n_tables > 0)
        return 0;
    cleanup_free char *sql =
        xasprintf("BEGIN IMMEDIATE; PRAGMA application_id=%d; PRAGMA user_version=%u; %s COMMIT",
                  APPLICATION_ID, schema_version, schema_sql);
    int code = sqlite3_exec(store->writer.db, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        r = store_error(store->writer.db, code, store->path, "create", err);
        sqlite3_exec(store->writer.db, "ROLLBACK", NULL, NULL, NULL);
    }
    return r;
}

static int file_create(const char *path, struct error *err) {
    /* SQLite gives its other files the mode of this one; environments of jobs are in there. */
    cleanup_fd int fd = -1;
    return file_open(path, &fd, err);
}

int store_open(const char *path, unsigned schema_version, struct loop *loop, struct store **ret,
               struct error *err) {
    assert(path && schema_version > 0 && loop && ret);
    struct store *store = zalloc(struct store);
    store->path = xstrdup(path);
    store->lock_fd = -1;
    store->loop = loop;
    reader_init(store);
    int r = lock_take(store, err);
    if (r == 0)
        r = file_create(path, err);
    if (r == 0)
        r = store_connect(path, true, &store->writer.db, err);
    if (r == 0)
        r = schema_check(store, schema_version, err);
    if (r == 0)
        r = schema_extend(store, err);
    if (r == 0)
        r = store_connect(path, false, &store->db, err);
    if (r == 0)
        r = writer_start(store, err);
    if (r < 0) {
        store_close(store);
        return r;
    }
    *ret = store;
    return 0;
}

void store_close(struct store *store) {
    if (!store)
        return;
    reader_stop(store);
    sqlite3_close(store->db);
    writer_stop(store); /* closes last, so that it can fold the WAL into the file */
    fd_cleanup(&store->lock_fd);
    free(store->path);
    free(store);
}

unsigned store_found_version(const struct store *store) {
    return store->found_version;
}

/* ---- reading ---- */

static struct bytes column_bytes(sqlite3_stmt *statement, int column) {
    return (struct bytes) {.data = sqlite3_column_blob(statement, column),
                           .size = (size_t) sqlite3_column_bytes(statement, column)};
}

int store_scan(struct store *store, unsigned kind,
               int (*fn)(uint64_t id, struct bytes data, void *context, struct error *err),
               void *context, struct error *err) {
    sqlite3_stmt *statement = NULL;
    int r =
        store_prepare(store->db, store->path,
                      "SELECT id, data FROM record WHERE kind = ?1 ORDER BY id", &statement, err);
    if (r < 0)
        return r;
    sqlite3_bind_int64(statement, 1, kind);
    int code;
    while (r >= 0 && (code = sqlite3_step(statement)) != SQLITE_DONE) {
        if (code == SQLITE_ROW)
            r = fn((uint64_t) sqlite3_column_int64(statement, 0), column_bytes(statement, 1),
                   context, err);
        else
            r = store_error(store->db, code, store->path, "read", err);
    }
    sqlite3_finalize(statement);
    return r < 0 ? r : 0;
}

int store_get(struct store *store, unsigned kind, uint64_t id, struct str *ret, struct error *err) {
    sqlite3_stmt *statement = NULL;
    int r = store_prepare(store->db, store->path,
                          "SELECT data FROM record WHERE kind = ?1 AND id = ?2", &statement, err);
    if (r < 0)
        return r;
    sqlite3_bind_int64(statement, 1, kind);
    sqlite3_bind_int64(statement, 2, (int64_t) id);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        struct bytes data = column_bytes(statement, 0);
        str_append_bytes(ret, data.data, data.size);
    } else if (code == SQLITE_DONE) {
        r = error_set(err, ERR_NOT_FOUND, "%s has no record %u/%llu", store->path, kind,
                      (unsigned long long) id);
    } else {
        r = store_error(store->db, code, store->path, "read", err);
    }
    sqlite3_finalize(statement);
    return r;
}

void store_history_waiting(struct store *store, uint64_t *ret_n, int64_t *ret_since) {
    sqlite3_stmt *statement = NULL;
    struct error err = ERROR_INIT;
    *ret_n = 0;
    *ret_since = 0;
    if (store_prepare(store->db, store->path,
                      "SELECT count(*), min(max(submit, start, \"end\")) FROM history", &statement,
                      &err) < 0)
        return;
    if (sqlite3_step(statement) == SQLITE_ROW) {
        *ret_n = (uint64_t) sqlite3_column_int64(statement, 0);
        *ret_since = sqlite3_column_int64(statement, 1);
    }
    sqlite3_finalize(statement);
}

int store_history_base(struct store *store, uint64_t seq, struct error *err) {
    sqlite3 *db = NULL;
    int r = store_connect(store->path, true, &db, err);
    if (r < 0)
        return r;
    cleanup_free char *sql =
        xasprintf("BEGIN IMMEDIATE;"
                  "INSERT INTO sqlite_sequence (name, seq) SELECT 'history', 0"
                  " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'history');"
                  "UPDATE sqlite_sequence SET seq = max(seq, %llu) WHERE name = 'history'; COMMIT",
                  (unsigned long long) seq);
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK)
        r = store_error(db, code, store->path, "number", err);
    sqlite3_close(db);
    return r;
}
