/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node's end of X11 forwarding: a display on the loopback address that exists as long as the
 * step. Whoever connects is carried to the srun that the user has started, which knows the true
 * display. Anybody on this node could connect; what protects it is the cookie, which srun made for
 * this step alone, and which lies in a file that only the user can read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/sock.h"
#include "rpc/relay.h"
#include "slurmstepd/stepd.h"

#define DISPLAY_FIRST 20 /* below are displays of the machine, and those of ssh */
#define DISPLAY_LAST 420
#define DISPLAY_PORT 6000 /* of display 0: the X protocol's rule */
#define RELAYS_MAX 256
#define COOKIE_BYTES 16
#define COOKIE_NAME "MIT-MAGIC-COOKIE-1"
#define FAMILY_WILD 65535 /* Xauth(7): for any address */

struct x11 {
    struct stepd *stepd;
    int fd;
    struct loop_fd *watch;
    char *authority; /* path of the file with the cookie */
    struct list relays;
    uint32_t next_id, n_relays;
};

/* ---- connections ---- */

static void send_message(struct relay *relay, const struct step_x11 *message) {
    struct x11 *x11 = relay->context;

    srun_send(x11->stepd, MSG_STEP_X11, 0, message);
}

static void on_ended(struct relay *relay) {
    struct x11 *x11 = relay->context;

    list_remove(&relay->link);
    x11->n_relays--;
    free(relay);
}

static void on_client(uint32_t events, void *context) {
    struct x11 *x11 = context;
    struct step_x11 message = {.open = true};
    int fd;

    if (sock_accept(x11->fd, &fd, NULL, NULL) < 0 || fd < 0)
        return;
    if (!x11->stepd->srun || x11->n_relays >= RELAYS_MAX) {
        close(fd);
        return;
    }
    struct relay *relay = zalloc(struct relay);
    relay->id = message.id = x11->next_id++;
    relay->context = x11;
    relay->send = send_message;
    relay->ended = on_ended;
    srun_send(x11->stepd, MSG_STEP_X11, 0, &message);
    if (relay_start(relay, x11->stepd->loop, fd, NULL) < 0) {
        message = (struct step_x11) {.id = relay->id, .close = true};
        srun_send(x11->stepd, MSG_STEP_X11, 0, &message);
        close(fd);
        free(relay);
        return;
    }
    list_append(&x11->relays, &relay->link);
    x11->n_relays++;
}

void x11_message(struct stepd *stepd, const struct step_x11 *message) {
    if (!stepd->x11)
        return;
    list_each (&stepd->x11->relays, node) {
        struct relay *relay = list_entry(node, struct relay, link);
        if (relay->id == message->id) {
            relay_message(relay, message);
            return;
        }
    }
}

/* ---- the display ---- */

static void put16(struct str *out, size_t value) {
    str_append_char(out, (char) (value >> 8));
    str_append_char(out, (char) value);
}

static void put_counted(struct str *out, const void *data, size_t size) {
    put16(out, size);
    str_append_bytes(out, data, size);
}

/* The file that XAUTHORITY names; its form is that of libXau. */
static int write_authority(struct x11 *x11, unsigned display, struct error *err) {
    struct stepd *stepd = x11->stepd;
    const struct step_order *order = &stepd->order;
    cleanup_str struct str text = STR_INIT, number = STR_INIT;

    str_append_u64(&number, display);
    put16(&text, FAMILY_WILD);
    put_counted(&text, "", 0);
    put_counted(&text, number.data, number.length);
    put_counted(&text, COOKIE_NAME, strlen(COOKIE_NAME));
    put_counted(&text, stepd->step->x11_cookie.data, stepd->step->x11_cookie.size);
    x11->authority = xasprintf("%s/xauth.%u.%u", order->spool_dir, order->job_id, order->step_id);
    (void) unlink(x11->authority);
    cleanup_fd int fd = open(x11->authority, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, errno, "Cannot make %s", x11->authority);
    if (write(fd, text.data, text.length) != (ssize_t) text.length ||
        (stepd->identity && fchown(fd, stepd->identity->uid, stepd->identity->gid) < 0))
        return error_errno(err, errno, "Cannot write %s", x11->authority);
    return 0;
}

static int find_display(struct x11 *x11, unsigned *ret, struct error *err) {
    for (unsigned display = DISPLAY_FIRST; display <= DISPLAY_LAST; display++) {
        if (sock_listen("127.0.0.1", (uint16_t) (DISPLAY_PORT + display), &x11->fd, NULL) == 0) {
            *ret = display;
            return 0;
        }
    }
    x11->fd = -1;
    return error_set(err, ERR_SYSTEM, "No display from :%u to :%u is free for X11 forwarding.",
                     DISPLAY_FIRST, DISPLAY_LAST);
}

int x11_open(struct stepd *stepd, struct error *err) {
    unsigned display;

    if (stepd->step->x11_cookie.size == 0)
        return 0;
    if (!stepd->order.x11)
        return error_set(err, ERR_INVALID,
                         "X11 forwarding not available: PrologFlags in slurm.conf has no X11.");
    if (stepd->step->x11_cookie.size != COOKIE_BYTES)
        return error_set(err, ERR_PROTOCOL, "srun sent a cookie for X11 of another size.");
    struct x11 *x11 = stepd->x11 = zalloc(struct x11);
    x11->stepd = stepd;
    list_init(&x11->relays);
    int r = find_display(x11, &display, err);
    if (r == 0)
        r = write_authority(x11, display, err);
    if (r == 0)
        r = loop_fd_add(stepd->loop, x11->fd, EPOLLIN, on_client, x11, &x11->watch, err);
    if (r < 0) {
        x11_close(stepd);
        return r;
    }
    cleanup_free char *name = xasprintf("localhost:%u.0", display);
    env_set(&stepd->env, "DISPLAY", name);
    env_set(&stepd->env, "XAUTHORITY", x11->authority);
    return 0;
}

void x11_close(struct stepd *stepd) {
    struct x11 *x11 = take(stepd->x11);

    if (!x11)
        return;
    list_each (&x11->relays, node) {
        struct relay *relay = list_entry(node, struct relay, link);
        relay_stop(relay);
        list_remove(&relay->link);
        free(relay);
    }
    loop_fd_remove(x11->watch);
    if (x11->fd >= 0)
        close(x11->fd);
    if (x11->authority)
        (void) unlink(x11->authority);
    free(x11->authority);
    free(x11);
}
