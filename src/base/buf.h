/* SPDX-License-Identifier: Apache-2.0 */
/* A borrowed span of bytes; what a decoder reads from. */
#ifndef SLUICE_BASE_BUF_H
#define SLUICE_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
    const uint8_t *data;
    size_t size;
};

#endif
