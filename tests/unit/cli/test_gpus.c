/* SPDX-License-Identifier: Apache-2.0 */
/* What `sluice gpus` prints. */
#include "cli/gpus.h"

#include <string.h>

#include "unit.h"

struct sample {
    struct gpu gpus[3];
    struct gpu_status status[2];
    struct gpu_stray stray;
    const struct gpu *list[3];
    struct column_env env;
    struct gpus_view view;
};

/* A card at work, an idle one, one that nobody tells of; on n1 and n2. */
static void sample_init(struct sample *s) {
    memset(s, 0, sizeof(*s));
    list_env_init(&s->env, NULL);
    s->env.now = 1000000;
    for (size_t i = 0; i < 3; i++) {
        record_init(&record_gpu, &s->gpus[i]);
        s->gpus[i].node = text_of(i < 2 ? "n1" : "n2");
        s->gpus[i].index = i % 2;
        s->gpus[i].type = text_of("a100");
        s->gpus[i].available = true;
        s->list[i] = &s->gpus[i];
    }
    for (size_t i = 0; i < 2; i++) {
        record_init(&record_gpu_status, &s->status[i]);
        s->gpus[i].status = &s->status[i];
        s->gpus[i].job = text_of("12_3");
        s->gpus[i].user = text_of("alice");
        s->status[i].memory_total = 81920;
    }
    s->status[0].use = 87;
    s->status[0].use_now = 93;
    s->status[0].memory = 40960;
    s->status[1].use = 0;
    s->status[1].use_now = 0;
    s->status[1].memory = 512;
    s->gpus[1].idle_since = 1000000 - 3723;
    s->view = (struct gpus_view) {.gpus = s->list, .n = 3, .env = &s->env};
}

static void assert_line(const struct sample *s, const char *line) {
    struct str out cleanup_str = STR_INIT;
    gpus_text(&s->view, &out);
    if (strstr(str_cstr(&out), line) == NULL)
        fail_msg("\"%s\" is not in:\n%s", line, str_cstr(&out));
}

TEST(every_card_is_a_line_with_holder_use_and_idle_time) {
    struct sample s;
    sample_init(&s);
    assert_line(&s, "NODE  GPU  TYPE  JOB   USER   NOW  15MIN      MEMORY     IDLE  IDLE SINCE\n");
    assert_line(&s, "n1      0  a100  12_3  alice  93%    87%  40.0/80.0G        -  -\n");
    assert_line(&s, "n1      1  a100  12_3  alice   0%     0%   0.5/80.0G  1:02:03  ");
    assert_line(&s, "n2      0  a100  -     -        -      -           -        -  -\n");
    assert_line(&s, "2 of 3 GPUs are held by jobs, 1 of them idle; 1 free.\n");
}

TEST(what_waits_and_what_is_closed_is_summed_up) {
    struct sample s;
    sample_init(&s);
    s.gpus[2].available = false;
    s.view.waiting_jobs = 1;
    s.view.waiting_gpus = 4;
    assert_line(&s, "; 0 free, 1 on nodes that take no jobs; 1 job waits for 4.\n");
}

TEST(strays_and_failures_are_named_below_the_table) {
    struct sample s;
    sample_init(&s);
    record_init(&record_gpu_stray, &s.stray);
    s.stray.pid = 4711;
    s.stray.user = text_of("bob");
    s.stray.command = text_of("python3");
    s.stray.memory = 900;
    s.status[0].strays.items = &s.stray;
    s.status[0].strays.n = 1;
    s.status[1].problem = text_of("Xid 79");
    assert_line(&s,
                "n1 gpu 0: process 4711 (python3) of bob belongs to no job and holds 900 MiB\n");
    assert_line(&s, "n1 gpu 1: Xid 79\n");
    struct str out cleanup_str = STR_INIT;
    gpus_json(&s.view, &out);
    assert_non_null(strstr(str_cstr(&out), "\"pid\": 4711"));
    assert_non_null(strstr(str_cstr(&out), "\"idle_since\": 996277"));
}

TEST(what_ends_an_idle_job_is_told_with_the_way_to_keep_it) {
    struct sample s;
    sample_init(&s);
    s.gpus[1].idle_end = 1000000 + 600;
    s.gpus[1].idle_action = text_of("REQUEUE");
    assert_line(&s,
                "n1 gpu 1: idle; job 12_3 will be requeued in 10:00 unless it works again or is "
                "kept: sluice keep 12_3 2:00:00\n");
}

TEST(a_cluster_without_gpus_is_told_how_to_have_some) {
    struct gpus_view none = {.n = 0};
    struct str out cleanup_str = STR_INIT;
    gpus_text(&none, &out);
    assert_non_null(strstr(str_cstr(&out), "Gres=gpu:N"));
}

TEST(gpus_of_a_request_are_counted_once_whatever_their_types) {
    assert_int_equal(gpus_in_tres("cpu=4,mem=1G,node=1,gres/gpu=2,gres/gpu:a100=2"), 2);
    assert_int_equal(gpus_in_tres("cpu=4,mem=1G,node=1"), 0);
    assert_int_equal(gpus_in_tres(NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_card_is_a_line_with_holder_use_and_idle_time),
        cmocka_unit_test(what_waits_and_what_is_closed_is_summed_up),
        cmocka_unit_test(strays_and_failures_are_named_below_the_table),
        cmocka_unit_test(what_ends_an_idle_job_is_told_with_the_way_to_keep_it),
        cmocka_unit_test(a_cluster_without_gpus_is_told_how_to_have_some),
        cmocka_unit_test(gpus_of_a_request_are_counted_once_whatever_their_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
