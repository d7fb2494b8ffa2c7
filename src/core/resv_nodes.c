/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes a reservation gets, and with what it collides. Nodes that are named are taken; where
 * only numbers are given, nodes of the partition with the features are chosen: first those that it
 * has already, then idle ones, by weight and in the order of the configuration. A node is in
 * question when it is up, no other reservation holds it at that time and nothing runs on it that
 * may last until then.
 */
#include <string.h>

#include "core/reservation.h"
#include "text/constraint.h"
#include "text/timestamp.h"
#include "text/tres.h"

/* ---- time ---- */

/* The start of an occurrence at or before `when`, where one can be found without counting. */
static int64_t occurrence_before(const struct reservation *rec, int64_t when) {
    int64_t start = rec->start_time, ahead = when - start;
    if (ahead <= 0)
        return start;
    if (rec->flags & RESERVATION_HOURLY)
        return start + ahead / 3600 * 3600;
    int64_t days = max_of(ahead / 86400 - 1, (int64_t) 0);
    if (rec->flags & RESERVATION_DAILY)
        return timestamp_add_days(start, (int) days);
    if (rec->flags & (RESERVATION_WEEKLY | RESERVATION_WEEKDAY | RESERVATION_WEEKEND))
        return timestamp_add_days(start, (int) (days / 7 * 7));
    return start;
}

#define OCCURRENCES_COMPARED 64

bool reservations_meet(const struct reservation *a, const struct reservation *b) {
    int64_t from = max_of(a->start_time, b->start_time);
    int64_t length_a = a->end_time - a->start_time, length_b = b->end_time - b->start_time;
    int64_t at = occurrence_before(a, from - length_a), bt = occurrence_before(b, from - length_b);
    for (unsigned i = 0; i < OCCURRENCES_COMPARED && at > 0 && bt > 0; i++) {
        if (at < bt + length_b && bt < at + length_a)
            return true;
        if (at < bt)
            at = reservation_next_start(at, a->flags);
        else
            bt = reservation_next_start(bt, b->flags);
    }
    return false;
}

/* Do the two keep out of each other's way? MAINT and OVERLAP lie over others. */
static bool excludes(const struct reservation *a, const struct reservation *b) {
    const uint32_t over = RESERVATION_MAINT | RESERVATION_OVERLAP;
    return !(a->flags & over) && !(b->flags & over) && reservations_meet(a, b);
}

/* ---- what a node has left ---- */

struct room {
    bool in_question, busy, had;
    uint32_t cores;                  /* that no other reservation holds */
    uint32_t gres[SCHED_GRES_KINDS]; /* likewise */
    uint32_t weight, node;
};

static const struct reservation_part *part_of(const struct reservation *rec, const char *node) {
    for (uint32_t i = 0; rec != NULL && i < rec->parts.n; i++) {
        if (str_equal(rec->parts.items[i].node, node))
            return &rec->parts.items[i];
    }
    return NULL;
}

/* Something runs on it that may not have ended when the reservation begins. */
static void mark_busy(struct core *core, const struct reservation *next, struct room *rooms) {
    jobs_each (core, job) {
        bool ends = job->rec.end_time > 0 && job->rec.end_time <= next->start_time;
        bool own = next->name != NULL && job_in_reservation(job, next->name);
        if (!job_has_nodes(job) || ends || own)
            continue;
        for (uint32_t i = 0; i < job_n_entries(&job->rec); i++) {
            if (!job_entry(&job->rec, i)->released)
                rooms[job_entry(&job->rec, i)->node].busy = true;
        }
    }
}

static void gres_take(const struct core *core, const char *text, uint32_t *gres) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    if (text == NULL || gres_parse(text, &list, NULL) < 0)
        return;
    vec_each (&list, item) {
        size_t k = gres_kind_find(core, item->name, item->type);
        if (k < core->n_kinds)
            gres[k] -= (uint32_t) min_of((uint64_t) gres[k], item->count);
    }
}

/* Takes off what another reservation holds meanwhile. Maintenance keeps a free choice away. */
static void room_less(struct core *core, const struct reservation *other, struct room *rooms) {
    for (uint32_t p = 0; p < other->parts.n; p++) {
        const struct reservation_part *part = &other->parts.items[p];
        uint32_t index = core_node_find(core, part->node);
        if (index == UINT32_MAX)
            continue;
        struct room *room = &rooms[index];
        uint32_t cores = part->cpus / max_of(core->nodes[index].cpus_per_core, 1u);
        if (part->whole)
            room->in_question = false;
        room->cores -= min_of(room->cores, cores);
        gres_take(core, part->gres, room->gres);
    }
}

