/* SPDX-License-Identifier: Apache-2.0 */
/* Orders, reports and time. Covers: agent_state.c */
#include "unit.h"

#include <string.h>

#include "agent/agent.h"

#define SEC 1000000ull
#define KEY(job, step, attempt)                                                                    \
    (struct step_key) {                                                                            \
        job, step, attempt                                                                         \
    }

/* ---- helpers: one agent, the effects since the last look ---- */
struct world {
    struct agent *agent;
    struct agent_effects effects;
    struct arena arena;
};

static void world_open(struct world *w) {
    memset(w, 0, sizeof(*w));
    w->agent = agent_new();
    arena_init(&w->arena, 0);
    struct node_welcome welcome = {.accepted = true};
    agent_welcome(w->agent, 0, &welcome, &w->effects);
    assert_int_equal(w->effects.list.n, 0);
}

static void world_clear(struct world *w) {
    agent_effects_done(&w->effects);
    memset(&w->effects, 0, sizeof(w->effects));
}

static void world_close(struct world *w) {
    world_clear(w);
    agent_free(w->agent);
    arena_done(&w->arena);
}

static struct agent_effect *effect_at(struct world *w, size_t i, enum agent_effect_kind kind) {
    assert_true(i < w->effects.list.n);
    assert_int_equal(w->effects.list.items[i].kind, kind);
    return &w->effects.list.items[i];
}

/* Decodes what effect i sends, which must be of that type. */
static void *sent_at(struct world *w, size_t i, uint16_t type) {
    struct agent_effect *effect = effect_at(w, i, AGENT_SEND);
    const struct record *record = message_record(type);
    void *object = arena_alloc(&w->arena, record->size);

    assert_int_equal(effect->type, type);
    struct bytes body = {(const uint8_t *) effect->body.data, effect->body.length};
    assert_int_equal(wire_decode(record, body, &w->arena, object, NULL), 0);
    return object;
}

static void report_running(struct world *w, struct step_key key, bool by_controller) {
    struct step_report report = {.job_id = key.job_id,
                                 .step_id = key.step_id,
                                 .attempt = key.attempt,
                                 .running = true,
                                 .by_controller = by_controller};
    agent_report(w->agent, SEC, &report, &w->effects);
}

static void report_done(struct world *w, struct step_key key, uint32_t exit_status) {
    struct step_done done = {.job_id = key.job_id,
                             .step_id = key.step_id,
                             .attempt = key.attempt,
                             .exit_status = exit_status};
    struct step_report report = {.job_id = key.job_id,
                                 .step_id = key.step_id,
                                 .attempt = key.attempt,
                                 .running = true,
                                 .done = &done,
                                 .by_controller = true};
    agent_report(w->agent, SEC, &report, &w->effects);
}

static void launch_running(struct world *w, struct step_key key, bool by_controller) {
    assert_int_equal(agent_launch(w->agent, SEC, key, 1000, by_controller, &w->effects, NULL), 1);
    report_running(w, key, by_controller);
    world_clear(w);
}

static void terminate(struct world *w, uint32_t job_id, uint32_t attempt, uint32_t kill_wait) {
    struct job_terminate order = {.job_id = job_id,
                                  .attempt = attempt,
                                  .kill_wait = kill_wait,
                                  .message = (char *) "CANCELLED",
                                  .uid = 1000};
    agent_terminate(w->agent, 2 * SEC, &order, &w->effects);
}

static void ack(struct world *w, struct step_key key) {
    struct step_ref ref = {key.job_id, key.step_id, key.attempt};
    agent_ack(w->agent, 3 * SEC, &ref, &w->effects);
}

static const struct step_key batch = {7, STEP_BATCH, 1};

/* ---- launching ---- */

TEST(a_launch_is_answered_when_the_step_runs) {
    struct world w;
    world_open(&w);
    assert_int_equal(agent_launch(w.agent, 0, batch, 1000, true, &w.effects, NULL), 1);
    assert_int_equal(w.effects.list.n, 0);
    report_running(&w, batch, true);
    struct launch_result *result = sent_at(&w, 0, MSG_LAUNCH_RESULT);
    assert_int_equal(result->job_id, 7);
    assert_int_equal(result->step_id, STEP_BATCH);
    assert_int_equal(result->attempt, 1);
    assert_int_equal(result->code, 0);
    world_close(&w);
}

