/* SPDX-License-Identifier: Apache-2.0 */
#include "users.h"

#include <stdio.h>
#include <string.h>

#include "accounts.h"
#include "admin.h"

enum command_kind { COMMAND_ONCE, COMMAND_BATCH, COMMAND_ALLOC };

/* A command that runs: sbatch, salloc, srun, scancel and the like. */
struct command {
    struct heap_node todo;
    uint64_t client;
    enum command_kind kind;
    char user[8];
    uint32_t job_id;
    uint32_t n_jobs; /* its components */
    int64_t run;     /* of its step or shell */
    bool granted;    /* todo: its end; else todo: it gives up waiting */
    uint32_t steps;  /* still to be started */
    bool returning;  /* todo: it comes back to its job with a new connection */
};

static uint32_t below(struct users *users, uint32_t n) {
    return (uint32_t) rng_below(&users->rng, n);
}

static bool one_in(struct users *users, uint32_t n) {
    return below(users, n) == 0;
}

static const char *someone(struct users *users) {
    static const char *const names[] = {"anna", "bert", "cleo", "dora", "emil"};
    return names[below(users, countof(names))];
}

static int64_t now(const struct users *users) {
    return sim_cluster_now(users->cluster);
}

/* ---- commands ---- */

static struct command *command_new(struct users *users, enum command_kind kind, const char *user,
                                   uint16_t type, const void *body) {
    struct command *command = zalloc(struct command);
    command->kind = kind;
    snprintf(command->user, sizeof(command->user), "%s", user);
    command->client = sim_cluster_request(users->cluster, user, type, body);
    map_put(&users->clients, command->client, command);
    return command;
}

static void later(struct users *users, struct command *command, int64_t seconds) {
    heap_remove(&users->todo, &command->todo);
    heap_push(&users->todo, &command->todo, now(users) + seconds, users->n_todo++);
}

static void command_ends(struct users *users, struct command *command) {
    heap_remove(&users->todo, &command->todo);
    map_remove(&users->clients, command->client);
    sim_cluster_hang_up(users->cluster, command->client);
    free(command);
}

/* ---- submission ---- */

static const char *dependency(struct users *users, struct str *out) {
    static const char *const kinds[] = {"after", "afterany", "afterok", "afternotok", "aftercorr"};
    if (users->known.n == 0 || one_in(users, 8))
        return "singleton";
    size_t recent = min_of(users->known.n, (size_t) 12);
    str_append(out, kinds[below(users, countof(kinds))]);
    for (uint32_t i = 0; i <= below(users, 2); i++)
        str_printf(out, ":%u",
                   users->known.items[users->known.n - 1 - below(users, (uint32_t) recent)]);
    if (one_in(users, 5) && str_starts(out->data, "after:"))
        str_printf(out, "+%u", 1 + below(users, 20));
    return out->data;
}

/* Sizes are mostly small; few want the whole machine, or more than there is. */
static void choose_size(struct users *users, struct job_request *job) {
    uint32_t all = users->n_nodes * users->cpus;
    switch (below(users, 8)) {
    case 0:
        job->min_nodes = 1 + below(users, users->n_nodes);
        job->max_nodes = job->min_nodes;
        break;
    case 1:
        job->ntasks = 1 + below(users, all + 1);
        break;
    case 2:
        job->exclusive = EXCLUSIVE_NODE;
        break;
    case 3:
        job->cpus_per_task = 1 + below(users, users->cpus);
        job->ntasks = 1 + below(users, 3);
        break;
    default:
        job->ntasks = 1 + below(users, 4);
        break;
    }
    if (one_in(users, 3))
        job->mem_per_cpu = 1 + below(users, 400);
    if (users->gpus > 0 && one_in(users, 4)) {
        static const char *const gres[] = {"gres/gpu:1", "gres/gpu:2", "gres/gpu:a100:1"};
        job->tres_per_node = (char *) (uintptr_t) gres[below(users, countof(gres))];
    }
}

static void choose_times(struct users *users, struct job_request *job, int64_t *ret_run) {
    uint32_t minutes = 1 + below(users, one_in(users, 4) ? 240 : 40);
    job->time_limit = minutes;
    *ret_run = (int64_t) below(users, minutes * 60);
    if (one_in(users, 6))
        *ret_run = minutes * 60 + 1000; /* it will be killed */
    if (one_in(users, 12))
        *ret_run = below(users, 3);
    if (one_in(users, 10))
        job->begin_time = now(users) + below(users, 7200);
    if (one_in(users, 15))
        job->deadline = now(users) + minutes * 60 + below(users, 36000);
    if (one_in(users, 12))
        job->signal = 10, job->signal_seconds = 30;
}

