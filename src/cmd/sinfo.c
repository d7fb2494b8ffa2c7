/* SPDX-License-Identifier: Apache-2.0 */
/* sinfo: shows partitions and nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/columns_node.h"
#include "cli/json_dump.h"
#include "cli/list.h"
#include "cli/list_options.h"
#include "cli/show.h"
#include "model/conf.h"
#include "text/hostlist.h"

#define WIDTH_MIN 9 /* of the automatic columns */

struct settings {
    const char *format, *format_long, *format_env, *sort, *clusters;
    const char *json;
    bool by_node; /* -n was given, though perhaps empty */
    struct hostlist nodes;
    struct strs partitions;
    struct node_states states;
    bool all, dead, responding, exact, future, per_node, long_form, summary, reasons, reservations;
    bool no_header, raw_units;
    uint64_t iterate;
};

/* ---- options ---- */
#define SET(name) static void name(void *data, const char *value)
#define SETTINGS ((struct settings *) data)
#define AT(member) offsetof(struct settings, member)

SET(set_iterate) {
    if (!str_to_u64(value, &SETTINGS->iterate) || SETTINGS->iterate == 0)
        list_fail("Error: invalid entry for --iterate=%s", value);
}
SET(set_nodes) {
    struct error err = ERROR_INIT;
    SETTINGS->by_node = true;
    if (hostlist_parse(&SETTINGS->nodes, value, &err) < 0)
        list_fail("%s", err.text);
}
SET(set_states) {
    struct error err = ERROR_INIT;
    if (node_states_parse(&SETTINGS->states, value, &err) < 0) {
        struct str names cleanup_str = STR_INIT;
        node_states_names(&names);
        list_error("%s", err.text);
        list_fail("valid states: %s", str_cstr(&names));
    }
}

/* clang-format off */
static const struct list_option option_rows[] = {
    {"all", 'a', LIST_ARG_NONE, "SINFO_ALL", list_set_true, NULL, "hidden partitions too", AT(all)},
    {"dead", 'd', LIST_ARG_NONE, NULL, list_set_true, NULL, "only nodes that do not respond",
        AT(dead)},
    {"exact", 'e', LIST_ARG_NONE, NULL, list_set_true, NULL,
        "merge only nodes of the same configuration", AT(exact)},
    {"federation", 0, LIST_ARG_NONE, "SINFO_FEDERATION", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"future", 'F', LIST_ARG_NONE, NULL, list_set_true, NULL, "nodes in state FUTURE too",
        AT(future)},
    {"hide", 0, LIST_ARG_NONE, NULL, list_set_false, NULL, "no hidden partitions", AT(all)},
    {"iterate", 'i', LIST_ARG_REQUIRED, NULL, set_iterate, "seconds", "repeat at this interval"},
    {"json", 0, LIST_ARG_OPTIONAL, NULL, list_set_json, "data_parser", "JSON output", AT(json)},
    {"local", 0, LIST_ARG_NONE, "SINFO_LOCAL", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"long", 'l', LIST_ARG_NONE, NULL, list_set_true, NULL, "long output", AT(long_form)},
    {"clusters", 'M', LIST_ARG_REQUIRED, "SLURM_CLUSTERS", list_set_text, "names",
        "the cluster to ask", AT(clusters)},
    {"cluster", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "names", NULL, AT(clusters)},
    {"nodes", 'n', LIST_ARG_REQUIRED, NULL, set_nodes, "NODES", "only these nodes"},
    {"noconvert", 0, LIST_ARG_NONE, NULL, list_set_true, NULL, "no larger units", AT(raw_units)},
    {"Node", 'N', LIST_ARG_NONE, NULL, list_set_true, NULL, "one line for each node", AT(per_node)},
    {"noheader", 'h', LIST_ARG_NONE, NULL, list_set_true, NULL, "no headers on output",
        AT(no_header)},
    {"format", 'o', LIST_ARG_REQUIRED, NULL, list_set_text, "format", "format specification",
        AT(format)},
    {"Format", 'O', LIST_ARG_REQUIRED, NULL, list_set_text, "format", "format by field names",
        AT(format_long)},
    {NULL, 0, LIST_ARG_REQUIRED, "SINFO_FORMAT", list_set_text, NULL, NULL, AT(format_env)},
    {"partition", 'p', LIST_ARG_REQUIRED, "SINFO_PARTITION", list_set_words, "PARTITION",
        "only these partitions", AT(partitions)},
    {"responding", 'r', LIST_ARG_NONE, NULL, list_set_true, NULL, "only nodes that respond",
        AT(responding)},
    {"list-reasons", 'R', LIST_ARG_NONE, NULL, list_set_true, NULL,
        "why nodes are down or drained", AT(reasons)},
    {"summarize", 's', LIST_ARG_NONE, NULL, list_set_true, NULL, "a line for each partition",
        AT(summary)},
    {"sort", 'S', LIST_ARG_REQUIRED, "SINFO_SORT", list_set_text, "fields",
        "comma separated list of fields to sort on", AT(sort)},
    {"states", 't', LIST_ARG_REQUIRED, NULL, set_states, "node_state",
        "only nodes in these states"},
    {"reservation", 'T', LIST_ARG_NONE, NULL, list_set_true, NULL, "list reservations",
        AT(reservations)},
    {"verbose", 'v', LIST_ARG_NONE, NULL, NULL, NULL, "verbosity level"},
    {"yaml", 0, LIST_ARG_OPTIONAL, NULL, list_set_yaml, "data_parser", "YAML output", AT(json)},
};
/* clang-format on */
static const struct list_options options = {
    option_rows, countof(option_rows),
    "sinfo [-abdelNRrsTv] [-i seconds] [-t states] [-p partition] [-n nodes]\n"
    "             [-S fields] [-o format] [-O Format] [--federation] [--local]"};