TEST(a_launch_that_is_repeated_starts_nothing_twice) {
    struct world w;
    world_open(&w);
    launch_running(&w, batch, true);
    assert_int_equal(agent_launch(w.agent, 0, batch, 1000, true, &w.effects, NULL), 0);
    struct launch_result *result = sent_at(&w, 0, MSG_LAUNCH_RESULT);
    assert_int_equal(result->code, 0);
    world_close(&w);
}

TEST(a_launch_repeated_after_the_end_is_answered_by_the_result) {
    struct world w;
    world_open(&w);
    launch_running(&w, batch, true);
    report_done(&w, batch, 0x300);
    world_clear(&w);
    assert_int_equal(agent_launch(w.agent, 0, batch, 1000, true, &w.effects, NULL), 0);
    struct step_done *done = sent_at(&w, 0, MSG_STEP_DONE);
    assert_int_equal(done->exit_status, 0x300);
    world_close(&w);
}

TEST(a_launch_of_an_older_attempt_is_refused) {
    struct world w;
    struct error err = ERROR_INIT;
    world_open(&w);
    launch_running(&w, KEY(7, STEP_BATCH, 2), true);
    assert_int_equal(agent_launch(w.agent, 0, batch, 1000, true, &w.effects, &err), -ERR_STALE);
    struct launch_result *result = sent_at(&w, 0, MSG_LAUNCH_RESULT);
    assert_int_equal(result->code, ERR_STALE);
    assert_int_equal(result->attempt, 1);
    world_close(&w);
}

TEST(a_new_attempt_waits_until_the_old_one_is_gone) {
    struct world w;
    struct error err = ERROR_INIT;
    world_open(&w);
    launch_running(&w, batch, true);
    assert_int_equal(agent_launch(w.agent, 0, KEY(7, STEP_BATCH, 2), 1000, true, &w.effects, &err),
                     -ERR_BUSY);
    world_clear(&w);
    report_done(&w, batch, 0);
    ack(&w, batch);
    world_clear(&w);
    assert_int_equal(agent_launch(w.agent, 0, KEY(7, STEP_BATCH, 2), 1000, true, &w.effects, &err),
                     1);
    world_close(&w);
}

TEST(a_credential_starts_its_step_only_once) {
    struct world w;
    struct error err = ERROR_INIT;
    world_open(&w);
    launch_running(&w, KEY(7, 0, 1), false);
    report_done(&w, KEY(7, 0, 1), 0);
    ack(&w, KEY(7, 0, 1));
    world_clear(&w);
    assert_int_equal(agent_launch(w.agent, 0, KEY(7, 0, 1), 1000, false, &w.effects, &err),
                     -ERR_STALE);
    assert_int_equal(w.effects.list.n, 0); /* the controller did not ask */
    assert_int_equal(agent_launch(w.agent, 0, KEY(7, 1, 1), 1000, false, &w.effects, &err), 1);
    world_close(&w);
}

TEST(no_step_starts_in_a_job_that_was_ended_here) {
    struct world w;
    struct error err = ERROR_INIT;
    world_open(&w);
    terminate(&w, 7, 1, 0);
    world_clear(&w);
    assert_int_equal(agent_launch(w.agent, 0, KEY(7, 0, 1), 1000, false, &w.effects, &err),
                     -ERR_ALREADY_DONE);
    world_close(&w);
}

TEST(a_step_that_cannot_be_started_is_told_to_the_controller) {
    struct world w;
    struct error why = {.code = -ERR_SYSTEM, .text = "no memory"};
    world_open(&w);
    assert_int_equal(agent_launch(w.agent, 0, batch, 1000, true, &w.effects, NULL), 1);
    agent_launch_failed(w.agent, 0, batch, &why, &w.effects);
    struct launch_result *result = sent_at(&w, 0, MSG_LAUNCH_RESULT);
    assert_int_equal(result->code, ERR_SYSTEM);
    assert_string_equal(result->detail, "no memory");
    assert_int_equal(agent_steps(w.agent), 0);
    world_close(&w);
}

