/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Lua script of the site in a box: a Lua state of its own whose memory is limited and whose calls
 * have a limit of time. A script that goes on too long or takes too much is ended with an error
 * that names its file and line. The limit of time is looked at between Lua instructions: a C
 * function (os.execute, a pattern that takes for ever) is not interrupted; whoever cannot wait for
 * it runs the box in a process of its own and ends that.
 *
 * Scripts get Lua's whole standard library, as they are used to, and a few names of Lua 5.1 that
 * later versions dropped (unpack, loadstring, table.getn, math.pow).
 */
#ifndef SLUICE_LUA_BOX_H
#define SLUICE_LUA_BOX_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct lua_box;

struct lua_box_limits {
    size_t memory; /* bytes of the Lua state */
    uint64_t usec; /* of one call, or of running the file; 0 = none */
};

/* What a script says. level: 0 info, 1 verbose, 2 debug, 3 debug2 …, -1 error. */
struct lua_box_output {
    void (*log)(void *context, int level, const char *text);
    void (*user)(void *context,
                 const char *text); /* log_user; NULL: the script has no such function */
    void *context;
};

/* Makes the state with the standard library and the table `slurm`. `output` must live as long as
 * the box; `cluster` becomes slurm.CLUSTER_NAME. */
must_check int lua_box_new(const struct lua_box_limits *limits, const struct lua_box_output *output,
                           const char *cluster, struct lua_box **ret, struct error *err);
void lua_box_free(struct lua_box *box); /* NULL is ignored */

/* In both, ERR_LIMIT when it was ended for its time or its memory. */
/* Runs the file, which must then have defined all of these functions. */
must_check int lua_box_load(struct lua_box *box, const char *path, const char *const *functions,
                            size_t n_functions, struct error *err);
/* Calls a function of the script with what push_arguments returns, which gets `context` as light
 * userdata and is part of the call: it may raise errors, its time and memory count; NULL = without
 * arguments. *ret_code is the number that the function returned, INT_MIN for one that is no int,
 * 0 with *ret_is_number false when that was none. */
must_check int lua_box_call(struct lua_box *box, const char *function, lua_CFunction push_arguments,
                            void *context, int *ret_code, bool *ret_is_number, struct error *err);

#endif
