/* SPDX-License-Identifier: Apache-2.0 */
/* gres.conf: devices, counts, node filters. */
#include <stdio.h>

#include "test_conf.h"
#include "text/tres.h"

TEST(a_range_of_files_is_as_many_devices) {
    struct reading r =
        read_beside("", "gres.conf", "Name=gpu Type=a100 File=/dev/nvidia[0-3] Cores=0-7\n");
    assert_clean(&r);
    assert_int_equal(r.conf->n_gres, 1);
    const struct conf_gres *gres = &r.conf->gres[0];
    assert_string_equal(gres->name, "gpu");
    assert_string_equal(gres->type, "a100");
    assert_int_equal(gres->count, 4);
    assert_int_equal(gres->n_files, 4);
    assert_string_equal(gres->files[3], "/dev/nvidia3");
    assert_string_equal(gres->cores, "0-7");
    reading_done(&r);
}

TEST(a_count_stands_alone_or_agrees_with_the_files) {
    struct reading r = read_beside("", "gres.conf",
                                   "Name=gpu Count=4\nName=gpu File=/dev/a "
                                   "Count=1\n");
    assert_clean(&r);
    assert_int_equal(r.conf->gres[0].count, 4);
    assert_int_equal(r.conf->gres[0].n_files, 0);
    reading_done(&r);
    r = read_beside("", "gres.conf", "Name=gpu File=/dev/n[0-3] Count=3\n");
    assert_reported(&r, "gres.conf:1: error: Count=3, but File names 4");
    reading_done(&r);
}

TEST(shares_of_a_device_are_counted_not_devices) {
    struct reading r =
        read_beside("GresTypes=gpu,shard", "gres.conf", "Name=shard File=/dev/nvidia0 Count=8\n");
    assert_int_equal(r.result, 0);
    assert_int_equal(r.conf->gres[0].count, 8);
    reading_done(&r);
}

/* Shares of the node's two GPUs by these lines: "4 4". */
static void assert_shares(const char *lines, const char *expected) {
    static const char conf[] = "GresTypes=gpu,shard\n"
                               "NodeName=g CPUs=4 Gres=gpu:b:1,gpu:a:1,shard:9\n";
    struct reading r = read_beside(conf, "gres.conf", lines);
    struct gres_item share = {(char *) "shard", NULL, 9};
    uint64_t counts[2];
    char text[32];
    assert_int_equal(r.result, 0);
    conf_gres_shares(r.conf, conf_node_find(r.conf, "g"), &share, counts, 2);
    snprintf(text, sizeof(text), "%d %d", (int) counts[0], (int) counts[1]);
    assert_string_equal(text, expected);
    reading_done(&r);
}

TEST(shares_are_dealt_evenly_unless_lines_name_files) {
    assert_shares("", "5 4");
    assert_shares("Name=shard Count=9\n", "5 4");
    assert_shares("Name=gpu Type=a File=/dev/n0\nName=gpu Type=b File=/dev/n1\n"
                  "Name=shard Count=3 File=/dev/n0\nName=shard Count=6 File=/dev/n1\n",
                  "6 3");
    assert_shares("Name=gpu Type=a File=/dev/n0\nName=gpu Type=b File=/dev/n1\n"
                  "Name=shard Count=8 File=/dev/n[0-1]\n",
                  "4 4");
    assert_shares("Name=gpu Type=a File=/dev/n0\nName=gpu Type=b File=/dev/n1\n"
                  "Name=shard Count=9 File=/dev/n0\n",
                  "0 9");
}

TEST(mps_is_of_one_gpu_at_a_time_and_shards_are_of_all_unless_flags_say_so) {
    static const char conf[] = "GresTypes=gpu,shard,mps\n"
                               "NodeName=g CPUs=4 Gres=gpu:2,shard:8,mps:200\n";
    struct gres_item shard = {(char *) "shard", NULL, 8}, mps = {(char *) "mps", NULL, 200};
    struct reading r = read_beside(conf, "gres.conf", "");
    assert_false(conf_gres_shares_one(r.conf, conf_node_find(r.conf, "g"), &shard));
    assert_true(conf_gres_shares_one(r.conf, conf_node_find(r.conf, "g"), &mps));
    reading_done(&r);
    r = read_beside(conf, "gres.conf",
                    "Name=shard Count=8 Flags=one_sharing\nName=mps Count=200 "
                    "Flags=all_sharing\n");
    assert_true(conf_gres_shares_one(r.conf, conf_node_find(r.conf, "g"), &shard));
    assert_false(conf_gres_shares_one(r.conf, conf_node_find(r.conf, "g"), &mps));
    reading_done(&r);
}

