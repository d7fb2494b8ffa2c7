/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Standard Workload Format (Chapin et al. 1999, version 2): a line of 18 numbers a job, -1 for
 * what is not known; comments with the machine's size begin with ';'.
 *
 * Processors are those asked for (field 8), else those given (5); the limit is field 9. The status
 * is not looked at.
 */
#include <string.h>

#include "base/alloc.h"
#include "sim/trace_reader.h"

enum swf_field {
    SWF_ID = 0,
    SWF_SUBMIT = 1,
    SWF_RUN = 3,
    SWF_GIVEN_PROCS = 4,
    SWF_PROCS = 7,
    SWF_LIMIT = 8,
    SWF_USER = 11,
    SWF_FIELDS_MIN = 12, /* some archives cut what follows */
};

void trace_swf_comment(struct trace_reader *reader, const char *line) {
    static const char key[] = "MaxProcs:";
    const char *at = strstr(line, key);
    uint64_t procs;
    if (!at)
        return;
    at += strlen(key);
    at += strspn(at, " \t");
    if (str_read_u64(&at, &procs) && procs <= UINT32_MAX)
        reader->trace->max_procs = (uint32_t) procs;
}

/* Processor counts above 32 bits can never fit. */
static uint32_t procs_of(int64_t asked, int64_t given) {
    int64_t procs = asked > 0 ? asked : given;
    return procs <= 0 ? 0 : (uint32_t) min_of(procs, (int64_t) UINT32_MAX);
}

static int read_job(struct trace_reader *reader, char *line, struct error *err) {
    static const enum swf_field numbers[] = {SWF_SUBMIT, SWF_RUN, SWF_GIVEN_PROCS, SWF_PROCS,
                                             SWF_LIMIT};
    char *fields[SWF_FIELDS_MIN];
    int64_t values[SWF_FIELDS_MIN];
    uint64_t id;
    size_t n = 0;
    reader->trace->n_read++;
    while (n < SWF_FIELDS_MIN && (fields[n] = str_next_word(&line, " \t")) != NULL)
        n++;
    if (n < SWF_FIELDS_MIN) {
        trace_fault(reader, FAULT_FIELDS, NULL);
        return 0;
    }
    for (size_t i = 0; i < countof(numbers); i++) {
        enum swf_field field = numbers[i];
        if (!trace_seconds(fields[field], &values[field])) {
            cleanup_free char *why = xasprintf("field %u is \"%.40s\"", field + 1, fields[field]);
            trace_fault(reader, FAULT_NUMBER, why);
            return 0;
        }
    }
    if (!str_to_u64(fields[SWF_ID], &id)) {
        cleanup_free char *why = xasprintf("the job's number is \"%.40s\"", fields[SWF_ID]);
        trace_fault(reader, FAULT_NUMBER, why);
        return 0;
    }
    return trace_add(reader,
                     &(struct trace_job) {
                         .id = id,
                         .submit = values[SWF_SUBMIT],
                         .run = values[SWF_RUN],
                         .est = values[SWF_LIMIT],
                         .procs = procs_of(values[SWF_PROCS], values[SWF_GIVEN_PROCS]),
                         .user = trace_user(reader, fields[SWF_USER]),
                     },
                     err);
}

int trace_read_swf(struct trace_reader *reader, char *first, struct error *err) {
    int r = read_job(reader, first, err);
    char *line;
    if (r < 0)
        return r;
    while ((r = lines_next(reader->lines, &line, err)) > 0) {
        line = str_trim(line);
        if (*line == ';')
            trace_swf_comment(reader, line);
        else if (*line && (r = read_job(reader, line, err)) < 0)
            return r;
    }
    return r;
}

void trace_write_swf(const struct trace *trace, struct str *out) {
    str_append(out, "; Version: 2.2\n");
    if (trace->max_procs)
        str_printf(out, "; MaxProcs: %u\n", trace->max_procs);
    str_printf(out, "; MaxJobs: %zu\n", trace->jobs.n);
    uint32_t *user_of;
    (void) trace_number_users(trace, &user_of);
    for (size_t i = 0; i < trace->jobs.n; i++) {
        const struct trace_job *job = &trace->jobs.items[i];
        str_printf(out, "%llu %lld -1 %lld %u -1 -1 %u %lld -1 -1 %u -1 -1 -1 -1 -1 -1\n",
                   (unsigned long long) job->id, (long long) job->submit, (long long) job->run,
                   job->procs, job->procs, (long long) job->est, user_of[i] + 1);
    }
    free(user_of);
}
