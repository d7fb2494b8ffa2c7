/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a step ends: by its tasks, by a signal or by order. Whatever the way, nothing of it is left
 * when the result goes out, or the result says what does not die.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slurmstepd/stepd.h"
#include "text/duration.h"
#include "text/timestamp.h"

#define ROUND_MIN_USEC 500u /* between two looks at what is left: doubles up to the maximum */
#define ROUND_MAX_USEC 100000u
#define SEC_USEC 1000000ull
#define EPILOGS_USEC 5000000u     /* for the epilogs of tasks, all together */
#define ACKNOWLEDGE_USEC 1000000u /* for the controller to hear of the end before srun does */

/* ---- results ---- */

/* What a shell would show: signals count as 128 + n. */
static uint32_t status_rank(uint32_t status) {
    return status & 0x7f ? 128 + (status & 0x7f) : (status >> 8) & 0xff;
}

static void script_remove(struct stepd *stepd) {
    if (!stepd->script)
        return;
    (void) unlink(stepd->script);
    (void) rmdir(stepd->script_dir);
}

static void done_base(struct stepd *stepd) {
    stepd->done.job_id = stepd->order.job_id;
    stepd->done.step_id = stepd->order.step_id;
    stepd->done.attempt = stepd->order.attempt;
    stepd->done.end_time = (int64_t) (loop_realtime_usec() / SEC_USEC);
}

static void step_ended(struct stepd *stepd) {
    mpi_close(stepd);
    stream_drain(stepd);
    oom_stop(stepd);
    oom_sum_up(stepd);
    done_base(stepd);
    for (size_t i = 0; i < stepd->n_tasks; i++) {
        uint32_t status = (uint32_t) stepd->tasks[i].status & 0xff7f;
        if (status_rank(status) > status_rank(stepd->done.exit_status))
            stepd->done.exit_status = status;
    }
    stepd->done.usage = &stepd->usage;
    stepd->done.oom = stepd->usage.oom_kills > 0 || stepd->over_memory;
    stepd->state = STEPD_ENDED;
    loop_timer_set(stepd->timer, 0);
    srun_tell_exits(stepd);
    link_report(stepd);
    /* A script's next srun must find this step's CPUs free, so srun goes on when the controller
     * knows; unless the controller is away. */
    if (stepd->step && !stepd->step->own_job && stepd->srun)
        loop_timer_set(stepd->timer, loop_monotonic_usec() + ACKNOWLEDGE_USEC);
    else
        srun_tell_finished(stepd);
    script_remove(stepd);
    x11_close(stepd);
}

/* True when there are none, or no more. */
static bool close_groups(struct stepd *stepd) {
    if (!confine_close(&stepd->confine, list_is_empty(&stepd->links)))
        return false;
    stepd->track.group = NULL;
    return true;
}

void stepd_failed(struct stepd *stepd, const struct error *why) {
    done_base(stepd);
    stepd->done.exit_status = stepd->done.output_failed ? 53 : 1u << 8;
    stepd->done.code = (uint32_t) -why->code;
    str_append(&stepd->detail, why->text);
    stepd->done.detail = stepd->detail.data;
    stepd->state = STEPD_ENDED;
    stepd->is_stillborn = true;
    srun_tell_failed(stepd, why);
    srun_tell_finished(stepd);
    link_report(stepd);
    script_remove(stepd);
    x11_close(stepd);
    (void) close_groups(stepd);
}

/* ---- until nothing is left ---- */

static uint64_t round_delay(struct stepd *stepd) {
    uint64_t delay = ROUND_MIN_USEC << min_of(stepd->kill_rounds, 10u);

    stepd->kill_rounds++;
    return min_of(delay, (uint64_t) ROUND_MAX_USEC);
}

static bool is_unkillable(const struct stepd *stepd, uint64_t since, uint64_t now) {
    uint64_t limit = stepd->order.unkillable_seconds * SEC_USEC;

    return limit && now > since + limit;
}

static void give_up(struct stepd *stepd) {
    cleanup_str struct str who = STR_INIT, step = STR_INIT;

    stepd->stuck = stepd->done.stuck = true;
    stepd->done.code = ERR_SYSTEM;
    track_describe(&stepd->track, &who);
    stepd_name(stepd, &step);
    str_printf(&stepd->detail, "Kill task failed: %s of step %s", str_cstr(&who), step.data);
    stepd->done.detail = stepd->detail.data;
    gather_sum(stepd);
    for (size_t i = 0; i < stepd->n_tasks; i++) {
        if (!stepd->tasks[i].has_exited)
            stepd->tasks[i].status = SIGKILL;
        stepd->tasks[i].has_exited = true;
    }
    step_ended(stepd);
    loop_timer_set(stepd->timer, loop_monotonic_usec() + SEC_USEC);
}

