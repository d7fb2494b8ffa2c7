/* SPDX-License-Identifier: Apache-2.0 */
/* The books of several clusters; see shared.h. */
#include "assoc/shared.h"

#include <stdlib.h>
#include <string.h>

#include "assoc/keys.h"
#include "assoc/tell.h"
#include "base/alloc.h"

/* ---- books ---- */

void shared_init(struct shared_books *books) {
    *books = (struct shared_books) {.clusters = {NULL, 0, 0}};
    assoc_book_init(&books->common, "");
}

static void cluster_free(struct shared_cluster *cluster) {
    assoc_book_done(&cluster->book);
    free(cluster->name);
    free(cluster);
}

void shared_done(struct shared_books *books) {
    vec_each (&books->clusters, at)
        cluster_free(*at);
    vec_done(&books->clusters);
    assoc_book_done(&books->common);
}

static size_t place_of(const struct shared_books *books, const char *name) {
    size_t at = 0;
    while (at < books->clusters.n && strcasecmp(books->clusters.items[at]->name, name) < 0)
        at++;
    return at;
}

struct shared_cluster *shared_find(const struct shared_books *books, const char *name) {
    size_t at = place_of(books, name);
    return at < books->clusters.n && str_equal_nocase(books->clusters.items[at]->name, name)
               ? books->clusters.items[at]
               : NULL;
}

struct shared_cluster *shared_add(struct shared_books *books, const char *name) {
    struct shared_cluster *found = shared_find(books, name);
    if (found != NULL)
        return found;
    struct shared_cluster *fresh = zalloc(struct shared_cluster);
    fresh->name = xstrdup(name);
    assoc_book_init_common(&fresh->book, fresh->name, &books->common);
    size_t at = place_of(books, name);
    vec_push(&books->clusters, fresh);
    memmove(&books->clusters.items[at + 1], &books->clusters.items[at],
            (books->clusters.n - 1 - at) * sizeof(struct shared_cluster *));
    books->clusters.items[at] = fresh;
    return fresh;
}

void shared_remove(struct shared_books *books, const char *name) {
    struct shared_cluster *cluster = shared_find(books, name);
    size_t at = place_of(books, name);
    if (cluster == NULL)
        return;
    vec_remove(&books->clusters, at);
    cluster_free(cluster);
}

void shared_restore(struct shared_books *books, const char *cluster, uint32_t kind, void *record) {
    if (cluster != NULL) {
        assoc_book_restore(&shared_add(books, cluster)->book, kind, record);
        return;
    }
    vec_each (&books->clusters, at)
        assoc_book_restore(&(*at)->book, kind, record_dup(assoc_record(kind), record));
    assoc_book_restore(&books->common, kind, record);
}

bool shared_is_untouched(const struct shared_books *books, const struct shared_cluster *cluster) {
    struct assoc_book initial;
    assoc_book_init_common(&initial, cluster->name, &books->common);
    bool untouched = assoc_is_same(&cluster->book, &initial);
    assoc_book_done(&initial);
    return untouched;
}

uint32_t shared_admin_level(const struct shared_books *books, const char *user) {
    uint32_t level = ADMIN_NONE;
    vec_each (&books->clusters, at) {
        const struct acct_user *entry = acct_user_find(&(*at)->book, user);
        level = entry != NULL ? max_of(level, (uint32_t) entry->admin_level) : level;
    }
    return level;
}

/* ---- plans ---- */

void shared_plan_done(struct shared_plan *plan) {
    assoc_plan_done(&plan->common);
    vec_each (&plan->plans, one)
        assoc_plan_done(one);
    vec_done(&plan->plans);
    str_done(&plan->text);
    strs_done(&plan->notes);
    *plan = (struct shared_plan) {.text = STR_INIT};
}

bool shared_plan_is_empty(const struct shared_plan *plan) {
    size_t n = plan->common.edits.n;
    vec_each (&plan->plans, one)
        n += one->edits.n;
    return n == 0;
}

static void plan_init(const struct shared_books *books, struct shared_plan *plan) {
    *plan = (struct shared_plan) {.text = STR_INIT};
    for (size_t i = 0; i < books->clusters.n; i++)
        *vec_add(&plan->plans) = (struct assoc_plan) {.text = STR_INIT};
}

static void note(struct shared_plan *plan, const char *text) {
    if (!strs_has(&plan->notes, text))
        strs_push(&plan->notes, text);
}

