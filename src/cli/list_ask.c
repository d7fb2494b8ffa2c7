/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the controller for records. */
#include <assert.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "cli/list.h"
#include "model/conf.h"

void list_session_init(struct list_session *session, const char *name) {
    memset(session, 0, sizeof(*session));
    cli_init(&session->cli, name);
}

const struct conf *list_session_conf(struct list_session *session) {
    if (!session->conf)
        session->conf = cli_conf(&session->cli);
    if (!session->conf)
        exit(1);
    return session->conf;
}

void list_session_close(struct list_session *session) {
    if (session->open)
        cli_link_close(&session->link);
    session->open = false;
    if (session->dbd_open)
        cli_link_close(&session->dbd_link);
    session->dbd_open = false;
}

void list_clusters_check(struct list_session *session, const char *names) {
    const char *cluster = list_session_conf(session)->cluster_name;
    cleanup_free char *copy = xstrdup(names);
    char *cursor = copy, *word;
    while ((word = str_next_word(&cursor, ","))) {
        if (!str_equal_nocase(word, "all") && !str_equal_nocase(word, cluster))
            list_fail("'%s' can't be reached now, or it is an invalid entry for --cluster: this "
                      "configuration is of cluster '%s'",
                      word, cluster);
    }
}

void list_load_error(const char *what, const struct error *err) {
    /* Which of munged's troubles it is matters more than that there is one. */
    if (err->code == -ERR_AUTH && err->text[0])
        list_error("%s", err->text);
    fprintf(stderr, "%s: %s\n", what, error_text(err->code));
    if (err->code != -ERR_AUTH)
        list_why_note(err);
}

void list_why_note(const struct error *err) {
    if (err->text[0] && !str_equal(err->text, error_text(err->code)))
        list_note(err->text);
}

void list_note(const char *text) {
    fprintf(stderr, "%s: note: %s\n", program_invocation_short_name, text);
}

const char *list_own_name(void) {
    const struct passwd *user = getpwuid(getuid());
    return user != NULL ? user->pw_name : "";
}

static int session_open(struct list_session *session, struct error *err) {
    if (session->open)
        return 0;
    int result = cli_link_open(&session->cli, false, &session->link, err);
    session->open = result == 0;
    return result;
}

static int dbd_open(struct list_session *session, struct error *err) {
    if (session->dbd_open)
        return 0;
    int result = cli_link_open_dbd(&session->cli, &session->dbd_link, err);
    session->dbd_open = result == 0;
    return result;
}

static int link_ask(struct cli_link *link, uint16_t type, const void *body, uint16_t reply_type,
                    const void **ret_reply, struct error *err) {
    struct cli_reply reply;
    int result = cli_request(link, type, body, &reply, err);
    if (result < 0)
        return result;
    if (reply.type != reply_type)
        return error_set(err, ERR_PROTOCOL, "%s was answered with %s", message_name(type),
                         message_name(reply.type));
    if (ret_reply)
        *ret_reply = reply.body;
    return 0;
}

int list_ask(struct list_session *session, uint16_t type, const void *body, uint16_t reply_type,
             const void **ret_reply, struct error *err) {
    int result = session_open(session, err);
    return result < 0 ? result : link_ask(&session->link, type, body, reply_type, ret_reply, err);
}

int list_ask_dbd(struct list_session *session, uint16_t type, const void *body, uint16_t reply_type,
                 const void **ret_reply, struct error *err) {
    int result = dbd_open(session, err);
    return result < 0 ? result
                      : link_ask(&session->dbd_link, type, body, reply_type, ret_reply, err);
}

int list_ask_book(struct list_session *session, uint16_t type, const void *body,
                  uint16_t reply_type, const void **ret_reply, struct error *err) {
    return (cli_has_dbd(list_session_conf(session)) ? list_ask_dbd : list_ask)(
        session, type, body, reply_type, ret_reply, err);
}

int list_books(struct list_session *session, struct rows *rows, struct error *err) {
    bool dbd = cli_has_dbd(list_session_conf(session));
    struct cli_link *link = dbd ? &session->dbd_link : &session->link;
    uint64_t patience = list_session_conf(session)->message_timeout * 1000000ull;
    struct empty empty = {false};
    struct cli_reply reply;
    int result = dbd ? dbd_open(session, err) : session_open(session, err);
    if (result == 0)
        result = cli_request(link, MSG_LIST_ASSOC, &empty, &reply, err);
    while (result == 0) {
        if (reply.type != MSG_ASSOC_LIST)
            return error_set(err, ERR_PROTOCOL, "LIST_ASSOC was answered with %s",
                             message_name(reply.type));
        rows_push(rows, reply.body);
        if (reply.last)
            break;
        result = cli_receive(link, patience, &reply, err);
    }
    return result;
}

