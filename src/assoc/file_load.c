/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file read into changes: each line is a change of its own, in sacctmgr's words and with all its
 * checks, on a copy of the book; what is planned is the difference between copy and book. So a file
 * is carried out as a whole or not at all.
 *
 * Names that may come later in the file are looked at late: the QOS first get their names, then
 * their options, which may name each other; default accounts and coordinators are set at the end.
 */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "assoc/file.h"
#include "assoc/keys.h"
#include "assoc/tell.h"
#include "base/alloc.h"

/* ---- lines ---- */

struct option {
    char *key, *value; /* owned by the line's text */
};
struct line {
    unsigned number;
    char *text; /* owned; the others lie in it */
    char *kind, *name;
    vec(struct option) options;
};

static void line_done(struct line *line) {
    free(line->text);
    vec_done(&line->options);
}

/* Takes a value from *at up to `ends`, in place: quotes go, doubled ones become one. */
static char *take_value(char **at, const char *ends) {
    char *start = *at, *out = start, *in = start;
    char quote = *in == '\'' || *in == '"' ? *in++ : '\0';
    while (*in != '\0' && (quote != '\0' || strchr(ends, *in) == NULL)) {
        if (quote != '\0' && *in == quote && *++in != quote) {
            quote = '\0';
            continue;
        }
        *out++ = *in++;
    }
    if (*in == '\0' && quote != '\0')
        return NULL; /* never closed */
    *at = in;
    char *end = out;
    while (end > start && quote == '\0' && isspace((unsigned char) end[-1]) && start[0] != '\'')
        end--;
    char stop = *in;
    *at = in + (stop != '\0');
    *end = '\0';
    return start;
}

static int bad_line(const struct line *line, const char *what, struct error *err) {
    return error_set(err, ERR_INVALID, " line(%u) %s: Kind - 'name':Key=value is meant",
                     line->number, what);
}

/* "User - 'alice':Fairshare=2:QOS='a,b'" */
static int line_parse(struct line *line, struct error *err) {
    char *at = line->text;
    line->kind = at;
    at += strcspn(at, " \t-");
    char *dash = strchr(at, '-');
    if (dash == NULL || strspn(at, " \t") != (size_t) (dash - at))
        return bad_line(line, "Misformatted line", err);
    *at = '\0';
    at = dash + 1;
    at += strspn(at, " \t");
    if ((line->name = take_value(&at, ":")) == NULL)
        return bad_line(line, "A quote is never closed", err);
    while (*at != '\0') {
        struct option option = {.key = at};
        char *equals = at + strcspn(at, "=:");
        if (*equals != '=')
            return bad_line(line, "An option has no value", err);
        *equals = '\0';
        at = equals + 1;
        if ((option.value = take_value(&at, ":")) == NULL)
            return bad_line(line, "A quote is never closed", err);
        vec_push(&line->options, option);
    }
    return 0;
}

struct lines {
    vec(struct line) all;
};

