/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "accounts.h"
#include "admin.h"
#include "check.h"
#include "sim_conf.h"
#include "tell.h"
#include "users.h"

#define START 1700000000
#define HOUR 3600
/* Longer than the longest limit, any absence and any jump of the clock. */
#define HEAL_SECONDS (12 * HOUR)

struct world {
    vec(struct conf *) confs; /* the last one is in force; nodes are of the first */
    struct str machine;       /* the part of them that stays */
    bool shares;
    struct sim_cluster *cluster;
    struct check check;
    struct users users;
    struct rng rng;
    uint32_t timeout;
    bool told;
};

/* ---- the observer ---- */

static void on_turn(void *context, const struct effects *batch) {
    struct world *world = context;
    if (world->told)
        tell_turn(world->cluster, batch);
    check_turn(&world->check, batch);
}

static void on_committed(void *context, const struct effects *batch) {
    check_committed(&((struct world *) context)->check, batch);
}

static void on_reply(void *context, uint64_t client, uint16_t type, struct bytes body) {
    users_answer(&((struct world *) context)->users, client, type, body);
}

static void on_process(void *context, uint32_t node, const struct step_ref *step,
                       enum sim_process what) {
    struct world *world = context;
    if (world->told)
        tell_process(world->cluster, node, step, what);
    check_process(&world->check, node, step, what);
}

static void on_died(void *context) {
    const struct world *world = context;
    if (world->told)
        tell(world->cluster, "the controller dies");
}

static void on_restored(void *context) {
    struct world *world = context;
    if (world->told)
        tell(world->cluster, "the controller is back");
    check_restored(&world->check);
}

/* ---- the machine ---- */

static uint32_t below(struct world *world, uint32_t n) {
    return (uint32_t) rng_below(&world->rng, n);
}

/* Who goes first, and who has to make room for whom. */
static void add_policy(struct world *world, struct str *text) {
    static const char *const modes[] = {"REQUEUE", "CANCEL", "SUSPEND,GANG"};
    str_printf(text, "SchedulerType=%s\n",
               below(world, 5) == 0 ? "sched/builtin" : "sched/backfill");
    if (below(world, 3) == 0)
        str_append(text, "PriorityType=priority/multifactor\nPriorityWeightAge=1000\n"
                         "PriorityWeightJobSize=500\n");
    if (world->users.tiers) {
        str_printf(text,
                   "PreemptType=preempt/partition_prio\nPreemptMode=%s\n"
                   "SchedulerTimeSlice=%u\nResvOverRun=%u\n",
                   modes[below(world, countof(modes))], 30 + below(world, 90), below(world, 5));
        if (below(world, 4) == 0)
            str_append(text, "PreemptExemptTime=00:01:00\n");
    }
    str_printf(text,
               "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE%s\n"
               "PartitionName=small Nodes=n1 MaxTime=60 PriorityTier=%u\n",
               world->shares ? " OverSubscribe=FORCE:2" : "", 1 + below(world, 3));
    if (!world->users.tiers)
        return;
    str_printf(text, "PartitionName=high Nodes=ALL PriorityTier=%u\n", 4 + below(world, 2));
    str_printf(text, "PartitionName=low Nodes=ALL PriorityTier=1 GraceTime=%u%s\n",
               below(world, 2) * (10 + below(world, 120)),
               below(world, 3) == 0 ? " PreemptMode=CANCEL" : "");
}

static const struct conf *another_conf(struct world *world) {
    struct str text cleanup_str = STR_INIT;
    str_append(&text, world->machine.data);
    add_policy(world, &text);
    vec_push(&world->confs, sim_conf(text.data));
    return world->confs.items[world->confs.n - 1];
}

static void reconfigure(void *context) {
    struct world *world = context;
    struct error err = ERROR_INIT;
    if (world->told)
        tell(world->cluster, "another configuration");
    if (sim_cluster_reconfigure(world->cluster, another_conf(world), &err) < 0)
        check_fail(&world->check, "another configuration is refused: %s", err.text);
}

