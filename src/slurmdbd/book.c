/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book of accounts, users, associations and QOS of all clusters (doc/design/017). A worker of
 * its own, the keeper, holds it in memory and stores what changes; the database's number of the
 * book tells whether somebody else has changed it. So changes are made one after the other.
 *
 * A change that takes entries away is shown to the controllers concerned first, who know their
 * jobs; one that is stored is sent to them, as the whole book of their cluster, before the command
 * is answered. A controller that is away gets it when it registers.
 */
#include <stdlib.h>
#include <string.h>

#include "assoc/list.h"
#include "assoc/tell.h"
#include "base/alloc.h"
#include "os/log.h"
#include "slurmdbd/book.h"

#define RUNS_PAGE 1000

struct keeper *keeper_new(void) {
    struct keeper *keeper = zalloc(struct keeper);
    shared_init(&keeper->books);
    return keeper;
}

void keeper_free(struct keeper *keeper) {
    if (keeper == NULL)
        return;
    shared_done(&keeper->books);
    free(keeper);
}

/* ---- the book in memory ---- */

struct reading {
    struct keeper *keeper;
    const char *cluster; /* NULL: of all */
};

static int take_entry(uint32_t kind, uint64_t id, struct bytes body, void *context,
                      struct error *err) {
    struct reading *reading = context;
    const struct record *record = assoc_record(kind);
    struct arena memory;
    if (record == NULL)
        return error_set(err, ERR_VERSION,
                         "the book has an entry of kind %u: a newer release "
                         "has written it",
                         kind);
    arena_init(&memory, 0);
    void *body_read = arena_alloc(&memory, record->size);
    int r = wire_decode(record, body, &memory, body_read, err);
    if (r == 0)
        shared_restore(&reading->keeper->books, reading->cluster, kind,
                       record_dup(record, body_read));
    arena_done(&memory);
    return r;
}

static int read_all(struct keeper *keeper, struct acct *acct, struct error *err) {
    struct reading reading = {.keeper = keeper};
    struct strs names cleanup_strs = {NULL, 0};
    shared_done(&keeper->books);
    shared_init(&keeper->books);
    keeper->is_loaded = false;
    int r = acct_book_load(acct, "", take_entry, &reading, err);
    if (r == 0)
        r = acct_cluster_names(acct, &names, err);
    for (uint32_t i = 0; r == 0 && i < names.n; i++) {
        reading.cluster = names.items[i];
        (void) shared_add(&keeper->books, reading.cluster);
        r = acct_book_load(acct, reading.cluster, take_entry, &reading, err);
    }
    keeper->is_loaded = r == 0;
    return r;
}

int keeper_refresh(struct keeper *keeper, struct acct *acct, struct error *err) {
    uint64_t version = 0;
    int r = acct_book_version(acct, &version, err);
    if (r < 0 || (keeper->is_loaded && version == keeper->version && keeper->books.clusters.n > 0))
        return r;
    keeper->version = version;
    return read_all(keeper, acct, err);
}

/* ---- one request ---- */

static void parts_done(struct part *parts, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(parts[i].cluster);
        str_done(&parts[i].body);
    }
}

void book_request_free(struct book_request *request) {
    parts_done(request->tests.items, request->tests.n);
    parts_done(request->books.items, request->books.n);
    vec_each (&request->frames, frame)
        str_done(frame);
    vec_done(&request->frames);
    vec_done(&request->tests);
    vec_done(&request->books);
    record_done(&record_assoc_changed, &request->reply);
    record_free(request->record, request->body);
    strs_done(&request->connected);
    strs_done(&request->log);
    free(request->asker);
    free(request);
}

struct book_request *book_request_new(struct client *client, uint32_t seq,
                                      const struct record *record, const void *body) {
    struct dbd *dbd = client->dbd;
    uid_t uid = rpc_conn_peer(client->conn)->uid;
    struct book_request *request = zalloc(struct book_request);
    size_t at = 0;
    uint64_t id;
    struct client *other;
    request->dbd = dbd;
    request->client = client->id;
    request->seq = seq;
    request->record = record;
    request->body = record_dup(record, body);
    request->asker = xstrdup(userdb_user_name(dbd->users, uid));
    request->is_super = dbd_is_super(dbd, uid);
    request->is_private =
        (dbd->conf->private_data & (CONF_PRIVATE_ACCOUNTS | CONF_PRIVATE_USERS)) != 0;
    record_init(&record_assoc_changed, &request->reply);
    while ((other = map_next(&dbd->clients, &at, &id)) != NULL) {
        if (other->cluster != NULL)
            strs_push(&request->connected, other->cluster);
    }
    return request;
}

