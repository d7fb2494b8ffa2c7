/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of the capacity, from history: hour by hour, as slurmdbd sums it up. What is over in
 * an hour cannot be made up for in another.
 */
#include "cli/sreport_internal.h"
#include "text/calendar.h"

/* ---- hours ---- */

struct part {
    int64_t hour, seconds;
    size_t member; /* of struct cluster_sum */
};

/* The hour begins at a multiple of 1800 s at least, whatever the time zone. */
static uint64_t place(int64_t hour, size_t tres) {
    return (uint64_t) hour << 8 | tres;
}

static void add_part(struct sreport *report, size_t at, uint64_t count, void *context) {
    const struct part *part = context;
    uint64_t where = place(part->hour, at);
    struct cluster_sum *sum = map_get(&report->hours, where);
    if (!sum) {
        sum = arena_alloc(&report->memory, sizeof(*sum));
        map_put(&report->hours, where, sum);
    }
    *(int64_t *) ((char *) sum + part->member) += (int64_t) count * part->seconds;
}

/* A TRES list that was there, was held or wanted from `from` to `to`; course: only while it ran. */
static void add_list(struct sreport *report, const char *tres, int64_t from, int64_t to,
                     size_t member, const struct job_course *course) {
    const struct sreport_question *q = report->question;
    from = max_of(from, q->start);
    to = min_of(min_of(to, q->end), q->now);
    for (int64_t hour = calendar_span_start(CALENDAR_HOUR, from); from < to && hour < to;) {
        int64_t next = calendar_span_next(CALENDAR_HOUR, hour);
        int64_t begin = max_of(from, hour), end = min_of(to, next);
        struct part part = {hour, course ? course_seconds(course, begin, end) : end - begin,
                            member};
        if (part.seconds > 0)
            tres_each(report, tres, add_part, &part);
        hour = next;
    }
}

#define AT(member) offsetof(struct cluster_sum, member)

void hours_job(struct sreport *report, const struct job *job, const struct job_course *course) {
    if (course->start)
        add_list(report, job->tres_alloc, course->start, course->end, AT(allocated), course);
    if (job->eligible_time)
        add_list(report, job->tres_req, job->eligible_time, course_waited_until(course),
                 AT(waiting), NULL);
}

void sreport_outage(struct sreport *report, const struct acct_outage *outage) {
    if (report->question->kind == SREPORT_UTILIZATION)
        add_list(report, outage->tres, outage->start, outage->end ? outage->end : INT64_MAX,
                 outage->planned ? AT(planned_down) : AT(down), NULL);
}

/* ---- sums ---- */

static struct cluster_use *use_get(struct sreport *report, const char *cluster, const char *tres) {
    vec_each (&report->clusters, use) {
        if (str_equal(use->cluster, cluster) && str_equal(use->tres, tres))
            return use;
    }
    struct cluster_use *use = vec_add(&report->clusters);
    use->cluster = arena_strdup(&report->memory, cluster);
    use->tres = arena_strdup(&report->memory, tres);
    return use;
}

void sreport_cluster_use(struct sreport *report, const struct cluster_use *more) {
    struct cluster_use *use = use_get(report, more->cluster, more->tres);
    use->reported += more->reported;
    use->allocated += more->allocated;
    use->down += more->down;
    use->planned_down += more->planned_down;
    use->planned += more->planned;
    use->idle += more->idle;
    use->over += more->over;
}

void hours_sum(struct sreport *report) {
    size_t at = 0;
    uint64_t where;
    const struct cluster_sum *sum;
    while ((sum = map_next(&report->hours, &at, &where)) != NULL) {
        struct cluster_use use;
        cluster_use_of(sum, &use);
        use.cluster = (char *) (uintptr_t) report->question->cluster; /* only read */
        use.tres = report->tres[where & 0xff];
        sreport_cluster_use(report, &use);
    }
}

/* Without the hours, what there was is the total of percentages. */
static void add_reported(struct sreport *report, size_t at, uint64_t count, void *context) {
    use_get(report, report->question->cluster, report->tres[at])->reported +=
        (int64_t) count * *(const int64_t *) context;
}

void sreport_capacities(struct sreport *report, const struct acct_capacity *const *list, size_t n) {
    const struct sreport_question *q = report->question;
    for (size_t i = 0; i < n; i++) {
        int64_t from = list[i]->start, to = i + 1 < n ? list[i + 1]->start : INT64_MAX;
        int64_t seconds = min_of(min_of(to, q->end), q->now) - max_of(from, q->start);
        if (q->kind == SREPORT_UTILIZATION)
            add_list(report, list[i]->tres, from, to, AT(capacity), NULL);
        else if (seconds > 0)
            tres_each(report, list[i]->tres, add_reported, &seconds);
    }
}
