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

/* The figures of Debian's sshare for such a tree. */
TEST(a_user_with_the_parents_shares_goes_before_siblings_who_have_used_something) {
    struct fairshare_node nodes[] = {ROOT,
                                     USER(0, 1, 0),
                                     ACCOUNT(0, 1, 0),
                                     USER(2, 1, 0),
                                     ACCOUNT(0, 3, 100),
                                     USER(4, FAIRSHARE_PARENT, 50),
                                     ACCOUNT(4, 2, 0),
                                     USER(6, 1, 0),
                                     USER(6, 1, 0),
                                     ACCOUNT(4, 2, 50),
                                     USER(9, 5, 50),
                                     USER(9, 1, 0)};
    nodes[0].usage = 100;
    fairshare_tree(nodes, countof(nodes));
    static const double factors[] = {0, 1,       0,       1, 0,       5.0 / 7,
                                     0, 5.0 / 7, 5.0 / 7, 0, 1.0 / 7, 2.0 / 7};
    for (size_t i = 0; i < countof(nodes); i++)
        assert_true(near(nodes[i].factor, factors[i]));
    assert_true(near(nodes[5].norm_shares, 0.6));
    assert_true(near(nodes[5].effective_usage, 0.5));
    assert_true(near(nodes[9].norm_shares, 0.5));
    assert_true(near(nodes[9].effective_usage, 0.5));
    assert_true(near(nodes[10].level, 5.0 / 6));
}

TEST(what_is_below_an_account_with_the_parents_shares_stands_beside_it) {
    struct fairshare_node nodes[] = {ROOT, ACCOUNT(0, FAIRSHARE_PARENT, 60), USER(1, 1, 60),
                                     USER(0, 1, 40)};
    nodes[0].usage = 100;
    fairshare_tree(nodes, countof(nodes));
    assert_true(near(nodes[2].norm_shares, 0.5));
    assert_true(near(nodes[2].effective_usage, 0.6));
    assert_true(near(nodes[3].factor, 1));
    assert_true(near(nodes[2].factor, 0.5));
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

TEST(the_classic_factor_of_many_siblings_takes_no_time) {
    uint32_t n = 200002;
    struct fairshare_node *nodes = xcalloc(n, sizeof(*nodes));
    nodes[0] = (struct fairshare_node) ROOT;
    nodes[1] = (struct fairshare_node) ACCOUNT(0, 1, 100);
    for (uint32_t i = 2; i < n; i++)
        nodes[i] = (struct fairshare_node) USER(1, 1, 0);
    nodes[0].usage = 100;
    fairshare_classic(nodes, n, 1);
    assert_true(near(nodes[n - 1].norm_shares, 1 / 200000.0));
    free(nodes);
}

TEST(usage_decays_by_half_lives) {
    assert_true(near(usage_decayed(100, 7 * 86400, 7 * 86400), 50));
    assert_true(near(usage_decayed(100, 86400, 0), 100));
    assert_true(near(usage_decayed(100, -5, 10), 100));
    double twice = usage_decayed(usage_decayed(100, 1000, 5000), 500, 5000);
    assert_true(near(twice, usage_decayed(100, 1500, 5000)));
}

TEST(steady_use_comes_to_what_its_seconds_leave) {
    double sum = 0;
    for (int second = 0; second < 3600; second++)
        sum = usage_decayed(sum, 1, 600) + usage_accrued(3, 1, 600);
    assert_true(near(sum, usage_accrued(3, 3600, 600)));
    /* As long as that is many half-lives it comes to rate * half-life / ln 2. */
    assert_true(fabs(usage_accrued(1, 100000, 600) - 600 / 0.6931471805599453) < 1e-6);
    assert_true(near(usage_accrued(3, 10, 0), 30));
    assert_true(near(usage_accrued(3, -10, 600), 0));
}

/* The part of the usage of all that one has after some seconds of the same use. */
static double part_after(const struct fairshare_outlook *o, int64_t seconds, int64_t half_life) {
    double own =
        usage_decayed(o->usage, seconds, half_life) + usage_accrued(o->rate, seconds, half_life);
    double all = usage_decayed(o->all_usage, seconds, half_life) +
                 usage_accrued(o->all_rate, seconds, half_life);
    return own / all;
}

TEST(who_is_over_its_share_is_even_when_the_others_have_caught_up) {
    struct fairshare_outlook o = {
        .norm_shares = 0.25, .usage = 5000, .rate = 1, .all_usage = 10000, .all_rate = 10};
    for (int64_t half_life = 0; half_life <= 1000000; half_life += 500000) {
        int64_t seconds = fairshare_even_in(&o, half_life);
        assert_true(seconds > 0);
        assert_true(part_after(&o, seconds, half_life) <= 0.25);
        assert_true(part_after(&o, seconds - 1, half_life) > 0.25);
    }
    o.rate = 3;
    assert_int_equal(fairshare_even_in(&o, 500000), -1);
    o.usage = 2000;
    assert_int_equal(fairshare_even_in(&o, 500000), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_of_the_account_that_is_owed_more_go_first),
        cmocka_unit_test(equal_users_have_equal_ranks_and_equal_accounts_are_one),
        cmocka_unit_test(
            a_user_with_the_parents_shares_goes_before_siblings_who_have_used_something),
        cmocka_unit_test(what_is_below_an_account_with_the_parents_shares_stands_beside_it),
        cmocka_unit_test(without_usage_everybody_is_first_and_without_shares_last),
        cmocka_unit_test(the_classic_factor_halves_with_each_share_that_is_used),
        cmocka_unit_test(the_classic_factor_of_many_siblings_takes_no_time),
        cmocka_unit_test(usage_decays_by_half_lives),
        cmocka_unit_test(steady_use_comes_to_what_its_seconds_leave),
        cmocka_unit_test(who_is_over_its_share_is_even_when_the_others_have_caught_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
