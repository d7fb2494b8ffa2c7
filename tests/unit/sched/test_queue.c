/* SPDX-License-Identifier: Apache-2.0 */
/* The order of those that wait. */
#include "sched/internal.h"
#include "world.h"

/* The ids of a shape's list in order. */
static void expect_order(struct world *w, uint32_t job_id, const uint32_t *ids, size_t n) {
    struct job *job = map_get(&w->sched->jobs, job_id);
    struct shape *shape = job->shape;
    size_t at;

    job_list_sort(shape);
    at = shape->first;
    for (size_t i = 0; i < n; i++, at++) {
        struct job *next = job_list_at(shape, &at);
        assert_non_null(next);
        assert_int_equal(next->job_id, ids[i]);
        assert_ptr_equal(shape->jobs[next->position], next);
    }
    assert_null(job_list_at(shape, &at));
    assert_int_equal(shape->n_live, n);
}

TEST(changes_of_priority_move_jobs) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    for (uint32_t i = 0; i < 4; i++) {
        struct sched_job_spec spec = world_spec(&w);
        world_add(&w, &spec);
    }
    expect_order(&w, 1, (uint32_t[]) {1, 2, 3, 4}, 4);
    world_priority(&w, 3, 2000);
    world_priority(&w, 1, 5);
    expect_order(&w, 1, (uint32_t[]) {3, 2, 4, 1}, 4);
    world_cancel(&w, 2);
    expect_order(&w, 1, (uint32_t[]) {3, 4, 1}, 3);
    world_done(&w);
}

TEST(random_changes_keep_the_order) {
    struct rng rng;

    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct world w;
        rng_seed(&rng, seed);
        world_init(&w, 1, 4, 1000);
        world_configure(&w);
        struct sched_job_spec spec = world_spec(&w);
        world_add(&w, &spec);
        for (unsigned i = 0; i < 300; i++) {
            uint32_t any = w.jobs.items[rng_below(&rng, w.jobs.n)].spec.job_id;
            spec.priority = 1 + rng_below(&rng, 10);
            spec.submit_time = w.now + (int64_t) rng_below(&rng, 5);
            if (rng_below(&rng, 3) || w.jobs.n < 2)
                world_add(&w, &spec);
            else if (rng_below(&rng, 2))
                world_cancel(&w, any);
            else
                world_priority(&w, any, 1 + rng_below(&rng, 10));
            if (i % 7 && i != 299)
                continue;
            const struct job *first = map_get(&w.sched->jobs, w.jobs.items[0].spec.job_id);
            struct shape *shape = first->shape;
            size_t n = 0;
            const struct job *last = NULL;
            job_list_sort(shape);
            for (size_t at = shape->first; at < shape->n_jobs; at++) {
                const struct job *job = shape->jobs[at];
                if (!job)
                    continue;
                assert_true(!last || job_compare(last, job) < 0);
                last = job;
                n++;
            }
            assert_int_equal(n, w.jobs.n);
        }
        world_done(&w);
    }
}

TEST(a_higher_tier_goes_before_a_higher_priority) {
    struct world w;
    static const uint32_t fast[] = {1};
    struct sched_plan plan;

    world_init(&w, 1, 4, 1000);
    w.partitions[1] = w.partitions[0];
    w.partitions[1].nodes = xmemdup(w.partitions[0].nodes, sizeof(uint32_t));
    w.partitions[1].tier = 2;
    w.n_partitions = 2;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.priority = 5000;
    world_add(&w, &spec);
    spec.priority = 1;
    spec.partitions = fast;
    uint32_t id = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.starts[0].job_id, id);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(replacing_a_job_by_another_request_changes_its_shape) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    uint32_t id = world_add(&w, &spec);
    assert_int_equal(w.sched->shapes.n, 1);
    world_job(&w, id)->spec.cpus_per_task = 9;
    sched_job_add(w.sched, &world_job(&w, id)->spec);
    assert_int_equal(w.sched->shapes.n, 1);
    assert_int_equal(w.sched->jobs.n, 1);
    assert_int_equal(world_pass(&w), 0);
    world_done(&w);
}

TEST(who_grows_older_with_all_others_keeps_its_place) {
    struct world w;
    uint32_t ids[10];

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    for (unsigned i = 0; i < 10; i++) {
        struct sched_job_spec spec = world_spec(&w);
        spec.priority = 1000 - 10 * i;
        ids[i] = world_add(&w, &spec);
    }
    order_begin(w.sched);
    const struct shape *shape = w.sched->shapes.items[0];
    for (unsigned i = 0; i < 10; i++)
        world_priority(&w, ids[i], 1005 - 10 * i);
    assert_int_equal(shape->n_sorted, 10); /* nobody was taken out */
    assert_int_equal(shape->n_jobs, 10);
    world_priority(&w, ids[9], 5000);
    order_begin(w.sched);
    assert_int_equal(order_job(w.sched)->job_id, ids[9]);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_of_priority_move_jobs),
        cmocka_unit_test(random_changes_keep_the_order),
        cmocka_unit_test(a_higher_tier_goes_before_a_higher_priority),
        cmocka_unit_test(replacing_a_job_by_another_request_changes_its_shape),
        cmocka_unit_test(who_grows_older_with_all_others_keeps_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
