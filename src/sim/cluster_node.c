/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node: the real agent, and what slurmd and slurmstepd do around it, without processes. Its tasks
 * run for as long as their script says, and die of signals as tasks do that handle none.
 */
#include <string.h>

#include "sim/cluster_internal.h"

#define SIGNAL_STOP 19u
#define SIGNAL_CONTINUE 18u
#define SIGNAL_TERMINATE 15u
#define SIGNAL_KILL 9u

/* ---- scripts ---- */

static const char script_head[] = "#!/bin/sh\n#SIM ";

void sim_script_print(const struct sim_script *script, struct str *out) {
    str_append(out, script_head);
    str_append_u64(out, (uint64_t) script->run);
    str_append_char(out, ' ');
    str_append_u64(out, script->exit_status);
    str_append_char(out, '\n');
}

void sim_script_parse(struct bytes text, struct sim_script *ret) {
    size_t head = sizeof(script_head) - 1;
    char line[64];
    uint64_t run, status;
    *ret = (struct sim_script) {0};
    if (text.size < head || text.size - head >= sizeof(line) ||
        memcmp(text.data, script_head, head) != 0)
        return;
    memcpy(line, text.data + head, text.size - head);
    line[text.size - head] = '\0';
    const char *at = line;
    if (!str_read_u64(&at, &run) || *at++ != ' ' || !str_read_u64(&at, &status))
        return;
    *ret = (struct sim_script) {.run = (int64_t) run, .exit_status = (uint32_t) status};
}

/* ---- effects of the agent ---- */

static void stepd_command(struct sim_stepd *stepd, const struct step_command *command);

static struct sim_stepd *stepd_find(const struct sim_node *node, struct step_key key) {
    list_each (&node->stepds, at) {
        struct sim_stepd *stepd = list_entry(at, struct sim_stepd, link);
        if (stepd->key.job_id == key.job_id && stepd->key.step_id == key.step_id &&
            stepd->key.attempt == key.attempt)
            return stepd;
    }
    return NULL;
}

static void node_effects(struct sim_node *node, struct agent_effects *effects);

static void clean_job(struct sim_node *node, uint32_t job_id) {
    struct agent_effects effects = {0};
    agent_job_cleaned(node->agent, (uint64_t) node->cluster->usec, job_id, NULL, &effects);
    node_effects(node, &effects);
}

static void carry_out(struct sim_node *node, const struct agent_effect *effect) {
    struct sim_stepd *stepd;
    switch (effect->kind) {
    case AGENT_SEND:
        sim_core_receive(node->cluster, node->index, effect->type, str_bytes(&effect->body));
        break;
    case AGENT_COMMAND:
        stepd = stepd_find(node, effect->key);
        if (stepd != NULL)
            stepd_command(stepd, &effect->command);
        break;
    case AGENT_CLEAN_JOB:
        clean_job(node, effect->key.job_id);
        break;
    case AGENT_SWEEP:
        break;
    }
}

static void node_effects(struct sim_node *node, struct agent_effects *effects) {
    for (size_t i = 0; i < effects->list.n; i++)
        carry_out(node, &effects->list.items[i]);
    agent_effects_done(effects);
    uint64_t next = agent_next_tick(node->agent);
    if (next == 0)
        sim_event_cancel(node->cluster, &node->tick);
    else if (!heap_contains(&node->tick.at) || node->tick.at.key != (int64_t) next)
        sim_event_set(node->cluster, &node->tick, (int64_t) next);
}

static void on_tick(struct sim_cluster *cluster, struct sim_event *event) {
    struct sim_node *node = container_of(event, struct sim_node, tick);
    struct agent_effects effects = {0};
    agent_tick(node->agent, (uint64_t) cluster->usec, &effects);
    node_effects(node, &effects);
}

/* ---- slurmstepds ---- */

