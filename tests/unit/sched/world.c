/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <stdio.h>

/* Says the same to the planner under test and to its mirror. */
#define TELL(w, call)                                                                              \
    do {                                                                                           \
        struct sched *sched = (w)->sched;                                                          \
        call;                                                                                      \
        sched = (w)->mirror;                                                                       \
        if (sched)                                                                                 \
            call;                                                                                  \
    } while (0)

void world_init(struct world *w, size_t n_nodes, uint32_t cpus, uint64_t mem) {
    memset(w, 0, sizeof(*w));
    w->settings = (struct sched_settings) {.backfill = true,
                                           .mem_consumable = true,
                                           .cpus_consumable = true,
                                           .reservations = 1,
                                           .default_limit = 86400,
                                           .pack_nodes = true};
    w->n_nodes = n_nodes;
    w->nodes = xcalloc(n_nodes + 1, sizeof(*w->nodes));
    w->names = xcalloc(n_nodes + 1, sizeof(*w->names));
    w->usable = xcalloc(n_nodes + 1, sizeof(*w->usable));
    uint32_t *all = xcalloc(n_nodes + 1, sizeof(*all));
    for (size_t i = 0; i < n_nodes; i++) {
        snprintf(w->names[i], sizeof(w->names[i]), "n%zu", i + 1);
        w->nodes[i] = (struct sched_node_spec) {.name = w->names[i],
                                                .cpus = cpus,
                                                .sockets = 1,
                                                .cores_per_socket = cpus,
                                                .threads_per_core = 1,
                                                .mem = mem,
                                                .weight = 1};
        w->usable[i] = true;
        all[i] = i;
    }
    w->n_partitions = 1;
    w->partitions = xcalloc(8, sizeof(*w->partitions));
    w->partitions[0] = (struct sched_partition_spec) {.name = "main",
                                                      .nodes = all,
                                                      .n_nodes = n_nodes,
                                                      .tier = 1,
                                                      .max_nodes = UINT32_MAX,
                                                      .min_nodes = 1,
                                                      .max_time = UINT32_MAX - 1,
                                                      .max_cpus_per_node = UINT32_MAX,
                                                      .oversubscribe = 1,
                                                      .schedulable = true};
    w->next_id = 1;
    w->now = 1000;
    w->sched = sched_new(&w->settings);
}

static void run_done(struct world_run *run) {
    free(run->allocs);
    free(run->license_ids);
    free(run->license_counts);
    free(run->uses);
}

static const struct sched_terms *copy_terms(const struct sched_job_spec *spec) {
    struct sched_terms *copy =
        spec->terms ? xmemdup(spec->terms, spec->n_partitions * sizeof(*copy)) : NULL;

    for (size_t i = 0; copy && i < spec->n_partitions; i++)
        copy[i].uses = xmemdup(copy[i].uses, copy[i].n_uses * sizeof(*copy[i].uses));
    return copy;
}

static void spec_done(struct sched_job_spec *spec) {
    for (size_t i = 0; spec->terms && i < spec->n_partitions; i++)
        free((void *) spec->terms[i].uses);
    free((void *) spec->terms);
    free((void *) spec->partitions);
    free((void *) spec->req_nodes);
    free((void *) spec->exc_nodes);
    free((void *) spec->node_counts);
    free((void *) spec->license_ids);
    free((void *) spec->license_counts);
    free((void *) spec->reservations);
    constraint_free((struct constraint *) spec->features);
}

void world_done(struct world *w) {
    TELL(w, sched_free(sched));
    vec_each (&w->runs, run) {
        run_done(run);
    }
    vec_each (&w->jobs, job) {
        spec_done(&job->spec);
    }
    vec_done(&w->runs);
    vec_done(&w->jobs);
    for (size_t p = 0; p < w->n_partitions; p++)
        free((void *) w->partitions[p].nodes);
    free(w->partitions);
    free(w->nodes);
    free(w->names);
    free(w->usable);
}

