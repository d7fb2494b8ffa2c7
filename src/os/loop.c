/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event loop over epoll, signalfd, pidfd, eventfd and a timer heap. Why not sd-event:
 * doc/design/002-own-event-loop.md.
 *
 * Ownership: a handle (loop_fd, loop_timer) belongs to who added it and is freed with the matching
 * remove/free before loop_free(); only the watches that the loop makes for itself (wake-up,
 * signals, children) are freed by loop_free(). A removed descriptor watch stays in memory, marked
 * dead, until the batch of events being dispatched is done, because that batch may still point to
 * it.
 */
#include "os/loop.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/vec.h"

#define EVENTS_PER_TURN 128 /* a turn is short, so that timers and posts are not starved */
#define WORKERS_MAX 2

struct loop_fd {
    struct loop *loop;
    struct list link; /* in loop->always or alone; a dead one stays there until it is freed */
    struct loop_fd *next_dead;
    int fd;
    uint32_t events;
    bool polled; /* known to epoll; false for regular files, which are always ready */
    bool dead;
    void (*fn)(uint32_t events, void *context);
    void *context;
};

struct loop_timer {
    struct loop *loop;
    struct heap_node node;
    void (*fn)(void *context);
    void *context;
};

struct loop_post {
    void (*fn)(void *context);
    void *context;
};
struct post_vec {
    struct loop_post *items;
    size_t n, capacity;
};

struct loop_job {
    struct list link;
    struct loop *loop;
    void (*work)(void *context);
    void (*done)(void *context);
    void *context;
};

struct loop_signal {
    void (*fn)(int signal, const void *siginfo, void *context);
    void *context;
};

struct loop_child {
    struct list link;
    pid_t pid;
    int pidfd;
    struct loop_fd *watch;
    void (*fn)(pid_t pid, int status, void *context);
    void *context;
};

struct loop {
    int epoll_fd;
    int wake_fd;
    struct loop_fd *wake_watch;
    int signal_fd; /* -1 until the first loop_signal() */
    struct loop_fd *signal_watch;
    sigset_t signals;
    struct loop_signal handlers[NSIG];
    struct list children; /* of struct loop_child */
    struct list ends;     /* of struct loop_end */
    struct list always;   /* of struct loop_fd: regular files, ready in every turn */
    struct loop_fd *dead; /* freed at the end of the turn */
    struct heap timers;
    uint64_t timer_order;
    pthread_mutex_t post_lock;
    struct post_vec posts;   /* under post_lock */
    struct post_vec running; /* swapped out of posts; only the loop's thread */
    pthread_mutex_t work_lock;
    pthread_cond_t work_ready;
    struct list jobs; /* of struct loop_job, under work_lock */
    bool work_ends;   /* under work_lock */
    pthread_t workers[WORKERS_MAX];
    unsigned n_workers; /* only the loop's thread */
    unsigned n_idle;    /* under work_lock */
    pthread_t thread;
    bool is_running;
    bool is_stopped;
    int code;
    bool ran_callback; /* in this turn */
    void (*hook)(void *context);
    void *hook_context;
};

