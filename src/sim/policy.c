/* SPDX-License-Identifier: Apache-2.0 */
/* Reference policies: what can be asked for, the jobs' way through a run, the loops over instants.
 */
#include "sim/policy.h"

#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "sim/policy_internal.h"

#define NAMES_DEFINE(id, ...)                                                                      \
    static const struct name_row id##_rows[] = {__VA_ARGS__};                                      \
    const struct names names_##id = {id##_rows, countof(id##_rows)}
NAMES_DEFINE(sim_policy_kind, {SIM_FCFS, "fcfs"}, {SIM_EASY, "easy"}, {SIM_CONS, "cons"},
             {SIM_REPLAN, "replan"}, {SIM_SLURM, "slurm"});
NAMES_DEFINE(sim_order, {SIM_ORDER_FCFS, "fcfs"}, {SIM_ORDER_SJF, "sjf"}, {SIM_ORDER_SAF, "saf"},
             {SIM_ORDER_WFP3, "wfp3"}, {SIM_ORDER_UNICEF, "unicef"}, {SIM_ORDER_F1, "f1"});
NAMES_DEFINE(sim_candidates, {SIM_SAME, "same"}, {SIM_SHORTEST, "shortest"},
             {SIM_PREDICTED, "predicted"});
NAMES_DEFINE(sim_events, {SIM_BATCH, "batch"}, {SIM_PYSS, "pyss"});

/* ---- policies as texts ---- */

int sim_policy_parse(const char *text, struct sim_policy *policy, struct error *err) {
    const char *colon = strchrnul(text, ':');
    cleanup_free char *name = xstrndup(text, (size_t) (colon - text));
    uint64_t reserve = 0;
    uint32_t kind;
    if (!names_value(&names_sim_policy_kind, name, &kind)) {
        cleanup_str struct str known = STR_INIT;
        names_list(&names_sim_policy_kind, ", ", &known);
        return error_set(err, ERR_INVALID, "there is no policy \"%s\"; there are %s", name,
                         known.data);
    }
    if (*colon && kind != SIM_REPLAN)
        return error_set(err, ERR_INVALID, "%s takes no number; only replan:K does", name);
    if (*colon && (!str_to_u64(colon + 1, &reserve) || reserve == 0 || reserve > UINT32_MAX))
        return error_set(err, ERR_INVALID,
                         "%s: K is how many blocked jobs get a reservation, a number from 1 on",
                         text);
    policy->kind = kind;
    policy->reserve = (uint32_t) reserve;
    return 0;
}

int sim_policy_check(const struct sim_policy *policy, struct error *err) {
    const char *kind = names_text(&names_sim_policy_kind, policy->kind);
    if (policy->candidates != SIM_SAME && policy->kind != SIM_EASY)
        return error_set(err, ERR_INVALID,
                         "candidates have an order of their own only under "
                         "easy; %s looks at all jobs in the queue's order",
                         kind);
    if (policy->events == SIM_PYSS && (policy->kind == SIM_CONS || policy->kind == SIM_SLURM))
        return error_set(err, ERR_INVALID,
                         "%s handles events in batches only; pyss is for fcfs, "
                         "easy and replan",
                         kind);
    if (!policy->plan_predicted)
        return 0;
    if (policy->kind != SIM_EASY && policy->kind != SIM_REPLAN)
        return error_set(err, ERR_INVALID, "only easy and replan can plan by predictions");
    if (policy->perfect)
        return error_set(err, ERR_INVALID,
                         "run times are known already: perfect limits leave "
                         "nothing to predict");
    return 0;
}

void sim_policy_print(const struct sim_policy *policy, struct str *out) {
    str_append(out, names_text(&names_sim_policy_kind, policy->kind));
    if (policy->reserve)
        str_printf(out, ":%u", policy->reserve);
    if (policy->order != SIM_ORDER_FCFS)
        str_printf(out, "-%s", names_text(&names_sim_order, policy->order));
    if (policy->candidates != SIM_SAME)
        str_printf(out, "+%s", names_text(&names_sim_candidates, policy->candidates));
    if (policy->plan_predicted)
        str_append(out, "/planned");
    if (policy->perfect)
        str_append(out, "/perfect");
    if (policy->events == SIM_PYSS)
        str_append(out, "@pyss");
}

/* ---- running jobs ---- */

static struct running running_of(const struct sim *sim, uint32_t job) {
    return (struct running) {sim->starts[job] + sim->plan[job], sim->end_nodes[job].order, job,
                             sim->jobs[job].procs};
}

