/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the planner takes. One line a measure: "ROW MEASURE VALUE UNIT". A row is a cluster with
 * a queue: nodes are busy, jobs wait, then jobs are submitted and end one by one, each followed by
 * a pass. Only the calls of the planner are timed, not the commit of what it proposes.
 *
 *     planner [ROW...]      all rows without arguments; `planner -l` names them
 */
#include <malloc.h>
#include <stdio.h>
#include <time.h>

#include "base/heap.h"
#include "base/rng.h"
#include "base/vec.h"
#include "sched/sched.h"

enum kind { SHARED, WHOLE, ONE_NODE };
struct row {
    const char *name;
    enum kind kind;
    uint32_t nodes, jobs, shapes, partitions, reservations;
    bool distinct;  /* every job its own shape */
    bool wide_head; /* the first in order needs every node */
    uint32_t tasks; /* one more job: an array of so many */
    uint32_t events;
    uint32_t associations; /* with limits; each has its share of the shapes */
    uint64_t most;         /* jobs of one of them at a time */
};
static const struct row rows[] = {
    {"shared", SHARED, 10000, 100000, 2000, 1, 1, false, false, 0, 2000},
    {"shared20k", SHARED, 10000, 100000, 20000, 1, 1, false, false, 0, 1000},
    {"whole", WHOLE, 10000, 100000, 2000, 1, 1, false, false, 0, 2000},
    {"whole20k", WHOLE, 10000, 100000, 20000, 1, 1, false, false, 0, 1000},
    {"distinct", SHARED, 10000, 10000, 10000, 1, 1, true, false, 0, 500},
    {"partitions", SHARED, 10000, 100000, 2000, 1000, 1, false, false, 0, 500},
    {"array", SHARED, 10000, 1000, 100, 1, 1, false, false, 1000000, 500},
    {"widehead", SHARED, 10000, 100000, 2000, 1, 1, false, true, 0, 500},
    {"k64", SHARED, 10000, 100000, 2000, 1, 64, false, false, 0, 200},
    {"k1000", SHARED, 10000, 100000, 2000, 1, 1000, false, false, 0, 20},
    {"k64whole", WHOLE, 10000, 100000, 2000, 1, 64, false, false, 0, 200},
    {"limits20k", SHARED, 10000, 100000, 20000, 1, 1, false, false, 0, 1000, 10000, 1000000},
    {"limits20ktight", SHARED, 10000, 100000, 20000, 1, 1, false, false, 0, 1000, 10000, 2},
    {"placements", ONE_NODE, 100000, 100000, 200, 1, 1, false, false, 0, 0},
};

struct running {
    struct heap_node node; /* by its end */
    uint32_t job_id;
};
struct bench {
    const struct row *row;
    struct sched *sched;
    struct rng rng;
    struct sched_job_spec *shapes;
    uint32_t *partition_of; /* per shape */
    struct sched_terms *terms;
    struct sched_budget_use *uses; /* USES of each shape */
    vec(uint32_t) shape_of;        /* job id -> shape, where there are associations */
    struct heap ends;              /* struct running */
    uint32_t next;
    int64_t now;
    bool filled; /* from then on jobs run as proposed */
};

