/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a job record to the planner's request: names become indexes, defaults are filled in. The
 * planner's view is kept in step with the jobs here and nowhere else.
 */
#include <string.h>

#include "core/state.h"
#include "model/conf.h"
#include "text/constraint.h"
#include "text/tres.h"

struct core_partition *partition_find(struct core *core, const char *name, uint32_t *ret_index) {
    for (uint32_t i = 0; i < core->n_partitions; i++) {
        if (str_equal(core->partitions[i].rec.name, name)) {
            if (ret_index != NULL)
                *ret_index = i;
            return &core->partitions[i];
        }
    }
    return NULL;
}

int nodes_resolve(struct core *core, const char *text, struct arena *arena, uint32_t **ret,
                  size_t *ret_n, struct error *err) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    struct error why = ERROR_INIT;
    if (hostlist_parse(&list, text, &why) < 0)
        return error_set(err, ERR_INVALID_NODE, "%s", why.text);
    hostlist_unique(&list);
    bool all = list.n == 1 && str_equal_nocase(list.names[0], "ALL") &&
               smap_get(&core->node_index, list.names[0]) == NULL;
    size_t n = all ? core->n_nodes : list.n;
    uint32_t *nodes = arena_alloc(arena, (n + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < n; i++) {
        uintptr_t index = all ? i + 1 : (uintptr_t) smap_get(&core->node_index, list.names[i]);
        if (index == 0)
            return error_set(err, ERR_INVALID_NODE,
                             "node %s is not in this cluster (sinfo -N lists those that are)",
                             list.names[i]);
        nodes[i] = (uint32_t) (index - 1);
    }
    *ret = nodes;
    *ret_n = n;
    return 0;
}

/* ---- GRES ---- */

static int mixed_types(const struct gres_list *list, const char *name, struct error *err) {
    struct str text cleanup_str = STR_INIT;
    gres_print(list, "gres/", ':', &text);
    return error_set(err, ERR_GRES_MIXED, "%s: give the type of every %s or of none",
                     str_cstr(&text), name);
}

static int gres_requests(const struct core *core, const struct job *job, enum gres_part part,
                         struct sched_gres_request *items, uint8_t *ret_n, struct error *err) {
    *ret_n = 0;
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    int r = gres_part_parse(job, part, &list, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < list.n; i++) {
        if (list.items[i].count == 0 || str_equal_nocase(list.items[i].name, "cpu"))
            continue;
        if (*ret_n == 8)
            return error_set(err, ERR_INVALID_GRES,
                             "more than 8 different resources are asked for");
        r = gres_resolve(core, &list.items[i], &items[*ret_n], err);
        if (r < 0)
            return r;
        for (uint8_t j = 0; j < *ret_n; j++) {
            if (items[j].name_of == items[*ret_n].name_of &&
                (items[j].kind < 0) != (items[*ret_n].kind < 0))
                return mixed_types(&list, list.items[i].name, err);
        }
        (*ret_n)++;
    }
    return 0;
}

/* So many for each of the sockets of a node is so many on it. */
static int gres_of_sockets(const struct core *core, const struct job *job,
                           struct sched_job_spec *spec, struct error *err) {
    struct sched_gres_request items[8];
    uint8_t n = 0;
    int r = gres_requests(core, job, GRES_PER_SOCKET, items, &n, err);
    for (uint8_t i = 0; r == 0 && i < n; i++) {
        if (spec->n_per_node == 8)
            return error_set(err, ERR_INVALID_GRES, "more than 8 different resources");
        items[i].count = (uint32_t) min_of(
            saturated(items[i].count, max_of(job->sockets_per_node, 1u)), (uint64_t) UINT32_MAX);
        spec->per_node[spec->n_per_node++] = items[i];
    }
    return r;
}

static bool asks_for(const struct core *core, const struct sched_job_spec *spec,
                     bool (*is_such)(const struct core *core, size_t kind)) {
    const struct {
        const struct sched_gres_request *items;
        uint8_t n;
    } parts[] = {{spec->per_node, spec->n_per_node},
                 {spec->per_job, spec->n_per_job},
                 {spec->per_task, spec->n_per_task}};
    for (size_t p = 0; p < countof(parts); p++) {
        for (uint8_t i = 0; i < parts[p].n; i++) {
            if (parts[p].items[i].count > 0 && is_such(core, (size_t) parts[p].items[i].name_of))
                return true;
        }
    }
    return false;
}

