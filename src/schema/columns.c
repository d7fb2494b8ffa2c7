/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns: parsing of formats, padding and cutting of cells, sorting. A cell is printed straight
 * into the output and then moved or cut in place, so that a listing of 100,000 rows allocates
 * nothing per cell.
 */
#include "schema/columns.h"

#include <ctype.h>
#include <strings.h>

#include "text/timestamp.h"

static const struct column *column_by_letter(const struct column_table *table, char letter) {
    for (size_t i = 0; i < table->n; i++) {
        if (table->rows[i].letter == letter && letter)
            return &table->rows[i];
    }
    return NULL;
}

static const struct column *column_by_name(const struct column_table *table, const char *name) {
    for (size_t i = 0; i < table->n; i++) {
        if (table->rows[i].name && !strcasecmp(table->rows[i].name, name))
            return &table->rows[i];
    }
    return NULL;
}

/* The first unambiguous or, as sacct's users expect, simply the first column that starts so. */
static const struct column *column_by_prefix(const struct column_table *table, const char *name) {
    const struct column *exact = column_by_name(table, name);
    if (exact || !*name)
        return exact;
    for (size_t i = 0; i < table->n; i++) {
        if (table->rows[i].name && str_starts_nocase(table->rows[i].name, name))
            return &table->rows[i];
    }
    return NULL;
}

/* Calls fn for each member named in `needs`. */
static void needs_each(const struct column *column, const struct column_table *table,
                       void (*fn)(const struct field *field, void *context), void *context) {
    if (!column->needs || !table->record)
        return;
    char name[64];
    const char *at = column->needs;
    while (*at) {
        size_t length = strcspn(at, " ");
        if (length && length < sizeof(name)) {
            memcpy(name, at, length);
            name[length] = '\0';
            const struct field *field = record_field(table->record, name);
            if (field)
                fn(field, context);
        }
        at += length;
        at += strspn(at, " ");
    }
}

static void mask_add(const struct field *field, void *context) {
    field_mask_add(context, field->number);
}

static void column_fields(const struct column *column, const struct column_table *table,
                          struct field_mask *mask) {
    needs_each(column, table, mask_add, mask);
}

void format_fields(const struct format *format, const struct column_table *table,
                   struct field_mask *mask) {
    for (size_t i = 0; i < format->cells.n; i++) {
        if (format->cells.items[i].column)
            column_fields(format->cells.items[i].column, table, mask);
    }
}

struct first_offset {
    size_t offset;
    bool found;
};

static void first_take(const struct field *field, void *context) {
    struct first_offset *first = context;
    if (!first->found)
        *first = (struct first_offset) {field->offset, true};
}

static size_t column_offset(const struct column *column, const struct column_table *table) {
    struct first_offset first = {0, false};
    if (table->rows_are_records)
        needs_each(column, table, first_take, &first);
    return first.offset;
}

/* ---- formats ---- */
void format_done(struct format *format) {
    vec_each (&format->cells, cell)
        free(cell->suffix);
    vec_done(&format->cells);
    free(format->prefix);
    format->prefix = NULL;
}

/* Appends one column. suffix may be NULL. */
static struct cell *format_add(struct format *format, const struct column_table *table,
                               const struct column *column, uint32_t width, bool right,
                               const char *suffix) {
    struct cell *cell = vec_add(&format->cells);
    cell->column = column;
    cell->offset = column ? column_offset(column, table) : 0;
    cell->width = width > COLUMN_WIDTH_MAX ? COLUMN_WIDTH_MAX : width;
    cell->right = right;
    cell->suffix = xstrdup(suffix ? suffix : "");
    cell->suffix_length = strlen(cell->suffix);
    return cell;
}

