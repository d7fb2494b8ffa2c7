/* SPDX-License-Identifier: Apache-2.0 */
/* sbcast and srun --bcast: who may write files on the nodes of a job as its user. */
#include "core/state.h"
#include "text/hostlist.h"

static void add_node(struct core *core, const struct job_node *holder, struct step_layout *layout) {
    const struct node *node = &core->nodes[holder->node].rec;
    struct step_node *entry = &layout->nodes.items[layout->nodes.n++];

    record_init(&record_step_node, entry);
    entry->name = holder->name;
    entry->address = node->address != NULL ? node->address : node->name;
    entry->port = node->port;
}

static struct step_layout *nodes_of(struct core *core, struct core_job *job,
                                    const struct core_step *step) {
    const struct job_node *holders =
        step != NULL ? step->rec.allocation.items : job->rec.allocation.items;
    uint32_t n = step != NULL ? step->rec.allocation.n : job->rec.allocation.n;
    struct step_layout *layout = arena_alloc(&core->out->memory, sizeof(*layout));

    record_init(&record_step_layout, layout);
    layout->job_id = job->rec.job_id;
    layout->step_id = step != NULL ? step->rec.step_id : STEP_BATCH;
    layout->attempt = job->rec.attempt;
    layout->nodes.items = arena_alloc(&core->out->memory, n * sizeof(struct step_node));
    for (uint32_t i = 0; i < n; i++)
        add_node(core, &holders[i], layout);
    return layout;
}

static struct bytes credential_of(struct core *core, const struct core_job *job,
                                  const struct step_layout *layout) {
    struct step_credential cred;

    record_init(&record_step_credential, &cred);
    cred.files = true;
    cred.job_id = layout->job_id;
    cred.step_id = layout->step_id;
    cred.attempt = layout->attempt;
    cred.uid = job->rec.uid;
    cred.gid = job->rec.gid;
    cred.user_name = job->rec.user_name;
    cred.nodes.items = layout->nodes.items;
    cred.nodes.n = layout->nodes.n;
    cred.expires = core->now + core->settings.cred_expire;
    return effect_encode(core, &record_step_credential, &cred);
}

void handle_file_grant(struct core *core, uint64_t client, uint32_t seq,
                       const struct core_user *user, void *body) {
    const struct file_grant *request = body;
    struct error err = ERROR_INIT;
    struct core_job *job = NULL;
    struct core_step *step = NULL;
    job_ptrs jobs = {0};

    if (request->job != NULL && job_select_id(core, request->job, NULL, &jobs) == 0 && jobs.n == 1)
        job = jobs.items[0];
    vec_done(&jobs);
    int r = step_job_check(core, job, user, &err);
    if (r == 0 && request->step_id != UNSET32) {
        step = step_find(job, request->step_id);
        if (step == NULL || job_state_is_final(step->rec.state))
            r = -ERR_INVALID_JOB_ID;
    }
    if (r < 0) {
        emit_error(core, client, seq, r, err.text[0] ? err.text : NULL);
        return;
    }
    struct step_layout *layout = nodes_of(core, job, step);
    step_answer(core, client, seq, layout, credential_of(core, job, layout));
}
