/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams that are files: names expanded, opened with the user's rights. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/job.h"
#include "slurmstepd/stepd.h"

static void path_of(const struct stepd *stepd, const char *pattern, uint32_t rank,
                    struct str *out) {
    const struct step_order *order = &stepd->order;
    struct path_names names = {
        .job_id = order->job_id,
        .step_id = order->step_id,
        .array_task_id = UNSET32,
        .task_id = rank,
        .node_index = stepd->node_index,
        .node_name = order->node_name,
        .user_name = order->user_name,
        .work_dir = stepd->work_dir,
    };

    if (stepd->launch) {
        names.array_job_id = stepd->launch->job->array_job_id;
        names.array_task_id = stepd->launch->job->array_task_id;
        names.restarts = stepd->launch->job->restarts;
        names.job_name = stepd->launch->job->name;
    } else {
        names.array_job_id = stepd->step->layout->array_job_id;
        names.array_task_id = stepd->step->layout->array_task_id;
        names.restarts = stepd->step->layout->restarts;
        names.job_name = stepd->step->layout->job_name;
    }
    output_path_expand(pattern, &names, out);
}

/* mkdir -p of what stands before the last slash; what exists is left as it is. */
static void make_directories(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void) mkdir(path, 0777);
        *slash = '/';
    }
}

static int open_as_user(struct stepd *stepd, char *path, int flags) {
    mode_t mask = umask(stepd->launch ? stepd->launch->job->umask : stepd->step->umask);
    int fd, saved;

    identity_enter(stepd->identity);
    fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0 && errno == ENOENT && (flags & O_CREAT)) {
        make_directories(path);
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
    }
    saved = errno;
    identity_leave();
    (void) umask(mask);
    errno = saved;
    return fd;
}

static bool is_nothing(const char *pattern) {
    return str_equal(pattern, "none") || str_equal(pattern, "/dev/null");
}

int stepd_open_output(struct stepd *stepd, const char *pattern, uint32_t rank, int *ret_fd,
                      struct error *err) {
    uint32_t mode = stepd->launch ? stepd->launch->job->open_mode : stepd->step->open_mode;
    bool append = mode == OPEN_APPEND || (mode == OPEN_DEFAULT && stepd->order.append_output);
    cleanup_str struct str path = STR_INIT;

    if (is_nothing(pattern))
        str_append(&path, "/dev/null");
    else
        path_of(stepd, pattern, rank, &path);
    vec_each (&stepd->files, file) {
        if (str_equal(file->path, path.data)) {
            *ret_fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 3);
            return *ret_fd < 0 ? error_errno(err, errno, "Could not open %s again", path.data) : 0;
        }
    }
    int fd = open_as_user(stepd, path.data, O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC));
    if (fd < 0)
        return error_errno(err, errno, "Could not open stdout file %s", path.data);
    if (stepd->n_tasks > 1) {
        struct output_file file = {xstrdup(path.data), fcntl(fd, F_DUPFD_CLOEXEC, 3)};
        vec_push(&stepd->files, file);
    }
    *ret_fd = fd;
    return 0;
}

void stepd_close_files(struct stepd *stepd) {
    vec_each (&stepd->files, file) {
        close(file->fd);
        free(file->path);
    }
    vec_done(&stepd->files);
}

int stepd_open_input(struct stepd *stepd, const char *pattern, uint32_t rank, int *ret_fd,
                     struct error *err) {
    cleanup_str struct str path = STR_INIT;

    if (!pattern || is_nothing(pattern))
        str_append(&path, "/dev/null");
    else
        path_of(stepd, pattern, rank, &path);
    int fd = open_as_user(stepd, path.data, O_RDONLY);
    if (fd < 0)
        return error_errno(err, errno, "Could not open stdin file %s", path.data);
    *ret_fd = fd;
    return 0;
}
