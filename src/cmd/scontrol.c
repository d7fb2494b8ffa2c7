/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol: shows and changes what the controller holds; one command, or a prompt. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/list.h"
#include "cli/list_options.h"
#include "cli/scontrol.h"
#include "model/conf.h"

#define WORDS_MAX 256

struct settings {
    bool all, details, future, oneliner, quiet;
    const char *clusters, *json;
};

/* ---- options ---- */
#define SET(name) static void name(void *data, const char *value)
#define SETTINGS ((struct settings *) data)
#define AT(member) offsetof(struct settings, member)

static int run_help(struct scontrol *scontrol, int argc, char **argv);
SET(set_help) {
    struct scontrol scontrol = {.out = STR_INIT};
    run_help(&scontrol, 0, NULL);
    list_output_all(&scontrol.out);
    exit(0);
}
SET(set_uid) {
    list_fail("-u: changing jobs in another user's name is not supported; root may change any job");
}

/* clang-format off */
static const struct list_option option_rows[] = {
    {"all", 'a', LIST_ARG_NONE, "SCONTROL_ALL", list_set_true, NULL, "hidden partitions too",
        AT(all)},
    {"details", 'd', LIST_ARG_NONE, NULL, list_set_true, NULL, "more about what is shown",
        AT(details)},
    {"federation", 0, LIST_ARG_NONE, "SCONTROL_FEDERATION", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"future", 'F', LIST_ARG_NONE, "SCONTROL_FUTURE", list_set_true, NULL,
        "nodes in state FUTURE too", AT(future)},
    {"hide", 0, LIST_ARG_NONE, NULL, list_set_false, NULL, "no hidden partitions", AT(all)},
    {NULL, 'h', LIST_ARG_NONE, NULL, set_help, NULL, NULL},
    {"json", 0, LIST_ARG_OPTIONAL, NULL, list_set_json, "data_parser",
        "JSON output of show and ping", AT(json)},
    {"local", 0, LIST_ARG_NONE, "SCONTROL_LOCAL", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"cluster", 'M', LIST_ARG_REQUIRED, "SLURM_CLUSTERS", list_set_text, "name",
        "the cluster to ask", AT(clusters)},
    {"clusters", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "name", NULL, AT(clusters)},
    {"oneliner", 'o', LIST_ARG_NONE, NULL, list_set_true, NULL, "one line for each record",
        AT(oneliner)},
    {"quiet", 'Q', LIST_ARG_NONE, NULL, list_set_true, NULL, "print errors only", AT(quiet)},
    {"sibling", 0, LIST_ARG_NONE, "SCONTROL_SIBLING", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"uid", 'u', LIST_ARG_REQUIRED, NULL, set_uid, "uid", NULL},
    {"verbose", 'v', LIST_ARG_NONE, NULL, list_set_false, NULL, "undoes --quiet", AT(quiet)},
    {"yaml", 0, LIST_ARG_OPTIONAL, NULL, list_set_yaml, "data_parser",
        "YAML output of show and ping", AT(json)},
};
/* clang-format on */
static const struct list_options options = {option_rows, countof(option_rows),
                                            "scontrol [OPTIONS...] [COMMAND...]"};

/* ---- keywords ---- */
static int run_all(struct scontrol *scontrol, int argc, char **argv) {
    scontrol->all = true;
    return 0;
}
static int run_hide(struct scontrol *scontrol, int argc, char **argv) {
    scontrol->all = false;
    return 0;
}
static int run_details(struct scontrol *scontrol, int argc, char **argv) {
    scontrol->show.details = true;
    return 0;
}
static int run_oneliner(struct scontrol *scontrol, int argc, char **argv) {
    scontrol->show.oneline = true;
    return 0;
}
static int run_quiet(struct scontrol *scontrol, int argc, char **argv) {
    scontrol->quiet = true;
    return 0;
}
static int run_verbose(struct scontrol *scontrol, int argc, char **argv) {
    scontrol->quiet = false;
    return 0;
}
static int run_exit(struct scontrol *scontrol, int argc, char **argv) {
    scontrol->is_done = true;
    return 0;
}
static int run_version(struct scontrol *scontrol, int argc, char **argv) {
    str_append(&scontrol->out, "slurm " SLUICE_COMPAT_VERSION "\n");
    return 0;
}
static int run_cluster(struct scontrol *scontrol, int argc, char **argv) {
    if (argc > 0)
        list_clusters_check(&scontrol->session, argv[0]);
    return 0;
}
static int run_errnumstr(struct scontrol *scontrol, int argc, char **argv) {
    str_printf(&scontrol->out, "%s\n", argc > 0 ? error_text(atoi(argv[0])) : "");
    return argc < 1;
}

