/* SPDX-License-Identifier: Apache-2.0 */
/* What a share needs, and how many tasks a node can take: against trying every number. */
#include "random.h"
#include "sched/internal.h"

static struct world one_node(uint32_t threads, bool whole_cores) {
    struct world w;

    world_init(&w, 1, 16, 4000);
    w.nodes[0].threads_per_core = threads;
    w.nodes[0].cores_per_socket = 8 / threads;
    w.nodes[0].sockets = 2;
    w.nodes[0].whole_cores = whole_cores;
    w.kinds[0] = (struct sched_gres_kind) {"gpu", "a"};
    w.kinds[1] = (struct sched_gres_kind) {"gpu", "b"};
    w.kinds[2] = (struct sched_gres_kind) {"fpga", ""};
    w.n_kinds = 3;
    w.nodes[0].gres[0] = 4;
    w.nodes[0].gres[1] = 2;
    world_configure(&w);
    return w;
}

/* CPUs and memory of `tasks` tasks; 0 when the node cannot. */
static int64_t needs(struct world *w, const struct sched_job_spec *spec, uint32_t tasks,
                     int64_t *ret_mem) {
    struct shape *shape = shape_new(w->sched, spec);
    int64_t need[MAX_DIMS], cpus = 0;

    if (need_of(w->sched, shape, 0, tasks, NULL, need)) {
        cpus = need[DIM_CPU];
        *ret_mem = need[DIM_MEM];
    }
    shape_free(w->sched, shape);
    return cpus;
}

TEST(whole_cores_round_up_and_unused_threads_count) {
    struct world w = one_node(2, true);
    struct sched_job_spec spec = world_spec(&w);
    int64_t mem;

    assert_int_equal(needs(&w, &spec, 1, &mem), 2);
    assert_int_equal(needs(&w, &spec, 3, &mem), 4);
    spec.threads_per_core = 1;
    assert_int_equal(needs(&w, &spec, 3, &mem), 6);
    spec.threads_per_core = 0;
    spec.ntasks_per_core = 1;
    assert_int_equal(needs(&w, &spec, 3, &mem), 6);
    world_done(&w);
}

TEST(memory_is_asked_per_node_per_cpu_or_per_gpu) {
    struct world w = one_node(1, false);
    struct sched_job_spec spec = world_spec(&w);
    int64_t mem = -1;

    needs(&w, &spec, 2, &mem);
    assert_int_equal(mem, 0);
    spec.mem_per_cpu = 100;
    spec.cpus_per_task = 3;
    needs(&w, &spec, 2, &mem);
    assert_int_equal(mem, 600);
    spec.mem_per_cpu = UINT64_MAX;
    spec.mem_per_node = 0;
    needs(&w, &spec, 2, &mem);
    assert_int_equal(mem, 4000);
    spec.mem_per_node = UINT64_MAX;
    spec.mem_per_gpu = 500;
    spec.n_per_task = 1;
    spec.per_task[0] = (struct sched_gres_request) {0, 0, 2};
    needs(&w, &spec, 2, &mem);
    assert_int_equal(mem, 2000);
    world_done(&w);
}

TEST(cpus_per_gpu_overcommit_and_minimum_decide_cpus) {
    struct world w = one_node(1, false);
    struct sched_job_spec spec = world_spec(&w);
    int64_t mem;

    spec.n_per_node = 1;
    spec.per_node[0] = (struct sched_gres_request) {0, 0, 2};
    spec.cpus_per_gpu = 3;
    assert_int_equal(needs(&w, &spec, 1, &mem), 6);
    spec.min_cpus_per_node = 7;
    assert_int_equal(needs(&w, &spec, 1, &mem), 7);
    spec = world_spec(&w);
    spec.overcommit = true;
    assert_int_equal(needs(&w, &spec, 50, &mem), 1);
    spec.overcommit = false;
    assert_int_equal(needs(&w, &spec, 17, &mem), 0);
    spec.ntasks_per_socket = 2;
    assert_int_equal(needs(&w, &spec, 4, &mem), 4);
    assert_int_equal(needs(&w, &spec, 5, &mem), 0);
    world_done(&w);
}

TEST(the_number_of_tasks_that_fit_is_the_largest_that_does) {
    struct rng rng;

    rng_seed(&rng, 3);
    for (unsigned round = 0; round < 3000; round++) {
        struct world w = one_node(1 + rng_below(&rng, 2), rng_below(&rng, 2));
        struct request_memory memory;
        struct sched_job_spec spec = random_request(&w, &rng, RANDOM_RICH, &memory);
        int64_t have[MAX_DIMS], need[MAX_DIMS];
        uint32_t best = 0, share[8] = {1};

        w.n_licenses = 0;
        spec.ntasks = 20;
        spec.exclusive = false;
        spec.n_exc_nodes = spec.n_req_nodes = 0;
        struct shape *shape = shape_new(w.sched, &spec);
        for (uint32_t d = 0; d < w.sched->n_base; d++)
            have[d] = (int64_t) rng_below(&rng, (uint64_t) node_total(w.sched, 0)[d] + 1);
        amount_sum(w.sched, have);
        for (uint32_t tasks = 1; tasks <= 20; tasks++) {
            if ((!spec.ntasks_per_node || tasks <= spec.ntasks_per_node) &&
                need_of(w.sched, shape, 0, tasks, share, need) &&
                amount_covers(have, need, w.sched->n_dims))
                best = tasks;
        }
        assert_int_equal(node_tasks(w.sched, shape, &shape->alternatives[0], 0, have), best);
        shape_free(w.sched, shape);
        constraint_free(memory.features);
        world_done(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_cores_round_up_and_unused_threads_count),
        cmocka_unit_test(memory_is_asked_per_node_per_cpu_or_per_gpu),
        cmocka_unit_test(cpus_per_gpu_overcommit_and_minimum_decide_cpus),
        cmocka_unit_test(the_number_of_tasks_that_fit_is_the_largest_that_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
