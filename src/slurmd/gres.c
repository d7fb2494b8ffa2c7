/* SPDX-License-Identifier: Apache-2.0 */
/* Devices from gres.conf and the vendor's library; see the header. */
#include "slurmd/gres.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/str.h"

static void complain(struct gres_inventory *inventory, const char *fmt, ...) printf_like(2, 3);
static void complain(struct gres_inventory *inventory, const char *fmt, ...) {
    struct str text = STR_INIT;
    va_list args;

    va_start(args, fmt);
    str_vprintf(&text, fmt, args);
    va_end(args);
    vec_push(&inventory->complaints, str_take(&text));
}

/* ---- devices ---- */

/* "/dev/nvidia3" → 3 */
static uint32_t trailing_number(const char *path, uint32_t otherwise) {
    const char *digits = path + strlen(path);

    while (digits > path && isdigit((unsigned char) digits[-1]))
        digits--;
    return *digits ? (uint32_t) strtoul(digits, NULL, 10) : otherwise;
}

static void add_file(struct gres_device *device, const char *path) {
    struct gres_file *file = vec_add(&device->files);
    struct stat stat_;

    file->path = xstrdup(path);
    if (stat(path, &stat_) < 0)
        return;
    file->is_there = true;
    file->is_block = S_ISBLK(stat_.st_mode);
    if (file->is_block || S_ISCHR(stat_.st_mode))
        file->device = stat_.st_rdev;
}

static struct gres_device *add_device(struct gres_inventory *inventory, const char *name,
                                      const char *type) {
    struct gres_device *device = vec_add(&inventory->devices);

    device->name = xstrdup(name);
    device->type = xstrdup_null(type);
    device->index = GRES_NO_INDEX;
    device->number = GRES_NO_INDEX;
    device->is_there = true;
    device->card = GRES_NO_CARD;
    return device;
}

static uint32_t env_of_flags(uint64_t flags, uint32_t otherwise) {
    static const struct {
        uint64_t flag;
        uint32_t env;
    } rows[] = {{CONF_GRES_NVIDIA_ENV, GPU_ENV_NVIDIA}, {CONF_GRES_AMD_ENV, GPU_ENV_AMD},
                {CONF_GRES_OPENCL_ENV, GPU_ENV_OPENCL}, {CONF_GRES_ONEAPI_ENV, GPU_ENV_INTEL},
                {CONF_GRES_INTEL_ENV, GPU_ENV_INTEL},   {CONF_GRES_NO_GPU_ENV, 0}};
    bool any = false;
    uint32_t env = 0;

    for (size_t i = 0; i < countof(rows); i++) {
        if (!(flags & rows[i].flag))
            continue;
        any = true;
        env |= rows[i].env;
    }
    return any ? env : otherwise;
}

static void describe(struct gres_device *device, const struct conf_gres *line, uint32_t env) {
    if (line->cores) {
        free(device->cores);
        device->cores = xstrdup(line->cores);
    }
    if (line->links) {
        free(device->links);
        device->links = xstrdup(line->links);
    }
    device->env = env_of_flags(line->flags, env);
}

/* ---- lines of gres.conf ---- */

static bool counts_only(const struct conf_gres *line) {
    return line->n_files == 0 || gres_is_share(line->name);
}

/* Devices that are told apart; MultipleFiles are those of a single one. */
static void add_devices(struct gres_inventory *inventory, const struct conf_gres *line) {
    bool is_one = line->multiple_files != NULL;

    for (size_t i = 0; i < line->n_files; i++) {
        if (i == 0 || !is_one)
            describe(add_device(inventory, line->name, line->type), line, GPU_ENV_ALL);
        struct gres_device *device = &inventory->devices.items[inventory->devices.n - 1];
        add_file(device, line->files[i]);
        const struct gres_file *file = &device->files.items[device->files.n - 1];
        if (!file->is_there && !(line->flags & CONF_GRES_COUNT_ONLY)) {
            device->is_there = false;
            complain(inventory, "%s line %u: device %s of gres/%s is not there", line->source_file,
                     line->source_line, file->path, line->name);
        }
    }
}

