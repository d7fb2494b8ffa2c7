/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book where slurmdbd keeps it (doc/design/017): the controller has a copy of its cluster's,
 * stored like its own, so that it goes on and restarts without slurmdbd. What slurmdbd sends is the
 * whole book; what is different becomes edits.
 */
#include <stdlib.h>

#include "assoc/file.h"
#include "assoc/list.h"
#include "assoc/tell.h"
#include "core/state.h"

void core_book_tell(const struct core *core, struct arena *arena, struct dbd_book *ret) {
    static const struct assoc_asker root = {"root", true};
    record_init(&record_dbd_book, ret);
    ret->version = core->meta.book_version;
    ret->book = arena_alloc(arena, sizeof(*ret->book));
    record_init(&record_assoc_list, ret->book);
    ret->book->cluster = core->settings.cluster;
    assoc_list_fill(&core->book, &root, false, arena, ret->book);
}

bool core_book_own(const struct core *core, struct str *out) {
    struct assoc_book initial;
    if (core->meta.book_version != 0)
        return false;
    assoc_book_init(&initial, core->book.cluster);
    bool touched = !assoc_is_same(&core->book, &initial);
    assoc_book_done(&initial);
    if (touched)
        assoc_dump(&core->book, out);
    return touched;
}

int core_book_test(struct core *core, const struct dbd_book *going, struct error *err) {
    struct map gone = MAP_INIT;
    for (uint32_t i = 0; going->book != NULL && i < going->book->qos.n; i++) {
        void *entry = assoc_entry_same(&core->book, ASSOC_QOS, &going->book->qos.items[i]);
        if (entry != NULL)
            map_put(&gone, (uintptr_t) entry, entry);
    }
    for (uint32_t i = 0; going->book != NULL && i < going->book->assocs.n; i++) {
        void *entry = assoc_entry_same(&core->book, ASSOC_ASSOC, &going->book->assocs.items[i]);
        if (entry != NULL)
            map_put(&gone, (uintptr_t) entry, entry);
    }
    int r = book_check_unused(core, &gone, err);
    map_done(&gone);
    return r;
}

static void book_of(const struct core *core, const struct assoc_list *list,
                    struct assoc_book *ret) {
    *ret = (struct assoc_book) {.cluster = core->book.cluster};
    for (uint32_t i = 0; i < list->accounts.n; i++)
        assoc_book_restore(ret, ASSOC_ACCOUNT,
                           record_dup(&record_account, &list->accounts.items[i]));
    for (uint32_t i = 0; i < list->users.n; i++)
        assoc_book_restore(ret, ASSOC_USER, record_dup(&record_acct_user, &list->users.items[i]));
    for (uint32_t i = 0; i < list->qos.n; i++)
        assoc_book_restore(ret, ASSOC_QOS, record_dup(&record_qos, &list->qos.items[i]));
    for (uint32_t i = 0; i < list->assocs.n; i++)
        assoc_book_restore(ret, ASSOC_ASSOC, record_dup(&record_assoc, &list->assocs.items[i]));
}

/* Jobs whose association or QOS goes: it was away when slurmdbd asked, or they came just then. */
static void hold_losers(struct core *core, const struct assoc_plan *plan) {
    struct map going = MAP_INIT;
    book_going(core, plan, &going);
    jobs_each (core, job) {
        if (going.n == 0 || !job_is_pending(job) || !book_job_loses(core, &job->rec, &going))
            continue;
        bool qos = map_get(&going, (uintptr_t) book_qos_find(&core->book, job->rec.qos)) != NULL;
        job_hold(core, job, qos ? REASON_INVALID_QOS : REASON_INVALID_ACCOUNT);
        emit_log(core, EFFECT_ERROR, "job %u is held: its %s was deleted in slurmdbd",
                 job->rec.job_id, qos ? "QOS" : "association");
    }
    map_done(&going);
}

/* Old places in the store go before new ones are written: numbers may have changed hands. */
static void forget_old(struct core *core, const struct assoc_plan *plan) {
    vec_each (&plan->edits, edit) {
        const void *old =
            edit->at != SIZE_MAX ? core->book.entries[edit->kind].items[edit->at] : NULL;
        if (old != NULL && (edit->next == NULL || assoc_store_id(edit->kind, old) !=
                                                      assoc_store_id(edit->kind, edit->next)))
            book_delete(core, edit->kind, old);
    }
}

static void put_entry(void *context, uint32_t kind, const void *old, const void *next) {
    if (next != NULL)
        book_put(context, kind, next);
}

void core_book_take(struct core *core, int64_t now, const struct dbd_book *book,
                    struct effects *out) {
    struct assoc_plan plan = {.text = STR_INIT};
    struct assoc_book next;
    core->now = now;
    core->out = out;
    if (book->book == NULL)
        return;
    book_of(core, book->book, &next);
    assoc_diff_numbers(&core->book, &next, &plan);
    assoc_book_done(&next);
    if (plan.edits.n > 0) {
        emit_log(core, EFFECT_INFO, "accounts, version %llu of slurmdbd: %zu entries have changed",
                 (unsigned long long) book->version, plan.edits.n);
        hold_losers(core, &plan);
        usage_follow_plan(core, &plan);
        usage_renumber(core, &plan);
        forget_old(core, &plan);
        assoc_apply(&core->book, &plan, put_entry, core);
        book_changed(core);
    }
    core->meta_dirty |= core->meta.book_version != book->version;
    core->meta.book_version = book->version;
    assoc_plan_done(&plan);
}

void core_runs_known(const struct core *core, const struct dbd_runs *runs, bool *ret_known) {
    struct map here = MAP_INIT;
    jobs_each (core, job)
        map_put(&here, job->rec.db_index, job);
    for (uint32_t i = 0; i < runs->items.n; i++)
        ret_known[i] = map_get(&here, runs->items.items[i].run) != NULL;
    map_done(&here);
}
