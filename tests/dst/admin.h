/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The administrator of a simulated world: makes, changes and deletes reservations, and has the
 * controller read another configuration.
 */
#ifndef SLUICE_TESTS_DST_ADMIN_H
#define SLUICE_TESTS_DST_ADMIN_H

#include "users.h"

#define ADMIN_RESERVATIONS 4 /* names: "r1" ... */

void admin_act(struct users *users);
/* No reservation is left, nor comes again. */
void admin_delete_reservations(struct users *users);

#endif
