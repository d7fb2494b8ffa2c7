/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting one script or task as a user: the single launch function of the node. The child shares
 * our memory until it has executed (clone VM|VFORK, half the price of a fork), so it only makes
 * system calls; everything that needs thought is prepared in the plan. Our own thread sleeps
 * meanwhile and then knows whether the execution worked.
 */
#ifndef SLUICE_SLURMSTEPD_SPAWN_H
#define SLUICE_SLURMSTEPD_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "model/job.h"
#include "slurmstepd/confine.h"

struct spawn_identity {
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t n_groups;
};

struct spawn_plan {
    const char *program; /* without a slash: looked up in the environment's PATH */
    char *const *argv, *const *envp;
    int fds[3];                            /* become 0, 1, 2; 0…2 themselves are allowed */
    const struct spawn_identity *identity; /* NULL: stays as it is */
    mode_t umask;
    const struct rlimit_value *rlimits; /* soft values, limited to what we may give */
    size_t n_rlimits;
    const struct confine_entry *entry; /* where it is born; NULL: where we are */
    bool controlling_tty;              /* descriptor 0 becomes it */
    bool has_nice;                     /* the next; a value that we may not give is left out */
    int nice;
    char *pid_digits; /* NULL, or 11 writable bytes (in envp): the child's pid as text */
    int extra_fd;     /* > 0: becomes SPAWN_EXTRA_FD */
    const void *cpus; /* a mask for sched_setaffinity(2), NULL: stays */
    size_t cpus_size;
    int mem_policy;        /* for set_mempolicy(2), with has_mem_policy */
    bool has_mem_policy;   /* else it stays */
    const void *mem_nodes; /* NULL, or a mask of mem_nodes_bits bits */
    size_t mem_nodes_bits;
    /* NULL, or written to the child's standard error around its pid; `failed` is inserted before
     * the end of the line when the kernel refused the mask. */
    const char *bind_head, *bind_tail;
    const char *mem_head, *mem_tail; /* the same of its memory */
    int *ret_bind_errno; /* 0, or why the mask was refused; the child runs all the same */
    int *ret_mem_errno;  /* NULL, or the same of its memory */
};
#define SPAWN_EXTRA_FD 3

/* The child leads a session of its own and has default signals. Fails with ERR_SYSTEM and the errno
 * of what failed in *ret_errno: its text reads "execve(): PROGRAM: No such file or directory". */
must_check int spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, int *ret_errno,
                           struct error *err);

/* Reads what a program writes to the pipe `fd` until nobody has it open, for timeout_usec and up to
 * `max` bytes (and what one read brings). */
void spawn_read(int fd, uint64_t timeout_usec, size_t max, struct str *out);

/* Takes over the user's identity for file access (effective ids and groups), and gives it back.
 * Only while the process has one thread. */
void identity_enter(const struct spawn_identity *identity);
void identity_leave(void);

#endif