/* ---- the texts of several plans as one ---- */

/* A heading is a line with one blank before it, what belongs to it has more. */
static bool is_heading(const char *line) {
    return line[0] == ' ' && line[1] != ' ';
}

static size_t line_length(const char *at) {
    const char *end = strchr(at, '\n');
    return end != NULL ? (size_t) (end - at) + 1 : strlen(at);
}

/* Where the n-th section with this heading begins; NULL. */
static const char *section_find(const char *text, const char *heading, size_t length, size_t n) {
    for (const char *at = text; *at != '\0'; at += line_length(at)) {
        if (line_length(at) == length && memcmp(at, heading, length) == 0 && n-- == 0)
            return at;
    }
    return NULL;
}

static const char *section_end(const char *start) {
    const char *at = start + line_length(start);
    while (*at != '\0' && !is_heading(at))
        at += line_length(at);
    return at;
}

/* The lines of a section that the other one has not, behind it. */
static void section_merge(struct str *into, size_t start, const char *section, const char *end) {
    for (const char *at = section + line_length(section); at < end; at += line_length(at)) {
        const char *own_end = section_end(into->data + start);
        cleanup_free char *line = xstrndup(at, line_length(at));
        const char *same = section_find(into->data + start, line, strlen(line), 0);
        if (same != NULL && same < own_end)
            continue;
        size_t offset = (size_t) (own_end - into->data);
        cleanup_free char *rest = xstrdup(own_end);
        into->length = offset;
        into->data[offset] = '\0';
        str_append(into, line);
        str_append(into, rest);
    }
}

static void text_merge(struct str *into, const char *text) {
    if (into->length == 0) {
        str_append(into, text);
        return;
    }
    for (const char *at = text, *end; *at != '\0'; at = end) {
        size_t n = 0;
        end = section_end(at);
        for (const char *before = text; before < at; before += line_length(before))
            n += line_length(before) == line_length(at) && memcmp(before, at, line_length(at)) == 0;
        const char *same = section_find(into->data, at, line_length(at), n);
        if (same != NULL)
            section_merge(into, (size_t) (same - into->data), at, end);
        else
            str_append_bytes(into, at, (size_t) (end - at));
    }
}

/* ---- what is of all ---- */

static void texts_copy(struct strs *to, const struct strs *from) {
    strs_done(to);
    *to = (struct strs) {NULL, 0};
    for (uint32_t i = 0; i < from->n; i++)
        strs_push(to, from->items[i]);
}

static bool texts_equal(const struct strs *a, const struct strs *b) {
    for (uint32_t i = 0; a->n == b->n && i < a->n; i++) {
        if (!str_equal(a->items[i], b->items[i]))
            return false;
    }
    return a->n == b->n;
}

static bool common_equal(uint32_t kind, const void *a, const void *b) {
    const struct account *x = a, *y = b;
    return kind == ASSOC_USER ? ((const struct acct_user *) a)->admin_level ==
                                    ((const struct acct_user *) b)->admin_level
                              : str_equal(x->description, y->description) &&
                                    str_equal(x->organization, y->organization) &&
                                    texts_equal(&x->coordinators, &y->coordinators);
}

static void common_copy(uint32_t kind, void *to, const void *from) {
    if (kind == ASSOC_USER) {
        ((struct acct_user *) to)->admin_level = ((const struct acct_user *) from)->admin_level;
        return;
    }
    struct account *account = to;
    const struct account *source = from;
    string_set(&account->description, source->description);
    string_set(&account->organization, source->organization);
    texts_copy(&account->coordinators, &source->coordinators);
}

/* The edit of an entry, if the plan has one. */
static struct assoc_edit *edit_of(const struct assoc_plan *plan, uint32_t kind, size_t at) {
    vec_each (&plan->edits, edit) {
        if (edit->kind == kind && edit->at == at)
            return edit;
    }
    return NULL;
}

static size_t entry_place(const struct assoc_book *book, uint32_t kind, const void *like) {
    const void *same = assoc_entry_same(book, kind, like);
    for (size_t i = 0; same != NULL && i < book->entries[kind].n; i++) {
        if (book->entries[kind].items[i] == same)
            return i;
    }
    return SIZE_MAX;
}

