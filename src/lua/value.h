/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as the tables that site scripts know: job_desc, a partition of part_list, job_rec. One
 * row per field: the name that scripts use, the record's member, and how the one becomes the other
 * (enum lua_kind). What has no row reads as nil; writing to it is told in the log and changes
 * nothing.
 *
 * Such a table is good for the call that it was made for; a script that keeps it gets an error when
 * it uses it later.
 */
#ifndef SLUICE_LUA_VALUE_H
#define SLUICE_LUA_VALUE_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "lua/box.h"
#include "model/job.h"
#include "model/node.h"
#include "schema/schema.h"

enum lua_kind {
    KIND_TEXT,      /* nil when there is none */
    KIND_LIST,      /* the same, and nil for ALL */
    KIND_TRES,      /* text; written, "gres:" becomes "gres/" */
    KIND_ARRAY,     /* text of --array */
    KIND_NUMBER,    /* as it is */
    KIND_ZERO,      /* 0, whatever it is */
    KIND_NOTHING,   /* NO_VAL */
    KIND_COUNT,     /* 0 is NO_VAL */
    KIND_COUNT16,   /* 0 is NO_VAL16 */
    KIND_OPT,       /* UNSET32 is NO_VAL */
    KIND_OPT_MOST,  /* UNSET32 is INFINITE */
    KIND_MINUTES,   /* unset is NO_VAL, infinite INFINITE */
    KIND_TIME,      /* seconds since the epoch */
    KIND_BOOL,      /* 0 or 1 */
    KIND_BOOL16,    /* 1, else NO_VAL16 */
    KIND_TRISTATE,  /* 0, 1, NO_VAL16 */
    KIND_NICE,      /* NICE_OFFSET + it; 0 is NO_VAL */
    KIND_DISK,      /* MiB, 0 is NO_VAL */
    KIND_MIB,       /* MiB, nil when there is none */
    KIND_GPU_COUNT, /* "gres/gpu:N" */
    KIND_GPU_MEM,
    /* of job_desc alone */
    KIND_MEM,      /* of a node, or MEM_PER_CPU + of a CPU; NO_VAL64 */
    KIND_MEM_NODE, /* nil when it was not asked for so */
    KIND_MEM_CPU,
    KIND_SHARED,
    KIND_PRIORITY, /* 0 holds the job */
    KIND_MIN_CPUS,
    KIND_SWITCHES,
    KIND_SWITCH_WAIT,
    KIND_ARGC,
    KIND_ARGV,
    KIND_SCRIPT,
    KIND_ENVIRONMENT,
    KIND_USER_ID,
    KIND_GROUP_ID,
    KIND_USER_NAME,
    /* of partitions alone */
    KIND_PART_STATE,
    KIND_PART_SHARE,
    KIND_PART_FLAGS,
    KIND_PART_MEM_NODE,
    /* of job_rec alone */
    KIND_REC_NICE, /* NICE_OFFSET + it, always */
};

struct lua_row {
    const char *name, *member;
    enum lua_kind kind;
    const char *update, *update_alias; /* key of scontrol update that sets it, or NULL */
};
struct lua_view {
    const char *name; /* "job_desc" */
    const struct lua_row *rows;
    size_t n_rows;
    const struct record *record;
    bool writable;
};
extern const struct lua_view lua_view_job_desc, lua_view_partition, lua_view_job_rec,
    lua_view_reservation;

/* What belongs to one call. `serial` counts up when it ends: its tables are then closed. */
struct lua_scope {
    uint64_t serial;
    uint32_t uid, gid;
    const char *user_name;
    const struct lua_box_output *output;
};

/* Pushes a table over the record, whose members are malloc-owned where the view is writable. */
void lua_value_push(lua_State *lua, const struct lua_view *view, void *object,
                    struct lua_scope *scope);

/* A change of a job as scontrol update writes it ("90" for TimeLimit), and such a value into a
 * request. False when the row has no such form, nothing is set, or the value cannot be read. */
bool lua_row_update_print(const struct lua_row *row, const struct job_request *job,
                          struct str *out);
bool lua_row_update_read(const struct lua_row *row, const char *value, struct job_request *job);

#endif
