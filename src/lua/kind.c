/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a script sees of each kind of value, and what it may write. A Lua error leaves by longjmp:
 * nothing that is to be freed may be held while Lua can raise one.
 */
#include "lua/kind.h"

#include <lauxlib.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "lua/environment.h"
#include "lua/library.h"
#include "text/duration.h"

/* ---- small pushes ---- */

static void push_text(lua_State *lua, const char *text) {
    if (text != NULL)
        lua_pushstring(lua, text);
    else
        lua_pushnil(lua);
}

/* `unset` where the number is `none`. */
static void push_unless(lua_State *lua, uint64_t number, uint64_t none, lua_Integer unset) {
    lua_pushinteger(lua, number == none ? unset : (lua_Integer) number);
}

static void push_memory(lua_State *lua, uint64_t mib) {
    if (mib == UNSET64)
        lua_pushnil(lua);
    else
        lua_pushinteger(lua, (lua_Integer) mib);
}

static void push_gpu_value(lua_State *lua, uint64_t number, uint64_t none) {
    if (number == none)
        lua_pushnil(lua);
    else
        lua_pushfstring(lua, "gres/gpu:%I", (lua_Integer) number);
}

/* ---- what needs the whole request ---- */

static lua_Integer shared_of(const struct job_request *job) {
    switch (job->exclusive) {
    case EXCLUSIVE_NODE:
        return 0;
    case EXCLUSIVE_USER:
        return 2;
    case EXCLUSIVE_MCS:
        return 3;
    default:
        return job->oversubscribe == OVERSUB_YES ? 1 : LUA_NO_VAL16;
    }
}

static void push_any_memory(lua_State *lua, const struct job_request *job) {
    if (job->mem_per_node != UNSET64)
        lua_pushinteger(lua, (lua_Integer) job->mem_per_node);
    else if (job->mem_per_cpu != UNSET64)
        lua_pushnumber(lua, LUA_MEM_PER_CPU + (double) job->mem_per_cpu);
    else
        lua_pushnumber(lua, LUA_NO_VAL64);
}

static void push_switches(lua_State *lua, const struct job_request *job, bool wait) {
    uint32_t count = 0;
    int64_t seconds = -1;
    bool given = job->switches != NULL && switches_parse(job->switches, &count, &seconds);
    if (!given || (wait && seconds < 0))
        lua_pushinteger(lua, LUA_NO_VAL);
    else
        lua_pushinteger(lua, wait ? seconds : count);
}

/* argv[0] is the script, as the shell has it. */
static void push_argv(lua_State *lua, const struct job_request *job) {
    lua_newtable(lua);
    push_text(lua, job->command);
    lua_rawseti(lua, -2, 0);
    for (uint32_t i = 0; i < job->argv.n; i++) {
        push_text(lua, job->argv.items[i]);
        lua_rawseti(lua, -2, i + 1);
    }
}

static void push_of_job(lua_State *lua, enum lua_kind kind, struct job_request *job,
                        const struct lua_scope *scope) {
    switch (kind) {
    case KIND_MEM:
        push_any_memory(lua, job);
        break;
    case KIND_SHARED:
        lua_pushinteger(lua, shared_of(job));
        break;
    case KIND_PRIORITY:
        push_unless(lua, job->hold ? 0 : job->requested_priority, UNSET32, LUA_NO_VAL);
        break;
    case KIND_MIN_CPUS:
        lua_pushinteger(lua,
                        (lua_Integer) max_of(job->ntasks, 1u) * max_of(job->cpus_per_task, 1u));
        break;
    case KIND_SWITCHES:
    case KIND_SWITCH_WAIT:
        push_switches(lua, job, kind == KIND_SWITCH_WAIT);
        break;
    case KIND_ARGC:
        lua_pushinteger(lua, job->command != NULL ? (lua_Integer) job->argv.n + 1 : 0);
        break;
    case KIND_ARGV:
        push_argv(lua, job);
        break;
    case KIND_SCRIPT:
        if (job->script.size > 0)
            lua_pushlstring(lua, (const char *) job->script.data, job->script.size);
        else
            lua_pushnil(lua);
        break;
    case KIND_ENVIRONMENT:
        lua_environment_push(lua, job, scope);
        break;
    case KIND_USER_ID:
        lua_pushinteger(lua, job->run_as_uid != UNSET32 ? job->run_as_uid : scope->uid);
        break;
    case KIND_GROUP_ID:
        lua_pushinteger(lua, job->run_as_gid != UNSET32 ? job->run_as_gid : scope->gid);
        break;
    case KIND_USER_NAME:
        push_text(lua, scope->user_name);
        break;
    default:
        lua_pushnil(lua);
    }
}

