/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Could a request ever start? If not: what was asked, what exists, and what would work. The test is
 * the planner's own, with every node up and free; the words come from comparing the request with
 * the nodes one requirement at a time.
 */
#include "sched/internal.h"
#include "text/size.h"

struct largest {
    const struct node *node;
    int64_t amount;
};

/* The node of the alternatives that has most of one dimension. */
static struct largest largest_of(const struct sched *s, const struct shape *shape, uint32_t dim) {
    struct largest best = {NULL, -1};

    for (size_t i = 0; i < shape->n_alternatives; i++) {
        bits_each (&s->partitions[shape->alternatives[i].partition].nodes, node) {
            int64_t amount = node_total(s, node)[dim];
            if (amount > best.amount)
                best = (struct largest) {&s->nodes[node], amount};
        }
    }
    return best;
}

static void partitions_text(const struct sched *s, const struct shape *shape, struct str *out) {
    uint32_t last = UINT32_MAX;

    for (size_t i = 0; i < shape->n_alternatives; i++) {
        uint32_t partition = shape->alternatives[i].partition;
        if (partition == last)
            continue;
        str_join(out, ", ", s->partitions[partition].name);
        last = partition;
    }
}

/* What the smallest share needs: one task (or a fixed share) and the GRES of a node. */
static int64_t least_cpus(const struct shape *shape) {
    int64_t gpus = 0, tasks = shape->ntasks ? 1 : shape_share(shape), cpus;

    for (uint8_t i = 0; i < shape->n_per_node; i++)
        gpus += shape->per_node[i].is_gpu ? shape->per_node[i].count : 0;
    for (uint8_t i = 0; i < shape->n_per_task; i++)
        gpus += shape->per_task[i].is_gpu ? shape->per_task[i].count * tasks : 0;
    cpus = shape->overcommit ? 1 : tasks * shape->cpus_per_task;
    cpus = max_of(cpus, (int64_t) shape->min_cpus_per_node);
    return max_of(cpus, (int64_t) shape->cpus_per_gpu * gpus);
}

static int64_t least_mem(const struct shape *shape, int64_t cpus) {
    if (shape->mem_per_node >= 0)
        return shape->mem_per_node;
    return shape->mem_per_cpu >= 0 ? shape->mem_per_cpu * cpus : 0;
}

static int explain_mem(const struct sched *s, const struct shape *shape, int64_t asked,
                       int64_t cpus, struct str *before, struct error *err) {
    struct largest most = largest_of(s, shape, DIM_MEM);
    cleanup_str struct str want = STR_INIT, have = STR_INIT, where = STR_INIT;

    mem_print(asked, true, &want);
    mem_print(most.amount, true, &have);
    partitions_text(s, shape, &where);
    str_append(before, "Memory specification can not be satisfied");
    if (shape->mem_per_node >= 0) {
        return error_set(
            err, ERR_NODE_CONFIG,
            "the job asks for %s of memory on a node, the largest node of partition %s "
            "(%s) has %s: ask for --mem=%s or less",
            str_cstr(&want), str_cstr(&where), most.node->name, str_cstr(&have), str_cstr(&have));
    }
    return error_set(
        err, ERR_NODE_CONFIG,
        "the job asks for %s of memory on a node (%lld CPUs with %lld MiB each), the "
        "largest node of partition %s (%s) has %s: ask for --mem-per-cpu=%lldM or less",
        str_cstr(&want), (long long) cpus, (long long) shape->mem_per_cpu, str_cstr(&where),
        most.node->name, str_cstr(&have), (long long) (most.amount / cpus));
}

static int explain_cpus(const struct sched *s, const struct shape *shape, int64_t asked,
                        struct str *before, struct error *err) {
    struct largest most = largest_of(s, shape, DIM_CPU);
    cleanup_str struct str where = STR_INIT;

    partitions_text(s, shape, &where);
    str_append(before, "CPU count per node can not be satisfied");
    return error_set(
        err, ERR_NODE_CONFIG,
        "the job asks for %lld CPUs on one node, the largest node of partition %s (%s) "
        "has %lld: ask for fewer CPUs per task or fewer tasks per node",
        (long long) asked, str_cstr(&where), most.node->name, (long long) most.amount);
}

static void dim_name(const struct sched *s, uint32_t dim, struct str *out) {
    for (uint32_t k = 0; k < s->n_kinds; k++) {
        const struct gres_kind *kind = &s->kinds[k];
        if (dim == kind->dim || kind->sum == dim) {
            str_append(out, kind->name);
            if (dim == kind->dim && kind->type[0])
                str_printf(out, ":%s", kind->type);
            return;
        }
    }
}

