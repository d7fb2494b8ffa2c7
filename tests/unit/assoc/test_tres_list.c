/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of TRES, alone and as limits in the book. */
#include "assoc/tres_list.h"
#include "book_world.h"

TEST(a_tres_that_is_named_changes_and_the_others_stay) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add qos a grptres=mem=4G,CPU=10,gres/gpu:a100=2");
    struct qos *qos = book_qos_find(&world.book, "a");
    assert_string_equal(qos->grp_tres, "cpu=10,mem=4096,gres/gpu:a100=2");
    struct str out cleanup_str = STR_INIT;
    tres_list_print(qos->grp_tres, &out);
    assert_string_equal(out.data, "cpu=10,mem=4G,gres/gpu:a100=2");
    book_do(&world, "modify qos a set grptres=cpu=-1,node=3");
    assert_string_equal(book_qos_find(&world.book, "a")->grp_tres,
                        "mem=4096,node=3,gres/gpu:a100=2");
    book_do(&world, "modify qos a set grptres=-1");
    assert_null(book_qos_find(&world.book, "a")->grp_tres);
    book_refuses(&world, "modify qos a set grptres=zz=3", "no TRES known by type zz");
    book_refuses(&world, "modify qos a set grptres=cpu", "TRES=NUMBER is meant");
    book_refuses(&world, "modify qos a set grptres=cpu=xx", "Invalid value for GrpTRES (cpu=xx)");
    book_end(&world);
}

TEST(memory_has_units_but_in_minutes_and_is_written_so_that_it_can_be_read_again) {
    struct error err = ERROR_INIT;
    struct str out cleanup_str = STR_INIT;
    cleanup_free char *limit = NULL;
    cleanup_free char *minutes = NULL;
    assert_int_equal(tres_list_change(&limit, "mem=1536M,cpu=2", true, "GrpTRES", &err), 0);
    assert_string_equal(limit, "cpu=2,mem=1536");
    tres_list_print(limit, &out);
    assert_string_equal(out.data, "cpu=2,mem=1.50G");
    str_reset(&out);
    tres_list_write(limit, &out);
    assert_string_equal(out.data, "cpu=2,mem=1536M");
    assert_int_equal(tres_list_change(&minutes, "mem=100", false, "GrpTRESMins", &err), 0);
    assert_string_equal(minutes, "mem=100");
    assert_true(tres_list_change(&minutes, "cpu=1,zz=-1", false, "GrpTRESMins", &err) < 0);
    assert_string_equal(minutes, "mem=100"); /* as it was */
    tres_list_print(NULL, &out);
    assert_string_equal(out.data, "cpu=2,mem=1536M");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tres_that_is_named_changes_and_the_others_stay),
        cmocka_unit_test(
            memory_has_units_but_in_minutes_and_is_written_so_that_it_can_be_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
