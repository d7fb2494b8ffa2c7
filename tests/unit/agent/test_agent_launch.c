/* SPDX-License-Identifier: Apache-2.0 */
/* Making ready for a job: its Prolog, the extern step, and launches that are held meanwhile. */
#include "unit.h"

#include <string.h>

#include "agent/agent.h"

#define SEC 1000000ull
#define KEY(job, step, attempt)                                                                    \
    (struct step_key) {                                                                            \
        job, step, attempt                                                                         \
    }

struct world {
    struct agent *agent;
    struct agent_effects effects;
    struct arena arena;
};

static const struct step_key batch = {7, STEP_BATCH, 1}, step = {7, 0, 1};

static void world_clear(struct world *w) {
    agent_effects_done(&w->effects);
    memset(&w->effects, 0, sizeof(w->effects));
}

static void world_open(struct world *w, uint32_t needs) {
    memset(w, 0, sizeof(*w));
    w->agent = agent_new();
    arena_init(&w->arena, 0);
    struct node_welcome welcome = {.accepted = true};
    agent_welcome(w->agent, 0, &welcome, &w->effects);
    agent_needs(w->agent, needs);
}

static void world_close(struct world *w) {
    world_clear(w);
    agent_free(w->agent);
    arena_done(&w->arena);
}

static size_t count(const struct world *w, enum agent_effect_kind kind) {
    size_t n = 0;
    for (size_t i = 0; i < w->effects.list.n; i++)
        n += w->effects.list.items[i].kind == kind;
    return n;
}

static void *sent(struct world *w, uint16_t type) {
    const struct record *record = message_record(type);
    for (size_t i = 0; i < w->effects.list.n; i++) {
        const struct agent_effect *effect = &w->effects.list.items[i];
        if (effect->kind != AGENT_SEND || effect->type != type)
            continue;
        void *object = arena_alloc(&w->arena, record->size);
        assert_int_equal(wire_decode(record, str_bytes(&effect->body), &w->arena, object, NULL), 0);
        return object;
    }
    return NULL;
}

static int launch(struct world *w, struct step_key key, bool by_controller) {
    return agent_launch(w->agent, SEC, key, 1000, by_controller, &w->effects, NULL);
}

static void prepare(struct world *w, uint32_t attempt) {
    struct job_prepare order = {.job_id = 7, .attempt = attempt, .uid = 1000};
    agent_prepare(w->agent, SEC, &order, &w->effects);
}

static void prepared(struct world *w, const char *problem) {
    agent_job_prepared(w->agent, SEC, 7, 1, problem, &w->effects);
}

static void terminate(struct world *w) {
    struct job_terminate order = {.job_id = 7, .attempt = 1, .uid = 1000};
    agent_terminate(w->agent, SEC, &order, &w->effects);
}

static void report(struct world *w, struct step_key key, bool done) {
    struct step_done end = {.job_id = key.job_id, .step_id = key.step_id, .attempt = key.attempt};
    struct step_report told = {.job_id = key.job_id,
                               .step_id = key.step_id,
                               .attempt = key.attempt,
                               .running = true,
                               .done = done ? &end : NULL};
    agent_report(w->agent, SEC, &told, &w->effects);
}

TEST(the_first_launch_waits_for_the_prolog_and_the_next_ones_do_not) {
    struct world w;
    world_open(&w, AGENT_NEEDS_PREPARE);
    assert_int_equal(launch(&w, batch, true), AGENT_LAUNCH_HELD);
    assert_int_equal(launch(&w, step, false), AGENT_LAUNCH_HELD);
    assert_int_equal(count(&w, AGENT_PREPARE_JOB), 1);
    world_clear(&w);
    prepared(&w, NULL);
    assert_int_equal(count(&w, AGENT_START_STEP), 2);
    assert_int_equal(launch(&w, KEY(7, 1, 1), false), AGENT_LAUNCH_NOW);
    assert_int_equal(count(&w, AGENT_PREPARE_JOB), 0);
    world_close(&w);
}

TEST(a_launch_that_is_repeated_while_held_is_not_answered) {
    struct world w;
    world_open(&w, AGENT_NEEDS_PREPARE);
    assert_int_equal(launch(&w, batch, true), AGENT_LAUNCH_HELD);
    world_clear(&w);
    assert_int_equal(launch(&w, batch, true), AGENT_LAUNCH_KNOWN);
    assert_int_equal(w.effects.list.n, 0);
    world_close(&w);
}

