/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that share CPUs at the same time. */
#include "random.h"
#include "sched/internal.h"
#include "world.h"

static void begin(struct world *w, uint32_t n_nodes, uint32_t layers, bool force) {
    world_init(w, n_nodes, 4, 1000);
    w->partitions[0].oversubscribe = layers;
    w->partitions[0].oversubscribe_force = force;
    world_configure(w);
}

static uint32_t add(struct world *w, uint32_t cpus, bool shares) {
    struct sched_job_spec spec = world_spec(w);
    spec.cpus_per_task = cpus;
    spec.oversubscribe = shares;
    return world_add(w, &spec);
}

static bool runs(struct world *w, uint32_t job) {
    return world_running(w, job) != NULL;
}

static uint32_t node_of(struct world *w, uint32_t job) {
    return world_running(w, job)->allocs[0].node;
}

TEST(force_2_lets_two_jobs_have_each_cpu_and_no_third) {
    struct world w;
    begin(&w, 1, 2, true);
    uint32_t jobs[] = {add(&w, 4, false), add(&w, 3, false), add(&w, 1, false), add(&w, 1, false)};
    world_pass(&w);
    assert_true(runs(&w, jobs[0]) && runs(&w, jobs[1]) && runs(&w, jobs[2]));
    assert_false(runs(&w, jobs[3]));
    world_end(&w, jobs[2]);
    world_pass(&w);
    assert_true(runs(&w, jobs[3]));
    world_check(&w);
    world_done(&w);
}

TEST(free_cpus_come_before_shared_ones) {
    struct world w;
    begin(&w, 2, 2, true);
    uint32_t first = add(&w, 4, false), second = add(&w, 4, false);
    world_pass(&w);
    assert_true(node_of(&w, first) != node_of(&w, second));
    world_done(&w);
}

TEST(with_yes_only_those_who_ask_share) {
    struct world w;
    begin(&w, 1, 2, false);
    uint32_t one = add(&w, 4, true), other = add(&w, 4, false);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 4;
    spec.oversubscribe = true;
    uint32_t brief = world_add(&w, &spec);
    spec.limit = 101; /* into the plan of the one that does not share */
    uint32_t longer = world_add(&w, &spec);
    world_pass(&w);
    assert_true(runs(&w, one));
    assert_false(runs(&w, other));
    assert_true(runs(&w, brief));
    assert_false(runs(&w, longer));
    world_end(&w, brief);
    world_pass(&w);
    assert_false(runs(&w, longer));
    world_cancel(&w, other);
    world_pass(&w);
    assert_true(runs(&w, longer));
    world_check(&w);
    world_done(&w);
}

TEST(who_shares_and_who_does_not_are_on_one_node_while_its_cpus_are_enough) {
    struct world w;
    begin(&w, 1, 4, false);
    uint32_t plain = add(&w, 2, false), one = add(&w, 2, true), more = add(&w, 1, true);
    world_pass(&w);
    assert_true(runs(&w, plain) && runs(&w, one));
    assert_false(runs(&w, more));
    world_end(&w, plain);
    world_pass(&w);
    assert_true(runs(&w, more));
    uint32_t late[] = {add(&w, 4, true), add(&w, 1, false)};
    world_pass(&w);
    assert_true(runs(&w, late[0])); /* 7 of 16 */
    assert_false(runs(&w, late[1]));
    world_check(&w);
    world_done(&w);
}

TEST(memory_is_never_given_twice) {
    struct world w;
    begin(&w, 1, 2, true);
    struct sched_job_spec spec = world_spec(&w);
    spec.mem_per_node = 600;
    world_add(&w, &spec);
    uint32_t second = world_add(&w, &spec);
    world_pass(&w);
    assert_false(runs(&w, second));
    world_done(&w);
}

TEST(no_job_has_more_cpus_of_a_node_than_there_are) {
    struct world w;
    struct error err = ERROR_INIT;
    begin(&w, 1, 2, true);
    struct sched_job_spec spec = world_spec(&w);
    spec.ntasks = 5;
    assert_true(sched_feasible(w.sched, &spec, NULL, &err) != 0);
    world_done(&w);
}

TEST(exclusive_jobs_share_with_nobody) {
    struct world w;
    begin(&w, 1, 2, true);
    add(&w, 1, false);
    world_pass(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.exclusive = true;
    uint32_t job = world_add(&w, &spec);
    world_pass(&w);
    assert_false(runs(&w, job));
    world_done(&w);
}

TEST(partitions_do_not_share_with_each_other) {
    struct world w;
    struct sched_partition_spec partitions[2];
    static const uint32_t second = 1;
    world_init(&w, 1, 4, 1000);
    w.partitions[0].oversubscribe = 2;
    w.partitions[0].oversubscribe_force = true;
    partitions[0] = partitions[1] = w.partitions[0];
    partitions[1].name = "other";
    struct sched_partition_spec *kept = w.partitions;
    w.partitions = partitions;
    w.n_partitions = 2;
    world_configure(&w);
    uint32_t one = add(&w, 3, false);
    world_pass(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.partitions = &second;
    spec.cpus_per_task = 2;
    uint32_t other = world_add(&w, &spec);
    world_pass(&w);
    assert_true(runs(&w, one));
    assert_false(runs(&w, other));
    world_end(&w, one);
    world_pass(&w);
    assert_true(runs(&w, other));
    w.partitions = kept;
    w.n_partitions = 1;
    world_done(&w);
}

TEST(where_jobs_take_turns_nothing_is_shared_at_once) {
    struct world w;
    world_init(&w, 1, 4, 1000);
    w.partitions[0].oversubscribe = 2;
    w.partitions[0].oversubscribe_force = true;
    w.partitions[0].takes_turns = true;
    world_configure(&w);
    add(&w, 4, false);
    uint32_t second = add(&w, 1, false);
    world_pass(&w);
    assert_false(runs(&w, second));
    world_done(&w);
}

TEST(a_suspended_job_that_shares_resumes_beside_others) {
    struct world w;
    begin(&w, 1, 2, true);
    uint32_t one = add(&w, 4, false), other = add(&w, 4, false);
    world_pass(&w);
    sched_run_suspend(w.sched, one, true);
    assert_true(sched_run_may_resume(w.sched, one));
    uint32_t third = add(&w, 4, false);
    world_pass(&w);
    assert_true(runs(&w, other) && runs(&w, third));
    assert_false(sched_run_may_resume(w.sched, one));
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_2_lets_two_jobs_have_each_cpu_and_no_third),
        cmocka_unit_test(free_cpus_come_before_shared_ones),
        cmocka_unit_test(with_yes_only_those_who_ask_share),
        cmocka_unit_test(who_shares_and_who_does_not_are_on_one_node_while_its_cpus_are_enough),
        cmocka_unit_test(memory_is_never_given_twice),
        cmocka_unit_test(no_job_has_more_cpus_of_a_node_than_there_are),
        cmocka_unit_test(exclusive_jobs_share_with_nobody),
        cmocka_unit_test(partitions_do_not_share_with_each_other),
        cmocka_unit_test(where_jobs_take_turns_nothing_is_shared_at_once),
        cmocka_unit_test(a_suspended_job_that_shares_resumes_beside_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