/* ---- the listing ---- */
struct listing {
    struct settings *settings;
    struct list_session session;
    struct format format;
    struct sort_spec sort;
    struct rows nodes, partitions;
};

static bool node_is_named(const struct hostlist *names, const struct node *node) {
    for (size_t i = 0; i < names->n; i++) {
        if (str_equal(names->names[i], node->name) || str_equal(names->names[i], node->hostname))
            return true;
    }
    return false;
}

static bool node_is_shown(const struct settings *settings, const struct node *node) {
    bool silent = node->flags & NODE_FLAG_NOT_RESPONDING;
    if (settings->dead && !silent)
        return false;
    if (settings->responding && silent)
        return false;
    if (node->state == NODE_FUTURE && !settings->future && settings->states.tests.n == 0)
        return false;
    if (settings->reasons && (!node->reason || !*node->reason))
        return false;
    if (settings->by_node && !node_is_named(&settings->nodes, node))
        return false;
    return node_states_match(&settings->states, node);
}

static int natural_order(const void *a, const void *b) {
    const struct node *const *x = a, *const *y = b;
    return hostname_compare((*x)->name, (*y)->name);
}

/* Drops nodes that are not wanted; what is left is in the order of names, and `index` says so. */
static void nodes_filter(struct listing *listing) {
    struct rows *nodes = &listing->nodes;
    size_t n = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        if (node_is_shown(listing->settings, nodes->items[i]))
            nodes->items[n++] = nodes->items[i];
    }
    nodes->n = n;
    if (n)
        qsort(nodes->items, n, sizeof(*nodes->items), natural_order);
    for (size_t i = 0; i < n; i++)
        ((struct node *) (uintptr_t) nodes->items[i])->index = (uint32_t) i;
}

static void partitions_filter(struct listing *listing) {
    const struct settings *settings = listing->settings;
    struct rows *partitions = &listing->partitions;
    size_t n = 0;
    for (size_t i = 0; i < partitions->n; i++) {
        const struct partition *partition = partitions->items[i];
        bool named = strs_has(&settings->partitions, partition->name);
        bool visible = settings->all || list_groups_allow(partition->allow_groups);
        if (visible && (settings->partitions.n ? named : !partition->hidden || settings->all))
            partitions->items[n++] = partition;
    }
    partitions->n = n;
}

