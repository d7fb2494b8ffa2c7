/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a cluster: slurm.conf with gres.conf and cgroup.conf beside it. Reading is
 * pure: files come from a callback, names are not resolved, users not looked up. All problems are
 * found in one reading and put in a report; what each key means stands in conf_keys.h.
 *
 * A `struct conf` never changes after conf_load; a reconfiguration makes a new one. Strings in it
 * live as long as it does. Members are named after their keys (SlurmdTimeout: slurmd_timeout).
 */
#ifndef SLUICE_MODEL_CONF_H
#define SLUICE_MODEL_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/str.h"
#include "model/conf_keys.h"
#include "model/conf_report.h"
#include "model/conf_table.h"
#include "model/conf_words.h"
#include "text/tres.h"

#define CONF_FILE_MAX (64u << 20) /* bytes of one file */
#define CONF_FILES_MAX 1000       /* files read, included ones counted */
#define CONF_DEPTH_MAX 10         /* Include in Include */
#define CONF_NODES_MAX 200000     /* nodes of a cluster */
#define CONF_PARTITIONS_MAX 10000
#define CONF_NAME_MAX 255 /* bytes of a node or partition name */

/* ---- Lines ---- */

struct conf_node {
    const char *name, *hostname, *address;
    const char *bcast_address; /* or NULL */
    uint16_t port;             /* SlurmdPort unless given */
    uint32_t index;            /* in conf->nodes */
    /* Consistent after loading: cpus is sockets * cores_per_socket, or that times
     * threads_per_core; sockets counts all boards. */
    uint32_t cpus, boards, sockets, cores_per_socket, threads_per_core;
    uint64_t real_memory, tmp_disk, mem_spec_limit; /* MiB */
    const char *gres_text;                          /* as written, or NULL */
    const struct gres_list *gres;                   /* parsed; NULL when there is none */
    const char *features;                           /* comma list or NULL */
    uint32_t weight;
    unsigned state;     /* CONF_NODE_STATE_… at the first start */
    const char *reason; /* or NULL */
    uint32_t core_spec_count;
    const char *cpu_spec_list, *cpu_bind;
    uint32_t restricted_cores_per_gpu, suspend_time;
    const char *parameters, *topology;
    const char *file; /* where it was defined */
    uint32_t line;
};

#define CONF_OVER_TIME_UNSET (UINT32_MAX - 1)

struct conf_partition {
    const char *name;
    const char *nodes_text; /* folded, in the order of conf->nodes; NULL when it has none */
    const char *node_sets;  /* names of the NodeSets that it was written with, or NULL */
    struct bits nodes;      /* over conf->nodes */
    bool is_default;        /* at most one */
    unsigned state;         /* CONF_PART_STATE_… */
    uint32_t max_time, default_time;                 /* minutes; MINUTES_INFINITE, MINUTES_UNSET */
    uint32_t max_nodes, min_nodes;                   /* CONF_INFINITE */
    uint32_t max_cpus_per_node, max_cpus_per_socket; /* CONF_INFINITE */
    /* MiB or counts; CONF_UNSET: the cluster's value holds. */
    uint64_t def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu, max_mem_per_node;
    uint64_t def_cpu_per_gpu, def_mem_per_gpu;
    /* Comma lists; NULL is all for allow_… and none for deny_…. */
    const char *allow_accounts, *allow_groups, *allow_qos, *deny_accounts, *deny_qos;
    const char *alloc_nodes, *alternate;
    bool hidden, root_only, disable_root_jobs, req_resv, lln;
    uint32_t oversubscribe; /* conf_share_mode(), conf_share_jobs() */
    unsigned exclusive;     /* CONF_PART_EXCLUSIVE_… */
    uint32_t priority_job_factor, priority_tier;
    uint64_t preempt_mode;                 /* CONF_PREEMPT_MODE_…; 0: the cluster's */
    uint32_t grace_time;                   /* seconds */
    uint32_t gpu_idle_warn, gpu_idle_time; /* seconds, 0 = never */
    unsigned gpu_idle_action;              /* CONF_GPU_IDLE_… */
    uint32_t over_time_limit;              /* minutes; CONF_OVER_TIME_UNSET: the cluster's */
    const char *qos;
    uint64_t select_type_parameters; /* CONF_CR_…; 0: the cluster's */
    const char *tres_billing_weights, *job_defaults, *cpu_bind, *topology;
    uint32_t resume_timeout, suspend_timeout, suspend_time; /* CONF_INFINITE: the cluster's */
    bool power_down_on_idle;
    const char *file;
    uint32_t line;
};

