/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/assoc_index.h"

#include "base/str.h"
#include "cli/columns_assoc.h"
#include "unit.h"

#define T(text) ((char *) (uintptr_t) (text))

/* physics with its part optics, whose user ann is in physics, too; nobody is in arts. */
static struct assoc assocs[] = {
    {.id = 1, .account = T("root")},
    {.id = 2, .account = T("arts"), .parent = T("root")},
    {.id = 3, .account = T("physics"), .parent = T("root"), .qos = T("high")},
    {.id = 4, .account = T("physics"), .user = T("ann")},
    {.id = 5, .account = T("optics"), .parent = T("physics")},
    {.id = 6, .account = T("optics"), .user = T("ann")},
    {.id = 7, .account = T("optics"), .user = T("ann"), .partition = T("gpu")},
};
static char *bob[] = {T("bob")};
static struct account accounts[] = {
    {.name = T("root")},
    {.name = T("arts"), .coordinators = {bob, 1}},
    {.name = T("optics"), .coordinators = {bob, 1}},
    {.name = T("lost")},
};
static struct acct_user users[] = {{.name = T("ann"), .default_account = T("physics")},
                                   {.name = T("bob")}};
static const struct assoc_list list = {.cluster = T("c"),
                                       .accounts = {accounts, countof(accounts)},
                                       .users = {users, countof(users)},
                                       .assocs = {assocs, countof(assocs)}};

static void ids_check(const struct assoc_link *link, const char *expected) {
    struct str found cleanup_str = STR_INIT;
    for (; link != NULL; link = link->next)
        str_printf(&found, "%u ", link->assoc->id);
    assert_string_equal(str_cstr(&found), expected);
}

TEST(associations_of_an_account_or_user_come_in_the_order_of_the_list) {
    struct assoc_index index;
    assoc_index_init(&index, &list);
    ids_check(assoc_index_of_account(&index, "optics"), "5 6 7 ");
    ids_check(assoc_index_of_user(&index, "ann"), "4 6 7 ");
    ids_check(assoc_index_of_user(&index, "bob"), "");
    ids_check(assoc_index_of_account(&index, "chemistry"), "");
    ids_check(assoc_index_of_account(&index, NULL), "");
    assoc_index_done(&index);
}

TEST(what_stands_above_is_the_accounts_own_association) {
    struct assoc_index index;
    assoc_index_init(&index, &list);
    assert_int_equal(assoc_index_above(&index, &assocs[6])->id, 5);
    assert_int_equal(assoc_index_above(&index, &assocs[4])->id, 3);
    assert_null(assoc_index_above(&index, &assocs[0]));
    assert_null(assoc_index_own(&index, "lost"));
    assert_true(assoc_index_is_parent(&index, "physics"));
    assert_false(assoc_index_is_parent(&index, "optics"));
    assert_int_equal(assoc_depth(&index, "optics"), 2);
    const struct assoc_row row = {.index = &index, .assoc = &assocs[6]};
    assert_string_equal(qos_of_row(&row), "high");
    assoc_index_done(&index);
}

TEST(users_and_what_they_coordinate_are_found) {
    struct assoc_index index;
    assoc_index_init(&index, &list);
    assert_string_equal(assoc_index_user(&index, "ann")->default_account, "physics");
    assert_null(assoc_index_user(&index, "eve"));
    const struct assoc_link *link = assoc_index_coordinated(&index, "bob");
    assert_string_equal(link->account->name, "arts");
    assert_string_equal(link->next->account->name, "optics");
    assert_null(link->next->next);
    assert_null(assoc_index_coordinated(&index, "ann"));
    assoc_index_done(&index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(associations_of_an_account_or_user_come_in_the_order_of_the_list),
        cmocka_unit_test(what_stands_above_is_the_accounts_own_association),
        cmocka_unit_test(users_and_what_they_coordinate_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
