/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of salloc and srun, and the clients that wait for jobs. */
#include <string.h>

#include "steps.h"
#include "unit.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                                "MinJobAge=10\nMaxTasksPerNode=8\n"
                                "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static void begin(struct world *world) {
    world_start(world, conf_text);
    world_all_connect(world);
}

struct asked {
    uint64_t client;
    uint32_t job_id;
    bool pending;
    int code;
};

static void salloc_request(struct job_request *request, uint32_t ntasks) {
    world_request(request);
    request->kind = JOB_KIND_SALLOC;
    request->script = (struct blob) {NULL, 0};
    request->ntasks = ntasks;
}

static struct asked ask(struct world *world, struct job_request *request,
                        struct step_request *step) {
    struct submit submit;
    struct asked asked = {0};
    struct arena arena;
    record_init(&record_submit, &submit);
    submit.job = request;
    submit.step = step;
    asked.client = world_send(world, MSG_SUBMIT, &submit);
    arena_init(&arena, 0);
    const struct submit_reply *reply = world_answer(world, asked.client, MSG_SUBMIT_REPLY, &arena);
    const struct reply_error *error = world_answer(world, asked.client, MSG_ERROR, &arena);
    assert_true(reply != NULL || error != NULL);
    if (reply != NULL) {
        asked.job_id = reply->job_id;
        asked.pending = reply->pending;
    }
    asked.code = error != NULL ? (int) error->code : 0;
    arena_done(&arena);
    return asked;
}

/* srun outside a job: its first step comes with the allocation. */
static struct asked ask_srun(struct world *world, uint32_t ntasks) {
    struct job_request request;
    struct step_request step;
    salloc_request(&request, ntasks);
    request.kind = JOB_KIND_SRUN;
    steps_request(&step, 0, ntasks);
    return ask(world, &request, &step);
}

static bool granted(struct world *world, uint64_t client) {
    struct arena arena;
    arena_init(&arena, 0);
    const struct alloc_granted *grant = world_answer(world, client, MSG_ALLOC_GRANTED, &arena);
    bool is = grant != NULL && grant->job != NULL && grant->job->nodes != NULL;
    arena_done(&arena);
    return is;
}

static uint32_t noticed(struct world *world, uint64_t client) {
    struct arena arena;
    arena_init(&arena, 0);
    const struct alloc_notice *notice = world_answer(world, client, MSG_ALLOC_NOTICE, &arena);
    uint32_t what = notice != NULL ? notice->what : 0;
    arena_done(&arena);
    return what;
}

static int ends(struct world *world, uint32_t job_id, uint32_t exit_status) {
    struct alloc_end end = {.job_id = job_id, .exit_status = exit_status};
    uint64_t client = world_send(world, MSG_ALLOC_END, &end);
    return world_code(world, client);
}

TEST(an_allocation_that_must_wait_is_told_so_and_granted_later) {
    struct world world;
    struct job_request request;
    begin(&world);
    salloc_request(&request, 8);
    struct asked first = ask(&world, &request, NULL), second = ask(&world, &request, NULL);
    assert_false(first.pending);
    assert_true(granted(&world, first.client));
    assert_true(second.pending);
    assert_false(granted(&world, second.client));
    assert_int_equal(ends(&world, first.job_id, 0), 0);
    assert_true(granted(&world, second.client));
    assert_int_equal(world_state(&world, first.job_id), JOB_COMPLETED);
    world_stop(&world);
}

