/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/main.h"
#include "cli/phrases.h"
#include "model/reason.h"

/* A text ends as the other does: with a line, a blank, or neither. */
static char end_of(const char *text) {
    char last = text[strlen(text) - 1];
    return last == '\n' || last == ' ' ? last : 'x';
}

TEST(every_phrase_is_there_in_both_languages_with_the_same_arguments) {
    for (int i = 0; i < PHRASES; i++) {
        const char *english = phrase(LANGUAGE_ENGLISH, (enum phrase_id) i);
        const char *korean = phrase(LANGUAGE_KOREAN, (enum phrase_id) i);
        if (english == NULL || korean == NULL || english[0] == '\0' || korean[0] == '\0')
            fail_msg("phrase %d is missing", i);
        if (!phrase_takes_the_same(english, korean))
            fail_msg("%s\n%s", english, korean);
        if (end_of(english) != end_of(korean) || strcmp(english, korean) == 0)
            fail_msg("%s\n%s", english, korean);
    }
}

TEST(every_cure_is_there_in_both_languages) {
    for (size_t i = 0; i < reason_table_size; i++) {
        const char *korean = reason_table[i].cures[LANGUAGE_KOREAN];
        assert_non_null(reason_table[i].cures[LANGUAGE_ENGLISH]);
        if (korean == NULL || !str_is_printable_utf8(korean))
            fail_msg("%s", reason_table[i].begins);
    }
}

TEST(the_language_is_the_users) {
    unsetenv("LC_ALL");
    unsetenv("LC_MESSAGES");
    setenv("LANG", "ko_KR.UTF-8", 1);
    assert_int_equal(cli_language(), LANGUAGE_KOREAN);
    setenv("LC_MESSAGES", "C", 1);
    assert_int_equal(cli_language(), LANGUAGE_ENGLISH);
    setenv("LC_ALL", "ko", 1);
    assert_int_equal(cli_language(), LANGUAGE_KOREAN);
    setenv("LC_ALL", "", 1);
    assert_int_equal(cli_language(), LANGUAGE_ENGLISH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_phrase_is_there_in_both_languages_with_the_same_arguments),
        cmocka_unit_test(every_cure_is_there_in_both_languages),
        cmocka_unit_test(the_language_is_the_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
