/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of values, one by one. Private to src/lua. */
#ifndef SLUICE_LUA_KIND_H
#define SLUICE_LUA_KIND_H

#include "lua/value.h"

/* Where the row's member of a record of the view is; NULL when the row has none. */
void *lua_row_member(const struct lua_view *view, const struct lua_row *row, void *record);
/* Pushes exactly one value. `member` is the row's, NULL when it has none; `record` the whole. */
void lua_kind_push(lua_State *lua, const struct lua_row *row, void *record, void *member,
                   const struct lua_scope *scope);
/* Takes the value at `index`; NULL, or what is wrong with it. Text that cannot be meant raises a
 * Lua error of its own. */
const char *lua_kind_take(lua_State *lua, int index, const struct lua_row *row, void *record,
                          void *member);

#endif
