/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between two states of the book; see tell.h. */
#include "assoc/tell.h"

#include <stdlib.h>
#include <string.h>

#include "assoc/keys.h"
#include "base/alloc.h"

/* ---- edits ---- */

void assoc_book_copy(const struct assoc_book *book, struct assoc_book *ret) {
    *ret = (struct assoc_book) {.cluster = book->cluster};
    for (uint32_t kind = 1; kind < ASSOC_KINDS; kind++) {
        vec_each (&book->entries[kind], entry)
            assoc_book_restore(ret, kind, record_dup(assoc_record(kind), *entry));
    }
}

static uint32_t last_id(const struct assoc_book *book, uint32_t kind) {
    uint32_t last = 0;
    vec_each (&book->entries[kind], entry) {
        const uint32_t *id = assoc_entry_id(kind, *entry);
        last = id != NULL ? max_of(last, *id) : last;
    }
    return last;
}

/* No file tells of them; fewer than before would look as if usage was to be forgotten. */
static void keep_resets(uint32_t kind, const void *old, void *next) {
    if (kind == ASSOC_QOS)
        ((struct qos *) next)->usage_resets =
            max_of(((struct qos *) next)->usage_resets, ((const struct qos *) old)->usage_resets);
    else if (kind == ASSOC_ASSOC)
        ((struct assoc *) next)->usage_resets = max_of(((struct assoc *) next)->usage_resets,
                                                       ((const struct assoc *) old)->usage_resets);
}

static void diff_old(const struct assoc_book *book, const struct assoc_book *next, uint32_t kind,
                     bool keep, struct assoc_plan *plan) {
    const struct record *record = assoc_record(kind);
    for (size_t i = 0; i < book->entries[kind].n; i++) {
        void *old = book->entries[kind].items[i];
        const void *now = assoc_entry_same(next, kind, old);
        if (now == NULL) {
            struct assoc_edit *edit = vec_add(&plan->edits);
            *edit = (struct assoc_edit) {kind, i, NULL};
            continue;
        }
        void *copy = record_dup(record, now);
        uint32_t *id = assoc_entry_id(kind, copy);
        if (id != NULL && keep)
            *id = *assoc_entry_id(kind, old);
        keep_resets(kind, old, copy);
        if (record_equal(record, old, copy)) {
            record_free(record, copy);
        } else {
            struct assoc_edit *edit = vec_add(&plan->edits);
            *edit = (struct assoc_edit) {kind, i, copy};
        }
    }
}

static void diff_new(const struct assoc_book *book, const struct assoc_book *next, uint32_t kind,
                     bool keep, struct assoc_plan *plan) {
    uint32_t last = last_id(book, kind);
    vec_each (&next->entries[kind], entry) {
        if (assoc_entry_same(book, kind, *entry) != NULL)
            continue;
        void *copy = record_dup(assoc_record(kind), *entry);
        uint32_t *id = assoc_entry_id(kind, copy);
        if (id != NULL && keep)
            *id = ++last;
        struct assoc_edit *edit = vec_add(&plan->edits);
        *edit = (struct assoc_edit) {kind, SIZE_MAX, copy};
    }
}

static void diff(const struct assoc_book *book, const struct assoc_book *next, bool keep,
                 struct assoc_plan *plan) {
    static const uint32_t order[] = {ASSOC_QOS, ASSOC_ACCOUNT, ASSOC_USER, ASSOC_ASSOC};
    for (size_t i = 0; i < countof(order); i++)
        diff_old(book, next, order[i], keep, plan);
    for (size_t i = 0; i < countof(order); i++)
        diff_new(book, next, order[i], keep, plan);
}

void assoc_diff(const struct assoc_book *book, const struct assoc_book *next,
                struct assoc_plan *plan) {
    diff(book, next, true, plan);
}

void assoc_diff_numbers(const struct assoc_book *book, const struct assoc_book *next,
                        struct assoc_plan *plan) {
    diff(book, next, false, plan);
}

bool assoc_is_same(const struct assoc_book *book, const struct assoc_book *other) {
    struct assoc_plan plan = {.text = STR_INIT};
    assoc_diff(book, other, &plan);
    bool is_same = plan.edits.n == 0;
    assoc_plan_done(&plan);
    return is_same;
}

