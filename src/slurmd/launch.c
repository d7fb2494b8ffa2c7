/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a request to a slurmstepd. A batch script comes from the controller, whose connection is its
 * credential. A step comes from srun with a MUNGE credential made by the controller, which says
 * what may be launched; nothing of what srun itself says gets it more than that.
 *
 * The way of both: parse, ask the agent, look up the user, hand over to a slurmstepd.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/auth.h"
#include "os/log.h"
#include "slurmd/slurmd.h"

struct pending {
    struct list in_slurmd; /* steps of srun only */
    struct list in_held;
    struct slurmd *slurmd;
    struct step_key key;
    uint32_t uid, gid;
    struct str body;                        /* of MSG_LAUNCH or MSG_STEP_LAUNCH */
    const struct conf_partition *partition; /* batch; NULL = not known here */
    const struct launch_head_job *job;      /* batch */
    /* srun */
    struct rpc_conn *conn; /* NULL when it has gone */
    uint32_t seq;
    char *credential_text;
    struct auth_info info;
    struct arena arena;
    struct step_credential credential;
    struct error failure; /* of the credential */
    bool is_file;         /* body is MSG_FILE_OPEN: no step */
};

static void pending_free(struct pending *pending) {
    list_remove(&pending->in_slurmd);
    list_remove(&pending->in_held);
    str_done(&pending->body);
    free(pending->credential_text);
    auth_info_done(&pending->info);
    arena_done(&pending->arena);
    free(pending);
}

/* ---- the order ---- */

static void order_fill(const struct slurmd *slurmd, const struct pending *pending,
                       const struct user *user, struct step_order *order) {
    const struct conf *conf = slurmd->conf;

    record_init(&record_step_order, order);
    order->job_id = pending->key.job_id;
    order->step_id = pending->key.step_id;
    order->attempt = pending->key.attempt;
    order->uid = pending->uid;
    order->gid = pending->gid;
    order->groups.items = user->groups;
    order->groups.n = (uint32_t) user->n_groups;
    order->user_name = user->name;
    order->home = user->home;
    order->shell = user->shell;
    order->node_name = slurmd->node_name;
    order->cluster = (char *) (uintptr_t) conf->cluster_name;
    order->spool_dir = slurmd->spool_dir;
    order->conf_path = slurmd->conf_path;
    order->kill_wait = conf->kill_wait;
    order->unkillable_seconds = conf->unkillable_step_timeout;
    order->gpu_numbers.items = slurmd->gpu_numbers.items;
    order->gpu_numbers.n = (uint32_t) slurmd->gpu_numbers.n;
    order->cpus = (struct cpu_map *) (uintptr_t) &slurmd->cpu_map;
    order->gpu_mps.items = slurmd->gpu_mps.items;
    order->gpu_mps.n = (uint32_t) slurmd->gpu_mps.n;
    order->gpu_env = slurmd->gpu_env;
    order->gpu_cores.items = slurmd->gpu_cores.items;
    order->gpu_cores.n = (uint32_t) slurmd->gpu_cores.n;
    order->append_output = conf->job_file_append;
    order->propagate_prio = conf->propagate_prio_process;
    order->x11 = conf->prolog_flags & CONF_PROLOG_X11;
    if (conf->job_acct_gather_type != CONF_GATHER_NONE)
        order->gather_seconds = conf->frequency.task;
    order->gather_params = conf->job_acct_gather_params;
    order->oom_kill_step = conf->task_plugin_param.flags & CONF_TASK_PARAM_OOM_KILL;
    order->task_prolog = (char *) (uintptr_t) conf->task_prolog;
    order->task_epilog = (char *) (uintptr_t) conf->task_epilog;
    if (pending->partition && pending->partition->def_mem_per_cpu != CONF_UNSET)
        order->def_mem_per_cpu = pending->partition->def_mem_per_cpu;
    else if (pending->partition && pending->partition->def_mem_per_node != CONF_UNSET)
        order->def_mem_per_node = pending->partition->def_mem_per_node;
    else if (conf->def_mem_per_cpu != CONF_UNSET)
        order->def_mem_per_cpu = conf->def_mem_per_cpu;
    else if (conf->def_mem_per_node != CONF_UNSET)
        order->def_mem_per_node = conf->def_mem_per_node;
}

