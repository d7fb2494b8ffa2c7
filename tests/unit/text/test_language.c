/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/alloc.h"
#include "text/language.h"

TEST(korean_is_korean_in_utf_8_alone) {
    static const char *const korean[] = {"ko", "ko_KR", "ko_KR.UTF-8", "ko_KR.utf8", "ko_KP@x"};
    static const char *const english[] = {"C", "", "en_US.UTF-8", "kok_IN", "k", "ko_KR.EUC-KR"};
    for (size_t i = 0; i < countof(korean); i++)
        assert_int_equal(language_of(korean[i]), LANGUAGE_KOREAN);
    for (size_t i = 0; i < countof(english); i++)
        assert_int_equal(language_of(english[i]), LANGUAGE_ENGLISH);
    assert_int_equal(language_of(NULL), LANGUAGE_ENGLISH);
}

TEST(texts_are_compared_by_what_each_argument_is) {
    assert_true(phrase_takes_the_same("%s has %zu", "%2$zu of %1$s"));
    assert_true(phrase_takes_the_same("100 %% of %.1f", "%.1f"));
    assert_true(phrase_takes_the_same("none", "nichts"));
    assert_false(phrase_takes_the_same("%s has %zu", "%zu of %s"));
    assert_false(phrase_takes_the_same("%s", "none"));
    assert_false(phrase_takes_the_same("%s %s", "%1$s"));
    assert_false(phrase_takes_the_same("%u", "%llu"));
    assert_false(phrase_takes_the_same("%s", "%"));
    assert_false(phrase_takes_the_same("%0$s", "%0$s"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(korean_is_korean_in_utf_8_alone),
        cmocka_unit_test(texts_are_compared_by_what_each_argument_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
