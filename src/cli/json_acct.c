/* SPDX-License-Identifier: Apache-2.0 */
/* sacct --json: jobs with their steps, as the accounting has them. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/columns_acct.h"
#include "cli/columns_job.h"
#include "cli/json_dump.h"
#include "model/usage.h"
#include "text/duration.h"
#include "text/hostlist.h"
#include "text/size.h"
#include "text/tres.h"

static void json_cpu_time(struct json *json, const char *key, uint64_t usec) {
    json_object(json, key);
    json_unsigned(json, "seconds", usec / 1000000);
    json_unsigned(json, "microseconds", usec % 1000000);
    json_end(json);
}

/* ---- TRES ---- */
static uint64_t tres_count(const char *name, const char *value) {
    uint64_t count = 0;
    if (strcmp(name, "mem") == 0)
        return acct_mib(value);
    return count_parse(value, &count, NULL) == 0 ? count : 0;
}

void json_tres_counts(struct json *json, const char *key, const char *tres) {
    struct str sorted cleanup_str = STR_INIT;
    json_array(json, key);
    tres_sorted_print(tres, &sorted);
    char *cursor = sorted.data, *word;
    while (cursor && (word = str_next_word(&cursor, ","))) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = '\0';
        unsigned id = tres_standard_id(word, strlen(word));
        uint64_t count = tres_count(word, value);
        char *slash = strchr(word, '/');
        if (slash)
            *slash = '\0';
        json_object(json, NULL);
        json_text(json, "type", word);
        json_text(json, "name", slash ? slash + 1 : NULL);
        json_unsigned(json, "id", id != 0 ? id : TRES_ID_OTHER);
        json_unsigned(json, "count", count);
        json_end(json);
    }
    json_end(json);
}

/* ---- steps ---- */
static void json_step_time(struct json *json, const struct acct_row *row,
                           const struct column_env *env) {
    const struct step *step = row->step;
    uint64_t user, system;
    acct_cpu_usec(row, &user, &system);
    json_object(json, "time");
    json_unsigned(json, "elapsed", (uint64_t) acct_elapsed(row, env->now));
    json_number(json, "end", step->end_time > 0, false, (uint64_t) step->end_time);
    json_number(json, "start", step->start_time > 0, false, (uint64_t) step->start_time);
    json_unsigned(json, "suspended", 0);
    json_cpu_time(json, "system", system);
    json_number32(json, "limit", step->time_limit);
    json_cpu_time(json, "total", user + system);
    json_cpu_time(json, "user", user);
    json_end(json);
}

static void json_step_nodes(struct json *json, const struct step *step) {
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    json_object(json, "nodes");
    json_unsigned(json, "count", step->num_nodes);
    json_text(json, "range", step->nodes);
    json_array(json, "list");
    if (step->nodes && hostlist_parse(&names, step->nodes, NULL) == 0) {
        for (size_t i = 0; i < names.n; i++)
            json_text(json, NULL, names.names[i]);
    }
    json_end(json);
    json_end(json);
}

/* The figure of each kind that sacct's JSON calls "max", "min", "average" or "total". */
enum consumed { CONSUMED_MAX, CONSUMED_MIN, CONSUMED_AVERAGE, CONSUMED_TOTAL };
static const char *const consumed_keys[] = {"max", "min", "average", "total"};

static const struct consumed_kind {
    const char *type, *name;
    unsigned id;
    enum usage_kind kind;      /* 0: energy, which nobody measures */
    uint64_t multiply, divide; /* into milliseconds and bytes */
} consumed_in[] = {{"cpu", NULL, 1, USAGE_CPU, 1, 1000},
                   {"mem", NULL, 2, USAGE_RSS, 1024, 1},
                   {"energy", NULL, 3, 0, 1, 1},
                   {"fs", "disk", 6, USAGE_READ, 1, 1},
                   {"vmem", NULL, 7, USAGE_VSIZE, 1024, 1},
                   {"pages", NULL, 8, USAGE_PAGES, 1, 1}},
  consumed_out[] = {{"energy", NULL, 3, 0, 1, 1}, {"fs", "disk", 6, USAGE_WRITTEN, 1, 1}};

static void json_consumed_item(struct json *json, const struct consumed_kind *kind,
                               const struct usage_measure *measure, enum consumed what,
                               uint32_t ntasks) {
    bool is_min = what == CONSUMED_MIN;
    uint64_t value = what == CONSUMED_MAX       ? measure->max
                     : is_min                   ? measure->min
                     : what == CONSUMED_AVERAGE ? measure->sum / max_of(ntasks, 1u)
                                                : measure->sum;
    json_object(json, NULL);
    json_text(json, "type", kind->type);
    json_text(json, "name", kind->name);
    json_unsigned(json, "id", kind->id);
    json_unsigned(json, "count", value * kind->multiply / kind->divide);
    if (what == CONSUMED_MAX || is_min) {
        json_signed(json, "task", is_min ? measure->min_task : measure->max_task);
        json_text(json, "node", is_min ? measure->min_node : measure->max_node);
    }
    json_end(json);
}

