/* SPDX-License-Identifier: Apache-2.0 */
/* Planning a change: words, settings and edits that all entities have in common. */
#include "assoc/change.h"

#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

static void collect(const struct key_value *words, uint32_t n, const char *name, size_t least,
                    bool bare, struct strs *values) {
    for (uint32_t i = 0; i < n; i++) {
        bool is_bare = words[i].key == NULL || words[i].key[0] == '\0';
        if (is_bare ? !bare : !condition_is(words[i].key, strlen(words[i].key), name, least))
            continue;
        words_each (words[i].value, ",", word) {
            text_lower(word);
            if (!strs_has(values, word))
                strs_push(values, word);
        }
    }
}

struct strs change_values(const struct change *change, const char *name, size_t least, bool bare) {
    const struct assoc_change *request = change->request;
    struct strs values = {NULL, 0};
    collect(request->where.items, request->where.n, name, least, bare, &values);
    if (request->verb == ASSOC_VERB_ADD)
        collect(request->set.items, request->set.n, name, least, bare, &values);
    return values;
}

static bool in_conditions(const char *key, const struct change_condition *conditions, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (condition_is(key, strlen(key), conditions[i].name, conditions[i].least))
            return true;
    }
    return false;
}

int change_check_conditions(struct change *change, const struct change_condition *conditions,
                            size_t n) {
    const struct assoc_change *request = change->request;
    for (uint32_t i = 0; i < request->where.n; i++) {
        const struct key_value *word = &request->where.items[i];
        if (word->key == NULL || word->key[0] == '\0' || in_conditions(word->key, conditions, n))
            continue;
        struct str names cleanup_str = STR_INIT;
        for (size_t k = 0; k < n; k++)
            str_join(&names, ", ", conditions[k].name);
        return error_set(change->err, ERR_INVALID,
                         " Unknown condition: %s=%s\n Use keyword 'set' to modify value\n "
                         "Conditions are: %s",
                         word->key, word->value, str_cstr(&names));
    }
    return 0;
}

/* "qos+" is the key qos and the sign '+'. */
static const struct assoc_key *key_of(const char *word, uint8_t of, char *ret_sign) {
    size_t length = strlen(word);
    char last = length > 0 ? word[length - 1] : '\0';
    *ret_sign = last == '+' || last == '-' ? last : '\0';
    cleanup_free char *name = xstrndup(word, length - (*ret_sign != '\0'));
    return assoc_key_find(name, of);
}

static int unknown_option(struct change *change, const struct key_value *word, uint8_t of) {
    const char *names[128];
    size_t n = 0;
    for (const struct assoc_key *key = assoc_keys; key->name != NULL && n < countof(names); key++) {
        if ((key->of & of) && strchr(key->name, ' ') == NULL)
            names[n++] = key->name;
    }
    const char *near = str_nearest(word->key, names, n);
    return error_set(change->err, ERR_INVALID,
                     " Unknown option: %s=%s\n Use keyword 'where' to modify condition%s%s%s",
                     word->key, word->value, near != NULL ? "\n Did you mean " : "",
                     near != NULL ? near : "", near != NULL ? "?" : "");
}

static void note_no_effect(struct change *change, const struct assoc_key *key, const char *value) {
    struct strs *notes = &change->plan->notes;
    struct str idle cleanup_str = STR_INIT;
    assoc_key_idle(key, value, &idle);
    if (!key->no_effect && idle.length == 0)
        return;
    cleanup_free char *text =
        xasprintf("%s%s%s is kept, but without effect in this release", key->name,
                  key->no_effect ? "" : "=", key->no_effect ? "" : idle.data);
    if (!strs_has(notes, text))
        strs_push(notes, text);
}

int change_check_sets(struct change *change, uint8_t of, const struct change_condition *others,
                      size_t n_others, uint32_t *ret_kinds) {
    const struct assoc_change *request = change->request;
    bool adds = request->verb == ASSOC_VERB_ADD;
    *ret_kinds = 0;
    for (uint32_t i = 0; i < request->set.n; i++) {
        const struct key_value *word = &request->set.items[i];
        char sign;
        bool is_bare = word->key == NULL || word->key[0] == '\0';
        if (adds && (is_bare || in_conditions(word->key, others, n_others)))
            continue;
        if (is_bare)
            return error_set(change->err, ERR_INVALID,
                             " Bad format on %s: End your option with an "
                             "'=' sign",
                             word->value);
        const struct assoc_key *key = key_of(word->key, of, &sign);
        if (key == NULL)
            return unknown_option(change, word, of);
        *ret_kinds |= 1u << key->kind;
        note_no_effect(change, key, word->value);
    }
    if (!adds && *ret_kinds == 0)
        return error_set(change->err, ERR_INVALID, " You didn't give me anything to set");
    return 0;
}

