/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/drains.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/gpus.h"
#include "cli/json_writer.h"
#include "cli/phrases.h"
#include "model/reason.h"
#include "schema/columns.h"
#include "text/duration.h"
#include "text/hostlist.h"

bool drains_has(const struct node *node) {
    return node->state != NODE_FUTURE &&
           (node->state == NODE_DOWN ||
            (node->flags & (NODE_FLAG_DRAIN | NODE_FLAG_FAIL | NODE_FLAG_INVALID_REG)));
}

/* The record counts up to lost_until; what is idle now has been since. */
static uint64_t lost(const struct node *node, int64_t now, uint64_t counted, uint64_t idle) {
    if (node->out_since == 0 || now <= node->lost_until)
        return counted;
    return counted + (uint64_t) (now - node->lost_until) * idle;
}

uint64_t drains_lost_cpu(const struct node *node, int64_t now) {
    return lost(node, now, node->lost_cpu_seconds,
                node->cpus - min_of(node->alloc_cpus, node->cpus));
}

uint64_t drains_lost_gpu(const struct node *node, int64_t now) {
    uint64_t all = gpus_in_tres(node->cfg_tres), used = gpus_in_tres(node->alloc_tres);
    return lost(node, now, node->lost_gpu_seconds, all - min_of(used, all));
}

struct ranked {
    const struct node *node;
    uint64_t costs[2];
};

static int compare(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    for (size_t i = 0; i < countof(x->costs); i++) {
        if (x->costs[i] != y->costs[i])
            return x->costs[i] < y->costs[i] ? 1 : -1;
    }
    return hostname_compare(x->node->name, y->node->name);
}

void drains_sort(const struct node **nodes, size_t n, int64_t now) {
    cleanup_free struct ranked *ranked = xcalloc(n + 1, sizeof(*ranked));
    for (size_t i = 0; i < n; i++)
        ranked[i] = (struct ranked) {
            nodes[i], {drains_lost_gpu(nodes[i], now), drains_lost_cpu(nodes[i], now)}};
    qsort(ranked, n, sizeof(*ranked), compare);
    for (size_t i = 0; i < n; i++)
        nodes[i] = ranked[i].node;
}

void drains_cure(const struct node *node, enum language language, struct str *out) {
    const char *cause = node->problem != NULL ? node->problem : node->reason;
    const struct reason_row *row = cause != NULL ? reason_find(cause) : NULL;
    if (node->flags & NODE_FLAG_REBOOT_ISSUED) {
        str_append(out, phrase(language, PHRASE_DRAINS_REBOOTING));
        return;
    }
    if (row != NULL)
        str_printf(out, phrase(language, PHRASE_DRAINS_THEN), row->cures[language]);
    if (node->flags & NODE_FLAG_INVALID_REG)
        str_append(out, phrase(language, PHRASE_DRAINS_RESTART));
    str_printf(out, "scontrol update nodename=%s state=resume", node->name);
}

/* ---- text ---- */

#define PRINT(name)                                                                                \
    static void name(const void *row, const void *member, struct column_env *env, struct str *out)
PRINT(print_state) {
    const struct node *node = row;
    node_state_print(node->state, node->flags, true, out);
}
PRINT(print_age) {
    const struct node *node = row;
    if (node->out_since == 0)
        str_append_char(out, '-');
    else
        duration_print_short(env->now - node->out_since, out);
}
PRINT(print_by) {
    const struct node *node = row;
    str_append(out, node->reason_user != NULL ? node->reason_user : "-");
}
static void print_hours(uint64_t seconds, struct str *out) {
    str_printf(out, "%.1f", (double) seconds / 3600);
}
PRINT(print_gpu) {
    const struct node *node = row;
    if (gpus_in_tres(node->cfg_tres) == 0)
        str_append_char(out, '-');
    else
        print_hours(drains_lost_gpu(node, env->now), out);
}
PRINT(print_cpu) {
    const struct node *node = row;
    print_hours(drains_lost_cpu(node, env->now), out);
}
PRINT(print_cause) {
    const struct node *node = row;
    str_append(out, node->reason != NULL ? node->reason : "no reason was given");
}

#define C(header, needs, print, flags)                                                             \
    { 0, header, header, needs, print, NULL, 0, flags }
/* clang-format off */
static const struct column columns[] = {
    C("NODE", "name", column_text_or_empty, COLUMN_LEFT),
    C("STATE", "", print_state, COLUMN_LEFT),
    C("AGE", "", print_age, 0),
    C("BY", "", print_by, COLUMN_LEFT),
    C("GPU-HOURS", "", print_gpu, 0),
    C("CPU-HOURS", "", print_cpu, 0),
    C("CAUSE", "", print_cause, COLUMN_LEFT),
};
/* clang-format on */
static const struct column_table table = {&record_node, columns, countof(columns), true};

static void print_totals(const struct drains_view *view, struct str *out) {
    uint64_t cpu = 0, gpu = 0;
    for (size_t i = 0; i < view->n; i++) {
        cpu += drains_lost_cpu(view->nodes[i], view->now);
        gpu += drains_lost_gpu(view->nodes[i], view->now);
    }
    str_printf(out,
               phrase(view->language, view->n == 1 ? PHRASE_DRAINS_TOTAL_ONE : PHRASE_DRAINS_TOTAL),
               view->n, (double) gpu / 3600, (double) cpu / 3600);
}

void drains_text(const struct drains_view *view, struct str *out) {
    struct format format cleanup_format = FORMAT_INIT;
    struct column_env env = {.now = view->now};
    const void *const *rows = (const void *const *) view->nodes;
    if (view->n == 0) {
        str_append(out, phrase(view->language, PHRASE_DRAINS_NONE));
        return;
    }
    format_fit(&format, &table, rows, view->n, &env);
    format_header(&format, out);
    for (size_t i = 0; i < view->n; i++) {
        format_row(&format, rows[i], &env, out);
        str_append(out, phrase(view->language, PHRASE_DRAINS_CURE));
        drains_cure(view->nodes[i], view->language, out);
        str_append_char(out, '\n');
    }
    print_totals(view, out);
}

/* ---- JSON ---- */

static void json_drain(struct json *json, const struct node *node, int64_t now) {
    cleanup_str struct str state = STR_INIT, cure = STR_INIT;
    node_state_print(node->state, node->flags, false, &state);
    drains_cure(node, LANGUAGE_ENGLISH, &cure);
    json_object(json, NULL);
    json_text(json, "node", node->name);
    json_text(json, "state", state.data);
    json_signed(json, "since", node->out_since);
    json_signed(json, "age_seconds", node->out_since != 0 ? now - node->out_since : 0);
    json_text(json, "by", node->reason_user);
    json_text(json, "cause", node->reason);
    json_bool(json, "cause_persists", node->problem != NULL);
    json_text(json, "found_now", node->problem);
    json_unsigned(json, "lost_cpu_seconds", drains_lost_cpu(node, now));
    json_unsigned(json, "lost_gpu_seconds", drains_lost_gpu(node, now));
    json_text(json, "cure", cure.data);
    json_end(json);
}

void drains_json(const struct drains_view *view, struct str *out) {
    struct json json;
    json_init(&json, JSON_PRETTY, out);
    json_object(&json, NULL);
    json_array(&json, "drains");
    for (size_t i = 0; i < view->n; i++)
        json_drain(&json, view->nodes[i], view->now);
    json_end(&json);
    json_end(&json);
    json_finish(&json);
}
