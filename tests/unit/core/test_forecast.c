/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asked when a job would start, then the same job is submitted, nothing else happens and every job
 * runs to its limit: it starts when and where the answer said, but for rare ties: nodes that come
 * free in the same second may do so in several turns. Reservations and dependencies are known;
 * where jobs preempt each other, an answer is sometimes an estimate.
 *
 * Covers: forecast_depend.c
 *
 * FORECAST_SEED=n runs that seed alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "unit.h"
#include "world.h"

#define SEEDS 250
#define STEPS 40

static const char conf_text[] =
    "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=50\nMinJobAge=20\nGresTypes=gpu\n"
    "Licenses=matlab:3\n"
    "NodeName=n[1-3] CPUs=4 RealMemory=1000 Gres=gpu:2 Weight=5\n"
    "NodeName=n4 CPUs=8 RealMemory=4000 Feature=big\n"
    "PartitionName=main Nodes=ALL Default=YES\n"
    "PartitionName=urgent Nodes=n[2-3] PriorityTier=10\n"
    "PartitionName=apart Nodes=n4 MaxTime=30\n";

/* Tiers preempt each other; everybody is asked to go or sent back. */
static const char tiers_text[] =
    "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=50\nMinJobAge=20\nGresTypes=gpu\n"
    "Licenses=matlab:3\nPreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
    "NodeName=n[1-3] CPUs=4 RealMemory=1000 Gres=gpu:2 Weight=5\n"
    "NodeName=n4 CPUs=8 RealMemory=4000 Feature=big\n"
    "PartitionName=main Nodes=ALL Default=YES\n"
    "PartitionName=urgent Nodes=n[2-3] PriorityTier=10\n"
    "PartitionName=apart Nodes=n4 MaxTime=30 PreemptMode=CANCEL GraceTime=30\n";

enum kind { PLAIN, RESERVED, DAILY, TIERS };

struct play {
    struct world world;
    struct rng rng;
    char array[32], dependency[48];
    uint32_t last, elsewhere, otherwise;
    bool reserved;
};

static bool one_in(struct play *play, uint64_t n) {
    return rng_below(&play->rng, n) == 0;
}

static void request_something(struct play *play, struct job_request *request) {
    world_request(request);
    request->ntasks = 1 + (uint32_t) rng_below(&play->rng, 9);
    request->time_limit = 1 + (uint32_t) rng_below(&play->rng, 25);
    if (one_in(play, 4))
        request->tres_per_node = text_of("gres/gpu:1");
    if (one_in(play, 6))
        request->exclusive = EXCLUSIVE_NODE;
    if (one_in(play, 6))
        request->partition = text_of("urgent");
    else if (one_in(play, 6))
        request->partition = text_of("main,apart");
    if (one_in(play, 6))
        request->licenses = text_of("matlab:1");
    if (one_in(play, 8))
        request->begin_time = play->world.now + (int64_t) rng_below(&play->rng, 2000);
    if (one_in(play, 8))
        request->min_nodes = request->max_nodes = 2;
    if (one_in(play, 8))
        request->nice = (int32_t) rng_below(&play->rng, 3);
    if (one_in(play, 6)) {
        snprintf(play->array, sizeof(play->array), "1-%u%%2",
                 1 + (unsigned) rng_below(&play->rng, 5));
        request->array_spec = play->array;
    }
    if (play->last > 0 && one_in(play, 6)) {
        snprintf(play->dependency, sizeof(play->dependency), "%s:%u",
                 one_in(play, 3) ? "after" : "afterany",
                 1 + (unsigned) rng_below(&play->rng, play->last));
        request->dependency = play->dependency;
    } else if (one_in(play, 8)) {
        request->name = text_of("single");
        if (one_in(play, 2))
            request->dependency = text_of("singleton");
    }
    if (play->reserved && one_in(play, 4))
        request->reservation = text_of("r");
}

static const struct submit_reply *ask(struct world *world, struct job_request *request,
                                      struct arena *arena) {
    struct submit submit;
    record_init(&record_submit, &submit);
    submit.job = request;
    submit.test_only = true;
    uint64_t client = world_send(world, MSG_SUBMIT, &submit);
    return world_answer(world, client, MSG_SUBMIT_REPLY, arena);
}

/* When the first task (an array) or the job starts; 0 = not within the time given. */
static int64_t start_of(struct world *world, uint32_t job_id, bool array, char *nodes,
                        size_t size) {
    for (int64_t until = world->now + 200000; world->now < until;) {
        for (uint32_t id = job_id; id < (array ? core_next_job_id(world->core) : job_id + 1);
             id++) {
            struct job job;
            if (!world_look(world, id, &job) || job.state == JOB_PENDING ||
                (id != job_id && job.array_job_id != job_id))
                continue;
            snprintf(nodes, size, "%s", job.nodes != NULL ? job.nodes : "");
            return job.start_time;
        }
        world_pass_time(world, 1 + (core_next_time(world->core) > world->now
                                        ? core_next_time(world->core) - world->now - 1
                                        : 0));
    }
    return 0;
}

