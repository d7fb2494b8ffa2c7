/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record of sacctmgr's listings each, as an item of an open array; see json_dump.h. `row` is a
 * struct assoc_row, of a QOS the record; `books` are the struct assoc_index of all clusters.
 */
#ifndef SLUICE_CLI_JSON_ASSOC_H
#define SLUICE_CLI_JSON_ASSOC_H

#include "cli/columns_assoc.h"
#include "cli/json_dump.h"

void json_assoc(struct json *json, const struct rows *books, const void *row);
void json_qos(struct json *json, const struct rows *books, const void *row);
void json_account(struct json *json, const struct rows *books, const void *row);
void json_acct_user(struct json *json, const struct rows *books, const void *row);
void json_cluster(struct json *json, const struct rows *books, const void *row);
void json_wckey(struct json *json, const struct rows *books, const void *row);
void json_tres_kind(struct json *json, const struct rows *books, const void *row);

#endif
