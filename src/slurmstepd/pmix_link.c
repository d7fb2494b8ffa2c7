/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/pmix_link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/frame.h"
#include "os/sock.h"
#include "os/tree.h"
#include "slurmstepd/pmix_wire.h"
#include "slurmstepd/stepd.h"

#define READY_USEC 60000000ull

struct pmix {
    struct stepd *stepd;
    int fd;
    struct loop_fd *watch;
    struct frame_in in;
    struct frame_out out;
    char *directory;
    struct pmix_ready ready; /* in stepd->arena */
};

/* ---- frames ---- */

static void pmix_flush(struct pmix *pmix) {
    int r = pmix->fd >= 0 ? frame_out_flush(&pmix->out, pmix->fd, NULL) : 0;

    if (pmix->watch)
        loop_fd_events(pmix->watch, r == 1 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void pmix_send(struct pmix *pmix, enum pmix_frame kind, const struct record *record,
                      const void *object) {
    struct str content cleanup_str = STR_INIT;

    str_append_char(&content, (char) kind);
    wire_encode(record, object, NULL, &content);
    frame_out_append(&pmix->out, str_bytes(&content));
    pmix_flush(pmix);
}

/* What is for this node alone need not go to srun and back. */
static void pass_on(struct pmix *pmix, struct step_exchange *exchange) {
    struct stepd *stepd = pmix->stepd;
    bool is_mine =
        exchange->to == stepd->node_index || (exchange->to == UNSET32 && exchange->nodes.n == 1 &&
                                              exchange->nodes.items[0] == stepd->node_index);

    if (is_mine && !exchange->abort) {
        exchange->from = stepd->node_index;
        pmix_exchange(pmix, exchange);
    } else {
        srun_send(stepd, MSG_STEP_EXCHANGE, 0, exchange);
    }
}

static void on_content(struct pmix *pmix, struct bytes content) {
    struct bytes rest = {content.data + 1, content.size - 1};
    struct step_exchange exchange;
    struct arena arena;

    if (content.size == 0 || content.data[0] != PMIX_FRAME_EXCHANGE)
        return;
    arena_init(&arena, PMIX_FRAME_BYTES_MAX * 2ull);
    if (wire_decode(&record_step_exchange, rest, &arena, &exchange, NULL) == 0)
        pass_on(pmix, &exchange);
    arena_done(&arena);
}

static void on_server(uint32_t events, void *context) {
    struct pmix *pmix = context;
    struct bytes content;
    int r = 0;

    if (events & EPOLLOUT)
        pmix_flush(pmix);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        r = frame_in_read(&pmix->in, pmix->fd, NULL);
    while (r >= 0 && (r = frame_in_next(&pmix->in, &content, NULL)) == 1)
        on_content(pmix, content);
    if (r < 0 && !pmix->stepd->kill_at) {
        stepd_complain(pmix->stepd, "the PMIx server of this node has ended; tasks that wait for "
                                    "it will not be served");
    }
    if (r < 0)
        loop_fd_remove(take(pmix->watch));
}

/* ---- the start ---- */

static int server_path(char path[PATH_MAX], struct error *err) {
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof("slurmpmix") - 1);
    struct stat stat_;

    if (n <= 0)
        return error_errno(err, errno, "/proc/self/exe");
    path[n] = '\0';
    strcpy(strrchr(path, '/') + 1, "slurmpmix");
    if (stat(path, &stat_) < 0)
        return error_set(err, ERR_NOT_FOUND,
                         "--mpi=pmix needs %s on this node: Sluice was built without the PMIx "
                         "library. --mpi=list tells what there is.",
                         path);
    return 0;
}

static int make_directory(struct pmix *pmix, struct error *err) {
    const struct step_order *order = &pmix->stepd->order;

    pmix->directory = xasprintf("%s/pmix.%u.%u", order->spool_dir, order->job_id, order->step_id);
    if (mkdir(pmix->directory, 0700) < 0 && errno != EEXIST)
        return error_errno(err, errno, "Cannot make %s", pmix->directory);
    if (geteuid() == 0 && chown(pmix->directory, order->uid, order->gid) < 0)
        return error_errno(err, errno, "Cannot give %s to its user", pmix->directory);
    return 0;
}

static int start_server(struct pmix *pmix, const char *path, int server_fd, struct error *err) {
    struct stepd *stepd = pmix->stepd;
    cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct confine_entry entry cleanup_confine_entry = CONFINE_ENTRY_INIT;
    char *argv[] = {(char *) (uintptr_t) path, NULL};
    int errnum = 0, bind_errno = 0;
    pid_t pid;
    struct spawn_plan plan = {.program = path,
                              .argv = argv,
                              .envp = env_array(&stepd->env),
                              .fds = {null, null, null},
                              .identity = stepd->identity,
                              .umask = 077,
                              .entry = &entry,
                              .extra_fd = server_fd,
                              .ret_bind_errno = &bind_errno};
    int r = confine_task(&stepd->confine, 0, &entry, err);

    return r < 0 ? r : spawn_start(&plan, &pid, &errnum, err);
}

static void send_setup(struct pmix *pmix) {
    const struct stepd *stepd = pmix->stepd;
    struct str job cleanup_str = STR_INIT;
    struct pmix_setup setup;

    stepd_name(stepd, &job);
    cleanup_free char *nspace = xasprintf("slurm.pmix.%s", job.data);
    record_init(&record_pmix_setup, &setup);
    setup.nspace = nspace;
    setup.uid = stepd->order.uid;
    setup.gid = stepd->order.gid;
    setup.layout = stepd->step->layout;
    setup.node_index = stepd->node_index;
    setup.directory = pmix->directory;
    setup.job = job.data;
    pmix_send(pmix, PMIX_FRAME_SETUP, &record_pmix_setup, &setup);
}

/* Blocks: nothing of the step runs before. */
static int wait_ready(struct pmix *pmix, struct error *err) {
    uint64_t deadline = loop_monotonic_usec() + READY_USEC;
    struct bytes content;
    int r;

    while ((r = frame_in_next(&pmix->in, &content, err)) == 0) {
        uint64_t now = loop_monotonic_usec();
        int flushed = frame_out_flush(&pmix->out, pmix->fd, err);
        struct pollfd pollfd = {.fd = pmix->fd,
                                .events = (short) (flushed == 1 ? POLLIN | POLLOUT : POLLIN)};
        if (now >= deadline)
            return error_set(err, ERR_TIMEOUT, "the PMIx server does not start");
        (void) poll(&pollfd, 1, (int) ((deadline - now) / 1000 + 1));
        if (flushed < 0 ||
            (pollfd.revents & ~POLLOUT && frame_in_read(&pmix->in, pmix->fd, NULL) < 0))
            return error_set(err, ERR_CLOSED, "the PMIx server ended while it started");
    }
    struct bytes rest = {content.data + 1, content.size - 1};
    if (r < 0 || content.size == 0 || content.data[0] != PMIX_FRAME_READY)
        return error_set(err, ERR_PROTOCOL, "the PMIx server answered with nonsense");
    r = wire_decode(&record_pmix_ready, rest, &pmix->stepd->arena, &pmix->ready, err);
    if (r == 0 && pmix->ready.problem)
        r = error_set(err, ERR_SYSTEM, "the PMIx server does not start: %s", pmix->ready.problem);
    return r;
}

static int pmix_start(struct pmix *pmix, struct error *err) {
    char path[PATH_MAX];
    int fds[2];
    int r = server_path(path, err);

    if (r == 0)
        r = make_directory(pmix, err);
    if (r == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        r = error_errno(err, errno, "socketpair()");
    if (r < 0)
        return r;
    cleanup_fd int server_fd = fds[1];
    pmix->fd = fds[0];
    r = sock_nonblock(fds[0], true, err);
    if (r == 0)
        r = sock_nonblock(fds[1], true, err);
    if (r == 0)
        r = start_server(pmix, path, server_fd, err);
    if (r < 0)
        return r;
    close(take_fd(&server_fd)); /* so that its end shows */
    send_setup(pmix);
    r = wait_ready(pmix, err);
    if (r == 0)
        r = loop_fd_add(pmix->stepd->loop, pmix->fd, EPOLLIN, on_server, pmix, &pmix->watch, err);
    return r;
}

int pmix_open(struct stepd *stepd, struct pmix **ret, struct error *err) {
    struct pmix *pmix = zalloc(struct pmix);

    pmix->stepd = stepd;
    pmix->fd = -1;
    frame_in_init(&pmix->in, PMIX_FRAME_BYTES_MAX);
    frame_out_init(&pmix->out);
    int r = pmix_start(pmix, err);
    if (r < 0)
        pmix_close(pmix);
    else
        *ret = pmix;
    return r;
}

void pmix_variables(struct pmix *pmix, uint32_t local_id) {
    if (local_id >= pmix->ready.tasks.n)
        return;
    const struct strs *variables = &pmix->ready.tasks.items[local_id].variables;
    for (uint32_t i = 0; i < variables->n; i++) {
        const char *equals = strchr(variables->items[i], '=');
        if (!equals)
            continue;
        cleanup_free char *name =
            xstrndup(variables->items[i], (size_t) (equals - variables->items[i]));
        env_set(&pmix->stepd->env, name, equals + 1);
    }
}

void pmix_exchange(struct pmix *pmix, const struct step_exchange *exchange) {
    pmix_send(pmix, PMIX_FRAME_EXCHANGE, &record_step_exchange, exchange);
}

void pmix_close(struct pmix *pmix) {
    if (!pmix)
        return;
    /* The server ends when its socket does. */
    loop_fd_remove(take(pmix->watch));
    if (pmix->fd >= 0)
        close(pmix->fd);
    if (pmix->directory)
        (void) tree_remove(pmix->directory); /* it is the user's, and may hold anything */
    frame_in_done(&pmix->in);
    frame_out_done(&pmix->out);
    free(pmix->directory);
    free(pmix);
}
