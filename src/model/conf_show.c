/* SPDX-License-Identifier: Apache-2.0 */
/* Values compared with their defaults, and printed as show config prints them. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "model/conf_keys.h"
#include "model/conf_table.h"
#include "text/duration.h"

const char *conf_word_name(const struct conf_vocabulary *words, unsigned value) {
    for (size_t i = 0; i < words->n; i++) {
        if (!words->words[i].alias && words->words[i].value == value)
            return words->words[i].name;
    }
    return NULL;
}

void conf_words_print(const struct conf_vocabulary *words, uint64_t flags, struct str *out) {
    bool first = true;
    for (size_t i = 0; i < words->n && flags != 0; i++) {
        const struct conf_word *word = &words->words[i];
        if (word->alias || word->value == 0 || (flags & word->value) != word->value)
            continue;
        if (!first)
            str_append_char(out, ',');
        first = false;
        str_append(out, word->name);
        flags &= ~word->value;
    }
}

bool conf_value_is_default(const struct conf_key *key, const void *object, const void *defaults) {
    const void *a = (const char *) object + key->offset;
    const void *b = (const char *) defaults + key->offset;
    switch ((enum conf_type) key->type) {
    case CONF_STRING:
    case CONF_TEXT:
    case CONF_LIST:
    case CONF_OPTIONS:
    case CONF_WEIGHTS:
        return str_equal_nocase(*(const char *const *) a, *(const char *const *) b);
    case CONF_NAMES:
        return ((const struct conf_names *) a)->n == 0;
    case CONF_BOOL:
    case CONF_BIT:
    case CONF_SWITCH:
        return *(const bool *) a == *(const bool *) b;
    case CONF_U32:
    case CONF_MINUTES:
    case CONF_SHARE:
        return *(const uint32_t *) a == *(const uint32_t *) b;
    case CONF_PERCENT:
        return !(*(const double *) a < *(const double *) b) &&
               !(*(const double *) a > *(const double *) b);
    case CONF_U64:
    case CONF_MIB:
    case CONF_DURATION:
    case CONF_AGE:
    case CONF_FLAGS:
        return *(const uint64_t *) a == *(const uint64_t *) b;
    case CONF_ENUM:
        return *(const unsigned *) a == *(const unsigned *) b;
    case CONF_WORDS:
        return ((const struct conf_words *) a)->flags == 0;
    case CONF_PORTS:
        return memcmp(a, b, sizeof(struct conf_ports)) == 0;
    }
    return false;
}

static void unit_print(const struct conf_key *key, struct str *out) {
    if (key->unit != NULL && key->unit[0] != '\0')
        str_printf(out, " %s", key->unit);
}

static void text_print(const char *text, struct str *out) {
    str_append(out, text != NULL ? text : "(null)");
}

static void names_print(const struct conf_names *names, struct str *out) {
    if (names->n == 0)
        str_append(out, "(null)");
    for (size_t i = 0; i < names->n; i++)
        str_printf(out, "%s%s", i > 0 ? "," : "", names->items[i]);
}

static void flags_print(const struct conf_key *key, uint64_t flags, struct str *out) {
    size_t before = out->length;
    conf_words_print(key->words, flags, out);
    if (out->length == before)
        str_append(out, "(null)");
}

static void ports_print(const struct conf_key *key, const struct conf_ports *ports,
                        struct str *out) {
    /* A key that may be 0 is a range by nature: 0-0. */
    if (ports->first == ports->last && key->min > 0)
        str_append_u64(out, ports->first);
    else
        str_printf(out, "%u-%u", ports->first, ports->last);
}

static void limit_print(uint64_t limit, struct str *out) {
    if (limit == CONF_UNSET)
        str_append(out, "UNLIMITED");
    else
        str_append_u64(out, limit);
}

static void duration_print(uint64_t seconds, struct str *out) {
    if (seconds == UINT64_MAX)
        str_append(out, "UNLIMITED");
    else
        duration_print_long((int64_t) seconds, out);
}

static void age_print(uint64_t seconds, struct str *out) {
    if (seconds == 0)
        str_append(out, "NONE");
    else if (seconds % 86400 != 0)
        str_printf(out, "%" PRIu64 "hours", seconds / 3600);
    else
        str_printf(out, "%" PRIu64 "days", seconds / 86400);
}

void conf_value_print(const struct conf_key *key, const void *object, struct str *out) {
    const void *member = (const char *) object + key->offset;
    switch ((enum conf_type) key->type) {
    case CONF_STRING:
    case CONF_TEXT:
    case CONF_LIST:
    case CONF_OPTIONS:
    case CONF_WEIGHTS:
        text_print(*(const char *const *) member, out);
        break;
    case CONF_NAMES:
        names_print(member, out);
        break;
    case CONF_BOOL:
        str_append(out, *(const bool *) member ? "Yes" : "No");
        break;
    case CONF_BIT:
    case CONF_SWITCH:
        str_append_char(out, *(const bool *) member ? '1' : '0');
        break;
    case CONF_PERCENT:
        str_printf(out, "%.1f%%", *(const double *) member);
        break;
    case CONF_U32:
        if (key->max == CONF_INFINITE && *(const uint32_t *) member == CONF_INFINITE) {
            str_append(out, "INFINITE");
            break;
        }
        str_append_u64(out, *(const uint32_t *) member);
        unit_print(key, out);
        break;
    case CONF_U64:
    case CONF_MIB:
        limit_print(*(const uint64_t *) member, out);
        break;
    case CONF_MINUTES:
        minutes_print_long(*(const uint32_t *) member, "NONE", out);
        break;
    case CONF_DURATION:
        duration_print(*(const uint64_t *) member, out);
        break;
    case CONF_AGE:
        age_print(*(const uint64_t *) member, out);
        break;
    case CONF_ENUM:
        text_print(conf_word_name(key->words, *(const unsigned *) member), out);
        break;
    case CONF_FLAGS:
        flags_print(key, *(const uint64_t *) member, out);
        break;
    case CONF_WORDS:
        text_print(((const struct conf_words *) member)->text, out);
        break;
    case CONF_PORTS:
        ports_print(key, member, out);
        break;
    case CONF_SHARE:
        conf_share_print(*(const uint32_t *) member, out);
        break;
    }
}
