/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of associations and QOS: who starts, who waits and why, who is refused. Covers:
 * limit_job.c limit_rows.c limit_used.c limit_why.c
 */
#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "core/state.h"
#include "unit.h"
#include "world.h"

#define CLUSTER                                                                                    \
    "ClusterName=tux\nSlurmctldHost=localhost\nGresTypes=gpu\nLicenses=flex:9\n"                   \
    "NodeName=n[1-4] CPUs=4 RealMemory=4000 Gres=gpu:a100:2,gpu:t4:2\n"                            \
    "PartitionName=main Nodes=ALL Default=YES DefMemPerCPU=100 MaxTime=60\n"                       \
    "PartitionName=own Nodes=ALL DefMemPerCPU=100 QOS=limited\n"
#define ENFORCED CLUSTER "AccountingStorageEnforce=limits,qos\n"

/* physics has optics and lasers below it; user7 is in both, user8 in optics. */
static void begin_with(struct world *world, const char *conf) {
    world_start(world, conf);
    world_all_connect(world);
    world->uid = 7;
    world_book(world, "add account physics");
    world_book(world, "add account optics,lasers parent=physics");
    world_book(world, "add qos limited");
    world_book(world, "add qos second");
    world_book(world, "add user user7 account=optics,lasers");
    world_book(world, "add user user8 account=optics");
    world_book(world, "modify user user7 set qos=normal,limited,second");
    world_book(world, "modify user user8 set qos=normal,limited,second");
}

static void begin(struct world *world) {
    begin_with(world, ENFORCED);
}

/* What a job asks for, in few words; 0 and NULL: nothing. */
struct ask {
    uint32_t uid, cpus, nodes, minutes;
    const char *account, *qos, *gres, *array, *partition, *licenses;
};

static uint32_t submit_code(struct world *world, struct ask ask, int *ret_code) {
    struct job_request request;
    world_request(&request);
    world->uid = ask.uid != 0 ? ask.uid : 7;
    request.account = (char *) (uintptr_t) ask.account;
    request.qos = (char *) (uintptr_t) ask.qos;
    request.partition = (char *) (uintptr_t) ask.partition;
    request.tres_per_node = (char *) (uintptr_t) ask.gres;
    request.array_spec = (char *) (uintptr_t) ask.array;
    request.licenses = (char *) (uintptr_t) ask.licenses;
    request.cpus_per_task = ask.cpus;
    request.min_nodes = ask.nodes;
    request.ntasks = ask.nodes != 0 ? ask.nodes : 1;
    request.time_limit = ask.minutes != 0 ? ask.minutes : 10;
    return world_submit(world, &request, ret_code);
}

static uint32_t submit(struct world *world, struct ask ask) {
    int code = 0;
    uint32_t id = submit_code(world, ask, &code);
    if (id == 0)
        fail_msg("refused: %d", code);
    return id;
}

static void expect_runs(struct world *world, uint32_t id) {
    struct job job;
    assert_true(world_look(world, id, &job));
    if (job.state != JOB_RUNNING)
        fail_msg("job %u waits: %s", id, names_text(&names_job_reason, job.reason));
}

