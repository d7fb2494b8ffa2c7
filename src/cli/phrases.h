/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `sluice` says to people, in every language that it has: one row a phrase (text/language.h).
 *
 *     str_printf(&out, phrase(language, PHRASE_GPUS_FREE), n);
 */
#ifndef SLUICE_CLI_PHRASES_H
#define SLUICE_CLI_PHRASES_H

#include "cli/phrases_why.h"
#include "text/language.h"

/* clang-format off */
/* X(NAME, "English", "Korean") */
#define PHRASE_TABLE(X) \
    X(DRAINS_NONE, "No node is out of service.\n", "서비스에서 빠진 노드가 없습니다.\n") \
    X(DRAINS_CURE, "    cure: ", "    해결: ") \
    X(DRAINS_REBOOTING, "nothing: it is rebooting", "필요 없음: 재부팅하는 중입니다") \
    X(DRAINS_THEN, "%s, then: ", "%s. 그다음: ") \
    X(DRAINS_RESTART, "restart slurmd there, then: ", "그 노드에서 slurmd를 다시 시작하십시오. 그다음: ") \
    X(DRAINS_TOTAL_ONE, \
      "%zu node is out of service; %.1f GPU hours and %.1f CPU hours have been lost so far.\n", \
      "노드 %zu개가 서비스에서 빠져 있습니다. 지금까지 GPU %.1f시간, CPU %.1f시간을 잃었습니다.\n") \
    X(DRAINS_TOTAL, \
      "%zu nodes are out of service; %.1f GPU hours and %.1f CPU hours have been lost so far.\n", \
      "노드 %zu개가 서비스에서 빠져 있습니다. 지금까지 GPU %.1f시간, CPU %.1f시간을 잃었습니다.\n") \
    X(GPUS_NONE, \
      "No node has a GPU: they are Gres=gpu:N of a NodeName line of slurm.conf and lines of gres.conf.\n", \
      "GPU가 있는 노드가 없습니다. GPU는 slurm.conf의 NodeName 줄에 Gres=gpu:N으로, 그리고 gres.conf에 적습니다.\n") \
    X(GPUS_STRAY, "%s gpu %u: process %u (%s) of %s belongs to no job", \
      "%1$s gpu %2$u: %5$s의 프로세스 %3$u(%4$s)는 어느 작업에도 속하지 않습니다") \
    X(GPUS_STRAY_HOLDS, "%s gpu %u: process %u (%s) of %s belongs to no job and holds %llu MiB", \
      "%1$s gpu %2$u: %5$s의 프로세스 %3$u(%4$s)는 어느 작업에도 속하지 않으며 %6$llu MiB를 차지하고 있습니다") \
    X(GPUS_REQUEUED, \
      "%s gpu %u: idle; job %s will be requeued in %s unless it works again or is kept: sluice keep %s 2:00:00\n", \
      "%s gpu %u: 쉬고 있음. 작업 %s은(는) %s 뒤에 대기열로 돌아갑니다. 다시 일하거나 이렇게 지킬 수 있습니다: sluice keep %s 2:00:00\n") \
    X(GPUS_CANCELLED, \
      "%s gpu %u: idle; job %s will be cancelled in %s unless it works again or is kept: sluice keep %s 2:00:00\n", \
      "%s gpu %u: 쉬고 있음. 작업 %s은(는) %s 뒤에 취소됩니다. 다시 일하거나 이렇게 지킬 수 있습니다: sluice keep %s 2:00:00\n") \
    X(GPUS_HELD, "%zu of %zu GPUs are held by jobs", "GPU %2$zu개 가운데 %1$zu개를 작업이 쓰고 있습니다") \
    X(GPUS_IDLE, ", %zu of them idle", ", 그중 %zu개는 쉬고 있음") \
    X(GPUS_FREE, "; %zu free", "; %zu개 비어 있음") \
    X(GPUS_CLOSED, ", %zu on nodes that take no jobs", ", 작업을 받지 않는 노드에 %zu개") \
    X(GPUS_WAITS, "; %llu job waits for %llu", "; 작업 %llu개가 %llu개를 기다림") \
    X(GPUS_WAIT, "; %llu jobs wait for %llu", "; 작업 %llu개가 %llu개를 기다림") \
    X(KEEP_OVER, "Idle GPUs of job %s count again.\n", "작업 %s의 쉬는 GPU를 다시 셉니다.\n") \
    X(KEEP_FOR, "Idle GPUs of job %s do not count for %s.\n", "작업 %s의 쉬는 GPU를 %s 동안 세지 않습니다.\n") \
    X(UP_ONE, "A cluster is up in %s (%.1f s): %u node of %u CPUs and %llu MiB", \
      "클러스터를 %s에 띄웠습니다(%.1f초): 노드 %u개, 노드마다 CPU %u개와 %llu MiB") \
    X(UP, "A cluster is up in %s (%.1f s): %u nodes of %u CPUs and %llu MiB", \
      "클러스터를 %s에 띄웠습니다(%.1f초): 노드 %u개, 노드마다 CPU %u개와 %llu MiB") \
    X(UP_GPU, ", %u GPU each", ", GPU %u개") \
    X(UP_GPUS, ", %u GPUs each", ", GPU %u개") \
    X(UP_NEXT, \
      ".\nTo use it:   eval \"$(sluice env --dir %s)\"\nTo end it:   sluice down --dir %s\n", \
      ".\n쓰려면:      eval \"$(sluice env --dir %s)\"\n끝내려면:    sluice down --dir %s\n") \
    X(UP_NO_CLUSTER, "there is no cluster of yours in %s; start one: sluice up --dir %s", \
      "%s에 사용자의 클러스터가 없습니다. 시작하려면: sluice up --dir %s") \
    PHRASE_WHY_TABLE(X)
/* clang-format on */

enum phrase_id {
#define X(name, english, korean) PHRASE_##name,
    PHRASE_TABLE(X)
#undef X
        PHRASES
};

const char *phrase(enum language language, enum phrase_id id);

#endif