static void stepd_report(struct sim_stepd *stepd, const struct step_done *done) {
    struct step_report report;
    struct agent_effects effects = {0};
    record_init(&record_step_report, &report);
    report.job_id = stepd->key.job_id;
    report.step_id = stepd->key.step_id;
    report.attempt = stepd->key.attempt;
    report.uid = stepd->uid;
    report.running = stepd->running;
    report.by_controller = stepd->by_controller;
    report.done = (struct step_done *) (uintptr_t) done;
    agent_report(stepd->node->agent, (uint64_t) stepd->node->cluster->usec, &report, &effects);
    node_effects(stepd->node, &effects);
}

static void stepd_ends(struct sim_stepd *stepd, uint32_t exit_status) {
    struct step_done done;
    if (stepd->done)
        return;
    sim_event_cancel(stepd->node->cluster, &stepd->event);
    stepd->running = true;
    stepd->done = true;
    record_init(&record_step_done, &done);
    done.job_id = stepd->key.job_id;
    done.step_id = stepd->key.step_id;
    done.attempt = stepd->key.attempt;
    done.exit_status = exit_status;
    done.end_time = stepd->node->cluster->usec / SIM_SECOND;
    stepd_report(stepd, &done);
}

static void stepd_goes_on(struct sim_stepd *stepd) {
    struct sim_cluster *cluster = stepd->node->cluster;
    stepd->stopped = false;
    stepd->ends_usec = cluster->usec + stepd->left_usec;
    sim_event_set(cluster, &stepd->event, stepd->ends_usec);
}

static void on_stepd(struct sim_cluster *cluster, struct sim_event *event) {
    struct sim_stepd *stepd = container_of(event, struct sim_stepd, event);
    if (stepd->running) {
        stepd_ends(stepd, stepd->exit_status);
        return;
    }
    stepd->running = true;
    stepd_goes_on(stepd);
    stepd_report(stepd, NULL);
}

static void stepd_signal(struct sim_stepd *stepd, uint32_t number) {
    struct sim_cluster *cluster = stepd->node->cluster;
    switch (number) {
    case SIGNAL_STOP:
        if (!stepd->running || stepd->stopped || stepd->done)
            break;
        stepd->stopped = true;
        stepd->left_usec = stepd->ends_usec - cluster->usec;
        sim_event_cancel(cluster, &stepd->event);
        break;
    case SIGNAL_CONTINUE:
        if (stepd->stopped && !stepd->done)
            stepd_goes_on(stepd);
        break;
    case SIGNAL_KILL:
    case SIGNAL_TERMINATE:
        stepd_ends(stepd, number);
        break;
    default: /* warnings that a script is prepared for */
        break;
    }
}

static void stepd_free(struct sim_stepd *stepd) {
    sim_event_cancel(stepd->node->cluster, &stepd->event);
    list_remove(&stepd->link);
    free(stepd);
}

static void stepd_command(struct sim_stepd *stepd, const struct step_command *command) {
    switch ((enum step_command_kind) command->kind) {
    case STEP_COMMAND_SIGNAL:
        stepd_signal(stepd, command->signal);
        break;
    case STEP_COMMAND_TERMINATE:
        stepd_ends(stepd, command->kill_wait > 0 ? SIGNAL_TERMINATE : SIGNAL_KILL);
        break;
    case STEP_COMMAND_FORGET:
        stepd_free(stepd);
        break;
    case STEP_COMMAND_REPORT:
        break;
    }
}

static void stepd_new(struct sim_node *node, struct step_key key, uint32_t uid,
                      const struct sim_script *script) {
    struct sim_stepd *stepd = zalloc(struct sim_stepd);
    stepd->node = node;
    stepd->key = key;
    stepd->uid = uid;
    stepd->by_controller = true;
    stepd->left_usec = script->run * SIM_SECOND;
    stepd->exit_status = script->exit_status;
    stepd->event.fire = on_stepd;
    list_append(&node->stepds, &stepd->link);
    on_stepd(node->cluster, &stepd->event);
}

/* ---- messages of the controller ---- */