/* The detected card that a line without File means next: of its type, and no line's yet. */
static struct gres_device *card_for_line(struct gres_inventory *inventory,
                                         const struct conf_gres *line, const bool *is_named,
                                         const char *file) {
    vec_each (&inventory->devices, device) {
        if (device->card == GRES_NO_CARD || is_named[device->card])
            continue;
        if (file ? str_equal(device->files.items[0].path, file)
                 : !line->type || strcasestr(device->type, line->type) != NULL)
            return device;
    }
    return NULL;
}

/* A line for GPUs beside AutoDetect says more of cards that were found; it makes none up. */
static void name_cards(struct gres_inventory *inventory, const struct conf_gres *line,
                       bool *is_named) {
    size_t n = line->n_files > 0 ? line->n_files : (size_t) line->count;

    for (size_t i = 0; i < n; i++) {
        const char *file = line->n_files > 0 ? line->files[i] : NULL;
        struct gres_device *device = card_for_line(inventory, line, is_named, file);
        if (!device) {
            complain(inventory,
                     "%s line %u: AutoDetect found no GPU %s%s, so there is none: correct the line "
                     "or leave it out",
                     line->source_file, line->source_line,
                     file         ? file
                     : line->type ? "of type "
                                  : "for it",
                     !file && line->type ? line->type : "");
            return;
        }
        is_named[device->card] = true;
        if (line->type) {
            free(device->type);
            device->type = xstrdup(line->type);
        }
        describe(device, line, device->env);
    }
}

static void add_cards(struct gres_inventory *inventory, const struct gpu_card *cards,
                      size_t n_cards) {
    for (size_t i = 0; i < n_cards; i++) {
        struct gres_device *device = add_device(inventory, "gpu", cards[i].type);
        device->card = i;
        device->env = GPU_ENV_NVIDIA;
        device->links = xstrdup_null(cards[i].links);
        add_file(device, cards[i].file);
        device->is_there = device->files.items[0].is_there;
        if (!device->is_there)
            complain(inventory, "device %s of a GPU that AutoDetect found is not there",
                     cards[i].file);
    }
}

/* ---- the controller's numbers ---- */

/* How well a device is one of an entry of Gres: the lower the better, 0 = it is not. */
enum fit { FIT_NOT, FIT_TYPE, FIT_PART, FIT_ANY };

static enum fit fit_of(const struct gres_item *item, const struct gres_device *device) {
    if (!str_equal_nocase(item->name, device->name))
        return FIT_NOT;
    if (!item->type)
        return FIT_ANY;
    if (!device->type)
        return FIT_NOT;
    if (str_equal_nocase(item->type, device->type))
        return FIT_TYPE;
    return strcasestr(device->type, item->type) ? FIT_PART : FIT_NOT;
}

static uint32_t first_index(const struct gres_list *list, size_t item) {
    uint64_t first = 0;

    for (size_t i = 0; i < item; i++)
        first += str_equal_nocase(list->items[i].name, list->items[item].name)
                     ? list->items[i].count
                     : 0;
    return (uint32_t) min_of(first, (uint64_t) UINT32_MAX / 2);
}

static int index_compare(const void *a, const void *b) {
    const struct gres_device *x = a, *y = b;
    int names = strcasecmp(x->name, y->name);

    return names ? names : (x->index > y->index) - (x->index < y->index);
}

static void number_devices(struct gres_inventory *inventory, const struct gres_list *list) {
    cleanup_free uint32_t *taken = xcalloc(list->n + 1, sizeof(*taken));

    for (enum fit fit = FIT_TYPE; fit <= FIT_ANY; fit++) {
        for (size_t i = 0; i < list->n; i++) {
            vec_each (&inventory->devices, device) {
                if (device->index != GRES_NO_INDEX || taken[i] == list->items[i].count ||
                    fit_of(&list->items[i], device) != fit)
                    continue;
                device->index = first_index(list, i) + taken[i]++;
                if (list->items[i].type && fit == FIT_PART) {
                    free(device->type);
                    device->type = xstrdup(list->items[i].type);
                }
            }
        }
    }
}

