/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sstat asks what a step uses at this moment: its slurmstepd takes a look and reports, and the
 * report answers everybody who asked for that step meanwhile. The owner may ask, root, SlurmUser
 * and who runs slurmd.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slurmd/slurmd.h"

#define STATS_MAX 4096 /* questions under way */

struct stat_question {
    struct list in_slurmd;
    struct rpc_conn *conn;
    uint32_t seq;
    struct step_key key;
};

static void question_free(struct stat_question *question) {
    list_remove(&question->in_slurmd);
    free(question);
}

static size_t count(const struct slurmd *slurmd) {
    size_t n = 0;

    list_each (&slurmd->stats, node)
        n++;
    return n;
}

void stat_ask(struct slurmd *slurmd, struct rpc_conn *conn, const struct rpc_message *message) {
    struct step_stat wanted;
    struct step_key key;
    struct arena arena;
    struct error err = ERROR_INIT;

    message_arena_init(&arena, message->body);
    int r = wire_decode(&record_step_stat, message->body, &arena, &wanted, &err);
    arena_done(&arena);
    if (r < 0) {
        rpc_conn_answer_error(conn, message->seq, err.code, err.text);
    } else if (!step_find(slurmd, wanted.job_id, wanted.step_id, &key)) {
        rpc_conn_answer_error(conn, message->seq, ERR_INVALID_JOB_ID,
                              "This step does not run on this node.");
    } else if (count(slurmd) >= STATS_MAX) {
        rpc_conn_answer_error(conn, message->seq, ERR_BUSY, "Too many ask at once; try again.");
    } else {
        struct stat_question *question = zalloc(struct stat_question);
        struct step_command command = {.kind = STEP_COMMAND_REPORT};
        question->conn = conn;
        question->seq = message->seq;
        question->key = key;
        list_append(&slurmd->stats, &question->in_slurmd);
        step_command(slurmd, key, &command);
    }
}

static bool may_know(const struct slurmd *slurmd, uid_t asker, uid_t owner) {
    return asker == owner || asker == 0 || asker == slurmd->slurm_uid || asker == getuid();
}

void stat_report(struct slurmd *slurmd, const struct step_report *report) {
    struct step_key key = {report->job_id, report->step_id, report->attempt};
    struct step_stat_reply reply;
    cleanup_str struct str body = STR_INIT;

    record_init(&record_step_stat_reply, &reply);
    reply.usage = report->usage;
    reply.pids = report->pids;
    wire_encode(&record_step_stat_reply, &reply, NULL, &body);
    list_each (&slurmd->stats, node) {
        struct stat_question *question = list_entry(node, struct stat_question, in_slurmd);
        if (!step_key_equal(question->key, key))
            continue;
        if (may_know(slurmd, rpc_conn_peer(question->conn)->uid, report->uid))
            rpc_conn_send(question->conn, MSG_STEP_STAT_REPLY, RPC_LAST, question->seq,
                          str_bytes(&body));
        else
            rpc_conn_answer_error(question->conn, question->seq, ERR_USER_ID,
                                  "Only its owner and administrators may look at a step.");
        question_free(question);
    }
}

void stat_step_gone(struct slurmd *slurmd, struct step_key key) {
    list_each (&slurmd->stats, node) {
        struct stat_question *question = list_entry(node, struct stat_question, in_slurmd);
        if (!step_key_equal(question->key, key))
            continue;
        rpc_conn_answer_error(question->conn, question->seq, ERR_INVALID_JOB_ID,
                              "The step has ended.");
        question_free(question);
    }
}

void stat_conn_closed(struct slurmd *slurmd, const struct rpc_conn *conn) {
    list_each (&slurmd->stats, node) {
        struct stat_question *question = list_entry(node, struct stat_question, in_slurmd);
        if (question->conn == conn)
            question_free(question);
    }
}