/* ---- words ---- */

/* Which keys and which word an entry goes by. */
static const struct {
    uint8_t of;
    const char *word, *plural;
} kinds[ASSOC_KINDS] = {
    [ASSOC_ACCOUNT] = {KEY_ACCOUNT, "Account", "Accounts"},
    [ASSOC_USER] = {KEY_USER, "User", "Users"},
    [ASSOC_ASSOC] = {KEY_ACCOUNT, "Account", "Associations"},
    [ASSOC_QOS] = {KEY_QOS, "QOS", "QOS"},
};

static bool user_of(uint32_t kind, const void *record) {
    return kind == ASSOC_ASSOC && ((const struct assoc *) record)->user != NULL;
}

static const char *word_of(uint32_t kind, const void *record) {
    return user_of(kind, record) ? "User" : kinds[kind].word;
}

static const char *name_of(uint32_t kind, const void *record) {
    return user_of(kind, record) ? ((const struct assoc *) record)->user
                                 : assoc_entry_name(kind, record);
}

/* As shown: what is not set says nothing, levels have a word for that. */
static void shown(const struct assoc_key *key, const void *record, struct str *out) {
    struct str file cleanup_str = STR_INIT;
    const void *member = assoc_key_member(key, (void *) (uintptr_t) record);
    if (!assoc_key_in_file(key, record, &file) &&
        record_field(assoc_record(key->kind), key->member)->type != FIELD_ENUM)
        return;
    if (record_field(assoc_record(key->kind), key->member)->type == FIELD_OPT32 &&
        *(const uint32_t *) member == UNSET32)
        str_append(out, file.data);
    else
        key->print(record, member, out);
}

void assoc_tell_changes(uint32_t kind, const void *old, const void *next, struct str *out) {
    for (const struct assoc_key *key = assoc_keys; key->name != NULL; key++) {
        struct str was cleanup_str = STR_INIT, is cleanup_str = STR_INIT;
        if (key->is_old || key->kind != kind || !(key->of & kinds[kind].of))
            continue;
        shown(key, old, &was);
        shown(key, next, &is);
        if (!str_equal(str_cstr(&was), str_cstr(&is)))
            str_printf(out, " Changed %-21s for %-7s %-10s %8s -> %s\n", key->name,
                       word_of(kind, old), name_of(kind, old), str_cstr(&was), str_cstr(&is));
    }
}

void assoc_tell_removal(uint32_t kind, const void *old, struct str *out) {
    const struct assoc *assoc = kind == ASSOC_ASSOC ? old : NULL;
    if (assoc != NULL && assoc->user == NULL)
        return; /* its account has a line */
    str_printf(out, " Removed %s %s", word_of(kind, old), name_of(kind, old));
    if (assoc != NULL)
        str_printf(out, " from account %s", assoc->account);
    if (assoc != NULL && assoc->partition != NULL)
        str_printf(out, ", partition %s", assoc->partition);
    str_append_char(out, '\n');
}

/* ---- rows of history ---- */

static void keys_in_words(uint32_t kind, const void *old, const void *next, struct str *out) {
    for (const struct assoc_key *key = assoc_keys; key->name != NULL; key++) {
        struct str was cleanup_str = STR_INIT, is cleanup_str = STR_INIT;
        if (key->is_old || key->kind != kind || !(key->of & kinds[kind].of))
            continue;
        bool had = old != NULL && assoc_key_in_file(key, old, &was);
        bool has = assoc_key_in_file(key, next, &is);
        if (had == has && str_equal(str_cstr(&was), str_cstr(&is)))
            continue;
        cleanup_free char *item = xasprintf("%s=%s", key->name, has ? is.data : "-1");
        str_join(out, ", ", item);
    }
}

static void coordinators_in_words(const struct strs *list, struct str *out) {
    for (uint32_t i = 0; i < list->n; i++)
        str_join(out, ",", list->items[i]);
}

