/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_packing whole|shares NODES PODS: how many of the GPUs of a cluster are given out when
 * requests come one after the other and nothing ends, under first fit, best fit and our planner.
 * NODES and PODS are the CSV files of the openb trace (alibaba/clusterdata, 2023), packed or plain.
 *
 * A fraction of a GPU is rounded up to a whole one, or (shares) counted in hundredths over the
 * whole node, as gres/mps and gres/shard do; CPUs are rounded up to whole ones. The type of a GPU
 * is not looked at. First fit takes nodes in the order of the file, best fit the one with the
 * fewest free GPUs and among equals the fewest free CPUs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "sched/sched.h"
#include "sim/lines.h"

struct size {
    int64_t cpus, mem, gpus; /* gpus: in the unit of the run */
};
typedef vec(struct size) sizes;

struct outcome {
    int64_t given, given_at_first; /* GPUs; the latter -1 until a request with GPUs fails */
    size_t n_failed;
};

static bool shares;

static int64_t field(char **cursor) {
    char *word = strsep(cursor, ",");
    return word != NULL ? strtoll(word, NULL, 10) : 0;
}

static void read_sizes(const char *path, bool requests, sizes *ret) {
    struct error err = ERROR_INIT;
    struct lines *lines;
    char *line;
    if (lines_open(path, &lines, &err) < 0) {
        fprintf(stderr, "gpu_packing: %s\n", err.text);
        exit(1);
    }
    while (lines_next(lines, &line, &err) == 1) {
        char *cursor = line;
        strsep(&cursor, ",");
        struct size size = {(field(&cursor) + (requests ? 999 : 0)) / 1000, 0, 0};
        size.mem = field(&cursor);
        size.gpus = field(&cursor);
        if (shares)
            size.gpus *= requests ? (field(&cursor) + 9) / 10 : 100;
        if (lines_number(lines) > 1)
            vec_push(ret, size);
    }
    lines_close(lines);
}

static void count(struct outcome *outcome, const struct size *request, bool placed) {
    if (placed) {
        outcome->given += request->gpus;
        return;
    }
    outcome->n_failed++;
    if (outcome->given_at_first < 0 && request->gpus > 0)
        outcome->given_at_first = outcome->given;
}

static bool is_better(const struct size *a, const struct size *b) {
    return a->gpus != b->gpus ? a->gpus < b->gpus : a->cpus < b->cpus;
}

static struct outcome run_fit(const sizes *nodes, const sizes *requests, bool best_fit) {
    struct outcome outcome = {0, -1, 0};
    struct size *free_of = xmemdup(nodes->items, nodes->n * sizeof(*free_of));
    vec_each (requests, request) {
        struct size *best = NULL;
        for (size_t i = 0; i < nodes->n && (best == NULL || best_fit); i++) {
            struct size *node = &free_of[i];
            bool fits = node->cpus >= request->cpus && node->mem >= request->mem &&
                        node->gpus >= request->gpus;
            if (fits && (best == NULL || is_better(node, best)))
                best = node;
        }
        count(&outcome, request, best != NULL);
        if (best != NULL)
            *best = (struct size) {best->cpus - request->cpus, best->mem - request->mem,
                                   best->gpus - request->gpus};
    }
    free(free_of);
    return outcome;
}

