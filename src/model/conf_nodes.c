/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node lines: ranges with their addresses and ports, the topology that follows from what was
 * given, generic resources, NodeSet and DownNodes.
 */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "model/conf_lines.h"
#include "text/hostlist.h"

/* ---- Topology ---- */

static uint64_t or_one(uint64_t number) {
    return number != 0 ? number : 1;
}

/* sockets from Boards and SocketsPerBoard; false when they contradict Sockets. */
static bool sockets_set(struct conf_node *node, uint32_t per_board,
                        const struct conf_context *context) {
    uint32_t boards = (uint32_t) or_one(node->boards);
    if (per_board != 0) {
        uint64_t total = (uint64_t) boards * per_board;
        if (node->sockets != 0 && node->sockets != total) {
            conf_error(context, "Sockets=%u is not Boards=%u times SocketsPerBoard=%u (%llu)",
                       node->sockets, boards, per_board, (unsigned long long) total);
            return false;
        }
        node->sockets = (uint32_t) total;
    } else if (node->sockets != 0 && node->sockets % boards != 0) {
        conf_error(context, "Sockets=%u cannot be divided among Boards=%u", node->sockets, boards);
        return false;
    }
    node->boards = boards;
    return true;
}

/* Fills one factor of the product when CPUs gives the whole; false when it does not divide. */
static bool factor_set(uint32_t *factor, const char *name, uint32_t cpus, uint64_t others,
                       const struct conf_context *context) {
    if (cpus % others != 0) {
        conf_error(context,
                   "CPUs=%u cannot be divided by the %llu that the other keys give, so %s "
                   "does not follow",
                   cpus, (unsigned long long) others, name);
        return false;
    }
    *factor = (uint32_t) (cpus / others);
    return true;
}

/*
 * Makes sockets, cores, threads and CPUs agree. What is given stays; the first that is missing of
 * CoresPerSocket and Sockets follows from CPUs. CPUs alone is one socket of that many cores: it
 * says nothing of sockets, and a node of many sockets of one core would only cost the scheduler
 * time.
 */
static bool topology_set(struct conf_node *node, uint32_t per_board,
                         const struct conf_context *context) {
    if (!sockets_set(node, per_board, context))
        return false;
    if (node->cpus != 0 && node->cores_per_socket == 0) {
        uint64_t others = or_one(node->sockets) * or_one(node->threads_per_core);
        if (!factor_set(&node->cores_per_socket, "CoresPerSocket", node->cpus, others, context))
            return false;
    } else if (node->cpus != 0 && node->sockets == 0) {
        uint64_t others = (uint64_t) node->cores_per_socket * or_one(node->threads_per_core);
        /* CPUs may count cores, or threads. */
        if (node->cpus % others != 0 && node->cpus % node->cores_per_socket == 0)
            others = node->cores_per_socket;
        if (!factor_set(&node->sockets, "Sockets", node->cpus, others, context))
            return false;
    }
    node->sockets = (uint32_t) max_of(or_one(node->sockets), (uint64_t) node->boards);
    node->cores_per_socket = (uint32_t) or_one(node->cores_per_socket);
    node->threads_per_core = (uint32_t) or_one(node->threads_per_core);
    uint64_t cores = (uint64_t) node->sockets * node->cores_per_socket;
    uint64_t threads = cores * node->threads_per_core;
    if (node->cpus == 0)
        node->cpus = (uint32_t) min_of(threads, (uint64_t) UINT32_MAX);
    if (threads > 65533) {
        conf_error(context,
                   "Sockets=%u CoresPerSocket=%u ThreadsPerCore=%u are %llu CPUs; a node "
                   "has at most 65533",
                   node->sockets, node->cores_per_socket, node->threads_per_core,
                   (unsigned long long) threads);
        return false;
    }
    if (node->cpus != threads && node->cpus != cores) {
        conf_error(context,
                   "CPUs=%u is neither Sockets=%u times CoresPerSocket=%u (%llu) nor that "
                   "times ThreadsPerCore=%u (%llu)",
                   node->cpus, node->sockets, node->cores_per_socket, (unsigned long long) cores,
                   node->threads_per_core, (unsigned long long) threads);
        return false;
    }
    return true;
}

