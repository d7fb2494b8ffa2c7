/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of scontrol update for a job: a row says which member a key sets, how its value is read,
 * who may set it and when. */
#include <string.h>

#include "core/update.h"
#include "schema/member.h"
#include "text/size.h"
#include "text/timestamp.h"

enum update_when { WHEN_ANY, WHEN_PENDING };
enum update_who { WHO_OWNER, WHO_OPERATOR };

/* A name may be cut short to as many letters as `least` says, the alias not. */
struct job_key {
    const char *name;
    uint8_t least;
    const char *alias;
    enum update_when when;
    enum update_who who;
    int (*set)(struct update_job *update, const struct job_key *key);
    const char *member; /* of struct job, for the generic setters */
    bool unread;        /* kept, and nothing looks at it */
};

static void *member_of(struct update_job *update, const struct job_key *key) {
    return (char *) update->next + record_field(&record_job, key->member)->offset;
}

static int refuse(struct update_job *update, int code, const char *note) {
    update->note = note;
    return -code;
}

static int refuse_as(struct update_job *update, int code, const struct error *err) {
    return refuse(update, code, arena_strdup(&update->core->out->memory, err->text));
}

static int set_string(struct update_job *update, const struct job_key *key) {
    string_set(member_of(update, key), update->value[0] != '\0' ? update->value : NULL);
    return 0;
}

/* The two largest mean "unset" and "no limit". */
static bool read_u32(const struct update_job *update, uint32_t *ret) {
    uint64_t number;
    bool good = str_to_u64(update->value, &number) && number <= UINT32_MAX - 2;
    *ret = good ? (uint32_t) number : 0;
    return good;
}

static int set_u32(struct update_job *update, const struct job_key *key) {
    uint32_t number;
    if (!read_u32(update, &number))
        return -ERR_INVALID;
    *(uint32_t *) member_of(update, key) = number;
    return 0;
}

static int set_count(struct update_job *update, const struct job_key *key) {
    return str_equal(update->value, "0") ? -ERR_INVALID : set_u32(update, key);
}

static int set_bool(struct update_job *update, const struct job_key *key) {
    bool on = str_equal_nocase(update->value, "yes") || str_equal(update->value, "1");
    if (!on && !str_equal_nocase(update->value, "no") && !str_equal(update->value, "0"))
        return -ERR_INVALID;
    *(bool *) member_of(update, key) = on;
    return 0;
}

static int set_delay_boot(struct update_job *update, const struct job_key *key) {
    uint32_t minutes;
    if (minutes_parse(update->value, &minutes, NULL) < 0)
        return -ERR_INVALID;
    update->note = "is without effect in this release: nodes are not rebooted for their features";
    return 0;
}

static int set_cluster_features(struct update_job *update, const struct job_key *key) {
    return refuse(update, ERR_NOT_SUPPORTED, "only jobs of a federation of clusters have them");
}

static int set_requeue(struct update_job *update, const struct job_key *key) {
    uint64_t number;
    if (!str_to_u64(update->value, &number) || number > 1)
        return -ERR_INVALID;
    update->next->requeue = number == 1 ? TRI_YES : TRI_NO;
    return 0;
}

static int set_mail_type(struct update_job *update, const struct job_key *key) {
    return mail_types_parse(update->value, &update->next->mail_type) ? 0 : -ERR_INVALID;
}

/* Its owner may have it end earlier, operators when they like. */
static int set_end_time(struct update_job *update, const struct job_key *key) {
    int64_t old = update->next->end_time, end = 0;
    if (!job_has_nodes(update->job))
        return refuse(update, ERR_NOT_RUNNING,
                      "the job does not run yet; Deadline= bounds its end");
    if (timestamp_parse(update->value, update->core->now, false, &end, NULL) < 0)
        return -ERR_INVALID;
    if ((old == 0 || end <= old) || core_is_admin(update->core, update->user->uid)) {
        update->next->end_time = end;
        return 0;
    }
    return refuse(update, ERR_ACCESS_DENIED, "only operators may let a job run longer");
}

