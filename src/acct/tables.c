/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables, and bringing a database to this release's version of them. What a later version adds
 * is a column or a table with its `since`; a database that was left in the middle of a migration is
 * gone on with, since each step may be repeated.
 */
#include "acct/acct_internal.h"
#include "text/tres.h"

#define COLUMNS(list, keys) .columns = (list), .n_columns = countof(list), .n_keys = (keys)
#define INT(name)                                                                                  \
    { name, DB_INT, false, 1 }
#define KEY(name)                                                                                  \
    { name, DB_TEXT, true, 1 }
#define TEXT(name)                                                                                 \
    { name, DB_TEXT, false, 1 }
#define BLOB(name)                                                                                 \
    { name, DB_BLOB, false, 1 }

static const struct db_column meta_columns[] = {KEY("name"), INT("value")};
const struct db_table table_meta = {"sluice_meta", 1, COLUMNS(meta_columns, 1)};

static const struct db_column cluster_columns[] = {
    INT("id"),
    KEY("name"),
    KEY("control_host"),
    INT("control_port"),
    INT("rpc_version"),
    INT("created"),
    INT("registered"),
    INT("last_seq"),
    TEXT("tres"),
    TEXT("nodes"),
    KEY("classification"),
    BLOB("controller_key"),
    INT("rolled_until"),                      /* usage is summed up to here, */
    {"roll_from", DB_INT, false, .since = 2}, /* and right up to here; 0: not at all */
    {"kept_from", DB_INT, false, .since = 3}, /* what is older has been purged */
};
const struct db_table table_cluster = {"cluster", 1, COLUMNS(cluster_columns, 1)};

static const struct db_column job_columns[] = {
#define X(name, type, is_key) {#name, type, is_key, 1},
    JOB_COLUMNS(X)
#undef X
};
static const char *const job_indexes[] = {
    "job_by_id (cluster_id, job_id)",
    "job_by_array (cluster_id, array_job_id)",
    "job_by_end (cluster_id, end_time, submit_time, job_id, db_index)",
    "job_by_user (cluster_id, uid, end_time)",
    NULL,
};
const struct db_table table_job = {"job", 1, COLUMNS(job_columns, 2), job_indexes};

static const struct db_column outage_columns[] = {
    INT("cluster_id"), KEY("node"),      INT("start_time"), INT("end_time"), KEY("state"),
    TEXT("reason"),    KEY("user_name"), TEXT("tres"),      INT("planned"),
};
static const char *const outage_indexes[] = {"outage_by_end (cluster_id, end_time)", NULL};
const struct db_table table_outage = {"outage", 1, COLUMNS(outage_columns, 3), outage_indexes};

static const struct db_column capacity_columns[] = {
    INT("cluster_id"), INT("start_time"), INT("end_time"), TEXT("nodes"), TEXT("tres"),
};
const struct db_table table_capacity = {"capacity", 1, COLUMNS(capacity_columns, 2)};

static const struct db_column txn_columns[] = {
    INT("id"),       INT("done_time"), KEY("actor"),        KEY("action"),
    TEXT("subject"), TEXT("info"),     KEY("cluster_name"),
};
static const char *const txn_indexes[] = {"txn_by_time (done_time)", NULL};
const struct db_table table_txn = {"txn", 1, COLUMNS(txn_columns, 1), txn_indexes};

static const struct db_column reservation_columns[] = {
    INT("cluster_id"), INT("id"),    INT("start_time"), INT("end_time"), KEY("name"),
    TEXT("nodes"),     TEXT("tres"), TEXT("accounts"),  TEXT("users"),   INT("flags"),
};
static const char *const reservation_indexes[] = {"reservation_by_end (cluster_id, end_time)",
                                                  NULL};
const struct db_table table_reservation = {"reservation", 1, COLUMNS(reservation_columns, 3),
                                           reservation_indexes};

static const struct db_column book_columns[] = {
    INT("cluster_id"), /* 0: of all clusters */
    INT("kind"),       INT("id"), KEY("name"), KEY("account"), KEY("user_name"), BLOB("record"),
};
const struct db_table table_book = {"book", 1, COLUMNS(book_columns, 3)};

static const struct db_column rejected_columns[] = {
    INT("cluster_id"), INT("seq"), INT("kind"), TEXT("reason"), BLOB("body"),
};
const struct db_table table_rejected = {"rejected", 1, COLUMNS(rejected_columns, 2)};

static const struct db_column tres_columns[] = {INT("id"), KEY("name")};
const struct db_table table_tres = {"tres", 2, COLUMNS(tres_columns, 1)};

