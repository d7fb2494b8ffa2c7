/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The site's programs around a job on this node. A slurmstepd of its own supervises them (see
 * slurmstepd/script.c), so that they and their timeout go on while slurmd is away; it keeps a file,
 * SlurmdSpoolDir/script/RECORD, that says who runs and then how it ended. A restarted slurmd that
 * asks for the same record again waits for that run, or learns its end, and starts nothing twice.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/script_env.h"
#include "os/proc.h"
#include "os/spawn.h"
#include "slurmd/slurmd.h"

#define RECORD_MAX 4096

struct script_run {
    struct list in_slurmd; /* waits for its turn (PrologFlags=Serial) */
    struct slurmd *slurmd;
    char *path; /* of the record */
    const char *what;
    vec(char *) argv;
    struct str env;
    bool is_running, is_serial;
    script_fn *fn;
    void *context;
};

static void run_free(struct script_run *run) {
    list_remove(&run->in_slurmd);
    vec_each (&run->argv, word)
        free(*word);
    vec_done(&run->argv);
    str_done(&run->env);
    free(run->path);
    free(run);
}

static void run_next(struct slurmd *slurmd);

static void set_running(struct script_run *run) {
    if (!run->is_running && run->is_serial)
        run->slurmd->n_turns++;
    run->is_running = true;
}

static void run_over(struct script_run *run, const char *problem) {
    struct slurmd *slurmd = run->slurmd;
    script_fn *fn = run->fn;
    void *context = run->context;

    if (run->is_running && run->is_serial)
        slurmd->n_turns--;
    run_free(run);
    fn(problem, context);
    run_next(slurmd);
}

/* ---- the record ---- */

enum record_state { RECORD_NONE, RECORD_RUNNING, RECORD_DONE };

/* RUNNING: *ret_pid, 0 when that process is no more. DONE: text holds the problem, "" = none. */
static enum record_state record_read(const char *path, pid_t *ret_pid, struct str *text) {
    char buffer[RECORD_MAX], boot[64], here[64] = "";
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, buffer, sizeof(buffer) - 1) : -1;
    unsigned long long start;
    int pid;

    *ret_pid = 0;
    if (n <= 0)
        return RECORD_NONE;
    buffer[n] = '\0';
    if (str_starts(buffer, "done ")) {
        str_append(text, buffer + 5);
        return RECORD_DONE;
    }
    if (sscanf(buffer, "running %d %llu %63s", &pid, &start, boot) != 3)
        return RECORD_NONE;
    proc_boot_id(here, sizeof(here));
    if (!str_equal(boot, here))
        (void) unlink(path); /* the machine has gone down in the midst of it */
    if (!str_equal(boot, here))
        return RECORD_NONE;
    if (proc_start_time(pid) == start)
        *ret_pid = pid;
    return RECORD_RUNNING;
}

static void on_end(pid_t pid, int status, void *context);

/* True when the run is over or is being waited for. */
static bool run_resume(struct script_run *run) {
    cleanup_str struct str text = STR_INIT;
    struct error err = ERROR_INIT;
    pid_t pid;

    switch (record_read(run->path, &pid, &text)) {
    case RECORD_DONE:
        run_over(run, text.length > 0 ? text.data : NULL);
        return true;
    case RECORD_RUNNING:
        set_running(run);
        if (pid == 0 || loop_child(run->slurmd->loop, pid, on_end, run, &err) < 0) {
            str_printf(&text, "the supervisor of %s was killed", run->what);
            run_over(run, text.data);
        }
        return true;
    case RECORD_NONE:
        break;
    }
    return false;
}

static void on_end(pid_t pid, int status, void *context) {
    struct script_run *run = context;
    cleanup_str struct str text = STR_INIT;

    switch (record_read(run->path, &pid, &text)) {
    case RECORD_DONE:
        run_over(run, text.length > 0 ? text.data : NULL);
        return;
    case RECORD_RUNNING:
        if (pid > 0 && run_resume(run)) /* one that an earlier slurmd had started just then */
            return;
        break;
    case RECORD_NONE:
        break;
    }
    str_printf(&text, "the supervisor of %s was killed", run->what);
    run_over(run, text.data);
}

