/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that configuration values are made of: one list per vocabulary. X(CONSTANT, "written",
 * effect) makes the constant, its spelling and what we do with it. For an ENUM vocabulary the
 * constants are 0, 1, 2 …; for a FLAGS vocabulary they are bits. A spelling that ends in '=' takes
 * a value, which stays in the key's text. Old spellings stand in the …_ALIASES lists.
 */
#ifndef SLUICE_MODEL_CONF_WORDS_H
#define SLUICE_MODEL_CONF_WORDS_H

#include <stdint.h>

/* clang-format off */

/* ---- ENUM vocabularies ---- */
#define CONF_LEVEL_WORDS(X) \
    X(LEVEL_QUIET, "quiet", HONOURED) X(LEVEL_FATAL, "fatal", HONOURED) \
    X(LEVEL_ERROR, "error", HONOURED) X(LEVEL_INFO, "info", HONOURED) \
    X(LEVEL_VERBOSE, "verbose", HONOURED) X(LEVEL_DEBUG, "debug", HONOURED) \
    X(LEVEL_DEBUG2, "debug2", HONOURED) X(LEVEL_DEBUG3, "debug3", HONOURED) \
    X(LEVEL_DEBUG4, "debug4", HONOURED) X(LEVEL_DEBUG5, "debug5", HONOURED) \
    X(LEVEL_UNSET, "(null)", HONOURED)
#define CONF_LEVEL_ALIASES(X) \
    X(LEVEL_QUIET, "0", HONOURED) X(LEVEL_FATAL, "1", HONOURED) X(LEVEL_ERROR, "2", HONOURED) \
    X(LEVEL_INFO, "3", HONOURED) X(LEVEL_VERBOSE, "4", HONOURED) X(LEVEL_DEBUG, "5", HONOURED) \
    X(LEVEL_DEBUG2, "6", HONOURED) X(LEVEL_DEBUG3, "7", HONOURED) X(LEVEL_DEBUG4, "8", HONOURED) \
    X(LEVEL_DEBUG5, "9", HONOURED)

#define CONF_AUTH_WORDS(X) \
    X(AUTH_MUNGE, "auth/munge", HONOURED) X(AUTH_SLURM, "auth/slurm", REFUSED) \
    X(AUTH_NONE, "auth/none", REFUSED)
#define CONF_AUTH_ALT_WORDS(X) X(AUTH_ALT_JWT, "auth/jwt", NOT_YET)
#define CONF_CRED_WORDS(X) \
    X(CRED_MUNGE, "cred/munge", HONOURED) X(CRED_SLURM, "cred/slurm", REFUSED) \
    X(CRED_NONE, "cred/none", REFUSED)
#define CONF_CRED_ALIASES(X) \
    X(CRED_MUNGE, "crypto/munge", OBSOLETE) X(CRED_MUNGE, "crypto/openssl", OBSOLETE)

#define CONF_PART_LIMITS_WORDS(X) \
    X(PART_LIMITS_NO, "NO", HONOURED) X(PART_LIMITS_ALL, "ALL", HONOURED) \
    X(PART_LIMITS_ANY, "ANY", HONOURED)
#define CONF_PART_LIMITS_ALIASES(X) \
    X(PART_LIMITS_ALL, "YES", HONOURED) X(PART_LIMITS_NO, "0", HONOURED) \
    X(PART_LIMITS_ALL, "1", HONOURED) X(PART_LIMITS_NO, "FALSE", HONOURED) \
    X(PART_LIMITS_ALL, "TRUE", HONOURED)

#define CONF_SCHEDULER_WORDS(X) \
    X(SCHEDULER_BACKFILL, "sched/backfill", HONOURED) \
    X(SCHEDULER_BUILTIN, "sched/builtin", HONOURED)
#define CONF_SCHEDULER_ALIASES(X) \
    X(SCHEDULER_BACKFILL, "sched/wiki", OBSOLETE) X(SCHEDULER_BACKFILL, "sched/wiki2", OBSOLETE) \
    X(SCHEDULER_BACKFILL, "sched/hold", OBSOLETE)
#define CONF_SELECT_WORDS(X) \
    X(SELECT_CONS_TRES, "select/cons_tres", HONOURED) X(SELECT_LINEAR, "select/linear", HONOURED)
#define CONF_SELECT_ALIASES(X) \
    X(SELECT_CONS_TRES, "select/cons_res", OBSOLETE) \
    X(SELECT_CONS_TRES, "select/cray_aries", OBSOLETE) \
    X(SELECT_CONS_TRES, "select/cray", OBSOLETE)

#define CONF_PREEMPT_TYPE_WORDS(X) \
    X(PREEMPT_NONE, "preempt/none", HONOURED) \
    X(PREEMPT_PARTITION_PRIO, "preempt/partition_prio", HONOURED) \
    X(PREEMPT_QOS, "preempt/qos", NOT_YET)
#define CONF_PRIORITY_WORDS(X) \
    X(PRIORITY_MULTIFACTOR, "priority/multifactor", HONOURED) \
    X(PRIORITY_BASIC, "priority/basic", HONOURED)
