/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops a private munged; see munged.h. */
#include "munged.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/auth.h"

#define MUNGED "/usr/sbin/munged"

static void key_write(const char *path) {
    unsigned char key[64];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || getrandom(key, sizeof(key), 0) != sizeof(key) ||
        write(fd, key, sizeof(key)) != sizeof(key))
        abort();
    close(fd);
}

static void wait_until_it_answers(const struct munged *munged) {
    for (int i = 0; i < 500; i++) {
        char *cred;
        struct error err = ERROR_INIT;
        struct stat status;
        if (stat(munged->socket, &status) == 0 &&
            auth_encode(munged->socket, (struct bytes) {0}, AUTH_ANY_UID, 0, &cred, &err) == 0) {
            free(cred);
            return;
        }
        usleep(10000);
    }
    fprintf(stderr, "munged did not start; see %s\n", munged->dir);
    abort();
}

int munged_start(struct munged *munged) {
    if (access(MUNGED, X_OK) != 0)
        return -1;
    strcpy(munged->dir, "/tmp/sluice-munged-XXXXXX");
    if (!mkdtemp(munged->dir) || chmod(munged->dir, 0755) < 0)
        abort();
    char key[96], pid[128], log[128], seed[128], socket[128], key_option[128];
    snprintf(munged->socket, sizeof(munged->socket), "%s/socket", munged->dir);
    snprintf(key, sizeof(key), "%s/key", munged->dir);
    snprintf(key_option, sizeof(key_option), "--key-file=%s", key);
    snprintf(pid, sizeof(pid), "--pid-file=%s/pid", munged->dir);
    snprintf(log, sizeof(log), "--log-file=%s/log", munged->dir);
    snprintf(seed, sizeof(seed), "--seed-file=%s/seed", munged->dir);
    snprintf(socket, sizeof(socket), "--socket=%s", munged->socket);
    key_write(key);
    munged->pid = fork();
    if (munged->pid < 0)
        abort();
    if (munged->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* a test that aborts leaves nothing behind */
        int null = open("/dev/null", O_RDWR);
        dup2(null, 2); /* it warns on stderr about each odd permission of the test's directory */
        execl(MUNGED, MUNGED, "--foreground", "--force", key_option, pid, log, seed, socket,
              (char *) NULL);
        _exit(127);
    }
    wait_until_it_answers(munged);
    return 0;
}

void munged_stop(struct munged *munged) {
    static const char *const names[] = {"socket", "socket.lock", "key", "pid", "log", "seed"};
    if (munged->pid <= 0)
        return;
    /* Again and again: a signal that comes just before munged's accept() does not interrupt it. */
    for (int i = 0; waitpid(munged->pid, NULL, WNOHANG) == 0; i++) {
        kill(munged->pid, i < 100 ? SIGTERM : SIGKILL);
        usleep(10000);
    }
    munged->pid = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", munged->dir, names[i]);
        unlink(path);
    }
    rmdir(munged->dir);
}
