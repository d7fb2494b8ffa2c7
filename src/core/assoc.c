/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book of accounts, users, associations and QOS in the core: sacctmgr's requests, storing what
 * they change, and what follows for jobs. The book itself is assoc/assoc.h.
 */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "model/conf.h"

static const uint32_t store_kinds[ASSOC_KINDS] = {
    [ASSOC_ACCOUNT] = STORE_ACCOUNT,
    [ASSOC_USER] = STORE_ACCT_USER,
    [ASSOC_ASSOC] = STORE_ASSOC,
    [ASSOC_QOS] = STORE_QOS,
};

uint32_t assoc_kind_of_store(uint32_t store_kind) {
    for (uint32_t kind = 1; kind < ASSOC_KINDS; kind++) {
        if (store_kinds[kind] == store_kind)
            return kind;
    }
    return 0;
}

const struct qos *qos_find(const struct core *core, const char *name, uint32_t *ret_index) {
    for (uint32_t i = 0; name != NULL && i < qos_count(core); i++) {
        if (!str_equal_nocase(qos_at(core, i)->name, name))
            continue;
        *ret_index = i;
        return qos_at(core, i);
    }
    return NULL;
}

/* ---- administrators ---- */

/* Requests carry uids, the book has names: who has asked anything is known by both. */
void core_meet(struct core *core, const struct core_user *user) {
    const struct acct_user *entry = acct_user_find(&core->book, user->name);
    uintptr_t level = entry != NULL ? entry->admin_level : ADMIN_NONE;
    if (level == ADMIN_NONE)
        map_remove(&core->admins, user->uid);
    else
        map_put(&core->admins, user->uid, (void *) level);
}

static uint32_t admin_level(const struct core *core, uint32_t uid) {
    return (uint32_t) (uintptr_t) map_get(&core->admins, uid);
}

bool core_is_admin(const struct core *core, uint32_t uid) {
    return core_is_super(core, uid) || admin_level(core, uid) >= ADMIN_OPERATOR;
}

bool core_is_super(const struct core *core, uint32_t uid) {
    return uid == 0 || uid == core->settings.admin_uid ||
           admin_level(core, uid) == ADMIN_ADMINISTRATOR;
}

static struct assoc_asker asker_of(const struct core *core, const struct core_user *user) {
    return (struct assoc_asker) {
        .name = user->name, .is_root = user->uid == 0 || user->uid == core->settings.admin_uid};
}

/* ---- changes ---- */

static bool goes(const struct map *going, const void *record) {
    return record != NULL && map_get(going, (uintptr_t) record) != NULL;
}

/* Does the job count on something that goes: its QOS, its association in one of its partitions? */
static bool job_loses(const struct core *core, const struct job *job, const struct map *going) {
    if (goes(going, book_qos_find(&core->book, job->qos)))
        return true;
    words_each (job->partition, ",", partition) {
        if (goes(going, assoc_of_job(&core->book, job->account, job->user_name, partition)))
            return true;
    }
    return false;
}

static const struct job *job_that_loses(struct core *core, const struct assoc_plan *plan) {
    const struct job *found = NULL;
    struct map going = MAP_INIT;
    vec_each (&plan->edits, edit) {
        bool counts = edit->kind == ASSOC_QOS || edit->kind == ASSOC_ASSOC;
        if (counts && edit->next == NULL && edit->at != SIZE_MAX) {
            void *record = core->book.entries[edit->kind].items[edit->at];
            map_put(&going, (uintptr_t) record, record);
        }
    }
    jobs_each (core, job) {
        if (found == NULL && going.n > 0 && !job_state_is_final(job->rec.state) &&
            job_loses(core, &job->rec, &going))
            found = &job->rec;
    }
    map_done(&going);
    return found;
}

static int check_unused(struct core *core, const struct assoc_plan *plan, struct error *err) {
    const struct job *job = job_that_loses(core, plan);
    if (job == NULL)
        return 0;
    struct str id cleanup_str = STR_INIT;
    job_id_print(job, 0, &id);
    return error_set(err, ERR_BUSY,
                     " Error with request: Job(s) active, cancel job(s) before remove\n"
                     "  JobID = %s U = %s A = %s QOS = %s",
                     str_cstr(&id), job->user_name, job->account != NULL ? job->account : "none",
                     job->qos);
}

static void on_edit(void *context, uint32_t kind, const void *old, const void *next) {
    struct core *core = context;
    if (next != NULL)
        emit_put(core, store_kinds[kind], assoc_store_id(kind, next), assoc_record(kind), next);
    else
        emit_delete(core, store_kinds[kind], assoc_store_id(kind, old));
}

/* Classes of preemption have other numbers now, priorities other shares. */
static void book_changed(struct core *core) {
    map_clear(&core->admins);
    priorities_outdate(core);
    sched_rebuild(core);
    place_jobs_again(core);
    core->plan_wanted = true;
}

