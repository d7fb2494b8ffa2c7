/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of priorities. The numbers of the first tests were read off Debian's sprio. */
#include "sched/priority.h"
#include "unit.h"

static const struct priority_weights weights = {
    .factor = {[PRIORITY_AGE] = 1000, [PRIORITY_SIZE] = 10000, [PRIORITY_PARTITION] = 500},
    .tres = {1000, 2000, 3000},
    .n_tres = 3};

static uint32_t total_of(const struct priority_shares *shares, int64_t site, int64_t nice,
                         struct priority_parts *parts) {
    return priority_total(priority_sum(&weights, shares, parts), site, nice);
}

TEST(a_job_of_one_task_gets_what_slurm_gives_it) {
    struct priority_parts parts;
    struct priority_shares shares = {
        .factor = {[PRIORITY_SIZE] = priority_size_share(1, 4, 1, 32, false),
                   [PRIORITY_PARTITION] = priority_share(10, 30)},
        .tres = {priority_share(1, 32), priority_share(24000, 96000), 0}};
    assert_int_equal(total_of(&shares, 0, 0, &parts), 2104);
    assert_int_equal(priority_rounded(parts.factor[PRIORITY_SIZE]), 1406);
    assert_int_equal(priority_rounded(parts.factor[PRIORITY_PARTITION]), 167);
    assert_int_equal(priority_rounded(parts.tres[0]), 31);
    assert_int_equal(priority_rounded(parts.tres[1]), 500);
    assert_int_equal(priority_rounded(parts.tres[2]), 0);
}

TEST(nice_is_taken_off_and_the_site_added) {
    struct priority_shares shares = {
        .factor = {[PRIORITY_SIZE] = priority_size_share(2, 4, 8, 32, false),
                   [PRIORITY_PARTITION] = priority_share(30, 30)},
        .tres = {priority_share(8, 16), priority_share(800, 48000), 0}};
    assert_int_equal(total_of(&shares, 0, 7, NULL), 4776);
    assert_int_equal(total_of(&shares, 5, 7, NULL), 4781);
    assert_int_equal(total_of(&shares, 0, INT32_MAX, NULL), 1);
    assert_int_equal(total_of(&shares, 0, INT32_MIN, NULL), 2147488431u);
}

TEST(small_jobs_are_favoured_by_what_is_missing_to_the_whole) {
    assert_int_equal(priority_size_share(4, 4, 4, 32, false), PRIORITY_ONE / 16 * 9);
    assert_int_equal(priority_size_share(4, 4, 4, 32, true), PRIORITY_ONE / 16 * 7);
    assert_int_equal(priority_size_share(8, 4, 99, 32, true), 0);
}

TEST(a_size_relative_to_time_is_nodes_a_minute) {
    assert_int_equal(priority_size_by_time(2, 4, 100, false), priority_share(2, 400));
    assert_int_equal(priority_size_by_time(2, 4, 0, false), 0);
    assert_int_equal(priority_size_by_time(2, 4, 0, true), PRIORITY_ONE);
}

TEST(thirds_that_make_up_a_whole_count_as_one) {
    struct priority_weights thirds = {
        .factor = {[PRIORITY_AGE] = 1, [PRIORITY_QOS] = 1, [PRIORITY_ASSOC] = 1}};
    struct priority_shares shares = {.factor = {[PRIORITY_AGE] = priority_share(1, 3),
                                                [PRIORITY_QOS] = priority_share(1, 3),
                                                [PRIORITY_ASSOC] = priority_share(1, 3)}};
    assert_int_equal(priority_total(priority_sum(&thirds, &shares, NULL), 5, 0), 6);
}

TEST(the_largest_weights_and_plain_numbers_do_not_wrap_round) {
    struct priority_weights most;
    struct priority_shares shares;
    for (size_t i = 0; i < PRIORITY_FACTORS; i++) {
        most.factor[i] = UINT32_MAX;
        shares.factor[i] = UINT64_MAX;
    }
    most.n_tres = PRIORITY_TRES_MAX;
    for (size_t i = 0; i < PRIORITY_TRES_MAX; i++) {
        most.tres[i] = UINT32_MAX;
        shares.tres[i] = priority_share(UINT64_MAX, 1);
    }
    assert_int_equal(priority_total(priority_sum(&most, &shares, NULL), INT32_MAX, INT32_MIN),
                     PRIORITY_HIGHEST);
    assert_int_equal(priority_share(5, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_of_one_task_gets_what_slurm_gives_it),
        cmocka_unit_test(nice_is_taken_off_and_the_site_added),
        cmocka_unit_test(small_jobs_are_favoured_by_what_is_missing_to_the_whole),
        cmocka_unit_test(a_size_relative_to_time_is_nodes_a_minute),
        cmocka_unit_test(thirds_that_make_up_a_whole_count_as_one),
        cmocka_unit_test(the_largest_weights_and_plain_numbers_do_not_wrap_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
