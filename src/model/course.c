/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of jobs and of capacity: see course.h. */
#include "model/course.h"

#include "base/alloc.h"

/* What it has run by a time; ascending. */
static int64_t run_by(const struct job_course *course, int64_t time) {
    if (course->start == 0 || time <= course->start)
        return 0;
    bool ended = course->end != INT64_MAX;
    int64_t stop = ended ? course->end : course->paused_since ? course->paused_since : INT64_MAX;
    int64_t present = min_of(time, stop) - course->start, paused = course->paused_seconds;
    if (!ended)
        return max_of(present - paused, (int64_t) 0);
    int64_t whole = stop - course->start;
    if (whole <= 0)
        return 0;
    return (int64_t) ((__int128) present * max_of(whole - paused, (int64_t) 0) / whole);
}

int64_t course_seconds(const struct job_course *course, int64_t from, int64_t to) {
    return from < to ? run_by(course, to) - run_by(course, from) : 0;
}

struct job_course job_course_of(const struct job *job, bool superseded) {
    struct job_course course = {.end = INT64_MAX};
    bool ran = job->start_time != 0 && job->state != JOB_PENDING && job->nodes && *job->nodes;
    if (superseded || job_state_is_final(job->state))
        course.end = job->end_time;
    if (ran)
        course.start = job->start_time;
    if (ran && job->suspend_time)
        course.paused_seconds =
            max_of(job->suspend_time - job->start_time - job->pre_suspend_seconds, (int64_t) 0);
    if (job->state == JOB_SUSPENDED)
        course.paused_since = job->suspend_time;
    return course;
}

int64_t course_waited_until(const struct job_course *course) {
    return course->start ? course->start : course->end;
}

void cluster_use_of(const struct cluster_sum *sum, struct cluster_use *ret) {
    int64_t rest = max_of(sum->capacity - sum->allocated, (int64_t) 0);
    ret->reported = sum->capacity;
    ret->allocated = sum->allocated;
    ret->down = min_of(sum->down, rest);
    ret->planned_down = min_of(sum->planned_down, rest - ret->down);
    rest -= ret->down + ret->planned_down;
    ret->planned = min_of(sum->waiting, rest);
    ret->idle = rest - ret->planned;
    ret->over = max_of(sum->allocated - sum->capacity, (int64_t) 0);
}
