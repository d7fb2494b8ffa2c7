/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference policies: examples worked out by hand, and every start of whole traces beside those
 * of an independent simulator in Python (sha256 of the lines "id start"). Covers: policy_cons.c,
 * policy_pass.c, policy_queue.c, policy_slurm.c.
 */
#include "sim/policy.h"

#include <sodium.h>
#include <stdlib.h>

#include "archive.h"
#include "base/alloc.h"
#include "sample.h"

#define GENERATED "generate:jobs=2000,procs=96,load=0.9,seed=7,users=30"
#define GENERATED_SHA256 "3920522971b3158521ca7f00d176258768c4592d92fb57e1f1577282467f4976"

/* The first 16 digits; NULL: not known. KTH-SP2 and SDSC-SP2 of the Parallel Workloads Archive. */
static const struct {
    struct sim_policy policy;
    const char *generated, *kth, *sdsc;
} rows[] = {
#define P(...)                                                                                     \
    { __VA_ARGS__ }
    {P(SIM_FCFS), "f0664d9bc013478e", "1d777105b88d0d90", "dd8b641261681cb7"},
    {P(SIM_EASY), "b928fb2fbc1fe498", "8d5bfe86a412f14f", "3674c039895675a4"},
    {P(SIM_EASY, .events = SIM_PYSS), "61d8d53d4ef45fde", "0502a5909e58c872", "5f0455120bf9c5aa"},
    {P(SIM_CONS), "55f6e4436fdb68c2", "668899626d172024", "5ebdb557e446ceaa"},
    {P(SIM_REPLAN), "500698bdd1422773", "fa97f7a5900fd0b6", "12914f0a4e75ad76"},
    {P(SIM_EASY, SIM_ORDER_SJF), "5bc45c1678d83966", "5893e006ba43b438", "c2eeb596150b8b66"},
    {P(SIM_EASY, SIM_ORDER_WFP3), "4ad221ee4a264757", "a61432f3a36ec9a0", "5355aa8e3cfd22e5"},
    {P(SIM_EASY, SIM_ORDER_UNICEF), "add960759b2c6f14", "bea2e1c85a482ba8", "bc460589c3ad1c63"},
    {P(SIM_EASY, SIM_ORDER_F1), "ce6982fed7c21320", "f4b200e9860a984a", "4a7ef2148a105278"},
    {P(SIM_EASY, SIM_ORDER_SAF), "267ce8c0574fb222", "ff12c6240f32ac43", "adb495dfb9e09ce2"},
    {P(SIM_EASY, .candidates = SIM_SHORTEST), "cf661ea3691b120f", "da8a1fb1dd3f40f8",
     "cfb61d9dd93d0fc3"},
    {P(SIM_EASY, .perfect = true), "b9d86014db209d58", "84a030a8a45ab843", "d9e58a6c09147b38"},
    {P(SIM_EASY, .candidates = SIM_SHORTEST, .perfect = true), "f31e3162f1e4006f",
     "3bc7ef218994c9f7", "49bf9cdb9662e442"},
    {P(SIM_EASY, .candidates = SIM_PREDICTED, .plan_predicted = true), "cc9a559aee25e66b",
     "4a62dcf1f124d507", "77520594934e6878"},
    {P(SIM_SLURM), "053aa17bb533a5bd", "f24bb79956597753", "2ee86e6ac783573c"},
    {P(SIM_REPLAN, .reserve = 4), "052eef3fa748ad0e", "c28b1a4aeef341d1", "612a2d5af512a71b"},
    {P(SIM_REPLAN, .reserve = 16), "4890ac029babafaa", "13f85e5c29b77770", "7f2729bf5d801d34"},
    {P(SIM_CONS, .perfect = true), "32519fee4d62c894", "21aa8583345f1663", "c0b886c95abdc7ab"},
    {P(SIM_EASY, .candidates = SIM_PREDICTED), "69487e58c4df1e95", "7791472f2fab1b5e",
     "6d14b686fc4e7d18"},
    {P(SIM_EASY, SIM_ORDER_WFP3, SIM_PREDICTED), "c3b989e35fb5813b", "61d8b299b85f0cf8",
     "2bed09bece33cb4d"},
    /* The starts that the authors of the SC'15 study published for EASY++. */
    {P(SIM_EASY, 0, SIM_PREDICTED, SIM_PYSS, .plan_predicted = true), "383ad7e53d4196b0",
     "1c3d77d8ae17083c", "d6e897b1d767582b"},
    /* K = 1 is easy. */
    {P(SIM_REPLAN, .reserve = 1), "b928fb2fbc1fe498", "8d5bfe86a412f14f", "3674c039895675a4"},
    {P(SIM_CONS, SIM_ORDER_SJF), "93dc64e7e42de428", NULL, NULL},
    {P(SIM_SLURM, SIM_ORDER_WFP3), "c64a97e007c801a6", NULL, NULL},
    {P(SIM_REPLAN, SIM_ORDER_SAF), "7c6101c93a1a5314", NULL, NULL},
    {P(SIM_REPLAN, SIM_ORDER_UNICEF), "ea19762b35193743", NULL, NULL},
    {P(SIM_FCFS, SIM_ORDER_SJF), "2405b7c32b4a5420", NULL, NULL},
    {P(SIM_REPLAN, .events = SIM_PYSS), "500698bdd1422773", NULL, NULL},
    {P(SIM_EASY, SIM_ORDER_F1, SIM_SHORTEST, SIM_PYSS), "ba0741f212b2ecad", NULL, NULL},
    {P(SIM_REPLAN, .plan_predicted = true), "c7b0a007155a96a5", NULL, NULL},
#undef P
};

