/* SPDX-License-Identifier: Apache-2.0 */
/* GRES requests: forms, sums, refusals. */
#include "text/tres.h"

#include <string.h>

#include "base/alloc.h"
#include "unit.h"

static const struct {
    const char *text, *printed;
} good[] = {
    {"", ""},
    {"none", ""},
    {"NONE", ""},
    {"gpu", "gpu:1"},
    {"gpu:2", "gpu:2"},
    {"gpu:a100", "gpu:a100:1"},
    {"gpu:a100:2", "gpu:a100:2"},
    {"gpu:A100:2", "gpu:A100:2"},
    {"gpu:2,gpu", "gpu:3"},
    {"gpu:a100:1,gpu:A100:2", "gpu:a100:3"},
    {"gpu:a100:1,gpu:v100:2,shard:4", "gpu:a100:1,gpu:v100:2,shard:4"},
    {"gpu:1K", "gpu:1024"},
    {"gpu:0", "gpu:0"},
    {"gres:gpu:2", "gpu:2"},
    {"gres/gpu:2", "gpu:2"},
    {"gres/gpu=2", "gpu:2"},
    {"gres/gpu:a100=2,gpu:a100:1", "gpu:a100:3"},
    {"gpu:1g.5gb", "gpu:1g.5gb:1"},
    {"gpu:1g.5gb:2", "gpu:1g.5gb:2"},
    {"gpu:x2", "gpu:x2:1"},
};

TEST(requests_are_read_and_printed) {
    for (size_t i = 0; i < countof(good); i++) {
        cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
        cleanup_str struct str text = STR_INIT;
        assert_int_equal(gres_parse(good[i].text, &list, NULL), 0);
        gres_print(&list, "", ':', &text);
        assert_string_equal(str_cstr(&text), good[i].printed);
    }
}

TEST(malformed_requests_are_refused) {
    static const char *const bad[] = {"gpu:",
                                      "gpu::2",
                                      "gpu:a100:",
                                      "gpu:a100:x:2",
                                      "gpu:a100:x",
                                      "gpu:-1",
                                      "gpu:1.5",
                                      ",",
                                      "gpu,",
                                      ",gpu",
                                      "gpu:1 ",
                                      " gpu",
                                      ":2",
                                      "gpu=",
                                      "gpu=x",
                                      "=2",
                                      "gpu=1:2",
                                      "gpu=1=2",
                                      "gpu:a b:1",
                                      "gres:",
                                      "gpu:99999999999999999999",
                                      "gpu:18446744073709551615,gpu:1",
                                      "gpu:\x01:1"};
    for (size_t i = 0; i < countof(bad); i++) {
        cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
        struct error err = ERROR_INIT;
        assert_int_equal(gres_parse(bad[i], &list, &err), -ERR_INVALID_GRES);
        assert_int_equal(list.n, 0);
        assert_true(strlen(err.text) > 20);
    }
}

TEST(a_failure_leaves_the_list_as_it_was) {
    cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
    assert_int_equal(gres_parse("gpu:1", &list, NULL), 0);
    assert_int_equal(gres_parse("gpu:2,shard:3,bad:", &list, NULL), -ERR_INVALID_GRES);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].count, 1);
    assert_int_equal(gres_parse("gpu:2,shard:3", &list, NULL), 0);
    assert_int_equal(list.items[0].count, 3);
    assert_int_equal(list.n, 2);
}

TEST(licenses_are_names_with_counts) {
    cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
    cleanup_str struct str out = STR_INIT;

    assert_int_equal(licenses_parse("foo:2,bar,,lm@host=3;foo", &list, NULL), 0);
    gres_print(&list, "", ':', &out);
    assert_string_equal(str_cstr(&out), "foo:3,bar:1,lm@host:3");
}

TEST(malformed_licenses_are_refused) {
    static const char *const bad[] = {"foo:x", "foo:", ":2", "foo:2:3", "foo:-1", "a|b"};
    cleanup_gres_list struct gres_list list = GRES_LIST_INIT;

    for (size_t i = 0; i < countof(bad); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(licenses_parse(bad[i], &list, &err), -ERR_INVALID_LICENSE);
        assert_int_equal(list.n, 0);
        assert_true(err.text[0] != '\0');
    }
}

