/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sacct's question, answered from both places: what is in the controller at the moment of the
 * question, then history in the store, page by page. A job that had left the controller by then is
 * in a batch before the question; history is read when that has been committed. One that leaves
 * later would come up again in history; it is known by the number of its run.
 */
#include <string.h>

#include "model/acct_match.h"
#include "slurmctld/ctld.h"

#define PAGE_ROWS 1000
#define ITEMS_FIELD 1 /* of acct_list */

struct answer {
    struct ctld *ctld;
    uint64_t client;
    uint32_t seq;
    struct acct_query *query; /* owned */
    struct store_filter filter;
    uint64_t *job_ids;
    struct map live; /* runs that were answered from the controller, by db_index */
    struct str frame;
    uint32_t uid, gid;
    size_t n_page; /* rows of the page that is coming in */
};

static void answer_free(struct answer *answer) {
    record_free(&record_acct_query, answer->query);
    free(answer->job_ids);
    map_done(&answer->live);
    str_done(&answer->frame);
    free(answer);
}

static void send_frame(struct answer *answer, struct client *client, bool last) {
    rpc_conn_send(client->conn, MSG_ACCT_LIST, last ? RPC_LAST : 0, answer->seq,
                  str_bytes(&answer->frame));
    str_reset(&answer->frame);
}

static void add_row(struct answer *answer, struct client *client, struct bytes acct_job) {
    wire_append_element(&answer->frame, ITEMS_FIELD, acct_job);
    if (answer->frame.length >= FRAME_BYTES)
        send_frame(answer, client, false);
}

/* ---- rows ---- */

/* What AccountingStoreFlags has kept of a job's submission, into the record. */
static void add_script(struct answer *answer, struct job *job, struct arena *memory) {
    struct str data cleanup_str = STR_INIT;
    struct job_script script;
    uint64_t id = job->array_job_id ? job->array_job_id : job->job_id;
    if (store_get(answer->ctld->store, STORE_KEPT_SCRIPT, id, &data, NULL) < 0 ||
        wire_decode(&record_job_script, str_bytes(&data), memory, &script, NULL) < 0)
        return;
    if (answer->query->want_script)
        job->script = script.script;
    if (answer->query->want_environment)
        job->environment = script.environment;
}

/* Script, environment and the submission's line, which may hold a script (--wrap), are for the
 * owner and administrators. */
static void add_record(struct answer *answer, struct client *client, struct acct_job *record,
                       struct bytes encoded, struct arena *memory) {
    const struct acct_query *query = answer->query;
    bool own = answer->uid == record->job->uid || core_is_admin(answer->ctld->core, answer->uid);
    bool hidden = !own && record->job->submit_line != NULL;
    bool wanted = own && (query->want_script || query->want_environment);
    struct str out cleanup_str = STR_INIT;
    if (query->no_steps && record->steps.n > 0) {
        record->steps.n = 0;
        hidden = true;
    }
    if (!own)
        record->job->submit_line = NULL;
    if (wanted)
        add_script(answer, record->job, memory);
    if (hidden || wanted)
        wire_encode(&record_acct_job, record, NULL, &out);
    add_row(answer, client, out.length > 0 ? str_bytes(&out) : encoded);
}

static void take_history(struct answer *answer, struct client *client,
                         const struct store_history *row) {
    struct arena memory;
    arena_init(&memory, 0);
    struct acct_job record;
    if (wire_decode(&record_acct_job, row->data, &memory, &record, NULL) == 0 &&
        record.job != NULL && acct_query_match(answer->query, record.job) &&
        !map_get(&answer->live, record.job->db_index))
        add_record(answer, client, &record, row->data, &memory);
    arena_done(&memory);
}

/* ---- the live part ---- */

struct live_target {
    struct answer *answer;
    struct client *client;
};

