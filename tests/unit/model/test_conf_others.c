/* SPDX-License-Identifier: Apache-2.0 */
/* slurmdbd.conf, topology.conf, job_container.conf. */
#include "test_conf.h"

#include "model/conf_others.h"

/* One file in memory, and what came of reading it. */
struct other {
    struct memory_file file;
    struct memory_files files;
    struct conf_source source;
    struct conf_report report;
    struct str text;
    struct error err;
};

static void other_init(struct other *other, const char *path, const char *text) {
    *other = (struct other) {.file = {path, text}, .report = CONF_REPORT_INIT, .text = STR_INIT};
    other->files = (struct memory_files) {&other->file, 1};
    other->source = (struct conf_source) {memory_read, &other->files};
}

static void assert_report(struct other *other, const char *expected) {
    str_reset(&other->text);
    conf_report_print(&other->report, &other->text);
    assert_string_equal(str_cstr(&other->text), expected);
}

static void other_done(struct other *other) {
    conf_report_done(&other->report);
    str_done(&other->text);
}

TEST(slurmdbd_conf_has_its_keys_and_defaults) {
    struct other other;
    struct conf_dbd *dbd = NULL;
    other_init(&other, "/e/slurmdbd.conf",
               "DbdHost=db AuthInfo=socket=/run/munge,ttl=60\nStoragePass=secret\nDebugLevel=4\n");
    assert_int_equal(conf_dbd_load(&other.source, other.file.path, &dbd, &other.report, &other.err),
                     0);
    assert_report(&other, "");
    assert_string_equal(dbd->dbd_host, "db");
    assert_int_equal(dbd->dbd_port, 6819);
    assert_int_equal(dbd->storage_type, CONF_DBD_STORAGE_MYSQL);
    assert_string_equal(dbd->storage_loc, "slurm_acct_db");
    assert_string_equal(dbd->auth.socket, "/run/munge");
    assert_int_equal(dbd->auth.ttl, 60);
    assert_int_equal(dbd->debug_level, CONF_LEVEL_VERBOSE);
    conf_dbd_free(dbd);
    other_done(&other);
}

TEST(ages_of_records_are_written_in_months_days_or_hours) {
    struct other other;
    struct conf_dbd *dbd = NULL;
    other_init(&other, "/e/slurmdbd.conf",
               "DbdHost=db\nPurgeJobAfter=12months PurgeStepAfter=30days PurgeEventAfter=2 "
               "PurgeTXNAfter=48hours\n");
    assert_int_equal(conf_dbd_load(&other.source, other.file.path, &dbd, &other.report, &other.err),
                     0);
    assert_int_equal(dbd->purge_job_after, 12 * 30 * 86400);
    assert_int_equal(dbd->purge_step_after, 30 * 86400);
    assert_int_equal(dbd->purge_event_after, 2 * 30 * 86400);
    assert_int_equal(dbd->purge_txn_after, 48 * 3600);
    assert_int_equal(dbd->purge_usage_after, 0);
    conf_dbd_free(dbd);
    other_done(&other);
}

TEST(errors_in_slurmdbd_conf_are_all_told) {
    struct other other;
    struct conf_dbd *dbd = NULL;
    other_init(&other, "/e/slurmdbd.conf",
               "DbHost=db\nStorageType=accounting_storage/oracle\nPurgeJobAfter=soon\n");
    assert_int_equal(conf_dbd_load(&other.source, other.file.path, &dbd, &other.report, &other.err),
                     -ERR_CONFIG);
    assert_null(dbd);
    assert_report(
        &other,
        "/e/slurmdbd.conf:1: error: unknown key \"DbHost\" in slurmdbd.conf (did you mean "
        "\"DbdHost\"?)\n"
        "/e/slurmdbd.conf:2: error: StorageType: \"accounting_storage/oracle\" is not known; the "
        "values are accounting_storage/mysql, accounting_storage/postgresql, "
        "accounting_storage/sqlite\n"
        "/e/slurmdbd.conf:3: error: PurgeJobAfter: \"soon\" is no age: N, Nmonths, Ndays or "
        "Nhours\n"
        "/e/slurmdbd.conf: error: DbdHost is missing: the host that slurmdbd runs on\n");
    other_done(&other);
}

