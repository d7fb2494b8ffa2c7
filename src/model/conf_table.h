/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine behind the configuration tables: finds a row by name, parses a value into the member
 * that the row describes, compares it with the default and prints it. It knows no key by name.
 *
 * What is wrong is written to a report as one line per problem, so that a reader of the file can
 * go on and find all of them.
 */
#ifndef SLUICE_MODEL_CONF_TABLE_H
#define SLUICE_MODEL_CONF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/conf_report.h"
#include "model/conf_words.h"

enum conf_type {
    CONF_STRING,   /* const char *, NULL when unset */
    CONF_TEXT,     /* the same as a sub-option */
    CONF_LIST,     /* const char *: comma list, blanks around commas dropped */
    CONF_NAMES,    /* struct conf_names: the key may be repeated, every value counts */
    CONF_BOOL,     /* bool, printed Yes and No */
    CONF_BIT,      /* bool, printed 1 and 0 */
    CONF_SWITCH,   /* bool sub-option that stands alone: "defer", also "defer=yes" */
    CONF_U32,      /* uint32_t */
    CONF_U64,      /* uint64_t, CONF_UNSET when unset */
    CONF_MIB,      /* uint64_t in MiB, units K M G T taken, CONF_UNSET when unset */
    CONF_PERCENT,  /* double, a trailing "%" taken */
    CONF_MINUTES,  /* uint32_t, a time limit in minutes (text/duration.h); min 1: NONE is unset */
    CONF_DURATION, /* uint64_t in seconds, written like a time limit; UINT64_MAX is for ever */
    CONF_AGE,      /* uint64_t in seconds: N, Nhours, Ndays, Nmonths (of 30 days); 0 is never */
    CONF_ENUM,     /* unsigned: one word of a vocabulary */
    CONF_FLAGS,    /* uint64_t: comma list of words of a vocabulary */
    CONF_WORDS,    /* struct conf_words: the same, where words may carry =values */
    CONF_OPTIONS,  /* const char * (the text); its sub-options fill members of their own */
    CONF_WEIGHTS,  /* const char *: NAME=number,... */
    CONF_PORTS,    /* struct conf_ports: A or A-B */
    CONF_SHARE,    /* uint32_t: NO, EXCLUSIVE, YES[:n], FORCE[:n] (conf_share_…) */
};
/* C types of the members, for the macros that make structs from rows. */
#define CONF_MEMBER_STRING const char *
#define CONF_MEMBER_TEXT const char *
#define CONF_MEMBER_LIST const char *
#define CONF_MEMBER_NAMES struct conf_names
#define CONF_MEMBER_BOOL bool
#define CONF_MEMBER_BIT bool
#define CONF_MEMBER_SWITCH bool
#define CONF_MEMBER_U32 uint32_t
#define CONF_MEMBER_U64 uint64_t
#define CONF_MEMBER_MIB uint64_t
#define CONF_MEMBER_PERCENT double
#define CONF_MEMBER_MINUTES uint32_t
#define CONF_MEMBER_DURATION uint64_t
#define CONF_MEMBER_AGE uint64_t
#define CONF_MEMBER_ENUM unsigned
#define CONF_MEMBER_FLAGS uint64_t
#define CONF_MEMBER_WORDS struct conf_words
#define CONF_MEMBER_OPTIONS const char *
#define CONF_MEMBER_WEIGHTS const char *
#define CONF_MEMBER_PORTS struct conf_ports
#define CONF_MEMBER_SHARE uint32_t

struct conf_names {
    const char **items;
    size_t n;
};
struct conf_words {
    uint64_t flags;
    const char *text; /* as written, NULL when unset */
};
struct conf_ports {
    uint16_t first, last;
};

/* OverSubscribe: mode in the high bits, jobs per resource in the low ones. */
#define CONF_SHARE_NO 0u
#define CONF_SHARE_EXCLUSIVE (1u << 16)
#define CONF_SHARE_YES (2u << 16)
#define CONF_SHARE_FORCE (3u << 16)
static inline uint32_t conf_share_mode(uint32_t share) {
    return share & ~0xffffu;
}
static inline uint32_t conf_share_jobs(uint32_t share) {
    return share & 0xffffu;
}
void conf_share_print(uint32_t share, struct str *out);