/* ---- partitions ---- */

static lua_Integer share_of(const char *text) {
    unsigned long count = 1;
    const char *colon = text != NULL ? strchr(text, ':') : NULL;
    if (colon != NULL)
        count = strtoul(colon + 1, NULL, 10);
    if (text != NULL && str_starts_nocase(text, "EXCLUSIVE"))
        return 0;
    if (text != NULL && str_starts_nocase(text, "FORCE"))
        return (lua_Integer) (count | 32768);
    return (lua_Integer) count;
}

static void push_of_partition(lua_State *lua, enum lua_kind kind, const struct partition *part) {
    static const struct {
        const char *name;
        lua_Integer value;
    } states[] = {{"UP", 3}, {"DOWN", 1}, {"DRAIN", 2}, {"INACTIVE", 0}};
    switch (kind) {
    case KIND_PART_STATE:
        for (size_t i = 0; i < countof(states); i++) {
            if (str_equal_nocase(part->state, states[i].name)) {
                lua_pushinteger(lua, states[i].value);
                return;
            }
        }
        lua_pushnil(lua);
        break;
    case KIND_PART_SHARE:
        lua_pushinteger(lua, share_of(part->oversubscribe));
        break;
    case KIND_PART_FLAGS:
        lua_pushinteger(lua, (part->is_default ? 1 : 0) | (part->hidden ? 2 : 0));
        break;
    case KIND_PART_MEM_NODE:
        if (part->def_mem_per_cpu != UNSET64)
            lua_pushnil(lua);
        else
            push_unless(lua, part->def_mem_per_node, UNSET64, 0);
        break;
    default:
        lua_pushnil(lua);
    }
}

/* ---- a member alone ---- */

static bool push_text_member(lua_State *lua, enum lua_kind kind, const void *member) {
    const char *text = kind <= KIND_ARRAY ? *(char *const *) member : NULL;
    if (kind > KIND_ARRAY)
        return false;
    push_text(lua,
              kind == KIND_LIST && text != NULL && str_equal_nocase(text, "ALL") ? NULL : text);
    return true;
}

static bool push_member(lua_State *lua, enum lua_kind kind, const void *member) {
    switch (kind) {
    case KIND_NUMBER:
        lua_pushinteger(lua, *(const uint32_t *) member);
        return true;
    case KIND_COUNT:
        push_unless(lua, *(const uint32_t *) member, 0, LUA_NO_VAL);
        return true;
    case KIND_COUNT16:
        push_unless(lua, *(const uint32_t *) member, 0, LUA_NO_VAL16);
        return true;
    case KIND_OPT:
        push_unless(lua, *(const uint32_t *) member, UNSET32, LUA_NO_VAL);
        return true;
    case KIND_OPT_MOST:
        push_unless(lua, *(const uint32_t *) member, UNSET32, LUA_INFINITE);
        return true;
    case KIND_TIME:
        lua_pushinteger(lua, *(const int64_t *) member);
        return true;
    case KIND_BOOL:
        lua_pushinteger(lua, *(const bool *) member);
        return true;
    case KIND_BOOL16:
        push_unless(lua, *(const bool *) member, 0, LUA_NO_VAL16);
        return true;
    case KIND_DISK:
        push_unless(lua, *(const uint64_t *) member, 0, LUA_NO_VAL);
        return true;
    case KIND_MEM_NODE:
    case KIND_MEM_CPU:
    case KIND_MIB:
        push_memory(lua, *(const uint64_t *) member);
        return true;
    case KIND_GPU_COUNT:
        push_gpu_value(lua, *(const uint32_t *) member, 0);
        return true;
    case KIND_GPU_MEM:
        push_gpu_value(lua, *(const uint64_t *) member, UNSET64);
        return true;
    default:
        return false;
    }
}

/* Members whose numbers are not ours. */
static bool push_converted(lua_State *lua, enum lua_kind kind, const void *member) {
    if (kind == KIND_ZERO) {
        lua_pushinteger(lua, 0);
    } else if (kind == KIND_NOTHING) {
        lua_pushinteger(lua, LUA_NO_VAL);
    } else if (kind == KIND_MINUTES) {
        uint32_t minutes = *(const uint32_t *) member;
        lua_pushinteger(lua, minutes == MINUTES_UNSET      ? LUA_NO_VAL
                             : minutes == MINUTES_INFINITE ? LUA_INFINITE
                                                           : minutes);
    } else if (kind == KIND_TRISTATE) {
        uint32_t state = *(const uint32_t *) member;
        lua_pushinteger(lua, state == TRI_UNSET ? LUA_NO_VAL16 : state == TRI_YES);
    } else if (kind == KIND_NICE) {
        int32_t nice = *(const int32_t *) member;
        lua_pushinteger(lua, nice == 0 ? LUA_NO_VAL : (lua_Integer) LUA_NICE_OFFSET + nice);
    } else if (kind == KIND_REC_NICE) {
        lua_pushinteger(lua, (lua_Integer) LUA_NICE_OFFSET + *(const int32_t *) member);
    } else {
        return false;
    }
    return true;
}

