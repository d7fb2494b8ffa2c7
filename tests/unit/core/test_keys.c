/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol update of jobs, steps, nodes and partitions. Covers: update.c update_keys.c
 * partition.c */
#include <string.h>

#include "steps.h"
#include "unit.h"

static const char conf_text[] =
    "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\nGresTypes=gpu\nLicenses=matlab:2\n"
    "NodeName=n[1-2] CPUs=4 RealMemory=1000 TmpDisk=500 Gres=gpu:2 Feature=a\n"
    "PartitionName=main Nodes=ALL Default=YES\n"
    "PartitionName=other Nodes=n2 MaxTime=60\n";

static void begin(struct world *world) {
    world_start(world, conf_text);
    world_all_connect(world);
}

static int update(struct world *world, const char *key, const char *value) {
    return world_update(world, "job", "1", key, value);
}

/* Every key: a value that is taken, what it becomes, whether a running job may have it. */
static const struct {
    const char *key, *value, *line; /* of record_print; NULL: nothing to see */
    bool running;
    const char *bad; /* a value that is refused, or NULL */
    int bad_code;
} keys[] = {
    {"TimeLimit", "30", "time_limit: 30\n", true, "soon", ERR_TIME_LIMIT},
    {"TimeLimit", "1-00:00:00", "time_limit: 1440\n", true, NULL, 0},
    {"Partition", "other", "partition: \"other\"\n", false, "nope", ERR_INVALID_PARTITION},
    {"Account", "physics", "account: \"physics\"\n", false, NULL, 0},
    {"NumNodes", "2", "min_nodes: 2\n", false, "0", ERR_NODE_COUNT},
    {"NumNodes", "1-2", "max_nodes: 2\n", false, "2-1", ERR_NODE_COUNT},
    {"ReqNodes", "2", "max_nodes: 2\n", false, "1-99999999999", ERR_NODE_COUNT},
    {"NumTasks", "3", "ntasks: 3\n", false, "-3", ERR_INVALID},
    {"NumCPUs", "3", "ntasks: 3\n", false, "99999999999", ERR_INVALID},
    {"MinCPUsNode", "2", "min_cpus_per_node: 2\n", false, "x", ERR_INVALID},
    {"CPUsPerTask", "2", "cpus_per_task: 2\n", false, "5", ERR_NODE_CONFIG},
    {"TasksPerNode", "2", "ntasks_per_node: 2\n", false, "", ERR_INVALID},
    {"MinMemoryNode", "500", "mem_per_node: 500\n", false, "1T", ERR_NODE_CONFIG},
    {"MinMemoryCPU", "20", "mem_per_cpu: 20\n", false, "x", ERR_INVALID},
    {"MinTmpDiskNode", "100", "tmp_disk: 100\n", false, "9999", ERR_NODE_CONFIG},
    {"Features", "a", "features: \"a\"\n", false, "b", ERR_INVALID_FEATURE},
    {"Prefer", "a", "prefer: \"a\"\n", false, "b", ERR_INVALID_FEATURE},
    {"Gres", "gpu:1", "tres_per_node: \"gpu:1\"\n", false, "fpga:1", ERR_INVALID_GRES},
    {"Licenses", "matlab:1", "licenses: \"matlab:1\"\n", false, "matlab:9", ERR_INVALID_LICENSE},
    {"ReqNodeList", "n2", "req_nodes: \"n2\"\n", false, "n9", ERR_INVALID_NODE},
    {"ExcNodeList", "n1", "exc_nodes: \"n1\"\n", false, "n[", ERR_INVALID_NODE},
    {"Contiguous", "yes", "contiguous: true\n", false, "maybe", ERR_INVALID},
    {"Shared", "yes", "oversubscribe: YES\n", false, "a bit", ERR_INVALID},
    {"ReqSockets", "1", "sockets_per_node: 1\n", false, "x", ERR_INVALID},
    {"Switches", "1@2:00", "switches: \"1@00:02:00\"\n", false, "many", ERR_INVALID},
    {"Nice", "100", "nice: 100\n", true, "much", ERR_NICE},
    {"Nice", "-5", "nice: -5\n", true, "2147483646", ERR_NICE},
    {"MailType", "END,FAIL", "mail_type: 6\n", true, "soon", ERR_INVALID},
    {"Comment", "good", "comment: \"good\"\n", true, NULL, 0},
    {"Name", "new", "name: \"new\"\n", true, NULL, 0},
    {"JobName", "other", "name: \"other\"\n", true, NULL, 0},
    {"WCKey", "k", "wckey: \"k\"\n", true, NULL, 0},
    {"MailUser", "ada", "mail_user: \"ada\"\n", true, NULL, 0},
    {"StdOut", "/o", "std_out: \"/o\"\n", false, NULL, 0},
    {"StdErr", "/e", "std_err: \"/e\"\n", false, NULL, 0},
    {"StdIn", "/i", "std_in: \"/i\"\n", false, NULL, 0},
    {"WorkDir", "/w", "work_dir: \"/w\"\n", false, NULL, 0},
    {"Extra", "x", "extra: \"x\"\n", true, NULL, 0},
    {"AdminComment", "seen", "admin_comment: \"seen\"\n", true, NULL, 0},
    {"SystemComment", "s", "system_comment: \"s\"\n", true, NULL, 0},
    {"Requeue", "0", "requeue: no\n", true, "2", ERR_INVALID},
    {"Reboot", "yes", "reboot: true\n", false, "2", ERR_INVALID},
    {"BurstBuffer", "b", "burst_buffer: \"b\"\n", false, NULL, 0},
    {"MCSLabel", "m", "mcs_label: \"m\"\n", false, NULL, 0},
    {"ArrayTaskThrottle", NULL, NULL, true, "3", ERR_INVALID_ARRAY},
    {"Deadline", "2033-05-18T03:33:20", "deadline: ", true, "never", ERR_INVALID},
    {"StartTime", "now+1hour", "begin_time: ", false, "never", ERR_INVALID},
    {"Priority", "5", "priority: 5\n", true, "-1", ERR_INVALID},
};

