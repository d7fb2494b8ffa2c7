/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol show. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/json_dump.h"
#include "cli/list_jobs.h"
#include "cli/scontrol.h"
#include "model/conf.h"
#include "text/hostlist.h"
#include "text/tres.h"

static int load_failed(struct scontrol *scontrol, const char *what, const struct error *err) {
    if (!scontrol->quiet)
        list_load_error(what, err);
    return 1;
}

static void request_all(struct scontrol *scontrol, struct list_request *request) {
    record_init(&record_list_request, request);
    request->all = scontrol->all;
    request->detail = scontrol->show.details;
}

/* ---- jobs ---- */
static void jobs_print(struct scontrol *scontrol, const struct rows *rows) {
    if (scontrol->json) {
        json_dump_jobs(rows, scontrol->json, scontrol->argc, scontrol->argv, &scontrol->env,
                       &scontrol->out);
        return;
    }
    for (size_t i = 0; i < rows->n; i++) {
        show_job(rows->items[i], &scontrol->show, &scontrol->out);
        list_output(&scontrol->out);
    }
}

static int show_jobs(struct scontrol *scontrol, const char *id) {
    struct job_query query = {.states = {.all = true}, .all = scontrol->all};
    struct list_request request;
    struct rows rows = {NULL, 0, 0};
    struct arena arena;
    struct error err = ERROR_INIT;
    if (id && !job_id_is_valid(id)) {
        fprintf(stderr, "scontrol_print_job error: %s\n", error_text(ERR_INVALID_JOB_ID));
        return 1;
    }
    if (id)
        strs_push(&query.ids, id);
    arena_init(&arena, 0);
    job_query_request(&query, NULL, &request);
    request.all = scontrol->all;
    request.detail = scontrol->show.details;
    int status = 0;
    int result = list_jobs(&scontrol->session, &request, &rows, &err);
    if (result < 0 && err.code != -ERR_INVALID_JOB_ID) {
        status = load_failed(scontrol, "slurm_load_jobs error", &err);
    } else if (id && rows.n == 0 && !list_job_exists(&scontrol->session, id)) {
        err.code = -ERR_INVALID_JOB_ID;
        status = load_failed(scontrol, "slurm_load_jobs error", &err);
    } else {
        job_query_choose(&query, NULL, &rows);
        rows_unfold(&rows, &query, &arena);
        jobs_print(scontrol, &rows);
        if (rows.n == 0 && !scontrol->json && id) {
            str_printf(&scontrol->out, "Job %s not found\n", id);
            status = 1;
        } else if (rows.n == 0 && !scontrol->json && !scontrol->quiet) {
            str_append(&scontrol->out, "No jobs in the system\n");
        }
    }
    rows_done(&rows);
    arena_done(&arena);
    job_query_done(&query);
    return status;
}

/* ---- steps ---- */
static int show_steps(struct scontrol *scontrol, const char *id) {
    struct job_query query = {.states = {.all = true}, .all = scontrol->all};
    struct list_request request;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    if (id)
        strs_push(&query.ids, id);
    request_all(scontrol, &request);
    request.job_ids = query.ids;
    int status = 0;
    if (list_steps(&scontrol->session, &request, &rows, &err) < 0) {
        status = load_failed(scontrol, "slurm_get_job_steps error", &err);
        rows.n = 0;
    }
    size_t n = 0;
    for (size_t i = 0; i < rows.n; i++) {
        if (job_query_match_step(&query, rows.items[i], NULL))
            rows.items[n++] = rows.items[i];
    }
    rows.n = n;
    if (status == 0 && scontrol->json) {
        json_dump_steps(&rows, scontrol->json, scontrol->argc, scontrol->argv, &scontrol->env,
                        &scontrol->out);
    } else if (status == 0) {
        for (size_t i = 0; i < n; i++) {
            show_step(rows.items[i], &scontrol->show, &scontrol->out);
            list_output(&scontrol->out);
        }
        if (n == 0 && id && !list_job_exists(&scontrol->session, id)) {
            err.code = -ERR_INVALID_JOB_ID;
            status = load_failed(scontrol, "slurm_get_job_steps error", &err);
        } else if (n == 0 && id) {
            str_printf(&scontrol->out, "Job step %s not found\n", id);
            status = 1;
        } else if (n == 0 && !scontrol->quiet) {
            str_append(&scontrol->out, "No job steps in the system\n");
        }
    }
    rows_done(&rows);
    job_query_done(&query);
    return status;
}

