/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option values: what is accepted, what it becomes, how it is refused.
 * Covers: options_value.c, options_place.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "options_sample.h"
#include "text/duration.h"

static const char *refused(const char *line) {
    return sample_refusal(OPTION_SBATCH, line);
}

TEST(numbers_are_positive_and_decimal) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SBATCH, "-n 3 -c 2 --ntasks-per-node=4 --mincpus=5");
    assert_int_equal(s.options.job.ntasks, 3);
    assert_int_equal(s.options.job.cpus_per_task, 2);
    assert_int_equal(s.options.job.ntasks_per_node, 4);
    assert_int_equal(s.options.job.min_cpus_per_node, 5);
    assert_string_equal(refused("-n 0"), "1 Invalid numeric value \"0\" for --ntasks.");
    assert_string_equal(refused("-n -1"), "1 Invalid numeric value \"-1\" for --ntasks.");
    assert_string_equal(refused("-n 2x"), "1 Invalid numeric value \"2x\" for --ntasks.");
    assert_string_equal(refused("--ntasks="), "1 Invalid numeric value \"\" for --ntasks.");
    assert_string_equal(refused("--tasks-per-node=x"),
                        "1 Invalid numeric value \"x\" for --ntasks-per-node.");
}

TEST(numbers_too_large_to_count_are_refused) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SBATCH, "-n 2147483647");
    assert_int_equal(s.options.job.ntasks, INT32_MAX);
    assert_string_equal(refused("-n 2147483648"),
                        "1 Invalid numeric value \"2147483648\" for --ntasks.");
    assert_string_equal(refused("--ntasks-per-socket=999999999999999999999"),
                        "1 Invalid numeric value \"999999999999999999999\" for "
                        "--ntasks-per-socket.");
}

TEST(node_counts_are_a_number_a_range_or_a_set) {
    cleanup_sample struct sample one, range, thousands, set;
    sample_read(&one, OPTION_SBATCH, "-N 2");
    assert_int_equal(one.options.job.min_nodes, 2);
    assert_int_equal(one.options.job.max_nodes, 2);
    sample_read(&range, OPTION_SBATCH, "-N 1-3");
    assert_int_equal(range.options.job.min_nodes, 1);
    assert_int_equal(range.options.job.max_nodes, 3);
    sample_read(&thousands, OPTION_SBATCH, "-N 2k");
    assert_int_equal(thousands.options.job.min_nodes, 2048);
    sample_read(&set, OPTION_SBATCH, "-N 1-15:4");
    assert_int_equal(set.options.job.min_nodes, 1);
    assert_int_equal(set.options.job.max_nodes, 13);
    assert_string_equal(set.options.job.node_counts, "1-15:4");
}

TEST(bad_node_counts_say_what_is_wrong) {
    assert_string_equal(refused("-N x"), "255 \"x\" is not a valid node count");
    assert_string_equal(refused("-N 1-2-3"), "255 \"2-3\" is not a valid node count");
    assert_string_equal(refused("-N 2-1"),
                        "255 Maximum node count 1 is less than minimum node count 2");
    assert_string_equal(refused("--nodes="), "255 \"\" is not a valid node count");
    assert_string_equal(refused("-N 0"),
                        "1 Batch job submission failed: Node count specification invalid");
    assert_string_equal(refused("-N 3,x"), "255 \"3,x\" is not a valid node count");
}

TEST(memory_sizes_become_mib) {
    cleanup_sample struct sample node, cpu, all;
    sample_read(&node, OPTION_SBATCH, "--mem=4GB --tmp=10");
    assert_int_equal(node.options.job.mem_per_node, 4096);
    assert_int_equal(node.options.job.tmp_disk, 10);
    assert_true(node.options.job.mem_per_cpu == UNSET64);
    sample_read(&cpu, OPTION_SBATCH, "--mem-per-cpu=900K");
    assert_int_equal(cpu.options.job.mem_per_cpu, 1);
    sample_read(&all, OPTION_SBATCH, "--mem=0");
    assert_int_equal(all.options.job.mem_per_node, 0);
    assert_string_equal(refused("--mem=1.5G"), "255 Invalid --mem specification");
    assert_string_equal(refused("--mem="), "255 Invalid --mem specification");
    assert_string_equal(refused("--mem-per-cpu=1X"), "255 Invalid --mem-per-cpu specification");
}

