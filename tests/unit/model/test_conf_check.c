/* SPDX-License-Identifier: Apache-2.0 */
/* What holds between keys, and values that follow from others. */
#include "test_conf.h"

static void expect(const char *text, const char *finding) {
    struct reading r = read_conf(text);
    assert_reported(&r, finding);
    reading_done(&r);
}

TEST(the_cluster_and_its_controller_are_required) {
    struct reading r = read_bare("NodeName=n1\nPartitionName=p Nodes=n1 Default=YES\n");
    assert_string_equal(str_cstr(&r.text),
                        "/etc/slurm/slurm.conf: error: ClusterName is missing; any name will do, "
                        "as in ClusterName=cluster\n"
                        "/etc/slurm/slurm.conf: error: SlurmctldHost is missing: the host that "
                        "slurmctld runs on, as in SlurmctldHost=HOST or "
                        "SlurmctldHost=HOST(ADDRESS)\n");
    assert_string_equal(r.err.text,
                        "/etc/slurm/slurm.conf: 2 errors; the first is: /etc/slurm/slurm.conf: "
                        "error: ClusterName is missing; any name will do, as in "
                        "ClusterName=cluster");
    reading_done(&r);
}

TEST(the_name_of_the_cluster_is_lower_case) {
    struct reading r = read_bare("ClusterName=My_Cluster SlurmctldHost=h NodeName=n1\n"
                                 "PartitionName=p Nodes=n1 Default=YES");
    assert_clean(&r);
    assert_string_equal(r.conf->cluster_name, "my_cluster");
    reading_done(&r);
}

TEST(controllers_have_names_and_addresses_and_an_order) {
    struct reading r = read_conf("SlurmctldHost=b(10.0.0.2)");
    assert_clean(&r);
    assert_int_equal(r.conf->n_control_hosts, 2);
    assert_string_equal(r.conf->control_hosts[0].name, "head");
    assert_string_equal(r.conf->control_hosts[0].address, "head");
    assert_string_equal(r.conf->control_hosts[1].name, "b");
    assert_string_equal(r.conf->control_hosts[1].address, "10.0.0.2");
    reading_done(&r);
    expect("SlurmctldHost=b(1", "slurm.conf:2: error: SlurmctldHost: \"b(1\" is not HOST or "
                                "HOST(ADDRESS)");
}

TEST(the_old_name_of_the_controller_is_taken_when_there_is_no_new_one) {
    struct reading r = read_bare("ClusterName=c ControlMachine=m ControlAddr=10.0.0.9 "
                                 "BackupController=k\nNodeName=n1\nPartitionName=p Nodes=n1 "
                                 "Default=YES");
    assert_clean(&r);
    assert_int_equal(r.conf->n_control_hosts, 2);
    assert_string_equal(r.conf->control_hosts[0].name, "m");
    assert_string_equal(r.conf->control_hosts[0].address, "10.0.0.9");
    assert_string_equal(r.conf->control_hosts[1].address, "k");
    reading_done(&r);
    expect("ControlMachine=m", "notice: ControlMachine has no effect beside SlurmctldHost");
}

TEST(association_limits_in_slurm_conf_are_taken_for_account_root_and_taught) {
    struct reading r = read_conf("GrpCPUMins = 10000\nGrpCPUs = 100\nGrpJobs = 10");
    assert_int_equal(r.result, 0);
    assert_int_equal(r.conf->grp_cpu_mins, 10000);
    assert_int_equal(r.conf->grp_cpus, 100);
    assert_int_equal(r.conf->grp_jobs, 10);
    assert_string_equal(str_cstr(&r.text),
                        "/etc/slurm/slurm.conf:2: notice: GrpCPUMins is taken as a limit of "
                        "account root, which holds with AccountingStorageEnforce=limits; the same "
                        "by command: sacctmgr modify account root set GrpTRESMins=cpu=10000\n"
                        "/etc/slurm/slurm.conf:3: notice: GrpCPUs is taken as a limit of account "
                        "root, which holds with AccountingStorageEnforce=limits; the same by "
                        "command: sacctmgr modify account root set GrpTRES=cpu=100\n"
                        "/etc/slurm/slurm.conf:4: notice: GrpJobs is taken as a limit of account "
                        "root, which holds with AccountingStorageEnforce=limits; the same by "
                        "command: sacctmgr modify account root set GrpJobs=10\n");
    reading_done(&r);
}

TEST(strict_conf_refuses_association_limits_wherever_it_stands) {
    struct reading r = read_conf("GrpJobs = 10\nStrictConf=yes");
    assert_int_equal(r.result, -ERR_CONFIG);
    assert_reported(&r, "slurm.conf:2: error: GrpJobs is an association limit, and StrictConf=yes "
                        "keeps those out of slurm.conf; write: sacctmgr modify account root set "
                        "GrpJobs=10");
    reading_done(&r);
}

