/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a replay, and those of each user. */
#include "sim/result.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"

#define SLOWDOWN_SECONDS_MIN 10 /* shorter jobs count as this long */

void sim_result_init(struct sim_result *result, const struct trace *trace) {
    size_t n = trace->jobs.n;
    *result = (struct sim_result) {
        .starts = xcalloc(n ? n : 1, sizeof(int64_t)),
        .ends = xcalloc(n ? n : 1, sizeof(int64_t)),
    };
    for (size_t i = 0; i < n; i++)
        result->starts[i] = result->ends[i] = SIM_NEVER;
}

void sim_result_done(struct sim_result *result) {
    free(result->starts);
    free(result->ends);
    *result = (struct sim_result) {0};
}

/* ---- waits ---- */

int64_t sim_wait(const struct trace *trace, const struct sim_result *result, size_t position) {
    return result->starts[position] - trace->jobs.items[position].submit;
}

static double mean(double sum, size_t n) {
    return n ? sum / (double) n : 0;
}

double sim_waits_mean(const struct sim_waits *waits) {
    double sum = 0;
    vec_each (waits, wait)
        sum += (double) *wait;
    return mean(sum, waits->n);
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return x < y ? -1 : x > y;
}

void sim_waits_sort(struct sim_waits *waits) {
    if (waits->n)
        qsort(waits->items, waits->n, sizeof(int64_t), by_value);
}

int64_t sim_waits_percentile(const struct sim_waits *waits, unsigned percent) {
    size_t rank = (waits->n * percent + 99) / 100;
    return waits->n ? waits->items[rank ? rank - 1 : 0] : 0;
}

/* ---- sums over some of the jobs ---- */

struct sums {
    uint64_t n_jobs;
    struct sim_waits waits;
    double slowdown, area;
};

static void sums_add(struct sums *sums, const struct trace *trace, const struct sim_result *result,
                     size_t i) {
    sums->n_jobs++;
    if (result->starts[i] == SIM_NEVER)
        return;
    int64_t wait = sim_wait(trace, result, i), run = result->ends[i] - result->starts[i];
    double slowdown = (double) (wait + run) / (double) max_of(run, (int64_t) SLOWDOWN_SECONDS_MIN);
    vec_push(&sums->waits, wait);
    sums->slowdown += max_of(slowdown, 1.0);
    sums->area += (double) run * trace->jobs.items[i].procs;
}

/* ---- the starts, by id ---- */

struct by_id {
    uint64_t id;
    size_t rank;
};

static int by_id(const void *a, const void *b) {
    const struct by_id *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

void sim_print_starts(const struct trace *trace, const struct sim_result *result, struct str *out) {
    size_t n = trace->jobs.n;
    struct by_id *rows = xcalloc(n ? n : 1, sizeof(*rows));
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct by_id) {trace->jobs.items[i].id, i};
    qsort(rows, n, sizeof(*rows), by_id);
    for (size_t i = 0; i < n; i++) {
        int64_t start = result->starts[rows[i].rank];
        str_append_u64(out, rows[i].id);
        if (start == SIM_NEVER)
            str_append(out, " never\n");
        else
            str_printf(out, " %lld\n", (long long) start);
    }
    free(rows);
}

static void starts_sha256(const struct trace *trace, const struct sim_result *result,
                          char ret[65]) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    cleanup_str struct str lines = STR_INIT;
    sim_print_starts(trace, result, &lines);
    crypto_hash_sha256(hash, (const unsigned char *) str_cstr(&lines), lines.length);
    sodium_bin2hex(ret, 65, hash, sizeof(hash));
}

/* ---- figures ---- */

void sim_figures(const struct trace *trace, const struct sim_result *result,
                 struct sim_figures *ret) {
    struct sums sums = {0};
    int64_t last_end = 0;
    for (size_t i = 0; i < trace->jobs.n; i++) {
        sums_add(&sums, trace, result, i);
        last_end = max_of(last_end, result->ends[i]);
    }
    sim_waits_sort(&sums.waits);
    size_t n = sums.waits.n;
    *ret = (struct sim_figures) {
        .n_jobs = sums.n_jobs,
        .n_started = n,
        .mean_wait = sim_waits_mean(&sums.waits),
        .mean_slowdown = mean(sums.slowdown, n),
        .median_wait = sim_waits_percentile(&sums.waits, 50),
        .p95_wait = sim_waits_percentile(&sums.waits, 95),
        .max_wait = sim_waits_percentile(&sums.waits, 100),
    };
    if (n) {
        ret->makespan = last_end - trace->jobs.items[0].submit;
        ret->utilisation = sums.area / ((double) result->procs * (double) ret->makespan);
    }
    starts_sha256(trace, result, ret->sha256);
    vec_done(&sums.waits);
}

/* ---- users ---- */

static void user_figures(struct sums *sums, const char *name, struct sim_user *ret) {
    sim_waits_sort(&sums->waits);
    *ret = (struct sim_user) {
        .name = name,
        .n_jobs = sums->n_jobs,
        .n_started = sums->waits.n,
        .mean_wait = sim_waits_mean(&sums->waits),
        .mean_slowdown = mean(sums->slowdown, sums->waits.n),
        .proc_seconds = sums->area,
        .median_wait = sim_waits_percentile(&sums->waits, 50),
        .p95_wait = sim_waits_percentile(&sums->waits, 95),
    };
}

static int by_use(const void *a, const void *b) {
    const struct sim_user *x = a, *y = b;
    if (x->proc_seconds != y->proc_seconds)
        return x->proc_seconds > y->proc_seconds ? -1 : 1;
    return strcmp(x->name, y->name);
}

void sim_users(const struct trace *trace, const struct sim_result *result, struct sim_users *ret) {
    uint32_t *user_of, n = trace_number_users(trace, &user_of);
    struct sums *sums = xcalloc(n + 1, sizeof(*sums));
    const char **names = xcalloc(n + 1, sizeof(*names));
    for (size_t i = 0; i < trace->jobs.n; i++) {
        names[user_of[i]] = trace->jobs.items[i].user;
        sums_add(&sums[user_of[i]], trace, result, i);
    }
    *ret = (struct sim_users) {0};
    for (uint32_t user = 0; user < n; user++) {
        user_figures(&sums[user], names[user], vec_add(ret));
        vec_done(&sums[user].waits);
    }
    if (ret->n)
        qsort(ret->items, ret->n, sizeof(*ret->items), by_use);
    free(user_of);
    free(sums);
    free(names);
}

void sim_users_done(struct sim_users *users) {
    vec_done(users);
}
