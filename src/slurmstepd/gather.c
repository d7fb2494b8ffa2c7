/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the use of the step is looked at: in the interval that was asked for, when sstat wants to
 * know, and at the end. A step that uses more memory than it may is ended here where that is wanted
 * (JobAcctGatherParams=OverMemoryKill).
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "model/conf.h"
#include "slurmstepd/stepd.h"

#define SEC_USEC 1000000ull
#define FIRST_USEC 1000000ull /* most steps are short: the first look comes soon */

static bool kills_over_memory(const struct stepd *stepd) {
    return stepd->order.gather_params & CONF_GATHER_OVER_MEMORY_KILL;
}

/* Of this step on this node; 0 = no limit. */
static uint64_t limit_mib(const struct stepd *stepd) {
    if (stepd->launch)
        return stepd->job_node ? stepd->job_node->mem : 0;
    return stepd->node ? stepd->node->mem : 0;
}

/* --acctg-freq, else the configuration. Where memory is watched, nobody may look away for longer
 * than the administrator does. */
static uint64_t interval_usec(const struct stepd *stepd) {
    const char *text = stepd->launch ? stepd->launch->job->acctg_freq : stepd->step->acctg_freq;
    uint32_t seconds = stepd->order.gather_seconds, own = seconds;

    if (text && acctg_freq_parse(text, &own, NULL) == 0 &&
        !(kills_over_memory(stepd) && seconds > 0 && (own == 0 || own > seconds)))
        seconds = own;
    return seconds * SEC_USEC;
}

static void end_over_memory(struct stepd *stepd) {
    cleanup_str struct str name = STR_INIT;
    uint64_t limit = limit_mib(stepd) << 20, used = stepd->sampler.rss_now_kib << 10;

    if (stepd->state != STEPD_RUNNING || stepd->over_memory || limit == 0 || used <= limit ||
        !kills_over_memory(stepd))
        return;
    stepd->over_memory = true;
    stepd_name(stepd, &name);
    stepd_complain(stepd, "StepId=%s exceeded memory limit (%llu > %llu), being killed", name.data,
                   (unsigned long long) used, (unsigned long long) limit);
    stepd_complain(stepd, "Exceeded job memory limit");
    stepd_terminate(stepd, 0, NULL);
}

static void on_timer(void *context) {
    struct stepd *stepd = context;

    if (stepd->state != STEPD_RUNNING)
        return;
    sampler_take(&stepd->sampler, &stepd->track);
    end_over_memory(stepd);
    loop_timer_set(stepd->gather_timer, loop_monotonic_usec() + stepd->gather_usec);
}

void gather_start(struct stepd *stepd) {
    stepd->gather_usec = interval_usec(stepd);
    if (stepd->gather_usec == 0)
        return;
    stepd->gather_timer = loop_timer_add(stepd->loop, on_timer, stepd);
    loop_timer_set(stepd->gather_timer,
                   loop_monotonic_usec() + min_of(stepd->gather_usec, FIRST_USEC));
}

void gather_sum(struct stepd *stepd) {
    const uint32_t *ranks = stepd->node ? stepd->node->ranks.items : NULL;
    struct cgroup_usage counted;

    if (!confine_usage(&stepd->confine, &counted))
        counted = (struct cgroup_usage) {0};
    if (counted.oom_kills > 0)
        sampler_group_peak(&stepd->sampler, counted.memory_peak_bytes >> 10);
    if (stepd->is_extern)
        sampler_group_cpu(&stepd->sampler, counted.cpu_usec);
    sampler_usage(&stepd->sampler, ranks, stepd->order.node_name, &stepd->usage,
                  stepd->usage_measures);
    stepd->usage.oom_kills = (uint32_t) counted.oom_kills;
}

void gather_now(struct stepd *stepd) {
    if (stepd->state != STEPD_RUNNING)
        return;
    sampler_take(&stepd->sampler, &stepd->track);
    gather_sum(stepd);
}

pid_t gather_wait(struct stepd *stepd, int *ret_status, bool *ret_is_oom) {
    siginfo_t info = {.si_pid = 0};
    struct rusage rusage;
    pid_t pid;

    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 || info.si_pid == 0)
        return 0;
    sampler_leaving(&stepd->sampler, info.si_pid);
    *ret_is_oom = info.si_code == CLD_KILLED && info.si_status == SIGKILL &&
                  oom_child_killed(stepd, info.si_pid);
    pid = wait4(info.si_pid, ret_status, WNOHANG | __WALL, &rusage);
    if (pid > 0)
        sampler_left(&stepd->sampler, pid, &rusage);
    return pid;
}
