/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record behind `sluice why`. In random worlds every change that it proposes is made with
 * scontrol update's keys, time passes, and the job starts when the answer said.
 *
 * Covers: why_change.c
 *
 * WHY_SEED=n runs that seed alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "unit.h"
#include "world.h"

#define SEEDS 60
#define JOBS 12

static const char conf_text[] =
    "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\nGresTypes=gpu\n"
    "Licenses=matlab:2\nMinJobAge=65000\n"
    "NodeName=n[1-3] CPUs=4 RealMemory=1000 Gres=gpu:a100:2\n"
    "NodeName=n4 CPUs=4 RealMemory=1000 Gres=gpu:v100:2 Feature=old\n"
    "PartitionName=main Nodes=n[1-4] Default=YES\n"
    "PartitionName=spare Nodes=n[3-4] MaxTime=100\n"
    "PartitionName=short Nodes=n[1-2] MaxTime=10\n";

static void start(struct world *world, struct arena *arena) {
    world_start(world, conf_text);
    world_all_connect(world);
    arena_init(arena, 0);
}

/* A job for whole nodes. */
static uint32_t submit_nodes(struct world *world, uint32_t nodes, uint32_t minutes) {
    struct job_request request;
    world_request(&request);
    request.min_nodes = request.max_nodes = nodes;
    request.exclusive = EXCLUSIVE_NODE;
    request.time_limit = minutes;
    return world_submit(world, &request, NULL);
}

TEST(the_answer_says_who_holds_the_nodes_who_is_ahead_and_until_when) {
    struct world world;
    struct arena arena;
    start(&world, &arena);
    assert_int_equal(submit_nodes(&world, 3, 60), 1);
    assert_int_equal(submit_nodes(&world, 4, 30), 2);
    assert_int_equal(submit_nodes(&world, 4, 90), 3); /* cannot end before job 2 begins */
    const struct why_reply *reply = world_why(&world, 3, &arena);
    assert_non_null(reply);
    assert_int_equal(reply->job->state, JOB_PENDING);
    assert_true(reply->exact);
    assert_int_equal(reply->expected, world.now + 90 * 60);
    assert_int_equal(reply->latest, reply->expected);
    assert_int_equal(reply->ahead_total, 1);
    assert_int_equal(reply->ahead_by_age, 1);
    assert_string_equal(reply->ahead.items[0].job, "2");
    assert_int_equal(reply->ahead.items[0].time, world.now + 60 * 60);
    assert_int_equal(reply->holders_total, 1);
    assert_string_equal(reply->holders.items[0].nodes, "n[1-3]");
    assert_int_equal(reply->holders.items[0].time, world.now + 60 * 60);
    assert_int_equal(reply->fits.n, 2);
    assert_string_equal(reply->fits.items[0].nodes, "n4");
    assert_int_equal(reply->fits.items[0].state, WHY_NODE_PROMISED);
    assert_int_equal(reply->fits.items[1].state, WHY_NODE_BUSY);
    assert_int_equal(reply->free_cpus, 4);
    arena_done(&arena);
    world_stop(&world);
}

TEST(a_node_that_is_away_is_shown_with_its_reason) {
    struct world world;
    struct arena arena;
    start(&world, &arena);
    world_node_lost(&world, 1);
    world_pass_time(&world, 1000);
    assert_int_equal(submit_nodes(&world, 4, 30), 1);
    const struct why_reply *reply = world_why(&world, 1, &arena);
    assert_int_equal(reply->expected, 0);
    const struct why_nodes *away = &reply->fits.items[reply->fits.n - 1];
    assert_int_equal(away->state, WHY_NODE_AWAY);
    assert_string_equal(away->nodes, "n2");
    assert_non_null(away->reason);
    /* With half of the nodes it would start at once. */
    assert_int_equal(reply->changes.n, 1);
    assert_string_equal(reply->changes.items[0].update, "NumNodes=2");
    assert_int_equal(reply->changes.items[0].start, world.now);
    arena_done(&arena);
    world_stop(&world);
}

