/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pid files, going to the background, users.
 *
 * Covers: daemonize.c, pidfile.c, userdb.c
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/daemonize.h"
#include "os/loop.h"
#include "os/pidfile.h"
#include "os/userdb.h"

TEST(a_second_daemon_is_refused_and_the_first_is_named) {
    char path[] = "/tmp/sluice-pid-XXXXXX";
    close(mkstemp(path));
    int first = -1, second = -1;
    struct error err = ERROR_INIT;
    assert_int_equal(pidfile_create(path, &first, &err), 0);
    assert_int_equal(pidfile_create(path, &second, &err), -ERR_BUSY);
    char expected[64];
    snprintf(expected, sizeof(expected), "as process %d", getpid());
    assert_non_null(strstr(err.text, expected));
    pidfile_remove(path, first);
    assert_int_equal(access(path, F_OK), -1);
}

/* Returns the exit status of a program whose daemon does `what`. */
static int start_daemon(int what, char message[256]) {
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct daemonize daemon = DAEMONIZE_INIT;
        struct error err = ERROR_INIT;
        int r = daemonize(&daemon, &err);
        if (r == 0) {
            if (what == 1)
                daemonize_ready(&daemon);
            if (what == 2) {
                error_set(&err, ERR_CONFIG, "slurm.conf:3: no");
                daemonize_failed(&daemon, &err);
            }
            _exit(0);
        }
        ssize_t n = write(fds[1], err.text, strlen(err.text));
        _exit(n >= 0 && r == 1 ? 0 : r == -ERR_CONFIG ? 2 : 3);
    }
    close(fds[1]);
    ssize_t n = read(fds[0], message, 255);
    message[n > 0 ? n : 0] = '\0';
    close(fds[0]);
    int status;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

TEST(the_starting_process_ends_with_what_the_daemon_says) {
    char message[256];
    assert_int_equal(start_daemon(1, message), 0);
    assert_string_equal(message, "");
    assert_int_equal(start_daemon(2, message), 2);
    assert_string_equal(message, "slurm.conf:3: no");
    assert_int_equal(start_daemon(3, message), 3);
    assert_non_null(strstr(message, "died"));
}

TEST(users_are_found_by_name_and_by_number) {
    struct userdb_user user = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(userdb_find("root", &user, &err), 0);
    assert_int_equal(user.uid, 0);
    assert_string_equal(user.home, "/root");
    userdb_user_done(&user);
    assert_int_equal(userdb_find("0", &user, &err), 0);
    assert_string_equal(user.name, "root");
    userdb_user_done(&user);
    assert_int_equal(userdb_find("2999999999", &user, &err), 0);
    assert_string_equal(user.name, "2999999999");
    userdb_user_done(&user);
    assert_int_equal(userdb_find("no-such-user", &user, &err), -ERR_USER_ID);
    assert_non_null(strstr(err.text, "no-such-user"));
}

static void on_name(uid_t uid, const char *name, void *context) {
    assert_int_equal(uid, 65534);
    assert_string_equal(name, "nobody");
    loop_stop(context, 0);
}

TEST(the_cache_is_bounded_and_answers_in_the_background) {
    struct userdb *db = userdb_new(4, 60);
    for (uid_t uid = 3000000; uid < 3000020; uid++) {
        char number[16];
        snprintf(number, sizeof(number), "%u", uid);
        assert_string_equal(userdb_user_name(db, uid), number);
    }
    assert_string_equal(userdb_user_name(db, 0), "root");
    assert_string_equal(userdb_group_name(db, 0), "root");
    assert_true(userdb_is_member(db, 0, 0));
    assert_false(userdb_is_member(db, 0, 3000000));
    struct loop *loop;
    struct error err = ERROR_INIT;
    assert_int_equal(loop_new(&loop, &err), 0);
    for (int i = 0; i < 2; i++) { /* the second time from the cache */
        userdb_resolve(db, loop, 65534, on_name, loop);
        assert_int_equal(loop_run(loop, &err), 0);
    }
    loop_free(loop);
    userdb_free(db);
}

TEST(groups_of_a_user_include_the_primary_one) {
    gid_t *groups = NULL;
    size_t n = 0;
    struct error err = ERROR_INIT;
    assert_int_equal(userdb_groups("root", 4242, &groups, &n, &err), 0);
    assert_true(n >= 1);
    assert_int_equal(groups[0], 4242);
    free(groups);
    gid_t gid;
    assert_int_equal(userdb_find_group("root", &gid, &err), 0);
    assert_int_equal(gid, 0);
    assert_int_equal(userdb_find_group("no-such-group", &gid, &err), -ERR_NOT_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_daemon_is_refused_and_the_first_is_named),
        cmocka_unit_test(the_starting_process_ends_with_what_the_daemon_says),
        cmocka_unit_test(users_are_found_by_name_and_by_number),
        cmocka_unit_test(the_cache_is_bounded_and_answers_in_the_background),
        cmocka_unit_test(groups_of_a_user_include_the_primary_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
