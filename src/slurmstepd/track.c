/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/track.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "os/file.h"
#include "os/proc.h"

#define DESCRIBE_MAX 4

/* ---- the tree below us ---- */

/* The kernel keeps each thread's list of children; this program forks from one thread only. True
 * when the list could be read: then an empty one means that the tree is empty. */
static bool have_no_children(void) {
    cleanup_str struct str pids = STR_INIT;

    return file_read("/proc/thread-self/children", 1, &pids) == 0 && pids.length == 0;
}

struct process {
    pid_t pid, parent;
    bool is_ours;
};
struct process_list {
    vec(struct process) list;
};

static void list_processes(struct process_list *processes) {
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        struct proc_stat stat;
        pid_t pid = (pid_t) atoi(entry->d_name);
        if (pid <= 0 || !proc_stat_read(pid, &stat))
            continue;
        struct process process = {pid, stat.parent, false};
        vec_push(&processes->list, process);
    }
    if (dir)
        closedir(dir);
}

static int process_compare(const void *a, const void *b) {
    const struct process *x = a, *y = b;

    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void add_descendants(struct pid_list *pids) {
    struct process_list found = {0};
    bool changed = true;

    if (have_no_children())
        return;
    list_processes(&found);
    struct process *all = found.list.items;
    size_t n = found.list.n;
    qsort(all, n, sizeof(*all), process_compare);
    while (changed) {
        changed = false;
        vec_each (&found.list, process) {
            struct process key = {.pid = process->parent};
            struct process *parent;
            if (process->is_ours)
                continue;
            parent = bsearch(&key, all, n, sizeof(*all), process_compare);
            if (process->parent == getpid() || (parent && parent->is_ours)) {
                process->is_ours = changed = true;
                vec_push(&pids->list, process->pid);
            }
        }
    }
    vec_done(&found.list);
}

/* ---- who is there ---- */

static void add_members(const struct cgroup *group, struct pid_list *pids) {
    cleanup_free pid_t *members = NULL;
    size_t n = 0;

    if (cgroup_pids(group, &members, &n, NULL) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        vec_push(&pids->list, members[i]);
}

void track_members(const struct track *track, struct pid_list *pids) {
    if (track->group)
        add_members(track->group, pids);
    else
        add_descendants(pids);
}

void track_pids(const struct track *track, struct pid_list *pids) {
    size_t kept = 0;

    track_members(track, pids);
    for (size_t i = 0; i < pids->list.n; i++) {
        if (proc_start_time(pids->list.items[i]) != 0)
            pids->list.items[kept++] = pids->list.items[i];
    }
    pids->list.n = kept;
}

void track_signal(const struct track *track, int signal) {
    struct pid_list pids = {0};

    track_pids(track, &pids);
    vec_each (&pids.list, pid)
        (void) kill(*pid, signal);
    vec_done(&pids.list);
}

bool track_kill(const struct track *track) {
    struct pid_list pids = {0};
    bool is_empty;

    track_pids(track, &pids);
    is_empty = pids.list.n == 0;
    if (!is_empty && track->group) {
        (void) !cgroup_signal(track->group, SIGKILL, NULL);
    } else if (!is_empty) {
        /* Stop all first: a bomb that cannot fork cannot outrun us. */
        vec_each (&pids.list, pid)
            (void) kill(*pid, SIGSTOP);
        track_signal(track, SIGSTOP);
        vec_each (&pids.list, pid)
            (void) kill(*pid, SIGKILL);
        track_signal(track, SIGKILL);
    }
    vec_done(&pids.list);
    return is_empty;
}

/* Users give their processes any name; this one goes into a reason. */
static void plain_name(char *name) {
    for (char *at = name; *at; at++) {
        if (!isalnum((unsigned char) *at) && !strchr("-_.+/:", *at))
            *at = '?';
    }
}

/* Where in the kernel it sleeps; nothing where that is not told (proc(5)). */
static void describe_wait(pid_t pid, struct str *out) {
    char path[64], place[64] = "";

    snprintf(path, sizeof(path), "/proc/%d/wchan", (int) pid);
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, place, sizeof(place) - 1);
    if (n <= 0 || str_equal(place, "0"))
        return;
    plain_name(place);
    str_printf(out, " in %s", place);
}

void track_describe(const struct track *track, struct str *out) {
    struct pid_list pids = {0};

    track_pids(track, &pids);
    for (size_t i = 0; i < pids.list.n && i < DESCRIBE_MAX; i++) {
        struct proc_stat stat;
        if (!proc_stat_read(pids.list.items[i], &stat))
            continue;
        str_join(out, ", ", "pid ");
        str_append_u64(out, (uint64_t) pids.list.items[i]);
        plain_name(stat.name);
        str_printf(out, " (%s, state %c", stat.name, stat.state);
        describe_wait(pids.list.items[i], out);
        str_append_char(out, ')');
    }
    if (pids.list.n > DESCRIBE_MAX)
        str_printf(out, " and %zu more", pids.list.n - DESCRIBE_MAX);
    vec_done(&pids.list);
}
