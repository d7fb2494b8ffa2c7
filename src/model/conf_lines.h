/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the configuration reader: the state of one reading, what a line of each kind is parsed
 * into before its ranges are expanded, and the steps that the files conf_….c share.
 */
#ifndef SLUICE_MODEL_CONF_LINES_H
#define SLUICE_MODEL_CONF_LINES_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/conf.h"
#include "model/conf_lex.h"

struct conf_node_line {
    struct conf_node node;
    struct {
        const char *names, *hostnames, *addresses, *ports, *bcast_addresses;
        uint32_t sockets_per_board;
    } line;
};
struct conf_partition_line {
    struct conf_partition partition;
    struct {
        const char *name, *nodes;
        uint32_t priority;
        bool exclusive_user, exclusive_topo;
    } line;
};
struct conf_down_line {
    const char *names, *reason;
    unsigned state;
    struct conf_context context;
};
struct conf_node_set_line {
    const char *name, *feature, *nodes;
    struct conf_context context;
};
struct conf_power_action_line {
    const char *name, *location, *program;
};

extern const struct conf conf_defaults;
extern const struct conf_node_line conf_node_defaults;
extern const struct conf_partition_line conf_partition_defaults;
extern const struct conf_down_line conf_down_defaults;
extern const struct conf_node_set_line conf_node_set_defaults;
extern const struct conf_power_action_line conf_power_action_defaults;
extern const struct conf_gres conf_gres_defaults;

/* What only the reader and the finder functions touch. */
struct conf_private {
    struct arena arena;
    struct smap nodes, partitions;      /* by name, to struct conf_node and conf_partition */
    vec(struct gres_list *) gres_lists; /* of node lines; owned */
    struct smap leaves;                 /* node name -> 1 + index of its leaf switch */
    uint64_t hash;
};

struct conf_place {
    const char *file; /* NULL: the key was not given */
    uint32_t line;
};

#define CONF_LINE_TABLES 16

/* One reading. */
struct conf_loader {
    struct conf *conf;
    const struct conf_source *source;
    enum conf_role role;
    struct conf_context context; /* of the pair at hand */
    struct conf_place *places;   /* one per row of conf_main_table */
    const char *directory;       /* of slurm.conf, with the slash */
    uint32_t stray_line;         /* where the last word without "=" was told of */
    const char *open_files[CONF_DEPTH_MAX];
    size_t depth;
    vec(const char *) files; /* all that were read, in order */
    const struct conf_file_kind *kind;
    void *object; /* what the scalars of the file fill */
    void *lines;  /* of the files of conf_others.c: what their lines are put into */
    /* Keys of lines whose "no effect yet" has been said: once per key is enough. */
    uint64_t told[CONF_LINE_TABLES];

    struct conf_node_line node_defaults;
    struct conf_partition_line partition_defaults;
    vec(struct conf_node) nodes;
    vec(struct conf_partition_line) partitions;
    vec(struct conf_down_line) down_lines;
    vec(struct conf_node_set_line) node_sets;
    vec(struct conf_gres) gres;
};

/* A record that fills one line: parsed into a copy of `defaults`, then handed to finish. */
struct conf_line_kind {
    const struct conf_table *table; /* its first row is the key that opens the line */
    unsigned number;                /* index of conf_loader.told */
    size_t size;
    const void *(*defaults)(const struct conf_loader *loader);
    /* seen has a bit for each row of the table that was given. */
    void (*finish)(struct conf_loader *loader, void *object, uint64_t seen);
};

/* A kind of file: either scalars with some lines among them, or one record per line. */
struct conf_file_kind {
    const struct conf_table *table; /* scalars, or NULL */
    const struct conf_line_kind *lines;
    size_t n_lines;
    const struct conf_line_kind *record; /* every line is one of these, or NULL */
};

/* conf.c: an empty conf; it owns what a reading keeps. */
struct conf *conf_new(void);
/* Reads one more file of another kind. -ERR_NOT_FOUND when it does not exist. */
must_check int conf_more_load(struct conf_loader *loader, const struct conf_file_kind *kind,
                              const char *path, void *object, struct error *err);
/* Sets the directory that included files are relative to. */
void conf_directory_set(struct conf_loader *loader, const char *path);
/* Frees what the loader holds itself. */
void conf_loader_done(struct conf_loader *loader);
/* -ERR_CONFIG with how many errors there are and the first. */
int conf_errors_sum_up(const struct conf_report *report, size_t before, const char *path,
                       struct error *err);
/* conf.c: the given row of conf_main_table by its key; asserts that there is one. */
const struct conf_place *conf_place_of(const struct conf_loader *loader, const char *name);
/* A context for a problem at another place. */
struct conf_context conf_context_at(const struct conf_loader *loader, const char *file,
                                    uint32_t line);
/* conf_nodes.c */
void conf_node_line_finish(struct conf_loader *loader, void *object, uint64_t seen);
void conf_node_set_line_finish(struct conf_loader *loader, void *object, uint64_t seen);
void conf_down_line_finish(struct conf_loader *loader, void *object, uint64_t seen);
/* Hands the nodes to the conf, then applies DownNodes. */
void conf_nodes_finish(struct conf_loader *loader);
/* conf_partitions.c */
void conf_partition_line_finish(struct conf_loader *loader, void *object, uint64_t seen);
/* Resolves the nodes of all partitions; call after conf_nodes_finish. */
void conf_partitions_finish(struct conf_loader *loader);
/* `WHAT NAME: nodes x[1-3] have no NodeName line`; unknown is not empty. */
struct hostlist;
void conf_unknown_nodes(const struct conf_loader *loader, const struct conf_context *context,
                        const char *what, const char *name, const struct hostlist *unknown);
/* conf_gres.c */
void conf_gres_line_finish(struct conf_loader *loader, void *object, uint64_t seen);
void conf_gres_finish(struct conf_loader *loader);
/* conf_topology.c: the tree of switches. */
void conf_tree_load(struct conf_loader *loader);
/* conf_check.c: what holds between keys; fills in what follows from others. */
void conf_check(struct conf_loader *loader);

/* A copy of the text in the conf's arena. */
const char *conf_keep(const struct conf_loader *loader, const char *text);
/* True for a name that may stand in host lists and paths: letters, digits, "-", "_", ".", ":". */
bool conf_name_is_valid(const char *name);

#endif
