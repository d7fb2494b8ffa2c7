/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/alloc.h"
#include "slurmstepd/job_env.h"

/* A batch job on one of two nodes, with what tests change. */
struct sample {
    struct arena arena;
    struct env env;
    struct step_order order;
    struct job job;
    struct job_node node;
    struct launch launch;
};

static void sample_open(struct sample *s) {
    memset(s, 0, sizeof(*s));
    arena_init(&s->arena, 0);
    env_init(&s->env, &s->arena);
    record_init(&record_step_order, &s->order);
    record_init(&record_job, &s->job);
    record_init(&record_job_node, &s->node);
    record_init(&record_launch, &s->launch);
    s->order.node_name = (char *) "c1";
    s->order.cluster = (char *) "hpc";
    s->order.user_name = (char *) "alice";
    s->order.home = (char *) "/home/alice";
    s->order.shell = (char *) "/bin/zsh";
    s->node.name = (char *) "c1";
    s->node.cpus = 4;
    s->job.job_id = 12;
    s->job.uid = 1000;
    s->job.gid = 100;
    s->job.name = (char *) "prime";
    s->job.nodes = (char *) "c[1-2]";
    s->job.num_nodes = 2;
    s->launch.job = &s->job;
    s->launch.job_cpus_per_node = (char *) "4(x2)";
    s->launch.tasks_per_node = (char *) "2(x2)";
}

static void sample_close(struct sample *s) {
    env_done(&s->env);
    arena_done(&s->arena);
}

static void batch(struct sample *s) {
    job_env_batch(&s->env, &s->order, &s->launch, &s->node);
}

#define assert_env(s, name, value) assert_string_equal(env_get(&(s)->env, name), value)

TEST(a_batch_script_knows_its_job_and_its_place) {
    struct sample s;

    sample_open(&s);
    batch(&s);
    assert_env(&s, "SLURM_JOB_ID", "12");
    assert_env(&s, "SLURM_JOBID", "12");
    assert_env(&s, "SLURM_JOB_NODELIST", "c[1-2]");
    assert_env(&s, "SLURM_NNODES", "2");
    assert_env(&s, "SLURM_JOB_CPUS_PER_NODE", "4(x2)");
    assert_env(&s, "SLURM_TASKS_PER_NODE", "2(x2)");
    assert_env(&s, "SLURM_CPUS_ON_NODE", "4");
    assert_env(&s, "SLURMD_NODENAME", "c1");
    assert_env(&s, "SLURM_CLUSTER_NAME", "hpc");
    assert_env(&s, "SLURM_PROCID", "0");
    assert_env(&s, "ENVIRONMENT", "BATCH");
    assert_env(&s, "HOSTNAME", "c1");
    assert_env(&s, "TMPDIR", "/tmp");
    assert_env(&s, "HOME", "/home/alice");
    sample_close(&s);
}

TEST(what_was_not_asked_for_is_not_set) {
    static const char *const names[] = {
        "SLURM_NTASKS",        "SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE",  "SLURM_ARRAY_TASK_ID",
        "SLURM_RESTART_COUNT", "SLURM_GPUS_ON_NODE",  "CUDA_VISIBLE_DEVICES"};
    struct sample s;

    sample_open(&s);
    batch(&s);
    for (size_t i = 0; i < countof(names); i++)
        assert_null(env_get(&s.env, names[i]));
    sample_close(&s);
}

TEST(variables_of_an_outer_job_do_not_leak_in) {
    struct sample s;

    sample_open(&s);
    env_set(&s.env, "SLURM_NTASKS", "99");
    env_set(&s.env, "SLURM_STEP_ID", "3");
    env_set(&s.env, "SLURM_ARRAY_TASK_ID", "7");
    env_set(&s.env, "CUDA_VISIBLE_DEVICES", "5");
    batch(&s);
    assert_null(env_get(&s.env, "SLURM_NTASKS"));
    assert_null(env_get(&s.env, "SLURM_STEP_ID"));
    assert_null(env_get(&s.env, "SLURM_ARRAY_TASK_ID"));
    assert_null(env_get(&s.env, "CUDA_VISIBLE_DEVICES"));
    sample_close(&s);
}

