/* SPDX-License-Identifier: Apache-2.0 */
/* Node lines: ranges, companions, topology, DEFAULT, DownNodes. */
#include "test_conf.h"

static const struct conf_node *node(const struct reading *r, const char *name) {
    assert_clean(r);
    const struct conf_node *found = conf_node_find(r->conf, name);
    assert_non_null(found);
    return found;
}

static void assert_topology(const char *keys, unsigned cpus, unsigned sockets, unsigned cores,
                            unsigned threads) {
    cleanup_free char *line = xasprintf("NodeName=x %s", keys);
    struct reading r = read_conf(line);
    const struct conf_node *x = node(&r, "x");
    assert_int_equal(x->cpus, cpus);
    assert_int_equal(x->sockets, sockets);
    assert_int_equal(x->cores_per_socket, cores);
    assert_int_equal(x->threads_per_core, threads);
    reading_done(&r);
}

static void assert_error(const char *line, const char *error) {
    struct reading r = read_conf(line);
    cleanup_free char *expected = xasprintf("/etc/slurm/slurm.conf:2: error: %s\n", error);
    assert_string_equal(str_cstr(&r.text), expected);
    assert_int_equal(r.result, -ERR_CONFIG);
    assert_null(r.conf);
    reading_done(&r);
}

TEST(a_range_defines_a_node_for_each_name) {
    struct reading r = read_conf("NodeName=c[01-10] CPUs=8 RealMemory=16G Weight=3 Feature=a,b");
    assert_clean(&r);
    assert_int_equal(r.conf->n_nodes, 11);
    const struct conf_node *c07 = node(&r, "c07");
    assert_int_equal(c07->index, 7);
    assert_int_equal(c07->real_memory, 16384);
    assert_int_equal(c07->weight, 3);
    assert_string_equal(c07->features, "a,b");
    assert_string_equal(c07->hostname, "c07");
    assert_string_equal(c07->address, "c07");
    assert_int_equal(c07->port, 6818);
    assert_null(conf_node_find(r.conf, "c7"));
    assert_null(conf_node_find(r.conf, "C07")); /* node names have a case */
    reading_done(&r);
}

TEST(addresses_host_names_and_ports_go_along_with_the_names) {
    struct reading r = read_conf("NodeName=c[1-3] NodeHostname=h[11-13] NodeAddr=10.0.0.[1-3] "
                                 "Port=[7001-7003]");
    const struct conf_node *c2 = node(&r, "c2");
    assert_string_equal(c2->hostname, "h12");
    assert_string_equal(c2->address, "10.0.0.2");
    assert_int_equal(c2->port, 7002);
    reading_done(&r);
}

TEST(one_host_and_address_may_serve_all_names) {
    struct reading r = read_conf("NodeName=c[1-2] NodeHostname=vm NodeAddr=127.0.0.1 Port=[71,72]");
    assert_string_equal(node(&r, "c1")->hostname, "vm");
    assert_string_equal(node(&r, "c2")->hostname, "vm");
    assert_int_equal(node(&r, "c2")->port, 72);
    reading_done(&r);
}

TEST(an_address_defaults_to_the_host_name) {
    struct reading r = read_conf("NodeName=c1 NodeHostname=real");
    assert_string_equal(node(&r, "c1")->address, "real");
    reading_done(&r);
}

TEST(lists_of_unequal_length_are_an_error) {
    assert_error("NodeName=e[1-3] NodeAddr=10.0.0.[1-2]",
                 "NodeAddr names 2, but NodeName names 3: give as many, or one for all");
}

TEST(a_node_without_a_port_listens_where_slurmdport_says) {
    struct reading r = read_conf("NodeName=c1\nSlurmdPort=7000");
    assert_int_equal(node(&r, "c1")->port, 7000);
    reading_done(&r);
}

TEST(cpus_alone_are_cores_of_one_socket) {
    assert_topology("CPUs=64", 64, 1, 64, 1);
}