void lua_kind_push(lua_State *lua, const struct lua_row *row, void *record, void *member,
                   const struct lua_scope *scope) {
    if (push_text_member(lua, row->kind, member) || push_member(lua, row->kind, member) ||
        push_converted(lua, row->kind, member))
        return;
    if (row->kind >= KIND_PART_STATE)
        push_of_partition(lua, row->kind, record);
    else
        push_of_job(lua, row->kind, record, scope);
}

/* ---- writing ---- */

static const char no_such_number[] = "a whole number from 0 to 4294967293 is expected, or NO_VAL";

/* The number of a script; every NO_VAL is `unset`. */
static const char *take_number(double number, uint64_t unset, uint64_t most, uint64_t *ret) {
    if (number == LUA_NO_VAL || number == LUA_NO_VAL16 || number == LUA_NO_VAL64)
        *ret = unset;
    else if (!(number >= 0) || number > (double) most)
        return no_such_number;
    else
        *ret = (uint64_t) number; /* 90.7 is 90, as it has always been */
    return NULL;
}

static const char *take_u32(double number, uint32_t unset, uint32_t *member) {
    uint64_t value;
    const char *problem = take_number(number, unset, LUA_NO_VAL, &value);
    if (problem == NULL)
        *member = (uint32_t) value;
    return problem;
}

static const char *take_minutes(double number, uint32_t *member) {
    if (number == LUA_INFINITE) {
        *member = MINUTES_INFINITE;
        return NULL;
    }
    return take_u32(number, MINUTES_UNSET, member);
}

static const char *take_memory(double number, struct job_request *job, bool per_cpu) {
    uint64_t mib;
    if (number >= LUA_MEM_PER_CPU && number < LUA_NO_VAL64) {
        number -= LUA_MEM_PER_CPU;
        per_cpu = true;
    }
    const char *problem = take_number(number, UNSET64, (uint64_t) 1 << 50, &mib);
    if (problem != NULL)
        return problem;
    job->mem_per_node = per_cpu ? UNSET64 : mib;
    job->mem_per_cpu = per_cpu ? mib : UNSET64;
    return NULL;
}

static const char *take_shared(double number, struct job_request *job) {
    static const uint32_t exclusive[] = {EXCLUSIVE_NODE, EXCLUSIVE_NO, EXCLUSIVE_USER,
                                         EXCLUSIVE_MCS};
    bool unset = number == LUA_NO_VAL16 || number == LUA_NO_VAL;
    if (!unset && (number < 0 || number > 3 || floor(number) != number))
        return "0 (exclusive), 1 (shared), 2 (with the user's), 3 (with the label's) or NO_VAL16 "
               "is expected";
    job->exclusive = unset ? EXCLUSIVE_NO : exclusive[(int) number];
    job->oversubscribe = number == 1 ? OVERSUB_YES : OVERSUB_DEFAULT;
    return NULL;
}

static const char *take_priority(double number, struct job_request *job) {
    uint32_t priority = UNSET32;
    const char *problem = take_u32(number, UNSET32, &priority);
    if (problem != NULL)
        return problem;
    job->hold = priority == 0;
    job->requested_priority = priority == 0 ? UNSET32 : priority;
    return NULL;
}

static const char *take_switches(double number, struct job_request *job, bool wait) {
    uint32_t value = UNSET32, count = 0;
    int64_t seconds = -1;
    const char *problem = take_u32(number, UNSET32, &value);
    if (problem != NULL)
        return problem;
    if (job->switches != NULL)
        (void) switches_parse(job->switches, &count, &seconds);
    if (wait)
        seconds = value == UNSET32 ? -1 : (int64_t) value;
    else
        count = value == UNSET32 ? 0 : value;
    cleanup_free char *text = count == 0 ? NULL
                              : seconds < 0
                                  ? xasprintf("%u", count)
                                  : xasprintf("%u@%lld:%02lld", count, (long long) seconds / 60,
                                              (long long) seconds % 60);
    string_set(&job->switches, text);
    return NULL;
}