static int set_mem(struct update_job *update, const struct job_key *key) {
    uint64_t mib;
    if (mem_parse(update->value, &mib, NULL) < 0)
        return -ERR_INVALID;
    *(uint64_t *) member_of(update, key) = mib;
    if (str_equal(key->member, "mem_per_node"))
        update->next->mem_per_cpu = update->next->mem_per_gpu = UNSET64;
    else if (str_equal(key->member, "mem_per_cpu"))
        update->next->mem_per_node = update->next->mem_per_gpu = UNSET64;
    return 0;
}

static int set_time(struct update_job *update, const struct job_key *key) {
    int64_t *member = member_of(update, key);
    return timestamp_parse(update->value, update->core->now, false, member, NULL) < 0 ? -ERR_INVALID
                                                                                      : 0;
}

static int set_minutes(struct update_job *update, const struct job_key *key) {
    uint32_t minutes;
    if (minutes_parse(update->value, &minutes, NULL) < 0)
        return -ERR_INVALID;
    *(uint32_t *) member_of(update, key) = minutes;
    return 0;
}

/* The least of what the job's partitions allow. */
static uint32_t longest_allowed(struct core *core, const struct job *job) {
    uint32_t most = MINUTES_INFINITE;
    words_each (job->partition, ",", name) {
        const struct core_partition *part = partition_find(core, name, NULL);
        if (part != NULL)
            most = min_of(most, part->rec.max_time);
    }
    return most;
}

/* "=30", "+30", "-1:00:00". The owner may lower it always and raise it while the job waits, up to
 * what the partition allows. */
static int set_time_limit(struct update_job *update, const struct job_key *key) {
    const char *text = update->value;
    char sign = text[0] == '+' || (text[0] == '-' && !str_equal(text, "-1")) ? *text++ : '=';
    uint32_t minutes, old = update->next->time_limit;
    if (minutes_parse(text, &minutes, NULL) < 0)
        return -ERR_TIME_LIMIT;
    if (sign != '=' && (old == MINUTES_UNSET || old == MINUTES_INFINITE))
        return refuse(update, ERR_TIME_LIMIT, "the job has no limit to add to or take from");
    if (sign == '+' && minutes >= MINUTES_INFINITE - 1 - old)
        return -ERR_TIME_LIMIT;
    if (sign == '-' && minutes > old) /* would be 0, and end a running job at once */
        return refuse(update, ERR_TIME_LIMIT, "less than the whole limit can be taken from it");
    if (sign == '+')
        minutes = old + minutes;
    else if (sign == '-')
        minutes = old - minutes;
    bool raises = minutes > old || old == MINUTES_UNSET;
    bool within =
        job_is_pending(update->job) && minutes <= longest_allowed(update->core, update->next);
    if (raises && !within && !core_is_admin(update->core, update->user->uid))
        return refuse(update, ERR_ACCESS_DENIED,
                      "only operators may raise the limit of a running job, or above that of its "
                      "partition");
    update->next->time_limit = minutes;
    if (!job_is_pending(update->job))
        update->next->end_time =
            minutes == MINUTES_INFINITE ? 0 : update->next->start_time + (int64_t) minutes * 60;
    return 0;
}

/* Of a running job: which of its nodes it is to keep. */
static int set_kept(struct update_job *update,
                    int (*choose)(struct core *core, const struct core_job *job, const char *value,
                                  bool *kept, const char **ret_why)) {
    uint32_t n = update->job->rec.allocation.n;
    if (update->kept == NULL) {
        update->kept = arena_alloc(&update->core->out->memory, (n + 1) * sizeof(bool));
        for (uint32_t i = 0; i < n; i++)
            update->kept[i] = true;
    }
    int r = choose(update->core, update->job, update->value, update->kept, &update->note);
    bool any = false, all = true; /* of several keys together */
    for (uint32_t i = 0; i < n; i++) {
        any |= update->kept[i];
        all &= update->kept[i];
    }
    if (r == 0 && !all && update->core->settings.no_shrink)
        return refuse(update, ERR_NOT_SUPPORTED,
                      "SchedulerParameters=disable_job_shrink keeps running jobs as large as they "
                      "are");
    return r < 0 || any ? r : refuse(update, ERR_NODE_COUNT, "a job keeps at least one node");
}

