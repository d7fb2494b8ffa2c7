/* SPDX-License-Identifier: Apache-2.0 */
/* What a submission says about the place it comes from. */
#include "cli/request.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/environ.h"
#include "cli/main.h"

#define ENVIRONMENT_FILE_MAX (16u << 20)

/* ---- where we are ---- */

static char *working_directory(const struct cli *cli) {
    char *cwd = getcwd(NULL, 0);
    if (!cwd) {
        cli_error(cli, "getcwd failed: %s", strerror(errno));
        return NULL;
    }
    return cwd;
}

char *request_directory(const struct cli *cli, const char *chdir) {
    if (chdir && *chdir == '/')
        return xstrdup(chdir);
    char *cwd = working_directory(cli);
    if (!cwd || !chdir || !*chdir)
        return cwd;
    char *joined = xasprintf("%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, chdir);
    free(cwd);
    return joined;
}

/* argv joined by blanks. */
static char *submit_line(int argc, char **argv) {
    struct str line = STR_INIT;
    for (int i = 0; i < argc; i++) {
        if (i)
            str_append_char(&line, ' ');
        str_append(&line, argv[i]);
    }
    return str_take(&line);
}

static void host_name(char *name, size_t size) {
    if (gethostname(name, size) < 0)
        name[0] = '\0';
    name[size - 1] = '\0';
    name[strcspn(name, ".")] = '\0';
}

/* ---- limits ---- */

static const struct {
    const char *name;
    unsigned flag; /* CONF_RLIMIT_… */
    int resource;
} limits[] = {
    {"AS", CONF_RLIMIT_AS_, RLIMIT_AS},
    {"CORE", CONF_RLIMIT_CORE_, RLIMIT_CORE},
    {"CPU", CONF_RLIMIT_CPU_, RLIMIT_CPU},
    {"DATA", CONF_RLIMIT_DATA_, RLIMIT_DATA},
    {"FSIZE", CONF_RLIMIT_FSIZE_, RLIMIT_FSIZE},
    {"MEMLOCK", CONF_RLIMIT_MEMLOCK_, RLIMIT_MEMLOCK},
    {"NOFILE", CONF_RLIMIT_NOFILE_, RLIMIT_NOFILE},
    {"NPROC", CONF_RLIMIT_NPROC_, RLIMIT_NPROC},
    {"RSS", CONF_RLIMIT_RSS_, RLIMIT_RSS},
    {"STACK", CONF_RLIMIT_STACK_, RLIMIT_STACK},
};

static bool list_names(const char *list, const char *name) {
    cleanup_free char *copy = xstrdup(list);
    char *cursor = copy;
    for (char *word; (word = str_next_word(&cursor, ",")) != NULL;)
        if (strcasecmp(word, name) == 0 || strcasecmp(word, "ALL") == 0)
            return true;
    return false;
}

/* The option counts alone; without it the configuration names what is propagated or what not. */
static bool limit_is_propagated(const struct options *options, const struct conf *conf, size_t i) {
    if (options->propagate)
        return list_names(options->propagate, limits[i].name);
    uint64_t named = conf->propagate_resource_limits;
    uint64_t except = conf->propagate_resource_limits_except;
    if (named & CONF_RLIMIT_NONE)
        return false;
    if (except)
        return !(except & (limits[i].flag | CONF_RLIMIT_ALL));
    return !named || (named & (limits[i].flag | CONF_RLIMIT_ALL));
}

static void fill_limits(struct options *options, const struct conf *conf) {
    struct rlimit_value *items = xcalloc(countof(limits), sizeof(*items));
    uint32_t n = 0;
    for (size_t i = 0; i < countof(limits); i++) {
        struct rlimit value;
        if (!limit_is_propagated(options, conf, i) || getrlimit(limits[i].resource, &value) < 0)
            continue;
        items[n].resource = (uint32_t) limits[i].resource;
        items[n].soft = value.rlim_cur == RLIM_INFINITY ? UINT64_MAX : value.rlim_cur;
        n++;
    }
    options->job.rlimits.items = items;
    options->job.rlimits.n = n;
}

/* ---- the environment ---- */

/* --export-file: a path, or the number of an open descriptor. */
static int read_environment_file(const struct cli *cli, const char *name, struct str *out) {
    uint64_t number;
    bool is_number = str_to_u64(name, &number) && number < 1u << 20;
    cleanup_fd int fd = is_number ? dup((int) number) : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        cli_error(cli, "Could not open user environment file %s", name);
        return cli->error_status;
    }
    cleanup_str struct str text = STR_INIT;
    char piece[16384];
    ssize_t n;
    while ((n = read(fd, piece, sizeof(piece))) > 0 && text.length < ENVIRONMENT_FILE_MAX)
        str_append_bytes(&text, piece, (size_t) n);
    if (n != 0) {
        cli_error(cli, "Could not read user environment file %s: %s", name,
                  n < 0 ? strerror(errno) : "it is too large");
        return cli->error_status;
    }
    environ_from_file(str_bytes(&text), out);
    return CLI_GO_ON;
}

