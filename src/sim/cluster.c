/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller's shell and the clock of the simulated cluster. Messages arrive at once and in
 * order: what the core wants sent to a node is handed to the node before the turn goes on, so that
 * at one instant everything that ends has been cleaned up before the instant's pass is planned.
 */
#include "sim/cluster.h"

#include <string.h>

#include "sim/cluster_internal.h"

#define FIRST_UID 1000u

/* ---- events ---- */

void sim_event_set_order(struct sim_cluster *cluster, struct sim_event *event, int64_t usec,
                         uint64_t order) {
    heap_remove(&cluster->events, &event->at);
    heap_push(&cluster->events, &event->at, usec, order);
}

void sim_event_set(struct sim_cluster *cluster, struct sim_event *event, int64_t usec) {
    sim_event_set_order(cluster, event, usec, cluster->n_events++);
}

void sim_event_cancel(struct sim_cluster *cluster, struct sim_event *event) {
    heap_remove(&cluster->events, &event->at);
}

int64_t sim_now(const struct sim_cluster *cluster) {
    return cluster->usec / SIM_SECOND;
}

int64_t sim_core_now(struct sim_cluster *cluster) {
    if (!cluster->apart)
        return sim_now(cluster);
    int64_t now = sim_now(cluster) + cluster->clock_ahead;
    cluster->control_now = max_of(cluster->control_now, now);
    return cluster->control_now;
}

void *sim_decode(struct sim_cluster *cluster, const struct record *record, struct bytes body) {
    arena_reset(&cluster->memory);
    void *object = arena_alloc(&cluster->memory, record->size);
    return wire_decode(record, body, &cluster->memory, object, NULL) == 0 ? object : NULL;
}

/* ---- users and clients ---- */

const struct sim_user *sim_user_find(struct sim_cluster *cluster, const char *name) {
    struct sim_user *user = smap_get(&cluster->users, name);
    if (user == NULL) {
        user = zalloc(struct sim_user);
        user->name = xstrdup(name);
        user->uid = str_equal(name, "root") ? 0 : FIRST_UID + (uint32_t) cluster->users.n;
        smap_put(&cluster->users, user->name, user);
    }
    return user;
}

void sim_core_request(struct sim_cluster *cluster, const struct sim_client *client, uint16_t type,
                      struct bytes body) {
    const char *name = client->user->name;
    const struct core_user user = {.uid = client->user->uid,
                                   .gid = client->user->uid,
                                   .name = name,
                                   .group = name,
                                   .groups = &name,
                                   .n_groups = 1};
    void *decoded = sim_decode(cluster, message_record(type), body);
    if (decoded == NULL)
        return;
    cluster->turn_open = true;
    core_request(cluster->core, sim_core_now(cluster), client->id, client->seq, type, &user,
                 decoded, &cluster->effects);
}

static void request(struct sim_cluster *cluster, const struct sim_client *client, uint16_t type,
                    const void *body) {
    struct str out cleanup_str = STR_INIT;
    wire_encode(message_record(type), body, NULL, &out);
    sim_core_request(cluster, client, type, str_bytes(&out));
}

static void client_free(struct sim_cluster *cluster, struct sim_client *client) {
    sim_event_cancel(cluster, &client->event);
    map_remove(&cluster->clients, client->id);
    free(client);
}

/* The command that salloc or srun ran has ended. */
static void on_client(struct sim_cluster *cluster, struct sim_event *event) {
    struct sim_client *client = container_of(event, struct sim_client, event);
    struct alloc_end end;
    record_init(&record_alloc_end, &end);
    end.job_id = client->job_id;
    request(cluster, client, MSG_ALLOC_END, &end);
    client_free(cluster, client);
}

static void client_answered(struct sim_cluster *cluster, const struct effect *effect) {
    struct sim_client *client = map_get(&cluster->clients, effect->client);
    if (client == NULL)
        return;
    if (effect->type == MSG_ALLOC_GRANTED) {
        sim_event_set(cluster, &client->event, cluster->usec + client->run * SIM_SECOND);
        return;
    }
    const struct alloc_notice *notice =
        effect->type == MSG_ALLOC_NOTICE ? sim_decode(cluster, &record_alloc_notice, effect->body)
                                         : NULL;
    if (effect->type == MSG_ERROR || (notice != NULL && notice->what == ALLOC_REVOKED))
        client_free(cluster, client);
}

