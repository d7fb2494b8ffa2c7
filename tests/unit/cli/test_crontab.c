/* SPDX-License-Identifier: Apache-2.0 */
/* Crontabs as text. */
#include <string.h>

#include "cli/crontab.h"
#include "unit.h"

static void refused(const char *text, const char *says) {
    struct crontab_text crontab = {0};
    struct error err = ERROR_INIT;
    if (crontab_parse(text, &crontab, &err) >= 0)
        fail_msg("%s was accepted", text);
    if (strstr(err.text, says) == NULL)
        fail_msg("%s: %s", text, err.text);
    crontab_text_done(&crontab);
}

TEST(entries_have_their_lines_options_and_variables) {
    struct crontab_text crontab = {0};
    struct error err = ERROR_INIT;
    const char *text = "# comment\n"
                       "A = \"one two\"\n"
                       "*/5 * * * * echo $A # not a comment\n"
                       "\n"
                       "#SCRON -t 5\n"
                       "# between\n"
                       "#SCRON -p main --name='a b'\n"
                       "B=2\n"
                       "@hourly\t/bin/true X=1\n"
                       "#SCRONTAB is a comment";
    assert_int_equal(crontab_parse(text, &crontab, &err), 0);
    assert_int_equal(crontab.entries.n, 2);
    const struct crontab_entry *first = &crontab.entries.items[0];
    assert_string_equal(first->spec, "*/5 * * * *");
    assert_string_equal(first->command, "echo $A # not a comment");
    assert_int_equal(first->first_line, 3);
    assert_int_equal(first->last_line, 3);
    assert_int_equal(first->n_variables, 1);
    const struct crontab_entry *second = &crontab.entries.items[1];
    assert_string_equal(second->command, "/bin/true X=1");
    assert_int_equal(second->first_line, 5);
    assert_int_equal(second->last_line, 9);
    assert_int_equal(second->options.n, 2);
    assert_string_equal(second->options.items[1].text, " -p main --name='a b'");
    assert_int_equal(second->options.items[1].number, 7);
    assert_int_equal(second->n_variables, 2);
    assert_string_equal(crontab.variables.items[0].value, "one two");
    crontab_text_done(&crontab);
}

TEST(what_is_wrong_is_named_with_its_line) {
    refused("@daily true\n61 * * * * true\n", "line 2: minute \"61\"");
    refused("* * * * *\n", "line 1: the command is missing");
    refused("true\n", "line 1: five fields");
    refused("@daily true\n#SCRON -t 5\n", "line 2: options (#SCRON) without an entry");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_have_their_lines_options_and_variables),
        cmocka_unit_test(what_is_wrong_is_named_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
