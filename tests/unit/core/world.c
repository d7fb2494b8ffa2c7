/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "../assoc/change_line.h"
#include "core/resize.h"
#include "text/idset.h"
#include "unit.h"

static struct arena look_arena;
static bool look_arena_used;

static int read_conf(void *context, const char *path, struct str *ret, struct error *err) {
    struct world *world = context;
    static const char mark[] = "#topology.conf\n";
    const char *other = strstr(world->conf_text, mark);
    if (strstr(path, "slurm.conf") != NULL)
        str_append_bytes(ret, world->conf_text,
                         other ? (size_t) (other - world->conf_text) : strlen(world->conf_text));
    else if (strstr(path, "topology.conf") != NULL && other)
        str_append(ret, other + sizeof(mark) - 1);
    else
        return error_set(err, ERR_NOT_FOUND, "no file %s", path);
    return 0;
}

static char *whole_conf(const char *conf_text) {
    return xasprintf("ClusterName=test\nSlurmctldHost=localhost\n"
                     "StateSaveLocation=/tmp\nSlurmUser=root\n%s",
                     conf_text);
}

static void load(struct world *world) {
    struct conf_report report = CONF_REPORT_INIT;
    struct error err = ERROR_INIT;
    const struct conf_source source = {read_conf, world};
    int r =
        conf_load(&source, "/etc/slurm/slurm.conf", CONF_SLURMCTLD, &world->conf, &report, &err);
    if (r < 0)
        fail_msg("%s", err.text);
    conf_report_done(&report);
}

void world_start(struct world *world, const char *conf_text) {
    memset(world, 0, sizeof(*world));
    world->conf_text = whole_conf(conf_text);
    world->now = 1000000;
    world->nodes_answer = true;
    world->client = 1;
    load(world);
    world->n_nodes = (uint32_t) world->conf->n_nodes;
    assert_true(world->n_nodes <= WORLD_NODES_MAX);
    effects_init(&world->effects);
    world->core = core_new();
    struct error err = ERROR_INIT;
    assert_int_equal(core_configure(world->core, world->conf, 0, world->now, &world->effects, &err),
                     0);
    core_restored(world->core, world->now, &world->effects);
    world_turn(world);
}

static void drop_replies(struct world *world) {
    vec_each (&world->replies, reply)
        str_done(&reply->body);
    vec_done(&world->replies);
}

void world_stop(struct world *world) {
    core_free(world->core);
    effects_done(&world->effects);
    drop_replies(world);
    vec_each (&world->mails, mail)
        free(*mail);
    vec_done(&world->mails);
    vec_done(&world->runs);
    vec_each (&world->history, run)
        str_done(run);
    vec_done(&world->history);
    vec_each (&world->trigger_runs, run)
        free(*run);
    vec_done(&world->trigger_runs);
    size_t at = 0;
    uint64_t key;
    struct world_record *record;
    while ((record = map_next(&world->records, &at, &key)) != NULL) {
        str_done(&record->data);
        free(record);
    }
    map_done(&world->records);
    conf_free(world->conf);
    free(world->conf_text);
    if (look_arena_used)
        arena_done(&look_arena);
    look_arena_used = false;
}

/* ---- nodes ---- */

static void node_says(struct world *world, uint32_t node, uint16_t type, const void *body) {
    const struct record *record = message_record(type);
    struct str out cleanup_str = STR_INIT;
    struct arena arena;
    struct error err = ERROR_INIT;
    arena_init(&arena, 0);
    wire_encode(record, body, NULL, &out);
    void *decoded = arena_alloc(&arena, record->size);
    assert_int_equal(wire_decode(record, (struct bytes) {(const uint8_t *) out.data, out.length},
                                 &arena, decoded, &err),
                     0);
    core_node_message(world->core, world->now, node, type, decoded, &world->effects);
    arena_done(&arena);
}

static void report_end(struct world *world, struct world_run *run) {
    struct step_done done;
    record_init(&record_step_done, &done);
    done.job_id = run->job_id;
    done.step_id = STEP_BATCH;
    done.attempt = run->attempt;
    done.exit_status = run->exit_status;
    done.end_time = world->now;
    node_says(world, run->node, MSG_STEP_DONE, &done);
}