/* ---- whole traces ---- */

struct change {
    int64_t when, procs;
};

static int by_time(const void *a, const void *b) {
    const struct change *x = a, *y = b;
    if (x->when != y->when)
        return x->when < y->when ? -1 : 1;
    return x->procs < y->procs ? -1 : x->procs > y->procs; /* ends first */
}

/* Every job runs once, for its time, not before it was submitted, on processors that are there. */
static void is_possible(const struct trace *trace, const struct sim_result *result) {
    size_t n = trace->jobs.n;
    struct change *changes = xcalloc(2 * n, sizeof(*changes));
    int64_t busy = 0;
    for (size_t i = 0; i < n; i++) {
        const struct trace_job *job = &trace->jobs.items[i];
        assert_true(result->starts[i] >= job->submit);
        assert_true(result->ends[i] == result->starts[i] + job->run);
        changes[2 * i] = (struct change) {result->starts[i], job->procs};
        changes[2 * i + 1] = (struct change) {result->ends[i], -(int64_t) job->procs};
    }
    qsort(changes, 2 * n, sizeof(*changes), by_time);
    for (size_t i = 0; i < 2 * n; i++) {
        busy += changes[i].procs;
        assert_true(busy <= result->procs);
    }
    free(changes);
}

static void starts_are(const struct trace *trace, size_t row, const char *expected) {
    struct sim_result result;
    struct sim_figures figures;
    struct error err = ERROR_INIT;
    cleanup_str struct str name = STR_INIT;
    if (!expected)
        return;
    sim_policy_print(&rows[row].policy, &name);
    if (sim_policy_check(&rows[row].policy, &err) < 0)
        fail_msg("%s: %s", name.data, err.text);
    sim_result_init(&result, trace);
    sim_replay_policy(trace, &rows[row].policy, trace->max_procs, NULL, &result);
    is_possible(trace, &result);
    sim_figures(trace, &result, &figures);
    if (!str_starts(figures.sha256, expected))
        fail_msg("%s: %s instead of %s", name.data, figures.sha256, expected);
    sim_result_done(&result);
}

/* Tells a generator that has changed from a policy that has. */
static void is_the_workload(const struct trace *trace) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    char digits[2 * sizeof(hash) + 1];
    cleanup_str struct str text = STR_INIT;
    trace_write_swf(trace, &text);
    crypto_hash_sha256(hash, (const unsigned char *) text.data, text.length);
    sodium_bin2hex(digits, sizeof(digits), hash, sizeof(hash));
    assert_string_equal(digits, GENERATED_SHA256);
}

