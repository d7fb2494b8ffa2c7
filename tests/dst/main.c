/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs seeded worlds and prints "N passed, N failed"; a failing world with its seed, which
 * `SEED=n dst` plays again.
 *
 *   dst [-f FIRST] [-n WORLDS] [-p PART/PARTS] [-h HOURS of each with faults] [-s SECONDS at most]
 *       [-v] [-t]
 *
 * -p: only each PARTS-th world, so that several processes share the work; PART counts from 0.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

static volatile uint64_t seed_now;

static void on_abort(int number) {
    char text[80];
    int n = snprintf(text, sizeof(text), "SEED=%llu: the process died\n",
                     (unsigned long long) seed_now);
    (void) !write(2, text, (size_t) n);
    signal(number, SIG_DFL);
    (void) raise(number);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* Every so many worlds are lived twice: they must not differ. */
#define TWICE 16

static void live_again(uint64_t seed, int64_t hours, struct world_result *first) {
    struct world_result again;
    world_live(seed, hours, false, &again);
    if (first->failure.code == 0 && again.digest != first->digest)
        (void) error_set(&first->failure, ERR_INVALID,
                         "the second life of this world is another one");
}

int main(int argc, char **argv) {
    uint64_t first = 1, n = 336, passed = 0, failed = 0;
    unsigned part = 0, parts = 1;
    int64_t hours = 30, total = 0;
    double started = seconds(), most = 0;
    bool verbose = false, told = false;
    int c;
    while ((c = getopt(argc, argv, "f:n:p:h:s:vt")) != -1) {
        if (c == 'f')
            first = strtoull(optarg, NULL, 10);
        else if (c == 'n')
            n = strtoull(optarg, NULL, 10);
        else if (c == 'p' && sscanf(optarg, "%u/%u", &part, &parts) == 2 && part < parts)
            continue;
        else if (c == 'h')
            hours = strtoll(optarg, NULL, 10);
        else if (c == 's')
            most = strtod(optarg, NULL);
        else if (c == 'v')
            verbose = true;
        else if (c == 't')
            told = true;
        else
            return 2;
    }
    if (getenv("SEED") != NULL) {
        first = strtoull(getenv("SEED"), NULL, 10);
        n = parts = 1;
        part = 0;
        verbose = true;
    }
    signal(SIGABRT, on_abort);
    signal(SIGSEGV, on_abort);
    uint64_t starts = 0, turns = 0, jobs = 0, stale = 0;
    uint64_t reserved = 0, preempted = 0, unserved = 0, confs = 0, limited = 0;
    for (uint64_t seed = first; seed < first + n; seed++) {
        struct world_result result;
        if (seed % parts != part)
            continue;
        if (most > 0 && seconds() - started > most)
            break;
        seed_now = seed;
        world_live(seed, hours, told, &result);
        if (seed % TWICE == 0)
            live_again(seed, hours, &result);
        total += result.hours;
        starts += result.n_starts;
        turns += result.n_turns;
        jobs += result.n_jobs;
        stale += result.n_stale;
        reserved += result.n_reserved;
        preempted += result.n_preempted;
        confs += result.n_confs;
        limited += result.n_limited;
        unserved += result.n_unserved;
        passed += result.failure.code == 0;
        failed += result.failure.code != 0;
        if (verbose || result.failure.code != 0)
            printf("SEED=%llu: %s; %lld h, %llu jobs, %llu starts, %llu turns, digest %016llx\n",
                   (unsigned long long) seed,
                   result.failure.code != 0 ? result.failure.text : "well",
                   (long long) result.hours, (unsigned long long) result.n_jobs,
                   (unsigned long long) result.n_starts, (unsigned long long) result.n_turns,
                   (unsigned long long) result.digest);
        fflush(stdout);
    }
    printf("%lld simulated hours, %llu jobs, %llu starts, %llu turns, %llu stale reports\n",
           (long long) total, (unsigned long long) jobs, (unsigned long long) starts,
           (unsigned long long) turns, (unsigned long long) stale);
    printf(
        "%llu starts in reservations, %llu below limits, %llu preempted (%llu times for nothing), "
        "%llu reconfigurations\n",
        (unsigned long long) reserved, (unsigned long long) limited, (unsigned long long) preempted,
        (unsigned long long) unserved, (unsigned long long) confs);
    printf("%llu passed, %llu failed\n", (unsigned long long) passed, (unsigned long long) failed);
    return failed > 0;
}
