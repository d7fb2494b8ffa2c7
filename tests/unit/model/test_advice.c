/* SPDX-License-Identifier: Apache-2.0 */
/* From what jobs have used to what the next one should ask for. */
#include "unit.h"

#include "model/advice.h"
#include "text/duration.h"

TEST(a_quantile_is_the_smallest_value_that_enough_are_not_above) {
    const uint32_t values[] = {50, 10, 40, 20, 30, 60, 70, 80, 90, 1000};
    assert_int_equal(quantile(values, 10, 90), 90);
    assert_int_equal(quantile(values, 10, 91), 1000);
    assert_int_equal(quantile(values, 10, 50), 50);
    assert_int_equal(quantile(values, 3, 90), 50);
    assert_int_equal(quantile(values, 1, 0), 50);
}

TEST(limits_have_a_fifth_to_spare_and_are_round) {
    assert_int_equal(advice_minutes(0), 5);
    assert_int_equal(advice_minutes(600), 15);       /* 12 minutes */
    assert_int_equal(advice_minutes(3600), 75);      /* 72 */
    assert_int_equal(advice_minutes(8 * 3600), 600); /* 576 */
    assert_int_equal(advice_minutes(UINT64_MAX / 2), MINUTES_INFINITE - 1);
}

TEST(memory_has_a_quarter_to_spare_and_is_round) {
    assert_int_equal(advice_memory(0), 64);
    assert_int_equal(advice_memory(100), 128);
    assert_int_equal(advice_memory(1000), 1280);
    assert_int_equal(advice_memory(16384), 21504);
}

TEST(a_limit_is_far_above_when_it_is_four_times_as_long_and_half_an_hour) {
    assert_true(advice_time_is_far(600, 60));
    assert_true(advice_time_is_far(MINUTES_INFINITE, 60));
    assert_false(advice_time_is_far(239, 60));
    assert_false(advice_time_is_far(30, 5));
    assert_false(advice_time_is_far(600, 0));
    assert_false(advice_time_is_far(MINUTES_UNSET, 5));
}

TEST(a_habit_tells_a_limit_from_three_runs_on) {
    struct habit habit;
    record_init(&record_habit, &habit);
    assert_int_equal(habit_minutes(&habit), 0);
    habit_add(&habit, 600, 60, false);
    habit_add(&habit, 1200, 60, false);
    assert_int_equal(habit_minutes(&habit), 0);
    habit_add(&habit, 900, 60, false);
    assert_int_equal(habit_minutes(&habit), 25); /* 20 and a fifth */
    assert_int_equal(habit_longest(&habit), 1200);
    habit_add(&habit, 3600, 60, true); /* would have run on */
    assert_int_equal(habit_minutes(&habit), 120);
    record_done(&record_habit, &habit);
}

TEST(a_habit_knows_the_last_twenty_runs) {
    struct habit habit;
    record_init(&record_habit, &habit);
    habit_add(&habit, 100000, 5, true);
    for (uint32_t i = 0; i < HABIT_RUNS; i++)
        habit_add(&habit, 60 + i, 60, false);
    assert_int_equal(habit.seconds.n, HABIT_RUNS);
    assert_int_equal(habit.limits.n, HABIT_RUNS);
    assert_int_equal(habit.seconds.items[0], 60);
    assert_int_equal(habit.seconds.items[HABIT_RUNS - 1], 60 + HABIT_RUNS - 1);
    assert_int_equal(habit_longest(&habit), 60 + HABIT_RUNS - 1);
    record_done(&record_habit, &habit);
}

TEST(accuracy_is_the_mean_share_of_limits_and_a_half_when_unknown) {
    struct habit habit;
    record_init(&record_habit, &habit);
    assert_int_equal(habit_accuracy(NULL, 1000), 500);
    habit_add(&habit, 60, 1, false);
    habit_add(&habit, 60, 1, false);
    assert_int_equal(habit_accuracy(&habit, 1000), 500);
    habit_add(&habit, 60, 10, false);
    assert_int_equal(habit_accuracy(&habit, 1000), 700); /* 1, 1, 0.1 */
    habit_add(&habit, 60, MINUTES_INFINITE, false);
    assert_int_equal(habit_accuracy(&habit, 1000), 525);
    habit_add(&habit, 6000, 1, true); /* no more than all of it */
    assert_int_equal(habit_accuracy(&habit, 1000), 620);
    record_done(&record_habit, &habit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quantile_is_the_smallest_value_that_enough_are_not_above),
        cmocka_unit_test(limits_have_a_fifth_to_spare_and_are_round),
        cmocka_unit_test(memory_has_a_quarter_to_spare_and_is_round),
        cmocka_unit_test(a_limit_is_far_above_when_it_is_four_times_as_long_and_half_an_hour),
        cmocka_unit_test(a_habit_tells_a_limit_from_three_runs_on),
        cmocka_unit_test(a_habit_knows_the_last_twenty_runs),
        cmocka_unit_test(accuracy_is_the_mean_share_of_limits_and_a_half_when_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