TEST(the_status_of_its_command_is_the_allocations) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t a = steps_salloc(&world, 1, 1, NULL), b = steps_salloc(&world, 1, 1, NULL);
    assert_int_equal(ends(&world, a, 3 << 8), 0);
    assert_true(world_look(&world, a, &job));
    assert_int_equal(job.state, JOB_FAILED);
    assert_int_equal(job.reason, REASON_NON_ZERO_EXIT);
    assert_int_equal(job.exit_status, 3 << 8);
    assert_int_equal(ends(&world, b, 9), 0);
    assert_true(world_look(&world, b, &job));
    assert_int_equal(job.reason, REASON_RAISED_SIGNAL);
    uint32_t c = steps_salloc(&world, 1, 1, NULL);
    assert_int_equal(ends(&world, c, STATUS_OOM), 0);
    assert_true(world_look(&world, c, &job));
    assert_int_equal(job.state, JOB_OUT_OF_MEMORY);
    assert_int_equal(job.reason, REASON_OUT_OF_MEMORY);
    assert_int_equal(ends(&world, a, 0), 0); /* said twice */
    assert_true(world_look(&world, a, &job));
    assert_int_equal(job.state, JOB_FAILED);
    assert_int_equal(ends(&world, 99, 0), ERR_INVALID_JOB_ID);
    world.uid = 1000;
    assert_int_equal(ends(&world, a, 0), ERR_USER_ID);
    world_stop(&world);
}

TEST(immediate_gives_up_at_once_or_after_its_seconds) {
    struct world world;
    struct job_request request;
    struct arena arena;
    begin(&world);
    steps_salloc(&world, 2, 8, NULL);
    salloc_request(&request, 1);
    request.immediate = 1;
    assert_int_equal(ask(&world, &request, NULL).code, ERR_NODES_BUSY);
    request.immediate = 30;
    struct asked asked = ask(&world, &request, NULL);
    assert_true(asked.pending);
    world_pass_time(&world, 29);
    assert_int_equal(world_state(&world, asked.job_id), JOB_PENDING);
    world_pass_time(&world, 2);
    assert_int_equal(world_state(&world, asked.job_id), JOB_CANCELLED);
    arena_init(&arena, 0);
    const struct reply_error *error = world_answer(&world, asked.client, MSG_ERROR, &arena);
    assert_non_null(error);
    assert_int_equal(error->code, ERR_NODES_BUSY);
    arena_done(&arena);
    request.immediate = UINT32_MAX - 1;
    assert_true(ask(&world, &request, NULL).pending);
    world_stop(&world);
}

TEST(a_waiting_allocation_whose_client_vanishes_is_forgotten) {
    struct world world;
    struct job_request request;
    begin(&world);
    steps_salloc(&world, 2, 8, NULL);
    salloc_request(&request, 1);
    struct asked asked = ask(&world, &request, NULL);
    world_client_gone(&world, asked.client);
    assert_int_equal(world_state(&world, asked.job_id), JOB_CANCELLED);
    world_stop(&world);
}

TEST(every_job_of_a_client_that_vanishes_is_dealt_with) {
    struct world world;
    struct job_request request;
    begin(&world);
    salloc_request(&request, 1);
    struct asked first = ask(&world, &request, NULL);
    world.client = first.client; /* the same connection asks again */
    struct asked second = ask(&world, &request, NULL);
    assert_int_equal(second.client, first.client);
    world_client_gone(&world, first.client);
    world_pass_time(&world, 65);
    assert_int_equal(world_state(&world, first.job_id), JOB_CANCELLED);
    assert_int_equal(world_state(&world, second.job_id), JOB_CANCELLED);
    world_stop(&world);
}

TEST(without_a_shell_nobody_needs_to_stay) {
    struct world world;
    struct job_request request;
    begin(&world);
    salloc_request(&request, 1);
    request.no_shell = true;
    struct asked asked = ask(&world, &request, NULL);
    world_client_gone(&world, asked.client);
    world_pass_time(&world, 1000);
    assert_int_equal(world_state(&world, asked.job_id), JOB_RUNNING);
    world_restart(&world);
    world_all_connect(&world);
    world_pass_time(&world, 1000);
    assert_int_equal(world_state(&world, asked.job_id), JOB_RUNNING);
    world_stop(&world);
}

static int attach(struct world *world, uint32_t job_id, uint64_t *ret_client) {
    struct alloc_end end = {.job_id = job_id, .attach = true};
    *ret_client = world_send(world, MSG_ALLOC_END, &end);
    return world_code(world, *ret_client);
}

