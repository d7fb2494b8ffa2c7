/* SPDX-License-Identifier: Apache-2.0 */
#include "model/reason.h"

#include "unit.h"

static void begins(const char *text, const char *expected) {
    const struct reason_row *row = reason_find(text);
    assert_non_null(row);
    assert_string_equal(row->begins, expected);
}

TEST(a_reason_of_the_system_is_known_by_how_it_begins) {
    begins("disk: /tmp is 99 % full or more", "disk:");
    begins("gres/gpu count reported lower than configured (1 < 2)", "gres/");
    begins("Kill task failed: pid 12 (dd, state D) of step 1.0", "Kill task failed");
    assert_null(reason_find("the disk: it rattles"));
    assert_null(reason_find("bad DIMM"));
    assert_null(reason_find(NULL));
    assert_null(reason_find(""));
}

TEST(it_is_found_behind_others) {
    begins("bad DIMM : Not responding", "Not responding");
    begins("bad fan, again; readonly: /data", "readonly:");
    begins("Low socket*core*thread count, Low CPUs", "Low socket*core*thread count");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reason_of_the_system_is_known_by_how_it_begins),
        cmocka_unit_test(it_is_found_behind_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
