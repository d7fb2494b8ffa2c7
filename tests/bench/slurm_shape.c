/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_shape CONF TRACE: a replay under the pass of slurm_pass.c; the configuration's
 * SchedulerParameters mean what they mean to Slurm. */
#include "slurm_shape.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/conf_edit.h"
#include "sim/replay.h"

static int failed(const struct error *err) {
    fprintf(stderr, "slurm_shape: %s\n", err->text);
    return 1;
}

int main(int argc, char **argv) {
    struct conf_report report cleanup_conf_report = CONF_REPORT_INIT;
    struct str text cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    struct conf *conf = NULL;
    struct sim_notes notes = {0};
    struct sim_result result;
    struct sim_figures f;
    struct trace trace;
    trace_init(&trace);
    if (argc != 3) {
        fprintf(stderr, "usage: slurm_shape CONF TRACE\n");
        return 1;
    }
    if (sim_conf_read(argv[1], true, &conf, &report, &err) < 0 ||
        trace_read(&trace, argv[2], TRACE_GUESS, 0, &err) < 0)
        return failed(&err);
    slurm_shape = (struct slurm_shape) {.queue_depth = conf->scheduler.default_queue_depth,
                                        .jobs = conf->scheduler.bf_max_job_test,
                                        .jobs_of_user = conf->scheduler.bf_max_job_user,
                                        .interval = conf->scheduler.bf_interval,
                                        .window = (int64_t) conf->scheduler.bf_window * 60,
                                        .resolution = conf->scheduler.bf_resolution};
    sim_result_init(&result, &trace);
    if (sim_replay_conf(&trace, conf, NULL, &result, &notes, &err) < 0)
        return failed(&err);
    sim_notes_print(&notes, &text);
    fputs(str_cstr(&text), stderr);
    sim_figures(&trace, &result, &f);
    printf("jobs %llu started %llu mean_wait %.1f median %lld p95 %lld max %lld bsld %.2f "
           "utilisation %.4f passes %llu sha256 %.16s\n",
           (unsigned long long) f.n_jobs, (unsigned long long) f.n_started, f.mean_wait,
           (long long) f.median_wait, (long long) f.p95_wait, (long long) f.max_wait,
           f.mean_slowdown, f.utilisation, (unsigned long long) result.n_passes, f.sha256);
    sim_notes_done(&notes);
    sim_result_done(&result);
    trace_done(&trace);
    conf_free(conf);
    return 0;
}