/* In some worlds nodes, or the controller, have something to do before and after each job. */
static void add_prologs(uint64_t seed, struct str *text) {
    static const char *const flags[] = {"", "PrologFlags=Alloc\n", "PrologFlags=Alloc,DeferBatch\n",
                                        "PrologFlags=Alloc,NoHold\n", "PrologFlags=Contain\n"};
    if (seed % 3 != 0)
        return;
    str_append(text, "Prolog=/p\nEpilog=/e\n");
    str_append(text, flags[seed / 3 % countof(flags)]);
    if (seed % 5 == 0)
        str_append(text, "PrologSlurmctld=/cp\nEpilogSlurmctld=/ce\n");
}

/* In some worlds there are accounts, with limits that bind. */
static void add_accounts(struct world *world, uint64_t seed, struct str *text) {
    world->users.accounts = seed % 4 == 1;
    if (!world->users.accounts)
        return;
    str_append(text, "AccountingStorageEnforce=limits\n");
    str_append(text,
               seed % 8 == 1 ? "PriorityDecayHalfLife=0\n" : "PriorityDecayHalfLife=02:00:00\n");
}

static void build(struct world *world, uint64_t seed) {
    static const uint32_t timeouts[] = {60, 120, 300};
    struct str text = STR_INIT;
    uint32_t nodes = 1 + below(world, 8), cpus = 1u << below(world, 4), gpus = below(world, 3);
    bool shares = below(world, 6) == 0;
    uint32_t returns = below(world, 4) == 0 ? below(world, 2) : 2;
    world->timeout = timeouts[below(world, countof(timeouts))];
    str_printf(&text,
               "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\nSlurmdTimeout=%u\n"
               "ReturnToService=%u\nMinJobAge=%u\nGresTypes=gpu\nLicenses=lic:4\n"
               "JobRequeue=1\nKillWait=%u\nMaxArraySize=1000\n",
               world->timeout, returns, 2 + below(world, 400), 1 + below(world, 30));
    add_prologs(seed, &text);
    add_accounts(world, seed, &text);
    bool accounts = world->users.accounts;
    str_printf(&text, "NodeName=n[1-%u] CPUs=%u RealMemory=%u", nodes, cpus, 1000 * cpus);
    if (gpus > 0)
        str_printf(&text, " Gres=gpu:a100:%u,gpu:v100:1", gpus);
    str_append(&text, "\n");
    world->machine = text;
    world->shares = shares;
    bool tiers = world->users.tiers = below(world, 3) > 0;
    struct error err = ERROR_INIT;
    if (sim_cluster_new(another_conf(world), START, seed, NULL, &world->cluster, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    check_init(&world->check, world->cluster);
    world->check.shares = shares ? 2 : 1;
    world->check.with_memory = true;
    world->check.slurmd_timeout = world->timeout;
    world->check.licenses = 4;
    users_init(&world->users, &world->check, seed);
    world->users.n_nodes = nodes;
    world->users.cpus = cpus;
    world->users.gpus = gpus;
    world->users.mean_gap = 60 + below(world, 900);
    world->users.suspends = below(world, 2) == 0;
    world->users.tiers = tiers;
    world->users.accounts = accounts;
    world->check.limits.enforced = accounts;
    world->check.limits.sums = seed % 8 == 1;
    world->users.next_act = accounts ? START + 1 : world->users.next_act;
    world->users.het = seed % 16 == 8;
    world->users.reconfigure = reconfigure;
    world->users.reconfigure_context = world;
}

static int64_t rate(struct world *world, int64_t mean) {
    return below(world, 3) == 0 ? 0 : mean / 2 + (int64_t) below(world, (uint32_t) mean);
}

static void choose_faults(struct world *world, struct sim_faults *ret) {
    *ret = (struct sim_faults) {.network = {50, 2000},
                                .commit = {200, 20000},
                                .launch = {500, 200000},
                                .die = {1000, 500000},
                                .clean = {100, 1000000},
                                .away_most = below(world, 2) == 0 ? 900 : 60,
                                .clock_most = 1800};
    if (below(world, 8) == 0) { /* a world without faults */
        world->check.rules.calm = world->users.leave_alone = below(world, 2) == 0;
        return;
    }
    ret->controller_dies = rate(world, 4 * HOUR);
    ret->slurmd_dies = rate(world, 2 * HOUR);
    ret->node_dies = rate(world, 6 * HOUR);
    ret->stepd_dies = rate(world, 2 * HOUR);
    ret->connection_breaks = rate(world, HOUR);
    ret->partition = rate(world, 3 * HOUR);
    ret->network_stalls = rate(world, HOUR);
    ret->store_stalls = rate(world, HOUR);
    ret->clock_jumps = below(world, 4) == 0 ? rate(world, 6 * HOUR) : 0;
    ret->doubled = below(world, 2) * 50;
    ret->stubborn = below(world, 3) * 100;
    ret->refused = below(world, 3) == 0 ? 10 : 0;
    ret->tail = below(world, 10) == 0 ? 5 : 0;
}

/* ---- its life ---- */

static void pass(struct world *world, int64_t until) {
    int64_t now;
    while ((now = sim_cluster_now(world->cluster)) < until && !check_failed(&world->check)) {
        int64_t next = min_of(max_of(users_next(&world->users), now + 1), until);
        sim_cluster_advance(world->cluster, next);
        users_act(&world->users);
        if (below(world, 16) == 0)
            check_all_there(&world->check);
        if (below(world, 16) == 0)
            check_stale_report(&world->check, &world->rng);
    }
}

static void heal(struct world *world) {
    int64_t now = sim_cluster_now(world->cluster);
    users_stop(&world->users);
    sim_cluster_heal(world->cluster);
    pass(world, now + 2 * HOUR);
    if (world->users.accounts)
        accounts_lift(&world->users);
    users_resume_nodes(&world->users);
    pass(world, now + HEAL_SECONDS);
    limits_lifted(&world->check);
    users_resume_nodes(&world->users);
    users_cancel_all(&world->users); /* held jobs, and those that nothing can start */
    pass(world, now + HEAL_SECONDS + HOUR / 2);
    admin_delete_reservations(&world->users); /* nobody uses them now */
    pass(world, now + HEAL_SECONDS + HOUR);
    if (!check_failed(&world->check))
        check_end(&world->check);
}

void world_live(uint64_t seed, int64_t hours, bool told, struct world_result *ret) {
    struct world world;
    struct sim_faults faults;
    memset(&world, 0, sizeof(world));
    world.told = told;
    rng_seed(&world.rng, seed);
    build(&world, seed);
    choose_faults(&world, &faults);
    world.check.loses_tail = faults.tail > 0;
    world.check.clock_jumps = faults.clock_jumps > 0;
    world.check.limits.sums &= !world.check.loses_tail && !world.check.clock_jumps;
    const struct sim_observer observer = {.context = &world,
                                          .turn = on_turn,
                                          .committed = on_committed,
                                          .reply = on_reply,
                                          .process = on_process,
                                          .died = on_died,
                                          .restored = on_restored};
    sim_cluster_apart(world.cluster, &faults, &observer);
    pass(&world, START + hours * HOUR);
    int64_t faulty = sim_cluster_now(world.cluster) - START;
    if (!check_failed(&world.check))
        heal(&world);
    *ret = (struct world_result) {.failure = world.check.failure,
                                  .hours = faulty / HOUR,
                                  .n_turns = world.check.n_turns,
                                  .n_starts = world.check.n_starts,
                                  .n_jobs = world.users.n_acknowledged,
                                  .n_stale = world.check.n_stale,
                                  .n_reserved = world.check.rules.n_reserved,
                                  .n_preempted = world.check.rules.n_preempted,
                                  .n_unserved = world.check.rules.n_unserved,
                                  .n_limited = world.check.limits.n_limited,
                                  .n_confs = world.confs.n - 1,
                                  .digest = world.check.digest};
    users_done(&world.users);
    sim_cluster_free(world.cluster);
    check_done(&world.check);
    vec_each (&world.confs, conf) {
        conf_free(*conf);
    }
    vec_done(&world.confs);
    str_done(&world.machine);
}
