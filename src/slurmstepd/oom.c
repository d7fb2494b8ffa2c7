/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/oom.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/oom_log.h"
#include "os/proc.h"
#include "slurmstepd/stepd.h"
#include "text/size.h"

#define KILLS_TOLD 3     /* in full; after that they are only counted */
#define RETRY_USEC 5000u /* for the kernel to carry out the kill that it has announced */
#define RETRIES 40
#define LOOK_USEC 1000000u
#define PATIENCE 10 /* retries for the victim to be known for certain */
#define ALMOST 16   /* below 15/16 of the limit, the limit was not the reason */

/* ---- whom ---- */

static void suspect(struct oom *oom, enum oom_guess guess, pid_t pid, const char *name) {
    if (oom->victim.pid != 0 && guess < oom->victim.guess)
        return;
    oom->victim = (struct oom_victim) {.pid = pid, .guess = guess};
    snprintf(oom->victim.name, sizeof(oom->victim.name), "%.31s", name);
}

static struct sample_process largest_of(const struct sampler *sampler, bool is_dying) {
    struct sample_process largest = {.pid = 0};

    vec_each (&sampler->processes, process) {
        if ((largest.pid == 0 || process->rss_kib > largest.rss_kib) &&
            (!is_dying || proc_is_being_killed(process->pid)))
            largest = *process;
    }
    return largest;
}

static void look_around(struct stepd *stepd) {
    struct oom *oom = &stepd->oom;
    struct sample_process before = largest_of(&stepd->sampler, false), now, dying;
    struct proc_stat stat;

    oom->mapped_kib = max_of(oom->mapped_kib, stepd->sampler.vsize_now_kib);
    sampler_take(&stepd->sampler, &stepd->track);
    oom->mapped_kib = max_of(oom->mapped_kib, stepd->sampler.vsize_now_kib);
    now = largest_of(&stepd->sampler, false);
    dying = largest_of(&stepd->sampler, true);
    if (now.pid)
        suspect(oom, OOM_LARGEST, now.pid, now.name);
    if (before.pid && (!proc_stat_read(before.pid, &stat) || stat.state == 'Z'))
        suspect(oom, OOM_GONE, before.pid, before.name);
    if (dying.pid)
        suspect(oom, OOM_DYING, dying.pid, dying.name);
}

/* The kernel's own word. It may be half a sentence yet: then there is time for the rest. */
static void read_log(struct oom *oom) {
    struct oom_record record;

    if (!oom->group_tail || !oom_log_read(oom->log_fd, oom->group_tail, oom->victim.pid, &record))
        return;
    suspect(oom, record.vsize_kib > 0 ? OOM_LOGGED : OOM_GONE, record.pid, record.name);
    oom->mapped_kib = max_of(oom->mapped_kib, record.vsize_kib);
}

/* ---- what to say ---- */

/* As --mem takes it, which knows no decimals. */
static void print_mib(uint64_t mib, struct str *out) {
    bool whole = mib >= 1024 && mib % 1024 == 0;

    str_append_u64(out, whole ? mib / 1024 : mib);
    str_append_char(out, whole ? 'G' : 'M');
}

static void print_advice(const struct stepd *stepd, uint64_t limit_mib, struct str *out) {
    const struct job *job = stepd->launch ? stepd->launch->job : NULL;
    bool holds_all;
    uint64_t mib = oom_advice_mib(limit_mib, stepd->oom.mapped_kib >> 10, &holds_all);

    if (job && job->mem_per_cpu != UNSET64 && stepd->job_node && stepd->job_node->cpus > 0) {
        str_append(out, "--mem-per-cpu=");
        mib = (mib + stepd->job_node->cpus - 1) / stepd->job_node->cpus;
    } else {
        str_append(out, "--mem=");
    }
    print_mib(mib, out);
    str_append(out, holds_all ? " would hold all that it had asked for by then"
                              : " is worth a try: how much it needs in all cannot be told");
}

/* Bytes that the step may use: its own limit or the job's, UNSET64 = none. */
static uint64_t limit_bytes(const struct step_order *order) {
    uint64_t step = order->step_fence ? order->step_fence->memory : UNSET64;
    uint64_t job = order->job_fence ? order->job_fence->memory : UNSET64;

    return min_of(step, job);
}

