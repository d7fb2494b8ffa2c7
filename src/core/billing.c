/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job costs a second: the weighted sum of what it holds, by TRESBillingWeights of its
 * partition. With PriorityFlags=MAX_TRES the largest term of what is on nodes counts in place of
 * their sum, so that who takes most of the memory pays for the node that nobody else can use; with
 * MAX_TRES_GRES GRES are added to that.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "model/conf.h"

/* Memory is in MiB, as its weight is without a unit: 0.25G is 0.25 for each GiB. */
static double unit_of_weight(const char *unit) {
    switch (toupper((unsigned char) unit[0])) {
    case 'K':
        return 1024.0;
    case 'G':
        return 1 / 1024.0;
    case 'T':
        return 1 / 1024.0 / 1024;
    case 'P':
        return 1 / 1024.0 / 1024 / 1024;
    default:
        return 1;
    }
}

static uint64_t amount_of(const struct gres_list *list, char *name) {
    text_lower(name);
    char *type = strchr(name, ':');
    if (type != NULL)
        *type++ = '\0';
    return gres_list_count(list, name, type);
}

double billing_of(const struct core *core, const char *partition, uint64_t cpus, uint64_t mem,
                  uint32_t nodes, const char *gres) {
    cleanup_free char *first = xstrndup(partition != NULL ? partition : "",
                                        strcspn(partition != NULL ? partition : "", ","));
    const struct core_partition *part =
        partition_find((struct core *) (uintptr_t) core, first, NULL);
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    cleanup_free char *amounts = tres_text(cpus, mem, nodes, gres, UNSET64);
    const char *weights = part != NULL ? part->rec.tres_billing_weights : NULL;
    if (weights == NULL || weights[0] == '\0' || tres_parse(amounts, &list, NULL) < 0)
        return (double) cpus;
    uint64_t flags = core->settings.priority_flags;
    bool takes_largest = flags & (CONF_PRIORITY_MAX_TRES | CONF_PRIORITY_MAX_TRES_GRES);
    double sum = 0, largest = 0;
    words_each (weights, ", ", word) {
        char *equals = strchr(word, '='), *end = NULL;
        if (equals == NULL)
            continue;
        *equals = '\0';
        double weight = strtod(equals + 1, &end);
        double term = weight * unit_of_weight(end) * (double) amount_of(&list, word);
        bool added = !takes_largest || str_starts(word, "license/") ||
                     ((flags & CONF_PRIORITY_MAX_TRES_GRES) && str_starts(word, "gres/"));
        if (added)
            sum += term;
        else
            largest = max_of(largest, term);
    }
    return sum + largest;
}