static void choose_rest(struct users *users, struct job_request *job, struct str *texts) {
    static const char *const names[] = {"sim", "fit", "render"};
    job->name = (char *) (uintptr_t) names[below(users, countof(names))];
    job->work_dir = (char *) (uintptr_t) "/tmp";
    if (one_in(users, 7))
        job->dependency = (char *) (uintptr_t) dependency(users, &texts[0]);
    if (one_in(users, 5)) {
        str_printf(&texts[1], "lic:%u", 1 + below(users, 3));
        job->licenses = texts[1].data;
    }
    job->requeue = one_in(users, 3) ? TRI_NO : TRI_YES;
    job->hold = one_in(users, 20);
    job->kill_on_invalid_dep = one_in(users, 2) ? TRI_YES : TRI_UNSET;
    job->no_kill = one_in(users, 8);
    if (one_in(users, 6))
        job->partition = (char *) (uintptr_t) (one_in(users, 2) ? "small" : "main,small");
    if (users->tiers && one_in(users, 2))
        job->partition = (char *) (uintptr_t) (one_in(users, 2)   ? "high"
                                               : one_in(users, 3) ? "low,main"
                                                                  : "low");
    if (users->accounts)
        job->account = (char *) (uintptr_t) accounts_choose(users);
    if (one_in(users, 8)) {
        str_printf(&texts[3], "r%u", 1 + below(users, ADMIN_RESERVATIONS));
        job->reservation = texts[3].data;
    }
    if (one_in(users, 8))
        job->req_nodes =
            (char *) (uintptr_t) users->cluster->conf->nodes[below(users, users->n_nodes)].name;
}

static uint32_t exit_status(struct users *users) {
    return one_in(users, 5) ? (1 + below(users, 3)) << 8 : one_in(users, 12) ? 11 : 0;
}

/* A queue that only grows proves nothing new and takes long. */
#define QUEUE_MOST 80

#define MORE_COMPONENTS 2

struct more {
    struct job_request jobs[MORE_COMPONENTS];
    struct str texts[MORE_COMPONENTS][4];
};

/* Components of different kinds, for whoever asked for the first. */
static void add_components(struct users *users, const struct job_request *first, struct more *more,
                           struct submit *body) {
    uint32_t n = 1 + below(users, MORE_COMPONENTS);
    int64_t run;
    for (uint32_t i = 0; i < n; i++) {
        struct job_request *job = &more->jobs[i];
        record_init(&record_job_request, job);
        choose_size(users, job);
        choose_times(users, job, &run);
        choose_rest(users, job, more->texts[i]);
        job->kind = first->kind;
    }
    body->components.items = more->jobs;
    body->components.n = n;
    body->step = NULL;
}

static void submit(struct users *users) {
    struct job_request job;
    struct more more = {0};
    struct submit body;
    struct step_request step;
    struct str texts[4] = {STR_INIT, STR_INIT, STR_INIT, STR_INIT}, script cleanup_str = STR_INIT;
    const char *user = someone(users);
    int64_t run;
    record_init(&record_job_request, &job);
    record_init(&record_submit, &body);
    body.job = &job;
    choose_size(users, &job);
    choose_times(users, &job, &run);
    choose_rest(users, &job, texts);
    uint32_t kind = below(users, 10);
    enum command_kind what = COMMAND_BATCH;
    if (kind >= 8) {
        job.kind = kind == 8 ? JOB_KIND_SALLOC : JOB_KIND_SRUN;
        what = COMMAND_ALLOC;
        run = min_of(run, (int64_t) 1800);
        job.immediate = one_in(users, 10) ? 30 : UNSET32;
        if (job.kind == JOB_KIND_SRUN) {
            record_init(&record_step_request, &step);
            step.ntasks = job.ntasks;
            body.step = &step;
        }
    } else {
        sim_cluster_script(run, exit_status(users), &script);
        job.script = (struct blob) {(uint8_t *) script.data, script.length};
        body.wait = one_in(users, 6);
        if (kind == 7) {
            str_printf(&texts[2], "1-%u%s", 1 + below(users, 12), one_in(users, 3) ? "%2" : "");
            job.array_spec = texts[2].data;
        }
    }
    if (users->het && job.array_spec == NULL && one_in(users, 4))
        add_components(users, &job, &more, &body);
    struct command *command = command_new(users, what, user, MSG_SUBMIT, &body);
    command->run = run;
    command->n_jobs = 1 + body.components.n;
    bool steps = job.kind == JOB_KIND_SALLOC || (what == COMMAND_ALLOC && command->n_jobs > 1);
    command->steps = steps ? below(users, 4) : 0;
    later(users, command, 200000); /* nobody waits for ever */
    users->n_asked++;
    for (size_t i = 0; i < countof(texts); i++) {
        str_done(&texts[i]);
        for (size_t k = 0; k < MORE_COMPONENTS; k++)
            str_done(&more.texts[k][i]);
    }
}

