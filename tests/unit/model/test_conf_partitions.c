/* SPDX-License-Identifier: Apache-2.0 */
/* Partition lines: their nodes, defaults, old keys. */
#include "test_conf.h"

#include "text/duration.h"

static const struct conf_partition *partition(const struct reading *r, const char *name) {
    assert_clean(r);
    const struct conf_partition *found = conf_partition_find(r->conf, name);
    assert_non_null(found);
    return found;
}

static void assert_nodes(const char *nodes, const char *folded) {
    cleanup_free char *text =
        xasprintf("NodeName=c[01-10] Feature=fast\nNodeName=b[1-2] Feature=slow,old\n"
                  "NodeSet=quick Feature=fast\nNodeSet=two Nodes=b[1-2]\n"
                  "PartitionName=p Nodes=%s",
                  nodes);
    struct reading r = read_conf(text);
    assert_string_equal(partition(&r, "p")->nodes_text, folded);
    reading_done(&r);
}

static void assert_error(const char *line, const char *error) {
    struct reading r = read_conf(line);
    cleanup_free char *expected = xasprintf("/etc/slurm/slurm.conf:2: error: %s\n", error);
    assert_string_equal(str_cstr(&r.text), expected);
    reading_done(&r);
}

TEST(a_plain_partition_line_works_as_written) {
    struct reading r =
        read_bare("ClusterName=t\nSlurmctldHost=h\nNodeName=c[01-10]\n"
                  "PartitionName=comp_sci Nodes=c[01-10] Default=YES MaxTime=INFINITE State=UP\n");
    const struct conf_partition *p = partition(&r, "comp_sci");
    assert_string_equal(p->nodes_text, "c[01-10]");
    assert_int_equal(bits_count(&p->nodes), 10);
    assert_true(p->is_default);
    assert_ptr_equal(conf_partition_default(r.conf), p);
    assert_int_equal(p->max_time, MINUTES_INFINITE);
    assert_int_equal(p->default_time, MINUTES_UNSET);
    assert_int_equal(p->state, CONF_PART_STATE_UP);
    assert_int_equal(p->priority_tier, 1);
    assert_true(p->max_mem_per_node == CONF_UNSET);
    assert_null(p->allow_groups);
    reading_done(&r);
}

TEST(nodes_are_a_list_all_node_sets_or_a_mix) {
    assert_nodes("c[02-03],c01", "c[01-03]");
    assert_nodes("ALL", "b[1-2],c[01-10],n1");
    assert_nodes("quick", "c[01-10]");
    assert_nodes("two,c05,n1", "b[1-2],c05,n1");
    assert_nodes("\"c01, c02\"", "c[01-02]");
}

TEST(partitions_over_the_same_nodes_have_their_own_sets_of_them) {
    struct reading r = read_conf("PartitionName=a Nodes=ALL\nPartitionName=b Nodes=ALL");
    assert_string_equal(partition(&r, "b")->nodes_text, "n1");
    assert_true(bits_equal(&partition(&r, "a")->nodes, &partition(&r, "b")->nodes));
    assert_ptr_not_equal(partition(&r, "a")->nodes.words, partition(&r, "b")->nodes.words);
    reading_done(&r);
}

TEST(node_sets_are_remembered_by_name) {
    struct reading r = read_conf("NodeSet=s Nodes=n1\nPartitionName=p Nodes=s");
    assert_string_equal(partition(&r, "p")->node_sets, "s");
    reading_done(&r);
}

TEST(unknown_nodes_are_told_with_their_partition) {
    assert_error("PartitionName=p Nodes=n1,n[2-5]",
                 "partition p: nodes n[2-5] have no NodeName line (did you mean \"n1\"?)");
    assert_error("PartitionName=p Nodes=vmx", "partition p: node vmx has no NodeName line");
}

TEST(a_partition_without_nodes_is_allowed) {
    struct reading r = read_conf("PartitionName=empty");
    assert_null(partition(&r, "empty")->nodes_text);
    assert_int_equal(bits_count(&partition(&r, "empty")->nodes), 0);
    reading_done(&r);
}

TEST(default_lines_add_up) {
    struct reading r = read_conf("PartitionName=DEFAULT MaxTime=60 State=DOWN\n"
                                 "PartitionName=DEFAULT PriorityTier=5\n"
                                 "PartitionName=a Nodes=n1\nPartitionName=b Nodes=n1 MaxTime=2-0");
    assert_int_equal(partition(&r, "a")->max_time, 60);
    assert_int_equal(partition(&r, "a")->priority_tier, 5);
    assert_int_equal(partition(&r, "b")->max_time, 2880);
    assert_int_equal(partition(&r, "b")->state, CONF_PART_STATE_DOWN);
    reading_done(&r);
}

TEST(the_last_default_partition_is_the_default) {
    struct reading r = read_conf("PartitionName=a Nodes=n1 Default=YES");
    assert_reported(&r, "notice: partitions a and main are both Default=YES; main is the default");
    assert_string_equal(conf_partition_default(r.conf)->name, "main");
    assert_false(conf_partition_find(r.conf, "a")->is_default);
    reading_done(&r);
}

TEST(a_partition_defined_twice_is_an_error) {
    struct reading r = read_conf("PartitionName=main Nodes=n1");
    assert_reported(&r, "slurm.conf:3: error: partition main is defined twice (first in "
                        "/etc/slurm/slurm.conf:2)");
    reading_done(&r);
}

