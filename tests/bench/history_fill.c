/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_fill FILE N DAYS: N ended jobs of 1,000 users, spread evenly over the DAYS before now,
 * into the store of a controller that is not running; numbered from 1,000,000 on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "core/effect.h"
#include "model/messages.h"
#include "os/loop.h"
#include "os/store.h"
#include "slurmctld/ctld.h"

#define FIRST_JOB 1000000
#define USERS 1000
#define BATCH 2000

static struct loop *loop;

static void stored(int code, const struct error *err, void *context) {
    if (code < 0) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
    if (context)
        loop_stop(loop, 0);
}

static char *text(const char *constant) {
    return (char *) (uintptr_t) constant;
}

static void add(struct store_batch *batch, uint32_t i, int64_t end) {
    struct job job;
    struct step step;
    struct acct_job record;
    struct str out cleanup_str = STR_INIT;
    char user[16];
    record_init(&record_job, &job);
    record_init(&record_step, &step);
    record_init(&record_acct_job, &record);
    snprintf(user, sizeof(user), "user%u", i % USERS);
    job.job_id = step.job_id = FIRST_JOB + i;
    job.name = text("train");
    job.user_name = user;
    job.group_name = text("users");
    job.uid = 10000 + i % USERS;
    job.account = text("physics");
    job.partition = text("main");
    job.qos = text("normal");
    job.state = step.state = JOB_COMPLETED;
    job.submit_time = job.eligible_time = end - 700;
    job.start_time = step.start_time = end - 600;
    job.end_time = step.end_time = end;
    job.nodes = step.nodes = text("n1");
    job.num_nodes = step.num_nodes = step.ntasks = 1;
    job.num_cpus = step.num_cpus = 4;
    job.time_limit = 60;
    job.tres_req = job.tres_alloc = text("cpu=4,mem=4G,node=1,billing=4");
    job.work_dir = text("/home/user");
    job.submit_line = text("sbatch train.sh");
    job.db_index = ((uint64_t) 1 << 40) + i;
    step.step_id = STEP_BATCH;
    step.name = text("batch");
    record.job = &job;
    record.steps.items = &step;
    record.steps.n = 1;
    wire_encode(&record_acct_job, &record, NULL, &out);
    struct store_history row = {.job_id = job.job_id,
                                .uid = job.uid,
                                .submit = job.submit_time,
                                .start = job.start_time,
                                .end = end,
                                .state = job.state,
                                .kind = HISTORY_RUN,
                                .data = str_bytes(&out)};
    store_batch_history(batch, &row);
}

int main(int argc, char **argv) {
    struct error err = ERROR_INIT;
    struct store *store;
    if (argc != 4) {
        fprintf(stderr, "usage: history_fill FILE N DAYS\n");
        return 1;
    }
    uint32_t n = (uint32_t) strtoul(argv[2], NULL, 10);
    int64_t span = strtol(argv[3], NULL, 10) * 86400, now = time(NULL);
    if (loop_new(&loop, &err) < 0 || store_open(argv[1], STORE_VERSION, loop, &store, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (uint32_t i = 0; i < n;) {
        struct store_batch *batch = store_batch_new();
        for (uint32_t k = 0; k < BATCH && i < n; k++, i++)
            add(batch, i, now - span + (int64_t) ((double) span * i / n));
        store_submit(store, batch, stored, i == n ? store : NULL);
        if (i % (50 * BATCH) == 0)
            store_flush(store);
    }
    int r = loop_run(loop, &err);
    store_close(store);
    loop_free(loop);
    return r < 0;
}
