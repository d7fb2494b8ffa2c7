/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PrologSlurmctld and EpilogSlurmctld: run as SlurmUser in the background, one program after the
 * other until one fails. A controller that stops leaves them alone; the next one runs them again,
 * because nobody can tell how they ended.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "model/script_env.h"
#include "os/program.h"
#include "slurmctld/ctld.h"

#define TIMEOUT_NEVER 65534u /* PrologEpilogTimeout, seconds */

struct script {
    struct ctld *ctld;
    uint32_t job_id;
    bool epilog;
    uint32_t timeout; /* seconds, 0 = none */
    struct str env;
    vec(char *) programs;
    size_t next;
    struct loop_end at_free;
};

static void script_free(struct script *script) {
    list_remove(&script->at_free.link);
    vec_each (&script->programs, path)
        free(*path);
    vec_done(&script->programs);
    str_done(&script->env);
    free(script);
}

static void at_loop_free(void *context) {
    script_free(context);
}

static void script_over(struct script *script, const char *problem) {
    struct ctld *ctld = script->ctld;
    if (ctld->core != NULL) /* else it stops */
        core_script_done(ctld->core, ctld_now(ctld), script->job_id, script->epilog, problem,
                         ctld->effects);
    script_free(script);
}

static void script_next(void *context);

static void on_line(const char *text, void *context) {
    const struct script *script = context;
    log_debug("job %u: %s: %s", script->job_id,
              script->epilog ? "EpilogSlurmctld" : "PrologSlurmctld", text);
}

static void on_end(int status, bool timed_out, void *context) {
    struct script *script = context;
    if (status == 0 && !timed_out) {
        script_next(script);
        return;
    }
    struct str problem cleanup_str = STR_INIT;
    str_printf(&problem, "%s: ", script->programs.items[script->next - 1]);
    program_status_print(status, timed_out, script->timeout, &problem);
    script_over(script, problem.data);
}

static void script_next(void *context) {
    struct script *script = context;
    struct error err = ERROR_INIT;
    if (script->next == script->programs.n) {
        script_over(script, NULL);
        return;
    }
    cleanup_free char **envp = script_env_array(&script->env);
    char *argv[] = {script->programs.items[script->next++], NULL};
    struct program program = {.argv = argv,
                              .envp = envp,
                              .directory = "/",
                              .timeout = script->timeout,
                              .line = on_line,
                              .ended = on_end,
                              .context = script};
    if (program_start(script->ctld->loop, &program, &err) < 0)
        script_over(script, err.text);
}

static void add_programs(struct script *script, const struct conf_names *names) {
    for (size_t i = 0; i < names->n; i++) {
        cleanup_free char *path = conf_program_path(script->ctld->conf_path, names->items[i]);
        glob_t found;
        if (strpbrk(path, "*?[") == NULL) {
            vec_push(&script->programs, take(path));
            continue;
        }
        if (glob(path, 0, NULL, &found) == 0) {
            for (size_t k = found.gl_pathc; k > 0; k--) /* from the last in the alphabet */
                vec_push(&script->programs, xstrdup(found.gl_pathv[k - 1]));
        }
        globfree(&found);
    }
}

static void fill_env(struct script *script, const struct job_script_order *order) {
    const struct ctld *ctld = script->ctld;
    struct script_facts facts = {.context = order->epilog ? SCRIPT_EPILOG_SLURMCTLD
                                                          : SCRIPT_PROLOG_SLURMCTLD,
                                 .job = order->job,
                                 .cluster = ctld->conf->cluster_name,
                                 .conf_path = ctld->conf_path,
                                 .cpus_per_node = order->cpus_per_node};
    script_env_print(&facts, &script->env);
}

void script_run(struct ctld *ctld, const struct effect *effect) {
    const struct conf *conf = ctld->conf;
    struct job_script_order order;
    struct error err = ERROR_INIT;
    struct arena memory;
    arena_init(&memory, 0);
    struct script *script = zalloc(struct script);
    list_init(&script->at_free.link);
    script->ctld = ctld;
    script->job_id = (uint32_t) effect->id;
    if (wire_decode(&record_job_script_order, effect->body, &memory, &order, &err) == 0) {
        script->epilog = order.epilog;
        fill_env(script, &order);
        add_programs(script, order.epilog ? &conf->epilog_slurmctld : &conf->prolog_slurmctld);
    }
    arena_done(&memory);
    if (conf->prolog_epilog_timeout != TIMEOUT_NEVER)
        script->timeout = conf->prolog_epilog_timeout;
    script->at_free = (struct loop_end) {.fn = at_loop_free, .context = script};
    loop_at_free(ctld->loop, &script->at_free);
    /* Never from within: effects of this turn are still being released. */
    loop_post(ctld->loop, script_next, script);
}