static int set_nodes(struct update_job *update, const struct job_key *key) {
    char *end;
    if (!job_is_pending(update->job))
        return set_kept(update, resize_to_count);
    unsigned long low = strtoul(update->value, &end, 10), high = low;
    if (end == update->value || low == 0 || low > 1000000)
        return -ERR_NODE_COUNT;
    if (*end == '-')
        high = strtoul(end + 1, &end, 10);
    if (*end != '\0' || high < low || high > UINT32_MAX)
        return -ERR_NODE_COUNT;
    if (low > update->core->n_nodes)
        return refuse(update, ERR_NODE_COUNT, "the cluster has fewer nodes");
    update->next->min_nodes = (uint32_t) low;
    update->next->max_nodes = (uint32_t) high;
    return 0;
}

static int set_priority(struct update_job *update, const struct job_key *key) {
    uint32_t number;
    bool admin = core_is_admin(update->core, update->user->uid);
    if (!read_u32(update, &number))
        return -ERR_INVALID;
    if (update->next->priority == 0 && number != 0) /* one that runs: held when it is requeued */
        return refuse(update, ERR_JOB_HELD, "a held job is released, not prioritised");
    if (!admin && number > update->next->priority)
        return refuse(update, ERR_ACCESS_DENIED, "only operators may raise a priority");
    update->next->requested_priority = number == 0 ? UNSET32 : number;
    update->next->priority = number;
    if (number == 0 && job_is_pending(update->job))
        update->next->reason = admin ? REASON_HELD_ADMIN : REASON_HELD_USER;
    update->priority_changed = true;
    return 0;
}

static int set_nice(struct update_job *update, const struct job_key *key) {
    int64_t number = 100;
    if (update->value[0] != '\0' && !str_to_i64(update->value, &number))
        return -ERR_NICE;
    if (number < 0 && !core_is_admin(update->core, update->user->uid))
        return refuse(update, ERR_ACCESS_DENIED, "only operators may give a Nice below 0");
    if (number < -2147483645 || number > 2147483645)
        return -ERR_NICE;
    update->next->nice = (int32_t) number;
    return 0;
}

static int set_site_factor(struct update_job *update, const struct job_key *key) {
    int64_t number;
    if (!str_to_i64(update->value, &number) || number < -2147483645 || number > 2147483645)
        return -ERR_INVALID;
    update->next->site_factor = number;
    return 0;
}

static int set_throttle(struct update_job *update, const struct job_key *key) {
    if (update->next->array_job_id == 0)
        return refuse(update, ERR_INVALID_ARRAY, "the job is no array");
    return set_u32(update, key);
}

static int set_name_list(struct update_job *update, const struct job_key *key) {
    uint32_t *nodes;
    size_t n;
    struct error err = ERROR_INIT;
    if (update->value[0] != '\0' && nodes_resolve(update->core, update->value,
                                                  &update->core->out->memory, &nodes, &n, &err) < 0)
        return refuse_as(update, ERR_INVALID_NODE, &err);
    return set_string(update, key);
}

static int set_wckey(struct update_job *update, const struct job_key *key) {
    struct error err = ERROR_INIT;
    int r = set_string(update, key);
    if (r == 0 && job_take_wckey(update->core, update->next, &err) < 0)
        r = refuse_as(update, ERR_INVALID_WCKEY, &err);
    return r;
}

static int set_node_list(struct update_job *update, const struct job_key *key) {
    return job_is_pending(update->job) ? set_name_list(update, key)
                                       : set_kept(update, resize_to_list);
}

static int set_switches(struct update_job *update, const struct job_key *key) {
    return switches_update(update->core, update->next, update->value);
}

static int set_oversubscribe(struct update_job *update, const struct job_key *key) {
    uint32_t value;
    if (!names_value(&names_oversubscribe, update->value, &value))
        return -ERR_INVALID;
    update->next->oversubscribe = value;
    if (value == OVERSUB_YES) /* takes --exclusive back */
        update->next->exclusive = EXCLUSIVE_NO;
    return 0;
}

