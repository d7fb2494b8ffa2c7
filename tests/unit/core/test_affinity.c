/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices a job gets: those that belong together, and cores near them. */
#include <string.h>

#include "core/affinity.h"
#include "model/conf.h"
#include "unit.h"
#include "world.h"

/* Eight GPUs in two groups of four, each group linked fully, in pairs twice as well. */
static const char *const links[8] = {"-1,8,4,4,0,0,0,0", "8,-1,4,4,0,0,0,0", "4,4,-1,8,0,0,0,0",
                                     "4,4,8,-1,0,0,0,0", "0,0,0,0,-1,8,4,4", "0,0,0,0,8,-1,4,4",
                                     "0,0,0,0,4,4,-1,8", "0,0,0,0,4,4,8,-1"};

static struct affinity *eight(const char *cores_of_four) {
    struct conf_gres lines[8];
    struct conf conf = {.gres = lines, .n_gres = 8};
    memset(lines, 0, sizeof(lines));
    for (size_t i = 0; i < 8; i++) {
        lines[i].name = "gpu";
        lines[i].count = 1;
        lines[i].links = cores_of_four ? NULL : links[i];
        lines[i].cores = i < 4 ? cores_of_four ? cores_of_four : "0-7" : "8-15";
    }
    return affinity_new(&conf, "n1", "gpu", "", 8, 0);
}

TEST(pairs_and_groups_are_kept_together) {
    struct affinity *affinity = eight(NULL);
    assert_int_equal(affinity_choose(affinity, 0xff, 2), 0x03);
    assert_int_equal(affinity_choose(affinity, 0xff, 4), 0x0f);
    assert_int_equal(affinity_choose(affinity, 0xf6, 2), 0x30);
    assert_int_equal(affinity_choose(affinity, 0xf7, 4), 0xf0);
    assert_int_equal(affinity_choose(affinity, 0xff, 8), 0xff);
    assert_int_equal(affinity_choose(affinity, 0xff, 0), 0);
    affinity_free(affinity);
}

TEST(a_single_device_breaks_no_group_that_is_whole) {
    struct affinity *affinity = eight(NULL);
    assert_int_equal(affinity_choose(affinity, 0xfb, 1), 0x08);
    assert_int_equal(affinity_choose(affinity, 0xf8, 1), 0x08);
    affinity_free(affinity);
}

TEST(without_links_the_cores_tell_who_belongs_together) {
    struct affinity *affinity = eight("0-7");
    struct idset cores cleanup_idset = IDSET_INIT;
    assert_int_equal(affinity_choose(affinity, 0xf7, 4), 0xf0);
    assert_int_equal(affinity_choose(affinity, 0xf7, 3), 0x07);
    affinity_cores(affinity, 0x30, &cores);
    assert_int_equal(idset_count(&cores), 8);
    assert_true(idset_contains(&cores, 8) && !idset_contains(&cores, 7));
    affinity_free(affinity);
}

TEST(what_a_node_has_found_of_its_devices_counts_the_same) {
    struct gres_place places[4] = {
        {.name = (char *) "gpu", .index = 2, .links = (char *) "0,0,-1,0,4"},
        {.name = (char *) "gpu", .index = 3, .cores = (char *) "0-1"},
        {.name = (char *) "gpu", .index = 4, .links = (char *) "0,0,4,0,-1"},
        {.name = (char *) "nic", .index = 3, .links = (char *) "0,0,9,-1"}};
    struct affinity *affinity = affinity_found(places, 4, "gpu", 3, 2);
    struct idset cores cleanup_idset = IDSET_INIT;
    assert_int_equal(affinity_choose(affinity, 0x7, 2), 0x5);
    affinity_cores(affinity, 0x2, &cores);
    assert_int_equal(idset_count(&cores), 2);
    affinity_free(affinity);
    assert_null(affinity_found(places, 4, "gpu", 2, 0));
}

TEST(a_kind_of_which_nothing_is_told_has_no_affinity) {
    struct conf_gres line = {.name = "gpu", .count = 8};
    struct conf conf = {.gres = &line, .n_gres = 1};
    assert_null(affinity_new(&conf, "n1", "gpu", "", 8, 0));
    assert_null(affinity_new(&conf, "n1", "gpu", "", 100, 0));
}

/* More than are tried in every combination. */
TEST(many_devices_are_chosen_one_by_one) {
    struct conf_gres lines[16];
    struct conf conf = {.gres = lines, .n_gres = 16};
    memset(lines, 0, sizeof(lines));
    for (size_t i = 0; i < 16; i++) {
        lines[i].name = "gpu";
        lines[i].count = 1;
        lines[i].cores = i % 2 ? "1" : "0";
    }
    struct affinity *affinity = affinity_new(&conf, "n1", "gpu", "", 16, 0);
    assert_int_equal(affinity_choose(affinity, 0xffff, 8), 0x5555);
    assert_int_equal(affinity_choose(affinity, 0xfffe, 8), 0xaaaa);
    affinity_free(affinity);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_node_has_found_of_its_devices_counts_the_same),
        cmocka_unit_test(pairs_and_groups_are_kept_together),
        cmocka_unit_test(a_single_device_breaks_no_group_that_is_whole),
        cmocka_unit_test(without_links_the_cores_tell_who_belongs_together),
        cmocka_unit_test(a_kind_of_which_nothing_is_told_has_no_affinity),
        cmocka_unit_test(many_devices_are_chosen_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
