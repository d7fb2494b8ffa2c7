/* SPDX-License-Identifier: Apache-2.0 */
/* Of those that wait only so many grow older: GrpJobsAccrue, MaxJobsAccrue and those of QOS. */
#include "base/alloc.h"
#include "core/state.h"
#include "unit.h"
#include "world.h"

#define HOUR 3600
#define CLUSTER                                                                                    \
    "ClusterName=tux\nSlurmctldHost=localhost\nNodeName=n1 CPUs=1 RealMemory=4000\n"               \
    "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityMaxAge=10:00:00\n"         \
    "PartitionName=main Nodes=ALL Default=YES DefMemPerCPU=100\n"                                  \
    "PartitionName=own Nodes=ALL DefMemPerCPU=100 QOS=part\n"

static void begin(struct world *world, const char *more, const char *command) {
    cleanup_free char *conf = xasprintf("%s%s", CLUSTER, more);
    world_start(world, conf);
    world_all_connect(world);
    world->uid = 7;
    world_book(world, "add qos part");
    world_book(world, "add qos other");
    world_book(world, "add account physics");
    world_book(world, "add account optics,lasers parent=physics");
    world_book(world, "add user user7 account=optics,lasers qos=normal,other");
    world_book(world, "add user user8 account=optics");
    if (command != NULL)
        world_book(world, command);
}

struct ask {
    uint32_t uid;
    const char *account, *qos, *partition, *array;
};

static uint32_t submit(struct world *world, struct ask ask) {
    struct job_request request;
    int code = 0;
    world_request(&request);
    world->uid = ask.uid != 0 ? ask.uid : 7;
    request.account = (char *) (uintptr_t) ask.account;
    request.qos = (char *) (uintptr_t) ask.qos;
    request.partition = (char *) (uintptr_t) ask.partition;
    request.array_spec = (char *) (uintptr_t) ask.array;
    uint32_t id = world_submit(world, &request, &code);
    if (id == 0)
        fail_msg("refused: %d", code);
    return id;
}

/* Has waited with the right to grow older since; 0: does not. */
static int64_t ages_since(struct world *world, uint32_t id) {
    struct job job;
    assert_true(world_look(world, id, &job));
    return job.accrue_time;
}

static uint32_t priority(struct world *world, uint32_t id) {
    struct job job;
    assert_true(world_look(world, id, &job));
    return job.priority;
}

/* ---- every limit: one below, one above, the release ---- */

static const struct {
    const char *command;
    struct ask first, above, beside; /* who is above the limit, who has another */
} rows[] = {
    {"modify account physics set grpjobsaccrue=1", {0}, {.uid = 8}, {.uid = 5}},
    {"modify account optics set grpjobsaccrue=1", {0}, {.uid = 8}, {.account = "lasers"}},
    {"modify user user7 set maxjobsaccrue=1", {0}, {0}, {.uid = 8}},
    {"modify account physics set maxjobsaccrue=1", {0}, {0}, {.uid = 8}},
    {"modify qos normal set grpjobsaccrue=1", {0}, {.uid = 8}, {.qos = "other"}},
    {"modify qos normal set maxjobsaccrueperuser=1", {0}, {.account = "lasers"}, {.uid = 8}},
    {"modify qos normal set maxjobsaccrueperaccount=1", {0}, {.uid = 8}, {.account = "lasers"}},
};

static void cancel(struct world *world, uint32_t id) {
    cleanup_free char *text = xasprintf("%u", id);
    world->uid = 7;
    assert_int_equal(world_kill(world, text), 0);
}

TEST(one_above_a_limit_begins_to_age_when_one_that_ages_has_gone) {
    for (size_t i = 0; i < countof(rows); i++) {
        struct world world;
        begin(&world, "AccountingStorageEnforce=limits\n", rows[i].command);
        world_book(&world, "add user user5 account=root");
        (void) submit(&world, (struct ask) {.uid = 8}); /* has the only CPU */
        uint32_t first = submit(&world, rows[i].first);
        int64_t start = world.now;
        world_pass_time(&world, HOUR);
        uint32_t above = submit(&world, rows[i].above), beside = submit(&world, rows[i].beside);
        int64_t later = world.now;
        world_pass_time(&world, 2 * HOUR);
        if (ages_since(&world, first) != start || ages_since(&world, above) != 0 ||
            ages_since(&world, beside) != later)
            fail_msg("%s: since %ld, %ld, %ld", rows[i].command, ages_since(&world, first) - start,
                     ages_since(&world, above), ages_since(&world, beside) - later);
        assert_true(priority(&world, first) >= priority(&world, beside) + 90);
        assert_true(priority(&world, beside) >= priority(&world, above) + 190);
        cancel(&world, first);
        world_turn(&world);
        assert_int_equal(ages_since(&world, above), world.now);
        assert_int_equal(ages_since(&world, beside), later);
        world_stop(&world);
    }
}