TEST(time_limits_become_minutes) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SBATCH, "-t 1-2:3:4 --time-min=0:0:1");
    assert_int_equal(s.options.job.time_limit, 24 * 60 + 2 * 60 + 4);
    assert_int_equal(s.options.job.time_min, 1);
    cleanup_sample struct sample forever;
    sample_read(&forever, OPTION_SBATCH, "-t infinite");
    assert_int_equal(forever.options.job.time_limit, MINUTES_INFINITE);
    cleanup_sample struct sample none;
    sample_read(&none, OPTION_SBATCH, "-t 0 --time-min=0");
    assert_int_equal(none.options.job.time_limit, MINUTES_INFINITE);
    assert_int_equal(none.options.job.time_min, 0);
    assert_string_equal(refused("-t soon"), "255 Invalid --time specification");
    assert_string_equal(refused("--time="), "255 Invalid --time specification");
    assert_string_equal(refused("-t 1:2:3:4"), "255 Invalid --time specification");
}

TEST(points_in_time_count_from_now_and_complain_with_their_position) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SBATCH, "--begin=now+2hours");
    assert_int_equal(s.options.job.begin_time, SAMPLE_NOW + 7200);
    assert_string_equal(refused("--begin=foo"), "255 Invalid time specification (pos=0): foo\n"
                                                "Invalid --begin specification");
    assert_string_equal(refused("--begin="), "255 Invalid --begin specification");
}

TEST(mail_types_add_up_and_unknown_ones_are_passed_over) {
    cleanup_sample struct sample s, all, none;
    sample_read(&s, OPTION_SBATCH, "--mail-type=start,end,TIME_LIMIT_80");
    assert_int_equal(s.options.job.mail_type, MAIL_END | MAIL_TIME_80);
    sample_read(&all, OPTION_SBATCH, "--mail-type=ALL");
    assert_int_equal(all.options.job.mail_type, MAIL_BEGIN | MAIL_END | MAIL_FAIL |
                                                    MAIL_INVALID_DEPEND | MAIL_REQUEUE |
                                                    MAIL_STAGE_OUT);
    sample_read(&none, OPTION_SBATCH, "--mail-type=NONE");
    assert_int_equal(none.options.job.mail_type, 0);
    assert_string_equal(refused("--mail-type=start"), "255 Invalid --mail-type specification");
    assert_string_equal(refused("--mail-type="), "255 Invalid --mail-type specification");
}

TEST(nice_is_100_when_bare_and_has_bounds) {
    cleanup_sample struct sample bare, low;
    sample_read(&bare, OPTION_SBATCH, "--nice");
    assert_int_equal(bare.options.job.nice, 100);
    sample_read(&low, OPTION_SBATCH, "--nice=-50");
    assert_int_equal(low.options.job.nice, -50);
    assert_string_equal(refused("--nice=9999999999"),
                        "255 Invalid --nice value, out of range (+/- 2147483645)");
}

TEST(signals_have_a_name_or_number_a_time_and_a_target) {
    cleanup_sample struct sample s, b, number;
    sample_read(&s, OPTION_SBATCH, "--signal=SIGUSR1@90");
    assert_int_equal(s.options.job.signal, 10);
    assert_int_equal(s.options.job.signal_seconds, 90);
    assert_int_equal(s.options.job.signal_flags, 0);
    sample_read(&b, OPTION_SBATCH, "--signal=B:TERM");
    assert_int_equal(b.options.job.signal, 15);
    assert_int_equal(b.options.job.signal_seconds, 60);
    assert_int_equal(b.options.job.signal_flags, WARN_BATCH_ONLY);
    sample_read(&number, OPTION_SBATCH, "--signal=RB:12@0");
    assert_int_equal(number.options.job.signal, 12);
    assert_int_equal(number.options.job.signal_flags, WARN_BATCH_ONLY | WARN_RESERVATION);
    assert_string_equal(refused("--signal=foo"), "255 Invalid --signal specification");
    assert_string_equal(refused("--signal=USR1@99999"), "255 Invalid --signal specification");
    assert_string_equal(refused("--signal=X:USR1"), "255 Invalid --signal specification");
}

