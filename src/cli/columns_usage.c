/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/columns_usage.h"

#include <string.h>

#include "text/duration.h"
#include "text/size.h"

#define ROW ((const struct acct_row *) data)

const struct usage_measure *usage_of_row(const struct acct_row *row, enum usage_kind kind) {
    return row->step ? usage_measure(row->step->usage, kind) : NULL;
}

uint64_t usage_average(const struct acct_row *row, const struct usage_measure *measure) {
    return measure->sum / max_of(row->step->ntasks, 1u);
}

/* ---- values ---- */

static void print_kib(uint64_t kib, const struct column_env *env, struct str *out) {
    if (env->raw_units && !env->unit)
        str_append_u64(out, kib * 1024);
    else if (kib == 0 && !env->unit)
        str_append_char(out, '0');
    else
        kib_print(kib, env->unit, true, out);
}

/* Always with a unit, MiB unless another is asked for. */
static void print_disk(uint64_t bytes, const struct column_env *env, struct str *out) {
    static const char units[] = "KMGTP";
    const char *unit = strchr(units, env->unit ? env->unit : 'M');
    double value = (double) bytes;

    for (const char *at = units; unit && at <= unit; at++)
        value /= 1024;
    str_printf(out, "%.2f%c", value, unit ? *unit : 'M');
}

static void print_value(enum usage_kind kind, uint64_t value, const struct column_env *env,
                        struct str *out) {
    switch (kind) {
    case USAGE_CPU:
        duration_print_long((int64_t) (value / 1000000), out);
        break;
    case USAGE_RSS:
    case USAGE_VSIZE:
        print_kib(value, env, out);
        break;
    case USAGE_PAGES:
        str_append_u64(out, value);
        break;
    case USAGE_READ:
    case USAGE_WRITTEN:
        print_disk(value, env, out);
        break;
    }
}

#define PRINT(name, kind, expression)                                                              \
    void name(const void *data, const void *member, struct column_env *env, struct str *out) {     \
        const struct usage_measure *measure = usage_of_row(data, kind);                            \
        if (measure)                                                                               \
            expression;                                                                            \
    }
#define X(kind, name)                                                                              \
    PRINT(usage_print_max_##name, kind, print_value(kind, measure->max, env, out))                 \
    PRINT(usage_print_max_##name##_node, kind,                                                     \
          str_append(out, measure->max_node ? measure->max_node : ""))                             \
    PRINT(usage_print_max_##name##_task, kind, str_append_u64(out, measure->max_task))             \
    PRINT(usage_print_ave_##name, kind, print_value(kind, usage_average(ROW, measure), env, out))
USAGE_COLUMN_KINDS(X)
#undef X
PRINT(usage_print_min_cpu, USAGE_CPU, print_value(USAGE_CPU, measure->min, env, out))
PRINT(usage_print_min_cpu_node, USAGE_CPU,
      str_append(out, measure->min_node ? measure->min_node : ""))
PRINT(usage_print_min_cpu_task, USAGE_CPU, str_append_u64(out, measure->min_task))
PRINT(usage_print_zero, USAGE_CPU, str_append_char(out, '0'))

/* ---- lists of all kinds ---- */

enum figure { AVE, MAX, MAX_NODE, MAX_TASK, MIN, MIN_NODE, MIN_TASK, TOT };

struct item {
    const char *name;
    enum usage_kind kind; /* 0: energy, which nobody measures */
};
static const struct item items_in[] = {{"cpu", USAGE_CPU},      {"energy", 0},
                                       {"fs/disk", USAGE_READ}, {"mem", USAGE_RSS},
                                       {"pages", USAGE_PAGES},  {"vmem", USAGE_VSIZE}};
static const struct item items_out[] = {{"energy", 0}, {"fs/disk", USAGE_WRITTEN}};

static void print_number(enum usage_kind kind, uint64_t value, struct str *out) {
    if (kind == USAGE_CPU)
        duration_print_long((int64_t) (value / 1000000), out);
    else
        str_append_u64(out, value);
    if (kind == USAGE_RSS || kind == USAGE_VSIZE)
        str_append_char(out, 'K');
}

static void print_figure(const struct acct_row *row, const struct usage_measure *measure,
                         enum figure figure, struct str *out) {
    const char *node = figure == MAX_NODE ? measure->max_node : measure->min_node;

    switch (figure) {
    case AVE:
        print_number(measure->kind, usage_average(row, measure), out);
        break;
    case MAX:
        print_number(measure->kind, measure->max, out);
        break;
    case MIN:
        print_number(measure->kind, measure->min, out);
        break;
    case TOT:
        print_number(measure->kind, measure->sum, out);
        break;
    case MAX_NODE:
    case MIN_NODE:
        str_append(out, node ? node : "");
        break;
    case MAX_TASK:
        str_append_u64(out, measure->max_task);
        break;
    case MIN_TASK:
        str_append_u64(out, measure->min_task);
        break;
    }
}

static void print_items(const struct acct_row *row, const struct item *items, size_t n,
                        enum figure figure, struct str *out) {
    struct usage_measure energy;
    const char *comma = "";

    if (!usage_of_row(row, USAGE_CPU))
        return;
    usage_energy(row->step->usage, &energy);
    for (size_t i = 0; i < n; i++) {
        const struct usage_measure *measure =
            items[i].kind ? usage_of_row(row, items[i].kind) : &energy;
        if (!measure || (measure == &energy && (figure == MAX_TASK || figure == MIN_TASK)))
            continue;
        str_printf(out, "%s%s=", comma, items[i].name);
        print_figure(row, measure, figure, out);
        comma = ",";
    }
}

#define LIST(name, items, figure)                                                                  \
    void name(const void *data, const void *member, struct column_env *env, struct str *out) {     \
        print_items(ROW, items, countof(items), figure, out);                                      \
    }
LIST(usage_print_in_ave, items_in, AVE)
LIST(usage_print_in_max, items_in, MAX)
LIST(usage_print_in_max_node, items_in, MAX_NODE)
LIST(usage_print_in_max_task, items_in, MAX_TASK)
LIST(usage_print_in_min, items_in, MIN)
LIST(usage_print_in_min_node, items_in, MIN_NODE)
LIST(usage_print_in_min_task, items_in, MIN_TASK)
LIST(usage_print_in_tot, items_in, TOT)
LIST(usage_print_out_ave, items_out, AVE)
LIST(usage_print_out_max, items_out, MAX)
LIST(usage_print_out_max_node, items_out, MAX_NODE)
LIST(usage_print_out_max_task, items_out, MAX_TASK)
LIST(usage_print_out_min, items_out, MIN)
LIST(usage_print_out_min_node, items_out, MIN_NODE)
LIST(usage_print_out_min_task, items_out, MIN_TASK)
LIST(usage_print_out_tot, items_out, TOT)
