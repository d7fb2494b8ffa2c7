/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that try to get away. With cgroups where a v2 tree is writable, and always without.
 * Covers: track.c, and spawn.c's start inside a group. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "slurmstepd/spawn.h"
#include "slurmstepd/track.h"

/* Two generations away from us, in a session of its own, deaf to TERM, without descriptors. */
static const char escape[] = "(setsid sh -c 'trap \"\" TERM HUP INT; exec </dev/null >/dev/null "
                             "2>&1; sleep 600 & sleep 600' "
                             "&) ; sleep 0.2; exit 3";

static char *group_path(void) {
    char line[4096], mount[1024], type[64];
    FILE *file = fopen("/proc/self/mounts", "re");
    char *path = NULL;

    while (geteuid() == 0 && file && !path && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%*s %1023s %63s", mount, type) == 2 && strcmp(type, "cgroup2") == 0)
            path = xasprintf("%s/sluice_test_%d/job_1/step_0", mount, (int) getpid());
    }
    if (file)
        fclose(file);
    return path;
}

static pid_t start(const struct track *track, const char *script) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), errnum;
    char *argv[] = {(char *) "/bin/sh", (char *) "-c", (char *) (uintptr_t) script, NULL};
    char *envp[] = {(char *) "PATH=/usr/bin:/bin", NULL};
    struct spawn_plan plan = {.program = argv[0],
                              .argv = argv,
                              .envp = envp,
                              .fds = {null, null, null},
                              .cgroup_fd = track->dir_fd,
                              .cgroup_fds = &track->procs_fd,
                              .n_cgroup_fds = track->dir ? 1 : 0};
    pid_t pid;

    assert_int_equal(spawn_start(&plan, &pid, &errnum, NULL), 0);
    close(null);
    return pid;
}

static size_t count(const struct track *track) {
    struct pid_list pids = {0};

    track_pids(track, &pids);
    size_t n = pids.list.n;
    vec_done(&pids.list);
    return n;
}

static void kill_all(const struct track *track) {
    for (int i = 0; i < 500 && !track_kill(track); i++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        usleep(5000);
    }
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    assert_int_equal(count(track), 0);
}

static void nothing_escapes(const char *dir) {
    struct track track;
    int status;

    assert_int_equal(track_open(&track, dir, NULL), 0);
    pid_t pid = start(&track, escape);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 3 << 8);
    assert_true(count(&track) >= 3);
    if (dir)
        assert_false(track_close(&track));
    track_signal(&track, SIGTERM);
    usleep(50000);
    assert_true(count(&track) >= 3);
    struct str text = STR_INIT;
    track_describe(&track, &text);
    assert_non_null(strstr(text.data, "(sleep, state S)"));
    str_done(&text);
    kill_all(&track);
    assert_true(track_close(&track));
}

TEST(nothing_escapes_without_cgroups) {
    nothing_escapes(NULL);
}

TEST(nothing_escapes_a_cgroup_and_the_group_goes_with_its_last_process) {
    char *path = group_path();
    char *base;

    NEED(path != NULL);
    nothing_escapes(path);
    base = xstrdup(path);
    strstr(base, "/job_1")[0] = '\0';
    assert_int_equal(access(base, F_OK), -1);
    free(base);
    free(path);
}

TEST(a_bomb_is_put_out) {
    struct track track;

    assert_int_equal(track_open(&track, NULL, NULL), 0);
    start(&track,
          "trap '' TERM; i=0; while [ $i -lt 300 ]; do (setsid sleep 600 &); i=$((i+1)); done; "
          "sleep 600");
    for (int i = 0; i < 2000 && count(&track) < 50; i++)
        usleep(5000);
    assert_true(count(&track) >= 50);
    kill_all(&track);
    assert_true(track_close(&track));
}

TEST(an_empty_group_is_empty) {
    struct track track;

    assert_int_equal(track_open(&track, NULL, NULL), 0);
    assert_int_equal(count(&track), 0);
    assert_true(track_kill(&track));
    assert_true(track_close(&track));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_group_is_empty),
        cmocka_unit_test(nothing_escapes_without_cgroups),
        cmocka_unit_test(nothing_escapes_a_cgroup_and_the_group_goes_with_its_last_process),
        cmocka_unit_test(a_bomb_is_put_out),
    };
    /* as slurmstepd does: orphans come to us */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