TEST(a_command_that_comes_back_keeps_its_allocation_and_hears_of_its_end) {
    struct world world;
    uint64_t client;
    begin(&world);
    uint32_t id = steps_salloc(&world, 1, 1, NULL);
    world_restart(&world);
    world_all_connect(&world);
    assert_int_equal(attach(&world, id, &client), 0);
    world_pass_time(&world, 500);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_int_equal(noticed(&world, client), ALLOC_REVOKED);
    assert_int_equal(attach(&world, id, &client), ERR_ALREADY_DONE);
    world_stop(&world);
}

/* salloc asks what its job has, which makes it the owner again. */
TEST(an_salloc_that_comes_back_gets_what_it_waits_for_and_keeps_it) {
    struct world world;
    struct job_request request;
    struct arena arena;
    begin(&world);
    (void) steps_salloc(&world, 2, 8, NULL);
    salloc_request(&request, 2);
    struct asked asked = ask(&world, &request, NULL);
    assert_int_equal(world_state(&world, asked.job_id), JOB_PENDING);
    world_restart(&world);
    world_all_connect(&world);
    struct alloc_end end = {.job_id = asked.job_id, .attach = true};
    uint64_t client = world_send(&world, MSG_ALLOC_ATTACH, &end);
    world_pass_time(&world, 500); /* who holds the nodes has not come back and ends */
    assert_int_equal(world_state(&world, asked.job_id), JOB_RUNNING);
    arena_init(&arena, 0);
    assert_non_null(world_answer(&world, client, MSG_ALLOC_GRANTED, &arena));
    assert_null(world_answer(&world, client, MSG_ERROR, &arena));
    arena_done(&arena);
    world_stop(&world);
}

TEST(one_that_does_not_come_back_after_a_restart_loses_it) {
    struct world world;
    begin(&world);
    uint32_t id = steps_salloc(&world, 1, 1, NULL);
    world_restart(&world);
    world_all_connect(&world);
    world_pass_time(&world, 125);
    assert_int_equal(world_state(&world, id), JOB_CANCELLED);
    world_stop(&world);
}

TEST(a_time_limit_is_told_to_the_owner) {
    struct world world;
    struct job_request request;
    begin(&world);
    salloc_request(&request, 1);
    request.time_limit = 1;
    struct asked asked = ask(&world, &request, NULL);
    world_pass_time(&world, 62);
    assert_int_equal(world_state(&world, asked.job_id), JOB_TIMEOUT);
    assert_int_equal(noticed(&world, asked.client), ALLOC_TIMEOUT);
    world_stop(&world);
}

TEST(srun_gets_its_step_with_the_allocation) {
    struct world world;
    struct arena arena;
    begin(&world);
    struct asked asked = ask_srun(&world, 2);
    arena_init(&arena, 0);
    const struct alloc_granted *grant =
        world_answer(&world, asked.client, MSG_ALLOC_GRANTED, &arena);
    assert_non_null(grant->step);
    assert_int_equal(grant->step->job_id, asked.job_id);
    assert_int_equal(grant->step->ntasks, 2);
    arena_done(&arena);
    world_stop(&world);
}

/* The end of the step and that of the connection come on different ways. */
TEST(a_killed_srun_leaves_no_allocation_whichever_end_is_noticed_first) {
    for (unsigned step_first = 0; step_first < 2; step_first++) {
        struct world world;
        begin(&world);
        struct asked asked = ask_srun(&world, 2);
        if (step_first)
            steps_end(&world, asked.job_id, 0, 9);
        world_client_gone(&world, asked.client);
        assert_int_equal(world_state(&world, asked.job_id), step_first ? JOB_FAILED : JOB_RUNNING);
        if (!step_first)
            steps_end(&world, asked.job_id, 0, 9);
        assert_int_equal(world_state(&world, asked.job_id), JOB_FAILED);
        world_stop(&world);
    }
}

