/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading: lines that are passed over are emptied in what the reader sees, and the file is read
 * again. Nodes: what is taken away leaves the partitions only, so that every index stays.
 */
#include "sim/conf_edit.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "os/conf_file.h"
#include "text/hostlist.h"

#define NODES_ADDED_MAX 100000

/* ---- reading ---- */

/* Beginnings of the keys that decide when and where jobs run, or that are about such keys. */
static const char *const planning_keys[] = {
    "Node",     "Partition", "Down",     "Frontend", "Select",   "Sched",     "Priority", "Preempt",
    "Topology", "DefMem",    "MaxMem",   "Gres",     "License",  "Enforce",   "Include",  "Name",
    "KillWait", "OverTime",  "JobReq",   "MaxJob",   "MaxArray", "MaxTasks",  "DefCpu",   "Switch",
    "Block",    "AutoDet",   "ClusterN", "Slurmctl", "SlurmdPo", "MinJobAge", "Job_",
};

struct passed_over {
    char *file;
    uint32_t line;
};
struct forgiving {
    vec(struct passed_over) lines;
};

static bool decides(const char *line) {
    while (*line == ' ' || *line == '\t')
        line++;
    for (size_t i = 0; i < countof(planning_keys); i++)
        if (str_starts_nocase(line, planning_keys[i]))
            return true;
    return false;
}

/* The n-th line of a text (from 1), or NULL. */
static char *line_of(struct str *text, uint32_t n) {
    char *at = text->data;
    for (uint32_t i = 1; at != NULL && i < n; i++) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    return at;
}

static int read_forgiving(void *context, const char *path, struct str *ret, struct error *err) {
    struct forgiving *forgiving = context;
    int r = conf_file_read(NULL, path, ret, err);
    vec_each (&forgiving->lines, passed) {
        char *at = r == 0 && str_equal(passed->file, path) ? line_of(ret, passed->line) : NULL;
        for (; at != NULL && *at != '\0' && *at != '\n'; at++)
            *at = ' ';
    }
    return r;
}

/* Lines with errors that do not matter; false when there are others. */
static bool pass_over(struct forgiving *forgiving, const struct conf_report *report) {
    size_t before = forgiving->lines.n;
    for (size_t i = 0; i < report->n; i++) {
        const struct conf_finding *finding = &report->items[i];
        struct str text cleanup_str = STR_INIT;
        if (finding->severity != CONF_SEVERITY_ERROR)
            continue;
        const char *line =
            finding->line > 0 && conf_file_read(NULL, finding->file, &text, NULL) == 0
                ? line_of(&text, finding->line)
                : NULL;
        if (line == NULL || decides(line))
            return false;
        vec_push(&forgiving->lines, ((struct passed_over) {xstrdup(finding->file), finding->line}));
    }
    return forgiving->lines.n > before;
}

static int load(const char *path, bool foreign, struct conf **ret, struct conf_report *report,
                struct error *err) {
    struct forgiving forgiving = {0};
    const struct conf_source source = {read_forgiving, &forgiving};
    int r = conf_load(&source, path, CONF_SLURMCTLD, ret, report, err);
    if (r == -ERR_CONFIG && foreign && pass_over(&forgiving, report)) {
        conf_report_done(report);
        *report = (struct conf_report) CONF_REPORT_INIT;
        r = conf_load(&source, path, CONF_SLURMCTLD, ret, report, err);
    }
    vec_each (&forgiving.lines, passed) {
        if (r == 0)
            conf_report_add(report, CONF_SEVERITY_NOTICE, passed->file, passed->line,
                            "not valid here and without meaning in a replay: passed over");
        free(passed->file);
    }
    vec_done(&forgiving.lines);
    return r;
}

int sim_conf_read(const char *path, bool foreign, struct conf **ret, struct conf_report *report,
                  struct error *err) {
    struct conf *conf = NULL;
    int r = load(path, foreign, &conf, report, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < conf->n_partitions; i++) {
        conf->partitions[i].allow_groups = NULL;
        conf->partitions[i].root_only = false;
    }
    *ret = conf;
    return 0;
}

/* ---- nodes ---- */

static int unknown_node(const char *change, const char *name, struct error *err) {
    return error_set(
        err, ERR_INVALID_NODE,
        "--nodes=%s: there is no node %s; +N*NODE adds N nodes like one that is in the "
        "configuration, -LIST takes those of the list away",
        change, name);
}

static int nodes_remove(struct conf *conf, const char *change, struct error *err) {
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    int r = hostlist_parse(&names, change + 1, err);
    if (r < 0)
        return error_prefix(err, "--nodes=%s: ", change);
    for (size_t i = 0; i < names.n; i++)
        if (conf_node_find(conf, names.names[i]) == NULL)
            return unknown_node(change, names.names[i], err);
    for (size_t i = 0; i < names.n; i++)
        for (size_t p = 0; p < conf->n_partitions; p++)
            bits_unset(&conf->partitions[p].nodes, conf_node_find(conf, names.names[i])->index);
    return 0;
}

static void partition_grow(struct conf_partition *part, size_t before, size_t after, bool has) {
    struct bits grown;
    bits_init(&grown, after);
    bits_each (&part->nodes, node)
        bits_set(&grown, node);
    for (size_t i = before; has && i < after; i++)
        bits_set(&grown, i);
    bits_done(&part->nodes);
    part->nodes = grown;
}

static void nodes_add(struct conf *conf, uint32_t model, uint64_t count, struct arena *memory) {
    size_t before = conf->n_nodes, after = before + count;
    conf->nodes = xreallocarray(conf->nodes, after, sizeof(struct conf_node));
    for (size_t i = before; i < after; i++) {
        struct conf_node *node = &conf->nodes[i];
        *node = conf->nodes[model];
        node->index = (uint32_t) i;
        cleanup_free char *name = xasprintf("%s-new%zu", conf->nodes[model].name, i + 1);
        node->name = node->hostname = node->address = arena_strdup(memory, name);
    }
    conf->n_nodes = after;
    conf_nodes_moved(conf);
    for (size_t p = 0; p < conf->n_partitions; p++)
        partition_grow(&conf->partitions[p], before, after,
                       bits_test(&conf->partitions[p].nodes, model));
}

int sim_conf_edit_nodes(struct conf *conf, const char *change, struct arena *memory,
                        struct error *err) {
    const char *at = change + 1;
    uint64_t count = 1;
    if (change[0] == '-' && change[1] != '\0')
        return nodes_remove(conf, change, err);
    bool counted = change[0] == '+' && str_read_u64(&at, &count) && *at++ == '*';
    if (!counted || count == 0 || count > NODES_ADDED_MAX)
        return error_set(err, ERR_INVALID,
                         "--nodes=%s: +N*NODE (N from 1 to %d) or -LIST is wanted, as +8*n1 or "
                         "-n[3-4]",
                         change, NODES_ADDED_MAX);
    const struct conf_node *model = conf_node_find(conf, at);
    if (model == NULL)
        return unknown_node(change, at, err);
    nodes_add(conf, model->index, count, memory);
    return 0;
}
