/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of a replay: what its columns hold, and that it is well-formed. */
#include "sim/plot.h"

#include "base/alloc.h"
#include "sample.h"

#define REST " -1 -1 -1 -1 -1 -1\n"

static void plot_of(const char *text, const int64_t *starts, const char *title, struct str *out) {
    struct trace trace;
    struct sim_result result;
    sample_read(&trace, text, 4);
    sim_result_init(&result, &trace);
    result.procs = 4;
    for (size_t i = 0; i < trace.jobs.n; i++) {
        result.starts[i] = starts[i];
        result.ends[i] = starts[i] == SIM_NEVER ? SIM_NEVER : starts[i] + trace.jobs.items[i].run;
    }
    sim_plot(&trace, &result, title, out);
    sim_result_done(&result);
    trace_done(&trace);
}

static void has(const struct str *out, const char *words) {
    if (!strstr(out->data, words))
        fail_msg("there is no %s in\n%s", words, out->data);
}

/* Each < of an element has its end, by the few rules that the picture keeps. */
static void is_well_formed(const struct str *out) {
    int depth = 0;
    for (const char *p = strchr(out->data, '<'); p; p = strchr(p + 1, '<')) {
        const char *end = strchr(p, '>');
        assert_non_null(end);
        if (p[1] == '/')
            depth--;
        else if (end[-1] != '/')
            depth++;
        assert_true(depth >= 0);
    }
    assert_int_equal(depth, 0);
    assert_null(strstr(out->data, "nan"));
    assert_null(strstr(out->data, "inf"));
}

TEST(columns_hold_the_mean_of_their_time) {
    /* 872 s: a second a column. 2 of 4 processors for the first half, then all. */
    static const int64_t starts[] = {0, 436};
    cleanup_str struct str out = STR_INIT;
    plot_of("1 0 -1 436 2 -1 -1 2 500 -1 1 7" REST "2 0 -1 436 4 -1 -1 4 500 -1 1 7" REST, starts,
            "half", &out);
    is_well_formed(&out);
    has(&out, "class=\"busy\" d=\"M64 221.0V138.5h1V138.5h1");
    has(&out, "V138.5h1V56.0h1V56.0h1");
    /* One waits until the middle; the scale of its panel ends at 1. */
    has(&out, "class=\"queue\" d=\"M64 421.0V256.0h1");
    has(&out, "V256.0h1V421.0h1");
    has(&out, "minutes since the first submission");
}

TEST(a_title_cannot_break_the_picture) {
    static const int64_t starts[] = {0};
    cleanup_str struct str out = STR_INIT;
    plot_of("1 0 -1 5 2 -1 -1 2 500 -1 1 7" REST, starts, "</text><script>&\n", &out);
    is_well_formed(&out);
    has(&out, "&lt;/text>&lt;script>&amp;</text>");
}

TEST(jobs_that_never_start_wait_until_the_end) {
    static const int64_t starts[] = {SIM_NEVER, 90000};
    cleanup_str struct str out = STR_INIT;
    plot_of("1 0 -1 5 2 -1 -1 2 500 -1 1 7" REST "2 9 -1 900000 2 -1 -1 2 900000 -1 1 7" REST,
            starts, "one", &out);
    is_well_formed(&out);
    has(&out, "days since the first submission");
}

TEST(a_replay_without_length_has_a_picture) {
    static const int64_t starts[] = {SIM_NEVER};
    cleanup_str struct str out = STR_INIT;
    plot_of("1 0 -1 5 2 -1 -1 2 500 -1 1 7" REST, starts, "nothing", &out);
    is_well_formed(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_hold_the_mean_of_their_time),
        cmocka_unit_test(a_title_cannot_break_the_picture),
        cmocka_unit_test(jobs_that_never_start_wait_until_the_end),
        cmocka_unit_test(a_replay_without_length_has_a_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
