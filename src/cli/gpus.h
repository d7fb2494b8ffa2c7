/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `sluice gpus` for people and for programs. */
#ifndef SLUICE_CLI_GPUS_H
#define SLUICE_CLI_GPUS_H

#include "cli/list.h"
#include "text/language.h"

struct gpus_view {
    const struct gpu *const *gpus;
    size_t n;
    const struct column_env *env; /* the present time, and how times are written */
    /* Jobs that wait for GPUs, and for how many. */
    uint64_t waiting_jobs, waiting_gpus;
    enum language language; /* of notes and summary; JSON is English */
};

/* A table with a line for each card, notes on what is wrong, a summary. */
void gpus_text(const struct gpus_view *view, struct str *out);
void gpus_json(const struct gpus_view *view, struct str *out);
/* GPUs in "cpu=4,mem=1G,node=1,gres/gpu=2,gres/gpu:a100=2". */
uint64_t gpus_in_tres(const char *tres);

#endif
