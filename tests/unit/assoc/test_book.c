/* SPDX-License-Identifier: Apache-2.0 */
/* Finding what counts for whom. */
#include "book_world.h"

TEST(a_new_book_has_root_and_the_normal_qos) {
    struct book_world world;
    book_begin(&world);
    assert_non_null(account_find(&world.book, "root"));
    assert_non_null(acct_user_find(&world.book, "ROOT"));
    assert_non_null(assoc_find(&world.book, "root", "root", NULL));
    assert_int_equal(book_qos_find(&world.book, "normal")->id, 1);
    assert_null(account_find(&world.book, NULL));
    book_end(&world);
}

TEST(the_association_of_a_partition_counts_before_the_one_for_all) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add account physics");
    book_do(&world, "add user alice account=physics");
    book_do(&world, "add user alice account=physics partition=gpu maxjobs=2");
    assert_int_equal(assoc_of_job(&world.book, "physics", "alice", "gpu")->max_jobs, 2);
    assert_int_equal(assoc_of_job(&world.book, "physics", "alice", "main")->max_jobs, UNSET32);
    assert_null(assoc_of_job(&world.book, "root", "alice", "main"));
    assert_null(assoc_of_job(&world.book, NULL, "alice", "main"));
    book_end(&world);
}

TEST(qos_are_inherited_from_the_account_above) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add qos high,low");
    book_do(&world, "add account physics qos=low,high defaultqos=low");
    book_do(&world, "add account optics parent=physics");
    book_do(&world, "add user alice account=optics");
    const struct assoc *alice = assoc_find(&world.book, "optics", "alice", NULL);
    assert_string_equal(assoc_qos(&world.book, alice), "high,low");
    assert_string_equal(assoc_default_qos(&world.book, alice), "low");
    const struct assoc *root = assoc_find(&world.book, "root", "root", NULL);
    assert_string_equal(assoc_qos(&world.book, root), "normal");
    assert_string_equal(assoc_default_qos(&world.book, root), "normal");
    assert_true(account_is_below(&world.book, "optics", "physics"));
    assert_true(account_is_below(&world.book, "optics", "optics"));
    assert_false(account_is_below(&world.book, "physics", "optics"));
    book_end(&world);
}

TEST(a_stored_record_takes_the_place_of_the_one_of_its_name) {
    struct book_world world;
    book_begin(&world);
    struct qos *qos = record_dup(&record_qos, book_qos_find(&world.book, "normal"));
    qos->priority = 7;
    assoc_book_restore(&world.book, ASSOC_QOS, qos);
    assert_int_equal(world.book.entries[ASSOC_QOS].n, 1);
    assert_int_equal(book_qos_find(&world.book, "normal")->priority, 7);
    struct assoc *assoc = record_dup(&record_assoc, assoc_find(&world.book, "root", NULL, NULL));
    assoc->id = 9;
    assoc_book_restore(&world.book, ASSOC_ASSOC, assoc);
    assert_int_equal(world.book.entries[ASSOC_ASSOC].n, 3);
    book_end(&world);
}

TEST(administrators_and_operators_are_known_by_their_level) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add account physics");
    book_do(&world, "add user alice account=physics adminlevel=operator");
    struct assoc_asker alice = {"alice", false}, bob = {"bob", false}, owner = {"slurm", true};
    assert_true(asker_is_operator(&world.book, &alice));
    assert_false(asker_is_admin(&world.book, &alice));
    assert_false(asker_is_operator(&world.book, &bob));
    assert_true(asker_is_admin(&world.book, &owner));
    book_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_book_has_root_and_the_normal_qos),
        cmocka_unit_test(the_association_of_a_partition_counts_before_the_one_for_all),
        cmocka_unit_test(qos_are_inherited_from_the_account_above),
        cmocka_unit_test(a_stored_record_takes_the_place_of_the_one_of_its_name),
        cmocka_unit_test(administrators_and_operators_are_known_by_their_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
