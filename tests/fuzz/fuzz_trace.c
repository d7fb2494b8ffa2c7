/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded workloads: any bytes, packed or not, are read or refused with a sentence; what is read
 * can be replayed, written and read again. The first byte chooses the policy.
 */
#include "base/alloc.h"
#include "fuzz.h"
#include "sim/plot.h"
#include "sim/policy.h"

#define REPLAY_JOBS_MAX 300

static void is_a_trace(const struct trace *trace, uint32_t procs) {
    for (size_t i = 0; i < trace->jobs.n; i++) {
        const struct trace_job *job = &trace->jobs.items[i];
        require(job->user && job->submit >= 0 && job->run >= 1 && job->run <= job->est);
        require(job->procs >= 1 && (procs == 0 || job->procs <= procs));
        require(i == 0 || job[-1].submit <= job->submit);
    }
    require(trace->n_read >= trace->jobs.n);
    require(trace->n_read - trace->n_dropped == trace->jobs.n);
}

static void replay(const struct trace *trace, uint8_t choice) {
    struct sim_policy policy = {
        .kind = choice % 5,
        .order = choice / 5 % 6,
        .candidates = choice / 30 % 3,
        .events = choice / 90 % 2,
        .plan_predicted = choice >= 200,
    };
    struct sim_result result;
    struct sim_figures figures;
    struct error err = ERROR_INIT;
    cleanup_str struct str text = STR_INIT;
    uint32_t procs = 1;
    vec_each (&trace->jobs, job)
        procs = max_of(procs, job->procs);
    if (sim_policy_check(&policy, &err) < 0)
        policy = (struct sim_policy) {.kind = policy.kind, .order = policy.order};
    sim_result_init(&result, trace);
    sim_replay_policy(trace, &policy, procs, NULL, &result);
    for (size_t i = 0; i < trace->jobs.n; i++)
        require(result.starts[i] >= trace->jobs.items[i].submit);
    sim_figures(trace, &result, &figures);
    require(figures.n_started == trace->jobs.n && figures.utilisation <= 1.0000001);
    sim_plot(trace, &result, "fuzz", &text);
    sim_result_done(&result);
}

static void survives_writing(const struct trace *trace) {
    struct trace again;
    struct error err = ERROR_INIT;
    cleanup_str struct str text = STR_INIT;
    trace_write_swf(trace, &text);
    trace_init(&again);
    require(trace_read_bytes(&again, str_bytes(&text), "again", TRACE_SWF, 0, &err) == 0);
    require(again.jobs.n == trace->jobs.n);
    trace_done(&again);
}

static void try_format(struct bytes text, enum trace_format format, uint8_t choice) {
    struct trace trace;
    struct error err = ERROR_INIT;
    trace_init(&trace);
    if (trace_read_bytes(&trace, text, "fuzz", format, 0, &err) < 0) {
        require(err.text[0]);
    } else {
        require(trace.jobs.n > 0);
        is_a_trace(&trace, trace.max_procs);
        survives_writing(&trace);
        if (trace.jobs.n <= REPLAY_JOBS_MAX)
            replay(&trace, choice);
    }
    trace_done(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t choice = size ? data[0] : 0;
    struct bytes text = {data + (size > 0), size - (size > 0)};
    for (enum trace_format format = TRACE_GUESS; format <= TRACE_SACCT; format++)
        try_format(text, format, choice);
    return 0;
}
