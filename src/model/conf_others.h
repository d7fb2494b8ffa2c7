/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration files that not every daemon reads: slurmdbd.conf, topology.conf and
 * job_container.conf. They share the grammar, the report and the way of conf_load.
 */
#ifndef SLUICE_MODEL_CONF_OTHERS_H
#define SLUICE_MODEL_CONF_OTHERS_H

#include "model/conf.h"

/* ---- slurmdbd.conf ---- */

struct conf_dbd {
#define X(type, member, ...) CONF_MEMBER_##type member;
    CONF_DBD_KEYS(X)
#undef X
    struct conf_auth_options auth; /* sub-options of AuthInfo */
    struct conf *owner;            /* of the strings */
};

/* ---- topology.conf ---- */

struct conf_switch {
    const char *name, *nodes, *switches; /* host lists as written; one of the two is set */
    uint32_t link_speed;
    const char *file;
    uint32_t line;
};
/* A block, or a ring. */
struct conf_block {
    const char *name, *nodes;
    const char *file;
    uint32_t line;
};
struct conf_topology {
#define X(type, member, ...) CONF_MEMBER_##type member;
    CONF_TOPOLOGY_KEYS(X)
#undef X
    struct conf_switch *switches;
    size_t n_switches;
    struct conf_block *blocks, *rings;
    size_t n_blocks, n_rings;
    struct conf *owner;
};

/* ---- job_container.conf ---- */

struct conf_container {
#define X(type, member, ...) CONF_MEMBER_##type member;
    CONF_CONTAINER_KEYS(X)
#undef X
};
struct conf_containers {
    struct conf_container everywhere; /* keys outside of NodeName lines */
    struct conf_container *lines;     /* with node_names */
    size_t n_lines;
    struct conf *owner;
};

/* As conf_load: 0, or an error with the report filled; a file that is not there is
 * -ERR_NOT_FOUND. */
must_check int conf_dbd_load(const struct conf_source *source, const char *path,
                             struct conf_dbd **ret, struct conf_report *report, struct error *err);
must_check int conf_topology_load(const struct conf_source *source, const char *path,
                                  struct conf_topology **ret, struct conf_report *report,
                                  struct error *err);
must_check int conf_containers_load(const struct conf_source *source, const char *path,
                                    struct conf_containers **ret, struct conf_report *report,
                                    struct error *err);
void conf_dbd_free(struct conf_dbd *dbd);
void conf_topology_free(struct conf_topology *topology);
void conf_containers_free(struct conf_containers *containers);

extern const struct conf_table conf_dbd_table, conf_topology_table, conf_switch_table,
    conf_block_table, conf_ring_table, conf_container_table;

#endif