TEST(old_keys_mean_what_they_meant) {
    struct reading r = read_conf("PartitionName=a Nodes=n1 Priority=10\n"
                                 "PartitionName=b Nodes=n1 Priority=10 PriorityTier=3\n"
                                 "PartitionName=c Nodes=n1 ExclusiveUser=YES\n"
                                 "PartitionName=d Nodes=n1 ExclusiveUser=YES Exclusive=NODE");
    assert_int_equal(partition(&r, "a")->priority_tier, 10);
    assert_int_equal(partition(&r, "a")->priority_job_factor, 10);
    assert_int_equal(partition(&r, "b")->priority_tier, 3);
    assert_int_equal(partition(&r, "b")->priority_job_factor, 10);
    assert_int_equal(partition(&r, "c")->exclusive, CONF_PART_EXCLUSIVE_USER);
    assert_int_equal(partition(&r, "d")->exclusive, CONF_PART_EXCLUSIVE_NODE);
    reading_done(&r);
}

TEST(exclusive_topo_is_an_old_form_without_effect_yet) {
    struct reading r = read_conf("PartitionName=a Nodes=n1 ExclusiveTopo=YES");
    assert_reported(&r, "notice: ExclusiveTopo in a PartitionName line has no effect yet");
    assert_int_equal(conf_partition_find(r.conf, "a")->exclusive, CONF_PART_EXCLUSIVE_TOPO);
    reading_done(&r);
}

TEST(all_in_a_list_of_who_may_is_no_restriction) {
    struct reading r = read_conf("PartitionName=a Nodes=n1 AllowGroups=ALL AllowAccounts=x,y "
                                 "AllowQOS=all DenyQOS=z");
    assert_null(partition(&r, "a")->allow_groups);
    assert_null(partition(&r, "a")->allow_qos);
    assert_string_equal(partition(&r, "a")->allow_accounts, "x,y");
    assert_string_equal(partition(&r, "a")->deny_qos, "z");
    reading_done(&r);
}

TEST(one_form_of_a_memory_limit_replaces_the_other_of_a_default_line) {
    struct reading r = read_conf("PartitionName=DEFAULT DefMemPerNode=100\n"
                                 "PartitionName=a Nodes=n1 DefMemPerCPU=10");
    assert_int_equal(partition(&r, "a")->def_mem_per_cpu, 10);
    assert_true(partition(&r, "a")->def_mem_per_node == CONF_UNSET);
    reading_done(&r);
    assert_error("PartitionName=a Nodes=n1 DefMemPerCPU=10 DefMemPerNode=10",
                 "partition a: DefMemPerCPU and DefMemPerNode exclude each other");
}

TEST(a_default_time_of_none_is_the_maximum) {
    struct reading r = read_conf("PartitionName=DEFAULT DefaultTime=10\n"
                                 "PartitionName=a Nodes=n1 DefaultTime=NONE");
    assert_int_equal(partition(&r, "a")->default_time, MINUTES_UNSET);
    reading_done(&r);
}

TEST(job_defaults_of_a_partition_are_its_defaults_per_gpu) {
    struct reading r = read_conf("PartitionName=a Nodes=n1 JobDefaults=DefCpuPerGPU=4,"
                                 "DefMemPerGPU=100");
    assert_int_equal(partition(&r, "a")->def_cpu_per_gpu, 4);
    assert_int_equal(partition(&r, "a")->def_mem_per_gpu, 100);
    assert_string_equal(partition(&r, "a")->job_defaults, "DefCpuPerGPU=4,DefMemPerGPU=100");
    reading_done(&r);
    assert_error("PartitionName=a Nodes=n1 JobDefaults=DefCpuPerGpus=4",
                 "JobDefaults: unknown option \"DefCpuPerGpus\" (did you mean "
                 "\"DefCpuPerGPU\"?)");
}

TEST(a_default_above_the_limit_is_the_limit) {
    struct reading r = read_conf("PartitionName=DEFAULT DefaultTime=10\n"
                                 "PartitionName=a Nodes=n1 MaxTime=5");
    const struct conf_partition *found = conf_partition_find(r.conf, "a");
    assert_int_equal(found->default_time, MINUTES_UNSET);
    assert_int_equal(found->max_time, 5);
    assert_reported(&r, "slurm.conf:3: notice: partition a: DefaultTime is longer than MaxTime");
    reading_done(&r);
}

TEST(limits_that_contradict_are_errors) {
    assert_error("PartitionName=a Nodes=n1 MinNodes=3 MaxNodes=2",
                 "partition a: MinNodes=3 is more than MaxNodes=2");
}

TEST(a_node_set_says_which_nodes) {
    assert_error("NodeSet=x", "NodeSet x needs either Feature= or Nodes=");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_partition_line_works_as_written),
        cmocka_unit_test(nodes_are_a_list_all_node_sets_or_a_mix),
        cmocka_unit_test(partitions_over_the_same_nodes_have_their_own_sets_of_them),
        cmocka_unit_test(node_sets_are_remembered_by_name),
        cmocka_unit_test(unknown_nodes_are_told_with_their_partition),
        cmocka_unit_test(a_partition_without_nodes_is_allowed),
        cmocka_unit_test(default_lines_add_up),
        cmocka_unit_test(the_last_default_partition_is_the_default),
        cmocka_unit_test(a_partition_defined_twice_is_an_error),
        cmocka_unit_test(old_keys_mean_what_they_meant),
        cmocka_unit_test(exclusive_topo_is_an_old_form_without_effect_yet),
        cmocka_unit_test(all_in_a_list_of_who_may_is_no_restriction),
        cmocka_unit_test(one_form_of_a_memory_limit_replaces_the_other_of_a_default_line),
        cmocka_unit_test(a_default_time_of_none_is_the_maximum),
        cmocka_unit_test(job_defaults_of_a_partition_are_its_defaults_per_gpu),
        cmocka_unit_test(a_default_above_the_limit_is_the_limit),
        cmocka_unit_test(limits_that_contradict_are_errors),
        cmocka_unit_test(a_node_set_says_which_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
