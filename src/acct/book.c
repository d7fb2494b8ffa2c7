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
};

#define VERSION_NAME "book_version"

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

static int entry_put(struct acct *acct, int64_t cluster, const struct acct_book_edit *edit,
                     struct error *err) {
    const struct record *record = assoc_record(edit->kind);
    if (!record)
        return error_set(err, ERR_INVALID, "%u is no kind of entry of the book", edit->kind);
    struct arena memory;
    arena_init(&memory, 16u << 20);
    cleanup_free void *object = xmalloc(record->size);
    int r = wire_decode(record, edit->record, &memory, object, err);
    if (r == 0) {
        const struct db_value row[] = {
            db_int(cluster),
            db_int(edit->kind),
            db_int((int64_t) edit->id),
            db_key(member_text(record, object, "name")),
            db_key(member_text(record, object, "account")),
            db_key(member_text(record, object, "user")),
            db_blob(edit->record),
        };
        r = db_put(acct->db, &table_book, row, 1, err);
    }
    arena_done(&memory);
    return r;
}

static int edit_apply(struct acct *acct, const struct acct_book_edit *edit, struct error *err) {
    int64_t cluster = 0;
    int r =
        edit->cluster && *edit->cluster ? cluster_id_make(acct, edit->cluster, &cluster, err) : 0;
    if (r < 0)
        return r;
    if (edit->record.size > 0)
        return entry_put(acct, cluster, edit, err);
    int64_t n =
        db_exec(acct->db, "DELETE FROM book WHERE cluster_id = ? AND kind = ? AND id = ?",
                DB_VALUES(db_int(cluster), db_int(edit->kind), db_int((int64_t) edit->id)), err);
    return n < 0 ? (int) n : 0;
}

static int apply(struct acct *acct, void *context, struct error *err) {
    struct apply *change = context;
    int r = version_raise(acct, &change->version, err);
    for (size_t i = 0; r == 0 && i < change->n; i++)
        r = edit_apply(acct, &change->edits[i], err);
    if (r == 0)
        r = transactions_put(acct, change->transactions, change->n_transactions, err);
    return r;
}

int acct_book_apply(struct acct *acct, const struct acct_book_edit *edits, size_t n,
                    const struct acct_transaction *transactions, size_t n_transactions,
                    uint64_t *ret_version, struct error *err) {
    struct apply change = {edits, n, transactions, n_transactions, 0};
    int r = in_transaction(acct, apply, &change, err);
    if (r == 0)
        *ret_version = (uint64_t) change.version;
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
