/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sinfo's rows and columns. A row stands for the nodes of a partition that look alike in what is
 * shown: node_rows_build() puts each node into the row whose key columns print the same, so that
 * what a row merges follows from the format alone.
 */
#ifndef SLUICE_CLI_COLUMNS_NODE_H
#define SLUICE_CLI_COLUMNS_NODE_H

#include "base/bits.h"
#include "cli/list.h"
#include "model/node.h"
#include "schema/columns.h"

/* Smallest and largest value of a row's nodes. */
struct span {
    uint64_t low, high;
};

struct node_row {
    const struct partition *partition; /* the first one, when several are merged */
    vec(const struct node *) nodes;    /* in the order of the configuration */
    struct bits members;               /* of `nodes`, by position; empty unless partitions merge */
    char *key;
    uint32_t nodes_alloc, nodes_idle, nodes_other;
    uint64_t cpus_alloc, cpus_idle, cpus_other;
    uint32_t n_load, n_free; /* nodes whose load and free memory are known */
    struct span cpus, sockets, cores, threads, memory, disk, weight, load, free_mem, alloc_mem;
};

/* record: struct node, for the mask of what to ask for; rows are struct node_row. */
extern const struct column_table columns_node;

struct node_rows_options {
    bool per_node; /* -N */
    bool exact;    /* -e */
};
/* Groups nodes (struct node *, those to be shown) by partition (struct partition *, likewise) and
 * by what `format` shows. Partitions without nodes get a row of their own if the format names the
 * partition and `keep_empty`. The rows are owned by the caller: node_rows_free. */
void node_rows_build(const struct rows *nodes, const struct rows *partitions,
                     const struct format *format, const struct node_rows_options *options,
                     bool keep_empty, struct column_env *env, struct rows *ret_rows);
void node_rows_free(struct rows *rows);

/* ---- -t ---- */
/* One condition: all of its words, each perhaps negated. */
struct node_state_word {
    int kind; /* enum node_match of columns_node.c */
    uint32_t value;
    bool negated;
};
#define NODE_STATE_WORDS_MAX 8
struct node_state_test {
    struct node_state_word words[NODE_STATE_WORDS_MAX];
    size_t n;
};
struct node_states {
    vec(struct node_state_test) tests; /* any of them */
    bool all;
};
/* `idle,mix`, `idle&drain`, `~down`. The error is "Bad state string: "foo"". */
must_check int node_states_parse(struct node_states *states, const char *text, struct error *err);
bool node_states_match(const struct node_states *states, const struct node *node);
void node_states_names(struct str *out);
void node_states_done(struct node_states *states);

#endif
