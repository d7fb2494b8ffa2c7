/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations: the input is slurm.conf, gres.conf, cgroup.conf and an included file, cut at
 * lines of "%%". Whatever they hold, a reading ends with a configuration or with errors, and what
 * it accepts is consistent. The later parts are also read as slurmdbd.conf, topology.conf and
 * job_container.conf.
 */
#include "base/alloc.h"
#include "fuzz.h"
#include "model/conf_others.h"

static const char *const paths[] = {"/e/slurm.conf", "/e/gres.conf", "/e/cgroup.conf", "/e/i.conf"};

/* The part of the input that is the file of this number. */
static const char *part_find(const char *text, size_t number, size_t *ret_length) {
    for (; number > 0; number--) {
        text = strstr(text, "\n%%\n");
        if (text == NULL)
            return NULL;
        text += 4;
    }
    const char *end = strstr(text, "\n%%\n");
    *ret_length = end != NULL ? (size_t) (end - text) + 1 : strlen(text);
    return text;
}

static int part_read(void *context, const char *path, struct str *ret, struct error *err) {
    for (size_t i = 0; i < countof(paths); i++) {
        size_t length;
        const char *part = part_find(context, i, &length);
        if (strcmp(paths[i], path) == 0 && part != NULL) {
            str_append_bytes(ret, part, length);
            return 0;
        }
    }
    return error_set(err, ERR_NOT_FOUND, "there is no file %s", path);
}

static void nodes_check(const struct conf *conf) {
    for (size_t i = 0; i < conf->n_nodes; i++) {
        const struct conf_node *node = &conf->nodes[i];
        uint64_t cores = (uint64_t) node->sockets * node->cores_per_socket;
        require(conf_node_find(conf, node->name) == node);
        require(node->index == i && node->port != 0);
        require(node->cpus > 0);
        require(node->cpus == cores || node->cpus == cores * node->threads_per_core);
    }
    for (size_t i = 0; i < conf->n_partitions; i++) {
        require(conf->partitions[i].nodes.n == conf->n_nodes);
        require(conf_partition_find(conf, conf->partitions[i].name) == &conf->partitions[i]);
    }
    for (size_t i = 0; i < conf->n_gres; i++)
        (void) conf_gres_applies(&conf->gres[i], "n1");
}

static void role_check(const char *text, enum conf_role role) {
    struct conf_source source = {part_read, (void *) text};
    cleanup_conf struct conf *conf = NULL;
    cleanup_conf_report struct conf_report report = CONF_REPORT_INIT;
    cleanup_str struct str out = STR_INIT;
    struct error err = ERROR_INIT;
    int result = conf_load(&source, paths[0], role, &conf, &report, &err);
    conf_report_print(&report, &out);
    require((result == 0) == (conf != NULL));
    require((result == 0) == (report.n_errors == 0));
    if (result != 0) {
        require(err.text[0] != '\0');
        return;
    }
    require(conf->n_control_hosts > 0);
    struct conf_runtime runtime = {0};
    str_reset(&out);
    conf_print(conf, &runtime, &out);
    nodes_check(conf);
}

static void others_check(const char *text) {
    struct conf_source source = {part_read, (void *) text};
    cleanup_conf_report struct conf_report report = CONF_REPORT_INIT;
    struct error err = ERROR_INIT;
    struct conf_dbd *dbd = NULL;
    struct conf_topology *topology = NULL;
    struct conf_containers *containers = NULL;
    if (conf_dbd_load(&source, paths[1], &dbd, &report, &err) == 0)
        require(dbd->dbd_host != NULL);
    if (conf_topology_load(&source, paths[2], &topology, &report, &err) == 0)
        require(topology != NULL);
    if (conf_containers_load(&source, paths[3], &containers, &report, &err) == 0)
        require(containers != NULL);
    conf_dbd_free(dbd);
    conf_topology_free(topology);
    conf_containers_free(containers);
}

FUZZ_TEXT(text) {
    others_check(text);
    role_check(text, CONF_SLURMCTLD);
    role_check(text, CONF_CLIENT);
}