enum conf_effect {
    CONF_HONOURED,
    CONF_NOT_YET,    /* accepted, no effect yet: one notice unless the value is the default */
    CONF_NOT_NEEDED, /* accepted in silence */
    CONF_OBSOLETE,   /* gone from newer releases: a notice that says what to do */
    CONF_REFUSED,    /* known, and a cluster would not be safe or right with it: an error */
};

struct conf_word {
    const char *name;
    uint64_t value;
    enum conf_effect effect;
    bool alias; /* read, never printed */
};
struct conf_vocabulary {
    const struct conf_word *words;
    size_t n;
};

enum conf_who { CONF_CLIENT_TOO, CONF_DAEMON_ONLY };

struct conf_key {
    const char *name;
    uint8_t name_length;
    uint8_t type;    /* enum conf_type */
    uint8_t effect;  /* enum conf_effect */
    uint8_t who;     /* enum conf_who */
    uint16_t offset; /* of the member */
    uint8_t tier;
    bool derived; /* a line of show config that has no member */
    uint64_t min, max;
    const struct conf_vocabulary *words; /* ENUM, FLAGS, WORDS */
    const struct conf_table *options;    /* OPTIONS */
    const char *unit;
    const char *help;    /* for OBSOLETE: the cure */
    const char *same_as; /* an older name: the name of the row that counts */
};

/* Rows of one kind of line or file. */
struct conf_table {
    const char *what; /* "slurm.conf", "a NodeName line": for "unknown key in …" */
    const struct conf_key *keys;
    size_t n;
    const void *defaults;  /* an object with every member at its default */
    const char *bare;      /* OPTIONS: the option that a bare number sets, or NULL */
    const char *bare_path; /* OPTIONS: the option that a bare path sets, or NULL */
    const uint16_t *index; /* from conf_index_build, or NULL: search row by row */
};

/* Where a value stands and where its problems go. */
struct conf_context {
    struct conf_report *report;
    struct arena *arena;
    const char *file;
    uint32_t line;
    bool quiet;   /* drop problems: a command passes over what only daemons need */
    bool lenient; /* a command: pass over unknown words, which newer daemons may know; no notices */
};
void conf_error(const struct conf_context *context, const char *fmt, ...) printf_like(2, 3);
void conf_notice(const struct conf_context *context, const char *fmt, ...) printf_like(2, 3);

/* Hash index for tables of hundreds of rows; index has CONF_INDEX_SIZE slots. */
#define CONF_INDEX_SIZE 1024
void conf_index_build(const struct conf_table *table, uint16_t index[CONF_INDEX_SIZE]);
#define CONF_NEAREST_MAX 512 /* names compared for "did you mean" */
/* Row of that name in any case, or NULL. The name need not be NUL-terminated. */
const struct conf_key *conf_key_find(const struct conf_table *table, const char *name,
                                     size_t length);
/* The row's name nearest to a misspelt one, or NULL. */
const char *conf_key_nearest(const struct conf_table *table, const char *name);

/* How long records are kept, in seconds: 12 (months), 12months, 90days, 48hours. */
bool conf_age_read(const char *value, uint64_t *ret);
/* Parses the value into object's member; problems go to the report and leave the member alone.
 * Text that is kept is copied into the context's arena. Returns false when there was an error. */
bool conf_value_parse(const struct conf_key *key, const char *value, void *object,
                      const struct conf_context *context);
bool conf_value_is_default(const struct conf_key *key, const void *object, const void *defaults);
/* Appends the value as show config prints it, unit included. */
void conf_value_print(const struct conf_key *key, const void *object, struct str *out);
void conf_words_print(const struct conf_vocabulary *words, uint64_t flags, struct str *out);
const char *conf_word_name(const struct conf_vocabulary *words, unsigned value);

/* The vocabularies of conf_words.h. */
#define V(name) extern const struct conf_vocabulary conf_vocabulary_##name;
CONF_ENUM_VOCABULARIES(V, V)
CONF_FLAG_VOCABULARIES(V, V, V)
#undef V

#endif
