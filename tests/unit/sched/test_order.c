/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/internal.h"
#include "world.h"

static uint32_t add(struct world *w, uint32_t cpus, uint32_t priority) {
    struct sched_job_spec spec = world_spec(w);

    spec.cpus_per_task = cpus; /* one shape each */
    spec.priority = priority;
    return world_add(w, &spec);
}

/* The ids of all that wait, as a walk meets them. */
static void expect_walk(struct world *w, const uint32_t *ids, size_t n) {
    size_t i = 0;

    for (order_begin(w->sched); order_turn(w->sched); order_advance(w->sched)) {
        assert_true(i < n);
        assert_int_equal(order_job(w->sched)->job_id, ids[i++]);
    }
    assert_int_equal(i, n);
}

TEST(a_walk_meets_all_jobs_by_priority_whatever_their_shape) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    uint32_t a = add(&w, 1, 10), b = add(&w, 2, 30), c = add(&w, 1, 20), d = add(&w, 2, 5);
    expect_walk(&w, (uint32_t[]) {b, c, a, d}, 4);
    world_done(&w);
}

TEST(a_shape_moves_with_its_first_job) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    uint32_t a = add(&w, 1, 10), b = add(&w, 2, 30), c = add(&w, 3, 20);
    expect_walk(&w, (uint32_t[]) {b, c, a}, 3);
    world_priority(&w, a, 40);
    expect_walk(&w, (uint32_t[]) {a, b, c}, 3);
    world_cancel(&w, b);
    expect_walk(&w, (uint32_t[]) {a, c}, 2);
    uint32_t d = add(&w, 3, 50);
    expect_walk(&w, (uint32_t[]) {d, a, c}, 3);
    world_done(&w);
}

TEST(a_shape_that_is_dropped_does_not_come_again) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    add(&w, 1, 50);
    add(&w, 1, 40);
    uint32_t last = add(&w, 2, 10);
    order_begin(w.sched);
    order_advance(w.sched);
    order_drop(w.sched);
    assert_int_equal(order_job(w.sched)->job_id, last);
    world_done(&w);
}

TEST(the_order_does_not_grow_with_the_jobs_that_have_left) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    uint32_t last = add(&w, 1, 10);
    for (unsigned i = 0; i < 5000; i++) {
        uint32_t next = add(&w, 1, 10);
        world_cancel(&w, last); /* the shape moves behind all that was */
        order_begin(w.sched);
        last = next;
    }
    assert_true(w.sched->order.turns.n < 200);
    expect_walk(&w, &last, 1);
    world_done(&w);
}

TEST(many_changes_at_once_end_in_the_same_order_as_one_by_one) {
    struct world a, b;
    struct rng rng;
    uint32_t ids_a[300], ids_b[300];
    size_t n_a = 0, n_b = 0;

    rng_seed(&rng, 1);
    world_init(&a, 1, 64, 1000);
    world_init(&b, 1, 64, 1000);
    world_configure(&a);
    world_configure(&b);
    for (unsigned i = 0; i < 300; i++) {
        uint32_t cpus = 1 + rng_below(&rng, 60), priority = 1 + rng_below(&rng, 1000);
        add(&a, cpus, priority);
        add(&b, cpus, priority);
        order_begin(b.sched);
    }
    for (order_begin(a.sched); order_turn(a.sched); order_advance(a.sched))
        ids_a[n_a++] = order_job(a.sched)->job_id;
    for (order_begin(b.sched); order_turn(b.sched); order_advance(b.sched))
        ids_b[n_b++] = order_job(b.sched)->job_id;
    assert_int_equal(n_a, 300);
    assert_int_equal(n_b, 300);
    assert_memory_equal(ids_a, ids_b, sizeof(ids_a));
    world_done(&a);
    world_done(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_meets_all_jobs_by_priority_whatever_their_shape),
        cmocka_unit_test(a_shape_moves_with_its_first_job),
        cmocka_unit_test(a_shape_that_is_dropped_does_not_come_again),
        cmocka_unit_test(the_order_does_not_grow_with_the_jobs_that_have_left),
        cmocka_unit_test(many_changes_at_once_end_in_the_same_order_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
