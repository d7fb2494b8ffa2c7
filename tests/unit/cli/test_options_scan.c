/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of option words: getopt's rules and complaints. */
#include <string.h>

#include "base/alloc.h"
#include "cli/options.h"
#include "unit.h"

/* "id=value id …|rest rest" of the words of a line (blanks separate), or "!complaint". */
static const char *scan(enum option_command command, enum option_order order, const char *line) {
    static struct str out;
    struct option_set set = option_set_of(command, option_command_name(command));
    struct option_uses uses = {0};
    cleanup_str struct str complaint = STR_INIT;
    vec(char *) words = {0};
    cleanup_free char *copy = xstrdup(line);
    char *cursor = copy;
    for (char *word; (word = strsep(&cursor, " ")) != NULL;)
        vec_push(&words, word);
    str_reset(&out);
    if (option_scan(&set, words.items, words.n, order, &uses, &complaint)) {
        for (size_t i = 0; i < uses.options.n; i++) {
            const struct option_use *use = &uses.options.items[i];
            str_printf(&out, "%s%s%s%s", i ? " " : "", use->row->name, use->value ? "=" : "",
                       use->value ? use->value : "");
        }
        str_append_char(&out, '|');
        for (size_t i = 0; i < uses.rest.n; i++)
            str_printf(&out, "%s%s", i ? " " : "", uses.rest.items[i]);
    } else {
        str_printf(&out, "!%s", complaint.data);
    }
    vec_done(&words);
    option_uses_done(&uses);
    return str_cstr(&out);
}

static const char *sbatch(const char *line) {
    return scan(OPTION_SBATCH, OPTION_STOP, line);
}

TEST(values_stand_after_an_equals_sign_or_in_the_next_word) {
    assert_string_equal(sbatch("--time=5 --nodes 2"), "time=5 nodes=2|");
    assert_string_equal(sbatch("-t 5 -N2 -n=3"), "time=5 nodes=2 ntasks==3|");
    assert_string_equal(sbatch("--job-name="), "job-name=|");
    assert_string_equal(sbatch("-J -n"), "job-name=-n|");
}

TEST(optional_values_are_never_the_next_word) {
    assert_string_equal(sbatch("--nice 5"), "nice|5");
    assert_string_equal(sbatch("--nice=5"), "nice=5|");
    assert_string_equal(scan(OPTION_SRUN, OPTION_STOP, "-I60 -K -K1 cmd"),
                        "immediate=60 kill-on-bad-exit kill-on-bad-exit=1|cmd");
}

TEST(letters_may_be_bundled) {
    assert_string_equal(sbatch("-HWp short"), "hold wait partition=short|");
    assert_string_equal(sbatch("-HJname"), "hold job-name=name|");
}

TEST(unique_abbreviations_are_accepted) {
    assert_string_equal(sbatch("--out=x --err y --job-n=z --license a:1"),
                        "output=x error=y job-name=z licenses=a:1|");
    assert_string_equal(sbatch("--constrain= --exclusiv --no-reque --depend=singleton"),
                        "constraint= exclusive no-requeue dependency=singleton|");
    assert_string_equal(sbatch("--job=x"), "job-name=x|");
}

TEST(an_exact_name_beats_longer_ones) {
    assert_string_equal(sbatch("--mem=1 --gres=gpu --gpus=2 --wait"),
                        "mem=1 gres=gpu gpus=2 wait|");
}

TEST(other_names_lead_to_the_same_row) {
    assert_string_equal(sbatch("--tasks-per-node=4 --tasks 2 --cluster=a --clusters=b"),
                        "ntasks-per-node=4 ntasks-per-node=2 clusters=a clusters=b|");
}

TEST(ambiguity_lists_what_is_possible) {
    assert_string_equal(sbatch("--par x"), "!sbatch: option '--par' is ambiguous; possibilities: "
                                           "'--parsable' '--partition'");
    assert_string_equal(sbatch("--gre=gpu:1"), "!sbatch: option '--gre=gpu:1' is ambiguous; "
                                               "possibilities: '--gres' '--gres-flags'");
}

TEST(complaints_are_those_of_getopt) {
    assert_string_equal(sbatch("--workdir=/tmp"), "!sbatch: unrecognized option '--workdir=/tmp'");
    assert_string_equal(sbatch("-Y"), "!sbatch: invalid option -- 'Y'");
    assert_string_equal(sbatch("-J"), "!sbatch: option requires an argument -- 'J'");
    assert_string_equal(sbatch("--time"), "!sbatch: option '--time' requires an argument");
    assert_string_equal(sbatch("--hold=yes"), "!sbatch: option '--hold' doesn't allow an argument");
    assert_string_equal(sbatch("--immediate=3"), "!sbatch: unrecognized option '--immediate=3'");
}

TEST(submitting_commands_stop_at_the_first_word_that_is_no_option) {
    assert_string_equal(sbatch("-H s.sh -n 5 --foo"), "hold|s.sh -n 5 --foo");
    assert_string_equal(sbatch("-H -- -n 5"), "hold|-n 5");
    assert_string_equal(sbatch("-H -"), "hold|-");
}

TEST(permuting_commands_take_options_anywhere) {
    assert_string_equal(scan(OPTION_SBATCH, OPTION_PERMUTE, "12 -n 2 13 --hold -- -x"),
                        "ntasks=2 hold|12 13 -x");
}

TEST(rows_of_one_command_have_names_and_letters_of_their_own) {
    for (size_t i = 0; i < OPT_COUNT; i++)
        for (size_t j = i + 1; j < OPT_COUNT; j++) {
            const struct option_row *a = &option_rows[i], *b = &option_rows[j];
            if (!(a->commands & b->commands))
                continue;
            assert_string_not_equal(a->name, b->name);
            if (a->letter && a->letter == b->letter)
                fail_msg("-%c is both --%s and --%s", a->letter, a->name, b->name);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_stand_after_an_equals_sign_or_in_the_next_word),
        cmocka_unit_test(optional_values_are_never_the_next_word),
        cmocka_unit_test(letters_may_be_bundled),
        cmocka_unit_test(unique_abbreviations_are_accepted),
        cmocka_unit_test(an_exact_name_beats_longer_ones),
        cmocka_unit_test(other_names_lead_to_the_same_row),
        cmocka_unit_test(ambiguity_lists_what_is_possible),
        cmocka_unit_test(complaints_are_those_of_getopt),
        cmocka_unit_test(submitting_commands_stop_at_the_first_word_that_is_no_option),
        cmocka_unit_test(permuting_commands_take_options_anywhere),
        cmocka_unit_test(rows_of_one_command_have_names_and_letters_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
