/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the node does for a job before its first step (Prolog) and after its last (Epilog, and
 * clearing away what is kept for it). Files in SlurmdSpoolDir/script tell a restarted slurmd where
 * it was: JOB.ATTEMPT.job is there from the beginning of the first to the end of the last, and
 * JOB.ATTEMPT.prolog and .epilog are the records of the programs (script.c).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/script_env.h"
#include "os/file.h"
#include "os/log.h"
#include "slurmd/slurmd.h"

#define JOB_FILE_MAX (16u << 20)
#define TIMEOUT_NEVER 65534u /* seconds, in the configuration */

#define NODE_JOB_FIELDS(X)                                                                         \
    X(1, U32, job_id, 0)                                                                           \
    X(2, U32, attempt, 0)                                                                          \
    X(3, U32, uid, 0)                                                                              \
    X(4, REC, job, job) /* NULL: the controller has told nothing of it */                          \
    X(5, STR, cpus_per_node, 0)                                                                    \
    X(6, STR, boot_id, 0)
RECORD_DECLARE(node_job_file, NODE_JOB_FIELDS)
#define RECORD_ROW_node_job_file(...) RECORD_ROW(node_job_file, __VA_ARGS__)
RECORD_DEFINE(node_job_file, NODE_JOB_FIELDS)

struct node_job {
    struct list in_slurmd;
    struct slurmd *slurmd;
    struct node_job_file file;
    bool is_stored;
    char *problem;   /* of its Epilog */
    unsigned n_runs; /* programs that will call back */
    bool is_forgotten;
};

static struct step_key job_key(const struct node_job *job) {
    return (struct step_key) {job->file.job_id, UNSET32, job->file.attempt};
}

static struct node_job *job_find(struct slurmd *slurmd, struct step_key key) {
    list_each (&slurmd->jobs, node) {
        struct node_job *job = list_entry(node, struct node_job, in_slurmd);
        if (job->file.job_id == key.job_id && job->file.attempt == key.attempt)
            return job;
    }
    return NULL;
}

static void job_free(struct node_job *job) {
    list_remove(&job->in_slurmd);
    record_done(&record_node_job_file, &job->file);
    free(job->problem);
    free(job);
}

/* ---- its files ---- */

static void record_name(const struct node_job *job, const char *suffix, struct str *out) {
    str_printf(out, "%u.%u.%s", job->file.job_id, job->file.attempt, suffix);
}

static void file_path(const struct node_job *job, const char *suffix, struct str *out) {
    cleanup_str struct str name = STR_INIT;

    record_name(job, suffix, &name);
    script_path(job->slurmd, name.data, out);
}

static void file_remove(const struct node_job *job, const char *suffix) {
    cleanup_str struct str path = STR_INIT;

    file_path(job, suffix, &path);
    (void) unlink(path.data);
}

static void job_store(struct node_job *job) {
    cleanup_str struct str path = STR_INIT, draft = STR_INIT, body = STR_INIT;

    if (job->is_stored)
        return;
    file_path(job, "job", &path);
    str_printf(&draft, "%s.draft", path.data);
    wire_encode(&record_node_job_file, &job->file, NULL, &body);
    cleanup_fd int fd = open(draft.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, body.data, body.length) != (ssize_t) body.length ||
        rename(draft.data, path.data) < 0)
        log_error("job %u: %s cannot be written (%s); a restart of slurmd would run its Prolog or "
                  "Epilog again",
                  job->file.job_id, path.data, strerror(errno));
    job->is_stored = true;
}

/* ---- noting ---- */

static struct node_job *job_add(struct slurmd *slurmd, struct step_key key, uint32_t uid) {
    struct node_job *job = zalloc(struct node_job);

    job->slurmd = slurmd;
    record_init(&record_node_job_file, &job->file);
    job->file.job_id = key.job_id;
    job->file.attempt = key.attempt;
    job->file.uid = uid;
    job->file.boot_id = xstrdup_null(slurmd->machine.boot_id);
    list_append(&slurmd->jobs, &job->in_slurmd);
    return job;
}

void job_note(struct slurmd *slurmd, struct step_key key, uint32_t uid, const struct job *record,
              const char *cpus_per_node) {
    struct node_job *job = job_find(slurmd, key);
    cleanup_str struct str cpus = STR_INIT;

    if (!record)
        return;
    if (!job)
        job = job_add(slurmd, key, uid);
    if (!cpus_per_node) {
        job_cpus_per_node(record, &cpus);
        cpus_per_node = cpus.data;
    }
    record_free(&record_job, job->file.job);
    job->file.job = record_dup(&record_job, record);
    string_set(&job->file.cpus_per_node, cpus_per_node);
}

