/* SPDX-License-Identifier: Apache-2.0 */
/* Heterogeneous jobs: components that are submitted, start and end together. */
#include <string.h>

#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                                "MaxArraySize=101\nMaxJobCount=20\nMinJobAge=20\n"
                                "NodeName=n[1-4] CPUs=2 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n"
                                "PartitionName=small Nodes=n1\n";

static void begin(struct world *world) {
    world_start(world, conf_text);
    world_all_connect(world);
}

/* Components of so many whole nodes each. Returns the id of the first, 0 when refused. */
struct wanted {
    size_t n;
    struct job_request items[4];
};

static struct wanted want(size_t n, const uint32_t *nodes) {
    struct wanted wanted = {.n = n};
    for (size_t i = 0; i < n; i++) {
        world_request(&wanted.items[i]);
        wanted.items[i].min_nodes = wanted.items[i].max_nodes = nodes[i];
        wanted.items[i].exclusive = EXCLUSIVE_NODE;
    }
    return wanted;
}

static uint32_t submit(struct world *world, struct wanted *wanted, int *ret_code) {
    struct submit submit;
    struct arena arena;
    arena_init(&arena, 0);
    record_init(&record_submit, &submit);
    submit.job = &wanted->items[0];
    submit.components.items = &wanted->items[1];
    submit.components.n = (uint32_t) wanted->n - 1;
    uint64_t client = world_send(world, MSG_SUBMIT, &submit);
    const struct submit_reply *reply = world_answer(world, client, MSG_SUBMIT_REPLY, &arena);
    const struct reply_error *error = world_answer(world, client, MSG_ERROR, &arena);
    assert_true(reply != NULL || error != NULL);
    uint32_t id = reply != NULL ? reply->job_id : 0;
    if (ret_code != NULL)
        *ret_code = error != NULL ? (int) error->code : 0;
    arena_done(&arena);
    return id;
}

static uint32_t submit_nodes(struct world *world, size_t n, const uint32_t *nodes) {
    struct wanted wanted = want(n, nodes);
    uint32_t id = submit(world, &wanted, NULL);
    assert_int_not_equal(id, 0);
    return id;
}

static void check_states(struct world *world, uint32_t first, size_t n, uint32_t state) {
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(world_state(world, first + i), state);
}

TEST(components_have_ids_that_follow_each_other_and_start_together) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = submit_nodes(&world, 3, (uint32_t[]) {1, 2, 1});
    check_states(&world, id, 3, JOB_RUNNING);
    assert_int_equal(world.n_launched, 1); /* the script, on the leader's node */
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(world_look(&world, id + i, &job));
        assert_int_equal(job.het_job_id, id);
        assert_int_equal(job.het_offset, i);
        assert_int_equal(job.het_size, 3);
        assert_int_equal(job.flags, 0);
    }
    world_check(&world);
    world_stop(&world);
}

TEST(none_starts_while_one_has_no_place_and_nothing_is_held_for_it) {
    struct world world;
    begin(&world);
    uint32_t one = world_job(&world);
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {3, 1});
    check_states(&world, id, 2, JOB_PENDING);
    world_check(&world);
    world_script_ends(&world, one, 0);
    check_states(&world, id, 2, JOB_RUNNING);
    world_stop(&world);
}

TEST(one_component_that_is_refused_refuses_all_and_takes_no_id) {
    struct world world;
    int code;
    begin(&world);
    struct wanted wanted = want(2, (uint32_t[]) {1, 1});
    wanted.items[1].partition = text_of("nowhere");
    assert_int_equal(submit(&world, &wanted, &code), 0);
    assert_int_equal(code, ERR_INVALID_PARTITION);
    wanted.items[1].partition = NULL;
    wanted.items[1].array_spec = text_of("1-3");
    assert_int_equal(submit(&world, &wanted, &code), 0);
    assert_int_equal(code, ERR_INVALID_ARRAY);
    wanted.items[1].array_spec = NULL;
    assert_int_equal(submit(&world, &wanted, &code), 1);
    world_stop(&world);
}