/* ---- Generic resources ---- */

/* Drops the word no_consume from `name:type:no_consume:4G`; it is accepted and not honoured yet. */
static char *gres_plain(const char *text, bool *ret_no_consume) {
    char *plain = xstrdup(text);
    *ret_no_consume = false;
    for (char *at; (at = strcasestr(plain, ":no_consume")) != NULL;) {
        memmove(at, at + 11, strlen(at + 11) + 1);
        *ret_no_consume = true;
    }
    return plain;
}

static bool gres_set(struct conf_loader *loader, struct conf_node *node) {
    if (node->gres_text == NULL)
        return true;
    bool no_consume;
    cleanup_free char *plain = gres_plain(node->gres_text, &no_consume);
    struct error err = ERROR_INIT;
    cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
    if (gres_parse(plain, &list, &err) != 0) {
        conf_error(&loader->context, "Gres: \"%s\" is not NAME[:TYPE][:COUNT],... (%s)",
                   node->gres_text, err.text);
        return false;
    }
    if (no_consume)
        conf_notice(&loader->context, "Gres: \"no_consume\" has no effect yet");
    if (list.n == 0)
        return true;
    struct gres_list *kept = zalloc(struct gres_list);
    *kept = list;
    list = (struct gres_list) GRES_LIST_INIT;
    vec_push(&loader->conf->private->gres_lists, kept);
    node->gres = kept;
    return true;
}

/* GresTypes may stand below the node lines, so this waits until all is read. */
static void gres_names_check(struct conf_loader *loader) {
    const struct gres_list *checked = NULL;
    vec_each (&loader->nodes, node) {
        if (node->gres == NULL || node->gres == checked)
            continue;
        checked = node->gres; /* nodes of one line share the list */
        for (size_t i = 0; i < node->gres->n; i++) {
            const char *name = node->gres->items[i].name;
            struct conf_context context = conf_context_at(loader, node->file, node->line);
            uint64_t gpus = gres_list_sum(node->gres, "gpu");
            if (gres_is_share(name) && gpus == 0)
                conf_notice(&context,
                            "Gres: %s is a share of GPUs, and the node has none: it is only "
                            "counted; add gpu:N to Gres",
                            name);
            if (gres_is_share(name) && gpus > CONF_SHARED_GPUS_MAX)
                conf_notice(&context,
                            "Gres: %s is only counted, apart from whole GPUs, where a node has "
                            "more than %d of them",
                            name, CONF_SHARED_GPUS_MAX);
            if (!str_has_word_nocase(loader->conf->gres_types, name, ","))
                conf_error(&context, "Gres: \"%s\" is not in GresTypes (%s); add GresTypes=%s%s%s",
                           name,
                           loader->conf->gres_types != NULL ? loader->conf->gres_types : "not set",
                           loader->conf->gres_types != NULL ? loader->conf->gres_types : "",
                           loader->conf->gres_types != NULL ? "," : "", name);
        }
    }
}

/* ---- Expanding a line ---- */

/* Expands a list that goes along with the names: as many, or one for all. */
static bool companion_expand(const struct conf_loader *loader, const char *key, const char *text,
                             size_t n_names, struct hostlist *list) {
    struct error err = ERROR_INIT;
    if (text == NULL)
        return true;
    if (hostlist_parse(list, text, &err) != 0) {
        conf_error(&loader->context, "%s: %s", key, err.text);
        return false;
    }
    if (list->n != n_names && list->n != 1) {
        conf_error(&loader->context,
                   "%s names %zu, but NodeName names %zu: give as many, or one "
                   "for all",
                   key, list->n, n_names);
        return false;
    }
    return true;
}