static void report_stillborn(struct world *w, struct step_key key, bool output_failed) {
    struct step_done done = {.job_id = key.job_id,
                             .step_id = key.step_id,
                             .attempt = key.attempt,
                             .exit_status = 1u << 8,
                             .output_failed = output_failed,
                             .code = ERR_SYSTEM,
                             .detail = (char *) "No space left on device"};
    struct step_report report = {.job_id = key.job_id,
                                 .step_id = key.step_id,
                                 .attempt = key.attempt,
                                 .done = &done,
                                 .by_controller = true};
    agent_report(w->agent, SEC, &report, &w->effects);
}

TEST(a_script_that_never_began_is_a_failed_launch) {
    struct world w;
    world_open(&w);
    assert_int_equal(agent_launch(w.agent, 0, batch, 1000, true, &w.effects, NULL), 1);
    report_stillborn(&w, batch, false);
    struct launch_result *result = sent_at(&w, 0, MSG_LAUNCH_RESULT);
    assert_int_equal(result->code, ERR_SYSTEM);
    assert_string_equal(result->detail, "No space left on device");
    struct agent_effect *effect = effect_at(&w, 1, AGENT_COMMAND);
    assert_int_equal(effect->command.kind, STEP_COMMAND_FORGET);
    assert_int_equal(agent_steps(w.agent), 0);
    world_close(&w);
}

TEST(a_script_whose_output_cannot_be_opened_has_ended) {
    struct world w;
    world_open(&w);
    assert_int_equal(agent_launch(w.agent, 0, batch, 1000, true, &w.effects, NULL), 1);
    report_stillborn(&w, batch, true);
    struct step_done *done = sent_at(&w, 0, MSG_STEP_DONE);
    assert_true(done->output_failed);
    world_close(&w);
}

TEST(a_step_of_srun_that_cannot_be_started_has_ended) {
    struct world w;
    struct error why = {.code = -ERR_SYSTEM, .text = "no memory"};
    world_open(&w);
    assert_int_equal(agent_launch(w.agent, 0, KEY(7, 0, 1), 1000, false, &w.effects, NULL), 1);
    agent_launch_failed(w.agent, 0, KEY(7, 0, 1), &why, &w.effects);
    struct step_done *done = sent_at(&w, 0, MSG_STEP_DONE);
    assert_int_equal(done->code, ERR_SYSTEM);
    world_close(&w);
}

/* ---- ending ---- */

TEST(a_result_is_repeated_until_it_is_acknowledged) {
    struct world w;
    world_open(&w);
    launch_running(&w, batch, true);
    report_done(&w, batch, 0);
    sent_at(&w, 0, MSG_STEP_DONE);
    world_clear(&w);
    agent_tick(w.agent, SEC + AGENT_RESEND_USEC - 1, &w.effects);
    assert_int_equal(w.effects.list.n, 0);
    assert_int_equal(agent_next_tick(w.agent), SEC + AGENT_RESEND_USEC);
    agent_tick(w.agent, SEC + AGENT_RESEND_USEC, &w.effects);
    sent_at(&w, 0, MSG_STEP_DONE);
    world_clear(&w);
    ack(&w, batch);
    struct agent_effect *effect = effect_at(&w, 0, AGENT_COMMAND);
    assert_int_equal(effect->command.kind, STEP_COMMAND_FORGET);
    assert_int_equal(agent_steps(w.agent), 0);
    world_clear(&w);
    agent_tick(w.agent, 100 * SEC, &w.effects);
    assert_int_equal(w.effects.list.n, 0);
    world_close(&w);
}

