/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cheapest way to a new program: a child that shares our memory until it has executed
 * (CLONE_VM | CLONE_VFORK, half the price of a fork), born in a control group v2 where one is
 * given. Entering a group later, by cgroup.procs, waits for all processors to pass a quiet state:
 * ten milliseconds a child. Source: clone(2).
 */
#ifndef SLUICE_OS_CLONE_H
#define SLUICE_OS_CLONE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Runs main(argument) in a child; our own thread sleeps until the child has executed a program or
 * exited. The child may only make system calls, must not return, and begins with all signals
 * blocked (clone_reset_signals() ends that).
 * cgroup_fd: the directory of a group to be born in, or -1. Where the kernel does not do that the
 * child is born where we are; *ret_is_inside, which the child may read, tells. The group must never
 * have been killed: several kernels kill such a child at birth.
 * Returns the child's pid, or -1 with errno. One thread of a process at a time.
 */
pid_t clone_vfork(int cgroup_fd, bool *ret_is_inside, int (*main)(void *argument), void *argument);
/* In the child: every signal has its default action and none is blocked. */
void clone_reset_signals(void);

#endif