uint64_t loop_monotonic_usec(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

uint64_t loop_realtime_usec(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

/* ---- descriptors ---- */

int loop_fd_add(struct loop *loop, int fd, uint32_t events,
                void (*fn)(uint32_t events, void *context), void *context, struct loop_fd **ret,
                struct error *err) {
    assert(loop && fn && ret);
    struct loop_fd *watch = zalloc(struct loop_fd);
    *watch = (struct loop_fd) {
        .loop = loop, .fd = fd, .events = events, .fn = fn, .context = context, .polled = true};
    list_init(&watch->link);
    struct epoll_event event = {.events = events, .data.ptr = watch};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
        int errnum = errno;
        /* EPERM: a regular file or directory. It never blocks, so it counts as ready always; that
         * is what a command with its input redirected from a file needs. */
        if (errnum != EPERM) {
            free(watch);
            return error_errno(err, errnum, "cannot watch descriptor %d%s", fd,
                               errnum == ENOSPC ? " (raise /proc/sys/fs/epoll/max_user_watches)"
                                                : "");
        }
        watch->polled = false;
        list_append(&loop->always, &watch->link);
    }
    *ret = watch;
    return 0;
}

void loop_fd_events(struct loop_fd *watch, uint32_t events) {
    assert(watch && !watch->dead);
    if (watch->events == events)
        return;
    watch->events = events;
    if (!watch->polled)
        return;
    struct epoll_event event = {.events = events, .data.ptr = watch};
    int r = epoll_ctl(watch->loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
    assert(r == 0); /* fails only when the caller closed the descriptor before the watch */
    (void) r;
}

void loop_fd_remove(struct loop_fd *watch) {
    if (!watch)
        return;
    assert(!watch->dead);
    if (watch->polled) {
        struct epoll_event unused = {0};
        epoll_ctl(watch->loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, &unused);
    }
    watch->dead = true;
    watch->next_dead = watch->loop->dead;
    watch->loop->dead = watch;
}

static void free_dead(struct loop *loop) {
    struct loop_fd *watch;
    while ((watch = loop->dead)) {
        loop->dead = watch->next_dead;
        list_remove(&watch->link);
        free(watch);
    }
}

static void dispatch_fd(struct loop *loop, struct loop_fd *watch, uint32_t events) {
    if (watch->dead)
        return;
    /* What an earlier callback of this batch switched off is not delivered any more. */
    events &= watch->events | EPOLLERR | EPOLLHUP;
    if (!events)
        return;
    loop->ran_callback = true;
    watch->fn(events, watch->context);
}

/* ---- timers ---- */

struct loop_timer *loop_timer_add(struct loop *loop, void (*fn)(void *context), void *context) {
    assert(loop && fn);
    struct loop_timer *timer = zalloc(struct loop_timer);
    *timer = (struct loop_timer) {.loop = loop, .fn = fn, .context = context};
    return timer;
}

void loop_timer_set(struct loop_timer *timer, uint64_t monotonic_usec) {
    assert(timer);
    heap_remove(&timer->loop->timers, &timer->node);
    if (monotonic_usec)
        heap_push(&timer->loop->timers, &timer->node,
                  (int64_t) min_of(monotonic_usec, (uint64_t) INT64_MAX),
                  timer->loop->timer_order++);
}

void loop_timer_free(struct loop_timer *timer) {
    if (!timer)
        return;
    heap_remove(&timer->loop->timers, &timer->node);
    free(timer);
}

static void run_timers(struct loop *loop) {
    /* Only those due at the start and armed before it: a timer that re-arms itself for "now" waits
     * for the next turn instead of holding this one for ever. */
    int64_t now = (int64_t) loop_monotonic_usec();
    uint64_t armed_before = loop->timer_order;
    struct heap_node *node;
    while ((node = heap_min(&loop->timers)) && node->key <= now && node->order < armed_before) {
        heap_pop(&loop->timers);
        struct loop_timer *timer = container_of(node, struct loop_timer, node);
        loop->ran_callback = true;
        timer->fn(timer->context); /* may free the timer */
    }
}

/* ---- posts ---- */

static void on_wake(uint32_t events, void *context) {
    struct loop *loop = context;
    uint64_t count;
    ssize_t n = read(loop->wake_fd, &count, sizeof(count)); /* EAGAIN is fine: posts tell */
    (void) n;
}

void loop_post(struct loop *loop, void (*fn)(void *context), void *context) {
    assert(loop && fn);
    pthread_mutex_lock(&loop->post_lock);
    bool was_empty = loop->posts.n == 0;
    vec_push(&loop->posts, ((struct loop_post) {fn, context}));
    /* The loop looks at its posts before it sleeps, so its own thread needs no system call. */
    bool must_wake =
        was_empty && !(loop->is_running && pthread_equal(loop->thread, pthread_self()));
    pthread_mutex_unlock(&loop->post_lock);
    if (must_wake) {
        uint64_t one = 1;
        ssize_t n = write(loop->wake_fd, &one, sizeof(one));
        (void) n; /* EAGAIN: the counter is at its limit, which wakes as well */
    }
}

static bool has_posts(struct loop *loop) {
    pthread_mutex_lock(&loop->post_lock);
    bool has = loop->posts.n > 0;
    pthread_mutex_unlock(&loop->post_lock);
    return has;
}

static void run_posts(struct loop *loop) {
    pthread_mutex_lock(&loop->post_lock);
    struct post_vec swapped = loop->posts;
    loop->posts = loop->running;
    loop->running = swapped;
    pthread_mutex_unlock(&loop->post_lock);
    for (size_t i = 0; i < loop->running.n; i++) {
        loop->ran_callback = true;
        loop->running.items[i].fn(loop->running.items[i].context);
    }
    vec_reset(&loop->running);
}

/* ---- work in other threads ---- */

static void job_done(void *context) {
    struct loop_job *job = context;
    void (*done)(void *context) = job->done;
    void *done_context = job->context;
    free(job);
    done(done_context);
}

static void *worker_run(void *argument) {
    struct loop *loop = argument;
    pthread_mutex_lock(&loop->work_lock);
    for (;;) {
        if (!list_is_empty(&loop->jobs)) {
            struct loop_job *job = list_entry(loop->jobs.next, struct loop_job, link);
            list_remove(&job->link);
            pthread_mutex_unlock(&loop->work_lock);
            job->work(job->context);
            loop_post(loop, job_done, job);
            pthread_mutex_lock(&loop->work_lock);
        } else if (loop->work_ends) {
            break;
        } else {
            loop->n_idle++;
            pthread_cond_wait(&loop->work_ready, &loop->work_lock);
            loop->n_idle--;
        }
    }
    pthread_mutex_unlock(&loop->work_lock);
    return NULL;
}

static bool worker_start(struct loop *loop) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 512 * 1024);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&loop->workers[loop->n_workers], &attributes, worker_run, loop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (r == 0)
        loop->n_workers++;
    return r == 0;
}

