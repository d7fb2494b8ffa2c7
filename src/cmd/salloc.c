/* SPDX-License-Identifier: Apache-2.0 */
/*
 * salloc: gets an allocation, runs a command beside it, gives it back. While the command runs, the
 * connection to the controller stays open and brings notices; when it breaks it is made again, and
 * the command notices nothing.
 */
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

#include "base/alloc.h"
#include "cli/alloc_env.h"
#include "cli/components.h"
#include "cli/connect.h"
#include "cli/environ.h"
#include "cli/filter.h"
#include "cli/main.h"
#include "cli/request.h"
#include "cli/x11.h"
#include "os/loop.h"

#define BELL_AFTER_USEC 10000000u /* of waiting, then the bell rings */
#define RECONNECT_MSEC 1000       /* between tries to find the controller again */
#define END_WAIT_USEC 5000000u    /* for the answer to giving the allocation back */
#define GIVE_BACK_USEC 60000000u  /* patience with a controller that is away at the end */
#define GIVE_BACK_MSEC 200        /* between tries */

struct salloc {
    struct cli cli;
    struct components components; /* of the command line */
    struct options *options;      /* of each component; those of the first count for the whole */
    size_t n;
    struct cli_link link; /* link.client is NULL while the controller is away */
    int signal_fd;
    uint32_t job_id;
    bool pending;  /* queued, not granted yet */
    bool revoked;  /* the controller has taken the allocation back */
    bool terminal; /* we and the command share a terminal */
    bool shell;    /* the command is the user's shell */
    pid_t child;   /* its process group too; 0: not running */
    int status;    /* wait status of the child */
    struct str environment;
    struct termios attributes;
};

/* ---- the terminal ---- */

static void terminal_give(const struct salloc *salloc, pid_t group) {
    if (salloc->terminal && tcsetpgrp(STDIN_FILENO, group) < 0 && errno != EPERM)
        cli_verbose(&salloc->cli, "cannot hand over the terminal: %s", strerror(errno));
}

static void ring(const struct salloc *salloc, uint64_t waited_usec) {
    bool late = salloc->options->bell == BELL_WHEN_LATE && waited_usec > BELL_AFTER_USEC;
    if ((late || salloc->options->bell == BELL_ALWAYS) && isatty(STDOUT_FILENO))
        (void) !write(STDOUT_FILENO, "\a", 1);
}

/* ---- signals ---- */

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static int signals_open(struct salloc *salloc) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < countof(forwarded); i++)
        sigaddset(&set, forwarded[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTOU, SIG_IGN); /* we take the terminal back from the background */
    signal(SIGTTIN, SIG_IGN);
    salloc->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (salloc->signal_fd >= 0)
        return CLI_GO_ON;
    cli_error(&salloc->cli, "signalfd: %s", strerror(errno));
    return salloc->cli.error_status;
}

/* The next signal, or 0. */
static int signals_next(const struct salloc *salloc) {
    struct signalfd_siginfo info;
    ssize_t n = read(salloc->signal_fd, &info, sizeof(info));
    return n == (ssize_t) sizeof(info) ? (int) info.ssi_signo : 0;
}

static void child_signal(const struct salloc *salloc, int number) {
    if (salloc->child > 0 && kill(-salloc->child, number) < 0)
        kill(salloc->child, number);
}

/* ---- what the controller says ---- */

static void tell_loss(const struct salloc *salloc, uint32_t job_id, bool timeout) {
    if (timeout)
        cli_info(&salloc->cli,
                 "Job %u has exceeded its time limit and its allocation has been "
                 "revoked.",
                 job_id);
    else
        cli_info(&salloc->cli, "Job allocation %u has been revoked.", job_id);
}

/* The allocation is gone. The command goes on unless a signal was asked for; a shell, which would
 * sit in front of nothing, is hung up. */
static void allocation_lost(struct salloc *salloc, bool timeout) {
    if (salloc->revoked)
        return;
    salloc->revoked = true;
    tell_loss(salloc, salloc->job_id, timeout);
    if (salloc->options->kill_command != UNSET32)
        child_signal(salloc, (int) salloc->options->kill_command);
    else if (salloc->shell)
        child_signal(salloc, SIGHUP);
}