/* ---- starting ---- */

static int name_compare(const void *a, const void *b) {
    return strcmp(*(char *const *) b, *(char *const *) a);
}

/* The files that a value names; those of a pattern from the last in the alphabet to the first. */
static void expand(struct script_run *run, const char *value) {
    cleanup_free char *path = conf_program_path(run->slurmd->conf_path, value);
    glob_t found;

    if (strpbrk(path, "*?[") == NULL) {
        vec_push(&run->argv, take(path));
        return;
    }
    if (glob(path, GLOB_NOSORT, NULL, &found) == 0) {
        qsort(found.gl_pathv, found.gl_pathc, sizeof(char *), name_compare);
        for (size_t i = 0; i < found.gl_pathc; i++)
            vec_push(&run->argv, xstrdup(found.gl_pathv[i]));
    }
    globfree(&found);
}

static int run_start(struct script_run *run, struct error *err) {
    cleanup_free char **envp = script_env_array(&run->env);
    struct spawn spec = {.path = run->slurmd->stepd_path,
                         .argv = run->argv.items,
                         .envp = envp,
                         .stdin_fd = -1,
                         .stdout_fd = -1,
                         .stderr_fd = -1,
                         .new_session = true,
                         .cwd = "/"};
    pid_t pid;
    int r = spawn_process(&spec, &pid, NULL, err);

    if (r == 0)
        r = loop_child(run->slurmd->loop, pid, on_end, run, err);
    return r;
}

static void run_begin(struct script_run *run) {
    struct error err = ERROR_INIT;

    set_running(run);
    if (run_start(run, &err) < 0)
        run_over(run, err.text);
}

static void run_next(struct slurmd *slurmd) {
    if (slurmd->n_turns > 0 || list_is_empty(&slurmd->scripts))
        return;
    struct script_run *run = list_entry(slurmd->scripts.next, struct script_run, in_slurmd);
    list_remove(&run->in_slurmd);
    run_begin(run);
}

void scripts_hold(struct slurmd *slurmd, bool hold) {
    slurmd->n_turns += hold ? 1u : (size_t) -1;
    run_next(slurmd);
}

void script_path(const struct slurmd *slurmd, const char *record, struct str *out) {
    str_printf(out, "%s/script/%s", slurmd->spool_dir, record);
}

void script_run(struct slurmd *slurmd, const struct script *script, script_fn *fn, void *context) {
    struct script_run *run = zalloc(struct script_run);
    cleanup_str struct str path = STR_INIT;

    list_init(&run->in_slurmd);
    run->slurmd = slurmd;
    run->what = script->what;
    run->is_serial = slurmd->conf->prolog_flags & CONF_PROLOG_SERIAL;
    run->fn = fn;
    run->context = context;
    script_path(slurmd, script->record, &path);
    run->path = str_take(&path);
    if (run_resume(run))
        return;
    vec_push(&run->argv, xstrdup("slurmstepd"));
    vec_push(&run->argv, xstrdup("script"));
    vec_push(&run->argv, xstrdup(run->path));
    vec_push(&run->argv, xasprintf("%u", script->timeout));
    vec_push(&run->argv, xstrdup(run->what));
    size_t n_head = run->argv.n;
    for (size_t i = 0; i < script->programs->n; i++)
        expand(run, script->programs->items[i]);
    if (run->argv.n == n_head) { /* patterns that nothing matches */
        run_over(run, NULL);
        return;
    }
    vec_push(&run->argv, NULL);
    str_append_bytes(&run->env, script->env->data, script->env->length);
    if (run->is_serial) {
        list_append(&slurmd->scripts, &run->in_slurmd);
        run_next(slurmd);
    } else {
        run_begin(run);
    }
}
