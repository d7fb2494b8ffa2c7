/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seff's report over records in memory.
 * Covers: seff.c
 */
#include <string.h>

#include "cli/seff.h"
#include "model/usage.h"
#include "sample.h"
#include "unit.h"

struct fixture {
    struct job job;
    struct step steps[3];
    struct usage usages[3];
    struct usage_measure rss[3];
    struct acct_job acct;
};

static void step_set(struct fixture *f, uint32_t i, uint32_t step_id, uint64_t rss_mib,
                     uint32_t ntasks) {
    struct step *step = &f->steps[i];
    record_init(&record_step, step);
    record_init(&record_usage, &f->usages[i]);
    step->step_id = step_id;
    step->start_time = f->job.start_time;
    step->end_time = f->job.end_time;
    step->ntasks = ntasks;
    f->rss[i] = (struct usage_measure) {
        .kind = USAGE_RSS, .max = rss_mib * 1024, .sum = rss_mib * 1024 * ntasks};
    f->usages[i].measures.items = &f->rss[i];
    f->usages[i].measures.n = 1;
    step->usage = &f->usages[i];
    f->acct.steps.items = f->steps;
    f->acct.steps.n = max_of(f->acct.steps.n, i + 1);
}

/* An hour on 8 CPUs and 16 GiB of one node. */
static void setup(struct fixture *f) {
    memset(f, 0, sizeof(*f));
    f->job = sample_running(12, "train", "n1");
    f->job.state = JOB_COMPLETED;
    f->job.cluster = T("sample");
    f->job.num_cpus = 8;
    f->job.mem_per_cpu = UNSET64;
    f->job.mem_per_node = 16384;
    f->job.tres_alloc = T("cpu=8,mem=16G,node=1,billing=8");
    f->job.time_limit = 75;
    f->job.start_time = SAMPLE_NOW - 4000;
    f->job.end_time = SAMPLE_NOW - 400;
    f->job.user_usec = 8 * 3600 * 1000000ull;
    record_init(&record_acct_job, &f->acct);
    f->acct.job = &f->job;
    step_set(f, 0, STEP_BATCH, 12288, 1);
}

static void report(struct fixture *f, size_t n, struct str *out) {
    struct rows rows = {NULL, 0, 0};
    struct column_env env = sample_env();
    for (size_t i = 0; i < n; i++)
        rows_push(&rows, &f[i].acct);
    str_reset(out);
    seff_print(&rows, &env, false, out);
    rows_done(&rows);
}

#define check_has(out, text) assert_non_null(strstr(str_cstr(out), text))
#define check_lacks(out, text) assert_null(strstr(str_cstr(out), text))

TEST(a_job_that_used_what_it_had_gets_the_known_lines_and_no_advice) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    setup(&f);
    report(&f, 1, &out);
    assert_string_equal(str_cstr(&out), "Job ID: 12\n"
                                        "Cluster: sample\n"
                                        "User/Group: alice/users\n"
                                        "State: COMPLETED (exit code 0)\n"
                                        "Nodes: 1\n"
                                        "Cores per node: 8\n"
                                        "CPU Utilized: 08:00:00\n"
                                        "CPU Efficiency: 100.00% of 08:00:00 core-walltime\n"
                                        "Job Wall-clock time: 01:00:00\n"
                                        "Memory Utilized: 12.00 GB\n"
                                        "Memory Efficiency: 75.00% of 16.00 GB (16.00 GB/node)\n");
}

TEST(a_job_that_asked_for_too_much_is_told_what_would_do) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    setup(&f);
    step_set(&f, 0, STEP_BATCH, 1000, 1);
    f.job.user_usec = 3600 * 1000000ull; /* one of eight */
    f.job.time_limit = MINUTES_INFINITE;
    report(&f, 1, &out);
    check_has(&out, "Advice: less memory would do: --mem=1280M\n");
    check_has(&out, "Advice: fewer CPUs would do: --cpus-per-task=2\n");
    check_has(&out, "Advice: a shorter limit starts sooner: --time=01:15:00\n");
}

TEST(memory_by_core_is_advised_by_core) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    setup(&f);
    f.job.mem_per_cpu = 2048;
    f.job.mem_per_node = UNSET64;
    step_set(&f, 0, 0, 100, 8);
    report(&f, 1, &out);
    check_has(&out, "Memory Utilized: 800.00 MB (estimated maximum)\n");
    check_has(&out, "Memory Efficiency: 4.88% of 16.00 GB (2.00 GB/core)\n");
    check_has(&out, "Advice: less memory would do: --mem-per-cpu=128M\n");
}

TEST(steps_that_ran_together_add_up_and_those_after_each_other_do_not) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    setup(&f);
    step_set(&f, 0, STEP_BATCH, 100, 1);
    step_set(&f, 1, 0, 200, 1);
    step_set(&f, 2, 1, 300, 1);
    f.steps[1].end_time = f.job.start_time + 100;
    f.steps[2].start_time = f.job.start_time + 200;
    report(&f, 1, &out);
    check_has(&out, "Memory Utilized: 400.00 MB (estimated maximum)\n");
    f.steps[2].start_time = f.job.start_time + 50;
    report(&f, 1, &out);
    check_has(&out, "Memory Utilized: 600.00 MB (estimated maximum)\n");
}

