/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/list_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/list.h"
#include "unit.h"

struct seen {
    const char *name, *jobs, *format;
    int all;
    bool jobs_given;
};

static void set_name(void *settings, const char *value) {
    ((struct seen *) settings)->name = value;
}
static void set_jobs(void *settings, const char *value) {
    ((struct seen *) settings)->jobs = value;
    ((struct seen *) settings)->jobs_given = true;
}
static void set_format(void *settings, const char *value) {
    ((struct seen *) settings)->format = value ? value : "(none)";
}
static void set_all(void *settings, const char *value) {
    ((struct seen *) settings)->all++;
}

static const struct list_option rows[] = {
    {"all", 'a', LIST_ARG_NONE, "LISTTEST_ALL", set_all, NULL, "everything"},
    {"name", 'n', LIST_ARG_REQUIRED, "LISTTEST_NAME", set_name, "NAME", "of this name"},
    {"jobs", 'j', LIST_ARG_NEXT_WORD, NULL, set_jobs, "JOBS", "these jobs"},
    {"json", 0, LIST_ARG_OPTIONAL, NULL, set_format, "PLUGIN", "JSON"},
    {"verbose", 'v', LIST_ARG_NONE, NULL, NULL, NULL, "say more"},
    {"flags", 'F', LIST_ARG_REQUIRED, "LISTTEST_FLAGS", NULL, "LIST", "of these flags"},
};
static const struct list_options options = {rows, countof(rows), "listtest"};

#define ARGS_MAX 8
static int parse(struct seen *seen, const char *const *words) {
    char *argv[ARGS_MAX + 2] = {(char *) (uintptr_t) "listtest"};
    int argc = 1;
    while (words[argc - 1]) {
        argv[argc] = (char *) (uintptr_t) words[argc - 1];
        argc++;
    }
    *seen = (struct seen) {0};
    optind = 0; /* from the start again */
    return argc - list_options_parse(&options, argc, argv, seen);
}
#define PARSE(seen, ...) parse(seen, (const char *const[]) {__VA_ARGS__, NULL})

TEST(letters_names_and_abbreviations_are_the_same) {
    struct seen seen;
    assert_int_equal(PARSE(&seen, "-n", "x", "-a"), 0);
    assert_string_equal(seen.name, "x");
    assert_int_equal(seen.all, 1);
    PARSE(&seen, "--name=y", "--al");
    assert_string_equal(seen.name, "y");
    assert_int_equal(seen.all, 1);
    PARSE(&seen, "-anz");
    assert_string_equal(seen.name, "z");
    assert_int_equal(seen.all, 1);
}

TEST(an_optional_value_may_be_the_next_word) {
    struct seen seen;
    PARSE(&seen, "-j", "12");
    assert_string_equal(seen.jobs, "12");
    PARSE(&seen, "-j12");
    assert_string_equal(seen.jobs, "12");
    PARSE(&seen, "--jobs", "12", "-a");
    assert_string_equal(seen.jobs, "12");
    assert_int_equal(seen.all, 1);
    PARSE(&seen, "-j", "-a");
    assert_true(seen.jobs_given);
    assert_null(seen.jobs);
    assert_int_equal(seen.all, 1);
}

TEST(another_optional_value_stands_behind_an_equals_sign_only) {
    struct seen seen;
    assert_int_equal(PARSE(&seen, "--json", "word"), 1);
    assert_string_equal(seen.format, "(none)");
    PARSE(&seen, "--json=v0.0.43");
    assert_string_equal(seen.format, "v0.0.43");
}

TEST(the_command_line_wins_over_the_environment) {
    struct seen seen;
    setenv("LISTTEST_NAME", "env", 1);
    setenv("LISTTEST_ALL", "", 1);
    PARSE(&seen, "-j");
    assert_string_equal(seen.name, "env");
    assert_int_equal(seen.all, 1);
    PARSE(&seen, "-n", "line");
    assert_string_equal(seen.name, "line");
    unsetenv("LISTTEST_NAME");
    unsetenv("LISTTEST_ALL");
}

TEST(words_that_are_no_options_are_left_to_the_command) {
    struct seen seen;
    assert_int_equal(PARSE(&seen, "one", "-a", "two"), 2);
    assert_int_equal(seen.all, 1);
}