static void json_consumed(struct json *json, const struct step *step,
                          const struct consumed_kind *kinds, size_t n) {
    struct usage_measure energy;

    usage_energy(step->usage, &energy);
    for (size_t key = 0; key < countof(consumed_keys); key++) {
        json_array(json, consumed_keys[key]);
        for (size_t i = 0; i < n && step->usage; i++) {
            const struct usage_measure *measure =
                kinds[i].kind ? usage_measure(step->usage, kinds[i].kind) : &energy;
            if (measure)
                json_consumed_item(json, &kinds[i], measure, (enum consumed) key, step->ntasks);
        }
        json_end(json);
    }
}

static void json_step_tres(struct json *json, const struct step *step) {
    json_object(json, "tres");
    json_object(json, "requested"); /* what went in, by the name that it has there */
    json_consumed(json, step, consumed_in, countof(consumed_in));
    json_end(json);
    json_object(json, "consumed"); /* what went out */
    json_consumed(json, step, consumed_out, countof(consumed_out));
    json_end(json);
    json_tres_counts(json, "allocated", step->tres_alloc);
    json_end(json);
}

static void json_step(struct json *json, const struct acct_row *row, const struct column_env *env) {
    const struct step *step = row->step;
    struct str id cleanup_str = STR_INIT;
    str_printf(&id, "%u.", row->job->job_id);
    step_id_print(step->step_id, &id);
    json_object(json, NULL);
    json_step_time(json, row, env);
    json_exit(json, "exit_code", step->exit_status, step->end_time > 0);
    json_step_nodes(json, step);
    json_object(json, "tasks");
    json_unsigned(json, "count", step->ntasks);
    json_end(json);
    json_object(json, "CPU");
    json_object(json, "requested_frequency");
    json_number(json, "min", true, false, 0);
    json_number(json, "max", true, false, 0);
    json_end(json);
    json_text(json, "governor", "0");
    json_end(json);
    json_text(json, "kill_request_user", NULL);
    json_array(json, "state");
    json_text(json, NULL, names_text(&names_job_state, step->state));
    json_end(json);
    json_object(json, "statistics");
    json_object(json, "CPU");
    json_unsigned(json, "actual_frequency", 0);
    json_end(json);
    json_object(json, "energy");
    json_number(json, "consumed", true, false, 0);
    json_end(json);
    json_end(json);
    json_object(json, "step");
    json_text(json, "id", str_cstr(&id));
    json_text(json, "name", step->name);
    json_text(json, "stdin", step->std_in);
    json_text(json, "stdout", step->std_out);
    json_text(json, "stderr", step->std_err);
    json_end(json);
    json_object(json, "task");
    json_text(json, "distribution", "Unknown");
    json_end(json);
    json_step_tres(json, step);
    json_end(json);
}

/* ---- job ---- */
static void json_identity(struct json *json, const struct job *job, const struct column_env *env) {
    struct str tasks cleanup_str = STR_INIT;
    json_text(json, "account", job->account);
    json_object(json, "comment");
    json_text(json, "administrator", job->admin_comment);
    json_text(json, "job", job->comment);
    json_text(json, "system", job->system_comment);
    json_end(json);
    json_unsigned(json, "allocation_nodes", job->nodes && *job->nodes ? job->num_nodes : 0);
    json_object(json, "array");
    json_unsigned(json, "job_id", job->array_job_id);
    json_object(json, "limits");
    json_object(json, "max");
    json_object(json, "running");
    json_unsigned(json, "tasks", job->array_limit);
    json_end(json);
    json_end(json);
    json_end(json);
    json_number32(json, "task_id", job->array_task_id);
    if (job->array_task_id == UNSET32)
        job_task_ids_print(job, 0, &tasks);
    json_text(json, "task", str_cstr(&tasks));
    json_end(json);
    json_object(json, "association");
    json_text(json, "account", job->account);
    json_text(json, "cluster", job->cluster ? job->cluster : env->cluster);
    json_text(json, "partition", NULL);
    json_text(json, "user", job->user_name);
    json_unsigned(json, "id", job->assoc_id);
    json_end(json);
    json_text(json, "block", NULL);
    json_text(json, "cluster", job->cluster ? job->cluster : env->cluster);
    json_text(json, "constraints", job->features);
    json_text(json, "container", job->container);
    json_exit(json, "derived_exit_code", job->derived_exit, true);
}

static void json_job_time(struct json *json, const struct acct_row *row,
                          const struct column_env *env) {
    const struct job *job = row->job;
    bool ended = job_state_is_final(job->state);
    uint64_t user, system;
    acct_cpu_usec(row, &user, &system);
    int64_t elapsed = acct_elapsed(row, env->now);
    int64_t span = ended && job->start_time ? job->end_time - job->start_time - elapsed : 0;
    int64_t planned = job->start_time - job->eligible_time;
    json_object(json, "time");
    json_unsigned(json, "elapsed", (uint64_t) elapsed);
    json_unsigned(json, "eligible", (uint64_t) job->eligible_time);
    json_unsigned(json, "end", ended ? (uint64_t) job->end_time : 0);
    json_number(json, "planned", job->start_time > 0 && planned >= 0, false, (uint64_t) planned);
    json_unsigned(json, "start", job->state == JOB_PENDING ? 0 : (uint64_t) job->start_time);
    json_unsigned(json, "submission", (uint64_t) job->submit_time);
    json_unsigned(json, "suspended", (uint64_t) max_of(span, (int64_t) 0));
    json_cpu_time(json, "system", system);
    json_number32(json, "limit", job->time_limit);
    json_cpu_time(json, "total", user + system);
    json_cpu_time(json, "user", user);
    json_end(json);
}

