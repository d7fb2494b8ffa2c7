/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the readers: what all formats share. */
#ifndef SLUICE_SIM_TRACE_READER_H
#define SLUICE_SIM_TRACE_READER_H

#include <stdbool.h>

#include "base/map.h"
#include "sim/lines.h"
#include "sim/trace.h"

/* Why a line or job is left out or read with a guess. X(NAME, dropped, text with "%s" for s) */
#define TRACE_FAULT_TABLE(X)                                                                       \
    X(FIELDS, true, "line%s with another number of fields than the format has")                    \
    X(NUMBER, true, "line%s with a field that is no number where one must be")                     \
    X(NEVER_RAN, true, "job%s that never ran")                                                     \
    X(RUNNING, true, "job%s whose end is not known")                                               \
    X(NO_PROCS, true, "job%s that asked for no processors")                                        \
    X(TOO_WIDE, true, "job%s that can never fit: more processors than the machine has")            \
    X(SUBMIT, true, "job%s submitted at a negative or unknown time")                               \
    X(NO_LIMIT, true, "job%s without a requested time")                                            \
    X(EVENT, true, "event%s other than submit_batch_job")                                          \
    X(OPTIONS, true, "job%s whose options are not understood")                                     \
    X(LIMIT_GUESSED, false, "job%s without a time limit: taken as 365 days")                       \
    X(SHARED_ID, false, "task%s of arrays known by the array's number (add the column JobIDRaw)")

enum trace_fault {
#define X(name, ...) FAULT_##name,
    TRACE_FAULT_TABLE(X)
#undef X
        FAULT_COUNT
};

struct trace_reader {
    struct trace *trace;
    struct lines *lines;
    uint32_t procs;    /* asked for; 0 = as the header says */
    struct smap users; /* text → itself, in the trace's memory */
    struct {
        uint64_t n, first; /* first: line */
        char *why;         /* of the first one, or NULL */
    } faults[FAULT_COUNT];
};

/* Counts the present line; `why` may be NULL. */
void trace_fault(struct trace_reader *reader, enum trace_fault fault, const char *why);
/* The one copy of a user's name; NULL when the trace's memory is full. */
const char *trace_user(struct trace_reader *reader, const char *name);
/* Checks what every job must be and takes it in: a job without sense is counted as a fault. `run`
 * is cut to est. */
must_check int trace_add(struct trace_reader *reader, const struct trace_job *job,
                         struct error *err);
/* A copy of a request whose members lie in the trace's memory; NULL when that is full. */
struct job_request *trace_keep_request(struct trace *trace, const struct job_request *request);
/* By (submit, id): the order of ranks. */
void trace_sort(struct trace *trace);
/* Error for a full memory. */
int trace_full(const struct trace_reader *reader, struct error *err);
/* Seconds before a '.' (fractions are cut off); false for what is no number or beyond
 * TRACE_TIME_MAX. */
bool trace_seconds(const char *text, int64_t *ret_seconds);

/* sbatch's words into a request in the trace's memory, by the one table of options. User, limit and
 * processors of the job come from them. False with the complaint in `why`. */
bool trace_request(struct trace_reader *reader, char *const *words, size_t n_words,
                   struct trace_job *job, struct str *why);

/* ---- the formats; `first` is the first line that is no comment, NULL when there is none ---- */
must_check int trace_read_swf(struct trace_reader *reader, char *first, struct error *err);
must_check int trace_read_events(struct trace_reader *reader, char *first, struct error *err);
must_check int trace_read_sacct(struct trace_reader *reader, char *first, struct error *err);
/* A line of the header: "; MaxProcs: 128". */
void trace_swf_comment(struct trace_reader *reader, const char *line);

#endif
