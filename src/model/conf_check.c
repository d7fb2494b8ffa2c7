/* SPDX-License-Identifier: Apache-2.0 */
/* What holds between keys of slurm.conf, and the values that follow from others. */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "model/conf_lines.h"

static bool given(const struct conf_loader *loader, const char *name) {
    return conf_place_of(loader, name)->file != NULL;
}

/* Context of a key's line, or of the file as a whole when it was not given. */
static struct conf_context at_key(const struct conf_loader *loader, const char *name) {
    const struct conf_place *place = conf_place_of(loader, name);
    if (place->file == NULL)
        return loader->context;
    return conf_context_at(loader, place->file, place->line);
}

/* ---- Who we are ---- */

static void cluster_name_check(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    if (conf->cluster_name == NULL) {
        if (loader->role != CONF_CLIENT)
            conf_error(&loader->context, "ClusterName is missing; any name will do, as in "
                                         "ClusterName=cluster");
        return;
    }
    char *lower = (char *) conf_keep(loader, conf->cluster_name);
    text_lower(lower);
    conf->cluster_name = lower;
    struct conf_context context = at_key(loader, "ClusterName");
    if (!conf_name_is_valid(lower))
        conf_error(&context,
                   "ClusterName: \"%.64s\" may have letters, digits, \"-\" and \"_\" "
                   "only",
                   lower);
}

/* host or host(address) */
static bool control_host_parse(const struct conf_loader *loader, const char *text,
                               struct conf_control_host *ret) {
    const char *open = strchr(text, '(');
    if (open == NULL) {
        *ret = (struct conf_control_host) {text, text};
        return true;
    }
    size_t length = strlen(open);
    if (open == text || length < 3 || open[length - 1] != ')')
        return false;
    ret->name = arena_strndup(loader->context.arena, text, (size_t) (open - text));
    ret->address = arena_strndup(loader->context.arena, open + 1, length - 2);
    return true;
}

static void control_host_add(struct conf_loader *loader, const char *name, const char *address) {
    struct conf *conf = loader->conf;
    struct conf_control_host host = {name, address != NULL ? address : name};
    conf->control_hosts[conf->n_control_hosts++] = host;
}

static void control_hosts_check(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    size_t n = conf->slurmctld_host.n;
    conf->control_hosts =
        arena_alloc(loader->context.arena, (n + 2) * sizeof(*conf->control_hosts));
    for (size_t i = 0; i < n; i++) {
        struct conf_control_host host;
        if (control_host_parse(loader, conf->slurmctld_host.items[i], &host)) {
            control_host_add(loader, host.name, host.address);
        } else {
            struct conf_context context = at_key(loader, "SlurmctldHost");
            conf_error(&context, "SlurmctldHost: \"%s\" is not HOST or HOST(ADDRESS)",
                       conf->slurmctld_host.items[i]);
        }
    }
    if (n > 0) {
        struct conf_context context = at_key(loader, "ControlMachine");
        if (conf->control_machine != NULL && loader->role != CONF_CLIENT)
            conf_notice(&context, "ControlMachine has no effect beside SlurmctldHost");
        return;
    }
    if (conf->control_machine == NULL) {
        conf_error(&loader->context,
                   "SlurmctldHost is missing: the host that slurmctld runs on, as "
                   "in SlurmctldHost=HOST or SlurmctldHost=HOST(ADDRESS)");
        return;
    }
    control_host_add(loader, conf->control_machine, conf->control_addr);
    if (conf->backup_controller != NULL)
        control_host_add(loader, conf->backup_controller, conf->backup_addr);
}

/* ---- Association limits in slurm.conf ---- */

static const char *root_limit_holds(const struct conf *conf) {
    return conf->accounting_storage_enforce & CONF_ENFORCE_LIMITS
               ? ""
               : ", which holds with AccountingStorageEnforce=limits";
}

