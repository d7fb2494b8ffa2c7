/* SPDX-License-Identifier: Apache-2.0 */
/* Which variables a job sees. One row each where a plain value is copied; rows stand in the order
 * of the manual's table. */
#include "slurmstepd/job_env.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/het_env.h"
#include "model/job.h"
#include "slurmstepd/gpu_bind.h"
#include "text/duration.h"
#include "text/idset.h"
#include "text/tres.h"

#define GPUS_MAX 256 /* of one step on a node; of more a task is told all */

/* ---- tables of plain copies ---- */

enum copy_kind {
    COPY_STR,     /* char *, when not NULL or "" */
    COPY_U32,     /* uint32_t, when not 0 */
    COPY_U32_ALL, /* uint32_t, always */
    COPY_UNSET64, /* uint64_t, unless UNSET64 */
    COPY_I64,     /* int64_t, when not 0 */
};
struct copy_row {
    const char *name;
    uint8_t kind;
    uint16_t offset;
};

#define JOB(kind, member, name)                                                                    \
    { name, COPY_##kind, offsetof(struct job, member) }
static const struct copy_row job_rows[] = {
    JOB(U32, job_id, "SLURM_JOB_ID"),
    JOB(U32, job_id, "SLURM_JOBID"),
    JOB(STR, name, "SLURM_JOB_NAME"),
    JOB(STR, nodes, "SLURM_JOB_NODELIST"),
    JOB(STR, nodes, "SLURM_NODELIST"),
    JOB(U32, num_nodes, "SLURM_JOB_NUM_NODES"),
    JOB(U32, num_nodes, "SLURM_NNODES"),
    JOB(STR, partition, "SLURM_JOB_PARTITION"),
    JOB(STR, account, "SLURM_JOB_ACCOUNT"),
    JOB(STR, qos, "SLURM_JOB_QOS"),
    JOB(STR, reservation, "SLURM_JOB_RESERVATION"),
    JOB(U32_ALL, uid, "SLURM_JOB_UID"),
    JOB(U32_ALL, gid, "SLURM_JOB_GID"),
    JOB(STR, user_name, "SLURM_JOB_USER"),
    JOB(I64, start_time, "SLURM_JOB_START_TIME"),
    JOB(I64, end_time, "SLURM_JOB_END_TIME"),
    JOB(STR, licenses, "SLURM_JOB_LICENSES"),
    JOB(STR, dependency, "SLURM_JOB_DEPENDENCY"),
    JOB(U32, restarts, "SLURM_RESTART_COUNT"),
    /* what was asked for, read again by srun inside */
    JOB(U32, ntasks_per_node, "SLURM_NTASKS_PER_NODE"),
    JOB(U32, ntasks_per_core, "SLURM_NTASKS_PER_CORE"),
    JOB(U32, ntasks_per_socket, "SLURM_NTASKS_PER_SOCKET"),
    JOB(U32, ntasks_per_gpu, "SLURM_NTASKS_PER_GPU"),
    JOB(U32, cpus_per_task, "SLURM_CPUS_PER_TASK"),
    JOB(U32, cpus_per_gpu, "SLURM_CPUS_PER_GPU"),
    JOB(UNSET64, mem_per_node, "SLURM_MEM_PER_NODE"),
    JOB(UNSET64, mem_per_cpu, "SLURM_MEM_PER_CPU"),
    JOB(UNSET64, mem_per_gpu, "SLURM_MEM_PER_GPU"),
    JOB(U32, plane_size, "SLURM_DIST_PLANESIZE"),
    JOB(U32, threads_per_core, "SLURM_THREADS_PER_CORE"),
    JOB(STR, hint, "SLURM_HINT"),
    JOB(STR, profile, "SLURM_PROFILE"),
    JOB(STR, network, "SLURM_NETWORK"),
};
#undef JOB
#define LAYOUT(kind, member, name)                                                                 \
    { name, COPY_##kind, offsetof(struct step_layout, member) }
static const struct copy_row layout_rows[] = {
    LAYOUT(U32, job_id, "SLURM_JOB_ID"),
    LAYOUT(U32, job_id, "SLURM_JOBID"),
    LAYOUT(STR, job_name, "SLURM_JOB_NAME"),
    LAYOUT(STR, job_nodelist, "SLURM_JOB_NODELIST"),
    LAYOUT(STR, job_nodelist, "SLURM_NODELIST"),
    LAYOUT(STR, job_cpus_per_node, "SLURM_JOB_CPUS_PER_NODE"),
    LAYOUT(STR, partition, "SLURM_JOB_PARTITION"),
    LAYOUT(STR, account, "SLURM_JOB_ACCOUNT"),
    LAYOUT(STR, qos, "SLURM_JOB_QOS"),
    LAYOUT(STR, cluster, "SLURM_CLUSTER_NAME"),
    LAYOUT(STR, user_name, "SLURM_JOB_USER"),
    LAYOUT(U32, restarts, "SLURM_RESTART_COUNT"),
    LAYOUT(I64, job_start_time, "SLURM_JOB_START_TIME"),
    LAYOUT(I64, job_end_time, "SLURM_JOB_END_TIME"),
    LAYOUT(U32_ALL, step_id, "SLURM_STEP_ID"),
    LAYOUT(U32_ALL, step_id, "SLURM_STEPID"),
    LAYOUT(STR, nodelist, "SLURM_STEP_NODELIST"),
    LAYOUT(U32, ntasks, "SLURM_STEP_NUM_TASKS"),
    LAYOUT(STR, tasks_per_node, "SLURM_STEP_TASKS_PER_NODE"),
};
/* What --preserve-env leaves as it is. */
static const struct copy_row size_rows[] = {
    LAYOUT(U32, job_num_nodes, "SLURM_JOB_NUM_NODES"),
    LAYOUT(U32, job_num_nodes, "SLURM_NNODES"),
    LAYOUT(STR, tasks_per_node, "SLURM_TASKS_PER_NODE"),
    LAYOUT(U32, ntasks, "SLURM_NTASKS"),
    LAYOUT(U32, ntasks, "SLURM_NPROCS"),
};
#undef LAYOUT

static void copy_rows(struct env *env, const void *object, const struct copy_row *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char *member = (const char *) object + rows[i].offset;
        switch (rows[i].kind) {
        case COPY_STR: {
            const char *text = *(char *const *) member;
            if (text && *text)
                env_set(env, rows[i].name, text);
            break;
        }
        case COPY_U32:
        case COPY_U32_ALL: {
            uint32_t value = *(const uint32_t *) member;
            if (value || rows[i].kind == COPY_U32_ALL)
                env_set_u64(env, rows[i].name, value);
            break;
        }
        case COPY_UNSET64: {
            uint64_t value = *(const uint64_t *) member;
            if (value != UNSET64)
                env_set_u64(env, rows[i].name, value);
            break;
        }
        case COPY_I64: {
            int64_t value = *(const int64_t *) member;
            if (value > 0)
                env_set_u64(env, rows[i].name, (uint64_t) value);
            break;
        }
        }
    }
}

/* ---- parts that need work ---- */

static void set_array(struct env *env, uint32_t array_job_id, uint32_t task_id, const char *all,
                      const char *spec) {
    cleanup_idset struct idset set = IDSET_INIT;

    if (!array_job_id || task_id == UNSET32)
        return;
    env_set_u64(env, "SLURM_ARRAY_JOB_ID", array_job_id);
    env_set_u64(env, "SLURM_ARRAY_TASK_ID", task_id);
    /* not Slurm's, but documented on the pages of sites */
    env_set_u64(env, "JOB_ARRAY_TASK_ID", task_id);
    if (!all || idset_parse(&set, all, UINT32_MAX - 2, &(uint32_t) {0}, NULL) < 0 ||
        idset_count(&set) == 0)
        return;
    env_set_u64(env, "SLURM_ARRAY_TASK_COUNT", idset_count(&set));
    env_set_u64(env, "SLURM_ARRAY_TASK_MIN", idset_min(&set));
    env_set_u64(env, "SLURM_ARRAY_TASK_MAX", idset_max(&set));
    env_set_u64(env, "SLURM_ARRAY_TASK_STEP", job_array_step(spec, all));
}

static void set_number_list(struct env *env, const char *name, const uint32_t *numbers, size_t n) {
    cleanup_str struct str text = STR_INIT;

    for (size_t i = 0; i < n; i++) {
        if (i)
            str_append_char(&text, ',');
        str_append_u64(&text, numbers[i]);
    }
    env_set(env, name, str_cstr(&text));
}

/* MPS keeps a program to so much of the card when it is told. */
static void set_shares(struct env *env, const struct step_order *order, const char *gres) {
    uint64_t shards = 0, percent = 0;
    struct gres_given given;

    for (const char *at = gres; gres_given_next(&at, &given); gres_given_done(&given)) {
        bool is_mps = str_equal_nocase(given.item.name, "mps");
        uint32_t card = 0;
        if (str_equal_nocase(given.item.name, "shard"))
            shards += given.item.count;
        if (is_mps && idset_next(&given.ids, 0, &card) && card < order->gpu_mps.n)
            percent = given.item.count * 100 / max_of(order->gpu_mps.items[card], 1u);
    }
    env_unset(env, "SLURM_SHARDS_ON_NODE");
    env_unset(env, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
    if (shards > 0)
        env_set_u64(env, "SLURM_SHARDS_ON_NODE", shards);
    if (percent > 0)
        env_set_u64(env, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", min_of(percent, (uint64_t) 100));
}

/* Where devices are fenced a program sees only its own, counted from 0; elsewhere it is told which
 * of all it may use. global_name: SLURM_JOB_GPUS or SLURM_STEP_GPUS. */
static void set_gpus(struct env *env, const struct step_order *order, const char *gres,
                     const char *global_name) {
    size_t n;
    cleanup_free uint32_t *indexes = gres_card_indexes(gres, &n);

    for (size_t i = 0; i < GPU_VISIBLE_NAMES; i++)
        env_unset(env, gpu_visible_names[i]);
    env_unset(env, global_name);
    env_unset(env, "SLURM_GPUS_ON_NODE");
    set_shares(env, order, gres);
    if (n == 0)
        return;
    env_set_u64(env, "SLURM_GPUS_ON_NODE", n);
    set_number_list(env, global_name, indexes, n);
    for (size_t i = 0; i < n; i++) {
        if (order->devices_fenced)
            indexes[i] = (uint32_t) i;
        else if (indexes[i] < order->gpu_numbers.n)
            indexes[i] = order->gpu_numbers.items[indexes[i]];
    }
    for (size_t i = 0; i < GPU_VISIBLE_NAMES; i++) {
        if (order->gpu_env >> i & 1)
            set_number_list(env, gpu_visible_names[i], indexes, n);
    }
}

/* "gres/gpu:a100:2,gres/shard:1" → "a100:2", what --gpus was given. */
static void set_gpu_request(struct env *env, const char *name, const char *tres) {
    const char *gpu = tres ? strstr(tres, "gpu") : NULL;

    if (!gpu || (gpu[3] != ':' && gpu[3] != '='))
        return;
    cleanup_free char *text = xstrndup(gpu + 4, strcspn(gpu + 4, ","));
    env_set(env, name, text);
}

/* What --gpu-bind was given, else --tres-bind. */
static void set_binding(struct env *env, const char *tres_bind) {
    static const char gpu[] = "gres/gpu:";

    if (!tres_bind)
        return;
    if (str_starts(tres_bind, gpu) && !strchr(tres_bind, '+'))
        env_set(env, "SLURM_GPU_BIND", tres_bind + strlen(gpu));
    else
        env_set(env, "SLURM_TRES_BIND", tres_bind);
}

static void set_node(struct env *env, const struct step_order *order, uint32_t cpus,
                     uint32_t node_index) {
    env_set(env, "SLURM_CLUSTER_NAME", order->cluster);
    env_set(env, "SLURM_CONF", order->conf_path);
    env_set(env, "SLURMD_NODENAME", order->node_name);
    bool tree = order->topology_addr != NULL;
    env_set(env, "SLURM_TOPOLOGY_ADDR", tree ? order->topology_addr : order->node_name);
    env_set(env, "SLURM_TOPOLOGY_ADDR_PATTERN", tree ? order->topology_pattern : "node");
    env_set_u64(env, "SLURM_NODEID", node_index);
    env_set_u64(env, "SLURM_CPUS_ON_NODE", cpus);
    if (!env_get(env, "SLURM_PRIO_PROCESS")) /* the nice value where it was submitted */
        env_set(env, "SLURM_PRIO_PROCESS", "0");
    if (!env_get(env, "TMPDIR"))
        env_set(env, "TMPDIR", "/tmp");
}

/* An outer job's variables that describe a shape which this job need not have. */
static const char *const stale_names[] = {
    "SLURM_STEP_ID",           "SLURM_STEPID",         "SLURM_STEP_NODELIST",
    "SLURM_STEP_NUM_NODES",    "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE",
    "SLURM_STEP_GPUS",         "SLURM_RESTART_COUNT",  "SLURM_JOB_RESERVATION",
    "SLURM_ARRAY_JOB_ID",      "SLURM_ARRAY_TASK_ID",  "SLURM_ARRAY_TASK_COUNT",
    "SLURM_ARRAY_TASK_MIN",    "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP",
    "JOB_ARRAY_TASK_ID",       "SLURM_NTASKS",         "SLURM_NPROCS",
    "SLURM_NTASKS_PER_NODE",   "SLURM_CPUS_PER_TASK",  "SLURM_MEM_PER_NODE",
    "SLURM_MEM_PER_CPU",       "SLURM_MEM_PER_GPU",    "SLURM_UMASK",
    "SLURM_DISTRIBUTION",      "SLURM_LABELIO",        "SLURM_PROFILE",
    "SLURM_JOB_DEPENDENCY",    "SLURM_JOB_LICENSES",   "SLURM_NTASKS_PER_CORE",
    "SLURM_NTASKS_PER_SOCKET", "SLURM_OVERCOMMIT",     "SLURM_JOB_END_TIME",
    "SLURM_OOM_KILL_STEP",
};

/* A job that asked for no memory is told the default that it got. */
static void set_memory(struct env *env, const struct step_order *order, const struct job *job) {
    if (job->mem_per_node != UNSET64 || job->mem_per_cpu != UNSET64 || job->mem_per_gpu != UNSET64)
        return;
    if (order->def_mem_per_cpu != UNSET64 && order->def_mem_per_cpu > 0)
        env_set_u64(env, "SLURM_MEM_PER_CPU", order->def_mem_per_cpu);
    else if (order->def_mem_per_node != UNSET64 && order->def_mem_per_node > 0)
        env_set_u64(env, "SLURM_MEM_PER_NODE", order->def_mem_per_node);
}

static void set_own(void *env, const char *name, const char *value) {
    env_set(env, name, value);
}

static void set_components(struct env *env, const struct launch *launch) {
    if (launch->components.n > 0)
        het_env_each(launch->components.items, launch->components.n, false, set_own, env);
}

void job_env_batch(struct env *env, const struct step_order *order, const struct launch *launch,
                   const struct job_node *node) {
    const struct job *job = launch->job;

    for (size_t i = 0; i < countof(stale_names); i++)
        env_unset(env, stale_names[i]);
    copy_rows(env, job, job_rows, countof(job_rows));
    set_array(env, job->array_job_id, job->array_task_id, job->array_all, job->array_spec);
    if (job->ntasks || job->ntasks_per_node || job->ntasks_per_core || job->ntasks_per_socket ||
        job->ntasks_per_gpu) {
        uint32_t ntasks = job->ntasks ? job->ntasks : job->ntasks_total;
        env_set_u64(env, "SLURM_NTASKS", ntasks);
        env_set_u64(env, "SLURM_NPROCS", ntasks);
    }
    if (job->overcommit)
        env_set(env, "SLURM_OVERCOMMIT", "1");
    set_memory(env, order, job);
    if (job->oom_kill_step != UNSET32)
        env_set_u64(env, "SLURM_OOM_KILL_STEP", job->oom_kill_step);
    if (job->distribution_text) { /* "plane=4": the size has a variable of its own */
        cleanup_free char *name =
            xstrndup(job->distribution_text, strcspn(job->distribution_text, "="));
        env_set(env, "SLURM_DISTRIBUTION", name);
    }
    set_components(env, launch);
    env_set(env, "SLURM_JOB_CPUS_PER_NODE", launch->job_cpus_per_node);
    env_set(env, "SLURM_TASKS_PER_NODE", launch->tasks_per_node);
    set_binding(env, job->tres_bind);
    set_gpu_request(env, "SLURM_GPUS", job->tres_per_job);
    set_gpu_request(env, "SLURM_GPUS_PER_SOCKET", job->tres_per_socket);
    set_gpu_request(env, "SLURM_GPUS_PER_TASK", job->tres_per_task);
    if (!env_get(env, "SLURM_SUBMIT_DIR"))
        env_set(env, "SLURM_SUBMIT_DIR", job->work_dir);
    if (!env_get(env, "SLURM_SUBMIT_HOST"))
        env_set(env, "SLURM_SUBMIT_HOST", job->alloc_node);
    set_node(env, order, node ? node->cpus : job->num_cpus, 0);
    set_gpus(env, order, node ? node->gres : NULL, "SLURM_JOB_GPUS");
    env_set(env, "SLURM_PROCID", "0");
    env_set(env, "SLURM_LOCALID", "0");
    env_set(env, "SLURM_GTIDS", "0");
    env_set(env, "ENVIRONMENT", "BATCH");
    env_set(env, "HOSTNAME", order->node_name);
    if (!env_get(env, "USER"))
        env_set(env, "USER", order->user_name);
    if (!env_get(env, "LOGNAME"))
        env_set(env, "LOGNAME", order->user_name);
    if (!env_get(env, "HOME"))
        env_set(env, "HOME", order->home);
    if (!env_get(env, "SHELL"))
        env_set(env, "SHELL", order->shell);
}

void job_env_step(struct env *env, const struct step_order *order, const struct step_launch *launch,
                  const struct step_node *node, uint32_t node_index) {
    const struct step_layout *layout = launch->layout;
    const struct step_credential *credential = order->credential;
    char mask[8];

    copy_rows(env, layout, layout_rows, countof(layout_rows));
    for (size_t i = 0; i < countof(size_rows); i++) {
        if (!launch->preserve_env || !env_get(env, size_rows[i].name))
            copy_rows(env, layout, &size_rows[i], 1);
    }
    if (layout->het_job_id) {
        env_set_u64(env, "SLURM_JOB_ID", layout->het_job_id);
        env_set_u64(env, "SLURM_JOBID", layout->het_job_id);
    }
    set_array(env, layout->array_job_id, layout->array_task_id, NULL, NULL);
    env_set_u64(env, "SLURM_JOB_UID", credential->uid);
    env_set_u64(env, "SLURM_JOB_GID", credential->gid);
    env_set_u64(env, "SLURM_STEP_NUM_NODES", layout->nodes.n);
    set_node(env, order, node->cpus, node_index);
    if (!env_get(env, "SLURM_JOB_GPUS") && credential->job_gres)
        set_gpus(env, order, credential->job_gres, "SLURM_JOB_GPUS");
    set_gpus(env, order, node->gres, "SLURM_STEP_GPUS");
    set_number_list(env, "SLURM_GTIDS", node->ranks.items, node->ranks.n);
    snprintf(mask, sizeof(mask), "%04o", launch->umask & 07777u);
    env_set(env, "SLURM_UMASK", mask);
    if (launch->label)
        env_set(env, "SLURM_LABELIO", "1");
    if (launch->mpi)
        env_set(env, "SLURM_MPI_TYPE", launch->mpi);
    env_unset(env, "ENVIRONMENT");
}

/* Numbers of a list in a variable; nothing where it is not set. */
static size_t read_numbers(const struct env *env, const char *name, uint32_t *numbers, size_t max) {
    const char *text = env_get(env, name);
    cleanup_free char *copy = xstrdup(text ? text : "");
    char *cursor = copy;
    size_t n = 0;

    for (char *word; n < max && (word = str_next_word(&cursor, ",")) != NULL;) {
        uint64_t number;
        if (str_to_u64(word, &number) && number <= UINT32_MAX)
            numbers[n++] = (uint32_t) number;
    }
    return n;
}

/* Of a list in a variable only those that stand where a GPU of the task does among all of them. */
static void keep_numbers(struct env *env, const char *name, const bool *keep, size_t n) {
    uint32_t numbers[GPUS_MAX];
    size_t left = 0;

    if (read_numbers(env, name, numbers, GPUS_MAX) != n)
        return;
    for (size_t i = 0; i < n; i++)
        if (keep[i])
            numbers[left++] = numbers[i];
    set_number_list(env, name, numbers, left);
}

static void bind_gpus(struct env *env, const char *bind, uint32_t local_id) {
    uint32_t all[GPUS_MAX], picked[GPUS_MAX];
    bool keep[GPUS_MAX] = {false};
    size_t n = 0;

    for (size_t i = 0; n == 0 && i < GPU_VISIBLE_NAMES; i++)
        n = read_numbers(env, gpu_visible_names[i], all, GPUS_MAX);
    if (!bind || n == 0 || !env_get(env, "SLURM_GPUS_ON_NODE"))
        return;
    memcpy(picked, all, n * sizeof(*all));
    size_t n_picked = gpu_bind_pick(bind, local_id, picked, n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_picked; k++)
            keep[i] |= all[i] == picked[k];
    for (size_t i = 0; i < GPU_VISIBLE_NAMES; i++)
        keep_numbers(env, gpu_visible_names[i], keep, n);
    keep_numbers(env, "SLURM_STEP_GPUS", keep, n);
}

void job_env_task(struct env *env, const char *gpu_bind, uint32_t rank, uint32_t local_id) {
    env_set_u64(env, "SLURM_PROCID", rank);
    env_set_u64(env, "SLURM_LOCALID", local_id);
    bind_gpus(env, gpu_bind, local_id);
}