void loop_work(struct loop *loop, void (*work)(void *context), void (*done)(void *context),
               void *context) {
    assert(loop && work && done);
    struct loop_job *job = zalloc(struct loop_job);
    *job = (struct loop_job) {.loop = loop, .work = work, .done = done, .context = context};
    pthread_mutex_lock(&loop->work_lock);
    bool needs_worker = loop->n_idle == 0 && loop->n_workers < WORKERS_MAX;
    pthread_mutex_unlock(&loop->work_lock);
    if (needs_worker && !worker_start(loop) && loop->n_workers == 0) {
        /* No thread to be had: late is better than never. */
        work(context);
        loop_post(loop, job_done, job);
        return;
    }
    pthread_mutex_lock(&loop->work_lock);
    list_append(&loop->jobs, &job->link);
    pthread_cond_signal(&loop->work_ready);
    pthread_mutex_unlock(&loop->work_lock);
}

static void workers_stop(struct loop *loop) {
    pthread_mutex_lock(&loop->work_lock);
    loop->work_ends = true;
    pthread_cond_broadcast(&loop->work_ready);
    pthread_mutex_unlock(&loop->work_lock);
    for (unsigned i = 0; i < loop->n_workers; i++)
        pthread_join(loop->workers[i], NULL);
    loop->n_workers = 0;
}

/* ---- signals ---- */

static void on_signal(uint32_t events, void *context) {
    struct loop *loop = context;
    struct signalfd_siginfo info;
    while (read(loop->signal_fd, &info, sizeof(info)) == (ssize_t) sizeof(info)) {
        struct loop_signal *handler = &loop->handlers[info.ssi_signo % NSIG];
        if (handler->fn)
            handler->fn((int) info.ssi_signo, &info, handler->context);
    }
}