static double seconds(void) {
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static void say(const struct bench *b, const char *measure, double value, const char *unit) {
    printf("%s %s %.6g %s\n", b->row->name, measure, value, unit);
    fflush(stdout);
}

/* ---- the cluster ---- */

static void cluster_make(struct bench *b) {
    const struct row *row = b->row;
    static const struct sched_gres_kind kinds[] = {{"gpu", "a100"}, {"gpu", "v100"}};
    struct sched_settings settings = {.backfill = true,
                                      .mem_consumable = true,
                                      .cpus_consumable = true,
                                      .reservations = row->reservations,
                                      .pack_nodes = true};
    struct sched_node_spec *nodes = xcalloc(row->nodes, sizeof(*nodes));
    struct sched_partition_spec *partitions = xcalloc(row->partitions, sizeof(*partitions));
    char(*names)[16] = xcalloc(row->nodes + row->partitions, sizeof(*names));
    uint32_t *indexes = xcalloc(row->nodes, sizeof(*indexes));

    for (uint32_t i = 0; i < row->nodes; i++) {
        snprintf(names[i], sizeof(names[i]), "n%u", i);
        nodes[i] = (struct sched_node_spec) {.name = names[i],
                                             .cpus = 64,
                                             .sockets = 2,
                                             .cores_per_socket = 32,
                                             .threads_per_core = 1,
                                             .mem = 512000,
                                             .weight = 1};
        if (row->kind == SHARED && i % 4 == 0)
            nodes[i].gres[i % 8 == 0] = 8;
        indexes[i] = i;
    }
    uint32_t each = row->nodes / row->partitions;
    for (uint32_t i = 0; i < row->partitions; i++) {
        char *name = names[row->nodes + i];
        snprintf(name, sizeof(names[0]), "p%u", i);
        partitions[i] = (struct sched_partition_spec) {.name = name,
                                                       .nodes = indexes + i * each,
                                                       .n_nodes = each,
                                                       .tier = 1,
                                                       .max_nodes = UINT32_MAX,
                                                       .min_nodes = 1,
                                                       .max_time = UINT32_MAX - 1,
                                                       .max_cpus_per_node = UINT32_MAX,
                                                       .oversubscribe = 1,
                                                       .schedulable = true};
    }
    b->now = 1000000;
    rng_seed(&b->rng, 7);
    b->sched = sched_new(&settings);
    sched_configure(b->sched, &settings, kinds, row->kind == SHARED ? 2 : 0, nodes, row->nodes,
                    partitions, row->partitions);
    free(nodes);
    free(partitions);
    free(names);
    free(indexes);
}

/* Root, 100 accounts, their users: jobs and CPUs of each user, CPUs of each account and of all. */
#define USES 4
#define ACCOUNTS 100

static void budgets_make(struct bench *b) {
    const struct row *row = b->row;
    struct sched_budget all = {.of = SCHED_BUDGET_CPUS, .reason = 41, .total = 1000000000};

    if (row->associations == 0)
        return;
    for (uint32_t i = 0; i < 1 + ACCOUNTS + row->associations; i++)
        sched_budget_add(b->sched, &all);
    for (uint32_t i = 0; i < row->associations; i++) {
        struct sched_budget jobs = {.of = SCHED_BUDGET_JOBS, .reason = 42, .total = row->most};
        sched_budget_add(b->sched, &jobs);
    }
}

static void terms_make(struct bench *b, size_t i) {
    uint32_t n = b->row->associations, of = n ? (uint32_t) i % n : 0;
    struct sched_budget_use *uses = b->uses + i * USES;

    if (n == 0)
        return;
    uses[0] = (struct sched_budget_use) {.id = 0, .binds = true, .least = 1};
    uses[1] = (struct sched_budget_use) {.id = 1 + of % ACCOUNTS, .binds = true, .least = 1};
    uses[2] = (struct sched_budget_use) {.id = 1 + ACCOUNTS + of, .binds = true, .least = 1};
    uses[3] = (struct sched_budget_use) {.id = 1 + ACCOUNTS + n + of, .binds = true, .least = 1};
    b->terms[i] = (struct sched_terms) {.uses = uses, .n_uses = USES};
    b->shapes[i].terms = &b->terms[i];
}

static void shape_make(struct bench *b, size_t i) {
    struct sched_job_spec *spec = &b->shapes[i];
    uint32_t most = b->row->nodes / b->row->partitions;

    b->partition_of[i] = i % b->row->partitions;
    *spec = (struct sched_job_spec) {.n_tasks_of_array = 1,
                                     .max_starts = UINT32_MAX,
                                     .priority = 1000,
                                     .limit = 600 + (int64_t) rng_below(&b->rng, 500) * 60,
                                     .partitions = &b->partition_of[i],
                                     .n_partitions = 1,
                                     .min_nodes = 1,
                                     .max_nodes = 1,
                                     .ntasks = 1,
                                     .cpus_per_task = 1,
                                     .mem_per_node = UINT64_MAX,
                                     .mem_per_cpu = UINT64_MAX,
                                     .mem_per_gpu = UINT64_MAX,
                                     .uid = 1000};
    if (b->row->distinct)
        spec->limit += (int64_t) i;
    if (b->row->kind == WHOLE) {
        spec->exclusive = true;
        spec->min_nodes = spec->max_nodes = spec->ntasks = 1 + rng_below(&b->rng, 64);
        return;
    }
    spec->cpus_per_task = 1 + rng_below(&b->rng, 32);
    if (b->row->kind == ONE_NODE)
        return;
    spec->mem_per_cpu = 1000 + rng_below(&b->rng, 8) * 1000;
    if (i % 3 == 0) {
        spec->per_node[0] = (struct sched_gres_request) {
            i % 2 ? -1 : (int16_t) rng_below(&b->rng, 2), 0, 1 + rng_below(&b->rng, 4)};
        spec->n_per_node = 1;
    }
    if (i % 5 == 0 && most >= 16) {
        spec->min_nodes = spec->max_nodes = 2 + rng_below(&b->rng, 14);
        spec->ntasks = spec->min_nodes * 2;
        spec->cpus_per_task = 1 + rng_below(&b->rng, 8);
    }
}

static void jobs_add(struct bench *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t shape = (uint32_t) rng_below(&b->rng, b->row->shapes);
        struct sched_job_spec spec = b->shapes[shape];
        spec.job_id = ++b->next;
        if (b->row->associations) {
            while (b->shape_of.n <= spec.job_id)
                vec_push(&b->shape_of, shape);
            b->shape_of.items[spec.job_id] = shape;
        }
        spec.submit_time = b->now;
        spec.priority = 1 + rng_below(&b->rng, 100000);
        sched_job_add(b->sched, &spec);
    }
}

