/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller of the cluster that is apart: what src/slurmctld does, without files. Its turns go
 * to the store in order and take time there; what leaves the process leaves after the commit.
 */
#include <stdio.h>
#include <string.h>

#include "sim/cluster_internal.h"

/* The loop of the shell would spin: nothing comes of a tick, and the next is due at once. */
#define IDLE_TICKS_MOST 1000
#define DAY_USEC ((int64_t) 86400 * SIM_SECOND)

struct batch {
    struct sim_event commit;
    struct list link; /* cluster->batches */
    struct effects effects;
    bool committed;
};

/* ---- releasing ---- */

static void release_launch(struct sim_cluster *cluster, const struct effect *effect) {
    struct str out cleanup_str = STR_INIT;
    struct launch_result failed;
    if (sim_launch_body(cluster, effect, &out)) {
        sim_net_to_node(cluster, effect->node, MSG_LAUNCH, str_bytes(&out));
        return;
    }
    const struct launch *launch = sim_decode(cluster, &record_launch, effect->body);
    record_init(&record_launch_result, &failed);
    failed.job_id = effect->history.job_id;
    failed.step_id = STEP_BATCH;
    failed.attempt = launch != NULL ? launch->attempt : 0;
    failed.code = ERR_JOB_SCRIPT_MISSING;
    cluster->turn_open = true;
    core_node_message(cluster->core, sim_core_now(cluster), effect->node, MSG_LAUNCH_RESULT,
                      &failed, &cluster->effects);
}

static void release(struct sim_cluster *cluster, const struct effect *effect) {
    struct sim_client *client;
    switch (effect->kind) {
    case EFFECT_REPLY:
    case EFFECT_GRANT:
        client = map_get(&cluster->clients, effect->client);
        if (client != NULL && client->connected)
            sim_net_to_client(cluster, effect->client, effect->type, effect->body);
        break;
    case EFFECT_NODE:
        sim_net_to_node(cluster, effect->node, effect->type, effect->body);
        break;
    case EFFECT_LAUNCH:
        if (cluster->nodes[effect->node].registered != 0)
            release_launch(cluster, effect);
        break;
    case EFFECT_SCRIPT:
        sim_script_run(cluster, effect);
        break;
    case EFFECT_NODE_CLOSE:
        sim_net_core_notices(&cluster->nodes[effect->node], cluster->usec);
        sim_net_node_notices(&cluster->nodes[effect->node], cluster->usec + SIM_SECOND);
        break;
    default:
        break;
    }
}

static void release_ready(struct sim_cluster *cluster) {
    while (!list_is_empty(&cluster->batches)) {
        struct batch *batch = list_entry(cluster->batches.next, struct batch, link);
        if (!batch->committed)
            return;
        list_remove(&batch->link);
        if (cluster->observer.committed != NULL)
            cluster->observer.committed(cluster->observer.context, &batch->effects);
        for (size_t i = 0; i < batch->effects.list.n; i++)
            release(cluster, &batch->effects.list.items[i]);
        effects_done(&batch->effects);
        free(batch);
    }
}

/* ---- storing ---- */

static void store(struct sim_cluster *cluster, const struct effects *effects) {
    struct sim_undo undo = {0};
    bool keep = cluster->faults.tail > 0;
    for (size_t i = 0; i < effects->list.n; i++)
        sim_store_apply(&cluster->store, &effects->list.items[i], keep ? &undo : NULL);
    if (!keep)
        return;
    vec_push(&cluster->tail, undo);
    if (cluster->tail.n > cluster->faults.tail) {
        sim_undo_done(&cluster->tail.items[0]);
        vec_remove(&cluster->tail, 0);
    }
}

static void on_commit(struct sim_cluster *cluster, struct sim_event *event) {
    struct batch *batch = container_of(event, struct batch, commit);
    store(cluster, &batch->effects);
    batch->committed = true;
    release_ready(cluster);
    if (cluster->turn_open)
        sim_control_turn(cluster);
}

static void arm_core(struct sim_cluster *cluster) {
    int64_t next = core_next_time(cluster->core);
    if (next == INT64_MAX) {
        sim_event_cancel(cluster, &cluster->core_due);
        return;
    }
    int64_t ahead = next - cluster->clock_ahead;
    int64_t wait = ahead < INT64_MAX / SIM_SECOND ? ahead * SIM_SECOND - cluster->usec : DAY_USEC;
    sim_event_set(cluster, &cluster->core_due,
                  cluster->usec + max_of(min_of(wait, DAY_USEC), (int64_t) 0) + 1);
}

