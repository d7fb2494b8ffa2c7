/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submission: everything about a request is checked at the door, all problems at once, each with
 * its cure; what is accepted becomes a record before anybody is told so.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "core/state.h"
#include "schema/member.h"
#include "text/constraint.h"
#include "text/hostlist.h"
#include "text/tres.h"

/* ---- what a request amounts to ---- */

char *tres_text(uint64_t cpus, uint64_t mem, uint32_t nodes, const char *gres, bool with_billing) {
    struct str out = STR_INIT;
    str_printf(&out, "cpu=%llu", (unsigned long long) cpus);
    if (mem > 0) {
        str_append(&out, ",mem=");
        mem_print(mem, true, &out);
    }
    str_printf(&out, ",node=%u", nodes);
    if (with_billing)
        str_printf(&out, ",billing=%llu", (unsigned long long) cpus);
    if (gres != NULL && gres[0] != '\0')
        str_printf(&out, ",%s", gres);
    return str_take(&out);
}

static uint64_t ceil_div(uint64_t a, uint64_t b) {
    return b == 0 ? 0 : (a + b - 1) / b;
}

/* Estimates of absurd requests stay absurd instead of wrapping round to something modest. */
static uint64_t saturated(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint32_t saturated32(uint64_t value) {
    return (uint32_t) min_of(value, (uint64_t) UINT32_MAX);
}

/* CPUs of the largest node, for "how many nodes will this need at least". */
static uint32_t largest_cpus(const struct core *core) {
    uint32_t most = 1;
    for (size_t i = 0; i < core->n_nodes; i++)
        most = max_of(most, core->nodes[i].effective_cpus);
    return most;
}

static void requested_gres(const struct core *core, const struct job *job, uint32_t nodes,
                           uint32_t tasks, struct str *out) {
    const struct {
        const char *text;
        uint32_t times;
    } parts[] = {{job->tres_per_node, nodes}, {job->tres_per_job, 1}, {job->tres_per_task, tasks}};
    for (size_t p = 0; p < countof(parts); p++) {
        struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
        if (parts[p].text == NULL || gres_parse(parts[p].text, &list, NULL) < 0)
            continue;
        for (size_t i = 0; i < list.n; i++) {
            const struct gres_item *item = &list.items[i];
            unsigned long long count = saturated(item->count, parts[p].times);
            if (gres_is_tracked(core, item->name, NULL))
                str_printf(out, "%sgres/%s=%llu", out->length > 0 ? "," : "", item->name, count);
            if (item->type != NULL && gres_is_tracked(core, item->name, item->type))
                str_printf(out, "%sgres/%s:%s=%llu", out->length > 0 ? "," : "", item->name,
                           item->type, count);
        }
    }
}

/* Memory of the whole request in MiB; whole nodes count as the first node of the partition. */
static uint64_t requested_mem(struct core *core, const struct job *job, uint32_t nodes,
                              uint32_t cpus) {
    struct arena arena;
    arena_init(&arena, 0);
    struct sched_job_spec spec;
    uint64_t mem = 0;
    if (spec_build(core, job, &arena, &spec, NULL) == 0) {
        if (spec.mem_per_cpu != UNSET64)
            mem = saturated(spec.mem_per_cpu, cpus);
        else if (spec.mem_per_node != UNSET64 && spec.mem_per_node > 0)
            mem = saturated(spec.mem_per_node, nodes);
        else if (spec.n_partitions > 0 && core->partitions[spec.partitions[0]].n_nodes > 0)
            mem = saturated(core->nodes[core->partitions[spec.partitions[0]].nodes[0]].rec.memory,
                            nodes);
    }
    arena_done(&arena);
    return mem;
}

void job_estimate_size(struct core *core, struct job *job) {
    uint64_t cpt = job->cpus_per_task > 0 ? job->cpus_per_task : 1;
    uint64_t nodes = job->min_nodes > 0 ? job->min_nodes : 1;
    uint64_t tasks = job->ntasks;
    if (tasks == 0)
        tasks = nodes * (job->ntasks_per_node > 0 ? job->ntasks_per_node : 1);
    if (job->ntasks_per_node > 0)
        nodes = max_of(nodes, ceil_div(tasks, job->ntasks_per_node));
    uint64_t cpus = job->overcommit ? nodes : saturated(tasks, cpt);
    cpus = min_of(cpus, (uint64_t) UINT32_MAX);
    nodes = max_of(nodes, ceil_div(cpus, largest_cpus(core)));
    cpus = max_of(cpus, nodes);
    job->num_nodes = saturated32(nodes);
    job->num_cpus = saturated32(cpus);
    job->ntasks_total = saturated32(tasks);
    /* What was asked for, not what the tasks will take: without -N that is one node. */
    uint32_t asked = max_of(job->min_nodes, 1u);
    struct str gres cleanup_str = STR_INIT;
    requested_gres(core, job, asked, job->ntasks_total, &gres);
    free(job->tres_req);
    job->tres_req = tres_text(job->num_cpus, requested_mem(core, job, asked, job->num_cpus), asked,
                              str_cstr(&gres), true);
}

/* ---- checks ---- */

static int refuse(struct reply_error *reply, struct core *core, int code, const char *fmt, ...)
    printf_like(4, 5);
static int refuse(struct reply_error *reply, struct core *core, int code, const char *fmt, ...) {
    if (reply->code != 0) /* the first decides what scripts see */
        return -(int) reply->code;
    va_list args;
    va_start(args, fmt);
    cleanup_free char *text = xvasprintf(fmt, args);
    va_end(args);
    reply->code = (uint32_t) (code < 0 ? -code : code);
    reply->detail = arena_strndup(&core->out->memory, text, strlen(text));
    return -(int) reply->code;
}

static void before_line(struct reply_error *reply, struct core *core, const char *line) {
    char **items = arena_alloc(&core->out->memory, (reply->before.n + 1) * sizeof(char *));
    if (reply->before.n > 0)
        memcpy(items, reply->before.items, reply->before.n * sizeof(char *));
    items[reply->before.n] = arena_strndup(&core->out->memory, line, strlen(line));
    reply->before.items = items;
    reply->before.n++;
}

static int check_partitions(struct core *core, struct job *job, struct reply_error *reply) {
    if (job->partition == NULL) {
        for (size_t i = 0; i < core->n_partitions; i++) {
            if (core->partitions[i].rec.is_default)
                string_set(&job->partition, core->partitions[i].rec.name);
        }
    }
    if (job->partition != NULL && job->partition[0] == '\0') {
        before_line(reply, core, "invalid partition specified: (null)");
        return refuse(reply, core, ERR_INVALID_PARTITION,
                      "the name is empty; sinfo lists the partitions of this cluster");
    }
    if (job->partition == NULL)
        return refuse(reply, core, ERR_NO_PARTITION,
                      "give one with -p; sinfo lists the partitions of this cluster");
    cleanup_free char *copy = xstrdup(job->partition);
    char *cursor = copy;
    if (job->partition[strspn(job->partition, ",")] == '\0')
        return refuse(reply, core, ERR_INVALID_PARTITION,
                      "the name of the partition is empty; sinfo lists those that exist");
    for (char *name = str_next_word(&cursor, ","); name != NULL;
         name = str_next_word(&cursor, ",")) {
        struct core_partition *part = partition_find(core, name, NULL);
        if (part == NULL) {
            cleanup_free char *line = xasprintf("invalid partition specified: %s", name);
            before_line(reply, core, line);
            return refuse(reply, core, ERR_INVALID_PARTITION,
                          "partition %s does not exist; sinfo lists those that do", name);
        }
        if (str_equal(part->rec.state, "INACTIVE") || str_equal(part->rec.state, "DRAIN"))
            return refuse(reply, core, ERR_PARTITION_AVAIL, "partition %s is in state %s", name,
                          part->rec.state);
    }
    return 0;
}

static bool user_in_list(const struct core_user *user, const char *list) {
    bool found = str_has_word(list, user->group, ",");
    for (size_t i = 0; i < user->n_groups && !found; i++)
        found = str_has_word(list, user->groups[i], ",");
    return found;
}

/* Who may use a partition. Root may use any. */
static int check_access(struct core *core, const struct job *job, const struct core_user *user,
                        const struct partition *part, struct reply_error *reply) {
    bool admin = core_is_admin(core, user->uid);
    if (part->root_only && !admin)
        return refuse(reply, core, ERR_ACCESS_DENIED, "partition %s takes jobs of root only",
                      part->name);
    if (user->uid == 0 && (part->disable_root_jobs || core->settings.disable_root_jobs))
        return refuse(reply, core, ERR_ACCESS_DENIED, "partition %s takes no jobs of root",
                      part->name);
    if (part->allow_groups != NULL && !admin && !user_in_list(user, part->allow_groups))
        return refuse(reply, core, ERR_GROUP,
                      "partition %s is for the group%s %s; user %s is not a member", part->name,
                      strchr(part->allow_groups, ',') != NULL ? "s" : "", part->allow_groups,
                      user->name);
    if (part->allow_accounts != NULL &&
        !str_has_word_nocase(part->allow_accounts, job->account, ","))
        return refuse(reply, core, ERR_INVALID_ACCOUNT, "partition %s allows the accounts %s",
                      part->name, part->allow_accounts);
    if (part->deny_accounts != NULL && str_has_word_nocase(part->deny_accounts, job->account, ","))
        return refuse(reply, core, ERR_INVALID_ACCOUNT, "partition %s denies account %s",
                      part->name, job->account);
    if (part->allow_qos != NULL && !str_has_word_nocase(part->allow_qos, job->qos, ","))
        return refuse(reply, core, ERR_INVALID_QOS, "partition %s allows the QOS %s", part->name,
                      part->allow_qos);
    if (part->deny_qos != NULL && str_has_word_nocase(part->deny_qos, job->qos, ","))
        return refuse(reply, core, ERR_INVALID_QOS, "partition %s denies QOS %s", part->name,
                      job->qos);
    if (part->req_resv && job->reservation == NULL)
        return refuse(reply, core, ERR_INVALID_RESERVATION,
                      "partition %s takes only jobs of a reservation", part->name);
    return 0;
}

static int check_memory_limit(struct core *core, const struct job *job,
                              const struct partition *part, struct reply_error *reply) {
    uint64_t most = part->max_mem_per_node != UNSET64 && part->max_mem_per_node > 0
                        ? part->max_mem_per_node
                        : core->settings.max_mem_per_node;
    if (most == UNSET64 || most == 0 || job->mem_per_node == UNSET64 || job->mem_per_node <= most)
        return 0;
    return refuse(reply, core, ERR_TASK_MEMORY,
                  "--mem=%lluM is above MaxMemPerNode=%lluM of partition %s",
                  (unsigned long long) job->mem_per_node, (unsigned long long) most, part->name);
}

/* EnforcePartLimits: 0 leaves the job waiting with a reason instead. */
static int check_part_limits(struct core *core, const struct job *job, const struct partition *part,
                             struct reply_error *reply) {
    if (core->settings.enforce_part_limits == 0)
        return 0;
    bool has_limit = job->time_limit != MINUTES_UNSET && job->time_limit != 0;
    if (has_limit && part->max_time != MINUTES_INFINITE && job->time_limit > part->max_time) {
        struct str limit cleanup_str = STR_INIT;
        minutes_print_long(part->max_time, "UNLIMITED", &limit);
        return refuse(reply, core, ERR_TIME_LIMIT, "partition %s allows at most --time=%s",
                      part->name, str_cstr(&limit));
    }
    if (part->max_nodes != UNSET32 && job->min_nodes > part->max_nodes)
        return refuse(reply, core, ERR_NODE_COUNT, "partition %s allows at most %u nodes a job",
                      part->name, part->max_nodes);
    if (job->max_nodes > 0 && job->max_nodes < part->min_nodes)
        return refuse(reply, core, ERR_NODE_COUNT, "partition %s takes jobs of %u nodes and more",
                      part->name, part->min_nodes);
    if (part->total_nodes == 0)
        return refuse(reply, core, ERR_TOO_MANY_CPUS, "partition %s has no nodes", part->name);
    if (job->min_nodes > part->total_nodes)
        return refuse(reply, core, ERR_NODE_COUNT, "partition %s has %u nodes", part->name,
                      part->total_nodes);
    return 0;
}

/* Every partition must let the user in. Its limits must be kept in all of them, or with
 * EnforcePartLimits=ANY in one. */
static int check_each_partition(struct core *core, struct job *job, const struct core_user *user,
                                struct reply_error *reply) {
    bool any = core->settings.enforce_part_limits == 2, one_fits = false;
    struct reply_error over;
    record_init(&record_reply_error, &over);
    cleanup_free char *copy = xstrdup(job->partition);
    char *cursor = copy;
    for (char *name = str_next_word(&cursor, ","); name != NULL;
         name = str_next_word(&cursor, ",")) {
        const struct partition *part = &partition_find(core, name, NULL)->rec;
        int r = check_access(core, job, user, part, reply);
        if (r < 0)
            return r;
        r = check_part_limits(core, job, part, &over);
        if (r == 0)
            r = check_memory_limit(core, job, part, &over);
        one_fits |= r == 0;
        if (r < 0 && !any)
            break;
    }
    if (over.code == 0 || (any && one_fits))
        return 0;
    *reply = over;
    return -(int) over.code;
}

struct feature_check {
    struct core *core;
    const char *unknown;
};

static void check_feature(const char *name, void *context) {
    struct feature_check *check = context;
    if (smap_get(&check->core->features, name) == NULL && check->unknown == NULL)
        check->unknown = arena_strndup(&check->core->out->memory, name, strlen(name));
}

static int check_features(struct core *core, const char *text, struct reply_error *reply) {
    struct constraint *constraint = NULL;
    struct error err = ERROR_INIT;
    if (text == NULL)
        return 0;
    if (constraint_parse(text, &constraint, &err) < 0)
        return refuse(reply, core, ERR_INVALID_FEATURE, "%s", err.text);
    struct feature_check check = {core, NULL};
    constraint_names(constraint, check_feature, &check);
    constraint_free(constraint);
    if (check.unknown == NULL)
        return 0;
    struct str have cleanup_str = STR_INIT;
    size_t at = 0;
    const char *name;
    while (smap_next(&core->features, &at, &name) != NULL)
        str_join(&have, ", ", name);
    return refuse(reply, core, ERR_INVALID_FEATURE, "no node has the feature %s; there %s %s",
                  check.unknown, have.length > 0 ? "are" : "is",
                  have.length > 0 ? have.data : "none in this cluster");
}

/* Values of enumerations come from a peer: one that has no name here may be a newer release's. */
static int check_enums(struct core *core, const struct job *job, struct reply_error *reply) {
    void *object = (void *) (uintptr_t) job;
    for (size_t i = 0; i < record_job.n_fields; i++) {
        const struct field *field = &record_job.fields[i];
        if (field->type != FIELD_ENUM ||
            names_text(field->names, *member_u32(field, object)) != NULL)
            continue;
        struct str known cleanup_str = STR_INIT;
        names_list(field->names, ", ", &known);
        return refuse(reply, core, ERR_INVALID, "%s: value %u is not known here; known are %s",
                      field->name, *member_u32(field, object), str_cstr(&known));
    }
    return 0;
}

static bool is_time(int64_t value) {
    return value >= 0 && value <= TIME_LATEST;
}

/* Sizes that no cluster has: refused as what can never be satisfied. */
static int check_sizes(struct core *core, const struct job *job, struct reply_error *reply) {
    uint64_t nodes = max_of(job->min_nodes, 1u), cpt = max_of(job->cpus_per_task, 1u);
    uint64_t per_node = max_of(job->ntasks_per_node, 1u);
    const struct {
        const char *option;
        uint64_t value, most;
    } sizes[] = {
        {"--nodes", job->min_nodes, COUNT_LARGEST},
        {"--ntasks", job->ntasks, COUNT_LARGEST},
        {"--ntasks-per-node", job->ntasks_per_node, COUNT_LARGEST},
        {"--ntasks-per-socket", job->ntasks_per_socket, COUNT_LARGEST},
        {"--ntasks-per-core", job->ntasks_per_core, COUNT_LARGEST},
        {"--ntasks-per-gpu", job->ntasks_per_gpu, COUNT_LARGEST},
        {"--cpus-per-task", job->cpus_per_task, COUNT_LARGEST},
        {"--cpus-per-gpu", job->cpus_per_gpu, CPUS_PER_GPU_LARGEST},
        {"--mincpus", job->min_cpus_per_node, COUNT_LARGEST},
        {"CPUs of all tasks", saturated(job->ntasks, cpt), CPUS_LARGEST},
        {"CPUs of all nodes", saturated(saturated(nodes, per_node), cpt), CPUS_LARGEST},
        {"CPUs of all nodes", saturated(nodes, job->min_cpus_per_node), CPUS_LARGEST},
    };
    for (size_t i = 0; i < countof(sizes); i++) {
        if (sizes[i].value > sizes[i].most)
            return refuse(reply, core, ERR_NODE_CONFIG,
                          "%s=%llu is more than the %llu that are taken", sizes[i].option,
                          (unsigned long long) sizes[i].value, (unsigned long long) sizes[i].most);
    }
    return 0;
}

/* Numbers that arithmetic further on relies on. */
static int check_ranges(struct core *core, const struct job *job, struct reply_error *reply) {
    static const char mem[] = "Memory specification can not be satisfied";
    static const char disk[] = "Temporary disk specification can not be satisfied";
    const struct {
        const char *option, *before;
        uint64_t value;
    } mems[] = {{"--mem", mem, job->mem_per_node},
                {"--mem-per-cpu", mem, job->mem_per_cpu},
                {"--mem-per-gpu", mem, job->mem_per_gpu},
                {"--tmp", disk, job->tmp_disk}};
    for (size_t i = 0; i < countof(mems); i++) {
        if (mems[i].value == UNSET64 || mems[i].value <= MEM_LARGEST)
            continue;
        before_line(reply, core, mems[i].before);
        return refuse(reply, core, ERR_NODE_CONFIG, "%s=%llu MiB is more than any node can have",
                      mems[i].option, (unsigned long long) mems[i].value);
    }
    if (!is_time(job->begin_time) || !is_time(job->deadline))
        return refuse(reply, core, ERR_INVALID,
                      "--begin and --deadline must be before the year 9999");
    if (job->signal > SIGNAL_LARGEST)
        return refuse(reply, core, ERR_INVALID, "signal %u does not exist", job->signal);
    return 0;
}

static int check_numbers(struct core *core, const struct job *job, const struct core_user *user,
                         struct reply_error *reply) {
    if (job->nice < 0 && !core_is_admin(core, user->uid))
        return refuse(reply, core, ERR_NICE, "only administrators may give a value below 0");
    if (job->max_nodes > 0 && job->max_nodes < job->min_nodes)
        return refuse(reply, core, ERR_NODE_COUNT, "at most %u nodes is less than at least %u",
                      job->max_nodes, job->min_nodes);
    int set = (job->mem_per_node != UNSET64) + (job->mem_per_cpu != UNSET64) +
              (job->mem_per_gpu != UNSET64);
    if (set > 1)
        return refuse(reply, core, ERR_INVALID,
                      "--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive");
    if (job->time_min != UNSET32 && job->time_limit != UNSET32 && job->time_limit != 0 &&
        job->time_min > job->time_limit)
        return refuse(reply, core, ERR_TIME_MIN, "the minimum of %u minutes is above --time=%u",
                      job->time_min, job->time_limit);
    if (job->container != NULL)
        return refuse(reply, core, ERR_NOT_SUPPORTED,
                      "--container: jobs cannot run inside OCI bundles yet");
    if (job->reservation != NULL)
        return refuse(reply, core, ERR_INVALID_RESERVATION,
                      "there is no reservation %s; this cluster has none", job->reservation);
    if (job->deadline > 0 && job->deadline <= core->now)
        return refuse(reply, core, ERR_DEADLINE, "the deadline has passed");
    return 0;
}

/* Names of nodes must be in one of the partitions asked for, and not excluded. */
static int check_nodes_in_partition(struct core *core, const struct sched_job_spec *spec,
                                    struct reply_error *reply) {
    for (size_t i = 0; i < spec->n_req_nodes; i++) {
        for (size_t n = 0; n < spec->n_exc_nodes; n++) {
            if (spec->exc_nodes[n] == spec->req_nodes[i])
                return refuse(reply, core, ERR_INVALID_NODE,
                              "node %s is in both --nodelist and --exclude",
                              core->nodes[spec->req_nodes[i]].rec.name);
        }
        bool inside = false;
        for (size_t p = 0; p < spec->n_partitions && !inside; p++) {
            const struct core_partition *part = &core->partitions[spec->partitions[p]];
            for (size_t n = 0; n < part->n_nodes && !inside; n++)
                inside = part->nodes[n] == spec->req_nodes[i];
        }
        if (!inside)
            return refuse(reply, core, ERR_NODES_NOT_IN_PARTITION,
                          "node %s belongs to none of the partitions asked for",
                          core->nodes[spec->req_nodes[i]].rec.name);
    }
    return 0;
}

static int check_feasible(struct core *core, struct job *job, struct reply_error *reply) {
    struct arena arena;
    arena_init(&arena, 0);
    struct sched_job_spec spec;
    struct error err = ERROR_INIT;
    struct str before cleanup_str = STR_INIT;
    struct constraint *features = NULL;
    int r = spec_build(core, job, &arena, &spec, &err);
    if (r == 0)
        r = check_nodes_in_partition(core, &spec, reply);
    if (r == 0 && !job->hold) {
        if (job->features != NULL && constraint_parse(job->features, &features, NULL) == 0)
            spec.features = features;
        r = sched_feasible(core->sched, &spec, &before, &err);
        if (before.length > 0 && r < 0)
            before_line(reply, core, before.data);
    }
    constraint_free(features);
    arena_done(&arena);
    if (r < 0)
        return refuse(reply, core, -r, "%s", err.text);
    return 0;
}

int job_check(struct core *core, struct job *job, const struct core_user *user,
              struct reply_error *reply) {
    int r;
    if ((r = check_enums(core, job, reply)) < 0 || (r = check_ranges(core, job, reply)) < 0 ||
        (r = check_sizes(core, job, reply)) < 0 || (r = check_partitions(core, job, reply)) < 0 ||
        (r = check_each_partition(core, job, user, reply)) < 0 ||
        (r = check_numbers(core, job, user, reply)) < 0 ||
        (r = check_features(core, job->features, reply)) < 0 ||
        (r = check_features(core, job->prefer, reply)) < 0)
        return r;
    return check_feasible(core, job, reply);
}

/* ---- the record ---- */

/* Names that do not parse stay as they are for the checks to complain about. */
static void fold_names(char **names) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    struct str folded cleanup_str = STR_INIT;
    if (*names == NULL || hostlist_parse(&list, *names, NULL) < 0)
        return;
    hostlist_sort(&list);
    hostlist_unique(&list);
    hostlist_fold(&list, &folded);
    string_set(names, folded.length > 0 ? folded.data : NULL);
}

