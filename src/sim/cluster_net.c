/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections of the cluster that is apart. A node has at most one, the controller may for a while
 * hold an older one of it as well; each has a number (epoch), and what arrives for a connection
 * that its receiver has no more is lost. Messages of one connection and direction arrive in order.
 */
#include <string.h>

#include "sim/cluster_internal.h"

#define PAUSE_MIN_USEC 50000
#define PAUSE_MAX_USEC 5000000
#define NO_NODE UINT32_MAX

enum way { TO_NODE, TO_CORE, TO_CLIENT, FROM_CLIENT, STEP_LAUNCH };

struct sim_message {
    struct sim_event event;
    struct list link;
    enum way way;
    uint32_t node;  /* NO_NODE: between a command and the controller */
    uint64_t epoch; /* of the connection; the client's number */
    uint64_t order;
    uint16_t type;
    struct step_key key; /* STEP_LAUNCH */
    uint32_t uid;
    struct sim_script script;
    size_t size;
    uint8_t data[];
};

static void on_message(struct sim_cluster *cluster, struct sim_event *event);

static struct sim_message *message_new(struct sim_cluster *cluster, enum way way, uint32_t node,
                                       uint64_t epoch, uint16_t type, struct bytes body) {
    struct sim_message *message = xcalloc(1, sizeof(*message) + body.size);
    message->event.fire = on_message;
    message->way = way;
    message->node = node;
    message->epoch = epoch;
    message->type = type;
    message->size = body.size;
    message->order = cluster->n_events++;
    if (body.size > 0)
        memcpy(message->data, body.data, body.size);
    list_append(&cluster->messages, &message->link);
    return message;
}

static void message_free(struct sim_cluster *cluster, struct sim_message *message) {
    sim_event_cancel(cluster, &message->event);
    list_remove(&message->link);
    free(message);
}

static int64_t arrival(struct sim_cluster *cluster) {
    int64_t when = cluster->usec + sim_delay(cluster, &cluster->faults.network);
    return max_of(when, cluster->net_stalled);
}

/* Behind what was sent before it on the same connection, and after a partition. */
static void dispatch(struct sim_cluster *cluster, struct sim_message *message, int64_t when,
                     int64_t *last) {
    struct sim_node *node = &cluster->nodes[message->node];
    if (node->cut_until > cluster->usec)
        when = max_of(when, node->cut_until);
    when = max_of(when, *last);
    *last = when;
    sim_event_set_order(cluster, &message->event, when, message->order);
}

static bool may_double(uint16_t type) {
    return type == MSG_LAUNCH || type == MSG_JOB_TERMINATE || type == MSG_STEP_DONE ||
           type == MSG_JOB_CLEAN || type == MSG_LAUNCH_RESULT || type == MSG_JOB_PREPARE ||
           type == MSG_JOB_PREPARED;
}

static void send(struct sim_node *node, enum way way, uint64_t epoch, uint16_t type,
                 struct bytes body) {
    struct sim_cluster *cluster = node->cluster;
    int64_t *last = way == TO_NODE ? &node->last_to_node : &node->last_to_core;
    dispatch(cluster, message_new(cluster, way, node->index, epoch, type, body), arrival(cluster),
             last);
    if (!may_double(type) || !sim_chance(cluster, cluster->faults.doubled))
        return;
    /* Once more, behind some of what follows. */
    int64_t later = cluster->usec + (int64_t) rng_below(&cluster->rng, 20 * SIM_SECOND);
    struct sim_message *again = message_new(cluster, way, node->index, epoch, type, body);
    sim_event_set_order(cluster, &again->event, max_of(later, *last), again->order);
}

void sim_net_to_node(struct sim_cluster *cluster, uint32_t node, uint16_t type, struct bytes body) {
    if (cluster->nodes[node].registered != 0)
        send(&cluster->nodes[node], TO_NODE, cluster->nodes[node].registered, type, body);
}

void sim_net_to_core(struct sim_node *node, uint16_t type, struct bytes body) {
    if (node->epoch != 0)
        send(node, TO_CORE, node->epoch, type, body);
}

void sim_net_to_client(struct sim_cluster *cluster, uint64_t client, uint16_t type,
                       struct bytes body) {
    struct sim_message *message = message_new(cluster, TO_CLIENT, NO_NODE, client, type, body);
    sim_event_set_order(cluster, &message->event, arrival(cluster), message->order);
}

void sim_net_step_launch(struct sim_node *node, struct step_key key, uint32_t uid,
                         const struct sim_script *script) {
    struct sim_cluster *cluster = node->cluster;
    struct sim_message *message = message_new(cluster, STEP_LAUNCH, node->index, 0, MSG_STEP_LAUNCH,
                                              (struct bytes) {NULL, 0});
    message->key = key;
    message->uid = uid;
    message->script = *script;
    sim_event_set_order(cluster, &message->event, arrival(cluster), message->order);
}