/* TaskPluginParam as words of --cpu-bind, and the node's CpuBind. */
static void order_bind(const struct slurmd *slurmd, struct arena *arena, struct step_order *order) {
    static const struct {
        uint64_t flag;
        const char *word;
    } rows[] = {
        {CONF_TASK_PARAM_NONE, "none"},       {CONF_TASK_PARAM_SOCKETS, "sockets"},
        {CONF_TASK_PARAM_CORES, "cores"},     {CONF_TASK_PARAM_THREADS, "threads"},
        {CONF_TASK_PARAM_VERBOSE, "verbose"},
    };
    const struct conf_words *param = &slurmd->conf->task_plugin_param;
    struct str words cleanup_str = STR_INIT;

    for (size_t i = 0; i < countof(rows); i++) {
        if (param->flags & rows[i].flag)
            str_join(&words, ",", rows[i].word);
    }
    order->node_cpu_bind = (char *) (uintptr_t) slurmd->node->cpu_bind;
    if (slurmd->conf->task_plugin == CONF_TASK_NONE)
        order->node_cpu_bind = (char *) (uintptr_t) "none";
    if (words.length > 0)
        order->cpu_bind = arena_strndup(arena, words.data, words.length);
    const char *autobind = param->text ? strcasestr(param->text, "autobind=") : NULL;
    if (autobind) {
        const char *word = autobind + strlen("autobind=");
        order->autobind = arena_strndup(arena, word, strcspn(word, ","));
    }
}

/* What the job and the step hold of this node. */
static void order_fence(const struct slurmd *slurmd, struct pending *pending,
                        struct step_order *order) {
    struct fence_share job = {0}, step = {0};
    const struct step_credential *credential = &pending->credential;

    for (uint32_t i = 0; pending->job && i < pending->job->allocation.n; i++) {
        const struct job_node *held = &pending->job->allocation.items[i];
        if (str_equal(held->name, slurmd->node_name))
            step = job = (struct fence_share) {held->cores, held->gres, held->cpus, held->mem};
    }
    for (uint32_t i = 0; pending->credential_text && i < credential->nodes.n; i++) {
        const struct step_node *held = &credential->nodes.items[i];
        if (!str_equal(held->name, slurmd->node_name))
            continue;
        step = (struct fence_share) {held->cores, held->gres, held->cpus, held->mem};
        job = (struct fence_share) {held->job_cores, held->job_gres, held->job_cpus, held->job_mem};
    }
    fences_order(slurmd, &job, &step, &pending->arena, order);
}

static void refuse(struct pending *pending, const struct error *why) {
    log_info("job %u step %u: not started: %s", pending->key.job_id, pending->key.step_id,
             why->text);
    if (!pending->conn)
        return;
    rpc_conn_answer_error(pending->conn, pending->seq, why->code, why->text);
    rpc_conn_close(pending->conn);
}

static void give_up(struct pending *pending, const struct error *why) {
    struct slurmd *slurmd = pending->slurmd;
    struct agent_effects effects = {0};

    refuse(pending, why);
    if (pending->is_file) {
        pending_free(pending);
        return;
    }
    step_give_up(slurmd, pending->key);
    agent_launch_failed(slurmd->agent, loop_monotonic_usec(), pending->key, why, &effects);
    slurmd_effects(slurmd, &effects);
    pending_free(pending);
}

