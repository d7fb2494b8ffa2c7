/* SPDX-License-Identifier: Apache-2.0 */
/* Running jobs that give nodes back; see resize.h. */
#include <assert.h>
#include <string.h>

#include "core/state.h"

uint32_t job_nodes_held(const struct job *job) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < job->allocation.n; i++)
        n += !job->allocation.items[i].released;
    return n;
}

bool job_leaves(const struct core_job *job, uint32_t node) {
    for (uint32_t i = 0; i < job->rec.leaving.n; i++) {
        if (job->rec.leaving.items[i].node == node)
            return true;
    }
    return false;
}

/* ---- what is asked for ---- */

static int refuse(struct core *core, const char **ret_why, enum err code, const char *text) {
    *ret_why = text == NULL ? NULL : arena_strdup(&core->out->memory, text);
    return -(int) code;
}

static int may_shrink(struct core *core, const struct core_job *job, const char **ret_why) {
    if (job->rec.scripts & (JOB_SCRIPT_PROLOG | JOB_SCRIPT_NODES))
        return refuse(core, ret_why, ERR_JOB_NOT_PENDING,
                      "the job's nodes are still being made ready for it; try again in a moment");
    return 0;
}

int resize_to_count(struct core *core, const struct core_job *job, const char *value, bool *kept,
                    const char **ret_why) {
    uint64_t wanted;
    uint32_t held = job_nodes_held(&job->rec);
    int r = may_shrink(core, job, ret_why);
    if (r < 0)
        return r;
    if (!str_to_u64(value, &wanted))
        return refuse(core, ret_why, ERR_JOB_NOT_PENDING,
                      "a running job takes the number of nodes that it keeps, as NumNodes=2");
    if (wanted == 0)
        return refuse(core, ret_why, ERR_NODE_COUNT,
                      "a job keeps at least one node; scancel ends it");
    if (wanted > held) {
        cleanup_free char *text = xasprintf(
            "a running job takes no nodes in; it has %u of them (submit a larger one instead)",
            held);
        return refuse(core, ret_why, ERR_NOT_SUPPORTED, text);
    }
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        kept[i] &= !job->rec.allocation.items[i].released && wanted > 0;
        wanted -= kept[i];
    }
    return 0;
}

static const struct job_node *entry_of_node(const struct core_job *job, uint32_t node,
                                            uint32_t *ret_at) {
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        *ret_at = i;
        if (job->rec.allocation.items[i].node == node && !job->rec.allocation.items[i].released)
            return &job->rec.allocation.items[i];
    }
    return NULL;
}

int resize_to_list(struct core *core, const struct core_job *job, const char *value, bool *kept,
                   const char **ret_why) {
    uint32_t *nodes, n_items = job->rec.allocation.n, at = 0;
    size_t n = 0;
    struct error err = ERROR_INIT;
    int r = may_shrink(core, job, ret_why);
    if (r < 0)
        return r;
    if (nodes_resolve(core, value, &core->out->memory, &nodes, &n, &err) < 0 || n == 0)
        return refuse(core, ret_why, ERR_INVALID_NODE, n == 0 && !err.text[0] ? NULL : err.text);
    cleanup_free bool *named = xcalloc(n_items + 1, sizeof(bool));
    for (size_t i = 0; i < n; i++) {
        const char *name = core->nodes[nodes[i]].rec.name;
        if (entry_of_node(job, nodes[i], &at) == NULL) {
            cleanup_free char *text = xasprintf("node %s is not the job's, which has %s and can "
                                                "only give some of them back",
                                                name, job->rec.nodes);
            return refuse(core, ret_why, ERR_INVALID_NODE, text);
        }
        named[at] = true;
    }
    if (job->rec.kind == JOB_KIND_BATCH && !named[0]) {
        cleanup_free char *text =
            xasprintf("the job's script runs on node %s, which it has to keep",
                      job->rec.allocation.items[0].name);
        return refuse(core, ret_why, ERR_INVALID_NODE, text);
    }
    for (uint32_t i = 0; i < n_items; i++)
        kept[i] &= named[i];
    return 0;
}

/* ---- the accounting ---- */

