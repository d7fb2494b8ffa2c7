/* SPDX-License-Identifier: Apache-2.0 */
/* Record tables of reservation.h, and when a recurring one comes again. */
#include "model/reservation.h"

#include "base/alloc.h"
#include "text/duration.h"
#include "text/timestamp.h"

#define RECORD_ROW_reservation_part(...) RECORD_ROW(reservation_part, __VA_ARGS__)
RECORD_DEFINE(reservation_part, RESERVATION_PART_FIELDS)
#define RECORD_ROW_reservation(...) RECORD_ROW(reservation, __VA_ARGS__)
RECORD_DEFINE(reservation, RESERVATION_FIELDS)

static const struct name_row flag_rows[] = {
#define X(name, bit, text) {1u << (bit), text, NULL},
    RESERVATION_FLAG_TABLE(X)
#undef X
};
const struct names names_reservation_flag = {flag_rows, countof(flag_rows)};

int64_t reservation_next_start(int64_t start, uint32_t flags) {
    if (flags & RESERVATION_HOURLY)
        return start + 3600;
    if (flags & RESERVATION_DAILY)
        return timestamp_add_days(start, 1);
    if (flags & RESERVATION_WEEKLY)
        return timestamp_add_days(start, 7);
    if (!(flags & (RESERVATION_WEEKDAY | RESERVATION_WEEKEND)))
        return 0;
    for (int days = 1;; days++) {
        int64_t next = timestamp_add_days(start, days);
        int day = timestamp_weekday(next);
        bool weekend = day == 0 || day == 6;
        if (weekend == ((flags & RESERVATION_WEEKEND) != 0))
            return next;
    }
}

void reservation_flags_print(const struct reservation *reservation, struct str *out) {
    size_t from = out->length;
    for (size_t i = 0; i < countof(flag_rows); i++) {
        if (!(reservation->flags & flag_rows[i].value))
            continue;
        str_printf(out, "%s%s", out->length > from ? "," : "", flag_rows[i].name);
        if (flag_rows[i].value == RESERVATION_PURGE_COMP) {
            str_append_char(out, '=');
            duration_print_long(reservation->purge_after, out);
        }
    }
}
