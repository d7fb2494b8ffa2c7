/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `sacct -P` prints: a line of column names, then a line a job, with '|' between the fields.
 * Steps, known by a '.' in their number, are passed over. A job becomes the request that sbatch
 * would have sent, as far as accounting knows it: memory and GRES are kept as sums over the job's
 * nodes and are divided again.
 */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/trace_reader.h"
#include "text/duration.h"
#include "text/size.h"
#include "text/timestamp.h"

enum sacct_column {
    COLUMN_ID,
    COLUMN_RAW_ID,
    COLUMN_USER,
    COLUMN_SUBMIT,
    COLUMN_START,
    COLUMN_END,
    COLUMN_ELAPSED,
    COLUMN_ELAPSED_RAW,
    COLUMN_LIMIT,
    COLUMN_LIMIT_RAW,
    COLUMN_REQ_CPUS,
    COLUMN_ALLOC_CPUS,
    COLUMN_CPUS,
    COLUMN_NODES,
    COLUMN_REQ_NODES,
    COLUMN_MEMORY,
    COLUMN_TRES,
    COLUMN_NAME,
    COLUMN_PARTITION,
    COLUMN_QOS,
    COLUMN_ACCOUNT,
    COLUMN_FEATURES,
    COLUMN_LICENSES,
    COLUMN_RESERVATION,
    COLUMN_COUNT
};
static const char *const column_names[COLUMN_COUNT] = {
    [COLUMN_ID] = "JobID",
    [COLUMN_RAW_ID] = "JobIDRaw",
    [COLUMN_USER] = "User",
    [COLUMN_SUBMIT] = "Submit",
    [COLUMN_START] = "Start",
    [COLUMN_END] = "End",
    [COLUMN_ELAPSED] = "Elapsed",
    [COLUMN_ELAPSED_RAW] = "ElapsedRaw",
    [COLUMN_LIMIT] = "Timelimit",
    [COLUMN_LIMIT_RAW] = "TimelimitRaw",
    [COLUMN_REQ_CPUS] = "ReqCPUS",
    [COLUMN_ALLOC_CPUS] = "AllocCPUS",
    [COLUMN_CPUS] = "NCPUS",
    [COLUMN_NODES] = "NNodes",
    [COLUMN_REQ_NODES] = "ReqNodes",
    [COLUMN_MEMORY] = "ReqMem",
    [COLUMN_TRES] = "ReqTRES",
    [COLUMN_NAME] = "JobName",
    [COLUMN_PARTITION] = "Partition",
    [COLUMN_QOS] = "QOS",
    [COLUMN_ACCOUNT] = "Account",
    [COLUMN_FEATURES] = "Constraints",
    [COLUMN_LICENSES] = "Licenses",
    [COLUMN_RESERVATION] = "Reservation",
};

/* One of each row must be among the columns. */
static const int8_t needed[][4] = {
    {COLUMN_ID, COLUMN_RAW_ID, -1},
    {COLUMN_USER, -1},
    {COLUMN_SUBMIT, -1},
    {COLUMN_ELAPSED_RAW, COLUMN_ELAPSED, COLUMN_END, -1},
    {COLUMN_LIMIT, COLUMN_LIMIT_RAW, -1},
    {COLUMN_TRES, COLUMN_REQ_CPUS, COLUMN_ALLOC_CPUS, COLUMN_CPUS},
};
#define WANTED                                                                                     \
    "sacct -a -X -P -o JobIDRaw,User,Submit,Start,End,ElapsedRaw,Timelimit,ReqTRES,ReqNodes,"      \
    "Partition,QOS,Account,Constraints,JobName"

struct sacct {
    struct trace_reader *reader;
    int places[COLUMN_COUNT]; /* among the fields; -1 = not there */
    size_t n_fields;
    vec(char *) fields; /* of the present line */
    vec(char *) words;  /* of the request, owned */
};

static void split(struct sacct *sacct, char *line) {
    vec_reset(&sacct->fields);
    for (char *field; (field = strsep(&line, "|")) != NULL;)
        vec_push(&sacct->fields, str_trim(field));
}

static bool has_one_of(const struct sacct *sacct, const int8_t *row) {
    for (size_t i = 0; i < 4 && row[i] >= 0; i++)
        if (sacct->places[row[i]] >= 0)
            return true;
    return false;
}

static int read_header(struct sacct *sacct, char *line, struct error *err) {
    split(sacct, line);
    sacct->n_fields = sacct->fields.n;
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        sacct->places[column] = -1;
        for (size_t i = 0; i < sacct->fields.n; i++)
            if (str_equal_nocase(sacct->fields.items[i], column_names[column]))
                sacct->places[column] = (int) i;
    }
    for (size_t i = 0; i < countof(needed); i++)
        if (!has_one_of(sacct, needed[i]))
            return error_set(err, ERR_INVALID,
                             "%s:%llu: the line of column names has no column %s; this gives all "
                             "that is wanted: %s",
                             lines_name(sacct->reader->lines),
                             (unsigned long long) lines_number(sacct->reader->lines),
                             column_names[needed[i][0]], WANTED);
    return 0;
}

