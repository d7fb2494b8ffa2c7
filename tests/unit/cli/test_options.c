/* SPDX-License-Identifier: Apache-2.0 */
/* Precedence of script, environment and command line; which variables count. */
#include "options_sample.h"

static void apply(struct sample *s, const char *line, enum option_origin origin) {
    if (sample_apply(s, line, origin) < 0)
        fail_msg("%s: %s", line, str_cstr(&s->options.problem.text));
}

static void apply_variables(struct sample *s, const char *const *envp) {
    if (options_apply_environment(&s->options, (char *const *) envp) < 0)
        fail_msg("%s", str_cstr(&s->options.problem.text));
}

TEST(the_command_line_beats_the_environment_which_beats_the_script) {
    const char *envp[] = {"SBATCH_TIMELIMIT=25", "SBATCH_PARTITION=env", NULL};
    cleanup_sample struct sample s;
    sample_init(&s, OPTION_SBATCH);
    apply(&s, "-t 20 -p script -J script", OPTION_SCRIPT);
    apply_variables(&s, envp);
    apply(&s, "-p line", OPTION_LINE);
    assert_int_equal(s.options.job.time_limit, 25);
    assert_string_equal(s.options.job.partition, "line");
    assert_string_equal(s.options.job.name, "script");
    assert_int_equal(s.options.origin[OPT_time], OPTION_ENVIRONMENT);
}

TEST(the_last_of_several_counts) {
    cleanup_sample struct sample s;
    sample_init(&s, OPTION_SBATCH);
    apply(&s, "-t 5 -t 6 --job-name=a --job-name=b", OPTION_LINE);
    assert_int_equal(s.options.job.time_limit, 6);
    assert_string_equal(s.options.job.name, "b");
}

TEST(each_command_reads_variables_of_its_own_name) {
    const char *envp[] = {"SBATCH_ACCOUNT=b", "SALLOC_ACCOUNT=a", "SLURM_ACCOUNT=r", NULL};
    static const struct {
        enum option_command command;
        const char *account;
    } rows[] = {{OPTION_SBATCH, "b"}, {OPTION_SALLOC, "a"}, {OPTION_SRUN, "r"}};
    for (size_t i = 0; i < countof(rows); i++) {
        cleanup_sample struct sample s;
        sample_init(&s, rows[i].command);
        apply_variables(&s, envp);
        assert_string_equal(s.options.job.account, rows[i].account);
    }
}

TEST(sbatch_inside_a_job_does_not_take_over_its_shape) {
    const char *envp[] = {"SLURM_NTASKS=8",
                          "SLURM_JOB_NUM_NODES=4",
                          "SLURM_CPUS_PER_TASK=3",
                          "SLURM_MEM_PER_CPU=9",
                          "SLURM_JOB_NAME=outer",
                          "SLURM_DISTRIBUTION=cyclic",
                          NULL};
    cleanup_sample struct sample s;
    sample_init(&s, OPTION_SBATCH);
    apply_variables(&s, envp);
    for (size_t i = 0; i < OPT_COUNT; i++)
        assert_int_equal(s.options.origin[i], OPTION_UNSET);
}

TEST(srun_inside_a_job_takes_over_its_shape) {
    const char *envp[] = {"SLURM_NTASKS=8",        "SLURM_NPROCS=9",  "SLURM_NNODES=4",
                          "SLURM_CPUS_PER_TASK=3", "SLURM_JOB_ID=77", NULL};
    cleanup_sample struct sample s;
    sample_init(&s, OPTION_SRUN);
    apply_variables(&s, envp);
    assert_int_equal(s.options.job.ntasks, 8); /* the first variable of the row */
    assert_int_equal(s.options.job.min_nodes, 4);
    assert_int_equal(s.options.job.cpus_per_task, 3);
    assert_int_equal(s.options.jobid, 77);
}

