/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos.h"

#include <stdio.h>
#include <string.h>

#include "schema/member.h"
#include "unit.h"
#include "world.h"

static const char conf_text[] =
    "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=50\nSlurmdTimeout=60\nReturnToService=2\n"
    "MinJobAge=20\nGresTypes=gpu,disk,shard\nMaxArraySize=4000001\nMaxJobCount=5000\nMaxStepCount="
    "50\n"
    "Licenses=matlab:3,big:4000000000\nPriorityType=priority/multifactor\n"
    "PriorityWeightAge=1000\nPriorityWeightJobSize=4000000000\nPriorityWeightPartition=5\n"
    "NodeName=n[1-3] CPUs=4 RealMemory=1000 Gres=gpu:a100:1,gpu:v100:1,disk:5000,shard:8 "
    "Feature=a,b "
    "Weight=2\n"
    "NodeName=n4 Sockets=1 CoresPerSocket=2 ThreadsPerCore=2 CPUs=4 RealMemory=4000 TmpDisk=100\n"
    "PartitionName=main Nodes=ALL Default=YES\n"
    "PartitionName=short Nodes=n[1-2] MaxTime=10 MaxNodes=1 OverSubscribe=FORCE:2\n"
    "PartitionName=shut Nodes=n3 State=DOWN AllowGroups=wheel\n";

/* ---- values that mean something, beside those that mean nothing ---- */

static const char *const partitions[] = {"main", "short", "shut",       "nope",
                                         "",     ",",     "main,short", "short,main,main,nope"};
static const char *const nodelists[] = {"n1",   "n[1-3]", "ALL",    "n2,n2", "",          "n9",
                                        "n[1-", "n4",     "n[1-4]", "all",   "n[0-65534]"};
static const char *const ids[] = {"1",          "2",
                                  "3",          "1_2",
                                  "2_[1-3]",    "1_*",
                                  "2_1",        "3.0",
                                  "1.batch",    "4.4294967295",
                                  "0",          "",
                                  "x",          "1_[0-4294967293]",
                                  "2_",         "_1",
                                  "4294967295", "18446744073709551616",
                                  "1_1.0",      "2.interactive"};
static const char *const gres[] = {"gres/gpu:1",
                                   "gpu:2",
                                   "gres/gpu:a100:1",
                                   "gpu:a100:1,gpu:v100:1",
                                   "gpu:4294967295",
                                   "gpu:4294967296",
                                   "disk:5000",
                                   "disk:4294967295,disk:4294967295",
                                   "none",
                                   "gpu:0",
                                   "fpga:1",
                                   "gpu:-1",
                                   "gpu:1,gpu:a100:1",
                                   "gres/shard:1",
                                   "shard:4",
                                   "shard:5"};
static const char *const arrays[] = {"1-3",         "0-4000000", "1-10:3%2", "5",
                                     "0",           "%0",        "1-3%0",    "9-1",
                                     "0-4000000:2", "1,2,2,1",   "4000001",  "1-2%4294967295"};
static const char *const depends[] = {
    "afterok:1",          "afterany:1:2:3",       "singleton",
    "after:1+5",          "after:2+4294967295",   "afternotok:2?afterok:1",
    "aftercorr:1",        "afterok:1_2",          "1",
    "afterok:4294967295", "afterany:2_*",         "",
    "afterok:",           "singleton,afterany:3", "afterany:4,5(unfulfilled)"};
static const char *const licenses[] = {
    "matlab", "matlab:3", "matlab:4", "big:4000000000", "matlab:1,matlab:1", "none:1", "matlab:0"};
static const char *const features[] = {"a", "a&b", "a|b", "[a|b]", "a*2", "c", "", "a&", "(a&b)*9"};
static const char *const counts[] = {"1,5,9", "1-1000000", "1-15:4", "0", "2", "1000000", "3-2"};

/* Which words a field may get, by its name. */
static const struct {
    const char *name;
    const char *const *words;
    size_t n;
} field_words[] = {
    {"partition", partitions, countof(partitions)},
    {"partitions", partitions, countof(partitions)},
    {"nodelist", nodelists, countof(nodelists)},
    {"req_nodes", nodelists, countof(nodelists)},
    {"exc_nodes", nodelists, countof(nodelists)},
    {"exclude", nodelists, countof(nodelists)},
    {"arbitrary_hosts", nodelists, countof(nodelists)},
    {"job_ids", ids, countof(ids)},
    {"ids", ids, countof(ids)},
    {"tres_per_node", gres, countof(gres)},
    {"tres_per_job", gres, countof(gres)},
    {"tres_per_task", gres, countof(gres)},
    {"tres_per_step", gres, countof(gres)},
    {"array_spec", arrays, countof(arrays)},
    {"dependency", depends, countof(depends)},
    {"licenses", licenses, countof(licenses)},
    {"features", features, countof(features)},
    {"prefer", features, countof(features)},
    {"node_counts", counts, countof(counts)},
};