TEST(cpus_follow_from_sockets_cores_and_threads) {
    assert_topology("Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 32, 2, 8, 2);
    assert_topology("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", 16, 4, 4, 1);
    assert_topology("", 1, 1, 1, 1);
}

TEST(boards_are_counted) {
    struct reading r = read_conf("NodeName=x Boards=2 SocketsPerBoard=3\nNodeName=y Sockets=2");
    assert_int_equal(node(&r, "x")->boards, 2);
    assert_int_equal(node(&r, "x")->sockets, 6);
    assert_int_equal(node(&r, "y")->boards, 1);
    reading_done(&r);
}

TEST(the_missing_factor_follows_from_cpus) {
    assert_topology("CPUs=64 CoresPerSocket=16 ThreadsPerCore=2", 64, 2, 16, 2);
    assert_topology("CPUs=64 Sockets=2", 64, 2, 32, 1);
    assert_topology("CPUs=64 ThreadsPerCore=2", 64, 1, 32, 2);
    assert_topology("Procs=8 CoresPerSocket=4", 8, 2, 4, 1);
}

TEST(cpus_may_count_cores_instead_of_threads) {
    assert_topology("CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 16, 2, 8, 2);
}

TEST(a_topology_that_does_not_agree_is_an_error) {
    assert_error("NodeName=x CPUs=7 Sockets=2 CoresPerSocket=2",
                 "CPUs=7 is neither Sockets=2 times CoresPerSocket=2 (4) nor that times "
                 "ThreadsPerCore=1 (4)");
    assert_error("NodeName=x Boards=2 SocketsPerBoard=2 Sockets=3",
                 "Sockets=3 is not Boards=2 times SocketsPerBoard=2 (4)");
    assert_error("NodeName=x CPUs=7 Sockets=2", "CPUs=7 cannot be divided by the 2 that the other "
                                                "keys give, so CoresPerSocket does not follow");
    assert_error(
        "NodeName=x Sockets=60000 CoresPerSocket=60000 ThreadsPerCore=60000",
        "Sockets=60000 CoresPerSocket=60000 ThreadsPerCore=60000 are 216000000000000 CPUs; "
        "a node has at most 65533");
}

TEST(default_lines_add_up_for_the_lines_below) {
    struct reading r = read_conf("NodeName=DEFAULT Sockets=2 CoresPerSocket=4\n"
                                 "NodeName=a\n"
                                 "NodeName=default RealMemory=500\n"
                                 "NodeName=b CoresPerSocket=8");
    assert_int_equal(node(&r, "a")->cpus, 8);
    assert_int_equal(node(&r, "a")->real_memory, 1);
    assert_int_equal(node(&r, "b")->cpus, 16);
    assert_int_equal(node(&r, "b")->real_memory, 500);
    assert_null(conf_node_find(r.conf, "DEFAULT"));
    reading_done(&r);
}

TEST(a_node_defined_twice_is_an_error_that_names_both_places) {
    assert_error("NodeName=n1,m1,n2",
                 "node n1 is defined twice (first in /etc/slurm/slurm.conf:1)");
    struct reading r = read_conf("NodeName=c[1-4]\nNodeName=c[3-6]");
    assert_reported(&r, "slurm.conf:3: error: nodes c[3-4] are defined twice (first in "
                        "/etc/slurm/slurm.conf:2)");
    reading_done(&r);
}

TEST(gres_of_a_node_are_parsed_and_must_be_in_grestypes) {
    struct reading r = read_conf("NodeName=g Gres=gpu:a100:4,gpu:v100:2");
    const struct conf_node *g = node(&r, "g");
    assert_string_equal(g->gres_text, "gpu:a100:4,gpu:v100:2");
    assert_int_equal(g->gres->n, 2);
    assert_string_equal(g->gres->items[0].type, "a100");
    assert_int_equal(g->gres->items[1].count, 2);
    assert_null(conf_node_find(r.conf, "n1")->gres);
    reading_done(&r);
    assert_error("NodeName=g Gres=nic:2",
                 "Gres: \"nic\" is not in GresTypes (gpu); add GresTypes=gpu,nic");
}

TEST(state_and_reason_come_from_the_line_or_from_downnodes) {
    struct reading r = read_conf("NodeName=a State=DRAIN Reason=\"bad fan\"\nNodeName=b,c\n"
                                 "DownNodes=c Reason=\"power off\"");
    assert_int_equal(node(&r, "a")->state, CONF_NODE_STATE_DRAIN);
    assert_string_equal(node(&r, "a")->reason, "bad fan");
    assert_int_equal(node(&r, "b")->state, CONF_NODE_STATE_UNKNOWN);
    assert_int_equal(node(&r, "c")->state, CONF_NODE_STATE_DOWN);
    assert_string_equal(node(&r, "c")->reason, "power off");
    reading_done(&r);
    assert_error("DownNodes=zz", "DownNodes: node zz has no NodeName line");
}

TEST(shares_of_gpus_need_gpus_and_not_too_many) {
    struct reading r = read_conf("GresTypes=gpu,shard\nNodeName=g CPUs=4 Gres=gpu:1,shard:8");
    assert_int_equal(r.result, 0);
    assert_null(strstr(str_cstr(&r.text), "share of GPUs"));
    reading_done(&r);
    r = read_conf("GresTypes=gpu,shard\nNodeName=g CPUs=4 Gres=shard:8");
    assert_reported(&r, "Gres: shard is a share of GPUs, and the node has none");
    reading_done(&r);
    r = read_conf("GresTypes=gpu,mps\nNodeName=g CPUs=4 Gres=gpu:a:9,gpu:b:9,mps:800");
    assert_reported(&r, "more than 16 of them");
    reading_done(&r);
}

TEST(a_state_with_a_typing_error_is_an_error) {
    assert_error("NodeName=a State=UNKNOWNN",
                 "State: \"UNKNOWNN\" is not known (did you mean \"UNKNOWN\"?); the values are "
                 "UNKNOWN, DOWN, DRAIN, FAIL, CLOUD, FUTURE, EXTERNAL");
}

TEST(a_bad_range_or_name_is_an_error) {
    struct reading r = read_conf("NodeName=d[4-1]");
    assert_reported(&r, "error: NodeName: Invalid hostlist: d[4-1]");
    reading_done(&r);
    assert_error("NodeName=a/b", "NodeName: \"a/b\" is no node name (letters, digits, \"-\", \"_\" "
                                 "and \".\", at most 255)");
    assert_error("NodeName=", "NodeName names no node");
}

TEST(a_key_without_effect_is_told_once_for_all_lines) {
    struct reading r = read_conf("NodeName=a CoreSpecCount=1\nNodeName=b CoreSpecCount=2");
    assert_string_equal(str_cstr(&r.text), "/etc/slurm/slurm.conf:2: notice: CoreSpecCount in a "
                                           "NodeName line has no effect yet\n");
    reading_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_defines_a_node_for_each_name),
        cmocka_unit_test(addresses_host_names_and_ports_go_along_with_the_names),
        cmocka_unit_test(one_host_and_address_may_serve_all_names),
        cmocka_unit_test(an_address_defaults_to_the_host_name),
        cmocka_unit_test(lists_of_unequal_length_are_an_error),
        cmocka_unit_test(a_node_without_a_port_listens_where_slurmdport_says),
        cmocka_unit_test(cpus_alone_are_cores_of_one_socket),
        cmocka_unit_test(cpus_follow_from_sockets_cores_and_threads),
        cmocka_unit_test(boards_are_counted),
        cmocka_unit_test(the_missing_factor_follows_from_cpus),
        cmocka_unit_test(cpus_may_count_cores_instead_of_threads),
        cmocka_unit_test(a_topology_that_does_not_agree_is_an_error),
        cmocka_unit_test(default_lines_add_up_for_the_lines_below),
        cmocka_unit_test(a_node_defined_twice_is_an_error_that_names_both_places),
        cmocka_unit_test(gres_of_a_node_are_parsed_and_must_be_in_grestypes),
        cmocka_unit_test(state_and_reason_come_from_the_line_or_from_downnodes),
        cmocka_unit_test(shares_of_gpus_need_gpus_and_not_too_many),
        cmocka_unit_test(a_state_with_a_typing_error_is_an_error),
        cmocka_unit_test(a_bad_range_or_name_is_an_error),
        cmocka_unit_test(a_key_without_effect_is_told_once_for_all_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
