/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the tasks as their nodes tell it, and what srun says and does about their ends. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "cli/srun.h"
#include "text/hostlist.h"
#include "text/idset.h"

#define SEC_USEC 1000000ull
#define TELL_USEC 40000u        /* ends that come this close together are told in one line */
#define IDLE_WARNING_SECONDS 60 /* --wait=0: then say that some tasks still run */
#define ABORT_EXTRA_SECONDS 2

/* ---- messages ---- */

static void end_text(uint32_t status, bool oom, struct str *out) {
    if (oom) {
        str_append(out, "Out Of Memory");
    } else if (WIFSIGNALED((int) status)) {
        str_append(out, strsignal(WTERMSIG((int) status)));
        if (WCOREDUMP((int) status))
            str_append(out, " (core dumped)");
    } else {
        str_printf(out, "Exited with exit code %d", WEXITSTATUS((int) status));
    }
}

/* One line for all tasks that ended like task `first` and are not told yet. */
static void tell_like(struct srun *srun, size_t first) {
    cleanup_hostlist struct hostlist hosts = HOSTLIST_INIT;
    cleanup_idset struct idset ranks = IDSET_INIT;
    cleanup_str struct str names = STR_INIT, numbers = STR_INIT, text = STR_INIT;
    uint32_t status = srun->tasks[first].status;
    bool is_oom = srun->tasks[first].is_oom;

    for (size_t i = first; i < srun->n_tasks; i++) {
        struct srun_task *task = &srun->tasks[i];
        if (task->state != TASK_EXITED || task->is_told || task->status != status ||
            task->is_oom != is_oom)
            continue;
        task->is_told = true;
        hostlist_push(&hosts, srun->nodes[task->node].layout->name);
        (void) idset_add(&ranks, (uint32_t) i);
    }
    hostlist_unique(&hosts);
    hostlist_sort(&hosts);
    hostlist_fold(&hosts, &names);
    idset_print(&ranks, &numbers, 0);
    end_text(status, is_oom, &text);
    cli_error(&srun->cli, "%s: task%s %s: %s", names.data, idset_count(&ranks) > 1 ? "s" : "",
              numbers.data, text.data);
}

static void tell_ends(void *context) {
    struct srun *srun = context;

    loop_timer_set(srun->tell_timer, 0);
    for (size_t i = 0; i < srun->n_tasks; i++) {
        struct srun_task *task = &srun->tasks[i];
        if (task->state == TASK_EXITED && !task->is_told && task->status != 0)
            tell_like(srun, i);
    }
}

void srun_print_states(struct srun *srun) {
    static const char *const names[] = {"unknown", "running", "exited"};
    cleanup_str struct str step = STR_INIT;

    srun_step_name(srun, &step);
    for (unsigned state = 0; state < countof(names); state++) {
        cleanup_idset struct idset ranks = IDSET_INIT;
        cleanup_str struct str numbers = STR_INIT;
        for (size_t i = 0; i < srun->n_tasks; i++) {
            if (srun->tasks[i].state == state)
                (void) idset_add(&ranks, (uint32_t) i);
        }
        if (idset_count(&ranks) == 0)
            continue;
        idset_print(&ranks, &numbers, 0);
        cli_info(&srun->cli, "%s task%s %s: %s", step.data, idset_count(&ranks) > 1 ? "s" : "",
                 numbers.data, names[state]);
    }
}

/* ---- ending early ---- */

static void on_abort_timeout(void *context) {
    struct srun *srun = context;

    tell_ends(srun);
    cli_error(&srun->cli, "Timed out waiting for job step to complete");
    srun->launch_failed = true;
    loop_stop(srun->loop, 0);
}

void srun_abort_wait(struct srun *srun) {
    uint32_t seconds = srun->layout->kill_wait + ABORT_EXTRA_SECONDS;

    if (srun->aborted)
        return;
    srun->aborted = true;
    cli_info(&srun->cli, "Job step aborted: Waiting up to %u seconds for job step to finish.",
             seconds);
    loop_timer_set(srun->abort_timer, loop_monotonic_usec() + seconds * SEC_USEC);
}

static void say_terminating(struct srun *srun) {
    cleanup_str struct str name = STR_INIT;

    srun_step_name(srun, &name);
    cli_info(&srun->cli, "Terminating %s", name.data);
}

/* --wait: the first task has been gone for long enough. */
static void on_wait(void *context) {
    struct srun *srun = context;
    uint64_t ago = (loop_monotonic_usec() - srun->first_exit_usec) / SEC_USEC;

    cli_info(&srun->cli, "First task exited %llus ago", (unsigned long long) ago);
    srun_print_states(srun);
    uint32_t seconds = srun->options.wait_seconds == UNSET32 ? srun->link.conf->wait_time
                                                             : srun->options.wait_seconds;
    if (seconds == 0)
        return;
    say_terminating(srun);
    srun_abort_wait(srun);
    srun_terminate(srun, true, "");
}

static void first_exit(struct srun *srun) {
    uint32_t seconds = srun->options.wait_seconds == UNSET32 ? srun->link.conf->wait_time
                                                             : srun->options.wait_seconds;

    srun->first_exit_usec = loop_monotonic_usec();
    loop_timer_set(srun->wait_timer,
                   srun->first_exit_usec + (seconds ? seconds : IDLE_WARNING_SECONDS) * SEC_USEC);
}

static void bad_exit(struct srun *srun) {
    bool kill = srun->options.kill_on_bad_exit == UNSET32 ? srun->link.conf->kill_on_bad_exit
                                                          : srun->options.kill_on_bad_exit == 1;

    if (!kill || srun->terminating || srun->n_exited == srun->n_tasks)
        return;
    tell_ends(srun);
    say_terminating(srun);
    srun_terminate(srun, true, " DUE TO TASK FAILURE");
}

