/* SPDX-License-Identifier: Apache-2.0 */
/* The step profile beside an array with one number a second. */
#include "sim/profile.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "unit.h"

#define SECONDS 700 /* enough for many blocks of steps */
#define PROCS 8

struct naive {
    int64_t free[SECONDS]; /* the last one without end */
};

static int64_t naive_at(const struct naive *naive, int64_t when) {
    return naive->free[min_of(when, (int64_t) SECONDS - 1)];
}

static int64_t naive_earliest(const struct naive *naive, int64_t now, int64_t procs,
                              int64_t seconds, int64_t last) {
    for (int64_t start = now; start <= min_of(last, (int64_t) SECONDS * 2); start++) {
        int64_t end = start;
        while (end < start + seconds && naive_at(naive, end) >= procs)
            end++;
        if (end == start + seconds)
            return start;
    }
    return PROFILE_NEVER;
}

static void are_the_same(const struct profile *profile, const struct naive *naive, int64_t now) {
    for (int64_t when = now; when < SECONDS; when++)
        assert_int_equal(profile_height(profile, when), naive->free[when]);
}

static void add_both(struct profile *profile, struct naive *naive, int64_t from, int64_t until,
                     int64_t delta) {
    profile_add(profile, from, until, delta);
    for (int64_t i = from; i < until; i++)
        naive->free[i] += delta;
}

/* What is placed stays within the array, so that its last second stands for all later ones. */
static void one_history(struct rng *rng) {
    struct profile profile = {0};
    struct naive naive;
    int64_t now = 0;
    profile_reset(&profile, 0, PROCS);
    for (size_t i = 0; i < SECONDS; i++)
        naive.free[i] = PROCS;
    for (unsigned step = 0; step < 400; step++) {
        int64_t procs = 1 + (int64_t) rng_below(rng, PROCS);
        int64_t seconds = 1 + (int64_t) rng_below(rng, 40);
        int64_t last = rng_below(rng, 2) ? PROFILE_NEVER : now + (int64_t) rng_below(rng, 20);
        int64_t start = naive_earliest(&naive, now, procs, seconds, last);
        assert_int_equal(profile_earliest(&profile, now, procs, seconds, last), start);
        assert_int_equal(profile_fits(&profile, now, procs, seconds),
                         naive_earliest(&naive, now, procs, seconds, now) == now);
        if (start == PROFILE_NEVER || start + seconds >= SECONDS)
            continue;
        add_both(&profile, &naive, start, start + seconds, -procs);
        /* Where could it be if it left its place? Asked with it inside, and without. */
        int64_t later = start + (int64_t) rng_below(rng, 5);
        if (later > start && later + seconds < SECONDS &&
            naive_earliest(&naive, later, procs, seconds, later) == later) {
            add_both(&profile, &naive, start, start + seconds, procs);
            add_both(&profile, &naive, later, later + seconds, -procs);
            int64_t earlier = profile_earlier(&profile, now, procs, seconds, later - 1, later);
            add_both(&profile, &naive, later, later + seconds, procs);
            assert_int_equal(earlier, naive_earliest(&naive, now, procs, seconds, later - 1));
            add_both(&profile, &naive, later, later + seconds, -procs);
        }
        if (rng_below(rng, 4) == 0) {
            now += (int64_t) rng_below(rng, 3);
            profile_trim(&profile, now);
        }
    }
    are_the_same(&profile, &naive, now);
    profile_done(&profile);
}

TEST(searches_agree_with_a_second_by_second_array) {
    struct rng rng;
    rng_seed(&rng, 41);
    for (unsigned i = 0; i < 60; i++)
        one_history(&rng);
}

TEST(steps_that_become_equal_are_joined) {
    struct profile profile = {0};
    profile_reset(&profile, 0, 4);
    profile_add(&profile, 10, 20, -1);
    profile_add(&profile, 20, 30, -1);
    assert_int_equal(profile_steps(&profile), 3);
    profile_add(&profile, 10, 30, 1);
    assert_int_equal(profile_steps(&profile), 1);
    profile_add(&profile, 5, 5, -4);
    assert_int_equal(profile_steps(&profile), 1);
    profile_done(&profile);
}

TEST(a_step_appended_at_the_same_time_takes_the_place_of_the_last) {
    struct profile profile = {0};
    profile_reset(&profile, 0, 4);
    profile_append(&profile, 10, 5);
    profile_append(&profile, 10, 7);
    profile_append(&profile, 8, 9);
    assert_int_equal(profile_steps(&profile), 2);
    assert_int_equal(profile_height(&profile, 10), 9);
    profile_done(&profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_agree_with_a_second_by_second_array),
        cmocka_unit_test(steps_that_become_equal_are_joined),
        cmocka_unit_test(a_step_appended_at_the_same_time_takes_the_place_of_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
