/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Qualities of service, as they are stored. Their names are compared without case. What follows
 * from one is elsewhere: priority.c, preempt_rules.c.
 */
#include <string.h>

#include "core/state.h"

const struct qos *qos_find(const struct core *core, const char *name, uint32_t *ret_index) {
    for (size_t i = 0; name != NULL && i < core->qos.n; i++) {
        if (!str_equal_nocase(core->qos.items[i]->name, name))
            continue;
        *ret_index = (uint32_t) i;
        return core->qos.items[i];
    }
    return NULL;
}

static uint64_t qos_store_id(const struct qos *qos) {
    return hash_bytes(qos->name, strlen(qos->name), 0) >> 1;
}

/* Classes have other numbers now, priorities other shares. */
static void qos_changed(struct core *core) {
    priorities_outdate(core);
    sched_rebuild(core);
    place_jobs_again(core);
}

int core_set_qos(struct core *core, int64_t now, const struct qos *qos, struct effects *out,
                 struct error *err) {
    uint32_t at;

    core->now = now;
    core->out = out;
    if (qos->name == NULL || qos->name[0] == '\0')
        return error_set(err, ERR_INVALID, "a QOS must have a name");
    struct qos *copy = record_dup(&record_qos, qos);
    if (qos_find(core, qos->name, &at) != NULL) {
        record_free(&record_qos, core->qos.items[at]);
        core->qos.items[at] = copy;
    } else {
        vec_push(&core->qos, copy);
    }
    emit_put(core, STORE_QOS, qos_store_id(copy), &record_qos, copy);
    qos_changed(core);
    return 0;
}

int core_remove_qos(struct core *core, int64_t now, const char *name, struct effects *out,
                    struct error *err) {
    uint32_t at;

    core->now = now;
    core->out = out;
    if (qos_find(core, name, &at) == NULL)
        return error_set(err, ERR_NOT_FOUND, "there is no QOS %s", name);
    emit_delete(core, STORE_QOS, qos_store_id(core->qos.items[at]));
    record_free(&record_qos, core->qos.items[at]);
    vec_remove(&core->qos, at);
    qos_changed(core);
    return 0;
}

void qos_restore(struct core *core, struct qos *qos) {
    vec_push(&core->qos, qos);
}

void qos_free_all(struct core *core) {
    vec_each (&core->qos, qos) {
        record_free(&record_qos, *qos);
    }
    vec_done(&core->qos);
}
