/* SPDX-License-Identifier: Apache-2.0 */
#include "sim_conf.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static int read_text(void *context, const char *path, struct str *ret, struct error *err) {
    if (strstr(path, "slurm.conf") == NULL)
        return error_set(err, ERR_NOT_FOUND, "no file %s", path);
    str_printf(ret,
               "ClusterName=test\nSlurmctldHost=localhost\nStateSaveLocation=/tmp\n"
               "SlurmUser=root\n%s",
               (const char *) context);
    return 0;
}

struct conf *sim_conf(const char *lines) {
    struct conf_report report = CONF_REPORT_INIT;
    struct error err = ERROR_INIT;
    const struct conf_source source = {read_text, (void *) (uintptr_t) lines};
    struct conf *conf;
    if (conf_load(&source, "/etc/slurm/slurm.conf", CONF_SLURMCTLD, &conf, &report, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    conf_report_done(&report);
    return conf;
}

void sim_request(struct job_request *ret, uint32_t ntasks, uint32_t minutes) {
    record_init(&record_job_request, ret);
    ret->name = (char *) (uintptr_t) "sim";
    ret->work_dir = (char *) (uintptr_t) "/tmp";
    ret->ntasks = ntasks;
    ret->time_limit = minutes;
}
