/* SPDX-License-Identifier: Apache-2.0 */
/* The book as it is: listings of all clusters, and one cluster's as a file. */
#include <stdlib.h>

#include "assoc/list.h"
#include "base/alloc.h"
#include "slurmdbd/book.h"

struct listing {
    struct book_request *request;
    struct keeper *keeper;
};

static void frame_list(struct book_request *request, const struct assoc_book *book,
                       const struct assoc_asker *asker, const struct acct_cluster *of) {
    struct str *frame = vec_add(&request->frames);
    struct assoc_list list;
    struct arena memory;
    arena_init(&memory, 0);
    record_init(&record_assoc_list, &list);
    assoc_list_fill(book, asker, request->is_private, &memory, &list);
    if (of != NULL) {
        bool here = strs_has_nocase(&request->connected, of->name);
        list.cluster = of->name;
        list.control_host = here ? of->control_host : NULL;
        list.control_port = here ? of->control_port : 0;
    }
    *frame = (struct str) STR_INIT;
    wire_encode(&record_assoc_list, &list, NULL, frame);
    arena_done(&memory);
}

static int list_cluster(const struct acct_cluster *of, void *context, struct error *err) {
    const struct listing *listing = context;
    struct book_request *request = listing->request;
    const struct shared_cluster *cluster = shared_add(&listing->keeper->books, of->name);
    bool sees_all = request->is_super ||
                    shared_admin_level(&listing->keeper->books, request->asker) != ADMIN_NONE;
    struct assoc_asker asker = {request->asker, sees_all};
    frame_list(request, &cluster->book, &asker, of);
    return 0;
}

static int list_work(struct task *task, struct acct *acct, struct error *err) {
    struct book_request *request = container_of(task, struct book_request, task);
    struct listing listing = {request, request->dbd->book};
    int r = keeper_refresh(listing.keeper, acct, err);
    if (r == 0)
        r = acct_clusters(acct, list_cluster, &listing, err);
    if (r == 0 && request->frames.n == 0) { /* the QOS are there without clusters */
        struct assoc_asker asker = {request->asker, request->is_super};
        frame_list(request, &listing.keeper->books.common, &asker, NULL);
    }
    return r;
}

/* The frames that the work has made, as one answer. */
static void frames_done(struct task *task, uint16_t type) {
    struct book_request *request = container_of(task, struct book_request, task);
    struct client *client = client_find(request->dbd, request->client);
    dbd_note_database(request->dbd, task);
    if (task->code < 0) {
        book_request_failed(request);
        return;
    }
    for (size_t i = 0; client != NULL && i < request->frames.n; i++)
        rpc_conn_send(client->conn, type, i + 1 == request->frames.n ? RPC_LAST : 0, request->seq,
                      str_bytes(&request->frames.items[i]));
    book_request_free(request);
}

static void list_done(struct task *task) {
    frames_done(task, MSG_ASSOC_LIST);
}

void book_list(struct client *client, uint32_t seq, const void *body) {
    book_request_submit(book_request_new(client, seq, &record_empty, body), list_work, list_done);
}

static int dump_work(struct task *task, struct acct *acct, struct error *err) {
    struct book_request *request = container_of(task, struct book_request, task);
    const struct assoc_file *file = request->body;
    struct keeper *keeper = request->dbd->book;
    struct str text cleanup_str = STR_INIT;
    int r = keeper_refresh(keeper, acct, err);
    if (r < 0)
        return r;
    if (!request->is_super &&
        shared_admin_level(&keeper->books, request->asker) != ADMIN_ADMINISTRATOR)
        return error_set(err, ERR_INVALID,
                         " Your user does not have sufficient privileges to dump clusters.");
    const struct shared_cluster *cluster =
        file->cluster != NULL ? shared_find(&keeper->books, file->cluster) : NULL;
    if (cluster == NULL)
        return error_set(err, ERR_INVALID,
                         " Cluster %s doesn't exist.\n        sacctmgr show clusters lists them.",
                         file->cluster != NULL ? file->cluster : "");
    assoc_dump(&cluster->book, &text);
    struct assoc_file reply = {.cluster = cluster->name, .text = text.data};
    struct str *frame = vec_add(&request->frames);
    *frame = (struct str) STR_INIT;
    wire_encode(&record_assoc_file, &reply, NULL, frame);
    return 0;
}

static void dump_done(struct task *task) {
    frames_done(task, MSG_ASSOC_FILE);
}

void book_dump(struct client *client, uint32_t seq, const void *body) {
    book_request_submit(book_request_new(client, seq, &record_assoc_file, body), dump_work,
                        dump_done);
}
