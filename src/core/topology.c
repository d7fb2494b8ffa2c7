/* SPDX-License-Identifier: Apache-2.0 */
/* Switches: the tree for the planner, and jobs that want to be on few of them (--switches). */
#include "core/state.h"
#include "model/conf.h"
#include "model/job.h"
#include "text/duration.h"

void topology_to_sched(struct core *core, struct arena *arena) {
    const struct conf *conf = core->conf;
    struct sched_switch_spec *specs =
        arena_alloc(arena, (conf->n_switches + 1) * sizeof(struct sched_switch_spec));
    uint32_t *leaf_of = arena_alloc(arena, (core->n_nodes + 1) * sizeof(uint32_t));

    if (conf->n_switches == 0)
        return;
    for (size_t i = 0; i < conf->n_switches; i++)
        specs[i].parent =
            conf->switches[i].parent == CONF_NO_SWITCH ? SCHED_NO_NODE : conf->switches[i].parent;
    for (size_t i = 0; i < core->n_nodes; i++) {
        uint32_t leaf = conf_leaf_of(conf, core->nodes[i].rec.name);
        leaf_of[i] = leaf == CONF_NO_SWITCH ? SCHED_NO_NODE : leaf;
    }
    sched_set_switches(core->sched, specs, conf->n_switches, leaf_of);
}

static void switches_set(struct job *job, uint32_t count, int64_t seconds) {
    struct str text cleanup_str = STR_INIT;

    if (count > 0) {
        str_printf(&text, "%u@", count);
        duration_print_long(seconds, &text);
    }
    string_set(&job->switches, count > 0 ? str_cstr(&text) : NULL);
}

int switches_check(struct core *core, struct job *job, struct reply_error *reply) {
    int64_t most = core->conf->scheduler.max_switch_wait, seconds;
    uint32_t count;

    if (job->switches == NULL)
        return 0;
    if (!switches_parse(job->switches, &count, &seconds))
        return reply_refuse(reply, core, ERR_INVALID,
                            "--switches=%.64s: N or N@TIME is wanted, as 1 or 1@30:00",
                            job->switches);
    switches_set(job, count, seconds < 0 ? most : min_of(seconds, most));
    return 0;
}

int switches_update(struct core *core, struct job *job, const char *value) {
    uint32_t count, old;
    int64_t seconds, old_seconds = -1;

    if (!switches_parse(value, &count, &seconds))
        return -ERR_INVALID;
    if (seconds < 0 && job->switches != NULL && switches_parse(job->switches, &old, &old_seconds))
        seconds = old_seconds;
    switches_set(job, count,
                 seconds < 0 ? (int64_t) core->conf->scheduler.max_switch_wait : seconds);
    job->switches_since = core->now;
    return 0;
}

void spec_switches(const struct job *job, struct sched_job_spec *spec) {
    int64_t seconds, since = job->eligible_time > 0 ? job->eligible_time : job->submit_time;
    uint32_t count;

    job_switches(job, &count, &seconds);
    spec->max_switches = count;
    if (count > 0)
        spec->switches_until = max_of(since, job->switches_since) + seconds;
}