/* What another cluster will have of this name; NULL: nothing, or it comes there, too. */
static const void *seen_elsewhere(const struct shared_books *books, const struct shared_plan *plan,
                                  size_t but, uint32_t kind, const void *like) {
    for (size_t i = 0; i < books->clusters.n; i++) {
        const struct assoc_book *book = &books->clusters.items[i]->book;
        size_t at = i != but ? entry_place(book, kind, like) : SIZE_MAX;
        const struct assoc_edit *edit =
            at != SIZE_MAX ? edit_of(&plan->plans.items[i], kind, at) : NULL;
        if (at != SIZE_MAX && (edit == NULL || edit->next != NULL))
            return edit != NULL ? edit->next : book->entries[kind].items[at];
    }
    return NULL;
}

/* An entry has become `next` in one cluster: so it is in the others that have it. */
static void spread(const struct shared_books *books, struct shared_plan *plan, size_t from,
                   uint32_t kind, const void *next) {
    for (size_t i = 0; i < books->clusters.n; i++) {
        const struct assoc_book *book = &books->clusters.items[i]->book;
        size_t at = i != from ? entry_place(book, kind, next) : SIZE_MAX;
        if (at == SIZE_MAX)
            continue;
        struct assoc_edit *edit = edit_of(&plan->plans.items[i], kind, at);
        const void *now = edit != NULL ? edit->next : book->entries[kind].items[at];
        if (now == NULL || common_equal(kind, now, next))
            continue;
        if (edit == NULL) {
            edit = vec_add(&plan->plans.items[i].edits);
            *edit = (struct assoc_edit) {kind, at, record_dup(assoc_record(kind), now)};
        }
        common_copy(kind, edit->next, next);
    }
}

static bool is_of_all(uint32_t kind) {
    return kind == ASSOC_ACCOUNT || kind == ASSOC_USER;
}

/* Makes what is of all the same in all books: what was changed counts, then what was there. */
static void make_common(const struct shared_books *books, struct shared_plan *plan) {
    for (size_t i = 0; i < plan->plans.n; i++) {
        for (size_t k = 0; k < plan->plans.items[i].edits.n; k++) {
            const struct assoc_edit edit = plan->plans.items[i].edits.items[k];
            const struct assoc_book *book = &books->clusters.items[i]->book;
            if (is_of_all(edit.kind) && edit.at != SIZE_MAX && edit.next != NULL &&
                !common_equal(edit.kind, book->entries[edit.kind].items[edit.at], edit.next))
                spread(books, plan, i, edit.kind, edit.next);
        }
    }
    for (size_t i = 0; i < plan->plans.n; i++) {
        vec_each (&plan->plans.items[i].edits, edit) {
            const void *elsewhere = is_of_all(edit->kind) && edit->at == SIZE_MAX
                                        ? seen_elsewhere(books, plan, i, edit->kind, edit->next)
                                        : NULL;
            if (elsewhere != NULL)
                common_copy(edit->kind, edit->next, elsewhere);
        }
    }
}

/* ---- changes ---- */

static void take_names(const struct key_value *words, uint32_t n, bool by_name, struct strs *names,
                       struct key_value *ret, uint32_t *ret_n) {
    for (uint32_t i = 0; i < n; i++) {
        const char *key = words[i].key != NULL ? words[i].key : "";
        bool bare = *key == '\0';
        if (bare ? !by_name
                 : !condition_is(key, strlen(key), "cluster", 1) &&
                       !(by_name && condition_is(key, strlen(key), "name", 1))) {
            ret[(*ret_n)++] = words[i];
            continue;
        }
        words_each (words[i].value, ",", name) {
            text_lower(name);
            if (!strs_has_nocase(names, name))
                strs_push(names, name);
        }
    }
}

void shared_named_read(const struct assoc_change *change, struct shared_named *ret) {
    bool of_cluster = change->entity == ASSOC_ENTITY_CLUSTER;
    bool adds = change->verb == ASSOC_VERB_ADD;
    *ret = (struct shared_named) {.without = *change};
    ret->without.where.items = xcalloc(change->where.n + 1, sizeof(struct key_value));
    ret->without.set.items = xcalloc(change->set.n + 1, sizeof(struct key_value));
    ret->without.where.n = ret->without.set.n = 0;
    take_names(change->where.items, change->where.n, of_cluster, &ret->clusters,
               ret->without.where.items, &ret->without.where.n);
    for (uint32_t i = 0; !adds && i < change->set.n; i++)
        ret->without.set.items[ret->without.set.n++] = change->set.items[i];
    if (adds)
        take_names(change->set.items, change->set.n, of_cluster, &ret->clusters,
                   ret->without.set.items, &ret->without.set.n);
}

