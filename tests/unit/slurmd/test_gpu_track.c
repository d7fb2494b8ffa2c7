/* SPDX-License-Identifier: Apache-2.0 */
/* Use over the last 15 minutes, and since when a card is idle. */
#include "slurmd/gpu_track.h"
#include "unit.h"

#define SECOND 1000000ull

TEST(the_mean_is_of_the_last_quarter_of_an_hour) {
    struct gpu_track track = {.now = 0};
    uint64_t t = 1000000 * SECOND;
    assert_int_equal(gpu_track_mean(&track, t), UINT32_MAX);
    for (int i = 0; i < 60; i++, t += 30 * SECOND)
        gpu_track_add(&track, t, i < 30 ? 100 : 40);
    assert_int_equal(gpu_track_mean(&track, t - 30 * SECOND), 40);
    for (int i = 0; i < 15; i++, t += 30 * SECOND)
        gpu_track_add(&track, t, 80);
    uint32_t mean = gpu_track_mean(&track, t - 30 * SECOND);
    assert_in_range(mean, 58, 62);
    assert_int_equal(gpu_track_mean(&track, t + 3600 * SECOND), UINT32_MAX);
}

TEST(samples_need_not_come_at_equal_distances) {
    struct gpu_track track = {.now = 0};
    uint64_t t = 60000 * SECOND;
    gpu_track_add(&track, t, 1);
    gpu_track_add(&track, t + 61 * SECOND, 0);
    gpu_track_add(&track, t + 62 * SECOND, 0);
    assert_int_equal(gpu_track_mean(&track, t + 63 * SECOND), 1); /* a little is not nothing */
}

TEST(a_card_is_idle_since_it_was_last_at_work) {
    struct gpu_track track = {.now = 0};
    gpu_track_add(&track, 10 * SECOND, 0);
    assert_int_equal(track.since, 10 * SECOND);
    assert_int_equal(track.used, 0);
    gpu_track_add(&track, 20 * SECOND, 3);
    gpu_track_add(&track, 30 * SECOND, 0);
    assert_int_equal(track.used, 20 * SECOND);
    assert_int_equal(track.now, 0);
}

TEST(a_card_that_does_not_tell_is_never_called_idle) {
    struct gpu_track track = {.now = 0};
    gpu_track_add(&track, 10 * SECOND, UINT32_MAX);
    assert_int_equal(track.used, 10 * SECOND);
    assert_int_equal(gpu_track_mean(&track, 11 * SECOND), UINT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_is_of_the_last_quarter_of_an_hour),
        cmocka_unit_test(samples_need_not_come_at_equal_distances),
        cmocka_unit_test(a_card_is_idle_since_it_was_last_at_work),
        cmocka_unit_test(a_card_that_does_not_tell_is_never_called_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