TEST(starts_of_a_made_up_workload_are_those_of_the_reference_simulator) {
    struct trace trace;
    struct error err = ERROR_INIT;
    trace_init(&trace);
    if (trace_generate(&trace, GENERATED, &err) < 0)
        fail_msg("%s", err.text);
    is_the_workload(&trace);
    for (size_t i = 0; i < countof(rows); i++)
        starts_are(&trace, i, rows[i].generated);
    trace_done(&trace);
}

TEST(starts_of_kth_sp2_are_those_of_the_reference_simulator) {
    struct trace trace;
    if (!archive_read(&trace, "KTH-SP2.swf.gz"))
        return;
    for (size_t i = 0; i < countof(rows); i++)
        starts_are(&trace, i, rows[i].kth);
    trace_done(&trace);
}

TEST(starts_of_sdsc_sp2_are_those_of_the_reference_simulator) {
    struct trace trace;
    if (!archive_read(&trace, "SDSC-SP2.swf.gz"))
        return;
    for (size_t i = 0; i < countof(rows); i++)
        starts_are(&trace, i, rows[i].sdsc);
    trace_done(&trace);
}

/* ---- by hand: a machine of 4 ---- */

#define REST " -1 -1 -1 -1 -1 -1\n"
/* 1 holds 3 until 100; 2 wants all; 3 is short and narrow; 4 is narrow and too long. */
#define EXAMPLE                                                                                    \
    "1 0 -1 100 3 -1 -1 3 100 -1 1 1" REST "2 1 -1 50 4 -1 -1 4 50 -1 1 1" REST                    \
    "3 2 -1 90 1 -1 -1 1 90 -1 1 1" REST "4 3 -1 200 1 -1 -1 1 200 -1 1 1" REST

static void starts_by_hand(const char *text, struct sim_policy policy, const char *expected) {
    struct trace trace;
    struct sim_result result;
    cleanup_str struct str starts = STR_INIT;
    sample_read(&trace, text, 4);
    sim_result_init(&result, &trace);
    sim_replay_policy(&trace, &policy, 4, NULL, &result);
    sim_print_starts(&trace, &result, &starts);
    assert_string_equal(starts.data, expected);
    sim_result_done(&result);
    trace_done(&trace);
}

TEST(under_fcfs_nobody_overtakes) {
    starts_by_hand(EXAMPLE, (struct sim_policy) {SIM_FCFS}, "1 0\n2 100\n3 150\n4 150\n");
}

TEST(under_easy_only_those_overtake_who_do_not_delay_the_first) {
    starts_by_hand(EXAMPLE, (struct sim_policy) {SIM_EASY}, "1 0\n2 100\n3 2\n4 150\n");
}

TEST(under_cons_a_plan_moves_earlier_when_a_job_ends_early) {
    starts_by_hand("1 0 -1 10 4 -1 -1 4 100 -1 1 1" REST "2 1 -1 50 4 -1 -1 4 50 -1 1 1" REST,
                   (struct sim_policy) {SIM_CONS}, "1 0\n2 10\n");
}

TEST(the_slurm_shape_backfills_on_its_grid_only) {
    /* 3 could start at 32; it was submitted behind 2 and waits for the cycle at 60. */
    starts_by_hand("1 0 -1 300 3 -1 -1 3 300 -1 1 1" REST "2 31 -1 50 4 -1 -1 4 50 -1 1 1" REST
                   "3 32 -1 60 1 -1 -1 1 60 -1 1 1" REST,
                   (struct sim_policy) {SIM_SLURM}, "1 0\n2 300\n3 60\n");
}

TEST(one_job_runs_under_every_policy) {
    for (size_t i = 0; i < countof(rows); i++)
        starts_by_hand("5 7 -1 10 4 -1 -1 4 10 -1 1 1" REST, rows[i].policy, "5 7\n");
}

/* ---- what can be asked for ---- */