/* "DefCpuPerGPU=4,DefMemPerGPU=1000" */
static uint64_t job_default(const char *defaults, const char *key) {
    size_t length = strlen(key);
    uint64_t value;
    if (defaults == NULL)
        return UNSET64;
    words_each (defaults, ",", word) {
        if (str_starts_nocase(word, key) && word[length] == '=' &&
            str_to_u64(word + length + 1, &value))
            return value;
    }
    return UNSET64;
}

/* What jobs with GPUs get for each that have not said how many CPUs, or how much memory. */
static void spec_gpu_defaults(const struct core *core, const struct job *job,
                              struct sched_job_spec *spec) {
    if (!asks_for(core, spec, gres_kind_is_gpu))
        return;
    const char *own =
        spec->n_partitions > 0 ? core->partitions[spec->partitions[0]].rec.job_defaults : NULL;
    uint64_t cpus = job_default(own, "DefCpuPerGPU"), mem = job_default(own, "DefMemPerGPU");
    cpus = cpus != UNSET64 ? cpus : core->settings.def_cpu_per_gpu;
    mem = mem != UNSET64 ? mem : core->settings.def_mem_per_gpu;
    if (cpus != UNSET64 && job->cpus_per_gpu == 0 && job->cpus_per_task == 0)
        spec->cpus_per_gpu = (uint32_t) min_of(cpus, CPUS_PER_GPU_LARGEST);
    if (mem != UNSET64 && job->mem_per_node == UNSET64 && job->mem_per_cpu == UNSET64 &&
        job->mem_per_gpu == UNSET64) {
        spec->mem_per_gpu = min_of(mem, MEM_LARGEST);
        spec->mem_per_node = spec->mem_per_cpu = UNSET64;
    }
}

/* A job that has said neither how many nodes nor how many tasks gets as many nodes as its GPUs
 * need.
 */
static void spec_spread(const struct core *core, const struct job *job,
                        struct sched_job_spec *spec) {
    if (job->min_nodes != 0 || job->ntasks != 0 || spec->n_partitions == 0)
        return;
    const struct core_partition *part = &core->partitions[spec->partitions[0]];
    uint64_t nodes = 1;
    for (uint8_t i = 0; i < spec->n_per_job; i++) {
        const struct sched_gres_request *item = &spec->per_job[i];
        uint64_t most =
            item->kind >= 0 ? part->gres_most[item->kind] : part->gres_most_of_name[item->name_of];
        if (most > 0)
            nodes = max_of(nodes, (item->count + most - 1) / most);
    }
    if (nodes <= 1 || nodes > part->n_nodes)
        return;
    spec->min_nodes = spec->max_nodes = (uint32_t) nodes;
    spec->ntasks = 0;
}

/* ---- the rest ---- */

static int spec_partitions(struct core *core, const struct job *job, struct arena *arena,
                           struct sched_job_spec *spec, struct error *err) {
    uint32_t *indexes = arena_alloc(arena, (core->n_partitions + 1) * sizeof(uint32_t));
    words_each (job->partition, ",", name) {
        uint32_t index;
        if (partition_find(core, name, &index) == NULL)
            return error_set(err, ERR_INVALID_PARTITION, "invalid partition specified: %s", name);
        if (spec->n_partitions < core->n_partitions)
            indexes[spec->n_partitions++] = index;
    }
    spec->partitions = indexes;
    return 0;
}

static int spec_nodes(struct core *core, const struct job *job, struct arena *arena,
                      struct sched_job_spec *spec, struct error *err) {
    uint32_t *nodes;
    int r;
    if (job->req_nodes != NULL) {
        r = nodes_resolve(core, job->req_nodes, arena, &nodes, &spec->n_req_nodes, err);
        if (r < 0)
            return r;
        spec->req_nodes = nodes;
    }
    if (job->exc_nodes != NULL) {
        r = nodes_resolve(core, job->exc_nodes, arena, &nodes, &spec->n_exc_nodes, err);
        if (r < 0)
            return r;
        spec->exc_nodes = nodes;
    }
    return 0;
}

/* Only counts that the cluster has nodes for are looked at; when there are none of those, the least
 * one stays, so that the planner can say what is missing. */
