/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dependencies; private to src/core. `type:id[:id…]` joined by `,` (all) or `?` (any). A job with
 * an open one is not in the planner's view.
 *
 * Whoever waits is found from what it waits for (core->depend_targets): a start, an end or a
 * disappearance is noted by depend_note() and looked at by depend_run(), which looks only at those
 * that wait for it. So a chain of jobs costs what as many jobs without one cost.
 *
 * depend.c evaluates, depend_index.c finds who waits, depend_text.c reads, prints and refuses,
 * depend_circle.c finds circles, depend_corr.c is "aftercorr" of arrays, singleton.c the jobs of
 * one name and user, bygone.c what history knows of jobs that are gone.
 */
#ifndef SLUICE_CORE_DEPEND_H
#define SLUICE_CORE_DEPEND_H

#include "base/error.h"
#include "base/list.h"
#include "base/str.h"
#include "base/vec.h"
#include "core/bygone.h"

struct core;
struct core_job;

enum depend_kind {
    DEPEND_AFTER,
    DEPEND_ANY,
    DEPEND_OK,
    DEPEND_NOT_OK,
    DEPEND_CORR,
    DEPEND_BURST, /* afterburstbuffer: there are none, so it is afterany */
    DEPEND_SINGLETON,
};
enum depend_state { DEPEND_OPEN, DEPEND_MET, DEPEND_FAILED };
struct depend {
    enum depend_kind kind;
    enum depend_state state;
    uint32_t job_id; /* array base id for arrays */
    uint32_t task;   /* UNSET32 = the job or the whole array */
    bool whole_array;
    bool
        unknown; /* no such job was there when it was said; one that gets the id later is another */
    uint32_t minutes;
    int64_t start; /* of "after:ID+minutes": when it has started, known though it has left; 0 */
};

/* What one job may wait for. */
#define DEPENDS_MAX 10000

/* Something has happened to a job; or (`itself`) the job is to be looked at. */
struct depend_event {
    uint32_t job_id, array_id, task;
    bool itself;
};

/* ---- depend.c ---- */
/* Re-evaluates; true when the job may start as far as they are concerned. */
bool depend_check(struct core *core, struct core_job *job);
/* Of one that is open: what it has come to. */
enum depend_state depend_verdict(struct core *core, const struct core_job *job,
                                 const struct depend *depend);
enum depend_state depend_job_verdict(const struct core *core, const struct depend *depend,
                                     const struct core_job *target);
/* A job has started, ended or gone: looks at those that wait for it. May be called from within
 * itself. */
void depend_job_changed(struct core *core, const struct core_job *job);
/* Ends the job if its dependency can never come true and that is what was asked for. */
void depend_check_kill(struct core *core, struct core_job *job);
/* What a held job waits for besides, in the form that listings know. */
void depend_show(struct core_job *job);
/* Has it ended, nodes and all? */
bool depend_has_ended(const struct core_job *job);

/* ---- depend_index.c ---- */
void depend_note(struct core *core, const struct core_job *job);
void depend_note_itself(struct core *core, const struct core_job *job);
void depend_run(struct core *core);                          /* looks at what has been noted */
void depends_index(struct core *core, struct core_job *job); /* its open ones; job is linked */
/* For a record that was one with `from`. */
void depends_copy(struct core_job *job, const struct core_job *from);
void depends_free(struct core *core);

/* ---- depend_corr.c ---- */
/* Task i waits for task i of another array: tasks that differ leave the group's record. */
void corr_divide(struct core *core, struct core_job *group);
/* One task of an array that the group waits for has changed. */
void corr_task_changed(struct core *core, struct core_job *group, uint32_t array_id, uint32_t task);

/* ---- depend_text.c ---- */
/* Replaces what the job waits for. Refuses what is wrong (ERR_DEPENDENCY): unknown jobs, itself, a
 * circle of jobs that wait for each other. */
must_check int depend_parse(struct core *core, struct core_job *job, const char *text,
                            struct error *err);
/* Refuses the same, and changes nothing. */
must_check int depend_validate(struct core *core, struct core_job *job, const char *text,
                               struct error *err);
/* Adds the ids that a text names and nobody here can tell the end of; NULL and what is wrong name
 * none. */
void depends_unknown(struct core *core, const char *text, bygone_ids *ret);
/* From the text of the record, when all records are in. */
void depend_restore(struct core *core, struct core_job *job);
/* "afterok:12", without its state */
void depend_print(const struct depend *depend, struct str *out);
void depends_print(const struct core_job *job, struct str *out); /* all that are not met */
/* Why it can never come true: "afterok:12: job 12 (prep) ended FAILED, exit code 3:0". */
void depend_print_cause(struct core *core, const struct core_job *job, const struct depend *depend,
                        struct str *out);

/* ---- depend_circle.c ---- */
/* Would `job`, which others may know, be waited for by what these have it wait for? Appends the
 * circle: "9 waits for 7, 7 for 8_1, 8_1 for 9". */
bool depend_circle(const struct core *core, const struct core_job *job,
                   const struct depend *depends, size_t n, struct str *ret);

/* ---- bygone.c ---- */
/* What history has of the job, array or task; NULL: nothing, or it was not asked. */
const struct bygone_job *bygone_find(const struct core *core, const struct depend *depend);
/* What is unknown is met. */
enum depend_state bygone_verdict(const struct core *core, const struct core_job *job,
                                 const struct depend *depend);
/* Appends ": job 12 (prep) ended FAILED, exit code 3:0"; false when it is unknown. */
bool bygone_print_end(const struct core *core, const struct core_job *job,
                      const struct depend *depend, struct str *out);

/* ---- singleton.c ---- */
bool singleton_may_go(struct core *core, const struct core_job *job);
/* A job has come, may have ended, or is about to leave or to get another name. */
void singleton_joins(struct core *core, struct core_job *job);
void singleton_ended(struct core *core, struct core_job *job);
void singleton_leaves(struct core *core, struct core_job *job);
void singletons_free(struct core *core);

#endif