static void take_request(struct core *core, struct core_job *job, const struct core_user *user,
                         const struct job_request *request) {
    struct job *rec = &job->rec;
    record_copy_common(&record_job, rec, &record_job_request, request);
    /* Kept apart: they are large and nobody lists them. */
    free(rec->environment.data);
    free(rec->script.data);
    rec->environment = (struct blob) {NULL, 0};
    rec->script = (struct blob) {NULL, 0};
    bool as_other = core_is_admin(core, user->uid) && request->run_as_uid != UNSET32;
    rec->uid = as_other ? request->run_as_uid : user->uid;
    rec->gid = as_other && request->run_as_gid != UNSET32 ? request->run_as_gid : user->gid;
    if (!as_other) {
        string_set(&rec->user_name, user->name);
        string_set(&rec->group_name, user->group);
    } else {
        string_set(&rec->user_name, user->as_name != NULL ? user->as_name : "?");
        string_set(&rec->group_name, user->as_group != NULL ? user->as_group : "?");
    }
    if (rec->distribution != DIST_ARBITRARY) /* which goes by the order */
        fold_names(&rec->req_nodes);
    fold_names(&rec->exc_nodes);
    rec->submit_time = core->now;
    if (rec->begin_time > core->now)
        rec->eligible_time = rec->start_time = rec->begin_time; /* until the planner knows better */
    else
        rec->eligible_time = rec->hold || rec->dependency != NULL ? 0 : core->now;
    if (rec->eligible_time <= core->now)
        rec->accrue_time = rec->eligible_time;
    rec->last_sched_eval = core->now; /* it has been tried against the nodes on its way in */
    string_set(&rec->cluster, core->settings.cluster);
    if (rec->requeue == TRI_UNSET)
        rec->requeue = core->settings.job_requeue ? TRI_YES : TRI_NO;
    if (rec->kind != JOB_KIND_BATCH)
        rec->requeue = TRI_NO;
    if (rec->open_mode == OPEN_DEFAULT)
        rec->open_mode = core->settings.job_file_append ? OPEN_APPEND : OPEN_TRUNCATE;
    if (rec->name == NULL)
        string_set(&rec->name, "sbatch");
    if (rec->qos == NULL)
        string_set(&rec->qos, "normal");
}

