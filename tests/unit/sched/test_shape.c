/* SPDX-License-Identifier: Apache-2.0 */
/* Equal requests are one shape; what it may use is a list of alternatives. */
#include "sched/internal.h"
#include "world.h"

TEST(requests_that_differ_in_who_when_and_how_urgent_share_a_shape) {
    struct world w;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    world_add(&w, &spec);
    spec.priority = 5;
    spec.submit_time += 10;
    spec.uid = 1001;
    spec.begin_time = w.now + 5;
    spec.deadline = w.now + 5000;
    world_add(&w, &spec);
    assert_int_equal(w.sched->shapes.n, 1);
    spec.limit++;
    world_add(&w, &spec);
    assert_int_equal(w.sched->shapes.n, 2);
    spec.overlap_user = true; /* now the user matters */
    world_add(&w, &spec);
    spec.uid = 1002;
    world_add(&w, &spec);
    assert_int_equal(w.sched->shapes.n, 4);
    world_done(&w);
}

TEST(a_shape_goes_with_its_last_job) {
    struct world w;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    uint32_t a = world_add(&w, &spec), b = world_add(&w, &spec);
    world_cancel(&w, a);
    assert_int_equal(w.sched->shapes.n, 1);
    world_cancel(&w, b);
    assert_int_equal(w.sched->shapes.n, 0);
    assert_int_equal(w.sched->sets.n, 0);
    world_done(&w);
}

static size_t alternatives(struct world *w, const char *features, uint32_t *ret_min) {
    struct sched_job_spec spec = world_spec(w);
    struct constraint *constraint = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(constraint_parse(features, &constraint, &err), 0);
    spec.features = constraint;
    struct shape *shape = shape_new(w->sched, &spec);
    size_t n = shape->n_alternatives;
    *ret_min = shape->alternatives[0].min_nodes;
    shape_free(w->sched, shape);
    constraint_free(constraint);
    return n;
}

TEST(matching_alternatives_are_tried_one_by_one_and_counts_add_up) {
    struct world w;
    uint32_t min;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    assert_int_equal(alternatives(&w, "a|b|c", &min), 1);
    assert_int_equal(alternatives(&w, "[a|b|c]", &min), 3);
    assert_int_equal(alternatives(&w, "d&[a|b]", &min), 2);
    assert_int_equal(min, 1);
    assert_int_equal(alternatives(&w, "[a*2&b*3]", &min), 1);
    assert_int_equal(min, 5);
    world_done(&w);
}

TEST(alternatives_go_by_tier_then_as_asked) {
    struct world w;
    const uint32_t partitions[] = {0, 2, 1};

    world_init(&w, 2, 4, 1000);
    for (size_t i = 1; i < 3; i++) {
        w.partitions[i] = w.partitions[0];
        w.partitions[i].nodes = xmemdup(w.partitions[0].nodes, 2 * sizeof(uint32_t));
    }
    w.partitions[1].tier = 9;
    w.n_partitions = 3;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.partitions = partitions;
    spec.n_partitions = 3;
    struct shape *shape = shape_new(w.sched, &spec);
    assert_int_equal(shape->alternatives[0].partition, 1);
    assert_int_equal(shape->alternatives[1].partition, 0);
    assert_int_equal(shape->alternatives[2].partition, 2);
    shape_free(w.sched, shape);
    world_done(&w);
}

TEST(a_minimum_time_lets_a_job_into_a_shorter_partition) {
    struct world w;

    world_init(&w, 2, 4, 1000);
    w.partitions[0].max_time = 10;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.limit = 1200;
    struct shape *shape = shape_new(w.sched, &spec);
    assert_int_equal(shape->alternatives[0].limits, REASON_PARTITION_TIME_LIMIT);
    shape_free(w.sched, shape);
    spec.min_limit = 300;
    shape = shape_new(w.sched, &spec);
    assert_int_equal(shape->alternatives[0].limits, REASON_NONE);
    assert_int_equal(shape->alternatives[0].limit, 600);
    shape_free(w.sched, shape);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_that_differ_in_who_when_and_how_urgent_share_a_shape),
        cmocka_unit_test(a_shape_goes_with_its_last_job),
        cmocka_unit_test(matching_alternatives_are_tried_one_by_one_and_counts_add_up),
        cmocka_unit_test(alternatives_go_by_tier_then_as_asked),
        cmocka_unit_test(a_minimum_time_lets_a_job_into_a_shorter_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