#define CONF_PRIORITY_ALIASES(X) X(PRIORITY_MULTIFACTOR, "priority/multifactor2", OBSOLETE)
#define CONF_RESET_WORDS(X) \
    X(RESET_NONE, "NONE", HONOURED) X(RESET_NOW, "NOW", HONOURED) X(RESET_DAILY, "DAILY", HONOURED) \
    X(RESET_WEEKLY, "WEEKLY", HONOURED) X(RESET_MONTHLY, "MONTHLY", HONOURED) \
    X(RESET_QUARTERLY, "QUARTERLY", HONOURED) X(RESET_YEARLY, "YEARLY", HONOURED)
#define CONF_PROCTRACK_WORDS(X) \
    X(PROCTRACK_CGROUP, "proctrack/cgroup", HONOURED) \
    X(PROCTRACK_LINUXPROC, "proctrack/linuxproc", HONOURED) \
    X(PROCTRACK_PGID, "proctrack/pgid", HONOURED)
#define CONF_PROCTRACK_ALIASES(X) \
    X(PROCTRACK_LINUXPROC, "proctrack/cray_aries", OBSOLETE) \
    X(PROCTRACK_LINUXPROC, "proctrack/sgi_job", OBSOLETE) \
    X(PROCTRACK_LINUXPROC, "proctrack/lua", OBSOLETE)
#define CONF_GATHER_WORDS(X) \
    X(GATHER_NONE, "jobacct_gather/none", HONOURED) \
    X(GATHER_LINUX, "jobacct_gather/linux", HONOURED) \
    X(GATHER_CGROUP, "jobacct_gather/cgroup", HONOURED)
#define CONF_GATHER_ALIASES(X) X(GATHER_LINUX, "jobacct_gather/pgid", OBSOLETE)
#define CONF_STORAGE_WORDS(X) \
    X(STORAGE_NONE, "accounting_storage/none", HONOURED) \
    X(STORAGE_SLURMDBD, "accounting_storage/slurmdbd", NOT_YET) \
    X(STORAGE_EMBEDDED, "accounting_storage/embedded", HONOURED)
#define CONF_STORAGE_ALIASES(X) \
    X(STORAGE_EMBEDDED, "accounting_storage/filetxt", OBSOLETE) \
    X(STORAGE_EMBEDDED, "accounting_storage/mysql", OBSOLETE) \
    X(STORAGE_EMBEDDED, "accounting_storage/pgsql", OBSOLETE)
#define CONF_JOBCOMP_WORDS(X) \
    X(JOBCOMP_NONE, "jobcomp/none", HONOURED) X(JOBCOMP_FILETXT, "jobcomp/filetxt", NOT_YET) \
    X(JOBCOMP_MYSQL, "jobcomp/mysql", NOT_YET) X(JOBCOMP_SCRIPT, "jobcomp/script", NOT_YET) \
    X(JOBCOMP_ELASTICSEARCH, "jobcomp/elasticsearch", NOT_YET) \
    X(JOBCOMP_KAFKA, "jobcomp/kafka", NOT_YET) X(JOBCOMP_LUA, "jobcomp/lua", NOT_YET)
#define CONF_JOBCOMP_ALIASES(X) \
    X(JOBCOMP_NONE, "jobcomp/slurmdbd", OBSOLETE) X(JOBCOMP_NONE, "jobcomp/pgsql", OBSOLETE)
#define CONF_MPI_WORDS(X) \
    X(MPI_NONE, "none", HONOURED) X(MPI_PMI2, "pmi2", NOT_YET) X(MPI_PMIX, "pmix", NOT_YET) \
    X(MPI_PMIX_V3, "pmix_v3", NOT_YET) X(MPI_PMIX_V4, "pmix_v4", NOT_YET) \
    X(MPI_PMIX_V5, "pmix_v5", NOT_YET) X(MPI_CRAY_SHASTA, "cray_shasta", REFUSED)
#define CONF_MPI_ALIASES(X) \
    X(MPI_NONE, "openmpi", OBSOLETE) X(MPI_NONE, "lam", OBSOLETE) X(MPI_NONE, "mvapich", OBSOLETE) \
    X(MPI_NONE, "mpich1_p4", OBSOLETE) X(MPI_NONE, "mpich1_shmem", OBSOLETE) \
    X(MPI_NONE, "mpichgm", OBSOLETE) X(MPI_NONE, "mpichmx", OBSOLETE) \
    X(MPI_PMIX, "pmix_v1", OBSOLETE) X(MPI_PMIX, "pmix_v2", OBSOLETE)
#define CONF_SWITCH_WORDS(X) \
    X(SWITCH_NONE, "switch/none", HONOURED) \
    X(SWITCH_HPE_SLINGSHOT, "switch/hpe_slingshot", NOT_YET) \
    X(SWITCH_NVIDIA_IMEX, "switch/nvidia_imex", NOT_YET)
#define CONF_SWITCH_ALIASES(X) \
    X(SWITCH_NONE, "switch/generic", OBSOLETE) X(SWITCH_NONE, "switch/elan", OBSOLETE) \
    X(SWITCH_NONE, "switch/nrt", OBSOLETE) X(SWITCH_NONE, "switch/cray_aries", OBSOLETE) \
    X(SWITCH_NONE, "switch/federation", OBSOLETE)
