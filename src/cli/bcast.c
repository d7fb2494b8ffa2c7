/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bcast.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "os/sock.h"
#include "os/userdb.h"
#include "rpc/spread.h"

#define SILENCE_SECONDS 60

struct bcast {
    const struct cli *cli;
    const struct bcast_request *request;
    struct loop *loop;
    struct rpc_auth auth;
    struct file_open open;
    struct spread *spread;
    int fd, worst; /* worst: errno */
    uint8_t *block, *packed;
    size_t block_size;
    bool is_ready, is_sent;
};

int bcast_grant(const struct cli *cli, const char *job, uint32_t step_id, struct cli_link *link,
                const struct step_layout **ret, struct error *err) {
    struct file_grant grant = {.job = (char *) (uintptr_t) job, .step_id = step_id};
    struct cli_reply reply;
    int r = cli_ask(cli, MSG_FILE_GRANT, &grant, link, &reply, err);

    if (r < 0)
        return r;
    const struct step_reply *answer = reply.body;
    if (reply.type != MSG_STEP_REPLY || !answer->layout || !answer->layout->credential) {
        cli_link_close(link);
        return error_set(err, ERR_PROTOCOL, "the controller answered with message %u", reply.type);
    }
    *ret = answer->layout;
    return 0;
}

bool bcast_compresses(const struct cli *cli, const char *type) {
    if (!type || !*type || str_equal_nocase(type, "zlib") || str_equal_nocase(type, "lz4"))
        return true;
    if (!str_equal_nocase(type, "none"))
        cli_error(cli, "Compression type '%s' unknown, disabling compression support.", type);
    return false;
}

/* ---- events ---- */

static void take_failures(struct bcast *bcast) {
    struct file_failure *failures;
    struct arena arena;
    size_t n;

    arena_init(&arena, 0);
    spread_failures(bcast->spread, &arena, &failures, &n);
    for (size_t i = 0; i < n; i++) {
        cli_error(bcast->cli, "REQUEST_FILE_BCAST(%s): %s", failures[i].node, failures[i].text);
        bcast->worst = max_of(bcast->worst, (int) failures[i].number);
    }
    arena_done(&arena);
}

/* Packs the block where that makes it smaller. */
static void fill_data(struct bcast *bcast, size_t size, struct file_data *data) {
    uLongf packed = compressBound(bcast->block_size);

    record_init(&record_file_data, data);
    data->data = (struct blob) {bcast->block, size};
    if (!bcast->request->compress || size == 0 ||
        compress2(bcast->packed, &packed, bcast->block, size, Z_BEST_SPEED) != Z_OK ||
        packed >= size)
        return;
    data->data = (struct blob) {bcast->packed, packed};
    data->raw_size = (uint32_t) size;
}

/* Sends until enough is queued; a read that fails ends it all. */
static void send_some(struct bcast *bcast) {
    while (bcast->is_ready && !bcast->is_sent && !spread_is_full(bcast->spread)) {
        cleanup_str struct str body = STR_INIT;
        struct file_data data;
        ssize_t n = read(bcast->fd, bcast->block, bcast->block_size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            bcast->worst = errno;
            cli_error(bcast->cli, "Can't read `%s`: %s", bcast->request->source, strerror(errno));
            loop_stop(bcast->loop, 0);
            return;
        }
        fill_data(bcast, (size_t) n, &data);
        data.last = bcast->is_sent = n == 0;
        wire_encode(&record_file_data, &data, NULL, &body);
        spread_send(bcast->spread, str_bytes(&body));
    }
}

static void on_ready(void *context) {
    struct bcast *bcast = context;

    take_failures(bcast);
    if (bcast->worst) {
        loop_stop(bcast->loop, 0);
        return;
    }
    bcast->is_ready = true;
    send_some(bcast);
}

/* Also when a node is lost: then the copy is broken off, and what the others have is dropped. */
static void on_drained(void *context) {
    struct bcast *bcast = context;

    take_failures(bcast);
    if (bcast->worst)
        loop_stop(bcast->loop, 0);
    else
        send_some(bcast);
}

static void on_over(void *context) {
    struct bcast *bcast = context;

    take_failures(bcast);
    loop_stop(bcast->loop, 0);
}

static const struct spread_handlers handlers = {on_ready, on_drained, on_over};

