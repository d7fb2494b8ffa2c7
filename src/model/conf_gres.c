/* SPDX-License-Identifier: Apache-2.0 */
/* gres.conf: which lines are for which node, device files and how many there are. */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "model/conf_lines.h"
#include "text/hostlist.h"
#include "text/size.h"
#include "text/tres.h"

#define GRES_FILES_MAX 65536 /* devices of one line */

/* Expands a host list expression into the arena. */
static bool names_expand(struct conf_loader *loader, const char *key, const char *text,
                         const char ***ret, size_t *ret_n) {
    cleanup_hostlist struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    if (hostlist_parse(&list, text, &err) != 0) {
        conf_error(&loader->context, "%s: %s", key, err.text);
        return false;
    }
    if (list.n > GRES_FILES_MAX) {
        conf_error(&loader->context, "%s: more than %d", key, GRES_FILES_MAX);
        return false;
    }
    const char **names = arena_alloc(loader->context.arena, (list.n + 1) * sizeof(*names));
    for (size_t i = 0; i < list.n; i++)
        names[i] = conf_keep(loader, list.names[i]);
    *ret = names;
    *ret_n = list.n;
    return true;
}

static bool files_expand(struct conf_loader *loader, struct conf_gres *gres) {
    const char *key = gres->file != NULL ? "File" : "MultipleFiles";
    const char *text = gres->file != NULL ? gres->file : gres->multiple_files;
    if (text == NULL)
        return true;
    if (gres->file != NULL && gres->multiple_files != NULL) {
        conf_error(&loader->context, "File and MultipleFiles exclude each other: MultipleFiles are "
                                     "all the files of one device");
        return false;
    }
    if (!names_expand(loader, key, text, &gres->files, &gres->n_files))
        return false;
    for (size_t i = 0; i < gres->n_files; i++) {
        if (gres->files[i][0] != '/') {
            conf_error(&loader->context, "%s: \"%s\" is no absolute path", key, gres->files[i]);
            return false;
        }
    }
    return true;
}

/* The count is that of the files; a Count beside File must say the same. */
static void count_set(struct conf_loader *loader, struct conf_gres *gres) {
    struct error err = ERROR_INIT;
    uint64_t devices = gres->multiple_files != NULL ? 1 : gres->n_files;
    gres->count = devices > 0 ? devices : 1;
    if (gres->count_text == NULL)
        return;
    uint64_t count;
    if (count_parse(gres->count_text, &count, &err) != 0) {
        conf_error(&loader->context, "Count: \"%s\" is not a number (K, M, G may follow)",
                   gres->count_text);
        return;
    }
    /* Shares of a device are counted, not the devices: mps and shard. */
    if (devices > 0 && count != devices && !gres_is_share(gres->name))
        conf_error(&loader->context,
                   "Count=%llu, but File names %llu: leave Count out, or make them agree",
                   (unsigned long long) count, (unsigned long long) devices);
    gres->count = count;
}

/* Bit 0 of seen is AutoDetect, the one key that may stand without Name. */
void conf_gres_line_finish(struct conf_loader *loader, void *object, uint64_t seen) {
    struct conf_gres *gres = object;
    gres->source_file = loader->context.file;
    gres->source_line = loader->context.line;
    if (gres->node_names != NULL &&
        !names_expand(loader, "NodeName", gres->node_names, &gres->nodes, &gres->n_nodes))
        return;
    if (gres->name == NULL) {
        if (seen != 0 && (seen & 1) == 0) {
            conf_error(&loader->context, "the line has no Name, as in Name=gpu File=/dev/nvidia0");
            return;
        }
    } else {
        if (!files_expand(loader, gres))
            return;
        count_set(loader, gres);
    }
    if (seen != 0)
        vec_push(&loader->gres, *gres);
}