void world_node_connects(struct world *world, uint32_t node) {
    const struct conf_node *line = &world->conf->nodes[node];
    struct node_register reg;
    record_init(&record_node_register, &reg);
    struct node hardware;
    record_init(&record_node, &hardware);
    hardware.cpus = line->cpus;
    hardware.sockets = line->sockets;
    hardware.cores = line->cores_per_socket;
    hardware.threads = line->threads_per_core;
    hardware.memory = line->real_memory;
    hardware.tmp_disk = line->tmp_disk;
    hardware.gres = (char *) (uintptr_t) line->gres_text;
    char boot[32] = "boot";
    if (world->boots[node] > 0)
        snprintf(boot, sizeof(boot), "boot-%u", world->boots[node]);
    hardware.boot_id = boot;
    reg.problem = (char *) (uintptr_t) world->problems[node];
    reg.name = (char *) (uintptr_t) line->name;
    reg.node = &hardware;
    vec(struct node_step) steps = {0};
    vec_each (&world->runs, run) {
        if (run->node != node || run->reported || (!run->running && !run->ended))
            continue;
        struct node_step *step = vec_add(&steps);
        record_init(&record_node_step, step);
        step->job_id = run->job_id;
        step->step_id = STEP_BATCH;
        step->attempt = run->attempt;
        step->ended = run->ended;
        step->exit_status = run->exit_status;
    }
    reg.steps.items = steps.items;
    reg.steps.n = (uint32_t) steps.n;
    world->node_up[node] = true;
    node_says(world, node, MSG_NODE_REGISTER, &reg);
    vec_done(&steps);
    vec_each (&world->runs, run) {
        if (run->node == node && run->ended && !run->reported)
            report_end(world, run);
    }
    world_turn(world);
}

void world_all_connect(struct world *world) {
    for (uint32_t i = 0; i < world->n_nodes; i++)
        world_node_connects(world, i);
}

void world_node_lost(struct world *world, uint32_t node) {
    world->node_up[node] = false;
    core_node_gone(world->core, world->now, node, &world->effects);
    world_turn(world);
}

void world_client_gone(struct world *world, uint64_t client) {
    core_client_gone(world->core, world->now, client, &world->effects);
    world_turn(world);
}

static struct world_run *find_run(struct world *world, uint32_t job_id, uint32_t attempt,
                                  uint32_t node) {
    vec_each (&world->runs, run) {
        if (run->job_id == job_id && run->attempt == attempt && run->node == node)
            return run;
    }
    return NULL;
}

static void launched(struct world *world, uint32_t node, struct bytes body) {
    struct arena arena;
    struct error err = ERROR_INIT;
    struct launch launch;
    arena_init(&arena, 0);
    assert_int_equal(wire_decode(&record_launch, body, &arena, &launch, &err), 0);
    struct launch_result result;
    record_init(&record_launch_result, &result);
    result.job_id = launch.job->job_id;
    result.step_id = STEP_BATCH;
    result.attempt = launch.attempt;
    if (world->launches_fail) {
        result.code = ERR_SYSTEM;
        result.detail = (char *) (uintptr_t) "no such luck";
    } else if (find_run(world, launch.job->job_id, launch.attempt, node) == NULL) {
        /* Twice for one attempt would be two processes of one job. */
        struct world_run *run = vec_add(&world->runs);
        *run = (struct world_run) {
            .job_id = launch.job->job_id, .attempt = launch.attempt, .node = node, .running = true};
        world->n_launched++;
    }
    node_says(world, node, MSG_LAUNCH_RESULT, &result);
    arena_done(&arena);
}

static void terminated(struct world *world, uint32_t node, const struct job_terminate *order) {
    world->n_terminates++;
    world->n_terminates_with_cpus += order->cpus_per_node != NULL;
    vec_each (&world->runs, run) {
        if (run->job_id != order->job_id || run->attempt != order->attempt || run->node != node)
            continue;
        if (run->running) {
            run->running = false;
            run->ended = true;
            run->exit_status = 15;
        }
    }
    for (size_t i = 0; i < world->runs.n; i++) {
        struct world_run *run = &world->runs.items[i];
        if (run->job_id == order->job_id && run->attempt == order->attempt && run->node == node &&
            run->ended && !run->reported)
            report_end(world, run);
    }
    struct job_clean clean;
    record_init(&record_job_clean, &clean);
    clean.job_id = order->job_id;
    clean.attempt = order->attempt;
    node_says(world, node, MSG_JOB_CLEAN, &clean);
}

