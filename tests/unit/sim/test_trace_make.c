/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up workloads: as asked for, and the same each time. */
#include "base/alloc.h"
#include "base/str.h"
#include "sample.h"

static void make(struct trace *trace, const char *text) {
    struct error err = ERROR_INIT;
    trace_init(trace);
    if (trace_generate(trace, text, &err) < 0)
        fail_msg("%s", err.text);
}

static void refuses(const char *text, const char *words) {
    struct trace trace;
    struct error err = ERROR_INIT;
    trace_init(&trace);
    assert_int_equal(trace_generate(&trace, text, &err), -ERR_INVALID);
    assert_non_null(strstr(err.text, words));
    trace_done(&trace);
}

TEST(the_work_fills_the_load_asked_for) {
    struct trace trace;
    double area = 0;
    make(&trace, "generate:jobs=5000,procs=256,load=0.7,seed=3,users=9");
    assert_int_equal(trace.jobs.n, 5000);
    assert_int_equal(trace.max_procs, 256);
    int64_t last = 0;
    vec_each (&trace.jobs, job) {
        assert_true(job->run >= 1 && job->run <= job->est);
        assert_in_range(job->procs, 1, 256);
        assert_true(job->submit >= last);
        assert_int_equal(job->id, job - trace.jobs.items + 1);
        last = job->submit;
        area += (double) job->run * job->procs;
    }
    double load = area / (256.0 * (double) (last - trace.jobs.items[0].submit));
    /* The daily cycle moves first and last submission by less than a day. */
    assert_true(load > 0.65 && load < 0.75);
    trace_done(&trace);
}

TEST(the_same_recipe_makes_the_same_jobs_and_another_seed_others) {
    struct trace a, b, c;
    cleanup_str struct str x = STR_INIT, y = STR_INIT, z = STR_INIT;
    make(&a, "generate:jobs=300");
    make(&b, "generate:jobs=300,seed=1,procs=128,load=0.8,users=50");
    make(&c, "generate:jobs=300,seed=2");
    trace_write_swf(&a, &x);
    trace_write_swf(&b, &y);
    trace_write_swf(&c, &z);
    assert_string_equal(x.data, y.data);
    assert_string_not_equal(x.data, z.data);
    trace_done(&a);
    trace_done(&b);
    trace_done(&c);
}

TEST(the_smallest_machine_and_workload_work) {
    struct trace trace;
    make(&trace, "generate:jobs=1,procs=1,users=1");
    assert_int_equal(trace.jobs.n, 1);
    assert_int_equal(trace.jobs.items[0].procs, 1);
    trace_done(&trace);
}

TEST(a_recipe_without_sense_is_refused_with_the_bounds) {
    refuses("generate:jobs=0", "a number from 1 to 10000000 is wanted");
    refuses("generate:procs=many", "procs=many");
    refuses("generate:load=-1", "a number from 0.001 to 100 is wanted");
    refuses("generate:load=nan", "load=nan");
    refuses("generate:speed=3", "knows no \"speed\"; there are jobs, procs, load, seed, users");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_work_fills_the_load_asked_for),
        cmocka_unit_test(the_same_recipe_makes_the_same_jobs_and_another_seed_others),
        cmocka_unit_test(the_smallest_machine_and_workload_work),
        cmocka_unit_test(a_recipe_without_sense_is_refused_with_the_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
