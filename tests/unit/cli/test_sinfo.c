/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sinfo's grouping, tables, filters and JSON over records in memory.
 * Covers: columns_node.c node_rows.c json_node.c
 */
#include <stdio.h>
#include <string.h>

#include "cli/columns_node.h"
#include "cli/json_dump.h"
#include "golden.h"
#include "sample.h"

#define N_NODES 4
#define N_PARTITIONS 5

struct cluster {
    struct node nodes[N_NODES];
    struct partition partitions[N_PARTITIONS];
    struct rows node_rows, partition_rows;
};

static void cluster_init(struct cluster *cluster) {
    static const char *const names[] = {"n1", "n2", "n3", "n4"};
    memset(cluster, 0, sizeof(*cluster));
    for (uint32_t i = 0; i < N_NODES; i++) {
        cluster->nodes[i] = sample_node(names[i], i);
        rows_push(&cluster->node_rows, &cluster->nodes[i]);
    }
    cluster->partitions[0] = sample_partition("main", "n[1-4]", 0);
    cluster->partitions[0].is_default = true;
    cluster->partitions[1] = sample_partition("short", "n[1-2]", 1);
    cluster->partitions[1].max_time = 30;
    cluster->partitions[1].default_time = 10;
    cluster->partitions[2] = sample_partition("closed", "n[3-4]", 2);
    cluster->partitions[2].state = T("DOWN");
    cluster->partitions[3] = sample_partition("drained", "n[3-4]", 3);
    cluster->partitions[3].state = T("DRAIN");
    cluster->partitions[4] = sample_partition("empty", NULL, 4);
    for (size_t i = 0; i < N_PARTITIONS; i++)
        rows_push(&cluster->partition_rows, &cluster->partitions[i]);
}

/* n1 full, n2 half full, n3 draining, n4 drained. */
static void cluster_busy(struct cluster *cluster) {
    cluster_init(cluster);
    cluster->nodes[0].state = NODE_ALLOCATED;
    cluster->nodes[0].alloc_cpus = 8;
    cluster->nodes[1].state = NODE_MIXED;
    cluster->nodes[1].alloc_cpus = 2;
    cluster->nodes[2].state = NODE_MIXED;
    cluster->nodes[2].alloc_cpus = 2;
    cluster->nodes[2].flags = NODE_FLAG_DRAIN;
    cluster->nodes[2].reason = T("bad disk");
    cluster->nodes[2].reason_user = T("root");
    cluster->nodes[2].reason_time = SAMPLE_NOW - 60;
    cluster->nodes[3].flags = NODE_FLAG_DRAIN;
    cluster->nodes[3].reason = T("fan noise");
    cluster->nodes[3].reason_user = T("root");
    cluster->nodes[3].reason_time = SAMPLE_NOW - 30;
}

static void cluster_done(struct cluster *cluster) {
    rows_done(&cluster->node_rows);
    rows_done(&cluster->partition_rows);
}

static void listing(struct cluster *cluster, const char *text, const char *sort, bool per_node,
                    bool exact, struct str *out) {
    struct format format cleanup_format = FORMAT_INIT;
    struct str unknown cleanup_str = STR_INIT;
    struct sort_spec spec;
    struct rows rows = {NULL, 0, 0};
    struct column_env env = sample_env();
    struct node_rows_options options = {per_node, exact};
    format_parse_letters(&format, &columns_node, text, &unknown);
    assert_int_equal(unknown.length, 0);
    assert_int_equal(sort_parse(&spec, &columns_node, sort, NULL), 0);
    node_rows_build(&cluster->node_rows, &cluster->partition_rows, &format, &options, !per_node,
                    &env, &rows);
    rows_sort(&spec, rows.items, rows.n, &env);
    format_header(&format, out);
    for (size_t i = 0; i < rows.n; i++)
        format_row(&format, rows.items[i], &env, out);
    node_rows_free(&rows);
}

TEST(the_default_table_is_exact) {
    struct cluster cluster;
    struct str out cleanup_str = STR_INIT;
    cluster_busy(&cluster);
    listing(&cluster, "%9P %.5a %.10l %.6D %.6t %N", "#P,-t", false, false, &out);
    golden_check("sinfo/default.txt", &out);
    cluster_done(&cluster);
}

TEST(the_summary_counts_allocated_idle_other_total) {
    struct cluster cluster;
    struct str out cleanup_str = STR_INIT;
    cluster_busy(&cluster);
    listing(&cluster, "%9P %.5a %.10l %.16F %N", "#P,-t", false, false, &out);
    golden_check("sinfo/summary.txt", &out);
    str_reset(&out);
    listing(&cluster, "%A %F %C", "#P,-t", false, false, &out);
    assert_string_equal(str_cstr(&out),
                        "NODES(A/I) NODES(A/I/O/T) CPUS(A/I/O/T)\n3/0 3/0/1/4 12/6/14/32\n");
    cluster_done(&cluster);
}

TEST(each_node_has_a_line_for_each_of_its_partitions) {
    struct cluster cluster;
    struct str out cleanup_str = STR_INIT;
    cluster_busy(&cluster);
    listing(&cluster, "%9N %.6D %.9P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E", "N", true, false,
            &out);
    golden_check("sinfo/nodes_long.txt", &out);
    cluster_done(&cluster);
}

