/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the keeper of the book: what it holds in memory, and a request while it is worked on. */
#ifndef SLUICE_SLURMDBD_BOOK_H
#define SLUICE_SLURMDBD_BOOK_H

#include "assoc/shared.h"
#include "slurmdbd/dbd.h"

struct keeper {
    struct shared_books books;
    uint64_t version;
    bool is_loaded;
};
/* Reads it again where the database has another one. */
must_check int keeper_refresh(struct keeper *keeper, struct acct *acct, struct error *err);

struct part { /* what one controller is told */
    char *cluster;
    struct str body;
};
struct book_request {
    struct task task;
    struct dbd *dbd;
    uint64_t client;
    uint32_t seq;
    const struct record *record;
    void *body;  /* owned, of that record */
    char *asker; /* owned */
    bool is_super, is_private;
    bool is_checked; /* controllers have nothing against it */
    struct strs connected;
    vec(struct part) tests, books; /* for controllers: what would go, what counts now */
    struct assoc_changed reply;    /* owned */
    vec(struct str) frames;        /* of a listing */
    struct strs log;
};
/* Of a connection; `record` says what body is, which is copied. */
struct book_request *book_request_new(struct client *client, uint32_t seq,
                                      const struct record *record, const void *body);
void book_request_free(struct book_request *request);
/* To the keeper's thread, and back. */
void book_request_submit(struct book_request *request,
                         int (*work)(struct task *task, struct acct *acct, struct error *err),
                         void (*done)(struct task *task));
/* Tells why its task has failed, and frees it. */
void book_request_failed(struct book_request *request);

#endif
