/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of a process; source: proc(5), Documentation/filesystems/proc.rst. A
 * process may go at any moment: then a function returns false and leaves its results untouched.
 */
#ifndef SLUICE_OS_PROC_H
#define SLUICE_OS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_NAME_MAX 64

/* /proc/PID/stat, in the units of the rest of the program. Figures "with children" include those of
 * children that have ended and been waited for. */
struct proc_stat {
    char name[PROC_NAME_MAX];
    char state; /* R, S, D, Z, T … */
    pid_t parent, group, session;
    uint64_t pages;                  /* faults that needed the disk, with children */
    uint64_t user_usec, system_usec; /* with children; counted in ticks of 10 ms */
    uint64_t start_ticks; /* after boot: tells a pid from a later one of the same number */
    uint64_t vsize_kib, rss_kib;
};
bool proc_stat_read(pid_t pid, struct proc_stat *ret);

/* start_ticks; 0 when there is no such process, or it has ended and is a zombie. */
uint64_t proc_start_time(pid_t pid);
/* The identity of this boot of the machine, without which a start_ticks means nothing; "?" where it
 * cannot be told. */
void proc_boot_id(char *ret, size_t size);

/* /proc/PID/io: bytes that went through read() and write() and their like, wherever they came from
 * or went to; with children. Of a zombie, too. Needs the process's user, or root. */
bool proc_io_read(pid_t pid, uint64_t *ret_read, uint64_t *ret_written);

/* Pages that are in memory and mapped from a file or shared, KiB: part of rss_kib. */
bool proc_shared_read(pid_t pid, uint64_t *ret_kib);
/* Proportional set size, KiB: a page that n processes share counts 1/n. Ten times as expensive as
 * the others. */
bool proc_pss_read(pid_t pid, uint64_t *ret_kib);

/* True when one of the process's control groups ends in `tail`, a number and nothing more:
 * "/task_". *ret is that number. */
bool proc_group_number(pid_t pid, const char *tail, uint32_t *ret);

/* A signal 9 is on its way to it: it is about to die. */
bool proc_is_being_killed(pid_t pid);

#endif
