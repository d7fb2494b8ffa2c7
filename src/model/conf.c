/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the configuration: opens files through the source, follows Include, hands pairs to the
 * rows of their tables and lines to the functions of their kind, and then lets the checks find what
 * only shows when everything is read.
 */
#include "model/conf.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/conf_lines.h"
#include "model/conf_others.h"

/* ---- Kinds of lines and files ---- */

static const void *node_line_defaults(const struct conf_loader *loader) {
    return &loader->node_defaults;
}
static const void *partition_line_defaults(const struct conf_loader *loader) {
    return &loader->partition_defaults;
}
static const void *down_line_defaults(const struct conf_loader *loader) {
    return &conf_down_defaults;
}
static const void *node_set_line_defaults(const struct conf_loader *loader) {
    return &conf_node_set_defaults;
}
static const void *power_action_line_defaults(const struct conf_loader *loader) {
    return &conf_power_action_defaults;
}
static const void *gres_line_defaults(const struct conf_loader *loader) {
    return &conf_gres_defaults;
}
static void power_action_line_finish(struct conf_loader *loader, void *object, uint64_t seen) {
    /* Nothing to do: the row's notice has said that it has no effect yet. */
}

static const struct conf_line_kind main_lines[] = {
    {&conf_node_table, 0, sizeof(struct conf_node_line), node_line_defaults, conf_node_line_finish},
    {&conf_partition_table, 1, sizeof(struct conf_partition_line), partition_line_defaults,
     conf_partition_line_finish},
    {&conf_down_table, 2, sizeof(struct conf_down_line), down_line_defaults, conf_down_line_finish},
    {&conf_node_set_table, 3, sizeof(struct conf_node_set_line), node_set_line_defaults,
     conf_node_set_line_finish},
    {&conf_power_action_table, 4, sizeof(struct conf_power_action_line), power_action_line_defaults,
     power_action_line_finish},
};
static const struct conf_line_kind gres_record = {&conf_gres_table, 5, sizeof(struct conf_gres),
                                                  gres_line_defaults, conf_gres_line_finish};

static const struct conf_file_kind gres_file = {NULL, NULL, 0, &gres_record};

/* ---- Small helpers of all steps ---- */

const char *conf_keep(const struct conf_loader *loader, const char *text) {
    return arena_strdup(loader->context.arena, text);
}