/* ---- what commands do with answers ---- */

static void alloc_end(struct users *users, struct command *command, bool attach) {
    struct alloc_end end;
    record_init(&record_alloc_end, &end);
    end.job_id = command->job_id;
    end.attach = attach;
    end.exit_status = attach ? 0 : exit_status(users);
    (void) sim_cluster_request_again(users->cluster, command->client, MSG_ALLOC_END, &end);
}

static void launch(struct users *users, const struct step_layout *layout, int64_t run) {
    if (layout != NULL && !one_in(users, 20)) /* else srun dies before it gets so far */
        sim_cluster_launch_step(users->cluster, layout, 1000, run, exit_status(users));
}

static void granted(struct users *users, struct command *command, struct bytes body,
                    struct arena *arena) {
    struct alloc_granted granted;
    if (wire_decode(&record_alloc_granted, body, arena, &granted, NULL) < 0 || granted.job == NULL)
        return;
    command->job_id = granted.job->job_id;
    command->granted = true;
    launch(users, granted.step, command->run);
    later(users, command, command->steps > 0 ? 1 : command->run + 2);
}

static void next_step(struct users *users, struct command *command) {
    struct step_request step;
    record_init(&record_step_request, &step);
    step.job_id = command->job_id;
    if (command->n_jobs > 1)
        step.job_id += below(users, command->n_jobs);
    step.ntasks = 1 + below(users, 2);
    step.overlap = one_in(users, 4);
    command->steps--;
    (void) sim_cluster_request_again(users->cluster, command->client, MSG_STEP_CREATE, &step);
    later(users, command, command->steps > 0 ? 1 + below(users, 60) : command->run + 2);
}

static void acknowledged(struct users *users, struct command *command, struct bytes body,
                         struct arena *arena) {
    struct submit_reply reply;
    if (wire_decode(&record_submit_reply, body, arena, &reply, NULL) < 0)
        return;
    for (uint32_t i = 0; i < command->n_jobs; i++) {
        check_acknowledged(users->check, reply.job_id + i, command->kind == COMMAND_BATCH);
        vec_push(&users->known, reply.job_id + i);
    }
    command->job_id = reply.job_id;
    users->n_acknowledged++;
    if (command->kind == COMMAND_BATCH && one_in(users, 2))
        command_ends(users, command);
}

/* The controller is gone: a command that has a job comes back to it, or dies. */
static void connection_lost(struct users *users, struct command *command) {
    map_remove(&users->clients, command->client);
    heap_remove(&users->todo, &command->todo);
    if (command->kind != COMMAND_ALLOC || command->job_id == 0 || one_in(users, 3)) {
        free(command);
        return;
    }
    command->returning = true;
    command->client = 0;
    later(users, command, 1 + below(users, 30));
}

static void notice(struct users *users, struct command *command, struct bytes body,
                   struct arena *arena) {
    struct alloc_notice notice;
    if (wire_decode(&record_alloc_notice, body, arena, &notice, NULL) == 0 &&
        notice.job_id == command->job_id &&
        (notice.what == ALLOC_REVOKED || notice.what == ALLOC_TIMEOUT))
        command_ends(users, command);
}

