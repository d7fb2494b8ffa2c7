/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Prolog and Epilog, on nodes and at the controller, find in their environment: variables from
 * a job's record (slurm.conf(5), "PROLOG AND EPILOG SCRIPTS"). No PATH: scripts are root's and say
 * themselves where their commands are.
 */
#ifndef SLUICE_MODEL_SCRIPT_ENV_H
#define SLUICE_MODEL_SCRIPT_ENV_H

#include "base/str.h"
#include "model/job.h"

enum script_context {
    SCRIPT_PROLOG_SLURMD,
    SCRIPT_EPILOG_SLURMD,
    SCRIPT_PROLOG_SLURMCTLD,
    SCRIPT_EPILOG_SLURMCTLD,
};

struct script_facts {
    enum script_context context;
    const struct job *job;
    const char *cluster, *conf_path;
    const char *cpus_per_node; /* counted list */
    const char *node_name;     /* on a node */
    /* On a node: the job's GPUs there. They are all to be seen, whatever the job itself sees. */
    const uint32_t *gpu_indexes, *gpu_numbers; /* gpu_numbers: of their device files */
    size_t n_gpus;
    uint32_t gpu_env; /* bits of gpu_visible_names (model/job.h) */
};

/* Appends "NAME=value", each ended by NUL. */
void script_env_print(const struct script_facts *facts, struct str *out);
/* The entries of such a block as execve() wants them, ended by NULL; they point into the block, the
 * array is freed by the caller. */
char **script_env_array(const struct str *block);

#endif
