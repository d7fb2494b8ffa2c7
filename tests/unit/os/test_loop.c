/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "os/loop.h"

struct fixture {
    struct loop *loop;
    struct str trace;
    struct loop_fd *watch, *other;
    struct loop_timer *timer, *timer2;
    int pipe[2], pipe2[2];
    int count;
};

static void setup(struct fixture *f) {
    *f = (struct fixture) {0};
    struct error err = ERROR_INIT;
    assert_int_equal(loop_new(&f->loop, &err), 0);
    assert_int_equal(pipe(f->pipe), 0);
    assert_int_equal(pipe(f->pipe2), 0);
}

static void teardown(struct fixture *f) {
    for (int i = 0; i < 2; i++) {
        close(f->pipe[i]);
        close(f->pipe2[i]);
    }
    loop_free(f->loop);
    str_done(&f->trace);
}

static int run(struct fixture *f) {
    struct error err = ERROR_INIT;
    int r = loop_run(f->loop, &err);
    assert_string_equal(err.text, "");
    return r;
}

static void stop_now(void *context) {
    struct fixture *f = context;
    str_append(&f->trace, "stop ");
    loop_stop(f->loop, 7);
}

TEST(loop_run_returns_the_code_given_to_loop_stop) {
    struct fixture f;
    setup(&f);
    loop_post(f.loop, stop_now, &f);
    assert_int_equal(run(&f), 7);
    teardown(&f);
}

static void on_readable(uint32_t events, void *context) {
    struct fixture *f = context;
    char c;
    assert_true(events & EPOLLIN);
    assert_int_equal(read(f->pipe[0], &c, 1), 1);
    str_append(&f->trace, "fd ");
    loop_post(f->loop, stop_now, f);
}

static void on_due(void *context) {
    struct fixture *f = context;
    str_append(&f->trace, "timer ");
}

static void on_turn(void *context) {
    struct fixture *f = context;
    str_append(&f->trace, "turn ");
}

TEST(a_turn_runs_descriptors_then_timers_then_posts_then_the_hook) {
    struct fixture f;
    setup(&f);
    struct error err = ERROR_INIT;
    assert_int_equal(loop_fd_add(f.loop, f.pipe[0], EPOLLIN, on_readable, &f, &f.watch, &err), 0);
    f.timer = loop_timer_add(f.loop, on_due, &f);
    loop_timer_set(f.timer, 1);
    loop_turn_hook(f.loop, on_turn, &f);
    assert_int_equal(write(f.pipe[1], "x", 1), 1);
    run(&f);
    assert_string_equal(str_cstr(&f.trace), "fd timer stop turn ");
    loop_fd_remove(f.watch);
    loop_timer_free(f.timer);
    teardown(&f);
}

static void remove_both(uint32_t events, void *context) {
    struct fixture *f = context;
    f->count++;
    loop_fd_remove(f->watch);
    loop_fd_remove(f->other);
    loop_post(f->loop, stop_now, f);
}

TEST(a_watch_removed_by_another_callback_of_the_same_turn_is_not_called) {
    struct fixture f;
    setup(&f);
    struct error err = ERROR_INIT;
    assert_int_equal(loop_fd_add(f.loop, f.pipe[0], EPOLLIN, remove_both, &f, &f.watch, &err), 0);
    assert_int_equal(loop_fd_add(f.loop, f.pipe2[0], EPOLLIN, remove_both, &f, &f.other, &err), 0);
    assert_int_equal(write(f.pipe[1], "x", 1), 1);
    assert_int_equal(write(f.pipe2[1], "x", 1), 1);
    run(&f);
    assert_int_equal(f.count, 1);
    teardown(&f);
}

static void on_file(uint32_t events, void *context) {
    struct fixture *f = context;
    if (++f->count == 3) {
        loop_fd_events(f->watch, 0);
        loop_post(f->loop, stop_now, f);
    }
}

TEST(a_regular_file_is_always_ready) {
    struct fixture f;
    setup(&f);
    struct error err = ERROR_INIT;
    int fd = open("/proc/self/exe", O_RDONLY);
    assert_int_equal(loop_fd_add(f.loop, fd, EPOLLIN, on_file, &f, &f.watch, &err), 0);
    run(&f);
    assert_int_equal(f.count, 3);
    loop_fd_remove(f.watch);
    close(fd);
    teardown(&f);
}

static void rearm(void *context) {
    struct fixture *f = context;
    if (++f->count < 5)
        loop_timer_set(f->timer, loop_monotonic_usec()); /* due at once */
    else
        loop_stop(f->loop, 0);
}

TEST(a_timer_that_rearms_itself_for_now_does_not_hold_the_turn) {
    struct fixture f;
    setup(&f);
    f.timer = loop_timer_add(f.loop, rearm, &f);
    loop_timer_set(f.timer, 1);
    loop_turn_hook(f.loop, on_turn, &f);
    run(&f);
    assert_string_equal(str_cstr(&f.trace), "turn turn turn turn turn ");
    loop_timer_free(f.timer);
    teardown(&f);
}

static void first_timer(void *context) {
    struct fixture *f = context;
    str_append(&f->trace, "first ");
}

static void second_timer(void *context) {
    struct fixture *f = context;
    str_append(&f->trace, "second ");
    loop_stop(f->loop, 0);
}

