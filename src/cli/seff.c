/* SPDX-License-Identifier: Apache-2.0 */
/* How well a job has used what it had. */
#include "cli/seff.h"

#include <string.h>

#include "base/alloc.h"
#include "cli/columns_acct.h"
#include "cli/gpus.h"
#include "model/advice.h"
#include "model/usage.h"
#include "text/duration.h"
#include "text/size.h"

/* Shorter runs tell nothing about time and CPUs. */
#define TELLING_SECONDS 10
/* Looks at GPUs that tell something. */
#define TELLING_LOOKS 5
#define IDLE_GPU_PERCENT 10

/* What was used and what there was. Of several jobs (tasks of an array): sums of times, the highest
 * of the rest. */
struct seff {
    const struct job *job; /* the first one */
    uint32_t n_jobs;
    bool any_runs, any_ran;
    uint64_t cpu_usec;     /* used */
    uint64_t core_seconds; /* had */
    uint64_t wall_seconds; /* of the longest */
    uint64_t mem_kib;      /* used at one time, of the highest */
    uint64_t node_mem_kib; /* likewise, on one node */
    uint64_t asked_mib;    /* memory that it asked for, 0 = all of its nodes */
    uint32_t ntasks;       /* of the largest step */
    bool is_estimate;      /* sums of peaks that need not have come at one time */
    uint64_t gpu_percent;  /* sum over looks */
    uint32_t gpu_looks, n_gpus;
    uint64_t gpu_mem_mib;
};

/* ---- memory ---- */

static bool steps_overlap_at(const struct step *step, int64_t time, int64_t now) {
    int64_t end = step->end_time ? step->end_time : now;
    return step->start_time <= time && end >= time;
}

/* The most tasks of a step on one of its nodes: "2(x3),1". */
static uint32_t most_tasks(const struct step *step) {
    uint32_t most = 0;
    words_each (step->tasks_per_node, ",", word) {
        uint64_t n = 0;
        word[strcspn(word, "(")] = '\0';
        if (str_to_u64(word, &n))
            most = max_of(most, (uint32_t) n);
    }
    return most ? most : max_of(step->ntasks, 1u);
}

/* Peaks of the tasks of those steps that ran together when one of them began. On one node: as many
 * of the largest task as the step had there, and no more than all. */
static void memory_add(struct seff *sum, const struct acct_job *acct, int64_t now) {
    for (uint32_t i = 0; i < acct->steps.n; i++) {
        uint64_t all = 0, node = 0;
        uint32_t n = 0;
        for (uint32_t k = 0; k < acct->steps.n; k++) {
            const struct step *step = &acct->steps.items[k];
            const struct usage_measure *rss = usage_measure(step->usage, USAGE_RSS);
            if (!rss || !steps_overlap_at(step, acct->steps.items[i].start_time, now))
                continue;
            all += rss->sum;
            node += min_of(rss->sum, rss->max * most_tasks(step));
            n += max_of(step->ntasks, 1u);
        }
        if (all > sum->mem_kib) {
            sum->mem_kib = all;
            sum->is_estimate = n > 1;
        }
        sum->node_mem_kib = max_of(sum->node_mem_kib, node);
    }
}

/* ---- adding up ---- */

static bool has_run(const struct job *job) {
    return job->nodes && *job->nodes && job->start_time > 0 && job->state != JOB_PENDING;
}

static void seff_add(struct seff *sum, const struct acct_job *acct, int64_t now) {
    const struct job *job = acct->job;
    const struct acct_row row = {acct, job, NULL};
    uint64_t user, system;
    if (sum->n_jobs++ == 0)
        sum->job = job;
    if (!has_run(job))
        return;
    sum->any_ran = true;
    sum->any_runs |= !job_state_is_final(job->state);
    uint64_t elapsed = (uint64_t) acct_elapsed(&row, now);
    acct_cpu_usec(&row, &user, &system);
    sum->cpu_usec += user + system;
    sum->core_seconds += elapsed * job->num_cpus;
    sum->wall_seconds = max_of(sum->wall_seconds, elapsed);
    for (uint32_t i = 0; i < acct->steps.n; i++)
        sum->ntasks = max_of(sum->ntasks, acct->steps.items[i].ntasks);
    memory_add(sum, acct, now);
    sum->asked_mib = max_of(sum->asked_mib, acct_memory(job->tres_alloc));
    sum->gpu_percent += job->gpu_percent_sum;
    sum->gpu_looks += job->gpu_looks;
    sum->gpu_mem_mib = max_of(sum->gpu_mem_mib, job->gpu_mem_max);
    sum->n_gpus = max_of(sum->n_gpus, (uint32_t) gpus_in_tres(job->tres_alloc));
}

/* ---- lines ---- */

/* "102.99 MB", "80.00 GB": in the largest unit of which there is one. */
static void size_print(uint64_t kib, struct str *out) {
    static const char *const units[] = {"KB", "MB", "GB", "TB", "PB"};
    double value = (double) kib;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < countof(units)) {
        value /= 1024;
        unit++;
    }
    str_printf(out, "%.2f %s", value, units[unit]);
}

