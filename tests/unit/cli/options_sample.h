/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of options share: options read from a line of words. */
#ifndef SLUICE_UNIT_OPTIONS_SAMPLE_H
#define SLUICE_UNIT_OPTIONS_SAMPLE_H

#include <string.h>

#include "base/alloc.h"
#include "cli/options.h"
#include "unit.h"

/* Noon of a Monday, UTC. */
#define SAMPLE_NOW 1796040000

struct sample {
    struct options options;
    struct option_uses uses;
    char *copy;
    vec(char *) words;
};

static inline void sample_init(struct sample *sample, enum option_command command) {
    memset(sample, 0, sizeof(*sample));
    options_init(&sample->options, command);
    sample->options.now = SAMPLE_NOW;
}

static inline void sample_done(struct sample *sample) {
    options_done(&sample->options);
    option_uses_done(&sample->uses);
    vec_done(&sample->words);
    free(sample->copy);
}
#define cleanup_sample cleanup(sample_done)

/* Applies the words of `line`; blanks separate them. Syntax must be right. */
static inline int sample_apply(struct sample *sample, const char *line, enum option_origin origin) {
    struct option_set set = option_set_of(sample->options.command, "test");
    cleanup_str struct str complaint = STR_INIT;
    option_uses_done(&sample->uses);
    vec_reset(&sample->words);
    free(sample->copy);
    sample->copy = xstrdup(line);
    char *cursor = sample->copy;
    for (char *word; (word = strsep(&cursor, " ")) != NULL;)
        if (*word)
            vec_push(&sample->words, word);
    if (!option_scan(&set, sample->words.items, sample->words.n, OPTION_STOP, &sample->uses,
                     &complaint))
        fail_msg("%s", complaint.data);
    return options_apply(&sample->options, &sample->uses, origin);
}

/* The whole way of a command line that must be right. */
static inline void sample_read(struct sample *sample, enum option_command command,
                               const char *line) {
    sample_init(sample, command);
    if (sample_apply(sample, line, OPTION_LINE) < 0 || options_finish(&sample->options) < 0)
        fail_msg("%s: %s", line, str_cstr(&sample->options.problem.text));
}

/* "STATUS raw|text" of a line that must be refused. */
static inline const char *sample_refusal(enum option_command command, const char *line) {
    static struct str out;
    cleanup_sample struct sample sample;
    sample_init(&sample, command);
    str_reset(&out);
    if (sample_apply(&sample, line, OPTION_LINE) == 0 && options_finish(&sample.options) == 0)
        return "accepted";
    const struct option_problem *problem = &sample.options.problem;
    str_printf(&out, "%d %s%s%s", problem->status, str_cstr(&problem->raw),
               problem->fatal ? "fatal " : "", str_cstr(&problem->text));
    return str_cstr(&out);
}

#endif