#define CONF_TOPOLOGY_WORDS(X) \
    X(TOPOLOGY_FLAT, "topology/flat", HONOURED) X(TOPOLOGY_TREE, "topology/tree", NOT_YET) \
    X(TOPOLOGY_BLOCK, "topology/block", NOT_YET) X(TOPOLOGY_RING, "topology/ring", NOT_YET) \
    X(TOPOLOGY_TORUS3D, "topology/torus3d", NOT_YET)
#define CONF_TOPOLOGY_ALIASES(X) \
    X(TOPOLOGY_FLAT, "topology/none", HONOURED) X(TOPOLOGY_FLAT, "topology/default", HONOURED) \
    X(TOPOLOGY_TORUS3D, "topology/3d_torus", NOT_YET) \
    X(TOPOLOGY_FLAT, "topology/hypercube", OBSOLETE)
#define CONF_NAMESPACE_WORDS(X) \
    X(NAMESPACE_NONE, "namespace/none", HONOURED) X(NAMESPACE_TMPFS, "namespace/tmpfs", NOT_YET) \
    X(NAMESPACE_LINUX, "namespace/linux", NOT_YET)
#define CONF_NAMESPACE_ALIASES(X) \
    X(NAMESPACE_NONE, "job_container/none", HONOURED) \
    X(NAMESPACE_TMPFS, "job_container/tmpfs", NOT_YET) \
    X(NAMESPACE_NONE, "job_container/cncu", OBSOLETE)
#define CONF_MCS_WORDS(X) \
    X(MCS_NONE, "mcs/none", HONOURED) X(MCS_ACCOUNT, "mcs/account", NOT_YET) \
    X(MCS_GROUP, "mcs/group", NOT_YET) X(MCS_USER, "mcs/user", NOT_YET) \
    X(MCS_LABEL, "mcs/label", NOT_YET)
#define CONF_NODE_STATE_WORDS(X) \
    X(NODE_STATE_UNKNOWN, "UNKNOWN", HONOURED) X(NODE_STATE_DOWN, "DOWN", HONOURED) \
    X(NODE_STATE_DRAIN, "DRAIN", HONOURED) X(NODE_STATE_FAIL, "FAIL", HONOURED) \
    X(NODE_STATE_CLOUD, "CLOUD", NOT_YET) X(NODE_STATE_FUTURE, "FUTURE", HONOURED) \
    X(NODE_STATE_EXTERNAL, "EXTERNAL", NOT_YET)
#define CONF_NODE_STATE_ALIASES(X) \
    X(NODE_STATE_FAIL, "FAILING", HONOURED) X(NODE_STATE_DRAIN, "DRAINED", HONOURED) \
    X(NODE_STATE_DRAIN, "DRAINING", HONOURED) X(NODE_STATE_UNKNOWN, "IDLE", OBSOLETE) \
    X(NODE_STATE_UNKNOWN, "UP", OBSOLETE) X(NODE_STATE_UNKNOWN, "ALLOCATED", OBSOLETE)
#define CONF_PART_STATE_WORDS(X) \
    X(PART_STATE_UP, "UP", HONOURED) X(PART_STATE_DOWN, "DOWN", HONOURED) \
    X(PART_STATE_DRAIN, "DRAIN", HONOURED) X(PART_STATE_INACTIVE, "INACTIVE", HONOURED)
#define CONF_PART_EXCLUSIVE_WORDS(X) \
    X(PART_EXCLUSIVE_NO, "NO", HONOURED) X(PART_EXCLUSIVE_NODE, "NODE", HONOURED) \
    X(PART_EXCLUSIVE_USER, "USER", HONOURED) X(PART_EXCLUSIVE_TOPO, "TOPO", NOT_YET)
#define CONF_CGROUP_PLUGIN_WORDS(X) \
    X(CGROUP_AUTODETECT, "autodetect", HONOURED) X(CGROUP_V1, "cgroup/v1", HONOURED) \
    X(CGROUP_V2, "cgroup/v2", HONOURED) X(CGROUP_DISABLED, "disabled", HONOURED)
#define CONF_DBD_STORAGE_WORDS(X) \
    X(DBD_STORAGE_MYSQL, "accounting_storage/mysql", HONOURED) \
    X(DBD_STORAGE_POSTGRESQL, "accounting_storage/postgresql", HONOURED) \
    X(DBD_STORAGE_SQLITE, "accounting_storage/sqlite", HONOURED)
#define CONF_DBD_STORAGE_ALIASES(X) \
    X(DBD_STORAGE_POSTGRESQL, "accounting_storage/pgsql", HONOURED)
#define CONF_AUTODETECT_WORDS(X) \
    X(AUTODETECT_UNSET, "(null)", HONOURED) X(AUTODETECT_OFF, "off", HONOURED) \
    X(AUTODETECT_NVML, "nvml", NOT_YET) X(AUTODETECT_NVIDIA, "nvidia", NOT_YET) \
    X(AUTODETECT_RSMI, "rsmi", NOT_YET) X(AUTODETECT_ONEAPI, "oneapi", NOT_YET) \
    X(AUTODETECT_NRT, "nrt", NOT_YET) X(AUTODETECT_FULL, "full", NOT_YET)

