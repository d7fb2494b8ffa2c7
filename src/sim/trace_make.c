/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up workloads. Each job belongs to a user; few users have most jobs (Zipf). Half of the jobs
 * repeat the user's last one with another run time, the others are new:
 *
 *     procs  a quarter is serial; of the others the logarithm of the size is uniform in two stages,
 *            mostly below the machine's size / 5.6, and three in four are powers of two
 *     run    two log-normal humps around a minute and three hours, the wider the job the likelier
 *            the second; means, deviations and shares of Lublin, Feitelson 2003
 *     limit  the run time times 1 to 5, up to the next round value that people write
 *
 * Submissions are a Poisson process with a daily cycle, stretched so that the work of all jobs
 * fills `load` of the machine between the first submission and the last.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "sim/trace_reader.h"

#define DAY 86400
#define RUN_MAX (7 * DAY)
#define PROCS_MAX 10000000u

struct recipe {
    uint64_t jobs, procs, seed, users;
    double load;
};

struct user {
    const char *name;
    struct trace_job last;
};

struct maker {
    const struct recipe *recipe;
    struct rng rng;
    struct user *users;
};

/* ---- the recipe ---- */

static int bad_value(const char *key, const char *value, const char *wanted, struct error *err) {
    return error_set(err, ERR_INVALID, TRACE_GENERATE " %s=%s: %s is wanted", key, value, wanted);
}

static int read_load(const char *value, double *ret, struct error *err) {
    char *end;
    double load = strtod(value, &end);
    if (*end || end == value || !(load >= 0.001 && load <= 100))
        return bad_value("load", value, "a number from 0.001 to 100", err);
    *ret = load;
    return 0;
}

static int read_part(struct recipe *recipe, char *part, struct error *err) {
    const struct {
        const char *key;
        uint64_t *value, min, max;
    } rows[] = {
        {"jobs", &recipe->jobs, 1, TRACE_JOBS_MAX},
        {"procs", &recipe->procs, 1, PROCS_MAX},
        {"seed", &recipe->seed, 0, UINT64_MAX},
        {"users", &recipe->users, 1, 100000},
    };
    char *value = strchr(part, '=');
    if (value)
        *value++ = '\0';
    else
        value = part + strlen(part);
    if (str_equal(part, "load"))
        return read_load(value, &recipe->load, err);
    for (size_t i = 0; i < countof(rows); i++) {
        uint64_t number;
        if (!str_equal(part, rows[i].key))
            continue;
        if (!str_to_u64(value, &number) || number < rows[i].min || number > rows[i].max) {
            cleanup_free char *wanted =
                xasprintf("a number from %llu to %llu", (unsigned long long) rows[i].min,
                          (unsigned long long) rows[i].max);
            return bad_value(part, value, wanted, err);
        }
        *rows[i].value = number;
        return 0;
    }
    return error_set(err, ERR_INVALID,
                     TRACE_GENERATE " knows no \"%s\"; there are jobs, procs, load, seed, users",
                     part);
}

static int read_recipe(const char *text, struct recipe *recipe, struct error *err) {
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy;
    int r = 0;
    for (char *part; r == 0 && (part = str_next_word(&cursor, ",")) != NULL;)
        r = read_part(recipe, part, err);
    return r;
}

/* ---- a job ---- */

/* Twelve uniform numbers: near enough to a normal distribution, and the same on every machine. */
static double normal(struct rng *rng, double mean, double deviation) {
    double sum = -6;
    for (unsigned i = 0; i < 12; i++)
        sum += rng_unit(rng);
    return mean + deviation * sum;
}

static uint32_t make_procs(struct maker *maker) {
    struct rng *rng = &maker->rng;
    uint64_t procs = maker->recipe->procs;
    double most = log2((double) procs), middle = max_of(most - 2.5, most / 2);
    double low = min_of(0.8, middle);
    if (rng_unit(rng) < 0.25)
        return 1;
    double size = rng_unit(rng) < 0.86 ? low + (middle - low) * rng_unit(rng)
                                       : middle + (most - middle) * rng_unit(rng);
    if (rng_unit(rng) < 0.75)
        size = floor(size + 0.5);
    double count = floor(exp2(size) + 0.5);
    return (uint32_t) max_of(min_of(count, (double) procs), 1.0);
}

static int64_t make_run(struct maker *maker, uint32_t procs) {
    /* Shares fall with the size as on a machine of 128 processors. */
    double scaled = (double) procs * 128 / (double) maker->recipe->procs;
    double short_share = max_of(0.78 - 0.0054 * scaled, 0.05);
    double log_run = rng_unit(&maker->rng) < short_share ? normal(&maker->rng, 3.95, 1.93)
                                                         : normal(&maker->rng, 9.36, 0.53);
    double run = exp(log_run);
    return (int64_t) max_of(min_of(run, (double) RUN_MAX), 1.0);
}

