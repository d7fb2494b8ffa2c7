/* SPDX-License-Identifier: Apache-2.0 */
/* sinfo's columns, one row per column, and the filter by state. */
#include "cli/columns_node.h"

#include <strings.h>

#include "base/alloc.h"
#include "text/duration.h"
#include "text/hostlist.h"
#include "text/size.h"

#define PRINT(name)                                                                                \
    static void name(const void *data, const void *member, struct column_env *env, struct str *out)
#define SORT(name)                                                                                 \
    static struct sort_value name(const void *data, const void *member,                            \
                                  const struct column_env *env)
#define ROW ((const struct node_row *) data)
#define PART (ROW->partition)

/* The row's first node speaks for all in what rows do not merge; NULL for an empty row. */
static const struct node *row_node(const void *data) {
    return ROW->nodes.n ? ROW->nodes.items[0] : NULL;
}

/* ---- partition ---- */
PRINT(print_partition) {
    str_append(out, PART->name);
    if (PART->is_default)
        str_append_char(out, '*');
}
PRINT(print_partition_name) {
    str_append(out, PART->name);
}
SORT(sort_partition) {
    return sort_text(PART->name);
}
SORT(sort_partition_order) {
    return (struct sort_value) {PART->index, NULL};
}
PRINT(print_available) {
    const char *state = PART->state ? PART->state : "UP";
    if (!strcasecmp(state, "INACTIVE"))
        state = "inact";
    str_append_lower(out, state);
}
SORT(sort_available) {
    return sort_text(PART->state);
}
static void print_minutes(uint32_t minutes, const char *unset, struct str *out) {
    if (minutes == MINUTES_UNSET)
        str_append(out, unset);
    else if (minutes == MINUTES_INFINITE)
        str_append(out, "infinite");
    else
        minutes_print_short(minutes, unset, out);
}
PRINT(print_time) {
    print_minutes(PART->max_time, "infinite", out);
}
SORT(sort_time) {
    return (struct sort_value) {PART->max_time, NULL};
}
PRINT(print_default_time) {
    print_minutes(PART->default_time, "n/a", out);
}
SORT(sort_default_time) {
    return (struct sort_value) {PART->default_time, NULL};
}
PRINT(print_size) {
    uint32_t low = max_of(PART->min_nodes, 1u);
    str_append_u64(out, low);
    if (PART->max_nodes == low)
        return;
    str_append_char(out, '-');
    if (PART->max_nodes == UNSET32)
        str_append(out, "infinite");
    else
        str_append_u64(out, PART->max_nodes);
}
SORT(sort_size) {
    return (struct sort_value) {PART->max_nodes, NULL};
}
PRINT(print_root) {
    str_append(out, PART->root_only ? "yes" : "no");
}
SORT(sort_root) {
    return (struct sort_value) {PART->root_only, NULL};
}
PRINT(print_oversubscribe) {
    str_append(out, PART->oversubscribe ? PART->oversubscribe : "NO");
}
SORT(sort_oversubscribe) {
    return sort_text(PART->oversubscribe);
}
static void print_or_all(const char *list, struct str *out) {
    str_append(out, list && *list && strcasecmp(list, "ALL") != 0 ? list : "all");
}
PRINT(print_groups) {
    print_or_all(PART->allow_groups, out);
}
SORT(sort_groups) {
    return sort_text(PART->allow_groups);
}
PRINT(print_alloc_nodes) {
    print_or_all(PART->alloc_nodes, out);
}
PRINT(print_tier) {
    str_append_u64(out, PART->priority_tier);
}
SORT(sort_tier) {
    return (struct sort_value) {PART->priority_tier, NULL};
}
PRINT(print_factor) {
    str_append_u64(out, PART->priority_job_factor);
}
SORT(sort_factor) {
    return (struct sort_value) {PART->priority_job_factor, NULL};
}
PRINT(print_preempt) {
    str_append(out, PART->preempt_mode ? PART->preempt_mode : "OFF");
}
SORT(sort_preempt) {
    return sort_text(PART->preempt_mode);
}
PRINT(print_max_cpus) {
    if (PART->max_cpus_per_node == UNSET32)
        str_append(out, "UNLIMITED");
    else
        str_append_u64(out, PART->max_cpus_per_node);
}

