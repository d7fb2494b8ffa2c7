/* SPDX-License-Identifier: Apache-2.0 */
/* What depends on several options: memory, task counts, GRES texts, the step. */
#include "options_sample.h"

static const char *refused(const char *line) {
    return sample_refusal(OPTION_SBATCH, line);
}

TEST(two_kinds_of_memory_on_one_line_contradict_each_other) {
    assert_string_equal(refused("--mem=1 --mem-per-cpu=2"),
                        "1 fatal --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
}

static int memory_of(const char *script, const char *const *envp, const char *line,
                     uint64_t *ret_node, uint64_t *ret_cpu) {
    cleanup_sample struct sample s;
    sample_init(&s, OPTION_SBATCH);
    assert_int_equal(sample_apply(&s, script, OPTION_SCRIPT), 0);
    assert_int_equal(options_apply_environment(&s.options, (char *const *) envp), 0);
    assert_int_equal(sample_apply(&s, line, OPTION_LINE), 0);
    int rc = options_finish(&s.options);
    *ret_node = s.options.job.mem_per_node;
    *ret_cpu = s.options.job.mem_per_cpu;
    return rc;
}

TEST(a_memory_variable_gives_way_to_the_line_and_wins_over_the_script) {
    const char *none[] = {NULL}, *node[] = {"SBATCH_MEM_PER_NODE=7", NULL};
    const char *both[] = {"SBATCH_MEM_PER_NODE=7", "SBATCH_MEM_PER_CPU=8", NULL};
    uint64_t per_node, per_cpu;
    assert_int_equal(memory_of("", node, "--mem-per-cpu=5", &per_node, &per_cpu), 0);
    assert_true(per_node == UNSET64 && per_cpu == 5);
    assert_int_equal(memory_of("--mem-per-cpu=5", node, "", &per_node, &per_cpu), 0);
    assert_true(per_node == 7 && per_cpu == UNSET64);
    assert_int_equal(memory_of("--mem=5", none, "--mem-per-cpu=5", &per_node, &per_cpu),
                     -ERR_INVALID);
    assert_int_equal(memory_of("", both, "", &per_node, &per_cpu), -ERR_INVALID);
}

static uint32_t tasks_of(const char *line) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SBATCH, line);
    return s.options.job.ntasks;
}

TEST(tasks_follow_from_nodes_and_tasks_per_node) {
    assert_int_equal(tasks_of("-N 2 --ntasks-per-node=4"), 8);
    assert_int_equal(tasks_of("-N 1-3 --ntasks-per-node=4"), 4);
    assert_int_equal(tasks_of("--ntasks-per-node=4"), 4);
    assert_int_equal(tasks_of("--tasks 8 -N 2"), 16);
    assert_int_equal(tasks_of("-n 16 --ntasks-per-node=4"), 16);
    assert_int_equal(tasks_of("-N 2"), 0); /* not asked: the controller's default */
}

TEST(tasks_per_gpu_give_the_tasks_or_the_gpus) {
    cleanup_sample struct sample s;
    assert_int_equal(tasks_of("--gpus=2 --ntasks-per-gpu=2"), 4);
    assert_int_equal(tasks_of("-N 3 --gpus-per-node=a100:2 --ntasks-per-gpu=1"), 6);
    assert_int_equal(tasks_of("-n 3 --gpus=2 --ntasks-per-gpu=2"), 3);
    sample_read(&s, OPTION_SBATCH, "-n 5 --ntasks-per-gpu=2");
    assert_string_equal(s.options.job.tres_per_job, "gres/gpu:3");
}

TEST(cpus_are_counted_by_task_or_by_gpu) {
    assert_non_null(refused("--gpus=2 -c 4 --cpus-per-gpu=2"));
    assert_int_equal(tasks_of("--gpus=2 --cpus-per-gpu=2"), 0);
}

TEST(fewer_tasks_than_nodes_lower_the_nodes_with_a_warning) {
    cleanup_sample struct sample s, named;
    sample_read(&s, OPTION_SBATCH, "-N 4 -n 1");
    assert_int_equal(s.options.job.min_nodes, 1);
    assert_int_equal(s.options.job.max_nodes, 1);
    assert_string_equal(s.options.warnings.data,
                        "can't run 1 processes on 4 nodes, setting nnodes to 1\n");
    sample_read(&named, OPTION_SBATCH, "-w n1,n2 -n 1");
    assert_int_equal(named.options.job.min_nodes, 1);
    assert_string_equal(named.options.job.req_nodes, "n1");
}

