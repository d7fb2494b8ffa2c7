/* SPDX-License-Identifier: Apache-2.0 */
/* The book itself: finding, restoring, and carrying out what was planned. */
#include <stdlib.h>
#include <string.h>

#include "assoc/assoc.h"
#include "base/alloc.h"
#include "base/map.h"

static const struct record *const records[ASSOC_KINDS] = {
    [ASSOC_ACCOUNT] = &record_account,
    [ASSOC_USER] = &record_acct_user,
    [ASSOC_ASSOC] = &record_assoc,
    [ASSOC_QOS] = &record_qos,
};

const struct record *assoc_record(uint32_t kind) {
    return kind < ASSOC_KINDS ? records[kind] : NULL;
}

/* ---- the index ---- */

/* '|' is in no name. Partitions are told apart by case, the others are not. */
static void key_make(uint32_t kind, const char *name, const char *user, const char *partition,
                     struct str *out) {
    str_append_char(out, (char) ('0' + kind));
    str_append_lower(out, name != NULL ? name : "");
    if (kind != ASSOC_ASSOC)
        return;
    str_append_char(out, '|');
    str_append_lower(out, user != NULL ? user : "");
    str_append_char(out, '|');
    str_append(out, partition != NULL ? partition : "");
}

const char *assoc_entry_name(uint32_t kind, const void *record) {
    switch (kind) {
    case ASSOC_ACCOUNT:
        return ((const struct account *) record)->name;
    case ASSOC_USER:
        return ((const struct acct_user *) record)->name;
    case ASSOC_QOS:
        return ((const struct qos *) record)->name;
    default:
        return ((const struct assoc *) record)->account;
    }
}

uint32_t *assoc_entry_id(uint32_t kind, void *record) {
    return kind == ASSOC_QOS     ? &((struct qos *) record)->id
           : kind == ASSOC_ASSOC ? &((struct assoc *) record)->id
                                 : NULL;
}

static void key_of(uint32_t kind, const void *record, struct str *out) {
    const struct assoc *assoc = kind == ASSOC_ASSOC ? record : NULL;
    key_make(kind, assoc_entry_name(kind, record), assoc != NULL ? assoc->user : NULL,
             assoc != NULL ? assoc->partition : NULL, out);
}

static uint64_t key_hash(const struct str *key) {
    return hash_bytes(key->data, key->length, 0);
}

static void index_put(struct assoc_book *book, uint32_t kind, void *record) {
    struct str key cleanup_str = STR_INIT;
    key_of(kind, record, &key);
    map_put(&book->index, key_hash(&key), record);
}

/* Unless another has taken its place there. */
static void index_remove(struct assoc_book *book, uint32_t kind, const void *record) {
    struct str key cleanup_str = STR_INIT;
    key_of(kind, record, &key);
    if (map_get(&book->index, key_hash(&key)) == record)
        map_remove(&book->index, key_hash(&key));
}

static void *entry_find(const struct assoc_book *book, uint32_t kind, const char *name,
                        const char *user, const char *partition) {
    struct str key cleanup_str = STR_INIT;
    if (name == NULL)
        return NULL;
    key_make(kind, name, user, partition, &key);
    return map_get(&book->index, key_hash(&key));
}

void *assoc_entry_same(const struct assoc_book *book, uint32_t kind, const void *record) {
    struct str key cleanup_str = STR_INIT;
    key_of(kind, record, &key);
    return map_get(&book->index, key_hash(&key));
}

/* ---- making ---- */

static void *entry_new(struct assoc_book *book, uint32_t kind) {
    void *record = xmalloc(records[kind]->size);
    record_init(records[kind], record);
    vec_push(&book->entries[kind], record);
    return record;
}

void assoc_book_init(struct assoc_book *book, const char *cluster) {
    *book = (struct assoc_book) {.cluster = cluster};
    struct account *account = entry_new(book, ASSOC_ACCOUNT);
    string_set(&account->name, ROOT_ACCOUNT);
    string_set(&account->description, "default root account");
    string_set(&account->organization, ROOT_ACCOUNT);
    struct acct_user *user = entry_new(book, ASSOC_USER);
    string_set(&user->name, "root");
    string_set(&user->default_account, ROOT_ACCOUNT);
    user->admin_level = ADMIN_ADMINISTRATOR;
    struct assoc *top = entry_new(book, ASSOC_ASSOC);
    string_set(&top->account, ROOT_ACCOUNT);
    top->id = 1;
    struct assoc *own = entry_new(book, ASSOC_ASSOC);
    string_set(&own->account, ROOT_ACCOUNT);
    string_set(&own->user, "root");
    own->id = 2;
    struct qos *qos = entry_new(book, ASSOC_QOS);
    string_set(&qos->name, QOS_NORMAL);
    string_set(&qos->description, "Normal QOS default");
    qos->id = 1;
    for (uint32_t kind = 1; kind < ASSOC_KINDS; kind++) {
        vec_each (&book->entries[kind], entry)
            index_put(book, kind, *entry);
    }
}

void assoc_book_init_common(struct assoc_book *book, const char *cluster,
                            const struct assoc_book *common) {
    assoc_book_init(book, cluster);
    vec_each (&common->entries[ASSOC_QOS], qos)
        assoc_book_restore(book, ASSOC_QOS, record_dup(&record_qos, *qos));
}

