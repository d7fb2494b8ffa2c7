/* SPDX-License-Identifier: Apache-2.0 */
/* slurm.…: constants, logging, time_str2mins, and what Lua 5.1 had. */
#include "lua/library.h"

#include <lauxlib.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "model/enums.h"
#include "text/duration.h"

/* clang-format off */
#define CODES(X)                                                                                   \
    X(ESLURM_ACCESS_DENIED, 2002, ACCESS_DENIED)                                                   \
    X(ESLURM_INVALID_PARTITION_NAME, 2000, INVALID_PARTITION)                                      \
    X(ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE, 2014, NODE_CONFIG)                                 \
    X(ESLURM_TOO_MANY_REQUESTED_CPUS, 2003, TOO_MANY_CPUS)                                         \
    X(ESLURM_INVALID_NODE_COUNT, 2006, NODE_COUNT)                                                 \
    X(ESLURM_JOB_MISSING_SIZE_SPECIFICATION, 2008, CPU_COUNT)                                      \
    X(ESLURM_INVALID_JOB_ID, 2017, INVALID_JOB_ID)                                                 \
    X(ESLURM_INVALID_NODE_NAME, 2018, INVALID_NODE)                                                \
    X(ESLURM_JOB_HELD, 2042, JOB_HELD)                                                             \
    X(ESLURM_INVALID_ACCOUNT, 2045, INVALID_ACCOUNT)                                               \
    X(ESLURM_INVALID_LICENSES, 2048, INVALID_LICENSE)                                              \
    X(ESLURM_ACCOUNTING_POLICY, 2050, POLICY)                                                      \
    X(ESLURM_INVALID_TIME_LIMIT, 2051, TIME_LIMIT)                                                 \
    X(ESLURM_INVALID_QOS, 2066, INVALID_QOS)                                                       \
    X(ESLURM_INVALID_GRES, 2072, INVALID_GRES)                                                     \
    X(ESLURM_MISSING_TIME_LIMIT, 8000, TIME_LIMIT)

static const struct {
    const char *name;
    int number;
    enum err code;
} codes[] = {
#define X(name, number, code) {#name, number, ERR_##code},
    CODES(X)
#undef X
};

static const struct {
    const char *name;
    double value;
} constants[] = {
    {"SUCCESS", 0}, {"ERROR", -1}, {"FAILURE", -1},
    {"NO_VAL", LUA_NO_VAL}, {"NO_VAL8", 254}, {"NO_VAL16", LUA_NO_VAL16}, {"NO_VAL64", LUA_NO_VAL64},
    {"INFINITE", LUA_INFINITE}, {"INFINITE64", 18446744073709551615.0},
    {"MEM_PER_CPU", LUA_MEM_PER_CPU}, {"NICE_OFFSET", LUA_NICE_OFFSET},
    {"ALLOC_SID_ADMIN_HOLD", 1}, {"ALLOC_SID_USER_HOLD", 2},
    {"JOB_SHARED_NONE", 0}, {"JOB_SHARED_OK", 1}, {"JOB_SHARED_USER", 2}, {"JOB_SHARED_MCS", 3},
    {"SHARED_FORCE", 32768},
    {"MAIL_JOB_BEGIN", MAIL_BEGIN}, {"MAIL_JOB_END", MAIL_END}, {"MAIL_JOB_FAIL", MAIL_FAIL},
    {"MAIL_JOB_REQUEUE", MAIL_REQUEUE}, {"MAIL_JOB_TIME100", MAIL_TIME_LIMIT},
    {"MAIL_JOB_TIME890", MAIL_TIME_90}, {"MAIL_JOB_TIME90", MAIL_TIME_90},
    {"MAIL_JOB_TIME80", MAIL_TIME_80}, {"MAIL_JOB_TIME50", MAIL_TIME_50},
    {"MAIL_JOB_STAGE_OUT", MAIL_STAGE_OUT}, {"MAIL_ARRAY_TASKS", MAIL_ARRAY_TASKS},
    {"MAIL_INVALID_DEPEND", MAIL_INVALID_DEPEND},
    {"KILL_INV_DEP", 1}, {"NO_KILL_INV_DEP", 2}, {"GRES_ENFORCE_BIND", 16},
    {"GRES_DISABLE_BIND", 524288}, {"SPREAD_JOB", 256}, {"USE_MIN_NODES", 512},
};
/* clang-format on */

