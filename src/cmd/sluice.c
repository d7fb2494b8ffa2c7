/* SPDX-License-Identifier: Apache-2.0 */
/* sluice: what has no counterpart among the classic commands, one verb each. */
#include "cmd/sluice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/main.h"
#include "text/size.h"

enum sluice_option {
    SLUICE_conf,
    SLUICE_cpus,
    SLUICE_dbd,
    SLUICE_dir,
    SLUICE_gpus,
    SLUICE_help,
    SLUICE_mem,
    SLUICE_nodes,
    SLUICE_quiet,
    SLUICE_verbose,
    SLUICE_version,
};

#define NO OPTION_NO
#define REQUIRED OPTION_REQUIRED
#define ROW(id_, name_, letter_, argument_, metavar_, help_)                                       \
    {                                                                                              \
        .id = SLUICE_##id_, .name = name_, .letter = letter_, .argument = argument_,               \
        .commands = 1, .metavar = metavar_, .help = help_                                          \
    }
static const struct option_row rows[] = {
    ROW(dir, "dir", 'd', REQUIRED, "DIR", "the cluster's directory (SLUICE_DIR, /tmp/sluice-UID)"),
    ROW(nodes, "nodes", 'N', REQUIRED, "N", "up: number of nodes (2)"),
    ROW(cpus, "cpus", 'c', REQUIRED, "N", "up: CPUs of each node (4)"),
    ROW(mem, "mem", 0, REQUIRED, "SIZE", "up: memory of each node, MiB or with a unit (8000)"),
    ROW(gpus, "gpus", 'G', REQUIRED, "[TYPE:]N", "up: stand-ins for GPUs on each node (none)"),
    ROW(conf, "conf", 0, REQUIRED, "LINES",
        "up: lines for slurm.conf, with ; or line breaks between them, or @FILE"),
    ROW(dbd, "dbd", 0, NO, "", "up: with slurmdbd, on SQLite, which keeps history and accounts"),
    ROW(quiet, "quiet", 'Q', NO, "", "say nothing but errors"),
    ROW(verbose, "verbose", 'v', NO, "", "say what is done"),
    ROW(help, "help", 'h', NO, "", "this text"),
    ROW(version, "version", 'V', NO, "", "print the version"),
};
static const struct option_set option_set = {"sluice", rows, countof(rows), NULL, 0, 1};

static const struct verb {
    const char *name, *help;
    int (*run)(struct cluster *cluster);
} verbs[] = {
    {"up", "start a throwaway cluster on this machine, or what of it is not running", sluice_up},
    {"env", "print what the shell must evaluate to use it: eval \"$(sluice env)\"", sluice_env},
    {"status", "tell what of it is running", sluice_status},
    {"down", "end it and remove everything of it", sluice_down},
};

/* Verbs with options of their own: they get the words behind them. */
static const struct own_verb {
    const char *name, *help;
    int (*run)(struct cli *cli, int argc, char **argv); /* argv[0] is the verb; an exit status */
} own_verbs[] = {
    {"acct", "move an accounting database, load an archive; sluice acct --help", sluice_acct},
    {"adopt", "make a login part of its user's job here, or refuse it; sluice adopt --help",
     sluice_adopt},
    {"drains", "list nodes out of service: since when, why, what it costs, what cures it",
     sluice_drains},
    {"gpus", "list every GPU: who has it, what it does; sluice gpus --help", sluice_gpus},
    {"keep", "let idle GPUs of a job be its own for a time: sluice keep JOB TIME", sluice_keep},
    {"share", "say whose use has lowered a user's fair share, and until when: sluice share [USER]",
     sluice_share},
    {"sim", "replay a workload trace under a policy or a slurm.conf; sluice sim --help",
     sluice_sim},
    {"whatif", "replay this cluster's history under a changed slurm.conf; sluice whatif --help",
     sluice_whatif},
    {"why", "say why a job waits and until when, or how it ended: sluice why JOB", sluice_why},
};

static int print_help(const struct cli *cli) {
    cleanup_str struct str out = STR_INIT;
    str_append(&out, "Usage: sluice VERB [OPTIONS...]\n\n");
    for (size_t i = 0; i < countof(verbs); i++)
        str_printf(&out, "  %-8s  %s\n", verbs[i].name, verbs[i].help);
    for (size_t i = 0; i < countof(own_verbs); i++)
        str_printf(&out, "  %-8s  %s\n", own_verbs[i].name, own_verbs[i].help);
    str_append(&out, "\nOptions:\n");
    option_set_print(&option_set, 24, &out);
    str_append(&out, "\nA first job:\n"
                     "  sluice up\n"
                     "  eval \"$(sluice env)\"\n"
                     "  sbatch --wait -o hello.out --wrap='echo hello from $SLURM_JOB_ID'\n"
                     "  cat hello.out\n"
                     "  sluice down\n");
    return cli_print_text(cli, &out);
}

/* ---- option values ---- */

static int bad_value(const struct cluster *cluster, const struct option_row *row, const char *value,
                     const char *wanted) {
    return cli_failed(cluster->cli, "--%s=%s: %s", row->name, value, wanted);
}

static int set_count(struct cluster *cluster, const struct option_row *row, const char *value,
                     uint32_t max, uint32_t *ret) {
    uint64_t number;
    if (!str_to_u64(value, &number) || number == 0 || number > max) {
        cleanup_free char *wanted = xasprintf("a number from 1 to %u is wanted", max);
        return bad_value(cluster, row, value, wanted);
    }
    *ret = (uint32_t) number;
    cluster->sizes_given = true;
    return CLI_GO_ON;
}