void assoc_book_done(struct assoc_book *book) {
    for (uint32_t kind = 1; kind < ASSOC_KINDS; kind++) {
        vec_each (&book->entries[kind], entry)
            record_free(records[kind], *entry);
        vec_done(&book->entries[kind]);
    }
    map_done(&book->index);
}

uint64_t assoc_store_id(uint32_t kind, const void *record) {
    if (kind == ASSOC_ASSOC)
        return ((const struct assoc *) record)->id;
    const char *name = assoc_entry_name(kind, record);
    return hash_bytes(name, strlen(name), 0) >> 1;
}

struct account *account_find(const struct assoc_book *book, const char *name) {
    return entry_find(book, ASSOC_ACCOUNT, name, NULL, NULL);
}

struct acct_user *acct_user_find(const struct assoc_book *book, const char *name) {
    return entry_find(book, ASSOC_USER, name, NULL, NULL);
}

struct qos *book_qos_find(const struct assoc_book *book, const char *name) {
    return entry_find(book, ASSOC_QOS, name, NULL, NULL);
}

struct assoc *assoc_find(const struct assoc_book *book, const char *account, const char *user,
                         const char *partition) {
    return entry_find(book, ASSOC_ASSOC, account, user, partition);
}

struct assoc *assoc_of_job(const struct assoc_book *book, const char *account, const char *user,
                           const char *partition) {
    struct assoc *own = partition != NULL ? assoc_find(book, account, user, partition) : NULL;
    return own != NULL ? own : assoc_find(book, account, user, NULL);
}

struct assoc *assoc_parent(const struct assoc_book *book, const struct assoc *assoc) {
    return assoc_find(book, assoc->user != NULL ? assoc->account : assoc->parent, NULL, NULL);
}

bool account_is_below(const struct assoc_book *book, const char *account, const char *above) {
    const struct assoc *at = assoc_find(book, account, NULL, NULL);
    for (size_t i = 0; at != NULL && i <= book->entries[ASSOC_ASSOC].n; i++) {
        if (str_equal_nocase(at->account, above))
            return true;
        at = assoc_parent(book, at);
    }
    return false;
}

const char *assoc_qos(const struct assoc_book *book, const struct assoc *assoc) {
    for (const struct assoc *at = assoc; at != NULL; at = assoc_parent(book, at)) {
        if (at->qos != NULL)
            return at->qos;
    }
    return QOS_NORMAL;
}

const char *assoc_default_qos(const struct assoc_book *book, const struct assoc *assoc) {
    for (const struct assoc *at = assoc; at != NULL; at = assoc_parent(book, at)) {
        if (at->default_qos != NULL)
            return at->default_qos;
    }
    const char *usable = assoc_qos(book, assoc);
    return str_has_word_nocase(usable, QOS_NORMAL, ",") ? QOS_NORMAL : NULL;
}

void assoc_book_restore(struct assoc_book *book, uint32_t kind, void *record) {
    struct str key cleanup_str = STR_INIT;
    key_of(kind, record, &key);
    void *old = map_get(&book->index, key_hash(&key));
    bool replaces = old != NULL && assoc_store_id(kind, old) == assoc_store_id(kind, record);
    index_put(book, kind, record);
    if (!replaces) {
        vec_push(&book->entries[kind], record);
        return;
    }
    vec_each (&book->entries[kind], entry) {
        if (*entry == old)
            *entry = record;
    }
    record_free(records[kind], old);
}

bool asker_is_admin(const struct assoc_book *book, const struct assoc_asker *asker) {
    const struct acct_user *user = acct_user_find(book, asker->name);
    return asker->is_root || (user != NULL && user->admin_level == ADMIN_ADMINISTRATOR);
}

bool asker_is_operator(const struct assoc_book *book, const struct assoc_asker *asker) {
    const struct acct_user *user = acct_user_find(book, asker->name);
    return asker->is_root || (user != NULL && user->admin_level >= ADMIN_OPERATOR);
}

void assoc_plan_done(struct assoc_plan *plan) {
    vec_each (&plan->edits, edit)
        record_free(records[edit->kind], edit->next);
    vec_done(&plan->edits);
    str_done(&plan->text);
    strs_done(&plan->notes);
}

void assoc_apply(struct assoc_book *book, struct assoc_plan *plan,
                 void (*on_edit)(void *context, uint32_t kind, const void *old, const void *next),
                 void *context) {
    bool any_gone[ASSOC_KINDS] = {false};
    vec_each (&plan->edits, edit) {
        bool is_new = edit->at == SIZE_MAX;
        void **place = is_new ? NULL : &book->entries[edit->kind].items[edit->at];
        if (on_edit != NULL)
            on_edit(context, edit->kind, is_new ? NULL : *place, edit->next);
        if (is_new) {
            vec_push(&book->entries[edit->kind], edit->next);
        } else {
            index_remove(book, edit->kind, *place);
            record_free(records[edit->kind], *place);
            *place = edit->next;
            any_gone[edit->kind] |= edit->next == NULL;
        }
        if (edit->next != NULL)
            index_put(book, edit->kind, edit->next);
        edit->next = NULL;
    }
    vec_reset(&plan->edits);
    for (uint32_t kind = 1; kind < ASSOC_KINDS; kind++) {
        size_t kept = 0;
        for (size_t i = 0; any_gone[kind] && i < book->entries[kind].n; i++) {
            if (book->entries[kind].items[i] != NULL)
                book->entries[kind].items[kept++] = book->entries[kind].items[i];
        }
        if (any_gone[kind])
            book->entries[kind].n = kept;
    }
}
