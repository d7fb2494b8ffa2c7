/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of questions: text with places for values, and the values. */
#include "acct/acct_internal.h"
#include "text/hostlist.h"

void filter_done(struct filter *filter) {
    str_done(&filter->sql);
    vec_done(&filter->values);
}

void filter_text(struct filter *filter, const char *condition) {
    str_printf(&filter->sql, "%s%s", filter->any ? " OR " : " AND ", condition);
}

void filter_add_all(struct filter *filter, const char *condition, struct db_values values) {
    filter_text(filter, condition);
    for (size_t i = 0; i < values.n; i++)
        vec_push(&filter->values, values.items[i]);
}

void filter_part(struct filter *filter, const struct filter *part) {
    filter_text(filter, part->any ? "(1 = 0" : "(1 = 1");
    str_append(&filter->sql, str_cstr(&part->sql));
    str_append_char(&filter->sql, ')');
    vec_each (&part->values, value)
        vec_push(&filter->values, *value);
}

void filter_add(struct filter *filter, const char *condition, struct db_value value) {
    filter_text(filter, condition);
    vec_push(&filter->values, value);
}

/* The number of places is rounded up, the last value again in those left over, so that there are
 * few different statements. */
static void filter_list(struct filter *filter, const char *column, const struct db_value *values,
                        size_t n) {
    size_t places = 1;
    while (places < n)
        places *= 4;
    filter_text(filter, column);
    str_append(&filter->sql, " IN (");
    for (size_t i = 0; i < places; i++) {
        str_append(&filter->sql, i ? ", ?" : "?");
        vec_push(&filter->values, values[min_of(i, n - 1)]);
    }
    str_append_char(&filter->sql, ')');
}

void filter_ints(struct filter *filter, const char *column, const int64_t *list, size_t n) {
    vec(struct db_value) values = {0};
    for (size_t i = 0; i < n; i++)
        vec_push(&values, db_int(list[i]));
    if (n > 0)
        filter_list(filter, column, values.items, n);
    vec_done(&values);
}

void filter_strs(struct filter *filter, const char *column, const struct strs *list) {
    vec(struct db_value) values = {0};
    for (uint32_t i = 0; i < list->n; i++)
        vec_push(&values, db_key(list->items[i]));
    if (list->n > 0)
        filter_list(filter, column, values.items, values.n);
    vec_done(&values);
}

void filter_u32s(struct filter *filter, const char *column, const struct u32s *list) {
    vec(int64_t) values = {0};
    for (uint32_t i = 0; i < list->n; i++)
        vec_push(&values, (int64_t) list->items[i]);
    filter_ints(filter, column, values.items, values.n);
    vec_done(&values);
}

int filter_clusters(struct acct *acct, struct filter *filter, const struct strs *names,
                    bool *ret_none, struct error *err) {
    struct cluster_names all = {0};
    int r = cluster_names_load(acct, &all, err);
    vec(int64_t) ids = {0};
    if (r == 0) {
        vec_each (&all.items, name)
            if (strs_pass(names, name->text))
                vec_push(&ids, name->id);
        *ret_none = ids.n == 0;
        filter_ints(filter, "cluster_id", ids.items, ids.n);
    }
    vec_done(&ids);
    cluster_names_done(&all);
    return r;
}

struct db_values filter_values(const struct filter *filter) {
    return (struct db_values) {filter->values.items, filter->values.n};
}

int nodes_wanted(const char *text, struct strs *ret, struct error *err) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    int r = text ? hostlist_parse(&list, text, err) : 0;
    for (size_t i = 0; r == 0 && i < list.n; i++)
        strs_push(ret, list.names[i]);
    return r;
}

bool nodes_meet(const struct strs *wanted, const char *nodes) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    if (wanted->n == 0)
        return true;
    if (hostlist_parse(&list, nodes, NULL) < 0)
        return strs_has(wanted, nodes);
    for (size_t i = 0; i < list.n; i++)
        if (strs_has(wanted, list.names[i]))
            return true;
    return false;
}
