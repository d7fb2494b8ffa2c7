/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

uint32_t steps_salloc(struct world *world, uint32_t nodes, uint32_t ntasks, const char *gres) {
    struct job_request request;
    struct submit submit;
    struct arena arena;
    world_request(&request);
    request.kind = JOB_KIND_SALLOC;
    request.script = (struct blob) {NULL, 0};
    request.min_nodes = request.max_nodes = nodes;
    request.ntasks = ntasks;
    request.tres_per_node = (char *) (uintptr_t) gres;
    record_init(&record_submit, &submit);
    submit.job = &request;
    uint64_t client = world_send(world, MSG_SUBMIT, &submit);
    arena_init(&arena, 0);
    const struct alloc_granted *granted = world_answer(world, client, MSG_ALLOC_GRANTED, &arena);
    assert_non_null(granted);
    uint32_t id = granted->job->job_id;
    arena_done(&arena);
    return id;
}

void steps_request(struct step_request *request, uint32_t job_id, uint32_t ntasks) {
    record_init(&record_step_request, request);
    request->job_id = job_id;
    request->name = (char *) (uintptr_t) "step";
    request->ntasks = ntasks;
}

void steps_answer(struct world *world, struct step_answer *answer) {
    const struct step_reply *reply =
        world_answer(world, answer->client, MSG_STEP_REPLY, &answer->arena);
    const struct reply_error *error =
        world_answer(world, answer->client, MSG_ERROR, &answer->arena);
    answer->code = error != NULL ? (int) error->code : 0;
    answer->detail = error != NULL && error->detail != NULL ? error->detail : "";
    answer->waiting = reply != NULL && reply->waiting;
    answer->layout = reply != NULL ? reply->layout : NULL;
}

void steps_create(struct world *world, const struct step_request *request,
                  struct step_answer *ret) {
    memset(ret, 0, sizeof(*ret));
    arena_init(&ret->arena, 0);
    ret->client = world_send(world, MSG_STEP_CREATE, request);
    steps_answer(world, ret);
    assert_true(ret->code != 0 || ret->waiting || ret->layout != NULL);
}

void steps_done(struct step_answer *answer) {
    arena_done(&answer->arena);
}

uint32_t steps_run(struct world *world, const struct step_request *request) {
    struct step_answer answer;
    steps_create(world, request, &answer);
    if (answer.layout == NULL)
        fail_msg("no step: %d %s", answer.code, answer.waiting ? "waiting" : answer.detail);
    uint32_t id = answer.layout->step_id;
    steps_done(&answer);
    return id;
}

void steps_end_on(struct world *world, uint32_t node, uint32_t job_id, uint32_t step_id,
                  uint32_t exit_status) {
    struct job job;
    assert_true(world_look(world, job_id, &job));
    struct step_done done;
    record_init(&record_step_done, &done);
    done.job_id = job_id;
    done.step_id = step_id;
    done.attempt = job.attempt;
    done.exit_status = exit_status;
    done.end_time = world->now;
    core_node_message(world->core, world->now, node, MSG_STEP_DONE, &done, &world->effects);
    world_turn(world);
}

void steps_end(struct world *world, uint32_t job_id, uint32_t step_id, uint32_t exit_status) {
    struct step step;
    assert_true(steps_look(world, job_id, step_id, &step));
    uint32_t nodes[WORLD_NODES_MAX], n = step.allocation.n;
    for (uint32_t i = 0; i < n; i++)
        nodes[i] = core_node_find(world->core, step.allocation.items[i].name);
    for (uint32_t i = 0; i < n; i++)
        steps_end_on(world, nodes[i], job_id, step_id, exit_status);
}

struct step_look {
    struct arena *arena;
    uint32_t job_id, step_id;
    struct step *ret;
    bool found;
};

static void look_frame(void *context, uint16_t type, struct bytes body, bool last) {
    struct step_look *look = context;
    struct step_list list;
    struct error err = ERROR_INIT;
    assert_int_equal(wire_decode(&record_step_list, body, look->arena, &list, &err), 0);
    for (uint32_t i = 0; i < list.items.n; i++) {
        const struct step *step = &list.items.items[i];
        if (step->job_id != look->job_id || step->step_id != look->step_id)
            continue;
        *look->ret = *step;
        look->found = true;
    }
}

bool steps_look(struct world *world, uint32_t job_id, uint32_t step_id, struct step *ret) {
    static struct arena arena; /* members live until the next look */
    struct core_user root = {.name = "root", .group = "root"};
    struct list_request request;
    struct error err = ERROR_INIT;
    char id[16], *ids[] = {id};
    struct step_look look = {&arena, job_id, step_id, ret, false};
    arena_done(&arena);
    snprintf(id, sizeof(id), "%u", job_id);
    record_init(&record_list_request, &request);
    request.all = true;
    request.job_ids = (struct strs) {ids, 1};
    if (core_list(world->core, world->now, MSG_LIST_STEPS, &root, &request, look_frame, &look,
                  &err) < 0)
        fail_msg("%s", err.text);
    return look.found;
}
