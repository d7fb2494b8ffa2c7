/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts, coordinators, the cluster. */
#include "book_world.h"

TEST(an_account_is_added_with_its_association) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add account physics description=Physics_dept organization=science");
    book_text_is(&world, " Adding Account(s)\n  physics\n Settings\n"
                         "  Description     = Physics dept\n  Organization    = science\n"
                         " Associations\n  A = physics    C = tux       \n");
    book_do(&world, "add account grad parent=physics maxjobs=4 grptres=cpu=32 fairshare=5");
    book_text_is(&world, " Adding Account(s)\n  grad\n Settings\n"
                         "  Description     = Account Name\n"
                         "  Organization    = Parent/Account Name\n"
                         " Associations\n  A = grad       C = tux       \n Settings\n"
                         "  Fairshare     = 5\n  GrpTRES       = cpu=32\n"
                         "  MaxJobs       = 4\n  Parent        = physics\n");
    assert_string_equal(account_find(&world.book, "grad")->organization, "physics");
    assert_int_equal(assoc_find(&world.book, "grad", NULL, NULL)->shares, 5);
    assert_int_equal(book_run(&world, "add account physics"), 1);
    book_refuses(&world, "add account x parent=nope", "Parent account 'nope' doesn't exist");
    book_refuses(&world, "add account x cluster=other", "This cluster 'other' doesn't exist");
    book_refuses(&world, "add account", "Need name of account");
    book_end(&world);
}

TEST(the_tree_has_no_cycles) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add account a");
    book_do(&world, "add account b parent=a");
    book_do(&world, "add account c parent=b");
    book_refuses(&world, "modify account a set parent=c", "cannot be its own parent");
    book_refuses(&world, "modify account a set parent=a", "cannot be its own parent");
    book_refuses(&world, "modify account root set parent=a", "cannot be its own parent");
    book_do(&world, "modify account c set parent=root");
    book_text_is(&world, " Modified account associations...\n  C = tux        A = c of b\n");
    assert_false(account_is_below(&world.book, "c", "a"));
    book_end(&world);
}

TEST(an_account_goes_with_all_below_it_and_says_so) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add account a,other");
    book_do(&world, "add account b parent=a");
    book_do(&world, "add user alice account=b,other");
    book_do(&world, "add user bob account=b");
    book_do(&world, "delete account a");
    book_text_is(&world, " Deleting accounts...\n  a\n  b (below a)\n"
                         " Default account of user alice is now other\n"
                         " Default account of user bob is now none\n");
    assert_null(account_find(&world.book, "b"));
    assert_null(assoc_find(&world.book, "b", "alice", NULL));
    assert_string_equal(acct_user_find(&world.book, "alice")->default_account, "other");
    assert_null(acct_user_find(&world.book, "bob")->default_account);
    book_refuses(&world, "delete account root", "not allowed to remove the root account");
    book_refuses(&world, "delete account", "No conditions given");
    assert_int_equal(book_run(&world, "delete account nope"), 1);
    book_end(&world);
}

TEST(an_account_goes_quickly_however_many_users_it_has) {
    struct book_world world;
    struct str line cleanup_str = STR_INIT;
    book_begin(&world);
    book_do(&world, "add account a,other");
    str_append(&line, "add user account=other,a names=");
    for (unsigned i = 0; i < 1500; i++)
        str_printf(&line, "%su%u", i > 0 ? "," : "", i);
    book_do(&world, line.data);
    book_do(&world, "delete account other");
    assert_string_equal(acct_user_find(&world.book, "u1499")->default_account, "a");
    book_end(&world);
}

TEST(coordinators_manage_what_lies_below_their_account) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add account a,other");
    book_do(&world, "add user carol account=a");
    book_refuses(&world, "add coordinator names=carol", "specify an account list");
    book_refuses(&world, "add coordinator account=a names=zz", "non-existent user 'zz'");
    book_do(&world, "add coordinator account=a names=carol");
    assert_int_equal(book_run(&world, "add coordinator account=a names=carol"), 1);
    world.user = "carol";
    book_do(&world, "add account b parent=a");
    book_do(&world, "add user dave account=b");
    book_do(&world, "modify user dave set maxjobs=3");
    book_refuses(&world, "add account c", "administrators and coordinators of account root");
    book_refuses(&world, "add user dave account=other", "coordinators of account other");
    book_refuses(&world, "modify account b set parent=other", "coordinators of account other");
    book_refuses(&world, "modify user dave set adminlevel=admin", "only administrators");
    world.user = "root";
    book_do(&world, "delete coordinator account=a names=carol");
    world.user = "carol";
    book_refuses(&world, "delete user dave", "coordinators of account b");
    book_end(&world);
}

TEST(limits_of_the_cluster_are_those_of_the_root_account) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "modify cluster tux set maxjobs=100");
    assert_int_equal(assoc_find(&world.book, "root", NULL, NULL)->max_jobs, 100);
    assert_int_equal(book_run(&world, "modify cluster other set maxjobs=1"), 1);
    book_refuses(&world, "add cluster c2", "cluster tux alone");
    book_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_account_is_added_with_its_association),
        cmocka_unit_test(the_tree_has_no_cycles),
        cmocka_unit_test(an_account_goes_with_all_below_it_and_says_so),
        cmocka_unit_test(an_account_goes_quickly_however_many_users_it_has),
        cmocka_unit_test(coordinators_manage_what_lies_below_their_account),
        cmocka_unit_test(limits_of_the_cluster_are_those_of_the_root_account),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
