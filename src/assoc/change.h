/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the planning of changes: the words of a change, and the edits it comes to. */
#ifndef SLUICE_ASSOC_CHANGE_H
#define SLUICE_ASSOC_CHANGE_H

#include "assoc/keys.h"

/* One change while it is planned. */
struct change {
    const struct assoc_book *book;
    const struct assoc_asker *asker;
    const struct assoc_change *request;
    struct assoc_plan *plan;
    struct error *err;
    struct map edited;             /* an entry of the book -> its edit's index + 1, as pointer */
    uint32_t last_id[ASSOC_KINDS]; /* given out; 0: none yet */
    uint32_t last_wckey;           /* the same of wckeys */
};

/* ---- words ---- */
/* Values of all words called so (an abbreviation of at least `least` letters, perhaps with an s),
 * bare words too when `bare`; lower case, each once. Owned by the caller. */
struct strs change_values(const struct change *change, const char *name, size_t least, bool bare);

/* The conditions that may stand in a change, names with their least letters. Refuses others. */
struct change_condition {
    const char *name;
    size_t least;
};
must_check int change_check_conditions(struct change *change,
                                       const struct change_condition *conditions, size_t n);

/* Sets, by their rows. `changed` gets a bit for each kind that a row sets a member of. */
must_check int change_check_sets(struct change *change, uint8_t of,
                                 const struct change_condition *others, size_t n_others,
                                 uint32_t *ret_kinds);
/* Applies those of one kind to a record. */
must_check int change_apply_sets(struct change *change, uint8_t of, uint32_t kind, void *record);
/* "  GrpTRES       = cpu=32" for what was set of this kind. */
void change_settings(struct change *change, uint8_t of, uint32_t kind, const void *record,
                     int width);

/* ---- edits ---- */
/* The entry as it will be; NULL when it goes. */
const void *change_seen(const struct change *change, uint32_t kind, size_t at);
/* A copy that may be written, one for each entry. */
void *change_edit(struct change *change, uint32_t kind, size_t at);
void change_remove(struct change *change, uint32_t kind, size_t at);
/* Takes over the record. */
void change_add(struct change *change, uint32_t kind, void *record);
/* Another number than those of all that are there or come. */
uint32_t change_next_id(struct change *change, uint32_t kind);

/* ---- by entity ---- */
must_check int change_qos(struct change *change);
must_check int change_account(struct change *change);
must_check int change_user(struct change *change);
must_check int change_coordinator(struct change *change);
must_check int change_cluster(struct change *change);

/* A cluster that is named must be ours; the account there, and the asker somebody who may change
 * `what` of it; the name one that can be listed. */
must_check int change_check_cluster(const struct change *change);
must_check int change_check_account(const struct change *change, const char *account,
                                    const char *what);
must_check int change_check_name(const struct change *change, const char *name);

/* wckey.c: keys of a user that have no number get one. */
void change_number_wckeys(struct change *change, struct acct_user *user);
/* Those that the user does not have yet, told as lines; the first becomes the default of who has
 * none. */
void change_give_wckeys(struct change *change, struct acct_user *user, const struct strs *names,
                        struct str *told);
/* Of all users whom the filter lets pass. */
must_check int change_delete_wckeys(struct change *change, const struct strs *users,
                                    const struct strs *names);

/* After a QOS has gone: nobody names it any more. */
void change_forget_qos(struct change *change, const char *name);
/* After associations have gone: users whose default account they have lost get another, users
 * without any keep their record. */
void change_mend_defaults(struct change *change);
/* The first association that will be there; NULL when none. */
const struct assoc *change_find_assoc(const struct change *change, const char *account,
                                      const char *user, const char *partition, bool any_partition);

#endif
