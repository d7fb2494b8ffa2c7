/* SPDX-License-Identifier: Apache-2.0 */
/* Texts made from the option rows. */
#include <string.h>

#include "base/alloc.h"
#include "cli/options.h"
#include "golden.h"
#include "unit.h"

static const enum option_command all_commands[] = {OPTION_SBATCH, OPTION_SRUN, OPTION_SALLOC};

static void each_row_is_in(void (*print)(enum option_command, struct str *), const char *format) {
    for (size_t c = 0; c < countof(all_commands); c++) {
        cleanup_str struct str text = STR_INIT;
        print(all_commands[c], &text);
        for (size_t i = 0; i < OPT_COUNT; i++) {
            const struct option_row *row = &option_rows[i];
            cleanup_free char *form = xasprintf(format, row->name);
            bool found = strstr(text.data, form) != NULL;
            if ((row->commands & all_commands[c]) && !found)
                fail_msg("--%s is missing for %s", row->name, option_command_name(all_commands[c]));
        }
    }
}

TEST(help_and_completion_and_manual_know_every_option) {
    each_row_is_in(options_print_help, "--%s");
    each_row_is_in(options_print_completion, "--%s");
    each_row_is_in(options_print_manual, "--%s");
}

TEST(help_says_which_options_have_no_effect) {
    cleanup_str struct str text = STR_INIT;
    options_print_help(OPTION_SBATCH, &text);
    assert_non_null(strstr(text.data, "Usage: sbatch [OPTIONS...]"));
    assert_non_null(strstr(text.data, "reboot the nodes before the job starts (no effect yet)"));
}

TEST(usage_fits_into_100_columns) {
    for (size_t c = 0; c < countof(all_commands); c++) {
        cleanup_str struct str text = STR_INIT;
        options_print_usage(all_commands[c], &text);
        for (const char *line = text.data; *line; line += strcspn(line, "\n") + 1)
            assert_true(strcspn(line, "\n") <= 100);
    }
}

/* The page in the tree: prose around the table that the rows make. */
static void page_has_the_table(enum option_command command) {
    static const char start_mark[] = "# OPTIONS\n", end_mark[] = "\n; End of the table.\n";
    cleanup_free char *name = xasprintf("../../doc/man/%s.1.scd", option_command_name(command));
    cleanup_free char *path = xasprintf("%s/%s", GOLDEN_DIR, name);
    cleanup_str struct str page = STR_INIT, made = STR_INIT;
    golden_read(path, &page);
    const char *start = strstr(page.data, start_mark), *end = strstr(page.data, end_mark);
    assert_non_null(start);
    assert_non_null(end);
    str_append_bytes(&made, page.data, (size_t) (start - page.data));
    options_print_manual(command, &made);
    str_append(&made, end);
    golden_check(name, &made);
}

TEST(the_manual_pages_hold_the_tables_of_options) {
    page_has_the_table(OPTION_SBATCH);
    page_has_the_table(OPTION_SALLOC);
    page_has_the_table(OPTION_SRUN);
}

TEST(the_manual_names_the_variables_of_its_command) {
    cleanup_str struct str text = STR_INIT;
    options_print_manual(OPTION_SALLOC, &text);
    assert_non_null(strstr(text.data, "SALLOC\\_ACCOUNT"));
    assert_null(strstr(text.data, "SBATCH\\_ACCOUNT"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_completion_and_manual_know_every_option),
        cmocka_unit_test(help_says_which_options_have_no_effect),
        cmocka_unit_test(usage_fits_into_100_columns),
        cmocka_unit_test(the_manual_pages_hold_the_tables_of_options),
        cmocka_unit_test(the_manual_names_the_variables_of_its_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