TEST(memory_of_one_node_counts_its_own_tasks) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    setup(&f);
    f.job.num_nodes = 2;
    f.job.tres_alloc = T("cpu=8,mem=32G,node=2,billing=8");
    step_set(&f, 0, 0, 400, 4);
    f.steps[0].tasks_per_node = T("2(x2)");
    report(&f, 1, &out);
    check_has(&out, "Nodes: 2\nCores per node: 4\n");
    check_has(&out, "of 32.00 GB (16.00 GB/node)\n");
    check_has(&out, "Advice: less memory would do: --mem=1G\n"); /* two of the four tasks */
}

TEST(what_ran_out_is_advised_to_be_more) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    setup(&f);
    f.job.state = JOB_OUT_OF_MEMORY;
    report(&f, 1, &out);
    check_has(&out, "Advice: it ran out of memory: --mem=26G\n");
    f.job.state = JOB_TIMEOUT;
    f.job.time_limit = 60;
    report(&f, 1, &out);
    check_has(&out, "Advice: its limit has ended it: --time=02:00:00\n");
}

TEST(a_failed_job_gets_no_advice_to_ask_for_less) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    setup(&f);
    f.job.state = JOB_FAILED;
    f.job.exit_status = 3 << 8;
    step_set(&f, 0, STEP_BATCH, 1, 1);
    report(&f, 1, &out);
    check_has(&out, "State: FAILED (exit code 3)\n");
    check_lacks(&out, "Advice");
}

TEST(gpus_are_told_as_they_were_looked_at) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    setup(&f);
    f.job.tres_alloc = T("cpu=8,mem=16G,node=1,billing=8,gres/gpu=2");
    report(&f, 1, &out);
    check_has(&out, "GPU Efficiency: not measured (2 GPUs)\n");
    f.job.gpu_looks = 10;
    f.job.gpu_percent_sum = 355;
    f.job.gpu_mem_max = 10240;
    report(&f, 1, &out);
    check_has(&out, "GPU Efficiency: 35.50% of 2 GPUs\n"
                    "GPU Memory Utilized: 10.00 GB (the highest of one)\n");
    check_lacks(&out, "next to nothing");
    f.job.gpu_percent_sum = 50;
    report(&f, 1, &out);
    check_has(&out, "Advice: the GPUs did next to nothing; does the program use them?\n");
}

TEST(jobs_that_wait_or_run_say_so) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    setup(&f);
    f.job.state = JOB_RUNNING;
    report(&f, 1, &out);
    check_has(&out, "State: RUNNING\n");
    check_has(&out, "WARNING: Efficiency statistics may be misleading for RUNNING jobs.\n");
    f.job.state = JOB_PENDING;
    f.job.nodes = NULL;
    report(&f, 1, &out);
    check_has(&out, "State: PENDING\nEfficiency not available for jobs in the PENDING state.\n");
}

TEST(an_array_is_summed_up) {
    struct fixture f[2];
    struct str out cleanup_str = STR_INIT;
    for (uint32_t i = 0; i < 2; i++) {
        setup(&f[i]);
        f[i].job.array_job_id = 12;
        f[i].job.array_task_id = i;
        f[i].job.job_id = 12 + i;
    }
    f[1].job.state = JOB_FAILED;
    f[1].job.end_time -= 1800;
    step_set(&f[1], 0, STEP_BATCH, 14336, 1);
    report(f, 2, &out);
    check_has(&out, "Job ID: 12\nArray Job ID: 12 (2 tasks)\n");
    check_has(&out, "State: 1 COMPLETED, 1 FAILED\n");
    check_has(&out, "CPU Utilized: 16:00:00\n");
    check_has(&out, "Job Wall-clock time: 01:00:00 (longest)\n");
    check_has(&out, "Memory Utilized: 14.00 GB\n");
    report(&f[1], 1, &out);
    check_has(&out, "Job ID: 13\nArray Job ID: 12_1\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_used_what_it_had_gets_the_known_lines_and_no_advice),
        cmocka_unit_test(a_job_that_asked_for_too_much_is_told_what_would_do),
        cmocka_unit_test(memory_by_core_is_advised_by_core),
        cmocka_unit_test(steps_that_ran_together_add_up_and_those_after_each_other_do_not),
        cmocka_unit_test(memory_of_one_node_counts_its_own_tasks),
        cmocka_unit_test(what_ran_out_is_advised_to_be_more),
        cmocka_unit_test(a_failed_job_gets_no_advice_to_ask_for_less),
        cmocka_unit_test(gpus_are_told_as_they_were_looked_at),
        cmocka_unit_test(jobs_that_wait_or_run_say_so),
        cmocka_unit_test(an_array_is_summed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
