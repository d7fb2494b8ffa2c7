/* SPDX-License-Identifier: Apache-2.0 */
/* Clock times: never a crash, and what parses prints as a time that reads the same. */
#include "base/alloc.h"
#include "fuzz.h"
#include "text/timestamp.h"

#define NOW 1796054521 /* a Monday in 2026 */

FUZZ_TEXT(text) {
    for (int past = 0; past < 2; past++) {
        struct error err = ERROR_INIT;
        int64_t time = 0, again = 0;
        if (timestamp_parse(text, NOW, past, &time, &err) < 0) {
            require(str_starts(err.text, "Invalid time specification (pos="));
            continue;
        }
        cleanup_str struct str printed = STR_INIT, other = STR_INIT;
        timestamp_print(time, "relative", NOW, &other);
        timestamp_print(time, text, NOW, &other);
        timestamp_print(time, NULL, NOW, &printed);
        bool four_digit_year = printed.length == strlen("2026-11-30T16:02:01");
        if (!four_digit_year || str_cstr(&printed)[0] == '-')
            continue;
        require(timestamp_parse(str_cstr(&printed), NOW, past, &again, NULL) == 0);
        /* The hour that occurs twice when clocks go back may read as the other one. */
        require(llabs(time - again) <= 3600);
    }
}