bool conf_name_is_valid(const char *name) {
    size_t length = strlen(name);
    return length > 0 && length <= CONF_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:+") ==
               length &&
           strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

struct conf_context conf_context_at(const struct conf_loader *loader, const char *file,
                                    uint32_t line) {
    struct conf_context context = loader->context;
    context.file = file;
    context.line = line;
    return context;
}

static size_t key_number(const struct conf_table *table, const struct conf_key *key) {
    return (size_t) (key - table->keys);
}

const struct conf_place *conf_place_of(const struct conf_loader *loader, const char *name) {
    const struct conf_key *key = conf_key_find(&conf_main_table, name, strlen(name));
    assert(key != NULL);
    return &loader->places[key_number(&conf_main_table, key)];
}

static void hash_pair(struct conf_loader *loader, const char *key, const char *value) {
    uint64_t hash = loader->conf->private->hash;
    hash = hash_bytes(key, strlen(key), hash);
    loader->conf->private->hash = hash_bytes(value, strlen(value), hash);
}

/* ---- Pairs ---- */

/* The kind of line that an unknown key points to, or NULL: with `opener` the kind whose first key
 * it resembles more than `nearest`, else the kind that has such a key. */
static const struct conf_line_kind *line_kind_meant(const struct conf_file_kind *kind,
                                                    const char *name, const char *nearest,
                                                    bool opener) {
    for (size_t i = 0; i < kind->n_lines; i++) {
        const struct conf_table *table = kind->lines[i].table;
        if (opener) {
            const char *names[2] = {table->keys[0].name, nearest};
            if (str_nearest(name, names, nearest != NULL ? 2 : 1) == names[0])
                return &kind->lines[i];
        } else if (conf_key_find(table, name, strlen(name)) != NULL) {
            return &kind->lines[i];
        }
    }
    return NULL;
}

/* Says what an unknown key may have been meant to be. True when it looks like the beginning of a
 * line of its own, whose other keys are then best passed over. */
static bool key_unknown(const struct conf_loader *loader, const struct conf_table *table,
                        const struct conf_pair *pair) {
    cleanup_free char *name = xstrndup(pair->key, pair->key_length);
    const char *nearest = conf_key_nearest(table, name);
    const struct conf_line_kind *kind = NULL;
    if (table == loader->kind->table &&
        (kind = line_kind_meant(loader->kind, name, NULL, false)) != NULL) {
        conf_error(&loader->context, "key \"%s\" belongs in %s", name, kind->table->what);
        return false;
    }
    if (table == loader->kind->table)
        kind = line_kind_meant(loader->kind, name, nearest, true);
    if (kind != NULL)
        nearest = kind->table->keys[0].name;
    if (nearest != NULL)
        conf_error(&loader->context, "unknown key \"%s\" in %s (did you mean \"%s\"?)", name,
                   table->what, nearest);
    else
        conf_error(&loader->context, "unknown key \"%s\" in %s", name, table->what);
    return kind != NULL;
}

/* Finds the row of a pair; NULL when there is nothing to parse, which has been said.
 * *ret_skip_line (may be NULL) tells that the rest of the line belongs to the unknown key. */
static const struct conf_key *pair_key(struct conf_loader *loader, const struct conf_table *table,
                                       const struct conf_pair *pair, bool *ret_skip_line) {
    const struct conf_key *key = conf_key_find(table, pair->key, pair->key_length);
    loader->context.line = pair->line;
    loader->context.quiet = loader->role == CONF_CLIENT;
    if (key == NULL) {
        bool skip = loader->role != CONF_CLIENT && key_unknown(loader, table, pair);
        if (ret_skip_line != NULL)
            *ret_skip_line = skip;
        return NULL;
    }
    if (loader->role == CONF_CLIENT) {
        loader->context.quiet = key->who == CONF_DAEMON_ONLY;
    } else {
        hash_pair(loader, key->name, pair->value);
    }
    if (key->effect == CONF_OBSOLETE) {
        if (loader->role != CONF_CLIENT)
            conf_notice(&loader->context, "%s is obsolete and has no effect: %s", key->name,
                        key->help);
        return NULL;
    }
    if (!str_is_printable_utf8(pair->value)) {
        conf_error(&loader->context, "%s: the value holds control characters or is not UTF-8",
                   key->name);
        return NULL;
    }
    return key;
}

/* Returns true when the rest of the line is to be passed over. */
static bool pair_apply(struct conf_loader *loader, const struct conf_pair *pair) {
    const struct conf_table *table = loader->kind->table;
    bool skip_line = false;
    const struct conf_key *key = pair_key(loader, table, pair, &skip_line);
    if (key == NULL)
        return skip_line;
    struct conf_place *place = &loader->places[key_number(table, key)];
    if (place->file != NULL && key->type != CONF_NAMES && loader->role != CONF_CLIENT) {
        if (strcmp(place->file, loader->context.file) == 0)
            conf_notice(&loader->context,
                        "%s is given again (first on line %u); the last one counts", key->name,
                        place->line);
        else
            conf_notice(&loader->context, "%s is given again (first in %s:%u); the last one counts",
                        key->name, place->file, place->line);
    }
    *place = (struct conf_place) {loader->context.file, pair->line};
    if (!conf_value_parse(key, pair->value, loader->object, &loader->context))
        return false;
    /* In slurm.conf this waits until a later line may have taken the value back. */
    if (loader->object != loader->conf && key->effect == CONF_NOT_YET &&
        !conf_value_is_default(key, loader->object, table->defaults))
        conf_notice(&loader->context, "%s has no effect yet", key->name);
    return false;
}

/* One notice per key of lines that has no effect yet, however many lines use it. */
static void line_key_notice(struct conf_loader *loader, const struct conf_line_kind *kind,
                            const struct conf_key *key, const void *object) {
    uint64_t bit = UINT64_C(1) << key_number(kind->table, key);
    if (key->effect != CONF_NOT_YET || (loader->told[kind->number] & bit) != 0 ||
        conf_value_is_default(key, object, kind->table->defaults))
        return;
    loader->told[kind->number] |= bit;
    conf_notice(&loader->context, "%s in %s has no effect yet", key->name, kind->table->what);
}

static void line_pair_apply(struct conf_loader *loader, const struct conf_line_kind *kind,
                            const struct conf_pair *pair, void *object, uint64_t *seen) {
    const struct conf_key *key = pair_key(loader, kind->table, pair, NULL);
    if (key == NULL)
        return;
    uint64_t bit = UINT64_C(1) << key_number(kind->table, key);
    if ((*seen & bit) != 0)
        conf_notice(&loader->context, "%s is given twice on this line; the last one counts",
                    key->name);
    *seen |= bit;
    if (conf_value_parse(key, pair->value, object, &loader->context))
        line_key_notice(loader, kind, key, object);
}

static void lex_error(struct conf_loader *loader, const struct conf_pair *pair) {
    if (loader->role == CONF_CLIENT)
        return;
    loader->context.line = pair->line;
    loader->context.quiet = false;
    if (pair->value != NULL) {
        conf_error(&loader->context, "%s", pair->value);
    } else if (loader->stray_line != pair->line) { /* one for all stray words of a line */
        loader->stray_line = pair->line;
        conf_error(&loader->context, "\"%.*s\" is not Key=Value",
                   (int) min_of(pair->key_length, (size_t) 64), pair->key);
    }
}

/* Reads the pairs of a line whose first one is given, then lets its kind finish it. */
static enum conf_lexeme line_apply(struct conf_loader *loader, struct conf_lexer *lexer,
                                   const struct conf_line_kind *kind, struct conf_pair *pair) {
    union {
        struct conf_node_line node;
        struct conf_partition_line partition;
        struct conf_down_line down;
        struct conf_node_set_line node_set;
        struct conf_power_action_line power_action;
        struct conf_gres gres;
        struct conf_switch a_switch;
        struct conf_block block;
        struct conf_container container;
    } object;
    assert(kind->size <= sizeof(object));
    memcpy(&object, kind->defaults(loader), kind->size);
    uint32_t line = pair->line;
    uint64_t seen = 0;
    enum conf_lexeme lexeme = CONF_LEX_PAIR;
    for (; lexeme == CONF_LEX_PAIR || lexeme == CONF_LEX_ERROR;
         lexeme = conf_lexer_next(lexer, pair)) {
        if (lexeme == CONF_LEX_ERROR)
            lex_error(loader, pair);
        else
            line_pair_apply(loader, kind, pair, &object, &seen);
    }
    loader->context.line = line;
    loader->context.quiet = false;
    kind->finish(loader, &object, seen);
    return lexeme;
}

static const struct conf_line_kind *line_kind_find(const struct conf_file_kind *kind,
                                                   const struct conf_pair *pair) {
    if (kind->record != NULL)
        return kind->record;
    for (size_t i = 0; i < kind->n_lines; i++) {
        const struct conf_key *opener = &kind->lines[i].table->keys[0];
        if (opener->name_length == pair->key_length &&
            strncasecmp(opener->name, pair->key, pair->key_length) == 0)
            return &kind->lines[i];
    }
    return NULL;
}

/* ---- Files ---- */

static int file_load(struct conf_loader *loader, const char *path, struct error *err);

/* The path of an included file: relative to the directory of slurm.conf, %c is the cluster. */
static void include_path(const struct conf_loader *loader, const char *text, struct str *path) {
    if (text[0] != '/')
        str_append(path, loader->directory);
    for (const char *p = text; *p != '\0'; p++) {
        if (p[0] == '%' && p[1] == 'c' && loader->conf->cluster_name != NULL) {
            for (const char *c = loader->conf->cluster_name; *c != '\0'; c++)
                str_append_char(path, *c >= 'A' && *c <= 'Z' ? (char) (*c + 32) : *c);
            p++;
        } else {
            str_append_char(path, *p);
        }
    }
}

static void include_apply(struct conf_loader *loader, const struct conf_pair *pair) {
    struct conf_context context = loader->context;
    context.line = pair->line;
    context.quiet = false;
    if (strstr(pair->value, "%c") != NULL && loader->conf->cluster_name == NULL) {
        conf_error(&context, "Include %s: ClusterName must stand before it", pair->value);
        return;
    }
    cleanup_str struct str text = STR_INIT;
    include_path(loader, pair->value, &text);
    const char *path = conf_keep(loader, str_cstr(&text));
    for (size_t i = 0; i < loader->depth; i++) {
        if (strcmp(loader->open_files[i], path) == 0) {
            conf_error(&context, "Include %s: the file includes itself", path);
            return;
        }
    }
    if (loader->depth == CONF_DEPTH_MAX) {
        conf_error(&context, "Include %s: more than %d files deep", path, CONF_DEPTH_MAX);
        return;
    }
    struct error err = ERROR_INIT;
    int result = file_load(loader, path, &err);
    loader->context = context;
    if (result != 0)
        conf_error(&context, "Include %s: %s", path, err.text);
}

static void file_parse(struct conf_loader *loader, char *text, size_t length) {
    struct conf_lexer lexer;
    struct conf_pair pair;
    conf_lexer_init(&lexer, text, length);
    for (;;) {
        enum conf_lexeme lexeme = conf_lexer_next(&lexer, &pair);
        const struct conf_line_kind *kind =
            lexeme == CONF_LEX_PAIR ? line_kind_find(loader->kind, &pair) : NULL;
        if (kind != NULL && loader->role == CONF_CLIENT) {
            conf_lexer_skip_line(&lexer);
            continue;
        }
        if (kind != NULL)
            lexeme = line_apply(loader, &lexer, kind, &pair);
        else if (lexeme == CONF_LEX_PAIR && pair_apply(loader, &pair))
            conf_lexer_skip_line(&lexer);
        else if (lexeme == CONF_LEX_INCLUDE)
            include_apply(loader, &pair);
        else if (lexeme == CONF_LEX_ERROR)
            lex_error(loader, &pair);
        if (lexeme == CONF_LEX_END)
            break;
    }
    if (lexer.carriage_return && loader->role != CONF_CLIENT) {
        struct conf_context context =
            conf_context_at(loader, loader->context.file, lexer.carriage_line);
        context.quiet = false;
        conf_notice(&context, "lines end in CR LF, as on Windows; the carriage returns are passed "
                              "over (dos2unix removes them)");
    }
}

static int file_load(struct conf_loader *loader, const char *path, struct error *err) {
    if (loader->files.n == CONF_FILES_MAX)
        return error_set(err, ERR_LIMIT, "more than %d files", CONF_FILES_MAX);
    cleanup_str struct str text = STR_INIT;
    int result = loader->source->read(loader->source->context, path, &text, err);
    if (result != 0)
        return result;
    if (text.length > CONF_FILE_MAX)
        return error_set(err, ERR_LIMIT, "%s is larger than 64 MiB", path);
    if (text.length > 0 && memchr(text.data, '\0', text.length) != NULL)
        return error_set(err, ERR_CONFIG, "%s holds NUL bytes: it is no text file", path);
    vec_push(&loader->files, path);
    loader->open_files[loader->depth++] = path;
    const char *file = loader->context.file;
    loader->context.file = path;
    if (text.length > 0)
        file_parse(loader, text.data, text.length);
    loader->context.file = file;
    loader->depth--;
    return 0;
}

int conf_more_load(struct conf_loader *loader, const struct conf_file_kind *kind, const char *path,
                   void *object, struct error *err) {
    struct conf_place *places = loader->places;
    const struct conf_file_kind *outer = loader->kind;
    void *outer_object = loader->object;
    uint64_t hash = loader->conf->private->hash;
    if (kind->table != NULL)
        loader->places = xcalloc(kind->table->n, sizeof(*places));
    loader->kind = kind;
    loader->object = object;
    int result = file_load(loader, path, err);
    if (kind->table != NULL)
        free(loader->places);
    loader->places = places;
    loader->kind = outer;
    loader->object = outer_object;
    /* The hash is that of slurm.conf: the files beside it may well differ between hosts. */
    loader->conf->private->hash = hash;
    return result;
}

/* gres.conf and cgroup.conf: beside slurm.conf, both may be absent. */
static void sibling_load(struct conf_loader *loader, const struct conf_file_kind *kind,
                         const char *name, void *object) {
    cleanup_free char *text = xasprintf("%s%s", loader->directory, name);
    const char *path = conf_keep(loader, text);
    struct error err = ERROR_INIT;
    int result = conf_more_load(loader, kind, path, object, &err);
    if (result != 0 && result != -ERR_NOT_FOUND) {
        struct conf_context context = conf_context_at(loader, path, 0);
        conf_error(&context, "%s", err.text);
    }
}

/* ---- Loading ---- */

struct conf *conf_new(void) {
    struct conf *conf = zalloc(struct conf);
    *conf = conf_defaults;
    conf->private = zalloc(struct conf_private);
    arena_init(&conf->private->arena, 0);
    return conf;
}

void conf_free(struct conf *conf) {
    if (conf == NULL)
        return;
    for (size_t i = 0; i < conf->n_partitions; i++)
        bits_done(&conf->partitions[i].nodes);
    vec_each (&conf->private->gres_lists, list) {
        gres_list_done(*list);
        free(*list);
    }
    vec_done(&conf->private->gres_lists);
    smap_done(&conf->private->nodes);
    smap_done(&conf->private->partitions);
    smap_done(&conf->private->leaves);
    arena_done(&conf->private->arena);
    free(conf->nodes);
    free(conf->partitions);
    free(conf->gres);
    free(conf->switches);
    free(conf->private);
    free(conf);
}

void conf_loader_done(struct conf_loader *loader) {
    free(loader->places);
    vec_each (&loader->partitions, line)
        bits_done(&line->partition.nodes);
    vec_done(&loader->files);
    vec_done(&loader->nodes);
    vec_done(&loader->partitions);
    vec_done(&loader->down_lines);
    vec_done(&loader->node_sets);
    vec_done(&loader->gres);
}

void conf_directory_set(struct conf_loader *loader, const char *path) {
    const char *slash = strrchr(path, '/');
    loader->directory =
        slash != NULL ? arena_strndup(loader->context.arena, path, (size_t) (slash - path) + 1)
                      : "";
}

/* Scalars that are accepted but do nothing yet: one notice each, where the value asks for more
 * than the default. */
static void not_yet_notices(struct conf_loader *loader) {
    for (size_t i = 0; i < conf_main_table.n; i++) {
        const struct conf_key *key = &conf_main_table.keys[i];
        const struct conf_place *place = &loader->places[i];
        if (place->file == NULL || key->effect != CONF_NOT_YET ||
            conf_value_is_default(key, loader->conf, &conf_defaults))
            continue;
        struct conf_context context = conf_context_at(loader, place->file, place->line);
        conf_notice(&context, "%s has no effect yet", key->name);
    }
}

static void read_all(struct conf_loader *loader) {
    static const struct conf_file_kind cgroup_file = {&conf_cgroup_table, NULL, 0, NULL};
    loader->context.quiet = false;
    if (loader->role != CONF_CLIENT) {
        not_yet_notices(loader);
        conf_nodes_finish(loader);
        conf_partitions_finish(loader);
        sibling_load(loader, &gres_file, "gres.conf", NULL);
        conf_gres_finish(loader);
        sibling_load(loader, &cgroup_file, "cgroup.conf", &loader->conf->cgroup);
        conf_tree_load(loader);
    }
    loader->context.file = loader->conf->path;
    loader->context.line = 0;
    conf_check(loader);
}

int conf_errors_sum_up(const struct conf_report *report, size_t before, const char *path,
                       struct error *err) {
    size_t n = report->n_errors - before;
    for (size_t i = 0; i < report->n; i++) {
        if (report->items[i].severity != CONF_SEVERITY_ERROR)
            continue;
        cleanup_str struct str first = STR_INIT;
        conf_finding_print(&report->items[i], &first);
        if (n == 1)
            return error_set(err, ERR_CONFIG, "%s", str_cstr(&first));
        return error_set(err, ERR_CONFIG, "%s: %zu errors; the first is: %s", path, n,
                         str_cstr(&first));
    }
    return error_set(err, ERR_CONFIG, "%s: %zu errors", path, n);
}

int conf_load(const struct conf_source *source, const char *path, enum conf_role role,
              struct conf **ret, struct conf_report *report, struct error *err) {
    /* The index of the large table lives for one reading: building it costs a few microseconds. */
    uint16_t index[CONF_INDEX_SIZE];
    struct conf_table table = conf_main_table;
    conf_index_build(&table, index);
    table.index = index;
    struct conf_file_kind main_file = {&table, main_lines, countof(main_lines), NULL};

    cleanup_conf struct conf *conf = conf_new();
    struct conf_loader loader = {
        .conf = conf,
        .source = source,
        .role = role,
        .context = {.report = report,
                    .arena = &conf->private->arena,
                    .lenient = role == CONF_CLIENT},
        .places = xcalloc(table.n, sizeof(*loader.places)),
        .kind = &main_file,
        .object = conf,
        .node_defaults = conf_node_defaults,
        .partition_defaults = conf_partition_defaults,
    };
    size_t errors_before = report->n_errors;
    conf->path = conf_keep(&loader, path);
    conf_directory_set(&loader, conf->path);
    int result = file_load(&loader, conf->path, err);
    if (result == 0)
        read_all(&loader);
    conf_report_sort(report, loader.files.items, loader.files.n);
    conf_loader_done(&loader);
    if (result != 0)
        return result;
    if (report->n_errors > errors_before)
        return conf_errors_sum_up(report, errors_before, path, err);
    if (role == CONF_CLIENT)
        conf->private->hash = 0;
    *ret = take(conf);
    return 0;
}

/* ---- Asking ---- */

const struct conf_node *conf_node_find(const struct conf *conf, const char *name) {
    return smap_get(&conf->private->nodes, name);
}

void conf_nodes_moved(struct conf *conf) {
    for (size_t i = 0; i < conf->n_nodes; i++)
        smap_put(&conf->private->nodes, conf->nodes[i].name, &conf->nodes[i]);
}

const struct conf_partition *conf_partition_find(const struct conf *conf, const char *name) {
    return smap_get(&conf->private->partitions, name);
}

const struct conf_partition *conf_partition_default(const struct conf *conf) {
    for (size_t i = 0; i < conf->n_partitions; i++) {
        if (conf->partitions[i].is_default)
            return &conf->partitions[i];
    }
    return NULL;
}

uint64_t conf_hash(const struct conf *conf) {
    return conf->private->hash;
}

char *conf_program_path(const char *conf_path, const char *name) {
    const char *slash = strrchr(conf_path, '/');
    if (*name == '/' || slash == NULL)
        return xstrdup(name);
    return xasprintf("%.*s/%s", (int) (slash - conf_path), conf_path, name);
}

void conf_path_expand(const char *pattern, const char *hostname, const char *node_name,
                      struct str *out) {
    for (const char *p = pattern; *p != '\0'; p++) {
        const char *value = NULL;
        if (p[0] == '%')
            value = p[1] == 'h' ? hostname : p[1] == 'n' ? node_name : p[1] == '%' ? "%" : NULL;
        if (value != NULL) {
            str_append(out, value);
            p++;
        } else {
            str_append_char(out, *p);
        }
    }
}
