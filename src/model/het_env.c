/* SPDX-License-Identifier: Apache-2.0 */
#include "model/het_env.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

struct group {
    struct str *out;
    size_t index;
};

static void put(const struct group *group, const char *name, const char *value) {
    static const char *const kinds[] = {"HET", "PACK"};
    if (value == NULL || *value == '\0')
        return;
    for (size_t i = 0; i < countof(kinds); i++) {
        str_printf(group->out, "%s_%s_GROUP_%zu=%s", name, kinds[i], group->index, value);
        str_append_char(group->out, '\0');
    }
}

static void put_number(const struct group *group, const char *name, uint64_t value) {
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    put(group, name, text);
}

static void put_memory(const struct group *group, const struct job *job) {
    if (job->mem_per_node != UNSET64)
        put_number(group, "SLURM_MEM_PER_NODE", job->mem_per_node);
    if (job->mem_per_cpu != UNSET64)
        put_number(group, "SLURM_MEM_PER_CPU", job->mem_per_cpu);
    if (job->mem_per_gpu != UNSET64)
        put_number(group, "SLURM_MEM_PER_GPU", job->mem_per_gpu);
}

static void put_tasks(const struct group *group, const struct job *job) {
    uint32_t n = job->allocation.n;
    cleanup_free uint32_t *tasks = xcalloc(n + 1, sizeof(*tasks));
    struct str cpus cleanup_str = STR_INIT, text cleanup_str = STR_INIT;
    for (uint32_t i = 0; i < n; i++)
        tasks[i] = job->allocation.items[i].ntasks;
    job_cpus_per_node(job, &cpus);
    counted_list_print(tasks, n, &text);
    put(group, "SLURM_JOB_CPUS_PER_NODE", str_cstr(&cpus));
    put(group, "SLURM_TASKS_PER_NODE", str_cstr(&text));
    if (job->ntasks || job->ntasks_per_node || job->ntasks_per_core || job->ntasks_per_socket ||
        job->ntasks_per_gpu) {
        uint32_t ntasks = job->ntasks ? job->ntasks : job->ntasks_total;
        put_number(group, "SLURM_NTASKS", ntasks);
        put_number(group, "SLURM_NPROCS", ntasks);
    }
    if (job->cpus_per_task)
        put_number(group, "SLURM_CPUS_PER_TASK", job->cpus_per_task);
    if (job->ntasks_per_node)
        put_number(group, "SLURM_NTASKS_PER_NODE", job->ntasks_per_node);
}

static void put_component(const struct group *group, const struct job *job, bool interactive) {
    put_number(group, "SLURM_JOB_ID", job->job_id);
    put(group, "SLURM_JOB_NAME", job->name);
    put(group, "SLURM_JOB_NODELIST", job->nodes);
    put_number(group, "SLURM_JOB_NUM_NODES", job->num_nodes);
    put(group, "SLURM_JOB_PARTITION", job->partition);
    put(group, "SLURM_JOB_ACCOUNT", job->account);
    put(group, "SLURM_JOB_QOS", job->qos);
    put(group, "SLURM_JOB_RESERVATION", job->reservation);
    put_tasks(group, job);
    put_memory(group, job);
    if (!interactive)
        return;
    put_number(group, "SLURM_JOBID", job->job_id);
    put(group, "SLURM_NODELIST", job->nodes);
    put_number(group, "SLURM_NNODES", job->num_nodes);
}

void het_env_print(const struct job *components, size_t n, bool interactive, struct str *out) {
    str_printf(out, "SLURM_HET_SIZE=%zu", n);
    str_append_char(out, '\0');
    str_printf(out, "SLURM_PACK_SIZE=%zu", n);
    str_append_char(out, '\0');
    for (size_t i = 0; i < n; i++)
        put_component(&(struct group) {out, i}, &components[i], interactive);
}

void het_env_each(const struct job *components, size_t n, bool interactive,
                  void (*set)(void *context, const char *name, const char *value), void *context) {
    struct str block cleanup_str = STR_INIT;
    het_env_print(components, n, interactive, &block);
    for (size_t at = 0; at < block.length;) {
        char *name = block.data + at, *equals = strchr(name, '=');
        at += strlen(name) + 1;
        *equals = '\0';
        set(context, name, equals + 1);
    }
}
