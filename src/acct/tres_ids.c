/* SPDX-License-Identifier: Apache-2.0 */
#include "acct/tres_ids.h"

#include <string.h>

#include "text/tres.h"

int tres_ids_load(struct acct *acct, struct tres_ids *ret, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(acct->db, "SELECT id, name FROM tres ORDER BY id", DB_NO_VALUES, &rows, err);
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        vec_push(&ret->ids, db_column_int(rows, 0));
        vec_push(&ret->names, xstrdup(db_column_text(rows, 1)));
        r = 0;
    }
    return r;
}

void tres_ids_done(struct tres_ids *tres) {
    vec_each (&tres->names, name)
        free(*name);
    vec_done(&tres->names);
    vec_done(&tres->ids);
}

const char *tres_ids_name(const struct tres_ids *tres, int64_t id) {
    for (size_t i = 0; i < tres->ids.n; i++)
        if (tres->ids.items[i] == id)
            return tres->names.items[i];
    return NULL;
}

static int place_make(struct acct *acct, struct tres_ids *tres, const char *name, size_t *ret,
                      struct error *err) {
    for (size_t i = 0; i < tres->names.n; i++) {
        if (str_equal(tres->names.items[i], name)) {
            *ret = i;
            return 0;
        }
    }
    int64_t id = tres_standard_id(name, strlen(name));
    int r = id ? 0 : number_next(acct, "last_tres", 1, &id, err);
    const struct db_value row[] = {db_int(id), db_key(name)};
    if (r == 0)
        r = db_put(acct->db, &table_tres, row, 1, err);
    if (r < 0)
        return r;
    *ret = tres->ids.n;
    vec_push(&tres->ids, id);
    vec_push(&tres->names, xstrdup(name));
    return 0;
}

int tres_counts_read(struct acct *acct, struct tres_ids *tres, const char *text,
                     struct tres_counts *ret, struct error *err) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    ret->n = 0;
    if (tres_parse(text, &list, NULL) < 0)
        return 0;
    for (size_t i = 0; i < list.n && ret->n < TRES_COUNTS_MAX; i++) {
        const struct gres_item *item = &list.items[i];
        cleanup_free char *name =
            item->type ? xasprintf("%s:%s", item->name, item->type) : xstrdup(item->name);
        size_t at = 0;
        int r = place_make(acct, tres, name, &at, err);
        if (r < 0)
            return r;
        ret->items[ret->n].at = at;
        ret->items[ret->n++].count = item->count;
    }
    return 0;
}