TEST(limits_imply_associations) {
    struct reading r = read_conf("AccountingStorageEnforce = limits");
    assert_clean(&r);
    assert_int_equal(r.conf->accounting_storage_enforce,
                     CONF_ENFORCE_ASSOCIATIONS | CONF_ENFORCE_LIMITS);
    reading_done(&r);
    r = read_conf("AccountingStorageEnforce=safe");
    assert_int_equal(r.conf->accounting_storage_enforce,
                     CONF_ENFORCE_ASSOCIATIONS | CONF_ENFORCE_LIMITS | CONF_ENFORCE_SAFE);
    reading_done(&r);
    r = read_conf("AccountingStorageEnforce=qos");
    assert_int_equal(r.conf->accounting_storage_enforce,
                     CONF_ENFORCE_ASSOCIATIONS | CONF_ENFORCE_QOS);
    reading_done(&r);
}

TEST(what_follows_from_an_enforcement_is_set_and_told) {
    struct reading r = read_conf("AccountingStorageEnforce=wckeys");
    assert_clean(&r);
    assert_true(r.conf->track_wckey);
    assert_int_equal(r.conf->accounting_storage_enforce,
                     CONF_ENFORCE_ASSOCIATIONS | CONF_ENFORCE_WCKEYS);
    reading_done(&r);
    r = read_conf("AccountingStorageEnforce=nojobs");
    assert_non_null(strstr(r.text.data, "nothing is kept of jobs and steps"));
    assert_int_equal(r.conf->accounting_storage_enforce,
                     CONF_ENFORCE_NOJOBS | CONF_ENFORCE_NOSTEPS);
    reading_done(&r);
    r = read_conf("AccountingStorageEnforce=all");
    assert_int_equal(
        r.conf->accounting_storage_enforce & (CONF_ENFORCE_NOJOBS | CONF_ENFORCE_NOSTEPS), 0);
    reading_done(&r);
}

TEST(enforcing_without_accounting_is_told) {
    expect("AccountingStorageEnforce=limits AccountingStorageType=accounting_storage/none",
           "notice: AccountingStorageEnforce has no effect with "
           "AccountingStorageType=accounting_storage/none");
}

TEST(all_resource_limits_are_propagated_unless_some_are_named) {
    struct reading r = read_conf("");
    assert_int_equal(r.conf->propagate_resource_limits, CONF_RLIMIT_ALL);
    reading_done(&r);
    r = read_conf("PropagateResourceLimitsExcept=MEMLOCK");
    assert_int_equal(r.conf->propagate_resource_limits, 0);
    assert_int_equal(r.conf->propagate_resource_limits_except, CONF_RLIMIT_MEMLOCK_);
    reading_done(&r);
    expect("PropagateResourceLimits=ALL PropagateResourceLimitsExcept=CORE",
           "error: PropagateResourceLimits and PropagateResourceLimitsExcept exclude each other");
}

TEST(cores_and_memory_are_handed_out_unless_told_otherwise) {
    struct reading r = read_conf("");
    assert_int_equal(r.conf->select_type_parameters, CONF_CR_CORE_MEMORY);
    reading_done(&r);
    r = read_conf("SelectTypeParameters=CR_CPU_Memory");
    assert_int_equal(r.conf->select_type_parameters, CONF_CR_CPU_MEMORY);
    reading_done(&r);
    r = read_conf("SelectTypeParameters=CR_Memory");
    assert_int_equal(r.conf->select_type_parameters, CONF_CR_CORE_MEMORY);
    reading_done(&r);
    expect("SelectTypeParameters=CR_CPU,CR_Core",
           "error: SelectTypeParameters names more than one");
}

TEST(the_two_forms_of_a_memory_limit_exclude_each_other) {
    expect("DefMemPerCPU=1 DefMemPerNode=1",
           "error: DefMemPerCPU and DefMemPerNode exclude each other");
    expect("MaxMemPerCPU=1 MaxMemPerNode=1",
           "error: MaxMemPerCPU and MaxMemPerNode exclude each other");
}

TEST(job_defaults_are_the_defaults_per_gpu) {
    struct reading r = read_conf("JobDefaults=DefCpuPerGPU=4,DefMemPerGPU=2G");
    assert_clean(&r);
    assert_int_equal(r.conf->def_cpu_per_gpu, 4);
    assert_int_equal(r.conf->def_mem_per_gpu, 2048);
    reading_done(&r);
}

TEST(preemption_needs_both_a_type_and_a_mode) {
    expect("PreemptMode=CANCEL", "notice: PreemptMode has no effect without PreemptType");
    expect("PreemptType=preempt/partition_prio",
           "notice: PreemptType has no effect while PreemptMode is OFF");
    struct reading r = read_conf("PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n"
                                 "PartitionName=urgent Nodes=n1 PriorityTier=2");
    assert_clean(&r);
    assert_int_equal(r.conf->preempt_mode, CONF_PREEMPT_MODE_CANCEL);
    reading_done(&r);
}

