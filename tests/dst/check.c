/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "core/resize.h"
#include "text/idset.h"

#define CORES_MAX 64
#define GPUS_MAX 16

/* What a job holds on one node by its record. */
struct held {
    uint32_t node, cpus;
    uint64_t cores, gpus, mem;
};

struct belief {
    uint32_t job_id, attempt, state, flags, uid;
    int64_t start, end;
    int64_t preempt_time;
    bool suspended_once, by_hand; /* by_hand: not for the sake of others */
    bool cpus_given;              /* suspended: its CPUs are for others */
    uint64_t licenses;
    struct held *held;
    size_t n_held;
};

struct fact {
    uint32_t job_id, uid;
    int64_t submit;
    bool stored, acknowledged, finished, started;
    uint32_t final_state, n_rows; /* superseded rows */
};

/* One attempt: where its processes may be. */
struct run {
    uint32_t n_batch; /* how often its script was started */
    bool suspended_once;
    struct held *held;
    size_t n_held;
};

/* A job's processes on a node. */
struct alive {
    uint32_t job_id, attempt, n;
    const struct run *run;
};

struct check_node {
    uint8_t cores[CORES_MAX]; /* jobs that hold it, by the records */
    uint8_t gpus[GPUS_MAX];
    uint64_t mem, cpus;
    bool touched, down;
    vec(struct alive) alive;
};

/* ---- failing ---- */

bool check_failed(const struct check *check) {
    return check->failure.code != 0;
}

void check_fail(struct check *check, const char *fmt, ...) {
    if (check_failed(check))
        return;
    va_list args;
    va_start(args, fmt);
    cleanup_free char *text = xvasprintf(fmt, args);
    va_end(args);
    (void) error_set(&check->failure, ERR_INVALID, "at %.6f (controller %lld): %s",
                     (double) check->cluster->usec / 1e6, (long long) sim_core_now(check->cluster),
                     text);
}

/* ---- reading a record ---- */

static uint64_t bits_of(const char *text) {
    struct idset set cleanup_idset = IDSET_INIT;
    uint64_t bits = 0;
    uint32_t id = 0;
    if (text == NULL || text[0] == '\0' || idset_parse(&set, text, 63, NULL, NULL) < 0)
        return 0;
    for (bool more = idset_next(&set, 0, &id); more; more = idset_next(&set, id + 1, &id))
        bits |= (uint64_t) 1 << id;
    return bits;
}

/* Numbers in all "(IDX:…)" of "gpu:a100:1(IDX:0),gpu:v100:1(IDX:2)". */
static uint64_t gpu_bits(const char *text) {
    uint64_t bits = 0;
    const char *at = text;
    while (at != NULL && (at = strstr(at, "(IDX:")) != NULL) {
        char ids[64];
        size_t length = strcspn(at + 5, ")");
        if (length < sizeof(ids)) {
            memcpy(ids, at + 5, length);
            ids[length] = '\0';
            bits |= bits_of(ids);
        }
        at += 5;
    }
    return bits;
}

static uint32_t node_index(const struct check *check, const char *name) {
    for (uint32_t i = 0; i < check->n_nodes; i++) {
        if (str_equal(check->cluster->conf->nodes[i].name, name))
            return i;
    }
    return UINT32_MAX;
}

static bool job_holds(const struct job *job) {
    return job->state == JOB_RUNNING || job->state == JOB_SUSPENDED ||
           (job->flags & JOB_FLAG_COMPLETING);
}

static void read_held(struct check *check, const struct job *job, struct belief *belief) {
    belief->held = xcalloc(job_n_entries(job) + 1, sizeof(struct held));
    belief->n_held = 0;
    for (uint32_t i = 0; i < job_n_entries(job); i++) { /* given back, but not clean: held, too */
        const struct job_node *entry = job_entry(job, i);
        if (entry->released || !job_holds(job))
            continue;
        belief->held[belief->n_held++] = (struct held) {.node = node_index(check, entry->name),
                                                        .cpus = entry->cpus,
                                                        .cores = bits_of(entry->cores),
                                                        .gpus = gpu_bits(entry->gres),
                                                        .mem = entry->mem};
    }
}

/* ---- the books of what is held ---- */

