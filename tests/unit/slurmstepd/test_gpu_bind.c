/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>

#include "base/str.h"
#include "slurmstepd/gpu_bind.h"

/* The GPUs of tasks 0, 1, 2, … of a node with the GPUs 2, 3, 5, 7, as "2 3 5,7". */
static void tasks(const char *bind, uint32_t n_tasks, const char *expected) {
    struct str text = STR_INIT;

    for (uint32_t task = 0; task < n_tasks; task++) {
        uint32_t gpus[] = {2, 3, 5, 7};
        size_t n = gpu_bind_pick(bind, task, gpus, 4);
        for (size_t i = 0; i < n; i++)
            str_printf(&text, "%s%u", i > 0 ? "," : task > 0 ? " " : "", gpus[i]);
    }
    assert_string_equal(str_cstr(&text), expected);
    str_done(&text);
}

TEST(without_a_binding_every_task_sees_every_gpu) {
    tasks(NULL, 2, "2,3,5,7 2,3,5,7");
    tasks("none", 1, "2,3,5,7");
    tasks("closest", 1, "2,3,5,7");
    assert_int_equal(gpu_bind_pick("per_task:1", 0, NULL, 0), 0);
}

TEST(per_task_gives_each_task_the_next_gpus_round_and_round) {
    tasks("per_task:1", 5, "2 3 5 7 2");
    tasks("verbose,per_task:2", 3, "2,3 5,7 2,3");
    tasks("per_task:3", 2, "2,3,5 2,3,7");
    tasks("per_task:9", 1, "2,3,5,7");
}

TEST(single_shares_one_gpu_among_so_many_tasks) {
    tasks("single:1", 3, "2 3 5");
    tasks("single:2", 5, "2 2 3 3 5");
}

TEST(a_map_names_the_gpu_of_each_task) {
    tasks("map_gpu:7,2", 3, "7 2 7");
    tasks("map:5*2,3", 4, "5 5 3 5");
}

TEST(a_mask_names_the_gpus_of_each_task) {
    tasks("mask_gpu:0xc,80", 3, "2,3 7 2,3");
    tasks("mask:24*2,8", 3, "2,5 2,5 3");
}

TEST(a_binding_that_would_leave_no_gpu_is_not_applied) {
    tasks("map_gpu:0", 1, "2,3,5,7");
    tasks("mask_gpu:0x1", 1, "2,3,5,7");
    tasks("map_gpu:", 1, "2,3,5,7");
    tasks("map_gpu:x", 1, "2,3,5,7");
    tasks("mask_gpu:zz", 1, "2,3,5,7");
    tasks("map_gpu:2*0", 1, "2,3,5,7");
    tasks("per_task:0", 1, "2,3,5,7");
    tasks("single:0", 1, "2,3,5,7");
}

/* Two GPUs near cores 0-1 and 2-3 of a node with two threads a core, and one of which nothing is
 * known. */
static void assert_closest(bool fenced, const char *gres, size_t cpu, const char *expected) {
    uint32_t pus[] = {0, 4, 1, 5, 2, 6, 3, 7}, numbers[] = {0, 1, 7};
    char *cores[] = {(char *) "0-1", (char *) "2-3", (char *) ""};
    struct cpu_map map;
    struct step_order order;
    struct bits mask;
    record_init(&record_cpu_map, &map);
    record_init(&record_step_order, &order);
    map.sockets = 1;
    map.cores_per_socket = 4;
    map.cpus_per_core = map.width = 2;
    map.pus.items = pus;
    map.pus.n = 8;
    order.cpus = &map;
    order.gpu_cores.items = cores;
    order.gpu_cores.n = 3;
    order.gpu_numbers.items = numbers;
    order.gpu_numbers.n = 3;
    order.devices_fenced = fenced;
    bits_init(&mask, 8);
    bits_set(&mask, cpu);
    char *bind = gpu_bind_closest(&order, gres, &mask);
    if (expected)
        assert_string_equal(bind, expected);
    else
        assert_null(bind);
    free(bind);
    bits_done(&mask);
}

TEST(closest_are_the_gpus_near_the_processors_of_the_task) {
    assert_true(gpu_bind_is_closest("verbose,closest") && gpu_bind_is_closest("closest"));
    assert_false(gpu_bind_is_closest("single:1") || gpu_bind_is_closest(NULL));
    assert_closest(false, "gpu:2(IDX:0-1)", 5, "mask_gpu:0x1");
    assert_closest(false, "gpu:2(IDX:0-1)", 6, "mask_gpu:0x2");
    assert_closest(true, "gpu:1(IDX:1)", 6, "mask_gpu:0x1");
    assert_closest(false, "gpu:1(IDX:0)", 7, NULL);
    assert_closest(false, "gpu:1(IDX:2)", 0, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_binding_every_task_sees_every_gpu),
        cmocka_unit_test(per_task_gives_each_task_the_next_gpus_round_and_round),
        cmocka_unit_test(single_shares_one_gpu_among_so_many_tasks),
        cmocka_unit_test(a_map_names_the_gpu_of_each_task),
        cmocka_unit_test(a_mask_names_the_gpus_of_each_task),
        cmocka_unit_test(a_binding_that_would_leave_no_gpu_is_not_applied),
        cmocka_unit_test(closest_are_the_gpus_near_the_processors_of_the_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