TEST(a_running_step_is_found_by_its_numbers_with_its_owner) {
    struct world w;
    struct step_key key = {0};
    uint32_t uid = 0;
    world_open(&w);
    assert_int_equal(agent_launch(w.agent, 0, batch, 1000, true, &w.effects, NULL), 1);
    assert_false(agent_step_running(w.agent, batch.job_id, batch.step_id, &key, &uid));
    world_close(&w);
    world_open(&w);
    launch_running(&w, batch, true);
    assert_true(agent_step_running(w.agent, batch.job_id, batch.step_id, &key, &uid));
    assert_int_equal(key.attempt, batch.attempt);
    assert_int_equal(uid, 1000);
    assert_false(agent_step_running(w.agent, batch.job_id, 77, &key, &uid));
    assert_false(agent_step_running(w.agent, 77, batch.step_id, &key, &uid));
    report_done(&w, batch, 0);
    assert_false(agent_step_running(w.agent, batch.job_id, batch.step_id, &key, &uid));
    world_close(&w);
}

TEST(an_acknowledgement_of_a_running_step_or_of_another_attempt_changes_nothing) {
    struct world w;
    world_open(&w);
    launch_running(&w, batch, true);
    ack(&w, batch);
    report_done(&w, batch, 0);
    world_clear(&w);
    ack(&w, KEY(7, STEP_BATCH, 2));
    ack(&w, KEY(8, STEP_BATCH, 1));
    assert_int_equal(w.effects.list.n, 0);
    assert_int_equal(agent_steps(w.agent), 1);
    world_close(&w);
}

TEST(a_terminated_job_is_clean_when_its_last_step_is_gone) {
    struct world w;
    world_open(&w);
    launch_running(&w, batch, true);
    launch_running(&w, KEY(7, 0, 1), false);
    terminate(&w, 7, 1, 30);
    assert_int_equal(w.effects.list.n, 2);
    for (size_t i = 0; i < 2; i++) {
        struct agent_effect *effect = effect_at(&w, i, AGENT_COMMAND);
        assert_int_equal(effect->command.kind, STEP_COMMAND_TERMINATE);
        assert_int_equal(effect->command.kill_wait, 30);
        assert_string_equal(effect->command.message, "CANCELLED");
    }
    world_clear(&w);
    report_done(&w, batch, 15);
    assert_int_equal(w.effects.list.n, 1);
    world_clear(&w);
    report_done(&w, KEY(7, 0, 1), 15);
    sent_at(&w, 0, MSG_STEP_DONE);
    struct agent_effect *clean = effect_at(&w, 1, AGENT_CLEAN_JOB);
    assert_int_equal(clean->key.job_id, 7);
    assert_int_equal(clean->uid, 1000);
    world_clear(&w);
    agent_job_cleaned(w.agent, SEC, 7, NULL, &w.effects);
    struct job_clean *told = sent_at(&w, 0, MSG_JOB_CLEAN);
    assert_int_equal(told->attempt, 1);
    assert_null(told->problem);
    world_close(&w);
}

TEST(a_job_that_never_ran_here_is_cleaned_too) {
    struct world w;
    world_open(&w);
    terminate(&w, 9, 4, 30);
    struct agent_effect *clean = effect_at(&w, 0, AGENT_CLEAN_JOB);
    assert_int_equal(clean->key.job_id, 9);
    assert_int_equal(w.effects.list.n, 1);
    world_close(&w);
}

TEST(terminating_twice_cleans_once_and_answers_again) {
    struct world w;
    world_open(&w);
    terminate(&w, 9, 1, 30);
    world_clear(&w);
    terminate(&w, 9, 1, 30);
    assert_int_equal(w.effects.list.n, 0); /* the epilog still runs */
    agent_job_cleaned(w.agent, 0, 9, "Epilog error", &w.effects);
    world_clear(&w);
    ack(&w, KEY(9, UNSET32, 1));
    assert_int_equal(w.effects.list.n, 0);
    terminate(&w, 9, 1, 30);
    struct job_clean *told = sent_at(&w, 0, MSG_JOB_CLEAN);
    assert_string_equal(told->problem, "Epilog error");
    world_close(&w);
}

TEST(clean_is_repeated_until_acknowledged) {
    struct world w;
    world_open(&w);
    terminate(&w, 9, 1, 30);
    agent_job_cleaned(w.agent, SEC, 9, NULL, &w.effects);
    world_clear(&w);
    agent_tick(w.agent, SEC + AGENT_RESEND_USEC, &w.effects);
    sent_at(&w, 0, MSG_JOB_CLEAN);
    world_clear(&w);
    ack(&w, KEY(9, UNSET32, 1));
    agent_tick(w.agent, 100 * SEC, &w.effects);
    assert_int_equal(w.effects.list.n, 0);
    assert_true(agent_knows_job(w.agent, 9));
    agent_tick(w.agent, 4 * SEC + AGENT_TOMBSTONE_USEC, &w.effects);
    assert_false(agent_knows_job(w.agent, 9));
    world_close(&w);
}

