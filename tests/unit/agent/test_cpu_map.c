/* SPDX-License-Identifier: Apache-2.0 */
/* From the cores of the controller to the processors of the kernel. */
#include "agent/cpu_map.h"
#include "unit.h"

/* Two sockets of two cores with two threads each; the kernel numbers first threads first. */
static const uint32_t numbers[] = {0, 4, 1, 5, 2, 6, 3, 7}, cores[] = {0, 0, 1, 1, 2, 2, 3, 3},
                      numa[] = {0, 0, 0, 0, 1, 1, 1, 1};
static const struct cpu_hardware hyperthreads = {8, numbers, cores, numa};

/* The processors of the named cores as a number, bit by bit; UINT64_MAX when there are none. */
static uint64_t mask(const struct cpu_map *map, const char *text) {
    struct bits set;
    bits_init(&set, 64);
    uint64_t word = cpu_map_cores(map, text, &set) ? set.words[0] : UINT64_MAX;
    bits_done(&set);
    return word;
}

TEST(a_core_is_all_its_hardware_threads_wherever_the_kernel_numbers_them) {
    struct cpu_map map;
    cpu_map_make(&hyperthreads, 2, 2, 8, &map);
    assert_int_equal(map.cpus_per_core, 2);
    assert_int_equal(cpu_map_size(&map), 8);
    assert_int_equal(mask(&map, "0"), 0x11);
    assert_int_equal(mask(&map, "1-2"), 0x66);
    assert_int_equal(map.numa.items[1], 0);
    assert_int_equal(map.numa.items[2], 1);
    record_done(&record_cpu_map, &map);
}

TEST(a_node_that_counts_cores_as_cpus_gets_whole_cores) {
    struct cpu_map map;
    cpu_map_make(&hyperthreads, 2, 2, 4, &map);
    assert_int_equal(map.cpus_per_core, 1);
    assert_int_equal(mask(&map, "3"), 0x88);
    record_done(&record_cpu_map, &map);
}

TEST(a_node_of_so_many_cpus_and_no_more_gets_one_thread_each) {
    struct cpu_map map;
    cpu_map_make(&hyperthreads, 1, 8, 8, &map);
    assert_int_equal(mask(&map, "0"), 0x01);
    assert_int_equal(mask(&map, "1"), 0x10);
    assert_int_equal(map.numa.items[3], 0);
    assert_int_equal(map.numa.items[4], 1);
    record_done(&record_cpu_map, &map);
}

TEST(a_node_that_claims_less_than_the_machine_gets_its_first_cores) {
    struct cpu_map map;
    cpu_map_make(&hyperthreads, 1, 2, 2, &map);
    assert_int_equal(mask(&map, "0-1"), 0x33);
    record_done(&record_cpu_map, &map);
}

TEST(a_node_that_claims_threads_its_cores_do_not_have_gets_them_from_others) {
    static const uint32_t plain[] = {0, 1}, zero[] = {0, 0};
    const struct cpu_hardware two = {2, plain, plain, zero};
    struct cpu_map map;
    cpu_map_make(&two, 1, 1, 2, &map);
    assert_int_equal(mask(&map, "0"), 0x3);
    record_done(&record_cpu_map, &map);
}

TEST(a_node_that_claims_more_than_the_machine_has_no_map) {
    struct cpu_map map;
    cpu_map_make(&hyperthreads, 2, 8, 16, &map);
    assert_int_equal(cpu_map_size(&map), 0);
    assert_true(mask(&map, "0") == UINT64_MAX);
    record_done(&record_cpu_map, &map);
}

TEST(cores_without_threads_and_unreadable_lists_are_harmless) {
    struct cpu_map map;
    cpu_map_make(&hyperthreads, 2, 2, 8, &map);
    assert_int_equal(mask(&map, "3-9"), 0x88);
    assert_true(mask(&map, "") == UINT64_MAX);
    assert_true(mask(&map, "a-b") == UINT64_MAX);
    assert_true(mask(&map, NULL) == UINT64_MAX);
    record_done(&record_cpu_map, &map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_core_is_all_its_hardware_threads_wherever_the_kernel_numbers_them),
        cmocka_unit_test(a_node_that_counts_cores_as_cpus_gets_whole_cores),
        cmocka_unit_test(a_node_of_so_many_cpus_and_no_more_gets_one_thread_each),
        cmocka_unit_test(a_node_that_claims_less_than_the_machine_gets_its_first_cores),
        cmocka_unit_test(a_node_that_claims_threads_its_cores_do_not_have_gets_them_from_others),
        cmocka_unit_test(a_node_that_claims_more_than_the_machine_has_no_map),
        cmocka_unit_test(cores_without_threads_and_unreadable_lists_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