void book_request_submit(struct book_request *request,
                         int (*work)(struct task *task, struct acct *acct, struct error *err),
                         void (*done)(struct task *task)) {
    request->task = (struct task) {.work = work, .done = done};
    worker_submit(request->dbd->keeper, &request->task);
}

void book_request_failed(struct book_request *request) {
    struct client *client = client_find(request->dbd, request->client);
    const struct task *task = &request->task;
    if (client != NULL)
        reply_error_text(client, request->seq, task->code, task->err.text);
    book_request_free(request);
}

/* ---- storing ---- */

struct writing {
    struct book_request *request;
    int64_t now;
    struct arena memory;
    vec(struct acct_book_edit) edits;
    vec(struct acct_transaction) rows;
    const char *taken_from; /* a controller's own book: one row for all */
};

static char *keep(struct writing *writing, const char *text) {
    return text != NULL ? arena_strdup(&writing->memory, text) : NULL;
}

static void write_edit(struct writing *writing, const char *cluster, uint32_t kind, uint64_t id,
                       const void *next) {
    struct acct_book_edit *edit = vec_add(&writing->edits);
    struct str body cleanup_str = STR_INIT;
    edit->cluster = cluster != NULL ? keep(writing, cluster) : "";
    edit->kind = kind;
    edit->id = id;
    if (next == NULL)
        return;
    wire_encode(assoc_record(kind), next, NULL, &body);
    edit->record.data = (const uint8_t *) arena_strndup(&writing->memory, body.data, body.length);
    edit->record.size = body.length;
}

static void write_row(struct writing *writing, const char *cluster, uint32_t kind, const void *old,
                      const void *next) {
    struct assoc_told told;
    if (writing->taken_from != NULL)
        return;
    assoc_tell_row(kind, old, next, &told);
    struct acct_transaction *row = vec_add(&writing->rows);
    record_init(&record_acct_transaction, row);
    row->time = writing->now;
    row->actor = writing->request->asker;
    row->action = (char *) (uintptr_t) told.action;
    row->subject = keep(writing, str_cstr(&told.object));
    row->info = keep(writing, str_cstr(&told.info));
    row->cluster = keep(writing, cluster);
    assoc_told_done(&told);
}

static void on_edit(void *context, const char *cluster, uint32_t kind, const void *old,
                    const void *next) {
    struct writing *writing = context;
    uint64_t was = old != NULL ? assoc_store_id(kind, old) : 0;
    uint64_t is = next != NULL ? assoc_store_id(kind, next) : 0;
    if (old != NULL && was != is)
        write_edit(writing, cluster, kind, was, NULL);
    if (next != NULL)
        write_edit(writing, cluster, kind, is, next);
    write_row(writing, cluster, kind, old, next);
}

/* What a cluster's controller is to have. */
static void book_part(struct book_request *request, const struct shared_cluster *cluster) {
    static const struct assoc_asker root = {"root", true};
    struct keeper *keeper = request->dbd->book;
    struct part *part = vec_add(&request->books);
    struct assoc_list list;
    struct dbd_book book = {.version = keeper->version, .book = &list};
    struct arena memory;
    arena_init(&memory, 0);
    record_init(&record_assoc_list, &list);
    list.cluster = cluster->name;
    assoc_list_fill(&cluster->book, &root, false, &memory, &list);
    part->cluster = xstrdup(cluster->name);
    part->body = (struct str) STR_INIT;
    wire_encode(&record_dbd_book, &book, NULL, &part->body);
    arena_done(&memory);
}

