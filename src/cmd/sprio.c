/* SPDX-License-Identifier: Apache-2.0 */
/* sprio: what the priorities of waiting jobs are made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/list.h"
#include "cli/list_jobs.h"
#include "cli/list_options.h"
#include "model/conf.h"

#define LAYOUT_LONG                                                                                \
    "%.15i %9r %.8u %.8o %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10n %.10Q %.11N %.20T"

struct settings {
    struct job_query query;
    const char *format, *sort, *clusters;
    bool long_form, no_header, normal, weights;
};

struct weights {
    uint64_t age, assoc, fairshare, size, partition, qos, accuracy;
    const char *tres;
    bool accrue_always; /* who may not start yet has a priority to show, too */
};

/* One line. A row of the weights has no job. */
struct row {
    const struct job *job;
    const struct weights *weights;
    const struct partition_priority *own; /* of this partition, for a job with several */
};

/* ---- columns ---- */
#define ROW ((const struct row *) data)
#define PRINT(name)                                                                                \
    static void name(const void *data, const void *member, struct column_env *env, struct str *out)
#define SORT(name)                                                                                 \
    static struct sort_value name(const void *data, const void *member,                            \
                                  const struct column_env *env)

PRINT(print_id) {
    if (ROW->job)
        str_append_u64(out, ROW->job->job_id);
    else
        str_append(out, "Weights");
}
SORT(sort_id) {
    return (struct sort_value) {ROW->job ? ROW->job->job_id : 0, NULL};
}
PRINT(print_partition) {
    str_append(out, ROW->job && ROW->job->partition ? ROW->job->partition : "");
}
SORT(sort_partition) {
    return sort_text(ROW->job ? ROW->job->partition : NULL);
}
PRINT(print_user) {
    str_append(out, ROW->job && ROW->job->user_name ? ROW->job->user_name : "");
}
SORT(sort_user) {
    return sort_text(ROW->job ? ROW->job->user_name : NULL);
}
PRINT(print_account) {
    str_append(out, ROW->job && ROW->job->account ? ROW->job->account : "");
}
PRINT(print_qos_name) {
    str_append(out, ROW->job && ROW->job->qos ? ROW->job->qos : "");
}
PRINT(print_cluster) {
    str_append(out, ROW->job ? env->cluster : "");
}
static uint32_t row_priority(const struct row *row) {
    return row->own ? row->own->priority : row->job ? row->job->priority : 0;
}
PRINT(print_priority) {
    if (ROW->job)
        str_append_u64(out, row_priority(ROW));
}
SORT(sort_priority) {
    return (struct sort_value) {row_priority(ROW), NULL};
}
PRINT(print_priority_normal) {
    if (ROW->job)
        str_printf(out, "%.14f", row_priority(ROW) / 4294967295.0);
}
PRINT(print_nice) {
    if (ROW->job)
        str_printf(out, "%d", ROW->job->nice);
}
PRINT(print_site) {
    str_printf(out, "%lld", ROW->job ? (long long) ROW->job->site_factor : 1ll);
}
static const char *row_tres(const struct row *row) {
    const char *tres = row->own   ? row->own->prio_tres
                       : row->job ? row->job->prio_tres
                                  : row->weights->tres;
    return tres ? tres : "";
}
PRINT(print_tres) {
    str_append(out, row_tres(ROW));
}
/* The weight of one resource in "CPU=1000,GRES/gpu=3000". */
static double tres_weight(const char *weights, const char *name, size_t length) {
    for (const char *at = weights; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncasecmp(at, name, length) == 0 && at[length] == '=')
            return strtod(at + length + 1, NULL);
    }
    return 0;
}
PRINT(print_tres_normal) {
    cleanup_free char *copy = xstrdup(row_tres(ROW));
    char *cursor = copy;
    for (char *item; ROW->job && (item = str_next_word(&cursor, ",")) != NULL;) {
        size_t length = strcspn(item, "=");
        double weight = tres_weight(ROW->weights->tres, item, length);
        str_printf(out, "%s%.*s=%.2f", out->length && item != copy ? "," : "", (int) length, item,
                   weight > 0 ? strtod(item + length + 1, NULL) / weight : 0);
    }
}

/* A factor: its weight in the row of weights, else the weighted value or the share that it is. */
static void factor_print(const struct row *row, uint64_t weight, uint64_t value, bool normal,
                         struct str *out) {
    if (!row->job)
        str_append_u64(out, weight);
    else if (normal)
        str_printf(out, "%.7f",
                   weight ? (double) value / (double) PRIORITY_SUM_ONE / (double) weight : 0.0);
    else
        str_append_u64(out, priority_rounded(value));
}