/* `[.][width]` at *at. */
static uint32_t width_parse(const char **at, bool *ret_right) {
    uint32_t width = 0;
    *ret_right = **at == '.';
    if (*ret_right)
        (*at)++;
    while (isdigit((unsigned char) **at)) {
        if (width <= COLUMN_WIDTH_MAX)
            width = width * 10 + (uint32_t) (**at - '0');
        (*at)++;
    }
    return width;
}

static void format_add_all(struct format *format, const struct column_table *table) {
    for (int letter = 'A'; letter <= 'z'; letter++) {
        /* Lower-case letters first. */
        int c = letter <= 'Z' ? tolower(letter) : toupper(letter);
        const struct column *column = isalpha(c) ? column_by_letter(table, (char) c) : NULL;
        if (column && !(column->flags & COLUMN_HIDDEN))
            format_add(format, table, column, 0, false, "|");
    }
    if (format->cells.n) {
        struct cell *last = &format->cells.items[format->cells.n - 1];
        last->suffix[0] = '\0';
        last->suffix_length = 0;
    }
}

/* One token without its '%'. */
static void letter_parse(struct format *format, const struct column_table *table, const char *token,
                         struct str *unknown) {
    const char *at = token;
    bool right;
    uint32_t width = width_parse(&at, &right);
    const struct column *column = *at ? column_by_letter(table, *at) : NULL;
    if (column && column->print) {
        format_add(format, table, column, width, right, at + 1);
        return;
    }
    str_append_bytes(unknown, at, *at ? 1 : 0);
    str_append_char(unknown, '\n');
    cleanup_free char *literal = xasprintf("%%%s", token);
    format_add(format, table, NULL, 0, false, literal);
}

void format_parse_letters(struct format *format, const struct column_table *table, const char *text,
                          struct str *unknown) {
    if (!strcasecmp(text, "%all")) {
        format_add_all(format, table);
        return;
    }
    /* Runs of % count as one, and a % at the end says nothing: so have scripts been read always. */
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy;
    bool first = true;
    char *token;
    while ((token = str_next_word(&cursor, "%"))) {
        if (first && text[0] != '%')
            format->prefix = xstrdup(token);
        else
            letter_parse(format, table, token, unknown);
        first = false;
    }
}

static void name_parse(struct format *format, const struct column_table *table, char *token,
                       struct str *unknown) {
    uint32_t width = COLUMN_LONG_WIDTH;
    bool right = false;
    const char *suffix = "";
    char *colon = strchr(token, ':');
    if (colon) {
        *colon = '\0';
        suffix = colon + 1;
        width = width_parse(&suffix, &right);
    }
    const struct column *column = column_by_name(table, str_trim(token));
    if (!column) {
        str_append(unknown, token);
        str_append_char(unknown, '\n');
        return;
    }
    format_add(format, table, column, width, right, suffix);
}

void format_parse_names(struct format *format, const struct column_table *table, const char *text,
                        struct str *unknown) {
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy, *token;
    while ((token = str_next_word(&cursor, ",")))
        name_parse(format, table, token, unknown);
}

int format_parse_sacct(struct format *format, const struct column_table *table, const char *text,
                       const char *delimiter, bool trailing, struct error *err) {
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy, *token;
    while ((token = str_next_word(&cursor, ","))) {
        token = str_trim(token);
        char *percent = strchr(token, '%');
        if (percent)
            *percent = '\0';
        const struct column *column = column_by_prefix(table, token);
        if (!column)
            return error_set(err, ERR_INVALID, "Invalid field requested: \"%s\"", token);
        uint32_t width = column->width;
        bool right = !(column->flags & COLUMN_LEFT);
        if (percent) {
            const char *at = percent + 1;
            bool dot;
            bool left = *at == '-';
            at += left;
            uint32_t given = width_parse(&at, &dot);
            if (given) {
                width = given;
                right = !left;
            }
        }
        struct cell *cell = format_add(format, table, column, delimiter ? 0 : width, right,
                                       delimiter ? delimiter : " ");
        cell->plus = true;
    }
    if (delimiter && !trailing && format->cells.n) {
        struct cell *last = &format->cells.items[format->cells.n - 1];
        last->suffix[0] = '\0';
        last->suffix_length = 0;
    }
    return 0;
}

