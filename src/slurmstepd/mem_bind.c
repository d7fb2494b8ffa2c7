/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/mem_bind.h"

#include <linux/mempolicy.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "slurmstepd/bind.h"

#define NUMA_NODES 1024 /* of a kernel, at most */

/* A kind with a list takes the rest of the text; of others `least` letters are enough. */
static const struct {
    const char *word, *label;
    size_t least; /* 0: has a list */
} kinds[] = {
    [MEM_BIND_NONE] = {"none", "NONE", 2},      [MEM_BIND_LOCAL] = {"local", "LOC", 5},
    [MEM_BIND_RANK] = {"rank", "RANK", 4},      [MEM_BIND_MAP] = {"map_mem:", "MAP", 0},
    [MEM_BIND_MASK] = {"mask_mem:", "MASK", 0},
};

/* ---- what was asked for ---- */

static bool read_kind(const char *text, size_t length, struct mem_bind *bind) {
    for (size_t k = 0; k < countof(kinds); k++) {
        size_t full = strlen(kinds[k].word);
        bool has_list = kinds[k].least == 0;
        if (has_list ? strncasecmp(text, kinds[k].word, full) != 0
                     : !str_abbreviates(text, length, kinds[k].word, kinds[k].least))
            continue;
        bind->kind = (enum mem_bind_kind) k;
        bind->list = has_list ? xstrdup(text + full) : NULL;
        return true;
    }
    return false;
}

/* Words that change nothing here ("sort": only some old processors had to be told) are accepted. */
static void read_text(const char *text, struct mem_bind *bind) {
    while (*text != '\0' && bind->list == NULL) {
        size_t length = strcspn(text, ",");
        if (str_abbreviates(text, length, "verbose", 1))
            bind->verbose = true;
        else if (str_abbreviates(text, length, "quiet", 1))
            bind->verbose = false;
        else if (str_abbreviates(text, length, "prefer", 1))
            bind->prefer = true;
        else
            (void) read_kind(text, length, bind);
        text += length + (text[length] == ',');
    }
}

/* ---- nodes ---- */

static void nodes_there(const struct cpu_map *map, struct bits *ret) {
    bits_init(ret, NUMA_NODES);
    for (uint32_t i = 0; map != NULL && i < map->numa.n; i++) {
        if (map->numa.items[i] < NUMA_NODES)
            bits_set(ret, map->numa.items[i]);
    }
}

static int refuse(const struct bits *there, const char *item, struct error *err) {
    struct str all cleanup_str = STR_INIT;
    bits_each (there, node)
        str_printf(&all, "%s%zu", all.length > 0 ? "," : "", (size_t) node);
    return error_set(err, ERR_CPU_BIND,
                     "Memory binding to NUMA nodes that are not there (%s), this node has: %s.",
                     item, str_cstr(&all));
}

static int listed(const struct mem_bind *bind, const struct bits *there, uint32_t task,
                  struct error *err) {
    cleanup_free char *item = bind_list_entry(bind->list, task);
    struct bits *nodes = &bind->nodes[task];
    bool ok = item != NULL && (bind->kind == MEM_BIND_MAP ? bind_read_number(item, nodes)
                                                          : bind_read_mask(item, nodes));
    if (!ok || !bits_any(nodes) || !bits_subset(nodes, there))
        return refuse(there, item != NULL ? item : bind->list, err);
    return 0;
}

/* Round and round where there are fewer nodes than tasks. */
static void ranked(const struct mem_bind *bind, const struct bits *there) {
    size_t node = bits_next(there, 0);
    for (uint32_t task = 0; task < bind->n && node < there->n; task++) {
        bits_set(&bind->nodes[task], node);
        node = bits_next(there, node + 1);
        if (node >= there->n)
            node = bits_next(there, 0);
    }
}

int mem_bind_make(const char *text, const struct cpu_map *map, uint32_t n_tasks,
                  struct mem_bind *ret, struct error *err) {
    struct bits any;
    int r = 0;
    *ret = (struct mem_bind) {.policy = -1, .n = n_tasks};
    nodes_there(map, &ret->there);
    if (text != NULL)
        read_text(text, ret);
    if (ret->kind == MEM_BIND_NONE)
        return 0;
    ret->policy = MPOL_LOCAL;
    if (ret->kind == MEM_BIND_LOCAL)
        return 0;
    ret->policy = ret->prefer ? MPOL_PREFERRED : MPOL_BIND;
    ret->nodes = xcalloc(n_tasks + 1, sizeof(*ret->nodes));
    for (uint32_t task = 0; task < n_tasks; task++)
        bits_init(&ret->nodes[task], NUMA_NODES);
    bits_init(&any, NUMA_NODES);
    bits_fill(&any, true);
    const struct bits *allowed = bits_any(&ret->there) ? &ret->there : &any;
    if (ret->kind == MEM_BIND_RANK)
        ranked(ret, allowed);
    for (uint32_t task = 0; r == 0 && ret->list != NULL && task < n_tasks; task++)
        r = listed(ret, allowed, task, err);
    bits_done(&any);
    if (r < 0)
        mem_bind_done(ret);
    return r;
}

void mem_bind_done(struct mem_bind *bind) {
    for (uint32_t task = 0; bind->nodes != NULL && task < bind->n; task++)
        bits_done(&bind->nodes[task]);
    free(bind->nodes);
    bits_done(&bind->there);
    free(bind->list);
    *bind = (struct mem_bind) {.policy = -1};
}

/* ---- told ---- */

void mem_bind_line(const struct mem_bind *bind, const char *node, uint32_t rank, uint32_t local_id,
                   struct str *head, struct str *tail) {
    str_printf(head, "mem-bind%s%s - %s, task %2u %2u [", bind->prefer ? " PREFER " : "=",
               kinds[bind->kind].label, node, rank, local_id);
    str_append(tail, "]: mask ");
    bind_print_mask(bind->nodes != NULL ? &bind->nodes[local_id] : &bind->there, tail);
    str_append(tail, bind->kind != MEM_BIND_NONE ? " set" : "");
}

void mem_bind_env(const struct mem_bind *bind, const char *prefix, struct env *env) {
    const struct {
        const char *name, *value;
    } rows[] = {{"VERBOSE", bind->verbose ? "verbose" : "quiet"},
                {"PREFER", bind->prefer ? "prefer" : NULL},
                {"TYPE", kinds[bind->kind].word},
                {"LIST", bind->list != NULL ? bind->list : ""}};
    struct str all cleanup_str = STR_INIT;
    for (size_t i = 0; i < countof(rows); i++) {
        cleanup_free char *name = xasprintf("%s_MEM_BIND_%s", prefix, rows[i].name);
        env_set(env, name, rows[i].value);
    }
    cleanup_free char *name = xasprintf("%s_MEM_BIND", prefix);
    str_printf(&all, "%s,%s%s%s", rows[0].value, bind->prefer ? "prefer," : "", rows[2].value,
               rows[3].value);
    env_set(env, name, str_cstr(&all));
}