static void object_in_words(uint32_t kind, const void *record, struct str *out) {
    const struct assoc *assoc = kind == ASSOC_ASSOC ? record : NULL;
    if (assoc == NULL) {
        str_append(out, assoc_entry_name(kind, record));
        return;
    }
    str_printf(out, "id=%u account=%s", assoc->id, assoc->account);
    if (assoc->user != NULL)
        str_printf(out, " user=%s", assoc->user);
    if (assoc->partition != NULL)
        str_printf(out, " partition=%s", assoc->partition);
}

static const char *const actions[3][ASSOC_KINDS] = {
    {[ASSOC_ACCOUNT] = "Add Accounts",
     [ASSOC_USER] = "Add Users",
     [ASSOC_ASSOC] = "Add Associations",
     [ASSOC_QOS] = "Add QOS"},
    {[ASSOC_ACCOUNT] = "Modify Accounts",
     [ASSOC_USER] = "Modify Users",
     [ASSOC_ASSOC] = "Modify Associations",
     [ASSOC_QOS] = "Modify QOS"},
    {[ASSOC_ACCOUNT] = "Remove Accounts",
     [ASSOC_USER] = "Remove Users",
     [ASSOC_ASSOC] = "Remove Associations",
     [ASSOC_QOS] = "Remove QOS"},
};

/* Coordinators are changed by themselves. */
static bool told_coordinators(const struct account *old, const struct account *next,
                              struct assoc_told *ret) {
    struct str was cleanup_str = STR_INIT, is cleanup_str = STR_INIT;
    coordinators_in_words(&old->coordinators, &was);
    coordinators_in_words(&next->coordinators, &is);
    if (str_equal(str_cstr(&was), str_cstr(&is)))
        return false;
    ret->action =
        next->coordinators.n > old->coordinators.n ? "Add Account Coord" : "Remove Account Coords";
    str_append(&ret->object, next->name);
    str_printf(&ret->info, "coordinators=%s", str_cstr(&is));
    return true;
}

void assoc_tell_row(uint32_t kind, const void *old, const void *next, struct assoc_told *ret) {
    *ret = (struct assoc_told) {.object = STR_INIT, .info = STR_INIT};
    if (kind == ASSOC_ACCOUNT && old != NULL && next != NULL && told_coordinators(old, next, ret))
        return;
    ret->action = actions[old == NULL ? 0 : next != NULL ? 1 : 2][kind];
    object_in_words(kind, next != NULL ? next : old, &ret->object);
    if (next != NULL)
        keys_in_words(kind, old, next, &ret->info);
}

void assoc_told_done(struct assoc_told *told) {
    str_done(&told->object);
    str_done(&told->info);
}

/* Any of these words in the text, as a whole or between separators. */
static bool mentions(const struct strs *words, const char *text) {
    for (uint32_t i = 0; text != NULL && i < words->n; i++) {
        if (str_has_word_nocase(text, words->items[i], " ,='"))
            return true;
    }
    return false;
}

bool acct_change_passes(const struct change_query *query, const struct acct_transaction *change) {
    return (query->actions.n == 0 ||
            (change->action != NULL && strs_has_nocase(&query->actions, change->action))) &&
           (query->actors.n == 0 ||
            (change->actor != NULL && strs_has_nocase(&query->actors, change->actor))) &&
           (query->clusters.n == 0 || change->cluster == NULL ||
            strs_has_nocase(&query->clusters, change->cluster)) &&
           (query->objects.n == 0 || mentions(&query->objects, change->subject) ||
            mentions(&query->objects, change->info)) &&
           (query->start == 0 || change->time >= query->start) &&
           (query->end == 0 || change->time <= query->end);
}

static bool named(const struct strs *list, const char *text) {
    return list->n == 0 || (text != NULL && strs_has_nocase(list, text));
}

bool acct_outage_passes(const struct event_query *query, const struct acct_outage *outage) {
    return named(&query->nodes, outage->node) && named(&query->clusters, outage->cluster) &&
           named(&query->states, outage->state) && named(&query->reasons, outage->reason) &&
           named(&query->users, outage->user) && (!query->only_open || outage->end == 0) &&
           (query->end == 0 || outage->start <= query->end) &&
           (outage->end == 0 || outage->end >= query->start);
}