/* ---- nodes ---- */
static const struct node *node_find(const struct rows *rows, const char *name) {
    const struct node *found = rows_find_node(rows, name);
    for (size_t i = 0; !found && i < rows->n; i++) {
        const struct node *node = rows->items[i];
        if (str_equal(node->hostname, name))
            found = node;
    }
    return found;
}

/* Keeps the named nodes, in the order of their names; complains of those that are not there. */
static int nodes_choose(struct rows *rows, const char *names, struct str *missing) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    struct rows chosen = {NULL, 0, 0};
    int status = 0;
    if (hostlist_parse(&list, names, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < list.n; i++) {
        const struct node *node = node_find(rows, list.names[i]);
        if (node) {
            rows_push(&chosen, node);
        } else {
            str_printf(missing, "Node %s not found\n", list.names[i]);
            status = 1;
        }
    }
    rows_done(rows);
    *rows = chosen;
    return status;
}

static int show_nodes(struct scontrol *scontrol, const char *names) {
    struct list_request request;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    struct str missing cleanup_str = STR_INIT;
    int status = 0;
    request_all(scontrol, &request);
    if (list_nodes(&scontrol->session, &request, &rows, &err) < 0) {
        status = load_failed(scontrol, "slurm_load_node error", &err);
    } else {
        if (names)
            status = nodes_choose(&rows, names, &missing);
        if (scontrol->json)
            json_dump_nodes(&rows, scontrol->json, scontrol->argc, scontrol->argv, &scontrol->env,
                            &scontrol->out);
        for (size_t i = 0; !scontrol->json && i < rows.n; i++) {
            const struct node *node = rows.items[i];
            if (node->state == NODE_FUTURE && !names && !scontrol->future)
                continue;
            show_node(node, &scontrol->show, &scontrol->out);
            list_output(&scontrol->out);
        }
        str_append(&scontrol->out, str_cstr(&missing));
    }
    rows_done(&rows);
    return status;
}

/* ---- partitions ---- */
static int show_partitions(struct scontrol *scontrol, const char *name) {
    struct list_request request;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    int status = 0;
    request_all(scontrol, &request);
    request.all = scontrol->all || name;
    if (list_partitions(&scontrol->session, &request, &rows, &err) < 0) {
        rows_done(&rows);
        return load_failed(scontrol, "slurm_load_partitions error", &err);
    }
    size_t n = 0;
    for (size_t i = 0; i < rows.n; i++) {
        const struct partition *partition = rows.items[i];
        bool visible = scontrol->all || list_groups_allow(partition->allow_groups);
        if (visible &&
            (name ? str_equal(partition->name, name) : !partition->hidden || scontrol->all))
            rows.items[n++] = partition;
    }
    rows.n = n;
    if (scontrol->json)
        json_dump_partitions(&rows, scontrol->json, scontrol->argc, scontrol->argv, &scontrol->env,
                             &scontrol->out);
    for (size_t i = 0; !scontrol->json && i < n; i++)
        show_partition(rows.items[i], &scontrol->show, &scontrol->out);
    if (n == 0 && name) {
        str_printf(&scontrol->out, "Partition %s not found\n", name);
        status = 1;
    }
    rows_done(&rows);
    return status;
}

/* ---- configuration ---- */
static int show_config(struct scontrol *scontrol, const char *id) {
    const struct config_list *list;
    struct error err = ERROR_INIT;
    struct empty empty = {false};
    if (list_ask(&scontrol->session, MSG_LIST_CONFIG, &empty, MSG_CONFIG_LIST,
                 (const void **) &list, &err) < 0)
        return load_failed(scontrol, "slurm_load_ctl_conf error", &err);
    /* Rows without a key are lines as they stand: titles and the blanks between sections. */
    for (uint32_t i = 0; i < list->items.n; i++) {
        const struct key_value *item = &list->items.items[i];
        const char *value = item->value ? item->value : "(null)";
        if (item->key && *item->key)
            str_printf(&scontrol->out, "%-23s = %s\n", item->key, value);
        else
            str_printf(&scontrol->out, "%s\n", value);
    }
    return scontrol_ping(scontrol, 0, NULL);
}