const char *config_value(const struct config_list *list, const char *key) {
    for (uint32_t i = 0; i < list->items.n; i++) {
        if (str_equal_nocase(list->items.items[i].key, key))
            return list->items.items[i].value;
    }
    return NULL;
}

/* Replies of every list begin with their items. */
struct list_items {
    const char *items;
    uint32_t n;
};

struct list_kind {
    uint16_t type, reply_type;
    size_t item_size;
    /* Of lists from two places: the number of a row of our own cluster that both may have, 0 = none
     * (own = our cluster's name); and what is missing when the controller does not answer. */
    uint64_t (*key)(const char *own, const void *row);
    const char *without_live;
    bool oldest_first; /* what the controller has stands behind what slurmdbd has */
};
static const struct list_kind jobs_kind = {MSG_LIST_JOBS, MSG_JOB_LIST, sizeof(struct job)};
static const struct list_kind steps_kind = {MSG_LIST_STEPS, MSG_STEP_LIST, sizeof(struct step)};
static const struct list_kind nodes_kind = {MSG_LIST_NODES, MSG_NODE_LIST, sizeof(struct node)};
static const struct list_kind partitions_kind = {MSG_LIST_PARTITIONS, MSG_PARTITION_LIST,
                                                 sizeof(struct partition)};
static const struct list_kind reservations_kind = {MSG_LIST_RESERVATIONS, MSG_RESERVATION_LIST,
                                                   sizeof(struct reservation)};
static const struct list_kind gpus_kind = {MSG_LIST_GPUS, MSG_GPU_LIST, sizeof(struct gpu)};

static const struct list_kind capacities_kind = {MSG_LIST_CAPACITIES, MSG_CAPACITY_LIST,
                                                 sizeof(struct acct_capacity)};
static const struct list_kind usage_kind = {MSG_LIST_USAGE, MSG_USAGE_LIST,
                                            sizeof(struct usage_row)};
static const struct list_kind cluster_use_kind = {MSG_LIST_CLUSTER_USE, MSG_CLUSTER_USE_LIST,
                                                  sizeof(struct cluster_use)};

static bool is_other(const char *own, const char *cluster) {
    return cluster != NULL && !str_equal_nocase(cluster, own);
}

static uint64_t key_of(const char *const *texts, size_t n, int64_t time) {
    uint64_t key = hash_bytes(&time, sizeof(time), 0);
    for (size_t i = 0; i < n; i++)
        key = hash_bytes(texts[i], texts[i] != NULL ? strlen(texts[i]) : 0, key);
    return key;
}

static uint64_t run_key(const char *own, const void *row) {
    const struct job *job = ((const struct acct_job *) row)->job;
    return job == NULL || is_other(own, job->cluster) ? 0 : job->db_index;
}

static uint64_t outage_key(const char *own, const void *row) {
    const struct acct_outage *outage = row;
    const char *const texts[] = {outage->node};
    return is_other(own, outage->cluster) ? 0 : key_of(texts, countof(texts), outage->start);
}

static uint64_t change_key(const char *own, const void *row) {
    const struct acct_transaction *change = row;
    const char *const texts[] = {change->actor, change->action, change->subject, change->info};
    return is_other(own, change->cluster) ? 0 : key_of(texts, countof(texts), change->time);
}

static const struct list_kind accounting_kind = {
    MSG_ACCT_QUERY,
    MSG_ACCT_LIST,
    sizeof(struct acct_job),
    run_key,
    "shown is what slurmdbd has; jobs of the last moments may be missing",
    false};
static const struct list_kind events_kind = {
    MSG_LIST_EVENTS,
    MSG_EVENT_LIST,
    sizeof(struct acct_outage),
    outage_key,
    "shown is what slurmdbd has; the last changes may be missing",
    true};
static const struct list_kind changes_kind = {
    MSG_LIST_CHANGES,
    MSG_CHANGE_LIST,
    sizeof(struct acct_transaction),
    change_key,
    "shown is what slurmdbd has; the last changes may be missing",
    true};

