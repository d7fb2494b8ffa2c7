/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process management interface of MPICH and its kin, as it stands in PMI-1 and PMI-2: a task
 * asks over an inherited socket for its place, puts keys into a store of the whole step, meets the
 * others at a fence, and reads what they have put. Which of the two protocols a task speaks, it
 * says with its first line.
 *
 * This is the protocol of one node, pure: bytes in, bytes out. What its tasks have put goes to the
 * other nodes at a fence (pmi_fence()), and theirs comes back (pmi_fence_done()).
 *
 * Source of the wire formats: MPICH's "PMI v1/v2 wire protocol" (doc/wiki/design) and what
 * MPICH 4.0 sends. Spawning processes and publishing names are answered with an error.
 */
#ifndef SLUICE_SLURMSTEPD_PMI_H
#define SLUICE_SLURMSTEPD_PMI_H

#include "base/str.h"
#include "model/messages.h"

#define PMI_KEY_MAX 64 /* bytes with the NUL; told to tasks */
#define PMI_VALUE_MAX 1024
#define PMI_MESSAGE_MAX 65536
#define PMI_STORE_MAX (256u << 20) /* bytes of keys and values of a step */

struct pmi;
/* The first `n` tasks are those of this node; ranks in the order of their local ids. */
struct pmi *pmi_new(const char *job_name, const struct step_layout *layout, const uint32_t *ranks,
                    size_t n);
void pmi_free(struct pmi *pmi);
/* What task `local_id` has sent. False: it does not speak the protocol, close the connection. */
bool pmi_input(struct pmi *pmi, size_t local_id, const void *data, size_t size);
/* Bytes for the task: taken off by the caller. */
struct str *pmi_output(struct pmi *pmi, size_t local_id);
/* The task has exited: nobody waits for it at a fence. */
void pmi_task_gone(struct pmi *pmi, size_t local_id);
/* True once, when all tasks of this node have come to the fence: `out` is what they put since the
 * last one. */
bool pmi_fence(struct pmi *pmi, struct str *out);
/* All nodes have: their puts, this node's among them. */
void pmi_fence_done(struct pmi *pmi, const struct step_part *parts, size_t n);
/* A task has asked for the end of the program; its message, or NULL. */
const char *pmi_aborted(const struct pmi *pmi);
/* "(vector,(0,2,4))": which ranks are together on a node, as MPICH reads it. */
void pmi_mapping(const struct step_layout *layout, struct str *out);

#endif