/* Stores it and makes it so in memory. What was not stored is read again before the next change. */
static int carry_out(struct book_request *request, struct acct *acct, struct shared_plan *plan,
                     const char *taken_from, struct error *err) {
    struct keeper *keeper = request->dbd->book;
    struct writing writing = {.request = request, .now = dbd_now(), .taken_from = taken_from};
    struct strs changed cleanup_strs = {NULL, 0};
    arena_init(&writing.memory, 0);
    for (size_t i = 0; i < plan->plans.n; i++) {
        if (plan->plans.items[i].edits.n > 0)
            strs_push(&changed, keeper->books.clusters.items[i]->name);
    }
    shared_apply(&keeper->books, plan, on_edit, &writing);
    if (taken_from != NULL) {
        struct acct_transaction *row = vec_add(&writing.rows);
        record_init(&record_acct_transaction, row);
        row->time = writing.now;
        row->actor = request->asker;
        row->action = (char *) (uintptr_t) "Take Over";
        row->subject = row->cluster = keep(&writing, taken_from);
        row->info = (char *) (uintptr_t) "the accounts that its slurmctld has kept";
    }
    int r = acct_book_apply(acct, writing.edits.items, writing.edits.n, writing.rows.items,
                            writing.rows.n, &keeper->version, err);
    keeper->is_loaded = r == 0;
    for (uint32_t i = 0; r == 0 && i < changed.n; i++)
        book_part(request, shared_find(&keeper->books, changed.items[i]));
    vec_done(&writing.edits);
    vec_done(&writing.rows);
    arena_done(&writing.memory);
    return r;
}

/* ---- changes ---- */

static void collect_going(const struct assoc_book *book, const struct assoc_plan *plan,
                          struct assoc_list *list, struct arena *memory) {
    list->assocs.items = arena_alloc(memory, (plan->edits.n + 1) * sizeof(struct assoc));
    list->qos.items = arena_alloc(memory, (plan->edits.n + 1) * sizeof(struct qos));
    vec_each (&plan->edits, edit) {
        if (edit->next != NULL || edit->at == SIZE_MAX)
            continue;
        const void *old = book->entries[edit->kind].items[edit->at];
        if (edit->kind == ASSOC_ASSOC)
            list->assocs.items[list->assocs.n++] = *(const struct assoc *) old;
        if (edit->kind == ASSOC_QOS)
            list->qos.items[list->qos.n++] = *(const struct qos *) old;
    }
}

/* ---- jobs of a cluster whose controller is away ---- */

struct open_runs {
    const struct assoc_list *going;
    const char *cluster;
};

static bool run_counts_on(const struct assoc_list *going, const struct job *job) {
    for (uint32_t i = 0; i < going->qos.n; i++) {
        if (str_equal_nocase(going->qos.items[i].name, job->qos))
            return true;
    }
    for (uint32_t i = 0; i < going->assocs.n; i++) {
        const struct assoc *assoc = &going->assocs.items[i];
        if (assoc->user != NULL && str_equal_nocase(assoc->user, job->user_name) &&
            str_equal_nocase(assoc->account, job->account) &&
            (assoc->partition == NULL || str_equal(assoc->partition, job->partition)))
            return true;
    }
    return false;
}

static int look_at_run(const struct acct_job_row *row, void *context, struct error *err) {
    const struct open_runs *runs = context;
    struct acct_job record;
    struct arena memory;
    arena_init(&memory, 0);
    int r = wire_decode(&record_acct_job, row->record, &memory, &record, err);
    if (r == 0 && record.job != NULL && run_counts_on(runs->going, record.job))
        r = error_set(err, ERR_BUSY,
                      " Error with request: Job(s) active, cancel job(s) before remove\n"
                      "  JobID = %u U = %s A = %s QOS = %s\n  C = %s (its controller is not "
                      "connected; as slurmdbd knows, the job has not ended)",
                      record.job->job_id, record.job->user_name,
                      record.job->account != NULL ? record.job->account : "none",
                      record.job->qos != NULL ? record.job->qos : "none", runs->cluster);
    arena_done(&memory);
    return r;
}

/* What has started there and has not ended: its pending jobs only the controller knows. */
static int check_open_runs(struct book_request *request, struct acct *acct, const char *cluster,
                           const struct assoc_list *going, struct error *err) {
    struct open_runs runs = {going, cluster};
    struct acct_job_list *list = NULL;
    if (strs_has_nocase(&request->connected, cluster))
        return 0;
    int64_t left = acct_runaways(acct, cluster, NULL, 0, &list, err);
    bool more = left == 0;
    while (more) {
        left = acct_jobs_next(list, RUNS_PAGE, look_at_run, &runs, err);
        more = left > 0;
    }
    acct_jobs_done(list);
    return (int) left;
}

