/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames; see frame.h. Outgoing frames lie in blocks: a block takes small frames until it is full,
 * a large frame gets its own. A flush hands several blocks to one sendmsg.
 */
#include "os/frame.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"

#define READ_AHEAD (64u << 10) /* bytes that one read asks for at most */
#define BLOCK_SIZE (16u << 10) /* bytes of a block that collects small frames */
#define BLOCKS_PER_WRITE 16

/* ---- receiving ---- */

void frame_in_init(struct frame_in *in, uint32_t max) {
    *in = (struct frame_in) {.max = max};
}

void frame_in_done(struct frame_in *in) {
    for (size_t i = 0; i < in->n_fds; i++)
        close(in->fds[i]);
    free(in->data);
    *in = (struct frame_in) {.max = in->max};
}

struct bytes frame_in_rest(const struct frame_in *in) {
    return (struct bytes) {.data = in->data ? in->data + in->start : NULL,
                           .size = in->end - in->start};
}

/* Makes room for `extra` more bytes behind the unread ones; gives memory back when all is read. */
static void in_reserve(struct frame_in *in, size_t extra) {
    size_t unread = in->end - in->start;
    if (in->start > 0) {
        memmove(in->data, in->data + in->start, unread);
        in->start = 0;
        in->end = unread;
    }
    if (in->capacity - unread < extra) {
        in->capacity = unread + extra;
        in->data = xreallocarray(in->data, in->capacity, 1);
    }
}

static void in_release_when_empty(struct frame_in *in) {
    if (in->start < in->end)
        return;
    free(in->data);
    in->data = NULL;
    in->start = in->end = in->capacity = 0;
}

void frame_in_feed(struct frame_in *in, struct bytes data) {
    if (data.size == 0)
        return;
    in_reserve(in, data.size);
    memcpy(in->data + in->end, data.data, data.size);
    in->end += data.size;
}

static ssize_t in_receive(struct frame_in *in, int fd, size_t size, struct error *err) {
    if (in->takes_fds) {
        size_t n_fds = 0;
        ssize_t n = sock_receive_fds(fd, in->data + in->end, size, in->fds + in->n_fds,
                                     SOCK_FDS_MAX - in->n_fds, &n_fds, err);
        in->n_fds += n_fds;
        return n;
    }
    ssize_t n;
    do {
        n = read(fd, in->data + in->end, size); /* works on pipes, too */
    } while (n < 0 && errno == EINTR);
    if (n >= 0)
        return n;
    if (errno == EAGAIN)
        return -ERR_BUSY;
    if (errno == ECONNRESET || errno == ETIMEDOUT || errno == EPIPE)
        return error_set(err, ERR_CLOSED, "the connection broke: %s", strerror(errno));
    return error_errno(err, errno, "cannot receive");
}

int frame_in_read(struct frame_in *in, int fd, struct error *err) {
    size_t unread = in->end - in->start;
    size_t frame = (size_t) in->max + FRAME_HEADER;
    /* Enough for the frame that has begun, in steps, so that an announced length alone costs us
     * nothing; read-ahead only for frames that cannot be longer than it anyway. */
    size_t want = min_of(frame, (size_t) READ_AHEAD);
    if (unread >= FRAME_HEADER) {
        size_t whole = FRAME_HEADER + (size_t) get_u32(in->data + in->start);
        if (whole > unread)
            want = max_of(min_of(whole - unread, (size_t) READ_AHEAD * 4),
                          (size_t) min_of(frame, (size_t) READ_AHEAD) / 2);
    }
    in_reserve(in, want);
    ssize_t n = in_receive(in, fd, want, err);
    if (n <= 0)
        in_release_when_empty(in);
    if (n == -ERR_BUSY)
        return 0;
    if (n < 0)
        return (int) n;
    if (n == 0)
        return error_set(err, ERR_CLOSED,
                         unread == 0 ? "the other end closed the connection"
                                     : "the connection ended within a message");
    in->end += (size_t) n;
    return 1;
}

int frame_in_next(struct frame_in *in, struct bytes *ret, struct error *err) {
    size_t unread = in->end - in->start;
    if (unread < FRAME_HEADER) {
        in_release_when_empty(in);
        return 0;
    }
    uint32_t size = get_u32(in->data + in->start);
    if (size > in->max)
        return error_set(err, ERR_PROTOCOL,
                         "a frame of %u bytes was announced and %u are allowed: the other end "
                         "speaks another protocol, or is broken",
                         size, in->max);
    if (unread - FRAME_HEADER < size)
        return 0;
    *ret = (struct bytes) {.data = in->data + in->start + FRAME_HEADER, .size = size};
    in->start += FRAME_HEADER + (size_t) size;
    return 1;
}

int frame_in_take_fd(struct frame_in *in) {
    if (in->n_fds == 0)
        return -1;
    int fd = in->fds[0];
    memmove(in->fds, in->fds + 1, --in->n_fds * sizeof(in->fds[0]));
    return fd;
}

/* ---- sending ---- */