static void expect_waits(struct world *world, uint32_t id, const char *reason) {
    struct job job;
    assert_true(world_look(world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_string_equal(names_text(&names_job_reason, job.reason), reason);
}

/* ---- every limit: below it, above it, the reason, the release ---- */

static const struct {
    const char *command;
    struct ask first, more;
    const char *reason;
} at_a_time[] = {
    {"modify account physics set grpjobs=1", {0}, {.uid = 8}, "AssocGrpJobsLimit"},
    {"modify account optics set grpjobs=1", {0}, {.uid = 8}, "AssocGrpJobsLimit"},
    {"modify user user7 set grpjobs=1", {0}, {0}, "AssocGrpJobsLimit"},
    {"modify user user7 set maxjobs=1", {0}, {0}, "AssocMaxJobsLimit"},
    {"modify account physics set maxjobs=1", {0}, {0}, "AssocMaxJobsLimit"},
    {"modify account physics set grptres=cpu=3",
     {.cpus = 2},
     {.uid = 8, .cpus = 2},
     "AssocGrpCpuLimit"},
    {"modify account physics set grptres=mem=250",
     {.cpus = 2},
     {.uid = 8, .cpus = 1},
     "AssocGrpMemLimit"},
    {"modify account physics set grptres=node=1",
     {.cpus = 4},
     {.uid = 8, .cpus = 4},
     "AssocGrpNodeLimit"},
    {"modify account physics set grptres=gres/gpu=2",
     {.gres = "gpu:2"},
     {.uid = 8, .gres = "gpu:1"},
     "AssocGrpGRES"},
    {"modify account physics set grptres=gres/gpu:a100=1",
     {.gres = "gpu:a100:1"},
     {.gres = "gpu:a100:1"},
     "AssocGrpGRES"},
    {"modify account physics set grptres=license/flex=2",
     {.licenses = "flex:2"},
     {.licenses = "flex:1"},
     "AssocGrpLicense"},
    {"modify account physics set grptres=billing=3",
     {.cpus = 2},
     {.uid = 8, .cpus = 2},
     "AssocGrpBilling"},
    {"modify qos normal set grpjobs=1", {0}, {.uid = 8}, "QOSGrpJobsLimit"},
    {"modify qos normal set grptres=cpu=3", {.cpus = 2}, {.uid = 8, .cpus = 2}, "QOSGrpCpuLimit"},
    {"modify qos normal set grptres=mem=250", {.cpus = 2}, {.uid = 8, .cpus = 1}, "QOSGrpMemLimit"},
    {"modify qos normal set grptres=node=1", {.cpus = 4}, {.uid = 8, .cpus = 4}, "QOSGrpNodeLimit"},
    {"modify qos normal set grptres=gres/gpu:t4=1",
     {.gres = "gpu:t4:1"},
     {.gres = "gpu:t4:1"},
     "QOSGrpGRES"},
    {"modify qos normal set maxjobsperuser=1",
     {0},
     {.account = "lasers"},
     "QOSMaxJobsPerUserLimit"},
    {"modify qos normal set maxtresperuser=cpu=3",
     {.cpus = 2},
     {.account = "lasers", .cpus = 2},
     "QOSMaxCpuPerUserLimit"},
    {"modify qos normal set maxtresperuser=mem=250",
     {.cpus = 2},
     {.cpus = 1},
     "QOSMaxMemoryPerUser"},
    {"modify qos normal set maxtresperuser=node=1",
     {.cpus = 4},
     {.cpus = 4},
     "QOSMaxNodePerUserLimit"},
    {"modify qos normal set maxtresperuser=gres/gpu=2",
     {.gres = "gpu:2"},
     {.gres = "gpu:1"},
     "QOSMaxGRESPerUser"},
    {"modify qos normal set maxjobsperaccount=1", {0}, {.uid = 8}, "MaxJobsPerAccount"},
    {"modify qos normal set maxtresperaccount=cpu=3",
     {.cpus = 2},
     {.uid = 8, .cpus = 2},
     "MaxCpuPerAccount"},
    {"modify qos normal set maxtresperaccount=mem=250",
     {.cpus = 2},
     {.uid = 8, .cpus = 1},
     "MaxMemoryPerAccount"},
    {"modify qos normal set maxtresperaccount=node=1",
     {.cpus = 4},
     {.uid = 8, .cpus = 4},
     "MaxNodePerAccount"},
    {"modify qos normal set maxtresperaccount=gres/gpu=2",
     {.gres = "gpu:2"},
     {.uid = 8, .gres = "gpu:1"},
     "MaxGRESPerAccount"},
};

TEST(a_limit_on_what_runs_holds_the_next_one_back_until_the_first_has_ended) {
    for (size_t i = 0; i < countof(at_a_time); i++) {
        struct world world;
        begin(&world);
        world_book(&world, at_a_time[i].command);
        uint32_t first = submit(&world, at_a_time[i].first);
        expect_runs(&world, first);
        uint32_t second = submit(&world, at_a_time[i].more);
        expect_waits(&world, second, at_a_time[i].reason);
        world_script_ends(&world, first, 0);
        expect_runs(&world, second);
        world_check(&world);
        world_stop(&world);
    }
}

/* How it is waived, and that who waits then goes. */
TEST(a_limit_that_is_raised_or_cleared_lets_those_go_who_wait_for_it) {
    struct world world;
    begin(&world);
    world_book(&world, "modify account physics set grptres=cpu=2");
    uint32_t first = submit(&world, (struct ask) {.cpus = 2});
    uint32_t second = submit(&world, (struct ask) {.cpus = 2});
    uint32_t third = submit(&world, (struct ask) {.cpus = 2});
    expect_runs(&world, first);
    expect_waits(&world, third, "AssocGrpCpuLimit");
    world_book(&world, "modify account physics set grptres=cpu=4");
    expect_runs(&world, second);
    expect_waits(&world, third, "AssocGrpCpuLimit");
    world_book(&world, "modify account physics set grptres=cpu=-1");
    expect_runs(&world, third);
    world_book(&world, "modify account physics set grptres=cpu=0"); /* who runs goes on */
    expect_runs(&world, first);
    expect_waits(&world, submit(&world, (struct ask) {0}), "AssocGrpCpuLimit");
    world_stop(&world);
}

static const struct {
    const char *command;
    struct ask below, above;
    const char *reason;
} of_a_job[] = {
    {"modify user user7 set maxtres=cpu=2", {.cpus = 2}, {.cpus = 3}, "AssocMaxCpuPerJobLimit"},
    {"modify account physics set maxtres=cpu=2",
     {.cpus = 2},
     {.cpus = 3},
     "AssocMaxCpuPerJobLimit"},
    {"modify user user7 set maxtres=mem=200", {.cpus = 2}, {.cpus = 3}, "AssocMaxMemPerJob"},
    {"modify user user7 set maxtres=node=1", {.nodes = 1}, {.nodes = 2}, "AssocMaxNodePerJobLimit"},
    {"modify user user7 set maxtres=gres/gpu=2",
     {.gres = "gpu:2"},
     {.gres = "gpu:3"},
     "AssocMaxGRESPerJob"},
    {"modify user user7 set maxtrespernode=cpu=2",
     {.nodes = 2, .cpus = 2},
     {.nodes = 2, .cpus = 3},
     "AssocMaxCpuPerNode"},
    {"modify user user7 set maxtresmins=cpu=20",
     {.cpus = 2},
     {.cpus = 2, .minutes = 11},
     "AssocMaxCpuMinutesPerJobLimit"},
    {"modify user user7 set maxwall=10", {0}, {.minutes = 11}, "AssocMaxWallDurationPerJobLimit"},
    {"modify qos normal set maxtresperjob=cpu=2", {.cpus = 2}, {.cpus = 3}, "QOSMaxCpuPerJobLimit"},
    {"modify qos normal set maxtresperjob=mem=200", {.cpus = 2}, {.cpus = 3}, "QOSMaxMemoryPerJob"},
    {"modify qos normal set maxtresperjob=node=1",
     {.nodes = 1},
     {.nodes = 2},
     "QOSMaxNodePerJobLimit"},
    {"modify qos normal set maxtresperjob=gres/gpu:a100=1",
     {.gres = "gpu:a100:1"},
     {.gres = "gpu:a100:2"},
     "QOSMaxGRESPerJob"},
    {"modify qos normal set maxtrespernode=gres/gpu=1",
     {.nodes = 2, .gres = "gpu:1"},
     {.nodes = 2, .gres = "gpu:2"},
     "QOSMaxGRESPerNode"},
    {"modify qos normal set maxtresmins=cpu=20",
     {.cpus = 2},
     {.cpus = 2, .minutes = 11},
     "QOSMaxCpuMinutesPerJobLimit"},
    {"modify qos normal set maxwall=10", {0}, {.minutes = 11}, "QOSMaxWallDurationPerJobLimit"},
    {"modify qos normal set mintresperjob=cpu=2",
     {.cpus = 2},
     {.cpus = 1},
     "QOSMinCpuNotSatisfied"},
    {"modify qos normal set mintresperjob=gres/gpu=1", {.gres = "gpu:1"}, {0}, "QOSMinGRES"},
};

TEST(a_limit_of_each_job_lets_it_wait_and_with_deny_on_limit_refuses_it) {
    for (size_t i = 0; i < countof(of_a_job); i++) {
        struct world world;
        int code;
        begin(&world);
        world_book(&world, of_a_job[i].command);
        expect_runs(&world, submit(&world, of_a_job[i].below));
        expect_waits(&world, submit(&world, of_a_job[i].above), of_a_job[i].reason);
        world_book(&world, "modify qos normal set flags=denyonlimit");
        expect_runs(&world, submit(&world, of_a_job[i].below));
        assert_int_equal(submit_code(&world, of_a_job[i].above, &code), 0);
        assert_int_equal(code, ERR_POLICY);
        world_stop(&world);
    }
}

static const struct {
    const char *command;
    struct ask other;
} submitted[] = {
    {"modify account physics set grpsubmitjobs=3", {.uid = 8}},
    {"modify user user7 set grpsubmitjobs=3", {0}},
    {"modify user user7 set maxsubmitjobs=3", {0}},
    {"modify account physics set maxsubmitjobs=3", {0}},
    {"modify qos normal set grpsubmitjobs=3", {.uid = 8}},
    {"modify qos normal set maxsubmitjobsperuser=3", {.account = "lasers"}},
    {"modify qos normal set maxsubmitjobsperaccount=3", {.uid = 8}},
};

TEST(jobs_and_tasks_of_arrays_count_as_submitted_until_they_end) {
    for (size_t i = 0; i < countof(submitted); i++) {
        struct world world;
        int code;
        begin(&world);
        world_book(&world, submitted[i].command);
        uint32_t first = submit(&world, (struct ask) {0});
        uint32_t second = submit(&world, (struct ask) {0});
        struct ask array = submitted[i].other;
        array.array = "1-2";
        assert_int_equal(submit_code(&world, array, &code), 0);
        assert_int_equal(code, ERR_POLICY);
        submit(&world, submitted[i].other);
        assert_int_equal(submit_code(&world, submitted[i].other, &code), 0);
        assert_int_equal(code, ERR_POLICY);
        world_script_ends(&world, first, 0);
        world_script_ends(&world, second, 0);
        submit(&world, array);
        assert_int_equal(submit_code(&world, submitted[i].other, &code), 0);
        world_restart(&world); /* counted anew */
        world_all_connect(&world);
        assert_int_equal(submit_code(&world, submitted[i].other, &code), 0);
        assert_int_equal(code, ERR_POLICY);
        world_stop(&world);
    }
}

/* ---- which limit decides ---- */

TEST(the_qos_decides_before_the_association_and_the_user_before_the_account) {
    struct world world;
    begin(&world);
    world_book(&world, "modify account physics set maxtres=cpu=1");
    expect_waits(&world, submit(&world, (struct ask) {.cpus = 2}), "AssocMaxCpuPerJobLimit");
    world_book(&world, "modify user user7 set maxtres=cpu=2");
    expect_runs(&world, submit(&world, (struct ask) {.cpus = 2}));
    expect_waits(&world, submit(&world, (struct ask) {.cpus = 3}), "AssocMaxCpuPerJobLimit");
    world_book(&world, "modify qos normal set maxtresperjob=cpu=3");
    expect_runs(&world, submit(&world, (struct ask) {.cpus = 3}));
    world_stop(&world);
}

TEST(the_qos_of_the_partition_decides_unless_that_of_the_job_is_over_it) {
    struct world world;
    begin(&world);
    world_book(&world, "modify qos limited set maxtresperjob=cpu=2");
    world_book(&world, "modify qos second set maxtresperjob=cpu=3");
    struct ask ask = {.cpus = 3, .partition = "own", .qos = "second"};
    expect_waits(&world, submit(&world, ask), "QOSMaxCpuPerJobLimit");
    world_book(&world, "modify qos second set flags=overpartqos");
    expect_runs(&world, submit(&world, ask));
    ask.partition = "main";
    expect_runs(&world, submit(&world, ask));
    world_stop(&world);
}

TEST(jobs_of_a_partition_count_in_its_qos_whatever_their_own) {
    struct world world;
    begin(&world);
    world_book(&world, "modify qos limited set grpjobs=1");
    expect_runs(&world, submit(&world, (struct ask) {.partition = "own"}));
    expect_waits(&world, submit(&world, (struct ask) {.uid = 8, .partition = "own"}),
                 "QOSGrpJobsLimit");
    expect_waits(&world, submit(&world, (struct ask) {.qos = "limited"}), "QOSGrpJobsLimit");
    expect_runs(&world, submit(&world, (struct ask) {0}));
    world_stop(&world);
}

TEST(a_qos_may_be_free_of_the_limits_of_the_partition) {
    struct world world;
    begin(&world);
    expect_waits(&world, submit(&world, (struct ask) {.minutes = 61}), "PartitionTimeLimit");
    world_book(&world, "modify qos normal set flags=partitiontimelimit");
    expect_runs(&world, submit(&world, (struct ask) {.minutes = 61}));
    world_stop(&world);
}

TEST(who_names_no_time_limit_gets_the_most_that_is_allowed) {
    struct world world;
    struct job job;
    struct job_request request;
    begin(&world);
    world_book(&world, "modify user user7 set maxwall=7");
    world.uid = 7;
    world_request(&request);
    request.time_limit = UNSET32;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.time_limit, 7);
    world_stop(&world);
}

TEST(who_would_take_more_nodes_gets_as_many_as_are_allowed) {
    struct world world;
    struct job job;
    struct job_request request;
    begin(&world);
    world_book(&world, "modify user user7 set maxtres=node=2");
    world.uid = 7;
    world_request(&request);
    request.min_nodes = 1;
    request.max_nodes = 4;
    uint32_t id = world_submit(&world, &request, NULL);
    expect_runs(&world, id);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.num_nodes, 2);
    world_stop(&world);
}

