/* SPDX-License-Identifier: Apache-2.0 */
/* What a heterogeneous job's programs are told of its components. */
#include "model/het_env.h"

#include <string.h>

#include "base/alloc.h"
#include "unit.h"

static bool has(const struct str *block, const char *entry) {
    for (size_t at = 0; at < block->length; at += strlen(block->data + at) + 1) {
        if (strcmp(block->data + at, entry) == 0)
            return true;
    }
    return false;
}

static struct str print(bool interactive) {
    static struct job_node nodes[] = {{.name = (char *) "n1", .cpus = 4, .ntasks = 2},
                                      {.name = (char *) "n2", .cpus = 2, .ntasks = 1}};
    struct job jobs[2];
    struct str out = STR_INIT;
    for (size_t i = 0; i < 2; i++) {
        record_init(&record_job, &jobs[i]);
        jobs[i].job_id = 7 + (uint32_t) i;
        jobs[i].allocation.items = nodes;
        jobs[i].allocation.n = i == 0 ? 2 : 1;
        jobs[i].nodes = text_of(i == 0 ? "n[1-2]" : "n1");
        jobs[i].num_nodes = jobs[i].allocation.n;
    }
    jobs[0].ntasks = 3;
    jobs[1].mem_per_cpu = 100;
    het_env_print(jobs, 2, interactive, &out);
    return out;
}

TEST(each_component_has_variables_of_its_own_under_both_names) {
    static const char *const entries[] = {
        "SLURM_HET_SIZE=2",
        "SLURM_PACK_SIZE=2",
        "SLURM_JOB_ID_HET_GROUP_0=7",
        "SLURM_JOB_ID_PACK_GROUP_1=8",
        "SLURM_JOB_NODELIST_HET_GROUP_0=n[1-2]",
        "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0=4,2",
        "SLURM_TASKS_PER_NODE_HET_GROUP_0=2,1",
        "SLURM_NTASKS_HET_GROUP_0=3",
        "SLURM_MEM_PER_CPU_HET_GROUP_1=100",
    };
    struct str block cleanup_str = print(false);
    for (size_t i = 0; i < countof(entries); i++) {
        if (!has(&block, entries[i]))
            fail_msg("%s is missing", entries[i]);
    }
    assert_false(has(&block, "SLURM_NTASKS_HET_GROUP_1=1")); /* was not asked for */
    assert_false(has(&block, "SLURM_JOBID_HET_GROUP_0=7"));
}

TEST(sallocs_command_is_told_older_names_too) {
    struct str block cleanup_str = print(true);
    assert_true(has(&block, "SLURM_JOBID_HET_GROUP_0=7"));
    assert_true(has(&block, "SLURM_NODELIST_HET_GROUP_1=n1"));
    assert_true(has(&block, "SLURM_NNODES_HET_GROUP_0=2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_component_has_variables_of_its_own_under_both_names),
        cmocka_unit_test(sallocs_command_is_told_older_names_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