/* One line of gres.conf with its ranges expanded. */
struct conf_gres {
    const char *node_names; /* as written; NULL: every node */
    const char **nodes;     /* expanded node_names */
    size_t n_nodes;
    const char *name, *type; /* type may be NULL; name is NULL on a line of AutoDetect alone */
    const char *file, *multiple_files;
    const char **files; /* device paths, expanded; count of them */
    size_t n_files;     /* of MultipleFiles: all of one device */
    const char *count_text;
    uint64_t count;
    const char *cores, *links; /* as written, or NULL */
    uint64_t flags;            /* CONF_GRES_… */
    unsigned autodetect;       /* CONF_AUTODETECT_… */
    const char *source_file;
    uint32_t source_line;
};

struct conf_cgroup {
#define X(type, member, ...) CONF_MEMBER_##type member;
    CONF_CGROUP_KEYS(X)
#undef X
};

struct conf_control_host {
    const char *name, *address; /* the address is the name unless given */
};

/* Sub-options: struct conf_scheduler_options, conf_slurmctld_options, … */
#define X(type, member, ...) CONF_MEMBER_##type member;
#define V(table, suffix, member)                                                                   \
    struct conf_##suffix {                                                                         \
        CONF_##table##_KEYS(X)                                                                     \
    };
CONF_OPTION_TABLES(V)
#undef V
#undef X

/* A switch of topology.conf (TopologyPlugin=topology/tree). */
struct conf_tree_switch {
    const char *name;
    const char *nodes;    /* all below it, folded */
    const char *switches; /* those right below it, folded; NULL for a leaf */
    uint32_t link_speed;
    uint32_t parent; /* index, CONF_NO_SWITCH = none */
    uint32_t level;  /* 0 for a leaf */
};
#define CONF_NO_SWITCH UINT32_MAX

struct conf_private;

struct conf {
#define D(name)
#define X(type, member, ...) CONF_MEMBER_##type member;
    CONF_KEYS(X, D)
    CONF_MORE_KEYS(X)
#undef X
#undef D
#define V(table, suffix, member) struct conf_##suffix member;
    CONF_OPTION_TABLES(V)
#undef V
    struct conf_control_host *control_hosts; /* the first is the primary; at least one */
    size_t n_control_hosts;
    /* Empty for a CONF_CLIENT: commands ask the controller. */
    struct conf_node *nodes;
    size_t n_nodes;
    struct conf_partition *partitions; /* in the order of the file */
    size_t n_partitions;
    struct conf_gres *gres;
    size_t n_gres;
    struct conf_cgroup cgroup;
    struct conf_tree_switch *switches; /* in the order of topology.conf */
    size_t n_switches;
    const char *path; /* of slurm.conf as given to conf_load */
    struct conf_private *private;
};

/* ---- Loading ---- */

/* Where files come from. read appends the whole file to *ret; a file that does not exist is
 * -ERR_NOT_FOUND. */
struct conf_source {
    int (*read)(void *context, const char *path, struct str *ret, struct error *err);
    void *context;
};

enum conf_role {
    CONF_CLIENT,    /* a command: cheap; only what commands need is checked, no nodes */
    CONF_SLURMCTLD, /* everything */
    CONF_SLURMD,    /* everything */
};

/*
 * Reads slurm.conf at path, and for daemons gres.conf, cgroup.conf and, with
 * TopologyPlugin=topology/tree, topology.conf beside it. On success *ret is
 * set and the report holds notices. With errors in the report the result is -ERR_CONFIG, err tells
 * how many and the first, and nothing is set. The report is added to and sorted.
 */
