/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that try to get away. With cgroups where a v2 tree is writable, and always without.
 * Covers: track.c, confine.c, and spawn.c's start inside a group. */
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
#include "slurmstepd/confine.h"
#include "slurmstepd/spawn.h"
#include "slurmstepd/track.h"

/* Two generations away from us, in a session of its own, deaf to TERM, without descriptors. */
static const char escape[] = "(setsid sh -c 'trap \"\" TERM HUP INT; exec </dev/null >/dev/null "
                             "2>&1; sleep 600 & sleep 600' "
                             "&) ; sleep 0.2; exit 3";

/* A step's groups; without cgroups (base NULL) nothing. */
struct fenced {
    struct confine confine;
    struct track track;
};

static void step_open(struct fenced *step, struct cgroup_tree *tree) {
    struct step_order order;
    cleanup_str struct str text = STR_INIT;
    struct error err = ERROR_INIT;

    record_init(&record_step_order, &order);
    if (tree) {
        cgroup_tree_print(tree, &text);
        order.use_cgroup = true;
        order.cgroup_tree = text.data;
        order.cgroup = (char *) "job_1/step_0";
        order.cgroup_parts = CGROUP_TRACK;
    }
    if (confine_open(&step->confine, &order, &err) < 0)
        fail_msg("%s", err.text);
    step->track.group = step->confine.tasks;
}

static pid_t start(struct fenced *step, const char *script) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), errnum;
    char *argv[] = {(char *) "/bin/sh", (char *) "-c", (char *) (uintptr_t) script, NULL};
    char *envp[] = {(char *) "PATH=/usr/bin:/bin", NULL};
    struct confine_entry entry cleanup_confine_entry = CONFINE_ENTRY_INIT;
    struct spawn_plan plan = {
        .program = argv[0], .argv = argv, .envp = envp, .fds = {null, null, null}, .entry = &entry};
    pid_t pid;

    assert_int_equal(confine_task(&step->confine, 0, &entry, NULL), 0);
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

static void nothing_escapes(struct cgroup_tree *tree) {
    struct fenced step;
    int status;

    step_open(&step, tree);
    pid_t pid = start(&step, escape);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 3 << 8);
    assert_true(count(&step.track) >= 3);
    if (tree)
        assert_false(confine_close(&step.confine, true));
    track_signal(&step.track, SIGTERM);
    usleep(50000);
    assert_true(count(&step.track) >= 3);
    struct str text = STR_INIT;
    track_describe(&step.track, &text);
    assert_non_null(strstr(text.data, "(sleep, state S"));
    str_done(&text);
    kill_all(&step.track);
    assert_true(confine_close(&step.confine, true));
}

TEST(nothing_escapes_without_cgroups) {
    nothing_escapes(NULL);
}

TEST(nothing_escapes_a_cgroup_and_the_group_goes_with_its_last_process) {
    cleanup_free char *base = xasprintf("sluice_test_%d", (int) getpid());
    struct cgroup_tree *tree = cgroup_tree_new(&(struct cgroup_choice) {.base = base});
    struct error err = ERROR_INIT;
    size_t n = 1;
    pid_t *pids = NULL;

    if (geteuid() != 0 || cgroup_tree_mode(tree) == CGROUP_NONE) {
        cgroup_tree_free(tree);
        skip();
    }
    nothing_escapes(tree);
    struct cgroup *group = cgroup_handle(tree, "", CGROUP_TRACK);
    assert_int_equal(cgroup_pids(group, &pids, &n, &err), 0);
    assert_int_equal(n, 0); /* it is not there at all, or else */
    assert_true(cgroup_dir_fd(group) == -1);
    free(pids);
    cgroup_free(group);
    cgroup_tree_free(tree);
}

TEST(a_bomb_is_put_out) {
    struct fenced step;

    step_open(&step, NULL);
    start(&step,
          "trap '' TERM; i=0; while [ $i -lt 300 ]; do (setsid sleep 600 &); i=$((i+1)); done; "
          "sleep 600");
    for (int i = 0; i < 2000 && count(&step.track) < 50; i++)
        usleep(5000);
    assert_true(count(&step.track) >= 50);
    kill_all(&step.track);
    assert_true(confine_close(&step.confine, false));
}

TEST(an_empty_group_is_empty) {
    struct fenced step;

    step_open(&step, NULL);
    assert_int_equal(count(&step.track), 0);
    assert_true(track_kill(&step.track));
    assert_true(confine_close(&step.confine, false));
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
