/* SPDX-License-Identifier: Apache-2.0 */
/* Record tables of job.h and the written forms of job ids, exit statuses and output paths. */
#include "model/job.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "text/duration.h"
#include "text/idset.h"
#include "text/tres.h"

#define RECORD_ROW_rlimit_value(...) RECORD_ROW(rlimit_value, __VA_ARGS__)
RECORD_DEFINE(rlimit_value, RLIMIT_FIELDS)
#define RECORD_ROW_job_request(...) RECORD_ROW(job_request, __VA_ARGS__)
RECORD_DEFINE(job_request, JOB_REQUEST_FIELDS)
#define RECORD_ROW_job_node(...) RECORD_ROW(job_node, __VA_ARGS__)
RECORD_DEFINE(job_node, JOB_NODE_FIELDS)
#define RECORD_ROW_partition_priority(...) RECORD_ROW(partition_priority, __VA_ARGS__)
RECORD_DEFINE(partition_priority, PARTITION_PRIORITY_FIELDS)
#define RECORD_ROW_job_trouble(...) RECORD_ROW(job_trouble, __VA_ARGS__)
RECORD_DEFINE(job_trouble, JOB_TROUBLE_FIELDS)
#define RECORD_ROW_depend_start(...) RECORD_ROW(depend_start, __VA_ARGS__)
RECORD_DEFINE(depend_start, DEPEND_START_FIELDS)
#define RECORD_ROW_job(...) RECORD_ROW(job, __VA_ARGS__)
RECORD_DEFINE(job, JOB_FIELDS)
#define RECORD_ROW_usage_measure(...) RECORD_ROW(usage_measure, __VA_ARGS__)
RECORD_DEFINE(usage_measure, USAGE_MEASURE_FIELDS)
#define RECORD_ROW_usage(...) RECORD_ROW(usage, __VA_ARGS__)
RECORD_DEFINE(usage, USAGE_FIELDS)
#define RECORD_ROW_step(...) RECORD_ROW(step, __VA_ARGS__)
RECORD_DEFINE(step, STEP_FIELDS)

void exit_status_print(uint32_t status, struct str *out) {
    str_append_u64(out, (status >> 8) & 0xff);
    str_append_char(out, ':');
    str_append_u64(out, status & 0x7f);
}

uint32_t job_accounted_exit(const struct job *job) {
    return job->state == JOB_CANCELLED || job->state == JOB_TIMEOUT ? 0 : job->exit_status;
}

void het_ids_print(const struct job *job, struct str *out) {
    str_printf(out, "%u", job->het_job_id);
    if (job->het_size > 1)
        str_printf(out, "-%u", job->het_job_id + job->het_size - 1);
}

void job_id_print(const struct job *job, size_t max_bytes, struct str *out) {
    if (job->het_job_id != 0) {
        str_printf(out, "%u+%u", job->het_job_id, job->het_offset);
        return;
    }
    if (job->array_job_id == 0) {
        str_append_u64(out, job->job_id);
        return;
    }
    str_append_u64(out, job->array_job_id);
    str_append_char(out, '_');
    if (job->array_task_id != UNSET32) {
        str_append_u64(out, job->array_task_id);
        return;
    }
    str_append_char(out, '[');
    struct idset set cleanup_idset = IDSET_INIT;
    if (job->array_tasks != NULL &&
        idset_parse(&set, job->array_tasks, UINT32_MAX, NULL, NULL) == 0)
        idset_print(&set, out, max_bytes);
    if (job->array_limit > 0)
        str_printf(out, "%%%u", job->array_limit);
    str_append_char(out, ']');
}

bool switches_parse(const char *text, uint32_t *ret_count, int64_t *ret_seconds) {
    cleanup_free char *copy = xstrdup(text);
    char *at = strchr(copy, '@');
    uint64_t count, seconds;

    if (at != NULL)
        *at = '\0';
    if (!str_to_u64(copy, &count) || count > UINT32_MAX ||
        (at != NULL && duration_parse(at + 1, &seconds, NULL) < 0))
        return false;
    *ret_count = (uint32_t) count;
    *ret_seconds = at == NULL ? -1 : (int64_t) min_of(seconds, (uint64_t) UINT32_MAX);
    return true;
}

void job_switches(const struct job *job, uint32_t *ret_count, int64_t *ret_seconds) {
    *ret_count = 0;
    *ret_seconds = 0;
    if (job->switches != NULL && switches_parse(job->switches, ret_count, ret_seconds))
        *ret_seconds = max_of(*ret_seconds, (int64_t) 0);
}

void counted_list_print(const uint32_t *counts, size_t n, struct str *out) {
    for (size_t i = 0; i < n;) {
        size_t same = 1;
        while (i + same < n && counts[i + same] == counts[i])
            same++;
        if (i > 0)
            str_append_char(out, ',');
        str_append_u64(out, counts[i]);
        if (same > 1)
            str_printf(out, "(x%zu)", same);
        i += same;
    }
}

int64_t job_run_seconds(const struct job *job, int64_t now) {
    if (job->state == JOB_PENDING || job->start_time == 0)
        return 0;
    if (job->state == JOB_SUSPENDED)
        return job->pre_suspend_seconds;
    int64_t end = job_state_is_final(job->state) ? job->end_time : now;
    if (job->suspend_time)
        return end - job->suspend_time + job->pre_suspend_seconds;
    return end - job->start_time;
}