void shared_named_done(struct shared_named *named) {
    strs_done(&named->clusters);
    free(named->without.where.items);
    free(named->without.set.items);
}

static int no_cluster(const struct shared_books *books, const char *name, struct error *err) {
    struct str names cleanup_str = STR_INIT;
    vec_each (&books->clusters, at)
        str_join(&names, ", ", (*at)->name);
    return error_set(err, ERR_NOT_FOUND, " This cluster '%s' doesn't exist.\n        There %s%s.",
                     name, names.length > 0 ? "is " : "is none yet: add it, or start its slurmctld",
                     str_cstr(&names));
}

static int check_named(const struct shared_books *books, const struct shared_named *named,
                       const struct assoc_change *change, struct error *err) {
    for (uint32_t i = 0; i < named->clusters.n; i++) {
        if (shared_find(books, named->clusters.items[i]) == NULL)
            return no_cluster(books, named->clusters.items[i], err);
    }
    if (change->entity == ASSOC_ENTITY_QOS && named->clusters.n > 0)
        return error_set(err, ERR_INVALID, " A QOS is of all clusters: cluster=%s is not for it.",
                         named->clusters.items[0]);
    if (books->clusters.n == 0 && change->entity != ASSOC_ENTITY_QOS)
        return error_set(err, ERR_NOT_FOUND,
                         " There is no cluster yet: add one with \"sacctmgr add cluster NAME\", or "
                         "start its slurmctld.");
    return 0;
}

struct asks {
    const struct shared_books *books;
    struct assoc_asker asker;
    const struct shared_named *named;
    const struct assoc_change *change;
    struct shared_plan *plan;
};

static int plan_one(const struct asks *asks, const struct assoc_book *book, struct assoc_plan *ret,
                    struct error *err) {
    int r = assoc_plan_change(book, &asks->asker, &asks->named->without, ret, err);
    for (uint32_t i = 0; r == 0 && i < ret->notes.n; i++)
        note(asks->plan, ret->notes.items[i]);
    if (r == 0)
        text_merge(&asks->plan->text, str_cstr(&ret->text));
    return r;
}

static void note_skipped(const struct asks *asks, const char *cluster, const struct error *why) {
    const char *first = why->text + strspn(why->text, " ");
    cleanup_free char *text =
        xasprintf("cluster %s is left out: %.*s", cluster, (int) strcspn(first, "\n"), first);
    note(asks->plan, text);
}

/* A change of clusters that are named is made in all of them, one of all where it can be. */
static int plan_clusters(const struct asks *asks, struct error *err) {
    const struct strs *named = &asks->named->clusters;
    struct error first = ERROR_INIT;
    struct shared_plan skipped = {.text = STR_INIT};
    struct asks notes = *asks;
    int result = 0;
    size_t n_planned = 0;
    notes.plan = &skipped;
    for (size_t i = 0; i < asks->books->clusters.n; i++) {
        const struct shared_cluster *cluster = asks->books->clusters.items[i];
        struct error why = ERROR_INIT;
        if (named->n > 0 && !strs_has_nocase(named, cluster->name))
            continue;
        int r = plan_one(asks, &cluster->book, &asks->plan->plans.items[i], &why);
        n_planned += r == 0;
        if (r < 0 && result == 0) {
            result = r;
            first = why;
        }
        if (r < 0)
            note_skipped(&notes, cluster->name, &why);
    }
    if (result < 0 && n_planned > 0 && named->n == 0 && !shared_plan_is_empty(asks->plan)) {
        for (uint32_t i = 0; i < skipped.notes.n; i++)
            note(asks->plan, skipped.notes.items[i]);
        result = 0;
    } else if (result < 0) {
        *err = first;
    }
    shared_plan_done(&skipped);
    return result;
}

