/* SPDX-License-Identifier: Apache-2.0 */
/* SLURM_JOB_… for a command beside its allocation. */
#include "cli/alloc_env.h"

#include <string.h>

#include "base/alloc.h"
#include "cli/environ.h"
#include "model/het_env.h"

static void set_text(struct str *block, const char *name, const char *value) {
    if (value && *value)
        environ_set(block, name, value);
}

static void set_number(struct str *block, const char *name, uint64_t value) {
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long) value);
    environ_set(block, name, text);
}

static void set_if(struct str *block, const char *name, uint64_t value) {
    if (value)
        set_number(block, name, value);
}

/* Counted lists over the nodes: CPUs and tasks. */
static void set_shape(const struct job *job, struct str *block) {
    size_t n = job->allocation.n;
    if (!n)
        return;
    cleanup_free uint32_t *cpus = xcalloc(n, sizeof(*cpus)), *tasks = xcalloc(n, sizeof(*tasks));
    for (size_t i = 0; i < n; i++) {
        cpus[i] = job->allocation.items[i].cpus;
        tasks[i] = job->allocation.items[i].ntasks;
    }
    cleanup_str struct str cpu_list = STR_INIT, task_list = STR_INIT;
    counted_list_print(cpus, n, &cpu_list);
    counted_list_print(tasks, n, &task_list);
    set_text(block, "SLURM_JOB_CPUS_PER_NODE", cpu_list.data);
    set_text(block, "SLURM_TASKS_PER_NODE", task_list.data);
}

static void set_identity(const struct job *job, struct str *block) {
    set_number(block, "SLURM_JOB_ID", job->job_id);
    set_number(block, "SLURM_JOBID", job->job_id);
    set_text(block, "SLURM_JOB_NAME", job->name);
    set_text(block, "SLURM_JOB_NODELIST", job->nodes);
    set_text(block, "SLURM_NODELIST", job->nodes);
    set_number(block, "SLURM_JOB_NUM_NODES", job->num_nodes);
    set_number(block, "SLURM_NNODES", job->num_nodes);
    set_text(block, "SLURM_JOB_PARTITION", job->partition);
    set_text(block, "SLURM_JOB_ACCOUNT", job->account);
    set_text(block, "SLURM_JOB_QOS", job->qos);
    set_text(block, "SLURM_JOB_RESERVATION", job->reservation);
    set_text(block, "SLURM_CLUSTER_NAME", job->cluster);
    set_if(block, "SLURM_JOB_START_TIME", (uint64_t) max_of(job->start_time, (int64_t) 0));
    set_if(block, "SLURM_JOB_END_TIME", (uint64_t) max_of(job->end_time, (int64_t) 0));
}

/* What srun inside reads again. */
static void set_request(const struct options *options, struct str *block) {
    const struct job_request *job = &options->job;
    set_if(block, "SLURM_NTASKS", job->ntasks);
    set_if(block, "SLURM_NPROCS", job->ntasks);
    set_if(block, "SLURM_NTASKS_PER_NODE", job->ntasks_per_node);
    set_if(block, "SLURM_NTASKS_PER_CORE", job->ntasks_per_core);
    set_if(block, "SLURM_NTASKS_PER_SOCKET", job->ntasks_per_socket);
    set_if(block, "SLURM_NTASKS_PER_GPU", job->ntasks_per_gpu);
    set_if(block, "SLURM_CPUS_PER_TASK", job->cpus_per_task);
    set_if(block, "SLURM_CPUS_PER_GPU", job->cpus_per_gpu);
    set_if(block, "SLURM_THREADS_PER_CORE", job->threads_per_core);
    if (job->mem_per_node != UNSET64)
        set_number(block, "SLURM_MEM_PER_NODE", job->mem_per_node);
    if (job->mem_per_cpu != UNSET64)
        set_number(block, "SLURM_MEM_PER_CPU", job->mem_per_cpu);
    if (job->mem_per_gpu != UNSET64)
        set_number(block, "SLURM_MEM_PER_GPU", job->mem_per_gpu);
    set_text(block, "SLURM_GPUS", options->gpus);
    set_text(block, "SLURM_GPUS_PER_NODE", options->gpus_per_node);
    set_text(block, "SLURM_GPUS_PER_TASK", options->gpus_per_task);
    set_text(block, "SLURM_GPUS_PER_SOCKET", options->gpus_per_socket);
    set_text(block, "SLURM_TRES_PER_TASK", options->tres_per_task);
    bool is_gpu_bind = options_given(options, OPT_gpu_bind) && job->tres_bind != NULL;
    set_text(block, is_gpu_bind ? "SLURM_GPU_BIND" : "SLURM_TRES_BIND",
             is_gpu_bind ? job->tres_bind + strlen("gres/gpu:") : job->tres_bind);
    set_text(block, "SLURM_DISTRIBUTION", job->distribution_text);
    set_text(block, "SLURM_HINT", job->hint);
    set_text(block, "SLURM_JOB_DEPENDENCY", job->dependency);
    set_if(block, "SLURM_OVERCOMMIT", job->overcommit);
}

static void set_origin(const struct options *options, struct str *block) {
    set_text(block, "SLURM_SUBMIT_DIR", options->job.work_dir);
    set_text(block, "SLURM_SUBMIT_HOST", options->job.alloc_node);
}

void alloc_env_fill(const struct job *job, const struct options *options, struct str *block) {
    set_identity(job, block);
    set_shape(job, block);
    set_request(options, block);
    set_origin(options, block);
}

/* 0 where a component was asked for without a number of tasks. */
static uint64_t tasks_of_all(const struct job *components, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (components[i].ntasks == 0)
            return 0;
        sum += components[i].ntasks;
    }
    return sum;
}

static void set_own(void *block, const char *name, const char *value) {
    environ_set(block, name, value);
}

void alloc_env_fill_components(const struct job *components, size_t n, const struct options *first,
                               struct str *block) {
    uint64_t ntasks = tasks_of_all(components, n);
    set_number(block, "SLURM_JOB_ID", components[0].job_id);
    set_number(block, "SLURM_JOBID", components[0].job_id);
    set_text(block, "SLURM_CLUSTER_NAME", components[0].cluster);
    set_if(block, "SLURM_NTASKS", ntasks);
    set_if(block, "SLURM_NPROCS", ntasks);
    set_origin(first, block);
    het_env_each(components, n, true, set_own, block);
}
