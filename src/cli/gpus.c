/* SPDX-License-Identifier: Apache-2.0 */
/* sluice gpus: one table, as wide as what stands in it. */
#include "cli/gpus.h"

#include <string.h>

#include "base/alloc.h"
#include "cli/json_writer.h"
#include "cli/why.h"
#include "text/duration.h"
#include "text/size.h"
#include "text/tres.h"

uint64_t gpus_in_tres(const char *tres) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    if (tres == NULL || tres_parse(tres, &list, NULL) < 0)
        return 0;
    return gres_list_count(&list, "gres/gpu", NULL);
}

/* ---- cells ---- */

static void print_node(const struct gpu *gpu, const struct gpus_view *view, struct str *out) {
    str_append(out, gpu->node != NULL ? gpu->node : "");
}
static void print_index(const struct gpu *gpu, const struct gpus_view *view, struct str *out) {
    str_append_u64(out, gpu->index);
}
static void print_type(const struct gpu *gpu, const struct gpus_view *view, struct str *out) {
    const char *product = gpu->status != NULL ? gpu->status->product : NULL;
    str_append(out, gpu->type != NULL ? gpu->type : product != NULL ? product : "-");
}
static void print_job(const struct gpu *gpu, const struct gpus_view *view, struct str *out) {
    str_append(out, gpu->job != NULL ? gpu->job : "-");
}
static void print_user(const struct gpu *gpu, const struct gpus_view *view, struct str *out) {
    str_append(out, gpu->user != NULL ? gpu->user : "-");
}
static void print_percent(uint32_t percent, struct str *out) {
    if (percent == UNSET32)
        str_append_char(out, '-');
    else
        str_printf(out, "%u%%", percent);
}
static void print_now(const struct gpu *gpu, const struct gpus_view *view, struct str *out) {
    print_percent(gpu->status != NULL ? gpu->status->use_now : UNSET32, out);
}
static void print_use(const struct gpu *gpu, const struct gpus_view *view, struct str *out) {
    print_percent(gpu->status != NULL ? gpu->status->use : UNSET32, out);
}
static void print_memory(const struct gpu *gpu, const struct gpus_view *view, struct str *out) {
    if (gpu->status == NULL || gpu->status->memory == UNSET64) {
        str_append_char(out, '-');
        return;
    }
    str_printf(out, "%.1f/%.1fG", (double) gpu->status->memory / 1024,
               (double) gpu->status->memory_total / 1024);
}
static void print_idle(const struct gpu *gpu, const struct gpus_view *view, struct str *out) {
    if (gpu->idle_since == 0)
        str_append_char(out, '-');
    else
        duration_print_short(view->env->now - gpu->idle_since, out);
}
static void print_since(const struct gpu *gpu, const struct gpus_view *view, struct str *out) {
    if (gpu->idle_since == 0)
        str_append_char(out, '-');
    else
        column_time_print(gpu->idle_since, "-", view->env, out);
}

static const struct gpu_cell {
    const char *title;
    void (*print)(const struct gpu *gpu, const struct gpus_view *view, struct str *out);
    bool right;
} cells[] = {
    {"NODE", print_node, false},        {"GPU", print_index, true},     {"TYPE", print_type, false},
    {"JOB", print_job, false},          {"USER", print_user, false},    {"NOW", print_now, true},
    {"15MIN", print_use, true},         {"MEMORY", print_memory, true}, {"IDLE", print_idle, true},
    {"IDLE SINCE", print_since, false},
};

static void pad(const struct gpu_cell *cell, const char *text, size_t width, bool last,
                struct str *out) {
    size_t length = strlen(text), blanks = width > length ? width - length : 0;
    if (cell->right)
        str_append_fill(out, ' ', blanks);
    str_append(out, text);
    if (!cell->right && !last)
        str_append_fill(out, ' ', blanks);
    str_append(out, last ? "\n" : "  ");
}

static void print_table(const struct gpus_view *view, struct str *out) {
    size_t widths[countof(cells)];
    struct str text cleanup_str = STR_INIT;
    for (size_t c = 0; c < countof(cells); c++) {
        widths[c] = strlen(cells[c].title);
        for (size_t i = 0; i < view->n; i++) {
            str_reset(&text);
            cells[c].print(view->gpus[i], view, &text);
            widths[c] = max_of(widths[c], text.length);
        }
    }
    for (size_t c = 0; c < countof(cells); c++)
        pad(&cells[c], cells[c].title, widths[c], c + 1 == countof(cells), out);
    for (size_t i = 0; i < view->n; i++) {
        for (size_t c = 0; c < countof(cells); c++) {
            str_reset(&text);
            cells[c].print(view->gpus[i], view, &text);
            pad(&cells[c], str_cstr(&text), widths[c], c + 1 == countof(cells), out);
        }
    }
}

/* ---- what is wrong, what will happen ---- */

