/* SPDX-License-Identifier: Apache-2.0 */
/* Daemons and jobs of a throwaway cluster as processes. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cmd/sluice.h"

#define PROC_TEXT_MAX (128u << 10) /* bytes of one /proc file */

void pause_msec(unsigned msec) {
    struct timespec time = {msec / 1000, (long) (msec % 1000) * 1000000};
    nanosleep(&time, NULL);
}

/* /proc/PID/what, NUL-terminated; empty when it cannot be read. */
static void read_proc(pid_t pid, const char *what, struct str *out) {
    char path[64];
    str_reset(out);
    snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, what);
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    char piece[8192];
    ssize_t n;
    while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0 && out->length < PROC_TEXT_MAX)
        str_append_bytes(out, piece, (size_t) n);
}

static bool environment_has(const struct str *text, const char *entry, bool whole) {
    size_t length = strlen(entry);
    for (size_t at = 0; at < text->length; at += strlen(text->data + at) + 1)
        if (strncmp(text->data + at, entry, length) == 0 &&
            (!whole || text->data[at + length] == '\0'))
            return true;
    return false;
}

/* A process that waits for its parent to notice counts as gone. */
static bool is_gone(pid_t pid) {
    cleanup_str struct str text = STR_INIT;
    if (kill(pid, 0) < 0 && errno == ESRCH)
        return true;
    read_proc(pid, "stat", &text);
    const char *end = text.length ? strrchr(text.data, ')') : NULL;
    return end && str_starts(end, ") Z");
}

/* A number may have been given to somebody else since, even to a daemon of another cluster: the
 * mark in its environment tells, where we may read it. */
static bool process_is_ours(const struct cluster *cluster, pid_t pid, const char *program) {
    cleanup_str struct str text = STR_INIT;
    read_proc(pid, "comm", &text);
    if (strncmp(str_cstr(&text), program, min_of(strlen(program), (size_t) 15)) != 0)
        return false;
    read_proc(pid, "environ", &text);
    cleanup_free char *mark = xasprintf("%s=%s", CLUSTER_MARK, cluster->dir);
    return !text.length || environment_has(&text, mark, true);
}

pid_t process_of_pid_file(const struct cluster *cluster, const char *file, const char *program) {
    cleanup_free char *path = cluster_path(cluster, "%s", file);
    FILE *stream = fopen(path, "re");
    int number = 0;
    if (!stream)
        return 0;
    if (fscanf(stream, "%d", &number) != 1)
        number = 0;
    fclose(stream);
    if (number <= 1 || is_gone(number) || !process_is_ours(cluster, number, program))
        return 0;
    return number;
}

/* ---- starting ---- */

/* Daemons get the cluster's mark and configuration, and nothing of an outer job. */
static void child_environment(const struct cluster *cluster) {
    cleanup_free char *conf = cluster_path(cluster, "etc/slurm.conf");
    vec(char *) names = {0};
    for (char **entry = environ; *entry; entry++)
        if (strncmp(*entry, "SLURM", 5) == 0)
            vec_push(&names, xstrndup(*entry, strcspn(*entry, "=")));
    vec_each (&names, name) {
        unsetenv(*name);
        free(*name);
    }
    vec_done(&names);
    setenv("SLURM_CONF", conf, 1);
    setenv(CLUSTER_MARK, cluster->dir, 1);
}

pid_t process_start(const struct cluster *cluster, const char *const *argv, const char *log) {
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int null = open("/dev/null", O_RDWR);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(null, STDIN_FILENO);
    dup2(out >= 0 ? out : null, STDOUT_FILENO);
    dup2(out >= 0 ? out : null, STDERR_FILENO);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    setsid();
    child_environment(cluster);
    if (chdir(cluster->dir) < 0)
        _exit(127);
    execv(argv[0], (char *const *) argv);
    _exit(127);
}

bool process_wait(pid_t pid, int *ret_status) {
    while (waitpid(pid, ret_status, 0) < 0)
        if (errno != EINTR)
            return false;
    return true;
}

void process_log_tail(const char *path, unsigned n_lines, struct str *out) {
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[8192];
    off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    off_t start = end > (off_t) sizeof(text) - 1 ? end - (off_t) sizeof(text) + 1 : 0;
    ssize_t n = fd >= 0 ? pread(fd, text, sizeof(text) - 1, start) : 0;
    if (n <= 0)
        return;
    const char *p = text + n;
    while (p > text && n_lines) {
        p--;
        if (*p == '\n' && p != text + n - 1 && --n_lines == 0)
            p++;
    }
    str_append_bytes(out, p, (size_t) (text + n - p));
}

/* ---- finding ---- */

struct process {
    pid_t pid, parent;
    bool ours;
};
struct process_list {
    struct process *items;
    size_t n, capacity;
};

static pid_t parent_of(pid_t pid) {
    cleanup_str struct str text = STR_INIT;
    read_proc(pid, "stat", &text);
    /* "PID (name) S PPID": the name may hold anything but ends at the last parenthesis. */
    const char *end = text.length ? strrchr(text.data, ')') : NULL;
    return end && end[1] && end[2] ? (pid_t) atoi(end + 4) : 0;
}

/* A daemon, or a task: their environment tells. A user's shell that has the cluster's SLURM_CONF is
 * not ours, so for tasks the node's name, which only a node sets, must be there too. */
static bool environment_is_ours(const struct cluster *cluster, pid_t pid) {
    cleanup_str struct str text = STR_INIT;
    read_proc(pid, "environ", &text);
    if (!text.length)
        return false;
    cleanup_free char *mark = xasprintf("%s=%s", CLUSTER_MARK, cluster->dir);
    if (environment_has(&text, mark, true))
        return true;
    cleanup_free char *conf = xasprintf("SLURM_CONF=%s/etc/slurm.conf", cluster->dir);
    return environment_has(&text, conf, true) && environment_has(&text, "SLURMD_NODENAME=", false);
}

static void list_processes(const struct cluster *cluster, struct process_list *all) {
    DIR *dir = opendir("/proc");
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        if (!isdigit((unsigned char) entry->d_name[0]))
            continue;
        pid_t pid = (pid_t) atoi(entry->d_name);
        if (pid == getpid())
            continue;
        struct process each = {pid, parent_of(pid), environment_is_ours(cluster, pid)};
        vec_push(all, each);
    }
    if (dir)
        closedir(dir);
}

static void mark_descendants(struct process_list *all) {
    for (bool again = true; again;) {
        again = false;
        vec_each (all, child) {
            for (size_t i = 0; i < all->n && !child->ours; i++)
                if (all->items[i].pid == child->parent && all->items[i].ours)
                    again = child->ours = true;
        }
    }
}

/* munged is stopped last, by its own pid file. */
static pid_t munged_pid(const struct cluster *cluster) {
    return process_of_pid_file(cluster, "munge/pid", "munged");
}

void process_find_all(const struct cluster *cluster, struct pid_list *pids) {
    struct process_list all = {0};
    pid_t munged = munged_pid(cluster);
    list_processes(cluster, &all);
    mark_descendants(&all);
    vec_each (&all, each) {
        if (each->ours && each->pid != munged)
            vec_push(pids, each->pid);
    }
    vec_done(&all);
}

bool process_wait_gone(pid_t pid, unsigned msec) {
    for (unsigned waited = 0; waited <= msec; waited += 5) {
        if (is_gone(pid))
            return true;
        pause_msec(5);
    }
    return false;
}
