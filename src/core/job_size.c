/* SPDX-License-Identifier: Apache-2.0 */
/* What a request amounts to before the planner has placed it: nodes, CPUs, tasks, TRES. */
#include "core/state.h"
#include "text/tres.h"

char *tres_text(uint64_t cpus, uint64_t mem, uint32_t nodes, const char *gres, uint64_t billing) {
    struct str out = STR_INIT;
    str_printf(&out, "cpu=%llu", (unsigned long long) cpus);
    if (mem > 0) {
        str_append(&out, ",mem=");
        mem_print(mem, true, &out);
    }
    str_printf(&out, ",node=%u", nodes);
    if (billing != UNSET64)
        str_printf(&out, ",billing=%llu", (unsigned long long) billing);
    if (gres != NULL && gres[0] != '\0')
        str_printf(&out, ",%s", gres);
    return str_take(&out);
}

static uint64_t ceil_div(uint64_t a, uint64_t b) {
    return b == 0 ? 0 : (a + b - 1) / b;
}

static uint32_t saturated32(uint64_t value) {
    return (uint32_t) min_of(value, (uint64_t) UINT32_MAX);
}

static void requested_gres(const struct core *core, const struct job *job, uint32_t nodes,
                           uint32_t tasks, struct str *out) {
    const uint64_t times[GRES_PARTS] = {[GRES_PER_NODE] = nodes,
                                        [GRES_PER_JOB] = 1,
                                        [GRES_PER_TASK] = tasks,
                                        [GRES_PER_SOCKET] =
                                            (uint64_t) nodes * max_of(job->sockets_per_node, 1u)};
    for (enum gres_part part = 0; part < GRES_PARTS; part++) {
        struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
        if (gres_part_parse(job, part, &list, NULL) < 0)
            continue;
        for (size_t i = 0; i < list.n; i++) {
            const struct gres_item *item = &list.items[i];
            unsigned long long count = saturated(item->count, times[part]);
            if (gres_is_tracked(core, item->name, NULL))
                str_printf(out, "%sgres/%s=%llu", out->length > 0 ? "," : "", item->name, count);
            if (item->type != NULL && gres_is_tracked(core, item->name, item->type))
                str_printf(out, "%sgres/%s:%s=%llu", out->length > 0 ? "," : "", item->name,
                           item->type, count);
        }
    }
}

/* Memory of the whole request in MiB; whole nodes count as the first node of the partition. */
static uint64_t requested_mem(struct core *core, const struct job *job, uint32_t nodes,
                              uint32_t cpus) {
    struct job_spec spec cleanup(job_spec_done);
    if (job_spec_build(core, job, &spec, NULL) < 0)
        return 0;
    const struct sched_job_spec *asked = &spec.sched;
    if (asked->mem_per_cpu != UNSET64)
        return saturated(asked->mem_per_cpu, cpus);
    if (asked->mem_per_node != UNSET64 && asked->mem_per_node > 0)
        return saturated(asked->mem_per_node, nodes);
    if (asked->n_partitions == 0)
        return 0;
    const struct core_partition *part = &core->partitions[asked->partitions[0]];
    return part->n_nodes > 0 ? saturated(core->nodes[part->nodes[0]].rec.memory, nodes) : 0;
}

void job_estimate_size(struct core *core, struct job *job) {
    uint64_t cpt = job->cpus_per_task > 0 ? job->cpus_per_task : 1;
    uint64_t nodes = job->min_nodes > 0 ? job->min_nodes : 1;
    uint64_t tasks = job->ntasks;
    if (tasks == 0)
        tasks = nodes * (job->ntasks_per_node > 0 ? job->ntasks_per_node : 1);
    if (job->ntasks_per_node > 0)
        nodes = max_of(nodes, ceil_div(tasks, job->ntasks_per_node));
    uint64_t cpus = job->overcommit ? nodes : saturated(tasks, cpt);
    cpus = min_of(cpus, (uint64_t) UINT32_MAX);
    nodes = max_of(nodes, ceil_div(cpus, core->largest_cpus));
    cpus = max_of(cpus, nodes);
    job->num_nodes = saturated32(nodes);
    job->num_cpus = saturated32(cpus);
    job->ntasks_total = saturated32(tasks);
    /* What was asked for, not what the tasks will take: without -N that is one node. */
    uint32_t asked = max_of(job->min_nodes, 1u);
    struct str gres cleanup_str = STR_INIT;
    requested_gres(core, job, asked, job->ntasks_total, &gres);
    uint64_t mem = requested_mem(core, job, asked, job->num_cpus);
    double billing = billing_of(core, job->partition, job->num_cpus, mem, asked, str_cstr(&gres));
    free(job->tres_req);
    job->tres_req = tres_text(job->num_cpus, mem, asked, str_cstr(&gres), (uint64_t) billing);
}
