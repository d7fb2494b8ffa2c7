/* SPDX-License-Identifier: Apache-2.0 */
/* How single values are compared and printed. */
#include "test_conf.h"

static void assert_shown(const char *line, const char *name, const char *expected) {
    struct reading r = read_conf(line);
    assert_int_equal(r.result, 0);
    const struct conf_key *key = conf_key_find(&conf_main_table, name, strlen(name));
    cleanup_str struct str text = STR_INIT;
    conf_value_print(key, r.conf, &text);
    assert_string_equal(str_cstr(&text), expected);
    reading_done(&r);
}

TEST(values_are_printed_with_their_units) {
    assert_shown("", "KillWait", "30 sec");
    assert_shown("", "ResumeRate", "300 nodes/min");
    assert_shown("OverTimeLimit=5", "OverTimeLimit", "5 min");
    assert_shown("OverTimeLimit=UNLIMITED", "OverTimeLimit", "INFINITE");
    assert_shown("", "SuspendTime", "INFINITE");
}

TEST(each_type_has_its_form) {
    assert_shown("", "JobRequeue", "1");
    assert_shown("", "DisableRootJobs", "No");
    assert_shown("", "DefMemPerNode", "UNLIMITED");
    assert_shown("", "PriorityMaxAge", "7-00:00:00");
    assert_shown("", "PriorityCalcPeriod", "00:05:00");
    assert_shown("", "SelectType", "select/cons_tres");
    assert_shown("", "SelectTypeParameters", "CR_CORE_MEMORY");
    assert_shown("TaskPlugin=affinity,cgroup", "TaskPlugin", "task/affinity,task/cgroup");
    assert_shown("PrologFlags=contain", "PrologFlags", "Alloc,Contain");
    assert_shown("", "PrologFlags", "(null)");
    assert_shown("", "SlurmctldPort", "6817");
    assert_shown("SlurmctldPort=6817-6819", "SlurmctldPort", "6817-6819");
    assert_shown("", "SrunPortRange", "0-0");
    assert_shown("", "MailDomain", "(null)");
    assert_shown("AuthInfo=socket=/x,ttl=60", "AuthInfo", "socket=/x,ttl=60");
    assert_shown("", "JobAcctGatherFrequency", "30");
}

TEST(a_value_equal_to_the_default_is_the_default) {
    struct reading r = read_conf("KillWait=30 MailProg=/bin/MAIL PriorityMaxAge=7-0 Prolog=/x");
    const struct conf *conf = r.conf;
    static const struct {
        const char *name;
        bool is_default;
    } expected[] = {{"KillWait", true}, {"PriorityMaxAge", true}, {"SelectType", true},
                    {"Prolog", false},  {"ClusterName", false},   {"SlurmctldPort", true}};
    for (size_t i = 0; i < countof(expected); i++) {
        const char *name = expected[i].name;
        const struct conf_key *key = conf_key_find(&conf_main_table, name, strlen(name));
        assert_int_equal(conf_value_is_default(key, conf, conf_main_table.defaults),
                         expected[i].is_default);
    }
    reading_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_printed_with_their_units),
        cmocka_unit_test(each_type_has_its_form),
        cmocka_unit_test(a_value_equal_to_the_default_is_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
