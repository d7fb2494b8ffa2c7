/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file for a job: it comes on the sender's connection, is written with the rights of the user,
 * and goes on to other nodes as it comes. It is written under another name in the same directory
 * and gets its own when it is complete, so that nobody sees a part of it, and a copy that fails
 * leaves nothing behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "rpc/spread.h"
#include "slurmstepd/places.h"
#include "slurmstepd/stepd.h"

#define SILENCE_SECONDS 60  /* of the sender */
#define RAW_MAX (64u << 20) /* bytes of one piece, unpacked */

struct bcast {
    struct stepd *stepd;
    struct file_open open;
    struct rpc_auth auth;
    struct rpc_conn *sender; /* NULL when it has gone */
    struct spread *spread;
    struct loop_fd *slurmd; /* watches STEP_ORDER_FD */
    char *temporary;        /* NULL: not made, or renamed */
    int fd;
    int failure; /* errno of this node */
    bool is_told, is_complete, is_over;
};

static void fail(struct bcast *bcast, int number) {
    if (!bcast->failure)
        bcast->failure = number ? number : EIO;
}

/* ---- the file ---- */

/* For good: whatever comes now is done as the user. */
static int become_user(const struct step_order *order, struct error *err) {
    if (geteuid() != 0)
        return 0;
    if (setgroups(order->groups.n, order->groups.items) < 0 ||
        setresgid(order->gid, order->gid, order->gid) < 0 ||
        setresuid(order->uid, order->uid, order->uid) < 0)
        return error_errno(err, errno, "Cannot become uid %u", order->uid);
    return 0;
}

static void file_make(struct bcast *bcast) {
    const char *path = bcast->open.path;
    struct stat stat;

    if (!path || path[0] != '/' || path[strlen(path) - 1] == '/') {
        fail(bcast, EINVAL);
        return;
    }
    if (lstat(path, &stat) == 0 && (!bcast->open.force || S_ISDIR(stat.st_mode))) {
        fail(bcast, S_ISDIR(stat.st_mode) ? EISDIR : EEXIST);
        return;
    }
    bcast->temporary = xasprintf("%s.sbcast-XXXXXX", path);
    bcast->fd = mkostemp(bcast->temporary, O_CLOEXEC);
    if (bcast->fd >= 0)
        return;
    fail(bcast, errno);
    free(take(bcast->temporary));
}

static void file_drop(struct bcast *bcast) {
    if (bcast->fd >= 0)
        close(bcast->fd);
    bcast->fd = -1;
    if (bcast->temporary)
        (void) unlink(bcast->temporary);
    free(take(bcast->temporary));
}

static bool write_all(int fd, const uint8_t *data, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            data += n;
            size -= (size_t) n;
        }
    }
    return true;
}

static bool write_packed(int fd, const struct file_data *data) {
    uLongf size = data->raw_size;

    if (size > RAW_MAX) {
        errno = EMSGSIZE;
        return false;
    }
    cleanup_free uint8_t *raw = xmalloc(size);
    if (uncompress(raw, &size, data->data.data, data->data.size) != Z_OK ||
        size != data->raw_size) {
        errno = EBADMSG;
        return false;
    }
    return write_all(fd, raw, size);
}

static void file_write(struct bcast *bcast, const struct file_data *data) {
    if (bcast->fd < 0 || bcast->failure)
        return;
    bool done = data->raw_size > 0 ? write_packed(bcast->fd, data)
                                   : write_all(bcast->fd, data->data.data, data->data.size);
    if (!done)
        fail(bcast, errno);
}

/* Not every file system can rename without replacing; those can link. */
static int rename_new(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL)
        return -1;
    if (link(from, to) < 0)
        return -1;
    return unlink(from);
}

static void file_complete(struct bcast *bcast) {
    const struct file_open *open = &bcast->open;
    const struct timespec times[2] = {{.tv_sec = open->atime}, {.tv_sec = open->mtime}};

    if (bcast->fd < 0 || bcast->failure)
        return;
    if (fchmod(bcast->fd, open->mode & 07777) < 0 ||
        (open->mtime && futimens(bcast->fd, times) < 0))
        fail(bcast, errno);
    if (close(bcast->fd) < 0)
        fail(bcast, errno);
    bcast->fd = -1;
    if (bcast->failure)
        return;
    if ((open->force ? rename(bcast->temporary, open->path)
                     : rename_new(bcast->temporary, open->path)) < 0) {
        fail(bcast, errno);
        return;
    }
    free(take(bcast->temporary));
}

/* ---- up ---- */

