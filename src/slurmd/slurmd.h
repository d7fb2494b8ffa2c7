/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurmd: the daemon of one node. A shell around agent/: it keeps the connection to the controller,
 * takes srun's connections, starts slurmstepds and talks to them, and carries out what the agent
 * decides. Steps do not depend on it: it can be stopped, killed and replaced at any time.
 *
 * One struct slurmd per process; everything runs in its loop, blocking work in the loop's threads.
 */
#ifndef SLUICE_SLURMD_SLURMD_H
#define SLUICE_SLURMD_SLURMD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/agent.h"
#include "base/list.h"
#include "base/map.h"
#include "base/rng.h"
#include "base/vec.h"
#include "model/conf.h"
#include "os/frame.h"
#include "os/loop.h"
#include "rpc/rpc.h"
#include "slurmd/fence.h"
#include "slurmd/gpu_watch.h"
#include "slurmd/gres.h"

/* What the machine has; conf-independent. */
struct machine {
    char *hostname, *os, *arch, *boot_id;
    uint32_t cpus, boards, sockets, cores, threads; /* cores per socket, threads per core */
    uint64_t memory, tmp_disk;                      /* MiB */
    int64_t boot_time;
    uint32_t *pu_numbers, *pu_cores, *pu_numa; /* of each hardware thread; see cpu_hardware */
};

struct options {
    const char *conf_file, *log_file, *node_name;
    bool foreground, systemd, print_machine, print_gres;
    bool new_boot; /* -b: appear as after a boot of the machine, for tests of scontrol reboot */
    int verbose;
};

struct step_link;
struct places;

struct slurmd {
    struct options options;
    struct loop *loop;
    char *conf_path;
    struct conf *conf;
    const struct conf_node *node; /* this node, in conf */
    char *node_name, *spool_dir;
    uid_t slurm_uid;
    struct rpc_auth auth;
    char *munge_socket;
    struct machine machine;
    struct cpu_map cpu_map; /* of this node, as conf describes it */
    int64_t start_time;
    struct gres_inventory gres; /* devices of this node; see gres.h */
    struct gpu_library *gpus;   /* the vendor's, while AutoDetect is on and it works, else NULL */
    struct gpu_watch *gpu_watch;
    char *gpu_problem;         /* why it does not work, NULL */
    vec(uint32_t) gpu_numbers; /* by GPU index: number of its device file */
    vec(char *) gpu_cores;     /* the cores near it, "" = unknown; of its device */
    vec(uint32_t) gpu_mps;     /* by GPU index: its shares of gres/mps */
    uint32_t gpu_env;          /* enum gpu_env of all of them */
    struct fences fences;
    char *stepd_path;
    int null_fd;
    bool has_log;
    char *pid_file;
    int pid_fd;

    struct agent *agent;
    struct loop_timer *agent_timer;

    /* controller.c */
    struct rpc_conn *controller; /* NULL = waiting to dial again */
    bool is_ready, is_registered, has_complained;
    size_t control_host;
    uint64_t lost_usec; /* since when there is no connection, loop_monotonic_usec() */
    bool is_unwanted;   /* the controller has turned this node away */
    struct rng rng;     /* spreads the nodes' attempts */
    uint32_t heartbeat; /* seconds */
    struct loop_timer *dial_timer, *heartbeat_timer;

    /* server.c */
    struct rpc_server *server;

    /* steps.c */
    struct list links; /* struct step_link */
    size_t n_adopting; /* found at the start and not yet heard of */
    struct loop_timer *adopt_timer;

    struct health *health; /* health.c */
    struct list sweeps;    /* sweep.c */

    struct list files;         /* bcast.c: those that write */
    struct list pending_steps; /* launch.c: srun's requests under way */
    struct list stats;         /* stat.c: sstat's */
    struct list held;          /* launch.c: launches that wait until the node is ready */

    struct places *places; /* places.c: NULL = jobs have no private directories */
    struct list jobs;      /* prolog.c: struct node_job */
    struct list scripts;   /* script.c: wait for their turn (PrologFlags=Serial) */
    size_t n_turns;        /* script.c: that run and keep those from beginning */

    /* users.c */
    struct map users; /* by uid: struct user */
};