static void count_bits(uint8_t *counts, uint64_t bits, int by) {
    for (uint32_t i = 0; bits >> i != 0 && i < 64; i++) {
        if (bits >> i & 1)
            counts[i] = (uint8_t) (counts[i] + by);
    }
}

/* Cores of a job that has ever been suspended by hand count no more: a resumed one may share
 * them. */
static void book(struct check *check, const struct belief *belief, int by) {
    for (size_t i = 0; i < belief->n_held; i++) {
        const struct held *held = &belief->held[i];
        struct check_node *node = &check->nodes[held->node];
        if (!belief->by_hand && !belief->cpus_given)
            count_bits(node->cores, held->cores, by);
        count_bits(node->gpus, held->gpus, by);
        node->mem += (uint64_t) by * held->mem;
        if (!belief->cpus_given)
            node->cpus += (uint64_t) by * held->cpus;
        node->touched = true;
    }
    if (belief->n_held > 0) /* they come back with the last node, whatever is still to be done */
        check->licenses_used += (uint64_t) by * belief->licenses;
}

static void verify_node(struct check *check, uint32_t index) {
    struct check_node *node = &check->nodes[index];
    const struct node *shown = core_node(check->cluster->core, index);
    uint32_t given = 0;
    for (uint32_t i = 0; i < CORES_MAX; i++) {
        given += node->cores[i];
        if (node->cores[i] > 1 && check->shares == 1)
            check_fail(check, "core %u of %s belongs to %u jobs", i, shown->name, node->cores[i]);
    }
    if (given > shown->cpus * check->shares)
        check_fail(check, "%s has %u CPUs, its jobs have %u", shown->name, shown->cpus, given);
    for (uint32_t i = 0; i < GPUS_MAX; i++) {
        if (node->gpus[i] > 1)
            check_fail(check, "GPU %u of %s belongs to %u jobs", i, shown->name, node->gpus[i]);
    }
    if (check->with_memory && node->mem > shown->memory)
        check_fail(check, "%llu MiB of %llu on %s belong to jobs", (unsigned long long) node->mem,
                   (unsigned long long) shown->memory, shown->name);
    if (min_of((uint64_t) node->cpus, (uint64_t) shown->cpus) != shown->alloc_cpus ||
        node->mem != shown->alloc_mem)
        check_fail(check, "%s shows %u CPUs and %llu MiB in use, its jobs have %llu and %llu",
                   shown->name, shown->alloc_cpus, (unsigned long long) shown->alloc_mem,
                   (unsigned long long) node->cpus, (unsigned long long) node->mem);
    node->touched = false;
}

/* ---- starts ---- */

static uint64_t run_key(uint32_t job_id, uint32_t attempt) {
    return (uint64_t) job_id << 32 | attempt;
}

/* "afterok:7:8,after:9": every part by what the checker knows of those jobs. */
static void verify_dependency(struct check *check, const struct job *job) {
    if (job->dependency != NULL && strstr(job->dependency, "unfulfilled") != NULL &&
        strchr(job->dependency, '?') == NULL)
        check_fail(check, "job %u has started with dependency %s", job->job_id, job->dependency);
}

static void verify_place(struct check *check, const struct job *job) {
    for (uint32_t i = 0; i < job->allocation.n; i++) {
        uint32_t index = node_index(check, job->allocation.items[i].name);
        const struct node *node = core_node(check->cluster->core, index);
        if (node->state == NODE_DOWN || (node->flags & (NODE_FLAG_DRAIN | NODE_FLAG_FAIL)))
            check_fail(check, "job %u has started on %s, which is closed", job->job_id, node->name);
    }
}

static void job_started(struct check *check, const struct job *job, const struct belief *before,
                        const struct belief *now) {
    int64_t clock = sim_core_now(check->cluster);
    uint32_t attempt = before != NULL ? before->attempt : 0;
    check->n_starts++;
    if (before != NULL && job->attempt != attempt + 1)
        check_fail(check, "job %u went from attempt %u to %u", job->job_id, attempt, job->attempt);
    if (job->state == JOB_RUNNING) {
        bool early = job->start_time < job->submit_time && !check->clock_jumps;
        if (job->start_time != clock || early || job->start_time < job->begin_time)
            check_fail(check, "job %u started at %lld: submitted %lld, begin %lld", job->job_id,
                       (long long) job->start_time, (long long) job->submit_time,
                       (long long) job->begin_time);
        verify_dependency(check, job);
        verify_place(check, job);
        rules_started(check, job);
    }
    struct run *run = map_get(&check->runs, run_key(job->job_id, job->attempt));
    if (run == NULL) {
        run = zalloc(struct run);
        map_put(&check->runs, run_key(job->job_id, job->attempt), run);
    } else if (run->n_batch > 0 && !check->loses_tail) { /* else the first turn was lost */
        check_fail(check, "attempt %u of job %u is given out twice", job->attempt, job->job_id);
    }
    free(run->held);
    run->held = xmemdup(now->held, (now->n_held + 1) * sizeof(struct held));
    run->n_held = now->n_held;
}

