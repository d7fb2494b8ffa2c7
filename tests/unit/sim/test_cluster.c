/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/cluster.h"

#include <string.h>

#include "sim_conf.h"
#include "text/duration.h"
#include "unit.h"

#define START 1000000

static const char small_conf[] = "SelectTypeParameters=CR_CPU\nNodeName=n[1-4] CPUs=1\n"
                                 "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE\n";

/* What the hooks have told, in order: "start 1 at 0", "end 1 at 10 COMPLETED". */
struct tale {
    struct conf *conf;
    struct sim_cluster *cluster;
    struct str text;
};

static void told_start(void *context, uint32_t job_id, int64_t when, const struct job *job) {
    struct tale *tale = context;
    assert_int_equal(job->job_id, job_id);
    str_printf(&tale->text, "start %u at %lld\n", job_id, (long long) (when - START));
}

static void told_end(void *context, uint32_t job_id, int64_t when, const struct job *job) {
    struct tale *tale = context;
    str_printf(&tale->text, "end %u at %lld %s\n", job_id, (long long) (when - START),
               job_state_text(job->state, 0));
}

static void begin(struct tale *tale, const char *conf) {
    struct sim_hooks hooks = {tale, told_start, told_end};
    struct error err = ERROR_INIT;
    memset(tale, 0, sizeof(*tale));
    tale->conf = sim_conf(conf);
    assert_int_equal(sim_cluster_new(tale->conf, START, 1, &hooks, &tale->cluster, &err), 0);
}

static void finish(struct tale *tale) {
    sim_cluster_free(tale->cluster);
    conf_free(tale->conf);
    str_done(&tale->text);
}

static uint32_t submit(struct tale *tale, uint32_t ntasks, uint32_t minutes, int64_t run) {
    struct job_request request;
    struct error err = ERROR_INIT;
    sim_request(&request, ntasks, minutes);
    return sim_cluster_submit(tale->cluster, &request, "anna", run, &err);
}

TEST(a_job_starts_at_once_and_ends_after_its_run) {
    struct tale tale;
    begin(&tale, small_conf);
    assert_int_equal(submit(&tale, 2, 10, 90), 1);
    sim_cluster_advance(tale.cluster, START + 1000);
    assert_string_equal(tale.text.data, "start 1 at 0\nend 1 at 90 COMPLETED\n");
    finish(&tale);
}

TEST(a_job_is_killed_at_its_limit) {
    struct tale tale;
    begin(&tale, small_conf);
    submit(&tale, 1, 1, 500);
    submit(&tale, 1, 1, 60); /* just in time */
    sim_cluster_advance(tale.cluster, START + 1000);
    assert_string_equal(tale.text.data, "start 1 at 0\nstart 2 at 0\nend 2 at 60 COMPLETED\n"
                                        "end 1 at 60 TIMEOUT\n");
    finish(&tale);
}

TEST(what_ends_and_what_is_submitted_at_one_instant_is_planned_in_one_pass) {
    struct tale tale;
    uint64_t before, after, candidates;
    begin(&tale, small_conf);
    submit(&tale, 4, 1, 60);
    submit(&tale, 3, 10, 600);
    sim_cluster_advance(tale.cluster, START + 30);
    core_work(sim_cluster_core(tale.cluster), &before, &candidates);
    sim_cluster_advance(tale.cluster, START + 60);
    assert_string_equal(tale.text.data, "start 1 at 0\n");
    submit(&tale, 1, 10, 5); /* beside job 2, on the node that job 1 leaves over */
    sim_cluster_advance(tale.cluster, START + 60);
    core_work(sim_cluster_core(tale.cluster), &after, &candidates);
    assert_int_equal(after - before, 1);
    sim_cluster_advance(tale.cluster, START + 64);
    assert_string_equal(tale.text.data, "start 1 at 0\nend 1 at 60 COMPLETED\nstart 3 at 60\n"
                                        "start 2 at 60\n");
    finish(&tale);
}

