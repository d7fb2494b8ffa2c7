/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asked when a job would start, then the same job is submitted, nothing else happens and every job
 * runs to its limit: it starts when the answer said. And where it said, but for rare ties: nodes
 * that come free in the same second may do so in several turns.
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

struct play {
    struct world world;
    struct rng rng;
    char array[32], dependency[48];
    uint32_t last, elsewhere;
};

static bool one_in(struct play *play, uint64_t n) {
    return rng_below(&play->rng, n) == 0;
}

static char *text_of(const char *text) {
    return (char *) (uintptr_t) text;
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
    }
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

/* 1 if the job started on other nodes than the answer said. */
static uint32_t play_seed(uint64_t seed) {
    struct play play = {0};
    struct world *world = &play.world;
    struct job_request request;
    rng_seed(&play.rng, seed);
    world_start(world, conf_text);
    world_all_connect(world);
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
        if (reply->job_id != id || start != reply->start_time)
            fail_msg(
                "seed %llu: job %u was to start after %lld s on %s, job %u did after %lld s on "
                "%s",
                (unsigned long long) seed, reply->job_id, (long long) (reply->start_time - asked),
                reply->nodes, id, (long long) (start - asked), nodes);
    }
    arena_done(&arena);
    world_stop(world);
    return play.elsewhere;
}

TEST(a_job_starts_when_and_where_the_question_before_was_answered) {
    const char *only = getenv("FORECAST_SEED");
    if (only != NULL) {
        play_seed(strtoull(only, NULL, 10));
        return;
    }
    uint32_t elsewhere = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        elsewhere += play_seed(seed);
    assert_true(elsewhere * 100 <= SEEDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_starts_when_and_where_the_question_before_was_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