static int spec_node_counts(const struct core *core, const struct job *job, struct arena *arena,
                            struct sched_job_spec *spec, struct error *err) {
    if (job->node_counts == NULL)
        return 0;
    struct idset set cleanup_idset = IDSET_INIT;
    int r = idset_parse(&set, job->node_counts, 1000000, NULL, err);
    if (r < 0)
        return r;
    uint32_t *counts = arena_alloc(arena, (core->n_nodes + 1) * sizeof(uint32_t)), id = 0;
    for (bool more = idset_next(&set, 1, &id); more && id <= core->n_nodes;
         more = idset_next(&set, id + 1, &id))
        counts[spec->n_node_counts++] = id;
    if (spec->n_node_counts == 0) {
        if (!idset_next(&set, 1, &id))
            return error_set(err, ERR_NODE_COUNT, "--nodes=%s asks for no node", job->node_counts);
        counts[spec->n_node_counts++] = id;
    }
    spec->node_counts = counts;
    return 0;
}

static int spec_licenses(struct core *core, const struct job *job, struct arena *arena,
                         struct sched_job_spec *spec, struct error *err) {
    uint32_t *ids, *counts;
    int r = licenses_check(core, job->licenses, core->settings.allow_zero_licenses, err);
    if (r < 0)
        return r;
    spec->n_licenses = licenses_resolve(core, job->licenses, arena, &ids, &counts);
    spec->license_ids = ids;
    spec->license_counts = counts;
    return 0;
}

static uint64_t default_of(uint64_t partition, uint64_t cluster) {
    return partition != UNSET64 ? partition : cluster;
}

static void spec_memory(const struct core *core, const struct job *job,
                        struct sched_job_spec *spec) {
    spec->mem_per_node = job->mem_per_node;
    spec->mem_per_cpu = job->mem_per_cpu;
    spec->mem_per_gpu = job->mem_per_gpu;
    if (job->mem_per_node != UNSET64 || job->mem_per_cpu != UNSET64 || job->mem_per_gpu != UNSET64)
        return;
    const struct partition *part =
        spec->n_partitions > 0 ? &core->partitions[spec->partitions[0]].rec : NULL;
    const struct core_settings *s = &core->settings;
    uint64_t per_cpu =
        default_of(part != NULL ? part->def_mem_per_cpu : UNSET64, s->def_mem_per_cpu);
    uint64_t per_node =
        default_of(part != NULL ? part->def_mem_per_node : UNSET64, s->def_mem_per_node);
    if (part != NULL && part->def_mem_per_node != UNSET64)
        per_cpu = UNSET64;
    if (per_cpu != UNSET64 && per_cpu > 0)
        spec->mem_per_cpu = per_cpu;
    else if (per_node != UNSET64 && per_node > 0)
        spec->mem_per_node = per_node;
    else
        spec->mem_per_node = 0; /* all of it, as users of Slurm know */
}

static uint64_t lower_limit(uint64_t partition, uint64_t cluster) {
    return partition != UNSET64 && partition > 0 ? partition : cluster > 0 ? cluster : UNSET64;
}

/* Memory per CPU above the limit is paid with more CPUs, as users know it. */
static void spec_memory_limit(const struct core *core, struct sched_job_spec *spec) {
    const struct partition *part =
        spec->n_partitions > 0 ? &core->partitions[spec->partitions[0]].rec : NULL;
    uint64_t most =
        lower_limit(part != NULL ? part->max_mem_per_cpu : UNSET64, core->settings.max_mem_per_cpu);
    if (most == UNSET64 || spec->mem_per_cpu == UNSET64 || spec->mem_per_cpu <= most)
        return;
    uint64_t factor = (spec->mem_per_cpu + most - 1) / most;
    spec->cpus_per_task =
        (uint32_t) min_of(spec->cpus_per_task * factor, (uint64_t) UINT32_MAX / 2);
    spec->mem_per_cpu = (spec->mem_per_cpu + factor - 1) / factor;
}

static uint32_t first_nonzero(uint32_t a, uint32_t b) {
    return a != 0 ? a : b;
}