/* ---- arrival ---- */

static void at_core(struct sim_cluster *cluster, const struct sim_message *message,
                    struct bytes body) {
    struct sim_node *node = &cluster->nodes[message->node];
    bool known = message->epoch == node->accepted || message->epoch == node->registered;
    if (cluster->core == NULL || !known)
        return;
    if (message->type == MSG_NODE_REGISTER)
        node->registered = message->epoch; /* an older connection is closed without a word */
    else if (message->epoch != node->registered)
        return;
    sim_core_receive(cluster, message->node, message->type, body);
    sim_control_turn(cluster);
}

static void at_client(struct sim_cluster *cluster, const struct sim_message *message,
                      struct bytes body) {
    const struct sim_observer *observer = &cluster->observer;
    struct sim_client *client = map_get(&cluster->clients, message->epoch);
    if (client == NULL)
        return;
    if (message->type == 0) {
        map_remove(&cluster->clients, client->id);
        free(client);
    }
    if (observer->reply != NULL)
        observer->reply(observer->context, message->epoch, message->type, body);
}

/* type 0: it has hung up. */
static void from_client(struct sim_cluster *cluster, const struct sim_message *message,
                        struct bytes body) {
    struct sim_client *client = map_get(&cluster->clients, message->epoch);
    if (message->type == 0) {
        if (cluster->core != NULL) {
            core_client_gone(cluster->core, sim_core_now(cluster), message->epoch,
                             &cluster->effects);
            sim_control_turn(cluster);
        }
        return;
    }
    if (client == NULL)
        return;
    if (cluster->core == NULL) {
        sim_net_to_client(cluster, client->id, 0, (struct bytes) {NULL, 0});
        return;
    }
    client->connected = true;
    client->seq++;
    sim_core_request(cluster, client, message->type, body);
    sim_control_turn(cluster);
}

static void on_message(struct sim_cluster *cluster, struct sim_event *event) {
    struct sim_message *message = container_of(event, struct sim_message, event);
    struct sim_node *node = message->node != NO_NODE ? &cluster->nodes[message->node] : NULL;
    const struct bytes body = {message->data, message->size};
    if (node != NULL && node->cut_until > cluster->usec && message->way != STEP_LAUNCH) {
        int64_t *last = message->way == TO_NODE ? &node->last_to_node : &node->last_to_core;
        *last = max_of(*last, node->cut_until);
        sim_event_set_order(cluster, event, node->cut_until, message->order);
        return;
    }
    switch (message->way) {
    case TO_NODE:
        if (node->agent != NULL && node->epoch == message->epoch)
            sim_node_receive(node, message->type, body);
        break;
    case TO_CORE:
        at_core(cluster, message, body);
        break;
    case TO_CLIENT:
        at_client(cluster, message, body);
        break;
    case FROM_CLIENT:
        from_client(cluster, message, body);
        break;
    case STEP_LAUNCH:
        sim_node_launch_step(node, message->key, message->uid, &message->script);
        break;
    }
    message_free(cluster, message);
}

/* ---- a node's connection ---- */

void sim_net_node_closes(struct sim_node *node) {
    sim_event_cancel(node->cluster, &node->own_end);
    if (node->epoch == 0)
        return;
    node->epoch = 0;
    node->lost_usec = node->cluster->usec;
    if (node->agent != NULL)
        agent_disconnected(node->agent);
}

void sim_net_dial_soon(struct sim_node *node) {
    struct sim_cluster *cluster = node->cluster;
    int64_t away = cluster->usec - node->lost_usec;
    int64_t pause = max_of(min_of(away / 8, (int64_t) PAUSE_MAX_USEC), (int64_t) PAUSE_MIN_USEC);
    if (node->agent != NULL && node->epoch == 0)
        sim_event_set(cluster, &node->dial,
                      cluster->usec + 1 + (int64_t) rng_below(&cluster->rng, (uint64_t) pause));
}

/* When the other end hears that one has been closed. */
static int64_t word_of_it(const struct sim_node *node) {
    struct sim_cluster *cluster = node->cluster;
    return max_of(arrival(cluster), node->cut_until);
}

static void on_own_end(struct sim_cluster *cluster, struct sim_event *event) {
    struct sim_node *node = container_of(event, struct sim_node, own_end);
    if (node->epoch != node->own_end_of)
        return;
    sim_net_core_notices(node, word_of_it(node));
    sim_net_node_closes(node);
    sim_net_dial_soon(node);
}

void sim_net_node_notices(struct sim_node *node, int64_t usec) {
    if (node->epoch == 0 || (heap_contains(&node->own_end.at) && node->own_end.at.key <= usec))
        return;
    node->own_end_of = node->epoch;
    sim_event_set(node->cluster, &node->own_end, usec);
}

