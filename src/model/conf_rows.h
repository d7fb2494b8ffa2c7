/* SPDX-License-Identifier: Apache-2.0 */
/* How the rows of conf_keys.h become struct conf_key: for the files that hold tables only. */
#ifndef SLUICE_MODEL_CONF_ROWS_H
#define SLUICE_MODEL_CONF_ROWS_H

#include <stddef.h>

#include "base/alloc.h"
#include "model/conf_table.h"

#define CONF_COMMA ,
#define CONF_WHO_CLIENT CONF_CLIENT_TOO
#define CONF_WHO_DAEMON CONF_DAEMON_ONLY

/* The vocabulary or table of sub-options of a row, by its type. */
#define WORDS_STRING(v) NULL
#define WORDS_TEXT(v) NULL
#define WORDS_LIST(v) NULL
#define WORDS_NAMES(v) NULL
#define WORDS_BOOL(v) NULL
#define WORDS_BIT(v) NULL
#define WORDS_SWITCH(v) NULL
#define WORDS_U32(v) NULL
#define WORDS_U64(v) NULL
#define WORDS_MIB(v) NULL
#define WORDS_PERCENT(v) NULL
#define WORDS_MINUTES(v) NULL
#define WORDS_DURATION(v) NULL
#define WORDS_AGE(v) NULL
#define WORDS_ENUM(v) &conf_vocabulary_##v
#define WORDS_FLAGS(v) &conf_vocabulary_##v
#define WORDS_WORDS(v) &conf_vocabulary_##v
#define WORDS_OPTIONS(v) NULL
#define WORDS_WEIGHTS(v) NULL
#define WORDS_PORTS(v) NULL
#define WORDS_SHARE(v) NULL
#define TABLE_STRING(v) NULL
#define TABLE_TEXT(v) NULL
#define TABLE_LIST(v) NULL
#define TABLE_NAMES(v) NULL
#define TABLE_BOOL(v) NULL
#define TABLE_BIT(v) NULL
#define TABLE_SWITCH(v) NULL
#define TABLE_U32(v) NULL
#define TABLE_U64(v) NULL
#define TABLE_MIB(v) NULL
#define TABLE_PERCENT(v) NULL
#define TABLE_MINUTES(v) NULL
#define TABLE_DURATION(v) NULL
#define TABLE_AGE(v) NULL
#define TABLE_ENUM(v) NULL
#define TABLE_FLAGS(v) NULL
#define TABLE_WORDS(v) NULL
#define TABLE_OPTIONS(v) &table_##v
#define TABLE_WEIGHTS(v) NULL
#define TABLE_PORTS(v) NULL
#define TABLE_SHARE(v) NULL

#define NAMED(text) .name = text, .name_length = sizeof(text) - 1
#define ALIAS(old, current) {NAMED(old), .same_as = current},
#define OBSOLETE(old, cure) {NAMED(old), .effect = CONF_OBSOLETE, .help = cure},

/* A sub-option of the member OPTION_MEMBER of struct OPTION_OBJECT. */
#define CONF_OPTION_ROW(type_, member, name_, value, min_, max_, effect_, unit_)                   \
    {NAMED(name_),                                                                                 \
     .type = CONF_##type_,                                                                         \
     .effect = CONF_##effect_,                                                                     \
     .min = (min_),                                                                                \
     .max = (max_),                                                                                \
     .unit = (unit_),                                                                              \
     .offset = offsetof(struct OPTION_OBJECT, OPTION_MEMBER.member)},
#define CONF_HELPED_OPTION_ROW(type_, member, name_, value, min_, max_, words_, effect_, unit_,    \
                               help_)                                                              \
    {NAMED(name_),                                                                                 \
     .type = CONF_##type_,                                                                         \
     .effect = CONF_##effect_,                                                                     \
     .min = (min_),                                                                                \
     .max = (max_),                                                                                \
     .unit = (unit_),                                                                              \
     .words = WORDS_##type_(words_),                                                               \
     .help = (help_),                                                                              \
     .offset = offsetof(struct OPTION_OBJECT, OPTION_MEMBER.member)},
#define CONF_OPTION_TABLE(id, defaults_, bare_, bare_path_)                                        \
    static const struct conf_table table_##id = {.what = #id,                                      \
                                                 .keys = keys_##id,                                \
                                                 .n = countof(keys_##id),                          \
                                                 .defaults = &defaults_,                           \
                                                 .bare = bare_,                                    \
                                                 .bare_path = bare_path_};
/* A key of a line or small file that fills struct CONF_OBJECT. */
#define CONF_FIELD_ROW(type_, member, name_, value, min_, max_, words_, effect_, help_)            \
    {NAMED(name_),                                                                                 \
     .type = CONF_##type_,                                                                         \
     .min = (min_),                                                                                \
     .effect = CONF_##effect_,                                                                     \
     .max = (max_),                                                                                \
     .offset = offsetof(struct CONF_OBJECT, member),                                               \
     .who = CONF_DAEMON_ONLY,                                                                      \
     .words = WORDS_##type_(words_),                                                               \
     .options = TABLE_##type_(words_),                                                             \
     .help = (help_)},

#endif
