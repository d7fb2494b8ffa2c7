/* SPDX-License-Identifier: Apache-2.0 */
/* Names of states and the display rules for jobs and nodes. */
#include <string.h>

#include "base/alloc.h"
#include "model/enums.h"
#include "unit.h"

TEST(a_jobs_state_has_its_long_and_compact_name) {
    static const struct {
        uint32_t state;
        const char *text, *compact;
    } rows[] = {{JOB_PENDING, "PENDING", "PD"},     {JOB_RUNNING, "RUNNING", "R"},
                {JOB_SUSPENDED, "SUSPENDED", "S"},  {JOB_COMPLETED, "COMPLETED", "CD"},
                {JOB_CANCELLED, "CANCELLED", "CA"}, {JOB_FAILED, "FAILED", "F"},
                {JOB_TIMEOUT, "TIMEOUT", "TO"},     {JOB_NODE_FAIL, "NODE_FAIL", "NF"},
                {JOB_PREEMPTED, "PREEMPTED", "PR"}, {JOB_BOOT_FAIL, "BOOT_FAIL", "BF"},
                {JOB_DEADLINE, "DEADLINE", "DL"},   {JOB_OUT_OF_MEMORY, "OUT_OF_MEMORY", "OOM"}};
    for (size_t i = 0; i < countof(rows); i++) {
        assert_int_equal(rows[i].state, i); /* the numbers of job-states, frozen */
        assert_string_equal(job_state_text(rows[i].state, 0), rows[i].text);
        assert_string_equal(job_state_compact(rows[i].state, 0), rows[i].compact);
        assert_int_equal(job_state_is_final(rows[i].state), i >= JOB_COMPLETED);
    }
    assert_string_equal(job_state_text(99, 0), "?");
    assert_string_equal(job_state_compact(UINT32_MAX, 0), "?");
}

TEST(a_flag_is_shown_instead_of_the_state_and_the_first_one_wins) {
    static const struct {
        uint32_t flag;
        const char *text, *compact;
    } rows[] = {{JOB_FLAG_COMPLETING, "COMPLETING", "CG"},
                {JOB_FLAG_STAGE_OUT, "STAGE_OUT", "SO"},
                {JOB_FLAG_CONFIGURING, "CONFIGURING", "CF"},
                {JOB_FLAG_RESIZING, "RESIZING", "RS"},
                {JOB_FLAG_REQUEUED, "REQUEUED", "RQ"},
                {JOB_FLAG_REQUEUE_FED, "REQUEUE_FED", "RF"},
                {JOB_FLAG_REQUEUE_HOLD, "REQUEUE_HOLD", "RH"},
                {JOB_FLAG_SPECIAL_EXIT, "SPECIAL_EXIT", "SE"},
                {JOB_FLAG_STOPPED, "STOPPED", "ST"},
                {JOB_FLAG_REVOKED, "REVOKED", "RV"},
                {JOB_FLAG_RESV_DEL_HOLD, "RESV_DEL_HOLD", "RD"},
                {JOB_FLAG_SIGNALING, "SIGNALING", "SI"}};
    uint32_t later = 0;
    for (size_t i = countof(rows); i-- > 0;) {
        later |= rows[i].flag;
        assert_string_equal(job_state_text(JOB_FAILED, rows[i].flag), rows[i].text);
        assert_string_equal(job_state_compact(JOB_RUNNING, later), rows[i].compact);
    }
    assert_string_equal(job_state_text(JOB_RUNNING, 1u << 30), "RUNNING"); /* of a newer release */
}

static void shows(uint32_t state, uint32_t flags, const char *compact, const char *full) {
    struct str a cleanup_str = STR_INIT, b cleanup_str = STR_INIT;
    node_state_print(state, flags, true, &a);
    node_state_print(state, flags, false, &b);
    assert_string_equal(str_cstr(&a), compact);
    assert_string_equal(str_cstr(&b), full);
}

#define F(name) NODE_FLAG_##name

