/* SPDX-License-Identifier: Apache-2.0 */
/* Node, partition and reservation records as listed to commands and kept by the controller. */
#ifndef SLUICE_MODEL_NODE_H
#define SLUICE_MODEL_NODE_H

#include "model/enums.h"
#include "schema/schema.h"

#define NODE_FIELDS(X)                                                                             \
    X(1, STR, name, 0)                                                                             \
    X(2, STR, hostname, 0)                                                                         \
    X(3, STR, address, 0)                                                                          \
    X(4, U32, port, 0)                                                                             \
    X(5, ENUM, state, node_state)                                                                  \
    X(6, U32, flags, 0) /* enum node_flag */                                                       \
    X(7, U32, cpus, 0)                                                                             \
    X(8, U32, boards, 0)                                                                           \
    X(9, U32, sockets, 0)                                                                          \
    X(10, U32, cores, 0) /* per socket */                                                          \
    X(11, U32, threads, 0)                                                                         \
    X(12, U64, memory, 0) /* MiB, configured */                                                    \
    X(13, U64, tmp_disk, 0)                                                                        \
    X(14, U32, weight, 0)                                                                          \
    X(15, STR, features, 0)                                                                        \
    X(16, STR, active_features, 0)                                                                 \
    X(17, STR, gres, 0)      /* "gpu:a100:2" */                                                    \
    X(18, STR, gres_used, 0) /* "gpu:a100:1(IDX:0)" */                                             \
    X(19, STR, reason, 0)                                                                          \
    X(20, U32, reason_uid, 0)                                                                      \
    X(21, I64, reason_time, 0)                                                                     \
    X(22, STR, comment, 0)                                                                         \
    X(23, STR, extra, 0)                                                                           \
    X(24, I64, boot_time, 0)                                                                       \
    X(25, I64, slurmd_start_time, 0)                                                               \
    X(26, I64, last_busy, 0)                                                                       \
    X(27, STR, os, 0)                                                                              \
    X(28, STR, arch, 0)                                                                            \
    X(29, STR, version, 0)                                                                         \
    X(30, OPT32, cpu_load, 0) /* hundredths */                                                     \
    X(31, OPT64, free_mem, 0) /* MiB */                                                            \
    X(32, U32, alloc_cpus, 0)                                                                      \
    X(33, U64, alloc_mem, 0)                                                                       \
    X(34, STR, alloc_tres, 0)                                                                      \
    X(35, STR, cfg_tres, 0)                                                                        \
    X(36, STRS, partitions, 0)                                                                     \
    X(37, STR, owner, 0)                                                                           \
    X(38, STR, reservation, 0)                                                                     \
    X(39, U32, index, 0) /* order of the configuration */                                          \
    X(40, U32, effective_cpus, 0)                                                                  \
    X(41, STR, reason_user, 0)                                                                     \
    X(42, I64, last_response, 0)                                                                   \
    X(43, STR, boot_id, 0) /* of the kernel, to notice an unexpected reboot */                     \
    X(44, U32, core_spec, 0)                                                                       \
    X(45, U64, mem_spec, 0)                                                                        \
    X(46, STR, gres_detail, 0) /* what the node reported */                                        \
    X(47, STR, gpu_strays, 0)  /* processes on its GPUs that belong to no job */                   \
    X(50, STR, confinement, 0) /* what slurmd enforces: "cores,memory (v2), not devices: …" */   \
    X(52, STR, problem, 0)     /* what its own checks find wrong now; NULL = nothing */            \
    X(53, ENUM, next_state, node_state) /* after the reboot: IDLE, DOWN; UNKNOWN = as it was */    \
    X(54, BOOL, reboot_drained, 0)      /* the drain is the reboot's own (ASAP) */                 \
    X(55, I64, reboot_time, 0)          /* when the reboot was issued; 0 = none is under way */    \
    X(56, I64, out_since, 0) /* when it was taken out of service (drained, down), 0 = it is not */ \
    X(57, I64, lost_until, 0) /* lost_* count what has stood idle since, up to here */             \
    X(58, U64, lost_cpu_seconds, 0)                                                                \
    X(59, U64, lost_gpu_seconds, 0)