static void is_shown(struct world *world, uint32_t id, const char *line) {
    struct job job;
    struct str text cleanup_str = STR_INIT;
    assert_true(world_look(world, id, &job));
    record_print(&record_job, &job, &text);
    if (strstr(text.data, line) == NULL)
        fail_msg("not there: %s", line);
}

TEST(a_pending_job_takes_every_key) {
    for (size_t i = 0; i < countof(keys); i++) {
        struct world world;
        struct job_request request;
        begin(&world);
        world_request(&request);
        request.begin_time = world.now + 10000;
        uint32_t id = world_submit(&world, &request, NULL);
        if (keys[i].value != NULL) {
            int code = update(&world, keys[i].key, keys[i].value);
            if (code != 0)
                fail_msg("%s=%s: %s", keys[i].key, keys[i].value, error_text(code));
            is_shown(&world, id, keys[i].line);
        }
        if (keys[i].bad != NULL) {
            int code = update(&world, keys[i].key, keys[i].bad);
            if (code != keys[i].bad_code)
                fail_msg("%s=%s: %d, not %d", keys[i].key, keys[i].bad, code, keys[i].bad_code);
        }
        if (keys[i].value != NULL)
            is_shown(&world, id, keys[i].line); /* refused as a whole */
        world_stop(&world);
    }
}

TEST(a_running_job_takes_only_what_can_still_matter) {
    for (size_t i = 0; i < countof(keys); i++) {
        struct world world;
        if (keys[i].value == NULL)
            continue;
        begin(&world);
        uint32_t id = world_job(&world);
        int code = update(&world, keys[i].key, keys[i].value);
        /* It has one node, n1, and takes none in; what it gives back: test_resize.c. */
        bool shapes = strstr("NumNodes ReqNodes ReqNodeList", keys[i].key) != NULL;
        if (shapes ? code == 0 : code != (keys[i].running ? 0 : ERR_JOB_NOT_PENDING))
            fail_msg("%s of a running job: %d", keys[i].key, code);
        if (keys[i].running)
            is_shown(&world, id, keys[i].line);
        world_check(&world);
        world_stop(&world);
    }
}

