/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of conf_keys.h as arrays of rows, and the objects that hold every default. */
#include "model/conf_rows.h"
#include "base/alloc.h"
#include "model/conf_lines.h"
#include "text/duration.h"

/* ---- Defaults ---- */

const struct conf conf_defaults = {
#define D(name)
#define X(type, member, name, value, ...) .member = value,
    CONF_KEYS(X, D) CONF_MORE_KEYS(X)
#define V(table, suffix, place) .place = {CONF_##table##_KEYS(X)},
        CONF_OPTION_TABLES(V)
            .cgroup = {CONF_CGROUP_KEYS(X)},
#undef V
#undef X
#undef D
};
#define X(type, member, name, value, ...) .member = value,
const struct conf_node_line conf_node_defaults = {CONF_NODE_KEYS(X)};
const struct conf_partition_line conf_partition_defaults = {CONF_PARTITION_KEYS(X)};
const struct conf_down_line conf_down_defaults = {CONF_DOWN_KEYS(X)};
const struct conf_node_set_line conf_node_set_defaults = {CONF_NODE_SET_KEYS(X)};
const struct conf_power_action_line conf_power_action_defaults = {CONF_POWER_ACTION_KEYS(X)};
const struct conf_gres conf_gres_defaults = {CONF_GRES_KEYS(X)};
#undef X

/* ---- Sub-options ---- */

#define X CONF_OPTION_ROW
#define TABLE(id, bare, path) CONF_OPTION_TABLE(id, conf_defaults, bare, path)
#define OPTION_OBJECT conf
#define OPTION_MEMBER scheduler
static const struct conf_key keys_SCHEDULER_OPTION[] = {
    CONF_SCHEDULER_OPTION_KEYS(CONF_HELPED_OPTION_ROW)};
#undef OPTION_MEMBER
#define OPTION_MEMBER slurmctld
static const struct conf_key keys_SLURMCTLD_OPTION[] = {
    CONF_SLURMCTLD_OPTION_KEYS(CONF_HELPED_OPTION_ROW)};
#undef OPTION_MEMBER
#define OPTION_MEMBER slurmd
static const struct conf_key keys_SLURMD_OPTION[] = {
    CONF_SLURMD_OPTION_KEYS(CONF_HELPED_OPTION_ROW)};
#undef OPTION_MEMBER
#define OPTION_MEMBER auth
static const struct conf_key keys_AUTH_INFO[] = {CONF_AUTH_INFO_KEYS(X)};
#undef OPTION_MEMBER
#define OPTION_MEMBER frequency
static const struct conf_key keys_FREQUENCY[] = {CONF_FREQUENCY_KEYS(X)};
#undef OPTION_MEMBER
#define OPTION_MEMBER dependency
static const struct conf_key keys_DEPENDENCY[] = {CONF_DEPENDENCY_KEYS(X)};
#undef OPTION_MEMBER
#define OPTION_MEMBER preempt
static const struct conf_key keys_PREEMPT[] = {CONF_PREEMPT_KEYS(X)};
#undef OPTION_MEMBER
#define OPTION_MEMBER defaults
static const struct conf_key keys_JOB_DEFAULTS[] = {CONF_JOB_DEFAULTS_KEYS(X)};
#undef OPTION_MEMBER
#undef OPTION_OBJECT
#define OPTION_OBJECT conf_partition_line
#define OPTION_MEMBER partition
static const struct conf_key keys_PARTITION_JOB_DEFAULTS[] = {CONF_JOB_DEFAULTS_KEYS(X)};
CONF_OPTION_TABLE(PARTITION_JOB_DEFAULTS, conf_partition_defaults, NULL, NULL)
#undef OPTION_MEMBER
#undef OPTION_OBJECT
#undef X
TABLE(SCHEDULER_OPTION, NULL, NULL)
TABLE(SLURMCTLD_OPTION, NULL, NULL)
TABLE(SLURMD_OPTION, NULL, NULL)
TABLE(AUTH_INFO, NULL, "socket")
TABLE(FREQUENCY, "task", NULL)
TABLE(DEPENDENCY, NULL, NULL)
TABLE(PREEMPT, NULL, NULL)
TABLE(JOB_DEFAULTS, NULL, NULL)

/* ---- slurm.conf ---- */