/* What the partition and the cluster say where the request is silent, so that everybody sees it. */
static void take_defaults(struct core *core, struct job *job) {
    cleanup_free char *first = xstrdup(job->partition);
    first[strcspn(first, ",")] = '\0';
    const struct core_partition *part = partition_find(core, first, NULL);
    if (part == NULL)
        return;
    bool no_limit = job->time_limit == MINUTES_UNSET || job->time_limit == 0;
    if (no_limit && part->rec.default_time != MINUTES_UNSET)
        job->time_limit = part->rec.default_time;
    else if (no_limit && strchr(job->partition, ',') == NULL)
        job->time_limit = part->rec.max_time; /* of several, each gives its own once chosen */
    else if (no_limit && part->rec.max_time == MINUTES_INFINITE)
        job->time_limit = MINUTES_INFINITE;
    struct arena arena;
    arena_init(&arena, 0);
    struct sched_job_spec spec;
    bool no_memory =
        job->mem_per_node == UNSET64 && job->mem_per_cpu == UNSET64 && job->mem_per_gpu == UNSET64;
    if (no_memory && spec_build(core, job, &arena, &spec, NULL) == 0) {
        if (spec.mem_per_cpu != UNSET64)
            job->mem_per_cpu = spec.mem_per_cpu;
        else if (spec.mem_per_node != UNSET64 && spec.mem_per_node > 0)
            job->mem_per_node = spec.mem_per_node;
    }
    arena_done(&arena);
}

