/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failing system functions; see inject.h. Counted with atomics: the store writes in a thread. With
 * 64-bit file offsets pwrite is the symbol pwrite64, which is what SQLite calls.
 */
#include "inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_uint armed; /* kinds, 0 = off */
static atomic_int countdown;
static atomic_int failures;
static int error_number;
static bool is_sticky;

void inject_arm(unsigned calls, unsigned n, int errnum, bool sticky) {
    atomic_store(&armed, 0);
    error_number = errnum;
    is_sticky = sticky;
    atomic_store(&countdown, (int) n);
    atomic_store(&failures, 0);
    atomic_store(&armed, calls);
}

bool inject_disarm(void) {
    atomic_store(&armed, 0);
    return atomic_load(&failures) > 0;
}

static bool fails(unsigned kind) {
    if (!(atomic_load(&armed) & kind))
        return false;
    int left = atomic_fetch_sub(&countdown, 1) - 1;
    if (left > 0 || (left < 0 && !is_sticky))
        return false;
    atomic_fetch_add(&failures, 1);
    return true;
}

static bool is_short(void) {
    return (atomic_load(&armed) & INJECT_SHORT) != 0;
}

#define FAIL_IF(kind)                                                                              \
    do {                                                                                           \
        if (fails(kind)) {                                                                         \
            errno = error_number;                                                                  \
            return -1;                                                                             \
        }                                                                                          \
    } while (0)

ssize_t write(int fd, const void *data, size_t size) {
    if (fd > 2) /* not the test's own output */
        FAIL_IF(INJECT_WRITE);
    return syscall(SYS_write, fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    if (fails(INJECT_WRITE)) {
        /* A write that was cut in two, as at a power failure or a full disk. */
        if (is_short() && size > 1)
            syscall(SYS_pwrite64, fd, data, size / 2, offset);
        errno = error_number;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, data, size, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int n) {
    FAIL_IF(INJECT_WRITE);
    return syscall(SYS_writev, fd, parts, n);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    FAIL_IF(INJECT_WRITE);
    return syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    FAIL_IF(INJECT_READ);
    return syscall(SYS_recvmsg, fd, message, flags);
}

ssize_t read(int fd, void *data, size_t size) {
    FAIL_IF(INJECT_READ);
    return syscall(SYS_read, fd, data, size);
}

int fsync(int fd) {
    FAIL_IF(INJECT_SYNC);
    return (int) syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    FAIL_IF(INJECT_SYNC);
    return (int) syscall(SYS_fdatasync, fd);
}

pid_t fork(void) {
    static pid_t (*real)(void);
    FAIL_IF(INJECT_FORK);
    if (!real)
        *(void **) &real = dlsym(RTLD_NEXT, "fork");
    return real();
}
