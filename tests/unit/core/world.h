/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world for the core: a configuration from a text, a store in memory, nodes that answer as real
 * ones do. Tests act (submit, cancel, let time pass, lose a node, restart the controller) and look
 * at the records that a listing would show. Everything is encoded and decoded on the way, as it is
 * between processes.
 */
#ifndef SLUICE_TESTS_CORE_WORLD_H
#define SLUICE_TESTS_CORE_WORLD_H

#include "base/map.h"
#include "core/bygone.h"
#include "core/core.h"
#include "model/conf.h"

#define WORLD_NODES_MAX 16
#define WORLD_RUNS_MAX 4096
#define SIGNALS_KNOWN 65

/* A batch script on a node. */
struct world_run {
    uint32_t job_id, attempt, node;
    bool running;  /* a process is there */
    bool reported; /* its end has been acknowledged */
    bool ended;
    uint32_t exit_status;
};

struct world_record {
    uint32_t kind;
    uint64_t id;
    struct str data;
};

struct world_reply {
    uint64_t client;
    uint32_t seq;
    uint16_t type, flags;
    struct str body;
};

struct world {
    struct conf *conf;
    char *conf_text;
    struct core *core;
    struct effects effects;
    int64_t now;
    struct map records; /* hash of kind and id -> struct world_record */
    vec(struct world_reply) replies;
    vec(char *) mails; /* "ADDRESS: SUBJECT" */
    vec(struct world_run) runs;
    size_t n_history, n_outages, n_launched;
    vec(char *) trigger_runs;     /* "3 n[1-2]": number and argument of triggers that were run */
    bool triggers_hang;           /* nobody says that they were run */
    bool keeps_history;           /* requests are told what history has of jobs that are gone */
    vec(struct str) history;      /* runs, encoded */
    size_t n_scripts, n_prepares; /* programs of the controller; nodes asked to make ready */
    size_t n_terminates, n_terminates_with_cpus; /* orders to end a job; what Epilog is told */
    size_t n_signals[SIGNALS_KNOWN];             /* that nodes were told to send, by number */
    bool node_up[WORLD_NODES_MAX];
    bool nodes_answer;                     /* false: messages to nodes are lost */
    const char *problems[WORLD_NODES_MAX]; /* what nodes find wrong when they are to look */
    uint32_t boots[WORLD_NODES_MAX];       /* how often the machine has booted anew */
    uint32_t n_programs[WORLD_NODES_MAX];  /* HealthCheckProgram was to run */
    uint32_t n_reboots[WORLD_NODES_MAX];   /* RebootProgram was to run */
    bool launches_fail;
    bool shares;     /* CPUs may be held by several jobs: world_check compares sums only */
    uint64_t client; /* of the next request */
    uint32_t n_nodes;
    uint32_t uid;
    const char *second_group; /* of the user besides the first, or NULL */
};

/* What stands behind a line "#topology.conf" is that file. */
void world_start(struct world *world, const char *conf_text);
void world_stop(struct world *world);
void world_node_connects(struct world *world, uint32_t node);
void world_node_lost(struct world *world, uint32_t node);
void world_all_connect(struct world *world);
/* The controller dies here and comes back from what was stored. Nodes stay as they are. */
void world_restart(struct world *world);
/* The same controller gets another configuration; nodes keep their connections. Returns the core's
 * answer; on failure the old configuration stays. */
int world_reconfigure(struct world *world, const char *conf_text);
/* Ends the turn: plans, stores, delivers, until nothing more happens. */
void world_turn(struct world *world);
void world_pass_time(struct world *world, int64_t seconds);

/* A request of world->uid; the body is encoded and decoded. Returns the client used. */
uint64_t world_send(struct world *world, uint16_t type, const void *body);
/* The last answer to a client of a type; NULL if there is none. Decoded into the arena. */
const void *world_answer(struct world *world, uint64_t client, uint16_t type, struct arena *arena);
/* Its connection ends. */
void world_client_gone(struct world *world, uint64_t client);
/* The code in the last answer to a client: that of its first result or of a refusal; 0 is none. */
int world_code(struct world *world, uint64_t client);

/* A batch job with defaults (1 task, script): change what matters, then submit. */
void world_request(struct job_request *request);
/* Returns the job's id, 0 when refused (then *ret_code is the reason, positive). */
uint32_t world_submit(struct world *world, const struct job_request *request, int *ret_code);
uint32_t world_job(struct world *world); /* world_request + world_submit, must succeed */
/* The record as a listing shows it; false when it is gone. Members live until the next call. */
bool world_look(struct world *world, uint32_t job_id, struct job *ret);
uint32_t world_state(struct world *world, uint32_t job_id);
/* The record of task `task` of array `id`; 0 = it has none of its own. */
uint32_t world_task(struct world *world, uint32_t id, uint32_t task);
/* What `sluice why` is answered; NULL where that takes several turns, or is an error. */
const struct why_reply *world_why(struct world *world, uint32_t job_id, struct arena *arena);
/* The batch script of the job's present attempt ends. */
void world_script_ends(struct world *world, uint32_t job_id, uint32_t exit_status);
int world_kill(struct world *world, const char *id);
int world_verb(struct world *world, uint32_t verb, const char *id);
int world_update(struct world *world, const char *entity, const char *target, const char *key,
                 const char *value);
/* "add qos high priority=10", "modify user alice set maxjobs=3": a change of the accounting, by
 * root. The code of the answer; -1 when there was nothing to do. */
int world_sacctmgr(struct world *world, const char *line);
/* The same, which must change something. */
void world_book(struct world *world, const char *line);
struct world_run *world_run_of(struct world *world, uint32_t job_id);
/* No CPU of a node is given twice, what runs is known, sums agree; aborts with the seed if not. */
void world_check(struct world *world);

#endif
