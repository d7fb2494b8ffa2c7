/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts of a simulated world: team lies below lab, everybody is in both. The administrator makes
 * them, again where the first try was lost, changes their limits while jobs run, and lifts them all
 * in the end.
 */
#ifndef SLUICE_TESTS_DST_ACCOUNTS_H
#define SLUICE_TESTS_DST_ACCOUNTS_H

#include "users.h"

/* One of them, or NULL: the user's default. */
const char *accounts_choose(struct users *users);
/* Makes what is not there yet; else changes a limit. */
void accounts_act(struct users *users);
/* No limit is left. */
void accounts_lift(struct users *users);

#endif
