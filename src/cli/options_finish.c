/* SPDX-License-Identifier: Apache-2.0 */
/* What can be decided only when all options are known: conflicts, task counts, TRES texts. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cli/options.h"
#include "text/tres.h"

static void warn(struct options *options, const char *fmt, ...) printf_like(2, 3);
static void warn(struct options *options, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    str_vprintf(&options->warnings, fmt, args);
    va_end(args);
    str_append_char(&options->warnings, '\n');
}

/* ---- memory: one of three ---- */

static const enum option_id memory_options[] = {OPT_mem, OPT_mem_per_cpu, OPT_mem_per_gpu};

static uint64_t *memory_member(struct options *options, size_t i) {
    uint64_t *members[] = {&options->job.mem_per_node, &options->job.mem_per_cpu,
                           &options->job.mem_per_gpu};
    return members[i];
}

/* What stands in the script and on the command line contradicts itself; a variable from the
 * environment only stands in for what these leave open. */
static int check_memory(struct options *options) {
    unsigned written = 0, variables = 0;
    for (size_t i = 0; i < countof(memory_options); i++) {
        uint8_t origin = options->origin[memory_options[i]];
        written += origin == OPTION_SCRIPT || origin == OPTION_LINE;
        variables += origin == OPTION_ENVIRONMENT;
    }
    options->problem.fatal = written > 1 || variables > 1;
    if (written > 1)
        return option_bad(options, 1,
                          "--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
    if (variables > 1)
        return option_bad(options, 1,
                          "SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and "
                          "SLURM_MEM_PER_NODE are mutually exclusive.");
    if (written + variables < 2)
        return 0;
    bool line = false;
    for (size_t i = 0; i < countof(memory_options); i++)
        line |= options->origin[memory_options[i]] == OPTION_LINE;
    /* The variable wins over the script and loses against the command line. */
    enum option_origin loser = line ? OPTION_ENVIRONMENT : OPTION_SCRIPT;
    for (size_t i = 0; i < countof(memory_options); i++)
        if (options->origin[memory_options[i]] == loser) {
            *memory_member(options, i) = UNSET64;
            options->origin[memory_options[i]] = OPTION_UNSET;
        }
    return 0;
}

/* ---- nodes and tasks ---- */

static int check_nodes(struct options *options) {
    struct job_request *job = &options->job;
    if (options->n_required_hosts > job->min_nodes && job->distribution != DIST_ARBITRARY) {
        if (job->max_nodes && options->n_required_hosts > job->max_nodes)
            return option_bad(options, 1, "invalid number of nodes (-N %u-%u)",
                              options->n_required_hosts, job->max_nodes);
        job->min_nodes = options->n_required_hosts;
    }
    if (job->distribution == DIST_ARBITRARY && !job->req_nodes)
        return option_bad(options, 1,
                          "With Arbitrary distribution you need to specify a nodelist "
                          "or hostfile with the -w option");
    return 0;
}

static void count_tasks(struct options *options) {
    struct job_request *job = &options->job;
    uint32_t nodes = max_of(job->min_nodes, 1u);
    if (job->ntasks == 0) {
        uint64_t tasks = (uint64_t) nodes * job->ntasks_per_node;
        job->ntasks = (uint32_t) min_of(tasks, (uint64_t) INT32_MAX);
        return;
    }
    if (!options_given(options, OPT_ntasks) || job->ntasks >= nodes)
        return;
    /* Fewer tasks than nodes: the others would idle. */
    if (options_given(options, OPT_nodes) || options->n_required_hosts)
        warn(options, "can't run %u processes on %u nodes, setting nnodes to %u", job->ntasks,
             nodes, job->ntasks);
    job->min_nodes = job->max_nodes = job->ntasks;
    string_set(&job->node_counts, NULL);
    if (options->n_required_hosts > job->ntasks) {
        /* Keep the first of the hosts that were named, as many as there are tasks. */
        cleanup_free char *kept = options_first_hosts(job->req_nodes, job->ntasks);
        string_set(&job->req_nodes, kept);
    }
}

/* ---- GRES and TRES ---- */

/* Appends the items of `text`, which its parser has checked, each as "gres/gpu:a100:2"; what was
 * written stays as it was. `name` is "gpu:" for options that leave the name out. */
static void append_gres(const char *text, const char *name, struct str *out) {
    if (!text || strcasecmp(text, "none") == 0)
        return;
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy;
    for (char *item; (item = str_next_word(&cursor, ",")) != NULL;) {
        if (str_starts_nocase(item, "gres:") || str_starts_nocase(item, "gres/"))
            item += strlen("gres:");
        str_printf(out, "%sgres/%s%s", out->length ? "," : "", name, item);
    }
}

/* `cpu=4,gres/gpu:a100=2,…`: CPUs are --cpus-per-task, the rest joins --gpus-per-task. */
static int split_tres_per_task(struct options *options, struct str *out) {
    if (!options->tres_per_task)
        return 0;
    cleanup_free char *copy = xstrdup(options->tres_per_task);
    char *cursor = copy;
    for (char *item; (item = str_next_word(&cursor, ",")) != NULL;) {
        if (str_starts_nocase(item, "cpu=") || str_starts_nocase(item, "cpu:")) {
            uint64_t cpus;
            if (!str_to_u64(item + 4, &cpus) || cpus == 0 || cpus > INT32_MAX)
                return option_bad(options, 255, "Invalid --tres-per-task specification");
            options->job.cpus_per_task = (uint32_t) cpus;
        } else if (str_starts_nocase(item, "gres/") || str_starts_nocase(item, "gres:")) {
            cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
            if (gres_parse(item, &list, NULL) < 0)
                return option_bad(options, 1, "%s", error_text(ERR_INVALID_GRES));
            append_gres(item, "", out);
        } else if (str_starts_nocase(item, "license/")) {
            str_join(out, ",", item);
        } else {
            return option_bad(options, 255, "Invalid --tres-per-task specification");
        }
    }
    return 0;
}

static void set_text(char **member, struct str *text) {
    if (text->length)
        string_set(member, text->data);
}

static int build_tres(struct options *options) {
    cleanup_str struct str node = STR_INIT, job = STR_INIT, task = STR_INIT, socket = STR_INIT;
    append_gres(options->gpus_per_node, "gpu:", &node);
    append_gres(options->gres, "", &node);
    append_gres(options->gpus, "gpu:", &job);
    append_gres(options->gpus_per_task, "gpu:", &task);
    append_gres(options->gpus_per_socket, "gpu:", &socket);
    int rc = split_tres_per_task(options, &task);
    if (rc < 0)
        return rc;
    set_text(&options->job.tres_per_node, &node);
    set_text(&options->job.tres_per_job, &job);
    set_text(&options->job.tres_per_task, &task);
    set_text(&options->job.tres_per_socket, &socket);
    return 0;
}

int options_finish(struct options *options) {
    int rc = check_memory(options);
    if (rc == 0)
        rc = check_nodes(options);
    options_tasks_of_gpus(options);
    if (rc == 0)
        rc = build_tres(options);
    if (rc == 0)
        rc = options_check_gpus(options);
    if (rc < 0)
        return rc;
    count_tasks(options);
    return 0;
}

/* ---- the step ---- */

/* The binding of GPUs in "gres/gpu:verbose,per_task:1+gres/shard:…", or NULL. */
static char *named_gpu_bind(const char *tres_bind) {
    static const char gpu[] = "gres/gpu:";
    cleanup_free char *copy = xstrdup(tres_bind ? tres_bind : "");
    char *cursor = copy;
    for (char *word; (word = str_next_word(&cursor, "+")) != NULL;) {
        if (str_starts_nocase(word, gpu))
            return xstrdup(word + strlen(gpu));
    }
    return NULL;
}

char *options_gpu_bind(const struct options *options) {
    const struct job_request *job = &options->job;
    char *named = named_gpu_bind(job->tres_bind);
    if (named)
        return named;
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    uint64_t each = 0;
    if (job->tres_per_task && gres_parse(job->tres_per_task, &list, NULL) == 0)
        for (size_t i = 0; i < list.n; i++)
            each += str_equal(list.items[i].name, "gpu") ? list.items[i].count : 0;
    if (each)
        return xasprintf("per_task:%" PRIu64, each);
    return job->ntasks_per_gpu ? xasprintf("single:%u", job->ntasks_per_gpu) : NULL;
}

/* The shell of an allocation is one task on its first node that sees all that the job has there,
 * whatever the variables of the allocation say about the steps to come. */
static void interactive_step(struct step_request *step) {
    step->interactive = true;
    step->ntasks = step->min_nodes = step->max_nodes = 1;
    step->cpus_per_task = step->ntasks_per_node = 0;
    step->mem_per_node = step->mem_per_cpu = step->mem_per_gpu = UNSET64;
    step->ntasks_per_core = step->ntasks_per_socket = 0;
    step->exact = false;
    step->relative = UNSET32;
    step->distribution = DIST_DEFAULT;
    string_set(&step->nodelist, NULL);
    string_set(&step->exclude, NULL);
    string_set(&step->tres_per_node, NULL);
    string_set(&step->tres_per_task, NULL);
    string_set(&step->tres_per_step, NULL);
    string_set(&step->arbitrary_hosts, NULL);
}

/* Memory of the environment is what the job got; the step has not asked for any. */
static bool memory_is_inherited(const struct options *options) {
    for (size_t i = 0; i < countof(memory_options); i++) {
        if (options->origin[memory_options[i]] == OPTION_LINE)
            return false;
    }
    return true;
}

/* Likewise the job's GPUs; those of each task are the step's own. */
static void step_gres(const struct options *options, struct step_request *step) {
    const struct job_request *job = &options->job;
    if (options->gres && strcasecmp(options->gres, "none") == 0)
        string_set(&step->tres_per_node, "none");
    else if (options_given(options, OPT_gres) || options->origin[OPT_gpus_per_node] == OPTION_LINE)
        string_set(&step->tres_per_node, job->tres_per_node);
    if (options->origin[OPT_gpus] != OPTION_ENVIRONMENT)
        string_set(&step->tres_per_step, job->tres_per_job);
    string_set(&step->tres_per_task, job->tres_per_task);
}

static bool is_packed(const char *distribution) {
    const char *flag = distribution ? strrchr(distribution, ',') : NULL;
    return flag && strcasecmp(flag, ",pack") == 0;
}

void options_step(const struct options *options, struct step_request *step) {
    const struct job_request *job = &options->job;
    record_init(&record_step_request, step);
    string_set(&step->name, job->name);
    step->min_nodes = job->min_nodes;
    step->max_nodes = job->max_nodes;
    step->ntasks = job->ntasks;
    step->cpus_per_task = job->cpus_per_task;
    step->ntasks_per_node = job->ntasks_per_node;
    step->mem_per_node = job->mem_per_node;
    step->mem_per_cpu = job->mem_per_cpu;
    step->mem_per_gpu = job->mem_per_gpu;
    step->mem_inherited = memory_is_inherited(options);
    step->ntasks_per_core = job->ntasks_per_core;
    step->ntasks_per_socket = job->ntasks_per_socket;
    step_gres(options, step);
    string_set(&step->nodelist, job->req_nodes);
    string_set(&step->exclude, job->exc_nodes);
    step->relative = options->relative;
    /* Asking for CPUs of one's own means asking for no more than these. */
    step->exact = options->exact || options_given(options, OPT_cpus_per_task) ||
                  options->origin[OPT_exclusive] != OPTION_UNSET;
    step->overlap = options->overlap;
    step->overcommit = job->overcommit;
    step->distribution = job->distribution;
    step->plane_size = job->plane_size;
    step->pack = is_packed(job->distribution_text);
    if (step->pack && options->origin[OPT_nodes] != OPTION_LINE)
        step->min_nodes = step->max_nodes = 0; /* the job's count is no wish */
    step->time_limit = job->time_limit;
    step->immediate = job->immediate != UNSET32;
    step->no_kill = job->no_kill;
    step->kill_on_bad_exit = options->kill_on_bad_exit == 1;
    string_set(&step->work_dir, job->work_dir);
    step->threads_per_core = job->threads_per_core;
    if (job->distribution == DIST_ARBITRARY)
        string_set(&step->arbitrary_hosts, job->req_nodes);
    string_set(&step->std_out, job->std_out);
    string_set(&step->std_err, job->std_err);
    string_set(&step->std_in, job->std_in);
    if (options->interactive)
        interactive_step(step);
}
