/* SPDX-License-Identifier: Apache-2.0 */
/* Two replays side by side. */
#include "sim/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/report.h"
#include "text/duration.h"

#define SECONDS_WIDTH 14

struct tally {
    struct sim_group group;
    struct sim_waits before, after;
};
struct tallies {
    struct smap index;
    vec(struct tally *) items;
};

static bool started(const struct sim_result *result, size_t at) {
    return result->starts[at] != SIM_NEVER;
}

/* ---- groups ---- */

static void tally_add(struct tallies *tallies, const char *name, const struct sim_comparison *c,
                      size_t at) {
    struct tally *tally = smap_get(&tallies->index, name);
    bool before = started(c->before, at), after = started(c->after, at);
    if (tally == NULL) {
        tally = zalloc(struct tally);
        tally->group.name = name;
        smap_put(&tallies->index, name, tally);
        vec_push(&tallies->items, tally);
    }
    tally->group.n_lost += before && !after;
    tally->group.n_won += after && !before;
    if (!before || !after)
        return;
    tally->group.n_jobs++;
    vec_push(&tally->before, sim_wait(c->trace, c->before, at));
    vec_push(&tally->after, sim_wait(c->trace, c->after, at));
}

static void wait_figures(struct sim_waits *waits, double *ret_mean, int64_t *ret_p95) {
    sim_waits_sort(waits);
    *ret_mean = sim_waits_mean(waits);
    *ret_p95 = sim_waits_percentile(waits, 95);
}

static int group_compare(const void *a, const void *b) {
    return strcmp(((const struct sim_group *) a)->name, ((const struct sim_group *) b)->name);
}

static void tallies_finish(struct tallies *tallies, struct sim_groups *ret) {
    *ret = (struct sim_groups) {0};
    vec_each (&tallies->items, at) {
        struct tally *tally = *at;
        wait_figures(&tally->before, &tally->group.mean_before, &tally->group.p95_before);
        wait_figures(&tally->after, &tally->group.mean_after, &tally->group.p95_after);
        vec_push(ret, tally->group);
        vec_done(&tally->before);
        vec_done(&tally->after);
        free(tally);
    }
    if (ret->n > 1)
        qsort(ret->items, ret->n, sizeof(struct sim_group), group_compare);
    vec_done(&tallies->items);
    smap_done(&tallies->index);
}

static const char *partition_of(const struct trace_job *job) {
    return job->request != NULL && job->request->partition != NULL ? job->request->partition
                                                                   : "(default)";
}

/* ---- the jobs that change most ---- */

static int64_t change_of(const struct sim_comparison *c, size_t at) {
    if (!started(c->before, at) && !started(c->after, at))
        return 0;
    if (!started(c->before, at))
        return INT64_MIN + 1;
    if (!started(c->after, at))
        return INT64_MAX;
    return c->after->starts[at] - c->before->starts[at];
}

static uint64_t size_of_change(const struct sim_comparison *c, size_t at) {
    int64_t change = change_of(c, at);
    return change < 0 ? (uint64_t) -change : (uint64_t) change;
}

static void jobs_find(struct sim_comparison *c) {
    for (size_t at = 0; at < c->trace->jobs.n; at++) {
        uint64_t size = size_of_change(c, at);
        size_t i = c->n_jobs;
        if (size == 0)
            continue;
        while (i > 0 && size_of_change(c, c->jobs[i - 1]) < size)
            i--;
        if (i == SIM_COMPARE_JOBS)
            continue;
        c->n_jobs = min_of(c->n_jobs + 1, (size_t) SIM_COMPARE_JOBS);
        memmove(&c->jobs[i + 1], &c->jobs[i], (c->n_jobs - i - 1) * sizeof(c->jobs[0]));
        c->jobs[i] = at;
    }
}

