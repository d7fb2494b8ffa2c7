/* SPDX-License-Identifier: Apache-2.0 */
/* What srun and the controller say to each other. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/srun.h"

#define END_WAIT_USEC 5000000u     /* for the answer to giving the allocation back */
#define GIVE_BACK_USEC 60000000ull /* for a controller that is away to come back */
#define REATTACH_USEC 1000000u     /* between tries to find the controller again */

void srun_step_name(const struct srun *srun, struct str *out) {
    str_append(out, "StepId=");
    str_append_u64(out, srun->layout->job_id);
    str_append_char(out, '.');
    step_id_print(srun->layout->step_id, out);
}

/* ---- waiting in the queue ---- */

/* Signals that end a wait: blocked, to be taken when we look for them. */
static void block_signals(sigset_t *ret) {
    sigemptyset(ret);
    sigaddset(ret, SIGINT);
    sigaddset(ret, SIGTERM);
    sigaddset(ret, SIGHUP);
    sigaddset(ret, SIGQUIT);
    sigprocmask(SIG_BLOCK, ret, NULL);
}

/* Those signals as a descriptor to poll. */
static int open_signals(void) {
    sigset_t set;

    block_signals(&set);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The next message of the controller; ERR_TIMEOUT when a signal came instead (*ret_signal). */
static int next_message(struct srun *srun, int signal_fd, struct cli_reply *ret, int *ret_signal,
                        struct error *err) {
    while (true) {
        int rc = cli_receive(&srun->link, 0, ret, err);
        if (-rc != ERR_TIMEOUT)
            return rc;
        struct pollfd fds[2] = {{.fd = rpc_client_fd(srun->link.client), .events = POLLIN},
                                {.fd = signal_fd, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return error_errno(err, errno, "poll()");
        struct signalfd_siginfo info;
        if (fds[1].revents && read(signal_fd, &info, sizeof(info)) == (ssize_t) sizeof(info)) {
            *ret_signal = (int) info.ssi_signo;
            return -ERR_TIMEOUT;
        }
    }
}

static void unblock_signals(int signal_fd) {
    sigset_t none;

    if (signal_fd >= 0)
        close(signal_fd);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- an allocation of our own ---- */

static int alloc_refused(struct srun *srun, const struct error *err) {
    int status = cli_failure(&srun->cli, cli_refusal_prefix(OPTION_SRUN, err), err);
    const char *asked = getenv("SLURM_EXIT_IMMEDIATE");
    int64_t number;

    if (srun->options.job.immediate != UNSET32 && -err->code == ERR_NODES_BUSY && asked &&
        str_to_i64(asked, &number))
        return (int) (number & 0xff);
    return status;
}

static int alloc_cancelled(struct srun *srun) {
    cli_info(&srun->cli, "Job has been cancelled");
    cli_error(&srun->cli, "%s: %s", option_failure_prefix(OPTION_SRUN),
              error_text(ERR_ALREADY_DONE));
    srun->own_job = false;
    return srun->cli.error_status;
}

static int step_refused(struct srun *srun, const struct error *err) {
    cleanup_str struct str prefix = STR_INIT;
    int code = -err->code;

    if (code == ERR_INVALID_JOB_ID || code == ERR_JOB_FINISHED) {
        if (code == ERR_JOB_FINISHED)
            cli_error(&srun->cli, "Slurm job %u has expired", srun->job_id);
        else
            cli_error(&srun->cli, "Unable to confirm allocation for job %u: %s", srun->job_id,
                      error_text(code));
        cli_info(&srun->cli, "Check SLURM_JOB_ID environment variable. Expired or invalid job %u",
                 srun->job_id);
        return srun->cli.error_status;
    }
    struct error shown = *err;
    if (code == ERR_USER_ID)
        shown.code = -ERR_ACCESS_DENIED;
    str_printf(&prefix, "Unable to create step for job %u", srun->job_id);
    return cli_failure(&srun->cli, prefix.data, &shown);
}

static int take_grant(struct srun *srun, const struct alloc_granted *granted) {
    cli_print_lines(&srun->cli, NULL, &granted->warnings);
    if (srun->n_parts > 1)
        return srun_het_granted(srun, granted);
    if (!granted->step) {
        struct error err = ERROR_INIT;
        (void) error_set(&err, granted->step_code ? (enum err) granted->step_code : ERR_GENERIC,
                         "%s", granted->step_detail ? granted->step_detail : "its log tells why");
        return step_refused(srun, &err);
    }
    srun->layout = record_dup(&record_step_layout, granted->step);
    return CLI_GO_ON;
}

static int wait_for_grant(struct srun *srun, bool pending) {
    int signal_fd = open_signals(), number = 0, status;
    struct error err = ERROR_INIT;
    struct cli_reply reply;

    while (true) {
        int rc = next_message(srun, signal_fd, &reply, &number, &err);
        if (rc < 0 && number) {
            cli_info(&srun->cli, "Cancelled pending job step with signal %d", number);
            srun_give_back(srun);
            status = alloc_cancelled(srun);
            break;
        }
        if (rc < 0) {
            bool cancelled = pending && -rc == ERR_ALREADY_DONE;
            status = cancelled ? alloc_cancelled(srun) : alloc_refused(srun, &err);
            break;
        }
        if (reply.type == MSG_ALLOC_NOTICE) {
            const struct alloc_notice *notice = reply.body;
            if (notice->what == ALLOC_REVOKED) {
                status = alloc_cancelled(srun);
                break;
            }
        }
        if (reply.type == MSG_ALLOC_GRANTED) {
            if (pending)
                cli_info(&srun->cli, "job %u has been allocated resources", srun->job_id);
            status = take_grant(srun, reply.body);
            break;
        }
    }
    unblock_signals(signal_fd);
    return status;
}

/* For one component the first step comes with the allocation. */
static int send_request(struct srun *srun, struct cli_reply *ret, struct error *err) {
    struct step_request step;
    cleanup_free struct job_request *components =
        xcalloc(srun->n_parts, sizeof(*components)); /* only encoded */
    struct submit submit = {.job = &srun->options.job,
                            .test_only = srun->options.test_only,
                            .components = {components, (uint32_t) srun->n_parts - 1},
                            .step = srun->n_parts > 1 ? NULL : &step,
                            .advice = cli_advice_wanted(&srun->options)};

    for (size_t p = 1; p < srun->n_parts; p++)
        components[p - 1] = srun->parts[p]->options.job;
    options_step(&srun->options, &step);
    step.srun_pid = (uint32_t) getpid();
    string_set(&step.srun_host, srun->options.job.alloc_node);
    string_set(&step.submit_line, srun->options.job.submit_line);
    int rc = cli_request(&srun->link, MSG_SUBMIT, &submit, ret, err);
    record_done(&record_step_request, &step);
    return rc;
}

static int ask_allocation(struct srun *srun) {
    struct error err = ERROR_INIT;
    struct cli_reply reply;
    int rc = send_request(srun, &reply, &err);

    if (rc < 0 && srun->options.test_only) {
        cleanup_str struct str line = STR_INIT;
        str_printf(&line, "allocation failure: %s\n", error_text(err.code));
        cli_raw(line.data);
        return srun->cli.error_status;
    }
    if (rc < 0)
        return alloc_refused(srun, &err);
    if (reply.type != MSG_SUBMIT_REPLY) {
        (void) error_set(&err, ERR_PROTOCOL, "the controller answered with message %u", reply.type);
        return alloc_refused(srun, &err);
    }
    const struct submit_reply *answer = reply.body;
    cli_print_lines(&srun->cli, &answer->infos, &answer->warnings);
    if (srun->options.test_only) {
        cli_print_plan(&srun->cli, answer);
        return 0;
    }
    srun->job_id = answer->job_id;
    srun->own_job = true;
    if (answer->pending)
        cli_info(&srun->cli, "job %u queued and waiting for resources", srun->job_id);
    return wait_for_grant(srun, answer->pending);
}

/* ---- a step in a job ---- */

static int take_layout(struct srun *srun, const struct step_layout *layout) {
    srun->layout = record_dup(&record_step_layout, layout);
    srun->job_id = layout->job_id;
    return CLI_GO_ON;
}

static int wait_for_layout(struct srun *srun, struct cli_reply *reply) {
    int signal_fd = open_signals(), number = 0, status = CLI_GO_ON;
    const struct step_reply *answer = reply->body;
    struct error err = ERROR_INIT;

    cli_info(&srun->cli, "Job %u step creation temporarily disabled, retrying (%s)", srun->job_id,
             answer->reason ? answer->reason : error_text(ERR_NODES_BUSY));
    while (!srun->layout && status == CLI_GO_ON) {
        int rc = next_message(srun, signal_fd, reply, &number, &err);
        if (rc < 0 && number) {
            cli_info(&srun->cli, "Cancelled pending step for job %u", srun->job_id);
            status = srun->cli.error_status;
        } else if (rc < 0) {
            status = step_refused(srun, &err);
        } else if (reply->type == MSG_STEP_REPLY) {
            answer = reply->body;
            if (answer->layout)
                status = take_layout(srun, answer->layout);
        }
    }
    unblock_signals(signal_fd);
    if (status == CLI_GO_ON) {
        cleanup_str struct str name = STR_INIT;
        srun_step_name(srun, &name);
        cli_info(&srun->cli, "Step created for %s", name.data);
    }
    return status;
}

/* Nodes of the surrounding job; 0 when it is not the one that is asked. */
static uint64_t nodes_around(const struct srun *srun) {
    const char *job = getenv("SLURM_JOB_ID"), *nodes = getenv("SLURM_JOB_NUM_NODES");
    uint64_t id, n;

    return job && nodes && str_to_u64(job, &id) && str_to_u64(nodes, &n) && id == srun->job_id ? n
                                                                                               : 0;
}

/* What the surrounding job is known to have can be refused without asking. */
static int check_nodes(struct srun *srun) {
    const struct options *options = &srun->options;
    uint32_t relative = options->relative, nodes = max_of(options->job.min_nodes, 1u);
    uint64_t n = nodes_around(srun);

    if (relative != UNSET32 && (options->job.req_nodes || options->job.exc_nodes)) {
        cli_error(&srun->cli, "-r,--relative not allowed with -w,--nodelist or -x,--exclude.");
        return srun->cli.error_status;
    }
    if (n == 0)
        return CLI_GO_ON;
    if (relative != UNSET32 && (uint64_t) relative + nodes > n) {
        cli_error(&srun->cli,
                  "--relative and --nodes option incompatible with count of allocated nodes "
                  "(%u+%u>%llu)",
                  relative, nodes, (unsigned long long) n);
        return srun->cli.error_status;
    }
    if (options->job.min_nodes <= n)
        return CLI_GO_ON;
    cli_error(&srun->cli, "Only allocated %llu nodes asked for %u", (unsigned long long) n,
              options->job.min_nodes);
    return srun->cli.error_status;
}

static int ask_step(struct srun *srun) {
    struct error err = ERROR_INIT;
    struct cli_reply reply;
    struct step_request step;
    int status = check_nodes(srun);

    if (status != CLI_GO_ON)
        return status;
    options_step(&srun->options, &step);
    step.job_id = srun->job_id;
    step.step_id = srun->step_wanted;
    if (srun->options.jobid_text && strpbrk(srun->options.jobid_text, "_+") != NULL)
        string_set(&step.job_text, srun->options.jobid_text);
    step.srun_pid = (uint32_t) getpid();
    string_set(&step.srun_host, srun->options.job.alloc_node);
    string_set(&step.submit_line, srun->options.job.submit_line);
    int rc = cli_request(&srun->link, MSG_STEP_CREATE, &step, &reply, &err);
    record_done(&record_step_request, &step);
    if (rc < 0)
        return step_refused(srun, &err);
    if (reply.type != MSG_STEP_REPLY) {
        (void) error_set(&err, ERR_PROTOCOL, "the controller answered with message %u", reply.type);
        return step_refused(srun, &err);
    }
    const struct step_reply *answer = reply.body;
    return answer->layout ? take_layout(srun, answer->layout) : wait_for_layout(srun, &reply);
}

int srun_ask(struct srun *srun) {
    struct error err = ERROR_INIT;

    srun->job_id = srun->options.jobid;
    bool inside = srun->job_id != 0;
    if (cli_link_open(&srun->cli, true, &srun->link, &err) < 0) {
        cleanup_str struct str prefix = STR_INIT;
        if (inside)
            str_printf(&prefix, "Unable to confirm allocation for job %u", srun->job_id);
        return cli_failure(&srun->cli, inside ? prefix.data : option_failure_prefix(OPTION_SRUN),
                           &err);
    }
    return inside ? ask_step(srun) : ask_allocation(srun);
}

/* ---- notices while the tasks run ---- */

/* The part whose component that is; NULL: it is none of ours. */
static struct srun *part_of_job(struct srun *srun, uint32_t job_id) {
    for (size_t p = 1; p < srun->n_parts; p++) {
        if (srun->parts[p]->job_id == job_id)
            return srun->parts[p];
    }
    return job_id == srun->job_id ? srun : NULL;
}

static void signal_part(struct srun *srun, const struct srun *part, uint32_t number) {
    struct step_control control;

    record_init(&record_step_control, &control);
    control.signal = number;
    for (size_t i = 0; i < srun->n_nodes; i++) {
        if (srun->nodes[i].part == part && srun->nodes[i].has_started)
            srun_send(&srun->nodes[i], MSG_STEP_CONTROL, &control);
    }
}

static void take_notice(struct srun *srun, const struct alloc_notice *notice) {
    const char *text = notice->text ? notice->text : "";
    const struct srun *part = part_of_job(srun, notice->job_id);
    bool ends = notice->what == ALLOC_REVOKED || notice->what == ALLOC_TIMEOUT;
    bool pauses = notice->what == ALLOC_SUSPENDED || notice->what == ALLOC_RESUMED;

    if (!part || (part != srun && pauses))
        return;
    if (part != srun && ends) /* its tasks end, the others go on */
        return;
    switch ((enum alloc_notice_kind) notice->what) {
    case ALLOC_REVOKED:
    case ALLOC_TIMEOUT:
        srun->own_job = false;
        srun_abort_wait(srun);
        break;
    case ALLOC_SIGNAL:
        signal_part(srun, part, notice->signal);
        break;
    case ALLOC_NODE_FAIL:
        cli_error(&srun->cli, "Node failure on %s", text);
        break;
    case ALLOC_MESSAGE:
        cli_info(&srun->cli, "%s", text);
        break;
    case ALLOC_SUSPENDED:
        cli_info(&srun->cli, "job %u has been suspended", srun->job_id);
        break;
    case ALLOC_RESUMED:
        cli_info(&srun->cli, "job %u has been resumed", srun->job_id);
        break;
    }
}

/* After a break of the first connection: dial in the background, ask for our notices. */
static void on_reattached(struct rpc_conn *conn, void *context) {
    struct srun *srun = context;
    struct alloc_end attach = {.job_id = srun->job_id, .attach = true};

    rpc_conn_tell(conn, MSG_ALLOC_END, 0, 1, &attach);
}

static void on_reattached_message(struct rpc_conn *conn, const struct rpc_message *message,
                                  void *context) {
    struct srun *srun = context;
    struct alloc_notice notice;
    struct arena arena;

    if (message->type == MSG_ERROR) { /* the job has ended meanwhile */
        srun->own_job = false;
        srun_abort_wait(srun);
    }
    if (message->type != MSG_ALLOC_NOTICE)
        return;
    arena_init(&arena, 1u << 20);
    if (wire_decode(&record_alloc_notice, message->body, &arena, &notice, NULL) == 0)
        take_notice(srun, &notice);
    arena_done(&arena);
}

static void on_reattached_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct srun *srun = context;

    srun->reattached = NULL;
    if (srun->own_job)
        loop_timer_set(srun->reattach_timer, loop_monotonic_usec() + REATTACH_USEC);
}

static const struct rpc_handlers reattach_handlers = {
    .ready = on_reattached, .message = on_reattached_message, .closed = on_reattached_closed};

static void reattach(void *context) {
    struct srun *srun = context;
    const struct conf *conf = srun->link.conf;

    if (rpc_dial(srun->loop, &srun->auth, conf->control_hosts[0].address,
                 conf->slurmctld_port.first, srun->slurm_uid, &reattach_handlers, srun,
                 &srun->reattached, NULL) < 0) {
        srun->reattached = NULL;
        loop_timer_set(srun->reattach_timer, loop_monotonic_usec() + REATTACH_USEC);
    }
}

static void on_controller(uint32_t events, void *context) {
    struct srun *srun = context;

    while (srun->link.client) {
        struct cli_reply reply;
        struct error err = ERROR_INIT;
        int rc = cli_receive(&srun->link, 0, &reply, &err);
        if (-rc == ERR_TIMEOUT)
            return;
        if (rc < 0) {
            loop_fd_remove(take(srun->controller_watch));
            cli_link_close(&srun->link);
            if (srun->own_job)
                loop_timer_set(srun->reattach_timer, loop_monotonic_usec() + REATTACH_USEC);
            return;
        }
        if (reply.type == MSG_ALLOC_NOTICE)
            take_notice(srun, reply.body);
        arena_reset(&srun->link.arena);
    }
}

/* An allocation of ours brings notices; for a step in a job the controller is done with us. */
int srun_watch_controller(struct srun *srun) {
    struct error err = ERROR_INIT;

    if (!srun->own_job) {
        cli_link_close(&srun->link);
        return CLI_GO_ON;
    }
    srun->reattach_timer = loop_timer_add(srun->loop, reattach, srun);
    if (loop_fd_add(srun->loop, rpc_client_fd(srun->link.client), EPOLLIN, on_controller, srun,
                    &srun->controller_watch, &err) < 0) {
        cli_error(&srun->cli, "%s", err.text);
        return srun->cli.error_status;
    }
    on_controller(0, srun);
    return CLI_GO_ON;
}

static uint32_t wait_status(const struct srun *srun) {
    uint32_t worst = 0, worst_rank = 0;

    for (size_t i = 0; i < srun->n_tasks; i++) {
        uint32_t status = srun->tasks[i].status & 0xff7f;
        uint32_t rank = status & 0x7f ? 128 + (status & 0x7f) : status >> 8;
        if (rank > worst_rank) {
            worst = status;
            worst_rank = rank;
        }
    }
    if (srun->out_of_memory)
        return STATUS_OOM;
    return worst ? worst : srun->launch_failed ? 1u << 8 : 0;
}

/* One try. ERR_CONNECT and its kin: the controller is away. */
static int give_back_once(struct srun *srun, const struct alloc_end *end, struct error *err) {
    struct cli_reply reply;
    int rc = srun->link.client ? 0 : cli_link_open(&srun->cli, true, &srun->link, err);

    if (rc == 0)
        rc = cli_send(&srun->link, MSG_ALLOC_END, end, err);
    uint64_t deadline = loop_monotonic_usec() + END_WAIT_USEC;
    while (rc == 0) {
        uint64_t now = loop_monotonic_usec();
        rc = cli_receive(&srun->link, deadline > now ? deadline - now : 0, &reply, err);
        if (rc == 0 && reply.type == MSG_OK)
            return 0;
    }
    if (-rc != ERR_INVALID_JOB_ID) /* else it is gone already */
        cli_link_close(&srun->link);
    return rc;
}

/* A second's pause. True when the user has pressed Ctrl-C: the loop that took signals has ended. */
static bool waits_no_longer(void) {
    const struct timespec pause = {.tv_sec = 1};
    sigset_t set;

    block_signals(&set);
    return sigtimedwait(&set, NULL, &pause) > 0;
}

void srun_give_back(struct srun *srun) {
    struct alloc_end end = {.job_id = srun->job_id, .exit_status = wait_status(srun)};
    uint64_t deadline = loop_monotonic_usec() + GIVE_BACK_USEC;
    bool has_complained = false;

    if (!srun->own_job)
        return;
    srun->own_job = false;
    while (true) {
        struct error err = ERROR_INIT;
        int rc = give_back_once(srun, &end, &err);
        if (rc == 0 || -rc == ERR_INVALID_JOB_ID || -rc == ERR_USER_ID)
            return;
        if (loop_monotonic_usec() > deadline) {
            cli_error(&srun->cli, "Job %u could not be given back: %s", srun->job_id, err.text);
            return;
        }
        if (!has_complained && srun->link.client == NULL && -rc == ERR_CONNECT) {
            has_complained = true;
            cli_info(&srun->cli, "the controller is away; waiting to give job %u back",
                     srun->job_id);
        }
        if (waits_no_longer())
            return;
    }
}
