/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs of the job, of nodes, tasks and sockets: what follows from two of them, and what contradicts
 * itself. What a step inherits from its job by variables is not looked at.
 */
#include <strings.h>

#include "base/alloc.h"
#include "cli/options.h"
#include "text/tres.h"

static uint64_t sum_gpus(const struct gres_list *list) {
    uint64_t sum = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (str_equal_nocase(list->items[i].name, "gpu"))
            sum += min_of(list->items[i].count, (uint64_t) INT32_MAX);
    }
    return sum;
}

static uint64_t count_gpus(const char *text) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    return text && gpus_parse(text, &list, NULL) == 0 ? sum_gpus(&list) : 0;
}

static uint64_t count_gres_gpus(const char *text) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    return text && gres_parse(text, &list, NULL) == 0 ? sum_gpus(&list) : 0;
}

void options_tasks_of_gpus(struct options *options) {
    struct job_request *job = &options->job;
    uint32_t each = job->ntasks_per_gpu;
    if (!each)
        return;
    uint64_t gpus = count_gpus(options->gpus);
    if (!gpus)
        gpus = count_gpus(options->gpus_per_node) * max_of(job->min_nodes, 1u);
    if (gpus && !job->ntasks)
        job->ntasks = (uint32_t) min_of(gpus * each, (uint64_t) INT32_MAX);
    else if (!gpus && job->ntasks && !options->gpus && !options->gres)
        options->gpus = xasprintf("%u", (job->ntasks - 1) / each + 1);
}

struct counts {
    uint64_t job, node, task;
};

/* Behind what is wrong stands the reason that scripts match. */
static int invalid(struct options *options, int rc) {
    return rc < 0 ? option_bad(options, 1, "%s", error_text(ERR_INVALID_GRES)) : rc;
}

static int check_tasks_of_job(struct options *options, const struct counts *gpus) {
    struct job_request *job = &options->job;
    if (gpus->job % gpus->task != 0)
        return invalid(options, option_bad(options, 1,
                                           "Failed to validate job spec, --gpus not multiple of "
                                           "--gpus-per-task"));
    uint64_t tasks = gpus->job / gpus->task;
    if (options_given(options, OPT_ntasks) && job->ntasks != tasks)
        return invalid(options, option_bad(options, 1,
                                           "Failed to validate job spec. Based on --gpus and "
                                           "--gpus-per-task number of requested tasks differ from "
                                           "-n/--ntasks."));
    if (job->ntasks == 0)
        job->ntasks = (uint32_t) min_of(tasks, (uint64_t) INT32_MAX);
    return 0;
}

static int check_nodes_of_job(struct options *options, const struct counts *gpus) {
    struct job_request *job = &options->job;
    if (gpus->job % gpus->node != 0)
        return invalid(options, option_bad(options, 1,
                                           "Failed to validate job spec, --gpus not multiple of "
                                           "--gres=gpu/--gpus-per-node"));
    uint32_t nodes = (uint32_t) min_of(gpus->job / gpus->node, (uint64_t) INT32_MAX);
    uint32_t least = job->min_nodes, most = job->max_nodes ? job->max_nodes : job->min_nodes;
    if (least > 0 && (nodes < least || nodes > most))
        return invalid(options,
                       option_bad(options, 1,
                                  "Failed to validate job spec. Based on --gpu and "
                                  "--gres=gpu/--gpus-per-node required nodes (%u) doesn't fall "
                                  "between min_nodes (%u) and max_nodes (%u) boundaries.",
                                  nodes, least, most));
    job->min_nodes = job->max_nodes = nodes;
    string_set(&job->node_counts, NULL);
    return 0;
}

/* So many GPUs of a node are so many tasks there. */
static int check_tasks_of_node(struct options *options, const struct counts *gpus) {
    struct job_request *job = &options->job;
    if (gpus->node % gpus->task != 0)
        return invalid(options, option_bad(options, 1,
                                           "Failed to validate job spec, --gpus-per-node not "
                                           "multiple of --gpus-per-task"));
    uint64_t each = min_of(gpus->node / gpus->task, (uint64_t) INT32_MAX);
    if (job->ntasks_per_node == 0)
        job->ntasks_per_node = (uint32_t) each;
    if (job->ntasks > 0 && job->min_nodes == 0)
        job->min_nodes = (uint32_t) ((job->ntasks + each - 1) / each);
    return 0;
}

static bool inherited(const struct options *options, enum option_id id) {
    return options->command == OPTION_SRUN && options->origin[id] == OPTION_ENVIRONMENT;
}

static int check_counts(struct options *options) {
    struct counts gpus = {count_gpus(options->gpus), count_gpus(options->gpus_per_node),
                          count_gpus(options->gpus_per_task)};
    if (gpus.node == 0)
        gpus.node = count_gres_gpus(options->gres);
    if (inherited(options, OPT_gpus))
        gpus.job = 0;
    if (inherited(options, OPT_gpus_per_node) || inherited(options, OPT_gres))
        gpus.node = 0;
    if (inherited(options, OPT_gpus_per_task))
        gpus.task = 0;
    int rc = 0;
    if (gpus.job > 0 && gpus.task > 0)
        rc = check_tasks_of_job(options, &gpus);
    if (rc == 0 && gpus.job > 0 && gpus.node > 0)
        rc = check_nodes_of_job(options, &gpus);
    if (rc == 0 && gpus.node > 0 && gpus.task > 0 && options->job.ntasks > 0)
        rc = check_tasks_of_node(options, &gpus);
    return rc;
}

int options_check_gpus(struct options *options) {
    const struct job_request *job = &options->job;
    if (options->gpus_per_socket && !job->sockets_per_node)
        return invalid(options, option_bad(options, 1,
                                           "--gpus-per-socket option requires --sockets-per-node "
                                           "specification"));
    if (options->gpus_per_task && !options->gpus && !job->ntasks && !job->ntasks_per_node &&
        !options_given(options, OPT_nodes))
        return invalid(options, option_bad(options, 1,
                                           "Failed to validate job spec. --gpus-per-task used "
                                           "without either --gpus or -n/--ntasks is not allowed."));
    if (job->cpus_per_gpu && job->cpus_per_task)
        return invalid(
            options,
            option_bad(options, 1, "--cpus-per-gpu is mutually exclusive with --cpus-per-task"));
    return check_counts(options);
}
