/* SPDX-License-Identifier: Apache-2.0 */
/* The controller as a process. Covers: cluster_net.c, cluster_fault.c */
#include <string.h>

#include "sim/cluster_internal.h"
#include "sim_conf.h"
#include "unit.h"

#define START 1000000

struct apart {
    struct conf *conf;
    struct sim_cluster *cluster;
    uint32_t job_id; /* of the last submission that was acknowledged */
    size_t n_lost;   /* connections */
    size_t n_begun, n_ended, n_restored;
};

static void on_reply(void *context, uint64_t client, uint16_t type, struct bytes body) {
    struct apart *apart = context;
    struct arena arena;
    struct submit_reply reply;
    apart->n_lost += type == 0;
    if (type != MSG_SUBMIT_REPLY)
        return;
    arena_init(&arena, 0);
    assert_int_equal(wire_decode(&record_submit_reply, body, &arena, &reply, NULL), 0);
    apart->job_id = reply.job_id;
    arena_done(&arena);
}

static void on_process(void *context, uint32_t node, const struct step_ref *step,
                       enum sim_process what) {
    struct apart *apart = context;
    apart->n_begun += what == SIM_BEGINS;
    apart->n_ended += what == SIM_ENDS;
}

static void on_restored(void *context) {
    ((struct apart *) context)->n_restored++;
}

static void begin(struct apart *apart, const struct sim_faults *faults) {
    static const struct sim_faults calm = {.network = {100, 100}, .commit = {1000, 1000}};
    struct sim_observer observer = {
        .context = apart, .reply = on_reply, .process = on_process, .restored = on_restored};
    struct error err = ERROR_INIT;
    memset(apart, 0, sizeof(*apart));
    apart->conf = sim_conf("SelectTypeParameters=CR_CPU\nNodeName=n[1-4] CPUs=1\n"
                           "PartitionName=main Nodes=ALL Default=YES\nSlurmdTimeout=60\n");
    assert_int_equal(sim_cluster_new(apart->conf, START, 3, NULL, &apart->cluster, &err), 0);
    sim_cluster_apart(apart->cluster, faults != NULL ? faults : &calm, &observer);
}

static void finish(struct apart *apart) {
    sim_cluster_free(apart->cluster);
    conf_free(apart->conf);
}

static uint64_t submit(struct apart *apart, int64_t run) {
    struct job_request request;
    struct submit submit;
    struct str script cleanup_str = STR_INIT;
    record_init(&record_submit, &submit);
    sim_request(&request, 1, 600);
    sim_cluster_script(run, 0, &script);
    request.script = (struct blob) {(uint8_t *) script.data, script.length};
    submit.job = &request;
    return sim_cluster_request(apart->cluster, "anna", MSG_SUBMIT, &submit);
}

static uint32_t state_of(struct apart *apart, uint32_t job_id) {
    const struct job *job = core_job(apart->cluster->core, job_id);
    return job != NULL ? job->state : UINT32_MAX;
}

TEST(a_submission_is_acknowledged_after_its_commit_and_runs) {
    struct apart apart;
    begin(&apart, NULL);
    submit(&apart, 10);
    assert_int_equal(apart.job_id, 0);
    sim_cluster_advance(apart.cluster, START + 5);
    assert_int_equal(apart.job_id, 1);
    assert_int_equal(apart.n_begun, 1);
    sim_cluster_advance(apart.cluster, START + 20);
    assert_int_equal(apart.n_ended, 1);
    assert_int_equal(state_of(&apart, 1), JOB_COMPLETED);
    finish(&apart);
}

TEST(a_controller_that_dies_comes_back_with_what_was_stored_and_the_job_goes_on) {
    struct apart apart;
    begin(&apart, NULL);
    submit(&apart, 100);
    sim_cluster_advance(apart.cluster, START + 5);
    sim_control_dies(apart.cluster);
    assert_false(sim_cluster_controller_lives(apart.cluster));
    submit(&apart, 100);
    sim_cluster_advance(apart.cluster, START + 20);
    assert_int_equal(apart.n_lost, 2); /* the first command had not hung up */
    sim_control_start(apart.cluster);
    sim_cluster_advance(apart.cluster, START + 200);
    assert_int_equal(apart.n_restored, 1);
    assert_int_equal(apart.n_begun, 1);
    assert_int_equal(apart.n_ended, 1);
    assert_int_equal(state_of(&apart, 1), JOB_COMPLETED);
    finish(&apart);
}

