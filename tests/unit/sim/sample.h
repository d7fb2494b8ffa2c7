/* SPDX-License-Identifier: Apache-2.0 */
/* Traces in memory for the tests of readers and policies. */
#ifndef SLUICE_UNIT_SIM_SAMPLE_H
#define SLUICE_UNIT_SIM_SAMPLE_H

#include <string.h>

#include "sim/trace.h"
#include "unit.h"

static inline struct bytes sample_bytes(const char *text) {
    return (struct bytes) {(const uint8_t *) text, strlen(text)};
}

static inline int sample_try(struct trace *trace, const char *text, uint32_t procs,
                             struct error *err) {
    trace_init(trace);
    return trace_read_bytes(trace, sample_bytes(text), "sample", TRACE_GUESS, procs, err);
}

static inline void sample_read(struct trace *trace, const char *text, uint32_t procs) {
    struct error err = ERROR_INIT;
    if (sample_try(trace, text, procs, &err) < 0)
        fail_msg("%s", err.text);
}

/* Nothing can be read of `text`, and the complaint has `words` in it. */
static inline void sample_is_refused(const char *text, const char *words) {
    struct trace trace;
    struct error err = ERROR_INIT;
    assert_true(sample_try(&trace, text, 0, &err) < 0);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" has no \"%s\"", err.text, words);
    trace_done(&trace);
}

static inline void sample_has_note(const struct trace *trace, const char *note) {
    vec_each (&trace->notes, item)
        if (str_equal(*item, note))
            return;
    fail_msg("no note \"%s\"; the first is \"%s\"", note,
             trace->notes.n ? trace->notes.items[0] : "");
}

#endif
