/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that run, as JSON: scontrol show step. */
#include "base/alloc.h"
#include "cli/columns_job.h"
#include "cli/json_dump.h"

static void json_step(struct json *json, const struct step *step) {
    struct str name cleanup_str = STR_INIT, id cleanup_str = STR_INIT;
    step_name_print(step, &name);
    step_id_print(step->step_id, &id);
    json_object(json, NULL);
    json_object(json, "time");
    json_number(json, "start", true, false, (uint64_t) step->start_time);
    json_number(json, "end", step->end_time > 0, false, (uint64_t) step->end_time);
    json_number32(json, "limit", step->time_limit);
    json_end(json);
    json_object(json, "nodes");
    json_unsigned(json, "count", step->num_nodes);
    json_text(json, "range", step->nodes);
    json_end(json);
    json_object(json, "tasks");
    json_unsigned(json, "count", step->ntasks);
    json_end(json);
    json_object(json, "CPU");
    json_unsigned(json, "count", step->num_cpus);
    json_end(json);
    json_array(json, "state");
    json_text(json, NULL, names_text(&names_job_state, step->state));
    json_end(json);
    json_object(json, "step");
    json_text(json, "id", str_cstr(&name));
    json_unsigned(json, "job_id", step->job_id);
    json_text(json, "step_id", str_cstr(&id));
    json_text(json, "name", step->name);
    json_end(json);
    json_text(json, "partition", step->partition);
    json_text(json, "user", step->user_name);
    json_unsigned(json, "user_id", step->uid);
    json_text(json, "srun_host", step->srun_host);
    json_unsigned(json, "srun_pid", step->srun_pid);
    json_text(json, "tres", step->tres_alloc);
    json_end(json);
}

void json_dump_steps(const struct rows *steps, const char *plugin, int argc, char **argv,
                     const struct column_env *env, struct str *out) {
    struct json_dump dump;
    json_dump_begin(&dump, plugin, argc, argv, env, out);
    json_array(&dump.json, "steps");
    for (size_t i = 0; i < steps->n; i++) {
        json_step(&dump.json, steps->items[i]);
        list_output(out);
    }
    json_end(&dump.json);
    json_number(&dump.json, "last_update", true, false, (uint64_t) env->now);
    json_dump_end(&dump);
}
