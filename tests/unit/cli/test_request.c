/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a submission says about the place it comes from, and how scripts are found.
 * Covers: request.c, main.c
 */
#include "cli/request.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/environ.h"
#include "cli/main.h"
#include "fake_controller.h"
#include "options_sample.h"

static struct cli cli;
static char dir[] = "/tmp/sluice-request-XXXXXX";

static void write_file(const char *name, const char *text) {
    cleanup_free char *path = xasprintf("%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The text of a script found by name from `directory`, or NULL. */
static const char *script_from(const char *name, const char *directory) {
    static struct str text;
    char *path;
    str_reset(&text);
    int status = request_script(&cli, name, directory, &text, &path);
    free(path);
    return status == CLI_GO_ON ? str_cstr(&text) : NULL;
}

TEST(scripts_are_found_in_the_job_directory_then_here_then_in_path) {
    cleanup_free char *sub = xasprintf("%s/sub", dir), *path = xasprintf("/none:%s/bin", dir);
    cleanup_free char *absolute = xasprintf("%s/here", dir);
    assert_string_equal(script_from("both", sub), "sub");
    assert_string_equal(script_from("here", sub), "here");
    assert_string_equal(script_from("sub/both", dir), "sub");
    assert_string_equal(script_from("./both", sub), "sub");
    assert_string_equal(script_from(absolute, sub), "here");
    assert_null(script_from("./here", sub)); /* a leading dot counts from the job's directory */
    setenv("PATH", path, 1);
    assert_string_equal(script_from("onpath", sub), "path");
    assert_null(script_from("nowhere", sub));
}

static void open_missing(void *context) {
    struct str text = STR_INIT;
    char *path;
    assert_int_equal(request_script(&cli, "nowhere.sh", dir, &text, &path), 1);
}

TEST(a_missing_script_is_named_as_it_was_given) {
    assert_string_equal(fake_stderr(open_missing, NULL),
                        "sbatch: error: Unable to open file nowhere.sh\n");
}

TEST(a_directory_reads_as_an_empty_script) {
    assert_string_equal(script_from("sub", dir), "");
}

static void fill(struct sample *s, enum option_command command, const char *line) {
    static const char *const words[] = {"sbatch", "-n", "2", "two words"};
    struct conf conf = {0};
    sample_read(s, command, line);
    assert_int_equal(request_fill(&cli, &s->options, &conf, countof(words), (char **) words),
                     CLI_GO_ON);
}

static const char *variable(const struct sample *s, const char *name) {
    const struct blob *blob = &s->options.job.environment;
    struct str block = {(char *) blob->data, blob->size, blob->size};
    return environ_get(&block, name);
}

TEST(a_request_tells_where_it_comes_from) {
    char cwd[4096], host[256];
    cleanup_sample struct sample s;
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    assert_int_equal(gethostname(host, sizeof(host)), 0);
    host[strcspn(host, ".")] = '\0';
    umask(027);
    fill(&s, OPTION_SBATCH, "-J x");
    assert_string_equal(s.options.job.work_dir, cwd);
    assert_string_equal(s.options.job.alloc_node, host);
    assert_int_equal(s.options.job.alloc_sid, getsid(0));
    assert_string_equal(s.options.job.submit_line, "sbatch -n 2 two words");
    assert_int_equal(s.options.job.umask, 027);
    assert_string_equal(variable(&s, "SLURM_SUBMIT_DIR"), cwd);
    assert_string_equal(variable(&s, "SLURM_SUBMIT_HOST"), host);
    assert_int_equal(atoi(variable(&s, "SLURM_PRIO_PROCESS")), getpriority(PRIO_PROCESS, 0));
}

TEST(a_relative_directory_counts_from_here) {
    char cwd[4096];
    cleanup_sample struct sample s;
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    cleanup_free char *expected = xasprintf("%s/sub", cwd);
    fill(&s, OPTION_SBATCH, "-D sub");
    assert_string_equal(s.options.job.work_dir, expected);
    assert_string_equal(variable(&s, "SLURM_SUBMIT_DIR"), cwd);
}

static const struct rlimit_value *limit_of(const struct sample *s, uint32_t resource) {
    for (uint32_t i = 0; i < s->options.job.rlimits.n; i++)
        if (s->options.job.rlimits.items[i].resource == resource)
            return &s->options.job.rlimits.items[i];
    return NULL;
}

TEST(all_limits_go_along_unless_propagate_says_which) {
    struct rlimit value;
    cleanup_sample struct sample all, some, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &value), 0);
    fill(&all, OPTION_SBATCH, "");
    assert_int_equal(all.options.job.rlimits.n, 10);
    assert_int_equal(limit_of(&all, RLIMIT_NOFILE)->soft, value.rlim_cur);
    fill(&some, OPTION_SBATCH, "--propagate=STACK,CORE");
    assert_int_equal(some.options.job.rlimits.n, 2);
    assert_non_null(limit_of(&some, RLIMIT_STACK));
    fill(&none, OPTION_SBATCH, "--propagate=NONE");
    assert_int_equal(none.options.job.rlimits.n, 0);
}

