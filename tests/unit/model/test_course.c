/* SPDX-License-Identifier: Apache-2.0 */
/* What of a job falls into a time, and what became of an hour of the cluster. */
#include "unit.h"

#include "base/rng.h"
#include "model/course.h"

#define T(text) ((char *) (uintptr_t) (text))

TEST(shares_of_times_that_follow_each_other_add_up_to_the_whole) {
    struct rng rng;
    rng_seed(&rng, 7);
    for (unsigned round = 0; round < 2000; round++) {
        struct job_course course = {.start = 1000 + (int64_t) rng_below(&rng, 5000)};
        int64_t length = (int64_t) rng_below(&rng, 20000);
        course.end = course.start + length;
        course.paused_seconds = length ? (int64_t) rng_below(&rng, (uint64_t) length) : 0;
        int64_t sum = 0, from = 0;
        while (from < 40000) {
            int64_t to = from + 1 + (int64_t) rng_below(&rng, 3000);
            int64_t part = course_seconds(&course, from, to);
            assert_true(part >= 0 && part <= to - from);
            sum += part;
            from = to;
        }
        assert_int_equal(sum, length - course.paused_seconds);
    }
}

TEST(a_suspended_job_uses_nothing) {
    struct job_course course = {.start = 1000, .end = INT64_MAX, .paused_since = 1500};
    assert_int_equal(course_seconds(&course, 0, 9000), 500);
    assert_int_equal(course_seconds(&course, 2000, 9000), 0);
    struct job_course waiting = {.start = 0, .end = INT64_MAX};
    assert_int_equal(course_seconds(&waiting, 0, 9000), 0);
}

static struct job sample(void) {
    struct job job;
    record_init(&record_job, &job);
    job.state = JOB_COMPLETED;
    job.start_time = 1000;
    job.end_time = 2000;
    job.nodes = T("n1");
    return job;
}

TEST(the_course_of_a_record_is_told_by_its_state) {
    struct job job = sample();
    struct job_course course = job_course_of(&job, false);
    assert_int_equal(course_seconds(&course, 0, 5000), 1000);
    job.suspend_time = 1500; /* when it went on again, having run for 300 s before */
    job.pre_suspend_seconds = 300;
    course = job_course_of(&job, false);
    assert_int_equal(course_seconds(&course, 0, 5000), 800);
    job.state = JOB_RUNNING; /* until the end of its limit */
    job.suspend_time = 0;
    job.end_time = 9000;
    course = job_course_of(&job, false);
    assert_int_equal(course_seconds(&course, 0, 20000), 19000);
    course = job_course_of(&job, true); /* a run that was requeued */
    assert_int_equal(course_seconds(&course, 0, 20000), 8000);
    job.state = JOB_PENDING; /* an expected start */
    course = job_course_of(&job, false);
    assert_int_equal(course_seconds(&course, 0, 20000), 0);
    assert_int_equal(course_waited_until(&course), INT64_MAX);
    job = sample();
    job.nodes = NULL; /* cancelled before it started */
    job.state = JOB_CANCELLED;
    course = job_course_of(&job, false);
    assert_int_equal(course_seconds(&course, 0, 20000), 0);
    assert_int_equal(course_waited_until(&course), 2000);
}

TEST(the_parts_of_an_hour_add_up_to_what_there_was) {
    struct rng rng;
    rng_seed(&rng, 3);
    for (unsigned round = 0; round < 2000; round++) {
        struct cluster_sum sum = {.capacity = (int64_t) rng_below(&rng, 1000),
                                  .allocated = (int64_t) rng_below(&rng, 1200),
                                  .down = (int64_t) rng_below(&rng, 400),
                                  .planned_down = (int64_t) rng_below(&rng, 400),
                                  .waiting = (int64_t) rng_below(&rng, 900)};
        struct cluster_use use;
        cluster_use_of(&sum, &use);
        assert_true(use.down >= 0 && use.planned_down >= 0 && use.planned >= 0 && use.idle >= 0);
        assert_true(use.planned <= sum.waiting && (use.idle == 0 || use.planned == sum.waiting));
        assert_int_equal(use.allocated + use.down + use.planned_down + use.planned + use.idle -
                             use.over,
                         use.reported);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_times_that_follow_each_other_add_up_to_the_whole),
        cmocka_unit_test(a_suspended_job_uses_nothing),
        cmocka_unit_test(the_course_of_a_record_is_told_by_its_state),
        cmocka_unit_test(the_parts_of_an_hour_add_up_to_what_there_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
