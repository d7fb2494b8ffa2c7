/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `sluice why` says.
 *
 * Covers: why_end.c, why_json.c, why_moved.c, why_text.c
 */
#include <string.h>

#include "cli/why.h"
#include "unit.h"

static void job_init(struct job *job, uint32_t state) {
    record_init(&record_job, job);
    job->job_id = 7;
    job->name = text_of("train");
    job->user_name = text_of("alice");
    job->partition = text_of("gpu");
    job->state = state;
    job->submit_time = 1000;
    job->num_nodes = 2;
    job->num_cpus = 8;
    job->tres_req = text_of("cpu=8,mem=4G,node=2");
    job->time_limit = 60;
}

static void says(const struct why_reply *reply, const char *words) {
    struct str out cleanup_str = STR_INIT;
    why_text(reply, LANGUAGE_ENGLISH, &out);
    if (strstr(str_cstr(&out), words) == NULL)
        fail_msg("\"%s\" is not in:\n%s", words, str_cstr(&out));
}

static void end_says(struct job *job, const char *words) {
    struct why_reply reply;
    record_init(&record_why_reply, &reply);
    reply.job = job;
    reply.id = text_of("7");
    reply.now = 5000;
    says(&reply, words);
}

static void end_says_not(struct job *job, const char *words) {
    struct why_reply reply;
    struct str out cleanup_str = STR_INIT;
    record_init(&record_why_reply, &reply);
    reply.job = job;
    reply.id = text_of("7");
    why_text(&reply, LANGUAGE_ENGLISH, &out);
    if (strstr(str_cstr(&out), words) != NULL)
        fail_msg("\"%s\" is in:\n%s", words, str_cstr(&out));
}

TEST(an_exit_code_is_explained) {
    struct job job;
    job_init(&job, JOB_COMPLETED);
    end_says(&job, "It ended well: exit code 0.");
    job.state = JOB_FAILED;
    job.exit_status = 127 << 8;
    end_says(&job, "exit code is 127 (a command was not found");
    job.exit_status = 139 << 8;
    end_says(&job, "signal 11 (Segmentation fault)");
    job.exit_status = 9;
    end_says(&job, "signal 9 (Killed)");
    job.exit_status = 42 << 8;
    end_says(&job, "Its exit code is 42.");
}

TEST(other_ends_name_their_cause_and_cure) {
    struct job job;
    job_init(&job, JOB_TIMEOUT);
    end_says(&job, "time limit of 01:00:00. Ask for more with --time");
    job.state = JOB_OUT_OF_MEMORY;
    end_says(&job, "more memory than it had asked for (cpu=8,mem=4G,node=2)");
    job.state = JOB_NODE_FAIL;
    job.failed_node = text_of("g03");
    end_says(&job, "Node g03 failed under it.");
    job.state = JOB_PREEMPTED;
    end_says(&job, "make room");
    job.state = JOB_CANCELLED;
    job.uid = job.cancel_uid = 1000;
    end_says(&job, "cancelled by uid 1000, its owner");
}

TEST(a_running_job_says_where_and_until_when) {
    struct job job;
    job_init(&job, JOB_RUNNING);
    job.nodes = text_of("g[01-02]");
    job.provenance = text_of("in order");
    job.start_time = 4000;
    job.end_time = 7600;
    end_says(&job, "on g[01-02], started in order.");
    end_says(&job, "(in 43 min), its limit.");
}

TEST(a_start_that_was_put_off_is_told_with_its_cause) {
    struct job job;
    job_init(&job, JOB_PENDING);
    job.promised_start = 50400;
    job.delayed_to = 55800;
    job.delay_time = 47400;
    job.delay_cause = text_of("node c03 went down");
    job.n_delays = 1;
    end_says(&job, "It had been expected at 1970-01-01T14:00:00, now 1970-01-01T15:30:00: "
                   "node c03 went down (at 1970-01-01T13:10:00).\n");
    job.delayed_to = 0;
    job.n_delays = 3;
    end_says(&job, ", now an unknown time: ");
    end_says(&job, "went down (at 1970-01-01T13:10:00, the last of 3 times that it was put off).");
    job.state = JOB_RUNNING;
    job.start_time = 55800;
    end_says(&job, "1970-01-01T14:00:00, and started at 1970-01-01T15:30:00: node");
    job.start_time = 50400; /* kept after all */
    end_says_not(&job, "It had been expected");
}

