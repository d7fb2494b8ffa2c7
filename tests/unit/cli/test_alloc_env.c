/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of a command beside its allocation. */
#include "cli/alloc_env.h"

#include "cli/environ.h"
#include "options_sample.h"

static void fill(const char *line, struct str *block) {
    cleanup_sample struct sample s;
    struct job_node nodes[3] = {{.name = (char *) "n1", .cpus = 4, .ntasks = 2},
                                {.name = (char *) "n2", .cpus = 4, .ntasks = 2},
                                {.name = (char *) "n3", .cpus = 2, .ntasks = 1}};
    struct job job;
    record_init(&record_job, &job);
    job.job_id = 29;
    job.name = (char *) "interactive";
    job.nodes = (char *) "n[1-3]";
    job.num_nodes = 3;
    job.partition = (char *) "main";
    job.cluster = (char *) "c";
    job.start_time = 1796040000;
    job.allocation.items = nodes;
    job.allocation.n = countof(nodes);
    sample_read(&s, OPTION_SALLOC, line);
    string_set(&s.options.job.work_dir, "/work");
    alloc_env_fill(&job, &s.options, block);
}

TEST(the_shape_is_told_in_counted_lists) {
    cleanup_str struct str block = STR_INIT;
    fill("-N3", &block);
    assert_string_equal(environ_get(&block, "SLURM_JOB_ID"), "29");
    assert_string_equal(environ_get(&block, "SLURM_JOBID"), "29");
    assert_string_equal(environ_get(&block, "SLURM_JOB_NODELIST"), "n[1-3]");
    assert_string_equal(environ_get(&block, "SLURM_NODELIST"), "n[1-3]");
    assert_string_equal(environ_get(&block, "SLURM_NNODES"), "3");
    assert_string_equal(environ_get(&block, "SLURM_JOB_CPUS_PER_NODE"), "4(x2),2");
    assert_string_equal(environ_get(&block, "SLURM_TASKS_PER_NODE"), "2(x2),1");
    assert_string_equal(environ_get(&block, "SLURM_CLUSTER_NAME"), "c");
    assert_string_equal(environ_get(&block, "SLURM_SUBMIT_DIR"), "/work");
    assert_string_equal(environ_get(&block, "SLURM_JOB_START_TIME"), "1796040000");
}

TEST(options_that_were_not_given_leave_no_variable) {
    static const char *const names[] = {
        "SLURM_NTASKS",       "SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE", "SLURM_GPUS",
        "SLURM_DISTRIBUTION", "SLURM_JOB_END_TIME",  "SLURM_JOB_UID",      "SLURM_CPUS_ON_NODE"};
    cleanup_str struct str block = STR_INIT;
    fill("", &block);
    for (size_t i = 0; i < countof(names); i++)
        assert_null(environ_get(&block, names[i]));
}

TEST(options_that_were_given_are_there_for_srun) {
    cleanup_str struct str block = STR_INIT;
    fill("-n 5 -c 2 --mem=100 -G a100:2 -m cyclic -O --hint=nomultithread", &block);
    assert_string_equal(environ_get(&block, "SLURM_NTASKS"), "5");
    assert_string_equal(environ_get(&block, "SLURM_NPROCS"), "5");
    assert_string_equal(environ_get(&block, "SLURM_CPUS_PER_TASK"), "2");
    assert_string_equal(environ_get(&block, "SLURM_MEM_PER_NODE"), "100");
    assert_string_equal(environ_get(&block, "SLURM_GPUS"), "a100:2");
    assert_string_equal(environ_get(&block, "SLURM_DISTRIBUTION"), "cyclic");
    assert_string_equal(environ_get(&block, "SLURM_OVERCOMMIT"), "1");
    assert_string_equal(environ_get(&block, "SLURM_HINT"), "nomultithread");
    assert_null(environ_get(&block, "SLURM_MEM_PER_CPU"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shape_is_told_in_counted_lists),
        cmocka_unit_test(options_that_were_not_given_leave_no_variable),
        cmocka_unit_test(options_that_were_given_are_there_for_srun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
