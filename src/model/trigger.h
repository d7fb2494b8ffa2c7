/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers (strigger): what is run once, or each time, that something comes about. */
#ifndef SLUICE_MODEL_TRIGGER_H
#define SLUICE_MODEL_TRIGGER_H

#include "schema/schema.h"

#define TRIGGER_OFFSET_MAX 32000 /* seconds, either way */

/* X(CONSTANT, number, "as listed"): what a trigger is about. */
#define TRIGGER_OBJECTS(X)                                                                         \
    X(NODE, 1, "node")                                                                             \
    X(JOB, 2, "job")                                                                               \
    X(SLURMCTLD, 3, "slurmctld")                                                                   \
    X(SLURMDBD, 4, "slurmdbd")                                                                     \
    X(DATABASE, 5, "database")                                                                     \
    X(OTHER, 6, "other")                                                                           \
    X(FRONT_END, 7, "front_end")
/* X(CONSTANT, number, "as listed", OBJECT, letter, "--option", comes, "what it is"). Of events of
 * nodes the object is the job where one is named. `comes`: 0 where there is nothing in this system
 * that it could come from. */
#define TRIGGER_EVENTS(X)                                                                          \
    X(DOWN, 1, "down", NODE, 'd', "down", 1, "a node goes down")                                   \
    X(UP, 2, "up", NODE, 'u', "up", 1, "a node that was down is back")                             \
    X(DRAINED, 3, "drained", NODE, 'D', "drained", 1, "a node is drained: no job is left there")   \
    X(FAIL, 4, "fail", NODE, 'F', "fail", 1, "a node is set to the state FAIL")                    \
    X(IDLE, 5, "idle", NODE, 'I', "idle", 1, "a node is idle for as long as --offset says")        \
    X(RECONFIG, 6, "reconfig", NODE, 'r', "reconfig", 1,                                           \
      "the configuration is read again, or a node's state changes")                                \
    X(TIME, 7, "time", JOB, 't', "time", 1, "a job comes to its time limit")                       \
    X(FINI, 8, "fini", JOB, 'f', "fini", 1, "a job has ended")                                     \
    X(CTLD_FAIL, 9, "primary_slurmctld_failure", SLURMCTLD, 'a', "primary_slurmctld_failure", 0,   \
      "slurmctld fails (a backup would notice)")                                                   \
    X(CTLD_RESUMED, 10, "primary_slurmctld_resumed_operation", SLURMCTLD, 'A',                     \
      "primary_slurmctld_resumed_operation", 1, "slurmctld works again after it was down")         \
    X(CTLD_CONTROL, 11, "primary_slurmctld_resumed_control", SLURMCTLD, 'b',                       \
      "primary_slurmctld_resumed_control", 1, "slurmctld has control again")                       \
    X(BUFFER_FULL, 12, "primary_slurmctld_acct_buffer_full", SLURMCTLD, 'e',                       \
      "primary_slurmctld_acct_buffer_full", 0, "slurmctld can keep no more for slurmdbd")          \
    X(DBD_FAIL, 13, "primary_slurmdbd_failure", SLURMDBD, 'g', "primary_slurmdbd_failure", 1,      \
      "slurmdbd cannot be reached")                                                                \
    X(DBD_RESUMED, 14, "primary_slurmdbd_resumed_operation", SLURMDBD, 'G',                        \
      "primary_slurmdbd_resumed_operation", 1, "slurmdbd can be reached again")                    \
    X(DB_FAIL, 15, "primary_database_failure", DATABASE, 'h', "primary_database_failure", 0,       \
      "the database fails")                                                                        \
    X(DB_RESUMED, 16, "primary_database_resumed_operation", DATABASE, 'H',                         \
      "primary_database_resumed_operation", 0, "the database works again")                         \
    X(BACKUP_FAIL, 17, "backup_slurmctld_failure", SLURMCTLD, 'B', "backup_slurmctld_failure", 0,  \
      "the backup of slurmctld fails")                                                             \
    X(BACKUP_RESUMED, 18, "backup_slurmctld_resumed_operation", SLURMCTLD, 'c',                    \
      "backup_slurmctld_resumed_operation", 0, "the backup of slurmctld works again")              \
    X(BACKUP_CONTROL, 19, "backup_slurmctld_assumed_control", SLURMCTLD, 'C',                      \
      "backup_slurmctld_assumed_control", 0, "the backup of slurmctld takes over")                 \
    X(BURST_BUFFER, 20, "burst_buffer", OTHER, 0, "burst_buffer", 0, "a burst buffer fails")

enum trigger_object {
#define X(constant, number, text) TRIGGER_OBJECT_##constant = number,
    TRIGGER_OBJECTS(X)
#undef X
};
enum trigger_event {
#define X(constant, number, ...) TRIGGER_##constant = number,
    TRIGGER_EVENTS(X)
#undef X
};
NAMES_DECLARE(trigger_object);

struct trigger_row {
    enum trigger_event event;
    enum trigger_object object;
    const char *name, *option, *help;
    char letter;
    bool comes;
};
extern const struct trigger_row trigger_rows[];
extern const size_t n_trigger_rows;
/* NULL for an unknown number. */
const struct trigger_row *trigger_row_find(uint32_t event);

/* Stored by the controller under its id; and as it is asked for. */
#define TRIGGER_FIELDS(X)                                                                          \
    X(1, U32, id, 0)                                                                               \
    X(2, U32, event, 0)  /* enum trigger_event */                                                  \
    X(3, U32, object, 0) /* enum trigger_object */                                                 \
    X(4, U32, job_id, 0)                                                                           \
    X(5, STR, nodes, 0)  /* NULL = any */                                                          \
    X(6, I32, offset, 0) /* seconds from the event to the program; before it where negative */     \
    X(7, OPT32, uid, 0)  /* who has set it, and as whom the program runs */                        \
    X(8, U32, gid, 0)                                                                              \
    X(9, STR, user, 0)                                                                             \
    X(10, BOOL, permanent, 0)                                                                      \
    X(11, STR, program, 0)  /* a path, with arguments behind blanks */                             \
    X(12, I64, due, 0)      /* it has come about: the program is run then; 0 = it has not */       \
    X(13, STR, argument, 0) /* the job or the nodes that it has come about for */                  \
    X(14, I64, last, 0)     /* when the program of a permanent one was run last */
RECORD_DECLARE(trigger, TRIGGER_FIELDS)
#define TRIGGER_LIST_FIELDS(X) X(1, RECS, items, trigger)
RECORD_DECLARE(trigger_list, TRIGGER_LIST_FIELDS)

#endif