TEST(an_ended_job_takes_nothing) {
    struct world world;
    begin(&world);
    uint32_t id = world_job(&world);
    world_script_ends(&world, id, 0);
    assert_int_equal(update(&world, "Comment", "x"), ERR_JOB_FINISHED);
    assert_int_equal(world_update(&world, "job", "9", "Comment", "x"), ERR_INVALID_JOB_ID);
    world_stop(&world);
}

TEST(owners_lower_and_operators_raise) {
    struct world world;
    struct job job;
    begin(&world);
    world.uid = 1000;
    uint32_t id = world_job(&world);
    assert_int_equal(update(&world, "TimeLimit", "60"), 0);
    assert_int_equal(update(&world, "TimeLimit", "50"), 0);
    assert_int_equal(update(&world, "TimeLimit", "55"), ERR_ACCESS_DENIED);
    assert_int_equal(update(&world, "AdminComment", "x"), ERR_ACCESS_DENIED);
    assert_int_equal(update(&world, "EndTime", "now+7days"), ERR_ACCESS_DENIED);
    assert_int_equal(update(&world, "EndTime", "now+30minutes"), 0);
    struct job_request request;
    world_request(&request);
    request.begin_time = world.now + 1000;
    world_submit(&world, &request, NULL);
    assert_int_equal(world_update(&world, "job", "2", "Priority", "4000000000"), ERR_ACCESS_DENIED);
    assert_int_equal(world_update(&world, "job", "2", "Nice", "-1"), ERR_ACCESS_DENIED);
    assert_int_equal(world_update(&world, "job", "2", "Priority", "0"), 0);
    assert_true(world_look(&world, 2, &job));
    assert_int_equal(job.reason, REASON_HELD_USER);
    world.uid = 0;
    assert_int_equal(update(&world, "TimeLimit", "+5"), 0);
    is_shown(&world, id, "time_limit: 55\n");
    world_stop(&world);
}

TEST(relative_time_limits_neither_wrap_nor_fall_below_zero) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.hold = true;
    request.time_limit = 10;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(update(&world, "TimeLimit", "-3"), 0);
    is_shown(&world, id, "time_limit: 7\n");
    assert_int_equal(update(&world, "TimeLimit", "-100"), ERR_TIME_LIMIT);
    is_shown(&world, id, "time_limit: 7\n");
    struct job job;
    assert_int_equal(update(&world, "TimeLimit", "4000000000"), 0);
    assert_int_not_equal(update(&world, "TimeLimit", "+4000000000"), 0);
    assert_true(world_look(&world, id, &job));
    assert_true(job.time_limit >= 4000000000u);
    world_stop(&world);
}

TEST(a_shorter_limit_ends_a_running_job_in_time) {
    struct world world;
    begin(&world);
    uint32_t id = world_job(&world);
    world_pass_time(&world, 100);
    assert_int_equal(update(&world, "TimeLimit", "3"), 0);
    world_pass_time(&world, 79);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_pass_time(&world, 3);
    assert_int_equal(world_state(&world, id), JOB_TIMEOUT);
    world_stop(&world);
}

TEST(keys_may_be_cut_short_where_it_is_clear_what_is_meant) {
    static const struct {
        const char *entity, *target, *key, *value;
        int code;
    } rows[] = {
        {"job", "1", "com", "x", 0},
        {"job", "1", "TIMEL", "50", 0},
        {"job", "1", "time", "50", ERR_UPDATE_KEY},
        {"job", "1", "timelimits", "50", ERR_UPDATE_KEY},
        {"job", "1", "commentary", "x", ERR_UPDATE_KEY},
        {"node", "n1", "com", "x", 0},
        {"node", "n1", "reas", "x", 0},
        {"node", "n1", "stats", "resume", ERR_UPDATE_KEY},
        {"partition", "main", "maxt", "60", 0},
        {"partition", "main", "max", "60", ERR_UPDATE_KEY},
    };
    struct world world;
    begin(&world);
    world_job(&world);
    for (size_t i = 0; i < countof(rows); i++)
        assert_int_equal(
            world_update(&world, rows[i].entity, rows[i].target, rows[i].key, rows[i].value),
            rows[i].code);
    world_stop(&world);
}

TEST(a_job_cannot_ask_for_more_nodes_than_there_are) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.hold = true;
    world_submit(&world, &request, NULL);
    assert_int_equal(update(&world, "NumNodes", "3"), ERR_NODE_COUNT);
    assert_int_equal(update(&world, "NumNodes", "2-9"), 0);
    world_stop(&world);
}

