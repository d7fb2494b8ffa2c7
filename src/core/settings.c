/* SPDX-License-Identifier: Apache-2.0 */
/* From the configuration to what the core goes by; see settings.h. */
#include "core/settings.h"

#include <string.h>

#include "core/state.h"
#include "model/conf.h"
#include "model/conf_table.h"

uint64_t conf_unset64(uint64_t value) {
    return value == CONF_UNSET ? UNSET64 : value;
}

static int64_t over_limit_seconds(uint32_t minutes) {
    return minutes == CONF_INFINITE ? -1 : (int64_t) minutes * 60;
}

static void take_accounting(struct core_settings *s, const struct conf *conf) {
    s->store_flags = conf->accounting_store_flags;
    s->enforce = conf->accounting_storage_enforce;
    s->track_wckey = conf->track_wckey;
    s->tells_database = conf->accounting_storage_type == CONF_STORAGE_SLURMDBD;
    s->private_accounts = (conf->private_data & (CONF_PRIVATE_ACCOUNTS | CONF_PRIVATE_USERS)) != 0;
    s->private_jobs = conf->private_data & CONF_PRIVATE_JOBS;
}

static void take_limits(struct core_settings *s, const struct conf *conf) {
    s->max_job_count = conf->max_job_count;
    s->max_array_size = conf->max_array_size;
    s->max_array_tasks = conf->scheduler.max_array_tasks;
    s->max_job_id = conf->max_job_id;
    s->first_job_id = conf->first_job_id;
    s->max_step_count = conf->max_step_count;
    s->max_tasks_per_node = conf->max_tasks_per_node;
    s->max_script_size = conf->scheduler.max_script_size;
    s->max_batch_requeue = conf->max_batch_requeue;
    s->enforce_part_limits = conf->enforce_part_limits == CONF_PART_LIMITS_NO    ? 0
                             : conf->enforce_part_limits == CONF_PART_LIMITS_ALL ? 1
                                                                                 : 2;
}

static void take_times(struct core_settings *s, const struct conf *conf) {
    s->min_job_age = conf->min_job_age;
    s->kill_wait = conf->kill_wait;
    s->time_slice = conf->scheduler_time_slice;
    s->suspend_grace = conf->preempt.suspend_grace_time;
    s->slurmd_timeout = conf->slurmd_timeout;
    s->over_time_limit = over_limit_seconds(conf->over_time_limit);
    s->requeue_delay = conf->scheduler.requeue_delay;
    s->resume_timeout = conf->resume_timeout;
    s->health_interval = conf->health_check_program != NULL ? conf->health_check_interval : 0;
    s->drain_reminder = (int64_t) min_of(conf->slurmctld.drain_reminder, (uint64_t) TIME_LATEST);
    s->cred_expire = conf->auth.cred_expire;
}

static void take_memory(struct core_settings *s, const struct conf *conf) {
    s->def_mem_per_cpu = conf_unset64(conf->def_mem_per_cpu);
    s->def_mem_per_node = conf_unset64(conf->def_mem_per_node);
    s->def_cpu_per_gpu = conf_unset64(conf->def_cpu_per_gpu);
    s->def_mem_per_gpu = conf_unset64(conf->def_mem_per_gpu);
    s->max_mem_per_cpu = conf_unset64(conf->max_mem_per_cpu);
    s->max_mem_per_node = conf_unset64(conf->max_mem_per_node);
    s->mem_consumable =
        conf->select_type == CONF_SELECT_CONS_TRES &&
        (conf->select_type_parameters == 0 || (conf->select_type_parameters & CONF_CR_MEMORY));
}

static void take_jobs(struct core_settings *s, const struct conf *conf) {
    s->job_requeue = conf->job_requeue;
    s->job_file_append = conf->job_file_append;
    s->no_advice = conf->slurmctld.no_advice;
    s->allow_zero_licenses = conf->scheduler.allow_zero_lic;
    s->user_top = conf->scheduler.enable_user_top;
    s->no_shrink = conf->scheduler.disable_job_shrink;
    s->no_triggers = conf->slurmctld.disable_triggers;
    s->user_triggers = conf->slurmctld.allow_user_triggers;
    s->disable_root_jobs = conf->disable_root_jobs;
    s->whole_het = conf->scheduler.whole_hetjob;
    s->het_priority = str_equal_nocase(conf->scheduler.bf_hetjob_prio, "max")   ? HET_PRIORITY_MAX
                      : str_equal_nocase(conf->scheduler.bf_hetjob_prio, "avg") ? HET_PRIORITY_AVG
                                                                                : HET_PRIORITY_MIN;
    s->kill_invalid_depend =
        conf->scheduler.kill_invalid_depend || conf->dependency.kill_invalid_depend;
    s->cron = conf->scron_parameters & CONF_SCRON_ENABLE;
    s->cron_cancel_explicit = conf->scron_parameters & CONF_SCRON_EXPLICIT_SCANCEL;
    s->requeue_exit = conf->requeue_exit;
    s->requeue_exit_hold = conf->requeue_exit_hold;
    s->mail_domain = conf->mail_domain;
}

static void take_nodes(struct core_settings *s, const struct conf *conf) {
    s->return_to_service = conf->return_to_service;
    s->config_overrides = conf->slurmd.config_overrides;
    s->can_reboot = conf->reboot_program != NULL;
    s->health_states = conf->health_check_node_state;
    s->node_breaker = conf->slurmctld.node_breaker;
    s->job_breaks = conf->slurmctld.job_breaks;
}

void settings_take(struct core *core, const struct conf *conf, uint32_t admin_uid) {
    struct core_settings *s = &core->settings;
    string_set(&s->cluster, conf->cluster_name);
    core->book.cluster = s->cluster;
    s->admin_uid = admin_uid;
    s->admin_name = conf->slurm_user;
    string_set(&s->control_host, conf->n_control_hosts > 0 ? conf->control_hosts[0].address : NULL);
    s->control_port = conf->slurmctld_port.first;
    take_accounting(s, conf);
    take_limits(s, conf);
    take_times(s, conf);
    take_memory(s, conf);
    take_jobs(s, conf);
    take_nodes(s, conf);
    failures_forget(core); /* its nodes may be others now */
    prolog_settings(core, conf);
}