uint32_t job_array_step(const char *spec, const char *all) {
    const char *text = spec != NULL ? spec : all, *colon = text != NULL ? strchr(text, ':') : NULL;
    unsigned long step = colon != NULL ? strtoul(colon + 1, NULL, 10) : 1;
    return step > 0 && step <= UINT32_MAX ? (uint32_t) step : 1;
}

void job_cpus_per_node(const struct job *job, struct str *out) {
    uint32_t n = job->allocation.n;
    cleanup_free uint32_t *cpus = xcalloc(n + 1, sizeof(*cpus));
    for (uint32_t i = 0; i < n; i++)
        cpus[i] = job->allocation.items[i].cpus;
    counted_list_print(cpus, n, out);
}

const char *const gpu_visible_names[GPU_VISIBLE_NAMES] = {
    "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"};

/* No node has more; what is sent may say so. */
#define GPU_INDEX_MAX 4095

static uint32_t *indexes_of(const char *gres, bool shares, size_t *ret_n) {
    vec(uint32_t) indexes = {0};
    struct gres_given given;

    for (const char *at = gres; gres_given_next(&at, &given); gres_given_done(&given)) {
        uint32_t id = 0;
        bool is_one =
            shares ? gres_is_share(given.item.name) : str_equal_nocase(given.item.name, "gpu");
        bool more = is_one && idset_next(&given.ids, 0, &id);
        for (; more && id <= GPU_INDEX_MAX; more = idset_next(&given.ids, id + 1, &id))
            vec_push(&indexes, id);
    }
    *ret_n = indexes.n;
    return indexes.items;
}

uint32_t *gres_gpu_indexes(const char *gres, size_t *ret_n) {
    return indexes_of(gres, false, ret_n);
}

uint32_t *gres_card_indexes(const char *gres, size_t *ret_n) {
    uint32_t *indexes = indexes_of(gres, false, ret_n);

    if (*ret_n > 0)
        return indexes;
    free(indexes);
    return indexes_of(gres, true, ret_n);
}

/* ---- output paths ---- */

#define PAD_MAX 10

static void put_number(struct str *out, uint32_t value, unsigned width) {
    if (width > PAD_MAX)
        width = PAD_MAX;
    str_printf(out, "%0*u", (int) width, value);
}

/* Puts the expansion of one symbol; false when it is not one. */
static bool put_symbol(char symbol, unsigned width, const struct path_names *names,
                       struct str *out) {
    bool is_array = names->array_task_id != UNSET32;
    switch (symbol) {
    case 'A':
        put_number(out, names->array_job_id != 0 ? names->array_job_id : names->job_id, width);
        return true;
    case 'a':
        put_number(out, is_array ? names->array_task_id : UINT32_MAX - 1, width);
        return true;
    case 'b':
        put_number(out, (is_array ? names->array_task_id : UINT32_MAX - 1) % 10, width);
        return true;
    case 'j':
        put_number(out, names->job_id, width);
        return true;
    case 'J':
        put_number(out, names->job_id, width);
        if (names->step_id != STEP_BATCH) {
            str_append_char(out, '.');
            step_id_print(names->step_id, out);
        }
        return true;
    case 'N': {
        const char *name = names->node_name != NULL ? names->node_name : "";
        str_append_bytes(out, name, strcspn(name, "."));
        return true;
    }
    case 'n':
        put_number(out, names->node_index, width);
        return true;
    case 'r':
        put_number(out, names->restarts, width);
        return true;
    case 's':
        step_id_print(names->step_id, out);
        return true;
    case 't':
        put_number(out, names->task_id, width);
        return true;
    case 'u':
        str_append(out, names->user_name != NULL ? names->user_name : "");
        return true;
    case 'x':
        str_append(out, names->job_name != NULL ? names->job_name : "");
        return true;
    default:
        return false;
    }
}

/* scontrol shows what is known of the job and leaves what differs by node, step and task. */
static bool symbol_is_shown(char symbol, bool padded) {
    return !padded && symbol != '\0' && strchr("AajxurbS", symbol) != NULL;
}

static void expand(const char *pattern, const struct path_names *names, struct str *out) {
    for (const char *at = pattern; *at != '\0';) {
        if (*at != '%') {
            str_append_char(out, *at++);
            continue;
        }
        const char *symbol = at + 1;
        unsigned width = 0;
        for (; isdigit((unsigned char) *symbol); symbol++)
            width = min_of(width * 10 + (unsigned) (*symbol - '0'), 1000u);
        bool padded = symbol != at + 1;
        bool done = false;
        if (*symbol == '%' && !padded && !names->leave_node_parts) {
            str_append_char(out, '%');
            done = true;
        } else if (!names->leave_node_parts || symbol_is_shown(*symbol, padded)) {
            done = put_symbol(*symbol, width, names, out);
        }
        if (!done)
            str_append_bytes(out, at, (size_t) (symbol - at) + (*symbol != '\0'));
        at = *symbol != '\0' ? symbol + 1 : symbol;
    }
}

void output_path_expand(const char *pattern, const struct path_names *names, struct str *out) {
    if (pattern[0] != '/' && names->work_dir != NULL) {
        str_append(out, names->work_dir);
        if (names->work_dir[0] != '\0' && !str_equal(names->work_dir, "/"))
            str_append_char(out, '/');
    }
    if (strchr(pattern, '\\') == NULL) {
        expand(pattern, names, out);
        return;
    }
    /* A backslash makes the next character itself, and no symbol of the name counts. */
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at == '\\' && *++at == '\0')
            break;
        str_append_char(out, *at);
    }
}
