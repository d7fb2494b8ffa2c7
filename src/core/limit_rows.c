/* SPDX-License-Identifier: Apache-2.0 */
/* The limits that there are, and reading them from records. */
#include <string.h>

#include "core/state.h"
#include "model/conf.h"
#include "schema/member.h"

/* clang-format off */
#define R(name) REASON_##name
#define SIX(a, b, c, d, e, f) {R(a), R(b), R(c), R(d), R(e), R(f)}
const struct limit_row limit_rows[LIMIT_ROWS] = {
    {LIMIT_OF_GROUP, LIMIT_SUBMITTED, "grp_submit_jobs", "grp_submit_jobs", "GrpSubmitJobs", "GrpSubmitJobs",
     {R(ASSOC_GRP_SUBMIT)}, {R(QOS_GRP_SUBMIT)}},
    {LIMIT_OF_USER, LIMIT_SUBMITTED, "max_submit_jobs", "max_submit_jobs_pu", "MaxSubmitJobs", "MaxSubmitJobsPerUser",
     {R(ASSOC_MAX_SUBMIT)}, {R(QOS_MAX_SUBMIT_PER_USER)}},
    {LIMIT_OF_ACCOUNT, LIMIT_SUBMITTED, NULL, "max_submit_jobs_pa", NULL, "MaxSubmitJobsPerAccount",
     {0}, {R(MAX_SUBMIT_PER_ACCOUNT)}},
    {LIMIT_OF_GROUP, LIMIT_AGEING, "grp_jobs_accrue", "grp_jobs_accrue", "GrpJobsAccrue", "GrpJobsAccrue",
     {R(PRIORITY)}, {R(PRIORITY)}},
    {LIMIT_OF_USER, LIMIT_AGEING, "max_jobs_accrue", "max_jobs_accrue_pu", "MaxJobsAccrue", "MaxJobsAccruePerUser",
     {R(PRIORITY)}, {R(PRIORITY)}},
    {LIMIT_OF_ACCOUNT, LIMIT_AGEING, NULL, "max_jobs_accrue_pa", NULL, "MaxJobsAccruePerAccount",
     {0}, {R(PRIORITY)}},
    {LIMIT_OF_GROUP, LIMIT_JOBS, "grp_jobs", "grp_jobs", "GrpJobs", "GrpJobs",
     {R(ASSOC_GRP_JOBS)}, {R(QOS_GRP_JOBS)}},
    {LIMIT_OF_GROUP, LIMIT_TRES, "grp_tres", "grp_tres", "GrpTRES", "GrpTRES",
     SIX(ASSOC_GRP_CPU, ASSOC_GRP_MEM, ASSOC_GRP_NODE, ASSOC_GRP_GRES, ASSOC_GRP_LICENSE, ASSOC_GRP_BILLING),
     SIX(QOS_GRP_CPU, QOS_GRP_MEM, QOS_GRP_NODE, QOS_GRP_GRES, QOS_GRP_LICENSE, QOS_GRP_BILLING)},
    {LIMIT_OF_GROUP, LIMIT_TRES_USED, "grp_tres_mins", "grp_tres_mins", "GrpTRESMins", "GrpTRESMins",
     SIX(ASSOC_GRP_CPU_MINUTES, ASSOC_GRP_MEM_MINUTES, ASSOC_GRP_NODE_MINUTES, ASSOC_GRP_GRES_MINUTES,
         ASSOC_GRP_LICENSE_MINUTES, ASSOC_GRP_BILLING_MINUTES),
     SIX(QOS_GRP_CPU_MINUTES, QOS_GRP_MEM_MINUTES, QOS_GRP_NODE_MINUTES, QOS_GRP_GRES_MINUTES,
         QOS_GRP_LICENSE_MINUTES, QOS_GRP_BILLING_MINUTES)},
    {LIMIT_OF_GROUP, LIMIT_WALL_USED, "grp_wall", "grp_wall", "GrpWall", "GrpWall",
     {R(ASSOC_GRP_WALL)}, {R(QOS_GRP_WALL)}},
    {LIMIT_OF_GROUP, LIMIT_TRES_AHEAD, "grp_tres_run_mins", "grp_tres_run_mins", "GrpTRESRunMins", "GrpTRESRunMins",
     SIX(ASSOC_GRP_CPU_RUN_MINUTES, ASSOC_GRP_MEM_RUN_MINUTES, ASSOC_GRP_NODE_RUN_MINUTES,
         ASSOC_GRP_GRES_RUN_MINUTES, ASSOC_GRP_LICENSE_RUN_MINUTES, ASSOC_GRP_BILLING_RUN_MINUTES),
     SIX(QOS_GRP_CPU_RUN_MINUTES, QOS_GRP_MEM_RUN_MINUTES, QOS_GRP_NODE_RUN_MINUTES,
         QOS_GRP_GRES_RUN_MINUTES, QOS_GRP_LICENSE_RUN_MINUTES, QOS_GRP_BILLING_RUN_MINUTES)},
    {LIMIT_OF_USER, LIMIT_TRES_AHEAD, NULL, "max_tres_run_mins_pu", NULL, "MaxTRESRunMinsPerUser",
     {0},
     SIX(MAX_CPU_RUN_MINS_PER_USER, MAX_MEM_RUN_MINS_PER_USER, MAX_NODE_RUN_MINS_PER_USER,
         MAX_GRES_RUN_MINS_PER_USER, MAX_LICENSE_RUN_MINS_PER_USER, MAX_BILLING_RUN_MINS_PER_USER)},
    {LIMIT_OF_ACCOUNT, LIMIT_TRES_AHEAD, NULL, "max_tres_run_mins_pa", NULL, "MaxTRESRunMinsPerAccount",
     {0},
     SIX(MAX_CPU_RUN_MINS_PER_ACCOUNT, MAX_MEM_RUN_MINS_PER_ACCOUNT, MAX_NODE_RUN_MINS_PER_ACCOUNT,
         MAX_GRES_RUN_MINS_PER_ACCOUNT, MAX_LICENSE_RUN_MINS_PER_ACCOUNT, MAX_BILLING_RUN_MINS_PER_ACCOUNT)},
    {LIMIT_OF_USER, LIMIT_JOBS, "max_jobs", "max_jobs_pu", "MaxJobs", "MaxJobsPerUser",
     {R(ASSOC_MAX_JOBS)}, {R(QOS_MAX_JOBS_PER_USER)}},
    {LIMIT_OF_ACCOUNT, LIMIT_JOBS, NULL, "max_jobs_pa", NULL, "MaxJobsPerAccount",
     {0}, {R(MAX_JOBS_PER_ACCOUNT)}},
    {LIMIT_OF_USER, LIMIT_TRES, NULL, "max_tres_pu", NULL, "MaxTRESPerUser",
     {0},
     SIX(QOS_MAX_CPU_PER_USER, QOS_MAX_MEM_PER_USER, QOS_MAX_NODE_PER_USER, QOS_MAX_GRES_PER_USER,
         QOS_MAX_LICENSE_PER_USER, QOS_MAX_BILLING_PER_USER)},
    {LIMIT_OF_ACCOUNT, LIMIT_TRES, NULL, "max_tres_pa", NULL, "MaxTRESPerAccount",
     {0},
     SIX(MAX_CPU_PER_ACCOUNT, MAX_MEM_PER_ACCOUNT, MAX_NODE_PER_ACCOUNT, MAX_GRES_PER_ACCOUNT,
         MAX_LICENSE_PER_ACCOUNT, MAX_BILLING_PER_ACCOUNT)},
    {LIMIT_OF_JOB, LIMIT_TRES, "max_tres", "max_tres", "MaxTRES", "MaxTRESPerJob",
     SIX(ASSOC_MAX_CPU_PER_JOB, ASSOC_MAX_MEM_PER_JOB, ASSOC_MAX_NODE_PER_JOB, ASSOC_MAX_GRES_PER_JOB,
         ASSOC_MAX_LICENSE_PER_JOB, ASSOC_MAX_BILLING_PER_JOB),
     SIX(QOS_MAX_CPU_PER_JOB, QOS_MAX_MEM_PER_JOB, QOS_MAX_NODE_PER_JOB, QOS_MAX_GRES_PER_JOB,
         QOS_MAX_LICENSE_PER_JOB, QOS_MAX_BILLING_PER_JOB)},
    {LIMIT_OF_JOB, LIMIT_TRES_PER_NODE, "max_tres_per_node", "max_tres_per_node", "MaxTRESPerNode", "MaxTRESPerNode",
     SIX(ASSOC_MAX_CPU_PER_NODE, ASSOC_MAX_MEM_PER_NODE, NONE, ASSOC_MAX_GRES_PER_NODE, NONE,
         ASSOC_MAX_BILLING_PER_NODE),
     SIX(QOS_MAX_CPU_PER_NODE, QOS_MAX_MEM_PER_NODE, NONE, QOS_MAX_GRES_PER_NODE, NONE,
         QOS_MAX_BILLING_PER_NODE)},
    {LIMIT_OF_JOB, LIMIT_TRES_MINUTES, "max_tres_mins", "max_tres_mins", "MaxTRESMins", "MaxTRESMins",
     SIX(ASSOC_MAX_CPU_MINS, ASSOC_MAX_MEM_MINS, ASSOC_MAX_NODE_MINS, ASSOC_MAX_GRES_MINS,
         ASSOC_MAX_LICENSE_MINS, ASSOC_MAX_BILLING_MINS),
     SIX(QOS_MAX_CPU_MINS, QOS_MAX_MEM_MINS, QOS_MAX_NODE_MINS, QOS_MAX_GRES_MINS,
         QOS_MAX_LICENSE_MINS, QOS_MAX_BILLING_MINS)},
    {LIMIT_OF_JOB, LIMIT_WALL, "max_wall", "max_wall", "MaxWall", "MaxWall",
     {R(ASSOC_MAX_WALL)}, {R(QOS_MAX_WALL)}},
    {LIMIT_OF_JOB, LIMIT_LEAST, NULL, "min_tres", NULL, "MinTRES",
     {0}, SIX(QOS_MIN_CPU, QOS_MIN_MEM, QOS_MIN_NODE, QOS_MIN_GRES, QOS_MIN_LICENSE, QOS_MIN_BILLING)},
};
/* clang-format on */

