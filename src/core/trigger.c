/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be run when something comes about; see trigger.h. */
#include "core/trigger.h"

#include <stdio.h>
#include <string.h>

#include "core/state.h"
#include "text/hostlist.h"

/* Handed to the shell, which has not said yet that it has run the program. */
#define HANDED_OUT INT64_MAX

static void trigger_put(struct core *core, const struct trigger *trigger) {
    emit_put(core, STORE_TRIGGER, trigger->id, &record_trigger, trigger);
}

static void trigger_drop(struct core *core, size_t at) {
    struct trigger *trigger = core->triggers.list.items[at];
    emit_delete(core, STORE_TRIGGER, trigger->id);
    vec_remove(&core->triggers.list, at);
    record_free(&record_trigger, trigger);
}

void trigger_restore(struct core *core, struct trigger *stored) {
    size_t at = core->triggers.list.n;
    vec_push(&core->triggers.list, stored);
    for (; at > 0 && core->triggers.list.items[at - 1]->id > stored->id; at--) {
        core->triggers.list.items[at] = core->triggers.list.items[at - 1];
        core->triggers.list.items[at - 1] = stored;
    }
    core->triggers.last_id = max_of(core->triggers.last_id, stored->id);
    if (stored->due == HANDED_OUT) /* nobody knows whether it was run */
        stored->due = 1;
}

void triggers_free(struct core *core) {
    vec_each (&core->triggers.list, at)
        record_free(&record_trigger, *at);
    vec_done(&core->triggers.list);
}

/* ---- events ---- */

/* "n1,n2", each once: false when it is there. */
static bool argument_add(struct trigger *trigger, const char *word) {
    struct str text cleanup_str = STR_INIT;
    if (str_has_word(trigger->argument, word, ","))
        return false;
    str_append(&text, trigger->argument != NULL ? trigger->argument : "");
    str_join(&text, ",", word);
    string_set(&trigger->argument, str_cstr(&text));
    return true;
}

/* Not of one that is being run: its next event comes after that. */
static void come_about(struct core *core, struct trigger *trigger, const char *argument,
                       int64_t when) {
    if (trigger->due == HANDED_OUT)
        return;
    bool is_new = argument_add(trigger, argument) || trigger->due == 0;
    if (trigger->due == 0)
        trigger->due = when;
    if (is_new)
        trigger_put(core, trigger);
}

static int64_t after_collecting(const struct core *core, const struct trigger *trigger) {
    return core->now + TRIGGER_COLLECT + max_of(trigger->offset, 0);
}

void trigger_note(struct core *core, enum trigger_event event) {
    const struct trigger_row *row = trigger_row_find(event);
    vec_each (&core->triggers.list, at) {
        if ((*at)->event == (uint32_t) event)
            come_about(core, *at, row->name, after_collecting(core, *at));
    }
}

static bool hosts_have(const char *hosts, const char *name) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    if (hostlist_parse(&list, hosts, NULL) < 0)
        return false;
    for (size_t i = 0; i < list.n; i++) {
        if (str_equal(list.names[i], name))
            return true;
    }
    return false;
}

/* Is the node one of those that the trigger is about? */
static bool is_about(const struct core *core, const struct trigger *trigger, uint32_t node) {
    if (trigger->object == TRIGGER_OBJECT_NODE)
        return trigger->nodes == NULL || hosts_have(trigger->nodes, core->nodes[node].rec.name);
    const struct core_job *job =
        trigger->object == TRIGGER_OBJECT_JOB ? job_find(core, trigger->job_id) : NULL;
    for (uint32_t i = 0; job != NULL && i < job->rec.allocation.n; i++) {
        if (job->rec.allocation.items[i].node == node)
            return true;
    }
    return false;
}

/* What of a node's state events are made of: bit per enum trigger_event, and bit 0 that it has been
 * looked at, which is no event: after a start, or with another configuration. */
static uint32_t node_bits(const struct core_node *node) {
    const struct node *rec = &node->rec;
    uint32_t bits = 1;
    if (rec->state == NODE_DOWN)
        bits |= 1u << TRIGGER_DOWN;
    if ((rec->flags & NODE_FLAG_DRAIN) && node->n_jobs == 0 && rec->state != NODE_DOWN)
        bits |= 1u << TRIGGER_DRAINED;
    if (rec->flags & NODE_FLAG_FAIL)
        bits |= 1u << TRIGGER_FAIL;
    return bits;
}

