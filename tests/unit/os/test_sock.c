/* SPDX-License-Identifier: Apache-2.0 */
/* Covers: notify.c */
#include "unit.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "os/loop.h"
#include "os/notify.h"
#include "os/sock.h"

static int listen_somewhere(const char *host) {
    int fd = -1;
    struct error err = ERROR_INIT;
    assert_int_equal(sock_listen(host, 0, &fd, &err), 0);
    return fd;
}

TEST(a_connection_is_made_and_both_ends_know_the_address) {
    cleanup_fd int listener = listen_somewhere("127.0.0.1");
    cleanup_fd int client = -1, server = -1;
    struct error err = ERROR_INIT;
    struct sock_addrs addrs;
    struct sock_addr from;
    assert_int_equal(sock_resolve("127.0.0.1", sock_port(listener), &addrs, &err), 0);
    assert_int_equal(sock_dial(&addrs.items[0], &client, &err), 0);
    assert_int_equal(sock_wait(client, POLLOUT, loop_monotonic_usec() + 5000000, &err), 1);
    assert_int_equal(sock_dial_result(client, &addrs.items[0], &err), 0);
    assert_int_equal(sock_wait(listener, POLLIN, loop_monotonic_usec() + 5000000, &err), 1);
    assert_int_equal(sock_accept(listener, &server, &from, &err), 0);
    assert_true(server >= 0);
    char text[SOCK_TEXT_MAX], expected[SOCK_TEXT_MAX];
    sock_text((const struct sockaddr *) &from.address, true, text);
    snprintf(expected, sizeof(expected), "127.0.0.1:%u", sock_port(client));
    assert_string_equal(text, expected);
    int none = 0;
    assert_int_equal(sock_accept(listener, &none, NULL, &err), 0);
    assert_int_equal(none, -1);
}

TEST(an_ipv4_peer_of_an_ipv6_listener_is_shown_as_ipv4) {
    cleanup_fd int listener = listen_somewhere("");
    cleanup_fd int client = -1, server = -1;
    struct error err = ERROR_INIT;
    struct sock_addrs addrs;
    struct sock_addr from;
    assert_int_equal(sock_resolve("127.0.0.1", sock_port(listener), &addrs, &err), 0);
    assert_int_equal(sock_dial(&addrs.items[0], &client, &err), 0);
    assert_int_equal(sock_wait(listener, POLLIN, loop_monotonic_usec() + 5000000, &err), 1);
    assert_int_equal(sock_accept(listener, &server, &from, &err), 0);
    char text[SOCK_TEXT_MAX];
    sock_text((const struct sockaddr *) &from.address, false, text);
    assert_string_equal(text, "127.0.0.1");
}

TEST(a_port_where_nobody_listens_is_named_with_the_cure) {
    cleanup_fd int listener = listen_somewhere("127.0.0.1");
    uint16_t port = sock_port(listener);
    close(take_fd(&listener));
    cleanup_fd int client = -1;
    struct error err = ERROR_INIT;
    struct sock_addrs addrs;
    assert_int_equal(sock_resolve("127.0.0.1", port, &addrs, &err), 0);
    int r = sock_dial(&addrs.items[0], &client, &err);
    if (r == 0) {
        assert_int_equal(sock_wait(client, POLLOUT, loop_monotonic_usec() + 5000000, &err), 1);
        r = sock_dial_result(client, &addrs.items[0], &err);
    }
    char expected[64];
    snprintf(expected, sizeof(expected), "127.0.0.1:%u: Connection refused", port);
    assert_int_equal(r, -ERR_CONNECT);
    assert_non_null(strstr(err.text, expected));
    assert_non_null(strstr(err.text, "start the daemon"));
}

/* From now on every packet to this socket is dropped, as if a cable had been pulled. */
static void pull_the_cable(int fd) {
    struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog program = {.len = 1, .filter = &drop};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
}

static void connect_to(int listener, int *ret_client, int *ret_server) {
    struct error err = ERROR_INIT;
    struct sock_addrs addrs;
    assert_int_equal(sock_resolve("127.0.0.1", sock_port(listener), &addrs, &err), 0);
    assert_int_equal(sock_dial(&addrs.items[0], ret_client, &err), 0);
    assert_int_equal(sock_wait(listener, POLLIN, loop_monotonic_usec() + 5000000, &err), 1);
    assert_int_equal(sock_accept(listener, ret_server, NULL, &err), 0);
}

