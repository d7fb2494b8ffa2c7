/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The standing connection to the controller. It is dialled again when it breaks, after a pause that
 * grows with the time that the controller has been away; several controllers are tried in turn.
 */
#include <inttypes.h>
#include <unistd.h>

#include "os/log.h"
#include "slurmd/health.h"
#include "slurmd/slurmd.h"

#define PAUSE_MIN_USEC 50000u
#define PAUSE_SOON_USEC 1000000u /* at most, in the first minute */
#define PAUSE_MAX_USEC 5000000u
#define SOON_USEC 60000000u
#define PAUSE_PART 8u /* a pause is this part of the time without a connection */

void controller_send_body(struct slurmd *slurmd, uint16_t type, struct bytes body) {
    if (slurmd->controller && slurmd->is_ready)
        rpc_conn_send(slurmd->controller, type, 0, 0, body);
}

static void controller_send(struct slurmd *slurmd, uint16_t type, const void *object) {
    cleanup_str struct str body = STR_INIT;

    wire_encode(message_record(type), object, NULL, &body);
    controller_send_body(slurmd, type, str_bytes(&body));
}

/* ---- what we tell ---- */

/* With config_overrides the node is what the configuration says; else what was found. */
static void fill_node(const struct slurmd *slurmd, struct node *node) {
    const struct machine *machine = &slurmd->machine;
    const struct conf_node *conf = slurmd->node;
    bool overrides = slurmd->conf->slurmd.config_overrides;

    node->name = slurmd->node_name;
    node->hostname = machine->hostname;
    node->address = (char *) (uintptr_t) conf->address;
    node->port = slurmd->server ? rpc_server_port(slurmd->server) : conf->port;
    node->cpus = overrides ? conf->cpus : machine->cpus;
    node->boards = overrides ? conf->boards : machine->boards;
    node->sockets = overrides ? conf->sockets : machine->sockets;
    node->cores = overrides ? conf->cores_per_socket : machine->cores;
    node->threads = overrides ? conf->threads_per_core : machine->threads;
    node->memory = overrides ? conf->real_memory : machine->memory;
    node->tmp_disk = overrides ? conf->tmp_disk : machine->tmp_disk;
    node->os = machine->os;
    node->arch = machine->arch;
    node->boot_id = machine->boot_id;
    node->boot_time = machine->boot_time;
    node->slurmd_start_time = slurmd->start_time;
    node->version = (char *) (uintptr_t) SLUICE_COMPAT_VERSION;
    node->cpu_load = machine_load();
    node->free_mem = machine_free_mem();
    node->confinement = slurmd->fences.told;
}

void controller_register(struct slurmd *slurmd) {
    struct node_register body;
    struct node node;
    cleanup_str struct str gres = STR_INIT, problem = STR_INIT;

    if (!slurmd->is_ready || slurmd->n_adopting > 0 || !health_may_register(slurmd))
        return;
    record_init(&record_node_register, &body);
    record_init(&record_node, &node);
    fill_node(slurmd, &node);
    gres_print(&slurmd->gres.counts, "", ':', &gres);
    node.gres = node.gres_detail = gres.length > 0 ? gres.data : NULL;
    health_problem(slurmd, &problem);
    body.name = slurmd->node_name;
    body.version = node.version;
    body.node = &node;
    body.conf_hash = conf_hash(slurmd->conf);
    body.problem = problem.length > 0 ? problem.data : NULL;
    vec(struct gres_place) places = {0};
    vec_each (&slurmd->gres.devices, device) {
        if (device->index == GRES_NO_INDEX || (!device->cores && !device->links))
            continue;
        struct gres_place *place = vec_add(&places);
        *place = (struct gres_place) {device->name, device->index, device->cores, device->links};
    }
    body.places.items = places.items;
    body.places.n = (uint32_t) places.n;
    agent_fill_register(slurmd->agent, &body);
    controller_send(slurmd, MSG_NODE_REGISTER, &body);
    free(body.steps.items);
    vec_done(&places);
}

void controller_send_status(struct slurmd *slurmd, bool checked) {
    cleanup_str struct str problem = STR_INIT;
    struct node_status status;

    if (!slurmd->is_registered)
        return; /* the registration will say it */
    record_init(&record_node_status, &status);
    health_problem(slurmd, &problem);
    status.problem = problem.length > 0 ? problem.data : NULL;
    status.checked = checked;
    status.cpu_load = machine_load();
    status.free_mem = machine_free_mem();
    gpu_watch_fill(slurmd, &status);
    controller_send(slurmd, MSG_NODE_STATUS, &status);
}

static void on_heartbeat(void *context) {
    struct slurmd *slurmd = context;

    controller_send_status(slurmd, false);
    loop_timer_set(slurmd->heartbeat_timer, loop_monotonic_usec() + slurmd->heartbeat * 1000000ull);
}

/* ---- what we are told ---- */

static void on_welcome(struct slurmd *slurmd, const struct node_welcome *welcome,
                       struct agent_effects *effects) {
    if (!welcome->accepted) {
        log_error("the controller does not take this node: %s",
                  welcome->text ? welcome->text : "no reason given");
        slurmd->is_unwanted = true;
        rpc_conn_close(slurmd->controller);
        return;
    }
    slurmd->is_registered = true;
    slurmd->is_unwanted = false;
    log_info("registered as %s%s%s", slurmd->node_name, welcome->text ? ": " : "",
             welcome->text ? welcome->text : "");
    slurmd->heartbeat = welcome->heartbeat ? welcome->heartbeat : 30;
    loop_timer_set(slurmd->heartbeat_timer, loop_monotonic_usec() + slurmd->heartbeat * 1000000ull);
    agent_welcome(slurmd->agent, loop_monotonic_usec(), welcome, effects);
    if (slurmd->gpus)
        controller_send_status(slurmd, false);
}

