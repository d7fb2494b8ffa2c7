/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "sim/cluster_internal.h"
#include "unit.h"

static void put(struct sim_store *store, uint64_t id, const char *text) {
    struct effect effect = {.kind = EFFECT_PUT,
                            .store_kind = STORE_JOB,
                            .id = id,
                            .body = {(const uint8_t *) text, strlen(text)}};
    sim_store_apply(store, &effect, NULL);
}

TEST(a_record_is_replaced_and_deleted) {
    struct sim_store store = {0};
    struct bytes data;
    put(&store, 7, "short");
    put(&store, 7, "a good deal longer than before");
    assert_true(sim_store_get(&store, STORE_JOB, 7, &data));
    assert_memory_equal(data.data, "a good deal longer than before", data.size);
    assert_false(sim_store_get(&store, STORE_STEP, 7, &data));
    struct effect effect = {.kind = EFFECT_DELETE, .store_kind = STORE_JOB, .id = 7};
    sim_store_apply(&store, &effect, NULL);
    assert_false(sim_store_get(&store, STORE_JOB, 7, &data));
    put(&store, 8, "");
    assert_true(sim_store_get(&store, STORE_JOB, 8, &data));
    assert_int_equal(data.size, 0);
    sim_store_done(&store);
}

TEST(what_a_batch_has_done_can_be_undone) {
    struct sim_store store = {0};
    struct sim_undo undo = {0};
    struct bytes data;
    put(&store, 7, "before");
    struct effect effects[] = {
        {.kind = EFFECT_PUT, .store_kind = STORE_JOB, .id = 7, .body = {(const uint8_t *) "x", 1}},
        {.kind = EFFECT_DELETE, .store_kind = STORE_JOB, .id = 7},
        {.kind = EFFECT_PUT, .store_kind = STORE_JOB, .id = 8, .body = {(const uint8_t *) "y", 1}},
        {.kind = EFFECT_HISTORY},
    };
    for (size_t i = 0; i < countof(effects); i++)
        sim_store_apply(&store, &effects[i], &undo);
    assert_false(sim_store_get(&store, STORE_JOB, 7, &data));
    assert_int_equal(store.n_history, 1);
    sim_store_undo(&store, &undo);
    assert_true(sim_store_get(&store, STORE_JOB, 7, &data));
    assert_memory_equal(data.data, "before", data.size);
    assert_false(sim_store_get(&store, STORE_JOB, 8, &data));
    assert_int_equal(store.n_history, 0);
    sim_store_done(&store);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_record_is_replaced_and_deleted),
                                       cmocka_unit_test(what_a_batch_has_done_can_be_undone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