static const char *const entities[] = {"job", "node", "partition", "step", "reservation"};
static const char *const keys[] = {"TimeLimit",
                                   "Partition",
                                   "QOS",
                                   "Account",
                                   "NumNodes",
                                   "NumTasks",
                                   "NumCPUs",
                                   "MinCPUsNode",
                                   "CPUsPerTask",
                                   "TasksPerNode",
                                   "MinMemoryNode",
                                   "MinMemoryCPU",
                                   "MinTmpDiskNode",
                                   "Features",
                                   "Gres",
                                   "TresPerJob",
                                   "Licenses",
                                   "ReqNodeList",
                                   "ExcNodeList",
                                   "Contiguous",
                                   "OverSubscribe",
                                   "ReqSockets",
                                   "ReqThreads",
                                   "Dependency",
                                   "StartTime",
                                   "Deadline",
                                   "EndTime",
                                   "Priority",
                                   "Nice",
                                   "Name",
                                   "Requeue",
                                   "ArrayTaskThrottle",
                                   "State",
                                   "Reason",
                                   "Weight",
                                   "Comment",
                                   "MaxTime",
                                   "DefaultTime",
                                   "MaxNodes",
                                   "MinNodes",
                                   "MaxCPUsPerNode",
                                   "PriorityTier",
                                   "PriorityJobFactor",
                                   "AllowGroups",
                                   "Hidden",
                                   "Default",
                                   "NoSuchKey"};
static const char *const values[] = {"",
                                     "0",
                                     "1",
                                     "-1",
                                     "2",
                                     "4",
                                     "10",
                                     "+10",
                                     "-5",
                                     "+4294967294",
                                     "UNLIMITED",
                                     "1-4",
                                     "1-99999999999",
                                     "4294967293",
                                     "4294967295",
                                     "99999999999999999999",
                                     "DRAIN",
                                     "DOWN",
                                     "RESUME",
                                     "UNDRAIN",
                                     "IDLE",
                                     "FAIL",
                                     "NoResp",
                                     "FUTURE",
                                     "UP",
                                     "INACTIVE",
                                     "YES",
                                     "NO",
                                     "main",
                                     "short",
                                     "n1",
                                     "gpu:1",
                                     "a",
                                     "afterany:1",
                                     "afterok:2",
                                     "now",
                                     "now+1hour",
                                     "2038-01-19T03:14:07",
                                     "9999-12-31T23:59:59",
                                     "500-00:00:00",
                                     "16777215T",
                                     "2147483645",
                                     "-2147483645",
                                     "matlab:1"};

static char *word(struct chooser *chooser, struct arena *arena, const char *const *words,
                  size_t n) {
    const char *text = words[choose(chooser, n)];
    return arena_strdup(arena, text);
}

static bool fill_words(const struct field *field, void *object, struct chooser *chooser,
                       struct arena *arena) {
    for (size_t i = 0; i < countof(field_words); i++) {
        if (strcmp(field_words[i].name, field->name) != 0 || choose(chooser, 8) == 0)
            continue;
        char *text = word(chooser, arena, field_words[i].words, field_words[i].n);
        if (field->type == FIELD_STR) {
            *member_str(field, object) = text;
        } else if (field->type == FIELD_STRS) {
            struct strs *strs = member_strs(field, object);
            strs->items = arena_alloc(arena, sizeof(char *));
            strs->items[0] = text;
            strs->n = 1;
        }
        return true;
    }
    return false;
}

/* Numbers of jobs, steps and attempts that exist, mostly. */
static bool fill_known(const struct field *field, void *object, struct chooser *chooser) {
    static const uint32_t steps[] = {0, 1, 2, STEP_BATCH, STEP_INTERACTIVE, UNSET32};
    if (field->type != FIELD_U32 && field->type != FIELD_OPT32)
        return false;
    if (choose(chooser, 8) == 0)
        return false;
    uint32_t *member = member_u32(field, object);
    if (strcmp(field->name, "job_id") == 0)
        *member = 1 + (uint32_t) choose(chooser, 12);
    else if (strcmp(field->name, "step_id") == 0)
        *member = steps[choose(chooser, countof(steps))];
    else if (strcmp(field->name, "attempt") == 0)
        *member = 1 + (uint32_t) choose(chooser, 3);
    else if (strcmp(field->name, "signal") == 0)
        *member = (uint32_t) choose(chooser, 20);
    else if (strcmp(field->name, "verb") == 0)
        *member = (uint32_t) choose(chooser, VERB_NOTIFY + 2);
    else
        return false;
    return true;
}