void sim_control_turn(struct sim_cluster *cluster) {
    cluster->turn_open = false;
    core_turn_end(cluster->core, sim_core_now(cluster), &cluster->effects);
    arm_core(cluster);
    if (cluster->effects.list.n == 0)
        return;
    cluster->idle_ticks = 0;
    struct batch *batch = zalloc(struct batch);
    batch->commit.fire = on_commit;
    batch->effects = cluster->effects;
    effects_init(&cluster->effects);
    list_append(&cluster->batches, &batch->link);
    if (cluster->observer.turn != NULL)
        cluster->observer.turn(cluster->observer.context, &batch->effects);
    if (!effects_need_store(&batch->effects)) {
        batch->committed = true;
        release_ready(cluster);
        return;
    }
    int64_t when = cluster->usec + sim_delay(cluster, &cluster->faults.commit);
    when = max_of(max_of(when, cluster->store_stalled), cluster->last_commit);
    cluster->last_commit = when;
    sim_event_set(cluster, &batch->commit, when);
}

static void on_core_due(struct sim_cluster *cluster, struct sim_event *event) {
    int64_t now = sim_core_now(cluster);
    if (core_next_time(cluster->core) > now) {
        cluster->idle_ticks = 0;
    } else if (++cluster->idle_ticks > IDLE_TICKS_MOST) {
        fprintf(stderr, "the core asks to be called again and again, and does nothing\n");
        abort();
    } else {
        core_tick(cluster->core, now, &cluster->effects);
    }
    sim_control_turn(cluster);
}

/* ---- death and return ---- */

static void batch_free(struct sim_cluster *cluster, struct batch *batch) {
    sim_event_cancel(cluster, &batch->commit);
    list_remove(&batch->link);
    effects_done(&batch->effects);
    free(batch);
}

/* Of the turns that were being stored some are, in order; none of their messages has left. */
static void lose_turns(struct sim_cluster *cluster) {
    size_t n = 0, kept = 0;
    list_each (&cluster->batches, at)
        n++;
    size_t keep = n > 0 ? (size_t) rng_below(&cluster->rng, n + 1) : 0;
    list_each (&cluster->batches, at) {
        struct batch *batch = list_entry(at, struct batch, link);
        if (!batch->committed && kept < keep) {
            store(cluster, &batch->effects);
            if (cluster->observer.committed != NULL)
                cluster->observer.committed(cluster->observer.context, &batch->effects);
        }
        kept++;
        batch_free(cluster, batch);
    }
    size_t lost = cluster->tail.n > 0 ? (size_t) rng_below(&cluster->rng, cluster->tail.n + 1) : 0;
    while (lost-- > 0)
        sim_store_undo(&cluster->store, &cluster->tail.items[--cluster->tail.n]);
}

static void clients_lost(struct sim_cluster *cluster) {
    size_t at = 0;
    uint64_t id;
    struct sim_client *client;
    while ((client = map_next(&cluster->clients, &at, &id)) != NULL) {
        if (client->connected)
            sim_net_to_client(cluster, id, 0, (struct bytes) {NULL, 0});
        client->connected = false;
    }
}

void sim_control_dies(struct sim_cluster *cluster) {
    const struct sim_observer *observer = &cluster->observer;
    lose_turns(cluster);
    core_free(take(cluster->core));
    effects_done(&cluster->effects);
    effects_init(&cluster->effects);
    cluster->turn_open = false;
    sim_event_cancel(cluster, &cluster->core_due);
    clients_lost(cluster);
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        struct sim_node *node = &cluster->nodes[i];
        node->accepted = node->registered = 0;
        sim_event_cancel(cluster, &node->core_end);
        sim_net_node_notices(node, cluster->usec +
                                       (int64_t) rng_below(&cluster->rng, (uint64_t) SIM_SECOND));
    }
    if (observer->died != NULL)
        observer->died(observer->context);
}

struct restore {
    struct core *core;
    uint32_t kind;
};

