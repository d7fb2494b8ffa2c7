/* SPDX-License-Identifier: Apache-2.0 */
/* Partition lines: old spellings folded into new ones, and the nodes that Nodes= comes to. */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "model/conf_lines.h"
#include "text/duration.h"
#include "text/hostlist.h"

/* Bit of a row in the mask of what a line has given. */
static bool was_given(uint64_t seen, const char *name) {
    const struct conf_key *key = conf_key_find(&conf_partition_table, name, strlen(name));
    return (seen >> (key - conf_partition_table.keys) & 1) != 0;
}

/* Priority set both halves once; ExclusiveUser and ExclusiveTopo are now values of Exclusive. */
static void old_keys_fold(struct conf_partition_line *line, uint64_t seen) {
    struct conf_partition *partition = &line->partition;
    if (line->line.priority != CONF_INFINITE) {
        if (!was_given(seen, "PriorityTier"))
            partition->priority_tier = line->line.priority;
        if (!was_given(seen, "PriorityJobFactor"))
            partition->priority_job_factor = line->line.priority;
    }
    if (was_given(seen, "Exclusive"))
        return;
    if (line->line.exclusive_user)
        partition->exclusive = CONF_PART_EXCLUSIVE_USER;
    else if (line->line.exclusive_topo)
        partition->exclusive = CONF_PART_EXCLUSIVE_TOPO;
}

/* Of the two forms of a memory limit the line gave one, or neither; a default gives way to it. */
static void memory_forms_check(const struct conf_loader *loader, struct conf_partition_line *line,
                               uint64_t seen) {
    static const struct {
        const char *cpu, *node;
        size_t cpu_offset, node_offset;
    } pairs[] = {
        {"DefMemPerCPU", "DefMemPerNode", offsetof(struct conf_partition, def_mem_per_cpu),
         offsetof(struct conf_partition, def_mem_per_node)},
        {"MaxMemPerCPU", "MaxMemPerNode", offsetof(struct conf_partition, max_mem_per_cpu),
         offsetof(struct conf_partition, max_mem_per_node)},
    };
    for (size_t i = 0; i < countof(pairs); i++) {
        bool cpu = was_given(seen, pairs[i].cpu), node = was_given(seen, pairs[i].node);
        char *partition = (char *) &line->partition;
        if (cpu && node)
            conf_error(&loader->context, "partition %s: %s and %s exclude each other",
                       line->line.name, pairs[i].cpu, pairs[i].node);
        else if (cpu)
            *(uint64_t *) (partition + pairs[i].node_offset) = CONF_UNSET;
        else if (node)
            *(uint64_t *) (partition + pairs[i].cpu_offset) = CONF_UNSET;
    }
}

static void limits_check(const struct conf_loader *loader, struct conf_partition *partition) {
    if (partition->default_time != MINUTES_UNSET && partition->max_time != MINUTES_INFINITE &&
        (partition->default_time == MINUTES_INFINITE ||
         partition->default_time > partition->max_time)) {
        /* Usually the DefaultTime of PartitionName=DEFAULT in a partition of short jobs. */
        conf_notice(&loader->context,
                    "partition %s: DefaultTime is longer than MaxTime, which is taken instead",
                    partition->name);
        partition->default_time = MINUTES_UNSET;
    }
    if (partition->min_nodes > partition->max_nodes)
        conf_error(&loader->context, "partition %s: MinNodes=%u is more than MaxNodes=%u",
                   partition->name, partition->min_nodes, partition->max_nodes);
    if (partition->allow_accounts != NULL && partition->deny_accounts != NULL)
        conf_notice(&loader->context,
                    "partition %s: DenyAccounts has no effect beside "
                    "AllowAccounts",
                    partition->name);
    if (partition->allow_qos != NULL && partition->deny_qos != NULL)
        conf_notice(&loader->context, "partition %s: DenyQos has no effect beside AllowQos",
                    partition->name);
}

/* "ALL" in a list of who may is no restriction. */
static void all_is_null(const char **list) {
    if (*list != NULL && strcasecmp(*list, "ALL") == 0)
        *list = NULL;
}

