/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scontrol's keywords ask a controller for, and in which words they tell its answers.
 * Covers: scontrol_show.c scontrol_update.c scontrol_verbs.c list_ask.c json_step.c
 * scontrol_reservation.c show_reservation.c
 */
#include "cli/scontrol.h"

#include "fake_controller.h"
#include "sample.h"

static struct fake_controller fake;

/* ---- the controller: jobs 1 and array 4, nodes n1 and n2, partition main, 10 licenses foo ---- */
static const void *body_of(const struct rpc_message *message, struct arena *arena) {
    const struct record *record = message_record(message->type);
    struct error err = ERROR_INIT;
    void *body = arena_alloc(arena, record->size);
    if (wire_decode(record, message->body, arena, body, &err) < 0)
        abort();
    return body;
}

static void answer_error(struct rpc_conn *conn, uint32_t seq, enum err code, const char *detail) {
    struct reply_error reply = {.code = code, .detail = T(detail)};
    fake_answer(conn, seq, MSG_ERROR, RPC_LAST, &reply);
}

static void answer_jobs(struct rpc_conn *conn, uint32_t seq, const struct list_request *request) {
    struct job jobs[2] = {sample_running(1, "one", "n1"), sample_job(4, "array")};
    struct job_list list = {0};
    jobs[0].licenses = T("foo:2");
    jobs[1].array_job_id = 4;
    jobs[1].array_tasks = T("1-3");
    list.items.items = jobs;
    list.items.n = 2;
    if (request->job_ids.n) {
        unsigned long id = strtoul(request->job_ids.items[0], NULL, 10);
        list.items.items = id == 4 ? &jobs[1] : jobs;
        list.items.n = id == 1 || (id == 4 && !strchr(request->job_ids.items[0], '_'));
    }
    fake_answer(conn, seq, MSG_JOB_LIST, RPC_LAST, &list);
}

static void answer_nodes(struct rpc_conn *conn, uint32_t seq) {
    struct node nodes[2] = {sample_node("n1", 0), sample_node("n2", 1)};
    struct node_list list = {0};
    list.items.items = nodes;
    list.items.n = 2;
    fake_answer(conn, seq, MSG_NODE_LIST, RPC_LAST, &list);
}

static void answer_partitions(struct rpc_conn *conn, uint32_t seq) {
    struct partition partition = sample_partition("main", "n[1-2]", 0);
    struct partition_list list = {0};
    list.items.items = &partition;
    list.items.n = 1;
    fake_answer(conn, seq, MSG_PARTITION_LIST, RPC_LAST, &list);
}

static void answer_config(struct rpc_conn *conn, uint32_t seq) {
    struct key_value rows[] = {{T(""), T("Configuration data as of now")},
                               {T("Licenses"), T("foo:10")},
                               {T("KillWait"), T("30 sec")},
                               {T(""), T("")}};
    struct config_list list = {0};
    list.items.items = rows;
    list.items.n = countof(rows);
    fake_answer(conn, seq, MSG_CONFIG_LIST, RPC_LAST, &list);
}

/* Job 99 is unknown, everything may be done to others; an update of `foo` is not known. */
static void answer_results(struct rpc_conn *conn, uint32_t seq, char *const *ids, uint32_t n,
                           enum err code, const char *detail) {
    struct job_result items[8];
    struct job_results results = {0};
    for (uint32_t i = 0; i < n && i < countof(items); i++) {
        items[i] = (struct job_result) {.id = ids[i], .code = code, .detail = T(detail)};
        if (!strcmp(ids[i], "99"))
            items[i].code = ERR_INVALID_JOB_ID;
    }
    results.items.items = items;
    results.items.n = results.n_matched = n;
    fake_answer(conn, seq, MSG_JOB_RESULTS, RPC_LAST, &results);
}

/* One, called night; none when another is asked for. */
static void answer_reservations(struct rpc_conn *conn, uint32_t seq,
                                const struct list_request *request) {
    struct reservation night = {.name = T("night"),
                                .start_time = SAMPLE_NOW - 60,
                                .end_time = SAMPLE_NOW + 3540,
                                .nodes = T("n[1-2]"),
                                .node_cnt = 2,
                                .core_cnt = 8,
                                .users = T("alice"),
                                .licenses = T("foo:2"),
                                .tres = T("cpu=8"),
                                .purge_after = 300,
                                .flags = RESERVATION_MAINT | RESERVATION_SPEC_NODES |
                                         RESERVATION_PURGE_COMP};
    struct reservation_list list = {.items = {&night, 1}};
    if (request != NULL && request->names.n && strcmp(request->names.items[0], "night"))
        list.items.n = 0;
    fake_answer(conn, seq, MSG_RESERVATION_LIST, RPC_LAST, &list);
}

