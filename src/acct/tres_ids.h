/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of TRES in the database: 1 to 8 for those that every cluster has, from 1001 on in the
 * order in which they were first seen. */
#ifndef SLUICE_ACCT_TRES_IDS_H
#define SLUICE_ACCT_TRES_IDS_H

#include "acct/acct_internal.h"

struct tres_ids {
    vec(int64_t) ids;  /* in the order of their places here */
    vec(char *) names; /* "gres/gpu:a100" */
};
must_check int tres_ids_load(struct acct *acct, struct tres_ids *ret, struct error *err);
void tres_ids_done(struct tres_ids *tres);
/* NULL for a number that is unknown. */
const char *tres_ids_name(const struct tres_ids *tres, int64_t id);

#define TRES_COUNTS_MAX 64 /* of one list; more are left out */
struct tres_counts {
    struct {
        size_t at; /* place in ids and names */
        uint64_t count;
    } items[TRES_COUNTS_MAX];
    size_t n;
};
/* Reads "cpu=4,mem=8G"; within a transaction: those that are new get numbers. A text that is no
 * such list counts as none. */
must_check int tres_counts_read(struct acct *acct, struct tres_ids *tres, const char *text,
                                struct tres_counts *ret, struct error *err);

#endif
