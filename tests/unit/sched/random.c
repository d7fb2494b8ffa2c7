/* SPDX-License-Identifier: Apache-2.0 */
#include "random.h"

static bool chance(struct rng *rng, unsigned percent) {
    return rng_below(rng, 100) < percent;
}

static uint64_t between(struct rng *rng, uint64_t low, uint64_t high) {
    return low + rng_below(rng, high - low + 1);
}

static const char *const features_of[3][2] = {{"x", "y"}, {"x", "z"}, {"y", "z"}};

static void random_node(struct world *w, struct rng *rng, struct sched_node_spec *node) {
    uint32_t kind = rng_below(rng, 3);

    node->cpus = (uint32_t[]) {4, 8, 6}[kind];
    node->cores_per_socket = node->cpus;
    node->mem = (uint64_t[]) {1000, 2000, 1500}[kind];
    node->weight = chance(rng, 30) ? 5 : 1;
    node->features = features_of[kind];
    node->n_features = 2;
    if (chance(rng, 20)) {
        node->threads_per_core = 2;
        node->cores_per_socket = node->cpus / 2;
        node->whole_cores = true;
    }
    if (w->n_kinds && chance(rng, 50)) {
        node->gres[0] = rng_below(rng, 4);
        node->gres[1] = rng_below(rng, 3);
        node->gres[2] = rng_below(rng, 2) * 4;
    }
}

/* Draws nothing: the seeds keep their worlds. Two or three shares of each GPU. */
static void random_cards(struct world *w, size_t i) {
    struct sched_node_spec *node = &w->nodes[i];
    struct sched_cards *cards = &w->cards[i];

    if (node->gres[0] + node->gres[1] == 0 || node->gres[2] == 0)
        return;
    uint32_t shares = w->n_nodes == 5 ? 2 : 3;
    *cards = (struct sched_cards) {.n = node->gres[0] + node->gres[1],
                                   .several = i % 3 == 1,
                                   .least_first = i % 3 == 2,
                                   .n_shares = 1,
                                   .shares = {{.kind = 2, .one_card = i % 2 == 1}}};
    for (uint32_t c = 0; c < cards->n; c++) {
        cards->kind[c] = c >= node->gres[0];
        cards->whole[c] = shares + 1;
        cards->shares[0].units[c] = 1;
    }
    node->gres[2] = (uint64_t) shares * cards->n;
    node->cards = cards;
}

static void random_partition(struct world *w, struct rng *rng, size_t i) {
    uint32_t *nodes = xcalloc(w->n_nodes, sizeof(*nodes));
    size_t n = 0;
    static const char *const names[] = {"main", "fast", "big"};

    for (uint32_t node = 0; node < w->n_nodes; node++) {
        if (chance(rng, 70))
            nodes[n++] = node;
    }
    w->partitions[i] = w->partitions[0];
    w->partitions[i].name = names[i];
    w->partitions[i].nodes = nodes;
    w->partitions[i].n_nodes = n;
    w->partitions[i].tier = between(rng, 1, 2);
    w->partitions[i].exclusive = chance(rng, 10);
    w->partitions[i].oversubscribe_force = i == 1 && w->n_nodes == 7;
    w->partitions[i].spread = chance(rng, 15);
    if (chance(rng, 15))
        w->partitions[i].max_cpus_per_node = 4;
    if (chance(rng, 15))
        w->partitions[i].max_time = 3;
}

/* Draws nothing: the seeds keep their worlds. Two nodes at a leaf, the last at none. */
static void random_switches(struct world *w) {
    if (w->n_nodes != 4 && w->n_nodes != 7)
        return;
    w->switches[0] = (struct sched_switch_spec) {SCHED_NO_NODE};
    for (w->n_switches = 1; w->n_switches <= w->n_nodes / 2; w->n_switches++)
        w->switches[w->n_switches] = (struct sched_switch_spec) {0};
    for (uint32_t i = 0; i < w->n_nodes; i++)
        w->leaf_of[i] = i < w->n_nodes / 2 * 2 ? 1 + i / 2 : SCHED_NO_NODE;
}

