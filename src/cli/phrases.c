/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/phrases.h"

#include <stdlib.h>

#include "base/alloc.h"

static const char *const table[PHRASES][LANGUAGES] = {
#define X(name, english, korean) [PHRASE_##name] = {english, korean},
    PHRASE_TABLE(X)
#undef X
};

const char *phrase(enum language language, enum phrase_id id) {
    return table[id][language];
}

enum language cli_language(void) {
    static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < countof(variables); i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL && value[0] != '\0')
            return language_of(value);
    }
    return LANGUAGE_ENGLISH;
}