static void json_job_end(struct json *json, const struct acct_job *acct) {
    const struct job *job = acct->job;
    json_text(json, "exclusive", names_text(&names_exclusive, job->exclusive));
    json_exit(json, "exit_code", job_accounted_exit(job), job_state_is_final(job->state));
    json_text(json, "extra", job->extra);
    json_text(json, "failed_node", job->failed_node);
    json_none(json, "flags");
    json_text(json, "group", job->group_name);
    json_object(json, "het");
    json_unsigned(json, "job_id", job->het_job_id);
    json_number(json, "job_offset", job->het_job_id != 0, false, job->het_offset);
    json_end(json);
    json_unsigned(json, "job_id", job->job_id);
    json_text(json, "name", job->name);
    json_text(json, "licenses", job->licenses);
    json_object(json, "mcs");
    json_text(json, "label", job->mcs_label);
    json_end(json);
    json_text(json, "nodes", job->nodes && *job->nodes ? job->nodes : "None assigned");
    json_text(json, "oversubscribe", job_oversubscribe_text(job));
    json_text(json, "partition", job->partition);
    json_bool(json, "hold", job->state == JOB_PENDING && job->priority == 0);
    json_number(json, "priority", true, false, job->priority);
    json_text(json, "qos", job->qos);
    json_text(json, "qosreq", NULL);
}

static void json_job_asked(struct json *json, const struct acct_job *acct) {
    const struct job *job = acct->job;
    json_object(json, "required");
    json_unsigned(json, "CPUs", job->num_cpus);
    json_number64(json, "memory_per_cpu", job->mem_per_cpu);
    json_number64(json, "memory_per_node", job->mem_per_node);
    json_end(json);
    cleanup_free char *killer =
        job->cancel_uid != UNSET32 ? xasprintf("%u", job->cancel_uid) : xstrdup("");
    json_text(json, "kill_request_user", killer);
    json_unsigned(json, "restart_cnt", job->restarts);
    json_object(json, "reservation");
    json_unsigned(json, "id", job->reservation_id);
    json_text(json, "name", job->reservation);
    json_end(json);
    cleanup_free char *script =
        job->script.size ? xstrndup((const char *) job->script.data, job->script.size) : NULL;
    json_text(json, "script", script);
    json_unsigned(json, "segment_size", 0);
    json_object(json, "state");
    json_array(json, "current");
    json_text(json, NULL, names_text(&names_job_state, job->state));
    json_end(json);
    const char *reason = names_text(&names_job_reason, job->reason);
    json_text(json, "reason", reason ? reason : "None");
    json_end(json);
}

static void json_acct_job(struct json *json, const struct acct_job *acct,
                          const struct column_env *env) {
    struct acct_row row = {acct, acct->job, NULL};
    json_object(json, NULL);
    json_identity(json, acct->job, env);
    json_job_time(json, &row, env);
    json_job_end(json, acct);
    json_job_asked(json, acct);
    json_array(json, "steps");
    for (uint32_t i = 0; i < acct->steps.n; i++) {
        row.step = &acct->steps.items[i];
        json_step(json, &row, env);
    }
    json_end(json);
    json_text(json, "submit_line", acct->job->submit_line);
    json_object(json, "tres");
    json_tres_counts(json, "allocated", acct->job->tres_alloc);
    json_tres_counts(json, "requested", acct->job->tres_req);
    json_end(json);
    json_text(json, "used_gres", NULL);
    json_text(json, "user", acct->job->user_name);
    json_object(json, "wckey");
    const char *wckey = acct->job->wckey;
    bool assigned = wckey != NULL && wckey[0] == '*'; /* the user's default */
    json_text(json, "wckey", wckey != NULL ? wckey + assigned : NULL);
    json_array(json, "flags");
    if (assigned)
        json_text(json, NULL, "ASSIGNED_DEFAULT");
    json_end(json);
    json_end(json);
    json_text(json, "working_directory", acct->job->work_dir);
    json_end(json);
}

void json_dump_accounting(const struct rows *jobs, const char *plugin, int argc, char **argv,
                          const struct column_env *env, struct str *out) {
    struct json_dump dump;
    json_dump_begin(&dump, plugin, argc, argv, env, out);
    json_array(&dump.json, "jobs");
    for (size_t i = 0; i < jobs->n; i++) {
        json_acct_job(&dump.json, jobs->items[i], env);
        list_output(out);
    }
    json_end(&dump.json);
    json_dump_end(&dump);
}
