/* SPDX-License-Identifier: Apache-2.0 */
/* Which processors tasks are bound to. The table of layouts is what Debian's Slurm 22.05 reports by
 * --cpu-bind=verbose on a node of 2 sockets, 4 cores, 2 threads. */
#include <string.h>

#include "slurmstepd/bind.h"
#include "unit.h"

/* Core c has the threads 2c and 2c + 1; every socket is a NUMA node of its own unless said
 * otherwise.
 */
static void machine(struct cpu_map *map, bool numa) {
    uint32_t numbers[16], cores[16], nodes[16];
    for (uint32_t i = 0; i < 16; i++) {
        numbers[i] = i;
        cores[i] = i / 2;
        nodes[i] = numa ? i / 8 : 0;
    }
    const struct cpu_hardware hardware = {16, numbers, cores, nodes};
    cpu_map_make(&hardware, 2, 4, 16, map);
}

/* "KIND 0x3 0x300": what the verbose lines of all tasks say. */
static void masks_of(const struct bind_input *input, struct str *out) {
    struct error err = ERROR_INIT;
    struct bind bind;
    if (bind_make(input, &bind, &err) < 0) {
        str_append(out, err.text);
        return;
    }
    for (uint32_t task = 0; task < bind.n; task++) {
        struct str head = STR_INIT, tail = STR_INIT;
        bind_line(&bind, "n1", task, task, &head, &tail);
        const char *kind = strchr(head.data, '=') + 1, *mask = strstr(tail.data, "0x");
        if (task == 0)
            str_append_bytes(out, kind, strcspn(kind, " "));
        str_append_char(out, ' ');
        str_append_bytes(out, mask, strcspn(mask, " "));
        str_done(&head);
        str_done(&tail);
    }
    bind_done(&bind);
}

static void binds(const struct bind_input *input, const char *wanted) {
    struct str out = STR_INIT;
    masks_of(input, &out);
    assert_string_equal(str_cstr(&out), wanted);
    str_done(&out);
}

