/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol update job: who may change what, and what a listing shows then. */
#include <string.h>

#include "unit.h"
#include "world.h"

static void begin(struct world *world) {
    world_start(world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                       "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"
                       "PartitionName=main Nodes=n[1-2] Default=YES MaxTime=1-0\n");
    world_all_connect(world);
    world->uid = 1000; /* not root, who may do anything */
}

/* Starts the world and submits job 1, held, with a limit of so many minutes. */
static uint32_t begin_held(struct world *world, uint32_t minutes) {
    struct job_request request;
    begin(world);
    world_request(&request);
    request.hold = true;
    request.time_limit = minutes;
    return world_submit(world, &request, NULL);
}

TEST(an_owner_raises_the_limit_of_a_waiting_job_up_to_the_partitions) {
    struct world world;
    struct job job;
    uint32_t id = begin_held(&world, 60);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "1-0"), 0);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "2-0"), ERR_ACCESS_DENIED);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.time_limit, 1440);
    world_stop(&world);
}

TEST(an_owner_lowers_the_limit_of_a_running_job_only) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.time_limit = 60;
    (void) world_submit(&world, &request, NULL);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "61"), ERR_ACCESS_DENIED);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "30"), 0);
    world_stop(&world);
}

TEST(a_begin_time_shows_until_it_has_come) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.begin_time = world.now + 1000;
    uint32_t id = world_submit(&world, &request, NULL);
    world_turn(&world);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.reason, REASON_BEGIN_TIME);
    assert_int_equal(job.start_time, world.now + 1000);
    assert_int_equal(world_update(&world, "job", "1", "StartTime", "now+2hours"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.start_time, world.now + 7200);
    assert_int_equal(job.eligible_time, world.now + 7200);
    assert_int_equal(world_update(&world, "job", "1", "StartTime", "now"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.eligible_time, world.now);
    world_stop(&world);
}

TEST(a_held_job_shows_its_dependencies_as_open) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.hold = true;
    request.dependency = text_of("singleton");
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.dependency, "singleton(unfulfilled)");
    assert_int_equal(job.reason, REASON_HELD_USER);
    assert_int_equal(world_update(&world, "job", "1", "Dependency", ""), 0);
    assert_true(world_look(&world, id, &job));
    assert_null(job.dependency);
    world_stop(&world);
}

/* The answer to job 1's new `key`: its code, and the sentence with it (NULL: there is none). */
static void answers(struct world *world, const char *key, const char *value, uint32_t code,
                    const char *note) {
    struct key_value change = {text_of(key), text_of(value)};
    struct update update;
    struct arena arena;
    arena_init(&arena, 0);
    record_init(&record_update, &update);
    update.entity = text_of("job");
    update.target = text_of("1");
    update.changes.items = &change;
    update.changes.n = 1;
    uint64_t client = world_send(world, MSG_UPDATE, &update);
    const struct job_results *results = world_answer(world, client, MSG_JOB_RESULTS, &arena);
    assert_non_null(results);
    assert_int_equal(results->items.items[0].code, code);
    if (note == NULL)
        assert_null(results->items.items[0].detail);
    else
        assert_string_equal(results->items.items[0].detail, note);
    arena_done(&arena);
}

TEST(a_refusal_names_the_key_and_what_it_takes) {
    struct world world;
    (void) begin_held(&world, 60);
    answers(&world, "contiguous", "maybe", ERR_INVALID,
            "Contiguous=maybe is not understood: it takes yes or no");
    answers(&world, "NumTasks", "0", ERR_INVALID,
            "NumTasks=0 is not understood: it takes a number of 1 or more");
    answers(&world, "Switches", "x", ERR_INVALID,
            "Switches=x is not understood: it takes a number of switches and the longest wait for "
            "them as 1@30:00");
    answers(&world, "Nice", "-5", ERR_ACCESS_DENIED,
            "Nice=-5: only operators may give a Nice below 0");
    answers(&world, "AdminComment", "x", ERR_ACCESS_DENIED,
            "AdminComment=x: only operators may set it");
    answers(&world, "ExcNodeList", "n9", ERR_INVALID_NODE,
            "ExcNodeList=n9: node n9 is not in this cluster (sinfo -N lists those that are)");
    answers(&world, "Features", "fast", ERR_INVALID_FEATURE,
            "no node has the feature fast; there is none in this cluster");
    answers(&world, "Contiguous", "yes", 0, NULL);
    answers(&world, "Prefer", "", 0, "Prefer= is kept, but without effect in this release");
    world_stop(&world);
}

TEST(no_more_than_the_whole_limit_is_taken_from_it) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.time_limit = 60;
    uint32_t id = world_submit(&world, &request, NULL);
    world_turn(&world);
    answers(&world, "TimeLimit", "-61", ERR_TIME_LIMIT,
            "TimeLimit=-61: less than the whole limit can be taken from it");
    world_pass_time(&world, 1);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.time_limit, 60);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "-20"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.time_limit, 40);
    answers(&world, "NumTasks", "2", ERR_JOB_NOT_PENDING,
            "NumTasks=2: it can be changed while the job waits");
    world_stop(&world);
}

TEST(the_least_limit_stays_below_the_limit) {
    struct world world;
    struct job job;
    uint32_t id = begin_held(&world, 60);
    answers(&world, "TimeMin", "soon", ERR_INVALID,
            "TimeMin=soon is not understood: it takes minutes, hours:minutes:seconds or "
            "days-hours");
    answers(&world, "TimeMin", "61", ERR_TIME_MIN, "the minimum of 61 minutes is above --time=60");
    answers(&world, "TimeMin", "20", 0, NULL);
    answers(&world, "TimeLimit", "10", ERR_TIME_MIN,
            "the minimum of 20 minutes is above --time=10");
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.time_min, 20);
    assert_int_equal(job.time_limit, 60);
    world_stop(&world);
}

TEST(a_deadline_too_near_for_any_limit_asks_for_a_later_one) {
    struct world world;
    (void) begin_held(&world, 10);
    answers(&world, "Deadline", "now+5minutes", ERR_DEADLINE,
            "a run of 10 minutes cannot end by the deadline; at most --time=5 would");
    answers(&world, "Deadline", "now+5", ERR_DEADLINE,
            "a run of 10 minutes cannot end by the deadline, which is less than a minute after the "
            "earliest start: ask for a later one");
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_raises_the_limit_of_a_waiting_job_up_to_the_partitions),
        cmocka_unit_test(an_owner_lowers_the_limit_of_a_running_job_only),
        cmocka_unit_test(a_begin_time_shows_until_it_has_come),
        cmocka_unit_test(a_held_job_shows_its_dependencies_as_open),
        cmocka_unit_test(a_refusal_names_the_key_and_what_it_takes),
        cmocka_unit_test(no_more_than_the_whole_limit_is_taken_from_it),
        cmocka_unit_test(the_least_limit_stays_below_the_limit),
        cmocka_unit_test(a_deadline_too_near_for_any_limit_asks_for_a_later_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