static void take_whole_notice(struct salloc *salloc, const struct alloc_notice *notice) {
    const char *text = notice->text ? notice->text : "";
    switch ((enum alloc_notice_kind) notice->what) {
    case ALLOC_REVOKED:
        allocation_lost(salloc, false);
        break;
    case ALLOC_TIMEOUT:
        allocation_lost(salloc, true);
        break;
    case ALLOC_SIGNAL:
        child_signal(salloc, (int) notice->signal);
        break;
    case ALLOC_NODE_FAIL:
        cli_error(&salloc->cli, "Node failure on %s", text);
        break;
    case ALLOC_MESSAGE:
        cli_info(&salloc->cli, "%s", text);
        break;
    case ALLOC_SUSPENDED:
        cli_info(&salloc->cli, "job %u has been suspended", salloc->job_id);
        break;
    case ALLOC_RESUMED:
        cli_info(&salloc->cli, "job %u has been resumed", salloc->job_id);
        break;
    }
}

/* Components have the numbers that follow that of the job. */
static void take_component_notice(struct salloc *salloc, const struct alloc_notice *notice) {
    switch ((enum alloc_notice_kind) notice->what) {
    case ALLOC_REVOKED:
    case ALLOC_TIMEOUT:
        if (!salloc->revoked) /* the others go on */
            tell_loss(salloc, notice->job_id, notice->what == ALLOC_TIMEOUT);
        break;
    case ALLOC_SIGNAL:
    case ALLOC_NODE_FAIL:
    case ALLOC_MESSAGE:
        take_whole_notice(salloc, notice);
        break;
    case ALLOC_SUSPENDED: /* never one alone: it has been said */
    case ALLOC_RESUMED:
        break;
    }
}

static void take_notice(struct salloc *salloc, const struct alloc_notice *notice) {
    if (notice->job_id == salloc->job_id)
        take_whole_notice(salloc, notice);
    else if (notice->job_id - salloc->job_id < salloc->n)
        take_component_notice(salloc, notice);
}

/* Everything that has arrived. *ret_granted is set by the grant; a negative result is an error that
 * ends the request, not a broken connection. */
static int take_messages(struct salloc *salloc, const struct alloc_granted **ret_granted,
                         struct error *err) {
    while (salloc->link.client) {
        struct cli_reply reply;
        int rc = cli_receive(&salloc->link, 0, &reply, err);
        if (-rc == ERR_TIMEOUT)
            return 0;
        if (-rc == ERR_CLOSED || -rc == ERR_SYSTEM || -rc == ERR_CONNECT) {
            cli_link_close(&salloc->link);
            return 0;
        }
        if (rc < 0)
            return rc;
        if (reply.type == MSG_ALLOC_NOTICE)
            take_notice(salloc, reply.body);
        else if (reply.type == MSG_ALLOC_GRANTED && ret_granted)
            *ret_granted = reply.body;
    }
    return 0;
}

/* After a break: dial again and ask for the job, which also brings its notices here. */
static void reattach(struct salloc *salloc) {
    struct error err = ERROR_INIT;
    struct alloc_end attach = {.job_id = salloc->job_id, .attach = true};
    if (cli_link_open(&salloc->cli, false, &salloc->link, &err) < 0)
        return;
    if (cli_send(&salloc->link, MSG_ALLOC_ATTACH, &attach, &err) < 0)
        cli_link_close(&salloc->link);
}

/* Waits for a message, a signal, or the deadline. */
static void wait_for_events(struct salloc *salloc, int timeout_msec) {
    struct pollfd fds[2] = {{.fd = salloc->signal_fd, .events = POLLIN}, {.fd = -1}};
    if (salloc->link.client) {
        fds[1].fd = rpc_client_fd(salloc->link.client);
        fds[1].events = POLLIN;
    } else if (!salloc->revoked) {
        timeout_msec = timeout_msec < 0 ? RECONNECT_MSEC : min_of(timeout_msec, RECONNECT_MSEC);
    }
    int n = poll(fds, countof(fds), timeout_msec);
    if (n == 0 && !salloc->link.client && !salloc->revoked)
        reattach(salloc);
}

/* ---- asking ---- */

/* Seconds, the least that any component was given; UNSET32: none. */
static uint32_t immediate_seconds(const struct salloc *salloc) {
    uint32_t least = UNSET32;
    for (size_t i = 0; i < salloc->n; i++)
        least = min_of(least, salloc->options[i].job.immediate);
    return least;
}