static const struct {
    uint32_t n_tasks, cpus_per_task;
    const char *cores, *cpu_bind, *distribution, *hint;
    uint32_t threads_per_core, ntasks_per_core;
    const char *label, *masks;
} layouts[] = {
    {4, 0, "0-7", "verbose", NULL, NULL, 0, 0, "MASK", "0xffff 0xffff 0xffff 0xffff"},
    {4, 0, "0-7", "verbose,cores", NULL, NULL, 0, 0, "MASK", "0x3 0x300 0xc 0xc00"},
    {4, 0, "0-7", "verbose,threads", NULL, NULL, 0, 0, "MASK", "0x1 0x100 0x2 0x200"},
    {4, 0, "0-7", "verbose,sockets", NULL, NULL, 0, 0, "MASK", "0xff 0xff00 0xff 0xff00"},
    {4, 0, "0-7", "verbose,ldoms", NULL, NULL, 0, 0, "MASK", "0xffff 0xffff 0xffff 0xffff"},
    {4, 0, "0-7", "verbose,rank", NULL, NULL, 0, 0, "RANK", "0x1 0x2 0x4 0x8"},
    {4, 0, "0-7", "verbose,rank_ldom", NULL, NULL, 0, 0, "LDRANK", "0xffff 0xffff 0xffff 0xffff"},
    {4, 0, "0-7", "verbose,none", NULL, NULL, 0, 0, "NONE", "0x0 0x0 0x0 0x0"},
    {8, 0, "0-7", "verbose", NULL, NULL, 0, 0, "MASK",
     "0x3 0x300 0xc 0xc00 0x30 0x3000 0xc0 0xc000"},
    {16, 0, "0-7", "verbose", NULL, NULL, 0, 0, "MASK",
     "0x1 0x100 0x2 0x200 0x4 0x400 0x8 0x800 0x10 0x1000 0x20 0x2000 0x40 0x4000 0x80 0x8000"},
    {2, 0, "0-7", "verbose", NULL, NULL, 0, 0, "MASK", "0xff 0xff00"},
    {2, 4, "0-1,4-5", "verbose", NULL, NULL, 0, 0, "MASK", "0xf 0xf00"},
    {2, 8, "0-7", "verbose", NULL, NULL, 0, 0, "MASK", "0xff 0xff00"},
    {3, 2, "0-1,4", "verbose", NULL, NULL, 0, 0, "MASK", "0x3 0x300 0xc"},
    {4, 2, "0-1,4-5", "verbose", NULL, NULL, 0, 0, "MASK", "0x3 0x300 0xc 0xc00"},
    {4, 2, "0-3", "verbose", "block:block", NULL, 0, 0, "MASK", "0x3 0xc 0x30 0xc0"},
    {4, 2, "0-1,4-5", "verbose", "block:cyclic", NULL, 0, 0, "MASK", "0x3 0x300 0xc 0xc00"},
    {4, 2, "0-1,4-5", "verbose", "block:fcyclic", NULL, 0, 0, "MASK", "0x101 0x202 0x404 0x808"},
    {8, 0, "0-7", "verbose,cores", "block:block", NULL, 0, 0, "MASK",
     "0x3 0xc 0x30 0xc0 0x300 0xc00 0x3000 0xc000"},
    {8, 0, "0-7", "verbose,cores", "block:cyclic", NULL, 0, 0, "MASK",
     "0x3 0x300 0xc 0xc00 0x30 0x3000 0xc0 0xc000"},
    {8, 0, "0-7", "verbose,cores", "block:fcyclic", NULL, 0, 0, "MASK",
     "0x3 0x300 0xc 0xc00 0x30 0x3000 0xc0 0xc000"},
    {8, 0, "0-7", "verbose,threads", "block:block", NULL, 0, 0, "MASK",
     "0x1 0x2 0x4 0x8 0x10 0x20 0x40 0x80"},
    {8, 0, "0-7", "verbose,threads", "block:cyclic", NULL, 0, 0, "MASK",
     "0x1 0x100 0x2 0x200 0x4 0x400 0x8 0x800"},
    {8, 0, "0-7", "verbose,threads", "block:cyclic:block", NULL, 0, 0, "MASK",
     "0x1 0x100 0x2 0x200 0x4 0x400 0x8 0x800"},
    {8, 0, "0-7", "verbose,threads", "block:block:cyclic", NULL, 0, 0, "MASK",
     "0x1 0x2 0x4 0x8 0x10 0x20 0x40 0x80"},
    {8, 0, "0-7", "verbose,threads", "block:block:block", NULL, 0, 0, "MASK",
     "0x1 0x2 0x4 0x8 0x10 0x20 0x40 0x80"},
    {4, 2, "0-1,4-5", "verbose,threads", "block:cyclic:fcyclic", NULL, 0, 0, "MASK",
     "0x3 0x300 0xc 0xc00"},
    {4, 0, "0-7", "verbose", NULL, "nomultithread", 0, 0, "MASK", "0x1 0x100 0x4 0x400"},
    {8, 0, "0-7", "verbose", NULL, "nomultithread", 0, 0, "MASK",
     "0x1 0x100 0x4 0x400 0x10 0x1000 0x40 0x4000"},
    {4, 0, "0-7", "verbose", NULL, "compute_bound", 0, 0, "MASK", "0x3 0x300 0xc 0xc00"},
    {4, 0, "0-7", "verbose", NULL, "memory_bound", 0, 0, "MASK", "0x3 0x300 0xc 0xc00"},
    {4, 0, "0-7", "verbose", NULL, NULL, 1, 0, "MASK", "0x1 0x100 0x4 0x400"},
    {4, 0, "0-7", "verbose", NULL, NULL, 0, 1, "MASK", "0x3 0x300 0xc 0xc00"},
    {4, 0, "0-7", "verbose", NULL, NULL, 0, 2, "MASK", "0x3 0x300 0xc 0xc00"},
    {4, 0, "0-7", "verbose,map_cpu:0,8,1,9", NULL, NULL, 0, 0, "MAP", "0x1 0x100 0x2 0x200"},
    {4, 0, "0-7", "verbose,map_cpu:0", NULL, NULL, 0, 0, "MAP", "0x1 0x1 0x1 0x1"},
    {4, 0, "0-7", "verbose,mask_cpu:0x3,0xc", NULL, NULL, 0, 0, "MASK", "0x3 0xc 0x3 0xc"},
    {4, 0, "0-7", "verbose,mask_ldom:1,3", NULL, NULL, 0, 0, "LDMASK",
     "0xffff 0xffff 0xffff 0xffff"},
    {4, 3, "0-7", "verbose,cores", NULL, NULL, 0, 0, "MASK", "0xf 0xf00 0xf0 0xf000"},
    {1, 0, "0-7", "verbose", NULL, NULL, 0, 0, "MASK", "0xffff"},
    {1, 4, "0-1", "verbose", NULL, NULL, 0, 0, "MASK", "0xf"},
};

