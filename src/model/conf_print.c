/* SPDX-License-Identifier: Apache-2.0 */
/* The text of `scontrol show config`: the rows in their order, and what only the daemon knows. */
#include <string.h>

#include "base/alloc.h"
#include "model/conf_lines.h"

#define KEY_WIDTH 23

static void line_begin(const char *key, struct str *out) {
    str_append(out, key);
    size_t length = strlen(key);
    if (length < KEY_WIDTH)
        str_append_fill(out, ' ', KEY_WIDTH - length);
    str_append(out, " = ");
}

static void line_print(const char *key, const char *value, struct str *out) {
    line_begin(key, out);
    str_append(out, value != NULL ? value : "(null)");
    str_append_char(out, '\n');
}

static void number_line(const char *key, uint64_t value, struct str *out) {
    line_begin(key, out);
    str_append_u64(out, value);
    str_append_char(out, '\n');
}

/* Lines that have no row: they come from the running controller. */
static void derived_line(const struct conf *conf, const struct conf_runtime *runtime,
                         const char *name, struct str *out) {
    if (strcmp(name, "BOOT_TIME") == 0)
        line_print(name, runtime->boot_time, out);
    else if (strcmp(name, "HASH_VAL") == 0)
        line_print(name, "Match", out);
    else if (strcmp(name, "MULTIPLE_SLURMD") == 0)
        line_print(name, runtime->multiple_slurmd ? "Yes" : "No", out);
    else if (strcmp(name, "NEXT_JOB_ID") == 0)
        number_line(name, runtime->next_job_id, out);
    else if (strcmp(name, "SLURM_CONF") == 0)
        line_print(name, conf->path, out);
    else if (strcmp(name, "SLURM_VERSION") == 0)
        line_print(name, SLUICE_COMPAT_VERSION, out);
}

/* `Prolog[0] = …`, a line each and none for none. */
static void numbered_lines(const char *name, const struct conf_names *names, struct str *out) {
    for (size_t i = 0; i < names->n; i++) {
        cleanup_free char *key = xasprintf("%s[%zu]", name, i);
        line_print(key, names->items[i], out);
    }
}

static void host_lines(const struct conf *conf, struct str *out) {
    for (size_t i = 0; i < conf->n_control_hosts; i++) {
        const struct conf_control_host *host = &conf->control_hosts[i];
        cleanup_free char *key = xasprintf("SlurmctldHost[%zu]", i);
        line_begin(key, out);
        str_append(out, host->name);
        if (strcmp(host->name, host->address) != 0)
            str_printf(out, "(%s)", host->address);
        str_append_char(out, '\n');
    }
}

static void user_line(const char *key, const char *user, uint32_t uid, struct str *out) {
    line_begin(key, out);
    str_printf(out, "%s(%u)\n", user, uid);
}

/* Of DefMemPerCPU and DefMemPerNode only the one that counts is shown. */
static bool hidden_half(const struct conf *conf, const struct conf_key *key) {
    if (key->offset == offsetof(struct conf, def_mem_per_cpu))
        return conf->def_mem_per_cpu == CONF_UNSET;
    if (key->offset == offsetof(struct conf, def_mem_per_node))
        return conf->def_mem_per_cpu != CONF_UNSET;
    if (key->offset == offsetof(struct conf, max_mem_per_cpu))
        return conf->max_mem_per_cpu == CONF_UNSET;
    if (key->offset == offsetof(struct conf, max_mem_per_node))
        return conf->max_mem_per_cpu != CONF_UNSET;
    return false;
}

/* Flag lists whose emptiness has a name of its own. */
static const char *empty_word(const struct conf_key *key) {
    static const struct {
        size_t offset;
        const char *word;
    } words[] = {
        {offsetof(struct conf, priority_flags), ""},
        {offsetof(struct conf, private_data), "none"},
        {offsetof(struct conf, accounting_storage_enforce), "none"},
        {offsetof(struct conf, task_plugin_param), "(null type)"},
        {offsetof(struct conf, select_type_parameters), "NONE"},
    };
    for (size_t i = 0; i < countof(words); i++) {
        if (words[i].offset == key->offset)
            return words[i].word;
    }
    return NULL;
}

static uint64_t conf_flags_of(const struct conf_key *key, const struct conf *conf) {
    const void *member = (const char *) conf + key->offset;
    if (key->type == CONF_WORDS)
        return ((const struct conf_words *) member)->flags;
    return *(const uint64_t *) member;
}

static void key_line(const struct conf *conf, const struct conf_runtime *runtime,
                     const struct conf_key *key, struct str *out) {
    if (key->type == CONF_NAMES) {
        if (key->offset == offsetof(struct conf, slurmctld_host))
            host_lines(conf, out);
        else
            numbered_lines(key->name, (const void *) ((const char *) conf + key->offset), out);
        return;
    }
    if (hidden_half(conf, key))
        return;
    if (key->offset == offsetof(struct conf, slurm_user)) {
        user_line(key->name, conf->slurm_user, runtime->slurm_uid, out);
        return;
    }
    if (key->offset == offsetof(struct conf, slurmd_user)) {
        user_line(key->name, conf->slurmd_user, runtime->slurmd_uid, out);
        return;
    }
    if (key->offset == offsetof(struct conf, max_node_count) && conf->max_node_count == 0) {
        number_line(key->name, conf->n_nodes, out);
        return;
    }
    line_begin(key->name, out);
    const char *empty = empty_word(key);
    if (empty != NULL && conf_flags_of(key, conf) == 0)
        str_append(out, empty);
    else
        conf_value_print(key, conf, out);
    str_append_char(out, '\n');
}

static void cgroup_section(const struct conf *conf, struct str *out) {
    str_append(out, "\nCgroup Support Configuration:\n");
    for (size_t i = 0; i < conf_cgroup_table.n; i++) {
        const struct conf_key *key = &conf_cgroup_table.keys[i];
        if (key->effect == CONF_OBSOLETE)
            continue;
        line_begin(key->name, out);
        if (key->type == CONF_U64 &&
            *(const uint64_t *) ((const char *) &conf->cgroup + key->offset) == CONF_UNSET)
            str_append(out, "(null)");
        else if (key->type == CONF_BOOL)
            str_append(out,
                       *(const bool *) ((const char *) &conf->cgroup + key->offset) ? "yes" : "no");
        else
            conf_value_print(key, &conf->cgroup, out);
        if (key->type == CONF_MIB)
            str_append(out, "MB");
        str_append_char(out, '\n');
    }
}

void conf_print(const struct conf *conf, const struct conf_runtime *runtime, struct str *out) {
    str_printf(out, "Configuration data as of %s\n", runtime->now != NULL ? runtime->now : "");
    for (size_t i = 0; i < conf_main_keys_shown; i++) {
        const struct conf_key *key = &conf_main_table.keys[i];
        if (key->derived)
            derived_line(conf, runtime, key->name, out);
        else
            key_line(conf, runtime, key, out);
    }
    cgroup_section(conf, out);
    str_append_char(out, '\n');
}
