/* SPDX-License-Identifier: Apache-2.0 */
/* Reading as a whole: files, Include, roles, duplicates, the hash. */
#include "test_conf.h"

#define MAIN "/etc/slurm/slurm.conf"

TEST(an_empty_configuration_beside_the_required_keys_has_every_default) {
    struct reading r = read_conf("");
    assert_clean(&r);
    assert_int_equal(r.conf->slurmctld_port.first, 6817);
    assert_int_equal(r.conf->slurmd_port, 6818);
    assert_int_equal(r.conf->max_job_count, 5000000);
    assert_int_equal(r.conf->min_job_age, 300);
    assert_int_equal(r.conf->scheduler.bf_max_job_test, 500);
    assert_string_equal(r.conf->cgroup.mountpoint, "/sys/fs/cgroup");
    assert_string_equal(r.conf->path, MAIN);
    reading_done(&r);
}

TEST(a_file_that_is_not_there_is_an_error_at_once) {
    struct memory_files none = {NULL, 0};
    struct conf_source source = {memory_read, &none};
    struct conf *conf = NULL;
    cleanup_conf_report struct conf_report report = CONF_REPORT_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(conf_load(&source, MAIN, CONF_CLIENT, &conf, &report, &err), -ERR_NOT_FOUND);
    assert_string_equal(err.text, "there is no file " MAIN);
    assert_null(conf);
}

TEST(files_are_included_relative_to_the_directory_and_by_cluster) {
    struct memory_file files[] = {
        {MAIN, "ClusterName=Cc\nSlurmctldHost=h\nInclude part/nodes.conf\nInclude /abs/%c.conf\n"},
        {"/etc/slurm/part/nodes.conf", "NodeName=n[1-3]\nInclude deeper.conf\n"},
        {"/etc/slurm/deeper.conf", "KillWait=7\n"},
        {"/abs/cc.conf", "PartitionName=p Nodes=ALL Default=YES\n"}};
    struct reading r = read_files(files, countof(files), CONF_SLURMCTLD);
    assert_clean(&r);
    assert_int_equal(r.conf->n_nodes, 3);
    assert_int_equal(r.conf->kill_wait, 7);
    assert_non_null(conf_partition_find(r.conf, "p"));
    reading_done(&r);
}

TEST(an_error_in_an_included_file_names_that_file) {
    struct memory_file files[] = {{MAIN, "ClusterName=c SlurmctldHost=h\nInclude a.conf\n"},
                                  {"/etc/slurm/a.conf", "\n\nKilWait=3\n"}};
    struct reading r = read_files(files, countof(files), CONF_SLURMCTLD);
    assert_reported(&r, "/etc/slurm/a.conf:3: error: unknown key \"KilWait\" in slurm.conf (did "
                        "you mean \"KillWait\"?)");
    reading_done(&r);
}

TEST(includes_that_cannot_be_followed_are_errors) {
    struct memory_file files[] = {
        {MAIN,
         "Include %c.conf\nClusterName=c SlurmctldHost=h\nInclude gone.conf\nInclude b.conf\n"},
        {"/etc/slurm/b.conf", "Include b.conf\nInclude " MAIN "\n"}};
    struct reading r = read_files(files, countof(files), CONF_SLURMCTLD);
    assert_reported(&r, "slurm.conf:1: error: Include %c.conf: ClusterName must stand before it");
    assert_reported(&r, "slurm.conf:3: error: Include /etc/slurm/gone.conf: there is no file "
                        "/etc/slurm/gone.conf");
    assert_reported(&r, "b.conf:1: error: Include /etc/slurm/b.conf: the file includes itself");
    assert_reported(&r, "b.conf:2: error: Include " MAIN ": the file includes itself");
    reading_done(&r);
}

/* A source in which every file includes the next, for ever. */
static int endless_read(void *context, const char *path, struct str *ret, struct error *err) {
    unsigned *n = context;
    if (strcmp(path, MAIN) != 0 && strstr(path, "/next") == NULL)
        return error_set(err, ERR_NOT_FOUND, "there is no file %s", path);
    str_printf(ret, "Include next%u\nInclude next%u\n", *n, *n + 1);
    *n += 2;
    return 0;
}

TEST(endless_includes_end_at_the_bounds) {
    unsigned n = 0;
    struct conf_source source = {endless_read, &n};
    struct conf *conf = NULL;
    cleanup_conf_report struct conf_report report = CONF_REPORT_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(conf_load(&source, MAIN, CONF_SLURMCTLD, &conf, &report, &err), -ERR_CONFIG);
    cleanup_str struct str text = STR_INIT;
    conf_report_print(&report, &text);
    assert_non_null(strstr(str_cstr(&text), "more than 10 files deep"));
    assert_true(n <= 2 * CONF_FILES_MAX);
}

