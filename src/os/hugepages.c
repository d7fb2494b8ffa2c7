/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon starts itself again with huge pages for its heap. */
#include "os/hugepages.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "GLIBC_TUNABLES"
#define TUNABLE "glibc.malloc.hugetlb=1" /* madvise() for what malloc gets from the kernel */

void huge_pages_use(char **argv) {
    char path[PATH_MAX];
    const char *set = getenv(VARIABLE);
    if (set != NULL) {
        if (strcmp(set, TUNABLE) == 0)
            unsetenv(VARIABLE);
        return;
    }
    /* The path, not /proc/self/exe: ps would show the process as "exe". */
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n <= 0 || setenv(VARIABLE, TUNABLE, 1) < 0)
        return;
    path[n] = '\0';
    execv(path, argv);
    unsetenv(VARIABLE);
}