int shared_plan_change(const struct shared_books *books, const char *asker, bool is_root,
                       const struct assoc_change *change, struct shared_plan *ret,
                       struct error *err) {
    struct shared_named named;
    bool rules = is_root || shared_admin_level(books, asker) == ADMIN_ADMINISTRATOR;
    struct asks asks = {books, {asker, rules}, &named, change, ret};
    plan_init(books, ret);
    shared_named_read(change, &named);
    int r = check_named(books, &named, change, err);
    if (r == 0 && change->entity == ASSOC_ENTITY_QOS)
        r = plan_one(&asks, &books->common, &ret->common, err);
    if (r == 0)
        r = plan_clusters(&asks, err);
    if (r == 0)
        make_common(books, ret);
    shared_named_done(&named);
    if (r < 0)
        shared_plan_done(ret);
    return r;
}

/* ---- files ---- */

/* The QOS of a plan for one cluster become those of all. */
static void spread_qos(const struct shared_books *books, struct shared_plan *plan, size_t from) {
    const struct assoc_book *source = &books->clusters.items[from]->book;
    vec_each (&plan->plans.items[from].edits, edit) {
        if (edit->kind != ASSOC_QOS)
            continue;
        const void *like =
            edit->next != NULL ? edit->next : source->entries[ASSOC_QOS].items[edit->at];
        for (size_t i = 0; i <= books->clusters.n; i++) {
            bool common = i == books->clusters.n;
            if (i == from)
                continue;
            const struct assoc_book *book =
                common ? &books->common : &books->clusters.items[i]->book;
            struct assoc_plan *to = common ? &plan->common : &plan->plans.items[i];
            struct assoc_edit *fresh = vec_add(&to->edits);
            *fresh = (struct assoc_edit) {ASSOC_QOS, entry_place(book, ASSOC_QOS, like),
                                          edit->next != NULL ? record_dup(&record_qos, edit->next)
                                                             : NULL};
        }
    }
}

int shared_plan_load(const struct shared_books *books, const char *asker, bool is_root,
                     const struct assoc_load *load, struct shared_plan *ret,
                     struct assoc_list *ret_added, struct error *err) {
    struct str named cleanup_str = STR_INIT;
    bool rules = is_root || shared_admin_level(books, asker) == ADMIN_ADMINISTRATOR;
    struct assoc_asker who = {asker, rules};
    const char *name = load->cluster;
    if (name == NULL && assoc_file_cluster(load->text, &named))
        name = str_cstr(&named);
    const struct shared_cluster *cluster = name != NULL ? shared_find(books, name) : NULL;
    if (name == NULL)
        return error_set(err, ERR_INVALID,
                         " You need to specify a cluster name first with 'Cluster - $NAME' in your "
                         "file");
    if (cluster == NULL)
        return no_cluster(books, name, err);
    plan_init(books, ret);
    size_t at = place_of(books, name);
    struct assoc_plan *plan = &ret->plans.items[at];
    int r = assoc_plan_load(&cluster->book, &who, load, plan, ret_added, err);
    if (r < 0) {
        shared_plan_done(ret);
        return r;
    }
    str_append(&ret->text, str_cstr(&plan->text));
    for (uint32_t i = 0; i < plan->notes.n; i++)
        note(ret, plan->notes.items[i]);
    spread_qos(books, ret, at);
    make_common(books, ret);
    return 0;
}

/* ---- taking over ---- */

static void note_different(struct shared_plan *plan, uint32_t kind, const void *own,
                           const void *stays) {
    struct str changes cleanup_str = STR_INIT;
    assoc_tell_changes(kind, own, stays, &changes);
    words_each (str_cstr(&changes), "\n", line)
        note(plan, line + strspn(line, " "));
}

static uint32_t qos_free_id(const struct shared_books *books, uint32_t wanted, uint32_t *last) {
    bool taken = wanted == 0;
    vec_each (&books->common.entries[ASSOC_QOS], entry) {
        const struct qos *qos = *entry;
        taken |= qos->id == wanted;
        *last = max_of(*last, qos->id);
    }
    return taken ? ++*last : wanted;
}

/* As every book begins with it. */
static bool qos_is_initial(const struct qos *qos) {
    struct assoc_book empty;
    assoc_book_init(&empty, "");
    const struct qos *normal = book_qos_find(&empty, qos->name);
    bool is = normal != NULL && record_equal(&record_qos, normal, qos);
    assoc_book_done(&empty);
    return is;
}

