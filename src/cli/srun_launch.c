/* SPDX-License-Identifier: Apache-2.0 */
/* The connections to the nodes: each slurmd gets the launch, its slurmstepd takes over. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/environ.h"
#include "cli/srun.h"
#include "os/pty.h"
#include "text/timestamp.h"

void srun_send(struct srun_node *node, uint16_t type, const void *object) {
    if (node->conn && !node->has_finished)
        rpc_conn_tell(node->conn, type, 0, 0, object);
}

void srun_send_all(struct srun *srun, uint16_t type, const void *object) {
    for (size_t i = 0; i < srun->n_nodes; i++) {
        if (srun->nodes[i].has_started)
            srun_send(&srun->nodes[i], type, object);
    }
}

void srun_cancel_text(const char *why, struct str *out) {
    str_append(out, "CANCELLED AT ");
    timestamp_print(time(NULL), NULL, time(NULL), out);
    str_append(out, why);
}

void srun_terminate(struct srun *srun, bool gently, const char *why) {
    cleanup_str struct str text = STR_INIT;
    struct step_control control;

    record_init(&record_step_control, &control);
    control.terminate = true;
    control.signal = gently ? 15 : 9;
    if (why) {
        srun_cancel_text(why, &text);
        control.message = text.data;
    }
    srun->terminating = true;
    srun_send_all(srun, MSG_STEP_CONTROL, &control);
}

/* ---- messages of a node ---- */

static void on_refusal(struct srun_node *node, const struct reply_error *reply) {
    struct error err = ERROR_INIT;

    (void) error_set(&err, reply->code ? reply->code : ERR_GENERIC, "%s",
                     reply->detail ? reply->detail : error_text((int) reply->code));
    srun_node_lost(node, &err);
}

static void on_body(struct srun_node *node, uint16_t type, void *body) {
    const struct step_io *io;

    switch (type) {
    case MSG_STEP_STARTED:
        srun_tasks_started(node, body);
        break;
    case MSG_STEP_EXITED:
        srun_tasks_exited(node, body);
        break;
    case MSG_STEP_IO:
        io = body;
        if (io->stream == 0)
            srun_input_taken(node, io->taken);
        else
            srun_output_data(node->srun, io);
        break;
    case MSG_STEP_CONTROL:
        srun_abort_wait(node->srun);
        break;
    case MSG_STEP_EXCHANGE:
        srun_exchange(node, body);
        break;
    case MSG_STEP_X11:
        srun_x11_message(node, body);
        break;
    case MSG_STEP_FINISHED:
        srun_node_finished(node, body);
        break;
    case MSG_ERROR:
        on_refusal(node, body);
        break;
    default:
        break;
    }
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct srun_node *node = context;
    const struct record *record = message_record(message->type);
    struct arena arena;
    void *body;

    if (!record || node->has_finished)
        return;
    arena_init(&arena, (1u << 20) + message->body.size * 4);
    body = arena_alloc(&arena, record->size);
    if (wire_decode(record, message->body, &arena, body, NULL) == 0)
        on_body(node, message->type, body);
    arena_done(&arena);
}

static void on_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct srun_node *node = context;

    node->conn = NULL;
    if (!node->has_finished)
        srun_node_lost(node, why);
}

static const struct rpc_handlers node_handlers = {.message = on_message, .closed = on_closed};

/* ---- the launch ---- */

static void set_echo(struct srun *srun, enum option_id id, const char *name, uint64_t value) {
    cleanup_str struct str text = STR_INIT;

    if (!options_given(&srun->options, id))
        return;
    str_append_u64(&text, value);
    environ_set(&srun->environment, name, text.data);
}

/* What tasks see of what was asked for here. */
static void fill_environment(struct srun *srun) {
    const struct job_request *job = &srun->options.job;

    set_echo(srun, OPT_ntasks_per_node, "SLURM_NTASKS_PER_NODE", job->ntasks_per_node);
    set_echo(srun, OPT_cpus_per_task, "SLURM_CPUS_PER_TASK", job->cpus_per_task);
    if (options_given(&srun->options, OPT_distribution) && job->distribution_text)
        environ_set(&srun->environment, "SLURM_DISTRIBUTION", job->distribution_text);
    cleanup_free char *nice_value = xasprintf("%d", getpriority(PRIO_PROCESS, 0));
    environ_set(&srun->environment, "SLURM_PRIO_PROCESS", nice_value);
    environ_set(&srun->environment, "SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1");
    environ_set(&srun->environment, "SRUN_DEBUG", "3");
    if (job->overcommit)
        environ_set(&srun->environment, "SLURM_OVERCOMMIT", "1");
    if (job->export_env)
        environ_set(&srun->environment, "SLURM_EXPORT_ENV", job->export_env);
}

