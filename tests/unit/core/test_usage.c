/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What jobs use on whose account: against a second reckoning that only looks, second by second, at
 * who runs, through histories of chance. USAGE_SEEDS=n plays so many.
 *
 * Covers: usage.c, usage_tres.c, billing.c, fair.c
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "core/effect.h"
#include "core/state.h"
#include "unit.h"
#include "world.h"

#define CLUSTER                                                                                    \
    "ClusterName=tux\nSlurmctldHost=localhost\nSelectTypeParameters=CR_CPU_Memory\n"               \
    "PriorityType=priority/multifactor\nPriorityWeightFairShare=10000\nMinJobAge=20\n"             \
    "GresTypes=gpu\nNodeName=n[1-2] CPUs=8 RealMemory=8192 Gres=gpu:2\n"                           \
    "PartitionName=main Nodes=ALL Default=YES\n"                                                   \
    "PartitionName=dear Nodes=ALL TRESBillingWeights=CPU=1.0,Mem=0.5G,GRES/gpu=10\n"

static void begin(struct world *world, const char *settings) {
    cleanup_free char *conf = xasprintf("%s%s", CLUSTER, settings);
    world_start(world, conf);
    world_book(world, "add qos half usagefactor=0.5");
    world_book(world, "add qos keeps flags=NoDecay");
    world_book(world, "add account physics");
    world_book(world, "add account optics parent=physics");
    world_book(world, "add user user7 account=optics,physics");
    world_book(world, "add user user8 account=optics");
    world_all_connect(world);
    world->uid = 7;
}

static const struct share_list *shares(struct world *world, struct arena *arena) {
    struct empty empty = {false};
    uint32_t old = world->uid;
    world->uid = 0;
    uint64_t client = world_send(world, MSG_LIST_SHARES, &empty);
    world->uid = old;
    const struct share_list *list = world_answer(world, client, MSG_SHARE_LIST, arena);
    assert_non_null(list);
    return list;
}

static const struct share *share_of(const struct share_list *list, const char *account,
                                    const char *user) {
    for (uint32_t i = 0; i < list->items.n; i++) {
        const struct share *share = &list->items.items[i];
        if (str_equal(share->account, account) && str_equal(share->user, user))
            return share;
    }
    fail_msg("no share of %s in %s", user != NULL ? user : "nobody", account);
    return NULL;
}

static double usage_of(struct world *world, const char *account, const char *user) {
    struct arena arena;
    arena_init(&arena, 0);
    double usage = share_of(shares(world, &arena), account, user)->usage;
    arena_done(&arena);
    return usage;
}

static uint32_t submit(struct world *world, const char *account, const char *partition,
                       const char *qos, uint32_t cpus) {
    struct job_request request;
    world_request(&request);
    request.account = text_of(account);
    request.partition = text_of(partition);
    request.qos = text_of(qos);
    request.ntasks = cpus;
    request.mem_per_node = 1024;
    if (str_equal(partition, "dear"))
        request.tres_per_node = text_of("gres/gpu:1");
    return world_submit(world, &request, NULL);
}

/* A job of user7 on account optics has run for so long. */
static void ran(struct world *world, const char *qos, uint32_t cpus, int64_t seconds) {
    uint32_t id = submit(world, "optics", "main", qos, cpus);
    world_turn(world);
    world_pass_time(world, seconds);
    world_script_ends(world, id, 0);
    world_turn(world);
}

static void has_used(struct world *world, const char *account, const char *user, double expected) {
    double usage = usage_of(world, account, user);
    if (fabs(usage - expected) > 1e-6 * (1 + expected))
        fail_msg("%s in %s has used %f, not %f", user != NULL ? user : "all", account, usage,
                 expected);
}

TEST(a_job_is_charged_while_it_runs_to_its_user_and_all_above) {
    struct world world;
    begin(&world, "PriorityDecayHalfLife=0\n");
    uint32_t id = submit(&world, "optics", "main", NULL, 3);
    world_turn(&world);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_pass_time(&world, 10);
    has_used(&world, "optics", "user7", 30);
    has_used(&world, "optics", NULL, 30);
    has_used(&world, "physics", NULL, 30);
    has_used(&world, "physics", "user7", 0);
    has_used(&world, "root", NULL, 30);
    world_script_ends(&world, id, 0);
    world_pass_time(&world, 100);
    has_used(&world, "root", NULL, 30);
    world_stop(&world);
}

