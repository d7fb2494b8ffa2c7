/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that hold GPUs and do not use them. */
#include <stdio.h>
#include <string.h>

#include "gpus.h"
#include "unit.h"
#include "world.h"

#define HEAD                                                                                       \
    "GresTypes=gpu\nSelectTypeParameters=CR_CPU\nMinJobAge=1000\n"                                 \
    "NodeName=n1 CPUs=4 Gres=gpu:2\n"
#define MAIN "PartitionName=main Nodes=ALL Default=YES "

static const uint32_t idle[] = {0, 0}, busy[] = {70, 70}, half[] = {70, 0};

static uint32_t idle_for; /* the cards that do nothing */

static uint32_t begin_on(struct world *world, const char *head, const char *rules,
                         const char *gres) {
    char conf[1024];
    struct job_request request;
    (void) snprintf(conf, sizeof(conf), "%s%s%s\n", head, MAIN, rules);
    world_start(world, conf);
    world_all_connect(world);
    idle_for = 0;
    world_request(&request);
    request.tres_per_node = (char *) (uintptr_t) gres;
    request.requeue = TRI_YES;
    request.mail_type = MAIL_FAIL;
    uint32_t id = world_submit(world, &request, NULL);
    assert_int_equal(world_state(world, id), JOB_RUNNING);
    return id;
}

static uint32_t begin(struct world *world, const char *rules, const char *gres) {
    return begin_on(world, HEAD, rules, gres);
}

/* Time passes while the cards do the same. */
static void work(struct world *world, const uint32_t *use, int64_t seconds) {
    for (int64_t t = 0; t < seconds; t += 20) {
        idle_for = use[1] > 0 ? 0 : idle_for;
        report(world, 0, 2, use, idle_for, NULL);
        world_pass_time(world, 20);
        idle_for += 20;
    }
}

static struct job job_of(struct world *world, uint32_t id) {
    struct job job;
    assert_true(world_look(world, id, &job));
    return job;
}

TEST(the_owner_is_warned_once_and_by_mail_then_the_job_is_requeued) {
    struct world world;
    uint32_t id = begin(&world, "GpuIdleWarn=600 GpuIdleTime=1800", "gres/gpu:2");
    work(&world, idle, 500);
    assert_int_equal(job_of(&world, id).gpu_warned, 0);
    work(&world, idle, 200);
    assert_int_not_equal(job_of(&world, id).gpu_warned, 0);
    assert_int_equal(world.mails.n, 1);
    assert_non_null(strstr(world.mails.items[0], "GPUs idle"));
    work(&world, idle, 1000);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_equal(world.mails.n, 1);
    work(&world, idle, 200);
    struct job job = job_of(&world, id);
    assert_int_equal(job.restarts, 1);
    assert_int_equal(job.gpu_warned, 0);
    world_stop(&world);
}

