/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of time as users write and read them. */
#ifndef SLUICE_TEXT_DURATION_H
#define SLUICE_TEXT_DURATION_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

#define MINUTES_UNSET UINT32_MAX
#define MINUTES_INFINITE (UINT32_MAX - 1)

/* Time limit in minutes: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S, INFINITE, UNLIMITED, -1 (any case).
 * Seconds round up to a minute. */
must_check int minutes_parse(const char *text, uint32_t *ret_minutes, struct error *err);
/* The same grammar in seconds, not rounded. UINT64_MAX = infinite. */
must_check int duration_parse(const char *text, uint64_t *ret_seconds, struct error *err);

/* `[D-][HH:]MM:SS` with the leading unit unpadded: 0:00, 12:05, 1:02:03, 2-03:04:05 (squeue %M). */
void duration_print_short(int64_t seconds, struct str *out);
/* `[D-]HH:MM:SS`, hours padded (scontrol, sacct). */
void duration_print_long(int64_t seconds, struct str *out);
/* Limits: squeue style / scontrol style of minutes; UNLIMITED and the given word for unset. */
void minutes_print_short(uint32_t minutes, const char *unset, struct str *out);
void minutes_print_long(uint32_t minutes, const char *unset, struct str *out);

#endif
