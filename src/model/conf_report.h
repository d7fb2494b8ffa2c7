/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reading of the configuration found: every problem with its file and line, in the order of
 * the files. The report owns its texts.
 */
#ifndef SLUICE_MODEL_CONF_REPORT_H
#define SLUICE_MODEL_CONF_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum conf_severity {
    CONF_SEVERITY_NOTICE, /* accepted; something to know */
    CONF_SEVERITY_ERROR,  /* a daemon does not start with it */
};

struct conf_finding {
    enum conf_severity severity;
    char *file;    /* path as it was opened; "" when the finding is about no line */
    uint32_t line; /* 0: the file as a whole */
    char *text;
};
struct conf_report {
    struct conf_finding *items;
    size_t n, capacity;
    size_t n_errors;
    bool cut; /* more than CONF_REPORT_MAX were found */
};
#define CONF_REPORT_INIT                                                                           \
    { NULL, 0, 0, 0, false }
#define CONF_REPORT_MAX 1000

void conf_report_done(struct conf_report *report);
#define cleanup_conf_report __attribute__((__cleanup__(conf_report_done)))
void conf_report_add(struct conf_report *report, enum conf_severity severity, const char *file,
                     uint32_t line, const char *fmt, ...) printf_like(5, 6);
void conf_report_vadd(struct conf_report *report, enum conf_severity severity, const char *file,
                      uint32_t line, const char *fmt, va_list args) printf_like(5, 0);
/* Orders by file as in `files` (others after them, as mentioned), then by line; what is about a
 * file as a whole stands after what is about its lines. */
void conf_report_sort(struct conf_report *report, const char *const *files, size_t n_files);
/* One finding as `file:line: error: text` or `file:line: notice: text`. */
void conf_finding_print(const struct conf_finding *finding, struct str *out);
/* All findings, a line each. */
void conf_report_print(const struct conf_report *report, struct str *out);

#endif