static void tell(struct bcast *bcast, bool over) {
    struct file_result result;
    struct file_failure *below, *list;
    struct arena arena;
    size_t n;

    if (!bcast->sender)
        return;
    arena_init(&arena, 0);
    spread_failures(bcast->spread, &arena, &below, &n);
    list = arena_alloc(&arena, (n + 1) * sizeof(*list));
    memcpy(list, below, n * sizeof(*list));
    if (bcast->failure && !bcast->is_told) {
        bcast->is_told = true;
        record_init(&record_file_failure, &list[n]);
        list[n].node = bcast->stepd->order.node_name;
        list[n].number = (uint32_t) bcast->failure;
        list[n].text = strerror(bcast->failure);
        n++;
    }
    record_init(&record_file_result, &result);
    result.over = over;
    result.failures.items = list;
    result.failures.n = (uint32_t) n;
    rpc_conn_tell(bcast->sender, MSG_FILE_RESULT, over ? RPC_LAST : 0, 0, &result);
    arena_done(&arena);
}

static void maybe_over(struct bcast *bcast) {
    if (bcast->is_complete && bcast->is_over)
        tell(bcast, true); /* the sender closes when it has read this */
}

/* ---- events ---- */

static void on_ready(void *context) {
    tell(context, false);
}

static void on_drained(void *context) {
    struct bcast *bcast = context;

    if (bcast->sender)
        rpc_conn_pause(bcast->sender, false);
}

static void on_over(void *context) {
    struct bcast *bcast = context;

    bcast->is_over = true;
    maybe_over(bcast);
}

static const struct spread_handlers spread_handlers = {on_ready, on_drained, on_over};

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct bcast *bcast = context;
    struct file_data data;
    struct arena arena;

    if (message->type != MSG_FILE_DATA || bcast->is_complete)
        return;
    arena_init(&arena, RPC_FRAME_MAX * 2ull);
    if (wire_decode(&record_file_data, message->body, &arena, &data, NULL) < 0) {
        fail(bcast, EPROTO);
    } else {
        spread_send(bcast->spread, message->body);
        if (spread_is_full(bcast->spread))
            rpc_conn_pause(conn, true);
        file_write(bcast, &data);
        if (data.last) {
            file_complete(bcast);
            bcast->is_complete = true;
            maybe_over(bcast);
        }
    }
    arena_done(&arena);
}

static void on_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct bcast *bcast = context;

    bcast->sender = NULL;
    loop_stop(bcast->stepd->loop, 0);
}

static const struct rpc_handlers sender_handlers = {.message = on_message, .closed = on_closed};

static void on_slurmd(uint32_t events, void *context) {
    struct bcast *bcast = context;

    loop_stop(bcast->stepd->loop, 0); /* it never says anything more: it has gone, or the job has */
}

static int begin(struct bcast *bcast, int srun_fd, struct error *err) {
    struct stepd *stepd = bcast->stepd;
    const struct step_order *order = &stepd->order;
    struct bytes body = {order->file_open.data, order->file_open.size};
    struct bytes state = {order->channel.data, order->channel.size};
    uid_t slurmd_uid = geteuid();
    int r = wire_decode(&record_file_open, body, &stepd->arena, &bcast->open, err);

    if (r == 0 && order->places)
        r = places_enter(order->places, err); /* the job sees the file in its own /tmp */
    if (r == 0)
        r = become_user(order, err);
    if (r == 0)
        r = loop_fd_add(stepd->loop, STEP_ORDER_FD, EPOLLIN, on_slurmd, bcast, &bcast->slurmd, err);
    if (r == 0)
        r = rpc_conn_adopt(stepd->loop, srun_fd, state, &sender_handlers, bcast, &bcast->sender,
                           err);
    if (r < 0)
        return r;
    rpc_conn_limit_silence(bcast->sender, SILENCE_SECONDS);
    bcast->auth.munge_socket = order->munge_socket;
    file_make(bcast);
    bcast->spread =
        spread_new(stepd->loop, &bcast->auth, slurmd_uid, &bcast->open, bcast->open.children.items,
                   bcast->open.children.n, &spread_handlers, bcast);
    return 0;
}

int bcast_run(struct stepd *stepd, int srun_fd, struct error *err) {
    struct bcast bcast = {.stepd = stepd, .fd = -1};
    int r = begin(&bcast, srun_fd, err);

    if (r == 0)
        r = loop_run(stepd->loop, err);
    file_drop(&bcast);
    loop_fd_remove(bcast.slurmd);
    spread_close(bcast.spread);
    return r; /* the process ends, and all memory with it */
}
