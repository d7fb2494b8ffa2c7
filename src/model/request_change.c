/* SPDX-License-Identifier: Apache-2.0 */
/* Two requests side by side, field by field. */
#include "model/request_change.h"

#include <string.h>

#include "schema/member.h"
#include "text/duration.h"

static bool is_minutes(const struct field *field) {
    return str_equal(field->name, "time_limit") || str_equal(field->name, "time_min");
}

/* NULL = not set. */
static char *value_text(const struct field *field, const struct job_request *job,
                        struct arena *memory) {
    void *object = (void *) (uintptr_t) job;
    struct str text cleanup_str = STR_INIT;
    if (member_is_default(field, object))
        return NULL;
    if (is_minutes(field))
        minutes_print_long(*member_u32(field, object), "", &text);
    else if (field->type == FIELD_STR)
        str_append(&text, *member_str(field, object));
    else
        record_field_print(field, object, &text);
    return arena_strndup(memory, str_cstr(&text), text.length);
}

static bool differs(const struct field *field, const struct job_request *before,
                    const struct job_request *after) {
    const struct record alone = {"field", record_job_request.size, field, 1};
    return !record_equal(&alone, before, after);
}

void request_changes_add(const struct job_request *before, const struct job_request *after,
                         const char *by, struct arena *memory, struct request_change **items,
                         uint32_t *n) {
    size_t n_fields = record_job_request.n_fields;
    struct request_change *all = arena_alloc(memory, (*n + n_fields) * sizeof(*all));
    if (*n > 0)
        memcpy(all, *items, *n * sizeof(*all));
    for (size_t i = 0; i < n_fields; i++) {
        const struct field *field = &record_job_request.fields[i];
        if (!differs(field, before, after))
            continue;
        struct request_change *change = &all[(*n)++];
        record_init(&record_request_change, change);
        change->field = arena_strdup(memory, field->name);
        change->before = value_text(field, before, memory);
        change->after = value_text(field, after, memory);
        change->by = arena_strdup(memory, by);
    }
    *items = all;
}
