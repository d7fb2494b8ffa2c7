/* SPDX-License-Identifier: Apache-2.0 */
/* Whole configurations of tests/golden/conf: what is said of them, and what show config prints. */
#include "test_conf.h"

#include "cli/golden.h"

/* Reads a file of the case's folder; paths in reports then are the same everywhere. */
static int case_read(void *context, const char *path, struct str *ret, struct error *err) {
    cleanup_free char *real = xasprintf("%s/conf/%s/%s", GOLDEN_DIR, (const char *) context, path);
    FILE *file = fopen(real, "r");
    if (file == NULL)
        return error_set(err, ERR_NOT_FOUND, "there is no file %s", path);
    fclose(file);
    golden_read(real, ret);
    return 0;
}

static struct reading read_case(const char *folder) {
    struct conf_source source = {case_read, (void *) folder};
    struct reading r = {.report = CONF_REPORT_INIT, .text = STR_INIT, .err = ERROR_INIT};
    r.result = conf_load(&source, "slurm.conf", CONF_SLURMCTLD, &r.conf, &r.report, &r.err);
    conf_report_print(&r.report, &r.text);
    return r;
}

TEST(all_kinds_of_mistakes_are_told_at_once) {
    struct reading r = read_case("errors");
    golden_check("conf/errors/report.txt", &r.text);
    assert_int_equal(r.result, -ERR_CONFIG);
    reading_done(&r);
}

TEST(a_first_configuration_is_taken_with_what_there_is_to_know) {
    struct reading r = read_case("founding");
    assert_int_equal(r.result, 0);
    golden_check("conf/founding/report.txt", &r.text);
    struct conf_runtime runtime = {.now = "2026-01-02T03:04:05",
                                   .boot_time = "2026-01-01T00:00:00",
                                   .next_job_id = 1,
                                   .slurm_uid = 64030};
    cleanup_str struct str text = STR_INIT;
    conf_print(r.conf, &runtime, &text);
    golden_check("conf/founding/show_config.txt", &text);
    reading_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_mistakes_are_told_at_once),
        cmocka_unit_test(a_first_configuration_is_taken_with_what_there_is_to_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