int scontrol_ping(struct scontrol *scontrol, int argc, char **argv) {
    const struct ping_reply *reply;
    struct error err = ERROR_INIT;
    struct empty empty = {false};
    int result = list_ask(&scontrol->session, MSG_PING, &empty, MSG_PING_REPLY,
                          (const void **) &reply, &err);
    bool up = result == 0;
    const struct conf_names *hosts = &list_session_conf(&scontrol->session)->slurmctld_host;
    const char *named = up ? reply->host : hosts->n ? hosts->items[0] : NULL;
    char own[256] = "";
    gethostname(own, sizeof(own) - 1);
    cleanup_free char *host = xstrdup(!named || str_starts(named, "localhost") ? own : named);
    host[strcspn(host, "(.")] = '\0';
    const char *mode = up && reply->mode ? reply->mode : "primary";
    if (scontrol->json) {
        struct json_dump dump;
        json_dump_begin(&dump, scontrol->json, scontrol->argc, scontrol->argv, &scontrol->env,
                        &scontrol->out);
        json_array(&dump.json, "pings");
        json_object(&dump.json, NULL);
        json_text(&dump.json, "hostname", host);
        json_text(&dump.json, "pinged", up ? "UP" : "DOWN");
        json_bool(&dump.json, "responding", up);
        json_signed(&dump.json, "latency", 0);
        json_text(&dump.json, "mode", mode);
        json_bool(&dump.json, "primary", str_equal(mode, "primary"));
        json_end(&dump.json);
        json_end(&dump.json);
        json_dump_end(&dump);
    } else {
        str_printf(&scontrol->out, "Slurmctld(%s) at %s is %s\n", mode, host, up ? "UP" : "DOWN");
        if (!up && !scontrol->quiet)
            list_why_note(&err);
    }
    return up ? 0 : 1;
}

/* ---- host lists; these need no controller ---- */

/* Text of a file of names, or NULL. A path begins with '/'; "-" is stdin. */
static char *names_read(const char *path) {
    FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
    struct str text = STR_INIT;
    char piece[4096];
    size_t n;
    if (!file)
        return NULL;
    while (text.length < CONF_FILE_MAX && (n = fread(piece, 1, sizeof(piece), file)) > 0)
        str_append_bytes(&text, piece, n);
    if (file != stdin)
        fclose(file);
    for (size_t i = 0; i < text.length; i++) {
        if (isspace((unsigned char) text.data[i]))
            text.data[i] = ',';
    }
    return str_take(&text);
}

static int hostlist_get(const char *id, struct hostlist *ret) {
    struct error err = ERROR_INIT;
    cleanup_free char *file = NULL;
    if (!id)
        id = getenv("SLURM_JOB_NODELIST");
    if (!id)
        id = getenv("SLURM_NODELIST");
    if (!id) {
        list_error("host list is empty"); /* which has never been a failure */
        return 0;
    }
    if (*id == '/' || !strcmp(id, "-")) {
        file = names_read(id);
        if (!file) {
            list_error("Can not read %s", id);
            return 1;
        }
        id = file;
    }
    if (hostlist_parse(ret, id, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    return 0;
}

static int show_hostnames(struct scontrol *scontrol, const char *id) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    int status = hostlist_get(id, &list);
    for (size_t i = 0; i < list.n; i++) {
        str_append(&scontrol->out, list.names[i]);
        str_append_char(&scontrol->out, '\n');
        list_output(&scontrol->out);
    }
    return status;
}

static int hostlist_show(struct scontrol *scontrol, const char *id, bool sorted) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    int status = hostlist_get(id, &list);
    if (status || list.n == 0)
        return status;
    if (sorted)
        hostlist_sort(&list);
    hostlist_fold(&list, &scontrol->out);
    str_append_char(&scontrol->out, '\n');
    return 0;
}

static int show_hostlist(struct scontrol *scontrol, const char *id) {
    return hostlist_show(scontrol, id, false);
}

static int show_hostlist_sorted(struct scontrol *scontrol, const char *id) {
    return hostlist_show(scontrol, id, true);
}

/* ---- small ones ---- */
/* How many of a license running jobs hold: their requests say name[:count]. */
static uint64_t license_use(const struct rows *jobs, const char *name) {
    uint64_t used = 0;
    for (size_t i = 0; i < jobs->n; i++) {
        const struct job *job = jobs->items[i];
        cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
        if (!job->licenses || licenses_parse(job->licenses, &list, NULL) < 0)
            continue;
        vec_each (&list, license) {
            if (str_equal(license->name, name))
                used += license->count;
        }
    }
    return used;
}

