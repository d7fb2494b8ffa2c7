/* SPDX-License-Identifier: Apache-2.0 */
/* What a submitter is told of a request that has been accepted, in every language
 * (text/language.h). */
#ifndef SLUICE_CORE_SUBMIT_PHRASES_H
#define SLUICE_CORE_SUBMIT_PHRASES_H

#include "text/language.h"

/* clang-format off */
/* X(NAME, "English", "Korean") */
#define SUBMIT_PHRASE_TABLE(X) \
    X(TIME_AUTO_UNKNOWN, \
      "note: --time=auto: %u of your jobs named %s have ended so far and %u are needed to tell from; the partition's own " \
      "limit holds", \
      "알림: --time=auto: 이름이 %2$s인 작업이 지금까지 %1$u개 끝났고 알려면 %3$u개가 필요하므로 파티션의 제한을 따릅니다") \
    X(TIME_AUTO, "note: --time=auto is --time=%s: nine of ten of your last %u jobs named %s would have kept it%s", \
      "알림: --time=auto는 --time=%s입니다: 지난 작업 %u개(이름 %s) 가운데 열에 아홉이 그 안에 끝났습니다%s") \
    X(TIME_AUTO_CAPPED, ", were it not for the partition's limit", "(파티션의 제한으로 줄였습니다)") \
    X(BARE_MEMORY, "note: %s=%llu is %llu MB for each %s; if gigabytes are meant, write %s=%lluG", \
      "알림: %1$s=%2$llu은(는) %4$s마다 %3$llu MB입니다. GB를 뜻했다면 %5$s=%6$lluG로 쓰십시오") \
    X(LIMIT_IS_FAR, "note: your last %u jobs named %s ran for at most %s, and this one may for %s. With --time=%s%s other " \
      "jobs could be planned around it; --time=auto asks for that", \
      "알림: 지난 작업 %u개(이름 %s)는 길어야 %s 동안 돌았는데 이 작업의 제한은 %s입니다. --time=%s이면%s 다른 작업을 그 둘레에 " \
      "배치할 수 있습니다. --time=auto가 그렇게 요청합니다") \
    X(STARTS_NOW, " it could start now, and", " 지금 시작할 수 있고") \
    X(STARTS_IN, " it could start in %s, and", " %s 뒤에 시작할 수 있고") \
    X(STARTS_IN_INSTEAD, " it could start in %s instead of in %s, and", " %2$s 뒤가 아니라 %1$s 뒤에 시작할 수 있고") \
    X(STARTS_NOW_INSTEAD, " it could start now instead of in %s, and", " %s 뒤가 아니라 지금 시작할 수 있고") \
    X(TIME_LIMIT, "note: partition %s allows at most --time=%s; the job waits with the reason PartitionTimeLimit", \
      "알림: 파티션 %s은(는) --time=%s까지 허용하므로 작업은 PartitionTimeLimit 이유로 기다립니다")
/* clang-format on */

enum submit_phrase {
#define X(name, english, korean) SUBMIT_PHRASE_##name,
    SUBMIT_PHRASE_TABLE(X)
#undef X
        SUBMIT_PHRASES
};

const char *submit_phrase(enum language language, enum submit_phrase id);

#endif
