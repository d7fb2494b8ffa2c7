/* SPDX-License-Identifier: Apache-2.0 */
/* How a job has ended, and what reasons and exit codes mean. */
#include <string.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "cli/why.h"
#include "text/duration.h"

static const struct {
    uint32_t reason;
    const char *text;
} reasons[] = {
    {REASON_NONE, "The planner has not looked at it yet."},
    {REASON_PRIORITY, "Jobs that go first wait for the same nodes, and it must not delay them."},
    {REASON_RESOURCES, "It is the next one; what it needs is not free yet."},
    {REASON_DEPENDENCY, "It waits for other jobs."},
    {REASON_DEPENDENCY_NEVER,
     "What it depends on can never come true, so it will not start. Cancel it, or change it: "
     "scontrol update JobId=ID Dependency="},
    {REASON_BEGIN_TIME, "It is not to start before its begin time (--begin, or after a requeue). "
                        "scontrol update JobId=ID StartTime=now lifts that."},
    {REASON_HELD_USER, "Its owner has held it. scontrol release ID lets it go."},
    {REASON_HELD_ADMIN,
     "An administrator has held it; only an administrator can release it (scontrol release ID)."},
    {REASON_MAX_REQUEUE, "It was requeued too often and is held. scontrol release ID lets it go."},
    {REASON_ARRAY_TASK_LIMIT, "As many tasks of its array run as the limit (%N) allows."},
    {REASON_LICENSES, "Licences that it needs are in use."},
    {REASON_REQ_NODE_NOT_AVAIL,
     "A node that it asks for by name cannot be used at present. Without "
     "--nodelist it could run elsewhere."},
    {REASON_RESERVATION, "It waits for its reservation."},
    {REASON_RESERVATION_DELETED, "Its reservation is gone. scontrol update JobId=ID Reservation= "
                                 "lets it run without one."},
    {REASON_PARTITION_DOWN, "Its partition is DOWN: jobs may queue, and none starts until an "
                            "administrator sets it UP."},
    {REASON_PARTITION_INACTIVE, "Its partition is INACTIVE: none of its jobs starts."},
    {REASON_PARTITION_NODE_LIMIT, "It asks for more or fewer nodes than its partition allows."},
    {REASON_PARTITION_TIME_LIMIT, "Its time limit is longer than its partition allows."},
    {REASON_PARTITION_CONFIG, "Its partition, as it is configured, can never fit it."},
    {REASON_NODES_UNAVAILABLE,
     "Too few of the nodes that could run it are up: the others are down, "
     "drained or reserved."},
    {REASON_BAD_CONSTRAINTS, "What it asks for does not exist (any more)."},
    {REASON_DEADLINE, "It cannot end before its deadline, however short it is made."},
    {REASON_CLEANING, "Its last run is still being cleaned up."},
    {REASON_LAUNCH_HELD,
     "Its launch failed, so it was requeued and held. scontrol release ID tries "
     "again."},
    {REASON_REQUEUED_HELD, "It was requeued and held. scontrol release ID lets it go."},
};

const char *why_reason(uint32_t reason) {
    for (size_t i = 0; i < countof(reasons); i++) {
        if (reasons[i].reason == reason)
            return reasons[i].text;
    }
    return NULL;
}

/* Codes that shells and the C library give a meaning. */
static const struct {
    int code;
    const char *text;
} codes[] = {
    {1, "a general error: its output says more"},
    {2, "a command was used wrongly, or a file is missing"},
    {126, "a command is not executable"},
    {127, "a command was not found: is a module or the PATH missing?"},
    {255, "out of range, or a remote command failed"},
};

static void exit_print(int status, struct str *out) {
    int code = WEXITSTATUS(status), number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == 0 && code > 128 && code < 128 + 65)
        number = code - 128;
    if (number > 0) {
        const char *what = sigdescr_np(number);
        str_printf(out, "It was ended by signal %d (%s)%s.", number, what ? what : "unknown",
                   number == 11   ? ": it touched memory that is not its own, a bug in the program"
                   : number == 9  ? ": killed from outside, or by the kernel for its memory"
                   : number == 7  ? ": often a full disk or /tmp under a mapped file"
                   : number == 15 ? ": somebody asked it to end"
                                  : "");
        return;
    }
    str_printf(out, "Its exit code is %d", code);
    for (size_t i = 0; i < countof(codes); i++) {
        if (codes[i].code == code)
            str_printf(out, " (%s)", codes[i].text);
    }
    str_append_char(out, '.');
}

static void timeout_print(const struct job *job, struct str *out) {
    struct str limit cleanup_str = STR_INIT;
    minutes_print_long(job->time_limit, "UNLIMITED", &limit);
    str_printf(out,
               "It reached its time limit of %s. Ask for more with --time, or let it save its "
               "work: --signal=B:USR1@300 warns it 5 minutes before.",
               str_cstr(&limit));
}

static void memory_print(const struct job *job, struct str *out) {
    str_append(out, "It used more memory than it had asked for");
    if (job->tres_req)
        str_printf(out, " (%s)", job->tres_req);
    if (job->max_rss_kib > 0)
        str_printf(out, "; it had %llu MiB when it was ended",
                   (unsigned long long) (job->max_rss_kib / 1024));
    str_append(out, ". Ask for more with --mem.");
}

void why_end(const struct job *job, struct str *out) {
    switch ((enum job_state) job->state) {
    case JOB_COMPLETED:
        str_append(out, "It ended well: exit code 0.");
        break;
    case JOB_TIMEOUT:
        timeout_print(job, out);
        break;
    case JOB_OUT_OF_MEMORY:
        memory_print(job, out);
        break;
    case JOB_NODE_FAIL:
        str_printf(out, "Node %s failed under it.",
                   job->failed_node ? job->failed_node
                   : job->nodes     ? job->nodes
                                    : "?");
        break;
    case JOB_PREEMPTED:
        str_append(out, "It had to make room for a job that may preempt it.");
        break;
    case JOB_CANCELLED:
        str_append(out, "It was cancelled");
        if (job->cancel_uid != UNSET32)
            str_printf(out, " by uid %u%s", job->cancel_uid,
                       job->cancel_uid == job->uid ? ", its owner" : "");
        str_append_char(out, '.');
        break;
    case JOB_DEADLINE:
        str_append(out, "It could not have ended before its deadline.");
        break;
    case JOB_BOOT_FAIL:
        str_append(out, "Its nodes could not be booted.");
        break;
    default:
        exit_print((int) job->exit_status, out);
        break;
    }
    if (job->state_desc && job->state == JOB_FAILED && job->exit_status != 0 &&
        !WIFSIGNALED((int) job->exit_status))
        str_printf(out, " %s.", job->state_desc);
}