/* What goes, for the controllers to see whether jobs count on it. */
static int tests_make(struct book_request *request, struct acct *acct,
                      const struct shared_plan *plan, struct error *err) {
    const struct shared_books *books = &request->dbd->book->books;
    int r = 0;
    for (size_t i = 0; r == 0 && i < plan->plans.n; i++) {
        struct assoc_list list;
        struct dbd_book book = {.book = &list};
        struct arena memory;
        arena_init(&memory, 0);
        record_init(&record_assoc_list, &list);
        collect_going(&books->clusters.items[i]->book, &plan->plans.items[i], &list, &memory);
        if (list.assocs.n + list.qos.n > 0) {
            struct part *part = vec_add(&request->tests);
            part->cluster = xstrdup(books->clusters.items[i]->name);
            part->body = (struct str) STR_INIT;
            wire_encode(&record_dbd_book, &book, NULL, &part->body);
            r = check_open_runs(request, acct, part->cluster, &list, err);
        }
        arena_done(&memory);
    }
    return r;
}

/* With a plan: tells it, and carries it out if that is wanted and nobody is to be asked. */
static int planned(struct book_request *request, struct acct *acct, struct shared_plan *plan,
                   bool commit, struct error *err) {
    int r = 0;
    if (!request->is_checked) {
        string_set(&request->reply.text, plan->text.length > 0 ? plan->text.data : NULL);
        for (uint32_t i = 0; i < plan->notes.n; i++)
            strs_push(&request->reply.notes, plan->notes.items[i]);
        r = tests_make(request, acct, plan, err);
    }
    bool ask_first = !request->is_checked && request->tests.n > 0;
    if (r == 0 && commit && !ask_first && !shared_plan_is_empty(plan))
        r = carry_out(request, acct, plan, NULL, err);
    shared_plan_done(plan);
    return r;
}

/* ---- clusters come and go ---- */

/* Who did what, and another number of the book. */
static int note_cluster(struct book_request *request, struct acct *acct, const char *action,
                        const char *name, struct error *err) {
    struct acct_transaction row;
    record_init(&record_acct_transaction, &row);
    row.time = dbd_now();
    row.actor = request->asker;
    row.action = (char *) (uintptr_t) action;
    row.subject = row.cluster = (char *) (uintptr_t) name;
    return acct_book_apply(acct, NULL, 0, &row, 1, &request->dbd->book->version, err);
}

static int clusters_add(struct book_request *request, struct acct *acct, const struct strs *names,
                        struct error *err) {
    struct keeper *keeper = request->dbd->book;
    struct assoc_change settings = *(const struct assoc_change *) request->body;
    struct shared_named named;
    struct shared_plan plan;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < names->n; i++) {
        struct acct_cluster cluster;
        record_init(&record_acct_cluster, &cluster);
        cluster.name = names->items[i];
        r = acct_cluster_put(acct, &cluster, dbd_now(), err);
        if (r == 0)
            (void) shared_add(&keeper->books, names->items[i]);
        if (r == 0)
            r = note_cluster(request, acct, "Add Clusters", names->items[i], err);
    }
    shared_named_read(&settings, &named);
    struct key_value where = {.key = (char *) (uintptr_t) "cluster"};
    for (uint32_t i = 0; r == 0 && named.without.set.n > 0 && i < names->n; i++) {
        struct assoc_change change = {.verb = ASSOC_VERB_MODIFY,
                                      .entity = ASSOC_ENTITY_CLUSTER,
                                      .where = {&where, 1},
                                      .set = named.without.set};
        where.value = names->items[i];
        r = shared_plan_change(&keeper->books, "root", true, &change, &plan, err);
        if (r == 0) {
            r = carry_out(request, acct, &plan, NULL, err);
            shared_plan_done(&plan);
        }
    }
    shared_named_done(&named);
    return r;
}

static int clusters_delete(struct book_request *request, struct acct *acct,
                           const struct strs *names, struct error *err) {
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < names->n; i++) {
        r = acct_cluster_remove(acct, names->items[i], err);
        if (r == 0)
            r = note_cluster(request, acct, "Remove Clusters", names->items[i], err);
        if (r == 0)
            shared_remove(&request->dbd->book->books, names->items[i]);
    }
    return r;
}

