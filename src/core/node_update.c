/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What administrators change of nodes: states, reasons, weights, features.
 */
#include <string.h>

#include "core/state.h"

/* ---- states ---- */

struct node_verb {
    const char *state;
    bool needs_reason;
    bool resumes;      /* the node is to look whether the cause is mended */
    const char *unfit; /* what a node is that cannot have it: -ERR_NODE_STATE of fn */
    int (*fn)(struct core *core, uint32_t node, const char *reason, uint32_t uid);
};

static int state_drain(struct core *core, uint32_t node, const char *reason, uint32_t uid) {
    node_drain(core, node, reason, uid);
    node_set_reason(core, node, reason, uid);
    return 0;
}

static int state_down(struct core *core, uint32_t node, const char *reason, uint32_t uid) {
    node_put_down(core, node, reason, uid);
    return 0;
}

static int state_fail(struct core *core, uint32_t node, const char *reason, uint32_t uid) {
    core->nodes[node].rec.flags |= NODE_FLAG_FAIL;
    node_set_reason(core, node, reason, uid);
    return 0;
}

static int state_resume(struct core *core, uint32_t index, const char *reason, uint32_t uid) {
    struct core_node *node = &core->nodes[index];
    const uint32_t away = NODE_FLAG_DRAIN | NODE_FLAG_FAIL | NODE_FLAG_REBOOT_ISSUED |
                          NODE_FLAG_REBOOT_REQUESTED | NODE_FLAG_POWERING_DOWN;
    if (node->rec.flags & NODE_FLAG_INVALID_REG)
        return -ERR_NODE_CONFIG; /* the cause persists */
    if (!(node->rec.flags & away) && node->rec.state != NODE_DOWN)
        return -ERR_NODE_STATE;
    node->rec.flags &= ~away;
    node->rec.reboot_drained = false;
    node->rec.reboot_time = 0;
    node->rec.next_state = NODE_UNKNOWN;
    if (node->rec.state == NODE_DOWN)
        node->rec.state = node->registered ? NODE_IDLE : NODE_UNKNOWN;
    if (!node->connected)
        node->rec.flags |= NODE_FLAG_NOT_RESPONDING;
    node_set_reason(core, index, NULL, 0);
    node_watch(core, index);
    return 0;
}

/* As RESUME; who is in service already is what is asked for. */
static int state_idle(struct core *core, uint32_t index, const char *reason, uint32_t uid) {
    int r = state_resume(core, index, reason, uid);
    return r == -ERR_NODE_STATE ? 0 : r;
}

static int state_undrain(struct core *core, uint32_t index, const char *reason, uint32_t uid) {
    if (!(core->nodes[index].rec.flags & NODE_FLAG_DRAIN))
        return -ERR_NODE_STATE;
    core->nodes[index].rec.flags &= ~(uint32_t) NODE_FLAG_DRAIN;
    node_set_reason(core, index, NULL, 0);
    return 0;
}

static int state_no_resp(struct core *core, uint32_t index, const char *reason, uint32_t uid) {
    core->nodes[index].rec.flags |= NODE_FLAG_NOT_RESPONDING;
    return 0;
}

static int state_future(struct core *core, uint32_t index, const char *reason, uint32_t uid) {
    if (core->nodes[index].n_jobs > 0)
        return -ERR_NODE_STATE;
    core->nodes[index].rec.state = NODE_FUTURE;
    return 0;
}

static int state_cancel_reboot(struct core *core, uint32_t index, const char *reason,
                               uint32_t uid) {
    return reboot_cancel(core, index);
}

static const struct node_verb node_verbs[] = {
    {"DRAIN", true, false, NULL, state_drain},
    {"DOWN", true, false, NULL, state_down},
    {"FAIL", true, false, NULL, state_fail},
    {"RESUME", false, true, "in service already", state_resume},
    {"IDLE", false, true, NULL, state_idle},
    {"UNDRAIN", false, true, "not drained", state_undrain},
    {"NoResp", false, false, NULL, state_no_resp},
    {"FUTURE", false, false, "not free of jobs", state_future},
    {"CANCEL_REBOOT", false, false, "not waiting for a reboot", state_cancel_reboot},
};