/* n4 and a GPU of n1, for the user of the world; before and after it his jobs of it wait. */
static void reserve(struct world *world, const char *start, const char *flags) {
    struct key_value changes[] = {{text_of("StartTime"), text_of(start)},
                                  {text_of("Duration"), text_of("20")},
                                  {text_of("Users"), text_of("user1000")},
                                  {text_of("Nodes"), text_of("n[3-4]")},
                                  {text_of("Flags"), text_of(flags)}};
    struct update update;
    record_init(&record_update, &update);
    update.entity = text_of("reservation");
    update.target = text_of("r");
    update.changes.items = changes;
    update.changes.n = flags != NULL ? countof(changes) : countof(changes) - 1;
    update.create = true;
    uint32_t uid = world->uid;
    world->uid = 0;
    struct arena arena;
    arena_init(&arena, 0);
    assert_null(world_answer(world, world_send(world, MSG_UPDATE, &update), MSG_ERROR, &arena));
    arena_done(&arena);
    world->uid = uid;
}

/* Counts starts on other nodes, and at other times, than the answer said. */
static void play_seed(uint64_t seed, enum kind kind, uint32_t ret[2]) {
    struct play play = {0};
    struct world *world = &play.world;
    struct job_request request;
    rng_seed(&play.rng, seed);
    world_start(world, kind == TIERS ? tiers_text : conf_text);
    world_all_connect(world);
    play.reserved = kind == RESERVED || kind == DAILY;
    if (play.reserved)
        reserve(world, one_in(&play, 2) ? "now+600" : "now", kind == DAILY ? "DAILY" : NULL);
    for (size_t i = 0; i < STEPS; i++) {
        if (one_in(&play, 3)) {
            world_pass_time(world, 1 + (int64_t) rng_below(&play.rng, 300));
            continue;
        }
        request_something(&play, &request);
        uint32_t id = world_submit(world, &request, NULL);
        play.last = id != 0 ? id : play.last;
    }
    struct arena arena;
    char nodes[128];
    arena_init(&arena, 0);
    request_something(&play, &request);
    const struct submit_reply *reply = ask(world, &request, &arena);
    uint32_t id = world_submit(world, &request, NULL);
    if (reply == NULL || id == 0) {
        assert_true(reply == NULL || id != 0);
    } else {
        int64_t asked = world->now,
                start = start_of(world, id, request.array_spec != NULL, nodes, sizeof(nodes));
        play.elsewhere = strcmp(nodes, reply->nodes) != 0;
        assert_int_equal(reply->job_id, id);
        if (start != reply->start_time) {
            play.otherwise = 1;
            printf(
                "seed %llu: job %u was to start after %lld s on %s, and did after %lld s on %s\n",
                (unsigned long long) seed, id, (long long) (reply->start_time - asked),
                reply->nodes, (long long) (start - asked), nodes);
        }
    }
    arena_done(&arena);
    world_stop(world);
    ret[0] += play.elsewhere;
    ret[1] += play.otherwise;
}

/* per_cent: of ties that were decided otherwise, at most. */
static void play_kind(enum kind kind, uint32_t per_cent) {
    const char *only = getenv("FORECAST_SEED");
    uint32_t other[2] = {0, 0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        if (only == NULL || strtoull(only, NULL, 10) == seed)
            play_seed(seed, kind, other);
    }
    assert_true(other[0] * 100 <= SEEDS * max_of(per_cent, 1u));
    assert_true(other[1] * 100 <= SEEDS * per_cent);
}

TEST(a_job_starts_when_and_where_the_question_before_was_answered) {
    play_kind(PLAIN, 0);
}
TEST(so_do_jobs_with_a_reservation_and_jobs_without) {
    play_kind(RESERVED, 0);
}
TEST(so_do_jobs_with_a_daily_reservation) {
    play_kind(DAILY, 0);
}
TEST(so_do_jobs_where_others_are_preempted_and_requeued) {
    play_kind(TIERS, 6); /* whoever makes room comes again: small things decide about much */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_starts_when_and_where_the_question_before_was_answered),
        cmocka_unit_test(so_do_jobs_with_a_reservation_and_jobs_without),
        cmocka_unit_test(so_do_jobs_with_a_daily_reservation),
        cmocka_unit_test(so_do_jobs_where_others_are_preempted_and_requeued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