TEST(limits_in_slurm_conf_are_those_of_account_root) {
    struct world world;
    begin_with(&world, ENFORCED "GrpJobs=2\nGrpCPUs=3\n");
    expect_runs(&world, submit(&world, (struct ask) {.cpus = 2}));
    uint32_t wide = submit(&world, (struct ask) {.cpus = 2});
    expect_waits(&world, wide, "AssocGrpCpuLimit");
    expect_runs(&world, submit(&world, (struct ask) {.uid = 8}));
    uint32_t third = submit(&world, (struct ask) {.uid = 8});
    expect_waits(&world, third, "AssocGrpJobsLimit");
    world_book(&world, "modify account root set grpjobs=3");
    world_book(&world, "modify account root set grptres=cpu=4");
    expect_runs(&world, third);
    expect_waits(&world, wide, "AssocGrpCpuLimit");
    world_stop(&world);
}

TEST(without_enforcement_limits_hold_nobody) {
    struct world world;
    begin_with(&world, CLUSTER "AccountingStorageEnforce=associations,qos\n");
    world_book(&world, "modify account physics set grpjobs=0 maxsubmitjobs=0");
    expect_runs(&world, submit(&world, (struct ask) {0}));
    assert_int_equal(world_reconfigure(&world, ENFORCED), 0);
    assert_int_equal(submit_code(&world, (struct ask) {0}, &(int) {0}), 0);
    world_stop(&world);
}

/* ---- what others have of it ---- */

TEST(who_waits_for_a_limit_is_in_nobodys_way) {
    struct world world;
    begin(&world);
    world_book(&world, "modify user user7 set maxjobs=1");
    expect_runs(&world, submit(&world, (struct ask) {.cpus = 4, .nodes = 3, .minutes = 5}));
    uint32_t waits = submit(&world, (struct ask) {.cpus = 4, .nodes = 4, .minutes = 5});
    expect_waits(&world, waits, "AssocMaxJobsLimit");
    expect_runs(&world, submit(&world, (struct ask) {.uid = 8, .cpus = 4, .minutes = 50}));
    world_stop(&world);
}

TEST(a_job_that_alone_is_above_a_limit_of_a_group_waits_for_good_or_is_refused) {
    struct world world;
    int code;
    begin(&world);
    world_book(&world, "modify account physics set grptres=cpu=3");
    expect_waits(&world, submit(&world, (struct ask) {.cpus = 4}), "AssocGrpCpuLimit");
    world_book(&world, "modify qos normal set flags=denyonlimit");
    assert_int_equal(submit_code(&world, (struct ask) {.cpus = 4}, &code), 0);
    assert_int_equal(code, ERR_POLICY);
    world_stop(&world);
}

/* An array waits as a whole, and its tasks go one after the other. */
TEST(tasks_of_an_array_count_one_by_one) {
    struct world world;
    begin(&world);
    world_book(&world, "modify qos normal set maxjobsperuser=2");
    uint32_t id = submit(&world, (struct ask) {.array = "1-5"});
    size_t running = 0;
    jobs_each (world.core, job)
        running += job->rec.state == JOB_RUNNING;
    assert_int_equal(running, 2);
    expect_waits(&world, id, "QOSMaxJobsPerUserLimit");
    world_stop(&world);
}

/* ---- why ---- */

