/* SPDX-License-Identifier: Apache-2.0 */
/* The file of --multi-prog: read here, sent along, read again by slurmstepd for its own ranks. Here
 * it is only made sure that every task has a line. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/srun.h"
#include "text/idset.h"

#define FILE_MAX_BYTES (4u << 20)

int srun_multi_read(struct srun *srun) {
    const char *name;
    struct stat stat;
    char buffer[8192];
    ssize_t n;

    if (!srun->options.multi_prog)
        return CLI_GO_ON;
    name = srun->uses.rest.items[0];
    cleanup_fd int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat) < 0) {
        cli_error(&srun->cli, "Could not open multi_prog config file %s", name);
        return srun->cli.error_status;
    }
    if (!S_ISREG(stat.st_mode) || stat.st_size > FILE_MAX_BYTES) {
        cli_error(&srun->cli, "The multi_prog config file %s %s", name,
                  S_ISREG(stat.st_mode) ? "is larger than 4 MiB" : "is not a regular file");
        return srun->cli.error_status;
    }
    while ((n = read(fd, buffer, sizeof(buffer))) > 0)
        str_append_bytes(&srun->multi_prog, buffer, (size_t) n);
    if (n == 0)
        return CLI_GO_ON;
    cli_error(&srun->cli, "Could not read multi_prog config file %s: %s", name, strerror(errno));
    return srun->cli.error_status;
}

/* Adds the ranks of one line; true when it is for all. */
static bool line_ranks(char *line, struct idset *ranks) {
    cleanup_idset struct idset set = IDSET_INIT;
    char *word = line[0] == '#' ? NULL : str_next_word(&line, " \t\r");
    uint32_t id = 0;

    if (!word)
        return false;
    if (str_equal(word, "*"))
        return true;
    if (idset_parse(&set, word, UINT32_MAX - 2, NULL, NULL) == 0) {
        for (bool more = idset_next(&set, 0, &id); more; more = idset_next(&set, id + 1, &id))
            (void) idset_add(ranks, id);
    }
    return false;
}

int srun_multi_check(struct srun *srun) {
    cleanup_idset struct idset ranks = IDSET_INIT;

    if (!srun->options.multi_prog)
        return CLI_GO_ON;
    cleanup_free char *text = xstrndup(str_cstr(&srun->multi_prog), srun->multi_prog.length);
    char *cursor = text;
    for (char *line; (line = str_next_word(&cursor, "\n"));) {
        if (line_ranks(line, &ranks))
            return CLI_GO_ON;
    }
    for (uint32_t i = 0; i < srun->layout->ntasks; i++) {
        if (idset_contains(&ranks, i))
            continue;
        cli_error(&srun->cli, "Configuration file %s invalid, no record for task id %u",
                  srun->uses.rest.items[0], i);
        return srun->cli.error_status;
    }
    return CLI_GO_ON;
}
