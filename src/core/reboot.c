/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scontrol reboot: a node is rebooted as soon as nothing runs on it.
 *
 *   REBOOT_REQUESTED → (no job is left) DOWN+REBOOT_ISSUED → (registers after another boot)
 * service, or DOWN with nextstate=DOWN REBOOT_ISSUED      → (ResumeTimeout) DOWN
 *
 * ASAP drains the node meanwhile, else jobs go on to start there. The reason tells how far it is.
 */
#include <string.h>

#include "core/state.h"
#include "model/conf.h"

static const char issued[] = " : reboot issued";

static void reason_append(struct node *rec, const char *what) {
    cleanup_free char *longer = xasprintf("%s%s", rec->reason != NULL ? rec->reason : "", what);
    string_set(&rec->reason, longer);
}

/* Something else than the reboot keeps it out of service, and the reason belongs to that. */
static bool is_out_anyway(const struct node *rec) {
    return ((rec->flags & NODE_FLAG_DRAIN) && !rec->reboot_drained) ||
           (rec->flags & NODE_FLAG_FAIL) || rec->state == NODE_DOWN;
}

static void drop_drain(struct node *rec) {
    rec->flags &= ~(uint32_t) NODE_FLAG_DRAIN;
    rec->reboot_drained = false;
}

/* ---- asking for it ---- */

static void reboot_request(struct core *core, uint32_t index, const struct reboot *request,
                           const struct core_user *user) {
    struct core_node *node = &core->nodes[index];
    struct node *rec = &node->rec;
    const char *reason = request->reason;
    rec->flags |= NODE_FLAG_REBOOT_REQUESTED;
    rec->next_state = request->next_state;
    if (request->asap && request->next_state == NODE_UNKNOWN)
        rec->next_state = NODE_IDLE;
    if (request->asap && !(rec->flags & NODE_FLAG_DRAIN)) {
        rec->flags |= NODE_FLAG_DRAIN;
        rec->reboot_drained = true;
    }
    if (reason == NULL && rec->reason == NULL)
        reason = request->asap ? "Reboot ASAP" : "reboot requested";
    if (reason != NULL) {
        node_set_reason(core, index, reason, user->uid);
        string_set(&rec->reason_user, user->name);
    }
    core->reboots_wanted = core->plan_wanted = true;
    emit_log(core, EFFECT_INFO, "reboot of node %s requested by %s", rec->name, user->name);
    node_update_state(core, index);
    node_touch(core, node);
}

/* Which of them cannot be rebooted; 0 = none. */
static int reboot_check(struct core *core, const struct core_user *user,
                        const struct reboot *request, const uint32_t *nodes, size_t n,
                        struct error *err) {
    if (!core->settings.can_reboot)
        return error_set(err, ERR_NOT_SUPPORTED,
                         "slurm.conf has no RebootProgram, which is what slurmd would run");
    if (request->next_state != NODE_UNKNOWN && request->next_state != NODE_IDLE &&
        request->next_state != NODE_DOWN)
        return error_set(err, ERR_INVALID, "nextstate is RESUME or DOWN");
    for (size_t i = 0; i < n; i++) {
        const struct node *rec = &core->nodes[nodes[i]].rec;
        if (rec->flags & NODE_FLAG_REBOOT_ISSUED)
            return error_set(err, ERR_NODE_STATE, "node %s is being rebooted already", rec->name);
        if (rec->state == NODE_FUTURE)
            return error_set(err, ERR_NODE_STATE, "node %s is in state FUTURE", rec->name);
    }
    return 0;
}

void handle_reboot(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                   void *body) {
    const struct reboot *request = body;
    struct error err = ERROR_INIT;
    uint32_t *nodes = NULL;
    size_t n = 0;
    int r = 0;
    if (!core_is_super(core, user->uid))
        r = error_set(&err, ERR_ACCESS_DENIED, "only administrators may reboot nodes");
    if (r == 0)
        r = nodes_resolve(core, request->nodes != NULL ? request->nodes : "", &core->out->memory,
                          &nodes, &n, &err);
    if (r == 0 && n == 0)
        r = error_set(&err, ERR_INVALID_NODE, "no node is named");
    if (r == 0)
        r = reboot_check(core, user, request, nodes, n, &err);
    if (r < 0) {
        emit_error(core, client, seq, r, err.text);
        return;
    }
    for (size_t i = 0; i < n; i++)
        reboot_request(core, nodes[i], request, user);
    emit_reply(core, client, MSG_OK, 1, seq, NULL);
}

