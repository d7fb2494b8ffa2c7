/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sacctmgr can set: one row per key. From a row come the reading of a value, the line of
 * " Settings" that repeats it, and whether it has an effect yet.
 */
#ifndef SLUICE_ASSOC_KEYS_H
#define SLUICE_ASSOC_KEYS_H

#include "assoc/assoc.h"

enum assoc_entity_bit { KEY_QOS = 1, KEY_ACCOUNT = 2, KEY_USER = 4, KEY_CLUSTER = 8 };

struct assoc_key {
    const char *name;  /* in full; shorter forms down to `least` letters are taken, too */
    uint8_t least, of; /* enum assoc_entity_bit: in changes of these */
    uint8_t kind;      /* enum assoc_kind: whose member it sets */
    const char *member;
    /* Changes the record; `sign` is 0, '+' or '-'. */
    int (*set)(const struct assoc_book *book, const struct assoc_key *key, void *record, char sign,
               const char *value, struct error *err);
    void (*print)(const void *record, const void *member, struct str *out);
    bool is_old;    /* another name of the row before */
    bool no_effect; /* kept, and said so */
};

/* NULL when no row of these entities answers to it. */
const struct assoc_key *assoc_key_find(const char *name, uint8_t of);
void *assoc_key_member(const struct assoc_key *key, void *record);
/* What a key of a record is in a file (sacctmgr dump), text in single quotes; false: it is not set.
 */
bool assoc_key_in_file(const struct assoc_key *key, const void *record, struct str *out);
/* Text in single quotes, those in it doubled. */
void assoc_quote(const char *text, struct str *out);
/* Appends the words of a value that are kept without effect, though the key has one. */
void assoc_key_idle(const struct assoc_key *key, const char *value, struct str *out);
/* The rows in the order in which settings are told; ends with name NULL. */
extern const struct assoc_key assoc_keys[];

/* Do the first `length` bytes of `word` name a condition: an abbreviation of at least `least`
 * letters, or the name with an s? */
bool condition_is(const char *word, size_t length, const char *name, size_t least);

#endif
