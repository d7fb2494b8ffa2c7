/* SPDX-License-Identifier: Apache-2.0 */
/* A borrowed span of bytes; what a decoder reads from. And numbers in them. */
#ifndef SLUICE_BASE_BUF_H
#define SLUICE_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
    const uint8_t *data;
    size_t size;
};

/* ---- numbers in network byte order, the highest byte first ---- */
static inline void put_u16(uint8_t *at, uint16_t value) {
    at[0] = (uint8_t) (value >> 8);
    at[1] = (uint8_t) value;
}
static inline void put_u32(uint8_t *at, uint32_t value) {
    put_u16(at, (uint16_t) (value >> 16));
    put_u16(at + 2, (uint16_t) value);
}
static inline uint16_t get_u16(const uint8_t *at) {
    return (uint16_t) (at[0] << 8 | at[1]);
}
static inline uint32_t get_u32(const uint8_t *at) {
    return (uint32_t) get_u16(at) << 16 | get_u16(at + 2);
}

#endif