/* ---- setting up ---- */

static int open_source(struct bcast *bcast) {
    const struct bcast_request *request = bcast->request;
    struct stat stat;

    bcast->fd = open(request->source, O_RDONLY | O_CLOEXEC);
    if (bcast->fd < 0 || fstat(bcast->fd, &stat) < 0) {
        int number = errno;
        cli_error(bcast->cli, "Can't open `%s`: %s", request->source, strerror(number));
        return number;
    }
    if (!S_ISREG(stat.st_mode)) {
        cli_error(bcast->cli, "Can't copy `%s`: it is no regular file", request->source);
        return EINVAL;
    }
    bcast->open.mode = stat.st_mode & (request->preserve ? 07777u : 0777u);
    if (request->preserve) {
        bcast->open.mtime = stat.st_mtime;
        bcast->open.atime = stat.st_atime;
    }
    return 0;
}

/* Nodes that pass the file on shall not need a name service. */
static struct step_node *resolved(const struct step_layout *layout, struct arena *arena) {
    struct step_node *nodes = arena_alloc(arena, layout->nodes.n * sizeof(*nodes));

    for (uint32_t i = 0; i < layout->nodes.n; i++) {
        struct sock_addrs addrs;
        char text[SOCK_TEXT_MAX];
        nodes[i] = layout->nodes.items[i];
        if (sock_resolve(nodes[i].address, (uint16_t) nodes[i].port, &addrs, NULL) < 0)
            continue;
        sock_text((const struct sockaddr *) &addrs.items[0].address, false, text);
        nodes[i].address = arena_strdup(arena, text);
    }
    return nodes;
}

static int slurmd_user(const struct cli *cli, const struct conf *conf, uid_t *ret) {
    struct userdb_user user = {0};
    struct error err = ERROR_INIT;

    if (cli_uid_is_plain(conf->slurmd_user, ret))
        return 0;
    if (userdb_find(conf->slurmd_user, &user, &err) < 0) {
        cli_error(cli, "%s", err.text);
        return EINVAL;
    }
    *ret = user.uid;
    userdb_user_done(&user);
    return 0;
}

static int copy(struct bcast *bcast, uid_t uid, const struct step_node *nodes, size_t n) {
    struct error err = ERROR_INIT;

    bcast->spread =
        spread_new(bcast->loop, &bcast->auth, uid, &bcast->open, nodes, n, &handlers, bcast);
    if (loop_run(bcast->loop, &err) < 0) {
        cli_error(bcast->cli, "%s", err.text);
        bcast->worst = EIO;
    }
    spread_close(bcast->spread);
    return bcast->worst;
}

int bcast_file(const struct cli *cli, const struct conf *conf, const struct step_layout *layout,
               const struct bcast_request *request) {
    struct bcast bcast = {.cli = cli, .request = request, .fd = -1};
    struct error err = ERROR_INIT;
    struct arena arena;
    uid_t uid = 0;

    record_init(&record_file_open, &bcast.open);
    bcast.open.credential = layout->credential;
    bcast.open.path = (char *) (uintptr_t) request->path;
    bcast.open.force = request->force;
    bcast.open.fanout = request->fanout ? request->fanout : SPREAD_FANOUT;
    bcast.open.silence = request->seconds ? request->seconds : SILENCE_SECONDS;
    bcast.auth.munge_socket = conf->auth.socket;
    bcast.block_size = min_of(request->block ? request->block : BCAST_BLOCK, BCAST_BLOCK_MAX);
    arena_init(&arena, 0);
    int number = open_source(&bcast);
    if (number == 0)
        number = slurmd_user(cli, conf, &uid);
    if (number == 0 && loop_new(&bcast.loop, &err) < 0) {
        cli_error(cli, "%s", err.text);
        number = EIO;
    }
    if (number == 0) {
        bcast.block = xmalloc(bcast.block_size);
        bcast.packed = request->compress ? xmalloc(compressBound(bcast.block_size)) : NULL;
        number = copy(&bcast, uid, resolved(layout, &arena), layout->nodes.n);
        loop_free(bcast.loop);
        spread_free(bcast.spread);
    }
    free(bcast.block);
    free(bcast.packed);
    if (bcast.fd >= 0)
        close(bcast.fd);
    arena_done(&arena);
    return number;
}