/* Memory to decode a message in, which may be some times its encoded size. */
static inline void message_arena_init(struct arena *arena, struct bytes body) {
    arena_init(arena, (1u << 20) + body.size * 4u);
}

/* ---- main.c ---- */
void slurmd_reconfigure(struct slurmd *slurmd);
void slurmd_effects(struct slurmd *slurmd, struct agent_effects *effects); /* carries out, frees */

/* ---- machine.c ---- */
must_check int machine_look(struct machine *machine, const char *tmp_fs, struct error *err);
void machine_done(struct machine *machine);
/* As if it had booted at this moment. */
void machine_boot_anew(struct machine *machine);
/* The processors behind the node's cores; *ret is initialised or zeroed. */
void machine_map(const struct machine *machine, const struct conf_node *node, struct cpu_map *ret);
uint32_t machine_load(void);                                        /* hundredths; UNSET32 */
uint64_t machine_free_mem(void);                                    /* MiB; UNSET64 */
void machine_print(const struct machine *machine, struct str *out); /* slurmd -C */

/* ---- gpus.c ---- */
/* Which devices are there, by gres.conf and the vendor's library. */
void gres_look(struct slurmd *slurmd);
void gres_describe(const struct slurmd *slurmd, struct str *out); /* slurmd -G */

/* ---- controller.c ---- */
void controller_start(struct slurmd *slurmd);
void controller_send_body(struct slurmd *slurmd, uint16_t type, struct bytes body);
void controller_register(struct slurmd *slurmd);
/* The heartbeat, now. `checked`: it answers NODE_CHECK. */
void controller_send_status(struct slurmd *slurmd, bool checked);

/* ---- server.c ---- */
must_check int server_start(struct slurmd *slurmd, struct error *err);

/* ---- launch.c ---- */
/* A batch script from the controller; body is MSG_LAUNCH. */
void launch_batch(struct slurmd *slurmd, struct bytes body);
/* A step of srun, or a file: takes the connection over once the credential holds. */
void launch_step(struct slurmd *slurmd, struct rpc_conn *conn, const struct rpc_message *message);

/* The extern step of a job; of one that is here nothing happens. */
void launch_extern(struct slurmd *slurmd, struct step_key key, uint32_t uid);
/* A launch that was held goes on, or ends. */
void launch_go_on(struct slurmd *slurmd, struct step_key key);
void launch_drop(struct slurmd *slurmd, struct step_key key, const char *why);
void launch_conn_closed(struct slurmd *slurmd, const struct rpc_conn *conn);

/* ---- stat.c: sstat ---- */
/* Asks the step's slurmstepd; the answer goes out when that has looked. */
void stat_ask(struct slurmd *slurmd, struct rpc_conn *conn, const struct rpc_message *message);
void stat_report(struct slurmd *slurmd, const struct step_report *report);
void stat_step_gone(struct slurmd *slurmd, struct step_key key);
void stat_conn_closed(struct slurmd *slurmd, const struct rpc_conn *conn);
/* ---- bcast.c: files for jobs ---- */
/* Starts the process that takes the file of order->file_open; fd (the sender's connection) is
 * owned. It ends with slurmd, and with the job. */
void file_spawn(struct slurmd *slurmd, const struct step_order *order, int fd);
void files_end(struct slurmd *slurmd, uint32_t job_id);

/* ---- attach.c ---- */
/* Hands the connection of an sattach over to the slurmstepd of the step. */
void attach_step(struct slurmd *slurmd, struct rpc_conn *conn, const struct rpc_message *message);

/* ---- users.c ---- */
struct user {
    uid_t uid;
    gid_t gid;
    char *name, *home, *shell;
    gid_t *groups;
    size_t n_groups;
    uint64_t looked_up_at; /* loop_monotonic_usec() */
};
/* Calls fn, at once or later, with the user or NULL (unknown here). */
void user_find(struct slurmd *slurmd, uid_t uid, gid_t gid,
               void (*fn)(const struct user *user, void *context), void *context);
void users_clear(struct slurmd *slurmd);

/* ---- steps.c: slurmstepds ---- */
/* Starts a slurmstepd and gives it its order; srun_fd (-1 = none) is owned. On failure the agent is
 * told. */