static int take_array(struct core *core, struct core_job *job, struct reply_error *reply) {
    struct error err = ERROR_INIT;
    if (job->rec.array_spec == NULL)
        return 0;
    if (job->rec.kind != JOB_KIND_BATCH)
        return refuse(reply, core, ERR_INVALID_ARRAY, "only batch jobs can be arrays");
    if (core->settings.max_array_size == 0)
        return refuse(reply, core, ERR_INVALID_ARRAY, "job arrays are disabled (MaxArraySize=0)");
    if (idset_parse(&job->tasks, job->rec.array_spec, core->settings.max_array_size - 1,
                    &job->rec.array_limit, &err) < 0)
        return refuse(reply, core, ERR_INVALID_ARRAY, "%s", err.text);
    if (idset_count(&job->tasks) == 0)
        return refuse(reply, core, ERR_INVALID_ARRAY, "--array=%s names no task",
                      job->rec.array_spec);
    struct str text cleanup_str = STR_INIT;
    idset_print(&job->tasks, &text, 0);
    string_set(&job->rec.array_tasks, text.data);
    string_set(&job->rec.array_all, text.data);
    job->rec.array_job_id = job->rec.job_id;
    return 0;
}

static void store_script(struct core *core, struct core_job *job,
                         const struct job_request *request) {
    if (request->kind != JOB_KIND_BATCH)
        return;
    struct job_script script = {
        .job_id = job->rec.job_id, .script = request->script, .environment = request->environment};
    job->script_id = job->rec.job_id;
    emit_put(core, STORE_JOB_SCRIPT, job->script_id, &record_job_script, &script);
}

