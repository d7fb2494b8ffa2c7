/* SPDX-License-Identifier: Apache-2.0 */
/* sbcast: copies a file to the nodes of a job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/bcast.h"
#include "cli/list_options.h"

#define LOOKUP_FAILED 255

struct settings {
    const char *job, *compress, *fanout, *size, *timeout;
    bool compresses, force, preserve;
    int verbose;
};

#define AT(member) offsetof(struct settings, member)

static void set_compress(void *data, const char *value) {
    struct settings *settings = data;

    settings->compresses = true;
    settings->compress = value;
}

static void set_verbose(void *member, const char *value) {
    (*(int *) member)++;
}

/* clang-format off */
static const struct list_option rows[] = {
    {"compress", 'C', LIST_ARG_OPTIONAL, "SBCAST_COMPRESS", set_compress, "library",
        "compress what is sent"},
    {"exclude", 0, LIST_ARG_REQUIRED, "SBCAST_EXCLUDE", NULL, "paths",
        "shared objects under these paths are not sent"},
    {"fanout", 'F', LIST_ARG_REQUIRED, "SBCAST_FANOUT", list_set_text, "number",
        "nodes that each sender sends to", AT(fanout)},
    {"force", 'f', LIST_ARG_NONE, "SBCAST_FORCE", list_set_true, NULL,
        "replace a file that is there", AT(force)},
    {"jobid", 'j', LIST_ARG_REQUIRED, NULL, list_set_text, "jobid[.stepid]",
        "the job whose nodes get the file", AT(job)},
    {"preserve", 'p', LIST_ARG_NONE, "SBCAST_PRESERVE", list_set_true, NULL,
        "keep times and all mode bits", AT(preserve)},
    {"send-libs", 0, LIST_ARG_OPTIONAL, "SBCAST_SEND_LIBS", NULL, "yes|no",
        "send shared objects along"},
    {"size", 's', LIST_ARG_REQUIRED, "SBCAST_SIZE", list_set_text, "num",
        "bytes read and sent at a time (suffix k or m)", AT(size)},
    {"timeout", 't', LIST_ARG_REQUIRED, "SBCAST_TIMEOUT", list_set_text, "secs",
        "patience with a node that does not answer", AT(timeout)},
    {"verbose", 'v', LIST_ARG_NONE, NULL, set_verbose, NULL, "say more", AT(verbose)},
};
/* clang-format on */
static const struct list_options options = {
    rows, countof(rows), "sbcast [--exclude] [-CfFjpvV] [--send-libs] SOURCE DEST"};

static uint32_t read_count(const struct cli *cli, const char *text, const char *name) {
    uint64_t value = 0;

    if (!text)
        return 0;
    if (!str_to_u64(text, &value) || value > UINT32_MAX) {
        cli_error(cli, "Invalid numeric value \"%s\" for %s.", text, name);
        exit(1);
    }
    return (uint32_t) value;
}

/* "500", "64k", "8m" */
static uint32_t read_size(const char *text) {
    uint64_t value = 0, unit = 1;

    if (!text)
        return 0;
    size_t digits = strspn(text, "0123456789");
    cleanup_free char *number = xstrndup(text, digits);
    const char *suffix = text + digits;
    if (str_equal_nocase(suffix, "k"))
        unit = 1024;
    else if (str_equal_nocase(suffix, "m"))
        unit = 1024 * 1024;
    else if (*suffix)
        digits = 0;
    if (digits > 0 && str_to_u64(number, &value) && value > 0 && value <= UINT32_MAX)
        return (uint32_t) min_of(value * unit, (uint64_t) BCAST_BLOCK_MAX);
    cli_raw("size specification is invalid, ignored\n");
    return 0;
}

static int run(struct cli *cli, const struct settings *settings, struct bcast_request *request) {
    const char *text = settings->job ? settings->job : getenv("SLURM_JOB_ID");
    const struct step_layout *nodes;
    struct cli_link link = {0};
    struct error err = ERROR_INIT;
    uint32_t step_id = UNSET32;

    if (!text) {
        cli_error(cli, "Need a job id to run this command.  Run from within a Slurm job or use the "
                       "--jobid option.");
        return 1;
    }
    cleanup_free char *job = xstrdup(text);
    char *dot = strchr(job, '.');
    if (dot)
        *dot++ = '\0';
    if (dot && !step_id_parse(dot, &step_id)) {
        cli_error(cli, "Invalid step id: %s", dot);
        return 1;
    }
    size_t length = strlen(request->path);
    if (length == 0 || request->path[length - 1] == '/') {
        cli_error(cli, "Target filename cannot be a directory.");
        return 1;
    }
    if (bcast_grant(cli, job, step_id, &link, &nodes, &err) < 0) {
        cleanup_free char *prefix = xasprintf("Slurm job %s lookup error", text);
        cli_failure(cli, prefix, &err);
        return LOOKUP_FAILED;
    }
    cli_verbose(cli, "copying to %u nodes of job %s", nodes->nodes.n, text);
    int status = bcast_file(cli, link.conf, nodes, request);
    cli_link_close(&link);
    return status;
}

int main(int argc, char **argv) {
    struct settings settings = {0};
    struct bcast_request request = {0};
    struct cli cli;

    cli_init(&cli, "sbcast");
    int first = list_options_parse(&options, argc, argv, &settings);
    cli.verbose = settings.verbose;
    request.fanout = read_count(&cli, settings.fanout, "fanout");
    request.seconds = read_count(&cli, settings.timeout, "timeout");
    request.block = read_size(settings.size);
    request.compress = settings.compresses && bcast_compresses(&cli, settings.compress);
    request.force = settings.force;
    request.preserve = settings.preserve;
    if (argc - first != 2) {
        cleanup_free char *text = xasprintf("Need two file names, have %d names\n", argc - first);
        cli_raw(text);
        cli_try_help(&cli);
        return 1;
    }
    request.source = argv[first];
    cleanup_free char *directory = getcwd(NULL, 0);
    cleanup_free char *path = argv[first + 1][0] == '/'
                                  ? xstrdup(argv[first + 1])
                                  : xasprintf("%s/%s", directory ? directory : "", argv[first + 1]);
    request.path = path;
    return run(&cli, &settings, &request);
}
