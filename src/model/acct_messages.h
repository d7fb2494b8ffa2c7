/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages about the accounting beside jobs: the book as a file, who changed what in it.
 */
#ifndef SLUICE_MODEL_ACCT_MESSAGES_H
#define SLUICE_MODEL_ACCT_MESSAGES_H

#include "schema/schema.h"

/* The book as a file (assoc/file.h): asked for, answered, and to be loaded. */
#define ASSOC_FILE_FIELDS(X)                                                                       \
    X(1, STR, cluster, 0) /* whose; NULL: the file's own */                                        \
    X(2, STR, text, 0)                                                                             \
    X(3, BOOL, clean, 0)                                                                           \
    X(4, BOOL, commit, 0) /* do it; else only say what would be done */
RECORD_DECLARE(assoc_file, ASSOC_FILE_FIELDS)

/* A change of the book, as sacctmgr lists it. */
#define ACCT_CHANGE_FIELDS(X)                                                                      \
    X(1, I64, time, 0)                                                                             \
    X(2, STR, action, 0) /* "Add Accounts" */                                                      \
    X(3, STR, actor, 0)                                                                            \
    X(4, STR, object, 0)                                                                           \
    X(5, STR, info, 0)                                                                             \
    X(6, STR, cluster, 0)
RECORD_DECLARE(acct_change, ACCT_CHANGE_FIELDS)
#define CHANGE_LIST_FIELDS(X) X(1, RECS, items, acct_change)
RECORD_DECLARE(change_list, CHANGE_LIST_FIELDS)
/* A list without words leaves its condition open. */
#define CHANGE_QUERY_FIELDS(X)                                                                     \
    X(1, I64, start, 0) /* window; 0 = open */                                                     \
    X(2, I64, end, 0)                                                                              \
    X(3, STRS, actions, 0)                                                                         \
    X(4, STRS, actors, 0)                                                                          \
    X(5, STRS, clusters, 0)                                                                        \
    X(6, STRS, objects, 0) /* words that the object or the information has */
RECORD_DECLARE(change_query, CHANGE_QUERY_FIELDS)

#endif