static void acknowledged(struct world *world, uint32_t node, const struct step_ref *ref) {
    struct world_run *run = find_run(world, ref->job_id, ref->attempt, node);
    if (run != NULL && ref->step_id == STEP_BATCH && run->ended)
        run->reported = true;
}

static void welcomed(struct world *world, uint32_t node, const struct node_welcome *welcome) {
    for (uint32_t i = 0; i < welcome->kill.n; i++) {
        const struct node_step *step = &welcome->kill.items[i];
        struct world_run *run = find_run(world, step->job_id, step->attempt, node);
        if (run != NULL) {
            run->running = false;
            run->ended = true;
            run->exit_status = 9;
            report_end(world, run);
        }
    }
}

static void told_to_look(struct world *world, uint32_t node, const struct node_check *check) {
    struct node_status status;
    record_init(&record_node_status, &status);
    status.problem = (char *) (uintptr_t) world->problems[node];
    status.checked = true;
    world->n_programs[node] += check->program;
    if (check->now)
        node_says(world, node, MSG_NODE_STATUS, &status);
}

static void to_node(struct world *world, uint32_t node, uint16_t type, struct bytes body) {
    struct arena arena;
    struct error err = ERROR_INIT;
    if (!world->nodes_answer || !world->node_up[node])
        return;
    arena_init(&arena, 0);
    const struct record *record = message_record(type);
    void *message = arena_alloc(&arena, record->size);
    assert_int_equal(wire_decode(record, body, &arena, message, &err), 0);
    if (type == MSG_JOB_TERMINATE)
        terminated(world, node, message);
    else if (type == MSG_NODE_SIGNAL)
        world->n_signals[((const struct node_signal *) message)->signal % SIGNALS_KNOWN]++;
    else if (type == MSG_STEP_ACK)
        acknowledged(world, node, message);
    else if (type == MSG_NODE_WELCOME)
        welcomed(world, node, message);
    else if (type == MSG_NODE_CHECK)
        told_to_look(world, node, message);
    else if (type == MSG_NODE_REBOOT)
        world->n_reboots[node]++;
    else if (type == MSG_JOB_PREPARE)
        world->n_prepares++;
    arena_done(&arena);
}

/* ---- store ---- */

static uint64_t record_key(uint32_t kind, uint64_t id) {
    const uint64_t parts[2] = {kind, id};
    return hash_bytes(parts, sizeof(parts), 0);
}

static void store_put(struct world *world, const struct effect *effect) {
    uint64_t key = record_key(effect->store_kind, effect->id);
    struct world_record *record = map_get(&world->records, key);
    if (record == NULL) {
        record = zalloc(struct world_record);
        record->kind = effect->store_kind;
        record->id = effect->id;
        map_put(&world->records, key, record);
    }
    str_reset(&record->data);
    str_append_bytes(&record->data, effect->body.data, effect->body.size);
}

static void store_delete(struct world *world, const struct effect *effect) {
    struct world_record *record =
        map_remove(&world->records, record_key(effect->store_kind, effect->id));
    if (record != NULL) {
        str_done(&record->data);
        free(record);
    }
}

static void keep_reply(struct world *world, const struct effect *effect) {
    struct world_reply *reply = vec_add(&world->replies);
    reply->client = effect->client;
    reply->seq = effect->seq;
    reply->type = effect->type;
    reply->flags = effect->flags;
    str_append_bytes(&reply->body, effect->body.data, effect->body.size);
}

static void history_keep(struct world *world, const struct effect *effect) {
    struct str run = STR_INIT;
    if (!world->keeps_history || effect->history.kind != HISTORY_RUN)
        return;
    str_append_bytes(&run, effect->body.data, effect->body.size);
    vec_push(&world->history, run);
}

