/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner's view of the cluster, made anew: what it is told of nodes, partitions, switches and
 * licences, and then every job on its nodes once more. What a single job changes is told in spec.c.
 */
#include <string.h>

#include "core/state.h"
#include "model/conf.h"

/* ---- the cluster ---- */

/* Shares go with their cards. */
static uint32_t explicit_kinds(const struct core *core, const struct core_node *node) {
    uint32_t kinds = 0, shares = 0;
    bool gpus = false;
    for (size_t k = 0; core->conf->n_gres > 0 && k < core->n_kinds; k++) {
        const struct gres_kind *kind = &core->kinds[k];
        if (node->gres_total[k] == 0)
            continue;
        shares |= cards_are_shared_as(node, k) ? 1u << k : 0;
        if (!(conf_gres_flags(core->conf, node->rec.name, kind->name,
                              kind->type[0] != '\0' ? kind->type : NULL) &
              CONF_GRES_EXPLICIT))
            continue;
        kinds |= 1u << k;
        gpus |= gres_kind_is_gpu(core, k);
    }
    return kinds | (gpus ? shares : 0);
}

static void sched_nodes(struct core *core, struct sched_node_spec *specs, struct arena *arena) {
    for (size_t i = 0; i < core->n_nodes; i++) {
        const struct core_node *node = &core->nodes[i];
        struct sched_node_spec *spec = &specs[i];
        spec->name = node->rec.name;
        spec->cpus = node->effective_cpus;
        spec->sockets = node->rec.sockets;
        spec->cores_per_socket = node->rec.cores;
        spec->threads_per_core = node->cpus_per_core;
        spec->mem = node->rec.memory - min_of(node->rec.mem_spec, node->rec.memory);
        spec->tmp_disk = node->rec.tmp_disk;
        spec->weight = node->rec.weight;
        spec->whole_cores = node->cpus_per_core > 1;
        for (size_t k = 0; k < core->n_kinds; k++)
            spec->gres[k] = node->gres_total[k];
        spec->cards = node->cards;
        spec->explicit_kinds = explicit_kinds(core, node);
        if (node->rec.features == NULL)
            continue;
        char *cursor = arena_strdup(arena, node->rec.features);
        const char **names = arena_alloc(arena, (strlen(cursor) / 2 + 2) * sizeof(char *));
        for (char *name = str_next_word(&cursor, ","); name != NULL;
             name = str_next_word(&cursor, ","))
            names[spec->n_features++] = name;
        spec->features = names;
    }
}

static void sched_partitions(struct core *core, struct sched_partition_spec *specs) {
    for (size_t p = 0; p < core->n_partitions; p++) {
        const struct core_partition *part = &core->partitions[p];
        struct sched_partition_spec *spec = &specs[p];
        spec->name = part->rec.name;
        spec->nodes = part->nodes;
        spec->n_nodes = part->n_nodes;
        spec->tier = part->rec.priority_tier;
        spec->max_nodes = part->rec.max_nodes;
        spec->min_nodes = part->rec.min_nodes;
        spec->max_time = part->rec.max_time;
        spec->max_cpus_per_node = part->rec.max_cpus_per_node;
        spec->exclusive = part->exclusive_node;
        spec->oversubscribe = part->oversubscribe;
        spec->oversubscribe_force = part->oversubscribe_force;
        spec->takes_turns = part->gang;
        spec->schedulable = partition_is_open(part);
        spec->spread = part->rec.lln || core->conf->select_type_parameters & CONF_CR_LLN;
    }
}

/* Weights or features are others now. */
void nodes_changed(struct core *core) {
    features_collect(core);
    sched_rebuild(core);
    place_jobs_again(core);
}

void sched_describe(struct core *core) {
    struct arena arena;
    arena_init(&arena, 0);
    const struct conf *conf = core->conf;
    struct sched_settings settings = {
        .backfill = conf->scheduler_type == CONF_SCHEDULER_BACKFILL,
        .mem_consumable = core->settings.mem_consumable,
        .cpus_consumable = conf->select_type == CONF_SELECT_CONS_TRES,
        .reservations = max_of(conf->scheduler.bf_job_part_count_reserve, 1u),
        .reserve_age = conf->scheduler.bf_min_age_reserve,
        .reserve_priority = conf->scheduler.bf_min_prio_reserve,
        .guard = (int64_t) min_of(conf->scheduler.guard_time, (uint64_t) TIME_LATEST),
        .guard_jobs = conf->scheduler.guard_jobs,
        .default_limit = 365 * 86400,
        .pack_nodes = true,
        .short_first = conf->scheduler.candidates != CONF_SCHED_CANDIDATES_SAME,
    };
    struct sched_gres_kind kinds[SCHED_GRES_KINDS];
    for (size_t k = 0; k < core->n_kinds; k++)
        kinds[k] = (struct sched_gres_kind) {core->kinds[k].name, core->kinds[k].type};
    struct sched_node_spec *nodes =
        arena_alloc(&arena, (core->n_nodes + 1) * sizeof(struct sched_node_spec));
    struct sched_partition_spec *parts =
        arena_alloc(&arena, (core->n_partitions + 1) * sizeof(struct sched_partition_spec));
    sched_nodes(core, nodes, &arena);
    sched_partitions(core, parts);
    if (core->sched == NULL)
        core->sched = sched_new(&settings);
    sched_configure(core->sched, &settings, kinds, core->n_kinds, nodes, core->n_nodes, parts,
                    core->n_partitions);
    topology_to_sched(core, &arena);
    sched_set_licenses(core->sched, core->license_totals, core->n_licenses);
    preempt_to_sched(core);
    for (uint32_t i = 0; i < core->n_nodes; i++)
        sched_node_usable(core->sched, i, node_is_usable(&core->nodes[i]));
    reservations_to_sched(core);
    limits_show(core, core->sched);
    arena_done(&arena);
}