static void tell(struct stepd *stepd, const struct cgroup_usage *counted) {
    const struct oom *oom = &stepd->oom;
    uint64_t limit = limit_bytes(&stepd->order), peak = counted->memory_peak_bytes;
    cleanup_str struct str name = STR_INIT, text = STR_INIT, allowed = STR_INIT, used = STR_INIT;

    stepd_name(stepd, &name);
    mem_print(((peak >> 10) + 512) >> 10, true, &used);
    if (oom->victim.pid)
        str_printf(&text, "pid %d (%s) was killed: ", (int) oom->victim.pid, oom->victim.name);
    if (limit == UNSET64 || peak < limit - limit / ALMOST) {
        str_printf(&text, "the node itself or the job had no more memory, %s used %s", name.data,
                   used.data);
    } else {
        mem_print(limit >> 20, true, &allowed);
        str_printf(&text, "%s used %s of the %s that it may use. ", name.data, used.data,
                   allowed.data);
        print_advice(stepd, limit >> 20, &text);
    }
    stepd_complain(stepd, "Out of memory on %s: %s", stepd->order.node_name, text.data);
}

/* --oom-kill-step, else the configuration. */
static bool ends_step(const struct stepd *stepd) {
    uint32_t own = stepd->launch ? stepd->launch->job->oom_kill_step : stepd->step->oom_kill_step;

    return own != UNSET32 ? own != 0 : stepd->order.oom_kill_step;
}

/* ---- when ---- */

/* True when the kernel has killed since the last time, and everything has been said about it. */
static bool check(struct stepd *stepd, bool is_last) {
    struct oom *oom = &stepd->oom;
    struct cgroup_usage counted;

    if (!confine_usage(&stepd->confine, &counted) || counted.oom_kills <= oom->kills)
        return false;
    read_log(oom);
    if (oom->victim.guess < OOM_DYING && oom->waits < PATIENCE && !is_last)
        return false;
    for (; oom->kills < counted.oom_kills; oom->kills++) {
        if (oom->kills < KILLS_TOLD)
            tell(stepd, &counted);
        oom->told_pid = oom->victim.pid;
        oom->victim = (struct oom_victim) {.pid = 0};
    }
    if (ends_step(stepd))
        stepd_terminate(stepd, 0, NULL);
    return true;
}

static void on_timer(void *context) {
    struct stepd *stepd = context;
    struct oom *oom = &stepd->oom;

    look_around(stepd);
    if (!check(stepd, false) && oom->waits++ < RETRIES)
        loop_timer_set(oom->timer, loop_monotonic_usec() + RETRY_USEC);
}

static void on_event(uint32_t events, void *context) {
    struct stepd *stepd = context;

    uint64_t kills = cgroup_oom_take(&stepd->oom.watch), now = loop_monotonic_usec();

    if (kills > stepd->oom.kills) {
        stepd->oom.waits = 0;
        on_timer(stepd);
    } else if (now > stepd->oom.looked_at + LOOK_USEC) {
        stepd->oom.looked_at = now; /* it is close to its limit: a kill may come */
        look_around(stepd);
    }
}

void oom_start(struct stepd *stepd) {
    struct oom *oom = &stepd->oom;

    oom->watch.fd = oom->log_fd = -1;
    if (!stepd->confine.step || cgroup_oom_watch(stepd->confine.step, &oom->watch, NULL) < 0)
        return; /* what is counted at the end must do */
    oom->log_fd = oom_log_open();
    oom->group_tail = cgroup_oom_tail(stepd->confine.step);
    oom->timer = loop_timer_add(stepd->loop, on_timer, stepd);
    if (loop_fd_add(stepd->loop, oom->watch.fd, oom->watch.events, on_event, stepd, &oom->event,
                    NULL) < 0)
        oom_stop(stepd);
}

void oom_stop(struct stepd *stepd) {
    struct oom *oom = &stepd->oom;

    loop_fd_remove(oom->event);
    loop_timer_free(oom->timer);
    if (oom->watch.fd > 0)
        close(oom->watch.fd);
    oom->watch.fd = -1;
    oom->event = NULL;
    oom->timer = NULL;
}

bool oom_child_killed(struct stepd *stepd, pid_t pid) {
    struct cgroup_usage counted;
    struct proc_stat stat;

    if (pid == stepd->oom.told_pid)
        return true;
    if (stepd->kill_at || !confine_usage(&stepd->confine, &counted) || counted.oom_kills == 0)
        return false;
    if (counted.oom_kills > stepd->oom.kills && proc_stat_read(pid, &stat)) {
        suspect(&stepd->oom, OOM_DEAD, pid, stat.name);
        (void) check(stepd, false);
    }
    return true;
}

void oom_sum_up(struct stepd *stepd) {
    cleanup_str struct str name = STR_INIT;
    unsigned long long kills = stepd->usage.oom_kills;

    if (kills > 0)
        (void) check(stepd, true);
    if (stepd->oom.log_fd > 0)
        close(stepd->oom.log_fd);
    stepd->oom.log_fd = -1;
    free(take(stepd->oom.group_tail));
    if (kills == 0)
        return;
    stepd_name(stepd, &name);
    stepd_complain(stepd,
                   "Detected %llu oom_kill event%s in StepId=%s. Some of the step tasks have been "
                   "OOM Killed.",
                   kills, kills == 1 ? "" : "s", name.data);
}
