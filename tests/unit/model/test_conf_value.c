/* SPDX-License-Identifier: Apache-2.0 */
/* Values: what each type takes, what it refuses and how it says so. */
#include "test_conf.h"

#include "text/duration.h"

/* Reads one line and expects exactly this finding for it, or none. */
static void expect(const char *line, const char *finding) {
    struct reading r = read_conf(line);
    cleanup_free char *expected =
        finding[0] != '\0' ? xasprintf("/etc/slurm/slurm.conf:2: %s\n", finding) : xstrdup("");
    assert_string_equal(str_cstr(&r.text), expected);
    reading_done(&r);
}

TEST(numbers_have_a_range_that_the_error_tells) {
    expect("KillWait=65535", "");
    expect("KillWait=65536", "error: KillWait: \"65536\" is not a number from 0 to 65535 sec");
    expect("KillWait=-1", "error: KillWait: \"-1\" is not a number from 0 to 65535 sec");
    expect("KillWait=", "error: KillWait: \"\" is not a number from 0 to 65535 sec");
    expect("KillWait=1.5", "error: KillWait: \"1.5\" is not a number from 0 to 65535 sec");
    expect("MaxJobCount=0", "error: MaxJobCount: \"0\" is not a number from 1 to 4294967294");
    expect("MaxJobCount=99999999999999999999",
           "error: MaxJobCount: \"99999999999999999999\" is not a number from 1 to 4294967294");
}

TEST(unlimited_is_a_number_where_the_key_allows_it) {
    struct reading r = read_conf("OverTimeLimit=UNLIMITED");
    assert_clean(&r);
    assert_int_equal(r.conf->over_time_limit, CONF_INFINITE);
    reading_done(&r);
    expect("KillWait=UNLIMITED",
           "error: KillWait: \"UNLIMITED\" is not a number from 0 to 65535 sec");
    expect("OverTimeLimit=x",
           "error: OverTimeLimit: \"x\" is not a number from 0 to 4294967294 min or UNLIMITED");
}

TEST(booleans_are_written_in_many_ways) {
    static const char *const yes[] = {"YES", "yes", "True", "1"}, *const no[] = {"no", "FALSE",
                                                                                 "0"};
    for (size_t i = 0; i < countof(yes); i++) {
        cleanup_free char *line = xasprintf("DisableRootJobs=%s", yes[i]);
        struct reading r = read_conf(line);
        assert_clean(&r);
        assert_true(r.conf->disable_root_jobs);
        reading_done(&r);
    }
    for (size_t i = 0; i < countof(no); i++) {
        cleanup_free char *line = xasprintf("JobRequeue=%s", no[i]);
        struct reading r = read_conf(line);
        assert_clean(&r);
        assert_false(r.conf->job_requeue);
        reading_done(&r);
    }
    expect("JobRequeue=maybe", "error: JobRequeue: \"maybe\" is neither YES nor NO");
}

TEST(memory_takes_units_and_is_kept_in_mib) {
    struct reading r = read_conf("DefMemPerCPU=2G MaxMemPerNode=512");
    assert_clean(&r);
    assert_int_equal(r.conf->def_mem_per_cpu, 2048);
    assert_int_equal(r.conf->max_mem_per_node, 512);
    assert_true(r.conf->def_mem_per_node == CONF_UNSET);
    reading_done(&r);
}

TEST(times_are_written_like_time_limits) {
    struct reading r = read_conf("PriorityDecayHalfLife=14-0 PriorityCalcPeriod=10 "
                                 "PriorityMaxAge=1-12:30:05");
    assert_clean(&r);
    assert_int_equal(r.conf->priority_decay_half_life, 14 * 86400);
    assert_int_equal(r.conf->priority_calc_period, 600);
    assert_int_equal(r.conf->priority_max_age, 86400 + 12 * 3600 + 30 * 60 + 5);
    reading_done(&r);
}

TEST(one_word_of_a_vocabulary_in_any_case_and_without_its_prefix) {
    struct reading r = read_conf("SelectType=SELECT/LINEAR SchedulerType=builtin SlurmdDebug=5");
    assert_clean(&r);
    assert_int_equal(r.conf->select_type, CONF_SELECT_LINEAR);
    assert_int_equal(r.conf->scheduler_type, CONF_SCHEDULER_BUILTIN);
    assert_int_equal(r.conf->slurmd_debug, CONF_LEVEL_DEBUG);
    reading_done(&r);
    expect("SelectType=select/cons_tre",
           "error: SelectType: \"select/cons_tre\" is not known (did you mean "
           "\"select/cons_tres\"?); the values are select/cons_tres, select/linear");
}

TEST(an_obsolete_word_says_what_is_used) {
    struct reading r = read_conf("SelectType=select/cons_res");
    assert_int_equal(r.result, 0);
    assert_reported(&r, "notice: SelectType: \"select/cons_res\" is obsolete; "
                        "\"select/cons_tres\" is used");
    reading_done(&r);
}

