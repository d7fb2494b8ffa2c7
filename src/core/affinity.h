/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which devices of one kind on one node belong together: by the Links and Cores of gres.conf.
 * Devices are numbered from 0 within their kind; a set of them is a bit mask.
 */
#ifndef SLUICE_CORE_AFFINITY_H
#define SLUICE_CORE_AFFINITY_H

#include <stddef.h>
#include <stdint.h>

#include "text/idset.h"

#define AFFINITY_DEVICES_MAX 32

struct conf;
struct gres_place;
struct affinity;

/* NULL when gres.conf tells nothing, or there are more than AFFINITY_DEVICES_MAX. `offset`: devices
 * of the same name and other types that are numbered before these, as Links counts them. */
struct affinity *affinity_new(const struct conf *conf, const char *node, const char *name,
                              const char *type, uint32_t n, uint32_t offset);
/* The same of what a node has found out of its devices by itself. */
struct affinity *affinity_found(const struct gres_place *places, size_t n_places, const char *name,
                                uint32_t n, uint32_t offset);
void affinity_free(struct affinity *affinity);
/* The `count` devices of `free` that are linked best; among equals those that leave the rest linked
 * best, then the lowest numbers. `count` is at most the number of free ones. */
uint32_t affinity_choose(const struct affinity *affinity, uint32_t free, uint32_t count);
/* Adds the cores near these devices. */
void affinity_cores(const struct affinity *affinity, uint32_t devices, struct idset *cores);

#endif
