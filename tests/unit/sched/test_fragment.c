/* SPDX-License-Identifier: Apache-2.0 */
/* Of several nodes that could take a job with GPUs: the one of which least becomes useless. */
#include "world.h"

/* Two nodes of 8 CPUs and 4 GPUs. */
static void gpu_world(struct world *w) {
    world_init(w, 2, 8, 1000);
    w->n_kinds = 1;
    w->kinds[0] = (struct sched_gres_kind) {"gpu", ""};
    w->nodes[0].gres[0] = w->nodes[1].gres[0] = 4;
    world_configure(w);
}

static uint32_t place(struct world *w, uint32_t cpus, uint32_t gpus, uint32_t node) {
    struct sched_job_spec spec = world_spec(w);
    struct sched_plan plan;

    spec.cpus_per_task = cpus;
    spec.min_nodes = spec.max_nodes = 1;
    spec.ntasks = 1;
    spec.n_per_node = gpus > 0;
    spec.per_node[0] = (struct sched_gres_request) {0, 0, gpus};
    if (node != SCHED_NO_NODE) {
        spec.req_nodes = &node;
        spec.n_req_nodes = 1;
    }
    world_add(w, &spec);
    sched_pass(w->sched, w->now, 0, &plan);
    assert_int_equal(plan.n_starts, 1);
    uint32_t where = plan.starts[0].allocs[0].node;
    world_commit(w, &plan);
    world_check(w);
    sched_plan_done(&plan);
    w->now++;
    return where;
}

/* Jobs of 2 CPUs and 1 GPU run. A job of 1 CPU and 1 GPU would leave node 0 with 1 CPU for its last
 * GPU, which nobody could use; node 1 keeps 2. Fewest free GPUs alone would say node 0. */
TEST(what_runs_says_which_rest_is_useless) {
    struct world w;

    gpu_world(&w);
    place(&w, 2, 1, 0);
    place(&w, 2, 1, 0);
    place(&w, 2, 0, 0); /* node 0: 2 CPUs and 2 GPUs are left */
    place(&w, 2, 1, 1);
    place(&w, 3, 0, 1); /* node 1: 3 CPUs and 3 GPUs */
    assert_int_equal(place(&w, 1, 1, SCHED_NO_NODE), 1);
    world_done(&w);
}

TEST(without_anything_popular_the_fullest_node_is_taken) {
    struct world w;

    gpu_world(&w);
    place(&w, 4, 0, 1);
    assert_int_equal(place(&w, 1, 1, SCHED_NO_NODE), 0);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_runs_says_which_rest_is_useless),
        cmocka_unit_test(without_anything_popular_the_fullest_node_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
