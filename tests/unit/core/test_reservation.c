/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reservations: who makes them of what, who may use them, and what happens at their ends.
 * Covers: resv_jobs.c, resv_life.c, resv_nodes.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/state.h"
#include "text/timestamp.h"
#include "unit.h"
#include "world.h"

static const char four_nodes[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                                 "Licenses=foo:3\n"
                                 "NodeName=n[1-3] CPUs=4 RealMemory=1000 Feature=fast\n"
                                 "NodeName=n4 CPUs=4 RealMemory=1000 Feature=slow\n"
                                 "PartitionName=main Nodes=ALL Default=YES\n"
                                 "PartitionName=short Nodes=n[1-2] MaxTime=10\n";

static void begin(struct world *world) {
    world_start(world, four_nodes);
    world_all_connect(world);
}

static char error_text_[512];

/* "start=now duration=60 users+=bob": 0 or the code of the refusal, its sentence in error_text_. */
static int ask(struct world *world, const char *name, const char *words, bool create, bool remove) {
    struct key_value changes[16];
    struct update update;
    struct arena arena;
    char *copy = xstrdup(words), *cursor = copy;
    arena_init(&arena, 0);
    record_init(&record_update, &update);
    for (char *word = str_next_word(&cursor, " "); word; word = str_next_word(&cursor, " ")) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        changes[update.changes.n++] = (struct key_value) {word, equals + 1};
    }
    update.entity = (char *) (uintptr_t) "reservation";
    update.target = (char *) (uintptr_t) name;
    update.changes.items = changes;
    update.create = create;
    update.remove = remove;
    uint64_t client = world_send(world, MSG_UPDATE, &update);
    const struct reply_error *error = world_answer(world, client, MSG_ERROR, &arena);
    int code = error != NULL ? (int) error->code : 0;
    snprintf(error_text_, sizeof(error_text_), "%s",
             error != NULL && error->detail != NULL ? error->detail : "");
    arena_done(&arena);
    free(copy);
    return code;
}

static int create(struct world *world, const char *name, const char *words) {
    return ask(world, name, words, true, false);
}
static int change(struct world *world, const char *name, const char *words) {
    return ask(world, name, words, false, false);
}
static int delete (struct world *world, const char *name) {
    return ask(world, name, "", false, true);
}

struct listed {
    struct reservation items[8];
    size_t n;
    struct arena arena;
};

static void take_frame(void *context, uint16_t type, struct bytes body, bool last) {
    struct listed *listed = context;
    struct reservation_list *list = arena_alloc(&listed->arena, sizeof(*list));
    assert_int_equal(type, MSG_RESERVATION_LIST);
    assert_int_equal(wire_decode(&record_reservation_list, body, &listed->arena, list, NULL), 0);
    for (uint32_t i = 0; i < list->items.n; i++)
        listed->items[listed->n++] = list->items.items[i];
}

/* NULL when there is none of that name. */
static const struct reservation *look(struct world *world, struct listed *listed,
                                      const char *name) {
    struct list_request request;
    struct core_user root = {.name = "root", .group = "root"};
    *listed = (struct listed) {.n = 0};
    arena_init(&listed->arena, 0);
    record_init(&record_list_request, &request);
    assert_int_equal(core_list(world->core, world->now, MSG_LIST_RESERVATIONS, &root, &request,
                               take_frame, listed, NULL),
                     0);
    for (size_t i = 0; i < listed->n; i++) {
        if (name == NULL || str_equal(listed->items[i].name, name))
            return &listed->items[i];
    }
    return NULL;
}

#define EXPECT(world, id, member, text)                                                            \
    do {                                                                                           \
        struct listed listed_;                                                                     \
        const struct reservation *r_ = look(world, &listed_, id);                                  \
        assert_non_null(r_);                                                                       \
        assert_string_equal(r_->member, text);                                                     \
        arena_done(&listed_.arena);                                                                \
    } while (0)

static bool exists(struct world *world, const char *name) {
    struct listed listed;
    bool found = look(world, &listed, name) != NULL;
    arena_done(&listed.arena);
    return found;
}

/* A job of one CPU; 0 when refused. */
static uint32_t submit(struct world *world, const char *reservation, uint32_t minutes, int *code) {
    struct job_request request;
    world_request(&request);
    request.reservation = (char *) (uintptr_t) reservation;
    request.time_limit = minutes;
    return world_submit(world, &request, code);
}

