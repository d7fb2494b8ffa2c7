/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration keys: one row each. A row makes the member of its struct, its parsing, its
 * default, its line in `scontrol show config` and its paragraph in the manual page.
 *
 *   X(TYPE, member, "Name", default, min, max, VOCABULARY, "unit", EFFECT, WHO, tier, "help")
 *
 * TYPE        see enum conf_type in conf_table.h
 * min, max    of numbers; max CONF_INFINITE also takes INFINITE and UNLIMITED
 * VOCABULARY  of ENUM, FLAGS (conf_words.h) and OPTIONS (a table of this file); NONE elsewhere
 * unit        appended by show config
 * EFFECT      HONOURED; NOT_YET (accepted, one notice unless the value is the default);
 *             NOT_NEEDED (accepted in silence: there is nothing to configure)
 * WHO         CLIENT: commands need it too, so they check it; DAEMON: they pass over it
 *
 * The rows of slurm.conf stand in the order of `scontrol show config`; D(NAME) is a line of it that
 * comes from the running daemon.
 */
#ifndef SLUICE_MODEL_CONF_KEYS_H
#define SLUICE_MODEL_CONF_KEYS_H

#include <stdint.h>

/* A number that is not set. 32-bit keys know only "infinite" beside their numbers. */
#define CONF_UNSET UINT64_MAX
#define CONF_INFINITE UINT32_MAX

#define CONF_PORT_MAX 65535
#define CONF_U32_MAX (UINT32_MAX - 1)
#define CONF_U64_MAX (UINT64_MAX - 1)

/* clang-format off */

#define CONF_KEYS(X, D) \
X(STRING, accounting_storage_backup_host, "AccountingStorageBackupHost", NULL, 0, 0, NONE, "", HONOURED, CLIENT, 3, \
  "second slurmdbd") \
X(FLAGS, accounting_storage_enforce, "AccountingStorageEnforce", 0, 0, 0, ENFORCE, "", HONOURED, DAEMON, 1, \
  "what a job must satisfy before it may start: an association, its limits, its QOS, a wckey; nojobs and nosteps: of what nothing is kept") \
X(STRING, accounting_storage_host, "AccountingStorageHost", "localhost", 0, 0, NONE, "", HONOURED, CLIENT, 1, \
  "host of slurmdbd") \
X(STRING, accounting_storage_external_host, "AccountingStorageExternalHost", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "further slurmdbd to register with") \
X(STRING, accounting_storage_parameters, "AccountingStorageParameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "tuning of the connection to the database") \
X(U32, accounting_storage_port, "AccountingStoragePort", 6819, 0, CONF_PORT_MAX, NONE, "", HONOURED, CLIENT, 1, \
  "port of slurmdbd") \
X(LIST, accounting_storage_tres, "AccountingStorageTRES", "cpu,mem,energy,node,billing,fs/disk,vmem,pages", 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "resources to account for; the first eight are always there, add gres/gpu, license/NAME") \
X(ENUM, accounting_storage_type, "AccountingStorageType", CONF_STORAGE_EMBEDDED, 0, 0, STORAGE, "", HONOURED, CLIENT, 1, \
  "where accounting records go: kept by the controller itself (embedded), sent to slurmdbd, or dropped") \
X(FLAGS, accounting_store_flags, "AccountingStoreFlags", 0, 0, 0, STORE_FLAGS, "", HONOURED, DAEMON, 2, \
  "what else of a job is kept in its accounting record") \
X(STRING, acct_gather_energy_type, "AcctGatherEnergyType", "acct_gather_energy/none", 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "source of energy readings") \
X(STRING, acct_gather_filesystem_type, "AcctGatherFilesystemType", "acct_gather_filesystem/none", 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "source of file system counters") \
X(STRING, acct_gather_interconnect_type, "AcctGatherInterconnectType", "acct_gather_interconnect/none", 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "source of network counters") \
X(U32, acct_gather_node_freq, "AcctGatherNodeFreq", 0, 0, CONF_U32_MAX, NONE, "sec", NOT_YET, DAEMON, 3, \
  "interval of node readings") \
X(STRING, acct_gather_profile_type, "AcctGatherProfileType", "acct_gather_profile/none", 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "where job profiles are written") \
X(BOOL, allow_spec_resources_usage, "AllowSpecResourcesUsage", false, 0, 1, NONE, "", NOT_YET, DAEMON, 3, \
  "let jobs override the specialised cores of a node") \
X(FLAGS, auth_alt_types, "AuthAltTypes", 0, 0, 0, AUTH_ALT, "", NOT_YET, DAEMON, 2, \
  "further ways to authenticate") \
X(WORDS, auth_alt_parameters, "AuthAltParameters", {0}, 0, 0, AUTH_ALT_PARAM, "", NOT_YET, DAEMON, 2, \
  "options of AuthAltTypes") \
X(OPTIONS, auth_info, "AuthInfo", NULL, 0, 0, AUTH_INFO, "", HONOURED, CLIENT, 2, \
  "options of authentication: socket=PATH of munged, ttl=, cred_expire=") \
X(ENUM, auth_type, "AuthType", CONF_AUTH_MUNGE, 0, 0, AUTH, "", HONOURED, CLIENT, 1, \
  "how daemons and commands prove who they are") \
X(U32, batch_start_timeout, "BatchStartTimeout", 10, 0, CONF_U32_MAX, NONE, "sec", NOT_NEEDED, DAEMON, 2, \
  "a node that does not report a started batch script is asked again by the controller itself") \
X(STRING, bcast_exclude, "BcastExclude", "/lib,/usr/lib,/lib64,/usr/lib64", 0, 0, NONE, "", NOT_YET, CLIENT, 3, \
  "libraries that sbcast --send-libs leaves out") \
X(STRING, bcast_parameters, "BcastParameters", NULL, 0, 0, NONE, "", NOT_YET, CLIENT, 3, \
  "defaults of sbcast") \
D(BOOT_TIME) \
X(STRING, burst_buffer_type, "BurstBufferType", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "burst buffer plugin") \
X(STRING, certgen_parameters, "CertgenParameters", NULL, 0, 0, NONE, "", NOT_NEEDED, DAEMON, 3, \
  "connections are encrypted without certificates") \
X(STRING, certgen_type, "CertgenType", NULL, 0, 0, NONE, "", NOT_NEEDED, DAEMON, 3, \
  "connections are encrypted without certificates") \
X(STRING, certmgr_parameters, "CertmgrParameters", NULL, 0, 0, NONE, "", NOT_NEEDED, DAEMON, 3, \
  "connections are encrypted without certificates") \
X(STRING, certmgr_type, "CertmgrType", NULL, 0, 0, NONE, "", NOT_NEEDED, DAEMON, 3, \
  "connections are encrypted without certificates") \
X(STRING, cli_filter_parameters, "CliFilterParameters", NULL, 0, 0, NONE, "", NOT_YET, CLIENT, 3, \
  "options of CliFilterPlugins") \
X(FLAGS, cli_filter_plugins, "CliFilterPlugins", 0, 0, 0, CLI_FILTER, "", HONOURED, CLIENT, 2, \
  "filters that commands apply to a user's options") \
X(STRING, cluster_name, "ClusterName", NULL, 0, 0, NONE, "", HONOURED, CLIENT, 1, \
  "name of the cluster; required") \
X(WORDS, communication_parameters, "CommunicationParameters", {0}, 0, 0, COMM, "", NOT_YET, CLIENT, 3, \
  "tuning of connections") \
X(U32, complete_wait, "CompleteWait", 0, 0, CONF_PORT_MAX, NONE, "sec", NOT_YET, DAEMON, 2, \
  "how long to wait for a job's last nodes before others may use the first") \
X(STRING, cpu_freq_def, "CpuFreqDef", "Unknown", 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "CPU frequency of jobs that ask for none") \
X(STRING, cpu_freq_governors, "CpuFreqGovernors", "OnDemand,Performance,UserSpace", 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "governors that --cpu-freq may set") \
X(ENUM, cred_type, "CredType", CONF_CRED_MUNGE, 0, 0, CRED, "", HONOURED, DAEMON, 1, \
  "how launch credentials are signed") \
X(STRING, data_parser_parameters, "DataParserParameters", NULL, 0, 0, NONE, "", NOT_YET, CLIENT, 3, \
  "default --json variant") \
X(FLAGS, debug_flags, "DebugFlags", 0, 0, 0, DEBUG, "", NOT_YET, DAEMON, 2, \
  "subsystems whose details are logged") \
X(MIB, def_mem_per_cpu, "DefMemPerCPU", CONF_UNSET, 0, CONF_U64_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "memory per allocated CPU of a job that asks for none, in MiB") \
X(MIB, def_mem_per_node, "DefMemPerNode", CONF_UNSET, 0, CONF_U64_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "memory per node of a job that asks for none, in MiB") \
X(OPTIONS, dependency_parameters, "DependencyParameters", NULL, 0, 0, DEPENDENCY, "", HONOURED, DAEMON, 2, \
  "rules for job dependencies") \
X(BOOL, disable_root_jobs, "DisableRootJobs", false, 0, 1, NONE, "", HONOURED, DAEMON, 2, \
  "refuse jobs of root") \
X(U32, eio_timeout, "EioTimeout", 60, 0, CONF_PORT_MAX, NONE, "", NOT_YET, DAEMON, 2, \
  "how long srun waits for a node to close its streams") \
X(ENUM, enforce_part_limits, "EnforcePartLimits", CONF_PART_LIMITS_NO, 0, 0, PART_LIMITS, "", HONOURED, DAEMON, 1, \
  "refuse a job at submission that breaks the limits of ALL or ANY of its partitions") \
X(NAMES, epilog, "Epilog", {0}, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "program run by root on each node when a job has ended") \
X(U32, epilog_msg_time, "EpilogMsgTime", 2000, 0, CONF_U32_MAX, NONE, "usec", NOT_NEEDED, DAEMON, 3, \
  "the controller takes completion messages as fast as they come") \
X(NAMES, epilog_slurmctld, "EpilogSlurmctld", {0}, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "program run by the controller when a job has ended") \
X(U32, fair_share_dampening_factor, "FairShareDampeningFactor", 1, 1, CONF_PORT_MAX, NONE, "", HONOURED, DAEMON, 3, \
  "dampening of the classic fair-share formula") \
X(STRING, federation_parameters, "FederationParameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "options of a federation of clusters") \
X(U32, first_job_id, "FirstJobId", 1, 1, 67043328, NONE, "", HONOURED, DAEMON, 1, \
  "id of the first job") \
X(LIST, gres_types, "GresTypes", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "names of the generic resources of this cluster") \
X(STRING, gpu_freq_def, "GpuFreqDef", "high,memory=high", 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "GPU frequency of jobs that ask for none") \
X(U32, group_update_force, "GroupUpdateForce", 1, 0, 1, NONE, "", NOT_NEEDED, DAEMON, 3, \
  "group membership is looked up when it is needed") \
X(U32, group_update_time, "GroupUpdateTime", 600, 0, CONF_PORT_MAX, NONE, "sec", NOT_NEEDED, DAEMON, 3, \
  "group membership is looked up when it is needed") \
D(HASH_VAL) \
X(STRING, hash_plugin, "HashPlugin", "hash/k12", 0, 0, NONE, "", NOT_NEEDED, DAEMON, 3, \
  "messages are authenticated by the encrypted channel") \
X(U32, health_check_interval, "HealthCheckInterval", 0, 0, CONF_PORT_MAX, NONE, "sec", HONOURED, DAEMON, 1, \
  "interval of HealthCheckProgram") \
X(FLAGS, health_check_node_state, "HealthCheckNodeState", CONF_HEALTH_ANY, 0, 0, HEALTH_STATE, "", HONOURED, DAEMON, 1, \
  "nodes that HealthCheckProgram runs on") \
X(STRING, health_check_program, "HealthCheckProgram", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "program run by root on each node now and then") \
X(U32, health_check_timeout, "HealthCheckTimeout", 60, 0, CONF_PORT_MAX, NONE, "sec", HONOURED, DAEMON, 1, \
  "how long HealthCheckProgram may run") \
X(STRING, http_parser_type, "HttpParserType", NULL, 0, 0, NONE, "", NOT_NEEDED, DAEMON, 3, \
  "built in") \
X(U32, inactive_limit, "InactiveLimit", 0, 0, CONF_PORT_MAX, NONE, "sec", NOT_YET, DAEMON, 2, \
  "end an allocation whose command has been silent for so long") \
X(STRING, interactive_step_options, "InteractiveStepOptions", "--interactive --preserve-env --pty $SHELL", 0, 0, NONE, "", HONOURED, CLIENT, 1, \
  "srun options of salloc's shell under LaunchParameters=use_interactive_step") \