/* ---- records ---- */

static void belief_free(struct belief *belief) {
    if (belief == NULL)
        return;
    free(belief->held);
    free(belief);
}

static uint64_t license_count(const char *text) {
    const char *colon = text != NULL ? strchr(text, ':') : NULL;
    uint64_t n = 1;
    if (text == NULL || text[0] == '\0')
        return 0;
    if (colon != NULL)
        (void) !str_to_u64(colon + 1, &n);
    return n;
}

static struct belief *believe(struct check *check, const struct job *job) {
    struct belief *belief = zalloc(struct belief);
    *belief = (struct belief) {.job_id = job->job_id,
                               .attempt = job->attempt,
                               .state = job->state,
                               .flags = job->flags,
                               .uid = job->uid,
                               .start = job->start_time,
                               .end = job->end_time,
                               .preempt_time = job->preempt_time,
                               .cpus_given = job->cpus_given,
                               .licenses = license_count(job->licenses)};
    read_held(check, job, belief);
    return belief;
}

static void job_seen(struct check *check, const struct job *job, bool live) {
    struct belief *before = map_get(&check->beliefs, job->job_id);
    struct belief *now = believe(check, job);
    if (before != NULL) {
        book(check, before, -1);
        now->suspended_once = before->attempt == now->attempt && before->suspended_once;
        now->by_hand = before->attempt == now->attempt && before->by_hand;
    }
    now->suspended_once |= job->state == JOB_SUSPENDED || job->pre_suspend_seconds > 0;
    now->by_hand |= job->state == JOB_SUSPENDED && !job->paused;
    now->by_hand |= !live && job->pre_suspend_seconds > 0; /* the record does not tell */
    book(check, now, 1);
    map_put(&check->beliefs, job->job_id, now);
    limits_job(check, job, live && job->attempt > (before != NULL ? before->attempt : 0));
    if (live && job->attempt > (before != NULL ? before->attempt : 0))
        job_started(check, job, before, now);
    groups_job(check, job);
    if (live)
        rules_job(check, job, before != NULL ? before->preempt_time : 0);
    struct run *run = map_get(&check->runs, run_key(job->job_id, job->attempt));
    if (run != NULL && now->suspended_once)
        run->suspended_once = true;
    belief_free(before);
}

static bool silent_majority(const struct check *check) {
    size_t silent = 0, all = 0;
    for (uint32_t i = 0; i < check->n_nodes; i++) {
        if (core_node(check->cluster->core, i)->state == NODE_DOWN && !check->nodes[i].down)
            continue; /* set DOWN just now */
        if (check->nodes[i].down)
            continue;
        all++;
        silent += check->cluster->nodes[i].registered == 0;
    }
    return all >= 4 && silent * 2 > all + 2;
}

static void node_seen(struct check *check, const struct node *node) {
    uint32_t index = node_index(check, node->name);
    bool down = node->state == NODE_DOWN;
    if (down && !check->nodes[index].down && str_equal(node->reason, "Not responding")) {
        int64_t up = sim_core_now(check->cluster) - check->up_since;
        if (up < check->slurmd_timeout)
            check_fail(check, "%s is DOWN for silence after %lld s of the controller's life",
                       node->name, (long long) up);
        if (silent_majority(check))
            check_fail(check, "%s is DOWN while most nodes are silent", node->name);
    }
    check->nodes[index].down = down;
}

static void job_left(struct check *check, uint32_t job_id) {
    groups_left(check, job_id);
    struct belief *belief = map_remove(&check->beliefs, job_id);
    limits_job_left(check, job_id);
    if (belief != NULL)
        book(check, belief, -1);
    belief_free(belief);
}

