/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/alloc.h"
#include "model/script_env.h"

static void job_fill(struct job *job) {
    record_init(&record_job, job);
    job->job_id = 12;
    job->uid = 1000;
    job->kind = JOB_KIND_BATCH;
    job->name = (char *) "n";
    job->work_dir = (char *) "/home/u";
    job->comment = (char *) "two words";
    job->exit_status = 3 << 8;
    job->derived_exit = 256;
}

/* The value of a variable, or NULL. */
static const char *value(const struct str *block, const char *name) {
    size_t length = strlen(name);
    for (size_t at = 0; at < block->length; at += strlen(block->data + at) + 1) {
        if (strncmp(block->data + at, name, length) == 0 && block->data[at + length] == '=')
            return block->data + at + length + 1;
    }
    return NULL;
}

static void print(enum script_context context, const struct job *job, struct str *out) {
    struct script_facts facts = {.context = context,
                                 .job = job,
                                 .cluster = "c",
                                 .conf_path = "/etc/slurm.conf",
                                 .cpus_per_node = "2(x3)",
                                 .node_name = context <= SCRIPT_EPILOG_SLURMD ? "n1" : NULL};
    script_env_print(&facts, out);
}

TEST(a_prolog_is_told_of_the_job_but_not_of_its_end) {
    struct job job;
    struct str out cleanup_str = STR_INIT;
    job_fill(&job);
    print(SCRIPT_PROLOG_SLURMD, &job, &out);
    assert_string_equal(value(&out, "SLURM_JOB_ID"), "12");
    assert_string_equal(value(&out, "SLURM_UID"), "1000");
    assert_string_equal(value(&out, "SLURM_JOB_COMMENT"), "two words");
    assert_string_equal(value(&out, "SLURM_JOB_STDOUT"), "/home/u/slurm-%j.out");
    assert_string_equal(value(&out, "SLURM_JOB_CPUS_PER_NODE"), "2(x3)");
    assert_string_equal(value(&out, "SLURM_SCRIPT_CONTEXT"), "prolog_slurmd");
    assert_string_equal(value(&out, "SLURMD_NODENAME"), "n1");
    assert_null(value(&out, "SLURM_JOB_EXIT_CODE"));
    assert_null(value(&out, "SLURM_JOB_NAME"));
    assert_null(value(&out, "SLURM_JOB_ACCOUNT"));
    assert_null(value(&out, "PATH"));
}

TEST(gpus_are_told_by_their_numbers_on_the_node) {
    static const uint32_t indexes[] = {0, 2}, numbers[] = {4, 6};
    struct job job;
    struct str out cleanup_str = STR_INIT;
    job_fill(&job);
    struct script_facts facts = {.context = SCRIPT_PROLOG_SLURMD,
                                 .job = &job,
                                 .gpu_indexes = indexes,
                                 .gpu_numbers = numbers,
                                 .n_gpus = 2,
                                 .gpu_env = 1};
    script_env_print(&facts, &out);
    assert_string_equal(value(&out, "SLURM_JOB_GPUS"), "0,2");
    assert_string_equal(value(&out, "CUDA_VISIBLE_DEVICES"), "4,6");
    assert_null(value(&out, "ROCR_VISIBLE_DEVICES"));
}

TEST(an_epilog_is_told_how_it_ended) {
    struct job job;
    struct str out cleanup_str = STR_INIT;
    job_fill(&job);
    print(SCRIPT_EPILOG_SLURMCTLD, &job, &out);
    assert_string_equal(value(&out, "SLURM_JOB_EXIT_CODE"), "768");
    assert_string_equal(value(&out, "SLURM_JOB_EXIT_CODE2"), "3:0");
    assert_string_equal(value(&out, "SLURM_JOB_DERIVED_EC"), "256");
    assert_string_equal(value(&out, "SLURM_JOB_NAME"), "n");
    assert_null(value(&out, "SLURMD_NODENAME"));
}

TEST(the_controllers_programs_are_told_of_arrays) {
    struct job job;
    struct str out cleanup_str = STR_INIT;
    job_fill(&job);
    job.array_job_id = 10;
    job.array_task_id = 4;
    job.array_all = (char *) "0-8:4";
    print(SCRIPT_PROLOG_SLURMCTLD, &job, &out);
    assert_string_equal(value(&out, "SLURM_ARRAY_JOB_ID"), "10");
    assert_string_equal(value(&out, "SLURM_ARRAY_TASK_STEP"), "4");
    str_reset(&out);
    print(SCRIPT_PROLOG_SLURMD, &job, &out);
    assert_null(value(&out, "SLURM_ARRAY_JOB_ID"));
}

TEST(a_block_becomes_an_array_for_execve) {
    struct job job;
    struct str out cleanup_str = STR_INIT;
    job_fill(&job);
    print(SCRIPT_PROLOG_SLURMD, &job, &out);
    cleanup_free char **envp = script_env_array(&out);
    assert_string_equal(envp[0], "SLURM_JOB_ID=12");
    size_t n = 0;
    while (envp[n] != NULL)
        n++;
    assert_string_equal(envp[n - 1], "SLURM_SCRIPT_CONTEXT=prolog_slurmd");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prolog_is_told_of_the_job_but_not_of_its_end),
        cmocka_unit_test(gpus_are_told_by_their_numbers_on_the_node),
        cmocka_unit_test(an_epilog_is_told_how_it_ended),
        cmocka_unit_test(the_controllers_programs_are_told_of_arrays),
        cmocka_unit_test(a_block_becomes_an_array_for_execve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
