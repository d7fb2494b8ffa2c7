/* SPDX-License-Identifier: Apache-2.0 */
/* Finding rows by name. */
#include "test_conf.h"

static const struct conf_key *find(const struct conf_table *table, const char *name) {
    return conf_key_find(table, name, strlen(name));
}

TEST(a_key_is_found_in_any_case) {
    assert_string_equal(find(&conf_main_table, "slurmctldPORT")->name, "SlurmctldPort");
    assert_null(find(&conf_main_table, "SlurmctldPor"));
    assert_null(find(&conf_main_table, ""));
}

TEST(the_index_finds_what_the_search_finds) {
    uint16_t index[CONF_INDEX_SIZE];
    struct conf_table table = conf_main_table;
    conf_index_build(&table, index);
    table.index = index;
    for (size_t i = 0; i < table.n; i++) {
        const char *name = table.keys[i].name;
        assert_ptr_equal(find(&table, name), find(&conf_main_table, name));
    }
    assert_null(find(&table, "Nonsense"));
}

TEST(an_older_name_finds_the_row_that_counts) {
    assert_string_equal(find(&conf_main_table, "jobcontainertype")->name, "NamespaceType");
    assert_string_equal(find(&conf_partition_table, "Shared")->name, "OverSubscribe");
    assert_string_equal(find(&conf_node_table, "Procs")->name, "CPUs");
}

TEST(a_line_of_show_config_without_a_key_cannot_be_set) {
    assert_null(find(&conf_main_table, "BOOT_TIME"));
    assert_null(find(&conf_main_table, "SLURM_VERSION"));
}

TEST(a_misspelt_key_has_a_nearest_one) {
    assert_string_equal(conf_key_nearest(&conf_main_table, "SlurmctlPort"), "SlurmctldPort");
    assert_string_equal(conf_key_nearest(&conf_cgroup_table, "ConstrainRAM"), "ConstrainRAMSpace");
    assert_null(conf_key_nearest(&conf_main_table, "Xyzzyqwertyuiop"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_found_in_any_case),
        cmocka_unit_test(the_index_finds_what_the_search_finds),
        cmocka_unit_test(an_older_name_finds_the_row_that_counts),
        cmocka_unit_test(a_line_of_show_config_without_a_key_cannot_be_set),
        cmocka_unit_test(a_misspelt_key_has_a_nearest_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
