/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions as administrators change them: scontrol update, create and delete. One table of keys
 * says which member a key sets and how its value is read; an update changes all that it names or
 * nothing. What was changed is stored together with a fingerprint of the configuration line that it
 * departed from, so that it survives a restart but gives way to a line that was edited since, and
 * to every reconfiguration.
 */
#include <string.h>

#include "core/state.h"
#include "schema/member.h"

/* ---- what follows from the record ---- */

/* "YES:4", "FORCE:4", "EXCLUSIVE", "NO"; the number may be missing. */
static uint32_t share_count(const char *text, const char *word) {
    uint64_t jobs = 4;
    if (text == NULL || !str_starts(text, word))
        return 0;
    if (text[strlen(word)] == ':' && !str_to_u64(text + strlen(word) + 1, &jobs))
        return 0;
    return (uint32_t) min_of(max_of(jobs, (uint64_t) 1), (uint64_t) UINT16_MAX);
}

void partition_derive(struct core_partition *part) {
    const char *share = part->rec.oversubscribe;
    uint32_t offered = share_count(share, "YES"), forced = share_count(share, "FORCE");
    part->oversubscribe = max_of(max_of(offered, forced), 1u);
    part->oversubscribe_force = forced > 0;
    part->exclusive_node = str_equal(share, "EXCLUSIVE") || str_equal(part->rec.exclusive, "NODE");
    part->gang = str_has_word_nocase(part->rec.preempt_mode, "GANG", ",");
    part->victim_mode = preempt_mode_read(part->rec.preempt_mode);
    part->exclusive_user = str_equal(part->rec.exclusive, "USER");
}

/* The nodes that the record names; those that the cluster lacks (any more) are left out. */
static void take_nodes(struct core *core, struct core_partition *part) {
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    struct bits members;
    bits_init(&members, core->n_nodes);
    if (part->rec.nodes != NULL && hostlist_parse(&names, part->rec.nodes, NULL) == 0) {
        for (size_t i = 0; i < names.n; i++) {
            uint32_t node = core_node_find(core, names.names[i]);
            if (node != UINT32_MAX)
                bits_set(&members, node);
        }
    }
    free(part->nodes);
    part->nodes = xcalloc(core->n_nodes + 1, sizeof(uint32_t));
    part->n_nodes = 0;
    bits_each (&members, i)
        part->nodes[part->n_nodes++] = (uint32_t) i;
    bits_done(&members);
}

static void partition_settle(struct core *core, struct core_partition *part) {
    take_nodes(core, part);
    partition_derive(part);
    partition_totals(core, part);
}

bool partition_is_open(const struct core_partition *part) {
    return str_equal(part->rec.state, "UP") || str_equal(part->rec.state, "DRAIN");
}

static void partition_touch(struct core *core, struct core_partition *part) {
    if (list_is_empty(&part->dirty))
        list_append(&core->dirty_partitions, &part->dirty);
}

bool core_wants_groups(const struct core *core) {
    for (size_t p = 0; p < core->n_partitions; p++) {
        if (core->partitions[p].rec.allow_groups != NULL)
            return true;
    }
    return reservations_want_groups(core);
}

uint64_t partition_store_id(const struct core_partition *part) {
    return hash_bytes(part->rec.name, strlen(part->rec.name), 0) >> 1;
}

/* ---- the array of partitions ---- */

/* Entries hold list members, so they cannot simply be moved. */
static void partitions_move(struct core *core, struct core_partition *from,
                            struct core_partition *to) {
    bool dirty = !list_is_empty(&from->dirty);
    list_remove(&from->dirty);
    *to = *from;
    list_init(&to->dirty);
    if (dirty)
        list_append(&core->dirty_partitions, &to->dirty);
}

static struct core_partition *partition_add(struct core *core) {
    struct core_partition *all = xcalloc(core->n_partitions + 2, sizeof(*all));
    for (size_t p = 0; p < core->n_partitions; p++)
        partitions_move(core, &core->partitions[p], &all[p]);
    free(core->partitions);
    core->partitions = all;
    struct core_partition *part = &all[core->n_partitions];
    record_init(&record_partition, &part->rec);
    list_init(&part->dirty);
    part->rec.index = (uint32_t) core->n_partitions++;
    return part;
}

