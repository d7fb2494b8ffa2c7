/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_submit.lua: the script that looks at submissions and at changes of jobs. It defines
 * slurm_job_submit and slurm_job_modify. It is read again when the file has changed; one that
 * cannot be read then leaves the former one at work. Its global variables last as long as it does.
 */
#ifndef SLUICE_LUA_FILTER_H
#define SLUICE_LUA_FILTER_H

#include "lua/box.h"
#include "lua/filter_wire.h"

/* Lines that one call may say, to the log and to the user each, and the bytes of a line. */
#define FILTER_LINES_MAX 100
#define FILTER_LINE_MAX 1024

struct lua_filter;

/* Where slurm.jobs and slurm.reservations come from, when a script asks for them: fills a job_list
 * or reservation_list that lives in the arena. */
struct lua_filter_source {
    int (*ask)(void *context, enum filter_frame what, struct arena *memory, void *ret_list,
               struct error *err);
    void *context;
};

struct lua_filter *lua_filter_new(const char *path, const struct lua_box_limits *limits,
                                  const char *cluster, const struct lua_filter_source *source);
void lua_filter_free(struct lua_filter *filter);

/* Runs the script once. *ret is initialised by the caller and owns its members by malloc; when the
 * script has failed, it leaves the job as it was asked for. */
void lua_filter_run(struct lua_filter *filter, const struct filter_call *call,
                    const struct partition_list *partitions, struct filter_answer *ret);

#endif
