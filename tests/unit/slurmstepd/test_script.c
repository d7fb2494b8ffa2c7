/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/script.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/proc.h"
#include "unit.h"

/* A directory with a record that is to be and a program. */
struct place {
    char dir[64], record[96], program[96], text[4096];
};

static void place_open(struct place *place, const char *script) {
    strcpy(place->dir, "/tmp/sluice-script-XXXXXX");
    assert_non_null(mkdtemp(place->dir));
    snprintf(place->record, sizeof(place->record), "%s/record", place->dir);
    snprintf(place->program, sizeof(place->program), "%s/program", place->dir);
    FILE *file = fopen(place->program, "we");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(place->program, 0700), 0);
}

static void place_close(struct place *place) {
    (void) unlink(place->record);
    (void) unlink(place->program);
    assert_int_equal(rmdir(place->dir), 0); /* nothing else is left there */
}

static const char *record(struct place *place) {
    int fd = open(place->record, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t n = read(fd, place->text, sizeof(place->text) - 1);
    assert_true(n >= 0);
    place->text[n] = '\0';
    close(fd);
    return place->text;
}

static void run(struct place *place, const char *seconds, char *second) {
    char name[] = "slurmstepd", word[] = "script", what[] = "Prolog";
    char *argv[] = {name, word,           place->record, (char *) (uintptr_t) seconds,
                    what, place->program, second,        NULL};
    assert_int_equal(script_main(second ? 7 : 6, argv), 0);
}

TEST(a_good_end_is_recorded) {
    struct place place;
    place_open(&place, "exit 0");
    run(&place, "0", NULL);
    assert_string_equal(record(&place), "done ");
    place_close(&place);
}

TEST(the_first_failure_is_named_and_ends_the_run) {
    struct place place;
    char never[] = "/nonexistent/program", expected[256];
    place_open(&place, "exit 3");
    run(&place, "60", never);
    snprintf(expected, sizeof(expected), "done Prolog %s ended with exit status 3", place.program);
    assert_string_equal(record(&place), expected);
    place_close(&place);
}

TEST(a_program_that_is_not_there_has_failed) {
    struct place place;
    char never[] = "/nonexistent/program";
    place_open(&place, "exit 0");
    run(&place, "0", never);
    assert_non_null(strstr(record(&place), "cannot be run"));
    assert_non_null(strstr(record(&place), never));
    place_close(&place);
}

TEST(one_that_hangs_is_killed_with_what_it_started) {
    struct place place;
    place_open(&place, "trap '' TERM; sleep 1000 & wait");
    run(&place, "1", NULL);
    assert_non_null(strstr(record(&place), "did not end within 1 s and was killed"));
    place_close(&place);
}

TEST(a_second_supervisor_of_the_same_run_does_nothing) {
    struct place place;
    place_open(&place, "exit 3");
    FILE *file = fopen(place.record, "we");
    fputs("running 1 2 boot", file);
    assert_int_equal(fclose(file), 0);
    run(&place, "0", NULL);
    assert_string_equal(record(&place), "running 1 2 boot");
    place_close(&place);
}

TEST(while_it_runs_the_record_names_the_supervisor) {
    struct place place;
    char expected[256], boot[64], copy[160];
    place_open(&place, "cp ${0%program}record ${0%program}copy");
    run(&place, "0", NULL);
    proc_boot_id(boot, sizeof(boot));
    snprintf(expected, sizeof(expected), "running %d %llu %s", (int) getpid(),
             (unsigned long long) proc_start_time(getpid()), boot);
    snprintf(copy, sizeof(copy), "%s/copy", place.dir);
    assert_int_equal(rename(copy, place.record), 0);
    assert_string_equal(record(&place), expected);
    place_close(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_end_is_recorded),
        cmocka_unit_test(the_first_failure_is_named_and_ends_the_run),
        cmocka_unit_test(a_program_that_is_not_there_has_failed),
        cmocka_unit_test(one_that_hangs_is_killed_with_what_it_started),
        cmocka_unit_test(a_second_supervisor_of_the_same_run_does_nothing),
        cmocka_unit_test(while_it_runs_the_record_names_the_supervisor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
