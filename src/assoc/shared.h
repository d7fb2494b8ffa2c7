/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The books of several clusters as slurmdbd keeps them. Each cluster has a book of its own; what is
 * of all is the same in every book that has it: the QOS, an account's description, organization and
 * coordinators, a user's administrator level. Associations, and default accounts, are a cluster's.
 *
 * A change names clusters (cluster=a,b) or is for all; it is planned for each as if it were alone
 * (assoc.h), and applied to all or none. A change of all that one cluster cannot take (it has no
 * such account) is made in the others, and says so. Clusters are named without case.
 */
#ifndef SLUICE_ASSOC_SHARED_H
#define SLUICE_ASSOC_SHARED_H

#include "assoc/file.h"

struct shared_cluster {
    char *name;
    struct assoc_book book;
};
struct shared_books {
    struct assoc_book common; /* its QOS are those of all; it counts for nothing else */
    vec(struct shared_cluster *) clusters; /* by name */
};
void shared_init(struct shared_books *books);
void shared_done(struct shared_books *books);
/* A new one has the QOS of all; one that is there already is found. */
struct shared_cluster *shared_add(struct shared_books *books, const char *cluster);
struct shared_cluster *shared_find(const struct shared_books *books, const char *cluster);
void shared_remove(struct shared_books *books, const char *cluster);
/* Takes over a stored record; cluster NULL: a QOS. */
void shared_restore(struct shared_books *books, const char *cluster, uint32_t kind, void *record);
/* Has nobody changed this book yet, but for the QOS of all? */
bool shared_is_untouched(const struct shared_books *books, const struct shared_cluster *cluster);

/* Administrators and operators are so in every cluster. */
uint32_t shared_admin_level(const struct shared_books *books, const char *user);

/* The clusters that a change names, in lower case, and the rest of its words. */
struct shared_named {
    struct strs clusters;        /* none: all */
    struct assoc_change without; /* borrows */
};
void shared_named_read(const struct assoc_change *change, struct shared_named *ret);
void shared_named_done(struct shared_named *named);

/* clusters.c: which of them come or go. No names: nothing to do. */
#define SHARED_CLUSTER_NAME_MAX 40
struct shared_clusters {
    struct strs names;
    struct str text;
    struct strs notes;
};
must_check int shared_plan_clusters(const struct shared_books *books, const char *asker,
                                    bool is_root, const struct assoc_change *change,
                                    struct shared_clusters *ret, struct error *err);
void shared_clusters_done(struct shared_clusters *plan);

struct shared_plan {
    struct assoc_plan common;
    vec(struct assoc_plan) plans; /* one for each cluster, in the order of the books */
    struct str text;              /* of all together, as assoc_plan's */
    struct strs notes;
};
void shared_plan_done(struct shared_plan *plan);
bool shared_plan_is_empty(const struct shared_plan *plan);

/* As assoc_plan_change(), likewise its errors. */
must_check int shared_plan_change(const struct shared_books *books, const char *asker, bool is_root,
                                  const struct assoc_change *change, struct shared_plan *ret,
                                  struct error *err);
/* As assoc_plan_load(), for the cluster that file or command line name. ERR_NOT_FOUND: it is not
 * there. */
must_check int shared_plan_load(const struct shared_books *books, const char *asker, bool is_root,
                                const struct assoc_load *load, struct shared_plan *ret,
                                struct assoc_list *ret_added, struct error *err);
/* The book that a cluster's controller has kept by itself becomes the cluster's here, with its
 * numbers of associations. What others have already of the same name stays as they have it; levels
 * of administrators count only where no other cluster is there. notes tell what was different. */
void shared_plan_take(const struct shared_books *books, const char *cluster,
                      const struct assoc_list *own, struct shared_plan *ret);
/* Carries it out. on_edit (may be NULL): cluster NULL is a QOS of all; each is told once. */
void shared_apply(struct shared_books *books, struct shared_plan *plan,
                  void (*on_edit)(void *context, const char *cluster, uint32_t kind,
                                  const void *old, const void *next),
                  void *context);

#endif