static void node_event(struct core *core, uint32_t node, enum trigger_event event) {
    vec_each (&core->triggers.list, at) {
        if ((*at)->event == (uint32_t) event && is_about(core, *at, node))
            come_about(core, *at, core->nodes[node].rec.name, after_collecting(core, *at));
    }
}

void trigger_note_node(struct core *core, uint32_t node) {
    struct core_node *entry = &core->nodes[node];
    uint32_t now = node_bits(entry), before = entry->trigger_bits;
    entry->trigger_bits = now;
    if (now == before || before == 0 || core->restoring || core->triggers.list.n == 0)
        return;
    for (uint32_t event = TRIGGER_DOWN; event <= TRIGGER_FAIL; event++) {
        if ((now & ~before) >> event & 1)
            node_event(core, node, (enum trigger_event) event);
    }
    if (before & ~now & 1u << TRIGGER_DOWN)
        node_event(core, node, TRIGGER_UP);
    trigger_note(core, TRIGGER_RECONFIG);
}

/* ---- what time brings ---- */

static void earlier(int64_t *next, int64_t when) {
    if (when > 0 && (*next == 0 || when < *next))
        *next = when;
}

static void job_event(struct core *core, struct trigger *trigger, int64_t when) {
    char id[16];
    snprintf(id, sizeof(id), "%u", trigger->job_id);
    come_about(core, trigger, id, max_of(when, core->now));
}

/* False: nothing can come of it any more. */
static bool look_at_job(struct core *core, struct trigger *trigger, int64_t *next) {
    const struct core_job *job = job_find(core, trigger->job_id);
    bool ended = job == NULL || depend_has_ended(job);
    if (trigger->event == TRIGGER_FINI && ended) {
        int64_t end = job != NULL ? job->rec.end_time : core->now;
        job_event(core, trigger, end + trigger->offset);
        return true;
    }
    if (trigger->event == TRIGGER_TIME && !ended && job_has_nodes(job) && job->rec.end_time > 0) {
        int64_t when = job->rec.end_time + trigger->offset;
        if (when <= core->now)
            job_event(core, trigger, core->now);
        else
            earlier(next, when);
    }
    return !ended;
}

/* Nodes that have been idle for so long, and were not yet when it was run last. */
static void look_at_idle(struct core *core, struct trigger *trigger, int64_t *next) {
    for (uint32_t i = 0; i < core->n_nodes; i++) {
        const struct core_node *node = &core->nodes[i];
        bool idle = node->rec.state == NODE_IDLE && node->n_jobs == 0 && node->registered &&
                    !(node->rec.flags & (NODE_FLAG_DRAIN | NODE_FLAG_FAIL));
        if (!idle || !is_about(core, trigger, i))
            continue;
        int64_t since = max_of(node->rec.last_busy, core->boot_time);
        int64_t when = since + max_of(trigger->offset, 0);
        if (trigger->last > 0 && when <= trigger->last)
            continue;
        if (when <= core->now)
            come_about(core, trigger, node->rec.name, core->now + TRIGGER_COLLECT);
        else
            earlier(next, when);
    }
}

/* The list is folded: "n[1-3]". */
static void hand_out(struct core *core, struct trigger *trigger) {
    struct hostlist hosts cleanup_hostlist = HOSTLIST_INIT;
    struct str folded cleanup_str = STR_INIT;
    bool nodes = trigger->event <= TRIGGER_IDLE;
    if (nodes && hostlist_parse(&hosts, trigger->argument, NULL) == 0) {
        hostlist_sort(&hosts);
        hostlist_fold(&hosts, &folded);
        string_set(&trigger->argument, str_cstr(&folded));
    }
    trigger->due = HANDED_OUT;
    trigger_put(core, trigger);
    struct effect *effect = emit(core, EFFECT_TRIGGER);
    effect->id = trigger->id;
    effect->body = effect_encode(core, &record_trigger, trigger);
}