static void partition_remove(struct core *core, uint32_t index) {
    struct core_partition *part = &core->partitions[index];
    list_remove(&part->dirty);
    if (part->stored)
        emit_delete(core, STORE_PARTITION, partition_store_id(part));
    record_done(&record_partition, &part->rec);
    free(part->nodes);
    core->n_partitions--;
    for (size_t p = index; p < core->n_partitions; p++) {
        partitions_move(core, &core->partitions[p + 1], &core->partitions[p]);
        core->partitions[p].rec.index = (uint32_t) p;
    }
}

/* Limits may have moved for everybody: the planner gets the partitions and the queue anew. */
static void partitions_changed(struct core *core) {
    node_partitions(core);
    priorities_outdate(core);
    core->reservations_repair = true; /* PART_NODES */
    sched_rebuild(core);
    place_jobs_again(core);
}

/* ---- what follows from a change ---- */

/* Of a key, beyond the record: nothing for those that say who may submit, and for what is shown. */
enum {
    FOLLOWS_OPEN = 1,       /* jobs may start there, or not any more */
    FOLLOWS_PRIORITIES = 2, /* of all: shares are of the highest factor of the cluster */
    FOLLOWS_GRACE = 4,      /* of its jobs, should they have to go */
    FOLLOWS_VIEW = 8,       /* what jobs may get: the planner's view is made anew */
    FOLLOWS_GPU_IDLE = 16   /* of its jobs with GPUs: when they are looked at */
};

/* How long those that run there would have is with the planner. */
static void grace_changed(struct core *core, const struct core_partition *part) {
    for (size_t i = 0; i < part->n_nodes; i++) {
        vec_each (&core->nodes[part->nodes[i]].jobs, id) {
            struct core_job *job = job_find(core, *id);
            if (job != NULL)
                preempt_sync_run(core, job);
        }
    }
}

static void gpu_idle_changed(struct core *core, const struct core_partition *part) {
    for (size_t i = 0; i < part->n_nodes; i++) {
        vec_each (&core->nodes[part->nodes[i]].jobs, id) {
            struct core_job *job = job_find(core, *id);
            if (job != NULL)
                job_arm(core, job);
        }
    }
}

static void partition_followed(struct core *core, const struct core_partition *part,
                               unsigned follows) {
    if (follows & FOLLOWS_VIEW) {
        partitions_changed(core);
        return;
    }
    if (follows & FOLLOWS_PRIORITIES) {
        priorities_outdate(core);
        sweep_begin(core);
    }
    if (follows & FOLLOWS_GRACE)
        grace_changed(core, part);
    if (follows & FOLLOWS_GPU_IDLE)
        gpu_idle_changed(core, part);
    if (follows & FOLLOWS_OPEN) {
        sched_partition_schedulable(core->sched, part->rec.index, partition_is_open(part));
        core->plan_wanted = true;
    }
}

void partition_restore(struct core *core, const struct partition *stored) {
    struct core_partition *part = partition_find(core, stored->name, NULL);
    if (part == NULL && stored->config != 0)
        return; /* its line is gone */
    if (part != NULL && part->rec.config != stored->config) {
        /* The line has been edited, or is new; yet who set the partition DOWN finds it DOWN. */
        if (stored->config != 0)
            string_set(&part->rec.state, stored->state);
        part->stored = true;
        return;
    }
    if (part == NULL)
        part = partition_add(core);
    uint32_t index = part->rec.index;
    record_done(&record_partition, &part->rec);
    record_copy(&record_partition, &part->rec, stored);
    part->rec.index = index;
    part->stored = true;
    partition_settle(core, part);
}

/* ---- keys ---- */

/* A name may be cut short to as many letters as `least` says. */
struct partition_key {
    const char *name;
    uint8_t least;
    int (*set)(void *member, const char *value);
    const char *member;
    unsigned follows;
};

static int set_minutes(void *member, const char *value) {
    if (str_equal_nocase(value, "NONE")) {
        *(uint32_t *) member = MINUTES_UNSET;
        return 0;
    }
    return minutes_parse(value, member, NULL);
}

static int set_count(void *member, const char *value) {
    uint64_t number;
    if (str_equal_nocase(value, "UNLIMITED") || str_equal_nocase(value, "INFINITE")) {
        *(uint32_t *) member = UNSET32;
        return 0;
    }
    if (!str_to_u64(value, &number) || number > UINT32_MAX - 2)
        return -ERR_INVALID;
    *(uint32_t *) member = (uint32_t) number;
    return 0;
}

