/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a replay, and those of each user. */
#include "sim/result.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

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

/* ---- sums over some of the jobs ---- */

struct sums {
    uint64_t n_jobs;
    vec(int64_t) waits;
    double wait, slowdown, area;
};

static void sums_add(struct sums *sums, const struct trace *trace, const struct sim_result *result,
                     size_t i) {
    sums->n_jobs++;
    if (result->starts[i] == SIM_NEVER)
        return;
    const struct trace_job *job = &trace->jobs.items[i];
    int64_t wait = result->starts[i] - job->submit, run = result->ends[i] - result->starts[i];
    double slowdown = (double) (wait + run) / (double) max_of(run, (int64_t) SLOWDOWN_SECONDS_MIN);
    vec_push(&sums->waits, wait);
    sums->wait += (double) wait;
    sums->slowdown += max_of(slowdown, 1.0);
    sums->area += (double) run * job->procs;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return x < y ? -1 : x > y;
}

/* Nearest rank of the sorted waits: the smallest that at least `percent` of them do not exceed. */
static int64_t percentile(const struct sums *sums, unsigned percent) {
    size_t rank = (sums->waits.n * percent + 99) / 100;
    return sums->waits.n ? sums->waits.items[rank ? rank - 1 : 0] : 0;
}

static void sums_sort(struct sums *sums) {
    if (sums->waits.n)
        qsort(sums->waits.items, sums->waits.n, sizeof(int64_t), by_value);
}

static double mean(double sum, size_t n) {
    return n ? sum / (double) n : 0;
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
    sums_sort(&sums);
    size_t n = sums.waits.n;
    *ret = (struct sim_figures) {
        .n_jobs = sums.n_jobs,
        .n_started = n,
        .mean_wait = mean(sums.wait, n),
        .mean_slowdown = mean(sums.slowdown, n),
        .median_wait = percentile(&sums, 50),
        .p95_wait = percentile(&sums, 95),
        .max_wait = percentile(&sums, 100),
    };
    if (n) {
        ret->makespan = last_end - trace->jobs.items[0].submit;
        ret->utilisation = sums.area / ((double) result->procs * (double) ret->makespan);
    }
    starts_sha256(trace, result, ret->sha256);
    vec_done(&sums.waits);
}

/* ---- users ---- */

struct user_jobs {
    const char *name;
    vec(size_t) ranks;
};

static void user_figures(const struct trace *trace, const struct sim_result *result,
                         const struct user_jobs *user, struct sim_user *ret) {
    struct sums sums = {0};
    vec_each (&user->ranks, rank)
        sums_add(&sums, trace, result, *rank);
    sums_sort(&sums);
    *ret = (struct sim_user) {
        .name = user->name,
        .n_jobs = sums.n_jobs,
        .n_started = sums.waits.n,
        .mean_wait = mean(sums.wait, sums.waits.n),
        .mean_slowdown = mean(sums.slowdown, sums.waits.n),
        .proc_seconds = sums.area,
        .median_wait = percentile(&sums, 50),
        .p95_wait = percentile(&sums, 95),
    };
    vec_done(&sums.waits);
}

static int by_use(const void *a, const void *b) {
    const struct sim_user *x = a, *y = b;
    if (x->proc_seconds != y->proc_seconds)
        return x->proc_seconds > y->proc_seconds ? -1 : 1;
    return strcmp(x->name, y->name);
}

void sim_users(const struct trace *trace, const struct sim_result *result, struct sim_users *ret) {
    struct smap numbers = SMAP_INIT;
    vec(struct user_jobs) users = {0};
    for (size_t i = 0; i < trace->jobs.n; i++) {
        const char *name = trace->jobs.items[i].user;
        uintptr_t number = (uintptr_t) smap_get(&numbers, name);
        if (number == 0) {
            vec_add(&users)->name = name;
            number = users.n;
            smap_put(&numbers, name, (void *) number);
        }
        vec_push(&users.items[number - 1].ranks, i);
    }
    smap_done(&numbers);
    *ret = (struct sim_users) {0};
    vec_each (&users, user) {
        user_figures(trace, result, user, vec_add(ret));
        vec_done(&user->ranks);
    }
    vec_done(&users);
    if (ret->n)
        qsort(ret->items, ret->n, sizeof(*ret->items), by_use);
}

void sim_users_done(struct sim_users *users) {
    vec_done(users);
}