static void take_live(void *context, uint32_t job_id, struct bytes acct_job) {
    struct live_target *target = context;
    struct arena memory;
    struct acct_job record;

    arena_init(&memory, 0);
    if (wire_decode(&record_acct_job, acct_job, &memory, &record, NULL) == 0 &&
        record.job != NULL) {
        if (record.job->db_index != 0)
            map_put(&target->answer->live, record.job->db_index, target);
        add_record(target->answer, target->client, &record, acct_job, &memory);
    }
    arena_done(&memory);
}

static void answer_live(struct answer *answer, struct client *client) {
    struct core_user user = {.uid = answer->uid, .gid = answer->gid, .name = "", .group = ""};
    struct live_target target = {answer, client};
    core_acct_live(answer->ctld->core, ctld_now(answer->ctld), &user, answer->query, take_live,
                   &target);
}

/* ---- history ---- */

static void page(const struct store_history *rows, size_t n, bool is_last, const struct error *err,
                 void *context);

static void next_page(struct answer *answer) {
    store_history_query(answer->ctld->store, &answer->filter, page, answer);
}

static void page(const struct store_history *rows, size_t n, bool is_last, const struct error *err,
                 void *context) {
    struct answer *answer = context;
    struct client *client = map_get(&answer->ctld->clients, answer->client);
    bool failed = err != NULL && err->code != 0;
    for (size_t i = 0; client != NULL && i < n; i++) {
        take_history(answer, client, &rows[i]);
        answer->filter.after_seq = rows[i].seq;
        answer->filter.after_end = rows[i].end;
    }
    answer->n_page += n;
    if (!is_last && !failed)
        return;
    if (client == NULL) {
        answer_free(answer);
    } else if (failed) {
        reply_error_text(client, answer->seq, -ERR_STORE, err->text);
        answer_free(answer);
    } else if (answer->n_page >= PAGE_ROWS) {
        answer->n_page = 0;
        next_page(answer);
    } else {
        send_frame(answer, client, true);
        answer_free(answer);
    }
}

/* All that was to be stored before the question has been; or cannot be, and then what is there must
 * do. */
static void stored_before(int code, const struct error *err, void *context) {
    next_page(context);
}

/* Numbers of the jobs and arrays asked for. */
static void filter_ids(struct answer *answer) {
    const struct acct_query *query = answer->query;
    answer->job_ids = xcalloc(query->ids.n + 1, sizeof(uint64_t));
    for (uint32_t i = 0; i < query->ids.n; i++)
        answer->job_ids[i] = strtoul(query->ids.items[i], NULL, 10);
    if (query->ids.n > 0 && query->ids.n <= STORE_JOBS_MAX) {
        answer->filter.job_ids = answer->job_ids;
        answer->filter.n_job_ids = query->ids.n;
    }
}

void acct_query_start(struct client *client, uint32_t seq, const struct core_user *user,
                      const struct acct_query *query) {
    struct ctld *ctld = client->ctld;
    struct answer *answer = zalloc(struct answer);
    answer->ctld = ctld;
    answer->client = client->id;
    answer->seq = seq;
    answer->query = record_dup(&record_acct_query, query);
    answer->uid = user->uid;
    answer->gid = user->gid;
    bool private = ctld->conf->private_data & CONF_PRIVATE_JOBS;
    bool own_only = private && !core_is_admin(ctld->core, user->uid);
    if (own_only)
        answer->filter.uid = user->uid;
    else if (!query->all_users && query->uids.n == 1)
        answer->filter.uid = query->uids.items[0];
    else
        answer->filter.uid = STORE_ANY_UID;
    filter_ids(answer);
    answer->filter.from = query->start;
    answer->filter.to = query->end > 0 ? query->end + 1 : query->start > 0 ? INT64_MAX : 0;
    answer->filter.kinds = query->duplicates ? HISTORY_JOBS : 1u << HISTORY_RUN;
    answer->filter.limit = PAGE_ROWS;
    answer_live(answer, client);
    store_submit(ctld->store, store_batch_new(), stored_before, answer);
}
