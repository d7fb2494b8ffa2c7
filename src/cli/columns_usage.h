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

/* ---- columns of both, in the order of their names ---- */
#define USAGE_COLUMN(name, width, print)                                                           \
    { 0, name, name, NULL, print, NULL, width, 0 }
/* clang-format off */
/* Bytes of disks are printed by the given two. */
#define USAGE_COLUMNS_AVE(disk_width, print_read, print_written) \
    USAGE_COLUMN("AveCPU", 10, usage_print_ave_cpu), \
    USAGE_COLUMN("AveCPUFreq", 10, usage_print_zero), \
    USAGE_COLUMN("AveDiskRead", disk_width, print_read), \
    USAGE_COLUMN("AveDiskWrite", disk_width, print_written), \
    USAGE_COLUMN("AvePages", 10, usage_print_ave_pages), \
    USAGE_COLUMN("AveRSS", 10, usage_print_ave_rss), \
    USAGE_COLUMN("AveVMSize", 10, usage_print_ave_vsize)
#define USAGE_COLUMNS_MAX(print_read, print_written) \
    USAGE_COLUMN("MaxDiskRead", 12, print_read), \
    USAGE_COLUMN("MaxDiskReadNode", 15, usage_print_max_read_node), \
    USAGE_COLUMN("MaxDiskReadTask", 15, usage_print_max_read_task), \
    USAGE_COLUMN("MaxDiskWrite", 12, print_written), \
    USAGE_COLUMN("MaxDiskWriteNode", 16, usage_print_max_written_node), \
    USAGE_COLUMN("MaxDiskWriteTask", 16, usage_print_max_written_task), \
    USAGE_COLUMN("MaxPages", 8, usage_print_max_pages), \
    USAGE_COLUMN("MaxPagesNode", 12, usage_print_max_pages_node), \
    USAGE_COLUMN("MaxPagesTask", 14, usage_print_max_pages_task), \
    USAGE_COLUMN("MaxRSS", 10, usage_print_max_rss), \
    USAGE_COLUMN("MaxRSSNode", 10, usage_print_max_rss_node), \
    USAGE_COLUMN("MaxRSSTask", 10, usage_print_max_rss_task), \
    USAGE_COLUMN("MaxVMSize", 10, usage_print_max_vsize), \
    USAGE_COLUMN("MaxVMSizeNode", 14, usage_print_max_vsize_node), \
    USAGE_COLUMN("MaxVMSizeTask", 14, usage_print_max_vsize_task)
#define USAGE_COLUMNS_MIN \
    USAGE_COLUMN("MinCPU", 10, usage_print_min_cpu), \
    USAGE_COLUMN("MinCPUNode", 10, usage_print_min_cpu_node), \
    USAGE_COLUMN("MinCPUTask", 10, usage_print_min_cpu_task)
#define USAGE_COLUMNS_TRES \
    USAGE_COLUMN("TRESUsageInAve", 14, usage_print_in_ave), \
    USAGE_COLUMN("TRESUsageInMax", 14, usage_print_in_max), \
    USAGE_COLUMN("TRESUsageInMaxNode", 18, usage_print_in_max_node), \
    USAGE_COLUMN("TRESUsageInMaxTask", 18, usage_print_in_max_task), \
    USAGE_COLUMN("TRESUsageInMin", 14, usage_print_in_min), \
    USAGE_COLUMN("TRESUsageInMinNode", 18, usage_print_in_min_node), \
    USAGE_COLUMN("TRESUsageInMinTask", 18, usage_print_in_min_task), \
    USAGE_COLUMN("TRESUsageInTot", 14, usage_print_in_tot), \
    USAGE_COLUMN("TRESUsageOutAve", 15, usage_print_out_ave), \
    USAGE_COLUMN("TRESUsageOutMax", 15, usage_print_out_max), \
    USAGE_COLUMN("TRESUsageOutMaxNode", 19, usage_print_out_max_node), \
    USAGE_COLUMN("TRESUsageOutMaxTask", 19, usage_print_out_max_task), \
    USAGE_COLUMN("TRESUsageOutMin", 15, usage_print_out_min), \
    USAGE_COLUMN("TRESUsageOutMinNode", 19, usage_print_out_min_node), \
    USAGE_COLUMN("TRESUsageOutMinTask", 19, usage_print_out_min_task), \
    USAGE_COLUMN("TRESUsageOutTot", 15, usage_print_out_tot)
/* clang-format on */

/* The step's figures of a kind, NULL = none; and a task's share of their sum. */
const struct usage_measure *usage_of_row(const struct acct_row *row, enum usage_kind kind);
uint64_t usage_average(const struct acct_row *row, const struct usage_measure *measure);

#endif