TEST(minutes_of_resources_are_summed_up_the_tree) {
    struct world world;
    struct arena arena;
    struct job_request request;
    begin(&world, "PriorityDecayHalfLife=0\n");
    arena_init(&arena, 0);
    world_request(&request);
    request.account = text_of("optics");
    request.partition = text_of("dear");
    request.ntasks = 2;
    request.mem_per_node = 1024;
    request.tres_per_node = text_of("gres/gpu:1");
    request.time_limit = 10;
    assert_int_not_equal(world_submit(&world, &request, NULL), 0);
    world_turn(&world);
    world_pass_time(&world, 180);
    const struct share_list *list = shares(&world, &arena);
    const struct share *all = share_of(list, "physics", NULL);
    assert_string_equal(all->tres_used_mins, "cpu=6,mem=3072,energy=0,node=3,billing=37,fs/disk=0,"
                                             "vmem=0,pages=0,gres/gpu=3");
    assert_string_equal(all->tres_run_mins, "cpu=14,mem=7168,energy=0,node=7,billing=87,fs/disk=0,"
                                            "vmem=0,pages=0,gres/gpu=7");
    assert_string_equal(
        share_of(list, "physics", "user7")->tres_used_mins,
        "cpu=0,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0,gres/gpu=0");
    assert_int_equal(share_of(list, "optics", "user7")->even_in, -1);
    arena_done(&arena);
    world_stop(&world);
}

TEST(what_a_second_costs_is_weighted_by_the_partition_and_by_the_qos) {
    struct world world;
    struct job job;
    begin(&world, "PriorityDecayHalfLife=0\n");
    uint32_t id = submit(&world, "optics", "dear", "half", 3);
    world_turn(&world);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.tres_alloc, "cpu=3,mem=1G,node=1,billing=13,gres/gpu=1");
    world_pass_time(&world, 10);
    has_used(&world, "optics", "user7", 0.5 * 10 * (3 + 0.5 + 10));
    world_stop(&world);
    begin(&world, "PriorityDecayHalfLife=0\nPriorityFlags=MAX_TRES\n");
    id = submit(&world, "optics", "dear", NULL, 3);
    world_turn(&world);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.tres_alloc, "cpu=3,mem=1G,node=1,billing=10,gres/gpu=1");
    world_stop(&world);
    begin(&world, "PriorityDecayHalfLife=0\nPriorityFlags=MAX_TRES_GRES\n");
    id = submit(&world, "optics", "dear", NULL, 3);
    world_turn(&world);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.tres_alloc, "cpu=3,mem=1G,node=1,billing=13,gres/gpu=1");
    world_stop(&world);
}

TEST(memory_counts_in_whatever_unit_it_is_shown) {
    struct world world;
    struct job job;
    struct job_request request;
    struct arena arena;
    begin(&world, "PriorityDecayHalfLife=0\n");
    world_request(&request);
    request.account = text_of("optics");
    request.partition = text_of("dear");
    request.mem_per_node = 2560;
    uint32_t id = world_submit(&world, &request, NULL);
    world_turn(&world);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.tres_alloc, "cpu=1,mem=2.50G,node=1,billing=2");
    world_pass_time(&world, 60);
    has_used(&world, "optics", "user7", 60 * (1 + 0.5 * 2.5));
    world_script_ends(&world, id, 0);
    world_turn(&world);
    arena_init(&arena, 0);
    const struct share *share = share_of(shares(&world, &arena), "optics", "user7");
    assert_non_null(strstr(share->tres_used_mins, "cpu=1,mem=2560,"));
    arena_done(&arena);
    world_stop(&world);
}

TEST(usage_loses_half_its_weight_in_a_half_life) {
    struct world world;
    begin(&world, "PriorityDecayHalfLife=1-0\n");
    ran(&world, NULL, 2, 100);
    double used = usage_of(&world, "optics", "user7");
    assert_true(used > 199 && used <= 200);
    world_pass_time(&world, 86400);
    has_used(&world, "optics", "user7", used / 2);
    world_restart(&world);
    has_used(&world, "physics", NULL, used / 2);
    world_stop(&world);
}

TEST(a_set_period_forgets_all_usage_and_what_runs_counts_from_then_on) {
    struct world world;
    setenv("TZ", "UTC0", 1);
    begin(&world, "PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=DAILY\n");
    (void) submit(&world, "optics", "main", NULL, 1);
    world_turn(&world);
    int64_t to_midnight = 86400 - world.now % 86400;
    world_pass_time(&world, to_midnight - 1);
    has_used(&world, "root", NULL, (double) (to_midnight - 1));
    world_pass_time(&world, 6);
    has_used(&world, "root", NULL, 5);
    world_restart(&world);
    world_all_connect(&world);
    has_used(&world, "root", NULL, 5);
    world_pass_time(&world, 3 * 86400);
    has_used(&world, "root", NULL, 5);
    world_stop(&world);
}

