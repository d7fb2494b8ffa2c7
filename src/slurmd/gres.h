/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of this node: which number of the controller's (the IDX of "gpu:a100:1(IDX:0)") is
 * which device file.
 *
 * The controller numbers the devices of one name through, in the order of the node's Gres in
 * slurm.conf. The devices are lines of gres.conf, or cards that AutoDetect found; they are given
 * the numbers of the first entry of Gres with room whose type theirs is, else has theirs as a part
 * ("a100" of "nvidia_a100-sxm4-80gb"), else of one without a type. A device that is missing keeps
 * its number, so that no other becomes a running job's.
 */
#ifndef SLUICE_SLURMD_GRES_H
#define SLUICE_SLURMD_GRES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "model/conf.h"
#include "os/gpu.h"

#define GRES_NO_CARD SIZE_MAX
#define GRES_NO_INDEX UINT32_MAX

/* Which variables tell a program of its GPUs; bits. */
enum gpu_env {
    GPU_ENV_NVIDIA = 1u << 0, /* CUDA_VISIBLE_DEVICES */
    GPU_ENV_AMD = 1u << 1,    /* ROCR_VISIBLE_DEVICES */
    GPU_ENV_OPENCL = 1u << 2, /* GPU_DEVICE_ORDINAL */
    GPU_ENV_INTEL = 1u << 3,  /* ZE_AFFINITY_MASK */
    GPU_ENV_ALL = 15,
};

struct gres_file {
    char *path;
    bool is_there, is_block; /* a block device, or a character device, or no device at all */
    dev_t device;            /* major:minor; 0 = no device */
};

struct gres_device {
    char *name, *type; /* type: as it is reported; NULL = none */
    uint32_t index;    /* the controller's; GRES_NO_INDEX: more than slurm.conf has */
    uint32_t number;   /* what programs call it: the digits at the end of its first file */
    bool is_there;
    vec(struct gres_file) files;
    uint32_t env;        /* enum gpu_env */
    size_t card;         /* of the vendor's library, or GRES_NO_CARD */
    char *cores, *links; /* as in gres.conf; NULL = unknown */
};

struct gres_inventory {
    vec(struct gres_device) devices; /* by name, then index; those without an index last */
    struct gres_list counts;         /* of what is there, for the registration; with what has no
                                        devices but a Count */
    vec(char *) complaints;          /* sentences for the log */
};

/* The devices of gres.conf for this node, with the cards that were found where AutoDetect is on. */
void gres_inventory_make(const struct conf *conf, const struct conf_node *node,
                         const struct gpu_card *cards, size_t n_cards, struct gres_inventory *ret);
void gres_inventory_done(struct gres_inventory *inventory);
/* NULL when there is none of that index. */
const struct gres_device *gres_device_find(const struct gres_inventory *inventory, const char *name,
                                           uint32_t index);
/* The AutoDetect that holds for the node: CONF_AUTODETECT_… */
unsigned gres_autodetect(const struct conf *conf, const char *node_name);

#endif