/* What stands in a column; "" for what says nothing. */
static const char *field(const struct sacct *sacct, enum sacct_column column) {
    static const char *const nothing[] = {"Unknown", "None", "(null)", "None assigned"};
    if (sacct->places[column] < 0)
        return "";
    const char *text = sacct->fields.items[sacct->places[column]];
    for (size_t i = 0; i < countof(nothing); i++)
        if (str_equal_nocase(text, nothing[i]))
            return "";
    return text;
}

/* ---- the request ---- */

static void add_word(struct sacct *sacct, const char *fmt, ...) printf_like(2, 3);
static void add_word(struct sacct *sacct, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vec_push(&sacct->words, xvasprintf(fmt, args));
    va_end(args);
}

static void add_text(struct sacct *sacct, const char *option, enum sacct_column column) {
    const char *text = field(sacct, column);
    if (*text)
        add_word(sacct, "--%s=%s", option, text);
}

static void clear_words(struct sacct *sacct) {
    vec_each (&sacct->words, word)
        free(*word);
    vec_reset(&sacct->words);
}

static uint64_t number_in(const struct sacct *sacct, const enum sacct_column *columns, size_t n) {
    uint64_t value;
    for (size_t i = 0; i < n; i++)
        if (str_to_u64(field(sacct, columns[i]), &value) && value > 0)
            return value;
    return 0;
}

/* "cpu=4,mem=8G,node=1,gres/gpu=2,gres/gpu:a100=2": the value behind a name, or NULL. */
static const char *tres_value(const char *item, const char *name) {
    size_t length = strlen(name);
    return strncmp(item, name, length) == 0 && item[length] == '=' ? item + length + 1 : NULL;
}

/* Is there a typed item of the same name, which says more? */
static bool typed_too(const char *tres, const char *item) {
    cleanup_free char *typed = xasprintf("%.*s:", (int) strcspn(item, "="), item);
    return strstr(tres, typed) != NULL;
}

static void add_gres(struct sacct *sacct, const char *tres, const char *item, uint64_t nodes) {
    const char *name = item + strlen("gres/");
    size_t length = strcspn(name, "=");
    uint64_t count;
    if (!name[length] || !str_to_u64(name + length + 1, &count) || count == 0)
        return;
    if (!memchr(name, ':', length) && typed_too(tres, item))
        return;
    if (str_starts(name, "gpu:"))
        add_word(sacct, "--gpus=%.*s:%llu", (int) length - 4, name + 4, (unsigned long long) count);
    else if (str_starts(name, "gpu="))
        add_word(sacct, "--gpus=%llu", (unsigned long long) count);
    else
        add_word(sacct, "--gres=%.*s:%llu", (int) length, name,
                 (unsigned long long) ((count + nodes - 1) / nodes));
}

static void add_memory(struct sacct *sacct, const char *text, uint64_t nodes) {
    uint64_t mib;
    if (text && *text && mem_read(text, &mib, NULL) == 0 && mib > 0)
        add_word(sacct, "--mem=%lluM", (unsigned long long) ((mib + nodes - 1) / nodes));
}

static void add_sizes(struct sacct *sacct) {
    static const enum sacct_column node_columns[] = {COLUMN_REQ_NODES, COLUMN_NODES};
    static const enum sacct_column cpu_columns[] = {COLUMN_REQ_CPUS, COLUMN_ALLOC_CPUS,
                                                    COLUMN_CPUS};
    const char *tres = field(sacct, COLUMN_TRES), *memory = field(sacct, COLUMN_MEMORY);
    uint64_t nodes = number_in(sacct, node_columns, countof(node_columns));
    uint64_t cpus = number_in(sacct, cpu_columns, countof(cpu_columns));
    cleanup_free char *copy = xstrdup(tres);
    char *cursor = copy;
    vec(char *) items = {0};
    for (char *item; (item = str_next_word(&cursor, ",")) != NULL;) {
        const char *value;
        uint64_t count;
        vec_push(&items, item);
        if ((value = tres_value(item, "node")) && str_to_u64(value, &count) && count)
            nodes = count;
        if ((value = tres_value(item, "cpu")) && str_to_u64(value, &count))
            cpus = count;
        if ((value = tres_value(item, "mem")))
            memory = value;
    }
    nodes = max_of(nodes, (uint64_t) 1);
    vec_each (&items, item)
        if (str_starts(*item, "gres/"))
            add_gres(sacct, tres, *item, nodes);
    vec_done(&items);
    add_memory(sacct, memory, nodes);
    add_word(sacct, "--nodes=%llu", (unsigned long long) nodes);
    if (cpus)
        add_word(sacct, "--ntasks=%llu", (unsigned long long) max_of(cpus, nodes));
}

