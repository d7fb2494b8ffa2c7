/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nodes find wrong with themselves. A problem drains its node, which never comes back by
 * itself; whoever resumes it is told when the problem is still there, after the node has looked
 * once more. When HealthCheckProgram is due on which nodes is decided here, too.
 */
#include <string.h>

#include "core/state.h"
#include "model/conf.h"

/* Seconds for a node to look again before whoever resumes it gets an answer. */
#define RESUME_PATIENCE 5

void node_problem(struct core *core, uint32_t index, const char *problem) {
    struct core_node *node = &core->nodes[index];
    bool is_known = str_equal(node->rec.problem, problem);
    if (is_known && (node->rec.flags & NODE_FLAG_DRAIN))
        return; /* every heartbeat says it, and somebody may have worded the reason anew */
    if (!is_known) {
        string_set(&node->rec.problem, problem);
        node_touch(core, node);
    }
    cleanup_free char *text = xstrdup_null(problem);
    for (char *part = text, *next; part != NULL; part = next) {
        next = strstr(part, "; ");
        if (next != NULL) {
            *next = '\0';
            next += strlen("; ");
        }
        node_drain(core, index, part, core->settings.admin_uid);
    }
}

/* ---- resuming ---- */

struct resume {
    uint64_t client;
    uint32_t seq;
    bool unanswered; /* the request has not failed: there is an answer to give */
    size_t n_left;   /* nodes that look, and the request itself while it is worked off */
    vec(char *) infos;
};

struct resume *resume_new(uint64_t client, uint32_t seq) {
    struct resume *resume = zalloc(struct resume);
    resume->client = client;
    resume->seq = seq;
    resume->unanswered = true;
    resume->n_left = 1;
    return resume;
}

static void resume_free(struct resume *resume) {
    vec_each (&resume->infos, info)
        free(*info);
    vec_done(&resume->infos);
    free(resume);
}

/* One less to wait for; the last one gives the answer. */
static void resume_part_done(struct core *core, struct resume *resume) {
    if (--resume->n_left > 0)
        return;
    if (resume->unanswered) {
        struct nodes_updated reply = {.infos = {resume->infos.items, (uint32_t) resume->infos.n}};
        emit_reply(core, resume->client, MSG_NODES_UPDATED, 1, resume->seq, &reply);
    }
    resume_free(resume);
}

void resume_end(struct core *core, struct resume *resume, bool failed) {
    if (failed)
        resume->unanswered = false;
    resume_part_done(core, resume);
}

void resume_node(struct core *core, uint32_t index, struct resume *resume) {
    struct core_node *node = &core->nodes[index];
    struct node_check check = {.now = true, .program = core->settings.health_interval > 0};
    if (!node->connected)
        return;
    emit_node(core, index, MSG_NODE_CHECK, &check);
    if (node->rec.problem == NULL)
        return;
    resume_node_done(core, index, NULL);
    node->resume = resume;
    node->resume_due = core->now + RESUME_PATIENCE;
    resume->n_left++;
    node_watch(core, index);
}

void resume_node_done(struct core *core, uint32_t index, const char *info) {
    struct core_node *node = &core->nodes[index];
    struct resume *resume = take(node->resume);
    if (resume == NULL)
        return;
    node_watch(core, index);
    node_update_state(core, index);
    core->plan_wanted = true;
    if (info != NULL)
        vec_push(&resume->infos, xstrdup(info));
    resume_part_done(core, resume);
}

void resume_checked(struct core *core, uint32_t index) {
    const struct node *rec = &core->nodes[index].rec;
    if (rec->problem == NULL) {
        resume_node_done(core, index, NULL);
        return;
    }
    cleanup_free char *info = xasprintf(
        "node %s is drained again, because its check still fails: %s", rec->name, rec->problem);
    resume_node_done(core, index, info);
}

void resume_given_up(struct core *core, uint32_t index) {
    const struct node *rec = &core->nodes[index].rec;
    cleanup_free char *info =
        rec->problem != NULL
            ? xasprintf("node %s is resumed, but has not said whether this is mended: %s",
                        rec->name, rec->problem)
            : NULL;
    resume_node_done(core, index, info);
}

void resume_leave(struct core *core, struct core_node *node) {
    struct resume *resume = take(node->resume);
    if (resume != NULL)
        resume_part_done(core, resume);
}

/* The core ends: nobody is answered any more. */
void resume_forget(struct core_node *node) {
    struct resume *resume = take(node->resume);
    if (resume != NULL && --resume->n_left == 0)
        resume_free(resume);
}

/* ---- HealthCheckProgram ---- */

static bool wants_program(const struct core *core, const struct core_node *node) {
    uint64_t states = core->settings.health_states;
    bool any = (states & CONF_HEALTH_ANY) || (states & ~(uint64_t) CONF_HEALTH_CYCLE) == 0;
    if (!node->connected || !node->registered || (node->rec.flags & NODE_FLAG_REBOOT_ISSUED))
        return false;
    if (states & (CONF_HEALTH_START_ONLY | CONF_HEALTH_REBOOT_ONLY))
        return false;
    return any || ((states & CONF_HEALTH_ALLOC) && node->rec.state == NODE_ALLOCATED) ||
           ((states & CONF_HEALTH_MIXED) && node->rec.state == NODE_MIXED) ||
           ((states & CONF_HEALTH_IDLE) && node->rec.state == NODE_IDLE) ||
           ((states & CONF_HEALTH_NONDRAINED_IDLE) && node->rec.state == NODE_IDLE &&
            !(node->rec.flags & NODE_FLAG_DRAIN));
}

/* When the node's turn is in this round: with CYCLE they are spread over the interval. */
static int64_t turn_of(const struct core *core, size_t index) {
    if (!(core->settings.health_states & CONF_HEALTH_CYCLE))
        return core->health_round;
    return core->health_round +
           core->settings.health_interval * (int64_t) index / (int64_t) core->n_nodes;
}

void health_settings(struct core *core) {
    core->health_at = 0;
    core->health_round = core->now + core->settings.health_interval;
    core->health_next =
        core->settings.health_interval > 0 && core->n_nodes > 0 ? core->health_round : 0;
}

void health_tick(struct core *core) {
    const struct node_check check = {.program = true};
    while (turn_of(core, core->health_at) <= core->now) {
        if (wants_program(core, &core->nodes[core->health_at]))
            emit_node(core, (uint32_t) core->health_at, MSG_NODE_CHECK, &check);
        if (++core->health_at == core->n_nodes) {
            core->health_at = 0;
            core->health_round =
                max_of(core->health_round, core->now) + core->settings.health_interval;
        }
    }
    core->health_next = turn_of(core, core->health_at);
}
