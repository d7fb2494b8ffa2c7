/* SPDX-License-Identifier: Apache-2.0 */
/* Batch scripts: which may be submitted, and what their directives say. */
#include "cli/script.h"

#include <string.h>

#include "base/alloc.h"
#include "unit.h"

static struct bytes bytes_of(const char *text) {
    return (struct bytes) {(const uint8_t *) text, strlen(text)};
}

static const char *check(struct bytes script) {
    static struct error err;
    err = (struct error) ERROR_INIT;
    return script_check(script, &err) == 0 ? "ok" : err.text;
}

/* "word word/word" of all directives, lines separated by '/'; "!message" on an error. */
static const char *directives(const char *text) {
    static struct str out;
    struct script_words words = {0};
    struct error err = ERROR_INIT;
    str_reset(&out);
    if (script_scan(bytes_of(text), "s.sh", &words, &err) < 0)
        str_printf(&out, "!%s", err.text);
    for (size_t i = 0; i < words.lines.n && !err.code; i++)
        for (size_t j = 0; j < words.lines.items[i].n; j++)
            str_printf(&out, "%s%s",
                       j   ? " "
                       : i ? "/"
                           : "",
                       words.words.items[words.lines.items[i].first + j]);
    script_words_done(&words);
    return str_cstr(&out);
}

TEST(scripts_begin_with_an_interpreter) {
    assert_string_equal(check(bytes_of("#!/bin/sh\ntrue\n")), "ok");
    assert_string_equal(check(bytes_of("#! /bin/sh")), "ok");
    assert_string_equal(check(bytes_of("true\n")),
                        "This does not look like a batch script.  The first\n"
                        "line must start with #! followed by the path to an interpreter.\n"
                        "For instance: #!/bin/sh");
}

TEST(empty_binary_and_dos_scripts_are_refused) {
    assert_string_equal(check(bytes_of("")), "Batch script is empty!");
    assert_string_equal(check(bytes_of(" \n\t\n")), "Batch script contains only whitespace!");
    assert_string_equal(check((struct bytes) {(const uint8_t *) "#!/bin/sh\n\0x", 12}),
                        "The Slurm controller does not allow scripts that\n"
                        "contain a NULL character '\\0'.");
    assert_string_equal(check(bytes_of("#!/bin/sh\ntrue\r\n")),
                        "Batch script contains DOS line breaks (\\r\\n)\n"
                        "instead of expected UNIX line breaks (\\n).");
}

TEST(directives_start_in_the_first_column_with_the_exact_word) {
    assert_string_equal(directives("#!/bin/sh\n#SBATCH -n 1\n##SBATCH -n 2\n# SBATCH -n 3\n"
                                   " #SBATCH -n 4\n#sbatch -n 5\n#SBATCH--nice=3\n"),
                        "-n 1/--nice=3");
    assert_string_equal(directives("#!/bin/sh\n#SBATCHX\n"), "X");
    assert_string_equal(directives("#!/bin/sh\n#SBATCH\n#SBATCH # only a comment\n"), "");
}

TEST(the_first_command_ends_the_directives) {
    assert_string_equal(directives("#!/bin/sh\n#SBATCH -n 1\n\n   # comment\n#SBATCH -t 2\n"
                                   "echo\n#SBATCH -t 3\n"),
                        "-n 1/-t 2");
    assert_string_equal(directives("#!/bin/sh\n: no\n#SBATCH -t 3\n"), "");
}

TEST(words_are_split_at_blanks_and_tabs) {
    assert_string_equal(directives("#SBATCH\t--ntasks=2 \t -c   2  \n"), "--ntasks=2 -c 2");
}

TEST(quotes_group_and_join) {
    assert_string_equal(directives("#SBATCH --job-name=\"quoted name\"   # trailing\n"),
                        "--job-name=quoted name");
    assert_string_equal(directives("#SBATCH -J 'x y'z --comment=$USER-`id`-*\n"),
                        "-J x yz --comment=$USER-`id`-*");
    assert_string_equal(directives("#SBATCH --comment=\"x 'y' z\" -J ''\n"),
                        "--comment=x 'y' z -J ");
}

TEST(a_backslash_takes_the_next_character_as_it_is) {
    assert_string_equal(directives("#SBATCH -J a\\\"b -o a\\#b -i \"x\\ y\" -A \\\\\n"),
                        "-J a\"b -o a#b -i x y -A \\");
    /* No blank outside quotes, as it always has been. */
    assert_string_equal(directives("#SBATCH -J a\\ b\n"), "-J a b");
    assert_string_equal(directives("#SBATCH -J a\\\n"), "-J a");
}

TEST(an_unquoted_hash_ends_the_line_even_inside_a_word) {
    assert_string_equal(directives("#SBATCH -J a#b -t 7\n#SBATCH -o \"a#b\"\n"), "-J a/-o a#b");
}

TEST(a_quote_that_is_not_closed_names_its_line) {
    assert_string_equal(directives("#!/bin/sh\n#SBATCH -J \"open\ntrue\n"),
                        "!s.sh: line 2: Unmatched `\"` in [ \"open]");
}

TEST(component_separators_and_old_directives_are_noticed) {
    struct script_words words = {0};
    assert_int_equal(script_scan(bytes_of("#!/bin/sh\n#SLURM -n 1\n#SBATCH hetjob\n#SBATCH -n 2\n"),
                                 "s", &words, NULL),
                     0);
    assert_int_equal(words.n_components, 2);
    assert_false(words.packjob);
    assert_true(words.obsolete);
    assert_int_equal(words.lines.n, 2);
    assert_int_equal(words.lines.items[0].component, 0);
    assert_int_equal(words.lines.items[1].component, 1);
    script_words_done(&words);
}

TEST(wrap_makes_a_script_that_may_be_submitted) {
    cleanup_str struct str script = STR_INIT;
    script_wrap("echo hello", &script);
    assert_string_equal(check(bytes_of(script.data)), "ok");
    assert_non_null(strstr(script.data, "\necho hello\n"));
    assert_string_equal(directives(script.data), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_begin_with_an_interpreter),
        cmocka_unit_test(empty_binary_and_dos_scripts_are_refused),
        cmocka_unit_test(directives_start_in_the_first_column_with_the_exact_word),
        cmocka_unit_test(the_first_command_ends_the_directives),
        cmocka_unit_test(words_are_split_at_blanks_and_tabs),
        cmocka_unit_test(quotes_group_and_join),
        cmocka_unit_test(a_backslash_takes_the_next_character_as_it_is),
        cmocka_unit_test(an_unquoted_hash_ends_the_line_even_inside_a_word),
        cmocka_unit_test(a_quote_that_is_not_closed_names_its_line),
        cmocka_unit_test(component_separators_and_old_directives_are_noticed),
        cmocka_unit_test(wrap_makes_a_script_that_may_be_submitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