static void expect_state(struct world *world, uint32_t id, enum job_state state,
                         enum job_reason reason) {
    struct job job;
    assert_true(world_look(world, id, &job));
    assert_int_equal(job.state, state);
    assert_int_equal(job.reason, reason);
}

TEST(a_request_that_lacks_something_is_told_what) {
    struct world world;
    begin(&world);
    assert_int_equal(create(&world, "r", "users=bob duration=60 nodes=n1"), ERR_INVALID);
    assert_string_equal(error_text_, "A start time must be given.");
    assert_int_equal(create(&world, "r", "users=bob starttime=now nodes=n1"), ERR_INVALID);
    assert_string_equal(error_text_, "An end time or duration must be given.");
    assert_int_equal(create(&world, "r", "starttime=now duration=60 nodes=n1"), ERR_INVALID);
    assert_int_equal(create(&world, "r", "users=bob starttime=now duration=60"), ERR_INVALID);
    assert_int_equal(create(&world, "r", "users=bob starttime=now duration=60 nodes=n9"),
                     ERR_INVALID_NODE);
    assert_int_equal(create(&world, "r", "users=bob starttime=now duration=60 nodecnt=9"),
                     ERR_NODE_CONFIG);
    assert_int_equal(create(&world, "r", "users=bob starttime=now-1hour duration=60 nodes=n1"),
                     ERR_INVALID_TIME);
    assert_int_equal(create(&world, "r", "users=bob starttime=now duration=60 nodes=n1 flags=x"),
                     ERR_INVALID);
    assert_int_equal(create(&world, "r", "users=bob starttime=now duration=60 nodes=n1 foo=1"),
                     ERR_INVALID);
    assert_int_equal(create(&world, "r", "users=bob starttime=now duration=60 nodes=n1 licenses=x"),
                     ERR_INVALID_LICENSE);
    assert_int_equal(create(&world, "r", "users=-a,b starttime=now duration=60 nodes=n1"),
                     ERR_INVALID);
    assert_false(exists(&world, NULL));
    world_stop(&world);
}

TEST(only_administrators_make_them) {
    struct world world;
    begin(&world);
    world.uid = 1000;
    assert_int_equal(create(&world, "r", "users=user1000 starttime=now duration=60 nodes=n1"),
                     ERR_USER_ID);
    world.uid = 0;
    assert_int_equal(create(&world, "r", "users=user1000 starttime=now duration=60 nodes=n1"), 0);
    world.uid = 1000;
    assert_int_equal(change(&world, "r", "duration=5"), ERR_USER_ID);
    assert_int_equal(delete (&world, "r"), ERR_USER_ID);
    world.uid = 0;
    assert_int_equal(change(&world, "r", "flags+=user_delete"), 0);
    world.uid = 1000;
    (void) !delete (&world, "r");
    world_stop(&world);
}

TEST(names_and_nodes_are_chosen_where_they_are_not_given) {
    struct world world;
    begin(&world);
    assert_int_equal(create(&world, "", "users=bob starttime=now+1hour duration=60 nodecnt=2"), 0);
    assert_int_equal(create(&world, "", "users=bob starttime=now+1hour duration=60 nodecnt=1"), 0);
    EXPECT(&world, "bob_1", nodes, "n[1-2]");
    EXPECT(&world, "bob_1", partition, "main");
    EXPECT(&world, "bob_2", nodes, "n3");
    assert_int_equal(
        create(&world, "s", "users=bob starttime=now+1hour duration=60 nodecnt=1 features=slow"),
        0);
    EXPECT(&world, "s", nodes, "n4");
    assert_int_equal(create(&world, "t", "users=bob starttime=now+1hour duration=60 nodecnt=1"),
                     ERR_NODES_BUSY);
    assert_int_equal(create(&world, "c", "users=bob starttime=now+5hour duration=60 corecnt=6"), 0);
    EXPECT(&world, "c", nodes, "n[1-2]");
    EXPECT(&world, "c", tres, "cpu=6");
    assert_int_equal(create(&world, "d", "users=bob starttime=now+5hour duration=60 corecnt=2"), 0);
    EXPECT(&world, "d", nodes, "n2");
    world_stop(&world);
}

