/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and durations: what parses prints as text that reads the same. */
#include "base/alloc.h"
#include "fuzz.h"
#include "text/duration.h"
#include "text/size.h"

static void size_check(const char *text) {
    uint64_t mib, count, again;
    cleanup_str struct str printed = STR_INIT, shown = STR_INIT;
    if (mem_parse(text, &mib, NULL) == 0) {
        mem_print(mib, false, &printed);
        require(mem_parse(str_cstr(&printed), &again, NULL) == 0 && again == mib);
        mem_print(mib, true, &shown);
        kib_print(mib, 'G', true, &shown);
    }
    str_reset(&printed);
    if (count_parse(text, &count, NULL) == 0) {
        str_append_u64(&printed, count);
        require(count_parse(str_cstr(&printed), &again, NULL) == 0 && again == count);
    }
}

static void duration_check(const char *text) {
    uint64_t seconds, again;
    uint32_t minutes;
    cleanup_str struct str printed = STR_INIT, shown = STR_INIT;
    if (duration_parse(text, &seconds, NULL) < 0) {
        require(minutes_parse(text, &minutes, NULL) < 0);
        return;
    }
    if (minutes_parse(text, &minutes, NULL) == 0) {
        minutes_print_short(minutes, "NOT_SET", &shown);
        minutes_print_long(minutes, "NOT_SET", &shown);
    }
    if (seconds == UINT64_MAX)
        return;
    duration_print_short((int64_t) seconds, &shown);
    duration_print_long((int64_t) seconds, &printed);
    require(duration_parse(str_cstr(&printed), &again, NULL) == 0 && again == seconds);
}

FUZZ_TEXT(text) {
    size_check(text);
    duration_check(text);
}
