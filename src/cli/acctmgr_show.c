/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr show: one row per kind of thing that it lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "assoc/keys.h"
#include "base/alloc.h"
#include "cli/acctmgr.h"
#include "cli/json_assoc.h"
#include "text/tres.h"

struct query {
    const struct acctmgr_settings *settings;
    const struct assoc_index *index; /* of the cluster's that is being looked at */
    const struct assoc_list *list;   /* what it indexes */
    const struct conf *conf;
    struct smap *seen; /* what is of all clusters is listed once: its name -> itself */
    struct strs names, accounts, users, clusters, partitions, parents, qos, ids, wckeys;
    const char *format;
    bool tree, with_assoc, with_coordinators;
};

#define FIELDS_LIMITS                                                                              \
    "share,priority,grpjobs,grptres,grpsubmitjobs,grpwall,grptresmins,maxjobs,maxtres,"            \
    "maxtrespernode,maxsubmitjobs,maxwall,maxtresmins,qos,defaultqos,grptresrunmins"
#define FIELDS_QOS                                                                                 \
    "name,priority,gracetime,preempt,preemptexempttime,preemptmode,flags,usagethreshold,"          \
    "usagefactor,grptres,grptresmins,grptresrunmins,grpjobs,grpsubmitjobs,grpwall,maxtres,"        \
    "maxtrespernode,maxtresmins,maxwall,maxtrespu,maxjobspu,maxsubmitpu,maxtrespa,maxjobspa,"      \
    "maxsubmitpa,mintres"
#define FIELDS_USER_ASSOC                                                                          \
    ",cluster,account,partition,share,priority,maxjobs,maxnodes,maxcpus,maxsubmitjobs,maxwall,"    \
    "maxcpumins,qos,defaultqos"
#define FIELDS_ACCOUNT_ASSOC                                                                       \
    ",cluster,parentname,user,share,priority,grpjobs,grpnodes,grpcpus,grpmemory,grpsubmitjobs,"    \
    "grpwall,grpcpumins,maxjobs,maxnodes,maxcpus,maxsubmitjobs,maxwall,maxcpumins,qos,defaultqos"
#define FIELDS_CLUSTER                                                                             \
    "cluster,controlhost,controlport,rpc,share,grpjobs,grptres,grpsubmitjobs,maxjobs,maxtres,"     \
    "maxsubmitjobs,maxwall,qos,defaultqos"

/* ---- conditions ---- */

static int read_words(struct query *query, int argc, char **argv) {
    const struct acctmgr_condition conditions[] = {
        {"format", 1, WHERE_TEXT, &query->format},
        {"name", 1, WHERE_LOWER_WORDS, &query->names},
        {"account", 2, WHERE_LOWER_WORDS, &query->accounts},
        {"user", 1, WHERE_LOWER_WORDS, &query->users},
        {"cluster", 1, WHERE_LOWER_WORDS, &query->clusters},
        {"partition", 3, WHERE_LOWER_WORDS, &query->partitions},
        {"parent", 4, WHERE_LOWER_WORDS, &query->parents},
        {"qos", 1, WHERE_LOWER_WORDS, &query->qos},
        {"wckey", 2, WHERE_LOWER_WORDS, &query->wckeys},
        {"id", 1, WHERE_LOWER_WORDS, &query->ids},
        {"tree", 4, WHERE_FLAG, &query->tree},
        {"withassoc", 5, WHERE_FLAG, &query->with_assoc},
        {"associations", 12, WHERE_FLAG, &query->with_assoc},
        {"withcoordinators", 5, WHERE_FLAG, &query->with_coordinators},
        {"withdeleted", 5, WHERE_NOTHING, NULL}, /* what is deleted is gone */
        /* rows without limits show none anyway */
        {"wopinfo", 7, WHERE_NOTHING, NULL},
        {"wopi", 4, WHERE_NOTHING, NULL},
        {"wopl", 4, WHERE_NOTHING, NULL},
        {"wolimits", 8, WHERE_NOTHING, NULL},
        {NULL, 0, WHERE_LOWER_WORDS, &query->names},
    };
    return acctmgr_where(conditions, countof(conditions),
                         "name, account, user, cluster, partition, parent, qos, wckey, id", argc,
                         argv);
}

/* ---- rows ---- */

static struct assoc_row *row_push(const struct query *query, struct rows *rows,
                                  struct arena *arena) {
    struct assoc_row *row = arena_alloc(arena, sizeof(*row));
    *row = (struct assoc_row) {.index = query->index};
    rows_push(rows, row);
    return row;
}

static bool passes(const struct strs *filter, const char *text) {
    return filter->n == 0 || (text != NULL && strs_has_nocase(filter, text));
}

/* Has another cluster not had it yet? */
static bool is_first(const struct query *query, const char *name) {
    return name != NULL && smap_put(query->seen, name, (void *) (uintptr_t) name) == NULL;
}