X(OPTIONS, job_acct_gather_frequency, "JobAcctGatherFrequency", "30", 0, 0, FREQUENCY, "", HONOURED, CLIENT, 1, \
  "seconds between readings of a job's use: task=N,energy=N,network=N,filesystem=N or N for task") \
X(ENUM, job_acct_gather_type, "JobAcctGatherType", CONF_GATHER_NONE, 0, 0, GATHER, "", HONOURED, DAEMON, 1, \
  "how a job's use of CPU and memory is read while it runs: by process (linux, cgroup) or only at its end and for sstat (none)") \
X(FLAGS, job_acct_gather_params, "JobAcctGatherParams", 0, 0, 0, GATHER_PARAM, "", HONOURED, DAEMON, 2, \
  "which memory counts as used, and whether a step that uses more than it may is ended (OverMemoryKill)") \
X(STRING, job_comp_host, "JobCompHost", "localhost", 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "host of the job completion database") \
X(STRING, job_comp_loc, "JobCompLoc", "/var/log/slurm_jobcomp.log", 0, 0, NONE, "", NOT_YET, DAEMON, 2, \
  "file, database or script for job completion records") \
X(STRING, job_comp_params, "JobCompParams", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "options of JobCompType") \
X(U32, job_comp_port, "JobCompPort", 0, 0, CONF_PORT_MAX, NONE, "", NOT_YET, DAEMON, 3, \
  "port of the job completion database") \
X(ENUM, job_comp_type, "JobCompType", CONF_JOBCOMP_NONE, 0, 0, JOBCOMP, "", HONOURED, DAEMON, 2, \
  "log of finished jobs beside accounting") \
X(STRING, job_comp_user, "JobCompUser", "root", 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "user of the job completion database") \
X(OPTIONS, job_defaults, "JobDefaults", NULL, 0, 0, JOB_DEFAULTS, "", HONOURED, DAEMON, 2, \
  "DefCpuPerGPU=N, DefMemPerGPU=MiB") \
X(BIT, job_file_append, "JobFileAppend", false, 0, 1, NONE, "", HONOURED, DAEMON, 1, \
  "append to a job's output files instead of truncating them") \
X(BIT, job_requeue, "JobRequeue", true, 0, 1, NONE, "", HONOURED, DAEMON, 1, \
  "batch jobs may be requeued unless they say otherwise") \
X(FLAGS, job_submit_plugins, "JobSubmitPlugins", 0, 0, 0, JOB_SUBMIT, "", HONOURED, DAEMON, 2, \
  "filters that the controller applies to submitted jobs") \
X(BIT, kill_on_bad_exit, "KillOnBadExit", false, 0, 1, NONE, "", HONOURED, CLIENT, 1, \
  "end a step when one of its tasks fails") \
X(U32, kill_wait, "KillWait", 30, 0, CONF_PORT_MAX, NONE, "sec", HONOURED, DAEMON, 1, \
  "time between SIGTERM and SIGKILL for a job at its time limit") \
X(FLAGS, launch_parameters, "LaunchParameters", 0, 0, 0, LAUNCH, "", HONOURED, CLIENT, 1, \
  "how jobs and steps are started") \
X(STRING, license_parameters, "LicenseParameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "rules for licenses") \
X(LIST, licenses, "Licenses", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 2, \
  "cluster-wide countable things: NAME[:COUNT],...") \
X(FLAGS, log_time_format, "LogTimeFormat", CONF_LOG_TIME_ISO8601_MS, 0, 0, LOG_TIME, "", NOT_YET, DAEMON, 2, \
  "time stamps of log lines") \
X(STRING, mail_domain, "MailDomain", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 2, \
  "domain of mail to users who gave no address") \
X(STRING, mail_prog, "MailProg", "/bin/mail", 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "program that sends mail; called with -s SUBJECT ADDRESS") \
X(U32, max_array_size, "MaxArraySize", 4000001, 0, 4000001, NONE, "", HONOURED, DAEMON, 1, \
  "one more than the largest array index") \
X(U32, max_batch_requeue, "MaxBatchRequeue", 5, 0, CONF_U32_MAX, NONE, "", NOT_NEEDED, DAEMON, 2, \
  "requeues after a failed launch before a job is held") \
X(U32, max_dbd_msgs, "MaxDBDMsgs", 0, 0, CONF_U32_MAX, NONE, "", NOT_YET, DAEMON, 3, \
  "messages kept for a slurmdbd that is away") \
X(U32, max_job_count, "MaxJobCount", 5000000, 1, CONF_U32_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "jobs in the controller at any time; tasks of arrays that wait count each") \
X(U32, max_job_id, "MaxJobId", 67043328, 1, 67043328, NONE, "", HONOURED, DAEMON, 1, \
  "job ids start again at FirstJobId after this one") \
X(MIB, max_mem_per_cpu, "MaxMemPerCPU", CONF_UNSET, 0, CONF_U64_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "most memory per allocated CPU that a job may ask for, in MiB") \
X(MIB, max_mem_per_node, "MaxMemPerNode", CONF_UNSET, 0, CONF_U64_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "most memory per node that a job may ask for, in MiB") \
X(U32, max_node_count, "MaxNodeCount", 0, 0, CONF_U32_MAX, NONE, "", NOT_YET, DAEMON, 1, \
  "room for nodes that register by themselves; 0 is the number of configured nodes") \
X(U32, max_step_count, "MaxStepCount", 40000, 1, CONF_U32_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "steps of one job") \
X(U32, max_tasks_per_node, "MaxTasksPerNode", 512, 1, CONF_PORT_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "tasks of one step on one node") \
X(ENUM, mcs_plugin, "MCSPlugin", CONF_MCS_NONE, 0, 0, MCS, "", HONOURED, DAEMON, 3, \
  "security labels of jobs") \
X(STRING, mcs_parameters, "MCSParameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "options of MCSPlugin") \
X(U32, message_timeout, "MessageTimeout", 10, 1, CONF_PORT_MAX, NONE, "sec", HONOURED, CLIENT, 2, \
  "how long an answer may take") \
X(STRING, metrics_auth_users, "MetricsAuthUsers", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "users who may read metrics") \
X(STRING, metrics_parameters, "MetricsParameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "options of metrics") \
X(STRING, metrics_type, "MetricsType", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "form of metrics") \
X(U32, min_job_age, "MinJobAge", 300, 0, CONF_PORT_MAX, NONE, "sec", HONOURED, DAEMON, 1, \
  "how long a finished job stays in the controller; 0 is for ever") \
X(ENUM, mpi_default, "MpiDefault", CONF_MPI_NONE, 0, 0, MPI, "", HONOURED, CLIENT, 1, \
  "MPI of steps without --mpi") \
X(STRING, mpi_params, "MpiParams", NULL, 0, 0, NONE, "", NOT_YET, CLIENT, 1, \
  "ports=A-B reserved for MPI") \
D(MULTIPLE_SLURMD) \
X(ENUM, namespace_type, "NamespaceType", CONF_NAMESPACE_NONE, 0, 0, NAMESPACE, "", HONOURED, DAEMON, 2, \
  "private /tmp and the like for each job") \
D(NEXT_JOB_ID) \
X(LIST, node_features_plugins, "NodeFeaturesPlugins", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "features that change at reboot") \
X(U32, over_time_limit, "OverTimeLimit", 0, 0, CONF_INFINITE, NONE, "min", HONOURED, DAEMON, 1, \
  "how far a job may run past its time limit") \
X(STRING, plugin_dir, "PluginDir", NULL, 0, 0, NONE, "", NOT_NEEDED, CLIENT, 2, \
  "there are no plugins to load") \
X(STRING, plug_stack_config, "PlugStackConfig", NULL, 0, 0, NONE, "", NOT_YET, CLIENT, 2, \
  "list of SPANK plugins") \
X(FLAGS, preempt_mode, "PreemptMode", CONF_PREEMPT_MODE_OFF, 0, 0, PREEMPT_MODE, "", HONOURED, DAEMON, 1, \
  "what happens to a preempted job") \
X(OPTIONS, preempt_parameters, "PreemptParameters", NULL, 0, 0, PREEMPT, "", HONOURED, DAEMON, 2, \
  "rules for preemption") \
X(ENUM, preempt_type, "PreemptType", CONF_PREEMPT_NONE, 0, 0, PREEMPT_TYPE, "", HONOURED, DAEMON, 1, \
  "who may preempt whom") \
X(DURATION, preempt_exempt_time, "PreemptExemptTime", 0, 0, 0, NONE, "", HONOURED, DAEMON, 2, \
  "time that a job may run before it can be preempted") \
X(STRING, prep_parameters, "PrEpParameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "options of PrEpPlugins") \
X(STRING, prep_plugins, "PrEpPlugins", "prep/script", 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "how prologs and epilogs run") \
X(STRING, priority_parameters, "PriorityParameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "options of PriorityType") \
X(STRING, priority_site_factor_parameters, "PrioritySiteFactorParameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "options of PrioritySiteFactorPlugin") \
X(STRING, priority_site_factor_plugin, "PrioritySiteFactorPlugin", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "a site's own part of the priority") \
X(DURATION, priority_decay_half_life, "PriorityDecayHalfLife", 604800, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "time in which past usage loses half its weight; 0 never forgets") \
X(DURATION, priority_calc_period, "PriorityCalcPeriod", 300, 1, 0, NONE, "", HONOURED, DAEMON, 1, \
  "interval at which usage decays and priorities are computed anew") \
X(BOOL, priority_favor_small, "PriorityFavorSmall", false, 0, 1, NONE, "", HONOURED, DAEMON, 2, \
  "the job size factor favours small jobs") \
X(FLAGS, priority_flags, "PriorityFlags", 0, 0, 0, PRIORITY_FLAG, "", HONOURED, DAEMON, 2, \
  "variants of the priority formula") \
X(DURATION, priority_max_age, "PriorityMaxAge", 604800, 1, 0, NONE, "", HONOURED, DAEMON, 1, \
  "waiting time at which the age factor is full") \
X(ENUM, priority_type, "PriorityType", CONF_PRIORITY_MULTIFACTOR, 0, 0, PRIORITY, "", HONOURED, DAEMON, 1, \
  "order of waiting jobs: by weighted factors, or by submission") \
X(ENUM, priority_usage_reset_period, "PriorityUsageResetPeriod", CONF_RESET_NONE, 0, 0, RESET, "", HONOURED, DAEMON, 2, \
  "when recorded usage starts again at nothing") \
X(U32, priority_weight_accuracy, "PriorityWeightAccuracy", 0, 0, CONF_U32_MAX, NONE, "", HONOURED, DAEMON, 2, \
  "weight of how much of their limits the last jobs of the user have used, in the mean of 20; half of it until three have ended") \
X(U32, priority_weight_age, "PriorityWeightAge", 0, 0, CONF_U32_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "weight of the time waited") \
X(U32, priority_weight_assoc, "PriorityWeightAssoc", 0, 0, CONF_U32_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "weight of the association's priority") \
X(U32, priority_weight_fair_share, "PriorityWeightFairShare", 0, 0, CONF_U32_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "weight of the share still due to the user") \
X(U32, priority_weight_job_size, "PriorityWeightJobSize", 0, 0, CONF_U32_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "weight of the job's size") \
X(U32, priority_weight_partition, "PriorityWeightPartition", 0, 0, CONF_U32_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "weight of the partition's PriorityJobFactor") \
X(U32, priority_weight_qos, "PriorityWeightQOS", 0, 0, CONF_U32_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "weight of the QOS's priority") \
X(WEIGHTS, priority_weight_tres, "PriorityWeightTRES", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "weights of requested resources: CPU=n,Mem=n,GRES/gpu=n") \
X(FLAGS, private_data, "PrivateData", 0, 0, 0, PRIVATE, "", HONOURED, DAEMON, 2, \
  "what ordinary users may not see of others") \
X(ENUM, proctrack_type, "ProctrackType", CONF_PROCTRACK_CGROUP, 0, 0, PROCTRACK, "", HONOURED, DAEMON, 1, \
  "how the processes of a job are found") \
X(NAMES, prolog, "Prolog", {0}, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "program run by root on each node before a job's first step") \
X(U32, prolog_epilog_timeout, "PrologEpilogTimeout", 65534, 0, CONF_PORT_MAX, NONE, "", HONOURED, DAEMON, 2, \
  "how long Prolog and Epilog may run, in seconds") \
X(NAMES, prolog_slurmctld, "PrologSlurmctld", {0}, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "program run by the controller before a job starts") \
X(FLAGS, prolog_flags, "PrologFlags", 0, 0, 0, PROLOG_FLAG, "", HONOURED, DAEMON, 1, \
  "when and how the prolog runs") \
X(U32, propagate_prio_process, "PropagatePrioProcess", 0, 0, 2, NONE, "", HONOURED, CLIENT, 3, \
  "hand on the nice value of the submitting process") \
