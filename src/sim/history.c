/* SPDX-License-Identifier: Apache-2.0 */
/* From accounting records to the jobs of a trace. */
#include "sim/history.h"

#include "base/alloc.h"
#include "sim/trace_reader.h"
#include "text/duration.h"

enum left_out { LEFT_WAITS, LEFT_RUNS, LEFT_NEVER_RAN, LEFT_COUNT };
static const char *const left_texts[] = {
    [LEFT_WAITS] = "that still wait",
    [LEFT_RUNS] = "that still run",
    [LEFT_NEVER_RAN] = "that never started",
};

/* Why it cannot be replayed; LEFT_COUNT: it can. */
static enum left_out left_out(const struct job *job) {
    if (!job_state_is_final(job->state))
        return job->state == JOB_PENDING ? LEFT_WAITS : LEFT_RUNS;
    return job->start_time <= 0 || job->end_time < job->start_time ? LEFT_NEVER_RAN : LEFT_COUNT;
}

/* What it asked for, in the trace's memory. */
static struct job_request *request_of(struct trace *trace, const struct job *job) {
    struct job_request copy;
    record_init(&record_job_request, &copy);
    record_copy_common(&record_job_request, &copy, &record_job, job);
    string_set(&copy.array_spec, NULL); /* each task has a record of its own */
    string_set(&copy.dependency, NULL);
    copy.begin_time = copy.deadline = 0;
    struct job_request *kept = trace_keep_request(trace, &copy);
    record_done(&record_job_request, &copy);
    return kept;
}

/* False when the trace's memory is full. */
static bool job_take(struct trace *trace, const struct job *job) {
    bool limited = job->time_limit != MINUTES_UNSET && job->time_limit != MINUTES_INFINITE;
    struct trace_job out = {
        .id = job->job_id,
        .submit = max_of(job->submit_time, min_of(job->eligible_time, job->start_time)),
        .est = limited ? max_of((int64_t) job->time_limit * 60, (int64_t) 60) : TRACE_NO_LIMIT,
        .procs = max_of(job->num_cpus, 1u),
        .user = job->user_name != NULL ? job->user_name : "?",
        .request = request_of(trace, job),
    };
    out.run = min_of(max_of(job->end_time - job->start_time, (int64_t) 1), out.est);
    if (out.request == NULL)
        return false;
    vec_push(&trace->jobs, out);
    return true;
}

int sim_history_read(struct trace *trace, const void *const *jobs, size_t n, struct error *err) {
    struct {
        uint64_t n;
        uint32_t first;
    } left[LEFT_COUNT] = {0};
    for (size_t i = 0; i < n; i++) {
        const struct acct_job *record = jobs[i];
        if (record->job == NULL || record->superseded)
            continue;
        enum left_out why = left_out(record->job);
        trace->n_read++;
        if (why == LEFT_COUNT && !job_take(trace, record->job))
            return error_set(err, ERR_LIMIT, "the history is too long; give a shorter window");
        if (why == LEFT_COUNT)
            continue;
        trace->n_dropped++;
        left[why].first = left[why].n++ == 0 ? record->job->job_id : left[why].first;
    }
    for (size_t why = 0; why < LEFT_COUNT; why++) {
        if (left[why].n > 0)
            vec_push(&trace->notes,
                     xasprintf("left out: %llu %s (first: job %u)",
                               (unsigned long long) left[why].n, left_texts[why], left[why].first));
    }
    trace_sort(trace);
    return 0;
}