TEST(a_first_step_that_cannot_be_laid_out_leaves_the_allocation_without_one) {
    struct world world;
    struct job_request request;
    struct step_request step;
    struct arena arena;
    begin(&world);
    salloc_request(&request, 1);
    request.kind = JOB_KIND_SRUN;
    steps_request(&step, 0, UINT32_MAX);
    step.overcommit = true;
    struct asked asked = ask(&world, &request, &step);
    arena_init(&arena, 0);
    const struct alloc_granted *grant =
        world_answer(&world, asked.client, MSG_ALLOC_GRANTED, &arena);
    assert_non_null(grant);
    assert_null(grant->step);
    arena_done(&arena);
    world_stop(&world);
}

TEST(whoever_waits_for_a_job_learns_its_end) {
    struct world world;
    struct arena arena;
    begin(&world);
    uint32_t id = world_job(&world);
    struct alloc_end wait = {.job_id = id};
    uint64_t client = world_send(&world, MSG_JOB_WAIT, &wait);
    arena_init(&arena, 0);
    assert_null(world_answer(&world, client, MSG_JOB_END, &arena));
    world_script_ends(&world, id, 5 << 8);
    const struct job_end *end = world_answer(&world, client, MSG_JOB_END, &arena);
    assert_non_null(end);
    assert_int_equal(end->state, JOB_FAILED);
    assert_int_equal(end->exit_status, 5 << 8);
    client = world_send(&world, MSG_JOB_WAIT, &wait);
    assert_non_null(world_answer(&world, client, MSG_JOB_END, &arena));
    wait.job_id = 77;
    client = world_send(&world, MSG_JOB_WAIT, &wait);
    assert_non_null(world_answer(&world, client, MSG_ERROR, &arena));
    arena_done(&arena);
    world_stop(&world);
}

TEST(an_allocation_that_ends_and_is_forgotten_within_a_turn_is_answered_once) {
    struct world world;
    struct job_request request;
    struct submit submit;
    struct core_user user = {.name = "root", .group = "root"};
    begin(&world);
    salloc_request(&request, 1);
    request.hold = true;
    record_init(&record_submit, &submit);
    submit.job = &request;
    /* All in one turn of the loop: asked, vanished, long ago. */
    core_request(world.core, world.now, 500, 1, MSG_SUBMIT, &user, &submit, &world.effects);
    core_client_gone(world.core, world.now, 500, &world.effects);
    world.now += 1000;
    core_tick(world.core, world.now, &world.effects);
    world_turn(&world);
    assert_int_equal(core_job_count(world.core), 0);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation_that_must_wait_is_told_so_and_granted_later),
        cmocka_unit_test(the_status_of_its_command_is_the_allocations),
        cmocka_unit_test(immediate_gives_up_at_once_or_after_its_seconds),
        cmocka_unit_test(a_waiting_allocation_whose_client_vanishes_is_forgotten),
        cmocka_unit_test(every_job_of_a_client_that_vanishes_is_dealt_with),
        cmocka_unit_test(without_a_shell_nobody_needs_to_stay),
        cmocka_unit_test(a_command_that_comes_back_keeps_its_allocation_and_hears_of_its_end),
        cmocka_unit_test(an_salloc_that_comes_back_gets_what_it_waits_for_and_keeps_it),
        cmocka_unit_test(one_that_does_not_come_back_after_a_restart_loses_it),
        cmocka_unit_test(a_time_limit_is_told_to_the_owner),
        cmocka_unit_test(srun_gets_its_step_with_the_allocation),
        cmocka_unit_test(a_killed_srun_leaves_no_allocation_whichever_end_is_noticed_first),
        cmocka_unit_test(a_first_step_that_cannot_be_laid_out_leaves_the_allocation_without_one),
        cmocka_unit_test(whoever_waits_for_a_job_learns_its_end),
        cmocka_unit_test(an_allocation_that_ends_and_is_forgotten_within_a_turn_is_answered_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
