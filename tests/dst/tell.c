/* SPDX-License-Identifier: Apache-2.0 */
#include "tell.h"

#include <stdio.h>

static void tell_time(const struct sim_cluster *cluster) {
    printf("%.6f ", (double) (cluster->usec % (1000000 * SIM_SECOND)) / 1e6);
}

static void tell_job(struct bytes body) {
    struct arena arena;
    struct job job;
    arena_init(&arena, 0);
    if (wire_decode(&record_job, body, &arena, &job, NULL) == 0) {
        printf("job %u %s prio %u dep %s attempt %u start %lld end %lld nodes %s", job.job_id,
               job_state_text((enum job_state) job.state, job.flags), job.priority,
               job.dependency != NULL ? job.dependency : "-", job.attempt,
               (long long) job.start_time, (long long) job.end_time,
               job.nodes != NULL ? job.nodes : "-");
        for (uint32_t i = 0; i < job.allocation.n; i++)
            printf(" %s:%s%s%s%s", job.allocation.items[i].name, job.allocation.items[i].cores,
                   job.allocation.items[i].gres != NULL ? "+" : "",
                   job.allocation.items[i].gres != NULL ? job.allocation.items[i].gres : "",
                   job.allocation.items[i].released ? " released" : "");
    }
    arena_done(&arena);
}

static void tell_node(struct bytes body) {
    struct arena arena;
    struct node node;
    arena_init(&arena, 0);
    if (wire_decode(&record_node, body, &arena, &node, NULL) == 0)
        printf("node %s state %u flags %x %s", node.name, node.state, node.flags,
               node.reason != NULL ? node.reason : "");
    arena_done(&arena);
}

static void tell_effect(const struct effect *effect) {
    switch (effect->kind) {
    case EFFECT_PUT:
        printf("put %u/%llx ", effect->store_kind, (unsigned long long) effect->id);
        if (effect->store_kind == STORE_JOB)
            tell_job(effect->body);
        else if (effect->store_kind == STORE_NODE)
            tell_node(effect->body);
        break;
    case EFFECT_DELETE:
        printf("delete %u/%llx", effect->store_kind, (unsigned long long) effect->id);
        break;
    case EFFECT_HISTORY:
        printf("history of %u state %u%s", effect->history.job_id, effect->history.state,
               effect->history.kind == HISTORY_SUPERSEDED ? " superseded" : "");
        break;
    case EFFECT_REPLY:
    case EFFECT_GRANT:
        printf("to client %llu: %s", (unsigned long long) effect->client,
               message_name(effect->type));
        break;
    case EFFECT_NODE:
        printf("to node %u: %s", effect->node, message_name(effect->type));
        break;
    case EFFECT_LAUNCH:
        printf("to node %u: launch of %u", effect->node, effect->history.job_id);
        break;
    case EFFECT_LOG:
        printf("log: %s", effect->text);
        break;
    default:
        printf("effect %d", (int) effect->kind);
        break;
    }
}

void tell_turn(const struct sim_cluster *cluster, const struct effects *batch) {
    for (size_t i = 0; i < batch->list.n; i++) {
        tell_time(cluster);
        tell_effect(&batch->list.items[i]);
        printf("\n");
    }
}

void tell_process(const struct sim_cluster *cluster, uint32_t node, const struct step_ref *step,
                  enum sim_process what) {
    static const char *const words[] = {"begin", "stop", "go on", "end"};
    tell_time(cluster);
    printf("processes of %u.%u attempt %u on node %u %s\n", step->job_id, step->step_id,
           step->attempt, node, words[what]);
}

void tell(const struct sim_cluster *cluster, const char *text) {
    tell_time(cluster);
    printf("%s\n", text);
}
