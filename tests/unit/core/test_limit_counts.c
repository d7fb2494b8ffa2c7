/* SPDX-License-Identifier: Apache-2.0 */
/* Who has how much of what limits count: what is listed, and to whom. Covers: limit_counts.c */
#include <stdio.h>

#include "assoc/assoc.h"
#include "base/alloc.h"
#include "core/state.h"
#include "unit.h"
#include "world.h"

#define CLUSTER                                                                                    \
    "ClusterName=tux\nSlurmctldHost=localhost\nNodeName=n[1-2] CPUs=4 RealMemory=4000\n"           \
    "PartitionName=main Nodes=ALL Default=YES DefMemPerCPU=100\n"                                  \
    "PartitionName=own Nodes=ALL DefMemPerCPU=100 QOS=limited\nPriorityDecayHalfLife=0\n"

static void begin(struct world *world, const char *settings) {
    cleanup_free char *conf = xasprintf("%s%s", CLUSTER, settings);
    world_start(world, conf);
    world_all_connect(world);
    world_book(world, "add account physics");
    world_book(world, "add account optics parent=physics");
    world_book(world, "add qos limited");
    world_book(world, "add qos twice usagefactor=2");
    world_book(world, "add user user7 account=optics");
    world_book(world, "add user user8 account=physics");
    world_book(world, "modify user user7 set qos=normal,twice");
}

static uint32_t submit(struct world *world, uint32_t uid, const char *partition, const char *qos,
                       uint32_t cpus, const char *array) {
    struct job_request request;
    world_request(&request);
    world->uid = uid;
    request.partition = (char *) (uintptr_t) partition;
    request.qos = (char *) (uintptr_t) qos;
    request.array_spec = (char *) (uintptr_t) array;
    request.cpus_per_task = cpus;
    request.time_limit = 10;
    uint32_t id = world_submit(world, &request, NULL);
    assert_int_not_equal(id, 0);
    return id;
}

static const struct limit_counts *ask(struct world *world, uint32_t uid, struct arena *arena) {
    struct empty empty = {false};
    world->uid = uid;
    uint64_t client = world_send(world, MSG_LIST_LIMIT_COUNTS, &empty);
    const struct limit_counts *counts = world_answer(world, client, MSG_LIMIT_COUNTS, arena);
    assert_non_null(counts);
    return counts;
}

static const struct limit_count *find(const struct limit_counts *counts, uint32_t kind, uint32_t id,
                                      const char *user, const char *account) {
    for (uint32_t i = 0; i < counts->items.n; i++) {
        const struct limit_count *count = &counts->items.items[i];
        if (count->kind == kind && count->id == id && str_equal(count->user, user) &&
            str_equal(count->account, account))
            return count;
    }
    return NULL;
}

static const struct limit_count *of_assoc(struct world *world, const struct limit_counts *counts,
                                          const char *account, const char *user) {
    const struct assoc *assoc = assoc_find(&world->core->book, account, user, NULL);
    assert_non_null(assoc);
    return find(counts, ASSOC_ASSOC, assoc->id, NULL, NULL);
}

static const struct limit_count *of_qos(struct world *world, const struct limit_counts *counts,
                                        const char *qos, const char *user, const char *account) {
    return find(counts, ASSOC_QOS, book_qos_find(&world->core->book, qos)->id, user, account);
}

static void has(const struct limit_count *count, uint64_t jobs, uint64_t submitted,
                uint64_t accruing) {
    assert_non_null(count);
    assert_int_equal(count->jobs, jobs);
    assert_int_equal(count->submitted, submitted);
    assert_int_equal(count->accruing, accruing);
}

#define NOTHING "cpu=0,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0"

TEST(what_runs_and_waits_counts_for_the_user_all_above_and_each_qos) {
    struct world world;
    struct arena arena;
    arena_init(&arena, 0);
    begin(&world, "");
    uint32_t id = submit(&world, 7, "main", "twice", 3, NULL);
    submit(&world, 8, "own", NULL, 4, NULL);
    world_turn(&world);
    submit(&world, 8, "own", NULL, 4, "1-5");
    world_turn(&world);
    world_pass_time(&world, 60);
    const struct limit_counts *counts = ask(&world, 0, &arena);
    has(of_assoc(&world, counts, "optics", "user7"), 1, 1, 0);
    has(of_assoc(&world, counts, "physics", "user8"), 1, 6, 5);
    has(of_assoc(&world, counts, "root", NULL), 2, 7, 5);
    has(of_qos(&world, counts, "limited", NULL, NULL), 1, 6, 5);
    has(of_qos(&world, counts, "limited", "user8", NULL), 1, 6, 5);
    has(of_qos(&world, counts, "normal", NULL, "physics"), 1, 6, 5);
    assert_null(of_qos(&world, counts, "limited", "user7", NULL));
    const struct limit_count *optics = of_assoc(&world, counts, "optics", NULL);
    assert_string_equal(optics->tres,
                        "cpu=3,mem=300,energy=0,node=1,billing=3,fs/disk=0,vmem=0,pages=0");
    assert_string_equal(optics->used_mins,
                        "cpu=6,mem=600,energy=0,node=2,billing=6,fs/disk=0,vmem=0,pages=0");
    assert_string_equal(optics->ahead_mins,
                        "cpu=54,mem=5400,energy=0,node=18,billing=54,fs/disk=0,vmem=0,pages=0");
    assert_true(optics->usage == 360 && optics->wall_used == 120);
    assert_string_equal(of_qos(&world, counts, "twice", NULL, "optics")->ahead_mins,
                        optics->ahead_mins);
    world_script_ends(&world, id, 0); /* what was used stays, of the QOS too */
    world_turn(&world);
    counts = ask(&world, 0, &arena);
    optics = of_assoc(&world, counts, "optics", NULL);
    has(optics, 0, 0, 0);
    assert_string_equal(optics->tres, NOTHING);
    assert_string_equal(optics->ahead_mins, NOTHING);
    assert_true(optics->usage == 360 && optics->wall_used == 120);
    assert_true(of_qos(&world, counts, "twice", NULL, NULL)->usage == 360);
    assert_null(of_qos(&world, counts, "twice", "user7", NULL));
    arena_done(&arena);
    world_stop(&world);
}

TEST(where_users_are_private_everybody_finds_his_own_and_what_a_qos_has_in_all) {
    struct world world;
    struct arena arena;
    arena_init(&arena, 0);
    begin(&world, "PrivateData=accounts,users,usage\n");
    submit(&world, 7, "main", NULL, 1, NULL);
    submit(&world, 8, "main", NULL, 1, NULL);
    world_turn(&world);
    const struct limit_counts *counts = ask(&world, 7, &arena);
    has(of_assoc(&world, counts, "optics", "user7"), 1, 1, 0);
    assert_null(of_assoc(&world, counts, "physics", "user8"));
    has(of_qos(&world, counts, "normal", NULL, NULL), 2, 2, 0);
    has(of_qos(&world, counts, "normal", "user7", NULL), 1, 1, 0);
    assert_null(of_qos(&world, counts, "normal", "user8", NULL));
    assert_null(of_qos(&world, counts, "normal", NULL, "physics"));
    counts = ask(&world, 0, &arena);
    has(of_qos(&world, counts, "normal", "user8", NULL), 1, 1, 0);
    arena_done(&arena);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_runs_and_waits_counts_for_the_user_all_above_and_each_qos),
        cmocka_unit_test(where_users_are_private_everybody_finds_his_own_and_what_a_qos_has_in_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