TEST(every_component_counts_as_a_job) {
    struct world world;
    int code;
    begin(&world);
    struct wanted wanted = want(4, (uint32_t[]) {4, 4, 4, 4}); /* never starts */
    for (int i = 0; i < 5; i++)
        assert_int_not_equal(submit(&world, &wanted, &code), 0);
    assert_int_equal(submit(&world, &wanted, &code), 0);
    assert_int_equal(code, ERR_JOB_COUNT);
    world_stop(&world);
}

TEST(the_end_of_the_script_ends_all_the_same_way) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {1, 2});
    world_script_ends(&world, id, 5 << 8);
    check_states(&world, id, 2, JOB_FAILED);
    assert_true(world_look(&world, id + 1, &job));
    assert_int_equal(job.exit_status, 5 << 8);
    world_check(&world);
    world_stop(&world);
}

TEST(a_waiting_component_cannot_be_cancelled_alone_a_running_one_can) {
    struct world world;
    begin(&world);
    uint32_t one = world_job(&world);
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {3, 1});
    assert_int_equal(world_kill(&world, "3"), ERR_HET_COMPONENT);
    assert_int_equal(world_kill(&world, "2+1"), ERR_HET_COMPONENT);
    world_script_ends(&world, one, 0);
    assert_int_equal(world_kill(&world, "2+1"), 0);
    assert_int_equal(world_state(&world, id + 1), JOB_CANCELLED);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_equal(world_kill(&world, "2"), 0);
    check_states(&world, id, 2, JOB_CANCELLED);
    world_stop(&world);
}

TEST(cancelling_the_leader_of_a_waiting_job_cancels_all) {
    struct world world;
    begin(&world);
    world_job(&world);
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {3, 1});
    assert_int_equal(world_kill(&world, "2"), 0);
    check_states(&world, id, 2, JOB_CANCELLED);
    world_stop(&world);
}

TEST(a_hold_of_one_holds_up_all_and_the_leader_stands_for_all) {
    struct world world;
    struct job job;
    begin(&world);
    struct wanted wanted = want(2, (uint32_t[]) {1, 1});
    wanted.items[0].hold = wanted.items[1].hold = true;
    uint32_t id = submit(&world, &wanted, NULL);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "2"), 0);
    check_states(&world, id, 2, JOB_PENDING);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.priority, 0);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    check_states(&world, id, 2, JOB_RUNNING);
    world_stop(&world);
}

TEST(a_verb_that_one_component_refuses_changes_none) {
    struct world world;
    struct job job;
    begin(&world);
    struct wanted wanted = want(2, (uint32_t[]) {1, 1});
    wanted.items[0].hold = wanted.items[1].hold = true;
    wanted.items[1].requeue = TRI_NO;
    uint32_t owner = world.uid = 1000;
    uint32_t id = submit(&world, &wanted, NULL);
    world.uid = 0;
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1+1"), 0);
    assert_int_equal(world_verb(&world, VERB_HOLD, "1+1"), 0); /* an administrator's */
    world.uid = owner;
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), ERR_ACCESS_DENIED);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.priority, 0);
    world.uid = 0;
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    check_states(&world, id, 2, JOB_RUNNING);
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "1"), ERR_DISABLED);
    check_states(&world, id, 2, JOB_RUNNING);
    world_stop(&world);
}

TEST(a_requeue_is_for_the_leader_and_of_all) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {1, 2});
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "2"), ERR_HET_LEADER);
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "1"), 0);
    check_states(&world, id, 2, JOB_RUNNING); /* there is room for it again */
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(world_look(&world, id + i, &job));
        assert_int_equal(job.restarts, 1);
    }
    world_check(&world);
    world_stop(&world);
}