static const struct node_verb *verb_find(const char *state) {
    for (size_t i = 0; i < countof(node_verbs); i++) {
        if (str_equal_nocase(node_verbs[i].state, state))
            return &node_verbs[i];
    }
    return NULL;
}

static int unknown_state(const char *state, struct error *err) {
    struct str known cleanup_str = STR_INIT;
    for (size_t i = 0; i < countof(node_verbs); i++)
        str_join(&known, ", ", node_verbs[i].state);
    return error_set(err, ERR_INVALID, "unknown node state %s; known are %s", state, known.data);
}

static int refusal(struct core *core, uint32_t index, const struct node_verb *verb, int code,
                   struct error *err) {
    const struct node *rec = &core->nodes[index].rec;
    if (code == -ERR_NODE_CONFIG)
        return error_set(
            err, ERR_NODE_STATE,
            "node %s is still less than slurm.conf says (%s): mend it or its line, and "
            "restart slurmd there",
            rec->name, rec->reason != NULL ? rec->reason : "no reason is known");
    return error_set(err, (enum err) - code, "State=%s: node %s is %s", verb->state, rec->name,
                     verb->unfit);
}

static int set_node_state(struct core *core, uint32_t node, const char *state, const char *reason,
                          uint32_t uid, struct error *err) {
    const struct node_verb *verb = verb_find(state);
    if (verb == NULL)
        return unknown_state(state, err);
    if (verb->needs_reason && (reason == NULL || reason[0] == '\0'))
        return error_set(err, ERR_INVALID,
                         "You must specify a reason when DOWNING or DRAINING "
                         "a node. Request denied");
    int r = verb->fn(core, node, reason, uid);
    return r < 0 ? refusal(core, node, verb, r, err) : 0;
}

/* ---- other keys ---- */

static int set_comment(struct node *rec, const char *value, struct error *err) {
    string_set(&rec->comment, value[0] != '\0' ? value : NULL);
    return 0;
}

static int set_extra(struct node *rec, const char *value, struct error *err) {
    string_set(&rec->extra, value[0] != '\0' ? value : NULL);
    return 0;
}

static int set_weight(struct node *rec, const char *value, struct error *err) {
    uint64_t weight;
    if (!str_to_u64(value, &weight) || weight > UINT32_MAX - 2)
        return error_set(err, ERR_INVALID, "Weight=%s is not a number from 0 to %u", value,
                         UINT32_MAX - 2);
    rec->weight = (uint32_t) weight;
    return 0;
}

static int set_features(struct node *rec, const char *value, struct error *err) {
    string_set(&rec->features, value[0] != '\0' ? value : NULL);
    string_set(&rec->active_features, value[0] != '\0' ? value : NULL);
    return 0;
}

static int set_active_features(struct node *rec, const char *value, struct error *err) {
    words_each (value, ",", word) {
        if (!str_has_word(rec->features, word, ","))
            return error_set(err, ERR_ACTIVE_FEATURES, "node %s has %s available, not %s",
                             rec->name, rec->features != NULL ? rec->features : "no features",
                             word);
    }
    string_set(&rec->active_features, value[0] != '\0' ? value : NULL);
    return 0;
}

/* A name may be cut short to as many letters as `least` says. Without a function: what belongs to
 * a change of the state. */
struct node_key {
    const char *name;
    uint8_t least;
    bool planned; /* the planner must see the node anew */
    int (*set)(struct node *rec, const char *value, struct error *err);
};

static const struct node_key node_keys[] = {
    {"State", 1, false, NULL},
    {"Reason", 1, false, NULL},
    {"Weight", 1, true, set_weight},
    {"Features", 1, true, set_features},
    {"AvailableFeatures", 3, true, set_features},
    {"ActiveFeatures", 3, true, set_active_features},
    {"Comment", 2, false, set_comment},
    {"Extra", 1, false, set_extra},
};