/* Dependency is applied to the job itself once everything else has been accepted. */
static int set_dependency(struct update_job *update, const struct job_key *key) {
    bool none = update->value[0] == '\0' || str_equal(update->value, "0");
    string_set(&update->next->dependency, none ? NULL : update->value);
    return 0;
}

/* For how long from now on its idle GPUs do not count. */
static int set_gpu_keep(struct update_job *update, const struct job_key *key) {
    uint32_t minutes;
    if (minutes_parse(update->value, &minutes, NULL) < 0 || minutes == MINUTES_UNSET)
        return -ERR_INVALID;
    if (!job_has_nodes(update->job))
        return refuse(update, ERR_JOB_PENDING, "the job holds no GPUs yet");
    if (!gpu_idle_matters(update->core, update->job))
        update->note = "changes nothing: no GPU of the job is taken back when it is idle";
    update->next->gpu_warned = 0;
    update->next->gpu_keep_until = minutes == 0 ? 0
                                   : minutes == MINUTES_INFINITE
                                       ? TIME_LATEST
                                       : update->core->now + (int64_t) minutes * 60;
    return 0;
}

static const struct job_key job_keys[] = {
    {"TimeLimit", 5, NULL, WHEN_ANY, WHO_OWNER, set_time_limit, NULL},
    {"TimeMin", 5, NULL, WHEN_PENDING, WHO_OWNER, set_minutes, "time_min"},
    {"Partition", 2, NULL, WHEN_PENDING, WHO_OWNER, set_string, "partition"},
    {"QOS", 2, NULL, WHEN_ANY, WHO_OWNER, set_string, "qos"},
    {"Account", 1, NULL, WHEN_PENDING, WHO_OWNER, set_string, "account"},
    {"ReservationName", 3, "Reservation", WHEN_PENDING, WHO_OWNER, set_string, "reservation"},
    {"NumNodes", 8, "ReqNodes", WHEN_ANY, WHO_OWNER, set_nodes, NULL},
    {"NumTasks", 8, NULL, WHEN_PENDING, WHO_OWNER, set_count, "ntasks"},
    {"NumCPUs", 6, "ReqProcs", WHEN_PENDING, WHO_OWNER, set_count, "ntasks"},
    {"MinCPUsNode", 4, NULL, WHEN_PENDING, WHO_OWNER, set_u32, "min_cpus_per_node"},
    {"CPUsPerTask", 9, NULL, WHEN_PENDING, WHO_OWNER, set_u32, "cpus_per_task"},
    {"TasksPerNode", 2, "NTasksPerNode", WHEN_PENDING, WHO_OWNER, set_u32, "ntasks_per_node"},
    {"MinMemoryNode", 10, NULL, WHEN_PENDING, WHO_OWNER, set_mem, "mem_per_node"},
    {"MinMemoryCPU", 10, NULL, WHEN_PENDING, WHO_OWNER, set_mem, "mem_per_cpu"},
    {"MinTmpDiskNode", 5, NULL, WHEN_PENDING, WHO_OWNER, set_mem, "tmp_disk"},
    {"Features", 1, NULL, WHEN_PENDING, WHO_OWNER, set_string, "features"},
    {"ClusterFeatures", 8, NULL, WHEN_PENDING, WHO_OWNER, set_cluster_features, NULL},
    {"Prefer", 6, NULL, WHEN_PENDING, WHO_OWNER, set_string, "prefer", .unread = true},
    {"Gres", 2, "TresPerNode", WHEN_PENDING, WHO_OWNER, set_string, "tres_per_node"},
    {"TresPerJob", 10, NULL, WHEN_PENDING, WHO_OWNER, set_string, "tres_per_job"},
    {"Licenses", 1, NULL, WHEN_PENDING, WHO_OWNER, set_string, "licenses"},
    {"ReqNodeList", 8, "NodeList", WHEN_ANY, WHO_OWNER, set_node_list, "req_nodes"},
    {"ExcNodeList", 3, NULL, WHEN_PENDING, WHO_OWNER, set_name_list, "exc_nodes"},
    {"Contiguous", 3, NULL, WHEN_PENDING, WHO_OWNER, set_bool, "contiguous"},
    {"OverSubscribe", 2, "Shared", WHEN_PENDING, WHO_OWNER, set_oversubscribe, NULL},
    {"ReqSockets", 4, NULL, WHEN_PENDING, WHO_OWNER, set_u32, "sockets_per_node"},
    {"ReqCores", 4, NULL, WHEN_PENDING, WHO_OWNER, set_u32, "cores_per_socket"},
    {"ReqThreads", 4, NULL, WHEN_PENDING, WHO_OWNER, set_u32, "threads_per_core"},
    {"Switches", 5, NULL, WHEN_PENDING, WHO_OWNER, set_switches, NULL},
    {"Dependency", 1, NULL, WHEN_PENDING, WHO_OWNER, set_dependency, NULL},
    {"StartTime", 2, "EligibleTime", WHEN_PENDING, WHO_OWNER, set_time, "begin_time"},
    {"DelayBoot", 1, NULL, WHEN_ANY, WHO_OWNER, set_delay_boot, NULL},
    {"Deadline", 1, NULL, WHEN_ANY, WHO_OWNER, set_time, "deadline"},
    {"EndTime", 2, NULL, WHEN_ANY, WHO_OWNER, set_end_time, NULL},
    {"Priority", 2, NULL, WHEN_ANY, WHO_OWNER, set_priority, NULL},
    {"Nice", 2, NULL, WHEN_ANY, WHO_OWNER, set_nice, NULL},
    {"SiteFactor", 5, NULL, WHEN_ANY, WHO_OPERATOR, set_site_factor, NULL},
    {"Comment", 3, NULL, WHEN_ANY, WHO_OWNER, set_string, "comment"},
    {"GpuKeep", 7, NULL, WHEN_ANY, WHO_OWNER, set_gpu_keep, NULL},
    {"Name", 2, "JobName", WHEN_ANY, WHO_OWNER, set_string, "name"},
    {"WCKey", 1, NULL, WHEN_ANY, WHO_OWNER, set_wckey, "wckey"},
    {"MailType", 5, NULL, WHEN_ANY, WHO_OWNER, set_mail_type, NULL},
    {"MailUser", 5, NULL, WHEN_ANY, WHO_OWNER, set_string, "mail_user"},
    {"StdIn", 2, NULL, WHEN_PENDING, WHO_OWNER, set_string, "std_in"},
    {"StdOut", 2, NULL, WHEN_PENDING, WHO_OWNER, set_string, "std_out"},
    {"StdErr", 2, NULL, WHEN_PENDING, WHO_OWNER, set_string, "std_err"},
    {"WorkDir", 1, NULL, WHEN_PENDING, WHO_OWNER, set_string, "work_dir"},
    {"Extra", 5, NULL, WHEN_ANY, WHO_OWNER, set_string, "extra"},
    {"AdminComment", 1, NULL, WHEN_ANY, WHO_OPERATOR, set_string, "admin_comment"},
    {"SystemComment", 13, NULL, WHEN_ANY, WHO_OPERATOR, set_string, "system_comment"},
    {"Requeue", 4, NULL, WHEN_ANY, WHO_OWNER, set_requeue, NULL},
    {"Reboot", 3, NULL, WHEN_PENDING, WHO_OWNER, set_bool, "reboot", .unread = true},
    {"ArrayTaskThrottle", 1, NULL, WHEN_ANY, WHO_OWNER, set_throttle, "array_limit"},
    {"BurstBuffer", 11, NULL, WHEN_PENDING, WHO_OWNER, set_string, "burst_buffer", .unread = true},
    {"MCSLabel", 8, NULL, WHEN_PENDING, WHO_OWNER, set_string, "mcs_label", .unread = true},
    {"CoreSpec", 4, NULL, WHEN_PENDING, WHO_OWNER, set_u32, "core_spec", .unread = true},
    {"ThreadSpec", 4, NULL, WHEN_PENDING, WHO_OWNER, set_u32, "thread_spec", .unread = true},
};

