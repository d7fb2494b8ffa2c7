/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded workloads: who asked for what, when, and how long it ran. Readers for several formats
 * fill the same list; the reference policies (policy.h) see only processors and times, the
 * simulated cluster (cluster.h) sees the whole request.
 *
 * Jobs are sorted by (submit, id) once read; their position is their rank, the last tie-break of
 * every order. Times are integer seconds.
 */
#ifndef SLUICE_SIM_TRACE_H
#define SLUICE_SIM_TRACE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "model/job.h"

struct trace_job {
    uint64_t id; /* as in the trace; need not be dense */
    int64_t submit;
    int64_t run;                 /* seconds; at most est: a job is killed at its limit */
    int64_t est;                 /* requested limit, seconds */
    uint32_t procs;              /* processors; nodes * CPUs of the request where there is one */
    const char *user;            /* never NULL */
    struct job_request *request; /* what sbatch would send, or NULL: procs tasks for est seconds */
};

struct trace {
    vec(struct trace_job) jobs;
    uint32_t max_procs;  /* of the machine that the header names; 0 = not said */
    uint64_t n_read;     /* jobs in the file */
    uint64_t n_dropped;  /* of them, those that cannot be replayed; `notes` says why */
    vec(char *) notes;   /* one line per kind of thing left out, with how many and the first line */
    struct arena memory; /* all texts and requests */
};

enum trace_format {
    TRACE_GUESS,  /* by the first lines and the file's name */
    TRACE_SWF,    /* Standard Workload Format, version 2 */
    TRACE_EVENTS, /* "-dt SECONDS -e submit_batch_job | -sim-walltime SECONDS SBATCH OPTIONS" */
    TRACE_SACCT,  /* sacct -P with a header line */
};

void trace_init(struct trace *trace);
void trace_done(struct trace *trace);
/* Reads a file, plain or packed (.gz, .xz by content). `procs`: leave out what needs more; 0 = as
 * the header says. 0 or a code with a sentence that names the file and the line. */
must_check int trace_read(struct trace *trace, const char *path, enum trace_format format,
                          uint32_t procs, struct error *err);

#endif
