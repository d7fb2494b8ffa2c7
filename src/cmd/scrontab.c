/* SPDX-License-Identifier: Apache-2.0 */
/* scrontab: sets, edits, shows and removes the crontab that the controller keeps for a user. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/connect.h"
#include "cli/crontab.h"
#include "cli/list.h"
#include "cli/list_options.h"
#include "cli/main.h"
#include "cli/request.h"
#include "cli/script.h"

#define PATH_OF_JOBS "/usr/local/bin:/usr/bin:/bin"

struct settings {
    bool edit, list, remove;
    const char *user;
    int verbose;
};

struct scrontab {
    struct cli cli;
    struct settings settings;
    const struct conf *conf;
    uid_t uid;
    gid_t gid;
    char *user, *home, *shell;
    int argc;
    char **argv;
};

static void set_verbose(void *member, const char *value) {
    (*(int *) member)++;
}

#define AT(member) offsetof(struct settings, member)
/* clang-format off */
static const struct list_option rows[] = {
    {"edit", 'e', LIST_ARG_NONE, NULL, list_set_true, NULL, "edit the crontab", AT(edit)},
    {"list", 'l', LIST_ARG_NONE, NULL, list_set_true, NULL, "show the crontab", AT(list)},
    {"remove", 'r', LIST_ARG_NONE, NULL, list_set_true, NULL, "remove the crontab", AT(remove)},
    {"user", 'u', LIST_ARG_REQUIRED, NULL, list_set_text, "user", "whose crontab: root only",
        AT(user)},
    {"verbose", 'v', LIST_ARG_NONE, NULL, set_verbose, NULL, "say more", AT(verbose)},
};
/* clang-format on */
static const struct list_options options_of_command = {
    rows, countof(rows), "scrontab [-u USER] FILE\n       scrontab [-u USER] [-e | -l | -r]"};

/* ---- whose ---- */

static int find_user(struct scrontab *scrontab) {
    const char *name = scrontab->settings.user;
    uint32_t uid = getuid();
    const struct passwd *found = name == NULL || list_user_find(name, &uid) ? getpwuid(uid) : NULL;
    if (found == NULL) {
        if (name != NULL)
            cli_error(&scrontab->cli, "Invalid user name: %s", name);
        else
            cli_error(&scrontab->cli, "Your user id %u has no name on this machine",
                      (unsigned) getuid());
        return 1;
    }
    if (found->pw_uid != getuid() && getuid() != 0) {
        cli_error(&scrontab->cli, "Only root may use another user's crontab");
        return 1;
    }
    scrontab->uid = found->pw_uid;
    scrontab->gid = found->pw_gid;
    scrontab->user = xstrdup(found->pw_name);
    scrontab->home = xstrdup(found->pw_dir);
    scrontab->shell = xstrdup(*found->pw_shell ? found->pw_shell : "/bin/sh");
    return CLI_GO_ON;
}

static uint32_t uid_to_ask(const struct scrontab *scrontab) {
    return scrontab->uid == getuid() ? UNSET32 : scrontab->uid;
}

/* ---- entries to requests ---- */

/* What a job finds, as with cron: little, and what the crontab sets above its entry. */
static void set_environment(const struct scrontab *scrontab, const struct crontab_text *text,
                            const struct crontab_entry *entry) {
    const char *conf_path = getenv("SLURM_CONF");
    cleanup_free char *conf = conf_path ? xstrdup(conf_path) : NULL;
    clearenv();
    setenv("PATH", PATH_OF_JOBS, 1);
    setenv("HOME", scrontab->home, 1);
    setenv("USER", scrontab->user, 1);
    setenv("LOGNAME", scrontab->user, 1);
    setenv("SHELL", scrontab->shell, 1);
    if (conf)
        setenv("SLURM_CONF", conf, 1);
    for (size_t i = 0; i < entry->n_variables; i++)
        setenv(text->variables.items[i].name, text->variables.items[i].value, 1);
}