TEST(missing_keys_values_and_targets_are_refused_and_break_nothing) {
    static const char *const entities[] = {"job", "node", "partition", "step"};
    static const char *const targets[] = {"1", "n1", "main", "1.0", NULL, ""};
    static const char *const some[] = {"TimeLimit", "State", "Reason", "Weight", "Nodes", NULL};
    struct world world;
    begin(&world);
    uint32_t job = steps_salloc(&world, 1, 1, NULL);
    struct step_request request;
    steps_request(&request, job, 1);
    steps_run(&world, &request);
    for (size_t e = 0; e < countof(entities); e++) {
        for (size_t t = 0; t < countof(targets); t++) {
            for (size_t k = 0; k < countof(some); k++)
                world_update(&world, entities[e], targets[t], some[k], NULL);
        }
    }
    assert_int_equal(world_update(&world, NULL, "1", "Comment", "x"), ERR_NOT_SUPPORTED);
    assert_int_equal(world_update(&world, "node", "", "Weight", "1"), ERR_INVALID_NODE);
    assert_int_equal(world_update(&world, "node", NULL, "State", "RESUME"), ERR_INVALID_NODE);
    world_check(&world);
    world_stop(&world);
}

TEST(a_step_takes_a_time_limit) {
    struct world world;
    struct step_request request;
    struct step step;
    begin(&world);
    uint32_t job = steps_salloc(&world, 1, 1, NULL);
    steps_request(&request, job, 1);
    steps_run(&world, &request);
    assert_int_equal(world_update(&world, "step", "1.0", "TimeLimit", "7"), 0);
    assert_true(steps_look(&world, job, 0, &step));
    assert_int_equal(step.time_limit, 7);
    assert_int_equal(world_update(&world, "step", "1.0", "Name", "x"), ERR_UPDATE_KEY);
    assert_int_equal(world_update(&world, "step", "1.9", "TimeLimit", "7"), ERR_STEP_NOT_FOUND);
    assert_int_equal(world_update(&world, "step", "1", "TimeLimit", "7"), ERR_STEP_NOT_FOUND);
    world_stop(&world);
}

TEST(a_partition_can_be_changed_while_jobs_run) {
    struct world world;
    begin(&world);
    uint32_t id = world_job(&world);
    assert_int_equal(world_update(&world, "partition", "main", "MaxNodes", "1"), 0);
    assert_int_equal(world_update(&world, "partition", "main", "MaxNodes", "UNLIMITED"), 0);
    world_check(&world); /* what the job holds is counted once */
    world_script_ends(&world, id, 0);
    world_check(&world);
    assert_int_equal(core_node(world.core, 0)->alloc_cpus, 0);
    world_stop(&world);
}

TEST(a_new_weight_or_feature_counts_at_once) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    assert_int_equal(world_update(&world, "node", "n1", "Weight", "10"), 0);
    uint32_t id = world_job(&world);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.nodes, "n2");
    assert_int_equal(world_update(&world, "node", "n1", "Features", "a,b"), 0);
    world_request(&request);
    request.features = (char *) (uintptr_t) "b";
    id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.nodes, "n1");
    world_check(&world);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pending_job_takes_every_key),
        cmocka_unit_test(a_running_job_takes_only_what_can_still_matter),
        cmocka_unit_test(an_ended_job_takes_nothing),
        cmocka_unit_test(owners_lower_and_operators_raise),
        cmocka_unit_test(relative_time_limits_neither_wrap_nor_fall_below_zero),
        cmocka_unit_test(a_shorter_limit_ends_a_running_job_in_time),
        cmocka_unit_test(keys_may_be_cut_short_where_it_is_clear_what_is_meant),
        cmocka_unit_test(a_job_cannot_ask_for_more_nodes_than_there_are),
        cmocka_unit_test(missing_keys_values_and_targets_are_refused_and_break_nothing),
        cmocka_unit_test(a_step_takes_a_time_limit),
        cmocka_unit_test(a_partition_can_be_changed_while_jobs_run),
        cmocka_unit_test(a_new_weight_or_feature_counts_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