/* Nodes and shapes that one pass looks at, about 10 ms; the next turn goes on. */
#define WORK_PER_PASS 50000

void sched_rebuild(struct core *core) {
    sched_free(core->sched_before);
    core->sched_before = core->sched;
    core->sched = NULL;
    limits_renew(core);
    sched_describe(core);
    sched_bound_work(core->sched, WORK_PER_PASS);
    reservations_show(core);
}

/* ---- the jobs ---- */

static void run_again(struct core *core, struct core_job *job) {
    struct sched_alloc *allocs = xcalloc(job_n_entries(&job->rec) + 1, sizeof(*allocs));
    size_t n = 0;
    uint32_t partition = 0;
    job->nodes_busy = 0;
    for (uint32_t i = 0; i < job_n_entries(&job->rec); i++) {
        struct job_node *entry = job_entry(&job->rec, i);
        if (entry->released)
            continue;
        struct core_node *node = &core->nodes[entry->node];
        alloc_from_entry(core, entry, &allocs[n++]);
        if (!job->rec.cpus_given)
            assign_cores(core, entry, true);
        assign_gres(core, entry, true);
        job->nodes_busy++;
        node->n_jobs++;
        node->n_given += job->rec.cpus_given;
        vec_push(&node->jobs, job->rec.job_id);
        node->n_completing +=
            (job->rec.flags & JOB_FLAG_COMPLETING) != 0 || job_entry_is_leaving(&job->rec, i);
        if (!job->rec.cpus_given)
            node_cpus_add(core, entry->node, entry->cpus);
        node->rec.alloc_mem += entry->mem;
    }
    (void) partition_find(core, job->rec.partition, &partition);
    if (n > 0)
        sched_sync_run(core, job, partition, allocs, n);
    if (job->rec.cpus_given)
        sched_run_suspend(core->sched, job->rec.job_id, true);
    free(allocs);
}

/* What it has given back to nodes that are gone from the configuration is forgotten. */
static void leaving_find_nodes(struct core *core, struct core_job *job) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < job->rec.leaving.n; i++) {
        struct job_node *entry = &job->rec.leaving.items[i];
        entry->node = core_node_find(core, entry->name);
        if (entry->node == UINT32_MAX)
            record_done(&record_job_node, entry);
        else
            job->rec.leaving.items[n++] = *entry;
    }
    job->rec.leaving.n = n;
}

/* Node indexes of the allocation by name; false if one of the nodes is gone. */
static bool find_nodes_again(struct core *core, struct core_job *job) {
    bool all = true;
    steps_find_nodes(core, job);
    leaving_find_nodes(core, job);
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        struct job_node *entry = &job->rec.allocation.items[i];
        uint32_t node = core_node_find(core, entry->name);
        if (node == UINT32_MAX) {
            all &= entry->released;
            entry->released = true;
            entry->node = 0;
        } else {
            entry->node = node;
        }
    }
    return all;
}

/* Nothing is on the nodes until run_again() has said what. */
static void clear_use(struct core *core) {
    for (size_t i = 0; i < core->n_nodes; i++) {
        struct core_node *node = &core->nodes[i];
        node->n_jobs = node->n_completing = node->n_given = 0;
        vec_reset(&node->jobs);
        node->rec.alloc_cpus = node->given_cpus = 0;
        node->rec.alloc_mem = 0;
        memset(node->core_use, 0, node->n_cores);
        cards_clear(node);
        for (size_t k = 0; k < core->n_kinds; k++) {
            if (node->gres_use[k] != NULL)
                memset(node->gres_use[k], 0, node->gres_total[k]);
        }
    }
}

/* Every job again on its nodes and in the planner's view; those who wait in slices (sweep.c). */
void place_jobs_again(struct core *core) {
    core->placing = true;
    clear_use(core);
    list_each (&core->placed, at) {
        struct core_job *job = list_entry(at, struct core_job, placed);
        bool found = find_nodes_again(core, job);
        run_again(core, job);
        if (!found && job_has_nodes(job)) {
            emit_log(core, EFFECT_ERROR,
                     "job %u: a node of its allocation is gone from the "
                     "configuration",
                     job->rec.job_id);
            job_finish(core, job, JOB_NODE_FAIL, REASON_NODE_DOWN, 1 << 8,
                       "DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS");
        }
    }
    core->placing = false;
    for (uint32_t i = 0; i < core->n_nodes; i++)
        node_update_state(core, i);
    list_each (&core->placed, at)
        job_nodes_gone(core, list_entry(at, struct core_job, placed));
    core->plan_wanted = true;
    sweep_begin(core);
}