/* ---- TRES ---- */

static const struct {
    const char *name;
    enum limit_class class;
} plain_tres[] = {
    {"cpu", LIMIT_CPU}, {"mem", LIMIT_MEM}, {"node", LIMIT_NODE}, {"billing", LIMIT_BILLING}};

static bool gres_read(const struct core *core, const char *text, struct limit_tres *ret) {
    cleanup_free char *name = xstrdup(text);
    char *type = strchr(name, ':');
    if (type != NULL)
        *type++ = '\0';
    for (size_t k = 0; k < core->n_kinds; k++) {
        if (!str_equal_nocase(core->kinds[k].name, name) ||
            (type != NULL && !str_equal_nocase(core->kinds[k].type, type)))
            continue;
        *ret = (struct limit_tres) {LIMIT_GRES, (uint32_t) k, type != NULL};
        return true;
    }
    return false;
}

bool limit_tres_read(const struct core *core, const char *name, struct limit_tres *ret) {
    for (size_t i = 0; i < countof(plain_tres); i++) {
        if (str_equal(plain_tres[i].name, name)) {
            *ret = (struct limit_tres) {.class = plain_tres[i].class};
            return true;
        }
    }
    if (str_starts(name, "gres/"))
        return gres_read(core, name + 5, ret);
    size_t license = str_starts(name, "license/") ? license_find(core, name + 8) : core->n_licenses;
    if (license == core->n_licenses)
        return false;
    *ret = (struct limit_tres) {.class = LIMIT_LICENSE, .index = (uint32_t) license};
    return true;
}