TEST(who_waits_is_told_the_limit_the_use_and_whose_it_is_and_when_it_fits) {
    struct world world;
    struct arena arena;
    begin(&world);
    arena_init(&arena, 0);
    world_book(&world, "modify account physics set grptres=cpu=3");
    uint32_t first = submit(&world, (struct ask) {.cpus = 2, .minutes = 20});
    uint32_t second = submit(&world, (struct ask) {.uid = 8, .cpus = 2});
    expect_waits(&world, second, "AssocGrpCpuLimit");
    const struct why_reply *reply = world_why(&world, second, &arena);
    assert_int_equal(reply->expected, world.now + 20 * 60);
    assert_int_equal(reply->limits.n, 1);
    const struct why_limit *limit = &reply->limits.items[0];
    assert_string_equal(limit->name, "GrpTRES cpu of account physics");
    assert_int_equal(limit->limit, 3);
    assert_int_equal(limit->used, 2);
    assert_int_equal(limit->asked, 2);
    cleanup_free char *by = xasprintf("job %u of user7 (2)", first);
    assert_string_equal(limit->used_by, by);
    assert_int_equal(limit->until, world.now + 20 * 60);
    arena_done(&arena);
    world_stop(&world);
}

TEST(a_job_that_is_too_large_is_told_how_large_it_may_be) {
    struct world world;
    struct arena arena;
    begin(&world);
    arena_init(&arena, 0);
    world_book(&world, "modify qos normal set maxwall=10");
    uint32_t id = submit(&world, (struct ask) {.minutes = 11});
    const struct why_reply *reply = world_why(&world, id, &arena);
    assert_int_equal(reply->limits.n, 1);
    assert_string_equal(reply->limits.items[0].name, "MaxWall of QOS normal");
    assert_int_equal(reply->limits.items[0].asked, 11);
    cleanup_free char *cure = xasprintf("scontrol update JobId=%u TimeLimit=10", id);
    assert_string_equal(reply->limits.items[0].cure, cure);
    arena_done(&arena);
    world_stop(&world);
}

/* ---- who moves ---- */

TEST(a_job_that_waits_may_not_be_moved_to_where_too_many_are) {
    struct world world;
    begin(&world);
    world_book(&world, "modify qos second set grpsubmitjobs=1");
    world_book(&world, "modify account lasers set grpsubmitjobs=0");
    (void) submit(&world, (struct ask) {.qos = "second"});
    world_book(&world, "modify account physics set grpjobs=1");
    uint32_t id = submit(&world, (struct ask) {0});
    cleanup_free char *name = xasprintf("%u", id);
    assert_int_equal(world_update(&world, "job", name, "QOS", "second"), ERR_POLICY);
    assert_int_equal(world_update(&world, "job", name, "Account", "lasers"), ERR_POLICY);
    assert_int_equal(world_update(&world, "job", name, "QOS", "limited"), 0);
    world_book(&world, "modify qos limited set grpsubmitjobs=0");
    assert_int_equal(world_update(&world, "job", name, "Comment", "stays where it is"), 0);
    world_book(&world, "modify qos limited set grpsubmitjobs=-1 maxwall=20 flags=denyonlimit");
    assert_int_equal(world_update(&world, "job", name, "TimeLimit", "21"), ERR_POLICY);
    assert_int_equal(world_update(&world, "job", name, "TimeLimit", "20"), 0);
    world_stop(&world);
}

TEST(nothing_is_kept_for_who_is_below_the_least_priority_of_his_qos) {
    static const char *const thresholds[] = {"1", "999999999"};
    for (size_t i = 0; i < 2; i++) {
        struct world world;
        struct job job;
        begin(&world);
        cleanup_free char *line =
            xasprintf("modify qos normal set minpriothresh=%s", thresholds[i]);
        world_book(&world, line);
        for (unsigned n = 0; n < 4; n++)
            expect_runs(&world, submit(&world, (struct ask) {.cpus = 4, .qos = "second"}));
        uint32_t id = submit(&world, (struct ask) {.cpus = 4});
        assert_true(world_look(&world, id, &job));
        assert_int_equal(job.sched_nodes != NULL, i == 0);
        world_stop(&world);
    }
}

TEST(a_qos_may_take_only_jobs_of_a_reservation) {
    struct world world;
    int code;
    begin(&world);
    world_book(&world, "modify qos second set flags=requiresreservation");
    assert_int_equal(submit_code(&world, (struct ask) {.qos = "second"}, &code), 0);
    assert_int_equal(code, ERR_INVALID_QOS);
    expect_runs(&world, submit(&world, (struct ask) {0}));
    world_stop(&world);
}

/* What sacctmgr is told beside what it has done. */
static uint32_t n_notes(struct world *world, const char *key, const char *value) {
    struct arena arena;
    struct key_value where = {(char *) (uintptr_t) "name", (char *) (uintptr_t) "normal"};
    struct key_value set = {(char *) (uintptr_t) key, (char *) (uintptr_t) value};
    struct assoc_change change = {.verb = ASSOC_VERB_MODIFY,
                                  .entity = ASSOC_ENTITY_QOS,
                                  .where = {&where, 1},
                                  .set = {&set, 1},
                                  .commit = true};
    arena_init(&arena, 0);
    world->uid = 0;
    uint64_t client = world_send(world, MSG_ASSOC_CHANGE, &change);
    const struct assoc_changed *changed = world_answer(world, client, MSG_ASSOC_CHANGED, &arena);
    assert_non_null(changed);
    uint32_t n = changed->notes.n;
    arena_done(&arena);
    return n;
}

TEST(who_sets_limits_that_hold_nobody_is_told) {
    struct world world;
    begin_with(&world, CLUSTER);
    assert_int_equal(n_notes(&world, "grpjobs", "3"), 1);
    assert_int_equal(n_notes(&world, "grpjobs", "3"), 0);
    assert_int_equal(n_notes(&world, "grpjobs", "-1"), 0);
    assert_int_equal(n_notes(&world, "priority", "3"), 0);
    assert_int_equal(n_notes(&world, "grptresmins", "cpu=3"), 1);
    world_stop(&world);
    begin(&world);
    assert_int_equal(n_notes(&world, "grpjobs", "3"), 0);
    world_stop(&world);
}

TEST(a_job_for_several_partitions_counts_as_submitted_in_all_of_them) {
    struct world world;
    int code;
    begin(&world);
    world_book(&world, "modify qos limited set grpsubmitjobs=1");
    uint32_t first = submit(&world, (struct ask) {.partition = "main,own"});
    expect_runs(&world, first); /* in main: it has left the other */
    world_book(&world, "modify user user7 set grpjobs=1");
    uint32_t second = submit(&world, (struct ask) {.partition = "main,own"});
    assert_int_equal(submit_code(&world, (struct ask) {.partition = "own"}, &code), 0);
    assert_int_equal(code, ERR_POLICY);
    assert_int_equal(submit_code(&world, (struct ask) {.partition = "main,own"}, &code), 0);
    cleanup_free char *name = xasprintf("%u", second);
    assert_int_equal(world_kill(&world, name), 0);
    (void) submit(&world, (struct ask) {.partition = "own"});
    world_stop(&world);
}

/* ---- minutes ---- */

#define DAYS "PriorityDecayHalfLife=1-0\n"
#define LASTING "PriorityDecayHalfLife=0\n"