#define FACTOR(name, weight, value)                                                                \
    PRINT(print_##name) {                                                                          \
        factor_print(data, ROW->weights->weight, ROW->job ? value : 0, false, out);                \
    }                                                                                              \
    PRINT(print_##name##_normal) {                                                                 \
        factor_print(data, ROW->weights->weight, ROW->job ? value : 0, true, out);                 \
    }                                                                                              \
    SORT(sort_##name) {                                                                            \
        return (struct sort_value) {ROW->job ? value : 0, NULL};                                   \
    }
FACTOR(age, age, ROW->job->prio_age)
FACTOR(size, size, ROW->job->prio_size)
FACTOR(part, partition, ROW->own ? ROW->own->prio_partition : ROW->job->prio_partition)
FACTOR(assoc, assoc, ROW->job->prio_assoc)
FACTOR(fairshare, fairshare, ROW->job->prio_fairshare)
FACTOR(qos, qos, ROW->job->prio_qos)
FACTOR(accuracy, accuracy, ROW->job->prio_accuracy)

/* clang-format off */
static const struct column rows[] = {
    {'i', "JobID", "JOBID", "", print_id, sort_id, 0, 0},
    {'r', "Partition", "PARTITION", "", print_partition, sort_partition, 0, 0},
    {'u', "User", "USER", "", print_user, sort_user, 0, 0},
    {'o', "Account", "ACCOUNT", "", print_account, NULL, 0, 0},
    {'c', "Cluster", "CLUSTER", "", print_cluster, NULL, 0, 0},
    {'n', "QOSName", "QOSNAME", "", print_qos_name, NULL, 0, 0},
    {'Y', "Priority", "PRIORITY", "", print_priority, sort_priority, 0, 0},
    {'y', "PriorityNormal", "PRIORITY", "", print_priority_normal, sort_priority, 0, 0},
    {'S', "Site", "SITE", "", print_site, NULL, 0, 0},
    {'N', "Nice", "NICE", "", print_nice, NULL, 0, 0},
    {'A', "Age", "AGE", "", print_age, sort_age, 0, 0},
    {'a', "AgeNormal", "AGE", "", print_age_normal, sort_age, 0, 0},
    {'B', "Assoc", "ASSOC", "", print_assoc, sort_assoc, 0, 0},
    {'b', "AssocNormal", "ASSOC", "", print_assoc_normal, sort_assoc, 0, 0},
    {'F', "Fairshare", "FAIRSHARE", "", print_fairshare, sort_fairshare, 0, 0},
    {'f', "FairshareNormal", "FAIRSHARE", "", print_fairshare_normal, sort_fairshare, 0, 0},
    {'J', "JobSize", "JOBSIZE", "", print_size, sort_size, 0, 0},
    {'j', "JobSizeNormal", "JOBSIZE", "", print_size_normal, sort_size, 0, 0},
    {'P', "PartitionFactor", "PARTITION", "", print_part, sort_part, 0, 0},
    {'p', "PartitionNormal", "PARTITION", "", print_part_normal, sort_part, 0, 0},
    {'Q', "QOS", "QOS", "", print_qos, sort_qos, 0, 0},
    {'q', "QOSNormal", "QOS", "", print_qos_normal, sort_qos, 0, 0},
    {'H', "Accuracy", "ACCURACY", "", print_accuracy, sort_accuracy, 0, 0},
    {'h', "AccuracyNormal", "ACCURACY", "", print_accuracy_normal, sort_accuracy, 0, 0},
    {'T', "TRES", "TRES", "", print_tres, NULL, 0, 0},
    {'t', "TRESNormal", "TRES", "", print_tres_normal, NULL, 0, 0},
};
/* clang-format on */
static const struct column_table table = {NULL, rows, countof(rows), false};

/* ---- options ---- */
#define SET(name) static void name(void *data, const char *value)
#define SETTINGS ((struct settings *) data)
#define AT(member) offsetof(struct settings, member)

SET(set_jobs) {
    strs_split(&SETTINGS->query.ids, value ? value : "");
    for (uint32_t i = 0; i < SETTINGS->query.ids.n; i++) {
        if (!job_id_is_valid(SETTINGS->query.ids.items[i]))
            list_fail("Invalid job id: %s", SETTINGS->query.ids.items[i]);
    }
}