/* "c1 has gpu:a100 4, gpu:v100 2": what kinds of one name exist. */
static void kinds_text(const struct sched *s, const struct shape *shape, uint32_t dim,
                       struct str *out) {
    const char *name = NULL;

    for (uint32_t k = 0; k < s->n_kinds; k++) {
        if (dim == s->kinds[k].dim || s->kinds[k].sum == dim)
            name = s->kinds[k].name;
    }
    for (uint32_t k = 0; k < s->n_kinds; k++) {
        struct largest most = largest_of(s, shape, s->kinds[k].dim);
        cleanup_str struct str kind = STR_INIT;
        if (!str_equal_nocase(s->kinds[k].name, name) || most.amount <= 0)
            continue;
        dim_name(s, s->kinds[k].dim, &kind);
        str_printf(&kind, ":%lld", (long long) most.amount);
        str_join(out, ", ", str_cstr(&kind));
    }
}

static int explain_gres(const struct sched *s, const struct shape *shape,
                        const struct gres_want *want, struct error *err) {
    cleanup_str struct str name = STR_INIT, where = STR_INIT, kinds = STR_INIT;

    dim_name(s, want->dim, &name);
    partitions_text(s, shape, &where);
    kinds_text(s, shape, want->dim, &kinds);
    if (kinds.length == 0) {
        return error_set(err, ERR_NODE_CONFIG, "no node of partition %s has any %s",
                         str_cstr(&where), str_cstr(&name));
    }
    return error_set(err, ERR_NODE_CONFIG,
                     "the job asks for %s:%u on a node, the most that one node of partition %s has "
                     "is %s",
                     str_cstr(&name), want->count, str_cstr(&where), str_cstr(&kinds));
}

static bool geometry_fits(const struct sched *s, const struct shape *shape) {
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        bits_each (&s->partitions[shape->alternatives[i].partition].nodes, node) {
            const struct hardware *hardware = &s->hardware[s->nodes[node].hardware];
            if (hardware->sockets >= shape->sockets &&
                hardware->cores_per_socket >= shape->cores_per_socket &&
                hardware->threads_per_core >= shape->threads_per_core)
                return true;
        }
    }
    return false;
}

static bool tmp_disk_fits(const struct sched *s, const struct shape *shape, uint64_t tmp_disk,
                          uint64_t *most) {
    *most = 0;
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        bits_each (&s->partitions[shape->alternatives[i].partition].nodes, node) {
            *most = max_of(*most, s->nodes[node].tmp_disk);
        }
    }
    return *most >= tmp_disk;
}

/* The most that all nodes of one partition have together. */
static int64_t sum_of(const struct sched *s, const struct shape *shape, uint32_t dim) {
    int64_t most = 0;

    for (size_t i = 0; i < shape->n_alternatives; i++) {
        int64_t sum = 0;
        bits_each (&s->partitions[shape->alternatives[i].partition].nodes, node)
            sum += node_total(s, node)[dim];
        most = max_of(most, sum);
    }
    return most;
}

/* GRES of the whole job, of which there are not enough. 0: there are. */
static int explain_job_gres(const struct sched *s, const struct shape *shape, struct error *err) {
    for (uint8_t i = 0; i < shape->n_per_job; i++) {
        const struct gres_want *want = &shape->per_job[i];
        int64_t sum = sum_of(s, shape, want->dim);
        if (sum >= want->count)
            continue;
        cleanup_str struct str name = STR_INIT, where = STR_INIT;
        dim_name(s, want->dim, &name);
        partitions_text(s, shape, &where);
        return error_set(err, ERR_NODE_CONFIG,
                         "the job asks for %s:%u in all, the nodes of partition %s have %lld "
                         "together",
                         str_cstr(&name), want->count, str_cstr(&where), (long long) sum);
    }
    return 0;
}

/* "2 sockets, 4 cores per socket": what was asked for of it. */
static void geometry_text(const struct shape *shape, struct str *out) {
    const struct {
        uint32_t count;
        const char *what;
    } parts[] = {{shape->sockets, "sockets"},
                 {shape->cores_per_socket, "cores per socket"},
                 {shape->threads_per_core, "threads per core"}};

    for (size_t i = 0; i < countof(parts); i++) {
        if (parts[i].count > 0)
            str_printf(out, "%s%u %s", out->length > 0 ? ", " : "", parts[i].count, parts[i].what);
    }
}

/* One requirement alone that no node meets. 0: each alone can be met. */
static int explain_single(const struct sched *s, const struct shape *shape, uint64_t tmp_disk,
                          struct str *before, struct error *err) {
    int64_t cpus = least_cpus(shape), mem = least_mem(shape, cpus);
    uint64_t most_tmp;

    if (!geometry_fits(s, shape)) {
        str_append(before, "Socket, core and/or thread specification can not be satisfied");
        cleanup_str struct str asked = STR_INIT;
        geometry_text(shape, &asked);
        return error_set(err, ERR_NODE_CONFIG, "no node has %s", str_cstr(&asked));
    }
    if (cpus > largest_of(s, shape, DIM_CPU).amount)
        return explain_cpus(s, shape, cpus, before, err);
    if (mem > largest_of(s, shape, DIM_MEM).amount)
        return explain_mem(s, shape, mem, cpus, before, err);
    if (!tmp_disk_fits(s, shape, tmp_disk, &most_tmp)) {
        str_append(before, "Temporary disk specification can not be satisfied");
        return error_set(err, ERR_NODE_CONFIG,
                         "the job asks for %llu MiB of temporary disk, the most that a node has is "
                         "%llu MiB",
                         (unsigned long long) tmp_disk, (unsigned long long) most_tmp);
    }
    for (uint8_t i = 0; i < shape->n_per_node; i++) {
        if (largest_of(s, shape, shape->per_node[i].dim).amount < shape->per_node[i].count)
            return explain_gres(s, shape, &shape->per_node[i], err);
    }
    for (uint8_t i = 0; i < shape->n_per_task; i++) {
        if (largest_of(s, shape, shape->per_task[i].dim).amount < shape->per_task[i].count)
            return explain_gres(s, shape, &shape->per_task[i], err);
    }
    return explain_job_gres(s, shape, err);
}

