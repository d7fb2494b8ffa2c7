/* SPDX-License-Identifier: Apache-2.0 */
/* Where the memory of tasks lies: policies, nodes, what is told. */
#include "slurmstepd/mem_bind.h"

#include <linux/mempolicy.h>
#include <string.h>

#include "unit.h"

/* Two cores on each of the NUMA nodes 0 and 2. */
static void machine(struct cpu_map *map) {
    static const uint32_t numbers[] = {0, 1, 2, 3}, nodes[] = {0, 0, 2, 2};
    const struct cpu_hardware hardware = {4, numbers, numbers, nodes};
    cpu_map_make(&hardware, 2, 2, 4, map);
}

/* The lines of three tasks: "MASK 0x1 0x4 0x1", or the error. */
static void assert_binds(const char *text, int policy, const char *expected) {
    struct str out cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    struct mem_bind bind;
    struct cpu_map map;
    machine(&map);
    if (mem_bind_make(text, &map, 3, &bind, &err) < 0) {
        assert_string_equal(err.text, expected);
        record_done(&record_cpu_map, &map);
        return;
    }
    assert_int_equal(bind.policy, policy);
    for (uint32_t task = 0; task < bind.n; task++) {
        struct str head cleanup_str = STR_INIT, tail cleanup_str = STR_INIT;
        mem_bind_line(&bind, "n1", task, task, &head, &tail);
        const char *kind = head.data + strlen("mem-bind") + 1,
                   *mask = strstr(tail.data, "mask ") + 5;
        if (task == 0)
            str_append_bytes(&out, kind, strcspn(kind, "-") - 1);
        str_append_char(&out, ' ');
        str_append_bytes(&out, mask, strcspn(mask, " "));
    }
    assert_string_equal(str_cstr(&out), expected);
    mem_bind_done(&bind);
    record_done(&record_cpu_map, &map);
}

TEST(memory_is_bound_by_rank_list_or_mask) {
    assert_binds("rank", MPOL_BIND, "RANK 0x1 0x4 0x1");
    assert_binds("map_mem:2,0", MPOL_BIND, "MAP 0x4 0x1 0x4");
    assert_binds("verbose,map_mem:0*2,2", MPOL_BIND, "MAP 0x1 0x1 0x4");
    assert_binds("mask_mem:0x5,4", MPOL_BIND, "MASK 0x5 0x4 0x5");
}

TEST(memory_may_be_preferred_local_or_left_alone) {
    assert_binds("prefer,map_mem:2", MPOL_PREFERRED, "PREFER MAP 0x4 0x4 0x4");
    assert_binds("v,local", MPOL_LOCAL, "LOC 0x5 0x5 0x5");
    assert_binds("none", -1, "NONE 0x5 0x5 0x5");
    assert_binds("verbose,sort", -1, "NONE 0x5 0x5 0x5");
    assert_binds(NULL, -1, "NONE 0x5 0x5 0x5");
}

TEST(nodes_that_are_not_there_are_named) {
    assert_binds("map_mem:1", 0,
                 "Memory binding to NUMA nodes that are not there (1), this node has: 0,2.");
    assert_binds("mask_mem:0x5,0x2", 0,
                 "Memory binding to NUMA nodes that are not there (0x2), this node has: 0,2.");
    assert_binds("map_mem:x", 0,
                 "Memory binding to NUMA nodes that are not there (x), this node has: 0,2.");
    assert_binds("map_mem:0*0", 0,
                 "Memory binding to NUMA nodes that are not there (0*0), this node has: 0,2.");
}

TEST(the_binding_is_told_in_variables) {
    struct error err = ERROR_INIT;
    struct arena arena;
    struct env env;
    struct mem_bind bind;
    arena_init(&arena, 0);
    env_init(&env, &arena);
    assert_int_equal(mem_bind_make("verbose,prefer,map_mem:0", NULL, 1, &bind, &err), 0);
    mem_bind_env(&bind, "SLURM", &env);
    assert_string_equal(env_get(&env, "SLURM_MEM_BIND"), "verbose,prefer,map_mem:0");
    assert_string_equal(env_get(&env, "SLURM_MEM_BIND_TYPE"), "map_mem:");
    assert_string_equal(env_get(&env, "SLURM_MEM_BIND_LIST"), "0");
    assert_string_equal(env_get(&env, "SLURM_MEM_BIND_PREFER"), "prefer");
    assert_string_equal(env_get(&env, "SLURM_MEM_BIND_VERBOSE"), "verbose");
    mem_bind_done(&bind);
    env_done(&env);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_bound_by_rank_list_or_mask),
        cmocka_unit_test(memory_may_be_preferred_local_or_left_alone),
        cmocka_unit_test(nodes_that_are_not_there_are_named),
        cmocka_unit_test(the_binding_is_told_in_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