/* ---- nodes, counted ---- */
static uint32_t row_total(const void *data) {
    return ROW->nodes_alloc + ROW->nodes_idle + ROW->nodes_other;
}
PRINT(print_nodes) {
    str_append_u64(out, row_total(data));
}
SORT(sort_nodes) {
    return (struct sort_value) {row_total(data), NULL};
}
PRINT(print_nodes_ai) {
    str_append_u64(out, ROW->nodes_alloc);
    str_append_char(out, '/');
    str_append_u64(out, ROW->nodes_idle);
}
SORT(sort_nodes_ai) {
    return (struct sort_value) {ROW->nodes_alloc, NULL};
}
PRINT(print_nodes_aiot) {
    print_nodes_ai(data, member, env, out);
    str_append_char(out, '/');
    str_append_u64(out, ROW->nodes_other);
    str_append_char(out, '/');
    str_append_u64(out, row_total(data));
}
PRINT(print_cpus_aiot) {
    str_append_u64(out, ROW->cpus_alloc);
    str_append_char(out, '/');
    str_append_u64(out, ROW->cpus_idle);
    str_append_char(out, '/');
    str_append_u64(out, ROW->cpus_other);
    str_append_char(out, '/');
    str_append_u64(out, ROW->cpus_alloc + ROW->cpus_idle + ROW->cpus_other);
}
SORT(sort_cpus_aiot) {
    return (struct sort_value) {ROW->cpus_alloc, NULL};
}

/* ---- nodes, merged ---- */
static void print_span(const struct span *span, const struct column_env *env, struct str *out) {
    str_append_u64(out, span->low);
    if (span->high > span->low)
        str_append_char(out, '+');
}
#define SPAN_COLUMN(name)                                                                          \
    PRINT(print_##name) {                                                                          \
        print_span(&ROW->name, env, out);                                                          \
    }                                                                                              \
    SORT(sort_##name) {                                                                            \
        return (struct sort_value) {ROW->name.low, NULL};                                          \
    }
SPAN_COLUMN(cpus)
SPAN_COLUMN(sockets)
SPAN_COLUMN(cores)
SPAN_COLUMN(threads)
SPAN_COLUMN(memory)
SPAN_COLUMN(disk)
SPAN_COLUMN(weight)
PRINT(print_sct) {
    print_span(&ROW->sockets, env, out);
    str_append_char(out, ':');
    print_span(&ROW->cores, env, out);
    str_append_char(out, ':');
    print_span(&ROW->threads, env, out);
}
PRINT(print_alloc_mem) {
    str_append_u64(out, ROW->alloc_mem.low);
}
PRINT(print_free_mem) {
    if (ROW->nodes.n && !ROW->n_free) {
        str_append(out, "N/A");
        return;
    }
    str_append_u64(out, ROW->free_mem.low);
    if (ROW->free_mem.high > ROW->free_mem.low)
        str_printf(out, "-%llu", (unsigned long long) ROW->free_mem.high);
}
static void print_load_value(uint64_t hundredths, struct str *out) {
    str_printf(out, "%llu.%02u", (unsigned long long) (hundredths / 100),
               (unsigned) (hundredths % 100));
}
PRINT(print_load) {
    if (ROW->nodes.n && !ROW->n_load) {
        str_append(out, "N/A");
        return;
    }
    print_load_value(ROW->load.low, out);
    if (ROW->load.high > ROW->load.low) {
        str_append_char(out, '-');
        print_load_value(ROW->load.high, out);
    }
}
SORT(sort_load) {
    return (struct sort_value) {ROW->load.low, NULL};
}
SORT(sort_free_mem) {
    return (struct sort_value) {ROW->free_mem.low, NULL};
}

