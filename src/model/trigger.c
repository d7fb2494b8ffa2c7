/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of trigger.h. */
#include "model/trigger.h"

#include "base/alloc.h"

static const struct name_row object_rows[] = {
#define X(constant, number, text) {TRIGGER_OBJECT_##constant, text, text},
    TRIGGER_OBJECTS(X)
#undef X
};
const struct names names_trigger_object = {object_rows, countof(object_rows)};

const struct trigger_row trigger_rows[] = {
#define X(constant, number, name, object, letter, option, comes, help)                             \
    {TRIGGER_##constant, TRIGGER_OBJECT_##object, name, option, help, letter, comes},
    TRIGGER_EVENTS(X)
#undef X
};
const size_t n_trigger_rows = countof(trigger_rows);

const struct trigger_row *trigger_row_find(uint32_t event) {
    for (size_t i = 0; i < n_trigger_rows; i++) {
        if ((uint32_t) trigger_rows[i].event == event)
            return &trigger_rows[i];
    }
    return NULL;
}

#define RECORD_ROW_trigger(...) RECORD_ROW(trigger, __VA_ARGS__)
RECORD_DEFINE(trigger, TRIGGER_FIELDS)
#define RECORD_ROW_trigger_list(...) RECORD_ROW(trigger_list, __VA_ARGS__)
RECORD_DEFINE(trigger_list, TRIGGER_LIST_FIELDS)
