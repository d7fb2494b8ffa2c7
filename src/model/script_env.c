/* SPDX-License-Identifier: Apache-2.0 */
#include "model/script_env.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "text/idset.h"

enum copy_kind { COPY_STR, COPY_U32, COPY_I64 }; /* texts when there is one, times when not 0 */
/* Where a variable is set: sites' scripts test for some of them. */
enum copy_where { NODE = 1, CONTROLLER = 2, BOTH = 3 };

static const struct copy_row {
    const char *name;
    uint8_t kind, where;
    uint16_t offset;
} rows[] = {
#define JOB(kind, where, member, name)                                                             \
    { name, COPY_##kind, where, offsetof(struct job, member) }
    JOB(U32, BOTH, job_id, "SLURM_JOB_ID"),
    JOB(U32, BOTH, job_id, "SLURM_JOBID"),
    JOB(U32, BOTH, uid, "SLURM_JOB_UID"),
    JOB(U32, NODE, uid, "SLURM_UID"),
    JOB(U32, BOTH, gid, "SLURM_JOB_GID"),
    JOB(STR, BOTH, user_name, "SLURM_JOB_USER"),
    JOB(STR, CONTROLLER, group_name, "SLURM_JOB_GROUP"),
    JOB(STR, CONTROLLER, name, "SLURM_JOB_NAME"),
    JOB(STR, BOTH, account, "SLURM_JOB_ACCOUNT"),
    JOB(STR, BOTH, partition, "SLURM_JOB_PARTITION"),
    JOB(STR, BOTH, qos, "SLURM_JOB_QOS"),
    JOB(STR, BOTH, reservation, "SLURM_JOB_RESERVATION"),
    JOB(STR, BOTH, nodes, "SLURM_JOB_NODELIST"),
    JOB(STR, NODE, nodes, "SLURM_NODELIST"),
    JOB(U32, BOTH, num_nodes, "SLURM_JOB_NUM_NODES"),
    JOB(U32, BOTH, restarts, "SLURM_JOB_RESTART_COUNT"),
    JOB(STR, BOTH, comment, "SLURM_JOB_COMMENT"),
    JOB(STR, BOTH, features, "SLURM_JOB_CONSTRAINTS"),
    JOB(STR, BOTH, licenses, "SLURM_JOB_LICENSES"),
    JOB(STR, BOTH, extra, "SLURM_JOB_EXTRA"),
    JOB(STR, BOTH, work_dir, "SLURM_JOB_WORK_DIR"),
    JOB(I64, BOTH, start_time, "SLURM_JOB_START_TIME"),
    JOB(I64, BOTH, end_time, "SLURM_JOB_END_TIME"),
#undef JOB
};

static const char *const context_names[] = {
    [SCRIPT_PROLOG_SLURMD] = "prolog_slurmd",
    [SCRIPT_EPILOG_SLURMD] = "epilog_slurmd",
    [SCRIPT_PROLOG_SLURMCTLD] = "prolog_slurmctld",
    [SCRIPT_EPILOG_SLURMCTLD] = "epilog_slurmctld",
};

static void put(struct str *out, const char *name, const char *value) {
    if (value == NULL)
        return;
    str_printf(out, "%s=%s", name, value);
    str_append_char(out, '\0');
}

static void put_number(struct str *out, const char *name, int64_t value) {
    str_printf(out, "%s=%lld", name, (long long) value);
    str_append_char(out, '\0');
}

static void put_row(struct str *out, const struct copy_row *row, const struct job *job) {
    const char *member = (const char *) job + row->offset;
    switch (row->kind) {
    case COPY_STR:
        put(out, row->name, *(char *const *) member);
        break;
    case COPY_U32:
        put_number(out, row->name, *(const uint32_t *) member);
        break;
    case COPY_I64:
        if (*(const int64_t *) member > 0)
            put_number(out, row->name, *(const int64_t *) member);
        break;
    }
}

/* The file name as it was given, below the job's directory. */
static void put_file(struct str *out, const char *name, const char *pattern, const char *dir) {
    if (pattern == NULL || *pattern == '\0')
        return;
    if (*pattern == '/' || dir == NULL) {
        put(out, name, pattern);
        return;
    }
    cleanup_free char *path = xasprintf("%s/%s", dir, pattern);
    put(out, name, path);
}

static void put_files(struct str *out, const struct job *job) {
    const char *std_out = job->std_out;
    if (job->kind != JOB_KIND_BATCH)
        return;
    if (std_out == NULL || *std_out == '\0')
        std_out = job->array_job_id != 0 ? "slurm-%A_%a.out" : "slurm-%j.out";
    put_file(out, "SLURM_JOB_STDIN", job->std_in != NULL ? job->std_in : "/dev/null",
             job->work_dir);
    put_file(out, "SLURM_JOB_STDOUT", std_out, job->work_dir);
    put_file(out, "SLURM_JOB_STDERR", job->std_err, job->work_dir);
}

static void put_array(struct str *out, const struct job *job) {
    struct idset set cleanup_idset = IDSET_INIT;
    if (job->array_job_id == 0 || job->array_task_id == UNSET32)
        return;
    put_number(out, "SLURM_ARRAY_JOB_ID", job->array_job_id);
    put_number(out, "SLURM_ARRAY_TASK_ID", job->array_task_id);
    if (job->array_all == NULL || idset_parse(&set, job->array_all, UINT32_MAX - 2, NULL, NULL) < 0)
        return;
    put_number(out, "SLURM_ARRAY_TASK_COUNT", (int64_t) idset_count(&set));
    put_number(out, "SLURM_ARRAY_TASK_MIN", idset_min(&set));
    put_number(out, "SLURM_ARRAY_TASK_MAX", idset_max(&set));
    put_number(out, "SLURM_ARRAY_TASK_STEP", job_array_step(job->array_spec, job->array_all));
}

static void put_end(struct str *out, const struct job *job) {
    put_number(out, "SLURM_JOB_EXIT_CODE", job->exit_status);
    struct str text cleanup_str = STR_INIT;
    exit_status_print(job->exit_status, &text);
    put(out, "SLURM_JOB_EXIT_CODE2", str_cstr(&text));
    put_number(out, "SLURM_JOB_DERIVED_EC", job->derived_exit);
}

static void put_list(struct str *out, const char *name, const uint32_t *numbers, size_t n) {
    str_printf(out, "%s=", name);
    for (size_t i = 0; i < n; i++)
        str_printf(out, "%s%u", i > 0 ? "," : "", numbers[i]);
    str_append_char(out, '\0');
}

static void put_gpus(struct str *out, const struct script_facts *facts) {
    if (facts->n_gpus == 0)
        return;
    put_list(out, "SLURM_JOB_GPUS", facts->gpu_indexes, facts->n_gpus);
    for (size_t i = 0; i < GPU_VISIBLE_NAMES; i++) {
        if (facts->gpu_env >> i & 1)
            put_list(out, gpu_visible_names[i], facts->gpu_numbers, facts->n_gpus);
    }
}

void script_env_print(const struct script_facts *facts, struct str *out) {
    const struct job *job = facts->job;
    bool on_node = facts->context == SCRIPT_PROLOG_SLURMD || facts->context == SCRIPT_EPILOG_SLURMD;
    for (size_t i = 0; i < countof(rows); i++) {
        if (rows[i].where & (on_node ? NODE : CONTROLLER))
            put_row(out, &rows[i], job);
    }
    put(out, "SLURM_CLUSTER_NAME", facts->cluster);
    put(out, "SLURM_CONF", facts->conf_path);
    put(out, "SLURMD_NODENAME", facts->node_name);
    put(out, "SLURM_JOB_CPUS_PER_NODE", facts->cpus_per_node);
    put_gpus(out, facts);
    put_files(out, job);
    if (!on_node)
        put_array(out, job);
    if (facts->context == SCRIPT_EPILOG_SLURMD || facts->context == SCRIPT_EPILOG_SLURMCTLD)
        put_end(out, job);
    put(out, "SLURM_SCRIPT_CONTEXT", context_names[facts->context]);
}

char **script_env_array(const struct str *block) {
    vec(char *) entries = {0};
    for (size_t at = 0; at < block->length; at += strlen(block->data + at) + 1)
        vec_push(&entries, block->data + at);
    vec_push(&entries, NULL);
    return entries.items;
}
