/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `sluice why` for people and for programs, from one record. */
#ifndef SLUICE_CLI_WHY_H
#define SLUICE_CLI_WHY_H

#include "base/str.h"
#include "cli/phrases.h"
#include "model/messages.h"

/* Sentences, each on a line of its own. What the controller has worded (causes, limits, provenance)
 * is English in every language. A reply for a job that only the history knows has no more
 * than job, id and now. */
void why_text(const struct why_reply *reply, enum language language, struct str *out);
/* One JSON object with the same facts. */
void why_json(const struct why_reply *reply, struct str *out);

/* What a reason means, a sentence; NULL for those that say it all. */
const char *why_reason(uint32_t reason, enum language language);
/* How a job has ended and what its exit code means, a sentence or two. */
void why_end(const struct job *job, enum language language, struct str *out);

/* A start that was put off: what it was told before, what then, since when and why. Nothing when
 * its promises were kept. */
/* What failed it before: launches, nodes, requeues in a row; nodes that it avoids. */
void why_trouble(const struct job *job, int64_t now, enum language language, struct str *out);
void why_delay(const struct job *job, int64_t now, enum language language, struct str *out);
/* By whom it was preempted, for whom it has to go: a sentence, or nothing. */
void why_preempted(const struct job *job, int64_t now, enum language language, struct str *out);
/* A point in time, 0 = unknown. */
void why_time(int64_t time, int64_t now, enum language language, struct str *out);
/* The part of its provenance that says how it was started. */
int why_started_length(const struct job *job);

#endif