static int set_seconds(void *member, const char *value) {
    uint64_t number;
    if (!str_to_u64(value, &number) || number > UINT32_MAX - 2)
        return -ERR_INVALID;
    *(uint32_t *) member = (uint32_t) number;
    return 0;
}

static int set_number(void *member, const char *value) {
    uint64_t number;
    if (!str_to_u64(value, &number) || number > UINT16_MAX)
        return -ERR_INVALID;
    *(uint32_t *) member = (uint32_t) number;
    return 0;
}

static int set_mem(void *member, const char *value) {
    uint64_t mib;
    if (str_equal_nocase(value, "UNLIMITED")) {
        *(uint64_t *) member = UNSET64;
        return 0;
    }
    if (mem_parse(value, &mib, NULL) < 0)
        return -ERR_INVALID;
    *(uint64_t *) member = mib > 0 ? mib : UNSET64;
    return 0;
}

static int set_text(void *member, const char *value) {
    string_set(member, value[0] != '\0' ? value : NULL);
    return 0;
}

/* "DefCpuPerGPU=4,DefMemPerGPU=2G", kept in MiB. */
static int set_job_defaults(void *member, const char *value) {
    static const char cpus[] = "DefCpuPerGPU=", mem[] = "DefMemPerGPU=";
    struct str text cleanup_str = STR_INIT;
    uint64_t number;
    words_each (value, ",", word) {
        bool is_cpus = str_starts_nocase(word, cpus);
        if (is_cpus
                ? !str_to_u64(word + strlen(cpus), &number)
                : !str_starts_nocase(word, mem) || mem_parse(word + strlen(mem), &number, NULL) < 0)
            return -ERR_INVALID;
        str_printf(&text, "%s%s%llu", text.length > 0 ? "," : "", is_cpus ? cpus : mem,
                   (unsigned long long) number);
    }
    return set_text(member, str_cstr(&text));
}

/* Who may: "ALL" is no restriction. */
static int set_list(void *member, const char *value) {
    return set_text(member, str_equal_nocase(value, "ALL") ? "" : value);
}

static int set_switch(void *member, const char *value) {
    bool on = str_equal_nocase(value, "YES") || str_equal(value, "1");
    if (!on && !str_equal_nocase(value, "NO") && !str_equal(value, "0"))
        return -ERR_INVALID;
    *(bool *) member = on;
    return 0;
}

static int set_word(void *member, const char *value, const char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (str_equal_nocase(words[i], value)) {
            string_set(member, words[i]);
            return 0;
        }
    }
    return -ERR_INVALID;
}

static int set_state(void *member, const char *value) {
    static const char *const words[] = {"UP", "DOWN", "DRAIN", "INACTIVE"};
    return set_word(member, value, words, countof(words));
}

static int set_gpu_idle_action(void *member, const char *value) {
    static const char *const words[] = {"REQUEUE", "CANCEL"};
    return set_word(member, value, words, countof(words));
}

static int set_exclusive(void *member, const char *value) {
    static const char *const words[] = {"NO", "NODE", "USER"};
    return set_word(member, value, words, countof(words));
}

static int set_exclusive_user(void *member, const char *value) {
    bool on;
    int r = set_switch(&on, value);
    if (r == 0)
        string_set(member, on ? "USER" : "NO");
    return r;
}

static int set_share(void *member, const char *value) {
    static const char *const words[] = {"NO", "EXCLUSIVE"};
    if (set_word(member, value, words, countof(words)) == 0)
        return 0;
    cleanup_free char *upper = xstrdup(value);
    text_upper(upper);
    uint32_t offered = share_count(upper, "YES"), forced = share_count(upper, "FORCE");
    if (offered + forced == 0)
        return -ERR_INVALID;
    struct str text cleanup_str = STR_INIT;
    str_printf(&text, "%s:%u", offered > 0 ? "YES" : "FORCE", max_of(offered, forced));
    string_set(member, text.data);
    return 0;
}

static int set_preempt_mode(void *member, const char *value) {
    if (preempt_mode_read(value) == PREEMPT_CLUSTER)
        return -ERR_INVALID;
    cleanup_free char *upper = xstrdup(value);
    text_upper(upper);
    string_set(member, upper);
    return 0;
}

