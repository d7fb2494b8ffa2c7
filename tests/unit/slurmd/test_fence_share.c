/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "slurmd/fence.h"

#define MIB (1024ull * 1024ull)

static const struct fence_device devices[] = {
    {"gpu", 0, {false, 195, 0}}, {"gpu", 1, {false, 195, 1}}, {"nic", 0, {true, 7, 3}}};
/* Two cores of two threads, as firmware likes to number them. */
static uint32_t pus[] = {0, 2, 1, 3};
static const struct cpu_map map = {
    .sockets = 1, .cores_per_socket = 2, .cpus_per_core = 2, .width = 2, .pus = {pus, 4}};

static struct conf_cgroup conf;
static struct fence_rules rules;
static struct arena arena;

static int start(void **state) {
    conf = (struct conf_cgroup) {.allowed_ram_space = 100,
                                 .max_ram_percent = 100,
                                 .max_swap_percent = 100,
                                 .min_ram_space = 30,
                                 .memory_swappiness = CONF_UNSET};
    rules = (struct fence_rules) {.conf = &conf,
                                  .enforced = FENCE_CORES | FENCE_MEMORY | FENCE_SWAP |
                                              FENCE_DEVICES | FENCE_PIDS,
                                  .cpu_map = &map,
                                  .machine_mem = 8000,
                                  .node_cpus = 4,
                                  .pid_max = 100000,
                                  .devices = devices,
                                  .n_devices = countof(devices)};
    arena_init(&arena, 0);
    return 0;
}

static int stop(void **state) {
    arena_done(&arena);
    return 0;
}

static const struct fence *fence(struct fence_share share) {
    return fence_new(&rules, &share, &arena);
}

/* "c 195:0,b 7:3" */
static void assert_denied(const char *gres, const char *expected) {
    const struct fence *f = fence((struct fence_share) {.gres = gres});
    cleanup_str struct str text = STR_INIT;
    for (uint32_t i = 0; i < f->devices.n; i++)
        str_join(&text, ",", f->devices.items[i]);
    assert_string_equal(str_cstr(&text), expected);
}

TEST(cores_become_the_threads_of_the_machine) {
    assert_string_equal(fence((struct fence_share) {.cores = "0"})->cpus, "0,2");
    assert_string_equal(fence((struct fence_share) {.cores = "1"})->cpus, "1,3");
    assert_string_equal(fence((struct fence_share) {.cores = "0-1"})->cpus, "0-3");
    assert_null(fence((struct fence_share) {0})->cpus);
}

TEST(memory_is_what_was_given_within_bounds) {
    assert_int_equal(fence((struct fence_share) {.mem = 500})->memory, 500 * MIB);
    assert_int_equal(fence((struct fence_share) {.mem = 1})->memory, 30 * MIB);
    conf.allowed_ram_space = 98.6;
    assert_int_equal(fence((struct fence_share) {.mem = 500})->memory, 493 * MIB);
    conf.allowed_ram_space = 200;
    assert_int_equal(fence((struct fence_share) {.mem = 5000})->memory, 8000 * MIB);
    conf.max_ram_percent = 50;
    assert_int_equal(fence((struct fence_share) {.mem = 5000})->memory, 4000 * MIB);
    assert_int_equal(fence((struct fence_share) {0})->memory, 4000 * MIB);
}

TEST(memory_that_is_not_handed_out_is_not_limited) {
    assert_true(fence((struct fence_share) {0})->memory == UNSET64);
    assert_true(fence((struct fence_share) {0})->swap == UNSET64);
}

TEST(swap_is_a_part_of_the_memory) {
    assert_int_equal(fence((struct fence_share) {.mem = 500})->swap, 0);
    conf.allowed_swap_space = 10;
    assert_int_equal(fence((struct fence_share) {.mem = 500})->swap, 50 * MIB);
    conf.max_swap_percent = 0.25;
    assert_int_equal(fence((struct fence_share) {.mem = 500})->swap, 20 * MIB);
    rules.enforced &= ~(uint32_t) FENCE_SWAP;
    assert_true(fence((struct fence_share) {.mem = 500})->swap == UNSET64);
}

TEST(swappiness_is_for_v1) {
    conf.memory_swappiness = 20;
    assert_true(fence((struct fence_share) {.mem = 500})->swappiness == UNSET64);
    rules.has_swappiness = true;
    assert_int_equal(fence((struct fence_share) {.mem = 500})->swappiness, 20);
}

TEST(devices_that_are_not_held_are_denied) {
    assert_denied(NULL, "c 195:0,c 195:1,b 7:3");
    assert_denied("gpu:a100:1(IDX:1)", "c 195:0,b 7:3");
    assert_denied("gpu:2(IDX:0-1),nic:1(IDX:0)", "");
    assert_denied("gpu:2(IDX:0,1)", "b 7:3");
    assert_denied("GPU:1(IDX:0)", "c 195:1,b 7:3");
    assert_denied("gpux:1(IDX:0),nic:1(IDX:0)", "c 195:0,c 195:1");
}

TEST(broken_texts_hold_nothing) {
    static const char *const texts[] = {"gpu",          "gpu:1", "gpu(IDX:", "gpu:1(IDX:)",
                                        "gpu:1(IDX:x)", ",,,",   "(IDX:0)",  "gpu:1)IDX:0("};
    for (size_t i = 0; i < countof(texts); i++)
        assert_denied(texts[i], "c 195:0,c 195:1,b 7:3");
}

TEST(a_share_of_a_card_needs_the_card) {
    assert_denied("shard:1(IDX:1)", "c 195:0,b 7:3");
    assert_denied("shard:1(IDX:)", "b 7:3"); /* nobody knows which */
    assert_denied("mps:50", "b 7:3");
}

TEST(process_numbers_go_by_cpus) {
    assert_int_equal(fence((struct fence_share) {.cpus = 4})->pids, 80000);
    assert_int_equal(fence((struct fence_share) {.cpus = 1})->pids, 20000);
    assert_int_equal(fence((struct fence_share) {.cpus = 0})->pids, 4096);
    assert_int_equal(fence((struct fence_share) {.cpus = 9})->pids, 80000);
}

TEST(what_is_not_enforced_is_not_limited) {
    rules.enforced = 0;
    const struct fence *f = fence((struct fence_share) {"0", NULL, 1, 500});
    assert_null(f->cpus);
    assert_int_equal(f->devices.n, 0);
    assert_true(f->memory == UNSET64 && f->swap == UNSET64 && f->pids == UNSET64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cores_become_the_threads_of_the_machine, start, stop),
        cmocka_unit_test_setup_teardown(memory_is_what_was_given_within_bounds, start, stop),
        cmocka_unit_test_setup_teardown(memory_that_is_not_handed_out_is_not_limited, start, stop),
        cmocka_unit_test_setup_teardown(swap_is_a_part_of_the_memory, start, stop),
        cmocka_unit_test_setup_teardown(swappiness_is_for_v1, start, stop),
        cmocka_unit_test_setup_teardown(devices_that_are_not_held_are_denied, start, stop),
        cmocka_unit_test_setup_teardown(broken_texts_hold_nothing, start, stop),
        cmocka_unit_test_setup_teardown(a_share_of_a_card_needs_the_card, start, stop),
        cmocka_unit_test_setup_teardown(process_numbers_go_by_cpus, start, stop),
        cmocka_unit_test_setup_teardown(what_is_not_enforced_is_not_limited, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
