/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What submitters are told, --time=auto, and the priority of those who ask for what they need.
 * Covers: advise.c habit.c
 */
#include <stdio.h>
#include <string.h>

#include "core/habit.h"
#include "core/submit_phrases.h"
#include "unit.h"
#include "world.h"

#define NODES                                                                                      \
    "SelectTypeParameters=CR_CPU\nMinJobAge=3000\n"                                                \
    "NodeName=n1 CPUs=2 RealMemory=100000\nPartitionName=main Nodes=ALL Default=YES\n"             \
    "PartitionName=brief Nodes=ALL MaxTime=30\n"

static void request_init(struct job_request *request, const char *name, uint32_t minutes) {
    world_request(request);
    request->name = (char *) (uintptr_t) name;
    request->time_limit = minutes;
}

static uint32_t ran(struct world *world, const char *name, uint32_t minutes, int64_t seconds) {
    struct job_request request;
    request_init(&request, name, minutes);
    uint32_t job = world_submit(world, &request, NULL);
    world_turn(world);
    world_pass_time(world, seconds);
    world_script_ends(world, job, 0);
    world_pass_time(world, 1);
    return job;
}

/* A world in which the user has had three jobs "train" of so many seconds. */
static void begin_trained(struct world *world, const char *conf, uint32_t minutes,
                          int64_t seconds) {
    world_start(world, conf);
    world_all_connect(world);
    for (int i = 0; i < 3; i++)
        ran(world, "train", minutes, seconds);
}

/* Lines for stderr after a submission, each ended by a newline. */
static uint32_t told(struct world *world, const struct job_request *request, uint32_t advice,
                     struct str *ret) {
    struct submit submit;
    struct arena arena;
    arena_init(&arena, 0);
    record_init(&record_submit, &submit);
    submit.job = (struct job_request *) (uintptr_t) request;
    submit.advice = advice;
    uint64_t client = world_send(world, MSG_SUBMIT, &submit);
    const struct submit_reply *reply = world_answer(world, client, MSG_SUBMIT_REPLY, &arena);
    assert_non_null(reply);
    str_reset(ret);
    for (uint32_t i = 0; i < reply->infos.n; i++)
        str_printf(ret, "%s\n", reply->infos.items[i]);
    uint32_t id = reply->job_id;
    arena_done(&arena);
    return id;
}

TEST(a_limit_far_above_what_was_needed_is_told_once_in_a_while) {
    struct world world;
    struct job_request request;
    struct str text cleanup_str = STR_INIT;
    begin_trained(&world, NODES, 600, 1200);
    request_init(&request, "train", 600);
    told(&world, &request, ADVICE_WANTED, &text);
    assert_string_equal(str_cstr(&text),
                        "note: your last 3 jobs named train ran for at most 00:20:00, and this one "
                        "may for 10:00:00. With --time=00:25:00 other jobs could be planned around "
                        "it; --time=auto asks for that\n");
    told(&world, &request, ADVICE_WANTED, &text);
    assert_string_equal(str_cstr(&text), "");
    world_pass_time(&world, 700);
    told(&world, &request, ADVICE_WANTED, &text);
    assert_int_not_equal(text.length, 0);
    world_stop(&world);
}

TEST(a_submitter_is_told_in_the_own_language) {
    struct world world;
    struct job_request request;
    struct str text cleanup_str = STR_INIT;
    for (int i = 0; i < SUBMIT_PHRASES; i++) {
        const char *english = submit_phrase(LANGUAGE_ENGLISH, (enum submit_phrase) i);
        const char *korean = submit_phrase(LANGUAGE_KOREAN, (enum submit_phrase) i);
        if (strcmp(english, korean) == 0 || !phrase_takes_the_same(english, korean))
            fail_msg("%s\n%s", english, korean);
    }
    begin_trained(&world, NODES, 600, 1200);
    request_init(&request, "train", 600);
    told(&world, &request, ADVICE_WANTED | ADVICE_KOREAN, &text);
    assert_string_equal(
        str_cstr(&text),
        "알림: 지난 작업 3개(이름 train)는 길어야 00:20:00 동안 돌았는데 이 작업의 제한은 "
        "10:00:00입니다. --time=00:25:00이면 다른 작업을 그 둘레에 배치할 수 있습니다. "
        "--time=auto가 그렇게 요청합니다\n");
    world_stop(&world);
}