void triggers_run(struct core *core) {
    int64_t next = 0;
    for (size_t i = 0; i < core->triggers.list.n; i++) {
        struct trigger *trigger = core->triggers.list.items[i];
        bool lives = true;
        if (trigger->due == 0 && trigger->object == TRIGGER_OBJECT_JOB)
            lives = look_at_job(core, trigger, &next);
        else if (trigger->event == TRIGGER_IDLE && trigger->due != HANDED_OUT)
            look_at_idle(core, trigger, &next);
        if (trigger->due > 0 && trigger->due <= core->now)
            hand_out(core, trigger);
        else if (trigger->due > 0 && trigger->due != HANDED_OUT)
            earlier(&next, trigger->due);
        else if (!lives)
            trigger_drop(core, i--);
    }
    core->triggers.next = next;
}

void triggers_restored(struct core *core) {
    for (uint32_t i = 0; i < core->n_nodes; i++)
        core->nodes[i].trigger_bits = node_bits(&core->nodes[i]); /* as they were */
    trigger_note(core, TRIGGER_CTLD_RESUMED);
    trigger_note(core, TRIGGER_CTLD_CONTROL);
    core->triggers.next = core->triggers.list.n > 0 ? core->now : 0;
}

static size_t trigger_at(const struct core *core, uint32_t id) {
    for (size_t i = 0; i < core->triggers.list.n; i++) {
        if (core->triggers.list.items[i]->id == id)
            return i;
    }
    return SIZE_MAX;
}

void core_trigger_ran(struct core *core, int64_t now, uint32_t id, struct effects *out) {
    core->now = now;
    core->out = out;
    size_t at = trigger_at(core, id);
    if (at == SIZE_MAX)
        return;
    struct trigger *trigger = core->triggers.list.items[at];
    bool job_is_over = trigger->object == TRIGGER_OBJECT_JOB &&
                       (trigger->event == TRIGGER_FINI || trigger->event == TRIGGER_TIME);
    if (!trigger->permanent || job_is_over) {
        trigger_drop(core, at);
        return;
    }
    trigger->due = 0;
    trigger->last = now;
    string_set(&trigger->argument, NULL);
    trigger_put(core, trigger);
}

void core_event(struct core *core, int64_t now, enum trigger_event event, struct effects *out) {
    core->now = now;
    core->out = out;
    trigger_note(core, event);
}

/* ---- requests ---- */

/* Programs of other users can be run only by a controller that is root. */
static bool may_set(const struct core *core, const struct core_user *user) {
    return user->uid == 0 || user->uid == core->settings.admin_uid ||
           (core->settings.user_triggers && core->settings.admin_uid == 0);
}

static bool is_same(const struct trigger *a, const struct trigger *b) {
    return a->event == b->event && a->object == b->object && a->job_id == b->job_id &&
           str_equal(a->nodes, b->nodes) && a->offset == b->offset && a->uid == b->uid &&
           str_equal(a->program, b->program);
}

static int check_nodes(const struct core *core, const char *nodes, struct error *err) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    int r = hostlist_parse(&list, nodes, err);
    for (size_t i = 0; r == 0 && i < list.n; i++) {
        if (core_node_find(core, list.names[i]) == UINT32_MAX)
            r = error_set(err, ERR_INVALID_NODE, "there is no node %s", list.names[i]);
    }
    return r == 0 ? 0 : -ERR_INVALID_NODE;
}

static int trigger_check(const struct core *core, const struct trigger *wanted, struct error *err) {
    const struct trigger_row *row = trigger_row_find(wanted->event);
    if (row == NULL || names_text(&names_trigger_object, wanted->object) == NULL ||
        wanted->program == NULL || wanted->program[0] != '/')
        return error_set(err, ERR_INVALID, "a trigger needs an event and a program");
    if (wanted->offset > TRIGGER_OFFSET_MAX || wanted->offset < -TRIGGER_OFFSET_MAX)
        return error_set(err, ERR_INVALID, "the offset may be %d seconds", TRIGGER_OFFSET_MAX);
    if (wanted->object == TRIGGER_OBJECT_JOB) {
        const struct core_job *job = job_find(core, wanted->job_id);
        if (job == NULL && array_find(core, wanted->job_id) == NULL)
            return error_set(err, ERR_INVALID_JOB_ID, "there is no job %u", wanted->job_id);
        if (job == NULL || job_state_is_final(job->rec.state))
            return error_set(err, ERR_ALREADY_DONE, "job %u has ended", wanted->job_id);
    }
    if (wanted->object == TRIGGER_OBJECT_NODE && wanted->nodes != NULL) {
        int r = check_nodes(core, wanted->nodes, err);
        if (r < 0)
            return r;
    }
    vec_each (&core->triggers.list, at) {
        if (is_same(*at, wanted))
            return error_set(err, ERR_TRIGGER_DUPLICATE, "trigger %u is the same", (*at)->id);
    }
    size_t n_own = 0;
    vec_each (&core->triggers.list, at)
        n_own += (*at)->uid == wanted->uid;
    if (wanted->uid != 0 && wanted->uid != core->settings.admin_uid && n_own >= TRIGGERS_OF_USER)
        return error_set(err, ERR_LIMIT, "a user may have %d triggers", TRIGGERS_OF_USER);
    if (core->triggers.list.n >= TRIGGERS_MAX)
        return error_set(err, ERR_LIMIT, "there are %d triggers already", TRIGGERS_MAX);
    return 0;
}