void limit_tres_print(const struct core *core, const struct limit_tres *tres, struct str *out) {
    for (size_t i = 0; i < countof(plain_tres); i++) {
        if (plain_tres[i].class == tres->class)
            str_append(out, plain_tres[i].name);
    }
    if (tres->class == LIMIT_LICENSE)
        str_printf(out, "license/%s", core->licenses[tres->index]);
    if (tres->class != LIMIT_GRES)
        return;
    str_printf(out, "gres/%s", core->kinds[tres->index].name);
    if (tres->typed)
        str_printf(out, ":%s", core->kinds[tres->index].type);
}

/* ---- values ---- */

/* What GRES were used for is known of those that are accounted for. */
static bool is_counted(const struct core *core, const struct limit_row *row,
                       const struct limit_tres *tres) {
    const struct gres_kind *kind = &core->kinds[tres->index];
    return row->measure != LIMIT_TRES_USED || tres->class != LIMIT_GRES ||
           gres_is_tracked(core, kind->name, tres->typed ? kind->type : NULL);
}

static void value_push(const struct limit_row *row, bool of_qos, struct limit_tres tres,
                       uint64_t most, limit_values *ret) {
    const uint32_t *reasons = of_qos ? row->qos_reasons : row->assoc_reasons;
    struct limit_value value = {row, tres, most};
    if (reasons[tres.class] != REASON_NONE)
        vec_push(ret, value);
}

