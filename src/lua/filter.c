/* SPDX-License-Identifier: Apache-2.0 */
/* One call of the script: its arguments, its answer, and what came of it. */
#include "lua/filter.h"

#include <errno.h>
#include <lauxlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "lua/library.h"
#include "lua/value.h"

#define RECORD_ROW_filter_call(...) RECORD_ROW(filter_call, __VA_ARGS__)
RECORD_DEFINE(filter_call, FILTER_CALL_FIELDS)
#define RECORD_ROW_filter_line(...) RECORD_ROW(filter_line, __VA_ARGS__)
RECORD_DEFINE(filter_line, FILTER_LINE_FIELDS)
#define RECORD_ROW_filter_answer(...) RECORD_ROW(filter_answer, __VA_ARGS__)
RECORD_DEFINE(filter_answer, FILTER_ANSWER_FIELDS)
static const struct name_row problem_rows[] = {{FILTER_FINE, "fine", NULL},
                                               {FILTER_FAILED, "failed", NULL},
                                               {FILTER_LIMIT, "limit", NULL},
                                               {FILTER_ABSENT, "absent", NULL}};
const struct names names_filter_problem = {problem_rows, countof(problem_rows)};

static const char *const functions[] = {"slurm_job_submit", "slurm_job_modify"};

struct lua_filter {
    char *path, *cluster;
    struct lua_box_limits limits;
    struct lua_box_output output;
    struct lua_filter_source source;
    struct lua_box *box; /* NULL: no script has been read yet */
    struct stat seen;    /* the file when it was last read, whether that went well or not */
    struct lua_scope scope;
    struct filter_answer *answer; /* of the call that runs */
    struct arena memory;          /* of the call that runs: what was asked for */
};

/* ---- what it says ---- */

static char *line_copy(const char *text) {
    size_t length = strlen(text);
    return xstrndup(text, min_of(length, (size_t) FILTER_LINE_MAX));
}

static void take_line(void *context, int level, const char *text) {
    struct lua_filter *filter = context;
    struct filter_answer *answer = filter->answer;
    if (answer == NULL || answer->lines.n >= FILTER_LINES_MAX)
        return;
    answer->lines.items =
        xreallocarray(answer->lines.items, answer->lines.n + 1, sizeof(*answer->lines.items));
    struct filter_line *line = &answer->lines.items[answer->lines.n++];
    record_init(&record_filter_line, line);
    line->level = level;
    line->text = line_copy(text);
}

static void add_line(struct lua_filter *filter, int level, const char *fmt, ...) printf_like(3, 4);
static void add_line(struct lua_filter *filter, int level, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    cleanup_free char *text = xvasprintf(fmt, args);
    va_end(args);
    take_line(filter, level, text);
}

/* Several lines in one text are several lines. */
static void take_told(void *context, const char *text) {
    struct lua_filter *filter = context;
    words_each (text, "\n", line) {
        if (filter->answer == NULL || filter->answer->told.n >= FILTER_LINES_MAX)
            return;
        cleanup_free char *copy = line_copy(line);
        strs_push(&filter->answer->told, copy);
    }
}

/* ---- the script ---- */

struct lua_filter *lua_filter_new(const char *path, const struct lua_box_limits *limits,
                                  const char *cluster, const struct lua_filter_source *source) {
    struct lua_filter *filter = zalloc(struct lua_filter);
    filter->path = xstrdup(path);
    filter->cluster = xstrdup(cluster);
    filter->limits = *limits;
    filter->source = *source;
    filter->output = (struct lua_box_output) {take_line, take_told, filter};
    filter->scope.output = &filter->output;
    arena_init(&filter->memory, 0);
    return filter;
}

