/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's question that rows of history answer: they are read page by page when all that was to
 * be stored before the question has been, and the answer goes out in frames. It ends early when its
 * client has gone.
 *
 * The answer is the first member of a record of its kind; from history_answer_start() on it lives
 * until release() is called.
 */
#ifndef SLUICE_SLURMCTLD_HISTORY_ANSWER_H
#define SLUICE_SLURMCTLD_HISTORY_ANSWER_H

#include "slurmctld/ctld.h"

struct history_answer {
    struct ctld *ctld;
    uint64_t client;
    uint32_t seq;
    uint16_t reply_type;
    struct store_filter filter; /* may be narrowed before the start */
    struct str frame;
    size_t n_page; /* rows of the page that is coming in */
    /* A row, in the order of the store. */
    void (*on_row)(struct history_answer *answer, const struct store_history *row);
    /* NULL, or what is to be added when all rows have come. */
    void (*finish)(struct history_answer *answer);
    void (*release)(struct history_answer *answer);
};

/* Of a record of zeros; kinds is a bit mask of enum history_kind. The caller sets on_row, finish
 * and release. */
void history_answer_init(struct history_answer *answer, const struct client *client, uint32_t seq,
                         uint16_t reply_type, uint32_t kinds);
/* What was in the system in [start, end]; 0 = open. */
void history_answer_window(struct history_answer *answer, int64_t start, int64_t end);
void history_answer_start(struct history_answer *answer);
/* Adds an encoded item of the reply's list; also before the start. */
void history_answer_add(struct history_answer *answer, struct bytes item);

#endif
