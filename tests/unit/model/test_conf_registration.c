/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a node that registers is what the configuration says. */
#include "test_conf.h"

static const struct conf_node configured = {.name = "n1",
                                            .cpus = 8,
                                            .sockets = 2,
                                            .cores_per_socket = 4,
                                            .threads_per_core = 1,
                                            .real_memory = 1000,
                                            .tmp_disk = 50};
static const struct conf_registration same = {.cpus = 8,
                                              .sockets = 2,
                                              .cores_per_socket = 4,
                                              .threads_per_core = 1,
                                              .real_memory = 1000,
                                              .tmp_disk = 50};

static void assert_reason(const struct conf_node *node, const struct conf_registration *found,
                          bool overrides, uint32_t percent, const char *expected) {
    cleanup_str struct str reason = STR_INIT;
    bool ok = conf_node_registration_check(node, found, overrides, percent, &reason);
    assert_string_equal(str_cstr(&reason), expected);
    assert_int_equal(ok, expected[0] == '\0');
}

TEST(a_node_as_configured_or_larger_is_fine) {
    struct conf_registration larger = same;
    larger.cpus = 16;
    larger.sockets = 4;
    larger.real_memory = 2000;
    assert_reason(&configured, &same, false, 100, "");
    assert_reason(&configured, &larger, false, 100, "");
}

TEST(every_shortage_is_named) {
    struct conf_registration small = {1, 1, 1, 1, 999, 10, NULL};
    assert_reason(&configured, &small, false, 100,
                  "Low socket*core*thread count, Low CPUs, Low RealMemory (reported:999 < 100.00% "
                  "of configured:1000), Low TmpDisk");
}

TEST(memory_may_be_a_little_less_when_the_site_says_so) {
    struct conf_registration less = same;
    less.real_memory = 900;
    assert_reason(&configured, &less, false, 90, "");
    less.real_memory = 899;
    assert_reason(&configured, &less, false, 90,
                  "Low RealMemory (reported:899 < 90.00% of configured:1000)");
}

TEST(overrides_let_a_node_claim_more_than_it_has) {
    struct conf_registration small = {1, 1, 1, 1, 9, 1, NULL};
    assert_reason(&configured, &small, true, 100, "");
}

static struct gres_list one(struct gres_item *item) {
    return (struct gres_list) {item, 1, 1};
}

TEST(a_lost_device_is_named_even_under_overrides) {
    struct gres_item two = {(char *) "gpu", (char *) "a100", 2};
    struct gres_item left = {(char *) "gpu", (char *) "a100", 1};
    struct gres_list want = one(&two), have = one(&left);
    struct conf_node node = configured;
    struct conf_registration found = same;
    node.gres = &want;
    found.gres = &have;
    assert_reason(&node, &found, true, 100,
                  "gres/gpu count reported lower than configured (1 < 2)");
    found.gres = NULL;
    assert_reason(&node, &found, false, 100,
                  "gres/gpu count reported lower than configured (0 < 2)");
    found.gres = &want;
    assert_reason(&node, &found, false, 100, "");
}

TEST(a_device_of_another_type_does_not_count) {
    struct gres_item two = {(char *) "gpu", (char *) "a100", 2};
    struct gres_item other = {(char *) "GPU", (char *) "v100", 2};
    struct gres_list want = one(&two), have = one(&other);
    struct conf_node node = configured;
    struct conf_registration found = same;
    node.gres = &want;
    found.gres = &have;
    assert_reason(&node, &found, false, 100,
                  "gres/gpu:a100 count reported lower than configured (0 < 2)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_as_configured_or_larger_is_fine),
        cmocka_unit_test(every_shortage_is_named),
        cmocka_unit_test(memory_may_be_a_little_less_when_the_site_says_so),
        cmocka_unit_test(overrides_let_a_node_claim_more_than_it_has),
        cmocka_unit_test(a_lost_device_is_named_even_under_overrides),
        cmocka_unit_test(a_device_of_another_type_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