static void take_qos(const struct shared_books *books, const struct assoc_list *own,
                     struct shared_plan *plan) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < own->qos.n; i++)
        last = max_of(last, own->qos.items[i].id);
    for (uint32_t i = 0; i < own->qos.n; i++) {
        const struct qos *qos = &own->qos.items[i];
        const struct qos *now = book_qos_find(&books->common, qos->name);
        if (now != NULL && (books->clusters.n > 1 || !qos_is_initial(now))) {
            note_different(plan, ASSOC_QOS, qos, now);
            continue;
        }
        uint32_t id = now != NULL ? now->id : qos_free_id(books, qos->id, &last);
        for (size_t k = 0; k <= books->clusters.n; k++) {
            bool common = k == books->clusters.n;
            const struct assoc_book *book =
                common ? &books->common : &books->clusters.items[k]->book;
            struct qos *next = record_dup(&record_qos, qos);
            next->id = id;
            struct assoc_edit *edit =
                vec_add(common ? &plan->common.edits : &plan->plans.items[k].edits);
            *edit = (struct assoc_edit) {ASSOC_QOS, entry_place(book, ASSOC_QOS, qos), next};
        }
    }
}

/* An account or a user: as others have it, if they do. */
static void take_entry(const struct shared_books *books, size_t at, uint32_t kind, const void *own,
                       struct shared_plan *plan) {
    const struct assoc_book *book = &books->clusters.items[at]->book;
    const void *elsewhere = seen_elsewhere(books, plan, at, kind, own);
    void *next = record_dup(assoc_record(kind), own);
    struct acct_user *user = kind == ASSOC_USER ? next : NULL;
    if (elsewhere != NULL) {
        if (!common_equal(kind, own, elsewhere))
            note_different(plan, kind, own, elsewhere);
        common_copy(kind, next, elsewhere);
    } else if (user != NULL && books->clusters.n > 1 && user->admin_level != ADMIN_NONE) {
        cleanup_free char *text = xasprintf(
            "user %s was %s of the cluster alone, and is none of all: sacctmgr modify user %s set "
            "adminlevel=%s makes it so",
            user->name, user->admin_level == ADMIN_OPERATOR ? "Operator" : "Administrator",
            user->name, user->admin_level == ADMIN_OPERATOR ? "Operator" : "Administrator");
        note(plan, text);
        user->admin_level = ADMIN_NONE;
    }
    struct assoc_edit *edit = vec_add(&plan->plans.items[at].edits);
    *edit = (struct assoc_edit) {kind, entry_place(book, kind, own), next};
}

void shared_plan_take(const struct shared_books *books, const char *cluster,
                      const struct assoc_list *own, struct shared_plan *plan) {
    size_t at = place_of(books, cluster);
    const struct assoc_book *book = &books->clusters.items[at]->book;
    plan_init(books, plan);
    take_qos(books, own, plan);
    for (uint32_t i = 0; i < own->accounts.n; i++)
        take_entry(books, at, ASSOC_ACCOUNT, &own->accounts.items[i], plan);
    for (uint32_t i = 0; i < own->users.n; i++)
        take_entry(books, at, ASSOC_USER, &own->users.items[i], plan);
    for (uint32_t i = 0; i < own->assocs.n; i++) {
        struct assoc_edit *edit = vec_add(&plan->plans.items[at].edits);
        const struct assoc *assoc = &own->assocs.items[i];
        *edit = (struct assoc_edit) {ASSOC_ASSOC, entry_place(book, ASSOC_ASSOC, assoc),
                                     record_dup(&record_assoc, assoc)};
    }
}

/* ---- carrying it out ---- */

struct telling {
    const char *cluster;
    void (*on_edit)(void *context, const char *cluster, uint32_t kind, const void *old,
                    const void *next);
    void *context;
};

static void tell_edit(void *context, uint32_t kind, const void *old, const void *next) {
    const struct telling *telling = context;
    bool of_all = kind == ASSOC_QOS;
    if (telling->on_edit != NULL && of_all == (telling->cluster == NULL))
        telling->on_edit(telling->context, telling->cluster, kind, old, next);
}

void shared_apply(struct shared_books *books, struct shared_plan *plan,
                  void (*on_edit)(void *context, const char *cluster, uint32_t kind,
                                  const void *old, const void *next),
                  void *context) {
    struct telling telling = {NULL, on_edit, context};
    assoc_apply(&books->common, &plan->common, tell_edit, &telling);
    for (size_t i = 0; i < plan->plans.n; i++) {
        telling.cluster = books->clusters.items[i]->name;
        assoc_apply(&books->clusters.items[i]->book, &plan->plans.items[i], tell_edit, &telling);
    }
}
