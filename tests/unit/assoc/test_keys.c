/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values. */
#include "assoc/keys.h"
#include "book_world.h"

TEST(keys_may_be_abbreviated_and_a_full_name_goes_first) {
    assert_string_equal(assoc_key_find("prio", KEY_QOS)->member, "priority");
    assert_string_equal(assoc_key_find("MAXTRESMINS", KEY_QOS)->member, "max_tres_mins");
    assert_string_equal(assoc_key_find("maxtres", KEY_USER)->member, "max_tres");
    assert_string_equal(assoc_key_find("maxjobs", KEY_USER)->member, "max_jobs");
    assert_string_equal(assoc_key_find("fairshare", KEY_ACCOUNT)->member, "shares");
    assert_null(assoc_key_find("pr", KEY_QOS));
    assert_null(assoc_key_find("parent", KEY_USER));
    assert_null(assoc_key_find("nonsense", KEY_QOS));
}

TEST(every_key_names_a_member_of_its_record) {
    for (const struct assoc_key *key = assoc_keys; key->name != NULL; key++) {
        assert_non_null(assoc_record(key->kind));
        assert_non_null(record_field(assoc_record(key->kind), key->member));
        assert_true(key->least <= strlen(key->name));
        assert_ptr_equal(assoc_key_find(key->name, key->of), key);
    }
}

TEST(limits_are_cleared_by_minus_one_and_bad_values_are_refused) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add qos a maxwall=1-0 maxjobspu=3 usagefactor=2 gracetime=60");
    const struct qos *qos = book_qos_find(&world.book, "a");
    assert_int_equal(qos->max_wall, 1440);
    assert_int_equal(qos->max_jobs_pu, 3);
    assert_string_equal(qos->usage_factor, "2.000000");
    assert_int_equal(qos->grace_time, 60);
    book_do(&world, "modify qos a set maxwall=-1 maxjobspu=-1 usagefactor=-1 gracetime=-1");
    qos = book_qos_find(&world.book, "a");
    assert_int_equal(qos->max_wall, UNSET32);
    assert_int_equal(qos->max_jobs_pu, UNSET32);
    assert_null(qos->usage_factor);
    assert_int_equal(qos->grace_time, UNSET32);
    book_refuses(&world, "modify qos a set priority=-5", "Invalid value for Priority (-5)");
    book_refuses(&world, "modify qos a set priority=99999999999", "a number from 0 to");
    book_refuses(&world, "modify qos a set maxwall=zz", "Bad MaxWall time format: zz");
    book_refuses(&world, "modify qos a set usagefactor=nan", "Invalid value for UsageFactor");
    book_refuses(&world, "modify qos a set flags=zzz", "Valid QOS flags are");
    book_refuses(&world, "modify qos a set preemptmode=zzz", "Bad Preempt Mode given: zzz");
    book_end(&world);
}

TEST(flags_and_lists_grow_and_shrink_by_signs) {
    struct book_world world;
    book_begin(&world);
    book_do(&world, "add qos a,b,c");
    book_do(&world, "modify qos a set flags=denyonlimit preempt=b");
    book_do(&world, "modify qos a set flags+=nodecay preempt+=c");
    const struct qos *qos = book_qos_find(&world.book, "a");
    assert_int_equal(qos->flags, QOS_FLAG_DENY_ON_LIMIT | QOS_FLAG_NO_DECAY);
    assert_string_equal(qos->preempt, "b,c");
    book_do(&world, "modify qos a set flags-=denyonlimit preempt=-b");
    qos = book_qos_find(&world.book, "a");
    assert_int_equal(qos->flags, QOS_FLAG_NO_DECAY);
    assert_string_equal(qos->preempt, "c");
    book_do(&world, "modify qos a set flags=-1 preempt=");
    qos = book_qos_find(&world.book, "a");
    assert_int_equal(qos->flags, 0);
    assert_null(qos->preempt);
    book_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_may_be_abbreviated_and_a_full_name_goes_first),
        cmocka_unit_test(every_key_names_a_member_of_its_record),
        cmocka_unit_test(limits_are_cleared_by_minus_one_and_bad_values_are_refused),
        cmocka_unit_test(flags_and_lists_grow_and_shrink_by_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