/* ---- what nodes tell ---- */

static void begin_streams(struct srun *srun) {
    srun->has_begun = true;
    if (srun->pty)
        srun_terminal_raw(srun);
    srun_input_start(srun);
}

static void maybe_done(struct srun *srun) {
    if (srun->n_finished == srun->n_nodes)
        loop_stop(srun->loop, 0);
}

static void launch_failed(struct srun *srun, struct srun_node *node, const char *why) {
    cleanup_str struct str name = STR_INIT;

    srun_step_name(srun, &name);
    cli_error(&srun->cli, "Task launch for %s failed on node %s: %s", name.data, node->layout->name,
              why);
    srun->launch_failed = true;
    if (!srun->terminating)
        srun_terminate(srun, false, "");
}

void srun_tasks_started(struct srun_node *node, const struct step_tasks *tasks) {
    struct srun *srun = node->srun;

    if (tasks->code) {
        const char *detail = tasks->detail ? tasks->detail : error_text((int) tasks->code);
        if (tasks->code == ERR_CPU_BIND) {
            cli_error(&srun->cli, "%s", detail);
            launch_failed(srun, node, error_text(ERR_CPU_BIND));
            return;
        }
        cli_error(&srun->cli, "%s: %s", node->layout->name, detail);
        srun->launch_failed = true;
        return;
    }
    node->has_started = true;
    srun->n_started++;
    for (uint32_t i = 0; i < tasks->ranks.n; i++) {
        uint32_t rank = tasks->ranks.items[i];
        if (rank < srun->n_tasks && srun->tasks[rank].state == TASK_WAITING)
            srun->tasks[rank].state = TASK_RUNNING;
    }
    if (srun->terminating) /* another node has failed meanwhile */
        srun_terminate(srun, false, "");
    else if (srun->n_started == srun->n_nodes)
        begin_streams(srun);
}

static void task_exited(struct srun *srun, uint32_t rank, uint32_t status) {
    struct srun_task *task = &srun->tasks[rank];

    if (task->state == TASK_EXITED)
        return;
    task->state = TASK_EXITED;
    task->status = status;
    if (srun->n_exited++ == 0 && srun->n_tasks > 1)
        first_exit(srun);
    if (WIFSIGNALED((int) status) &&
        (WTERMSIG((int) status) == SIGKILL || WTERMSIG((int) status) == SIGTERM))
        srun->any_forced = true;
}

void srun_tasks_exited(struct srun_node *node, const struct step_tasks *tasks) {
    struct srun *srun = node->srun;
    bool bad = false;

    for (uint32_t i = 0; i < tasks->ranks.n && i < tasks->exit_status.n; i++) {
        uint32_t rank = tasks->ranks.items[i];
        if (rank >= srun->n_tasks || &srun->nodes[srun->tasks[rank].node] != node)
            continue;
        srun->tasks[rank].is_oom = tasks->oom;
        task_exited(srun, rank, tasks->exit_status.items[i]);
        bad |= tasks->exit_status.items[i] != 0;
    }
    if (srun->n_exited == srun->n_tasks)
        loop_timer_set(srun->wait_timer, 0);
    if (bad) {
        loop_timer_set(srun->tell_timer, loop_monotonic_usec() + TELL_USEC);
        bad_exit(srun);
    }
}

static void node_over(struct srun_node *node) {
    node->has_finished = true;
    node->srun->n_finished++;
    if (node->conn)
        rpc_conn_close(node->conn);
    maybe_done(node->srun);
}

void srun_node_finished(struct srun_node *node, const struct step_done *done) {
    struct srun *srun = node->srun;

    if (done->code && !done->output_failed && node->has_started && done->detail)
        cli_error(&srun->cli, "%s: %s", node->layout->name, done->detail);
    if (done->code)
        srun->launch_failed = true;
    srun->out_of_memory |= done->oom;
    node_over(node);
}

void srun_node_lost(struct srun_node *node, const struct error *why) {
    struct srun *srun = node->srun;

    if (node->has_finished)
        return;
    if (!node->has_started) {
        launch_failed(srun, node, why->text);
    } else {
        cli_error(&srun->cli, "Node failure on %s", node->layout->name);
        srun->launch_failed = true;
        for (uint32_t i = 0; i < node->layout->ranks.n; i++) {
            uint32_t rank = node->layout->ranks.items[i];
            if (rank < srun->n_tasks && srun->tasks[rank].state != TASK_EXITED) {
                task_exited(srun, rank, SIGKILL);
                srun->tasks[rank].is_told = true;
            }
        }
        if (!srun->options.job.no_kill && !srun->terminating) {
            cli_info(&srun->cli, "Job step aborted");
            srun->aborted = true;
            srun_terminate(srun, false, "");
        }
    }
    node_over(node);
}

void srun_tasks_begin(struct srun *srun) {
    srun->tell_timer = loop_timer_add(srun->loop, tell_ends, srun);
    srun->wait_timer = loop_timer_add(srun->loop, on_wait, srun);
    srun->abort_timer = loop_timer_add(srun->loop, on_abort_timeout, srun);
}

void srun_tasks_summary(struct srun *srun) {
    cleanup_str struct str name = STR_INIT;

    tell_ends(srun);
    if (!srun->any_forced || srun->aborted)
        return;
    srun_step_name(srun, &name);
    cli_info(&srun->cli, "Force Terminated %s", name.data);
}