/* ---- FLAGS vocabularies: each constant is one bit, in this order ---- */
#define CONF_PREEMPT_MODE_WORDS(X) \
    X(PREEMPT_MODE_OFF, "OFF", HONOURED) X(PREEMPT_MODE_CANCEL, "CANCEL", HONOURED) \
    X(PREEMPT_MODE_REQUEUE, "REQUEUE", HONOURED) X(PREEMPT_MODE_SUSPEND, "SUSPEND", NOT_YET) \
    X(PREEMPT_MODE_GANG, "GANG", NOT_YET) X(PREEMPT_MODE_PRIORITY, "PRIORITY", HONOURED) \
    X(PREEMPT_MODE_WITHIN, "WITHIN", HONOURED)
#define CONF_PREEMPT_MODE_ALIASES(X) X(PREEMPT_MODE_CANCEL, "CHECKPOINT", OBSOLETE)
#define CONF_ENFORCE_WORDS(X) \
    X(ENFORCE_ASSOCIATIONS, "associations", HONOURED) X(ENFORCE_LIMITS, "limits", HONOURED) \
    X(ENFORCE_NOJOBS, "nojobs", NOT_YET) X(ENFORCE_NOSTEPS, "nosteps", NOT_YET) \
    X(ENFORCE_QOS, "qos", HONOURED) X(ENFORCE_SAFE, "safe", HONOURED) \
    X(ENFORCE_WCKEYS, "wckeys", NOT_YET)
#define CONF_ENFORCE_ALIASES(X) \
    X(ENFORCE_ASSOCIATIONS, "association", HONOURED) X(ENFORCE_ALL, "all", HONOURED) \
    X(ENFORCE_LIMITS, "limit", HONOURED) X(ENFORCE_WCKEYS, "wckey", NOT_YET) \
    X(NO_FLAG, "none", HONOURED) X(NO_FLAG, "0", HONOURED) X(ENFORCE_ASSOCIATIONS, "1", HONOURED)
#define CONF_STORE_FLAGS_WORDS(X) \
    X(STORE_JOB_COMMENT, "job_comment", HONOURED) X(STORE_JOB_ENV, "job_env", NOT_YET) \
    X(STORE_JOB_EXTRA, "job_extra", NOT_YET) X(STORE_JOB_SCRIPT, "job_script", NOT_YET) \
    X(STORE_NO_STDIO, "no_stdio", NOT_YET)
#define CONF_PRIVATE_WORDS(X) \
    X(PRIVATE_ACCOUNTS, "accounts", NOT_YET) X(PRIVATE_CLOUD, "cloud", NOT_YET) \
    X(PRIVATE_EVENTS, "events", NOT_YET) X(PRIVATE_JOBS, "jobs", HONOURED) \
    X(PRIVATE_NODES, "nodes", NOT_YET) X(PRIVATE_PARTITIONS, "partitions", NOT_YET) \
    X(PRIVATE_RESERVATIONS, "reservations", NOT_YET) X(PRIVATE_USAGE, "usage", NOT_YET) \
    X(PRIVATE_USERS, "users", NOT_YET)
#define CONF_PRIVATE_ALIASES(X) \
    X(PRIVATE_ACCOUNTS, "account", NOT_YET) X(PRIVATE_JOBS, "job", HONOURED) \
    X(PRIVATE_NODES, "node", NOT_YET) X(PRIVATE_PARTITIONS, "partition", NOT_YET) \
    X(PRIVATE_RESERVATIONS, "reservation", NOT_YET) X(PRIVATE_USERS, "user", NOT_YET) \
    X(PRIVATE_EVENTS, "event", NOT_YET) X(NO_FLAG, "none", HONOURED)
#define CONF_RLIMIT_WORDS(X) \
    X(RLIMIT_ALL, "ALL", HONOURED) X(RLIMIT_NONE, "NONE", HONOURED) X(RLIMIT_AS_, "AS", HONOURED) \
    X(RLIMIT_CORE_, "CORE", HONOURED) X(RLIMIT_CPU_, "CPU", HONOURED) \
    X(RLIMIT_DATA_, "DATA", HONOURED) X(RLIMIT_FSIZE_, "FSIZE", HONOURED) \
    X(RLIMIT_MEMLOCK_, "MEMLOCK", HONOURED) X(RLIMIT_NOFILE_, "NOFILE", HONOURED) \
    X(RLIMIT_NPROC_, "NPROC", HONOURED) X(RLIMIT_RSS_, "RSS", HONOURED) \
    X(RLIMIT_STACK_, "STACK", HONOURED)
#define CONF_SELECT_PARAM_WORDS(X) \
    X(CR_CPU, "CR_CPU", HONOURED) X(CR_CORE, "CR_CORE", HONOURED) \
    X(CR_SOCKET, "CR_SOCKET", HONOURED) X(CR_MEMORY, "CR_MEMORY", HONOURED) \
    X(CR_ONE_TASK_PER_CORE, "CR_ONE_TASK_PER_CORE", NOT_YET) \
    X(CR_CORE_DEFAULT_DIST_BLOCK, "CR_CORE_DEFAULT_DIST_BLOCK", NOT_YET) \
    X(CR_LLN, "CR_LLN", NOT_YET) X(CR_PACK_NODES, "CR_PACK_NODES", NOT_YET) \
    X(CR_LL_SHARED_GRES, "LL_SHARED_GRES", NOT_YET) \
    X(CR_MULTIPLE_SHARING_GRES_PJ, "MULTIPLE_SHARING_GRES_PJ", NOT_YET) \
    X(CR_ENFORCE_BINDING_GRES, "ENFORCE_BINDING_GRES", NOT_YET) \
    X(CR_ONE_TASK_PER_SHARING_GRES, "ONE_TASK_PER_SHARING_GRES", NOT_YET) \
    X(CR_NO_DIST_TOPO_BLOCK, "CR_NO_DIST_TOPO_BLOCK", NOT_YET)
