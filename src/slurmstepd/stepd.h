/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurmstepd: the supervisor of one step on one node, be it a batch script or tasks of srun. It
 * outlives slurmd. Its life:
 *
 *   STARTING  order read; script written, files opened, tasks started
 *   RUNNING   streams, signals, commands
 *   ENDING    the last task has exited (or the step is being killed): whatever is left is killed
 *             until the group is empty
 *   ENDED     result known: srun has been told, slurmd is told until it says FORGET
 *
 * The same program takes a file for a job (bcast.c), which is no step.
 * One struct stepd per process, owned by main(); the modules below work on it.
 */
#ifndef SLUICE_SLURMSTEPD_STEPD_H
#define SLUICE_SLURMSTEPD_STEPD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/step_wire.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/vec.h"
#include "os/frame.h"
#include "os/loop.h"
#include "rpc/rpc.h"
#include "slurmstepd/bind.h"
#include "slurmstepd/confine.h"
#include "slurmstepd/env.h"
#include "slurmstepd/mem_bind.h"
#include "slurmstepd/mpi.h"
#include "slurmstepd/oom.h"
#include "slurmstepd/sample.h"
#include "slurmstepd/spawn.h"
#include "slurmstepd/track.h"

enum stepd_state { STEPD_STARTING, STEPD_RUNNING, STEPD_ENDING, STEPD_ENDED };

struct stepd;

/* A pipe (or the terminal) from a task to srun. */
struct task_output {
    struct task *task;
    uint32_t stream; /* 1 stdout, 2 stderr */
    int fd;          /* -1 = none */
    struct loop_fd *watch;
};

struct task {
    struct stepd *stepd;
    uint32_t rank, local_id;
    pid_t pid; /* 0 before the start */
    bool has_exited, is_told;
    bool is_oom;      /* killed for want of memory */
    pid_t epilog_pid; /* TaskEpilog that runs, 0 = none */
    int status;       /* as waitpid */
    struct task_output outputs[2];
    /* standard input: a pipe or the terminal */
    int in_fd; /* -1 = none, or closed */
    struct loop_fd *in_watch;
    struct str in_pending;
    size_t in_sent; /* of in_pending */
    bool in_eof;    /* nothing more comes after in_pending */
    /* --multi-prog: this rank's own command; NULL otherwise */
    char **argv;
};

struct output_file {
    char *path;
    int fd;
};

struct stepd {
    struct loop *loop;
    struct arena arena; /* order, launch, environment: as long as the process */
    enum stepd_state state;

    struct step_order order;
    struct launch *launch;           /* batch, or NULL */
    const struct job_node *job_node; /* batch: what the job holds here */
    struct step_launch *step;        /* srun, or NULL */
    const struct step_node *node;    /* srun: this node's part of the step */
    uint32_t node_index;
    struct spawn_identity identity_storage;
    const struct spawn_identity *identity; /* NULL: we run as that user already */
    struct env env;
    struct bind bind;         /* of the tasks to CPUs */
    struct mem_bind mem_bind; /* of their memory to NUMA nodes */
    struct mpi *mpi;          /* NULL = none */
    const char *work_dir;
    char *script_dir, *script; /* batch */

    struct task *tasks;
    size_t n_tasks, n_running, n_epilogs;
    uint64_t epilogs_until; /* then the step ends although an epilog still runs */
    struct confine confine;
    struct track track;

    /* Output files of this node by name: tasks that share one write behind each other. Closed when
     * all tasks have started. */
    vec(struct output_file) files;
    int message_fd; /* stderr of the job, -1 = to srun */
    bool has_pty;
    struct rpc_conn *srun;               /* NULL = none, or gone */
    bool srun_is_told;                   /* that the step has finished */
    struct x11 *x11;                     /* x11.c; NULL = no forwarding */
    struct list watchers;                /* watch.c */
    uint64_t stdin_received, stdin_told; /* of srun */
    bool outputs_paused;

    int listen_fd;
    struct loop_fd *listen_watch;
    char *socket_path;
    struct list links; /* to slurmd */

    struct loop_timer *timer, *limit_timer;
    uint64_t started_usec;
    uint64_t kill_at; /* SIGKILL follows then; 0 = not asked */
    uint64_t ending_since;
    unsigned kill_rounds;
    bool said_why;    /* the line of the end has been written */
    bool stuck;       /* something does not die */
    bool is_extern;   /* see extern.c */
    uint32_t adopted; /* process of the report that answers STEP_COMMAND_ADOPT, 0 = none */
    struct error adopt_failure;
    bool is_stillborn; /* no task of it was ever started */
    bool forgotten;    /* slurmd needs us no more; srun's last bytes may still leave */
    struct step_done done;
    struct sampler sampler;
    struct oom oom;
    struct loop_timer *gather_timer; /* NULL = not looked at while it runs */
    uint64_t gather_usec;            /* between two looks */
    bool over_memory;                /* ended because of OverMemoryKill */
    struct usage usage;              /* done.usage */
    struct usage_measure usage_measures[USAGE_KINDS];
    struct str detail; /* done.detail */
};

/* ---- main.c ---- */
/* A line of slurmstepd itself, "slurmstepd: error: TEXT", where the job's stderr goes. */
void stepd_complain(struct stepd *stepd, const char *fmt, ...) printf_like(2, 3);
void stepd_name(const struct stepd *stepd, struct str *out); /* "12.batch" */

/* ---- start.c ---- */
/* Files, script, environment, tasks. An error means that nothing runs; done.output_failed is set
 * when a file of the standard streams was the reason. */
must_check int stepd_start(struct stepd *stepd, struct error *err);