/* What is told where a value cannot be read. */
static const struct {
    int (*set)(struct update_job *update, const struct job_key *key);
    const char *takes;
} value_forms[] = {
    {set_u32, "a number"},
    {set_count, "a number of 1 or more"},
    {set_mail_type, "words of BEGIN, END, FAIL, REQUEUE, TIME_LIMIT, ARRAY_TASKS, ALL, NONE"},
    {set_end_time, "a time as 2027-01-31T08:00:00, 18:00 or now+2hours"},
    {set_bool, "yes or no"},
    {set_oversubscribe, "yes or no"},
    {set_requeue, "0 or 1"},
    {set_mem, "a size as 500M or 2G"},
    {set_time, "a time as 2027-01-31T08:00:00, 18:00 or now+2hours"},
    {set_minutes, "minutes, hours:minutes:seconds or days-hours"},
    {set_delay_boot, "minutes, hours:minutes:seconds or days-hours"},
    {set_gpu_keep, "minutes, hours:minutes:seconds or days-hours; 0 takes it back"},
    {set_time_limit, "minutes, hours:minutes:seconds or days-hours, after + or - a change of it"},
    {set_nodes, "a number of nodes as 2 or 2-4, from 1 to 1000000"},
    {set_priority, "a number from 0 to 4294967293"},
    {set_nice, "a number from -2147483645 to 2147483645"},
    {set_site_factor, "a number from -2147483645 to 2147483645"},
    {set_throttle, "how many tasks may run at a time, 0 for all of them"},
    {set_switches, "a number of switches and the longest wait for them as 1@30:00"},
};

