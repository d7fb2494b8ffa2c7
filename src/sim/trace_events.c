/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event files of a Slurm simulator (ubccr-slurm-simulator): a line an event,
 *
 *     -dt SECONDS -e submit_batch_job | -sim-walltime SECONDS SBATCH-OPTIONS SCRIPT
 *
 * SECONDS after -dt count from the beginning of the simulation. A job's number is its place among
 * the events.
 */
#include <string.h>

#include "base/alloc.h"
#include "cli/script.h"
#include "sim/trace_reader.h"

static const char *value_behind(const struct script_words *words, size_t n, const char *name) {
    for (size_t i = 0; i + 1 < n; i++)
        if (str_equal(words->words.items[i], name))
            return words->words.items[i + 1];
    return NULL;
}

static size_t find_bar(const struct script_words *words) {
    size_t i = 0;
    while (i < words->words.n && !str_equal(words->words.items[i], "|"))
        i++;
    return i;
}

static int read_words(struct trace_reader *reader, const struct script_words *words,
                      struct error *err) {
    static const char walltime[] = "-sim-walltime";
    size_t bar = find_bar(words), options = bar + 1;
    char *const *items = words->words.items;
    const char *when = value_behind(words, bar, "-dt"), *event = value_behind(words, bar, "-e");
    struct trace_job job = {.id = reader->trace->n_read};
    cleanup_str struct str why = STR_INIT;
    if (!when || !event || bar == words->words.n) {
        trace_fault(reader, FAULT_FIELDS, NULL);
        return 0;
    }
    if (!str_equal(event, "submit_batch_job")) {
        trace_fault(reader, FAULT_EVENT, event);
        return 0;
    }
    if (options + 1 >= words->words.n || !str_equal(items[options], walltime)) {
        trace_fault(reader, FAULT_FIELDS, "-sim-walltime SECONDS is missing behind the |");
        return 0;
    }
    if (!trace_seconds(when, &job.submit) || !trace_seconds(items[options + 1], &job.run)) {
        trace_fault(reader, FAULT_NUMBER, NULL);
        return 0;
    }
    options += 2;
    job.user = trace_user(reader, "nobody");
    if (!trace_request(reader, items + options, words->words.n - options, &job, &why)) {
        trace_fault(reader, FAULT_OPTIONS, str_cstr(&why));
        return 0;
    }
    return trace_add(reader, &job, err);
}

static int read_line(struct trace_reader *reader, const char *line, struct error *err) {
    struct script_words words = {0};
    struct script_fault fault;
    int r = 0;
    reader->trace->n_read++;
    if (script_split(line, strlen(line), &words, &fault))
        r = read_words(reader, &words, err);
    else
        trace_fault(reader, FAULT_FIELDS, "a quote is not closed");
    script_words_done(&words);
    return r;
}

int trace_read_events(struct trace_reader *reader, char *first, struct error *err) {
    int r = read_line(reader, first, err);
    char *line;
    if (r < 0)
        return r;
    while ((r = lines_next(reader->lines, &line, err)) > 0) {
        line = str_trim(line);
        if (*line && *line != '#' && (r = read_line(reader, line, err)) < 0)
            return r;
    }
    return r;
}
