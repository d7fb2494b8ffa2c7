/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller for tests: a munged of its own, a configuration that points to it, and a child that
 * answers every message as a function says.
 */
#ifndef SLUICE_UNIT_FAKE_CONTROLLER_H
#define SLUICE_UNIT_FAKE_CONTROLLER_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/messages.h"
#include "munged.h"
#include "os/loop.h"
#include "os/sock.h"
#include "rpc/rpc.h"
#include "unit.h"

struct fake_controller {
    struct munged munged;
    char conf_path[96];
    uint16_t port;
    pid_t pid;
};

/* Body of any message, encoded and sent as an answer. */
static inline void fake_answer(struct rpc_conn *conn, uint32_t seq, uint16_t type, uint16_t flags,
                               const void *body) {
    cleanup_str struct str text = STR_INIT;
    wire_encode(message_record(type), body, NULL, &text);
    rpc_conn_send(conn, type, flags, seq,
                  (struct bytes) {(const uint8_t *) text.data, text.length});
}

typedef void fake_handler(struct rpc_conn *conn, const struct rpc_message *message, void *context);

static inline uint16_t fake_free_port(void) {
    int fd = -1;
    struct error err = ERROR_INIT;
    if (sock_listen("127.0.0.1", 0, &fd, &err) < 0)
        fail_msg("%s", err.text);
    uint16_t port = sock_port(fd);
    close(fd);
    return port;
}

static inline void fake_write_conf(struct fake_controller *fake, const char *extra) {
    snprintf(fake->conf_path, sizeof(fake->conf_path), "%s/slurm.conf", fake->munged.dir);
    FILE *file = fopen(fake->conf_path, "w");
    assert_non_null(file);
    fprintf(file,
            "ClusterName=fake\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=%u\n"
            "SlurmUser=%u\nAuthType=auth/munge\nAuthInfo=socket=%s\nMessageTimeout=5\n%s",
            fake->port, geteuid(), fake->munged.socket, extra);
    fclose(file);
    setenv("SLURM_CONF", fake->conf_path, 1);
}

static inline void fake_serve(const struct fake_controller *fake, fake_handler *handler,
                              int ready_fd) {
    struct loop *loop;
    struct rpc_server *server;
    struct error err = ERROR_INIT;
    struct rpc_auth auth = {.munge_socket = fake->munged.socket};
    struct rpc_handlers handlers = {.message = handler};
    if (loop_new(&loop, &err) < 0 ||
        rpc_server_new(loop, &auth, "127.0.0.1", fake->port, &handlers, loop, &server, &err) < 0)
        _exit(1);
    (void) !write(ready_fd, "", 1);
    _exit(loop_run(loop, &err) < 0);
}

/* 0, or -1 when there is no munged to test with. */
static inline int fake_start(struct fake_controller *fake, fake_handler *handler) {
    int ready[2];
    char byte;
    memset(fake, 0, sizeof(*fake));
    if (munged_start(&fake->munged) < 0)
        return -1;
    fake->port = fake_free_port();
    fake_write_conf(fake, "");
    assert_int_equal(pipe(ready), 0);
    fake->pid = fork();
    if (fake->pid == 0)
        fake_serve(fake, handler, ready[1]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return 0;
}

static inline void fake_stop_server(struct fake_controller *fake) {
    if (fake->pid <= 0)
        return;
    kill(fake->pid, SIGKILL);
    waitpid(fake->pid, NULL, 0);
    fake->pid = 0;
}

static inline void fake_stop(struct fake_controller *fake) {
    fake_stop_server(fake);
    unlink(fake->conf_path);
    munged_stop(&fake->munged);
}

/* What a function writes to stderr. */
static inline const char *fake_stderr(void (*fn)(void *context), void *context) {
    static char text[4096];
    char path[] = "/tmp/sluice-stderr-XXXXXX";
    int file = mkstemp(path), saved = dup(STDERR_FILENO);
    assert_true(file >= 0 && saved >= 0);
    unlink(path);
    dup2(file, STDERR_FILENO);
    fn(context);
    dup2(saved, STDERR_FILENO);
    close(saved);
    ssize_t n = pread(file, text, sizeof(text) - 1, 0);
    close(file);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

#endif
