/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the core goes by of the configuration, besides nodes, partitions and licences. Strings that
 * are the configuration's live as long as that; private to src/core.
 */
#ifndef SLUICE_CORE_SETTINGS_H
#define SLUICE_CORE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/het.h"
#include "core/prolog.h"
#include "sched/priority.h"

struct conf;
struct core;

struct core_settings {
    char *cluster;
    uint32_t admin_uid; /* SlurmUser */
    uint32_t max_job_count, max_array_size, max_job_id, first_job_id, max_step_count;
    uint32_t max_tasks_per_node, max_array_tasks; /* of one array, 0 = no limit of its own */
    int64_t min_job_age, kill_wait, suspend_grace, time_slice, slurmd_timeout, over_time_limit,
        requeue_delay;
    bool job_requeue, job_file_append;
    uint32_t return_to_service;
    uint32_t enforce_part_limits; /* 0 NO, 1 ALL, 2 ANY */
    uint64_t enforce;             /* CONF_ENFORCE_… */
    uint64_t store_flags;         /* CONF_STORE_… */
    bool no_advice;
    bool private_accounts;
    bool track_wckey;
    bool tells_database; /* slurmdbd hears of jobs as they start and end */
    char *control_host;  /* for listings */
    uint32_t control_port;
    uint64_t def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu, max_mem_per_node;
    uint64_t def_cpu_per_gpu, def_mem_per_gpu; /* UNSET64 */
    bool mem_consumable, config_overrides, kill_invalid_depend, user_top;
    bool no_shrink; /* running jobs give no nodes back */
    bool no_triggers, user_triggers;
    bool whole_het;                 /* what is done to a component is done to all */
    enum het_priority het_priority; /* that all have in the queue */
    bool order_wfp3, allow_zero_licenses, private_jobs, disable_root_jobs, priority_multifactor;
    uint32_t max_batch_requeue, max_script_size;
    uint32_t node_breaker, job_breaks; /* failure.h; 0 = never */
    struct priority_weights weights;
    char *tres_names[PRIORITY_TRES_MAX]; /* of weights.tres: "cpu", "gres/gpu:a100" */
    uint64_t priority_flags;             /* CONF_PRIORITY_... */
    bool favor_small;
    int64_t max_age, calc_period;
    uint32_t cred_expire;
    const char *admin_name;                       /* SlurmUser; the configuration's string */
    int64_t resume_timeout, health_interval;      /* seconds; 0 = HealthCheckProgram never runs */
    int64_t drain_reminder;                       /* seconds, 0 = never */
    uint64_t health_states;                       /* CONF_HEALTH_… */
    bool cron, cron_cancel_explicit;              /* ScronParameters */
    bool can_reboot;                              /* RebootProgram is set */
    const char *mail_domain;                      /* NULL; the configuration's string */
    const char *requeue_exit, *requeue_exit_hold; /* lists of codes; the configuration's strings */
    struct prolog_settings prolog;
};

/* All but what priority.c takes; again at every reconfiguration. */
void settings_take(struct core *core, const struct conf *conf, uint32_t admin_uid);
/* A number of the configuration: UNSET64 where it is not given. */
uint64_t conf_unset64(uint64_t value);

#endif