TEST(policies_are_read_and_what_does_not_exist_is_refused_with_what_does) {
    struct sim_policy policy = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(sim_policy_parse("replan:16", &policy, &err), 0);
    assert_int_equal(policy.kind, SIM_REPLAN);
    assert_int_equal(policy.reserve, 16);
    assert_int_equal(sim_policy_parse("cons", &policy, &err), 0);
    assert_int_equal(policy.reserve, 0);
    assert_true(sim_policy_parse("magic", &policy, &err) < 0);
    assert_string_equal(err.text,
                        "there is no policy \"magic\"; there are fcfs, easy, cons, replan, slurm");
    assert_true(sim_policy_parse("easy:3", &policy, &err) < 0);
    assert_string_equal(err.text, "easy takes no number; only replan:K does");
    assert_true(sim_policy_parse("replan:0", &policy, &err) < 0);
    assert_true(sim_policy_parse("replan:", &policy, &err) < 0);
}

TEST(what_would_be_without_effect_is_refused) {
    static const struct sim_policy bad[] = {
        {SIM_FCFS, .candidates = SIM_SHORTEST},
        {SIM_REPLAN, .candidates = SIM_PREDICTED},
        {SIM_CONS, .events = SIM_PYSS},
        {SIM_SLURM, .events = SIM_PYSS},
        {SIM_FCFS, .plan_predicted = true},
        {SIM_CONS, .plan_predicted = true},
        {SIM_EASY, .plan_predicted = true, .perfect = true},
    };
    for (size_t i = 0; i < countof(bad); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(sim_policy_check(&bad[i], &err), -ERR_INVALID);
        assert_true(err.text[0]);
    }
}

TEST(a_policy_prints_as_it_stands_in_tables) {
    cleanup_str struct str out = STR_INIT;
    sim_policy_print(&(struct sim_policy) {SIM_EASY, SIM_ORDER_WFP3, SIM_PREDICTED}, &out);
    str_append_char(&out, ' ');
    sim_policy_print(&(struct sim_policy) {SIM_REPLAN, .reserve = 4, .perfect = true}, &out);
    str_append_char(&out, ' ');
    sim_policy_print(&(struct sim_policy) {SIM_EASY, .events = SIM_PYSS}, &out);
    assert_string_equal(out.data, "easy-wfp3+predicted replan:4/perfect easy@pyss");
}

static void count_progress(void *context, uint64_t done, uint64_t all) {
    uint64_t *last = context;
    assert_true(done > *last && done <= all);
    *last = done;
}

TEST(a_watch_hears_of_progress_up_to_the_last_job) {
    struct trace trace;
    struct error err = ERROR_INIT;
    uint64_t done = 0;
    struct sim_watch watch = {&done, count_progress};
    struct sim_result result;
    trace_init(&trace);
    assert_int_equal(trace_generate(&trace, "generate:jobs=1500", &err), 0);
    sim_result_init(&result, &trace);
    sim_replay_policy(&trace, &(struct sim_policy) {SIM_EASY}, 128, &watch, &result);
    assert_int_equal(done, 1500);
    sim_result_done(&result);
    trace_done(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_of_a_made_up_workload_are_those_of_the_reference_simulator),
        cmocka_unit_test(starts_of_kth_sp2_are_those_of_the_reference_simulator),
        cmocka_unit_test(starts_of_sdsc_sp2_are_those_of_the_reference_simulator),
        cmocka_unit_test(under_fcfs_nobody_overtakes),
        cmocka_unit_test(under_easy_only_those_overtake_who_do_not_delay_the_first),
        cmocka_unit_test(under_cons_a_plan_moves_earlier_when_a_job_ends_early),
        cmocka_unit_test(the_slurm_shape_backfills_on_its_grid_only),
        cmocka_unit_test(one_job_runs_under_every_policy),
        cmocka_unit_test(policies_are_read_and_what_does_not_exist_is_refused_with_what_does),
        cmocka_unit_test(what_would_be_without_effect_is_refused),
        cmocka_unit_test(a_policy_prints_as_it_stands_in_tables),
        cmocka_unit_test(a_watch_hears_of_progress_up_to_the_last_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
