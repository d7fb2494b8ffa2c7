/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting, ordering and printing what was found in the configuration. */
#include "model/conf_report.h"

#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"

void conf_report_done(struct conf_report *report) {
    vec_each (report, finding) {
        free(finding->file);
        free(finding->text);
    }
    free(report->items);
    *report = (struct conf_report) CONF_REPORT_INIT;
}

void conf_report_vadd(struct conf_report *report, enum conf_severity severity, const char *file,
                      uint32_t line, const char *fmt, va_list args) {
    if (severity == CONF_SEVERITY_ERROR)
        report->n_errors++;
    if (report->n == CONF_REPORT_MAX) {
        report->cut = true;
        return;
    }
    struct conf_finding *finding = vec_add(report);
    finding->severity = severity;
    finding->file = xstrdup(file != NULL ? file : "");
    finding->line = line;
    finding->text = xvasprintf(fmt, args);
}

void conf_report_add(struct conf_report *report, enum conf_severity severity, const char *file,
                     uint32_t line, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    conf_report_vadd(report, severity, file, line, fmt, args);
    va_end(args);
}

/* The number of the file among those given, or else among those mentioned. */
static size_t file_rank(const struct conf_report *report, size_t end, const char *const *files,
                        size_t n_files) {
    const char *file = report->items[end].file;
    for (size_t i = 0; i < n_files; i++) {
        if (strcmp(files[i], file) == 0)
            return i;
    }
    size_t i = 0;
    while (i < end && strcmp(report->items[i].file, file) != 0)
        i++;
    return n_files + i;
}

/* What is about the file as a whole stands after what is about its lines. */
static uint32_t line_rank(const struct conf_finding *finding) {
    return finding->line != 0 ? finding->line : UINT32_MAX;
}

void conf_report_sort(struct conf_report *report, const char *const *files, size_t n_files) {
    if (report->n < 2)
        return;
    size_t *rank = xcalloc(report->n, sizeof(*rank));
    for (size_t i = 0; i < report->n; i++)
        rank[i] = file_rank(report, i, files, n_files);
    /* Insertion sort: stable, and the list is nearly in order and bounded. */
    for (size_t i = 1; i < report->n; i++) {
        struct conf_finding finding = report->items[i];
        size_t finding_rank = rank[i], j = i;
        while (j > 0 && (rank[j - 1] > finding_rank ||
                         (rank[j - 1] == finding_rank &&
                          line_rank(&report->items[j - 1]) > line_rank(&finding)))) {
            report->items[j] = report->items[j - 1];
            rank[j] = rank[j - 1];
            j--;
        }
        report->items[j] = finding;
        rank[j] = finding_rank;
    }
    free(rank);
}

void conf_finding_print(const struct conf_finding *finding, struct str *out) {
    if (finding->file[0] != '\0') {
        str_append(out, finding->file);
        if (finding->line != 0)
            str_printf(out, ":%u", finding->line);
        str_append(out, ": ");
    }
    str_append(out, finding->severity == CONF_SEVERITY_ERROR ? "error: " : "notice: ");
    str_append(out, finding->text);
}

void conf_report_print(const struct conf_report *report, struct str *out) {
    for (size_t i = 0; i < report->n; i++) {
        conf_finding_print(&report->items[i], out);
        str_append_char(out, '\n');
    }
    if (report->cut)
        str_printf(out, "only the first %d findings are shown\n", CONF_REPORT_MAX);
}