const struct job *job_noted(struct slurmd *slurmd, struct step_key key) {
    const struct node_job *job = job_find(slurmd, key);

    return job ? job->file.job : NULL;
}

void forget_job(struct slurmd *slurmd, struct step_key key) {
    struct node_job *job = job_find(slurmd, key);

    if (!job)
        return;
    if (job->n_runs > 0) {
        job->is_forgotten = true;
        return;
    }
    file_remove(job, "prolog");
    file_remove(job, "epilog");
    file_remove(job, "job");
    job_free(job);
}

/* ---- running ---- */

/* The GRES of the job on this node, or NULL. */
static const char *gres_here(const struct node_job *job) {
    const struct job *record = job->file.job;

    for (uint32_t i = 0; record && i < record->allocation.n; i++) {
        if (str_equal(record->allocation.items[i].name, job->slurmd->node_name))
            return record->allocation.items[i].gres;
    }
    return NULL;
}

static void env_fill(const struct node_job *job, enum script_context context, struct str *out) {
    const struct slurmd *slurmd = job->slurmd;
    struct job bare;
    size_t n = 0;
    cleanup_free uint32_t *indexes = gres_card_indexes(gres_here(job), &n);
    cleanup_free uint32_t *numbers = xcalloc(n + 1, sizeof(*numbers));

    record_init(&record_job, &bare);
    bare.job_id = job->file.job_id;
    bare.uid = job->file.uid;
    struct script_facts facts = {.context = context,
                                 .job = job->file.job ? job->file.job : &bare,
                                 .cluster = slurmd->conf->cluster_name,
                                 .conf_path = slurmd->conf_path,
                                 .node_name = slurmd->node_name,
                                 .cpus_per_node = job->file.cpus_per_node,
                                 .gpu_indexes = indexes,
                                 .gpu_numbers = numbers,
                                 .n_gpus = n,
                                 .gpu_env = slurmd->gpu_env};
    for (size_t i = 0; i < n; i++) {
        bool is_known = indexes[i] < slurmd->gpu_numbers.n;
        numbers[i] = is_known ? slurmd->gpu_numbers.items[indexes[i]] : indexes[i];
    }
    script_env_print(&facts, out);
}

/* Seconds; 0 = none. What is said for one of the two counts more than what is said for both. */
static uint32_t timeout_of(const struct slurmd *slurmd, uint32_t own) {
    uint32_t seconds = own != TIMEOUT_NEVER ? own : slurmd->conf->prolog_epilog_timeout;

    return seconds == TIMEOUT_NEVER ? 0 : seconds;
}

static void run(struct node_job *job, bool epilog, script_fn *fn) {
    const struct slurmd *slurmd = job->slurmd;
    const struct conf *conf = slurmd->conf;
    cleanup_str struct str record = STR_INIT, env = STR_INIT;
    struct script script = {
        .what = epilog ? "Epilog" : "Prolog",
        .programs = epilog ? &conf->epilog : &conf->prolog,
        .env = &env,
        .timeout = timeout_of(slurmd, epilog ? conf->epilog_timeout : conf->prolog_timeout),
    };

    record_name(job, epilog ? "epilog" : "prolog", &record);
    script.record = record.data;
    env_fill(job, epilog ? SCRIPT_EPILOG_SLURMD : SCRIPT_PROLOG_SLURMD, &env);
    job->n_runs++;
    script_run(job->slurmd, &script, fn, job);
}

static void on_prolog(const char *problem, void *context) {
    struct node_job *job = context;
    struct slurmd *slurmd = job->slurmd;
    struct agent_effects effects = {0};
    cleanup_str struct str text = STR_INIT;

    job->n_runs--;
    if (problem) {
        log_error("job %u: %s", job->file.job_id, problem);
        str_printf(&text, "%s: %s", error_text(ERR_PROLOG), problem);
    }
    agent_job_prepared(slurmd->agent, loop_monotonic_usec(), job->file.job_id, job->file.attempt,
                       text.data, &effects);
    if (job->is_forgotten)
        forget_job(slurmd, job_key(job));
    slurmd_effects(slurmd, &effects);
}

void prepare_job(struct slurmd *slurmd, struct step_key key, uint32_t uid) {
    struct node_job *job = job_find(slurmd, key);

    if (!job)
        job = job_add(slurmd, key, uid);
    job_store(job);
    run(job, false, on_prolog);
}

static void on_places_removed(void *context);

