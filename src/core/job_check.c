/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door: everything about a request, at submission and after an update, is checked before
 * anything is changed; whatever is refused names its cure.
 */
#include <stdarg.h>
#include <string.h>

#include "core/state.h"
#include "schema/member.h"

int reply_refuse(struct reply_error *reply, struct core *core, int code, const char *fmt, ...) {
    if (reply->code != 0) /* the first decides what scripts see */
        return -(int) reply->code;
    va_list args;
    va_start(args, fmt);
    cleanup_free char *text = xvasprintf(fmt, args);
    va_end(args);
    reply->code = (uint32_t) (code < 0 ? -code : code);
    reply->detail = arena_strdup(&core->out->memory, text);
    return -(int) reply->code;
}

void reply_before(struct reply_error *reply, struct core *core, const char *line) {
    char **items = arena_alloc(&core->out->memory, (reply->before.n + 1) * sizeof(char *));
    if (reply->before.n > 0)
        memcpy(items, reply->before.items, reply->before.n * sizeof(char *));
    items[reply->before.n] = arena_strdup(&core->out->memory, line);
    reply->before.items = items;
    reply->before.n++;
}

void job_take_partition(const struct core *core, struct job *job) {
    if (job->partition != NULL)
        return;
    for (size_t i = 0; i < core->n_partitions; i++) {
        if (core->partitions[i].rec.is_default)
            string_set(&job->partition, core->partitions[i].rec.name);
    }
}

