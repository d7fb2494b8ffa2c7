/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream socket carried over a step's connection: what comes from the socket leaves as messages
 * (struct step_x11 without `open`), what comes as messages is written to the socket. Each direction
 * has a window, so that a program that does not read fills no memory. Used at both ends of X11
 * forwarding.
 */
#ifndef SLUICE_RPC_RELAY_H
#define SLUICE_RPC_RELAY_H

#include <stdint.h>

#include "base/list.h"
#include "model/messages.h"
#include "os/loop.h"

#define RELAY_WINDOW (256u << 10) /* bytes under way in one direction */

struct relay {
    struct list link; /* the owner's */
    uint32_t id;
    void *context;
    /* Sends a message to the other end. */
    void (*send)(struct relay *relay, const struct step_x11 *message);
    /* It has ended, the other end has been told, and it is to be freed: from the loop or from
     * within relay_message(). */
    void (*ended)(struct relay *relay);
    /* private */
    struct loop_fd *watch;
    int fd;
    struct str pending; /* for the socket */
    size_t written;     /* of pending */
    uint64_t sent, taken, received;
    bool has_ended, told_close;
};

/* Owns fd, a connected socket. id, context, send and ended are set by the caller. */
must_check int relay_start(struct relay *relay, struct loop *loop, int fd, struct error *err);
/* A message of the other end. The relay may be gone when it returns. */
void relay_message(struct relay *relay, const struct step_x11 *message);
/* Without telling anybody. */
void relay_stop(struct relay *relay);

#endif