static struct sched *make_planner(const sizes *machines) {
    const struct sched_settings settings = {.backfill = true,
                                            .cpus_consumable = true,
                                            .mem_consumable = true,
                                            .reservations = 1,
                                            .default_limit = 86400,
                                            .pack_nodes = true};
    const struct sched_gres_kind kind = {"gpu", ""};
    struct sched_node_spec *nodes = xcalloc(machines->n, sizeof(*nodes));
    uint32_t *all = xcalloc(machines->n, sizeof(*all)), n = (uint32_t) machines->n;
    for (uint32_t i = 0; i < n; i++) {
        const struct size *size = &machines->items[i];
        nodes[i] = (struct sched_node_spec) {.name = "n",
                                             .cpus = (uint32_t) size->cpus,
                                             .sockets = 1,
                                             .cores_per_socket = (uint32_t) size->cpus,
                                             .threads_per_core = 1,
                                             .mem = (uint64_t) size->mem,
                                             .weight = 1,
                                             .gres = {(uint64_t) size->gpus}};
        all[i] = i;
    }
    const struct sched_partition_spec partition = {.name = "all",
                                                   .nodes = all,
                                                   .n_nodes = n,
                                                   .tier = 1,
                                                   .max_nodes = UINT32_MAX,
                                                   .min_nodes = 1,
                                                   .max_time = UINT32_MAX,
                                                   .max_cpus_per_node = UINT32_MAX,
                                                   .oversubscribe = 1,
                                                   .schedulable = true};
    struct sched *sched = sched_new(&settings);
    sched_configure(sched, &settings, &kind, 1, nodes, n, &partition, 1);
    for (uint32_t i = 0; i < n; i++)
        sched_node_usable(sched, i, true);
    free(nodes);
    free(all);
    return sched;
}

static struct outcome run_planner(const sizes *nodes, const sizes *requests) {
    static const uint32_t partition = 0;
    struct outcome outcome = {0, -1, 0};
    struct sched *sched = make_planner(nodes);
    uint32_t id = 0;
    vec_each (requests, request) {
        struct sched_job_spec spec = {.job_id = ++id,
                                      .n_tasks_of_array = 1,
                                      .max_starts = UINT32_MAX,
                                      .priority = 1,
                                      .submit_time = 1,
                                      .limit = 86400,
                                      .partitions = &partition,
                                      .n_partitions = 1,
                                      .min_nodes = 1,
                                      .max_nodes = 1,
                                      .ntasks = 1,
                                      .cpus_per_task = (uint32_t) request->cpus,
                                      .mem_per_node = (uint64_t) request->mem,
                                      .mem_per_cpu = UINT64_MAX,
                                      .mem_per_gpu = UINT64_MAX};
        struct sched_plan plan;
        spec.per_node[0] = (struct sched_gres_request) {0, 0, (uint32_t) request->gpus};
        spec.n_per_node = request->gpus > 0;
        sched_job_add(sched, &spec);
        sched_pass(sched, 1000, 0, &plan);
        sched_job_remove(sched, id);
        count(&outcome, request, plan.n_starts > 0);
        if (plan.n_starts > 0)
            sched_run_add(sched, id, 0, false, 0, 1000, SCHED_FOREVER, plan.starts->allocs,
                          plan.starts->n_allocs, NULL, NULL, 0);
        sched_plan_done(&plan);
    }
    sched_free(sched);
    return outcome;
}

static void print(const char *name, struct outcome outcome, int64_t total) {
    int64_t first = outcome.given_at_first < 0 ? outcome.given : outcome.given_at_first;
    printf("%-10s given when the first fails %6.2f %%, over the whole list %6.2f %%, %zu fail\n",
           name, 100.0 * (double) first / (double) total,
           100.0 * (double) outcome.given / (double) total, outcome.n_failed);
}

int main(int argc, char **argv) {
    sizes nodes = {0}, requests = {0};
    int64_t total = 0;
    if (argc != 4 || (strcmp(argv[1], "whole") != 0 && strcmp(argv[1], "shares") != 0)) {
        fprintf(stderr, "usage: gpu_packing whole|shares NODES PODS\n");
        return 1;
    }
    shares = strcmp(argv[1], "shares") == 0;
    read_sizes(argv[2], false, &nodes);
    read_sizes(argv[3], true, &requests);
    vec_each (&nodes, node) {
        total += node->gpus;
    }
    print("first fit", run_fit(&nodes, &requests, false), total);
    print("best fit", run_fit(&nodes, &requests, true), total);
    print("planner", run_planner(&nodes, &requests), total);
    vec_done(&nodes);
    vec_done(&requests);
    return 0;
}