static int fill_environment(const struct cli *cli, struct options *options, const char *cwd,
                            const char *host) {
    struct str block = STR_INIT;
    const char *export = options->job.export_env;
    if (options->export_file) {
        int status = read_environment_file(cli, options->export_file, &block);
        if (status != CLI_GO_ON) {
            str_done(&block);
            return status;
        }
    } else {
        environ_capture(environ, export, &block);
    }
    if (options->command == OPTION_SBATCH && options->gpus_per_node)
        environ_set(&block, "SLURM_GPUS_PER_NODE", options->gpus_per_node);
    environ_set(&block, "SLURM_SUBMIT_DIR", cwd);
    environ_set(&block, "SLURM_SUBMIT_HOST", host);
    char nice_value[16];
    snprintf(nice_value, sizeof(nice_value), "%d", getpriority(PRIO_PROCESS, 0));
    environ_set(&block, "SLURM_PRIO_PROCESS", nice_value);
    if (export && options->command == OPTION_SBATCH) {
        environ_set(&block, "SLURM_EXPORT_ENV", export);
        environ_set(&block, "SLURM_GET_USER_ENV", "1");
    }
    if (options->job.get_user_env)
        environ_set(&block, "SLURM_GET_USER_ENV", "1");
    if (options->command == OPTION_SBATCH && environ_wants_login(export))
        options->job.get_user_env = true;
    options->job.environment.size = block.length;
    options->job.environment.data = (uint8_t *) block.data;
    return CLI_GO_ON;
}

/* ---- all of it ---- */

/* An empty value asks for nothing; only an empty partition is worth the controller's complaint. */
static void drop_empty_texts(struct job_request *job) {
    char **texts[] = {&job->name,      &job->array_spec, &job->features,      &job->prefer,
                      &job->req_nodes, &job->exc_nodes,  &job->dependency,    &job->licenses,
                      &job->comment,   &job->qos,        &job->reservation,   &job->account,
                      &job->std_out,   &job->std_err,    &job->std_in,        &job->mail_user,
                      &job->wckey,     &job->clusters,   &job->batch_features};
    for (size_t i = 0; i < countof(texts); i++)
        if (*texts[i] && !**texts[i])
            string_set(texts[i], NULL);
}

int request_fill(const struct cli *cli, struct options *options, const struct conf *conf, int argc,
                 char **argv) {
    struct job_request *job = &options->job;
    cleanup_free char *cwd = working_directory(cli);
    char *directory = cwd ? request_directory(cli, job->work_dir) : NULL;
    if (!directory)
        return cli->error_status;
    drop_empty_texts(job);
    if (job->export_env && strcasecmp(job->export_env, "ALL") == 0)
        string_set(&job->export_env, NULL); /* the same as no --export at all */
    free(job->work_dir);
    job->work_dir = directory;
    char host[256];
    host_name(host, sizeof(host));
    string_set(&job->alloc_node, host);
    job->alloc_sid = (uint32_t) getsid(0);
    free(job->submit_line);
    job->submit_line = submit_line(argc, argv);
    mode_t mask = umask(0);
    umask(mask);
    job->umask = mask;
    fill_limits(options, conf);
    if (options->command == OPTION_SALLOC)
        return CLI_GO_ON;
    return fill_environment(cli, options, cwd, host);
}

/* ---- the script's file ---- */

/* A readable regular file or a directory (which is then found to be empty, as users are told). */
static int open_script(const char *path, bool *ret_seen) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        *ret_seen = access(path, F_OK) == 0;
    else if (fstat(fd, &st) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static char *join_path(const char *directory, const char *name) {
    return xasprintf("%s%s%s", directory, *directory && strcmp(directory, "/") != 0 ? "/" : "",
                     name);
}

/* Finds and opens; *ret_path is set also for a file that is there and may not be read. */
static int find_script(const char *name, const char *directory, char **ret_path) {
    bool seen = false;
    if (*name == '/') {
        *ret_path = xstrdup(name);
        return open_script(name, &seen);
    }
    char *path = join_path(directory, name);
    int fd = open_script(path, &seen);
    if (fd >= 0 || seen || *name == '.') {
        *ret_path = path;
        return fd;
    }
    free(path);
    fd = open_script(name, &seen);
    if (fd >= 0 || seen) {
        cleanup_free char *cwd = getcwd(NULL, 0);
        *ret_path = join_path(cwd ? cwd : ".", name);
        return fd;
    }
    const char *search = getenv("PATH");
    cleanup_free char *copy = xstrdup(search && !strchr(name, '/') ? search : "");
    char *cursor = copy;
    for (char *each; (each = str_next_word(&cursor, ":")) != NULL;) {
        path = join_path(each, name);
        fd = open_script(path, &seen);
        if (fd >= 0) {
            *ret_path = path;
            return fd;
        }
        free(path);
    }
    return -1;
}

int request_script(const struct cli *cli, const char *name, const char *directory,
                   struct str *ret_text, char **ret_path) {
    cleanup_fd int opened = -1;
    int fd = STDIN_FILENO;
    *ret_path = NULL;
    if (name) {
        fd = opened = find_script(name, directory, ret_path);
        if (fd < 0) {
            cli_error(cli, "Unable to open file %s", *ret_path ? *ret_path : name);
            return cli->error_status;
        }
    }
    const size_t limit = 64u << 20; /* what one message can carry; the controller knows its own */
    char piece[16384];
    ssize_t n;
    while ((n = read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR)) {
        if (n > 0)
            str_append_bytes(ret_text, piece, (size_t) n);
        if (ret_text->length > limit) {
            cli_error(cli, "Batch job submission failed: %s", error_text(ERR_SCRIPT_TOO_LARGE));
            return cli->error_status;
        }
    }
    if (n < 0 && errno != EISDIR) {
        cli_error(cli, "Unable to read %s: %s", name ? *ret_path : "standard input",
                  strerror(errno));
        return cli->error_status;
    }
    return CLI_GO_ON;
}