/* Kills; true when there was nothing to kill. */
static bool kill_all(struct stepd *stepd) {
    stepd->confine.was_killed = true;
    return track_kill(&stepd->track);
}

/* True when nothing is left. */
static bool try_to_finish(struct stepd *stepd) {
    bool has_groups = stepd->track.group != NULL;

    stepd_children(stepd);
    if (stepd->kill_rounds == 0)
        gather_sum(stepd);
    if (has_groups ? close_groups(stepd) : kill_all(stepd)) {
        if (stepd->kill_rounds > 0)
            gather_sum(stepd);
        return true;
    }
    if (has_groups)
        (void) kill_all(stepd);
    return false;
}

/* The step has ended without it; whether it dies at last is for the node to know, and what it left
 * is to be removed. slurmd learns of it by our end. */
static void watch_stuck(struct stepd *stepd) {
    if (!stepd->stuck)
        return;
    if (!try_to_finish(stepd)) {
        loop_timer_set(stepd->timer, loop_monotonic_usec() + SEC_USEC);
        return;
    }
    stepd->stuck = false;
    stepd_leave(stepd);
}

void stepd_leave(struct stepd *stepd) {
    if (stepd->forgotten && !stepd->srun && !stepd->stuck && watch_is_over(stepd))
        loop_stop(stepd->loop, 0);
}

/* Kills what is left, then ENDED. */
static void stepd_end(struct stepd *stepd) {
    if (stepd->state != STEPD_RUNNING)
        return;
    stepd->state = STEPD_ENDING;
    mpi_close(stepd); /* or its server would be what is left */
    stepd->ending_since = loop_monotonic_usec();
    stepd->kill_rounds = 0;
    stepd_timer(stepd);
}

void stepd_timer(void *context) {
    struct stepd *stepd = context;
    uint64_t now = loop_monotonic_usec();

    switch (stepd->state) {
    case STEPD_RUNNING:
        if (stepd->n_running == 0 && stepd->epilogs_until && now >= stepd->epilogs_until) {
            stepd_end(stepd);
            return;
        }
        if (!stepd->kill_at)
            return;
        if (stepd->is_extern) {
            if (extern_is_over(stepd, now))
                stepd_end(stepd);
            return;
        }
        if (now >= stepd->kill_at) {
            (void) kill_all(stepd);
            if (is_unkillable(stepd, stepd->kill_at, now)) {
                give_up(stepd);
                return;
            }
            loop_timer_set(stepd->timer, now + round_delay(stepd));
        } else {
            loop_timer_set(stepd->timer, stepd->kill_at);
        }
        return;
    case STEPD_ENDING:
        if (try_to_finish(stepd))
            step_ended(stepd);
        else if (is_unkillable(stepd, stepd->ending_since, now))
            give_up(stepd);
        else
            loop_timer_set(stepd->timer, now + round_delay(stepd));
        return;
    case STEPD_ENDED:
        srun_tell_finished(stepd);
        watch_stuck(stepd);
        return;
    case STEPD_STARTING:
        return;
    }
}

/* 1 when the process was the epilog of a task. */
static size_t epilog_has_ended(struct stepd *stepd, pid_t pid) {
    for (size_t i = 0; i < stepd->n_tasks; i++) {
        if (stepd->tasks[i].epilog_pid == pid) {
            stepd->tasks[i].epilog_pid = 0;
            return 1;
        }
    }
    return 0;
}

void stepd_children(struct stepd *stepd) {
    bool some_task = false;
    bool is_oom;
    int status;
    pid_t pid;

    while ((pid = gather_wait(stepd, &status, &is_oom)) > 0) {
        for (size_t i = 0; i < stepd->n_tasks; i++) {
            struct task *task = &stepd->tasks[i];
            if (task->pid != pid || task->has_exited)
                continue;
            task->has_exited = some_task = true;
            task->status = status;
            task->is_oom = is_oom;
            stepd->n_running--;
            mpi_task_exited(stepd, task);
            if (stepd->state == STEPD_RUNNING && hooks_after(stepd, task))
                stepd->n_epilogs++;
        }
        stepd->n_epilogs -= epilog_has_ended(stepd, pid);
    }
    if (some_task && stepd->n_running + stepd->n_epilogs > 0)
        srun_tell_exits(stepd);
    if (stepd->n_running > 0 || stepd->state != STEPD_RUNNING)
        return;
    if (stepd->n_epilogs == 0) {
        stepd_end(stepd);
    } else if (stepd->epilogs_until == 0) {
        stepd->epilogs_until = loop_monotonic_usec() + EPILOGS_USEC;
        loop_timer_set(stepd->timer, stepd->epilogs_until);
    }
}