static void print_hosts(const void *data, size_t offset, struct str *out) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    for (size_t i = 0; i < ROW->nodes.n; i++) {
        const char *name = *(char *const *) ((const char *) ROW->nodes.items[i] + offset);
        if (name)
            hostlist_push(&list, name);
    }
    if (list.n > 1) {
        hostlist_sort(&list);
        hostlist_unique(&list);
    }
    hostlist_fold(&list, out);
}
PRINT(print_node_list) {
    print_hosts(data, offsetof(struct node, name), out);
}
PRINT(print_hostnames) {
    print_hosts(data, offsetof(struct node, hostname), out);
}
PRINT(print_addresses) {
    print_hosts(data, offsetof(struct node, address), out);
}
/* By the first name: its letters, then its number. */
SORT(sort_node_list) {
    const struct node *node = row_node(data);
    return node ? (struct sort_value) {node->index, NULL} : (struct sort_value) {0, NULL};
}

/* ---- nodes, alike ---- */
static void print_state_as(const void *data, bool compact, struct str *out) {
    const struct node *node = row_node(data);
    size_t start = out->length;
    if (!node)
        str_append(out, "n/a");
    else
        node_state_print(node->state, node->flags, compact, out);
    text_lower(out->data + start);
}
PRINT(print_state) {
    print_state_as(data, false, out);
}
PRINT(print_state_compact) {
    print_state_as(data, true, out);
}
PRINT(print_state_complete) {
    const struct node *node = row_node(data);
    size_t start = out->length;
    if (!node)
        str_append(out, "n/a");
    else
        node_state_print_complete(node->state, node->flags, out);
    text_lower(out->data + start);
}
/* The order that users know from lists sorted by state, busiest trouble last: flags outweigh the
 * base state. */
SORT(sort_state) {
    static const uint8_t base[] = {
        [NODE_UNKNOWN] = 0, [NODE_DOWN] = 1,  [NODE_IDLE] = 2,   [NODE_ALLOCATED] = 3,
        [NODE_ERROR] = 4,   [NODE_MIXED] = 5, [NODE_FUTURE] = 6,
    };
    static const uint32_t flags[] = {
        NODE_FLAG_RESERVED,       NODE_FLAG_CLOUD,
        NODE_FLAG_DRAIN,          NODE_FLAG_COMPLETING,
        NODE_FLAG_NOT_RESPONDING, NODE_FLAG_POWERED_DOWN,
        NODE_FLAG_FAIL,           NODE_FLAG_POWERING_UP,
        NODE_FLAG_MAINTENANCE,    NODE_FLAG_REBOOT_REQUESTED,
        NODE_FLAG_POWERING_DOWN,  NODE_FLAG_INVALID_REG,
        NODE_FLAG_PLANNED,
    };
    const struct node *node = row_node(data);
    uint64_t value = node && node->state < countof(base) ? base[node->state] + 1u : 0;
    for (size_t i = 0; node && i < countof(flags); i++) {
        if (node->flags & flags[i])
            value |= (uint64_t) 16 << i;
    }
    return (struct sort_value) {value, NULL};
}
#define NODE_TEXT_COLUMN(name, member_name, missing)                                               \
    PRINT(print_##name) {                                                                          \
        const struct node *node = row_node(data);                                                  \
        str_append(out,                                                                            \
                   node && node->member_name && *node->member_name ? node->member_name : missing); \
    }                                                                                              \
    SORT(sort_##name) {                                                                            \
        const struct node *node = row_node(data);                                                  \
        return sort_text(node ? node->member_name : NULL);                                         \
    }
NODE_TEXT_COLUMN(features, features, "(null)")
NODE_TEXT_COLUMN(features_active, active_features, "(null)")
NODE_TEXT_COLUMN(gres, gres, "(null)")
NODE_TEXT_COLUMN(gres_used, gres_used, "(null)")
NODE_TEXT_COLUMN(reason, reason, "none")
NODE_TEXT_COLUMN(comment, comment, "(null)")
NODE_TEXT_COLUMN(extra, extra, "(null)")
NODE_TEXT_COLUMN(version, version, "N/A")
NODE_TEXT_COLUMN(reservation, reservation, "")
PRINT(print_reason_time) {
    const struct node *node = row_node(data);
    bool known = node && node->reason && *node->reason;
    column_time_print(known ? node->reason_time : 0, "Unknown", env, out);
}
SORT(sort_reason_time) {
    const struct node *node = row_node(data);
    return sort_signed(node ? node->reason_time : 0);
}
static bool print_reason_user(const struct node *node, struct str *out) {
    if (!node || !node->reason || !*node->reason || !node->reason_time) {
        str_append(out, "Unknown");
        return false;
    }
    if (node->reason_user)
        str_append(out, node->reason_user);
    else
        str_append_u64(out, node->reason_uid);
    return true;
}
PRINT(print_user) {
    print_reason_user(row_node(data), out);
}
PRINT(print_user_long) {
    const struct node *node = row_node(data);
    if (print_reason_user(node, out))
        str_printf(out, "(%u)", node->reason_uid);
}
SORT(sort_user) {
    const struct node *node = row_node(data);
    return sort_text(node ? node->reason_user : NULL);
}
PRINT(print_port) {
    const struct node *node = row_node(data);
    str_append_u64(out, node ? node->port : 0);
}
PRINT(print_cluster) {
    str_append(out, "N/A");
}