RECORD_DECLARE(node, NODE_FIELDS)

/* A partition as listed: configuration plus what administrators changed. Times in minutes with
 * MINUTES_INFINITE; counts with UNSET32 = unlimited. */
#define PARTITION_FIELDS(X)                                                                        \
    X(1, STR, name, 0)                                                                             \
    X(2, STR, nodes, 0)                                                                            \
    X(3, STR, state, 0) /* UP DOWN DRAIN INACTIVE */                                               \
    X(4, BOOL, is_default, 0)                                                                      \
    X(5, OPT32, max_time, 0)                                                                       \
    X(6, OPT32, default_time, 0)                                                                   \
    X(7, OPT32, max_nodes, 0)                                                                      \
    X(8, U32, min_nodes, 0)                                                                        \
    X(9, OPT32, max_cpus_per_node, 0)                                                              \
    X(10, OPT32, max_cpus_per_socket, 0)                                                           \
    X(11, STR, allow_groups, 0)                                                                    \
    X(12, STR, allow_accounts, 0)                                                                  \
    X(13, STR, deny_accounts, 0)                                                                   \
    X(14, STR, allow_qos, 0)                                                                       \
    X(15, STR, deny_qos, 0)                                                                        \
    X(16, STR, alloc_nodes, 0)                                                                     \
    X(17, STR, alternate, 0)                                                                       \
    X(18, STR, qos, 0)                                                                             \
    X(19, BOOL, disable_root_jobs, 0)                                                              \
    X(20, STR, exclusive, 0) /* NO NODE USER TOPO */                                               \
    X(21, U32, grace_time, 0)                                                                      \
    X(22, BOOL, hidden, 0)                                                                         \
    X(23, BOOL, lln, 0)                                                                            \
    X(24, U32, priority_job_factor, 0)                                                             \
    X(25, U32, priority_tier, 0)                                                                   \
    X(26, BOOL, root_only, 0)                                                                      \
    X(27, BOOL, req_resv, 0)                                                                       \
    X(28, STR, oversubscribe, 0) /* NO YES:4 FORCE:4 EXCLUSIVE */                                  \
    X(29, OPT32, over_time_limit, 0)                                                               \
    X(30, STR, preempt_mode, 0)                                                                    \
    X(31, OPT64, def_mem_per_cpu, 0)                                                               \
    X(32, OPT64, def_mem_per_node, 0)                                                              \
    X(33, OPT64, max_mem_per_cpu, 0)                                                               \
    X(34, OPT64, max_mem_per_node, 0)                                                              \
    X(35, STR, job_defaults, 0)                                                                    \
    X(36, STR, select_parameters, 0)                                                               \
    X(37, STR, tres_billing_weights, 0)                                                            \
    X(38, U32, total_cpus, 0)                                                                      \
    X(39, U32, total_nodes, 0)                                                                     \
    X(40, STR, tres, 0)                                                                            \
    X(41, U32, index, 0)                                                                           \
    X(42, STR, node_sets, 0)                                                                       \
    X(43, BOOL, power_down_on_idle, 0)                                                             \
    X(44, U64, config, 0)        /* fingerprint of its line in slurm.conf; 0: made at run time */  \
    X(45, U32, gpu_idle_warn, 0) /* seconds, 0 = never */                                          \
    X(46, U32, gpu_idle_time, 0)                                                                   \
    X(47, STR, gpu_idle_action, 0) /* REQUEUE CANCEL */
RECORD_DECLARE(partition, PARTITION_FIELDS)

#define KEY_VALUE_FIELDS(X)                                                                        \
    X(1, STR, key, 0)                                                                              \
    X(2, STR, value, 0)
RECORD_DECLARE(key_value, KEY_VALUE_FIELDS)

#endif