static void reserve(struct world *world, const char *node, int64_t in_seconds) {
    char start[32];
    snprintf(start, sizeof(start), "now+%lld", (long long) in_seconds);
    struct key_value changes[] = {{text_of("StartTime"), start},
                                  {text_of("Duration"), text_of("60")},
                                  {text_of("Users"), text_of("root")},
                                  {text_of("Nodes"), text_of(node)}};
    struct update update;
    record_init(&record_update, &update);
    update.entity = text_of("reservation");
    update.target = text_of("r");
    update.changes.items = changes;
    update.changes.n = countof(changes);
    update.create = true;
    uint32_t uid = world->uid;
    world->uid = 0;
    (void) world_send(world, MSG_UPDATE, &update);
    world_turn(world);
    world->uid = uid;
}

TEST(a_reservation_that_is_in_the_way_is_named_with_the_limit_that_would_fit) {
    struct world world;
    struct arena arena;
    start(&world, &arena);
    reserve(&world, "n[1-4]", 1800);
    uint32_t id = submit_nodes(&world, 4, 60);
    const struct why_reply *reply = world_why(&world, id, &arena);
    assert_int_equal(reply->job->state, JOB_PENDING);
    assert_non_null(reply->reservation);
    assert_non_null(strstr(reply->reservation, "reservation r holds what it needs from "));
    assert_non_null(strstr(reply->reservation, "a limit of at most 00:30:00 would fit"));
    /* The forecast knows the calendar. */
    assert_int_equal(reply->expected, world.now + 1800 + 3600);
    assert_int_equal(reply->changes.items[0].start, world.now);
    arena_done(&arena);
    world_stop(&world);
}

TEST(those_who_are_preempted_for_a_job_are_listed_with_their_time) {
    struct world world;
    struct arena arena;
    struct job_request request;
    world_start(&world, "SelectTypeParameters=CR_CPU\nPreemptType=preempt/partition_prio\n"
                        "PreemptMode=CANCEL\nNodeName=n1 CPUs=4 RealMemory=1000\n"
                        "PartitionName=low Nodes=ALL Default=YES GraceTime=100\n"
                        "PartitionName=high Nodes=ALL PriorityTier=2\n");
    world_all_connect(&world);
    arena_init(&arena, 0);
    world_request(&request);
    request.cpus_per_task = 4;
    uint32_t low = world_submit(&world, &request, NULL);
    request.partition = text_of("high");
    uint32_t high = world_submit(&world, &request, NULL);
    const struct why_reply *reply = world_why(&world, high, &arena);
    assert_true(reply->preemption);
    assert_int_equal(reply->leaving.n, 1);
    assert_string_equal(reply->leaving.items[0].job, "1");
    assert_string_equal(reply->leaving.items[0].nodes, "n1");
    assert_int_equal(reply->leaving.items[0].time, world.now + 100);
    assert_int_equal(reply->expected, world.now + 100);
    reply = world_why(&world, low, &arena);
    assert_int_equal(reply->job->preempted_by, high);
    assert_int_equal(reply->leaving.n, 0);
    arena_done(&arena);
    world_stop(&world);
}

TEST(limits_name_their_use_and_who_uses_them) {
    struct world world;
    struct arena arena;
    struct job_request request;
    char tasks[] = "1-4%2";
    start(&world, &arena);
    world_request(&request);
    request.licenses = text_of("matlab:2");
    request.time_limit = 7;
    assert_int_equal(world_submit(&world, &request, NULL), 1);
    request.licenses = text_of("matlab:1");
    assert_int_equal(world_submit(&world, &request, NULL), 2);
    const struct why_reply *reply = world_why(&world, 2, &arena);
    assert_int_equal(reply->limits.n, 1);
    assert_int_equal(reply->limits.items[0].limit, 2);
    assert_int_equal(reply->limits.items[0].used, 2);
    assert_int_equal(reply->limits.items[0].asked, 1);
    assert_int_equal(reply->limits.items[0].until, world.now + 420);
    assert_int_equal(reply->expected, world.now + 420);
    request.licenses = NULL;
    request.array_spec = tasks;
    assert_int_equal(world_submit(&world, &request, NULL), 3);
    reply = world_why(&world, 3, &arena);
    assert_int_equal(reply->job->reason, REASON_ARRAY_TASK_LIMIT);
    assert_int_equal(reply->limits.items[0].used, 2);
    assert_int_equal(reply->limits.items[0].until, world.now + 420);
    assert_int_equal(reply->expected, world.now + 420);
    request.array_spec = NULL;
    request.partition = text_of("short");
    request.time_limit = 20;
    uint32_t id = world_submit(&world, &request, NULL);
    reply = world_why(&world, id, &arena);
    assert_int_equal(reply->job->reason, REASON_PARTITION_TIME_LIMIT);
    assert_int_equal(reply->limits.items[0].limit, 10);
    assert_int_equal(reply->limits.items[0].asked, 20);
    assert_true(reply->changes.n > 0);
    arena_done(&arena);
    world_stop(&world);
}