static bool fill_update(const struct record *record, const struct field *field, void *object,
                        struct chooser *chooser, struct arena *arena) {
    bool pair = record == &record_key_value;
    if ((record != &record_update && !pair) || field->type != FIELD_STR || choose(chooser, 16) == 0)
        return false;
    char **member = member_str(field, object);
    if (strcmp(field->name, "entity") == 0)
        *member = word(chooser, arena, entities, countof(entities));
    else if (strcmp(field->name, "target") == 0)
        *member = choose(chooser, 2) == 0   ? word(chooser, arena, ids, countof(ids))
                  : choose(chooser, 2) == 0 ? word(chooser, arena, nodelists, countof(nodelists))
                                            : word(chooser, arena, partitions, 3);
    else if (pair && strcmp(field->name, "key") == 0)
        *member = word(chooser, arena, keys, countof(keys));
    else if (pair)
        *member = word(chooser, arena, values, countof(values));
    else
        return false;
    return true;
}

static bool fill(const struct record *record, const struct field *field, void *object,
                 struct chooser *chooser, struct arena *arena) {
    static uint8_t script[] = "#!/bin/sh\n";
    if (record == &record_job_request && strcmp(field->name, "script") == 0) {
        *member_blob(field, object) = (struct blob) {script, sizeof(script) - 1};
        return true;
    }
    return fill_words(field, object, chooser, arena) || fill_known(field, object, chooser) ||
           fill_update(record, field, object, chooser, arena);
}

/* ---- steps ---- */

struct chaos {
    struct world world;
    struct chooser *chooser;
};

static void make_body(struct chaos *chaos, const struct record *record, void *object,
                      struct arena *arena) {
    static const unsigned densities[] = {1, 2, 5, 20, 60};
    unsigned density = densities[choose(chaos->chooser, countof(densities))];
    random_record(record, object, chaos->chooser, arena, density, fill);
}

/* A submission that has a chance: a plain job with some absurd fields over it. */
static void make_submit(struct chaos *chaos, struct submit *submit, struct arena *arena) {
    static uint8_t script[] = "#!/bin/sh\n";
    static const unsigned densities[] = {10, 40, 100, 1000};
    struct chooser *chooser = chaos->chooser;
    struct job_request *request = arena_alloc(arena, sizeof(*request));
    record_init(&record_submit, submit);
    random_record(&record_job_request, request, chooser, arena,
                  densities[choose(chooser, countof(densities))], fill);
    submit->job = request;
    if (choose(chooser, 8) > 0) {
        request->kind = (uint32_t) choose(chooser, 3);
        request->script = request->kind == JOB_KIND_BATCH
                              ? (struct blob) {script, sizeof(script) - 1}
                              : (struct blob) {NULL, 0};
    }
    submit->wait = choose(chooser, 4) == 0;
    submit->test_only = choose(chooser, 12) == 0;
    if (request->kind == JOB_KIND_SRUN && choose(chooser, 4) > 0) {
        submit->step = arena_alloc(arena, sizeof(*submit->step));
        make_body(chaos, &record_step_request, submit->step, arena);
    }
}

static void a_request(struct chaos *chaos) {
    static const uint16_t types[] = {
        MSG_SUBMIT,      MSG_SUBMIT,      MSG_SUBMIT,      MSG_SUBMIT,       MSG_ALLOC_END,
        MSG_STEP_CREATE, MSG_STEP_CREATE, MSG_STEP_CREATE, MSG_JOB_VERB,     MSG_JOB_KILL,
        MSG_STEP_KILL,   MSG_UPDATE,      MSG_UPDATE,      MSG_ALLOC_ATTACH, MSG_JOB_WAIT,
        MSG_RECONFIGURE, MSG_SHUTDOWN,    MSG_LIST_JOBS};
    struct chooser *chooser = chaos->chooser;
    struct world *world = &chaos->world;
    struct arena arena;
    arena_init(&arena, 0);
    uint16_t type = types[choose(chooser, countof(types))];
    world->uid = choose(chooser, 3) == 0 ? 1000 : 0;
    if (choose(chooser, 6) == 0 && world->client > 1)
        world->client = 1 + choose(chooser, world->client);
    if (type == MSG_SUBMIT && choose(chooser, 8) > 0) {
        struct submit submit;
        make_submit(chaos, &submit, &arena);
        world_send(world, type, &submit);
    } else {
        const struct record *record = message_record(type);
        void *body = arena_alloc(&arena, record->size);
        make_body(chaos, record, body, &arena);
        world_send(world, type, body);
    }
    arena_done(&arena);
}

