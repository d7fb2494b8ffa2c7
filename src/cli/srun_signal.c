/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to srun, and the terminal that --pty lends to task 0. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/srun.h"
#include "os/pty.h"

#define TWICE_USEC 1000000u /* a second ^C within this time means it */
#define GRACE_USEC 500000u  /* between the ^C that tasks get and their end */

/* ---- the terminal ---- */

int srun_terminal_check(struct srun *srun) {
    struct pty_size size;

    if (!srun->options.pty)
        return CLI_GO_ON;
    if (!isatty(0)) {
        cli_error(&srun->cli, "ioctl(TIOCGWINSZ): %s", strerror(ENOTTY));
        cli_error(&srun->cli, "Not using a pseudo-terminal, disregarding --pty option");
        return CLI_GO_ON;
    }
    if (!pty_get_size(0, &size))
        cli_verbose(&srun->cli, "the size of the terminal is not known");
    srun->pty = true;
    return CLI_GO_ON;
}

/* A terminal that is lent to another job of the shell is not ours to change. */
static bool terminal_is_ours(void) {
    return tcgetpgrp(0) == getpgrp();
}

void srun_terminal_raw(struct srun *srun) {
    struct error err = ERROR_INIT;

    if (srun->cli.is_raw || !terminal_is_ours())
        return;
    if (pty_raw(0, &srun->saved, &err) < 0)
        cli_error(&srun->cli, "%s", err.text);
    else
        srun->cli.is_raw = true;
}

void srun_terminal_restore(struct srun *srun) {
    if (srun->cli.is_raw && terminal_is_ours())
        pty_restore(0, &srun->saved);
    srun->cli.is_raw = false;
}

static void window_changed(struct srun *srun) {
    struct pty_size size;
    struct step_control control;

    if (!srun->pty || !pty_get_size(0, &size))
        return;
    record_init(&record_step_control, &control);
    control.pty_rows = size.rows;
    control.pty_cols = size.columns;
    srun_send_all(srun, MSG_STEP_CONTROL, &control);
}

/* ---- signals ---- */

/* message: a line of slurmstepd for the step's standard error, or NULL. */
static void forward(struct srun *srun, int number, const char *message) {
    struct step_control control;

    record_init(&record_step_control, &control);
    control.signal = (uint32_t) number;
    control.message = (char *) (uintptr_t) message;
    srun_send_all(srun, MSG_STEP_CONTROL, &control);
}

static void force_end(struct srun *srun) {
    cli_info(&srun->cli, "forcing job termination");
    srun_abort_wait(srun);
    srun_terminate(srun, false, "");
}

static void on_grace_over(void *context) {
    srun_terminate(context, false, NULL);
}

/* The tasks get a moment to obey SIGINT before they are killed. */
static void interrupt_and_end(struct srun *srun) {
    cleanup_str struct str message = STR_INIT;

    srun_cancel_text("", &message);
    forward(srun, SIGINT, message.data);
    cli_info(&srun->cli, "forcing job termination");
    srun_abort_wait(srun);
    srun->terminating = true;
    struct loop_timer *timer = loop_timer_add(srun->loop, on_grace_over, srun);
    loop_timer_set(timer, loop_monotonic_usec() + GRACE_USEC);
}

static void interrupted(struct srun *srun) {
    uint64_t now = loop_monotonic_usec();
    bool again = srun->n_interrupts > 0 && now - srun->interrupted_usec < TWICE_USEC;
    cleanup_str struct str name = STR_INIT;

    srun->interrupted_usec = now;
    srun->n_interrupts = again ? srun->n_interrupts + 1 : 1;
    if (srun->n_started < srun->n_nodes) { /* nothing runs yet that could take it */
        force_end(srun);
        return;
    }
    bool is_asked = !srun->options.quit_on_interrupt && !srun->options.disable_status;
    if (is_asked && !again) {
        cli_info(&srun->cli, "interrupt (one more within 1 sec to abort)");
        srun_print_states(srun);
        return;
    }
    if (srun->n_interrupts > (is_asked ? 2 : 1)) {
        force_end(srun);
        return;
    }
    srun_step_name(srun, &name);
    cli_info(&srun->cli, "sending Ctrl-C to %s", name.data);
    if (srun->options.disable_status)
        forward(srun, SIGINT, NULL);
    else
        interrupt_and_end(srun);
}

static void on_signal(int number, const void *siginfo, void *context) {
    struct srun *srun = context;

    switch (number) {
    case SIGINT:
        interrupted(srun);
        break;
    case SIGTERM:
    case SIGQUIT:
    case SIGHUP:
        force_end(srun);
        break;
    case SIGWINCH:
        window_changed(srun);
        break;
    case SIGTSTP: /* with a terminal only: not every shell takes it back from raw mode */
        srun_terminal_restore(srun);
        (void) kill(getpid(), SIGSTOP);
        break;
    case SIGCONT:
        if (srun->pty && srun->has_begun) { /* the shell has reset the terminal meanwhile */
            srun->cli.is_raw = false;
            srun_terminal_raw(srun);
            window_changed(srun);
        }
        srun_input_resume(srun);
        break;
    default:
        forward(srun, number, NULL);
    }
}

int srun_signals_open(struct srun *srun) {
    static const int numbers[] = {SIGINT,  SIGTERM,  SIGQUIT, SIGHUP, SIGUSR1,
                                  SIGUSR2, SIGWINCH, SIGCONT, SIGALRM};
    struct error err = ERROR_INIT;

    (void) signal(SIGPIPE, SIG_IGN);
    if (srun->pty && loop_signal(srun->loop, SIGTSTP, on_signal, srun, &err) < 0) {
        cli_error(&srun->cli, "%s", err.text);
        return srun->cli.error_status;
    }
    for (size_t i = 0; i < countof(numbers); i++) {
        if (loop_signal(srun->loop, numbers[i], on_signal, srun, &err) < 0) {
            cli_error(&srun->cli, "%s", err.text);
            return srun->cli.error_status;
        }
    }
    return CLI_GO_ON;
}
