/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/relay.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/sock.h"

#define READ_SIZE (32u << 10)
#define TAKEN_STEP (RELAY_WINDOW / 4) /* bytes between two notes */

void relay_stop(struct relay *relay) {
    loop_fd_remove(take(relay->watch));
    if (relay->fd >= 0)
        close(relay->fd);
    relay->fd = -1;
    str_done(&relay->pending);
}

static void end(struct relay *relay) {
    struct step_x11 message = {.id = relay->id, .close = true};

    if (relay->has_ended)
        return;
    relay->has_ended = true;
    if (!relay->told_close)
        relay->send(relay, &message);
    relay_stop(relay);
    relay->ended(relay);
}

static void update_events(struct relay *relay) {
    uint32_t events = 0;

    if (!relay->told_close && relay->sent - relay->taken < RELAY_WINDOW)
        events |= EPOLLIN;
    if (relay->pending.length > 0)
        events |= EPOLLOUT;
    loop_fd_events(relay->watch, events);
}

/* False when the relay has ended. */
static bool flush(struct relay *relay) {
    struct step_x11 message = {.id = relay->id};
    uint64_t before = relay->received - (relay->pending.length - relay->written);

    while (relay->written < relay->pending.length) {
        ssize_t n = write(relay->fd, relay->pending.data + relay->written,
                          relay->pending.length - relay->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            end(relay);
            return false;
        }
        relay->written += (size_t) n;
    }
    if (relay->written == relay->pending.length) {
        str_reset(&relay->pending);
        relay->written = 0;
    }
    message.taken = relay->received - (relay->pending.length - relay->written);
    if (relay->told_close && relay->pending.length == 0) {
        end(relay);
        return false;
    }
    if (message.taken / TAKEN_STEP != before / TAKEN_STEP)
        relay->send(relay, &message);
    update_events(relay);
    return true;
}

static void on_event(uint32_t events, void *context) {
    static char buffer[READ_SIZE];
    struct relay *relay = context;

    if ((events & EPOLLOUT) && !flush(relay))
        return;
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    ssize_t n = read(relay->fd, buffer, sizeof(buffer));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        end(relay);
        return;
    }
    struct step_x11 message = {.id = relay->id, .data = {(uint8_t *) buffer, (size_t) n}};
    relay->sent += (size_t) n;
    relay->send(relay, &message);
    update_events(relay);
}

int relay_start(struct relay *relay, struct loop *loop, int fd, struct error *err) {
    relay->fd = fd;
    int r = sock_nonblock(fd, true, err);
    return r < 0 ? r : loop_fd_add(loop, fd, EPOLLIN, on_event, relay, &relay->watch, err);
}

void relay_message(struct relay *relay, const struct step_x11 *message) {
    if (relay->has_ended)
        return;
    if (message->taken > relay->taken && message->taken <= relay->sent)
        relay->taken = message->taken;
    if (message->data.size > 0 &&
        relay->pending.length - relay->written + message->data.size <= 2 * RELAY_WINDOW) {
        relay->received += message->data.size;
        str_append_bytes(&relay->pending, message->data.data, message->data.size);
    }
    relay->told_close |= message->close;
    (void) flush(relay);
}