static int clusters_work(struct book_request *request, struct acct *acct, struct error *err) {
    const struct assoc_change *change = request->body;
    struct keeper *keeper = request->dbd->book;
    struct shared_clusters plan;
    bool adds = change->verb == ASSOC_VERB_ADD;
    int r =
        shared_plan_clusters(&keeper->books, request->asker, request->is_super, change, &plan, err);
    if (r < 0)
        return r;
    for (uint32_t i = 0; r == 0 && !adds && i < plan.names.n; i++) {
        if (strs_has_nocase(&request->connected, plan.names.items[i]))
            r = error_set(err, ERR_BUSY,
                          " Error with request: the slurmctld of cluster %s is connected; stop it "
                          "before its cluster is deleted",
                          plan.names.items[i]);
    }
    string_set(&request->reply.text, plan.names.n > 0 ? plan.text.data : NULL);
    for (uint32_t i = 0; i < plan.notes.n; i++)
        strs_push(&request->reply.notes, plan.notes.items[i]);
    if (r == 0 && change->commit && plan.names.n > 0) {
        r = (adds ? clusters_add : clusters_delete)(request, acct, &plan.names, err);
        keeper->is_loaded = r == 0;
    }
    shared_clusters_done(&plan);
    return r;
}

static int change_work(struct task *task, struct acct *acct, struct error *err) {
    struct book_request *request = container_of(task, struct book_request, task);
    const struct assoc_change *change = request->body;
    struct keeper *keeper = request->dbd->book;
    struct shared_plan plan;
    int r = keeper_refresh(keeper, acct, err);
    if (r == 0 && change->entity == ASSOC_ENTITY_CLUSTER && change->verb != ASSOC_VERB_MODIFY)
        return clusters_work(request, acct, err);
    if (r == 0)
        r = shared_plan_change(&keeper->books, request->asker, request->is_super, change, &plan,
                               err);
    return r < 0 ? r : planned(request, acct, &plan, change->commit, err);
}

static int load_work(struct task *task, struct acct *acct, struct error *err) {
    struct book_request *request = container_of(task, struct book_request, task);
    const struct assoc_file *file = request->body;
    struct keeper *keeper = request->dbd->book;
    struct assoc_load load = {.text = file->text != NULL ? file->text : "",
                              .cluster = file->cluster,
                              .clean = file->clean};
    struct assoc_list *added = xmalloc(sizeof(*added));
    struct shared_plan plan;
    record_init(&record_assoc_list, added);
    int r = keeper_refresh(keeper, acct, err);
    if (r == 0)
        r = shared_plan_load(&keeper->books, request->asker, request->is_super, &load, &plan, added,
                             err);
    if (r < 0 || shared_plan_is_empty(&plan) || request->is_checked)
        record_free(&record_assoc_list, added);
    else
        request->reply.added = added;
    return r < 0 ? r : planned(request, acct, &plan, file->commit, err);
}

static void tell_away(struct book_request *request, const struct strs *away, const char *what) {
    for (uint32_t i = 0; i < away->n; i++) {
        cleanup_free char *text =
            xasprintf("the controller of cluster %s is not connected: %s", away->items[i], what);
        strs_push(&request->reply.notes, text);
    }
}

static void log_lines(const char *asker, const char *text) {
    words_each (text, "\n", line)
        log_info("accounts changed by %s: %s", asker, line + strspn(line, " "));
}

static void on_taken(const struct controller_answers *answers, void *context) {
    struct book_request *request = context;
    struct client *client = client_find(request->dbd, request->client);
    tell_away(request, &answers->away, "it gets the change when it is back");
    if (answers->problem != NULL)
        log_error("cluster %s: %s", answers->cluster, answers->problem);
    log_lines(request->asker, request->reply.text != NULL ? request->reply.text : "");
    if (client != NULL)
        reply_record(client, MSG_ASSOC_CHANGED, request->seq, &request->reply);
    book_request_free(request);
}

static void ask_parts(struct dbd *dbd, const struct part *parts, size_t n, uint16_t type,
                      void (*done)(const struct controller_answers *answers, void *context),
                      void *context) {
    struct controller_ask *asks = xcalloc(n + 1, sizeof(*asks));
    for (size_t i = 0; i < n; i++)
        asks[i] = (struct controller_ask) {parts[i].cluster, type, str_bytes(&parts[i].body)};
    controllers_ask(dbd, asks, n, done, context);
    free(asks);
}

static void changed(struct task *task);

static bool wants_commit(const struct book_request *request) {
    return request->record == &record_assoc_file
               ? ((const struct assoc_file *) request->body)->commit
               : ((const struct assoc_change *) request->body)->commit;
}