enum err lua_code_error(int code, bool *ret_unknown) {
    *ret_unknown = false;
    for (size_t i = 0; i < countof(codes); i++) {
        if (codes[i].number == code)
            return codes[i].code;
    }
    *ret_unknown = code != -1;
    return ERR_GENERIC;
}

/* Whole numbers as such: scripts print them. */
static void push_number(lua_State *lua, double value) {
    if (floor(value) == value && fabs(value) < 9e15)
        lua_pushinteger(lua, (lua_Integer) value);
    else
        lua_pushnumber(lua, value);
}

/* ---- saying something ---- */

static const struct lua_box_output *output_of(lua_State *lua) {
    return lua_touserdata(lua, lua_upvalueindex(1));
}

/* string.format(...) of all arguments from the first; the text stays on the stack. */
static const char *format(lua_State *lua) {
    int n = lua_gettop(lua);
    luaL_checkstring(lua, 1);
    lua_getglobal(lua, "string");
    lua_getfield(lua, -1, "format");
    lua_insert(lua, 1);
    lua_pop(lua, 1);
    lua_call(lua, n, 1);
    return luaL_checkstring(lua, -1);
}

static int log_formatted(lua_State *lua) {
    const struct lua_box_output *output = output_of(lua);
    int level = (int) lua_tointeger(lua, lua_upvalueindex(2));
    output->log(output->context, level, format(lua));
    return 0;
}

static int tell_user(lua_State *lua) {
    const struct lua_box_output *output = output_of(lua);
    output->user(output->context, format(lua));
    return 0;
}

static int tell_plainly(lua_State *lua) {
    const struct lua_box_output *output = output_of(lua);
    output->user(output->context, luaL_checkstring(lua, 1));
    return 0;
}

static int log_plainly(lua_State *lua) {
    const struct lua_box_output *output = output_of(lua);
    output->log(output->context, (int) luaL_checkinteger(lua, 1), luaL_checkstring(lua, 2));
    return 0;
}

static int log_error_plainly(lua_State *lua) {
    const struct lua_box_output *output = output_of(lua);
    output->log(output->context, -1, luaL_checkstring(lua, 1));
    return 0;
}

static const struct {
    const char *name;
    int level;
} levels[] = {
    {"log_error", -1}, {"log_info", 0},   {"log_verbose", 1}, {"log_debug", 2},
    {"log_debug2", 3}, {"log_debug3", 4}, {"log_debug4", 5},
};

/* ---- others ---- */

static int time_to_minutes(lua_State *lua) {
    uint32_t minutes;
    if (minutes_parse(luaL_checkstring(lua, 1), &minutes, NULL) < 0)
        lua_pushinteger(lua, LUA_NO_VAL);
    else
        lua_pushinteger(lua, minutes == MINUTES_INFINITE ? LUA_INFINITE : minutes);
    return 1;
}

static const char former_names[] = "unpack = unpack or table.unpack\n"
                                   "loadstring = loadstring or load\n"
                                   "table.getn = table.getn or function(t) return #t end\n"
                                   "math.pow = math.pow or function(x, y) return x ^ y end\n";

static void add_function(lua_State *lua, const struct lua_box_output *output, const char *name,
                         lua_CFunction function, int level) {
    lua_pushlightuserdata(lua, (void *) (uintptr_t) output);
    lua_pushinteger(lua, level);
    lua_pushcclosure(lua, function, 2);
    lua_setfield(lua, -2, name);
}

void lua_library_open(lua_State *lua, const struct lua_box_output *output, const char *cluster) {
    lua_newtable(lua);
    for (size_t i = 0; i < countof(constants); i++) {
        push_number(lua, constants[i].value);
        lua_setfield(lua, -2, constants[i].name);
    }
    for (size_t i = 0; i < countof(codes); i++) {
        lua_pushinteger(lua, codes[i].number);
        lua_setfield(lua, -2, codes[i].name);
    }
    for (size_t i = 0; i < countof(levels); i++)
        add_function(lua, output, levels[i].name, log_formatted, levels[i].level);
    add_function(lua, output, "log", log_plainly, 0);
    add_function(lua, output, "error", log_error_plainly, 0);
    if (output->user != NULL) {
        add_function(lua, output, "log_user", tell_user, 0);
        add_function(lua, output, "user_msg", tell_plainly, 0);
    }
    add_function(lua, output, "time_str2mins", time_to_minutes, 0);
    lua_pushstring(lua, cluster);
    lua_setfield(lua, -2, "CLUSTER_NAME");
    lua_setglobal(lua, "slurm");
    if (luaL_dostring(lua, former_names) != LUA_OK)
        lua_error(lua);
}