static struct room *rooms_make(struct core *core, const struct reservation *next,
                               const struct core_reservation *self) {
    struct room *rooms = xcalloc(core->n_nodes + 1, sizeof(*rooms));
    for (uint32_t i = 0; i < core->n_nodes; i++) {
        const struct core_node *node = &core->nodes[i];
        rooms[i].node = i;
        rooms[i].weight = node->rec.weight;
        rooms[i].cores = node->n_cores;
        rooms[i].in_question = node->rec.state != NODE_DOWN && node->rec.state != NODE_FUTURE &&
                               !(node->rec.flags & (NODE_FLAG_DRAIN | NODE_FLAG_FAIL));
        rooms[i].had = part_of(self != NULL ? &self->rec : NULL, node->rec.name) != NULL;
        for (size_t k = 0; k < core->n_kinds; k++)
            rooms[i].gres[k] = node->gres_total[k];
    }
    if (!(next->flags & RESERVATION_IGNORE_JOBS))
        mark_busy(core, next, rooms);
    vec_each (&core->reservations, other) {
        bool over = next->flags & (RESERVATION_MAINT | RESERVATION_OVERLAP);
        if (*other != self && !over && reservations_meet(next, &(*other)->rec))
            room_less(core, &(*other)->rec, rooms);
    }
    return rooms;
}

/* ---- choosing ---- */

struct choice {
    struct core *core;
    struct reservation *next;
    struct room *rooms;
    struct room *order; /* candidates, best first */
    size_t n;
    uint32_t nodes_left, cores_left;
    uint32_t gres_left[SCHED_GRES_KINDS], per_node[SCHED_GRES_KINDS];
    bool named; /* the nodes were: all of them are taken */
};