static const char *companion_name(const struct conf_loader *loader, const struct hostlist *list,
                                  size_t i, const char *otherwise) {
    if (list->n == 0)
        return otherwise;
    return conf_keep(loader, list->names[list->n == 1 ? 0 : i]);
}

static bool port_set(const struct conf_loader *loader, const struct hostlist *list, size_t i,
                     uint16_t *ret) {
    if (list->n == 0)
        return true;
    const char *text = list->names[list->n == 1 ? 0 : i];
    uint64_t port;
    if (!str_to_u64(text, &port) || port < 1 || port > CONF_PORT_MAX) {
        conf_error(&loader->context, "Port: \"%s\" is not a number from 1 to 65535", text);
        return false;
    }
    *ret = (uint16_t) port;
    return true;
}

static bool node_name_check(const struct conf_loader *loader, const char *name) {
    if (conf_name_is_valid(name))
        return true;
    conf_error(&loader->context,
               "NodeName: \"%.64s\" is no node name (letters, digits, \"-\", "
               "\"_\" and \".\", at most %d)",
               name, CONF_NAME_MAX);
    return false;
}

static void nodes_expand(struct conf_loader *loader, const struct conf_node_line *line,
                         const struct conf_node *model) {
    struct error err = ERROR_INIT;
    cleanup_hostlist struct hostlist names = HOSTLIST_INIT, hostnames = HOSTLIST_INIT;
    cleanup_hostlist struct hostlist addresses = HOSTLIST_INIT, ports = HOSTLIST_INIT;
    cleanup_hostlist struct hostlist bcasts = HOSTLIST_INIT;
    if (hostlist_parse(&names, line->line.names, &err) != 0) {
        conf_error(&loader->context, "NodeName: %s", err.text);
        return;
    }
    if (names.n + loader->nodes.n > CONF_NODES_MAX) {
        conf_error(&loader->context, "more than %d nodes", CONF_NODES_MAX);
        return;
    }
    if (!companion_expand(loader, "NodeHostname", line->line.hostnames, names.n, &hostnames) ||
        !companion_expand(loader, "NodeAddr", line->line.addresses, names.n, &addresses) ||
        !companion_expand(loader, "Port", line->line.ports, names.n, &ports) ||
        !companion_expand(loader, "BcastAddr", line->line.bcast_addresses, names.n, &bcasts))
        return;
    for (size_t i = 0; i < names.n; i++) {
        if (!node_name_check(loader, names.names[i]))
            return;
        struct conf_node node = *model;
        node.name = conf_keep(loader, names.names[i]);
        node.hostname = companion_name(loader, &hostnames, i, node.name);
        node.address = companion_name(loader, &addresses, i, node.hostname);
        node.bcast_address = companion_name(loader, &bcasts, i, NULL);
        if (!port_set(loader, &ports, i, &node.port))
            return;
        vec_push(&loader->nodes, node);
    }
}

void conf_node_line_finish(struct conf_loader *loader, void *object, uint64_t seen) {
    struct conf_node_line *line = object;
    if (line->line.names == NULL) {
        conf_error(&loader->context, "NodeName names no node");
        return;
    }
    if (strcasecmp(line->line.names, "DEFAULT") == 0) {
        /* CPUs and their parts are worked out by the lines that use them. */
        line->line.names = NULL;
        loader->node_defaults = *line;
        return;
    }
    struct conf_node node = line->node;
    node.file = loader->context.file;
    node.line = loader->context.line;
    bool ok = topology_set(&node, line->line.sockets_per_board, &loader->context);
    ok &= gres_set(loader, &node);
    /* With errors in it the line still defines its names, so that partitions find them. */
    if (!ok)
        node.cpus = node.sockets = node.cores_per_socket = node.threads_per_core = 1;
    nodes_expand(loader, line, &node);
}