static int apply_line(struct scrontab *scrontab, struct options *options,
                      const struct crontab_line *line) {
    struct option_set set = option_set_of(OPTION_SBATCH, scrontab->cli.name);
    struct script_words words = {0};
    struct script_fault fault;
    struct option_uses uses = {0};
    int status = CLI_GO_ON;
    if (!script_split(line->text, strlen(line->text), &words, &fault)) {
        cli_error(&scrontab->cli, "Unmatched `%c` in [%s]", fault.quote, line->text + fault.rest);
        status = 1;
    }
    if (status == CLI_GO_ON)
        status =
            cli_scan(&scrontab->cli, &set, words.words.items, words.words.n, OPTION_STOP, &uses);
    if (status == CLI_GO_ON && uses.rest.n) {
        cli_error(&scrontab->cli, "Invalid option: %s", uses.rest.items[0]);
        status = 1;
    }
    if (status == CLI_GO_ON && options_apply(options, &uses, OPTION_SCRIPT) < 0)
        status = cli_options_failed(&scrontab->cli, options);
    if (status != CLI_GO_ON)
        cli_error(&scrontab->cli, "line %u: the options above were not understood", line->number);
    option_uses_done(&uses);
    script_words_done(&words);
    return status != CLI_GO_ON ? 1 : status;
}

static void name_of(const char *command, struct str *ret) {
    size_t length = strcspn(command, " \t;|&<>");
    const char *start = command;
    for (size_t i = 0; i < length; i++)
        if (command[i] == '/')
            start = command + i + 1;
    str_append_bytes(ret, start, (size_t) (command + length - start));
    if (ret->length == 0)
        str_append(ret, "scrontab");
}

static int fill_entry(struct scrontab *scrontab, const struct crontab_text *text,
                      const struct crontab_entry *entry, struct options *options) {
    struct job_request *job = &options->job;
    struct str script = STR_INIT;
    struct str name cleanup_str = STR_INIT;
    options->now = time(NULL);
    for (size_t i = 0; i < entry->options.n; i++) {
        int status = apply_line(scrontab, options, &entry->options.items[i]);
        if (status != CLI_GO_ON)
            return status;
    }
    int status = cli_options_finish(&scrontab->cli, options);
    set_environment(scrontab, text, entry);
    if (status == CLI_GO_ON)
        status =
            request_fill(&scrontab->cli, options, scrontab->conf, scrontab->argc, scrontab->argv);
    if (status != CLI_GO_ON)
        return status == 0 ? 1 : status; /* --help among the options is no crontab */
    job->kind = JOB_KIND_BATCH;
    name_of(entry->command, &name);
    if (!job->name)
        string_set(&job->name, str_cstr(&name));
    string_set(&job->command, entry->command);
    str_printf(&script, "#!/bin/sh\n# Made by scrontab.\n%s\n", entry->command);
    job->script.size = script.length;
    job->script.data = (uint8_t *) str_take(&script);
    if (scrontab->uid != getuid()) {
        job->run_as_uid = scrontab->uid;
        job->run_as_gid = scrontab->gid;
    }
    return CLI_GO_ON;
}

/* ---- the controller ---- */

/* Of a crontab that is refused nothing is changed. */
static int send_crontab(struct scrontab *scrontab, const struct crontab_set *request) {
    struct cli_link link;
    struct cli_reply reply;
    struct error err = ERROR_INIT;
    if (cli_ask(&scrontab->cli, MSG_CRONTAB_SET, request, &link, &reply, &err) < 0)
        return cli_failure(&scrontab->cli, "The crontab was not changed", &err);
    const struct crontab_reply *answer = reply.body;
    if (reply.type == MSG_CRONTAB_REPLY) {
        cli_print_lines(&scrontab->cli, &answer->infos, &answer->warnings);
        for (uint32_t i = 0; i < answer->job_ids.n; i++)
            cli_verbose(&scrontab->cli, "line %u: job %u", request->entries.items[i].last_line,
                        answer->job_ids.items[i]);
    }
    cli_link_close(&link);
    return 0;
}

