/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts with a unit. The unit letters are powers of 1024 of each other. */
#include "text/size.h"

#include <string.h>

#include "base/alloc.h"

static const char units[] = " KMGTP"; /* units[0]: no letter */
#define UNIT_K 1
#define UNIT_M 2
#define UNIT_MAX 5

/* Power of 1024 that a letter stands for, 0 if none. */
static unsigned unit_find(char letter) {
    if (letter >= 'a' && letter <= 'z')
        letter = (char) (letter - 'a' + 'A');
    const char *at = letter > ' ' ? strchr(units, letter) : NULL;
    return at ? (unsigned) (at - units) : 0;
}

static bool scale_up(uint64_t *value, unsigned powers) {
    return !__builtin_mul_overflow(*value, (uint64_t) 1 << (10 * powers), value);
}

int mem_parse(const char *text, uint64_t *ret_mib, struct error *err) {
    uint64_t value;
    const char *at = text;
    bool valid = str_read_u64(&at, &value);
    unsigned unit = UNIT_M;
    if (valid && *at) {
        unit = unit_find(*at++);
        if (unit > 4) /* the grammar ends at T */
            unit = 0;
        if (*at == 'B' || *at == 'b')
            at++;
    }
    if (!valid || *at || unit == 0)
        return error_set(err, ERR_INVALID,
                         "Invalid memory size \"%.64s\": give a whole number of MiB or one with K, "
                         "M, G or T, as in 4G",
                         text);
    if (unit == UNIT_K)
        value = value / 1024 + (value % 1024 != 0);
    else if (!scale_up(&value, unit - UNIT_M))
        return error_set(err, ERR_INVALID, "Memory size \"%.64s\" is too large", text);
    *ret_mib = value;
    return 0;
}

int mem_read(const char *text, uint64_t *ret_mib, struct error *err) {
    static const char half[] = ".50";
    const char *at = text;
    uint64_t value, part = 0, sum;
    bool valid = str_read_u64(&at, &value);
    if (valid && str_starts(at, half)) {
        at += strlen(half);
        part = 512;
    }
    unsigned unit = valid ? unit_find(*at) : 0;
    if (unit > UNIT_M && at[1] == '\0' && scale_up(&value, unit - UNIT_M) &&
        scale_up(&part, unit - UNIT_M - 1) && !__builtin_add_overflow(value, part, &sum)) {
        *ret_mib = sum;
        return 0;
    }
    return mem_parse(text, ret_mib, err);
}

int count_parse(const char *text, uint64_t *ret_count, struct error *err) {
    uint64_t value;
    const char *at = text;
    bool valid = str_read_u64(&at, &value);
    unsigned unit = 0;
    if (valid && *at) {
        unit = unit_find(*at++);
        valid = unit != 0;
    }
    if (!valid || *at)
        return error_set(err, ERR_INVALID,
                         "Invalid count \"%.64s\": give a whole number, also with K, M, G, T or P",
                         text);
    if (!scale_up(&value, unit))
        return error_set(err, ERR_INVALID, "Count \"%.64s\" is too large", text);
    *ret_count = value;
    return 0;
}

static void unit_append(unsigned unit, struct str *out) {
    if (unit)
        str_append_char(out, units[unit]);
}

/* Users see a larger unit only where halves of it say the same: 1536M is 1.50G, 1500M stays. */
static void scaled_print(uint64_t value, unsigned unit, bool convert, struct str *out) {
    if (value == 0) {
        str_append_char(out, '0');
        return;
    }
    while (convert && unit < UNIT_MAX && value >= 1024 && value % 512 == 0) {
        if (value % 1024 == 512) {
            str_append_u64(out, value / 1024);
            str_append(out, ".50");
            unit_append(unit + 1, out);
            return;
        }
        value /= 1024;
        unit++;
    }
    str_append_u64(out, value);
    unit_append(unit, out);
}

void mem_print(uint64_t mib, bool convert, struct str *out) {
    scaled_print(mib, UNIT_M, convert, out);
}

void kib_print(uint64_t kib, char unit, bool convert, struct str *out) {
    unsigned forced = unit_find(unit);
    if (forced <= UNIT_K || kib == 0) {
        scaled_print(kib, UNIT_K, convert && forced == 0, out);
        return;
    }
    uint64_t divisor = (uint64_t) 1 << (10 * (forced - UNIT_K));
    str_append_u64(out, kib / divisor);
    uint64_t rest = kib % divisor;
    if (rest) {
        /* Rounds half up in integers; 99.5 hundredths would carry, so they stay .99. */
        uint64_t hundredths = ((unsigned __int128) rest * 100 + divisor / 2) / divisor;
        str_printf(out, ".%02u", (unsigned) min_of(hundredths, (uint64_t) 99));
    }
    unit_append(forced, out);
}
