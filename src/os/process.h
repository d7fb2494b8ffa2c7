/* SPDX-License-Identifier: Apache-2.0 */
/* Telling a process from a later one with the same number: its start, within one boot. */
#ifndef SLUICE_OS_PROCESS_H
#define SLUICE_OS_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* In clock ticks since the boot (proc(5), /proc/PID/stat, starttime); 0 when there is none, or it
 * is a zombie. */
uint64_t process_start_time(pid_t pid);
/* The identity of this boot of the machine; "?" where it cannot be told. */
void process_boot_id(char *ret, size_t size);

#endif
