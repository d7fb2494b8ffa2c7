/* SPDX-License-Identifier: Apache-2.0 */
#include "model/reason.h"

#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

/* clang-format off */
const struct reason_row reason_table[] = {
    {"Low RealMemory", "RealMemory",
     {"replace the memory that failed, or correct RealMemory",
      "고장 난 메모리를 바꾸거나 RealMemory를 고치십시오"}},
    {"Low CPUs", "CPUs",
     {"bring the processors back, or correct CPUs",
      "프로세서를 되살리거나 CPUs를 고치십시오"}},
    {"Low socket*core*thread count", "Sockets",
     {"bring the processors back, or correct the line",
      "프로세서를 되살리거나 그 줄을 고치십시오"}},
    {"Low TmpDisk", "TmpDisk",
     {"mount TmpFS, or correct TmpDisk",
      "TmpFS를 마운트하거나 TmpDisk를 고치십시오"}},
    {"gres/", "Gres",
     {"bring the devices of gres.conf back, or correct Gres",
      "gres.conf의 장치를 되살리거나 Gres를 고치십시오"}},
    {"clock:", "sluice_clock_jump",
     {"set the clock right and keep it so",
      "시계를 맞추고 어긋나지 않게 하십시오"}},
    {"missing:", "sluice_watch",
     {"mount it",
      "마운트하십시오"}},
    {"answer:", "sluice_watch",
     {"bring its server back, or unmount it",
      "그 서버를 되살리거나 마운트를 푸십시오"}},
    {"disk:", "sluice_disk_full",
     {"remove files there",
      "그곳의 파일을 지우십시오"}},
    {"inodes:", "sluice_inodes_full",
     {"remove files there",
      "그곳의 파일을 지우십시오"}},
    {"readonly:", "sluice_watch",
     {"look for errors of the disk, then mount it for writing",
      "디스크 오류를 살핀 뒤 쓸 수 있게 마운트하십시오"}},
    {"spool:", "SlurmdSpoolDir",
     {"look for errors of the disk, or make room",
      "디스크 오류를 살피거나 자리를 만드십시오"}},
    {"Kill task failed", "UnkillableStepTimeout",
     {"wait for the process to die, or reboot the node (scontrol reboot)",
      "프로세스가 끝나기를 기다리거나 노드를 재부팅하십시오(scontrol reboot)"}},
    {"Not responding", "SlurmdTimeout",
     {"start slurmd there, or see why it cannot be reached",
      "그 노드에서 slurmd를 시작하거나 왜 닿지 않는지 살피십시오"}},
    {"Node unexpectedly rebooted", "ReturnToService",
     {"find out why it rebooted",
      "왜 재부팅되었는지 알아보십시오"}},
    {"batch job complete failure", NULL,
     {"see slurmd's log there: it could not start a job",
      "그 노드의 slurmd 로그를 보십시오. 작업을 시작하지 못했습니다"}},
    {"failing jobs", "sluice_node_breaker",
     {"run one of those jobs there by hand and see what it lacks: file systems, users, drivers",
      "그 작업 하나를 그곳에서 직접 돌려 무엇이 빠졌는지 보십시오: 파일 시스템, 사용자, 드라이버"}},
    {"Prolog error", "Prolog",
     {"see slurmd's log there, and mend what Prolog needs",
      "그 노드의 slurmd 로그를 보고 Prolog에 필요한 것을 고치십시오"}},
    {"Epilog error", "Epilog",
     {"see slurmd's log there, and mend what Epilog needs",
      "그 노드의 slurmd 로그를 보고 Epilog에 필요한 것을 고치십시오"}},
};
/* clang-format on */
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
