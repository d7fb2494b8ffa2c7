/* SPDX-License-Identifier: Apache-2.0 */
/* The options as a table, and the three calls of cli_filter.lua. */
#include "cli/filter.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/connect.h"
#include "cli/json_writer.h"
#include "cli/main.h"
#include "lua/box.h"
#include "lua/library.h"
#include "text/duration.h"

#define SCRIPT_NAME "cli_filter.lua"
#define MEMORY_MAX (64u << 20)        /* bytes */
#define CALL_USEC_MAX (10u * 1000000) /* a command is waited for by somebody */

struct cli_filter {
    struct cli *cli;
    struct options *options;
    struct lua_box *box;
    struct lua_box_output output;
    char *const *argv;
    size_t n_argv;
    struct str json; /* what a script asked for last */
};

static void take_line(void *context, int level, const char *text) {
    const struct cli_filter *filter = context;
    if (level < 0)
        cli_error(filter->cli, "lua: %s", text);
    else if (filter->options->verbose >= level)
        cli_info(filter->cli, "lua: %s", text);
}

/* ---- options as a table ---- */

static struct cli_filter *filter_of(lua_State *lua) {
    return lua_touserdata(lua, lua_upvalueindex(1));
}

static const struct option_row *row_find(const struct cli_filter *filter, const char *name) {
    for (size_t i = 0; name != NULL && i < OPT_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if ((row->commands & filter->options->command) && str_equal(row->name, name))
            return row;
    }
    return NULL;
}

static void push_argv(lua_State *lua, const struct cli_filter *filter) {
    lua_newtable(lua);
    for (size_t i = 0; i < filter->n_argv; i++) {
        lua_pushstring(lua, filter->argv[i]);
        lua_rawseti(lua, -2, (lua_Integer) i);
    }
}

/* Limits of time as scripts know them: 00:03:00. */
static void push_minutes(lua_State *lua, const struct options *options,
                         const struct option_row *row) {
    struct str text cleanup_str = STR_INIT;
    char small[32];
    minutes_print_long(*(const uint32_t *) ((const char *) options + row->target), "", &text);
    snprintf(small, sizeof(small), "%s", str_cstr(&text));
    str_done(&text); /* before Lua can raise an error */
    lua_pushstring(lua, small);
}

/* What was given, as it was given; a flag is "set" or "unset". */
static void push_option(lua_State *lua, const struct options *options,
                        const struct option_row *row) {
    bool given = options_given(options, row->id);
    bool is_limit = row->id == OPT_time || row->id == OPT_time_min;
    if (given && is_limit && *(const uint32_t *) ((const char *) options + row->target) != UNSET32)
        push_minutes(lua, options, row);
    else if (row->argument == OPTION_NO)
        lua_pushstring(lua, given ? "set" : "unset");
    else if (!given)
        lua_pushnil(lua);
    else
        lua_pushstring(lua, options->given[row->id] != NULL ? options->given[row->id] : "set");
}

static int get(lua_State *lua) {
    const struct cli_filter *filter = filter_of(lua);
    const char *name = lua_tostring(lua, 2);
    const struct option_row *row = row_find(filter, name);
    if (str_equal(name, "type"))
        lua_pushstring(lua, option_command_name(filter->options->command));
    else if (str_equal(name, "argv"))
        push_argv(lua, filter);
    else if (row == NULL)
        lua_pushnil(lua);
    else
        push_option(lua, filter->options, row);
    return 1;
}

/* options["time"] = "10", options["hold"] = "set". An option cannot be taken back. */
static int set(lua_State *lua) {
    struct cli_filter *filter = filter_of(lua);
    const char *name = luaL_checkstring(lua, 2), *value = luaL_checkstring(lua, 3);
    const struct option_row *row = row_find(filter, name);
    if (row == NULL) {
        cli_error(filter->cli, "lua: %s has no option --%s: it was not set",
                  option_command_name(filter->options->command), name);
        return 0;
    }
    if (row->argument == OPTION_NO && str_equal(value, "unset"))
        return options_given(filter->options, row->id)
                   ? luaL_error(lua, "--%s was given and cannot be taken back", name)
                   : 0;
    if (options_set(filter->options, row, row->argument == OPTION_NO ? NULL : value,
                    OPTION_FILTER) < 0) {
        (void) cli_options_failed(filter->cli, filter->options);
        str_reset(&filter->options->problem.raw);
        str_reset(&filter->options->problem.text);
    }
    return 0;
}

/* pairs(options): what was given. */
static int all(lua_State *lua) {
    const struct cli_filter *filter = filter_of(lua);
    lua_getglobal(lua, "next");
    lua_newtable(lua);
    for (size_t i = 0; i < OPT_COUNT; i++) {
        if (!options_given(filter->options, option_rows[i].id))
            continue;
        push_option(lua, filter->options, &option_rows[i]);
        lua_setfield(lua, -2, option_rows[i].name);
    }
    push_argv(lua, filter);
    lua_setfield(lua, -2, "argv");
    lua_pushnil(lua);
    return 3;
}

/* ---- JSON, for scripts that log it ---- */

/* filter->json owns the text: Lua leaves by longjmp when it has no memory for it. */
static void json_begin(struct cli_filter *filter, struct json *json) {
    str_reset(&filter->json);
    json_init(json, JSON_COMPACT, &filter->json);
    json_object(json, NULL);
}

static int json_push(lua_State *lua, const struct cli_filter *filter) {
    lua_pushlstring(lua, filter->json.data, filter->json.length);
    return 1;
}

