/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurmdbd: the accounting of several clusters. A thin shell between connections and the database
 * (acct/acct.h). The loop's thread owns everything here but the three database connections, each of
 * which a worker thread owns: one writes what controllers deliver, in order, one answers questions,
 * so that a long one delays no delivery, and one keeps the book of accounts.
 *
 * A delivery is acknowledged when its transaction is committed, never before; the controller keeps
 * it until then and sends it again where the answer was lost, and the numbers of its events tell
 * what is stored already.
 */
#ifndef SLUICE_SLURMDBD_DBD_H
#define SLUICE_SLURMDBD_DBD_H

#include <sys/types.h>

#include "acct/acct.h"
#include "base/list.h"
#include "base/map.h"
#include "model/conf_others.h"
#include "model/messages.h"
#include "os/loop.h"
#include "os/userdb.h"
#include "rpc/rpc.h"

/* ---- worker.c: a thread with a connection to the database ---- */
struct worker;
struct task {
    struct list link;
    /* In the worker's thread; a negative return has its sentence in err. */
    int (*work)(struct task *task, struct acct *acct, struct error *err);
    /* In the loop's thread: task->code is what work returned, or why the database was not there.
     * Frees the task. */
    void (*done)(struct task *task);
    int code;
    struct error err;
};
must_check int worker_start(struct loop *loop, const struct acct_location *location,
                            struct worker **ret, struct error *err);
/* What waits ends with ERR_CLOSED; what runs is waited for. NULL is ignored, and left behind:
 * answers that end with their connections, or with the loop, still come to worker_submit(). */
void worker_stop(struct worker **worker);
/* NULL: the task is done at once, with ERR_CLOSED. */
void worker_submit(struct worker *worker, struct task *task);
size_t worker_queued(struct worker *worker);

/* ---- stats.c: what has been asked, and what summing up took ---- */
#define STATS_TYPES 256
struct dbd_stats {
    int64_t since;
    uint64_t by_type[STATS_TYPES];
    struct map by_user; /* uid -> uint64_t *, STATS_USERS_MAX at most */
    uint64_t n_rollups, rollup_usec, rollup_usec_max;
};

/* ---- main.c ---- */
struct dbd {
    struct conf_dbd *conf;
    const char *conf_file; /* -f, or NULL */
    char *conf_path;
    struct loop *loop;
    struct rpc_auth auth;
    char *munge_socket;
    struct rpc_server *server;
    struct acct_location location;
    struct worker *writer, *reader, *keeper;
    struct keeper *book; /* the keeper thread's; book.c */
    struct list rounds;  /* questions to controllers; controllers.c */
    uint32_t last_seq;   /* of them */
    struct userdb *users;
    uid_t slurm_uid;
    char hostname[256];
    uint64_t next_client;
    struct map clients; /* id -> struct client */
    struct arena request_memory;
    int64_t start_time;
    uint64_t n_requests, n_events, n_events_before, n_rejected;
    struct loop_timer *rollup_timer;
    struct dbd_stats stats; /* stats.c */
    bool db_away;           /* the log has heard that the database cannot be reached */
};
/* One connection. */
struct client {
    uint64_t id;
    struct rpc_conn *conn;
    struct dbd *dbd;
    char *cluster;        /* of a controller that is registered */
    struct answer *waits; /* until the peer has read; query.c */
};
int64_t dbd_now(void);
/* Tells the log once when the database goes, and when it is back. */
void dbd_note_database(struct dbd *dbd, const struct task *task);
/* root, SlurmUser and whom slurmdbd itself runs as. */
bool dbd_is_super(const struct dbd *dbd, uid_t uid);

/* Reads the configuration again; on failure the former one stays, and the log says why. */
int dbd_reconfigure(struct dbd *dbd, struct error *err);
void stats_count(struct dbd *dbd, uint16_t type, uid_t uid);
void stats_count_rollup(struct dbd *dbd, uint64_t usec);
void stats_answer(struct client *client, uint32_t seq);
void stats_clear(struct dbd *dbd);
void stats_free(struct dbd *dbd);

/* ---- requests.c ---- */
extern const struct rpc_handlers dbd_handlers;
struct client *client_find(struct dbd *dbd, uint64_t id);
void reply_record(struct client *client, uint16_t type, uint32_t seq, const void *body);
void reply_error_text(struct client *client, uint32_t seq, int code, const char *detail);

/* ---- deliver.c: what controllers say ---- */
void deliver_register(struct client *client, uint32_t seq, const void *body);
void deliver_events(struct client *client, uint32_t seq, const void *body);

/* NULL: none is registered for it. */
struct client *controller_of(struct dbd *dbd, const char *cluster);

/* ---- controllers.c: asking them ---- */
struct controller_ask {
    const char *cluster;
    uint16_t type; /* answered with MSG_DBD_ANSWER */
    struct bytes body;
};
struct controller_answers {
    const char *problem, *cluster; /* the first objection and whose it is; NULL */
    struct strs away;              /* clusters whose controller is not registered or is silent */
    const struct dbd_answer *last; /* of one that was asked alone; NULL where it was not there */
};
/* Asks several at once; done() comes when all have answered, are away, or CONTROLLER_PATIENCE is
 * over, perhaps before this returns. */
#define CONTROLLER_PATIENCE_USEC 5000000u
void controllers_ask(struct dbd *dbd, const struct controller_ask *asks, size_t n,
                     void (*done)(const struct controller_answers *answers, void *context),
                     void *context);
void controllers_answered(struct client *client, uint32_t seq, const void *body);
void controllers_client_gone(struct client *client);
void controllers_stop(struct dbd *dbd); /* nobody is waited for any more */

/* ---- book.c: accounts, users, associations and QOS of all clusters ---- */
struct keeper *keeper_new(void);
void keeper_free(struct keeper *keeper); /* when its worker has stopped */
void book_change(struct client *client, uint32_t seq, const void *body);
void book_load(struct client *client, uint32_t seq, const void *body);
void book_dump(struct client *client, uint32_t seq, const void *body);
void book_list(struct client *client, uint32_t seq, const void *body);
/* A controller that has registered says what it has. */
void book_mine(struct client *client, uint32_t seq, const void *body);

/* ---- runs.c: runs without an end that their controller has forgotten ---- */
void runs_runaways(struct client *client, uint32_t seq, const void *body);

/* ---- rollup.c: usage is summed up by hours, days and months, after each full hour ---- */
void rollup_start(struct dbd *dbd);

/* ---- purge.c: what is too old goes ---- */
/* Of a cluster whose usage has just been summed up; NULL: what belongs to no cluster. */
void purge_submit(struct dbd *dbd, const char *cluster);
/* sacctmgr archive: archives and purges at once, or loads an archive. */
void purge_archive(struct client *client, uint32_t seq, const void *body);

/* ---- query.c: what commands ask ---- */
void query_jobs(struct client *client, uint32_t seq, const void *body);
void query_changes(struct client *client, uint32_t seq, const void *body);
void query_events(struct client *client, uint32_t seq, const void *body);
void query_usage(struct client *client, uint32_t seq, const void *body);
void query_cluster_use(struct client *client, uint32_t seq, const void *body);
void query_clusters(struct client *client, uint32_t seq, const void *body);
void query_client_gone(struct client *client);

#endif