static int64_t make_limit(struct maker *maker, int64_t run) {
    static const int64_t round_values[] = {
        60,    300,   600,   900,   1800,   3600,    2 * 3600, 3 * 3600, 4 * 3600, 6 * 3600,
        28800, 43200, 64800, 86400, 129600, 2 * DAY, 3 * DAY,  5 * DAY,  RUN_MAX};
    double unit = rng_unit(&maker->rng);
    int64_t wanted = (int64_t) ((double) run * (1 + 4 * unit * unit));
    for (size_t i = 0; i < countof(round_values); i++)
        if (wanted <= round_values[i])
            return round_values[i];
    return RUN_MAX;
}

static struct trace_job make_job(struct maker *maker) {
    /* users^u: the first have most. */
    double place = exp2(log2((double) maker->recipe->users + 1) * rng_unit(&maker->rng)) - 1;
    uint64_t number = min_of((uint64_t) place, maker->recipe->users - 1);
    struct user *user = &maker->users[number];
    struct trace_job job = user->last;
    if (job.run && rng_unit(&maker->rng) < 0.5) {
        job.run = (int64_t) ((double) job.run * (0.5 + rng_unit(&maker->rng)));
        job.run = max_of(min_of(job.run, job.est), (int64_t) 1);
    } else {
        job.procs = make_procs(maker);
        job.run = make_run(maker, job.procs);
        job.est = make_limit(maker, job.run);
        job.user = user->name;
    }
    user->last = job;
    return job;
}

/* ---- submissions ---- */

/* A moment of a day without a cycle, in [0, 1), to one with it: busy from nine to six. */
static double with_daily_cycle(double fraction) {
    static const uint8_t weights[24] = {4,  3,  3,  2,  2,  3,  4,  7, 12, 17, 19, 19,
                                        16, 18, 20, 19, 17, 14, 11, 9, 8,  7,  6,  5};
    double total = 0, done = 0;
    for (unsigned hour = 0; hour < 24; hour++)
        total += weights[hour];
    double wanted = fraction * total;
    for (unsigned hour = 0; hour < 24; hour++) {
        if (done + weights[hour] > wanted)
            return (hour + (wanted - done) / weights[hour]) / 24;
        done += weights[hour];
    }
    return 1;
}

static void spread_submissions(struct maker *maker, struct trace *trace) {
    double area = 0, sum = 0, at = 0;
    size_t n = trace->jobs.n;
    double *gaps = xcalloc(n, sizeof(*gaps));
    for (size_t i = 0; i < n; i++) {
        area += (double) trace->jobs.items[i].run * trace->jobs.items[i].procs;
        gaps[i] = i ? -log(1 - rng_unit(&maker->rng)) : 0;
        sum += gaps[i];
    }
    double span = area / ((double) maker->recipe->procs * maker->recipe->load);
    for (size_t i = 0; i < n; i++) {
        at += sum > 0 ? gaps[i] / sum * span : 0;
        double day = floor(at / DAY);
        trace->jobs.items[i].submit = (int64_t) ((day + with_daily_cycle(at / DAY - day)) * DAY);
        trace->jobs.items[i].id = i + 1;
    }
    free(gaps);
}

int trace_generate(struct trace *trace, const char *text, struct error *err) {
    struct recipe recipe = {.jobs = 10000, .procs = 128, .load = 0.8, .seed = 1, .users = 50};
    struct maker maker = {.recipe = &recipe};
    int r = read_recipe(str_starts(text, TRACE_GENERATE) ? text + strlen(TRACE_GENERATE) : text,
                        &recipe, err);
    if (r < 0)
        return r;
    rng_seed(&maker.rng, recipe.seed);
    maker.users = xcalloc(recipe.users, sizeof(*maker.users));
    for (uint64_t i = 0; i < recipe.users; i++) {
        char name[24];
        snprintf(name, sizeof(name), "u%03llu", (unsigned long long) i + 1);
        maker.users[i].name = arena_strdup(&trace->memory, name);
    }
    vec_reserve(&trace->jobs, recipe.jobs);
    for (uint64_t i = 0; i < recipe.jobs; i++)
        vec_push(&trace->jobs, make_job(&maker));
    spread_submissions(&maker, trace);
    trace->max_procs = (uint32_t) recipe.procs;
    trace->n_read = recipe.jobs;
    free(maker.users);
    return 0;
}
