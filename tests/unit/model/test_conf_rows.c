/* SPDX-License-Identifier: Apache-2.0 */
/* The tables themselves: what must hold for every row. */
#include "test_conf.h"

#include <strings.h>

#include "model/conf_others.h"

static const struct conf_table *const tables[] = {
    &conf_main_table,     &conf_node_table,         &conf_partition_table, &conf_down_table,
    &conf_node_set_table, &conf_power_action_table, &conf_gres_table,      &conf_cgroup_table,
    &conf_dbd_table,      &conf_topology_table,     &conf_switch_table,    &conf_block_table,
    &conf_ring_table,     &conf_container_table};

TEST(no_name_stands_twice_in_a_table) {
    for (size_t t = 0; t < countof(tables); t++) {
        for (size_t i = 0; i < tables[t]->n; i++) {
            for (size_t k = 0; k < i; k++) {
                if (strcasecmp(tables[t]->keys[i].name, tables[t]->keys[k].name) == 0)
                    fail_msg("%s: %s", tables[t]->what, tables[t]->keys[i].name);
            }
        }
    }
}

TEST(every_older_name_leads_to_a_row) {
    for (size_t t = 0; t < countof(tables); t++) {
        for (size_t i = 0; i < tables[t]->n; i++) {
            const struct conf_key *key = &tables[t]->keys[i];
            if (key->derived)
                continue;
            const struct conf_key *found = conf_key_find(tables[t], key->name, strlen(key->name));
            assert_non_null(found);
            assert_null(found->same_as);
        }
    }
}

TEST(every_default_lies_in_its_range) {
    for (size_t t = 0; t < countof(tables); t++) {
        for (size_t i = 0; i < tables[t]->n; i++) {
            const struct conf_key *key = &tables[t]->keys[i];
            if (key->type != CONF_U32 || key->derived || key->same_as != NULL ||
                key->effect == CONF_OBSOLETE)
                continue;
            uint32_t value;
            memcpy(&value, (const char *) tables[t]->defaults + key->offset, sizeof(value));
            /* 0 stands for "follows from others", INFINITE for "not set". */
            if (value != 0 && value != CONF_INFINITE && value != CONF_OVER_TIME_UNSET &&
                (value < key->min || value > key->max))
                fail_msg("%s: %u", key->name, value);
        }
    }
}

TEST(a_row_with_words_has_a_vocabulary_and_obsolete_rows_have_a_cure) {
    for (size_t t = 0; t < countof(tables); t++) {
        for (size_t i = 0; i < tables[t]->n; i++) {
            const struct conf_key *key = &tables[t]->keys[i];
            if (key->type == CONF_ENUM || key->type == CONF_FLAGS || key->type == CONF_WORDS)
                assert_non_null(key->words);
            if (key->type == CONF_OPTIONS)
                assert_non_null(key->options);
            if (key->effect == CONF_OBSOLETE)
                assert_non_null(key->help);
        }
    }
}

TEST(the_lines_of_tables_have_at_most_64_keys) {
    for (size_t t = 1; t < countof(tables); t++)
        assert_true(tables[t]->n <= 64); /* a line remembers its keys in one word */
}

TEST(every_key_has_a_phrase_for_its_manual_page) {
    for (size_t t = 0; t < countof(tables); t++) {
        for (size_t i = 0; i < tables[t]->n; i++) {
            const struct conf_key *key = &tables[t]->keys[i];
            if (!key->derived && key->same_as == NULL && (!key->help || key->help[0] == '\0'))
                fail_msg("%s: %s", tables[t]->what, key->name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_name_stands_twice_in_a_table),
        cmocka_unit_test(every_older_name_leads_to_a_row),
        cmocka_unit_test(every_default_lies_in_its_range),
        cmocka_unit_test(a_row_with_words_has_a_vocabulary_and_obsolete_rows_have_a_cure),
        cmocka_unit_test(the_lines_of_tables_have_at_most_64_keys),
        cmocka_unit_test(every_key_has_a_phrase_for_its_manual_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