TEST(nobody_is_told_who_asks_for_what_is_needed_or_does_not_want_to_know) {
    struct world world;
    struct job_request request;
    struct str text cleanup_str = STR_INIT;
    begin_trained(&world, NODES, 600, 1200);
    request_init(&request, "train", 60);
    told(&world, &request, ADVICE_WANTED, &text);
    assert_string_equal(str_cstr(&text), "");
    request_init(&request, "train", 600);
    told(&world, &request, 0, &text);
    assert_string_equal(str_cstr(&text), "");
    request_init(&request, "other", 600);
    told(&world, &request, ADVICE_WANTED, &text);
    assert_string_equal(str_cstr(&text), "");
    world.uid = 4711;
    request_init(&request, "train", 600);
    told(&world, &request, ADVICE_WANTED, &text);
    assert_string_equal(str_cstr(&text), "");
    world_stop(&world);
    begin_trained(&world, "SlurmctldParameters=sluice_no_advice\n" NODES, 600, 1200);
    told(&world, &request, ADVICE_WANTED, &text);
    assert_string_equal(str_cstr(&text), "");
    world_stop(&world);
}

TEST(the_start_that_a_shorter_limit_would_get_is_told) {
    struct world world;
    struct job_request request;
    struct str text cleanup_str = STR_INIT;
    begin_trained(&world, NODES, 600, 1200);
    /* One CPU is taken for an hour, then both go to who waits for them. */
    request_init(&request, "long", 60);
    world_submit(&world, &request, NULL);
    request_init(&request, "wide", 600);
    request.ntasks = 2;
    world_submit(&world, &request, NULL);
    world_turn(&world);
    request_init(&request, "train", 600);
    told(&world, &request, ADVICE_WANTED, &text);
    assert_non_null(strstr(str_cstr(&text), "With --time=00:25:00 it could start now instead of in "
                                            "11:00:"));
    world_stop(&world);
}

TEST(auto_is_a_limit_from_earlier_runs_also_after_a_restart) {
    struct world world;
    struct job_request request;
    struct job job;
    struct str text cleanup_str = STR_INIT;
    begin_trained(&world, NODES, 600, 2400);
    world_restart(&world);
    world_all_connect(&world);
    request_init(&request, "train", MINUTES_UNSET);
    request.time_auto = true;
    uint32_t id = told(&world, &request, 0, &text);
    assert_string_equal(str_cstr(&text),
                        "note: --time=auto is --time=00:50:00: nine of ten of your last 3 jobs "
                        "named train would have kept it\n");
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.time_limit, 50);
    /* No more than the partition allows. */
    request.partition = (char *) (uintptr_t) "brief";
    id = told(&world, &request, 0, &text);
    assert_non_null(strstr(str_cstr(&text), "were it not for the partition's limit"));
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.time_limit, 30);
    /* Nothing to tell from. */
    request_init(&request, "new", MINUTES_UNSET);
    request.time_auto = true;
    id = told(&world, &request, 0, &text);
    assert_non_null(strstr(str_cstr(&text), "0 of your jobs named new have ended so far and 3"));
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.time_limit, MINUTES_INFINITE);
    world_stop(&world);
}

TEST(an_automatic_limit_keeps_to_the_partition_of_those_who_name_none) {
    struct world world;
    struct job_request request;
    struct job job;
    struct str text cleanup_str = STR_INIT;
    begin_trained(&world,
                  "SelectTypeParameters=CR_CPU\nNodeName=n1 CPUs=2 RealMemory=100000\n"
                  "PartitionName=main Nodes=ALL Default=YES MaxTime=30\n",
                  30, 1700);
    request_init(&request, "train", MINUTES_UNSET);
    request.time_auto = true;
    uint32_t id = told(&world, &request, 0, &text);
    assert_non_null(strstr(str_cstr(&text), "were it not for the partition's limit"));
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.time_limit, 30);
    assert_int_equal(job.state, JOB_RUNNING);
    world_stop(&world);
}

TEST(failed_and_cancelled_runs_tell_nothing) {
    struct world world;
    world_start(&world, NODES);
    world_all_connect(&world);
    struct job_request request;
    request_init(&request, "train", 600);
    uint32_t job = world_submit(&world, &request, NULL);
    world_turn(&world);
    world_script_ends(&world, job, 1 << 8);
    world_turn(&world);
    assert_null(habit_find(world.core, world.uid, "train"));
    ran(&world, "train", 600, 100);
    assert_int_equal(habit_find(world.core, world.uid, "train")->seconds.n, 1);
    assert_null(habit_find(world.core, world.uid, NULL)); /* nobody asks for it */
    world_stop(&world);
}