/* The private directories go next: the job is not done with yet. */
static void on_epilog(const char *problem, void *context) {
    struct node_job *job = context;
    struct slurmd *slurmd = job->slurmd;

    free(take(job->problem));
    if (problem) {
        log_error("job %u: %s", job->file.job_id, problem);
        job->problem = xstrdup("Epilog error");
    }
    places_remove(slurmd, job->file.job_id, on_places_removed, job);
}

static void on_places_removed(void *context) {
    struct node_job *job = context;
    struct slurmd *slurmd = job->slurmd;
    struct agent_effects effects = {0};

    job->n_runs--;
    agent_job_cleaned(slurmd->agent, loop_monotonic_usec(), job->file.job_id, job->problem,
                      &effects);
    if (job->is_forgotten)
        forget_job(slurmd, job_key(job));
    slurmd_effects(slurmd, &effects);
}

static void remove_script(const struct slurmd *slurmd, uint32_t job_id) {
    cleanup_str struct str path = STR_INIT;

    str_printf(&path, "%s/job%05u/slurm_script", slurmd->spool_dir, job_id);
    if (unlink(path.data) == 0) {
        path.data[path.length - strlen("/slurm_script")] = '\0';
        (void) rmdir(path.data);
    }
}

void clean_job(struct slurmd *slurmd, struct step_key key, uint32_t uid) {
    struct node_job *job = job_find(slurmd, key);

    remove_script(slurmd, key.job_id);
    if (!job && runs_scripts(slurmd))
        job = job_add(slurmd, key, uid);
    if (job) {
        job_store(job);
        run(job, true, on_epilog);
        return;
    }
    struct agent_effects effects = {0};
    agent_job_cleaned(slurmd->agent, loop_monotonic_usec(), key.job_id, NULL, &effects);
    slurmd_effects(slurmd, &effects);
}

/* ---- after a restart, and a change of the configuration ---- */

void jobs_configure(struct slurmd *slurmd) {
    if (!slurmd->agent)
        return;
    agent_needs(slurmd->agent, (runs_scripts(slurmd) ? AGENT_NEEDS_PREPARE : 0) |
                                   (has_extern(slurmd) ? AGENT_NEEDS_EXTERN : 0));
}

static bool file_exists(const struct node_job *job, const char *suffix) {
    cleanup_str struct str path = STR_INIT;

    file_path(job, suffix, &path);
    return access(path.data, F_OK) == 0;
}

static void job_adopt(struct slurmd *slurmd, const struct node_job_file *file) {
    struct step_key key = {file->job_id, UNSET32, file->attempt};
    struct node_job *job = job_add(slurmd, key, file->uid);
    struct agent_effects effects = {0};
    bool is_ending;

    record_done(&record_node_job_file, &job->file);
    record_copy(&record_node_job_file, &job->file, file);
    job->is_stored = true;
    /* When the machine has been down nothing of it runs, and nothing is to begin. */
    is_ending = file_exists(job, "epilog") || !str_equal(file->boot_id, slurmd->machine.boot_id);
    agent_job_found(slurmd->agent, loop_monotonic_usec(), file->job_id, file->attempt, file->uid,
                    is_ending, &effects);
    slurmd_effects(slurmd, &effects);
}

static void file_adopt(struct slurmd *slurmd, const char *name) {
    cleanup_str struct str path = STR_INIT, body = STR_INIT;
    struct node_job_file file;
    struct error err = ERROR_INIT;
    struct arena arena;

    const char *dot = strrchr(name, '.');
    if (!dot || !str_equal(dot, ".job"))
        return;
    script_path(slurmd, name, &path);
    (void) file_read(path.data, JOB_FILE_MAX, &body);
    message_arena_init(&arena, str_bytes(&body));
    if (wire_decode(&record_node_job_file, str_bytes(&body), &arena, &file, &err) == 0 &&
        file.job_id != 0) {
        job_adopt(slurmd, &file);
    } else {
        log_error("%s cannot be read: %s", path.data, err.text);
        (void) unlink(path.data);
    }
    arena_done(&arena);
}

void jobs_adopt(struct slurmd *slurmd) {
    cleanup_str struct str directory = STR_INIT;
    struct dirent *entry;

    script_path(slurmd, "", &directory);
    DIR *dir = opendir(directory.data);
    scripts_hold(slurmd, true); /* until those that run are known */
    while (dir && (entry = readdir(dir)))
        file_adopt(slurmd, entry->d_name);
    scripts_hold(slurmd, false);
    if (dir)
        closedir(dir);
}