static const struct {
    const char *command;
    struct ask first, more;
    const char *reason;
} ahead[] = {
    {"modify account physics set grptresrunmins=cpu=29",
     {.minutes = 20},
     {.uid = 8, .minutes = 10},
     "AssocGrpCPURunMinutesLimit"},
    {"modify user user7 set grptresrunmins=mem=2900",
     {.minutes = 20},
     {.minutes = 10},
     "AssocGrpMemRunMinutes"},
    {"modify account optics set grptresrunmins=node=29",
     {.minutes = 20},
     {.uid = 8, .minutes = 10},
     "AssocGrpNodeRunMinutes"},
    {"modify account optics set grptresrunmins=gres/gpu=29",
     {.minutes = 20, .gres = "gpu:t4:1"},
     {.uid = 8, .minutes = 10, .gres = "gpu:a100:1"},
     "AssocGrpGRESRunMinutes"},
    {"modify account optics set grptresrunmins=license/flex=29",
     {.minutes = 20, .licenses = "flex:1"},
     {.minutes = 10, .licenses = "flex:1"},
     "AssocGrpLicenseRunMinutes"},
    {"modify account optics set grptresrunmins=billing=29",
     {.minutes = 20},
     {.minutes = 10},
     "AssocGrpBillingRunMinutes"},
    {"modify qos normal set grptresrunmins=cpu=29",
     {.minutes = 20},
     {.uid = 8, .minutes = 10},
     "QOSGrpCPURunMinutesLimit"},
    {"modify qos normal set grptresrunmins=mem=2900",
     {.minutes = 20},
     {.minutes = 10},
     "QOSGrpMemoryRunMinutes"},
    {"modify qos normal set maxtresrunminsperuser=cpu=29",
     {.minutes = 20},
     {.account = "lasers", .minutes = 10},
     "MaxCpuRunMinsPerUser"},
    {"modify qos normal set maxtresrunminsperaccount=node=29",
     {.minutes = 20},
     {.uid = 8, .minutes = 10},
     "MaxNodeRunMinsPerAccount"},
};

/* A minute later there is one minute less ahead of the first: 19 and 10 fit. */
TEST(minutes_that_are_ahead_of_who_runs_become_fewer_as_time_goes_by) {
    for (size_t i = 0; i < countof(ahead); i++) {
        struct world world;
        begin(&world);
        world_book(&world, ahead[i].command);
        uint32_t first = submit(&world, ahead[i].first);
        expect_runs(&world, first);
        uint32_t second = submit(&world, ahead[i].more);
        world_pass_time(&world, 59);
        expect_waits(&world, second, ahead[i].reason);
        world_pass_time(&world, 1);
        expect_runs(&world, second);
        uint32_t third = submit(&world, ahead[i].more);
        expect_waits(&world, third, ahead[i].reason);
        world_script_ends(&world, first, 0);
        expect_runs(&world, third);
        world_check(&world);
        world_stop(&world);
    }
}

static const struct {
    const char *command;
    struct ask job; /* a minute of it uses the limit up */
    const char *reason;
} used_up[] = {
    {"modify account physics set grptresmins=cpu=2", {.cpus = 2}, "AssocGrpCPUMinutesLimit"},
    {"modify user user7 set grptresmins=cpu=2", {.cpus = 2}, "AssocGrpCPUMinutesLimit"},
    {"modify account optics set grptresmins=mem=200", {.cpus = 2}, "AssocGrpMemMinutes"},
    {"modify account optics set grptresmins=node=1", {0}, "AssocGrpNodeMinutes"},
    {"modify account optics set grptresmins=gres/gpu=1", {.gres = "gpu:1"}, "AssocGrpGRESMinutes"},
    {"modify account optics set grptresmins=gres/gpu:t4=1",
     {.gres = "gpu:t4:1"},
     "AssocGrpGRESMinutes"},
    {"modify account optics set grptresmins=license/flex=3",
     {.licenses = "flex:3"},
     "AssocGrpLicenseMinutes"},
    {"modify account optics set grptresmins=billing=1", {0}, "AssocGrpBillingMinutes"},
    {"modify account physics set grpwall=1", {.cpus = 3}, "AssocGrpWallLimit"},
    {"modify account root set grptresmins=cpu=1", {0}, "AssocGrpCPUMinutesLimit"},
    {"modify qos normal set grptresmins=cpu=2", {.cpus = 2}, "QOSGrpCPUMinutesLimit"},
    {"modify qos normal set grptresmins=mem=200", {.cpus = 2}, "QOSGrpMemoryMinutes"},
    {"modify qos normal set grptresmins=gres/gpu=1", {.gres = "gpu:1"}, "QOSGrpGRESMinutes"},
    {"modify qos normal set grpwall=1", {0}, "QOSGrpWallLimit"},
    {"modify qos limited set grptresmins=cpu=2",
     {.cpus = 2, .partition = "own"},
     "QOSGrpCPUMinutesLimit"},
};

static void expect_state(struct world *world, uint32_t id, uint32_t state, uint32_t reason) {
    struct job job;
    assert_true(world_look(world, id, &job));
    assert_int_equal(job.state, state);
    assert_int_equal(job.reason, reason);
}

TEST(who_runs_when_the_minutes_are_used_up_is_ended_and_nobody_starts_until_there_are_more) {
    for (size_t i = 0; i < countof(used_up); i++) {
        struct world world;
        begin_with(&world, ENFORCED LASTING);
        world_book(&world, used_up[i].command);
        uint32_t first = submit(&world, used_up[i].job);
        expect_runs(&world, first); /* though its limit is above what is left */
        world_pass_time(&world, 59);
        expect_runs(&world, first);
        world_pass_time(&world, 1);
        expect_state(&world, first, JOB_TIMEOUT, REASON_TIME_LIMIT);
        uint32_t second = submit(&world, used_up[i].job);
        expect_waits(&world, second, used_up[i].reason);
        world_restart(&world); /* what was used is not forgotten */
        world_all_connect(&world);
        world_pass_time(&world, 100);
        expect_waits(&world, second, used_up[i].reason);
        if (strstr(used_up[i].command, "qos") != NULL)
            world_book(&world, strstr(used_up[i].command, "limited") != NULL
                                   ? "modify qos limited set rawusage=0"
                                   : "modify qos normal set rawusage=0");
        else
            world_book(&world, "modify account root set rawusage=0");
        expect_runs(&world, second);
        world_check(&world);
        world_stop(&world);
    }
}

TEST(with_safe_who_starts_can_use_all_of_his_limit) {
    for (size_t i = 0; i < countof(used_up); i++) {
        struct world world;
        struct ask ask = used_up[i].job;
        begin_with(&world, ENFORCED LASTING "AccountingStorageEnforce=safe,qos\n");
        world_book(&world, used_up[i].command);
        ask.minutes = 2;
        expect_waits(&world, submit(&world, ask), used_up[i].reason);
        ask.minutes = 1;
        uint32_t first = submit(&world, ask);
        expect_runs(&world, first);
        world_pass_time(&world, 30);
        uint32_t second = submit(&world, ask);
        expect_waits(&world, second, used_up[i].reason);
        world_restart(&world);
        world_all_connect(&world);
        world_pass_time(&world, 20);
        expect_runs(&world, first);
        expect_waits(&world, second, used_up[i].reason);
        world_stop(&world);
    }
}