/* "Users+=bob" must arrive as such; the others are refused in turn. */
static void answer_reservation_update(struct rpc_conn *conn, uint32_t seq,
                                      const struct update *update) {
    struct empty empty = {false};
    const char *key = update->changes.n ? update->changes.items[0].key : "";
    if (update->target && !strcmp(update->target, "nope"))
        answer_error(conn, seq, ERR_INVALID_RESERVATION, "");
    else if (!strcmp(key, "foo"))
        answer_error(conn, seq, ERR_INVALID, "Before.\nUnknown parameter foo=1.");
    else if (!strcmp(key, "nodecnt"))
        answer_error(conn, seq, ERR_NODES_BUSY, "3 are free");
    else if (update->create)
        answer_reservations(conn, seq, NULL);
    else if (update->remove || !strcmp(key, "Users+") || !strcmp(key, "Skip"))
        fake_answer(conn, seq, MSG_OK, RPC_LAST, &empty);
    else
        answer_error(conn, seq, ERR_USER_ID, "");
}

static void answer_update(struct rpc_conn *conn, uint32_t seq, const struct update *update) {
    const struct key_value *change = &update->changes.items[0];
    bool unknown = update->changes.n && !strcmp(change->key, "foo");
    if (!strcmp(update->entity, "job")) {
        answer_results(conn, seq, &update->target, 1, unknown ? ERR_UPDATE_KEY : ERR_OK,
                       unknown ? "foo" : NULL);
        return;
    }
    struct empty empty = {false};
    char *info = (char *) (uintptr_t) "the disk is still full";
    struct nodes_updated updated = {.infos = {&info, 1}};
    if (!strcmp(update->entity, "reservation"))
        answer_reservation_update(conn, seq, update);
    else if (unknown)
        answer_error(conn, seq, ERR_UPDATE_KEY, "foo");
    else if (!strcmp(update->target, "nope"))
        answer_error(conn, seq, ERR_INVALID_PARTITION, "there is none");
    else if (update->changes.n && !strcmp(change->value, "drain"))
        answer_error(conn, seq, ERR_INVALID, "You must specify a reason");
    else if (!strcmp(update->entity, "node"))
        fake_answer(conn, seq, MSG_NODES_UPDATED, RPC_LAST, &updated);
    else
        fake_answer(conn, seq, MSG_OK, RPC_LAST, &empty);
}

static void answer_script(struct rpc_conn *conn, uint32_t seq, uint32_t job_id) {
    struct job_script script = {.job_id = job_id,
                                .script = {(uint8_t *) (uintptr_t) "#!/bin/sh\ntrue\n", 15}};
    if (job_id == 1)
        fake_answer(conn, seq, MSG_JOB_SCRIPT, RPC_LAST, &script);
    else
        answer_error(conn, seq, ERR_INVALID_JOB_ID, "");
}

static void handle(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct step_list no_steps = {0};
    struct ping_reply ping = {.host = T("fakehost"), .mode = T("primary")};
    struct arena arena;
    arena_init(&arena, 0);
    const void *body = body_of(message, &arena);
    const struct job_verb_request *verb = body;
    switch (message->type) {
    case MSG_LIST_JOBS:
        answer_jobs(conn, message->seq, body);
        break;
    case MSG_LIST_NODES:
        answer_nodes(conn, message->seq);
        break;
    case MSG_LIST_PARTITIONS:
        answer_partitions(conn, message->seq);
        break;
    case MSG_LIST_STEPS:
        fake_answer(conn, message->seq, MSG_STEP_LIST, RPC_LAST, &no_steps);
        break;
    case MSG_LIST_CONFIG:
        answer_config(conn, message->seq);
        break;
    case MSG_LIST_RESERVATIONS:
        answer_reservations(conn, message->seq, body);
        break;
    case MSG_PING:
        fake_answer(conn, message->seq, MSG_PING_REPLY, RPC_LAST, &ping);
        break;
    case MSG_UPDATE:
        answer_update(conn, message->seq, body);
        break;
    case MSG_JOB_VERB:
        answer_results(conn, message->seq, verb->select->ids.items, verb->select->ids.n, ERR_OK,
                       verb->options);
        break;
    case MSG_GET_SCRIPT:
        answer_script(conn, message->seq, ((const struct job_script *) body)->job_id);
        break;
    default:
        answer_error(conn, message->seq, ERR_USER_ID, "");
    }
    arena_done(&arena);
}

