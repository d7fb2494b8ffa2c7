/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded workloads: who asked for what, when, and how long it ran. Readers for several formats
 * fill the same list; the reference policies (policy.h) see only processors and times, the
 * simulated cluster (cluster.h) sees the whole request.
 *
 * Jobs are sorted by (submit, id) once read; their position is their rank, the last tie-break of
 * every order. Times are integer seconds, fractions are cut off.
 *
 * Left out, and counted in `notes`: lines that lack fields or hold no numbers where there must be
 * some; jobs that never ran, are still running, need no processors or more than the machine has,
 * were submitted before the trace's time begins, or have no limit (SWF).
 */
#ifndef SLUICE_SIM_TRACE_H
#define SLUICE_SIM_TRACE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "model/job.h"

#define TRACE_JOBS_MAX 10000000u
#define TRACE_MEMORY_MAX (4ull << 30) /* bytes of texts and requests */
#define TRACE_TIME_MAX (1ll << 40)    /* seconds; later times and longer runs are no numbers */
/* The limit of a request that names none: a year in seconds. */
#define TRACE_NO_LIMIT (365 * 86400)

struct trace_job {
    uint64_t id; /* as in the trace (event files: position); need not be dense */
    int64_t submit;
    int64_t run;                 /* seconds; at most est: a job is killed at its limit */
    int64_t est;                 /* requested limit, seconds */
    uint32_t procs;              /* processors; tasks * CPUs of the request where there is one */
    uint32_t line;               /* of the file */
    const char *user;            /* never NULL; the same text is the same pointer */
    struct job_request *request; /* what sbatch would send, or NULL: procs tasks for est seconds */
};

struct trace {
    vec(struct trace_job) jobs;
    uint32_t max_procs;  /* of the machine: as asked for, else as the header says; 0 = not said */
    uint64_t n_read;     /* jobs in the file */
    uint64_t n_dropped;  /* of them, those that cannot be replayed; `notes` says why */
    vec(char *) notes;   /* one line per kind of thing left out, with how many and the first line */
    struct arena memory; /* all texts and requests */
};

enum trace_format {
    TRACE_GUESS,  /* by the first line that is no comment */
    TRACE_SWF,    /* Standard Workload Format, version 2 */
    TRACE_EVENTS, /* "-dt SECONDS -e submit_batch_job | -sim-walltime SECONDS SBATCH OPTIONS" */
    TRACE_SACCT,  /* sacct -P with a header line */
};

void trace_init(struct trace *trace);
void trace_done(struct trace *trace);
/* Reads a file, plain or packed (gzip, xz: by content), "-" being standard input. `procs`: leave
 * out what needs more; 0 = as the header says. 0 or a code with a sentence that names the file and
 * the line. The trace must be initialised and empty. */
must_check int trace_read(struct trace *trace, const char *path, enum trace_format format,
                          uint32_t procs, struct error *err);
/* The same from memory; `name` is for messages. */
must_check int trace_read_bytes(struct trace *trace, struct bytes text, const char *name,
                                enum trace_format format, uint32_t procs, struct error *err);

/* "generate:jobs=10000,procs=128,load=0.8,seed=1,users=50": a workload of made-up jobs; what is not
 * named has the value above. The same text gives the same jobs. See trace_make.c for what they are
 * like. */
#define TRACE_GENERATE "generate:"
must_check int trace_generate(struct trace *trace, const char *text, struct error *err);

/* Numbers the users from 0 on in the order of their first jobs. Returns how many there are; the
 * numbers by position in jobs are the caller's to free. */
uint32_t trace_number_users(const struct trace *trace, uint32_t **ret_user_of);

/* Standard Workload Format of what was read or made. */
void trace_write_swf(const struct trace *trace, struct str *out);

#endif