X(FLAGS, propagate_resource_limits, "PropagateResourceLimits", 0, 0, 0, RLIMIT, "", HONOURED, CLIENT, 1, \
  "resource limits of the submitting shell that a job inherits; ALL unless given") \
X(FLAGS, propagate_resource_limits_except, "PropagateResourceLimitsExcept", 0, 0, 0, RLIMIT, "", HONOURED, CLIENT, 1, \
  "resource limits of the submitting shell that a job does not inherit") \
X(STRING, reboot_program, "RebootProgram", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 2, \
  "program that reboots a node") \
X(FLAGS, reconfig_flags, "ReconfigFlags", 0, 0, 0, RECONFIG, "", NOT_YET, DAEMON, 2, \
  "what scontrol reconfigure leaves as it was changed at run time") \
X(LIST, requeue_exit, "RequeueExit", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 2, \
  "exit codes that requeue a batch job: 1-10,127") \
X(LIST, requeue_exit_hold, "RequeueExitHold", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 2, \
  "exit codes that requeue and hold a batch job") \
X(STRING, resume_fail_program, "ResumeFailProgram", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 2, \
  "program run for nodes that did not wake up") \
X(STRING, resume_program, "ResumeProgram", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 2, \
  "program that wakes nodes") \
X(U32, resume_rate, "ResumeRate", 300, 0, CONF_PORT_MAX, NONE, "nodes/min", NOT_YET, DAEMON, 2, \
  "nodes woken in a minute") \
X(U32, resume_timeout, "ResumeTimeout", 60, 0, CONF_PORT_MAX, NONE, "sec", HONOURED, DAEMON, 2, \
  "time that a node may take to wake up or to reboot") \
X(STRING, resv_epilog, "ResvEpilog", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 1, \
  "program run when a reservation ends") \
X(U32, resv_over_run, "ResvOverRun", 0, 0, CONF_INFINITE, NONE, "min", HONOURED, DAEMON, 2, \
  "how far a job may run past its reservation") \
X(STRING, resv_prolog, "ResvProlog", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 1, \
  "program run when a reservation starts") \
X(U32, return_to_service, "ReturnToService", 0, 0, 2, NONE, "", HONOURED, DAEMON, 1, \
  "which DOWN nodes return when they register: 0 none, 1 those that did not respond, 2 all") \
X(OPTIONS, scheduler_parameters, "SchedulerParameters", NULL, 0, 0, SCHEDULER_OPTION, "", HONOURED, DAEMON, 1, \
  "tuning of the scheduler") \
X(U32, scheduler_time_slice, "SchedulerTimeSlice", 30, 5, CONF_PORT_MAX, NONE, "sec", HONOURED, DAEMON, 2, \
  "length of a turn when jobs share resources in time") \
X(ENUM, scheduler_type, "SchedulerType", CONF_SCHEDULER_BACKFILL, 0, 0, SCHEDULER, "", HONOURED, DAEMON, 1, \
  "start jobs in priority order, or also later ones that delay no earlier one") \
X(FLAGS, scron_parameters, "ScronParameters", 0, 0, 0, SCRON, "", HONOURED, DAEMON, 3, \
  "scrontab: enable it; explicit_scancel: its jobs are cancelled with scancel --cron only") \
X(ENUM, select_type, "SelectType", CONF_SELECT_CONS_TRES, 0, 0, SELECT, "", HONOURED, CLIENT, 1, \
  "hand out parts of nodes, or whole nodes") \
X(FLAGS, select_type_parameters, "SelectTypeParameters", 0, 0, 0, SELECT_PARAM, "", HONOURED, DAEMON, 1, \
  "what is handed out and counted; CR_Core_Memory for select/cons_tres") \
X(STRING, slurm_user, "SlurmUser", "root", 0, 0, NONE, "", HONOURED, CLIENT, 1, \
  "user that slurmctld runs as") \
X(STRING, slurmctld_addr, "SlurmctldAddr", NULL, 0, 0, NONE, "", NOT_YET, CLIENT, 3, \
  "address to reach the acting controller at, if not that of SlurmctldHost") \
X(ENUM, slurmctld_debug, "SlurmctldDebug", CONF_LEVEL_INFO, 0, 0, LEVEL, "", HONOURED, DAEMON, 1, \
  "detail of the controller's log") \
X(NAMES, slurmctld_host, "SlurmctldHost", {0}, 0, 0, NONE, "", HONOURED, CLIENT, 1, \
  "host[(address)] of the controller; repeated for backups; required") \