static const struct partition_key partition_keys[] = {
    {"AllocNodes", 6, set_list, "alloc_nodes", 0},
    {"AllowAccounts", 6, set_list, "allow_accounts", 0},
    {"AllowGroups", 6, set_list, "allow_groups", 0},
    {"AllowQOS", 6, set_list, "allow_qos", 0},
    {"Alternate", 3, set_text, "alternate", 0},
    {"Default", 7, set_switch, "is_default", 0},
    {"DefaultTime", 8, set_minutes, "default_time", FOLLOWS_VIEW},
    {"DefMemPerCPU", 10, set_mem, "def_mem_per_cpu", FOLLOWS_VIEW},
    {"DefMemPerNode", 10, set_mem, "def_mem_per_node", FOLLOWS_VIEW},
    {"DenyAccounts", 5, set_text, "deny_accounts", 0},
    {"DenyQOS", 5, set_text, "deny_qos", 0},
    {"DisableRootJobs", 2, set_switch, "disable_root_jobs", 0},
    {"Exclusive", 9, set_exclusive, "exclusive", FOLLOWS_VIEW},
    {"ExclusiveUser", 10, set_exclusive_user, "exclusive", FOLLOWS_VIEW},
    {"GpuIdleAction", 13, set_gpu_idle_action, "gpu_idle_action", FOLLOWS_GPU_IDLE},
    {"GpuIdleTime", 11, set_seconds, "gpu_idle_time", FOLLOWS_GPU_IDLE},
    {"GpuIdleWarn", 11, set_seconds, "gpu_idle_warn", FOLLOWS_GPU_IDLE},
    {"GraceTime", 2, set_count, "grace_time", FOLLOWS_GRACE},
    {"Hidden", 1, set_switch, "hidden", 0},
    {"JobDefaults", 1, set_job_defaults, "job_defaults", FOLLOWS_VIEW},
    {"LLN", 1, set_switch, "lln", FOLLOWS_VIEW},
    {"MaxCPUsPerNode", 11, set_count, "max_cpus_per_node", FOLLOWS_VIEW},
    {"MaxCPUsPerSocket", 11, set_count, "max_cpus_per_socket", FOLLOWS_VIEW},
    {"MaxMemPerCPU", 10, set_mem, "max_mem_per_cpu", FOLLOWS_VIEW},
    {"MaxMemPerNode", 10, set_mem, "max_mem_per_node", FOLLOWS_VIEW},
    {"MaxNodes", 4, set_count, "max_nodes", FOLLOWS_VIEW},
    {"MaxTime", 4, set_minutes, "max_time", FOLLOWS_VIEW},
    {"MinNodes", 2, set_count, "min_nodes", FOLLOWS_VIEW},
    {"OverSubscribe", 5, set_share, "oversubscribe", FOLLOWS_VIEW},
    {"Shared", 2, set_share, "oversubscribe", FOLLOWS_VIEW},
    {"OverTimeLimit", 5, set_count, "over_time_limit", 0},
    {"PreemptMode", 3, set_preempt_mode, "preempt_mode", FOLLOWS_VIEW},
    {"PriorityJobFactor", 9, set_number, "priority_job_factor", FOLLOWS_PRIORITIES},
    {"PriorityTier", 9, set_number, "priority_tier", FOLLOWS_VIEW},
    {"QOS", 1, set_text, "qos", FOLLOWS_VIEW},
    {"ReqResv", 3, set_switch, "req_resv", 0},
    {"RootOnly", 3, set_switch, "root_only", 0},
    {"State", 2, set_state, "state", FOLLOWS_OPEN},
    {"TRESBillingWeights", 1, set_text, "tres_billing_weights", 0},
};

/* What is told where a value cannot be read. */
static const char *value_takes(const struct partition_key *key) {
    static const struct {
        int (*set)(void *member, const char *value);
        const char *takes;
    } forms[] = {
        {set_minutes, "it takes minutes, hours:minutes:seconds, days-hours, UNLIMITED or NONE"},
        {set_count, "it takes a number or UNLIMITED"},
        {set_seconds, "it takes seconds"},
        {set_number, "it takes a number from 0 to 65535"},
        {set_mem, "it takes a size as 500M or 2G, or UNLIMITED"},
        {set_switch, "it takes YES or NO"},
        {set_exclusive_user, "it takes YES or NO"},
        {set_state, "known are UP, DOWN, DRAIN and INACTIVE"},
        {set_share, "known are NO, EXCLUSIVE, YES:number and FORCE:number"},
        {set_exclusive, "known are NO, NODE and USER"},
        {set_gpu_idle_action, "known are REQUEUE and CANCEL"},
        {set_preempt_mode, "known are OFF, CANCEL, REQUEUE, SUSPEND and GANG"},
        {set_job_defaults, "it takes DefCpuPerGPU=number and DefMemPerGPU=size"},
    };
    for (size_t i = 0; i < countof(forms); i++) {
        if (forms[i].set == key->set)
            return forms[i].takes;
    }
    return "it is not understood";
}