/* Everything that can be wrong, before anything is changed. */
static int check_submission(struct core *core, struct core_job *job, const struct core_user *user,
                            const struct submit *submit, struct reply_error *reply) {
    const struct job_request *request = submit->job;
    if (request->run_as_uid != UNSET32 && !core_is_admin(core, user->uid))
        return refuse(reply, core, ERR_ACCESS_DENIED, "--uid only permitted by root user");
    if (request->script.size > core->settings.max_script_size)
        return refuse(reply, core, ERR_SCRIPT_TOO_LARGE,
                      "%zu bytes; at most %u are accepted "
                      "(SchedulerParameters=max_script_size)",
                      request->script.size, core->settings.max_script_size);
    if (request->kind == JOB_KIND_BATCH && request->script.size == 0 && !submit->test_only)
        return refuse(reply, core, ERR_JOB_SCRIPT_MISSING, "the batch script is empty");
    uint64_t weight = max_of(idset_count(&job->tasks), (uint64_t) 1);
    if (core->n_jobs + weight > core->settings.max_job_count)
        return refuse(reply, core, ERR_JOB_COUNT,
                      "the controller holds %zu of at most %u jobs "
                      "(MaxJobCount)",
                      core->n_jobs, core->settings.max_job_count);
    int r = job_check(core, &job->rec, user, reply);
    struct error err = ERROR_INIT;
    if (r == 0 && job->rec.dependency != NULL &&
        depend_parse(core, job, job->rec.dependency, &err) < 0)
        r = refuse(reply, core, ERR_DEPENDENCY, "%s", err.text);
    return r;
}