void lua_filter_free(struct lua_filter *filter) {
    if (filter == NULL)
        return;
    lua_box_free(filter->box);
    arena_done(&filter->memory);
    free(filter->path);
    free(filter->cluster);
    free(filter);
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Reads the file when it is another than the last time. */
static void refresh(struct lua_filter *filter, struct error *err) {
    struct stat now = {0};
    if (stat(filter->path, &now) < 0 && filter->box == NULL) {
        error_errno(err, errno, "%s", filter->path);
        return;
    }
    if (is_same_file(&now, &filter->seen) && filter->box != NULL)
        return;
    filter->seen = now;
    struct lua_box *box = NULL;
    int r = lua_box_new(&filter->limits, &filter->output, filter->cluster, &box, err);
    if (r == 0)
        r = lua_box_load(box, filter->path, functions, countof(functions), err);
    if (r == 0) {
        lua_box_free(filter->box);
        filter->box = box;
        add_line(filter, 0, "%s has been read", filter->path);
        return;
    }
    lua_box_free(box);
    if (filter->box != NULL)
        add_line(filter, -1, "%s; the script as it was before stays at work", err->text);
}

/* ---- slurm.jobs and slurm.reservations ---- */

/* Pushes a table of all of them, by number or name. */
static void fetch(lua_State *lua, struct lua_filter *filter, bool jobs) {
    struct error err = ERROR_INIT;
    union {
        struct job_list jobs;
        struct reservation_list reservations;
    } list;
    memset(&list, 0, sizeof(list));
    if (filter->source.ask(filter->source.context, jobs ? FILTER_ASK_JOBS : FILTER_ASK_RESERVATIONS,
                           &filter->memory, &list, &err) < 0)
        luaL_error(lua, "%s", err.text);
    lua_newtable(lua);
    for (uint32_t i = 0; jobs && i < list.jobs.items.n; i++) {
        lua_value_push(lua, &lua_view_job_rec, &list.jobs.items.items[i], &filter->scope);
        lua_rawseti(lua, -2, list.jobs.items.items[i].job_id);
    }
    for (uint32_t i = 0; !jobs && i < list.reservations.items.n; i++) {
        const char *name = list.reservations.items.items[i].name;
        lua_pushstring(lua, name != NULL ? name : "");
        lua_value_push(lua, &lua_view_reservation, &list.reservations.items.items[i],
                       &filter->scope);
        lua_rawset(lua, -3);
    }
}

/* Upvalues: the filter, whether of jobs, the table once it is there. Leaves it on the stack. */
static void table_of(lua_State *lua) {
    lua_pushvalue(lua, lua_upvalueindex(3));
    if (!lua_isnil(lua, -1))
        return;
    lua_pop(lua, 1);
    fetch(lua, lua_touserdata(lua, lua_upvalueindex(1)), lua_toboolean(lua, lua_upvalueindex(2)));
    lua_pushvalue(lua, -1);
    lua_replace(lua, lua_upvalueindex(3));
}

static int lazy_index(lua_State *lua) {
    table_of(lua);
    lua_pushvalue(lua, 2);
    lua_rawget(lua, -2);
    return 1;
}

static int lazy_pairs(lua_State *lua) {
    lua_getglobal(lua, "next");
    table_of(lua);
    lua_pushnil(lua);
    return 3;
}

static void push_lazy(lua_State *lua, struct lua_filter *filter, bool jobs, const char *name) {
    static const luaL_Reg methods[] = {
        {"__index", lazy_index}, {"__pairs", lazy_pairs}, {NULL, NULL}};
    lua_newtable(lua);
    lua_newtable(lua);
    lua_pushlightuserdata(lua, filter);
    lua_pushboolean(lua, jobs);
    lua_pushnil(lua);
    luaL_setfuncs(lua, methods, 3);
    lua_setmetatable(lua, -2);
    lua_setfield(lua, -2, name);
}

/* ---- the call ---- */

struct arguments {
    struct lua_filter *filter;
    const struct filter_call *call;
    const struct partition_list *partitions;
    struct job_request *job;
};

static int push_arguments(lua_State *lua) {
    const struct arguments *given = lua_touserdata(lua, 1);
    struct lua_filter *filter = given->filter;
    lua_getglobal(lua, "slurm");
    if (lua_istable(lua, -1)) {
        push_lazy(lua, filter, true, "jobs");
        push_lazy(lua, filter, false, "reservations");
    }
    lua_settop(lua, 0);
    lua_value_push(lua, &lua_view_job_desc, given->job, &filter->scope);
    if (given->call->modify)
        lua_value_push(lua, &lua_view_job_rec, given->call->record, &filter->scope);
    lua_newtable(lua);
    for (uint32_t i = 0; i < given->partitions->items.n; i++) {
        struct partition *part = &given->partitions->items.items[i];
        lua_pushstring(lua, part->name != NULL ? part->name : "");
        lua_value_push(lua, &lua_view_partition, part, &filter->scope);
        lua_rawset(lua, -3);
    }
    lua_pushinteger(lua, given->call->uid);
    return lua_gettop(lua);
}

/* ---- changes of a job, as scontrol update writes them ---- */

static bool names_row(const struct lua_row *row, const char *key) {
    return str_equal_nocase(row->update, key) ||
           (row->update_alias != NULL && str_equal_nocase(row->update_alias, key));
}

static void read_changes(const struct filter_call *call, struct job_request *job) {
    for (uint32_t i = 0; i < call->changes.n; i++) {
        const struct key_value *change = &call->changes.items[i];
        for (size_t k = 0; k < lua_view_job_desc.n_rows; k++) {
            const struct lua_row *row = &lua_view_job_desc.rows[k];
            if (row->update != NULL && names_row(row, change->key))
                (void) lua_row_update_read(row, change->value != NULL ? change->value : "", job);
        }
    }
}

static void change_set(struct filter_answer *answer, const struct lua_row *row, const char *value) {
    for (uint32_t i = 0; i < answer->changes.n; i++) {
        if (names_row(row, answer->changes.items[i].key)) {
            string_set(&answer->changes.items[i].value, value);
            return;
        }
    }
    answer->changes.items =
        xreallocarray(answer->changes.items, answer->changes.n + 1, sizeof(*answer->changes.items));
    struct key_value *change = &answer->changes.items[answer->changes.n++];
    record_init(&record_key_value, change);
    string_set(&change->key, row->update);
    string_set(&change->value, value);
}

static void change_drop(struct filter_answer *answer, const struct lua_row *row) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < answer->changes.n; i++) {
        if (names_row(row, answer->changes.items[i].key))
            record_done(&record_key_value, &answer->changes.items[i]);
        else
            answer->changes.items[kept++] = answer->changes.items[i];
    }
    answer->changes.n = kept;
}

