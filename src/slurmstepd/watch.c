/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Those who look at a step beside its srun (sattach). They never hold it up: who reads too slowly
 * is told how much has been left out. Their input joins srun's; its end is not the end of input.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "slurmstepd/stepd.h"

#define WATCHERS_MAX 16
#define QUEUE_HIGH (4u << 20) /* bytes queued for one: what comes now is left out */
#define QUEUE_LOW (256u << 10)
#define INPUT_HIGH (1u << 20)   /* bytes that a task has not read: no more input is taken */
#define FAREWELL_USEC 10000000u /* for the last bytes, after the end of the step */
#define SILENCE_SECONDS 60

struct watcher {
    struct list in_stepd;
    struct stepd *stepd;
    struct rpc_conn *conn;
    bool skips, is_paused;
    uint64_t skipped;  /* bytes */
    uint64_t received; /* bytes of input */
};

static void on_input(struct watcher *watcher, const struct step_io *io) {
    struct step_io taken, input = *io;

    watcher->received += io->data.size;
    input.eof = false;
    if (input.data.size > 0)
        stream_input(watcher->stepd, &input);
    record_init(&record_step_io, &taken);
    taken.taken = watcher->received;
    rpc_conn_tell(watcher->conn, MSG_STEP_IO, 0, 0, &taken);
    watcher->is_paused = stream_input_pending(watcher->stepd) > INPUT_HIGH;
    rpc_conn_pause(watcher->conn, watcher->is_paused);
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct watcher *watcher = context;
    struct arena arena;
    struct step_io io;

    arena_init(&arena, RPC_FRAME_MAX * 2ull);
    if (message->type == MSG_STEP_IO &&
        wire_decode(&record_step_io, message->body, &arena, &io, NULL) == 0 && io.stream == 0)
        on_input(watcher, &io);
    arena_done(&arena);
}

static void on_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct watcher *watcher = context;
    struct stepd *stepd = watcher->stepd;

    list_remove(&watcher->in_stepd);
    free(watcher);
    stepd_leave(stepd);
}

static const struct rpc_handlers handlers = {.message = on_message, .closed = on_closed};

static void tell_skipped(struct watcher *watcher) {
    cleanup_str struct str text = STR_INIT;
    struct step_io io;

    str_printf(&text, "slurmstepd: %llu bytes of output were left out here: too slow a reader\n",
               (unsigned long long) watcher->skipped);
    watcher->skips = false;
    watcher->skipped = 0;
    record_init(&record_step_io, &io);
    io.rank = UNSET32;
    io.stream = 2;
    io.data = (struct blob) {(uint8_t *) text.data, text.length};
    rpc_conn_tell(watcher->conn, MSG_STEP_IO, 0, 0, &io);
}

static void on_drained(struct rpc_conn *conn, void *context) {
    struct watcher *watcher = context;

    if (watcher->skips)
        tell_skipped(watcher);
}

static void on_farewell_over(void *context) {
    struct stepd *stepd = context;

    if (stepd->forgotten && !stepd->srun && !stepd->stuck)
        loop_stop(stepd->loop, 0);
}

void watch_send(struct stepd *stepd, uint16_t type, uint16_t flags, struct bytes body) {
    list_each (&stepd->watchers, node) {
        struct watcher *watcher = list_entry(node, struct watcher, in_stepd);
        if (type == MSG_STEP_IO && watcher->skips) {
            watcher->skipped += body.size;
            continue;
        }
        if (type == MSG_STEP_FINISHED && watcher->skips)
            tell_skipped(watcher);
        rpc_conn_send(watcher->conn, type, flags, 0, body);
        if (!watcher->skips && rpc_conn_queued(watcher->conn) > QUEUE_HIGH) {
            watcher->skips = true;
            rpc_conn_on_drained(watcher->conn, QUEUE_LOW, on_drained);
        }
    }
    if (type == MSG_STEP_FINISHED && !watch_is_over(stepd)) {
        struct loop_timer *timer = loop_timer_add(stepd->loop, on_farewell_over, stepd);
        loop_timer_set(timer, loop_monotonic_usec() + FAREWELL_USEC);
    }
}

void watch_go_on(struct stepd *stepd) {
    if (list_is_empty(&stepd->watchers) || stream_input_pending(stepd) > INPUT_HIGH / 2)
        return;
    list_each (&stepd->watchers, node) {
        struct watcher *watcher = list_entry(node, struct watcher, in_stepd);
        if (watcher->is_paused)
            rpc_conn_pause(watcher->conn, false);
        watcher->is_paused = false;
    }
}

bool watch_is_over(const struct stepd *stepd) {
    return list_is_empty(&stepd->watchers);
}

static size_t count(const struct stepd *stepd) {
    size_t n = 0;

    list_each (&stepd->watchers, node)
        n++;
    return n;
}

static void tell_exited(struct watcher *watcher) {
    struct stepd *stepd = watcher->stepd;

    for (size_t i = 0; i < stepd->n_tasks; i++) {
        struct task *task = &stepd->tasks[i];
        uint32_t rank = task->rank, status = (uint32_t) task->status;
        struct step_tasks tasks = {
            .ranks = {&rank, 1}, .exit_status = {&status, 1}, .oom = task->is_oom};
        if (task->is_told)
            rpc_conn_tell(watcher->conn, MSG_STEP_EXITED, 0, 0, &tasks);
    }
}

void watch_add(struct stepd *stepd, int fd, const struct step_watcher *request) {
    struct bytes state = {request->channel.data, request->channel.size};
    struct watcher *watcher;
    struct step_tasks tasks;

    if (fd < 0)
        return;
    watcher = zalloc(struct watcher);
    watcher->stepd = stepd;
    if (!stepd->step || stepd->is_extern || stepd->state == STEPD_ENDED ||
        count(stepd) >= WATCHERS_MAX ||
        rpc_conn_adopt(stepd->loop, fd, state, &handlers, watcher, &watcher->conn, NULL) < 0) {
        close(fd);
        free(watcher);
        return;
    }
    rpc_conn_limit_silence(watcher->conn, SILENCE_SECONDS);
    list_append(&stepd->watchers, &watcher->in_stepd);
    srun_fill_started(stepd, &tasks);
    rpc_conn_tell(watcher->conn, MSG_STEP_STARTED, 0, 0, &tasks);
    tell_exited(watcher);
}
