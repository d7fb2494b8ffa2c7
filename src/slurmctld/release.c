/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effects out: stored first, released after. Batches stay in order, also those that have nothing to
 * store. When the store fails (a full disk), nothing that depends on it is released: the batches
 * are kept and tried again every second, and new requests are turned away meanwhile.
 */
#include <string.h>
#include <unistd.h>

#include "os/auth.h"
#include "os/spawn.h"
#include "slurmctld/ctld.h"

#define RETRY_USEC 1000000
#define TELL_AGAIN_USEC 60000000 /* a log line for each try would fill what is left of the disk */

struct batch {
    struct list link; /* ctld->pending */
    struct ctld *ctld;
    struct effects effects;
    bool stored;
    unsigned in_flight; /* submissions to the store that have not come back */
};

int64_t ctld_now(struct ctld *ctld) {
    int64_t now = (int64_t) (loop_realtime_usec() / 1000000);
    ctld->now = max_of(ctld->now, now);
    return ctld->now;
}

/* ---- releasing one effect ---- */

static struct client *find_client(struct ctld *ctld, uint64_t id) {
    return map_get(&ctld->clients, id);
}

static void release_reply(struct ctld *ctld, const struct effect *effect) {
    struct client *client = find_client(ctld, effect->client);
    if (client != NULL)
        rpc_conn_send(client->conn, effect->type, effect->flags, effect->seq, effect->body);
}

static void release_node(struct ctld *ctld, const struct effect *effect) {
    struct client *client = map_get(&ctld->nodes, effect->node);
    if (client != NULL)
        rpc_conn_send(client->conn, effect->type, 0, 0, effect->body);
}

/* Puts the signed credential into the layout and sends the answer. */
static void send_grant(struct client *client, const struct effect *effect, char *credential) {
    struct arena memory;
    arena_init(&memory, 0);
    const struct record *record = message_record(effect->type);
    void *body = arena_alloc(&memory, record->size);
    if (wire_decode(record, effect->body, &memory, body, NULL) == 0) {
        struct step_layout *layout = effect->type == MSG_STEP_REPLY
                                         ? ((struct step_reply *) body)->layout
                                         : ((struct alloc_granted *) body)->step;
        if (layout != NULL)
            layout->credential = credential;
        rpc_conn_tell(client->conn, effect->type, effect->flags, effect->seq, body);
    }
    arena_done(&memory);
}

static void release_grant(struct ctld *ctld, const struct effect *effect) {
    struct client *client = find_client(ctld, effect->client);
    if (client == NULL)
        return;
    cleanup_free char *credential = NULL;
    struct error err = ERROR_INIT;
    if (effect->credential.size > 0 && auth_encode(ctld->munge_socket, effect->credential,
                                                   ctld->slurmd_uid, 0, &credential, &err) < 0) {
        log_error("a launch credential could not be made: %s", err.text);
        reply_error_text(client, effect->seq, -ERR_AUTH, err.text);
        return;
    }
    send_grant(client, effect, credential);
}

static void release_launch(struct ctld *ctld, const struct effect *effect) {
    struct client *client = map_get(&ctld->nodes, effect->node);
    if (client == NULL)
        return;
    struct arena memory;
    arena_init(&memory, 0);
    struct launch launch;
    struct job_script script;
    struct error err = ERROR_INIT;
    struct str data cleanup_str = STR_INIT;
    int r = wire_decode(&record_launch, effect->body, &memory, &launch, &err);
    if (r == 0)
        r = store_get(ctld->store, STORE_JOB_SCRIPT, effect->id, &data, &err);
    if (r == 0)
        r = wire_decode(&record_job_script, str_bytes(&data), &memory, &script, &err);
    if (r < 0) {
        log_error("job %u: its script cannot be read: %s", effect->history.job_id, err.text);
        struct launch_result failed;
        record_init(&record_launch_result, &failed);
        failed.job_id = effect->history.job_id;
        failed.step_id = STEP_BATCH;
        failed.attempt = launch.attempt;
        failed.code = ERR_JOB_SCRIPT_MISSING;
        failed.detail = err.text;
        core_node_message(ctld->core, ctld_now(ctld), effect->node, MSG_LAUNCH_RESULT, &failed,
                          ctld->effects);
    } else {
        launch.job->script = script.script;
        launch.job->environment = script.environment;
        rpc_conn_tell(client->conn, MSG_LAUNCH, 0, 0, &launch);
    }
    arena_done(&memory);
}

static void release_log(const struct effect *effect) {
    static const enum log_level levels[] = {
        [EFFECT_ERROR] = LOG_LEVEL_ERROR,
        [EFFECT_WARNING] = LOG_LEVEL_INFO,
        [EFFECT_INFO] = LOG_LEVEL_INFO,
        [EFFECT_DEBUG] = LOG_LEVEL_DEBUG,
    };
    log_at(levels[effect->level], "%s", effect->text);
}