/* ---- one command ---- */
#define WORDS_MAX 8
struct command {
    int (*run)(struct scontrol *scontrol, int argc, char **argv);
    char *words[WORDS_MAX];
    const char *json;
    int status;
    struct str out;
};

static void command_run(void *context) {
    struct command *command = context;
    struct scontrol scontrol = {.json = command->json, .out = STR_INIT};
    int argc = 0;
    while (argc < WORDS_MAX && command->words[argc])
        argc++;
    list_session_init(&scontrol.session, "scontrol");
    scontrol.env = sample_env();
    scontrol.show = (struct show_options) {.oneline = true, .env = &scontrol.env};
    scontrol.argc = 1;
    scontrol.argv = command->words;
    command->status = command->run(&scontrol, argc, command->words);
    command->out = scontrol.out;
    list_session_close(&scontrol.session);
}

/* Stdout begins with `out`, stderr is exactly `err`. */
static void check_words(struct command command, const char *out, const char *err, int status) {
    const char *text = fake_stderr(command_run, &command);
    assert_string_equal(text, err);
    if (!*out)
        assert_string_equal(str_cstr(&command.out), "");
    else if (!str_starts(str_cstr(&command.out), out))
        fail_msg("expected %s, got %s", out, str_cstr(&command.out));
    assert_int_equal(command.status, status);
    str_done(&command.out);
}
#define check(fn, out, err, status, ...)                                                           \
    check_words((struct command) {.run = fn, .words = {__VA_ARGS__}}, out, err, status)
#define W(word) T(word)

TEST(show_finds_entities_by_their_abbreviations) {
    check(scontrol_show, "JobId=1 JobName=one", "", 0, W("job"), W("1"));
    check(scontrol_show, "JobId=1 JobName=one", "", 0, W("JOBID=1"));
    check(scontrol_show, "NodeName=n2", "", 0, W("nodes"), W("n2"));
    check(scontrol_show, "PartitionName=main", "", 0, W("part"));
    check(scontrol_show, "ReservationName=night StartTime=", "", 0, W("res"));
    check(scontrol_show, "", "invalid entity:foo for keyword:show \n", 1, W("foo"));
    check(scontrol_show, "", "too few arguments for keyword:show\n", 1, NULL);
    check(scontrol_show, "", "too many arguments for keyword:show\n", 1, W("job"), W("1"), W("2"));
}

TEST(what_is_not_there_is_named) {
    check(scontrol_show, "", "slurm_load_jobs error: Invalid job id specified\n", 1, W("job"),
          W("99"));
    check(scontrol_show, "", "scontrol_print_job error: Invalid job id specified\n", 1, W("job"),
          W("abc"));
    check(scontrol_show, "Job 4_9 not found\n", "", 1, W("job"), W("4_9"));
    check(scontrol_show, "Node n9 not found\n", "", 1, W("node"), W("n9"));
    check(scontrol_show, "Partition nope not found\n", "", 1, W("partition"), W("nope"));
    check(scontrol_show, "Job step 1.7 not found\n", "", 1, W("step"), W("1.7"));
    check(scontrol_show, "", "slurm_get_job_steps error: Invalid job id specified\n", 1, W("step"),
          W("99.0"));
    check(scontrol_show, "Reservation x not found\n", "", 1, W("res"), W("x"));
}

TEST(the_configuration_keeps_its_titles_and_pads_its_keys) {
    check(scontrol_show,
          "Configuration data as of now\nLicenses                = foo:10\n"
          "KillWait                = 30 sec\n\nSlurmctld(primary) at fakehost is UP\n",
          "", 0, W("config"));
}

TEST(licenses_count_what_running_jobs_hold) {
    check(scontrol_show, "LicenseName=foo Total=10 Used=2 Free=8 Reserved=2 Remote=no\n", "", 0,
          W("lic"));
}

TEST(host_lists_fold_and_unfold) {
    check(scontrol_show, "a1\na2\nb\n", "", 0, W("hostnames"), W("a[1-2],b"));
    check(scontrol_show, "a[3,1-2]\n", "", 0, W("hostlist"), W("a3,a1,a2"));
    check(scontrol_show, "a[1-3]\n", "", 0, W("hostlistsorted"), W("a3,a1,a2"));
    unsetenv("SLURM_JOB_NODELIST");
    unsetenv("SLURM_NODELIST");
    check(scontrol_show, "", "test_cli_scontrol_words: error: host list is empty\n", 0,
          W("hostname"));
    setenv("SLURM_JOB_NODELIST", "q[1-2]", 1);
    check(scontrol_show, "q1\nq2\n", "", 0, W("hostname"));
}