must_check int conf_load(const struct conf_source *source, const char *path, enum conf_role role,
                         struct conf **ret, struct conf_report *report, struct error *err);
void conf_free(struct conf *conf);
static inline void conf_free_cleanup(struct conf **conf) {
    conf_free(*conf);
}
#define cleanup_conf __attribute__((__cleanup__(conf_free_cleanup)))

/* ---- Asking ---- */

const struct conf_node *conf_node_find(const struct conf *conf, const char *name);
/* After conf->nodes was made anew with more nodes: their names find them. */
void conf_nodes_moved(struct conf *conf);
const struct conf_partition *conf_partition_find(const struct conf *conf, const char *name);
const struct conf_partition *conf_partition_default(const struct conf *conf); /* or NULL */
/* The leaf switch that a node is at: index, or CONF_NO_SWITCH. */
uint32_t conf_leaf_of(const struct conf *conf, const char *node_name);
/* `s3.s0.c01` and `switch.switch.node`: the way to a node from the top of the tree. */
void conf_topology_address(const struct conf *conf, const char *node_name, struct str *address,
                           struct str *pattern);
#define CONF_SHARED_GPUS_MAX 16 /* of a node of which jobs can have shares */
/* True if the gres.conf line is for this node. */
bool conf_gres_applies(const struct conf_gres *gres, const char *node_name);
/* CONF_GRES_… of all lines of that name and type (NULL = none) for a node. */
uint64_t conf_gres_flags(const struct conf *conf, const char *node_name, const char *name,
                         const char *type);
/* How many of a node's shares ("shard", "mps") are of each of its GPUs, by number: as the lines of
 * gres.conf with File say, else evenly. */
void conf_gres_shares(const struct conf *conf, const struct conf_node *node,
                      const struct gres_item *share, uint64_t *ret, size_t n_gpus);
/* Is only one GPU of the node used in such shares at a time? */
bool conf_gres_shares_one(const struct conf *conf, const struct conf_node *node,
                          const struct gres_item *share);
/* Of slurm.conf with what it includes: equal for files that say the same, however they are laid
 * out; 0 for a CONF_CLIENT. */
uint64_t conf_hash(const struct conf *conf);
/* The path of a program that the configuration names: one that does not begin with '/' lies in the
 * directory of the configuration file. malloc. */
char *conf_program_path(const char *conf_path, const char *name);
/* "%h" host name, "%n" node name, "%%" in paths such as SlurmdLogFile. */
void conf_path_expand(const char *pattern, const char *hostname, const char *node_name,
                      struct str *out);

/* What a node found when it looked at itself. */
struct conf_registration {
    uint32_t cpus, sockets, cores_per_socket, threads_per_core;
    uint64_t real_memory, tmp_disk; /* MiB */
    const struct gres_list *gres;   /* NULL is none */
};
/* True if the node is at least as large as configured; else appends the reason to drain it with.
 * With config_overrides CPUs, memory and disk may be fewer, but devices are never made up.
 * memory_percent is SlurmctldParameters=node_reg_mem_percent. */
bool conf_node_registration_check(const struct conf_node *node,
                                  const struct conf_registration *found, bool config_overrides,
                                  uint32_t memory_percent, struct str *reason);

/* ---- Printing ---- */

/* What show config tells of the running controller. Texts may be NULL. */
struct conf_runtime {
    const char *now, *boot_time; /* YYYY-MM-DDTHH:MM:SS */
    uint32_t next_job_id;
    uint32_t slurm_uid, slurmd_uid;
    bool multiple_slurmd;
};
/* The text of `scontrol show config` up to the lines about who is up. */
void conf_print(const struct conf *conf, const struct conf_runtime *runtime, struct str *out);

/* ---- Tables, for the manual page, completion and tests ---- */
extern const struct conf_table conf_main_table, conf_node_table, conf_partition_table,
    conf_down_table, conf_node_set_table, conf_power_action_table, conf_gres_table,
    conf_cgroup_table;
/* The first rows of conf_main_table are the lines of show config, in order. */
extern const size_t conf_main_keys_shown;

#endif
