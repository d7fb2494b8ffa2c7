/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurmctld: a thin shell that joins connections, the store and the clock to the core. It holds no
 * policy. One struct ctld per process; everything but credential checks and the store's commits
 * runs in the loop's thread.
 *
 * A turn of the loop ends in ctld_turn_end(): the core plans and hands out its effects as one
 * batch; the batch goes to the store, and what leaves the process (replies, messages to nodes) is
 * released in order once the commit is durable.
 */
#ifndef SLUICE_SLURMCTLD_CTLD_H
#define SLUICE_SLURMCTLD_CTLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"
#include "base/map.h"
#include "core/core.h"
#include "model/conf.h"
#include "os/log.h"
#include "os/loop.h"
#include "os/store.h"
#include "os/userdb.h"
#include "rpc/rpc.h"

#define STORE_VERSION 1

struct options {
    const char *conf_file, *log_file;
    bool foreground, clear, ignore_errors, check_only, systemd;
    int verbose, nice;
    bool nice_given;
};

struct client {
    uint64_t id;
    struct rpc_conn *conn;
    struct ctld *ctld;
    uint32_t node; /* of a slurmd's connection, else UINT32_MAX */
};

/* What sdiag shows of requests of one type, and of one user: how many, and what they took. */
struct call_count {
    uint64_t n, usec;
};
struct user_calls {
    uint32_t uid;
    struct call_count calls;
};
/* Planning, in turns of the loop that planned; the turn's writing of records is part of them. */
struct cycle_counts {
    uint64_t usec_last, usec_max, usec_total, n, depth_last;
    int64_t last_when;
    uint64_t passes_seen, candidates_seen;
};
#define FRAME_BYTES (256u << 10) /* of a listing that is sent in pieces */
#define CALL_TYPES 128           /* message numbers of requests are below */
#define CALL_USERS_MAX 1024

struct ctld {
    struct options options;
    struct conf *conf;
    char *conf_path;
    struct loop *loop;
    struct rpc_auth auth;
    char *munge_socket;
    struct rpc_server *server;
    struct store *store;
    struct core *core;
    struct userdb *users;
    uid_t slurm_uid, slurmd_uid;
    char hostname[256];
    char *pid_file;
    int pid_fd;

    struct effects *effects; /* of the turn that is running */
    struct list pending;     /* batches on their way, in order */
    bool store_failing;
    uint64_t store_told_usec; /* when the log last heard of it; 0 = all is stored */
    struct loop_timer *timer, *retry_timer;

    struct filter *filter;        /* of submissions; NULL until one is needed, see filter.h */
    struct list triggers_waiting; /* calls of trigger.c that wait for others to end */
    unsigned triggers_running;
    struct bygone_desk *bygone; /* NULL until a request asks for jobs that are gone, see bygone.h */

    uint64_t next_client;
    struct map clients; /* id -> struct client */
    struct map nodes;   /* node index -> struct client */
    struct arena request_memory;
    int64_t now; /* seconds; never goes back */
    int64_t start_time;
    uint64_t n_requests;
    struct call_count calls[CALL_TYPES];
    struct map user_calls; /* uid -> struct user_calls, CALL_USERS_MAX at most */
    struct cycle_counts cycles;
    struct loop_timer *purge_timer;
    struct deliver *deliver;    /* NULL: there is no slurmdbd */
    struct list runs_questions; /* of slurmdbd; runs.c */
};

int64_t ctld_now(struct ctld *ctld);

/* requests.c */
/* Who stands behind a connection, with all groups; the names live in request_memory. */
void request_user(struct ctld *ctld, const struct rpc_peer *peer, struct core_user *ret);
extern const struct rpc_handlers ctld_handlers;
void reply_record(struct client *client, uint16_t type, uint32_t seq, const void *body);
void reply_error_text(struct client *client, uint32_t seq, int code, const char *detail);

/* diag.c */
void diag_count_call(struct ctld *ctld, uint16_t type, uint32_t uid, uint64_t usec);
/* A turn of the core has ended that took so long. */
void diag_count_turn(struct ctld *ctld, uint64_t usec);
void diag_answer(struct client *client, uint32_t seq);
void diag_free(struct ctld *ctld);

/* release.c */
void ctld_turn_end(void *context);
void ctld_flush(struct ctld *ctld); /* at shutdown: everything is stored and sent */

/* trigger.c: an EFFECT_TRIGGER */
void trigger_run(struct ctld *ctld, const struct effect *effect);

/* script.c: an EFFECT_SCRIPT */
void script_run(struct ctld *ctld, const struct effect *effect);

/* acct_query.c */
void acct_query_start(struct client *client, uint32_t seq, const struct core_user *user,
                      const struct acct_query *query);

/* change_query.c: who changed what in the book */
void change_query_start(struct client *client, uint32_t seq, const struct change_query *query);

/* capacity_query.c: what the cluster has had */
void capacity_query_start(struct client *client, uint32_t seq);

/* event_query.c: outages of nodes */
void event_query_start(struct client *client, uint32_t seq, const struct event_query *query);

/* deliver.c: to slurmdbd, where it is configured */
void deliver_start(struct ctld *ctld);  /* and at each reconfiguration */
void deliver_stop(struct ctld *ctld);   /* before the loop ends */
void deliver_free(struct ctld *ctld);   /* after it */
void deliver_stored(struct ctld *ctld); /* a row of history has been stored */
/* The connection to slurmdbd; NULL: there is none now. */
struct rpc_conn *deliver_conn(const struct ctld *ctld);
struct deliver_state {
    const char *host;
    uint32_t port;
    bool connected;
    uint64_t n_waiting; /* rows that are to be delivered */
    int64_t since;
    const char *problem; /* "" = none */
};
/* False where there is no slurmdbd. */
bool deliver_state(const struct ctld *ctld, struct deliver_state *ret);

/* history_purge.c: what the store keeps of jobs that have ended goes when it is old */
void history_purge_start(struct ctld *ctld); /* and at each reconfiguration: looks at once */
void history_purge_stop(struct ctld *ctld);

/* book.c: the accounts, where slurmdbd keeps them */
void book_tell(struct ctld *ctld, struct rpc_conn *conn); /* what we have, when registered */
/* Answers a message of slurmdbd about the book; false: it is none. */
bool book_message(struct ctld *ctld, struct rpc_conn *conn, uint16_t type, uint32_t seq,
                  const void *body);

/* runs.c: which runs are here */
void runs_ask(struct ctld *ctld, struct rpc_conn *conn, uint32_t seq, const struct dbd_runs *runs);
void runs_delivered(struct ctld *ctld, uint64_t n); /* records more; UINT64_MAX: all */
void runs_forget(struct ctld *ctld);                /* who asked is gone */

/* reconfigure.c */
must_check int ctld_load_conf(struct ctld *ctld, struct conf **ret, struct conf_report *report,
                              struct error *err);
int ctld_reconfigure(struct ctld *ctld, struct error *err);
void list_config(struct client *client, uint32_t seq);
void list_topology(struct client *client, uint32_t seq);

#endif
