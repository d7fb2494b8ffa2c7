/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/internal.h"
#include "world.h"

static uint32_t add(struct world *w, uint32_t nodes, uint32_t cpus) {
    struct sched_job_spec spec = world_spec(w);

    spec.min_nodes = spec.max_nodes = spec.ntasks = nodes;
    spec.cpus_per_task = cpus;
    spec.limit = 1000;
    return world_add(w, &spec);
}

/* Whether the shape of a waiting job would be left alone by a walk. */
static bool sleeps(struct world *w, uint32_t job_id) {
    const struct job *job = map_get(&w->sched->jobs, job_id);

    for (order_begin(w->sched); order_turn(w->sched); order_drop(w->sched)) {
        if (order_turn(w->sched)->shape == job->shape)
            return turn_sleeps(w->sched, order_turn(w->sched));
    }
    fail();
    return false;
}

/* Three nodes of four CPUs, filled by one job each. */
static void fill(struct world *w, uint32_t *holders) {
    world_init(w, 3, 4, 1000);
    world_configure(w);
    for (unsigned i = 0; i < 3; i++)
        holders[i] = add(w, 1, 4);
    assert_int_equal(world_pass(w), 3);
}

TEST(what_cannot_start_sleeps_until_a_node_comes_free) {
    struct world w;
    uint32_t holders[3];

    fill(&w, holders);
    uint32_t id = add(&w, 1, 2);
    assert_int_equal(world_pass(&w), 0);
    assert_true(sleeps(&w, id));
    world_end(&w, holders[0]);
    assert_false(sleeps(&w, id));
    world_done(&w);
}

TEST(a_node_that_is_too_small_wakes_nobody) {
    struct world w;
    uint32_t holders[3];

    fill(&w, holders);
    world_end(&w, holders[0]);
    uint32_t small = add(&w, 1, 1), large = add(&w, 1, 3);
    assert_int_equal(world_pass(&w), 2);
    uint32_t id = add(&w, 1, 3);
    assert_int_equal(world_pass(&w), 0);
    world_end(&w, small);
    assert_true(sleeps(&w, id));
    world_end(&w, large);
    assert_false(sleeps(&w, id));
    world_done(&w);
}

TEST(who_needs_three_nodes_sleeps_until_three_are_free) {
    struct world w;
    uint32_t holders[3];

    fill(&w, holders);
    uint32_t id = add(&w, 3, 4);
    assert_int_equal(world_pass(&w), 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(sleeps(&w, id));
        world_end(&w, holders[i]);
    }
    assert_false(sleeps(&w, id));
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

TEST(more_releases_than_the_log_holds_wake_everybody) {
    struct world w;

    world_init(&w, 2 * RELEASE_LOG_MAX, 1, 1000);
    world_configure(&w);
    for (unsigned i = 0; i < 2 * RELEASE_LOG_MAX; i++)
        add(&w, 1, 1);
    world_pass(&w);
    uint32_t id = add(&w, 2 * RELEASE_LOG_MAX, 1);
    assert_int_equal(world_pass(&w), 0);
    assert_true(sleeps(&w, id));
    while (w.runs.n > 0)
        world_end(&w, w.runs.items[0].job_id);
    assert_false(sleeps(&w, id));
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_start_sleeps_until_a_node_comes_free),
        cmocka_unit_test(a_node_that_is_too_small_wakes_nobody),
        cmocka_unit_test(who_needs_three_nodes_sleeps_until_three_are_free),
        cmocka_unit_test(more_releases_than_the_log_holds_wake_everybody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