TEST(tasks_are_laid_out_as_by_slurm) {
    struct cpu_map map;
    machine(&map, false);
    for (size_t i = 0; i < countof(layouts); i++) {
        struct str wanted = STR_INIT;
        const struct bind_input input = {
            .map = &map,
            .cores = layouts[i].cores,
            .n_tasks = layouts[i].n_tasks,
            .cpus_per_task = layouts[i].cpus_per_task,
            .cpu_bind = layouts[i].cpu_bind,
            .distribution = layouts[i].distribution,
            .hint = layouts[i].hint,
            .threads_per_core = layouts[i].threads_per_core,
            .ntasks_per_core = layouts[i].ntasks_per_core,
        };
        str_printf(&wanted, "%s %s", layouts[i].label, layouts[i].masks);
        print_message("# row %zu: %s\n", i, layouts[i].cpu_bind);
        binds(&input, wanted.data);
        str_done(&wanted);
    }
    record_done(&record_cpu_map, &map);
}

TEST(tasks_are_bound_to_numa_nodes_by_rank_by_list_and_around_their_cpus) {
    struct cpu_map map;
    machine(&map, true);
    struct bind_input input = {.map = &map, .cores = "0-7", .n_tasks = 3};
    input.cpu_bind = "rank_ldom";
    binds(&input, "LDRANK 0xff 0xff00 0xff");
    input.cpu_bind = "map_ldom:1,0";
    binds(&input, "LDMAP 0xff00 0xff 0xff00");
    input.cpu_bind = "mask_ldom:0x3,2";
    binds(&input, "LDMASK 0xffff 0xff00 0xffff");
    input.cpu_bind = "ldoms";
    binds(&input, "MASK 0xff 0xff00 0xff");
    record_done(&record_cpu_map, &map);
}

TEST(lists_repeat_their_items_and_name_only_what_the_step_has) {
    struct cpu_map map;
    machine(&map, false);
    struct bind_input input = {.map = &map, .cores = "2-3", .n_tasks = 5};
    input.cpu_bind = "quiet,map_cpu:4*2,0x5";
    binds(&input, "MAP 0x10 0x10 0x20 0x10 0x10");
    input.cpu_bind = "mask_cpu:30,C0";
    binds(&input, "MASK 0x30 0xc0 0x30 0xc0 0x30");
    input.n_tasks = 1;
    static const char *const bad[] = {"0", "99999999999", "x", "-1", "4x"};
    for (size_t i = 0; i < countof(bad); i++) {
        struct str list = STR_INIT, text = STR_INIT;
        str_printf(&list, "map_cpu:%s", bad[i]);
        str_printf(&text,
                   "CPU binding outside of job step allocation (%s), allocated CPUs are: 0xF0.",
                   bad[i]);
        input.cpu_bind = list.data;
        binds(&input, text.data);
        str_done(&list);
        str_done(&text);
    }
    input.cpu_bind = "mask_cpu:0x10000000000000000000000000000000000";
    struct bind bind;
    assert_int_equal(bind_make(&input, &bind, NULL), -ERR_CPU_BIND);
    input.cpu_bind = "map_cpu:,*,4*0";
    assert_int_equal(bind_make(&input, &bind, NULL), -ERR_CPU_BIND);
    record_done(&record_cpu_map, &map);
}

TEST(the_configuration_decides_where_nothing_is_asked) {
    struct cpu_map map;
    machine(&map, false);
    struct bind_input input = {.map = &map, .cores = "0-7", .n_tasks = 3, .fallback = "cores"};
    binds(&input, "MASK 0x3 0x300 0xc");
    input.fallback = "none";
    binds(&input, "NONE 0x0 0x0 0x0");
    input.cpu_bind = "threads";
    binds(&input, "MASK 0x1 0x100 0x2");
    input.cpu_bind = "verbose";
    binds(&input, "NONE 0x0 0x0 0x0");
    input.cpu_bind = NULL;
    input.fallback = "none,threads"; /* the last one counts */
    binds(&input, "MASK 0x1 0x100 0x2");
    input.fallback = "cores,none";
    binds(&input, "NONE 0x0 0x0 0x0");
    input.fallback = NULL;
    input.autobind = "sockets";
    binds(&input, "MASK 0xff 0xff00 0xff");
    input.n_tasks = 8; /* agrees with the cores */
    input.ntasks_per_socket = 4;
    binds(&input, "MASK 0xff 0xff00 0xff 0xff00 0xff 0xff00 0xff 0xff00");
    record_done(&record_cpu_map, &map);
}