/* ---- effects out ---- */

bool sim_launch_body(struct sim_cluster *cluster, const struct effect *effect, struct str *out) {
    struct arena memory;
    struct launch launch;
    struct job_script script;
    struct bytes stored;
    arena_init(&memory, 0);
    bool found = wire_decode(&record_launch, effect->body, &memory, &launch, NULL) == 0 &&
                 sim_store_get(&cluster->store, STORE_JOB_SCRIPT, effect->id, &stored) &&
                 wire_decode(&record_job_script, stored, &memory, &script, NULL) == 0;
    if (found) { /* the shell adds script and environment */
        launch.job->script = script.script;
        launch.job->environment = script.environment;
        wire_encode(&record_launch, &launch, NULL, out);
    }
    arena_done(&memory);
    return found;
}

static void release_launch(struct sim_cluster *cluster, const struct effect *effect) {
    struct str out cleanup_str = STR_INIT;
    if (sim_launch_body(cluster, effect, &out))
        sim_node_receive(&cluster->nodes[effect->node], MSG_LAUNCH, str_bytes(&out));
}

/* A job's record has changed: tells the owner of starts and ends. */
static void job_changed(struct sim_cluster *cluster, uint32_t job_id) {
    const struct sim_hooks *hooks = &cluster->hooks;
    const struct job *job = core_job(cluster->core, job_id);
    if (job == NULL)
        return;
    uintptr_t seen = (uintptr_t) map_get(&cluster->seen, job_id);
    bool ended = job_state_is_final(job->state), had_ended = seen & 1;
    if (job->attempt > seen / 2 && hooks->started != NULL)
        hooks->started(hooks->context, job_id, sim_now(cluster), job);
    if (ended && !had_ended && hooks->ended != NULL)
        hooks->ended(hooks->context, job_id, sim_now(cluster), job);
    uintptr_t now = (uintptr_t) job->attempt * 2 + ended;
    if (now != 0)
        map_put(&cluster->seen, job_id, (void *) now);
    else if (seen != 0)
        map_remove(&cluster->seen, job_id);
}

void sim_script_run(struct sim_cluster *cluster, const struct effect *effect) {
    const struct job_script_order *order =
        sim_decode(cluster, &record_job_script_order, effect->body);
    cluster->turn_open = true;
    core_script_done(cluster->core, sim_core_now(cluster), (uint32_t) effect->id, order->epilog,
                     NULL, &cluster->effects);
}

static void release(struct sim_cluster *cluster, const struct effect *effect) {
    switch (effect->kind) {
    case EFFECT_PUT:
        sim_store_apply(&cluster->store, effect, NULL);
        if (effect->store_kind == STORE_JOB)
            job_changed(cluster, (uint32_t) effect->id);
        break;
    case EFFECT_HISTORY:
        if (effect->history.kind == HISTORY_RUN)
            map_remove(&cluster->seen, effect->history.job_id);
        sim_store_apply(&cluster->store, effect, NULL);
        break;
    case EFFECT_DELETE:
        sim_store_apply(&cluster->store, effect, NULL);
        break;
    case EFFECT_REPLY:
    case EFFECT_GRANT:
        client_answered(cluster, effect);
        break;
    case EFFECT_NODE:
        sim_node_receive(&cluster->nodes[effect->node], effect->type, effect->body);
        break;
    case EFFECT_LAUNCH:
        release_launch(cluster, effect);
        break;
    case EFFECT_SCRIPT:
        sim_script_run(cluster, effect);
        break;
    case EFFECT_NODE_CLOSE:
    case EFFECT_TRIGGER:
    case EFFECT_MAIL:
    case EFFECT_LOG:
    case EFFECT_SHUTDOWN:
    case EFFECT_RECONFIGURE:
        break;
    }
}

/* What nodes answer to these effects adds others behind them. */
static void release_all(struct sim_cluster *cluster) {
    while (cluster->n_released < cluster->effects.list.n) {
        struct effect effect = cluster->effects.list.items[cluster->n_released++];
        release(cluster, &effect);
    }
}

