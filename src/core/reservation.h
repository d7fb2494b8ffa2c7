/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reservations inside the core. The core owns the records (core->reservations, in order of
 * creation). reservation.c reads requests, resv_nodes.c chooses nodes and sees collisions,
 * resv_life.c lets them begin, come again and end, and tells the planner, resv_jobs.c says who may
 * use which.
 */
#ifndef SLUICE_CORE_RESERVATION_H
#define SLUICE_CORE_RESERVATION_H

#include "core/state.h"

struct core_reservation {
    struct reservation rec;
    struct list dirty;
};

/* Takes words off a list "a,b"; NULL when none is left. */
void list_without(char **list, const char *unwanted, bool nocase);
struct core_reservation *reservation_find(const struct core *core, const char *name);
struct core_reservation *reservation_find_id(const struct core *core, uint32_t id);
/* Adds a record that it takes over. */
struct core_reservation *reservation_add(struct core *core, struct reservation *rec);
void reservation_touch(struct core *core, struct core_reservation *resv);

/* ---- nodes (resv_nodes.c) ---- */
/* Fills nodes, parts, node_cnt, core_cnt and tres of a request whose times and wishes are set.
 * Nodes that it has already are kept where they serve. `self`: the record that it replaces, or
 * NULL. */
must_check int reservation_choose(struct core *core, struct reservation *next,
                                  const struct core_reservation *self, struct error *err);
/* Collisions of what was chosen with other reservations, running jobs, licences. */
must_check int reservation_check(struct core *core, const struct reservation *next,
                                 const struct core_reservation *self, struct error *err);
/* Does any occurrence of one overlap with any of the other? */
bool reservations_meet(const struct reservation *a, const struct reservation *b);

/* ---- life (resv_life.c) ---- */
/* After any change: the planner, the nodes' flags and the next timer. */
void reservations_changed(struct core *core);
/* It is over, or deleted: its jobs end or wait without it, the record goes. */
void reservation_end(struct core *core, struct core_reservation *resv);
/* Its next occurrence in place of this one; it must be a recurring one. */
void reservation_next(struct reservation *rec);

/* ---- jobs (resv_jobs.c) ---- */
bool reservation_lets_in(const struct reservation *rec, const struct job *job,
                         const struct core_user *user);
/* Does its request or its run name the reservation? */
bool job_in_reservation(const struct core_job *job, const char *name);

#endif
