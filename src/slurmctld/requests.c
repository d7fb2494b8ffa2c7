/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in: decode, see who asks, hand to the core or answer a read at once. */
#include <stdio.h>
#include <string.h>

#include "slurmctld/bygone.h"
#include "slurmctld/filter.h"

/* What an authenticated peer can repeat at will is logged so many times a minute. */
#define COMPLAINTS_PER_MINUTE 20

static void complain(const char *fmt, ...) printf_like(1, 2);
static void complain(const char *fmt, ...) {
    static struct log_limit limit = {.per_minute = COMPLAINTS_PER_MINUTE};
    unsigned suppressed = 0;
    if (!log_limit_pass(&limit, loop_monotonic_usec(), &suppressed))
        return;
    va_list args;
    va_start(args, fmt);
    cleanup_free char *text = xvasprintf(fmt, args);
    va_end(args);
    if (suppressed > 0)
        log_error("%s (%u such lines were left out)", text, suppressed);
    else
        log_error("%s", text);
}

static struct client *client_of(struct rpc_conn *conn) {
    return rpc_conn_context(conn);
}

void reply_record(struct client *client, uint16_t type, uint32_t seq, const void *body) {
    rpc_conn_tell(client->conn, type, RPC_LAST, seq, body);
}

void reply_error_text(struct client *client, uint32_t seq, int code, const char *detail) {
    rpc_conn_answer_error(client->conn, seq, code, detail);
}

/* Group names are looked up only where a partition asks for them. */
static void fill_groups(struct ctld *ctld, struct core_user *user) {
    gid_t *gids = NULL;
    size_t n = 0;
    if (userdb_groups(user->name, user->gid, &gids, &n, NULL) < 0)
        return;
    const char **names = arena_alloc(&ctld->request_memory, (n + 1) * sizeof(char *));
    for (size_t i = 0; i < n; i++) {
        const char *name = userdb_group_name(ctld->users, gids[i]);
        names[i] = arena_strdup(&ctld->request_memory, name);
    }
    user->groups = names;
    user->n_groups = n;
    free(gids);
}

static void user_fill(struct ctld *ctld, const struct rpc_peer *peer, bool with_groups,
                      struct core_user *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->uid = peer->uid;
    ret->gid = peer->gid;
    const char *name = userdb_user_name(ctld->users, peer->uid);
    ret->name = arena_strdup(&ctld->request_memory, name);
    name = userdb_group_name(ctld->users, peer->gid);
    ret->group = arena_strdup(&ctld->request_memory, name);
    if (with_groups && core_wants_groups(ctld->core))
        fill_groups(ctld, ret);
}

void request_user(struct ctld *ctld, const struct rpc_peer *peer, struct core_user *ret) {
    user_fill(ctld, peer, true, ret);
    core_meet(ctld->core, ret);
}

static void fill_as(struct ctld *ctld, uint32_t uid, uint32_t gid, struct core_user *user) {
    const char *name = userdb_user_name(ctld->users, uid);
    user->as_name = arena_strdup(&ctld->request_memory, name);
    name = userdb_group_name(ctld->users, gid != UNSET32 ? gid : user->gid);
    user->as_group = arena_strdup(&ctld->request_memory, name);
}

/* sbatch --uid, scrontab -u: the names of the user that root submits for. */
static void fill_other(struct ctld *ctld, uint16_t type, const void *body, struct core_user *user) {
    const struct submit *submit = body;
    const struct crontab_set *crontab = body;
    if (type == MSG_SUBMIT && submit->job != NULL && submit->job->run_as_uid != UNSET32)
        fill_as(ctld, submit->job->run_as_uid, submit->job->run_as_gid, user);
    else if (type == MSG_CRONTAB_SET && crontab->uid != UNSET32)
        fill_as(ctld, crontab->uid, crontab->gid, user);
}

/* What only this shell may add, for site filters that have looked at the request. */
static void drop_filters_part(struct submit *submit) {
    submit->told = (struct strs) {NULL, 0};
    submit->changes.n = 0;
}

/* ---- reads ---- */

struct list_target {
    struct client *client;
    uint32_t seq;
};

static void send_frame(void *context, uint16_t type, struct bytes body, bool last) {
    struct list_target *target = context;
    rpc_conn_send(target->client->conn, type, last ? RPC_LAST : 0, target->seq, body);
}