void world_configure(struct world *w) {
    TELL(w, sched_configure(sched, &w->settings, w->kinds, w->n_kinds, w->nodes, w->n_nodes,
                            w->partitions, w->n_partitions));
    TELL(w, sched_set_licenses(sched, w->licenses, w->n_licenses));
    for (size_t i = 0; i < w->n_budgets; i++)
        TELL(w, sched_budget_add(sched, &w->budgets[i]));
    if (w->n_switches)
        TELL(w, sched_set_switches(sched, w->switches, w->n_switches, w->leaf_of));
}

struct sched_job_spec world_spec(struct world *w) {
    static const uint32_t first_partition[1] = {0};

    return (struct sched_job_spec) {.n_tasks_of_array = 1,
                                    .max_starts = UINT32_MAX,
                                    .priority = 1000,
                                    .submit_time = w->now,
                                    .limit = 100,
                                    .partitions = first_partition,
                                    .n_partitions = 1,
                                    .min_nodes = 1,
                                    .max_nodes = UINT32_MAX,
                                    .ntasks = 1,
                                    .cpus_per_task = 1,
                                    .mem_per_node = UNSET64_,
                                    .mem_per_cpu = UNSET64_,
                                    .mem_per_gpu = UNSET64_,
                                    .uid = 1000};
}

static const uint32_t *copy_u32(const uint32_t *items, size_t n) {
    return n ? xmemdup(items, n * sizeof(*items)) : NULL;
}

uint32_t world_add(struct world *w, const struct sched_job_spec *spec) {
    struct world_job job = {*spec, true};

    job.spec.job_id = w->next_id++;
    job.spec.partitions = copy_u32(spec->partitions, spec->n_partitions);
    job.spec.req_nodes = copy_u32(spec->req_nodes, spec->n_req_nodes);
    job.spec.exc_nodes = copy_u32(spec->exc_nodes, spec->n_exc_nodes);
    job.spec.node_counts = copy_u32(spec->node_counts, spec->n_node_counts);
    job.spec.license_ids = copy_u32(spec->license_ids, spec->n_licenses);
    job.spec.license_counts = copy_u32(spec->license_counts, spec->n_licenses);
    job.spec.terms = copy_terms(spec);
    job.spec.reservations = copy_u32(spec->reservations, spec->n_reservations);
    vec_push(&w->jobs, job);
    TELL(w, sched_job_add(sched, &job.spec));
    return job.spec.job_id;
}

struct world_job *world_job(struct world *w, uint32_t job_id) {
    vec_each (&w->jobs, job) {
        if (job->spec.job_id == job_id)
            return job;
    }
    return NULL;
}

void world_cancel(struct world *w, uint32_t job_id) {
    struct world_job *job = world_job(w, job_id);

    assert_non_null(job);
    spec_done(&job->spec);
    vec_remove(&w->jobs, job - w->jobs.items);
    TELL(w, sched_job_remove(sched, job_id));
}