static void store_effects(struct world *world, const struct effects *batch) {
    for (size_t i = 0; i < batch->list.n; i++) {
        const struct effect *effect = &batch->list.items[i];
        if (effect->kind == EFFECT_PUT)
            store_put(world, effect);
        else if (effect->kind == EFFECT_DELETE)
            store_delete(world, effect);
        else if (effect->kind == EFFECT_HISTORY) {
            world->n_history += (HISTORY_JOBS & 1u << effect->history.kind) != 0;
            history_keep(world, effect);
            world->n_outages += effect->history.kind == HISTORY_OUTAGE;
        }
    }
}

static void run_trigger(struct world *world, const struct effect *effect) {
    struct arena arena;
    struct trigger trigger;
    arena_init(&arena, 0);
    assert_int_equal(wire_decode(&record_trigger, effect->body, &arena, &trigger, NULL), 0);
    vec_push(&world->trigger_runs, xasprintf("%u %s", trigger.id, trigger.argument));
    if (!world->triggers_hang)
        core_trigger_ran(world->core, world->now, trigger.id, &world->effects);
    arena_done(&arena);
}

static void release_effects(struct world *world, const struct effects *batch) {
    for (size_t i = 0; i < batch->list.n; i++) {
        const struct effect *effect = &batch->list.items[i];
        if (effect->kind == EFFECT_REPLY || effect->kind == EFFECT_GRANT)
            keep_reply(world, effect);
        else if (effect->kind == EFFECT_NODE)
            to_node(world, effect->node, effect->type, effect->body);
        else if (effect->kind == EFFECT_LAUNCH && world->nodes_answer &&
                 world->node_up[effect->node])
            launched(world, effect->node, effect->body);
        else if (effect->kind == EFFECT_SCRIPT)
            world->n_scripts++;
        else if (effect->kind == EFFECT_TRIGGER)
            run_trigger(world, effect);
        else if (effect->kind == EFFECT_MAIL)
            vec_push(&world->mails,
                     xasprintf("%s: %s", (const char *) effect->body.data, effect->text));
    }
}

void world_turn(struct world *world) {
    for (int rounds = 0; rounds < 100000; rounds++) {
        core_turn_end(world->core, world->now, &world->effects);
        if (world->effects.list.n == 0)
            return;
        struct effects batch = world->effects;
        effects_init(&world->effects);
        store_effects(world, &batch);
        release_effects(world, &batch);
        effects_done(&batch);
    }
    fail_msg("the core does not come to rest");
}

void world_pass_time(struct world *world, int64_t seconds) {
    int64_t end = world->now + seconds;
    while (world->now < end) {
        int64_t next = core_next_time(world->core);
        world->now = next > world->now && next < end ? next
                     : next <= world->now            ? world->now + 1
                                                     : end;
        core_tick(world->core, world->now, &world->effects);
        world_turn(world);
    }
}

void world_restart(struct world *world) {
    struct error err = ERROR_INIT;
    core_free(world->core);
    effects_done(&world->effects);
    effects_init(&world->effects);
    world->core = core_new();
    size_t at = 0;
    uint64_t key;
    struct world_record *record;
    while ((record = map_next(&world->records, &at, &key)) != NULL) {
        const struct bytes data = {(const uint8_t *) record->data.data, record->data.length};
        if (core_restore(world->core, record->kind, record->id, data, &err) < 0)
            fail_msg("%s", err.text);
    }
    assert_int_equal(core_configure(world->core, world->conf, 0, world->now, &world->effects, &err),
                     0);
    core_restored(world->core, world->now, &world->effects);
    memset(world->node_up, 0, sizeof(world->node_up));
    world_turn(world);
}

int world_reconfigure(struct world *world, const char *conf_text) {
    struct conf *old = world->conf;
    char *old_text = world->conf_text;
    struct error err = ERROR_INIT;
    world->conf_text = whole_conf(conf_text);
    load(world);
    int r = core_configure(world->core, world->conf, 0, world->now, &world->effects, &err);
    if (r < 0) {
        conf_free(world->conf);
        free(world->conf_text);
        world->conf = old;
        world->conf_text = old_text;
    } else {
        conf_free(old);
        free(old_text);
        world->n_nodes = (uint32_t) world->conf->n_nodes;
    }
    world_turn(world);
    return r;
}

