/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format engine of every listing: tables of columns, the grammars that choose among them, and
 * printing and sorting of rows. One row of a table is everything there is to know about a column.
 *
 * Pure: the current time and every setting come in a struct column_env; output goes to a struct
 * str.
 *
 * Grammars:
 *   - letters, squeue and sinfo -o: `text%[[.]width]Xsuffix%…`; a width pads and cuts, '.' puts the
 *     value to the right; text before the first % stands once at the start of each line; "%all".
 *   - names, squeue and sinfo -O: `name[:[.][width][suffix]],…`; default width 20, none after ':'.
 *   - sacct, -o: `name[%[-]width],…`; names may be abbreviated; a cut value ends in '+'.
 * Tables that are not chosen from have all of their columns, as wide as what stands in them.
 */
#ifndef SLUICE_SCHEMA_COLUMNS_H
#define SLUICE_SCHEMA_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "schema/schema.h"

#define COLUMN_WIDTH_MAX 65535
#define COLUMN_LONG_WIDTH 20 /* of -O */

/* What printing depends on besides the row. */
struct column_env {
    int64_t now;
    const char *time_format; /* SLURM_TIME_FORMAT, or NULL */
    size_t bits_max;         /* bytes of an array's task list; 0 = no limit */
    bool raw_units;          /* --noconvert */
    char unit;               /* sacct --units; 0 = automatic */
    const char *cluster;     /* our name, for records that carry none */
    const void *data;        /* the command's own */
    bool whole;              /* set by a print function: this value must not be cut */
};

/* What a column sorts by: the number, then the text (NULL = none). A text's number is made of its
 * first bytes, so that most comparisons end there; sort_text() fills both. */
struct sort_value {
    uint64_t number;
    const char *text;
};
struct sort_value sort_text(const char *text);
static inline struct sort_value sort_signed(int64_t number) {
    return (struct sort_value) {(uint64_t) number ^ ((uint64_t) 1 << 63), NULL};
}

enum column_flag {
    COLUMN_LEFT = 1,       /* sacct, fitted tables: left-justified */
    COLUMN_STAR = 2,       /* a trailing '*' survives cutting (sinfo's partition) */
    COLUMN_WHOLE = 4,      /* value and header are never cut */
    COLUMN_WHOLE_HEAD = 8, /* only the header is never cut */
    COLUMN_HIDDEN = 16,    /* not part of %all or of lists of fields: an alias */
    COLUMN_KEY = 32,       /* sinfo: rows that differ in it are not merged */
    COLUMN_KEY_EXACT = 64, /* sinfo: likewise with --exact */
    COLUMN_OWNER = 128,    /* sinfo: names the partition, so that empty ones are rows too */
};

struct column {
    char letter; /* 0 = none */
    const char *name;
    const char *header;
    /* Members of the table's record that it needs, separated by blanks; the first one is handed to
     * print and sort as `member`. */
    const char *needs;
    void (*print)(const void *row, const void *member, struct column_env *env, struct str *out);
    struct sort_value (*sort)(const void *row, const void *member, const struct column_env *env);
    uint16_t width; /* sacct's default */
    uint16_t flags;
};

struct column_table {
    const struct record *record; /* `needs` refers to it; NULL = member is the row itself */
    const struct column *rows;
    size_t n;
    bool rows_are_records; /* a row is a struct of `record`; else member is the row itself */
};

/* ---- formats ---- */
struct cell {
    const struct column *column; /* NULL: only the suffix is printed */
    size_t offset;
    uint32_t width; /* 0 = as long as needed */
    bool right;
    bool plus; /* a cut value ends in '+' */
    char *suffix;
    size_t suffix_length;
};
struct format {
    char *prefix;
    vec(struct cell) cells;
};
#define FORMAT_INIT                                                                                \
    {                                                                                              \
        NULL, {                                                                                    \
            NULL, 0, 0                                                                             \
        }                                                                                          \
    }
void format_done(struct format *format);
#define cleanup_format __attribute__((__cleanup__(format_done)))

/* The three grammars. What no column answers to is appended to `unknown`, one a line; the letter
 * grammar then prints the token as it stands, the name grammar drops it. */
void format_parse_letters(struct format *format, const struct column_table *table, const char *text,
                          struct str *unknown);