void conf_partition_line_finish(struct conf_loader *loader, void *object, uint64_t seen) {
    struct conf_partition_line *line = object;
    struct conf_partition *partition = &line->partition;
    const char *name = line->line.name;
    if (name == NULL) {
        conf_error(&loader->context, "PartitionName names no partition");
        return;
    }
    old_keys_fold(line, seen);
    memory_forms_check(loader, line, seen);
    all_is_null(&partition->allow_accounts);
    all_is_null(&partition->allow_groups);
    all_is_null(&partition->allow_qos);
    all_is_null(&partition->alloc_nodes);
    if (strcasecmp(name, "DEFAULT") == 0) {
        line->line.name = NULL;
        loader->partition_defaults = *line;
        return;
    }
    if (!conf_name_is_valid(name)) {
        conf_error(&loader->context,
                   "PartitionName: \"%.64s\" is no partition name (letters, "
                   "digits, \"-\", \"_\" and \".\", at most %d)",
                   name, CONF_NAME_MAX);
        return;
    }
    if (loader->partitions.n == CONF_PARTITIONS_MAX) {
        conf_error(&loader->context, "more than %d partitions", CONF_PARTITIONS_MAX);
        return;
    }
    partition->name = name;
    partition->file = loader->context.file;
    partition->line = loader->context.line;
    limits_check(loader, partition);
    vec_push(&loader->partitions, *line);
}

/* ---- Nodes of a partition ---- */

/* Cuts the next element off a list at a comma outside of brackets; NULL at its end. */
static char *element_next(char **cursor) {
    char *start = *cursor;
    while (*start == ',' || *start == ' ' || *start == '\t')
        start++;
    if (*start == '\0')
        return NULL;
    char *end = start;
    int depth = 0;
    while (*end != '\0' && (*end != ',' || depth > 0)) {
        depth += (*end == '[') - (*end == ']');
        end++;
    }
    *cursor = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return str_trim(start);
}

void conf_unknown_nodes(const struct conf_loader *loader, const struct conf_context *context,
                        const char *what, const char *name, const struct hostlist *unknown) {
    const char **names = xcalloc(min_of(loader->conf->n_nodes, 2000ul) + 1, sizeof(*names));
    size_t n = 0;
    for (; n < loader->conf->n_nodes && n < 2000; n++)
        names[n] = loader->conf->nodes[n].name;
    const char *nearest = str_nearest(unknown->names[0], names, n);
    cleanup_str struct str list = STR_INIT, hint = STR_INIT;
    hostlist_fold(unknown, &list);
    if (nearest != NULL)
        str_printf(&hint, " (did you mean \"%s\"?)", nearest);
    conf_error(context, "%s%s%s: %s %.512s %s no NodeName line%s", what, name[0] != '\0' ? " " : "",
               name, unknown->n == 1 ? "node" : "nodes", str_cstr(&list),
               unknown->n == 1 ? "has" : "have", str_cstr(&hint));
    free(names);
}

/* Adds the nodes of one host list expression; the names without a node go to unknown. */
static void expression_resolve(const struct conf_loader *loader, const char *text,
                               const struct conf_context *context, const char *what,
                               const char *name, struct bits *ret, struct hostlist *unknown) {
    cleanup_hostlist struct hostlist names = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    if (hostlist_parse(&names, text, &err) != 0) {
        conf_error(context, "%s %s: %s", what, name, err.text);
        return;
    }
    for (size_t i = 0; i < names.n; i++) {
        const struct conf_node *node = conf_node_find(loader->conf, names.names[i]);
        if (node != NULL)
            bits_set(ret, node->index);
        else
            hostlist_push(unknown, names.names[i]);
    }
}

static void node_set_resolve(const struct conf_loader *loader, const struct conf_node_set_line *set,
                             struct bits *ret, struct hostlist *unknown) {
    if (set->nodes != NULL && strcasecmp(set->nodes, "ALL") == 0) {
        bits_fill(ret, true);
        return;
    }
    if (set->nodes != NULL) {
        expression_resolve(loader, set->nodes, &set->context, "NodeSet", set->name, ret, unknown);
        return;
    }
    for (size_t i = 0; i < loader->conf->n_nodes; i++) {
        if (str_has_word(loader->conf->nodes[i].features, set->feature, ","))
            bits_set(ret, i);
    }
}

static const struct conf_node_set_line *node_set_find(const struct conf_loader *loader,
                                                      const char *name) {
    for (size_t i = 0; i < loader->node_sets.n; i++) {
        if (strcmp(loader->node_sets.items[i].name, name) == 0)
            return &loader->node_sets.items[i];
    }
    return NULL;
}