TEST(the_names_used_longest_ago_are_forgotten) {
    struct world world;
    world_start(&world, NODES);
    world_all_connect(&world);
    ran(&world, "first", 600, 1);
    ran(&world, "second", 600, 1);
    ran(&world, "first", 600, 1);
    for (int i = 0; i < HABITS_MAX - 1; i++) {
        char name[24];
        struct job job;
        record_init(&record_job, &job);
        struct job_node node = {0};
        snprintf(name, sizeof(name), "job%d", i);
        job.name = name;
        job.uid = world.uid;
        job.state = JOB_COMPLETED;
        job.start_time = world.now;
        job.end_time = world.now + 1;
        job.allocation.items = &node;
        job.allocation.n = 1;
        habit_learn(world.core, &job);
    }
    assert_non_null(habit_find(world.core, world.uid, "first"));
    assert_null(habit_find(world.core, world.uid, "second"));
    world_turn(&world);
    world_restart(&world);
    assert_non_null(habit_find(world.core, world.uid, "first"));
    assert_null(habit_find(world.core, world.uid, "second"));
    world_stop(&world);
}

TEST(memory_without_a_unit_that_looks_like_gigabytes_is_told) {
    struct world world;
    struct job_request request;
    struct str text cleanup_str = STR_INIT;
    world_start(&world, NODES); /* 97 GB */
    world_all_connect(&world);
    request_init(&request, "a", 60);
    request.mem_per_node = 64;
    told(&world, &request, ADVICE_WANTED | ADVICE_BARE_MEM, &text);
    assert_string_equal(str_cstr(&text), "note: --mem=64 is 64 MB for each node; if gigabytes are "
                                         "meant, write --mem=64G\n");
    told(&world, &request, ADVICE_WANTED, &text); /* --mem=64M */
    assert_string_equal(str_cstr(&text), "");
    request.mem_per_node = 128; /* so many gigabytes are nowhere */
    told(&world, &request, ADVICE_WANTED | ADVICE_BARE_MEM, &text);
    assert_string_equal(str_cstr(&text), "");
    request.mem_per_node = UNSET64;
    request.mem_per_cpu = 4;
    told(&world, &request, ADVICE_WANTED | ADVICE_BARE_MEM_PER_CPU, &text);
    assert_non_null(strstr(str_cstr(&text), "--mem-per-cpu=4 is 4 MB for each CPU"));
    world_stop(&world);
}

TEST(who_asks_for_what_is_needed_goes_first_where_accuracy_counts) {
    struct world world;
    struct job_request request;
    struct job honest, padded;
    world_start(&world, "PriorityWeightAccuracy=1000\n" NODES);
    world_all_connect(&world);
    for (int i = 0; i < 3; i++) {
        world.uid = 1001;
        ran(&world, "train", 10, 570); /* 0.95 of the limit */
        world.uid = 1002;
        ran(&world, "train", 1000, 600); /* 0.01 */
    }
    request_init(&request, "all", 60);
    request.ntasks = 2;
    world.uid = 1003;
    world_submit(&world, &request, NULL);
    world_turn(&world);
    world.uid = 1002;
    uint32_t second = world_submit(&world, &request, NULL);
    world.uid = 1001;
    uint32_t first = world_submit(&world, &request, NULL);
    world_turn(&world);
    assert_true(world_look(&world, first, &honest));
    assert_int_equal(honest.priority, 950);
    assert_int_equal(priority_rounded(honest.prio_accuracy), 950);
    assert_true(world_look(&world, second, &padded));
    assert_int_equal(padded.priority, 10);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_far_above_what_was_needed_is_told_once_in_a_while),
        cmocka_unit_test(a_submitter_is_told_in_the_own_language),
        cmocka_unit_test(nobody_is_told_who_asks_for_what_is_needed_or_does_not_want_to_know),
        cmocka_unit_test(the_start_that_a_shorter_limit_would_get_is_told),
        cmocka_unit_test(auto_is_a_limit_from_earlier_runs_also_after_a_restart),
        cmocka_unit_test(an_automatic_limit_keeps_to_the_partition_of_those_who_name_none),
        cmocka_unit_test(failed_and_cancelled_runs_tell_nothing),
        cmocka_unit_test(the_names_used_longest_ago_are_forgotten),
        cmocka_unit_test(memory_without_a_unit_that_looks_like_gigabytes_is_told),
        cmocka_unit_test(who_asks_for_what_is_needed_goes_first_where_accuracy_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
