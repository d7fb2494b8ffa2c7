/* SPDX-License-Identifier: Apache-2.0 */
/* The manual page in doc/man is the one that the tables make; GOLDEN_UPDATE=1 writes it anew. */
#include "test_conf.h"

#include "cli/golden.h"
#include "model/conf_manual.h"

TEST(the_page_in_the_tree_is_the_one_of_the_tables) {
    cleanup_str struct str page = STR_INIT;
    conf_manual_print(&page);
    golden_check("../../doc/man/slurm.conf.5.scd", &page);
    str_reset(&page);
    conf_manual_dbd_print(&page);
    golden_check("../../doc/man/slurmdbd.conf.5.scd", &page);
}

TEST(every_key_has_a_paragraph) {
    cleanup_str struct str page = STR_INIT;
    conf_manual_print(&page);
    for (size_t i = 0; i < conf_main_table.n; i++) {
        const struct conf_key *key = &conf_main_table.keys[i];
        if (key->derived)
            continue;
        cleanup_free char *heading = xasprintf("\n*%s*", key->name);
        if (strstr(str_cstr(&page), heading) == NULL)
            fail_msg("no paragraph of %s", key->name);
    }
}

TEST(what_has_no_effect_yet_says_so) {
    cleanup_str struct str page = STR_INIT;
    conf_manual_print(&page);
    assert_non_null(strstr(str_cstr(&page), "\n*FederationParameters*=_text_\n\tOptions of a "
                                            "federation of clusters. *It has no effect yet.*\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_in_the_tree_is_the_one_of_the_tables),
        cmocka_unit_test(every_key_has_a_paragraph),
        cmocka_unit_test(what_has_no_effect_yet_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