static void root_limits_check(struct conf_loader *loader) {
    static const struct {
        const char *key, *command;
        size_t offset;
    } limits[] = {
        {"GrpCPUMins", "GrpTRESMins=cpu=", offsetof(struct conf, grp_cpu_mins)},
        {"GrpCPUs", "GrpTRES=cpu=", offsetof(struct conf, grp_cpus)},
        {"GrpJobs", "GrpJobs=", offsetof(struct conf, grp_jobs)},
    };
    for (size_t i = 0; i < countof(limits); i++) {
        struct conf_context context = at_key(loader, limits[i].key);
        unsigned long long value = *(uint64_t *) ((char *) loader->conf + limits[i].offset);
        if (!given(loader, limits[i].key) || value == CONF_UNSET)
            continue;
        if (loader->conf->strict_conf)
            conf_error(&context,
                       "%s is an association limit, and StrictConf=yes keeps those out "
                       "of slurm.conf; write: sacctmgr modify account root set %s%llu",
                       limits[i].key, limits[i].command, value);
        else
            conf_notice(&context,
                        "%s is taken as a limit of account root%s; the same by command: sacctmgr "
                        "modify account root set %s%llu",
                        limits[i].key, root_limit_holds(loader->conf), limits[i].command, value);
    }
}

/* ---- Values that follow ---- */

static void enforce_follow(struct conf *conf) {
    uint64_t *enforce = &conf->accounting_storage_enforce;
    if ((*enforce & CONF_ENFORCE_NOJOBS) != 0)
        *enforce |= CONF_ENFORCE_NOSTEPS;
    if ((*enforce & CONF_ENFORCE_SAFE) != 0)
        *enforce |= CONF_ENFORCE_LIMITS;
    if ((*enforce & (CONF_ENFORCE_LIMITS | CONF_ENFORCE_QOS | CONF_ENFORCE_WCKEYS)) != 0)
        *enforce |= CONF_ENFORCE_ASSOCIATIONS;
    if ((*enforce & CONF_ENFORCE_WCKEYS) != 0)
        conf->track_wckey = true;
}

static void enforce_check(struct conf_loader *loader) {
    const struct conf *conf = loader->conf;
    struct conf_context context = at_key(loader, "AccountingStorageEnforce");
    if (conf->accounting_storage_enforce != 0 && conf->accounting_storage_type == CONF_STORAGE_NONE)
        conf_notice(&context, "AccountingStorageEnforce has no effect with "
                              "AccountingStorageType=accounting_storage/none; "
                              "accounting_storage/embedded needs no other daemon");
    if (conf->accounting_storage_enforce & CONF_ENFORCE_NOJOBS)
        conf_notice(&context, "nojobs: nothing is kept of jobs and steps; sacct, sreport and seff "
                              "know none, and nothing can depend on one that has left slurmctld");
    else if (conf->accounting_storage_enforce & CONF_ENFORCE_NOSTEPS)
        conf_notice(&context, "nosteps: jobs are kept without their steps, and so without what "
                              "they have used of CPU time and memory");
}

static void prolog_flags_follow(struct conf *conf) {
    uint64_t *flags = &conf->prolog_flags;
    if ((*flags & CONF_PROLOG_X11) != 0 || conf->namespace_type == CONF_NAMESPACE_TMPFS)
        *flags |= CONF_PROLOG_CONTAIN;
    if ((*flags & (CONF_PROLOG_CONTAIN | CONF_PROLOG_RUN_IN_JOB)) != 0)
        *flags |= CONF_PROLOG_ALLOC;
}

static void rlimits_follow(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    struct conf_context context = at_key(loader, "PropagateResourceLimitsExcept");
    if (conf->propagate_resource_limits != 0 && conf->propagate_resource_limits_except != 0)
        conf_error(&context, "PropagateResourceLimits and PropagateResourceLimitsExcept exclude "
                             "each other");
    if (conf->propagate_resource_limits == 0 && conf->propagate_resource_limits_except == 0)
        conf->propagate_resource_limits = CONF_RLIMIT_ALL;
}

#define CR_UNITS (CONF_CR_CPU | CONF_CR_CORE | CONF_CR_SOCKET)

static void select_follow(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    uint64_t *parameters = &conf->select_type_parameters;
    struct conf_context context = at_key(loader, "SelectTypeParameters");
    uint64_t units = *parameters & CR_UNITS;
    if ((units & (units - 1)) != 0)
        conf_error(&context, "SelectTypeParameters names more than one of CR_CPU, CR_Core and "
                             "CR_Socket");
    if (conf->select_type == CONF_SELECT_LINEAR && units != 0)
        conf_notice(&context, "SelectTypeParameters: select/linear hands out whole nodes, so only "
                              "CR_Memory has an effect");
    if (conf->select_type == CONF_SELECT_CONS_TRES && *parameters == 0)
        *parameters = CONF_CR_CORE_MEMORY;
    else if (conf->select_type == CONF_SELECT_CONS_TRES && units == 0)
        *parameters |= CONF_CR_CORE;
}