/* Printed as one word: the pairs that name what is handed out and that memory is counted too. */
#define CONF_SELECT_PARAM_COMBOS(X) \
    X(CR_CPU_MEMORY, "CR_CPU_MEMORY", HONOURED) X(CR_CORE_MEMORY, "CR_CORE_MEMORY", HONOURED) \
    X(CR_SOCKET_MEMORY, "CR_SOCKET_MEMORY", HONOURED)
#define CONF_SELECT_PARAM_ALIASES(X) X(NO_FLAG, "NONE", HONOURED)
#define CONF_PRIORITY_FLAG_WORDS(X) \
    X(PRIORITY_ACCRUE_ALWAYS, "ACCRUE_ALWAYS", HONOURED) \
    X(PRIORITY_CALCULATE_RUNNING, "CALCULATE_RUNNING", HONOURED) \
    X(PRIORITY_DEPTH_OBLIVIOUS, "DEPTH_OBLIVIOUS", NOT_YET) \
    X(PRIORITY_NO_FAIR_TREE, "NO_FAIR_TREE", NOT_YET) \
    X(PRIORITY_INCR_ONLY, "INCR_ONLY", HONOURED) X(PRIORITY_MAX_TRES, "MAX_TRES", NOT_YET) \
    X(PRIORITY_MAX_TRES_GRES, "MAX_TRES_GRES", NOT_YET) \
    X(PRIORITY_NO_NORMAL_ALL, "NO_NORMAL_ALL", HONOURED) \
    X(PRIORITY_NO_NORMAL_ASSOC, "NO_NORMAL_ASSOC", NOT_YET) \
    X(PRIORITY_NO_NORMAL_PART, "NO_NORMAL_PART", HONOURED) \
    X(PRIORITY_NO_NORMAL_QOS, "NO_NORMAL_QOS", NOT_YET) \
    X(PRIORITY_NO_NORMAL_TRES, "NO_NORMAL_TRES", HONOURED) \
    X(PRIORITY_SMALL_RELATIVE_TO_TIME, "SMALL_RELATIVE_TO_TIME", HONOURED)
#define CONF_PRIORITY_FLAG_ALIASES(X) X(NO_FLAG, "FAIR_TREE", OBSOLETE)
#define CONF_PROLOG_FLAG_WORDS(X) \
    X(PROLOG_ALLOC, "Alloc", NOT_YET) X(PROLOG_CONTAIN, "Contain", NOT_YET) \
    X(PROLOG_DEFER_BATCH, "DeferBatch", NOT_YET) X(PROLOG_NO_HOLD, "NoHold", NOT_YET) \
    X(PROLOG_FORCE_REQUEUE, "ForceRequeueOnFail", NOT_YET) \
    X(PROLOG_RUN_IN_JOB, "RunInJob", NOT_YET) X(PROLOG_SERIAL, "Serial", NOT_YET) \
    X(PROLOG_X11, "X11", NOT_YET)
#define CONF_LAUNCH_WORDS(X) \
    X(LAUNCH_INTERACTIVE_STEP, "use_interactive_step", HONOURED) \
    X(LAUNCH_NSS_SLURM, "enable_nss_slurm", NOT_YET) \
    X(LAUNCH_ULIMIT_PAM, "ulimit_pam_adopt", NOT_YET) \
    X(LAUNCH_MPIR_NODEADDR, "mpir_use_nodeaddr", NOT_YET) \
    X(LAUNCH_STEPD_MEMLOCK, "slurmstepd_memlock", NOT_YET) \
    X(LAUNCH_STEPD_MEMLOCK_ALL, "slurmstepd_memlock_all", NOT_YET) \
    X(LAUNCH_TEST_EXEC, "test_exec", NOT_YET) X(LAUNCH_CPU_FREQ, "batch_step_set_cpu_freq", NOT_YET) \
    X(LAUNCH_SRUN_EXCLUSIVE, "srun_exclusive_allocation", NOT_YET) \
    X(LAUNCH_NO_SEND_GIDS, "disable_send_gids", NOT_YET) \
    X(LAUNCH_CRAY_NET, "cray_net_exclusive", NOT_YET) \
    X(LAUNCH_LUSTRE_NO_FLUSH, "lustre_no_flush", NOT_YET) \
    X(LAUNCH_SEND_GIDS, "send_gids", NOT_YET)
#define CONF_SLURMD_PARAM_WORDS(X) \
    X(SLURMD_CONFIG_OVERRIDES, "config_overrides", HONOURED) \
    X(SLURMD_NUMA_SOCKET, "numa_node_as_socket", NOT_YET) \
    X(SLURMD_L3_SOCKET, "l3cache_as_socket", NOT_YET) X(SLURMD_ECORES, "allow_ecores", NOT_YET) \
    X(SLURMD_SHUTDOWN_REBOOT, "shutdown_on_reboot", NOT_YET) \
    X(SLURMD_CONTAIN_SPANK, "contain_spank", NOT_YET) X(SLURMD_CONMGR, "conmgr_threads=", NOT_YET) \
    X(SLURMD_CONMGR_MAX, "conmgr_max_connections=", NOT_YET)