/* ---- requests ---- */

static void history_look_up(struct world *world, const bygone_ids *ids, struct bygone *ret) {
    bygone_ask(ret, ids);
    vec_each (&world->history, run) {
        struct arena arena;
        struct acct_job record;
        arena_init(&arena, 0);
        assert_int_equal(wire_decode(&record_acct_job, str_bytes(run), &arena, &record, NULL), 0);
        bygone_add(ret, record.job);
        arena_done(&arena);
    }
}

uint64_t world_send(struct world *world, uint16_t type, const void *body) {
    const struct record *record = message_record(type);
    struct str out cleanup_str = STR_INIT;
    struct arena arena;
    struct error err = ERROR_INIT;
    char name[32];
    snprintf(name, sizeof(name), "user%u", world->uid);
    struct core_user user = {.uid = world->uid, .gid = world->uid, .name = name, .group = name};
    user.groups = &world->second_group;
    user.n_groups = world->second_group != NULL;
    arena_init(&arena, 0);
    wire_encode(record, body, NULL, &out);
    void *decoded = arena_alloc(&arena, record->size);
    assert_int_equal(wire_decode(record, (struct bytes) {(const uint8_t *) out.data, out.length},
                                 &arena, decoded, &err),
                     0);
    uint64_t client = world->client++;
    struct bygone bygone = BYGONE_INIT;
    bygone_ids ids = {0};
    core_meet(world->core, &user);
    core_asks_bygone(world->core, type, decoded, &ids);
    if (world->keeps_history && ids.n > 0) {
        history_look_up(world, &ids, &bygone);
        core_give_bygone(world->core, &bygone);
    }
    core_request(world->core, world->now, client, 1, type, &user, decoded, &world->effects);
    core_give_bygone(world->core, NULL);
    bygone_done(&bygone);
    vec_done(&ids);
    arena_done(&arena);
    world_turn(world);
    return client;
}

const void *world_answer(struct world *world, uint64_t client, uint16_t type, struct arena *arena) {
    for (size_t i = world->replies.n; i-- > 0;) {
        const struct world_reply *reply = &world->replies.items[i];
        if (reply->client != client || reply->type != type)
            continue;
        const struct record *record = message_record(type);
        void *body = arena_alloc(arena, record->size);
        struct error err = ERROR_INIT;
        assert_int_equal(
            wire_decode(record,
                        (struct bytes) {(const uint8_t *) reply->body.data, reply->body.length},
                        arena, body, &err),
            0);
        return body;
    }
    return NULL;
}

void world_request(struct job_request *request) {
    static char script[] = "#!/bin/sh\ntrue\n";
    record_init(&record_job_request, request);
    request->name = (char *) (uintptr_t) "test";
    request->script = (struct blob) {(uint8_t *) script, sizeof(script) - 1};
    request->work_dir = (char *) (uintptr_t) "/tmp";
}

uint32_t world_submit(struct world *world, const struct job_request *request, int *ret_code) {
    struct submit submit;
    struct arena arena;
    arena_init(&arena, 0);
    record_init(&record_submit, &submit);
    submit.job = (struct job_request *) (uintptr_t) request;
    uint64_t client = world_send(world, MSG_SUBMIT, &submit);
    const struct submit_reply *reply = world_answer(world, client, MSG_SUBMIT_REPLY, &arena);
    const struct reply_error *error = world_answer(world, client, MSG_ERROR, &arena);
    assert_true(reply != NULL || error != NULL);
    uint32_t id = reply != NULL ? reply->job_id : 0;
    if (ret_code != NULL)
        *ret_code = error != NULL ? (int) error->code : 0;
    arena_done(&arena);
    return id;
}

uint32_t world_job(struct world *world) {
    struct job_request request;
    world_request(&request);
    uint32_t id = world_submit(world, &request, NULL);
    assert_int_not_equal(id, 0);
    return id;
}

struct look {
    struct job *ret;
    uint32_t job_id;
    bool found;
};

