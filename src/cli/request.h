/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a submission that do not come from options: who and where we are, limits, umask,
 * the environment, the script's file.
 */
#ifndef SLUICE_CLI_REQUEST_H
#define SLUICE_CLI_REQUEST_H

#include "cli/messages.h"
#include "cli/options.h"
#include "model/conf.h"

/* Fills work_dir (absolute), alloc_node, alloc_sid, submit_line, umask, rlimits and, for batch jobs
 * and srun's own allocations, the environment. argv is the command's own. CLI_GO_ON or a status. */
int request_fill(const struct cli *cli, struct options *options, const struct conf *conf, int argc,
                 char **argv);

/* The directory that relative paths count from: --chdir made absolute, else where we are. A new
 * text; NULL after a message. */
char *request_directory(const struct cli *cli, const char *chdir);

/* Reads the batch script `name` (NULL: standard input). A name that begins with '/' is a path, one
 * that begins with '.' counts from `directory`; others are looked for in `directory`, where we are,
 * and in PATH. *ret_path is the path found (NULL for standard input). CLI_GO_ON or a status. */
int request_script(const struct cli *cli, const char *name, const char *directory,
                   struct str *ret_text, char **ret_path);

#endif
