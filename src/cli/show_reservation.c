/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations as scontrol shows them and sinfo -T lists them. */
#include <string.h>

#include "base/alloc.h"
#include "cli/show.h"
#include "text/duration.h"

static const char *state_of(const struct reservation *r, const struct show_options *options) {
    return reservation_is_active(r, options->env->now) ? "ACTIVE" : "INACTIVE";
}

void show_reservation(const struct reservation *r, const struct show_options *options,
                      struct str *out) {
    show_text("ReservationName", r->name, out);
    show_time("StartTime", r->start_time, "Unknown", options, out);
    show_time("EndTime", r->end_time, "Unknown", options, out);
    show_text("Duration", "", out);
    duration_print_long(r->end_time - r->start_time, out);
    show_line(options, out);
    show_text("Nodes", r->nodes, out);
    show_number("NodeCnt", r->node_cnt, out);
    show_number("CoreCnt", r->core_cnt, out);
    show_text("Features", r->features, out);
    show_text("PartitionName", r->partition, out);
    show_text("Flags", "", out);
    reservation_flags_print(r, out);
    show_line(options, out);
    show_text("TRES", r->tres, out);
    show_line(options, out);
    show_text("Users", r->users, out);
    show_text("Groups", r->groups, out);
    show_text("Accounts", r->accounts, out);
    show_text("Licenses", r->licenses, out);
    show_text("State", state_of(r, options), out);
    show_text("BurstBuffer", NULL, out);
    show_line(options, out);
    show_text("MaxStartDelay", NULL, out);
    if (r->comment != NULL) {
        show_line(options, out);
        show_text("Comment", r->comment, out);
    }
    show_end(options, out);
}

void show_reservation_table(const struct reservation *const *reservations, size_t n, bool bare,
                            const struct show_options *options, struct str *out) {
    size_t width = strlen("RESV_NAME");
    for (size_t i = 0; !bare && i < n; i++)
        width = max_of(width, strlen(reservations[i]->name));
    if (!bare)
        str_printf(out, "%-*s  %8s  %19s  %19s  %11s  %s\n", (int) width, "RESV_NAME", "STATE",
                   "START_TIME", "END_TIME", "DURATION", "NODELIST");
    for (size_t i = 0; i < n; i++) {
        const struct reservation *r = reservations[i];
        struct str start cleanup_str = STR_INIT, end cleanup_str = STR_INIT;
        struct str length cleanup_str = STR_INIT;
        column_time_print(r->start_time, "Unknown", options->env, &start);
        column_time_print(r->end_time, "Unknown", options->env, &end);
        duration_print_long(r->end_time - r->start_time, &length);
        str_printf(out, "%-*s  %8s  %19s  %19s  %11s  %s\n", (int) width, r->name,
                   state_of(r, options), str_cstr(&start), str_cstr(&end), str_cstr(&length),
                   r->nodes != NULL ? r->nodes : "");
    }
}
