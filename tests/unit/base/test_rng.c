/* SPDX-License-Identifier: Apache-2.0 */
/* The generator: its published stream, its bounds, its repeatability. */
#include "base/rng.h"

#include <stdbool.h>

#include "base/alloc.h"
#include "unit.h"

TEST(the_stream_is_that_of_xoshiro256starstar) {
    /* From state 1, 2, 3, 4: the first outputs of the authors' reference code. */
    struct rng rng = {{1, 2, 3, 4}};
    static const uint64_t expected[] = {11520, 0, 1509978240, 1215971899390074240};
    for (size_t i = 0; i < countof(expected); i++)
        assert_true(rng_next(&rng) == expected[i]);
}

TEST(the_same_seed_repeats_and_another_differs) {
    struct rng a, b, c;
    rng_seed(&a, 5);
    rng_seed(&b, 5);
    rng_seed(&c, 6);
    bool differs = false;
    for (int i = 0; i < 100; i++) {
        uint64_t value = rng_next(&a);
        assert_true(value == rng_next(&b));
        differs = differs || value != rng_next(&c);
    }
    assert_true(differs);
}

TEST(below_stays_in_bounds_and_is_fair) {
    struct rng rng;
    rng_seed(&rng, 9);
    unsigned counts[6] = {0};
    for (int i = 0; i < 60000; i++)
        counts[rng_below(&rng, 6)]++;
    for (size_t i = 0; i < 6; i++)
        assert_in_range(counts[i], 9500, 10500);
    assert_int_equal(rng_below(&rng, 1), 0);
    for (int i = 0; i < 100; i++)
        assert_true(rng_below(&rng, UINT64_MAX) < UINT64_MAX);
}

TEST(unit_is_from_zero_to_below_one) {
    struct rng rng;
    rng_seed(&rng, 10);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double value = rng_unit(&rng);
        assert_true(value >= 0 && value < 1);
        sum += value;
    }
    assert_true(sum > 4900 && sum < 5100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stream_is_that_of_xoshiro256starstar),
        cmocka_unit_test(the_same_seed_repeats_and_another_differs),
        cmocka_unit_test(below_stays_in_bounds_and_is_fair),
        cmocka_unit_test(unit_is_from_zero_to_below_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
