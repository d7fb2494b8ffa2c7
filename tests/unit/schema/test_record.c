/* SPDX-License-Identifier: Apache-2.0 */
/* Generic operations on records, over every record of the message table. */
#include <string.h>

#include "base/alloc.h"
#include "model/messages.h"
#include "random_record.h"
#include "schema/member.h"
#include "unit.h"

#define ROUNDS 30

static void each_random(void (*fn)(const struct record *record, void *object)) {
    const struct record *records[ALL_RECORDS_MAX];
    size_t n = all_records(NULL, records);
    struct rng rng;
    rng_seed(&rng, 11);
    struct chooser chooser = {.rng = &rng};
    for (size_t i = 0; i < n; i++) {
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct arena arena;
            arena_init(&arena, 0);
            void *object = arena_alloc(&arena, records[i]->size);
            random_record(records[i], object, &chooser, &arena, 1 + round % 3, NULL);
            fn(records[i], object);
            arena_done(&arena);
        }
    }
}

static void check_table(const struct record *record) {
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        assert_true(field->number > 0 && field->number <= FIELD_NUMBER_MAX);
        if (i > 0 && record->fields[i - 1].number >= field->number)
            fail_msg("%s: fields must stand in ascending order: %s", record->name, field->name);
        assert_true(field->offset + member_size(field) <= record->size);
        assert_int_equal(field->record != NULL,
                         field->type == FIELD_REC || field->type == FIELD_RECS);
        assert_int_equal(field->names != NULL, field->type == FIELD_ENUM);
        assert_ptr_equal(record_field(record, field->name), field);
        assert_ptr_equal(record_field_number(record, field->number), field);
    }
    assert_null(record_field(record, "no such field"));
    assert_null(record_field_number(record, 0));
    assert_null(record_field_number(record, UINT16_MAX));
}

TEST(tables_are_sorted_complete_and_searchable) {
    const struct record *records[ALL_RECORDS_MAX];
    size_t n = all_records(NULL, records);
    for (size_t i = 0; i < n; i++)
        check_table(records[i]);
}

static void check_copy(const struct record *record, void *object) {
    void *copy = record_dup(record, object);
    assert_true(record_equal(record, object, copy));
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        if (field->type == FIELD_STR && *member_str(field, object) != NULL)
            assert_ptr_not_equal(*member_str(field, object), *member_str(field, copy));
    }
    record_done(record, copy);
    void *plain = xmalloc(record->size);
    record_init(record, plain);
    assert_true(record_equal(record, plain, copy));
    record_done(record, copy); /* twice does no harm */
    record_free(record, copy);
    free(plain);
}

TEST(a_copy_is_equal_owns_its_members_and_is_empty_when_done) {
    each_random(check_copy);
}

/* Whatever single field differs, the records differ. */
static void check_difference(const struct record *record, void *object) {
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        void *other = record_dup(record, object);
        struct record one = {record->name, record->size, field, 1};
        bool was_default = member_is_default(field, other);
        record_done(&one, other);
        assert_int_equal(record_equal(record, object, other), was_default);
        assert_int_equal(record_equal(record, other, object), was_default);
        record_free(record, other);
    }
}

TEST(records_that_differ_in_any_field_are_not_equal) {
    each_random(check_difference);
}

TEST(no_string_and_an_empty_one_differ) {
    struct ping_reply a, b;
    record_init(&record_ping_reply, &a);
    record_init(&record_ping_reply, &b);
    b.host = (char *) (uintptr_t) "";
    assert_false(record_equal(&record_ping_reply, &a, &b));
}

TEST(unset_is_the_default_of_optional_numbers) {
    struct job job;
    record_init(&record_job, &job);
    assert_int_equal(job.time_limit, UNSET32);
    assert_true(job.mem_per_node == UNSET64);
    assert_int_equal(job.array_task_id, UNSET32);
    assert_int_equal(job.priority, 0);
}

static void check_print(const struct record *record, void *object) {
    struct str text cleanup_str = STR_INIT;
    record_print(record, object, &text);
    for (size_t i = 0; i < record->n_fields; i++) {
        if (!member_is_default(&record->fields[i], object))
            assert_non_null(strstr(str_cstr(&text), record->fields[i].name));
    }
}

