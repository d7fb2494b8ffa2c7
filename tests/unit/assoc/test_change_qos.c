/* SPDX-License-Identifier: Apache-2.0 */
/* Qualities of service, and the words of any change. Covers: change.c */
#include "book_world.h"

TEST(what_is_added_is_told_with_its_settings) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add qos High,low priority=5 grpwall=100");
    book_text_is(&world, " Adding QOS(s)\n  high\n  low\n Settings\n  Description    = low\n"
                         "  GrpWall                  = 01:40:00\n"
                         "  Priority                 = 5\n");
    assert_int_equal(book_qos_find(&world.book, "high")->id, 2);
    assert_int_equal(book_qos_find(&world.book, "low")->id, 3);
    assert_int_equal(world.n_put, 2);
    assert_int_equal(book_run(&world, "add qos low"), 1);
    book_end(&world);
}

TEST(names_and_settings_that_cannot_be_are_refused) {
    struct book_world world;
    book_begin(&world);
    book_refuses(&world, "add qos", "Need name of qos to add.");
    book_refuses(&world, "add qos it's", "Bad name");
    book_refuses(&world, "add qos a foo=1", "Unknown option: foo=1");
    book_refuses(&world, "add qos a priorty=1", "Did you mean Priority?");
    book_refuses(&world, "modify qos normal set", "You didn't give me anything to set");
    book_refuses(&world, "modify qos priority=3 set priority=2", "Unknown condition: priority=3");
    book_refuses(&world, "delete qos", "No conditions given");
    book_refuses(&world, "delete qos normal", "it stays");
    world.user = "alice";
    book_refuses(&world, "add qos a", "only administrators");
    book_end(&world);
}

TEST(without_conditions_all_change) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add qos a,b");
    book_do(&world, "modify qos set priority=9");
    book_text_is(&world, " Modified qos...\n  normal\n  a\n  b\n");
    assert_int_equal(book_qos_find(&world.book, "normal")->priority, 9);
    book_do(&world, "modify qos a b set priority=3");
    book_text_is(&world, " Modified qos...\n  a\n  b\n");
    assert_int_equal(book_run(&world, "modify qos zz set priority=1"), 1);
    book_end(&world);
}

TEST(no_qos_preempts_itself_over_others) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add qos a,b,c");
    book_do(&world, "modify qos a set preempt=b");
    book_do(&world, "modify qos b set preempt=c");
    book_refuses(&world, "modify qos c set preempt=a", "Preemption loop");
    book_refuses(&world, "modify qos c set preempt=c", "Preemption loop");
    book_refuses(&world, "modify qos c set preempt=zz", "Valid QOS's are normal,a,b,c");
    book_end(&world);
}

TEST(one_that_goes_is_named_nowhere_any_more) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add qos a,b,c");
    book_do(&world, "modify qos a set preempt=b,c");
    book_do(&world, "add account physics qos=a,b defaultqos=b");
    book_do(&world, "delete qos b");
    book_text_is(&world, " Deleting QOS(s)...\n  b\n");
    assert_null(book_qos_find(&world.book, "b"));
    assert_string_equal(book_qos_find(&world.book, "a")->preempt, "c");
    const struct assoc *physics = assoc_find(&world.book, "physics", NULL, NULL);
    assert_string_equal(physics->qos, "a");
    assert_null(physics->default_qos);
    assert_int_equal(world.n_removed, 1);
    assert_int_equal(world.n_put, 2);
    book_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_told_with_its_settings),
        cmocka_unit_test(names_and_settings_that_cannot_be_are_refused),
        cmocka_unit_test(without_conditions_all_change),
        cmocka_unit_test(no_qos_preempts_itself_over_others),
        cmocka_unit_test(one_that_goes_is_named_nowhere_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
