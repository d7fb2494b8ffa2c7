/* SPDX-License-Identifier: Apache-2.0 */
/* One record of sacctmgr's listings each, as an item of an open array; see json_dump.h. */
#ifndef SLUICE_CLI_JSON_ASSOC_H
#define SLUICE_CLI_JSON_ASSOC_H

#include "cli/columns_assoc.h"
#include "cli/json_dump.h"

void json_assoc(struct json *json, const struct assoc_row *row);
void json_qos(struct json *json, const struct qos *qos);
/* books: struct assoc_list of all clusters, for the associations. */
void json_account(struct json *json, const struct rows *books, const struct account *account);
void json_acct_user(struct json *json, const struct rows *books, const struct assoc_row *row);
void json_cluster(struct json *json, const struct assoc_row *row);
void json_wckey(struct json *json, const struct assoc_row *row);
void json_tres_kind(struct json *json, const struct assoc_row *row);

#endif