int change_apply_sets(struct change *change, uint8_t of, uint32_t kind, void *record) {
    const struct assoc_change *request = change->request;
    for (uint32_t i = 0; i < request->set.n; i++) {
        const struct key_value *word = &request->set.items[i];
        char sign;
        const struct assoc_key *key =
            word->key != NULL && word->key[0] != '\0' ? key_of(word->key, of, &sign) : NULL;
        if (key == NULL || key->kind != kind)
            continue;
        int r =
            key->set(change->book, key, record, sign, word->value ? word->value : "", change->err);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_given(const struct change *change, const struct assoc_key *row, uint8_t of) {
    for (uint32_t i = 0; i < change->request->set.n; i++) {
        char sign;
        const char *word = change->request->set.items[i].key;
        const struct assoc_key *key =
            word != NULL && word[0] != '\0' ? key_of(word, of, &sign) : NULL;
        if (key != NULL && key->kind == row->kind && str_equal(key->member, row->member))
            return true;
    }
    return false;
}

void change_settings(struct change *change, uint8_t of, uint32_t kind, const void *record,
                     int width) {
    for (const struct assoc_key *key = assoc_keys; key->name != NULL; key++) {
        if (key->is_old || !(key->of & of) || key->kind != kind || !is_given(change, key, of))
            continue;
        const void *member = assoc_key_member(key, (void *) (uintptr_t) record);
        const struct field *field = record_field(assoc_record(kind), key->member);
        if ((field->type == FIELD_OPT32 && *(const uint32_t *) member == UNSET32) ||
            (field->type == FIELD_STR && *(char *const *) member == NULL))
            continue; /* cleared */
        if (field->type == FIELD_RECS)
            continue; /* told by users */
        str_printf(&change->plan->text, "  %-*s = ",
                   kind == ASSOC_QOS && str_equal(key->member, "description") ? 14 : width,
                   key->name);
        key->print(record, member, &change->plan->text);
        str_append_char(&change->plan->text, '\n');
    }
}

/* ---- edits ---- */

static uint64_t edit_key(uint32_t kind, size_t at) {
    return (uint64_t) kind << 56 | at;
}

static struct assoc_edit *edit_find(const struct change *change, uint32_t kind, size_t at) {
    uintptr_t place = (uintptr_t) map_get(&change->edited, edit_key(kind, at));
    return place > 0 ? &change->plan->edits.items[place - 1] : NULL;
}

static struct assoc_edit *edit_new(struct change *change, uint32_t kind, size_t at, void *next) {
    struct assoc_edit *edit = vec_add(&change->plan->edits);
    *edit = (struct assoc_edit) {kind, at, next};
    map_put(&change->edited, edit_key(kind, at), (void *) (uintptr_t) change->plan->edits.n);
    return edit;
}

const void *change_seen(const struct change *change, uint32_t kind, size_t at) {
    const struct assoc_edit *edit = edit_find(change, kind, at);
    return edit != NULL ? edit->next : change->book->entries[kind].items[at];
}

void *change_edit(struct change *change, uint32_t kind, size_t at) {
    struct assoc_edit *edit = edit_find(change, kind, at);
    if (edit == NULL) {
        void *copy = record_dup(assoc_record(kind), change->book->entries[kind].items[at]);
        edit = edit_new(change, kind, at, copy);
    }
    return edit->next;
}

void change_remove(struct change *change, uint32_t kind, size_t at) {
    struct assoc_edit *edit = edit_find(change, kind, at);
    if (edit == NULL) {
        (void) edit_new(change, kind, at, NULL);
        return;
    }
    record_free(assoc_record(kind), edit->next);
    edit->next = NULL;
}

void change_add(struct change *change, uint32_t kind, void *record) {
    struct assoc_edit *edit = vec_add(&change->plan->edits);
    *edit = (struct assoc_edit) {kind, SIZE_MAX, record};
}

uint32_t change_next_id(struct change *change, uint32_t kind) {
    uint32_t *last = &change->last_id[kind];
    if (*last == 0) {
        vec_each (&change->book->entries[kind], entry)
            *last = max_of(*last, *assoc_entry_id(kind, *entry));
    }
    return ++*last;
}

static bool assoc_is(const struct assoc *assoc, const char *account, const char *user,
                     const char *partition, bool any_partition) {
    return assoc != NULL && (account == NULL || str_equal_nocase(assoc->account, account)) &&
           str_equal_nocase(assoc->user, user) &&
           (any_partition || str_equal(assoc->partition, partition));
}

const struct assoc *change_find_assoc(const struct change *change, const char *account,
                                      const char *user, const char *partition, bool any_partition) {
    /* Mostly it is there, by its name; only a deletion may have taken it away. */
    if (account != NULL && change->request->verb != ASSOC_VERB_DELETE &&
        (any_partition || partition == NULL)) {
        const struct assoc *plain = assoc_find(change->book, account, user, NULL);
        if (plain != NULL)
            return plain;
    }
    for (size_t i = 0; i < change->book->entries[ASSOC_ASSOC].n; i++) {
        const struct assoc *assoc = change_seen(change, ASSOC_ASSOC, i);
        if (assoc_is(assoc, account, user, partition, any_partition))
            return assoc;
    }
    vec_each (&change->plan->edits, edit) {
        if (edit->kind == ASSOC_ASSOC && edit->at == SIZE_MAX &&
            assoc_is(edit->next, account, user, partition, any_partition))
            return edit->next;
    }
    return NULL;
}

/* The associations that there will be, of each user behind each other. */
struct user_link {
    const struct assoc *assoc;
    size_t next; /* of the last one: the first */
};
struct by_user {
    struct smap last; /* the user's name -> the place of its last link, from 1 on */
    vec(struct user_link) links;
};

static void by_user_add(struct by_user *by, const struct assoc *assoc) {
    if (assoc == NULL || assoc->user == NULL)
        return;
    size_t at = by->links.n, last = (size_t) (uintptr_t) smap_get(&by->last, assoc->user);
    struct user_link link = {assoc, at};
    if (last != 0) {
        link.next = by->links.items[last - 1].next;
        by->links.items[last - 1].next = at;
    }
    vec_push(&by->links, link);
    smap_put(&by->last, assoc->user, (void *) (uintptr_t) (at + 1));
}

static void by_user_init(struct by_user *by, const struct change *change) {
    *by = (struct by_user) {.last = SMAP_INIT};
    for (size_t i = 0; i < change->book->entries[ASSOC_ASSOC].n; i++)
        by_user_add(by, change_seen(change, ASSOC_ASSOC, i));
    vec_each (&change->plan->edits, edit) {
        if (edit->kind == ASSOC_ASSOC && edit->at == SIZE_MAX)
            by_user_add(by, edit->next);
    }
}

static void by_user_done(struct by_user *by) {
    smap_done(&by->last);
    vec_done(&by->links);
}

/* The account that is to be the user's default: the one that is, else that of the first
 * association; NULL: there is none. */
static const char *default_of(const struct by_user *by, const struct acct_user *user) {
    size_t last = (size_t) (uintptr_t) smap_get(&by->last, user->name);
    if (last == 0)
        return NULL;
    size_t first = by->links.items[last - 1].next, at = first;
    do {
        if (str_equal_nocase(by->links.items[at].assoc->account, user->default_account))
            return user->default_account;
        at = by->links.items[at].next;
    } while (at != first);
    return by->links.items[first].assoc->account;
}

void change_mend_defaults(struct change *change) {
    struct by_user by;
    by_user_init(&by, change);
    for (size_t i = 0; i < change->book->entries[ASSOC_USER].n; i++) {
        const struct acct_user *user = change_seen(change, ASSOC_USER, i);
        if (user == NULL || user->default_account == NULL)
            continue;
        const char *account = default_of(&by, user);
        if (str_equal_nocase(account, user->default_account))
            continue;
        struct acct_user *next = change_edit(change, ASSOC_USER, i);
        str_printf(&change->plan->text, " Default account of user %s is now %s\n", next->name,
                   account != NULL ? account : "none");
        string_set(&next->default_account, account);
    }
    by_user_done(&by);
}

/* ---- the entry point ---- */

int assoc_plan_change(const struct assoc_book *book, const struct assoc_asker *asker,
                      const struct assoc_change *request, struct assoc_plan *ret,
                      struct error *err) {
    static int (*const by_entity[])(struct change *) = {
        [ASSOC_ENTITY_ACCOUNT] = change_account,
        [ASSOC_ENTITY_USER] = change_user,
        [ASSOC_ENTITY_QOS] = change_qos,
        [ASSOC_ENTITY_CLUSTER] = change_cluster,
        [ASSOC_ENTITY_COORDINATOR] = change_coordinator,
    };
    struct change change = {book, asker, request, ret, err, MAP_INIT};
    *ret = (struct assoc_plan) {.text = STR_INIT};
    if (request->entity >= countof(by_entity) || by_entity[request->entity] == NULL ||
        request->verb < ASSOC_VERB_ADD || request->verb > ASSOC_VERB_DELETE)
        return error_set(err, ERR_NOT_SUPPORTED, "that change is not known here");
    int r = by_entity[request->entity](&change);
    map_done(&change.edited);
    if (r < 0 || ret->edits.n == 0) {
        assoc_plan_done(ret);
        ret->text = (struct str) STR_INIT;
    }
    return r;
}