TEST(gpu_options_name_only_types_and_counts) {
    static const struct {
        const char *text, *printed;
    } cases[] = {{"2", "gres/gpu=2"},         {"a100:2", "gres/gpu:a100=2"},
                 {"a100", "gres/gpu:a100=1"}, {"a100:2,v100:1", "gres/gpu:a100=2,gres/gpu:v100=1"},
                 {"2,3", "gres/gpu=5"},       {"1g.5gb:2", "gres/gpu:1g.5gb=2"},
                 {"gpu:2", "gres/gpu:gpu=2"}};
    for (size_t i = 0; i < countof(cases); i++) {
        cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
        cleanup_str struct str text = STR_INIT;
        assert_int_equal(gpus_parse(cases[i].text, &list, NULL), 0);
        gres_print(&list, "gres/", '=', &text);
        assert_string_equal(str_cstr(&text), cases[i].printed);
    }
    static const char *const bad[] = {"gpu:a100:2", "2:a100", ":", ":2", "a100:", "a100:2:3"};
    for (size_t i = 0; i < countof(bad); i++) {
        cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
        assert_int_equal(gpus_parse(bad[i], &list, NULL), -ERR_INVALID_GRES);
    }
}

TEST(what_has_been_given_is_read_part_by_part) {
    const char *at = "gpu:a100:3(IDX:0,2-3),shard:8,GPU:1(IDX:)";
    struct gres_given given;
    assert_true(gres_given_next(&at, &given));
    assert_string_equal(given.item.name, "gpu");
    assert_string_equal(given.item.type, "a100");
    assert_int_equal(given.item.count, 3);
    assert_int_equal(idset_count(&given.ids), 3);
    assert_true(idset_contains(&given.ids, 2));
    gres_given_done(&given);
    assert_true(gres_given_next(&at, &given));
    assert_string_equal(given.item.name, "shard");
    assert_int_equal(given.item.count, 8);
    assert_int_equal(given.ids.n, 0);
    gres_given_done(&given);
    assert_true(gres_given_next(&at, &given));
    assert_string_equal(given.item.name, "GPU");
    assert_int_equal(given.ids.n, 0);
    gres_given_done(&given);
    assert_false(gres_given_next(&at, &given));
}

TEST(what_cannot_be_read_gives_nothing) {
    static const char *const texts[] = {"",        "gpu:2(IDX",  "gpu:2(IDX:0",  "gpu:2(IDX:x)",
                                        "(IDX:0)", "gpu:2(S:0)", "gpu:1(IDX:0)x"};
    struct gres_given given;
    const char *at = NULL;
    assert_false(gres_given_next(&at, &given));
    for (size_t i = 0; i < countof(texts); i++) {
        at = texts[i];
        assert_false(gres_given_next(&at, &given));
    }
}

TEST(tres_lists_have_units_and_types) {
    cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
    assert_int_equal(tres_parse("cpu=4,mem=2G,node=1,GRES/gpu=2,gres/gpu:a100=2", &list, NULL), 0);
    assert_int_equal(gres_list_count(&list, "cpu", NULL), 4);
    assert_int_equal(gres_list_count(&list, "mem", NULL), 2048);
    assert_int_equal(gres_list_count(&list, "gres/gpu", NULL), 2);
    assert_int_equal(gres_list_count(&list, "gres/gpu", "a100"), 2);
    assert_int_equal(gres_list_count(&list, "gres/gpu", "v100"), 0);
    static const char *const bad[] = {"cpu", "=4", "cpu=x", "mem=4Q"};
    for (size_t i = 0; i < countof(bad); i++)
        assert_true(tres_parse(bad[i], &list, NULL) < 0);
    assert_int_equal(list.n, 5);
}

TEST(standard_tres_have_their_numbers) {
    assert_int_equal(tres_standard_id("cpu=4", 3), 1);
    assert_int_equal(tres_standard_id("fs/disk", 7), 6);
    assert_int_equal(tres_standard_id("pages", 5), TRES_STANDARD);
    assert_int_equal(tres_standard_id("gres/gpu", 8), 0);
    assert_int_equal(tres_standard_id("cpu", 2), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_read_and_printed),
        cmocka_unit_test(malformed_requests_are_refused),
        cmocka_unit_test(a_failure_leaves_the_list_as_it_was),
        cmocka_unit_test(gpu_options_name_only_types_and_counts),
        cmocka_unit_test(licenses_are_names_with_counts),
        cmocka_unit_test(malformed_licenses_are_refused),
        cmocka_unit_test(tres_lists_have_units_and_types),
        cmocka_unit_test(what_has_been_given_is_read_part_by_part),
        cmocka_unit_test(what_cannot_be_read_gives_nothing),
        cmocka_unit_test(standard_tres_have_their_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