/* Starts become runs; those that fill the cluster have been running for a while. */
static void commit(struct bench *b, const struct sched_plan *plan) {
    for (size_t i = 0; i < plan->n_starts; i++) {
        const struct sched_start *start = &plan->starts[i];
        int64_t early = b->filled ? 0 : (int64_t) rng_below(&b->rng, start->limit);
        uint32_t id = start->job_id;
        if (b->row->tasks && id == 1)
            id = ++b->next;
        else
            sched_job_remove(b->sched, id);
        sched_run_add(b->sched, id, start->partition, b->row->kind == WHOLE, 1000, b->now - early,
                      b->now - early + start->limit, start->allocs, start->n_allocs, NULL, NULL, 0);
        if (b->row->associations)
            sched_run_budgets(b->sched, id, b->uses + b->shape_of.items[id] * USES, USES);
        struct running *running = zalloc(struct running);
        running->job_id = id;
        heap_push(&b->ends, &running->node, b->now - early + start->limit, id);
    }
}

static double pass(struct bench *b, struct sched_plan *plan) {
    double start = seconds();

    sched_pass(b->sched, b->now, 0, plan);
    return seconds() - start;
}

/* A pass, and the commit of what it starts. */
static double settle(struct bench *b, size_t *ret_starts, uint64_t *ret_candidates) {
    struct sched_plan plan;
    double time = pass(b, &plan);

    commit(b, &plan);
    if (ret_starts)
        *ret_starts = plan.n_starts;
    if (ret_candidates)
        *ret_candidates = plan.candidates;
    sched_plan_done(&plan);
    return time;
}

