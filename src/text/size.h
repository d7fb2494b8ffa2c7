/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts of memory and counts with a unit. */
#ifndef SLUICE_TEXT_SIZE_H
#define SLUICE_TEXT_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/* `int[K|M|G|T[B]]`, any case, default MiB; K rounds up. Result in MiB. No decimals. */
must_check int mem_parse(const char *text, uint64_t *ret_mib, struct error *err);
/* Counts of GRES and TRES: int with K, M, G, T, P = 1024^n. */
must_check int count_parse(const char *text, uint64_t *ret_count, struct error *err);
/* `100M`, `4G`, `1.50T`: scaled while the value stays exact as users see it (2048M -> 2G, 1536M ->
 * 1.50G); convert false: always M. */
void mem_print(uint64_t mib, bool convert, struct str *out);
/* What mem_print() has written, halves and P as well, and all that mem_parse() reads. */
must_check int mem_read(const char *text, uint64_t *ret_mib, struct error *err);
/* KiB with unit as sacct prints MaxRSS: 4152K; unit 'K','M','G','T','P' forces, 0 = automatic. */
void kib_print(uint64_t kib, char unit, bool convert, struct str *out);

#endif
