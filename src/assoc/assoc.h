/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may have jobs on whose account: accounts, users, associations and qualities of service as one
 * book, and the changes that sacctmgr words. Pure: whoever holds the book stores what changed.
 *
 * A change is planned first, which checks everything and says in sacctmgr's words what will be
 * done, and applied as a whole or not at all. Planning changes nothing, so that a user can be shown
 * the plan and asked.
 *
 * Names of accounts, users and QOS are compared without case and kept in lower case.
 */
#ifndef SLUICE_ASSOC_ASSOC_H
#define SLUICE_ASSOC_ASSOC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/account.h"
#include "model/messages.h"
#include "model/qos.h"

#define QOS_NORMAL "normal"

/* What an entry of the book is. The numbers are sent. */
enum assoc_kind { ASSOC_ACCOUNT = 1, ASSOC_USER, ASSOC_ASSOC, ASSOC_QOS, ASSOC_KINDS };
/* NULL for what is no kind. */
const struct record *assoc_record(uint32_t kind);

/* Entries are owned by the book; a pointer lives until the next change. */
struct assoc_book {
    const char *cluster; /* borrowed */
    vec(void *) entries[ASSOC_KINDS];
    struct map index; /* book.c: hash of what tells an entry apart -> the entry */
};

/* An empty book has the account and the user root and the QOS normal. */
void assoc_book_init(struct assoc_book *book, const char *cluster);
/* And the QOS of another book, which are of all clusters. */
void assoc_book_init_common(struct assoc_book *book, const char *cluster,
                            const struct assoc_book *common);
void assoc_book_done(struct assoc_book *book);
/* Takes over a stored record, in place of the one of its name. */
void assoc_book_restore(struct assoc_book *book, uint32_t kind, void *record);
/* Under which number an entry is stored: an association's id, else the name's hash. */
uint64_t assoc_store_id(uint32_t kind, const void *record);

/* By which name an entry goes; an association by its account's. */
const char *assoc_entry_name(uint32_t kind, const void *record);
/* The number of a QOS or an association by which usage is charged; NULL: others have none. */
uint32_t *assoc_entry_id(uint32_t kind, void *record);
/* The entry of the book that this one would take the place of; NULL when none. */
void *assoc_entry_same(const struct assoc_book *book, uint32_t kind, const void *record);

/* NULL when there is none; NULL is nobody's name. */
struct account *account_find(const struct assoc_book *book, const char *name);
struct acct_user *acct_user_find(const struct assoc_book *book, const char *name);
struct qos *book_qos_find(const struct assoc_book *book, const char *name);
/* Exactly this one: user and partition may be NULL. */
struct assoc *assoc_find(const struct assoc_book *book, const char *account, const char *user,
                         const char *partition);
/* What counts for a job: the association for its partition, else the one for all. */
struct assoc *assoc_of_job(const struct assoc_book *book, const char *account, const char *user,
                           const char *partition);
/* The account's own association above this one; NULL above root's. */
struct assoc *assoc_parent(const struct assoc_book *book, const struct assoc *assoc);
/* Whether `account` is `above` or lies below it. */
bool account_is_below(const struct assoc_book *book, const char *account, const char *above);
/* The QOS that an association may use, its own or the next above it; "normal" when none says. */
const char *assoc_qos(const struct assoc_book *book, const struct assoc *assoc);
/* The one that a job gets that names none; NULL: none of those it may use is to be preferred. */
const char *assoc_default_qos(const struct assoc_book *book, const struct assoc *assoc);

/* ---- workload characterisation keys (wckey.c) ---- */
#define WCKEY_NAME_MAX 64 /* bytes */
/* NULL when the user has no key of this name. */
const struct user_wckey *user_wckey_find(const struct acct_user *user, const char *name);
/* One that the user has already is left; a new one has no number yet. */
void user_wckey_add(struct acct_user *user, const char *name);
/* Was there one? The default that goes leaves none. */
bool user_wckey_drop(struct acct_user *user, const char *name);
/* None is left; the default stays named. */
void user_wckeys_clear(struct acct_user *user);

/* ---- changes ---- */
/* An entry that comes (at = SIZE_MAX), changes, or goes (next = NULL). */
struct assoc_edit {
    uint32_t kind;
    size_t at;
    void *next; /* owned */
};
struct assoc_plan {
    vec(struct assoc_edit) edits;
    struct str text;   /* " Adding QOS(s)\n  high\n…": for people, and for scripts that know it */
    struct strs notes; /* owned; what is accepted without effect */
};
void assoc_plan_done(struct assoc_plan *plan);

/* Who asks. */
struct assoc_asker {
    const char *name;
    bool is_root; /* or SlurmUser: may do everything */
};
bool asker_is_admin(const struct assoc_book *book, const struct assoc_asker *asker);
/* May list what others have: operators, too. */
bool asker_is_operator(const struct assoc_book *book, const struct assoc_asker *asker);

/* Plans a change. No edits and no error: nothing of the kind is there, or it is so already; text is
 * then empty. err->text may have several lines, in sacctmgr's words. */
must_check int assoc_plan_change(const struct assoc_book *book, const struct assoc_asker *asker,
                                 const struct assoc_change *change, struct assoc_plan *ret,
                                 struct error *err);
/* Carries it out on the book that it was planned for. The edits' `next` then belong to the book;
 * entries that went are freed after on_edit has seen them (it may be NULL). */
void assoc_apply(struct assoc_book *book, struct assoc_plan *plan,
                 void (*on_edit)(void *context, uint32_t kind, const void *old, const void *next),
                 void *context);

/* ---- values in text ---- */
/* "within,cancel"; upper case for settings. */
void qos_mode_print(const struct qos *qos, bool upper, struct str *out);
/* "DenyOnLimit,NoDecay" */
void qos_flags_print(uint32_t flags, struct str *out);

#endif
