/* SPDX-License-Identifier: Apache-2.0 */
/* Components on the command line and in scripts: how many, and what one takes over from others. */
#include "cli/components.h"

#include <string.h>

#include "base/alloc.h"
#include "cli/main.h"
#include "unit.h"

struct fixture {
    struct components components;
    struct script_words words;
    vec(char *) line;
    char *text;
};

static void begin(struct fixture *f, const char *line, const char *script) {
    struct option_set set = option_set_of(OPTION_SBATCH, "sbatch");
    struct cli cli;
    memset(f, 0, sizeof(*f));
    cli_init(&cli, "sbatch");
    f->text = xstrdup(line);
    char *cursor = f->text;
    for (char *word; (word = str_next_word(&cursor, " ")) != NULL;)
        vec_push(&f->line, word);
    assert_int_equal(components_scan(&cli, &set, f->line.items, f->line.n, &f->components),
                     CLI_GO_ON);
    struct bytes bytes = {(const uint8_t *) script, strlen(script)};
    assert_int_equal(script_scan(bytes, "s", &f->words, NULL), 0);
    assert_int_equal(components_scan_script(&cli, &set, &f->words, &f->components), CLI_GO_ON);
}

static struct options options_of(const struct fixture *f, size_t i) {
    struct options options;
    char *none[] = {NULL};
    options_init(&options, OPTION_SBATCH);
    assert_int_equal(components_apply(&f->components, i, &options, none), 0);
    return options;
}

static void end(struct fixture *f) {
    components_done(&f->components);
    script_words_done(&f->words);
    vec_done(&f->line);
    free(f->text);
}

TEST(there_are_as_many_as_line_or_script_have_whichever_are_more) {
    static const struct {
        const char *line, *script;
        size_t n;
    } rows[] = {
        {"-n1 s.sh", "#!/bin/sh\n", 1},
        {"-n1 : -n2 s.sh", "#!/bin/sh\n", 2},
        {": s.sh", "#!/bin/sh\n", 2},
        {"s.sh", "#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH packjob\n", 3},
        {"-n1 : -n2 s.sh", "#!/bin/sh\n#SBATCH hetjob\n#SBATCH hetjob\n", 3},
        {"s.sh : -n2", "#!/bin/sh\n", 1}, /* arguments of the script */
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct fixture f;
        begin(&f, rows[i].line, rows[i].script);
        assert_int_equal(components_count(&f.components), rows[i].n);
        end(&f);
    }
}

TEST(sizes_and_places_are_a_components_own_the_rest_is_taken_over) {
    struct fixture f;
    begin(&f, "-n4 -N2 -c3 -p big -C fast -t 7 -A acc -J name --mem=70 : -n2 s.sh", "#!/bin/sh\n");
    struct options options = options_of(&f, 1);
    const struct job_request *job = &options.job;
    assert_int_equal(job->ntasks, 2);
    assert_int_equal(job->min_nodes, 0);
    assert_int_equal(job->cpus_per_task, 0);
    assert_null(job->partition);
    assert_null(job->features);
    assert_int_equal(job->time_limit, 7);
    assert_string_equal(job->account, "acc");
    assert_string_equal(job->name, "name");
    assert_int_equal(job->mem_per_node, 70);
    options_done(&options);
    end(&f);
}

TEST(the_last_options_of_the_line_count_for_further_components_of_the_script) {
    struct fixture f;
    begin(&f, "-n5 : -n6 s.sh",
          "#!/bin/sh\n#SBATCH -n1 -t 11\n#SBATCH hetjob\n#SBATCH -n2\n#SBATCH hetjob\n"
          "#SBATCH -N3 -t 12\n");
    static const uint32_t ntasks[] = {5, 6, 6}, nodes[] = {0, 0, 3}, limits[] = {11, 11, 12};
    for (size_t i = 0; i < 3; i++) {
        struct options options = options_of(&f, i);
        assert_int_equal(options.job.ntasks, ntasks[i]);
        assert_int_equal(options.job.min_nodes, nodes[i]);
        assert_int_equal(options.job.time_limit, limits[i]);
        options_done(&options);
    }
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_as_many_as_line_or_script_have_whichever_are_more),
        cmocka_unit_test(sizes_and_places_are_a_components_own_the_rest_is_taken_over),
        cmocka_unit_test(the_last_options_of_the_line_count_for_further_components_of_the_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