static void answer_list(struct client *client, const struct rpc_message *message,
                        const struct core_user *user, void *body) {
    struct list_target target = {client, message->seq};
    struct error err = ERROR_INIT;
    int r = core_list(client->ctld->core, ctld_now(client->ctld), message->type, user, body,
                      send_frame, &target, &err);
    if (r < 0)
        reply_error_text(client, message->seq, r, err.text);
}

static void answer_ping(struct client *client, uint32_t seq) {
    struct ctld *ctld = client->ctld;
    struct ping_reply reply;
    record_init(&record_ping_reply, &reply);
    reply.host = ctld->hostname;
    reply.mode = (char *) (uintptr_t) "primary";
    reply.version = (char *) (uintptr_t) SLUICE_COMPAT_VERSION;
    reply.now = ctld_now(ctld);
    reply.cluster = (char *) (uintptr_t) ctld->conf->cluster_name;
    reply_record(client, MSG_PING_REPLY, seq, &reply);
}

static void answer_script(struct client *client, uint32_t seq, const struct core_user *user,
                          const struct job_script *request) {
    struct ctld *ctld = client->ctld;
    uint64_t id;
    struct error err = ERROR_INIT;
    int r = core_script_id(ctld->core, user, request->job_id, &id);
    if (r < 0) {
        reply_error_text(client, seq, r, NULL);
        return;
    }
    struct str data cleanup_str = STR_INIT;
    r = store_get(ctld->store, STORE_JOB_SCRIPT, id, &data, &err);
    if (r < 0)
        reply_error_text(client, seq, -ERR_JOB_SCRIPT_MISSING, err.text);
    else
        rpc_conn_send(client->conn, MSG_JOB_SCRIPT, RPC_LAST, seq, str_bytes(&data));
}

static bool answer_read(struct client *client, const struct rpc_message *message,
                        const struct core_user *user, void *body) {
    switch (message->type) {
    case MSG_LIST_JOBS:
    case MSG_LIST_STEPS:
    case MSG_LIST_NODES:
    case MSG_LIST_PARTITIONS:
    case MSG_LIST_RESERVATIONS:
    case MSG_LIST_GPUS:
        answer_list(client, message, user, body);
        return true;
    case MSG_PING:
        answer_ping(client, message->seq);
        return true;
    case MSG_LIST_CONFIG:
        list_config(client, message->seq);
        return true;
    case MSG_LIST_TOPOLOGY:
        list_topology(client, message->seq);
        return true;
    case MSG_GET_SCRIPT:
        answer_script(client, message->seq, user, body);
        return true;
    case MSG_ACCT_QUERY:
        acct_query_start(client, message->seq, user, body);
        return true;
    case MSG_LIST_EVENTS:
        event_query_start(client, message->seq, body);
        return true;
    case MSG_LIST_CAPACITIES:
        capacity_query_start(client, message->seq);
        return true;
    case MSG_LIST_CHANGES:
        change_query_start(client, message->seq, body);
        return true;
    case MSG_DIAG:
        diag_answer(client, message->seq);
        return true;
    default:
        return false;
    }
}

/* ---- nodes ---- */

/* A node's name belongs to its address. Addresses that are names are the resolver's business and
 * are compared only when they are written as numbers. */
static bool address_fits(const struct node *node, const struct rpc_peer *peer) {
    if (node->address == NULL || strspn(node->address, "0123456789.") != strlen(node->address))
        return true;
    return str_equal(node->address, peer->address);
}

static void node_replaced(struct ctld *ctld, uint32_t node) {
    struct client *old = map_remove(&ctld->nodes, node);
    if (old == NULL)
        return;
    log_info("node %s: a newer connection replaces the former one",
             core_node(ctld->core, node)->name);
    old->node = UINT32_MAX;
    rpc_conn_close(old->conn);
}