static void on_tested(const struct controller_answers *answers, void *context) {
    struct book_request *request = context;
    struct client *client = client_find(request->dbd, request->client);
    if (answers->problem != NULL && client != NULL) {
        cleanup_free char *text = xasprintf("%s\n  C = %s", answers->problem, answers->cluster);
        reply_error_text(client, request->seq, -ERR_BUSY, text);
    }
    if (answers->problem != NULL) {
        book_request_free(request);
        return;
    }
    tell_away(request, &answers->away,
              "jobs there that count on what goes will be held when it is back");
    request->is_checked = true;
    if (wants_commit(request)) {
        book_request_submit(request, request->task.work, changed);
        return;
    }
    if (client != NULL)
        reply_record(client, MSG_ASSOC_CHANGED, request->seq, &request->reply);
    book_request_free(request);
}

static void changed(struct task *task) {
    struct book_request *request = container_of(task, struct book_request, task);
    struct client *client = client_find(request->dbd, request->client);
    dbd_note_database(request->dbd, task);
    if (task->code < 0) {
        book_request_failed(request);
    } else if (!request->is_checked && request->tests.n > 0) {
        ask_parts(request->dbd, request->tests.items, request->tests.n, MSG_DBD_BOOK_TEST,
                  on_tested, request);
    } else if (request->books.n > 0) {
        ask_parts(request->dbd, request->books.items, request->books.n, MSG_DBD_BOOK, on_taken,
                  request);
    } else {
        if (wants_commit(request))
            log_lines(request->asker, request->reply.text != NULL ? request->reply.text : "");
        if (client != NULL)
            reply_record(client, MSG_ASSOC_CHANGED, request->seq, &request->reply);
        book_request_free(request);
    }
}

void book_change(struct client *client, uint32_t seq, const void *body) {
    book_request_submit(book_request_new(client, seq, &record_assoc_change, body), change_work,
                        changed);
}

void book_load(struct client *client, uint32_t seq, const void *body) {
    book_request_submit(book_request_new(client, seq, &record_assoc_file, body), load_work,
                        changed);
}

/* ---- a controller comes ---- */

static int mine_work(struct task *task, struct acct *acct, struct error *err) {
    struct book_request *request = container_of(task, struct book_request, task);
    const struct dbd_book *mine = request->body;
    struct keeper *keeper = request->dbd->book;
    const char *name = mine->book->cluster;
    struct shared_plan plan;
    int r = keeper_refresh(keeper, acct, err);
    if (r < 0)
        return r;
    struct shared_cluster *cluster = shared_add(&keeper->books, name);
    bool unknown = mine->version == 0 || mine->version > keeper->version;
    if (unknown && shared_is_untouched(&keeper->books, cluster)) {
        shared_plan_take(&keeper->books, name, mine->book, &plan);
        for (uint32_t i = 0; i < plan.notes.n; i++)
            strs_push(&request->log, plan.notes.items[i]);
        r = carry_out(request, acct, &plan, name, err);
        shared_plan_done(&plan);
    }
    bool told = false;
    vec_each (&request->books, part)
        told |= str_equal_nocase(part->cluster, name);
    if (r == 0 && !told)
        book_part(request, shared_find(&keeper->books, name));
    return r;
}

static void on_brought(const struct controller_answers *answers, void *context) {
    struct book_request *request = context;
    const struct dbd_book *mine = request->body;
    if (answers->problem != NULL)
        log_error("cluster %s: %s", answers->cluster, answers->problem);
    for (uint32_t i = 0; i < request->log.n; i++)
        log_error("cluster %s: its accounts were taken over, but: %s", mine->book->cluster,
                  request->log.items[i]);
    book_request_free(request);
}

static void mine_done(struct task *task) {
    struct book_request *request = container_of(task, struct book_request, task);
    dbd_note_database(request->dbd, task);
    if (task->code < 0)
        book_request_failed(request);
    else
        ask_parts(request->dbd, request->books.items, request->books.n, MSG_DBD_BOOK, on_brought,
                  request);
}

void book_mine(struct client *client, uint32_t seq, const void *body) {
    const struct dbd_book *mine = body;
    if (client->cluster == NULL || mine->book == NULL ||
        !str_equal_nocase(mine->book->cluster, client->cluster)) {
        reply_error_text(client, seq, -ERR_ACCESS_DENIED,
                         "a book comes from a controller that has registered, and is its own");
        return;
    }
    book_request_submit(book_request_new(client, seq, &record_dbd_book, body), mine_work,
                        mine_done);
}