/* What other releases have and this one does not say so. */
static int run_lacking(struct scontrol *scontrol, int argc, char **argv) {
    list_error("this keyword is not supported; scontrol help lists those that are");
    return 1;
}

struct keyword {
    const char *name;
    size_t least; /* letters that must be given */
    int (*run)(struct scontrol *scontrol, int argc, char **argv);
    const char *arguments, *help; /* help NULL: not listed */
};
static const struct keyword keywords[] = {
    {"abort", 5, run_lacking, NULL, NULL},
    {"all", 3, run_all, "", "hidden partitions too"},
    {"cancel_reboot", 4, scontrol_cancel_reboot, "NODES", "drop reboots that have not begun"},
    {"cluster", 2, run_cluster, "NAME", "the cluster to ask"},
    {"completing", 3, scontrol_completing, "", "jobs that end, and where"},
    {"create", 2, scontrol_create, "KEY=VALUE…", "make a partition, a node or a reservation"},
    {"delete", 3, scontrol_delete, "KEY=VALUE", "remove a partition, a node or a reservation"},
    {"details", 3, run_details, "", "more about what is shown"},
    {"errnumstr", 2, run_errnumstr, "NUMBER", "text of an error number"},
    {"exit", 1, run_exit, "", "leave"},
    {"fsdampeningfactor", 3, run_lacking, NULL, NULL},
    {"getaddrs", 4, run_lacking, NULL, NULL},
    {"getent", 4, run_lacking, NULL, NULL},
    {"help", 2, run_help, "", "this list"},
    {"hide", 2, run_hide, "", "no hidden partitions"},
    {"hold", 4, scontrol_hold, "JOB…", "keep waiting jobs from starting"},
    {"holdu", 5, scontrol_uhold, "JOB…", "likewise, and the owner may release them"},
    {"uhold", 2, scontrol_uhold, "JOB…", "the same"},
    {"listjobs", 5, run_lacking, NULL, NULL},
    {"listpids", 5, run_lacking, NULL, NULL},
    {"liststeps", 5, run_lacking, NULL, NULL},
    {"notify", 1, scontrol_notify, "JOB TEXT…", "a message to a job"},
    {"oneliner", 1, run_oneliner, "", "one line for each record"},
    {"pidinfo", 3, run_lacking, NULL, NULL},
    {"ping", 3, scontrol_ping, "", "does the controller answer"},
    {"power", 3, run_lacking, NULL, NULL},
    {"quiet", 4, run_quiet, "", "print errors only"},
    {"quit", 4, run_exit, "", "leave"},
    {"reboot", 3, scontrol_reboot, "[ASAP] NODES|ALL", "reboot nodes once nothing runs there"},
    {"reconfigure", 3, scontrol_reconfigure, "", "read slurm.conf again"},
    {"release", 3, scontrol_release, "JOB…", "let held jobs start"},
    {"requeue", 3, scontrol_requeue, "[incomplete] JOB…", "end batch jobs and queue them again"},
    {"requeuehold", 8, scontrol_requeue_hold, "[state=specialexit] JOB…", "likewise, held"},
    {"resume", 3, scontrol_resume, "JOB…", "go on with suspended jobs"},
    {"schedloglevel", 3, run_lacking, NULL, NULL},
    {"setdebug", 4, run_lacking, NULL, NULL},
    {"setdebugflags", 9, run_lacking, NULL, NULL},
    {"show", 3, scontrol_show, "ENTITY [ID]", "show records"},
    {"shutdown", 3, scontrol_shutdown, "", "stop the controller"},
    {"suspend", 3, scontrol_suspend, "JOB…", "stop running jobs for a while"},
    {"takeover", 3, run_lacking, NULL, NULL},
    {"token", 3, run_lacking, NULL, NULL},
    {"top", 3, scontrol_top, "JOB…", "put own jobs before other own ones"},
    {"update", 1, scontrol_update, "KEY=VALUE…",
     "change a job, step, node, partition or reservation"},
    {"verbose", 4, run_verbose, "", "undoes quiet"},
    {"version", 4, run_version, "", "release that this command follows"},
    {"wait_job", 2, scontrol_wait_job, "JOB", "until its nodes are ready"},
    {"write", 2, scontrol_write, "batch_script JOB [FILE|-]", "a job's script"},
};