static void apply_priority_request(struct core *core, struct core_job *job,
                                   const struct core_user *user, struct submit_reply *reply) {
    if (job->rec.requested_priority == UNSET32 || core_is_admin(core, user->uid))
        return;
    /* Accepted and without effect, as users know it; but they are told. */
    if (job->rec.requested_priority != 0) {
        char **lines = arena_alloc(&core->out->memory, sizeof(char *));
        cleanup_free char *text =
            xasprintf("--priority=%u is not applied: only administrators and operators may set "
                      "a job's priority",
                      job->rec.requested_priority);
        lines[0] = arena_strndup(&core->out->memory, text, strlen(text));
        reply->warnings = (struct strs) {lines, 1};
        job->rec.requested_priority = UNSET32;
    } else {
        job->rec.hold = true;
        job->rec.requested_priority = UNSET32;
    }
}

static void answer_test_only(struct core *core, uint64_t client, uint32_t seq, struct core_job *job,
                             struct reply_error *refusal) {
    struct arena arena;
    arena_init(&arena, 0);
    struct sched_job_spec spec;
    struct sched_start start = {0};
    struct sched_plan plan = SCHED_PLAN_INIT;
    struct constraint *features = NULL;
    int64_t when = 0;
    job->rec.priority = priority_compute(core, job);
    bool runs = spec_build(core, &job->rec, &arena, &spec, NULL) == 0;
    if (runs && job->rec.features != NULL &&
        constraint_parse(job->rec.features, &features, NULL) == 0)
        spec.features = features;
    runs = runs && sched_will_run(core->sched, &spec, core->now, &start, &plan, &when);
    if (runs) {
        struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
        for (size_t i = 0; i < start.n_allocs; i++)
            hostlist_push(&names, core->nodes[start.allocs[i].node].rec.name);
        struct str folded cleanup_str = STR_INIT;
        hostlist_fold(&names, &folded);
        struct submit_reply reply;
        record_init(&record_submit_reply, &reply);
        reply.job_id = core->meta.next_job_id;
        reply.start_time = when;
        reply.cpus = start.n_cpus;
        reply.nodes = folded.data;
        reply.partition = core->partitions[start.partition].rec.name;
        emit_reply(core, client, MSG_SUBMIT_REPLY, 1, seq, &reply);
    } else {
        refuse(refusal, core, ERR_NODE_CONFIG,
               "no start can be foreseen: nodes that it needs are "
               "down, drained or reserved");
        emit_reply_error(core, client, seq, refusal);
    }
    constraint_free(features);
    sched_plan_done(&plan);
    arena_done(&arena);
}

