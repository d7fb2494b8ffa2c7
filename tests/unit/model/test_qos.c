/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a QOS. */
#include "base/arena.h"
#include "model/qos.h"
#include "schema/schema.h"
#include "unit.h"

TEST(a_qos_that_says_nothing_about_preemption_leaves_it_to_the_cluster) {
    struct qos qos, copy;
    struct str out cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    struct arena arena;
    arena_init(&arena, 0);
    record_init(&record_qos, &qos);
    qos.name = (char *) (uintptr_t) "normal";
    wire_encode(&record_qos, &qos, NULL, &out);
    const struct bytes bytes = {(const uint8_t *) out.data, out.length};
    assert_int_equal(wire_decode(&record_qos, bytes, &arena, &copy, &err), 0);
    assert_string_equal(copy.name, "normal");
    assert_int_equal(copy.preempt_mode, PREEMPT_CLUSTER);
    assert_int_equal(copy.exempt_time, UNSET32);
    assert_int_equal(copy.grace_time, UNSET32);
    assert_null(copy.preempt);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_qos_that_says_nothing_about_preemption_leaves_it_to_the_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