static void register_node(struct client *client, uint32_t seq, struct node_register *reg) {
    struct ctld *ctld = client->ctld;
    const struct rpc_peer *peer = rpc_conn_peer(client->conn);
    uint32_t node = reg->name != NULL ? core_node_find(ctld->core, reg->name) : UINT32_MAX;
    if (peer->uid != 0 && peer->uid != ctld->slurmd_uid && peer->uid != ctld->slurm_uid) {
        complain("%s registers as node %s: only root and SlurmdUser may", peer->name,
                 reg->name != NULL ? reg->name : "?");
        reply_error_text(client, seq, -ERR_USER_ID, "only root and SlurmdUser may register nodes");
        return;
    }
    if (node == UINT32_MAX) {
        complain("%s registers as node %s, which slurm.conf does not have", peer->name,
                 reg->name != NULL ? reg->name : "?");
        reply_error_text(client, seq, -ERR_INVALID_NODE,
                         "the controller's slurm.conf has no such node");
        return;
    }
    if (!address_fits(core_node(ctld->core, node), peer)) {
        complain("%s registers as node %s, whose NodeAddr is %s", peer->name, reg->name,
                 core_node(ctld->core, node)->address);
        reply_error_text(client, seq, -ERR_INVALID_NODE, "the node's NodeAddr is another one");
        return;
    }
    if (client->node != node)
        node_replaced(ctld, node);
    client->node = node;
    map_put(&ctld->nodes, node, client);
    log_info("node %s has registered from %s (%u steps)", reg->name, peer->name, reg->steps.n);
    core_node_message(ctld->core, ctld_now(ctld), node, MSG_NODE_REGISTER, reg, ctld->effects);
}

static bool is_node_message(uint16_t type) {
    return type >= MSG_NODE_STATUS && type < MSG_NODE_WELCOME;
}

/* ---- dispatch ---- */

static bool store_blocks(struct client *client, uint32_t seq) {
    if (!client->ctld->store_failing)
        return false;
    reply_error_text(client, seq, -ERR_DISK_FULL,
                     "the controller cannot store anything at the moment; nothing was changed. "
                     "Make room under StateSaveLocation");
    return true;
}

/* A slurmd without root's rights runs jobs of its own user only: a user's private cluster. */
static bool nodes_cannot_run(struct client *client, uint32_t seq, const struct submit *submit,
                             const struct core_user *user) {
    uid_t slurmd_uid = client->ctld->slurmd_uid;
    uid_t uid = submit->job != NULL && submit->job->run_as_uid != UNSET32 ? submit->job->run_as_uid
                                                                          : user->uid;
    if (slurmd_uid == 0 || uid == slurmd_uid)
        return false;
    cleanup_free char *text = xasprintf(
        "the nodes of this cluster run as uid %u and cannot start jobs of uid %u; a cluster for "
        "several users has SlurmdUser=root",
        (unsigned) slurmd_uid, (unsigned) uid);
    reply_error_text(client, seq, -ERR_ACCESS_DENIED, text);
    return true;
}

/* Does each of these exist? A name may have a '-' before it. */
static int names_check(const char *list, bool groups, struct error *err) {
    cleanup_free char *copy = xstrdup(list);
    char *cursor = copy;
    for (char *name; (name = str_next_word(&cursor, ",")) != NULL;) {
        struct userdb_user user = {0};
        gid_t gid;
        name += *name == '-';
        int r = groups ? userdb_find_group(name, &gid, err) : userdb_find(name, &user, err);
        if (r < 0)
            return r;
        userdb_user_done(&user);
    }
    return 0;
}

/* A reservation for a user or group that does not exist is a mistyped one. */
static bool names_nobody(struct client *client, uint32_t seq, const struct update *update,
                         const struct core_user *user) {
    if (!str_equal(update->entity, "reservation") || !core_is_admin(client->ctld->core, user->uid))
        return false;
    for (uint32_t i = 0; i < update->changes.n; i++) {
        const struct key_value *change = &update->changes.items[i];
        const char *key = change->key != NULL ? core_reservation_key(change->key) : NULL;
        bool groups = str_equal(key, "Groups");
        struct error err = ERROR_INIT;
        if ((!groups && !str_equal(key, "Users")) || change->value == NULL ||
            names_check(change->value, groups, &err) == 0)
            continue;
        reply_error_text(client, seq, groups ? -ERR_GROUP_ID : -ERR_USER_ID, err.text);
        return true;
    }
    return false;
}

static void to_core(struct client *client, uint16_t type, uint32_t seq,
                    const struct core_user *user, void *body) {
    struct ctld *ctld = client->ctld;
    if (!bygone_take(client, seq, type, body))
        core_request(ctld->core, ctld_now(ctld), client->id, seq, type, user, body, ctld->effects);
}