TEST(an_old_terminate_leaves_the_new_attempt_alone) {
    struct world w;
    world_open(&w);
    launch_running(&w, KEY(7, STEP_BATCH, 2), true);
    terminate(&w, 7, 1, 0);
    assert_int_equal(w.effects.list.n, 1);
    struct job_clean *told = sent_at(&w, 0, MSG_JOB_CLEAN);
    assert_int_equal(told->attempt, 1);
    world_close(&w);
}

TEST(a_new_attempt_can_start_after_the_old_one_was_cleaned) {
    struct world w;
    world_open(&w);
    terminate(&w, 7, 1, 0);
    agent_job_cleaned(w.agent, SEC, 7, NULL, &w.effects);
    ack(&w, KEY(7, UNSET32, 1));
    world_clear(&w);
    assert_int_equal(agent_launch(w.agent, 0, KEY(7, STEP_BATCH, 2), 1000, true, &w.effects, NULL),
                     1);
    report_running(&w, KEY(7, STEP_BATCH, 2), true);
    sent_at(&w, 0, MSG_LAUNCH_RESULT);
    world_close(&w);
}

/* ---- signals ---- */

TEST(a_signal_to_the_job_spares_the_batch_shell) {
    struct world w;
    struct node_signal order = {.job_id = 7, .step_id = UNSET32, .attempt = 1, .signal = 10};
    world_open(&w);
    launch_running(&w, batch, true);
    launch_running(&w, KEY(7, 0, 1), false);
    agent_signal(w.agent, SEC, &order, &w.effects);
    assert_int_equal(w.effects.list.n, 1);
    assert_int_equal(effect_at(&w, 0, AGENT_COMMAND)->key.step_id, 0);
    world_clear(&w);
    order.flags = NODE_SIGNAL_BATCH;
    agent_signal(w.agent, SEC, &order, &w.effects);
    assert_int_equal(w.effects.list.n, 2);
    world_clear(&w);
    order.flags = NODE_SIGNAL_BATCH_ONLY;
    agent_signal(w.agent, SEC, &order, &w.effects);
    assert_int_equal(w.effects.list.n, 1);
    assert_int_equal(effect_at(&w, 0, AGENT_COMMAND)->key.step_id, STEP_BATCH);
    assert_int_equal(effect_at(&w, 0, AGENT_COMMAND)->command.signal, 10);
    world_close(&w);
}

TEST(another_time_limit_of_a_step_reaches_its_slurmstepd) {
    struct world w;
    struct node_signal order;
    record_init(&record_node_signal, &order);
    order.job_id = 7;
    order.step_id = 0;
    order.attempt = 1;
    order.time_limit = 90;
    world_open(&w);
    launch_running(&w, KEY(7, 0, 1), false);
    agent_signal(w.agent, SEC, &order, &w.effects);
    assert_int_equal(effect_at(&w, 0, AGENT_COMMAND)->command.kind, STEP_COMMAND_LIMIT);
    assert_int_equal(effect_at(&w, 0, AGENT_COMMAND)->command.time_limit, 90);
    world_close(&w);
}

TEST(the_end_of_a_step_that_never_came_is_its_result) {
    struct world w;
    struct node_signal order = {.job_id = 7, .step_id = 3, .attempt = 1, .signal = 15};
    world_open(&w);
    launch_running(&w, batch, true);
    agent_signal(w.agent, SEC, &order, &w.effects);
    assert_int_equal(w.effects.list.n, 0);
    order.flags = NODE_SIGNAL_END;
    agent_signal(w.agent, SEC, &order, &w.effects);
    assert_int_equal(effect_at(&w, 0, AGENT_SEND)->type, MSG_STEP_DONE);
    world_close(&w);
}