static void add_waiter(struct core *core, struct core_job *job, uint64_t client, uint32_t seq,
                       enum client_wait what) {
    struct waiter waiter = {client, seq, what};
    client_watches(core, client, job);
    vec_push(&job->waiters, waiter);
}

static void answer_submission(struct core *core, uint64_t client, uint32_t seq,
                              struct core_job *job, const struct submit *submit,
                              struct submit_reply *reply) {
    reply->job_id = job->rec.job_id;
    reply->cluster = core->settings.cluster;
    if (job->rec.kind == JOB_KIND_BATCH) {
        emit_reply(core, client, MSG_SUBMIT_REPLY, submit->wait ? 0 : 1, seq, reply);
        if (submit->wait)
            add_waiter(core, job, client, seq, WAIT_JOB_END);
        return;
    }
    /* Answered at the end of the turn, when it is known whether it has started. */
    add_waiter(core, job, client, seq, WAIT_ALLOC);
    if (!job->rec.no_shell)
        job->owner_client = client;
    vec_push(&core->fresh_allocs, job);
    if (job->rec.immediate != UNSET32)
        job->immediate_deadline = core->now + max_of(job->rec.immediate, 1u);
    if (submit->step != NULL)
        job->first_step = record_dup(&record_step_request, submit->step);
}

