/* SPDX-License-Identifier: Apache-2.0 */
/* Qualities of service: adding, changing, deleting. */
#include <stdlib.h>
#include <string.h>

#include "assoc/change.h"

static const struct change_condition conditions[] = {{"name", 1}, {"qos", 1}, {"id", 1}};

static int check_admin(const struct change *change) {
    if (asker_is_admin(change->book, change->asker))
        return 0;
    return error_set(change->err, ERR_ACCESS_DENIED,
                     "only administrators may change QOS, and %s is none", change->asker->name);
}

/* A preempts B preempts A would never come to rest. Goes down from one QOS; depth bounds it. */
static bool reaches(const struct change *change, const struct qos *from, const char *name,
                    size_t depth) {
    if (depth == 0)
        return true;
    words_each (from->preempt, ",", word) {
        if (str_equal_nocase(word, name))
            return true;
        for (size_t i = 0; i < change->book->entries[ASSOC_QOS].n; i++) {
            const struct qos *next = change_seen(change, ASSOC_QOS, i);
            if (next != NULL && str_equal_nocase(next->name, word) &&
                reaches(change, next, name, depth - 1))
                return true;
        }
    }
    return false;
}

static int check_loops(struct change *change) {
    vec_each (&change->plan->edits, edit) {
        const struct qos *qos = edit->next;
        if (edit->kind == ASSOC_QOS && qos != NULL &&
            reaches(change, qos, qos->name, change->book->entries[ASSOC_QOS].n + 1))
            return error_set(change->err, ERR_INVALID,
                             " QOS Preemption loop detected: %s would preempt itself, over %s",
                             qos->name, qos->preempt);
    }
    return 0;
}

static int name_is_valid(const struct change *change, const char *name) {
    if (str_is_printable_utf8(name) && strpbrk(name, ",|'\"\\=+-") == NULL)
        return 0;
    return error_set(change->err, ERR_INVALID,
                     " Bad name '%s': it is to be without commas, quotes, signs and |", name);
}

static int add(struct change *change, uint32_t kinds) {
    struct strs names cleanup_strs = change_values(change, "name", 1, true);
    struct str *text = &change->plan->text;
    struct qos template;
    if (names.n == 0)
        return error_set(change->err, ERR_INVALID, " Need name of qos to add.");
    record_init(&record_qos, &template);
    int r = change_apply_sets(change, KEY_QOS, ASSOC_QOS, &template);
    str_append(text, " Adding QOS(s)\n");
    for (uint32_t i = 0; r == 0 && i < names.n; i++) {
        r = name_is_valid(change, names.items[i]);
        if (r < 0 || book_qos_find(change->book, names.items[i]) != NULL)
            continue;
        struct qos *qos = record_dup(&record_qos, &template);
        string_set(&qos->name, names.items[i]);
        if (qos->description == NULL)
            string_set(&qos->description, names.items[i]);
        qos->id = change_next_id(change, ASSOC_QOS);
        change_add(change, ASSOC_QOS, qos);
        str_printf(text, "  %s\n", names.items[i]);
    }
    str_append(text, " Settings\n");
    if (template.description == NULL && names.n > 0)
        str_printf(text, "  %-14s = %s\n", "Description", names.items[names.n - 1]);
    change_settings(change, KEY_QOS, ASSOC_QOS, &template, 24);
    record_done(&record_qos, &template);
    return r < 0 ? r : check_loops(change);
}

static bool matches(const struct qos *qos, const struct strs *names, const struct strs *ids) {
    cleanup_free char *id = xasprintf("%u", qos->id);
    bool named = names->n == 0;
    for (uint32_t i = 0; i < names->n; i++)
        named |= str_equal_nocase(names->items[i], qos->name);
    return named && strs_pass(ids, id);
}

static int each_match(struct change *change, int (*act)(struct change *, size_t at)) {
    struct strs names cleanup_strs = change_values(change, "name", 1, true);
    struct strs more cleanup_strs = change_values(change, "qos", 1, false);
    struct strs ids cleanup_strs = change_values(change, "id", 1, false);
    int r = 0;
    for (size_t i = 0; r == 0 && i < change->book->entries[ASSOC_QOS].n; i++) {
        const struct qos *qos = change->book->entries[ASSOC_QOS].items[i];
        if (matches(qos, &names, &ids) && matches(qos, &more, &ids))
            r = act(change, i);
    }
    return r;
}

static int modify_one(struct change *change, size_t at) {
    struct qos *next = change_edit(change, ASSOC_QOS, at);
    str_printf(&change->plan->text, "  %s\n", next->name);
    return change_apply_sets(change, KEY_QOS, ASSOC_QOS, next);
}

static int delete_one(struct change *change, size_t at) {
    const struct qos *qos = change->book->entries[ASSOC_QOS].items[at];
    if (str_equal(qos->name, QOS_NORMAL))
        return error_set(change->err, ERR_INVALID,
                         " QOS %s is what jobs get that name none, it stays.", qos->name);
    str_printf(&change->plan->text, "  %s\n", qos->name);
    change_remove(change, ASSOC_QOS, at);
    change_forget_qos(change, qos->name);
    return 0;
}

static char *list_without_word(const char *list, const char *unwanted) {
    struct str out = STR_INIT;
    words_each (list, ",", word) {
        if (!str_equal_nocase(word, unwanted))
            str_join(&out, ",", word);
    }
    char *text = out.length > 0 ? str_take(&out) : NULL;
    str_done(&out);
    return text;
}

void change_forget_qos(struct change *change, const char *name) {
    for (size_t i = 0; i < change->book->entries[ASSOC_QOS].n; i++) {
        const struct qos *qos = change_seen(change, ASSOC_QOS, i);
        if (qos == NULL || !str_has_word_nocase(qos->preempt, name, ","))
            continue;
        cleanup_free char *rest = list_without_word(qos->preempt, name);
        string_set(&((struct qos *) change_edit(change, ASSOC_QOS, i))->preempt, rest);
    }
    for (size_t i = 0; i < change->book->entries[ASSOC_ASSOC].n; i++) {
        const struct assoc *assoc = change_seen(change, ASSOC_ASSOC, i);
        bool is_default = assoc != NULL && str_equal_nocase(assoc->default_qos, name);
        if (assoc == NULL || (!is_default && !str_has_word_nocase(assoc->qos, name, ",")))
            continue;
        cleanup_free char *rest = list_without_word(assoc->qos, name);
        struct assoc *next = change_edit(change, ASSOC_ASSOC, i);
        string_set(&next->qos, rest);
        if (is_default)
            string_set(&next->default_qos, NULL);
    }
}

int change_qos(struct change *change) {
    uint32_t kinds = 0;
    int r = check_admin(change);
    if (r == 0)
        r = change_check_conditions(change, conditions, countof(conditions));
    if (r == 0 && change->request->verb != ASSOC_VERB_DELETE)
        r = change_check_sets(change, KEY_QOS, conditions, 1, &kinds);
    if (r < 0)
        return r;
    if (change->request->verb == ASSOC_VERB_ADD)
        return add(change, kinds);
    if (change->request->verb == ASSOC_VERB_DELETE) {
        if (change->request->where.n == 0)
            return error_set(change->err, ERR_INVALID,
                             " No conditions given to remove, not executing.");
        str_append(&change->plan->text, " Deleting QOS(s)...\n");
        return each_match(change, delete_one);
    }
    str_append(&change->plan->text, " Modified qos...\n");
    r = each_match(change, modify_one);
    return r < 0 ? r : check_loops(change);
}
