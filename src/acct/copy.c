/* SPDX-License-Identifier: Apache-2.0 */
#include "acct/copy.h"

#include <string.h>

#define PAGE_ROWS 100 /* a record may have a script of megabytes */

int table_column(const struct db_table *table, const char *name) {
    for (size_t i = 0; i < table->n_columns; i++)
        if (str_equal(table->columns[i].name, name))
            return (int) i;
    return -1;
}

static void columns_list(const struct db_table *table, size_t n, struct str *out) {
    for (size_t i = 0; i < n; i++)
        str_printf(out, "%s%s", i ? ", " : "", table->columns[i].name);
}

/* Only rows behind the one with these keys. MariaDB finds its way in the index only when it is
 * spelled out. */
static void add_behind(struct filter *filter, const struct db_table *table,
                       const struct db_value *keys, bool spelled_out) {
    size_t n = table->n_keys;
    if (!spelled_out) {
        struct str text cleanup_str = STR_INIT;
        str_append_char(&text, '(');
        columns_list(table, n, &text);
        str_append(&text, ") > (?");
        for (size_t i = 1; i < n; i++)
            str_append(&text, ", ?");
        str_append_char(&text, ')');
        filter_add_all(filter, str_cstr(&text), (struct db_values) {keys, n});
        return;
    }
    struct filter any cleanup_filter = {.any = true};
    for (size_t i = 0; i < n; i++) {
        struct filter same cleanup_filter = {0};
        for (size_t k = 0; k <= i; k++) {
            cleanup_free char *text =
                xasprintf("%s %s ?", table->columns[k].name, k == i ? ">" : "=");
            filter_add(&same, text, keys[k]);
        }
        filter_part(&any, &same);
    }
    filter_part(filter, &any);
}

static void page_sql(const struct db_table *table, const struct filter *filter, struct str *out) {
    str_append(out, "SELECT ");
    columns_list(table, table->n_columns, out);
    str_printf(out, " FROM %s WHERE 1 = 1%s ORDER BY ", table->name, str_cstr(&filter->sql));
    columns_list(table, table->n_keys, out);
    str_printf(out, " LIMIT %d", PAGE_ROWS);
}

static struct db_value value_copy(struct db_rows *rows, unsigned column,
                                  const struct db_column *type, struct arena *memory) {
    if (type->type == DB_INT)
        return db_int(db_column_int(rows, column));
    struct bytes bytes = db_column_blob(rows, column);
    char *copy = arena_alloc(memory, bytes.size + 1);
    memcpy(copy, bytes.data ? (const char *) bytes.data : "", bytes.size);
    copy[bytes.size] = '\0';
    if (type->type == DB_TEXT)
        return type->is_key ? db_key(copy) : db_text(copy);
    return db_blob((struct bytes) {(const uint8_t *) copy, bytes.size});
}

struct page {
    vec(struct db_value) rows, keys; /* those to store; the keys of the last that was read */
    size_t n_read;
    struct arena memory;
};

static int page_read(struct copy *copy, const struct filter *filter, struct page *page,
                     struct error *err) {
    const struct db_table *table = copy->table;
    struct str sql cleanup_str = STR_INIT;
    struct db_rows *rows cleanup_rows = NULL;
    page_sql(table, filter, &sql);
    int r = db_query(copy->from, str_cstr(&sql), filter_values(filter), &rows, err);
    vec_reset(&page->rows);
    page->n_read = 0;
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        bool keep = true;
        vec_reserve(&page->rows, table->n_columns);
        struct db_value *row = &page->rows.items[page->rows.n];
        for (size_t i = 0; i < table->n_columns; i++)
            row[i] = value_copy(rows, (unsigned) i, &table->columns[i], &page->memory);
        vec_reset(&page->keys);
        for (size_t i = 0; i < table->n_keys; i++)
            vec_push(&page->keys, row[i]);
        r = copy->adapt ? copy->adapt(copy->context, table, row, &keep, err) : 0;
        if (keep)
            page->rows.n += table->n_columns;
        page->n_read++;
    }
    return r;
}

int copy_table(struct copy *copy, struct error *err) {
    const struct db_table *table = copy->table;
    struct page page = {0};
    int r = 0;
    do {
        struct filter filter cleanup_filter = {0};
        if (copy->which)
            filter_part(&filter, copy->which);
        if (page.keys.n > 0)
            add_behind(&filter, table, page.keys.items, db_backend(copy->from) == ACCT_MARIADB);
        struct arena before =
            page.memory; /* the keys live in it until the next page is asked for */
        page.memory = (struct arena) {0};
        arena_init(&page.memory, 0);
        r = page_read(copy, &filter, &page, err);
        arena_done(&before);
        size_t n = page.rows.n / table->n_columns;
        if (r == 0)
            r = db_put(copy->to, table, page.rows.items, n, err);
        copy->n_rows += n;
    } while (r == 0 && page.n_read == PAGE_ROWS);
    arena_done(&page.memory);
    vec_done(&page.rows);
    vec_done(&page.keys);
    return r;
}