TEST(what_the_user_set_stays) {
    struct sample s;

    sample_open(&s);
    env_set(&s.env, "HOME", "/elsewhere");
    env_set(&s.env, "TMPDIR", "/scratch");
    env_set(&s.env, "SLURM_SUBMIT_DIR", "/where/it/was");
    batch(&s);
    assert_env(&s, "HOME", "/elsewhere");
    assert_env(&s, "TMPDIR", "/scratch");
    assert_env(&s, "SLURM_SUBMIT_DIR", "/where/it/was");
    sample_close(&s);
}

TEST(an_array_task_knows_the_whole_array) {
    struct sample s;

    sample_open(&s);
    s.job.array_job_id = 10;
    s.job.array_task_id = 4;
    s.job.array_all = (char *) "0-20:4%3";
    batch(&s);
    assert_env(&s, "SLURM_ARRAY_JOB_ID", "10");
    assert_env(&s, "SLURM_ARRAY_TASK_ID", "4");
    assert_env(&s, "JOB_ARRAY_TASK_ID", "4");
    assert_env(&s, "SLURM_ARRAY_TASK_COUNT", "6");
    assert_env(&s, "SLURM_ARRAY_TASK_MIN", "0");
    assert_env(&s, "SLURM_ARRAY_TASK_MAX", "20");
    assert_env(&s, "SLURM_ARRAY_TASK_STEP", "4");
    sample_close(&s);
}

TEST(default_memory_is_told_only_when_none_was_asked_for) {
    struct sample s;

    sample_open(&s);
    s.order.def_mem_per_cpu = 100;
    batch(&s);
    assert_env(&s, "SLURM_MEM_PER_CPU", "100");
    sample_close(&s);
    sample_open(&s);
    s.order.def_mem_per_cpu = 100;
    s.job.mem_per_node = 2048;
    batch(&s);
    assert_env(&s, "SLURM_MEM_PER_NODE", "2048");
    assert_null(env_get(&s.env, "SLURM_MEM_PER_CPU"));
    sample_close(&s);
}

TEST(the_size_of_planes_has_a_variable_of_its_own) {
    struct sample s;

    sample_open(&s);
    s.job.distribution_text = (char *) "plane=4";
    s.job.plane_size = 4;
    batch(&s);
    assert_env(&s, "SLURM_DISTRIBUTION", "plane");
    assert_env(&s, "SLURM_DIST_PLANESIZE", "4");
    sample_close(&s);
}

TEST(devices_are_told_by_their_files_unless_they_are_fenced) {
    uint32_t numbers[] = {0, 1, 6, 7};
    struct sample s;

    sample_open(&s);
    s.node.gres = (char *) "gpu:a100:2(IDX:1,3)";
    s.order.gpu_numbers = (struct u32s) {numbers, 4};
    batch(&s);
    assert_env(&s, "SLURM_JOB_GPUS", "1,3");
    assert_env(&s, "SLURM_GPUS_ON_NODE", "2");
    assert_env(&s, "CUDA_VISIBLE_DEVICES", "1,7");
    assert_env(&s, "ROCR_VISIBLE_DEVICES", "1,7");
    s.order.devices_fenced = true;
    batch(&s);
    assert_env(&s, "SLURM_JOB_GPUS", "1,3");
    assert_env(&s, "CUDA_VISIBLE_DEVICES", "0,1");
    sample_close(&s);
}

