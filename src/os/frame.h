/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Length-prefixed frames on a stream socket: four bytes length (big endian), then that many bytes.
 * One side of the pair collects what arrives, however it is cut; the other queues what leaves and
 * writes as much as the socket takes, many small frames in one system call. Neither blocks on a
 * non-blocking socket. Memory: an idle pair holds none.
 */
#ifndef SLUICE_OS_FRAME_H
#define SLUICE_OS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/list.h"
#include "os/sock.h"

#define FRAME_HEADER 4 /* bytes */

/* ---- receiving ---- */
struct frame_in {
    uint32_t max; /* bytes of one frame; a longer one is a protocol error */
    uint8_t *data;
    size_t start, end, capacity; /* unread bytes are data[start..end) */
    bool takes_fds;              /* Unix sockets: keep passed descriptors for frame_in_take_fd() */
    int fds[SOCK_FDS_MAX];
    size_t n_fds;
};

void frame_in_init(struct frame_in *in, uint32_t max);
void frame_in_done(struct frame_in *in); /* closes descriptors that nobody took */
/* One read. 1 = something came, 0 = nothing there now, ERR_CLOSED at the end of the stream. Never
 * holds more than max + FRAME_HEADER bytes, or READ_AHEAD when that is more. */
must_check int frame_in_read(struct frame_in *in, int fd, struct error *err);
/* 1 = *ret is the next frame's content, valid until the next read or feed; 0 = not complete yet;
 * ERR_PROTOCOL when its announced length is above max. */
must_check int frame_in_next(struct frame_in *in, struct bytes *ret, struct error *err);
/* Adds bytes as if read (an adopted connection, a test). */
void frame_in_feed(struct frame_in *in, struct bytes data);
/* What has arrived and was not handed out by frame_in_next(). */
struct bytes frame_in_rest(const struct frame_in *in);
/* The oldest descriptor that came along, or -1. The caller owns it. */
int frame_in_take_fd(struct frame_in *in);

/* ---- sending ---- */
struct frame_out {
    struct list blocks;
    size_t queued; /* bytes not yet written */
};

void frame_out_init(struct frame_out *out);
void frame_out_done(struct frame_out *out);
/* Queues a frame of `size` bytes and returns where its content goes, valid until the next call. */
uint8_t *frame_out_add(struct frame_out *out, size_t size);
void frame_out_append(struct frame_out *out, struct bytes content);
/* As frame_out_append; descriptors go along with the frame's first byte. They are owned (and closed
 * after sending, or by frame_out_done). */
void frame_out_append_fds(struct frame_out *out, struct bytes content, const int *fds,
                          size_t n_fds);
/* Queues bytes without a header: the rest of an adopted connection. */
void frame_out_raw(struct frame_out *out, struct bytes data);
/* Writes: 0 = all written, 1 = the socket is full, wait for EPOLLOUT; ERR_CLOSED, ERR_SYSTEM. */
must_check int frame_out_flush(struct frame_out *out, int fd, struct error *err);
/* Appends everything queued to ret in order; used to hand a connection over. */
struct str;
void frame_out_copy(const struct frame_out *out, struct str *ret);

#endif
