/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/log.h"

static char path[64];

static char *content(void) {
    static char buffer[8192];
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, buffer, sizeof(buffer) - 1);
    close(fd);
    buffer[n > 0 ? n : 0] = '\0';
    return buffer;
}

static void open_log(enum log_level level, enum log_time_format format) {
    strcpy(path, "/tmp/sluice-log-XXXXXX");
    close(mkstemp(path));
    struct log_config config = {
        .ident = "slurmctld", .file = path, .file_level = level, .time_format = format};
    struct error err = ERROR_INIT;
    assert_int_equal(log_open(&config, &err), 0);
}

static void close_log(void) {
    log_close();
    unlink(path);
}

/* '#' stands for a digit. */
static void assert_like(const char *got, const char *pattern) {
    for (size_t i = 0;; i++) {
        if (pattern[i] == '#' ? got[i] < '0' || got[i] > '9' : got[i] != pattern[i])
            fail_msg("\"%s\" is not like \"%s\"", got, pattern);
        if (!pattern[i])
            return;
    }
}

TEST(a_line_has_the_time_and_the_level) {
    open_log(LOG_LEVEL_DEBUG2, LOG_TIME_ISO8601_MS);
    log_error("one %d", 1);
    log_info("two");
    log_debug("three");
    log_debug2("four");
    log_debug3("five");
    log_fatal("six");
    assert_like(content(), "[####-##-##T##:##:##.###] error: one 1\n"
                           "[####-##-##T##:##:##.###] two\n"
                           "[####-##-##T##:##:##.###] debug:  three\n"
                           "[####-##-##T##:##:##.###] debug2: four\n"
                           "[####-##-##T##:##:##.###] fatal: six\n");
    close_log();
}

TEST(a_message_cannot_forge_a_second_line_and_errno_is_kept) {
    open_log(LOG_LEVEL_INFO, LOG_TIME_ISO8601);
    errno = EAGAIN;
    log_info("name=%s", "x\n[2026-01-01T00:00:00] error: forged\x1b[2J");
    assert_int_equal(errno, EAGAIN);
    assert_like(content(), "[####-##-##T##:##:##] name=x\\n[2026-01-01T00:00:00] error: "
                           "forged\\033[2J\n");
    close_log();
}

TEST(time_formats_are_those_of_slurm_conf) {
    static const struct {
        const char *name, *pattern;
    } cases[] = {
        {"iso8601", "[####-##-##T##:##:##] x\n"},
        {"iso8601_ms", "[####-##-##T##:##:##.###] x\n"},
        {"rfc5424", "[####-##-##T##:##:##+##:##] x\n"},
        {"rfc5424_ms", "[####-##-##T##:##:##.###+##:##] x\n"},
        {"rfc3339", "[####-##-##T##:##:##Z] x\n"},
    };
    setenv("TZ", "Asia/Tokyo", 1);
    for (size_t i = 0; i < countof(cases); i++) {
        enum log_time_format format;
        bool stderr_has_time;
        struct error err = ERROR_INIT;
        assert_int_equal(log_time_format_parse(cases[i].name, &format, &stderr_has_time, &err), 0);
        assert_false(stderr_has_time);
        open_log(LOG_LEVEL_INFO, format);
        log_info("x");
        assert_like(content(), cases[i].pattern);
        close_log();
    }
    unsetenv("TZ");
}

TEST(unknown_names_are_refused_with_those_that_exist) {
    enum log_time_format format;
    bool stderr_has_time;
    enum log_level level;
    struct error err = ERROR_INIT;
    assert_int_equal(log_time_format_parse("short,format_stderr", &format, &stderr_has_time, &err),
                     0);
    assert_true(stderr_has_time);
    assert_int_equal(format, LOG_TIME_SHORT);
    assert_int_equal(log_time_format_parse("iso9", &format, &stderr_has_time, &err), -ERR_INVALID);
    assert_non_null(strstr(err.text, "rfc5424_ms"));
    assert_int_equal(log_level_parse("Debug2", &level, &err), 0);
    assert_int_equal(level, LOG_LEVEL_DEBUG2);
    assert_int_equal(log_level_parse("3", &level, &err), 0);
    assert_int_equal(level, LOG_LEVEL_INFO);
    assert_int_equal(log_level_parse("10", &level, &err), -ERR_INVALID);
    assert_int_equal(log_level_parse("loud", &level, &err), -ERR_INVALID);
}

TEST(a_rotated_file_is_opened_anew) {
    open_log(LOG_LEVEL_INFO, LOG_TIME_ISO8601);
    char rotated[96];
    snprintf(rotated, sizeof(rotated), "%s.1", path);
    log_info("old");
    assert_int_equal(rename(path, rotated), 0);
    log_info("still old");
    struct error err = ERROR_INIT;
    assert_int_equal(log_reopen(&err), 0);
    log_info("new");
    assert_like(content(), "[####-##-##T##:##:##] new\n");
    unlink(rotated);
    close_log();
}

TEST(a_level_that_is_off_costs_no_line) {
    open_log(LOG_LEVEL_ERROR, LOG_TIME_ISO8601);
    log_info("x");
    assert_false(log_is_on(LOG_LEVEL_INFO));
    log_set_level(LOG_LEVEL_INFO);
    log_info("y");
    assert_like(content(), "[####-##-##T##:##:##] y\n");
    close_log();
}

TEST(repeated_lines_are_limited_and_counted) {
    struct log_limit limit = {.per_minute = 2};
    unsigned suppressed = 99;
    uint64_t now = 1000000000;
    assert_true(log_limit_pass(&limit, now, &suppressed));
    assert_int_equal(suppressed, 0);
    assert_true(log_limit_pass(&limit, now + 1, &suppressed));
    assert_false(log_limit_pass(&limit, now + 2, &suppressed));
    assert_false(log_limit_pass(&limit, now + 3, &suppressed));
    assert_true(log_limit_pass(&limit, now + 60000001, &suppressed));
    assert_int_equal(suppressed, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_the_time_and_the_level),
        cmocka_unit_test(a_message_cannot_forge_a_second_line_and_errno_is_kept),
        cmocka_unit_test(time_formats_are_those_of_slurm_conf),
        cmocka_unit_test(unknown_names_are_refused_with_those_that_exist),
        cmocka_unit_test(a_rotated_file_is_opened_anew),
        cmocka_unit_test(a_level_that_is_off_costs_no_line),
        cmocka_unit_test(repeated_lines_are_limited_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
