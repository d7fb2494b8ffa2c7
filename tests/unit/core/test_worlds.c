/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds: users submit, cancel, hold and requeue; scripts end; nodes are lost and return;
 * the controller is killed and comes back from its store. After every step the invariants hold;
 * when the faults stop, every job comes to its end and no launch of one attempt happened twice.
 *
 * Covers: assign.c, restore.c
 *
 * A failing seed is printed by the assertion's line; WORLD_SEED=n runs that seed alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "unit.h"
#include "world.h"

#define SEEDS 300
#define STEPS 150

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=50\n"
                                "SlurmdTimeout=60\nReturnToService=2\nMinJobAge=20\n"
                                "GresTypes=gpu\n"
                                "NodeName=n[1-3] CPUs=4 RealMemory=1000 Gres=gpu:2\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

struct play {
    struct world world;
    struct rng rng;
    vec(uint32_t) accepted;
};

static void submit_something(struct play *play) {
    struct job_request request;
    char array[32], dependency[48];
    world_request(&request);
    request.ntasks = 1 + (uint32_t) rng_below(&play->rng, 6);
    request.time_limit = 1 + (uint32_t) rng_below(&play->rng, 20);
    if (rng_below(&play->rng, 4) == 0)
        request.tres_per_node = (char *) (uintptr_t) "gres/gpu:1";
    if (rng_below(&play->rng, 6) == 0)
        request.exclusive = EXCLUSIVE_NODE;
    if (rng_below(&play->rng, 5) == 0)
        request.requeue = TRI_NO;
    if (rng_below(&play->rng, 6) == 0) {
        snprintf(array, sizeof(array), "1-%u%%2", 1 + (unsigned) rng_below(&play->rng, 5));
        request.array_spec = array;
    }
    if (play->accepted.n > 0 && rng_below(&play->rng, 5) == 0) {
        snprintf(dependency, sizeof(dependency), "afterany:%u",
                 play->accepted.items[rng_below(&play->rng, play->accepted.n)]);
        request.dependency = dependency;
    }
    uint32_t id = world_submit(&play->world, &request, NULL);
    if (id != 0)
        vec_push(&play->accepted, id);
}

static void end_a_script(struct play *play) {
    struct world *world = &play->world;
    if (world->runs.n == 0)
        return;
    struct world_run *run = &world->runs.items[rng_below(&play->rng, world->runs.n)];
    if (!run->running || !world->node_up[run->node])
        return;
    struct world_run *latest = world_run_of(world, run->job_id);
    if (latest == run)
        world_script_ends(world, run->job_id, rng_below(&play->rng, 3) == 0 ? 1 << 8 : 0);
}

static void do_verb(struct play *play) {
    /* A resumed job may share CPUs that others got meanwhile; that would hide double booking. */
    static const uint32_t verbs[] = {VERB_HOLD, VERB_RELEASE, VERB_REQUEUE};
    char id[16];
    if (play->accepted.n == 0)
        return;
    snprintf(id, sizeof(id), "%u", play->accepted.items[rng_below(&play->rng, play->accepted.n)]);
    if (rng_below(&play->rng, 4) == 0)
        world_kill(&play->world, id);
    else
        world_verb(&play->world, verbs[rng_below(&play->rng, countof(verbs))], id);
}

static void toggle_node(struct play *play) {
    uint32_t node = (uint32_t) rng_below(&play->rng, play->world.n_nodes);
    if (play->world.node_up[node])
        world_node_lost(&play->world, node);
    else
        world_node_connects(&play->world, node);
}

static void step(struct play *play) {
    uint64_t dice = rng_below(&play->rng, 100);
    if (dice < 30)
        submit_something(play);
    else if (dice < 55)
        end_a_script(play);
    else if (dice < 65)
        do_verb(play);
    else if (dice < 72)
        toggle_node(play);
    else if (dice < 75)
        world_restart(&play->world);
    else
        world_pass_time(&play->world, 1 + (int64_t) rng_below(&play->rng, 30));
    world_check(&play->world);
}

/* No attempt of a job has two processes, and none runs of a job that is not running. */
static void check_runs(struct world *world) {
    for (size_t i = 0; i < world->runs.n; i++) {
        const struct world_run *a = &world->runs.items[i];
        for (size_t k = i + 1; k < world->runs.n; k++) {
            const struct world_run *b = &world->runs.items[k];
            assert_false(a->job_id == b->job_id && a->attempt == b->attempt);
            assert_false(a->job_id == b->job_id && a->running && b->running &&
                         world->node_up[a->node] && world->node_up[b->node]);
        }
    }
}

static void heal(struct play *play) {
    struct world *world = &play->world;
    for (uint32_t i = 0; i < world->n_nodes; i++) {
        if (!world->node_up[i])
            world_node_connects(world, i);
    }
    for (size_t i = 0; i < play->accepted.n; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%u", play->accepted.items[i]);
        world_verb(world, VERB_RELEASE, id);
        world_verb(world, VERB_RESUME, id);
    }
    /* Limits end what nobody ends; dependencies on the ended become true. */
    for (int i = 0; i < 2000 && core_job_count(world->core) > 0; i++) {
        world_pass_time(world, 100);
        world_check(world);
    }
    check_runs(world);
    for (uint32_t id = 1; core_job_count(world->core) > 0 && id < 2000; id++) {
        struct job job;
        if (!world_look(world, id, &job))
            continue;
        struct str text cleanup_str = STR_INIT;
        record_print(&record_job, &job, &text);
        print_message("# has not ended:\n%s", str_cstr(&text));
    }
    assert_int_equal(core_job_count(world->core), 0);
    for (uint32_t i = 0; i < world->n_nodes; i++)
        assert_int_equal(core_node(world->core, i)->alloc_cpus, 0);
}

static void run_world(uint64_t seed) {
    struct play play = {0};
    print_message("# world %llu\n", (unsigned long long) seed);
    rng_seed(&play.rng, seed);
    world_start(&play.world, conf_text);
    world_all_connect(&play.world);
    for (int i = 0; i < STEPS; i++)
        step(&play);
    check_runs(&play.world);
    heal(&play);
    assert_true(play.accepted.n >= STEPS / 10 && play.world.n_launched >= STEPS / 10);
    vec_done(&play.accepted);
    world_stop(&play.world);
}

TEST(in_random_worlds_nothing_is_lost_doubled_or_overbooked) {
    const char *one = getenv("WORLD_SEED"), *many = getenv("WORLD_SEEDS");
    if (one != NULL) {
        run_world(strtoull(one, NULL, 10));
        return;
    }
    uint64_t n = many != NULL ? strtoull(many, NULL, 10) : SEEDS;
    for (uint64_t seed = 1; seed <= n; seed++)
        run_world(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_random_worlds_nothing_is_lost_doubled_or_overbooked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