#define TIERS "PreemptType=preempt/partition_prio\n"

TEST(combinations_of_preemption_that_cannot_work_are_told_with_the_cure) {
    expect(TIERS "PreemptMode=SUSPEND", "error: PreemptMode=SUSPEND needs GANG");
    expect("PreemptMode=GANG", "notice: PreemptMode=GANG has no effect while no partition has");
    expect(TIERS "PreemptMode=CANCEL,REQUEUE", "error: PreemptMode: CANCEL, REQUEUE and SUSPEND");
    expect(TIERS "PreemptMode=PRIORITY", "error: PreemptMode: PRIORITY and WITHIN say who");
    expect(TIERS "PreemptMode=CANCEL,WITHIN", "error: PreemptMode=WITHIN is about jobs of one QOS");
    expect(TIERS "PreemptMode=CANCEL\nPartitionName=a Nodes=n1\n"
                 "PartitionName=b Nodes=n1",
           "notice: PreemptType=preempt/partition_prio has no effect while all partitions have "
           "PriorityTier=1");
    expect(TIERS "PreemptMode=CANCEL\nPartitionName=a Nodes=n1\n"
                 "PartitionName=b Nodes=n1 PriorityTier=2 PreemptMode=SUSPEND",
           "error: PreemptMode=SUSPEND needs GANG");
    expect("PartitionName=a Nodes=n1 GraceTime=10",
           "notice: GraceTime of partition a has no effect without PreemptType");
}

TEST(what_a_qos_gives_a_job_is_not_said_to_be_without_effect) {
    struct reading r = read_conf("PreemptType=preempt/qos\nPreemptMode=CANCEL,WITHIN\n"
                                 "PriorityWeightQOS=10 PriorityFlags=NO_NORMAL_QOS");
    assert_clean(&r);
    reading_done(&r);
}

TEST(the_bound_on_unkillable_tasks_follows_the_message_timeout) {
    struct reading r = read_conf("MessageTimeout=100");
    assert_int_equal(r.conf->unkillable_step_timeout, 500);
    reading_done(&r);
    r = read_conf("MessageTimeout=100 UnkillableStepTimeout=70");
    assert_int_equal(r.conf->unkillable_step_timeout, 70);
    reading_done(&r);
}

TEST(paths_are_absolute_and_job_ids_in_order) {
    expect("StateSaveLocation=var/spool",
           "error: StateSaveLocation: \"var/spool\" is no absolute path");
    expect("FirstJobId=100 MaxJobId=50", "error: FirstJobId=100 is above MaxJobId=50");
}

TEST(a_cluster_without_nodes_or_partitions_is_told_what_to_add) {
    struct reading r = read_bare("ClusterName=c SlurmctldHost=h\n");
    assert_int_equal(r.result, 0);
    assert_reported(&r, "notice: there is no NodeName line, so no job can run; slurmd -C prints "
                        "the line of a host");
    assert_reported(&r, "notice: there is no PartitionName line, so no job will be accepted; for "
                        "one: PartitionName=main Nodes=ALL Default=YES");
    reading_done(&r);
    r = read_bare("ClusterName=c SlurmctldHost=h NodeName=n1\nPartitionName=p Nodes=n1");
    assert_reported(&r, "notice: no partition has Default=YES, so every job must name one");
    reading_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cluster_and_its_controller_are_required),
        cmocka_unit_test(the_name_of_the_cluster_is_lower_case),
        cmocka_unit_test(controllers_have_names_and_addresses_and_an_order),
        cmocka_unit_test(the_old_name_of_the_controller_is_taken_when_there_is_no_new_one),
        cmocka_unit_test(association_limits_in_slurm_conf_are_taken_for_account_root_and_taught),
        cmocka_unit_test(strict_conf_refuses_association_limits_wherever_it_stands),
        cmocka_unit_test(limits_imply_associations),
        cmocka_unit_test(what_follows_from_an_enforcement_is_set_and_told),
        cmocka_unit_test(enforcing_without_accounting_is_told),
        cmocka_unit_test(all_resource_limits_are_propagated_unless_some_are_named),
        cmocka_unit_test(cores_and_memory_are_handed_out_unless_told_otherwise),
        cmocka_unit_test(the_two_forms_of_a_memory_limit_exclude_each_other),
        cmocka_unit_test(job_defaults_are_the_defaults_per_gpu),
        cmocka_unit_test(preemption_needs_both_a_type_and_a_mode),
        cmocka_unit_test(combinations_of_preemption_that_cannot_work_are_told_with_the_cure),
        cmocka_unit_test(what_a_qos_gives_a_job_is_not_said_to_be_without_effect),
        cmocka_unit_test(the_bound_on_unkillable_tasks_follows_the_message_timeout),
        cmocka_unit_test(paths_are_absolute_and_job_ids_in_order),
        cmocka_unit_test(a_cluster_without_nodes_or_partitions_is_told_what_to_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
