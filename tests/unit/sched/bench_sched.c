/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a pass takes: 10,000 nodes with GPUs, 2,000 shapes, 100,000 jobs that wait. Built with
 * the tests, not run by them: bench_sched [nodes [jobs [shapes]]].
 */
#include <stdio.h>
#include <time.h>

#include "base/rng.h"
#include "world.h"

static double seconds(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

struct bench {
    struct world w;
    struct rng rng;
    struct sched_job_spec *shapes;
    size_t n_shapes;
    bool whole;
    uint32_t next;
};

static void make_world(struct bench *b, size_t n_nodes, bool whole) {
    rng_seed(&b->rng, 7);
    world_init(&b->w, n_nodes, 64, 512000);
    b->whole = whole;
    if (!whole) {
        b->w.n_kinds = 2;
        b->w.kinds[0] = (struct sched_gres_kind) {"gpu", "a100"};
        b->w.kinds[1] = (struct sched_gres_kind) {"gpu", "v100"};
        for (size_t i = 0; i < n_nodes; i++) {
            if (i % 4 == 0)
                b->w.nodes[i].gres[i % 8 == 0] = 8;
        }
    }
    world_configure(&b->w);
}

static void make_shapes(struct bench *b, size_t n) {
    b->shapes = xcalloc(n, sizeof(*b->shapes));
    b->n_shapes = n;
    for (size_t i = 0; i < n; i++) {
        struct sched_job_spec *spec = &b->shapes[i];
        *spec = world_spec(&b->w);
        spec->limit = 600 + (int64_t) rng_below(&b->rng, 500) * 60;
        spec->min_nodes = spec->max_nodes = 1;
        if (b->whole) {
            spec->exclusive = true;
            spec->min_nodes = spec->max_nodes = spec->ntasks = 1 + rng_below(&b->rng, 64);
            continue;
        }
        spec->cpus_per_task = 1 + rng_below(&b->rng, 32);
        spec->mem_per_cpu = 1000 + rng_below(&b->rng, 8) * 1000;
        if (i % 3 == 0) {
            spec->per_node[0] = (struct sched_gres_request) {
                i % 2 ? -1 : (int16_t) rng_below(&b->rng, 2), 0, 1 + rng_below(&b->rng, 4)};
            spec->n_per_node = 1;
        }
        if (i % 5 == 0) {
            spec->min_nodes = spec->max_nodes = 2 + rng_below(&b->rng, 14);
            spec->ntasks = spec->min_nodes * 2;
            spec->cpus_per_task = 1 + rng_below(&b->rng, 8);
        }
    }
}

static void add_jobs(struct bench *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct sched_job_spec spec = b->shapes[rng_below(&b->rng, b->n_shapes)];
        spec.job_id = ++b->next;
        spec.priority = 1 + rng_below(&b->rng, 100000);
        sched_job_add(b->w.sched, &spec);
    }
}

static double pass(struct bench *b, struct sched_plan *plan) {
    double start = seconds();

    sched_pass(b->w.sched, b->w.now, 0, plan);
    return seconds() - start;
}

/* As world_commit(), without looking jobs up in a list. */
static void commit(struct bench *b, const struct sched_plan *plan) {
    for (size_t i = 0; i < plan->n_starts; i++) {
        const struct sched_start *start = &plan->starts[i];
        int64_t early = (int64_t) rng_below(&b->rng, start->limit);
        sched_job_remove(b->w.sched, start->job_id);
        sched_run_add(b->w.sched, start->job_id, start->partition, b->whole, 1000, b->w.now - early,
                      b->w.now - early + start->limit, start->allocs, start->n_allocs, NULL, NULL,
                      0);
    }
}

static void report(const char *what, double time, const struct sched_plan *plan) {
    printf("%-46s %9.3f ms  %6zu starts %7zu waits %9llu candidates\n", what, time * 1e3,
           plan->n_starts, plan->n_waits, (unsigned long long) plan->candidates);
}

/* The steady state: jobs end one by one, each followed by a pass. */
static void ends(struct bench *b, uint32_t running) {
    double time = 0, worst = 0;
    size_t starts = 0;

    for (unsigned i = 0; i < 50; i++) {
        struct sched_plan plan;
        sched_run_remove(b->w.sched, running);
        b->w.now += 1;
        double one = pass(b, &plan);
        time += one;
        worst = max_of(worst, one);
        starts += plan.n_starts;
        if (plan.n_starts)
            running = plan.starts[0].job_id;
        commit(b, &plan);
        sched_plan_done(&plan);
    }
    printf("%-46s %9.3f ms  %6zu starts, worst %.3f ms\n", "50 ends, each with a pass: mean",
           time * 1e3 / 50, starts, worst * 1e3);
}

static void run(size_t n_nodes, size_t n_jobs, size_t n_shapes, bool whole) {
    struct bench b = {0};
    struct sched_plan plan;
    double start;

    make_world(&b, n_nodes, whole);
    make_shapes(&b, n_shapes);
    printf("-- %s: %zu nodes, %zu jobs, %zu shapes\n", whole ? "whole nodes" : "shared nodes",
           n_nodes, n_jobs, n_shapes);
    start = seconds();
    add_jobs(&b, n_jobs + n_nodes * (whole ? 1 : 6));
    printf("%-46s %9.3f ms\n", "add jobs", (seconds() - start) * 1e3);
    double time = pass(&b, &plan);
    report("first pass on the empty cluster", time, &plan);
    printf("%-46s %9.3f us\n", "  per start", time * 1e6 / (double) (plan.n_starts + 1));
    start = seconds();
    commit(&b, &plan);
    printf("%-46s %9.3f ms\n", "commit", (seconds() - start) * 1e3);
    uint32_t running = plan.n_starts ? plan.starts[plan.n_starts / 2].job_id : 0;
    sched_plan_done(&plan);
    time = pass(&b, &plan);
    report("pass after the commit", time, &plan);
    commit(&b, &plan);
    sched_plan_done(&plan);
    time = pass(&b, &plan);
    report("nothing changed", time, &plan);
    sched_plan_done(&plan);
    add_jobs(&b, 1);
    time = pass(&b, &plan);
    report("one job submitted", time, &plan);
    commit(&b, &plan);
    sched_plan_done(&plan);
    sched_run_remove(b.w.sched, running);
    time = pass(&b, &plan);
    report("one job ended", time, &plan);
    commit(&b, &plan);
    running = plan.n_starts ? plan.starts[0].job_id : 0;
    sched_plan_done(&plan);
    ends(&b, running);
    start = seconds();
    int64_t when = sched_estimate(b.w.sched, b.w.now, b.next);
    printf("%-46s %9.3f ms  (the last in %lld s)\n", "estimates for all", (seconds() - start) * 1e3,
           (long long) (when ? when - b.w.now : 0));
    sched_node_usable(b.w.sched, 17, false);
    time = pass(&b, &plan);
    report("one node down: everything tested again", time, &plan);
    sched_plan_done(&plan);
    free(b.shapes);
    world_done(&b.w);
}

int main(int argc, char **argv) {
    size_t nodes = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    size_t jobs = argc > 2 ? strtoul(argv[2], NULL, 10) : 100000;
    size_t shapes = argc > 3 ? strtoul(argv[3], NULL, 10) : 2000;

    run(nodes, jobs, shapes, false);
    run(nodes, jobs, shapes, true);
    return 0;
}