void users_answer(struct users *users, uint64_t client, uint16_t type, struct bytes body) {
    struct command *command = map_get(&users->clients, client);
    struct arena arena;
    struct step_reply reply;
    if (command == NULL)
        return;
    arena_init(&arena, 0);
    switch (type) {
    case 0:
        connection_lost(users, command);
        break;
    case MSG_SUBMIT_REPLY:
        acknowledged(users, command, body, &arena);
        break;
    case MSG_ALLOC_GRANTED:
        granted(users, command, body, &arena);
        break;
    case MSG_ALLOC_NOTICE:
        notice(users, command, body, &arena);
        break;
    case MSG_STEP_REPLY:
        if (wire_decode(&record_step_reply, body, &arena, &reply, NULL) == 0)
            launch(users, reply.layout, below(users, 100));
        break;
    case MSG_ERROR:
        users->n_refused++;
        if (command->kind != COMMAND_ALLOC || command->steps == 0)
            command_ends(users, command);
        break;
    case MSG_ASSOC_CHANGED:
    case MSG_JOB_END:
    case MSG_JOB_RESULTS:
        command_ends(users, command);
        break;
    case MSG_OK: /* also to one that has come back */
        if (command->kind != COMMAND_ALLOC || !command->granted)
            command_ends(users, command);
        break;
    default:
        break;
    }
    arena_done(&arena);
}

static void come_back(struct users *users, struct command *command) {
    struct alloc_end end;
    record_init(&record_alloc_end, &end);
    end.job_id = command->job_id;
    end.attach = true;
    command->returning = false;
    command->granted = true; /* at the latest it notices when it tries to end it */
    command->client = sim_cluster_request(users->cluster, command->user, MSG_ALLOC_END, &end);
    map_put(&users->clients, command->client, command);
    later(users, command, command->run + 2);
}

static void command_acts(struct users *users, struct command *command) {
    if (command->returning) {
        come_back(users, command);
    } else if (command->kind == COMMAND_ALLOC && command->granted && command->steps > 0) {
        next_step(users, command);
    } else if (command->kind == COMMAND_ALLOC && command->granted && !one_in(users, 20)) {
        command->granted = false;
        alloc_end(users, command, false);
        later(users, command, 600);
    } else {
        command_ends(users, command);
    }
}

/* ---- second thoughts ---- */

static void select_job(struct job_select *select, char **ids, char *text, size_t size,
                       uint32_t job_id) {
    record_init(&record_job_select, select);
    snprintf(text, size, "%u", job_id);
    ids[0] = text;
    select->ids = (struct strs) {ids, 1};
}

static void verb(struct users *users, uint32_t verb, uint32_t job_id) {
    struct job_select select;
    struct job_verb_request request;
    char *ids[1], text[16];
    select_job(&select, ids, text, sizeof(text), job_id);
    record_init(&record_job_verb_request, &request);
    request.select = &select;
    request.verb = verb;
    (void) command_new(users, COMMAND_ONCE, "root", MSG_JOB_VERB, &request);
}

static void cancel(struct users *users, uint32_t job_id, uint32_t number) {
    struct job_select select;
    struct job_kill request;
    char *ids[1], text[16];
    select_job(&select, ids, text, sizeof(text), job_id);
    record_init(&record_job_kill, &request);
    request.select = &select;
    if (job_id == 0)
        select.ids.n = 0;
    request.signal = number;
    (void) command_new(users, COMMAND_ONCE, "root", MSG_JOB_KILL, &request);
}

static void update(struct users *users, const char *entity, const char *target, const char *key,
                   const char *value) {
    struct key_value changes[2] = {{(char *) (uintptr_t) key, (char *) (uintptr_t) value},
                                   {(char *) "Reason", (char *) "maintenance"}};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) (uintptr_t) entity;
    update.target = (char *) (uintptr_t) target;
    update.changes.items = changes;
    update.changes.n = str_equal(entity, "node") && !str_equal(value, "RESUME") ? 2 : 1;
    (void) command_new(users, COMMAND_ONCE, "root", MSG_UPDATE, &update);
}

void users_send_update(struct users *users, const struct update *update) {
    (void) command_new(users, COMMAND_ONCE, "root", MSG_UPDATE, update);
}

void users_send_change(struct users *users, const struct assoc_change *change) {
    (void) command_new(users, COMMAND_ONCE, "root", MSG_ASSOC_CHANGE, change);
}

