/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that runs in a job and has changed the job's size: its environment still speaks of the
 * former one. Scripts that set it right are written for the shell to read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/list_jobs.h"
#include "cli/scontrol.h"

static const struct shell {
    const char *ending, *set, *is, *unset;
} shells[] = {
    {"sh", "export", "=", "unset"},
    {"csh", "setenv", " ", "unsetenv"},
};

static const char *const outdated[] = {"SLURM_NPROCS", "SLURM_NTASKS", "SLURM_TASKS_PER_NODE"};

static void script_text(const struct shell *shell, const struct job *job, struct str *out) {
    struct str cpus cleanup_str = STR_INIT;
    job_cpus_per_node(job, &cpus);
    const char *set = shell->set, *is = shell->is;
    str_printf(out, "%s SLURM_NODELIST%s\"%s\"\n", set, is, job->nodes);
    str_printf(out, "%s SLURM_JOB_NODELIST%s\"%s\"\n", set, is, job->nodes);
    str_printf(out, "%s SLURM_NNODES%s%u\n", set, is, job->num_nodes);
    str_printf(out, "%s SLURM_JOB_NUM_NODES%s%u\n", set, is, job->num_nodes);
    str_printf(out, "%s SLURM_JOB_CPUS_PER_NODE%s\"%s\"\n", set, is, str_cstr(&cpus));
    for (size_t i = 0; i < countof(outdated); i++)
        str_printf(out, "%s %s\n", shell->unset, outdated[i]);
}

/* 0, or a negative errno. Replaces what is there, in one step: a shell may be reading it. */
static int script_write(const char *path, const struct str *text) {
    cleanup_free char *fresh = xasprintf("%s.%d", path, (int) getpid());
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
    if (fd < 0)
        return -errno;
    ssize_t n = write(fd, text->data, text->length);
    int r = n < 0 ? -errno : (size_t) n < text->length ? -ENOSPC : 0;
    if (close(fd) < 0 && r == 0)
        r = -errno;
    if (r == 0 && rename(fresh, path) < 0)
        r = -errno;
    if (r < 0)
        (void) unlink(fresh);
    return r;
}

static int scripts_write(struct scontrol *scontrol, const struct job *job) {
    int status = 0;
    for (size_t i = 0; i < countof(shells); i++) {
        struct str text cleanup_str = STR_INIT;
        cleanup_free char *path =
            xasprintf("slurm_job_%u_resize.%s", job->job_id, shells[i].ending);
        script_text(&shells[i], job, &text);
        int r = script_write(path, &text);
        if (r == 0)
            continue;
        list_error("the job has its new size, but %s cannot be written here: %s", path,
                   strerror(-r));
        status = 1;
    }
    if (status == 0 && !scontrol->quiet)
        str_printf(&scontrol->out,
                   "To reset Slurm environment variables, execute\n"
                   "  For bash or sh shells:  . ./slurm_job_%u_resize.sh\n"
                   "  For csh shells:         source ./slurm_job_%u_resize.csh\n",
                   job->job_id, job->job_id);
    return status;
}

static bool changes_size(const struct scontrol_changes *changes) {
    static const char *const keys[] = {"NumNodes", "ReqNodes", "NodeList", "ReqNodeList"};
    for (uint32_t i = 0; i < changes->n; i++) {
        for (size_t k = 0; k < countof(keys); k++) {
            if (str_equal_nocase(changes->items[i].key, keys[k]))
                return true;
        }
    }
    return false;
}

int scontrol_resize_scripts(struct scontrol *scontrol, const struct job_results *results,
                            const struct scontrol_changes *changes) {
    struct job_query query = {.states = {.all = true}, .all = true};
    struct list_request request;
    struct field_mask mask = {{0}};
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    int status = 0;
    bool within = getenv("SLURM_JOBID") != NULL || getenv("SLURM_JOB_ID") != NULL;
    if (!within || !changes_size(changes) || results->items.n != 1 || results->items.items[0].code)
        return 0;
    cleanup_free char *id = xasprintf("%u", results->items.items[0].job_id);
    strs_push(&query.ids, id);
    job_query_fields(&mask);
    field_mask_add(&mask, record_field(&record_job, "allocation")->number);
    field_mask_add(&mask, record_field(&record_job, "nodes")->number);
    field_mask_add(&mask, record_field(&record_job, "num_nodes")->number);
    job_query_request(&query, &mask, &request);
    if (list_jobs(&scontrol->session, &request, &rows, &err) < 0) {
        list_load_error("slurm_load_jobs error", &err);
        status = 1;
    }
    for (size_t i = 0; i < rows.n; i++) {
        const struct job *job = rows.items[i];
        if (job->job_id == results->items.items[0].job_id && job->state == JOB_RUNNING)
            status = scripts_write(scontrol, job);
    }
    rows_done(&rows);
    job_query_done(&query);
    return status;
}