void random_world(struct world *w, struct rng *rng, int richness) {
    world_init(w, between(rng, 2, 7), 4, 1000);
    w->settings.reservations = chance(rng, 70) ? 1 : between(rng, 2, 3);
    if (richness == RANDOM_SIMPLE)
        w->settings.reservations = 1;
    w->settings.pack_nodes = chance(rng, 80);
    w->settings.short_first = w->n_nodes % 3 == 0; /* draws nothing: the seeds keep their worlds */
    if (richness == RANDOM_RICH) {
        w->kinds[0] = (struct sched_gres_kind) {"gpu", "a"};
        w->kinds[1] = (struct sched_gres_kind) {"gpu", "b"};
        w->kinds[2] = (struct sched_gres_kind) {"fpga", ""};
        w->n_kinds = chance(rng, 60) ? 3 : 0;
        w->n_licenses = 2;
        w->licenses[0] = between(rng, 1, 4);
        w->licenses[1] = between(rng, 1, 4);
        w->settings.backfill = chance(rng, 90);
        w->settings.mem_consumable = chance(rng, 85);
        if (w->n_nodes % 2) { /* draws nothing either */
            w->settings.guard = 150;
            w->settings.guard_jobs = 2;
        }
    }
    if (richness == RANDOM_RICH && w->n_nodes % 2 == 0) { /* draws nothing */
        w->budgets[0] = (struct sched_budget) {
            .of = SCHED_BUDGET_JOBS, .reason = REASON_ASSOC_GRP_JOBS, .total = 2};
        w->budgets[1] = (struct sched_budget) {
            .of = SCHED_BUDGET_CPUS, .reason = REASON_ASSOC_GRP_CPU, .total = 7};
        w->budgets[2] = (struct sched_budget) {
            .of = SCHED_BUDGET_NODES, .reason = REASON_ASSOC_GRP_JOBS, .total = 3};
        w->budgets[3] = (struct sched_budget) {.of = SCHED_BUDGET_CPUS,
                                               .measure = SCHED_BUDGET_AHEAD,
                                               .reason = REASON_ASSOC_GRP_CPU,
                                               .total = 1500};
        w->budgets[4] = (struct sched_budget) {.of = SCHED_BUDGET_NODES,
                                               .measure = SCHED_BUDGET_STOCK,
                                               .reason = REASON_ASSOC_GRP_CPU,
                                               .total = 4000};
        w->budgets[5] = (struct sched_budget) {
            .of = SCHED_BUDGET_GRES_NAME, .reason = REASON_ASSOC_GRP_CPU, .total = 2};
        w->n_budgets = w->n_kinds ? 6 : 5;
    }
    for (size_t i = 0; i < w->n_nodes; i++)
        random_node(w, rng, &w->nodes[i]);
    if (w->n_kinds && w->n_nodes >= 5) {
        w->kinds[2].name = "shard";
        for (size_t i = 0; i < w->n_nodes; i++)
            random_cards(w, i);
    }
    if (richness == RANDOM_RICH)
        random_switches(w);
    if (richness == RANDOM_RICH) {
        if (w->n_nodes % 3 == 1) /* draws nothing */
            w->partitions[0].oversubscribe = 2;
        w->n_partitions = between(rng, 1, 3);
        for (size_t i = 1; i < w->n_partitions; i++)
            random_partition(w, rng, i);
    }
}

static void random_gres(struct world *w, struct rng *rng, struct sched_job_spec *spec) {
    struct sched_gres_request request = {-1, 0, between(rng, 1, 3)};

    if (chance(rng, 50))
        request = (struct sched_gres_request) {rng_below(rng, 3), 0, between(rng, 1, 2)};
    switch (rng_below(rng, 3)) {
    case 0:
        spec->per_node[spec->n_per_node++] = request;
        break;
    case 1:
        spec->per_job[spec->n_per_job++] = request;
        break;
    default:
        request.count = 1;
        spec->per_task[spec->n_per_task++] = request;
    }
    if (chance(rng, 20))
        spec->cpus_per_gpu = between(rng, 1, 2);
}

static void random_sizes(struct world *w, struct rng *rng, struct sched_job_spec *spec) {
    spec->min_nodes = between(rng, 1, 3);
    spec->max_nodes = chance(rng, 50) ? spec->min_nodes : spec->min_nodes + rng_below(rng, 3);
    if (chance(rng, 30))
        spec->max_nodes = UINT32_MAX;
    spec->ntasks = chance(rng, 50) ? between(rng, 1, 8) : 0;
    if (chance(rng, 30))
        spec->ntasks_per_node = between(rng, 1, 4);
    spec->cpus_per_task = between(rng, 1, 3);
    switch (rng_below(rng, 5)) {
    case 0:
        spec->mem_per_node = between(rng, 1, 4) * 300;
        break;
    case 1:
        spec->mem_per_cpu = between(rng, 1, 4) * 100;
        break;
    case 2:
        spec->mem_per_node = 0;
        break;
    default:
        break;
    }
    spec->exclusive = chance(rng, 20);
    spec->overcommit = chance(rng, 5);
    spec->contiguous = chance(rng, 10);
    if (chance(rng, 10))
        spec->min_cpus_per_node = between(rng, 1, 5);
    if (chance(rng, 10))
        spec->ntasks_per_core = 1;
}

