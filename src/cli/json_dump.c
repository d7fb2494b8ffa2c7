/* SPDX-License-Identifier: Apache-2.0 */
/* What every JSON document has: its style, its meta section. */
#include "cli/json_dump.h"

#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/list.h"

static const char *const parsers[] = {"v0.0.42", "v0.0.43", "v0.0.44", "v0.0.45"};
#define PARSER_NEWEST (countof(parsers) - 1)

/* The plugin's name without flags; ends the command for "list" and for one that we lack. */
static const char *parser_choose(const char *plugin) {
    if (!strcasecmp(plugin, "list")) {
        fputs("Possible data_parser plugins:\n", stderr);
        for (size_t i = 0; i < countof(parsers); i++)
            fprintf(stderr, "data_parser/%s\n", parsers[i]);
        exit(0);
    }
    if (str_starts_nocase(plugin, "data_parser/"))
        plugin += strlen("data_parser/");
    size_t length = strcspn(plugin, "+");
    if (length == 0 || !strcmp(plugin, "yaml"))
        return parsers[PARSER_NEWEST];
    for (size_t i = 0; i < countof(parsers); i++) {
        if (!strncmp(plugin, parsers[i], length) && !parsers[i][length])
            return parsers[i];
    }
    /* v0.0.40 and v0.0.41 have the same shapes; older ones differ, and saying so beats guessing. */
    if (!strncmp(plugin, "v0.0.41", length) || !strncmp(plugin, "v0.0.40", length))
        return parsers[0];
    list_fail("Unable to find plugin: data_parser/%s: there are v0.0.40 to %s", plugin,
              parsers[PARSER_NEWEST]);
}

static enum json_style style_choose(const char *plugin) {
    if (!strcmp(plugin, "yaml"))
        return JSON_YAML;
    const char *style = getenv("SLURM_JSON");
    return style && !strcasecmp(style, "compact") ? JSON_COMPACT : JSON_PRETTY;
}

void json_dump_begin(struct json_dump *dump, const char *plugin, int argc, char **argv,
                     const struct column_env *env, struct str *out) {
    dump->parser = parser_choose(plugin);
    dump->argc = argc;
    dump->argv = argv;
    dump->env = env;
    json_init(&dump->json, style_choose(plugin), out);
    json_object(&dump->json, NULL);
}

static void meta_client(struct json *json) {
    const struct group *group = getgrgid(getgid());
    json_object(json, "client");
    json_text(json, "source", ttyname(STDIN_FILENO));
    json_text(json, "user", list_own_name());
    json_text(json, "group", group ? group->gr_name : "");
    json_end(json);
}

static void meta_slurm(struct json *json, const char *cluster) {
    char version[] = SLUICE_COMPAT_VERSION;
    char *cursor = version;
    const char *major = str_next_word(&cursor, ".");
    const char *minor = str_next_word(&cursor, ".");
    const char *micro = str_next_word(&cursor, ".");
    json_object(json, "slurm");
    json_object(json, "version");
    json_text(json, "major", major);
    json_text(json, "micro", micro);
    json_text(json, "minor", minor);
    json_end(json);
    json_text(json, "release", SLUICE_COMPAT_VERSION);
    json_text(json, "cluster", cluster);
    json_end(json);
}

void json_dump_end(struct json_dump *dump) {
    struct json *json = &dump->json;
    json_object(json, "meta");
    json_object(json, "plugin");
    json_text(json, "type", "");
    json_text(json, "name", "");
    cleanup_free char *parser = xasprintf("data_parser/%s", dump->parser);
    json_text(json, "data_parser", parser);
    json_text(json, "accounting_storage", "");
    json_end(json);
    meta_client(json);
    json_array(json, "command");
    for (int i = 0; i < dump->argc; i++)
        json_text(json, NULL, dump->argv[i]);
    json_end(json);
    meta_slurm(json, dump->env->cluster);
    json_end(json);
    json_none(json, "errors");
    json_none(json, "warnings");
    json_end(json);
    json_finish(json);
}

void json_flag_names(struct json *json, const struct names *names, uint32_t flags) {
    for (size_t i = 0; i < names->n; i++) {
        if (flags & names->rows[i].value)
            json_text(json, NULL, names->rows[i].name);
    }
}

void json_exit(struct json *json, const char *key, uint32_t status, bool known) {
    uint32_t code = (status >> 8) & 0xff, signal = status & 0x7f;
    const char *word = !known ? "PENDING" : signal ? "SIGNALED" : code ? "ERROR" : "SUCCESS";
    json_object(json, key);
    json_array(json, "status");
    json_text(json, NULL, word);
    json_end(json);
    json_number(json, "return_code", known, false, code);
    json_object(json, "signal");
    json_number(json, "id", known && signal, false, signal);
    json_text(json, "name", known && signal ? signal_name((int) signal) : "");
    json_end(json);
    json_end(json);
}
