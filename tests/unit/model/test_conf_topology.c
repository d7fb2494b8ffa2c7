/* SPDX-License-Identifier: Apache-2.0 */
/* topology.conf as a tree. */
#include "test_conf.h"

static struct reading read_tree_as(const char *topology, enum conf_role role) {
    const struct memory_file files[] = {
        {"/e/slurm.conf", "ClusterName=test SlurmctldHost=head TopologyPlugin=topology/tree\n"
                          "NodeName=n[1-6] CPUs=4\nPartitionName=main Nodes=n[1-6] Default=YES\n"},
        {"/e/topology.conf", topology},
    };
    return read_files(files, topology ? 2 : 1, role);
}

static struct reading read_tree(const char *topology) {
    return read_tree_as(topology, CONF_SLURMCTLD);
}

static void expect_errors(const char *topology, const char *report) {
    struct reading r = read_tree(topology);

    assert_int_equal(r.result, -ERR_CONFIG);
    assert_string_equal(str_cstr(&r.text), report);
    reading_done(&r);
}

TEST(switches_know_their_level_their_nodes_and_who_is_above) {
    struct reading r = read_tree("SwitchName=top Switches=s[1-2]\nSwitchName=s2 Nodes=n[4-6]\n"
                                 "SwitchName=s1 Nodes=n[1-3] LinkSpeed=10\n");

    assert_int_equal(r.result, 0);
    assert_int_equal(r.conf->n_switches, 3);
    const struct conf_tree_switch *top = &r.conf->switches[0], *s1 = &r.conf->switches[2];
    assert_string_equal(top->name, "top");
    assert_string_equal(top->nodes, "n[1-6]");
    assert_string_equal(top->switches, "s[1-2]");
    assert_int_equal(top->level, 1);
    assert_int_equal(top->parent, CONF_NO_SWITCH);
    assert_string_equal(s1->nodes, "n[1-3]");
    assert_null(s1->switches);
    assert_int_equal(s1->level, 0);
    assert_int_equal(s1->parent, 0);
    assert_int_equal(s1->link_speed, 10);
    assert_int_equal(conf_leaf_of(r.conf, "n4"), 1);
    assert_int_equal(conf_leaf_of(r.conf, "nobody"), CONF_NO_SWITCH);
    reading_done(&r);
}

TEST(a_node_has_an_address_from_the_top) {
    struct reading r = read_tree("SwitchName=top Switches=s[1-2]\nSwitchName=s2 Nodes=n[4-5]\n"
                                 "SwitchName=s1 Nodes=n[1-3]\n");
    cleanup_str struct str address = STR_INIT, pattern = STR_INIT;

    conf_topology_address(r.conf, "n4", &address, &pattern);
    assert_string_equal(address.data, "top.s2.n4");
    assert_string_equal(pattern.data, "switch.switch.node");
    str_reset(&address);
    str_reset(&pattern);
    conf_topology_address(r.conf, "n6", &address, &pattern);
    assert_string_equal(address.data, "n6");
    assert_string_equal(pattern.data, "node");
    assert_string_equal(str_cstr(&r.text),
                        "/e/topology.conf: notice: node n6 is at no switch: far from all others\n");
    reading_done(&r);
}

TEST(what_is_wrong_with_a_tree_is_told_with_its_line) {
    expect_errors("SwitchName=s1 Nodes=n[1-3]\nSwitchName=s2 Nodes=n[3-7]\n",
                  "/e/topology.conf:2: error: node n3 is at switch s1 already (line 1): a node is "
                  "at one leaf\n"
                  "/e/topology.conf:2: notice: switch s2: n7 has no NodeName line: left out\n");
    expect_errors(
        "SwitchName=s1 Nodes=n[1-6]\nSwitchName=top Switches=s[1-2]\n",
        "/e/topology.conf:2: error: switch top: there is no switch s2; it needs a line of "
        "its own\n");
    expect_errors("SwitchName=s1 Nodes=n[1-6]\nSwitchName=a Switches=b,s1\nSwitchName=b "
                  "Switches=a\n",
                  "/e/topology.conf:1: error: switch s1 is above itself: Switches= must not make a "
                  "loop\n");
    expect_errors("SwitchName=s1 Nodes=n[1-3]\nSwitchName=s1 Nodes=n[4-6]\n",
                  "/e/topology.conf:2: error: switch s1 is defined a second time (first in line "
                  "1)\n");
    expect_errors("SwitchName=s1\n",
                  "/e/topology.conf:1: error: switch s1 needs either Nodes= or Switches=\n");
}

TEST(nodes_that_are_not_configured_are_left_out_and_told) {
    struct reading r = read_tree("SwitchName=s1 Nodes=n[1-8]\n");

    assert_int_equal(r.result, 0);
    assert_string_equal(
        str_cstr(&r.text),
        "/e/topology.conf:1: notice: switch s1: n[7-8] have no NodeName line: left out\n");
    reading_done(&r);
}

TEST(a_switch_below_two_counts_for_the_first) {
    struct reading r = read_tree("SwitchName=s1 Nodes=n[1-6]\nSwitchName=a Switches=s1\n"
                                 "SwitchName=b Switches=s1\n");

    assert_int_equal(r.result, 0);
    assert_int_equal(r.conf->switches[0].parent, 1);
    assert_string_equal(str_cstr(&r.text),
                        "/e/topology.conf:3: notice: switch s1 is below a and below b: for the "
                        "distance of nodes only the first counts\n");
    reading_done(&r);
}

TEST(the_controller_needs_the_file_and_a_node_does_not) {
    expect_errors(NULL, "/e/topology.conf: error: the file is not there, and "
                        "TopologyPlugin=topology/tree needs it; a line for each switch: "
                        "SwitchName=s0 Nodes=n[0-7]\n");
    struct reading r = read_tree_as(NULL, CONF_SLURMD);
    assert_int_equal(r.result, 0);
    assert_int_equal(r.conf->n_switches, 0);
    reading_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switches_know_their_level_their_nodes_and_who_is_above),
        cmocka_unit_test(a_node_has_an_address_from_the_top),
        cmocka_unit_test(what_is_wrong_with_a_tree_is_told_with_its_line),
        cmocka_unit_test(nodes_that_are_not_configured_are_left_out_and_told),
        cmocka_unit_test(a_switch_below_two_counts_for_the_first),
        cmocka_unit_test(the_controller_needs_the_file_and_a_node_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