static int set_crontab(struct scrontab *scrontab, const char *text) {
    struct crontab_text parsed = {0};
    struct error err = ERROR_INIT;
    if (crontab_parse(text, &parsed, &err) < 0) {
        cli_error(&scrontab->cli, "%s", err.text);
        cli_error(&scrontab->cli, "The crontab was not changed");
        crontab_text_done(&parsed);
        return 1;
    }
    if (chdir(scrontab->home) < 0 && chdir("/") < 0)
        cli_error(&scrontab->cli, "%s: %s", scrontab->home, strerror(errno));
    size_t n = parsed.entries.n;
    struct options *options = xcalloc(n + 1, sizeof(*options));
    struct cron_entry *entries = xcalloc(n + 1, sizeof(*entries));
    int status = CLI_GO_ON;
    size_t made = 0;
    for (; made < n && status == CLI_GO_ON; made++) {
        const struct crontab_entry *entry = &parsed.entries.items[made];
        options_init(&options[made], OPTION_SBATCH);
        status = fill_entry(scrontab, &parsed, entry, &options[made]);
        entries[made] = (struct cron_entry) {.first_line = entry->first_line,
                                             .last_line = entry->last_line,
                                             .spec = entry->spec,
                                             .job = &options[made].job};
    }
    if (status == CLI_GO_ON) {
        struct crontab_set request;
        record_init(&record_crontab_set, &request);
        request.uid = uid_to_ask(scrontab);
        request.gid = scrontab->gid;
        request.text = (char *) (uintptr_t) text; /* only encoded */
        request.entries.items = entries;
        request.entries.n = (uint32_t) n;
        status = send_crontab(scrontab, &request);
    } else {
        cli_error(&scrontab->cli, "The crontab was not changed");
    }
    for (size_t i = 0; i < made; i++)
        options_done(&options[i]);
    free(options);
    free(entries);
    crontab_text_done(&parsed);
    return status;
}

/* NULL after a message; "" is none. */
static char *get_crontab(struct scrontab *scrontab) {
    struct cli_link link;
    struct cli_reply reply;
    struct error err = ERROR_INIT;
    struct crontab request;
    record_init(&record_crontab, &request);
    request.uid = uid_to_ask(scrontab);
    if (cli_ask(&scrontab->cli, MSG_CRONTAB_GET, &request, &link, &reply, &err) < 0) {
        cli_failure(&scrontab->cli, "The crontab cannot be read", &err);
        return NULL;
    }
    const struct crontab *crontab = reply.body;
    char *text = xstrdup(reply.type == MSG_CRONTAB && crontab->text ? crontab->text : "");
    cli_link_close(&link);
    return text;
}

/* ---- what is asked for ---- */

static int list_crontab(struct scrontab *scrontab) {
    cleanup_free char *text = get_crontab(scrontab);
    if (!text)
        return 1;
    if (!*text) {
        cli_error(&scrontab->cli, "no crontab for %s", scrontab->user);
        return 1;
    }
    size_t length = strlen(text);
    return cli_print(&scrontab->cli, "%s%s", text, text[length - 1] == '\n' ? "" : "\n");
}

static int read_all(const struct scrontab *scrontab, int fd, const char *name, struct str *ret) {
    char piece[16384];
    ssize_t n;
    while ((n = read(fd, piece, sizeof(piece))) > 0 && ret->length < RPC_FRAME_MAX / 2)
        str_append_bytes(ret, piece, (size_t) n);
    if (n == 0 && (ret->length == 0 || memchr(ret->data, '\0', ret->length) == NULL))
        return CLI_GO_ON;
    cli_error(&scrontab->cli, "%s: %s", name,
              n < 0   ? strerror(errno)
              : n > 0 ? "too large"
                      : "it contains a NUL byte");
    return 1;
}

static int take_file(struct scrontab *scrontab, const char *name) {
    struct str text cleanup_str = STR_INIT;
    bool is_stdin = !name || str_equal(name, "-");
    cleanup_fd int opened = is_stdin ? -1 : open(name, O_RDONLY | O_CLOEXEC);
    if (!is_stdin && opened < 0) {
        cli_error(&scrontab->cli, "%s: %s", name, strerror(errno));
        return 1;
    }
    int status = read_all(scrontab, is_stdin ? STDIN_FILENO : opened,
                          is_stdin ? "standard input" : name, &text);
    return status == CLI_GO_ON ? set_crontab(scrontab, str_cstr(&text)) : status;
}

