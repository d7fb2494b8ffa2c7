/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/phrases.h"

static const char *const table[PHRASES][LANGUAGES] = {
#define X(name, english, korean) [PHRASE_##name] = {english, korean},
    PHRASE_TABLE(X)
#undef X
};

const char *phrase(enum language language, enum phrase_id id) {
    return table[id][language];
}