static bool assoc_passes(const struct query *query, const struct assoc *assoc) {
    cleanup_free char *id = xasprintf("%u", assoc->id);
    const struct assoc_row row = {.index = query->index, .assoc = assoc};
    return (query->qos.n == 0 || strs_has_word(&query->qos, qos_of_row(&row))) &&
           passes(&query->accounts, assoc->account) && passes(&query->users, assoc->user) &&
           passes(&query->clusters, query->list->cluster) &&
           passes(&query->partitions, assoc->partition) && passes(&query->parents, assoc->parent) &&
           passes(&query->ids, id);
}

static void rows_qos(const struct query *query, struct rows *rows, struct arena *arena) {
    for (uint32_t i = 0; i < query->list->qos.n; i++) {
        const struct qos *qos = &query->list->qos.items[i];
        cleanup_free char *id = xasprintf("%u", qos->id);
        if (passes(&query->names, qos->name) && passes(&query->qos, qos->name) &&
            passes(&query->ids, id) && is_first(query, qos->name))
            rows_push(rows, qos);
    }
}

static void rows_assoc(const struct query *query, struct rows *rows, struct arena *arena) {
    for (uint32_t i = 0; i < query->list->assocs.n; i++) {
        const struct assoc *assoc = &query->list->assocs.items[i];
        if (!assoc_passes(query, assoc) ||
            (query->names.n > 0 && !passes(&query->names, assoc->user) &&
             !passes(&query->names, assoc->account)))
            continue;
        struct assoc_row *row = row_push(query, rows, arena);
        row->assoc = assoc;
        row->depth = query->tree
                         ? assoc_depth(query->index, assoc->account) + (assoc->user != NULL ? 1 : 0)
                         : 0;
    }
}

/* An account or a user: with its associations a line for each that meets the conditions, else one
 * line when any does. Who has none is listed unless a condition is about associations. */
static void push_with_assocs(const struct query *query, const struct assoc_row *entity,
                             struct rows *rows, struct arena *arena) {
    const char *name = entity->user != NULL ? entity->user->name : entity->account->name;
    bool any = false, asked = query->accounts.n + query->partitions.n + query->parents.n +
                                  query->qos.n + query->ids.n +
                                  (entity->user == NULL ? query->users.n : 0) >
                              0;
    const struct assoc_link *link = entity->user != NULL
                                        ? assoc_index_of_user(query->index, name)
                                        : assoc_index_of_account(query->index, name);
    for (; link != NULL; link = link->next) {
        const struct assoc *assoc = link->assoc;
        if (!assoc_passes(query, assoc))
            continue;
        any = true;
        if (!query->with_assoc)
            break;
        struct assoc_row *row = row_push(query, rows, arena);
        row->account = entity->account;
        row->user = entity->user;
        row->assoc = assoc;
    }
    if (query->with_assoc && any)
        (void) is_first(query, name);
    if ((query->with_assoc ? any || asked : !any && asked) || !is_first(query, name))
        return;
    struct assoc_row *row = row_push(query, rows, arena);
    row->account = entity->account;
    row->user = entity->user;
}

static void rows_account(const struct query *query, struct rows *rows, struct arena *arena) {
    for (uint32_t i = 0; i < query->list->accounts.n; i++) {
        const struct account *account = &query->list->accounts.items[i];
        if (passes(&query->names, account->name) && passes(&query->clusters, query->list->cluster))
            push_with_assocs(query, &(struct assoc_row) {.account = account}, rows, arena);
    }
}

static bool has_wckey(const struct query *query, const struct acct_user *user) {
    bool any = query->wckeys.n == 0;
    for (uint32_t i = 0; i < user->wckeys.n; i++)
        any |= strs_has(&query->wckeys, user->wckeys.items[i].name);
    return any;
}

static void rows_user(const struct query *query, struct rows *rows, struct arena *arena) {
    for (uint32_t i = 0; i < query->list->users.n; i++) {
        const struct acct_user *user = &query->list->users.items[i];
        if (passes(&query->names, user->name) && passes(&query->users, user->name) &&
            passes(&query->clusters, query->list->cluster) && has_wckey(query, user))
            push_with_assocs(query, &(struct assoc_row) {.user = user}, rows, arena);
    }
}

static int wckey_order(const void *a, const void *b) {
    const struct assoc_row *x = *(const void *const *) a, *y = *(const void *const *) b;
    int order = strcmp(x->wckey->name, y->wckey->name);
    return order != 0 ? order : strcmp(x->user->name, y->user->name);
}