static int check_partitions(struct core *core, struct job *job, struct reply_error *reply) {
    job_take_partition(core, job);
    if (job->partition != NULL && job->partition[0] == '\0') {
        reply_before(reply, core, "invalid partition specified: (null)");
        return reply_refuse(reply, core, ERR_INVALID_PARTITION,
                            "the name is empty; sinfo lists the partitions of this cluster");
    }
    if (job->partition == NULL)
        return reply_refuse(reply, core, ERR_NO_PARTITION,
                            "give one with -p; sinfo lists the partitions of this cluster");
    if (job->partition[strspn(job->partition, ",")] == '\0')
        return reply_refuse(reply, core, ERR_INVALID_PARTITION,
                            "the name of the partition is empty; sinfo lists those that exist");
    words_each (job->partition, ",", name) {
        struct core_partition *part = partition_find(core, name, NULL);
        if (part == NULL) {
            cleanup_free char *line = xasprintf("invalid partition specified: %s", name);
            reply_before(reply, core, line);
            return reply_refuse(reply, core, ERR_INVALID_PARTITION,
                                "partition %s does not exist; sinfo lists those that do", name);
        }
        if (str_equal(part->rec.state, "INACTIVE") || str_equal(part->rec.state, "DRAIN"))
            return reply_refuse(reply, core, ERR_PARTITION_AVAIL, "partition %s is in state %s",
                                name, part->rec.state);
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
        return reply_refuse(reply, core, ERR_ACCESS_DENIED, "partition %s takes jobs of root only",
                            part->name);
    if (user->uid == 0 && (part->disable_root_jobs || core->settings.disable_root_jobs))
        return reply_refuse(reply, core, ERR_ACCESS_DENIED, "partition %s takes no jobs of root",
                            part->name);
    if (part->allow_groups != NULL && !admin && !user_in_list(user, part->allow_groups))
        return reply_refuse(reply, core, ERR_GROUP,
                            "partition %s is for the group%s %s; user %s is not a member",
                            part->name, strchr(part->allow_groups, ',') != NULL ? "s" : "",
                            part->allow_groups, user->name);
    if (part->allow_accounts != NULL &&
        !str_has_word_nocase(part->allow_accounts, job->account, ","))
        return reply_refuse(reply, core, ERR_INVALID_ACCOUNT, "partition %s allows the accounts %s",
                            part->name, part->allow_accounts);
    if (part->deny_accounts != NULL && str_has_word_nocase(part->deny_accounts, job->account, ","))
        return reply_refuse(reply, core, ERR_INVALID_ACCOUNT, "partition %s denies account %s",
                            part->name, job->account);
    if (part->allow_qos != NULL && !str_has_word_nocase(part->allow_qos, job->qos, ","))
        return reply_refuse(reply, core, ERR_INVALID_QOS, "partition %s allows the QOS %s",
                            part->name, part->allow_qos);
    if (part->deny_qos != NULL && str_has_word_nocase(part->deny_qos, job->qos, ","))
        return reply_refuse(reply, core, ERR_INVALID_QOS, "partition %s denies QOS %s", part->name,
                            job->qos);
    if (part->req_resv && job->reservation == NULL)
        return reply_refuse(reply, core, ERR_INVALID_RESERVATION,
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
    return reply_refuse(
        reply, core, ERR_TASK_MEMORY, "--mem=%lluM is above MaxMemPerNode=%lluM of partition %s",
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
        return reply_refuse(reply, core, ERR_TIME_LIMIT, "partition %s allows at most --time=%s",
                            part->name, str_cstr(&limit));
    }
    if (part->max_nodes != UNSET32 && job->min_nodes > part->max_nodes)
        return reply_refuse(reply, core, ERR_NODE_COUNT,
                            "partition %s allows at most %u nodes a job", part->name,
                            part->max_nodes);
    if (job->max_nodes > 0 && job->max_nodes < part->min_nodes)
        return reply_refuse(reply, core, ERR_NODE_COUNT,
                            "partition %s takes jobs of %u nodes and more", part->name,
                            part->min_nodes);
    if (part->total_nodes == 0)
        return reply_refuse(reply, core, ERR_TOO_MANY_CPUS, "partition %s has no nodes",
                            part->name);
    if (job->min_nodes > part->total_nodes)
        return reply_refuse(reply, core, ERR_NODE_COUNT, "partition %s has %u nodes", part->name,
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
    words_each (job->partition, ",", name) {
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

static int check_features(struct core *core, const char *text, struct reply_error *reply) {
    struct error err = ERROR_INIT;
    if (text == NULL || features_check(core, text, &err) == 0)
        return 0;
    return reply_refuse(reply, core, ERR_INVALID_FEATURE, "%s", err.text);
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
        return reply_refuse(reply, core, ERR_INVALID,
                            "%s: value %u is not known here; known are %s", field->name,
                            *member_u32(field, object), str_cstr(&known));
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
            return reply_refuse(reply, core, ERR_NODE_CONFIG,
                                "%s=%llu is more than the %llu that are taken", sizes[i].option,
                                (unsigned long long) sizes[i].value,
                                (unsigned long long) sizes[i].most);
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
        reply_before(reply, core, mems[i].before);
        return reply_refuse(reply, core, ERR_NODE_CONFIG,
                            "%s=%llu MiB is more than any node can have", mems[i].option,
                            (unsigned long long) mems[i].value);
    }
    if (!is_time(job->begin_time) || !is_time(job->deadline))
        return reply_refuse(reply, core, ERR_INVALID,
                            "--begin and --deadline must be before the year 9999");
    if (job->signal > SIGNAL_LARGEST)
        return reply_refuse(reply, core, ERR_INVALID, "signal %u does not exist", job->signal);
    return 0;
}

static int check_numbers(struct core *core, const struct job *job, const struct core_user *user,
                         struct reply_error *reply) {
    if (job->max_nodes > 0 && job->max_nodes < job->min_nodes)
        return reply_refuse(reply, core, ERR_NODE_COUNT,
                            "at most %u nodes is less than at least %u", job->max_nodes,
                            job->min_nodes);
    int set = (job->mem_per_node != UNSET64) + (job->mem_per_cpu != UNSET64) +
              (job->mem_per_gpu != UNSET64);
    if (set > 1)
        return reply_refuse(reply, core, ERR_INVALID,
                            "--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive");
    if (job->time_min != UNSET32 && job->time_limit != UNSET32 && job->time_limit != 0 &&
        job->time_min > job->time_limit)
        return reply_refuse(reply, core, ERR_TIME_MIN,
                            "the minimum of %u minutes is above --time=%u", job->time_min,
                            job->time_limit);
    if (job->container != NULL)
        return reply_refuse(reply, core, ERR_NOT_SUPPORTED,
                            "--container: jobs cannot run inside OCI bundles yet");
    if (job->deadline > 0 && job->deadline <= core->now)
        return reply_refuse(reply, core, ERR_DEADLINE, "the deadline has passed");
    int64_t shortest = job->deadline > 0 ? job_shortest_limit(core, job) : SCHED_FOREVER;
    int64_t first = max_of(core->now, job->begin_time);
    int64_t left = (job->deadline - first) / 60; /* --time=0 is no limit, and no cure */
    if (shortest < SCHED_FOREVER && shortest > job->deadline - first && left < 1)
        return reply_refuse(reply, core, ERR_DEADLINE,
                            "a run of %lld minutes cannot end by the deadline, which is less than "
                            "a minute after the earliest start: ask for a later one",
                            (long long) shortest / 60);
    if (shortest < SCHED_FOREVER && shortest > job->deadline - first)
        return reply_refuse(reply, core, ERR_DEADLINE,
                            "a run of %lld minutes cannot end by the deadline; at most --time=%lld "
                            "would",
                            (long long) shortest / 60, (long long) left);
    return 0;
}

/* Names of nodes must be in one of the partitions asked for, and not excluded. */
static int check_nodes_in_partition(struct core *core, const struct sched_job_spec *spec,
                                    struct reply_error *reply) {
    for (size_t i = 0; i < spec->n_req_nodes; i++) {
        for (size_t n = 0; n < spec->n_exc_nodes; n++) {
            if (spec->exc_nodes[n] == spec->req_nodes[i])
                return reply_refuse(reply, core, ERR_INVALID_NODE,
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
            return reply_refuse(reply, core, ERR_NODES_NOT_IN_PARTITION,
                                "node %s belongs to none of the partitions asked for",
                                core->nodes[spec->req_nodes[i]].rec.name);
    }
    return 0;
}

static int check_feasible(struct core *core, struct job *job, struct reply_error *reply) {
    struct job_spec spec cleanup(job_spec_done);
    struct error err = ERROR_INIT;
    struct str before cleanup_str = STR_INIT;
    int r = job_spec_build(core, job, &spec, &err);
    if (r == 0)
        r = check_nodes_in_partition(core, &spec.sched, reply);
    if (r == 0 && !job->hold) {
        r = sched_feasible(core->sched, &spec.sched, &before, &err);
        if (before.length > 0 && r < 0)
            reply_before(reply, core, before.data);
    }
    return r < 0 ? reply_refuse(reply, core, -r, "%s", err.text) : 0;
}

int job_check(struct core *core, struct job *job, const struct core_user *user,
              struct reply_error *reply) {
    int r;
    if ((r = check_enums(core, job, reply)) < 0 || (r = check_ranges(core, job, reply)) < 0 ||
        (r = check_sizes(core, job, reply)) < 0 || (r = check_partitions(core, job, reply)) < 0 ||
        (r = job_take_association(core, job, reply)) < 0 ||
        (r = check_each_partition(core, job, user, reply)) < 0 ||
        (r = check_numbers(core, job, user, reply)) < 0 ||
        (r = switches_check(core, job, reply)) < 0 ||
        (r = job_reservation_check(core, job, user, reply)) < 0 ||
        (r = check_features(core, job->features, reply)) < 0 ||
        (r = check_features(core, job->prefer, reply)) < 0)
        return r;
    return check_feasible(core, job, reply);
}
