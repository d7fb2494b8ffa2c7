/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Denying device files to a control group v2, which has no controller for them: a program of type
 * BPF_PROG_TYPE_CGROUP_DEVICE is attached to the group and asked at every open() and mknod()
 * (bpf(2); linux/bpf.h, struct bpf_cgroup_dev_ctx). Programs of the groups above are asked, too,
 * and each may only refuse. Needs root; no compiler and no library.
 */
#ifndef SLUICE_OS_DEVICES_H
#define SLUICE_OS_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct device_number {
    bool is_block; /* else a character device */
    uint32_t major, minor;
};

/* The written form, that of the v1 controller: "c 195:0", "b 7:1". */
#define DEVICE_TEXT_SIZE 32
void device_print(const struct device_number *device, char ret[DEVICE_TEXT_SIZE]);
bool device_parse(const char *text, struct device_number *ret);
/* The device behind a path; ERR_NOT_FOUND when there is none, ERR_INVALID when it is no device. */
must_check int device_find(const char *path, struct device_number *ret, struct error *err);

/* Whether the kernel takes such programs from us. */
bool devices_can_be_denied(void);
/* Denies the devices to the group of this directory and all groups below it. The program goes with
 * the group. */
must_check int devices_deny(const char *dir, const struct device_number *denied, size_t n,
                            struct error *err);

#endif
