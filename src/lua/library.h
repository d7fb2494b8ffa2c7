/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table `slurm` that site scripts know: constants, logging, and what has no other place. The
 * names and numbers are those that existing scripts compare with; see doc/man/job_submit.lua.5.scd.
 */
#ifndef SLUICE_LUA_LIBRARY_H
#define SLUICE_LUA_LIBRARY_H

#include <lua.h>

#include "base/error.h"
#include "lua/box.h"

#define LUA_NO_VAL 4294967294u
#define LUA_NO_VAL16 65534u
#define LUA_NO_VAL64 18446744073709551614.0
#define LUA_INFINITE 4294967295u
#define LUA_MEM_PER_CPU 9223372036854775808.0
#define LUA_NICE_OFFSET 2147483648u

/* Inside a protected call. */
void lua_library_open(lua_State *lua, const struct lua_box_output *output, const char *cluster);

/* What a code that a script returned means: its own numbers (2048 for ESLURM_INVALID_LICENSES) and
 * -1 as our codes; others are ERR_GENERIC with *ret_unknown true. */
enum err lua_code_error(int code, bool *ret_unknown);

#endif