TEST(held_and_dependent_jobs_get_the_start_that_they_would_have) {
    struct world world;
    struct arena arena;
    struct job_request request;
    char dependency[] = "afterok:1";
    start(&world, &arena);
    assert_int_equal(submit_nodes(&world, 4, 60), 1);
    world_request(&request);
    request.hold = true;
    assert_int_equal(world_submit(&world, &request, NULL), 2);
    const struct why_reply *reply = world_why(&world, 2, &arena);
    assert_int_equal(reply->expected, world.now + 3600);
    assert_int_equal(reply->n_tried, 0);
    world_request(&request);
    request.dependency = dependency;
    assert_int_equal(world_submit(&world, &request, NULL), 3);
    reply = world_why(&world, 3, &arena);
    assert_int_equal(reply->expected, world.now + 3600);
    assert_int_equal(reply->depends.n, 1);
    assert_string_equal(reply->depends.items[0].job, "afterok:1");
    assert_int_equal(reply->depends.items[0].time, world.now + 3600);
    arena_done(&arena);
    world_stop(&world);
}

TEST(a_change_is_proposed_to_those_whose_second_group_lets_them_in) {
    struct world world;
    struct arena arena;
    world_start(&world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                        "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"
                        "PartitionName=lab Nodes=n[1-2] Default=YES AllowGroups=lab\n");
    world_all_connect(&world);
    arena_init(&arena, 0);
    world.uid = 1000;
    world.second_group = "lab";
    assert_int_equal(submit_nodes(&world, 1, 60), 1);
    assert_int_equal(submit_nodes(&world, 2, 60), 2);
    const struct why_reply *reply = world_why(&world, 2, &arena);
    assert_int_equal(reply->changes.n, 1);
    assert_string_equal(reply->changes.items[0].update, "NumNodes=1");
    arena_done(&arena);
    world_stop(&world);
}

TEST(behind_a_long_queue_the_answer_takes_several_turns) {
    struct world world;
    struct arena arena;
    start(&world, &arena);
    for (uint32_t id = 1; id <= 150; id++)
        assert_int_equal(submit_nodes(&world, 4, 5), id);
    struct why why = {.job = text_of("100")};
    uint64_t client = world_send(&world, MSG_WHY, &why);
    assert_null(world_answer(&world, client, MSG_WHY_REPLY, &arena));
    assert_int_equal(submit_nodes(&world, 4, 5), 151); /* nobody waits for it */
    int64_t asked = world.now;
    world_pass_time(&world, 100);
    const struct why_reply *reply = world_answer(&world, client, MSG_WHY_REPLY, &arena);
    assert_non_null(reply);
    assert_int_equal(reply->ahead_total, 98);
    assert_true(reply->exact);
    assert_int_equal(reply->expected, asked + 99 * 300);
    assert_true(reply->n_tried > 0);
    arena_done(&arena);
    world_stop(&world);
}

TEST(a_job_that_does_not_exist_is_answered_with_those_that_do) {
    struct world world;
    struct arena arena;
    start(&world, &arena);
    assert_int_equal(submit_nodes(&world, 4, 60), 1);
    struct why why = {.job = text_of("77")};
    uint64_t client = world_send(&world, MSG_WHY, &why);
    const struct reply_error *error = world_answer(&world, client, MSG_ERROR, &arena);
    assert_int_equal(error->code, ERR_INVALID_JOB_ID);
    assert_non_null(strstr(error->detail, "your jobs are 1"));
    arena_done(&arena);
    world_stop(&world);
}

