/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations in memory for the tests of model/conf_….c: files are pairs of path and text, and a
 * reading keeps everything that came of it.
 *
 *     struct reading r = read_conf("SlurmctldPort=1 …");      // slurm.conf with what it must have
 *     assert_reported(&r, "error: SlurmctldPort: …");
 *     reading_done(&r);
 */
#ifndef SLUICE_TEST_CONF_H
#define SLUICE_TEST_CONF_H

#include "unit.h"

#include <string.h>

#include "base/alloc.h"
#include "model/conf.h"

struct memory_file {
    const char *path, *text;
};
struct memory_files {
    const struct memory_file *files;
    size_t n;
};

static inline int memory_read(void *context, const char *path, struct str *ret, struct error *err) {
    const struct memory_files *files = context;
    for (size_t i = 0; i < files->n; i++) {
        if (strcmp(files->files[i].path, path) == 0) {
            str_append(ret, files->files[i].text);
            return 0;
        }
    }
    return error_set(err, ERR_NOT_FOUND, "there is no file %s", path);
}

struct reading {
    struct conf *conf; /* NULL after an error */
    struct conf_report report;
    struct str text; /* the report, printed */
    struct error err;
    int result;
};

static inline struct reading read_files(const struct memory_file *files, size_t n,
                                        enum conf_role role) {
    struct memory_files memory = {files, n};
    struct conf_source source = {memory_read, &memory};
    struct reading reading = {.report = CONF_REPORT_INIT, .text = STR_INIT, .err = ERROR_INIT};
    reading.result =
        conf_load(&source, files[0].path, role, &reading.conf, &reading.report, &reading.err);
    conf_report_print(&reading.report, &reading.text);
    return reading;
}

/* A slurm.conf as given, read as slurmctld does. */
static inline struct reading read_bare(const char *text) {
    struct memory_file file = {"/etc/slurm/slurm.conf", text};
    return read_files(&file, 1, CONF_SLURMCTLD);
}

/* The text behind a first line with a cluster, a controller, a node and a partition, so that line 2
 * of the file is line 1 of the text. */
static inline struct reading read_conf_as(const char *text, enum conf_role role) {
    cleanup_free char *whole =
        xasprintf("ClusterName=test SlurmctldHost=head GresTypes=gpu NodeName=n1 CPUs=4 "
                  "RealMemory=1000\n%s\nPartitionName=main Nodes=n1 Default=YES\n",
                  text);
    struct memory_file file = {"/etc/slurm/slurm.conf", whole};
    return read_files(&file, 1, role);
}
static inline struct reading read_conf(const char *text) {
    return read_conf_as(text, CONF_SLURMCTLD);
}

/* slurm.conf as in read_conf, and a file beside it. */
static inline struct reading read_beside(const char *text, const char *name, const char *beside) {
    cleanup_free char *whole =
        xasprintf("ClusterName=test SlurmctldHost=head GresTypes=gpu NodeName=n[1-2] CPUs=4\n%s\n"
                  "PartitionName=main Nodes=n1 Default=YES\n",
                  text);
    cleanup_free char *path = xasprintf("/etc/slurm/%s", name);
    struct memory_file files[] = {{"/etc/slurm/slurm.conf", whole}, {path, beside}};
    return read_files(files, 2, CONF_SLURMCTLD);
}

static inline void reading_done(struct reading *reading) {
    conf_free(reading->conf);
    conf_report_done(&reading->report);
    str_done(&reading->text);
}

/* The report has this text somewhere. */
static inline void assert_reported(const struct reading *reading, const char *text) {
    if (strstr(str_cstr(&reading->text), text) == NULL)
        fail_msg("not in the report: %s\nthe report:\n%s", text, str_cstr(&reading->text));
}

/* Nothing was found, except that a key has no effect yet, and the configuration is there. */
static inline void assert_clean(const struct reading *reading) {
    static const char later[] = "has no effect yet";
    size_t n_other = 0;
    for (size_t i = 0; i < reading->report.n; i++)
        n_other += strstr(reading->report.items[i].text, later) == NULL;
    if (reading->result != 0 || n_other > 0)
        fail_msg("result %d %s; the report:\n%s", reading->result, reading->err.text,
                 str_cstr(&reading->text));
}

#endif
