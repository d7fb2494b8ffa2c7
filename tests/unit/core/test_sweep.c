/* SPDX-License-Identifier: Apache-2.0 */
/* Changes that concern all who wait: what an update of a partition moves, and in slices. */
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "unit.h"
#include "world.h"

static const char two_partitions[] =
    "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
    "PriorityType=priority/multifactor\nPriorityWeightPartition=1000\nPriorityWeightJobSize=100\n"
    "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
    "SchedulerParameters=bf_job_part_count_reserve=3\nMaxJobCount=100000\n"
    "NodeName=n[1-4] CPUs=4 RealMemory=1000\n"
    "PartitionName=main Nodes=ALL Default=YES PriorityJobFactor=2\n"
    "PartitionName=apart Nodes=n[3-4] PriorityJobFactor=1\n";

static void begin(struct world *w) {
    world_start(w, two_partitions);
    world_all_connect(w);
}

/* Jobs of several sizes in one of the partitions or both. Returns the last id. */
static uint32_t submit(struct world *w, struct rng *rng, unsigned n) {
    static const char *const partitions[] = {"main", "apart", "main,apart"};
    uint32_t id = 0;
    for (unsigned i = 0; i < n; i++) {
        struct job_request request;
        world_request(&request);
        request.partition = text_of(partitions[rng_below(rng, countof(partitions))]);
        request.cpus_per_task = 1 + (uint32_t) rng_below(rng, 4);
        request.min_nodes = 1 + (uint32_t) rng_below(rng, 2);
        request.time_limit = 10 + (uint32_t) rng_below(rng, 60);
        id = world_submit(w, &request, NULL);
        assert_int_not_equal(id, 0);
    }
    return id;
}

/* Who runs where, and who waits for what in which order. Plans are left out: they persist in a view
 * that is not made anew. */
static char *jobs_text(struct world *w, uint32_t last) {
    struct str out = STR_INIT;
    for (uint32_t id = 1; id <= last; id++) {
        const struct job *job = core_job(w->core, id);
        if (job != NULL)
            str_printf(&out, "%u state=%u reason=%u on=%s priority=%u\n", id, job->state,
                       job->state == JOB_PENDING ? job->reason : 0, job->nodes ? job->nodes : "",
                       job->priority);
    }
    return str_take(&out);
}

static void end_one(struct world *w, struct rng *rng, uint32_t last) {
    uint32_t first = 1 + (uint32_t) rng_below(rng, last);
    for (uint32_t i = 0; i < last; i++) {
        uint32_t id = 1 + (first + i) % last;
        if (world_state(w, id) != JOB_RUNNING)
            continue;
        world_script_ends(w, id, 0);
        return;
    }
}

static const struct change {
    const char *key, *value;
} steps[] = {{"State", "DOWN"},        {"State", "UP"},
             {"State", "DRAIN"},       {"State", "INACTIVE"},
             {"State", "UP"},          {"GraceTime", "30"},
             {"AllowAccounts", "ALL"}, {"PriorityJobFactor", "5"},
             {"Hidden", "YES"},        {"PriorityJobFactor", "0"},
             {"OverTimeLimit", "5"},   {"PriorityJobFactor", "1"}};

/* The first n steps; `anew`: then one that makes the planner's view anew and changes nothing. */
static char *take_steps(uint64_t seed, size_t n, bool anew) {
    struct world w;
    struct rng rng;
    rng_seed(&rng, seed);
    begin(&w);
    uint32_t last = submit(&w, &rng, 30);
    for (size_t i = 0; i < n; i++) {
        const char *name = rng_below(&rng, 2) ? "main" : "apart";
        end_one(&w, &rng, last);
        world_pass_time(&w, 5);
        assert_int_equal(world_update(&w, "partition", name, steps[i].key, steps[i].value), 0);
        if (i == n - 1 && anew)
            assert_int_equal(world_update(&w, "partition", name, "MaxNodes", "UNLIMITED"), 0);
    }
    world_check(&w);
    char *text = jobs_text(&w, last);
    world_stop(&w);
    return text;
}

TEST(what_an_update_moves_is_what_a_view_made_anew_would_have) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (size_t n = 1; n <= countof(steps); n++) {
            char *moved = take_steps(seed, n, false), *anew = take_steps(seed, n, true);
            if (!str_equal(moved, anew))
                fail_msg("seed %llu, step %zu %s=%s:\n%s---\n%s", (unsigned long long) seed, n,
                         steps[n - 1].key, steps[n - 1].value, moved, anew);
            free(moved);
            free(anew);
        }
    }
}

#define MANY 9000