#define KEY COLUMN_KEY
#define EXACT COLUMN_KEY_EXACT
#define OWNER (COLUMN_KEY | COLUMN_OWNER)
/* clang-format off */
static const struct column node_rows[] = {
    {'P', "Partition", "PARTITION", "", print_partition, sort_partition, 0, OWNER | COLUMN_STAR},
    {'R', "PartitionName", "PARTITION", "", print_partition_name, sort_partition, 0, OWNER},
    {'#', NULL, "", "", NULL, sort_partition_order, 0, COLUMN_HIDDEN},
    {'a', "Available", "AVAIL", "", print_available, sort_available, 0, KEY},
    {'l', "Time", "TIMELIMIT", "", print_time, sort_time, 0, KEY},
    {'L', "DefaultTime", "DEFAULTTIME", "", print_default_time, sort_default_time, 0, KEY},
    {'D', "Nodes", "NODES", "", print_nodes, sort_nodes, 0, 0},
    {'t', "StateCompact", "STATE", "", print_state_compact, sort_state, 0, KEY},
    {'T', "StateLong", "STATE", "", print_state, sort_state, 0, KEY},
    {0, "StateComplete", "STATECOMPLETE", "", print_state_complete, NULL, 0, KEY},
    {'N', "NodeList", "NODELIST", "", print_node_list, sort_node_list, 0, 0},
    {'n', "NodeHost", "HOSTNAMES", "hostname", print_hostnames, sort_node_list, 0, KEY},
    {'o', "NodeAddr", "NODE_ADDR", "address", print_addresses, sort_node_list, 0, KEY},
    {'A', "NodeAI", "NODES(A/I)", "", print_nodes_ai, sort_nodes_ai, 0, 0},
    {'F', "NodeAIOT", "NODES(A/I/O/T)", "", print_nodes_aiot, sort_nodes_ai, 0, 0},
    {'C', "CPUsState", "CPUS(A/I/O/T)", "cpus alloc_cpus", print_cpus_aiot, sort_cpus_aiot, 0, 0},
    {'c', "CPUs", "CPUS", "cpus", print_cpus, sort_cpus, 0, EXACT},
    {'X', "Sockets", "SOCKETS", "sockets", print_sockets, sort_sockets, 0, EXACT},
    {'Y', "Cores", "CORES", "cores", print_cores, sort_cores, 0, EXACT},
    {'Z', "Threads", "THREADS", "threads", print_threads, sort_threads, 0, EXACT},
    {'z', "SocketCoreThread", "S:C:T", "sockets cores threads", print_sct, sort_sockets, 0, EXACT},
    {'m', "Memory", "MEMORY", "memory", print_memory, sort_memory, 0, EXACT},
    {'e', "FreeMem", "FREE_MEM", "free_mem", print_free_mem, sort_free_mem, 0, EXACT},
    {0, "AllocMem", "ALLOCMEM", "alloc_mem", print_alloc_mem, NULL, 0, KEY},
    {'d', "Disk", "TMP_DISK", "tmp_disk", print_disk, sort_disk, 0, EXACT},
    {'w', "Weight", "WEIGHT", "weight", print_weight, sort_weight, 0, EXACT},
    {'f', "Features", "AVAIL_FEATURES", "features", print_features, sort_features, 0, KEY},
    {'b', "features_act", "ACTIVE_FEATURES", "active_features", print_features_active,
        sort_features_active, 0, KEY},
    {0, "ActiveFeatures", "ACTIVE_FEATURES", "active_features", print_features_active, NULL, 0,
        KEY | COLUMN_HIDDEN},
    {'G', "Gres", "GRES", "gres", print_gres, sort_gres, 0, KEY},
    {0, "GresUsed", "GRES_USED", "gres_used", print_gres_used, sort_gres_used, 0, KEY},
    {'O', "CPUsLoad", "CPU_LOAD", "cpu_load", print_load, sort_load, 0, EXACT},
    {'E', "Reason", "REASON", "", print_reason, sort_reason, 0, KEY},
    {'H', "TimeStamp", "TIMESTAMP", "reason_time", print_reason_time, sort_reason_time, 0, KEY},
    {'u', "User", "USER", "reason_user reason_uid reason_time", print_user, sort_user, 0, KEY},
    {'U', "UserLong", "USER", "reason_user reason_uid reason_time", print_user_long, sort_user, 0,
        KEY},
    {'s', "Size", "JOB_SIZE", "", print_size, sort_size, 0, KEY},
    {'r', "Root", "ROOT", "", print_root, sort_root, 0, KEY},
    {'h', "OverSubscribe", "OVERSUBSCRIBE", "", print_oversubscribe, sort_oversubscribe, 0, KEY},
    {0, "Share", "OVERSUBSCRIBE", "", print_oversubscribe, NULL, 0, KEY | COLUMN_HIDDEN},
    {'g', "Groups", "GROUPS", "", print_groups, sort_groups, 0, KEY},
    {'S', "AllocNodes", "ALLOCNODES", "", print_alloc_nodes, NULL, 0, KEY},
    {'i', "Reservation", "RESERVATION", "reservation", print_reservation, sort_reservation, 0, KEY},
    {'p', "PriorityTier", "PRIO_TIER", "", print_tier, sort_tier, 0, KEY},
    {'I', "PriorityJobFactor", "PRIO_JOB_FACTOR", "", print_factor, sort_factor, 0, KEY},
    {'M', "PreemptMode", "PREEMPT_MODE", "", print_preempt, sort_preempt, 0, KEY},
    {'B', "MaxCPUsPerNode", "MAX_CPUS_PER_NODE", "", print_max_cpus, NULL, 0, KEY},
    {'v', "Version", "VERSION", "version", print_version, sort_version, 0, KEY},
    {'V', "Cluster", "CLUSTER", "", print_cluster, NULL, 0, 0},
    {0, "Port", "PORT", "port", print_port, NULL, 0, KEY},
    {0, "Comment", "COMMENT", "comment", print_comment, sort_comment, 0, KEY},
    {0, "Extra", "EXTRA", "extra", print_extra, sort_extra, 0, KEY},
};
/* clang-format on */
const struct column_table columns_node = {&record_node, node_rows, countof(node_rows), false};

