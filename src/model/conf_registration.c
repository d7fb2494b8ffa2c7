/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a node that registers is what the configuration says it is. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "model/conf.h"

/* How many of a resource the list has; without a type all types count. */
static uint64_t gres_count(const struct gres_list *list, const char *name, const char *type) {
    uint64_t count = 0;
    for (size_t i = 0; list != NULL && i < list->n; i++) {
        const struct gres_item *item = &list->items[i];
        if (strcasecmp(item->name, name) == 0 &&
            (type == NULL || (item->type != NULL && strcasecmp(item->type, type) == 0)))
            count += item->count;
    }
    return count;
}

/* True if item i is the first of its name (and type, where types are compared). */
static bool is_first(const struct gres_list *list, size_t i, bool typed) {
    for (size_t k = 0; k < i; k++) {
        if (strcasecmp(list->items[k].name, list->items[i].name) != 0)
            continue;
        if (!typed || (list->items[k].type != NULL && list->items[i].type != NULL &&
                       strcasecmp(list->items[k].type, list->items[i].type) == 0))
            return false;
    }
    return true;
}

/* Totals first; a type is named only where the totals do not already tell of the loss. */
static void gres_check(const struct gres_list *configured, const struct gres_list *found,
                       struct str *reason) {
    for (size_t i = 0; configured != NULL && i < configured->n; i++) {
        const struct gres_item *item = &configured->items[i];
        uint64_t want = gres_count(configured, item->name, NULL);
        uint64_t have = gres_count(found, item->name, NULL);
        cleanup_str struct str text = STR_INIT;
        if (have < want && is_first(configured, i, false)) {
            str_printf(&text,
                       "gres/%s count reported lower than configured (%" PRIu64 " < %" PRIu64 ")",
                       item->name, have, want);
        } else if (have >= want && item->type != NULL && is_first(configured, i, true)) {
            want = gres_count(configured, item->name, item->type);
            have = gres_count(found, item->name, item->type);
            if (have < want)
                str_printf(&text,
                           "gres/%s:%s count reported lower than configured (%" PRIu64 " < %" PRIu64
                           ")",
                           item->name, item->type, have, want);
        }
        if (text.length > 0)
            str_join(reason, ", ", str_cstr(&text));
    }
}

bool conf_node_registration_check(const struct conf_node *node,
                                  const struct conf_registration *found, bool config_overrides,
                                  uint32_t memory_percent, struct str *reason) {
    size_t before = reason->length;
    if (!config_overrides) {
        uint64_t want = (uint64_t) node->sockets * node->cores_per_socket * node->threads_per_core;
        uint64_t have =
            (uint64_t) found->sockets * found->cores_per_socket * found->threads_per_core;
        if (have < want)
            str_join(reason, ", ", "Low socket*core*thread count");
        if (found->cpus < node->cpus)
            str_join(reason, ", ", "Low CPUs");
        if ((double) found->real_memory < (double) node->real_memory * memory_percent / 100.0) {
            cleanup_str struct str text = STR_INIT;
            str_printf(&text,
                       "Low RealMemory (reported:%" PRIu64 " < %u.00%% of configured:%" PRIu64 ")",
                       found->real_memory, memory_percent, node->real_memory);
            str_join(reason, ", ", str_cstr(&text));
        }
        if (found->tmp_disk < node->tmp_disk)
            str_join(reason, ", ", "Low TmpDisk");
    }
    gres_check(node->gres, found->gres, reason);
    return reason->length == before;
}
