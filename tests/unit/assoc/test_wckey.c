/* SPDX-License-Identifier: Apache-2.0 */
/* The wckeys of users. */
#include "assoc/file.h"
#include "assoc/list.h"
#include "book_world.h"

static void begin(struct book_world *world) {
    book_begin(world);
    book_do(world, "add account a1,a2");
}

static const struct acct_user *user(const struct book_world *world, const char *name) {
    const struct acct_user *found = acct_user_find(&world->book, name);
    assert_non_null(found);
    return found;
}

static uint32_t id_of(const struct book_world *world, const char *name, const char *key) {
    const struct user_wckey *found = user_wckey_find(user(world, name), key);
    assert_non_null(found);
    return found->id;
}

TEST(a_user_is_added_with_keys_and_the_first_is_the_default) {
    struct book_world world;
    begin(&world);
    book_do(&world, "add user alice account=a1 wckeys=red,Blue");
    book_text_is(&world, " Adding User(s)\n  alice\n Associations =\n"
                         "  U = alice     A = a1         C = tux       \n WCKeys =\n"
                         "  U = alice     W = red        C = tux       \n"
                         "  U = alice     W = blue       C = tux       \n Non Default Settings\n");
    assert_string_equal(user(&world, "alice")->default_wckey, "red");
    book_do(&world, "add user bob account=a1 defaultwckey=green");
    book_text_is(&world, " Adding User(s)\n  bob\n Settings =\n  Default WCKey   = green\n"
                         " Associations =\n  U = bob       A = a1         C = tux       \n"
                         " WCKeys =\n  U = bob       W = green      C = tux       \n"
                         " Non Default Settings\n");
    book_do(&world, "add user carol wckeys=a defaultwckey=b");
    book_text_is(&world, " Adding User(s)\n  carol\n Settings =\n  Default WCKey   = b\n"
                         " WCKeys =\n  U = carol     W = a          C = tux       \n"
                         "  U = carol     W = b          C = tux       \n");
    assert_string_equal(user(&world, "carol")->default_wckey, "b");
    assert_null(user(&world, "carol")->default_account);
    book_end(&world);
}

TEST(a_user_who_is_there_gets_those_that_are_missing) {
    struct book_world world;
    begin(&world);
    book_do(&world, "add user alice,bob account=a1");
    book_do(&world, "add user alice,bob wckeys=red");
    book_text_is(&world, " WCKeys =\n  U = alice     W = red        C = tux       \n"
                         "  U = bob       W = red        C = tux       \n");
    assert_string_equal(user(&world, "bob")->default_wckey, "red");
    book_do(&world, "add user alice account=a2 wckeys=red,blue");
    book_text_is(&world, " Associations =\n  U = alice     A = a2         C = tux       \n"
                         " WCKeys =\n  U = alice     W = blue       C = tux       \n"
                         " Non Default Settings\n");
    assert_int_equal(book_run(&world, "add user alice wckeys=blue,red"), 1);
    assert_string_equal(user(&world, "alice")->default_wckey, "red");
    book_end(&world);
}

TEST(every_key_of_every_user_has_a_number_of_its_own_that_it_keeps) {
    struct book_world world;
    begin(&world);
    book_do(&world, "add user alice,bob account=a1 wckeys=red,blue");
    book_do(&world, "add user alice wckeys=ash");
    uint32_t ids[] = {id_of(&world, "alice", "red"), id_of(&world, "alice", "blue"),
                      id_of(&world, "bob", "red"), id_of(&world, "bob", "blue"),
                      id_of(&world, "alice", "ash")};
    for (size_t i = 0; i < countof(ids); i++) {
        assert_true(ids[i] > 0);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(ids[i], ids[k]);
    }
    book_do(&world, "modify user alice set wckeys=blue,new");
    assert_int_equal(id_of(&world, "alice", "blue"), ids[1]);
    assert_null(user_wckey_find(user(&world, "alice"), "red"));
    book_do(&world, "modify user alice set wckeys+=more");
    book_do(&world, "modify user alice set wckeys-=new");
    assert_int_equal(user(&world, "alice")->wckeys.n, 2);
    assert_int_equal(id_of(&world, "alice", "blue"), ids[1]);
    book_end(&world);
}

TEST(the_default_is_one_of_the_keys) {
    struct book_world world;
    begin(&world);
    book_do(&world, "add user alice account=a1 wckeys=red,blue");
    book_do(&world, "modify user alice set defaultwckey=BLUE");
    book_text_is(&world, " Modified users...\n  alice\n");
    assert_string_equal(user(&world, "alice")->default_wckey, "blue");
    book_refuses(&world, "modify user alice set defaultwckey=nope",
                 " Can't modify because these users aren't associated with new default wckey "
                 "'nope'...\n  U = alice C = tux");
    book_do(&world, "modify user alice set defaultwckey=-1");
    assert_null(user(&world, "alice")->default_wckey);
    book_do(&world, "modify user wckeys=red set defaultwckey=red");
    assert_string_equal(user(&world, "alice")->default_wckey, "red");
    assert_int_equal(book_run(&world, "modify user wckeys=nope set defaultwckey=red"), 1);
    book_end(&world);
}