static void print_strays(const struct gpu *gpu, struct str *out) {
    for (uint32_t i = 0; gpu->status != NULL && i < gpu->status->strays.n; i++) {
        const struct gpu_stray *stray = &gpu->status->strays.items[i];
        str_printf(out, "%s gpu %u: process %u (%s) of %s belongs to no job", gpu->node, gpu->index,
                   stray->pid, stray->command != NULL ? stray->command : "?",
                   stray->user != NULL ? stray->user : "?");
        if (stray->memory != UNSET64)
            str_printf(out, " and holds %llu MiB", (unsigned long long) stray->memory);
        str_append_char(out, '\n');
    }
}

static void print_notes(const struct gpus_view *view, struct str *out) {
    for (size_t i = 0; i < view->n; i++) {
        const struct gpu *gpu = view->gpus[i];
        print_strays(gpu, out);
        if (gpu->status != NULL && gpu->status->problem != NULL)
            str_printf(out, "%s gpu %u: %s\n", gpu->node, gpu->index, gpu->status->problem);
        if (gpu->idle_end == 0)
            continue;
        str_printf(out, "%s gpu %u: idle; job %s will be %s in ", gpu->node, gpu->index, gpu->job,
                   str_equal(gpu->idle_action, "REQUEUE") ? "requeued" : "cancelled");
        duration_print_short(max_of(gpu->idle_end - view->env->now, (int64_t) 0), out);
        str_append(out, " unless it works again or is kept: sluice keep ");
        str_printf(out, "%s 2:00:00\n", gpu->job);
    }
}

static void print_summary(const struct gpus_view *view, struct str *out) {
    size_t held = 0, idle = 0, closed = 0;
    for (size_t i = 0; i < view->n; i++) {
        const struct gpu *gpu = view->gpus[i];
        held += gpu->job != NULL;
        idle += gpu->job != NULL && gpu->idle_since > 0;
        closed += gpu->job == NULL && !gpu->available;
    }
    str_printf(out, "%zu of %zu GPUs are held by jobs", held, view->n);
    if (idle > 0)
        str_printf(out, ", %zu of them idle", idle);
    str_printf(out, "; %zu free", view->n - held - closed);
    if (closed > 0)
        str_printf(out, ", %zu on nodes that take no jobs", closed);
    if (view->waiting_jobs > 0)
        str_printf(out, "; %llu job%s wait%s for %llu", (unsigned long long) view->waiting_jobs,
                   view->waiting_jobs == 1 ? "" : "s", view->waiting_jobs == 1 ? "s" : "",
                   (unsigned long long) view->waiting_gpus);
    str_append(out, ".\n");
}

void gpus_text(const struct gpus_view *view, struct str *out) {
    if (view->n == 0) {
        str_append(out, "No node has a GPU: they are Gres=gpu:N of a NodeName line of slurm.conf "
                        "and lines of gres.conf.\n");
        return;
    }
    print_table(view, out);
    print_notes(view, out);
    print_summary(view, out);
}

/* ---- JSON ---- */

static void status_json(struct json *json, const struct gpu_status *status) {
    json_text(json, "product", status->product);
    json_text(json, "uuid", status->uuid);
    json_number32(json, "use_now_percent", status->use_now);
    json_number32(json, "use_15_minutes_percent", status->use);
    json_number64(json, "memory_used_mib", status->memory);
    json_unsigned(json, "memory_total_mib", status->memory_total);
    json_text(json, "problem", status->problem);
    json_array(json, "processes_of_no_job");
    for (uint32_t i = 0; i < status->strays.n; i++) {
        const struct gpu_stray *stray = &status->strays.items[i];
        json_object(json, NULL);
        json_unsigned(json, "pid", stray->pid);
        json_unsigned(json, "uid", stray->uid);
        json_text(json, "user", stray->user);
        json_text(json, "command", stray->command);
        json_number64(json, "memory_mib", stray->memory);
        json_end(json);
    }
    json_end(json);
}

void gpus_json(const struct gpus_view *view, struct str *out) {
    struct json json;
    json_init(&json, JSON_PRETTY, out);
    json_object(&json, NULL);
    json_array(&json, "gpus");
    for (size_t i = 0; i < view->n; i++) {
        const struct gpu *gpu = view->gpus[i];
        json_object(&json, NULL);
        json_text(&json, "node", gpu->node);
        json_unsigned(&json, "index", gpu->index);
        json_text(&json, "type", gpu->type);
        json_text(&json, "job", gpu->job);
        json_text(&json, "user", gpu->user);
        json_bool(&json, "node_takes_jobs", gpu->available);
        json_bool(&json, "watched", gpu->status != NULL);
        json_signed(&json, "idle_since", gpu->idle_since);
        json_signed(&json, "idle_end", gpu->idle_end);
        json_text(&json, "idle_action", gpu->idle_action);
        json_signed(&json, "keep_until", gpu->keep_until);
        if (gpu->status != NULL)
            status_json(&json, gpu->status);
        json_end(&json);
    }
    json_end(&json);
    json_object(&json, "waiting");
    json_unsigned(&json, "jobs", view->waiting_jobs);
    json_unsigned(&json, "gpus", view->waiting_gpus);
    json_end(&json);
    json_signed(&json, "time", view->env->now);
    json_end(&json);
    json_finish(&json);
}