static void on_user(const struct user *user, void *context) {
    struct pending *pending = context;
    struct slurmd *slurmd = pending->slurmd;
    cleanup_str struct str channel = STR_INIT;
    cleanup_str struct str address = STR_INIT, pattern = STR_INIT;
    struct step_order order;
    struct error err = ERROR_INIT;
    int fd = -1;

    if (!user) {
        error_set(&err, ERR_USER_ID,
                  "User id %u is not known on node %s: users must be the same on all nodes.",
                  pending->uid, slurmd->node_name);
        give_up(pending, &err);
        return;
    }
    order_fill(slurmd, pending, user, &order);
    order_fence(slurmd, pending, &order);
    order_bind(slurmd, &pending->arena, &order);
    places_order(slurmd, &pending->arena, &order);
    conf_topology_address(slurmd->conf, slurmd->node_name, &address, &pattern);
    order.topology_addr = address.data;
    order.topology_pattern = pattern.data;
    if (pending->credential_text) {
        if (!pending->conn)
            error_set(&err, ERR_CLOSED, "srun has gone before its step could start.");
        else if (rpc_conn_export(pending->conn, &channel, &fd, &err) == 0)
            pending->conn = NULL;
        if (fd < 0) {
            give_up(pending, &err);
            return;
        }
        order.channel = (struct blob) {(uint8_t *) channel.data, channel.length};
        order.credential = &pending->credential;
        if (pending->is_file) {
            order.file_open = (struct blob) {(uint8_t *) pending->body.data, pending->body.length};
            order.munge_socket = slurmd->munge_socket;
            file_spawn(slurmd, &order, fd);
            pending_free(pending);
            return;
        }
        order.step_launch = (struct blob) {(uint8_t *) pending->body.data, pending->body.length};
    } else if (pending->key.step_id != STEP_EXTERN) {
        order.launch = (struct blob) {(uint8_t *) pending->body.data, pending->body.length};
    }
    step_spawn(slurmd, pending->key, &order, fd);
    pending_free(pending);
}

/* Asks the agent, and goes on as it says. Takes `pending` over. */
static void ask(struct pending *pending, bool by_controller) {
    struct slurmd *slurmd = pending->slurmd;
    struct agent_effects effects = {0};
    struct error err = ERROR_INIT;
    struct step_key key = pending->key;
    int r = agent_launch(slurmd->agent, loop_monotonic_usec(), key, pending->uid, by_controller,
                         &effects, &err);

    if (r < 0)
        refuse(pending, &err);
    if (r == AGENT_LAUNCH_NOW || r == AGENT_LAUNCH_HELD) {
        log_debug("launching step %u of job %u for uid %u", key.step_id, key.job_id, pending->uid);
        step_expect(slurmd, key);
    }
    if (r == AGENT_LAUNCH_NOW)
        user_find(slurmd, pending->uid, pending->gid, on_user, pending);
    else if (r == AGENT_LAUNCH_HELD)
        list_append(&slurmd->held, &pending->in_held);
    else
        pending_free(pending);
    slurmd_effects(slurmd, &effects);
}

static struct pending *held_take(struct slurmd *slurmd, struct step_key key) {
    list_each (&slurmd->held, node) {
        struct pending *pending = list_entry(node, struct pending, in_held);
        if (step_key_equal(pending->key, key)) {
            list_remove(&pending->in_held);
            return pending;
        }
    }
    return NULL;
}

void launch_go_on(struct slurmd *slurmd, struct step_key key) {
    struct pending *pending = held_take(slurmd, key);

    if (pending)
        user_find(slurmd, pending->uid, pending->gid, on_user, pending);
}

void launch_drop(struct slurmd *slurmd, struct step_key key, const char *why) {
    struct pending *pending = held_take(slurmd, key);
    struct error err = ERROR_INIT;

    if (!pending)
        return;
    (void) error_set(&err, ERR_PROLOG, "%s", why);
    refuse(pending, &err);
    step_give_up(slurmd, key);
    pending_free(pending);
}

/* ---- batch ---- */

/* What Prolog and Epilog are told of the job: slurmd reads no more of a launch without them. */
static void note_batch(struct pending *pending) {
    struct launch launch;
    struct error err = ERROR_INIT;

    if (wire_decode(&record_launch, str_bytes(&pending->body), &pending->arena, &launch, &err) < 0)
        return;
    launch.job->script = launch.job->environment = (struct blob) {NULL, 0};
    job_note(pending->slurmd, pending->key, pending->uid, launch.job, launch.job_cpus_per_node);
}

