/* SPDX-License-Identifier: Apache-2.0 */
/* Who backfills first: by likely run times. */
#include <string.h>

#include "core/state.h"
#include "model/conf.h"
#include "unit.h"
#include "world.h"

#define CONF(options)                                                                              \
    "SelectTypeParameters=CR_CPU\nMinJobAge=3000\nSchedulerParameters=" options "\n"               \
    "NodeName=n1 CPUs=2 RealMemory=1000\nPartitionName=main Nodes=ALL Default=YES\n"

static uint32_t submit(struct world *world, const char *name, uint32_t cpus, uint32_t minutes) {
    struct job_request request;
    world_request(&request);
    request.name = (char *) (uintptr_t) name;
    request.ntasks = cpus;
    request.time_limit = minutes;
    return world_submit(world, &request, NULL);
}

static void ran(struct world *world, const char *name, int64_t seconds) {
    uint32_t job = submit(world, name, 1, 60);
    world_turn(world);
    world_pass_time(world, seconds);
    world_script_ends(world, job, 0);
    world_pass_time(world, 1);
}

/* One CPU comes free beside a long job, in front of which a wide one waits: who gets it? */
static void compete(struct world *world, const char *one, uint32_t one_limit, const char *other,
                    uint32_t other_limit, uint32_t ret[2]) {
    submit(world, "long", 1, 600);
    uint32_t brief = submit(world, "brief", 1, 60);
    submit(world, "wide", 2, 60);
    ret[0] = submit(world, one, 1, one_limit);
    ret[1] = submit(world, other, 1, other_limit);
    world_turn(world);
    assert_int_equal(world_state(world, ret[0]), JOB_PENDING);
    assert_int_equal(world_state(world, ret[1]), JOB_PENDING);
    world_script_ends(world, brief, 0);
    world_turn(world);
}

static void history(struct world *world) {
    for (int i = 0; i < 2; i++) {
        ran(world, "slow", 900);
        ran(world, "fast", 20);
    }
}

static void wins(struct world *world, const uint32_t jobs[2], int winner) {
    assert_int_equal(world_state(world, jobs[winner]), JOB_RUNNING);
    assert_int_equal(world_state(world, jobs[!winner]), JOB_PENDING);
}

TEST(with_predictions_the_name_that_ran_shortest_backfills_first) {
    struct world world;
    uint32_t jobs[2];
    world_start(&world, CONF("sluice_candidates=predicted"));
    world_all_connect(&world);
    history(&world);
    compete(&world, "slow", 60, "fast", 60, jobs);
    wins(&world, jobs, 1);
    world_stop(&world);
}

TEST(what_ended_within_min_job_age_is_known_after_a_restart) {
    struct world world;
    uint32_t jobs[2];
    world_start(&world, CONF("sluice_candidates=predicted"));
    world_all_connect(&world);
    history(&world);
    world_restart(&world);
    world_all_connect(&world);
    compete(&world, "slow", 60, "fast", 60, jobs);
    wins(&world, jobs, 1);
    world_stop(&world);
}

TEST(a_name_that_never_ran_is_expected_to_run_as_its_user_s_last_jobs_did) {
    struct world world;
    uint32_t jobs[2];
    world_start(&world, CONF("sluice_candidates=predicted"));
    world_all_connect(&world);
    history(&world); /* (20 + 900) / 2 */
    compete(&world, "slow", 60, "new", 60, jobs);
    wins(&world, jobs, 1);
    world_stop(&world);
}

TEST(without_a_history_and_with_shortest_the_limit_decides) {
    static const char *const options[] = {CONF("sluice_candidates=predicted"),
                                          CONF("sluice_candidates=shortest")};
    for (size_t i = 0; i < countof(options); i++) {
        struct world world;
        uint32_t jobs[2];
        world_start(&world, options[i]);
        world_all_connect(&world);
        compete(&world, "one", 60, "other", 50, jobs);
        wins(&world, jobs, 1);
        world_stop(&world);
    }
}

TEST(otherwise_the_first_goes_first) {
    struct world world;
    uint32_t jobs[2];
    world_start(&world, CONF("bf_continue"));
    world_all_connect(&world);
    history(&world);
    compete(&world, "slow", 60, "fast", 50, jobs);
    wins(&world, jobs, 0);
    world_stop(&world);
}

TEST(the_last_two_runs_count) {
    struct core core = {0};
    struct conf conf = {0};
    struct job_node node = {0};
    struct job job;
    record_init(&record_job, &job);
    conf.scheduler.candidates = CONF_SCHED_CANDIDATES_PREDICTED;
    core.conf = &conf;
    job.uid = 7;
    job.state = JOB_COMPLETED;
    job.start_time = 1000;
    job.allocation.n = 1;
    job.allocation.items = &node;
    for (int64_t seconds = 100; seconds <= 400; seconds += 100) {
        job.end_time = 1000 + seconds;
        predict_learn(&core, &job);
        assert_int_equal(predict_seconds(&core, &job), seconds > 100 ? seconds - 50 : 0);
    }
    job.state = JOB_NODE_FAIL; /* says nothing of the job */
    predict_learn(&core, &job);
    assert_int_equal(predict_seconds(&core, &job), 350);
    job.allocation.n = 0;
    job.allocation.items = NULL;
    record_done(&record_job, &job);
    free(core.predictor);
}

TEST(many_names_push_out_the_oldest) {
    struct core core = {0};
    struct conf conf = {0};
    struct job_node node = {0};
    struct job job;
    record_init(&record_job, &job);
    conf.scheduler.candidates = CONF_SCHED_CANDIDATES_PREDICTED;
    core.conf = &conf;
    job.state = JOB_COMPLETED;
    job.start_time = 1000;
    job.end_time = 1010;
    job.allocation.n = 1;
    job.allocation.items = &node;
    for (uint32_t i = 0; i < 2 * 200000; i++) {
        job.uid = i / 2;
        predict_learn(&core, &job);
    }
    assert_int_equal(predict_seconds(&core, &job), 10);
    job.uid = 0;
    assert_int_equal(predict_seconds(&core, &job), 0);
    job.allocation.n = 0;
    job.allocation.items = NULL;
    record_done(&record_job, &job);
    free(core.predictor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_predictions_the_name_that_ran_shortest_backfills_first),
        cmocka_unit_test(what_ended_within_min_job_age_is_known_after_a_restart),
        cmocka_unit_test(a_name_that_never_ran_is_expected_to_run_as_its_user_s_last_jobs_did),
        cmocka_unit_test(without_a_history_and_with_shortest_the_limit_decides),
        cmocka_unit_test(otherwise_the_first_goes_first),
        cmocka_unit_test(the_last_two_runs_count),
        cmocka_unit_test(many_names_push_out_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