TEST(reasons_merge_across_partitions) {
    struct cluster cluster;
    struct str out cleanup_str = STR_INIT;
    cluster_busy(&cluster);
    listing(&cluster, "%20E %12U %19H %6t %N", "#P,-t", false, false, &out);
    golden_check("sinfo/reasons.txt", &out);
    cluster_done(&cluster);
}

TEST(every_letter_prints) {
    struct cluster cluster;
    struct str out cleanup_str = STR_INIT;
    cluster_busy(&cluster);
    listing(&cluster, "%all", "#P,-t", false, false, &out);
    golden_check("sinfo/all.txt", &out);
    cluster_done(&cluster);
}

TEST(numbers_merge_unless_exact) {
    struct cluster cluster;
    struct str out cleanup_str = STR_INIT;
    cluster_init(&cluster);
    cluster.nodes[2].weight = 10;
    cluster.nodes[3].weight = 20;
    listing(&cluster, "%D %w %N", "#P,-t", false, false, &out);
    assert_string_equal(str_cstr(&out), "NODES WEIGHT NODELIST\n4 1+ n[1-4]\n");
    str_reset(&out);
    listing(&cluster, "%D %w %N", "#P,-t", false, true, &out);
    assert_string_equal(str_cstr(&out), "NODES WEIGHT NODELIST\n2 1 n[1-2]\n1 10 n3\n1 20 n4\n");
    cluster_done(&cluster);
}

TEST(features_split_rows_only_when_shown) {
    struct cluster cluster;
    struct str out cleanup_str = STR_INIT;
    cluster_init(&cluster);
    cluster.nodes[0].features = cluster.nodes[1].features = T("fast,ib");
    cluster.nodes[2].features = T("slow");
    cluster.nodes[3].features = T("slow,big");
    listing(&cluster, "%D %f %N", "#P,-t", false, false, &out);
    assert_string_equal(
        str_cstr(&out),
        "NODES AVAIL_FEATURES NODELIST\n2 fast,ib n[1-2]\n1 slow n3\n1 slow,big n4\n");
    cluster_done(&cluster);
}

TEST(partitions_sort_by_name_or_by_configuration) {
    struct cluster cluster;
    struct str out cleanup_str = STR_INIT;
    cluster_init(&cluster);
    listing(&cluster, "%P", "-P", false, false, &out);
    assert_string_equal(str_cstr(&out), "PARTITION\nshort\nmain*\nempty\ndrained\nclosed\n");
    str_reset(&out);
    listing(&cluster, "%P", "#P", false, false, &out);
    assert_string_equal(str_cstr(&out), "PARTITION\nmain*\nshort\nclosed\ndrained\nempty\n");
    cluster_done(&cluster);
}

/* Names of the nodes that a -t text chooses. */
static void check_states(const char *text, const char *expected) {
    struct cluster cluster;
    struct node_states states = {.all = false};
    struct str out cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    cluster_busy(&cluster);
    if (node_states_parse(&states, text, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < N_NODES; i++) {
        if (node_states_match(&states, &cluster.nodes[i]))
            str_join(&out, ",", cluster.nodes[i].name);
    }
    assert_string_equal(str_cstr(&out), expected);
    node_states_done(&states);
    cluster_done(&cluster);
}

TEST(states_choose_nodes) {
    check_states("drain", "n3,n4");
    check_states("drained", "n4");
    check_states("drng", "n3");
    check_states("alloc", "n1,n2,n3");
    check_states("mix,idle", "n2,n4");
    check_states("idle&drain", "n4");
    check_states("~drain", "n1,n2");
    check_states("all", "n1,n2,n3,n4");
    check_states("down", "");
}

TEST(an_unknown_state_is_quoted) {
    struct node_states states = {.all = false};
    struct error err = ERROR_INIT;
    assert_true(node_states_parse(&states, "foo", &err) < 0);
    assert_string_equal(err.text, "Bad state string: \"foo\"");
    node_states_done(&states);
}

TEST(the_json_of_nodes_and_partitions_is_exact) {
    struct cluster cluster;
    struct str out cleanup_str = STR_INIT;
    struct column_env env = sample_env();
    struct json json;
    cluster_busy(&cluster);
    json_init(&json, JSON_PRETTY, &out);
    json_array(&json, NULL);
    json_node(&json, &cluster.nodes[2], &env);
    json_partition(&json, NULL, &cluster.partitions[1], &env);
    json_end(&json);
    json_finish(&json);
    golden_check("sinfo/nodes.json", &out);
    cluster_done(&cluster);
}

TEST(the_manual_has_every_column) {
    check_manual(columns_node, "sinfo.1.scd");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_table_is_exact),
        cmocka_unit_test(the_summary_counts_allocated_idle_other_total),
        cmocka_unit_test(each_node_has_a_line_for_each_of_its_partitions),
        cmocka_unit_test(reasons_merge_across_partitions),
        cmocka_unit_test(every_letter_prints),
        cmocka_unit_test(numbers_merge_unless_exact),
        cmocka_unit_test(features_split_rows_only_when_shown),
        cmocka_unit_test(partitions_sort_by_name_or_by_configuration),
        cmocka_unit_test(states_choose_nodes),
        cmocka_unit_test(an_unknown_state_is_quoted),
        cmocka_unit_test(the_json_of_nodes_and_partitions_is_exact),
        cmocka_unit_test(the_manual_has_every_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
