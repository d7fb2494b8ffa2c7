/* SPDX-License-Identifier: Apache-2.0 */
/* Hash maps against an array indexed by the key. */
#include "base/map.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "unit.h"

#define KEYS 500

TEST(integer_keys_agree_with_an_array_under_random_changes) {
    struct map map = MAP_INIT;
    void *naive[KEYS] = {NULL};
    int values[16];
    struct rng rng;
    rng_seed(&rng, 11);
    size_t n = 0;
    for (size_t round = 0; round < 100000; round++) {
        uint64_t key = rng_below(&rng, KEYS);
        void *value = &values[rng_below(&rng, countof(values))];
        if (rng_below(&rng, 2)) {
            assert_ptr_equal(map_put(&map, key, value), naive[key]);
            n += naive[key] == NULL;
            naive[key] = value;
        } else {
            assert_ptr_equal(map_remove(&map, key), naive[key]);
            n -= naive[key] != NULL;
            naive[key] = NULL;
        }
        assert_int_equal(map.n, n);
    }
    for (uint64_t key = 0; key < KEYS; key++)
        assert_ptr_equal(map_get(&map, key), naive[key]);
    assert_true(map.capacity <= 4 * KEYS); /* tombs do not make it grow for ever */
    map_done(&map);
}

TEST(string_keys_agree_with_an_array_under_random_changes) {
    struct smap map = SMAP_INIT;
    static char names[KEYS][16];
    void *naive[KEYS] = {NULL};
    struct rng rng;
    rng_seed(&rng, 12);
    for (size_t i = 0; i < KEYS; i++)
        snprintf(names[i], sizeof(names[i]), "node%zu", i);
    for (size_t round = 0; round < 100000; round++) {
        size_t i = rng_below(&rng, KEYS);
        if (rng_below(&rng, 2)) {
            assert_ptr_equal(smap_put(&map, names[i], names[i]), naive[i]);
            naive[i] = names[i];
        } else {
            assert_ptr_equal(smap_remove(&map, names[i]), naive[i]);
            naive[i] = NULL;
        }
    }
    for (size_t i = 0; i < KEYS; i++)
        assert_ptr_equal(smap_get(&map, names[i]), naive[i]);
    smap_done(&map);
}

TEST(the_current_entry_may_be_removed_while_iterating) {
    struct map map = MAP_INIT;
    int value;
    for (uint64_t key = 0; key < KEYS; key++)
        map_put(&map, key, &value);
    size_t at = 0, seen = 0;
    for (uint64_t key; map_next(&map, &at, &key); seen++) {
        if (key % 2)
            assert_non_null(map_remove(&map, key));
    }
    assert_int_equal(seen, KEYS);
    assert_int_equal(map.n, KEYS / 2);
    for (uint64_t key = 0; key < KEYS; key++)
        assert_int_equal(map_get(&map, key) != NULL, key % 2 == 0);
    map_done(&map);
}

TEST(string_iteration_visits_each_entry_once_and_allows_removal) {
    struct smap map = SMAP_INIT;
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < countof(names); i++)
        smap_put(&map, names[i], (void *) names[i]);
    const char *key;
    size_t at = 0, seen = 0;
    for (void *value; (value = smap_next(&map, &at, &key)); seen++) {
        assert_ptr_equal(value, key);
        smap_remove(&map, key);
    }
    assert_int_equal(seen, countof(names));
    assert_int_equal(map.n, 0);
    smap_done(&map);
}

TEST(a_replaced_value_takes_its_key_along) {
    struct smap map = SMAP_INIT;
    char *old = xstrdup("gpu"), *new = xstrdup("gpu");
    smap_put(&map, old, old);
    assert_ptr_equal(smap_put(&map, new, new), old);
    free(old);
    assert_ptr_equal(smap_get(&map, "gpu"), new);
    smap_done(&map);
    free(new);
}

TEST(empty_maps_answer_and_clear_keeps_the_memory) {
    struct map map = MAP_INIT;
    size_t at = 0;
    assert_null(map_get(&map, 1));
    assert_null(map_remove(&map, 1));
    assert_null(map_next(&map, &at, NULL));
    map_clear(&map);
    map_put(&map, UINT64_MAX, &map);
    map_put(&map, 0, &map);
    map_clear(&map);
    assert_int_equal(map.n, 0);
    assert_true(map.capacity > 0);
    assert_null(map_get(&map, UINT64_MAX));
    map_done(&map);
}

TEST(the_order_of_iteration_repeats) {
    for (int round = 0; round < 2; round++) {
        static uint64_t order[2][64];
        struct map map = MAP_INIT;
        for (uint64_t key = 0; key < 64; key++)
            map_put(&map, key * 1000003, &map);
        size_t at = 0;
        for (size_t i = 0; map_next(&map, &at, &order[round][i]); i++)
            assert_int_equal(order[round][i], order[0][i]);
        map_done(&map);
    }
}

TEST(hashes_depend_on_every_byte_the_length_and_the_seed) {
    char text[40] = "partition";
    for (size_t size = 0; size < sizeof(text); size++) {
        uint64_t hash = hash_bytes(text, size, 1);
        assert_int_not_equal(hash, hash_bytes(text, size, 2));
        assert_int_not_equal(hash, hash_bytes(text, size + 1 - 2 * (size == 39), 1));
        for (size_t i = 0; i < size; i++) {
            text[i] ^= 1;
            assert_int_not_equal(hash, hash_bytes(text, size, 1));
            text[i] ^= 1;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_keys_agree_with_an_array_under_random_changes),
        cmocka_unit_test(string_keys_agree_with_an_array_under_random_changes),
        cmocka_unit_test(the_current_entry_may_be_removed_while_iterating),
        cmocka_unit_test(string_iteration_visits_each_entry_once_and_allows_removal),
        cmocka_unit_test(a_replaced_value_takes_its_key_along),
        cmocka_unit_test(empty_maps_answer_and_clear_keeps_the_memory),
        cmocka_unit_test(the_order_of_iteration_repeats),
        cmocka_unit_test(hashes_depend_on_every_byte_the_length_and_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
