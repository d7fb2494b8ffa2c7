/* SPDX-License-Identifier: Apache-2.0 */
/* Recurring jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU\nMinJobAge=60000\n"
                                "ScronParameters=enable\n"
                                "NodeName=n1 CPUs=4 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

#define EXPLICIT                                                                                   \
    "ScronParameters=enable,explicit_scancel\nNodeName=n1 CPUs=4 RealMemory=1000\n"                \
    "PartitionName=main Nodes=ALL Default=YES\n"

static void begin(struct world *world, const char *text) {
    setenv("TZ", "UTC", 1);
    tzset();
    world_start(world, text);
    world_all_connect(world);
}

struct line {
    const char *spec, *name, *dependency;
};

/* Sets the crontab to these entries, one a line; returns the code, 0 = taken. */
static int set_with(struct world *world, const char *partition, const struct line *lines,
                    uint32_t n, uint32_t *ret_ids, char *ret_detail) {
    struct job_request jobs[8];
    struct cron_entry entries[8];
    struct crontab_set request;
    struct str text cleanup_str = STR_INIT;
    struct arena arena;
    arena_init(&arena, 0);
    record_init(&record_crontab_set, &request);
    for (uint32_t i = 0; i < n; i++) {
        world_request(&jobs[i]);
        jobs[i].name = (char *) (uintptr_t) lines[i].name;
        jobs[i].dependency = (char *) (uintptr_t) lines[i].dependency;
        jobs[i].partition = (char *) (uintptr_t) (i + 1 == n ? partition : NULL);
        entries[i] =
            (struct cron_entry) {i + 1, i + 1, (char *) (uintptr_t) lines[i].spec, &jobs[i]};
        str_printf(&text, "%s %s\n", lines[i].spec, lines[i].name);
    }
    request.text = (char *) (uintptr_t) str_cstr(&text);
    request.entries.items = entries;
    request.entries.n = n;
    uint64_t client = world_send(world, MSG_CRONTAB_SET, &request);
    const struct crontab_reply *reply = world_answer(world, client, MSG_CRONTAB_REPLY, &arena);
    const struct reply_error *error = world_answer(world, client, MSG_ERROR, &arena);
    assert_true((reply == NULL) != (error == NULL));
    for (uint32_t i = 0; reply != NULL && i < n; i++)
        ret_ids[i] = reply->job_ids.items[i];
    if (error != NULL && ret_detail != NULL)
        snprintf(ret_detail, 200, "%s", error->detail != NULL ? error->detail : "");
    int code = error != NULL ? (int) error->code : 0;
    arena_done(&arena);
    return code;
}

static int set(struct world *world, const struct line *lines, uint32_t n, uint32_t *ret_ids) {
    return set_with(world, NULL, lines, n, ret_ids, NULL);
}

static void text_is(struct world *world, const char *expected) {
    struct crontab request;
    struct arena arena;
    arena_init(&arena, 0);
    record_init(&record_crontab, &request);
    uint64_t client = world_send(world, MSG_CRONTAB_GET, &request);
    const struct crontab *crontab = world_answer(world, client, MSG_CRONTAB, &arena);
    assert_non_null(crontab);
    if (expected == NULL)
        assert_null(crontab->text);
    else
        assert_string_equal(crontab->text, expected);
    arena_done(&arena);
}

static int kill_with(struct world *world, const char *id, bool cron) {
    struct job_select select;
    struct job_kill request;
    char *ids[] = {(char *) (uintptr_t) id};
    record_init(&record_job_select, &select);
    record_init(&record_job_kill, &request);
    select.ids = (struct strs) {ids, 1};
    request.select = &select;
    request.cron = cron;
    return world_code(world, world_send(world, MSG_JOB_KILL, &request));
}

static void look(struct world *world, uint32_t id, struct job *ret) {
    assert_true(world_look(world, id, ret));
}