TEST(suspending_is_for_the_leader_and_of_all) {
    struct world world;
    begin(&world);
    world.uid = 0;
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {1, 2});
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "2"), ERR_HET_COMPONENT);
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1"), 0);
    check_states(&world, id, 2, JOB_SUSPENDED);
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), 0);
    check_states(&world, id, 2, JOB_RUNNING);
    world_stop(&world);
}

TEST(a_lost_node_of_one_requeues_all) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {1, 2});
    assert_true(world_look(&world, id + 1, &job));
    world_node_lost(&world, (uint32_t) job.batch_host[1] - '1');
    world_pass_time(&world, 400); /* SlurmdTimeout is 300 */
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(world_look(&world, id + i, &job));
        assert_int_equal(job.restarts, 1);
    }
    assert_int_equal(world_state(&world, id), world_state(&world, id + 1));
    world_check(&world);
    world_stop(&world);
}

TEST(a_change_of_the_leader_is_one_of_all_and_of_a_component_its_own) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {3, 3}); /* waits */
    assert_int_equal(world_update(&world, "job", "1", "Comment", "all"), 0);
    assert_true(world_look(&world, id + 1, &job));
    assert_string_equal(job.comment, "all");
    assert_int_equal(world_update(&world, "job", "1+1", "Comment", "one"), 0);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.comment, "all");
    assert_true(world_look(&world, id + 1, &job));
    assert_string_equal(job.comment, "one");
    world_stop(&world);
}

TEST(a_restart_finds_the_group_waiting_running_and_ended) {
    struct world world;
    begin(&world);
    uint32_t one = world_job(&world);
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {3, 1});
    world_restart(&world);
    world_all_connect(&world);
    check_states(&world, id, 2, JOB_PENDING);
    world_script_ends(&world, one, 0);
    check_states(&world, id, 2, JOB_RUNNING);
    world_restart(&world);
    world_all_connect(&world);
    check_states(&world, id, 2, JOB_RUNNING);
    world_script_ends(&world, id, 0);
    check_states(&world, id, 2, JOB_COMPLETED);
    world_check(&world);
    world_stop(&world);
}

TEST(no_record_leaves_while_a_component_has_not_ended) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {1, 2});
    assert_int_equal(world_kill(&world, "2"), 0);
    world_pass_time(&world, 100); /* MinJobAge is 20 */
    assert_true(world_look(&world, id + 1, &job));
    world_script_ends(&world, id, 0);
    world_pass_time(&world, 10);
    assert_true(world_look(&world, id + 1, &job));
    world_pass_time(&world, 100);
    assert_false(world_look(&world, id, &job));
    assert_false(world_look(&world, id + 1, &job));
    world_stop(&world);
}

TEST(an_update_changes_all_components_or_none) {
    struct world world;
    struct job job;
    begin(&world);
    struct wanted wanted = want(2, (uint32_t[]) {1, 1});
    wanted.items[0].hold = wanted.items[1].hold = true;
    wanted.items[1].time_min = 5; /* so it cannot do with less */
    uint32_t id = submit(&world, &wanted, NULL);
    assert_int_not_equal(id, 0);
    assert_true(world_look(&world, id, &job));
    uint32_t before = job.time_limit;
    assert_int_not_equal(world_update(&world, "job", "1", "TimeLimit", "3"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.time_limit, before);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "7"), 0);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(world_look(&world, id + i, &job));
        assert_int_equal(job.time_limit, 7);
    }
    world_stop(&world);
}

TEST(a_component_may_depend_on_a_job_that_only_the_history_knows) {
    struct world world;
    struct job_request request;
    struct job job;
    int code;
    begin(&world);
    world.keeps_history = true;
    world_request(&request);
    uint32_t before = world_submit(&world, &request, NULL);
    world_script_ends(&world, before, 0);
    world_pass_time(&world, 4000);
    assert_false(world_look(&world, before, &job));
    struct wanted wanted = want(2, (uint32_t[]) {1, 1});
    wanted.items[1].dependency = text_of("afterok:1");
    assert_int_not_equal(submit(&world, &wanted, &code), 0);
    assert_int_equal(code, 0);
    world_stop(&world);
}