X(STRING, slurmctld_http_auth_parameters, "SlurmctldHttpAuthParameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "authentication of HTTP requests") \
X(STRING, slurmctld_log_file, "SlurmctldLogFile", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "the controller's log file; syslog unless given") \
X(PORTS, slurmctld_port, "SlurmctldPort", {6817 CONF_COMMA 6817}, 1, CONF_PORT_MAX, NONE, "", HONOURED, CLIENT, 1, \
  "port or range of ports that the controller listens on") \
X(ENUM, slurmctld_syslog_debug, "SlurmctldSyslogDebug", CONF_LEVEL_UNSET, 0, 0, LEVEL, "", NOT_YET, DAEMON, 3, \
  "detail of the controller's lines in syslog") \
X(STRING, slurmctld_primary_off_prog, "SlurmctldPrimaryOffProg", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "program run when this host stops being the acting controller") \
X(STRING, slurmctld_primary_on_prog, "SlurmctldPrimaryOnProg", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "program run when this host becomes the acting controller") \
X(U32, slurmctld_timeout, "SlurmctldTimeout", 120, 0, CONF_PORT_MAX, NONE, "sec", NOT_YET, CLIENT, 1, \
  "silence of the controller before a backup takes over") \
X(OPTIONS, slurmctld_parameters, "SlurmctldParameters", NULL, 0, 0, SLURMCTLD_OPTION, "", HONOURED, DAEMON, 2, \
  "options of the controller") \
X(ENUM, slurmd_debug, "SlurmdDebug", CONF_LEVEL_INFO, 0, 0, LEVEL, "", HONOURED, DAEMON, 1, \
  "detail of the node daemon's log") \
X(STRING, slurmd_http_auth_parameters, "SlurmdHttpAuthParameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "authentication of HTTP requests") \
X(STRING, slurmd_log_file, "SlurmdLogFile", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "the node daemon's log file, %h host name, %n node name; syslog unless given") \
X(OPTIONS, slurmd_parameters, "SlurmdParameters", NULL, 0, 0, SLURMD_OPTION, "", HONOURED, DAEMON, 1, \
  "options of the node daemon") \
X(STRING, slurmd_pid_file, "SlurmdPidFile", "/var/run/slurmd.pid", 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "the node daemon's pid file, %h host name, %n node name") \
X(U32, slurmd_port, "SlurmdPort", 6818, 1, CONF_PORT_MAX, NONE, "", HONOURED, CLIENT, 1, \
  "port that node daemons listen on") \
X(STRING, slurmd_spool_dir, "SlurmdSpoolDir", "/var/spool/slurmd", 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "the node daemon's directory, %h host name, %n node name") \
X(ENUM, slurmd_syslog_debug, "SlurmdSyslogDebug", CONF_LEVEL_UNSET, 0, 0, LEVEL, "", NOT_YET, DAEMON, 3, \
  "detail of the node daemon's lines in syslog") \
X(U32, slurmd_timeout, "SlurmdTimeout", 300, 0, CONF_PORT_MAX, NONE, "sec", HONOURED, DAEMON, 1, \
  "silence of a node before it is DOWN; 0 is never") \
X(STRING, slurmd_user, "SlurmdUser", "root", 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "user that slurmd runs as") \
X(STRING, slurm_sched_log_file, "SlurmSchedLogFile", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "the scheduler's own log file") \
X(U32, slurm_sched_log_level, "SlurmSchedLogLevel", 0, 0, 9, NONE, "", NOT_YET, DAEMON, 3, \
  "detail of the scheduler's own log") \
X(STRING, slurmctld_pid_file, "SlurmctldPidFile", "/var/run/slurmctld.pid", 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "the controller's pid file") \
D(SLURM_CONF) \
D(SLURM_VERSION) \
X(STRING, srun_epilog, "SrunEpilog", NULL, 0, 0, NONE, "", HONOURED, CLIENT, 1, \
  "program that srun runs after a step") \
X(PORTS, srun_port_range, "SrunPortRange", {0}, 0, CONF_PORT_MAX, NONE, "", NOT_NEEDED, CLIENT, 2, \
  "srun listens on no port") \
X(STRING, srun_prolog, "SrunProlog", NULL, 0, 0, NONE, "", HONOURED, CLIENT, 1, \
  "program that srun runs before a step") \
X(STRING, state_save_location, "StateSaveLocation", "/var/spool", 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "the controller's directory") \
X(STRING, suspend_exc_nodes, "SuspendExcNodes", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 2, \
  "nodes that stay powered") \
X(STRING, suspend_exc_parts, "SuspendExcParts", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 2, \
  "partitions whose nodes stay powered") \
X(STRING, suspend_exc_states, "SuspendExcStates", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 2, \
  "node states that stay powered") \
X(STRING, suspend_program, "SuspendProgram", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 2, \
  "program that powers nodes down") \
X(U32, suspend_rate, "SuspendRate", 60, 0, CONF_PORT_MAX, NONE, "nodes/min", NOT_YET, DAEMON, 2, \
  "nodes powered down in a minute") \
X(U32, suspend_time, "SuspendTime", CONF_INFINITE, 0, CONF_INFINITE, NONE, "sec", NOT_YET, DAEMON, 2, \
  "idle time before a node is powered down") \
X(U32, suspend_timeout, "SuspendTimeout", 30, 0, CONF_PORT_MAX, NONE, "sec", NOT_YET, DAEMON, 2, \
  "time that a node may take to power down") \
X(STRING, switch_parameters, "SwitchParameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "options of SwitchType") \
X(ENUM, switch_type, "SwitchType", CONF_SWITCH_NONE, 0, 0, SWITCH, "", HONOURED, DAEMON, 3, \
  "network that wants setting up for jobs") \
X(STRING, task_epilog, "TaskEpilog", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "program run as the user after each task") \
X(FLAGS, task_plugin, "TaskPlugin", CONF_TASK_AFFINITY | CONF_TASK_CGROUP, 0, 0, TASK_PLUGIN, "", HONOURED, DAEMON, 1, \
  "how tasks are bound and confined") \
X(WORDS, task_plugin_param, "TaskPluginParam", {0}, 0, 0, TASK_PARAM, "", HONOURED, DAEMON, 2, \
  "default binding of tasks; whether one that runs out of memory ends its step (OOMKillStep)") \
X(STRING, task_prolog, "TaskProlog", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "program run as the user before each task") \
X(U32, tcp_timeout, "TCPTimeout", 2, 0, CONF_PORT_MAX, NONE, "sec", NOT_NEEDED, CLIENT, 2, \
  "how long a connection may take to come up") \
X(STRING, tls_parameters, "TLSParameters", NULL, 0, 0, NONE, "", NOT_NEEDED, CLIENT, 3, \
  "connections are encrypted without certificates") \
X(STRING, tls_type, "TLSType", NULL, 0, 0, NONE, "", NOT_NEEDED, CLIENT, 3, \
  "connections are encrypted without certificates") \
X(STRING, tmp_fs, "TmpFS", "/tmp", 0, 0, NONE, "", HONOURED, DAEMON, 2, \
  "directory whose size a node reports as TmpDisk") \
X(WORDS, topology_param, "TopologyParam", {0}, 0, 0, TOPOLOGY_PARAM, "", NOT_YET, DAEMON, 2, \
  "options of TopologyPlugin") \
X(ENUM, topology_plugin, "TopologyPlugin", CONF_TOPOLOGY_FLAT, 0, 0, TOPOLOGY, "", HONOURED, DAEMON, 2, \
  "shape of the network, for placing jobs") \
X(BOOL, track_wckey, "TrackWCKey", false, 0, 1, NONE, "", HONOURED, CLIENT, 3, \
  "jobs count for a workload characterisation key: the one that they name, else the user's default") \
X(U32, tree_width, "TreeWidth", 16, 1, CONF_PORT_MAX, NONE, "", NOT_NEEDED, CLIENT, 2, \
  "nodes keep their own connection to the controller") \
X(BOOL, use_pam, "UsePam", false, 0, 1, NONE, "", NOT_YET, DAEMON, 3, \
  "open a PAM session for each step") \
X(STRING, unkillable_step_program, "UnkillableStepProgram", NULL, 0, 0, NONE, "", HONOURED, DAEMON, 1, \
  "program run when a task cannot be killed") \
X(U32, unkillable_step_timeout, "UnkillableStepTimeout", 60, 0, CONF_PORT_MAX, NONE, "sec", HONOURED, DAEMON, 1, \
  "time after SIGKILL before a node is drained for a task that lives on; at least 5 times MessageTimeout unless given") \
X(STRING, url_parser_type, "UrlParserType", NULL, 0, 0, NONE, "", NOT_NEEDED, DAEMON, 3, \
  "built in") \
X(U32, vsize_factor, "VSizeFactor", 0, 0, CONF_PORT_MAX, NONE, "percent", NOT_YET, DAEMON, 3, \
  "virtual memory that a job may use, in percent of its memory") \
X(U32, wait_time, "WaitTime", 0, 0, CONF_PORT_MAX, NONE, "sec", HONOURED, CLIENT, 2, \
  "how long srun waits for the rest after its first task has ended; 0 is for ever") \
X(STRING, x11_parameters, "X11Parameters", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "options of --x11")

/* Accepted, but no line of show config. */
#define CONF_MORE_KEYS(X) \
X(STRING, accounting_storage_pass, "AccountingStoragePass", NULL, 0, 0, NONE, "", NOT_YET, CLIENT, 1, \
  "socket of the munged that slurmdbd uses, if not that of AuthInfo") \
X(STRING, accounting_storage_user, "AccountingStorageUser", NULL, 0, 0, NONE, "", NOT_NEEDED, CLIENT, 3, \
  "slurmdbd knows its caller by authentication") \
X(STRING, job_comp_pass, "JobCompPass", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "password of the job completion database") \
X(STRING, job_comp_pass_script, "JobCompPassScript", NULL, 0, 0, NONE, "", NOT_YET, DAEMON, 3, \
  "program that prints the password of the job completion database") \
X(MIB, def_mem_per_gpu, "DefMemPerGPU", CONF_UNSET, 0, CONF_U64_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "memory per allocated GPU of a job that asks for none, in MiB") \
X(U64, def_cpu_per_gpu, "DefCpuPerGPU", CONF_UNSET, 0, CONF_U64_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "CPUs per allocated GPU of a job that asks for none") \
X(U32, prolog_timeout, "PrologTimeout", 65534, 0, CONF_PORT_MAX, NONE, "sec", HONOURED, DAEMON, 2, \
  "how long Prolog may run") \
X(U32, epilog_timeout, "EpilogTimeout", 65534, 0, CONF_PORT_MAX, NONE, "sec", HONOURED, DAEMON, 2, \
  "how long Epilog may run") \
X(STRING, control_machine, "ControlMachine", NULL, 0, 0, NONE, "", HONOURED, CLIENT, 1, \
  "old form of SlurmctldHost") \
X(STRING, control_addr, "ControlAddr", NULL, 0, 0, NONE, "", HONOURED, CLIENT, 1, \
  "old form of the address in SlurmctldHost") \
X(STRING, backup_controller, "BackupController", NULL, 0, 0, NONE, "", HONOURED, CLIENT, 1, \
  "old form of the second SlurmctldHost") \
X(STRING, backup_addr, "BackupAddr", NULL, 0, 0, NONE, "", HONOURED, CLIENT, 1, \
  "old form of the address in the second SlurmctldHost") \
X(BOOL, strict_conf, "StrictConf", false, 0, 1, NONE, "", HONOURED, DAEMON, 1, \
  "refuse the association limits in this file that are otherwise taken as limits of account root") \
X(U64, grp_cpu_mins, "GrpCPUMins", CONF_UNSET, 0, CONF_U64_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "limit of account root: CPU minutes that all its jobs may use, as they decay") \
X(U64, grp_cpus, "GrpCPUs", CONF_UNSET, 0, CONF_U64_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "limit of account root: CPUs of all its running jobs") \
X(U64, grp_jobs, "GrpJobs", CONF_UNSET, 0, CONF_U64_MAX, NONE, "", HONOURED, DAEMON, 1, \
  "limit of account root: running jobs")

/* A(old name, new name): the same key under an older name, taken without a word. */
#define CONF_ALIASES(A) \
A("AccountingStorageEnforced", "AccountingStorageEnforce") A("JobContainerType", "NamespaceType") \
A("CryptoType", "CredType") A("TaskPluginParams", "TaskPluginParam") \
A("DefaultStorageHost", "AccountingStorageHost") A("DefaultStoragePort", "AccountingStoragePort") \
A("DefaultStorageType", "AccountingStorageType") A("DefaultStorageUser", "AccountingStorageUser") \
A("TopologyParams", "TopologyParam")

/* O("Name", "why"): keys of old releases; accepted with a notice. */
#define CONF_OBSOLETE_KEYS(O) \
O("AccountingStorageLoc", "the accounting store keeps its own place") \
O("AccountingStoreJobComment", "write AccountingStoreFlags=job_comment") \
O("AuthenticationMethod", "write AuthType") \
O("BatchScriptNodes", "the script runs on the first node") \
O("CacheGroups", "group membership is looked up when it is needed") \
O("CheckpointType", "checkpoints are made by the job itself") \
O("CoreSpecPlugin", "cores are set aside by CoreSpecCount alone") \
O("DefaultStorageLoc", "the accounting store keeps its own place") \
O("DefaultStoragePass", "write AccountingStoragePass") \
O("DisableRootJob", "write DisableRootJobs") \
O("ExtSensorsFreq", "external sensors are gone") \
O("ExtSensorsType", "external sensors are gone") \
O("FastSchedule", "the node lines count; SlurmdParameters=config_overrides lets them claim more than the machine has") \
O("FrontendName", "front-end nodes are gone") \
O("GetEnvTimeout", "the login environment is read with a fixed bound") \
O("JobCheckpointDir", "checkpoints are made by the job itself") \
O("JobCredentialPrivateKey", "launch credentials are sealed by munge") \
O("JobCredentialPublicCertificate", "launch credentials are sealed by munge") \
O("KeepAliveTime", "write CommunicationParameters=keepalivetime=") \
O("LaunchType", "srun launches by itself") \
O("LayoutsType", "layouts are gone") \
O("Layouts", "layouts are gone") \
O("MaxMemPerTask", "write MaxMemPerCPU") \
O("MemLimitEnforce", "memory is enforced by control groups") \
O("MsgAggregationParams", "messages are not aggregated") \
O("PowerParameters", "power capping is gone") \
O("PowerPlugin", "power capping is gone") \
O("RoutePlugin", "messages find their own way") \
O("SallocDefaultCommand", "write LaunchParameters=use_interactive_step") \
O("SchedulerAuth", "the scheduler is built in") \
O("SchedulerPort", "the scheduler is built in") \
O("SchedulerRootFilter", "there is no such filter") \
O("SlurmctldPlugstack", "the controller loads no plugins") \
O("TopologyType", "write TopologyPlugin") \
O("TreeFanout", "nodes keep their own connection to the controller") \
O("UseSpecResources", "write AllowSpecResourcesUsage") \
O("WckeyRequired", "write AccountingStorageEnforce=wckeys")

/* ---- Sub-options: members of a nested struct, rows as above without unit, WHO and help ---- */
/* X(TYPE, member, "name", default, min, max, EFFECT, "unit") */
/* The scheduler's: X(TYPE, member, "name", default, min, max, VOCABULARY, EFFECT, "unit", "help"). The
 * help of a row that is NOT_NEEDED says why; it stands in the notice that names those. */
#define CONF_SCHEDULER_OPTION_KEYS(X) \
X(U32, bf_interval, "bf_interval", 30, 1, 10800, NONE, NOT_NEEDED, "sec", \
  "planning follows every change at once") \
X(U32, bf_window, "bf_window", 1440, 1, 43200, NONE, NOT_NEEDED, "min", "the plan has no horizon") \
X(U32, bf_resolution, "bf_resolution", 60, 1, 3600, NONE, NOT_NEEDED, "sec", "nothing is rounded") \
X(U32, bf_max_time, "bf_max_time", 0, 0, 3600, NONE, NOT_NEEDED, "sec", \
  "a pass is never cut by the clock") \
X(U32, bf_max_job_test, "bf_max_job_test", 500, 1, 1000000, NONE, NOT_NEEDED, "", \
  "no depth is cut") \
X(U32, bf_max_job_user, "bf_max_job_user", 0, 0, 1000000, NONE, NOT_NEEDED, "", "no depth is cut") \
X(U32, bf_max_job_part, "bf_max_job_part", 0, 0, 1000000, NONE, NOT_NEEDED, "", "no depth is cut") \
X(U32, bf_max_job_assoc, "bf_max_job_assoc", 0, 0, 1000000, NONE, NOT_NEEDED, "", \
  "no depth is cut") \
X(U32, bf_max_job_start, "bf_max_job_start", 0, 0, 10000, NONE, NOT_NEEDED, "", \
  "every job that can start does") \
X(U32, bf_max_job_user_part, "bf_max_job_user_part", 0, 0, 1000000, NONE, NOT_NEEDED, "", \
  "no depth is cut") \
X(U32, bf_max_job_array_resv, "bf_max_job_array_resv", 20, 0, 1000, NONE, NOT_NEEDED, "", \
  "tasks of an array are planned as one shape") \
X(SWITCH, bf_continue, "bf_continue", false, 0, 1, NONE, NOT_NEEDED, "", \
  "no plan is thrown away because something changed") \
X(SWITCH, bf_licenses, "bf_licenses", false, 0, 1, NONE, NOT_NEEDED, "", \
  "licences are part of every plan") \
X(SWITCH, bf_one_resv_per_job, "bf_one_resv_per_job", false, 0, 1, NONE, NOT_NEEDED, "", \
  "a job has one plan, in the partition where it starts first") \
X(SWITCH, bf_running_job_reserve, "bf_running_job_reserve", false, 0, 1, NONE, NOT_NEEDED, "", \
  "what runs is part of every plan") \
X(SWITCH, bf_busy_nodes, "bf_busy_nodes", false, 0, 1, NONE, NOT_NEEDED, "", \
  "plans take the nodes that come free last") \
X(SWITCH, bf_allow_magnetic_slot, "bf_allow_magnetic_slot", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(U32, bf_min_age_reserve, "bf_min_age_reserve", 0, 0, 2592000, NONE, HONOURED, "sec", \
  "seconds that a job has waited before resources are kept for it") \
X(U32, bf_min_prio_reserve, "bf_min_prio_reserve", 0, 0, CONF_U32_MAX, NONE, HONOURED, "", \
  "priority from which resources are kept for a job") \
X(U32, bf_job_part_count_reserve, "bf_job_part_count_reserve", 0, 0, 100000, NONE, HONOURED, "", \
  "how many jobs that cannot start have resources kept for them, in each set of partitions that share nodes; 0 is 1") \
X(U32, bf_node_space_size, "bf_node_space_size", 0, 0, 2000000, NONE, NOT_NEEDED, "", \
  "the plan has no table that fills up") \
X(U32, bf_yield_interval, "bf_yield_interval", 2000000, 1, 10000000, NONE, NOT_NEEDED, "usec", \
  "a pass holds up no request") \
X(U32, bf_yield_sleep, "bf_yield_sleep", 500000, 1, 10000000, NONE, NOT_NEEDED, "usec", \
  "a pass holds up no request") \
X(U32, bf_yield_rpc_cnt, "bf_yield_rpc_cnt", 0, 0, 10000, NONE, NOT_NEEDED, "", \
  "a pass holds up no request") \
X(U32, max_rpc_cnt, "max_rpc_cnt", 0, 0, 1000, NONE, NOT_NEEDED, "", "a pass holds up no request") \
X(TEXT, bf_hetjob_prio, "bf_hetjob_prio", NULL, 0, 0, NONE, HONOURED, "", NULL) \
X(SWITCH, bf_hetjob_immediate, "bf_hetjob_immediate", false, 0, 1, NONE, NOT_NEEDED, "", \
  "components start as soon as all of them can") \
X(SWITCH, bf_topopt_enable, "bf_topopt_enable", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(U32, bf_topopt_iterations, "bf_topopt_iterations", 0, 0, 100000, NONE, NOT_YET, "", NULL) \
X(U32, default_queue_depth, "default_queue_depth", 100, 0, 1000000, NONE, NOT_NEEDED, "", \
  "no depth is cut") \
X(U32, partition_job_depth, "partition_job_depth", 0, 0, 1000000, NONE, NOT_NEEDED, "", \
  "no depth is cut") \
X(U32, sched_interval, "sched_interval", 60, 1, 3600, NONE, NOT_NEEDED, "sec", \
  "planning follows every change at once") \
X(U32, sched_min_interval, "sched_min_interval", 2, 0, 100000000, NONE, NOT_NEEDED, "usec", \
  "changes of one turn are planned together") \
X(U32, max_sched_time, "max_sched_time", 2, 1, 65535, NONE, NOT_NEEDED, "sec", \
  "a pass is never cut by the clock") \
X(U32, sched_max_job_start, "sched_max_job_start", 0, 0, 1000000, NONE, NOT_NEEDED, "", \
  "every job that can start does") \
X(U32, batch_sched_delay, "batch_sched_delay", 3, 0, 65535, NONE, NOT_NEEDED, "sec", \
  "planning follows every change at once") \
X(U32, build_queue_timeout, "build_queue_timeout", 2000000, 0, 100000000, NONE, NOT_NEEDED, "usec", \
  "the queue is kept in order, not built") \
X(SWITCH, defer, "defer", false, 0, 1, NONE, NOT_NEEDED, "", \
  "submissions of one turn are planned together") \
X(SWITCH, defer_batch, "defer_batch", false, 0, 1, NONE, NOT_NEEDED, "", \
  "submissions of one turn are planned together") \
X(U32, max_array_tasks, "max_array_tasks", 0, 0, 4000001, NONE, HONOURED, "", \
  "tasks that an array may have; 0 is MaxArraySize") \
X(U32, max_script_size, "max_script_size", 4194304, 1, 536870912, NONE, HONOURED, "bytes", \
  "size of a batch script") \
X(U32, max_submit_line_size, "max_submit_line_size", 1048576, 0, 2097152, NONE, NOT_YET, "bytes", \
  NULL) \
X(U32, max_switch_wait, "max_switch_wait", 300, 0, CONF_U32_MAX, NONE, HONOURED, "sec", NULL) \
X(U32, max_depend_depth, "max_depend_depth", 10, 0, 1000, NONE, NOT_NEEDED, "", \
  "circles of dependencies are found at any depth") \
X(SWITCH, nohold_on_prolog_fail, "nohold_on_prolog_fail", false, 0, 1, NONE, HONOURED, "", NULL) \
X(U32, requeue_delay, "requeue_delay", 0, 0, 65535, NONE, HONOURED, "sec", \
  "time before a requeued job may start again") \
X(SWITCH, salloc_wait_nodes, "salloc_wait_nodes", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, sbatch_wait_nodes, "sbatch_wait_nodes", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, enable_user_top, "enable_user_top", false, 0, 1, NONE, HONOURED, "", \
  "let users move their own jobs to the top of their own (scontrol top)") \
X(SWITCH, assoc_limit_stop, "assoc_limit_stop", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, kill_invalid_depend, "kill_invalid_depend", false, 0, 1, NONE, HONOURED, "", \
  "cancel jobs whose dependency can never come true") \
X(SWITCH, allow_zero_lic, "allow_zero_lic", false, 0, 1, NONE, HONOURED, "", \
  "let jobs wait for licences of which there are none") \
X(SWITCH, ignore_prefer_validation, "ignore_prefer_validation", false, 0, 1, NONE, NOT_YET, "", \
  NULL) \
X(SWITCH, ignore_constraint_validation, "ignore_constraint_validation", false, 0, 1, NONE, NOT_YET, "", \
  NULL) \
X(SWITCH, ignore_numa, "Ignore_NUMA", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, no_backup_scheduling, "no_backup_scheduling", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, pack_serial_at_end, "pack_serial_at_end", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, reduce_completing_frag, "reduce_completing_frag", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, permit_job_expansion, "permit_job_expansion", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, disable_job_shrink, "disable_job_shrink", false, 0, 1, NONE, HONOURED, "", \
  "running jobs may not give nodes back (scontrol update NumNodes=, NodeList=)") \
X(SWITCH, disable_hetjob_steps, "disable_hetjob_steps", false, 0, 1, NONE, HONOURED, "", NULL) \
X(SWITCH, enable_hetjob_steps, "enable_hetjob_steps", false, 0, 1, NONE, HONOURED, "", NULL) \
X(SWITCH, preempt_send_user_signal, "preempt_send_user_signal", false, 0, 1, NONE, HONOURED, "", \
  "old form of PreemptParameters=send_user_signal") \
X(SWITCH, preempt_strict_order, "preempt_strict_order", false, 0, 1, NONE, NOT_NEEDED, "", \
  "lower ranks always go before higher ones") \
X(SWITCH, preempt_youngest_first, "preempt_youngest_first", false, 0, 1, NONE, HONOURED, "", \
  "old form of PreemptParameters=youngest_first") \
X(U32, preempt_reorder_count, "preempt_reorder_count", 1, 0, 1000, NONE, NOT_NEEDED, "", \
  "the smallest set of victims is always looked for") \
X(SWITCH, no_env_cache, "no_env_cache", false, 0, 1, NONE, NOT_NEEDED, "", \
  "there is no such cache") \
X(SWITCH, time_min_as_soft_limit, "time_min_as_soft_limit", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, whole_hetjob, "whole_hetjob", false, 0, 1, NONE, HONOURED, "", NULL) \
X(SWITCH, extra_constraints, "extra_constraints", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(U32, delay_boot, "delay_boot", 0, 0, CONF_U32_MAX, NONE, NOT_YET, "sec", NULL) \
X(U32, correspond_after_task_cnt, "correspond_after_task_cnt", 10, 0, 100000, NONE, NOT_YET, "", \
  NULL) \
X(U32, step_retry_count, "step_retry_count", 8, 0, 1000, NONE, NOT_YET, "", NULL) \
X(U32, step_retry_time, "step_retry_time", 60, 0, 65535, NONE, NOT_YET, "sec", NULL) \
X(SWITCH, spec_cores_first, "spec_cores_first", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(DURATION, guard_time, "sluice_guard_time", 43200, 0, CONF_U64_MAX, NONE, HONOURED, "", \
  "a job that has waited longer has resources kept for it wherever it stands, so that nobody starts before it for ever; 0 is never") \
X(U32, guard_jobs, "sluice_guard_jobs", 20, 0, 100000, NONE, HONOURED, "", \
  "how many jobs at most have resources kept for them for that reason") \
X(ENUM, order, "sluice_order", CONF_SCHED_ORDER_PRIORITY, 0, 0, SCHED_ORDER, HONOURED, "", \
  "wfp3 adds the logarithm of (wait/limit)^3*nodes to every priority, so that whoever has waited long for its limit goes first; a priority factor of 8388608 counts as much as a value twice as large; it is reckoned again every PriorityCalcPeriod") \
X(ENUM, candidates, "sluice_candidates", CONF_SCHED_CANDIDATES_SAME, 0, 0, SCHED_CANDIDATES, HONOURED, "", \
  "in which order those are tried for whom no resources are kept: same is that of the queue; shortest by time limit; predicted by the mean of the last two run times of the user under the job's name, or of the user, known when the job is submitted or changed, and no longer than the limit; PriorityTier goes first, and no plan is ever delayed. The run times are not stored: a controller that starts knows those of jobs within MinJobAge") \
X(SWITCH, requeue_head, "requeue_head", false, 0, 1, NONE, NOT_YET, "", NULL)

#define CONF_SLURMCTLD_OPTION_KEYS(X) \
X(SWITCH, enable_configless, "enable_configless", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, cloud_dns, "cloud_dns", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, cloud_reg_addrs, "cloud_reg_addrs", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, idle_on_node_suspend, "idle_on_node_suspend", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, reboot_from_controller, "reboot_from_controller", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, rl_enable, "rl_enable", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(U32, rl_bucket_size, "rl_bucket_size", 30, 1, 100000, NONE, NOT_YET, "", NULL) \
X(U32, rl_refill_rate, "rl_refill_rate", 2, 1, 100000, NONE, NOT_YET, "", NULL) \
X(U32, rl_refill_period, "rl_refill_period", 1, 1, 100000, NONE, NOT_YET, "sec", NULL) \
X(U32, rl_table_size, "rl_table_size", 8192, 1, 1000000, NONE, NOT_YET, "", NULL) \
X(U32, rl_log_freq, "rl_log_freq", 0, 0, 1000000, NONE, NOT_YET, "", NULL) \
X(U32, node_reg_mem_percent, "node_reg_mem_percent", 100, 1, 100, NONE, HONOURED, "%", NULL) \
X(U32, power_save_interval, "power_save_interval", 10, 0, 65535, NONE, NOT_YET, "sec", NULL) \
X(U32, power_save_min_interval, "power_save_min_interval", 0, 0, 65535, NONE, NOT_YET, "sec", NULL) \
X(DURATION, drain_reminder, "sluice_drain_reminder", 86400, 0, CONF_U64_MAX, NONE, HONOURED, "", \
  "the log reminds of a node that has been drained or down for so long, and again after as long; 0 is never") \
X(DURATION, keep_history, "sluice_keep_history", 63072000, 0, CONF_U64_MAX, NONE, HONOURED, "", \
  "how long the controller keeps, where there is no slurmdbd, jobs that have ended, changes of accounts and outages of nodes, and with its job the script and environment that AccountingStoreFlags keeps; it is looked at when it starts, at scontrol reconfigure and each hour; 0 is for ever") \
X(U32, node_breaker, "sluice_node_breaker", 8, 0, 100, NONE, HONOURED, "", \
  "a node is drained when the scripts of so many jobs of at least three users have failed there within seconds and none has done well meanwhile; never more than a tenth of the nodes; 0 is never") \
X(U32, job_breaks, "sluice_job_breaks", 3, 0, 1000, NONE, HONOURED, "", \
  "a job is held when a node has gone down in so many of its runs; 0 is never") \
X(SWITCH, no_advice, "sluice_no_advice", false, 0, 1, NONE, HONOURED, "", \
  "submitters are not told of limits far above what their earlier jobs have needed, nor of memory in megabytes that looks as if gigabytes were meant") \
X(U32, job_submit_lua_timeout, "sluice_job_submit_timeout", 5, 1, 3600, NONE, HONOURED, "sec", \
  "how long job_submit.lua may take for one request before it is ended and the request refused") \
X(U32, job_submit_lua_memory, "sluice_job_submit_memory", 64, 1, 1048576, NONE, HONOURED, "MiB", \
  "memory that job_submit.lua may have; whoever needs more is refused") \
X(SWITCH, job_submit_lua_refuse, "sluice_job_submit_refuse", false, 0, 1, NONE, HONOURED, "", \
  "refuse requests in which job_submit.lua has an error, instead of letting them pass as they were") \
X(SWITCH, user_resv_delete, "user_resv_delete", false, 0, 1, NONE, HONOURED, "", NULL) \
X(TEXT, max_dbd_msg_action, "max_dbd_msg_action", NULL, 0, 0, NONE, NOT_YET, "", NULL) \
X(SWITCH, allow_user_triggers, "allow_user_triggers", false, 0, 1, NONE, HONOURED, "", \
  "every user may set triggers (strigger), where SlurmUser is root; their programs run as the user") \
X(SWITCH, disable_triggers, "disable_triggers", false, 0, 1, NONE, HONOURED, "", \
  "nobody may set triggers; those that are set stay and are run") \
X(U32, conmgr_threads, "conmgr_threads", 0, 0, 1024, NONE, NOT_NEEDED, "", NULL) \
X(U32, conmgr_max_connections, "conmgr_max_connections", 0, 0, 65535, NONE, NOT_NEEDED, "", NULL) \
X(SWITCH, conmgr_use_poll, "conmgr_use_poll", false, 0, 1, NONE, NOT_NEEDED, "", NULL) \
X(SWITCH, enable_stepmgr, "enable_stepmgr", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, enable_expedited_requeue, "enable_expedited_requeue", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, enable_async_reply, "enable_async_reply", false, 0, 1, NONE, NOT_NEEDED, "", NULL) \
X(SWITCH, enable_job_state_cache, "enable_job_state_cache", false, 0, 1, NONE, NOT_NEEDED, "", NULL) \
X(U32, max_powered_nodes, "max_powered_nodes", 0, 0, 1000000, NONE, NOT_YET, "", NULL) \
X(SWITCH, no_quick_restart, "no_quick_restart", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, reconfig_on_restart, "reconfig_on_restart", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(U32, validate_nodeaddr_threads, "validate_nodeaddr_threads", 0, 0, 64, NONE, NOT_NEEDED, "", NULL)

#define CONF_SLURMD_OPTION_KEYS(X) \
X(SWITCH, config_overrides, "config_overrides", false, 0, 1, NONE, HONOURED, "", \
  "a node is what its line says, even if it has fewer CPUs or less memory; devices are always counted") \
X(U32, check_interval, "sluice_check_interval", 60, 0, 86400, NONE, HONOURED, "sec", \
  "how often slurmd looks whether the node is as its line says and its file systems can be used; what is wrong drains the node; 0 is only at the start and when it is resumed") \
X(U32, disk_full, "sluice_disk_full", 99, 0, 100, NONE, HONOURED, "%", \
  "the node drains when SlurmdSpoolDir, TmpFS or a file system of sluice_watch is so full; 0 is never") \
X(U32, inodes_full, "sluice_inodes_full", 99, 0, 100, NONE, HONOURED, "%", \
  "the same for inodes") \
X(TEXT, watch, "sluice_watch", NULL, 0, 0, NONE, HONOURED, "", \
  "further file systems that must be there, answer, have room and take writes, with : between them") \
X(U32, clock_jump, "sluice_clock_jump", 0, 0, 86400, NONE, HONOURED, "sec", \
  "the node drains when its clock is set by so much while slurmd runs; 0 is never") \
X(TEXT, skip_checks, "sluice_skip_checks", NULL, 0, 0, NONE, HONOURED, "", \
  "checks that are not made, with : between them: memory cpus devices tmpdisk clock missing disk inodes readonly spool") \
X(SWITCH, numa_node_as_socket, "numa_node_as_socket", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, l3cache_as_socket, "l3cache_as_socket", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, allow_ecores, "allow_ecores", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, shutdown_on_reboot, "shutdown_on_reboot", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(SWITCH, contain_spank, "contain_spank", false, 0, 1, NONE, NOT_YET, "", NULL) \
X(U32, conmgr_threads, "conmgr_threads", 0, 0, 1024, NONE, NOT_NEEDED, "", NULL) \
X(U32, conmgr_max_connections, "conmgr_max_connections", 0, 0, 65535, NONE, NOT_NEEDED, "", NULL)

#define CONF_AUTH_INFO_KEYS(X) \
X(TEXT, socket, "socket", NULL, 0, 0, HONOURED, "") \
X(U32, ttl, "ttl", 0, 0, 3600, NOT_NEEDED, "sec") \
X(U32, cred_expire, "cred_expire", 120, 5, 86400, HONOURED, "sec") \
X(SWITCH, use_client_ids, "use_client_ids", false, 0, 1, NOT_YET, "") \
X(SWITCH, disable_sack, "disable_sack", false, 0, 1, NOT_NEEDED, "")

#define CONF_FREQUENCY_KEYS(X) \
X(U32, task, "task", 30, 0, 65535, HONOURED, "sec") \
X(U32, energy, "energy", 0, 0, 65535, NOT_YET, "sec") \
X(U32, network, "network", 0, 0, 65535, NOT_YET, "sec") \
X(U32, filesystem, "filesystem", 0, 0, 65535, NOT_YET, "sec")

#define CONF_DEPENDENCY_KEYS(X) \
X(SWITCH, kill_invalid_depend, "kill_invalid_depend", false, 0, 1, HONOURED, "") \
X(SWITCH, disable_remote_singleton, "disable_remote_singleton", false, 0, 1, NOT_YET, "") \
X(U32, max_depend_depth, "max_depend_depth", 10, 0, 1000, NOT_NEEDED, "")

#define CONF_PREEMPT_KEYS(X) \
X(U32, min_exempt_priority, "min_exempt_priority", 0, 0, CONF_U32_MAX, HONOURED, "") \
X(SWITCH, reclaim_licenses, "reclaim_licenses", false, 0, 1, HONOURED, "") \
X(U32, reorder_count, "reorder_count", 1, 0, 1000, NOT_NEEDED, "") \
X(SWITCH, requeue_head, "requeue_head", false, 0, 1, HONOURED, "") \
X(SWITCH, send_user_signal, "send_user_signal", false, 0, 1, HONOURED, "") \
X(SWITCH, strict_order, "strict_order", false, 0, 1, NOT_NEEDED, "") \
X(U32, suspend_grace_time, "suspend_grace_time", 2, 0, 65535, HONOURED, "sec") \
X(SWITCH, youngest_first, "youngest_first", false, 0, 1, HONOURED, "")

#define CONF_JOB_DEFAULTS_KEYS(X) \
X(U64, def_cpu_per_gpu, "DefCpuPerGPU", CONF_UNSET, 0, CONF_U64_MAX, HONOURED, "") \
X(MIB, def_mem_per_gpu, "DefMemPerGPU", CONF_UNSET, 0, CONF_U64_MAX, HONOURED, "MiB")

/* V(TABLE, struct suffix, member of struct conf) */
#define CONF_OPTION_TABLES(V) \
V(SCHEDULER_OPTION, scheduler_options, scheduler) \
V(SLURMCTLD_OPTION, slurmctld_options, slurmctld) \
V(SLURMD_OPTION, slurmd_options, slurmd) \
V(AUTH_INFO, auth_options, auth) \
V(FREQUENCY, frequency, frequency) \
V(DEPENDENCY, dependency_options, dependency) \
V(PREEMPT, preempt_options, preempt) \
V(JOB_DEFAULTS, job_defaults, defaults)

/* ---- Node lines ----
 * X(TYPE, member, "Name", default, min, max, VOCABULARY, EFFECT, "help"), from here on */
#define CONF_NODE_KEYS(X) \
X(STRING, line.names, "NodeName", NULL, 0, 0, NONE, HONOURED, \
  "the names of the nodes, or DEFAULT") \
X(STRING, line.hostnames, "NodeHostname", NULL, 0, 0, NONE, HONOURED, \
  "what hostname prints there; the name unless given") \
X(STRING, line.addresses, "NodeAddr", NULL, 0, 0, NONE, HONOURED, \
  "address to reach the node at; the host name unless given") \
X(STRING, line.ports, "Port", NULL, 0, 0, NONE, HONOURED, \
  "port of its slurmd; SlurmdPort unless given") \
X(STRING, line.bcast_addresses, "BcastAddr", NULL, 0, 0, NONE, NOT_YET, \
  "address for sbcast") \
X(U32, node.cpus, "CPUs", 0, 1, 65533, NONE, HONOURED, \
  "CPUs that jobs can have: all threads, or as many as there are cores; follows from the topology unless given") \
X(U32, node.boards, "Boards", 0, 1, 65533, NONE, HONOURED, \
  "boards of the node") \
X(U32, node.sockets, "Sockets", 0, 1, 65533, NONE, HONOURED, \
  "sockets of all boards") \
X(U32, line.sockets_per_board, "SocketsPerBoard", 0, 1, 65533, NONE, HONOURED, \
  "sockets of one board") \
X(U32, node.cores_per_socket, "CoresPerSocket", 0, 1, 65533, NONE, HONOURED, \
  "cores of one socket") \
X(U32, node.threads_per_core, "ThreadsPerCore", 0, 1, 65533, NONE, HONOURED, \
  "threads of one core") \
X(MIB, node.real_memory, "RealMemory", 1, 1, CONF_U64_MAX, NONE, HONOURED, \
  "memory in MiB") \
X(MIB, node.tmp_disk, "TmpDisk", 0, 0, CONF_U64_MAX, NONE, HONOURED, \
  "size of TmpFS in MiB") \
X(STRING, node.gres_text, "Gres", NULL, 0, 0, NONE, HONOURED, \
  "generic resources: NAME[:TYPE]:COUNT,...") \
X(LIST, node.features, "Features", NULL, 0, 0, NONE, HONOURED, \
  "words that jobs can ask for with --constraint") \
X(U32, node.weight, "Weight", 1, 0, CONF_U32_MAX, NONE, HONOURED, \
  "nodes with less weight are used first") \
X(ENUM, node.state, "State", CONF_NODE_STATE_UNKNOWN, 0, 0, NODE_STATE, HONOURED, \
  "state at the first start") \
X(STRING, node.reason, "Reason", NULL, 0, 0, NONE, HONOURED, \
  "why it is in that state") \
X(MIB, node.mem_spec_limit, "MemSpecLimit", 0, 0, CONF_U64_MAX, NONE, HONOURED, \
  "memory in MiB kept from jobs") \
X(U32, node.core_spec_count, "CoreSpecCount", 0, 0, 65533, NONE, NOT_YET, \
  "cores kept from jobs") \
X(STRING, node.cpu_spec_list, "CpuSpecList", NULL, 0, 0, NONE, NOT_YET, \
  "CPUs kept from jobs") \
X(STRING, node.cpu_bind, "CpuBind", NULL, 0, 0, NONE, HONOURED, \
  "default binding of tasks") \
X(U32, node.restricted_cores_per_gpu, "RestrictedCoresPerGPU", 0, 0, 65533, NONE, NOT_YET, \
  "cores that only jobs with a GPU may have") \
X(U32, node.suspend_time, "SuspendTime", CONF_INFINITE, 0, CONF_INFINITE, NONE, NOT_YET, \
  "idle seconds before the node is powered down") \
X(STRING, node.parameters, "Parameters", NULL, 0, 0, NONE, NOT_YET, \
  "options of the node") \
X(STRING, node.topology, "Topology", NULL, 0, 0, NONE, NOT_YET, \
  "place in the topology")
#define CONF_NODE_ALIASES(A) \
A("Procs", "CPUs") A("Feature", "Features") A("NodeAddress", "NodeAddr")

/* ---- Partition lines ---- */
#define CONF_PARTITION_KEYS(X) \
X(STRING, line.name, "PartitionName", NULL, 0, 0, NONE, HONOURED, \
  "the name, or DEFAULT") \
X(STRING, line.nodes, "Nodes", NULL, 0, 0, NONE, HONOURED, \
  "its nodes") \
X(BOOL, partition.is_default, "Default", false, 0, 1, NONE, HONOURED, \
  "jobs that name no partition go here") \
X(ENUM, partition.state, "State", CONF_PART_STATE_UP, 0, 0, PART_STATE, HONOURED, \
  "UP runs jobs; DOWN queues them; DRAIN runs the queued and takes none; INACTIVE does neither") \
X(MINUTES, partition.max_time, "MaxTime", MINUTES_INFINITE, 0, 0, NONE, HONOURED, \
  "longest time limit of a job") \
X(MINUTES, partition.default_time, "DefaultTime", MINUTES_UNSET, 1, 0, NONE, HONOURED, \
  "time limit of a job that asks for none; MaxTime unless given") \
X(U32, partition.max_nodes, "MaxNodes", CONF_INFINITE, 0, CONF_INFINITE, NONE, HONOURED, \
  "most nodes of a job") \
X(U32, partition.min_nodes, "MinNodes", 0, 0, CONF_U32_MAX, NONE, HONOURED, \
  "fewest nodes of a job") \
X(U32, partition.max_cpus_per_node, "MaxCPUsPerNode", CONF_INFINITE, 1, CONF_INFINITE, NONE, HONOURED, \
  "most CPUs of all its jobs on one node") \
X(U32, partition.max_cpus_per_socket, "MaxCPUsPerSocket", CONF_INFINITE, 1, CONF_INFINITE, NONE, NOT_YET, \
  "most CPUs of all its jobs on one socket") \
X(MIB, partition.def_mem_per_cpu, "DefMemPerCPU", CONF_UNSET, 0, CONF_U64_MAX, NONE, HONOURED, \
  "memory per CPU of a job that asks for none, in MiB") \
X(MIB, partition.def_mem_per_node, "DefMemPerNode", CONF_UNSET, 0, CONF_U64_MAX, NONE, HONOURED, \
  "memory per node of a job that asks for none, in MiB") \
X(MIB, partition.max_mem_per_cpu, "MaxMemPerCPU", CONF_UNSET, 0, CONF_U64_MAX, NONE, HONOURED, \
  "most memory per CPU, in MiB") \
X(MIB, partition.max_mem_per_node, "MaxMemPerNode", CONF_UNSET, 0, CONF_U64_MAX, NONE, HONOURED, \
  "most memory per node, in MiB") \
X(U64, partition.def_cpu_per_gpu, "DefCpuPerGPU", CONF_UNSET, 0, CONF_U64_MAX, NONE, HONOURED, \
  "CPUs per GPU of a job that asks for none") \
X(MIB, partition.def_mem_per_gpu, "DefMemPerGPU", CONF_UNSET, 0, CONF_U64_MAX, NONE, HONOURED, \
  "memory per GPU of a job that asks for none, in MiB") \
X(LIST, partition.allow_accounts, "AllowAccounts", NULL, 0, 0, NONE, HONOURED, \
  "accounts whose jobs are taken; ALL unless given") \
X(LIST, partition.allow_groups, "AllowGroups", NULL, 0, 0, NONE, HONOURED, \
  "groups whose members may submit; ALL unless given") \
X(LIST, partition.allow_qos, "AllowQos", NULL, 0, 0, NONE, HONOURED, \
  "QOS whose jobs are taken; ALL unless given") \
X(LIST, partition.deny_accounts, "DenyAccounts", NULL, 0, 0, NONE, HONOURED, \
  "accounts whose jobs are refused") \
X(LIST, partition.deny_qos, "DenyQos", NULL, 0, 0, NONE, HONOURED, \
  "QOS whose jobs are refused") \
X(STRING, partition.alloc_nodes, "AllocNodes", NULL, 0, 0, NONE, NOT_YET, \
  "hosts that jobs may be submitted from; ALL unless given") \
X(STRING, partition.alternate, "Alternate", NULL, 0, 0, NONE, NOT_YET, \
  "partition that takes the jobs when this one is not UP") \
X(BOOL, partition.hidden, "Hidden", false, 0, 1, NONE, HONOURED, \
  "listings leave it out unless asked for") \
X(BOOL, partition.root_only, "RootOnly", false, 0, 1, NONE, HONOURED, \
  "only root and SlurmUser may submit") \
X(BOOL, partition.disable_root_jobs, "DisableRootJobs", false, 0, 1, NONE, HONOURED, \
  "refuse jobs of root") \
X(BOOL, partition.req_resv, "ReqResv", false, 0, 1, NONE, HONOURED, \
  "jobs must name a reservation") \
X(BOOL, partition.lln, "LLN", false, 0, 1, NONE, HONOURED, \
  "take the least loaded node first") \
X(SHARE, partition.oversubscribe, "OverSubscribe", CONF_SHARE_NO, 0, 0, NONE, HONOURED, \
  "whether jobs may share CPUs: FORCE:n gives a node's CPUs out n times (at most 200) to jobs of the partition, YES:n to those that ask with --oversubscribe. Who shares gets free CPUs first, then the least used ones, and shares only on nodes where no other job holds any; memory and GRES are never shared. Where GANG is part of the partition's PreemptMode, such jobs take turns instead. Nobody shares on nodes of reservations, nor with a job that has whole nodes by --exclusive, nor with select/linear") \
X(ENUM, partition.exclusive, "Exclusive", CONF_PART_EXCLUSIVE_NO, 0, 0, PART_EXCLUSIVE, HONOURED, \
  "what a job gets for itself") \
X(BOOL, line.exclusive_user, "ExclusiveUser", false, 0, 1, NONE, HONOURED, \
  "old form of Exclusive=USER") \
X(BOOL, line.exclusive_topo, "ExclusiveTopo", false, 0, 1, NONE, NOT_YET, \
  "old form of Exclusive=TOPO") \
X(U32, partition.priority_job_factor, "PriorityJobFactor", 1, 0, CONF_PORT_MAX, NONE, HONOURED, \
  "share of PriorityWeightPartition that its jobs get, relative to the largest") \
X(U32, partition.priority_tier, "PriorityTier", 1, 0, CONF_PORT_MAX, NONE, HONOURED, \
  "jobs of a higher tier are looked at first and may preempt") \
X(U32, line.priority, "Priority", CONF_INFINITE, 0, CONF_PORT_MAX, NONE, HONOURED, \
  "old form of PriorityTier and PriorityJobFactor") \
X(FLAGS, partition.preempt_mode, "PreemptMode", 0, 0, 0, PREEMPT_MODE, HONOURED, \
  "what happens to its jobs when they are preempted; the mode of the cluster unless given") \
X(U32, partition.grace_time, "GraceTime", 0, 0, CONF_U32_MAX, NONE, HONOURED, \
  "seconds between the warning and the end of a preempted job") \
X(U32, partition.gpu_idle_warn, "GpuIdleWarn", 0, 0, CONF_U32_MAX, NONE, HONOURED, \
  "seconds after which the owner of a job is warned that GPUs of it do nothing; 0 is never. What cards do is known where AutoDetect=nvml is set in gres.conf. An option of this release only") \
X(U32, partition.gpu_idle_time, "GpuIdleTime", 0, 0, CONF_U32_MAX, NONE, HONOURED, \
  "seconds after which a job of which no GPU does anything ends by GpuIdleAction, unless it is kept (sluice keep); 0 is never. Where it is warned, never sooner after the warning than the two times differ. An option of this release only") \
X(ENUM, partition.gpu_idle_action, "GpuIdleAction", CONF_GPU_IDLE_REQUEUE, 0, 0, GPU_IDLE, HONOURED, \
  "what becomes of a job whose GPUs have done nothing for GpuIdleTime; what cannot be requeued is cancelled. An option of this release only") \
X(U32, partition.over_time_limit, "OverTimeLimit", CONF_OVER_TIME_UNSET, 0, CONF_INFINITE, NONE, HONOURED, \
  "minutes that a job may run past its time limit; those of the cluster unless given") \
X(STRING, partition.qos, "QOS", NULL, 0, 0, NONE, HONOURED, \
  "QOS whose limits hold for the partition as a whole") \
X(FLAGS, partition.select_type_parameters, "SelectTypeParameters", 0, 0, 0, SELECT_PARAM, NOT_YET, \
  "what is handed out; that of the cluster unless given") \
X(WEIGHTS, partition.tres_billing_weights, "TRESBillingWeights", NULL, 0, 0, NONE, HONOURED, \
  "what a job is charged for: CPU=n,Mem=n,GRES/gpu=n") \
X(OPTIONS, partition.job_defaults, "JobDefaults", NULL, 0, 0, PARTITION_JOB_DEFAULTS, HONOURED, \
  "DefCpuPerGPU=N, DefMemPerGPU=MiB") \
X(STRING, partition.cpu_bind, "CpuBind", NULL, 0, 0, NONE, HONOURED, \
  "default binding of tasks") \
X(STRING, partition.topology, "Topology", NULL, 0, 0, NONE, NOT_YET, \
  "topology of its nodes") \
X(U32, partition.resume_timeout, "ResumeTimeout", CONF_INFINITE, 0, CONF_PORT_MAX, NONE, NOT_YET, \
  "seconds that a node may take to wake up") \
X(U32, partition.suspend_timeout, "SuspendTimeout", CONF_INFINITE, 0, CONF_PORT_MAX, NONE, NOT_YET, \
  "seconds that a node may take to power down") \
X(U32, partition.suspend_time, "SuspendTime", CONF_INFINITE, 0, CONF_INFINITE, NONE, NOT_YET, \
  "idle seconds before a node is powered down") \
X(BOOL, partition.power_down_on_idle, "PowerDownOnIdle", false, 0, 1, NONE, NOT_YET, \
  "power a node down as soon as it is idle")
#define CONF_PARTITION_ALIASES(A) \
A("Shared", "OverSubscribe") A("MaxCPUPerNode", "MaxCPUsPerNode") A("DefaultCpuPerGPU", "DefCpuPerGPU")

/* ---- DownNodes and NodeSet lines ---- */
#define CONF_DOWN_KEYS(X) \
X(STRING, names, "DownNodes", NULL, 0, 0, NONE, HONOURED, \
  "the nodes") \
X(STRING, reason, "Reason", NULL, 0, 0, NONE, HONOURED, \
  "why") \
X(ENUM, state, "State", CONF_NODE_STATE_DOWN, 0, 0, NODE_STATE, HONOURED, \
  "their state")
#define CONF_NODE_SET_KEYS(X) \
X(STRING, name, "NodeSet", NULL, 0, 0, NONE, HONOURED, \
  "the name") \
X(STRING, feature, "Feature", NULL, 0, 0, NONE, HONOURED, \
  "nodes with this feature") \
X(STRING, nodes, "Nodes", NULL, 0, 0, NONE, HONOURED, \
  "these nodes")

#define CONF_POWER_ACTION_KEYS(X) \
X(STRING, name, "PowerAction", NULL, 0, 0, NONE, NOT_YET, \
  "the name") \
X(STRING, location, "Location", NULL, 0, 0, NONE, HONOURED, \
  "slurmctld or slurmd") \
X(STRING, program, "Program", NULL, 0, 0, NONE, HONOURED, \
  "the program")

/* ---- gres.conf ---- */
#define CONF_GRES_KEYS(X) \
X(ENUM, autodetect, "AutoDetect", CONF_AUTODETECT_UNSET, 0, 0, AUTODETECT, HONOURED, \
  "find devices by a library") \
X(STRING, node_names, "NodeName", NULL, 0, 0, NONE, HONOURED, \
  "nodes that the line is for; all unless given") \
X(STRING, name, "Name", NULL, 0, 0, NONE, HONOURED, \
  "the resource, as in GresTypes") \
X(STRING, type, "Type", NULL, 0, 0, NONE, HONOURED, \
  "type of the device") \
X(STRING, file, "File", NULL, 0, 0, NONE, HONOURED, \
  "device files: /dev/nvidia[0-3]") \
X(STRING, multiple_files, "MultipleFiles", NULL, 0, 0, NONE, HONOURED, \
  "all the files of one device, in place of File") \
X(STRING, count_text, "Count", NULL, 0, 0, NONE, HONOURED, \
  "how many, if there are no files") \
X(STRING, cores, "Cores", NULL, 0, 0, NONE, HONOURED, \
  "cores near the device") \
X(STRING, links, "Links", NULL, 0, 0, NONE, HONOURED, \
  "how well it is linked to each device of its name, in their order; 0 not at all, -1 itself; jobs get devices that are linked best") \
X(FLAGS, flags, "Flags", 0, 0, 0, GRES_FLAG, HONOURED, \
  "properties of the device")
#define CONF_GRES_ALIASES(A) A("CPUs", "Cores")
#define CONF_GRES_OBSOLETE(O) \
O("cpu_topology", "the topology is read from the machine") O("gpu_topology", "the topology is read from the machine") \
O("Ignore", "write AutoDetect=off with a NodeName")

/* ---- cgroup.conf ---- */
#define CONF_CGROUP_KEYS(X) \
X(ENUM, plugin, "CgroupPlugin", CONF_CGROUP_AUTODETECT, 0, 0, CGROUP_PLUGIN, HONOURED, \
  "version of control groups") \
X(STRING, mountpoint, "CgroupMountpoint", "/sys/fs/cgroup", 0, 0, NONE, HONOURED, \
  "where they are mounted") \
X(BOOL, constrain_cores, "ConstrainCores", true, 0, 1, NONE, HONOURED, \
  "jobs run on their own CPUs only") \
X(BOOL, constrain_devices, "ConstrainDevices", true, 0, 1, NONE, HONOURED, \
  "of the devices that gres.conf names, jobs can open their own only") \
X(BOOL, constrain_ram_space, "ConstrainRAMSpace", true, 0, 1, NONE, HONOURED, \
  "jobs are held to their memory") \
X(BOOL, constrain_swap_space, "ConstrainSwapSpace", true, 0, 1, NONE, HONOURED, \
  "jobs are held to their memory with swap") \
X(BOOL, constrain_pids, "ConstrainPids", true, 0, 1, NONE, HONOURED, \
  "jobs have a share of the process numbers by their CPUs, so that a fork bomb ends in its own job; not known to Slurm") \
X(PERCENT, allowed_ram_space, "AllowedRAMSpace", 100, 0, 10000, NONE, HONOURED, \
  "memory limit in percent of what a job was given") \
X(PERCENT, allowed_swap_space, "AllowedSwapSpace", 0, 0, 10000, NONE, HONOURED, \
  "swap in percent of the memory that a job was given") \
X(PERCENT, max_ram_percent, "MaxRAMPercent", 100, 0, 100, NONE, HONOURED, \
  "most memory of a job in percent of the node") \
X(PERCENT, max_swap_percent, "MaxSwapPercent", 100, 0, 100, NONE, HONOURED, \
  "most swap of a job in percent of the node") \
X(MIB, min_ram_space, "MinRAMSpace", 30, 0, CONF_U64_MAX, NONE, HONOURED, \
  "least memory limit in MiB") \
X(U64, memory_swappiness, "MemorySwappiness", CONF_UNSET, 0, 100, NONE, HONOURED, \
  "how readily memory is swapped out; control groups v1 only") \
X(BOOL, signal_children_processes, "SignalChildrenProcesses", false, 0, 1, NONE, HONOURED, \
  "signals go to all processes of a step") \
X(BOOL, ignore_systemd, "IgnoreSystemd", false, 0, 1, NONE, HONOURED, \
  "make control groups without systemd") \
X(BOOL, ignore_systemd_on_failure, "IgnoreSystemdOnFailure", false, 0, 1, NONE, HONOURED, \
  "make control groups without systemd when it does not answer") \
X(BOOL, enable_controllers, "EnableControllers", false, 0, 1, NONE, NOT_NEEDED, \
  "controllers are enabled as needed") \
X(BOOL, enable_extra_controllers, "EnableExtraControllers", false, 0, 1, NONE, NOT_NEEDED, \
  "controllers are enabled as needed") \
X(U32, systemd_timeout, "SystemdTimeout", 1000, 0, CONF_U32_MAX, NONE, HONOURED, \
  "milliseconds that systemd may take") \
X(STRING, slice, "CgroupSlice", NULL, 0, 0, NONE, HONOURED, \
  "slice that the groups are placed in") \
X(BOOL, job_id_paths, "CgroupJobIdPaths", true, 0, 1, NONE, NOT_YET, \
  "name groups after job ids")
#define CONF_CGROUP_OBSOLETE(O) \
O("CgroupAutomount", "the control groups that the system mounted are used") \
O("CgroupReleaseAgentDir", "empty groups are removed without an agent") \
O("TaskAffinity", "write TaskPlugin=task/affinity,task/cgroup") \
O("AllowedKmemSpace", "the kernel no longer limits its own memory apart") \
O("ConstrainKmemSpace", "the kernel no longer limits its own memory apart") \
O("MaxKmemPercent", "the kernel no longer limits its own memory apart") \
O("MinKmemSpace", "the kernel no longer limits its own memory apart") \
O("AllowedDevicesFile", "devices that are no GRES stay open") \
O("CgroupPrepend", "groups are placed below the system's own slice")

/* ---- slurmdbd.conf ---- */
#define CONF_DBD_KEYS(X) \
X(STRING, dbd_host, "DbdHost", NULL, 0, 0, NONE, HONOURED, \
  "host of slurmdbd; required") \
X(STRING, dbd_addr, "DbdAddr", NULL, 0, 0, NONE, NOT_NEEDED, \
  "its address; slurmdbd answers at every address of its host") \
X(STRING, dbd_backup_host, "DbdBackupHost", NULL, 0, 0, NONE, HONOURED, \
  "second slurmdbd") \
X(U32, dbd_port, "DbdPort", 6819, 1, CONF_PORT_MAX, NONE, HONOURED, \
  "its port") \
X(ENUM, storage_type, "StorageType", CONF_DBD_STORAGE_MYSQL, 0, 0, DBD_STORAGE, HONOURED, \
  "kind of database") \
X(STRING, storage_host, "StorageHost", "localhost", 0, 0, NONE, HONOURED, \
  "host of the database") \
X(U32, storage_port, "StoragePort", 0, 0, CONF_PORT_MAX, NONE, HONOURED, \
  "port of the database; the usual one unless given") \
X(STRING, storage_user, "StorageUser", NULL, 0, 0, NONE, HONOURED, \
  "user of the database") \
X(STRING, storage_pass, "StoragePass", NULL, 0, 0, NONE, HONOURED, \
  "password of the database") \
X(STRING, storage_pass_script, "StoragePassScript", NULL, 0, 0, NONE, NOT_YET, \
  "program that prints the password") \
X(STRING, storage_loc, "StorageLoc", "slurm_acct_db", 0, 0, NONE, HONOURED, \
  "name of the database") \
X(STRING, storage_backup_host, "StorageBackupHost", NULL, 0, 0, NONE, NOT_YET, \
  "second host of the database") \
X(STRING, storage_parameters, "StorageParameters", NULL, 0, 0, NONE, NOT_YET, \
  "options of the connection") \
X(STRING, slurm_user, "SlurmUser", "root", 0, 0, NONE, HONOURED, \
  "user that slurmdbd runs as") \
X(ENUM, auth_type, "AuthType", CONF_AUTH_MUNGE, 0, 0, AUTH, HONOURED, \
  "how callers prove who they are") \
X(OPTIONS, auth_info, "AuthInfo", NULL, 0, 0, DBD_AUTH_INFO, HONOURED, \
  "socket=PATH of munged, ttl=") \
X(FLAGS, auth_alt_types, "AuthAltTypes", 0, 0, 0, AUTH_ALT, NOT_YET, \
  "further ways to authenticate") \
X(WORDS, auth_alt_parameters, "AuthAltParameters", {0}, 0, 0, AUTH_ALT_PARAM, NOT_YET, \
  "options of AuthAltTypes") \
X(STRING, log_file, "LogFile", NULL, 0, 0, NONE, HONOURED, \
  "log file; syslog unless given") \
X(ENUM, debug_level, "DebugLevel", CONF_LEVEL_INFO, 0, 0, LEVEL, HONOURED, \
  "detail of the log") \
X(ENUM, debug_level_syslog, "DebugLevelSyslog", CONF_LEVEL_UNSET, 0, 0, LEVEL, NOT_YET, \
  "detail of the lines in syslog") \
X(FLAGS, debug_flags, "DebugFlags", 0, 0, 0, DBD_DEBUG, NOT_YET, \
  "subsystems whose details are logged") \
X(FLAGS, log_time_format, "LogTimeFormat", CONF_LOG_TIME_ISO8601_MS, 0, 0, LOG_TIME, NOT_YET, \
  "time stamps of log lines") \
X(STRING, pid_file, "PidFile", "/var/run/slurmdbd.pid", 0, 0, NONE, HONOURED, \
  "pid file") \
X(STRING, plugin_dir, "PluginDir", NULL, 0, 0, NONE, NOT_NEEDED, \
  "there are no plugins to load") \
X(U32, message_timeout, "MessageTimeout", 10, 1, CONF_PORT_MAX, NONE, NOT_YET, \
  "seconds that an answer may take") \
X(U32, tcp_timeout, "TCPTimeout", 2, 0, CONF_PORT_MAX, NONE, NOT_NEEDED, \
  "seconds that a connection may take to come up") \
X(FLAGS, private_data, "PrivateData", 0, 0, 0, PRIVATE, HONOURED, \
  "what ordinary users may not see of others") \
X(BOOL, track_wckey, "TrackWCKey", false, 0, 1, NONE, NOT_NEEDED, \
  "the key of a job is always kept: TrackWCKey of slurm.conf says what it is") \
X(BOOL, track_slurmctld_down, "TrackSlurmctldDown", false, 0, 1, NONE, NOT_YET, \
  "count the time that a controller is away as down time") \
X(DURATION, max_query_time_range, "MaxQueryTimeRange", UINT64_MAX, 0, 0, NONE, NOT_YET, \
  "longest time that a query may span") \
X(LIST, default_qos, "DefaultQOS", NULL, 0, 0, NONE, NOT_YET, \
  "QOS of new associations") \
X(FLAGS, parameters, "Parameters", 0, 0, 0, DBD_PARAM, NOT_YET, \
  "options of slurmdbd") \
X(U32, commit_delay, "CommitDelay", 0, 0, CONF_U32_MAX, NONE, NOT_NEEDED, \
  "seconds between commits; each is made when it is due") \
X(BOOL, disable_coord_dbd, "DisableCoordDBD", false, 0, 1, NONE, NOT_YET, \
  "coordinators may not change associations") \
X(BOOL, allow_no_def_acct, "AllowNoDefAcct", false, 0, 1, NONE, NOT_YET, \
  "users need no default account") \
X(BOOL, all_resources_absolute, "AllResourcesAbsolute", false, 0, 1, NONE, NOT_YET, \
  "licenses are counted, not shared in percent") \
X(STRING, archive_dir, "ArchiveDir", "/tmp", 0, 0, NONE, HONOURED, \
  "directory that archives go to: SQLite files that only the owner may read; sluice acct load takes them back") \
X(STRING, archive_script, "ArchiveScript", NULL, 0, 0, NONE, NOT_YET, \
  "program that archives") \
X(BOOL, archive_events, "ArchiveEvents", false, 0, 1, NONE, HONOURED, \
  "archive events before they are purged") \
X(BOOL, archive_jobs, "ArchiveJobs", false, 0, 1, NONE, HONOURED, \
  "archive jobs, with their steps, before they are purged") \
X(BOOL, archive_resvs, "ArchiveResvs", false, 0, 1, NONE, HONOURED, \
  "archive reservations before they are purged") \
X(BOOL, archive_steps, "ArchiveSteps", false, 0, 1, NONE, NOT_YET, \
  "archive steps") \
X(BOOL, archive_suspend, "ArchiveSuspend", false, 0, 1, NONE, NOT_YET, \
  "archive suspensions") \
X(BOOL, archive_txn, "ArchiveTXN", false, 0, 1, NONE, HONOURED, \
  "archive changes before they are purged") \
X(BOOL, archive_usage, "ArchiveUsage", false, 0, 1, NONE, HONOURED, \
  "archive hours of usage before they are purged") \
X(BOOL, archive_job_script, "ArchiveJobScript", false, 0, 1, NONE, HONOURED, \
  "archive scripts and environments of jobs before they are purged") \
X(BOOL, archive_job_env, "ArchiveJobEnv", false, 0, 1, NONE, NOT_YET, \
  "archive job environments") \
X(AGE, purge_event_after, "PurgeEventAfter", 0, 0, 0, NONE, HONOURED, \
  "age at which events that are over are purged, when they are summed up") \
X(AGE, purge_job_after, "PurgeJobAfter", 0, 0, 0, NONE, HONOURED, \
  "age at which jobs are purged, counted from their end, when they are summed up; their steps go along") \
X(AGE, purge_resv_after, "PurgeResvAfter", 0, 0, 0, NONE, HONOURED, \
  "age at which reservations are purged") \
X(AGE, purge_step_after, "PurgeStepAfter", 0, 0, 0, NONE, NOT_YET, \
  "age at which steps are purged") \
X(AGE, purge_suspend_after, "PurgeSuspendAfter", 0, 0, 0, NONE, NOT_YET, \
  "age at which suspensions are purged") \
X(AGE, purge_txn_after, "PurgeTXNAfter", 0, 0, 0, NONE, HONOURED, \
  "age at which changes are purged") \
X(AGE, purge_usage_after, "PurgeUsageAfter", 0, 0, 0, NONE, HONOURED, \
  "age at which hours of usage are purged, when their month is over; sums of days and months stay") \
X(AGE, purge_job_script_after, "PurgeJobScriptAfter", 0, 0, 0, NONE, HONOURED, \
  "age at which scripts and environments of jobs are purged, counted from their submission") \
X(AGE, purge_job_env_after, "PurgeJobEnvAfter", 0, 0, 0, NONE, NOT_YET, \
  "age at which job environments are purged") \
X(U32, max_purge_limit, "MaxPurgeLimit", 50000, 0, CONF_U32_MAX, NONE, HONOURED, \
  "about how many records are purged in one transaction, and are in one archive; deliveries that wait are stored between two of them; 0 is all") \
X(BOOL, disable_archive_commands, "DisableArchiveCommands", false, 0, 1, NONE, HONOURED, \
  "sacctmgr may not archive") \
X(BOOL, disable_rollups, "DisableRollups", false, 0, 1, NONE, NOT_YET, \
  "usage is not summed up")
#define CONF_DBD_OBSOLETE(O) \
O("AuthServerTimeout", "authentication has a fixed bound") \
O("JobPurge", "write PurgeJobAfter") O("StepPurge", "write PurgeStepAfter")

/* ---- topology.conf ---- */
#define CONF_TOPOLOGY_KEYS(X) \
X(LIST, block_sizes, "BlockSizes", NULL, 0, 0, NONE, HONOURED, \
  "sizes of blocks and blocks of blocks")
#define CONF_SWITCH_KEYS(X) \
X(STRING, name, "SwitchName", NULL, 0, 0, NONE, HONOURED, \
  "the switch") \
X(STRING, nodes, "Nodes", NULL, 0, 0, NONE, HONOURED, \
  "nodes at it") \
X(STRING, switches, "Switches", NULL, 0, 0, NONE, HONOURED, \
  "switches below it") \
X(U32, link_speed, "LinkSpeed", 1, 0, CONF_U32_MAX, NONE, NOT_YET, \
  "relative speed")
#define CONF_BLOCK_KEYS(X) \
X(STRING, name, "BlockName", NULL, 0, 0, NONE, HONOURED, \
  "the block") \
X(STRING, nodes, "Nodes", NULL, 0, 0, NONE, HONOURED, \
  "its nodes")
#define CONF_RING_KEYS(X) \
X(STRING, name, "RingName", NULL, 0, 0, NONE, HONOURED, \
  "the ring") \
X(STRING, nodes, "Nodes", NULL, 0, 0, NONE, HONOURED, \
  "its nodes in order")

/* ---- job_container.conf ---- */
#define CONF_CONTAINER_KEYS(X) \
X(STRING, node_names, "NodeName", NULL, 0, 0, NONE, HONOURED, \
  "nodes that the line is for") \
X(BOOL, auto_base_path, "AutoBasePath", false, 0, 1, NONE, HONOURED, \
  "make BasePath when it is missing") \
X(STRING, base_path, "BasePath", NULL, 0, 0, NONE, HONOURED, \
  "directory for the private directories of jobs") \
X(LIST, dirs, "Dirs", "/tmp,/dev/shm", 0, 0, NONE, HONOURED, \
  "directories that are private to a job") \
X(BOOL, shared, "Shared", false, 0, 1, NONE, HONOURED, \
  "let mounts below them be seen") \
X(STRING, init_script, "InitScript", NULL, 0, 0, NONE, HONOURED, \
  "program run when a job gets its directories") \
X(STRING, clone_ns_script, "CloneNSScript", NULL, 0, 0, NONE, HONOURED, \
  "program run in the new name space") \
X(STRING, clone_ns_epilog, "CloneNSEpilog", NULL, 0, 0, NONE, HONOURED, \
  "program run when it ends") \
X(BOOL, entire_step_in_ns, "EntireStepInNS", false, 0, 1, NONE, NOT_NEEDED, \
  "slurmstepd is always inside")

/* clang-format on */

#endif
