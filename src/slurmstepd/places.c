/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/places.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "os/tree.h"
#include "slurmstepd/script.h"

#define SCRIPT_SECONDS 60 /* for each program of job_container.conf */
#define SHM_DIR "/dev/shm"

extern char **environ;

/* ---- programs ---- */

static void add_variable(struct str *out, const char *name, const char *value) {
    if (!value)
        return;
    str_printf(out, "%s=%s", name, value);
    str_append_char(out, '\0');
}

static int run_program(const struct step_order *order, const char *what, const char *program,
                       int namespace_fd, struct error *err) {
    cleanup_str struct str block = STR_INIT, problem = STR_INIT;
    cleanup_free char *job = xasprintf("%u", order->job_id);
    cleanup_free char *uid = xasprintf("%u", order->uid);
    vec(char *) envp = {0};

    if (!program)
        return 0;
    add_variable(&block, "SLURM_JOB_ID", job);
    add_variable(&block, "SLURM_JOB_UID", uid);
    add_variable(&block, "SLURM_JOB_USER", order->user_name);
    add_variable(&block, "SLURM_JOB_MOUNTPOINT_SRC", order->places);
    add_variable(&block, "SLURM_CONF", order->conf_path);
    add_variable(&block, "SLURMD_NODENAME", order->node_name);
    add_variable(&block, "SLURM_CLUSTER_NAME", order->cluster);
    for (size_t at = 0; at < block.length; at += strlen(block.data + at) + 1)
        vec_push(&envp, block.data + at);
    vec_push(&envp, NULL);
    struct script_program run = {.what = what,
                                 .path = program,
                                 .envp = envp.items,
                                 .seconds = SCRIPT_SECONDS,
                                 .namespace_fd = namespace_fd};
    script_run_program(&run, &problem);
    vec_done(&envp);
    if (problem.length > 0)
        return error_set(err, ERR_SYSTEM, "%s", problem.data);
    return 0;
}

/* ---- making ---- */

static int make_directory(const char *path, mode_t mode, uid_t uid, gid_t gid, struct error *err) {
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return error_errno(err, errno, "Cannot make %s", path);
    cleanup_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fchown(fd, uid, gid) < 0 || fchmod(fd, mode) < 0)
        return error_errno(err, errno, "Cannot give %s to its user", path);
    return 0;
}

static int make_directories(const struct step_order *order, struct error *err) {
    int r = make_directory(order->places, 0700, 0, 0, err);

    if (r < 0)
        return r;
    /* Nothing that is mounted below it must appear elsewhere, nor in the job's own namespace. */
    if (mount(order->places, order->places, NULL, MS_BIND, NULL) < 0 ||
        mount(NULL, order->places, NULL, MS_PRIVATE, NULL) < 0)
        return error_errno(err, errno, "Cannot bind %s to itself", order->places);
    for (uint32_t i = 0; r == 0 && i < order->place_dirs.n; i++) {
        cleanup_free char *path = xasprintf("%s/dir_%u", order->places, i);
        if (!str_equal(order->place_dirs.items[i], SHM_DIR))
            r = make_directory(path, 0700, order->uid, order->gid, err);
    }
    return r;
}