/* How many nodes can take a share at all. */
static uint32_t nodes_that_fit(struct sched *s, struct shape *shape, struct alternative *alt) {
    uint32_t n = 0;

    bits_each (&alt->set->nodes, node) {
        n += node_share(s, shape, alt, node, node_total(s, node)).tasks > 0;
    }
    return n;
}

static int explain_nodes(struct sched *s, struct shape *shape, struct error *err) {
    cleanup_str struct str where = STR_INIT;
    uint32_t best = 0, asked = 0;

    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct alternative *alt = &shape->alternatives[i];
        best = max_of(best, nodes_that_fit(s, shape, alt));
        asked = max_of(asked, alt->min_nodes);
    }
    partitions_text(s, shape, &where);
    if (best == 0) {
        return error_set(err, ERR_NODE_CONFIG,
                         "no single node of partition %s has all that the job asks for together "
                         "(CPUs, memory, GRES, features)",
                         str_cstr(&where));
    }
    if (best >= asked && shape->ntasks > 1) {
        return error_set(err, ERR_NODE_CONFIG,
                         "the %u nodes of partition %s that can serve the job do not hold %u tasks "
                         "of %u CPUs within the number of nodes asked for",
                         best, str_cstr(&where), shape->ntasks, shape->cpus_per_task);
    }
    if (best >= asked) {
        return error_set(err, ERR_NODE_CONFIG,
                         "%u nodes of partition %s can each serve a part of the job, together they "
                         "do not hold all that it asks for",
                         best, str_cstr(&where));
    }
    return error_set(err, ERR_NODE_COUNT,
                     "the job asks for %u nodes, %u nodes of partition %s can serve it: ask for "
                     "--nodes=%u or less",
                     asked, best, str_cstr(&where), best);
}

static bool required_in_set(const struct shape *shape) {
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        bool all = true;
        for (size_t r = 0; r < shape->n_req_nodes; r++)
            all = all && bits_test(&shape->alternatives[i].set->nodes, shape->req_nodes[r]);
        if (all)
            return true;
    }
    return false;
}

static int explain_never(struct sched *s, struct shape *shape, const struct sched_job_spec *spec,
                         struct str *before, struct error *err) {
    int rc = explain_single(s, shape, spec->tmp_disk, before, err);

    if (rc != 0)
        return rc;
    if (shape->n_req_nodes && !required_in_set(shape)) {
        return error_set(err, ERR_NODE_CONFIG,
                         "a node named in --nodelist is not in the partition or cannot serve the "
                         "job (features, size)");
    }
    return explain_nodes(s, shape, err);
}

/* Only its reservations are too small. */
static bool fits_unreserved(struct sched *s, struct shape *shape) {
    bool fits = false;

    for (size_t i = 0; i < shape->n_alternatives && !fits; i++) {
        struct alternative *alt = &shape->alternatives[i];
        uint32_t reservation = alt->reservation;
        alt->reservation = 0;
        fits = reservation && place_ever(s, shape, alt, false);
        alt->reservation = reservation;
    }
    return fits;
}

int sched_feasible(struct sched *s, const struct sched_job_spec *spec, struct str *before,
                   struct error *err) {
    cleanup_str struct str unused = STR_INIT;
    struct shape *known = s->naive ? NULL : shape_find(s, spec);
    int rc = 0;

    /* Others like it wait and were asked for, or are known to have nodes that are up. */
    if (known && (known->possible_version == s->static_version ||
                  (known->static_version == s->static_version && !known->blocked_reason)))
        return 0;
    struct shape *shape = shape_new(s, spec);
    bool possible = false;

    for (size_t i = 0; i < shape->n_alternatives && !possible; i++)
        possible = place_ever(s, shape, &shape->alternatives[i], false);
    if (possible && known)
        known->possible_version = s->static_version;
    if (shape->n_alternatives == 0)
        rc = error_set(err, ERR_NO_PARTITION, "the job names no partition");
    else if (!possible && fits_unreserved(s, shape))
        rc = error_set(err, ERR_NODE_CONFIG,
                       "the reservation does not hold all that the job asks for; without it, the "
                       "job could run");
    else if (!possible)
        rc = explain_never(s, shape, spec, before ? before : &unused, err);
    shape_free(s, shape);
    return rc;
}