/* ---- printing ---- */
/* Pads or cuts what was printed since `start`. */
static void cell_fit(const struct cell *cell, size_t start, bool whole, struct str *out) {
    size_t length = out->length - start;
    if (length > cell->width) {
        if (whole)
            return;
        bool star = (cell->column->flags & COLUMN_STAR) && out->data[out->length - 1] == '*';
        out->length = start + cell->width;
        out->data[out->length] = '\0';
        if (star || cell->plus)
            out->data[out->length - 1] = star ? '*' : '+';
        return;
    }
    size_t pad = cell->width - length;
    if (!pad)
        return;
    str_append_fill(out, ' ', pad);
    if (cell->right) {
        memmove(out->data + start + pad, out->data + start, length);
        memset(out->data + start, ' ', pad);
    }
}

void format_header(const struct format *format, struct str *out) {
    if (format->prefix)
        str_append(out, format->prefix);
    for (size_t i = 0; i < format->cells.n; i++) {
        const struct cell *cell = &format->cells.items[i];
        if (cell->column) {
            size_t start = out->length;
            str_append(out, cell->column->header);
            if (cell->width && cell->plus && out->length - start > cell->width)
                out->length = start + cell->width; /* sacct cuts a header without a sign */
            if (cell->width)
                cell_fit(cell, start, cell->column->flags & (COLUMN_WHOLE | COLUMN_WHOLE_HEAD),
                         out);
        }
        str_append_bytes(out, cell->suffix, cell->suffix_length);
    }
    str_append_char(out, '\n');
}

void format_dashes(const struct format *format, struct str *out) {
    for (size_t i = 0; i < format->cells.n; i++) {
        const struct cell *cell = &format->cells.items[i];
        str_append_fill(out, '-', cell->width);
        str_append_bytes(out, cell->suffix, cell->suffix_length);
    }
    str_append_char(out, '\n');
}

void format_row(const struct format *format, const void *row, struct column_env *env,
                struct str *out) {
    if (format->prefix)
        str_append(out, format->prefix);
    for (size_t i = 0; i < format->cells.n; i++) {
        const struct cell *cell = &format->cells.items[i];
        if (cell->column) {
            size_t start = out->length;
            env->whole = cell->column->flags & COLUMN_WHOLE;
            cell->column->print(row, (const char *) row + cell->offset, env, out);
            if (cell->width)
                cell_fit(cell, start, env->whole, out);
        }
        if (cell->suffix_length)
            str_append_bytes(out, cell->suffix, cell->suffix_length);
    }
    str_append_char(out, '\n');
}

void format_fit(struct format *format, const struct column_table *table, const void *const *rows,
                size_t n_rows, struct column_env *env) {
    struct str text cleanup_str = STR_INIT;
    for (size_t c = 0; c < table->n; c++) {
        const struct column *column = &table->rows[c];
        bool is_last = c + 1 == table->n, right = !(column->flags & COLUMN_LEFT);
        struct cell *cell = format_add(format, table, column, 0, right, is_last ? "" : "  ");
        size_t width = strlen(column->header);
        for (size_t i = 0; i < n_rows; i++) {
            str_reset(&text);
            column->print(rows[i], (const char *) rows[i] + cell->offset, env, &text);
            width = max_of(width, text.length);
        }
        /* no blanks at the end of a line */
        cell->width = is_last && !right ? 0 : (uint32_t) min_of(width, (size_t) COLUMN_WIDTH_MAX);
    }
}

/* ---- sorting ---- */
struct sort_value sort_text(const char *text) {
    struct sort_value value = {0, text ? text : ""};
    size_t i = 0;
    while (i < 8 && value.text[i]) {
        value.number |= (uint64_t) (unsigned char) value.text[i] << (56 - 8 * i);
        i++;
    }
    value.text = i == 8 ? value.text + 8 : NULL;
    return value;
}

