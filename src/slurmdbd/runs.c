/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs without an end that their controller has forgotten ("runaway jobs"). Those that have no end
 * here are shown to the controller, which answers when all that it had to tell has been delivered;
 * what it does not know, and what still has no end here then, nobody will end. All of it runs in
 * the writer's thread, behind the deliveries that came before.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "os/log.h"
#include "slurmdbd/dbd.h"

#define PAGE 1000
#define RUNS_MAX 1000000

struct search {
    struct task task;
    struct dbd *dbd;
    uint64_t client;
    uint32_t seq;
    char *cluster; /* owned */
    bool fix, is_asked;
    vec(struct dbd_run) runs; /* by number */
    struct map unknown;       /* to the controller */
    uint64_t n_fixed;
    struct str reply; /* acct_list */
};

static void search_free(struct search *search) {
    vec_done(&search->runs);
    map_done(&search->unknown);
    str_done(&search->reply);
    free(search->cluster);
    free(search);
}

static void search_failed(struct search *search, int code, const char *text) {
    struct client *client = client_find(search->dbd, search->client);
    if (client != NULL)
        reply_error_text(client, search->seq, code, text);
    search_free(search);
}

static int take_open(const struct acct_job_row *row, void *context, struct error *err) {
    struct search *search = context;
    if (search->is_asked && map_get(&search->unknown, row->db_index) == NULL)
        return 0;
    struct dbd_run run = {row->db_index};
    vec_push(&search->runs, run);
    if (search->is_asked)
        wire_append_element(&search->reply, 1, row->record);
    return search->runs.n > RUNS_MAX
               ? error_set(err, ERR_LIMIT, "more than %d runs of cluster %s have no end", RUNS_MAX,
                           search->cluster)
               : 0;
}

static int run_order(const void *a, const void *b) {
    uint64_t x = ((const struct dbd_run *) a)->run, y = ((const struct dbd_run *) b)->run;
    return x < y ? -1 : x > y;
}

static int fix(struct search *search, struct acct *acct, struct error *err) {
    uint64_t *runs = xcalloc(search->runs.n + 1, sizeof(*runs));
    for (size_t i = 0; i < search->runs.n; i++)
        runs[i] = search->runs.items[i].run;
    int r = acct_runs_close(acct, search->cluster, runs, search->runs.n, false, JOB_COMPLETED, 0,
                            &search->n_fixed, err);
    free(runs);
    return r;
}

static int search_work(struct task *task, struct acct *acct, struct error *err) {
    struct search *search = container_of(task, struct search, task);
    struct acct_job_list *list = NULL;
    vec_reset(&search->runs);
    int64_t left = acct_runaways(acct, search->cluster, NULL, 0, &list, err);
    bool more = left == 0;
    while (more) {
        left = acct_jobs_next(list, PAGE, take_open, search, err);
        more = left > 0;
    }
    acct_jobs_done(list);
    if (left < 0)
        return (int) left;
    if (search->runs.n > 0)
        qsort(search->runs.items, search->runs.n, sizeof(struct dbd_run), run_order);
    return search->is_asked && search->fix ? fix(search, acct, err) : 0;
}

static void search_done(struct task *task);

static void search_submit(struct search *search) {
    search->task = (struct task) {.work = search_work, .done = search_done};
    worker_submit(search->dbd->writer, &search->task);
}

static void on_answers(const struct controller_answers *answers, void *context) {
    struct search *search = context;
    if (answers->last == NULL) {
        cleanup_free char *text =
            xasprintf("the controller of cluster %s does not answer: only it knows which of %zu "
                      "jobs without an end still run",
                      search->cluster, search->runs.n);
        search_failed(search, -ERR_BUSY, text);
        return;
    }
    for (uint32_t i = 0; i < answers->last->unknown.n; i++)
        map_put(&search->unknown, answers->last->unknown.items[i].run, search);
    search->is_asked = true;
    search_submit(search);
}

static void ask_controller(struct search *search) {
    struct dbd_runs runs = {.items = {search->runs.items, (uint32_t) search->runs.n}};
    struct str body cleanup_str = STR_INIT;
    wire_encode(&record_dbd_runs, &runs, NULL, &body);
    struct controller_ask ask = {search->cluster, MSG_DBD_RUNS, str_bytes(&body)};
    controllers_ask(search->dbd, &ask, 1, on_answers, search);
}

static void search_done(struct task *task) {
    struct search *search = container_of(task, struct search, task);
    struct client *client = client_find(search->dbd, search->client);
    dbd_note_database(search->dbd, task);
    if (task->code < 0) {
        search_failed(search, task->code, task->err.text);
        return;
    }
    if (!search->is_asked && search->runs.n > 0) {
        ask_controller(search);
        return;
    }
    if (search->n_fixed > 0)
        log_info("cluster %s: %llu jobs that its controller does not know have been ended",
                 search->cluster, (unsigned long long) search->n_fixed);
    if (client != NULL)
        rpc_conn_send(client->conn, MSG_ACCT_LIST, RPC_LAST, search->seq,
                      str_bytes(&search->reply));
    search_free(search);
}

void runs_runaways(struct client *client, uint32_t seq, const void *body) {
    const struct runaway_query *query = body;
    struct search *search = zalloc(struct search);
    search->dbd = client->dbd;
    search->client = client->id;
    search->seq = seq;
    search->cluster = xstrdup(query->cluster != NULL ? query->cluster : "");
    search->fix = query->fix;
    search_submit(search);
}
