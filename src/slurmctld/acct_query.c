/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sacct's question, answered from both places: what is in the controller at the moment of the
 * question, then history in the store. A job that had left the controller by then is in a batch
 * before the question; history is read when that has been committed. One that leaves later would
 * come up again in history; it is known by the number of its run.
 */
#include <string.h>

#include "model/acct_match.h"
#include "slurmctld/history_answer.h"

struct answer {
    struct history_answer base;
    struct acct_query *query; /* owned */
    struct acct_match *match; /* owned; of the query */
    uint64_t *job_ids;
    struct map live; /* runs that were answered from the controller, by db_index */
    uint32_t uid, gid;
};

static void answer_free(struct history_answer *base) {
    struct answer *answer = container_of(base, struct answer, base);
    acct_match_free(answer->match);
    record_free(&record_acct_query, answer->query);
    free(answer->job_ids);
    map_done(&answer->live);
    free(answer);
}

/* ---- rows ---- */

/* What AccountingStoreFlags has kept of a job's submission, into the record. */
static void add_script(struct answer *answer, struct job *job, struct arena *memory) {
    struct str data cleanup_str = STR_INIT;
    struct job_script script;
    uint64_t id = job->array_job_id ? job->array_job_id
                  : job->het_job_id ? job->het_job_id
                                    : job->job_id;
    if (store_get(answer->base.ctld->store, STORE_KEPT_SCRIPT, id, &data, NULL) < 0 ||
        wire_decode(&record_job_script, str_bytes(&data), memory, &script, NULL) < 0)
        return;
    if (answer->query->want_script)
        job->script = script.script;
    if (answer->query->want_environment)
        job->environment = script.environment;
}

/* Script, environment and the submission's line, which may hold a script (--wrap), are for the
 * owner and administrators. */
static void add_record(struct answer *answer, struct acct_job *record, struct bytes encoded,
                       struct arena *memory) {
    const struct acct_query *query = answer->query;
    bool own =
        answer->uid == record->job->uid || core_is_admin(answer->base.ctld->core, answer->uid);
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
    history_answer_add(&answer->base, out.length > 0 ? str_bytes(&out) : encoded);
}

static void take_history(struct history_answer *base, const struct store_history *row) {
    struct answer *answer = container_of(base, struct answer, base);
    struct arena memory;
    arena_init(&memory, 0);
    struct acct_job record;
    if (wire_decode(&record_acct_job, row->data, &memory, &record, NULL) == 0 &&
        record.job != NULL && acct_match_job(answer->match, record.job) &&
        !map_get(&answer->live, record.job->db_index))
        add_record(answer, &record, row->data, &memory);
    arena_done(&memory);
}

/* ---- the live part ---- */

static void take_live(void *context, uint32_t job_id, struct bytes acct_job) {
    struct answer *answer = context;
    struct arena memory;
    struct acct_job record;

    arena_init(&memory, 0);
    if (wire_decode(&record_acct_job, acct_job, &memory, &record, NULL) == 0 &&
        record.job != NULL) {
        if (record.job->db_index != 0)
            map_put(&answer->live, record.job->db_index, answer);
        add_record(answer, &record, acct_job, &memory);
    }
    arena_done(&memory);
}

static void answer_live(struct answer *answer) {
    struct ctld *ctld = answer->base.ctld;
    struct core_user user = {.uid = answer->uid, .gid = answer->gid, .name = "", .group = ""};
    core_acct_live(ctld->core, ctld_now(ctld), &user, answer->query, take_live, answer);
}

/* ---- the question ---- */

/* Numbers of the jobs and arrays asked for. */
static void filter_ids(struct answer *answer) {
    const struct job_refs *refs = acct_match_refs(answer->match);
    if (refs->any || refs->items.n > STORE_JOBS_MAX)
        return;
    /* Without any that is a number, of the job 0, which there is not. */
    answer->job_ids = xcalloc(refs->items.n + 1, sizeof(uint64_t));
    for (size_t i = 0; i < refs->items.n; i++)
        answer->job_ids[i] = refs->items.items[i].job_id;
    answer->base.filter.job_ids = answer->job_ids;
    answer->base.filter.n_job_ids = max_of(refs->items.n, (size_t) 1);
}

void acct_query_start(struct client *client, uint32_t seq, const struct core_user *user,
                      const struct acct_query *query) {
    struct ctld *ctld = client->ctld;
    struct answer *answer = zalloc(struct answer);
    history_answer_init(&answer->base, client, seq, MSG_ACCT_LIST,
                        query->duplicates ? HISTORY_JOBS : 1u << HISTORY_RUN);
    history_answer_window(&answer->base, query->start, query->end);
    answer->base.on_row = take_history;
    answer->base.release = answer_free;
    answer->query = record_dup(&record_acct_query, query);
    answer->match = acct_match_new(answer->query);
    answer->uid = user->uid;
    answer->gid = user->gid;
    bool private = ctld->conf->private_data & CONF_PRIVATE_JOBS;
    bool own_only = private && !core_is_admin(ctld->core, user->uid);
    if (own_only)
        answer->base.filter.uid = user->uid;
    else if (!query->all_users && query->uids.n == 1)
        answer->base.filter.uid = query->uids.items[0];
    filter_ids(answer);
    answer_live(answer);
    history_answer_start(&answer->base);
}