TEST(exclusive_and_oversubscribe_undo_each_other) {
    cleanup_sample struct sample whole, user, shared;
    sample_read(&whole, OPTION_SBATCH, "-s --exclusive");
    assert_int_equal(whole.options.job.exclusive, EXCLUSIVE_NODE);
    assert_int_equal(whole.options.job.oversubscribe, OVERSUB_DEFAULT);
    sample_read(&user, OPTION_SBATCH, "--exclusive=user");
    assert_int_equal(user.options.job.exclusive, EXCLUSIVE_USER);
    sample_read(&shared, OPTION_SBATCH, "--exclusive -s");
    assert_int_equal(shared.options.job.exclusive, EXCLUSIVE_NO);
    assert_int_equal(shared.options.job.oversubscribe, OVERSUB_YES);
    assert_string_equal(refused("--exclusive=foo"), "255 Invalid --exclusive specification");
}

TEST(distributions_keep_their_text_and_give_the_order_over_nodes) {
    cleanup_sample struct sample s, plane;
    sample_read(&s, OPTION_SBATCH, "-m cyclic:block,nopack");
    assert_int_equal(s.options.job.distribution, DIST_CYCLIC);
    assert_string_equal(s.options.job.distribution_text, "cyclic:block,nopack");
    sample_read(&plane, OPTION_SBATCH, "-m plane=4");
    assert_int_equal(plane.options.job.distribution, DIST_PLANE);
    assert_int_equal(plane.options.job.plane_size, 4);
    assert_string_equal(refused("-m foo"), "255 Invalid --distribution specification");
    assert_string_equal(refused("-m block:foo"), "255 Invalid --distribution specification");
    assert_string_equal(refused("-m plane=x"), "255 Invalid plane size or size not specified\n"
                                               "Invalid --distribution specification");
    assert_string_equal(refused("-m arbitrary"),
                        "1 With Arbitrary distribution you need to specify a nodelist or hostfile "
                        "with the -w option");
}

TEST(hints_are_checked_and_help_is_a_question) {
    cleanup_sample struct sample s, help;
    sample_read(&s, OPTION_SBATCH, "--hint=nomultithread");
    assert_int_equal(s.options.job.threads_per_core, 1);
    sample_read(&help, OPTION_SBATCH, "--hint=help");
    assert_int_equal(help.options.info, OPT_hint);
    assert_string_equal(refused("--hint=foo"),
                        "1 unrecognized --hint argument \"foo\", see --hint=help");
}

TEST(node_geometry_may_have_stars) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SBATCH, "-B 2:*:1");
    assert_int_equal(s.options.job.sockets_per_node, 2);
    assert_int_equal(s.options.job.cores_per_socket, 0);
    assert_int_equal(s.options.job.threads_per_core, 1);
    assert_string_equal(refused("-B x"), "1 Invalid numeric value \"x\" for first arg of -B.");
    assert_string_equal(refused("-B 1:0"), "1 Invalid numeric value \"0\" for second arg of -B.");
}

TEST(host_lists_may_come_from_files) {
    char path[] = "/tmp/sluice-hosts-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "n1\nn2 # two\n\nn3,n4\n", 20), 20);
    close(fd);
    cleanup_free char *line = xasprintf("-w %s -x n9", path);
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SBATCH, line);
    assert_string_equal(s.options.job.req_nodes, "n1,n2,n3,n4");
    assert_int_equal(s.options.n_required_hosts, 4);
    assert_string_equal(s.options.job.exc_nodes, "n9");
    unlink(path);
    assert_string_equal(refused("-w ./none"), "1 slurm_allocate_resources error opening file "
                                              "./none, No such file or directory");
    assert_string_equal(refused("-F /none"),
                        "255 slurm_allocate_resources error opening file /none, No such file or "
                        "directory\nInvalid --nodefile node file");
}

TEST(fixed_words_are_checked) {
    assert_string_equal(refused("--open-mode=foo"), "255 Invalid --open-mode specification");
    assert_string_equal(refused("--gres-flags=foo"), "255 Invalid --gres-flags specification");
    assert_string_equal(refused("--kill-on-invalid-dep=maybe"),
                        "255 Invalid --kill-on-invalid-dep specification");
    assert_string_equal(refused("--wait-all-nodes=5"),
                        "255 Invalid --wait-all-nodes specification");
    assert_string_equal(refused("--wait-all-nodes=x"),
                        "1 Invalid numeric value \"x\" for --wait-all-nodes.");
    assert_string_equal(refused("--gpu-bind=foo"), "255 Invalid --gpu-bind argument: gpu:foo");
    assert_string_equal(refused("--propagate=FOO"),
                        "1 Bad rlimit name: FOO\n--propagate=FOO is not valid.");
    assert_string_equal(refused("--cpu-freq=foo"), "255 unrecognized --cpu-freq argument \"foo\"\n"
                                                   "Invalid --cpu-freq argument");
    assert_string_equal(refused("--no-kill=foo"), "255 Invalid --no-kill specification");
    assert_string_equal(refused("--get-user-env=xyz"), "255 Invalid --get-user-env specification");
    assert_string_equal(refused("--switches=x"), "1 Invalid numeric value \"x\" for --switches.");
}

