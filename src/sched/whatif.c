/* SPDX-License-Identifier: Apache-2.0 */
/* Questions: when and where would this start? Answered by the planner itself, changing nothing. */
#include "sched/internal.h"

bool sched_will_run(struct sched *s, const struct sched_job_spec *spec, int64_t now,
                    struct sched_start *ret, struct sched_plan *memory, int64_t *ret_time) {
    struct shape *shape = shape_new(s, spec);
    int64_t from = max_of(now, spec->begin_time), kept = s->now, best = SCHED_FOREVER;

    if (!memory->memory) {
        memory->memory = zalloc(struct arena);
        arena_init(memory->memory, 0);
    }
    *ret = (struct sched_start) {.job_id = spec->job_id};
    s->now = from;
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct alternative *alt = &shape->alternatives[i];
        int64_t start;

        if (alt->limits || !s->partitions[alt->partition].schedulable)
            continue;
        if (!earliest_start(s, shape, alt, 0, &start, &s->placement) || start >= best)
            continue;
        best = start;
        ret->partition = alt->partition;
        ret->reservation = alt->reservation;
        ret->limit = alt->limit;
        start_fill(s, &s->placement, memory->memory, ret);
    }
    s->now = kept;
    shape_free(s, shape);
    if (best == SCHED_FOREVER)
        return false;
    *ret_time = best;
    return true;
}
