/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller as a deterministic state machine: verified requests, reports of nodes and the time
 * go in, effects come out. It reads no clock, opens no file, takes no lock and writes no log. The
 * same state, time and input give the same effects; slurmctld, the simulator and the tests run this
 * one implementation.
 *
 * Time is in seconds since the epoch and must not go back between calls (the shell clamps it).
 */
#ifndef SLUICE_CORE_CORE_H
#define SLUICE_CORE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "core/effect.h"
#include "model/messages.h"

struct conf;
struct core;

/* Who asks. Names and groups are looked up by the shell, which may do I/O. */
struct core_user {
    uint32_t uid, gid;
    const char *name, *group;  /* never NULL; the number as text when unknown */
    const char *const *groups; /* names; needed if core_wants_groups() */
    size_t n_groups;
    const char *as_name, *as_group; /* of the user that --uid names, or NULL */
};

struct core *core_new(void);
void core_free(struct core *core);

/* Takes a configuration at start and at reconfiguration (all or nothing). `conf` must live until
 * the next call or core_free. Running and pending jobs are kept; jobs on nodes that are gone are
 * ended. `admin_uid`: the user that SlurmUser names. */
must_check int core_configure(struct core *core, const struct conf *conf, uint32_t admin_uid,
                              int64_t now, struct effects *out, struct error *err);

/* ---- start ---- */
/* Feeds one stored record; any order. Unknown kinds are an error that names the version. */
must_check int core_restore(struct core *core, uint32_t store_kind, uint64_t id, struct bytes body,
                            struct error *err);
/* All records are in: links them, checks them, arms timers. */
void core_restored(struct core *core, int64_t now, struct effects *out);

/* ---- input ---- */
/* A request of a command that may change state: every message that core_handles() accepts. `client`
 * names the connection for replies; `body` is the decoded record. Exactly one answer follows sooner
 * or later, unless the client goes away. */
bool core_handles(uint16_t type);
void core_request(struct core *core, int64_t now, uint64_t client, uint32_t seq, uint16_t type,
                  const struct core_user *user, void *body, struct effects *out);
/* The connection is gone: whoever waited on it waits no more; an allocation still pending ends. */
void core_client_gone(struct core *core, int64_t now, uint64_t client, struct effects *out);

/* A node's standing connection. core_node_find gives the index or UINT32_MAX. */
uint32_t core_node_find(const struct core *core, const char *name);
const struct node *core_node(const struct core *core, uint32_t node);
void core_node_message(struct core *core, int64_t now, uint32_t node, uint16_t type, void *body,
                       struct effects *out);
void core_node_gone(struct core *core, int64_t now, uint32_t node, struct effects *out);

/* PrologSlurmctld (or EpilogSlurmctld) of a job has run. problem NULL = well; else what follows its
 * name in a sentence: "ended with exit status 1". */
void core_script_done(struct core *core, int64_t now, uint32_t job_id, bool epilog,
                      const char *problem, struct effects *out);

/* ---- the book, where slurmdbd keeps it ---- */
/* What we have; lives in the arena. */
void core_book_tell(const struct core *core, struct arena *arena, struct dbd_book *ret);
/* The book as a file (assoc/file.h), if it is our own and somebody has changed it. */
bool core_book_own(const struct core *core, struct str *out);
/* ERR_BUSY: a job counts on one of these entries. */
must_check int core_book_test(struct core *core, const struct dbd_book *going, struct error *err);
/* Which of these runs have a job here. */
void core_runs_known(const struct core *core, const struct dbd_runs *runs, bool *ret_known);
/* What slurmdbd says counts from now on. */
void core_book_take(struct core *core, int64_t now, const struct dbd_book *book,
                    struct effects *out);

/* The program of a trigger has been started, or cannot be. */
void core_trigger_ran(struct core *core, int64_t now, uint32_t id, struct effects *out);
/* Something has come about that the shell alone sees: slurmdbd is away, or back. */
void core_event(struct core *core, int64_t now, enum trigger_event event, struct effects *out);

/* Time has come to core_next_time() or later. */
void core_tick(struct core *core, int64_t now, struct effects *out);
/* INT64_MAX when nothing is due. */
int64_t core_next_time(const struct core *core);

/* End of a turn: plans if anything changed that may let a job start, commits the plan, and turns
 * changed records into EFFECT_PUT. Call once after the turn's inputs. */
void core_turn_end(struct core *core, int64_t now, struct effects *out);

/* ---- reading (changes nothing) ---- */
/* Encodes one list message at a time: calls `emit` with the body of each frame and last = true for
 * the final one (which may be empty). False with an error for a request that names something
 * unknown. */
typedef void (*core_emit)(void *context, uint16_t type, struct bytes body, bool last);
must_check int core_list(struct core *core, int64_t now, uint16_t type,
                         const struct core_user *user, const void *body, core_emit emit,
                         void *context, struct error *err);
/* The live part of an accounting query: one acct_job at a time. Emits encoded record_acct_job. */
void core_acct_live(struct core *core, int64_t now, const struct core_user *user,
                    const struct acct_query *query,
                    void (*emit)(void *context, uint32_t job_id, struct bytes acct_job),
                    void *context);
/* May this user read the script and environment of a job that is still here? Gives the id under
 * which they are stored. 0 or a code. */
int core_script_id(struct core *core, const struct core_user *user, uint32_t job_id,
                   uint64_t *ret_id);
/* The cluster that the restored records belong to; NULL for a new store. */
const char *core_stored_cluster(const struct core *core);
/* Whether any partition asks for a group, so that core_user.groups matters. */
bool core_wants_groups(const struct core *core);
/* Before anything else is asked of this user's: administrators are known by their names. */
void core_meet(struct core *core, const struct core_user *user);
/* root, SlurmUser, operators and administrators: may act on what is others'. */
bool core_is_admin(const struct core *core, uint32_t uid);
/* The same without operators: may change nodes, partitions, and the daemons. */
bool core_is_super(const struct core *core, uint32_t uid);
/* The key of an update of a reservation as it is written in full, "Users" for "us+"; NULL when
 * there is none. */
const char *core_reservation_key(const char *text);
/* A job's record as it stands; NULL when the job has left. Lives until the next input. */
const struct job *core_job(const struct core *core, uint32_t job_id);
/* The same of a job, a task ("12_3") or the first of several ("12_[3-5]"). */
const struct job *core_job_named(struct core *core, const char *text);
uint32_t core_next_job_id(const struct core *core);
uint32_t core_job_count(const struct core *core);

/* Since the start, except for what waits and runs now. */
struct core_counters {
    uint64_t submitted, started, ended, passes, candidates;
    uint64_t failed, cancelled, backfilled; /* among those ended, ended, started */
    uint64_t promises_broken;               /* starts that turned out to be later than told */
    uint64_t pending, running;
};
void core_counters(const struct core *core, struct core_counters *ret);
/* The two of them that say what planning has done; costs nothing. */
void core_work(const struct core *core, uint64_t *ret_passes, uint64_t *ret_candidates);

#endif
