/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recurring jobs (scrontab); private to src/core. A user has one crontab: a text, which is stored
 * as it was written, and a job for each of its entries. Such a job waits for its next time, runs,
 * and when it has ended and its nodes are clean goes back to the queue under its id to wait for the
 * next. Times that come while it waits or runs are left out; one that came while the controller was
 * down is made up for once.
 *
 * A crontab is taken as a whole or not at all. An entry that stays as it was keeps its job; a job
 * whose entry is gone ends where it waits, and runs to its end where it runs. Cancelling the job of
 * an entry makes a comment of that entry ("#DISABLED: ").
 */
#ifndef SLUICE_CORE_CRON_H
#define SLUICE_CORE_CRON_H

#include "base/buf.h"
#include "base/error.h"
#include "model/messages.h"

struct core;
struct core_job;
struct core_user;

/* Entries of one crontab, and its size. */
#define CRON_ENTRIES_MAX 1000
#define CRON_TEXT_MAX (1u << 20)

void handle_crontab_set(struct core *core, uint64_t client, uint32_t seq,
                        const struct core_user *user, void *body);
void handle_crontab_get(struct core *core, uint64_t client, uint32_t seq,
                        const struct core_user *user, void *body);
/* Takes over the record's members. */
void crontab_restore(struct core *core, struct crontab *stored);
void crontabs_free(struct core *core);

/* Is it the job of an entry? */
bool cron_recurs(const struct core_job *job);
/* The next time that it may begin, in seconds; 0 = never. */
int64_t cron_begin(const struct core *core, const struct core_job *job);
/* A job has ended and its nodes are clean: true when it has gone back to wait for its next time. */
bool cron_goes_on(struct core *core, struct core_job *job);
/* It is not meant by those who cancel without naming it. */
bool cron_is_spared(const struct core *core, const struct core_job *job, bool cron);
/* It is being cancelled and will not come again. ERR_CRON_CANCEL when the site wants that said
 * (`cron`) and it was not. */
must_check int cron_cancel(struct core *core, struct core_job *job, bool cron);

#endif