/* Of two minutes the first has used half a one, and asked for both. */
TEST(with_safe_minutes_that_a_job_asked_for_and_did_not_use_are_free_at_its_end) {
    struct world world;
    begin_with(&world, ENFORCED LASTING "AccountingStorageEnforce=safe,qos\n");
    world_book(&world, "modify account physics set grptresmins=cpu=2");
    uint32_t first = submit(&world, (struct ask) {.minutes = 2});
    uint32_t second = submit(&world, (struct ask) {.uid = 8, .minutes = 1});
    expect_runs(&world, first);
    expect_waits(&world, second, "AssocGrpCPUMinutesLimit");
    world_pass_time(&world, 30);
    world_script_ends(&world, first, 0);
    expect_runs(&world, second);
    expect_waits(&world, submit(&world, (struct ask) {.minutes = 1}), "AssocGrpCPUMinutesLimit");
    world_stop(&world);
}

/* 118 of 60 CPU seconds are used; they are 60 after 0.976 of a half-life. */
TEST(minutes_come_back_as_usage_decays) {
    struct world world;
    begin_with(&world, ENFORCED DAYS);
    world_book(&world, "modify account physics set grptresmins=cpu=2");
    uint32_t first = submit(&world, (struct ask) {.cpus = 2});
    world_pass_time(&world, 59);
    world_script_ends(&world, first, 0);
    world_book(&world, "modify account physics set grptresmins=cpu=1");
    uint32_t second = submit(&world, (struct ask) {.cpus = 2});
    world_pass_time(&world, 84260);
    expect_waits(&world, second, "AssocGrpCPUMinutesLimit");
    world_pass_time(&world, 60);
    assert_int_not_equal(world_state(&world, second), JOB_PENDING);
    world_stop(&world);
}

/* The same with 60 seconds that must be left of 120. */
TEST(with_safe_a_job_starts_when_its_whole_limit_has_come_back) {
    struct world world;
    begin_with(&world, ENFORCED DAYS "AccountingStorageEnforce=safe,qos\n");
    world_book(&world, "modify account physics set grptresmins=cpu=2");
    uint32_t first = submit(&world, (struct ask) {.cpus = 2, .minutes = 1});
    world_pass_time(&world, 59);
    world_script_ends(&world, first, 0);
    uint32_t second = submit(&world, (struct ask) {.minutes = 1});
    world_pass_time(&world, 84260);
    expect_waits(&world, second, "AssocGrpCPUMinutesLimit");
    world_pass_time(&world, 50);
    expect_runs(&world, second);
    world_stop(&world);
}

TEST(a_qos_that_does_not_decay_keeps_its_minutes_used) {
    struct world world;
    begin_with(&world, ENFORCED DAYS);
    world_book(&world, "modify qos normal set grptresmins=cpu=1 flags=nodecay");
    uint32_t first = submit(&world, (struct ask) {0});
    world_pass_time(&world, 60);
    expect_state(&world, first, JOB_TIMEOUT, REASON_TIME_LIMIT);
    uint32_t second = submit(&world, (struct ask) {0});
    world_pass_time(&world, 10 * 86400);
    expect_waits(&world, second, "QOSGrpCPUMinutesLimit");
    world_stop(&world);
}

TEST(minutes_are_given_anew_when_the_period_of_usage_begins) {
    struct world world;
    setenv("TZ", "UTC0", 1);
    begin_with(&world, ENFORCED LASTING "PriorityUsageResetPeriod=DAILY\n");
    world_book(&world, "modify account physics set grptresmins=cpu=1");
    uint32_t first = submit(&world, (struct ask) {0});
    world_pass_time(&world, 60);
    expect_state(&world, first, JOB_TIMEOUT, REASON_TIME_LIMIT);
    uint32_t second = submit(&world, (struct ask) {0});
    int64_t to_midnight = 86400 - world.now % 86400;
    world_pass_time(&world, to_midnight - 1);
    expect_waits(&world, second, "AssocGrpCPUMinutesLimit");
    world_pass_time(&world, 1);
    expect_runs(&world, second);
    world_stop(&world);
}

TEST(what_a_qos_charges_is_what_is_used_and_with_its_flag_what_must_be_left) {
    struct world world;
    begin_with(&world, ENFORCED LASTING);
    world_book(&world, "modify qos second set usagefactor=0.5");
    world_book(&world, "modify account physics set grptresmins=cpu=1");
    uint32_t half = submit(&world, (struct ask) {.qos = "second"});
    world_pass_time(&world, 119);
    expect_runs(&world, half);
    world_pass_time(&world, 1);
    expect_state(&world, half, JOB_TIMEOUT, REASON_TIME_LIMIT);
    world_stop(&world);
    begin_with(&world, ENFORCED LASTING "AccountingStorageEnforce=safe,qos\n");
    world_book(&world, "modify qos second set usagefactor=0.5");
    world_book(&world, "modify account physics set grptresmins=cpu=1");
    struct ask ask = {.qos = "second", .minutes = 2};
    uint32_t id = submit(&world, ask);
    expect_waits(&world, id, "AssocGrpCPUMinutesLimit");
    world_book(&world, "modify qos second set flags=usagefactorsafe");
    expect_runs(&world, id);
    world_stop(&world);
}

TEST(minutes_that_are_ahead_count_as_the_qos_charges_them) {
    struct world world;
    begin(&world);
    world_book(&world, "modify qos second set usagefactor=2");
    world_book(&world, "modify qos limited set usagefactor=0");
    world_book(&world, "modify account physics set grptresrunmins=cpu=20");
    expect_waits(&world, submit(&world, (struct ask) {.qos = "second", .minutes = 11}),
                 "AssocGrpCPURunMinutesLimit");
    expect_runs(&world, submit(&world, (struct ask) {.qos = "second", .minutes = 10}));
    expect_runs(&world, submit(&world, (struct ask) {.qos = "limited", .minutes = 60}));
    expect_waits(&world, submit(&world, (struct ask) {.minutes = 1}), "AssocGrpCPURunMinutesLimit");
    world_stop(&world);
}

TEST(a_job_that_takes_nothing_of_what_is_used_up_is_not_held_back) {
    struct world world;
    begin_with(&world, ENFORCED LASTING);
    world_book(&world, "modify account physics set grptresmins=gres/gpu=1");
    uint32_t gpu = submit(&world, (struct ask) {.gres = "gpu:1"});
    uint32_t plain = submit(&world, (struct ask) {0});
    world_pass_time(&world, 61);
    expect_state(&world, gpu, JOB_TIMEOUT, REASON_TIME_LIMIT);
    expect_runs(&world, plain);
    expect_runs(&world, submit(&world, (struct ask) {0}));
    world_stop(&world);
}