TEST(a_job_comes_again_at_its_next_time_under_its_id) {
    struct world world;
    struct job job;
    uint32_t id;
    begin(&world, conf_text);
    assert_int_equal(set(&world, (struct line[]) {{"*/10 * * * *", "often"}}, 1, &id), 0);
    look(&world, id, &job);
    assert_int_equal(job.state, JOB_PENDING);
    assert_string_equal(job.cron_spec, "*/10 * * * *");
    int64_t first = job.begin_time;
    assert_int_equal(first % 600, 0);
    assert_in_range(first - world.now, 1, 600);
    world_pass_time(&world, first - world.now - 1);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    world_pass_time(&world, 2);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_pass_time(&world, 700); /* over its next time */
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_script_ends(&world, id, 1 << 8); /* a failure is no reason to stop */
    look(&world, id, &job);
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.begin_time, first + 1200);
    assert_int_equal(job.start_time, first + 1200);
    assert_int_equal(job.restarts, 1);
    world_pass_time(&world, 600);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_crontab_is_taken_as_a_whole_or_not_at_all) {
    struct world world;
    uint32_t ids[2], again[2];
    char detail[200];
    struct job job;
    begin(&world, conf_text);
    assert_int_equal(set(&world, (struct line[]) {{"@hourly", "a"}}, 1, ids), 0);
    assert_int_equal(set_with(&world, "nowhere", (struct line[]) {{"@daily", "b"}, {"@daily", "c"}},
                              2, again, detail),
                     ERR_INVALID_PARTITION);
    assert_int_equal(strncmp(detail, "line 2: ", 8), 0);
    text_is(&world, "@hourly a\n");
    look(&world, ids[0], &job);
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(core_job_count(world.core), 1);
    uint32_t next = core_next_job_id(world.core);
    assert_int_equal(next, ids[0] + 1); /* no number was used up */
    assert_int_equal(
        set_with(&world, NULL, (struct line[]) {{"0 0 31 2 *", "b"}}, 1, again, detail),
        ERR_INVALID_TIME);
    world_stop(&world);
}

TEST(an_entry_that_stays_keeps_its_job_and_others_go) {
    struct world world;
    uint32_t ids[3], again[3];
    begin(&world, conf_text);
    struct line before[] = {{"@hourly", "stays"}, {"* * * * *", "runs"}, {"@daily", "waits"}};
    assert_int_equal(set(&world, before, 3, ids), 0);
    world_pass_time(&world, 61);
    assert_int_equal(world_state(&world, ids[1]), JOB_RUNNING);
    struct line after[] = {{"@daily", "new"}, {"@hourly", "stays"}};
    assert_int_equal(set(&world, after, 2, again), 0);
    assert_int_equal(again[1], ids[0]);
    assert_int_not_equal(again[0], ids[2]);
    assert_int_equal(world_state(&world, ids[2]), JOB_CANCELLED);
    assert_int_equal(world_state(&world, ids[1]), JOB_RUNNING); /* to its end */
    world_script_ends(&world, ids[1], 0);
    assert_int_equal(world_state(&world, ids[1]), JOB_COMPLETED);
    assert_int_equal(set(&world, NULL, 0, again), 0);
    text_is(&world, NULL);
    assert_int_equal(world_state(&world, ids[0]), JOB_CANCELLED);
    world_stop(&world);
}

TEST(so_does_one_that_can_never_run) {
    struct world world;
    struct job_request request;
    uint32_t ids[1];
    begin(&world, "SchedulerParameters=kill_invalid_depend\n" EXPLICIT);
    world_request(&request);
    uint32_t first = world_submit(&world, &request, NULL);
    const struct line lines[] = {{"0 5 * * *", "never", "afterok:1"}};
    assert_int_equal(set(&world, lines, 1, ids), 0);
    assert_int_equal(world_state(&world, ids[0]), JOB_PENDING);
    world_script_ends(&world, first, 1 << 8);
    assert_int_equal(world_state(&world, ids[0]), JOB_CANCELLED);
    text_is(&world, "#DISABLED: 0 5 * * * never\n");
    world_stop(&world);
}