static void spec_sizes(const struct core *core, const struct job *job,
                       struct sched_job_spec *spec) {
    spec->min_nodes = first_nonzero(job->min_nodes, 1);
    spec->max_nodes =
        first_nonzero(job->max_nodes, job->min_nodes != 0 ? job->min_nodes : UINT32_MAX);
    spec->ntasks = job->ntasks;
    spec->ntasks_per_node = job->ntasks_per_node;
    spec->ntasks_per_socket = job->ntasks_per_socket;
    spec->ntasks_per_core = job->ntasks_per_core;
    spec->cpus_per_task = first_nonzero(job->cpus_per_task, 1);
    spec->min_cpus_per_node = job->min_cpus_per_node;
    spec->sockets_per_node = job->sockets_per_node;
    spec->cores_per_socket = job->cores_per_socket;
    spec->threads_per_core = job->threads_per_core;
    spec->tmp_disk = job->tmp_disk;
    spec->cpus_per_gpu = job->cpus_per_gpu;
    spec->exclusive = job->exclusive == EXCLUSIVE_NODE;
    spec->overlap_user = job->exclusive == EXCLUSIVE_USER;
    spec->overcommit = job->overcommit;
    spec->contiguous = job->contiguous;
    spec->spread = job->spread_job;
    spec->oversubscribe = job->oversubscribe == OVERSUB_YES;
    if (spec->ntasks == 0 && spec->ntasks_per_node == 0 && job->min_nodes == 0)
        spec->ntasks = 1;
    /* -n without -N: as many nodes as the tasks need, never more than tasks. */
    if (spec->ntasks > 0 && spec->max_nodes > spec->ntasks)
        spec->max_nodes = max_of(spec->min_nodes, spec->ntasks);
    /* Tasks are put on the fewest nodes anyway. */
    if (job->use_min_nodes && spec->ntasks == 0) {
        if (spec->n_node_counts > 0) {
            spec->n_node_counts = 1;
            spec->min_nodes = spec->node_counts[0];
        }
        spec->max_nodes = spec->min_nodes;
    }
    (void) core;
}

/* Its own, or the default of the first of its partitions (may be NULL). */
static int64_t job_limit(const struct job *job, const struct partition *part) {
    uint32_t minutes = job->time_limit;
    if ((minutes == MINUTES_UNSET || minutes == 0) && part != NULL)
        minutes = part->default_time != MINUTES_UNSET ? part->default_time : part->max_time;
    return minutes == MINUTES_UNSET || minutes == MINUTES_INFINITE ? SCHED_FOREVER
                                                                   : (int64_t) minutes * 60;
}

bool job_first_partition(struct core *core, const struct job *job, uint32_t *ret_index) {
    cleanup_free char *names = xstrdup(job->partition != NULL ? job->partition : "");
    char *cursor = names, *first = str_next_word(&cursor, ",");
    return first != NULL && partition_find(core, first, ret_index) != NULL;
}

int64_t job_shortest_limit(struct core *core, const struct job *job) {
    uint32_t first;
    if (job->time_min != UNSET32 && job->time_min > 0)
        return (int64_t) job->time_min * 60;
    bool known = job_first_partition(core, job, &first);
    return job_limit(job, known ? &core->partitions[first].rec : NULL);
}

static void spec_times(const struct core *core, const struct job *job,
                       struct sched_job_spec *spec) {
    const struct partition *part =
        spec->n_partitions > 0 ? &core->partitions[spec->partitions[0]].rec : NULL;
    spec->limit = job_limit(job, part);
    spec->min_limit = job->time_min != UNSET32 ? (int64_t) job->time_min * 60 : 0;
    spec->expected = predict_seconds(core, job);
    spec->submit_time = job->submit_time;
    spec->eligible_time = job->eligible_time;
    spec->begin_time = job->begin_time;
    spec->deadline = job->deadline;
}

static int spec_fill(struct core *core, const struct job *job, struct job_spec *ret,
                     struct error *err) {
    struct sched_job_spec *spec = &ret->sched;
    struct arena *arena = &ret->arena;
    spec->job_id = job->job_id;
    spec->priority = job->priority;
    spec->uid = job->uid;
    spec->preempt_class = preempt_class(core, job);
    spec->n_tasks_of_array = 1;
    spec->max_starts = UINT32_MAX;
    int r = spec_partitions(core, job, arena, spec, err);
    if (r < 0 || (r = spec_nodes(core, job, arena, spec, err)) < 0)
        return r;
    if ((r = spec_node_counts(core, job, arena, spec, err)) < 0 ||
        (r = spec_licenses(core, job, arena, spec, err)) < 0 ||
        (r = spec_reservations(core, job, arena, spec, err)) < 0)
        return r;
    if ((r = gres_requests(core, job, GRES_PER_NODE, spec->per_node, &spec->n_per_node, err)) < 0 ||
        (r = gres_requests(core, job, GRES_PER_JOB, spec->per_job, &spec->n_per_job, err)) < 0 ||
        (r = gres_requests(core, job, GRES_PER_TASK, spec->per_task, &spec->n_per_task, err)) < 0)
        return r;
    if ((r = gres_of_sockets(core, job, spec, err)) < 0)
        return r;
    if (asks_for(core, spec, gres_kind_is_gpu) && asks_for(core, spec, gres_kind_is_share))
        return error_set(err, ERR_INVALID_GRES,
                         "a job has GPUs as a whole or shares of them, not both: ask for gpu, "
                         "shard or mps");
    if (job->features != NULL && constraint_parse(job->features, &ret->features, NULL) == 0)
        spec->features = ret->features;
    spec_sizes(core, job, spec);
    spec_spread(core, job, spec);
    spec_times(core, job, spec);
    spec_switches(job, spec);
    spec_memory(core, job, spec);
    spec_gpu_defaults(core, job, spec);
    spec_memory_limit(core, spec);
    limits_terms(core, job, spec, arena);
    het_spec(core, job, spec);
    return 0;
}