/* clang-format off */
static const struct list_option option_rows[] = {
    {"federation", 0, LIST_ARG_NONE, "SPRIO_FEDERATION", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"noheader", 'h', LIST_ARG_NONE, NULL, list_set_true, NULL, "no headers on output",
        AT(no_header)},
    {"jobs", 'j', LIST_ARG_NEXT_WORD, NULL, set_jobs, "job(s)",
        "comma separated list of jobs to view"},
    {"local", 0, LIST_ARG_NONE, "SPRIO_LOCAL", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"long", 'l', LIST_ARG_NONE, NULL, list_set_true, NULL, "every factor", AT(long_form)},
    {"cluster", 'M', LIST_ARG_REQUIRED, "SLURM_CLUSTERS", list_set_text, "cluster_name",
        "the cluster to ask", AT(clusters)},
    {"norm", 'n', LIST_ARG_NONE, NULL, list_set_true, NULL, "factors between 0 and 1", AT(normal)},
    {"format", 'o', LIST_ARG_REQUIRED, "SPRIO_FORMAT", list_set_text, "format",
        "format specification", AT(format)},
    {"partition", 'p', LIST_ARG_REQUIRED, NULL, list_add_words, "partition(s)",
        "comma separated list of partitions to view", AT(query.partitions)},
    {"sibling", 0, LIST_ARG_NONE, "SPRIO_SIBLING", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"sort", 'S', LIST_ARG_REQUIRED, NULL, list_set_text, "fields",
        "comma separated list of fields to sort on", AT(sort)},
    {"user", 'u', LIST_ARG_REQUIRED, NULL, list_add_words, "user(s)",
        "comma separated list of users to view", AT(query.users)},
    {"verbose", 'v', LIST_ARG_NONE, NULL, NULL, NULL, "verbosity level"},
    {"weights", 'w', LIST_ARG_NONE, NULL, list_set_true, NULL, "the weight of each factor",
        AT(weights)},
};
/* clang-format on */
static const struct list_options options = {
    option_rows, countof(option_rows),
    "sprio [-j jid[s]] [-u user_name[s]] [-o format] [-p partitions]\n"
    "   [--federation] [--local] [--sibling] [--usage] [-hlnvVw]"};

/* ---- what the controller says ---- */
static uint64_t weight_of(const struct config_list *config, const char *key) {
    const char *value = config_value(config, key);
    uint64_t weight = 0;
    if (value)
        str_to_u64(value, &weight);
    return weight;
}

static void weights_load(struct list_session *session, struct weights *ret) {
    const struct config_list *config;
    struct error err = ERROR_INIT;
    struct empty empty = {false};
    if (list_ask(session, MSG_LIST_CONFIG, &empty, MSG_CONFIG_LIST, (const void **) &config, &err) <
        0) {
        list_load_error("slurm_load_ctl_conf error", &err);
        exit(1);
    }
    const char *type = config_value(config, "PriorityType");
    if (!str_equal_nocase(type, "priority/multifactor")) {
        fprintf(stderr,
                "You are not running a supported priority plugin\n(%s).\n"
                "Only 'priority/multifactor' is supported.\n",
                type ? type : "priority/basic");
        exit(1);
    }
    *ret = (struct weights) {
        .age = weight_of(config, "PriorityWeightAge"),
        .assoc = weight_of(config, "PriorityWeightAssoc"),
        .fairshare = weight_of(config, "PriorityWeightFairShare"),
        .size = weight_of(config, "PriorityWeightJobSize"),
        .partition = weight_of(config, "PriorityWeightPartition"),
        .qos = weight_of(config, "PriorityWeightQOS"),
        .accuracy = weight_of(config, "PriorityWeightAccuracy"),
        .tres = config_value(config, "PriorityWeightTRES"),
    };
    if (str_equal(ret->tres, "(null)"))
        ret->tres = NULL;
    const char *flags = config_value(config, "PriorityFlags");
    ret->accrue_always = flags && str_has_word_nocase(flags, "ACCRUE_ALWAYS", ",");
}

/* The columns of factors that count, unless all are asked for. */
static void layout_choose(const struct settings *settings, const struct weights *weights,
                          struct str *out) {
    const struct {
        char letter, normal;
        bool counts;
    } factors[] = {{'A', 'a', weights->age},       {'B', 'b', weights->assoc},
                   {'F', 'f', weights->fairshare}, {'J', 'j', weights->size},
                   {'P', 'p', weights->partition}, {'Q', 'q', weights->qos},
                   {'H', 'h', weights->accuracy}};
    str_append(out, "%.15i %9r");
    if (settings->query.users.n && !settings->weights)
        str_append(out, " %.8u");
    if (settings->normal)
        str_append(out, " %10y");
    else
        str_append(out, " %.10Y %.10S");
    for (size_t i = 0; i < countof(factors); i++) {
        if (factors[i].counts)
            str_printf(out, settings->normal ? " %%10%c" : " %%.10%c",
                       settings->normal ? factors[i].normal : factors[i].letter);
    }
    if (weights->tres)
        str_append(out, settings->normal ? " %20t" : " %.20T");
}