static void update_job(struct users *users, uint32_t job_id) {
    static const char *const changes[][2] = {
        {"TimeLimit", "30"}, {"TimeLimit", "200"},    {"Priority", "5000"},  {"Nice", "100"},
        {"NumNodes", "1"},   {"Partition", "small"},  {"Licenses", "lic:1"}, {"Dependency", ""},
        {"Requeue", "1"},    {"StartTime", "now+600"}};
    char text[16];
    const char *const *change = changes[below(users, countof(changes))];
    snprintf(text, sizeof(text), "%u", job_id);
    update(users, "job", text, change[0], change[1]);
}

void users_resume_nodes(struct users *users) {
    update(users, "node", "ALL", "State", "RESUME");
}

static void act(struct users *users) {
    uint32_t any = check_some_job(users->check, &users->rng, false);
    uint32_t running = check_some_job(users->check, &users->rng, true);
    const char *node = users->cluster->conf->nodes[below(users, users->n_nodes)].name;
    if (users->accounts &&
        (!limits_know(&users->check->limits, "team", "emil") || one_in(users, 3)))
        accounts_act(users);
    if (users->leave_alone)
        return;
    if (one_in(users, 4)) {
        admin_act(users);
        return;
    }
    switch (below(users, 14)) {
    case 0:
    case 1:
        cancel(users, any, one_in(users, 4) ? 9 : 0);
        break;
    case 2:
        verb(users, VERB_HOLD, any);
        break;
    case 3:
    case 4:
        verb(users, VERB_RELEASE, any);
        break;
    case 5:
        verb(users, one_in(users, 4) ? VERB_REQUEUE_HOLD : VERB_REQUEUE, running);
        break;
    case 6:
        verb(users, VERB_REQUEUE, any);
        break;
    case 7:
        verb(users, users->suspends ? VERB_SUSPEND : VERB_TOP, running);
        break;
    case 8:
    case 9:
        verb(users, users->suspends ? VERB_RESUME : VERB_NOTIFY, any);
        break;
    case 10:
    case 11:
        update_job(users, any);
        break;
    case 12:
        update(users, "node", node, "State", one_in(users, 4) ? "DOWN" : "DRAIN");
        break;
    default:
        users_resume_nodes(users);
        break;
    }
}

/* ---- time ---- */

static int64_t gap(struct users *users, int64_t mean) {
    return now(users) + 1 + (int64_t) rng_below(&users->rng, (uint64_t) mean * 2);
}

int64_t users_next(const struct users *users) {
    const struct heap_node *first = heap_min(&users->todo);
    int64_t next = first != NULL ? first->key : INT64_MAX;
    if (users->stopped)
        return next;
    return min_of(next, min_of(users->next_submit, users->next_act));
}

void users_act(struct users *users) {
    struct heap_node *first;
    while ((first = heap_min(&users->todo)) != NULL && first->key <= now(users)) {
        heap_remove(&users->todo, first);
        command_acts(users, container_of(first, struct command, todo));
    }
    if (users->stopped)
        return;
    if (users->next_submit <= now(users)) {
        uint32_t n = one_in(users, 10) ? below(users, 20) : 1;
        for (uint32_t i = 0; i < n && users->check->beliefs.n < QUEUE_MOST; i++)
            submit(users);
        users->next_submit = gap(users, users->mean_gap);
    }
    if (users->next_act <= now(users)) {
        act(users);
        users->next_act = gap(users, users->mean_gap * 2);
    }
}

void users_stop(struct users *users) {
    users->stopped = true;
}

void users_cancel_all(struct users *users) {
    cancel(users, 0, 0);
}

void users_init(struct users *users, struct check *check, uint64_t seed) {
    memset(users, 0, sizeof(*users));
    users->cluster = check->cluster;
    users->check = check;
    rng_seed(&users->rng, seed ^ 0x75736572);
    users->mean_gap = 60;
    users->next_submit = now(users) + 5;
    users->next_act = now(users) + 300;
}

void users_done(struct users *users) {
    size_t at = 0;
    uint64_t id;
    struct command *command;
    struct heap_node *first;
    while ((command = map_next(&users->clients, &at, &id)) != NULL) {
        heap_remove(&users->todo, &command->todo);
        free(command);
    }
    while ((first = heap_pop(&users->todo)) != NULL) /* those without a connection */
        free(container_of(first, struct command, todo));
    map_done(&users->clients);
    heap_done(&users->todo);
    vec_done(&users->known);
}