TEST(after_a_failed_prolog_nothing_starts) {
    struct world w;
    world_open(&w, AGENT_NEEDS_PREPARE);
    launch(&w, batch, true);
    launch(&w, step, false);
    world_clear(&w);
    prepared(&w, "Job prolog failed: no");
    assert_int_equal(count(&w, AGENT_DROP_STEP), 2);
    struct launch_result *result = sent(&w, MSG_LAUNCH_RESULT);
    assert_int_equal(result->code, ERR_PROLOG);
    struct step_done *done = sent(&w, MSG_STEP_DONE);
    assert_int_equal(done->code, ERR_PROLOG);
    assert_string_equal(done->detail, "Job prolog failed: no");
    world_clear(&w);
    assert_int_equal(launch(&w, KEY(7, 5, 1), false), -ERR_PROLOG);
    /* another attempt tries again */
    struct step_ref ref = {7, 0, 1};
    agent_ack(w.agent, SEC, &ref, &w.effects);
    assert_int_equal(launch(&w, KEY(7, STEP_BATCH, 2), true), AGENT_LAUNCH_HELD);
    world_close(&w);
}

TEST(the_controller_is_answered_when_the_node_is_ready_and_whenever_it_asks) {
    struct world w;
    world_open(&w, AGENT_NEEDS_PREPARE);
    prepare(&w, 1);
    prepare(&w, 1);
    assert_int_equal(count(&w, AGENT_PREPARE_JOB), 1);
    assert_null(sent(&w, MSG_JOB_PREPARED));
    prepared(&w, NULL);
    struct job_prepared *answer = sent(&w, MSG_JOB_PREPARED);
    assert_int_equal(answer->code, 0);
    assert_int_equal(answer->job_id, 7);
    world_clear(&w);
    prepare(&w, 1);
    assert_non_null(sent(&w, MSG_JOB_PREPARED));
    assert_int_equal(count(&w, AGENT_PREPARE_JOB), 0);
    world_close(&w);
}

TEST(a_node_without_a_prolog_is_ready_at_once) {
    struct world w;
    world_open(&w, 0);
    prepare(&w, 1);
    assert_non_null(sent(&w, MSG_JOB_PREPARED));
    assert_int_equal(launch(&w, batch, true), AGENT_LAUNCH_NOW);
    world_close(&w);
}

TEST(a_job_that_ends_during_its_prolog_is_cleaned_after_it) {
    struct world w;
    world_open(&w, AGENT_NEEDS_PREPARE);
    launch(&w, step, false);
    world_clear(&w);
    terminate(&w);
    assert_int_equal(count(&w, AGENT_DROP_STEP), 1);
    assert_int_equal(count(&w, AGENT_CLEAN_JOB), 0);
    prepared(&w, NULL);
    assert_int_equal(count(&w, AGENT_CLEAN_JOB), 1);
    assert_int_equal(count(&w, AGENT_START_STEP), 0);
    world_close(&w);
}

TEST(a_new_attempt_waits_until_the_epilog_of_the_old_one_is_over) {
    struct world w;
    world_open(&w, AGENT_NEEDS_PREPARE);
    prepare(&w, 1);
    prepared(&w, NULL);
    terminate(&w);
    assert_int_equal(count(&w, AGENT_CLEAN_JOB), 1);
    assert_int_equal(launch(&w, KEY(7, STEP_BATCH, 2), true), -ERR_BUSY);
    agent_job_cleaned(w.agent, SEC, 7, NULL, &w.effects);
    assert_int_equal(launch(&w, KEY(7, STEP_BATCH, 2), true), AGENT_LAUNCH_HELD);
    world_close(&w);
}

TEST(what_was_made_ready_is_forgotten_when_the_controller_knows_that_it_is_clean) {
    struct world w;
    world_open(&w, AGENT_NEEDS_PREPARE);
    prepare(&w, 1);
    prepared(&w, NULL);
    /* without a step it stays known, however long */
    assert_int_equal(agent_next_tick(w.agent), 0);
    terminate(&w);
    agent_job_cleaned(w.agent, SEC, 7, NULL, &w.effects);
    assert_int_equal(count(&w, AGENT_FORGET_JOB), 0);
    struct step_ref ref = {7, UNSET32, 1};
    agent_ack(w.agent, SEC, &ref, &w.effects);
    assert_int_equal(count(&w, AGENT_FORGET_JOB), 1);
    world_close(&w);
}