static void rows_wckey(const struct query *query, struct rows *rows, struct arena *arena) {
    size_t first = rows->n;
    for (uint32_t i = 0; i < query->list->users.n; i++) {
        const struct acct_user *user = &query->list->users.items[i];
        for (uint32_t k = 0; k < user->wckeys.n; k++) {
            const struct user_wckey *key = &user->wckeys.items[k];
            cleanup_free char *id = xasprintf("%u", key->id);
            if (!passes(&query->names, key->name) || !passes(&query->wckeys, key->name) ||
                !passes(&query->users, user->name) || !passes(&query->ids, id) ||
                !passes(&query->clusters, query->list->cluster))
                continue;
            struct assoc_row *row = row_push(query, rows, arena);
            row->user = user;
            row->wckey = key;
        }
    }
    if (rows->n > first)
        qsort(&rows->items[first], rows->n - first, sizeof(rows->items[0]), wckey_order);
}

static void rows_cluster(const struct query *query, struct rows *rows, struct arena *arena) {
    if (!passes(&query->names, query->list->cluster) ||
        !passes(&query->clusters, query->list->cluster))
        return;
    if (query->list->cluster == NULL)
        return; /* there is none yet */
    struct assoc_row *row = row_push(query, rows, arena);
    row->assoc = assoc_index_own(query->index, ROOT_ACCOUNT);
}

static void rows_tres(const struct query *query, struct rows *rows, struct arena *arena) {
    if (!is_first(query, "cpu"))
        return;
    for (uint32_t i = 0; i < TRES_STANDARD; i++) {
        struct assoc_row *row = row_push(query, rows, arena);
        const char *slash = strchr(tres_standard[i], '/');
        row->tres_type = slash != NULL ? arena_strndup(arena, tres_standard[i],
                                                       (size_t) (slash - tres_standard[i]))
                                       : tres_standard[i];
        row->tres_name = slash != NULL ? slash + 1 : NULL;
        row->tres_id = i + 1;
    }
    uint32_t next = TRES_ID_OTHER;
    words_each (query->conf->gres_types, ",", name) {
        struct assoc_row *row = row_push(query, rows, arena);
        row->tres_type = "gres";
        row->tres_name = arena_strdup(arena, name);
        row->tres_id = next++;
    }
}

/* ---- showing ---- */

static const struct thing {
    enum acctmgr_thing thing;
    const struct column_table *table;
    const char *fields, *with_assoc, *with_coordinators;
    void (*rows)(const struct query *query, struct rows *rows, struct arena *arena);
    const char *json; /* the name of the array, */
    void (*json_row)(struct json *json, const struct rows *books, const void *row); /* its items */
} things[] = {
    {THING_QOS, &columns_qos, FIELDS_QOS, "", "", rows_qos, "qos", json_qos},
    {THING_ASSOC, &columns_assoc, "cluster,account,user,partition," FIELDS_LIMITS, "", "",
     rows_assoc, "associations", json_assoc},
    {THING_ACCOUNT, &columns_account, "account,description,organization", FIELDS_ACCOUNT_ASSOC,
     ",coordinators", rows_account, "accounts", json_account},
    {THING_USER, &columns_acct_user, "user,defaultaccount,adminlevel", FIELDS_USER_ASSOC,
     ",coordinators", rows_user, "users", json_acct_user},
    {THING_CLUSTER, &columns_acct_cluster, FIELDS_CLUSTER, "", "", rows_cluster, "clusters",
     json_cluster},
    {THING_WCKEY, &columns_wckey, "wckey,cluster,user", "", "", rows_wckey, "wckeys", json_wckey},
    {THING_TRES, &columns_tres, "type,name,id", "", "", rows_tres, "TRES", json_tres_kind},
};

/* ---- JSON ---- */

static int print_json(const struct query *query, const struct thing *thing,
                      const struct rows *books, const struct rows *rows) {
    const struct acctmgr_settings *settings = query->settings;
    struct str out cleanup_str = STR_INIT;
    struct json_dump dump;
    struct column_env env;
    list_env_init(&env, query->conf->cluster_name);
    json_dump_begin(&dump, settings->json, settings->argc, settings->argv, &env, &out);
    json_array(&dump.json, thing->json);
    for (size_t i = 0; i < rows->n; i++)
        thing->json_row(&dump.json, books, rows->items[i]);
    json_end(&dump.json);
    json_dump_end(&dump);
    list_output_all(&out);
    return 0;
}

int acctmgr_print(const struct acctmgr_settings *settings, const struct column_table *table,
                  const char *fields, const char *cluster, const struct rows *rows) {
    struct format format cleanup_format = FORMAT_INIT;
    struct str out cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    struct column_env env;
    if (format_parse_sacct(&format, table, fields, settings->parsable.on ? "|" : NULL,
                           settings->parsable.trailing, &err) < 0) {
        struct str names cleanup_str = STR_INIT;
        for (size_t i = 0; i < table->n; i++)
            str_join(&names, ", ", table->rows[i].name);
        fprintf(stderr, "%s\nFields are: %s\n", err.text, str_cstr(&names));
        return 1;
    }
    list_env_init(&env, cluster);
    if (!settings->no_header) {
        format_header(&format, &out);
        if (!settings->parsable.on)
            format_dashes(&format, &out);
    }
    rows_print(rows, &format, &env, &out);
    list_output_all(&out);
    return 0;
}