static void random_nodes(struct world *w, struct rng *rng, struct sched_job_spec *spec,
                         struct request_memory *memory) {
    if (chance(rng, 10)) {
        memory->req_nodes[0] = rng_below(rng, w->n_nodes);
        spec->req_nodes = memory->req_nodes;
        spec->n_req_nodes = 1;
    }
    if (chance(rng, 10)) {
        memory->exc_nodes[0] = rng_below(rng, w->n_nodes);
        spec->exc_nodes = memory->exc_nodes;
        spec->n_exc_nodes = 1;
    }
    if (chance(rng, 10)) {
        memory->counts[0] = spec->min_nodes;
        memory->counts[1] = spec->min_nodes + 2;
        spec->node_counts = memory->counts;
        spec->n_node_counts = 2;
        spec->max_nodes = memory->counts[1];
    }
    if (chance(rng, 25)) {
        static const char *const texts[] = {"x", "x&y", "y|z", "[x|z]", "[x*1&z*1]", "y*1&x*1"};
        struct error err = ERROR_INIT;
        if (constraint_parse(texts[rng_below(rng, countof(texts))], &memory->features, &err) == 0)
            spec->features = memory->features;
    }
}

/* Draws nothing: the seeds keep their worlds. */
static void random_budgets(const struct world *w, struct sched_job_spec *spec,
                           struct request_memory *memory) {
    size_t n = 0;

    for (uint32_t id = 0; id < w->n_budgets; id++) {
        if ((spec->limit / 50 + spec->cpus_per_task + id) % 3 == 0)
            memory->uses[n++] = (struct sched_budget_use) {
                .id = id, .binds = spec->limit != 300, .least = id == SCHED_BUDGET_JOBS};
    }
    for (size_t i = 0; i < spec->n_partitions; i++)
        memory->terms[i] = (struct sched_terms) {.uses = memory->uses, .n_uses = n};
    spec->terms = memory->terms;
}

struct sched_job_spec random_request(struct world *w, struct rng *rng, int richness,
                                     struct request_memory *memory) {
    struct sched_job_spec spec = world_spec(w);

    memset(memory, 0, sizeof(*memory));
    spec.limit = between(rng, 1, 6) * 50;
    spec.priority = 1000;
    if (richness == RANDOM_SIMPLE) {
        spec.min_nodes = spec.max_nodes = between(rng, 1, 3);
        spec.ntasks = spec.min_nodes;
        spec.cpus_per_task = between(rng, 1, 5);
        spec.mem_per_node = between(rng, 0, 5) * 250;
        if (spec.mem_per_node == 0)
            spec.mem_per_node = UINT64_MAX;
        spec.exclusive = chance(rng, 20);
        return spec;
    }
    random_sizes(w, rng, &spec);
    random_nodes(w, rng, &spec, memory);
    if (w->n_kinds && chance(rng, 40))
        random_gres(w, rng, &spec);
    memory->partitions[0] = rng_below(rng, w->n_partitions);
    spec.partitions = memory->partitions;
    if (w->n_partitions > 1 && chance(rng, 30)) {
        memory->partitions[1] = (memory->partitions[0] + 1) % w->n_partitions;
        spec.n_partitions = 2;
    }
    if (chance(rng, 15)) {
        memory->license_ids[0] = rng_below(rng, 2);
        memory->license_counts[0] = between(rng, 1, 2);
        spec.license_ids = memory->license_ids;
        spec.license_counts = memory->license_counts;
        spec.n_licenses = 1;
    }
    spec.priority = between(rng, 1, 5) * 100;
    if (spec.priority > 200) /* draws nothing: the seeds keep their worlds */
        spec.expected = 10 + spec.priority * 7 % 90;
    spec.oversubscribe = spec.priority % 200 == 100;
    if (chance(rng, 15))
        spec.min_limit = spec.limit / 2;
    if (chance(rng, 10))
        spec.begin_time = w->now + (int64_t) rng_below(rng, 200);
    if (chance(rng, 10))
        spec.deadline = w->now + 400;
    if (chance(rng, 10)) {
        spec.n_tasks_of_array = between(rng, 2, 4);
        spec.max_starts = chance(rng, 50) ? UINT32_MAX : rng_below(rng, 3);
    }
    if (chance(rng, 3))
        spec.limit = SCHED_FOREVER;
    random_budgets(w, &spec, memory);
    if (w->n_switches && spec.limit % 100 == 0) { /* draws nothing */
        spec.max_switches = spec.limit == 200 ? 2 : 1;
        spec.switches_until = w->now + (spec.priority >= 300 ? 150 : 1000);
    }
    return spec;
}