static void memory_check(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    struct conf_context context = at_key(loader, "DefMemPerCPU");
    if (conf->def_mem_per_cpu != CONF_UNSET && conf->def_mem_per_node != CONF_UNSET)
        conf_error(&context, "DefMemPerCPU and DefMemPerNode exclude each other");
    context = at_key(loader, "MaxMemPerCPU");
    if (conf->max_mem_per_cpu != CONF_UNSET && conf->max_mem_per_node != CONF_UNSET)
        conf_error(&context, "MaxMemPerCPU and MaxMemPerNode exclude each other");
    if (conf->defaults.def_cpu_per_gpu != CONF_UNSET)
        conf->def_cpu_per_gpu = conf->defaults.def_cpu_per_gpu;
    if (conf->defaults.def_mem_per_gpu != CONF_UNSET)
        conf->def_mem_per_gpu = conf->defaults.def_mem_per_gpu;
}

#define PREEMPT_HOW                                                                                \
    (CONF_PREEMPT_MODE_CANCEL | CONF_PREEMPT_MODE_REQUEUE | CONF_PREEMPT_MODE_SUSPEND)

/* What the words of PreemptMode mean together, for the cluster or for a partition. */
static void preempt_mode_check(const struct conf_context *context, uint64_t mode, bool gang) {
    uint64_t how = mode & PREEMPT_HOW;

    if (how & (how - 1))
        conf_error(context, "PreemptMode: CANCEL, REQUEUE and SUSPEND exclude each other");
    else if (how == 0 && (mode & (CONF_PREEMPT_MODE_PRIORITY | CONF_PREEMPT_MODE_WITHIN)))
        conf_error(context, "PreemptMode: PRIORITY and WITHIN say who is preempted, not how: add "
                            "CANCEL, REQUEUE or SUSPEND");
    else if (how == CONF_PREEMPT_MODE_SUSPEND && !gang)
        conf_error(context, "PreemptMode=SUSPEND needs GANG, which lets suspended jobs go on: "
                            "write PreemptMode=SUSPEND,GANG for the cluster");
}

static bool tiers_differ(const struct conf *conf) {
    for (size_t i = 1; i < conf->n_partitions; i++) {
        if (conf->partitions[i].priority_tier != conf->partitions[0].priority_tier)
            return true;
    }
    return false;
}

static bool partition_has_mode(const struct conf *conf) {
    for (size_t i = 0; i < conf->n_partitions; i++) {
        if (conf->partitions[i].preempt_mode & PREEMPT_HOW)
            return true;
    }
    return false;
}

static void preempt_type_check(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    struct conf_context context = at_key(loader, "PreemptMode");
    bool how = (conf->preempt_mode & PREEMPT_HOW) != 0;

    if (how && conf->preempt_type == CONF_PREEMPT_NONE)
        conf_notice(&context, "PreemptMode has no effect without PreemptType, as in "
                              "PreemptType=preempt/partition_prio");
    if ((conf->preempt_mode & CONF_PREEMPT_MODE_WITHIN) && conf->preempt_type != CONF_PREEMPT_QOS)
        conf_error(&context, "PreemptMode=WITHIN is about jobs of one QOS: it needs "
                             "PreemptType=preempt/qos");
    context = at_key(loader, "PreemptType");
    if (!how && conf->preempt_type != CONF_PREEMPT_NONE && !partition_has_mode(conf))
        conf_notice(&context, "PreemptType has no effect while PreemptMode is OFF; write "
                              "PreemptMode=REQUEUE or CANCEL");
    else if (conf->preempt_type == CONF_PREEMPT_PARTITION_PRIO && conf->n_partitions > 0 &&
             !tiers_differ(conf))
        conf_notice(&context,
                    "PreemptType=preempt/partition_prio has no effect while all partitions have "
                    "PriorityTier=%u; give those whose jobs preempt a higher one",
                    conf->partitions[0].priority_tier);
}

/* GANG lets suspended victims go on, and jobs that share CPUs take turns: is there either? */
static void gang_check(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    bool used = (conf->preempt_mode & CONF_PREEMPT_MODE_SUSPEND) != 0;
    struct conf_context context = at_key(loader, "PreemptMode");

    for (size_t i = 0; i < conf->n_partitions; i++) {
        uint32_t share = conf->partitions[i].oversubscribe;
        bool shared =
            conf_share_mode(share) == CONF_SHARE_YES || conf_share_mode(share) == CONF_SHARE_FORCE;
        used |= (conf->partitions[i].preempt_mode & CONF_PREEMPT_MODE_SUSPEND) ||
                (shared && conf_share_jobs(share) != 1);
    }
    if (!used)
        conf_notice(&context, "PreemptMode=GANG has no effect while no partition has "
                              "OverSubscribe=FORCE or YES, which lets jobs take turns, and no "
                              "PreemptMode is SUSPEND");
}

