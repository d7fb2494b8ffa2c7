/* SPDX-License-Identifier: Apache-2.0 */
/* slurmstepd: reads its order from the socket that slurmd left, starts the step, runs the loop. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/sock.h"
#include "slurmstepd/places.h"
#include "slurmstepd/script.h"
#include "slurmstepd/stepd.h"

#define ORDER_USEC 30000000ull

void stepd_name(const struct stepd *stepd, struct str *out) {
    str_append_u64(out, stepd->order.job_id);
    str_append_char(out, '.');
    step_id_print(stepd->order.step_id, out);
}

void stepd_complain(struct stepd *stepd, const char *fmt, ...) {
    cleanup_str struct str line = STR_INIT;
    va_list args;

    str_append(&line, "slurmstepd: error: ");
    va_start(args, fmt);
    str_vprintf(&line, fmt, args);
    va_end(args);
    str_append_char(&line, '\n');
    if (stepd->message_fd >= 0)
        (void) !write(stepd->message_fd, line.data, line.length);
    else
        stream_to_srun(stepd, UNSET32, 2, line.data, line.length, false);
}

/* Waits for the order; *ret_fd is srun's connection or -1. */
static int read_order(struct stepd *stepd, int *ret_fd, struct error *err) {
    uint64_t deadline = loop_monotonic_usec() + ORDER_USEC;
    struct frame_in in;
    struct bytes content;
    struct step_frame_any any;
    enum step_frame type;
    int r;

    frame_in_init(&in, STEP_FRAME_MAX);
    in.takes_fds = true;
    while ((r = frame_in_next(&in, &content, err)) == 0) {
        r = sock_wait(STEP_ORDER_FD, POLLIN, deadline, err);
        if (r == 0)
            r = error_set(err, ERR_TIMEOUT, "slurmd started this process and sent no order.");
        if (r > 0)
            r = frame_in_read(&in, STEP_ORDER_FD, err);
        if (r < 0)
            break;
    }
    if (r > 0)
        r = step_frame_decode(content, &stepd->arena, &type, &any, err);
    if (r == 0 && type != STEP_FRAME_ORDER)
        r = error_set(err, ERR_PROTOCOL, "slurmd sent something else before the order.");
    if (r == 0) {
        stepd->order = any.order;
        *ret_fd = frame_in_take_fd(&in);
    }
    frame_in_done(&in);
    return r;
}

/* Unpacks what is to be run. */
static int read_launch(struct stepd *stepd, struct error *err) {
    const struct step_order *order = &stepd->order;
    struct bytes body;

    if (order->step_id == STEP_EXTERN) /* runs nothing of its own */
        return 0;
    if (order->launch.size > 0) {
        body = (struct bytes) {order->launch.data, order->launch.size};
        stepd->launch = arena_alloc(&stepd->arena, sizeof(*stepd->launch));
        int r = wire_decode(&record_launch, body, &stepd->arena, stepd->launch, err);
        if (r == 0 && !stepd->launch->job)
            r = error_set(err, ERR_PROTOCOL, "The launch message has no job.");
        return r;
    }
    body = (struct bytes) {order->step_launch.data, order->step_launch.size};
    stepd->step = arena_alloc(&stepd->arena, sizeof(*stepd->step));
    if (!order->credential)
        return error_set(err, ERR_PROTOCOL, "The order has no credential.");
    return wire_decode(&record_step_launch, body, &stepd->arena, stepd->step, err);
}

static void on_sigchld(int signal, const void *siginfo, void *context) {
    stepd_children(context);
}

static int prepare_process(struct stepd *stepd, struct error *err) {
    static const int ignored[] = {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

    for (size_t i = 0; i < countof(ignored); i++)
        (void) signal(ignored[i], SIG_IGN);
    /* Orphans of the step come to us, wherever they hide. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return error_errno(err, errno, "prctl(PR_SET_CHILD_SUBREAPER)");
    (void) umask(022);
    return loop_signal(stepd->loop, SIGCHLD, on_sigchld, stepd, err);
}

static int step_begin(struct stepd *stepd, int srun_fd, struct error *err) {
    int r = srun_fd >= 0 ? srun_adopt(stepd, srun_fd, err) : 0;

    if (r == 0)
        r = read_launch(stepd, err);
    if (r == 0 && stepd->order.places && stepd->order.step_id != STEP_EXTERN)
        r = places_enter(stepd->order.places, err); /* before any file of the user is opened */
    if (r == 0)
        r = stepd_start(stepd, err);
    return r;
}

static int stepd_run(struct stepd *stepd, struct error *err) {
    int srun_fd = -1;
    int r = loop_new(&stepd->loop, err);

    if (r == 0)
        r = prepare_process(stepd, err);
    if (r == 0)
        r = read_order(stepd, &srun_fd, err);
    if (r == 0 && stepd->order.file_open.size > 0)
        return bcast_run(stepd, srun_fd, err);
    if (r == 0)
        r = link_open(stepd, STEP_ORDER_FD, err);
    if (r < 0)
        return r;
    stepd->timer = loop_timer_add(stepd->loop, stepd_timer, stepd);
    if (step_begin(stepd, srun_fd, err) < 0) {
        stepd_failed(stepd, err);
    } else {
        stepd->started_usec = loop_monotonic_usec();
        if (stepd->order.credential)
            stepd_limit_time(stepd, stepd->order.credential->time_limit);
        gather_start(stepd);
        link_report(stepd);
        srun_tell_started(stepd);
        stepd_children(stepd); /* a task that could not be executed has exited already */
    }
    return loop_run(stepd->loop, err);
}

int main(int argc, char **argv) {
    static struct stepd stepd = {.message_fd = -1, .listen_fd = -1};
    struct error err = ERROR_INIT;
    struct stat stat;

    if (argc > 1 && str_equal(argv[1], "-V")) {
        printf("slurm " SLUICE_COMPAT_VERSION "\n");
        return 0;
    }
    if (argc > 1 && str_equal(argv[1], "infinity")) {
        for (;;) /* holds slurmd's scope; see src/slurmd/fence_scope.c */
            (void) pause();
    }
    if (argc > 1 && str_equal(argv[1], "script"))
        return script_main(argc, argv);
    if (argc > 1 && str_equal(argv[1], "remove-places"))
        return places_remove_main(argc, argv);
    if (fstat(STEP_ORDER_FD, &stat) < 0 || !S_ISSOCK(stat.st_mode)) {
        fprintf(stderr, "slurmstepd: error: This program is started by slurmd, once a step.\n");
        return 1;
    }
    (void) fcntl(STEP_ORDER_FD, F_SETFD, FD_CLOEXEC);
    (void) close_range(STEP_ORDER_FD + 1, ~0u, 0); /* whatever slurmd was started with */
    (void) !sock_nonblock(STEP_ORDER_FD, true, NULL);
    arena_init(&stepd.arena, 0);
    env_init(&stepd.env, &stepd.arena);
    list_init(&stepd.links);
    list_init(&stepd.watchers);
    int r = stepd_run(&stepd, &err);
    if (r < 0)
        fprintf(stderr, "slurmstepd: error: %s\n", err.text);
    link_close_all(&stepd);
    return r < 0 ? 1 : 0;
}
