/* SPDX-License-Identifier: Apache-2.0 */
/*
 * srun: asks for an allocation or for a step in one, dials the slurmds of the step's nodes, carries
 * the tasks' streams, signals and ends, and leaves with the worst exit code.
 *
 * The controller is asked by a blocking connection first; from the launch on everything runs in one
 * event loop. One struct srun per process; the parts:
 *   srun_ask.c     the allocation, the step, what is said while waiting
 *   srun_launch.c  connections to the nodes
 *   srun_exchange.c  what MPI servers on the nodes tell each other
 *   srun_input.c   standard input with a window per node
 *   srun_output.c  standard output and error: lines, labels, files, back-pressure
 *   srun_tasks.c   starts and ends of tasks: messages, --kill-on-bad-exit, --wait
 *   srun_signal.c  signals and the terminal
 *   srun_scripts.c programs that run here before and after the step
 */
#ifndef SLUICE_CLI_SRUN_H
#define SLUICE_CLI_SRUN_H

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

#include "base/list.h"
#include "base/vec.h"
#include "cli/components.h"
#include "cli/connect.h"
#include "cli/main.h"
#include "os/loop.h"
#include "rpc/rpc.h"

#define SRUN_SILENCE_SECONDS 60 /* of a node that does not acknowledge: then it counts as lost */

enum task_state { TASK_WAITING, TASK_RUNNING, TASK_EXITED };

struct srun_task {
    uint8_t state; /* enum task_state */
    uint16_t node; /* index in srun->nodes */
    bool is_told;  /* its end has been printed */
    bool is_oom;   /* killed for want of memory */
    uint32_t status;
    struct str lines[2]; /* unfinished line of stdout, stderr */
};

struct srun;

struct srun_node {
    struct srun *srun;
    struct srun *part; /* the component that it is in; srun itself where there are none */
    const struct step_node *layout;
    struct rpc_conn *conn; /* NULL when closed */
    bool has_started, has_finished;
    uint64_t stdin_taken;
};

/* Where output goes: srun's own stdout and stderr, or a file. */
struct srun_sink {
    struct srun *srun;
    int fd;
    struct str queue;
    size_t sent; /* of queue */
    struct loop_fd *watch;
    bool is_plain; /* a regular file: never blocks */
    bool is_broken;
};

struct srun {
    struct cli cli;
    struct options options;
    struct option_uses uses;
    struct cli_link link; /* link.client NULL: not connected */
    struct str environment;
    struct step_layout *layout; /* in link's arena copy: owned, record_free */
    uint32_t job_id;
    /* Of a step in several components: all of them, this one first; else this one alone. */
    struct srun **parts;
    size_t n_parts;
    uint32_t step_wanted; /* the number that its step is to have, UNSET32 = the next */
    uint32_t first_rank, first_node;
    struct step_layout *own_layout; /* of this part alone; `layout` is of all */
    bool own_job;                   /* the allocation is ours to give back */
    struct srun_x11 *x11;           /* NULL = no forwarding */
    struct str multi_prog;
    char *program; /* --bcast: where it is here; NULL = no copy */
    int status;    /* exit status to be */

    struct loop *loop;
    struct loop_fd *controller_watch;
    struct loop_timer *reattach_timer;
    struct rpc_conn *reattached; /* the controller, after the first connection broke */
    uid_t slurm_uid, slurmd_uid;
    struct rpc_auth auth;

    struct srun_node *nodes;
    size_t n_nodes, n_started, n_finished;
    struct srun_task *tasks;
    size_t n_tasks, n_exited;

    /* output */
    struct srun_sink sinks[2];
    struct srun_sink *out[2]; /* of stdout, stderr: may be the same */
    unsigned label_width;     /* 0 = no labels */
    bool by_line, is_paused;
    char *node_output[2]; /* patterns that the nodes open; NULL = streamed to us */

    /* input */
    char *node_input;
    int in_fd; /* -1 = none */
    struct loop_fd *in_watch;
    uint64_t in_sent;
    uint32_t in_rank; /* UNSET32 = all */
    bool in_done;

    /* ends */
    struct loop_timer *tell_timer, *wait_timer, *abort_timer;
    uint64_t first_exit_usec;
    bool aborted;     /* "Job step aborted" has been said */
    bool terminating; /* the step has been told to end */
    bool any_forced;  /* a task died of KILL or TERM */
    bool launch_failed, out_of_memory;
    bool only_looks; /* sattach: the step is somebody else's to end */

    struct list gatherings; /* srun_exchange.c */

    /* signals, terminal */
    uint64_t interrupted_usec;
    unsigned n_interrupts;
    bool has_begun; /* all nodes have started their tasks */
    bool pty;       /* and cli.is_raw while it is lent to task 0 */
    struct termios saved;
};