static void record_seen(struct check *check, const struct effect *effect, bool live) {
    struct arena arena;
    struct job job;
    struct node node;
    arena_init(&arena, 0);
    if (effect->store_kind == STORE_JOB &&
        wire_decode(&record_job, effect->body, &arena, &job, NULL) == 0)
        job_seen(check, &job, live);
    else if (effect->store_kind == STORE_NODE &&
             wire_decode(&record_node, effect->body, &arena, &node, NULL) == 0)
        node_seen(check, &node);
    arena_done(&arena);
}

static void digest(struct check *check, const struct effect *effect) {
    const uint64_t head[] = {(uint64_t) effect->kind, effect->type, effect->node, effect->client,
                             effect->store_kind,      effect->id,   check->digest};
    check->digest = hash_bytes(head, sizeof(head), check->digest);
    if (effect->body.size > 0)
        check->digest = hash_bytes(effect->body.data, effect->body.size, check->digest);
}

/* Reservations and limits are planned with before anything starts in the turn. */
static void plans_seen(struct check *check, const struct effects *batch) {
    for (size_t i = 0; i < batch->list.n; i++) {
        const struct effect *effect = &batch->list.items[i];
        limits_effect(check, effect);
        if (effect->store_kind != STORE_RESERVATION)
            continue;
        if (effect->kind == EFFECT_PUT)
            rules_reservation(check, effect->id, effect->body);
        else if (effect->kind == EFFECT_DELETE)
            rules_reservation(check, effect->id, (struct bytes) {NULL, 0});
    }
}

void check_turn(struct check *check, const struct effects *batch) {
    check->n_turns++;
    plans_seen(check, batch);
    for (size_t i = 0; i < batch->list.n; i++) {
        const struct effect *effect = &batch->list.items[i];
        digest(check, effect);
        if (check->expect_nothing && !(effect->kind == EFFECT_NODE && effect->type == MSG_STEP_ACK))
            check_fail(check, "a report that is out of date made the core do something (effect %d)",
                       (int) effect->kind);
        if (effect->kind == EFFECT_PUT && effect->store_kind != STORE_RESERVATION)
            record_seen(check, effect, true);
        else if (effect->kind == EFFECT_DELETE && effect->store_kind == STORE_JOB)
            job_left(check, (uint32_t) effect->id);
    }
    for (uint32_t i = 0; i < check->n_nodes; i++) {
        if (check->nodes[i].touched)
            verify_node(check, i);
    }
    rules_turn(check);
    limits_turn(check);
    groups_turn(check);
    if (check->licenses_used > check->licenses)
        check_fail(check, "%llu of %llu licences are in use",
                   (unsigned long long) check->licenses_used, (unsigned long long) check->licenses);
}

/* ---- what is durable ---- */

static struct fact *fact_of(struct check *check, uint32_t job_id) {
    struct fact *fact = map_get(&check->facts, job_id);
    if (fact == NULL) {
        fact = zalloc(struct fact);
        fact->job_id = job_id;
        map_put(&check->facts, job_id, fact);
    }
    return fact;
}

static void job_stored(struct check *check, const struct effect *effect) {
    struct arena arena;
    struct job job;
    arena_init(&arena, 0);
    if (wire_decode(&record_job, effect->body, &arena, &job, NULL) == 0) {
        struct fact *fact = fact_of(check, job.job_id);
        bool other = fact->stored && (fact->submit != job.submit_time || fact->uid != job.uid);
        if ((other || fact->finished) && !check->loses_tail)
            check_fail(check, "job id %u is given out a second time", job.job_id);
        fact->stored = true;
        fact->submit = job.submit_time;
        fact->uid = job.uid;
    }
    arena_done(&arena);
}

/* The row of a run that ends its job. */
static void last_row_stored(struct check *check, const struct effect *effect, struct fact *fact,
                            const struct job *job) {
    if (fact->finished && !check->loses_tail)
        check_fail(check, "job %u gets a second final row", fact->job_id);
    fact->finished = true;
    fact->final_state = effect->history.state;
    if (!job_state_is_final(effect->history.state))
        check_fail(check, "job %u leaves in state %u", fact->job_id, effect->history.state);
    if (fact->n_rows + 1 < job->attempt && !check->loses_tail)
        check_fail(check, "job %u ran %u times and has %u rows of earlier runs", fact->job_id,
                   job->attempt, fact->n_rows);
}

