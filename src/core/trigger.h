/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers (strigger); private to src/core. A trigger waits for its event, collects what it has
 * come about for during TRIGGER_COLLECT seconds (nodes that go down together are one call), and is
 * handed to the shell (EFFECT_TRIGGER), which runs its program as the user who has set it. It
 * leaves the store when the shell has done so; one that was due when the controller died is run
 * after its restart. A permanent one waits again.
 *
 * Events of jobs are looked for at the end of a turn, those of nodes are noted where the state of a
 * node changes.
 */
#ifndef SLUICE_CORE_TRIGGER_H
#define SLUICE_CORE_TRIGGER_H

#include "base/vec.h"
#include "model/trigger.h"

struct core;
struct core_user;

#define TRIGGERS_MAX 10000
#define TRIGGERS_OF_USER 100 /* of one who is not an administrator */
#define TRIGGER_COLLECT 2    /* seconds */

struct triggers {
    vec(struct trigger *) list; /* owned, by ascending id */
    uint32_t last_id;
    int64_t next; /* when one may be due, 0 */
};

void handle_trigger_set(struct core *core, uint64_t client, uint32_t seq,
                        const struct core_user *user, void *body);
void handle_trigger_list(struct core *core, uint64_t client, uint32_t seq,
                         const struct core_user *user, void *body);
void handle_trigger_clear(struct core *core, uint64_t client, uint32_t seq,
                          const struct core_user *user, void *body);
/* Takes the record over. */
void trigger_restore(struct core *core, struct trigger *stored);
/* All records are in: slurmctld works again. */
void triggers_restored(struct core *core);
void triggers_free(struct core *core);

/* Something has come about that concerns no node in particular. */
void trigger_note(struct core *core, enum trigger_event event);
/* A node's state may be another one. */
void trigger_note_node(struct core *core, uint32_t node);
/* Looks at all of them, hands out those that are due, and says when the next may be. */
void triggers_run(struct core *core);

#endif