TEST(a_report_waits_for_the_end_of_a_partition) {
    struct apart apart;
    begin(&apart, NULL);
    submit(&apart, 10);
    sim_cluster_advance(apart.cluster, START + 5);
    for (size_t i = 0; i < apart.cluster->n_nodes; i++)
        sim_net_cut(&apart.cluster->nodes[i], (START + 300) * SIM_SECOND);
    sim_cluster_advance(apart.cluster, START + 299);
    assert_int_equal(apart.n_ended, 1);
    assert_int_equal(state_of(&apart, 1), JOB_RUNNING); /* all are silent: none is given up */
    sim_cluster_advance(apart.cluster, START + 320);
    assert_int_equal(state_of(&apart, 1), JOB_COMPLETED);
    finish(&apart);
}

TEST(slurmd_finds_its_steps_again_and_power_lost_leaves_none) {
    struct apart apart;
    begin(&apart, NULL);
    submit(&apart, 100);
    submit(&apart, 100);
    sim_cluster_advance(apart.cluster, START + 5);
    sim_node_slurmd_dies(&apart.cluster->nodes[0]);
    sim_net_node_closes(&apart.cluster->nodes[0]);
    sim_cluster_advance(apart.cluster, START + 10);
    sim_node_slurmd_starts(&apart.cluster->nodes[0]);
    assert_int_equal(sim_cluster_steps(apart.cluster, 0), 1);
    sim_net_dial_soon(&apart.cluster->nodes[0]);
    sim_node_loses_power(&apart.cluster->nodes[1]);
    assert_int_equal(apart.n_ended, 1);
    sim_cluster_advance(apart.cluster, START + 200);
    assert_int_equal(state_of(&apart, 1), JOB_COMPLETED);
    finish(&apart);
}

TEST(the_same_seed_gives_the_same_faults) {
    static const struct sim_faults faults = {.network = {50, 2000},
                                             .commit = {200, 20000},
                                             .launch = {500, 200000},
                                             .controller_dies = 600,
                                             .slurmd_dies = 300,
                                             .node_dies = 900,
                                             .connection_breaks = 200,
                                             .partition = 700,
                                             .network_stalls = 300,
                                             .store_stalls = 300,
                                             .clock_jumps = 900,
                                             .stepd_dies = 400,
                                             .away_most = 60,
                                             .clock_most = 100,
                                             .doubled = 100};
    struct apart apart[2];
    for (size_t i = 0; i < 2; i++) {
        begin(&apart[i], &faults);
        for (int k = 1; k < 100; k++) {
            submit(&apart[i], k * 7 % 100);
            sim_cluster_advance(apart[i].cluster, START + k * 60);
        }
        sim_cluster_heal(apart[i].cluster);
        sim_cluster_advance(apart[i].cluster, START + 20000);
    }
    assert_true(apart[0].n_restored > 0 && apart[0].n_begun > 20);
    assert_int_equal(apart[0].n_begun, apart[1].n_begun);
    assert_int_equal(apart[0].n_lost, apart[1].n_lost);
    assert_int_equal(apart[0].n_restored, apart[1].n_restored);
    assert_int_equal(apart[0].cluster->n_events, apart[1].cluster->n_events);
    finish(&apart[0]);
    finish(&apart[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_submission_is_acknowledged_after_its_commit_and_runs),
        cmocka_unit_test(
            a_controller_that_dies_comes_back_with_what_was_stored_and_the_job_goes_on),
        cmocka_unit_test(a_report_waits_for_the_end_of_a_partition),
        cmocka_unit_test(slurmd_finds_its_steps_again_and_power_lost_leaves_none),
        cmocka_unit_test(the_same_seed_gives_the_same_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