TEST(a_signal_reaches_the_step_that_it_names_and_no_other_attempt) {
    struct world w;
    struct node_signal order = {.job_id = 7, .step_id = 1, .attempt = 1, .signal = 10};
    world_open(&w);
    launch_running(&w, KEY(7, 0, 1), false);
    launch_running(&w, KEY(7, 1, 1), false);
    agent_signal(w.agent, SEC, &order, &w.effects);
    assert_int_equal(w.effects.list.n, 1);
    assert_int_equal(effect_at(&w, 0, AGENT_COMMAND)->key.step_id, 1);
    world_clear(&w);
    order.attempt = 2;
    agent_signal(w.agent, SEC, &order, &w.effects);
    order.job_id = 8;
    agent_signal(w.agent, SEC, &order, &w.effects);
    assert_int_equal(w.effects.list.n, 0);
    world_close(&w);
}

TEST(killing_a_step_that_never_came_ends_it_and_bars_it) {
    struct world w;
    struct error err = ERROR_INIT;
    struct node_signal order = {.job_id = 7, .step_id = 4, .attempt = 1, .signal = 9};
    world_open(&w);
    agent_signal(w.agent, SEC, &order, &w.effects);
    struct step_done *done = sent_at(&w, 0, MSG_STEP_DONE);
    assert_int_equal(done->step_id, 4);
    assert_int_equal(done->exit_status, 9);
    ack(&w, KEY(7, 4, 1));
    world_clear(&w);
    assert_int_equal(agent_launch(w.agent, 0, KEY(7, 4, 1), 1000, false, &w.effects, &err),
                     -ERR_STALE);
    world_close(&w);
}

TEST(a_step_that_does_not_die_makes_the_job_unclean) {
    struct world w;
    struct step_done done = {.job_id = 7, .step_id = STEP_BATCH, .attempt = 1};
    struct step_report report = {.job_id = 7,
                                 .step_id = STEP_BATCH,
                                 .attempt = 1,
                                 .running = true,
                                 .done = &done,
                                 .stuck = (char *) "pid 12 (dd)"};
    world_open(&w);
    launch_running(&w, batch, true);
    terminate(&w, 7, 1, 0);
    world_clear(&w);
    agent_report(w.agent, SEC, &report, &w.effects);
    agent_job_cleaned(w.agent, SEC, 7, NULL, &w.effects);
    struct job_clean *told = sent_at(&w, 2, MSG_JOB_CLEAN);
    assert_string_equal(told->problem, "pid 12 (dd)"); /* the node says which */
    world_close(&w);
}

/* ---- lost connections and restarts ---- */

TEST(nothing_is_sent_while_the_controller_is_away_and_all_when_it_is_back) {
    struct world w;
    struct node_welcome welcome = {.accepted = true};
    world_open(&w);
    launch_running(&w, batch, true);
    agent_disconnected(w.agent);
    report_done(&w, batch, 0x100);
    agent_tick(w.agent, 50 * SEC, &w.effects);
    assert_int_equal(w.effects.list.n, 0);
    agent_welcome(w.agent, 60 * SEC, &welcome, &w.effects);
    struct step_done *done = sent_at(&w, 0, MSG_STEP_DONE);
    assert_int_equal(done->exit_status, 0x100);
    world_close(&w);
}

TEST(registration_lists_what_runs_and_what_has_ended) {
    struct world w;
    struct node_register body;
    world_open(&w);
    launch_running(&w, batch, true);
    launch_running(&w, KEY(8, 3, 1), false);
    report_done(&w, batch, 0x200);
    record_init(&record_node_register, &body);
    agent_fill_register(w.agent, &body);
    assert_int_equal(body.steps.n, 2);
    const struct node_step *ended = &body.steps.items[body.steps.items[0].job_id == 7 ? 0 : 1];
    const struct node_step *running = &body.steps.items[body.steps.items[0].job_id == 7 ? 1 : 0];
    assert_true(ended->ended);
    assert_int_equal(ended->exit_status, 0x200);
    assert_false(running->ended);
    assert_int_equal(running->step_id, 3);
    record_done(&record_node_register, &body);
    world_close(&w);
}

