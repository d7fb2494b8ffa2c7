/* SPDX-License-Identifier: Apache-2.0 */
/* What `sluice why` says, in every language: rows of PHRASE_TABLE (phrases.h). */
#ifndef SLUICE_CLI_PHRASES_WHY_H
#define SLUICE_CLI_PHRASES_WHY_H

/* clang-format off */
#define PHRASE_WHY_TABLE(X) \
    /* numbers of things, and times */ \
    X(WHY_NODE, "%llu node", "노드 %llu개") \
    X(WHY_NODES, "%llu nodes", "노드 %llu개") \
    X(WHY_CPU, "%llu CPU", "CPU %llu개") \
    X(WHY_CPUS, "%llu CPUs", "CPU %llu개") \
    X(WHY_JOB, "%llu job", "작업 %llu개") \
    X(WHY_JOBS, "%llu jobs", "작업 %llu개") \
    X(WHY_SECONDS, "%lld s", "%lld초") \
    X(WHY_MINUTES, "%lld min", "%lld분") \
    X(WHY_HOURS, "%lld h %lld min", "%lld시간 %lld분") \
    X(WHY_DAYS, "%lld d %lld h", "%lld일 %lld시간") \
    X(WHY_IN, " (in %s)", "(%s 뒤)") \
    X(WHY_UNKNOWN_TIME, "an unknown time", "알 수 없는 시각") \
    /* who and what */ \
    X(WHY_IS, "Job %s (%s, user %s, partition %s) is %s.\n", "작업 %s(%s, 사용자 %s, 파티션 %s)의 상태는 %s입니다.\n") \
    X(WHY_HAS_BEEN, "Job %s (%s, user %s, partition %s) has been %s for %s, reason %s.\n", \
      "작업 %s(%s, 사용자 %s, 파티션 %s)의 상태는 %s, %s째이며 이유는 %s입니다.\n") \
    X(WHY_NEEDS, "It needs %s and %s (%s) %s", "필요한 것: %s, %s(%s), %s") \
    X(WHY_NO_LIMIT, "with no time limit", "시간 제한 없음") \
    X(WHY_UP_TO, "for up to %s", "최대 %s 동안") \
    X(WHY_ON_NODES, ", on the nodes %s", ", 지정한 노드 %s") \
    X(WHY_NOT_ON, ", not on %s", ", 제외한 노드 %s") \
    X(WHY_FEATURES, ", with the features %s", ", 특성 %s") \
    X(WHY_LICENCES, ", with the licences %s", ", 라이선스 %s") \
    X(WHY_PER_NODE, ", per node %s", ", 노드마다 %s") \
    X(WHY_IN_ALL, ", in all %s", ", 모두 합쳐 %s") \
    X(WHY_PER_TASK, ", per task %s", ", 태스크마다 %s") \
    X(WHY_ALONE, ", each node for itself alone", ", 노드를 혼자 씀") \
    /* nodes */ \
    X(WHY_FREE_NOW, "free for it now", "지금 이 작업이 쓸 수 있음") \
    X(WHY_FREE_PROMISED, "free now, but promised to jobs that go first", "지금 비어 있으나 먼저 갈 작업에 약속됨") \
    X(WHY_IN_USE, "in use", "사용 중") \
    X(WHY_NOT_USABLE, "not usable", "쓸 수 없음") \
    X(WHY_BY, " by %s", "(%s)") \
    X(WHY_SINCE, ", since %s", ", %s 전부터") \
    X(WHY_NO_NODE, "No node of its partition could run it.\n", "파티션에 이 작업을 실행할 수 있는 노드가 없습니다.\n") \
    X(WHY_COULD, "%s could do it; free on them: %s, %s of memory%s%s.\n", \
      "%s에서 실행할 수 있습니다. 그 노드들에서 비어 있는 것: %s, 메모리 %s%s%s.\n") \
    X(WHY_HELD_BY, "  held by job %s of %s: %s on %s until %s\n", \
      "  %2$s의 작업 %1$s이(가) 씀: %4$s의 %3$s, %5$s까지\n") \
    X(WHY_AND_BY, "  and by %u more jobs\n", "  그 밖에 작업 %u개\n") \
    /* who is ahead */ \
    X(WHY_PRIORITY_IS, "Its own priority is %u%s.\n", "이 작업의 우선순위는 %u%s입니다.\n") \
    X(WHY_PART_AGE, "age", "기다린 시간") \
    X(WHY_PART_FAIRSHARE, "fair share", "공정 배분") \
    X(WHY_PART_SIZE, "size", "크기") \
    X(WHY_PART_PARTITION, "partition", "파티션") \
    X(WHY_PART_QOS, "QOS", "서비스 등급(QOS)") \
    X(WHY_PART_ASSOCIATION, "association", "계정 소속") \
    X(WHY_PART_ACCURACY, "accuracy", "시간 제한의 정확도") \
    X(WHY_PART_NICE, "nice", "nice 값") \
    X(WHY_AHEAD_ONE, "%s is ahead of it", "앞에 %s가 있습니다") \
    X(WHY_AHEAD, "%s are ahead of it", "앞에 %s가 있습니다") \
    X(WHY_BY_TIER, "%u by the tier of the partition", "파티션의 단계로 %u개") \
    X(WHY_BY_PRIORITY, "%u by priority", "우선순위로 %u개") \
    X(WHY_BY_AGE, "%u submitted before, with equal priority", "우선순위가 같고 먼저 제출되어 %u개") \
    X(WHY_TIER_HIGHER, "its partition's tier is higher", "파티션의 단계가 더 높음") \
    X(WHY_PRIORITY_HIGHER, "its priority is higher", "우선순위가 더 높음") \
    X(WHY_SUBMITTED_BEFORE, "it was submitted before", "먼저 제출됨") \
    X(WHY_AHEAD_JOB, "  job %s of %s (%s, priority %u): %s; starts at %s\n", \
      "  %2$s의 작업 %1$s(%3$s, 우선순위 %4$u): %5$s. 시작 %6$s\n") \
    X(WHY_SHARE, "  Its fair share: %s.\n", "  공정 몫: %s.\n") \
    /* what else keeps it */ \
    X(WHY_DEPEND_JOB, ": that job of %s is %s", ": %s의 그 작업은 %s") \
    X(WHY_DEPEND_UNTIL, " until %s at the latest", ", 늦어도 %s까지") \
    X(WHY_LIMIT_IS, "  %s: limit %llu%s%s, asked %llu", "  %s: 한도 %llu%s%s, 요청 %llu") \
    X(WHY_LIMIT_USED, ", %llu in use by %s", ", 쓰고 있는 것 %llu(%s)") \
    X(WHY_LIMIT_FREE, "; the first comes free at %s", ". 처음 풀리는 때 %s") \
    X(WHY_LEAVING_ONE, "%s has to make room for it:\n", "%s가 이 작업에 자리를 내줍니다:\n") \
    X(WHY_LEAVING, "%s have to make room for it:\n", "%s가 이 작업에 자리를 내줍니다:\n") \
    X(WHY_LEAVING_JOB, "  job %s of %s (%s on %s): %s\n", "  %2$s의 작업 %1$s(%4$s의 %3$s): %5$s\n") \
    X(WHY_GOES_UNTIL, "goes until %s", "%s까지 떠남") \
    X(WHY_BEING_ENDED, "its processes are being ended", "프로세스를 끝내는 중") \
    /* when */ \
    X(WHY_NOBODY_KNOWS, "Nobody can say when it will start as things stand.\n", \
      "지금 상태로는 언제 시작할지 말할 수 없습니다.\n") \
    X(WHY_IF_RELEASED, "If it were released now, it would start at %s", "지금 풀린다면 시작할 때: %s") \
    X(WHY_IF_TRUE, "If what it waits for comes true, it starts at %s", "기다리는 일이 이루어지면 시작할 때: %s") \
    X(WHY_EXPECTED, "It is expected to start at %s", "예상되는 시작: %s") \
    X(WHY_START_ON, " on %s", ", 노드 %s") \
    X(WHY_START_PARTITION, " in partition %s", ", 파티션 %s") \
    X(WHY_ESTIMATE, " (an estimate: many jobs are ahead).\n", "(앞에 작업이 많아 어림한 것입니다).\n") \
    X(WHY_ESTIMATE_PREEMPTION, " (an estimate: others are preempted until then, or many jobs are ahead).\n", \
      "(그때까지 다른 작업이 밀려나거나 앞에 작업이 많아 어림한 것입니다).\n") \
    X(WHY_EARLIEST, "At the earliest at %s, if jobs end when jobs of their users usually do.\n", \
      "이르면 %s: 작업들이 그 사용자의 여느 작업만큼 걸려 끝날 때입니다.\n") \
    X(WHY_EXACT, "That is with every job running to its limit: it will not be later unless jobs of higher priority " \
      "come or nodes fail.\n", \
      "모든 작업이 시간 제한까지 돈다고 본 것이므로, 우선순위가 더 높은 작업이 오거나 노드가 고장 나지 않으면 더 늦어지지 " \
      "않습니다.\n") \
    X(WHY_NO_CHANGE, "None of %u changes to its request that were planned would start it sooner.\n", \
      "요청을 %u가지로 바꾸어 계획해 보았으나 더 일찍 시작하는 것은 없습니다.\n") \
    X(WHY_SOONER, "It would start sooner with one of these:\n", "다음 가운데 하나라면 더 일찍 시작합니다:\n") \
    X(WHY_CHANGE, "  %s: at %s", "  %s: 시작 %s") \
    X(WHY_TONIGHT, "To put it off until tonight: scontrol update JobId=%s StartTime=22:00 (sbatch --begin=22:00)\n", \
      "오늘 밤으로 미루려면: scontrol update JobId=%s StartTime=22:00 (sbatch --begin=22:00)\n") \
    /* a job that runs, or has ended */ \
    X(WHY_SUSPENDED_PAUSED, "It has been suspended since %s to let others have its CPUs, and goes on by itself when they " \
      "are free again or its turn has come.\n", \
      "%s부터 다른 작업에 CPU를 내주느라 멈추어 있으며, CPU가 비거나 차례가 오면 저절로 이어집니다.\n") \
    X(WHY_SUSPENDED_BY, "It has been suspended since %1$s by %2$s; scontrol resume %3$s lets it go on.\n", \
      "%1$s부터 %2$s님이 멈추어 두었습니다. 이어 가게 하려면: scontrol resume %3$s\n") \
    X(WHY_SUSPENDED_KEEPS, "Meanwhile it keeps its memory and devices; scontrol requeuehold %s gives them to others, and it " \
      "begins anew later.\n", \
      "그동안 메모리와 장치는 그대로 차지합니다. 다른 작업에 내주려면: scontrol requeuehold %s (나중에 처음부터 다시 시작합니다)\n") \
    X(WHY_RUNS, "It has run since %s (%s) on %s", "%s부터(%s) %s에서 실행 중입니다") \
    X(WHY_STARTED, ", started %s", " (시작: %s)") \
    X(WHY_ENDS_BY_GRACE, "It ends at the latest at %s, the end of its grace.\n", "늦어도 %s에 끝납니다(유예 시간의 끝).\n") \
    X(WHY_ENDS_BY_LIMIT, "It ends at the latest at %s, its limit.\n", "늦어도 %s에 끝납니다(시간 제한).\n") \
    X(WHY_ENDS_NEVER, "It has no time limit.\n", "시간 제한이 없습니다.\n") \
    X(WHY_RAN, "It ran for %s on %s until %s.\n", "%2$s에서 %1$s 동안, %3$s까지 실행되었습니다.\n") \
    X(WHY_END_WELL, "It ended well: exit code 0.", "잘 끝났습니다: 종료 코드 0.") \
    X(WHY_END_TIMEOUT, "It reached its time limit of %s. Ask for more with --time, or let it save its work: " \
      "--signal=B:USR1@300 warns it 5 minutes before.", \
      "시간 제한 %s에 이르렀습니다. --time으로 더 요청하거나, 하던 일을 저장하게 하십시오: --signal=B:USR1@300은 5분 전에 " \
      "알려 줍니다.") \
    X(WHY_END_MEMORY, "It used more memory than it had asked for", "요청한 것보다 메모리를 더 썼습니다") \
    X(WHY_END_MEMORY_HAD, "; it had %llu MiB when it was ended", ". 끝날 때 %llu MiB를 쓰고 있었습니다") \
    X(WHY_END_MEMORY_CURE, ". Ask for more with --mem.", ". --mem으로 더 요청하십시오.") \
    X(WHY_END_NODE, "Node %s failed under it.", "실행 중에 노드 %s이(가) 고장 났습니다.") \
    X(WHY_END_PREEMPTED, "It had to make room for a job that may preempt it.", "먼저 갈 수 있는 작업에 자리를 내주었습니다.") \
    X(WHY_END_CANCELLED, "It was cancelled.", "취소되었습니다.") \
    X(WHY_END_CANCELLED_BY, "It was cancelled by uid %u.", "uid %u이(가) 취소했습니다.") \
    X(WHY_END_CANCELLED_OWN, "It was cancelled by uid %u, its owner.", "소유자(uid %u)가 취소했습니다.") \
    X(WHY_END_DEADLINE, "It could not have ended before its deadline.", "기한(--deadline) 전에 끝날 수 없었습니다.") \
    X(WHY_END_BOOT, "Its nodes could not be booted.", "노드를 부팅할 수 없었습니다.") \
    X(WHY_END_SIGNAL, "It was ended by signal %d (%s)%s.", "시그널 %d(%s)로 끝났습니다%s.") \
    X(WHY_END_CODE, "Its exit code is %d", "종료 코드는 %d") \
    X(WHY_SIGNAL_SEGV, ": it touched memory that is not its own, a bug in the program", \
      ": 자기 것이 아닌 메모리를 건드렸으며, 프로그램의 오류입니다") \
    X(WHY_SIGNAL_KILL, ": killed from outside, or by the kernel for its memory", \
      ": 밖에서, 또는 메모리 때문에 커널이 끝냈습니다") \
    X(WHY_SIGNAL_BUS, ": often a full disk or /tmp under a mapped file", \
      ": 흔히 매핑한 파일이 있는 디스크나 /tmp가 가득 찬 것입니다") \
    X(WHY_SIGNAL_TERM, ": somebody asked it to end", ": 누군가 끝내라고 했습니다") \
    X(WHY_CODE_1, "a general error: its output says more", "일반 오류: 출력에 더 적혀 있습니다") \
    X(WHY_CODE_2, "a command was used wrongly, or a file is missing", "명령을 잘못 썼거나 파일이 없습니다") \
    X(WHY_CODE_126, "a command is not executable", "실행할 수 없는 명령입니다") \
    X(WHY_CODE_127, "a command was not found: is a module or the PATH missing?", \
      "명령을 찾지 못했습니다: module이나 PATH가 빠지지 않았습니까?") \
    X(WHY_CODE_255, "out of range, or a remote command failed", "범위를 벗어났거나 원격 명령이 실패했습니다") \
    /* what others did to it */ \
    X(WHY_DELAYED, "It had been expected at %s, now %s: %s (at %s%s).\n", "처음 예상은 %s, 지금은 %s입니다: %s(%s%s).\n") \
    X(WHY_DELAYED_STARTED, "It had been expected at %s, and started at %s: %s (at %s%s).\n", \
      "처음 예상은 %s였고 %s에 시작했습니다: %s(%s%s).\n") \
    X(WHY_DELAYED_TIMES, ", the last of %u times that it was put off", ", 모두 %u번 미뤄진 가운데 마지막") \
    X(WHY_SOMETHING, "something changed", "무엇인가 바뀌었음") \
    X(WHY_LAST_RUN_WAS, "Its last run was %s%s%s.\n", "지난번 실행: %s%s%s.\n") \
    X(WHY_IT_WAS, "It was %s%s%s.\n", "이 작업: %s%s%s.\n") \
    X(WHY_AT, " at %s", ", %s") \
    X(WHY_GRACE_GOES_ON, "; it may run on for its grace time", ". 유예 시간 동안은 더 돌 수 있음") \
    /* reasons that do not say it all */ \
    X(WHY_NONE, "The planner has not looked at it yet.", "아직 스케줄러가 살펴보지 않았습니다.") \
    X(WHY_PRIORITY, "Jobs that go first wait for the same nodes, and it must not delay them.", \
      "먼저 갈 작업들이 같은 노드를 기다리며, 이 작업이 그것들을 늦출 수 없습니다.") \
    X(WHY_RESOURCES, "It is the next one; what it needs is not free yet.", \
      "다음 차례이지만 필요한 것이 아직 비지 않았습니다.") \
    X(WHY_DEPENDENCY, "It waits for other jobs.", "다른 작업을 기다립니다.") \
    X(WHY_DEPENDENCY_NEVER, \
      "What it depends on can never come true, so it will not start. Cancel it, or change it: " \
      "scontrol update JobId=ID Dependency=", \
      "의존하는 조건이 이루어질 수 없어 시작하지 않습니다. 취소하거나 바꾸십시오: scontrol update JobId=ID Dependency=") \
    X(WHY_BEGIN_TIME, "It is not to start before its begin time (--begin, or after a requeue). " \
      "scontrol update JobId=ID StartTime=now lifts that.", \
      "시작 시각(--begin, 또는 다시 대기열에 든 뒤) 전에는 시작하지 않습니다. 바로 풀려면: " \
      "scontrol update JobId=ID StartTime=now") \
    X(WHY_HELD_USER, "Its owner has held it. scontrol release ID lets it go.", \
      "소유자가 붙들어 두었습니다(hold). 풀려면: scontrol release ID") \
    X(WHY_HELD_ADMIN, "An administrator has held it; only an administrator can release it (scontrol release ID).", \
      "관리자가 붙들어 두었고(hold), 관리자만 풀 수 있습니다(scontrol release ID).") \
    X(WHY_NOT_LAUNCHED, "It could not be started %u times in a row, on node %s the last time: slurmd's log there says why.\n", \
      "%u번 잇달아 시작하지 못했고 마지막은 노드 %s였습니다. 이유는 그 노드의 slurmd 로그에 있습니다.\n") \
    X(WHY_NODE_LOSSES, "A node went down in %u of its runs: see what it does to them before it runs again.\n", \
      "실행 중 노드가 내려간 일이 %u번 있었습니다. 다시 돌리기 전에 노드에 무슨 일을 하는지 보십시오.\n") \
    X(WHY_QUICK, "It was requeued %u times in a row after runs of less than a minute, and waits longer each time.\n", \
      "1분이 안 되는 실행 뒤 %u번 잇달아 다시 대기열에 들어, 갈수록 오래 기다립니다.\n") \
    X(WHY_AVOIDS, "It keeps away from %s, where it has failed, until %s, if other nodes could run it.\n", \
      "실패했던 %s은(는) 다른 노드로 될 수 있으면 %s까지 피합니다.\n") \
    X(WHY_MAX_REQUEUE, "It was requeued too often and is held. scontrol release ID lets it go.", \
      "너무 자주 다시 대기열에 들어 붙들렸습니다. 풀려면: scontrol release ID") \
    X(WHY_ARRAY_TASK_LIMIT, "As many tasks of its array run as the limit (%N) allows.", \
      "배열 작업의 한도(%N)만큼 태스크가 이미 실행 중입니다.") \
    X(WHY_LICENSES, "Licences that it needs are in use.", "필요한 라이선스가 사용 중입니다.") \
    X(WHY_REQ_NODE_NOT_AVAIL, \
      "A node that it asks for by name cannot be used at present. Without --nodelist it could run elsewhere.", \
      "이름으로 요청한 노드를 지금 쓸 수 없습니다. --nodelist가 없으면 다른 곳에서 실행될 수 있습니다.") \
    X(WHY_RESERVATION, "It waits for its reservation.", "예약을 기다립니다.") \
    X(WHY_RESERVATION_DELETED, \
      "Its reservation is gone. scontrol update JobId=ID Reservation= lets it run without one.", \
      "예약이 없어졌습니다. 예약 없이 실행하려면: scontrol update JobId=ID Reservation=") \
    X(WHY_PARTITION_DOWN, \
      "Its partition is DOWN: jobs may queue, and none starts until an administrator sets it UP.", \
      "파티션이 DOWN입니다: 제출은 되지만 관리자가 UP으로 바꿀 때까지 시작하지 않습니다.") \
    X(WHY_PARTITION_INACTIVE, "Its partition is INACTIVE: none of its jobs starts.", \
      "파티션이 INACTIVE입니다: 그 작업은 시작하지 않습니다.") \
    X(WHY_PARTITION_NODES, "It asks for more or fewer nodes than its partition allows.", \
      "파티션이 허용하는 것보다 많거나 적은 노드를 요청했습니다.") \
    X(WHY_PARTITION_TIME, "Its time limit is longer than its partition allows.", \
      "시간 제한이 파티션이 허용하는 것보다 깁니다.") \
    X(WHY_PARTITION_CONFIG, "Its partition, as it is configured, can never fit it.", \
      "지금 설정으로는 파티션에 들어갈 수 없습니다.") \
    X(WHY_NODES_UNAVAILABLE, \
      "Too few of the nodes that could run it are up: the others are down, drained or reserved.", \
      "실행할 수 있는 노드 가운데 쓸 수 있는 것이 모자랍니다: 나머지는 고장, drain, 또는 예약되어 있습니다.") \
    X(WHY_BAD_CONSTRAINTS, "What it asks for does not exist (any more).", "요청한 것이 없습니다(또는 없어졌습니다).") \
    X(WHY_DEADLINE, "It cannot end before its deadline, however short it is made.", \
      "아무리 줄여도 기한(--deadline) 전에 끝날 수 없습니다.") \
    X(WHY_CLEANING, "Its last run is still being cleaned up.", "지난번 실행을 아직 정리하고 있습니다.") \
    X(WHY_LAUNCH_HELD, "Its launch failed, so it was requeued and held. scontrol release ID tries again.", \
      "시작에 실패하여 다시 대기열에 넣고 붙들어 두었습니다. 다시 해 보려면: scontrol release ID") \
    X(WHY_REQUEUED_HELD, "It was requeued and held. scontrol release ID lets it go.", \
      "다시 대기열에 넣고 붙들어 두었습니다. 풀려면: scontrol release ID")
/* clang-format on */

#endif
