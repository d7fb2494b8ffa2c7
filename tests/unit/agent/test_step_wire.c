/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "agent/step_wire.h"

TEST(a_frame_comes_back_as_the_record_that_it_was) {
    struct step_command command = {
        .kind = STEP_COMMAND_SIGNAL, .signal = 12, .message = (char *) "hello"};
    struct str content = STR_INIT;
    struct arena arena;
    struct step_frame_any any;
    enum step_frame type;

    arena_init(&arena, 0);
    step_frame_encode(STEP_FRAME_COMMAND, &record_step_command, &command, &content);
    struct bytes bytes = {(const uint8_t *) content.data, content.length};
    assert_int_equal(step_frame_decode(bytes, &arena, &type, &any, NULL), 0);
    assert_int_equal(type, STEP_FRAME_COMMAND);
    assert_int_equal(any.command.signal, 12);
    assert_string_equal(any.command.message, "hello");
    arena_done(&arena);
    str_done(&content);
}

TEST(a_watcher_comes_with_the_state_of_its_connection) {
    struct step_watcher watcher = {{(uint8_t *) (uintptr_t) "\1\0state", 7}};
    struct str content = STR_INIT;
    struct arena arena;
    struct step_frame_any any;
    enum step_frame type;

    arena_init(&arena, 0);
    step_frame_encode(STEP_FRAME_WATCHER, &record_step_watcher, &watcher, &content);
    assert_int_equal(step_frame_decode(str_bytes(&content), &arena, &type, &any, NULL), 0);
    assert_int_equal(type, STEP_FRAME_WATCHER);
    assert_memory_equal(any.watcher.channel.data, "\1\0state", 7);
    arena_done(&arena);
    str_done(&content);
}

TEST(a_frame_of_an_unknown_type_or_too_short_is_an_error) {
    struct arena arena;
    struct step_frame_any any;
    enum step_frame type;
    struct error err = ERROR_INIT;
    const uint8_t unknown[] = {99, 0, 1, 2};

    arena_init(&arena, 0);
    assert_int_equal(step_frame_decode((struct bytes) {unknown, 4}, &arena, &type, &any, &err),
                     -ERR_PROTOCOL);
    assert_int_equal(step_frame_decode((struct bytes) {unknown, 1}, &arena, &type, &any, &err),
                     -ERR_PROTOCOL);
    arena_done(&arena);
}

TEST(socket_names_name_the_step_and_come_back) {
    struct str name = STR_INIT;
    uint32_t job_id, step_id, attempt;

    step_socket_name(12, STEP_BATCH, 3, &name);
    assert_string_equal(str_cstr(&name), "12.batch.3");
    assert_true(step_socket_parse("12.batch.3", &job_id, &step_id, &attempt));
    assert_int_equal(job_id, 12);
    assert_int_equal(step_id, STEP_BATCH);
    assert_int_equal(attempt, 3);
    assert_true(step_socket_parse("4000000000.7.1", &job_id, &step_id, &attempt));
    assert_int_equal(job_id, 4000000000u);
    assert_int_equal(step_id, 7);
    str_done(&name);
}

TEST(other_names_are_no_sockets_of_steps) {
    static const char *const names[] = {"",           "12",       "12.0",    "12.0.",
                                        ".0.1",       "12.foo.1", "12.0.1x", "99999999999.0.1",
                                        "12.0.1.tmp", "-1.0.1"};
    uint32_t job_id, step_id, attempt;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_false(step_socket_parse(names[i], &job_id, &step_id, &attempt));
}

/* What is decoded is found by search. */
TEST(fields_stand_in_ascending_order) {
    const struct record *const records[] = {&record_fence, &record_step_order, &record_step_command,
                                            &record_step_report, &record_step_watcher};
    for (size_t r = 0; r < sizeof(records) / sizeof(records[0]); r++) {
        for (size_t i = 1; i < records[r]->n_fields; i++) {
            if (records[r]->fields[i - 1].number >= records[r]->fields[i].number)
                fail_msg("%s: %s is out of order", records[r]->name, records[r]->fields[i].name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_comes_back_as_the_record_that_it_was),
        cmocka_unit_test(a_watcher_comes_with_the_state_of_its_connection),
        cmocka_unit_test(a_frame_of_an_unknown_type_or_too_short_is_an_error),
        cmocka_unit_test(socket_names_name_the_step_and_come_back),
        cmocka_unit_test(other_names_are_no_sockets_of_steps),
        cmocka_unit_test(fields_stand_in_ascending_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