static void on_body(struct slurmd *slurmd, uint16_t type, void *body,
                    struct agent_effects *effects) {
    switch (type) {
    case MSG_NODE_WELCOME:
        on_welcome(slurmd, body, effects);
        break;
    case MSG_STEP_ACK:
        agent_ack(slurmd->agent, loop_monotonic_usec(), body, effects);
        break;
    case MSG_NODE_SIGNAL:
        agent_signal(slurmd->agent, loop_monotonic_usec(), body, effects);
        break;
    case MSG_JOB_PREPARE: {
        const struct job_prepare *order = body;
        struct step_key key = {order->job_id, UNSET32, order->attempt};
        job_note(slurmd, key, order->uid, order->job, order->cpus_per_node);
        agent_prepare(slurmd->agent, loop_monotonic_usec(), order, effects);
        break;
    }
    case MSG_JOB_TERMINATE: {
        const struct job_terminate *order = body;
        struct step_key key = {order->job_id, UNSET32, order->attempt};
        job_note(slurmd, key, order->uid, order->job, order->cpus_per_node);
        agent_terminate(slurmd->agent, loop_monotonic_usec(), body, effects);
        break;
    }
    case MSG_NODE_PING:
        controller_send_status(slurmd, false);
        break;
    case MSG_NODE_SHUTDOWN:
        log_info("told by the controller to stop");
        loop_stop(slurmd->loop, 0);
        break;
    case MSG_NODE_CHECK:
        health_asked(slurmd, body);
        break;
    case MSG_NODE_REBOOT:
        health_reboot(slurmd);
        break;
    case MSG_NODE_RECONFIGURE:
        slurmd_reconfigure(slurmd);
        break;
    default:
        log_error("the controller sent message %u, which is not for nodes", type);
    }
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct slurmd *slurmd = context;
    const struct record *record = message_record(message->type);
    struct agent_effects effects = {0};
    struct error err = ERROR_INIT;
    struct arena arena;
    void *body;

    if (message->type == MSG_LAUNCH) {
        launch_batch(slurmd, message->body);
        return;
    }
    if (!record)
        return;
    message_arena_init(&arena, message->body);
    body = arena_alloc(&arena, record->size);
    if (wire_decode(record, message->body, &arena, body, &err) < 0)
        log_error("%s from the controller cannot be read: %s", message_name(message->type),
                  err.text);
    else
        on_body(slurmd, message->type, body, &effects);
    arena_done(&arena);
    slurmd_effects(slurmd, &effects);
}

/* ---- the connection ---- */

/* After a restart of the controller the nodes are back at once; a controller that is away for long
 * is not worth a crowd at its door. The pauses of different nodes drift apart. */
static uint64_t next_pause(struct slurmd *slurmd, uint64_t now) {
    uint64_t away = now - slurmd->lost_usec;
    uint64_t most = away < SOON_USEC ? PAUSE_SOON_USEC : PAUSE_MAX_USEC;
    uint64_t pause = slurmd->is_unwanted ? PAUSE_MAX_USEC : min_of(away / PAUSE_PART, most);

    pause = max_of(pause, (uint64_t) PAUSE_MIN_USEC);
    return pause - rng_below(&slurmd->rng, pause / 4);
}

static void dial_later(struct slurmd *slurmd) {
    uint64_t now = loop_monotonic_usec();

    slurmd->control_host = (slurmd->control_host + 1) % slurmd->conf->n_control_hosts;
    loop_timer_set(slurmd->dial_timer, now + next_pause(slurmd, now));
}

static void on_ready(struct rpc_conn *conn, void *context) {
    struct slurmd *slurmd = context;

    slurmd->is_ready = true;
    slurmd->has_complained = false;
    controller_register(slurmd);
}

static void on_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct slurmd *slurmd = context;

    slurmd->controller = NULL;
    if (slurmd->is_registered)
        log_info("the connection to the controller is lost (%s); running steps go on", why->text);
    else if (!slurmd->has_complained)
        log_error("cannot register with the controller: %s; trying again", why->text);
    if (slurmd->is_registered)
        slurmd->lost_usec = loop_monotonic_usec();
    slurmd->has_complained = true;
    slurmd->is_ready = slurmd->is_registered = false;
    loop_timer_set(slurmd->heartbeat_timer, 0);
    agent_disconnected(slurmd->agent);
    dial_later(slurmd);
}

static const struct rpc_handlers controller_handlers = {
    .ready = on_ready, .message = on_message, .closed = on_closed};

static void dial(void *context) {
    struct slurmd *slurmd = context;
    const struct conf_control_host *host = &slurmd->conf->control_hosts[slurmd->control_host];
    struct error err = ERROR_INIT;

    if (rpc_dial(slurmd->loop, &slurmd->auth, host->address, slurmd->conf->slurmctld_port.first,
                 slurmd->slurm_uid, &controller_handlers, slurmd, &slurmd->controller, &err) < 0) {
        slurmd->controller = NULL;
        if (!slurmd->has_complained)
            log_error("cannot reach the controller: %s; trying again", err.text);
        slurmd->has_complained = true;
        dial_later(slurmd);
    }
}

void controller_start(struct slurmd *slurmd) {
    slurmd->lost_usec = loop_monotonic_usec();
    rng_seed(&slurmd->rng, slurmd->lost_usec ^ (uint64_t) getpid());
    slurmd->dial_timer = loop_timer_add(slurmd->loop, dial, slurmd);
    slurmd->heartbeat_timer = loop_timer_add(slurmd->loop, on_heartbeat, slurmd);
    dial(slurmd);
}
