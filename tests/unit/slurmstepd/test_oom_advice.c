/* SPDX-License-Identifier: Apache-2.0 */
/* What to ask for the next time.
 * Covers: oom_advice.c */
#include "unit.h"

#include "slurmstepd/oom.h"

static uint64_t advice(uint64_t limit, uint64_t mapped, bool holds_all) {
    bool holds;
    uint64_t mib = oom_advice_mib(limit, mapped, &holds);

    assert_int_equal(holds, holds_all);
    return mib;
}

TEST(the_advice_holds_all_that_was_asked_for) {
    assert_int_equal(advice(64, 310, true), 320);
    assert_int_equal(advice(4096, 9000, true), 9216);
}

TEST(the_advice_is_half_as_much_again_at_least) {
    assert_int_equal(advice(64, 65, true), 96);
    assert_int_equal(advice(1000, 1001, true), 1536);
}

TEST(an_address_space_that_says_nothing_leaves_a_guess_of_twice_as_much) {
    assert_int_equal(advice(64, 20000, false), 128);
    assert_int_equal(advice(64, 0, false), 128);
    assert_int_equal(advice(1, 0, false), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_advice_holds_all_that_was_asked_for),
        cmocka_unit_test(the_advice_is_half_as_much_again_at_least),
        cmocka_unit_test(an_address_space_that_says_nothing_leaves_a_guess_of_twice_as_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