#define CONF_TASK_PLUGIN_WORDS(X) \
    X(TASK_NONE, "task/none", HONOURED) X(TASK_AFFINITY, "task/affinity", NOT_YET) \
    X(TASK_CGROUP, "task/cgroup", NOT_YET)
#define CONF_TASK_PLUGIN_ALIASES(X) X(TASK_CGROUP, "task/cray_aries", OBSOLETE)
#define CONF_TASK_PARAM_WORDS(X) \
    X(TASK_PARAM_NONE, "None", HONOURED) X(TASK_PARAM_SOCKETS, "Sockets", NOT_YET) \
    X(TASK_PARAM_CORES, "Cores", NOT_YET) X(TASK_PARAM_THREADS, "Threads", NOT_YET) \
    X(TASK_PARAM_VERBOSE, "Verbose", NOT_YET) X(TASK_PARAM_AUTOBIND, "Autobind=", NOT_YET) \
    X(TASK_PARAM_OFF_SPEC, "SlurmdOffSpec", NOT_YET) X(TASK_PARAM_OOM_KILL, "OOMKillStep", NOT_YET)
#define CONF_TASK_PARAM_ALIASES(X) X(NO_FLAG, "Cpusets", OBSOLETE) X(NO_FLAG, "Sched", OBSOLETE)
#define CONF_GATHER_PARAM_WORDS(X) \
    X(GATHER_NO_SHARED, "NoShared", NOT_YET) X(GATHER_USE_PSS, "UsePss", NOT_YET) \
    X(GATHER_OVER_MEMORY_KILL, "OverMemoryKill", NOT_YET) \
    X(GATHER_DISABLE_GPU, "DisableGPUAcct", NOT_YET) \
    X(GATHER_NO_FILE_CACHE, "no_file_cache", NOT_YET)
#define CONF_RECONFIG_WORDS(X) \
    X(RECONFIG_KEEP_PART_INFO, "KeepPartInfo", NOT_YET) \
    X(RECONFIG_KEEP_PART_STATE, "KeepPartState", NOT_YET) \
    X(RECONFIG_KEEP_POWER, "KeepPowerSaveSettings", NOT_YET)
#define CONF_HEALTH_STATE_WORDS(X) \
    X(HEALTH_ANY, "ANY", NOT_YET) X(HEALTH_ALLOC, "ALLOC", NOT_YET) \
    X(HEALTH_CYCLE, "CYCLE", NOT_YET) X(HEALTH_IDLE, "IDLE", NOT_YET) \
    X(HEALTH_MIXED, "MIXED", NOT_YET) X(HEALTH_NONDRAINED_IDLE, "NONDRAINED_IDLE", NOT_YET) \
    X(HEALTH_START_ONLY, "START_ONLY", NOT_YET)
#define CONF_DEBUG_WORDS(X) \
    X(DEBUG_ACCRUE, "Accrue", NOT_YET) X(DEBUG_AGENT, "Agent", NOT_YET) \
    X(DEBUG_AUDIT_RPCS, "AuditRPCs", NOT_YET) X(DEBUG_AUDIT_TLS, "AuditTLS", NOT_YET) \
    X(DEBUG_BACKFILL, "Backfill", HONOURED) X(DEBUG_BACKFILL_MAP, "BackfillMap", NOT_YET) \
    X(DEBUG_BURST_BUFFER, "BurstBuffer", NOT_YET) X(DEBUG_CGROUP, "Cgroup", HONOURED) \
    X(DEBUG_CONMGR, "ConMgr", NOT_YET) X(DEBUG_CPU_BIND, "CPU_Bind", NOT_YET) \
    X(DEBUG_CPU_FREQUENCY, "CpuFrequency", NOT_YET) X(DEBUG_DATA, "Data", NOT_YET) \
    X(DEBUG_DBD_AGENT, "DBD_Agent", NOT_YET) X(DEBUG_DEPENDENCY, "Dependency", HONOURED) \
    X(DEBUG_ELASTICSEARCH, "Elasticsearch", NOT_YET) X(DEBUG_ENERGY, "Energy", NOT_YET) \
    X(DEBUG_FEDERATION, "Federation", NOT_YET) X(DEBUG_FRONT_END, "FrontEnd", NOT_YET) \
    X(DEBUG_GANG, "Gang", NOT_YET) X(DEBUG_GLOB_SILENCE, "GLOB_SILENCE", NOT_YET) \
    X(DEBUG_GRES, "Gres", HONOURED) X(DEBUG_HETJOB, "Hetjob", NOT_YET) \
    X(DEBUG_INTERCONNECT, "Interconnect", NOT_YET) X(DEBUG_JAG, "JobAccountGather", NOT_YET) \
    X(DEBUG_JOB_COMP, "JobComp", NOT_YET) X(DEBUG_JOB_CONTAINER, "JobContainer", NOT_YET) \
    X(DEBUG_KAFKA, "Kafka", NOT_YET) X(DEBUG_LICENSE, "License", NOT_YET) \
    X(DEBUG_METRICS, "Metrics", NOT_YET) X(DEBUG_MPI, "MPI", NOT_YET) \
    X(DEBUG_NAMESPACE, "Namespace", NOT_YET) X(DEBUG_NET, "Network", HONOURED) \
    X(DEBUG_NET_RAW, "NetworkRaw", NOT_YET) X(DEBUG_NO_CONF_HASH, "NO_CONF_HASH", HONOURED) \
    X(DEBUG_NODE_FEATURES, "NodeFeatures", NOT_YET) X(DEBUG_POWER, "Power", NOT_YET) \
    X(DEBUG_PRIORITY, "Priority", HONOURED) X(DEBUG_PROFILE, "Profile", NOT_YET) \
    X(DEBUG_PROTOCOL, "Protocol", HONOURED) X(DEBUG_RESERVATION, "Reservation", NOT_YET) \
    X(DEBUG_ROUTE, "Route", NOT_YET) X(DEBUG_SCRIPT, "Script", NOT_YET) \
    X(DEBUG_SELECT_TYPE, "SelectType", HONOURED) X(DEBUG_STEPS, "Steps", HONOURED) \
    X(DEBUG_SWITCH, "Switch", NOT_YET) X(DEBUG_TIME_CRAY, "TimeCray", NOT_YET) \
    X(DEBUG_TLS, "TLS", NOT_YET) X(DEBUG_TRACE_JOBS, "TraceJobs", HONOURED) \
    X(DEBUG_TRIGGERS, "Triggers", NOT_YET) X(DEBUG_WORKQ, "WorkQueue", NOT_YET)
