/* SPDX-License-Identifier: Apache-2.0 */
/* The vocabularies: spellings, bits, old words. */
#include "test_conf.h"

static void assert_words(const struct conf_vocabulary *words, uint64_t flags,
                         const char *expected) {
    cleanup_str struct str text = STR_INIT;
    conf_words_print(words, flags, &text);
    assert_string_equal(str_cstr(&text), expected);
}

TEST(enum_constants_count_from_zero_in_their_own_vocabulary) {
    assert_int_equal(CONF_LEVEL_QUIET, 0);
    assert_int_equal(CONF_LEVEL_INFO, 3);
    assert_int_equal(CONF_AUTH_MUNGE, 0);
    assert_int_equal(CONF_SELECT_CONS_TRES, 0);
}

TEST(flag_constants_are_single_bits_in_their_own_vocabulary) {
    assert_int_equal(CONF_PRIVATE_ACCOUNTS, 1);
    assert_int_equal(CONF_PRIVATE_CLOUD, 2);
    assert_int_equal(CONF_DEBUG_ACCRUE, 1);
    assert_true(CONF_DEBUG_WORKQ > UINT64_C(1) << 40);
}

TEST(flags_are_printed_in_the_order_of_the_vocabulary) {
    assert_words(&conf_vocabulary_PRIVATE, CONF_PRIVATE_USERS | CONF_PRIVATE_JOBS, "jobs,users");
    assert_words(&conf_vocabulary_PRIVATE, 0, "");
}

TEST(a_unit_and_memory_are_printed_as_one_word) {
    assert_words(&conf_vocabulary_SELECT_PARAM, CONF_CR_CORE | CONF_CR_MEMORY | CONF_CR_LLN,
                 "CR_CORE_MEMORY,CR_LLN");
    assert_words(&conf_vocabulary_SELECT_PARAM, CONF_CR_MEMORY, "CR_MEMORY");
}

TEST(the_name_of_a_value_is_its_current_spelling) {
    assert_string_equal(conf_word_name(&conf_vocabulary_LEVEL, CONF_LEVEL_DEBUG), "debug");
    assert_string_equal(conf_word_name(&conf_vocabulary_TOPOLOGY, CONF_TOPOLOGY_FLAT),
                        "topology/flat");
    assert_null(conf_word_name(&conf_vocabulary_LEVEL, 99));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enum_constants_count_from_zero_in_their_own_vocabulary),
        cmocka_unit_test(flag_constants_are_single_bits_in_their_own_vocabulary),
        cmocka_unit_test(flags_are_printed_in_the_order_of_the_vocabulary),
        cmocka_unit_test(a_unit_and_memory_are_printed_as_one_word),
        cmocka_unit_test(the_name_of_a_value_is_its_current_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