static void row_stored(struct check *check, const struct effect *effect) {
    struct arena arena;
    struct acct_job row;
    if (!(HISTORY_JOBS & 1u << effect->history.kind))
        return; /* not of a job's run */
    struct fact *fact = fact_of(check, effect->history.job_id);
    check->n_history++;
    arena_init(&arena, 0);
    bool is_row =
        wire_decode(&record_acct_job, effect->body, &arena, &row, NULL) == 0 && row.job != NULL;
    if (!is_row)
        check_fail(check, "the row of job %u cannot be read", fact->job_id);
    else if (row.job->end_time < row.job->start_time)
        check_fail(check, "job %u ended at %lld, before its start at %lld", fact->job_id,
                   (long long) row.job->end_time, (long long) row.job->start_time);
    if (is_row)
        limits_row(check, row.job, row.superseded);
    if (effect->history.kind == HISTORY_SUPERSEDED)
        fact->n_rows++;
    else if (is_row && !(row.job->flags & JOB_FLAG_RESIZING)) /* else it goes on, smaller */
        last_row_stored(check, effect, fact, row.job);
    arena_done(&arena);
}

void check_committed(struct check *check, const struct effects *batch) {
    for (size_t i = 0; i < batch->list.n; i++) {
        const struct effect *effect = &batch->list.items[i];
        if (effect->kind == EFFECT_PUT && effect->store_kind == STORE_JOB)
            job_stored(check, effect);
        else if (effect->kind == EFFECT_HISTORY)
            row_stored(check, effect);
    }
}

void check_acknowledged(struct check *check, uint32_t job_id, bool batch) {
    struct fact *fact = fact_of(check, job_id);
    if (fact->acknowledged && batch && !check->loses_tail)
        check_fail(check, "job id %u is acknowledged a second time", job_id);
    fact->acknowledged = true;
}

void check_all_there(struct check *check) {
    size_t at = 0;
    uint64_t id;
    const struct fact *fact;
    while (!check->loses_tail && (fact = map_next(&check->facts, &at, &id)) != NULL) {
        if (fact->acknowledged && !fact->finished && map_get(&check->beliefs, id) == NULL &&
            list_is_empty(&check->cluster->batches))
            check_fail(check, "job %u was acknowledged and is neither listed nor in the history",
                       fact->job_id);
    }
}

/* ---- a new life of the controller ---- */

static void stored_job(void *context, uint64_t id, struct bytes body) {
    const struct effect effect = {
        .kind = EFFECT_PUT, .store_kind = STORE_JOB, .id = id, .body = body};
    record_seen(context, &effect, false);
}

static void stored_node(void *context, uint64_t id, struct bytes body) {
    struct check *check = context;
    struct arena arena;
    struct node node;
    arena_init(&arena, 0);
    if (wire_decode(&record_node, body, &arena, &node, NULL) == 0)
        check->nodes[node_index(check, node.name)].down = node.state == NODE_DOWN;
    arena_done(&arena);
}

static void forget_beliefs(struct check *check) {
    size_t at = 0;
    uint64_t id;
    struct belief *belief;
    while ((belief = map_next(&check->beliefs, &at, &id)) != NULL) {
        limits_job_left(check, belief->job_id);
        belief_free(belief);
    }
    map_done(&check->beliefs);
    check->beliefs = (struct map) MAP_INIT;
    check->licenses_used = 0;
}

void check_restored(struct check *check) {
    forget_beliefs(check);
    for (size_t i = 0; i < check->n_nodes; i++) {
        struct check_node *node = &check->nodes[i];
        memset(node->cores, 0, sizeof(node->cores));
        memset(node->gpus, 0, sizeof(node->gpus));
        node->mem = node->cpus = 0;
        node->down = false;
    }
    groups_restored(check);
    sim_cluster_stored(check->cluster, STORE_JOB, stored_job, check);
    sim_cluster_stored(check->cluster, STORE_NODE, stored_node, check);
    rules_restored(check);
    limits_restored(check);
    check->up_since = sim_core_now(check->cluster);
    for (size_t i = 0; i < check->n_nodes; i++)
        check->nodes[i].touched = true;
    check_all_there(check);
}

/* ---- processes ---- */