static int refused(const struct salloc *salloc, const struct error *err) {
    if (immediate_seconds(salloc) == UNSET32 || -err->code != ERR_NODES_BUSY)
        return cli_failure(&salloc->cli, cli_refusal_prefix(OPTION_SALLOC, err), err);
    int status = cli_failure(&salloc->cli, "Unable to allocate resources", err);
    const char *asked = getenv("SLURM_EXIT_IMMEDIATE");
    int64_t number;
    return asked && str_to_i64(asked, &number) ? (int) (number & 0xff) : status;
}

static int send_end(struct salloc *salloc, uint32_t exit_status, struct error *err) {
    struct alloc_end end = {.job_id = salloc->job_id, .exit_status = exit_status};
    int rc = salloc->link.client ? cli_send(&salloc->link, MSG_ALLOC_END, &end, err) : -ERR_CLOSED;
    if (rc == 0)
        return 0;
    cli_link_close(&salloc->link);
    rc = cli_link_open(&salloc->cli, true, &salloc->link, err);
    return rc == 0 ? cli_send(&salloc->link, MSG_ALLOC_END, &end, err) : rc;
}

static int wait_for_ok(struct salloc *salloc, struct error *err) {
    struct cli_reply reply = {0};
    uint64_t deadline = loop_monotonic_usec() + END_WAIT_USEC;
    int rc;
    do {
        uint64_t now = loop_monotonic_usec();
        rc = cli_receive(&salloc->link, deadline > now ? deadline - now : 0, &reply, err);
    } while (rc == 0 && reply.type != MSG_OK);
    return rc;
}

/* Gives the allocation, or the place in the queue, back. The nodes would stay taken if we gave up
 * at once, so a controller that is away is waited for; a signal ends that. */
static void give_back(struct salloc *salloc, uint32_t exit_status) {
    uint64_t deadline = loop_monotonic_usec() + GIVE_BACK_USEC;
    for (bool told = false;; told = true) {
        struct error err = ERROR_INIT;
        int rc = send_end(salloc, exit_status, &err);
        if (rc == 0)
            rc = wait_for_ok(salloc, &err);
        bool away = -rc == ERR_CONNECT || -rc == ERR_CLOSED || -rc == ERR_TIMEOUT ||
                    -rc == ERR_SYSTEM || -rc == ERR_BUSY;
        if (rc == 0 || -rc == ERR_ALREADY_DONE || -rc == ERR_INVALID_JOB_ID)
            return;
        if (!away || loop_monotonic_usec() > deadline || (told && signals_next(salloc))) {
            cli_failure(&salloc->cli, "Unable to clean up job allocation", &err);
            return;
        }
        cli_link_close(&salloc->link);
        if (!told)
            cli_info(&salloc->cli, "waiting for the controller, to give job allocation %u back",
                     salloc->job_id);
        poll(NULL, 0, GIVE_BACK_MSEC);
    }
}

/* A signal or a deadline while queued. */
static int rescind(struct salloc *salloc, const char *text) {
    cli_error(&salloc->cli, "%s", text);
    give_back(salloc, 0);
    return salloc->cli.error_status;
}

static int wait_for_grant(struct salloc *salloc, const struct alloc_granted **ret) {
    uint32_t immediate = immediate_seconds(salloc);
    uint64_t deadline =
        immediate == UNSET32 ? UINT64_MAX : loop_monotonic_usec() + (uint64_t) immediate * 1000000u;
    while (true) {
        struct error err = ERROR_INIT;
        int rc = take_messages(salloc, ret, &err);
        if (-rc == ERR_ALREADY_DONE)
            allocation_lost(salloc, false);
        else if (rc < 0 && -rc != ERR_JOB_PENDING)
            return refused(salloc, &err);
        if (*ret)
            return CLI_GO_ON;
        if (salloc->revoked) {
            cli_info(&salloc->cli, "Job has been cancelled");
            cli_error(&salloc->cli, "%s: %s", option_failure_prefix(OPTION_SALLOC),
                      error_text(ERR_ALREADY_DONE));
            return salloc->cli.error_status;
        }
        uint64_t now = loop_monotonic_usec();
        if (now >= deadline)
            return rescind(salloc, "Unable to allocate resources: Connection timed out");
        int timeout = deadline == UINT64_MAX ? -1 : (int) ((deadline - now) / 1000 + 1);
        wait_for_events(salloc, timeout);
        for (int number; (number = signals_next(salloc)) != 0;)
            if (number != SIGCHLD && number != SIGUSR1 && number != SIGUSR2)
                return rescind(salloc, "Interrupted by signal. Allocation request rescinded.");
    }
}

