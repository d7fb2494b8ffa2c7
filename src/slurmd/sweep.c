/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleaning behind slurmstepds that did not do it themselves (killed, out of memory): the processes
 * of a step are those of its cgroup, or, without cgroups, those that carry its numbers in their
 * environment.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/file.h"
#include "os/log.h"
#include "slurmd/health.h"
#include "slurmd/slurmd.h"

#define ROUND_USEC 20000u
#define SLOW_ROUND_USEC 1000000u /* of what has not died in its time */
#define ENVIRONMENT_MAX (4u << 20)

struct sweep {
    struct slurmd *slurmd;
    struct step_key key;
    uint64_t since;
    bool is_stuck; /* the controller knows that it has ended, but for this */
    struct list in_slurmd;
    struct loop_timer *timer;
};

/* ---- by environment ---- */

static bool environment_has(const struct str *text, const char *entry) {
    for (size_t at = 0; at < text->length; at += strlen(text->data + at) + 1) {
        if (str_equal(text->data + at, entry))
            return true;
    }
    return false;
}

/* A user's environment may be long, and what we look for stands anywhere in it. */
static void read_environment(const char *pid, struct str *out) {
    char path[300];

    snprintf(path, sizeof(path), "/proc/%s/environ", pid);
    (void) file_read(path, ENVIRONMENT_MAX, out);
}

/* Job numbers are those of one cluster: another one on this machine has the same. */
static bool process_is_of(const char *pid, const char *conf, struct step_key key) {
    cleanup_str struct str text = STR_INIT;
    char job[64], step[64];

    read_environment(pid, &text);
    snprintf(job, sizeof(job), "SLURM_JOB_ID=%u", key.job_id);
    snprintf(step, sizeof(step), "SLURM_STEP_ID=%u", key.step_id);
    if (!environment_has(&text, job) || !environment_has(&text, conf))
        return false;
    return key.step_id == STEP_BATCH || environment_has(&text, step);
}

/* True when none was there. */
static bool kill_by_environment(const struct slurmd *slurmd, struct step_key key) {
    cleanup_free char *conf = xasprintf("SLURM_CONF=%s", slurmd->conf_path);
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    bool none = true;

    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
            !process_is_of(entry->d_name, conf, key))
            continue;
        none = false;
        (void) kill((pid_t) atoi(entry->d_name), SIGKILL);
    }
    if (dir)
        closedir(dir);
    return none;
}

/* ---- one step ---- */

static void describe_stuck(const struct sweep *sweep, struct str *out) {
    str_printf(out, "Kill task failed: processes of step %u.", sweep->key.job_id);
    step_id_print(sweep->key.step_id, out);
    str_append(out, ", whose slurmstepd is gone");
}

void sweeps_stuck(const struct slurmd *slurmd, struct str *out) {
    list_each (&slurmd->sweeps, node) {
        const struct sweep *sweep = list_entry(node, struct sweep, in_slurmd);
        cleanup_str struct str text = STR_INIT;
        if (!sweep->is_stuck)
            continue;
        describe_stuck(sweep, &text);
        str_join(out, "; ", text.data);
    }
}

/* The step has ended, for the controller. */
static void end_step(struct sweep *sweep, const char *stuck) {
    struct slurmd *slurmd = sweep->slurmd;
    struct agent_effects effects = {0};

    agent_step_swept(slurmd->agent, loop_monotonic_usec(), sweep->key,
                     (int64_t) (loop_realtime_usec() / 1000000), stuck, &effects);
    slurmd_effects(slurmd, &effects);
}

static void swept(struct sweep *sweep) {
    struct slurmd *slurmd = sweep->slurmd;
    cleanup_str struct str path = STR_INIT;
    bool was_stuck = sweep->is_stuck;

    str_printf(&path, "%s/step/", slurmd->spool_dir);
    step_socket_name(sweep->key.job_id, sweep->key.step_id, sweep->key.attempt, &path);
    (void) unlink(path.data);
    if (!was_stuck)
        end_step(sweep, NULL);
    loop_timer_free(sweep->timer);
    list_remove(&sweep->in_slurmd);
    free(sweep);
    if (was_stuck)
        health_changed(slurmd);
}

/* Its node cannot be trusted with other jobs, but this one need not wait any more. */
static void give_up(struct sweep *sweep) {
    cleanup_str struct str text = STR_INIT;

    sweep->is_stuck = true;
    describe_stuck(sweep, &text);
    log_error("%s", text.data);
    end_step(sweep, text.data);
    health_unkillable(sweep->slurmd, sweep->key);
}

static void sweep_round(void *context) {
    struct sweep *sweep = context;
    struct slurmd *slurmd = sweep->slurmd;
    bool is_clean = slurmd->fences.tree
                        ? fences_sweep(slurmd, sweep->key.job_id, sweep->key.step_id)
                        : kill_by_environment(slurmd, sweep->key);

    if (is_clean) {
        swept(sweep);
        return;
    }
    uint64_t now = loop_monotonic_usec();
    uint64_t limit = slurmd->conf->unkillable_step_timeout * 1000000ull;
    if (!sweep->is_stuck && limit > 0 && now > sweep->since + limit)
        give_up(sweep);
    loop_timer_set(sweep->timer, now + (sweep->is_stuck ? SLOW_ROUND_USEC : ROUND_USEC));
}

void sweep_step(struct slurmd *slurmd, struct step_key key) {
    struct sweep *sweep = zalloc(struct sweep);

    sweep->slurmd = slurmd;
    sweep->key = key;
    sweep->since = loop_monotonic_usec();
    list_append(&slurmd->sweeps, &sweep->in_slurmd);
    sweep->timer = loop_timer_add(slurmd->loop, sweep_round, sweep);
    sweep_round(sweep);
}
