/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core among peers that send anything at all. tests/fuzz/fuzz_core.c plays the same game with
 * libFuzzer. CHAOS_SEED=n plays one seed, CHAOS_SEEDS=n so many.
 */
#include <stdio.h>
#include <stdlib.h>

#include "chaos.h"
#include "unit.h"

#define SEEDS 60
#define STEPS 120

static uint64_t n_started;

static void play(uint64_t seed) {
    struct rng rng;
    rng_seed(&rng, seed);
    struct chooser chooser = {.rng = &rng};
    print_message("# chaos %llu\n", (unsigned long long) seed);
    struct core_counters counters = chaos_play(&chooser, STEPS);
    n_started += counters.started;
}

TEST(whatever_peers_send_the_core_stays_whole) {
    const char *one = getenv("CHAOS_SEED"), *many = getenv("CHAOS_SEEDS");
    if (one != NULL) {
        play(strtoull(one, NULL, 10));
        return;
    }
    uint64_t n = many != NULL ? strtoull(many, NULL, 10) : SEEDS;
    for (uint64_t seed = 1; seed <= n; seed++)
        play(seed);
    print_message("# %llu jobs started\n", (unsigned long long) n_started);
    assert_true(n_started > n); /* else this would test refusals only */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_peers_send_the_core_stays_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