void format_parse_names(struct format *format, const struct column_table *table, const char *text,
                        struct str *unknown);
/* delimiter NULL: a table of fixed widths, each followed by a blank. Else values stand whole, the
 * delimiter between them, after the last one too if `trailing`. Stops at an unknown name. */
must_check int format_parse_sacct(struct format *format, const struct column_table *table,
                                  const char *text, const char *delimiter, bool trailing,
                                  struct error *err);

/* All columns, each as wide as its widest value of these rows, two blanks between them. */
void format_fit(struct format *format, const struct column_table *table, const void *const *rows,
                size_t n_rows, struct column_env *env);

/* The record's members that the format prints. */
void format_fields(const struct format *format, const struct column_table *table,
                   struct field_mask *mask);

void format_header(const struct format *format, struct str *out);
/* sacct's second line. */
void format_dashes(const struct format *format, struct str *out);
/* One line with its newline. */
void format_row(const struct format *format, const void *row, struct column_env *env,
                struct str *out);

/* ---- sorting ---- */
#define SORT_KEYS_MAX 16
struct sort_key {
    const struct column *column;
    size_t offset;
    bool descending;
};
struct sort_spec {
    struct sort_key keys[SORT_KEYS_MAX];
    size_t n;
};
/* `P,t,-p`: letters with an optional sign. Blanks are skipped. `#P` asks for the order of the
 * configuration, which a column with the letter '#' and no printer gives; else '#' is skipped. The
 * error names the first letter that cannot be sorted by. */
must_check int sort_parse(struct sort_spec *spec, const struct column_table *table,
                          const char *text, struct error *err);
void sort_fields(const struct sort_spec *spec, const struct column_table *table,
                 struct field_mask *mask);
/* Stable. */
void rows_sort(const struct sort_spec *spec, const void **rows, size_t n,
               const struct column_env *env);

/* ---- lines that are made as rows arrive ---- */
/* A row is printed at once and may go away; its line is kept with the values it is sorted by. */
struct kept_line {
    size_t start, length; /* in text */
    const struct sort_value *values;
};
struct line_table {
    struct str text;
    vec(struct kept_line) lines;
    struct arena values;
    const char *last_text; /* of the row before: most rows share a partition */
};
void line_table_init(struct line_table *table);
void line_table_done(struct line_table *table);
void line_table_add(struct line_table *table, const struct format *format,
                    const struct sort_spec *spec, const void *row, struct column_env *env);
/* Stable. */
void line_table_sort(struct line_table *table, const struct sort_spec *spec);

/* ---- printers and sort values for plain members ---- */
/* char *: the text; NULL prints "(null)", nothing, "N/A". */
void column_text(const void *row, const void *member, struct column_env *env, struct str *out);
void column_text_or_empty(const void *row, const void *member, struct column_env *env,
                          struct str *out);
void column_text_or_na(const void *row, const void *member, struct column_env *env,
                       struct str *out);
void column_u32(const void *row, const void *member, struct column_env *env, struct str *out);
void column_i32(const void *row, const void *member, struct column_env *env, struct str *out);
void column_bool(const void *row, const void *member, struct column_env *env, struct str *out);
/* uint32_t: UNSET32 prints "N/A". */
void column_unset32(const void *row, const void *member, struct column_env *env, struct str *out);
/* int64_t seconds: 0 prints "N/A". */
void column_time(const void *row, const void *member, struct column_env *env, struct str *out);

struct sort_value column_sort_text(const void *row, const void *member,
                                   const struct column_env *env);
struct sort_value column_sort_u32(const void *row, const void *member,
                                  const struct column_env *env);
struct sort_value column_sort_i32(const void *row, const void *member,
                                  const struct column_env *env);
struct sort_value column_sort_u64(const void *row, const void *member,
                                  const struct column_env *env);
struct sort_value column_sort_i64(const void *row, const void *member,
                                  const struct column_env *env);
struct sort_value column_sort_bool(const void *row, const void *member,
                                   const struct column_env *env);

/* A point in time as the environment wants it; 0 prints `unset`. Repeated times cost one lookup. */
void column_time_print(int64_t time, const char *unset, const struct column_env *env,
                       struct str *out);

#endif