TEST(who_preempted_a_job_is_told_in_every_state) {
    struct job job;
    job_init(&job, JOB_PREEMPTED);
    job.provenance = text_of("in order; preempted by job 12 under partition tiers");
    job.preempted_by = 12;
    job.preempt_time = 3600;
    end_says(&job, "It was preempted by job 12 under partition tiers at 1970-01-01T01:00:00.\n");
    job.state = JOB_PENDING;
    end_says(&job, "Its last run was preempted by job 12");
    job.state = JOB_SUSPENDED;
    end_says(&job, "started in order.");
    end_says(&job, "It was preempted by job 12 under partition tiers at 1970-01-01T01:00:00.\n");
    job.suspend_time = 3600;
    job.paused = true;
    end_says(&job, "suspended since 1970-01-01T01:00:00 to let others have its CPUs, and goes on");
    job.paused = false;
    job.suspended_by = text_of("lee");
    end_says(&job, "by lee; scontrol resume 7 lets it go on.");
    end_says_not(&job, "requeuehold"); /* it may not be */
    job.kind = JOB_KIND_BATCH;
    job.requeue = TRI_YES;
    end_says(&job, "scontrol requeuehold 7 gives them to others");
    job.state = JOB_RUNNING;
    job.end_time = job.preempt_end = 6000;
    end_says(&job, ", the end of its grace.\n");
    job.preempt_end = 0;
    job.provenance =
        text_of("backfilled past job 3; preempted by job 12 under QOS rules, which then "
                "did not need it");
    end_says(&job, "started backfilled past job 3.");
    end_says(&job, "It was preempted by job 12 under QOS rules, which then did not need it.\n");
}

TEST(reservations_and_those_who_make_room_are_told_to_a_waiting_job) {
    struct job job;
    struct why_reply reply;
    struct why_job leaving[2] = {
        {.job = text_of("5"),
         .user = text_of("bob"),
         .cpus = 1,
         .nodes = text_of("g1"),
         .time = 6000},
        {.job = text_of("6"), .user = text_of("bob"), .cpus = 4, .nodes = text_of("g2")}};
    job_init(&job, JOB_PENDING);
    record_init(&record_why_reply, &reply);
    reply = (struct why_reply) {.job = &job, .id = text_of("7"), .now = 5000};
    reply.reservation = text_of("reservation r holds what it needs");
    reply.leaving.items = leaving;
    reply.leaving.n = 2;
    says(&reply, "Reservation r holds what it needs.\n");
    says(&reply,
         "2 jobs have to make room for it:\n  job 5 of bob (1 CPU on g1): goes until 1970-");
    says(&reply, "  job 6 of bob (4 CPUs on g2): its processes are being ended\n");
    struct str out cleanup_str = STR_INIT;
    why_json(&reply, &out);
    assert_non_null(
        strstr(str_cstr(&out), "\"reservation\": \"reservation r holds what it needs\""));
    assert_non_null(strstr(str_cstr(&out), "\"leaving\""));
}

static void reply_init(struct why_reply *reply, struct job *job) {
    static struct why_nodes nodes[2];
    static struct why_job holder, ahead;
    static struct why_change change;
    record_init(&record_why_reply, reply);
    job_init(job, JOB_PENDING);
    job->reason = REASON_PRIORITY;
    job->priority = 100;
    *reply = (struct why_reply) {.job = job, .id = text_of("7"), .now = 5000, .may_update = true};
    nodes[0] = (struct why_nodes) {.nodes = text_of("g01"), .n = 1, .state = WHY_NODE_BUSY};
    nodes[1] = (struct why_nodes) {.nodes = text_of("g02"),
                                   .n = 1,
                                   .state = WHY_NODE_AWAY,
                                   .what = text_of("IDLE+DRAIN"),
                                   .reason = text_of("GPU error"),
                                   .by = text_of("root"),
                                   .since = 1000};
    reply->fits.items = nodes;
    reply->fits.n = 2;
    holder = (struct why_job) {.job = text_of("5"),
                               .user = text_of("bob"),
                               .nodes = text_of("g01"),
                               .cpus = 4,
                               .time = 8600};
    reply->holders.items = &holder;
    reply->holders.n = reply->holders_total = 1;
    ahead = (struct why_job) {.job = text_of("6"),
                              .user = text_of("carol"),
                              .priority = 200,
                              .cause = WHY_PRIORITY,
                              .time = 8600};
    reply->ahead.items = &ahead;
    reply->ahead.n = 1;
    reply->ahead_total = reply->ahead_by_priority = 1;
    reply->expected = reply->latest = 12200;
    reply->earliest = 9000;
    reply->exact = true;
    reply->nodes = text_of("g[01-02]");
    change = (struct why_change) {
        .option = text_of("--nodes=1"), .update = text_of("NumNodes=1"), .start = 5100};
    reply->changes.items = &change;
    reply->changes.n = 1;
}

TEST(a_waiting_job_says_what_it_needs_who_has_it_and_what_would_help) {
    struct job job;
    struct why_reply reply;
    reply_init(&reply, &job);
    says(&reply, "has been PENDING for 66 min, reason Priority.");
    says(&reply, "It needs 2 nodes and 8 CPUs (cpu=8,mem=4G,node=2) for up to 01:00:00.");
    says(&reply, "g01 (1): in use");
    says(&reply, "g02 (1): IDLE+DRAIN, \"GPU error\" by root, since 66 min");
    says(&reply, "held by job 5 of bob: 4 CPUs on g01 until ");
    says(&reply, "1 job is ahead of it: 1 by priority. Its own priority is 100.");
    says(&reply, "job 6 of carol (, priority 200): its priority is higher");
    says(&reply, "(in 2 h 0 min) on g[01-02].");
    says(&reply, "At the earliest at ");
    says(&reply, "--nodes=1: at ");
    says(&reply, "scontrol update JobId=7 NumNodes=1");
    reply.may_update = false;
    struct str out cleanup_str = STR_INIT;
    why_text(&reply, LANGUAGE_ENGLISH, &out);
    assert_null(strstr(str_cstr(&out), "scontrol update"));
}