/* What reservations that are active keep of a license. */
static uint64_t license_reserved(struct scontrol *scontrol, const struct rows *reservations,
                                 const char *name) {
    uint64_t reserved = 0;
    for (size_t i = 0; i < reservations->n; i++) {
        const struct reservation *r = reservations->items[i];
        cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
        if (!reservation_is_active(r, scontrol->env.now) || !r->licenses ||
            licenses_parse(r->licenses, &list, NULL) < 0)
            continue;
        vec_each (&list, license) {
            if (str_equal(license->name, name))
                reserved += license->count;
        }
    }
    return reserved;
}

static void license_print(struct scontrol *scontrol, const char *name, uint64_t total,
                          const struct rows *jobs, const struct rows *reservations) {
    uint64_t used = license_use(jobs, name);
    str_printf(&scontrol->out, "LicenseName=%s", name);
    str_append(&scontrol->out, scontrol->show.oneline ? " " : "\n    ");
    str_printf(&scontrol->out, "Total=%llu Used=%llu Free=%llu Reserved=%llu Remote=no\n",
               (unsigned long long) total, (unsigned long long) used,
               (unsigned long long) (total > used ? total - used : 0),
               (unsigned long long) license_reserved(scontrol, reservations, name));
}

static int license_order(const void *a, const void *b) {
    const struct gres_item *first = a, *second = b;
    return strcmp(first->name, second->name);
}

static int show_licenses(struct scontrol *scontrol, const char *id) {
    const struct config_list *list;
    struct list_request request;
    struct field_mask mask = {{0}};
    struct list_request all;
    struct rows jobs = {NULL, 0, 0}, reservations = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    struct empty empty = {false};
    record_init(&record_list_request, &all);
    request_all(scontrol, &request);
    request.states = 1u << JOB_RUNNING | 1u << JOB_SUSPENDED;
    field_mask_add(&mask, record_field(&record_job, "licenses")->number);
    request.fields = (struct blob) {(uint8_t *) &mask, sizeof(mask)};
    if (list_ask(&scontrol->session, MSG_LIST_CONFIG, &empty, MSG_CONFIG_LIST,
                 (const void **) &list, &err) < 0 ||
        list_jobs(&scontrol->session, &request, &jobs, &err) < 0 ||
        list_reservations(&scontrol->session, &all, &reservations, &err) < 0) {
        rows_done(&jobs);
        rows_done(&reservations);
        return load_failed(scontrol, "slurm_load_licenses error", &err);
    }
    const char *text = config_value(list, "Licenses");
    cleanup_gres_list struct gres_list totals = GRES_LIST_INIT;
    if (!text || str_equal(text, "(null)") || licenses_parse(text, &totals, NULL) < 0)
        text = NULL;
    bool any = totals.n > 0, found = false;
    if (any)
        qsort(totals.items, totals.n, sizeof(*totals.items), license_order);
    vec_each (&totals, license) {
        if (id && !str_equal(id, license->name))
            continue;
        found = true;
        license_print(scontrol, license->name, license->count, &jobs, &reservations);
    }
    rows_done(&jobs);
    rows_done(&reservations);
    if (!any)
        str_append(&scontrol->out, "No licenses configured in Slurm.\n");
    else if (!found)
        fprintf(stderr, "License %s not found\n", id);
    return any && !found;
}

static void switch_print(const struct switch_item *item, struct str *out) {
    str_printf(out, "SwitchName=%s Level=%u LinkSpeed=%u", item->name, item->level,
               item->link_speed);
    if (item->nodes && *item->nodes)
        str_printf(out, " Nodes=%s", item->nodes);
    if (item->switches && *item->switches)
        str_printf(out, " Switches=%s", item->switches);
    str_append_char(out, '\n');
}

/* All switches, the one of that name, or those above the node of that name. */
static int show_topology(struct scontrol *scontrol, const char *id) {
    const struct topology_list *list;
    struct error err = ERROR_INIT;
    struct empty empty = {false};
    struct hostlist wanted cleanup_hostlist = HOSTLIST_INIT;
    bool any = false, is_switch = false;
    if (list_ask(&scontrol->session, MSG_LIST_TOPOLOGY, &empty, MSG_TOPOLOGY_LIST,
                 (const void **) &list, &err) < 0)
        return load_failed(scontrol, "slurm_load_topo error", &err);
    if (list->items.n == 0) {
        list_error("No topology information available");
        return 1;
    }
    for (uint32_t i = 0; i < list->items.n; i++)
        is_switch = is_switch || str_equal(list->items.items[i].name, id);
    if (id)
        hostlist_push(&wanted, id);
    for (uint32_t i = 0; i < list->items.n; i++) {
        const struct switch_item *item = &list->items.items[i];
        if (id && !(is_switch ? str_equal(item->name, id) : list_nodes_match(item->nodes, &wanted)))
            continue;
        switch_print(item, &scontrol->out);
        any = true;
    }
    if (!any)
        list_error("Topology information contains no switch or node named %s", id);
    return 0; /* also when there is none, as scripts know it */
}

