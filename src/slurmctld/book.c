/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book of accounts with slurmdbd: what we have is told with each registration, what slurmdbd
 * says counts (core/book.c). A book of our own that slurmdbd's takes the place of is saved as a
 * file first, for sacctmgr load.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slurmctld/ctld.h"

void book_tell(struct ctld *ctld, struct rpc_conn *conn) {
    struct dbd_book book;
    struct arena memory;
    arena_init(&memory, 0);
    core_book_tell(ctld->core, &memory, &book);
    rpc_conn_tell(conn, MSG_DBD_BOOK_MINE, RPC_LAST, 1, &book);
    arena_done(&memory);
}

/* Durable before the book changes. */
static int own_save(struct ctld *ctld, struct error *err) {
    struct str text cleanup_str = STR_INIT;
    if (!core_book_own(ctld->core, &text))
        return 0;
    cleanup_free char *path =
        xasprintf("%s/accounts-before-slurmdbd-%lld.cfg", ctld->conf->state_save_location,
                  (long long) ctld_now(ctld));
    FILE *file = fopen(path, "wxe");
    bool ok = file != NULL && fchmod(fileno(file), 0600) == 0 &&
              fputs(str_cstr(&text), file) >= 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int errnum = errno;
    if (file != NULL && fclose(file) != 0)
        ok = false;
    if (!ok)
        return error_errno(err, errnum,
                           "the accounts of cluster %s stay as they are, they could not be saved "
                           "as %s before slurmdbd's take their place",
                           ctld->conf->cluster_name, path);
    log_info("the accounts that this controller has kept by itself are saved as %s; from now on "
             "those of slurmdbd count, whose log tells what it has taken over",
             path);
    return 0;
}

static int book_take(struct ctld *ctld, const struct dbd_book *book, struct error *err) {
    int r = own_save(ctld, err);
    if (r < 0)
        log_error("%s", err->text);
    else
        core_book_take(ctld->core, ctld_now(ctld), book, ctld->effects);
    return r;
}

/* ---- answers, which leave when what they acknowledge is stored ---- */

struct answer {
    struct ctld *ctld;
    struct rpc_conn *conn;
    uint32_t seq;
    char *problem;
};

static void answer_send(int code, const struct error *err, void *context) {
    struct answer *answer = context;
    struct dbd_answer body = {.problem = answer->problem};
    if (code < 0)
        body.problem = (char *) (uintptr_t) err->text;
    if (deliver_conn(answer->ctld) == answer->conn)
        rpc_conn_tell(answer->conn, MSG_DBD_ANSWER, RPC_LAST, answer->seq, &body);
    free(answer->problem);
    free(answer);
}

/* The turn that took the book has been handed to the store: what is handed over now comes after. */
static void answer_queue(void *context) {
    struct answer *answer = context;
    store_submit(answer->ctld->store, store_batch_new(), answer_send, answer);
}

/* What is posted runs before the turn ends, so this posts again, for the next one. */
static void answer_later(void *context) {
    struct answer *answer = context;
    loop_post(answer->ctld->loop, answer_queue, answer);
}

bool book_message(struct ctld *ctld, struct rpc_conn *conn, uint16_t type, uint32_t seq,
                  const void *body) {
    struct error err = ERROR_INIT;
    if (type != MSG_DBD_BOOK && type != MSG_DBD_BOOK_TEST)
        return false;
    int r =
        type == MSG_DBD_BOOK ? book_take(ctld, body, &err) : core_book_test(ctld->core, body, &err);
    struct answer *answer = zalloc(struct answer);
    *answer = (struct answer) {ctld, conn, seq, r < 0 ? xstrdup(err.text) : NULL};
    if (type == MSG_DBD_BOOK_TEST)
        answer_send(0, NULL, answer);
    else
        loop_post(ctld->loop, answer_later, answer);
    return true;
}