/* Of the two forms of a memory limit the one that was set last holds. */
static void memory_forms_settle(struct partition *rec, const char *member) {
    const struct {
        const char *set;
        uint64_t *other;
    } pairs[] = {{"def_mem_per_cpu", &rec->def_mem_per_node},
                 {"def_mem_per_node", &rec->def_mem_per_cpu},
                 {"max_mem_per_cpu", &rec->max_mem_per_node},
                 {"max_mem_per_node", &rec->max_mem_per_cpu}};
    for (size_t i = 0; i < countof(pairs); i++) {
        if (str_equal(pairs[i].set, member))
            *pairs[i].other = UNSET64;
    }
}

/* ---- Nodes= ---- */

/* Cuts off the next word at a comma outside of brackets; a sign before it stays for the words that
 * follow. */
static char *nodes_next(char **cursor, char *sign) {
    char *start = *cursor;
    if (*start == '\0')
        return NULL;
    char *end = start;
    int depth = 0;
    for (; *end != '\0' && (*end != ',' || depth > 0); end++)
        depth += (*end == '[') - (*end == ']');
    *cursor = *end != '\0' ? end + 1 : end;
    *end = '\0';
    if (*start == '+' || *start == '-')
        *sign = *start++;
    return start;
}

static int nodes_word(struct core *core, char sign, const char *word, struct bits *members,
                      struct error *err) {
    uint32_t *nodes;
    size_t n;
    if (word[0] == '\0')
        return 0;
    int r = nodes_resolve(core, word, &core->out->memory, &nodes, &n, err);
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (sign == '-')
            bits_unset(members, nodes[i]);
        else
            bits_set(members, nodes[i]);
    }
    return r;
}

/* "n1,n[3-4]", "ALL", "", "+n5", "-n1,n2", "+n5,-n1". */
static int set_nodes(struct core *core, struct partition *rec, const char *value,
                     struct error *err) {
    struct bits members;
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    struct str text cleanup_str = STR_INIT;
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy, *word, sign = '=';
    int r = 0;
    bits_init(&members, core->n_nodes);
    if ((value[0] == '+' || value[0] == '-') && rec->nodes != NULL)
        r = nodes_word(core, '+', rec->nodes, &members, err);
    while (r == 0 && (word = nodes_next(&cursor, &sign)) != NULL)
        r = nodes_word(core, sign, word, &members, err);
    bits_each (&members, i)
        hostlist_push(&names, core->nodes[i].rec.name);
    bits_done(&members);
    if (r < 0)
        return r;
    hostlist_sort(&names);
    hostlist_fold(&names, &text);
    string_set(&rec->nodes, text.length > 0 ? text.data : NULL);
    string_set(&rec->node_sets, NULL);
    return 0;
}

/* ---- requests ---- */

static int key_apply(struct core *core, struct partition *rec, const struct key_value *change,
                     unsigned *follows, struct error *err) {
    const char *value = change->value != NULL ? change->value : "";
    const char *name = change->key != NULL ? change->key : "";
    if (str_abbreviates(name, strlen(name), "Nodes", 1)) {
        *follows |= FOLLOWS_VIEW;
        return set_nodes(core, rec, value, err);
    }
    for (size_t i = 0; i < countof(partition_keys); i++) {
        const struct partition_key *key = &partition_keys[i];
        if (!str_abbreviates(name, strlen(name), key->name, key->least))
            continue;
        const struct field *field = record_field(&record_partition, key->member);
        if (key->set((char *) rec + field->offset, value) < 0)
            return error_set(err, ERR_INVALID, "Invalid input: %s=%s; %s", name, value,
                             value_takes(key));
        memory_forms_settle(rec, key->member);
        *follows |= key->follows;
        return 0;
    }
    return error_set(err, ERR_UPDATE_KEY, "%s", name);
}

static int keys_apply(struct core *core, struct partition *rec, const struct update *request,
                      unsigned *follows, struct error *err) {
    for (uint32_t i = 0; i < request->changes.n; i++) {
        int r = key_apply(core, rec, &request->changes.items[i], follows, err);
        if (r < 0)
            return r;
    }
    if (rec->max_nodes != UNSET32 && rec->min_nodes > rec->max_nodes)
        return error_set(err, ERR_INVALID, "MinNodes=%u is more than MaxNodes=%u", rec->min_nodes,
                         rec->max_nodes);
    return 0;
}

