/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.conf as a tree of switches over the nodes of slurm.conf: who is below whom, at which
 * leaf each node is, and what is wrong with it.
 */
#include <string.h>

#include "base/alloc.h"
#include "model/conf_lines.h"
#include "model/conf_others.h"
#include "text/hostlist.h"

/* One reading of a tree. */
struct tree {
    struct conf_loader *loader;
    const struct conf_switch *lines;
    struct conf_tree_switch *switches;
    uint32_t n;
    struct smap names;      /* switch -> 1 + index */
    struct hostlist *below; /* per switch: nodes */
};

static struct conf_context context_of(const struct tree *tree, uint32_t at) {
    return conf_context_at(tree->loader, conf_keep(tree->loader, tree->lines[at].file),
                           tree->lines[at].line);
}

/* Reads a host list of a line; false when it is none. */
static bool list_of(const struct tree *tree, uint32_t at, const char *text,
                    struct hostlist *names) {
    struct conf_context context = context_of(tree, at);
    struct error err = ERROR_INIT;

    if (hostlist_parse(names, text, &err) == 0)
        return true;
    conf_error(&context, "switch %s: %s", tree->lines[at].name, err.text);
    return false;
}

static const char *folded(const struct tree *tree, struct hostlist *names) {
    cleanup_str struct str text = STR_INIT;

    hostlist_sort(names);
    hostlist_fold(names, &text);
    return conf_keep(tree->loader, str_cstr(&text));
}

static void names_take(struct tree *tree) {
    for (uint32_t i = 0; i < tree->n; i++) {
        const char *name = tree->lines[i].name;
        struct conf_context context = context_of(tree, i);
        size_t known = (size_t) smap_get(&tree->names, name);

        tree->switches[i] = (struct conf_tree_switch) {.name = conf_keep(tree->loader, name),
                                                       .link_speed = tree->lines[i].link_speed,
                                                       .parent = CONF_NO_SWITCH};
        if (known)
            conf_error(&context, "switch %s is defined a second time (first in line %u)", name,
                       tree->lines[known - 1].line);
        else
            smap_put(&tree->names, tree->switches[i].name, (void *) (size_t) (i + 1));
    }
}

static void leaf_nodes_take(struct tree *tree, uint32_t at) {
    struct smap *leaves = &tree->loader->conf->private->leaves;
    cleanup_hostlist struct hostlist names = HOSTLIST_INIT, unknown = HOSTLIST_INIT;
    struct conf_context context = context_of(tree, at);

    if (strcasecmp(tree->lines[at].nodes, "ALL") == 0) {
        for (size_t i = 0; i < tree->loader->conf->n_nodes; i++)
            hostlist_push(&names, tree->loader->conf->nodes[i].name);
    } else if (!list_of(tree, at, tree->lines[at].nodes, &names)) {
        return;
    }
    for (size_t i = 0; i < names.n; i++) {
        const struct conf_node *node = conf_node_find(tree->loader->conf, names.names[i]);
        if (node == NULL) {
            hostlist_push(&unknown, names.names[i]);
            continue;
        }
        size_t other = (size_t) smap_get(leaves, node->name);
        if (other && other != at + 1)
            conf_error(&context, "node %s is at switch %s already (line %u): a node is at one leaf",
                       node->name, tree->switches[other - 1].name, tree->lines[other - 1].line);
        else if (!other)
            hostlist_push(&tree->below[at], node->name);
        if (!other)
            smap_put(leaves, node->name, (void *) (size_t) (at + 1));
    }
    /* Sites keep nodes in this file that come and go; the cables stay. */
    if (unknown.n > 0)
        conf_notice(&context, "switch %s: %.512s %s no NodeName line: left out",
                    tree->lines[at].name, folded(tree, &unknown), unknown.n == 1 ? "has" : "have");
}

static void child_take(struct tree *tree, uint32_t at, const char *name) {
    struct conf_context context = context_of(tree, at);
    size_t child = (size_t) smap_get(&tree->names, name);

    if (!child) {
        conf_error(&context, "switch %s: there is no switch %s; it needs a line of its own",
                   tree->lines[at].name, name);
        return;
    }
    struct conf_tree_switch *below = &tree->switches[child - 1];
    if (below->parent == CONF_NO_SWITCH)
        below->parent = at;
    else if (below->parent != at)
        conf_notice(&context,
                    "switch %s is below %s and below %s: for the distance of nodes only the "
                    "first counts",
                    name, tree->switches[below->parent].name, tree->lines[at].name);
}

static void children_take(struct tree *tree, uint32_t at) {
    cleanup_hostlist struct hostlist names = HOSTLIST_INIT;

    if (!list_of(tree, at, tree->lines[at].switches, &names))
        return;
    for (size_t i = 0; i < names.n; i++)
        child_take(tree, at, names.names[i]);
    tree->switches[at].switches = folded(tree, &names);
}