static unsigned count(struct world *w, uint32_t last, uint32_t state, uint32_t reason) {
    unsigned n = 0;
    for (uint32_t id = 1; id <= last; id++) {
        const struct job *job = core_job(w->core, id);
        n += job != NULL && job->state == state && (reason == 0 || job->reason == reason);
    }
    return n;
}

static uint32_t submit_many(struct world *w) {
    struct job_request request;
    uint32_t last = 0;
    for (unsigned i = 0; i < MANY; i++) {
        world_request(&request);
        request.cpus_per_task = 4;
        last = world_submit(w, &request, NULL);
    }
    return last;
}

TEST(nobody_starts_before_all_have_come_under_the_new_limits) {
    struct world w;
    begin(&w);
    uint32_t last = submit_many(&w);
    assert_int_equal(count(&w, last, JOB_RUNNING, 0), 4);
    assert_int_equal(world_update(&w, "partition", "main", "MinNodes", "2"), 0);
    world_script_ends(&w, 1, 0);
    assert_int_equal(count(&w, last, JOB_RUNNING, 0), 3);
    world_pass_time(&w, 60);
    assert_int_equal(count(&w, last, JOB_RUNNING, 0), 3);
    assert_int_equal(count(&w, last, JOB_PENDING, REASON_PARTITION_NODE_LIMIT), MANY - 4);
    assert_int_equal(world_update(&w, "partition", "main", "MinNodes", "0"), 0);
    world_pass_time(&w, 60);
    assert_int_equal(count(&w, last, JOB_RUNNING, 0), 4);
    world_check(&w);
    world_stop(&w);
}

TEST(who_leaves_meanwhile_takes_nobody_along) {
    struct world w;
    begin(&w);
    uint32_t last = submit_many(&w);
    for (uint32_t id = 5; id <= 6000; id++) {
        char text[16];
        snprintf(text, sizeof(text), "%u", id);
        assert_int_equal(world_kill(&w, text), 0);
    }
    assert_int_equal(world_update(&w, "partition", "main", "MinNodes", "2"), 0);
    w.now += 10000; /* their records go, and the gaps that they leave are closed */
    world_pass_time(&w, 60);
    assert_null(core_job(w.core, 6000));
    assert_int_equal(count(&w, last, JOB_PENDING, REASON_PARTITION_NODE_LIMIT), MANY - 6000);
    world_stop(&w);
}

TEST(another_factor_moves_all_priorities) {
    struct world w;
    begin(&w);
    uint32_t last = submit_many(&w);
    assert_int_equal(world_update(&w, "partition", "apart", "PriorityJobFactor", "4"), 0);
    world_pass_time(&w, 60);
    for (uint32_t id = 5; id <= last; id++) {
        const struct job *job = core_job(w.core, id);
        assert_int_equal(priority_rounded(job->prio_partition), 500);
    }
    world_stop(&w);
}

/* More than one slice of those who grow older. */
#define VERY_MANY 24000

TEST(who_leaves_while_others_grow_older_holds_nobody_young) {
    struct world w;
    world_start(&w,
                "SelectTypeParameters=CR_CPU_Memory\nMaxJobCount=100000\nMinJobAge=60\n"
                "PriorityType=priority/multifactor\nPriorityWeightAge=1000\n"
                "PriorityMaxAge=1\nPriorityCalcPeriod=0:10\nNodeName=n1 CPUs=4 RealMemory=1000\n"
                "PartitionName=main Nodes=ALL Default=YES\n");
    uint32_t last = 0;
    for (unsigned i = 0; i < VERY_MANY; i++) {
        struct job_request request;
        world_request(&request);
        last = world_submit(&w, &request, NULL);
    }
    for (uint32_t id = 1; id <= VERY_MANY / 2 + 2000; id++) {
        char text[16];
        snprintf(text, sizeof(text), "%u", id);
        assert_int_equal(world_kill(&w, text), 0);
    }
    w.now += 59;
    core_tick(w.core, w.now, &w.effects); /* the first slice */
    w.now += 1;
    core_tick(w.core, w.now, &w.effects); /* records go, gaps are closed, the next slice */
    assert_null(core_job(w.core, 1));
    core_tick(w.core, w.now, &w.effects);
    for (uint32_t id = VERY_MANY / 2 + 2001; id <= last; id++)
        assert_true(core_job(w.core, id)->prio_age > 0);
    world_stop(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_update_moves_is_what_a_view_made_anew_would_have),
        cmocka_unit_test(nobody_starts_before_all_have_come_under_the_new_limits),
        cmocka_unit_test(who_leaves_meanwhile_takes_nobody_along),
        cmocka_unit_test(another_factor_moves_all_priorities),
        cmocka_unit_test(who_leaves_while_others_grow_older_holds_nobody_young),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
