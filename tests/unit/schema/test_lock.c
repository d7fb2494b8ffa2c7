/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that are stored or sent are never changed and never used again: tests/golden/schema.lock
 * holds every one that a release may have written, this test compares. The lock is append-only:
 *
 *   - A new field, message, state or code: run this test with SCHEMA_LOCK_UPDATE=1 in the
 *     environment, which adds the new lines, and commit the lock with the change.
 *   - A field that is gone: leave its line; the number stays taken.
 *   - A line that differs: the change breaks what an older release wrote. Give the field a new
 *     number instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "model/acct_events.h"
#include "random_record.h"
#include "unit.h"

#define LOCK GOLDEN_DIR "/schema.lock"

/* A line: what is numbered, its number, and what the number means. */
struct row {
    char *key;   /* "job 101", "enum job_state 3", "message 20" */
    char *value; /* "STR account" */
    bool seen;
};
typedef vec(struct row) rows;

static void add(rows *list, char *key, char *value) {
    struct row row = {key, value, false};
    vec_push(list, row);
}

static void rows_free(rows *list) {
    vec_each (list, row) {
        free(row->key);
        free(row->value);
    }
    vec_done(list);
}

/* ---- what the tables say ---- */

static const char *const type_names[] = {
    [FIELD_BOOL] = "BOOL", [FIELD_U32] = "U32", [FIELD_I32] = "I32",     [FIELD_U64] = "U64",
    [FIELD_I64] = "I64",   [FIELD_F64] = "F64", [FIELD_OPT32] = "OPT32", [FIELD_OPT64] = "OPT64",
    [FIELD_ENUM] = "ENUM", [FIELD_STR] = "STR", [FIELD_BLOB] = "BLOB",   [FIELD_STRS] = "STRS",
    [FIELD_U32S] = "U32S", [FIELD_REC] = "REC", [FIELD_RECS] = "RECS",
};

static void add_record(rows *list, const struct record *record) {
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        if (i > 0 && field->number < record->fields[i - 1].number) /* they are looked up so */
            fail_msg("%s: number %u stands behind a higher one", record->name, field->number);
        add(list, xasprintf("%s %u", record->name, field->number),
            xasprintf("%s%s%s %s", type_names[field->type], field->record != NULL ? " " : "",
                      field->record != NULL ? field->record->name : "", field->name));
    }
}

static void add_names(rows *list, const char *name, const struct names *names) {
    for (size_t i = 0; i < names->n; i++)
        add(list, xasprintf("enum %s %u", name, names->rows[i].value),
            xstrdup(names->rows[i].name));
}

struct number {
    uint32_t value;
    const char *name;
};

static void add_numbers(rows *list, const char *name, const struct number *numbers, size_t n) {
    for (size_t i = 0; i < n; i++)
        add(list, xasprintf("enum %s %u", name, numbers[i].value), xstrdup(numbers[i].name));
}