static void launch(struct sim_node *node, struct bytes body) {
    struct sim_cluster *cluster = node->cluster;
    const struct launch *order = sim_decode(cluster, &record_launch, body);
    if (order == NULL || order->job == NULL)
        return;
    struct step_key key = {order->job->job_id, STEP_BATCH, order->attempt};
    uint32_t uid = order->job->uid;
    struct sim_script script;
    sim_script_parse((struct bytes) {order->job->script.data, order->job->script.size}, &script);
    struct agent_effects effects = {0};
    int r = agent_launch(node->agent, (uint64_t) cluster->usec, key, uid, true, &effects, NULL);
    node_effects(node, &effects);
    if (r == 1)
        stepd_new(node, key, uid, &script);
}

static void welcomed(struct sim_node *node, struct bytes body, struct agent_effects *effects) {
    const struct node_welcome *welcome = sim_decode(node->cluster, &record_node_welcome, body);
    if (welcome != NULL)
        agent_welcome(node->agent, (uint64_t) node->cluster->usec, welcome, effects);
}

void sim_node_receive(struct sim_node *node, uint16_t type, struct bytes body) {
    struct sim_cluster *cluster = node->cluster;
    struct agent_effects effects = {0};
    uint64_t usec = (uint64_t) cluster->usec;
    const void *message;
    switch (type) {
    case MSG_LAUNCH:
        launch(node, body);
        return;
    case MSG_NODE_WELCOME:
        welcomed(node, body, &effects);
        break;
    case MSG_STEP_ACK:
        if ((message = sim_decode(cluster, &record_step_ref, body)) != NULL)
            agent_ack(node->agent, usec, message, &effects);
        break;
    case MSG_NODE_SIGNAL:
        if ((message = sim_decode(cluster, &record_node_signal, body)) != NULL)
            agent_signal(node->agent, usec, message, &effects);
        break;
    case MSG_JOB_TERMINATE:
        if ((message = sim_decode(cluster, &record_job_terminate, body)) != NULL)
            agent_terminate(node->agent, usec, message, &effects);
        break;
    default:
        break;
    }
    node_effects(node, &effects);
}

/* ---- the node ---- */

void sim_node_register(struct sim_node *node) {
    const struct conf_node *conf = node->conf;
    struct node_register body;
    struct node hardware;
    struct str out cleanup_str = STR_INIT;
    record_init(&record_node_register, &body);
    record_init(&record_node, &hardware);
    hardware.cpus = conf->cpus;
    hardware.boards = conf->boards;
    hardware.sockets = conf->sockets;
    hardware.cores = conf->cores_per_socket;
    hardware.threads = conf->threads_per_core;
    hardware.memory = conf->real_memory;
    hardware.tmp_disk = conf->tmp_disk;
    hardware.gres = (char *) (uintptr_t) conf->gres_text;
    hardware.boot_id = (char *) (uintptr_t) "boot";
    body.name = (char *) (uintptr_t) conf->name;
    body.node = &hardware;
    agent_fill_register(node->agent, &body);
    wire_encode(&record_node_register, &body, NULL, &out);
    free(body.steps.items);
    sim_core_receive(node->cluster, node->index, MSG_NODE_REGISTER, str_bytes(&out));
}

void sim_nodes_new(struct sim_cluster *cluster) {
    cluster->n_nodes = cluster->conf->n_nodes;
    cluster->nodes = xcalloc(cluster->n_nodes + 1, sizeof(struct sim_node));
    for (uint32_t i = 0; i < cluster->n_nodes; i++) {
        struct sim_node *node = &cluster->nodes[i];
        node->cluster = cluster;
        node->index = i;
        node->conf = &cluster->conf->nodes[i];
        node->agent = agent_new();
        node->tick.fire = on_tick;
        list_init(&node->stepds);
    }
}

void sim_nodes_free(struct sim_cluster *cluster) {
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        struct sim_node *node = &cluster->nodes[i];
        list_each (&node->stepds, at)
            stepd_free(list_entry(at, struct sim_stepd, link));
        agent_free(node->agent);
    }
    free(cluster->nodes);
}
