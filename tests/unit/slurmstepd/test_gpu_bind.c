/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_binding_every_task_sees_every_gpu),
        cmocka_unit_test(per_task_gives_each_task_the_next_gpus_round_and_round),
        cmocka_unit_test(single_shares_one_gpu_among_so_many_tasks),
        cmocka_unit_test(a_map_names_the_gpu_of_each_task),
        cmocka_unit_test(a_mask_names_the_gpus_of_each_task),
        cmocka_unit_test(a_binding_that_would_leave_no_gpu_is_not_applied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
