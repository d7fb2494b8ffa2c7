/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book as a file, for sacctmgr dump and load: a line for each entry, `Kind -
 * 'name':Key=value:…`, where users and accounts belong to the account of the last `Parent - 'name'`
 * before them. Values that are text stand in single quotes, a quote in them is doubled.
 */
#ifndef SLUICE_ASSOC_FILE_H
#define SLUICE_ASSOC_FILE_H

#include "assoc/assoc.h"

#define ASSOC_FILE_LINES_MAX 1000000 /* of one file */

void assoc_dump(const struct assoc_book *book, struct str *out);
/* The cluster that a file is for: the name of its first cluster line; false when it has none. */
bool assoc_file_cluster(const char *text, struct str *ret);

/* Plans what makes the book be as the file says; with `clean` it has nothing else then, apart from
 * root and the QOS. plan->text tells what is changed, `added` (owned by the caller, record_done)
 * gets what is new. Errors name the line, in sacctmgr's words. Only administrators may. */
struct assoc_load {
    const char *text;
    const char *cluster; /* of the command line, in place of the file's; or NULL */
    bool clean;
};
must_check int assoc_plan_load(const struct assoc_book *book, const struct assoc_asker *asker,
                               const struct assoc_load *load, struct assoc_plan *ret,
                               struct assoc_list *ret_added, struct error *err);

#endif
