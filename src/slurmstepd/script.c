/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/script.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "os/loop.h"
#include "os/proc.h"
#include "os/spawn.h"

#define FIRST_PROGRAM 5 /* in argv */

extern char **environ;

struct script {
    const char *record, *what;
    char *draft; /* of the record */
    unsigned long seconds;
    uint64_t deadline; /* loop_monotonic_usec(), 0 = none */
};

/* ---- the record ---- */

static bool draft_write(const struct script *script, const struct str *text) {
    cleanup_fd int fd =
        open(script->draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

    return fd >= 0 && write(fd, text->data, text->length) == (ssize_t) text->length;
}

/* False when another supervisor was first; a record of an earlier boot is no supervisor's. */
static bool record_claim(const struct script *script) {
    cleanup_str struct str text = STR_INIT;
    char boot[64];
    bool is_mine;

    proc_boot_id(boot, sizeof(boot));
    str_printf(&text, "running %d %llu %s", (int) getpid(),
               (unsigned long long) proc_start_time(getpid()), boot);
    if (!draft_write(script, &text))
        return true; /* a full disk: the programs must run all the same */
    is_mine = link(script->draft, script->record) == 0 || errno != EEXIST;
    (void) unlink(script->draft);
    return is_mine;
}

static void record_end(const struct script *script, const struct str *problem) {
    cleanup_str struct str text = STR_INIT;

    str_append(&text, "done ");
    str_append(&text, str_cstr(problem));
    if (!draft_write(script, &text) || rename(script->draft, script->record) < 0)
        (void) unlink(script->draft);
}

/* ---- one program ---- */

/* Waits for its end; false when the time is over. */
static bool wait_for(pid_t pid, uint64_t deadline, int *ret_status) {
    cleanup_fd int fd = (int) syscall(SYS_pidfd_open, pid, 0);
    uint64_t now;

    while (deadline > 0 && (now = loop_monotonic_usec()) < deadline) {
        struct pollfd pollfd = {.fd = fd, .events = POLLIN};
        uint64_t msec = (deadline - now) / 1000 + 1;
        if (poll(&pollfd, 1, (int) (msec < 60000 ? msec : 60000)) > 0)
            break;
    }
    if (deadline > 0 && waitpid(pid, ret_status, WNOHANG) != pid) {
        (void) kill(-pid, SIGKILL);
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, ret_status, 0);
        return false;
    }
    while (deadline == 0 && waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
        ;
    return true;
}

static int enter_namespace(void *context) {
    const int *fd = context;

    return setns(*fd, CLONE_NEWNS) < 0 ? errno : 0;
}

void script_run_program(const struct script_program *program, struct str *problem) {
    char *argv[] = {(char *) (uintptr_t) program->path, NULL};
    int fd = program->namespace_fd;
    struct spawn spec = {.path = program->path,
                         .argv = argv,
                         .envp = program->envp,
                         .stdin_fd = -1,
                         .stdout_fd = -1,
                         .stderr_fd = -1,
                         .new_session = true,
                         .cwd = "/",
                         .hook = fd >= 0 ? enter_namespace : NULL,
                         .hook_context = &fd};
    uint64_t deadline = program->deadline;
    struct error err = ERROR_INIT;
    int status = 0;
    pid_t pid;

    if (deadline == 0 && program->seconds > 0)
        deadline = loop_monotonic_usec() + program->seconds * 1000000ull;
    if (spawn_process(&spec, &pid, NULL, &err) < 0)
        str_printf(problem, "%s cannot be run: %s", program->what, err.text);
    else if (!wait_for(pid, deadline, &status))
        str_printf(problem, "%s %s did not end within %lu s and was killed", program->what,
                   program->path, program->seconds);
    else if (WIFSIGNALED(status))
        str_printf(problem, "%s %s was killed by signal %d", program->what, program->path,
                   WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        str_printf(problem, "%s %s ended with exit status %d", program->what, program->path,
                   WEXITSTATUS(status));
}

int script_main(int argc, char **argv) {
    struct script script = {0};
    cleanup_str struct str problem = STR_INIT;

    if (argc <= FIRST_PROGRAM) {
        fprintf(stderr, "Usage: slurmstepd script RECORD SECONDS WHAT PROGRAM...\n");
        return 1;
    }
    script.record = argv[2];
    script.seconds = strtoul(argv[3], NULL, 10);
    script.what = argv[4];
    script.draft = xasprintf("%s.%d", script.record, (int) getpid());
    if (script.seconds > 0)
        script.deadline = loop_monotonic_usec() + script.seconds * 1000000ull;
    (void) umask(022);
    if (record_claim(&script)) {
        for (int i = FIRST_PROGRAM; i < argc && problem.length == 0; i++) {
            struct script_program program = {.what = script.what,
                                             .path = argv[i],
                                             .envp = environ,
                                             .seconds = script.seconds,
                                             .deadline = script.deadline,
                                             .namespace_fd = -1};
            script_run_program(&program, &problem);
        }
        record_end(&script, &problem);
    }
    free(script.draft);
    return 0;
}