static size_t memory_used(void) {
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* ---- measures ---- */

static void fill(struct bench *b) {
    size_t starts = 0, before = memory_used();
    size_t head_room = b->row->kind == WHOLE ? 1 : b->row->kind == ONE_NODE ? 0 : 6;

    if (b->row->tasks) {
        struct sched_job_spec spec = b->shapes[1];
        spec.job_id = ++b->next;
        spec.n_tasks_of_array = b->row->tasks;
        sched_job_add(b->sched, &spec);
        say(b, "array_memory", (double) (memory_used() - before), "B");
        before = memory_used();
    }
    if (b->row->wide_head) {
        struct sched_job_spec spec = b->shapes[1];
        spec.job_id = ++b->next;
        spec.priority = 1000000;
        spec.exclusive = true;
        spec.min_nodes = spec.max_nodes = spec.ntasks = b->row->nodes;
        spec.cpus_per_task = 1;
        spec.n_per_node = 0;
        sched_job_add(b->sched, &spec);
    }
    double begun = seconds();
    jobs_add(b, b->row->jobs + b->row->nodes * head_room);
    say(b, "add", (seconds() - begun) * 1e6 / (double) (b->next), "us/job");
    say(b, "memory", (double) (memory_used() - before) / (double) b->next, "B/job");
    double time = settle(b, &starts, NULL);
    say(b, "first_pass", time * 1e3, "ms");
    say(b, "placements", (double) starts / time, "/s");
    b->filled = true;
    for (unsigned i = 0; i < 50 && starts > 0; i++)
        settle(b, &starts, NULL);
}

static void full_pass(struct bench *b) {
    double worst = 0, best = 1e9;

    for (unsigned i = 0; i < 5; i++) {
        sched_node_usable(b->sched, 17 + i, false);
        double time = settle(b, NULL, NULL);
        sched_node_usable(b->sched, 17 + i, true);
        time = max_of(time, settle(b, NULL, NULL));
        worst = max_of(worst, time);
        best = min_of(best, time);
    }
    say(b, "full_pass", worst * 1e3, "ms");
    say(b, "full_pass_best", best * 1e3, "ms");
}

/* The same in pieces, as the controller asks for it: the longest of them. */
#define WORK_PER_PASS 50000
static void pieces(struct bench *b) {
    double worst = 0;

    sched_bound_work(b->sched, WORK_PER_PASS);
    for (unsigned i = 0; i < 10; i++) {
        bool more = true;
        sched_node_usable(b->sched, 17 + i / 2, i % 2);
        for (unsigned n = 0; more && n < 1000; n++) {
            struct sched_plan plan;
            worst = max_of(worst, pass(b, &plan));
            commit(b, &plan);
            more = plan.next_time == b->now;
            sched_plan_done(&plan);
        }
    }
    sched_bound_work(b->sched, 0);
    say(b, "piece_worst", worst * 1e3, "ms");
}

struct times {
    double sum, worst;
    uint32_t n, starts;
};

static void times_add(struct times *t, double time) {
    t->sum += time;
    t->worst = max_of(t->worst, time);
    t->n++;
}

static void times_say(const struct bench *b, const char *name, const struct times *t) {
    char text[64];

    snprintf(text, sizeof(text), "%s_mean", name);
    say(b, text, t->sum * 1e3 / max_of(t->n, 1u), "ms");
    snprintf(text, sizeof(text), "%s_worst", name);
    say(b, text, t->worst * 1e3, "ms");
}

static void submissions(struct bench *b) {
    struct times t = {0};

    for (uint32_t i = 0; i < b->row->events; i++) {
        double begun = seconds();
        jobs_add(b, 1);
        double time = seconds() - begun;
        times_add(&t, time + settle(b, NULL, NULL));
    }
    times_say(b, "submission", &t);
}

/* Jobs end at their limit or, every other one, before it. */
static void ends(struct bench *b) {
    struct times t = {0};
    size_t starts = 0, all = 0;
    uint64_t candidates = 0, work = 0;

    for (uint32_t i = 0; i < b->row->events && b->ends.n > 0; i++) {
        const struct heap_node *due = heap_min(&b->ends);
        bool early = due->key > b->now && i % 2;
        struct heap_node *node = b->ends.nodes[early ? rng_below(&b->rng, b->ends.n) : 0];
        struct running *running = container_of(node, struct running, node);
        b->now = early ? b->now : max_of(b->now, node->key);
        double begun = seconds();
        sched_run_remove(b->sched, running->job_id);
        double time = seconds() - begun;
        heap_remove(&b->ends, node);
        free(running);
        times_add(&t, time + settle(b, &starts, &candidates));
        all += starts;
        work += candidates;
    }
    times_say(b, "end", &t);
    say(b, "end_candidates", (double) work / max_of(t.n, 1u), "nodes");
    say(b, "end_starts", (double) all / max_of(t.n, 1u), "jobs");
}

static void estimates(struct bench *b) {
    double begun = seconds();
    int64_t last = sched_estimate(b->sched, b->now, b->next), most = last;
    uint32_t known = 0, asked = 0;

    say(b, "estimates", (seconds() - begun) * 1e3, "ms");
    for (uint32_t id = 1; id <= b->next; id++) {
        int64_t when = sched_estimate(b->sched, b->now, id);
        known += when > 0;
        most = max_of(most, when);
        asked++;
    }
    say(b, "estimated", known, "jobs");
    say(b, "estimated_most", (double) (most - b->now) / 3600, "h");
}

static void run(const struct row *row) {
    struct bench b = {.row = row};

    cluster_make(&b);
    b.shapes = xcalloc(row->shapes, sizeof(*b.shapes));
    b.partition_of = xcalloc(row->shapes, sizeof(*b.partition_of));
    b.terms = xcalloc(row->shapes, sizeof(*b.terms));
    b.uses = xcalloc((size_t) row->shapes * USES, sizeof(*b.uses));
    budgets_make(&b);
    for (size_t i = 0; i < row->shapes; i++) {
        shape_make(&b, i);
        terms_make(&b, i);
    }
    fill(&b);
    if (row->events) {
        full_pass(&b);
        pieces(&b);
        submissions(&b);
        ends(&b);
        estimates(&b);
    }
    sched_free(b.sched);
    free(b.shapes);
    free(b.partition_of);
    free(b.terms);
    free(b.uses);
    vec_done(&b.shape_of);
    for (struct heap_node *node; (node = heap_pop(&b.ends));)
        free(container_of(node, struct running, node));
    heap_done(&b.ends);
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < countof(rows); i++) {
        bool wanted = argc < 2;
        if (argc == 2 && strcmp(argv[1], "-l") == 0)
            puts(rows[i].name);
        for (int k = 1; k < argc; k++)
            wanted = wanted || strcmp(argv[k], rows[i].name) == 0;
        if (wanted)
            run(&rows[i]);
    }
    return 0;
}
