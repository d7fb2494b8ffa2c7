/* SPDX-License-Identifier: Apache-2.0 */
/* The text of `scontrol show config`. */
#include "test_conf.h"

static void printed(const char *lines, struct str *out) {
    struct reading r = read_conf(lines);
    assert_int_equal(r.result, 0);
    struct conf_runtime runtime = {.now = "2026-01-02T03:04:05",
                                   .boot_time = "2026-01-01T00:00:00",
                                   .next_job_id = 42,
                                   .slurm_uid = 64030};
    conf_print(r.conf, &runtime, out);
    reading_done(&r);
}

static void assert_line(const struct str *text, const char *line) {
    cleanup_free char *whole = xasprintf("\n%s\n", line);
    if (strstr(str_cstr(text), whole) == NULL)
        fail_msg("no line \"%s\" in\n%s", line, str_cstr(text));
}

TEST(it_starts_with_the_time_and_pads_keys_to_23) {
    cleanup_str struct str text = STR_INIT;
    printed("SlurmUser=slurm", &text);
    assert_true(str_starts(str_cstr(&text), "Configuration data as of 2026-01-02T03:04:05\n"
                                            "AccountingStorageBackupHost = (null)\n"
                                            "AccountingStorageEnforce = none\n"
                                            "AccountingStorageHost   = localhost\n"));
    assert_line(&text, "BOOT_TIME               = 2026-01-01T00:00:00");
    assert_line(&text, "NEXT_JOB_ID             = 42");
    assert_line(&text, "SLURM_CONF              = /etc/slurm/slurm.conf");
    assert_line(&text, "SLURM_VERSION           = 26.05.3");
    assert_line(&text, "SlurmUser               = slurm(64030)");
    assert_line(&text, "PriorityFlags           = ");
    assert_line(&text, "PrivateData             = none");
    assert_line(&text, "MaxNodeCount            = 1");
    assert_line(&text, "DefMemPerNode           = UNLIMITED");
    assert_null(strstr(str_cstr(&text), "DefMemPerCPU"));
    assert_null(strstr(str_cstr(&text), "GrpJobs"));
    assert_null(strstr(str_cstr(&text), "Prolog[0]"));
}

TEST(what_is_set_is_shown) {
    cleanup_str struct str text = STR_INIT;
    printed("PriorityWeightFairshare=100000 PreemptType=preempt/partition_prio "
            "PreemptMode=CANCEL\nSlurmctldHost=b(10.0.0.2) DefMemPerCPU=2G Prolog=/a\nProlog=/b "
            "AccountingStorageEnforce = limits",
            &text);
    assert_line(&text, "PriorityWeightFairShare = 100000");
    assert_line(&text, "PreemptType             = preempt/partition_prio");
    assert_line(&text, "PreemptMode             = CANCEL");
    assert_line(&text, "SlurmctldHost[0]        = head");
    assert_line(&text, "SlurmctldHost[1]        = b(10.0.0.2)");
    assert_line(&text, "DefMemPerCPU            = 2048");
    assert_line(&text, "Prolog[1]               = /b");
    assert_line(&text, "AccountingStorageEnforce = associations,limits");
    assert_null(strstr(str_cstr(&text), "DefMemPerNode"));
}

TEST(the_control_groups_have_a_section) {
    cleanup_str struct str text = STR_INIT;
    printed("", &text);
    assert_line(&text, "Cgroup Support Configuration:");
    assert_line(&text, "AllowedRAMSpace         = 100.0%");
    assert_line(&text, "ConstrainCores          = yes");
    assert_line(&text, "MinRAMSpace             = 30MB");
    assert_line(&text, "MemorySwappiness        = (null)");
    assert_null(strstr(str_cstr(&text), "CgroupAutomount"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_starts_with_the_time_and_pads_keys_to_23),
        cmocka_unit_test(what_is_set_is_shown),
        cmocka_unit_test(the_control_groups_have_a_section),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
