/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that owns a connection to the database and does one task after the other. It connects
 * with the first task, and with the next one where it could not; a database that is away fails the
 * task and is tried again by the next.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "slurmdbd/dbd.h"

#define ENDS_TEXT "slurmdbd is shutting down"

struct worker {
    struct loop *loop;
    const struct acct_location *location;
    struct acct *acct; /* the thread's */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct list queue; /* of struct task, under lock, as all below */
    size_t n_queued;
    bool ends;
};

static void task_done(void *context) {
    struct task *task = context;
    task->done(task);
}

static void task_run(struct worker *worker, struct task *task, bool ends) {
    struct error *err = &task->err;
    task->code = 0;
    if (ends)
        task->code = error_set(err, ERR_CLOSED, ENDS_TEXT);
    else if (worker->acct == NULL)
        task->code = acct_open(worker->location, &worker->acct, err);
    if (task->code == 0)
        task->code = task->work(task, worker->acct, err);
    loop_post(worker->loop, task_done, task);
}

static void *run(void *argument) {
    struct worker *worker = argument;
    pthread_mutex_lock(&worker->lock);
    for (;;) {
        while (list_is_empty(&worker->queue) && !worker->ends)
            pthread_cond_wait(&worker->changed, &worker->lock);
        if (list_is_empty(&worker->queue))
            break;
        struct task *task = list_entry(worker->queue.next, struct task, link);
        list_remove(&task->link);
        bool ends = worker->ends;
        pthread_mutex_unlock(&worker->lock);
        task_run(worker, task, ends);
        pthread_mutex_lock(&worker->lock);
        worker->n_queued--;
    }
    pthread_mutex_unlock(&worker->lock);
    acct_close(worker->acct);
    return NULL;
}

int worker_start(struct loop *loop, const struct acct_location *location, struct worker **ret,
                 struct error *err) {
    struct worker *worker = zalloc(struct worker);
    sigset_t all, before;
    worker->loop = loop;
    worker->location = location;
    list_init(&worker->queue);
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int errnum = pthread_create(&worker->thread, NULL, run, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (errnum != 0) {
        free(worker);
        return error_errno(err, errnum, "cannot start a thread for the database");
    }
    *ret = worker;
    return 0;
}

void worker_stop(struct worker **at) {
    struct worker *worker = *at;
    if (worker == NULL)
        return;
    *at = NULL;
    pthread_mutex_lock(&worker->lock);
    worker->ends = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    pthread_mutex_destroy(&worker->lock);
    pthread_cond_destroy(&worker->changed);
    free(worker);
}

void worker_submit(struct worker *worker, struct task *task) {
    if (worker == NULL) {
        task->code = error_set(&task->err, ERR_CLOSED, ENDS_TEXT);
        task->done(task);
        return;
    }
    list_init(&task->link);
    pthread_mutex_lock(&worker->lock);
    list_append(&worker->queue, &task->link);
    worker->n_queued++;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

size_t worker_queued(struct worker *worker) {
    pthread_mutex_lock(&worker->lock);
    size_t n = worker->n_queued;
    pthread_mutex_unlock(&worker->lock);
    return n;
}
