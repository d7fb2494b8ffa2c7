/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of accounts and users, small enough to be reckoned by hand. */
#include "sched/fairshare.h"

#include "base/alloc.h"
#include "unit.h"

#define ROOT                                                                                       \
    { .parent = FAIRSHARE_NO_PARENT, .shares = 1 }
#define ACCOUNT(parent_, shares_, usage_)                                                          \
    { .parent = parent_, .shares = shares_, .usage = usage_ }
#define USER(parent_, shares_, usage_)                                                             \
    { .parent = parent_, .shares = shares_, .usage = usage_, .is_user = true }

static bool near(double a, double b) {
    return fabs(a - b) < 1e-9;
}

TEST(users_of_the_account_that_is_owed_more_go_first) {
    /* physics has half the shares and a quarter of the usage, though ann alone has used most of
     * that. */
    struct fairshare_node nodes[] = {ROOT,           ACCOUNT(0, 50, 100), ACCOUNT(0, 50, 300),
                                     USER(1, 1, 90), USER(1, 1, 10),      USER(2, 1, 0),
                                     USER(2, 1, 300)};
    nodes[0].usage = 400;
    fairshare_tree(nodes, countof(nodes));
    assert_true(near(nodes[1].level, 2));
    assert_true(near(nodes[2].level, 0.5 / 0.75));
    assert_true(near(nodes[4].factor, 1));
    assert_true(near(nodes[3].factor, 0.75));
    assert_true(near(nodes[5].factor, 0.5));
    assert_true(isinf(nodes[5].level));
    assert_true(near(nodes[6].factor, 0.25));
}

TEST(equal_users_have_equal_ranks_and_equal_accounts_are_one) {
    struct fairshare_node nodes[] = {ROOT,          ACCOUNT(0, 1, 10), ACCOUNT(0, 1, 10),
                                     USER(1, 1, 2), USER(1, 1, 8),     USER(2, 1, 5),
                                     USER(2, 1, 5)};
    fairshare_tree(nodes, countof(nodes));
    assert_true(near(nodes[3].factor, 1));
    assert_true(near(nodes[5].factor, 0.75));
    assert_true(near(nodes[6].factor, 0.75));
    assert_true(near(nodes[4].factor, 0.25));
}

TEST(a_user_with_the_parents_shares_stands_among_the_parents_siblings) {
    struct fairshare_node nodes[] = {ROOT, ACCOUNT(0, 1, 60), ACCOUNT(0, 1, 40),
                                     USER(1, FAIRSHARE_PARENT, 60), USER(2, 1, 40)};
    fairshare_tree(nodes, countof(nodes));
    /* three siblings with a share each: the account of user 4 has used 40 of 160 */
    assert_true(near(nodes[3].norm_shares, 1.0 / 3));
    assert_true(near(nodes[4].factor, 1));
    assert_true(near(nodes[3].factor, 0.5));
}

TEST(without_usage_everybody_is_first_and_without_shares_last) {
    struct fairshare_node nodes[] = {ROOT, USER(0, 1, 0), USER(0, 5, 0), USER(0, 0, 0)};
    fairshare_tree(nodes, countof(nodes));
    assert_true(near(nodes[1].factor, 1));
    assert_true(near(nodes[2].factor, 1));
    assert_true(near(nodes[3].factor, 1.0 / 3));
    fairshare_tree(nodes, 0);
}

TEST(the_classic_factor_halves_with_each_share_that_is_used) {
    struct fairshare_node nodes[] = {ROOT, ACCOUNT(0, 1, 100), ACCOUNT(0, 1, 0), USER(1, 1, 100),
                                     USER(2, 1, 0)};
    nodes[0].usage = 100;
    fairshare_classic(nodes, countof(nodes), 1);
    /* account 1: shares 1/2, all of the usage: 2^-2 */
    assert_true(near(nodes[1].factor, 0.25));
    assert_true(near(nodes[3].factor, 0.25));
    /* account 2: nothing used by itself, half of what the root has beyond it */
    assert_true(near(nodes[2].effective_usage, 0.5));
    assert_true(near(nodes[2].factor, 0.5));
    fairshare_classic(nodes, countof(nodes), 2);
    assert_true(near(nodes[1].factor, 0.5));
}

TEST(usage_decays_by_half_lives) {
    assert_true(near(usage_decayed(100, 7 * 86400, 7 * 86400), 50));
    assert_true(near(usage_decayed(100, 86400, 0), 100));
    assert_true(near(usage_decayed(100, -5, 10), 100));
    double twice = usage_decayed(usage_decayed(100, 1000, 5000), 500, 5000);
    assert_true(near(twice, usage_decayed(100, 1500, 5000)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_of_the_account_that_is_owed_more_go_first),
        cmocka_unit_test(equal_users_have_equal_ranks_and_equal_accounts_are_one),
        cmocka_unit_test(a_user_with_the_parents_shares_stands_among_the_parents_siblings),
        cmocka_unit_test(without_usage_everybody_is_first_and_without_shares_last),
        cmocka_unit_test(the_classic_factor_halves_with_each_share_that_is_used),
        cmocka_unit_test(usage_decays_by_half_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