/* The user's own limit does not count where the QOS has one, the QOS's does. */
TEST(minutes_that_another_limit_decides_about_end_nobody) {
    struct world world;
    begin_with(&world, ENFORCED LASTING);
    world_book(&world, "modify user user7 set grptresmins=cpu=1");
    world_book(&world, "modify qos second set grptresmins=cpu=3");
    uint32_t first = submit(&world, (struct ask) {.qos = "second"});
    world_pass_time(&world, 179);
    expect_runs(&world, first);
    world_pass_time(&world, 1);
    expect_state(&world, first, JOB_TIMEOUT, REASON_TIME_LIMIT);
    world_stop(&world);
}

TEST(minutes_of_a_job_in_slurm_conf_are_those_of_account_root) {
    struct world world;
    begin_with(&world, ENFORCED LASTING "GrpCPUMins=1\n");
    uint32_t first = submit(&world, (struct ask) {0});
    world_pass_time(&world, 60);
    expect_state(&world, first, JOB_TIMEOUT, REASON_TIME_LIMIT);
    expect_waits(&world, submit(&world, (struct ask) {.uid = 8}), "AssocGrpCPUMinutesLimit");
    world_stop(&world);
}

TEST(minutes_that_can_never_be_had_are_refused_with_deny_on_limit) {
    struct world world;
    int code;
    begin_with(&world, ENFORCED LASTING);
    world_book(&world, "modify qos normal set flags=denyonlimit grptresrunmins=cpu=9");
    assert_int_equal(submit_code(&world, (struct ask) {.minutes = 10}, &code), 0);
    assert_int_equal(code, ERR_POLICY);
    expect_runs(&world, submit(&world, (struct ask) {.minutes = 9}));
    world_stop(&world);
}

static const struct why_limit *why_limit(struct world *world, uint32_t id, struct arena *arena) {
    const struct why_reply *reply = world_why(world, id, arena);
    assert_non_null(reply);
    assert_int_equal(reply->limits.n, 1);
    return &reply->limits.items[0];
}

TEST(who_waits_for_minutes_is_told_who_has_used_them_and_when_they_are_back) {
    struct world world;
    struct arena arena;
    arena_init(&arena, 0);
    begin_with(&world, ENFORCED DAYS);
    world_book(&world, "modify account physics set grptresmins=cpu=4");
    uint32_t first = submit(&world, (struct ask) {.cpus = 2});
    uint32_t second = submit(&world, (struct ask) {.uid = 8});
    world_pass_time(&world, 120);
    world_script_ends(&world, first, 0);
    world_script_ends(&world, second, 0);
    uint32_t id = submit(&world, (struct ask) {0});
    const struct why_limit *limit = why_limit(&world, id, &arena);
    assert_string_equal(limit->name, "GrpTRESMins cpu of account physics");
    assert_string_equal(limit->unit, "TRES-minutes");
    assert_int_equal(limit->limit, 4);
    assert_int_equal(limit->used, 4); /* they were ended */
    assert_string_equal(limit->used_by, "user7 in optics (2), user8 in optics (1)");
    assert_true(limit->until > world.now && limit->until < world.now + 2000);
    assert_non_null(strstr(limit->cure, "half its weight"));
    arena_done(&arena);
    world_stop(&world);
}

TEST(who_waits_for_minutes_that_do_not_come_back_is_told_who_can_help) {
    struct world world;
    struct arena arena;
    arena_init(&arena, 0);
    begin_with(&world, ENFORCED LASTING);
    world_book(&world, "modify qos normal set grpwall=1");
    uint32_t first = submit(&world, (struct ask) {0});
    world_pass_time(&world, 60);
    expect_state(&world, first, JOB_TIMEOUT, REASON_TIME_LIMIT);
    const struct why_limit *limit = why_limit(&world, submit(&world, (struct ask) {0}), &arena);
    assert_string_equal(limit->name, "GrpWall of QOS normal");
    assert_string_equal(limit->unit, "minutes");
    assert_int_equal(limit->until, 0);
    assert_non_null(strstr(limit->cure, "RawUsage=0"));
    arena_done(&arena);
    world_stop(&world);
}

/* 29 minutes, of which 20 are ahead of the first: 20 more fit in 11 minutes. */
TEST(who_waits_for_minutes_ahead_of_others_is_told_when_enough_of_them_are_over) {
    struct world world;
    struct arena arena;
    arena_init(&arena, 0);
    begin(&world);
    world_book(&world, "modify account physics set grptresrunmins=cpu=29");
    uint32_t first = submit(&world, (struct ask) {.minutes = 20});
    const struct why_limit *limit =
        why_limit(&world, submit(&world, (struct ask) {.minutes = 20}), &arena);
    assert_string_equal(limit->name, "GrpTRESRunMins cpu of account physics");
    assert_int_equal(limit->asked, 20);
    assert_int_equal(limit->used, 20);
    cleanup_free char *by = xasprintf("job %u of user7 (20)", first);
    assert_string_equal(limit->used_by, by);
    assert_int_equal(limit->until, world.now + 11 * 60);
    arena_done(&arena);
    world_stop(&world);
}

/* ---- against a recount ---- */

/* What was used by the tree of shares, which adds up entries and runs in its own way. */
static bool check_stock(struct world *world, const struct limit_pool *pool) {
    struct core *core = world->core;
    struct tres_sums sums;
    bool found = false;
    core->now = world->now;
    shares_update(core);
    tres_sums_make(core, &sums);
    for (uint32_t i = 0; i < core->usage.shares.n; i++) {
        if (pool->of_qos || core->usage.shares.assocs[i]->id != pool->stock->id)
            continue;
        double used = sums.used[i * sums.n]; /* cpu is the first */
        if (fabs(used - limit_used(core, pool)) > 1e-6 * (1 + used))
            fail_msg("%s has used %f, not %f", pool->owner, used, limit_used(core, pool));
        found = used > 0;
    }
    tres_sums_done(&sums);
    return found;
}

/* What runs, by the records alone. */
static uint64_t recount(struct world *world, const char *account, const char *qos, bool cpus) {
    uint64_t sum = 0;
    jobs_each (world->core, job) {
        bool counts = job_has_nodes(job) &&
                      (account == NULL || str_equal(job->rec.account, account)) &&
                      (qos == NULL || str_equal(job->rec.qos, qos));
        sum += !counts ? 0 : cpus ? job->rec.num_cpus : 1;
    }
    return sum;
}

/* How many it could compare. */
static size_t check_pools(struct world *world, size_t *n_stocks) {
    size_t n = 0;
    vec_each (&world->core->limits.budgets, at) {
        const struct limit_pool *pool = *at;
        const char *account = str_starts(pool->owner, "account ") ? pool->owner + 8 : NULL;
        const char *qos = str_starts(pool->owner, "QOS ") ? pool->owner + 4 : NULL;
        if (str_equal(account, "physics"))
            account = NULL;
        if (pool->stock != NULL) {
            *n_stocks += check_stock(world, pool);
            continue;
        }
        if (pool->subject != NULL || (account == NULL && qos == NULL && pool->of_qos))
            continue;
        bool cpus = pool->value.row->measure == LIMIT_TRES;
        assert_int_equal(sched_budget_used(world->core->sched, world->now, pool->id),
                         recount(world, account, qos, cpus));
        n++;
    }
    return n;
}