TEST(raw_usage_of_an_account_can_be_set_to_nothing) {
    struct world world;
    begin(&world, "PriorityDecayHalfLife=0\n");
    (void) submit(&world, "optics", "main", NULL, 1);
    (void) submit(&world, "physics", "main", NULL, 2);
    world_turn(&world);
    world_pass_time(&world, 10);
    assert_int_not_equal(world_sacctmgr(&world, "modify account optics set rawusage=1"), 0);
    world_book(&world, "modify account optics set rawusage=0");
    has_used(&world, "optics", "user7", 0);
    has_used(&world, "physics", NULL, 20);
    world_restart(&world);
    has_used(&world, "physics", NULL, 20);
    world_pass_time(&world, 5);
    has_used(&world, "optics", NULL, 5);
    world_book(&world, "modify account physics set rawusage=0");
    has_used(&world, "root", NULL, 0);
    world_stop(&world);
}

TEST(usage_of_a_qos_that_begins_to_decay_loses_nothing_of_before) {
    struct world world;
    begin(&world, "PriorityDecayHalfLife=1-0\n");
    ran(&world, "keeps", 2, 100);
    world_pass_time(&world, 86400);
    world_book(&world, "modify qos keeps set flags-=NoDecay");
    world_restart(&world);
    uint32_t at;
    const struct qos *qos = qos_find(world.core, "keeps", &at);
    assert_true(fabs(usage_settled(world.core, ASSOC_QOS, qos->id) - 200) < 1);
    world_stop(&world);
}

TEST(an_account_goes_on_having_used_what_those_used_who_left_it) {
    struct world world;
    begin(&world, "PriorityDecayHalfLife=0\n");
    ran(&world, NULL, 4, 10);
    world_pass_time(&world, 60);
    world_book(&world, "modify user user7 set defaultaccount=physics");
    world_book(&world, "delete user user7 account=optics");
    has_used(&world, "optics", NULL, 40);
    world_book(&world, "delete account optics");
    has_used(&world, "physics", NULL, 40);
    world_restart(&world);
    has_used(&world, "physics", NULL, 40);
    world_stop(&world);
}

TEST(whoever_has_used_less_goes_first) {
    struct world world;
    struct job_request request;
    struct job heavy, light;
    begin(&world, "PriorityCalcPeriod=1\n");
    world_book(&world, "add account arts");
    world_book(&world, "add user user9 account=arts");
    world.uid = 9;
    uint32_t big = submit(&world, "arts", "main", NULL, 16);
    world_turn(&world);
    world.uid = 7;
    world_request(&request);
    request.account = text_of("optics");
    uint32_t second = world_submit(&world, &request, NULL);
    world.uid = 9;
    request.account = text_of("arts");
    uint32_t first = world_submit(&world, &request, NULL);
    world_pass_time(&world, 61);
    assert_true(world_look(&world, first, &heavy));
    assert_true(world_look(&world, second, &light));
    assert_true(light.priority > heavy.priority);
    assert_true(priority_rounded(light.prio_fairshare) > priority_rounded(heavy.prio_fairshare));
    struct arena arena;
    arena_init(&arena, 0);
    world.uid = 9;
    const struct why_reply *reply = world_why(&world, first, &arena);
    assert_non_null(reply);
    assert_string_equal(reply->share, "account arts has 33.3 % of the shares below account root, "
                                      "and 100.0 % of the usage (most of it by user9, 100.0 %), "
                                      "even again only once the others use more than now");
    world.uid = 7;
    assert_null(world_why(&world, second, &arena)->share); /* nobody goes before it */
    arena_done(&arena);
    world_script_ends(&world, big, 0);
    world_turn(&world);
    world_stop(&world);
}

/* ---- the property ---- */

enum { SEEDS = 6, LEAVES = 3, JOBS = 40 };
static const struct {
    uint32_t uid;
    const char *account, *user;
} leaves[LEAVES] = {{7, "optics", "user7"}, {7, "physics", "user7"}, {8, "optics", "user8"}};
static const char *const qos_names[] = {NULL, "half", "keeps"};

struct ledger {
    uint32_t ids[JOBS];
    int leaf[JOBS];
    size_t n;
    double used[LEAVES];
};

/* One second of all that run. */
static void ledger_second(struct ledger *ledger, struct world *world, double left) {
    for (int i = 0; i < LEAVES; i++)
        ledger->used[i] *= left;
    for (size_t i = 0; i < ledger->n; i++) {
        struct job job;
        if (!world_look(world, ledger->ids[i], &job) || job.state != JOB_RUNNING)
            continue;
        bool dear = str_equal(job.partition, "dear"); /* a GiB and a GPU on each node */
        double cost = job.num_cpus + (dear ? 10.5 * job.num_nodes : 0);
        ledger->used[ledger->leaf[i]] += cost * (str_equal(job.qos, "half") ? 0.5 : 1);
    }
}