TEST(more_tasks_than_cpus_share_them_in_turn) {
    struct cpu_map map;
    machine(&map, false);
    struct bind_input input = {.map = &map, .cores = "0-1", .n_tasks = 5, .cpu_bind = "cores"};
    binds(&input, "MASK 0x3 0xc 0x3 0xc 0x3");
    input.cpus_per_task = 100;
    binds(&input, "MASK 0xf 0xf 0xf 0xf 0xf");
    record_done(&record_cpu_map, &map);
}

TEST(without_a_map_nothing_is_bound) {
    struct cpu_map map;
    record_init(&record_cpu_map, &map);
    struct bind_input input = {.map = &map, .cores = "0-7", .n_tasks = 1, .cpu_bind = "cores"};
    binds(&input, "NONE 0x0");
    machine(&map, false);
    input.cores = "";
    binds(&input, "NONE 0x0");
    input.cores = "100-200";
    binds(&input, "NONE 0x0");
    record_done(&record_cpu_map, &map);
}

TEST(a_binding_that_was_asked_for_and_cannot_be_is_known) {
    static const struct {
        const char *option, *configured;
        bool is_impossible;
    } rows[] = {
        {"cores", NULL, true},  {"verbose,map_cpu:0", NULL, true},
        {"none", NULL, false},  {"verbose", NULL, false},
        {NULL, "cores", false},
    };
    struct cpu_map map;
    record_init(&record_cpu_map, &map);
    for (size_t i = 0; i < countof(rows); i++) {
        struct bind_input input = {.map = &map,
                                   .cores = "0-7",
                                   .n_tasks = 1,
                                   .cpu_bind = rows[i].option,
                                   .fallback = rows[i].configured};
        struct bind bind;
        struct error err = ERROR_INIT;
        assert_int_equal(bind_make(&input, &bind, &err), 0);
        assert_int_equal(bind.is_impossible, rows[i].is_impossible);
        bind_done(&bind);
    }
    record_done(&record_cpu_map, &map);
}

TEST(the_environment_tells_the_binding) {
    struct cpu_map map;
    struct arena arena;
    struct env env;
    struct bind bind;
    machine(&map, false);
    arena_init(&arena, 0);
    env_init(&env, &arena);
    struct bind_input input = {.map = &map, .cores = "0-7", .n_tasks = 2, .cpu_bind = "cores"};
    assert_int_equal(bind_make(&input, &bind, NULL), 0);
    bind_env(&bind, &env);
    assert_string_equal(env_get(&env, "SLURM_CPU_BIND"), "quiet,mask_cpu:0x0003,0x0300");
    assert_string_equal(env_get(&env, "SLURM_CPU_BIND_LIST"), "0x0003,0x0300");
    assert_string_equal(env_get(&env, "SLURM_CPU_BIND_TYPE"), "mask_cpu:");
    assert_string_equal(env_get(&env, "SLURM_CPU_BIND_VERBOSE"), "quiet");
    bind_done(&bind);
    input.cpu_bind = "verbose,none";
    assert_int_equal(bind_make(&input, &bind, NULL), 0);
    bind_env(&bind, &env);
    assert_string_equal(env_get(&env, "SLURM_CPU_BIND"), "verbose,none");
    assert_string_equal(env_get(&env, "SLURM_CPU_BIND_LIST"), "");
    bind_done(&bind);
    input.cpu_bind = NULL;
    input.n_tasks = 10000;
    assert_int_equal(bind_make(&input, &bind, NULL), 0);
    bind_env(&bind, &env);
    assert_null(env_get(&env, "SLURM_CPU_BIND"));
    assert_null(env_get(&env, "SLURM_CPU_BIND_LIST"));
    assert_string_equal(env_get(&env, "SLURM_CPU_BIND_TYPE"), "mask_cpu:");
    bind_done(&bind);
    env_done(&env);
    arena_done(&arena);
    record_done(&record_cpu_map, &map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_are_laid_out_as_by_slurm),
        cmocka_unit_test(tasks_are_bound_to_numa_nodes_by_rank_by_list_and_around_their_cpus),
        cmocka_unit_test(lists_repeat_their_items_and_name_only_what_the_step_has),
        cmocka_unit_test(the_configuration_decides_where_nothing_is_asked),
        cmocka_unit_test(more_tasks_than_cpus_share_them_in_turn),
        cmocka_unit_test(without_a_map_nothing_is_bound),
        cmocka_unit_test(a_binding_that_was_asked_for_and_cannot_be_is_known),
        cmocka_unit_test(the_environment_tells_the_binding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