void step_spawn(struct slurmd *slurmd, struct step_key key, const struct step_order *order,
                int srun_fd);
/* A launch is under way: commands for the step are kept until step_spawn(). */
void step_expect(struct slurmd *slurmd, struct step_key key);
bool step_is_expected(struct slurmd *slurmd, struct step_key key);
void step_give_up(struct slurmd *slurmd, struct step_key key);
void step_command(struct slurmd *slurmd, struct step_key key, const struct step_command *command);
/* The newest attempt of a step whose slurmstepd is there. */
bool step_find(const struct slurmd *slurmd, uint32_t job_id, uint32_t step_id,
               struct step_key *ret);
/* slurmstepd with one end of a socket as STEP_ORDER_FD; `what` is its title. */
must_check int stepd_exec(struct slurmd *slurmd, const char *what, int socket_fd,
                          struct error *err);
/* fd is owned. */
void step_watch(struct slurmd *slurmd, struct step_key key, struct bytes channel, int fd);
/* Dials every socket in the spool directory; steps whose slurmstepd is gone are swept. */
void steps_adopt(struct slurmd *slurmd);
/* Of whom something does not die: "Kill task failed: …", parts joined by "; ". */
void steps_stuck(const struct slurmd *slurmd, struct str *out);

/* ---- sweep.c ---- */
/* Kills what a dead slurmstepd left behind, then tells the agent. */
void sweep_step(struct slurmd *slurmd, struct step_key key);
void sweeps_stuck(const struct slurmd *slurmd, struct str *out); /* as steps_stuck() */

/* ---- places.c: private directories of jobs ---- */
/* On an error the old ones stay. */
must_check int places_configure(struct slurmd *slurmd, struct error *err);
/* places… of an order; some memory is the arena's. */
void places_order(const struct slurmd *slurmd, struct arena *arena, struct step_order *order);
/* Calls fn, at once or later, when the directories of the job are gone. */
void places_remove(struct slurmd *slurmd, uint32_t job_id, void (*fn)(void *context),
                   void *context);

/* ---- script.c ---- */
struct script {
    const char *record; /* names the run: a file below SlurmdSpoolDir/script; see script.c */
    const char *what;   /* "Prolog" */
    const struct conf_names *programs; /* paths, or patterns of paths */
    const struct str *env;             /* entries ended by NUL */
    uint32_t timeout;                  /* seconds, 0 = none */
};
/* problem NULL = all have ended with status 0. */
typedef void script_fn(const char *problem, void *context);
/* Calls fn once, at once or later. A run of that record that goes on, or is over, is not repeated.
 */
void script_run(struct slurmd *slurmd, const struct script *script, script_fn *fn, void *context);
/* While it holds, none that has to wait for its turn (PrologFlags=Serial) begins. */
void scripts_hold(struct slurmd *slurmd, bool hold);
void script_path(const struct slurmd *slurmd, const char *record, struct str *out);

/* ---- prolog.c: what is done for a job before its first step and after its last ---- */
/* Jobs have an extern step here. */
static inline bool has_extern(const struct slurmd *slurmd) {
    return slurmd->conf->prolog_flags & CONF_PROLOG_CONTAIN; /* NamespaceType implies it */
}
static inline bool runs_scripts(const struct slurmd *slurmd) {
    return slurmd->conf->prolog.n > 0 || slurmd->conf->epilog.n > 0 || has_extern(slurmd);
}
/* What this node is told of a job: kept until the job is forgotten here. */
void job_note(struct slurmd *slurmd, struct step_key key, uint32_t uid, const struct job *job,
              const char *cpus_per_node);
/* NULL: nothing. Lives until the job is noted again or forgotten. */
const struct job *job_noted(struct slurmd *slurmd, struct step_key key);
void prepare_job(struct slurmd *slurmd, struct step_key key, uint32_t uid);
void clean_job(struct slurmd *slurmd, struct step_key key, uint32_t uid);
void forget_job(struct slurmd *slurmd, struct step_key key);
/* The jobs that an earlier slurmd has begun with; after steps_adopt(). */
void jobs_adopt(struct slurmd *slurmd);
/* Tells the agent what the configuration wants done. */
void jobs_configure(struct slurmd *slurmd);

#endif