/* What was asked for, with what the script has made of it. */
static void write_changes(const struct filter_call *call, const struct job_request *before,
                          const struct job_request *after, struct filter_answer *answer) {
    answer->changes.items = xcalloc(call->changes.n, sizeof(*answer->changes.items));
    for (; answer->changes.n < call->changes.n; answer->changes.n++)
        record_copy(&record_key_value, &answer->changes.items[answer->changes.n],
                    &call->changes.items[answer->changes.n]);
    for (size_t k = 0; k < lua_view_job_desc.n_rows; k++) {
        const struct lua_row *row = &lua_view_job_desc.rows[k];
        struct str old cleanup_str = STR_INIT, new cleanup_str = STR_INIT;
        bool was = lua_row_update_print(row, before, &old);
        bool is = lua_row_update_print(row, after, &new);
        if (is && (!was || !str_equal(old.data, new.data)))
            change_set(answer, row, str_cstr(&new));
        else if (was && !is)
            change_drop(answer, row);
    }
}

/* ---- all of it ---- */

static void answer_problem(struct filter_answer *answer, enum filter_problem problem,
                           const struct error *err) {
    answer->problem = problem;
    string_set(&answer->detail, err->text);
}

static void run_script(struct lua_filter *filter, const struct filter_call *call,
                       const struct partition_list *partitions, struct filter_answer *ret) {
    struct error err = ERROR_INIT;
    struct job_request before, *job = NULL;
    record_init(&record_job_request, &before);
    if (call->modify)
        read_changes(call, &before);
    else
        record_copy(&record_job_request, &before, call->job);
    job = record_dup(&record_job_request, &before);
    struct arguments given = {filter, call, partitions, job};
    int code = 0;
    bool is_number = true, is_unknown = false;
    int r = lua_box_call(filter->box, functions[call->modify], push_arguments, &given, &code,
                         &is_number, &err);
    if (job->time_limit != before.time_limit) /* instead of --time=auto */
        job->time_auto = false;
    if (r < 0)
        answer_problem(ret, r == -ERR_LIMIT ? FILTER_LIMIT : FILTER_FAILED, &err);
    else if (code != 0)
        ret->code = lua_code_error(code, &is_unknown);
    if (!is_number)
        add_line(filter, 0, "%s: %s returned no number: taken as slurm.SUCCESS", filter->path,
                 functions[call->modify]);
    if (is_unknown)
        add_line(filter, 0, "%s: %s returned %d, which is none of slurm.ERROR, slurm.ESLURM_…",
                 filter->path, functions[call->modify], code);
    /* Half of what a failing script wanted is nothing that anybody wanted. */
    if (call->modify)
        write_changes(call, &before, r < 0 ? &before : job, ret);
    else
        ret->job = record_dup(&record_job_request, r < 0 ? &before : job);
    record_free(&record_job_request, job);
    record_done(&record_job_request, &before);
}

void lua_filter_run(struct lua_filter *filter, const struct filter_call *call,
                    const struct partition_list *partitions, struct filter_answer *ret) {
    struct error err = ERROR_INIT;
    filter->answer = ret;
    filter->scope.uid = call->uid;
    filter->scope.gid = call->gid;
    filter->scope.user_name = call->user_name;
    refresh(filter, &err);
    if (filter->box != NULL)
        run_script(filter, call, partitions, ret);
    else
        answer_problem(ret, FILTER_ABSENT, &err);
    filter->scope.serial++;
    filter->answer = NULL;
    arena_reset(&filter->memory);
}