int loop_signal(struct loop *loop, int signal,
                void (*fn)(int signal, const void *siginfo, void *context), void *context,
                struct error *err) {
    assert(loop && fn && signal > 0 && signal < NSIG);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    sigaddset(&loop->signals, signal);
    int fd = signalfd(loop->signal_fd, &loop->signals, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "cannot receive signal %d", signal);
    if (loop->signal_fd < 0) {
        loop->signal_fd = fd;
        int r = loop_fd_add(loop, fd, EPOLLIN, on_signal, loop, &loop->signal_watch, err);
        if (r < 0)
            return r;
    }
    loop->handlers[signal] = (struct loop_signal) {fn, context};
    return 0;
}

/* ---- children ---- */

static void child_free(struct loop_child *child) {
    list_remove(&child->link);
    loop_fd_remove(child->watch);
    close(child->pidfd);
    free(child);
}

static void on_child(uint32_t events, void *context) {
    struct loop_child *child = context;
    int status = 0;
    pid_t pid;
    do {
        pid = waitpid(child->pid, &status, WNOHANG);
    } while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return;
    if (pid < 0)
        status = -1; /* ended, but was not our child: nobody can know its status */
    void (*fn)(pid_t pid, int status, void *context) = child->fn;
    void *fn_context = child->context;
    pid = child->pid;
    child_free(child);
    fn(pid, status, fn_context);
}

int loop_child(struct loop *loop, pid_t pid, void (*fn)(pid_t pid, int status, void *context),
               void *context, struct error *err) {
    assert(loop && fn && pid > 0);
    int fd = (int) syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by definition; Linux 5.3 */
    if (fd < 0)
        return error_errno(err, errno, "cannot watch process %d", (int) pid);
    struct loop_child *child = zalloc(struct loop_child);
    *child = (struct loop_child) {.pid = pid, .pidfd = fd, .fn = fn, .context = context};
    list_init(&child->link);
    int r = loop_fd_add(loop, fd, EPOLLIN, on_child, child, &child->watch, err);
    if (r < 0) {
        child_free(child);
        return r;
    }
    list_append(&loop->children, &child->link);
    return 0;
}

/* ---- the loop ---- */

void loop_turn_hook(struct loop *loop, void (*fn)(void *context), void *context) {
    loop->hook = fn;
    loop->hook_context = context;
}

int loop_new(struct loop **ret, struct error *err) {
    struct loop *loop = zalloc(struct loop);
    loop->signal_fd = -1;
    sigemptyset(&loop->signals);
    list_init(&loop->children);
    list_init(&loop->ends);
    list_init(&loop->always);
    list_init(&loop->jobs);
    pthread_mutex_init(&loop->post_lock, NULL);
    pthread_mutex_init(&loop->work_lock, NULL);
    pthread_cond_init(&loop->work_ready, NULL);
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int r = 0;
    if (loop->wake_fd < 0 || loop->epoll_fd < 0)
        r = error_errno(err, errno, "cannot create an event loop (raise the limit of open files)");
    else
        r = loop_fd_add(loop, loop->wake_fd, EPOLLIN, on_wake, loop, &loop->wake_watch, err);
    if (r < 0) {
        loop_free(loop);
        return r;
    }
    *ret = loop;
    return 0;
}

void loop_at_free(struct loop *loop, struct loop_end *end) {
    list_append(&loop->ends, &end->link);
}

static void run_ends(struct loop *loop) {
    while (!list_is_empty(&loop->ends)) {
        struct loop_end *end = list_entry(loop->ends.next, struct loop_end, link);
        list_remove(&end->link);
        end->fn(end->context);
    }
}