TEST(two_do_not_get_one_node_at_one_time_unless_they_may_overlap) {
    struct world world;
    begin(&world);
    assert_int_equal(create(&world, "a", "users=b starttime=now+1hour duration=60 nodes=n1"), 0);
    assert_int_equal(create(&world, "b", "users=b starttime=now+90minutes duration=60 nodes=n1"),
                     ERR_RESERVATION_OVERLAP);
    assert_int_equal(create(&world, "a", "users=b starttime=now+9hours duration=60 nodes=n1"),
                     ERR_RESERVATION_DUPLICATE);
    assert_int_equal(create(&world, "c", "users=b starttime=now+2hours duration=60 nodes=n1"), 0);
    assert_int_equal(
        create(&world, "d", "users=b starttime=now+1hour duration=60 nodes=n1 flags=maint"), 0);
    assert_int_equal(
        create(&world, "e", "users=b starttime=now+1hour duration=60 nodes=n1 flags=overlap"), 0);
    /* A daily one meets what comes in a week, and what lies on the other side of midnight does not.
     */
    assert_int_equal(
        create(&world, "f", "users=b starttime=now+5hours duration=60 nodes=n2 flags=daily"), 0);
    assert_int_equal(create(&world, "g", "users=b starttime=now+173hours duration=60 nodes=n2"),
                     ERR_RESERVATION_OVERLAP);
    assert_int_equal(create(&world, "h", "users=b starttime=now+175hours duration=60 nodes=n2"), 0);
    world_stop(&world);
}

TEST(running_jobs_are_in_the_way_unless_they_are_ignored) {
    struct world world;
    begin(&world);
    submit(&world, NULL, 120, NULL);
    assert_int_equal(create(&world, "a", "users=b starttime=now duration=60 nodes=ALL"),
                     ERR_NODES_BUSY);
    assert_int_equal(create(&world, "b", "users=b starttime=now+3hours duration=60 nodes=ALL"), 0);
    assert_int_equal(
        create(&world, "c", "users=b starttime=now duration=60 nodes=ALL flags=ignore_jobs"), 0);
    world_stop(&world);
}

TEST(a_job_uses_a_reservation_that_lets_it_in) {
    struct world world;
    int code;
    begin(&world);
    assert_int_equal(create(&world, "r", "users=user0 starttime=now duration=60 nodes=n2"), 0);
    assert_int_equal(create(&world, "s", "users=-user0 starttime=now duration=60 nodes=n3"), 0);
    assert_int_equal(submit(&world, "nope", 10, &code), 0);
    assert_int_equal(code, ERR_INVALID_RESERVATION);
    assert_int_equal(submit(&world, "s", 10, &code), 0);
    assert_int_equal(code, ERR_RESERVATION_ACCESS);
    uint32_t id = submit(&world, "r", 10, &code);
    struct job job;
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_string_equal(job.nodes, "n2");
    assert_int_equal(delete (&world, "r"), ERR_RESERVATION_IN_USE);
    uint32_t late = submit(&world, "r", 61, &code);
    expect_state(&world, late, JOB_PENDING, REASON_RESERVATION);
    world_check(&world);
    world_stop(&world);
}

TEST(others_keep_off_and_nodes_show_it) {
    struct world world;
    begin(&world);
    assert_int_equal(create(&world, "r", "users=bob starttime=now+1hour duration=60 nodes=ALL"), 0);
    uint32_t longer = submit(&world, NULL, 61, NULL), shorter = submit(&world, NULL, 60, NULL);
    expect_state(&world, longer, JOB_PENDING, REASON_REQ_NODE_NOT_AVAIL);
    expect_state(&world, shorter, JOB_RUNNING, REASON_NONE);
    world_script_ends(&world, shorter, 0);
    assert_int_equal(core_node(world.core, 0)->flags & NODE_FLAG_RESERVED, 0);
    world_pass_time(&world, 3600);
    assert_true(core_node(world.core, 0)->flags & NODE_FLAG_RESERVED);
    assert_string_equal(core_node(world.core, 0)->reservation, "r");
    world_pass_time(&world, 3600);
    assert_int_equal(core_node(world.core, 0)->flags & NODE_FLAG_RESERVED, 0);
    assert_false(exists(&world, "r"));
    expect_state(&world, longer, JOB_RUNNING, REASON_NONE);
    world_stop(&world);
}

