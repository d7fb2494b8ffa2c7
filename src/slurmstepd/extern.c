/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extern step (PrologFlags=Contain): the place of what runs on the job's nodes without having
 * been started by it, such as logins of its owner (sluice adopt). It has groups like every step and
 * no task; it ends when the job does, and with it whatever is in it.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "slurmstepd/places.h"
#include "slurmstepd/stepd.h"

#define LOOK_USEC 100000u /* at what is left, after SIGTERM */

int extern_start(struct stepd *stepd, struct error *err) {
    stepd->step = arena_alloc(&stepd->arena, sizeof(*stepd->step));
    record_init(&record_step_launch, stepd->step);
    stepd->work_dir = "/";
    sampler_init(&stepd->sampler, 1, SAMPLE_RSS); /* all that is adopted, as one task */
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

static int adopt(struct stepd *stepd, uint32_t pid, struct error *err) {
    struct confine_entry entry cleanup_confine_entry = CONFINE_ENTRY_INIT;
    char digits[16];

    if (!stepd->is_extern || stepd->state != STEPD_RUNNING || stepd->kill_at != 0)
        return error_set(err, ERR_ALREADY_DONE, "the job is about to end");
    if (!stepd->confine.tree)
        return error_set(err, ERR_NOT_SUPPORTED,
                         "there are no control groups here, so that nothing can be adopted");
    int r = confine_task(&stepd->confine, 0, &entry, err);
    int length = snprintf(digits, sizeof(digits), "%u", pid);
    for (size_t i = 0; r == 0 && i < entry.n_fds; i++) {
        if (write(entry.fds[i], digits, (size_t) length) < 0)
            r = error_errno(err, errno, "process %u cannot be moved into the job's groups", pid);
    }
    return r;
}

void extern_adopt(struct stepd *stepd, uint32_t pid) {
    stepd->adopt_failure = (struct error) ERROR_INIT;
    (void) adopt(stepd, pid, &stepd->adopt_failure);
    stepd->adopted = pid;
    link_report(stepd);
    stepd->adopted = 0;
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
