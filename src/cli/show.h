/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scontrol's records as text: `Key=value` pairs in lines that scripts know. With `oneline` the
 * lines of a record are joined by blanks; else a record ends with an empty line.
 */
#ifndef SLUICE_CLI_SHOW_H
#define SLUICE_CLI_SHOW_H

#include "base/str.h"
#include "model/job.h"
#include "model/node.h"
#include "model/reservation.h"
#include "schema/columns.h"

struct show_options {
    bool oneline;
    bool details;
    uint32_t slurmd_port; /* the usual one, which is not worth telling */
    const struct column_env *env;
};

void show_job(const struct job *job, const struct show_options *options, struct str *out);
void show_step(const struct step *step, const struct show_options *options, struct str *out);
void show_node(const struct node *node, const struct show_options *options, struct str *out);
void show_partition(const struct partition *partition, const struct show_options *options,
                    struct str *out);

void show_reservation(const struct reservation *reservation, const struct show_options *options,
                      struct str *out);
/* sinfo -T: a table, with its header unless `bare`. */
void show_reservation_table(const struct reservation *const *reservations, size_t n, bool bare,
                            const struct show_options *options, struct str *out);

/* A new line of the record under way. */
void show_line(const struct show_options *options, struct str *out);
void show_end(const struct show_options *options, struct str *out);
/* "Key=text", "(null)" for NULL; a blank first unless a line begins. */
void show_text(const char *key, const char *text, struct str *out);
void show_number(const char *key, uint64_t number, struct str *out);
/* `unset` where there is no time. */
void show_time(const char *key, int64_t time, const char *unset, const struct show_options *options,
               struct str *out);

#endif