static bool run_editor(const struct scrontab *scrontab, const char *path) {
    const char *editor = getenv("VISUAL");
    editor = editor && *editor ? editor : getenv("EDITOR");
    cleanup_free char *command = xasprintf("%s \"$1\"", editor && *editor ? editor : "vi");
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, "sh", path, (char *) NULL);
        _exit(127);
    }
    int status = 0;
    bool ended = pid > 0 && waitpid(pid, &status, 0) == pid;
    if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    cli_error(&scrontab->cli, "the editor (%s) ended with an error; the crontab was not changed",
              editor && *editor ? editor : "vi");
    return false;
}

static bool wants_retry(void) {
    char line[64];
    if (!isatty(STDIN_FILENO))
        return false;
    fputs("Do you want to retry the edit? (y/n) ", stdout);
    fflush(stdout);
    return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

/* The setting of a crontab changes the environment and the directory: in a process of its own, so
 * that the editor can be called again. */
static int set_apart(struct scrontab *scrontab, const char *text) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        exit(set_crontab(scrontab, text));
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status);
}

static int edit_once(struct scrontab *scrontab, const char *path, const char *before) {
    struct str text cleanup_str = STR_INIT;
    if (!run_editor(scrontab, path))
        return 1;
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC); /* editors may replace the file */
    if (fd < 0 || read_all(scrontab, fd, path, &text) != CLI_GO_ON)
        return 1;
    if (str_equal(str_cstr(&text), before)) {
        cli_info(&scrontab->cli, "nothing was changed");
        return 0;
    }
    int status = set_apart(scrontab, str_cstr(&text));
    return status != 0 && wants_retry() ? CLI_GO_ON : status;
}

static int edit_crontab(struct scrontab *scrontab) {
    cleanup_free char *before = get_crontab(scrontab);
    if (!before)
        return 1;
    const char *directory = getenv("TMPDIR");
    cleanup_free char *path =
        xasprintf("%s/scrontab-XXXXXX", directory && *directory ? directory : "/tmp");
    cleanup_fd int fd = mkostemp(path, O_CLOEXEC);
    size_t length = strlen(before);
    if (fd < 0 || write(fd, before, length) != (ssize_t) length) {
        cli_error(&scrontab->cli, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            unlink(path);
        return 1;
    }
    int status;
    do
        status = edit_once(scrontab, path, before);
    while (status == CLI_GO_ON);
    unlink(path);
    return status;
}

static int run(struct scrontab *scrontab, int first) {
    const struct settings *settings = &scrontab->settings;
    int n_words = scrontab->argc - first;
    int n_verbs = settings->edit + settings->list + settings->remove;
    if (n_verbs > 1 || n_words > 1 || (n_verbs == 1 && n_words > 0)) {
        cli_error(&scrontab->cli, "One of -e, -l, -r or a file is needed");
        cli_try_help(&scrontab->cli);
        return 1;
    }
    scrontab->conf = cli_conf(&scrontab->cli);
    int status = scrontab->conf ? find_user(scrontab) : 1;
    if (status != CLI_GO_ON)
        return status;
    if (settings->list)
        return list_crontab(scrontab);
    if (settings->remove)
        return set_crontab(scrontab, "");
    if (settings->edit)
        return edit_crontab(scrontab);
    return take_file(scrontab, n_words > 0 ? scrontab->argv[first] : NULL);
}

int main(int argc, char **argv) {
    struct scrontab scrontab = {.argc = argc, .argv = argv};
    cli_init(&scrontab.cli, "scrontab");
    int first = list_options_parse(&options_of_command, argc, argv, &scrontab.settings);
    scrontab.cli.verbose = scrontab.settings.verbose;
    int status = run(&scrontab, first);
    free(scrontab.user);
    free(scrontab.home);
    free(scrontab.shell);
    return status;
}
