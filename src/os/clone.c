/* SPDX-License-Identifier: Apache-2.0 */
#include "os/clone.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

#define CHILD_STACK (64u << 10)

/*
 * clone3() into a cgroup, sharing memory; the child runs main(argument) on the stack of `args`.
 * The C library has no function for this, and a system call that returns twice on one stack cannot
 * be written in C.
 */
static long clone3_call(struct clone_args *args, int (*main)(void *), void *argument) {
#if defined(__x86_64__)
    long result;
    register int (*main_)(void *) __asm__("r12") = main;
    register void *argument_ __asm__("r13") = argument;

    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %[argument], %%rdi\n\t"
                     "call *%[main]\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(result)
                     : "a"((long) SYS_clone3), "D"(args),
                       "S"(sizeof(*args)), [main] "r"(main_), [argument] "r"(argument_)
                     : "rcx", "r11", "memory", "cc");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = SYS_clone3;
    register long x0 __asm__("x0") = (long) args;
    register long x1 __asm__("x1") = sizeof(*args);
    register int (*main_)(void *) __asm__("x20") = main;
    register void *argument_ __asm__("x21") = argument;

    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x0, %[argument]\n\t"
                     "blr %[main]\n\t"
                     "brk #0\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), [main] "r"(main_), [argument] "r"(argument_)
                     : "memory", "cc");
    return x0;
#else
    return -ENOSYS;
#endif
}

static pid_t clone_into(int cgroup_fd, char *stack, int (*main)(void *), void *argument) {
    struct clone_args args = {.flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP,
                              .exit_signal = SIGCHLD,
                              .stack = (uintptr_t) stack,
                              .stack_size = CHILD_STACK,
                              .cgroup = (uint64_t) cgroup_fd};
    return (pid_t) clone3_call(&args, main, argument);
}

/* A child never returns, so what the address sanitizer has marked on its stack would stay. */
static void forget_marks(char *stack) {
#ifdef HAS_ASAN
    __asan_unpoison_memory_region(stack, CHILD_STACK);
#endif
}

pid_t clone_vfork(int cgroup_fd, bool *ret_is_inside, int (*main)(void *), void *argument) {
    static char *stack; /* kept for the next child */
    sigset_t all, before;
    pid_t pid = -1;

    *ret_is_inside = false;
    if (!stack) {
        void *memory =
            mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return -1;
        stack = memory;
    }
    forget_marks(stack);
    /* A handler of ours must not run in the child, on our memory. */
    sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    if (cgroup_fd >= 0) {
        *ret_is_inside = true;
        pid = clone_into(cgroup_fd, stack, main, argument);
        *ret_is_inside = pid >= 0;
    }
    if (pid < 0)
        pid = clone(main, stack + CHILD_STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, argument);
    int errnum = errno;
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = errnum;
    return pid;
}

/* What is ignored stays ignored across exec. By the system call: the C library keeps two signals to
 * itself, and whoever started us may have ignored these, too. */
void clone_reset_signals(void) {
    static const uint64_t default_action[4]; /* larger than the kernel's struct; all zero */
    const uint64_t none = 0;

    for (int i = 1; i < NSIG; i++)
        (void) syscall(SYS_rt_sigaction, i, default_action, NULL, sizeof(none));
    (void) syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}