static void partition_resolve(struct conf_loader *loader, struct conf_partition *partition,
                              const char *nodes) {
    struct conf_context context = conf_context_at(loader, partition->file, partition->line);
    bits_init(&partition->nodes, loader->conf->n_nodes);
    if (nodes == NULL)
        return;
    cleanup_free char *copy = xstrdup(nodes);
    cleanup_str struct str sets = STR_INIT;
    cleanup_hostlist struct hostlist unknown = HOSTLIST_INIT;
    char *cursor = copy;
    for (char *element; (element = element_next(&cursor)) != NULL;) {
        const struct conf_node_set_line *set = node_set_find(loader, element);
        if (set != NULL) {
            str_join(&sets, ",", element);
            node_set_resolve(loader, set, &partition->nodes, &unknown);
        } else if (strcasecmp(element, "ALL") == 0) {
            bits_fill(&partition->nodes, true);
        } else {
            expression_resolve(loader, element, &context, "partition", partition->name,
                               &partition->nodes, &unknown);
        }
    }
    if (unknown.n > 0)
        conf_unknown_nodes(loader, &context, "partition", partition->name, &unknown);
    partition->node_sets = sets.length > 0 ? conf_keep(loader, sets.data) : NULL;
}

static void nodes_text_set(struct conf_loader *loader, struct conf_partition *partition) {
    cleanup_hostlist struct hostlist names = HOSTLIST_INIT;
    cleanup_str struct str text = STR_INIT;
    bits_each (&partition->nodes, i)
        hostlist_push(&names, loader->conf->nodes[i].name);
    if (names.n == 0)
        return;
    hostlist_sort(&names);
    hostlist_fold(&names, &text);
    partition->nodes_text = conf_keep(loader, text.data);
}

/* The last partition with Default=YES is the default. */
static void default_settle(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    struct conf_partition *last = NULL;
    for (size_t i = 0; i < conf->n_partitions; i++) {
        struct conf_partition *partition = &conf->partitions[i];
        if (!partition->is_default)
            continue;
        if (last != NULL) {
            struct conf_context context = conf_context_at(loader, partition->file, partition->line);
            conf_notice(&context, "partitions %s and %s are both Default=YES; %s is the default",
                        last->name, partition->name, partition->name);
            last->is_default = false;
        }
        last = partition;
    }
}

/* Sites have many partitions over the same nodes: what an earlier line with the same Nodes came to
 * is taken over. */
static bool nodes_take_over(struct conf_partition *partition, const char *nodes,
                            const struct smap *resolved) {
    const struct conf_partition *earlier = nodes != NULL ? smap_get(resolved, nodes) : NULL;
    if (earlier == NULL)
        return false;
    bits_copy(&partition->nodes, &earlier->nodes);
    partition->nodes_text = earlier->nodes_text;
    partition->node_sets = earlier->node_sets;
    return true;
}

static void nodes_settle(struct conf_loader *loader, struct conf_partition *partition,
                         const char *nodes, struct smap *resolved) {
    size_t errors = loader->context.report->n_errors;
    if (nodes_take_over(partition, nodes, resolved))
        return;
    partition_resolve(loader, partition, nodes);
    nodes_text_set(loader, partition);
    /* Unknown nodes are told of for each partition, so those are resolved anew. */
    if (nodes != NULL && loader->context.report->n_errors == errors)
        smap_put(resolved, nodes, partition);
}

void conf_partitions_finish(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    struct smap resolved = SMAP_INIT; /* by the text of Nodes, to the partition */
    conf->partitions = xcalloc(loader->partitions.n, sizeof(*conf->partitions));
    vec_each (&loader->partitions, line) {
        struct conf_partition *first = smap_get(&conf->private->partitions, line->partition.name);
        if (first != NULL) {
            struct conf_context context =
                conf_context_at(loader, line->partition.file, line->partition.line);
            conf_error(&context, "partition %s is defined twice (first in %s:%u)", first->name,
                       first->file, first->line);
            continue;
        }
        struct conf_partition *partition = &conf->partitions[conf->n_partitions++];
        *partition = line->partition;
        smap_put(&conf->private->partitions, partition->name, partition);
        nodes_settle(loader, partition, line->line.nodes, &resolved);
    }
    smap_done(&resolved);
    default_settle(loader);
}