#define PROGRAM "test_cli_scontrol_words"

TEST(an_update_is_told_in_the_classic_words) {
    check(scontrol_update, "", "", 0, W("jobid=1"), W("timelimit=+10"));
    check(scontrol_update, "", "Invalid job id specified for job 99\n", 1, W("job=99"),
          W("name=x"));
    check(scontrol_update, "",
          "Update of this parameter is not supported: foo=bar\nRequest aborted\n", 1, W("jobid=1"),
          W("foo=bar"));
    check(scontrol_update, "",
          "Update of this parameter is not supported: foo=bar\nRequest aborted\n", 1,
          W("partitionname=main"), W("foo=bar"));
    check(scontrol_update, "",
          PROGRAM ": note: there is none\n"
                  "slurm_update error: Invalid partition name specified\n",
          1, W("partition=nope"), W("state=up"));
    check(scontrol_update, "", "You must specify a reason\n", 1, W("nodename=n1"),
          W("state=drain"));
    check(scontrol_update, "", "No changes specified\n", 1, W("jobid=1"));
    check(scontrol_update, "", "Invalid input: priority\nRequest aborted\n", 1, W("jobid=1"),
          W("priority"));
    check(scontrol_update, "",
          "No valid entity in update command\nInput line must include \"NodeName\", "
          "\"PartitionName\", \"Reservation\", \"JobId\", or \"SlurmctldDebug\"\n",
          1, W("foo=1"));
}

TEST(create_and_delete_name_what_they_cannot) {
    check(scontrol_create, "",
          PROGRAM ": note: there is none\n"
                  "Error creating the partition: Invalid partition name specified\n",
          1, W("partitionname=nope"));
    check(scontrol_delete, "",
          PROGRAM ": note: there is none\n"
                  "delete_partition partitionname=nope: Invalid partition name specified\n",
          1, W("partitionname=nope"));
    check(scontrol_delete, "", "Invalid deletion entity: foo=1\n", 1, W("foo=1"));
    check(scontrol_create, "", "too few arguments for create keyword\n", 1, NULL);
}

#define NOTE                                                                                       \
    "Note, unless nodes are directly requested a reservation must exist in a single partition.\n"  \
    "If no partition is requested the default partition is assumed.\n"

TEST(reservations_have_words_of_their_own) {
    check(scontrol_create, "Reservation created: night\n", "", 0, W("reservation"),
          W("users=alice"));
    check(scontrol_create, "",
          "Before.\n" PROGRAM ": error: Unknown parameter foo=1.  No reservation created.\n", 1,
          W("res"), W("foo=1"));
    check(scontrol_create, NOTE,
          "Error creating the reservation: Requested nodes are busy\n" PROGRAM
          ": error: 3 are free\n",
          1, W("reservation=x"), W("nodecnt=4"));
    check(scontrol_create, "",
          PROGRAM ": error: Misformatted parameter 'foo', most options have a parameter after "
                  "'='.  No reservation created.\n",
          1, W("reservation"), W("foo"));
    check(scontrol_update, "Reservation updated.\n", "", 0, W("reservationname=night"),
          W("Users+=bob"));
    check(scontrol_update, "Reservation updated.\n", "", 0, W("reservationname=night"), W("skip"));
    check(scontrol_update, "",
          "Error updating the reservation: Requested reservation is invalid\n"
          "slurm_update error: Requested reservation is invalid\n",
          1, W("reservationname=nope"), W("duration=5"));
    check(scontrol_delete, "", "", 0, W("reservation=night"));
    check(scontrol_delete, "",
          "delete_reservation reservation=nope: Requested reservation is invalid\n", 1,
          W("reservation=nope"));
    /* A job has a reservation, too. */
    check(scontrol_update, "", "", 0, W("jobid=1"), W("reservationname=night"));
}

TEST(reservations_are_shown_as_scripts_know_them) {
    struct reservation r = {
        .name = T("a"), .start_time = SAMPLE_NOW + 60, .end_time = SAMPLE_NOW + 86460};
    const struct reservation *rows[] = {&r};
    struct column_env env = sample_env();
    struct show_options show = {.env = &env};
    struct str out cleanup_str = STR_INIT;
    show_reservation_table(rows, 1, true, &show, &out);
    assert_true(str_starts(out.data, "a          INACTIVE  "));
    assert_non_null(strstr(out.data, "   1-00:00:00  \n"));
    check(scontrol_show,
          "ReservationName=night StartTime=2026-11-30T11:59:00 EndTime=2026-11-30T12:59:00 "
          "Duration=01:00:00 Nodes=n[1-2] NodeCnt=2 CoreCnt=8 Features=(null) "
          "PartitionName=(null) Flags=MAINT,SPEC_NODES,PURGE_COMP=00:05:00 TRES=cpu=8 "
          "Users=alice Groups=(null) Accounts=(null) Licenses=foo:2 State=ACTIVE "
          "BurstBuffer=(null) MaxStartDelay=(null)",
          "", 0, W("res"), W("night"));
}