static int show_federation(struct scontrol *scontrol, const char *id) {
    return 0; /* there is none, and the command has always said nothing then */
}

/* Which daemons belong on this host. */
static int show_daemons(struct scontrol *scontrol, const char *id) {
    str_append(&scontrol->out, "slurmctld slurmd \n");
    return 0;
}

int scontrol_completing(struct scontrol *scontrol, int argc, char **argv) {
    struct list_request request;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    request_all(scontrol, &request);
    request.flags = JOB_FLAG_COMPLETING;
    if (list_jobs(&scontrol->session, &request, &rows, &err) < 0) {
        rows_done(&rows);
        return load_failed(scontrol, "slurm_load_jobs error", &err);
    }
    for (size_t i = 0; i < rows.n; i++) {
        const struct job *job = rows.items[i];
        if (!(job->flags & JOB_FLAG_COMPLETING))
            continue;
        str_printf(&scontrol->out, "JobId=%u EndTime=", job->job_id);
        column_time_print(job->end_time, "Unknown", &scontrol->env, &scontrol->out);
        int64_t since = scontrol->env.now - job->end_time;
        str_printf(&scontrol->out, " CompletingTime=%02lld:%02lld:%02lld Nodes(COMPLETING)=%s\n",
                   (long long) since / 3600, (long long) since / 60 % 60, (long long) since % 60,
                   job->nodes_completing ? job->nodes_completing : "");
    }
    rows_done(&rows);
    return 0;
}

/* ---- which entity ---- */
static const struct {
    const char *name;
    int (*show)(struct scontrol *scontrol, const char *id);
    bool empty_counts; /* "" is a value, not the lack of one */
} entities[] = {
    {"jobs", show_jobs},
    {"jobid", show_jobs},
    {"nodes", show_nodes},
    {"nodename", show_nodes},
    {"partitions", show_partitions},
    {"partitionname", show_partitions},
    {"steps", show_steps},
    {"stepid", show_steps},
    {"config", show_config},
    {"hostnames", show_hostnames, true},
    {"hostlist", show_hostlist, true},
    {"hostlistsorted", show_hostlist_sorted, true},
    {"reservations", scontrol_show_reservations},
    {"reservationname", scontrol_show_reservations},
    {"licenses", show_licenses},
    {"topology", show_topology},
    {"topoconf", show_topology},
    {"federation", show_federation},
    {"burstbuffer", show_federation},
    {"bbstat", show_federation},
    {"dwstat", show_federation},
    {"daemons", show_daemons},
};

/* The one that takes several words; also by the name that it had first. */
static bool is_assoc_mgr(const char *entity) {
    return strlen(entity) > 1 &&
           (str_starts_nocase("assoc_mgr", entity) || str_starts_nocase("cache", entity));
}

int scontrol_show(struct scontrol *scontrol, int argc, char **argv) {
    if (argc < 1) {
        fputs("too few arguments for keyword:show\n", stderr);
        return 1;
    }
    cleanup_free char *entity = xstrdup(argv[0]);
    char *equals = strchr(entity, '=');
    if (!equals && is_assoc_mgr(entity))
        return scontrol_show_assoc_mgr(scontrol, argc - 1, argv + 1);
    const char *id = argc > 1 ? argv[1] : NULL;
    if (equals) {
        *equals = '\0';
        id = equals + 1;
    }
    if (argc > (equals ? 1 : 2)) {
        fputs("too many arguments for keyword:show\n", stderr);
        return 1;
    }
    for (size_t i = 0; *entity && i < countof(entities); i++) {
        if (str_starts_nocase(entities[i].name, entity))
            return entities[i].show(scontrol, id && !*id && !entities[i].empty_counts ? NULL : id);
    }
    fprintf(stderr, "invalid entity:%s for keyword:show \n", entity);
    return 1;
}