#define NUMBER(constant)                                                                           \
    { constant, #constant }

static void add_enums(rows *list) {
    static const struct number codes[] = {
#define X(name, number, text) {number, #name},
        ERR_TABLE(X)
#undef X
    };
    static const struct number kinds[] = {
        NUMBER(STORE_META),        NUMBER(STORE_JOB),        NUMBER(STORE_JOB_SCRIPT),
        NUMBER(STORE_STEP),        NUMBER(STORE_NODE),       NUMBER(STORE_PARTITION),
        NUMBER(STORE_RESERVATION), NUMBER(STORE_QOS),        NUMBER(STORE_ACCOUNT),
        NUMBER(STORE_ACCT_USER),   NUMBER(STORE_ASSOC),      NUMBER(STORE_USAGE),
        NUMBER(STORE_HABIT),       NUMBER(STORE_KEPT_SCRIPT)};
    static const struct number history[] = {NUMBER(HISTORY_RUN), NUMBER(HISTORY_SUPERSEDED)};
    static const struct number verbs[] = {
        NUMBER(VERB_HOLD),    NUMBER(VERB_UHOLD),        NUMBER(VERB_RELEASE),
        NUMBER(VERB_REQUEUE), NUMBER(VERB_REQUEUE_HOLD), NUMBER(VERB_SUSPEND),
        NUMBER(VERB_RESUME),  NUMBER(VERB_TOP),          NUMBER(VERB_NOTIFY)};
    static const struct number notices[] = {NUMBER(ALLOC_REVOKED), NUMBER(ALLOC_TIMEOUT),
                                            NUMBER(ALLOC_SIGNAL),  NUMBER(ALLOC_NODE_FAIL),
                                            NUMBER(ALLOC_MESSAGE), NUMBER(ALLOC_SUSPENDED),
                                            NUMBER(ALLOC_RESUMED)};
    static const struct number signals[] = {
        NUMBER(NODE_SIGNAL_BATCH), NUMBER(NODE_SIGNAL_BATCH_ONLY), NUMBER(NODE_SIGNAL_GROUP)};
    static const struct number steps[] = {NUMBER(STEP_INTERACTIVE), NUMBER(STEP_BATCH),
                                          NUMBER(STEP_EXTERN), NUMBER(STEP_PENDING)};
    static const struct number events[] = {
        NUMBER(ACCT_EVENT_JOB), NUMBER(ACCT_EVENT_OUTAGE), NUMBER(ACCT_EVENT_CAPACITY),
        NUMBER(ACCT_EVENT_TRANSACTION), NUMBER(ACCT_EVENT_RESERVATION)};
    static const struct number warnings[] = {NUMBER(WARN_BATCH_ONLY), NUMBER(WARN_RESERVATION)};
    add_names(list, "job_state", &names_job_state);
    add_names(list, "job_flag", &names_job_flag);
    add_names(list, "job_reason", &names_job_reason);
    add_names(list, "node_state", &names_node_state);
    add_names(list, "node_flag", &names_node_flag);
    add_names(list, "tristate", &names_tristate);
    add_names(list, "preempt_mode", &names_preempt_mode);
    add_names(list, "exclusive", &names_exclusive);
    add_names(list, "open_mode", &names_open_mode);
    add_names(list, "oversubscribe", &names_oversubscribe);
    add_names(list, "job_kind", &names_job_kind);
    add_names(list, "task_dist", &names_task_dist);
    add_names(list, "mail_type", &names_mail_type);
    add_names(list, "admin_level", &names_admin_level);
    add_names(list, "qos_flag", &names_qos_flag);
    add_numbers(list, "err", codes, countof(codes));
    add_numbers(list, "store_kind", kinds, countof(kinds));
    add_numbers(list, "history_kind", history, countof(history));
    add_numbers(list, "job_verb", verbs, countof(verbs));
    add_numbers(list, "alloc_notice_kind", notices, countof(notices));
    add_numbers(list, "node_signal_flag", signals, countof(signals));
    add_numbers(list, "step_id", steps, countof(steps));
    add_numbers(list, "acct_event_kind", events, countof(events));
    add_numbers(list, "warn_flag", warnings, countof(warnings));
}

static void present(rows *list) {
    static const struct record *const stored[] = {&record_core_meta,
                                                  &record_account,
                                                  &record_acct_user,
                                                  &record_assoc,
                                                  &record_qos,
                                                  &record_acct_event,
                                                  &record_acct_outage,
                                                  &record_acct_capacity,
                                                  &record_acct_transaction,
                                                  &record_acct_reservation,
                                                  &record_acct_cluster,
                                                  NULL};
    const struct record *records[ALL_RECORDS_MAX];
    size_t n = all_records(stored, records);
    for (uint32_t type = 0; type <= UINT16_MAX; type++) {
        const struct record *record = message_record((uint16_t) type);
        if (record != NULL)
            add(list, xasprintf("message %u", type),
                xasprintf("%s %s", message_name((uint16_t) type), record->name));
    }
    for (size_t i = 0; i < n; i++)
        add_record(list, records[i]);
    add_enums(list);
}

/* ---- the lock ---- */

static void lock_read(rows *list) {
    FILE *file = fopen(LOCK, "r");
    char line[512];
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *colon = strstr(line, ": ");
        if (line[0] == '#' || colon == NULL)
            continue;
        *colon = '\0';
        add(list, xstrdup(line), xstrdup(colon + 2));
    }
    if (file != NULL)
        fclose(file);
}

static void lock_append(const rows *now, const rows *lock) {
    FILE *file = fopen(LOCK, "a");
    assert_non_null(file);
    if (lock->n == 0)
        fprintf(file, "# Numbers that are stored or sent: append-only. See "
                      "tests/unit/schema/test_lock.c.\n");
    vec_each (now, row) {
        if (!row->seen)
            fprintf(file, "%s: %s\n", row->key, row->value);
    }
    fclose(file);
}

static struct row *find(rows *list, const char *key) {
    vec_each (list, row) {
        if (strcmp(row->key, key) == 0)
            return row;
    }
    return NULL;
}

TEST(no_number_that_was_ever_sent_or_stored_has_another_meaning) {
    rows now = {0}, lock = {0};
    unsigned n_changed = 0, n_new = 0;
    present(&now);
    lock_read(&lock);
    vec_each (&now, row) {
        struct row *locked = find(&lock, row->key);
        row->seen = locked != NULL;
        n_new += locked == NULL;
        if (locked == NULL || strcmp(locked->value, row->value) == 0)
            continue;
        print_message("# %s was \"%s\" and is \"%s\" now: what older releases wrote would be "
                      "misread; take a new number\n",
                      row->key, locked->value, row->value);
        n_changed++;
    }
    if (n_changed == 0 && n_new > 0 && getenv("SCHEMA_LOCK_UPDATE") != NULL) {
        lock_append(&now, &lock);
        n_new = 0;
    }
    vec_each (&now, row) {
        if (n_new > 0 && !row->seen)
            print_message("# %s: %s is not in schema.lock yet: run this test with "
                          "SCHEMA_LOCK_UPDATE=1 and commit the lock\n",
                          row->key, row->value);
    }
    rows_free(&now);
    rows_free(&lock);
    assert_int_equal(n_changed, 0);
    assert_int_equal(n_new, 0);
}

TEST(no_number_is_given_twice) {
    rows now = {0};
    present(&now);
    vec_each (&now, row) {
        if (find(&now, row->key) != row)
            fail_msg("%s is used twice", row->key);
    }
    rows_free(&now);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_number_that_was_ever_sent_or_stored_has_another_meaning),
        cmocka_unit_test(no_number_is_given_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
