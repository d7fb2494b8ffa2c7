/* SPDX-License-Identifier: Apache-2.0 */
/* The controller's side of job_submit.lua: the queue, the process, its answers. */
#include "slurmctld/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lua/filter_wire.h"
#include "model/request_change.h"
#include "os/frame.h"
#include "os/spawn.h"

#define SCRIPT_NAME "job_submit.lua"
/* The script is given up by itself (lua/box.h); what it cannot be interrupted in is ended with its
 * process so much later. */
#define GRACE_USEC 1000000u

struct waiting {
    struct list link;
    uint64_t client;
    uint32_t seq;
    uint16_t type;
    void *body; /* owned record */
    size_t weight;
    struct strs jobs; /* of an update, as they are written */
    uint32_t job;     /* of them, a crontab's entries, a job's components: what is looked at now */
    struct strs told; /* of the components before it */
    /* What was made of those before it; owned, NULL at the first. */
    struct filter_answer *before;
};

struct filter {
    struct ctld *ctld;
    struct list queue; /* the first is being looked at while `busy` */
    size_t n, weight;
    bool busy, restart;
    pid_t pid; /* 0 = no process */
    int fd;
    struct loop_fd *watch;
    struct frame_in in;
    struct frame_out out;
    struct loop_timer *timer;
};

static void next(struct filter *filter);

bool filter_wants(const struct ctld *ctld, uint16_t type, const void *body) {
    if ((ctld->conf->job_submit_plugins & CONF_JOB_SUBMIT_LUA) == 0)
        return false;
    if (type == MSG_SUBMIT)
        return ((const struct submit *) body)->job != NULL;
    if (type == MSG_CRONTAB_SET)
        return ((const struct crontab_set *) body)->entries.n > 0;
    return type == MSG_UPDATE && str_equal(((const struct update *) body)->entity, "job");
}

/* ---- the process ---- */

static void process_close(struct filter *filter) {
    if (filter->pid == 0)
        return;
    (void) kill(-filter->pid, SIGKILL);
    loop_fd_remove(take(filter->watch));
    close(filter->fd);
    frame_in_done(&filter->in);
    frame_out_done(&filter->out);
    filter->pid = 0;
}

static void over(struct filter *filter, struct filter_answer *answer);

/* The request that was being looked at, when the process is gone. */
static void process_lost(struct filter *filter, enum filter_problem problem, const char *detail) {
    process_close(filter);
    if (!filter->busy)
        return;
    struct filter_answer answer;
    record_init(&record_filter_answer, &answer);
    answer.problem = problem;
    answer.detail = (char *) (uintptr_t) detail; /* only read */
    over(filter, &answer);
}

static void on_timeout(void *context) {
    struct filter *filter = context;
    cleanup_free char *text =
        xasprintf(SCRIPT_NAME " was ended: it waits for something for longer than %u s",
                  filter->ctld->conf->slurmctld.job_submit_lua_timeout);
    process_lost(filter, FILTER_LIMIT, text);
    next(filter);
}

static void on_child_end(pid_t pid, int status, void *context) {
    /* Its socket tells. */
}

static void send_piece(void *context, uint16_t type, struct bytes body, bool last) {
    struct filter *filter = context;
    uint8_t *at = frame_out_add(&filter->out, body.size + 1);
    *at = (uint8_t) (last ? FILTER_LAST : FILTER_PIECE);
    if (body.size > 0)
        memcpy(at + 1, body.data, body.size);
}

static void send_partitions(void *context, uint16_t type, struct bytes body, bool last) {
    struct filter *filter = context;
    uint8_t *at = frame_out_add(&filter->out, body.size + 1);
    *at = FILTER_PARTITIONS;
    if (body.size > 0)
        memcpy(at + 1, body.data, body.size);
}