TEST(reasons_say_what_releases_the_job) {
    struct job job;
    struct why_reply reply;
    reply_init(&reply, &job);
    job.reason = REASON_HELD_USER;
    job.priority = 0;
    says(&reply, "scontrol release 7 lets it go.");
    says(&reply, "If it were released now, it would start at ");
    job.reason = REASON_BEGIN_TIME;
    says(&reply, "scontrol update JobId=7 StartTime=now");
    reply.expected = 0;
    says(&reply, "Nobody can say when");
}

TEST(what_has_failed_it_before_is_told_with_what_follows) {
    struct job job;
    struct why_reply reply;
    char *names[] = {text_of("n1"), text_of("n2"), text_of("n7")};
    struct job_trouble trouble;
    record_init(&record_job_trouble, &trouble);
    reply_init(&reply, &job);
    job.reason = REASON_MAX_REQUEUE;
    job.launch_failures = 5;
    job.failed_node = text_of("n7");
    says(&reply, "could not be started 5 times in a row, on node n7 the last time");
    trouble.failed_nodes = (struct strs) {names, 3};
    trouble.avoid_until = reply.now + 60;
    trouble.losses = 3;
    trouble.quick = 6;
    job.trouble = &trouble;
    says(&reply, "A node went down in 3 of its runs");
    says(&reply, "requeued 6 times in a row after runs of less than a minute");
    says(&reply, "keeps away from n[1-2,7], where it has failed");
}

/* What a Korean is told, and that nothing of the frame is left in English. */
TEST(the_sentences_are_there_in_korean) {
    struct job job;
    struct why_reply reply;
    struct str out cleanup_str = STR_INIT;
    reply_init(&reply, &job);
    job.prio_age = 5;
    why_text(&reply, LANGUAGE_KOREAN, &out);
    static const char *const korean[] = {
        "작업 7(train, 사용자 alice, 파티션 gpu)의 상태는 PENDING",
        ", 66분째이며 이유는 Priority입니다.\n",
        "필요한 것: 노드 2개, CPU 8개(cpu=8,mem=4G,node=2), 최대 01:00:00 동안.\n",
        "  bob의 작업 5이(가) 씀: g01의 CPU 4개, ",
        "앞에 작업 1개가 있습니다: 우선순위로 1개. 이 작업의 우선순위는 100",
        "(2시간 0분 뒤), 노드 g[01-02].\n",
        "scontrol update JobId=7 NumNodes=1\n",
    };
    for (size_t i = 0; i < sizeof(korean) / sizeof(*korean); i++) {
        if (strstr(str_cstr(&out), korean[i]) == NULL)
            fail_msg("%s is not in:\n%s", korean[i], str_cstr(&out));
    }
    job.reason = REASON_HELD_USER;
    str_reset(&out);
    why_text(&reply, LANGUAGE_KOREAN, &out);
    assert_non_null(strstr(str_cstr(&out), "풀려면: scontrol release 7\n"));
    job.state = JOB_FAILED;
    job.exit_status = 127 << 8;
    str_reset(&out);
    why_text(&reply, LANGUAGE_KOREAN, &out);
    assert_non_null(strstr(str_cstr(&out), "종료 코드는 127 (명령을 찾지 못했습니다"));
}

TEST(the_json_has_the_same_facts) {
    struct job job;
    struct why_reply reply;
    struct str out cleanup_str = STR_INIT;
    reply_init(&reply, &job);
    why_json(&reply, &out);
    static const char *const facts[] = {
        "\"job\": \"7\"",
        "\"reason\": \"Priority\"",
        "\"expected\": 12200",
        "\"earliest\": 9000",
        "\"exact\": true",
        "\"state\": \"busy\"",
        "\"update\": \"NumNodes=1\"",
        "\"cause\": \"priority\"",
        "\"held_by_count\": 1",
    };
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
        if (strstr(str_cstr(&out), facts[i]) == NULL)
            fail_msg("%s is not in:\n%s", facts[i], str_cstr(&out));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_that_was_put_off_is_told_with_its_cause),
        cmocka_unit_test(who_preempted_a_job_is_told_in_every_state),
        cmocka_unit_test(reservations_and_those_who_make_room_are_told_to_a_waiting_job),
        cmocka_unit_test(an_exit_code_is_explained),
        cmocka_unit_test(other_ends_name_their_cause_and_cure),
        cmocka_unit_test(a_running_job_says_where_and_until_when),
        cmocka_unit_test(a_waiting_job_says_what_it_needs_who_has_it_and_what_would_help),
        cmocka_unit_test(reasons_say_what_releases_the_job),
        cmocka_unit_test(what_has_failed_it_before_is_told_with_what_follows),
        cmocka_unit_test(the_sentences_are_there_in_korean),
        cmocka_unit_test(the_json_has_the_same_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
