/* SPDX-License-Identifier: Apache-2.0 */
#include "login/login.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/step_wire.h"
#include "base/alloc.h"
#include "model/conf.h"
#include "os/conf_file.h"
#include "os/frame.h"
#include "os/loop.h"
#include "os/sock.h"

#define ANSWER_USEC 10000000u

void login_job_done(struct login_job *job) {
    free(job->socket);
    free(job->node);
    *job = (struct login_job) LOGIN_JOB_INIT;
}

/* ---- who needs no job ---- */

static bool is_in_group(const struct passwd *user, const char *name) {
    const struct group *group = getgrnam(name);
    gid_t groups[1024];
    int n = (int) countof(groups);
    if (!group || getgrouplist(user->pw_name, user->pw_gid, groups, &n) < 0)
        return false;
    for (int i = 0; i < n; i++) {
        if (groups[i] == group->gr_gid)
            return true;
    }
    return false;
}

bool login_is_exempt(const struct passwd *user, const char *list) {
    bool found = user->pw_uid == 0;
    words_each (list, ",", word)
        found |= word[0] == '@' ? is_in_group(user, word + 1) : str_equal(word, user->pw_name);
    return found;
}

/* ---- talking to an extern step ---- */

/* The next report; its memory is the arena's. */
static int receive(int fd, struct frame_in *in, struct arena *arena, struct step_report *ret,
                   struct error *err) {
    uint64_t deadline = loop_monotonic_usec() + ANSWER_USEC;
    struct bytes content;
    int r;
    while ((r = frame_in_next(in, &content, err)) == 0) {
        r = sock_wait(fd, POLLIN, deadline, err);
        if (r == 0)
            r = error_set(err, ERR_TIMEOUT, "the job's extern step does not answer");
        if (r > 0)
            r = frame_in_read(in, fd, err);
        if (r < 0)
            return r;
    }
    if (r < 0)
        return r;
    struct step_frame_any any;
    enum step_frame type;
    r = step_frame_decode(content, arena, &type, &any, err);
    if (r == 0 && type != STEP_FRAME_REPORT)
        r = error_set(err, ERR_PROTOCOL, "the job's extern step answers something else");
    if (r == 0)
        *ret = any.report;
    return r;
}

/* Asks nothing, or to adopt a process (pid not 0). */
static int talk(const char *path, uint64_t pid, struct arena *arena, struct step_report *ret,
                struct error *err) {
    struct frame_in in;
    int fd, r = sock_dial_unix(path, &fd, err);
    if (r < 0)
        return r;
    frame_in_init(&in, STEP_FRAME_MAX);
    r = receive(fd, &in, arena, ret, err);
    if (r == 0 && pid != 0) {
        struct step_command command;
        struct frame_out out;
        cleanup_str struct str content = STR_INIT;
        record_init(&record_step_command, &command);
        command.kind = STEP_COMMAND_ADOPT;
        command.pid = (uint32_t) pid;
        step_frame_encode(STEP_FRAME_COMMAND, &record_step_command, &command, &content);
        frame_out_init(&out);
        frame_out_append(&out, str_bytes(&content));
        r = frame_out_flush(&out, fd, err);
        frame_out_done(&out);
        while (r >= 0 && (r = receive(fd, &in, arena, ret, err)) == 0 && ret->adopted != pid)
            ; /* reports of other things */
    }
    frame_in_done(&in);
    close(fd);
    return r < 0 ? r : 0;
}

/* ---- which job ---- */

struct search {
    uid_t uid;
    uint32_t job_id; /* 0 = any */
    struct login_job *found;
    struct timespec started;
};

static void look_at(struct search *search, const char *node, const char *directory,
                    const char *name) {
    cleanup_free char *path = xasprintf("%s/%s", directory, name);
    struct step_report report;
    struct arena arena;
    struct stat stat_;
    uint32_t job_id, step_id, attempt;
    if (!step_socket_parse(name, &job_id, &step_id, &attempt) || step_id != STEP_EXTERN ||
        (search->job_id != 0 && search->job_id != job_id) || stat(path, &stat_) < 0)
        return;
    arena_init(&arena, 1u << 20);
    bool is_his = talk(path, 0, &arena, &report, NULL) == 0 && report.running && !report.done &&
                  report.uid == search->uid;
    arena_done(&arena);
    const struct timespec *when = &stat_.st_ctim;
    bool is_newer =
        search->found->socket == NULL || when->tv_sec > search->started.tv_sec ||
        (when->tv_sec == search->started.tv_sec && when->tv_nsec > search->started.tv_nsec);
    if (!is_his || !is_newer)
        return;
    free(search->found->socket);
    free(search->found->node);
    search->found->socket = take(path);
    search->found->node = xstrdup(node);
    search->found->job_id = job_id;
    search->started = *when;
}

/* Every node that this machine is: clusters for tests have several. */
static void look_around(struct search *search, const struct conf *conf) {
    char host[256] = "";
    (void) gethostname(host, sizeof(host) - 1);
    host[strcspn(host, ".")] = '\0';
    for (size_t i = 0; i < conf->n_nodes; i++) {
        const struct conf_node *node = &conf->nodes[i];
        cleanup_str struct str directory = STR_INIT;
        struct dirent *entry;
        if (!str_equal(node->hostname, host) && !str_equal(node->name, host))
            continue;
        conf_path_expand(conf->slurmd_spool_dir, host, node->name, &directory);
        str_append(&directory, "/step");
        DIR *dir = opendir(directory.data);
        while (dir && (entry = readdir(dir)))
            look_at(search, node->name, directory.data, entry->d_name);
        if (dir)
            closedir(dir);
    }
}

static int load_conf(const char *file, struct conf **ret, struct error *err) {
    static const struct conf_source source = {conf_file_read, NULL};
    struct conf_report report = CONF_REPORT_INIT;
    cleanup_str struct str path = STR_INIT;
    conf_file_path(file, &path);
    int r = conf_load(&source, str_cstr(&path), CONF_SLURMD, ret, &report, err);
    conf_report_done(&report);
    return r;
}

int login_find(const char *conf_file, uid_t uid, uint32_t job_id, struct login_job *ret,
               struct error *err) {
    struct search search = {.uid = uid, .job_id = job_id, .found = ret};
    struct conf *conf = NULL;
    int r = load_conf(conf_file, &conf, err);
    if (r < 0)
        return r;
    *ret = (struct login_job) LOGIN_JOB_INIT;
    look_around(&search, conf);
    conf_free(conf);
    return 0;
}

int login_adopt(const struct login_job *job, pid_t pid, char **ret_places, struct error *err) {
    struct step_report report;
    struct arena arena;
    arena_init(&arena, 1u << 20);
    int r = talk(job->socket, (uint64_t) pid, &arena, &report, err);
    if (r == 0 && report.refused)
        r = error_set(err, ERR_SYSTEM, "%s", report.refused);
    if (r == 0 && ret_places)
        *ret_places = xstrdup_null(report.places);
    arena_done(&arena);
    return r;
}

int login_enter_places(const char *places, struct error *err) {
    cleanup_free char *path = xasprintf("%s/.ns", places);
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNS) < 0)
        return error_errno(err, errno, "the job's private directories (%s)", path);
    return 0;
}
