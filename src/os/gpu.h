/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendor's library of a machine's GPUs (NVIDIA's NVML), loaded when it is asked for: which
 * cards there are and what they do. Nothing is linked against it, and a machine without it loses
 * nothing else.
 *
 * Functions and structures are those of nvml.h, whose ABI is stable by its versioned names ("_v2");
 * those that an old library lacks leave their fields unknown.
 *
 * Calls may block for seconds while a driver is in trouble: sample in a thread. One thread at a
 * time.
 */
#ifndef SLUICE_OS_GPU_H
#define SLUICE_OS_GPU_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define GPU_CARDS_MAX 64
#define GPU_PROCESSES_MAX 64 /* of one card; more are not told */

struct gpu_card {
    char *type;       /* product name, lower case, '_' for blanks: "nvidia_a100-sxm4-80gb" */
    char *uuid, *pci; /* NULL where unknown */
    char *file;       /* "/dev/nvidia0" */
    char *links;      /* "-1,12,0": NVLinks to each card, -1 the card itself; NULL = none at all */
    char *cpus;       /* of the machine, near the card: "0-15,32-47"; NULL = unknown */
    uint64_t memory;  /* MiB */
};

struct gpu_process {
    pid_t pid;
    uint64_t memory; /* MiB, UINT64_MAX where unknown */
};

struct gpu_sample {
    uint32_t use;         /* percent of the last moment, UINT32_MAX = unknown */
    uint64_t memory_used; /* MiB, UINT64_MAX = unknown */
    uint64_t ecc_errors;  /* uncorrectable ones since the driver was loaded */
    uint64_t xid;         /* the last critical error since the call before, 0 = none */
    struct gpu_process processes[GPU_PROCESSES_MAX];
    size_t n_processes;
};

struct gpu_library;

/* path NULL: the environment's SLUICE_NVML_LIBRARY, else libnvidia-ml.so.1. Device files are
 * "/dev/nvidia<minor>", or begin with what SLUICE_NVML_DEVICES says. ERR_NOT_FOUND: there is no
 * such library; ERR_SYSTEM: it does not work (no driver). */
must_check int gpu_open(const char *path, struct gpu_library **ret, struct error *err);
void gpu_close(struct gpu_library *library); /* NULL is ignored */
/* The cards in the library's order, owned by it. */
const struct gpu_card *gpu_cards(const struct gpu_library *library, size_t *ret_n);
/* Of card `index`. A card that has fallen off the bus is an error that says so. */
must_check int gpu_sample(struct gpu_library *library, size_t index, struct gpu_sample *ret,
                          struct error *err);

#endif
