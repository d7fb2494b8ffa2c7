/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the planner: where a job could start at once (place.c), which of the nodes that could take
 * it are taken (select.c), nodes that are together (topology.c), and nodes whose use leaves most to
 * others (fragment.c).
 */
#ifndef SLUICE_SCHED_PLACE_H
#define SLUICE_SCHED_PLACE_H

#include "base/vec.h"
#include "sched/shape.h"

struct sched;

struct candidate {
    uint32_t node;
    uint32_t tasks; /* how many it can take (fixed share: the share) */
    uint32_t units; /* how many of the per-job GRES */
    uint32_t rank;  /* weight class, waste, hole */
    int64_t value;  /* best fit: lower first */
    int64_t ready;  /* since when it could */
};
struct pick {
    uint32_t node, tasks;
    uint32_t share[8]; /* of the per-job GRES */
    bool grouped;      /* scratch of the selection */
    uint32_t order;    /* configured position: the order of an allocation */
};
/* Where a job goes. */
struct placement {
    vec(struct pick) picks;
    vec(int64_t) amounts; /* n_dims per pick */
};

/* place.c */
/* A lower bound of what any node must have free, whatever its hardware, for so many tasks; `all`:
 * with all GRES of the job. */
void need_least(const struct shape *shape, uint32_t tasks, bool all, int64_t *need,
                uint32_t n_dims);
/* s->mask = nodes that may take a share as they are, whatever is planned on them. */
void mask_of_free(struct sched *s, const struct shape *shape, const struct alternative *alt);
/* Tasks of the shape that the node could take now, 0 = not even a share. May be too many. */
uint32_t node_serves(struct sched *s, struct shape *shape, struct alternative *alt, uint32_t node);
/* On failure, s->lack says how far away it was. */
bool place_now(struct sched *s, struct shape *shape, struct alternative *alt, int64_t limit,
               struct placement *out);
/* The same, its licences are free and its budgets not spent. */
bool could_start(struct sched *s, struct shape *shape, struct alternative *alt, int64_t limit,
                 struct placement *out);
/* s->histogram: nodes by the share of a goal that they can take, at most the goal. What the largest
 * shares on so many nodes come to, or a sum that reaches the goal. */
#define COUNTED_GOAL 4096 /* larger goals are not counted share by share */
void histogram_reset(struct sched *s, uint32_t goal);
uint64_t histogram_sum(const struct sched *s, uint32_t goal, uint32_t most_nodes);
/* With every node free; usable_only: as the cluster stands. */
bool place_ever(struct sched *s, struct shape *shape, struct alternative *alt, bool usable_only);
/* Vectors for chosen nodes over [start, end). */
bool place_amounts(struct sched *s, const struct shape *shape, const struct alternative *alt,
                   int64_t start, int64_t end, struct placement *out);
void placement_done(struct placement *placement);
void placement_swap(struct placement *a, struct placement *b);

/* Rank and best-fit value of a node for a placement now. */
void candidate_rank(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                    struct candidate *c);

/* select.c */
/* Chooses among s->found (in order of preference) and fills out->picks with tasks and shares. */
bool select_nodes(struct sched *s, const struct shape *shape, const struct alternative *alt,
                  struct placement *out);
/* Tasks or GRES to spread over the nodes; 0: equal shares. */
uint32_t spread_goal(const struct shape *shape, const struct alternative *alt);
/* The same without regard to switches. */
bool select_among(struct sched *s, const struct shape *shape, const struct alternative *alt,
                  struct placement *out);
/* Nodes of a fixed share when `have` could take one and `taken` must; 0 = too few. */
uint32_t fixed_goal(const struct shape *shape, const struct alternative *alt, size_t have,
                    size_t taken);
/* Puts the picks in configured order and deals tasks and per-job GRES out. In: what each could
 * take. */
bool placement_deal(const struct sched *s, const struct shape *shape, struct placement *out);
/* The selection finds nodes whenever there are any. Otherwise more free nodes may lead it to a
 * choice that fails, and "not now" says nothing about later. */
bool select_is_exact(const struct shape *shape, const struct alternative *alt);
void candidates_sort(struct sched *s, const struct alternative *alt, bool future);

/* topology.c */
void topology_clear(struct sched *s);
/* Whose wish ends starts where it can. */
void topology_pass(struct sched *s, int64_t now);
void topology_wish(struct sched *s, const struct shape *shape); /* a new shape */
/* How many leaves the selections that follow may use, for a start at an instant: s->most_leaves. */
void topology_at(struct sched *s, const struct shape *shape, const struct alternative *alt,
                 int64_t when);
/* Counts the node's leaf up or down; how many it has then. Ends with topology_count_end(). */
uint32_t topology_count(struct sched *s, uint32_t node, int by);
void topology_count_end(struct sched *s);
/* Are found[from, to) at so few leaves? */
bool topology_allows(const struct sched *s, size_t from, size_t to);
/* select_nodes() where it matters which nodes are together. */
bool topology_select(struct sched *s, const struct shape *shape, const struct alternative *alt,
                     struct placement *out);

/* fragment.c */
/* What jobs hold of one node, with GRES among it, and how many nodes are held so; fragment.c. */
struct popular {
    int64_t cpus, mem, gres;
    uint64_t hash;
    uint32_t n;
    uint8_t dim; /* the sum of the GRES name */
};
#define POPULAR_MAX 32
#define FRAGMENT_LEVEL_NODES 8 /* looked at, of those with equally many free GRES */
/* A choice of one node in progress: the one whose use makes least of the rest useless. */
struct fragment {
    uint32_t best, before, n_level;
    int64_t loss, left;
};
void popular_take(struct sched *s, struct run *run);
void popular_give(struct sched *s, struct run *run);
void popular_clear(struct sched *s);
void popular_pass(struct sched *s); /* what is popular in this pass */
/* False: nothing is known of what jobs want, or it does not matter for this choice. */
bool fragment_begin(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                    uint32_t goal, struct fragment *ret);
/* The next nodes have equally many free GRES, and more than those before. */
void fragment_level_begin(struct fragment *f);
/* A node that can take `need`; in index order. False: no more of this level. */
bool fragment_offer(const struct sched *s, struct fragment *f, uint32_t node, const int64_t *need,
                    uint8_t primary);

#endif