/* ---- what is there ---- */

static void count_add(struct gres_inventory *inventory, const char *name, const char *type,
                      uint64_t count) {
    struct gres_list *list = &inventory->counts;

    for (size_t i = 0; i < list->n; i++) {
        if (str_equal_nocase(list->items[i].name, name) &&
            str_equal_nocase(list->items[i].type, type)) {
            list->items[i].count += count;
            return;
        }
    }
    list->items = xreallocarray(list->items, list->n + 1, sizeof(*list->items));
    list->items[list->n++] =
        (struct gres_item) {.name = xstrdup(name), .type = xstrdup_null(type), .count = count};
    list->capacity = list->n;
}

static void count_devices(struct gres_inventory *inventory, const char *node_name) {
    uint32_t extra = 0;

    vec_each (&inventory->devices, device) {
        if (device->number == GRES_NO_INDEX)
            device->number = device->files.n > 0
                                 ? trailing_number(device->files.items[0].path, device->index)
                                 : device->index;
        if (device->is_there)
            count_add(inventory, device->name, device->type, 1);
        extra += device->index == GRES_NO_INDEX;
    }
    if (extra > 0)
        complain(inventory,
                 "%u device%s more than Gres of node %s in slurm.conf says: not used until they "
                 "are added there",
                 extra, extra == 1 ? "" : "s", node_name);
}

unsigned gres_autodetect(const struct conf *conf, const char *node_name) {
    unsigned found = CONF_AUTODETECT_UNSET;
    bool is_ours = false;

    for (size_t i = 0; i < conf->n_gres; i++) {
        const struct conf_gres *line = &conf->gres[i];
        if (line->autodetect == CONF_AUTODETECT_UNSET || !conf_gres_applies(line, node_name) ||
            (is_ours && !line->node_names))
            continue;
        found = line->autodetect;
        is_ours = line->node_names != NULL;
    }
    return found;
}

void gres_inventory_make(const struct conf *conf, const struct conf_node *node,
                         const struct gpu_card *cards, size_t n_cards, struct gres_inventory *ret) {
    static const struct gres_list none = GRES_LIST_INIT;
    unsigned autodetect = gres_autodetect(conf, node->name);
    bool detects = autodetect != CONF_AUTODETECT_UNSET && autodetect != CONF_AUTODETECT_OFF;
    bool is_named[GPU_CARDS_MAX] = {false};

    *ret = (struct gres_inventory) {0};
    if (detects)
        add_cards(ret, cards, n_cards);
    for (size_t i = 0; i < conf->n_gres; i++) {
        const struct conf_gres *line = &conf->gres[i];
        if (!line->name || !conf_gres_applies(line, node->name))
            continue;
        if (detects && str_equal_nocase(line->name, "gpu"))
            name_cards(ret, line, is_named);
        else if (counts_only(line))
            count_add(ret, line->name, line->type, line->count);
        else
            add_devices(ret, line);
    }
    number_devices(ret, node->gres ? node->gres : &none);
    if (ret->devices.n > 1)
        qsort(ret->devices.items, ret->devices.n, sizeof(*ret->devices.items), index_compare);
    count_devices(ret, node->name);
}

const struct gres_device *gres_device_find(const struct gres_inventory *inventory, const char *name,
                                           uint32_t index) {
    vec_each (&inventory->devices, device) {
        if (device->index == index && str_equal_nocase(device->name, name))
            return device;
    }
    return NULL;
}

void gres_inventory_done(struct gres_inventory *inventory) {
    vec_each (&inventory->devices, device) {
        vec_each (&device->files, file)
            free(file->path);
        vec_done(&device->files);
        free(device->name);
        free(device->type);
        free(device->cores);
        free(device->links);
    }
    vec_done(&inventory->devices);
    gres_list_done(&inventory->counts);
    vec_each (&inventory->complaints, text)
        free(*text);
    vec_done(&inventory->complaints);
}
