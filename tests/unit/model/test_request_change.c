/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/alloc.h"
#include "model/request_change.h"

TEST(every_field_that_differs_is_a_row_with_both_values) {
    struct job_request before, after;
    struct request_change *rows = NULL;
    uint32_t n = 0;
    struct arena memory;
    arena_init(&memory, 0);
    record_init(&record_job_request, &before);
    after = before;
    before.partition = text_of("main");
    before.qos = after.qos = text_of("low");
    after.partition = text_of("short");
    after.time_limit = 90;
    after.requeue = TRI_YES;
    before.script = (struct blob) {(uint8_t *) text_of("abc"), 3};
    request_changes_add(&before, &after, "filter", &memory, &rows, &n);
    static const struct request_change want[] = {
        {(char *) (uintptr_t) "partition", (char *) (uintptr_t) "main",
         (char *) (uintptr_t) "short", (char *) (uintptr_t) "filter"},
        {(char *) (uintptr_t) "time_limit", NULL, (char *) (uintptr_t) "01:30:00",
         (char *) (uintptr_t) "filter"},
        {(char *) (uintptr_t) "requeue", NULL, (char *) (uintptr_t) "yes",
         (char *) (uintptr_t) "filter"},
        {(char *) (uintptr_t) "script", (char *) (uintptr_t) "<3 bytes>", NULL,
         (char *) (uintptr_t) "filter"},
    };
    assert_int_equal(n, countof(want));
    for (size_t i = 0; i < countof(want); i++)
        assert_true(record_equal(&record_request_change, &rows[i], &want[i]));
    request_changes_add(&after, &after, "nobody", &memory, &rows, &n);
    assert_int_equal(n, countof(want));
    arena_done(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_that_differs_is_a_row_with_both_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
