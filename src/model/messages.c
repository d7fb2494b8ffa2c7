/* SPDX-License-Identifier: Apache-2.0 */
/* Record tables of messages.h and the message table. */
#include "model/messages.h"

#include "base/alloc.h"

#define RECORD_ROW_empty(...) RECORD_ROW(empty, __VA_ARGS__)
RECORD_DEFINE(empty, EMPTY_FIELDS)
#define RECORD_ROW_reply_error(...) RECORD_ROW(reply_error, __VA_ARGS__)
RECORD_DEFINE(reply_error, REPLY_ERROR_FIELDS)
#define RECORD_ROW_step_request(...) RECORD_ROW(step_request, __VA_ARGS__)
RECORD_DEFINE(step_request, STEP_REQUEST_FIELDS)
#define RECORD_ROW_submit(...) RECORD_ROW(submit, __VA_ARGS__)
RECORD_DEFINE(submit, SUBMIT_FIELDS)
#define RECORD_ROW_submit_reply(...) RECORD_ROW(submit_reply, __VA_ARGS__)
RECORD_DEFINE(submit_reply, SUBMIT_REPLY_FIELDS)
#define RECORD_ROW_step_node(...) RECORD_ROW(step_node, __VA_ARGS__)
RECORD_DEFINE(step_node, STEP_NODE_FIELDS)
#define RECORD_ROW_step_layout(...) RECORD_ROW(step_layout, __VA_ARGS__)
RECORD_DEFINE(step_layout, STEP_LAYOUT_FIELDS)
#define RECORD_ROW_alloc_granted(...) RECORD_ROW(alloc_granted, __VA_ARGS__)
RECORD_DEFINE(alloc_granted, ALLOC_GRANTED_FIELDS)
#define RECORD_ROW_step_credential(...) RECORD_ROW(step_credential, __VA_ARGS__)
RECORD_DEFINE(step_credential, STEP_CREDENTIAL_FIELDS)
#define RECORD_ROW_alloc_notice(...) RECORD_ROW(alloc_notice, __VA_ARGS__)
RECORD_DEFINE(alloc_notice, ALLOC_NOTICE_FIELDS)
#define RECORD_ROW_alloc_end(...) RECORD_ROW(alloc_end, __VA_ARGS__)
RECORD_DEFINE(alloc_end, ALLOC_END_FIELDS)
#define RECORD_ROW_job_end(...) RECORD_ROW(job_end, __VA_ARGS__)
RECORD_DEFINE(job_end, JOB_END_FIELDS)
#define RECORD_ROW_step_reply(...) RECORD_ROW(step_reply, __VA_ARGS__)
RECORD_DEFINE(step_reply, STEP_REPLY_FIELDS)
#define RECORD_ROW_job_select(...) RECORD_ROW(job_select, __VA_ARGS__)
RECORD_DEFINE(job_select, JOB_SELECT_FIELDS)
#define RECORD_ROW_job_verb_request(...) RECORD_ROW(job_verb_request, __VA_ARGS__)
RECORD_DEFINE(job_verb_request, JOB_VERB_FIELDS)
#define RECORD_ROW_job_kill(...) RECORD_ROW(job_kill, __VA_ARGS__)
RECORD_DEFINE(job_kill, JOB_KILL_FIELDS)
#define RECORD_ROW_job_result(...) RECORD_ROW(job_result, __VA_ARGS__)
RECORD_DEFINE(job_result, JOB_RESULT_FIELDS)
#define RECORD_ROW_job_results(...) RECORD_ROW(job_results, __VA_ARGS__)
RECORD_DEFINE(job_results, JOB_RESULTS_FIELDS)
#define RECORD_ROW_update(...) RECORD_ROW(update, __VA_ARGS__)
RECORD_DEFINE(update, UPDATE_FIELDS)
#define RECORD_ROW_list_request(...) RECORD_ROW(list_request, __VA_ARGS__)
RECORD_DEFINE(list_request, LIST_FIELDS)
#define RECORD_ROW_job_list(...) RECORD_ROW(job_list, __VA_ARGS__)
RECORD_DEFINE(job_list, JOB_LIST_FIELDS)
#define RECORD_ROW_step_list(...) RECORD_ROW(step_list, __VA_ARGS__)
RECORD_DEFINE(step_list, STEP_LIST_FIELDS)
#define RECORD_ROW_node_list(...) RECORD_ROW(node_list, __VA_ARGS__)
RECORD_DEFINE(node_list, NODE_LIST_FIELDS)
#define RECORD_ROW_reservation_list(...) RECORD_ROW(reservation_list, __VA_ARGS__)
RECORD_DEFINE(reservation_list, RESERVATION_LIST_FIELDS)
#define RECORD_ROW_partition_list(...) RECORD_ROW(partition_list, __VA_ARGS__)
RECORD_DEFINE(partition_list, PARTITION_LIST_FIELDS)
#define RECORD_ROW_switch_item(...) RECORD_ROW(switch_item, __VA_ARGS__)
RECORD_DEFINE(switch_item, SWITCH_FIELDS)
#define RECORD_ROW_topology_list(...) RECORD_ROW(topology_list, __VA_ARGS__)
RECORD_DEFINE(topology_list, TOPOLOGY_LIST_FIELDS)
#define RECORD_ROW_config_list(...) RECORD_ROW(config_list, __VA_ARGS__)
RECORD_DEFINE(config_list, CONFIG_LIST_FIELDS)
#define RECORD_ROW_acct_query(...) RECORD_ROW(acct_query, __VA_ARGS__)
RECORD_DEFINE(acct_query, ACCT_QUERY_FIELDS)
#define RECORD_ROW_acct_job(...) RECORD_ROW(acct_job, __VA_ARGS__)
RECORD_DEFINE(acct_job, ACCT_JOB_FIELDS)
#define RECORD_ROW_acct_list(...) RECORD_ROW(acct_list, __VA_ARGS__)
RECORD_DEFINE(acct_list, ACCT_LIST_FIELDS)
#define RECORD_ROW_job_script(...) RECORD_ROW(job_script, __VA_ARGS__)
RECORD_DEFINE(job_script, JOB_SCRIPT_FIELDS)
#define RECORD_ROW_ping_reply(...) RECORD_ROW(ping_reply, __VA_ARGS__)
RECORD_DEFINE(ping_reply, PING_REPLY_FIELDS)
#define RECORD_ROW_diag(...) RECORD_ROW(diag, __VA_ARGS__)
RECORD_DEFINE(diag, DIAG_FIELDS)
#define RECORD_ROW_node_step(...) RECORD_ROW(node_step, __VA_ARGS__)
RECORD_DEFINE(node_step, NODE_STEP_FIELDS)
#define RECORD_ROW_node_register(...) RECORD_ROW(node_register, __VA_ARGS__)
RECORD_DEFINE(node_register, NODE_REGISTER_FIELDS)
#define RECORD_ROW_node_welcome(...) RECORD_ROW(node_welcome, __VA_ARGS__)
RECORD_DEFINE(node_welcome, NODE_WELCOME_FIELDS)
#define RECORD_ROW_gpu_stray(...) RECORD_ROW(gpu_stray, __VA_ARGS__)
RECORD_DEFINE(gpu_stray, GPU_STRAY_FIELDS)
#define RECORD_ROW_gpu_status(...) RECORD_ROW(gpu_status, __VA_ARGS__)
RECORD_DEFINE(gpu_status, GPU_STATUS_FIELDS)
#define RECORD_ROW_gpu(...) RECORD_ROW(gpu, __VA_ARGS__)
RECORD_DEFINE(gpu, GPU_FIELDS)
#define RECORD_ROW_gpu_list(...) RECORD_ROW(gpu_list, __VA_ARGS__)
RECORD_DEFINE(gpu_list, GPU_LIST_FIELDS)
#define RECORD_ROW_node_status(...) RECORD_ROW(node_status, __VA_ARGS__)
RECORD_DEFINE(node_status, NODE_STATUS_FIELDS)
#define RECORD_ROW_node_check(...) RECORD_ROW(node_check, __VA_ARGS__)
RECORD_DEFINE(node_check, NODE_CHECK_FIELDS)
#define RECORD_ROW_nodes_updated(...) RECORD_ROW(nodes_updated, __VA_ARGS__)
RECORD_DEFINE(nodes_updated, NODES_UPDATED_FIELDS)
#define RECORD_ROW_reboot(...) RECORD_ROW(reboot, __VA_ARGS__)
RECORD_DEFINE(reboot, REBOOT_FIELDS)
#define RECORD_ROW_launch(...) RECORD_ROW(launch, __VA_ARGS__)
RECORD_DEFINE(launch, LAUNCH_FIELDS)
#define RECORD_ROW_launch_result(...) RECORD_ROW(launch_result, __VA_ARGS__)
RECORD_DEFINE(launch_result, LAUNCH_RESULT_FIELDS)
#define RECORD_ROW_step_done(...) RECORD_ROW(step_done, __VA_ARGS__)
RECORD_DEFINE(step_done, STEP_DONE_FIELDS)
#define RECORD_ROW_step_ref(...) RECORD_ROW(step_ref, __VA_ARGS__)
RECORD_DEFINE(step_ref, STEP_REF_FIELDS)
#define RECORD_ROW_node_signal(...) RECORD_ROW(node_signal, __VA_ARGS__)
RECORD_DEFINE(node_signal, NODE_SIGNAL_FIELDS)
#define RECORD_ROW_job_terminate(...) RECORD_ROW(job_terminate, __VA_ARGS__)
RECORD_DEFINE(job_terminate, JOB_TERMINATE_FIELDS)
#define RECORD_ROW_job_clean(...) RECORD_ROW(job_clean, __VA_ARGS__)
RECORD_DEFINE(job_clean, JOB_CLEAN_FIELDS)
#define RECORD_ROW_step_launch(...) RECORD_ROW(step_launch, __VA_ARGS__)
RECORD_DEFINE(step_launch, STEP_LAUNCH_FIELDS)
#define RECORD_ROW_step_io(...) RECORD_ROW(step_io, __VA_ARGS__)
RECORD_DEFINE(step_io, STEP_IO_FIELDS)
#define RECORD_ROW_step_tasks(...) RECORD_ROW(step_tasks, __VA_ARGS__)
RECORD_DEFINE(step_tasks, STEP_TASKS_FIELDS)
#define RECORD_ROW_step_stat(...) RECORD_ROW(step_stat, __VA_ARGS__)
RECORD_DEFINE(step_stat, STEP_STAT_FIELDS)
#define RECORD_ROW_step_stat_reply(...) RECORD_ROW(step_stat_reply, __VA_ARGS__)
RECORD_DEFINE(step_stat_reply, STEP_STAT_REPLY_FIELDS)
#define RECORD_ROW_step_control(...) RECORD_ROW(step_control, __VA_ARGS__)
RECORD_DEFINE(step_control, STEP_CONTROL_FIELDS)
#define RECORD_ROW_step_attach(...) RECORD_ROW(step_attach, __VA_ARGS__)
RECORD_DEFINE(step_attach, STEP_ATTACH_FIELDS)
#define RECORD_ROW_why(...) RECORD_ROW(why, __VA_ARGS__)
RECORD_DEFINE(why, WHY_FIELDS)
#define RECORD_ROW_why_nodes(...) RECORD_ROW(why_nodes, __VA_ARGS__)
RECORD_DEFINE(why_nodes, WHY_NODES_FIELDS)
#define RECORD_ROW_why_job(...) RECORD_ROW(why_job, __VA_ARGS__)
RECORD_DEFINE(why_job, WHY_JOB_FIELDS)
#define RECORD_ROW_why_limit(...) RECORD_ROW(why_limit, __VA_ARGS__)
RECORD_DEFINE(why_limit, WHY_LIMIT_FIELDS)
#define RECORD_ROW_why_change(...) RECORD_ROW(why_change, __VA_ARGS__)
RECORD_DEFINE(why_change, WHY_CHANGE_FIELDS)
#define RECORD_ROW_why_reply(...) RECORD_ROW(why_reply, __VA_ARGS__)
RECORD_DEFINE(why_reply, WHY_REPLY_FIELDS)

static const struct message_row {
    uint16_t number;
    const char *name;
    const struct record *record;
} rows[] = {
#define X(number, name, record) {number, #name, &record_##record},
    MESSAGE_TABLE(X)
#undef X
};

static const struct message_row *row_of(uint16_t type) {
    for (size_t i = 0; i < countof(rows); i++) {
        if (rows[i].number == type)
            return &rows[i];
    }
    return NULL;
}

const struct record *message_record(uint16_t type) {
    const struct message_row *row = row_of(type);
    return row != NULL ? row->record : NULL;
}

const char *message_name(uint16_t type) {
    const struct message_row *row = row_of(type);
    return row != NULL ? row->name : NULL;
}