TEST(a_job_whose_cards_work_now_and_then_is_left_alone) {
    struct world world;
    uint32_t id =
        begin(&world, "GpuIdleWarn=600 GpuIdleTime=1800 GpuIdleAction=CANCEL", "gres/gpu:2");
    for (int i = 0; i < 5; i++) {
        work(&world, idle, 700);
        assert_int_not_equal(job_of(&world, id).gpu_warned, 0);
        work(&world, busy, 40);
        assert_int_equal(job_of(&world, id).gpu_warned, 0);
    }
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(one_idle_card_is_worth_a_warning_but_no_end) {
    struct world world;
    uint32_t id = begin(&world, "GpuIdleWarn=60 GpuIdleTime=120", "gres/gpu:2");
    work(&world, half, 1000);
    assert_int_not_equal(job_of(&world, id).gpu_warned, 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_equal(job_of(&world, id).restarts, 0);
    world_stop(&world);
}

TEST(a_card_of_another_job_or_of_nobody_does_not_count) {
    struct world world;
    uint32_t id = begin(&world, "GpuIdleTime=120", "gres/gpu:1");
    work(&world, half, 1000);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_equal(job_of(&world, id).restarts, 0);
    world_stop(&world);
}

TEST(what_cannot_be_requeued_is_cancelled) {
    struct world world;
    uint32_t id = begin(&world, "GpuIdleTime=120", "gres/gpu:2");
    char text[16];
    (void) snprintf(text, sizeof(text), "%u", id);
    assert_int_equal(world_update(&world, "job", text, "Requeue", "0"), 0);
    work(&world, idle, 200);
    assert_int_equal(world_state(&world, id), JOB_CANCELLED);
    world_stop(&world);
}

TEST(a_kept_job_keeps_its_idle_cards_until_then_and_the_clock_starts_anew) {
    struct world world;
    uint32_t id =
        begin(&world, "GpuIdleWarn=60 GpuIdleTime=120 GpuIdleAction=CANCEL", "gres/gpu:2");
    char text[16];
    (void) snprintf(text, sizeof(text), "%u", id);
    work(&world, idle, 80);
    int64_t now = world.now;
    assert_int_equal(world_update(&world, "job", text, "GpuKeep", "10"), 0);
    assert_int_equal(job_of(&world, id).gpu_keep_until, now + 600);
    assert_int_equal(job_of(&world, id).gpu_warned, 0);
    work(&world, idle, 640);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    work(&world, idle, 160);
    assert_int_equal(world_state(&world, id), JOB_CANCELLED);
    world_stop(&world);
}

TEST(keeping_is_for_jobs_that_hold_gpus_under_such_a_rule) {
    struct world world;
    struct job_request request;
    uint32_t id = begin(&world, "", "gres/gpu:2");
    world_request(&request);
    request.tres_per_node = (char *) (uintptr_t) "gres/gpu:1";
    uint32_t waits = world_submit(&world, &request, NULL);
    char text[16];
    (void) snprintf(text, sizeof(text), "%u", id);
    assert_int_equal(world_update(&world, "job", text, "GpuKeep", "often"), ERR_INVALID);
    assert_int_equal(world_update(&world, "job", text, "GpuKeep", "10"), 0); /* with a note */
    (void) snprintf(text, sizeof(text), "%u", waits);
    assert_int_equal(world_state(&world, waits), JOB_PENDING);
    assert_int_equal(world_update(&world, "job", text, "GpuKeep", "10"), ERR_JOB_PENDING);
    (void) snprintf(text, sizeof(text), "%u", id);
    assert_int_equal(world_kill(&world, text), 0);
    world_stop(&world);
}

TEST(a_silent_node_ends_no_job) {
    struct world world;
    uint32_t id = begin(&world, "GpuIdleTime=600", "gres/gpu:2");
    work(&world, idle, 100);
    world_pass_time(&world, 5000); /* no report: the cards may be at work */
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_equal(job_of(&world, id).restarts, 0);
    world_stop(&world);
}

TEST(warning_and_keeping_survive_a_restart_of_the_controller) {
    struct world world;
    uint32_t id = begin(&world, "GpuIdleWarn=60 GpuIdleTime=1800", "gres/gpu:2");
    char text[16];
    (void) snprintf(text, sizeof(text), "%u", id);
    work(&world, idle, 100);
    int64_t warned = job_of(&world, id).gpu_warned;
    assert_int_not_equal(warned, 0);
    world_restart(&world);
    world_all_connect(&world);
    report(&world, 0, 2, idle, 100, NULL);
    assert_int_equal(job_of(&world, id).gpu_warned, warned);
    assert_int_equal(world_update(&world, "job", text, "GpuKeep", "1-00"), 0);
    int64_t until = job_of(&world, id).gpu_keep_until;
    world_restart(&world);
    world_all_connect(&world);
    assert_int_equal(job_of(&world, id).gpu_keep_until, until);
    world_stop(&world);
}

TEST(a_rule_made_at_run_time_warns_first) {
    struct world world;
    uint32_t id = begin(&world, "", "gres/gpu:2");
    work(&world, idle, 5000);
    assert_int_equal(world_update(&world, "partition", "main", "GpuIdleWarn", "60"), 0);
    assert_int_equal(world_update(&world, "partition", "main", "GpuIdleTime", "600"), 0);
    assert_int_equal(world_update(&world, "partition", "main", "GpuIdleAction", "CANCEL"), 0);
    report(&world, 0, 2, idle, 5000, NULL);
    assert_int_not_equal(job_of(&world, id).gpu_warned, 0);
    for (int i = 0; i < 25; i++) {
        report(&world, 0, 2, idle, 6000, NULL);
        world_pass_time(&world, 20);
    }
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    for (int i = 0; i < 5; i++) {
        report(&world, 0, 2, idle, 6000, NULL);
        world_pass_time(&world, 20);
    }
    assert_int_equal(world_state(&world, id), JOB_CANCELLED);
    world_stop(&world);
}

TEST(a_card_is_one_however_slurm_conf_writes_its_kind) {
    struct world world;
    uint32_t id = begin_on(&world,
                           "GresTypes=GPU\nSelectTypeParameters=CR_CPU\nMinJobAge=1000\n"
                           "NodeName=n1 CPUs=4 Gres=GPU:2\n",
                           "GpuIdleWarn=600", "gres/gpu:2");
    work(&world, idle, 700);
    assert_int_not_equal(job_of(&world, id).gpu_warned, 0);
    world_stop(&world);
}

TEST(what_the_qos_of_a_job_says_counts_more_than_its_partition) {
    struct world world;
    uint32_t id = begin(&world, "GpuIdleWarn=600 GpuIdleTime=1800", "gres/gpu:2");
    world.uid = 0;
    world_book(&world, "modify qos normal set gpuidlewarn=0 gpuidletime=0");
    work(&world, idle, 3000);
    assert_int_equal(job_of(&world, id).gpu_warned, 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_book(&world, "modify qos normal set gpuidletime=4000 "
                       "gpuidleaction=cancel gpuidlewarn=-1");
    work(&world, idle, 100);
    assert_int_not_equal(job_of(&world, id).gpu_warned, 0); /* the partition's warning again */
    work(&world, idle, 4000);
    assert_int_equal(world_state(&world, id), JOB_CANCELLED);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_owner_is_warned_once_and_by_mail_then_the_job_is_requeued),
        cmocka_unit_test(a_job_whose_cards_work_now_and_then_is_left_alone),
        cmocka_unit_test(one_idle_card_is_worth_a_warning_but_no_end),
        cmocka_unit_test(a_card_of_another_job_or_of_nobody_does_not_count),
        cmocka_unit_test(what_cannot_be_requeued_is_cancelled),
        cmocka_unit_test(a_kept_job_keeps_its_idle_cards_until_then_and_the_clock_starts_anew),
        cmocka_unit_test(keeping_is_for_jobs_that_hold_gpus_under_such_a_rule),
        cmocka_unit_test(a_silent_node_ends_no_job),
        cmocka_unit_test(warning_and_keeping_survive_a_restart_of_the_controller),
        cmocka_unit_test(a_rule_made_at_run_time_warns_first),
        cmocka_unit_test(a_card_is_one_however_slurm_conf_writes_its_kind),
        cmocka_unit_test(what_the_qos_of_a_job_says_counts_more_than_its_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
