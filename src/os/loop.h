/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of every process: descriptors (epoll), timers (one heap), signals (signalfd),
 * children (pidfd), and "posts" from other threads (eventfd). Single-threaded except loop_post().
 * Work that blocks (libmunge, name service) goes to two threads by loop_work().
 * Callbacks run to completion in a stable order: descriptors by readiness, then due timers, then
 * posts, then the `turn` hook once per turn, which is where a daemon commits its effects.
 */
#ifndef SLUICE_OS_LOOP_H
#define SLUICE_OS_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/list.h"

struct loop;
struct loop_fd;
struct loop_timer;

must_check int loop_new(struct loop **ret, struct error *err);
/* First remove all watches and timers. Waits for running loop_work(), then runs what was posted and
 * has not run yet, so that no context is lost; NULL is ignored. */
void loop_free(struct loop *loop);
/* Runs until loop_stop(); returns the code given there or a negative error. */
must_check int loop_run(struct loop *loop, struct error *err);
void loop_stop(struct loop *loop, int code);

/* Watches fd for EPOLLIN/EPOLLOUT/... (level-triggered). The descriptor stays the caller's, who
 * removes the watch before closing it. The handle is freed by loop_fd_remove(), which may be called
 * from any callback, also for a handle with a pending event. A regular file, which epoll refuses,
 * counts as always ready. */
must_check int loop_fd_add(struct loop *loop, int fd, uint32_t events,
                           void (*fn)(uint32_t events, void *context), void *context,
                           struct loop_fd **ret, struct error *err);
void loop_fd_events(struct loop_fd *watch, uint32_t events);
void loop_fd_remove(struct loop_fd *watch); /* NULL is ignored */

/* One-shot timer at a CLOCK_MONOTONIC time in microseconds; re-arm with loop_timer_set (0 = off).
 */
struct loop_timer *loop_timer_add(struct loop *loop, void (*fn)(void *context), void *context);
void loop_timer_set(struct loop_timer *timer, uint64_t monotonic_usec);
void loop_timer_free(struct loop_timer *timer); /* NULL is ignored */

/* Blocks the signal in the calling thread and delivers it here: call before threads are started.
 * siginfo is a struct signalfd_siginfo. A second call for the same signal replaces the first. */
must_check int loop_signal(struct loop *loop, int signal,
                           void (*fn)(int signal, const void *siginfo, void *context),
                           void *context, struct error *err);
/* Calls fn once with the wait status (as waitpid) when the child ends; reaps it. The status is -1
 * when the process was not our child. There is no way to take the watch back. */
must_check int loop_child(struct loop *loop, pid_t pid,
                          void (*fn)(pid_t pid, int status, void *context), void *context,
                          struct error *err);
/* From any thread: fn runs in the loop's thread, in the order of posting. A post made by a post
 * runs in the next turn. The context must live until then. */
void loop_post(struct loop *loop, void (*fn)(void *context), void *context);
/* Runs work(context) in one of the loop's worker threads and then done(context) in the loop's. The
 * threads start with the first call and have all signals blocked. loop_free() waits for both. */
void loop_work(struct loop *loop, void (*work)(void *context), void (*done)(void *context),
               void *context);
/* For what lives on in the background without an owner: fn runs in loop_free(), unless the link has
 * been removed (list_remove) before. The struct is the caller's. */
struct loop_end {
    struct list link;
    void (*fn)(void *context);
    void *context;
};
void loop_at_free(struct loop *loop, struct loop_end *end);
/* Called at the end of each turn that ran at least one callback. */
void loop_turn_hook(struct loop *loop, void (*fn)(void *context), void *context);

uint64_t loop_monotonic_usec(void);
uint64_t loop_realtime_usec(void);

#endif
