/* SPDX-License-Identifier: Apache-2.0 */
/* The planning pass of Slurm's shape that the benchmarks compare with (tests/bench/slurm_pass.c).
 */
#include "sample.h"
#include "sim/replay.h"
#include "sim_conf.h"
#include "slurm_shape.h"

#define REST " -1 -1 -1 -1 -1 -1\n"
/* Two nodes of four CPUs; trace lines are "id submit -1 run procs …  limit". */
static const char two_nodes[] = "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n"
                                "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"
                                "PartitionName=all Nodes=n[1-2] Default=YES MaxTime=INFINITE\n";

/* Expected starts in the order of the jobs, from the first instant, which comes ten seconds after
 * a cycle. */
static void starts_are(const char *text, const int64_t *expected) {
    struct trace trace;
    struct sim_result result;
    struct sim_notes notes = {0};
    struct error err = ERROR_INIT;
    struct conf *conf = sim_conf(two_nodes);
    slurm_shape = (struct slurm_shape) {
        .queue_depth = 100, .jobs = 500, .interval = 30, .window = 86400, .resolution = 60};
    sample_read(&trace, text, 8);
    sim_result_init(&result, &trace);
    assert_int_equal(sim_replay_conf(&trace, conf, NULL, &result, &notes, &err), 0);
    for (size_t i = 0; i < trace.jobs.n; i++)
        assert_int_equal(result.starts[i], expected[i]);
    sim_notes_done(&notes);
    sim_result_done(&result);
    trace_done(&trace);
    conf_free(conf);
}

TEST(who_does_not_delay_the_reserved_overtakes_in_a_cycle_and_who_would_waits) {
    starts_are("1 0 -1 600 4 -1 -1 4 600 -1 1 1" REST   /* half of the machine for ten minutes */
               "2 1 -1 100 8 -1 -1 8 600 -1 1 1" REST   /* all of it, after job 1 */
               "3 2 -1 100 4 -1 -1 4 300 -1 1 1" REST   /* fits before job 2: next cycle */
               "4 3 -1 100 4 -1 -1 4 6000 -1 1 1" REST, /* would delay it */
               (const int64_t[]) {0, 600, 20, 700});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_does_not_delay_the_reserved_overtakes_in_a_cycle_and_who_would_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