static const struct db_column usage_key_columns[] = {
    INT("id"), INT("cluster_id"), KEY("account"), KEY("user_name"), KEY("qos"), KEY("wckey"),
};
const struct db_table table_usage_key = {"usage_key", 2, COLUMNS(usage_key_columns, 1)};

/* Sums; span: enum calendar_span; start_time: when the hour, day or month began. */
static const struct db_column used_columns[] = {
    INT("cluster_id"), INT("span"),    INT("start_time"),
    INT("key_id"),     INT("tres_id"), INT("seconds"),
};
const struct db_table table_used = {"used", 2, COLUMNS(used_columns, 5)};

static const struct db_column cluster_used_columns[] = {
    INT("cluster_id"),
    INT("span"),
    INT("start_time"),
    INT("tres_id"),
    INT("capacity_seconds"),
    INT("allocated"),
    INT("down"),
    INT("planned_down"),
    INT("idle"),
    INT("planned"),
    INT("over_committed"),
};
const struct db_table table_cluster_used = {"cluster_used", 2, COLUMNS(cluster_used_columns, 4)};

/* What AccountingStoreFlags keeps; of several jobs of a number by the time of submission. */
static const struct db_column script_columns[] = {
    INT("cluster_id"),
    INT("job_id"),
    INT("submit_time"),
    BLOB("record"),
};
static const char *const script_indexes[] = {"script_by_time (cluster_id, submit_time)", NULL};
const struct db_table table_script = {"script", 4, COLUMNS(script_columns, 3), script_indexes};

const struct db_table *const acct_tables[N_TABLES] = {
    &table_cluster,     &table_job,          &table_outage,   &table_capacity, &table_txn,
    &table_reservation, &table_book,         &table_rejected, &table_tres,     &table_usage_key,
    &table_used,        &table_cluster_used, &table_script,
};

/* ---- the version ---- */

static int version_read(struct db *db, int64_t *ret, struct error *err) {
    return db_number(db, "SELECT value FROM sluice_meta WHERE name = 'version'", DB_NO_VALUES, 0,
                     ret, err);
}

/* Numbers that are counted on; one that is there already is left, since a migration may have been
 * interrupted. */
static int numbers_make(struct db *db, struct error *err) {
    static const struct {
        const char *name;
        int64_t last;
    } numbers[] = {{"last_cluster", 0},
                   {"last_txn", 0},
                   {"last_usage_key", 0},
                   {"last_tres", TRES_ID_OTHER - 1}};
    int r = 0;
    for (size_t i = 0; r == 0 && i < countof(numbers); i++) {
        int64_t found = -1;
        const struct db_value row[] = {db_key(numbers[i].name), db_int(numbers[i].last)};
        r = db_number(db, "SELECT value FROM sluice_meta WHERE name = ?", DB_VALUES(row[0]), -1,
                      &found, err);
        if (r == 0 && found < 0)
            r = db_put(db, &table_meta, row, 1, err);
    }
    return r;
}

static int migrate(struct db *db, int64_t from, struct error *err) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < N_TABLES; i++)
        r = db_table_make(db, acct_tables[i], (unsigned) from, err);
    if (r == 0)
        r = numbers_make(db, err);
    if (r < 0)
        return r;
    const struct db_value version[] = {db_key("version"), db_int(SCHEMA_VERSION)};
    return db_put(db, &table_meta, version, 1, err);
}

/* Only one process at a time brings the tables up. */
static int migrate_locked(struct db *db, struct error *err) {
    int64_t from = 0;
    int r = db_lock_schema(db, err);
    if (r < 0)
        return r;
    r = db_table_make(db, &table_meta, 0, err);
    if (r == 0)
        r = version_read(db, &from, err);
    if (r == 0 && from > SCHEMA_VERSION)
        r = error_set(err, ERR_VERSION,
                      "%s was written by a newer release (version %d, this one knows %d); install "
                      "that release again, or restore the database saved before the upgrade",
                      db_name(db), (int) from, SCHEMA_VERSION);
    if (r == 0 && from < SCHEMA_VERSION)
        r = migrate(db, from, err);
    return r;
}

int schema_open(struct db *db, struct error *err) {
    int64_t version = 0;
    struct error ignored = ERROR_INIT;
    if (version_read(db, &version, &ignored) == 0 && version == SCHEMA_VERSION)
        return 0;
    int r = migrate_locked(db, err);
    int unlocked = db_unlock_schema(db, r == 0, r == 0 ? err : &ignored);
    return r < 0 ? r : unlocked;
}
