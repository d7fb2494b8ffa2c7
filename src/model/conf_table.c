/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of configuration tables: finding them by name, also by nearly the right one. */
#include "model/conf_table.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

void conf_error(const struct conf_context *context, const char *fmt, ...) {
    if (context->quiet)
        return;
    va_list args;
    va_start(args, fmt);
    conf_report_vadd(context->report, CONF_SEVERITY_ERROR, context->file, context->line, fmt, args);
    va_end(args);
}

void conf_notice(const struct conf_context *context, const char *fmt, ...) {
    if (context->quiet || context->lenient) /* a command has nothing to tell of itself */
        return;
    va_list args;
    va_start(args, fmt);
    conf_report_vadd(context->report, CONF_SEVERITY_NOTICE, context->file, context->line, fmt,
                     args);
    va_end(args);
}

/* ---- Finding rows ---- */

static uint32_t name_hash(const char *name, size_t length) {
    uint32_t hash = 2166136261u; /* FNV-1a over the lower-case letters */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ ((unsigned char) name[i] | 0x20u)) * 16777619u;
    return hash ^ (hash >> 15);
}

void conf_index_build(const struct conf_table *table, uint16_t index[CONF_INDEX_SIZE]) {
    assert(table->n < CONF_INDEX_SIZE / 2);
    memset(index, 0, CONF_INDEX_SIZE * sizeof(*index));
    for (size_t i = 0; i < table->n; i++) {
        const struct conf_key *key = &table->keys[i];
        if (key->derived)
            continue;
        uint32_t slot = name_hash(key->name, key->name_length) % CONF_INDEX_SIZE;
        while (index[slot] != 0)
            slot = (slot + 1) % CONF_INDEX_SIZE;
        index[slot] = (uint16_t) (i + 1);
    }
}

static bool name_matches(const struct conf_key *key, const char *name, size_t length) {
    return key->name_length == length && strncasecmp(key->name, name, length) == 0;
}

static const struct conf_key *key_find_row(const struct conf_table *table, const char *name,
                                           size_t length) {
    if (table->index != NULL) {
        uint32_t slot = name_hash(name, length) % CONF_INDEX_SIZE;
        for (; table->index[slot] != 0; slot = (slot + 1) % CONF_INDEX_SIZE) {
            const struct conf_key *key = &table->keys[table->index[slot] - 1];
            if (name_matches(key, name, length))
                return key;
        }
        return NULL;
    }
    for (size_t i = 0; i < table->n; i++) {
        if (!table->keys[i].derived && name_matches(&table->keys[i], name, length))
            return &table->keys[i];
    }
    return NULL;
}

const struct conf_key *conf_key_find(const struct conf_table *table, const char *name,
                                     size_t length) {
    const struct conf_key *key = key_find_row(table, name, length);
    if (key != NULL && key->same_as != NULL)
        key = key_find_row(table, key->same_as, strlen(key->same_as));
    return key;
}

/* A name that is the beginning of a key, long enough to be meant: "ConstrainRAM". */
static const char *key_by_prefix(const char *const *names, size_t n, const char *name) {
    size_t length = strlen(name);
    const char *found = NULL;
    for (size_t i = 0; i < n && length >= 5; i++) {
        if (strncasecmp(names[i], name, length) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = names[i];
    }
    return found;
}

const char *conf_key_nearest(const struct conf_table *table, const char *name) {
    const char *names[CONF_NEAREST_MAX];
    size_t n = 0;
    for (size_t i = 0; i < table->n && n < CONF_NEAREST_MAX; i++) {
        const struct conf_key *key = &table->keys[i];
        if (!key->derived && key->same_as == NULL && key->effect != CONF_OBSOLETE)
            names[n++] = key->name;
    }
    const char *longer = key_by_prefix(names, n, name);
    return longer != NULL ? longer : str_nearest(name, names, n);
}