#define CONF_DEBUG_ALIASES(X) \
    X(NO_FLAG, "NoRealTime", OBSOLETE) X(DEBUG_STEPS, "Step", HONOURED) \
    X(DEBUG_POWER, "PowerSave", NOT_YET)
#define CONF_LOG_TIME_WORDS(X) \
    X(LOG_TIME_ISO8601, "iso8601", HONOURED) X(LOG_TIME_ISO8601_MS, "iso8601_ms", HONOURED) \
    X(LOG_TIME_RFC5424, "rfc5424", HONOURED) X(LOG_TIME_RFC5424_MS, "rfc5424_ms", HONOURED) \
    X(LOG_TIME_RFC3339, "rfc3339", HONOURED) X(LOG_TIME_CLOCK, "clock", HONOURED) \
    X(LOG_TIME_SHORT, "short", HONOURED) X(LOG_TIME_THREAD_ID, "thread_id", HONOURED) \
    X(LOG_TIME_STDERR, "format_stderr", HONOURED)
#define CONF_COMM_WORDS(X) \
    X(COMM_IPV6, "EnableIPv6", NOT_YET) X(COMM_NO_IPV4, "DisableIPv4", NOT_YET) \
    X(COMM_NO_CTLD_IN_ADDR_ANY, "NoCtldInAddrAny", NOT_YET) \
    X(COMM_NO_IN_ADDR_ANY, "NoInAddrAny", NOT_YET) X(COMM_CHECK_GHAL, "CheckGhalQuiesce", NOT_YET) \
    X(COMM_BLOCK_NULL_HASH, "block_null_hash", NOT_YET) \
    X(COMM_KEEPALIVE_TIME, "keepalivetime=", NOT_YET) \
    X(COMM_KEEPALIVE_INTERVAL, "keepaliveinterval=", NOT_YET) \
    X(COMM_KEEPALIVE_PROBES, "keepaliveprobes=", NOT_YET) \
    X(COMM_UNREACH_RETRY, "host_unreach_retry_count=", NOT_YET) \
    X(COMM_GETNAMEINFO, "getnameinfo_cache_timeout=", NOT_YET) \
    X(COMM_DISABLE_HTTP, "disable_http", NOT_YET)
#define CONF_TOPOLOGY_PARAM_WORDS(X) \
    X(TOPO_ROUTE_TREE, "RouteTree", NOT_YET) X(TOPO_ROUTE_PART, "RoutePart", NOT_YET) \
    X(TOPO_SWITCH_AS_RANK, "SwitchAsNodeRank", NOT_YET) X(TOPO_OPTIONAL, "TopoOptional", NOT_YET) \
    X(TOPO_MAX_UNROLL, "TopoMaxSizeUnroll=", NOT_YET) X(TOPO_DRAGONFLY, "dragonfly", NOT_YET) \
    X(TOPO_BLOCK_AS_RANK, "BlockAsNodeRank", NOT_YET)
#define CONF_AUTH_ALT_PARAM_WORDS(X) \
    X(AUTH_ALT_JWT_KEY, "jwt_key=", NOT_YET) X(AUTH_ALT_JWKS, "jwks=", NOT_YET) \
    X(AUTH_ALT_NO_TOKENS, "disable_token_creation", NOT_YET) \
    X(AUTH_ALT_LIFESPAN, "max_token_lifespan=", NOT_YET) \
    X(AUTH_ALT_FIELD, "userclaimfield=", NOT_YET)
