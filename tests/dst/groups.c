/* SPDX-License-Identifier: Apache-2.0 */
#include "groups.h"

#include "check.h"

struct member {
    uint32_t first, size, attempt, state, flags;
    int64_t start;
};

static struct member *member_of(const struct check *check, uint32_t job_id) {
    return map_get(&check->groups.members, job_id);
}

static void forget_all(struct groups *groups) {
    size_t at = 0;
    uint64_t id;
    void *member;
    while ((member = map_next(&groups->members, &at, &id)) != NULL)
        free(member);
    map_done(&groups->members);
    groups->members = (struct map) MAP_INIT;
    vec_reset(&groups->touched);
}

void groups_job(struct check *check, const struct job *job) {
    struct groups *groups = &check->groups;
    if (job->het_size == 0)
        return;
    struct member *member = member_of(check, job->job_id);
    if (member == NULL) {
        member = zalloc(struct member);
        map_put(&groups->members, job->job_id, member);
    }
    *member = (struct member) {.first = job->het_job_id,
                               .size = job->het_size,
                               .attempt = job->attempt,
                               .state = job->state,
                               .flags = job->flags,
                               .start = job->start_time};
    vec_push(&groups->touched, job->het_job_id);
}

static bool runs(const struct member *member) {
    return member->state == JOB_RUNNING || member->state == JOB_SUSPENDED;
}

static bool is_over(const struct member *member) {
    return job_state_is_final((enum job_state) member->state) &&
           !(member->flags & JOB_FLAG_COMPLETING);
}

void groups_left(struct check *check, uint32_t job_id) {
    struct member *gone = map_remove(&check->groups.members, job_id);
    for (uint32_t i = 0; gone != NULL && i < gone->size; i++) {
        const struct member *other = member_of(check, gone->first + i);
        if (other != NULL && !is_over(other))
            check_fail(check, "the record of component %u leaves before component %u is over",
                       job_id, gone->first + i);
    }
    free(gone);
}

/* One component against the first of them that is still known. */
static void verify_pair(struct check *check, uint32_t id, const struct member *member,
                        uint32_t other_id, const struct member *other) {
    bool one_waits = (member->state == JOB_PENDING && runs(other)) ||
                     (other->state == JOB_PENDING && runs(member));
    if (one_waits)
        check_fail(check, "of components %u and %u one waits and one runs", other_id, id);
    if (member->attempt != other->attempt)
        check_fail(check, "components %u and %u are in attempts %u and %u", other_id, id,
                   other->attempt, member->attempt);
    if (runs(member) && runs(other) && member->start != other->start)
        check_fail(check, "components %u and %u run since %lld and %lld", other_id, id,
                   (long long) other->start, (long long) member->start);
}

static void verify(struct check *check, uint32_t first) {
    const struct member *leader = member_of(check, first), *known = NULL;
    uint32_t known_id = 0;
    for (uint32_t i = 0; i < HET_COMPONENTS_MAX; i++) {
        const struct member *member = member_of(check, first + i);
        if (member == NULL || member->first != first)
            continue;
        if (leader != NULL && job_state_is_final((enum job_state) leader->state) &&
            !job_state_is_final((enum job_state) member->state))
            check_fail(check, "job %u has ended, its component %u has not", first, first + i);
        if (known != NULL)
            verify_pair(check, first + i, member, known_id, known);
        else
            known = member, known_id = first + i;
    }
}

void groups_turn(struct check *check) {
    struct groups *groups = &check->groups;
    for (size_t i = 0; i < groups->touched.n; i++)
        verify(check, groups->touched.items[i]);
    vec_reset(&groups->touched);
}

void groups_restored(struct check *check) {
    forget_all(&check->groups);
}

void groups_done(struct groups *groups) {
    forget_all(groups);
    vec_done(&groups->touched);
}
