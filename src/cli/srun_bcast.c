/* SPDX-License-Identifier: Apache-2.0 */
/* srun --bcast: the program goes to the nodes first. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/bcast.h"
#include "cli/srun.h"

static bool is_program(const char *path) {
    struct stat found;

    return stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0;
}

/* As execvp() would find it, from the step's directory; malloc, or NULL. */
static char *find_program(const char *name, const char *work_dir) {
    const char *path = getenv("PATH");

    if (name[0] == '/')
        return is_program(name) ? xstrdup(name) : NULL;
    if (strchr(name, '/')) {
        char *whole = xasprintf("%s/%s", work_dir, name);
        if (is_program(whole))
            return whole;
        free(whole);
        return NULL;
    }
    cleanup_free char *copy = xstrdup(path ? path : "/bin:/usr/bin");
    char *cursor = copy;
    for (char *directory; (directory = str_next_word(&cursor, ":")) != NULL;) {
        char *whole = xasprintf("%s/%s", directory, name);
        if (is_program(whole))
            return whole;
        free(whole);
    }
    return NULL;
}

int srun_bcast_check(struct srun *srun) {
    if (!options_given(&srun->options, OPT_bcast) || srun->options.multi_prog)
        return CLI_GO_ON;
    srun->program = find_program(srun->uses.rest.items[0],
                                 srun->options.job.work_dir ? srun->options.job.work_dir : "/");
    if (srun->program)
        return CLI_GO_ON;
    cli_fatal(&srun->cli, "Can not execute %s", srun->uses.rest.items[0]);
    return srun->cli.error_status;
}

static char *target(const struct srun *srun) {
    const struct step_layout *layout = srun->layout;
    const char *name = srun->options.bcast, *work_dir = srun->options.job.work_dir;

    if (!name || !*name)
        return xasprintf("%s/slurm_bcast_%u.%u", work_dir, layout->job_id, layout->step_id);
    if (name[0] != '/')
        return xasprintf("%s/%s", work_dir, name);
    if (name[strlen(name) - 1] != '/')
        return xstrdup(name);
    return xasprintf("%s%s", name, strrchr(srun->program, '/') + 1);
}

int srun_bcast(struct srun *srun) {
    const struct step_layout *nodes;
    struct bcast_request request = {.source = srun->program, .force = true};
    struct cli_link link = {0};
    struct error err = ERROR_INIT;
    char job[16];

    if (!srun->program)
        return CLI_GO_ON;
    snprintf(job, sizeof(job), "%u", srun->layout->job_id);
    if (bcast_grant(&srun->cli, job, srun->layout->step_id, &link, &nodes, &err) < 0)
        return cli_failure(&srun->cli, "Unable to copy the program to the nodes", &err);
    char *path = target(srun); /* the command from now on */
    request.path = path;
    request.compress = options_given(&srun->options, OPT_compress) &&
                       bcast_compresses(&srun->cli, srun->options.compress);
    int number = bcast_file(&srun->cli, link.conf, nodes, &request);
    cli_link_close(&link);
    srun->uses.rest.items[0] = path;
    return number == 0 ? CLI_GO_ON : srun->cli.error_status;
}