/* A source of as many files in each other as the number says, and no more. */
static int nested_read(void *context, const char *path, struct str *ret, struct error *err) {
    unsigned *left = context;
    if (strcmp(path, MAIN) != 0 && strstr(path, "/next") == NULL)
        return error_set(err, ERR_NOT_FOUND, "there is no file %s", path);
    if (--*left > 0)
        str_printf(ret, "Include next%u\n", *left);
    else
        str_append(ret, "ClusterName=c SlurmctldHost=h NodeName=n1\nPartitionName=p Nodes=n1 "
                        "Default=YES\n");
    return 0;
}

TEST(ten_files_in_each_other_are_fine) {
    unsigned left = CONF_DEPTH_MAX;
    struct conf_source source = {nested_read, &left};
    struct reading r = {.report = CONF_REPORT_INIT, .text = STR_INIT, .err = ERROR_INIT};
    r.result = conf_load(&source, MAIN, CONF_SLURMCTLD, &r.conf, &r.report, &r.err);
    conf_report_print(&r.report, &r.text);
    assert_clean(&r);
    reading_done(&r);
}

TEST(a_key_given_again_is_told_and_the_last_counts) {
    struct reading r = read_conf("KillWait=10\nKillWait=20");
    assert_int_equal(r.result, 0);
    assert_int_equal(r.conf->kill_wait, 20);
    assert_string_equal(str_cstr(&r.text), MAIN ":3: notice: KillWait is given again (first on "
                                                "line 2); the last one counts\n");
    reading_done(&r);
}

TEST(keys_that_repeat_by_nature_add_up) {
    struct reading r = read_conf("Prolog=/a\nProlog=/b");
    assert_int_equal(r.conf->prolog.n, 2);
    assert_string_equal(r.conf->prolog.items[1], "/b");
    assert_string_equal(str_cstr(&r.text), "");
    reading_done(&r);
}

TEST(keys_without_effect_are_told_once_and_only_if_they_ask_for_more_than_the_default) {
    struct reading r = read_conf("SwitchType=switch/none InactiveLimit=0 JobCompType=jobcomp/none\n"
                                 "InactiveLimit=120\n"
                                 "CheckpointType=checkpoint/none PluginDir=/usr/lib/slurm");
    assert_string_equal(str_cstr(&r.text), MAIN
                        ":3: notice: InactiveLimit is given again (first on line 2); the last "
                        "one counts\n" MAIN ":3: notice: InactiveLimit has no effect yet\n" MAIN
                        ":4: notice: CheckpointType is obsolete and has no effect: checkpoints "
                        "are made by the job itself\n");
    reading_done(&r);
}

TEST(misplaced_and_misspelt_keys_are_told_apart) {
    struct reading r = read_conf("CPUs=4\nNodeNam=x CPUs=4 Foo=1\nPartitionNmae=p\n"
                                 "Xyzzyqwertyuiop=1\nfoo bar");
    assert_string_equal(
        str_cstr(&r.text),
        MAIN ":2: error: key \"CPUs\" belongs in a NodeName line\n" MAIN
             ":3: error: unknown key \"NodeNam\" in slurm.conf (did you mean \"NodeName\"?)\n" MAIN
             ":4: error: unknown key \"PartitionNmae\" in slurm.conf (did you mean "
             "\"PartitionName\"?)\n" MAIN
             ":5: error: unknown key \"Xyzzyqwertyuiop\" in slurm.conf\n" MAIN
             ":6: error: \"foo\" is not Key=Value\n");
    reading_done(&r);
}

TEST(windows_line_ends_are_taken_with_a_notice) {
    struct reading r = read_conf("KillWait=10\r\nNodeName=b\r");
    assert_int_equal(r.result, 0);
    assert_int_equal(r.conf->kill_wait, 10);
    assert_non_null(conf_node_find(r.conf, "b"));
    assert_reported(&r, MAIN ":2: notice: lines end in CR LF");
    reading_done(&r);
}

TEST(a_command_passes_over_what_only_daemons_need) {
    struct reading r =
        read_conf_as("NewServerKey=1 KillWait=ten SelectTypeParameters=CR_Foo stray\n"
                     "NodeName=b[5-1] Nonsense\nAuthInfo=socket=/run/m.sock",
                     CONF_CLIENT);
    assert_clean(&r);
    assert_int_equal(r.conf->n_nodes, 0);
    assert_int_equal(r.conf->n_partitions, 0);
    assert_string_equal(r.conf->auth.socket, "/run/m.sock");
    assert_int_equal(conf_hash(r.conf), 0);
    reading_done(&r);
}

TEST(a_command_passes_over_words_that_only_a_newer_release_knows) {
    struct reading r = read_conf_as("AuthInfo=socket=/s,newer=1 LaunchParameters=newer,"
                                    "use_interactive_step MpiDefault=newer "
                                    "SelectType=select/cons_res",
                                    CONF_CLIENT);
    assert_clean(&r);
    assert_string_equal(r.conf->auth.socket, "/s");
    assert_int_equal(r.conf->launch_parameters, CONF_LAUNCH_INTERACTIVE_STEP);
    assert_int_equal(r.conf->mpi_default, CONF_MPI_NONE);
    reading_done(&r);
}