static int ask(struct salloc *salloc, const struct alloc_granted **ret) {
    struct error err = ERROR_INIT;
    struct cli_reply reply;
    struct job_request *components = xcalloc(salloc->n, sizeof(*components));
    for (size_t i = 1; i < salloc->n; i++)
        components[i - 1] = salloc->options[i].job; /* only encoded */
    struct submit submit = {.job = &salloc->options->job,
                            .components = {components, (uint32_t) salloc->n - 1},
                            .advice = cli_advice_wanted(salloc->options)};
    uint64_t start = loop_monotonic_usec();
    int rc = cli_link_open(&salloc->cli, true, &salloc->link, &err);
    if (rc == 0)
        rc = cli_request(&salloc->link, MSG_SUBMIT, &submit, &reply, &err);
    free(components);
    if (rc < 0)
        return refused(salloc, &err);
    if (reply.type != MSG_SUBMIT_REPLY) {
        err.code = -ERR_PROTOCOL;
        return refused(salloc, &err);
    }
    const struct submit_reply *answer = reply.body;
    salloc->job_id = answer->job_id;
    salloc->pending = answer->pending;
    cli_print_lines(&salloc->cli, &answer->infos, &answer->warnings);
    if (salloc->pending) {
        cli_info(&salloc->cli, "Pending job allocation %u", salloc->job_id);
        cli_info(&salloc->cli, "job %u queued and waiting for resources", salloc->job_id);
    }
    int status = wait_for_grant(salloc, ret);
    if (status != CLI_GO_ON)
        return status;
    if (salloc->pending)
        cli_info(&salloc->cli, "job %u has been allocated resources", salloc->job_id);
    cli_info(&salloc->cli, "Granted job allocation %u", salloc->job_id);
    cli_filter_submitted(&salloc->cli, salloc->job_id, UNSET32);
    cli_print_lines(&salloc->cli, NULL, &(*ret)->warnings);
    ring(salloc, loop_monotonic_usec() - start);
    return CLI_GO_ON;
}

/* ---- the command ---- */

static const char *user_shell(void) {
    const char *shell = getenv("SHELL");
    if (shell && *shell)
        return shell;
    const struct passwd *user = getpwuid(getuid());
    return user && user->pw_shell && *user->pw_shell ? user->pw_shell : "/bin/sh";
}

/* srun with InteractiveStepOptions, read as a shell reads words; $SHELL and other variables are
 * ours. NULL when that cannot be read. */
static char **interactive_words(struct salloc *salloc) {
    static wordexp_t words = {.we_offs = 1};
    const char *options = salloc->link.conf->interactive_step_options;
    setenv("SHELL", user_shell(), 0);
    if (wordexp(options ? options : "", &words, WRDE_DOOFFS | WRDE_NOCMD) != 0) {
        cli_error(&salloc->cli,
                  "InteractiveStepOptions=%s cannot be read: it takes options of srun and a "
                  "command, quoted as in a shell",
                  options);
        return NULL;
    }
    words.we_wordv[0] = (char *) (uintptr_t) "srun";
    return words.we_wordv;
}

/* Words of the command; NULL-terminated, borrowed. NULL after an error message. */
static char **command_words(struct salloc *salloc) {
    static const char *shell[] = {NULL, NULL};
    struct option_uses *words = components_last(&salloc->components);
    if (words->rest.n) {
        vec_push(&words->rest, NULL);
        words->rest.n--;
        return words->rest.items;
    }
    salloc->shell = true;
    shell[0] = user_shell();
    bool in_step = salloc->link.conf->launch_parameters & CONF_LAUNCH_INTERACTIVE_STEP;
    return in_step ? interactive_words(salloc) : (char **) shell;
}

