/* SPDX-License-Identifier: Apache-2.0 */
/* The state, its memory, its time. */
#include "lua/box.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "lua/library.h"
#include "os/loop.h"

/* Instructions between two looks at the clock: some microseconds. */
#define HOOK_INSTRUCTIONS 10000

struct lua_box {
    lua_State *lua;
    struct lua_box_limits limits;
    size_t used;           /* bytes */
    uint64_t deadline;     /* of the call that runs, 0 = none */
    bool is_late, is_full; /* in the call that runs, time or memory was at its end */
};

static struct lua_box *box_of(lua_State *lua) {
    return *(struct lua_box **) lua_getextraspace(lua);
}

static void *box_alloc(void *context, void *old, size_t old_size, size_t new_size) {
    struct lua_box *box = context;
    if (old == NULL)
        old_size = 0; /* then it is the kind of object */
    if (new_size == 0) {
        free(old);
        box->used -= old_size;
        return NULL;
    }
    if (new_size > old_size && new_size - old_size > box->limits.memory - box->used) {
        box->is_full = true; /* Lua collects its garbage and tries again */
        return NULL;
    }
    void *grown = realloc(old, new_size);
    if (grown != NULL)
        box->used += new_size - old_size;
    return grown;
}

/* Once time is up, every instruction fails: a script that catches the error gets it again right
 * after, outside of what caught it. */
static void box_hook(lua_State *lua, lua_Debug *at) {
    struct lua_box *box = box_of(lua);
    if (box->deadline == 0 || loop_monotonic_usec() < box->deadline)
        return;
    box->is_late = true;
    lua_sethook(lua, box_hook, LUA_MASKCOUNT, 1);
    luaL_where(lua, 0);
    lua_pushfstring(lua, "ended after %d ms, which is all that it has",
                    (int) (box->limits.usec / 1000));
    lua_concat(lua, 2);
    lua_error(lua);
}

static void clock_start(struct lua_box *box) {
    box->is_late = box->is_full = false;
    if (box->limits.usec == 0)
        return;
    box->deadline = loop_monotonic_usec() + box->limits.usec;
    lua_sethook(box->lua, box_hook, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
}

static void clock_stop(struct lua_box *box) {
    box->deadline = 0;
    lua_sethook(box->lua, NULL, 0, 0);
}

/* The error on top of the stack, which may be anything, into err; takes it off. */
static int take_error(struct lua_box *box, int status, struct error *err) {
    const char *text = lua_tostring(box->lua, -1);
    if (status == LUA_ERRMEM)
        error_set(err, ERR_LIMIT, "not enough memory: it may have %zu MiB",
                  box->limits.memory >> 20);
    else if (text != NULL)
        error_set(err, box->is_late || box->is_full ? ERR_LIMIT : ERR_GENERIC, "%s", text);
    else
        error_set(err, ERR_GENERIC, "it has failed with an error that is a %s, not a text",
                  luaL_typename(box->lua, -1));
    lua_settop(box->lua, 0);
    return err != NULL ? err->code : -ERR_GENERIC;
}

static int fill_state(lua_State *lua) {
    luaL_openlibs(lua);
    lua_library_open(lua, lua_touserdata(lua, 1), lua_touserdata(lua, 2));
    return 0;
}

int lua_box_new(const struct lua_box_limits *limits, const struct lua_box_output *output,
                const char *cluster, struct lua_box **ret, struct error *err) {
    struct lua_box *box = zalloc(struct lua_box);
    box->limits = *limits;
    box->lua = lua_newstate(box_alloc, box);
    if (box->lua == NULL) {
        free(box);
        return error_set(err, ERR_LIMIT, "no Lua state fits into %zu bytes", limits->memory);
    }
    *(struct lua_box **) lua_getextraspace(box->lua) = box;
    lua_pushcfunction(box->lua, fill_state);
    lua_pushlightuserdata(box->lua, (void *) (uintptr_t) output);
    lua_pushlightuserdata(box->lua, (void *) (uintptr_t) cluster);
    int status = lua_pcall(box->lua, 2, 0, 0);
    if (status != LUA_OK) {
        int r = take_error(box, status, err);
        lua_box_free(box);
        return r;
    }
    *ret = box;
    return 0;
}

void lua_box_free(struct lua_box *box) {
    if (box == NULL)
        return;
    clock_start(box); /* for finalisers */
    lua_close(box->lua);
    free(box);
}

lua_State *lua_box_state(struct lua_box *box) {
    return box->lua;
}

int lua_box_load(struct lua_box *box, const char *path, const char *const *functions,
                 size_t n_functions, struct error *err) {
    int status = luaL_loadfile(box->lua, path);
    if (status == LUA_OK) {
        clock_start(box);
        status = lua_pcall(box->lua, 0, 0, 0);
        clock_stop(box);
    }
    if (status != LUA_OK)
        return take_error(box, status, err);
    for (size_t i = 0; i < n_functions; i++) {
        int type = lua_getglobal(box->lua, functions[i]);
        lua_pop(box->lua, 1);
        if (type != LUA_TFUNCTION)
            return error_set(err, ERR_CONFIG, "%s: it defines no function %s", path, functions[i]);
    }
    return 0;
}

int lua_box_call(struct lua_box *box, const char *function, int n_args, int *ret_code,
                 bool *ret_is_number, struct error *err) {
    lua_getglobal(box->lua, function);
    lua_insert(box->lua, -n_args - 1);
    clock_start(box);
    int status = lua_pcall(box->lua, n_args, 1, 0);
    clock_stop(box);
    if (status != LUA_OK)
        return take_error(box, status, err);
    int is_number = lua_type(box->lua, -1) == LUA_TNUMBER;
    *ret_code = is_number ? (int) lua_tonumber(box->lua, -1) : 0;
    *ret_is_number = is_number != 0;
    lua_settop(box->lua, 0);
    return 0;
}
