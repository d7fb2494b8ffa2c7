/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GRES requests and TRES strings: `gpu:a100:2,gpu`, `cpu=4,mem=8G,node=1,gres/gpu:a100=2`.
 */
#ifndef SLUICE_TEXT_TRES_H
#define SLUICE_TEXT_TRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "text/idset.h"

struct gres_item {
    char *name;     /* "gpu" */
    char *type;     /* "a100" or NULL */
    uint64_t count; /* default 1 */
};
struct gres_list {
    struct gres_item *items;
    size_t n, capacity;
};
#define GRES_LIST_INIT                                                                             \
    { NULL, 0, 0 }
void gres_list_done(struct gres_list *list);
#define cleanup_gres_list __attribute__((__cleanup__(gres_list_done)))
/* `name[[:type]:count][,…]`, also with the prefix `gres:` or `gres/` and `=` before the count. In
 * the last part digits (with a unit) are a count, else a type. "none" and "" are empty. An item
 * given twice adds up. Names and types are lower-cased for comparison by callers, kept as given. */
must_check int gres_parse(const char *text, struct gres_list *list, struct error *err);
/* Is a GRES of this name a share of GPUs: "shard", "mps"? */
bool gres_is_share(const char *name);
/* `[type:]n[,…]` of --gpus and its kin: every item gets the name "gpu". */
must_check int gpus_parse(const char *text, struct gres_list *list, struct error *err);
/* `name[@server][:count][,…]` of --licenses and Licenses=, also with `=` before the count and `;`
 * between items. The count is a number, by default 1; the server stays part of the name. */
must_check int licenses_parse(const char *text, struct gres_list *list, struct error *err);
/* `cpu=4,mem=8G,node=1,gres/gpu=2,gres/gpu:a100=2`: names in lower case ("gres/gpu", with the type
 * apart), memory in MiB, an item given twice adds up. */
must_check int tres_parse(const char *text, struct gres_list *list, struct error *err);
/* The count of one item, 0 when it is not there; `type` may be NULL. */
uint64_t gres_list_count(const struct gres_list *list, const char *name, const char *type);
/* The counts of all types of a name together. */
uint64_t gres_list_sum(const struct gres_list *list, const char *name);
/* The TRES that every cluster has, in the order of their numbers, which begin at 1; those of GRES
 * and licenses begin at TRES_ID_OTHER. */
#define TRES_STANDARD 8
#define TRES_ID_OTHER 1001
extern const char *const tres_standard[TRES_STANDARD];
/* The number of the one that the first `length` bytes name; 0 = none of them. */
unsigned tres_standard_id(const char *name, size_t length);
/* Appends `PREFIXname[:type]SEPcount,…`, e.g. ("gres/", '=') or ("", ':'). */
void gres_print(const struct gres_list *list, const char *prefix, char separator, struct str *out);

/* One part of what a job or step has been given on a node: `gpu:a100:2(IDX:0,2-3)`. */
struct gres_given {
    struct gres_item item;
    struct idset ids; /* empty: a plain count without numbers */
};
/* Reads the part at *at (NULL: there is none) and moves on to the next. False at the end and where
 * nothing can be read; after true gres_given_done(). */
bool gres_given_next(const char **at, struct gres_given *ret);
void gres_given_done(struct gres_given *given);

#endif
