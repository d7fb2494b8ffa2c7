/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a turn of the controller plans: the core with 100,000 jobs that wait, 16 nodes and a
 * store in memory. While a turn ends nobody is answered. One line a measure: "ROW MEASURE VALUE
 * UNIT", in CPU time of core_turn_end(), core_tick() and core_request(), which the linker wraps.
 */
#include <stdio.h>
#include <time.h>

#include "../unit/core/world.h"
#include "base/rng.h"
#include "unit.h"

static double sum, worst;
static unsigned n_turns;

static double seconds(void) {
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* void core_x(core, now, effects), timed. */
#define TIMED(name)                                                                                \
    void __real_##name(struct core *core, int64_t now, struct effects *out);                       \
    void __wrap_##name(struct core *core, int64_t now, struct effects *out);                       \
    void __wrap_##name(struct core *core, int64_t now, struct effects *out) {                      \
        double begun = seconds();                                                                  \
        __real_##name(core, now, out);                                                             \
        double time = seconds() - begun;                                                           \
        sum += time;                                                                               \
        worst = max_of(worst, time);                                                               \
        n_turns++;                                                                                 \
    }
TIMED(core_turn_end)
TIMED(core_tick)

/* What a request does before its turn ends counts, too. */
void __real_core_request(struct core *core, int64_t now, uint64_t client, uint32_t seq,
                         uint16_t type, const struct core_user *user, void *body,
                         struct effects *out);
void __wrap_core_request(struct core *core, int64_t now, uint64_t client, uint32_t seq,
                         uint16_t type, const struct core_user *user, void *body,
                         struct effects *out);
void __wrap_core_request(struct core *core, int64_t now, uint64_t client, uint32_t seq,
                         uint16_t type, const struct core_user *user, void *body,
                         struct effects *out) {
    double begun = seconds();
    __real_core_request(core, now, client, seq, type, user, body, out);
    worst = max_of(worst, seconds() - begun);
}

static void say(const char *what) {
    printf("turns %s_mean %.4g ms\n", what, sum * 1e3 / max_of(n_turns, 1u));
    printf("turns %s_worst %.4g ms\n", what, worst * 1e3);
    fflush(stdout);
    sum = worst = 0;
    n_turns = 0;
}

static void submit(struct world *w, struct rng *rng, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        struct job_request request;
        world_request(&request);
        request.cpus_per_task = 1 + (uint32_t) rng_below(rng, 32);
        request.time_limit = 10 + (uint32_t) rng_below(rng, 60);
        assert_true(world_submit(w, &request, NULL) > 0);
    }
}

static void ends(struct world *w, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        struct world_run *oldest = NULL;
        vec_each (&w->runs, run) {
            if (run->running) {
                oldest = run;
                break;
            }
        }
        assert_non_null(oldest);
        world_script_ends(w, oldest->job_id, 0);
    }
}

int main(int argc, char **argv) {
    unsigned n = argc > 1 ? (unsigned) strtoul(argv[1], NULL, 10) : 100000;
    struct world w;
    struct rng rng;

    rng_seed(&rng, 1);
    world_start(&w, "NodeName=n[1-16] CPUs=64 RealMemory=64000\n"
                    "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE\n"
                    "PriorityType=priority/multifactor\nPriorityWeightAge=100000\n"
                    "MaxJobCount=1000000\nPriorityWeightJobSize=1000\nPriorityWeightPartition="
                    "1000\nPriorityCalcPeriod=1\n");
    world_all_connect(&w);
    submit(&w, &rng, n);
    say("fill");
    submit(&w, &rng, 500);
    say("submission");
    ends(&w, 200);
    say("end");
    world_pass_time(&w, 120);
    say("ageing");
    /* Every job gets another reason, twice. */
    world_update(&w, "partition", "main", "State", "DOWN");
    world_update(&w, "partition", "main", "State", "UP");
    world_pass_time(&w, 120);
    say("partition");
    /* The planner's view is made anew. */
    world_update(&w, "partition", "main", "MaxNodes", "8");
    world_pass_time(&w, 120);
    say("limit");
    world_update(&w, "partition", "main", "PriorityJobFactor", "10");
    world_pass_time(&w, 120);
    say("factor");
    world_stop(&w);
    return 0;
}