static void tell_nodes(struct ctld *ctld, uint16_t type) {
    size_t at = 0;
    uint64_t node;
    struct client *client;
    while ((client = map_next(&ctld->nodes, &at, &node)) != NULL)
        rpc_conn_tell(client->conn, type, 0, 0, NULL);
}

static void release_reconfigure(struct ctld *ctld, const struct effect *effect) {
    struct client *client = find_client(ctld, effect->client);
    struct error err = ERROR_INIT;
    int r = ctld_reconfigure(ctld, &err);
    if (r == 0)
        tell_nodes(ctld, MSG_NODE_RECONFIGURE);
    if (client == NULL)
        return;
    if (r < 0)
        reply_error_text(client, effect->seq, r, err.text);
    else
        reply_record(client, MSG_OK, effect->seq, NULL);
}

static void mail_sent(pid_t pid, int status, void *context) {
    if (status != 0)
        log_error("MailProg ended with status %d", status);
}

/* MailProg -s SUBJECT ADDRESS, as administrators know it. */
static void release_mail(struct ctld *ctld, const struct effect *effect) {
    const char *program = ctld->conf->mail_prog;
    char subject_option[] = "-s", path_variable[] = "PATH=/usr/bin:/bin:/usr/sbin:/sbin";
    char *argv[] = {(char *) (uintptr_t) program, subject_option, (char *) (uintptr_t) effect->text,
                    (char *) (uintptr_t) effect->body.data, NULL};
    cleanup_free char *cluster = xasprintf("SLURM_CLUSTER_NAME=%s", ctld->conf->cluster_name);
    cleanup_free char *job = xasprintf("SLURM_JOB_ID=%llu", (unsigned long long) effect->id);
    char *envp[] = {path_variable, cluster, job, NULL};
    struct spawn spec = {.path = program,
                         .argv = argv,
                         .envp = envp,
                         .stdin_fd = -1,
                         .stdout_fd = -1,
                         .stderr_fd = -1,
                         .new_session = true};
    struct error err = ERROR_INIT;
    pid_t pid;
    if (access(program, X_OK) < 0) {
        static bool told;
        if (!told)
            log_info("MailProg %s does not exist: no mail is sent", program);
        told = true;
        return;
    }
    if (spawn_process(&spec, &pid, NULL, &err) < 0 ||
        loop_child(ctld->loop, pid, mail_sent, ctld, &err) < 0)
        log_error("mail about job %llu: %s", (unsigned long long) effect->id, err.text);
}

static void release(struct ctld *ctld, const struct effect *effect) {
    switch (effect->kind) {
    case EFFECT_REPLY:
        release_reply(ctld, effect);
        break;
    case EFFECT_GRANT:
        release_grant(ctld, effect);
        break;
    case EFFECT_NODE:
        release_node(ctld, effect);
        break;
    case EFFECT_LAUNCH:
        release_launch(ctld, effect);
        break;
    case EFFECT_LOG:
        release_log(effect);
        break;
    case EFFECT_RECONFIGURE:
        release_reconfigure(ctld, effect);
        break;
    case EFFECT_SHUTDOWN:
        tell_nodes(ctld, MSG_NODE_SHUTDOWN);
        loop_stop(ctld->loop, 0);
        break;
    case EFFECT_NODE_CLOSE: {
        struct client *client = map_get(&ctld->nodes, effect->node);
        if (client != NULL)
            rpc_conn_close(client->conn);
        break;
    }
    case EFFECT_SCRIPT:
        script_run(ctld, effect);
        break;
    case EFFECT_TRIGGER:
        trigger_run(ctld, effect);
        break;
    case EFFECT_MAIL:
        release_mail(ctld, effect);
        break;
    case EFFECT_HISTORY:
        deliver_stored(ctld);
        break;
    case EFFECT_PUT:
    case EFFECT_DELETE:
        break;
    }
}

static void release_batch(struct batch *batch) {
    struct ctld *ctld = batch->ctld;
    for (size_t i = 0; i < batch->effects.list.n; i++)
        release(ctld, &batch->effects.list.items[i]);
    list_remove(&batch->link);
    effects_done(&batch->effects);
    free(batch);
}

static void release_stored(struct ctld *ctld) {
    while (!list_is_empty(&ctld->pending)) {
        struct batch *first = list_entry(ctld->pending.next, struct batch, link);
        if (!first->stored || first->in_flight > 0 || ctld->store_failing)
            return;
        release_batch(first);
    }
}

/* ---- storing ---- */

