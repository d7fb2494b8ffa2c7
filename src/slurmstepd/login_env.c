/* SPDX-License-Identifier: Apache-2.0 */
/* What a login of the user would set (--get-user-env, --export=NONE): the login shell is run once
 * and prints its environment. A shell that hangs is left behind after a while. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slurmstepd/stepd.h"

#define LOGIN_USEC 20000000ull
#define LOGIN_BYTES_MAX (1u << 20)
#define MARK "sluice-environment-begins"

static bool login_run(struct stepd *stepd, struct str *out) {
    const struct step_order *order = &stepd->order;
    cleanup_str struct str name = STR_INIT, home = STR_INIT, user = STR_INIT, logname = STR_INIT,
                           shell = STR_INIT;
    struct confine_entry entry cleanup_confine_entry = CONFINE_ENTRY_INIT;
    cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int pipe_fds[2], errnum;
    pid_t pid;

    if (null < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0)
        return false;
    const char *program = order->shell && order->shell[0] ? order->shell : "/bin/sh";
    const char *slash = strrchr(program, '/');
    str_printf(&name, "-%s", slash ? slash + 1 : program);
    str_printf(&home, "HOME=%s", order->home ? order->home : "/");
    str_printf(&user, "USER=%s", order->user_name);
    str_printf(&logname, "LOGNAME=%s", order->user_name);
    str_printf(&shell, "SHELL=%s", program);
    char script[] = "printf '" MARK "\\0'; exec env -0";
    char dash_c[] = "-c", path[] = "PATH=/usr/local/bin:/usr/bin:/bin", term[] = "TERM=dumb";
    char *argv[] = {name.data, dash_c, script, NULL};
    char *envp[] = {home.data, user.data, logname.data, shell.data, path, term, NULL};
    struct spawn_plan plan = {.program = program,
                              .argv = argv,
                              .envp = envp,
                              .fds = {null, pipe_fds[1], null},
                              .identity = stepd->identity,
                              .umask = 022,
                              .entry = &entry};
    int r = confine_task(&stepd->confine, 0, &entry, NULL);
    if (r == 0)
        r = spawn_start(&plan, &pid, &errnum, NULL);
    close(pipe_fds[1]);
    if (r == 0)
        spawn_read(pipe_fds[0], LOGIN_USEC, LOGIN_BYTES_MAX, out);
    close(pipe_fds[0]);
    if (r == 0) {
        (void) killpg(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
    }
    return r == 0;
}

void login_env_load(struct stepd *stepd) {
    cleanup_str struct str text = STR_INIT;
    struct env login;
    char *begin;

    if (!login_run(stepd, &text) ||
        !(begin = memmem(str_cstr(&text), text.length, MARK, sizeof(MARK)))) {
        stepd_complain(stepd,
                       "The login environment of %s could not be read: its login shell %s "
                       "did not print it; the job starts without.",
                       stepd->order.user_name, stepd->order.shell);
        return;
    }
    begin += sizeof(MARK);
    env_init(&login, &stepd->arena);
    env_load(&login, (struct blob) {(uint8_t *) begin, (size_t) (text.data + text.length - begin)});
    vec_each (&stepd->env.entries, entry) {
        size_t length = strcspn(*entry, "=");
        cleanup_free char *name = xstrndup(*entry, length);
        env_set(&login, name, *entry + length + 1);
    }
    env_done(&stepd->env);
    stepd->env = login;
}