void sim_core_receive(struct sim_cluster *cluster, uint32_t node, uint16_t type,
                      struct bytes body) {
    void *message = sim_decode(cluster, message_record(type), body);
    if (message == NULL)
        return;
    cluster->turn_open = true;
    core_node_message(cluster->core, sim_core_now(cluster), node, type, message, &cluster->effects);
}

/* Ends the turn, and those that follow from it at this instant. */
static void settle(struct sim_cluster *cluster) {
    int64_t now = sim_now(cluster);
    release_all(cluster);
    while (cluster->turn_open) {
        cluster->turn_open = false;
        core_turn_end(cluster->core, now, &cluster->effects);
        bool any = cluster->n_released < cluster->effects.list.n;
        release_all(cluster);
        vec_reset(&cluster->effects.list);
        arena_reset(&cluster->effects.memory);
        cluster->n_released = 0;
        /* A plan has a bound: the rest of the starts is the next turn's. */
        if (!cluster->turn_open && any && core_next_time(cluster->core) <= now) {
            core_tick(cluster->core, now, &cluster->effects);
            cluster->turn_open = true;
        }
    }
}

/* ---- the clock ---- */

/* When the next event is due, in microseconds. */
static int64_t next_usec(const struct sim_cluster *cluster) {
    const struct heap_node *event = heap_min(&cluster->events);
    int64_t due = event != NULL ? event->key : INT64_MAX, now = sim_now(cluster);
    if (cluster->apart)
        return due;
    int64_t core = core_next_time(cluster->core);
    if (core <= now && cluster->turn_open) /* the turn's end may see to it */
        return due;
    core = max_of(core, now + 1);
    return core < INT64_MAX / SIM_SECOND ? min_of(due, core * SIM_SECOND) : due;
}

/* Everything that is due now comes in. */
static void play_instant(struct sim_cluster *cluster) {
    struct heap_node *at;
    while ((at = heap_min(&cluster->events)) != NULL && at->key <= cluster->usec) {
        struct sim_event *event = container_of(at, struct sim_event, at);
        heap_remove(&cluster->events, at);
        event->fire(cluster, event);
        release_all(cluster);
    }
    if (core_next_time(cluster->core) <= sim_now(cluster)) {
        core_tick(cluster->core, sim_now(cluster), &cluster->effects);
        cluster->turn_open = true;
        release_all(cluster);
    }
}

/* Apart, the controller's turns end by themselves. */
static void advance_apart(struct sim_cluster *cluster, int64_t end) {
    struct heap_node *at;
    while ((at = heap_min(&cluster->events)) != NULL && at->key <= end) {
        struct sim_event *event = container_of(at, struct sim_event, at);
        cluster->usec = max_of(cluster->usec, at->key);
        heap_remove(&cluster->events, at);
        event->fire(cluster, event);
    }
    cluster->usec = max_of(cluster->usec, end);
}

void sim_cluster_advance(struct sim_cluster *cluster, int64_t until) {
    int64_t end = min_of(until, INT64_MAX / SIM_SECOND) * SIM_SECOND, next;
    if (cluster->apart) {
        advance_apart(cluster, end);
        return;
    }
    settle(cluster);
    while ((next = next_usec(cluster)) <= end || cluster->turn_open) {
        if (next > cluster->usec && cluster->turn_open) {
            if (cluster->usec >= end)
                break; /* open for what the owner submits */
            settle(cluster);
            continue;
        }
        cluster->usec = max_of(cluster->usec, next);
        play_instant(cluster);
    }
    cluster->usec = max_of(cluster->usec, end);
}

int64_t sim_cluster_next(const struct sim_cluster *cluster) {
    if (cluster->turn_open && !cluster->apart)
        return sim_now(cluster);
    int64_t next = next_usec(cluster);
    return next == INT64_MAX ? INT64_MAX : (next + SIM_SECOND - 1) / SIM_SECOND;
}

int64_t sim_cluster_now(const struct sim_cluster *cluster) {
    return sim_now(cluster);
}

struct core *sim_cluster_core(struct sim_cluster *cluster) {
    return cluster->core;
}