TEST(a_node_shows_the_first_rule_that_applies) {
    shows(NODE_IDLE, 0, "idle", "idle");
    shows(NODE_ALLOCATED, 0, "alloc", "allocated");
    shows(NODE_MIXED, 0, "mix", "mixed");
    shows(NODE_DOWN, 0, "down", "down");
    shows(NODE_UNKNOWN, 0, "unk", "unknown");
    shows(NODE_FUTURE, 0, "futr", "future");
    shows(NODE_ERROR, 0, "err", "error");
    shows(99, 0, "unk", "unknown");
    /* 1: a bad registration before all else */
    shows(NODE_IDLE, F(INVALID_REG) | F(DRAIN) | F(MAINTENANCE), "inval$", "inval$");
    shows(NODE_DOWN, F(INVALID_REG), "inval", "inval");
    /* 2: maintenance, unless drained, down or busy */
    shows(NODE_IDLE, F(MAINTENANCE) | F(RESERVED), "maint", "maint");
    shows(NODE_IDLE, F(MAINTENANCE) | F(DRAIN), "drain$", "drained$");
    shows(NODE_MIXED, F(MAINTENANCE), "mix$", "mixed$");
    shows(NODE_DOWN, F(MAINTENANCE), "down$", "down$");
    /* 3: reboots */
    shows(NODE_IDLE, F(REBOOT_ISSUED), "boot^", "reboot^");
    shows(NODE_IDLE, F(REBOOT_REQUESTED), "boot", "reboot");
    shows(NODE_IDLE, F(REBOOT_REQUESTED) | F(NOT_RESPONDING), "boot*", "reboot*");
    shows(NODE_DOWN, F(REBOOT_ISSUED) | F(DRAIN) | F(NOT_RESPONDING), "boot^", "reboot^");
    shows(NODE_MIXED, F(REBOOT_REQUESTED), "mix@", "mixed@");
    shows(NODE_MIXED, F(REBOOT_REQUESTED) | F(DRAIN), "drng@", "draining@");
    shows(NODE_ALLOCATED, F(REBOOT_REQUESTED), "alloc@", "allocated@");
    shows(NODE_IDLE, F(REBOOT_ISSUED) | F(DRAIN), "boot^", "reboot^"); /* as the referee */
    /* 4, 5: drain, busy or not; it wins over DOWN */
    shows(NODE_ALLOCATED, F(DRAIN), "drng", "draining");
    shows(NODE_MIXED, F(DRAIN), "drng", "draining");
    shows(NODE_IDLE, F(DRAIN) | F(COMPLETING), "drng", "draining");
    shows(NODE_IDLE, F(DRAIN), "drain", "drained");
    shows(NODE_UNKNOWN, F(DRAIN), "drain", "drained");
    shows(NODE_DOWN, F(DRAIN) | F(NOT_RESPONDING), "drain*", "drained*");
    /* 6: fail */
    shows(NODE_MIXED, F(FAIL), "failg", "failing");
    shows(NODE_IDLE, F(FAIL) | F(NOT_RESPONDING), "fail*", "fail*");
    /* 8 to 14 */
    shows(NODE_DOWN, F(NOT_RESPONDING), "down*", "down*");
    shows(NODE_ALLOCATED, F(COMPLETING), "alloc+", "allocated+");
    shows(NODE_IDLE, F(COMPLETING), "comp", "completing");
    shows(NODE_IDLE, F(COMPLETING) | F(NOT_RESPONDING), "comp*", "completing*");
    shows(NODE_IDLE, F(PLANNED), "plnd", "planned");
    shows(NODE_MIXED, F(PLANNED), "mix-", "mixed-");
    shows(NODE_IDLE, F(RESERVED), "resv", "reserved");
    shows(NODE_MIXED, F(COMPLETING), "mix", "mixed");
}

TEST(a_node_has_one_suffix_the_first_in_order) {
    static const struct {
        uint32_t flag;
        const char *text;
    } rows[] = {{F(POWERING_UP), "idle#"},
                {F(POWERING_DOWN), "idle%"},
                {F(POWERED_DOWN), "idle~"},
                {F(POWER_DOWN), "idle!"},
                {F(NOT_RESPONDING), "idle*"}};
    uint32_t later = 0;
    for (size_t i = countof(rows); i-- > 0;) {
        later |= rows[i].flag;
        struct str out cleanup_str = STR_INIT;
        node_state_print(NODE_IDLE, later, true, &out);
        assert_string_equal(out.data, rows[i].text);
    }
}

static void complete(uint32_t state, uint32_t flags, const char *text) {
    struct str out cleanup_str = STR_INIT;
    node_state_print_complete(state, flags, &out);
    assert_string_equal(str_cstr(&out), text);
}