void sim_compare(const struct trace *trace, const struct sim_result *before,
                 const struct sim_result *after, struct sim_comparison *ret) {
    struct tallies users = {0}, partitions = {0};
    *ret = (struct sim_comparison) {.trace = trace, .before = before, .after = after};
    sim_figures(trace, before, &ret->figures_before);
    sim_figures(trace, after, &ret->figures_after);
    for (size_t at = 0; at < trace->jobs.n; at++) {
        tally_add(&users, trace->jobs.items[at].user, ret, at);
        tally_add(&partitions, partition_of(&trace->jobs.items[at]), ret, at);
    }
    tallies_finish(&users, &ret->users);
    tallies_finish(&partitions, &ret->partitions);
    jobs_find(ret);
}

void sim_comparison_done(struct sim_comparison *comparison) {
    vec_done(&comparison->users);
    vec_done(&comparison->partitions);
}

/* ---- text ---- */

static void seconds_cell(int64_t seconds, struct str *out) {
    struct str text cleanup_str = STR_INIT;
    if (seconds < 0)
        str_append_char(&text, '-');
    duration_print_long(seconds < 0 ? -seconds : seconds, &text);
    str_printf(out, " %*s", SECONDS_WIDTH, str_cstr(&text));
}

static void change_cell(int64_t before, int64_t after, struct str *out) {
    struct str text cleanup_str = STR_INIT;
    int64_t change = after - before;
    str_append_char(&text, change < 0 ? '-' : '+');
    duration_print_long(change < 0 ? -change : change, &text);
    str_printf(out, " %*s", SECONDS_WIDTH, change == 0 ? "=" : str_cstr(&text));
}

static void seconds_row(const char *name, int64_t before, int64_t after, struct str *out) {
    str_printf(out, "%-18s", name);
    seconds_cell(before, out);
    seconds_cell(after, out);
    change_cell(before, after, out);
    str_append_char(out, '\n');
}

static void number_row(const char *name, double before, double after, int digits, struct str *out) {
    str_printf(out, "%-18s %*.*f %*.*f %+*.*f\n", name, SECONDS_WIDTH, digits, before,
               SECONDS_WIDTH, digits, after, SECONDS_WIDTH, digits, after - before);
}

static void overall_print(const struct sim_comparison *c, const char *before, const char *after,
                          struct str *out) {
    const struct sim_figures *a = &c->figures_before, *b = &c->figures_after;
    str_printf(out, "%-18s %*s %*s %*s\n", "", SECONDS_WIDTH, before, SECONDS_WIDTH, after,
               SECONDS_WIDTH, "change");
    number_row("jobs started", (double) a->n_started, (double) b->n_started, 0, out);
    seconds_row("mean wait", (int64_t) a->mean_wait, (int64_t) b->mean_wait, out);
    seconds_row("median wait", a->median_wait, b->median_wait, out);
    seconds_row("95 % wait at most", a->p95_wait, b->p95_wait, out);
    seconds_row("longest wait", a->max_wait, b->max_wait, out);
    number_row("bounded slowdown", a->mean_slowdown, b->mean_slowdown, 2, out);
    number_row("utilisation %", 100 * a->utilisation, 100 * b->utilisation, 1, out);
    seconds_row("all done after", a->makespan, b->makespan, out);
}

static void groups_print(const char *what, const struct sim_groups *groups, struct str *out) {
    str_printf(out, "\n%-18s %8s %*s %*s %*s %*s\n", what, "jobs", SECONDS_WIDTH, "mean wait",
               SECONDS_WIDTH, "change", SECONDS_WIDTH, "95 % at most", SECONDS_WIDTH, "change");
    vec_each (groups, group) {
        str_printf(out, "%-18s %8llu", group->name, (unsigned long long) group->n_jobs);
        seconds_cell((int64_t) group->mean_after, out);
        change_cell((int64_t) group->mean_before, (int64_t) group->mean_after, out);
        seconds_cell(group->p95_after, out);
        change_cell(group->p95_before, group->p95_after, out);
        if (group->n_lost > 0)
            str_printf(out, "  %llu never start", (unsigned long long) group->n_lost);
        if (group->n_won > 0)
            str_printf(out, "  %llu start only now", (unsigned long long) group->n_won);
        str_append_char(out, '\n');
    }
}

