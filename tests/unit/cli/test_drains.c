/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/drains.h"

#include <string.h>

#include "base/alloc.h"
#include "unit.h"

static struct node sample(const char *name, int64_t since, const char *reason) {
    struct node node;
    record_init(&record_node, &node);
    node.name = (char *) (uintptr_t) name;
    node.state = NODE_IDLE;
    node.flags = NODE_FLAG_DRAIN;
    node.cpus = 8;
    node.reason = (char *) (uintptr_t) reason;
    node.reason_user = (char *) (uintptr_t) "root";
    node.out_since = node.lost_until = since;
    return node;
}

TEST(what_costs_most_stands_first_with_its_cure) {
    struct node nodes[] = {sample("n1", 3600, "bad DIMM"),
                           sample("n2", 7200, "disk: /tmp is 99 % full or more"),
                           sample("n3", 10000, NULL)};
    nodes[1].cfg_tres = (char *) (uintptr_t) "cpu=8,mem=1000M,billing=8,gres/gpu=4";
    nodes[1].alloc_tres = (char *) (uintptr_t) "cpu=2,gres/gpu=1";
    nodes[1].alloc_cpus = 2;
    nodes[1].state = NODE_MIXED;
    nodes[2].flags = NODE_FLAG_INVALID_REG | NODE_FLAG_DRAIN;
    nodes[2].lost_cpu_seconds = 3600;
    const struct node *list[] = {&nodes[2], &nodes[0], &nodes[1]};
    struct drains_view view = {list, 3, 10800, LANGUAGE_ENGLISH};
    struct str out = STR_INIT;
    drains_sort(list, 3, 10800);
    drains_text(&view, &out);
    assert_string_equal(
        out.data,
        "NODE  STATE      AGE  BY    GPU-HOURS  CPU-HOURS  CAUSE\n"
        "n2    drng   1:00:00  root        3.0        6.0  disk: /tmp is 99 % full or more\n"
        "    cure: remove files there, then: scontrol update nodename=n2 state=resume\n"
        "n1    drain  2:00:00  root          -       16.0  bad DIMM\n"
        "    cure: scontrol update nodename=n1 state=resume\n"
        "n3    inval    13:20  root          -        2.8  no reason was given\n"
        "    cure: restart slurmd there, then: scontrol update nodename=n3 state=resume\n"
        "3 nodes are out of service; 3.0 GPU hours and 24.8 CPU hours have been lost so far.\n");
    str_done(&out);
}

TEST(what_is_found_now_goes_before_the_reason_and_a_reboot_needs_nothing) {
    struct node node = sample("n1", 0, "bad DIMM");
    struct str out = STR_INIT;
    node.problem = (char *) (uintptr_t) "readonly: /data cannot be written to";
    drains_cure(&node, LANGUAGE_ENGLISH, &out);
    assert_non_null(strstr(out.data, "mount it for writing"));
    str_reset(&out);
    node.flags |= NODE_FLAG_REBOOT_ISSUED;
    drains_cure(&node, LANGUAGE_ENGLISH, &out);
    assert_string_equal(out.data, "nothing: it is rebooting");
    str_done(&out);
}

TEST(korean_text_has_the_same_commands) {
    struct node node = sample("n1", 3600, "disk: /tmp is 99 % full or more");
    const struct node *list[] = {&node};
    struct drains_view view = {list, 1, 3600, LANGUAGE_KOREAN};
    struct str out = STR_INIT;
    drains_text(&view, &out);
    assert_non_null(strstr(out.data, "    해결: 그곳의 파일을 지우십시오. 그다음: "
                                     "scontrol update nodename=n1 state=resume\n"));
    assert_non_null(strstr(out.data, "노드 1개가 서비스에서 빠져 있습니다"));
    str_done(&out);
}

TEST(json_gives_seconds) {
    struct node node = sample("n1", 100, "bad DIMM");
    const struct node *list[] = {&node};
    struct drains_view view = {list, 1, 110, LANGUAGE_KOREAN};
    struct str out = STR_INIT;
    drains_json(&view, &out);
    assert_non_null(strstr(out.data, "\"age_seconds\": 10"));
    assert_non_null(strstr(out.data, "\"lost_cpu_seconds\": 80"));
    assert_non_null(strstr(out.data, "\"cause_persists\": false"));
    str_done(&out);
}

TEST(none_is_said) {
    struct drains_view view = {NULL, 0, 0, LANGUAGE_ENGLISH};
    struct str out = STR_INIT;
    struct node fine = sample("n1", 0, NULL), down = sample("n2", 0, NULL);
    drains_text(&view, &out);
    assert_string_equal(out.data, "No node is out of service.\n");
    fine.flags = 0;
    down.flags = 0;
    down.state = NODE_DOWN;
    assert_false(drains_has(&fine));
    assert_true(drains_has(&down));
    str_done(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_costs_most_stands_first_with_its_cure),
        cmocka_unit_test(what_is_found_now_goes_before_the_reason_and_a_reboot_needs_nothing),
        cmocka_unit_test(korean_text_has_the_same_commands),
        cmocka_unit_test(json_gives_seconds),
        cmocka_unit_test(none_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