/* Members of struct node that every listing reads. */
static void node_fields(struct field_mask *mask) {
    static const char *const members[] = {
        "name",     "hostname", "state",     "flags",  "cpus",     "alloc_cpus",
        "sockets",  "cores",    "threads",   "memory", "tmp_disk", "weight",
        "cpu_load", "free_mem", "alloc_mem", "reason", "index",
    };
    for (size_t i = 0; i < countof(members); i++)
        field_mask_add(mask, record_field(&record_node, members[i])->number);
}

static int listing_load(struct listing *listing, struct error *err) {
    struct list_request request;
    struct field_mask mask = {{0}};
    record_init(&record_list_request, &request);
    request.all = true; /* hidden partitions are left out here, named ones are shown */
    int result = list_partitions(&listing->session, &request, &listing->partitions, err);
    if (result < 0)
        return result;
    node_fields(&mask);
    format_fields(&listing->format, &columns_node, &mask);
    sort_fields(&listing->sort, &columns_node, &mask);
    if (!listing->settings->json)
        request.fields = (struct blob) {(uint8_t *) &mask, sizeof(mask)};
    return list_nodes(&listing->session, &request, &listing->nodes, err);
}

/* ---- formats ---- */
static uint32_t partition_width(const struct listing *listing) {
    size_t width = WIDTH_MIN;
    for (size_t i = 0; i < listing->partitions.n; i++) {
        const struct partition *partition = listing->partitions.items[i];
        width = max_of(width, strlen(partition->name) + partition->is_default);
    }
    return (uint32_t) width;
}

static uint32_t node_width(const struct listing *listing) {
    size_t width = WIDTH_MIN;
    for (size_t i = 0; i < listing->nodes.n; i++)
        width = max_of(width, strlen(((const struct node *) listing->nodes.items[i])->name));
    return (uint32_t) width;
}

/* The built-in layouts, with the automatic widths filled in. */
static char *layout(const struct listing *listing) {
    const struct settings *settings = listing->settings;
    uint32_t part = partition_width(listing), node = node_width(listing);
    if (settings->summary)
        return xasprintf("%%%uP %%.5a %%.10l %%.16F %%N", part);
    if (settings->reasons)
        return xstrdup(settings->long_form ? "%20E %12U %19H %6t %N" : "%20E %9u %19H %N");
    if (settings->per_node && settings->long_form)
        return xasprintf("%%%uN %%.6D %%.%uP %%.11T %%4c %%.8z %%.6m %%.8d %%.6w %%.8f %%20E", node,
                         part);
    if (settings->per_node)
        return xasprintf("%%%uN %%.6D %%.%uP %%6t", node, part);
    if (settings->long_form)
        return xasprintf("%%%uP %%.5a %%.10l %%.10s %%.4r %%.8h %%.10g %%.6D %%.11T %%.11i %%N",
                         part);
    return xasprintf("%%%uP %%.5a %%.10l %%.6D %%.6t %%N", part);
}

/* Unknown columns are reported once the names are known; fields are needed before nodes are, so
 * the format is parsed twice when its widths depend on what was loaded. */
static void format_prepare(struct listing *listing, bool report) {
    const struct settings *settings = listing->settings;
    struct str unknown cleanup_str = STR_INIT;
    format_done(&listing->format);
    if (settings->format_long) {
        format_parse_names(&listing->format, &columns_node, settings->format_long, &unknown);
    } else {
        cleanup_free char *text = settings->format       ? xstrdup(settings->format)
                                  : settings->format_env ? xstrdup(settings->format_env)
                                                         : layout(listing);
        format_parse_letters(&listing->format, &columns_node, text, &unknown);
    }
    cleanup_free char *names = xstrdup(str_cstr(&unknown));
    char *cursor = names, *name;
    while (report && (name = str_next_word(&cursor, "\n"))) {
        if (settings->format_long)
            list_error("Invalid job format specification: %s", name);
        else
            fprintf(stderr, "Invalid node format specification: %s\n", name);
    }
}