/* "gres/gpu:2", "gres:gpu:2", "gpu:2". */
static const char *take_gpu_value(const char *text, uint64_t unset, uint64_t *ret) {
    const char *colon = text != NULL ? strrchr(text, ':') : NULL;
    if (text == NULL) {
        *ret = unset;
        return NULL;
    }
    if (colon == NULL || strstr(text, "gpu") == NULL || !str_to_u64(colon + 1, ret) ||
        *ret > UINT32_MAX)
        return "a text as gres/gpu:2 is expected";
    return NULL;
}

static void take_tres(const char *text, char **member) {
    struct str out cleanup_str = STR_INIT;
    words_each (text, ",", word) {
        cleanup_free char *one =
            str_starts(word, "gres:") ? xasprintf("gres/%s", word + 5) : xstrdup(word);
        str_join(&out, ",", one);
    }
    string_set(member, out.data);
}

/* nil takes a text away; numbers are texts, too, as everywhere in Lua. */
static const char *take_text(lua_State *lua, int index, const struct lua_row *row, void *member) {
    const char *text = lua_isnoneornil(lua, index) ? NULL : luaL_checkstring(lua, index);
    uint64_t number = 0;
    const char *problem = NULL;
    if (text != NULL && text[0] == '\0')
        text = NULL;
    if (row->kind == KIND_TRES) {
        take_tres(text, member);
    } else if (row->kind == KIND_GPU_COUNT) {
        problem = take_gpu_value(text, 0, &number);
        if (problem == NULL)
            *(uint32_t *) member = (uint32_t) number;
    } else if (row->kind == KIND_GPU_MEM) {
        problem = take_gpu_value(text, UNSET64, &number);
        if (problem == NULL)
            *(uint64_t *) member = number;
    } else {
        string_set(member, text);
    }
    return problem;
}

static const char *take_script(lua_State *lua, int index, struct job_request *job) {
    size_t size;
    const char *text = luaL_checklstring(lua, index, &size);
    free(job->script.data);
    job->script.data = xmemdup(text, size);
    job->script.size = size;
    return NULL;
}

static const char *take_plain(double number, const struct lua_row *row, void *member) {
    uint64_t value = 0;
    const char *problem = NULL;
    switch (row->kind) {
    case KIND_NUMBER:
    case KIND_COUNT:
    case KIND_COUNT16:
        return take_u32(number, 0, member);
    case KIND_OPT:
    case KIND_OPT_MOST:
        return take_u32(number, UNSET32, member);
    case KIND_MINUTES:
        return take_minutes(number, member);
    case KIND_TIME:
    case KIND_DISK:
        if ((problem = take_number(number, 0, (uint64_t) 1 << 50, &value)) == NULL)
            *(uint64_t *) member = value;
        return problem;
    case KIND_BOOL:
    case KIND_BOOL16:
        *(bool *) member = number != 0 && number != LUA_NO_VAL16 && number != LUA_NO_VAL;
        return NULL;
    case KIND_TRISTATE:
        *(uint32_t *) member = number == 0 ? TRI_NO : number == 1 ? TRI_YES : TRI_UNSET;
        return NULL;
    case KIND_NICE:
        if (number != LUA_NO_VAL && !(fabs(number - LUA_NICE_OFFSET) <= 2147483645))
            return "NICE_OFFSET plus or minus at most 2147483645 is expected, or NO_VAL";
        *(int32_t *) member = number == LUA_NO_VAL ? 0 : (int32_t) (number - LUA_NICE_OFFSET);
        return NULL;
    default:
        return "a filter cannot set it";
    }
}

const char *lua_kind_take(lua_State *lua, int index, const struct lua_row *row, void *record,
                          void *member) {
    struct job_request *job = record;
    switch (row->kind) {
    case KIND_TEXT:
    case KIND_LIST:
    case KIND_TRES:
    case KIND_ARRAY:
    case KIND_GPU_COUNT:
    case KIND_GPU_MEM:
        return take_text(lua, index, row, member);
    case KIND_SCRIPT:
        return take_script(lua, index, job);
    case KIND_MEM:
    case KIND_MEM_NODE:
    case KIND_MEM_CPU:
        return take_memory(luaL_checknumber(lua, index), job, row->kind == KIND_MEM_CPU);
    case KIND_SHARED:
        return take_shared(luaL_checknumber(lua, index), job);
    case KIND_PRIORITY:
        return take_priority(luaL_checknumber(lua, index), job);
    case KIND_SWITCHES:
    case KIND_SWITCH_WAIT:
        return take_switches(luaL_checknumber(lua, index), job, row->kind == KIND_SWITCH_WAIT);
    case KIND_MIN_CPUS:
        return "a filter cannot set it; set num_tasks or cpus_per_task";
    case KIND_ENVIRONMENT:
        return "set its variables one by one: job_desc.environment.NAME = \"value\"";
    default:
        return take_plain(luaL_checknumber(lua, index), row, member);
    }
}
