/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr's columns: one table for each kind of thing that it lists. */
#ifndef SLUICE_CLI_COLUMNS_ASSOC_H
#define SLUICE_CLI_COLUMNS_ASSOC_H

#include "cli/assoc_index.h"
#include "cli/list.h"
#include "model/messages.h"
#include "schema/columns.h"

/* A line of all tables but columns_qos, whose rows are records. What a table does not use is NULL.
 */
struct assoc_row {
    const struct assoc_index *index; /* of the list where it comes from */
    const struct account *account;
    const struct acct_user *user;
    const struct assoc *assoc;
    const struct user_wckey *wckey; /* of `user` */
    unsigned depth;                 /* of the account in the tree, when that is shown */
    const char *tres_type, *tres_name;
    uint32_t tres_id;
};

extern const struct column_table columns_qos, columns_assoc, columns_account, columns_acct_user,
    columns_acct_cluster, columns_tres, columns_wckey;

/* The QOS that the row's association may use: its own, else those of the account above. */
const char *qos_of_row(const struct assoc_row *row);
/* How far below root an account lies. */
unsigned assoc_depth(const struct assoc_index *index, const char *account);

#endif
