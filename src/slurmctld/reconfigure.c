/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration in the controller: reading, taking over while running, listing. */
#include <string.h>

#include "os/conf_file.h"
#include "slurmctld/filter.h"
#include "text/timestamp.h"

int ctld_load_conf(struct ctld *ctld, struct conf **ret, struct conf_report *report,
                   struct error *err) {
    const struct conf_source source = {conf_file_read, NULL};
    return conf_load(&source, ctld->conf_path, CONF_SLURMCTLD, ret, report, err);
}

static void log_report(const struct conf_report *report) {
    for (size_t i = 0; i < report->n; i++) {
        struct str line cleanup_str = STR_INIT;
        conf_finding_print(&report->items[i], &line);
        log_at(report->items[i].severity == CONF_SEVERITY_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO,
               "%s", str_cstr(&line));
    }
}

/* Node numbers may move with the configuration: a standing connection belongs to a name. */
static struct smap connection_names(struct ctld *ctld) {
    struct smap names = SMAP_INIT;
    size_t at = 0;
    uint64_t node;
    struct client *client;
    while ((client = map_next(&ctld->nodes, &at, &node)) != NULL)
        smap_put(&names, xstrdup(core_node(ctld->core, (uint32_t) node)->name), client);
    return names;
}

static void move_connections(struct ctld *ctld, struct smap names) {
    size_t at = 0;
    const char *name;
    struct client *client;
    map_clear(&ctld->nodes);
    while ((client = smap_next(&names, &at, &name)) != NULL) {
        client->node = core_node_find(ctld->core, name);
        if (client->node == UINT32_MAX)
            rpc_conn_close(client->conn); /* the node is gone from the configuration */
        else
            map_put(&ctld->nodes, client->node, client);
        free((char *) (uintptr_t) name);
    }
    smap_done(&names);
}

/* Validates first; on any error the running configuration stays and the caller is told. */
int ctld_reconfigure(struct ctld *ctld, struct error *err) {
    struct conf_report report cleanup_conf_report = CONF_REPORT_INIT;
    struct conf *next = NULL;
    int r = ctld_load_conf(ctld, &next, &report, err);
    log_report(&report);
    if (r < 0) {
        log_error("the configuration has errors, the running one stays: %s", err->text);
        struct str all cleanup_str = STR_INIT;
        conf_report_print(&report, &all);
        return error_set(err, ERR_CONFIG, "the running configuration stays:\n%s", str_cstr(&all));
    }
    struct smap names = connection_names(ctld);
    r = core_configure(ctld->core, next, ctld->slurm_uid, ctld_now(ctld), ctld->effects, err);
    if (r < 0) {
        log_error("%s", err->text);
        conf_free(next);
        move_connections(ctld, names);
        return r;
    }
    conf_free(ctld->conf);
    ctld->conf = next;
    filter_restart(ctld);
    deliver_start(ctld);
    history_purge_start(ctld);
    log_info("configuration taken over from %s", ctld->conf_path);
    move_connections(ctld, names);
    return 0;
}

/* `Key   = value` lines of the text become rows; other lines have an empty key. */
static void config_row(struct arena *memory, struct config_list *list, char *line) {
    struct key_value *row = &list->items.items[list->items.n++];
    record_init(&record_key_value, row);
    char *equal = strstr(line, " = ");
    if (equal == NULL && strlen(line) > 2 && str_equal(line + strlen(line) - 2, " ="))
        equal = line + strlen(line) - 2;
    if (equal == NULL) {
        row->key = arena_strndup(memory, "", 0);
        row->value = arena_strdup(memory, line);
        return;
    }
    const char *value = strlen(equal) >= 3 ? equal + 3 : "";
    row->value = arena_strdup(memory, value);
    *equal = '\0';
    char *key = str_trim(line);
    row->key = arena_strdup(memory, key);
}

void list_config(struct client *client, uint32_t seq) {
    struct ctld *ctld = client->ctld;
    struct arena *memory = &ctld->request_memory;
    struct str now cleanup_str = STR_INIT, boot cleanup_str = STR_INIT, text cleanup_str = STR_INIT;
    timestamp_print(ctld_now(ctld), NULL, 0, &now);
    timestamp_print(ctld->start_time, NULL, 0, &boot);
    struct conf_runtime runtime = {.now = str_cstr(&now),
                                   .boot_time = str_cstr(&boot),
                                   .next_job_id = core_next_job_id(ctld->core),
                                   .slurm_uid = ctld->slurm_uid,
                                   .slurmd_uid = ctld->slurmd_uid};
    conf_print(ctld->conf, &runtime, &text);
    struct config_list list;
    record_init(&record_config_list, &list);
    size_t n_lines = 1;
    for (const char *at = str_cstr(&text); *at != '\0'; at++)
        n_lines += *at == '\n';
    list.items.items = arena_alloc(memory, n_lines * sizeof(struct key_value));
    list.boot_time = ctld->start_time;
    for (char *line = text.data; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end = '\0';
        config_row(memory, &list, line);
        line = end != NULL ? end + 1 : NULL;
    }
    reply_record(client, MSG_CONFIG_LIST, seq, &list);
}

void list_topology(struct client *client, uint32_t seq) {
    const struct conf *conf = client->ctld->conf;
    struct topology_list list;
    record_init(&record_topology_list, &list);
    list.items.items = arena_alloc(&client->ctld->request_memory,
                                   (conf->n_switches + 1) * sizeof(*list.items.items));
    for (size_t i = 0; i < conf->n_switches; i++) {
        const struct conf_tree_switch *at = &conf->switches[i];
        struct switch_item *item = &list.items.items[list.items.n++];
        record_init(&record_switch_item, item);
        item->name = (char *) (uintptr_t) at->name;
        item->level = at->level;
        item->link_speed = at->link_speed;
        item->nodes = (char *) (uintptr_t) at->nodes;
        item->switches = (char *) (uintptr_t) at->switches;
    }
    reply_record(client, MSG_TOPOLOGY_LIST, seq, &list);
}