void handle_assoc_change(struct core *core, uint64_t client, uint32_t seq,
                         const struct core_user *user, void *body) {
    const struct assoc_change *change = body;
    struct assoc_asker asker = asker_of(core, user);
    struct assoc_plan plan = {.text = STR_INIT};
    struct error err = ERROR_INIT;
    int r = assoc_plan_change(&core->book, &asker, change, &plan, &err);
    if (r == 0)
        r = check_unused(core, &plan, &err);
    if (r < 0) {
        assoc_plan_done(&plan);
        emit_error(core, client, seq, r, err.text);
        return;
    }
    struct assoc_changed reply = {.text = plan.edits.n > 0 ? plan.text.data : NULL,
                                  .notes = plan.notes};
    if (change->commit && plan.edits.n > 0) {
        emit_log(core, EFFECT_INFO, "accounting changed by %s:%s", user->name, plan.text.data);
        assoc_apply(&core->book, &plan, on_edit, core);
        book_changed(core);
    }
    emit_reply(core, client, MSG_ASSOC_CHANGED, 1, seq, &reply);
    assoc_plan_done(&plan);
}

/* ---- listing ---- */

/* With PrivateData=accounts or users one sees oneself, and what one coordinates. */
static bool may_see(const struct core *core, const struct core_user *user, const char *name,
                    const char *account) {
    if (!core->settings.private_accounts || core_is_admin(core, user->uid) ||
        str_equal_nocase(name, user->name))
        return true;
    const struct assoc *at = assoc_find(&core->book, account, NULL, NULL);
    for (size_t i = 0; at != NULL && i <= core->book.entries[ASSOC_ASSOC].n; i++) {
        const struct account *entry = account_find(&core->book, at->account);
        if (entry != NULL && strs_has(&entry->coordinators, user->name))
            return true;
        at = assoc_parent(&core->book, at);
    }
    return account != NULL && name == NULL &&
           assoc_of_job(&core->book, account, user->name, NULL) != NULL;
}

static void *list_room(struct core *core, uint32_t kind) {
    return arena_alloc(&core->out->memory,
                       core->book.entries[kind].n * assoc_record(kind)->size + 1);
}