TEST(gpu_bindings_name_the_gpu) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SBATCH, "--gpu-bind=verbose,map_gpu:0,1");
    assert_string_equal(s.options.job.tres_bind, "gres/gpu:verbose,map_gpu:0,1");
}

TEST(bindings_that_nobody_knows_are_refused) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SRUN, "--cpu-bind=v,map_cpu:0,1 --tres-bind=gres/gpu:per_task:1");
    assert_string_equal(s.options.job.cpu_bind, "v,map_cpu:0,1");
    assert_string_equal(s.options.job.tres_bind, "gres/gpu:per_task:1");
    assert_string_equal(sample_refusal(OPTION_SRUN, "--cpu-bind=bogus"),
                        "255 unrecognized --cpu-bind argument \"bogus\"");
    assert_string_equal(sample_refusal(OPTION_SRUN, "--tres-bind=bogus"),
                        "255 Invalid --tres-bind argument: bogus");
    assert_string_equal(sample_refusal(OPTION_SRUN, "--tres-bind=gres/gpu:bogus"),
                        "255 Invalid --tres-bind argument: gres/gpu:bogus");
}

TEST(srun_has_options_of_its_own) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SRUN,
                "-l -u --pty -r 2 -W 5 -K --overlap=force --jobid=12_3 --mpi=none");
    assert_true(s.options.label && s.options.unbuffered && s.options.pty);
    assert_true(s.options.overlap && s.options.overlap_force);
    assert_int_equal(s.options.relative, 2);
    assert_int_equal(s.options.wait_seconds, 5);
    assert_int_equal(s.options.kill_on_bad_exit, 1);
    assert_int_equal(s.options.jobid, 12);
    assert_string_equal(s.options.jobid_text, "12_3");
    assert_string_equal(s.options.mpi, "none");
    assert_string_equal(sample_refusal(OPTION_SRUN, "--relative=x"),
                        "1 Invalid numeric value \"x\" for --relative.");
    assert_string_equal(sample_refusal(OPTION_SRUN, "--immediate=x"),
                        "1 Invalid numeric value \"x\" for immediate.");
}

TEST(salloc_has_options_of_its_own) {
    cleanup_sample struct sample s;
    sample_read(&s, OPTION_SALLOC, "--no-shell --bell -KUSR1 -I");
    assert_true(s.options.no_shell);
    assert_int_equal(s.options.bell, BELL_ALWAYS);
    assert_int_equal(s.options.kill_command, 10);
    assert_int_equal(s.options.job.immediate, 1);
    assert_string_equal(sample_refusal(OPTION_SALLOC, "-KFOO"),
                        "255 Invalid --kill-command specification");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_positive_and_decimal),
        cmocka_unit_test(numbers_too_large_to_count_are_refused),
        cmocka_unit_test(node_counts_are_a_number_a_range_or_a_set),
        cmocka_unit_test(bad_node_counts_say_what_is_wrong),
        cmocka_unit_test(memory_sizes_become_mib),
        cmocka_unit_test(time_limits_become_minutes),
        cmocka_unit_test(points_in_time_count_from_now_and_complain_with_their_position),
        cmocka_unit_test(mail_types_add_up_and_unknown_ones_are_passed_over),
        cmocka_unit_test(nice_is_100_when_bare_and_has_bounds),
        cmocka_unit_test(signals_have_a_name_or_number_a_time_and_a_target),
        cmocka_unit_test(exclusive_and_oversubscribe_undo_each_other),
        cmocka_unit_test(distributions_keep_their_text_and_give_the_order_over_nodes),
        cmocka_unit_test(hints_are_checked_and_help_is_a_question),
        cmocka_unit_test(node_geometry_may_have_stars),
        cmocka_unit_test(host_lists_may_come_from_files),
        cmocka_unit_test(fixed_words_are_checked),
        cmocka_unit_test(gpu_bindings_name_the_gpu),
        cmocka_unit_test(bindings_that_nobody_knows_are_refused),
        cmocka_unit_test(srun_has_options_of_its_own),
        cmocka_unit_test(salloc_has_options_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