static int run_help(struct scontrol *scontrol, int argc, char **argv) {
    for (size_t i = 0; i < countof(keywords); i++) {
        if (!keywords[i].help)
            continue;
        cleanup_free char *usage = xasprintf("%s %s", keywords[i].name, keywords[i].arguments);
        str_printf(&scontrol->out, "  %-36s %s\n", usage, keywords[i].help);
    }
    str_append(&scontrol->out,
               "\nENTITY: job step node partition config hostnames hostlist hostlistsorted\n"
               "        licenses reservation topology daemons\n");
    return 0;
}

static const struct keyword *keyword_find(const char *word) {
    size_t length = strlen(word);
    const struct keyword *found = NULL;
    for (size_t i = 0; i < countof(keywords); i++) {
        if (!strcasecmp(keywords[i].name, word))
            return &keywords[i];
        if (!found && length >= keywords[i].least && str_starts_nocase(keywords[i].name, word))
            found = &keywords[i];
    }
    return found;
}

/* Host lists are folded and unfolded anywhere, inside jobs above all. */
static bool needs_no_cluster(const struct keyword *keyword, int argc, char **argv) {
    return (keyword->run == scontrol_show && argc > 1 && str_starts_nocase(argv[1], "host")) ||
           keyword->run == run_version || keyword->run == run_help || keyword->run == run_exit;
}

static int command_run(struct scontrol *scontrol, int argc, char **argv) {
    const struct keyword *keyword = keyword_find(argv[0]);
    if (!keyword) {
        fprintf(stderr, "invalid keyword: %s\n", argv[0]);
        return 1;
    }
    const struct conf *conf =
        needs_no_cluster(keyword, argc, argv) ? NULL : list_session_conf(&scontrol->session);
    list_env_init(&scontrol->env, conf ? conf->cluster_name : NULL);
    scontrol->show.slurmd_port = conf ? conf->slurmd_port : 0;
    int status = keyword->run(scontrol, argc - 1, argv + 1);
    list_output_all(&scontrol->out);
    list_session_close(&scontrol->session);
    return status;
}

/* ---- the prompt ---- */

/* Splits a line into words in place; quotes of both kinds hold words together. */
static int line_split(char *line, char **words, int max) {
    int n = 0;
    char *at = line;
    while (n < max) {
        while (isspace((unsigned char) *at))
            at++;
        if (!*at)
            break;
        char *to = at, quote = '\0';
        words[n++] = at;
        while (*at && (quote || !isspace((unsigned char) *at))) {
            if (!quote && (*at == '"' || *at == '\''))
                quote = *at;
            else if (quote == *at)
                quote = '\0';
            else
                *to++ = *at;
            at++;
        }
        bool last = !*at;
        *to = '\0';
        if (last)
            break;
        at++;
    }
    return n;
}

static int prompt_run(struct scontrol *scontrol) {
    cleanup_free char *line = NULL;
    cleanup_free char *previous = NULL;
    size_t size = 0;
    ssize_t length;
    int status = 0;
    bool echo = !isatty(STDIN_FILENO);
    while (!scontrol->is_done) {
        fputs("scontrol: ", stdout);
        fflush(stdout);
        if ((length = getline(&line, &size, stdin)) < 0) {
            putchar('\n');
            break;
        }
        if (length > 0 && line[length - 1] == '\n')
            line[length - 1] = '\0';
        if (echo)
            puts(line);
        fflush(stdout);
        char *words[WORDS_MAX];
        if (strcmp(line, "!!") != 0) {
            free(previous);
            previous = xstrdup(line);
        }
        cleanup_free char *copy = xstrdup(previous ? previous : "");
        int n = line_split(copy, words, WORDS_MAX);
        if (n > 0)
            status |= command_run(scontrol, n, words);
    }
    return status;
}

int main(int argc, char **argv) {
    struct settings settings = {0};
    int first = list_options_parse(&options, argc, argv, &settings);
    struct scontrol scontrol = {.all = settings.all,
                                .future = settings.future,
                                .quiet = settings.quiet,
                                .json = settings.json,
                                .argc = argc,
                                .argv = argv,
                                .out = STR_INIT};
    list_session_init(&scontrol.session, "scontrol");
    if (settings.clusters)
        list_clusters_check(&scontrol.session, settings.clusters);
    scontrol.show = (struct show_options) {
        .oneline = settings.oneliner, .details = settings.details, .env = &scontrol.env};
    int status =
        first < argc ? command_run(&scontrol, argc - first, argv + first) : prompt_run(&scontrol);
    str_done(&scontrol.out);
    return status;
}