static struct alive *alive_find(struct check_node *node, const struct step_ref *step) {
    vec_each (&node->alive, alive) {
        if (alive->job_id == step->job_id && alive->attempt == step->attempt)
            return alive;
    }
    return NULL;
}

static const struct held *held_on(const struct run *run, uint32_t node) {
    for (size_t i = 0; run != NULL && i < run->n_held; i++) {
        if (run->held[i].node == node)
            return &run->held[i];
    }
    return NULL;
}

/* Against every other job whose processes are there. */
static void verify_alone(struct check *check, uint32_t node, const struct alive *mine) {
    const struct held *own = held_on(mine->run, node);
    const char *name = check->cluster->conf->nodes[node].name;
    if (own == NULL) {
        check_fail(check, "job %u attempt %u has processes on %s, where it holds nothing",
                   mine->job_id, mine->attempt, name);
        return;
    }
    vec_each (&check->nodes[node].alive, other) {
        const struct held *theirs = held_on(other->run, node);
        if (other == mine || theirs == NULL || other->n == 0)
            continue;
        bool shared_cores = (own->cores & theirs->cores) && check->shares == 1 &&
                            !mine->run->suspended_once && !other->run->suspended_once;
        if (shared_cores || (own->gpus & theirs->gpus))
            check_fail(check, "processes of job %u attempt %u and job %u attempt %u share %s of %s",
                       mine->job_id, mine->attempt, other->job_id, other->attempt,
                       shared_cores ? "cores" : "GPUs", name);
    }
}

static void process_begins(struct check *check, uint32_t node, const struct step_ref *step) {
    struct check_node *place = &check->nodes[node];
    struct alive *alive = alive_find(place, step);
    struct run *run = map_get(&check->runs, run_key(step->job_id, step->attempt));
    if (step->step_id == STEP_BATCH && run != NULL && ++run->n_batch > 1 && !check->loses_tail)
        check_fail(check, "the script of job %u attempt %u is started a second time", step->job_id,
                   step->attempt);
    if (alive == NULL) {
        struct alive fresh = {step->job_id, step->attempt, 0, run};
        vec_push(&place->alive, fresh);
        alive = &place->alive.items[place->alive.n - 1];
    }
    if (alive->n++ == 0)
        verify_alone(check, node, alive);
}

static void process_ends(struct check *check, uint32_t node, const struct step_ref *step) {
    struct check_node *place = &check->nodes[node];
    struct alive *alive = alive_find(place, step);
    if (alive == NULL) {
        check_fail(check, "an end of job %u attempt %u without a beginning", step->job_id,
                   step->attempt);
        return;
    }
    if (--alive->n == 0)
        vec_remove_swap(&place->alive, (size_t) (alive - place->alive.items));
}

void check_process(struct check *check, uint32_t node, const struct step_ref *step,
                   enum sim_process what) {
    if (what == SIM_BEGINS)
        process_begins(check, node, step);
    else if (what == SIM_ENDS)
        process_ends(check, node, step);
}

/* ---- reports that must change nothing ---- */

uint32_t check_some_job(const struct check *check, struct rng *rng, bool running) {
    size_t at = 0, n = 0;
    uint64_t id;
    uint32_t chosen = 0;
    const struct belief *belief;
    while ((belief = map_next(&check->beliefs, &at, &id)) != NULL) {
        if (running && belief->state != JOB_RUNNING)
            continue;
        if (rng_below(rng, ++n) == 0)
            chosen = belief->job_id;
    }
    return chosen;
}