static void ledger_compare(const struct ledger *ledger, struct world *world, double tolerance) {
    struct arena arena;
    double sum = 0;
    arena_init(&arena, 0);
    const struct share_list *list = shares(world, &arena);
    for (int i = 0; i < LEAVES; i++) {
        double usage = share_of(list, leaves[i].account, leaves[i].user)->usage;
        if (fabs(usage - ledger->used[i]) > tolerance * (1 + ledger->used[i]))
            fail_msg("%s in %s: usage %f, records %f", leaves[i].user, leaves[i].account, usage,
                     ledger->used[i]);
        sum += ledger->used[i];
    }
    assert_true(fabs(share_of(list, "root", NULL)->usage - sum) <= tolerance * (1 + sum));
    arena_done(&arena);
}

static void act(struct ledger *ledger, struct world *world, struct rng *rng) {
    char id[16] = "0";
    if (ledger->n > 0)
        snprintf(id, sizeof(id), "%u", ledger->ids[rng_below(rng, ledger->n)]);
    uint32_t number = (uint32_t) atoi(id);
    switch (rng_below(rng, 12)) {
    case 0:
    case 1:
    case 2:
        if (ledger->n == JOBS)
            break;
        ledger->leaf[ledger->n] = (int) rng_below(rng, LEAVES);
        world->uid = leaves[ledger->leaf[ledger->n]].uid;
        ledger->ids[ledger->n] = submit(
            world, leaves[ledger->leaf[ledger->n]].account, rng_below(rng, 2) ? "main" : "dear",
            qos_names[rng_below(rng, 3)], 1 + (uint32_t) rng_below(rng, 6));
        ledger->n += ledger->ids[ledger->n] != 0;
        break;
    case 3:
    case 4:
        if (world_state(world, number) == JOB_RUNNING && world_run_of(world, number) != NULL &&
            world_run_of(world, number)->running)
            world_script_ends(world, number, (uint32_t) rng_below(rng, 2) << 8);
        break;
    case 5:
        (void) world_verb(world, VERB_SUSPEND, id);
        break;
    case 6:
        (void) world_verb(world, VERB_RESUME, id);
        break;
    case 7:
        (void) world_verb(world, VERB_REQUEUE, id);
        break;
    case 8:
        (void) world_kill(world, id);
        break;
    case 9:
        world_restart(world);
        world_all_connect(world);
        break;
    case 10:
        (void) world_update(world, "job", id, "QOS", rng_below(rng, 2) ? "half" : "normal");
        break;
    default:
        world_node_lost(world, (uint32_t) rng_below(rng, 2));
        break;
    }
    world_turn(world);
}

static void play(uint64_t seed, const char *settings, int64_t half_life, double tolerance) {
    struct world world;
    struct ledger ledger = {.n = 0};
    struct rng rng;
    rng_seed(&rng, seed);
    print_message("# usage %llu\n", (unsigned long long) seed);
    begin(&world, settings);
    for (int step = 0; step < 100; step++) {
        world.uid = 0;
        act(&ledger, &world, &rng);
        world.uid = 0;
        for (uint64_t seconds = rng_below(&rng, 9); seconds > 0; seconds--) {
            ledger_second(&ledger, &world, half_life > 0 ? exp2(-1.0 / (double) half_life) : 1);
            world_pass_time(&world, 1);
        }
        ledger_compare(&ledger, &world, tolerance);
        if (rng_below(&rng, 4) == 0)
            world_all_connect(&world);
    }
    assert_true(ledger.used[0] + ledger.used[1] + ledger.used[2] > 0);
    world_stop(&world);
}

TEST(usage_equals_the_records_of_jobs_whatever_happens) {
    const char *many = getenv("USAGE_SEEDS");
    uint64_t n = many != NULL ? strtoull(many, NULL, 10) : SEEDS;
    for (uint64_t seed = 1; seed <= n; seed++) {
        if (seed % 3 != 0)
            play(seed, "PriorityDecayHalfLife=0\n", 0, 1e-9);
        else
            play(seed, "PriorityDecayHalfLife=00:10:00\n", 600, 0.01);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_charged_while_it_runs_to_its_user_and_all_above),
        cmocka_unit_test(minutes_of_resources_are_summed_up_the_tree),
        cmocka_unit_test(what_a_second_costs_is_weighted_by_the_partition_and_by_the_qos),
        cmocka_unit_test(memory_counts_in_whatever_unit_it_is_shown),
        cmocka_unit_test(usage_loses_half_its_weight_in_a_half_life),
        cmocka_unit_test(a_set_period_forgets_all_usage_and_what_runs_counts_from_then_on),
        cmocka_unit_test(raw_usage_of_an_account_can_be_set_to_nothing),
        cmocka_unit_test(usage_of_a_qos_that_begins_to_decay_loses_nothing_of_before),
        cmocka_unit_test(an_account_goes_on_having_used_what_those_used_who_left_it),
        cmocka_unit_test(whoever_has_used_less_goes_first),
        cmocka_unit_test(usage_equals_the_records_of_jobs_whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
