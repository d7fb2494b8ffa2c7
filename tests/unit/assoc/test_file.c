/* SPDX-License-Identifier: Apache-2.0 */
/* The book as a file. Covers: file_dump.c, file_load.c, tell.c, list.c */
#include "assoc/file.h"
#include "assoc/tell.h"
#include "book_world.h"

static int load(struct book_world *world, const char *text, bool clean) {
    struct assoc_asker asker = {.name = world->user, .is_root = str_equal(world->user, "root")};
    struct assoc_load request = {.text = text, .clean = clean};
    struct assoc_plan plan;
    struct assoc_list added;
    struct error err = ERROR_INIT;
    record_init(&record_assoc_list, &added);
    str_reset(&world->text);
    int r = assoc_plan_load(&world->book, &asker, &request, &plan, &added, &err);
    str_append(&world->text, r < 0 ? err.text : str_cstr(&plan.text));
    size_t n = plan.edits.n;
    if (r == 0)
        assoc_apply(&world->book, &plan, NULL, NULL);
    assoc_plan_done(&plan);
    record_done(&record_assoc_list, &added);
    return r < 0 ? r : (int) n;
}

static void fill(struct book_world *world) {
    book_begin(world);
    book_do(world, "add qos low");
    book_do(world, "add qos high priority=10 preempt=low grptres=mem=1536 maxwall=1-0 "
                   "usagefactor=0.123456 flags=NoDecay preemptmode=within,cancel");
    book_do(world, "add account physics description=it's_physics:_optics fairshare=3");
    book_do(world, "add account lasers parent=physics qos=high,normal maxjobs=5");
    book_do(world, "add user alice account=lasers fairshare=parent");
    book_do(world, "add user alice account=physics partition=fast");
    book_do(world, "add user bob account=physics adminlevel=operator");
    book_do(world, "add coordinator account=lasers names=bob");
}

TEST(a_dump_loads_into_an_empty_book_and_is_the_same_again) {
    struct book_world world, fresh;
    struct str first cleanup_str = STR_INIT, second cleanup_str = STR_INIT;
    fill(&world);
    assoc_dump(&world.book, &first);
    assert_non_null(strstr(first.data, "Description='it''s physics: optics'"));
    assert_non_null(strstr(first.data, "mem=1536M"));
    assert_non_null(strstr(first.data, "MaxWall=1440"));
    book_begin(&fresh);
    assert_true(load(&fresh, first.data, false) > 0);
    assoc_dump(&fresh.book, &second);
    assert_string_equal(second.data, first.data);
    assert_int_equal(load(&fresh, first.data, false), 0);
    book_end(&fresh);
    book_end(&world);
}

TEST(what_a_file_changes_is_told_key_by_key) {
    struct book_world world;
    fill(&world);
    uint32_t id = assoc_find(&world.book, "lasers", "alice", NULL)->id;
    assert_int_equal(load(&world,
                          "Cluster - 'tux'\nParent - 'physics'\n"
                          "Account - 'lasers':MaxJobs=6\nParent - 'lasers'\n"
                          "User - 'alice':MaxJobs=2:AdminLevel='Operator'\n",
                          false),
                     3);
    book_text_is(&world, " Changed Admin Level           for User    alice          None -> "
                         "Operator\n"
                         " Changed MaxJobs               for Account lasers            5 -> 6\n"
                         " Changed MaxJobs               for User    alice               -> 2\n");
    assert_int_equal(assoc_find(&world.book, "lasers", "alice", NULL)->id, id);
    book_end(&world);
}

TEST(a_clean_load_takes_away_what_the_file_does_not_have) {
    struct book_world world;
    fill(&world);
    uint32_t id = assoc_find(&world.book, "physics", "bob", NULL)->id;
    assert_true(load(&world,
                     "Cluster - 'tux'\nParent - 'root'\nAccount - 'physics'\n"
                     "Parent - 'physics'\nUser - 'bob'\n",
                     true) > 0);
    assert_null(account_find(&world.book, "lasers"));
    assert_null(assoc_find(&world.book, "lasers", "alice", NULL));
    assert_null(acct_user_find(&world.book, "alice")->default_account); /* who stays */
    assert_int_equal(assoc_find(&world.book, "physics", "bob", NULL)->id, id);
    assert_non_null(book_qos_find(&world.book, "high"));
    book_end(&world);
}