/* The sentence about a key that was refused or needs a word; NULL when there is none. */
static const char *key_note(struct update_job *update, const struct job_key *key, bool refused) {
    const char *says = update->note;
    for (size_t i = 0; refused && says == NULL && i < countof(value_forms); i++) {
        if (value_forms[i].set == key->set)
            says = value_forms[i].takes;
    }
    if (says == NULL)
        return NULL;
    const char *verb = refused && update->note == NULL ? " is not understood: it takes "
                       : refused                       ? ": "
                                                       : " ";
    cleanup_free char *text = xasprintf("%s=%s%s%s", key->name, update->value, verb, says);
    return arena_strdup(&update->core->out->memory, text);
}

static const struct job_key *job_key_find(const char *name) {
    for (size_t i = 0; name != NULL && i < countof(job_keys); i++) {
        const struct job_key *key = &job_keys[i];
        if (str_abbreviates(name, strlen(name), key->name, key->least) ||
            (key->alias != NULL && str_equal_nocase(key->alias, name)))
            return key;
    }
    return NULL;
}

int update_keys_apply(struct update_job *update, const struct update *request,
                      const char **ret_detail) {
    for (uint32_t i = 0; i < request->changes.n; i++) {
        const struct key_value *change = &request->changes.items[i];
        const struct job_key *key = job_key_find(change->key);
        if (key == NULL) {
            *ret_detail = change->key;
            return -ERR_UPDATE_KEY;
        }
        int r = 0;
        update->value = change->value != NULL ? change->value : "";
        update->note = NULL;
        if (key->who == WHO_OPERATOR && !core_is_admin(update->core, update->user->uid))
            r = refuse(update, ERR_ACCESS_DENIED, "only operators may set it");
        else if (key->when == WHEN_PENDING && !job_is_pending(update->job))
            r = refuse(update, ERR_JOB_NOT_PENDING, "it can be changed while the job waits");
        else
            r = key->set(update, key);
        if (r == 0 && key->unread)
            update->note = "is kept, but without effect in this release";
        const char *note = key_note(update, key, r < 0);
        *ret_detail = note != NULL ? note : *ret_detail;
        if (r < 0)
            return r;
    }
    return 0;
}

bool update_is_throttle(const struct update *request) {
    for (uint32_t i = 0; i < request->changes.n; i++) {
        const struct job_key *key = job_key_find(request->changes.items[i].key);
        if (key == NULL || key->set != set_throttle)
            return false;
    }
    return true;
}