TEST(shares_of_a_card_are_told_with_the_card) {
    uint32_t numbers[] = {0, 1}, mps[] = {0, 200};
    struct sample s;

    sample_open(&s);
    s.node.gres = (char *) "shard:3(IDX:1)";
    s.order.gpu_numbers = (struct u32s) {numbers, 2};
    s.order.gpu_mps = (struct u32s) {mps, 2};
    batch(&s);
    assert_env(&s, "SLURM_SHARDS_ON_NODE", "3");
    assert_env(&s, "CUDA_VISIBLE_DEVICES", "1");
    assert_env(&s, "SLURM_GPUS_ON_NODE", "1");
    assert_env(&s, "SLURM_JOB_GPUS", "1");
    assert_null(env_get(&s.env, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"));
    s.node.gres = (char *) "mps:50(IDX:1)";
    s.order.devices_fenced = true;
    batch(&s);
    assert_env(&s, "CUDA_VISIBLE_DEVICES", "0");
    assert_env(&s, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "25");
    assert_null(env_get(&s.env, "SLURM_SHARDS_ON_NODE"));
    sample_close(&s);
}

TEST(only_gpus_count_as_gpus_however_they_are_written) {
    size_t n;
    uint32_t *indexes =
        gres_gpu_indexes("shard:4(IDX:0-3),gpu:a100:2(IDX:0,2-3),GPU:v100:1(IDX:5)", &n);

    assert_int_equal(n, 4);
    assert_int_equal(indexes[0], 0);
    assert_int_equal(indexes[1], 2);
    assert_int_equal(indexes[2], 3);
    assert_int_equal(indexes[3], 5);
    free(indexes);
    free(gres_gpu_indexes("gpu:2(IDX", &n));
    assert_int_equal(n, 0);
    free(gres_gpu_indexes(NULL, &n));
    assert_int_equal(n, 0);
}

TEST(a_task_knows_its_step_and_its_rank) {
    uint32_t ranks[] = {2, 3};
    struct step_node node;
    struct step_layout layout;
    struct step_launch launch;
    struct step_credential credential;
    struct sample s;

    sample_open(&s);
    record_init(&record_step_node, &node);
    record_init(&record_step_layout, &layout);
    record_init(&record_step_launch, &launch);
    record_init(&record_step_credential, &credential);
    node.ranks = (struct u32s) {ranks, 2};
    node.cpus = 2;
    layout.job_id = 12;
    layout.step_id = 5;
    layout.ntasks = 4;
    layout.nodelist = (char *) "c[1-2]";
    layout.tasks_per_node = (char *) "2(x2)";
    launch.layout = &layout;
    launch.umask = 027;
    launch.label = true;
    credential.uid = 1000;
    s.order.credential = &credential;
    job_env_step(&s.env, &s.order, &launch, &node, 1);
    job_env_task(&s.env, NULL, 3, 1);
    assert_env(&s, "SLURM_STEP_ID", "5");
    assert_env(&s, "SLURM_STEP_NUM_TASKS", "4");
    assert_env(&s, "SLURM_NTASKS", "4");
    assert_env(&s, "SLURM_GTIDS", "2,3");
    assert_env(&s, "SLURM_NODEID", "1");
    assert_env(&s, "SLURM_PROCID", "3");
    assert_env(&s, "SLURM_LOCALID", "1");
    assert_env(&s, "SLURM_UMASK", "0027");
    assert_env(&s, "SLURM_LABELIO", "1");
    assert_env(&s, "SLURM_JOB_UID", "1000");
    env_set(&s.env, "SLURM_NTASKS", "8"); /* of the allocation, for the steps to come */
    env_unset(&s.env, "SLURM_NPROCS");
    launch.preserve_env = true;
    job_env_step(&s.env, &s.order, &launch, &node, 1);
    assert_env(&s, "SLURM_NTASKS", "8");
    assert_env(&s, "SLURM_NPROCS", "4");
    sample_close(&s);
}

TEST(a_bound_task_is_told_its_own_gpus_only) {
    struct sample s;

    sample_open(&s);
    s.node.gres = (char *) "gpu:2(IDX:2-3)";
    batch(&s);
    job_env_task(&s.env, "per_task:1", 1, 1);
    assert_env(&s, "CUDA_VISIBLE_DEVICES", "3");
    assert_env(&s, "ROCR_VISIBLE_DEVICES", "3");
    assert_env(&s, "SLURM_JOB_GPUS", "2,3");
    sample_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_script_knows_its_job_and_its_place),
        cmocka_unit_test(what_was_not_asked_for_is_not_set),
        cmocka_unit_test(variables_of_an_outer_job_do_not_leak_in),
        cmocka_unit_test(what_the_user_set_stays),
        cmocka_unit_test(an_array_task_knows_the_whole_array),
        cmocka_unit_test(default_memory_is_told_only_when_none_was_asked_for),
        cmocka_unit_test(the_size_of_planes_has_a_variable_of_its_own),
        cmocka_unit_test(devices_are_told_by_their_files_unless_they_are_fenced),
        cmocka_unit_test(shares_of_a_card_are_told_with_the_card),
        cmocka_unit_test(only_gpus_count_as_gpus_however_they_are_written),
        cmocka_unit_test(a_task_knows_its_step_and_its_rank),
        cmocka_unit_test(a_bound_task_is_told_its_own_gpus_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