/* Exit status and stdout of a command line that ends the command. */
static int ended(const char *word, char *text, size_t size) {
    int out[2];
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct seen seen;
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        PARSE(&seen, word);
        _exit(99);
    }
    close(out[1]);
    ssize_t n, total = 0;
    while ((n = read(out[0], text + total, size - 1 - (size_t) total)) > 0)
        total += n;
    text[total] = '\0';
    close(out[0]);
    int status;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

TEST(help_lists_every_row) {
    char text[4096];
    assert_int_equal(ended("--help", text, sizeof(text)), 0);
    for (size_t i = 0; i < countof(rows); i++)
        assert_non_null(strstr(text, rows[i].help));
    assert_non_null(strstr(text, "-n, --name=NAME"));
    assert_non_null(strstr(text, "--json[=PLUGIN]"));
}

TEST(an_option_without_effect_says_so) {
    char text[4096];
    assert_int_equal(ended("-avFx", text, sizeof(text)), 99);
    assert_non_null(strstr(text, ": warning: accepted, but without effect in this release: "
                                 "--verbose, --flags\n"));
    setenv("LISTTEST_FLAGS", "x", 1);
    assert_int_equal(ended("-a", text, sizeof(text)), 99);
    assert_non_null(strstr(text, "this release: --flags\n"));
    unsetenv("LISTTEST_FLAGS");
    assert_int_equal(ended("-a", text, sizeof(text)), 99);
    assert_string_equal(text, "");
    ended("--help", text, sizeof(text));
    assert_non_null(strstr(text, "say more (no effect yet)\n"));
}

TEST(the_version_is_that_of_the_release_followed) {
    char text[4096];
    assert_int_equal(ended("-V", text, sizeof(text)), 0);
    assert_string_equal(text, "slurm 26.05.3\n");
    assert_int_equal(ended("--version", text, sizeof(text)), 0);
    assert_string_equal(text, "slurm 26.05.3\n");
}

TEST(an_unknown_option_points_to_help) {
    char text[4096];
    assert_int_equal(ended("--foo", text, sizeof(text)), 1);
    assert_non_null(strstr(text, "unrecognized option '--foo'"));
    assert_non_null(strstr(text, "--help\" for more information"));
}

TEST(common_setters_write_to_the_member_that_the_row_names) {
    struct settings {
        const char *format, *json;
        bool all, hidden;
        struct strs names, users;
    } settings = {.hidden = true};
    static const struct list_option own[] = {
        {"all", 'a', LIST_ARG_NONE, NULL, list_set_true, NULL, "", offsetof(struct settings, all)},
        {"hide", 0, LIST_ARG_NONE, NULL, list_set_false, NULL, "",
         offsetof(struct settings, hidden)},
        {"format", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "F", "",
         offsetof(struct settings, format)},
        {"json", 0, LIST_ARG_OPTIONAL, NULL, list_set_json, "P", "",
         offsetof(struct settings, json)},
        {"name", 'n', LIST_ARG_REQUIRED, NULL, list_set_words, "N", "",
         offsetof(struct settings, names)},
        {"user", 'u', LIST_ARG_REQUIRED, NULL, list_add_words, "U", "",
         offsetof(struct settings, users)},
    };
    static const struct list_options set = {own, countof(own), "listtest"};
    const char *const words[] = {"listtest", "-a",         "--hide", "--format=x", "--json",
                                 "-n",       "lost,words", "-n",     "a,b",        "-u",
                                 "c",        "-u",         "d",      NULL};
    optind = 0;
    list_options_parse(&set, (int) countof(words) - 1, (char **) (uintptr_t) words, &settings);
    assert_true(settings.all && !settings.hidden);
    assert_string_equal(settings.format, "x");
    assert_string_equal(settings.json, "");
    assert_true(settings.names.n == 2 && strs_has(&settings.names, "b"));
    assert_true(settings.users.n == 2 && strs_has(&settings.users, "c"));
    strs_done(&settings.names);
    strs_done(&settings.users);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_names_and_abbreviations_are_the_same),
        cmocka_unit_test(an_optional_value_may_be_the_next_word),
        cmocka_unit_test(another_optional_value_stands_behind_an_equals_sign_only),
        cmocka_unit_test(the_command_line_wins_over_the_environment),
        cmocka_unit_test(words_that_are_no_options_are_left_to_the_command),
        cmocka_unit_test(help_lists_every_row),
        cmocka_unit_test(an_option_without_effect_says_so),
        cmocka_unit_test(the_version_is_that_of_the_release_followed),
        cmocka_unit_test(an_unknown_option_points_to_help),
        cmocka_unit_test(common_setters_write_to_the_member_that_the_row_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
