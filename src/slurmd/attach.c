/* SPDX-License-Identifier: Apache-2.0 */
/* sattach: who may look at a step, and the way to its slurmstepd. */
#include "os/log.h"
#include "slurmd/slurmd.h"

static void refuse(struct rpc_conn *conn, uint32_t seq, const struct error *why) {
    rpc_conn_answer_error(conn, seq, why->code, why->text);
    rpc_conn_close(conn);
}

static int may_attach(const struct slurmd *slurmd, const struct step_attach *request, uid_t uid,
                      struct step_key *ret, struct error *err) {
    cleanup_str struct str name = STR_INIT;
    uint32_t owner;

    step_id_print(request->step_id, &name);
    if (request->step_id == STEP_BATCH || request->step_id == STEP_EXTERN)
        return error_set(err, ERR_INVALID,
                         "Step %u.%s has no streams to attach to: srun's steps have.",
                         request->job_id, name.data);
    if (!agent_step_running(slurmd->agent, request->job_id, request->step_id, ret, &owner))
        return error_set(err, ERR_ALREADY_DONE, "Step %u.%s does not run on node %s.",
                         request->job_id, name.data, slurmd->node_name);
    if (uid != owner && uid != 0 && uid != slurmd->slurm_uid)
        return error_set(err, ERR_USER_ID, "Step %u.%s belongs to another user.", request->job_id,
                         name.data);
    return 0;
}

void attach_step(struct slurmd *slurmd, struct rpc_conn *conn, const struct rpc_message *message) {
    cleanup_str struct str channel = STR_INIT;
    struct error err = ERROR_INIT;
    struct step_attach request;
    struct step_key key;
    struct arena arena;
    int fd = -1;

    message_arena_init(&arena, message->body);
    int r = wire_decode(&record_step_attach, message->body, &arena, &request, &err);
    arena_done(&arena);
    if (r == 0)
        r = may_attach(slurmd, &request, rpc_conn_peer(conn)->uid, &key, &err);
    if (r < 0) {
        log_info("%s may not attach to a step: %s", rpc_conn_peer(conn)->name, err.text);
        refuse(conn, message->seq, &err);
        return;
    }
    if (rpc_conn_export(conn, &channel, &fd, &err) < 0)
        refuse(conn, message->seq, &err);
    else
        step_watch(slurmd, key, str_bytes(&channel), fd);
}
