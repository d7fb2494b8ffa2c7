/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sluice share: the fair share of a user in words: which shares are due and used from the root down
 * to the user, who has used most where an account is over its share, and when that is even again.
 * Pure.
 */
#ifndef SLUICE_CLI_SHARE_H
#define SLUICE_CLI_SHARE_H

#include "model/messages.h"

/* False, and nothing, when the user has no association in the list. */
bool share_text(const struct share_list *list, const char *user, struct str *out);

#endif
