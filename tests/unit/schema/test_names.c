/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "schema/schema.h"
#include "unit.h"

static const struct name_row rows[] = {{3, "PENDING", "PD"}, {0, "RUNNING", "R"}, {7, "odd", NULL}};
static const struct names names = {rows, countof(rows)};

TEST(a_value_has_its_name_or_none) {
    assert_string_equal(names_text(&names, 3), "PENDING");
    assert_string_equal(names_compact(&names, 0), "R");
    assert_null(names_compact(&names, 7));
    assert_null(names_text(&names, 1));
    assert_null(names_compact(&names, UINT32_MAX));
}

TEST(names_are_found_in_both_forms_whatever_their_case) {
    uint32_t value = 99;
    assert_true(names_value(&names, "pending", &value));
    assert_int_equal(value, 3);
    assert_true(names_value(&names, "r", &value));
    assert_int_equal(value, 0);
    assert_true(names_value(&names, "ODD", &value));
    assert_int_equal(value, 7);
    assert_false(names_value(&names, "", &value));
    assert_false(names_value(&names, "PEND", &value));
    assert_int_equal(value, 7);
}

TEST(a_list_shows_all_names_in_table_order) {
    struct str out cleanup_str = STR_INIT;
    names_list(&names, ", ", &out);
    assert_string_equal(out.data, "PENDING, RUNNING, odd");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_has_its_name_or_none),
        cmocka_unit_test(names_are_found_in_both_forms_whatever_their_case),
        cmocka_unit_test(a_list_shows_all_names_in_table_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
