/* SPDX-License-Identifier: Apache-2.0 */
#include "model/reason.h"

#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

const struct reason_row reason_table[] = {
    {"Low RealMemory", "RealMemory", "replace the memory that failed, or correct RealMemory"},
    {"Low CPUs", "CPUs", "bring the processors back, or correct CPUs"},
    {"Low socket*core*thread count", "Sockets", "bring the processors back, or correct the line"},
    {"Low TmpDisk", "TmpDisk", "mount TmpFS, or correct TmpDisk"},
    {"gres/", "Gres", "bring the devices of gres.conf back, or correct Gres"},
    {"clock:", "sluice_clock_jump", "set the clock right and keep it so"},
    {"missing:", "sluice_watch", "mount it"},
    {"answer:", "sluice_watch", "bring its server back, or unmount it"},
    {"disk:", "sluice_disk_full", "remove files there"},
    {"inodes:", "sluice_inodes_full", "remove files there"},
    {"readonly:", "sluice_watch", "look for errors of the disk, then mount it for writing"},
    {"spool:", "SlurmdSpoolDir", "look for errors of the disk, or make room"},
    {"Kill task failed", "UnkillableStepTimeout",
     "wait for the process to die, or reboot the node (scontrol reboot)"},
    {"Not responding", "SlurmdTimeout", "start slurmd there, or see why it cannot be reached"},
    {"Node unexpectedly rebooted", "ReturnToService", "find out why it rebooted"},
    {"batch job complete failure", NULL, "see slurmd's log there: it could not start a job"},
    {"Prolog error", "Prolog", "see slurmd's log there, and mend what Prolog needs"},
    {"Epilog error", "Epilog", "see slurmd's log there, and mend what Epilog needs"},
};
const size_t reason_table_size = countof(reason_table);

/* Reasons are joined by " : ", ", " and "; ". */
static const char *after_joint(const char *text) {
    static const char *const joints[] = {" : ", ", ", "; "};
    const char *next = NULL;
    for (size_t i = 0; i < countof(joints); i++) {
        const char *at = strstr(text, joints[i]);
        if (at != NULL && (next == NULL || at + strlen(joints[i]) < next))
            next = at + strlen(joints[i]);
    }
    return next;
}

const struct reason_row *reason_find(const char *text) {
    for (const char *at = text; at != NULL; at = after_joint(at)) {
        for (size_t i = 0; i < countof(reason_table); i++) {
            if (str_starts(at, reason_table[i].begins))
                return &reason_table[i];
        }
    }
    return NULL;
}