static void expect_hint(struct world *world, uint32_t id, const char *words) {
    struct str text cleanup_str = STR_INIT;
    assert_true(job_reservation_hint(world->core, job_find(world->core, id), &text));
    if (strstr(str_cstr(&text), words) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", str_cstr(&text), words);
}

TEST(a_job_that_collides_is_told_which_limit_would_fit) {
    struct world world;
    struct str text cleanup_str = STR_INIT;
    begin(&world);
    assert_int_equal(create(&world, "r", "users=user0 starttime=now+3hours duration=60 nodes=ALL"),
                     0);
    uint32_t outside = submit(&world, NULL, 300, NULL), inside = submit(&world, "r", 50, NULL);
    expect_hint(&world, outside, "reservation r holds what it needs from ");
    expect_hint(&world, outside, "; a limit of at most 03:00:00 would fit before it begins");
    expect_hint(&world, inside, "it waits for reservation r, which begins at ");
    world_pass_time(&world, 3 * 3600 + 900);
    uint32_t late = submit(&world, "r", 50, NULL);
    expect_hint(&world, late,
                "its time limit is longer than what is left of reservation r; a limit of "
                "at most 00:45:00 would fit before it ends");
    assert_false(job_reservation_hint(world.core, job_find(world.core, inside), &text));
    world_stop(&world);
}

TEST(maintenance_shows_on_nodes_and_in_reasons) {
    struct world world;
    struct job job;
    begin(&world);
    assert_int_equal(
        create(&world, "m", "users=bob starttime=now duration=60 nodes=ALL flags=maint"), 0);
    assert_true(core_node(world.core, 0)->flags & NODE_FLAG_MAINTENANCE);
    uint32_t id = submit(&world, NULL, 10, NULL);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.state_desc, "ReqNodeNotAvail, Reserved for maintenance");
    world_stop(&world);
}

TEST(waiting_jobs_of_a_reservation_that_ends_are_held) {
    struct world world;
    begin(&world);
    assert_int_equal(create(&world, "r", "users=user0 starttime=now duration=60 nodes=n1"), 0);
    assert_int_equal(create(&world, "s",
                            "users=user0 starttime=now duration=60 nodes=n2 "
                            "flags=no_hold_jobs_after"),
                     0);
    uint32_t held = submit(&world, "r", 61, NULL), free_ = submit(&world, "s", 61, NULL);
    uint32_t either = submit(&world, "r,s", 61, NULL);
    assert_int_equal(change(&world, "s", "duration=2:00:00 starttime=now+1hour"), 0);
    world_pass_time(&world, 3600);
    struct job job;
    assert_true(world_look(&world, held, &job));
    assert_int_equal(job.reason, REASON_RESERVATION_DELETED);
    assert_int_equal(job.priority, 0);
    assert_true(job.flags & JOB_FLAG_RESV_DEL_HOLD);
    assert_true(world_look(&world, either, &job));
    assert_string_equal(job.reservation, "s");
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    expect_state(&world, held, JOB_RUNNING, REASON_NONE);
    (void) free_;
    world_stop(&world);
}

TEST(a_recurring_reservation_comes_again_at_the_same_time_of_day) {
    struct world world;
    struct listed listed;
    begin(&world);
    assert_int_equal(
        create(&world, "d", "users=user0 starttime=now+1hour duration=60 nodes=n1 flags=daily"), 0);
    int64_t first = look(&world, &listed, "d")->start_time;
    arena_done(&listed.arena);
    world_pass_time(&world, 3600);
    world_pass_time(&world, 3600);
    assert_int_equal(look(&world, &listed, "d")->start_time, timestamp_add_days(first, 1));
    arena_done(&listed.arena);
    assert_int_equal(change(&world, "d", "skip=yes"), 0);
    assert_int_equal(look(&world, &listed, "d")->start_time, timestamp_add_days(first, 2));
    arena_done(&listed.arena);
    /* A job of two days does not fit between. */
    struct job_request request;
    world_request(&request);
    request.req_nodes = (char *) (uintptr_t) "n1";
    request.time_limit = 2 * 1440;
    uint32_t id = world_submit(&world, &request, NULL);
    world_pass_time(&world, 3 * 86400);
    expect_state(&world, id, JOB_PENDING, REASON_REQ_NODE_NOT_AVAIL);
    world_stop(&world);
}

