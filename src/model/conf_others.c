/* SPDX-License-Identifier: Apache-2.0 */
/* slurmdbd.conf, topology.conf, job_container.conf: their tables and readings. */
#include "model/conf_others.h"

#include "base/vec.h"
#include "model/conf_lines.h"
#include "model/conf_rows.h"

/* ---- Tables ---- */

#define X(type, member, name, value, ...) .member = value,
static const struct conf_dbd dbd_defaults = {CONF_DBD_KEYS(X).auth = {CONF_AUTH_INFO_KEYS(X)}};
static const struct conf_topology topology_defaults = {CONF_TOPOLOGY_KEYS(X)};
static const struct conf_switch switch_defaults = {CONF_SWITCH_KEYS(X)};
static const struct conf_block block_defaults = {CONF_BLOCK_KEYS(X)};
static const struct conf_block ring_defaults = {CONF_RING_KEYS(X)};
static const struct conf_container container_defaults = {CONF_CONTAINER_KEYS(X)};
#undef X

#define OPTION_OBJECT conf_dbd
#define OPTION_MEMBER auth
static const struct conf_key keys_DBD_AUTH_INFO[] = {CONF_AUTH_INFO_KEYS(CONF_OPTION_ROW)};
CONF_OPTION_TABLE(DBD_AUTH_INFO, dbd_defaults, NULL, "socket")

#define CONF_OBJECT conf_dbd
static const struct conf_key dbd_keys[] = {CONF_DBD_KEYS(CONF_FIELD_ROW)
                                               CONF_DBD_OBSOLETE(OBSOLETE)};
#undef CONF_OBJECT
#define CONF_OBJECT conf_topology
static const struct conf_key topology_keys[] = {CONF_TOPOLOGY_KEYS(CONF_FIELD_ROW)};
#undef CONF_OBJECT
#define CONF_OBJECT conf_switch
static const struct conf_key switch_keys[] = {CONF_SWITCH_KEYS(CONF_FIELD_ROW)};
#undef CONF_OBJECT
#define CONF_OBJECT conf_block
static const struct conf_key block_keys[] = {CONF_BLOCK_KEYS(CONF_FIELD_ROW)};
static const struct conf_key ring_keys[] = {CONF_RING_KEYS(CONF_FIELD_ROW)};
#undef CONF_OBJECT
#define CONF_OBJECT conf_container
static const struct conf_key container_keys[] = {CONF_CONTAINER_KEYS(CONF_FIELD_ROW)};
#undef CONF_OBJECT

#define TABLE(id, what_)                                                                           \
    const struct conf_table conf_##id##_table = {                                                  \
        .what = what_, .keys = id##_keys, .n = countof(id##_keys), .defaults = &id##_defaults};
TABLE(dbd, "slurmdbd.conf")
TABLE(topology, "topology.conf")
TABLE(switch, "a SwitchName line")
TABLE(block, "a BlockName line")
TABLE(ring, "a RingName line")
TABLE(container, "job_container.conf")

/* ---- Lines ---- */

struct topology_lines {
    vec(struct conf_switch) switches;
    vec(struct conf_block) blocks, rings;
};

static const void *switch_line_defaults(const struct conf_loader *loader) {
    return &switch_defaults;
}
static const void *block_line_defaults(const struct conf_loader *loader) {
    return &block_defaults;
}
static const void *ring_line_defaults(const struct conf_loader *loader) {
    return &ring_defaults;
}

static void switch_line_finish(struct conf_loader *loader, void *object, uint64_t seen) {
    struct topology_lines *lines = loader->lines;
    struct conf_switch *line = object;
    line->file = loader->context.file;
    line->line = loader->context.line;
    if (line->name == NULL)
        conf_error(&loader->context, "SwitchName names no switch");
    else if ((line->nodes == NULL) == (line->switches == NULL))
        conf_error(&loader->context, "switch %s needs either Nodes= or Switches=", line->name);
    else
        vec_push(&lines->switches, *line);
}

static bool block_is_whole(struct conf_loader *loader, struct conf_block *block, const char *what) {
    block->file = loader->context.file;
    block->line = loader->context.line;
    if (block->name != NULL && block->nodes != NULL)
        return true;
    conf_error(&loader->context, "a %s needs a name and Nodes=", what);
    return false;
}

static void block_line_finish(struct conf_loader *loader, void *object, uint64_t seen) {
    struct topology_lines *lines = loader->lines;
    struct conf_block *block = object;
    if (block_is_whole(loader, block, "block"))
        vec_push(&lines->blocks, *block);
}

static void ring_line_finish(struct conf_loader *loader, void *object, uint64_t seen) {
    struct topology_lines *lines = loader->lines;
    struct conf_block *ring = object;
    if (block_is_whole(loader, ring, "ring"))
        vec_push(&lines->rings, *ring);
}

struct container_lines {
    struct conf_container everywhere;
    vec(struct conf_container) lines;
};

/* A NodeName line starts from what stands above it outside of such lines. */
static const void *container_line_defaults(const struct conf_loader *loader) {
    const struct container_lines *lines = loader->lines;
    return &lines->everywhere;
}