static void restore_one(void *context, uint64_t id, struct bytes body) {
    struct restore *restore = context;
    struct error err = ERROR_INIT;
    if (core_restore(restore->core, restore->kind, id, body, &err) < 0) {
        fprintf(stderr, "a record cannot be restored: %s\n", err.text);
        abort();
    }
}

void sim_control_start(struct sim_cluster *cluster) {
    static const uint32_t kinds[] = {STORE_META,      STORE_JOB,   STORE_STEP,        STORE_NODE,
                                     STORE_PARTITION, STORE_QOS,   STORE_RESERVATION, STORE_ACCOUNT,
                                     STORE_ACCT_USER, STORE_ASSOC, STORE_USAGE,       STORE_HABIT};
    const struct sim_observer *observer = &cluster->observer;
    struct error err = ERROR_INIT;
    struct restore restore = {core_new(), 0};
    cluster->core = restore.core;
    cluster->control_now = 0;
    int64_t now = sim_core_now(cluster);
    for (size_t i = 0; i < countof(kinds); i++) {
        restore.kind = kinds[i];
        sim_store_each(&cluster->store, kinds[i], restore_one, &restore);
    }
    if (core_configure(cluster->core, cluster->conf, 0, now, &cluster->effects, &err) < 0) {
        fprintf(stderr, "a configuration that has been taken is refused: %s\n", err.text);
        abort();
    }
    core_restored(cluster->core, now, &cluster->effects);
    if (observer->restored != NULL)
        observer->restored(observer->context);
    sim_control_turn(cluster);
    for (size_t i = 0; i < cluster->n_nodes; i++)
        sim_net_dial_soon(&cluster->nodes[i]);
}

void sim_control_free(struct sim_cluster *cluster) {
    list_each (&cluster->batches, at)
        batch_free(cluster, list_entry(at, struct batch, link));
    vec_each (&cluster->tail, undo)
        sim_undo_done(undo);
    vec_done(&cluster->tail);
}

int sim_cluster_reconfigure(struct sim_cluster *cluster, const struct conf *conf,
                            struct error *err) {
    if (cluster->core != NULL) {
        int r =
            core_configure(cluster->core, conf, 0, sim_core_now(cluster), &cluster->effects, err);
        if (r < 0)
            return r;
    }
    cluster->conf = conf;
    if (cluster->core != NULL)
        sim_control_turn(cluster);
    return 0;
}

static void on_restart(struct sim_cluster *cluster, struct sim_event *event) {
    if (cluster->core == NULL)
        sim_control_start(cluster);
}

void sim_cluster_apart(struct sim_cluster *cluster, const struct sim_faults *faults,
                       const struct sim_observer *observer) {
    sim_cluster_advance(cluster, sim_now(cluster));
    cluster->apart = true;
    cluster->faults = *faults;
    if (observer != NULL)
        cluster->observer = *observer;
    cluster->core_due.fire = on_core_due;
    cluster->restart.fire = on_restart;
    sim_net_start(cluster);
    sim_faults_start(cluster);
    arm_core(cluster);
}

/* ---- looking ---- */

bool sim_cluster_controller_lives(const struct sim_cluster *cluster) {
    return cluster->core != NULL;
}

int64_t sim_cluster_controller_now(struct sim_cluster *cluster) {
    return sim_core_now(cluster);
}

void sim_cluster_stored(struct sim_cluster *cluster, uint32_t kind,
                        void (*fn)(void *context, uint64_t id, struct bytes body), void *context) {
    sim_store_each(&cluster->store, kind, fn, context);
}

size_t sim_cluster_steps(const struct sim_cluster *cluster, uint32_t node) {
    const struct agent *agent = cluster->nodes[node].agent;
    return agent != NULL ? agent_steps(agent) : 0;
}

bool sim_cluster_repeat(struct sim_cluster *cluster, uint32_t node, uint16_t type,
                        const void *body) {
    struct str out cleanup_str = STR_INIT;
    if (cluster->core == NULL || cluster->nodes[node].registered == 0)
        return false;
    wire_encode(message_record(type), body, NULL, &out);
    sim_core_receive(cluster, node, type, str_bytes(&out));
    sim_control_turn(cluster);
    return true;
}

void sim_cluster_script(int64_t run, uint32_t exit_status, struct str *out) {
    const struct sim_script script = {run, exit_status};
    sim_script_print(&script, out);
}