TEST(local_days_are_counted_over_a_clock_change) {
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    int64_t start = 0, next = 0;
    assert_int_equal(timestamp_parse("2027-03-27T08:00:00", 0, false, &start, NULL), 0);
    assert_int_equal(timestamp_parse("2027-03-28T08:00:00", 0, false, &next, NULL), 0);
    assert_int_equal(next - start, 23 * 3600);
    assert_int_equal(reservation_next_start(start, RESERVATION_DAILY), next);
    /* A Saturday: the next weekday is Monday, the next weekend day Sunday. */
    assert_int_equal(reservation_next_start(start, RESERVATION_WEEKDAY),
                     timestamp_add_days(start, 2));
    assert_int_equal(reservation_next_start(start, RESERVATION_WEEKEND), next);
    assert_int_equal(reservation_next_start(start, RESERVATION_HOURLY), start + 3600);
    assert_int_equal(reservation_next_start(start, 0), 0);
    unsetenv("TZ");
    tzset();
}

TEST(jobs_are_drawn_into_a_magnetic_reservation) {
    struct world world;
    struct job job;
    begin(&world);
    assert_int_equal(
        create(&world, "m", "users=user0 starttime=now duration=60 nodes=n3 flags=magnetic"), 0);
    uint32_t id = submit(&world, NULL, 10, NULL);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.nodes, "n3");
    assert_string_equal(job.reservation, "m");
    uint32_t longer = submit(&world, NULL, 100, NULL);
    assert_true(world_look(&world, longer, &job));
    assert_string_equal(job.nodes, "n1");
    assert_null(job.reservation);
    world_stop(&world);
}

TEST(whom_a_reservation_drew_in_before_a_restart_the_next_one_does_not) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    assert_int_equal(
        create(&world, "m", "users=user0 starttime=now duration=60 nodes=n3 flags=magnetic"), 0);
    world_request(&request);
    request.req_nodes = (char *) (uintptr_t) "n3";
    request.time_limit = 10;
    request.begin_time = world.now + 100;
    uint32_t id = world_submit(&world, &request, NULL);
    world_restart(&world);
    world_all_connect(&world);
    assert_int_equal(delete (&world, "m"), 0);
    assert_int_equal(create(&world, "others", "users=user1 starttime=now duration=60 nodes=n3"), 0);
    world_pass_time(&world, 200);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_null(job.reservation);
    world_stop(&world);
}

TEST(a_reservation_that_nobody_uses_is_purged) {
    struct world world;
    begin(&world);
    assert_int_equal(
        create(&world, "p", "users=user0 starttime=now duration=60 nodes=n3 flags=purge_comp=5"),
        0);
    uint32_t id = submit(&world, "p", 10, NULL);
    world_pass_time(&world, 400);
    assert_true(exists(&world, "p"));
    world_script_ends(&world, id, 0);
    world_pass_time(&world, 299);
    assert_true(exists(&world, "p"));
    world_pass_time(&world, 10);
    assert_false(exists(&world, "p"));
    world_stop(&world);
}

TEST(jobs_end_with_their_reservation) {
    struct world world;
    struct job job;
    begin(&world);
    assert_int_equal(create(&world, "r", "users=user0 starttime=now duration=60 nodes=n1"), 0);
    uint32_t id = submit(&world, "r", 60, NULL);
    assert_int_equal(change(&world, "r", "duration=30"), 0);
    world_pass_time(&world, 1800);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_TIMEOUT);
    world_stop(&world);
}

TEST(they_survive_a_restart) {
    struct world world;
    struct job job;
    begin(&world);
    assert_int_equal(create(&world, "r",
                            "users=user0 starttime=now duration=60 nodes=n2 "
                            "flags=flex licenses=foo:2"),
                     0);
    uint32_t id = submit(&world, "r", 10, NULL);
    world_restart(&world);
    world_all_connect(&world);
    EXPECT(&world, "r", nodes, "n2");
    EXPECT(&world, "r", licenses, "foo:2");
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.reservation, "r");
    assert_true(core_node(world.core, 1)->flags & NODE_FLAG_RESERVED);
    world_pass_time(&world, 3601);
    world_restart(&world);
    assert_false(exists(&world, "r"));
    world_stop(&world);
}

TEST(a_node_that_fails_is_replaced_unless_it_was_named) {
    struct world world;
    begin(&world);
    assert_int_equal(create(&world, "r", "users=user0 starttime=now+1hour duration=60 nodecnt=2"),
                     0);
    assert_int_equal(create(&world, "s", "users=user0 starttime=now+5hours duration=60 nodes=n1"),
                     0);
    EXPECT(&world, "r", nodes, "n[1-2]");
    struct key_value changes[] = {{(char *) (uintptr_t) "State", (char *) (uintptr_t) "DOWN"},
                                  {(char *) (uintptr_t) "Reason", (char *) (uintptr_t) "smoke"}};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) (uintptr_t) "node";
    update.target = (char *) (uintptr_t) "n1";
    update.changes.items = changes;
    update.changes.n = countof(changes);
    world_send(&world, MSG_UPDATE, &update);
    world_turn(&world);
    EXPECT(&world, "r", nodes, "n[2-3]");
    EXPECT(&world, "s", nodes, "n1");
    world_stop(&world);
}