static void container_line_finish(struct conf_loader *loader, void *object, uint64_t seen) {
    struct container_lines *lines = loader->lines;
    struct conf_container *line = object;
    if (line->node_names == NULL)
        conf_error(&loader->context, "NodeName names no node");
    else
        vec_push(&lines->lines, *line);
}

/* The numbers go on from those of conf.c. */
static const struct conf_line_kind topology_lines[] = {
    {&conf_switch_table, 8, sizeof(struct conf_switch), switch_line_defaults, switch_line_finish},
    {&conf_block_table, 9, sizeof(struct conf_block), block_line_defaults, block_line_finish},
    {&conf_ring_table, 10, sizeof(struct conf_block), ring_line_defaults, ring_line_finish},
};
static const struct conf_line_kind container_lines[] = {
    {&conf_container_table, 11, sizeof(struct conf_container), container_line_defaults,
     container_line_finish},
};

/* ---- Reading ---- */

/* Reads one file into object and lines. On success *ret_owner owns the strings. */
static int others_load(const struct conf_source *source, const char *path,
                       const struct conf_file_kind *kind, void *object, void *lines,
                       void (*check)(struct conf_loader *loader, void *object),
                       struct conf **ret_owner, struct conf_report *report, struct error *err) {
    cleanup_conf struct conf *owner = conf_new();
    struct conf_loader loader = {
        .conf = owner,
        .source = source,
        .role = CONF_SLURMCTLD,
        .context = {.report = report, .arena = &owner->private->arena},
        .lines = lines,
    };
    size_t errors_before = report->n_errors;
    owner->path = conf_keep(&loader, path);
    conf_directory_set(&loader, owner->path);
    int result = conf_more_load(&loader, kind, owner->path, object, err);
    if (result == 0 && check != NULL) {
        loader.context.file = owner->path;
        loader.context.line = 0;
        check(&loader, object);
    }
    conf_report_sort(report, loader.files.items, loader.files.n);
    conf_loader_done(&loader);
    if (result != 0)
        return result;
    if (report->n_errors > errors_before)
        return conf_errors_sum_up(report, errors_before, path, err);
    *ret_owner = take(owner);
    return 0;
}

static void dbd_check(struct conf_loader *loader, void *object) {
    const struct conf_dbd *dbd = object;
    if (dbd->dbd_host == NULL)
        conf_error(&loader->context, "DbdHost is missing: the host that slurmdbd runs on");
}

int conf_dbd_load(const struct conf_source *source, const char *path, struct conf_dbd **ret,
                  struct conf_report *report, struct error *err) {
    static const struct conf_file_kind kind = {&conf_dbd_table, NULL, 0, NULL};
    struct conf_dbd *dbd = xmemdup(&dbd_defaults, sizeof(dbd_defaults));
    int result = others_load(source, path, &kind, dbd, NULL, dbd_check, &dbd->owner, report, err);
    if (result != 0) {
        conf_dbd_free(dbd);
        return result;
    }
    *ret = dbd;
    return 0;
}

void conf_dbd_free(struct conf_dbd *dbd) {
    if (dbd == NULL)
        return;
    conf_free(dbd->owner);
    free(dbd);
}

int conf_topology_load(const struct conf_source *source, const char *path,
                       struct conf_topology **ret, struct conf_report *report, struct error *err) {
    static const struct conf_file_kind kind = {&conf_topology_table, topology_lines,
                                               countof(topology_lines), NULL};
    struct conf_topology *topology = xmemdup(&topology_defaults, sizeof(topology_defaults));
    struct topology_lines lines = {0};
    int result =
        others_load(source, path, &kind, topology, &lines, NULL, &topology->owner, report, err);
    topology->switches = lines.switches.items;
    topology->n_switches = lines.switches.n;
    topology->blocks = lines.blocks.items;
    topology->n_blocks = lines.blocks.n;
    topology->rings = lines.rings.items;
    topology->n_rings = lines.rings.n;
    if (result != 0) {
        conf_topology_free(topology);
        return result;
    }
    *ret = topology;
    return 0;
}

void conf_topology_free(struct conf_topology *topology) {
    if (topology == NULL)
        return;
    free(topology->switches);
    free(topology->blocks);
    free(topology->rings);
    conf_free(topology->owner);
    free(topology);
}

int conf_containers_load(const struct conf_source *source, const char *path,
                         struct conf_containers **ret, struct conf_report *report,
                         struct error *err) {
    static const struct conf_file_kind kind = {&conf_container_table, container_lines,
                                               countof(container_lines), NULL};
    struct container_lines lines = {.everywhere = container_defaults};
    struct conf_containers *containers = zalloc(struct conf_containers);
    int result = others_load(source, path, &kind, &lines.everywhere, &lines, NULL,
                             &containers->owner, report, err);
    containers->everywhere = lines.everywhere;
    containers->lines = lines.lines.items;
    containers->n_lines = lines.lines.n;
    if (result != 0) {
        conf_containers_free(containers);
        return result;
    }
    *ret = containers;
    return 0;
}

void conf_containers_free(struct conf_containers *containers) {
    if (containers == NULL)
        return;
    free(containers->lines);
    conf_free(containers->owner);
    free(containers);
}