/* Where jobs count for keys, a user's default is worth a column. */
static void fields_insert_wckey(struct str *fields) {
    cleanup_free char *rest = xstrdup(strstr(fields->data, ",adminlevel"));
    fields->length -= strlen(rest);
    fields->data[fields->length] = '\0';
    str_printf(fields, ",defaultwckey%s", rest);
}

static int print_rows(const struct query *query, const struct thing *thing,
                      const struct rows *rows) {
    struct str fields cleanup_str = STR_INIT;
    str_append(&fields, query->format != NULL ? query->format : thing->fields);
    if (query->format == NULL && thing->thing == THING_USER && query->conf->track_wckey)
        fields_insert_wckey(&fields);
    if (query->format == NULL && query->with_assoc)
        str_append(&fields, thing->with_assoc);
    if (query->format == NULL && query->with_coordinators)
        str_append(&fields, thing->with_coordinators);
    return acctmgr_print(query->settings, thing->table, fields.data, query->list->cluster, rows);
}

static void query_done(struct query *query) {
    struct strs *lists[] = {&query->names,    &query->accounts,   &query->users,
                            &query->clusters, &query->partitions, &query->parents,
                            &query->qos,      &query->ids,        &query->wckeys};
    for (size_t i = 0; i < countof(lists); i++)
        strs_done(lists[i]);
}

static int show_books(struct query *query, const struct thing *thing, const struct rows *books) {
    cleanup_free struct assoc_index *indexes = xcalloc(books->n + 1, sizeof(*indexes));
    struct rows rows = {NULL, 0, 0}, indexed = {NULL, 0, 0};
    struct smap seen = SMAP_INIT;
    struct arena arena;
    arena_init(&arena, 0);
    query->seen = &seen;
    for (size_t i = 0; i < books->n; i++) {
        assoc_index_init(&indexes[i], books->items[i]);
        rows_push(&indexed, &indexes[i]);
        query->index = &indexes[i];
        query->list = books->items[i];
        thing->rows(query, &rows, &arena);
    }
    int status = query->settings->json != NULL ? print_json(query, thing, &indexed, &rows)
                                               : print_rows(query, thing, &rows);
    for (size_t i = 0; i < books->n; i++)
        assoc_index_done(&indexes[i]);
    smap_done(&seen);
    rows_done(&rows);
    rows_done(&indexed);
    arena_done(&arena);
    return status;
}

int acctmgr_show(struct list_session *session, const struct acctmgr_settings *settings,
                 enum acctmgr_thing which, int argc, char **argv) {
    struct query query = {.settings = settings,
                          .conf = list_session_conf(session),
                          .with_assoc = settings->with_assoc && settings->json == NULL};
    const struct thing *thing = NULL;
    struct rows books = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    for (size_t i = 0; i < countof(things); i++)
        thing = things[i].thing == which ? &things[i] : thing;
    if (settings->json != NULL && thing == NULL) {
        fprintf(stderr, "--json and --yaml are for account, association, cluster, qos, tres, user "
                        "and wckey\n");
        return 1;
    }
    if (which == THING_EVENT)
        return acctmgr_show_events(session, settings, argc, argv);
    if (which == THING_PROBLEM)
        return acctmgr_show_problems(session, settings, argc, argv);
    if (which == THING_RUNAWAY)
        return acctmgr_show_runaways(session, settings, argc, argv);
    if (which == THING_CONFIGURATION)
        return acctmgr_show_configuration(session);
    if (which == THING_STATS)
        return acctmgr_show_stats(session);
    if (which == THING_CHANGE)
        return acctmgr_show_changes(session, settings, argc, argv);
    if (thing == NULL) {
        fprintf(stderr, "No valid entity in list command\nInput line must include \"Account\", "
                        "\"Association\", \"Cluster\", \"Configuration\", \"Event\", \"Problem\", "
                        "\"QOS\", \"RunawayJobs\", "
                        "\"Stats\", \"Transaction\", \"TRES\", \"User\", or \"WCKey\"\n");
        return 1;
    }
    int status = read_words(&query, argc, argv);
    query.with_assoc &= settings->json == NULL; /* a record has them all */
    if (status == 0 && list_books(session, &books, &err) < 0) {
        list_load_error("sacctmgr: error", &err);
        status = 1;
    }
    if (status == 0)
        status = show_books(&query, thing, &books);
    rows_done(&books);
    query_done(&query);
    return status;
}