static void look_frame(void *context, uint16_t type, struct bytes body, bool last) {
    struct look *look = context;
    struct job_list list;
    struct error err = ERROR_INIT;
    assert_int_equal(wire_decode(&record_job_list, body, &look_arena, &list, &err), 0);
    for (uint32_t i = 0; i < list.items.n; i++) {
        if (list.items.items[i].job_id == look->job_id) {
            *look->ret = list.items.items[i];
            look->found = true;
        }
    }
}

bool world_look(struct world *world, uint32_t job_id, struct job *ret) {
    struct core_user root = {.name = "root", .group = "root"};
    struct list_request request;
    struct error err = ERROR_INIT;
    struct look look = {ret, job_id, false};
    record_init(&record_list_request, &request);
    request.all = true;
    if (look_arena_used)
        arena_done(&look_arena);
    arena_init(&look_arena, 0);
    look_arena_used = true;
    assert_int_equal(
        core_list(world->core, world->now, MSG_LIST_JOBS, &root, &request, look_frame, &look, &err),
        0);
    return look.found;
}

uint32_t world_state(struct world *world, uint32_t job_id) {
    struct job job;
    return world_look(world, job_id, &job) ? job.state : UINT32_MAX;
}

uint32_t world_task(struct world *world, uint32_t id, uint32_t task) {
    for (uint32_t at = id; at < core_next_job_id(world->core); at++) {
        struct job job;
        if (world_look(world, at, &job) && job.array_job_id == id && job.array_task_id == task)
            return at;
    }
    return 0;
}

const struct why_reply *world_why(struct world *world, uint32_t job_id, struct arena *arena) {
    char id[16];
    snprintf(id, sizeof(id), "%u", job_id);
    struct why why = {.job = id};
    uint64_t client = world_send(world, MSG_WHY, &why);
    return world_answer(world, client, MSG_WHY_REPLY, arena);
}

struct world_run *world_run_of(struct world *world, uint32_t job_id) {
    struct world_run *latest = NULL;
    vec_each (&world->runs, run) {
        if (run->job_id == job_id)
            latest = run;
    }
    return latest;
}

void world_script_ends(struct world *world, uint32_t job_id, uint32_t exit_status) {
    struct world_run *run = world_run_of(world, job_id);
    assert_non_null(run);
    if (!run->running)
        return;
    run->running = false;
    run->ended = true;
    run->exit_status = exit_status;
    if (world->node_up[run->node])
        report_end(world, run);
    world_turn(world);
}

int world_code(struct world *world, uint64_t client) {
    struct arena arena;
    arena_init(&arena, 0);
    const struct job_results *results = world_answer(world, client, MSG_JOB_RESULTS, &arena);
    const struct reply_error *error = world_answer(world, client, MSG_ERROR, &arena);
    int code = error != NULL ? (int) error->code : 0;
    if (results != NULL && results->items.n > 0)
        code = (int) results->items.items[0].code;
    arena_done(&arena);
    return code;
}

int world_sacctmgr(struct world *world, const char *line) {
    struct assoc_change change;
    struct arena arena;
    arena_init(&arena, 0);
    change_line_read(line, &arena, &change);
    change.commit = true;
    uint32_t uid = world->uid;
    world->uid = 0;
    uint64_t client = world_send(world, MSG_ASSOC_CHANGE, &change);
    world->uid = uid;
    const struct assoc_changed *changed = world_answer(world, client, MSG_ASSOC_CHANGED, &arena);
    const struct reply_error *error = world_answer(world, client, MSG_ERROR, &arena);
    assert_true(changed != NULL || error != NULL);
    int code = error != NULL ? (int) error->code : changed->text == NULL ? -1 : 0;
    arena_done(&arena);
    world_turn(world);
    return code;
}

void world_book(struct world *world, const char *line) {
    int code = world_sacctmgr(world, line);
    if (code != 0)
        fail_msg("sacctmgr %s: %d", line, code);
}