static void on_core_end(struct sim_cluster *cluster, struct sim_event *event) {
    struct sim_node *node = container_of(event, struct sim_node, core_end);
    if (node->epoch == node->core_end_of)
        sim_net_node_notices(node, word_of_it(node));
    if (node->accepted == node->core_end_of)
        node->accepted = 0;
    if (node->registered != node->core_end_of || cluster->core == NULL)
        return;
    node->registered = 0;
    core_node_gone(cluster->core, sim_core_now(cluster), node->index, &cluster->effects);
    sim_control_turn(cluster);
}

void sim_net_core_notices(struct sim_node *node, int64_t usec) {
    uint64_t epoch = node->registered != 0 ? node->registered : node->accepted;
    if (epoch == 0 || (heap_contains(&node->core_end.at) && node->core_end.at.key <= usec &&
                       node->core_end_of == epoch))
        return;
    node->core_end_of = epoch;
    sim_event_set(node->cluster, &node->core_end, usec);
}

/* Nobody is dialled while the controller is dead: its return wakes the nodes. */
static void on_dial(struct sim_cluster *cluster, struct sim_event *event) {
    struct sim_node *node = container_of(event, struct sim_node, dial);
    if (node->agent == NULL || node->epoch != 0 || cluster->core == NULL)
        return;
    if (node->cut_until > cluster->usec) {
        sim_event_set(cluster, event,
                      node->cut_until + (int64_t) rng_below(&cluster->rng, PAUSE_MAX_USEC));
        return;
    }
    node->epoch = node->accepted = ++cluster->next_epoch;
    node->last_to_node = node->last_to_core = 0;
    sim_node_register(node);
}

void sim_net_cut(struct sim_node *node, int64_t until) {
    struct sim_cluster *cluster = node->cluster;
    int64_t range = SIM_SILENCE_MOST - SIM_SILENCE_LEAST;
    int64_t own =
        cluster->usec + SIM_SILENCE_LEAST + (int64_t) rng_below(&cluster->rng, (uint64_t) range);
    int64_t core =
        cluster->usec + SIM_SILENCE_LEAST + (int64_t) rng_below(&cluster->rng, (uint64_t) range);
    node->cut_until = until;
    if (own < until)
        sim_net_node_notices(node, own);
    if (core < until)
        sim_net_core_notices(node, core);
}

/* ---- commands ---- */

static void ask(struct sim_cluster *cluster, const struct sim_client *client, uint16_t type,
                const void *body) {
    struct str out cleanup_str = STR_INIT;
    if (type != 0)
        wire_encode(message_record(type), body, NULL, &out);
    struct sim_message *message =
        message_new(cluster, FROM_CLIENT, NO_NODE, client->id, type, str_bytes(&out));
    sim_event_set_order(cluster, &message->event, arrival(cluster), message->order);
}

uint64_t sim_cluster_request(struct sim_cluster *cluster, const char *user, uint16_t type,
                             const void *body) {
    struct sim_client *client = zalloc(struct sim_client);
    client->id = ++cluster->next_client;
    client->user = sim_user_find(cluster, user);
    map_put(&cluster->clients, client->id, client);
    ask(cluster, client, type, body);
    return client->id;
}

bool sim_cluster_request_again(struct sim_cluster *cluster, uint64_t id, uint16_t type,
                               const void *body) {
    struct sim_client *client = map_get(&cluster->clients, id);
    if (client == NULL)
        return false;
    ask(cluster, client, type, body);
    return true;
}

void sim_cluster_hang_up(struct sim_cluster *cluster, uint64_t id) {
    struct sim_client *client = map_remove(&cluster->clients, id);
    if (client == NULL)
        return;
    ask(cluster, client, 0, NULL);
    free(client);
}

void sim_cluster_launch_step(struct sim_cluster *cluster, const struct step_layout *layout,
                             uint32_t uid, int64_t run, uint32_t exit_status) {
    const struct sim_script script = {run, exit_status};
    const struct step_key key = {layout->job_id, layout->step_id, layout->attempt};
    for (uint32_t i = 0; i < layout->nodes.n; i++) {
        for (size_t k = 0; k < cluster->n_nodes; k++) {
            if (str_equal(cluster->nodes[k].conf->name, layout->nodes.items[i].name))
                sim_net_step_launch(&cluster->nodes[k], key, uid, &script);
        }
    }
}

/* ---- the whole ---- */

void sim_net_start(struct sim_cluster *cluster) {
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        struct sim_node *node = &cluster->nodes[i];
        node->dial.fire = on_dial;
        node->own_end.fire = on_own_end;
        node->core_end.fire = on_core_end;
        node->epoch = node->accepted = node->registered = ++cluster->next_epoch;
    }
}

void sim_net_free(struct sim_cluster *cluster) {
    list_each (&cluster->messages, at)
        message_free(cluster, list_entry(at, struct sim_message, link));
}
