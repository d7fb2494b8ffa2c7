/* SPDX-License-Identifier: Apache-2.0 */
/* What srun makes of the pieces of output that arrive, and of a --multi-prog file.
 * Covers: srun_output.c, srun_multi.c. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/srun.h"

/* An srun whose standard output is a file in memory. */
struct world {
    struct srun srun;
    struct step_layout layout;
    struct srun_task tasks[12];
    int saved, fd;
    char text[65536];
};

static void world_open(struct world *w, uint32_t ntasks, bool label) {
    memset(w, 0, sizeof(*w));
    cli_init(&w->srun.cli, "srun");
    options_init(&w->srun.options, OPTION_SRUN);
    record_init(&record_step_layout, &w->layout);
    w->layout.job_id = 7;
    w->layout.ntasks = ntasks;
    w->srun.layout = &w->layout;
    w->srun.tasks = w->tasks;
    w->srun.n_tasks = ntasks;
    w->srun.options.label = label;
    assert_int_equal(loop_new(&w->srun.loop, NULL), 0);
    w->fd = memfd_create("stdout", MFD_CLOEXEC);
    fflush(stdout);
    w->saved = dup(1);
    dup2(w->fd, 1);
}

static void data(struct world *w, uint32_t rank, const char *text, bool eof) {
    struct step_io io;

    record_init(&record_step_io, &io);
    io.rank = rank;
    io.stream = 1;
    io.data = (struct blob) {(uint8_t *) (uintptr_t) text, strlen(text)};
    io.eof = eof;
    srun_output_data(&w->srun, &io);
}

/* Ends it and gives the terminal back; what was written is in w->text. */
static void world_close(struct world *w) {
    srun_output_flush(&w->srun);
    dup2(w->saved, 1);
    close(w->saved);
    (void) !pread(w->fd, w->text, sizeof(w->text) - 1, 0);
    close(w->fd);
    for (size_t i = 0; i < 2; i++) {
        str_done(&w->srun.sinks[i].queue);
        free(w->srun.node_output[i]);
    }
    loop_free(w->srun.loop);
    options_done(&w->srun.options);
}

TEST(one_task_passes_as_it_comes) {
    struct world w;
    struct stat stat;

    world_open(&w, 1, false);
    int status = srun_output_open(&w.srun);
    data(&w, 0, "half a ", false);
    bool is_there = fstat(w.fd, &stat) == 0 && stat.st_size == 7;
    data(&w, 0, "line", true);
    world_close(&w);
    assert_int_equal(status, CLI_GO_ON);
    assert_true(is_there);
    assert_string_equal(w.text, "half a line");
}

TEST(lines_of_several_tasks_never_mix) {
    struct world w;

    world_open(&w, 2, false);
    (void) srun_output_open(&w.srun);
    data(&w, 0, "from ze", false);
    data(&w, 1, "from one\nand", false);
    data(&w, 0, "ro\n", false);
    data(&w, 1, " more", true);
    data(&w, 0, "", true);
    world_close(&w);
    assert_string_equal(w.text, "from one\nfrom zero\nand more");
}

TEST(labels_are_as_wide_as_the_highest_rank_and_end_lines) {
    struct world w;

    world_open(&w, 12, true);
    (void) srun_output_open(&w.srun);
    data(&w, 3, "a\n\nb", true);
    data(&w, 11, "c\n", true);
    world_close(&w);
    assert_string_equal(w.text, " 3: a\n 3: \n 3: b\n11: c\n");
}

TEST(ranks_that_do_not_exist_and_other_streams_are_dropped) {
    struct world w;

    world_open(&w, 2, false);
    (void) srun_output_open(&w.srun);
    data(&w, 99, "x\n", false);
    struct step_io io = {.rank = 0, .stream = 7};
    srun_output_data(&w.srun, &io);
    world_close(&w);
    assert_string_equal(w.text, "");
}

TEST(names_that_differ_by_node_or_task_are_left_to_the_nodes) {
    static const struct {
        const char *pattern;
        bool for_nodes;
    } rows[] = {{"out.%t", true}, {"out.%3n", true}, {"%N", true},   {"none", true},
                {"3", true},      {"all", false},    {"%%t", false}, {"a\\%t", false}};

    for (size_t i = 0; i < countof(rows); i++) {
        struct world w;
        char dir[] = "/tmp/sluice-srun-XXXXXX";
        assert_non_null(mkdtemp(dir));
        world_open(&w, 2, false);
        string_set(&w.srun.options.job.std_out, rows[i].pattern);
        string_set(&w.srun.options.job.work_dir, dir);
        int status = srun_output_open(&w.srun);
        bool for_nodes = w.srun.node_output[0] != NULL;
        if (w.srun.sinks[0].fd > 2)
            close(w.srun.sinks[0].fd);
        w.srun.sinks[0].fd = 1;
        world_close(&w);
        cleanup_free char *remove_all = xasprintf("rm -rf %s", dir);
        assert_int_equal(system(remove_all), 0);
        assert_int_equal(status, CLI_GO_ON);
        assert_int_equal(for_nodes, rows[i].for_nodes);
    }
}

/* ---- --multi-prog ---- */

static int check(const char *text, uint32_t ntasks) {
    char *names[] = {(char *) "file"};
    struct world w;

    world_open(&w, ntasks, false);
    w.srun.options.multi_prog = true;
    w.srun.uses.rest.items = names;
    w.srun.uses.rest.n = 1;
    str_append(&w.srun.multi_prog, text);
    int saved = dup(2), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, 2); /* the complaint */
    int status = srun_multi_check(&w.srun);
    dup2(saved, 2);
    close(saved);
    close(null);
    str_done(&w.srun.multi_prog);
    world_close(&w);
    return status;
}

TEST(every_task_needs_a_line) {
    assert_int_equal(check("0-1 a\n2,3 b\n", 4), CLI_GO_ON);
    assert_int_equal(check("# 1 x\n0 a\n* b\n", 4), CLI_GO_ON);
    assert_int_equal(check("0 a\n2 b\n", 3), 1);
    assert_int_equal(check("#* all\n0 a\n", 2), 1);
    assert_int_equal(check("", 1), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_task_passes_as_it_comes),
        cmocka_unit_test(lines_of_several_tasks_never_mix),
        cmocka_unit_test(labels_are_as_wide_as_the_highest_rank_and_end_lines),
        cmocka_unit_test(ranks_that_do_not_exist_and_other_streams_are_dropped),
        cmocka_unit_test(names_that_differ_by_node_or_task_are_left_to_the_nodes),
        cmocka_unit_test(every_task_needs_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