static int room_compare(const void *a, const void *b) {
    const struct room *x = a, *y = b;
    if (x->had != y->had)
        return x->had ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static bool node_has(const char *name, void *context) {
    const struct core_node *node = context;
    return str_has_word(node->rec.active_features, name, ",");
}

static bool has_gres(const struct choice *c, const struct room *room) {
    bool some = false, wanted = false;
    for (size_t k = 0; k < c->core->n_kinds; k++) {
        if (c->per_node[k] > room->gres[k])
            return false;
        wanted |= c->gres_left[k] > 0;
        some |= c->gres_left[k] > 0 && room->gres[k] > 0;
    }
    return some || !wanted;
}

static int candidates(struct choice *c, struct error *err) {
    struct core *core = c->core;
    const struct core_partition *part = partition_find(core, c->next->partition, NULL);
    struct constraint *features = NULL;
    if (c->next->features != NULL && constraint_parse(c->next->features, &features, err) < 0)
        return -ERR_INVALID_FEATURE;
    c->order = xcalloc(core->n_nodes + 1, sizeof(*c->order));
    for (size_t i = 0; part != NULL && i < part->n_nodes; i++) {
        struct room *room = &c->rooms[part->nodes[i]];
        bool fits =
            features == NULL || constraint_matches(features, node_has, &core->nodes[room->node]);
        if (room->in_question && !room->busy && fits && room->cores > 0 && has_gres(c, room))
            c->order[c->n++] = *room;
    }
    constraint_free(features);
    if (c->n > 1)
        qsort(c->order, c->n, sizeof(*c->order), room_compare);
    return 0;
}

static int named_nodes(struct choice *c, struct error *err) {
    uint32_t *nodes;
    size_t n;
    int r = nodes_resolve(c->core, c->next->nodes, &c->core->out->memory, &nodes, &n, err);
    if (r < 0)
        return r;
    c->order = xcalloc(n + 1, sizeof(*c->order));
    for (size_t i = 0; i < n; i++)
        c->order[c->n++] = c->rooms[nodes[i]];
    return 0;
}

/* How many cores a node gives: all that are left to find, or its share of them. */
static uint32_t cores_from(const struct choice *c, const struct room *room, size_t nodes_to_come) {
    uint32_t most = min_of(room->cores, c->cores_left);
    if (c->next->asked_nodes == 0 && !c->named)
        return most;
    uint32_t share =
        (uint32_t) ((c->cores_left + nodes_to_come - 1) / max_of(nodes_to_come, (size_t) 1));
    return min_of(most, share);
}

static void part_gres(struct choice *c, const struct room *room, struct reservation_part *part) {
    struct str text cleanup_str = STR_INIT;
    for (size_t k = 0; k < c->core->n_kinds; k++) {
        uint32_t take = c->per_node[k] + min_of(room->gres[k] - c->per_node[k], c->gres_left[k]);
        if (take == 0)
            continue;
        c->gres_left[k] -= min_of(c->gres_left[k], take);
        gres_kind_print(&c->core->kinds[k], take, &text);
    }
    string_set(&part->gres, text.length > 0 ? text.data : NULL);
}

static bool wants_more(const struct choice *c) {
    bool more = c->nodes_left > 0 || c->cores_left > 0;
    for (size_t k = 0; k < c->core->n_kinds; k++)
        more = more || c->gres_left[k] > 0;
    return more;
}

static void nodes_take(struct choice *c, bool partial) {
    struct reservation *next = c->next;
    for (size_t i = 0; i < c->n && (c->named || wants_more(c)); i++) {
        const struct room *room = &c->order[i];
        const struct core_node *node = &c->core->nodes[room->node];
        if (!c->named && next->asked_nodes > 0 && c->nodes_left == 0)
            break;
        struct reservation_part *part = &next->parts.items[next->parts.n++];
        string_set(&part->node, node->rec.name);
        part->whole = !partial;
        uint32_t cores = node->n_cores;
        if (partial) {
            cores = cores_from(c, room, c->named ? c->n - i : max_of(c->nodes_left, 1u));
            part->cpus = cores * node->cpus_per_core;
            part_gres(c, room, part);
        }
        next->node_cnt++;
        next->core_cnt += cores;
        c->cores_left -= min_of(c->cores_left, cores);
        c->nodes_left -= c->nodes_left > 0;
    }
}

static void parts_clear(struct reservation *next) {
    for (uint32_t i = 0; i < next->parts.n; i++)
        record_done(&record_reservation_part, &next->parts.items[i]);
    free(next->parts.items);
    next->parts.items = NULL;
    next->parts.n = 0;
    next->node_cnt = next->core_cnt = 0;
}

/* "cpu=8,gres/gpu=2" and the node list. */
static void describe(struct core *core, struct reservation *next) {
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    struct str folded cleanup_str = STR_INIT, tres cleanup_str = STR_INIT;
    uint64_t cpus = 0;
    struct gres_list all cleanup_gres_list = GRES_LIST_INIT;
    for (uint32_t p = 0; p < next->parts.n; p++) {
        const struct reservation_part *part = &next->parts.items[p];
        const struct core_node *node = &core->nodes[core_node_find(core, part->node)];
        hostlist_push(&names, part->node);
        cpus += part->whole ? node->n_cores * node->cpus_per_core : part->cpus;
        if (part->gres != NULL)
            (void) !gres_parse(part->gres, &all, NULL);
    }
    hostlist_sort(&names);
    hostlist_fold(&names, &folded);
    string_set(&next->nodes, folded.length > 0 ? folded.data : NULL);
    if (cpus > 0)
        str_printf(&tres, "cpu=%llu", (unsigned long long) cpus);
    vec_each (&all, item) {
        str_printf(&tres, "%sgres/%s%s%s=%llu", tres.length > 0 ? "," : "", item->name,
                   item->type != NULL ? ":" : "", item->type != NULL ? item->type : "",
                   (unsigned long long) item->count);
    }
    string_set(&next->tres, tres.length > 0 ? tres.data : NULL);
}

static int gres_wanted(const struct core *core, const char *text, uint32_t *counts,
                       struct error *err) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    if (text == NULL)
        return 0;
    int r = gres_parse(text, &list, err);
    if (r < 0)
        return r;
    vec_each (&list, item) {
        struct sched_gres_request asked;
        r = gres_resolve(core, item, &asked, err);
        if (r < 0)
            return r;
        counts[asked.kind >= 0 ? asked.kind : asked.name_of] += asked.count;
    }
    return 0;
}

static int found_enough(const struct choice *c, const struct reservation *next, struct error *err) {
    const struct core_partition *part = partition_find(c->core, next->partition, NULL);
    if (!wants_more(c))
        return 0;
    uint64_t cores = 0;
    for (size_t i = 0; part != NULL && i < part->n_nodes; i++)
        cores += c->core->nodes[part->nodes[i]].n_cores;
    size_t n = part != NULL ? part->n_nodes : 0;
    if (next->asked_nodes > n || next->asked_cores > cores)
        return error_set(err, ERR_NODE_CONFIG,
                         "%u nodes and %u cores are asked for, partition %s has %zu and %llu",
                         next->asked_nodes, next->asked_cores, next->partition, n,
                         (unsigned long long) cores);
    return error_set(err, ERR_NODES_BUSY,
                     "%zu nodes of partition %s are free of jobs and other reservations at that "
                     "time and serve; IGNORE_JOBS takes nodes on which jobs run",
                     c->n, next->partition);
}

