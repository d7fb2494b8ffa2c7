/* SPDX-License-Identifier: Apache-2.0 */
#include "os/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

uint64_t process_start_time(pid_t pid) {
    char path[64], text[1024], state;
    unsigned long long start;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *rest = strrchr(text, ')'); /* its name may hold anything */
    if (rest == NULL ||
        sscanf(rest + 1,
               " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &state, &start) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : start;
}

void process_boot_id(char *ret, size_t size) {
    cleanup_fd int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, ret, size - 1) : -1;
    ret[n > 0 ? n : 0] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
    if (*ret == '\0')
        snprintf(ret, size, "?");
}