void handle_trigger_set(struct core *core, uint64_t client, uint32_t seq,
                        const struct core_user *user, void *body) {
    const struct trigger *request = body;
    struct error err = ERROR_INIT;
    if (core->settings.no_triggers) {
        emit_error(core, client, seq, -ERR_DISABLED,
                   "SlurmctldParameters=disable_triggers lets nobody set triggers");
        return;
    }
    if (!may_set(core, user)) {
        emit_error(core, client, seq, -ERR_ACCESS_DENIED,
                   "triggers are set by root and SlurmUser only: their programs run beside the "
                   "controller; SlurmctldParameters=allow_user_triggers lets all users set them "
                   "where SlurmUser is root");
        return;
    }
    struct trigger *trigger = record_dup(&record_trigger, request);
    trigger->uid = user->uid;
    trigger->gid = user->gid;
    string_set(&trigger->user, user->name);
    string_set(&trigger->argument, NULL);
    trigger->due = trigger->last = 0;
    int r = trigger_check(core, trigger, &err);
    if (r < 0) {
        record_free(&record_trigger, trigger);
        emit_error(core, client, seq, r, err.text);
        return;
    }
    trigger->id = ++core->triggers.last_id;
    vec_push(&core->triggers.list, trigger);
    trigger_put(core, trigger);
    emit_reply(core, client, MSG_OK, 1, seq, NULL);
}

void handle_trigger_list(struct core *core, uint64_t client, uint32_t seq,
                         const struct core_user *user, void *body) {
    struct trigger_list list;
    record_init(&record_trigger_list, &list);
    list.items.n = (uint32_t) core->triggers.list.n;
    list.items.items = arena_alloc(&core->out->memory, (list.items.n + 1) * sizeof(struct trigger));
    for (uint32_t i = 0; i < list.items.n; i++)
        list.items.items[i] = *core->triggers.list.items[i]; /* only encoded */
    emit_reply(core, client, MSG_TRIGGER_LIST, 1, seq, &list);
}

/* By its number, its job, who has set it: what is given. */
static bool is_meant(const struct trigger *trigger, const struct trigger *request) {
    return (request->id == 0 || request->id == trigger->id) &&
           (request->job_id == 0 ||
            (trigger->object == TRIGGER_OBJECT_JOB && request->job_id == trigger->job_id)) &&
           (request->uid == UNSET32 || request->uid == trigger->uid);
}

void handle_trigger_clear(struct core *core, uint64_t client, uint32_t seq,
                          const struct core_user *user, void *body) {
    const struct trigger *request = body;
    size_t n_cleared = 0;
    bool denied = false;
    for (size_t i = core->triggers.list.n; i > 0; i--) {
        const struct trigger *trigger = core->triggers.list.items[i - 1];
        if (!is_meant(trigger, request))
            continue;
        if (user->uid != trigger->uid && user->uid != 0) {
            denied = true;
            continue;
        }
        trigger_drop(core, i - 1);
        n_cleared++;
    }
    if (n_cleared > 0)
        emit_reply(core, client, MSG_OK, 1, seq, NULL);
    else
        emit_error(core, client, seq, denied ? -ERR_ACCESS_DENIED : -ERR_TRIGGER_UNKNOWN, NULL);
}