TEST(part_nodes_follow_their_partition) {
    struct world world;
    begin(&world);
    assert_int_equal(create(&world, "r",
                            "users=user0 starttime=now+1hour duration=60 nodes=ALL "
                            "partitionname=short flags=part_nodes"),
                     0);
    EXPECT(&world, "r", nodes, "n[1-2]");
    assert_int_equal(world_update(&world, "partition", "short", "Nodes", "n[1-3]"), 0);
    world_turn(&world);
    EXPECT(&world, "r", nodes, "n[1-3]");
    world_stop(&world);
}

TEST(updates_add_and_take_away) {
    struct world world;
    begin(&world);
    assert_int_equal(create(&world, "r", "users=a,b starttime=now+1hour duration=60 nodes=n1"), 0);
    assert_int_equal(change(&world, "r", "users+=c users-=a nodes+=n[3-4] flags+=maint"), 0);
    EXPECT(&world, "r", users, "b,c");
    EXPECT(&world, "r", nodes, "n[1,3-4]");
    assert_int_equal(change(&world, "r", "nodes-=n3 flags-=maint"), 0);
    EXPECT(&world, "r", nodes, "n[1,4]");
    assert_int_equal(change(&world, "r", "users="), ERR_RESERVATION_EMPTY);
    EXPECT(&world, "r", users, "b,c");
    assert_int_equal(change(&world, "nope", "duration=5"), ERR_INVALID_RESERVATION);
    assert_int_equal(delete (&world, "r"), 0);
    assert_false(exists(&world, "r"));
    world_stop(&world);
}

TEST(who_may_no_longer_use_it_does_not_start_in_it) {
    struct world world;
    begin(&world);
    assert_int_equal(create(&world, "r", "users=user0 starttime=now+3600 duration=60 nodes=n1"), 0);
    uint32_t id = submit(&world, "r", 10, NULL);
    assert_int_not_equal(id, 0);
    assert_int_equal(change(&world, "r", "users=bob"), 0);
    expect_state(&world, id, JOB_PENDING, REASON_RESERVATION_INVALID);
    world_pass_time(&world, 3700);
    expect_state(&world, id, JOB_PENDING, REASON_RESERVATION_INVALID);
    assert_int_equal(change(&world, "r", "users+=user0"), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_lacks_something_is_told_what),
        cmocka_unit_test(only_administrators_make_them),
        cmocka_unit_test(who_may_no_longer_use_it_does_not_start_in_it),
        cmocka_unit_test(names_and_nodes_are_chosen_where_they_are_not_given),
        cmocka_unit_test(two_do_not_get_one_node_at_one_time_unless_they_may_overlap),
        cmocka_unit_test(running_jobs_are_in_the_way_unless_they_are_ignored),
        cmocka_unit_test(a_job_uses_a_reservation_that_lets_it_in),
        cmocka_unit_test(others_keep_off_and_nodes_show_it),
        cmocka_unit_test(a_job_that_collides_is_told_which_limit_would_fit),
        cmocka_unit_test(maintenance_shows_on_nodes_and_in_reasons),
        cmocka_unit_test(waiting_jobs_of_a_reservation_that_ends_are_held),
        cmocka_unit_test(a_recurring_reservation_comes_again_at_the_same_time_of_day),
        cmocka_unit_test(local_days_are_counted_over_a_clock_change),
        cmocka_unit_test(jobs_are_drawn_into_a_magnetic_reservation),
        cmocka_unit_test(whom_a_reservation_drew_in_before_a_restart_the_next_one_does_not),
        cmocka_unit_test(a_reservation_that_nobody_uses_is_purged),
        cmocka_unit_test(jobs_end_with_their_reservation),
        cmocka_unit_test(they_survive_a_restart),
        cmocka_unit_test(a_node_that_fails_is_replaced_unless_it_was_named),
        cmocka_unit_test(part_nodes_follow_their_partition),
        cmocka_unit_test(updates_add_and_take_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
