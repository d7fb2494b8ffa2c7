/* SPDX-License-Identifier: Apache-2.0 */
/* The book written as a file. */
#include <stdlib.h>
#include <string.h>

#include "assoc/file.h"
#include "assoc/keys.h"
#include "assoc/list.h"
#include "base/alloc.h"

static const char head[] = "# A line is Kind - 'name':Key=value:Key=value..., its options may be "
                           "left out and stand in any\n"
                           "# order. Accounts and users belong to the account that the last Parent "
                           "line before them names;\n"
                           "# that account has to be there by then. The account root always is.\n";

/* Some keys go by another of their names in files. */
static const char *file_name(const struct assoc_key *key) {
    static const struct {
        const char *name, *in_file;
    } rows[] = {{"MaxTRES", "MaxTRESPerJob"},          {"MaxTRESMins", "MaxTRESMinsPerJob"},
                {"MaxWall", "MaxWallDurationPerJob"},  {"Admin Level", "AdminLevel"},
                {"Default Account", "DefaultAccount"}, {"Default WCKey", "DefaultWCKey"}};
    for (size_t i = 0; key->kind != ASSOC_QOS && i < countof(rows); i++) {
        if (str_equal(rows[i].name, key->name))
            return rows[i].in_file;
    }
    return key->name;
}

static void option_text(const char *name, const char *value, struct str *out) {
    str_printf(out, ":%s=", name);
    assoc_quote(value, out);
}

/* The options of one kind of entry, in the order of the keys. */
static void options(uint8_t of, uint32_t kind, const void *record, struct str *out) {
    for (const struct assoc_key *key = assoc_keys; key->name != NULL; key++) {
        struct str value cleanup_str = STR_INIT;
        if (key->is_old || !(key->of & of) || key->kind != kind || str_equal(key->member, "parent"))
            continue;
        if (assoc_key_in_file(key, record, &value))
            str_printf(out, ":%s=%s", file_name(key), value.data);
    }
}

struct dump {
    const struct assoc_book *book;
    struct assoc_tree tree;
    struct str *out;
};

static void user_line(const struct dump *dump, const struct assoc *assoc) {
    const struct acct_user *user = acct_user_find(dump->book, assoc->user);
    struct str coordinates cleanup_str = STR_INIT;
    str_append(dump->out, "User - ");
    assoc_quote(assoc->user, dump->out);
    if (assoc->partition != NULL)
        option_text("Partition", assoc->partition, dump->out);
    if (user != NULL)
        options(KEY_USER, ASSOC_USER, user, dump->out);
    vec_each (&dump->book->entries[ASSOC_ACCOUNT], entry) {
        const struct account *account = *entry;
        if (strs_has_nocase(&account->coordinators, assoc->user))
            str_join(&coordinates, ",", account->name);
    }
    if (coordinates.length > 0)
        option_text("Coordinator", coordinates.data, dump->out);
    options(KEY_USER, ASSOC_ASSOC, assoc, dump->out);
    str_append_char(dump->out, '\n');
}

static void account_line(const struct dump *dump, const struct assoc *assoc) {
    const struct account *account = account_find(dump->book, assoc->account);
    str_append(dump->out, "Account - ");
    assoc_quote(assoc->account, dump->out);
    if (account != NULL)
        options(KEY_ACCOUNT, ASSOC_ACCOUNT, account, dump->out);
    options(KEY_ACCOUNT, ASSOC_ASSOC, assoc, dump->out);
    str_append_char(dump->out, '\n');
}

/* All that belongs to an account, then the same for each account among that. */
static void dump_below(const struct dump *dump, const char *account) {
    size_t first, end = assoc_tree_below(&dump->tree, account, &first);
    if (first == end)
        return;
    str_append(dump->out, "Parent - ");
    assoc_quote(account, dump->out);
    str_append_char(dump->out, '\n');
    for (size_t i = first; i < end; i++) {
        if (dump->tree.sorted[i]->user != NULL)
            user_line(dump, dump->tree.sorted[i]);
        else
            account_line(dump, dump->tree.sorted[i]);
    }
    for (size_t i = first; i < end; i++) {
        if (dump->tree.sorted[i]->user == NULL)
            dump_below(dump, dump->tree.sorted[i]->account);
    }
}

static void qos_lines(const struct assoc_book *book, struct str *out) {
    vec_each (&book->entries[ASSOC_QOS], entry) {
        const struct qos *qos = *entry;
        str_append(out, "QOS - ");
        assoc_quote(qos->name, out);
        options(KEY_QOS, ASSOC_QOS, qos, out);
        str_append_char(out, '\n');
    }
}

void assoc_dump(const struct assoc_book *book, struct str *out) {
    struct dump dump = {.book = book, .out = out};
    const struct assoc *root = assoc_find(book, ROOT_ACCOUNT, NULL, NULL);
    str_append(out, head);
    qos_lines(book, out);
    str_append(out, "Cluster - ");
    assoc_quote(book->cluster, out);
    if (root != NULL) {
        options(KEY_CLUSTER, ASSOC_ASSOC, root, out);
        if (root->qos == NULL) /* what it then is */
            option_text("QOS", QOS_NORMAL, out);
    }
    str_append_char(out, '\n');
    assoc_tree_init(&dump.tree, book);
    dump_below(&dump, ROOT_ACCOUNT);
    assoc_tree_done(&dump.tree);
}