TEST(who_starts_or_is_held_makes_room_and_who_was_held_begins_anew) {
    struct world world;
    begin(&world, "AccountingStorageEnforce=limits\n", "modify user user7 set maxjobsaccrue=1");
    uint32_t running = submit(&world, (struct ask) {.uid = 8});
    uint32_t first = submit(&world, (struct ask) {0}), second = submit(&world, (struct ask) {0});
    uint32_t third = submit(&world, (struct ask) {0});
    int64_t start = world.now;
    world_pass_time(&world, HOUR);
    world_script_ends(&world, running, 0);
    world_turn(&world);
    assert_int_equal(world_state(&world, first), JOB_RUNNING);
    assert_int_equal(ages_since(&world, first), start); /* as it has waited */
    assert_int_equal(ages_since(&world, second), world.now);
    world_pass_time(&world, HOUR);
    cleanup_free char *id = xasprintf("%u", second);
    assert_int_equal(world_update(&world, "job", id, "Priority", "0"), 0);
    world_pass_time(&world, HOUR);
    assert_true(ages_since(&world, third) > start);
    assert_int_equal(ages_since(&world, second), 0);
    cancel(&world, third);
    assert_int_equal(world_verb(&world, VERB_RELEASE, id), 0);
    world_pass_time(&world, HOUR);
    assert_true(ages_since(&world, second) > start + 3 * HOUR - 1);
    world_stop(&world);
}

TEST(who_ages_goes_on_after_a_restart_and_as_limits_change) {
    struct world world;
    begin(&world, "AccountingStorageEnforce=limits\n", "modify user user7 set maxjobsaccrue=2");
    (void) submit(&world, (struct ask) {.uid = 8});
    uint32_t jobs[4];
    for (size_t i = 0; i < countof(jobs); i++)
        jobs[i] = submit(&world, (struct ask) {0});
    int64_t start = world.now;
    world_pass_time(&world, HOUR);
    cancel(&world, jobs[0]);
    world_pass_time(&world, HOUR);
    int64_t since = ages_since(&world, jobs[2]);
    assert_true(since >= start + HOUR && since < world.now);
    world_restart(&world);
    world_turn(&world);
    assert_int_equal(ages_since(&world, jobs[1]), start);
    assert_int_equal(ages_since(&world, jobs[2]), since);
    assert_int_equal(ages_since(&world, jobs[3]), 0);
    world_book(&world, "modify user user7 set maxjobsaccrue=1");
    world_turn(&world);
    assert_int_equal(ages_since(&world, jobs[1]), start);
    assert_int_equal(ages_since(&world, jobs[2]), 0);
    world_book(&world, "modify user user7 set maxjobsaccrue=-1");
    world_pass_time(&world, HOUR);
    assert_true(priority(&world, jobs[3]) > 290); /* as old as it is */
    world_stop(&world);
}

TEST(an_array_that_waits_is_one_job_and_the_qos_of_the_partition_does_not_count) {
    struct world world;
    begin(&world, "AccountingStorageEnforce=limits\n", "modify user user7 set maxjobsaccrue=2");
    world_book(&world, "modify qos part set grpjobsaccrue=0");
    (void) submit(&world, (struct ask) {.uid = 8});
    uint32_t array = submit(&world, (struct ask) {.array = "1-10"});
    uint32_t next = submit(&world, (struct ask) {.partition = "own"});
    uint32_t last = submit(&world, (struct ask) {0});
    world_turn(&world);
    assert_true(ages_since(&world, array) > 0);
    assert_true(ages_since(&world, next) > 0);
    assert_int_equal(ages_since(&world, last), 0);
    world_stop(&world);
}

TEST(without_enforcement_or_with_accrue_always_nobody_is_held_back) {
    static const char *const more[] = {"", "AccountingStorageEnforce=limits\n"
                                           "PriorityFlags=ACCRUE_ALWAYS\n"};
    for (size_t i = 0; i < countof(more); i++) {
        struct world world;
        begin(&world, more[i], "modify user user7 set maxjobsaccrue=0");
        (void) submit(&world, (struct ask) {.uid = 8});
        uint32_t id = submit(&world, (struct ask) {0});
        uint32_t before = priority(&world, id);
        world_pass_time(&world, HOUR);
        assert_true(priority(&world, id) >= before + 90);
        world_stop(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_above_a_limit_begins_to_age_when_one_that_ages_has_gone),
        cmocka_unit_test(who_starts_or_is_held_makes_room_and_who_was_held_begins_anew),
        cmocka_unit_test(who_ages_goes_on_after_a_restart_and_as_limits_change),
        cmocka_unit_test(
            an_array_that_waits_is_one_job_and_the_qos_of_the_partition_does_not_count),
        cmocka_unit_test(without_enforcement_or_with_accrue_always_nobody_is_held_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
