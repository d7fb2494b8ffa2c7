/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of job, nodes, tasks and sockets together: what follows, what contradicts itself. */
#include "options_sample.h"

static void assert_refused(const char *line, const char *why) {
    cleanup_free char *text = xasprintf("1 %s\nInvalid generic resource (gres) specification", why);
    assert_string_equal(sample_refusal(OPTION_SBATCH, line), text);
}

TEST(tasks_follow_from_all_gpus_and_those_of_a_task) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SBATCH, "--gpus=a100:4 --gpus-per-task=a100:2");
    assert_int_equal(s.options.job.ntasks, 2);
    assert_refused("--gpus=5 --gpus-per-task=2",
                   "Failed to validate job spec, --gpus not multiple of --gpus-per-task");
    assert_refused("-n 3 --gpus=4 --gpus-per-task=1",
                   "Failed to validate job spec. Based on --gpus and --gpus-per-task number of "
                   "requested tasks differ from -n/--ntasks.");
}

TEST(nodes_follow_from_all_gpus_and_those_of_a_node) {
    cleanup_sample struct sample s, gres;
    sample_read(&s, OPTION_SBATCH, "--gpus=8 --gpus-per-node=2");
    assert_int_equal(s.options.job.min_nodes, 4);
    assert_int_equal(s.options.job.max_nodes, 4);
    sample_read(&gres, OPTION_SBATCH, "-N 2-4 --gpus=8 --gres=gpu:4");
    assert_int_equal(gres.options.job.min_nodes, 2);
    assert_refused("-N 2 --gpus=3 --gpus-per-node=1",
                   "Failed to validate job spec. Based on --gpu and --gres=gpu/--gpus-per-node "
                   "required nodes (3) doesn't fall between min_nodes (2) and max_nodes (2) "
                   "boundaries.");
}

TEST(tasks_of_a_node_follow_from_its_gpus) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SBATCH, "-n 5 --gpus-per-node=4 --gpus-per-task=2");
    assert_int_equal(s.options.job.ntasks_per_node, 2);
    assert_int_equal(s.options.job.min_nodes, 3);
    assert_refused("-n 4 --gpus-per-node=3 --gpus-per-task=2",
                   "Failed to validate job spec, --gpus-per-node not multiple of --gpus-per-task");
}

TEST(gpus_of_a_task_need_tasks_or_nodes) {
    cleanup_sample struct sample s;
    assert_refused("--gpus-per-task=1",
                   "Failed to validate job spec. --gpus-per-task used without either --gpus or "
                   "-n/--ntasks is not allowed.");
    sample_read(&s, OPTION_SBATCH, "-N 2 --gpus-per-task=1");
    assert_string_equal(s.options.job.tres_per_task, "gres/gpu:1");
}

TEST(gpus_of_a_socket_need_the_number_of_sockets) {
    cleanup_sample struct sample s;
    assert_refused("--gpus-per-socket=1",
                   "--gpus-per-socket option requires --sockets-per-node specification");
    sample_read(&s, OPTION_SBATCH, "--gpus-per-socket=a100:1 --sockets-per-node=2");
    assert_string_equal(s.options.job.tres_per_socket, "gres/gpu:a100:1");
}

TEST(what_a_step_inherits_from_its_job_contradicts_nothing) {
    const char *job[] = {"SLURM_GPUS=4", "SLURM_GPUS_PER_NODE=2", NULL};
    cleanup_sample struct sample s;
    sample_init(&s, OPTION_SRUN);
    assert_int_equal(options_apply_environment(&s.options, (char *const *) job), 0);
    assert_int_equal(sample_apply(&s, "-N 1 -n 1 --gpus-per-task=1 true", OPTION_LINE), 0);
    assert_int_equal(options_finish(&s.options), 0);
    assert_int_equal(s.options.job.ntasks, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_follow_from_all_gpus_and_those_of_a_task),
        cmocka_unit_test(nodes_follow_from_all_gpus_and_those_of_a_node),
        cmocka_unit_test(tasks_of_a_node_follow_from_its_gpus),
        cmocka_unit_test(gpus_of_a_task_need_tasks_or_nodes),
        cmocka_unit_test(gpus_of_a_socket_need_the_number_of_sockets),
        cmocka_unit_test(what_a_step_inherits_from_its_job_contradicts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
