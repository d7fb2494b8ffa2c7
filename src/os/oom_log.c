/* SPDX-License-Identifier: Apache-2.0 */
#include "os/oom_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAX 8192   /* bytes; the kernel's own limit */
#define RECORDS_MAX 20000 /* of others, read at a time */

int oom_log_open(void) {
    int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0)
        (void) lseek(fd, 0, SEEK_END);
    return fd;
}

/* Is the path at the start of the text that of the group, or below it? */
static bool in_group(const char *text, const char *tail) {
    const char *found = strstr(text, tail), *end = strstr(text, ",task=");
    size_t length = strlen(tail);

    return found && end && found + length <= end && (found[length] == ',' || found[length] == '/');
}

/* The name is the text up to the pid, which follows; it may contain anything. */
static bool parse_group_line(const char *line, const char *tail, struct oom_record *state) {
    const char *group = strstr(line, ",task_memcg="), *task, *pid = NULL;

    if (!group || !in_group(group + strlen(",task_memcg="), tail))
        return false;
    task = strstr(group, ",task=");
    for (const char *at = task; at && (at = strstr(at, ",pid=")); at++)
        pid = at;
    if (!pid)
        return false;
    task += strlen(",task=");
    *state = (struct oom_record) {.pid = (pid_t) atoi(pid + strlen(",pid="))};
    snprintf(state->name, sizeof(state->name), "%.*s", (int) (pid - task), task);
    return state->pid > 0;
}

static bool parse_kill_line(const char *line, pid_t known, struct oom_record *state) {
    const char *killed = strstr(line, "Killed process "), *size = strstr(line, ") total-vm:");
    const char *name = killed ? strchr(killed, '(') : NULL;
    pid_t pid = killed ? (pid_t) atoi(killed + strlen("Killed process ")) : 0;

    if (!name || !size || name > size || pid <= 0 || (pid != state->pid && pid != known))
        return false;
    *state = (struct oom_record) {.pid = pid};
    snprintf(state->name, sizeof(state->name), "%.*s", (int) (size - name - 1), name + 1);
    state->vsize_kib = strtoull(size + strlen(") total-vm:"), NULL, 10);
    return true;
}

bool oom_log_parse(const char *line, const char *tail, pid_t pid, struct oom_record *state) {
    const char *text = strchr(line, ';'); /* behind level, number, time, flags */

    text = text ? text + 1 : line;
    if (strncmp(text, "oom-kill:", strlen("oom-kill:")) == 0)
        return parse_group_line(text, tail, state);
    return parse_kill_line(text, pid, state);
}

bool oom_log_read(int fd, const char *tail, pid_t pid, struct oom_record *ret) {
    struct oom_record state = {.pid = 0};
    char text[RECORD_MAX + 1];
    ssize_t n;

    for (unsigned i = 0; fd >= 0 && i < RECORDS_MAX; i++) {
        n = read(fd, text, RECORD_MAX);
        if (n < 0 && i == 0) /* EPIPE: records have been overwritten, go on behind them */
            n = read(fd, text, RECORD_MAX);
        if (n <= 0)
            break;
        text[n] = '\0';
        (void) oom_log_parse(text, tail, pid, &state);
    }
    if (state.pid == 0)
        return false;
    *ret = state;
    return true;
}
