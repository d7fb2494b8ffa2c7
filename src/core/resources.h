/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cluster has, by name and by number; part of state.h. Kinds of GRES, features and
 * licences (resources.c); which cores and devices an allocation entry gets (assign.c); GPUs that
 * are given whole or in shares (cards.c). The planner counts; here counts get names.
 */
#ifndef SLUICE_CORE_RESOURCES_H
#define SLUICE_CORE_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "model/job.h"
#include "sched/sched.h"
#include "text/idset.h"
#include "text/tres.h"

struct conf;
struct conf_node;
struct core;
struct core_node;
struct gres_given;
struct gres_place;

/* ---- what the cluster has by name (resources.c) ---- */
struct gres_kind {
    char *name, *type; /* type "" = untyped */
};

/* The one thing that a valid configuration can have too much of, before anything is changed. */
must_check int gres_kinds_check(const struct conf *conf, struct error *err);
/* Index of a kind, `type` NULL = untyped; find: core->n_kinds when there is none. */
size_t gres_kind_add(struct core *core, const char *name, const char *type);
size_t gres_kind_find(const struct core *core, const char *name, const char *type);
bool gres_kind_is_gpu(const struct core *core, size_t kind);
bool gres_kind_is_share(const struct core *core, size_t kind);
/* Appends "gpu:a100:2", after a comma if there is something before it. */
void gres_kind_print(const struct gres_kind *kind, uint64_t count, struct str *out);
/* Appends "gres/gpu=2" of counts by kind: each name once, whatever its types. */
void gres_sums_print(const struct core *core, const uint64_t *totals, struct str *out);
/* The same with types, "gres/gpu=2,gres/gpu:a100=2", as far as accounts have them. */
void gres_accounts_print(const struct core *core, const uint64_t *totals, struct str *out);
/* Is it in AccountingStorageTRES ("gres/gpu", "gres/gpu:a100"; `type` may be NULL)? A list that
 * names no GRES stands for all of them, so that nobody has to configure them twice. */
bool gres_is_tracked(const struct core *core, const char *name, const char *type);
/* A request for GRES, in which one that is named twice counts once, with the larger number. */
must_check int gres_request_parse(const char *text, struct gres_list *ret, struct error *err);
/* What of a job's request counts: what is said of nodes or tasks is not counted again for the whole
 * job (whoever says both says the same twice), and what is said of nodes not for tasks. */
enum gres_part { GRES_PER_NODE, GRES_PER_TASK, GRES_PER_JOB, GRES_PER_SOCKET, GRES_PARTS };
must_check int gres_part_parse(const struct job *job, enum gres_part part, struct gres_list *ret,
                               struct error *err);
/* What is asked for; a part of a type is enough. ERR_INVALID_GRES names those that exist. */
must_check int gres_resolve(const struct core *core, const struct gres_item *item,
                            struct sched_gres_request *ret, struct error *err);
void features_collect(struct core *core); /* of all nodes */
/* Is it a constraint, of features that nodes have? ERR_INVALID_FEATURE. */
must_check int features_check(const struct core *core, const char *text, struct error *err);
void licenses_take(struct core *core, const struct conf *conf);
/* core->n_licenses when there is none of that name. */
size_t license_find(const struct core *core, const char *name);
uint64_t license_count(const char *text, const char *name); /* in a list; text may be NULL */
/* Do they exist in such numbers? `none_may_come`: of what there is none there may be some later.
 * ERR_INVALID_LICENSE. */
must_check int licenses_check(const struct core *core, const char *text, bool none_may_come,
                              struct error *err);
/* Indexes and counts of those that exist, in the arena; returns their number. */
size_t licenses_resolve(const struct core *core, const char *text, struct arena *arena,
                        uint32_t **ret_ids, uint32_t **ret_counts);
void resources_forget(struct core *core); /* all of that */

/* ---- names for counts: cores and devices of one allocation entry (assign.c) ---- */
/* What gres.conf says of the devices of a node. */
void assign_affinity(struct core *core, struct core_node *node);
/* What the node says of them, where gres.conf does not. */
void assign_found(struct core *core, struct core_node *node, const struct gres_place *places,
                  size_t n);
/* bound: cores near the devices before others (all but --gres-flags=disable-binding). */
void assign_take(struct core *core, struct job_node *entry, const struct sched_alloc *alloc,
                 bool bound);
/* The same ones once more (after a restart, on resuming), or given back. */
void assign_cores(struct core *core, const struct job_node *entry, bool take);
/* Its cores as a set; false when it has none. */
bool assign_cores_read(const struct job_node *entry, struct idset *ret);
/* Fewer than `layers` jobs hold any of its cores. */
bool assign_cores_free(const struct core *core, const struct job_node *entry, uint32_t layers);
void assign_gres(struct core *core, const struct job_node *entry, bool take);
/* "gpu:a100:1(IDX:0),gpu:v100:0(IDX:N/A)" of everything a node has. */
void assign_gres_used(const struct core *core, const struct core_node *node, struct str *out);
void alloc_from_entry(const struct core *core, const struct job_node *entry,
                      struct sched_alloc *ret);
/* Calls fn with the number of each GPU of an entry, also of those it has shares of. */
void assign_each_gpu(const struct core *core, const struct job_node *entry,
                     void (*fn)(uint32_t index, void *context), void *context);

/* ---- GPUs that are given whole or in shares (cards.c) ---- */
void cards_make(struct core *core, struct core_node *node, const struct conf *conf,
                const struct conf_node *line);
void cards_clear(struct core_node *node); /* nobody uses any */
bool cards_are_shared_as(const struct core_node *node, size_t kind);
/* Is the kind one of GPUs that are given whole or in shares there? */
bool cards_are_of(const struct core_node *node, size_t kind);
/* Is what the planner proposes for a node free card by card? */
bool cards_allow(const struct core *core, const struct sched_alloc *alloc);
/* The planner is to know which cards an entry has got, where these are not the ones it chose. */
void cards_taken(const struct core *core, const struct job_node *entry, struct sched_alloc *alloc);
/* Appends "shard:2(IDX:0)", the shares of a kind; takes nothing yet. */
void cards_take_share(struct core *core, struct core_node *node, const struct sched_alloc *alloc,
                      size_t kind, struct str *out);
/* A written part is taken or given back. */
void cards_change(struct core_node *node, size_t kind, const struct gres_given *given, bool take);
void cards_units(const struct core_node *node, size_t kind, const struct gres_given *given,
                 struct sched_alloc *alloc);
/* Appends "2/4,0/4" (out may be NULL); how many shares are in use. */
uint64_t cards_use_print(const struct core_node *node, size_t kind, struct str *out);
/* Does a job have the card as a whole, if anyone uses it? */
bool cards_is_whole(const struct core_node *node, size_t kind, uint32_t slot);

#endif