static int text_order(const char *a, const char *b) {
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

/* By where they belong, accounts' users apart from the accounts below them, then by name. */
static int assoc_order(const void *x, const void *y) {
    const struct assoc *a = *(const struct assoc *const *) x;
    const struct assoc *b = *(const struct assoc *const *) y;
    bool a_user = a->user != NULL, b_user = b->user != NULL;
    int r = text_order(a_user ? a->account : a->parent, b_user ? b->account : b->parent);
    if (r == 0)
        r = (int) b_user - (int) a_user;
    if (r == 0)
        r = text_order(a_user ? a->user : a->account, b_user ? b->user : b->account);
    return r != 0 ? r : text_order(a->partition, b->partition);
}

struct tree {
    struct core *core;
    const struct core_user *user;
    const struct assoc **sorted;
    size_t n;
    struct assoc_list *list;
};

static const char *belongs_to(const struct assoc *assoc) {
    return assoc->user != NULL ? assoc->account : assoc->parent;
}

/* The first that belongs to the account. */
static size_t tree_start(const struct tree *tree, const char *account) {
    size_t low = 0, high = tree->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (text_order(belongs_to(tree->sorted[middle]), account) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An account, its users, then the accounts below it. */
static void list_below(const struct tree *tree, const struct assoc *top) {
    struct assoc_list *list = tree->list;
    if (may_see(tree->core, tree->user, NULL, top->account))
        list->assocs.items[list->assocs.n++] = *top;
    for (size_t i = tree_start(tree, top->account);
         i < tree->n && str_equal(belongs_to(tree->sorted[i]), top->account); i++) {
        const struct assoc *assoc = tree->sorted[i];
        if (assoc->user == NULL)
            list_below(tree, assoc);
        else if (may_see(tree->core, tree->user, assoc->user, assoc->account))
            list->assocs.items[list->assocs.n++] = *assoc;
    }
}

static void list_tree(struct core *core, const struct core_user *user, struct assoc_list *list) {
    struct tree tree = {
        .core = core, .user = user, .n = core->book.entries[ASSOC_ASSOC].n, .list = list};
    tree.sorted = arena_alloc(&core->out->memory, tree.n * sizeof(*tree.sorted));
    for (size_t i = 0; i < tree.n; i++)
        tree.sorted[i] = core->book.entries[ASSOC_ASSOC].items[i];
    qsort(tree.sorted, tree.n, sizeof(*tree.sorted), assoc_order);
    const struct assoc *root = assoc_find(&core->book, ROOT_ACCOUNT, NULL, NULL);
    if (root != NULL)
        list_below(&tree, root);
}

static int account_order(const void *a, const void *b) {
    return strcmp(((const struct account *) a)->name, ((const struct account *) b)->name);
}

static int acct_user_order(const void *a, const void *b) {
    return strcmp(((const struct acct_user *) a)->name, ((const struct acct_user *) b)->name);
}

void handle_assoc_list(struct core *core, uint64_t client, uint32_t seq,
                       const struct core_user *user, void *body) {
    struct assoc_list list = {.cluster = core->settings.cluster,
                              .control_host = core->settings.control_host,
                              .control_port = core->settings.control_port};
    list.accounts.items = list_room(core, ASSOC_ACCOUNT);
    list.users.items = list_room(core, ASSOC_USER);
    list.assocs.items = list_room(core, ASSOC_ASSOC);
    list.qos.items = list_room(core, ASSOC_QOS);
    vec_each (&core->book.entries[ASSOC_ACCOUNT], entry) {
        const struct account *account = *entry;
        if (may_see(core, user, NULL, account->name))
            list.accounts.items[list.accounts.n++] = *account;
    }
    qsort(list.accounts.items, list.accounts.n, sizeof(struct account), account_order);
    vec_each (&core->book.entries[ASSOC_USER], entry) {
        const struct acct_user *one = *entry;
        if (may_see(core, user, one->name, one->default_account))
            list.users.items[list.users.n++] = *one;
    }
    qsort(list.users.items, list.users.n, sizeof(struct acct_user), acct_user_order);
    for (uint32_t i = 0; i < qos_count(core); i++)
        list.qos.items[list.qos.n++] = *qos_at(core, i);
    list_tree(core, user, &list);
    emit_reply(core, client, MSG_ASSOC_LIST, 1, seq, &list);
}

/* ---- jobs ---- */

static void accounts_of(const struct core *core, const char *user, struct str *out) {
    vec_each (&core->book.entries[ASSOC_ASSOC], entry) {
        const struct assoc *assoc = *entry;
        if (str_equal_nocase(assoc->user, user) && !str_has_word(out->data, assoc->account, ","))
            str_join(out, ",", assoc->account);
    }
}

static int refuse_account(struct core *core, const struct job *job, struct reply_error *reply) {
    struct str accounts cleanup_str = STR_INIT;
    accounts_of(core, job->user_name, &accounts);
    if (accounts.length == 0)
        return reply_refuse(reply, core, ERR_INVALID_ACCOUNT,
                            "user %s has no account here: an administrator adds one with "
                            "\"sacctmgr add user %s account=NAME\"",
                            job->user_name, job->user_name);
    return reply_refuse(reply, core, ERR_INVALID_ACCOUNT,
                        "user %s may use the account%s %s, and not %s", job->user_name,
                        strchr(accounts.data, ',') != NULL ? "s" : "", accounts.data,
                        job->account != NULL ? job->account : "none at all");
}

static int check_qos(struct core *core, const struct job *job, const struct assoc *assoc,
                     struct reply_error *reply) {
    uint32_t at;
    if (!(core->settings.enforce & CONF_ENFORCE_QOS))
        return 0;
    const char *usable = assoc != NULL ? assoc_qos(&core->book, assoc) : QOS_NORMAL;
    if (qos_find(core, job->qos, &at) == NULL) {
        struct str names cleanup_str = STR_INIT;
        for (uint32_t i = 0; i < qos_count(core); i++)
            str_join(&names, ", ", qos_at(core, i)->name);
        return reply_refuse(reply, core, ERR_INVALID_QOS, "there is no QOS %s; there are %s",
                            job->qos, str_cstr(&names));
    }
    if (str_has_word_nocase(usable, job->qos, ","))
        return 0;
    return reply_refuse(reply, core, ERR_INVALID_QOS, "user %s may use the QOS %s in account %s",
                        job->user_name, usable, job->account != NULL ? job->account : "none");
}

int job_take_association(struct core *core, struct job *job, struct reply_error *reply) {
    const struct acct_user *user = acct_user_find(&core->book, job->user_name);
    bool enforced = core->settings.enforce & CONF_ENFORCE_ASSOCIATIONS;
    /* root is in every book: its jobs show an account only where accounts matter */
    if (job->account == NULL && user != NULL && (enforced || !str_equal(user->name, "root")))
        string_set(&job->account, user->default_account);
    cleanup_free char *first = xstrdup(job->partition != NULL ? job->partition : "");
    first[strcspn(first, ",")] = '\0';
    const struct assoc *assoc = assoc_of_job(&core->book, job->account, job->user_name, first);
    if (assoc == NULL && enforced)
        return refuse_account(core, job, reply);
    if (job->qos == NULL) {
        const char *preferred = assoc != NULL ? assoc_default_qos(&core->book, assoc) : NULL;
        string_set(&job->qos, preferred != NULL ? preferred : QOS_NORMAL);
    }
    return check_qos(core, job, assoc, reply);
}