static void flush(struct filter *filter) {
    struct error err = ERROR_INIT;
    int r = frame_out_flush(&filter->out, filter->fd, &err);
    loop_fd_events(filter->watch, r > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
    /* An error shows when it is read. */
}

/* slurm.jobs, slurm.reservations: all of them, as the administrator sees them. */
static void answer_ask(struct filter *filter, uint16_t type) {
    struct ctld *ctld = filter->ctld;
    struct core_user user = {.uid = ctld->slurm_uid, .name = "root", .group = "root"};
    struct list_request request;
    struct error err = ERROR_INIT;
    record_init(&record_list_request, &request);
    request.all = true;
    if (core_list(ctld->core, ctld_now(ctld), type, &user, &request, send_piece, filter, &err) < 0)
        send_piece(filter, 0, (struct bytes) {NULL, 0}, true);
    flush(filter);
}

static void take_frame(struct filter *filter, struct bytes frame) {
    struct arena memory;
    struct filter_answer answer;
    struct error err = ERROR_INIT;
    uint8_t type = frame.size > 0 ? frame.data[0] : 0;
    if (type == FILTER_ASK_JOBS || type == FILTER_ASK_RESERVATIONS) {
        answer_ask(filter, type == FILTER_ASK_JOBS ? MSG_LIST_JOBS : MSG_LIST_RESERVATIONS);
        return;
    }
    arena_init(&memory, 0);
    int r = wire_decode(&record_filter_answer, (struct bytes) {frame.data + 1, frame.size - 1},
                        &memory, &answer, &err);
    if (type != FILTER_ANSWER || r < 0 || !filter->busy)
        process_lost(filter, FILTER_FAILED, "the process of " SCRIPT_NAME " has gone astray");
    else
        over(filter, &answer);
    arena_done(&memory);
}

static void on_socket(uint32_t events, void *context) {
    struct filter *filter = context;
    struct error err = ERROR_INIT;
    struct bytes frame;
    if ((events & EPOLLOUT) != 0)
        flush(filter);
    if ((events & ~(uint32_t) EPOLLOUT) == 0)
        return;
    int r = frame_in_read(&filter->in, filter->fd, &err);
    if (r < 0) {
        process_lost(filter, FILTER_FAILED,
                     "the process of " SCRIPT_NAME " has ended by itself: it calls os.exit, or a "
                     "library that it uses has crashed");
        next(filter);
        return;
    }
    while (filter->pid != 0 && frame_in_next(&filter->in, &frame, &err) > 0)
        take_frame(filter, frame);
    next(filter);
}

static int process_start(struct filter *filter, struct error *err) {
    const struct ctld *ctld = filter->ctld;
    const struct conf *conf = ctld->conf;
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return error_errno(err, errno, "a socket for the process of " SCRIPT_NAME);
    cleanup_free char *path = conf_program_path(ctld->conf_path, SCRIPT_NAME);
    cleanup_free char *memory =
        xasprintf("%llu", (unsigned long long) conf->slurmctld.job_submit_lua_memory << 20);
    cleanup_free char *usec =
        xasprintf("%llu", (unsigned long long) conf->slurmctld.job_submit_lua_timeout * 1000000);
    char *const argv[] = {(char *) (uintptr_t) "slurmctld",
                          (char *) (uintptr_t) "--filter",
                          path,
                          (char *) (uintptr_t) conf->cluster_name,
                          memory,
                          usec,
                          NULL};
    const struct spawn_fd pass = {fds[1], FILTER_FD};
    struct spawn spec = {.path = "/proc/self/exe",
                         .argv = argv,
                         .envp = environ,
                         .stdin_fd = -1,
                         .stdout_fd = -1,
                         .stderr_fd = -1,
                         .fds = &pass,
                         .n_fds = 1,
                         .new_group = true,
                         .death_signal = SIGKILL};
    int r = spawn_process(&spec, &filter->pid, NULL, err);
    close(fds[1]);
    if (r < 0) {
        filter->pid = 0;
        close(fds[0]);
        return r;
    }
    filter->fd = fds[0];
    (void) fcntl(filter->fd, F_SETFL, O_NONBLOCK);
    frame_in_init(&filter->in, FILTER_FRAME_MAX);
    frame_out_init(&filter->out);
    r = loop_child(ctld->loop, filter->pid, on_child_end, NULL, err);
    if (r == 0)
        r = loop_fd_add(ctld->loop, filter->fd, EPOLLIN, on_socket, filter, &filter->watch, err);
    if (r < 0)
        process_close(filter);
    return r;
}

/* ---- one request ---- */

/* Of a submission: what the script looks at now. */
static struct job_request *component_of(const struct waiting *waiting) {
    const struct submit *submit = waiting->body;
    return waiting->job == 0 ? submit->job : &submit->components.items[waiting->job - 1];
}

static void send_call(struct filter *filter, const struct waiting *waiting,
                      const struct client *client) {
    struct ctld *ctld = filter->ctld;
    const struct rpc_peer *peer = rpc_conn_peer(client->conn);
    struct filter_call call;
    struct str out cleanup_str = STR_INIT;
    struct list_request request;
    struct core_user user;
    struct job none;
    record_init(&record_filter_call, &call);
    record_init(&record_list_request, &request);
    record_init(&record_job, &none);
    arena_reset(&ctld->request_memory);
    request_user(ctld, peer, &user);
    if (core_list(ctld->core, ctld_now(ctld), MSG_LIST_PARTITIONS, &user, &request, send_partitions,
                  filter, NULL) < 0)
        log_error(SCRIPT_NAME ": the partitions cannot be listed");
    call.uid = peer->uid;
    call.gid = peer->gid;
    call.user_name = (char *) (uintptr_t) user.name; /* only encoded */
    if (waiting->type == MSG_SUBMIT) {
        call.job = component_of(waiting);
    } else if (waiting->type == MSG_CRONTAB_SET) {
        call.job = ((struct crontab_set *) waiting->body)->entries.items[waiting->job].job;
    } else {
        const struct update *update = waiting->body;
        call.modify = true;
        const struct job *job = waiting->jobs.n > 0
                                    ? core_job_named(ctld->core, waiting->jobs.items[waiting->job])
                                    : NULL;
        call.record = (struct job *) (uintptr_t) (job != NULL ? job : &none);
        call.changes.items = update->changes.items;
        call.changes.n = update->changes.n;
    }
    wire_encode(&record_filter_call, &call, NULL, &out);
    uint8_t *at = frame_out_add(&filter->out, out.length + 1);
    *at = FILTER_CALL;
    memcpy(at + 1, out.data, out.length);
    filter->busy = true;
    loop_timer_set(filter->timer,
                   loop_monotonic_usec() + GRACE_USEC +
                       (uint64_t) ctld->conf->slurmctld.job_submit_lua_timeout * 1000000);
    flush(filter);
}

static struct waiting *first(struct filter *filter) {
    return list_is_empty(&filter->queue) ? NULL
                                         : container_of(filter->queue.next, struct waiting, link);
}

static void drop(struct filter *filter, struct waiting *waiting) {
    list_remove(&waiting->link);
    filter->n--;
    filter->weight -= waiting->weight;
    record_free(message_record(waiting->type), waiting->body);
    record_free(&record_filter_answer, waiting->before);
    strs_done(&waiting->jobs);
    strs_done(&waiting->told);
    free(waiting);
}

static void say(const struct filter_answer *answer) {
    static const enum log_level levels[] = {LOG_LEVEL_ERROR,  LOG_LEVEL_INFO,   LOG_LEVEL_VERBOSE,
                                            LOG_LEVEL_DEBUG,  LOG_LEVEL_DEBUG2, LOG_LEVEL_DEBUG3,
                                            LOG_LEVEL_DEBUG4, LOG_LEVEL_DEBUG5};
    for (uint32_t i = 0; i < answer->lines.n; i++) {
        int32_t level = min_of(max_of(answer->lines.items[i].level, -1), 6);
        log_at(levels[level + 1], "lua: %s", answer->lines.items[i].text);
    }
    if (answer->problem != FILTER_FINE)
        log_error(SCRIPT_NAME ": %s", answer->detail);
}

/* The script has not said yes. */
static void refuse(struct client *client, uint32_t seq, const struct filter_answer *answer) {
    struct reply_error reply;
    record_init(&record_reply_error, &reply);
    reply.code = answer->code != 0 ? answer->code : ERR_GENERIC;
    reply.before = answer->told;
    if (answer->problem != FILTER_FINE) {
        reply.code = ERR_DISABLED;
        reply.detail = answer->detail;
    }
    reply_record(client, MSG_ERROR, seq, &reply);
}

static bool lets_pass(const struct filter *filter, const struct filter_answer *answer) {
    if (answer->problem == FILTER_FAILED)
        return !filter->ctld->conf->slurmctld.job_submit_lua_refuse;
    return answer->problem == FILTER_FINE && answer->code == 0;
}

/* Goes on as if the user had asked for what the script has made of it. */
static void go_on(struct client *client, struct waiting *waiting,
                  const struct filter_answer *answer) {
    struct ctld *ctld = client->ctld;
    arena_reset(&ctld->request_memory);
    if (waiting->type == MSG_CRONTAB_SET) {
        request_filtered(client, MSG_CRONTAB_SET, waiting->seq, waiting->body);
        return;
    }
    if (waiting->type == MSG_UPDATE) {
        struct update update = *(struct update *) waiting->body;
        if (answer->problem == FILTER_FINE) {
            update.changes.items = answer->changes.items;
            update.changes.n = answer->changes.n;
        }
        request_filtered(client, MSG_UPDATE, waiting->seq, &update);
        return;
    }
    struct submit submit = *(struct submit *) waiting->body;
    submit.told = submit.components.n > 0 ? waiting->told : answer->told;
    if (submit.components.n == 0 && answer->problem == FILTER_FINE && answer->job != NULL) {
        request_changes_add(submit.job, answer->job, SCRIPT_NAME, &ctld->request_memory,
                            &submit.changes.items, &submit.changes.n);
        submit.job = answer->job;
    }
    request_filtered(client, MSG_SUBMIT, waiting->seq, &submit);
}

/* An update of several jobs is one change of all of them: the script sees each, and has to make the
 * same of it. False when the next is to be looked at; *answer becomes what is told otherwise. */
static bool was_last(struct waiting *waiting, struct filter_answer *answer) {
    const struct update *update = waiting->body;
    struct filter_answer now, before;
    if (answer->problem != FILTER_FINE) { /* it goes on as it was asked for */
        answer->changes.items = update->changes.items;
        answer->changes.n = update->changes.n;
    }
    record_init(&record_filter_answer, &now);
    record_init(&record_filter_answer, &before);
    now.changes.items = answer->changes.items;
    now.changes.n = answer->changes.n;
    if (waiting->before != NULL) {
        before.changes.items = waiting->before->changes.items;
        before.changes.n = waiting->before->changes.n;
    }
    if (waiting->before != NULL && !record_equal(&record_filter_answer, &now, &before)) {
        answer->problem = FILTER_LIMIT;
        answer->detail = (char *) (uintptr_t) (SCRIPT_NAME " does not make the same change of all "
                                                           "these jobs: update them one by one");
        return true;
    }
    if (waiting->job + 1 >= waiting->jobs.n)
        return true;
    waiting->job++;
    if (waiting->before == NULL)
        waiting->before = record_dup(&record_filter_answer, &now);
    return false;
}

/* What the script has made of an entry of a crontab is the entry. False: there are more. */
static bool was_last_entry(struct waiting *waiting, const struct filter_answer *answer) {
    struct crontab_set *crontab = waiting->body;
    struct cron_entry *entry = &crontab->entries.items[waiting->job];
    if (answer->problem == FILTER_FINE && answer->job != NULL) {
        record_free(&record_job_request, entry->job);
        entry->job = record_dup(&record_job_request, answer->job);
    }
    return ++waiting->job >= crontab->entries.n;
}

/* The script sees the components of a job one after the other; what it has made of one stands in
 * the submission from then on. False when the next is to be looked at. */
static bool was_last_component(struct waiting *waiting, const struct filter_answer *answer) {
    const struct submit *submit = waiting->body;
    if (submit->components.n == 0)
        return true;
    for (uint32_t i = 0; i < answer->told.n; i++)
        strs_push(&waiting->told, answer->told.items[i]);
    if (answer->problem == FILTER_FINE && answer->job != NULL) {
        struct job_request *component = component_of(waiting);
        record_done(&record_job_request, component);
        record_copy(&record_job_request, component, answer->job);
    }
    return waiting->job++ == submit->components.n;
}

static bool goes_on(struct waiting *waiting, struct filter_answer *answer) {
    return (waiting->type == MSG_UPDATE && !was_last(waiting, answer)) ||
           (waiting->type == MSG_SUBMIT && !was_last_component(waiting, answer)) ||
           (waiting->type == MSG_CRONTAB_SET && !was_last_entry(waiting, answer));
}

static void over(struct filter *filter, struct filter_answer *answer) {
    struct waiting *waiting = first(filter);
    struct client *client = map_get(&filter->ctld->clients, waiting->client);
    loop_timer_set(filter->timer, 0);
    filter->busy = false;
    say(answer);
    if (client != NULL && lets_pass(filter, answer) && goes_on(waiting, answer))
        return;
    if (client != NULL) {
        rpc_conn_pause(client->conn, false);
        if (lets_pass(filter, answer))
            go_on(client, waiting, answer);
        else
            refuse(client, waiting->seq, answer);
    }
    drop(filter, waiting);
}

static void next(struct filter *filter) {
    struct waiting *waiting;
    struct error err = ERROR_INIT;
    while (!filter->busy && (waiting = first(filter)) != NULL) {
        struct client *client = map_get(&filter->ctld->clients, waiting->client);
        if (client == NULL) {
            drop(filter, waiting);
            continue;
        }
        if (filter->restart)
            process_close(filter);
        filter->restart = false;
        filter->busy = true;
        if (filter->pid == 0 && process_start(filter, &err) < 0)
            process_lost(filter, FILTER_ABSENT, err.text);
        else
            send_call(filter, waiting, client);
    }
}

/* ---- from outside ---- */

static struct filter *filter_get(struct ctld *ctld) {
    if (ctld->filter != NULL)
        return ctld->filter;
    struct filter *filter = zalloc(struct filter);
    filter->ctld = ctld;
    list_init(&filter->queue);
    filter->timer = loop_timer_add(ctld->loop, on_timeout, filter);
    ctld->filter = filter;
    return filter;
}

/* As the core takes them. */
static void jobs_read(const struct update *update, struct strs *ret) {
    words_each (update->target, ", ", word) {
        if (ret->n <= FILTER_JOBS_MAX)
            strs_push(ret, word);
    }
}

void filter_take(struct client *client, const struct rpc_message *message, const void *body) {
    struct filter *filter = filter_get(client->ctld);
    struct strs jobs = {NULL, 0};
    if (filter->n >= FILTER_QUEUE_MAX ||
        filter->weight + message->body.size > FILTER_QUEUE_BYTES_MAX) {
        reply_error_text(client, message->seq, -ERR_BUSY,
                         "too many submissions wait for " SCRIPT_NAME);
        return;
    }
    if (message->type == MSG_UPDATE)
        jobs_read(body, &jobs);
    if (jobs.n > FILTER_JOBS_MAX) {
        strs_done(&jobs);
        reply_error_text(client, message->seq, -ERR_LIMIT,
                         SCRIPT_NAME " has to look at each: update fewer jobs at a time");
        return;
    }
    struct waiting *waiting = zalloc(struct waiting);
    waiting->client = client->id;
    waiting->seq = message->seq;
    waiting->type = message->type;
    waiting->body = record_dup(message_record(message->type), body);
    waiting->weight = message->body.size;
    waiting->jobs = jobs;
    list_append(&filter->queue, &waiting->link);
    filter->n++;
    filter->weight += waiting->weight;
    rpc_conn_pause(client->conn, true);
    next(filter);
}

void filter_restart(struct ctld *ctld) {
    if (ctld->filter != NULL)
        ctld->filter->restart = true;
}

void filter_free(struct ctld *ctld) {
    struct filter *filter = ctld->filter;
    if (filter == NULL)
        return;
    process_close(filter);
    struct waiting *waiting;
    while ((waiting = first(filter)) != NULL)
        drop(filter, waiting);
    loop_timer_free(filter->timer);
    free(filter);
    ctld->filter = NULL;
}