struct block {
    struct list link;
    size_t start, end, capacity; /* unwritten bytes are data[start..end) */
    int fds[SOCK_FDS_MAX];
    size_t n_fds; /* sent along with the first byte */
    uint8_t data[];
};

static struct block *block_at(struct list *node) {
    return list_entry(node, struct block, link);
}

static void block_free(struct block *block) {
    for (size_t i = 0; i < block->n_fds; i++)
        close(block->fds[i]);
    list_remove(&block->link);
    free(block);
}

void frame_out_init(struct frame_out *out) {
    *out = (struct frame_out) {0};
    list_init(&out->blocks);
}

void frame_out_done(struct frame_out *out) {
    list_each (&out->blocks, node)
        block_free(block_at(node));
    out->queued = 0;
}

/* Room for `size` bytes at the end of the queue. */
static uint8_t *out_space(struct frame_out *out, size_t size, bool own_block) {
    struct block *last = list_is_empty(&out->blocks) ? NULL : block_at(out->blocks.prev);
    if (!last || own_block || last->capacity - last->end < size) {
        /* The first block of an empty queue is often the only one: do not take more than needed. */
        size_t capacity = max_of(size, last && !own_block ? (size_t) BLOCK_SIZE : (size_t) 1024);
        last = xmalloc(sizeof(*last) + capacity);
        last->start = last->end = last->n_fds = 0;
        last->capacity = capacity;
        list_append(&out->blocks, &last->link);
    }
    uint8_t *at = last->data + last->end;
    last->end += size;
    out->queued += size;
    return at;
}

static uint8_t *out_frame(struct frame_out *out, size_t size, bool own_block) {
    assert(size <= UINT32_MAX);
    uint8_t *at = out_space(out, FRAME_HEADER + size, own_block);
    put_u32(at, (uint32_t) size);
    return at + FRAME_HEADER;
}

uint8_t *frame_out_add(struct frame_out *out, size_t size) {
    return out_frame(out, size, false);
}

void frame_out_append(struct frame_out *out, struct bytes content) {
    uint8_t *at = frame_out_add(out, content.size);
    if (content.size > 0)
        memcpy(at, content.data, content.size);
}

void frame_out_append_fds(struct frame_out *out, struct bytes content, const int *fds,
                          size_t n_fds) {
    assert(n_fds <= SOCK_FDS_MAX);
    uint8_t *at = out_frame(out, content.size, true);
    if (content.size > 0)
        memcpy(at, content.data, content.size);
    struct block *block = block_at(out->blocks.prev);
    memcpy(block->fds, fds, n_fds * sizeof(*fds));
    block->n_fds = n_fds;
}

void frame_out_raw(struct frame_out *out, struct bytes data) {
    if (data.size > 0)
        memcpy(out_space(out, data.size, false), data.data, data.size);
}

void frame_out_copy(const struct frame_out *out, struct str *ret) {
    list_each (&out->blocks, node) {
        struct block *block = block_at(node);
        str_append_bytes(ret, block->data + block->start, block->end - block->start);
    }
}

/* Descriptors go with the first byte of their block: such a block is written by itself. */
static ssize_t write_some(struct frame_out *out, int fd) {
    struct block *first = block_at(out->blocks.next);
    if (first->n_fds > 0) {
        struct bytes data = {first->data + first->start, first->end - first->start};
        struct error ignored = ERROR_INIT;
        ssize_t n = sock_send_fds(fd, data, first->fds, first->n_fds, &ignored);
        if (n > 0) {
            for (size_t i = 0; i < first->n_fds; i++)
                close(first->fds[i]);
            first->n_fds = 0;
        } else if (n == -ERR_BUSY) {
            errno = EAGAIN;
        } else if (n == -ERR_CLOSED) {
            errno = EPIPE;
        }
        return n;
    }
    struct iovec parts[BLOCKS_PER_WRITE];
    size_t n_parts = 0;
    list_each (&out->blocks, node) {
        struct block *block = block_at(node);
        if (n_parts == BLOCKS_PER_WRITE || block->n_fds > 0)
            break;
        parts[n_parts++] = (struct iovec) {block->data + block->start, block->end - block->start};
    }
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = n_parts};
    ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);
    if (n < 0 && errno == ENOTSOCK)
        n = writev(fd, parts, (int) n_parts);
    return n;
}

static void drop_written(struct frame_out *out, size_t n) {
    out->queued -= n;
    while (n > 0) {
        struct block *first = block_at(out->blocks.next);
        size_t part = min_of(n, first->end - first->start);
        first->start += part;
        n -= part;
        if (first->start == first->end)
            block_free(first);
    }
}

int frame_out_flush(struct frame_out *out, int fd, struct error *err) {
    while (out->queued > 0) {
        ssize_t n = write_some(out, fd);
        if (n >= 0) {
            drop_written(out, (size_t) n);
        } else if (errno == EAGAIN) {
            return 1;
        } else if (errno == EPIPE || errno == ECONNRESET || errno == ETIMEDOUT) {
            return error_set(err, ERR_CLOSED, "the other end closed the connection");
        } else if (errno != EINTR) {
            return error_errno(err, errno, "cannot send");
        }
    }
    return 0;
}