int reboot_cancel(struct core *core, uint32_t index) {
    struct node *rec = &core->nodes[index].rec;
    if (!(rec->flags & NODE_FLAG_REBOOT_REQUESTED))
        return -ERR_NODE_STATE;
    rec->flags &= ~(uint32_t) NODE_FLAG_REBOOT_REQUESTED;
    rec->next_state = NODE_UNKNOWN;
    bool keeps_reason = is_out_anyway(rec);
    if (rec->reboot_drained)
        drop_drain(rec);
    if (!keeps_reason)
        node_set_reason(core, index, NULL, 0);
    return 0;
}

/* ---- carrying it out ---- */

static bool is_ready(const struct core_node *node) {
    return (node->rec.flags & NODE_FLAG_REBOOT_REQUESTED) && node->connected && node->registered &&
           node->n_jobs == 0 && node->unwanted.n == 0 && node->rec.state != NODE_FUTURE;
}

static void reboot_issue(struct core *core, uint32_t index) {
    struct core_node *node = &core->nodes[index];
    node->rec.flags &= ~(uint32_t) NODE_FLAG_REBOOT_REQUESTED;
    node->rec.flags |= NODE_FLAG_REBOOT_ISSUED;
    node->rec.state = NODE_DOWN;
    node->rec.reboot_time = core->now;
    reason_append(&node->rec, issued);
    emit_node(core, index, MSG_NODE_REBOOT, NULL);
    emit_log(core, EFFECT_INFO, "node %s is told to reboot", node->rec.name);
    node_watch(core, index);
    node_update_state(core, index);
    node_touch(core, node);
}

void reboots_run(struct core *core) {
    bool some_wait = false;
    for (uint32_t i = 0; i < core->n_nodes; i++) {
        if (is_ready(&core->nodes[i]))
            reboot_issue(core, i);
        some_wait |= core->nodes[i].rec.flags & NODE_FLAG_REBOOT_REQUESTED;
    }
    core->reboots_wanted = some_wait;
}

/* ---- its end ---- */

bool node_has_rebooted(const struct node *before, const struct node *now) {
    return before->boot_id != NULL && now->boot_id != NULL &&
           !str_equal(before->boot_id, now->boot_id) && now->boot_time >= before->boot_time;
}

static void complete(struct core *core, uint32_t index) {
    struct node *rec = &core->nodes[index].rec;
    if (rec->next_state == NODE_DOWN) {
        drop_drain(rec);
        cleanup_free char *reason =
            xasprintf("%s : reboot complete", rec->reason != NULL ? rec->reason : "");
        node_set_reason(core, index, reason, core->settings.admin_uid);
        return;
    }
    rec->state = NODE_IDLE;
    if (rec->reboot_drained || rec->next_state == NODE_IDLE)
        drop_drain(rec);
    if (!is_out_anyway(rec)) {
        node_set_reason(core, index, NULL, 0);
    } else if (rec->reason != NULL) {
        char *tail = strstr(rec->reason, issued);
        if (tail != NULL)
            *tail = '\0';
    }
}

void reboot_registered(struct core *core, uint32_t index, const struct node *reported) {
    struct core_node *node = &core->nodes[index];
    bool is_back = node_has_rebooted(&node->rec, reported) ||
                   (reported->boot_time > 0 && reported->boot_time > node->rec.reboot_time);
    if (!(node->rec.flags & NODE_FLAG_REBOOT_ISSUED) || !is_back)
        return;
    node->rec.flags &= ~(uint32_t) NODE_FLAG_REBOOT_ISSUED;
    complete(core, index);
    node->rec.reboot_time = 0;
    node->rec.next_state = NODE_UNKNOWN;
    string_set(&node->rec.boot_id, reported->boot_id); /* this one was expected */
    emit_log(core, EFFECT_INFO, "node %s has rebooted", node->rec.name);
    node_touch(core, node);
}

int64_t reboot_deadline(const struct core *core, const struct core_node *node) {
    return node->rec.reboot_time + core->settings.resume_timeout;
}

void reboot_timed_out(struct core *core, uint32_t index) {
    struct node *rec = &core->nodes[index].rec;
    rec->flags &= ~(uint32_t) NODE_FLAG_REBOOT_ISSUED;
    rec->reboot_time = 0;
    rec->next_state = NODE_UNKNOWN;
    if (rec->reboot_drained)
        drop_drain(rec);
    cleanup_free char *reason =
        xasprintf("%s : reboot timed out", rec->reason != NULL ? rec->reason : "");
    node_put_down(core, index, reason, core->settings.admin_uid);
}