void world_commit(struct world *w, const struct sched_plan *plan) {
    for (size_t i = 0; i < plan->n_starts; i++) {
        const struct sched_start *start = &plan->starts[i];
        struct world_job *job = world_job(w, start->job_id);
        assert_non_null(job);
        const struct sched_job_spec *spec = &job->spec;
        struct world_run run = {.job_id = spec->n_tasks_of_array > 1 ? w->next_id++ : spec->job_id,
                                .record_id = spec->job_id,
                                .start = w->now,
                                .limit = start->limit,
                                .reservation = start->reservation,
                                .n = start->n_allocs,
                                .n_licenses = spec->n_licenses};
        run.end = start->limit == SCHED_FOREVER ? SCHED_FOREVER : w->now + start->limit;
        run.exclusive = spec->exclusive || w->partitions[start->partition].exclusive ||
                        !w->settings.cpus_consumable;
        bool overlap_user = spec->overlap_user, oversubscribe = spec->oversubscribe;
        const struct sched_partition_spec *partition = &w->partitions[start->partition];
        run.partition = start->partition;
        run.layers = !run.exclusive && (oversubscribe || partition->oversubscribe_force)
                         ? partition->oversubscribe
                         : 1;
        run.allocs = xmemdup(start->allocs, start->n_allocs * sizeof(*run.allocs));
        run.license_ids = (uint32_t *) copy_u32(spec->license_ids, spec->n_licenses);
        run.license_counts = (uint32_t *) copy_u32(spec->license_counts, spec->n_licenses);
        for (size_t p = 0; spec->terms && p < spec->n_partitions; p++) {
            if (spec->partitions[p] != start->partition)
                continue;
            run.n_uses = spec->terms[p].n_uses;
            run.uses = xmemdup(spec->terms[p].uses, run.n_uses * sizeof(*run.uses));
            break;
        }
        vec_push(&w->runs, run);
        if (spec->n_tasks_of_array > 1) {
            job->spec.n_tasks_of_array--;
            if (job->spec.max_starts != UINT32_MAX)
                job->spec.max_starts--;
            TELL(w, sched_job_add(sched, &job->spec));
        } else {
            world_cancel(w, spec->job_id);
        }
        TELL(w, sched_run_add(sched, run.job_id, start->partition, run.exclusive, 1000, run.start,
                              run.end, run.allocs, run.n, run.license_ids, run.license_counts,
                              run.n_licenses));
        TELL(w, sched_run_share(sched, run.job_id, overlap_user, oversubscribe));
        TELL(w, sched_run_reserve(sched, run.job_id, run.reservation));
        TELL(w, sched_run_budgets(sched, run.job_id, run.uses, run.n_uses));
    }
}

size_t world_pass(struct world *w) {
    struct sched_plan plan;

    sched_pass(w->sched, w->now, 0, &plan);
    world_commit(w, &plan);
    size_t n = plan.n_starts;
    sched_plan_done(&plan);
    return n;
}

struct world_run *world_running(struct world *w, uint32_t job_id) {
    vec_each (&w->runs, run) {
        if (run->job_id == job_id)
            return run;
    }
    return NULL;
}

void world_end(struct world *w, uint32_t job_id) {
    struct world_run *run = world_running(w, job_id);

    assert_non_null(run);
    run_done(run);
    vec_remove(&w->runs, run - w->runs.items);
    TELL(w, sched_run_remove(sched, job_id));
}

void world_end_due(struct world *w) {
    for (size_t i = 0; i < w->runs.n;) {
        if (w->runs.items[i].end <= w->now)
            world_end(w, w->runs.items[i].job_id);
        else
            i++;
    }
}

void world_reserve(struct world *w, const struct sched_reservation_spec *specs, size_t n) {
    TELL(w, sched_set_reservations(sched, specs, n));
}

void world_usable(struct world *w, uint32_t node, bool usable) {
    w->usable[node] = usable;
    TELL(w, sched_node_usable(sched, node, usable));
}

void world_priority(struct world *w, uint32_t job_id, uint32_t priority) {
    world_job(w, job_id)->spec.priority = priority;
    TELL(w, sched_job_priority(sched, job_id, priority));
}

/* A card is one job's, or shared, and then not by more than there are shares. */
static void check_cards(const struct world *w, size_t node) {
    const struct sched_cards *cards = w->nodes[node].cards;

    for (uint32_t c = 0; cards && c < cards->n; c++) {
        uint64_t units = 0, users = 0, whole = 0;
        vec_each (&w->runs, run) {
            for (size_t i = 0; i < run->n; i++) {
                if (run->allocs[i].node != node || run->allocs[i].cards[c] == 0)
                    continue;
                users++;
                units += run->allocs[i].cards[c];
                whole += run->allocs[i].cards[c] == cards->whole[c];
            }
        }
        assert_true(whole == 0 || users == 1);
        assert_true(whole > 0 || units < cards->whole[c]);
    }
}