static int set_gpus(struct cluster *cluster, const struct option_row *row, const char *value) {
    const char *colon = strrchr(value, ':');
    const char *number = colon ? colon + 1 : value;
    cleanup_free char *type = colon ? xstrndup(value, (size_t) (colon - value)) : NULL;
    uint64_t count;
    if (!str_to_u64(number, &count) || count > 64 ||
        (type && (!*type || strspn(type, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789_-.") != strlen(type))))
        return bad_value(cluster, row, value, "[TYPE:]N is wanted, with N at most 64");
    cluster->gpus = (uint32_t) count;
    free(cluster->gpu_type);
    cluster->gpu_type = take(type);
    cluster->sizes_given = true;
    return CLI_GO_ON;
}

static int set_mem(struct cluster *cluster, const struct option_row *row, const char *value) {
    struct error err = ERROR_INIT;
    if (mem_parse(value, &cluster->mem, &err) < 0 || cluster->mem == 0)
        return bad_value(cluster, row, value, "an amount of memory is wanted, as 8000 or 16G");
    cluster->sizes_given = true;
    return CLI_GO_ON;
}

/* Lines add up over several --conf. */
static int set_conf(struct cluster *cluster, const char *value) {
    cleanup_str struct str lines = STR_INIT;
    str_append(&lines, cluster->extra ? cluster->extra : "");
    if (*value == '@') {
        FILE *file = fopen(value + 1, "re");
        char piece[4096];
        size_t n;
        if (!file)
            return cli_failed(cluster->cli, "--conf=%s: cannot open %s", value, value + 1);
        while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
            str_append_bytes(&lines, piece, n);
        fclose(file);
        str_append_char(&lines, '\n');
    } else {
        for (const char *p = value; *p; p++)
            str_append_char(&lines, *p == ';' ? '\n' : *p);
        str_append_char(&lines, '\n');
    }
    free(cluster->extra);
    cluster->extra = str_take(&lines);
    cluster->extra_given = true;
    return CLI_GO_ON;
}

static int set_option(struct cluster *cluster, const struct option_use *use) {
    const struct option_row *row = use->row;
    switch ((enum sluice_option) row->id) {
    case SLUICE_dir:
        return cluster_set_dir(cluster, use->value);
    case SLUICE_nodes:
        return set_count(cluster, row, use->value, CLUSTER_NODES_MAX, &cluster->nodes);
    case SLUICE_cpus:
        return set_count(cluster, row, use->value, 65533, &cluster->cpus);
    case SLUICE_mem:
        return set_mem(cluster, row, use->value);
    case SLUICE_gpus:
        return set_gpus(cluster, row, use->value);
    case SLUICE_conf:
        return set_conf(cluster, use->value);
    case SLUICE_dbd:
        cluster->dbd = true;
        return CLI_GO_ON;
    case SLUICE_quiet:
        cluster->cli->quiet = true;
        return CLI_GO_ON;
    case SLUICE_verbose:
        cluster->cli->verbose++;
        return CLI_GO_ON;
    case SLUICE_help:
        return print_help(cluster->cli);
    case SLUICE_version:
        return cli_print(cluster->cli, "sluice %s\nspeaks slurm %s\n", SLUICE_VERSION,
                         SLUICE_COMPAT_VERSION);
    }
    return CLI_GO_ON;
}

static int run_verb(struct cluster *cluster, const struct option_uses *uses) {
    if (uses->rest.n == 0) {
        print_help(cluster->cli);
        return 1;
    }
    const char *name = uses->rest.items[0];
    if (uses->rest.n > 1)
        return cli_failed(cluster->cli, "unexpected word \"%s\" after %s; see `sluice help`",
                          uses->rest.items[1], name);
    if (str_equal(name, "help"))
        return print_help(cluster->cli);
    for (size_t i = 0; i < countof(verbs); i++)
        if (str_equal(verbs[i].name, name)) {
            int status = cluster->dir ? CLI_GO_ON : cluster_set_dir(cluster, NULL);
            return status == CLI_GO_ON ? verbs[i].run(cluster) : status;
        }
    const char *names[countof(verbs) + countof(own_verbs)];
    for (size_t i = 0; i < countof(verbs); i++)
        names[i] = verbs[i].name;
    for (size_t i = 0; i < countof(own_verbs); i++)
        names[countof(verbs) + i] = own_verbs[i].name;
    const char *near = str_nearest(name, names, countof(names));
    return cli_failed(cluster->cli, "there is no verb \"%s\"%s%s%s; see `sluice help`", name,
                      near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

int main(int argc, char **argv) {
    struct cli cli;
    struct cluster cluster;
    struct option_uses uses = {0};
    cli_init(&cli, "sluice");
    for (size_t i = 0; argc > 1 && i < countof(own_verbs); i++)
        if (str_equal(own_verbs[i].name, argv[1]))
            return own_verbs[i].run(&cli, argc - 1, argv + 1);
    cluster_init(&cluster, &cli);
    int status =
        cli_scan(&cli, &option_set, argv + 1, (size_t) max_of(argc - 1, 0), OPTION_PERMUTE, &uses);
    if (status != CLI_GO_ON)
        status = 1;
    for (size_t i = 0; i < uses.options.n && status == CLI_GO_ON; i++)
        status = set_option(&cluster, &uses.options.items[i]);
    if (status == CLI_GO_ON)
        status = run_verb(&cluster, &uses);
    option_uses_done(&uses);
    cluster_done(&cluster);
    return status;
}