#define CONF_GRES_FLAG_WORDS(X) \
    X(GRES_COUNT_ONLY, "CountOnly", HONOURED) X(GRES_ONE_SHARING, "one_sharing", NOT_YET) \
    X(GRES_ALL_SHARING, "all_sharing", NOT_YET) X(GRES_EXPLICIT, "explicit", NOT_YET) \
    X(GRES_NVIDIA_ENV, "nvidia_gpu_env", NOT_YET) X(GRES_AMD_ENV, "amd_gpu_env", NOT_YET) \
    X(GRES_OPENCL_ENV, "opencl_env", NOT_YET) X(GRES_ONEAPI_ENV, "oneapi_gpu_env", NOT_YET) \
    X(GRES_INTEL_ENV, "intel_gpu_env", NOT_YET) X(GRES_NO_GPU_ENV, "no_gpu_env", NOT_YET) \
    X(GRES_NVIDIA_BY_MINOR, "nvidia_unique_id", NOT_YET)
#define CONF_DBD_DEBUG_WORDS(X) \
    X(DBD_DEBUG_ARCHIVE, "DB_ARCHIVE", NOT_YET) X(DBD_DEBUG_ASSOC, "DB_ASSOC", NOT_YET) \
    X(DBD_DEBUG_EVENT, "DB_EVENT", NOT_YET) X(DBD_DEBUG_JOB, "DB_JOB", NOT_YET) \
    X(DBD_DEBUG_QOS, "DB_QOS", NOT_YET) X(DBD_DEBUG_QUERY, "DB_QUERY", NOT_YET) \
    X(DBD_DEBUG_RESERVATION, "DB_RESERVATION", NOT_YET) \
    X(DBD_DEBUG_RESOURCE, "DB_RESOURCE", NOT_YET) X(DBD_DEBUG_STEP, "DB_STEP", NOT_YET) \
    X(DBD_DEBUG_TRES, "DB_TRES", NOT_YET) X(DBD_DEBUG_USAGE, "DB_USAGE", NOT_YET) \
    X(DBD_DEBUG_WCKEY, "DB_WCKEY", NOT_YET) X(DBD_DEBUG_NET, "NETWORK", NOT_YET)
#define CONF_DBD_PARAM_WORDS(X) X(DBD_PRESERVE_CASE_USER, "PreserveCaseUser", NOT_YET)

/* Every vocabulary once: V plain, A with aliases, C with words for several bits and aliases. */
#define CONF_ENUM_VOCABULARIES(V, A)                                                               \
    V(AUTH) V(PREEMPT_TYPE) V(RESET) V(MCS) V(PART_STATE) V(PART_EXCLUSIVE) V(CGROUP_PLUGIN)       \
    V(AUTODETECT)                                                                                  \
    A(LEVEL) A(CRED) A(PART_LIMITS) A(SCHEDULER) A(SELECT) A(PRIORITY) A(PROCTRACK) A(GATHER)      \
    A(STORAGE) A(JOBCOMP) A(MPI) A(SWITCH) A(TOPOLOGY) A(NAMESPACE) A(NODE_STATE) A(DBD_STORAGE)
#define CONF_FLAG_VOCABULARIES(V, A, C)                                                            \
    V(AUTH_ALT) V(STORE_FLAGS) V(RLIMIT) V(PROLOG_FLAG) V(LAUNCH) V(SLURMD_PARAM) V(GATHER_PARAM)  \
    V(RECONFIG) V(HEALTH_STATE) V(LOG_TIME) V(COMM) V(TOPOLOGY_PARAM) V(AUTH_ALT_PARAM)            \
    V(GRES_FLAG) V(DBD_PARAM) V(DBD_DEBUG)                                                                      \
    A(PREEMPT_MODE) A(ENFORCE) A(PRIVATE) A(PRIORITY_FLAG) A(TASK_PLUGIN) A(TASK_PARAM) A(DEBUG)   \
    C(SELECT_PARAM)

/* clang-format on */

enum conf_enum_word {
#define X(constant, word, effect) CONF_##constant,
#define V(name) CONF_ENUM_##name##_BEFORE_ = -1, CONF_##name##_WORDS(X)
    CONF_ENUM_VOCABULARIES(V, V)
#undef V
#undef X
};
enum conf_flag_bit {
#define X(constant, word, effect) CONF_BIT_##constant,
#define V(name) CONF_BIT_##name##_BEFORE_ = -1, CONF_##name##_WORDS(X)
    CONF_FLAG_VOCABULARIES(V, V, V)
#undef V
#undef X
};
enum conf_flag_word {
    CONF_NO_FLAG = 0,
#define X(constant, word, effect) CONF_##constant = UINT64_C(1) << CONF_BIT_##constant,
#define V(name) CONF_##name##_WORDS(X)
    CONF_FLAG_VOCABULARIES(V, V, V)
#undef V
#undef X
        CONF_CR_CPU_MEMORY = CONF_CR_CPU | CONF_CR_MEMORY,
    CONF_CR_CORE_MEMORY = CONF_CR_CORE | CONF_CR_MEMORY,
    CONF_CR_SOCKET_MEMORY = CONF_CR_SOCKET | CONF_CR_MEMORY,
    CONF_ENFORCE_ALL = CONF_ENFORCE_ASSOCIATIONS | CONF_ENFORCE_LIMITS | CONF_ENFORCE_QOS |
                       CONF_ENFORCE_SAFE | CONF_ENFORCE_WCKEYS,
};

#endif