TEST(scontrol_joins_the_state_and_all_flags) {
    complete(NODE_IDLE, 0, "IDLE");
    complete(NODE_IDLE, F(DRAIN), "IDLE+DRAIN");
    complete(NODE_DOWN, F(NOT_RESPONDING), "DOWN+NOT_RESPONDING");
    complete(NODE_IDLE, F(POWERED_DOWN) | F(CLOUD), "IDLE+CLOUD+POWERED_DOWN");
    complete(NODE_MIXED, F(DRAIN) | F(CLOUD), "MIXED+CLOUD+DRAIN");
    complete(NODE_IDLE, F(RESERVED) | F(MAINTENANCE), "IDLE+MAINTENANCE+RESERVED");
    complete(99, 0, "UNKNOWN");
    /* Every flag that has a name is shown. */
    struct str out cleanup_str = STR_INIT;
    node_state_print_complete(NODE_IDLE, UINT32_MAX, &out);
    for (size_t i = 0; i < names_node_flag.n; i++)
        assert_non_null(strstr(out.data, names_node_flag.rows[i].name));
}

TEST(reasons_are_spelled_as_scripts_know_them) {
    assert_string_equal(names_text(&names_job_reason, REASON_NONE), "None");
    assert_string_equal(names_text(&names_job_reason, REASON_HELD_USER), "JobHeldUser");
    assert_string_equal(names_text(&names_job_reason, REASON_DEPENDENCY_NEVER),
                        "DependencyNeverSatisfied");
    assert_string_equal(names_text(&names_job_reason, REASON_REQ_NODE_NOT_AVAIL),
                        "ReqNodeNotAvail");
    assert_string_equal(names_text(&names_job_reason, REASON_NON_ZERO_EXIT), "NonZeroExitCode");
    uint32_t value;
    assert_true(names_value(&names_job_reason, "jobarraytasklimit", &value));
    assert_int_equal(value, REASON_ARRAY_TASK_LIMIT);
}

/* No name stands for two values, no value has two names. */
TEST(names_and_values_are_one_to_one) {
    static const struct names *const all[] = {
        &names_job_state, &names_job_flag,      &names_job_reason, &names_node_state,
        &names_node_flag, &names_tristate,      &names_exclusive,  &names_open_mode,
        &names_job_kind,  &names_oversubscribe, &names_task_dist,  &names_mail_type};
    for (size_t k = 0; k < countof(all); k++) {
        for (size_t i = 0; i < all[k]->n; i++) {
            const struct name_row *row = &all[k]->rows[i];
            uint32_t value = UINT32_MAX;
            assert_true(names_value(all[k], row->name, &value));
            assert_int_equal(value, row->value);
            assert_ptr_equal(names_text(all[k], row->value), row->name);
        }
    }
}

static void step_shows(uint32_t step_id, const char *text) {
    struct str out cleanup_str = STR_INIT;
    step_id_print(step_id, &out);
    assert_string_equal(out.data, text);
}

TEST(special_steps_have_words) {
    step_shows(0, "0");
    step_shows(17, "17");
    step_shows(STEP_BATCH, "batch");
    step_shows(STEP_EXTERN, "extern");
    step_shows(STEP_INTERACTIVE, "interactive");
    step_shows(STEP_PENDING, "TBD");
}

TEST(signals_are_known_by_name_and_number) {
    int number = 0;
    assert_true(signal_number("KILL", &number));
    assert_int_equal(number, 9);
    assert_true(signal_number("sigusr1", &number));
    assert_int_equal(number, 10);
    assert_true(signal_number("64", &number));
    assert_int_equal(number, 64);
    static const char *const bad[] = {"",    "0",     "65", "-9",
                                      "SIG", "KILLX", "9x", "18446744073709551625"};
    for (size_t i = 0; i < countof(bad); i++)
        assert_false(signal_number(bad[i], &number));
    assert_int_equal(number, 64);
    assert_string_equal(signal_name(15), "TERM");
    assert_null(signal_name(0));
    assert_null(signal_name(-1));
    assert_null(signal_name(64));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jobs_state_has_its_long_and_compact_name),
        cmocka_unit_test(a_flag_is_shown_instead_of_the_state_and_the_first_one_wins),
        cmocka_unit_test(a_node_shows_the_first_rule_that_applies),
        cmocka_unit_test(a_node_has_one_suffix_the_first_in_order),
        cmocka_unit_test(scontrol_joins_the_state_and_all_flags),
        cmocka_unit_test(reasons_are_spelled_as_scripts_know_them),
        cmocka_unit_test(names_and_values_are_one_to_one),
        cmocka_unit_test(special_steps_have_words),
        cmocka_unit_test(signals_are_known_by_name_and_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