/* There is one default partition. */
static void default_settle(struct core *core, const struct core_partition *chosen) {
    for (size_t p = 0; chosen->rec.is_default && p < core->n_partitions; p++) {
        struct core_partition *part = &core->partitions[p];
        if (part == chosen || !part->rec.is_default)
            continue;
        part->rec.is_default = false;
        partition_touch(core, part);
    }
}

static int partition_change(struct core *core, struct core_partition *part,
                            const struct update *request, struct error *err) {
    struct partition next;
    unsigned follows = 0;
    record_copy(&record_partition, &next, &part->rec);
    int r = keys_apply(core, &next, request, &follows, err);
    if (r < 0) {
        record_done(&record_partition, &next);
        return r;
    }
    record_done(&record_partition, &part->rec);
    part->rec = next;
    partition_settle(core, part);
    default_settle(core, part);
    partition_touch(core, part);
    partition_followed(core, part, follows);
    return 0;
}

static bool name_is_valid(const char *name) {
    size_t n = strlen(name);
    return n > 0 && n <= 255 && !str_equal_nocase(name, "DEFAULT") &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == n;
}

static int partition_create(struct core *core, const char *name, const struct update *request,
                            struct error *err) {
    struct partition first;
    unsigned follows = 0; /* all of it */
    if (!name_is_valid(name))
        return error_set(err, ERR_INVALID_PARTITION,
                         "\"%s\" is no partition name (letters, digits, \"-\", \"_\" and \".\")",
                         name);
    record_init(&record_partition, &first);
    string_set(&first.name, name);
    string_set(&first.state, "UP");
    string_set(&first.exclusive, "NO");
    string_set(&first.oversubscribe, "NO");
    struct str mode cleanup_str = STR_INIT;
    preempt_mode_print(core->preempt.flags, &mode);
    string_set(&first.preempt_mode, mode.data);
    first.max_time = MINUTES_INFINITE;
    first.default_time = MINUTES_UNSET;
    first.priority_tier = first.priority_job_factor = 1;
    int r = keys_apply(core, &first, request, &follows, err);
    if (r < 0) {
        record_done(&record_partition, &first);
        return r;
    }
    struct core_partition *part = partition_add(core);
    first.index = part->rec.index;
    part->rec = first;
    partition_settle(core, part);
    default_settle(core, part);
    partition_touch(core, part);
    partitions_changed(core);
    return 0;
}

/* A job that waits or runs there, or one whose list has it. */
static bool is_in_use(struct core *core, const char *name) {
    jobs_each (core, job) {
        if (job_state_is_final(job->rec.state) && !(job->rec.flags & JOB_FLAG_COMPLETING))
            continue;
        if (str_has_word(job->rec.partition, name, ","))
            return true;
    }
    return false;
}

static int partition_delete(struct core *core, uint32_t index, struct error *err) {
    struct core_partition *part = &core->partitions[index];
    if (is_in_use(core, part->rec.name))
        return error_set(err, ERR_PARTITION_IN_USE,
                         "jobs wait or run in partition %s; squeue -p %s lists them",
                         part->rec.name, part->rec.name);
    if (part->rec.config != 0)
        emit_log(core, EFFECT_WARNING,
                 "partition %s is deleted; a restart or reconfiguration brings it back from "
                 "slurm.conf",
                 part->rec.name);
    partition_remove(core, index);
    partitions_changed(core);
    return 0;
}

int update_partition(struct core *core, const struct core_user *user, const struct update *request,
                     struct error *err) {
    uint32_t index;
    const char *name = request->target != NULL ? request->target : "";
    if (!core_is_super(core, user->uid))
        return error_set(err, ERR_USER_ID, "only administrators may change partitions");
    struct core_partition *part = partition_find(core, name, &index);
    if (request->create && part == NULL)
        return partition_create(core, name, request, err);
    if (request->create)
        return error_set(err, ERR_INVALID_PARTITION, "partition %s exists already", name);
    if (part == NULL)
        return error_set(err, ERR_INVALID_PARTITION,
                         "partition %s does not exist; sinfo lists those that do", name);
    return request->remove ? partition_delete(core, index, err)
                           : partition_change(core, part, request, err);
}