static void preempt_check(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    uint64_t acts = conf->preempt_mode & ~(uint64_t) CONF_PREEMPT_MODE_OFF;
    bool gang = (acts & CONF_PREEMPT_MODE_GANG) != 0;

    if (acts != 0)
        conf->preempt_mode = acts;
    struct conf_context context = at_key(loader, "PreemptMode");
    preempt_mode_check(&context, acts, gang);
    preempt_type_check(loader);
    if (gang && conf->n_partitions > 0)
        gang_check(loader);
    for (size_t i = 0; i < conf->n_partitions; i++) {
        const struct conf_partition *partition = &conf->partitions[i];
        context = conf_context_at(loader, partition->file, partition->line);
        preempt_mode_check(&context, partition->preempt_mode, gang);
        if (partition->preempt_mode & (CONF_PREEMPT_MODE_PRIORITY | CONF_PREEMPT_MODE_WITHIN))
            conf_notice(&context,
                        "PreemptMode of partition %s: PRIORITY and WITHIN "
                        "count for the whole cluster only",
                        partition->name);
        if (partition->grace_time > 0 && conf->preempt_type == CONF_PREEMPT_NONE)
            conf_notice(&context,
                        "GraceTime of partition %s has no effect without "
                        "PreemptType",
                        partition->name);
    }
}

static void ids_check(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    struct conf_context context = at_key(loader, "FirstJobId");
    if (conf->first_job_id > conf->max_job_id)
        conf_error(&context, "FirstJobId=%u is above MaxJobId=%u", conf->first_job_id,
                   conf->max_job_id);
}

static void partitions_check(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    if (conf->n_nodes == 0)
        conf_notice(&loader->context, "there is no NodeName line, so no job can run; slurmd -C "
                                      "prints the line of a host");
    if (conf->n_partitions == 0)
        conf_notice(&loader->context, "there is no PartitionName line, so no job will be accepted; "
                                      "for one: PartitionName=main Nodes=ALL Default=YES");
    else if (conf_partition_default(conf) == NULL)
        conf_notice(&loader->context, "no partition has Default=YES, so every job must name one");
}

static void paths_check(struct conf_loader *loader) {
    static const struct {
        const char *key;
        size_t offset;
    } paths[] = {
        {"StateSaveLocation", offsetof(struct conf, state_save_location)},
        {"SlurmdSpoolDir", offsetof(struct conf, slurmd_spool_dir)},
        {"SlurmctldPidFile", offsetof(struct conf, slurmctld_pid_file)},
        {"SlurmdPidFile", offsetof(struct conf, slurmd_pid_file)},
        {"SlurmctldLogFile", offsetof(struct conf, slurmctld_log_file)},
        {"SlurmdLogFile", offsetof(struct conf, slurmd_log_file)},
        {"TmpFS", offsetof(struct conf, tmp_fs)},
    };
    for (size_t i = 0; i < countof(paths); i++) {
        const char *path = *(const char *const *) ((const char *) loader->conf + paths[i].offset);
        struct conf_context context = at_key(loader, paths[i].key);
        if (path != NULL && path[0] != '/')
            conf_error(&context, "%s: \"%s\" is no absolute path", paths[i].key, path);
    }
}

void conf_check(struct conf_loader *loader) {
    struct conf *conf = loader->conf;
    cluster_name_check(loader);
    control_hosts_check(loader);
    rlimits_follow(loader);
    enforce_follow(conf);
    prolog_flags_follow(conf);
    if (!given(loader, "UnkillableStepTimeout"))
        conf->unkillable_step_timeout = max_of(60u, 5 * conf->message_timeout);
    if (!given(loader, "JobAcctGatherFrequency") || conf->job_acct_gather_frequency == NULL)
        conf->job_acct_gather_frequency = conf_defaults.job_acct_gather_frequency;
    if (loader->role == CONF_CLIENT)
        return;
    root_limits_check(loader);
    enforce_check(loader);
    select_follow(loader);
    memory_check(loader);
    preempt_check(loader);
    ids_check(loader);
    paths_check(loader);
    partitions_check(loader);
}