TEST(a_peer_behind_a_cut_cable_does_not_answer_and_one_that_does_not_read_does) {
    cleanup_fd int listener = listen_somewhere("127.0.0.1");
    cleanup_fd int client = -1, server = -1;
    connect_to(listener, &client, &server);
    static char block[65536];
    while (write(client, block, sizeof(block)) > 0)
        ;
    for (int i = 0; i < 6; i++) { /* full, and the kernel of the other side still answers */
        poll(NULL, 0, 50);
        assert_false(sock_is_unanswered(client, 250));
    }
    close(take_fd(&client));
    close(take_fd(&server));
    connect_to(listener, &client, &server);
    pull_the_cable(server);
    assert_int_equal(write(client, "x", 1), 1);
    for (int i = 0; i < 1000 && !sock_is_unanswered(client, 250); i++)
        poll(NULL, 0, 10);
    assert_true(sock_is_unanswered(client, 250));
    assert_false(sock_is_unanswered(0, 0));
}

TEST(a_port_in_use_is_named) {
    cleanup_fd int listener = listen_somewhere("127.0.0.1");
    int second = -1;
    struct error err = ERROR_INIT;
    assert_int_equal(sock_listen("127.0.0.1", sock_port(listener), &second, &err), -ERR_CONNECT);
    assert_int_equal(second, -1);
    assert_non_null(strstr(err.text, "another process has the port"));
}

TEST(a_unix_socket_has_its_mode_and_replaces_only_a_dead_one) {
    char dir[] = "/tmp/sluice-sock-XXXXXX";
    assert_non_null(mkdtemp(dir));
    /* Longer than sun_path, which holds 107 bytes. */
    cleanup_free char *deep = xasprintf("%s/%0100d", dir, 7);
    assert_int_equal(mkdir(deep, 0700), 0);
    cleanup_free char *path = xasprintf("%s/step.sock", deep);
    struct error err = ERROR_INIT;
    int first = -1, second = -1, client = -1;
    assert_int_equal(sock_listen_unix(path, 0600, &first, &err), 0);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(sock_listen_unix(path, 0600, &second, &err), -ERR_EXISTS);
    close(first);
    assert_int_equal(sock_listen_unix(path, 0600, &second, &err), 0);
    assert_int_equal(sock_dial_unix(path, &client, &err), 0);
    uid_t uid;
    pid_t pid;
    assert_int_equal(sock_peer_cred(client, &uid, NULL, &pid, &err), 0);
    assert_int_equal(uid, geteuid());
    assert_int_equal(pid, getpid());
    close(client);
    close(second);
    unlink(path);
    rmdir(deep);
    rmdir(dir);
}

TEST(the_readiness_notice_reaches_the_named_socket) {
    struct error err = ERROR_INIT;
    unsetenv("NOTIFY_SOCKET");
    assert_int_equal(notify_send("READY=1", &err), 0);
    char path[] = "/tmp/sluice-notify-XXXXXX";
    close(mkstemp(path));
    unlink(path);
    struct sockaddr_storage storage = {.ss_family = AF_UNIX};
    strcpy(((struct sockaddr *) &storage)->sa_data, path);
    cleanup_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *) &storage, (socklen_t) (2 + strlen(path) + 1)), 0);
    setenv("NOTIFY_SOCKET", path, 1);
    assert_int_equal(notify_send("READY=1", &err), 1);
    char got[32] = "";
    assert_int_equal(recv(fd, got, sizeof(got), 0), 7);
    assert_string_equal(got, "READY=1");
    unlink(path);
    assert_true(notify_send("READY=1", &err) < 0);
    unsetenv("NOTIFY_SOCKET");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_is_made_and_both_ends_know_the_address),
        cmocka_unit_test(an_ipv4_peer_of_an_ipv6_listener_is_shown_as_ipv4),
        cmocka_unit_test(a_port_where_nobody_listens_is_named_with_the_cure),
        cmocka_unit_test(a_peer_behind_a_cut_cable_does_not_answer_and_one_that_does_not_read_does),
        cmocka_unit_test(a_port_in_use_is_named),
        cmocka_unit_test(a_unix_socket_has_its_mode_and_replaces_only_a_dead_one),
        cmocka_unit_test(the_readiness_notice_reaches_the_named_socket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
