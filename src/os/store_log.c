/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log (SQLite's WAL) that commits are written to. A commit waits for one fdatasync; what that
 * costs depends on the file: blocks that are new to it make the file system commit its own journal,
 * with whatever else is in there, which is a second flush of the disk; blocks that were written
 * before cost one (measured on ext4, turn about, while others write: 4.5 and 3.1 ms on average; in
 * quiet 1.9 and 0.4). So the log gets its size at once, of zeros, and is overwritten from then on;
 * folding it into the database is done when who waited for the commit has been told.
 */
#include "os/store_internal.h"

#include "base/alloc.h"

#define LOG_FRAME (4096 + 24) /* bytes of a page and what stands before it */
#define LOG_HEADER 32
#define LOG_FOLD 1000 /* pages in the log from which it is folded */
#define LOG_ROOM 1128 /* pages that it has room for: the last commit before may be a large one */
#define LOG_CHUNK 65536

/* Who reads the log takes zeros for its end. */
static int log_fill(sqlite3_file *file, sqlite3_int64 from, sqlite3_int64 to) {
    cleanup_free uint8_t *zeros = xcalloc(1, LOG_CHUNK);
    int code = SQLITE_OK;
    for (sqlite3_int64 at = from; code == SQLITE_OK && at < to; at += LOG_CHUNK)
        code = file->pMethods->xWrite(file, zeros, (int) min_of(to - at, (sqlite3_int64) LOG_CHUNK),
                                      at);
    return code;
}

static void log_extend(sqlite3 *db) {
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0, room = LOG_HEADER + (sqlite3_int64) LOG_ROOM * LOG_FRAME;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK ||
        !file || !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        return;
    if (size < room && log_fill(file, size, room) != SQLITE_OK)
        file->pMethods->xTruncate(file, size); /* no room on the disk: it grows as it is needed */
}

static int on_commit(void *context, sqlite3 *db, const char *name, int n_pages) {
    struct writer *writer = context;
    writer->n_log_pages = n_pages;
    return SQLITE_OK;
}

void log_prepare(struct writer *writer) {
    /* No other connection writes to the log meanwhile. */
    if (sqlite3_exec(writer->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK) {
        log_extend(writer->db);
        sqlite3_exec(writer->db, "ROLLBACK", NULL, NULL, NULL);
    }
    sqlite3_wal_hook(writer->db, on_commit, writer); /* instead of folding within the commit */
}

void log_fold(struct writer *writer) {
    if (writer->n_log_pages < LOG_FOLD)
        return;
    /* What a reader still needs is left for the next time, and so is what fails. */
    sqlite3_wal_checkpoint_v2(writer->db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    writer->n_log_pages = 0;
}
