/* SPDX-License-Identifier: Apache-2.0 */
/* job_desc.environment: a job's variables ("NAME=value", each ended by NUL) as a table. */
#ifndef SLUICE_LUA_ENVIRONMENT_H
#define SLUICE_LUA_ENVIRONMENT_H

#include "lua/value.h"

/* Bytes that a script may make of the environment, as of a batch script. */
#define LUA_ENVIRONMENT_MAX (16u << 20)

/* Pushes a table with __index, __newindex (nil removes) and __pairs. */
void lua_environment_push(lua_State *lua, struct job_request *job, const struct lua_scope *scope);

#endif
