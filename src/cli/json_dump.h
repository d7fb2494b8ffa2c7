/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --json and --yaml of the listing commands: whole records in the shapes that data_parser plugins
 * of release 24.05 and later give them. Each document ends with meta, errors and warnings. Output
 * goes to stdout through `out` piece by piece.
 *
 * `plugin` is what follows --json= ("" = newest; "v0.0.43", "v0.0.43+fast"), "list" (names them and
 * ends the command), or "yaml".
 */
#ifndef SLUICE_CLI_JSON_DUMP_H
#define SLUICE_CLI_JSON_DUMP_H

#include "cli/json_writer.h"
#include "cli/list.h"
#include "model/job.h"
#include "model/messages.h"
#include "model/node.h"

struct json_dump {
    struct json json;
    int argc;
    char **argv;
    const struct column_env *env;
    const char *parser; /* "v0.0.45" */
};
void json_dump_begin(struct json_dump *dump, const char *plugin, int argc, char **argv,
                     const struct column_env *env, struct str *out);
/* meta, errors, warnings; the end of the document. */
void json_dump_end(struct json_dump *dump);

/* A document of jobs that arrive piece by piece: json_job() for each in between. */
void json_dump_jobs_begin(struct json_dump *dump, const char *plugin, int argc, char **argv,
                          const struct column_env *env, struct str *out);
void json_dump_jobs_end(struct json_dump *dump);
void json_dump_jobs(const struct rows *jobs, const char *plugin, int argc, char **argv,
                    const struct column_env *env, struct str *out);
void json_dump_nodes(const struct rows *nodes, const char *plugin, int argc, char **argv,
                     const struct column_env *env, struct str *out);
void json_dump_partitions(const struct rows *partitions, const char *plugin, int argc, char **argv,
                          const struct column_env *env, struct str *out);
void json_dump_steps(const struct rows *steps, const char *plugin, int argc, char **argv,
                     const struct column_env *env, struct str *out);
/* sinfo's elements: nodes of a partition that are in the same state and of the same make. */
void json_dump_sinfo(const struct rows *nodes, const struct rows *partitions, const char *plugin,
                     int argc, char **argv, const struct column_env *env, struct str *out);
void json_dump_reservations(const struct rows *reservations, const char *plugin, int argc,
                            char **argv, const struct column_env *env, struct str *out);
/* Rows are struct acct_job. */
void json_dump_accounting(const struct rows *jobs, const char *plugin, int argc, char **argv,
                          const struct column_env *env, struct str *out);

void json_job(struct json *json, const struct job *job, const struct column_env *env);
void json_node(struct json *json, const struct node *node, const struct column_env *env);
void json_partition(struct json *json, const char *key, const struct partition *partition,
                    const struct column_env *env);
/* The names of the flags that are set, as items of an open array. */
void json_flag_names(struct json *json, const struct names *names, uint32_t flags);
/* "cpu=1,gres/gpu:a100=2" as a list of {type, name, id, count}. */
void json_tres_counts(struct json *json, const char *key, const char *tres);
/* {"status", "return_code", "signal"} of a wait status. */
void json_exit(struct json *json, const char *key, uint32_t status, bool known);

#endif