void launch_batch(struct slurmd *slurmd, struct bytes body) {
    struct pending *pending = zalloc(struct pending);
    struct launch_head head;
    struct error err = ERROR_INIT;

    list_init(&pending->in_slurmd);
    list_init(&pending->in_held);
    pending->slurmd = slurmd;
    message_arena_init(&pending->arena, body);
    if (wire_decode(&record_launch_head, body, &pending->arena, &head, &err) < 0 || !head.job) {
        log_error("a launch message from the controller cannot be read: %s", err.text);
        pending_free(pending);
        return;
    }
    pending->job = head.job;
    pending->key = (struct step_key) {head.job->job_id, STEP_BATCH, head.attempt};
    pending->uid = head.job->uid;
    pending->gid = head.job->gid;
    if (head.job->partition)
        pending->partition = conf_partition_find(slurmd->conf, head.job->partition);
    str_append_bytes(&pending->body, body.data, body.size);
    if (runs_scripts(slurmd))
        note_batch(pending);
    ask(pending, true);
}

/* ---- the extern step ---- */

/* A copy: the job may be noted anew before its user is known. */
static void take_held(struct pending *pending, const struct job_node *held,
                      struct launch_head_job *head) {
    cleanup_str struct str body = STR_INIT;
    struct job_node *copy = arena_alloc(&pending->arena, sizeof(*copy));

    wire_encode(&record_job_node, held, NULL, &body);
    if (wire_decode(&record_job_node, str_bytes(&body), &pending->arena, copy, NULL) < 0)
        return;
    head->allocation.items = copy;
    head->allocation.n = 1;
}

void launch_extern(struct slurmd *slurmd, struct step_key key, uint32_t uid) {
    const struct job *job = job_noted(slurmd, key);

    if (step_is_expected(slurmd, key)) /* it is here, and will report */
        return;
    struct pending *pending = zalloc(struct pending);
    struct launch_head_job *head;
    list_init(&pending->in_slurmd);
    list_init(&pending->in_held);
    arena_init(&pending->arena, 1u << 20);
    pending->slurmd = slurmd;
    pending->key = key;
    pending->uid = uid;
    pending->gid = job ? job->gid : UNSET32;
    head = arena_alloc(&pending->arena, sizeof(*head));
    record_init(&record_launch_head_job, head);
    for (uint32_t i = 0; job && i < job->allocation.n; i++) {
        if (str_equal(job->allocation.items[i].name, slurmd->node_name))
            take_held(pending, &job->allocation.items[i], head);
    }
    pending->job = head;
    step_expect(slurmd, key);
    user_find(slurmd, uid, pending->gid, on_user, pending);
}

/* ---- steps ---- */

/* In a thread: munged may be slow. */
static void decode_credential(void *context) {
    struct pending *pending = context;

    (void) !auth_decode(pending->slurmd->auth.munge_socket, pending->credential_text,
                        &pending->info, &pending->failure);
}

static bool names_node(const struct step_credential *credential, const char *name) {
    for (uint32_t i = 0; i < credential->nodes.n; i++) {
        if (str_equal(credential->nodes.items[i].name, name))
            return true;
    }
    return false;
}

