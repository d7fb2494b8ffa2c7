/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the core wants done. A turn's effects are one batch: the shell stores the records in one
 * transaction and releases everything else (replies, messages to nodes) only after the commit.
 */
#ifndef SLUICE_CORE_EFFECT_H
#define SLUICE_CORE_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "model/messages.h"

/* Kinds of stored records; frozen. */
enum store_kind {
    STORE_META = 1,         /* id 1: struct core_meta */
    STORE_JOB = 2,          /* id: job id; record_job without script and environment */
    STORE_JOB_SCRIPT = 3,   /* id: job id of the submission; record_job_script */
    STORE_STEP = 4,         /* id: job id << 32 | step id */
    STORE_NODE = 5,         /* id: hash of the name; record_node: what an administrator or a failure
                               changed */
    STORE_PARTITION = 6,    /* id: hash of the name; record_partition as changed at run time */
    STORE_RESERVATION = 7,  /* id: its number; record_reservation */
    STORE_QOS = 8,          /* id: hash of the name; record_qos */
    STORE_ACCOUNT = 9,      /* id: hash of the name; record_account */
    STORE_ACCT_USER = 10,   /* id: hash of the name; record_acct_user */
    STORE_ASSOC = 11,       /* id: its number; record_assoc */
    STORE_USAGE = 12,       /* id: kind << 32 | number of association or QOS; record_assoc_usage */
    STORE_HABIT = 19,       /* id: hash of user and name; record_habit */
    STORE_KEPT_SCRIPT = 20, /* id as STORE_JOB_SCRIPT; what AccountingStoreFlags keeps of it */
    STORE_CLUSTER_KEY = 30, /* id 1: what slurmdbd knows this controller by */
    STORE_CRONTAB = 31,     /* id: uid; record_crontab */
    STORE_TRIGGER = 32,     /* id: its number; record_trigger */
    STORE_KINDS,
};

enum effect_kind {
    EFFECT_PUT,        /* store_kind, id, body */
    EFFECT_DELETE,     /* store_kind, id */
    EFFECT_HISTORY,    /* a row of history: body is its record, history the summary */
    EFFECT_REPLY,      /* client, type, flags, seq, body */
    EFFECT_GRANT,      /* as REPLY, but the shell first signs `credential` (wire of step_credential)
                          and puts it into the layout of the body: alloc_granted or step_reply */
    EFFECT_NODE,       /* node, type, body: on the node's standing connection */
    EFFECT_LAUNCH,     /* node, body: a record_launch; the shell adds script and environment, which
                          STORE_JOB_SCRIPT has under id */
    EFFECT_NODE_CLOSE, /* node: drop its connection after what was sent */
    EFFECT_SCRIPT, /* id = job; body: record_job_script_order; core_script_done() when it has run */
    EFFECT_TRIGGER, /* id, body: record_trigger to be run; core_trigger_ran() when that is done */
    EFFECT_MAIL,    /* text = subject, id = job; body = address */
    EFFECT_LOG,     /* level, text */
    EFFECT_SHUTDOWN,
    EFFECT_RECONFIGURE, /* client, seq: the shell reads the files, validates, calls core_configure
                         */
};

enum effect_level { EFFECT_ERROR, EFFECT_WARNING, EFFECT_INFO, EFFECT_DEBUG };

/* Kinds of history rows, with their records; frozen. */
enum history_kind {
    HISTORY_RUN = 1,        /* a job's last run; record_acct_job */
    HISTORY_SUPERSEDED = 2, /* an earlier run of a job that was requeued; record_acct_job */
    HISTORY_CHANGE = 3,     /* of the book; record_acct_transaction */
    HISTORY_OPEN = 4,     /* a run that has started or just ended, for slurmdbd; record_acct_job */
    HISTORY_OUTAGE = 5,   /* of a node, or its end; record_acct_outage */
    HISTORY_CAPACITY = 6, /* what the cluster has; record_acct_capacity */
    HISTORY_SCRIPT = 7,   /* what is kept of a submission, for slurmdbd; record_job_script */
};
#define HISTORY_JOBS (1u << HISTORY_RUN | 1u << HISTORY_SUPERSEDED)

struct effect_history {
    uint32_t job_id, array_id, uid, state; /* array_id 0: of no array */
    int64_t submit, start, end;
    enum history_kind kind;
};

struct effect {
    enum effect_kind kind;
    uint16_t type, flags;
    uint32_t seq;
    uint32_t node;
    uint64_t client;
    uint32_t store_kind;
    uint64_t id;
    const char *text; /* LOG, MAIL */
    enum effect_level level;
    struct bytes body;
    struct bytes credential;
    struct effect_history history;
};

struct effects {
    vec(struct effect) list;
    struct arena memory; /* all bytes and texts live here */
};

void effects_init(struct effects *effects);
void effects_done(struct effects *effects);
/* True if something must be committed before the rest may leave. */
bool effects_need_store(const struct effects *effects);

#endif
