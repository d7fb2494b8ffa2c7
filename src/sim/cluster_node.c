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

/* ---- chores ---- */

static void node_effects(struct sim_node *node, struct agent_effects *effects);

static void chore_free(struct sim_chore *chore) {
    sim_event_cancel(chore->node->cluster, &chore->event);
    list_remove(&chore->link);
    free(chore);
}

static void clean_job(struct sim_node *node, uint32_t job_id) {
    struct agent_effects effects = {0};
    agent_job_cleaned(node->agent, (uint64_t) node->cluster->usec, job_id, NULL, &effects);
    node_effects(node, &effects);
}

static struct sim_readied *readied_find(struct sim_node *node, struct step_key key) {
    list_each (&node->readied, at) {
        struct sim_readied *readied = list_entry(at, struct sim_readied, link);
        if (readied->key.job_id == key.job_id && readied->key.attempt == key.attempt)
            return readied;
    }
    return NULL;
}

static void readied_free(struct sim_readied *readied) {
    if (readied == NULL)
        return;
    list_remove(&readied->link);
    free(readied);
}

static void prepared(struct sim_node *node, struct step_key key) {
    struct agent_effects effects = {0};
    struct sim_readied *readied = readied_find(node, key);
    if (readied != NULL)
        readied->is_done = true;
    agent_job_prepared(node->agent, (uint64_t) node->cluster->usec, key.job_id, key.attempt, NULL,
                       &effects);
    node_effects(node, &effects);
}

static void sweep_step(struct sim_node *node, struct step_key key);

static void on_chore(struct sim_cluster *cluster, struct sim_event *event) {
    struct sim_chore *chore = container_of(event, struct sim_chore, event);
    struct sim_node *node = chore->node;
    struct step_key key = chore->key;
    bool prepares = chore->prepares;
    chore_free(chore);
    if (prepares)
        prepared(node, key);
    else if (key.step_id == UNSET32)
        clean_job(node, key.job_id);
    else
        sweep_step(node, key);
}

static struct sim_chore *chore_new(struct sim_node *node, struct step_key key,
                                   const struct sim_delay *delay) {
    struct sim_cluster *cluster = node->cluster;
    struct sim_chore *chore = zalloc(struct sim_chore);
    chore->node = node;
    chore->key = key;
    chore->event.fire = on_chore;
    list_append(&node->chores, &chore->link);
    sim_event_set(cluster, &chore->event, cluster->usec + sim_delay(cluster, delay));
    return chore;
}

/* A prolog runs once; it goes on while slurmd is away. */
static void prepare_job(struct sim_node *node, struct step_key key, uint32_t uid) {
    struct sim_readied *readied = readied_find(node, key);
    if (readied == NULL) {
        readied = zalloc(struct sim_readied);
        readied->key = key;
        readied->uid = uid;
        list_append(&node->readied, &readied->link);
    }
    if (node->cluster->apart && !readied->is_done)
        chore_new(node, key, &node->cluster->faults.clean)->prepares = true;
    else
        prepared(node, key);
}

/* ---- effects of the agent ---- */

static const struct sim_script extern_script = {.run = INT32_MAX};

static void stepd_command(struct sim_stepd *stepd, const struct step_command *command);
static void stepd_start(struct sim_stepd *stepd);
static void stepd_free(struct sim_stepd *stepd);
static struct sim_stepd *stepd_new(struct sim_node *node, struct step_key key, uint32_t uid,
                                   bool by_controller, const struct sim_script *script);

static struct sim_stepd *stepd_find(const struct sim_node *node, struct step_key key) {
    list_each (&node->stepds, at) {
        struct sim_stepd *stepd = list_entry(at, struct sim_stepd, link);
        if (step_key_equal(stepd->key, key))
            return stepd;
    }
    return NULL;
}