TEST(a_singleton_does_not_wait_for_its_own_components) {
    struct world world;
    begin(&world);
    struct wanted wanted = want(2, (uint32_t[]) {1, 1});
    wanted.items[0].dependency = wanted.items[1].dependency = text_of("singleton");
    uint32_t id = submit(&world, &wanted, NULL);
    check_states(&world, id, 2, JOB_RUNNING);
    uint32_t next = submit(&world, &wanted, NULL);
    check_states(&world, next, 2, JOB_PENDING);
    world_script_ends(&world, id, 0);
    check_states(&world, next, 2, JOB_RUNNING);
    world_stop(&world);
}

TEST(with_whole_hetjob_a_component_stands_for_all) {
    struct world world;
    cleanup_free char *text = xasprintf("%sSchedulerParameters=whole_hetjob\n", conf_text);
    world_start(&world, text);
    world_all_connect(&world);
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {3, 3});
    assert_int_equal(world_kill(&world, "1+1"), 0);
    check_states(&world, id, 2, JOB_CANCELLED);
    world_stop(&world);
}

/* ---- allocations: one command owns all components ---- */

static void want_allocation(struct wanted *wanted, uint32_t kind) {
    for (size_t i = 0; i < wanted->n; i++) {
        wanted->items[i].kind = kind;
        wanted->items[i].script = (struct blob) {NULL, 0};
    }
}

struct asked {
    uint64_t client;
    uint32_t id;
    bool pending;
    int code;
};

static struct asked allocate(struct world *world, struct wanted *wanted) {
    struct asked asked = {0};
    struct submit submit;
    struct arena arena;
    arena_init(&arena, 0);
    record_init(&record_submit, &submit);
    submit.job = &wanted->items[0];
    submit.components.items = &wanted->items[1];
    submit.components.n = (uint32_t) wanted->n - 1;
    asked.client = world_send(world, MSG_SUBMIT, &submit);
    const struct submit_reply *reply = world_answer(world, asked.client, MSG_SUBMIT_REPLY, &arena);
    const struct reply_error *error = world_answer(world, asked.client, MSG_ERROR, &arena);
    asked.id = reply != NULL ? reply->job_id : 0;
    asked.pending = reply != NULL && reply->pending;
    asked.code = error != NULL ? (int) error->code : 0;
    arena_done(&arena);
    return asked;
}

/* How many components with nodes the client has been granted; 0: nothing yet. */
static uint32_t granted(struct world *world, uint64_t client) {
    struct arena arena;
    uint32_t n = 0;
    arena_init(&arena, 0);
    const struct alloc_granted *grant = world_answer(world, client, MSG_ALLOC_GRANTED, &arena);
    for (uint32_t i = 0; grant != NULL && i < grant->components.n; i++) {
        const struct job *job = &grant->components.items[i];
        n += job->nodes != NULL && job->het_offset == i && job->allocation.n > 0;
    }
    arena_done(&arena);
    return n;
}

static uint32_t noticed(struct world *world, uint64_t client, uint32_t *ret_job_id) {
    struct arena arena;
    arena_init(&arena, 0);
    const struct alloc_notice *notice = world_answer(world, client, MSG_ALLOC_NOTICE, &arena);
    uint32_t what = notice != NULL ? notice->what : 0;
    *ret_job_id = notice != NULL ? notice->job_id : 0;
    arena_done(&arena);
    return what;
}

