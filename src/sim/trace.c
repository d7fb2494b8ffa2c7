/* SPDX-License-Identifier: Apache-2.0 */
/* What all readers share: taking jobs in, counting what is left out, choosing the format. */
#include "sim/trace.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/trace_reader.h"

static const struct {
    bool dropped;
    const char *text;
} fault_rows[] = {
#define X(name, dropped, text) {dropped, text},
    TRACE_FAULT_TABLE(X)
#undef X
};

void trace_init(struct trace *trace) {
    *trace = (struct trace) {0};
    arena_init(&trace->memory, TRACE_MEMORY_MAX);
}

void trace_done(struct trace *trace) {
    vec_done(&trace->jobs);
    vec_each (&trace->notes, note)
        free(*note);
    vec_done(&trace->notes);
    arena_done(&trace->memory);
}

uint32_t trace_number_users(const struct trace *trace, uint32_t **ret_user_of) {
    struct smap numbers = SMAP_INIT;
    uint32_t *user_of = xcalloc(trace->jobs.n + 1, sizeof(*user_of)), n = 0;
    for (size_t i = 0; i < trace->jobs.n; i++) {
        const char *name = trace->jobs.items[i].user;
        uintptr_t number = (uintptr_t) smap_get(&numbers, name);
        if (number == 0) {
            number = ++n;
            smap_put(&numbers, name, (void *) number);
        }
        user_of[i] = (uint32_t) number - 1;
    }
    smap_done(&numbers);
    *ret_user_of = user_of;
    return n;
}

/* ---- for the readers ---- */

static void fault_at(struct trace_reader *reader, enum trace_fault fault, uint64_t line,
                     const char *why) {
    if (reader->faults[fault].n++ == 0) {
        reader->faults[fault].first = line;
        reader->faults[fault].why = xstrdup_null(why);
    }
    reader->trace->n_dropped += fault_rows[fault].dropped;
}

void trace_fault(struct trace_reader *reader, enum trace_fault fault, const char *why) {
    fault_at(reader, fault, lines_number(reader->lines), why);
}

const char *trace_user(struct trace_reader *reader, const char *name) {
    char *user = smap_get(&reader->users, name);
    if (!user) {
        user = arena_strdup(&reader->trace->memory, name);
        if (user)
            smap_put(&reader->users, user, user);
    }
    return user;
}

struct job_request *trace_keep_request(struct trace *trace, const struct job_request *request) {
    cleanup_str struct str wire = STR_INIT;
    struct job_request *copy = arena_alloc(&trace->memory, sizeof(*copy));
    wire_encode(&record_job_request, request, NULL, &wire);
    if (!copy || wire_decode(&record_job_request, str_bytes(&wire), &trace->memory, copy, NULL) < 0)
        return NULL;
    return copy;
}

int trace_full(const struct trace_reader *reader, struct error *err) {
    return error_set(err, ERR_LIMIT,
                     "%s:%llu: the trace is too large: at most %u jobs and %llu GiB",
                     lines_name(reader->lines), (unsigned long long) lines_number(reader->lines),
                     TRACE_JOBS_MAX, TRACE_MEMORY_MAX >> 30);
}

int trace_add(struct trace_reader *reader, const struct trace_job *job, struct error *err) {
    if (job->run <= 0) {
        trace_fault(reader, FAULT_NEVER_RAN, NULL);
    } else if (job->procs == 0) {
        trace_fault(reader, FAULT_NO_PROCS, NULL);
    } else if (job->submit < 0) {
        trace_fault(reader, FAULT_SUBMIT, NULL);
    } else if (job->est <= 0) {
        trace_fault(reader, FAULT_NO_LIMIT, NULL);
    } else {
        if (!job->user || reader->trace->jobs.n >= TRACE_JOBS_MAX)
            return trace_full(reader, err);
        struct trace_job added = *job;
        added.run = min_of(job->run, job->est);
        added.line = (uint32_t) lines_number(reader->lines);
        vec_push(&reader->trace->jobs, added);
    }
    return 0;
}

bool trace_seconds(const char *text, int64_t *ret_seconds) {
    size_t length = strcspn(text, ".");
    char digits[24];
    int64_t seconds;
    if (text[length] && strspn(text + length + 1, "0123456789") != strlen(text + length + 1))
        return false;
    if (length == 0 || length >= sizeof(digits))
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (!str_to_i64(digits, &seconds) || seconds > TRACE_TIME_MAX || seconds < -TRACE_TIME_MAX)
        return false;
    *ret_seconds = seconds;
    return true;
}

