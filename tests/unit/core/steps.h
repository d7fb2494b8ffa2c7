/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations and steps in the core's world: what salloc and srun send, and what they get. */
#ifndef SLUICE_TESTS_CORE_STEPS_H
#define SLUICE_TESTS_CORE_STEPS_H

#include "world.h"

/* salloc with these nodes and tasks; must start at once. Returns the job's id. */
uint32_t steps_salloc(struct world *world, uint32_t nodes, uint32_t ntasks, const char *gres);
/* A step of `ntasks` tasks in the job: change what matters. */
void steps_request(struct step_request *request, uint32_t job_id, uint32_t ntasks);

struct step_answer {
    struct arena arena;
    uint64_t client;
    int code;     /* positive enum err, 0 */
    bool waiting; /* told to wait */
    const struct step_layout *layout;
    const char *detail;
};
/* Sends and reads the answer; steps_answer() reads it again (a step that waited). Free with
 * steps_done(). */
void steps_create(struct world *world, const struct step_request *request, struct step_answer *ret);
void steps_answer(struct world *world, struct step_answer *answer);
void steps_done(struct step_answer *answer);
/* Creates, asserts that it runs, returns the step's id. */
uint32_t steps_run(struct world *world, const struct step_request *request);
/* Every node of the step reports its end. */
void steps_end(struct world *world, uint32_t job_id, uint32_t step_id, uint32_t exit_status);
void steps_end_on(struct world *world, uint32_t node, uint32_t job_id, uint32_t step_id,
                  uint32_t exit_status);
/* The step as a listing shows it, ended ones too; false when there is none. */
bool steps_look(struct world *world, uint32_t job_id, uint32_t step_id, struct step *ret);

#endif
