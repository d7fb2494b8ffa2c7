/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs around each task, run as the user: TaskProlog and srun's --task-prolog before it,
 * --task-epilog and TaskEpilog after it. Lines of a prolog's output are orders:
 *   export NAME=VALUE    set in the task's environment
 *   unset NAME
 *   print TEXT           to the task's standard output
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slurmstepd/stepd.h"

#define PROLOG_USEC 60000000ull
#define OUTPUT_MAX (1u << 20)

static int hook_spawn(struct stepd *stepd, const struct task *task, const char *program,
                      const char *context, int out_fd, pid_t *ret_pid, struct error *err) {
    struct confine_entry entry cleanup_confine_entry = CONFINE_ENTRY_INIT;
    cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    char *argv[] = {(char *) (uintptr_t) program, NULL};
    struct env env;
    int errnum;

    env_copy(&env, &stepd->env);
    env_set(&env, "SLURM_SCRIPT_CONTEXT", context);
    struct spawn_plan plan = {.program = program,
                              .argv = argv,
                              .envp = env_array(&env),
                              .fds = {null, out_fd >= 0 ? out_fd : null, null},
                              .identity = stepd->identity,
                              .umask = 022,
                              .entry = &entry};
    *ret_pid = 0;
    int r = confine_task(&stepd->confine, task->local_id, &entry, err);
    if (r == 0)
        r = spawn_start(&plan, ret_pid, &errnum, err);
    if (r < 0 && *ret_pid > 0)
        (void) waitpid(*ret_pid, NULL, 0);
    env_done(&env);
    return r;
}

/* ---- before ---- */

static void print_line(struct stepd *stepd, struct task *task, const char *text, int out_fd) {
    cleanup_str struct str line = STR_INIT;

    str_append(&line, text);
    str_append_char(&line, '\n');
    if (out_fd >= 0)
        (void) !write(out_fd, line.data, line.length);
    else
        stream_to_srun(stepd, task->rank, 1, line.data, line.length, false);
}

static void take_line(struct stepd *stepd, struct task *task, char *line, int out_fd) {
    char *equals;

    if (str_starts(line, "print ")) {
        print_line(stepd, task, line + 6, out_fd);
    } else if (str_starts(line, "unset ")) {
        env_unset(&stepd->env, str_trim(line + 6));
    } else if (str_starts(line, "export ") && (equals = strchr(line + 7, '='))) {
        *equals = '\0';
        env_set(&stepd->env, str_trim(line + 7), equals + 1);
    }
}

static bool prolog_run(struct stepd *stepd, struct task *task, const char *program, int out_fd) {
    cleanup_str struct str out = STR_INIT;
    struct error err = ERROR_INIT;
    int fds[2], status = 0;
    pid_t pid;

    if (!program || !*program)
        return true;
    if (pipe2(fds, O_CLOEXEC) < 0)
        return false;
    int r = hook_spawn(stepd, task, program, "prolog_task", fds[1], &pid, &err);
    close(fds[1]);
    if (r == 0)
        spawn_read(fds[0], PROLOG_USEC, OUTPUT_MAX, &out);
    close(fds[0]);
    if (r < 0) {
        stepd_complain(stepd, "task prolog: %s", err.text);
        return false;
    }
    /* It has closed its output; what does not exit then is ended. */
    for (int i = 0; waitpid(pid, &status, i < 100 ? WNOHANG : 0) == 0; i++) {
        if (i == 99)
            (void) killpg(pid, SIGKILL);
        usleep(2000);
    }
    char *cursor = out.data;
    for (char *line; cursor && (line = str_next_word(&cursor, "\n"));)
        take_line(stepd, task, line, out_fd);
    if (status != 0)
        stepd_complain(stepd, "task prolog %s failed, status %d", program,
                       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return status == 0;
}

bool hooks_before(struct stepd *stepd, struct task *task, int out_fd) {
    return prolog_run(stepd, task, stepd->order.task_prolog, out_fd) &&
           prolog_run(stepd, task, stepd->step ? stepd->step->task_prolog : NULL, out_fd);
}

/* ---- after ---- */

bool hooks_after(struct stepd *stepd, struct task *task) {
    const char *own = stepd->step ? stepd->step->task_epilog : NULL;
    const char *site = stepd->order.task_epilog;
    const char *program = own && *own ? own : site;
    struct error err = ERROR_INIT;

    if (!program || !*program)
        return false;
    if (hook_spawn(stepd, task, program, "epilog_task", -1, &task->epilog_pid, &err) < 0) {
        stepd_complain(stepd, "task epilog: %s", err.text);
        task->epilog_pid = 0;
    }
    return task->epilog_pid > 0;
}