static int reply_rows(const struct list_kind *kind, const struct cli_reply *reply,
                      struct rows *rows, struct error *err) {
    if (reply->type != kind->reply_type)
        return error_set(err, ERR_PROTOCOL, "%s was answered with %s", message_name(kind->type),
                         message_name(reply->type));
    const struct list_items *list = reply->body;
    vec_reserve(rows, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        rows->items[rows->n++] = list->items + i * kind->item_size;
    return 0;
}

static int link_stream(struct list_session *session, struct cli_link *link,
                       const struct list_kind *kind, const void *body, struct rows *rows,
                       list_take on_rows, void *context, struct error *err) {
    struct cli_reply reply;
    uint64_t patience = list_session_conf(session)->message_timeout * 1000000ull;
    int result = cli_request(link, kind->type, body, &reply, err);
    while (result == 0) {
        result = reply_rows(kind, &reply, rows, err);
        bool last = reply.last;
        if (result == 0 && on_rows) {
            on_rows(context, rows);
            rows->n = 0;
            arena_reset(&link->arena);
        }
        if (result < 0 || last)
            return result;
        result = cli_receive(link, patience, &reply, err);
    }
    return result;
}

/* Appends the items of all replies to rows, or hands those of each reply to on_rows(). */
static int list_stream(struct list_session *session, const struct list_kind *kind, const void *body,
                       struct rows *rows, list_take on_rows, void *context, struct error *err) {
    int result = session_open(session, err);
    if (result < 0)
        return result;
    return link_stream(session, &session->link, kind, body, rows, on_rows, context, err);
}

/* The same of slurmdbd. */
static int dbd_stream(struct list_session *session, const struct list_kind *kind, const void *body,
                      struct rows *rows, struct error *err) {
    int result = dbd_open(session, err);
    if (result < 0)
        return result;
    return link_stream(session, &session->dbd_link, kind, body, rows, NULL, NULL, err);
}

static int list_each_reply(struct list_session *session, const struct list_kind *kind,
                           const void *body, list_take on_rows, void *context, struct error *err) {
    struct rows rows = {NULL, 0, 0};
    int result = list_stream(session, kind, body, &rows, on_rows, context, err);
    rows_done(&rows);
    return result;
}

int list_jobs_each(struct list_session *session, const struct list_request *request,
                   list_take on_rows, void *context, struct error *err) {
    return list_each_reply(session, &jobs_kind, request, on_rows, context, err);
}

int list_steps_each(struct list_session *session, const struct list_request *request,
                    list_take on_rows, void *context, struct error *err) {
    return list_each_reply(session, &steps_kind, request, on_rows, context, err);
}

int list_jobs(struct list_session *session, const struct list_request *request, struct rows *rows,
              struct error *err) {
    return list_stream(session, &jobs_kind, request, rows, NULL, NULL, err);
}

bool list_job_exists(struct list_session *session, const char *id) {
    struct list_request request;
    struct field_mask mask = {{0}};
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    cleanup_free char *job = xstrndup(id, strspn(id, "0123456789"));
    record_init(&record_list_request, &request);
    field_mask_add(&mask, record_field(&record_job, "job_id")->number);
    request.fields = (struct blob) {(uint8_t *) &mask, sizeof(mask)};
    request.all = true;
    request.job_ids = (struct strs) {&job, 1};
    bool exists = list_jobs(session, &request, &rows, &err) == 0 && rows.n > 0;
    rows_done(&rows);
    return exists;
}

int list_steps(struct list_session *session, const struct list_request *request, struct rows *rows,
               struct error *err) {
    return list_stream(session, &steps_kind, request, rows, NULL, NULL, err);
}

int list_nodes(struct list_session *session, const struct list_request *request, struct rows *rows,
               struct error *err) {
    return list_stream(session, &nodes_kind, request, rows, NULL, NULL, err);
}

int list_partitions(struct list_session *session, const struct list_request *request,
                    struct rows *rows, struct error *err) {
    return list_stream(session, &partitions_kind, request, rows, NULL, NULL, err);
}

int list_reservations(struct list_session *session, const struct list_request *request,
                      struct rows *rows, struct error *err) {
    return list_stream(session, &reservations_kind, request, rows, NULL, NULL, err);
}

int list_gpus(struct list_session *session, const struct list_request *request, struct rows *rows,
              struct error *err) {
    return list_stream(session, &gpus_kind, request, rows, NULL, NULL, err);
}

int list_capacities(struct list_session *session, struct rows *rows, struct error *err) {
    struct empty empty = {false};
    return list_stream(session, &capacities_kind, &empty, rows, NULL, NULL, err);
}

int list_usage(struct list_session *session, const struct usage_query *query, struct rows *rows,
               struct error *err) {
    return dbd_stream(session, &usage_kind, query, rows, err);
}

int list_cluster_use(struct list_session *session, const struct usage_query *query,
                     struct rows *rows, struct error *err) {
    return dbd_stream(session, &cluster_use_kind, query, rows, err);
}

const struct share_list *list_shares(struct list_session *session) {
    const struct share_list *list;
    struct error err = ERROR_INIT;
    struct empty empty = {false};
    if (list_ask(session, MSG_LIST_SHARES, &empty, MSG_SHARE_LIST, (const void **) &list, &err) ==
        0)
        return list;
    list_load_error("Couldn't get shares from controller", &err);
    return NULL;
}

const struct limit_counts *list_limit_counts(struct list_session *session) {
    const struct limit_counts *counts;
    struct error err = ERROR_INIT;
    struct empty empty = {false};
    if (list_ask(session, MSG_LIST_LIMIT_COUNTS, &empty, MSG_LIMIT_COUNTS, (const void **) &counts,
                 &err) == 0)
        return counts;
    list_load_error("Couldn't get association manager state from controller", &err);
    return NULL;
}

/* ---- what two places have: the controller's moments, and slurmdbd's past ---- */

static bool names_cluster(const struct acct_query *query, const char *cluster) {
    return query->clusters.n == 0 || strs_has_nocase(&query->clusters, "all") ||
           strs_has_nocase(&query->clusters, cluster);
}

/* What the controller has told of counts as it has told it; slurmdbd may not know its end yet. */
static void drop_told(const struct list_kind *kind, const char *own, const struct rows *live,
                      struct rows *stored) {
    struct map told = MAP_INIT;
    size_t kept = 0;
    for (size_t i = 0; i < live->n; i++) {
        uint64_t key = kind->key(own, live->items[i]);
        if (key != 0)
            map_put(&told, key, (void *) (uintptr_t) live->items[i]);
    }
    for (size_t i = 0; i < stored->n; i++) {
        uint64_t key = kind->key(own, stored->items[i]);
        if (key == 0 || map_get(&told, key) == NULL)
            stored->items[kept++] = stored->items[i];
    }
    stored->n = kept;
    map_done(&told);
}

static void rows_append(struct rows *rows, const struct rows *more) {
    for (size_t i = 0; i < more->n; i++)
        rows_push(rows, more->items[i]);
}

static void tell_partial(struct list_session *session, const char *who, const struct error *err,
                         const char *what) {
    list_error("%s: %s", who, error_text(err->code));
    list_why_note(err);
    list_note(what);
    session->partial = true;
}

/* The controller (where live_query is not NULL) and then slurmdbd: what is delivered between the
 * two questions is with both, and not with neither. */
static int list_both(struct list_session *session, const struct list_kind *kind,
                     const void *live_query, const void *stored_query, struct rows *rows,
                     struct error *err) {
    const char *own = list_session_conf(session)->cluster_name;
    struct rows live = {NULL, 0, 0}, stored = {NULL, 0, 0};
    struct error live_err = ERROR_INIT;
    int live_result = live_query == NULL
                          ? 0
                          : list_stream(session, kind, live_query, &live, NULL, NULL, &live_err);
    int result = dbd_stream(session, kind, stored_query, &stored, err);
    if (result == 0 && live_result < 0) {
        tell_partial(session, "Problem talking to the controller", &live_err, kind->without_live);
    } else if (result < 0 && live_query != NULL && live_result == 0) {
        stored.n = 0;
        result = 0;
        tell_partial(session, "Problem talking to the database", err,
                     "shown is what the controller still has; the rest is with slurmdbd");
    }
    if (result == 0) {
        drop_told(kind, own, &live, &stored);
        rows_append(rows, kind->oldest_first ? &stored : &live);
        rows_append(rows, kind->oldest_first ? &live : &stored);
    }
    rows_done(&live);
    rows_done(&stored);
    return result;
}

int list_accounting(struct list_session *session, const struct acct_query *query, struct rows *rows,
                    struct error *err) {
    const struct conf *conf = list_session_conf(session);
    if (!cli_has_dbd(conf))
        return list_stream(session, &accounting_kind, query, rows, NULL, NULL, err);
    struct acct_query stored = *query;
    char *own = (char *) (uintptr_t) conf->cluster_name;
    if (query->clusters.n == 0)
        stored.clusters = (struct strs) {&own, 1};
    else if (strs_has_nocase(&query->clusters, "all"))
        stored.clusters = (struct strs) {NULL, 0};
    return list_both(session, &accounting_kind, names_cluster(query, own) ? query : NULL, &stored,
                     rows, err);
}

static int list_history(struct list_session *session, const struct list_kind *kind,
                        const void *query, struct rows *rows, struct error *err) {
    return cli_has_dbd(list_session_conf(session))
               ? list_both(session, kind, query, query, rows, err)
               : list_stream(session, kind, query, rows, NULL, NULL, err);
}

int list_changes(struct list_session *session, const struct change_query *query, struct rows *rows,
                 struct error *err) {
    return list_history(session, &changes_kind, query, rows, err);
}

int list_events(struct list_session *session, const struct event_query *query, struct rows *rows,
                struct error *err) {
    return list_history(session, &events_kind, query, rows, err);
}

/* list_stream reads every list through struct list_items. */
static_assert(offsetof(struct job_list, items.items) == offsetof(struct list_items, items) &&
                  offsetof(struct job_list, items.n) == offsetof(struct list_items, n),
              "a list starts with its items");