TEST(variables_of_flags_are_on_when_empty_yes_or_a_number_but_zero) {
    assert_true(option_variable_is_on(""));
    assert_true(option_variable_is_on("yes"));
    assert_true(option_variable_is_on("YES"));
    assert_true(option_variable_is_on("1"));
    assert_true(option_variable_is_on("-2"));
    assert_false(option_variable_is_on("0"));
    assert_false(option_variable_is_on("no"));
    assert_false(option_variable_is_on("true"));
    const char *envp[] = {"SBATCH_OVERCOMMIT=no", "SBATCH_NO_REQUEUE=1", "SBATCH_EXCLUSIVE=",
                          "SBATCH_WAIT=0",        "SBATCH_DEBUG=2",      NULL};
    cleanup_sample struct sample s;
    sample_init(&s, OPTION_SBATCH);
    apply_variables(&s, envp);
    assert_false(s.options.job.overcommit);
    assert_false(s.options.wait);
    assert_int_equal(s.options.job.requeue, TRI_NO);
    assert_int_equal(s.options.job.exclusive, EXCLUSIVE_NODE);
    assert_int_equal(s.options.verbose, 2);
}

TEST(the_wait_for_switches_has_a_variable_of_its_own) {
    const char *both[] = {"SBATCH_REQ_SWITCH=2", "SBATCH_WAIT4SWITCH=10:00", NULL};
    const char *alone[] = {"SBATCH_WAIT4SWITCH=10:00", NULL};
    const char *twice[] = {"SBATCH_REQ_SWITCH=2@5:00", "SBATCH_WAIT4SWITCH=10:00", NULL};
    cleanup_sample struct sample s, t, u;
    sample_init(&s, OPTION_SBATCH);
    apply_variables(&s, both);
    assert_string_equal(s.options.job.switches, "2@10:00");
    sample_init(&t, OPTION_SBATCH);
    apply_variables(&t, alone);
    assert_null(t.options.job.switches);
    sample_init(&u, OPTION_SBATCH);
    apply_variables(&u, twice);
    assert_string_equal(u.options.job.switches, "2@5:00");
}

TEST(a_bad_variable_is_refused_like_the_option) {
    const char *envp[] = {"SBATCH_TIMELIMIT=foo", NULL};
    cleanup_sample struct sample s;
    sample_init(&s, OPTION_SBATCH);
    assert_int_equal(options_apply_environment(&s.options, (char *const *) envp), -ERR_INVALID);
    assert_string_equal(s.options.problem.text.data, "Invalid --time specification");
    assert_int_equal(s.options.problem.status, 255);
}

TEST(options_without_effect_are_named_once) {
    cleanup_str struct str names = STR_INIT;
    cleanup_sample struct sample s, plain;
    sample_read(&s, OPTION_SBATCH, "--network=x --network=y --reboot -t 5");
    assert_true(options_without_effect(&s.options, &names));
    assert_string_equal(names.data, "--reboot, --network");
    sample_read(&plain, OPTION_SBATCH, "-t 5 -p x");
    assert_false(options_without_effect(&plain.options, &names));
}

TEST(options_that_nothing_reads_yet_are_named_too) {
    cleanup_str struct str names = STR_INIT;
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SRUN, "--power=a --context=b --prefer=fast -n 1");
    assert_true(options_without_effect(&s.options, &names));
    assert_string_equal(names.data, "--prefer, --context, --power");
}

TEST(values_without_effect_are_named_too) {
    cleanup_str struct str names = STR_INIT, more = STR_INIT;
    cleanup_sample struct sample s, user;
    sample_read(&s, OPTION_SBATCH, "--exclusive=topo --prefer=fast");
    assert_true(options_without_effect(&s.options, &names));
    assert_string_equal(names.data, "--prefer, --exclusive=topo");
    sample_read(&user, OPTION_SBATCH, "--exclusive=user");
    assert_false(options_without_effect(&user.options, &more));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_line_beats_the_environment_which_beats_the_script),
        cmocka_unit_test(the_last_of_several_counts),
        cmocka_unit_test(each_command_reads_variables_of_its_own_name),
        cmocka_unit_test(sbatch_inside_a_job_does_not_take_over_its_shape),
        cmocka_unit_test(srun_inside_a_job_takes_over_its_shape),
        cmocka_unit_test(variables_of_flags_are_on_when_empty_yes_or_a_number_but_zero),
        cmocka_unit_test(the_wait_for_switches_has_a_variable_of_its_own),
        cmocka_unit_test(a_bad_variable_is_refused_like_the_option),
        cmocka_unit_test(options_without_effect_are_named_once),
        cmocka_unit_test(options_that_nothing_reads_yet_are_named_too),
        cmocka_unit_test(values_without_effect_are_named_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
