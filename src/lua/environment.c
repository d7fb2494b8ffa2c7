/* SPDX-License-Identifier: Apache-2.0 */
/* A block of variables as a table. */
#include "lua/environment.h"

#include <lauxlib.h>
#include <string.h>

#include "base/alloc.h"

struct variables {
    struct job_request *job;
    const struct lua_scope *scope;
    uint64_t serial;
};

static struct job_request *job_of(lua_State *lua) {
    struct variables *variables = lua_touserdata(lua, lua_upvalueindex(1));
    if (variables->serial != variables->scope->serial)
        luaL_error(lua, "environment is good only during the call that it was made for");
    return variables->job;
}

/* Where the variable stands, and how long it is without its NUL; NULL when it is not there. */
static const char *find(const struct blob *block, const char *name, size_t *ret_length) {
    size_t length = strlen(name);
    for (size_t at = 0; at < block->size;) {
        const char *entry = (const char *) block->data + at;
        size_t size = strnlen(entry, block->size - at);
        if (size > length && entry[length] == '=' && memcmp(entry, name, length) == 0) {
            *ret_length = size;
            return entry;
        }
        at += size + 1;
    }
    return NULL;
}

static int get(lua_State *lua) {
    size_t length;
    const char *name = luaL_checkstring(lua, 2);
    const char *entry = find(&job_of(lua)->environment, name, &length);
    if (entry == NULL)
        lua_pushnil(lua);
    else
        lua_pushlstring(lua, entry + strlen(name) + 1, length - strlen(name) - 1);
    return 1;
}

static void put(struct blob *block, const char *name, const char *value) {
    struct str next cleanup_str = STR_INIT;
    size_t length = 0;
    const char *entry = find(block, name, &length);
    size_t before = entry != NULL ? (size_t) (entry - (const char *) block->data) : block->size;
    size_t behind = entry != NULL ? before + length + 1 : block->size;
    str_append_bytes(&next, block->data, before);
    if (behind < block->size)
        str_append_bytes(&next, block->data + behind, block->size - behind);
    if (value != NULL) {
        str_printf(&next, "%s=%s", name, value);
        str_append_char(&next, '\0');
    }
    free(block->data);
    block->size = next.length;
    block->data = (uint8_t *) str_take(&next);
}

static int set(lua_State *lua) {
    struct job_request *job = job_of(lua);
    const char *name = luaL_checkstring(lua, 2);
    const char *value = lua_isnil(lua, 3) ? NULL : luaL_checkstring(lua, 3);
    if (name[0] == '\0' || strchr(name, '=') != NULL)
        return luaL_error(lua, "environment: \"%s\" cannot be a variable's name", name);
    size_t more = value != NULL ? strlen(name) + strlen(value) + 2 : 0;
    if (more > LUA_ENVIRONMENT_MAX || job->environment.size > LUA_ENVIRONMENT_MAX - more)
        return luaL_error(lua, "environment: %s would make it larger than %d MiB", name,
                          (int) (LUA_ENVIRONMENT_MAX >> 20));
    put(&job->environment, name, value);
    return 0;
}

/* pairs(): over a copy, so that the loop may change what it goes over. */
static int all(lua_State *lua) {
    const struct blob *block = &job_of(lua)->environment;
    lua_getglobal(lua, "next");
    lua_newtable(lua);
    for (size_t at = 0; at < block->size;) {
        const char *entry = (const char *) block->data + at;
        size_t size = strnlen(entry, block->size - at);
        const char *equal = memchr(entry, '=', size);
        if (equal != NULL) {
            lua_pushlstring(lua, entry, (size_t) (equal - entry));
            lua_pushlstring(lua, equal + 1, size - (size_t) (equal - entry) - 1);
            lua_rawset(lua, -3);
        }
        at += size + 1;
    }
    lua_pushnil(lua);
    return 3;
}

void lua_environment_push(lua_State *lua, struct job_request *job, const struct lua_scope *scope) {
    static const luaL_Reg functions[] = {
        {"__index", get}, {"__newindex", set}, {"__pairs", all}, {NULL, NULL}};
    luaL_checkstack(lua, 6, NULL);
    lua_newtable(lua);
    lua_newtable(lua);
    struct variables *variables = lua_newuserdatauv(lua, sizeof(*variables), 0);
    *variables = (struct variables) {job, scope, scope->serial};
    luaL_setfuncs(lua, functions, 1);
    lua_setmetatable(lua, -2);
}
