/* SPDX-License-Identifier: Apache-2.0 */
/* A small cluster's records, for the tests of listings: they need no daemon. */
#ifndef SLUICE_UNIT_SAMPLE_H
#define SLUICE_UNIT_SAMPLE_H

#include <time.h>

#include "base/alloc.h"
#include "cli/list.h"
#include "model/job.h"
#include "model/node.h"
#include "text/duration.h"

/* 2026-11-30T12:00:00 UTC; tests run with TZ=UTC. */
#define SAMPLE_NOW 1796040000
#define T(text) ((char *) (uintptr_t) (text))

static inline struct column_env sample_env(void) {
    setenv("TZ", "UTC", 1);
    tzset();
    return (struct column_env) {.now = SAMPLE_NOW, .bits_max = 64, .cluster = "sample"};
}

static inline struct job sample_job(uint32_t id, const char *name) {
    struct job job;
    record_init(&record_job, &job);
    job.job_id = id;
    job.name = T(name);
    job.partition = T("main");
    job.uid = 1001;
    job.gid = 1001;
    job.user_name = T("alice");
    job.group_name = T("users");
    job.qos = T("normal");
    job.num_nodes = 1;
    job.num_cpus = 1;
    job.ntasks = 1;
    job.cpus_per_task = 1;
    job.mem_per_cpu = 100;
    job.time_limit = MINUTES_INFINITE;
    job.submit_time = SAMPLE_NOW - 3600;
    job.priority = 4294901000u - id;
    job.work_dir = T("/home/alice");
    job.command = T("/home/alice/run.sh");
    job.requeue = TRI_YES;
    job.tres_req = T("cpu=1,mem=100M,node=1,billing=1");
    return job;
}

static inline struct job sample_running(uint32_t id, const char *name, const char *nodes) {
    struct job job = sample_job(id, name);
    job.state = JOB_RUNNING;
    job.nodes = T(nodes);
    job.batch_host = T("n1");
    job.start_time = SAMPLE_NOW - 3723;
    job.eligible_time = job.submit_time;
    job.tres_alloc = job.tres_req;
    return job;
}

static inline struct node sample_node(const char *name, uint32_t index) {
    struct node node;
    record_init(&record_node, &node);
    node.name = node.hostname = T(name);
    node.address = T("127.0.0.1");
    node.index = index;
    node.state = NODE_IDLE;
    node.cpus = 8;
    node.boards = 1;
    node.sockets = 1;
    node.cores = 8;
    node.threads = 1;
    node.memory = 24000;
    node.weight = 1;
    node.cpu_load = 19 + index;
    node.free_mem = 23000 + index;
    node.version = T("26.05.3");
    return node;
}

static inline struct partition sample_partition(const char *name, const char *nodes,
                                                uint32_t index) {
    struct partition partition;
    record_init(&record_partition, &partition);
    partition.name = T(name);
    partition.nodes = T(nodes);
    partition.state = T("UP");
    partition.index = index;
    partition.max_time = MINUTES_INFINITE;
    partition.priority_tier = partition.priority_job_factor = 1;
    return partition;
}

/* Fails for a column that the manual's table does not have. */
#define check_manual(table, page)                                                                  \
    do {                                                                                           \
        struct str manual_ cleanup_str = STR_INIT;                                                 \
        manual_read(page, &manual_);                                                               \
        for (size_t i_ = 0; i_ < (table).n; i_++) {                                                \
            const struct column *column_ = &(table).rows[i_];                                      \
            if (column_->flags & COLUMN_HIDDEN)                                                    \
                continue;                                                                          \
            cleanup_free char *cell_ = xasprintf("  %s\n", column_->name);                         \
            if (!strstr(str_cstr(&manual_), cell_))                                                \
                fail_msg("%s lacks the column %s", page, column_->name);                           \
        }                                                                                          \
    } while (0)

#endif
