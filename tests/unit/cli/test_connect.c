/* SPDX-License-Identifier: Apache-2.0 */
/* From a command to a controller and back, over the real channel with a real munged. */
#include "cli/connect.h"

#include "fake_controller.h"

static struct fake_controller fake;
static struct cli cli;

static void handle(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    static char *before[] = {(char *) "Memory specification can not be satisfied"};
    if (message->type == MSG_PING) {
        struct ping_reply reply = {.host = (char *) "fake", .mode = (char *) "primary"};
        fake_answer(conn, message->seq, MSG_PING_REPLY, RPC_LAST, &reply);
    } else if (message->type == MSG_SUBMIT) {
        struct reply_error reply = {.code = ERR_NODE_CONFIG, .detail = (char *) "ask for less"};
        reply.before.items = before;
        reply.before.n = 1;
        fake_answer(conn, message->seq, MSG_ERROR, RPC_LAST, &reply);
    } else if (message->type == MSG_LIST_JOBS) {
        struct job jobs[2];
        struct job_list list = {0};
        for (size_t i = 0; i < countof(jobs); i++) {
            record_init(&record_job, &jobs[i]);
            jobs[i].job_id = (uint32_t) i + 1;
        }
        list.items.items = jobs;
        list.items.n = 2;
        fake_answer(conn, message->seq, MSG_JOB_LIST, 0, &list);
        list.items.n = 1;
        fake_answer(conn, message->seq, MSG_JOB_LIST, RPC_LAST, &list);
    } else if (message->type == MSG_SHUTDOWN) {
        rpc_conn_close(conn);
    }
}

TEST(a_request_gets_its_reply) {
    struct cli_link link;
    struct cli_reply reply;
    struct error err = ERROR_INIT;
    struct empty nothing = {0};
    assert_int_equal(cli_ask(&cli, MSG_PING, &nothing, &link, &reply, &err), 0);
    assert_int_equal(reply.type, MSG_PING_REPLY);
    assert_true(reply.last);
    assert_string_equal(((const struct ping_reply *) reply.body)->host, "fake");
    cli_link_close(&link);
}

TEST(a_listing_streams_until_the_last_message) {
    struct cli_link link;
    struct cli_reply reply = {0};
    struct error err = ERROR_INIT;
    struct list_request request;
    unsigned n = 0, messages = 0;
    record_init(&record_list_request, &request);
    assert_int_equal(cli_link_open(&cli, false, &link, &err), 0);
    assert_int_equal(cli_send(&link, MSG_LIST_JOBS, &request, &err), 0);
    while (!reply.last) {
        assert_int_equal(cli_receive(&link, 5000000, &reply, &err), 0);
        n += ((const struct job_list *) reply.body)->items.n;
        messages++;
    }
    assert_int_equal(n, 3);
    assert_int_equal(messages, 2);
    cli_link_close(&link);
}

static void submit_and_fail(void *context) {
    struct cli_link link;
    struct cli_reply reply;
    struct error err = ERROR_INIT;
    struct submit submit = {0};
    assert_int_equal(cli_ask(&cli, MSG_SUBMIT, &submit, &link, &reply, &err), -ERR_NODE_CONFIG);
    assert_int_equal(cli_failure(&cli, "Batch job submission failed", &err), 1);
}

TEST(a_refusal_prints_its_lines_then_the_note_then_the_reason) {
    assert_string_equal(fake_stderr(submit_and_fail, NULL),
                        "test: error: Memory specification can not be satisfied\n"
                        "test: note: ask for less\n"
                        "test: error: Batch job submission failed: "
                        "Requested node configuration is not available\n");
}

TEST(a_controller_that_hangs_up_is_an_error_not_a_wait) {
    struct cli_link link;
    struct cli_reply reply;
    struct error err = ERROR_INIT;
    struct empty nothing = {0};
    assert_int_equal(cli_ask(&cli, MSG_SHUTDOWN, &nothing, &link, &reply, &err), -ERR_CLOSED);
}

static void fail_to_connect(void *context) {
    struct cli_link link;
    struct error err = ERROR_INIT;
    assert_int_equal(cli_link_open(&cli, *(bool *) context, &link, &err), -ERR_CONNECT);
    cli_failure(&cli, "Batch job submission failed", &err);
}

/* Stops the controller for good: stands last. */
TEST(a_controller_that_is_away_is_named_on_a_second_line_at_once) {
    bool patient = false;
    char address[32];
    fake_stop_server(&fake);
    uint64_t start = loop_monotonic_usec();
    const char *text = fake_stderr(fail_to_connect, &patient);
    assert_true(loop_monotonic_usec() - start < 500000);
    assert_non_null(strstr(text, "test: error: Batch job submission failed: Unable to contact "
                                 "slurm controller (connect failure)\ntest: note: "));
    snprintf(address, sizeof(address), "127.0.0.1:%u", fake.port);
    assert_non_null(strstr(text, address));
}

TEST(a_patient_command_gives_up_after_two_seconds) {
    bool patient = true;
    uint64_t start = loop_monotonic_usec();
    fake_stderr(fail_to_connect, &patient);
    uint64_t took = loop_monotonic_usec() - start;
    assert_in_range(took, 500000, 2500000);
}

TEST(the_configuration_is_the_one_that_the_variable_names) {
    assert_string_equal(cli_conf_path(), fake.conf_path);
    assert_string_equal(cli_conf(&cli)->cluster_name, "fake");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_configuration_is_the_one_that_the_variable_names),
        cmocka_unit_test(a_request_gets_its_reply),
        cmocka_unit_test(a_listing_streams_until_the_last_message),
        cmocka_unit_test(a_refusal_prints_its_lines_then_the_note_then_the_reason),
        cmocka_unit_test(a_controller_that_hangs_up_is_an_error_not_a_wait),
        cmocka_unit_test(a_controller_that_is_away_is_named_on_a_second_line_at_once),
        cmocka_unit_test(a_patient_command_gives_up_after_two_seconds),
    };
    cli_init(&cli, "test");
    if (fake_start(&fake, handle) < 0) {
        printf("1..0 # SKIP munged is not installed\n");
        return 0;
    }
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    fake_stop(&fake);
    return status;
}