TEST(a_welcome_ends_what_must_not_run) {
    struct world w;
    struct node_step victim = {.job_id = 8, .step_id = 3, .attempt = 1};
    struct node_welcome welcome = {.accepted = true};
    world_open(&w);
    launch_running(&w, batch, true);
    launch_running(&w, KEY(8, 3, 1), false);
    welcome.kill.items = &victim;
    welcome.kill.n = 1;
    agent_welcome(w.agent, SEC, &welcome, &w.effects);
    assert_int_equal(w.effects.list.n, 1);
    struct agent_effect *effect = effect_at(&w, 0, AGENT_COMMAND);
    assert_int_equal(effect->key.job_id, 8);
    assert_int_equal(effect->command.kind, STEP_COMMAND_TERMINATE);
    assert_int_equal(effect->command.kill_wait, 0);
    world_close(&w);
}

TEST(a_controller_that_refuses_the_node_hears_no_more) {
    struct world w;
    struct node_welcome welcome = {.accepted = false};
    world_open(&w);
    launch_running(&w, batch, true);
    agent_welcome(w.agent, SEC, &welcome, &w.effects);
    report_done(&w, batch, 0);
    assert_int_equal(w.effects.list.n, 0);
    world_close(&w);
}

TEST(a_restarted_slurmd_adopts_running_and_ended_steps) {
    struct world w;
    struct node_welcome welcome = {.accepted = true};
    world_open(&w);
    agent_disconnected(w.agent);
    report_running(&w, KEY(7, 0, 1), false);
    report_done(&w, batch, 0x400);
    assert_int_equal(w.effects.list.n, 0);
    assert_int_equal(agent_steps(w.agent), 2);
    agent_welcome(w.agent, SEC, &welcome, &w.effects);
    assert_int_equal(w.effects.list.n, 1);
    struct step_done *done = sent_at(&w, 0, MSG_STEP_DONE);
    assert_int_equal(done->step_id, STEP_BATCH);
    world_close(&w);
}

TEST(a_slurmstepd_that_dies_has_its_step_swept_and_reported) {
    struct world w;
    world_open(&w);
    launch_running(&w, batch, true);
    agent_step_lost(w.agent, batch, &w.effects);
    agent_step_lost(w.agent, batch, &w.effects);
    assert_int_equal(w.effects.list.n, 1);
    effect_at(&w, 0, AGENT_SWEEP);
    world_clear(&w);
    agent_step_swept(w.agent, SEC, batch, 1234, NULL, &w.effects);
    struct step_done *done = sent_at(&w, 0, MSG_STEP_DONE);
    assert_int_equal(done->exit_status, 9);
    assert_int_equal(done->code, ERR_SYSTEM);
    assert_int_equal(done->end_time, 1234);
    world_close(&w);
}

TEST(what_is_left_of_a_dead_slurmstepd_and_does_not_die_makes_the_job_unclean) {
    struct world w;
    world_open(&w);
    launch_running(&w, batch, true);
    agent_step_lost(w.agent, batch, &w.effects);
    terminate(&w, 7, 1, 0);
    world_clear(&w);
    agent_step_swept(w.agent, SEC, batch, 1234, "Kill task failed", &w.effects);
    struct step_done *done = sent_at(&w, 0, MSG_STEP_DONE);
    assert_true(done->stuck);
    assert_string_equal(done->detail, "Kill task failed");
    agent_job_cleaned(w.agent, SEC, 7, NULL, &w.effects);
    struct job_clean *told = sent_at(&w, 2, MSG_JOB_CLEAN);
    assert_string_equal(told->problem, "Kill task failed");
    world_close(&w);
}

TEST(what_a_slurmstepd_left_that_died_unseen_is_the_controllers_business_until_it_is_swept) {
    struct world w;
    struct node_register reg = {0};
    world_open(&w);
    agent_step_found_dead(w.agent, KEY(7, 0, 2), &w.effects);
    effect_at(&w, 0, AGENT_SWEEP);
    agent_fill_register(w.agent, &reg);
    assert_int_equal(reg.steps.n, 1);
    assert_int_equal(reg.steps.items[0].attempt, 2);
    assert_false(reg.steps.items[0].ended);
    free(reg.steps.items);
    world_clear(&w);
    agent_step_swept(w.agent, SEC, KEY(7, 0, 2), 5, NULL, &w.effects);
    const struct step_done *done = sent_at(&w, 0, MSG_STEP_DONE);
    assert_int_equal(done->exit_status, AGENT_SIGKILL);
    world_close(&w);
}

