/* SPDX-License-Identifier: Apache-2.0 */
/* sluice gpus: one table, as wide as what stands in it. */
#include "cli/gpus.h"

#include <string.h>

#include "base/alloc.h"
#include "cli/json_writer.h"
#include "cli/phrases.h"
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

/* ---- columns ---- */
#define PRINT(name)                                                                                \
    static void name(const void *row, const void *member, struct column_env *env, struct str *out)

PRINT(print_type) {
    const struct gpu *gpu = row;
    const char *product = gpu->status != NULL ? gpu->status->product : NULL;
    str_append(out, gpu->type != NULL ? gpu->type : product != NULL ? product : "-");
}
PRINT(print_job) {
    const struct gpu *gpu = row;
    str_append(out, gpu->job != NULL ? gpu->job : "-");
}
PRINT(print_user) {
    const struct gpu *gpu = row;
    str_append(out, gpu->user != NULL ? gpu->user : "-");
}
static void print_percent(uint32_t percent, struct str *out) {
    if (percent == UNSET32)
        str_append_char(out, '-');
    else
        str_printf(out, "%u%%", percent);
}
PRINT(print_now) {
    const struct gpu *gpu = row;
    print_percent(gpu->status != NULL ? gpu->status->use_now : UNSET32, out);
}
PRINT(print_use) {
    const struct gpu *gpu = row;
    print_percent(gpu->status != NULL ? gpu->status->use : UNSET32, out);
}
PRINT(print_memory) {
    const struct gpu *gpu = row;
    if (gpu->status == NULL || gpu->status->memory == UNSET64) {
        str_append_char(out, '-');
        return;
    }
    str_printf(out, "%.1f/%.1fG", (double) gpu->status->memory / 1024,
               (double) gpu->status->memory_total / 1024);
}
PRINT(print_idle) {
    const struct gpu *gpu = row;
    if (gpu->idle_since == 0)
        str_append_char(out, '-');
    else
        duration_print_short(env->now - gpu->idle_since, out);
}
PRINT(print_since) {
    const struct gpu *gpu = row;
    if (gpu->idle_since == 0)
        str_append_char(out, '-');
    else
        column_time_print(gpu->idle_since, "-", env, out);
}

#define C(header, needs, print, flags)                                                             \
    { 0, header, header, needs, print, NULL, 0, flags }
/* clang-format off */
static const struct column columns[] = {
    C("NODE", "node", column_text_or_empty, COLUMN_LEFT),
    C("GPU", "index", column_u32, 0),
    C("TYPE", "", print_type, COLUMN_LEFT),
    C("JOB", "", print_job, COLUMN_LEFT),
    C("USER", "", print_user, COLUMN_LEFT),
    C("NOW", "", print_now, 0),
    C("15MIN", "", print_use, 0),
    C("MEMORY", "", print_memory, 0),
    C("IDLE", "", print_idle, 0),
    C("IDLE SINCE", "", print_since, COLUMN_LEFT),
};
/* clang-format on */
static const struct column_table table = {&record_gpu, columns, countof(columns), true};

static void print_table(const struct gpus_view *view, struct str *out) {
    struct format format cleanup_format = FORMAT_INIT;
    struct column_env env = *view->env;
    const void *const *rows = (const void *const *) view->gpus;
    format_fit(&format, &table, rows, view->n, &env);
    format_header(&format, out);
    for (size_t i = 0; i < view->n; i++)
        format_row(&format, rows[i], &env, out);
}

/* ---- what is wrong, what will happen ---- */

static void print_strays(const struct gpu *gpu, enum language language, struct str *out) {
    for (uint32_t i = 0; gpu->status != NULL && i < gpu->status->strays.n; i++) {
        const struct gpu_stray *stray = &gpu->status->strays.items[i];
        bool holds = stray->memory != UNSET64;
        str_printf(out, phrase(language, holds ? PHRASE_GPUS_STRAY_HOLDS : PHRASE_GPUS_STRAY),
                   gpu->node, gpu->index, stray->pid, stray->command != NULL ? stray->command : "?",
                   stray->user != NULL ? stray->user : "?", (unsigned long long) stray->memory);
        str_append_char(out, '\n');
    }
}

static void print_notes(const struct gpus_view *view, struct str *out) {
    for (size_t i = 0; i < view->n; i++) {
        const struct gpu *gpu = view->gpus[i];
        print_strays(gpu, view->language, out);
        if (gpu->status != NULL && gpu->status->problem != NULL)
            str_printf(out, "%s gpu %u: %s\n", gpu->node, gpu->index, gpu->status->problem);
        if (gpu->idle_end == 0)
            continue;
        struct str rest cleanup_str = STR_INIT;
        bool requeued = str_equal(gpu->idle_action, "REQUEUE");
        duration_print_short(max_of(gpu->idle_end - view->env->now, (int64_t) 0), &rest);
        str_printf(out,
                   phrase(view->language, requeued ? PHRASE_GPUS_REQUEUED : PHRASE_GPUS_CANCELLED),
                   gpu->node, gpu->index, gpu->job, str_cstr(&rest), gpu->job);
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
    enum language language = view->language;
    str_printf(out, phrase(language, PHRASE_GPUS_HELD), held, view->n);
    if (idle > 0)
        str_printf(out, phrase(language, PHRASE_GPUS_IDLE), idle);
    str_printf(out, phrase(language, PHRASE_GPUS_FREE), view->n - held - closed);
    if (closed > 0)
        str_printf(out, phrase(language, PHRASE_GPUS_CLOSED), closed);
    if (view->waiting_jobs > 0)
        str_printf(
            out, phrase(language, view->waiting_jobs == 1 ? PHRASE_GPUS_WAITS : PHRASE_GPUS_WAIT),
            (unsigned long long) view->waiting_jobs, (unsigned long long) view->waiting_gpus);
    str_append(out, ".\n");
}

void gpus_text(const struct gpus_view *view, struct str *out) {
    if (view->n == 0) {
        str_append(out, phrase(view->language, PHRASE_GPUS_NONE));
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