TEST(an_allocation_is_granted_with_all_its_components_and_ends_with_its_command) {
    struct world world;
    struct job job;
    begin(&world);
    struct wanted wanted = want(2, (uint32_t[]) {1, 2}), more = want(2, (uint32_t[]) {1, 1});
    want_allocation(&wanted, JOB_KIND_SALLOC);
    want_allocation(&more, JOB_KIND_SRUN);
    struct asked asked = allocate(&world, &wanted), later = allocate(&world, &more);
    assert_false(asked.pending);
    assert_int_equal(granted(&world, asked.client), 2);
    assert_true(later.pending);
    assert_int_equal(granted(&world, later.client), 0);
    struct alloc_end end = {.job_id = asked.id, .exit_status = 3 << 8};
    assert_int_equal(world_code(&world, world_send(&world, MSG_ALLOC_END, &end)), 0);
    check_states(&world, asked.id, 2, JOB_FAILED);
    assert_true(world_look(&world, asked.id + 1, &job));
    assert_int_equal(job.exit_status, 3 << 8);
    assert_int_equal(granted(&world, later.client), 2);
    check_states(&world, later.id, 2, JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(an_allocation_that_may_not_wait_is_refused_as_a_whole_whichever_component_says_so) {
    struct world world;
    begin(&world);
    world_job(&world);
    struct wanted wanted = want(2, (uint32_t[]) {3, 1});
    want_allocation(&wanted, JOB_KIND_SALLOC);
    wanted.items[1].immediate = 1;
    struct asked asked = allocate(&world, &wanted);
    assert_int_equal(asked.code, ERR_NODES_BUSY);
    check_states(&world, 2, 2, JOB_CANCELLED);
    wanted.items[1].immediate = 30;
    asked = allocate(&world, &wanted);
    assert_true(asked.pending);
    world_pass_time(&world, 31);
    check_states(&world, asked.id, 2, JOB_CANCELLED);
    world_stop(&world);
}

TEST(components_of_different_commands_are_no_job) {
    struct world world;
    begin(&world);
    struct wanted wanted = want(2, (uint32_t[]) {1, 1});
    want_allocation(&wanted, JOB_KIND_SALLOC);
    wanted.items[1].kind = JOB_KIND_BATCH;
    assert_int_equal(allocate(&world, &wanted).code, ERR_PROTOCOL);
    wanted.items[1].kind = JOB_KIND_SALLOC;
    wanted.items[1].no_shell = true;
    assert_int_equal(allocate(&world, &wanted).code, ERR_PROTOCOL);
    world_stop(&world);
}

TEST(its_owner_is_told_of_the_end_of_one_component_and_keeps_the_others) {
    struct world world;
    uint32_t id;
    begin(&world);
    struct wanted wanted = want(2, (uint32_t[]) {1, 1});
    want_allocation(&wanted, JOB_KIND_SALLOC);
    wanted.items[1].time_limit = 1;
    struct asked asked = allocate(&world, &wanted);
    world_pass_time(&world, 62);
    assert_int_equal(noticed(&world, asked.client, &id), ALLOC_TIMEOUT);
    assert_int_equal(id, asked.id + 1);
    assert_int_equal(world_state(&world, asked.id + 1), JOB_TIMEOUT);
    assert_int_equal(world_state(&world, asked.id), JOB_RUNNING);
    world_stop(&world);
}

TEST(an_owner_that_leaves_has_all_components_end_and_one_that_returns_keeps_them) {
    struct world world;
    begin(&world);
    struct wanted wanted = want(2, (uint32_t[]) {1, 1});
    want_allocation(&wanted, JOB_KIND_SALLOC);
    struct asked asked = allocate(&world, &wanted), other = allocate(&world, &wanted);
    world_client_gone(&world, asked.client);
    check_states(&world, asked.id, 2, JOB_RUNNING); /* it may come back */
    world_pass_time(&world, 65);
    check_states(&world, asked.id, 2, JOB_CANCELLED);
    world_restart(&world);
    world_all_connect(&world);
    struct alloc_end attach = {.job_id = other.id, .attach = true};
    uint64_t client = world_send(&world, MSG_ALLOC_ATTACH, &attach);
    assert_int_equal(granted(&world, client), 2);
    world_pass_time(&world, 500);
    check_states(&world, other.id, 2, JOB_RUNNING);
    world_client_gone(&world, client);
    world_pass_time(&world, 65);
    check_states(&world, other.id, 2, JOB_CANCELLED);
    world_check(&world);
    world_stop(&world);
}

TEST(an_owner_that_leaves_while_it_waits_takes_its_whole_job_along) {
    struct world world;
    begin(&world);
    world_job(&world);
    struct wanted wanted = want(2, (uint32_t[]) {3, 1});
    want_allocation(&wanted, JOB_KIND_SRUN);
    struct asked asked = allocate(&world, &wanted);
    world_client_gone(&world, asked.client);
    check_states(&world, asked.id, 2, JOB_CANCELLED);
    world_stop(&world);
}

/* srun --jobid from elsewhere: it asks what there is, and becomes nobody's owner. */
TEST(who_asks_what_a_heterogeneous_job_has_is_told_all_of_it) {
    struct world world;
    begin(&world);
    uint32_t id = submit_nodes(&world, 2, (uint32_t[]) {1, 2});
    struct alloc_end question = {.job_id = id};
    uint64_t client = world_send(&world, MSG_ALLOC_ATTACH, &question);
    assert_int_equal(granted(&world, client), 2);
    world_client_gone(&world, client);
    world_pass_time(&world, 100);
    check_states(&world, id, 2, JOB_RUNNING);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_have_ids_that_follow_each_other_and_start_together),
        cmocka_unit_test(none_starts_while_one_has_no_place_and_nothing_is_held_for_it),
        cmocka_unit_test(one_component_that_is_refused_refuses_all_and_takes_no_id),
        cmocka_unit_test(every_component_counts_as_a_job),
        cmocka_unit_test(the_end_of_the_script_ends_all_the_same_way),
        cmocka_unit_test(a_waiting_component_cannot_be_cancelled_alone_a_running_one_can),
        cmocka_unit_test(cancelling_the_leader_of_a_waiting_job_cancels_all),
        cmocka_unit_test(a_hold_of_one_holds_up_all_and_the_leader_stands_for_all),
        cmocka_unit_test(a_verb_that_one_component_refuses_changes_none),
        cmocka_unit_test(a_requeue_is_for_the_leader_and_of_all),
        cmocka_unit_test(suspending_is_for_the_leader_and_of_all),
        cmocka_unit_test(a_lost_node_of_one_requeues_all),
        cmocka_unit_test(a_change_of_the_leader_is_one_of_all_and_of_a_component_its_own),
        cmocka_unit_test(a_restart_finds_the_group_waiting_running_and_ended),
        cmocka_unit_test(no_record_leaves_while_a_component_has_not_ended),
        cmocka_unit_test(an_update_changes_all_components_or_none),
        cmocka_unit_test(a_component_may_depend_on_a_job_that_only_the_history_knows),
        cmocka_unit_test(a_singleton_does_not_wait_for_its_own_components),
        cmocka_unit_test(with_whole_hetjob_a_component_stands_for_all),
        cmocka_unit_test(
            an_allocation_is_granted_with_all_its_components_and_ends_with_its_command),
        cmocka_unit_test(
            an_allocation_that_may_not_wait_is_refused_as_a_whole_whichever_component_says_so),
        cmocka_unit_test(components_of_different_commands_are_no_job),
        cmocka_unit_test(its_owner_is_told_of_the_end_of_one_component_and_keeps_the_others),
        cmocka_unit_test(
            an_owner_that_leaves_has_all_components_end_and_one_that_returns_keeps_them),
        cmocka_unit_test(an_owner_that_leaves_while_it_waits_takes_its_whole_job_along),
        cmocka_unit_test(who_asks_what_a_heterogeneous_job_has_is_told_all_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