static int check_credential(struct pending *pending, struct error *err) {
    struct slurmd *slurmd = pending->slurmd;
    struct step_credential *credential = &pending->credential;
    struct bytes payload = {pending->info.payload, pending->info.payload_size};
    uid_t peer = rpc_conn_peer(pending->conn)->uid;

    if (pending->failure.code < 0) {
        *err = pending->failure;
        return err->code;
    }
    if (pending->info.uid != slurmd->slurm_uid && pending->info.uid != 0)
        return error_set(err, ERR_AUTH,
                         "The step's credential was made by uid %u; only the "
                         "controller's (%u) counts.",
                         (unsigned) pending->info.uid, (unsigned) slurmd->slurm_uid);
    int r = wire_decode(&record_step_credential, payload, &pending->arena, credential, err);
    if (r < 0)
        return r;
    if (credential->expires < pending->info.decode_time)
        return error_set(err, ERR_JOB_EXPIRED,
                         "The step's credential has expired %lld s ago; are "
                         "the clocks of controller and node the same?",
                         (long long) (pending->info.decode_time - credential->expires));
    if (credential->files != pending->is_file)
        return error_set(err, ERR_AUTH, "The credential is for %s.",
                         credential->files ? "files and starts no step" : "a step, not for files");
    if (!names_node(credential, slurmd->node_name))
        return error_set(err, ERR_INVALID_NODE, "The step's credential is not for node %s.",
                         slurmd->node_name);
    if (peer != credential->uid && peer != 0)
        return error_set(err, ERR_USER_ID, "The step belongs to uid %u, srun runs as uid %u.",
                         credential->uid, (unsigned) peer);
    return 0;
}

static void on_credential(void *context) {
    struct pending *pending = context;
    struct error err = ERROR_INIT;
    int r;

    if (!pending->conn) {
        pending_free(pending);
        return;
    }
    r = check_credential(pending, &err);
    if (r == 0) {
        const struct step_credential *credential = &pending->credential;
        pending->key =
            (struct step_key) {credential->job_id, credential->step_id, credential->attempt};
        pending->uid = credential->uid;
        pending->gid = credential->gid;
        if (pending->is_file) {
            user_find(pending->slurmd, pending->uid, pending->gid, on_user, pending);
            return;
        }
        job_note(pending->slurmd, pending->key, pending->uid, credential->job, NULL);
        ask(pending, false);
        return;
    }
    refuse(pending, &err);
    pending_free(pending);
}

/* The field of MSG_STEP_LAUNCH and MSG_FILE_OPEN that slurmd reads; the same number as there. */
#define STEP_LAUNCH_HEAD_FIELDS(X) X(1, STR, credential, 0)
RECORD_DECLARE(step_launch_head, STEP_LAUNCH_HEAD_FIELDS)
#define RECORD_ROW_step_launch_head(...) RECORD_ROW(step_launch_head, __VA_ARGS__)
RECORD_DEFINE(step_launch_head, STEP_LAUNCH_HEAD_FIELDS)

static struct pending *pending_of(struct slurmd *slurmd, const struct rpc_conn *conn) {
    list_each (&slurmd->pending_steps, node) {
        struct pending *pending = list_entry(node, struct pending, in_slurmd);
        if (pending->conn == conn)
            return pending;
    }
    return NULL;
}

void launch_conn_closed(struct slurmd *slurmd, const struct rpc_conn *conn) {
    struct pending *pending = pending_of(slurmd, conn);

    if (pending)
        pending->conn = NULL;
}

void launch_step(struct slurmd *slurmd, struct rpc_conn *conn, const struct rpc_message *message) {
    struct pending *pending;
    struct step_launch_head head;
    struct error err = ERROR_INIT;

    if (pending_of(slurmd, conn)) { /* one connection carries one step */
        rpc_conn_close(conn);
        return;
    }
    pending = zalloc(struct pending);
    pending->slurmd = slurmd;
    pending->conn = conn;
    list_init(&pending->in_held);
    list_append(&slurmd->pending_steps, &pending->in_slurmd);
    pending->seq = message->seq;
    pending->is_file = message->type == MSG_FILE_OPEN;
    message_arena_init(&pending->arena, message->body);
    if (wire_decode(&record_step_launch_head, message->body, &pending->arena, &head, &err) < 0 ||
        !head.credential) {
        if (err.code == 0)
            error_set(&err, ERR_PROTOCOL, "The launch of a step has no credential.");
        refuse(pending, &err);
        pending_free(pending);
        return;
    }
    pending->credential_text = xstrdup(head.credential);
    str_append_bytes(&pending->body, message->body.data, message->body.size);
    loop_work(slurmd->loop, decode_credential, on_credential, pending);
}