TEST(a_cancelled_job_makes_a_comment_of_its_entry) {
    struct world world;
    uint32_t ids[2];
    char id[16];
    begin(&world, conf_text);
    assert_int_equal(set(&world, (struct line[]) {{"@hourly", "a"}, {"* * * * *", "b"}}, 2, ids),
                     0);
    world_pass_time(&world, 61);
    snprintf(id, sizeof(id), "%u", ids[1]);
    assert_int_equal(kill_with(&world, id, false), 0); /* nobody asks for --cron here */
    text_is(&world, "@hourly a\n#DISABLED: * * * * * b\n");
    world_turn(&world);
    world_pass_time(&world, 120);
    assert_int_equal(world_state(&world, ids[1]), JOB_CANCELLED);
    assert_int_equal(world_state(&world, ids[0]), JOB_PENDING);
    world_stop(&world);
}

TEST(a_site_may_want_it_said_that_a_recurring_job_is_meant) {
    struct world world;
    uint32_t id;
    begin(&world, EXPLICIT);
    assert_int_equal(set(&world, (struct line[]) {{"@hourly", "a"}}, 1, &id), 0);
    assert_int_equal(kill_with(&world, "1", false), ERR_CRON_CANCEL);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    assert_int_equal(kill_with(&world, "1", true), 0);
    assert_int_equal(world_state(&world, id), JOB_CANCELLED);
    world_stop(&world);
}

TEST(scontrol_changes_no_recurring_job_but_may_hold_it) {
    struct world world;
    uint32_t id;
    begin(&world, conf_text);
    assert_int_equal(set(&world, (struct line[]) {{"* * * * *", "a"}}, 1, &id), 0);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "5"), ERR_CRON_UPDATE);
    assert_int_equal(world_verb(&world, VERB_HOLD, "1"), 0);
    world_pass_time(&world, 200);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    world_pass_time(&world, 1);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(crontabs_survive_a_restart_and_a_missed_time_is_made_up_for_once) {
    struct world world;
    struct job job;
    uint32_t id;
    begin(&world, conf_text);
    assert_int_equal(set(&world, (struct line[]) {{"*/10 * * * *", "a"}}, 1, &id), 0);
    look(&world, id, &job);
    int64_t first = job.begin_time;
    world.now = first + 1830; /* the controller was down for three times */
    world_restart(&world);
    world_all_connect(&world);
    text_is(&world, "*/10 * * * * a\n");
    world_pass_time(&world, 1);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_script_ends(&world, id, 0);
    look(&world, id, &job);
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.begin_time, first + 2400);
    world_stop(&world);
}

TEST(where_it_is_not_enabled_nothing_is_taken) {
    struct world world;
    uint32_t id;
    begin(&world, "NodeName=n1 CPUs=4 RealMemory=1000\nPartitionName=main Nodes=ALL Default=YES\n");
    assert_int_equal(set(&world, (struct line[]) {{"@hourly", "a"}}, 1, &id), ERR_DISABLED);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_comes_again_at_its_next_time_under_its_id),
        cmocka_unit_test(a_crontab_is_taken_as_a_whole_or_not_at_all),
        cmocka_unit_test(an_entry_that_stays_keeps_its_job_and_others_go),
        cmocka_unit_test(so_does_one_that_can_never_run),
        cmocka_unit_test(a_cancelled_job_makes_a_comment_of_its_entry),
        cmocka_unit_test(a_site_may_want_it_said_that_a_recurring_job_is_meant),
        cmocka_unit_test(scontrol_changes_no_recurring_job_but_may_hold_it),
        cmocka_unit_test(crontabs_survive_a_restart_and_a_missed_time_is_made_up_for_once),
        cmocka_unit_test(where_it_is_not_enabled_nothing_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