TEST(printing_names_every_field_that_is_set) {
    each_random(check_print);
}

TEST(a_job_takes_over_what_was_requested_and_nothing_else) {
    struct rng rng;
    rng_seed(&rng, 5);
    struct chooser chooser = {.rng = &rng};
    for (int round = 0; round < 200; round++) {
        struct arena arena;
        arena_init(&arena, 0);
        struct job_request request;
        random_record(&record_job_request, &request, &chooser, &arena, 1 + (unsigned) round % 3,
                      NULL);
        struct job job, fresh;
        record_init(&record_job, &job);
        record_init(&record_job, &fresh);
        string_set(&job.name, "replaced");
        string_set(&job.user_name, "kept");
        job.job_id = 7;
        record_copy_common(&record_job, &job, &record_job_request, &request);
        for (size_t i = 0; i < record_job.n_fields; i++) {
            const struct field *to = &record_job.fields[i];
            const struct field *from = record_field_number(&record_job_request, to->number);
            struct record one = {"one", record_job.size, to, 1};
            if (from == NULL) {
                if (strcmp(to->name, "job_id") != 0 && strcmp(to->name, "user_name") != 0)
                    assert_true(record_equal(&one, &job, &fresh));
                continue;
            }
            assert_string_equal(from->name, to->name);
            const char *shifted =
                (const char *) &request + (ptrdiff_t) from->offset - (ptrdiff_t) to->offset;
            assert_true(record_equal(&one, &job, shifted));
        }
        assert_int_equal(job.job_id, 7);
        assert_string_equal(job.user_name, "kept");
        record_done(&record_job, &job);
        arena_done(&arena);
    }
}

TEST(fields_of_one_number_but_another_type_or_name_are_not_taken_over) {
    struct step step;
    struct job job;
    record_init(&record_step, &step);
    record_init(&record_job, &job);
    step.job_id = 9;    /* number 1 in both */
    step.step_id = 3;   /* number 2: array_job_id there */
    step.num_nodes = 5; /* number 8: flags there */
    record_copy_common(&record_job, &job, &record_step, &step);
    assert_int_equal(job.job_id, 9);
    assert_int_equal(job.array_job_id, 0);
    assert_int_equal(job.flags, 0);
    record_done(&record_job, &job);
}

TEST(string_set_replaces_and_may_be_given_the_member_itself) {
    char *member = NULL;
    string_set(&member, "one");
    string_set(&member, member);
    assert_string_equal(member, "one");
    string_set(&member, member + 1);
    assert_string_equal(member, "ne");
    string_set(&member, NULL);
    assert_null(member);
    record_free(&record_job, NULL);
}

TEST(a_list_of_texts_grows_shrinks_and_is_empty_when_done) {
    struct strs list = {NULL, 0};
    strs_push(&list, "one");
    strs_push(&list, "Two");
    strs_push(&list, "three");
    assert_false(strs_has(&list, "two"));
    assert_true(strs_has_nocase(&list, "two"));
    assert_false(strs_has_nocase(&list, NULL));
    strs_drop(&list, "two");
    assert_int_equal(list.n, 2);
    assert_string_equal(list.items[1], "three");
    strs_done(&list);
    assert_true(list.items == NULL && list.n == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_sorted_complete_and_searchable),
        cmocka_unit_test(a_copy_is_equal_owns_its_members_and_is_empty_when_done),
        cmocka_unit_test(records_that_differ_in_any_field_are_not_equal),
        cmocka_unit_test(no_string_and_an_empty_one_differ),
        cmocka_unit_test(unset_is_the_default_of_optional_numbers),
        cmocka_unit_test(printing_names_every_field_that_is_set),
        cmocka_unit_test(a_job_takes_over_what_was_requested_and_nothing_else),
        cmocka_unit_test(fields_of_one_number_but_another_type_or_name_are_not_taken_over),
        cmocka_unit_test(string_set_replaces_and_may_be_given_the_member_itself),
        cmocka_unit_test(a_list_of_texts_grows_shrinks_and_is_empty_when_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