static void carry_out(struct sim_node *node, const struct agent_effect *effect) {
    struct sim_cluster *cluster = node->cluster;
    struct sim_stepd *stepd;
    switch (effect->kind) {
    case AGENT_SEND:
        if (cluster->apart)
            sim_net_to_core(node, effect->type, str_bytes(&effect->body));
        else
            sim_core_receive(cluster, node->index, effect->type, str_bytes(&effect->body));
        break;
    case AGENT_COMMAND:
        stepd = stepd_find(node, effect->key);
        if (stepd != NULL)
            stepd_command(stepd, &effect->command);
        break;
    case AGENT_CLEAN_JOB:
        if (cluster->apart)
            chore_new(node, effect->key, &cluster->faults.clean);
        else
            clean_job(node, effect->key.job_id);
        break;
    case AGENT_SWEEP:
        chore_new(node, effect->key, &cluster->faults.die);
        break;
    case AGENT_PREPARE_JOB:
        prepare_job(node, effect->key, effect->uid);
        break;
    case AGENT_START_EXTERN:
        if (stepd_find(node, effect->key) == NULL)
            stepd_start(stepd_new(node, effect->key, effect->uid, false, &extern_script));
        break;
    case AGENT_START_STEP:
        stepd = stepd_find(node, effect->key);
        if (stepd != NULL)
            stepd_start(stepd);
        break;
    case AGENT_DROP_STEP:
        stepd = stepd_find(node, effect->key);
        if (stepd != NULL)
            stepd_free(stepd);
        break;
    case AGENT_FORGET_JOB:
        readied_free(readied_find(node, effect->key));
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

static void tell(const struct sim_stepd *stepd, enum sim_process what) {
    const struct sim_cluster *cluster = stepd->node->cluster;
    struct step_ref ref = {stepd->key.job_id, stepd->key.step_id, stepd->key.attempt};
    if (cluster->observer.process != NULL)
        cluster->observer.process(cluster->observer.context, stepd->node->index, &ref, what);
}

/* What it has to say, to a slurmd that is there. Its result stays with it until it may forget. */
static void stepd_report(struct sim_stepd *stepd) {
    struct sim_node *node = stepd->node;
    struct step_report report;
    struct step_done done;
    struct agent_effects effects = {0};
    if (node->agent == NULL)
        return;
    record_init(&record_step_report, &report);
    report.job_id = stepd->key.job_id;
    report.step_id = stepd->key.step_id;
    report.attempt = stepd->key.attempt;
    report.uid = stepd->uid;
    report.running = stepd->running;
    report.by_controller = stepd->by_controller;
    if (stepd->done) {
        record_init(&record_step_done, &done);
        done.job_id = stepd->key.job_id;
        done.step_id = stepd->key.step_id;
        done.attempt = stepd->key.attempt;
        done.exit_status = stepd->exit_status;
        done.end_time = node->cluster->usec / SIM_SECOND;
        if (stepd->refused) {
            done.code = ERR_SYSTEM;
            done.detail = (char *) (uintptr_t) "No space left on device";
        }
        report.done = &done;
    }
    agent_report(node->agent, (uint64_t) node->cluster->usec, &report, &effects);
    node_effects(node, &effects);
}

static void stepd_ends(struct sim_stepd *stepd, uint32_t exit_status) {
    if (stepd->done)
        return;
    sim_event_cancel(stepd->node->cluster, &stepd->event);
    if (stepd->running)
        tell(stepd, SIM_ENDS);
    stepd->done = true;
    stepd->exit_status = exit_status;
    stepd_report(stepd);
}

static void stepd_goes_on(struct sim_stepd *stepd) {
    struct sim_cluster *cluster = stepd->node->cluster;
    stepd->ends_usec = cluster->usec + stepd->left_usec;
    sim_event_set(cluster, &stepd->event, stepd->ends_usec);
}

static void stepd_begins(struct sim_stepd *stepd) {
    stepd->spawned = true;
    if (stepd->refused) {
        stepd_ends(stepd, 1u << 8);
        return;
    }
    stepd->running = true;
    tell(stepd, SIM_BEGINS);
    if (stepd->stopped)
        tell(stepd, SIM_STOPS);
    else
        stepd_goes_on(stepd);
    stepd_report(stepd);
}

static void on_stepd(struct sim_cluster *cluster, struct sim_event *event) {
    struct sim_stepd *stepd = container_of(event, struct sim_stepd, event);
    if (!stepd->spawned)
        stepd_begins(stepd);
    else
        stepd_ends(stepd, stepd->exit_status);
}

/* Dies of a signal, though not at once. */
static void stepd_dies_of(struct sim_stepd *stepd, uint32_t number, int64_t wait) {
    struct sim_cluster *cluster = stepd->node->cluster;
    if (!cluster->apart) {
        stepd_ends(stepd, number);
        return;
    }
    int64_t when = cluster->usec + wait + sim_delay(cluster, &cluster->faults.die);
    if (stepd->dying && stepd->event.at.key <= when)
        return;
    stepd->dying = true;
    stepd->exit_status = number;
    if (!stepd->spawned) { /* the order has come, but nothing has been started */
        stepd->spawned = true;
        stepd->running = false;
    }
    if (stepd->stopped && stepd->running)
        tell(stepd, SIM_GOES_ON);
    stepd->stopped = false;
    sim_event_set(cluster, &stepd->event, when);
}

static void stepd_stops(struct sim_stepd *stepd) {
    struct sim_cluster *cluster = stepd->node->cluster;
    if (stepd->stopped || stepd->done || stepd->dying)
        return;
    stepd->stopped = true;
    if (!stepd->running)
        return;
    stepd->left_usec = stepd->ends_usec - cluster->usec;
    sim_event_cancel(cluster, &stepd->event);
    tell(stepd, SIM_STOPS);
}

static void stepd_continues(struct sim_stepd *stepd) {
    if (!stepd->stopped || stepd->done)
        return;
    stepd->stopped = false;
    if (!stepd->running)
        return;
    tell(stepd, SIM_GOES_ON);
    stepd_goes_on(stepd);
}

static void stepd_signal(struct sim_stepd *stepd, uint32_t number) {
    if (number == SIGNAL_STOP)
        stepd_stops(stepd);
    else if (number == SIGNAL_CONTINUE)
        stepd_continues(stepd);
    else if (number == SIGNAL_KILL || (number == SIGNAL_TERMINATE && !stepd->stubborn))
        stepd_dies_of(stepd, number, 0);
    /* other signals are warnings that a script is prepared for */
}

static void stepd_free(struct sim_stepd *stepd) {
    sim_event_cancel(stepd->node->cluster, &stepd->event);
    list_remove(&stepd->link);
    free(stepd);
}

static void stepd_command(struct sim_stepd *stepd, const struct step_command *command) {
    bool waits = command->kill_wait > 0 && stepd->stubborn;
    if (stepd->lost)
        return;
    switch ((enum step_command_kind) command->kind) {
    case STEP_COMMAND_SIGNAL:
        stepd_signal(stepd, command->signal);
        break;
    case STEP_COMMAND_LIMIT: /* only steps of srun have one */
        break;
    case STEP_COMMAND_TERMINATE:
        stepd_dies_of(stepd, command->kill_wait > 0 && !waits ? SIGNAL_TERMINATE : SIGNAL_KILL,
                      waits ? command->kill_wait * SIM_SECOND : 0);
        break;
    case STEP_COMMAND_FORGET:
        stepd_free(stepd);
        break;
    case STEP_COMMAND_ADOPT:
    case STEP_COMMAND_REPORT:
        break;
    }
}

/* The order is given. */
static void stepd_start(struct sim_stepd *stepd) {
    struct sim_cluster *cluster = stepd->node->cluster;
    if (cluster->apart)
        sim_event_set(cluster, &stepd->event,
                      cluster->usec + sim_delay(cluster, &cluster->faults.launch));
    else
        stepd_begins(stepd);
}

static struct sim_stepd *stepd_new(struct sim_node *node, struct step_key key, uint32_t uid,
                                   bool by_controller, const struct sim_script *script) {
    struct sim_cluster *cluster = node->cluster;
    struct sim_stepd *stepd = zalloc(struct sim_stepd);
    stepd->node = node;
    stepd->key = key;
    stepd->uid = uid;
    stepd->by_controller = by_controller;
    stepd->left_usec = script->run * SIM_SECOND;
    stepd->exit_status = script->exit_status;
    stepd->event.fire = on_stepd;
    list_append(&node->stepds, &stepd->link);
    if (cluster->apart) {
        stepd->stubborn = sim_chance(cluster, cluster->faults.stubborn);
        stepd->refused = by_controller && sim_chance(cluster, cluster->faults.refused);
    }
    return stepd;
}

/* The processes of a dead slurmstepd are no more. */
static void sweep_step(struct sim_node *node, struct step_key key) {
    struct sim_stepd *stepd = stepd_find(node, key);
    struct agent_effects effects = {0};
    if (stepd != NULL) {
        if (stepd->running)
            tell(stepd, SIM_ENDS);
        stepd_free(stepd);
    }
    agent_step_swept(node->agent, (uint64_t) node->cluster->usec, key,
                     node->cluster->usec / SIM_SECOND, NULL, &effects);
    node_effects(node, &effects);
}

void sim_stepd_dies(struct sim_stepd *stepd) {
    struct sim_node *node = stepd->node;
    struct agent_effects effects = {0};
    if (!stepd->spawned || stepd->done || stepd->lost)
        return;
    sim_event_cancel(node->cluster, &stepd->event);
    stepd->lost = true;
    if (node->agent == NULL)
        return; /* slurmd finds a dead socket */
    agent_step_lost(node->agent, stepd->key, &effects);
    node_effects(node, &effects);
}

/* ---- messages of the controller ---- */

static void launch(struct sim_node *node, struct step_key key, uint32_t uid, bool by_controller,
                   const struct sim_script *script) {
    struct agent_effects effects = {0};
    int r = agent_launch(node->agent, (uint64_t) node->cluster->usec, key, uid, by_controller,
                         &effects, NULL);
    struct sim_stepd *stepd = r > 0 ? stepd_new(node, key, uid, by_controller, script) : NULL;
    node_effects(node, &effects);
    if (r == AGENT_LAUNCH_NOW)
        stepd_start(stepd);
}

static void launch_batch(struct sim_node *node, struct bytes body) {
    const struct launch *order = sim_decode(node->cluster, &record_launch, body);
    struct sim_script script;
    if (order == NULL || order->job == NULL)
        return;
    struct step_key key = {order->job->job_id, STEP_BATCH, order->attempt};
    sim_script_parse((struct bytes) {order->job->script.data, order->job->script.size}, &script);
    launch(node, key, order->job->uid, true, &script);
}

void sim_node_launch_step(struct sim_node *node, struct step_key key, uint32_t uid,
                          const struct sim_script *script) {
    if (node->agent != NULL)
        launch(node, key, uid, false, script);
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
        launch_batch(node, body);
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
    case MSG_JOB_PREPARE:
        if ((message = sim_decode(cluster, &record_job_prepare, body)) != NULL)
            agent_prepare(node->agent, usec, message, &effects);
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

/* ---- slurmd ---- */

void sim_node_register(struct sim_node *node) {
    const struct conf_node *conf = node->conf;
    struct node_register body;
    struct node hardware;
    struct str out cleanup_str = STR_INIT, boot_id cleanup_str = STR_INIT;
    record_init(&record_node_register, &body);
    record_init(&record_node, &hardware);
    str_printf(&boot_id, "boot-%u", node->boot);
    hardware.cpus = conf->cpus;
    hardware.boards = conf->boards;
    hardware.sockets = conf->sockets;
    hardware.cores = conf->cores_per_socket;
    hardware.threads = conf->threads_per_core;
    hardware.memory = conf->real_memory;
    hardware.tmp_disk = conf->tmp_disk;
    hardware.gres = (char *) (uintptr_t) conf->gres_text;
    hardware.boot_id = boot_id.data;
    body.name = (char *) (uintptr_t) conf->name;
    body.node = &hardware;
    agent_fill_register(node->agent, &body);
    wire_encode(&record_node_register, &body, NULL, &out);
    free(body.steps.items);
    if (node->cluster->apart)
        sim_net_to_core(node, MSG_NODE_REGISTER, str_bytes(&out));
    else
        sim_core_receive(node->cluster, node->index, MSG_NODE_REGISTER, str_bytes(&out));
}

void sim_node_slurmd_dies(struct sim_node *node) {
    list_each (&node->chores, at)
        chore_free(list_entry(at, struct sim_chore, link));
    list_each (&node->stepds, at) {
        struct sim_stepd *stepd = list_entry(at, struct sim_stepd, link);
        if (!stepd->spawned)
            stepd_free(stepd);
    }
    sim_event_cancel(node->cluster, &node->tick);
    agent_free(node->agent);
    node->agent = NULL;
}

static void set_needs(struct sim_node *node) {
    const struct conf *conf = node->cluster->conf;
    bool contains = conf->prolog_flags & CONF_PROLOG_CONTAIN;
    agent_needs(node->agent, (conf->prolog.n > 0 || contains ? AGENT_NEEDS_PREPARE : 0) |
                                 (contains ? AGENT_NEEDS_EXTERN : 0));
}

/* Finds its slurmstepds by their sockets. */
void sim_node_slurmd_starts(struct sim_node *node) {
    node->agent = agent_new();
    set_needs(node);
    list_each (&node->readied, at) {
        const struct sim_readied *readied = list_entry(at, struct sim_readied, link);
        struct agent_effects effects = {0};
        agent_job_found(node->agent, (uint64_t) node->cluster->usec, readied->key.job_id,
                        readied->key.attempt, readied->uid, false, &effects);
        node_effects(node, &effects);
    }
    list_each (&node->stepds, at) {
        struct sim_stepd *stepd = list_entry(at, struct sim_stepd, link);
        struct agent_effects effects = {0};
        if (stepd->lost) {
            agent_step_found_dead(node->agent, stepd->key, &effects);
            node_effects(node, &effects);
        } else {
            stepd_report(stepd);
        }
    }
}

void sim_node_loses_power(struct sim_node *node) {
    if (node->agent != NULL)
        sim_node_slurmd_dies(node);
    list_each (&node->stepds, at) {
        struct sim_stepd *stepd = list_entry(at, struct sim_stepd, link);
        if (stepd->running && !stepd->done)
            tell(stepd, SIM_ENDS);
        stepd_free(stepd);
    }
    list_each (&node->readied, at)
        readied_free(list_entry(at, struct sim_readied, link));
    node->boot++;
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
        set_needs(node);
        node->powered = true;
        node->tick.fire = on_tick;
        list_init(&node->stepds);
        list_init(&node->chores);
        list_init(&node->readied);
    }
}

void sim_nodes_free(struct sim_cluster *cluster) {
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        struct sim_node *node = &cluster->nodes[i];
        list_each (&node->chores, at)
            chore_free(list_entry(at, struct sim_chore, link));
        list_each (&node->stepds, at)
            stepd_free(list_entry(at, struct sim_stepd, link));
        list_each (&node->readied, at)
            readied_free(list_entry(at, struct sim_readied, link));
        agent_free(node->agent);
    }
    free(cluster->nodes);
}