/* Sets levels and hands nodes upwards. False: a switch is above itself. */
static bool levels_set(struct tree *tree) {
    for (uint32_t i = 0; i < tree->n; i++) {
        uint32_t level = 0, at = tree->switches[i].parent;
        for (; at != CONF_NO_SWITCH && level <= tree->n; at = tree->switches[at].parent) {
            level++;
            tree->switches[at].level = max_of(tree->switches[at].level, level);
        }
        if (level > tree->n) {
            struct conf_context context = context_of(tree, i);
            conf_error(&context, "switch %s is above itself: Switches= must not make a loop",
                       tree->lines[i].name);
            return false;
        }
    }
    for (uint32_t i = 0; i < tree->n; i++) {
        if (tree->lines[i].nodes == NULL)
            continue;
        for (uint32_t at = tree->switches[i].parent; at != CONF_NO_SWITCH;
             at = tree->switches[at].parent) {
            for (size_t k = 0; k < tree->below[i].n; k++)
                hostlist_push(&tree->below[at], tree->below[i].names[k]);
        }
    }
    return true;
}

/* Jobs run there all the same. */
static void strays_tell(struct tree *tree, const char *path) {
    const struct conf *conf = tree->loader->conf;
    struct conf_context context = conf_context_at(tree->loader, path, 0);
    cleanup_hostlist struct hostlist strays = HOSTLIST_INIT;

    for (size_t i = 0; i < conf->n_nodes; i++) {
        if (smap_get(&conf->private->leaves, conf->nodes[i].name) == NULL)
            hostlist_push(&strays, conf->nodes[i].name);
    }
    if (strays.n > 0)
        conf_notice(&context, "%s %.512s %s at no switch: far from all others",
                    strays.n == 1 ? "node" : "nodes", folded(tree, &strays),
                    strays.n == 1 ? "is" : "are");
}

static void tree_make(struct conf_loader *loader, const struct conf_topology *lines,
                      const char *path) {
    struct tree tree = {.loader = loader,
                        .lines = lines->switches,
                        .switches = xcalloc(lines->n_switches + 1, sizeof(*tree.switches)),
                        .n = lines->n_switches,
                        .names = SMAP_INIT,
                        .below = xcalloc(lines->n_switches + 1, sizeof(*tree.below))};

    loader->conf->switches = tree.switches;
    loader->conf->n_switches = tree.n;
    names_take(&tree);
    for (uint32_t i = 0; i < tree.n; i++) {
        if (tree.lines[i].nodes != NULL)
            leaf_nodes_take(&tree, i);
        else
            children_take(&tree, i);
    }
    if (levels_set(&tree))
        strays_tell(&tree, path);
    for (uint32_t i = 0; i < tree.n; i++) {
        tree.switches[i].nodes = folded(&tree, &tree.below[i]);
        hostlist_done(&tree.below[i]);
    }
    free(tree.below);
    smap_done(&tree.names);
}

void conf_tree_load(struct conf_loader *loader) {
    if (loader->conf->topology_plugin != CONF_TOPOLOGY_TREE)
        return;
    cleanup_free char *text = xasprintf("%stopology.conf", loader->directory);
    const char *path = conf_keep(loader, text);
    struct conf_topology *lines = NULL;
    struct error err = ERROR_INIT;
    size_t errors = loader->context.report->n_errors;
    int result = conf_topology_load(loader->source, path, &lines, loader->context.report, &err);
    struct conf_context context = conf_context_at(loader, path, 0);

    if (result == -ERR_NOT_FOUND && loader->role == CONF_SLURMD)
        return; /* the controller has it; here it only names places */
    if (result == -ERR_NOT_FOUND)
        conf_error(&context, "the file is not there, and TopologyPlugin=topology/tree needs it; "
                             "a line for each switch: SwitchName=s0 Nodes=n[0-7]");
    else if (result < 0 && loader->context.report->n_errors == errors)
        conf_error(&context, "%s", err.text);
    if (result < 0)
        return;
    vec_push(&loader->files, path);
    if (lines->n_switches == 0)
        conf_error(&context, "there is no SwitchName line, and TopologyPlugin=topology/tree needs "
                             "some");
    else
        tree_make(loader, lines, path);
    conf_topology_free(lines);
}

uint32_t conf_leaf_of(const struct conf *conf, const char *node_name) {
    size_t leaf = (size_t) smap_get(&conf->private->leaves, node_name);

    return leaf ? (uint32_t) leaf - 1 : CONF_NO_SWITCH;
}

void conf_topology_address(const struct conf *conf, const char *node_name, struct str *address,
                           struct str *pattern) {
    const char *way[64];
    size_t n = 0;

    for (uint32_t at = conf_leaf_of(conf, node_name); at != CONF_NO_SWITCH && n < countof(way);
         at = conf->switches[at].parent)
        way[n++] = conf->switches[at].name;
    while (n-- > 0) {
        str_printf(address, "%s.", way[n]);
        str_append(pattern, "switch.");
    }
    str_append(address, node_name);
    str_append(pattern, "node");
}