static bool command_exists(const char *name) {
    if (strchr(name, '/'))
        return access(name, X_OK) == 0;
    const char *path = getenv("PATH");
    cleanup_free char *copy = xstrdup(path ? path : "/bin:/usr/bin");
    char *cursor = copy;
    for (char *directory; (directory = str_next_word(&cursor, ":")) != NULL;) {
        cleanup_free char *file = xasprintf("%s/%s", directory, name);
        if (access(file, X_OK) == 0)
            return true;
    }
    return false;
}

/* In the child: its own process group, the terminal, default signals, exec. */
static void exec_command(const struct salloc *salloc, char **words) {
    setpgid(0, 0);
    terminal_give(salloc, getpid());
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTTOU, SIG_DFL);
    signal(SIGTTIN, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    vec(char *) entries = {0};
    const struct str *block = &salloc->environment;
    for (size_t at = 0; at < block->length; at += strlen(block->data + at) + 1)
        vec_push(&entries, block->data + at);
    vec_push(&entries, NULL);
    execvpe(words[0], words, entries.items);
    cli_error(&salloc->cli, "execv failed for %s: %s", words[0], strerror(errno));
    _exit(127);
}

static void build_environment(struct salloc *salloc, const struct alloc_granted *granted) {
    environ_capture(environ, NULL, &salloc->environment);
    if (granted->components.n > 0)
        alloc_env_fill_components(granted->components.items, granted->components.n, salloc->options,
                                  &salloc->environment);
    else
        alloc_env_fill(granted->job, salloc->options, &salloc->environment);
    if (salloc->options->job.x11)
        environ_set(&salloc->environment, X11_VARIABLE, salloc->options->job.x11);
}

static int start_command(struct salloc *salloc) {
    char **words = command_words(salloc);
    if (!words)
        return 1;
    if (!command_exists(words[0])) {
        cli_error(&salloc->cli, "_fork_command: Unable to find command \"%s\"", words[0]);
        return 1;
    }
    salloc->child = fork();
    if (salloc->child == 0)
        exec_command(salloc, words);
    if (salloc->child < 0) {
        cli_error(&salloc->cli, "fork failed: %s", strerror(errno));
        salloc->child = 0;
        return 1;
    }
    setpgid(salloc->child, salloc->child);
    terminal_give(salloc, salloc->child);
    return CLI_GO_ON;
}

/* A stopped command stops us too, so that the shell that started us takes over; when it continues
 * us the command continues. */
static void follow_stop(const struct salloc *salloc) {
    if (!salloc->terminal)
        return;
    terminal_give(salloc, getpgrp());
    kill(getpid(), SIGSTOP);
    terminal_give(salloc, salloc->child);
    child_signal(salloc, SIGCONT);
}

/* True when the command has ended. */
static bool reap(struct salloc *salloc) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid != salloc->child)
            continue;
        if (WIFSTOPPED(status)) {
            follow_stop(salloc);
            continue;
        }
        salloc->status = status;
        salloc->child = 0;
        return true;
    }
    return false;
}

static void run_command(struct salloc *salloc) {
    while (true) {
        struct error err = ERROR_INIT;
        int rc = take_messages(salloc, NULL, &err);
        /* Asked again after a restart, the controller knows the job no more. */
        if (rc < 0)
            allocation_lost(salloc, false);
        wait_for_events(salloc, -1);
        bool child_event = false;
        for (int number; (number = signals_next(salloc)) != 0;) {
            if (number == SIGCHLD)
                child_event = true;
            else
                child_signal(salloc, number);
        }
        if (child_event && reap(salloc)) {
            (void) !take_messages(salloc, NULL, &err); /* what it has brought about itself */
            return;
        }
    }
}

static int command_status(const struct salloc *salloc) {
    if (WIFEXITED(salloc->status))
        return WEXITSTATUS(salloc->status);
    int number = WTERMSIG(salloc->status);
    bool usual = number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGKILL;
    return usual ? 0 : 1;
}

static int use(struct salloc *salloc, const struct alloc_granted *granted) {
    build_environment(salloc, granted);
    if (salloc->terminal)
        tcgetattr(STDIN_FILENO, &salloc->attributes);
    int status = start_command(salloc);
    uint32_t exit_status = (uint32_t) (status > 0 ? status << 8 : 0);
    if (status == CLI_GO_ON) {
        run_command(salloc);
        terminal_give(salloc, getpgrp());
        if (salloc->terminal)
            tcsetattr(STDIN_FILENO, TCSADRAIN, &salloc->attributes);
        status = command_status(salloc);
        exit_status = (uint32_t) salloc->status;
    }
    if (salloc->revoked)
        return status;
    cli_info(&salloc->cli, "Relinquishing job allocation %u", salloc->job_id);
    give_back(salloc, exit_status);
    return status;
}

