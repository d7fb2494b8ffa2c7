/* SPDX-License-Identifier: Apache-2.0 */
/* Memory sizes and counts with units. */
#include "text/size.h"

#include <string.h>

#include "base/alloc.h"
#include "unit.h"

static uint64_t mem_of(const char *text) {
    uint64_t mib = 999999;
    return mem_parse(text, &mib, NULL) < 0 ? UINT64_MAX : mib;
}

static const char *mem_text(uint64_t mib, bool convert) {
    static struct str text;
    str_reset(&text);
    mem_print(mib, convert, &text);
    return str_cstr(&text);
}

static const char *kib_text(uint64_t kib, char unit, bool convert) {
    static struct str text;
    str_reset(&text);
    kib_print(kib, unit, convert, &text);
    return str_cstr(&text);
}

TEST(memory_defaults_to_mib_and_kib_round_up) {
    assert_int_equal(mem_of("100"), 100);
    assert_int_equal(mem_of("0"), 0);
    assert_int_equal(mem_of("1K"), 1);
    assert_int_equal(mem_of("1024k"), 1);
    assert_int_equal(mem_of("1025K"), 2);
    assert_int_equal(mem_of("5KB"), 1);
    assert_int_equal(mem_of("10mb"), 10);
    assert_int_equal(mem_of("4G"), 4096);
    assert_int_equal(mem_of("10tB"), 10485760);
    assert_int_equal(mem_of("4294967296"), 4294967296);
}

TEST(what_is_not_a_size_is_refused_with_the_text_and_the_forms) {
    static const char *const bad[] = {"",
                                      "g",
                                      "10X",
                                      "1.5G",
                                      "10B",
                                      "10GBB",
                                      " 10",
                                      "10 ",
                                      "-5",
                                      "+5",
                                      "1P",
                                      "0x10",
                                      "K",
                                      "99999999999999999999",
                                      "18446744073709551615T"};
    for (size_t i = 0; i < countof(bad); i++)
        assert_true(mem_of(bad[i]) == UINT64_MAX);
    struct error err = ERROR_INIT;
    uint64_t mib;
    assert_int_equal(mem_parse("1.5G", &mib, &err), -ERR_INVALID);
    assert_non_null(strstr(err.text, "\"1.5G\""));
}

TEST(memory_is_shown_in_the_largest_unit_that_halves_allow) {
    assert_string_equal(mem_text(0, true), "0");
    assert_string_equal(mem_text(100, true), "100M");
    assert_string_equal(mem_text(1023, true), "1023M");
    assert_string_equal(mem_text(1024, true), "1G");
    assert_string_equal(mem_text(1280, true), "1280M");
    assert_string_equal(mem_text(1500, true), "1500M");
    assert_string_equal(mem_text(1536, true), "1.50G");
    assert_string_equal(mem_text(2048, true), "2G");
    assert_string_equal(mem_text(64000, true), "62.50G");
    assert_string_equal(mem_text(1126400, true), "1100G");
    assert_string_equal(mem_text(1310720, true), "1280G");
    assert_string_equal(mem_text(1572864, true), "1.50T");
    assert_string_equal(mem_text(3145728, true), "3T");
    assert_string_equal(mem_text((uint64_t) 24000000 * 1024, true), "23437.50T");
    assert_string_equal(mem_text((uint64_t) 4 << 40, true), "4096P");
    assert_string_equal(mem_text(3145728, false), "3145728M");
}

TEST(memory_that_was_shown_is_read_again) {
    static const uint64_t sizes[] = {0,       1,        1000,       1024,          1536,
                                     2560,    1u << 20, 3u << 19,   1u << 30,      3u << 29,
                                     1048577, 5u << 29, 1ull << 40, 2560ull << 30, UINT64_MAX};
    uint64_t mib = 0;
    for (size_t i = 0; i < countof(sizes); i++) {
        struct str text cleanup_str = STR_INIT;
        mem_print(sizes[i], true, &text);
        assert_int_equal(mem_read(text.data, &mib, NULL), 0);
        assert_true(mib == sizes[i]);
    }
    static const char *const bad[] = {"1.50",   "1.50K", "1.50M", "1.5G",
                                      "1.50GG", ".50G",  "P",     "99999999999999P"};
    for (size_t i = 0; i < countof(bad); i++)
        assert_int_equal(mem_read(bad[i], &mib, NULL), -ERR_INVALID);
    assert_true(mib == UINT64_MAX);
}

TEST(kib_take_a_forced_unit_with_two_decimals) {
    assert_string_equal(kib_text(4152, 0, true), "4152K");
    assert_string_equal(kib_text(10240, 0, true), "10M");
    assert_string_equal(kib_text(1572864, 0, true), "1.50G");
    assert_string_equal(kib_text(10240, 0, false), "10240K");
    assert_string_equal(kib_text(4152, 'M', true), "4.05M");
    assert_string_equal(kib_text(4096, 'M', true), "4M");
    assert_string_equal(kib_text(4152, 'K', true), "4152K");
    assert_string_equal(kib_text(1, 'G', true), "0.00G");
    assert_string_equal(kib_text(0, 'G', true), "0");
    assert_string_equal(kib_text(1048575, 'G', true), "0.99G");
}

TEST(counts_scale_by_1024) {
    uint64_t count = 0;
    assert_int_equal(count_parse("12", &count, NULL), 0);
    assert_int_equal(count, 12);
    assert_int_equal(count_parse("2k", &count, NULL), 0);
    assert_int_equal(count, 2048);
    assert_int_equal(count_parse("1P", &count, NULL), 0);
    assert_true(count == (uint64_t) 1 << 50);
    static const char *const bad[] = {"", "K", "1KB", "1.5", "-1", "99999P", "1 "};
    for (size_t i = 0; i < countof(bad); i++)
        assert_int_equal(count_parse(bad[i], &count, NULL), -ERR_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_defaults_to_mib_and_kib_round_up),
        cmocka_unit_test(what_is_not_a_size_is_refused_with_the_text_and_the_forms),
        cmocka_unit_test(memory_is_shown_in_the_largest_unit_that_halves_allow),
        cmocka_unit_test(memory_that_was_shown_is_read_again),
        cmocka_unit_test(kib_take_a_forced_unit_with_two_decimals),
        cmocka_unit_test(counts_scale_by_1024),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
