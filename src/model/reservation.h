/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations as listed to commands and kept by the controller. */
#ifndef SLUICE_MODEL_RESERVATION_H
#define SLUICE_MODEL_RESERVATION_H

#include "schema/schema.h"

/* X(name, bit, text) in the order in which they are shown. */
#define RESERVATION_FLAG_TABLE(X)                                                                  \
    X(MAINT, 0, "MAINT")                                                                           \
    X(FLEX, 13, "FLEX")                                                                            \
    X(OVERLAP, 1, "OVERLAP")                                                                       \
    X(IGNORE_JOBS, 2, "IGNORE_JOBS")                                                               \
    X(HOURLY, 3, "HOURLY")                                                                         \
    X(DAILY, 4, "DAILY")                                                                           \
    X(WEEKDAY, 5, "WEEKDAY")                                                                       \
    X(WEEKEND, 6, "WEEKEND")                                                                       \
    X(WEEKLY, 7, "WEEKLY")                                                                         \
    X(SPEC_NODES, 8, "SPEC_NODES")                                                                 \
    X(ALL_NODES, 9, "ALL_NODES")                                                                   \
    X(ANY_NODES, 10, "ANY_NODES")                                                                  \
    X(STATIC, 11, "STATIC")                                                                        \
    X(PART_NODES, 12, "PART_NODES")                                                                \
    X(REPLACE_DOWN, 14, "REPLACE_DOWN")                                                            \
    X(PURGE_COMP, 15, "PURGE_COMP")                                                                \
    X(NO_HOLD_JOBS, 16, "NO_HOLD_JOBS_AFTER_END")                                                  \
    X(MAGNETIC, 17, "MAGNETIC")                                                                    \
    X(USER_DELETE, 18, "USER_DELETE")                                                              \
    X(FORCE_START, 19, "FORCE_START")
enum reservation_flag {
#define X(name, bit, text) RESERVATION_##name = 1u << (bit),
    RESERVATION_FLAG_TABLE(X)
#undef X
};
#define RESERVATION_RECURRING                                                                      \
    (RESERVATION_HOURLY | RESERVATION_DAILY | RESERVATION_WEEKDAY | RESERVATION_WEEKEND |          \
     RESERVATION_WEEKLY)
NAMES_DECLARE(reservation_flag); /* bits */

/* What is held of one node; whole: the amounts do not count. */
#define RESERVATION_PART_FIELDS(X)                                                                 \
    X(1, STR, node, 0)                                                                             \
    X(2, BOOL, whole, 0)                                                                           \
    X(3, U32, cpus, 0)                                                                             \
    X(4, U64, mem, 0)  /* MiB */                                                                   \
    X(5, STR, gres, 0) /* "gpu:a100:2" */
RECORD_DECLARE(reservation_part, RESERVATION_PART_FIELDS)

/* Times are those of the present or next occurrence. asked_…: what nodes are chosen by, 0 and NULL
 * when they were named. Lists of users, accounts and groups: "a,b", or "-a,-b" for all but these.
 */
#define RESERVATION_FIELDS(X)                                                                      \
    X(1, STR, name, 0)                                                                             \
    X(2, U32, id, 0)                                                                               \
    X(3, I64, start_time, 0)                                                                       \
    X(4, I64, end_time, 0)                                                                         \
    X(5, U32, flags, 0) /* enum reservation_flag */                                                \
    X(6, STR, nodes, 0)                                                                            \
    X(7, RECS, parts, reservation_part)                                                            \
    X(8, U32, node_cnt, 0)                                                                         \
    X(9, U32, core_cnt, 0)                                                                         \
    X(10, STR, partition, 0)                                                                       \
    X(11, STR, users, 0)                                                                           \
    X(12, STR, accounts, 0)                                                                        \
    X(13, STR, groups, 0)                                                                          \
    X(14, STR, licenses, 0)                                                                        \
    X(15, STR, features, 0)                                                                        \
    X(16, STR, tres, 0) /* as shown: "cpu=8" */                                                    \
    X(17, STR, comment, 0)                                                                         \
    X(18, U32, asked_nodes, 0)                                                                     \
    X(19, U32, asked_cores, 0)                                                                     \
    X(20, STR, asked_gres, 0)     /* of the whole reservation: "gpu:2" */                          \
    X(21, STR, asked_per_node, 0) /* GRES of each node */                                          \
    X(22, I64, purge_after, 0)    /* seconds without jobs, with PURGE_COMP */                      \
    X(23, I64, idle_since, 0)                                                                      \
    X(24, BOOL, skip, 0)  /* the next occurrence is left out */                                    \
    X(25, BOOL, begun, 0) /* its start has been acted upon */                                      \
    X(26, STR, creator, 0)
RECORD_DECLARE(reservation, RESERVATION_FIELDS)

/* Between its start and its end, which it does not reach. */
static inline bool reservation_is_active(const struct reservation *rec, int64_t now) {
    return rec->start_time <= now && now < rec->end_time;
}
/* When the occurrence after the one at `start` begins, in local time; 0 = there is none. */
int64_t reservation_next_start(int64_t start, uint32_t flags);
/* "MAINT,SPEC_NODES", "PURGE_COMP=00:05:00". */
void reservation_flags_print(const struct reservation *reservation, struct str *out);

#endif
