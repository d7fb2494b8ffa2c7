/* SPDX-License-Identifier: Apache-2.0 */
/* The process that runs job_submit.lua: calls in, answers out, until the controller hangs up. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lua/filter.h"
#include "os/frame.h"
#include "slurmctld/filter.h"

struct process {
    struct frame_in in;
    struct frame_out out;
    struct str partitions; /* pieces of the list for the next call */
};

/* The socket blocks. */
static int send_frame(struct process *process, enum filter_frame type, struct bytes body,
                      struct error *err) {
    uint8_t *at = frame_out_add(&process->out, body.size + 1);
    *at = (uint8_t) type;
    if (body.size > 0)
        memcpy(at + 1, body.data, body.size);
    return frame_out_flush(&process->out, FILTER_FD, err);
}

static int receive_frame(struct process *process, uint8_t *ret_type, struct bytes *ret_body,
                         struct error *err) {
    struct bytes frame;
    int r;
    while ((r = frame_in_next(&process->in, &frame, err)) == 0) {
        if ((r = frame_in_read(&process->in, FILTER_FD, err)) < 0)
            return r;
    }
    if (r < 0 || frame.size == 0)
        return error_negative(r);
    *ret_type = frame.data[0];
    *ret_body = (struct bytes) {frame.data + 1, frame.size - 1};
    return 0;
}

/* A list that the script wants to see, asked of the controller. */
static int ask(void *context, enum filter_frame what, struct arena *memory, void *ret_list,
               struct error *err) {
    struct process *process = context;
    struct str all cleanup_str = STR_INIT;
    uint8_t type = 0;
    int r = send_frame(process, what, (struct bytes) {NULL, 0}, err);
    while (r == 0 && type != FILTER_LAST) {
        struct bytes piece;
        r = receive_frame(process, &type, &piece, err);
        if (r == 0)
            str_append_bytes(&all, piece.data, piece.size);
    }
    if (r < 0)
        return r;
    const struct record *record =
        what == FILTER_ASK_JOBS ? &record_job_list : &record_reservation_list;
    return wire_decode(record, str_bytes(&all), memory, ret_list, err);
}

static int run_call(struct process *process, struct lua_filter *filter, struct bytes body,
                    struct error *err) {
    struct arena memory;
    struct filter_call call;
    struct partition_list partitions;
    struct filter_answer answer;
    arena_init(&memory, 0);
    record_init(&record_filter_answer, &answer);
    int r = wire_decode(&record_filter_call, body, &memory, &call, err);
    if (r == 0)
        r = wire_decode(&record_partition_list, str_bytes(&process->partitions), &memory,
                        &partitions, err);
    if (r == 0) {
        struct str out cleanup_str = STR_INIT;
        lua_filter_run(filter, &call, &partitions, &answer);
        wire_encode(&record_filter_answer, &answer, NULL, &out);
        r = send_frame(process, FILTER_ANSWER, str_bytes(&out), err);
    }
    str_reset(&process->partitions);
    record_done(&record_filter_answer, &answer);
    arena_done(&memory);
    return r;
}

int filter_process(int argc, char **argv) {
    struct process process = {0};
    struct error err = ERROR_INIT;
    if (argc != 6)
        return 2;
    const struct lua_box_limits limits = {strtoull(argv[4], NULL, 10), strtoull(argv[5], NULL, 10)};
    const struct lua_filter_source source = {ask, &process};
    /* What a script starts must not hold the connection open when we are gone. */
    (void) fcntl(FILTER_FD, F_SETFD, FD_CLOEXEC);
    frame_in_init(&process.in, FILTER_FRAME_MAX);
    frame_out_init(&process.out);
    struct lua_filter *filter = lua_filter_new(argv[2], &limits, argv[3], &source);
    int r = 0;
    while (r == 0) {
        uint8_t type;
        struct bytes body;
        r = receive_frame(&process, &type, &body, &err);
        if (r == 0 && type == FILTER_PARTITIONS)
            str_append_bytes(&process.partitions, body.data, body.size);
        else if (r == 0 && type == FILTER_CALL)
            r = run_call(&process, filter, body, &err);
    }
    lua_filter_free(filter);
    frame_in_done(&process.in);
    frame_out_done(&process.out);
    str_done(&process.partitions);
    return r == -ERR_CLOSED ? 0 : 1;
}