/* ---- -t ---- */
enum node_match {
    MATCH_BASE,
    MATCH_FLAGS, /* any of them */
    MATCH_ALLOC, /* allocated or mixed */
    MATCH_MIXED, /* mixed and not draining */
    MATCH_DRAINED,
    MATCH_DRAINING,
    MATCH_RESPONDS, /* of no use in -t but for its negation */
    MATCH_REBOOT,
};
/* Shown in this order in error messages; NULL text marks an alias that is not shown. */
static const struct {
    const char *name, *alias;
    int kind;
    uint32_t value;
} node_words[] = {
    {"UNKNOWN", "UNK", MATCH_BASE, NODE_UNKNOWN},
    {"DOWN", NULL, MATCH_BASE, NODE_DOWN},
    {"IDLE", NULL, MATCH_BASE, NODE_IDLE},
    {"ALLOCATED", "ALLOC", MATCH_ALLOC, 0},
    {"ERROR", "ERR", MATCH_BASE, NODE_ERROR},
    {"MIXED", "MIX", MATCH_MIXED, 0},
    {"FUTURE", "FUTR", MATCH_BASE, NODE_FUTURE},
    {"DRAIN", NULL, MATCH_FLAGS, NODE_FLAG_DRAIN},
    {"DRAINED", NULL, MATCH_DRAINED, 0},
    {"DRAINING", "DRNG", MATCH_DRAINING, 0},
    {"NO_RESPOND", NULL, MATCH_FLAGS, NODE_FLAG_NOT_RESPONDING},
    {"RESERVED", "RESV", MATCH_FLAGS, NODE_FLAG_RESERVED},
    {"PLANNED", "PLND", MATCH_FLAGS, NODE_FLAG_PLANNED},
    {"CLOUD", NULL, MATCH_FLAGS, NODE_FLAG_CLOUD},
    {"COMPLETING", "COMP", MATCH_FLAGS, NODE_FLAG_COMPLETING},
    {"POWERING_DOWN", "POW_DN", MATCH_FLAGS, NODE_FLAG_POWERING_DOWN},
    {"POWERED_DOWN", NULL, MATCH_FLAGS, NODE_FLAG_POWERED_DOWN},
    {"POWER_DOWN", NULL, MATCH_FLAGS, NODE_FLAG_POWER_DOWN},
    {"POWERING_UP", "POW_UP", MATCH_FLAGS, NODE_FLAG_POWERING_UP},
    {"FAIL", "FAILING", MATCH_FLAGS, NODE_FLAG_FAIL},
    {"MAINT", NULL, MATCH_FLAGS, NODE_FLAG_MAINTENANCE},
    {"REBOOT", "BOOT", MATCH_REBOOT, 0},
    {"INVAL", NULL, MATCH_FLAGS, NODE_FLAG_INVALID_REG},
};

