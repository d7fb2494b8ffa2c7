/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scontrol show assoc_mgr: the users, associations and QOS that the controller knows, each limit
 * with what is used of it now.
 */
#ifndef SLUICE_CLI_SCONTROL_ASSOC_H
#define SLUICE_CLI_SCONTROL_ASSOC_H

#include "base/error.h"
#include "base/str.h"
#include "model/messages.h"

enum assoc_section { ASSOC_SECTION_USERS = 1, ASSOC_SECTION_ASSOCS = 2, ASSOC_SECTION_QOS = 4 };
/* Empty lists choose all. */
struct assoc_filter {
    struct strs users, accounts, qos;
    uint32_t sections; /* enum assoc_section; 0: all */
};
#define ASSOC_FILTER_INIT                                                                          \
    { .sections = 0 }
void assoc_filter_done(struct assoc_filter *filter);
/* "users=a,b", "accounts=", "qos=", "flags=users,assoc,qos"; a name may be cut short.
 * -ERR_NOT_FOUND: there is no such filter; -ERR_INVALID: no such flag, and err has the words. */
must_check int assoc_filter_add(struct assoc_filter *filter, const char *word, struct error *err);

/* All borrowed. The lists may lack what the user may not see. */
struct assoc_state {
    const struct assoc_list *book;
    const struct share_list *shares;
    const struct limit_counts *counts;
    uint32_t (*uid_of)(const char *name); /* UINT32_MAX - 1: nobody of this host */
};
void assoc_state_print(const struct assoc_state *state, const struct assoc_filter *filter,
                       bool oneline, struct str *out);

#endif