TEST(a_word_that_would_leave_the_cluster_open_is_refused) {
    expect("AuthType=auth/none",
           "error: AuthType: \"auth/none\" is not supported; the values are auth/munge");
}

TEST(every_unknown_word_of_a_list_is_told) {
    expect("PrivateData=jobs,usrs,x",
           "error: PrivateData: \"usrs\" is not known (did you mean \"users\"?); the values are "
           "accounts, cloud, events, jobs, nodes, partitions, reservations, usage, users\n"
           "/etc/slurm/slurm.conf:2: error: PrivateData: \"x\" is not known; the values are "
           "accounts, cloud, events, jobs, nodes, partitions, reservations, usage, users");
}

TEST(a_word_with_a_value_needs_one) {
    expect("CommunicationParameters=keepalivetime",
           "error: CommunicationParameters: \"keepalivetime\" needs a value: keepalivetime=VALUE");
}

TEST(sub_options_fill_members_of_their_own) {
    struct reading r =
        read_conf("SchedulerParameters=bf_interval=10,defer,bf_max_job_test=1000,BF_WINDOW=2880");
    assert_int_equal(r.report.n_errors, 0);
    assert_int_equal(r.conf->scheduler.bf_interval, 10);
    assert_int_equal(r.conf->scheduler.bf_window, 2880);
    assert_int_equal(r.conf->scheduler.bf_max_job_test, 1000);
    assert_int_equal(r.conf->scheduler.bf_resolution, 60);
    assert_true(r.conf->scheduler.defer);
    assert_string_equal(r.conf->scheduler_parameters,
                        "bf_interval=10,defer,bf_max_job_test=1000,BF_WINDOW=2880");
    reading_done(&r);
}

TEST(a_key_that_is_given_again_takes_none_of_its_earlier_options) {
    struct reading r = read_conf("SchedulerParameters=defer,bf_interval=10,max_rpc_cnt=7\n"
                                 "SchedulerParameters=bf_window=2880");
    assert_false(r.conf->scheduler.defer);
    assert_int_equal(r.conf->scheduler.bf_interval, 30);
    assert_int_equal(r.conf->scheduler.bf_window, 2880);
    reading_done(&r);
}

TEST(unknown_and_bad_sub_options_are_told_with_their_cure) {
    expect("SchedulerParameters=bf_intervall=3,foo,max_sched_time=300000,bf_window",
           "error: SchedulerParameters: unknown option \"bf_intervall\" (did you mean "
           "\"bf_interval\"?)\n"
           "/etc/slurm/slurm.conf:2: error: SchedulerParameters: unknown option \"foo\"\n"
           "/etc/slurm/slurm.conf:2: error: SchedulerParameters: max_sched_time: \"300000\" is not "
           "a number from 1 to 65535 sec\n"
           "/etc/slurm/slurm.conf:2: error: SchedulerParameters: option \"bf_window\" needs a "
           "value: bf_window=VALUE");
}

TEST(a_sub_option_without_effect_is_told_once) {
    expect("SchedulerParameters=bf_topopt_enable",
           "notice: SchedulerParameters: option \"bf_topopt_enable\" has no effect yet");
}

TEST(sub_options_that_are_not_needed_are_named_once_with_the_reason) {
    expect("SchedulerParameters=bf_max_job_user=3,bf_resolution=60,bf_licenses,bf_max_job_test=9,"
           "requeue_delay=5",
           "notice: SchedulerParameters: not needed here: bf_resolution (nothing is rounded); "
           "bf_max_job_test, bf_max_job_user (no depth is cut); bf_licenses (licences are part of "
           "every plan)");
}

TEST(the_planner_s_own_options_have_a_prefix) {
    struct reading r = read_conf("SchedulerParameters=sluice_guard_time=1-0,sluice_guard_jobs=5");
    assert_clean(&r);
    assert_int_equal(r.conf->scheduler.guard_time, 86400);
    assert_int_equal(r.conf->scheduler.guard_jobs, 5);
    reading_done(&r);
}

TEST(a_bare_number_is_the_frequency_of_tasks) {
    struct reading r = read_conf("JobAcctGatherFrequency=15");
    assert_clean(&r);
    assert_int_equal(r.conf->frequency.task, 15);
    reading_done(&r);
    r = read_conf("JobAcctGatherFrequency=task=5,energy=0");
    assert_clean(&r);
    assert_int_equal(r.conf->frequency.task, 5);
    reading_done(&r);
}

TEST(a_bare_path_is_the_socket_of_authentication) {
    struct reading r = read_conf("AuthInfo=/run/munge/munge.socket.2");
    assert_clean(&r);
    assert_string_equal(r.conf->auth.socket, "/run/munge/munge.socket.2");
    reading_done(&r);
}

