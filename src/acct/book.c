/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts, users, associations and QOS as the database keeps them: their records, with names that
 * people can search for. */
#include <string.h>

#include "acct/acct_internal.h"
#include "assoc/assoc.h"

struct apply {
    const struct acct_book_edit *edits;
    size_t n;
    const struct acct_transaction *transactions;
    size_t n_transactions;
    int64_t version;
    /* the cluster of the last edit */
    const char *cluster;
    int64_t cluster_id;
    /* entries that are to be stored together, none of them twice */
    vec(struct db_value) rows;
    struct map entries;  /* by their keys' hash */
    struct arena memory; /* what rows borrow from */
};

#define VERSION_NAME "book_version"
#define ENTRIES_AT_ONCE 256
#define MEMORY_MAX (32u << 20) /* bytes: what is collected is stored when half of it is used */

/* The row's lock makes those who change the book wait for each other. */
static int version_raise(struct acct *acct, int64_t *ret, struct error *err) {
    int r = number_next(acct, VERSION_NAME, 1, ret, err);
    if (r < 0 || *ret > 0)
        return r;
    const struct db_value first[] = {db_key(VERSION_NAME), db_int(1)};
    *ret = 1;
    return db_put(acct->db, &table_meta, first, 1, err);
}

int acct_book_version(struct acct *acct, uint64_t *ret, struct error *err) {
    int64_t version = 0;
    int r = db_number(acct->db, "SELECT value FROM sluice_meta WHERE name = ?",
                      DB_VALUES(db_key(VERSION_NAME)), 0, &version, err);
    if (r == 0)
        *ret = (uint64_t) version;
    return r;
}

/* "" for what the record has not. */
static const char *member_text(const struct record *record, const void *object, const char *name) {
    const struct field *field = record_field(record, name);
    if (!field || field->type != FIELD_STR)
        return "";
    const char *text = *(char *const *) ((const char *) object + field->offset);
    return text ? text : "";
}

static int entries_flush(struct apply *change, struct acct *acct, struct error *err) {
    int r = db_put(acct->db, &table_book, change->rows.items, change->rows.n / table_book.n_columns,
                   err);
    vec_reset(&change->rows);
    map_clear(&change->entries);
    arena_done(&change->memory);
    arena_init(&change->memory, MEMORY_MAX);
    return r;
}

/* What is kept of an edit until entries_flush(): false when the same entry is there already. */
static bool entry_is_first(struct apply *change, const struct acct_book_edit *edit) {
    const uint64_t key[] = {(uint64_t) change->cluster_id, edit->kind, edit->id};
    return map_put(&change->entries, hash_bytes(key, sizeof(key), 0), change) == NULL;
}

static int entry_put(struct apply *change, const struct acct_book_edit *edit, struct acct *acct,
                     struct error *err) {
    const struct record *record = assoc_record(edit->kind);
    int r = 0;
    if (!record)
        return error_set(err, ERR_INVALID, "%u is no kind of entry of the book", edit->kind);
    bool is_full = change->entries.n >= ENTRIES_AT_ONCE || change->memory.used > MEMORY_MAX / 2;
    if (is_full || !entry_is_first(change, edit)) {
        r = entries_flush(change, acct, err);
        (void) entry_is_first(change, edit);
    }
    void *object = arena_alloc(&change->memory, record->size);
    if (r == 0)
        r = wire_decode(record, edit->record, &change->memory, object, err);
    if (r < 0)
        return r;
    const struct db_value row[] = {
        db_int(change->cluster_id),
        db_int(edit->kind),
        db_int((int64_t) edit->id),
        db_key(member_text(record, object, "name")),
        db_key(member_text(record, object, "account")),
        db_key(member_text(record, object, "user")),
        db_blob(edit->record),
    };
    for (size_t i = 0; i < countof(row); i++)
        vec_push(&change->rows, row[i]);
    return 0;
}

static int cluster_find(struct apply *change, const char *name, struct acct *acct,
                        struct error *err) {
    if (change->cluster && str_equal(change->cluster, name))
        return 0;
    int64_t id = 0;
    int r = *name ? cluster_id_make(acct, name, &id, err) : 0;
    if (r < 0)
        return r;
    change->cluster = name;
    change->cluster_id = id;
    return 0;
}

static int edit_apply(struct apply *change, const struct acct_book_edit *edit, struct acct *acct,
                      struct error *err) {
    int r = cluster_find(change, edit->cluster ? edit->cluster : "", acct, err);
    if (r == 0 && edit->record.size > 0)
        return entry_put(change, edit, acct, err);
    if (r == 0)
        r = entries_flush(change, acct, err);
    if (r < 0)
        return r;
    int64_t n = db_exec(
        acct->db, "DELETE FROM book WHERE cluster_id = ? AND kind = ? AND id = ?",
        DB_VALUES(db_int(change->cluster_id), db_int(edit->kind), db_int((int64_t) edit->id)), err);
    return n < 0 ? (int) n : 0;
}

static int apply(struct acct *acct, void *context, struct error *err) {
    struct apply *change = context;
    int r = version_raise(acct, &change->version, err);
    for (size_t i = 0; r == 0 && i < change->n; i++)
        r = edit_apply(change, &change->edits[i], acct, err);
    if (r == 0)
        r = entries_flush(change, acct, err);
    if (r == 0)
        r = transactions_put(acct, change->transactions, change->n_transactions, err);
    return r;
}

int acct_book_apply(struct acct *acct, const struct acct_book_edit *edits, size_t n,
                    const struct acct_transaction *transactions, size_t n_transactions,
                    uint64_t *ret_version, struct error *err) {
    struct apply change = {
        .edits = edits, .n = n, .transactions = transactions, .n_transactions = n_transactions};
    arena_init(&change.memory, MEMORY_MAX);
    int r = in_transaction(acct, apply, &change, err);
    if (r == 0)
        *ret_version = (uint64_t) change.version;
    vec_done(&change.rows);
    map_done(&change.entries);
    arena_done(&change.memory);
    return r;
}

int acct_book_load(struct acct *acct, const char *cluster,
                   int (*fn)(uint32_t kind, uint64_t id, struct bytes record, void *context,
                             struct error *err),
                   void *context, struct error *err) {
    int64_t id = 0;
    int r = *cluster ? cluster_id(acct, cluster, &id, err) : 0;
    if (r < 0 || (*cluster && id == 0))
        return r;
    struct db_rows *rows cleanup_rows = NULL;
    r = db_query(acct->db,
                 "SELECT kind, id, record FROM book WHERE cluster_id = ? ORDER BY kind, id",
                 DB_VALUES(db_int(id)), &rows, err);
    while (r >= 0 && (r = db_next(rows, err)) > 0)
        r = fn((uint32_t) db_column_int(rows, 0), (uint64_t) db_column_int(rows, 1),
               db_column_blob(rows, 2), context, err);
    return r < 0 ? r : 0;
}