/* `again`: the batch is durable already and is only repeated behind an older one that was not;
 * records are put again, history rows must not be added twice. */
static struct store_batch *store_part(const struct effects *effects, bool again) {
    struct store_batch *out = store_batch_new();
    for (size_t i = 0; i < effects->list.n; i++) {
        const struct effect *effect = &effects->list.items[i];
        if (effect->kind == EFFECT_PUT) {
            store_batch_put(out, effect->store_kind, effect->id, effect->body);
        } else if (effect->kind == EFFECT_DELETE) {
            store_batch_delete(out, effect->store_kind, effect->id);
        } else if (effect->kind == EFFECT_HISTORY && !again) {
            const struct effect_history *h = &effect->history;
            struct store_history row = {.job_id = h->job_id,
                                        .array_id = h->array_id,
                                        .uid = h->uid,
                                        .submit = h->submit,
                                        .start = h->start,
                                        .end = h->end,
                                        .state = h->state,
                                        .kind = h->kind,
                                        .data = effect->body};
            store_batch_history(out, &row);
        }
    }
    return out;
}

static void batch_done(int code, const struct error *err, void *context);
static void retry(void *context);

static void submit_batch(struct batch *batch) {
    batch->in_flight++;
    store_submit(batch->ctld->store, store_part(&batch->effects, batch->stored), batch_done, batch);
}

static void arm_retry(struct ctld *ctld) {
    if (ctld->retry_timer == NULL)
        ctld->retry_timer = loop_timer_add(ctld->loop, retry, ctld);
    loop_timer_set(ctld->retry_timer, loop_monotonic_usec() + RETRY_USEC);
}

/* Everything from the first failure on is submitted again, in order: a batch behind it may have
 * been stored, and an older record must not end up over a newer one. */
static void retry(void *context) {
    struct ctld *ctld = context;
    bool behind_failure = false;
    list_each (&ctld->pending, at) {
        if (list_entry(at, struct batch, link)->in_flight > 0) {
            arm_retry(ctld); /* wait until the store has answered for all */
            return;
        }
    }
    ctld->store_failing = false;
    list_each (&ctld->pending, at) {
        struct batch *batch = list_entry(at, struct batch, link);
        behind_failure |= !batch->stored;
        if (behind_failure)
            submit_batch(batch);
    }
}

static void tell_failure(struct ctld *ctld, const struct error *err) {
    uint64_t now = loop_monotonic_usec();
    if (ctld->store_told_usec > 0 && now - ctld->store_told_usec < TELL_AGAIN_USEC)
        return;
    ctld->store_told_usec = now;
    log_error("the state cannot be stored, nothing is acknowledged until it can: %s", err->text);
}

static void batch_done(int code, const struct error *err, void *context) {
    struct batch *batch = context;
    struct ctld *ctld = batch->ctld;
    batch->in_flight--;
    if (code == 0)
        batch->stored = true;
    if (code < 0 && !ctld->store_failing) {
        ctld->store_failing = true;
        tell_failure(ctld, err);
        arm_retry(ctld);
    }
    release_stored(ctld);
    if (ctld->store_told_usec > 0 && !ctld->store_failing && list_is_empty(&ctld->pending)) {
        ctld->store_told_usec = 0;
        log_info("the state is stored again, nothing is lost");
    }
}

static void arm_timer(struct ctld *ctld) {
    int64_t next = core_next_time(ctld->core);
    if (next == INT64_MAX) {
        loop_timer_set(ctld->timer, 0);
        return;
    }
    int64_t real = (int64_t) loop_realtime_usec(), due = next * 1000000;
    uint64_t wait = due > real ? (uint64_t) (due - real) : 0;
    /* A far future must not overflow the timer; nothing is lost by looking once a day. */
    loop_timer_set(ctld->timer, loop_monotonic_usec() + min_of(wait, (uint64_t) 86400000000) + 1);
}

void ctld_turn_end(void *context) {
    struct ctld *ctld = context;
    uint64_t begin = loop_monotonic_usec();
    core_turn_end(ctld->core, ctld_now(ctld), ctld->effects);
    diag_count_turn(ctld, loop_monotonic_usec() - begin);
    arm_timer(ctld);
    if (ctld->effects->list.n == 0)
        return;
    struct batch *batch = zalloc(struct batch);
    list_init(&batch->link);
    batch->ctld = ctld;
    batch->effects = *ctld->effects;
    effects_init(ctld->effects);
    batch->stored = !effects_need_store(&batch->effects);
    list_append(&ctld->pending, &batch->link);
    if (!batch->stored && !ctld->store_failing)
        submit_batch(batch);
    release_stored(ctld);
}

void ctld_flush(struct ctld *ctld) {
    ctld_turn_end(ctld);
    store_flush(ctld->store);
}