TEST(verbs_tell_of_each_job_that_they_failed_for) {
    check(scontrol_hold, "", "", 0, W("1"), W("2,3"));
    check(scontrol_hold, "",
          "Invalid job id specified for job 99\n"
          "slurm_suspend error: Invalid job id specified\n",
          1, W("1,99"));
    check(scontrol_requeue, "", "Invalid job id specified for job 99\n", 1, W("99"));
    check(scontrol_release, "",
          "Invalid job id specified for job abc\n"
          "slurm_suspend error: Invalid job id specified\n",
          1, W("abc"));
    check(scontrol_suspend, "", "too few arguments for keyword:suspend\n", 1, NULL);
    check(scontrol_notify, "", "job notify failure: Invalid job id specified\n", 1, W("99"),
          W("hello"));
}

TEST(what_is_to_know_about_a_success_is_told) {
    check(scontrol_requeue, "", "job 1: incomplete\n", 0, W("incomplete"), W("1"));
}

TEST(a_script_is_written_where_it_is_wanted) {
    check(scontrol_write, "#!/bin/sh\ntrue\n", "", 0, W("batch_script"), W("1"), W("-"));
    check(scontrol_write, "", "job script retrieval failed: Invalid job id specified\n", 1,
          W("batch_script"), W("2"));
    check(scontrol_write, "", "invalid write argument:foo\n", 1, W("foo"));
}

TEST(daemons_are_for_administrators) {
    check(scontrol_reconfigure, "", "slurm_reconfigure error: Invalid user id\n", 1, NULL);
    check(scontrol_shutdown, "", "slurm_shutdown error: Invalid user id\n", 1, NULL);
}

TEST(json_takes_the_place_of_text) {
    struct command command = {
        .run = scontrol_show, .words = {W("step")}, .json = "v0.0.43+complex"};
    check_words(command, "{\n  \"steps\": [\n  ],\n  \"last_update\": {", "", 0);
    command.words[0] = W("node");
    check_words(command, "{\n  \"nodes\": [\n    {\n      \"architecture\": \"\",", "", 0);
}

/* Stops the controller for good: stands last. */
TEST(a_controller_that_is_away_is_down) {
    fake_stop_server(&fake);
    struct command command = {.run = scontrol_ping};
    fake_stderr(command_run, &command);
    assert_int_equal(command.status, 1);
    assert_non_null(strstr(str_cstr(&command.out), " is DOWN\n"));
    str_done(&command.out);
    command = (struct command) {.run = scontrol_show, .words = {W("node")}};
    const char *text = fake_stderr(command_run, &command);
    assert_true(str_starts(text, "slurm_load_node error: Unable to contact slurm controller "
                                 "(connect failure)\n"));
    /* … and then where it was looked for */
    assert_non_null(strstr(text, "note: cannot connect to 127.0.0.1:"));
    assert_int_equal(command.status, 1);
    str_done(&command.out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(show_finds_entities_by_their_abbreviations),
        cmocka_unit_test(what_is_not_there_is_named),
        cmocka_unit_test(the_configuration_keeps_its_titles_and_pads_its_keys),
        cmocka_unit_test(licenses_count_what_running_jobs_hold),
        cmocka_unit_test(host_lists_fold_and_unfold),
        cmocka_unit_test(an_update_is_told_in_the_classic_words),
        cmocka_unit_test(create_and_delete_name_what_they_cannot),
        cmocka_unit_test(reservations_have_words_of_their_own),
        cmocka_unit_test(reservations_are_shown_as_scripts_know_them),
        cmocka_unit_test(verbs_tell_of_each_job_that_they_failed_for),
        cmocka_unit_test(what_is_to_know_about_a_success_is_told),
        cmocka_unit_test(a_script_is_written_where_it_is_wanted),
        cmocka_unit_test(daemons_are_for_administrators),
        cmocka_unit_test(json_takes_the_place_of_text),
        cmocka_unit_test(a_controller_that_is_away_is_down),
    };
    if (fake_start(&fake, handle) < 0) {
        printf("1..0 # SKIP munged is not installed\n");
        return 0;
    }
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    fake_stop(&fake);
    return status;
}
