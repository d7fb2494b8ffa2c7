/* SPDX-License-Identifier: Apache-2.0 */
/* The state, its memory, its time. */
#include "lua/box.h"

#include <lauxlib.h>
#include <limits.h>
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
    size_t used;       /* bytes */
    uint64_t deadline; /* of the call that runs, 0 = none */
    bool is_late;      /* the time of the call that runs was at its end */
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
    if (new_size > old_size && new_size - old_size > box->limits.memory - box->used)
        return NULL; /* Lua collects its garbage and tries again */
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
    box->is_late = false;
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
        error_set(err, box->is_late ? ERR_LIMIT : ERR_GENERIC, "%s", text);
    else
        error_set(err, ERR_GENERIC, "it has failed with an error that is a %s, not a text",
                  luaL_typename(box->lua, -1));
    lua_settop(box->lua, 0);
    return err != NULL ? err->code : -ERR_GENERIC;
}

/* Runs the C function with `context` as its only argument, within the limits. Whatever can raise an
 * error of Lua's happens in such a function: outside of one it would end the program. */
static int run_protected(struct lua_box *box, lua_CFunction function, void *context,
                         struct error *err) {
    lua_settop(box->lua, 0);
    lua_pushcfunction(box->lua, function);
    lua_pushlightuserdata(box->lua, context);
    clock_start(box);
    int status = lua_pcall(box->lua, 1, 0, 0);
    clock_stop(box);
    return status == LUA_OK ? 0 : take_error(box, status, err);
}

struct opening {
    const struct lua_box_output *output;
    const char *cluster;
};

static int fill_state(lua_State *lua) {
    const struct opening *opening = lua_touserdata(lua, 1);
    luaL_openlibs(lua);
    lua_library_open(lua, opening->output, opening->cluster);
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
    struct opening opening = {output, cluster};
    int r = run_protected(box, fill_state, &opening, err);
    if (r < 0) {
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

struct loading {
    const char *path;
    const char *const *functions;
    size_t n_functions;
    const char *missing; /* the first of them that is not there */
};

static int load_file(lua_State *lua) {
    struct loading *loading = lua_touserdata(lua, 1);
    if (luaL_loadfile(lua, loading->path) != LUA_OK)
        return lua_error(lua);
    lua_call(lua, 0, 0);
    for (size_t i = 0; i < loading->n_functions && loading->missing == NULL; i++) {
        if (lua_getglobal(lua, loading->functions[i]) != LUA_TFUNCTION)
            loading->missing = loading->functions[i];
    }
    return 0;
}

int lua_box_load(struct lua_box *box, const char *path, const char *const *functions,
                 size_t n_functions, struct error *err) {
    struct loading loading = {path, functions, n_functions, NULL};
    int r = run_protected(box, load_file, &loading, err);
    if (r == 0 && loading.missing != NULL)
        r = error_set(err, ERR_CONFIG, "%s: it defines no function %s", path, loading.missing);
    return r;
}

struct calling {
    const char *function;
    lua_CFunction push_arguments;
    void *context;
    int code;
    bool is_number;
};

static int call_function(lua_State *lua) {
    struct calling *calling = lua_touserdata(lua, 1);
    lua_settop(lua, 0);
    lua_getglobal(lua, calling->function);
    if (calling->push_arguments != NULL) {
        lua_pushcfunction(lua, calling->push_arguments);
        lua_pushlightuserdata(lua, calling->context);
        lua_call(lua, 1, LUA_MULTRET);
    }
    lua_call(lua, lua_gettop(lua) - 1, 1);
    calling->is_number = lua_type(lua, -1) == LUA_TNUMBER;
    lua_Number code = calling->is_number ? lua_tonumber(lua, -1) : 0;
    calling->code = code >= INT_MIN && code <= INT_MAX ? (int) code : INT_MIN;
    return 0;
}

int lua_box_call(struct lua_box *box, const char *function, lua_CFunction push_arguments,
                 void *context, int *ret_code, bool *ret_is_number, struct error *err) {
    struct calling calling = {function, push_arguments, context, 0, false};
    int r = run_protected(box, call_function, &calling, err);
    if (r < 0)
        return r;
    *ret_code = calling.code;
    *ret_is_number = calling.is_number;
    return 0;
}
