/* SPDX-License-Identifier: Apache-2.0 */
/* The port where srun asks for its part of a step, and sattach for a look at one: the first message
 * says what is wanted, and the connection then belongs to a slurmstepd. sstat asks here, too,
 * and sbcast brings its files. */
#include <string.h>

#include "os/log.h"
#include "slurmd/slurmd.h"

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct slurmd *slurmd = context;

    if (message->type == MSG_STEP_LAUNCH || message->type == MSG_FILE_OPEN) {
        launch_step(slurmd, conn, message);
        return;
    }
    if (message->type == MSG_STEP_STAT) {
        stat_ask(slurmd, conn, message);
        return;
    }
    if (message->type == MSG_STEP_ATTACH) {
        attach_step(slurmd, conn, message);
        return;
    }
    if (message->type == MSG_PING) {
        rpc_conn_tell(conn, MSG_OK, RPC_LAST, message->seq, NULL);
        return;
    }
    log_info("%s sent message %u, which slurmd does not take", rpc_conn_peer(conn)->name,
             message->type);
    rpc_conn_close(conn);
}

static void on_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    launch_conn_closed(context, conn);
    stat_conn_closed(context, conn);
}

static const struct rpc_handlers server_handlers = {.message = on_message, .closed = on_closed};

static void on_reject(const struct error *why, void *context) {
    log_info("a connection was refused: %s", why->text);
}

/* A node on a loopback address of its own shares its port with the others of this machine. */
static const char *listen_address(const struct conf_node *node) {
    return str_starts(node->address, "127.") ? node->address : "";
}

int server_start(struct slurmd *slurmd, struct error *err) {
    int r = rpc_server_new(slurmd->loop, &slurmd->auth, listen_address(slurmd->node),
                           slurmd->node->port, &server_handlers, slurmd, &slurmd->server, err);

    if (r < 0)
        return r;
    rpc_server_on_reject(slurmd->server, on_reject, slurmd);
    return 0;
}