#define D(name_) {NAMED(#name_), .derived = true},
#define X(type_, member, name_, value, min_, max_, words_, unit_, effect_, who_, tier_, help_)     \
    {NAMED(name_),                                                                                 \
     .type = CONF_##type_,                                                                         \
     .effect = CONF_##effect_,                                                                     \
     .who = CONF_WHO_##who_,                                                                       \
     .offset = offsetof(struct conf, member),                                                      \
     .tier = (tier_),                                                                              \
     .min = (min_),                                                                                \
     .max = (max_),                                                                                \
     .words = WORDS_##type_(words_),                                                               \
     .options = TABLE_##type_(words_),                                                             \
     .unit = (unit_),                                                                              \
     .help = (help_)},
static const struct conf_key main_keys[] = {CONF_KEYS(X, D) CONF_MORE_KEYS(X) CONF_ALIASES(ALIAS)
                                                CONF_OBSOLETE_KEYS(OBSOLETE)};
#undef X
#undef D
#define COUNT(...) +1
const size_t conf_main_keys_shown = 0 CONF_KEYS(COUNT, COUNT);
#undef COUNT
const struct conf_table conf_main_table = {
    .what = "slurm.conf", .keys = main_keys, .n = countof(main_keys), .defaults = &conf_defaults};

/* ---- Lines and small files ---- */

#define X CONF_FIELD_ROW
#define CONF_OBJECT conf_node_line
static const struct conf_key node_keys[] = {CONF_NODE_KEYS(X) CONF_NODE_ALIASES(ALIAS)};
#undef CONF_OBJECT
#define CONF_OBJECT conf_partition_line
static const struct conf_key partition_keys[] = {CONF_PARTITION_KEYS(X)
                                                     CONF_PARTITION_ALIASES(ALIAS)};
#undef CONF_OBJECT
#define CONF_OBJECT conf_down_line
static const struct conf_key down_keys[] = {CONF_DOWN_KEYS(X)};
#undef CONF_OBJECT
#define CONF_OBJECT conf_node_set_line
static const struct conf_key node_set_keys[] = {CONF_NODE_SET_KEYS(X)};
#undef CONF_OBJECT
#define CONF_OBJECT conf_power_action_line
static const struct conf_key power_action_keys[] = {CONF_POWER_ACTION_KEYS(X)};
#undef CONF_OBJECT
#define CONF_OBJECT conf_gres
static const struct conf_key gres_keys[] = {CONF_GRES_KEYS(X) CONF_GRES_ALIASES(ALIAS)
                                                CONF_GRES_OBSOLETE(OBSOLETE)};
#undef CONF_OBJECT
#define CONF_OBJECT conf_cgroup
static const struct conf_key cgroup_keys[] = {CONF_CGROUP_KEYS(X) CONF_CGROUP_OBSOLETE(OBSOLETE)};
#undef CONF_OBJECT
#undef X

const struct conf_table conf_node_table = {.what = "a NodeName line",
                                           .keys = node_keys,
                                           .n = countof(node_keys),
                                           .defaults = &conf_node_defaults};
const struct conf_table conf_partition_table = {.what = "a PartitionName line",
                                                .keys = partition_keys,
                                                .n = countof(partition_keys),
                                                .defaults = &conf_partition_defaults};
const struct conf_table conf_down_table = {.what = "a DownNodes line",
                                           .keys = down_keys,
                                           .n = countof(down_keys),
                                           .defaults = &conf_down_defaults};
const struct conf_table conf_node_set_table = {.what = "a NodeSet line",
                                               .keys = node_set_keys,
                                               .n = countof(node_set_keys),
                                               .defaults = &conf_node_set_defaults};
const struct conf_table conf_power_action_table = {.what = "a PowerAction line",
                                                   .keys = power_action_keys,
                                                   .n = countof(power_action_keys),
                                                   .defaults = &conf_power_action_defaults};
const struct conf_table conf_gres_table = {.what = "gres.conf",
                                           .keys = gres_keys,
                                           .n = countof(gres_keys),
                                           .defaults = &conf_gres_defaults};
const struct conf_table conf_cgroup_table = {.what = "cgroup.conf",
                                             .keys = cgroup_keys,
                                             .n = countof(cgroup_keys),
                                             .defaults = &conf_defaults.cgroup};