void handle_submit(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                   void *body) {
    const struct submit *submit = body;
    struct reply_error refusal;
    record_init(&record_reply_error, &refusal);
    struct submit_reply reply;
    record_init(&record_submit_reply, &reply);
    if (submit->job == NULL) {
        emit_error(core, client, seq, -ERR_PROTOCOL, "a submission without a job");
        return;
    }
    uint32_t saved_next = core->meta.next_job_id;
    struct core_job *job = job_new(core, job_take_id(core));
    take_request(core, job, user, submit->job);
    int r = take_array(core, job, &refusal);
    if (r == 0)
        r = check_submission(core, job, user, submit, &refusal);
    if (r < 0 || submit->test_only) {
        core->meta.next_job_id = saved_next;
        if (r < 0)
            emit_reply_error(core, client, seq, &refusal);
        else
            answer_test_only(core, client, seq, job, &refusal);
        job_free(job);
        return;
    }
    apply_priority_request(core, job, user, &reply);
    take_defaults(core, &job->rec);
    store_script(core, job, submit->job);
    job_estimate_size(core, &job->rec);
    job->rec.priority = job->rec.hold ? 0 : priority_compute(core, job);
    depend_show(job);
    if (job->rec.priority == 0)
        job->rec.reason = core_is_admin(core, user->uid) && job->rec.uid != user->uid
                              ? REASON_HELD_ADMIN
                              : REASON_HELD_USER;
    job_link(core, job);
    job_touch(core, job);
    core->n_submitted++;
    answer_submission(core, client, seq, job, submit, &reply);
    sched_sync(core, job);
    job_arm(core, job);
    depend_check_kill(core, job);
}