static void share_print(double part, double whole, struct str *out) {
    str_printf(out, "%.2f%%", whole > 0 ? 100 * part / whole : 0.0);
}

static void states_print(const struct rows *rows, struct str *out) {
    uint32_t counts[64] = {0};
    for (size_t i = 0; i < rows->n; i++) {
        const struct acct_job *acct = rows->items[i];
        counts[acct->job->state % countof(counts)]++;
    }
    const char *separator = "";
    for (uint32_t state = 0; state < countof(counts); state++) {
        const char *name = names_text(&names_job_state, state);
        if (counts[state] == 0)
            continue;
        str_printf(out, "%s%u %s", separator, counts[state], name ? name : "UNKNOWN");
        separator = ", ";
    }
}

static void identity_print(const struct rows *rows, const struct seff *sum,
                           const struct column_env *env, struct str *out) {
    const struct job *job = sum->job;
    const char *cluster = job->cluster ? job->cluster : env->cluster;
    uint32_t id = rows->n > 1 && job->array_job_id ? job->array_job_id : job->job_id;
    str_printf(out, "Job ID: %u\n", id);
    if (job->array_job_id && rows->n > 1)
        str_printf(out, "Array Job ID: %u (%zu tasks)\n", job->array_job_id, rows->n);
    else if (job->array_job_id && job->array_task_id != UNSET32)
        str_printf(out, "Array Job ID: %u_%u\n", job->array_job_id, job->array_task_id);
    str_printf(out, "Cluster: %s\nUser/Group: %s/%s\nState: ", cluster ? cluster : "",
               job->user_name ? job->user_name : "", job->group_name ? job->group_name : "");
    if (rows->n > 1)
        states_print(rows, out);
    else
        str_append(out, job_state_text(job->state, 0));
    if (rows->n == 1 && job_state_is_final(job->state))
        str_printf(out, " (exit code %u)", (job_accounted_exit(job) >> 8) & 0xff);
    str_append_char(out, '\n');
}

static void cores_print(const struct seff *sum, struct str *out) {
    const struct job *job = sum->job;
    if (job->num_cpus <= 1)
        str_printf(out, "Cores: %u\n", job->num_cpus);
    else
        str_printf(out, "Nodes: %u\nCores per node: %u\n", job->num_nodes,
                   job->num_cpus / max_of(job->num_nodes, 1u));
}

static void times_print(const struct seff *sum, struct str *out) {
    str_append(out, "CPU Utilized: ");
    duration_print_long((int64_t) (sum->cpu_usec / 1000000), out);
    str_append(out, "\nCPU Efficiency: ");
    share_print((double) sum->cpu_usec / 1e6, (double) sum->core_seconds, out);
    str_append(out, " of ");
    duration_print_long((int64_t) sum->core_seconds, out);
    str_append(out, " core-walltime\nJob Wall-clock time: ");
    duration_print_long((int64_t) sum->wall_seconds, out);
    str_append(out, sum->n_jobs > 1 ? " (longest)\n" : "\n");
}

static void memory_print(const struct seff *sum, struct str *out) {
    const struct job *job = sum->job;
    bool per_core = job->mem_per_cpu != UNSET64;
    str_append(out, "Memory Utilized: ");
    size_print(sum->mem_kib, out);
    str_append(out, sum->is_estimate ? " (estimated maximum)\n" : "\n");
    if (sum->asked_mib == 0)
        return;
    uint64_t parts = per_core ? job->num_cpus : job->num_nodes;
    str_append(out, "Memory Efficiency: ");
    share_print((double) sum->mem_kib, (double) sum->asked_mib * 1024, out);
    str_append(out, " of ");
    size_print(sum->asked_mib * 1024, out);
    str_append(out, " (");
    size_print(sum->asked_mib * 1024 / max_of(parts, (uint64_t) 1), out);
    str_append(out, per_core ? "/core)\n" : "/node)\n");
}

static void gpus_print(const struct seff *sum, struct str *out) {
    if (sum->n_gpus == 0)
        return;
    if (sum->gpu_looks == 0) {
        str_printf(out, "GPU Efficiency: not measured (%u GPU%s)\n", sum->n_gpus,
                   sum->n_gpus > 1 ? "s" : "");
        return;
    }
    str_append(out, "GPU Efficiency: ");
    share_print((double) sum->gpu_percent, (double) sum->gpu_looks * 100, out);
    str_printf(out, " of %u GPU%s\nGPU Memory Utilized: ", sum->n_gpus, sum->n_gpus > 1 ? "s" : "");
    size_print(sum->gpu_mem_mib * 1024, out);
    str_append(out, sum->n_gpus > 1 ? " (the highest of one)\n" : "\n");
}

/* ---- advice ---- */