int job_spec_build(struct core *core, const struct job *job, struct job_spec *ret,
                   struct error *err) {
    *ret = (struct job_spec) {0};
    arena_init(&ret->arena, 0);
    int r = spec_fill(core, job, ret, err);
    if (r == 0)
        failure_avoid(core, job, &ret->arena, &ret->sched);
    return r;
}

void job_spec_done(struct job_spec *spec) {
    constraint_free(spec->features);
    arena_done(&spec->arena);
}

void sched_sync_run(struct core *core, struct core_job *job, uint32_t partition,
                    const struct sched_alloc *allocs, size_t n) {
    struct arena arena;
    arena_init(&arena, 0);
    uint32_t *ids, *counts;
    /* What it holds stays with it, even when the configuration has less of it by now. */
    size_t n_licenses = licenses_resolve(core, job->rec.licenses, &arena, &ids, &counts);
    sched_run_add(core->sched, job->rec.job_id, partition, job->rec.exclusive == EXCLUSIVE_NODE,
                  job->rec.uid, job->rec.start_time,
                  job->rec.end_time > 0 ? job->rec.end_time : SCHED_FOREVER, allocs, n, ids, counts,
                  n_licenses);
    sched_run_share(core->sched, job->rec.job_id, job->rec.exclusive == EXCLUSIVE_USER,
                    job->rec.oversubscribe == OVERSUB_YES);
    limits_run(core, job, partition);
    preempt_sync_run(core, job);
    job_sync_reservation(core, job);
    arena_done(&arena);
}

static void sched_leave(struct core *core, struct core_job *job) {
    if (job->in_sched)
        sched_job_remove(core->sched, job->rec.job_id);
    job->in_sched = false;
    job->promised = 0;
}

static void stay_out(struct core *core, struct core_job *job, enum job_reason reason) {
    job->rec.reason = reason;
    job_touch(core, job);
    sched_leave(core, job);
}

static void sync_add(struct core *core, struct core_job *job) {
    struct job_spec spec cleanup(job_spec_done);
    struct error err = ERROR_INIT;
    if (job_spec_build(core, &job->rec, &spec, &err) < 0) {
        /* What it names has gone since it was submitted. */
        stay_out(core, job,
                 err.code == -ERR_INVALID_RESERVATION ? REASON_RESERVATION_INVALID
                                                      : REASON_BAD_CONSTRAINTS);
        return;
    }
    if (job->rec.array_tasks != NULL)
        spec.sched.n_tasks_of_array = (uint32_t) idset_count(&job->tasks);
    spec.sched.preempting = preempt_waits(core, job->rec.job_id);
    spec.sched.max_starts = array_slots(job);
    if (spec.sched.max_starts == 0) {
        stay_out(core, job, REASON_ARRAY_TASK_LIMIT);
        return;
    }
    spec.sched.promised = job->promised;
    sched_job_add(core->sched, &spec.sched);
    job->in_sched = true;
    core->plan_wanted = true;
}

bool sched_wanted(struct core *core, struct core_job *job) {
    return job_is_pending(job) && job->rec.flags == 0 && job->rec.priority > 0 &&
           depend_check(core, job);
}

void sched_sync_one(struct core *core, struct core_job *job, bool wanted) {
    if (wanted) {
        sync_add(core, job);
    } else if (job->in_sched) {
        sched_leave(core, job);
        core->plan_wanted = true;
    }
}

void sched_sync(struct core *core, struct core_job *job) {
    if (!het_may_wait(core, job))
        sched_sync_one(core, job, sched_wanted(core, job));
}
