/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meeting point of the MPI servers on the nodes. What nodes send under one tag is kept until
 * all that take part have sent, then all of it goes to each of them; what is meant for one node is
 * passed on.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/srun.h"

struct gathering {
    struct list link;
    char *tag;
    bool *wanted; /* by node */
    struct str *parts;
    bool *has_sent;
    size_t n_wanted, n_sent;
};

static struct gathering *gathering_find(struct srun *srun, const char *tag) {
    list_each (&srun->gatherings, at) {
        struct gathering *gathering = list_entry(at, struct gathering, link);
        if (str_equal(gathering->tag, tag))
            return gathering;
    }
    return NULL;
}

/* `nodes` names those that take part; none: all. */
static struct gathering *gathering_new(struct srun *srun, const char *tag,
                                       const struct u32s *nodes) {
    struct gathering *gathering = zalloc(struct gathering);

    gathering->tag = xstrdup(tag);
    gathering->wanted = xcalloc(srun->n_nodes, sizeof(bool));
    gathering->parts = xcalloc(srun->n_nodes, sizeof(struct str));
    gathering->has_sent = xcalloc(srun->n_nodes, sizeof(bool));
    for (uint32_t i = 0; i < nodes->n; i++) {
        if (nodes->items[i] < srun->n_nodes)
            gathering->wanted[nodes->items[i]] = true;
    }
    for (size_t i = 0; i < srun->n_nodes; i++) {
        gathering->wanted[i] |= nodes->n == 0;
        gathering->n_wanted += gathering->wanted[i];
    }
    list_append(&srun->gatherings, &gathering->link);
    return gathering;
}

static void gathering_free(struct srun *srun, struct gathering *gathering) {
    list_remove(&gathering->link);
    for (size_t i = 0; i < srun->n_nodes; i++)
        str_done(&gathering->parts[i]);
    free(gathering->parts);
    free(gathering->has_sent);
    free(gathering->wanted);
    free(gathering->tag);
    free(gathering);
}

static void gathering_answer(struct srun *srun, const struct gathering *gathering) {
    struct step_exchange answer;

    record_init(&record_step_exchange, &answer);
    answer.tag = gathering->tag;
    answer.parts.items = xcalloc(srun->n_nodes, sizeof(struct step_part));
    for (size_t i = 0; i < srun->n_nodes; i++) {
        if (!gathering->wanted[i])
            continue;
        struct step_part *part = &answer.parts.items[answer.parts.n++];
        record_init(&record_step_part, part);
        part->node = (uint32_t) i;
        part->data =
            (struct blob) {(uint8_t *) gathering->parts[i].data, gathering->parts[i].length};
    }
    for (size_t i = 0; i < srun->n_nodes; i++) {
        if (gathering->wanted[i])
            srun_send(&srun->nodes[i], MSG_STEP_EXCHANGE, &answer);
    }
    free(answer.parts.items);
}

void srun_exchange(struct srun_node *node, const struct step_exchange *exchange) {
    struct srun *srun = node->srun;
    size_t from = (size_t) (node - srun->nodes);

    if (exchange->abort) {
        if (!srun->terminating) {
            cli_error(&srun->cli, "%s: %s", node->layout->name,
                      exchange->message ? exchange->message : "the program has asked for its end");
            srun_terminate(srun, true, "");
        }
        return;
    }
    if (exchange->to != UNSET32) {
        struct step_exchange passed = *exchange;
        passed.from = (uint32_t) from;
        if (exchange->to < srun->n_nodes)
            srun_send(&srun->nodes[exchange->to], MSG_STEP_EXCHANGE, &passed);
        return;
    }
    if (!exchange->tag || exchange->parts.n != 1)
        return;
    struct gathering *gathering = gathering_find(srun, exchange->tag);
    if (!gathering)
        gathering = gathering_new(srun, exchange->tag, &exchange->nodes);
    if (!gathering->wanted[from] || gathering->has_sent[from])
        return;
    const struct blob *data = &exchange->parts.items[0].data;
    gathering->has_sent[from] = true;
    str_append_bytes(&gathering->parts[from], data->data, data->size);
    if (++gathering->n_sent == gathering->n_wanted) {
        gathering_answer(srun, gathering);
        gathering_free(srun, gathering);
    }
}
