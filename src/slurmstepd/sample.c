/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/proc.h"
#include "slurmstepd/confine.h"

static uint64_t own_peak_kib(void) {
    struct rusage rusage;

    return getrusage(RUSAGE_SELF, &rusage) == 0 ? (uint64_t) rusage.ru_maxrss : 0;
}

void sampler_init(struct sampler *sampler, size_t n_tasks, enum sample_memory memory) {
    *sampler = (struct sampler) {.memory = memory, .n_tasks = n_tasks};
    sampler->tasks = xcalloc(n_tasks + 1, sizeof(*sampler->tasks));
}

void sampler_done(struct sampler *sampler) {
    free(sampler->tasks);
    vec_done(&sampler->processes);
    *sampler = (struct sampler) {0};
}

void sampler_started(struct sampler *sampler, size_t task, pid_t pid) {
    sampler->tasks[task].pid = pid;
    sampler->inherited_kib = max_of(sampler->inherited_kib, own_peak_kib());
}

/* ---- whose a process is ---- */

static int process_compare(const void *a, const void *b) {
    const struct sample_process *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct sample_process *process_find(struct sample_process *all, size_t n, pid_t pid) {
    struct sample_process key = {.pid = pid};

    return n > 0 ? bsearch(&key, all, n, sizeof(*all), process_compare) : NULL;
}

/* A task is the leader of its session, or at least has a pid that others carry as their group. */
static uint32_t task_of_pid(const struct sampler *sampler, pid_t pid) {
    for (size_t i = 0; pid > 0 && i < sampler->n_tasks; i++) {
        if (sampler->tasks[i].pid == pid)
            return (uint32_t) i;
    }
    return SAMPLE_NOBODY;
}

/* By the ids that a process carries, else by its control group. */
static uint32_t task_by_ids(const struct sampler *sampler, pid_t pid, pid_t session, pid_t group) {
    uint32_t task = SAMPLE_NOBODY;

    if (sampler->n_tasks == 1)
        return 0;
    task = task_of_pid(sampler, pid);
    if (task == SAMPLE_NOBODY)
        task = task_of_pid(sampler, session);
    if (task == SAMPLE_NOBODY)
        task = task_of_pid(sampler, group);
    if (task == SAMPLE_NOBODY && proc_group_number(pid, CONFINE_TASK_TAIL, &task) &&
        task >= sampler->n_tasks)
        task = SAMPLE_NOBODY;
    return task;
}

/* What the last look knew stays: an orphan has lost the parent that told whose it is. */
static void keep_known(struct sampler *sampler, struct sample_process *all, size_t n) {
    size_t old = 0;

    for (size_t i = 0; i < n; i++) {
        while (old < sampler->processes.n && sampler->processes.items[old].pid < all[i].pid)
            old++;
        if (old == sampler->processes.n)
            return;
        const struct sample_process *known = &sampler->processes.items[old];
        if (known->pid == all[i].pid && known->start_ticks == all[i].start_ticks) {
            all[i].task = known->task;
            all[i].is_resolved = true;
        }
    }
}

/* By its ancestors up to one that is known; all of them are known then. Parents are taken to be at
 * most `n` deep, whatever the numbers say. */
static void resolve(struct sampler *sampler, struct sample_process *all, size_t n,
                    struct sample_process *process) {
    struct sample_process *top = process;
    uint32_t task = SAMPLE_NOBODY;

    for (size_t depth = 0; depth < n && !top->is_resolved; depth++) {
        struct sample_process *parent;
        task = task_of_pid(sampler, top->pid);
        parent = task == SAMPLE_NOBODY ? process_find(all, n, top->parent) : NULL;
        if (!parent)
            break;
        top = parent;
    }
    if (top->is_resolved)
        task = top->task;
    else if (task == SAMPLE_NOBODY)
        task = task_by_ids(sampler, top->pid, top->session, top->group);
    for (size_t depth = 0; depth < n && process && !process->is_resolved; depth++) {
        process->task = task;
        process->is_resolved = true;
        process = process == top ? NULL : process_find(all, n, process->parent);
    }
}

/* ---- a look ---- */

static uint64_t memory_of(const struct sampler *sampler, pid_t pid, uint64_t rss_kib) {
    uint64_t kib;

    switch (sampler->memory) {
    case SAMPLE_PSS:
        return proc_pss_read(pid, &kib) ? kib : rss_kib;
    case SAMPLE_NO_SHARED:
        return proc_shared_read(pid, &kib) ? rss_kib - min_of(kib, rss_kib) : rss_kib;
    case SAMPLE_RSS:
        break;
    }
    return rss_kib;
}

static void counts_add(struct sample_counts *sum, const struct sample_counts *more) {
    sum->user_usec += more->user_usec;
    sum->system_usec += more->system_usec;
    sum->pages += more->pages;
    sum->read += more->read;
    sum->written += more->written;
}

static void counts_raise(struct sample_counts *most, const struct sample_counts *now) {
    most->user_usec = max_of(most->user_usec, now->user_usec);
    most->system_usec = max_of(most->system_usec, now->system_usec);
    most->pages = max_of(most->pages, now->pages);
    most->read = max_of(most->read, now->read);
    most->written = max_of(most->written, now->written);
}

static void tasks_add(struct sampler *sampler, const struct sample_process *process,
                      const struct sample_counts *counts) {
    sampler->rss_now_kib += process->rss_kib;
    sampler->vsize_now_kib += process->vsize_kib;
    if (process->task == SAMPLE_NOBODY)
        return;
    struct sample_task *task = &sampler->tasks[process->task];
    task->rss_now += process->rss_kib;
    task->vsize_now += process->vsize_kib;
    counts_add(&task->living, counts);
}

static void io_read(const struct sampler *sampler, const struct proc_stat *stat,
                    struct sample_process *process) {
    const struct sample_process *known =
        process_find(sampler->processes.items, sampler->processes.n, process->pid);
    bool is_turn = (sampler->n_looks + (uint64_t) process->pid) % SAMPLE_IDLE_LOOKS == 0;

    process->cpu_usec = stat->user_usec + stat->system_usec;
    if (known && known->start_ticks == process->start_ticks) {
        process->read = known->read;
        process->written = known->written;
        if (known->cpu_usec == process->cpu_usec && known->rss_kib == process->rss_kib &&
            stat->state == 'S' && !is_turn)
            return;
    }
    (void) proc_io_read(process->pid, &process->read, &process->written);
}

static void process_read(const struct sampler *sampler, pid_t pid, const struct proc_stat *stat,
                         struct sample_process *ret, struct sample_counts *counts) {
    *ret = (struct sample_process) {.pid = pid,
                                    .parent = stat->parent,
                                    .group = stat->group,
                                    .session = stat->session,
                                    .start_ticks = stat->start_ticks,
                                    .task = SAMPLE_NOBODY,
                                    .rss_kib = memory_of(sampler, pid, stat->rss_kib),
                                    .vsize_kib = stat->vsize_kib};
    snprintf(ret->name, sizeof(ret->name), "%.31s", stat->name);
    io_read(sampler, stat, ret);
    *counts = (struct sample_counts) {.user_usec = stat->user_usec,
                                      .system_usec = stat->system_usec,
                                      .pages = stat->pages,
                                      .read = ret->read,
                                      .written = ret->written};
}

static int pid_compare(const void *a, const void *b) {
    const pid_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

void sampler_take(struct sampler *sampler, const struct track *track) {
    struct pid_list pids = {0};
    struct proc_stat stat;
    size_t n = 0;

    sampler->n_looks++;
    track_members(track, &pids);
    if (pids.list.n > 0)
        qsort(pids.list.items, pids.list.n, sizeof(pid_t), pid_compare);
    struct sample_process *all = xcalloc(pids.list.n + 1, sizeof(*all));
    struct sample_counts *counts = xcalloc(pids.list.n + 1, sizeof(*counts));
    vec_each (&pids.list, pid) {
        if (proc_stat_read(*pid, &stat) && stat.state != 'Z' && stat.state != 'X') {
            process_read(sampler, *pid, &stat, &all[n], &counts[n]);
            n++;
        }
    }
    vec_done(&pids.list);
    keep_known(sampler, all, n);
    sampler->rss_now_kib = sampler->vsize_now_kib = 0;
    for (size_t i = 0; i < sampler->n_tasks; i++) {
        struct sample_task *task = &sampler->tasks[i];
        task->rss_now = task->vsize_now = 0;
        task->living = task->ended;
    }
    for (size_t i = 0; i < n; i++) {
        resolve(sampler, all, n, &all[i]);
        tasks_add(sampler, &all[i], &counts[i]);
    }
    for (size_t i = 0; i < sampler->n_tasks; i++) {
        struct sample_task *task = &sampler->tasks[i];
        task->rss_kib = max_of(task->rss_kib, task->rss_now);
        task->vsize_kib = max_of(task->vsize_kib, task->vsize_now);
        counts_raise(&task->total, &task->living);
    }
    free(counts);
    free(sampler->processes.items);
    sampler->processes.items = all;
    sampler->processes.n = n;
    sampler->processes.capacity = n + 1;
}

/* ---- ends ---- */

void sampler_leaving(struct sampler *sampler, pid_t pid) {
    struct sample_process *known =
        process_find(sampler->processes.items, sampler->processes.n, pid);
    struct proc_stat stat;

    sampler->leaving = pid;
    sampler->leaving_read = sampler->leaving_written = 0;
    sampler->leaving_task = known ? known->task : task_by_ids(sampler, pid, 0, 0);
    if (sampler->leaving_task == SAMPLE_NOBODY && proc_stat_read(pid, &stat))
        sampler->leaving_task = task_by_ids(sampler, pid, stat.session, stat.group);
    (void) proc_io_read(pid, &sampler->leaving_read, &sampler->leaving_written);
}

static uint64_t timeval_usec(const struct timeval *time) {
    return (uint64_t) time->tv_sec * 1000000u + (uint64_t) time->tv_usec;
}

void sampler_left(struct sampler *sampler, pid_t pid, const struct rusage *rusage) {
    struct sample_counts counts = {
        .user_usec = timeval_usec(&rusage->ru_utime),
        .system_usec = timeval_usec(&rusage->ru_stime),
        .pages = (uint64_t) rusage->ru_majflt,
        .read = sampler->leaving_read,
        .written = sampler->leaving_written,
    };
    uint64_t peak_kib = (uint64_t) rusage->ru_maxrss;

    if (sampler->leaving != pid || sampler->leaving_task == SAMPLE_NOBODY)
        return;
    struct sample_task *task = &sampler->tasks[sampler->leaving_task];
    counts_add(&task->ended, &counts);
    counts_raise(&task->total, &task->ended);
    /* A peak that is not above what it took over from us at its birth tells only that its own was
     * not higher: good enough if nothing better is known. */
    if ((sampler->memory == SAMPLE_RSS && peak_kib > sampler->inherited_kib) || !task->rss_kib)
        task->rss_kib = max_of(task->rss_kib, peak_kib);
}

void sampler_group_peak(struct sampler *sampler, uint64_t kib) {
    if (sampler->n_tasks == 1)
        sampler->tasks[0].rss_kib = kib;
}

void sampler_group_cpu(struct sampler *sampler, uint64_t usec) {
    struct sample_counts *total = &sampler->tasks[0].total;
    uint64_t known = total->user_usec + total->system_usec;

    if (sampler->n_tasks == 1 && usec > known) /* nobody tells which of the two it was */
        total->user_usec += usec - known;
}

/* ---- the sums ---- */

static uint64_t task_value(const struct sample_task *task, enum usage_kind kind) {
    switch (kind) {
    case USAGE_CPU:
        return task->total.user_usec + task->total.system_usec;
    case USAGE_RSS:
        return task->rss_kib;
    case USAGE_VSIZE:
        return task->vsize_kib;
    case USAGE_PAGES:
        return task->total.pages;
    case USAGE_READ:
        return task->total.read;
    case USAGE_WRITTEN:
        return task->total.written;
    }
    return 0;
}

void sampler_usage(const struct sampler *sampler, const uint32_t *ranks, const char *node,
                   struct usage *ret, struct usage_measure measures[USAGE_KINDS]) {
    char *name = (char *) (uintptr_t) node;

    record_init(&record_usage, ret);
    if (sampler->n_tasks == 0)
        return;
    ret->measures.items = measures;
    ret->measures.n = USAGE_KINDS;
    for (uint32_t i = 0; i < USAGE_KINDS; i++) {
        measures[i] = (struct usage_measure) {.kind = i + 1, .max_node = name, .min_node = name};
        for (size_t k = 0; k < sampler->n_tasks; k++)
            usage_measure_task(&measures[i], ranks ? ranks[k] : (uint32_t) k,
                               task_value(&sampler->tasks[k], i + 1), k == 0);
    }
    for (size_t k = 0; k < sampler->n_tasks; k++) {
        ret->user_usec += sampler->tasks[k].total.user_usec;
        ret->system_usec += sampler->tasks[k].total.system_usec;
    }
}
