/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table from one database to another, page by page. */
#ifndef SLUICE_ACCT_COPY_H
#define SLUICE_ACCT_COPY_H

#include "acct/acct_internal.h"

struct copy {
    struct db *from, *to; /* may be the same kind, not the same connection */
    const struct db_table *table;
    const struct filter *which; /* NULL: all rows */
    /* Changes a row before it is stored, or drops it (*ret_keep); may be NULL. */
    int (*adapt)(void *context, const struct db_table *table, struct db_value *row, bool *ret_keep,
                 struct error *err);
    void *context;
    uint64_t n_rows; /* stored so far */
};
/* Within a transaction of `to`, better also one of `from`. */
must_check int copy_table(struct copy *copy, struct error *err);
/* Where a column stands in a table; -1: it has none of that name. */
int table_column(const struct db_table *table, const char *name);

#endif
