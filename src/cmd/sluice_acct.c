/* SPDX-License-Identifier: Apache-2.0 */
/* sluice acct: hands over to sluice-acct, which knows database servers. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cmd/sluice.h"

int sluice_acct(struct cli *cli, int argc, char **argv) {
    struct cluster programs = {.cli = cli};
    cleanup_free char *path = cluster_program(&programs, "sluice-acct");
    if (!path)
        return 1;
    cleanup_free char **words = xcalloc((size_t) argc + 1, sizeof(*words));
    for (int i = 0; i < argc; i++)
        words[i] = i == 0 ? path : argv[i];
    execv(path, words);
    cli_error(cli, "cannot run %s: %s", path, strerror(errno));
    return 1;
}