/* ---- submission ---- */

/* The refusal of a submission among the effects from `first` on. */
static bool was_refused(struct sim_cluster *cluster, size_t first, struct error *err) {
    for (size_t i = first; i < cluster->effects.list.n; i++) {
        const struct effect *effect = &cluster->effects.list.items[i];
        if (effect->kind != EFFECT_REPLY || effect->type != MSG_ERROR)
            continue;
        const struct reply_error *refusal = sim_decode(cluster, &record_reply_error, effect->body);
        if (refusal == NULL)
            continue;
        (void) error_set(err, (enum err) refusal->code, "%s%s%s", error_text((int) refusal->code),
                         refusal->detail != NULL ? ": " : "",
                         refusal->detail != NULL ? refusal->detail : "");
        return true;
    }
    return false;
}

uint32_t sim_cluster_submit(struct sim_cluster *cluster, const struct job_request *wanted,
                            const char *user, int64_t run, struct error *err) {
    struct str script cleanup_str = STR_INIT;
    struct job_request job = *wanted; /* borrows its members */
    const struct sim_user *who = sim_user_find(cluster, user);
    struct submit submit;
    size_t first = cluster->effects.list.n;
    struct sim_client client = {.id = ++cluster->next_client, .user = who, .run = run, .seq = 1};
    record_init(&record_submit, &submit);
    submit.job = &job;
    job.environment = job.script = (struct blob) {NULL, 0};
    if (job.kind == JOB_KIND_BATCH) {
        sim_script_print(&(struct sim_script) {.run = run}, &script);
        job.script = (struct blob) {(uint8_t *) script.data, script.length};
    }
    request(cluster, &client, MSG_SUBMIT, &submit);
    if (was_refused(cluster, first, err))
        return 0;
    client.job_id = core_next_job_id(cluster->core) - 1;
    if (job.kind != JOB_KIND_BATCH) {
        client.event.fire = on_client;
        map_put(&cluster->clients, client.id, xmemdup(&client, sizeof(client)));
    }
    return client.job_id;
}

/* ---- the whole ---- */

int sim_cluster_new(const struct conf *conf, int64_t start, uint64_t seed,
                    const struct sim_hooks *hooks, struct sim_cluster **ret, struct error *err) {
    struct sim_cluster *cluster = zalloc(struct sim_cluster);
    cluster->conf = conf;
    if (hooks != NULL)
        cluster->hooks = *hooks;
    rng_seed(&cluster->rng, seed);
    cluster->usec = start * SIM_SECOND;
    arena_init(&cluster->memory, 0);
    effects_init(&cluster->effects);
    list_init(&cluster->batches);
    list_init(&cluster->messages);
    cluster->core = core_new();
    int r = core_configure(cluster->core, conf, 0, start, &cluster->effects, err);
    if (r < 0) {
        sim_cluster_free(cluster);
        return r;
    }
    core_restored(cluster->core, start, &cluster->effects);
    cluster->turn_open = true;
    sim_nodes_new(cluster);
    for (size_t i = 0; i < cluster->n_nodes; i++)
        sim_node_register(&cluster->nodes[i]);
    settle(cluster);
    *ret = cluster;
    return 0;
}

static void users_free(struct sim_cluster *cluster) {
    size_t at = 0;
    const char *name;
    struct sim_user *user;
    while ((user = smap_next(&cluster->users, &at, &name)) != NULL) {
        free(user->name);
        free(user);
    }
    smap_done(&cluster->users);
}

void sim_cluster_free(struct sim_cluster *cluster) {
    size_t at = 0;
    uint64_t id;
    struct sim_client *client;
    if (cluster == NULL)
        return;
    while ((client = map_next(&cluster->clients, &at, &id)) != NULL)
        client_free(cluster, client);
    map_done(&cluster->clients);
    sim_nodes_free(cluster);
    sim_net_free(cluster);
    sim_control_free(cluster);
    users_free(cluster);
    core_free(cluster->core);
    effects_done(&cluster->effects);
    sim_store_done(&cluster->store);
    map_done(&cluster->seen);
    heap_done(&cluster->events);
    arena_done(&cluster->memory);
    free(cluster);
}
