/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The n-th send or receive over a connection fails, for n = 1, 2, 3 …: either all frames arrive in
 * order, or both sides see an error; a frame never arrives changed, twice or out of order. And the
 * n-th fork or write of a start fails: the caller learns of it and no process is left.
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "inject.h"
#include "os/frame.h"
#include "os/spawn.h"

#define FRAMES 60

struct link {
    int fds[2];
    struct frame_out out;
    struct frame_in in;
    uint32_t n_received;
    int sender, receiver; /* their errors */
};

static void link_open(struct link *l) {
    *l = (struct link) {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, l->fds), 0);
    int small = 4096;
    setsockopt(l->fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    frame_out_init(&l->out);
    frame_in_init(&l->in, 10000);
    for (uint32_t i = 0; i < FRAMES; i++) {
        size_t size = 4 + i * 131 % 5000;
        uint8_t *at = frame_out_add(&l->out, size);
        memset(at, (int) i, size);
        memcpy(at, &i, 4);
    }
}

static void link_close(struct link *l) {
    frame_in_done(&l->in);
    frame_out_done(&l->out);
    close(l->fds[0]);
    close(l->fds[1]);
}

static void take_frames(struct link *l) {
    struct error err = ERROR_INIT;
    struct bytes frame;
    int r;
    while ((r = frame_in_next(&l->in, &frame, &err)) == 1) {
        uint32_t number;
        memcpy(&number, frame.data, 4);
        assert_int_equal(number, l->n_received);
        assert_int_equal(frame.size, 4 + number * 131 % 5000);
        for (size_t i = 4; i < frame.size; i++)
            assert_int_equal(frame.data[i], number & 0xff);
        l->n_received++;
    }
    assert_int_equal(r, 0);
}

static void link_run(struct link *l) {
    struct error err = ERROR_INIT;
    while (l->sender == 0 && l->receiver == 0 && l->n_received < FRAMES) {
        int r = frame_out_flush(&l->out, l->fds[0], &err);
        if (r < 0)
            l->sender = r;
        r = frame_in_read(&l->in, l->fds[1], &err);
        if (r < 0)
            l->receiver = r;
        take_frames(l);
    }
}

static void run_all(unsigned calls, int errnum, bool is_harmless) {
    unsigned n = 1;
    bool has_failed = true;
    for (; has_failed; n++) {
        struct link l;
        link_open(&l);
        inject_arm(calls, n, errnum, false);
        link_run(&l);
        has_failed = inject_disarm();
        bool is_complete = l.n_received == FRAMES;
        assert_true(is_complete || l.sender < 0 || l.receiver < 0);
        if (is_harmless || !has_failed)
            assert_true(is_complete);
        link_close(&l);
    }
    assert_true(n > 10);
}

TEST(an_interrupted_or_blocked_call_is_repeated) {
    run_all(INJECT_WRITE, EINTR, true);
    run_all(INJECT_READ, EINTR, true);
    run_all(INJECT_WRITE, EAGAIN, true);
    run_all(INJECT_READ, EAGAIN, true);
}

TEST(a_broken_connection_is_an_error_and_no_frame_is_damaged) {
    run_all(INJECT_WRITE, ECONNRESET, false);
    run_all(INJECT_READ, ECONNRESET, false);
    run_all(INJECT_WRITE, ENOBUFS, false);
}

TEST(a_fork_that_fails_is_reported_and_leaves_no_process) {
    char *argv[] = {(char *) "true", NULL};
    char *envp[] = {NULL};
    struct spawn spec = {.path = "/bin/true",
                         .argv = argv,
                         .envp = envp,
                         .stdin_fd = -1,
                         .stdout_fd = -1,
                         .stderr_fd = -1};
    struct spawn_held held;
    struct error err = ERROR_INIT;
    inject_arm(INJECT_FORK, 1, EAGAIN, false);
    assert_int_equal(spawn_hold(&spec, &held, &err), -ERR_SYSTEM);
    assert_true(inject_disarm());
    assert_non_null(strstr(err.text, "limit of processes"));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(spawn_hold(&spec, &held, &err), 0);
    assert_int_equal(spawn_release(&held, NULL, &err), 0);
    waitpid(held.pid, NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interrupted_or_blocked_call_is_repeated),
        cmocka_unit_test(a_broken_connection_is_an_error_and_no_frame_is_damaged),
        cmocka_unit_test(a_fork_that_fails_is_reported_and_leaves_no_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
