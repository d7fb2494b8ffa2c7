/* SPDX-License-Identifier: Apache-2.0 */
#include "acct/share.h"

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