static void read_tres(const struct core *core, const struct limit_row *row, bool of_qos,
                      const char *text, limit_values *ret) {
    words_each (text, ",", word) {
        char *equals = strchr(word, '=');
        struct limit_tres tres;
        uint64_t most;
        if (equals == NULL || !str_to_u64(equals + 1, &most))
            continue;
        *equals = '\0';
        if (limit_tres_read(core, word, &tres) && is_counted(core, row, &tres))
            value_push(row, of_qos, tres, most, ret);
    }
}

static const struct limit_value *value_of(const limit_values *values, const char *member) {
    vec_each (values, value) {
        if (str_equal(value->row->assoc, member) && value->tres.class == LIMIT_CPU)
            return value;
    }
    return NULL;
}

/* GrpJobs, GrpCPUs and GrpCPUMins of slurm.conf are those of account root where sacctmgr has set
 * none. */
static void read_conf(const struct core *core, limit_values *ret) {
    const struct {
        const char *member;
        uint64_t most;
    } rows[] = {{"grp_jobs", core->conf->grp_jobs},
                {"grp_tres", core->conf->grp_cpus},
                {"grp_tres_mins", core->conf->grp_cpu_mins}};
    for (size_t i = 0; i < countof(rows); i++) {
        if (rows[i].most == CONF_UNSET || value_of(ret, rows[i].member) != NULL)
            continue;
        for (size_t r = 0; r < LIMIT_ROWS; r++) {
            if (str_equal(limit_rows[r].assoc, rows[i].member))
                value_push(&limit_rows[r], false, (struct limit_tres) {.class = LIMIT_CPU},
                           rows[i].most, ret);
        }
    }
}

void limits_read(const struct core *core, bool of_qos, const void *record, limit_values *ret) {
    const struct record *description = of_qos ? &record_qos : &record_assoc;
    for (const struct limit_row *row = limit_rows; row < limit_rows + LIMIT_ROWS; row++) {
        const char *name = of_qos ? row->qos : row->assoc;
        if (name == NULL)
            continue;
        const void *member = (const char *) record + record_field(description, name)->offset;
        if (limit_has_tres(row))
            read_tres(core, row, of_qos, *(const char *const *) member, ret);
        else if (*(const uint32_t *) member != UNSET32)
            value_push(row, of_qos, (struct limit_tres) {.class = LIMIT_CPU},
                       *(const uint32_t *) member, ret);
    }
    const struct assoc *assoc = of_qos ? NULL : record;
    if (assoc != NULL && assoc->user == NULL && str_equal(assoc->account, ROOT_ACCOUNT))
        read_conf(core, ret);
}

bool limits_change(bool of_qos, const void *old, const void *next) {
    const struct record *description = of_qos ? &record_qos : &record_assoc;
    for (const struct limit_row *row = limit_rows; row < limit_rows + LIMIT_ROWS; row++) {
        const char *name = of_qos ? row->qos : row->assoc;
        if (name == NULL)
            continue;
        size_t offset = record_field(description, name)->offset;
        const void *now = (const char *) next + offset;
        const void *before = old != NULL ? (const char *) old + offset : NULL;
        if (limit_has_tres(row)) {
            const char *text = *(const char *const *) now;
            if (text != NULL && !str_equal(text, before != NULL ? *(char *const *) before : NULL))
                return true;
        } else if (*(const uint32_t *) now != UNSET32 &&
                   (before == NULL || *(const uint32_t *) before != *(const uint32_t *) now)) {
            return true;
        }
    }
    return false;
}
