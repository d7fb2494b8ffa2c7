/* SPDX-License-Identifier: Apache-2.0 */
/* This node's devices, and the vendor's library behind AutoDetect. */
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "base/alloc.h"
#include "os/log.h"
#include "slurmd/slurmd.h"
#include "text/idset.h"

static void library_close(struct slurmd *slurmd) {
    if (!gpu_watch_is_busy(slurmd)) /* else it is closed when the look is over */
        gpu_close(slurmd->gpus);
    slurmd->gpus = NULL;
    free(take(slurmd->gpu_problem));
}

/* Kept open from one look to the next: starting it may take seconds. */
static void library_open(struct slurmd *slurmd) {
    unsigned autodetect = gres_autodetect(slurmd->conf, slurmd->node_name);
    struct error err = ERROR_INIT;

    if (autodetect == CONF_AUTODETECT_UNSET || autodetect == CONF_AUTODETECT_OFF) {
        library_close(slurmd);
        return;
    }
    const char *word = conf_word_name(&conf_vocabulary_AUTODETECT, autodetect);
    free(take(slurmd->gpu_problem));
    if (autodetect != CONF_AUTODETECT_NVML && autodetect != CONF_AUTODETECT_NVIDIA) {
        library_close(slurmd);
        slurmd->gpu_problem = xasprintf("AutoDetect=%s is not supported (nvml is)", word);
    } else if (!slurmd->gpus && gpu_open(NULL, &slurmd->gpus, &err) < 0) {
        slurmd->gpu_problem = xasprintf("AutoDetect=%s: %s", word, err.text);
    }
    if (slurmd->gpu_problem)
        log_error("no GPUs were found: %s. Name them by File= in gres.conf and set AutoDetect=off, "
                  "or repair the driver",
                  slurmd->gpu_problem);
}

/* The library knows processors near a card; lines of gres.conf, cores. */
static void find_cores(struct slurmd *slurmd, const struct gpu_card *cards) {
    const struct cpu_map *map = &slurmd->cpu_map;

    vec_each (&slurmd->gres.devices, device) {
        if (device->card == GRES_NO_CARD || device->cores || !cards[device->card].cpus)
            continue;
        struct idset cpus cleanup_idset = IDSET_INIT, cores cleanup_idset = IDSET_INIT;
        if (idset_parse(&cpus, cards[device->card].cpus, UINT32_MAX - 2, NULL, NULL) < 0)
            continue;
        for (uint32_t i = 0; i < map->pus.n; i++)
            if (map->pus.items[i] != UNSET32 && idset_contains(&cpus, map->pus.items[i]))
                (void) idset_add(&cores, i / map->width);
        struct str text = STR_INIT;
        idset_print(&cores, &text, 0);
        if (text.length > 0)
            device->cores = str_take(&text);
        str_done(&text);
    }
}

static void take_numbers(struct slurmd *slurmd) {
    uint32_t index = 0, env = 0;

    vec_reset(&slurmd->gpu_numbers);
    vec_reset(&slurmd->gpu_cores);
    for (const struct gres_device *device;
         (device = gres_device_find(&slurmd->gres, "gpu", index)) != NULL; index++) {
        vec_push(&slurmd->gpu_numbers, device->number);
        vec_push(&slurmd->gpu_cores, device->cores ? device->cores : (char *) (uintptr_t) "");
        env |= device->env;
    }
    slurmd->gpu_env = index > 0 ? env : GPU_ENV_ALL;
}

static void take_shares(struct slurmd *slurmd) {
    const struct gres_list *gres = slurmd->node->gres;
    size_t n = slurmd->gpu_numbers.n;
    cleanup_free uint64_t *shares = xcalloc(n + 1, sizeof(*shares));

    vec_reset(&slurmd->gpu_mps);
    for (size_t i = 0; gres && i < gres->n; i++) {
        if (!str_equal_nocase(gres->items[i].name, "mps") || n == 0)
            continue;
        vec_reset(&slurmd->gpu_mps);
        conf_gres_shares(slurmd->conf, slurmd->node, &gres->items[i], shares, n);
        for (size_t gpu = 0; gpu < n; gpu++)
            vec_push(&slurmd->gpu_mps, (uint32_t) min_of(shares[gpu], (uint64_t) UINT32_MAX));
    }
}

void gres_look(struct slurmd *slurmd) {
    size_t n_cards = 0;
    const struct gpu_card *cards = NULL;

    library_open(slurmd);
    if (slurmd->gpus)
        cards = gpu_cards(slurmd->gpus, &n_cards);
    gres_inventory_done(&slurmd->gres);
    gres_inventory_make(slurmd->conf, slurmd->node, cards, n_cards, &slurmd->gres);
    vec_each (&slurmd->gres.complaints, text)
        log_error("%s", *text);
    find_cores(slurmd, cards);
    take_numbers(slurmd);
    take_shares(slurmd);
}

/* ---- slurmd -G ---- */

static void describe_device(const struct gres_device *device, struct str *out) {
    str_printf(out, "slurmd: Gres Name=%s Type=%s Count=1", device->name,
               device->type ? device->type : "(null)");
    if (device->index != GRES_NO_INDEX)
        str_printf(out, " Index=%u", device->index);
    vec_each (&device->files, file)
        str_printf(out, "%s%s", file == device->files.items ? " File=" : ",", file->path);
    if (device->files.n > 0 && device->files.items[0].device != 0)
        str_printf(out, " ID=%u:%u", major(device->files.items[0].device),
                   minor(device->files.items[0].device));
    if (device->cores)
        str_printf(out, " Cores=%s", device->cores);
    if (device->links)
        str_printf(out, " Links=%s", device->links);
    str_printf(out, "%s\n", device->is_there ? "" : " (missing)");
}

static uint64_t devices_of(const struct gres_inventory *gres, const struct gres_item *item) {
    uint64_t n = 0;

    vec_each (&gres->devices, device)
        n += device->is_there && str_equal_nocase(device->name, item->name) &&
             str_equal_nocase(device->type, item->type);
    return n;
}

void gres_describe(const struct slurmd *slurmd, struct str *out) {
    vec_each (&slurmd->gres.devices, device)
        describe_device(device, out);
    for (size_t i = 0; i < slurmd->gres.counts.n; i++) {
        const struct gres_item *item = &slurmd->gres.counts.items[i];
        uint64_t rest = item->count - devices_of(&slurmd->gres, item);
        if (rest > 0)
            str_printf(out, "slurmd: Gres Name=%s Type=%s Count=%llu\n", item->name,
                       item->type ? item->type : "(null)", (unsigned long long) rest);
    }
}