static void fill_launch(struct srun *srun, struct step_launch *launch, struct step_layout *shape) {
    const struct job_request *job = &srun->options.job;
    const struct step_layout *own = srun->own_layout ? srun->own_layout : srun->layout;

    record_init(&record_step_launch, launch);
    shape->credential = NULL;
    shape->job_id = own->job_id;
    shape->attempt = own->attempt;
    shape->cpus_per_task = own->cpus_per_task;
    launch->credential = own->credential;
    launch->first_rank = srun->first_rank;
    launch->first_node = srun->first_node;
    launch->layout = shape;
    if (!srun->options.multi_prog) {
        launch->argv.items = srun->uses.rest.items;
        launch->argv.n = (uint32_t) srun->uses.rest.n;
    } else {
        launch->multi_prog =
            (struct blob) {(uint8_t *) srun->multi_prog.data, srun->multi_prog.length};
    }
    launch->environment =
        (struct blob) {(uint8_t *) srun->environment.data, srun->environment.length};
    launch->work_dir = job->work_dir;
    launch->std_out = srun->node_output[0];
    launch->std_err = srun->node_output[1];
    launch->std_in = srun->node_input;
    launch->open_mode = job->open_mode;
    launch->rlimits.items = job->rlimits.items;
    launch->rlimits.n = job->rlimits.n;
    launch->umask = job->umask;
    launch->label = srun->options.label;
    launch->unbuffered = srun->options.unbuffered;
    launch->cpu_bind = job->cpu_bind;
    launch->mem_bind = job->mem_bind;
    launch->mpi = srun->options.mpi;
    launch->task_prolog = srun->options.task_prolog;
    launch->task_epilog = srun->options.task_epilog;
    launch->pty = srun->pty;
    launch->own_job = srun->own_job;
    launch->preserve_env = srun->options.preserve_env;
    launch->acctg_freq = job->acctg_freq;
    launch->distribution = job->distribution_text;
    launch->hint = job->hint;
    launch->threads_per_core = job->threads_per_core;
    launch->ntasks_per_core = job->ntasks_per_core;
    launch->ntasks_per_socket = job->ntasks_per_socket;
    launch->oom_kill_step = job->oom_kill_step;
}

static void node_dial(struct srun_node *node, const struct step_launch *launch) {
    struct srun *srun = node->srun;
    struct error err = ERROR_INIT;
    struct step_launch own = *launch;

    if (rpc_dial(srun->loop, &srun->auth, node->layout->address, (uint16_t) node->layout->port,
                 srun->slurmd_uid, &node_handlers, node, &node->conn, &err) < 0) {
        node->conn = NULL;
        srun_node_lost(node, &err);
        return;
    }
    rpc_conn_limit_silence(node->conn, SRUN_SILENCE_SECONDS);
    own.node_name = node->layout->name;
    srun_x11_fill(node, &own);
    rpc_conn_tell(node->conn, MSG_STEP_LAUNCH, 0, 1, &own);
}

/* Which part of the step a node is in. */
static struct srun *part_of(struct srun *srun, size_t node) {
    for (size_t p = srun->n_parts; p-- > 1;) {
        if (node >= srun->parts[p]->first_node)
            return srun->parts[p];
    }
    return srun;
}

static void make_nodes(struct srun *srun) {
    srun->n_nodes = srun->layout->nodes.n;
    srun->n_tasks = srun->layout->ntasks;
    srun->nodes = xcalloc(srun->n_nodes + 1, sizeof(*srun->nodes));
    srun->tasks = xcalloc(srun->n_tasks + 1, sizeof(*srun->tasks));
    for (size_t i = 0; i < srun->n_nodes; i++) {
        const struct step_node *layout = &srun->layout->nodes.items[i];
        srun->nodes[i].srun = srun;
        srun->nodes[i].part = part_of(srun, i);
        srun->nodes[i].layout = layout;
        for (uint32_t k = 0; k < layout->ranks.n; k++) {
            if (layout->ranks.items[k] < srun->n_tasks)
                srun->tasks[layout->ranks.items[k]].node = (uint16_t) i;
        }
    }
}

/* Output, input, terminal and MPI are of the whole step, what runs there is the part's. */
static void launch_part(struct srun *srun, struct srun *part) {
    struct step_launch launch;
    struct step_layout shape = *srun->layout;

    fill_environment(part);
    fill_launch(part, &launch, &shape);
    launch.layout = &shape;
    launch.std_out = srun->node_output[0];
    launch.std_err = srun->node_output[1];
    launch.std_in = srun->node_input;
    launch.own_job = srun->own_job;
    launch.mpi = srun->options.mpi;
    launch.label = srun->options.label;
    launch.pty = srun->pty && part == srun; /* the first component's terminal */
    if (srun->pty && part != srun)
        launch.std_in = (char *) (uintptr_t) "none";
    cleanup_free char *gpu_bind = options_gpu_bind(&part->options);
    launch.gpu_bind = gpu_bind;
    if (srun->pty) {
        struct pty_size size = {0};
        (void) pty_get_size(0, &size);
        launch.pty_rows = size.rows;
        launch.pty_cols = size.columns;
    }
    for (size_t i = 0; i < srun->n_nodes; i++) {
        if (srun->nodes[i].part == part)
            node_dial(&srun->nodes[i], &launch);
    }
}

int srun_launch(struct srun *srun) {
    make_nodes(srun);
    list_init(&srun->gatherings);
    srun_tasks_begin(srun);
    for (size_t p = 0; p < srun->n_parts; p++)
        launch_part(srun, srun->parts[p]);
    return CLI_GO_ON;
}