void conf_gres_finish(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    conf->gres = loader->gres.items;
    conf->n_gres = loader->gres.n;
    memset(&loader->gres, 0, sizeof(loader->gres));
    for (size_t i = 0; i < conf->n_gres; i++) {
        const struct conf_gres *gres = &conf->gres[i];
        struct conf_context context = conf_context_at(loader, gres->source_file, gres->source_line);
        const char *types = conf->gres_types != NULL ? conf->gres_types : "";
        cleanup_free char *copy = xstrdup(types);
        char *cursor = copy, *type = NULL;
        bool found = gres->name == NULL;
        while (!found && (type = str_next_word(&cursor, ",")) != NULL)
            found = strcasecmp(type, gres->name) == 0;
        if (!found)
            conf_notice(&context,
                        "%s is not in GresTypes of slurm.conf, so this line has no effect",
                        gres->name);
        for (size_t n = 0; n < gres->n_nodes; n++) {
            if (conf_node_find(conf, gres->nodes[n]) == NULL)
                conf_notice(&context, "node %s has no NodeName line in slurm.conf", gres->nodes[n]);
        }
    }
}

bool conf_gres_applies(const struct conf_gres *gres, const char *node_name) {
    if (gres->node_names == NULL)
        return true;
    for (size_t i = 0; i < gres->n_nodes; i++) {
        if (strcmp(gres->nodes[i], node_name) == 0)
            return true;
    }
    return false;
}

/* ---- shares of GPUs ---- */

static bool line_is_of(const struct conf_gres *line, const char *node_name, const char *name,
                       const char *type) {
    return line->name != NULL && str_equal_nocase(line->name, name) &&
           str_equal_nocase(line->type != NULL ? line->type : "", type != NULL ? type : "") &&
           conf_gres_applies(line, node_name);
}

/* The GPU of that number, or NULL where gres.conf does not say which file it is. */
static const char *gpu_file(const struct conf *conf, const struct conf_node *node, uint64_t gpu) {
    uint64_t first = 0;
    for (size_t i = 0; i < node->gres->n; i++) {
        const struct gres_item *item = &node->gres->items[i];
        if (strcasecmp(item->name, "gpu") != 0)
            continue;
        uint64_t at = first;
        for (size_t k = 0; gpu < first + item->count && k < conf->n_gres; k++) {
            const struct conf_gres *line = &conf->gres[k];
            if (!line_is_of(line, node->name, "gpu", item->type))
                continue;
            if (gpu - at < line->n_files && line->multiple_files == NULL)
                return line->files[gpu - at];
            at += line->count;
            if (gpu < at)
                return NULL;
        }
        first += item->count;
    }
    return NULL;
}

/* What lines with File give to GPUs; false: there are none. */
static bool shares_of_files(const struct conf *conf, const struct conf_node *node,
                            const struct gres_item *share, uint64_t *ret, size_t n_gpus) {
    bool any = false;
    for (size_t i = 0; i < conf->n_gres; i++) {
        const struct conf_gres *line = &conf->gres[i];
        if (!line_is_of(line, node->name, share->name, share->type) || line->n_files == 0)
            continue;
        any = true;
        for (size_t f = 0; f < line->n_files; f++) {
            for (size_t gpu = 0; gpu < n_gpus; gpu++) {
                if (str_equal(gpu_file(conf, node, gpu), line->files[f]))
                    ret[gpu] += line->count / line->n_files + (f < line->count % line->n_files);
            }
        }
    }
    return any;
}

void conf_gres_shares(const struct conf *conf, const struct conf_node *node,
                      const struct gres_item *share, uint64_t *ret, size_t n_gpus) {
    memset(ret, 0, n_gpus * sizeof(*ret));
    if (shares_of_files(conf, node, share, ret, n_gpus))
        return;
    for (size_t gpu = 0; gpu < n_gpus; gpu++)
        ret[gpu] = share->count / n_gpus + (gpu < share->count % n_gpus);
}

uint64_t conf_gres_flags(const struct conf *conf, const char *node_name, const char *name,
                         const char *type) {
    uint64_t flags = 0;
    for (size_t i = 0; i < conf->n_gres; i++) {
        if (conf->gres[i].flags != 0 && line_is_of(&conf->gres[i], node_name, name, type))
            flags |= conf->gres[i].flags;
    }
    return flags;
}

bool conf_gres_shares_one(const struct conf *conf, const struct conf_node *node,
                          const struct gres_item *share) {
    uint64_t flags = conf_gres_flags(conf, node->name, share->name, share->type);
    if (strcasecmp(share->name, "mps") == 0)
        return !(flags & CONF_GRES_ALL_SHARING);
    return flags & CONF_GRES_ONE_SHARING;
}
