/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scontrol's records as text.
 * Covers: show_job.c show_node.c
 */
#include <stdio.h>
#include <string.h>

#include "cli/show.h"
#include "golden.h"
#include "sample.h"

static struct job_node allocation[3];

/* Two nodes that give the same and one that does not. */
static struct job running_with_gpus(void) {
    struct job job = sample_running(12, "train", "n[1-3]");
    for (size_t i = 0; i < 3; i++) {
        record_init(&record_job_node, &allocation[i]);
        allocation[i].name = T(i == 0 ? "n1" : i == 1 ? "n2" : "n3");
        allocation[i].cpus = 4;
        allocation[i].mem = i < 2 ? 400 : 200;
        allocation[i].cores = T("0-3");
        allocation[i].gres = T("gpu:a100:2(IDX:0-1)");
    }
    job.allocation.items = allocation;
    job.allocation.n = 3;
    job.num_nodes = 3;
    job.num_cpus = 12;
    job.ntasks = 6;
    job.cpus_per_task = 2;
    job.time_limit = 1564;
    job.end_time = job.start_time + 1564 * 60;
    job.tres_req = job.tres_alloc = T("cpu=12,mem=1000M,node=3,billing=12,gres/gpu=6");
    job.tres_per_node = T("gres/gpu:a100:2");
    job.alloc_node = T("login1");
    job.alloc_sid = 4711;
    job.submit_line = T("sbatch train.sh");
    job.scheduler = T("Backfill");
    job.comment = T("a comment");
    job.std_err = T("err-%x-%j.txt");
    job.mail_type = MAIL_END | MAIL_FAIL;
    job.mail_user = T("someone@example.org");
    return job;
}

static void show(void (*fn)(const void *, const struct show_options *, struct str *),
                 const void *record, bool oneline, bool details, struct str *out) {
    struct column_env env = sample_env();
    struct show_options options = {
        .oneline = oneline, .details = details, .slurmd_port = 6818, .env = &env};
    fn(record, &options, out);
}
#define SHOW(fn, record, oneline, details, out)                                                    \
    show((void (*)(const void *, const struct show_options *, struct str *))(void *) fn, record,   \
         oneline, details, out)

TEST(a_running_job_with_details_is_exact) {
    struct job job = running_with_gpus();
    struct str out cleanup_str = STR_INIT;
    SHOW(show_job, &job, false, true, &out);
    golden_check("scontrol/job_running.txt", &out);
}

TEST(a_waiting_array_is_exact) {
    struct job job = sample_job(4, "array");
    struct str out cleanup_str = STR_INIT;
    job.array_job_id = 4;
    job.array_tasks = T("1-9:2");
    job.array_limit = 2;
    job.state_desc = T("launch failed requeued held");
    job.max_nodes = 2;
    job.num_nodes = 2;
    job.mem_per_cpu = UNSET64;
    job.mem_per_node = 2048;
    job.time_limit = MINUTES_UNSET;
    SHOW(show_job, &job, false, false, &out);
    golden_check("scontrol/job_array.txt", &out);
}

TEST(one_line_has_no_line_breaks_within) {
    struct job job = running_with_gpus();
    struct str out cleanup_str = STR_INIT;
    SHOW(show_job, &job, true, true, &out);
    assert_ptr_equal(strchr(str_cstr(&out), '\n'), out.data + out.length - 1);
    golden_check("scontrol/job_oneline.txt", &out);
}

TEST(an_interactive_job_has_no_output_files) {
    struct job job = sample_running(3, "interactive", "n1");
    struct str out cleanup_str = STR_INIT;
    job.kind = JOB_KIND_SALLOC;
    SHOW(show_job, &job, false, false, &out);
    assert_null(strstr(str_cstr(&out), "StdOut="));
    assert_non_null(strstr(str_cstr(&out), "BatchFlag=0"));
}

TEST(a_drained_node_is_exact) {
    struct node node = sample_node("n3", 2);
    char *partitions[] = {T("main"), T("short")};
    struct str out cleanup_str = STR_INIT;
    node.state = NODE_MIXED;
    node.flags = NODE_FLAG_DRAIN;
    node.alloc_cpus = 3;
    node.alloc_mem = 300;
    node.arch = T("x86_64");
    node.os = T("Linux 6.1");
    node.port = 27001;
    node.gres = T("gpu:a100:2");
    node.gres_used = T("gpu:a100:1(IDX:0)");
    node.partitions = (struct strs) {partitions, 2};
    node.boot_time = node.slurmd_start_time = node.last_busy = SAMPLE_NOW - 100;
    node.cfg_tres = T("cpu=8,mem=24000M,billing=8,gres/gpu=2");
    node.alloc_tres = T("cpu=3,mem=300M,gres/gpu=1");
    node.reason = T("bad disk");
    node.reason_user = T("root");
    node.reason_time = SAMPLE_NOW;
    SHOW(show_node, &node, false, true, &out);
    golden_check("scontrol/node.txt", &out);
}

TEST(a_node_that_never_registered_has_no_kernel) {
    struct node node = sample_node("n9", 0);
    struct str out cleanup_str = STR_INIT;
    node.state = NODE_UNKNOWN;
    node.cpu_load = UNSET32;
    node.free_mem = UNSET64;
    node.version = NULL;
    SHOW(show_node, &node, false, false, &out);
    assert_null(strstr(str_cstr(&out), "OS="));
    assert_null(strstr(str_cstr(&out), "Arch="));
    assert_non_null(strstr(str_cstr(&out), "CPULoad=N/A"));
    assert_non_null(strstr(str_cstr(&out), "FreeMem=N/A"));
}

TEST(a_partition_is_exact) {
    struct partition partition = sample_partition("short", "n[1-2]", 1);
    struct str out cleanup_str = STR_INIT;
    partition.max_time = 30;
    partition.default_time = 10;
    partition.total_cpus = 16;
    partition.total_nodes = 2;
    partition.def_mem_per_cpu = 100;
    partition.tres = T("cpu=16,mem=48000M,node=2,billing=16");
    SHOW(show_partition, &partition, false, false, &out);
    golden_check("scontrol/partition.txt", &out);
}

TEST(a_step_is_exact) {
    struct step step;
    struct str out cleanup_str = STR_INIT;
    record_init(&record_step, &step);
    step.job_id = 7;
    step.step_id = STEP_BATCH;
    step.name = T("batch");
    step.state = JOB_RUNNING;
    step.uid = 1001;
    step.start_time = SAMPLE_NOW;
    step.partition = T("main");
    step.nodes = T("n1");
    step.num_nodes = step.ntasks = 1;
    SHOW(show_step, &step, false, false, &out);
    golden_check("scontrol/step.txt", &out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_job_with_details_is_exact),
        cmocka_unit_test(a_waiting_array_is_exact),
        cmocka_unit_test(one_line_has_no_line_breaks_within),
        cmocka_unit_test(an_interactive_job_has_no_output_files),
        cmocka_unit_test(a_drained_node_is_exact),
        cmocka_unit_test(a_node_that_never_registered_has_no_kernel),
        cmocka_unit_test(a_partition_is_exact),
        cmocka_unit_test(a_step_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