static int json_options(lua_State *lua) {
    struct cli_filter *filter = filter_of(lua);
    const struct options *options = filter->options;
    struct json json;
    json_begin(filter, &json);
    for (size_t i = 0; i < OPT_COUNT; i++) {
        const char *given = options->given[i] != NULL ? options->given[i] : "set";
        if (options_given(options, (enum option_id) i))
            json_text(&json, option_rows[i].name, given);
    }
    json_array(&json, "argv");
    for (size_t i = 0; i < filter->n_argv; i++)
        json_text(&json, NULL, filter->argv[i]);
    json_end(&json);
    json_end(&json);
    return json_push(lua, filter);
}

static int json_environment(lua_State *lua) {
    struct cli_filter *filter = filter_of(lua);
    struct json json;
    json_begin(filter, &json);
    for (char *const *at = environ; *at != NULL; at++) {
        const char *equal = strchr(*at, '=');
        cleanup_free char *name = equal != NULL ? xstrndup(*at, (size_t) (equal - *at)) : NULL;
        if (name != NULL)
            json_foreign(&json, name, equal + 1);
    }
    json_end(&json);
    return json_push(lua, filter);
}

/* ---- the calls ---- */

static void push_options(lua_State *lua, struct cli_filter *filter) {
    static const luaL_Reg methods[] = {
        {"__index", get}, {"__newindex", set}, {"__pairs", all}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"json_cli_options", json_options}, {"json_env", json_environment}, {NULL, NULL}};
    if (lua_getglobal(lua, "slurm") == LUA_TTABLE) {
        lua_pushlightuserdata(lua, filter);
        luaL_setfuncs(lua, functions, 1);
    }
    lua_newtable(lua);
    lua_newtable(lua);
    lua_pushlightuserdata(lua, filter);
    luaL_setfuncs(lua, methods, 1);
    lua_setmetatable(lua, -2);
}

/* The options, and whether this is an early pass, of which there is none. */
static int push_for_defaults(lua_State *lua) {
    push_options(lua, lua_touserdata(lua, 1));
    lua_pushboolean(lua, 0);
    return 2;
}

/* The options, and the number of the job's component. */
static int push_for_options(lua_State *lua) {
    push_options(lua, lua_touserdata(lua, 1));
    lua_pushinteger(lua, 0);
    return 2;
}

struct submitted {
    uint32_t job_id, step_id;
};

static int push_submitted(lua_State *lua) {
    const struct submitted *submitted = lua_touserdata(lua, 1);
    lua_pushinteger(lua, 0);
    lua_pushinteger(lua, submitted->job_id);
    lua_pushinteger(lua, submitted->step_id != UNSET32 ? submitted->step_id : LUA_NO_VAL);
    return 3;
}

static int terminated(const struct cli *cli) {
    cli_error(cli, "cli_filter plugin terminated with error");
    return cli->error_status;
}

static int call(const struct cli_filter *filter, const char *function, lua_CFunction push,
                void *context) {
    struct error err = ERROR_INIT;
    int code = 0;
    bool is_number;
    int r = lua_box_call(filter->box, function, push, context, &code, &is_number, &err);
    (void) fflush(stdout); /* what it has printed comes before what we print */
    if (r < 0)
        cli_error(filter->cli, "cli_filter/lua: %s: %s", function, err.text);
    else if (!is_number)
        cli_info(filter->cli, "cli_filter/lua: %s returned no number: taken as slurm.SUCCESS",
                 function);
    return code != 0 || r == -ERR_LIMIT ? terminated(filter->cli) : CLI_GO_ON;
}

int cli_filter_begin(struct cli *cli, struct options *options, char *const *argv, size_t n_argv) {
    static const char *const functions[] = {"slurm_cli_setup_defaults", "slurm_cli_pre_submit",
                                            "slurm_cli_post_submit"};
    const struct conf *conf = cli_conf(cli);
    if (conf == NULL)
        return cli->error_status;
    if ((conf->cli_filter_plugins & CONF_CLI_FILTER_LUA) == 0)
        return CLI_GO_ON;
    const struct lua_box_limits limits = {MEMORY_MAX, CALL_USEC_MAX};
    struct error err = ERROR_INIT;
    struct cli_filter *filter = zalloc(struct cli_filter);
    *filter = (struct cli_filter) {.cli = cli, .options = options, .argv = argv, .n_argv = n_argv};
    filter->output = (struct lua_box_output) {take_line, NULL, filter};
    cleanup_free char *path = conf_program_path(cli_conf_path(), SCRIPT_NAME);
    int r = lua_box_new(&limits, &filter->output, conf->cluster_name, &filter->box, &err);
    if (r == 0)
        r = lua_box_load(filter->box, path, functions, countof(functions), &err);
    if (r < 0) {
        cli_error(cli, "cli_filter/lua: %s", err.text);
        return terminated(cli);
    }
    cli->filter = filter;
    return call(filter, functions[0], push_for_defaults, filter);
}

int cli_filter_options(const struct cli *cli) {
    return cli->filter != NULL
               ? call(cli->filter, "slurm_cli_pre_submit", push_for_options, cli->filter)
               : CLI_GO_ON;
}

void cli_filter_submitted(const struct cli *cli, uint32_t job_id, uint32_t step_id) {
    struct submitted submitted = {job_id, step_id};
    if (cli->filter != NULL)
        (void) call(cli->filter, "slurm_cli_post_submit", push_submitted, &submitted);
}