static uint64_t run_amount(const struct world *w, const struct world_run *run,
                           const struct sched_budget *budget) {
    uint64_t sum = 0;

    for (size_t i = 0; i < run->n; i++) {
        const struct sched_alloc *alloc = &run->allocs[i];
        const struct sched_node_spec *node = &w->nodes[alloc->node];
        sum += budget->of == SCHED_BUDGET_CPUS ? (run->exclusive ? node->cpus : alloc->cpus) : 0;
        sum += budget->of == SCHED_BUDGET_NODES;
        for (size_t k = 0; budget->of == SCHED_BUDGET_GRES_NAME && k < w->n_kinds; k++) {
            if (str_equal(w->kinds[k].name, w->kinds[budget->kind].name))
                sum += run->exclusive ? node->gres[k] : alloc->gres[k];
        }
    }
    return budget->of == SCHED_BUDGET_JOBS ? 1 : sum;
}

/* What a run has of it, or will have used until its end. */
static uint64_t run_share(const struct world *w, const struct world_run *run,
                          const struct sched_budget *budget) {
    uint64_t amount = run_amount(w, run, budget);

    return budget->measure == SCHED_BUDGET_HELD
               ? amount
               : amount * (uint64_t) max_of(run->end - w->now, (int64_t) 0);
}

/* What is in use of it, and what those have who are bound by it: others may go over it. Of a stock
 * those have used, too, who have left. */
static void check_budget(const struct world *w, uint32_t id) {
    const struct sched_budget *budget = &w->budgets[id];
    uint64_t used = 0, others = 0;

    vec_each (&w->runs, run) {
        for (size_t i = 0; i < run->n_uses; i++) {
            if (run->uses[i].id != id)
                continue;
            used += run_share(w, run, budget);
            others += run->uses[i].binds ? 0 : run_share(w, run, budget);
        }
    }
    if (budget->measure == SCHED_BUDGET_STOCK)
        assert_true(used <= sched_budget_used(w->sched, w->now, id));
    else
        assert_int_equal(used, sched_budget_used(w->sched, w->now, id));
    assert_true(used <= budget->total || others > 0);
}

void world_check(const struct world *w) {
    for (uint32_t i = 0; i < w->n_budgets; i++)
        check_budget(w, i);
    for (size_t node = 0; node < w->n_nodes; node++) {
        uint64_t cpus = 0, mem = 0, gres[SCHED_GRES_KINDS] = {0}, jobs = 0, exclusive = 0;
        uint32_t layers = UINT32_MAX, partition = UINT32_MAX;

        vec_each (&w->runs, run) {
            for (size_t i = 0; i < run->n; i++) {
                if (run->allocs[i].node != node)
                    continue;
                jobs++;
                bool others = partition != UINT32_MAX && partition != run->partition;
                partition = run->partition;
                layers = others ? 1 : min_of(layers, run->layers);
                exclusive += run->exclusive;
                cpus += run->allocs[i].cpus;
                mem += run->allocs[i].mem;
                for (size_t k = 0; k < w->n_kinds; k++)
                    gres[k] += run->allocs[i].gres[k];
            }
        }
        assert_true(jobs == 0 || cpus <= (uint64_t) w->nodes[node].cpus * layers);
        assert_true(!w->settings.mem_consumable || mem <= w->nodes[node].mem);
        for (size_t k = 0; k < w->n_kinds; k++)
            assert_true(gres[k] <= w->nodes[node].gres[k]);
        assert_true(exclusive == 0 || jobs == 1);
        check_cards(w, node);
    }
    for (size_t l = 0; l < w->n_licenses; l++) {
        uint64_t used = 0;
        vec_each (&w->runs, run) {
            for (size_t i = 0; i < run->n_licenses; i++)
                used += run->license_ids[i] == l ? run->license_counts[i] : 0;
        }
        assert_true(used <= w->licenses[l]);
    }
}

const struct sched_start *plan_start(const struct sched_plan *plan, uint32_t job_id) {
    for (size_t i = 0; i < plan->n_starts; i++) {
        if (plan->starts[i].job_id == job_id)
            return &plan->starts[i];
    }
    return NULL;
}

const struct sched_wait *plan_wait(const struct sched_plan *plan, uint32_t job_id) {
    for (size_t i = 0; i < plan->n_waits; i++) {
        if (plan->waits[i].job_id == job_id)
            return &plan->waits[i];
    }
    return NULL;
}
