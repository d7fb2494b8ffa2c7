/* SPDX-License-Identifier: Apache-2.0 */
/* Grouping of nodes into sinfo's rows. */
#include "base/alloc.h"
#include "base/map.h"
#include "cli/columns_node.h"
#include "text/hostlist.h"

/* ---- counting ---- */
static void span_add(struct span *span, uint64_t value, bool first) {
    if (first || value < span->low)
        span->low = value;
    if (first || value > span->high)
        span->high = value;
}

static bool is_out_of_service(const struct node *node) {
    return node->state == NODE_DOWN || node->state == NODE_ERROR || node->state == NODE_FUTURE ||
           (node->flags & (NODE_FLAG_DRAIN | NODE_FLAG_FAIL | NODE_FLAG_INVALID_REG));
}

static void row_count(struct node_row *row, const struct node *node) {
    bool out = is_out_of_service(node);
    if (node->state == NODE_ALLOCATED || node->state == NODE_MIXED ||
        (node->flags & NODE_FLAG_COMPLETING))
        row->nodes_alloc++;
    else if (out)
        row->nodes_other++;
    else
        row->nodes_idle++;
    uint64_t alloc = min_of(node->alloc_cpus, node->cpus);
    row->cpus_alloc += alloc;
    if (out)
        row->cpus_other += node->cpus - alloc;
    else
        row->cpus_idle += node->cpus - alloc;
}

static void row_add(struct node_row *row, const struct node *node) {
    bool first = row->nodes.n == 0;
    vec_push(&row->nodes, node);
    row_count(row, node);
    span_add(&row->cpus, node->cpus, first);
    span_add(&row->sockets, node->sockets, first);
    span_add(&row->cores, node->cores, first);
    span_add(&row->threads, node->threads, first);
    span_add(&row->memory, node->memory, first);
    span_add(&row->disk, node->tmp_disk, first);
    span_add(&row->weight, node->weight, first);
    span_add(&row->alloc_mem, node->alloc_mem, first);
    if (node->cpu_load != UNSET32)
        span_add(&row->load, node->cpu_load, row->n_load++ == 0);
    if (node->free_mem != UNSET64)
        span_add(&row->free_mem, node->free_mem, row->n_free++ == 0);
}

/* ---- grouping ---- */
struct grouping {
    const struct format *format;
    const struct node_rows_options *options;
    struct column_env *env;
    struct rows *rows;
    struct smap by_key;
    size_t n_nodes;
    bool shows_partition;
};

/* What the key columns print for one node of one partition. */
static void key_print(const struct grouping *grouping, const struct node_row *sample,
                      struct str *key) {
    unsigned flags = COLUMN_KEY | (grouping->options->exact ? COLUMN_KEY_EXACT : 0u);
    str_reset(key);
    if (grouping->options->per_node) {
        str_append(key, sample->partition->name);
        str_append_char(key, '\n');
        if (sample->nodes.n)
            str_append(key, sample->nodes.items[0]->name);
        return;
    }
    for (size_t i = 0; i < grouping->format->cells.n; i++) {
        const struct column *column = grouping->format->cells.items[i].column;
        if (column && (column->flags & flags)) {
            column->print(sample, sample, grouping->env, key);
            str_append_char(key, '\n');
        }
    }
}

static struct node_row *row_find(struct grouping *grouping, const struct partition *partition,
                                 const struct str *key) {
    struct node_row *row = smap_get(&grouping->by_key, str_cstr(key));
    if (row)
        return row;
    row = zalloc(struct node_row);
    row->partition = partition;
    row->key = xstrdup(str_cstr(key));
    if (!grouping->shows_partition && !grouping->options->per_node)
        bits_init(&row->members, grouping->n_nodes);
    smap_put(&grouping->by_key, row->key, row);
    rows_push(grouping->rows, row);
    return row;
}

static void node_add(struct grouping *grouping, const struct partition *partition,
                     const struct node *node, size_t position, struct str *key) {
    struct node_row sample = {.partition = partition};
    row_add(&sample, node);
    key_print(grouping, &sample, key);
    vec_done(&sample.nodes);
    struct node_row *row = row_find(grouping, partition, key);
    if (row->members.n) {
        if (bits_test(&row->members, position))
            return; /* came with another partition already */
        bits_set(&row->members, position);
    }
    row_add(row, node);
}

/* Positions of nodes by name, one above, since a map holds no NULL. */
static void nodes_index(const struct rows *nodes, struct smap *ret) {
    for (size_t i = 0; i < nodes->n; i++) {
        const struct node *node = nodes->items[i];
        smap_put(ret, node->name, (void *) (uintptr_t) (i + 1));
    }
}

static void partition_add(struct grouping *grouping, const struct partition *partition,
                          const struct rows *nodes, const struct smap *index, bool keep_empty) {
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    struct str key cleanup_str = STR_INIT;
    bool any = false;
    if (partition->nodes && hostlist_parse(&names, partition->nodes, NULL) == 0) {
        for (size_t i = 0; i < names.n; i++) {
            size_t position = (size_t) (uintptr_t) smap_get(index, names.names[i]);
            if (position == 0)
                continue; /* filtered out */
            node_add(grouping, partition, nodes->items[position - 1], position - 1, &key);
            any = true;
        }
    }
    if (any || !keep_empty || !grouping->shows_partition)
        return;
    struct node_row sample = {.partition = partition};
    key_print(grouping, &sample, &key);
    row_find(grouping, partition, &key);
}

void node_rows_build(const struct rows *nodes, const struct rows *partitions,
                     const struct format *format, const struct node_rows_options *options,
                     bool keep_empty, struct column_env *env, struct rows *ret_rows) {
    struct smap index = SMAP_INIT;
    struct grouping grouping = {.format = format,
                                .options = options,
                                .env = env,
                                .rows = ret_rows,
                                .by_key = SMAP_INIT,
                                .n_nodes = nodes->n};
    for (size_t i = 0; i < format->cells.n; i++) {
        const struct column *column = format->cells.items[i].column;
        if (column && (column->flags & COLUMN_OWNER))
            grouping.shows_partition = true;
    }
    nodes_index(nodes, &index);
    for (size_t i = 0; i < partitions->n; i++)
        partition_add(&grouping, partitions->items[i], nodes, &index, keep_empty);
    smap_done(&grouping.by_key);
    smap_done(&index);
}

void node_rows_free(struct rows *rows) {
    for (size_t i = 0; i < rows->n; i++) {
        struct node_row *row = (struct node_row *) (uintptr_t) rows->items[i];
        vec_done(&row->nodes);
        if (row->members.n)
            bits_done(&row->members);
        free(row->key);
        free(row);
    }
    rows_done(rows);
}