void check_stale_report(struct check *check, struct rng *rng) {
    uint32_t job_id = check_some_job(check, rng, false);
    const struct belief *belief = map_get(&check->beliefs, job_id);
    uint32_t node = (uint32_t) rng_below(rng, check->n_nodes);
    bool invented = belief == NULL || belief->attempt == 0 || rng_below(rng, 4) == 0;
    uint32_t attempt = invented ? 1 : (uint32_t) rng_below(rng, belief->attempt);
    job_id = invented ? 60000000 + (uint32_t) rng_below(rng, 1000) : job_id;
    const struct step_ref about = {job_id, STEP_BATCH, attempt};
    if (check->cluster->core == NULL || alive_find(&check->nodes[node], &about) != NULL)
        return; /* its end would not be true */
    uint64_t turns;
    int n = 0;
    do { /* what is due anyway; one pass may leave something to the next */
        turns = check->n_turns;
        sim_control_turn(check->cluster);
    } while (check->n_turns != turns && ++n < 8);
    if (check->n_turns != turns)
        return;
    check->expect_nothing = true;
    check->n_stale++;
    struct step_done done = {.job_id = job_id, .step_id = STEP_BATCH, .attempt = attempt};
    struct launch_result result = {
        .job_id = job_id, .step_id = STEP_BATCH, .attempt = attempt, .code = ERR_BUSY};
    struct job_clean clean = {.job_id = job_id, .attempt = attempt};
    switch (rng_below(rng, 3)) {
    case 0:
        (void) sim_cluster_repeat(check->cluster, node, MSG_STEP_DONE, &done);
        break;
    case 1:
        (void) sim_cluster_repeat(check->cluster, node, MSG_LAUNCH_RESULT, &result);
        break;
    default:
        (void) sim_cluster_repeat(check->cluster, node, MSG_JOB_CLEAN, &clean);
        break;
    }
    check->expect_nothing = false;
}

/* ---- the end of a world ---- */

static void left_behind(void *context, uint64_t id, struct bytes body) {
    check_fail(context, "record %llu is left in the store", (unsigned long long) id);
}

void check_end(struct check *check) {
    struct sim_cluster *cluster = check->cluster;
    size_t at = 0;
    uint64_t id;
    const struct belief *belief;
    const struct fact *fact;
    if (cluster->core == NULL) {
        check_fail(check, "the controller has not come back");
        return;
    }
    while ((belief = map_next(&check->beliefs, &at, &id)) != NULL)
        check_fail(check, "job %u does not end: %s, attempt %u", belief->job_id,
                   job_state_text((enum job_state) belief->state, belief->flags), belief->attempt);
    for (at = 0; (fact = map_next(&check->facts, &at, &id)) != NULL;) {
        if (!fact->finished && (fact->stored || fact->acknowledged) && !check->loses_tail)
            check_fail(check, "job %u has no final row", fact->job_id);
    }
    for (uint32_t i = 0; i < check->n_nodes; i++) {
        const struct node *node = core_node(cluster->core, i);
        if (node->alloc_cpus != 0 || node->alloc_mem != 0)
            check_fail(check, "%s has %u CPUs in use by nobody", node->name, node->alloc_cpus);
        if (node->state != NODE_IDLE || (node->flags & NODE_FLAG_NOT_RESPONDING))
            check_fail(check, "%s is in state %u, flags %x: %s", node->name, node->state,
                       node->flags, node->reason != NULL ? node->reason : "");
        if (check->nodes[i].alive.n > 0)
            check_fail(check, "processes of job %u are left on %s",
                       check->nodes[i].alive.items[0].job_id, node->name);
        if (sim_cluster_steps(cluster, i) > 0)
            check_fail(check, "%s has steps whose end nobody has acknowledged", node->name);
    }
    limits_end(check);
    sim_cluster_stored(cluster, STORE_RESERVATION, left_behind, check);
    sim_cluster_stored(cluster, STORE_JOB, left_behind, check);
    sim_cluster_stored(cluster, STORE_JOB_SCRIPT, left_behind, check);
    sim_cluster_stored(cluster, STORE_STEP, left_behind, check);
}

/* ---- the books themselves ---- */

void check_init(struct check *check, struct sim_cluster *cluster) {
    memset(check, 0, sizeof(*check));
    check->cluster = cluster;
    check->shares = 1;
    check->n_nodes = cluster->n_nodes;
    check->nodes = xcalloc(check->n_nodes, sizeof(struct check_node));
    check->up_since = sim_core_now(cluster);
}

void check_done(struct check *check) {
    size_t at = 0;
    uint64_t id;
    struct run *run;
    forget_beliefs(check);
    rules_done(&check->rules);
    limits_done(&check->limits);
    groups_done(&check->groups);
    map_done(&check->beliefs);
    while ((run = map_next(&check->runs, &at, &id)) != NULL) {
        free(run->held);
        free(run);
    }
    map_done(&check->runs);
    void *fact;
    for (at = 0; (fact = map_next(&check->facts, &at, &id)) != NULL;)
        free(fact);
    map_done(&check->facts);
    for (size_t i = 0; i < check->n_nodes; i++)
        vec_done(&check->nodes[i].alive);
    free(check->nodes);
}
