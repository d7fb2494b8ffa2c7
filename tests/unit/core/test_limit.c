/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of associations and QOS: who starts, who waits and why, who is refused. Covers:
 * limit_job.c limit_rows.c limit_why.c
 */
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

/* ---- against a recount ---- */

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
static size_t check_pools(struct world *world) {
    size_t n = 0;
    vec_each (&world->core->limits.budgets, at) {
        const struct limit_pool *pool = *at;
        const char *account = str_starts(pool->owner, "account ") ? pool->owner + 8 : NULL;
        const char *qos = str_starts(pool->owner, "QOS ") ? pool->owner + 4 : NULL;
        if (str_equal(account, "physics"))
            account = NULL;
        if (pool->subject != NULL || (account == NULL && qos == NULL && pool->of_qos))
            continue;
        bool cpus = pool->value.row->measure == LIMIT_TRES;
        assert_int_equal(sched_budget_used(world->core->sched, pool->id),
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
        size_t n_pools = 0, n_submitted = 0;
        rng_seed(&rng, seed);
        begin(&world);
        world_book(&world, "modify account physics set grptres=cpu=6 grpjobs=4 grpsubmitjobs=20");
        world_book(&world, "modify qos limited set grptres=cpu=4");
        for (unsigned i = 0; i < 60; i++) {
            random_step(&world, &rng);
            n_pools += check_pools(&world);
            n_submitted += check_submitted(&world, "physics", live(&world));
            world_check(&world);
        }
        assert_true(n_pools > 0 && n_submitted > 0); /* else nothing was compared */
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
        cmocka_unit_test(what_is_counted_is_what_a_recount_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
