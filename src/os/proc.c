/* SPDX-License-Identifier: Apache-2.0 */
#include "os/proc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"

#define TEXT_MAX 4096

/* Reads a file of a process into text[TEXT_MAX]. */
static bool proc_text(pid_t pid, const char *file, char *text) {
    char path[64];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, file);
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return true;
}

/* The number behind `key`, which stands at the start of a line. */
static bool line_number(const char *text, const char *key, int base, uint64_t *ret) {
    size_t length = strlen(key);

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0) {
            *ret = strtoull(line + length, NULL, base);
            return true;
        }
    }
    return false;
}

static uint64_t ticks_to_usec(unsigned long long ticks) {
    static long per_second;

    if (per_second == 0)
        per_second = max_of(sysconf(_SC_CLK_TCK), 1L);
    return ticks * 1000000ull / (unsigned long long) per_second;
}

static uint64_t page_kib(void) {
    static long kib;

    if (kib == 0)
        kib = max_of(sysconf(_SC_PAGESIZE) / 1024, 1L);
    return (uint64_t) kib;
}

bool proc_stat_read(pid_t pid, struct proc_stat *ret) {
    char text[TEXT_MAX];
    int parent, group, session;
    unsigned long long faults, child_faults, user, system, start, vsize;
    long long child_user, child_system, rss;

    if (!proc_text(pid, "stat", text))
        return false;
    char *name = strchr(text, '('), *end = strrchr(text, ')'); /* a name may contain both */
    if (!name || !end || end < name || strlen(end) < 4)
        return false;
    if (sscanf(end + 4,
               "%d %d %d %*d %*d %*u %*u %*u %llu %llu %llu %llu %lld %lld %*d %*d %*d %*d %llu "
               "%llu %lld",
               &parent, &group, &session, &faults, &child_faults, &user, &system, &child_user,
               &child_system, &start, &vsize, &rss) != 12)
        return false;
    *end = '\0';
    snprintf(ret->name, sizeof(ret->name), "%s", name + 1);
    ret->state = end[2];
    ret->parent = parent;
    ret->group = group;
    ret->session = session;
    ret->pages = faults + child_faults;
    ret->user_usec = ticks_to_usec(user + (unsigned long long) child_user);
    ret->system_usec = ticks_to_usec(system + (unsigned long long) child_system);
    ret->start_ticks = start;
    ret->vsize_kib = vsize / 1024;
    ret->rss_kib = (uint64_t) max_of(rss, 0ll) * page_kib();
    return true;
}

uint64_t proc_start_time(pid_t pid) {
    struct proc_stat stat;

    return proc_stat_read(pid, &stat) && stat.state != 'Z' && stat.state != 'X' ? stat.start_ticks
                                                                                : 0;
}

void proc_boot_id(char *ret, size_t size) {
    cleanup_fd int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, ret, size - 1) : -1;

    ret[n > 0 ? n : 0] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
    if (*ret == '\0')
        snprintf(ret, size, "?");
}

bool proc_io_read(pid_t pid, uint64_t *ret_read, uint64_t *ret_written) {
    char text[TEXT_MAX];
    uint64_t in, out;

    if (!proc_text(pid, "io", text) || !line_number(text, "rchar:", 10, &in) ||
        !line_number(text, "wchar:", 10, &out))
        return false;
    *ret_read = in;
    *ret_written = out;
    return true;
}

bool proc_shared_read(pid_t pid, uint64_t *ret_kib) {
    char text[TEXT_MAX];
    unsigned long long shared;

    if (!proc_text(pid, "statm", text) || sscanf(text, "%*u %*u %llu", &shared) != 1)
        return false;
    *ret_kib = shared * page_kib();
    return true;
}

bool proc_pss_read(pid_t pid, uint64_t *ret_kib) {
    char text[TEXT_MAX];

    return proc_text(pid, "smaps_rollup", text) && line_number(text, "Pss:", 10, ret_kib);
}

bool proc_group_number(pid_t pid, const char *tail, uint32_t *ret) {
    char text[TEXT_MAX], *end;

    if (!proc_text(pid, "cgroup", text))
        return false;
    for (const char *at = text; (at = strstr(at, tail)); at++) {
        unsigned long number = strtoul(at + strlen(tail), &end, 10);
        if (end > at + strlen(tail) && (*end == '\n' || *end == '\0')) {
            *ret = (uint32_t) number;
            return true;
        }
    }
    return false;
}

bool proc_is_being_killed(pid_t pid) {
    char text[TEXT_MAX];
    uint64_t own, shared;

    return proc_text(pid, "status", text) && line_number(text, "SigPnd:", 16, &own) &&
           line_number(text, "ShdPnd:", 16, &shared) && ((own | shared) >> (SIGKILL - 1) & 1) != 0;
}
