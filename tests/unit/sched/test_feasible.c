/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that can never run: the classic line, and a sentence that helps. */
#include "world.h"

struct answer {
    int rc;
    struct error err;
    struct str before;
};

static struct world make(void) {
    struct world w;

    world_init(&w, 4, 8, 24000);
    w.kinds[0] = (struct sched_gres_kind) {"gpu", "a100"};
    w.kinds[1] = (struct sched_gres_kind) {"gpu", "v100"};
    w.n_kinds = 2;
    w.nodes[0].gres[0] = 4;
    w.nodes[1].gres[1] = 2;
    w.nodes[3].mem = 48000;
    w.nodes[3].tmp_disk = 1000;
    world_configure(&w);
    return w;
}

static struct answer ask(struct world *w, const struct sched_job_spec *spec) {
    struct answer answer = {0};

    answer.rc = sched_feasible(w->sched, spec, &answer.before, &answer.err);
    return answer;
}

static void expect(struct world *w, const struct sched_job_spec *spec, int code, const char *before,
                   const char *const *words) {
    struct answer answer = ask(w, spec);

    assert_int_equal(answer.rc, -code);
    assert_string_equal(str_cstr(&answer.before), before);
    for (; *words; words++) {
        if (!strstr(answer.err.text, *words))
            print_error("\"%s\" lacks \"%s\"\n", answer.err.text, *words);
        assert_non_null(strstr(answer.err.text, *words));
    }
    str_done(&answer.before);
    world_done(w);
}
#define WORDS(...) ((const char *const[]) {__VA_ARGS__, NULL})

TEST(a_job_that_fits_an_idle_cluster_is_feasible_even_when_nodes_are_down) {
    struct world w = make();
    struct sched_job_spec spec = world_spec(&w);

    spec.min_nodes = spec.max_nodes = spec.ntasks = 4;
    world_usable(&w, 2, false);
    struct answer answer = ask(&w, &spec);
    assert_int_equal(answer.rc, 0);
    assert_string_equal(str_cstr(&answer.before), "");
    world_done(&w);
}

TEST(too_much_memory_names_the_largest_node) {
    struct world w = make();
    struct sched_job_spec spec = world_spec(&w);

    spec.mem_per_node = 99 * 1024;
    expect(&w, &spec, ERR_NODE_CONFIG, "Memory specification can not be satisfied",
           WORDS("99G", "n4", "main", "--mem="));
}

TEST(too_much_memory_per_cpu_names_what_would_work) {
    struct world w = make();
    struct sched_job_spec spec = world_spec(&w);

    spec.mem_per_cpu = 50000;
    expect(&w, &spec, ERR_NODE_CONFIG, "Memory specification can not be satisfied",
           WORDS("50000", "--mem-per-cpu=48000M"));
}

TEST(too_many_cpus_per_task_names_the_largest_node) {
    struct world w = make();
    struct sched_job_spec spec = world_spec(&w);

    spec.cpus_per_task = 9;
    expect(&w, &spec, ERR_NODE_CONFIG, "CPU count per node can not be satisfied",
           WORDS("9 CPUs", "has 8"));
}

TEST(too_many_tasks_for_the_nodes_asked_for_have_no_classic_line) {
    struct world w = make();
    struct sched_job_spec spec = world_spec(&w);

    spec.ntasks = 9;
    spec.max_nodes = 1;
    expect(&w, &spec, ERR_NODE_CONFIG, "", WORDS("9 tasks"));
}

TEST(too_much_temporary_disk_is_named) {
    struct world w = make();
    struct sched_job_spec spec = world_spec(&w);

    spec.tmp_disk = 1001;
    /* The node sets ask the spec, so the whole request goes through the planner's own test. */
    expect(&w, &spec, ERR_NODE_CONFIG, "Temporary disk specification can not be satisfied",
           WORDS("1001", "1000"));
}

TEST(impossible_sockets_are_named) {
    struct world w = make();
    struct sched_job_spec spec = world_spec(&w);

    spec.sockets_per_node = 3;
    expect(&w, &spec, ERR_NODE_CONFIG,
           "Socket, core and/or thread specification can not be satisfied", WORDS("3 sockets"));
}

TEST(a_gpu_type_with_too_few_devices_names_all_types) {
    struct world w = make();
    struct sched_job_spec spec = world_spec(&w);

    spec.per_node[0] = (struct sched_gres_request) {1, 0, 3};
    spec.n_per_node = 1;
    expect(&w, &spec, ERR_NODE_CONFIG, "", WORDS("gpu:v100:3", "gpu:a100:4", "gpu:v100:2"));
}

TEST(more_gpus_in_all_than_exist_names_how_many_do) {
    struct world w = make();
    struct sched_job_spec spec = world_spec(&w);

    spec.per_job[0] = (struct sched_gres_request) {0, 0, 5};
    spec.n_per_job = 1;
    expect(&w, &spec, ERR_NODE_CONFIG, "", WORDS("gpu:a100:5 in all", "main have 4 together"));
}

TEST(more_nodes_than_exist_names_how_many_do) {
    struct world w = make();
    struct sched_job_spec spec = world_spec(&w);

    spec.min_nodes = spec.max_nodes = spec.ntasks = 5;
    expect(&w, &spec, ERR_NODE_COUNT, "", WORDS("5 nodes", "--nodes=4"));
}

TEST(what_no_single_node_has_together_is_said_so) {
    struct world w = make();
    struct sched_job_spec spec = world_spec(&w);

    spec.per_node[0] = (struct sched_gres_request) {0, 0, 4};
    spec.n_per_node = 1;
    spec.mem_per_node = 30000;
    expect(&w, &spec, ERR_NODE_CONFIG, "", WORDS("together"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_fits_an_idle_cluster_is_feasible_even_when_nodes_are_down),
        cmocka_unit_test(too_much_memory_names_the_largest_node),
        cmocka_unit_test(too_much_memory_per_cpu_names_what_would_work),
        cmocka_unit_test(too_many_cpus_per_task_names_the_largest_node),
        cmocka_unit_test(too_many_tasks_for_the_nodes_asked_for_have_no_classic_line),
        cmocka_unit_test(too_much_temporary_disk_is_named),
        cmocka_unit_test(impossible_sockets_are_named),
        cmocka_unit_test(a_gpu_type_with_too_few_devices_names_all_types),
        cmocka_unit_test(more_gpus_in_all_than_exist_names_how_many_do),
        cmocka_unit_test(more_nodes_than_exist_names_how_many_do),
        cmocka_unit_test(what_no_single_node_has_together_is_said_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