TEST(time_jumps_to_the_next_event) {
    struct tale tale;
    begin(&tale, small_conf);
    sim_cluster_advance(tale.cluster, START);
    submit(&tale, 1, MINUTES_INFINITE, 1000000);
    assert_int_equal(sim_cluster_next(tale.cluster), START);
    sim_cluster_advance(tale.cluster, START + 100);
    assert_int_equal(sim_cluster_now(tale.cluster), START + 100);
    int64_t next;
    while ((next = sim_cluster_next(tale.cluster)) != INT64_MAX)
        sim_cluster_advance(tale.cluster, next);
    assert_string_equal(tale.text.data, "start 1 at 0\nend 1 at 1000000 COMPLETED\n");
    assert_true(sim_cluster_now(tale.cluster) > START + 1000000);
    finish(&tale);
}

TEST(tasks_of_an_array_are_jobs_of_their_own) {
    struct tale tale;
    struct job_request request;
    struct error err = ERROR_INIT;
    begin(&tale, small_conf);
    sim_request(&request, 2, 10);
    request.array_spec = (char *) (uintptr_t) "1-3";
    assert_int_equal(sim_cluster_submit(tale.cluster, &request, "anna", 10, &err), 1);
    sim_cluster_advance(tale.cluster, START + 1000);
    assert_string_equal(tale.text.data,
                        "start 2 at 0\nstart 3 at 0\nend 2 at 10 COMPLETED\n"
                        "end 3 at 10 COMPLETED\nstart 1 at 10\nend 1 at 20 COMPLETED\n");
    finish(&tale);
}

TEST(an_allocation_is_given_back_when_its_command_ends) {
    struct tale tale;
    struct job_request request;
    struct error err = ERROR_INIT;
    begin(&tale, small_conf);
    sim_request(&request, 3, 10);
    request.kind = JOB_KIND_SALLOC;
    assert_int_equal(sim_cluster_submit(tale.cluster, &request, "anna", 10, &err), 1);
    assert_int_equal(sim_cluster_submit(tale.cluster, &request, "berta", 10, &err), 2);
    sim_cluster_advance(tale.cluster, START + 1000);
    assert_string_equal(tale.text.data, "start 1 at 0\nend 1 at 10 COMPLETED\nstart 2 at 10\n"
                                        "end 2 at 20 COMPLETED\n");
    finish(&tale);
}

TEST(a_refusal_names_the_cause) {
    struct tale tale;
    struct job_request request;
    struct error err = ERROR_INIT;
    begin(&tale, small_conf);
    sim_request(&request, 5, 10);
    assert_int_equal(sim_cluster_submit(tale.cluster, &request, "anna", 10, &err), 0);
    assert_non_null(strstr(err.text, "node configuration"));
    request.ntasks = 1;
    assert_int_equal(sim_cluster_submit(tale.cluster, &request, "anna", 10, &err), 1);
    finish(&tale);
}

TEST(two_runs_tell_the_same_tale) {
    struct tale tales[2];
    for (size_t i = 0; i < 2; i++) {
        begin(&tales[i], small_conf);
        for (uint32_t k = 0; k < 100; k++) {
            submit(&tales[i], 1 + k * 7 % 4, 1 + k % 5, 10 + k * 13 % 200);
            sim_cluster_advance(tales[i].cluster, START + k * 20);
        }
        sim_cluster_advance(tales[i].cluster, START + 100000);
    }
    assert_string_equal(tales[0].text.data, tales[1].text.data);
    finish(&tales[0]);
    finish(&tales[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_starts_at_once_and_ends_after_its_run),
        cmocka_unit_test(a_job_is_killed_at_its_limit),
        cmocka_unit_test(what_ends_and_what_is_submitted_at_one_instant_is_planned_in_one_pass),
        cmocka_unit_test(time_jumps_to_the_next_event),
        cmocka_unit_test(tasks_of_an_array_are_jobs_of_their_own),
        cmocka_unit_test(an_allocation_is_given_back_when_its_command_ends),
        cmocka_unit_test(a_refusal_names_the_cause),
        cmocka_unit_test(two_runs_tell_the_same_tale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