TEST(topology_conf_has_switches_blocks_and_rings) {
    struct other other;
    struct conf_topology *topology = NULL;
    other_init(&other, "/e/topology.conf",
               "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Switches=s0\nBlockName=b1 Nodes=n[0-1]\n"
               "BlockSizes=30,120\nRingName=r Nodes=n[0-3]\n");
    assert_int_equal(
        conf_topology_load(&other.source, other.file.path, &topology, &other.report, &other.err),
        0);
    assert_report(&other, "");
    assert_int_equal(topology->n_switches, 2);
    assert_string_equal(topology->switches[0].nodes, "n[0-3]");
    assert_string_equal(topology->switches[1].switches, "s0");
    assert_int_equal(topology->switches[1].line, 2);
    assert_int_equal(topology->n_blocks, 1);
    assert_string_equal(topology->block_sizes, "30,120");
    assert_int_equal(topology->n_rings, 1);
    conf_topology_free(topology);
    other_done(&other);
}

TEST(a_switch_has_nodes_or_switches) {
    struct other other;
    struct conf_topology *topology = NULL;
    other_init(&other, "/e/topology.conf", "SwitchName=s0\nSwichName=s1 Nodes=n1\nBlockName=b\n");
    assert_int_equal(
        conf_topology_load(&other.source, other.file.path, &topology, &other.report, &other.err),
        -ERR_CONFIG);
    assert_report(&other,
                  "/e/topology.conf:1: error: switch s0 needs either Nodes= or Switches=\n"
                  "/e/topology.conf:2: error: unknown key \"SwichName\" in topology.conf (did you "
                  "mean \"SwitchName\"?)\n"
                  "/e/topology.conf:3: error: a block needs a name and Nodes=\n");
    other_done(&other);
}

TEST(job_container_conf_has_keys_for_all_nodes_and_for_some) {
    struct other other;
    struct conf_containers *containers = NULL;
    other_init(&other, "/e/job_container.conf",
               "AutoBasePath=true\nBasePath=/scratch\nNodeName=n[1-2] BasePath=/local Dirs=/tmp\n");
    assert_int_equal(conf_containers_load(&other.source, other.file.path, &containers,
                                          &other.report, &other.err),
                     0);
    assert_true(containers->everywhere.auto_base_path);
    assert_string_equal(containers->everywhere.base_path, "/scratch");
    assert_string_equal(containers->everywhere.dirs, "/tmp,/dev/shm");
    assert_int_equal(containers->n_lines, 1);
    assert_string_equal(containers->lines[0].node_names, "n[1-2]");
    assert_string_equal(containers->lines[0].base_path, "/local");
    assert_true(containers->lines[0].auto_base_path);
    conf_containers_free(containers);
    other_done(&other);
}

TEST(a_file_that_is_not_there_is_told_apart) {
    struct other other;
    struct conf_topology *topology = NULL;
    other_init(&other, "/e/topology.conf", "");
    assert_int_equal(
        conf_topology_load(&other.source, "/e/none.conf", &topology, &other.report, &other.err),
        -ERR_NOT_FOUND);
    assert_null(topology);
    other_done(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slurmdbd_conf_has_its_keys_and_defaults),
        cmocka_unit_test(ages_of_records_are_written_in_months_days_or_hours),
        cmocka_unit_test(errors_in_slurmdbd_conf_are_all_told),
        cmocka_unit_test(topology_conf_has_switches_blocks_and_rings),
        cmocka_unit_test(a_switch_has_nodes_or_switches),
        cmocka_unit_test(job_container_conf_has_keys_for_all_nodes_and_for_some),
        cmocka_unit_test(a_file_that_is_not_there_is_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
