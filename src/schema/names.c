/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups in name tables. Tables are short: linear search. */
#include "schema/schema.h"

#include <strings.h>

static const struct name_row *row_of(const struct names *names, uint32_t value) {
    for (size_t i = 0; i < names->n; i++) {
        if (names->rows[i].value == value)
            return &names->rows[i];
    }
    return NULL;
}

const char *names_text(const struct names *names, uint32_t value) {
    const struct name_row *row = row_of(names, value);
    return row != NULL ? row->name : NULL;
}

const char *names_compact(const struct names *names, uint32_t value) {
    const struct name_row *row = row_of(names, value);
    return row != NULL ? row->compact : NULL;
}

bool names_value(const struct names *names, const char *text, uint32_t *ret_value) {
    for (size_t i = 0; i < names->n; i++) {
        const struct name_row *row = &names->rows[i];
        if (strcasecmp(row->name, text) == 0 ||
            (row->compact != NULL && strcasecmp(row->compact, text) == 0)) {
            *ret_value = row->value;
            return true;
        }
    }
    return false;
}

void names_list(const struct names *names, const char *separator, struct str *out) {
    for (size_t i = 0; i < names->n; i++) {
        if (i > 0)
            str_append(out, separator);
        str_append(out, names->rows[i].name);
    }
}
