/* SPDX-License-Identifier: Apache-2.0 */
/* Users and their associations. */
#include "book_world.h"

static void begin(struct book_world *world) {
    book_begin(world);
    book_do(world, "add account a1,a2,grad");
}

TEST(a_user_is_added_to_accounts_and_the_first_is_the_default) {
    struct book_world world;
    begin(&world);
    book_do(&world, "add user alice,bob account=a1,a2 maxjobs=2");
    book_text_is(&world, " Adding User(s)\n  alice\n  bob\n Associations =\n"
                         "  U = alice     A = a1         C = tux       \n"
                         "  U = alice     A = a2         C = tux       \n"
                         "  U = bob       A = a1         C = tux       \n"
                         "  U = bob       A = a2         C = tux       \n"
                         " Non Default Settings\n  MaxJobs       = 2\n");
    assert_string_equal(acct_user_find(&world.book, "alice")->default_account, "a1");
    assert_int_equal(book_run(&world, "add user alice account=a1"), 1);
    book_do(&world, "add user alice account=grad");
    book_text_is(&world, " Associations =\n  U = alice     A = grad       C = tux       \n"
                         " Non Default Settings\n");
    book_end(&world);
}

TEST(what_cannot_be_added_is_refused) {
    struct book_world world;
    begin(&world);
    book_refuses(&world, "add user alice", "Need name of account to add user to.");
    book_refuses(&world, "add user account=a1", "Need name of user to add.");
    book_refuses(&world, "add user alice account=nope", "This account 'nope' doesn't exist.");
    book_refuses(&world, "add user alice account=a1 defaultaccount=a2", "none of those");
    book_refuses(&world, "add user alice account=a1 qos=nope", "You gave a bad qos 'nope'");
    book_refuses(&world, "add user al'ice account=a1", "Bad name");
    world.user = "mallory";
    book_refuses(&world, "add user mallory account=a1", "coordinators of account a1");
    book_end(&world);
}

TEST(settings_go_to_the_user_or_to_the_associations_that_are_meant) {
    struct book_world world;
    begin(&world);
    book_do(&world, "add user alice account=a1,grad");
    book_do(&world, "modify user alice set maxjobs=9");
    book_text_is(&world, " Modified user associations...\n"
                         "  C = tux        A = a1                   U = alice    \n"
                         "  C = tux        A = grad                 U = alice    \n");
    book_do(&world, "modify user name=alice account=grad set maxjobs=7 grptres=cpu=4,mem=2G");
    assert_int_equal(assoc_find(&world.book, "grad", "alice", NULL)->max_jobs, 7);
    assert_int_equal(assoc_find(&world.book, "a1", "alice", NULL)->max_jobs, 9);
    book_do(&world, "modify user alice set defaultaccount=grad adminlevel=op");
    book_text_is(&world, " Modified users...\n  alice\n");
    assert_string_equal(acct_user_find(&world.book, "alice")->default_account, "grad");
    book_refuses(&world, "modify user alice set defaultaccount=a2",
                 "aren't associated with new default account 'a2'");
    book_refuses(&world, "modify user alice set adminlevel=king",
                 "None, Operator or Administrator");
    book_refuses(&world, "modify user alice set parent=a1", "Unknown option: parent=a1");
    assert_int_equal(book_run(&world, "modify user nope set maxjobs=1"), 1);
    book_end(&world);
}

TEST(a_user_goes_with_the_last_association) {
    struct book_world world;
    begin(&world);
    book_do(&world, "add user alice account=a1,grad");
    book_do(&world, "add coordinator account=a2 names=alice");
    book_do(&world, "delete user alice account=a1");
    book_text_is(&world, " Deleting user associations...\n"
                         "  C = tux        A = a1         U = alice    \n"
                         " Default account of user alice is now grad\n");
    book_do(&world, "delete user alice account=grad");
    book_text_is(&world, " Deleting user associations...\n"
                         "  C = tux        A = grad       U = alice    \n"
                         " Deleting users (No Associations)...\n  alice\n");
    assert_null(acct_user_find(&world.book, "alice"));
    assert_int_equal(account_find(&world.book, "a2")->coordinators.n, 0);
    book_do(&world, "add user bob account=a1,a2");
    book_do(&world, "delete user bob");
    book_text_is(&world, " Deleting users...\n  bob\n");
    assert_null(assoc_find(&world.book, "a1", "bob", NULL));
    assert_int_equal(book_run(&world, "delete user bob"), 1);
    book_refuses(&world, "delete user root", "User root stays");
    book_refuses(&world, "delete user", "No conditions given");
    book_end(&world);
}

TEST(what_is_added_to_an_inherited_list_is_added_to_what_it_is) {
    struct book_world world;
    begin(&world);
    book_do(&world, "add qos q1,q2,q3");
    book_do(&world, "modify account a1 set qos=q2,q1");
    assert_string_equal(assoc_find(&world.book, "a1", NULL, NULL)->qos, "q1,q2");
    book_do(&world, "add user alice account=a1");
    book_do(&world, "modify user alice set qos+=q3");
    assert_string_equal(assoc_find(&world.book, "a1", "alice", NULL)->qos, "q1,q2,q3");
    book_do(&world, "modify user alice set qos-=q1");
    assert_string_equal(assoc_find(&world.book, "a1", "alice", NULL)->qos, "q2,q3");
    book_do(&world, "modify user alice set qos=q3");
    assert_string_equal(assoc_find(&world.book, "a1", "alice", NULL)->qos, "q3");
    book_end(&world);
}

TEST(operators_change_accounts_and_users_but_make_no_administrators) {
    struct book_world world;
    begin(&world);
    book_do(&world, "add user oliver account=a1 adminlevel=operator");
    book_do(&world, "add user alice account=a2");
    world.user = "oliver";
    book_do(&world, "modify account a2 set maxjobs=3");
    book_do(&world, "modify user alice set maxjobs=2");
    book_do(&world, "add account a3");
    book_refuses(&world, "modify user alice set adminlevel=operator", "only administrators");
    book_refuses(&world, "add qos mine", "only administrators");
    book_do(&world, "delete user alice");
    book_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_is_added_to_accounts_and_the_first_is_the_default),
        cmocka_unit_test(what_cannot_be_added_is_refused),
        cmocka_unit_test(settings_go_to_the_user_or_to_the_associations_that_are_meant),
        cmocka_unit_test(a_user_goes_with_the_last_association),
        cmocka_unit_test(what_is_added_to_an_inherited_list_is_added_to_what_it_is),
        cmocka_unit_test(operators_change_accounts_and_users_but_make_no_administrators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
