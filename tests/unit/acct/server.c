/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "unit.h"

#define START_MSEC 120000

struct server {
    enum acct_backend backend;
    char *dir, *socket;
    char *program; /* mariadbd, or the folder of PostgreSQL's programs */
    pid_t pid;
    uid_t uid; /* as whom it runs: databases refuse root */
    gid_t gid;
    const char *user;
};

void tree_remove(const char *dir) {
    pid_t pid = fork();
    if (pid == 0) {
        execlp("rm", "rm", "-rf", "--", dir, NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

static char *program_find(const char *pattern) {
    glob_t found;
    char *path = NULL;
    if (glob(pattern, GLOB_BRACE, NULL, &found) == 0)
        path = xstrdup(found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return path;
}

static pid_t run(struct server *server, const char *const argv[]) {
    cleanup_free char *log = xasprintf("%s/log", server->dir);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    if (geteuid() == 0 && (setgid(server->gid) < 0 || setuid(server->uid) < 0))
        _exit(126);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    if (chdir(server->dir) < 0)
        _exit(126);
    setpgid(0, 0);
    execv(argv[0], (char *const *) (uintptr_t) argv);
    _exit(127);
}

static void run_to_end(struct server *server, const char *const argv[]) {
    int status = 0;
    waitpid(run(server, argv), &status, 0);
    if (status != 0)
        fail_msg("%s ended with %d; see %s/log", argv[0], status, server->dir);
}

static bool answers(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int r = connect(fd, (struct sockaddr *) &address, sizeof(address));
    close(fd);
    return r == 0;
}

/* Paths of the server's own files, freed by it. */
static char *in_dir(struct server *server, const char *format) {
    return xasprintf(format, server->dir);
}

static void launch(struct server *server) {
    cleanup_free char *data = in_dir(server, "%s/data");
    if (server->backend == ACCT_MARIADB) {
        cleanup_free char *datadir = in_dir(server, "--datadir=%s/data");
        cleanup_free char *socket_arg = in_dir(server, "--socket=%s/sock");
        cleanup_free char *pid_arg = in_dir(server, "--pid-file=%s/pid");
        cleanup_free char *tmpdir = in_dir(server, "--tmpdir=%s");
        const char *argv[] = {server->program,
                              "--no-defaults",
                              datadir,
                              socket_arg,
                              pid_arg,
                              tmpdir,
                              "--skip-networking",
                              "--innodb-buffer-pool-size=64M",
                              NULL};
        server->pid = run(server, argv);
    } else {
        cleanup_free char *postgres = xasprintf("%s/postgres", server->program);
        const char *argv[] = {
            postgres, "-D", data, "-k", server->dir, "-c", "listen_addresses=", NULL};
        server->pid = run(server, argv);
    }
    for (int waited = 0; !answers(server->socket); waited += 20) {
        if (waited > START_MSEC || waitpid(server->pid, NULL, WNOHANG) != 0)
            fail_msg("the database server does not start; see %s/log", server->dir);
        usleep(20000);
    }
}

static void files_make(struct server *server) {
    cleanup_free char *data = in_dir(server, "%s/data");
    if (server->backend == ACCT_MARIADB) {
        cleanup_free char *datadir = in_dir(server, "--datadir=%s/data");
        cleanup_free char *install = program_find("/usr/bin/mariadb-install-db");
        /* A server that starts removes the temporary tables of others in its directory for them. */
        cleanup_free char *tmpdir = in_dir(server, "--tmpdir=%s");
        const char *argv[] = {install, "--no-defaults",  datadir,
                              tmpdir,  "--skip-test-db", "--auth-root-authentication-method=normal",
                              NULL};
        run_to_end(server, argv);
    } else {
        cleanup_free char *initdb = xasprintf("%s/initdb", server->program);
        const char *argv[] = {initdb, "-D", data,   "-A",         "trust",     "-U",
                              "acct", "-E", "UTF8", "--locale=C", "--no-sync", NULL};
        run_to_end(server, argv);
    }
}

static const char *const users[] = {[ACCT_MARIADB] = "mysql", [ACCT_POSTGRESQL] = "postgres"};

struct server *server_start(enum acct_backend backend, const char *dir) {
    char *program = NULL;
    if (backend == ACCT_MARIADB)
        program = program_find("/usr/sbin/mariadbd");
    else if (backend == ACCT_POSTGRESQL)
        program = program_find("/usr/lib/postgresql/*/bin");
    if (!program)
        return NULL;
    struct server *server = zalloc(struct server);
    server->backend = backend;
    server->program = program;
    server->dir = xstrdup(dir);
    server->socket = xasprintf(backend == ACCT_MARIADB ? "%s/sock" : "%s/.s.PGSQL.5432", dir);
    struct passwd *user = getpwnam(users[backend]);
    if (geteuid() == 0 && user) {
        server->uid = user->pw_uid;
        server->gid = user->pw_gid;
        if (chown(dir, user->pw_uid, user->pw_gid) < 0)
            fail_msg("cannot give %s to %s", dir, users[backend]);
    }
    files_make(server);
    launch(server);
    return server;
}

/* Kills who works in the server's data and says how many they were. PostgreSQL's workers are
 * sessions of their own: they outlive their group, and hold the memory that the next server needs.
 */
static size_t workers_kill(struct server *server) {
    cleanup_free char *data = in_dir(server, "%s/data");
    size_t n = 0;
    glob_t found;
    if (glob("/proc/[0-9]*/cwd", 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char cwd[PATH_MAX] = "";
        long pid = strtol(found.gl_pathv[i] + strlen("/proc/"), NULL, 10);
        if (readlink(found.gl_pathv[i], cwd, sizeof(cwd) - 1) < 0 || strcmp(cwd, data) != 0)
            continue;
        kill((pid_t) pid, SIGKILL);
        n++;
    }
    globfree(&found);
    return n;
}

void server_crash(struct server *server) {
    kill(-server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    while (workers_kill(server) > 0 || answers(server->socket))
        usleep(10000);
}

void server_resume(struct server *server) {
    cleanup_free char *postmaster = in_dir(server, "%s/data/postmaster.pid");
    unlink(postmaster);
    launch(server);
}

void server_stop(struct server *server) {
    if (!server)
        return;
    server_crash(server);
    free(server->dir);
    free(server->socket);
    free(server->program);
    free(server);
}

void server_location(struct server *server, unsigned n, struct acct_location *ret) {
    bool mariadb = server->backend == ACCT_MARIADB;
    ret->backend = server->backend;
    ret->host = xstrdup(mariadb ? server->socket : server->dir);
    ret->user = xstrdup(mariadb ? "root" : "acct");
    ret->database = xasprintf("acct_%u", n);
}
