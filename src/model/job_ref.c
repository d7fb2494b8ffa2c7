/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of jobs, tasks and steps as people write them. */
#include "model/job_ref.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "text/idset.h"

bool job_ref_parse(const char *text, struct job_ref *ret) {
    char *end;
    if (!isdigit((unsigned char) *text))
        return false;
    unsigned long id = strtoul(text, &end, 10);
    if (id == 0 || id >= UINT32_MAX)
        return false;
    *ret = (struct job_ref) {(uint32_t) id, *end == '_' ? end + 1 : NULL, NULL};
    const char *dot = strchr(end, '.');
    ret->step = dot ? dot + 1 : NULL;
    return true;
}

bool job_ref_tasks(const struct job_ref *ref, struct idset *set) {
    if (!ref->tasks)
        return false;
    cleanup_free char *text = xstrndup(ref->tasks, strcspn(ref->tasks, "."));
    uint32_t limit;
    return idset_parse(set, text, UINT32_MAX, &limit, NULL) == 0;
}

bool job_ref_match(const struct job_ref *ref, const struct job *job) {
    if (!ref->tasks)
        return ref->job_id == job->job_id || ref->job_id == job->array_job_id;
    if (ref->job_id != job->array_job_id)
        return false;
    struct idset wanted cleanup_idset = IDSET_INIT;
    if (!job_ref_tasks(ref, &wanted))
        return false;
    if (job->array_task_id != UNSET32)
        return idset_contains(&wanted, job->array_task_id);
    struct idset waiting cleanup_idset = IDSET_INIT, rest cleanup_idset = IDSET_INIT;
    uint32_t limit;
    if (!job->array_tasks || idset_parse(&waiting, job->array_tasks, UINT32_MAX, &limit, NULL) < 0)
        return false;
    /* What people write may reach to 2^32: no walk over its members. */
    idset_divide(&waiting, &wanted, &waiting, &rest);
    return waiting.n > 0;
}