TEST(keys_are_deleted_from_some_users_or_all) {
    struct book_world world;
    begin(&world);
    book_do(&world, "add user alice,bob account=a1 wckeys=red,blue");
    book_do(&world, "delete user alice wckeys=blue");
    book_text_is(&world, " Deleting user WCKeys...\n"
                         "  C = tux        W = blue                 U = alice    \n");
    assert_int_equal(book_run(&world, "delete user name=alice wckeys=blue"), 1);
    book_do(&world, "delete user wckeys=red");
    book_text_is(&world, " Deleting user WCKeys...\n"
                         "  C = tux        W = red                  U = alice    \n"
                         "  C = tux        W = red                  U = bob      \n"
                         " User alice has no default wckey any more\n"
                         " User bob has no default wckey any more\n");
    assert_null(user(&world, "bob")->default_wckey);
    assert_int_equal(user(&world, "bob")->wckeys.n, 1);
    book_refuses(&world, "delete user bob wckeys=blue account=a1",
                 " Mixing Account and WCKeys is not allowed");
    book_end(&world);
}

TEST(names_that_cannot_be_listed_are_refused_and_only_administrators_give_keys) {
    static const char *const bad[] = {"*x", "a_b", "a|b", "x=y", "it's"};
    struct book_world world;
    begin(&world);
    book_do(&world, "add user alice account=a1 wckeys=red,blue");
    for (size_t i = 0; i < countof(bad); i++) {
        cleanup_free char *line = xasprintf("add user alice wckeys=%s", bad[i]);
        book_refuses(&world, line, "no * before it");
    }
    cleanup_free char *longest = xasprintf("add user alice wckeys=%0*d", WCKEY_NAME_MAX, 0);
    book_do(&world, longest);
    cleanup_free char *longer = xasprintf("add user alice wckeys=%0*d", WCKEY_NAME_MAX + 1, 0);
    book_refuses(&world, longer, "up to 64 bytes");
    world.user = "alice";
    book_refuses(&world, "add user alice wckeys=green", "only administrators add wckeys");
    book_refuses(&world, "delete user alice wckeys=red", "only administrators may delete wckeys");
    book_refuses(&world, "modify user alice set wckeys=green", "only administrators");
    book_do(&world, "modify user alice set defaultwckey=blue"); /* one's own */
    book_end(&world);
}

TEST(a_file_has_the_keys_and_brings_them_back) {
    struct book_world world;
    struct str text cleanup_str = STR_INIT;
    begin(&world);
    book_do(&world, "add user alice account=a1 wckeys=red,blue");
    assoc_dump(&world.book, &text);
    assert_non_null(strstr(text.data, "User - 'alice':DefaultAccount='a1':DefaultWCKey='red':"
                                      "WCKeys='blue,red':Fairshare=1\n"));
    book_do(&world, "delete user alice");
    struct assoc_load load = {.text = text.data};
    struct assoc_asker root = {.name = "root", .is_root = true};
    struct assoc_plan plan;
    struct assoc_list added;
    struct error err = ERROR_INIT;
    assert_int_equal(assoc_plan_load(&world.book, &root, &load, &plan, &added, &err), 0);
    assoc_apply(&world.book, &plan, NULL, NULL);
    assert_string_equal(user(&world, "alice")->default_wckey, "red");
    assert_true(id_of(&world, "alice", "blue") > 0);
    assert_int_not_equal(id_of(&world, "alice", "blue"), id_of(&world, "alice", "red"));
    assoc_plan_done(&plan);
    record_done(&record_assoc_list, &added);
    book_end(&world);
}

TEST(what_keys_others_have_is_for_operators) {
    struct book_world world;
    struct arena arena;
    begin(&world);
    arena_init(&arena, 0);
    book_do(&world, "add user alice account=a1 wckeys=red");
    book_do(&world, "add user bob account=a1 wckeys=red adminlevel=operator");
    static const struct {
        const char *asker;
        uint32_t n_alice, n_bob;
    } rows[] = {{"alice", 1, 0}, {"bob", 1, 1}, {"mallory", 0, 0}};
    for (size_t i = 0; i < countof(rows); i++) {
        struct assoc_asker asker = {.name = rows[i].asker};
        struct assoc_list list = {.cluster = NULL};
        assoc_list_fill(&world.book, &asker, false, &arena, &list);
        assert_string_equal(list.users.items[0].name, "alice");
        assert_int_equal(list.users.items[0].wckeys.n, rows[i].n_alice);
        assert_int_equal(list.users.items[1].wckeys.n, rows[i].n_bob);
    }
    arena_done(&arena);
    book_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_is_added_with_keys_and_the_first_is_the_default),
        cmocka_unit_test(a_user_who_is_there_gets_those_that_are_missing),
        cmocka_unit_test(every_key_of_every_user_has_a_number_of_its_own_that_it_keeps),
        cmocka_unit_test(the_default_is_one_of_the_keys),
        cmocka_unit_test(keys_are_deleted_from_some_users_or_all),
        cmocka_unit_test(names_that_cannot_be_listed_are_refused_and_only_administrators_give_keys),
        cmocka_unit_test(a_file_has_the_keys_and_brings_them_back),
        cmocka_unit_test(what_keys_others_have_is_for_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
