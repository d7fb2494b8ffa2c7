/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas: alignment, limits, reuse. */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "unit.h"

TEST(memory_is_aligned_and_zeroed) {
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t size = 0; size < 100; size++) {
        assert_non_null(arena_strndup(&arena, "odd", 3)); /* disturbs the alignment */
        unsigned char *memory = arena_alloc(&arena, size);
        assert_int_equal((uintptr_t) memory % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xaa, size);
    }
    arena_done(&arena);
}

TEST(allocations_do_not_overlap_whatever_their_sizes) {
    enum { COUNT = 600 };
    struct arena arena;
    struct rng rng;
    arena_init(&arena, 0);
    rng_seed(&rng, 1);
    unsigned char *memory[COUNT];
    size_t sizes[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        sizes[i] = rng_below(&rng, rng_below(&rng, 10) == 0 ? 300000 : 500);
        memory[i] = arena_alloc(&arena, sizes[i]);
        memset(memory[i], (int) (i % 251), sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(memory[i][j], i % 251);
    }
    arena_done(&arena);
}

TEST(past_the_limit_null_is_returned_and_smaller_requests_still_fit) {
    struct arena arena;
    arena_init(&arena, 1000);
    assert_non_null(arena_alloc(&arena, 900));
    assert_null(arena_alloc(&arena, 101));
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_strndup(&arena, "", SIZE_MAX));
    assert_non_null(arena_alloc(&arena, 50));
    assert_true(arena.used <= 1000);
    arena_done(&arena);
}

TEST(strndup_copies_exactly_and_terminates) {
    struct arena arena;
    arena_init(&arena, 0);
    char *text = arena_strndup(&arena, "nodelist", 4);
    assert_string_equal(arena_strdup(&arena, "nodelist"), "nodelist");
    assert_string_equal(text, "node");
    assert_string_equal(arena_strndup(&arena, NULL, 0), "");
    arena_done(&arena);
}

TEST(reset_reuses_memory_and_zeroes_it_again) {
    struct arena arena;
    arena_init(&arena, 0);
    unsigned char *first = arena_alloc(&arena, 64);
    memset(first, 0xff, 64);
    arena_reset(&arena);
    assert_int_equal(arena.used, 0);
    unsigned char *again = arena_alloc(&arena, 64);
    assert_ptr_equal(again, first);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(again[i], 0);
    arena_done(&arena);
}

TEST(an_arena_can_be_used_after_done_and_init) {
    struct arena arena;
    arena_init(&arena, 0);
    assert_non_null(arena_alloc(&arena, 1 << 20));
    arena_reset(&arena);
    assert_non_null(arena_alloc(&arena, 10));
    arena_done(&arena);
    arena_init(&arena, 100);
    assert_non_null(arena_alloc(&arena, 10));
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_zeroed),
        cmocka_unit_test(allocations_do_not_overlap_whatever_their_sizes),
        cmocka_unit_test(past_the_limit_null_is_returned_and_smaller_requests_still_fit),
        cmocka_unit_test(strndup_copies_exactly_and_terminates),
        cmocka_unit_test(reset_reuses_memory_and_zeroes_it_again),
        cmocka_unit_test(an_arena_can_be_used_after_done_and_init),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
