/* SPDX-License-Identifier: Apache-2.0 */
/* What a step used, as sacct and sstat print it. Rows are struct acct_row; a row without figures
 * prints nothing. */
#ifndef SLUICE_CLI_COLUMNS_USAGE_H
#define SLUICE_CLI_COLUMNS_USAGE_H

#include "cli/columns_acct.h"
#include "model/usage.h"

/* X(kind, the kind's name in the functions below) */
#define USAGE_COLUMN_KINDS(X)                                                                      \
    X(USAGE_CPU, cpu)                                                                              \
    X(USAGE_RSS, rss)                                                                              \
    X(USAGE_VSIZE, vsize)                                                                          \
    X(USAGE_PAGES, pages)                                                                          \
    X(USAGE_READ, read)                                                                            \
    X(USAGE_WRITTEN, written)

#define USAGE_PRINTER(name)                                                                        \
    void name(const void *data, const void *member, struct column_env *env, struct str *out);
#define X(kind, name)                                                                              \
    USAGE_PRINTER(usage_print_max_##name)                                                          \
    USAGE_PRINTER(usage_print_max_##name##_node)                                                   \
    USAGE_PRINTER(usage_print_max_##name##_task)                                                   \
    USAGE_PRINTER(usage_print_ave_##name)
USAGE_COLUMN_KINDS(X)
#undef X
USAGE_PRINTER(usage_print_min_cpu)
USAGE_PRINTER(usage_print_min_cpu_node)
USAGE_PRINTER(usage_print_min_cpu_task)
/* "cpu=00:00:01,energy=0,fs/disk=…": what went in, what went out. */
USAGE_PRINTER(usage_print_in_ave)
USAGE_PRINTER(usage_print_in_max)
USAGE_PRINTER(usage_print_in_max_node)
USAGE_PRINTER(usage_print_in_max_task)
USAGE_PRINTER(usage_print_in_min)
USAGE_PRINTER(usage_print_in_min_node)
USAGE_PRINTER(usage_print_in_min_task)
USAGE_PRINTER(usage_print_in_tot)
USAGE_PRINTER(usage_print_out_ave)
USAGE_PRINTER(usage_print_out_max)
USAGE_PRINTER(usage_print_out_max_node)
USAGE_PRINTER(usage_print_out_max_task)
USAGE_PRINTER(usage_print_out_min)
USAGE_PRINTER(usage_print_out_min_node)
USAGE_PRINTER(usage_print_out_min_task)
USAGE_PRINTER(usage_print_out_tot)
/* CPU frequency and energy are not measured: 0 where there is anything. */
USAGE_PRINTER(usage_print_zero)
#undef USAGE_PRINTER

/* The step's figures of a kind, NULL = none; and a task's share of their sum. */
const struct usage_measure *usage_of_row(const struct acct_row *row, enum usage_kind kind);
uint64_t usage_average(const struct acct_row *row, const struct usage_measure *measure);

#endif