/* ---- Other lines ---- */

void conf_node_set_line_finish(struct conf_loader *loader, void *object, uint64_t seen) {
    struct conf_node_set_line *line = object;
    line->context = loader->context;
    if (line->name == NULL || !conf_name_is_valid(line->name))
        conf_error(&loader->context, "NodeSet needs a name");
    else if ((line->feature == NULL) == (line->nodes == NULL))
        conf_error(&loader->context, "NodeSet %s needs either Feature= or Nodes=", line->name);
    else
        vec_push(&loader->node_sets, *line);
}

void conf_down_line_finish(struct conf_loader *loader, void *object, uint64_t seen) {
    struct conf_down_line *line = object;
    line->context = loader->context;
    if (line->names == NULL)
        conf_error(&loader->context, "DownNodes names no node");
    else
        vec_push(&loader->down_lines, *line);
}

static void down_line_apply(struct conf_loader *loader, const struct conf_down_line *line) {
    cleanup_hostlist struct hostlist names = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    if (hostlist_parse(&names, line->names, &err) != 0) {
        conf_error(&line->context, "DownNodes: %s", err.text);
        return;
    }
    cleanup_hostlist struct hostlist unknown = HOSTLIST_INIT;
    for (size_t i = 0; i < names.n; i++) {
        struct conf_node *node = smap_get(&loader->conf->private->nodes, names.names[i]);
        if (node == NULL) {
            hostlist_push(&unknown, names.names[i]);
            continue;
        }
        node->state = line->state;
        node->reason = line->reason != NULL ? line->reason : node->reason;
    }
    if (unknown.n > 0)
        conf_unknown_nodes(loader, &line->context, "DownNodes", "", &unknown);
}

/* Nodes of one line that an earlier line has defined; they are told of together. */
static void twice_report(struct conf_loader *loader, const struct conf_node *node,
                         const struct conf_node *first, struct hostlist *twice) {
    if (twice->n == 0)
        return;
    struct conf_context context = conf_context_at(loader, node->file, node->line);
    cleanup_str struct str names = STR_INIT;
    hostlist_fold(twice, &names);
    conf_error(&context, "%s %.512s %s defined twice (first in %s:%u)",
               twice->n == 1 ? "node" : "nodes", str_cstr(&names), twice->n == 1 ? "is" : "are",
               first->file, first->line);
    hostlist_done(twice);
    *twice = (struct hostlist) HOSTLIST_INIT;
}

static bool same_line(const struct conf_node *a, const struct conf_node *b) {
    return a->line == b->line && a->file == b->file;
}

static void nodes_index(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    cleanup_hostlist struct hostlist twice = HOSTLIST_INIT;
    const struct conf_node *twice_node = NULL, *twice_first = NULL;
    for (size_t i = 0; i < conf->n_nodes; i++) {
        struct conf_node *node = &conf->nodes[i];
        node->index = (uint32_t) i;
        if (node->port == 0)
            node->port = (uint16_t) conf->slurmd_port;
        struct conf_node *first = smap_get(&conf->private->nodes, node->name);
        if (first == NULL) {
            smap_put(&conf->private->nodes, node->name, node);
            continue;
        }
        if (twice.n > 0 && !(same_line(node, twice_node) && same_line(first, twice_first)))
            twice_report(loader, twice_node, twice_first, &twice);
        twice_node = node;
        twice_first = first;
        hostlist_push(&twice, node->name);
    }
    twice_report(loader, twice_node, twice_first, &twice);
}

void conf_nodes_finish(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    gres_names_check(loader);
    conf->nodes = loader->nodes.items;
    conf->n_nodes = loader->nodes.n;
    memset(&loader->nodes, 0, sizeof(loader->nodes));
    nodes_index(loader);
    vec_each (&loader->down_lines, line)
        down_line_apply(loader, line);
}