static size_t check_submitted(struct world *world, const char *account, uint64_t n) {
    const char *key;
    size_t at = 0, found = 0;
    for (struct limit_pool *pool; (pool = smap_next(&world->core->limits.pools, &at, &key));) {
        if (pool->value.row->measure != LIMIT_SUBMITTED || !str_equal(pool->owner + 8, account))
            continue;
        assert_int_equal(pool->n_submitted, n);
        found++;
    }
    return found;
}

static uint64_t live(struct world *world) {
    uint64_t n = 0;
    jobs_each (world->core, job) {
        if (!job_state_is_final(job->rec.state))
            n += max_of(idset_count(&job->tasks), (uint64_t) 1);
    }
    return n;
}

static void random_step(struct world *world, struct rng *rng) {
    char command[96], id[16];
    uint32_t some = 1 + rng_below(rng, world->core->meta.next_job_id + 1);
    struct ask ask = {.uid = rng_below(rng, 2) ? 7 : 8,
                      .cpus = 1 + rng_below(rng, 3),
                      .qos = rng_below(rng, 2) ? "limited" : NULL,
                      .array = rng_below(rng, 4) == 0 ? "1-3" : NULL};
    snprintf(id, sizeof(id), "%u", some);
    switch (rng_below(rng, 8)) {
    case 0:
    case 1:
    case 2:
        (void) submit_code(world, ask, &(int) {0});
        break;
    case 3:
    case 4:
        if (world_state(world, some) == JOB_RUNNING && world_run_of(world, some) != NULL)
            world_script_ends(world, some, 0);
        break;
    case 5:
        (void) world_kill(world, id);
        break;
    case 6:
        snprintf(command, sizeof(command), "modify account physics set grptres=cpu=%u grpjobs=%u",
                 (unsigned) rng_below(rng, 12), 1 + (unsigned) rng_below(rng, 6));
        (void) world_sacctmgr(world, command);
        break;
    default:
        snprintf(command, sizeof(command), "modify qos limited set grptres=cpu=%u",
                 (unsigned) rng_below(rng, 8));
        (void) world_sacctmgr(world, command);
        if (rng_below(rng, 4) == 0) {
            world_restart(world);
            world_all_connect(world);
        }
    }
}

TEST(what_is_counted_is_what_a_recount_finds) {
    for (uint64_t seed = 1; seed <= 25; seed++) {
        struct world world;
        struct rng rng;
        size_t n_pools = 0, n_submitted = 0, n_stocks = 0;
        rng_seed(&rng, seed);
        begin_with(&world, seed % 2 == 0 ? ENFORCED LASTING : ENFORCED DAYS);
        world_book(&world, "modify account physics set grptres=cpu=6 grpjobs=4 grpsubmitjobs=20 "
                           "grptresmins=cpu=9999");
        world_book(&world, "modify user user8 set grptresmins=cpu=9999");
        world_book(&world, "modify qos limited set usagefactor=0.5");
        world_book(&world, "modify qos limited set grptres=cpu=4");
        for (unsigned i = 0; i < 60; i++) {
            random_step(&world, &rng);
            world_pass_time(&world, 7);
            n_pools += check_pools(&world, &n_stocks);
            n_submitted += check_submitted(&world, "physics", live(&world));
            world_check(&world);
        }
        assert_true(n_pools > 0 && n_submitted > 0 && n_stocks > 0); /* else nothing was compared */
        world_stop(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_on_what_runs_holds_the_next_one_back_until_the_first_has_ended),
        cmocka_unit_test(a_limit_that_is_raised_or_cleared_lets_those_go_who_wait_for_it),
        cmocka_unit_test(a_limit_of_each_job_lets_it_wait_and_with_deny_on_limit_refuses_it),
        cmocka_unit_test(jobs_and_tasks_of_arrays_count_as_submitted_until_they_end),
        cmocka_unit_test(the_qos_decides_before_the_association_and_the_user_before_the_account),
        cmocka_unit_test(the_qos_of_the_partition_decides_unless_that_of_the_job_is_over_it),
        cmocka_unit_test(jobs_of_a_partition_count_in_its_qos_whatever_their_own),
        cmocka_unit_test(a_qos_may_be_free_of_the_limits_of_the_partition),
        cmocka_unit_test(who_names_no_time_limit_gets_the_most_that_is_allowed),
        cmocka_unit_test(who_would_take_more_nodes_gets_as_many_as_are_allowed),
        cmocka_unit_test(limits_in_slurm_conf_are_those_of_account_root),
        cmocka_unit_test(without_enforcement_limits_hold_nobody),
        cmocka_unit_test(who_waits_for_a_limit_is_in_nobodys_way),
        cmocka_unit_test(a_job_that_alone_is_above_a_limit_of_a_group_waits_for_good_or_is_refused),
        cmocka_unit_test(tasks_of_an_array_count_one_by_one),
        cmocka_unit_test(who_waits_is_told_the_limit_the_use_and_whose_it_is_and_when_it_fits),
        cmocka_unit_test(a_job_that_is_too_large_is_told_how_large_it_may_be),
        cmocka_unit_test(a_job_that_waits_may_not_be_moved_to_where_too_many_are),
        cmocka_unit_test(nothing_is_kept_for_who_is_below_the_least_priority_of_his_qos),
        cmocka_unit_test(a_qos_may_take_only_jobs_of_a_reservation),
        cmocka_unit_test(who_sets_limits_that_hold_nobody_is_told),
        cmocka_unit_test(a_job_for_several_partitions_counts_as_submitted_in_all_of_them),
        cmocka_unit_test(minutes_that_are_ahead_of_who_runs_become_fewer_as_time_goes_by),
        cmocka_unit_test(
            who_runs_when_the_minutes_are_used_up_is_ended_and_nobody_starts_until_there_are_more),
        cmocka_unit_test(with_safe_who_starts_can_use_all_of_his_limit),
        cmocka_unit_test(
            with_safe_minutes_that_a_job_asked_for_and_did_not_use_are_free_at_its_end),
        cmocka_unit_test(minutes_come_back_as_usage_decays),
        cmocka_unit_test(with_safe_a_job_starts_when_its_whole_limit_has_come_back),
        cmocka_unit_test(a_qos_that_does_not_decay_keeps_its_minutes_used),
        cmocka_unit_test(minutes_are_given_anew_when_the_period_of_usage_begins),
        cmocka_unit_test(what_a_qos_charges_is_what_is_used_and_with_its_flag_what_must_be_left),
        cmocka_unit_test(minutes_that_are_ahead_count_as_the_qos_charges_them),
        cmocka_unit_test(a_job_that_takes_nothing_of_what_is_used_up_is_not_held_back),
        cmocka_unit_test(minutes_that_another_limit_decides_about_end_nobody),
        cmocka_unit_test(minutes_of_a_job_in_slurm_conf_are_those_of_account_root),
        cmocka_unit_test(minutes_that_can_never_be_had_are_refused_with_deny_on_limit),
        cmocka_unit_test(who_waits_for_minutes_is_told_who_has_used_them_and_when_they_are_back),
        cmocka_unit_test(who_waits_for_minutes_that_do_not_come_back_is_told_who_can_help),
        cmocka_unit_test(
            who_waits_for_minutes_ahead_of_others_is_told_when_enough_of_them_are_over),
        cmocka_unit_test(what_is_counted_is_what_a_recount_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
