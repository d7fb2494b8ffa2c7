/* SPDX-License-Identifier: Apache-2.0 */
/* The vocabularies of conf_words.h as tables: words for several bits, words, old spellings. */
#include "model/conf_words.h"

#include "base/alloc.h"
#include "model/conf_table.h"

#define ROW(constant, word, how) {word, (uint64_t) CONF_##constant, CONF_##how, false},
#define ALIAS_ROW(constant, word, how) {word, (uint64_t) CONF_##constant, CONF_##how, true},

#define V(name)                                                                                    \
    static const struct conf_word words_##name[] = {CONF_##name##_WORDS(ROW)};                     \
    const struct conf_vocabulary conf_vocabulary_##name = {words_##name, countof(words_##name)};
#define A(name)                                                                                    \
    static const struct conf_word words_##name[] = {CONF_##name##_WORDS(ROW)                       \
                                                        CONF_##name##_ALIASES(ALIAS_ROW)};         \
    const struct conf_vocabulary conf_vocabulary_##name = {words_##name, countof(words_##name)};
#define C(name)                                                                                    \
    static const struct conf_word words_##name[] = {                                               \
        CONF_##name##_COMBOS(ROW) CONF_##name##_WORDS(ROW) CONF_##name##_ALIASES(ALIAS_ROW)};      \
    const struct conf_vocabulary conf_vocabulary_##name = {words_##name, countof(words_##name)};

CONF_ENUM_VOCABULARIES(V, A)
CONF_FLAG_VOCABULARIES(V, A, C)