/* ---- srun_ask.c ---- all return CLI_GO_ON or an exit status */
int srun_ask(struct srun *srun);
/* Gives the allocation back; the last thing. */
void srun_give_back(struct srun *srun);
/* "StepId=12.0" */
void srun_step_name(const struct srun *srun, struct str *out);
int srun_watch_controller(struct srun *srun);

/* ---- srun_het.c ---- */
/* What the command line asks for in one component. */
struct srun_part {
    uint32_t group;
    int argc;
    char **argv;
};
struct srun_parts {
    struct srun_part items[HET_COMPONENTS_MAX];
    size_t n;
    uint32_t size; /* components of the job that the parts are steps in; 0 = it is none such */
    bool own;      /* no such job: the parts are components of an allocation to be asked for */
};
/* Splits the command line at each word ":"; there is one part at least. Where a job is named whose
 * components our environment does not know, the controller is asked for them. */
int srun_het_read(const struct cli *cli, int argc, char **argv, struct srun_parts *parts);
/* The words of parts->own as the options of components. */
int srun_het_scan(const struct cli *cli, const struct srun_parts *parts,
                  struct components *ret_components);
/* What concerns the whole allocation, whichever component it was given for. */
void srun_het_share(struct srun *srun);
/* The allocation is there. */
int srun_het_granted(struct srun *srun, const struct alloc_granted *granted);
/* The process's environment becomes that of the component. */
void srun_het_enter(uint32_t group);
/* Its step is in that component, also where the whole job was named by --jobid. */
void srun_het_choose(struct srun *part, uint32_t group);
/* All parts have their steps: makes one layout of them. */
void srun_het_merge(struct srun *srun);

/* ---- srun_scripts.c ---- */
/* CLI_GO_ON, or the exit status of an srun whose prolog has failed. */
int srun_prolog(struct srun *srun);
void srun_epilog(struct srun *srun);

/* ---- srun_launch.c ---- */
int srun_launch(struct srun *srun);
void srun_send(struct srun_node *node, uint16_t type, const void *object);
void srun_send_all(struct srun *srun, uint16_t type, const void *object);
/* Ends the step: KILL now, or TERM and after a while KILL. The job reads "*** STEP … CANCELLED AT …
 * ***" with `why` at its end; NULL: without a word. */
void srun_terminate(struct srun *srun, bool gently, const char *why);
void srun_cancel_text(const char *why, struct str *out); /* "CANCELLED AT …" */

/* ---- srun_exchange.c ---- */
void srun_exchange(struct srun_node *node, const struct step_exchange *exchange);

/* ---- srun_output.c ---- */
int srun_output_open(struct srun *srun);
void srun_output_data(struct srun *srun, const struct step_io *io);
void srun_output_flush(struct srun *srun); /* all that is left; blocks */

/* ---- srun_input.c ---- */
int srun_input_open(struct srun *srun);
void srun_input_start(struct srun *srun);
/* We are in the foreground again, perhaps. */
void srun_input_resume(struct srun *srun);
void srun_input_taken(struct srun_node *node, uint64_t taken);
void srun_input_close(struct srun *srun);

/* ---- srun_tasks.c ---- */
void srun_tasks_started(struct srun_node *node, const struct step_tasks *tasks);
void srun_tasks_exited(struct srun_node *node, const struct step_tasks *tasks);
void srun_node_finished(struct srun_node *node, const struct step_done *done);
void srun_node_lost(struct srun_node *node, const struct error *why);
void srun_tasks_begin(struct srun *srun);
/* "Job step aborted: …", once; after KillWait and 2 s srun leaves. */
void srun_abort_wait(struct srun *srun);
void srun_print_states(struct srun *srun);
void srun_tasks_summary(struct srun *srun);

/* ---- srun_signal.c ---- */
int srun_signals_open(struct srun *srun);
int srun_terminal_check(struct srun *srun);
void srun_terminal_raw(struct srun *srun);
void srun_terminal_restore(struct srun *srun);

/* ---- srun_bcast.c ---- */
/* --bcast: the program's path here, before anything is asked for; then the copy, and the command is
 * the copy's path. */
int srun_bcast_check(struct srun *srun);
int srun_bcast(struct srun *srun);

/* ---- srun_x11.c ---- */
int srun_x11_check(struct srun *srun); /* is there a display to forward? */
void srun_x11_fill(struct srun_node *node, struct step_launch *launch);
void srun_x11_message(struct srun_node *node, const struct step_x11 *message);

/* ---- srun_multi.c ---- */
int srun_multi_read(struct srun *srun);
int srun_multi_check(struct srun *srun);

#endif
