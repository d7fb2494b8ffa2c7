/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/share.h"

#include <string.h>

#include "base/alloc.h"
#include "unit.h"

#define T(text) ((char *) (uintptr_t) (text))

/* physics has half of the shares and nearly all of the usage, most of it bob's. */
static struct share rows[] = {
    {.account = T("root"), .usage = 1000, .rate = 8},
    {.account = T("arts"),
     .parent = T("root"),
     .shares = 1,
     .norm_shares = 0.5,
     .usage = 100,
     .rate = 8,
     .effective_usage = 0.1},
    {.account = T("arts"), .user = T("zoe"), .factor = 1, .usage = 100, .rate = 8},
    {.account = T("physics"),
     .parent = T("root"),
     .shares = 1,
     .norm_shares = 0.5,
     .usage = 900,
     .effective_usage = 0.9,
     .even_in = 100},
    {.account = T("physics"),
     .user = T("ann"),
     .shares = 1,
     .norm_shares = 0.5,
     .factor = 0.6667,
     .usage = 90,
     .effective_usage = 0.1},
    {.account = T("physics"),
     .user = T("bob"),
     .shares = 1,
     .norm_shares = 0.5,
     .factor = 0.3333,
     .usage = 810,
     .effective_usage = 0.9,
     .even_in = -1},
};

static struct share_list sample(int64_t half_life) {
    return (struct share_list) {.fair_tree = true,
                                .multifactor = true,
                                .half_life = half_life,
                                .items = {rows, countof(rows)}};
}

TEST(who_lowered_a_share_is_named_and_when_it_is_even_again) {
    struct share_list list = sample(0);
    struct str out cleanup_str = STR_INIT;
    assert_true(share_text(&list, "ann", &out));
    assert_string_equal(
        out.data,
        "ann in account physics: fair share 0.6667, 1 of 3 users go first\n"
        "  account physics: 50.0 % of the shares of root, 90.0 % of the usage there, over its "
        "share\n"
        "    most of it by bob (90 %), ann (10 %)\n"
        "    even again in 00:01:40 if all go on as now\n"
        "  user ann: 50.0 % of the shares of physics, 10.0 % of the usage there, within its "
        "share\n");
}

TEST(without_use_of_others_nothing_gets_even) {
    struct share_list list = sample(604800);
    struct str out cleanup_str = STR_INIT;
    assert_true(share_text(&list, "BOB", &out));
    assert_non_null(strstr(out.data, "  user bob: 50.0 % of the shares of physics, 90.0 % of the "
                                     "usage there, over its share\n"
                                     "    even again only once the others use more than now\n"));
    assert_non_null(strstr(out.data, "Usage loses half its weight in 7-00:00:00.\n"));
    str_reset(&out);
    assert_false(share_text(&list, "eve", &out));
    assert_int_equal(out.length, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_lowered_a_share_is_named_and_when_it_is_even_again),
        cmocka_unit_test(without_use_of_others_nothing_gets_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