TEST(named_nodes_raise_the_node_count) {
    cleanup_sample struct sample s, wider;
    sample_read(&s, OPTION_SBATCH, "-w n[1-3],n2");
    assert_int_equal(s.options.job.min_nodes, 3);
    sample_read(&wider, OPTION_SBATCH, "-w n1 -N 3");
    assert_int_equal(wider.options.job.min_nodes, 3);
    assert_string_equal(refused("-N 1 -w n1,n2"), "1 invalid number of nodes (-N 2-1)");
}

TEST(gres_texts_keep_what_was_written) {
    cleanup_sample struct sample s, both, none;
    sample_read(&s, OPTION_SBATCH, "--gres=gpu,gres:shard:2");
    assert_string_equal(s.options.job.tres_per_node, "gres/gpu,gres/shard:2");
    sample_read(&both, OPTION_SBATCH,
                "--gres=gpu:4 --gpus-per-node=a100:4 -G 8 -n 8 "
                "--gpus-per-task=1");
    assert_string_equal(both.options.job.tres_per_node, "gres/gpu:a100:4,gres/gpu:4");
    assert_string_equal(both.options.job.tres_per_job, "gres/gpu:8");
    assert_string_equal(both.options.job.tres_per_task, "gres/gpu:1");
    sample_read(&none, OPTION_SBATCH, "--gres=none");
    assert_null(none.options.job.tres_per_node);
    assert_string_equal(refused("--gpus=x:y:z"), "1 Invalid generic resource (gres) specification");
}

TEST(gpus_per_task_needs_tasks) {
    assert_string_equal(refused("--gpus-per-task=1"),
                        "1 Failed to validate job spec. --gpus-per-task used without either "
                        "--gpus or -n/--ntasks is not allowed.\n"
                        "Invalid generic resource (gres) specification");
}

TEST(tres_per_task_splits_into_cpus_and_the_rest) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SBATCH, "-n 1 --tres-per-task=cpu=4,gres/gpu:a100=2,license/x=1");
    assert_int_equal(s.options.job.cpus_per_task, 4);
    assert_string_equal(s.options.job.tres_per_task, "gres/gpu:a100=2,license/x=1");
    assert_string_equal(refused("--tres-per-task=foo=1"),
                        "255 Invalid --tres-per-task specification");
}

TEST(a_step_asks_for_what_its_options_say) {
    cleanup_sample struct sample s;
    struct step_request step;
    sample_read(&s, OPTION_SRUN, "-n 4 -N 2 -c 2 --gres=none -r 1 --overlap -t 3 -o out -J name");
    options_step(&s.options, &step);
    assert_int_equal(step.ntasks, 4);
    assert_int_equal(step.min_nodes, 2);
    assert_int_equal(step.cpus_per_task, 2);
    assert_string_equal(step.tres_per_node, "none");
    assert_int_equal(step.relative, 1);
    assert_true(step.overlap && step.exact); /* -c implies --exact */
    assert_int_equal(step.time_limit, 3);
    assert_string_equal(step.name, "name");
    assert_string_equal(step.std_out, "out");
    record_done(&record_step_request, &step);
}

TEST(the_interactive_step_is_one_task_whatever_the_allocation_was_asked_for) {
    cleanup_sample struct sample s;
    struct step_request step;
    sample_read(&s, OPTION_SRUN, "--interactive -n 6 -N 2 -c 2 --mem-per-cpu=10");
    options_step(&s.options, &step);
    assert_int_equal(step.ntasks, 1);
    assert_int_equal(step.min_nodes, 1);
    assert_int_equal(step.cpus_per_task, 0);
    assert_true(step.mem_per_cpu == UNSET64);
    assert_true(step.interactive && !step.exact);
    record_done(&record_step_request, &step);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_kinds_of_memory_on_one_line_contradict_each_other),
        cmocka_unit_test(a_memory_variable_gives_way_to_the_line_and_wins_over_the_script),
        cmocka_unit_test(tasks_follow_from_nodes_and_tasks_per_node),
        cmocka_unit_test(tasks_per_gpu_give_the_tasks_or_the_gpus),
        cmocka_unit_test(cpus_are_counted_by_task_or_by_gpu),
        cmocka_unit_test(fewer_tasks_than_nodes_lower_the_nodes_with_a_warning),
        cmocka_unit_test(named_nodes_raise_the_node_count),
        cmocka_unit_test(gres_texts_keep_what_was_written),
        cmocka_unit_test(gpus_per_task_needs_tasks),
        cmocka_unit_test(tres_per_task_splits_into_cpus_and_the_rest),
        cmocka_unit_test(a_step_asks_for_what_its_options_say),
        cmocka_unit_test(the_interactive_step_is_one_task_whatever_the_allocation_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
