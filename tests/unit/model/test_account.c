/* SPDX-License-Identifier: Apache-2.0 */
/* The records of accounts, users and associations. */
#include "base/arena.h"
#include "model/account.h"
#include "unit.h"

TEST(an_association_that_says_nothing_has_no_limits) {
    struct assoc assoc, copy;
    struct str out cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    struct arena arena;
    arena_init(&arena, 0);
    record_init(&record_assoc, &assoc);
    assoc.id = 3;
    assoc.account = (char *) (uintptr_t) "physics";
    wire_encode(&record_assoc, &assoc, NULL, &out);
    assert_int_equal(wire_decode(&record_assoc, str_bytes(&out), &arena, &copy, &err), 0);
    assert_int_equal(copy.id, 3);
    assert_null(copy.user);
    assert_int_equal(copy.max_jobs, UNSET32);
    assert_int_equal(copy.shares, UNSET32);
    arena_done(&arena);
}

TEST(a_new_user_is_no_administrator) {
    struct acct_user user;
    record_init(&record_acct_user, &user);
    assert_int_equal(user.admin_level, ADMIN_NONE);
    assert_string_equal(names_text(&names_admin_level, ADMIN_OPERATOR), "Operator");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_association_that_says_nothing_has_no_limits),
        cmocka_unit_test(a_new_user_is_no_administrator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