TEST(weights_are_names_with_numbers) {
    struct reading r = read_conf("PriorityWeightTRES=CPU=1.0,Mem=0.25G,GRES/gpu=2000");
    assert_clean(&r);
    assert_string_equal(r.conf->priority_weight_tres, "CPU=1.0,Mem=0.25G,GRES/gpu=2000");
    reading_done(&r);
    expect("PriorityWeightTRES=CPU,Mem=x",
           "error: PriorityWeightTRES: \"CPU\" is not NAME=WEIGHT, as in "
           "CPU=1.0,Mem=0.25G,GRES/gpu=2\n"
           "/etc/slurm/slurm.conf:2: error: PriorityWeightTRES: \"Mem=x\" is not NAME=WEIGHT, as "
           "in CPU=1.0,Mem=0.25G,GRES/gpu=2");
}

TEST(ports_are_one_or_a_range) {
    struct reading r = read_conf("SlurmctldPort=6817-6820");
    assert_clean(&r);
    assert_int_equal(r.conf->slurmctld_port.first, 6817);
    assert_int_equal(r.conf->slurmctld_port.last, 6820);
    reading_done(&r);
    expect("SlurmctldPort=0", "error: SlurmctldPort: \"0\" is no port or range of ports (1 to "
                              "65535, as in 6817 or 6817-6820)");
    expect("SlurmctldPort=9-1", "error: SlurmctldPort: \"9-1\" is no port or range of ports (1 to "
                                "65535, as in 6817 or 6817-6820)");
}

TEST(lists_lose_their_blanks_and_an_empty_value_unsets) {
    struct reading r = read_conf("Licenses=\"foo:4, bar ,\" MailDomain=");
    assert_clean(&r);
    assert_string_equal(r.conf->licenses, "foo:4,bar");
    assert_null(r.conf->mail_domain);
    reading_done(&r);
}

TEST(a_value_that_is_not_utf8_is_an_error) {
    expect("MailProg=/bin/\xff", "error: MailProg: the value holds control characters or is not "
                                 "UTF-8");
}

TEST(oversubscribe_has_a_mode_and_a_number) {
    struct reading r = read_conf("PartitionName=a Nodes=n1 OverSubscribe=FORCE:2\n"
                                 "PartitionName=b Nodes=n1 Shared=yes");
    assert_clean(&r);
    uint32_t a = conf_partition_find(r.conf, "a")->oversubscribe;
    uint32_t b = conf_partition_find(r.conf, "b")->oversubscribe;
    assert_int_equal(conf_share_mode(a), CONF_SHARE_FORCE);
    assert_int_equal(conf_share_jobs(a), 2);
    assert_int_equal(conf_share_mode(b), CONF_SHARE_YES);
    assert_int_equal(conf_share_jobs(b), 4);
    cleanup_str struct str text = STR_INIT;
    conf_share_print(a, &text);
    assert_string_equal(str_cstr(&text), "FORCE:2");
    reading_done(&r);
    r = read_conf("PartitionName=a Nodes=n1 OverSubscribe=FORCE:1"); /* one job at a time */
    assert_clean(&r);
    reading_done(&r);
    expect("PartitionName=a Nodes=n1 OverSubscribe=FORCE:300",
           "notice: OverSubscribe: \"FORCE:300\" lets 200 jobs share a CPU, no more");
    expect("PartitionName=a Nodes=n1 OverSubscribe=NO:3",
           "error: OverSubscribe: \"NO:3\" is not NO, EXCLUSIVE, YES[:n] or FORCE[:n]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_a_range_that_the_error_tells),
        cmocka_unit_test(unlimited_is_a_number_where_the_key_allows_it),
        cmocka_unit_test(booleans_are_written_in_many_ways),
        cmocka_unit_test(memory_takes_units_and_is_kept_in_mib),
        cmocka_unit_test(times_are_written_like_time_limits),
        cmocka_unit_test(one_word_of_a_vocabulary_in_any_case_and_without_its_prefix),
        cmocka_unit_test(an_obsolete_word_says_what_is_used),
        cmocka_unit_test(a_word_that_would_leave_the_cluster_open_is_refused),
        cmocka_unit_test(every_unknown_word_of_a_list_is_told),
        cmocka_unit_test(a_word_with_a_value_needs_one),
        cmocka_unit_test(sub_options_fill_members_of_their_own),
        cmocka_unit_test(a_key_that_is_given_again_takes_none_of_its_earlier_options),
        cmocka_unit_test(unknown_and_bad_sub_options_are_told_with_their_cure),
        cmocka_unit_test(a_sub_option_without_effect_is_told_once),
        cmocka_unit_test(sub_options_that_are_not_needed_are_named_once_with_the_reason),
        cmocka_unit_test(the_planner_s_own_options_have_a_prefix),
        cmocka_unit_test(a_bare_number_is_the_frequency_of_tasks),
        cmocka_unit_test(a_bare_path_is_the_socket_of_authentication),
        cmocka_unit_test(weights_are_names_with_numbers),
        cmocka_unit_test(ports_are_one_or_a_range),
        cmocka_unit_test(lists_lose_their_blanks_and_an_empty_value_unsets),
        cmocka_unit_test(a_value_that_is_not_utf8_is_an_error),
        cmocka_unit_test(oversubscribe_has_a_mode_and_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