static void submit_random(struct world *world, struct rng *rng) {
    static const char *const gpus[] = {"gres/gpu:a100:1", "gres/gpu:a100:2", "gres/gpu:2"};
    struct job_request request;
    world_request(&request);
    request.ntasks = 1 + (uint32_t) rng_below(rng, 8);
    request.time_limit = 1 + (uint32_t) rng_below(rng, 60);
    if (rng_below(rng, 3) == 0)
        request.tres_per_node = text_of(gpus[rng_below(rng, 3)]);
    if (rng_below(rng, 4) == 0)
        request.exclusive = EXCLUSIVE_NODE;
    if (rng_below(rng, 4) == 0)
        request.min_nodes = request.max_nodes = 2 + (uint32_t) rng_below(rng, 2);
    else if (rng_below(rng, 5) == 0)
        request.req_nodes = text_of("n2");
    else if (rng_below(rng, 5) == 0)
        request.partition = text_of("spare");
    if (rng_below(rng, 10) == 0)
        request.features = text_of("old");
    (void) !world_submit(world, &request, NULL);
}

static void fill(struct world *world, uint64_t seed) {
    struct rng rng;
    rng_seed(&rng, seed);
    world_start(world, conf_text);
    world_all_connect(world);
    for (int i = 0; i < JOBS; i++)
        submit_random(world, &rng);
}

/* Submits the same jobs again, makes the change and lets time pass. */
static void check_change(uint64_t seed, uint32_t job_id, const struct why_change *change) {
    struct world world;
    struct job job;
    char id[16], key[32];
    fill(&world, seed);
    snprintf(id, sizeof(id), "%u", job_id);
    size_t length = strcspn(change->update, "=");
    snprintf(key, sizeof(key), "%.*s", (int) length, change->update);
    assert_int_equal(world_update(&world, "job", id, key, change->update + length + 1), 0);
    for (int64_t until = world.now + 1000000; world.now < until;) {
        assert_true(world_look(&world, job_id, &job));
        if (job.state != JOB_PENDING)
            break;
        int64_t next = core_next_time(world.core);
        world_pass_time(&world, next > world.now ? next - world.now : 1);
    }
    if (job.start_time != change->start)
        fail_msg("seed %llu, job %u: %s was to start it at %lld, it did at %lld",
                 (unsigned long long) seed, job_id, change->update, (long long) change->start,
                 (long long) job.start_time);
    world_stop(&world);
}

static size_t play_seed(uint64_t seed) {
    struct world world;
    struct arena arena;
    struct job job;
    size_t n = 0;
    arena_init(&arena, 0);
    fill(&world, seed);
    const struct why_reply *replies[JOBS + 1] = {NULL};
    for (uint32_t id = 1; id <= JOBS; id++) {
        if (world_look(&world, id, &job) && job.state == JOB_PENDING)
            replies[id] = world_why(&world, id, &arena);
    }
    world_stop(&world);
    for (uint32_t id = 1; id <= JOBS; id++) {
        for (uint32_t i = 0; replies[id] != NULL && i < replies[id]->changes.n; i++) {
            const struct why_change *change = &replies[id]->changes.items[i];
            assert_true(replies[id]->expected == 0 || change->start < replies[id]->expected);
            check_change(seed, id, change);
            n++;
        }
    }
    arena_done(&arena);
    return n;
}

TEST(every_change_that_is_proposed_does_what_was_said) {
    const char *only = getenv("WHY_SEED");
    size_t n = 0;
    if (only != NULL) {
        play_seed(strtoull(only, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        n += play_seed(seed);
    assert_true(n > SEEDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reservation_that_is_in_the_way_is_named_with_the_limit_that_would_fit),
        cmocka_unit_test(those_who_are_preempted_for_a_job_are_listed_with_their_time),
        cmocka_unit_test(the_answer_says_who_holds_the_nodes_who_is_ahead_and_until_when),
        cmocka_unit_test(a_node_that_is_away_is_shown_with_its_reason),
        cmocka_unit_test(limits_name_their_use_and_who_uses_them),
        cmocka_unit_test(held_and_dependent_jobs_get_the_start_that_they_would_have),
        cmocka_unit_test(a_change_is_proposed_to_those_whose_second_group_lets_them_in),
        cmocka_unit_test(behind_a_long_queue_the_answer_takes_several_turns),
        cmocka_unit_test(a_job_that_does_not_exist_is_answered_with_those_that_do),
        cmocka_unit_test(every_change_that_is_proposed_does_what_was_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