void loop_free(struct loop *loop) {
    if (!loop)
        return;
    assert(!loop->is_running);
    workers_stop(loop);
    do {
        run_posts(loop);
        run_ends(loop);
    } while (loop->posts.n > 0);
    list_each (&loop->children, node)
        child_free(list_entry(node, struct loop_child, link));
    loop_fd_remove(loop->signal_watch);
    loop_fd_remove(loop->wake_watch);
    free_dead(loop);
    fd_cleanup(&loop->signal_fd);
    fd_cleanup(&loop->wake_fd);
    fd_cleanup(&loop->epoll_fd);
    heap_done(&loop->timers);
    vec_done(&loop->posts);
    vec_done(&loop->running);
    pthread_mutex_destroy(&loop->post_lock);
    pthread_mutex_destroy(&loop->work_lock);
    pthread_cond_destroy(&loop->work_ready);
    free(loop);
}

void loop_stop(struct loop *loop, int code) {
    loop->is_stopped = true;
    loop->code = code;
}

/* How long epoll may sleep, in milliseconds rounded up (so that a timer is never early). */
static int sleep_msec(struct loop *loop) {
    if (loop->is_stopped || has_posts(loop))
        return 0;
    list_each (&loop->always, node) {
        struct loop_fd *watch = list_entry(node, struct loop_fd, link);
        if (!watch->dead && watch->events)
            return 0;
    }
    struct heap_node *first = heap_min(&loop->timers);
    if (!first)
        return -1;
    int64_t left = first->key - (int64_t) loop_monotonic_usec();
    if (left <= 0)
        return 0;
    return (int) min_of((left + 999) / 1000, (int64_t) 3600 * 1000);
}

/* Timers below a millisecond matter (a scheduler that must answer within five): sleep exactly. */
static int wait_events(struct loop *loop, struct epoll_event *events) {
    int msec = sleep_msec(loop);
    struct heap_node *first = heap_min(&loop->timers);
    if (msec <= 0 || !first)
        return epoll_wait(loop->epoll_fd, events, EVENTS_PER_TURN, msec);
#ifdef SYS_epoll_pwait2
    static bool is_missing; /* Linux before 5.11 */
    if (!is_missing) {
        int64_t left = max_of(first->key - (int64_t) loop_monotonic_usec(), (int64_t) 0);
        left = min_of(left, (int64_t) 3600 * 1000000);
        struct timespec timeout = {.tv_sec = left / 1000000, .tv_nsec = left % 1000000 * 1000};
        int n = (int) syscall(SYS_epoll_pwait2, loop->epoll_fd, events, EVENTS_PER_TURN, &timeout,
                              NULL, 0);
        if (n >= 0 || errno != ENOSYS)
            return n;
        is_missing = true;
    }
#endif
    return epoll_wait(loop->epoll_fd, events, EVENTS_PER_TURN, msec);
}

static int run_turn(struct loop *loop, struct error *err) {
    struct epoll_event events[EVENTS_PER_TURN];
    int n = wait_events(loop, events);
    if (n < 0 && errno != EINTR)
        return error_errno(err, errno, "waiting for events failed");
    loop->ran_callback = false;
    for (int i = 0; i < n; i++)
        dispatch_fd(loop, events[i].data.ptr, events[i].events);
    list_each (&loop->always, node) {
        struct loop_fd *watch = list_entry(node, struct loop_fd, link);
        dispatch_fd(loop, watch, watch->events & (EPOLLIN | EPOLLOUT));
    }
    run_timers(loop);
    run_posts(loop);
    if (loop->ran_callback && loop->hook)
        loop->hook(loop->hook_context);
    free_dead(loop);
    return 0;
}

int loop_run(struct loop *loop, struct error *err) {
    assert(loop && !loop->is_running);
    pthread_mutex_lock(&loop->post_lock);
    loop->thread = pthread_self();
    loop->is_running = true;
    pthread_mutex_unlock(&loop->post_lock);
    int r = 0;
    while (r == 0 && !loop->is_stopped)
        r = run_turn(loop, err);
    pthread_mutex_lock(&loop->post_lock);
    loop->is_running = false;
    pthread_mutex_unlock(&loop->post_lock);
    loop->is_stopped = false;
    return r < 0 ? r : loop->code;
}