TEST(timers_run_in_the_order_of_their_times_and_not_early) {
    struct fixture f;
    setup(&f);
    uint64_t start = loop_monotonic_usec();
    f.timer = loop_timer_add(f.loop, second_timer, &f);
    f.timer2 = loop_timer_add(f.loop, first_timer, &f);
    loop_timer_set(f.timer, start + 12000);
    loop_timer_set(f.timer2, start + 3500);
    run(&f);
    assert_true(loop_monotonic_usec() - start >= 12000);
    assert_string_equal(str_cstr(&f.trace), "first second ");
    loop_timer_free(f.timer);
    loop_timer_free(f.timer2);
    teardown(&f);
}

static void free_other_timer(void *context) {
    struct fixture *f = context;
    loop_timer_free(f->timer2);
    loop_timer_free(f->timer);
    loop_post(f->loop, stop_now, f);
}

TEST(a_timer_callback_may_free_itself_and_another_due_timer) {
    struct fixture f;
    setup(&f);
    f.timer = loop_timer_add(f.loop, free_other_timer, &f);
    f.timer2 = loop_timer_add(f.loop, on_due, &f);
    loop_timer_set(f.timer, 1);
    loop_timer_set(f.timer2, 2);
    run(&f);
    assert_string_equal(str_cstr(&f.trace), "stop ");
    teardown(&f);
}

static void on_usr1(int signal, const void *siginfo, void *context) {
    struct fixture *f = context;
    const struct signalfd_siginfo *info = siginfo;
    assert_int_equal(signal, SIGUSR1);
    assert_int_equal(info->ssi_pid, getpid());
    loop_stop(f->loop, 3);
}

TEST(a_signal_is_delivered_in_the_loop) {
    struct fixture f;
    setup(&f);
    struct error err = ERROR_INIT;
    assert_int_equal(loop_signal(f.loop, SIGUSR1, on_usr1, &f, &err), 0);
    kill(getpid(), SIGUSR1);
    assert_int_equal(run(&f), 3);
    teardown(&f);
}

static void on_child_end(pid_t pid, int status, void *context) {
    struct fixture *f = context;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    loop_stop(f->loop, 0);
}

TEST(the_status_of_a_child_that_ended_before_it_was_watched_is_delivered) {
    struct fixture f;
    setup(&f);
    struct error err = ERROR_INIT;
    pid_t pid = fork();
    if (pid == 0)
        _exit(42);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(loop_child(f.loop, pid, on_child_end, &f, &err), 0);
    assert_int_equal(run(&f), 0);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), -1); /* reaped */
    teardown(&f);
}

#define POSTS_PER_THREAD 2000

static void count_post(void *context) {
    struct fixture *f = context;
    if (++f->count == 2 * POSTS_PER_THREAD)
        loop_stop(f->loop, 0);
}

static void *post_many(void *argument) {
    struct fixture *f = argument;
    for (int i = 0; i < POSTS_PER_THREAD; i++)
        loop_post(f->loop, count_post, f);
    return NULL;
}

TEST(no_post_from_two_threads_is_lost) {
    struct fixture f;
    setup(&f);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, &f), 0);
    run(&f);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(f.count, 2 * POSTS_PER_THREAD);
    teardown(&f);
}

struct job {
    struct fixture *f;
    pthread_t worker;
    int result;
};

static void job_work(void *context) {
    struct job *job = context;
    job->worker = pthread_self();
    job->result = 5;
}

static void job_done(void *context) {
    struct job *job = context;
    assert_int_equal(job->result, 5);
    assert_false(pthread_equal(job->worker, pthread_self()));
    if (++job->f->count == 8)
        loop_stop(job->f->loop, 0);
}

TEST(work_runs_in_another_thread_and_its_end_in_the_loop) {
    struct fixture f;
    setup(&f);
    struct job jobs[8];
    for (int i = 0; i < 8; i++) {
        jobs[i] = (struct job) {.f = &f};
        loop_work(f.loop, job_work, job_done, &jobs[i]);
    }
    run(&f);
    assert_int_equal(f.count, 8);
    teardown(&f);
}

TEST(freeing_the_loop_finishes_work_and_posts_that_are_under_way) {
    struct fixture f;
    setup(&f);
    struct job job = {.f = &f};
    loop_work(f.loop, job_work, job_done, &job);
    loop_post(f.loop, on_due, &f);
    loop_free(f.loop);
    assert_int_equal(f.count, 1);
    assert_string_equal(str_cstr(&f.trace), "timer ");
    struct error err = ERROR_INIT;
    assert_int_equal(loop_new(&f.loop, &err), 0);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loop_run_returns_the_code_given_to_loop_stop),
        cmocka_unit_test(a_turn_runs_descriptors_then_timers_then_posts_then_the_hook),
        cmocka_unit_test(a_watch_removed_by_another_callback_of_the_same_turn_is_not_called),
        cmocka_unit_test(a_regular_file_is_always_ready),
        cmocka_unit_test(a_timer_that_rearms_itself_for_now_does_not_hold_the_turn),
        cmocka_unit_test(timers_run_in_the_order_of_their_times_and_not_early),
        cmocka_unit_test(a_timer_callback_may_free_itself_and_another_due_timer),
        cmocka_unit_test(a_signal_is_delivered_in_the_loop),
        cmocka_unit_test(the_status_of_a_child_that_ended_before_it_was_watched_is_delivered),
        cmocka_unit_test(no_post_from_two_threads_is_lost),
        cmocka_unit_test(work_runs_in_another_thread_and_its_end_in_the_loop),
        cmocka_unit_test(freeing_the_loop_finishes_work_and_posts_that_are_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