static int lines_read(const char *text, struct lines *lines, struct error *err) {
    unsigned number = 0;
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, "\n"), blank = strspn(at, " \t\r");
        const char *start = at + min_of(blank, length);
        size_t rest = length - (size_t) (start - at);
        at += length + (at[length] == '\n');
        while (rest > 0 && isspace((unsigned char) start[rest - 1]))
            rest--;
        number++;
        if (rest == 0 || *start == '#')
            continue;
        if (number > ASSOC_FILE_LINES_MAX)
            return error_set(err, ERR_LIMIT, " A file has at most %d lines", ASSOC_FILE_LINES_MAX);
        struct line *line = vec_add(&lines->all);
        *line = (struct line) {.number = number, .text = xstrndup(start, rest)};
        int r = line_parse(line, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static void lines_free(struct lines *lines) {
    vec_each (&lines->all, line)
        line_done(line);
    vec_done(&lines->all);
}

static bool kind_is(const struct line *line, const char *kind) {
    return str_equal_nocase(line->kind, kind);
}

bool assoc_file_cluster(const char *text, struct str *ret) {
    struct lines lines = {0};
    struct error err = ERROR_INIT;
    (void) lines_read(text, &lines, &err); /* as far as it can be read */
    bool found = false;
    vec_each (&lines.all, line) {
        if (!found && line->kind != NULL && line->name != NULL && kind_is(line, "Cluster")) {
            str_append(ret, line->name);
            found = true;
        }
    }
    lines_free(&lines);
    return found;
}

/* ---- changes on the copy ---- */

struct late {
    const struct line *line;
    const char *user, *default_account, *coordinates;
};
struct load {
    struct assoc_book copy;
    struct assoc_plan *plan;
    struct error *err;
    const struct line *line;
    const char *parent; /* borrowed from a line */
    bool has_cluster;
    vec(struct late) late;
};
struct words {
    struct key_value items[64];
    uint32_t n;
};

static void word(struct words *words, const char *key, const char *value) {
    assert(words->n < countof(words->items));
    struct key_value *item = &words->items[words->n++];
    item->key = (char *) (uintptr_t) key;
    item->value = (char *) (uintptr_t) value;
}

static int change(struct load *load, uint32_t verb, uint32_t entity, const struct words *where,
                  const struct words *set) {
    static const struct assoc_asker root = {.name = "root", .is_root = true};
    struct assoc_change request = {.verb = verb, .entity = entity, .commit = true};
    struct assoc_plan plan;
    request.where.items = where != NULL ? (struct key_value *) (uintptr_t) where->items : NULL;
    request.where.n = where != NULL ? where->n : 0;
    request.set.items = (struct key_value *) (uintptr_t) set->items;
    request.set.n = set->n;
    int r = assoc_plan_change(&load->copy, &root, &request, &plan, load->err);
    if (r < 0) {
        if (load->line != NULL) {
            cleanup_free char *what = xstrdup(load->err->text);
            error_set(load->err, (enum err) - r, "%s\n Problem with line(%u)", what,
                      load->line->number);
        }
        return r;
    }
    assoc_apply(&load->copy, &plan, NULL, NULL);
    for (uint32_t i = 0; i < plan.notes.n; i++) {
        if (!strs_has(&load->plan->notes, plan.notes.items[i]))
            strs_push(&load->plan->notes, plan.notes.items[i]);
    }
    assoc_plan_done(&plan);
    return 0;
}

/* An option that says what is so already changes nothing, and is told as nothing. */
static bool is_so(const struct assoc_key *key, const void *record, const char *value) {
    struct str now cleanup_str = STR_INIT, said cleanup_str = STR_INIT;
    if (record == NULL || !assoc_key_in_file(key, record, &now))
        return false;
    assoc_quote(value, &said);
    return str_equal(now.data, value) || str_equal(now.data, said.data);
}

static int unknown_option(struct load *load, const struct option *option) {
    return error_set(load->err, ERR_INVALID, " Unknown option: %s=%s\n Problem with line(%u)",
                     option->key, option->value, load->line->number);
}

/* Options as settings of one kind of entry; `record` is what it is now, or NULL. */
static int settings(struct load *load, uint8_t of, uint32_t kind, const void *record,
                    struct words *set) {
    vec_each (&load->line->options, option) {
        const struct assoc_key *key = assoc_key_find(option->key, of);
        if (key == NULL || key->kind != kind || is_so(key, record, option->value))
            continue;
        if (set->n + 4 > countof(set->items))
            return error_set(load->err, ERR_LIMIT, " line(%u) has too many options",
                             load->line->number);
        word(set, option->key, option->value);
    }
    return 0;
}

static int check_options(struct load *load, uint8_t of, const char *const *others) {
    vec_each (&load->line->options, option) {
        bool known = assoc_key_find(option->key, of) != NULL;
        for (size_t i = 0; !known && others != NULL && others[i] != NULL; i++)
            known = str_equal_nocase(option->key, others[i]);
        if (!known)
            return unknown_option(load, option);
    }
    return 0;
}

static const char *option_value(const struct line *line, const char *name) {
    vec_each (&line->options, option) {
        if (str_equal_nocase(option->key, name))
            return option->value;
    }
    return NULL;
}

/* ---- one line ---- */

static int load_qos_name(struct load *load) {
    struct words set = {.n = 0};
    if (book_qos_find(&load->copy, load->line->name) != NULL)
        return 0;
    word(&set, "", load->line->name);
    return change(load, ASSOC_VERB_ADD, ASSOC_ENTITY_QOS, NULL, &set);
}

static int load_qos(struct load *load) {
    struct words where = {.n = 0}, set = {.n = 0};
    const struct qos *now = book_qos_find(&load->copy, load->line->name);
    word(&where, "name", load->line->name);
    int r = check_options(load, KEY_QOS, NULL);
    if (r == 0)
        r = settings(load, KEY_QOS, ASSOC_QOS, now, &set);
    return r < 0 || set.n == 0 ? r
                               : change(load, ASSOC_VERB_MODIFY, ASSOC_ENTITY_QOS, &where, &set);
}

static int load_cluster(struct load *load) {
    struct words where = {.n = 0}, set = {.n = 0};
    static const char *const ignored[] = {"Classification", NULL};
    const struct assoc *root = assoc_find(&load->copy, ROOT_ACCOUNT, NULL, NULL);
    load->has_cluster = true;
    const char *qos = option_value(load->line, "QOS");
    int r = check_options(load, KEY_CLUSTER, ignored);
    if (r == 0)
        r = settings(load, KEY_CLUSTER, ASSOC_ASSOC, root, &set);
    if (r == 0 && set.n == 1 && str_equal(qos, QOS_NORMAL) && root != NULL && root->qos == NULL)
        return 0; /* as if unset */
    word(&where, "name", load->copy.cluster);
    return r < 0 || set.n == 0
               ? r
               : change(load, ASSOC_VERB_MODIFY, ASSOC_ENTITY_CLUSTER, &where, &set);
}

static int load_parent(struct load *load) {
    if (assoc_find(&load->copy, load->line->name, NULL, NULL) == NULL)
        return error_set(load->err, ERR_INVALID,
                         " line(%u) You need to add this parent (%s) as a child before you can add "
                         "children to it.",
                         load->line->number, load->line->name);
    load->parent = load->line->name;
    return 0;
}

static int load_account(struct load *load) {
    struct words where = {.n = 0}, set = {.n = 0};
    const char *name = load->line->name;
    const struct assoc *own = assoc_find(&load->copy, name, NULL, NULL);
    int r = check_options(load, KEY_ACCOUNT, NULL);
    if (own == NULL) {
        word(&set, "name", name);
        word(&set, "parent", load->parent);
    } else {
        word(&where, "name", name);
        if (own->parent != NULL && !str_equal_nocase(own->parent, load->parent))
            word(&set, "parent", load->parent);
    }
    if (r == 0)
        r = settings(load, KEY_ACCOUNT, ASSOC_ACCOUNT, account_find(&load->copy, name), &set);
    if (r == 0)
        r = settings(load, KEY_ACCOUNT, ASSOC_ASSOC, own, &set);
    if (r < 0 || set.n == 0)
        return r;
    return change(load, own == NULL ? ASSOC_VERB_ADD : ASSOC_VERB_MODIFY, ASSOC_ENTITY_ACCOUNT,
                  &where, &set);
}

static void remember_late(struct load *load) {
    struct late late = {.line = load->line,
                        .user = load->line->name,
                        .default_account = option_value(load->line, "DefaultAccount"),
                        .coordinates = option_value(load->line, "Coordinator")};
    if (late.default_account != NULL || late.coordinates != NULL)
        vec_push(&load->late, late);
}

static int load_assoc_of_user(struct load *load) {
    struct words where = {.n = 0}, set = {.n = 0};
    const char *name = load->line->name, *partition = option_value(load->line, "Partition");
    const struct assoc *own = assoc_find(&load->copy, load->parent, name, partition);
    struct words *keys = own == NULL ? &set : &where;
    word(keys, "name", name);
    word(keys, "account", load->parent);
    if (partition != NULL)
        word(keys, "partition", partition);
    uint32_t before = set.n;
    int r = settings(load, KEY_USER, ASSOC_ASSOC, own, &set);
    if (r < 0 || (own != NULL && set.n == before))
        return r;
    return change(load, own == NULL ? ASSOC_VERB_ADD : ASSOC_VERB_MODIFY, ASSOC_ENTITY_USER, &where,
                  &set);
}

static int load_user(struct load *load) {
    static const char *const others[] = {"Partition", "Coordinator", NULL};
    struct words where = {.n = 0}, all = {.n = 0}, set = {.n = 0};
    int r = check_options(load, KEY_USER, others);
    if (r == 0)
        r = load_assoc_of_user(load);
    if (r == 0)
        r = settings(load, KEY_USER, ASSOC_USER, acct_user_find(&load->copy, load->line->name),
                     &all);
    for (uint32_t i = 0; i < all.n; i++) {
        const struct assoc_key *key = assoc_key_find(all.items[i].key, KEY_USER);
        if (!str_equal(key->member, "default_account"))
            word(&set, all.items[i].key, all.items[i].value);
    }
    word(&where, "name", load->line->name);
    if (r == 0 && set.n > 0)
        r = change(load, ASSOC_VERB_MODIFY, ASSOC_ENTITY_USER, &where, &set);
    if (r == 0)
        remember_late(load);
    return r;
}

static int load_late(struct load *load, const struct late *late) {
    struct words where = {.n = 0}, set = {.n = 0}, coordinator = {.n = 0};
    const struct acct_user *user = acct_user_find(&load->copy, late->user);
    load->line = late->line;
    int r = 0;
    if (late->default_account != NULL && user != NULL &&
        !str_equal_nocase(user->default_account, late->default_account)) {
        word(&where, "name", late->user);
        word(&set, "DefaultAccount", late->default_account);
        r = change(load, ASSOC_VERB_MODIFY, ASSOC_ENTITY_USER, &where, &set);
    }
    if (r == 0 && late->coordinates != NULL) {
        word(&coordinator, "account", late->coordinates);
        word(&coordinator, "name", late->user);
        r = change(load, ASSOC_VERB_ADD, ASSOC_ENTITY_COORDINATOR, NULL, &coordinator);
    }
    return r;
}

/* Lines that count among the others, in their order. */
static int load_line(struct load *load) {
    static const struct {
        const char *kind;
        int (*fn)(struct load *load);
        bool before_cluster;
    } rows[] = {{"QOS", load_qos, true},          {"Cluster", load_cluster, true},
                {"Parent", load_parent, false},   {"Account", load_account, false},
                {"Project", load_account, false}, {"User", load_user, false}};
    for (size_t i = 0; i < countof(rows); i++) {
        if (!kind_is(load->line, rows[i].kind))
            continue;
        if (!rows[i].before_cluster && !load->has_cluster)
            return error_set(load->err, ERR_INVALID,
                             " You need to specify a cluster name first with 'Cluster - $NAME' in "
                             "your file");
        return rows[i].fn(load);
    }
    return error_set(load->err, ERR_INVALID,
                     " line(%u) Unknown kind %s: it is one of QOS, Cluster, Parent, Account, User",
                     load->line->number, load->line->kind);
}

/* ---- the whole ---- */

/* Without all accounts but root. Users and their levels stay, and so do the QOS. */
static int copy_clean(struct load *load, const struct assoc_book *book) {
    struct words none = {.n = 0}, where = {.n = 0};
    struct str names cleanup_str = STR_INIT;
    vec_each (&book->entries[ASSOC_ASSOC], entry) {
        const struct assoc *assoc = *entry;
        if (assoc->user == NULL && str_equal(assoc->parent, ROOT_ACCOUNT))
            str_join(&names, ",", assoc->account);
    }
    if (names.length == 0)
        return 0;
    word(&where, "name", str_cstr(&names));
    return change(load, ASSOC_VERB_DELETE, ASSOC_ENTITY_ACCOUNT, &where, &none);
}

static int check_cluster(const struct assoc_book *book, const struct assoc_load *load,
                         struct error *err) {
    struct str named cleanup_str = STR_INIT;
    if (!assoc_file_cluster(load->text, &named) && load->cluster == NULL)
        return error_set(err, ERR_INVALID,
                         " You need to specify a cluster name first with 'Cluster - $NAME' in your "
                         "file");
    const char *cluster = load->cluster != NULL ? load->cluster : named.data;
    if (str_equal_nocase(cluster, book->cluster))
        return 0;
    return error_set(err, ERR_INVALID,
                     " This file is for cluster '%s', and this is cluster '%s': give "
                     "cluster=%s to load it here all the same.",
                     cluster, book->cluster, book->cluster);
}

static int load_lines(struct load *load, const struct lines *lines) {
    int r = 0;
    vec_each (&lines->all, line) {
        load->line = line;
        if (r == 0 && kind_is(line, "QOS"))
            r = load_qos_name(load);
    }
    vec_each (&lines->all, line) {
        load->line = line;
        if (r == 0)
            r = load_line(load);
    }
    vec_each (&load->late, late) {
        if (r == 0)
            r = load_late(load, late);
    }
    return r;
}

static bool is_new(const struct assoc_edit *edit) {
    return edit->at == SIZE_MAX;
}

/* Arrays of what comes; records are copies. */
static void fill_added(const struct assoc_book *book, const struct assoc_plan *plan,
                       struct assoc_list *added) {
    struct assoc_list counts = {.cluster = NULL};
    vec_each (&plan->edits, edit) {
        counts.accounts.n += is_new(edit) && edit->kind == ASSOC_ACCOUNT;
        counts.users.n += is_new(edit) && edit->kind == ASSOC_USER;
        counts.assocs.n += is_new(edit) && edit->kind == ASSOC_ASSOC;
        counts.qos.n += is_new(edit) && edit->kind == ASSOC_QOS;
    }
    record_init(&record_assoc_list, added);
    string_set(&added->cluster, book->cluster);
    added->accounts.items = xcalloc(counts.accounts.n + 1, sizeof(struct account));
    added->users.items = xcalloc(counts.users.n + 1, sizeof(struct acct_user));
    added->assocs.items = xcalloc(counts.assocs.n + 1, sizeof(struct assoc));
    added->qos.items = xcalloc(counts.qos.n + 1, sizeof(struct qos));
    vec_each (&plan->edits, edit) {
        void *at = !is_new(edit) ? NULL
                   : edit->kind == ASSOC_ACCOUNT
                       ? (void *) &added->accounts.items[added->accounts.n++]
                   : edit->kind == ASSOC_USER  ? (void *) &added->users.items[added->users.n++]
                   : edit->kind == ASSOC_ASSOC ? (void *) &added->assocs.items[added->assocs.n++]
                                               : (void *) &added->qos.items[added->qos.n++];
        if (at != NULL)
            record_copy(assoc_record(edit->kind), at, edit->next);
    }
}

/* What goes has its line; what is changed, a line for each key; what comes is in the list. */
static void tell(const struct assoc_book *book, struct assoc_plan *plan) {
    vec_each (&plan->edits, edit) {
        const void *old = is_new(edit) ? NULL : book->entries[edit->kind].items[edit->at];
        if (old != NULL && edit->next != NULL)
            assoc_tell_changes(edit->kind, old, edit->next, &plan->text);
        else if (old != NULL)
            assoc_tell_removal(edit->kind, old, &plan->text);
    }
}

int assoc_plan_load(const struct assoc_book *book, const struct assoc_asker *asker,
                    const struct assoc_load *request, struct assoc_plan *ret,
                    struct assoc_list *ret_added, struct error *err) {
    struct load load = {.plan = ret, .err = err, .parent = ROOT_ACCOUNT};
    struct lines lines = {0};
    *ret = (struct assoc_plan) {.text = STR_INIT};
    if (!asker_is_admin(book, asker))
        return error_set(err, ERR_INVALID,
                         " Your user does not have sufficient privileges to load files.");
    int r = check_cluster(book, request, err);
    if (r < 0)
        return r;
    assoc_book_copy(book, &load.copy);
    load.has_cluster = request->cluster != NULL;
    r = lines_read(request->text, &lines, err);
    if (r == 0 && request->clean)
        r = copy_clean(&load, book);
    if (r == 0)
        r = load_lines(&load, &lines);
    if (r == 0) {
        assoc_diff(book, &load.copy, ret);
        tell(book, ret);
        fill_added(book, ret, ret_added);
    } else {
        assoc_plan_done(ret);
        *ret = (struct assoc_plan) {.text = STR_INIT};
    }
    assoc_book_done(&load.copy);
    lines_free(&lines);
    vec_done(&load.late);
    return r;
}
