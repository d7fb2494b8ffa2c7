/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of gres.conf that this machine really has. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "os/log.h"
#include "slurmd/slurmd.h"

static void gres_add(struct slurmd *slurmd, const char *name, const char *type, uint64_t count) {
    struct gres_list *list = &slurmd->gres;

    for (size_t i = 0; i < list->n; i++) {
        if (str_equal_nocase(list->items[i].name, name) && str_equal(list->items[i].type, type)) {
            list->items[i].count += count;
            return;
        }
    }
    list->items = xreallocarray(list->items, list->n + 1, sizeof(*list->items));
    list->items[list->n++] =
        (struct gres_item) {.name = xstrdup(name), .type = xstrdup_null(type), .count = count};
    list->capacity = list->n;
}

/* "/dev/nvidia3" → 3: what programs call the device. */
static uint32_t trailing_number(const char *path, uint32_t otherwise) {
    const char *digits = path + strlen(path);

    while (digits > path && isdigit((unsigned char) digits[-1]))
        digits--;
    return *digits ? (uint32_t) strtoul(digits, NULL, 10) : otherwise;
}

static uint64_t count_files(struct slurmd *slurmd, const struct conf_gres *gres) {
    uint64_t count = 0;

    for (size_t i = 0; i < gres->n_files; i++) {
        struct stat stat_;
        if (stat(gres->files[i], &stat_) < 0) {
            log_error("%s line %u: device %s of gres/%s is not there", gres->source_file,
                      gres->source_line, gres->files[i], gres->name);
            continue;
        }
        count++;
        uint32_t number = trailing_number(gres->files[i], (uint32_t) slurmd->gpu_numbers.n);
        if (str_equal_nocase(gres->name, "gpu"))
            vec_push(&slurmd->gpu_numbers, number);
    }
    return count;
}

void gres_look(struct slurmd *slurmd) {
    const struct conf *conf = slurmd->conf;

    gres_list_done(&slurmd->gres);
    slurmd->gres = (struct gres_list) GRES_LIST_INIT;
    vec_reset(&slurmd->gpu_numbers);
    for (size_t i = 0; i < conf->n_gres; i++) {
        const struct conf_gres *gres = &conf->gres[i];
        if (!gres->name || !conf_gres_applies(gres, slurmd->node_name))
            continue;
        uint64_t count = gres->n_files > 0 ? count_files(slurmd, gres) : gres->count;
        if (count > 0)
            gres_add(slurmd, gres->name, gres->type, count);
    }
}

void gres_describe(const struct slurmd *slurmd, struct str *out) {
    for (size_t i = 0; i < slurmd->gres.n; i++) {
        const struct gres_item *item = &slurmd->gres.items[i];
        str_printf(out, "slurmd: Gres Name=%s Type=%s Count=%llu\n", item->name,
                   item->type ? item->type : "(null)", (unsigned long long) item->count);
    }
}