/* In a child: 0, or an error whose text goes to the parent. */
static int mount_all(const struct step_order *order, struct error *err) {
    unsigned long way = order->places_shared ? MS_SLAVE : MS_PRIVATE;

    if (unshare(CLONE_NEWNS) < 0)
        return error_errno(err, errno, "Cannot make a mount namespace for the job");
    if (mount(NULL, "/", NULL, MS_REC | way, NULL) < 0)
        return error_errno(err, errno, "Cannot make the job's mounts its own");
    for (uint32_t i = 0; i < order->place_dirs.n; i++) {
        const char *dir = order->place_dirs.items[i];
        cleanup_free char *path = xasprintf("%s/dir_%u", order->places, i);
        int r = str_equal(dir, SHM_DIR)
                    ? mount("tmpfs", dir, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
                    : mount(path, dir, NULL, MS_BIND, NULL);
        if (r < 0)
            return error_errno(err, errno, "Cannot give the job a %s of its own (Dirs)", dir);
    }
    return 0;
}

/* Keeps the namespace of the child by a bind mount; the child is not needed afterwards. */
static int keep(const struct step_order *order, pid_t pid, struct error *err) {
    cleanup_free char *source = xasprintf("/proc/%d/ns/mnt", (int) pid);
    cleanup_free char *target = xasprintf("%s/.ns", order->places);
    cleanup_fd int fd = open(target, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return error_errno(err, errno, "Cannot make %s", target);
    if (mount(source, target, NULL, MS_BIND, NULL) < 0)
        return error_errno(err, errno, "Cannot keep the job's mount namespace at %s", target);
    return 0;
}

static void child_main(const struct step_order *order, int told_fd, int gate_fd) {
    struct error err = ERROR_INIT;
    char byte;
    if (mount_all(order, &err) < 0)
        (void) !write(told_fd, err.text, strlen(err.text));
    close(told_fd);
    (void) !read(gate_fd, &byte, 1); /* until the parent has what it wants */
    _exit(0);
}

static int make_namespace(const struct step_order *order, struct error *err) {
    char text[ERROR_TEXT_MAX];
    int told[2], gate[2], r = 0;
    ssize_t n;

    if (pipe2(told, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe()");
    if (pipe2(gate, O_CLOEXEC) < 0) {
        close(told[0]);
        close(told[1]);
        return error_errno(err, errno, "pipe()");
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(gate[1]);
        child_main(order, told[1], gate[0]);
    }
    close(told[1]);
    close(gate[0]);
    if (pid < 0)
        r = error_errno(err, errno, "fork()");
    n = pid > 0 ? read(told[0], text, sizeof(text) - 1) : 0;
    if (n > 0) {
        text[n] = '\0';
        r = error_set(err, ERR_SYSTEM, "%s", text);
    }
    if (r == 0)
        r = keep(order, pid, err);
    close(told[0]);
    close(gate[1]);
    if (pid > 0)
        (void) waitpid(pid, NULL, 0);
    return r;
}

static int namespace_open(const char *base, struct error *err) {
    cleanup_free char *path = xasprintf("%s/.ns", base);
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return error_errno(err, errno, "The job's private directories are not here (%s)", path);
    return fd;
}

int places_make(const struct step_order *order, struct error *err) {
    int r = make_directories(order, err);

    if (r == 0)
        r = run_program(order, "InitScript", order->places_init, -1, err);
    if (r == 0)
        r = make_namespace(order, err);
    if (r == 0 && order->places_script) {
        cleanup_fd int fd = namespace_open(order->places, err);
        r = fd < 0 ? err->code : run_program(order, "CloneNSScript", order->places_script, fd, err);
    }
    return r;
}

int places_enter(const char *base, struct error *err) {
    cleanup_fd int fd = namespace_open(base, err);

    if (fd < 0)
        return err->code;
    if (setns(fd, CLONE_NEWNS) < 0)
        return error_errno(err, errno, "Cannot enter the job's private directories (%s/.ns)", base);
    return chdir("/") < 0 ? error_errno(err, errno, "chdir(/)") : 0;
}

/* ---- removing ---- */

int places_remove_main(int argc, char **argv) {
    cleanup_str struct str problem = STR_INIT;
    struct error err = ERROR_INIT;

    if (argc < 3) {
        fprintf(stderr, "Usage: slurmstepd remove-places BASE [PROGRAM]\n");
        return 1;
    }
    const char *base = argv[2];
    cleanup_free char *mark = xasprintf("%s/.ns", base);
    if (argc > 3) {
        cleanup_fd int fd = namespace_open(base, &err);
        struct script_program run = {.what = "CloneNSEpilog",
                                     .path = argv[3],
                                     .envp = environ,
                                     .seconds = SCRIPT_SECONDS,
                                     .namespace_fd = fd};
        if (fd >= 0)
            script_run_program(&run, &problem);
    }
    while (umount2(mark, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
        ;
    while (umount2(base, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
        ;
    if (problem.length > 0)
        printf("%s\n", problem.data);
    if (tree_remove(base))
        return problem.length > 0;
    printf("%s cannot be removed: %s\n", base, strerror(errno));
    return 1;
}