TEST(a_slurmstepd_that_exits_after_its_result_is_not_lost) {
    struct world w;
    world_open(&w);
    launch_running(&w, batch, true);
    report_done(&w, batch, 0);
    world_clear(&w);
    agent_step_lost(w.agent, batch, &w.effects);
    assert_int_equal(w.effects.list.n, 0);
    ack(&w, batch);
    world_clear(&w);
    report_done(&w, batch, 0); /* a late repetition */
    assert_int_equal(w.effects.list.n, 0);
    assert_int_equal(agent_steps(w.agent), 0);
    world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_is_answered_when_the_step_runs),
        cmocka_unit_test(a_launch_that_is_repeated_starts_nothing_twice),
        cmocka_unit_test(a_launch_repeated_after_the_end_is_answered_by_the_result),
        cmocka_unit_test(a_launch_of_an_older_attempt_is_refused),
        cmocka_unit_test(a_new_attempt_waits_until_the_old_one_is_gone),
        cmocka_unit_test(a_credential_starts_its_step_only_once),
        cmocka_unit_test(no_step_starts_in_a_job_that_was_ended_here),
        cmocka_unit_test(a_step_that_cannot_be_started_is_told_to_the_controller),
        cmocka_unit_test(a_script_that_never_began_is_a_failed_launch),
        cmocka_unit_test(a_script_whose_output_cannot_be_opened_has_ended),
        cmocka_unit_test(a_step_of_srun_that_cannot_be_started_has_ended),
        cmocka_unit_test(a_result_is_repeated_until_it_is_acknowledged),
        cmocka_unit_test(a_running_step_is_found_by_its_numbers_with_its_owner),
        cmocka_unit_test(
            an_acknowledgement_of_a_running_step_or_of_another_attempt_changes_nothing),
        cmocka_unit_test(a_terminated_job_is_clean_when_its_last_step_is_gone),
        cmocka_unit_test(a_job_that_never_ran_here_is_cleaned_too),
        cmocka_unit_test(terminating_twice_cleans_once_and_answers_again),
        cmocka_unit_test(clean_is_repeated_until_acknowledged),
        cmocka_unit_test(an_old_terminate_leaves_the_new_attempt_alone),
        cmocka_unit_test(a_new_attempt_can_start_after_the_old_one_was_cleaned),
        cmocka_unit_test(a_signal_to_the_job_spares_the_batch_shell),
        cmocka_unit_test(another_time_limit_of_a_step_reaches_its_slurmstepd),
        cmocka_unit_test(the_end_of_a_step_that_never_came_is_its_result),
        cmocka_unit_test(a_signal_reaches_the_step_that_it_names_and_no_other_attempt),
        cmocka_unit_test(killing_a_step_that_never_came_ends_it_and_bars_it),
        cmocka_unit_test(a_step_that_does_not_die_makes_the_job_unclean),
        cmocka_unit_test(nothing_is_sent_while_the_controller_is_away_and_all_when_it_is_back),
        cmocka_unit_test(registration_lists_what_runs_and_what_has_ended),
        cmocka_unit_test(a_welcome_ends_what_must_not_run),
        cmocka_unit_test(a_controller_that_refuses_the_node_hears_no_more),
        cmocka_unit_test(a_restarted_slurmd_adopts_running_and_ended_steps),
        cmocka_unit_test(a_slurmstepd_that_dies_has_its_step_swept_and_reported),
        cmocka_unit_test(what_is_left_of_a_dead_slurmstepd_and_does_not_die_makes_the_job_unclean),
        cmocka_unit_test(
            what_a_slurmstepd_left_that_died_unseen_is_the_controllers_business_until_it_is_swept),
        cmocka_unit_test(a_slurmstepd_that_exits_after_its_result_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
