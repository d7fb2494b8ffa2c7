/* SPDX-License-Identifier: Apache-2.0 */
/* Adding and deleting clusters in sacctmgr's words; see shared.h. */
#include <stdlib.h>
#include <string.h>

#include "assoc/keys.h"
#include "assoc/shared.h"
#include "base/alloc.h"

/* ClusterName is a part of file names and of listings. */
static int check_name(const char *name, struct error *err) {
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-.");
    if (n > 0 && name[n] == '\0' && n <= SHARED_CLUSTER_NAME_MAX && name[0] != '.')
        return 0;
    return error_set(err, ERR_INVALID,
                     " Bad name '%s': a cluster's is of at most %d letters, digits, '_', '-' and "
                     "'.'",
                     name, SHARED_CLUSTER_NAME_MAX);
}

/* What every new one gets: checked on a book that nobody has, and told. */
static int plan_settings(const struct shared_books *books, const char *name,
                         const struct assoc_change *rest, struct shared_clusters *ret,
                         struct error *err) {
    static const struct assoc_asker root = {"root", true};
    struct assoc_change change = {
        .verb = ASSOC_VERB_MODIFY, .entity = ASSOC_ENTITY_CLUSTER, .set = rest->set};
    struct assoc_plan plan = {.text = STR_INIT};
    struct assoc_book book;
    if (rest->set.n == 0)
        return 0;
    assoc_book_init_common(&book, name, &books->common);
    int r = assoc_plan_change(&book, &root, &change, &plan, err);
    if (r == 0 && plan.edits.n > 0) {
        str_append(&ret->text, " Setting\n  Default Limits:\n");
        for (uint32_t i = 0; i < rest->set.n; i++) {
            const struct assoc_key *key = assoc_key_find(rest->set.items[i].key, KEY_CLUSTER);
            if (key == NULL)
                continue;
            str_printf(&ret->text, "  %-13s = ", key->name);
            void *record = plan.edits.items[0].next;
            key->print(record, assoc_key_member(key, record), &ret->text);
            str_append_char(&ret->text, '\n');
        }
        for (uint32_t i = 0; i < plan.notes.n; i++)
            strs_push(&ret->notes, plan.notes.items[i]);
    }
    assoc_plan_done(&plan);
    assoc_book_done(&book);
    return r;
}

static int plan_add(const struct shared_books *books, const struct strs *names,
                    const struct assoc_change *rest, struct shared_clusters *ret,
                    struct error *err) {
    for (uint32_t i = 0; i < names->n; i++) {
        int r = check_name(names->items[i], err);
        if (r < 0)
            return r;
        if (shared_find(books, names->items[i]) != NULL) {
            cleanup_free char *text =
                xasprintf("This cluster %s already exists.  Not adding.", names->items[i]);
            strs_push(&ret->notes, text);
            continue;
        }
        if (ret->names.n == 0)
            str_append(&ret->text, " Adding Cluster(s)\n");
        str_printf(&ret->text, "  %-14s = %s\n", "Name", names->items[i]);
        strs_push(&ret->names, names->items[i]);
    }
    return ret->names.n > 0 ? plan_settings(books, ret->names.items[0], rest, ret, err) : 0;
}

static void plan_delete(const struct shared_books *books, const struct strs *names,
                        struct shared_clusters *ret) {
    for (uint32_t i = 0; i < names->n; i++) {
        const struct shared_cluster *cluster = shared_find(books, names->items[i]);
        if (cluster == NULL)
            continue;
        if (ret->names.n == 0)
            str_append(&ret->text, " Deleting clusters...\n");
        str_printf(&ret->text, "  %s\n", cluster->name);
        strs_push(&ret->names, cluster->name);
        cleanup_free char *text = xasprintf(
            "with cluster %s go its accounts and what is known of its jobs, events and usage",
            cluster->name);
        strs_push(&ret->notes, text);
    }
}

int shared_plan_clusters(const struct shared_books *books, const char *asker, bool is_root,
                         const struct assoc_change *change, struct shared_clusters *ret,
                         struct error *err) {
    struct shared_named named;
    bool adds = change->verb == ASSOC_VERB_ADD;
    *ret = (struct shared_clusters) {.text = STR_INIT};
    shared_named_read(change, &named);
    int r = 0;
    if (named.clusters.n == 0)
        r = error_set(err, ERR_INVALID, "%s",
                      adds ? " Need name of cluster to add."
                           : " No conditions given to remove, not executing.");
    if (r == 0 && !adds && named.without.where.n > 0)
        r = error_set(err, ERR_INVALID, " Unknown condition: %s=%s\n Conditions are: cluster, name",
                      named.without.where.items[0].key, named.without.where.items[0].value);
    if (r == 0 && !is_root && shared_admin_level(books, asker) != ADMIN_ADMINISTRATOR)
        r = error_set(err, ERR_ACCESS_DENIED, "only administrators may %s clusters, and %s is none",
                      adds ? "add" : "delete", asker);
    if (r == 0 && adds)
        r = plan_add(books, &named.clusters, &named.without, ret, err);
    else if (r == 0)
        plan_delete(books, &named.clusters, ret);
    shared_named_done(&named);
    if (r < 0)
        shared_clusters_done(ret);
    return r;
}

void shared_clusters_done(struct shared_clusters *plan) {
    strs_done(&plan->names);
    strs_done(&plan->notes);
    str_done(&plan->text);
}