static void handle(struct client *client, const struct rpc_message *message, void *body) {
    struct ctld *ctld = client->ctld;
    if (message->type == MSG_NODE_REGISTER) {
        register_node(client, message->seq, body);
        return;
    }
    if (is_node_message(message->type)) {
        if (client->node != UINT32_MAX)
            core_node_message(ctld->core, ctld_now(ctld), client->node, message->type, body,
                              ctld->effects);
        else
            complain("%s sent %s without having registered as a node",
                     rpc_conn_peer(client->conn)->name, message_name(message->type));
        return;
    }
    struct core_user user;
    bool with_groups = message->type == MSG_SUBMIT || message->type == MSG_UPDATE ||
                       message->type == MSG_CRONTAB_SET || message->type == MSG_WHY;
    user_fill(ctld, rpc_conn_peer(client->conn), with_groups, &user);
    core_meet(ctld->core, &user);
    if (message->type == MSG_SUBMIT)
        drop_filters_part(body);
    fill_other(ctld, message->type, body, &user);
    if (answer_read(client, message, &user, body))
        return;
    if (!core_handles(message->type)) {
        reply_error_text(client, message->seq, -ERR_NOT_SUPPORTED,
                         "slurmctld does not take this message");
        return;
    }
    if (message->type == MSG_SUBMIT && nodes_cannot_run(client, message->seq, body, &user))
        return;
    if (message->type == MSG_UPDATE && names_nobody(client, message->seq, body, &user))
        return;
    if (store_blocks(client, message->seq))
        return;
    if (filter_wants(ctld, message->type, body)) {
        filter_take(client, message, body);
        return;
    }
    to_core(client, message->type, message->seq, &user, body);
}

void request_filtered(struct client *client, uint16_t type, uint32_t seq, void *body) {
    struct ctld *ctld = client->ctld;
    struct core_user user;
    request_user(ctld, rpc_conn_peer(client->conn), &user);
    fill_other(ctld, type, body, &user);
    if (!store_blocks(client, seq))
        to_core(client, type, seq, &user, body);
}

void request_informed(struct client *client, uint16_t type, uint32_t seq, void *body,
                      const struct bygone *bygone) {
    struct ctld *ctld = client->ctld;
    struct core_user user;
    arena_reset(&ctld->request_memory);
    request_user(ctld, rpc_conn_peer(client->conn), &user);
    fill_other(ctld, type, body, &user);
    if (store_blocks(client, seq))
        return;
    core_give_bygone(ctld->core, bygone);
    core_request(ctld->core, ctld_now(ctld), client->id, seq, type, &user, body, ctld->effects);
    core_give_bygone(ctld->core, NULL);
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct client *client = client_of(conn);
    struct ctld *ctld = client->ctld;
    const struct record *record = message_record(message->type);
    struct error err = ERROR_INIT;
    ctld->n_requests++;
    if (record == NULL) {
        complain("%s sent the unknown message %u", rpc_conn_peer(conn)->name, message->type);
        reply_error_text(client, message->seq, -ERR_NOT_SUPPORTED,
                         "slurmctld does not know this message: is a newer command in use?");
        return;
    }
    arena_reset(&ctld->request_memory);
    void *body = arena_alloc(&ctld->request_memory, record->size);
    int r = wire_decode(record, message->body, &ctld->request_memory, body, &err);
    if (r < 0) {
        complain("%s: %s", rpc_conn_peer(conn)->name, err.text);
        reply_error_text(client, message->seq, r, err.text);
        return;
    }
    log_debug2("%s: %s", rpc_conn_peer(conn)->name, message_name(message->type));
    uint64_t begin = loop_monotonic_usec();
    uint32_t uid = rpc_conn_peer(conn)->uid;
    handle(client, message, body);
    diag_count_call(ctld, message->type, uid, loop_monotonic_usec() - begin);
}

static void ready(struct rpc_conn *conn, void *context) {
    struct ctld *ctld = context;
    struct client *client = zalloc(struct client);
    client->id = ++ctld->next_client;
    client->conn = conn;
    client->ctld = ctld;
    client->node = UINT32_MAX;
    map_put(&ctld->clients, client->id, client);
    rpc_conn_set_context(conn, client);
}

static void closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct client *client = client_of(conn);
    if ((void *) client == NULL)
        return;
    struct ctld *ctld = client->ctld;
    map_remove(&ctld->clients, client->id);
    if (client->node != UINT32_MAX && map_get(&ctld->nodes, client->node) == client) {
        map_remove(&ctld->nodes, client->node);
        log_info("node %s: connection lost%s%s", core_node(ctld->core, client->node)->name,
                 why->code != 0 ? ": " : "", why->code != 0 ? why->text : "");
        core_node_gone(ctld->core, ctld_now(ctld), client->node, ctld->effects);
    }
    core_client_gone(ctld->core, ctld_now(ctld), client->id, ctld->effects);
    free(client);
}

const struct rpc_handlers ctld_handlers = {ready, on_message, closed};
