/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extern step (PrologFlags=Contain): the place of what runs on the job's nodes without having
 * been started by it, such as logins of its owner (sluice adopt). It has groups like every step and
 * no task; it ends when the job does, and with it whatever is in it.
 */
#include <unistd.h>

#include "slurmstepd/places.h"
#include "slurmstepd/stepd.h"

#define LOOK_USEC 100000u /* at what is left, after SIGTERM */

int extern_start(struct stepd *stepd, struct error *err) {
    stepd->step = arena_alloc(&stepd->arena, sizeof(*stepd->step));
    record_init(&record_step_launch, stepd->step);
    stepd->work_dir = "/";
    sampler_init(&stepd->sampler, 0, SAMPLE_RSS);
    int r = confine_open(&stepd->confine, &stepd->order, err);
    stepd->track.group = stepd->confine.tasks;
    if (r == 0 && stepd->order.places)
        r = places_make(&stepd->order, err);
    if (r == 0) {
        stepd->is_extern = true;
        stepd->n_running = 1; /* no task whose end could be awaited */
    }
    return r;
}

bool extern_is_over(struct stepd *stepd, uint64_t now) {
    struct pid_list pids = {0};
    if (stepd->kill_at == 0)
        return false;
    track_pids(&stepd->track, &pids);
    bool is_over = pids.list.n == 0 || now >= stepd->kill_at;
    vec_done(&pids.list);
    if (!is_over)
        loop_timer_set(stepd->timer, min_of(now + LOOK_USEC, stepd->kill_at));
    return is_over;
}