TEST(a_command_checks_what_it_needs) {
    struct reading r = read_conf_as("SlurmctldPort=x", CONF_CLIENT);
    assert_int_equal(r.result, -ERR_CONFIG);
    assert_string_equal(r.err.text, MAIN ":2: error: SlurmctldPort: \"x\" is no port or range of "
                                         "ports (1 to 65535, as in 6817 or 6817-6820)");
    reading_done(&r);
    struct memory_file bare = {MAIN, "KillWait=3\n"};
    r = read_files(&bare, 1, CONF_CLIENT);
    assert_reported(&r, "error: SlurmctldHost is missing");
    assert_int_equal(r.report.n_errors, 1); /* ClusterName is no matter of a command */
    reading_done(&r);
}

TEST(the_hash_is_that_of_the_meaning_not_of_the_layout) {
    struct reading a = read_conf("KillWait=10 # why\nMinJobAge=5");
    struct reading b = read_conf("killwait = 10   minjobage = \"5\"\n\n");
    struct reading c = read_conf("KillWait=11 MinJobAge=5");
    assert_true(conf_hash(a.conf) == conf_hash(b.conf));
    assert_true(conf_hash(a.conf) != conf_hash(c.conf));
    assert_true(conf_hash(a.conf) != 0);
    reading_done(&a);
    reading_done(&b);
    reading_done(&c);
}

TEST(the_hash_leaves_out_the_files_beside_slurm_conf) {
    struct reading a = read_beside("", "cgroup.conf", "ConstrainCores=yes\n");
    struct reading b = read_beside("", "cgroup.conf", "");
    assert_true(conf_hash(a.conf) == conf_hash(b.conf));
    reading_done(&a);
    reading_done(&b);
}

TEST(cgroup_conf_is_read_beside_slurm_conf) {
    struct reading r = read_beside("", "cgroup.conf",
                                   "CgroupJobIdPaths=no\nAllowedRAMSpace=98.6%\n"
                                   "CgroupAutomount=yes\nConstrainCore=yes\n");
    assert_string_equal(str_cstr(&r.text),
                        "/etc/slurm/cgroup.conf:1: notice: CgroupJobIdPaths has no effect yet\n"
                        "/etc/slurm/cgroup.conf:3: notice: CgroupAutomount is obsolete and has no "
                        "effect: the control groups that the system mounted are used\n"
                        "/etc/slurm/cgroup.conf:4: error: unknown key \"ConstrainCore\" in "
                        "cgroup.conf (did you mean \"ConstrainCores\"?)\n");
    reading_done(&r);
    r = read_beside("", "cgroup.conf", "ConstrainRAMSpace=yes\nAllowedRAMSpace=98.6%\n");
    assert_clean(&r);
    assert_true(r.conf->cgroup.constrain_ram_space);
    assert_true(r.conf->cgroup.allowed_ram_space > 98.5 && r.conf->cgroup.allowed_ram_space < 98.7);
    reading_done(&r);
}

TEST(paths_are_filled_in_with_host_and_node) {
    cleanup_str struct str path = STR_INIT;
    conf_path_expand("/var/%h/%n.%%n.%x", "host", "node", &path);
    assert_string_equal(str_cstr(&path), "/var/host/node.%n.%x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_configuration_beside_the_required_keys_has_every_default),
        cmocka_unit_test(a_file_that_is_not_there_is_an_error_at_once),
        cmocka_unit_test(files_are_included_relative_to_the_directory_and_by_cluster),
        cmocka_unit_test(an_error_in_an_included_file_names_that_file),
        cmocka_unit_test(includes_that_cannot_be_followed_are_errors),
        cmocka_unit_test(endless_includes_end_at_the_bounds),
        cmocka_unit_test(ten_files_in_each_other_are_fine),
        cmocka_unit_test(a_key_given_again_is_told_and_the_last_counts),
        cmocka_unit_test(keys_that_repeat_by_nature_add_up),
        cmocka_unit_test(
            keys_without_effect_are_told_once_and_only_if_they_ask_for_more_than_the_default),
        cmocka_unit_test(misplaced_and_misspelt_keys_are_told_apart),
        cmocka_unit_test(windows_line_ends_are_taken_with_a_notice),
        cmocka_unit_test(a_command_passes_over_what_only_daemons_need),
        cmocka_unit_test(a_command_passes_over_words_that_only_a_newer_release_knows),
        cmocka_unit_test(a_command_checks_what_it_needs),
        cmocka_unit_test(the_hash_is_that_of_the_meaning_not_of_the_layout),
        cmocka_unit_test(the_hash_leaves_out_the_files_beside_slurm_conf),
        cmocka_unit_test(cgroup_conf_is_read_beside_slurm_conf),
        cmocka_unit_test(paths_are_filled_in_with_host_and_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
