/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What peers may send, by chance: requests of users and messages of nodes with absurd values, in
 * the order that the chooser says, into a real core. The core must stay whole whatever comes.
 */
#ifndef SLUICE_TESTS_CORE_CHAOS_H
#define SLUICE_TESTS_CORE_CHAOS_H

#include "core/core.h"
#include "random_record.h"

/* Plays at most `steps` steps, checks the invariants after each, and stops when a chooser of bytes
 * has none left. Returns what the last controller has counted. */
struct core_counters chaos_play(struct chooser *chooser, unsigned steps);

#endif