static void a_node_message(struct chaos *chaos) {
    static const uint16_t types[] = {MSG_STEP_DONE,   MSG_STEP_DONE,     MSG_JOB_CLEAN,
                                     MSG_NODE_STATUS, MSG_LAUNCH_RESULT, MSG_NODE_REGISTER,
                                     MSG_PING};
    struct chooser *chooser = chaos->chooser;
    struct arena arena;
    arena_init(&arena, 0);
    uint16_t type = types[choose(chooser, countof(types))];
    const struct record *record = message_record(type);
    void *body = arena_alloc(&arena, record->size);
    make_body(chaos, record, body, &arena);
    uint32_t node = (uint32_t) choose(chooser, chaos->world.n_nodes);
    core_node_message(chaos->world.core, chaos->world.now, node, type, body, &chaos->world.effects);
    if (choose(chooser, 4) > 0)
        world_turn(&chaos->world);
    arena_done(&arena);
}

static void ignore_frame(void *context, uint16_t type, struct bytes body, bool last) {}

static void ignore_acct(void *context, uint32_t job_id, struct bytes acct_job) {}

static void a_listing(struct chaos *chaos) {
    static const uint16_t types[] = {MSG_LIST_JOBS, MSG_LIST_STEPS, MSG_LIST_NODES,
                                     MSG_LIST_PARTITIONS, MSG_PING};
    struct core_user user = {
        .uid = (uint32_t) choose(chaos->chooser, 2) * 1000, .name = "u", .group = "g"};
    struct arena arena;
    struct error err = ERROR_INIT;
    arena_init(&arena, 0);
    struct list_request request;
    struct acct_query query;
    make_body(chaos, &record_list_request, &request, &arena);
    make_body(chaos, &record_acct_query, &query, &arena);
    uint16_t type = types[choose(chaos->chooser, countof(types))];
    (void) !core_list(chaos->world.core, chaos->world.now, type, &user, &request, ignore_frame,
                      NULL, &err);
    core_acct_live(chaos->world.core, chaos->world.now, &user, &query, ignore_acct, NULL);
    arena_done(&arena);
}

static void a_script_ends(struct chaos *chaos) {
    struct world *world = &chaos->world;
    if (world->runs.n == 0)
        return;
    struct world_run *run = &world->runs.items[choose(chaos->chooser, world->runs.n)];
    uint32_t job_id = run->job_id;
    world_script_ends(world, job_id, (uint32_t) choose_number(chaos->chooser, 32));
}

static void a_fault(struct chaos *chaos) {
    struct world *world = &chaos->world;
    uint32_t node = (uint32_t) choose(chaos->chooser, world->n_nodes);
    switch (choose(chaos->chooser, 5)) {
    case 0:
        world_restart(world);
        break;
    case 1:
        world->nodes_answer = !world->nodes_answer;
        break;
    case 2:
        core_client_gone(world->core, world->now, 1 + choose(chaos->chooser, world->client),
                         &world->effects);
        world_turn(world);
        break;
    default:
        if (world->node_up[node])
            world_node_lost(world, node);
        else
            world_node_connects(world, node);
    }
}

static void one_step(struct chaos *chaos) {
    struct chooser *chooser = chaos->chooser;
    switch (choose(chooser, 16)) {
    case 0:
    case 1:
        a_node_message(chaos);
        break;
    case 2:
        a_listing(chaos);
        break;
    case 3:
        a_script_ends(chaos);
        break;
    case 4:
        a_fault(chaos);
        break;
    case 5:
        world_pass_time(&chaos->world, 1 + (int64_t) choose(chooser, 200));
        break;
    default:
        a_request(chaos);
    }
}

struct core_counters chaos_play(struct chooser *chooser, unsigned steps) {
    struct chaos chaos = {.chooser = chooser};
    world_start(&chaos.world, conf_text);
    chaos.world.shares = true; /* resumed and oversubscribed jobs */
    world_all_connect(&chaos.world);
    for (unsigned i = 0; i < steps; i++) {
        if (chooser->rng == NULL && chooser->at == chooser->end)
            break;
        one_step(&chaos);
        world_check(&chaos.world);
    }
    struct core_counters counters;
    core_counters(chaos.world.core, &counters);
    world_stop(&chaos.world);
    return counters;
}