/* ---- */

static int prepare_component(struct salloc *salloc, struct options *options, int argc,
                             char **argv) {
    struct job_request *job = &options->job;
    const struct conf *conf = cli_conf(&salloc->cli);
    if (!conf)
        return salloc->cli.error_status;
    int status = job->clusters ? cli_check_clusters(&salloc->cli, job->clusters) : CLI_GO_ON;
    if (status == CLI_GO_ON)
        status = request_fill(&salloc->cli, options, conf, argc, argv);
    job->kind = JOB_KIND_SALLOC;
    return status;
}

/* What concerns the whole, whichever component it was given for. */
static void share_options(struct salloc *salloc) {
    bool no_shell = false;
    for (size_t i = 0; i < salloc->n; i++)
        no_shell = no_shell || salloc->options[i].no_shell;
    for (size_t i = 0; i < salloc->n; i++) {
        struct job_request *job = &salloc->options[i].job;
        salloc->options[i].no_shell = job->no_shell = no_shell;
        if (!job->name)
            string_set(&job->name, no_shell ? "no-shell" : "interactive");
    }
}

static int prepare(struct salloc *salloc, int argc, char **argv) {
    struct job_request *job = &salloc->options->job;
    int status = CLI_GO_ON;
    for (size_t i = 0; i < salloc->n && status == CLI_GO_ON; i++)
        status = prepare_component(salloc, &salloc->options[i], argc, argv);
    if (status != CLI_GO_ON)
        return status;
    if (options_given(salloc->options, OPT_chdir) && chdir(job->work_dir) < 0) {
        cli_error(&salloc->cli, "chdir to %s: %s", job->work_dir, strerror(errno));
        return salloc->cli.error_status;
    }
    struct x11_display display;
    if (job->x11 && !x11_display_read(&salloc->cli, &display))
        return 255;
    share_options(salloc);
    /* Job control needs a terminal that is ours to give. */
    salloc->terminal =
        !job->no_shell && isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
    return signals_open(salloc);
}

static int read_options(struct salloc *salloc, int argc, char **argv) {
    struct option_set set = option_set_of(OPTION_SALLOC, salloc->cli.name);
    int status =
        components_scan(&salloc->cli, &set, argv + 1, (size_t) argc - 1, &salloc->components);
    salloc->n = components_count(&salloc->components);
    salloc->options = xcalloc(salloc->n, sizeof(*salloc->options));
    for (size_t i = 0; i < salloc->n; i++)
        options_init(&salloc->options[i], OPTION_SALLOC);
    for (size_t i = 0; i < salloc->n && status == CLI_GO_ON; i++)
        status = components_read(&salloc->cli, &salloc->components, i, &salloc->options[i]);
    return status;
}

static int run(struct salloc *salloc, int argc, char **argv) {
    const struct alloc_granted *granted = NULL;
    int status = read_options(salloc, argc, argv);
    if (status == CLI_GO_ON)
        status = prepare(salloc, argc, argv);
    if (status == CLI_GO_ON)
        status = ask(salloc, &granted);
    if (status != CLI_GO_ON)
        return status;
    if (salloc->options->no_shell)
        return 0;
    if (granted->job)
        return use(salloc, granted);
    cli_error(&salloc->cli, "%s: %s", option_failure_prefix(OPTION_SALLOC),
              error_text(ERR_PROTOCOL));
    return salloc->cli.error_status;
}

int main(int argc, char **argv) {
    struct salloc salloc = {.signal_fd = -1};
    cli_init(&salloc.cli, "salloc");
    int status = argc < 1 ? 1 : run(&salloc, argc, argv);
    cli_link_close(&salloc.link);
    for (size_t i = 0; i < salloc.n; i++)
        options_done(&salloc.options[i]);
    free(salloc.options);
    components_done(&salloc.components);
    str_done(&salloc.environment);
    fd_cleanup(&salloc.signal_fd);
    return status;
}
