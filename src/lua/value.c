/* SPDX-License-Identifier: Apache-2.0 */
/* One pair of functions per kind: the value that a script sees, and what it writes. */
#include "lua/value.h"

#include <lauxlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lua/environment.h"
#include "lua/kind.h"
#include "lua/library.h"

struct object {
    const struct lua_view *view;
    void *record;
    struct lua_scope *scope;
    uint64_t serial;
};

static struct object *object_of(lua_State *lua) {
    struct object *object = lua_touserdata(lua, lua_upvalueindex(1));
    if (object->serial != object->scope->serial)
        luaL_error(lua, "%s is good only during the call that it was made for", object->view->name);
    return object;
}

static const struct lua_row *row_find(const struct lua_view *view, const char *name) {
    for (size_t i = 0; name != NULL && i < view->n_rows; i++) {
        if (str_equal(view->rows[i].name, name))
            return &view->rows[i];
    }
    return NULL;
}

static int get(lua_State *lua) {
    struct object *object = object_of(lua);
    const struct lua_row *row = row_find(object->view, lua_tostring(lua, 2));
    if (row == NULL) {
        lua_pushnil(lua);
        return 1;
    }
    void *member = lua_row_member(object->view, row, object->record);
    lua_kind_push(lua, row, object->record, member, object->scope);
    return 1;
}

/* "job_desc has no field timelimit; did you mean time_limit?" */
static void tell_unknown(const struct object *object, const char *name) {
    const char **names = xcalloc(object->view->n_rows, sizeof(*names));
    for (size_t i = 0; i < object->view->n_rows; i++)
        names[i] = object->view->rows[i].name;
    const char *near = str_nearest(name, names, object->view->n_rows);
    free(names);
    const struct lua_box_output *output = object->scope->output;
    cleanup_free char *text = xasprintf(
        "%s.%.64s is no field and was not set%s%s%s", object->view->name, name,
        near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    output->log(output->context, -1, text);
}

static int set(lua_State *lua) {
    struct object *object = object_of(lua);
    const char *name = luaL_checkstring(lua, 2);
    const struct lua_row *row = row_find(object->view, name);
    if (!object->view->writable)
        return luaL_error(lua, "%s cannot be changed", object->view->name);
    if (row == NULL) {
        tell_unknown(object, name);
        return 0;
    }
    void *member = lua_row_member(object->view, row, object->record);
    const char *problem = lua_kind_take(lua, 3, row, object->record, member);
    if (problem != NULL)
        return luaL_error(lua, "%s.%s: %s", object->view->name, name, problem);
    return 0;
}

void lua_value_push(lua_State *lua, const struct lua_view *view, void *record,
                    struct lua_scope *scope) {
    luaL_checkstack(lua, 6, NULL);
    lua_newtable(lua);
    lua_newtable(lua); /* its metatable */
    struct object *object = lua_newuserdatauv(lua, sizeof(*object), 0);
    *object = (struct object) {view, record, scope, scope->serial};
    lua_pushvalue(lua, -1);
    lua_pushcclosure(lua, get, 1);
    lua_setfield(lua, -3, "__index");
    lua_pushcclosure(lua, set, 1);
    lua_setfield(lua, -2, "__newindex");
    lua_setmetatable(lua, -2);
}
