/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <limits.h>

#include "base/alloc.h"
#include "base/str.h"
#include "lua/box.h"
#include "lua/library.h"
#include "script.h"

static void keep_log(void *context, int level, const char *text) {
    str_printf(context, "%d:%s\n", level, text);
}

static void keep_user(void *context, const char *text) {
    str_printf(context, "user:%s\n", text);
}

/* Runs f() of the script; its errors and lines. */
struct outcome {
    int r, code;
    bool is_number;
    struct error err;
    struct str lines;
};

static struct outcome run(const char *text) {
    struct outcome got = {.lines = STR_INIT};
    static const char *const functions[] = {"f"};
    const struct lua_box_limits limits = {8u << 20, 200000};
    const struct lua_box_output output = {keep_log, keep_user, &got.lines};
    struct script script cleanup_script = script_of(text);
    struct lua_box *box;
    assert_int_equal(lua_box_new(&limits, &output, "lab", &box, &got.err), 0);
    got.r = lua_box_load(box, script.path, functions, 1, &got.err);
    if (got.r == 0)
        got.r = lua_box_call(box, "f", NULL, NULL, &got.code, &got.is_number, &got.err);
    lua_box_free(box);
    return got;
}

TEST(a_script_says_what_it_has_to_say) {
    struct outcome got =
        run("function f()\n"
            "slurm.log_info('%s is %d', 'x', 5) slurm.log_error('bad')\n"
            "slurm.log_user('hello %s', slurm.CLUSTER_NAME) slurm.user_msg('100%')\n"
            "return slurm.ESLURM_INVALID_LICENSES end");
    assert_int_equal(got.r, 0);
    assert_int_equal(got.code, 2048);
    assert_string_equal(str_cstr(&got.lines), "0:x is 5\n-1:bad\nuser:hello lab\nuser:100%\n");
    str_done(&got.lines);
}

TEST(names_of_lua_5_1_are_there) {
    struct outcome got =
        run("function f() assert(unpack({1}) == 1) assert(loadstring('return 1')() == 1)\n"
            "assert(table.getn({1, 2}) == 2) assert(math.pow(2, 3) == 8)\n"
            "assert(slurm.time_str2mins('1-00:00:00') == 1440)\n"
            "assert(slurm.NO_VAL64 > slurm.INFINITE) return 7 end");
    assert_int_equal(got.code, 7);
    str_done(&got.lines);
}

TEST(an_error_names_file_and_line) {
    struct outcome got = run("function f()\n error('boom')\nend");
    assert_int_equal(got.r, -ERR_GENERIC);
    assert_non_null(strstr(got.err.text, ":2: boom"));
    got = run("function f() error({}) end");
    assert_non_null(strstr(got.err.text, "a table, not a text"));
    got = run("function g() end");
    assert_int_equal(got.r, -ERR_CONFIG);
    assert_non_null(strstr(got.err.text, "no function f"));
    got = run("this is none");
    assert_non_null(strstr(got.err.text, ":1:"));
}

TEST(a_strict_script_may_lack_a_function) {
    struct outcome got = run("setmetatable(_G, {__index = function(t, name)\n"
                             "  error('undeclared ' .. name, 0) end})");
    assert_int_equal(got.r, -ERR_GENERIC);
    assert_string_equal(got.err.text, "undeclared f");
}

TEST(memory_that_garbage_took_does_not_taint_a_later_error) {
    struct outcome got = run("function f()\n"
                             " for i = 1, 20 do local s = string.rep('x', 2 << 20) end\n"
                             " error('boom') end");
    assert_string_equal(strstr(got.err.text, ":3:"), ":3: boom");
    assert_int_equal(got.r, -ERR_GENERIC);
}

TEST(no_number_is_told) {
    struct outcome got = run("function f() return 'abc' end");
    assert_int_equal(got.r, 0);
    assert_false(got.is_number);
}

TEST(a_number_that_is_no_code_is_no_success) {
    static const char *const odd[] = {"1e300", "0/0", "1 << 32"};
    for (size_t i = 0; i < countof(odd); i++) {
        char text[64];
        snprintf(text, sizeof(text), "function f() return %s end", odd[i]);
        assert_int_equal(run(text).code, INT_MIN);
    }
}

TEST(time_and_memory_end) {
    static const char *const endless[] = {
        "function f() while true do end end",
        "function f() while true do pcall(function() while true do end end) end end",
        "function f() coroutine.wrap(function() while true do end end)() end",
        "while true do end",
        "function f() local t = {} while true do t[#t + 1] = {} end end",
        "function f() local s = 'x' while true do s = s .. s end end",
        "function f() return string.rep('x', 1 << 30) end",
        "function f() local s = 'x' pcall(string.rep, s, 1 << 30) while true do end end",
    };
    for (size_t i = 0; i < countof(endless); i++) {
        struct outcome got = run(endless[i]);
        assert_int_equal(got.r, -ERR_LIMIT);
    }
}

TEST(codes_are_known_by_their_numbers) {
    bool is_unknown;
    assert_int_equal(lua_code_error(2048, &is_unknown), ERR_INVALID_LICENSE);
    assert_false(is_unknown);
    assert_int_equal(lua_code_error(-1, &is_unknown), ERR_GENERIC);
    assert_false(is_unknown);
    assert_int_equal(lua_code_error(12345, &is_unknown), ERR_GENERIC);
    assert_true(is_unknown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_says_what_it_has_to_say),
        cmocka_unit_test(names_of_lua_5_1_are_there),
        cmocka_unit_test(an_error_names_file_and_line),
        cmocka_unit_test(a_strict_script_may_lack_a_function),
        cmocka_unit_test(memory_that_garbage_took_does_not_taint_a_later_error),
        cmocka_unit_test(no_number_is_told),
        cmocka_unit_test(a_number_that_is_no_code_is_no_success),
        cmocka_unit_test(time_and_memory_end),
        cmocka_unit_test(codes_are_known_by_their_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
