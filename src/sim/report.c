/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a replay for people and for programs. */
#include "sim/report.h"

#include "text/duration.h"

/* ---- text ---- */

void sim_figures_print(const struct sim_figures *figures, struct str *out) {
    cleanup_str struct str makespan = STR_INIT;
    duration_print_long(figures->makespan, &makespan);
    str_printf(out, "  mean wait         %12.1f s\n", figures->mean_wait);
    str_printf(out, "  median wait       %10lld   s\n", (long long) figures->median_wait);
    str_printf(out, "  p95 wait          %10lld   s\n", (long long) figures->p95_wait);
    str_printf(out, "  max wait          %10lld   s\n", (long long) figures->max_wait);
    str_printf(out, "  bounded slowdown  %12.2f\n", figures->mean_slowdown);
    str_printf(out, "  utilisation       %12.2f %%\n", figures->utilisation * 100);
    str_printf(out, "  makespan          %10lld   s (%s)\n", (long long) figures->makespan,
               makespan.data);
    if (figures->n_started < figures->n_jobs)
        str_printf(out, "  never started     %10llu   jobs\n",
                   (unsigned long long) (figures->n_jobs - figures->n_started));
    str_printf(out, "  sha256 of starts  %s\n", figures->sha256);
}

void sim_users_print(const struct sim_users *users, struct str *out) {
    str_append(out, "\nUSER                 JOBS  PROC-HOURS   MEAN WAIT  MEDIAN WAIT     P95 WAIT"
                    "  SLOWDOWN\n");
    vec_each (users, user)
        str_printf(out, "%-16s %8llu %11.1f %11.1f %12lld %12lld %9.2f\n", user->name,
                   (unsigned long long) user->n_jobs, user->proc_seconds / 3600, user->mean_wait,
                   (long long) user->median_wait, (long long) user->p95_wait, user->mean_slowdown);
}

/* ---- JSON ---- */

static void waits_json(struct json *json, double mean, int64_t median, int64_t p95,
                       double slowdown) {
    json_double(json, "mean_wait", mean);
    json_signed(json, "median_wait", median);
    json_signed(json, "p95_wait", p95);
    json_double(json, "bounded_slowdown", slowdown);
}

void sim_figures_json(const struct sim_figures *figures, struct json *json) {
    json_unsigned(json, "jobs", figures->n_jobs);
    json_unsigned(json, "started", figures->n_started);
    waits_json(json, figures->mean_wait, figures->median_wait, figures->p95_wait,
               figures->mean_slowdown);
    json_signed(json, "max_wait", figures->max_wait);
    json_double(json, "utilisation", figures->utilisation);
    json_signed(json, "makespan", figures->makespan);
}

void sim_users_json(const struct sim_users *users, struct json *json) {
    json_array(json, "users");
    vec_each (users, user) {
        json_object(json, NULL);
        json_text(json, "user", user->name);
        json_unsigned(json, "jobs", user->n_jobs);
        json_unsigned(json, "started", user->n_started);
        json_double(json, "proc_seconds", user->proc_seconds);
        waits_json(json, user->mean_wait, user->median_wait, user->p95_wait, user->mean_slowdown);
        json_end(json);
    }
    json_end(json);
}