TEST(a_line_with_node_names_is_for_those_nodes_only) {
    struct reading r = read_beside("", "gres.conf",
                                   "NodeName=n[1-2] Name=gpu File=/dev/a\nName=gpu File=/dev/b\n");
    assert_clean(&r);
    assert_true(conf_gres_applies(&r.conf->gres[0], "n2"));
    assert_false(conf_gres_applies(&r.conf->gres[0], "n3"));
    assert_true(conf_gres_applies(&r.conf->gres[1], "n3"));
    reading_done(&r);
}

TEST(autodetect_may_stand_alone_or_for_some_nodes) {
    struct reading r = read_beside("", "gres.conf", "AutoDetect=off\nNodeName=n1 AutoDetect=off\n");
    assert_clean(&r);
    assert_int_equal(r.conf->gres[0].autodetect, CONF_AUTODETECT_OFF);
    assert_null(r.conf->gres[0].name);
    reading_done(&r);
}

TEST(errors_name_the_file_and_line) {
    struct reading r = read_beside("", "gres.conf",
                                   "# devices\nNam=gpu\nType=a100\n"
                                   "Name=gpu File=dev/null\n"
                                   "Name=gpu Count=x\nAutoDetect=nvidi\n");
    assert_reported(&r, "gres.conf:2: error: unknown key \"Nam\" in gres.conf (did you mean "
                        "\"Name\"?)");
    assert_reported(&r, "gres.conf:3: error: the line has no Name");
    assert_reported(&r, "gres.conf:4: error: File: \"dev/null\" is no absolute path");
    assert_reported(&r, "gres.conf:5: error: Count: \"x\" is not a number");
    assert_reported(&r, "gres.conf:6: error: AutoDetect: \"nvidi\" is not known (did you mean "
                        "\"nvidia\"?)");
    assert_int_equal(r.report.n_errors, 5);
    reading_done(&r);
}

TEST(a_name_outside_of_grestypes_has_no_effect_and_says_so) {
    struct reading r = read_beside("", "gres.conf", "Name=nic Count=1\n");
    assert_int_equal(r.result, 0);
    assert_reported(&r, "gres.conf:1: notice: nic is not in GresTypes of slurm.conf");
    reading_done(&r);
}

TEST(the_file_may_be_absent) {
    struct reading r = read_conf("");
    assert_clean(&r);
    assert_int_equal(r.conf->n_gres, 0);
    reading_done(&r);
}

TEST(old_keys_are_passed_over_with_a_notice) {
    struct reading r = read_beside("", "gres.conf", "Name=gpu Count=1 CPUs=0-3\ngpu_topology=x\n");
    assert_int_equal(r.result, 0);
    assert_string_equal(r.conf->gres[0].cores, "0-3");
    assert_int_equal(r.conf->n_gres, 1);
    assert_reported(&r, "gres.conf:2: notice: gpu_topology is obsolete");
    reading_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_of_files_is_as_many_devices),
        cmocka_unit_test(a_count_stands_alone_or_agrees_with_the_files),
        cmocka_unit_test(shares_of_a_device_are_counted_not_devices),
        cmocka_unit_test(shares_are_dealt_evenly_unless_lines_name_files),
        cmocka_unit_test(mps_is_of_one_gpu_at_a_time_and_shards_are_of_all_unless_flags_say_so),
        cmocka_unit_test(a_line_with_node_names_is_for_those_nodes_only),
        cmocka_unit_test(autodetect_may_stand_alone_or_for_some_nodes),
        cmocka_unit_test(errors_name_the_file_and_line),
        cmocka_unit_test(a_name_outside_of_grestypes_has_no_effect_and_says_so),
        cmocka_unit_test(the_file_may_be_absent),
        cmocka_unit_test(old_keys_are_passed_over_with_a_notice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
