/* SPDX-License-Identifier: Apache-2.0 */
/* Bit sets against an array of bools, at sizes around the word boundaries. */
#include "base/bits.h"

#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "unit.h"

static const size_t sizes[] = {0, 1, 63, 64, 65, 127, 128, 129, 1000};

static void fill_randomly(struct bits *bits, bool *naive, struct rng *rng) {
    for (size_t i = 0; i < bits->n; i++) {
        naive[i] = rng_below(rng, 3) == 0;
        if (naive[i])
            bits_set(bits, i);
    }
}

TEST(operations_agree_with_an_array_of_bools) {
    struct rng rng;
    rng_seed(&rng, 7);
    for (size_t s = 0; s < countof(sizes) * 20; s++) {
        size_t n = sizes[s % countof(sizes)];
        struct bits a, b, both = {0}, either = {0}, only_a = {0};
        bool naive_a[1000], naive_b[1000];
        bits_init(&a, n);
        bits_init(&b, n);
        fill_randomly(&a, naive_a, &rng);
        fill_randomly(&b, naive_b, &rng);
        bits_copy(&both, &a);
        bits_and(&both, &b);
        bits_copy(&either, &a);
        bits_or(&either, &b);
        bits_copy(&only_a, &a);
        bits_andnot(&only_a, &b);
        size_t count = 0, count_and = 0;
        for (size_t i = 0; i < n; i++) {
            count += naive_a[i];
            count_and += naive_a[i] && naive_b[i];
            assert_int_equal(bits_test(&a, i), naive_a[i]);
            assert_int_equal(bits_test(&both, i), naive_a[i] && naive_b[i]);
            assert_int_equal(bits_test(&either, i), naive_a[i] || naive_b[i]);
            assert_int_equal(bits_test(&only_a, i), naive_a[i] && !naive_b[i]);
        }
        assert_int_equal(bits_count(&a), count);
        assert_int_equal(bits_count_and(&a, &b), count_and);
        assert_int_equal(bits_any(&a), count > 0);
        assert_int_equal(bits_any_and(&a, &b), count_and > 0);
        assert_true(bits_subset(&both, &a));
        assert_int_equal(bits_subset(&a, &both), count == count_and);
        assert_int_equal(bits_equal(&a, &both), count == count_and);
        struct bits *all[] = {&a, &b, &both, &either, &only_a};
        for (size_t i = 0; i < countof(all); i++)
            bits_done(all[i]);
    }
}

TEST(fill_sets_every_bit_and_none_beyond_the_end) {
    for (size_t s = 0; s < countof(sizes); s++) {
        struct bits bits;
        bits_init(&bits, sizes[s]);
        bits_fill(&bits, true);
        assert_int_equal(bits_count(&bits), sizes[s]);
        bits_fill(&bits, false);
        assert_false(bits_any(&bits));
        bits_done(&bits);
    }
}

TEST(iteration_visits_set_bits_in_order) {
    struct bits bits;
    bits_init(&bits, 200);
    static const size_t members[] = {0, 1, 63, 64, 127, 199};
    for (size_t i = 0; i < countof(members); i++)
        bits_set(&bits, members[i]);
    size_t seen = 0;
    bits_each (&bits, i) {
        assert_int_equal(i, members[seen++]);
    }
    assert_int_equal(seen, countof(members));
    assert_int_equal(bits_next(&bits, 65), 127);
    assert_int_equal(bits_next(&bits, 200), 200);
    bits_unset(&bits, 199);
    assert_int_equal(bits_next(&bits, 128), 200);
    bits_done(&bits);
}

TEST(copy_resizes_the_destination) {
    struct bits small, large;
    bits_init(&small, 10);
    bits_init(&large, 500);
    bits_set(&large, 499);
    bits_copy(&small, &large);
    assert_int_equal(small.n, 500);
    assert_true(bits_equal(&small, &large));
    bits_done(&small);
    bits_done(&large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_agree_with_an_array_of_bools),
        cmocka_unit_test(fill_sets_every_bit_and_none_beyond_the_end),
        cmocka_unit_test(iteration_visits_set_bits_in_order),
        cmocka_unit_test(copy_resizes_the_destination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
