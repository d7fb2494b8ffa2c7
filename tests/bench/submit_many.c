/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit_many COUNT [sbatch's options]: submits that many batch jobs over one connection, with up
 * to WINDOW requests under way, as a program that uses the interface would. The script sleeps for
 * a second. Prints how long it took; -H and the like as for sbatch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/connect.h"
#include "cli/main.h"
#include "cli/request.h"
#include "cli/script.h"

#define WINDOW 512

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static int prepare(struct cli *cli, struct options *options, int argc, char **argv) {
    struct option_set set = option_set_of(OPTION_SBATCH, cli->name);
    struct option_uses uses = {0};
    struct str script = STR_INIT;
    options->now = time(NULL);
    int status = cli_scan(cli, &set, argv, (size_t) argc, OPTION_STOP, &uses);
    if (status == CLI_GO_ON && options_apply(options, &uses, OPTION_LINE) < 0)
        status = cli_options_failed(cli, options);
    if (status == CLI_GO_ON)
        status = cli_options_finish(cli, options);
    if (status == CLI_GO_ON)
        status = request_fill(cli, options, cli_conf(cli), argc, argv);
    script_wrap(options->wrap ? options->wrap : "sleep 1", &script);
    options->job.kind = JOB_KIND_BATCH;
    if (!options->job.name)
        string_set(&options->job.name, "many");
    options->job.script.size = script.length;
    options->job.script.data = (uint8_t *) str_take(&script);
    option_uses_done(&uses);
    return status;
}

static int submit_all(const struct cli *cli, const struct options *options, unsigned long count,
                      struct error *err) {
    struct cli_link link;
    struct cli_reply reply;
    struct submit submit = {.job = (struct job_request *) (uintptr_t) &options->job};
    unsigned long sent = 0, answered = 0;
    int rc = cli_link_open(cli, true, &link, err);
    while (rc == 0 && answered < count) {
        while (rc == 0 && sent < count && sent - answered < WINDOW) {
            rc = cli_send(&link, MSG_SUBMIT, &submit, err);
            sent++;
        }
        if (rc == 0)
            rc = cli_receive(&link, 60000000, &reply, err);
        arena_reset(&link.arena);
        answered++;
    }
    cli_link_close(&link);
    return rc;
}

int main(int argc, char **argv) {
    struct cli cli;
    struct options options;
    struct error err = ERROR_INIT;
    char *end = NULL;
    unsigned long count = argc > 1 ? strtoul(argv[1], &end, 10) : 0;
    cli_init(&cli, "submit_many");
    if (count == 0 || *end != '\0' || !cli_conf(&cli)) {
        fprintf(stderr, "usage: submit_many COUNT [sbatch's options]\n");
        return 2;
    }
    options_init(&options, OPTION_SBATCH);
    int status = prepare(&cli, &options, argc - 2, argv + 2);
    if (status == CLI_GO_ON) {
        double begin = seconds();
        status = 0;
        if (submit_all(&cli, &options, count, &err) < 0)
            status = cli_failure(&cli, "submission failed", &err);
        else
            printf("%lu jobs in %.3f s\n", count, seconds() - begin);
    }
    options_done(&options);
    return status;
}