void job_run_of_size(const struct job *job, struct job *ret) {
    *ret = *job;
    if (job->resize_time == 0 || job->state == JOB_PENDING)
        return;
    ret->start_time = job->resize_time;
    if (job->suspend_time > job->resize_time) {
        ret->pre_suspend_seconds -= job->run_before_resize;
    } else {
        ret->suspend_time = 0;
        ret->pre_suspend_seconds = 0;
    }
}

void job_resize_forget(struct job *job) {
    job->resize_time = 0;
    job->run_before_resize = 0;
}

/* Ends the record of the run so far, and begins that of the new size. The steps that have ended go
 * with the former. */
static void begin_segment(struct core *core, struct core_job *job) {
    const int64_t end = job->rec.end_time;
    const int64_t now = max_of(core->now, max_of(job->rec.start_time, job->rec.resize_time));
    usage_run_ends(core, job, now);
    job->rec.end_time = now;
    job_write_resized(core, job);
    job->rec.end_time = end;
    job->rec.run_before_resize = job_run_seconds(&job->rec, now);
    job->rec.resize_time = now;
    job_number_run(core, job);
}

/* ---- giving back ---- */

static void leave(struct core *core, struct core_job *job, struct job_node *entry) {
    struct core_node *node = &core->nodes[entry->node];
    uint32_t n = job->rec.leaving.n;
    job->rec.leaving.items = xreallocarray(job->rec.leaving.items, n + 1, sizeof(*entry));
    job->rec.leaving.items[n] = *entry;
    job->rec.leaving.n = n + 1;
    node->n_completing++;
    node_update_state(core, entry->node);
}

/* Those that are given back are told so; the others move up. */
static void divide(struct core *core, struct core_job *job, const bool *kept) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        struct job_node *entry = &job->rec.allocation.items[i];
        if (kept[i])
            job->rec.allocation.items[n++] = *entry;
        else if (entry->released)
            record_done(&record_job_node, entry);
        else
            leave(core, job, entry);
    }
    job->rec.allocation.n = n;
}

/* Of the nodes that it insisted on, those that it keeps: a requeued one asks for no others. */
static void required_nodes(struct core_job *job) {
    struct hostlist wanted cleanup_hostlist = HOSTLIST_INIT, kept cleanup_hostlist = HOSTLIST_INIT;
    struct str folded cleanup_str = STR_INIT;
    if (job->rec.req_nodes == NULL || hostlist_parse(&wanted, job->rec.req_nodes, NULL) < 0)
        return;
    for (size_t k = 0; k < wanted.n; k++) {
        for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
            if (str_equal(job->rec.allocation.items[i].name, wanted.names[k]))
                hostlist_push(&kept, wanted.names[k]);
        }
    }
    hostlist_fold(&kept, &folded);
    string_set(&job->rec.req_nodes, folded.length > 0 ? folded.data : NULL);
}

void job_shrink(struct core *core, struct core_job *job, const bool *kept) {
    const uint32_t before = job_nodes_held(&job->rec);
    uint32_t after = 0;
    assert(job_has_nodes(job));
    for (uint32_t i = 0; i < job->rec.allocation.n; i++)
        after += kept[i] && !job->rec.allocation.items[i].released;
    assert(after > 0);
    if (after == before)
        return;
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        if (!kept[i])
            job_terminate_node(core, job, job->rec.allocation.items[i].node);
    }
    begin_segment(core, job);
    divide(core, job, kept);
    job->rec.min_nodes = job->rec.max_nodes = after;
    required_nodes(job);
    job_sum_allocation(core, job);
    if (job->rec.ntasks > 0) /* what was asked for stays so */
        job->rec.ntasks_total = job->rec.ntasks;
    if (job->rec.state == JOB_RUNNING)
        usage_run_begins(core, job);
    emit_log(core, EFFECT_INFO, "job %u keeps %u of %u nodes: %s", job->rec.job_id, after, before,
             job->rec.nodes);
    job_tell_database(core, job);
    steps_wake(core, job);
    job_touch(core, job);
}

void job_leaving_clean(struct core *core, struct core_job *job, uint32_t node) {
    for (uint32_t i = 0; i < job->rec.leaving.n; i++) {
        struct job_node *entry = &job->rec.leaving.items[i];
        if (entry->node != node)
            continue;
        job_entry_give_back(core, job, entry, true);
        record_done(&record_job_node, entry);
        job->rec.leaving.n--;
        memmove(entry, entry + 1, (job->rec.leaving.n - i) * sizeof(*entry));
        return;
    }
}