static const struct node_key *node_key_find(const char *name) {
    for (size_t i = 0; name != NULL && i < countof(node_keys); i++) {
        if (str_abbreviates(name, strlen(name), node_keys[i].name, node_keys[i].least))
            return &node_keys[i];
    }
    return NULL;
}

static bool is_key(const struct key_value *change, const char *name) {
    const struct node_key *key = node_key_find(change->key);
    return key != NULL && str_equal(key->name, name);
}

/* *ret_planned: the planner must see the node anew. */
static int set_node_key(struct core *core, uint32_t index, const struct key_value *change,
                        bool *ret_planned, struct error *err) {
    const struct node_key *key = node_key_find(change->key);
    if (key == NULL)
        return error_set(err, ERR_UPDATE_KEY, "%s", change->key);
    int r = key->set == NULL ? 0
                             : key->set(&core->nodes[index].rec,
                                        change->value != NULL ? change->value : "", err);
    if (r == 0)
        *ret_planned |= key->planned;
    return r;
}

/* ---- requests ---- */

/* What a request changes of nodes. */
struct changes {
    const struct core_user *user;
    const struct update *request;
    const char *state, *reason; /* NULL = not given */
    struct resume *resume;
    bool planned; /* the planner must see the nodes anew */
};

static int change_node(struct core *core, uint32_t index, struct changes *changes,
                       struct error *err) {
    struct core_node *node = &core->nodes[index];
    const struct update *request = changes->request;
    int result = 0;
    for (uint32_t i = 0; i < request->changes.n; i++) {
        const struct key_value *change = &request->changes.items[i];
        int r = is_key(change, "State") ? set_node_state(core, index, changes->state,
                                                         changes->reason, changes->user->uid, err)
                                        : set_node_key(core, index, change, &changes->planned, err);
        result = r < 0 ? r : result;
    }
    bool is_away =
        node->rec.state == NODE_DOWN || (node->rec.flags & (NODE_FLAG_DRAIN | NODE_FLAG_FAIL)) != 0;
    if (changes->state == NULL && changes->reason != NULL &&
        (changes->reason[0] != '\0' || !is_away)) /* who is out of service has one */
        node_set_reason(core, index, changes->reason[0] != '\0' ? changes->reason : NULL,
                        changes->user->uid);
    if (changes->reason != NULL && node->rec.reason != NULL)
        string_set(&node->rec.reason_user, changes->user->name);
    if (result == 0 && changes->state != NULL && verb_find(changes->state)->resumes)
        resume_node(core, index, changes->resume);
    node_update_state(core, index);
    node_touch(core, node);
    return result;
}

static int change_nodes(struct core *core, struct changes *changes, struct error *err) {
    const struct update *request = changes->request;
    uint32_t *nodes;
    size_t n;
    if (!core_is_super(core, changes->user->uid))
        return error_set(err, ERR_USER_ID, "only administrators may change nodes");
    int r = nodes_resolve(core, request->target != NULL ? request->target : "", &core->out->memory,
                          &nodes, &n, err);
    if (r < 0)
        return r;
    if (n == 0)
        return error_set(err, ERR_INVALID_NODE, "no node is named");
    for (uint32_t i = 0; i < request->changes.n; i++) {
        const char *value = request->changes.items[i].value;
        if (is_key(&request->changes.items[i], "State"))
            changes->state = value != NULL ? value : "";
        else if (is_key(&request->changes.items[i], "Reason"))
            changes->reason = value;
    }
    int result = 0;
    for (size_t k = 0; k < n; k++) {
        r = change_node(core, nodes[k], changes, err);
        result = r < 0 ? r : result;
    }
    if (changes->planned)
        nodes_changed(core);
    core->plan_wanted = true;
    return result;
}

void update_nodes(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                  const struct update *request) {
    struct error err = ERROR_INIT;
    struct changes changes = {.user = user, .request = request, .resume = resume_new(client, seq)};
    int r = change_nodes(core, &changes, &err);
    if (r < 0)
        emit_error(core, client, seq, r, err.text);
    resume_end(core, changes.resume, r < 0);
}