static void memory_advise(const struct seff *sum, struct str *out) {
    const struct job *job = sum->job;
    bool per_core = job->mem_per_cpu != UNSET64;
    uint64_t parts = max_of(per_core ? job->num_cpus : job->num_nodes, 1u);
    uint64_t asked = sum->asked_mib / parts;
    uint64_t used = per_core ? sum->mem_kib / 1024 / parts : sum->node_mem_kib / 1024;
    uint64_t enough = advice_memory(used);
    if (job->state == JOB_OUT_OF_MEMORY) {
        enough = advice_memory(asked + asked / 4);
        str_append(out, "Advice: it ran out of memory: ");
    } else if (sum->mem_kib > 0 && enough * 2 <= asked) {
        str_append(out, "Advice: less memory would do: ");
    } else {
        return;
    }
    str_append(out, per_core ? "--mem-per-cpu=" : "--mem=");
    mem_print(enough, enough % 1024 == 0, out);
    str_append_char(out, '\n');
}

static void cpus_advise(const struct seff *sum, struct str *out) {
    const struct job *job = sum->job;
    uint32_t tasks = max_of(sum->ntasks, 1u), had = job->num_cpus / tasks;
    if (sum->wall_seconds < TELLING_SECONDS || had <= 1 || sum->core_seconds == 0)
        return;
    /* Of tasks that idle each in part, so many CPUs were at work. */
    uint64_t busy_tenths = sum->cpu_usec / 100000 * had / sum->core_seconds;
    uint32_t enough = (uint32_t) max_of((busy_tenths * 11 / 10 + 9) / 10, (uint64_t) 1);
    if (enough * 2 <= had)
        str_printf(out, "Advice: fewer CPUs would do: --cpus-per-task=%u\n", enough);
}

static void time_advise(const struct seff *sum, struct str *out) {
    const struct job *job = sum->job;
    uint32_t enough = advice_minutes(sum->wall_seconds);
    if (job->state == JOB_TIMEOUT && job->time_limit < MINUTES_INFINITE) {
        enough = advice_minutes((uint64_t) job->time_limit * 90);
        str_append(out, "Advice: its limit has ended it: --time=");
    } else if (advice_time_is_far(job->time_limit, enough)) {
        str_append(out, "Advice: a shorter limit starts sooner: --time=");
    } else {
        return;
    }
    minutes_print_long(enough, "", out);
    str_append_char(out, '\n');
}

static void gpus_advise(const struct seff *sum, struct str *out) {
    if (sum->n_gpus == 0 || sum->gpu_looks < TELLING_LOOKS)
        return;
    uint64_t percent = sum->gpu_percent / sum->gpu_looks;
    if (percent < IDLE_GPU_PERCENT)
        str_printf(out, "Advice: %s did next to nothing; does the program use %s?\n",
                   sum->n_gpus > 1 ? "the GPUs" : "the GPU", sum->n_gpus > 1 ? "them" : "it");
}

/* What has failed or was cancelled may have stopped before it needed most. */
static bool is_telling(uint32_t state) {
    return state == JOB_COMPLETED || state == JOB_TIMEOUT || state == JOB_OUT_OF_MEMORY;
}

void seff_print(const struct rows *rows, const struct column_env *env, bool debug,
                struct str *out) {
    struct seff sum = {0};
    for (size_t i = 0; i < rows->n; i++)
        seff_add(&sum, rows->items[i], env->now);
    const struct job *job = sum.job;
    if (debug)
        str_printf(out,
                   "Slurm data: JobID ArrayJobID User Group State Clustername Ncpus Nnodes Ntasks "
                   "Reqmem PerNode Cput Walltime Mem ExitStatus\nSlurm data: %u %u %s %s %s %s %u "
                   "%u %u %llu %u %llu %llu %llu %u\n",
                   job->job_id, job->array_job_id, job->user_name ? job->user_name : "",
                   job->group_name ? job->group_name : "", job_state_text(job->state, 0),
                   env->cluster ? env->cluster : "", job->num_cpus, job->num_nodes, sum.ntasks,
                   (unsigned long long) sum.asked_mib * 1024, job->mem_per_cpu == UNSET64,
                   (unsigned long long) (sum.cpu_usec / 1000000),
                   (unsigned long long) sum.wall_seconds, (unsigned long long) sum.mem_kib,
                   (job_accounted_exit(job) >> 8) & 0xff);
    identity_print(rows, &sum, env, out);
    if (!sum.any_ran) {
        str_printf(out, "Efficiency not available for jobs in the %s state.\n",
                   job_state_text(job->state, 0));
        return;
    }
    cores_print(&sum, out);
    times_print(&sum, out);
    memory_print(&sum, out);
    gpus_print(&sum, out);
    if (sum.any_runs) {
        str_append(out, "WARNING: Efficiency statistics may be misleading for RUNNING jobs.\n");
        return;
    }
    if (is_telling(job->state)) {
        memory_advise(&sum, out);
        cpus_advise(&sum, out);
        time_advise(&sum, out);
    }
    gpus_advise(&sum, out);
}