TEST(export_is_recorded_for_srun_inside_unless_it_is_all) {
    cleanup_sample struct sample all, list, none;
    fill(&all, OPTION_SBATCH, "--export=ALL");
    assert_null(all.options.job.export_env);
    assert_null(variable(&all, "SLURM_EXPORT_ENV"));
    fill(&list, OPTION_SBATCH, "--export=ALL,X=1");
    assert_string_equal(variable(&list, "SLURM_EXPORT_ENV"), "ALL,X=1");
    assert_string_equal(variable(&list, "X"), "1");
    assert_false(list.options.job.get_user_env);
    fill(&none, OPTION_SBATCH, "--export=NONE");
    assert_null(variable(&none, "PATH"));
    assert_true(none.options.job.get_user_env);
}

TEST(empty_values_ask_for_nothing) {
    cleanup_sample struct sample s;
    fill(&s, OPTION_SBATCH, "--array= --constraint= --account= --partition=");
    assert_null(s.options.job.array_spec);
    assert_null(s.options.job.features);
    assert_null(s.options.job.account);
    assert_string_equal(s.options.job.partition, ""); /* the controller has words for it */
}

static void read_line(void *context) {
    static const char *const words[] = {"salloc", "-N4", "-n1", "--network=x", "true"};
    struct options options;
    struct option_uses uses = {0};
    options_init(&options, OPTION_SALLOC);
    assert_int_equal(cli_options_read(&cli, &options, countof(words), (char **) words, &uses),
                     CLI_GO_ON);
    assert_int_equal(uses.rest.n, 1);
    assert_int_equal(options.job.max_nodes, 1);
    option_uses_done(&uses);
    options_done(&options);
}

TEST(warnings_and_the_notice_are_printed_once) {
    assert_string_equal(fake_stderr(read_line, NULL),
                        "sbatch: warning: can't run 1 processes on 4 nodes, setting nnodes to 1\n"
                        "sbatch: warning: accepted, but without effect in this release: "
                        "--network\n");
}

static void scan_unknown(void *context) {
    static const char *const words[] = {"--foo"};
    struct option_set set = option_set_of(OPTION_SBATCH, "sbatch");
    struct option_uses uses = {0};
    assert_int_equal(cli_scan(&cli, &set, (char *const *) words, 1, OPTION_STOP, &uses), 255);
    option_uses_done(&uses);
}

TEST(an_unknown_option_ends_with_255_and_a_hint) {
    assert_string_equal(fake_stderr(scan_unknown, NULL),
                        "sbatch: unrecognized option '--foo'\n"
                        "Try \"sbatch --help\" for more information\n");
}

static int set_up(void **state) {
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chdir(dir), 0);
    assert_int_equal(mkdir("sub", 0755) | mkdir("bin", 0755), 0);
    write_file("here", "here");
    write_file("both", "here");
    write_file("sub/both", "sub");
    write_file("bin/onpath", "path");
    write_file("slurm.conf", "ClusterName=lab\nSlurmctldHost=localhost\n"
                             "NodeName=n1\nPartitionName=main Nodes=n1\n");
    cleanup_free char *conf = xasprintf("%s/slurm.conf", dir);
    assert_int_equal(setenv("SLURM_CONF", conf, 1), 0);
    return 0;
}

static int tear_down(void **state) {
    static const char *const names[] = {"here", "both", "sub/both", "bin/onpath", "slurm.conf"};
    for (size_t i = 0; i < countof(names); i++)
        unlink(names[i]);
    rmdir("sub");
    rmdir("bin");
    return chdir("/") | rmdir(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_are_found_in_the_job_directory_then_here_then_in_path),
        cmocka_unit_test(a_missing_script_is_named_as_it_was_given),
        cmocka_unit_test(a_directory_reads_as_an_empty_script),
        cmocka_unit_test(a_request_tells_where_it_comes_from),
        cmocka_unit_test(a_relative_directory_counts_from_here),
        cmocka_unit_test(all_limits_go_along_unless_propagate_says_which),
        cmocka_unit_test(export_is_recorded_for_srun_inside_unless_it_is_all),
        cmocka_unit_test(empty_values_ask_for_nothing),
        cmocka_unit_test(warnings_and_the_notice_are_printed_once),
        cmocka_unit_test(an_unknown_option_ends_with_255_and_a_hint),
    };
    cli_init(&cli, "sbatch");
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
