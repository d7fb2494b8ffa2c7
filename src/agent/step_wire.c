/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of what slurmd and slurmstepd exchange, and the names of their sockets. */
#include "agent/step_wire.h"

#include <stdio.h>
#include <string.h>

#define RECORD_ROW_fence(...) RECORD_ROW(fence, __VA_ARGS__)
RECORD_DEFINE(fence, FENCE_FIELDS)
#define RECORD_ROW_step_order(...) RECORD_ROW(step_order, __VA_ARGS__)
RECORD_DEFINE(step_order, STEP_ORDER_FIELDS)
#define RECORD_ROW_step_command(...) RECORD_ROW(step_command, __VA_ARGS__)
RECORD_DEFINE(step_command, STEP_COMMAND_FIELDS)
#define RECORD_ROW_step_report(...) RECORD_ROW(step_report, __VA_ARGS__)
RECORD_DEFINE(step_report, STEP_REPORT_FIELDS)
#define RECORD_ROW_step_watcher(...) RECORD_ROW(step_watcher, __VA_ARGS__)
RECORD_DEFINE(step_watcher, STEP_WATCHER_FIELDS)
#define RECORD_ROW_launch_head_job(...) RECORD_ROW(launch_head_job, __VA_ARGS__)
RECORD_DEFINE(launch_head_job, LAUNCH_HEAD_JOB_FIELDS)
#define RECORD_ROW_launch_head(...) RECORD_ROW(launch_head, __VA_ARGS__)
RECORD_DEFINE(launch_head, LAUNCH_HEAD_FIELDS)

void step_frame_encode(enum step_frame type, const struct record *record, const void *object,
                       struct str *out) {
    const uint8_t head[2] = {(uint8_t) type, 0};

    str_append_bytes(out, head, sizeof(head));
    wire_encode(record, object, NULL, out);
}

int step_frame_decode(struct bytes content, struct arena *arena, enum step_frame *ret_type,
                      struct step_frame_any *ret, struct error *err) {
    unsigned type = content.size >= 2 ? content.data[0] | content.data[1] << 8 : 0;
    struct bytes rest = {content.data + 2, content.size - 2};
    int r;

    switch (type) {
    case STEP_FRAME_ORDER:
        r = wire_decode(&record_step_order, rest, arena, &ret->order, err);
        break;
    case STEP_FRAME_COMMAND:
        r = wire_decode(&record_step_command, rest, arena, &ret->command, err);
        break;
    case STEP_FRAME_REPORT:
        r = wire_decode(&record_step_report, rest, arena, &ret->report, err);
        break;
    case STEP_FRAME_WATCHER:
        r = wire_decode(&record_step_watcher, rest, arena, &ret->watcher, err);
        break;
    default:
        return error_set(err, ERR_PROTOCOL,
                         "A frame of unknown type %u between slurmd and slurmstepd: both must be "
                         "of one release.",
                         type);
    }
    if (r == 0)
        *ret_type = (enum step_frame) type;
    return r;
}

void step_socket_name(uint32_t job_id, uint32_t step_id, uint32_t attempt, struct str *out) {
    str_append_u64(out, job_id);
    str_append_char(out, '.');
    step_id_print(step_id, out);
    str_append_char(out, '.');
    str_append_u64(out, attempt);
}

bool step_socket_parse(const char *name, uint32_t *ret_job_id, uint32_t *ret_step_id,
                       uint32_t *ret_attempt) {
    char copy[64];
    uint64_t job_id, attempt;

    if (strlen(name) >= sizeof(copy))
        return false;
    memcpy(copy, name, strlen(name) + 1);
    char *step = strchr(copy, '.');
    char *last = strrchr(copy, '.');
    if (!step || step == last)
        return false;
    *step++ = '\0';
    *last++ = '\0';
    if (!str_to_u64(copy, &job_id) || !str_to_u64(last, &attempt) || job_id > UINT32_MAX ||
        attempt > UINT32_MAX || !step_id_parse(step, ret_step_id))
        return false;
    *ret_job_id = (uint32_t) job_id;
    *ret_attempt = (uint32_t) attempt;
    return true;
}