/* ---- extern.c ---- */
must_check int extern_start(struct stepd *stepd, struct error *err);
void extern_adopt(struct stepd *stepd, uint32_t pid); /* and reports */
/* Its job has ended, and nothing is left in it or the time to leave is over; else it looks again.
 */
bool extern_is_over(struct stepd *stepd, uint64_t now);

/* ---- hooks.c: TaskProlog, TaskEpilog and srun's own ---- */
/* Run before a task, as the user: what they print changes the task's environment (stepd->env) or
 * goes to out_fd (-1 = to srun). False: the task must not run. */
bool hooks_before(struct stepd *stepd, struct task *task, int out_fd);
/* Starts what is to run after a task; true when something runs now (task->epilog_pid). */
bool hooks_after(struct stepd *stepd, struct task *task);

/* ---- multi_prog.c ---- */
/* The command of one rank in a --multi-prog file, in the arena. ERR_NOT_FOUND. */
must_check int multi_prog_command(const char *text, size_t size, uint32_t rank, struct arena *arena,
                                  char ***ret_argv, struct error *err);

/* ---- login_env.c ---- */
/* Puts the variables of a login of the user under those that are set. */
void login_env_load(struct stepd *stepd);

/* ---- files.c: standard streams in files ---- */
/* Opens as the user; directories on the way are made. */
must_check int stepd_open_output(struct stepd *stepd, const char *pattern, uint32_t rank,
                                 int *ret_fd, struct error *err);
must_check int stepd_open_input(struct stepd *stepd, const char *pattern, uint32_t rank,
                                int *ret_fd, struct error *err);
void stepd_close_files(struct stepd *stepd);

/* ---- stream.c: standard streams to and from srun ---- */
/* Makes what a task needs: fds[0…2] are for the child, owned by the caller. */
must_check int stream_prepare(struct stepd *stepd, struct task *task, int fds[3],
                              struct error *err);
void stream_input(struct stepd *stepd, const struct step_io *io);
size_t stream_input_pending(const struct stepd *stepd); /* bytes that the slowest task leaves */
void stream_to_srun(struct stepd *stepd, uint32_t rank, uint32_t stream, const void *data,
                    size_t size, bool eof);
/* All processes are gone: what the pipes still hold goes out, then they are closed. */
void stream_drain(struct stepd *stepd);
/* The terminal is taken away: its session gets SIGHUP, as when a modem's line dropped. */
void stream_hang_up(struct stepd *stepd);
void stream_resize(struct stepd *stepd, uint32_t rows, uint32_t cols);

/* ---- srun.c: the connection handed over by slurmd ---- */
must_check int srun_adopt(struct stepd *stepd, int fd, struct error *err);
void srun_send(struct stepd *stepd, uint16_t type, uint16_t flags, const void *object);
/* To srun and to all that watch. */
void srun_tell(struct stepd *stepd, uint16_t type, uint16_t flags, const void *object);
void srun_fill_started(struct stepd *stepd, struct step_tasks *tasks); /* in the arena */
void srun_tell_started(struct stepd *stepd);
void srun_tell_ending(struct stepd *stepd); /* somebody has cancelled the step */
void srun_tell_exits(struct stepd *stepd);  /* of tasks not told yet */
void srun_tell_finished(struct stepd *stepd);
void srun_tell_failed(struct stepd *stepd, const struct error *why);

/* ---- watch.c: sattach ---- */
/* Somebody looks at the step: gets what srun gets from now on, as fast as it reads; what it does
 * not read in time is left out. fd is owned. */
void watch_add(struct stepd *stepd, int fd, const struct step_watcher *request);
void watch_send(struct stepd *stepd, uint16_t type, uint16_t flags, struct bytes body);
/* Tasks have read what waited for them. */
void watch_go_on(struct stepd *stepd);
bool watch_is_over(const struct stepd *stepd); /* nobody does */

/* ---- bcast.c: no step, but a file for a job (sbcast) ---- */
/* Takes the file as the user and passes it on; returns when that is done, or slurmd or the sender
 * has gone. srun_fd: the sender's connection, owned. */
must_check int bcast_run(struct stepd *stepd, int srun_fd, struct error *err);

/* ---- x11.c: X11 forwarding through srun's connection ---- */
/* Opens the display and tells the tasks (environment) where it is. */
must_check int x11_open(struct stepd *stepd, struct error *err);
void x11_message(struct stepd *stepd, const struct step_x11 *message);
void x11_close(struct stepd *stepd); /* and removes what was made for it */

/* ---- link.c: slurmd ---- */
must_check int link_open(struct stepd *stepd, int inherited_fd, struct error *err);
void link_report(struct stepd *stepd);       /* to every slurmd that listens */
void link_report_usage(struct stepd *stepd); /* likewise, with stepd->usage */
void link_close_all(struct stepd *stepd);

/* ---- gather.c: what the step uses ---- */
void gather_start(struct stepd *stepd); /* once the tasks run */
void gather_now(struct stepd *stepd);   /* looks and sums up, while the step runs */
void gather_sum(struct stepd *stepd);   /* into stepd->usage, from what is known */
/* The next child that has ended, its use counted; 0 when there is none. *ret_is_oom: killed for
 * want of memory. */
pid_t gather_wait(struct stepd *stepd, int *ret_status, bool *ret_is_oom);

/* ---- end.c ---- */
void stepd_children(struct stepd *stepd); /* reaps */
void stepd_command(struct stepd *stepd, const struct step_command *command);
void stepd_terminate(struct stepd *stepd, uint32_t kill_wait, const char *message);
void stepd_limit_time(struct stepd *stepd, uint32_t minutes);
void stepd_timer(void *stepd);
void stepd_leave(struct stepd *stepd); /* ends the program, unless somebody still needs it */
/* It could not be started: that is its result. */
void stepd_failed(struct stepd *stepd, const struct error *why);

#endif
