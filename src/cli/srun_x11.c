/* SPDX-License-Identifier: Apache-2.0 */
/*
 * srun's end of X11 forwarding. A program on a node that connects to the step's display is carried
 * here; when it shows the cookie that was made for this step, it is let through to the true display
 * with the true cookie, which never leaves this host.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/srun.h"
#include "cli/x11.h"
#include "os/sock.h"
#include "rpc/relay.h"

#define CONNECT_USEC 5000000u
#define GREETING_MAX 1024

struct client {
    struct relay relay; /* started when the greeting is right */
    struct srun_node *node;
    bool is_started;
    struct str greeting;
};

struct srun_x11 {
    struct x11_display display;
    uint8_t cookie[X11_COOKIE_BYTES]; /* that programs on the nodes show */
    struct list clients;
};

int srun_x11_check(struct srun *srun) {
    const char *word = srun->options.job.x11;

    /* What salloc asked for holds where there is a display; an option here must have one. */
    if (!word || (srun->options.origin[OPT_x11] == OPTION_ENVIRONMENT && getenv("DISPLAY") == NULL))
        return CLI_GO_ON;
    struct srun_x11 *x11 = srun->x11 = zalloc(struct srun_x11);
    list_init(&x11->clients);
    if (!x11_display_read(&srun->cli, &x11->display))
        return 255;
    if (getrandom(x11->cookie, sizeof(x11->cookie), 0) == (ssize_t) sizeof(x11->cookie))
        return CLI_GO_ON;
    cli_error(&srun->cli, "getrandom(): %s", strerror(errno));
    return srun->cli.error_status;
}

void srun_x11_fill(struct srun_node *node, struct step_launch *launch) {
    struct srun *srun = node->srun;
    const char *word = srun->options.job.x11;
    size_t index = (size_t) (node - srun->nodes);

    if (!srun->x11)
        return;
    if (str_equal(word, "last") && index + 1 < srun->n_nodes)
        return;
    if ((str_equal(word, "first") || str_equal(word, "batch")) && index > 0)
        return;
    launch->x11_cookie = (struct blob) {srun->x11->cookie, X11_COOKIE_BYTES};
}

/* ---- clients ---- */

static void send_message(struct relay *relay, const struct step_x11 *message) {
    struct client *client = relay->context;

    srun_send(client->node, MSG_STEP_X11, message);
}

static void client_free(struct client *client) {
    list_remove(&client->relay.link);
    str_done(&client->greeting);
    free(client);
}

static void on_ended(struct relay *relay) {
    client_free(relay->context);
}

static void refuse(struct client *client) {
    struct step_x11 message = {.id = client->relay.id, .close = true};

    srun_send(client->node, MSG_STEP_X11, &message);
    client_free(client);
}

static int dial_address(const struct x11_display *display, int *ret, struct error *err) {
    uint64_t deadline = loop_monotonic_usec() + CONNECT_USEC;
    struct sock_addrs addrs;
    int r = sock_resolve(display->host, display->port, &addrs, err);

    for (size_t i = 0; r == 0 && i < addrs.n; i++) {
        if (sock_dial(&addrs.items[i], ret, err) < 0)
            continue;
        if (sock_wait(*ret, POLLOUT, deadline, err) == 1 &&
            sock_dial_result(*ret, &addrs.items[i], err) == 0)
            return 0;
        close(*ret);
    }
    return r < 0 ? r : -ERR_CONNECT;
}

static void client_start(struct client *client) {
    struct srun *srun = client->node->srun;
    const struct x11_display *display = &srun->x11->display;
    struct error err = ERROR_INIT;
    struct step_x11 first = {.id = client->relay.id};
    int fd;
    int r =
        display->path ? sock_dial_unix(display->path, &fd, &err) : dial_address(display, &fd, &err);

    if (r < 0) {
        cli_error(&srun->cli, "X11: %s", err.text);
        refuse(client);
        return;
    }
    if (relay_start(&client->relay, srun->loop, fd, &err) < 0) {
        close(fd);
        refuse(client);
        return;
    }
    client->is_started = true;
    first.data = (struct blob) {(uint8_t *) client->greeting.data, client->greeting.length};
    relay_message(&client->relay, &first);
}

static void client_greets(struct client *client, const struct step_x11 *message) {
    struct srun_x11 *x11 = client->node->srun->x11;

    str_append_bytes(&client->greeting, message->data.data, message->data.size);
    int r = x11_greeting_translate(&client->greeting, x11->cookie, x11->display.cookie);
    if (r == 1)
        client_start(client);
    else if (r < 0 || client->greeting.length > GREETING_MAX)
        refuse(client);
    else if (message->close)
        client_free(client);
}

void srun_x11_message(struct srun_node *node, const struct step_x11 *message) {
    struct srun_x11 *x11 = node->srun->x11;
    struct client *found = NULL;

    if (!x11)
        return;
    list_each (&x11->clients, link) {
        struct client *client = list_entry(link, struct client, relay.link);
        if (client->node == node && client->relay.id == message->id)
            found = client;
    }
    if (!found && message->open) {
        found = zalloc(struct client);
        found->node = node;
        found->relay.id = message->id;
        found->relay.context = found;
        found->relay.send = send_message;
        found->relay.ended = on_ended;
        list_append(&x11->clients, &found->relay.link);
    }
    if (found && found->is_started)
        relay_message(&found->relay, message);
    else if (found)
        client_greets(found, message);
}