void node_states_names(struct str *out) {
    for (size_t i = 0; i < countof(node_words); i++) {
        if (i > 0)
            str_append_char(out, ',');
        str_append_lower(out, node_words[i].name);
    }
}

static bool word_parse(const char *text, struct node_state_word *ret) {
    ret->negated = *text == '~';
    text += ret->negated;
    for (size_t i = 0; i < countof(node_words); i++) {
        if (strcasecmp(node_words[i].name, text) != 0 &&
            !str_equal_nocase(node_words[i].alias, text))
            continue;
        ret->kind = node_words[i].kind;
        ret->value = node_words[i].value;
        return true;
    }
    return false;
}

int node_states_parse(struct node_states *states, const char *text, struct error *err) {
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy, *part;
    while ((part = str_next_word(&cursor, ","))) {
        struct node_state_test test = {.n = 0};
        char *word;
        if (!strcasecmp(part, "all")) {
            states->all = true;
            continue;
        }
        while ((word = str_next_word(&part, "&"))) {
            if (test.n == NODE_STATE_WORDS_MAX || !word_parse(str_trim(word), &test.words[test.n]))
                return error_set(err, ERR_INVALID, "Bad state string: \"%s\"", text);
            test.n++;
        }
        vec_push(&states->tests, test);
    }
    return 0;
}

static bool is_busy(const struct node *node) {
    return node->state == NODE_ALLOCATED || node->state == NODE_MIXED ||
           (node->flags & NODE_FLAG_COMPLETING);
}

static bool word_match(const struct node_state_word *word, const struct node *node) {
    bool drain = node->flags & NODE_FLAG_DRAIN;
    switch (word->kind) {
    case MATCH_FLAGS:
        return node->flags & word->value;
    case MATCH_ALLOC:
        return node->state == NODE_ALLOCATED || node->state == NODE_MIXED;
    case MATCH_MIXED:
        return node->state == NODE_MIXED && !drain;
    case MATCH_DRAINED:
        return drain && !is_busy(node);
    case MATCH_DRAINING:
        return drain && is_busy(node);
    case MATCH_REBOOT:
        return node->flags & (NODE_FLAG_REBOOT_ISSUED | NODE_FLAG_REBOOT_REQUESTED);
    default:
        return node->state == word->value;
    }
}

bool node_states_match(const struct node_states *states, const struct node *node) {
    if (states->all || states->tests.n == 0)
        return true;
    for (size_t i = 0; i < states->tests.n; i++) {
        const struct node_state_test *test = &states->tests.items[i];
        bool all = true;
        for (size_t k = 0; all && k < test->n; k++)
            all = word_match(&test->words[k], node) != test->words[k].negated;
        if (all)
            return true;
    }
    return false;
}

void node_states_done(struct node_states *states) {
    vec_done(&states->tests);
}