static const struct partition_priority *own_priority(const struct job *job) {
    for (uint32_t i = 0; i < job->priorities.n; i++) {
        if (str_equal(job->priorities.items[i].partition, job->partition))
            return &job->priorities.items[i];
    }
    return NULL;
}

/* A job that waits for its time or for another job is in no queue that priorities order. */
static bool job_is_queued(const struct job *job, const struct weights *weights) {
    return weights->accrue_always ||
           (job->eligible_time > 0 && job->eligible_time <= (int64_t) time(NULL));
}

/* Held jobs have no priority to take apart. */
static void rows_choose(const struct settings *settings, const struct weights *weights,
                        struct rows *jobs, struct arena *arena) {
    const struct job_query by_partition = {.per_partition = true};
    size_t n = 0;
    rows_unfold(jobs, &by_partition, arena);
    job_query_choose(&settings->query, NULL, jobs);
    for (size_t i = 0; i < jobs->n; i++) {
        const struct job *job = jobs->items[i];
        if (job->state != JOB_PENDING || job->priority == 0 || !job_is_queued(job, weights))
            continue;
        struct row *row = arena_alloc(arena, sizeof(*row));
        *row = (struct row) {job, weights, own_priority(job)};
        jobs->items[n++] = row;
    }
    jobs->n = n;
}

static int jobs_load(struct list_session *session, const struct settings *settings,
                     struct rows *jobs) {
    struct list_request request;
    struct error err = ERROR_INIT;
    if (settings->query.by_user && settings->query.uids.n == 0)
        return 0;
    job_query_request(&settings->query, NULL, &request);
    request.states = 1u << JOB_PENDING;
    if (list_jobs(session, &request, jobs, &err) < 0 && err.code != -ERR_INVALID_JOB_ID) {
        list_load_error("slurm_load_jobs error", &err);
        return 1;
    }
    return 0;
}

static int show(struct list_session *session, const struct settings *settings,
                const struct weights *weights, struct column_env *env) {
    struct format format cleanup_format = FORMAT_INIT;
    struct str layout cleanup_str = STR_INIT, unknown cleanup_str = STR_INIT,
                      out cleanup_str = STR_INIT;
    struct sort_spec sort = {.n = 0};
    struct error err = ERROR_INIT;
    struct rows jobs = {NULL, 0, 0};
    struct row only_weights = {NULL, weights, NULL};
    struct arena arena;
    layout_choose(settings, weights, &layout);
    const char *chosen = settings->format      ? settings->format
                         : settings->long_form ? LAYOUT_LONG
                                               : str_cstr(&layout);
    format_parse_letters(&format, &table, chosen, &unknown);
    if (settings->sort && sort_parse(&sort, &table, settings->sort, &err) < 0)
        list_fail("%s", err.text);
    arena_init(&arena, 0);
    int status = 0;
    if (settings->weights) {
        rows_push(&jobs, &only_weights);
    } else {
        status = jobs_load(session, settings, &jobs);
        rows_choose(settings, weights, &jobs, &arena);
        rows_sort(&sort, jobs.items, jobs.n, env);
    }
    bool none = status == 0 && !settings->weights && settings->query.ids.n > 0 && jobs.n == 0;
    if (none)
        str_append(&out, "Unable to find jobs matching user/id(s) specified\n");
    else if (status == 0 && !settings->no_header)
        format_header(&format, &out);
    rows_print(&jobs, &format, env, &out);
    list_output_all(&out);
    rows_done(&jobs);
    arena_done(&arena);
    return status;
}

int main(int argc, char **argv) {
    struct settings settings = {.query = {.states = {.states = 1u << JOB_PENDING}, .all = true}};
    struct list_session session;
    struct weights weights;
    struct column_env env;
    struct str unknown cleanup_str = STR_INIT;
    int first = list_options_parse(&options, argc, argv, &settings);
    if (first < argc)
        list_fail("Unrecognized option: %s", argv[first]);
    job_query_users(&settings.query, &unknown);
    if (unknown.length) {
        unknown.data[strcspn(unknown.data, "\n")] = '\0';
        list_fail("Invalid user: %s", unknown.data);
    }
    list_session_init(&session, "sprio");
    if (settings.clusters)
        list_clusters_check(&session, settings.clusters);
    list_env_init(&env, list_session_conf(&session)->cluster_name);
    weights_load(&session, &weights);
    int status = show(&session, &settings, &weights, &env);
    list_session_close(&session);
    job_query_done(&settings.query);
    return status;
}