/* ---- the step's own time limit (srun -t) ---- */

static void on_time_limit(void *context) {
    struct stepd *stepd = context;
    cleanup_str struct str text = STR_INIT;
    int64_t now = (int64_t) (loop_realtime_usec() / SEC_USEC);

    if (stepd->state != STEPD_RUNNING)
        return;
    stepd->done.timed_out = true;
    str_append(&text, "CANCELLED AT ");
    timestamp_print(now, NULL, now, &text);
    str_append(&text, " DUE TO TIME LIMIT");
    stepd_terminate(stepd, stepd->order.kill_wait, text.data);
}

void stepd_limit_time(struct stepd *stepd, uint32_t minutes) {
    bool limited = minutes != 0 && minutes != MINUTES_UNSET && minutes != MINUTES_INFINITE;

    if (!stepd->limit_timer)
        stepd->limit_timer = loop_timer_add(stepd->loop, on_time_limit, stepd);
    loop_timer_set(stepd->limit_timer, limited ? stepd->started_usec + minutes * 60 * SEC_USEC : 0);
}

/* ---- by order ---- */

static void say_why(struct stepd *stepd, const char *message) {
    cleanup_str struct str name = STR_INIT;

    if (!message || stepd->said_why)
        return;
    stepd->said_why = true;
    if (stepd->launch)
        str_append_u64(&name, stepd->order.job_id);
    else
        stepd_name(stepd, &name);
    stepd_complain(stepd, "*** %s %s ON %s %s ***", stepd->launch ? "JOB" : "STEP", name.data,
                   stepd->order.node_name, message);
}

void stepd_terminate(struct stepd *stepd, uint32_t kill_wait, const char *message) {
    uint64_t now = loop_monotonic_usec(), deadline = now + kill_wait * SEC_USEC;

    if (stepd->state != STEPD_RUNNING)
        return;
    say_why(stepd, message);
    if (!stepd->kill_at && kill_wait > 0) {
        track_signal(&stepd->track, SIGCONT);
        track_signal(&stepd->track, SIGTERM);
    }
    if (!stepd->kill_at || deadline < stepd->kill_at) {
        stepd->kill_at = deadline;
        stepd_timer(stepd);
    }
}

static void step_signal(struct stepd *stepd, const struct step_command *command) {
    int signal = (int) command->signal;

    if (stepd->state == STEPD_RUNNING && signal == 0 && command->message)
        stepd_complain(stepd, "%s", command->message); /* scontrol notify */
    if (stepd->state != STEPD_RUNNING || signal <= 0 || signal >= NSIG)
        return;
    if (command->flags & NODE_SIGNAL_END) {
        srun_tell_ending(stepd);
        stepd_terminate(stepd, stepd->order.kill_wait, command->message);
        return;
    }
    say_why(stepd, command->message);
    if (command->flags & NODE_SIGNAL_BATCH_ONLY) {
        if (stepd->launch && !stepd->tasks[0].has_exited)
            (void) kill(stepd->tasks[0].pid, signal);
    } else if (signal == SIGKILL) {
        stepd_terminate(stepd, 0, NULL);
    } else if (command->flags & NODE_SIGNAL_GROUP || stepd->order.signal_children) {
        track_signal(&stepd->track, signal);
    } else {
        for (size_t i = 0; i < stepd->n_tasks; i++) {
            if (stepd->tasks[i].pid > 0 && !stepd->tasks[i].has_exited)
                (void) killpg(stepd->tasks[i].pid, signal);
        }
    }
}

void stepd_command(struct stepd *stepd, const struct step_command *command) {
    switch (command->kind) {
    case STEP_COMMAND_SIGNAL:
        step_signal(stepd, command);
        break;
    case STEP_COMMAND_TERMINATE:
        if (stepd->state ==
            STEPD_RUNNING) /* before the tasks' ends: srun's own notice may be later */
            srun_tell_ending(stepd);
        stepd_terminate(stepd, command->kill_wait, command->message);
        break;
    case STEP_COMMAND_FORGET:
        if (stepd->state != STEPD_ENDED)
            break;
        stepd->forgotten = true;
        srun_tell_finished(stepd);
        stepd_leave(stepd);
        break;
    case STEP_COMMAND_ADOPT:
        extern_adopt(stepd, command->pid);
        break;
    case STEP_COMMAND_REPORT:
        gather_now(stepd);
        link_report_usage(stepd);
        break;
    case STEP_COMMAND_LIMIT:
        stepd_limit_time(stepd, command->time_limit);
        break;
    default:
        break;
    }
}