static void listing_print(struct listing *listing, struct column_env *env, struct str *out) {
    const struct settings *settings = listing->settings;
    struct rows rows = {NULL, 0, 0};
    struct node_rows_options grouping = {.per_node = settings->per_node, .exact = settings->exact};
    bool keep_empty = !settings->reasons && !settings->per_node;
    node_rows_build(&listing->nodes, &listing->partitions, &listing->format, &grouping, keep_empty,
                    env, &rows);
    rows_sort(&listing->sort, rows.items, rows.n, env);
    if (!settings->no_header && (settings->long_form || settings->iterate))
        list_date_print(env->now, out);
    if (settings->clusters && !settings->no_header)
        str_printf(out, "CLUSTER: %s\n", env->cluster);
    if (!settings->no_header)
        format_header(&listing->format, out);
    rows_print(&rows, &listing->format, env, out);
    node_rows_free(&rows);
}

static int listing_show(struct listing *listing, int argc, char **argv) {
    const struct settings *settings = listing->settings;
    struct str out cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    struct column_env env;
    list_env_init(&env, list_session_conf(&listing->session)->cluster_name);
    env.raw_units = settings->raw_units;
    format_prepare(listing, false);
    int result = listing_load(listing, &err);
    if (result < 0) {
        list_load_error("slurm_load_partitions", &err);
    } else {
        partitions_filter(listing);
        nodes_filter(listing);
        if (settings->json) {
            json_dump_sinfo(&listing->nodes, &listing->partitions, settings->json, argc, argv, &env,
                            &out);
        } else {
            format_prepare(listing, true);
            listing_print(listing, &env, &out);
        }
    }
    if (settings->iterate)
        str_append_char(&out, '\n');
    list_output_all(&out);
    rows_done(&listing->nodes);
    rows_done(&listing->partitions);
    list_session_close(&listing->session);
    return result < 0 ? 1 : 0;
}

static int reservations_show(struct listing *listing, int argc, char **argv) {
    const struct settings *settings = listing->settings;
    struct list_request request;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    struct str out cleanup_str = STR_INIT;
    struct column_env env;
    record_init(&record_list_request, &request);
    list_env_init(&env, list_session_conf(&listing->session)->cluster_name);
    struct show_options show = {.env = &env};
    int result = list_reservations(&listing->session, &request, &rows, &err);
    if (result < 0)
        list_load_error("slurm_load_reservations", &err);
    else if (settings->json)
        json_dump_reservations(&rows, settings->json, argc, argv, &env, &out);
    else if (rows.n == 0)
        str_append(&out, "No reservations in the system\n");
    else
        show_reservation_table((const struct reservation *const *) rows.items, rows.n,
                               settings->no_header, &show, &out);
    if (settings->iterate)
        str_append_char(&out, '\n');
    list_output_all(&out);
    rows_done(&rows);
    list_session_close(&listing->session);
    return result < 0 ? 1 : 0;
}

int main(int argc, char **argv) {
    struct settings settings = {0};
    struct error err = ERROR_INIT;
    list_options_parse(&options, argc, argv, &settings); /* words after the options are ignored */
    struct listing listing = {.settings = &settings};
    const char *sort = settings.sort ? settings.sort : settings.per_node ? "N" : "#P,-t";
    if (sort_parse(&listing.sort, &columns_node, sort, &err) < 0)
        list_fail("%s", err.text);
    list_session_init(&listing.session, "sinfo");
    if (settings.clusters)
        list_clusters_check(&listing.session, settings.clusters);
    int (*show)(struct listing *, int, char **) =
        settings.reservations ? reservations_show : listing_show;
    int status = show(&listing, argc, argv);
    while (settings.iterate) {
        sleep((unsigned) settings.iterate);
        status = show(&listing, argc, argv);
    }
    format_done(&listing.format);
    node_states_done(&settings.states);
    strs_done(&settings.partitions);
    hostlist_done(&settings.nodes);
    return status;
}