TEST(a_restarted_slurmd_goes_on_with_what_it_had_begun) {
    struct world w;
    world_open(&w, AGENT_NEEDS_PREPARE);
    agent_job_found(w.agent, SEC, 7, 1, 1000, false, &w.effects);
    assert_int_equal(count(&w, AGENT_PREPARE_JOB), 1);
    assert_int_equal(launch(&w, batch, true), AGENT_LAUNCH_HELD);
    prepared(&w, NULL);
    assert_int_equal(count(&w, AGENT_START_STEP), 1);
    agent_job_found(w.agent, SEC, 8, 1, 1000, true, &w.effects);
    assert_int_equal(count(&w, AGENT_CLEAN_JOB), 1);
    world_close(&w);
}

TEST(a_job_that_the_controller_does_not_know_is_cleaned) {
    struct world w;
    struct node_register reg;
    world_open(&w, AGENT_NEEDS_PREPARE);
    prepare(&w, 1);
    prepared(&w, NULL);
    record_init(&record_node_register, &reg);
    agent_fill_register(w.agent, &reg);
    assert_int_equal(reg.steps.n, 1);
    assert_int_equal(reg.steps.items[0].step_id, UNSET32);
    struct node_welcome welcome = {
        .accepted = true, .kill.items = reg.steps.items, .kill.n = reg.steps.n};
    agent_welcome(w.agent, SEC, &welcome, &w.effects);
    assert_int_equal(count(&w, AGENT_CLEAN_JOB), 1);
    free(reg.steps.items);
    world_close(&w);
}

TEST(the_extern_step_runs_before_any_other) {
    struct world w;
    struct step_key key = KEY(7, STEP_EXTERN, 1);
    world_open(&w, AGENT_NEEDS_PREPARE | AGENT_NEEDS_EXTERN);
    launch(&w, batch, true);
    prepared(&w, NULL);
    assert_int_equal(count(&w, AGENT_START_EXTERN), 1);
    assert_int_equal(count(&w, AGENT_START_STEP), 0);
    report(&w, key, false);
    assert_int_equal(count(&w, AGENT_START_STEP), 1);
    world_clear(&w);
    /* it ends with its job, not before, and is told like every step */
    struct node_signal term = {.job_id = 7, .step_id = UNSET32, .attempt = 1, .signal = 15};
    agent_signal(w.agent, SEC, &term, &w.effects);
    for (size_t i = 0; i < w.effects.list.n; i++)
        assert_int_not_equal(w.effects.list.items[i].key.step_id, STEP_EXTERN);
    terminate(&w);
    assert_int_equal(count(&w, AGENT_CLEAN_JOB), 0);
    report(&w, batch, true);
    report(&w, key, true);
    assert_int_equal(count(&w, AGENT_CLEAN_JOB), 1);
    world_close(&w);
}

TEST(without_its_extern_step_a_job_cannot_begin) {
    struct world w;
    struct error why = ERROR_INIT;
    world_open(&w, AGENT_NEEDS_PREPARE | AGENT_NEEDS_EXTERN);
    prepare(&w, 1);
    prepared(&w, NULL);
    (void) error_set(&why, ERR_SYSTEM, "no room");
    agent_launch_failed(w.agent, SEC, KEY(7, STEP_EXTERN, 1), &why, &w.effects);
    struct job_prepared *answer = sent(&w, MSG_JOB_PREPARED);
    assert_int_equal(answer->code, ERR_PROLOG);
    assert_string_equal(answer->detail, "no room");
    world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_launch_waits_for_the_prolog_and_the_next_ones_do_not),
        cmocka_unit_test(a_launch_that_is_repeated_while_held_is_not_answered),
        cmocka_unit_test(after_a_failed_prolog_nothing_starts),
        cmocka_unit_test(the_controller_is_answered_when_the_node_is_ready_and_whenever_it_asks),
        cmocka_unit_test(a_node_without_a_prolog_is_ready_at_once),
        cmocka_unit_test(a_job_that_ends_during_its_prolog_is_cleaned_after_it),
        cmocka_unit_test(a_new_attempt_waits_until_the_epilog_of_the_old_one_is_over),
        cmocka_unit_test(
            what_was_made_ready_is_forgotten_when_the_controller_knows_that_it_is_clean),
        cmocka_unit_test(a_restarted_slurmd_goes_on_with_what_it_had_begun),
        cmocka_unit_test(a_job_that_the_controller_does_not_know_is_cleaned),
        cmocka_unit_test(the_extern_step_runs_before_any_other),
        cmocka_unit_test(without_its_extern_step_a_job_cannot_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