/* The place of (end, seq) among the running. */
static size_t running_find(const struct sim *sim, const struct running *wanted) {
    size_t low = 0, high = sim->running.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct running *item = &sim->running.items[middle];
        if (item->end < wanted->end || (item->end == wanted->end && item->seq < wanted->seq))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void running_add(struct sim *sim, uint32_t job) {
    struct running added = running_of(sim, job);
    size_t at = running_find(sim, &added);
    vec_push(&sim->running, added);
    struct running *items = sim->running.items;
    memmove(&items[at + 1], &items[at], (sim->running.n - 1 - at) * sizeof(*items));
    items[at] = added;
}

/* False when it is not there: under pyss, a job whose expected end has come is gone. */
static bool running_remove(struct sim *sim, uint32_t job) {
    struct running removed = running_of(sim, job);
    size_t at = running_find(sim, &removed);
    if (at == sim->running.n || sim->running.items[at].job != job)
        return false;
    vec_remove(&sim->running, at);
    return true;
}

/* ---- predictions (Tsafrir, Etsion, Feitelson 2007) ---- */

/* A prediction that has run out grows by these over the first one, in turn. */
static const int64_t correction_seconds[] = {60,    300,   900,   1800,   3600,  7200,
                                             18000, 36000, 72000, 180000, 360000};

static void predict(struct sim *sim, uint32_t job) {
    const struct predictor_user *user = &sim->users[sim->user_of[job]];
    if (user->last < 0 || user->before < 0)
        return;
    int64_t mean = (user->last + user->before) / 2;
    sim->predicted[job] = max_of(min_of(mean, sim->limit[job]), (int64_t) 1);
}

static void learn(struct sim *sim, uint32_t job) {
    struct predictor_user *user = &sim->users[sim->user_of[job]];
    user->before = user->last;
    user->last = sim->jobs[job].run;
}

static void watch_prediction(struct sim *sim, uint32_t job) {
    if (sim->policy->plan_predicted && sim->plan[job] < sim->jobs[job].run)
        heap_push(&sim->overdue, &sim->overdue_nodes[job], sim->starts[job] + sim->plan[job],
                  sim->end_nodes[job].order);
}

static void correct_predictions(struct sim *sim, int64_t now) {
    struct heap_node *node;
    while ((node = heap_min(&sim->overdue)) != NULL && node->key == now) {
        uint32_t job = (uint32_t) (node - sim->overdue_nodes);
        heap_pop(&sim->overdue);
        if (!running_remove(sim, job))
            continue;
        size_t count = sim->n_corrections[job]++;
        int64_t plan = sim->limit[job];
        if (count < countof(correction_seconds))
            plan = min_of(plan, sim->plan[job] + correction_seconds[count] -
                                    (count ? correction_seconds[count - 1] : 0));
        sim->plan[job] = plan;
        running_add(sim, job);
        watch_prediction(sim, job);
    }
}

static void predictor_init(struct sim *sim, const struct trace *trace) {
    uint32_t n_users = trace_number_users(trace, &sim->user_of);
    sim->users = xcalloc(n_users, sizeof(*sim->users));
    for (uint32_t i = 0; i < n_users; i++)
        sim->users[i] = (struct predictor_user) {-1, -1};
    if (!sim->policy->plan_predicted)
        return;
    sim->overdue_nodes = xcalloc(sim->n, sizeof(*sim->overdue_nodes));
    sim->n_corrections = xcalloc(sim->n, sizeof(*sim->n_corrections));
}

/* ---- what happens to a job ---- */

void sim_begin(struct sim *sim, uint32_t job, int64_t now) {
    int64_t end = now + sim->jobs[job].run;
    sim->starts[job] = now;
    sim->result->ends[job] = end;
    sim->free -= sim->jobs[job].procs;
    heap_push(&sim->ends, &sim->end_nodes[job], end, ++sim->seq);
    running_add(sim, job);
    watch_prediction(sim, job);
}

void sim_finish(struct sim *sim, uint32_t job) {
    if (running_remove(sim, job))
        sim->free += sim->jobs[job].procs;
    if (sim->user_of)
        learn(sim, job);
    sim->n_ended++;
    if (sim->watch && (sim->n_ended % 512 == 0 || sim->n_ended == sim->n))
        sim->watch->progress(sim->watch->context, sim->n_ended, sim->n);
}

void sim_enqueue(struct sim *sim, int64_t now) {
    uint32_t job = (uint32_t) sim->n_submitted++;
    if (sim->user_of)
        predict(sim, job);
    queue_insert(sim, job, now);
}

int64_t sim_next(const struct sim *sim) {
    const struct heap_node *end = heap_min(&sim->ends), *overdue = heap_min(&sim->overdue);
    int64_t next = sim->n_submitted < sim->n ? sim->jobs[sim->n_submitted].submit : INT64_MAX;
    if (end)
        next = min_of(next, end->key);
    return overdue ? min_of(next, overdue->key) : next;
}

uint32_t sim_pop_end(struct sim *sim) {
    return (uint32_t) (heap_pop(&sim->ends) - sim->end_nodes);
}

/* ---- instants ---- */

typedef void (*pass_fn)(struct sim *sim, int64_t now);

static void run_pass(struct sim *sim, pass_fn pass, int64_t now) {
    pass(sim, now);
    sim->result->n_passes++;
}

static void instant_batch(struct sim *sim, pass_fn pass, int64_t now) {
    while (sim_ends_at(sim, now))
        sim_finish(sim, sim_pop_end(sim));
    while (sim_submits_at(sim, now))
        sim_enqueue(sim, now);
    if (queue_length(sim) && sim->free)
        run_pass(sim, pass, now);
}

static void instant_pyss(struct sim *sim, pass_fn pass, int64_t now) {
    size_t n_due = 0;
    while (n_due < sim->running.n && sim->running.items[n_due].end <= now)
        sim->free += sim->running.items[n_due++].procs;
    sim->running.n -= n_due;
    if (n_due)
        memmove(sim->running.items, sim->running.items + n_due,
                sim->running.n * sizeof(*sim->running.items));
    while (sim_submits_at(sim, now)) {
        uint32_t procs = sim->jobs[sim->n_submitted].procs;
        sim_enqueue(sim, now);
        if (procs <= sim->free || sim->policy->candidates != SIM_SAME)
            run_pass(sim, pass, now);
    }
    while (sim_ends_at(sim, now)) {
        sim_finish(sim, sim_pop_end(sim));
        if (queue_length(sim) && sim->free)
            run_pass(sim, pass, now);
    }
}

static void run_passes(struct sim *sim) {
    static const pass_fn passes[] = {
        [SIM_FCFS] = pass_fcfs, [SIM_EASY] = pass_easy, [SIM_REPLAN] = pass_replan};
    pass_fn pass = passes[sim->policy->kind];
    while (sim->n_ended < sim->n) {
        int64_t now = sim_next(sim);
        correct_predictions(sim, now);
        if (sim->policy->events == SIM_PYSS)
            instant_pyss(sim, pass, now);
        else
            instant_batch(sim, pass, now);
    }
}

/* ---- a run ---- */

static void sim_init(struct sim *sim, const struct trace *trace) {
    bool predicts = sim->policy->candidates == SIM_PREDICTED || sim->policy->plan_predicted;
    sim->dynamic = sim->policy->order == SIM_ORDER_WFP3 || sim->policy->order == SIM_ORDER_UNICEF;
    sim->limit = xcalloc(sim->n, sizeof(*sim->limit));
    sim->plan = xcalloc(sim->n, sizeof(*sim->plan));
    sim->predicted =
        sim->policy->plan_predicted ? sim->plan : xcalloc(sim->n, sizeof(*sim->predicted));
    for (size_t i = 0; i < sim->n; i++) {
        const struct trace_job *job = &sim->jobs[i];
        sim->limit[i] = sim->plan[i] = sim->predicted[i] =
            sim->policy->perfect ? job->run : job->est;
    }
    sim->end_nodes = xcalloc(sim->n, sizeof(*sim->end_nodes));
    if (predicts)
        predictor_init(sim, trace);
}

static void sim_done(struct sim *sim) {
    if (sim->predicted != sim->plan)
        free(sim->predicted);
    free(sim->limit);
    free(sim->plan);
    free(sim->end_nodes);
    free(sim->user_of);
    free(sim->users);
    free(sim->overdue_nodes);
    free(sim->n_corrections);
    heap_done(&sim->ends);
    heap_done(&sim->overdue);
    vec_done(&sim->queue);
    vec_done(&sim->running);
    vec_done(&sim->candidates);
    profile_done(&sim->profile);
}

void sim_replay_policy(const struct trace *trace, const struct sim_policy *policy, uint32_t procs,
                       const struct sim_watch *watch, struct sim_result *result) {
    struct sim sim = {
        .jobs = trace->jobs.items,
        .n = trace->jobs.n,
        .policy = policy,
        .watch = watch,
        .result = result,
        .starts = result->starts,
        .free = procs,
    };
    result->procs = procs;
    if (sim.n == 0)
        return;
    sim_init(&sim, trace);
    if (policy->kind == SIM_CONS)
        run_cons(&sim);
    else if (policy->kind == SIM_SLURM)
        run_slurm(&sim);
    else
        run_passes(&sim);
    sim_done(&sim);
}