int sort_parse(struct sort_spec *spec, const struct column_table *table, const char *text,
               struct error *err) {
    bool descending = false;
    spec->n = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '-' || *at == '+') {
            descending = *at == '-';
            continue;
        }
        const struct column *column = column_by_letter(table, *at);
        if (*at == '#' && column && at[1])
            at++; /* the letter behind it says whose order; there is one */
        else if (*at == ',' || *at == '#' || isblank((unsigned char) *at))
            continue;
        if (!column || !column->sort || spec->n == SORT_KEYS_MAX)
            return error_set(err, ERR_INVALID, "Invalid sort specification: %c", *at);
        spec->keys[spec->n++] =
            (struct sort_key) {column, column_offset(column, table), descending};
        descending = false;
    }
    return 0;
}

void sort_fields(const struct sort_spec *spec, const struct column_table *table,
                 struct field_mask *mask) {
    for (size_t i = 0; i < spec->n; i++)
        column_fields(spec->keys[i].column, table, mask);
}

/* Of two rows' values; 0 when they stand as they came. */
static int values_compare(const struct sort_spec *spec, const struct sort_value *a,
                          const struct sort_value *b) {
    for (size_t i = 0; i < spec->n; i++) {
        int order = (a[i].number > b[i].number) - (a[i].number < b[i].number);
        if (!order && a[i].text != b[i].text)
            order = strcmp(a[i].text ? a[i].text : "", b[i].text ? b[i].text : "");
        if (order)
            return spec->keys[i].descending ? -order : order;
    }
    return 0;
}

static void values_take(const struct sort_spec *spec, const void *row, const struct column_env *env,
                        struct sort_value *ret) {
    for (size_t i = 0; i < spec->n; i++) {
        const struct sort_key *key = &spec->keys[i];
        ret[i] = key->column->sort(row, (const char *) row + key->offset, env);
    }
}

struct sort_row {
    const void *row;
    const struct sort_value *values;
    size_t index;
};