static void default_partition(struct core *core, struct reservation *next) {
    for (size_t p = 0; next->partition == NULL && p < core->n_partitions; p++) {
        if (core->partitions[p].rec.is_default)
            string_set(&next->partition, core->partitions[p].rec.name);
    }
}

/* PART_NODES: whatever the partition has. */
static void partition_nodes(struct core *core, struct reservation *next) {
    const struct core_partition *part = partition_find(core, next->partition, NULL);
    if ((next->flags & RESERVATION_PART_NODES) && part != NULL)
        string_set(&next->nodes, part->rec.nodes);
}

int reservation_choose(struct core *core, struct reservation *next,
                       const struct core_reservation *self, struct error *err) {
    struct choice c = {.core = core, .next = next};
    c.named = (next->flags & RESERVATION_SPEC_NODES) && next->asked_nodes == 0;
    c.nodes_left = next->asked_nodes;
    c.cores_left = next->asked_cores;
    int r = gres_wanted(core, next->asked_gres, c.gres_left, err);
    if (r == 0)
        r = gres_wanted(core, next->asked_per_node, c.per_node, err);
    if (r < 0)
        return r;
    bool partial =
        next->asked_cores > 0 || next->asked_gres != NULL || next->asked_per_node != NULL;
    if (!c.named && next->asked_nodes == 0 && !partial) {
        parts_clear(next); /* licences alone */
        string_set(&next->nodes, NULL);
        return 0;
    }
    if (!c.named)
        default_partition(core, next);
    partition_nodes(core, next);
    c.rooms = rooms_make(core, next, self);
    r = c.named ? named_nodes(&c, err) : candidates(&c, err);
    if (r == 0) {
        parts_clear(next);
        next->parts.items = xcalloc(c.n + 1, sizeof(*next->parts.items));
        nodes_take(&c, partial);
        c.nodes_left = c.named ? 0 : c.nodes_left;
        r = found_enough(&c, next, err);
        describe(core, next);
    }
    free(c.order);
    free(c.rooms);
    return r;
}

/* ---- collisions ---- */

static int check_others(struct core *core, const struct reservation *next,
                        const struct core_reservation *self, struct error *err) {
    vec_each (&core->reservations, at) {
        const struct reservation *other = &(*at)->rec;
        if (*at == self || !excludes(next, other))
            continue;
        for (uint32_t p = 0; p < next->parts.n; p++) {
            const struct reservation_part *part = part_of(other, next->parts.items[p].node);
            if (part != NULL && (part->whole || next->parts.items[p].whole))
                return error_set(err, ERR_RESERVATION_OVERLAP,
                                 "%s has node %s at that time; OVERLAP or MAINT let both have it",
                                 other->name, part->node);
        }
    }
    return 0;
}

static int check_jobs(struct core *core, const struct reservation *next, struct error *err) {
    if (next->flags & RESERVATION_IGNORE_JOBS)
        return 0;
    struct room *rooms = xcalloc(core->n_nodes + 1, sizeof(*rooms));
    int r = 0;
    mark_busy(core, next, rooms);
    for (uint32_t p = 0; r == 0 && p < next->parts.n; p++) {
        uint32_t node = core_node_find(core, next->parts.items[p].node);
        if (node != UINT32_MAX && rooms[node].busy)
            r = error_set(err, ERR_NODES_BUSY,
                          "jobs on node %s may run into the reservation; IGNORE_JOBS lets them end",
                          next->parts.items[p].node);
    }
    free(rooms);
    return r;
}

static int check_licenses(struct core *core, const struct reservation *next,
                          const struct core_reservation *self, struct error *err) {
    for (size_t l = 0; l < core->n_licenses; l++) {
        uint64_t want = license_count(next->licenses, core->licenses[l]), held = 0;
        vec_each (&core->reservations, other) {
            if (*other != self && reservations_meet(next, &(*other)->rec))
                held += license_count((*other)->rec.licenses, core->licenses[l]);
        }
        if (want > 0 && want + held > core->license_totals[l])
            return error_set(err, ERR_INVALID_LICENSE,
                             "license %s: %llu asked, %llu exist, %llu are reserved by others at "
                             "that time",
                             core->licenses[l], (unsigned long long) want,
                             (unsigned long long) core->license_totals[l],
                             (unsigned long long) held);
    }
    return 0;
}

int reservation_check(struct core *core, const struct reservation *next,
                      const struct core_reservation *self, struct error *err) {
    int r = check_others(core, next, self, err);
    if (r == 0)
        r = check_jobs(core, next, err);
    return r < 0 ? r : check_licenses(core, next, self, err);
}