int world_kill(struct world *world, const char *id) {
    char *ids[] = {(char *) (uintptr_t) id};
    struct job_select select;
    struct job_kill kill;
    record_init(&record_job_select, &select);
    record_init(&record_job_kill, &kill);
    select.ids = (struct strs) {ids, 1};
    kill.select = &select;
    return world_code(world, world_send(world, MSG_JOB_KILL, &kill));
}

int world_verb(struct world *world, uint32_t verb, const char *id) {
    char *ids[] = {(char *) (uintptr_t) id};
    struct job_select select;
    struct job_verb_request request;
    record_init(&record_job_select, &select);
    record_init(&record_job_verb_request, &request);
    select.ids = (struct strs) {ids, 1};
    request.select = &select;
    request.verb = verb;
    return world_code(world, world_send(world, MSG_JOB_VERB, &request));
}

int world_update(struct world *world, const char *entity, const char *target, const char *key,
                 const char *value) {
    struct key_value change = {(char *) (uintptr_t) key, (char *) (uintptr_t) value};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) (uintptr_t) entity;
    update.target = (char *) (uintptr_t) target;
    update.changes.items = &change;
    update.changes.n = 1;
    return world_code(world, world_send(world, MSG_UPDATE, &update));
}

/* ---- invariants ---- */

struct usage_check {
    struct world *world;
    uint32_t cpus[WORLD_NODES_MAX];
    uint64_t mem[WORLD_NODES_MAX];
    uint64_t cores[WORLD_NODES_MAX]; /* bit per core */
};

static void check_cores(struct usage_check *check, uint32_t node, const struct job_node *entry) {
    struct idset set = IDSET_INIT;
    uint32_t id = 0;
    if (entry->cores == NULL || entry->cores[0] == '\0')
        return;
    assert_int_equal(idset_parse(&set, entry->cores, 63, NULL, NULL), 0);
    for (bool more = idset_next(&set, 0, &id); more; more = idset_next(&set, id + 1, &id)) {
        if ((check->cores[node] >> id & 1) && !check->world->shares)
            fail_msg("core %u of node %u is given twice", id, node);
        check->cores[node] |= (uint64_t) 1 << id;
    }
    idset_done(&set);
}

static void check_frame(void *context, uint16_t type, struct bytes body, bool last) {
    struct usage_check *check = context;
    struct job_list list;
    struct error err = ERROR_INIT;
    struct arena arena;
    arena_init(&arena, 0);
    assert_int_equal(wire_decode(&record_job_list, body, &arena, &list, &err), 0);
    for (uint32_t i = 0; i < list.items.n; i++) {
        const struct job *job = &list.items.items[i];
        bool holds = job->state == JOB_RUNNING || job->state == JOB_SUSPENDED ||
                     (job->flags & JOB_FLAG_COMPLETING);
        if (job->state == JOB_PENDING && !(job->flags & JOB_FLAG_COMPLETING))
            assert_int_equal(job->allocation.n, 0);
        for (uint32_t k = 0; holds && k < job_n_entries(job); k++) {
            const struct job_node *entry = job_entry(job, k);
            uint32_t node = core_node_find(check->world->core, entry->name);
            if (entry->released || node == UINT32_MAX)
                continue;
            check->mem[node] += entry->mem;
            if (job->cpus_given)
                continue; /* its CPUs are for others */
            check->cpus[node] += entry->cpus;
            check_cores(check, node, entry);
        }
    }
    arena_done(&arena);
}

void world_check(struct world *world) {
    struct core_user root = {.name = "root", .group = "root"};
    struct list_request request;
    struct error err = ERROR_INIT;
    struct usage_check check = {.world = world};
    record_init(&record_list_request, &request);
    request.all = true;
    assert_int_equal(core_list(world->core, world->now, MSG_LIST_JOBS, &root, &request, check_frame,
                               &check, &err),
                     0);
    for (uint32_t i = 0; i < world->n_nodes; i++) {
        const struct node *node = core_node(world->core, i);
        assert_int_equal(world->shares ? min_of(check.cpus[i], node->cpus) : check.cpus[i],
                         node->alloc_cpus);
        assert_int_equal(check.mem[i], node->alloc_mem);
        assert_true(check.cpus[i] <= node->cpus || world->shares);
        assert_true(check.mem[i] <= node->memory);
    }
}
