/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An EFFECT_TRIGGER: runs the trigger's program as the user who has set it, beside the controller,
 * a few at a time. What cannot be run, or fails, is logged.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "model/trigger.h"
#include "os/program.h"
#include "slurmctld/ctld.h"

#define TIMEOUT_SEC 300u
#define AT_A_TIME 16

struct call {
    struct list link; /* ctld->triggers_waiting until it runs */
    struct ctld *ctld;
    struct trigger *trigger; /* owned */
    struct loop_end at_free;
};

static void call_free(struct call *call) {
    list_remove(&call->at_free.link);
    list_remove(&call->link);
    record_free(&record_trigger, call->trigger);
    free(call);
}

static void at_loop_free(void *context) {
    call_free(context);
}

static void next(struct ctld *ctld);

static void tell(const struct call *call, const char *what) {
    log_error("trigger %u: %s: %s", call->trigger->id, call->trigger->program, what);
}

static void on_line(const char *text, void *context) {
    const struct call *call = context;
    log_debug("trigger %u: %s", call->trigger->id, text);
}

static void on_end(int status, bool timed_out, void *context) {
    struct call *call = context;
    struct ctld *ctld = call->ctld;
    struct str problem cleanup_str = STR_INIT;
    if (status != 0 || timed_out) {
        program_status_print(status, timed_out, TIMEOUT_SEC, &problem);
        tell(call, str_cstr(&problem));
    }
    call_free(call);
    ctld->triggers_running--;
    next(ctld);
}

/* The program's words, then what it is called for. */
static char **argv_new(const struct trigger *trigger) {
    vec(char *) words = {0};
    words_each (trigger->program, " \t", word)
        vec_push(&words, xstrdup(word));
    if (trigger->argument != NULL)
        vec_push(&words, xstrdup(trigger->argument));
    vec_push(&words, NULL);
    return words.items;
}

static void argv_free(char **argv) {
    for (size_t i = 0; argv[i] != NULL; i++)
        free(argv[i]);
    free(argv);
}

static int start(struct call *call, struct error *err) {
    struct ctld *ctld = call->ctld;
    const struct trigger *trigger = call->trigger;
    cleanup_free gid_t *groups = NULL;
    size_t n_groups = 0;
    struct program program = {.directory = "/",
                              .timeout = TIMEOUT_SEC,
                              .line = on_line,
                              .ended = on_end,
                              .context = call};
    if (trigger->uid != geteuid()) {
        int r = userdb_groups(trigger->user, trigger->gid, &groups, &n_groups, err);
        if (r < 0)
            return r;
        program.has_identity = true;
        program.uid = trigger->uid;
        program.gid = trigger->gid;
        program.groups = groups;
        program.n_groups = n_groups;
    }
    char path_variable[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    cleanup_free char *conf = xasprintf("SLURM_CONF=%s", ctld->conf_path);
    cleanup_free char *cluster = xasprintf("SLURM_CLUSTER_NAME=%s", ctld->conf->cluster_name);
    char *envp[] = {path_variable, conf, cluster, NULL};
    char **argv = argv_new(trigger);
    program.argv = argv;
    program.envp = envp;
    int r = program_start(ctld->loop, &program, err);
    argv_free(argv);
    return r;
}

static void next(struct ctld *ctld) {
    while (ctld->core != NULL && ctld->triggers_running < AT_A_TIME &&
           !list_is_empty(&ctld->triggers_waiting)) {
        struct call *call = list_entry(ctld->triggers_waiting.next, struct call, link);
        struct error err = ERROR_INIT;
        uint32_t id = call->trigger->id;
        list_remove(&call->link);
        if (start(call, &err) == 0) {
            ctld->triggers_running++;
        } else {
            tell(call, err.text);
            call_free(call);
        }
        core_trigger_ran(ctld->core, ctld_now(ctld), id, ctld->effects);
    }
}

static void next_later(void *context) {
    next(context);
}

void trigger_run(struct ctld *ctld, const struct effect *effect) {
    struct arena memory;
    struct trigger trigger;
    arena_init(&memory, 0);
    if (wire_decode(&record_trigger, effect->body, &memory, &trigger, NULL) == 0) {
        struct call *call = zalloc(struct call);
        list_init(&call->link);
        call->ctld = ctld;
        call->trigger = record_dup(&record_trigger, &trigger);
        call->at_free = (struct loop_end) {.fn = at_loop_free, .context = call};
        loop_at_free(ctld->loop, &call->at_free);
        if (ctld->triggers_waiting.next == NULL)
            list_init(&ctld->triggers_waiting);
        list_append(&ctld->triggers_waiting, &call->link);
        /* Never from within: effects of this turn are still being released. */
        loop_post(ctld->loop, next_later, ctld);
    }
    arena_done(&memory);
}
