/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/mpi.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/sock.h"
#include "slurmstepd/pmi.h"
#include "slurmstepd/pmix_link.h"
#include "slurmstepd/stepd.h"

struct mpi_client {
    struct mpi *mpi;
    size_t local_id;
    int fd; /* -1 = closed */
    struct loop_fd *watch;
};
struct mpi {
    struct stepd *stepd;
    struct pmix *pmix; /* or: */
    struct pmi *pmi;
    struct mpi_client *clients;
    uint32_t n_fences;
    bool abort_is_told;
};

/* ---- PMI ---- */

static void client_close(struct mpi_client *client) {
    loop_fd_remove(take(client->watch));
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
}

static void client_flush(struct mpi_client *client) {
    struct str *out = pmi_output(client->mpi->pmi, client->local_id);
    size_t sent = 0;

    while (client->fd >= 0 && sent < out->length) {
        ssize_t n = send(client->fd, out->data + sent, out->length - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) { /* it has gone; its end tells */
            sent = out->length;
            break;
        }
        sent += (size_t) n;
    }
    if (sent > 0) {
        memmove(out->data, out->data + sent, out->length - sent);
        out->length -= sent;
    }
    if (client->watch)
        loop_fd_events(client->watch, out->length > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void tell_abort(struct mpi *mpi) {
    const char *why = pmi_aborted(mpi->pmi);
    struct step_exchange exchange;

    if (!why || mpi->abort_is_told)
        return;
    mpi->abort_is_told = true;
    record_init(&record_step_exchange, &exchange);
    exchange.abort = true;
    exchange.message = (char *) (uintptr_t) why;
    srun_send(mpi->stepd, MSG_STEP_EXCHANGE, 0, &exchange);
}

static void tell_fence(struct mpi *mpi) {
    struct stepd *stepd = mpi->stepd;
    struct str puts cleanup_str = STR_INIT;

    if (!pmi_fence(mpi->pmi, &puts))
        return;
    cleanup_free char *tag = xasprintf("pmi.%u", mpi->n_fences++);
    struct step_part part;
    struct step_exchange exchange;
    record_init(&record_step_part, &part);
    record_init(&record_step_exchange, &exchange);
    part.node = stepd->node_index;
    part.data = (struct blob) {(uint8_t *) puts.data, puts.length};
    exchange.tag = tag;
    exchange.parts.items = &part;
    exchange.parts.n = 1;
    if (stepd->step->layout->nodes.n > 1)
        srun_send(stepd, MSG_STEP_EXCHANGE, 0, &exchange);
    else
        mpi_exchange(stepd, &exchange);
}

static void on_client(uint32_t events, void *context) {
    struct mpi_client *client = context;
    struct mpi *mpi = client->mpi;
    char buffer[16384];

    if (events & EPOLLOUT)
        client_flush(client);
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    ssize_t n = recv(client->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || !pmi_input(mpi->pmi, client->local_id, buffer, (size_t) n)) {
        client_close(client);
        return;
    }
    for (size_t i = 0; i < mpi->stepd->n_tasks; i++) { /* an attribute may answer others */
        if (pmi_output(mpi->pmi, i)->length > 0)
            client_flush(&mpi->clients[i]);
    }
    tell_abort(mpi);
    tell_fence(mpi);
}

static int client_open(struct mpi_client *client, int *ret_fd, struct error *err) {
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return error_errno(err, errno, "socketpair()");
    int r = sock_nonblock(fds[0], true, err);
    if (r == 0)
        r = loop_fd_add(client->mpi->stepd->loop, fds[0], EPOLLIN, on_client, client,
                        &client->watch, err);
    if (r < 0) {
        close(fds[0]);
        close(fds[1]);
        return r;
    }
    client->fd = fds[0];
    *ret_fd = fds[1];
    return 0;
}

/* The same on all nodes. */
static void job_name(const struct stepd *stepd, struct str *out) {
    uint32_t id = stepd->step->layout->het_job_id;
    str_printf(out, "%u.", id ? id : stepd->order.job_id);
    step_id_print(stepd->order.step_id, out);
}

static void pmi_variables(struct stepd *stepd, const struct task *task) {
    struct str job cleanup_str = STR_INIT;

    job_name(stepd, &job);
    env_set_u64(&stepd->env, "PMI_FD", SPAWN_EXTRA_FD);
    env_set_u64(&stepd->env, "PMI_RANK", task->rank);
    env_set_u64(&stepd->env, "PMI_SIZE", stepd->step->layout->ntasks);
    env_set(&stepd->env, "PMI_JOBID", job.data);
    env_set(&stepd->env, "PMI_SPAWNED", "0");
}

/* ---- all ---- */

int mpi_open(struct stepd *stepd, struct error *err) {
    const char *type = stepd->step->mpi;
    struct str job cleanup_str = STR_INIT;

    if (!type || str_equal_nocase(type, "none"))
        return 0;
    struct mpi *mpi = zalloc(struct mpi);
    mpi->stepd = stepd;
    stepd->mpi = mpi;
    if (str_starts_nocase(type, "pmix"))
        return pmix_open(stepd, &mpi->pmix, err);
    job_name(stepd, &job);
    mpi->pmi = pmi_new(job.data, stepd->step->layout, stepd->node->ranks.items, stepd->n_tasks);
    mpi->clients = xcalloc(stepd->n_tasks + 1, sizeof(*mpi->clients));
    for (size_t i = 0; i < stepd->n_tasks; i++)
        mpi->clients[i] = (struct mpi_client) {.mpi = mpi, .local_id = i, .fd = -1};
    return 0;
}

int mpi_task(struct stepd *stepd, struct task *task, struct spawn_plan *plan, struct error *err) {
    if (!stepd->mpi)
        return 0;
    if (stepd->mpi->pmix) {
        pmix_variables(stepd->mpi->pmix, task->local_id);
        return 0;
    }
    pmi_variables(stepd, task);
    return client_open(&stepd->mpi->clients[task->local_id], &plan->extra_fd, err);
}

void mpi_task_exited(struct stepd *stepd, const struct task *task) {
    if (!stepd->mpi || !stepd->mpi->pmi)
        return;
    pmi_task_gone(stepd->mpi->pmi, task->local_id);
    tell_fence(stepd->mpi);
}

void mpi_exchange(struct stepd *stepd, const struct step_exchange *exchange) {
    struct mpi *mpi = stepd->mpi;

    if (mpi && mpi->pmix)
        pmix_exchange(mpi->pmix, exchange);
    if (!mpi || !mpi->pmi)
        return;
    pmi_fence_done(mpi->pmi, exchange->parts.items, exchange->parts.n);
    for (size_t i = 0; i < stepd->n_tasks; i++)
        client_flush(&mpi->clients[i]);
}

void mpi_close(struct stepd *stepd) {
    struct mpi *mpi = take(stepd->mpi);

    if (!mpi)
        return;
    pmix_close(mpi->pmix);
    for (size_t i = 0; mpi->clients && i < stepd->n_tasks; i++)
        client_close(&mpi->clients[i]);
    pmi_free(mpi->pmi);
    free(mpi->clients);
    free(mpi);
}