static int sort_compare(const void *pa, const void *pb, void *context) {
    const struct sort_row *a = pa, *b = pb;
    int order = values_compare(context, a->values, b->values);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

void rows_sort(const struct sort_spec *spec, const void **rows, size_t n,
               const struct column_env *env) {
    if (!spec->n || n < 2)
        return;
    cleanup_free struct sort_row *sorted = xcalloc(n, sizeof(*sorted));
    cleanup_free struct sort_value *values = xcalloc(n * spec->n, sizeof(*values));
    for (size_t i = 0; i < n; i++) {
        struct sort_value *at = values + i * spec->n;
        values_take(spec, rows[i], env, at);
        sorted[i] = (struct sort_row) {rows[i], at, i};
    }
    qsort_r(sorted, n, sizeof(*sorted), sort_compare, (void *) (uintptr_t) spec);
    for (size_t i = 0; i < n; i++)
        rows[i] = sorted[i].row;
}

/* ---- lines ---- */
void line_table_init(struct line_table *table) {
    *table = (struct line_table) {.text = STR_INIT};
    arena_init(&table->values, 0);
}

void line_table_done(struct line_table *table) {
    str_done(&table->text);
    vec_done(&table->lines);
    arena_done(&table->values);
}

/* The text must outlive its row. */
static const char *text_keep(struct line_table *table, const char *text) {
    if (!table->last_text || strcmp(table->last_text, text))
        table->last_text = arena_strdup(&table->values, text);
    return table->last_text;
}

void line_table_add(struct line_table *table, const struct format *format,
                    const struct sort_spec *spec, const void *row, struct column_env *env) {
    struct sort_value *values = NULL;
    if (spec->n) {
        values = arena_alloc(&table->values, spec->n * sizeof(*values));
        values_take(spec, row, env, values);
    }
    for (size_t i = 0; i < spec->n; i++) {
        if (values[i].text)
            values[i].text = text_keep(table, values[i].text);
    }
    size_t start = table->text.length;
    format_row(format, row, env, &table->text);
    struct kept_line line = {start, table->text.length - start, values};
    vec_push(&table->lines, line);
}

/* Equal lines stay as they came: earlier ones start earlier. */
static int line_compare(const void *pa, const void *pb, void *context) {
    const struct kept_line *a = pa, *b = pb;
    int order = values_compare(context, a->values, b->values);
    return order ? order : (a->start > b->start) - (a->start < b->start);
}

void line_table_sort(struct line_table *table, const struct sort_spec *spec) {
    size_t sorted = 1; /* the tasks of an array are in order as they come */
    while (spec->n && sorted < table->lines.n &&
           line_compare(&table->lines.items[sorted - 1], &table->lines.items[sorted],
                        (void *) (uintptr_t) spec) <= 0)
        sorted++;
    if (spec->n && sorted < table->lines.n)
        qsort_r(table->lines.items, table->lines.n, sizeof(struct kept_line), line_compare,
                (void *) (uintptr_t) spec);
}

/* ---- plain members ---- */
static void text_or(const void *member, const char *missing, struct str *out) {
    const char *text = *(const char *const *) member;
    str_append(out, text ? text : missing);
}

void column_text(const void *row, const void *member, struct column_env *env, struct str *out) {
    text_or(member, "(null)", out);
}

void column_text_or_empty(const void *row, const void *member, struct column_env *env,
                          struct str *out) {
    text_or(member, "", out);
}

void column_text_or_na(const void *row, const void *member, struct column_env *env,
                       struct str *out) {
    text_or(member, "N/A", out);
}

void column_u32(const void *row, const void *member, struct column_env *env, struct str *out) {
    str_append_u64(out, *(const uint32_t *) member);
}

void column_i32(const void *row, const void *member, struct column_env *env, struct str *out) {
    int64_t value = *(const int32_t *) member;
    if (value < 0)
        str_append_char(out, '-');
    str_append_u64(out, (uint64_t) (value < 0 ? -value : value));
}

void column_bool(const void *row, const void *member, struct column_env *env, struct str *out) {
    str_append_char(out, *(const bool *) member ? '1' : '0');
}

void column_unset32(const void *row, const void *member, struct column_env *env, struct str *out) {
    uint32_t value = *(const uint32_t *) member;
    if (value == UNSET32)
        str_append(out, "N/A");
    else
        str_append_u64(out, value);
}

void column_time(const void *row, const void *member, struct column_env *env, struct str *out) {
    column_time_print(*(const int64_t *) member, "N/A", env, out);
}

struct sort_value column_sort_text(const void *row, const void *member,
                                   const struct column_env *env) {
    return sort_text(*(const char *const *) member);
}

struct sort_value column_sort_u32(const void *row, const void *member,
                                  const struct column_env *env) {
    return (struct sort_value) {*(const uint32_t *) member, NULL};
}

struct sort_value column_sort_i32(const void *row, const void *member,
                                  const struct column_env *env) {
    return sort_signed(*(const int32_t *) member);
}

struct sort_value column_sort_u64(const void *row, const void *member,
                                  const struct column_env *env) {
    return (struct sort_value) {*(const uint64_t *) member, NULL};
}

struct sort_value column_sort_i64(const void *row, const void *member,
                                  const struct column_env *env) {
    return sort_signed(*(const int64_t *) member);
}

struct sort_value column_sort_bool(const void *row, const void *member,
                                   const struct column_env *env) {
    return (struct sort_value) {*(const bool *) member, NULL};
}

void column_time_print(int64_t time, const char *unset, const struct column_env *env,
                       struct str *out) {
    if (time <= 0)
        str_append(out, unset);
    else
        timestamp_print(time, env->time_format, env->now, out);
}