TEST(a_clean_load_does_not_look_as_if_usage_was_to_be_forgotten) {
    struct book_world world;
    fill(&world);
    book_do(&world, "modify user bob set rawusage=0");
    book_do(&world, "modify qos high set rawusage=0");
    uint32_t resets = assoc_find(&world.book, "physics", "bob", NULL)->usage_resets;
    assert_true(resets > 0);
    assert_true(load(&world,
                     "Cluster - 'tux'\nQOS - 'high'\nParent - 'root'\nAccount - 'physics'\n"
                     "Parent - 'physics'\nUser - 'bob':MaxJobs=3\n",
                     true) > 0);
    assert_int_equal(assoc_find(&world.book, "physics", "bob", NULL)->usage_resets, resets);
    assert_true(book_qos_find(&world.book, "high")->usage_resets > 0);
    book_end(&world);
}

TEST(a_file_with_an_error_changes_nothing_and_the_line_is_named) {
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"Parent - 'root'\n", "You need to specify a cluster name first"},
        {"Cluster - 'other'\n", "This file is for cluster 'other'"},
        {"Cluster - 'tux'\n\n# x\nParent - 'nope'\n", "line(4) You need to add this parent (nope)"},
        {"Cluster - 'tux'\nUser - 'x':MaxJobs=-7\n", "Problem with line(2)"},
        {"Cluster - 'tux'\nUser - 'x':Nonsense=7\n", "Unknown option: Nonsense=7"},
        {"Cluster - 'tux'\nUser - 'x\n", "never closed"},
        {"Cluster - 'tux'\nUser 'x'\n", "Misformatted line"},
        {"Cluster - 'tux'\nUser - 'x':MaxJobs\n", "An option has no value"},
        {"Cluster - 'tux'\nThing - 'x'\n", "Unknown kind Thing"},
        {"Cluster - 'tux'\nQOS - 'low':Preempt='high'\n", "loop"},
        {"Cluster - 'tux'\nParent - 'lasers'\nAccount - 'physics'\n", "cannot be its own parent"},
        {"Cluster - 'tux'\nUser - 'x':DefaultAccount='nope'\n", "doesn't exist"},
    };
    struct book_world world;
    struct str before cleanup_str = STR_INIT, after cleanup_str = STR_INIT;
    fill(&world);
    assoc_dump(&world.book, &before);
    for (size_t i = 0; i < countof(rows); i++) {
        assert_true(load(&world, rows[i].text, false) < 0);
        if (strstr(world.text.data, rows[i].words) == NULL)
            fail_msg("%s: %s", rows[i].text, world.text.data);
    }
    world.user = "bob";
    assert_true(load(&world, "Cluster - 'tux'\n", false) < 0);
    assoc_dump(&world.book, &after);
    assert_string_equal(after.data, before.data);
    book_end(&world);
}

TEST(an_edit_becomes_a_row_that_says_what_was_set) {
    struct assoc old, next;
    struct assoc_told told;
    record_init(&record_assoc, &old);
    record_init(&record_assoc, &next);
    old.id = next.id = 7;
    old.account = next.account = (char *) "physics";
    old.user = next.user = (char *) "alice";
    old.max_wall = 5;
    next.max_jobs = 3;
    assoc_tell_row(ASSOC_ASSOC, &old, &next, &told);
    assert_string_equal(told.action, "Modify Associations");
    assert_string_equal(told.object.data, "id=7 account=physics user=alice");
    assert_string_equal(told.info.data, "MaxJobs=3, MaxWall=-1");
    assoc_told_done(&told);
    struct acct_transaction change = {.time = 100,
                                      .action = (char *) "Modify Associations",
                                      .actor = (char *) "root",
                                      .subject = (char *) "id=7 account=physics user=alice"};
    struct change_query query;
    record_init(&record_change_query, &query);
    assert_true(acct_change_passes(&query, &change));
    strs_push(&query.objects, "Alice");
    assert_true(acct_change_passes(&query, &change));
    strs_push(&query.actors, "bob");
    assert_false(acct_change_passes(&query, &change));
    record_done(&record_change_query, &query);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_loads_into_an_empty_book_and_is_the_same_again),
        cmocka_unit_test(what_a_file_changes_is_told_key_by_key),
        cmocka_unit_test(a_clean_load_takes_away_what_the_file_does_not_have),
        cmocka_unit_test(a_clean_load_does_not_look_as_if_usage_was_to_be_forgotten),
        cmocka_unit_test(a_file_with_an_error_changes_nothing_and_the_line_is_named),
        cmocka_unit_test(an_edit_becomes_a_row_that_says_what_was_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