static void add_limit(struct sacct *sacct) {
    const char *limit = field(sacct, COLUMN_LIMIT);
    if (!*limit)
        limit = field(sacct, COLUMN_LIMIT_RAW);
    if (*limit && !str_equal_nocase(limit, "Partition_Limit") &&
        !str_equal_nocase(limit, "UNLIMITED"))
        add_word(sacct, "--time=%s", limit);
}

/* ---- a job ---- */

static bool read_time(const struct sacct *sacct, enum sacct_column column, int64_t *ret) {
    const char *text = field(sacct, column);
    if (!isdigit((unsigned char) *text))
        return false;
    return strchr(text, '-') ? timestamp_parse(text, 0, true, ret, NULL) == 0
                             : trace_seconds(text, ret);
}

/* False: the end is not known. A job that ended and has no start never ran. */
static bool read_run(const struct sacct *sacct, int64_t *ret_run) {
    int64_t start, end;
    uint64_t seconds;
    *ret_run = 0;
    if (sacct->places[COLUMN_END] >= 0 && !read_time(sacct, COLUMN_END, &end))
        return false;
    if (sacct->places[COLUMN_START] >= 0 && !read_time(sacct, COLUMN_START, &start))
        return true;
    if (trace_seconds(field(sacct, COLUMN_ELAPSED_RAW), ret_run))
        return true;
    if (*field(sacct, COLUMN_ELAPSED) &&
        duration_parse(field(sacct, COLUMN_ELAPSED), &seconds, NULL) == 0 &&
        seconds < TRACE_TIME_MAX)
        *ret_run = (int64_t) seconds;
    else if (sacct->places[COLUMN_END] >= 0 && sacct->places[COLUMN_START] >= 0)
        *ret_run = end - start;
    return true;
}

/* Tasks of an array have numbers of their own only in JobIDRaw. */
static bool read_id(struct sacct *sacct, uint64_t *ret_id) {
    const char *raw = field(sacct, COLUMN_RAW_ID), *text = *raw ? raw : field(sacct, COLUMN_ID);
    if (!str_read_u64(&text, ret_id))
        return false;
    if (*text == '_')
        trace_fault(sacct->reader, FAULT_SHARED_ID, NULL);
    return *text == '\0' || *text == '_' || *text == '+';
}

static bool is_step(const struct sacct *sacct) {
    return strchr(field(sacct, COLUMN_ID), '.') || strchr(field(sacct, COLUMN_RAW_ID), '.');
}

static int read_job(struct sacct *sacct, struct error *err) {
    struct trace_reader *reader = sacct->reader;
    struct trace_job job = {0};
    cleanup_str struct str why = STR_INIT;
    reader->trace->n_read++;
    if (!read_id(sacct, &job.id)) {
        trace_fault(reader, FAULT_NUMBER, "the job has no number");
        return 0;
    }
    if (!read_time(sacct, COLUMN_SUBMIT, &job.submit)) {
        trace_fault(reader, FAULT_SUBMIT, NULL);
        return 0;
    }
    if (!read_run(sacct, &job.run)) {
        trace_fault(reader, FAULT_RUNNING, NULL);
        return 0;
    }
    const char *user = field(sacct, COLUMN_USER);
    job.user = trace_user(reader, *user ? user : "nobody");
    add_sizes(sacct);
    add_limit(sacct);
    add_text(sacct, "job-name", COLUMN_NAME);
    add_text(sacct, "partition", COLUMN_PARTITION);
    add_text(sacct, "qos", COLUMN_QOS);
    add_text(sacct, "account", COLUMN_ACCOUNT);
    add_text(sacct, "constraint", COLUMN_FEATURES);
    add_text(sacct, "licenses", COLUMN_LICENSES);
    add_text(sacct, "reservation", COLUMN_RESERVATION);
    if (trace_request(reader, sacct->words.items, sacct->words.n, &job, &why))
        return trace_add(reader, &job, err);
    trace_fault(reader, FAULT_OPTIONS, str_cstr(&why));
    return 0;
}

static int read_rows(struct sacct *sacct, char *first, struct error *err) {
    int r = read_header(sacct, first, err);
    char *line;
    if (r < 0)
        return r;
    while ((r = lines_next(sacct->reader->lines, &line, err)) > 0) {
        if (*str_trim(line) == '\0')
            continue;
        split(sacct, line);
        if (sacct->fields.n != sacct->n_fields) {
            sacct->reader->trace->n_read++;
            trace_fault(sacct->reader, FAULT_FIELDS, NULL);
        } else if (!is_step(sacct) && (r = read_job(sacct, err)) < 0) {
            return r;
        }
        clear_words(sacct);
    }
    return r;
}

int trace_read_sacct(struct trace_reader *reader, char *first, struct error *err) {
    struct sacct sacct = {.reader = reader};
    int r = read_rows(&sacct, first, err);
    clear_words(&sacct);
    vec_done(&sacct.words);
    vec_done(&sacct.fields);
    return r;
}
