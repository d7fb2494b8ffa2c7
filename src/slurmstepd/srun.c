/* SPDX-License-Identifier: Apache-2.0 */
/* The connection to the srun that asked for this step. When it ends before the step does nobody is
 * left to read output or to report to, and the step is ended. */
#include <signal.h>
#include <unistd.h>

#include "slurmstepd/stepd.h"

#define SRUN_SILENCE_SECONDS 60 /* of an unreachable srun: then the step ends */

static void on_control(struct stepd *stepd, const struct step_control *control) {
    if (control->pty_rows)
        stream_resize(stepd, control->pty_rows, control->pty_cols);
    if (control->terminate) {
        stepd_terminate(stepd, control->signal == SIGTERM ? stepd->order.kill_wait : 0,
                        control->message);
    } else if (control->signal) {
        struct step_command command = {
            .kind = STEP_COMMAND_SIGNAL, .signal = control->signal, .message = control->message};
        stepd_command(stepd, &command);
    }
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct stepd *stepd = context;
    struct arena arena;
    struct step_io io;
    struct step_control control;
    struct step_exchange exchange;
    struct step_x11 x11;

    arena_init(&arena, RPC_FRAME_MAX * 2ull);
    if (message->type == MSG_STEP_IO &&
        wire_decode(&record_step_io, message->body, &arena, &io, NULL) == 0) {
        stepd->stdin_received += io.stream == 0 ? io.data.size : 0;
        stream_input(stepd, &io);
    } else if (message->type == MSG_STEP_CONTROL &&
               wire_decode(&record_step_control, message->body, &arena, &control, NULL) == 0) {
        on_control(stepd, &control);
    } else if (message->type == MSG_STEP_EXCHANGE &&
               wire_decode(&record_step_exchange, message->body, &arena, &exchange, NULL) == 0) {
        mpi_exchange(stepd, &exchange);
    } else if (message->type == MSG_STEP_X11 &&
               wire_decode(&record_step_x11, message->body, &arena, &x11, NULL) == 0) {
        x11_message(stepd, &x11);
    }
    arena_done(&arena);
}

static void on_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct stepd *stepd = context;
    struct step_io end = {.stream = 0, .eof = true, .all = true};

    stepd->srun = NULL;
    if (stepd->state == STEPD_ENDED) {
        stepd_leave(stepd);
        return;
    }
    if (stepd->has_pty)
        stream_hang_up(stepd);
    else
        stream_input(stepd, &end);
    stepd_terminate(stepd, stepd->order.kill_wait, NULL);
}

static const struct rpc_handlers srun_handlers = {.message = on_message, .closed = on_closed};

int srun_adopt(struct stepd *stepd, int fd, struct error *err) {
    struct bytes state = {stepd->order.channel.data, stepd->order.channel.size};

    int r = rpc_conn_adopt(stepd->loop, fd, state, &srun_handlers, stepd, &stepd->srun, err);
    if (r == 0)
        rpc_conn_limit_silence(stepd->srun, SRUN_SILENCE_SECONDS);
    return r;
}

void srun_send(struct stepd *stepd, uint16_t type, uint16_t flags, const void *object) {
    if (stepd->srun)
        rpc_conn_tell(stepd->srun, type, flags, 0, object);
}

void srun_tell(struct stepd *stepd, uint16_t type, uint16_t flags, const void *object) {
    cleanup_str struct str body = STR_INIT;

    if (!stepd->srun && list_is_empty(&stepd->watchers))
        return;
    wire_encode(message_record(type), object, NULL, &body);
    if (stepd->srun)
        rpc_conn_send(stepd->srun, type, flags, 0, str_bytes(&body));
    watch_send(stepd, type, flags, str_bytes(&body));
}

void srun_fill_started(struct stepd *stepd, struct step_tasks *tasks) {
    uint32_t *ranks = arena_alloc(&stepd->arena, stepd->n_tasks * sizeof(*ranks));
    uint32_t *pids = arena_alloc(&stepd->arena, stepd->n_tasks * sizeof(*pids));

    record_init(&record_step_tasks, tasks);
    for (size_t i = 0; i < stepd->n_tasks; i++) {
        ranks[i] = stepd->tasks[i].rank;
        pids[i] = (uint32_t) stepd->tasks[i].pid;
    }
    tasks->node_name = stepd->order.node_name;
    tasks->ranks.items = ranks;
    tasks->pids.items = pids;
    tasks->ranks.n = tasks->pids.n = (uint32_t) stepd->n_tasks;
}

void srun_tell_started(struct stepd *stepd) {
    struct step_tasks tasks;

    if (!stepd->srun)
        return;
    srun_fill_started(stepd, &tasks);
    srun_send(stepd, MSG_STEP_STARTED, 0, &tasks);
}

static void tell_exits_like(struct stepd *stepd, bool oom) {
    vec(uint32_t) ranks = {0}, statuses = {0};
    struct step_tasks tasks;

    for (size_t i = 0; i < stepd->n_tasks; i++) {
        struct task *task = &stepd->tasks[i];
        if (!task->has_exited || task->is_told || task->is_oom != oom)
            continue;
        task->is_told = true;
        vec_push(&ranks, task->rank);
        vec_push(&statuses, (uint32_t) task->status);
    }
    record_init(&record_step_tasks, &tasks);
    tasks.node_name = stepd->order.node_name;
    tasks.oom = oom;
    tasks.ranks.items = ranks.items;
    tasks.exit_status.items = statuses.items;
    tasks.ranks.n = tasks.exit_status.n = (uint32_t) ranks.n;
    if (ranks.n > 0)
        srun_tell(stepd, MSG_STEP_EXITED, 0, &tasks);
    vec_done(&ranks);
    vec_done(&statuses);
}

void srun_tell_ending(struct stepd *stepd) {
    struct step_control control;

    record_init(&record_step_control, &control);
    control.terminate = true;
    srun_send(stepd, MSG_STEP_CONTROL, 0, &control);
}

void srun_tell_exits(struct stepd *stepd) {
    if (!stepd->srun && list_is_empty(&stepd->watchers))
        return;
    tell_exits_like(stepd, false);
    tell_exits_like(stepd, true);
}

void srun_tell_finished(struct stepd *stepd) {
    if (stepd->srun_is_told)
        return;
    stepd->srun_is_told = true;
    /* srun closes when it has read this; until then its output may be waiting for a slow reader. */
    srun_tell(stepd, MSG_STEP_FINISHED, RPC_LAST, &stepd->done);
}

void srun_tell_failed(struct stepd *stepd, const struct error *why) {
    struct step_tasks tasks;

    record_init(&record_step_tasks, &tasks);
    tasks.node_name = stepd->order.node_name;
    tasks.code = (uint32_t) -why->code;
    tasks.detail = (char *) (uintptr_t) why->text;
    srun_send(stepd, MSG_STEP_STARTED, 0, &tasks);
}
