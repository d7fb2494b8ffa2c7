/* SPDX-License-Identifier: Apache-2.0 */
/* A file to all nodes of a job: sbcast, and srun before its step (--bcast). */
#ifndef SLUICE_CLI_BCAST_H
#define SLUICE_CLI_BCAST_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/connect.h"

#define BCAST_BLOCK (1u << 20) /* bytes read and sent at a time, by default */
#define BCAST_BLOCK_MAX (16u << 20)

struct bcast_request {
    const char *source; /* a regular file that we may read */
    const char *path;   /* absolute, on the nodes */
    bool force, preserve, compress;
    uint32_t fanout;  /* 0 = the default */
    uint32_t block;   /* bytes; 0 = the default */
    uint32_t seconds; /* patience with a node that does not answer; 0 = the default */
};

/* Asks which nodes a job ("12", "12_3") or one of its steps (UNSET32: all) has, with a credential
 * for them: layout and strings live in link's arena. */
must_check int bcast_grant(const struct cli *cli, const char *job, uint32_t step_id,
                           struct cli_link *link, const struct step_layout **ret,
                           struct error *err);
/* Copies; blocks until every node has the file. 0, or the errno of the worst failure after telling
 * them: "<cmd>: error: REQUEST_FILE_BCAST(n1): File exists". Nodes that fail before the first byte
 * stop it all. */
int bcast_file(const struct cli *cli, const struct conf *conf, const struct step_layout *nodes,
               const struct bcast_request *request);

/* What --compress says; an unknown word is told and compresses nothing. There is one way to
 * compress, whatever it is called. */
bool bcast_compresses(const struct cli *cli, const char *type);

#endif