/* ---- the end of a reading ---- */

static int by_submit(const void *a, const void *b) {
    const struct trace_job *x = a, *y = b;
    if (x->submit != y->submit)
        return x->submit < y->submit ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

void trace_sort(struct trace *trace) {
    if (trace->jobs.n > 1)
        qsort(trace->jobs.items, trace->jobs.n, sizeof(struct trace_job), by_submit);
}

/* The header may stand anywhere, so this can be said only at the end. */
static void drop_too_wide(struct trace_reader *reader) {
    struct trace *trace = reader->trace;
    size_t kept = 0;
    if (reader->procs)
        trace->max_procs = reader->procs;
    if (trace->max_procs == 0)
        return;
    vec_each (&trace->jobs, job) {
        if (job->procs > trace->max_procs)
            fault_at(reader, FAULT_TOO_WIDE, job->line, NULL);
        else
            trace->jobs.items[kept++] = *job;
    }
    trace->jobs.n = kept;
}

static void make_notes(struct trace_reader *reader) {
    for (size_t i = 0; i < FAULT_COUNT; i++) {
        uint64_t n = reader->faults[i].n;
        const char *why = reader->faults[i].why;
        cleanup_str struct str note = STR_INIT;
        if (n == 0)
            continue;
        str_printf(&note, "%llu ", (unsigned long long) n);
        str_printf(&note, fault_rows[i].text, n == 1 ? "" : "s");
        str_printf(&note, "%s %llu%s%s", n == 1 ? ", line" : ", first in line",
                   (unsigned long long) reader->faults[i].first, why ? ": " : "", why ? why : "");
        vec_push(&reader->trace->notes, str_take(&note));
    }
}

static void reader_done(struct trace_reader *reader) {
    for (size_t i = 0; i < FAULT_COUNT; i++)
        free(reader->faults[i].why);
    smap_done(&reader->users);
    lines_close(reader->lines);
}

static bool is_comment(const char *line) {
    return *line == ';' || *line == '#' || *line == '\0';
}

/* The first line with something in it; NULL at the end. */
static int first_line(struct trace_reader *reader, char **ret_line, struct error *err) {
    char *line = NULL;
    int r;
    while ((r = lines_next(reader->lines, &line, err)) > 0) {
        char *text = str_trim(line);
        if (!is_comment(text)) {
            *ret_line = text;
            return 0;
        }
        trace_swf_comment(reader, text);
    }
    *ret_line = NULL;
    return r;
}

static enum trace_format guess(const char *line) {
    if (strchr(line, '|') && strstr(line, "-e "))
        return TRACE_EVENTS;
    if (strchr(line, '|'))
        return TRACE_SACCT;
    return TRACE_SWF;
}

static int read_all(struct trace_reader *reader, enum trace_format format, struct error *err) {
    char *first;
    int r = first_line(reader, &first, err);
    if (r < 0)
        return r;
    if (!first)
        return error_set(err, ERR_INVALID, "%s: there is no job in it", lines_name(reader->lines));
    switch (format == TRACE_GUESS ? guess(first) : format) {
    case TRACE_EVENTS:
        r = trace_read_events(reader, first, err);
        break;
    case TRACE_SACCT:
        r = trace_read_sacct(reader, first, err);
        break;
    default:
        r = trace_read_swf(reader, first, err);
    }
    if (r < 0)
        return r;
    drop_too_wide(reader);
    make_notes(reader);
    if (reader->trace->jobs.n == 0)
        return error_set(err, ERR_INVALID, "%s: none of %llu jobs can be replayed: %s",
                         lines_name(reader->lines), (unsigned long long) reader->trace->n_read,
                         reader->trace->notes.n ? reader->trace->notes.items[0] : "it is empty");
    trace_sort(reader->trace);
    return 0;
}

static int read_lines(struct trace *trace, struct lines *lines, enum trace_format format,
                      uint32_t procs, struct error *err) {
    struct trace_reader reader = {.trace = trace, .lines = lines, .procs = procs};
    int r = read_all(&reader, format, err);
    reader_done(&reader);
    return r;
}

int trace_read(struct trace *trace, const char *path, enum trace_format format, uint32_t procs,
               struct error *err) {
    struct lines *lines;
    int r = lines_open(path, &lines, err);
    return r < 0 ? r : read_lines(trace, lines, format, procs, err);
}

int trace_read_bytes(struct trace *trace, struct bytes text, const char *name,
                     enum trace_format format, uint32_t procs, struct error *err) {
    return read_lines(trace, lines_of_bytes(text, name), format, procs, err);
}