static void wait_cell(const struct sim_comparison *c, const struct sim_result *result, size_t at,
                      struct str *out) {
    if (started(result, at))
        seconds_cell(sim_wait(c->trace, result, at), out);
    else
        str_printf(out, " %*s", SECONDS_WIDTH, "never");
}

static void jobs_print(const struct sim_comparison *c, struct str *out) {
    if (c->n_jobs == 0) {
        str_append(out, "\nNo job starts at another time.\n");
        return;
    }
    str_printf(out, "\n%-10s %-16s %-16s %6s %*s %*s %*s\n", "changed most", "user", "partition",
               "CPUs", SECONDS_WIDTH, "wait before", SECONDS_WIDTH, "wait after", SECONDS_WIDTH,
               "change");
    for (size_t i = 0; i < c->n_jobs; i++) {
        size_t at = c->jobs[i];
        const struct trace_job *job = &c->trace->jobs.items[at];
        str_printf(out, "%-12llu %-16s %-16s %6u", (unsigned long long) job->id, job->user,
                   partition_of(job), job->procs);
        wait_cell(c, c->before, at, out);
        wait_cell(c, c->after, at, out);
        if (started(c->before, at) && started(c->after, at))
            change_cell(c->before->starts[at], c->after->starts[at], out);
        str_append_char(out, '\n');
    }
}

void sim_comparison_print(const struct sim_comparison *comparison, const char *before,
                          const char *after, struct str *out) {
    overall_print(comparison, before, after, out);
    groups_print("partition", &comparison->partitions, out);
    groups_print("user", &comparison->users, out);
    jobs_print(comparison, out);
}

/* ---- JSON ---- */

static void figures_json(const char *key, const struct sim_figures *figures, struct json *json) {
    json_object(json, key);
    sim_figures_json(figures, json);
    json_end(json);
}

static void groups_json(const char *key, const struct sim_groups *groups, struct json *json) {
    json_array(json, key);
    vec_each (groups, group) {
        json_object(json, NULL);
        json_text(json, "name", group->name);
        json_unsigned(json, "jobs", group->n_jobs);
        json_unsigned(json, "never_start", group->n_lost);
        json_unsigned(json, "start_only_now", group->n_won);
        json_double(json, "mean_wait_before", group->mean_before);
        json_double(json, "mean_wait_after", group->mean_after);
        json_signed(json, "p95_wait_before", group->p95_before);
        json_signed(json, "p95_wait_after", group->p95_after);
        json_end(json);
    }
    json_end(json);
}

static void wait_json(const struct sim_comparison *c, const char *key,
                      const struct sim_result *result, size_t at, struct json *json) {
    if (started(result, at))
        json_signed(json, key, sim_wait(c->trace, result, at));
    else
        json_null(json, key);
}

void sim_comparison_json(const struct sim_comparison *comparison, struct json *json) {
    figures_json("before", &comparison->figures_before, json);
    figures_json("after", &comparison->figures_after, json);
    groups_json("users", &comparison->users, json);
    groups_json("partitions", &comparison->partitions, json);
    json_array(json, "jobs");
    for (size_t i = 0; i < comparison->n_jobs; i++) {
        const struct trace_job *job = &comparison->trace->jobs.items[comparison->jobs[i]];
        json_object(json, NULL);
        json_unsigned(json, "id", job->id);
        json_text(json, "user", job->user);
        json_text(json, "partition", partition_of(job));
        json_unsigned(json, "cpus", job->procs);
        wait_json(comparison, "wait_before", comparison->before, comparison->jobs[i], json);
        wait_json(comparison, "wait_after", comparison->after, comparison->jobs[i], json);
        json_end(json);
    }
    json_end(json);
}
