/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of messages. Covers: acct_events.c, node.c (their records are tables only),
 * reservation.c (likewise; its calendar is tested with core/reservation).
 */
#include <string.h>

#include "model/messages.h"
#include "unit.h"

TEST(a_message_has_a_name_and_a_body) {
    assert_string_equal(message_name(MSG_SUBMIT), "SUBMIT");
    assert_ptr_equal(message_record(MSG_SUBMIT), &record_submit);
    assert_ptr_equal(message_record(MSG_NODE_LIST), &record_node_list);
    assert_ptr_equal(message_record(MSG_ALLOC_ATTACH), message_record(MSG_ALLOC_END));
}

TEST(unknown_numbers_have_neither) {
    static const uint16_t unknown[] = {0, 5, 64, 99, 1000, UINT16_MAX};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        assert_null(message_name(unknown[i]));
        assert_null(message_record(unknown[i]));
    }
}

TEST(every_message_is_named_once) {
    for (uint32_t type = 0; type <= UINT16_MAX; type++) {
        const char *name = message_name((uint16_t) type);
        if (name == NULL)
            continue;
        assert_non_null(message_record((uint16_t) type));
        for (uint32_t other = type + 1; other < 300; other++) {
            const char *twin = message_name((uint16_t) other);
            assert_true(twin == NULL || strcmp(name, twin) != 0);
        }
    }
}

/* slurmctld takes what has such a number from nodes alone, and drops it from anybody else. */
TEST(from_70_to_79_are_the_messages_of_nodes) {
    static const char *const names[10] = {"NODE_REGISTER", "NODE_STATUS", "LAUNCH_RESULT",
                                          "STEP_DONE",     "JOB_CLEAN",   NULL,
                                          "JOB_PREPARED"};
    for (uint16_t i = 0; i < 10; i++) {
        const char *name = message_name(70 + i);
        if (name != NULL || names[i] != NULL)
            assert_string_equal(name, names[i]);
    }
}

TEST(a_node_is_known_by_its_name) {
    struct node node;
    record_init(&record_node, &node);
    assert_int_equal(node.cpu_load, UNSET32);
    assert_true(node.free_mem == UNSET64);
    assert_int_equal(record_field(&record_node, "name")->number, 1);
    assert_int_equal(record_field(&record_partition, "name")->number, 1);
}

/* Scripts and environments are kept apart from what listings show. */
TEST(requests_and_jobs_share_their_fields) {
    for (size_t i = 0; i < record_job_request.n_fields; i++) {
        const struct field *field = &record_job_request.fields[i];
        const struct field *twin = record_field_number(&record_job, field->number);
        assert_non_null(twin);
        assert_string_equal(twin->name, field->name);
        assert_int_equal(twin->type, field->type);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_has_a_name_and_a_body),
        cmocka_unit_test(unknown_numbers_have_neither),
        cmocka_unit_test(every_message_is_named_once),
        cmocka_unit_test(from_70_to_79_are_the_messages_of_nodes),
        cmocka_unit_test(a_node_is_known_by_its_name),
        cmocka_unit_test(requests_and_jobs_share_their_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
